"""The body of ``POST /decide``: pydantic checks its parts and writes their JSON Schema."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, NotRequired, Union

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    WithJsonSchema,
    create_model,
)
from typing_extensions import TypedDict

from costboost._typing import AnyArray, Bools, Floats
from costboost.columns import ColumnError, Columns
from costboost.columns.columns import Column
from costboost.columns.raw import as_texts, open_column
from costboost.costs import Costs
from costboost.costs.forms import columns_of
from costboost.errors import ModelFileError
from costboost.files.container import Limits, parse_json
from costboost.serve.unpacking import RequestError, too_many

# Sums of costs of a whole batch stay finite.
LARGEST = 1e100
STRICT = ConfigDict(extra="forbid", strict=True)
LONGEST_NAME = 200  # of a group
SHORT = ("fn", "fp", "tp", "tn")

Price = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
Rows = Annotated[int, Field(ge=0, le=2**53, description="a number of rows")]
Share = Annotated[float, Field(ge=0, le=1, description="a share of the rows")]
Limit = Rows | Share | Annotated[list[Rows | Share | None], Field(min_length=2, max_length=2)]


# Cells of a request, and those of columns that are only passed on to the answer.
_CELLS, PASSED = 20_000_000, 2_000_000
_SCALARS = frozenset({int, float, bool, str, type(None)})
_ALL = ["string", "number", "boolean", "null"]


@dataclass(frozen=True, eq=False)
class Query:
    """A checked request."""

    rows: Mapping[Any, Any]  # the raw columns: lists, or arrays of Arrow
    n: int
    costs: tuple[Floats, Bools] | None = None  # a matrix per row (n, k, d), and who has one
    capacity: Mapping[Any, Any] | None = None
    explain: bool = False
    groups: AnyArray | None = None  # names, in each of which limits hold
    form: str = "records"
    first: int = 0

    def split(self, size: int) -> Iterator[Query]:
        """The rows and their costs, so many at a time."""
        if self.n <= size:
            yield self
            return
        for start in range(0, self.n, size):
            rows = slice(start, start + size)
            columns = {name: values[rows] for name, values in self.rows.items()}
            costs = self.costs and (self.costs[0][rows], self.costs[1][rows])
            n = min(size, self.n - start)
            yield Query(columns, n, costs, form=self.form, first=start)

    def place(self, row: int, column: Any) -> str:
        """Where a cell is in the request."""
        return f"{self.form}[{self.first + row}].{str(column)[:100]}"


def columns_of_model(model: Any) -> Columns:
    """What the model knows of its columns; of those of a wrapped estimator, the names."""
    known: Columns | None = getattr(model, "columns_", None)
    if known is None:
        names = getattr(model, "feature_names_in_", None)
        if names is None:
            return Columns.of_array(model.n_features_in_)
        return Columns(tuple(Column(name, "other") for name in names), len(names))
    return known


class Requests:
    """Reads the requests for one model."""

    def __init__(self, model: Any) -> None:
        self.columns = columns_of_model(model)
        self.names = {str(column.name): column.name for column in self.columns}
        priced = {str(name): name for name in columns_of(model.cost_matrix)}
        self.required = {str(column.name): column.name for column in self.columns.used} | priced
        # Where an expression says what a missing value counts as, its columns may be null.
        self._priced = () if "coalesce(" in str(model.cost_matrix) else tuple(priced)
        self.classes: AnyArray = model.classes_
        self.decisions: AnyArray = model.decisions_
        self.truths = {str(label): j for j, label in enumerate(self.classes.tolist())}
        self.choices = {str(label): d for d, label in enumerate(self.decisions.tolist())}
        self.shape = len(self.classes), len(self.decisions)
        self._pairs = {
            f"costs.{truth}.{decision}": (j, d)
            for truth, j in self.truths.items()
            for decision, d in self.choices.items()
        }
        form = model.cost_matrix
        self._positive = form.get("positive") if isinstance(form, Mapping) else None
        self._has_short = len(self.classes) == 2 and list(self.truths) == list(self.choices)
        self._short_cells = cache(self._cells_of)
        self.short_costs = self._has_short  # without naming the positive class
        try:
            self._short_cells(None)
        except RequestError:
            self.short_costs = False
        self._body = self._model()

    # -- what a body may be ---------------------------------------------------------------------

    def _model(self) -> type[BaseModel]:
        """The type of a body; parts that are left out are None."""
        limits = Limit | dict[str, Limit]
        rows = Annotated[list[Any], Field(min_length=1)]
        parts: dict[str, tuple[Any, str]] = {
            "records": (rows, "Rows as objects, a value per column."),
            "rows": (rows, "Rows as lists, in the order of the columns."),
            "columns": (list[str], "Names of the columns, in the order of rows."),
            "costs": (
                self._cost_types(),
                "Costs of all rows, or a list with the costs (or null) of each row. The costs of a "
                "row are a matrix, rows = truth, columns = decision, or {truth: {decision: cost}}.",
            ),
            "capacity": (
                _typed("Capacity", dict.fromkeys(self.choices, NotRequired[limits])),
                'How many rows of the request may get a decision, such as {"review": 20}: a '
                "number, a share, a pair [lower, upper] of them, or one of these per group.",
            ),
            "per": (
                str | list[str | int | float | bool],
                "A column, or a group per row: limits hold in each group.",
            ),
            "explain": (bool, "Whether to explain the decisions."),
        }
        fields: dict[str, Any] = {
            name: (kind, Field(None, description=text)) for name, (kind, text) in parts.items()
        }
        return create_model("Body", __config__=STRICT, **fields)

    def _cost_types(self) -> Any:
        k, d = self.shape
        row: Any = Annotated[list[Price], Field(min_length=d, max_length=d)]
        truth = _typed("Truth", dict.fromkeys(self.choices, Price))
        labelled = _typed("Labelled", dict.fromkeys(self.truths, truth))
        forms: list[Any] = [
            Annotated[list[row], Field(min_length=k, max_length=k), Tag("matrix")],
            Annotated[labelled, Tag("labelled")],
        ]
        if self._has_short:
            label = Annotated[Any, WithJsonSchema({"enum": self.classes.tolist()})]
            fields = {
                "fn": Price, "fp": Price, "tp": NotRequired[Price], "tn": NotRequired[Price],
                "positive": NotRequired[label] if self.short_costs else label,
            }  # fmt: skip
            forms.append(Annotated[_typed("Short", fields), Tag("short")])

        def form(value: Any) -> str:
            if value is None:
                return "none"
            if type(value) is not dict:
                return "matrix"
            flat = not any(type(one) is dict for one in value.values())
            return "short" if self._has_short and flat and "fn" in value else "labelled"

        def whole(value: Any) -> str:
            """One entry for all rows, or an entry per row."""
            return form(value) if _is_one(value) else "rows"

        none = Annotated[None, Tag("none")]
        entry: Any = Annotated[Union[(*forms, none)], Discriminator(form)]
        each = Annotated[list[entry], Field(fail_fast=True), Tag("rows")]
        return Annotated[Union[(*forms, each)], Discriminator(whole)]

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
        written = self._body.model_json_schema()
        found = inlined(written, written.pop("$defs", {}))
        parts, row = found["properties"], self.row_schema
        as_list = {
            "type": "array",
            "prefixItems": [row["properties"][name] for name in self.required],
            "minItems": len(self.required),
            "maxItems": len(self.required),
        }
        rows = {"type": "array", "minItems": 1, "maxItems": max_rows}
        shared = {name: parts[name] for name in ("costs", "capacity", "explain")}
        shared["per"] = {
            "description": parts["per"]["description"],
            "anyOf": [
                {"enum": list(self.required)},
                {"type": "array", "items": {"type": "string", "maxLength": LONGEST_NAME}},
            ],
        }
        return {
            "anyOf": [
                {**found, "properties": {name: {**rows, "items": item}, **shared},
                 "required": [name]}
                for name, item in (("records", row), ("rows", as_list))
            ]
        }  # fmt: skip

    def _check(self, document: dict[str, Any]) -> Any:
        given = {name: value for name, value in document.items() if value is not None}
        try:
            return self._body.model_validate(given)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
        known, (key, *inner) = self._body.model_fields, first["loc"]
        what, about = first["msg"], known[str(key)].description if key in known else ""
        if first["type"] == "missing":
            what = f"{inner[-1]!r} is missing"
        elif key not in known:
            what = f"Unknown key {str(key)[:100]!r}; known keys are {', '.join(known)}"
        raise RequestError(422, f"{what}. {about}".strip(), _place(first["loc"], given))

    # -- JSON -----------------------------------------------------------------------------------

    def from_json(self, body: bytes, max_rows: int) -> Query:
        """A request from a body in JSON."""
        document = _parsed(body, 400)
        if type(document) is not dict:
            raise RequestError(422, 'The body must be an object, such as {"records": [{...}]}.')
        found = self._check(document)
        form = "records" if found.rows is None else "rows"
        rows = getattr(found, form)
        if found.rows is not None and found.records is not None:
            raise RequestError(422, "Give rows (lists) or records (objects), not both.", form)
        if found.rows is None and found.columns is not None:
            raise RequestError(422, 'columns is used only with "rows".', "columns")
        if rows is None:
            message = 'Give the rows as "records", a list of objects, or "rows", a list of lists.'
            raise RequestError(422, message, form)
        if len(rows) > max_rows:
            raise too_many(max_rows, form)
        columns = self._from_rows(rows, found.columns) if form == "rows" else self._records(rows)
        for name, values in columns.items():
            if not set(map(type, values)) <= _SCALARS:
                row = next(i for i, value in enumerate(values) if type(value) not in _SCALARS)
                message = f"{name[:100]!r} must be a text, a number, true, false or null."
                raise RequestError(422, message, f"{form}[{row}].{name[:100]}")
        costs = self._costs(found.costs, len(rows))
        return self._query(columns, len(rows), costs, found, form)

    def _records(self, records: list[Any]) -> dict[str, list[Any]]:
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
        self._check_cells(len(names), len(records))
        return {name: [record.get(name) for record in records] for name in names}

    def _from_rows(self, rows: list[Any], names: list[str] | None) -> dict[str, Any]:
        """Columns of rows that are lists, in the order of `required` or of the names given."""
        order = list(self.required) if names is None else names
        if len(set(order)) < len(order):
            raise RequestError(422, "No column may be named twice.", "columns")
        self._check_names(order, "columns")
        for row, values in enumerate(rows):
            if type(values) is not list or len(values) != len(order):
                given = len(values) if type(values) is list else type(values).__name__
                message = f"A row must be a list of {len(order)} values; got {given}."
                raise RequestError(422, message, f"rows[{row}]")
        return dict(zip(order, map(list, zip(*rows, strict=True)), strict=True))

    def _check_names(self, given: Collection[str], place: str) -> None:
        for name, real in self.required.items():
            if name not in given:
                shown = [each[:100] for each in given]
                message = f"{self.columns.lacks(real, shown, 'The request')}"
                raise RequestError(422, f"{message} Use null for an unknown value.",
                                   f"{place}.{name}")  # fmt: skip

    @staticmethod
    def _check_cells(n_columns: int, n: int) -> None:
        if n_columns * n > _CELLS:
            message = f"A request may have at most {_CELLS} cells. Send several requests."
            raise RequestError(413, message, "rows")

    def _query(self, columns: dict[str, Any], n: int, costs: Any, found: Any, form: str) -> Query:
        groups = found.per
        if type(groups) is str:
            if groups not in columns:
                raise RequestError(422, f"The rows have no column {groups[:100]!r}.", "per")
            places, texts = as_texts(open_column(columns[groups]))
            groups = np.array([*texts, None], dtype=object)[places]
        if groups is not None:
            groups = _names(groups, n)
        limits = found.capacity
        for name, limit in (limits or {}).items():
            if type(limit) is dict and groups is None:
                message = 'A limit per group needs "per", the group of each row.'
                raise RequestError(422, message, f"capacity.{name}")
        if limits is not None:
            labels = self.decisions.tolist()
            limits = {labels[self.choices[name]]: limit for name, limit in limits.items()}
        rows = {self.names.get(name, name): values for name, values in columns.items()}
        return Query(rows, n, costs, limits, bool(found.explain), groups, form)

    # -- tables ---------------------------------------------------------------------------------

    def from_table(self, table: pa.Table, options: Mapping[str, str]) -> Query:
        """A request from a table; the other parts are in the query of its address."""
        document: dict[str, Any] = dict(options)
        if "capacity" in options:
            document["capacity"] = _parsed(options["capacity"].encode(), 422, "capacity")
        if "explain" in options:
            flags = {"true": True, "1": True, "false": False, "0": False}
            document["explain"] = flags.get(options["explain"].lower(), options["explain"])
        found = self._check(document)
        n, columns = table.num_rows, dict(zip(table.column_names, table.columns, strict=True))
        if len(columns) < table.num_columns:
            raise RequestError(422, "No column may appear twice.", "columns")
        self._check_names(columns, "columns")
        self._check_cells(len(columns), n)
        for name, values in columns.items():
            if open_column(values[:0]).kind == "other":
                message = f"{name[:100]!r} must hold texts, numbers or dates; got {values.type}."
                raise RequestError(422, message, f"columns.{name[:100]}")
        prices = [*self._pairs, *(f"costs.{name}" for name in SHORT if self._has_short)]
        costs = {
            name: self._price_column(name, columns.pop(name))
            for name in prices
            if name in columns and name not in self.names
        }
        return self._query(columns, n, self._column_costs(costs, n), found, "rows")

    @staticmethod
    def _price_column(name: str, values: Any) -> Floats:
        try:
            return np.asarray(Column(name, "number").values(open_column(values), "The request"))
        except ColumnError as error:
            raise RequestError(422, str(error), f"rows[{error.row}].{name}") from None

    # -- costs ----------------------------------------------------------------------------------

    def _cells_of(self, positive: str | None) -> dict[str, tuple[int, int]]:
        """Truth and decision of fn, fp, tp and tn."""
        label = self._positive if positive is None else positive
        if str(label) in self.truths:
            label = self.classes.tolist()[self.truths[str(label)]]
        form = {"fn": 1, "fp": 0, **({} if label is None else {"positive": label})}
        try:
            found = Costs.resolve(form, classes=self.classes, owner="POST /decide")
        except ValueError as error:
            raise RequestError(422, str(error), "costs") from None
        p = int(np.asarray(found.matrix).any(axis=1).argmax())  # the truth of a false negative
        return {"fn": (p, 1 - p), "fp": (1 - p, p), "tp": (p, p), "tn": (1 - p, 1 - p)}

    def _costs(self, given: Any, n: int) -> tuple[Floats, Bools] | None:
        """Costs of `n` rows: one entry for all, or a list with an entry or null per row."""
        if given is None:
            return None
        if _is_one(given):
            return np.broadcast_to(self._entry(given), (n, *self.shape)), np.ones(n, np.bool_)
        if len(given) != n:
            message = f"costs must be one entry for all rows or {n}, one per row; got {len(given)}."
            raise RequestError(422, message, "costs")
        matrices = np.zeros((n, *self.shape))
        has_costs = np.array([entry is not None for entry in given], dtype=np.bool_)
        for row in np.flatnonzero(has_costs):
            matrices[row] = self._entry(given[row])
        return (matrices, has_costs) if has_costs.any() else None

    def _entry(self, entry: Any) -> Floats:
        if type(entry) is list:
            return np.array(entry)
        matrix = np.zeros(self.shape)
        if any(type(value) is dict for value in entry.values()):
            for truth, row in entry.items():
                for decision, price in row.items():
                    matrix[self.truths[truth], self.choices[decision]] = price
            return matrix
        positive = entry.get("positive")
        cells = self._short_cells(None if positive is None else str(positive))
        for name in SHORT:
            matrix[cells[name]] = entry.get(name, 0.0)
        return matrix

    def _column_costs(self, columns: Mapping[str, Floats], n: int) -> tuple[Floats, Bools] | None:
        """Costs from columns ``costs.fn``, ... or ``costs.TRUTH.DECISION``; null is none."""
        if not columns:
            return None
        short = {f"costs.{name}" for name in SHORT if self._has_short} & set(columns)
        cells, needed = self._pairs, set(self._pairs)
        if short:
            cells = {f"costs.{name}": cell for name, cell in self._short_cells(None).items()}
            needed = {"costs.fn", "costs.fp"}
        absent = sorted(needed - set(columns))
        if absent or not columns.keys() <= cells.keys():
            problem = f"{absent} are missing" if absent else "both forms are there"
            message = f"Columns of costs must be complete and of one form; {problem}."
            raise RequestError(422, message, absent[0] if absent else "costs")
        matrix = np.zeros((n, *self.shape))
        has_costs: Bools = ~np.isnan(columns[min(needed)])
        for name, values in columns.items():
            wrong = (np.abs(values) > LARGEST) | (np.isnan(values) == has_costs)
            if wrong.any():
                message = f"Costs must be numbers up to {LARGEST:g}; a row has all of them or none."
                raise RequestError(422, message, f"rows[{int(wrong.argmax())}].{name}")
            matrix[(slice(None), *cells[name])] = np.where(has_costs, values, 0.0)
        return (matrix, has_costs) if has_costs.any() else None


def _is_one(costs: Any) -> bool:
    """Whether costs are one entry: an object or a matrix, not a list of entries."""
    if type(costs) is not list:
        return type(costs) is dict
    first = costs[0] if costs else None
    return type(first) is list and bool(first) and type(first[0]) in (int, float)


def _typed(name: str, fields: dict[str, Any]) -> Any:
    """An object with these keys, whatever they are called."""
    make: Any = TypedDict
    found = make(name, fields)
    found.__pydantic_config__ = STRICT
    return found


def _schema_of(column: Column) -> dict[str, Any]:
    """The JSON Schema of a cell."""
    if not column.is_used:
        return {"type": [*_ALL], "description": f"Not used: {column.note}."}
    if column.kind == "date":
        form = column.format or "%Y-%m-%d"
        return {"type": ["string", "null"], "description": f"A date, written as {form}."}
    if column.kind in ("number", "boolean"):
        what = f"A {column.kind}; a text that is one is read, too."
        return {"type": [column.kind, "null"], "description": what}
    if column.kind == "other":
        return {"type": _ALL}
    found: dict[str, Any] = {"type": _ALL}
    found["description"] = "A value that training has not seen counts as missing."
    if len(column.categories) <= 200:
        found["examples"] = list(column.categories)
    return found


def _names(groups: Sequence[Any], n: int) -> AnyArray:
    """Names of groups: objects, because one long text would lengthen all in an array of texts."""
    if len(groups) != n:
        raise RequestError(422, f"per must be a column or a list of {n} groups.", "per")
    names = np.empty(n, dtype=object)
    names[:] = [None if value is None else str(value) for value in groups]
    for row, name in enumerate(names):
        if name is None or len(name) > LONGEST_NAME:
            what = "is missing" if name is None else f"has {len(name)}"
            message = (
                f"The name of a group must have 1 to {LONGEST_NAME} characters; that of row {row} "
                f"{what}."
            )
            raise RequestError(422, message, "per")
    return names


def _parsed(text: bytes, status: int, field: str | None = None) -> Any:
    """Strict JSON: no NaN, no key twice."""
    try:
        return parse_json(text, "The body", Limits(json=len(text), values=len(text)))
    except ModelFileError as error:
        raise RequestError(status, str(error)[:200], field) from None


def _place(loc: Sequence[int | str], document: Any) -> str:
    """Where an error is: steps into the document, without pydantic's names of alternatives."""
    text, here = "", document
    for step in loc:
        if type(here) is dict and step in here:
            text += f".{str(step)[:100]}"
        elif type(here) is list and type(step) is int:
            text += f"[{step}]"
        else:
            continue
        here = here[step]
    return text.lstrip(".")


def inlined(part: Any, defined: dict[str, Any]) -> Any:
    """A schema without references, titles and defaults."""
    if isinstance(part, list):
        return [inlined(one, defined) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return inlined(defined[part["$ref"].rpartition("/")[2]], defined)
    return {
        key: {name: inlined(one, defined) for name, one in value.items()}
        if key == "properties"
        else inlined(value, defined)
        for key, value in part.items()
        if key not in ("title", "default")
    }
