"""The body of ``POST /decide``: pydantic checks the envelope, the library what is inside."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping
from itertools import islice
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from costboost._typing import AnyArray, Bools, Floats
from costboost.columns import ColumnError, Columns
from costboost.columns.columns import Column
from costboost.columns.raw import as_texts, open_column
from costboost.costs import Costs
from costboost.costs.forms import columns_of, positive_of
from costboost.errors import ModelFileError
from costboost.files.container import Limits, parse_json

# Sums of costs of a whole batch stay finite.
LARGEST = 1e100
LONGEST_NAME = 200  # of a group
SHORT = ("fn", "fp", "tp", "tn")

# Cells of a request, and those of columns that are only passed on to the answer.
_CELLS, PASSED = 20_000_000, 2_000_000
_SCALARS = frozenset({int, float, bool, str, type(None)})
_ALL = ["string", "number", "boolean", "null"]

Count = Annotated[int, Field(ge=0, le=2**53, description="a number of rows")]
Share = Annotated[float, Field(ge=0, le=1, description="a share of the rows")]
Limit = Count | Share | Annotated[list[Count | Share | None], Field(min_length=2, max_length=2)]
Rows = Annotated[list[Any], Field(min_length=1)]
Price = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
Matrix = list[list[Price]] | dict[str, dict[str, Price]] | dict[str, Price | str | bool]


def _part(description: str) -> Any:
    return Field(None, description=description)


class RequestError(Exception):
    """A request that cannot be answered; the message goes to the client."""

    def __init__(self, status: int, message: str, field: str | None = None, **headers: str) -> None:
        super().__init__(message)
        self.status, self.field, self.headers = status, field, headers


class Body(BaseModel):
    """A request; parts that are left out are None."""

    model_config = ConfigDict(extra="forbid", strict=True)

    records: Rows | None = _part("Rows as objects, a value per column.")
    rows: Rows | None = _part("Rows as lists, in the order of the columns.")
    columns: list[str] | None = _part("Names of the columns, in the order of rows.")
    costs: Matrix | Annotated[list[Matrix | None], Field(fail_fast=True)] | None = _part(
        "Costs of all rows, or a list with the costs (or null) of each row. The costs of a row are "
        "a matrix, rows = truth, columns = decision, or {truth: {decision: cost}}, or for two "
        'classes {"fn": cost, "fp": cost}, with "tp", "tn" and "positive" if needed.'
    )
    capacity: dict[str, Limit | dict[str, Limit]] | None = _part(
        'How many rows of the request may get a decision, such as {"review": 20}: a number, a '
        "share, a pair [lower, upper] of them, or one of these per group."
    )
    per: str | list[str | int | float | bool] | None = _part(
        "A column, or a group per row: limits hold in each group."
    )
    explain: bool | None = _part("Whether to explain the decisions.")


class Query(NamedTuple):
    """A checked request."""

    rows: Mapping[Any, list[Any]]  # the raw columns
    n: int
    costs: tuple[Floats, Bools] | None = None  # a matrix per row (n, k, d), and who has one
    capacity: Mapping[Any, Any] | None = None
    explain: bool = False
    groups: AnyArray | None = None  # names, in each of which limits hold
    form: str = "records"


class Requests:
    """Reads the requests for one model."""

    def __init__(self, model: Any) -> None:
        self.columns = _columns_of(model)
        self.names = {str(column.name): column.name for column in self.columns}
        priced = {str(name): name for name in columns_of(model.cost_matrix)}
        self.required = {str(column.name): column.name for column in self.columns.used} | priced
        # Where an expression says what a missing value counts as, its columns may be null.
        self._priced = () if "coalesce(" in str(model.cost_matrix) else tuple(priced)
        self.classes: AnyArray = model.classes_
        self.decisions: AnyArray = model.decisions_
        self._truths = {str(label): label for label in self.classes.tolist()}
        self._choices = {str(label): label for label in self.decisions.tolist()}
        # Columns of tables that hold costs, and the entries they stand for.
        self._prices: dict[str, Any] = {f"costs.{name}": name for name in SHORT} | {
            f"costs.{truth}.{decision}": (self._truths[truth], self._choices[decision])
            for truth in self._truths
            for decision in self._choices
        }
        self._positive = positive_of(model.cost_matrix)
        try:
            self._matrices([{"fn": 1.0, "fp": 1.0}], "costs")
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
        row, n = self.row_schema, len(self.required)
        cells = [row["properties"][name] for name in self.required]
        as_list = {"type": "array", "prefixItems": cells, "minItems": n, "maxItems": n}
        whole = Body.model_json_schema()
        parts = whole["properties"]
        rows = {"type": "array", "minItems": 1, "maxItems": max_rows}
        shared = {name: parts[name] for name in ("costs", "capacity", "per", "explain")}
        forms = [
            {**whole, "properties": {name: {**rows, "items": item}, **shared}, "required": [name]}
            for name, item in (("records", row), ("rows", as_list))
        ]
        forms[1]["properties"]["columns"] = parts["columns"]
        return {"anyOf": forms}

    # -- rows -----------------------------------------------------------------------------------

    def from_json(self, body: bytes, max_rows: int) -> Query:
        """A request from a body in JSON."""
        return self._query(_parsed(body, 400), max_rows)

    def from_csv(self, body: bytes, options: Mapping[str, str], max_rows: int) -> Query:
        """A request from a file with a header; the other parts are in the query of its address."""
        document: dict[str, Any] = dict(options)
        if "capacity" in options:
            document["capacity"] = _parsed(options["capacity"].encode(), 422, "capacity")
        if "explain" in options:
            flags = {"true": True, "1": True, "false": False, "0": False}
            document["explain"] = flags.get(options["explain"].lower(), options["explain"])
        # Cells as they are written: what they mean is known to the columns of the model.
        try:
            text = body.decode("utf-8-sig")
            delimiter = max(",;\t|", key=text.partition("\n")[0].count)
            lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
            document |= {"columns": next(lines, []), "rows": []}
            document["rows"] = list(islice(filter(None, lines), max_rows + 1))
        except (UnicodeDecodeError, csv.Error) as error:
            raise RequestError(400, f"The body cannot be read as CSV: {error}.") from None
        return self._query(document, max_rows, has_prices=True)

    def _query(self, document: Any, max_rows: int, has_prices: bool = False) -> Query:
        """A request from its parts; tables may have columns of costs."""
        found = _checked(document)
        form = "records" if found.rows is None else "rows"
        rows, limits, groups = getattr(found, form), found.capacity, found.per
        if rows is None or (form == "rows" and found.records is not None):
            message = 'Give "records", a list of objects, or "rows", a list of lists, and not both.'
            raise RequestError(422, message, form)
        if form == "records" and found.columns is not None:
            raise RequestError(422, 'columns is used only with "rows".', "columns")
        n = len(rows)
        if n > max_rows:
            message = f"A request may have at most {max_rows} rows. Send several requests."
            raise RequestError(413, message, form)
        columns = self._of_lists(rows, found.columns) if form == "rows" else self._of_objects(rows)
        for name, values in columns.items():
            if not set(map(type, values)) <= _SCALARS:
                row = next(i for i, value in enumerate(values) if type(value) not in _SCALARS)
                message = f"{name[:100]!r} must be a text, a number, true, false or null."
                raise RequestError(422, message, f"{form}[{row}].{name[:100]}")
        costs = self._column_costs(columns) if has_prices else found.costs
        return Query(
            {self.names.get(name, name): values for name, values in columns.items()},
            n,
            self._costs(costs, n),
            limits and {self._choices.get(name, name): limits[name] for name in limits},
            bool(found.explain),
            None if groups is None else _group_names(groups, columns, n),
            form,
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
            raise RequestError(413, message, "rows")
        return {name: [record.get(name) for record in records] for name in names}

    def _of_lists(self, rows: list[Any], names: list[str] | None) -> dict[str, Any]:
        """Columns of rows that are lists, in the order of `required` or of the names given."""
        order = list(self.required) if names is None else names
        if len(set(order)) < len(order):
            raise RequestError(422, "No column may be named twice.", "columns")
        self._check_names(order, "columns")
        for row, values in enumerate(rows):
            if type(values) is not list or len(values) != len(order):
                given = len(values) if type(values) is list else type(values).__name__
                message = f"A row must have {len(order)} values; got {given}."
                raise RequestError(422, message, f"rows[{row}]")
        return dict(zip(order, map(list, zip(*rows, strict=True)), strict=True))

    def _check_names(self, given: Collection[str], place: str) -> None:
        for name, real in self.required.items():
            if name not in given:
                lacks = self.columns.lacks(real, [each[:100] for each in given], "The request")
                message = f"{lacks} Use null for an unknown value."
                raise RequestError(422, message, f"{place}.{name}")

    # -- costs ----------------------------------------------------------------------------------

    def _column_costs(self, columns: dict[str, Any]) -> list[Any] | None:
        """An entry per row from columns of costs; a row without any has None."""
        priced = [name for name in columns if name in self._prices and name not in self.names]
        prices = {}
        for name in priced:
            try:
                cells = open_column(columns.pop(name))
                prices[self._prices[name]] = Column(name, "number").values(cells, "The request")
            except ColumnError as error:
                raise RequestError(422, str(error), f"rows[{error.row}].{name}") from None
        return [
            dict(zip(prices, row, strict=True)) if any(x == x for x in row) else None
            for row in zip(*map(np.ndarray.tolist, prices.values()), strict=True)
        ] or None

    def _costs(self, given: Any, n: int) -> tuple[Floats, Bools] | None:
        """Costs of `n` rows: one entry for all, or a list with an entry or null per row."""
        if given is None:
            return None
        first = given[0] if type(given) is list and given else None
        is_matrix = type(first) is list and not any(type(cell) is list for cell in first)
        is_one = type(given) is dict or is_matrix
        entries = [given] if is_one else given
        if not is_one and len(given) != n:
            message = f"costs must be one entry for all rows or {n}, one per row; got {len(given)}."
            raise RequestError(422, message, "costs")
        forms: dict[Any, list[int]] = {}  # rows whose costs have the same keys are read together
        for row, entry in enumerate(entries):
            if entry is not None:
                forms.setdefault(_form_of(entry), []).append(row)
        has_costs = np.zeros(len(entries), dtype=np.bool_)
        matrices = np.zeros((len(entries), len(self.classes), len(self.decisions)))
        for rows in forms.values():
            place = "costs" if is_one else f"costs[{rows[0]}]"
            has_costs[rows] = True
            matrices[rows] = self._matrices([entries[row] for row in rows], place)
        if is_one:
            matrices, has_costs = np.repeat(matrices, n, axis=0), np.repeat(has_costs, n)
        return (matrices, has_costs) if forms else None

    def _matrices(self, alike: list[Any], place: str) -> Floats:
        """The costs of some rows, all written in one form that the library reads."""
        form: Any = alike
        if type(alike[0]) is dict:
            form = {"positive": self._positive} if alike[0].keys() <= set(SHORT) else {}
            for key, inner in alike[0].items():
                if key == "positive":
                    form[key] = self._truths.get(str(inner), inner)
                elif type(inner) is dict:
                    truth = self._truths.get(key, key)
                    for name in inner:
                        pair = truth, self._choices.get(name, name)
                        form[pair] = [one[key][name] for one in alike]
                else:
                    form[key] = [one[key] for one in alike]
        try:
            found = Costs.resolve(
                costs=form, classes=self.classes, decisions=self.decisions, n_samples=len(alike),
                owner="POST /decide",
            ).matrix  # fmt: skip
        except (ValueError, TypeError) as error:
            raise RequestError(422, str(error)[:1000], place) from None
        return np.asarray(found)


def _columns_of(model: Any) -> Columns:
    """What the model knows of its columns; of those of a wrapped estimator, the names."""
    known: Columns | None = getattr(model, "columns_", None)
    if known is not None:
        return known
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return Columns.of_array(model.n_features_in_)
    return Columns(tuple(Column(name, "other") for name in names), len(names))


def _checked(document: Any) -> Body:
    """The parts of a request, of the right types."""
    try:
        return Body.model_validate(document)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
    # Of several forms, the one whose lists and objects fit furthest is the one that was meant.
    shapes = ("list_type", "dict_type")
    first = max(found, key=lambda one: (one["type"] not in shapes, len(one["loc"])))
    known, here, place = Body.model_fields, document, ""
    for step in first["loc"]:  # without pydantic's names of alternatives
        if type(here) is list and type(step) is int:
            place += f"[{step}]"
        elif type(here) is dict and step in here:
            place += f".{str(step)[:100]}"
        else:
            continue
        here = here[step]
    key = str(first["loc"][0]) if first["loc"] else ""
    about = known[key].description if key in known else f"Known keys are {', '.join(known)}."
    raise RequestError(422, f"{first['msg']}. {about}", place.lstrip(".") or None)


def _form_of(entry: Any) -> Any:
    """Costs with the same keys are read together."""
    if type(entry) is not dict:
        return None
    keys = ((key, frozenset(x) if type(x) is dict else None) for key, x in entry.items())
    return str(entry.get("positive")), frozenset(keys)


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


def _group_names(groups: Any, columns: Mapping[str, Any], n: int) -> AnyArray:
    """Names of groups: objects, because one long text would lengthen all in an array of texts."""
    if type(groups) is str:
        if groups not in columns:
            raise RequestError(422, f"The rows have no column {groups[:100]!r}.", "per")
        places, texts = as_texts(open_column(columns[groups]))
        groups = np.array([*texts, None], dtype=object)[places]
    if len(groups) != n:
        raise RequestError(422, f"per must be a column or a list of {n} groups.", "per")
    names = np.empty(n, dtype=object)
    names[:] = [None if value is None else str(value) for value in groups]
    if any(name is None or len(name) > LONGEST_NAME for name in names):
        message = f"The name of a group must have 1 to {LONGEST_NAME} characters on every row."
        raise RequestError(422, message, "per")
    return names


def _parsed(text: bytes, status: int, field: str | None = None) -> Any:
    """Strict JSON: no NaN, no key twice."""
    try:
        return parse_json(text, "The body", Limits(json=len(text), values=len(text)))
    except ModelFileError as error:
        raise RequestError(status, str(error)[:200], field) from None
