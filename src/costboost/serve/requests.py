"""The body of ``POST /decide`` as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pydantic_core import from_json

from costboost._typing import AnyArray
from costboost.serve.columns import Columns, Table
from costboost.serve.errors import RequestError
from costboost.serve.prices import Given, Prices

__all__ = ["Query", "parse_json", "read_capacity", "read_json"]

_KEYS = ("records", "rows", "columns", "costs", "capacity", "per", "explain")


@dataclass(frozen=True, eq=False)
class Query:
    """A checked request."""

    table: Table
    costs: Given | None
    capacity: Mapping[Any, Any] | None
    explain: bool


def parse_json(body: bytes) -> dict[str, Any]:
    """The body as an object with known keys."""
    try:
        document = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise RequestError(400, f"The body is not JSON: {str(error)[:200]}.") from None
    if type(document) is not dict:
        raise RequestError(422, 'The body must be an object, such as {"records": [{...}]}.')
    for key in document:
        if key not in _KEYS:
            raise RequestError(
                422, f"Unknown key {key[:100]!r}; known keys are {', '.join(_KEYS)}.", key[:100]
            )
    return document


def read_json(document: dict[str, Any], columns: Columns, prices: Prices, max_rows: int) -> Query:
    """A request from its parsed body."""
    form = "rows" if "rows" in document else "records"
    given = document.get(form)
    if "rows" in document and "records" in document:
        raise RequestError(422, "Give rows (lists) or records (objects), not both.", "rows")
    if type(given) is not list or not given:
        raise RequestError(
            422, 'Give the rows as "records", a list of objects, or "rows", a list of lists.', form
        )
    if len(given) > max_rows:
        raise RequestError(
            413,
            f"A request may have at most {max_rows} rows; got {len(given)}. Send several requests.",
            form,
        )
    names = document.get("columns")
    if names is not None and (
        form == "records" or type(names) is not list or not all(type(name) is str for name in names)
    ):
        raise RequestError(
            422, 'columns must be a list of names, and is used only with "rows".', "columns"
        )
    explain = document.get("explain", False)
    if type(explain) is not bool:
        raise RequestError(422, "explain must be true or false.", "explain")
    table = columns.from_rows(given, names) if form == "rows" else columns.from_records(given)
    groups = _groups(document.get("per"), table)
    return Query(
        table if groups is None else replace(table, groups=groups),
        prices.read(document.get("costs"), len(given)),
        read_capacity(document.get("capacity"), prices, has_groups=groups is not None),
        explain,
    )


def _groups(per: Any, table: Table) -> AnyArray | None:
    """Group of each row, as text."""
    if per is None:
        return None
    if type(per) is str:
        if per not in table.columns:
            raise RequestError(422, f"The model has no column {per[:100]!r}.", "per")
        return np.array([str(value) for value in table[per].tolist()])
    n = len(table)
    if type(per) is not list or len(per) != n:
        raise RequestError(422, f"per must be a column or a list of {n} groups.", "per")
    for row, value in enumerate(per):
        if type(value) not in (str, int, float, bool):
            raise RequestError(422, "A group must be a text or a number.", f"per[{row}]")
    return np.array([str(value) for value in per])


def read_capacity(capacity: Any, prices: Prices, *, has_groups: bool) -> dict[Any, Any] | None:
    """Limits of decisions: a number, a share, a pair of them, or one of these per group."""
    if capacity is None:
        return None
    if type(capacity) is not dict:
        raise RequestError(422, 'capacity must be an object, such as {"review": 20}.', "capacity")
    labels = prices.decisions.tolist()
    limits: dict[Any, Any] = {}
    for name, limit in capacity.items():
        place = f"capacity.{name[:100]}"
        if name not in prices.choices:
            raise RequestError(
                422, f"{name[:100]!r} is not a decision; use {list(prices.choices)}.", place
            )
        if type(limit) is dict:
            if not has_groups:
                raise RequestError(
                    422, 'A limit per group needs "per", the group of each row.', place
                )
            for group, own in limit.items():
                _check_limit(own, f"{place}.{group[:100]}")
        else:
            _check_limit(limit, place)
        limits[labels[prices.choices[name]]] = limit
    return limits


def _check_limit(limit: Any, place: str) -> None:
    ends = limit if type(limit) is list and len(limit) == 2 else [limit]
    for end in ends:
        is_open = end is None and len(ends) == 2
        if not is_open and (type(end) not in (int, float) or not 0 <= end <= 2**53):
            raise RequestError(
                422, "A limit must be a number of rows (an integer), a share of the rows (a "
                "fraction up to 1), or a pair [lower, upper] of them.", place,
            )  # fmt: skip
