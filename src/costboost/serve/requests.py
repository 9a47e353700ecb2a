"""The body of ``POST /decide``: pydantic checks the envelope, the library what is inside."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping
from contextlib import suppress
from itertools import islice, product
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from costboost._typing import AnyArray, Floats
from costboost.columns import ColumnError, Columns
from costboost.columns.columns import Column
from costboost.columns.raw import open_column
from costboost.costs import Costs
from costboost.costs.forms import LARGEST, columns_of, positive_of
from costboost.errors import ModelFileError
from costboost.files.container import Limits, parse_json

SHORT = ("fn", "fp", "tp", "tn")

# Cells of a request, and those of columns that are only passed on to the answer.
_CELLS, PASSED = 20_000_000, 2_000_000
_SCALARS = frozenset({int, float, bool, str, type(None)})
_ALL = ["string", "number", "boolean", "null"]

Count = Annotated[int, Field(ge=0, le=2**53, description="a number of rows")]
Share = Annotated[float, Field(ge=0, le=1, description="a share of the rows")]
Limit = Count | Share | Annotated[list[Count | Share | None], Field(min_length=2, max_length=2)]
Price = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
Matrix = list[list[Price]] | dict[str, dict[str, Price]] | dict[str, Price | str | bool]


def _part(description: str) -> Any:
    return Field(None, description=description)


class RequestError(Exception):
    """A request that cannot be answered; the message goes to the client."""

    def __init__(self, status: int, message: str, field: str | None = None, **headers: str) -> None:
        super().__init__(message)
        self.status, self.field, self.headers = status, field, headers


class Options(BaseModel):
    """What a request says beside its rows and costs; parts that are left out are None."""

    model_config = ConfigDict(extra="forbid", strict=True)

    capacity: dict[str, Limit] | None = _part(
        'How many rows of the request may get a decision, such as {"review": 20}: a number, a '
        "share, or a pair [lower, upper] of them."
    )
    explain: bool | None = _part("Whether to explain the decisions.")


class Body(Options):
    """A request in JSON."""

    records: list[Any] = Field(min_length=1, description="Rows as objects, a value per column.")
    costs: Matrix | Annotated[list[Matrix], Field(fail_fast=True)] | None = _part(
        "Costs of all rows, or a list with the costs of each row. The costs of a row are a matrix, "
        "rows = truth, columns = decision, or {truth: {decision: cost}}, or for two classes "
        '{"fn": cost, "fp": cost}, with "tp", "tn" and "positive" if needed.'
    )


class Query(NamedTuple):
    """A checked request."""

    rows: Mapping[Any, list[Any]]  # the raw columns
    n: int
    costs: Floats | None = None  # a matrix per row, (n, k, d)
    capacity: Mapping[Any, Any] | None = None
    explain: bool | None = None


class Requests:
    """Reads the requests for one model."""

    def __init__(self, model: Any) -> None:
        # Of the columns of a wrapped estimator the names are known, if they have any.
        names = getattr(model, "feature_names_in_", ())
        unread = Columns(tuple(Column(name, "other") for name in names), model.n_features_in_)
        self.columns: Columns = getattr(model, "columns_", unread)
        self.names = {str(column.name): column.name for column in self.columns}
        priced = {str(name): name for name in columns_of(model.cost_matrix)}
        self.required = {str(column.name): column.name for column in self.columns.used} | priced
        # Where an expression says what a missing value counts as, its columns may be null.
        self._priced = () if "coalesce(" in str(model.cost_matrix) else tuple(priced)
        self.classes: AnyArray = model.classes_
        self.decisions: AnyArray = model.decisions_
        self._shape = len(self.classes), len(self.decisions)
        self._truths = {str(label): label for label in self.classes.tolist()}
        self._choices = {str(label): label for label in self.decisions.tolist()}
        # Columns of tables that hold costs, and the entries they stand for.
        pairs = product(self.classes.tolist(), self.decisions.tolist())
        self._prices: dict[str, Any] = {f"costs.{name}": name for name in SHORT}
        self._prices |= {
            f"costs.{truth}.{decision}": (truth, decision) for truth, decision in pairs
        }
        self._positive = positive_of(model.cost_matrix)
        try:
            self._costs({"fn": 1.0, "fp": 1.0}, 1)
            self.short_costs = True  # without naming the positive class
        except RequestError:
            self.short_costs = False

    # -- schemas --------------------------------------------------------------------------------

    @property
    def row_schema(self) -> dict[str, Any]:
        """The JSON Schema of one row; columns that the model does not use are passed on."""
        known = {str(column.name): _schema_of(column) for column in self.columns}
        known |= {name: {"type": _ALL} for name in self.required if name not in known}
        for name in self._priced:  # a missing value would be a missing cost
            known[name]["type"] = [kind for kind in known[name]["type"] if kind != "null"]
        return {
            "type": "object",
            "properties": known,
            "required": list(self.required),
            "additionalProperties": {"type": _ALL},
        }

    def schema(self, max_rows: int) -> dict[str, Any]:
        """The JSON Schema of a body."""
        found = Body.model_json_schema()
        found["properties"]["records"] |= {"items": self.row_schema, "maxItems": max_rows}
        return found

    # -- rows -----------------------------------------------------------------------------------

    def from_json(self, body: bytes, max_rows: int) -> Query:
        """A request from a body in JSON."""
        found = _checked(Body, _parsed(body, 400))
        n = _counted(found.records, max_rows)
        columns = self._of_objects(found.records)
        return self._query(columns, n, self._costs(found.costs, n), found)

    def from_csv(self, body: bytes, options: Mapping[str, str], max_rows: int) -> Query:
        """A request from a file with a header; its options are in the query of its address."""
        document: dict[str, Any] = dict(options)
        if "capacity" in options:
            document["capacity"] = _parsed(options["capacity"].encode(), 422, "capacity")
        if "explain" in options:
            flags = {"true": True, "1": True, "false": False, "0": False}
            document["explain"] = flags.get(options["explain"].lower(), options["explain"])
        found = _checked(Options, document)
        # Cells as they are written: what they mean is known to the columns of the model.
        try:
            text = body.decode("utf-8-sig")
            delimiter = max(",;\t|", key=text.partition("\n")[0].count)
            lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
            names = next(lines, [])
            rows = list(islice(filter(None, lines), max_rows + 1))
        except (UnicodeDecodeError, csv.Error) as error:
            raise RequestError(400, f"The body cannot be read as CSV: {error}.") from None
        n = _counted(rows, max_rows)
        if len(set(names)) < len(names):
            raise RequestError(422, "No column may be named twice.", "columns")
        self._check_names(names, "columns")
        for row, cells in enumerate(rows):
            if len(cells) != len(names):
                message = f"A row must have {len(names)} values; got {len(cells)}."
                raise RequestError(422, message, f"records[{row}]")
        columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
        return self._query(columns, n, self._column_costs(columns, n), found)

    def _query(self, columns: dict[str, Any], n: int, costs: Any, found: Options) -> Query:
        """A request from its parts."""
        for name, values in columns.items():
            if not set(map(type, values)) <= _SCALARS:
                row = next(i for i, value in enumerate(values) if type(value) not in _SCALARS)
                message = f"{name[:100]!r} must be a text, a number, true, false or null."
                raise RequestError(422, message, f"records[{row}].{name[:100]}")
        limits = found.capacity
        return Query(
            {self.names.get(name, name): values for name, values in columns.items()},
            n,
            costs,
            limits and {self._choices.get(name, name): limits[name] for name in limits},
            found.explain or None,
        )

    def _of_objects(self, records: list[Any]) -> dict[str, list[Any]]:
        """Columns of rows that are objects; a column that a row does not use may be absent."""
        names: dict[str, None] = {}
        usual: Any = None
        for row, record in enumerate(records):
            if type(record) is not dict:
                raise RequestError(422, "A record must be an object.", f"records[{row}]")
            if record.keys() != usual:
                usual = record.keys()
                self._check_names(usual, f"records[{row}]")
                names |= dict.fromkeys(usual)
        if len(names) * len(records) > _CELLS:  # before rows that lack a column get one
            message = f"A request may have at most {_CELLS} cells. Send several requests."
            raise RequestError(413, message, "records")
        return {name: [record.get(name) for record in records] for name in names}

    def _check_names(self, given: Collection[str], place: str) -> None:
        for name, real in self.required.items():
            if name not in given:
                lacks = self.columns.lacks(real, [each[:100] for each in given], "The request")
                message = f"{lacks} Use null for an unknown value."
                raise RequestError(422, message, f"{place}.{name}")

    # -- costs ----------------------------------------------------------------------------------

    def _column_costs(self, columns: dict[str, Any], n: int) -> Floats | None:
        """Costs that are columns of a table, which are taken out of it."""
        prices = {}
        for name in [x for x in columns if x in self._prices and x not in self.names]:
            try:
                cells = open_column(columns.pop(name))
                prices[self._prices[name]] = Column(name, "number").values(cells, "The request")
            except ColumnError as error:
                raise RequestError(422, str(error), f"records[{error.row}].{name}") from None
        return self._resolved(prices, n) if prices else None

    def _costs(self, given: Any, n: int) -> Floats | None:
        """Costs of `n` rows: one entry for all, or a list with an entry per row."""
        if given is None:
            return None
        first = given[0] if type(given) is list and given else None
        is_matrix = type(first) is list and not any(type(cell) is list for cell in first)
        is_one = type(given) is dict or is_matrix
        entries: list[Any] = [given] if is_one else given
        if not is_one and len(given) != n:
            message = f"costs must be one entry for all rows or {n}, one per row; got {len(given)}."
            raise RequestError(422, message, "costs")
        form: Any = entries
        if dict in map(type, entries):
            priced = [self._pairs(entry) for entry in entries]
            positive = priced[0].get("positive")
            if any(
                one.keys() != priced[0].keys() or one.get("positive") != positive for one in priced
            ):
                message = "The costs of all rows must have the same keys and positive class."
                raise RequestError(422, message, "costs")
            form = {key: [one[key] for one in priced] for key in priced[0]}
            if "positive" in form:
                form["positive"] = self._truths.get(str(positive), positive)
        return np.broadcast_to(self._resolved(form, len(entries)), (n, *self._shape))

    def _pairs(self, entry: Any) -> dict[Any, Any]:
        """The costs of a row by keys that the library reads: "fn", or a pair of labels."""
        found: dict[Any, Any] = {}
        for key, inner in entry.items() if type(entry) is dict else ():
            if type(inner) is dict:
                truth = self._truths.get(key, key)
                found |= {(truth, self._choices.get(x, x)): price for x, price in inner.items()}
            else:
                found[key] = inner
        return found

    def _resolved(self, form: Any, n: int) -> Floats:
        """Costs of `n` rows in a form that the library reads, as matrices."""
        if type(form) is dict and form.keys() <= set(SHORT):
            form["positive"] = self._positive
        try:
            found = Costs.resolve(
                costs=form, classes=self.classes, decisions=self.decisions, n_samples=n,
                owner="POST /decide",
            ).matrix  # fmt: skip
        except (ValueError, TypeError) as error:
            raise RequestError(422, str(error)[:1000], "costs") from None
        return np.asarray(found)


def _checked(kind: type[Options], document: Any) -> Any:
    """The parts of a request, of the right types."""
    try:
        return kind.model_validate(document)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
    # Of several forms, the one whose lists and objects fit furthest is the one that was meant.
    shapes = ("list_type", "dict_type")
    first = max(found, key=lambda one: (one["type"] not in shapes, len(one["loc"])))
    known, here, place = kind.model_fields, document, ""
    for step in first["loc"]:
        with suppress(LookupError, TypeError):  # pydantic's names of alternatives lead nowhere
            here = here[step]
            place += f"[{step}]" if type(step) is int else f".{str(step)[:100]}"
    key = str(first["loc"][0]) if first["loc"] else ""
    about = known[key].description if key in known else f"Known keys are {', '.join(known)}."
    raise RequestError(422, f"{first['msg']}. {about}", place.lstrip(".") or key or None)


def _schema_of(column: Column) -> dict[str, Any]:
    """The JSON Schema of a cell."""
    if not column.is_used:
        return {"type": [*_ALL], "description": f"Not used: {column.note}."}
    if column.kind == "date":
        what = f"A date, written as {column.format or '%Y-%m-%d'}."
        return {"type": ["string", "null"], "description": what}
    if column.kind in ("number", "boolean"):
        what = f"A {column.kind}; a text that is one is read, too."
        return {"type": [column.kind, "null"], "description": what}
    what = "A value that training has not seen counts as missing."
    return {"type": [*_ALL], "description": what, "examples": list(column.categories[:200])}


def _counted(rows: list[Any], most: int) -> int:
    """The number of rows, if it is allowed."""
    if not rows:
        raise RequestError(422, "There must be at least 1 row.", "records")
    if len(rows) > most:
        message = f"A request may have at most {most} rows. Send several requests."
        raise RequestError(413, message, "records")
    return len(rows)


def _parsed(text: bytes, status: int, field: str | None = None) -> Any:
    """Strict JSON: no NaN, no key twice."""
    try:
        return parse_json(text, "The body", Limits(json=len(text), values=len(text)))
    except ModelFileError as error:
        raise RequestError(status, str(error)[:200], field) from None
