"""The body of ``POST /decide``: pydantic checks its parts and writes their JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from costboost.costs import Costs
from costboost.errors import ModelFileError
from costboost.files.container import Limits, parse_json
from costboost.serve.columns import Schema, Table, decoded, floats, number, read_table, scalar
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


@dataclass(frozen=True, eq=False)
class Query:
    """A checked request."""

    table: Table
    costs: tuple[Floats, Bools] | None  # a matrix per row (n, k, d), and which rows have one
    capacity: Mapping[Any, Any] | None
    explain: bool
    groups: AnyArray | None = None  # names, in each of which limits hold

    def split(self, size: int) -> Iterator[Query]:
        """The rows and their costs, so many at a time."""
        n = len(self.table)
        if n <= size:
            yield self
            return
        for rows in (slice(start, start + size) for start in range(0, n, size)):
            costs = self.costs and (self.costs[0][rows], self.costs[1][rows])
            yield Query(self.table.part(rows), costs, self.capacity, self.explain)


class Requests:
    """Reads the requests for one model."""

    def __init__(self, model: Any, columns: Schema) -> None:
        self.columns = columns
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

    def schema(self, max_rows: int) -> dict[str, Any]:
        """The JSON Schema of a body."""
        written = self._body.model_json_schema()
        found = inlined(written, written.pop("$defs", {}))
        parts = found["properties"]
        as_list = {
            "type": "array",
            "prefixItems": [column.schema for column in self.columns.columns],
            "minItems": len(self.columns.names),
            "maxItems": len(self.columns.names),
        }
        rows = {"type": "array", "minItems": 1, "maxItems": max_rows}
        shared = {name: parts[name] for name in ("costs", "capacity", "per", "explain")}
        shared["per"] = {
            "description": parts["per"]["description"],
            "anyOf": [{"enum": self.columns.names}, {"type": "array", "items": {"type": "string"}}],
        }
        return {
            "anyOf": [
                {**found, "properties": {name: {**rows, "items": item}, **shared},
                 "required": [name]}
                for name, item in (("records", self.columns.schema), ("rows", as_list))
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
        if form == "rows":
            table = self.columns.from_rows(rows, found.columns)
        else:
            table = self.columns.from_records(rows)
        groups = found.per
        if type(groups) is str:
            if groups not in table.columns:
                raise RequestError(422, f"The model has no column {groups[:100]!r}.", "per")
            groups = table[groups].tolist()
        if groups is not None and len(groups) != len(table):
            message = f"per must be a column or a list of {len(table)} groups."
            raise RequestError(422, message, "per")
        return self._query(table, self._costs(found.costs, len(table)), groups, found)

    def _query(
        self, table: Table, costs: tuple[Floats, Bools] | None, groups: Any, found: Any
    ) -> Query:
        limits = found.capacity
        for name, limit in (limits or {}).items():
            if type(limit) is dict and groups is None:
                message = 'A limit per group needs "per", the group of each row.'
                raise RequestError(422, message, f"capacity.{name}")
        if limits is not None:
            labels = self.decisions.tolist()
            limits = {labels[self.choices[name]]: limit for name, limit in limits.items()}
        if groups is not None:
            groups = _names(groups)
        return Query(table, costs, limits, bool(found.explain), groups)

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
        prices = [*self._pairs, *(f"costs.{name}" for name in SHORT if self._has_short)]
        others = {name: number(name) for name in prices if name not in self.columns.names}
        if found.per is not None:
            others[found.per] = scalar(found.per)
        rows, more = read_table(table, self.columns, others)
        groups = None
        if found.per is not None:
            if found.per not in more:
                raise RequestError(422, f"The table has no column {found.per[:100]!r}.", "per")
            groups = more.pop(found.per)
        costs = {name: floats(values) for name, values in more.items()}
        return self._query(rows, self._column_costs(costs, len(rows)), groups, found)

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


def _names(groups: Any) -> AnyArray:
    """Names of groups: objects, because one long text would lengthen all in an array of texts."""
    values = decoded(groups) if isinstance(groups, pa.ChunkedArray) else groups
    names = np.empty(len(values), dtype=object)
    names[:] = [str(value) for value in values]
    longest = max(map(len, names))
    if longest > LONGEST_NAME:
        message = f"The name of a group may have at most {LONGEST_NAME} characters; got {longest}."
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
