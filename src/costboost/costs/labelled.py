"""Costs whose rows and columns have names: frames and mappings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from costboost._typing import AnyArray
from costboost.costs.checks import nearest, parameter, some
from costboost.costs.context import Context
from costboost.costs.labels import (
    DECISION_WORDS,
    TRUTH_WORDS,
    arranged,
    matched,
    positive_code,
)

__all__ = [
    "SHORT_KEYS",
    "from_mapping",
    "in_known_order",
    "is_short",
    "labelled",
    "open_frame",
    "row_labels",
]

SHORT_KEYS = ("fn", "fp", "tp", "tn", "positive")
"""Keys of the binary short form ``{"fn": 5, "fp": 1}``."""


def is_short(value: object) -> bool:
    """Say whether `value` is the binary short form, ``{"fn": ..., "fp": ...}``."""
    return isinstance(value, Mapping) and bool(value) and all(key in SHORT_KEYS for key in value)


def labelled(
    cells: AnyArray, truths: Sequence[Any], columns: Sequence[Any], context: Context
) -> tuple[AnyArray, AnyArray]:
    """The cells of a labelled matrix in the order of the classes, and the decisions."""
    layout = arranged(
        truths,
        columns,
        context.classes,
        context.name,
        context.owner,
        as_classes=context.as_classes,
    )
    cells, decisions = cells[np.ix_(layout.rows, layout.columns)], layout.decisions
    return in_known_order(cells, decisions, context)


def in_known_order(
    cells: AnyArray, decisions: AnyArray, context: Context
) -> tuple[AnyArray, AnyArray]:
    """Columns in the order of decisions that are known from a fit."""
    if context.decisions is None:
        return cells, decisions
    wanted, given = context.decisions.tolist(), decisions.tolist()
    if set(wanted) != set(given):
        raise ValueError(
            f"{context.start} must price the decisions {wanted} that the model was fitted with, "
            f"got {given}. Give a column to each, or fit anew with other decisions."
        )
    return cells[:, [given.index(x) for x in wanted]], context.decisions


def row_labels(frame: Any) -> list[Any]:
    """Labels of the rows: a first column that holds the truth, else the index."""
    # A first column holds the truth if there is no index, or the index only counts and the column
    # holds text, or has a name that says so.
    columns, index = list(frame.columns), getattr(frame, "index", None)
    if not columns:
        return []
    if index is not None and list(index) == columns:
        return columns
    first = frame[columns[0]].to_numpy()
    is_counted = index is None or list(index) == list(range(len(frame)))
    is_text = all(isinstance(label, str) for label in first.tolist())
    has_name = _says(columns[0], (*TRUTH_WORDS, "index", "class", "label"))
    if is_counted and (is_text or has_name or (index is None and len(columns) == len(frame) + 1)):
        return list(first.tolist())
    return [] if index is None else list(index)


def open_frame(frame: Any, name: str, owner: str) -> tuple[list[Any], list[Any], AnyArray]:
    """Row labels, column labels and cells of a labelled pandas or polars frame."""
    # Row labels are the pandas index, or the first column if that index is only a count.
    columns, truths = list(frame.columns), row_labels(frame)
    index = getattr(frame, "index", None)
    if index is not None and truths == list(index):
        truth_name = index.name
    elif truths:
        truth_name, columns = columns[0], columns[1:]
        frame = frame[columns]
    else:
        raise ValueError(
            f"{parameter(name, owner)} is a frame without an index, so its first column "
            f"must hold the true class and each other column the decision it is named after; got "
            f"{len(frame)} rows and the columns {columns}. Add the column of true classes."
        )
    if columns == list(range(len(columns))) and any(isinstance(x, str) for x in truths):
        raise ValueError(
            f"{parameter(name, owner)} is a frame whose rows are named {truths}, but whose columns "
            f"have no names, only the numbers {columns}. Name the columns after the decisions."
        )
    column_name = getattr(getattr(frame, "columns", None), "name", None)
    if _says(truth_name, DECISION_WORDS) or _says(column_name, TRUTH_WORDS):
        raise ValueError(
            f"{parameter(name, owner)} is a frame whose rows are named {truth_name!r} and whose "
            f"columns are named {column_name!r}: it has the decision in its rows. Rows are the "
            "truth and columns the decision: pass its transpose, .T."
        )
    return truths, columns, np.asarray(frame.to_numpy(), dtype=object)


def _says(name: Any, words: Sequence[str]) -> bool:
    return isinstance(name, str) and name.strip().lower() in words


def from_mapping(mapping: Mapping[Any, Any], context: Context) -> tuple[AnyArray, AnyArray]:
    """The cells of a mapping, in the order of the classes, and the decisions."""
    if is_short(mapping):
        return _from_short(mapping, context)
    others = [key for key in mapping if not (isinstance(key, tuple) and len(key) == 2)]
    strange = [key for key in others if key not in SHORT_KEYS] or others
    if strange:
        hint = nearest(str(strange[0]).lower(), SHORT_KEYS) if isinstance(strange[0], str) else ""
        what = "keys" if len(strange) > 1 else "key"
        raise ValueError(
            f"{context.start} has the unknown {what} {', '.join(map(repr, strange))}{hint} Write "
            "{(truth, decision): cost}, or for two classes {'fn': ..., 'fp': ...} with 'tp', 'tn' "
            "and 'positive' if needed."
        )
    known = context.classes.tolist()
    pairs = {
        (_as_class(t, context.classes), _as_class(d, context.classes)): v
        for (t, d), v in mapping.items()
    }
    decisions = list(dict.fromkeys(d for _, d in pairs))
    if set(decisions) < set(known):
        decisions = known  # a class that nobody decides for: a pair is missing, named below
    truths = [*known, *dict.fromkeys(t for t, _ in pairs if t not in known)]
    missing = [(t, d) for t in truths for d in decisions if t != d and (t, d) not in pairs]
    strangers = [key for key in pairs if key[0] not in known or key[1] not in known]
    if missing and strangers:
        label = next(x for x in strangers[0] if x not in known)
        raise ValueError(
            f"{context.start} must map pairs (truth, decision), got the pairs {strangers} with the "
            f"unknown label {label!r}{nearest(label, known)} The classes are {known}. Correct the "
            f"label, or give a cost to every pair: {some(missing)} missing."
        )
    if missing:
        raise ValueError(
            f"{context.start} must give a cost to every pair (truth, decision) of different "
            f"labels; {some(missing)} missing. Add the pairs (right decisions may be left out: "
            "they cost 0)."
        )
    cells = np.empty((len(truths), len(decisions)), dtype=object)
    for i, truth in enumerate(truths):
        for j, decision in enumerate(decisions):
            cells[i, j] = pairs.get((truth, decision), 0.0)
    return labelled(cells, truths, decisions, context)


def _as_class(label: Any, classes: AnyArray) -> Any:
    (code,) = matched([label], classes)
    return label if code < 0 else classes.tolist()[code]


def _from_short(mapping: Mapping[Any, Any], context: Context) -> tuple[AnyArray, AnyArray]:
    known = context.classes.tolist()
    if len(known) != 2:
        raise ValueError(
            f"{context.start} may use the keys 'fn' and 'fp' for two classes "
            f"only, and there are {len(known)}: {known}. Write {{(truth, decision): cost}} or a "
            "matrix."
        )
    missing = [key for key in ("fn", "fp") if key not in mapping]
    if missing:
        raise ValueError(
            f"{context.start} must give both 'fn' (the price of a miss) and 'fp' "
            f"(the price of a false alarm), got {dict(mapping)}. Add {missing[0]!r}."
        )
    p = positive_code(mapping.get("positive"), context.classes, context.name, context.owner)
    cells = np.empty((2, 2), dtype=object)
    for key, truth, decision in (
        ("fn", p, 1 - p),
        ("fp", 1 - p, p),
        ("tp", p, p),
        ("tn", 1 - p, 1 - p),
    ):
        cells[truth, decision] = mapping.get(key, 0.0)
    return in_known_order(cells, context.classes, context)
