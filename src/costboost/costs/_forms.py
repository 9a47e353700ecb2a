"""The forms in which users write costs, each turned into a plain array in class order.

Every function here either returns an array of finite floats, truth by decision, or raises an error
that names the parameter, its owner, the rule, what was given and the remedy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats, Ints

SHORT_KEYS = ("fn", "fp", "tp", "tn", "positive")
"""Keys of the binary short form ``{"fn": 5, "fp": 1}``."""


class Uncertain:
    """A cost that is not one number; see `costboost.costs.uncertain`."""


def parameter(name: str, owner: str) -> str:
    """Name a parameter at the start of an error message."""
    return f"The {name!r} parameter of {owner}" if owner else f"The {name!r} parameter"


def is_frame(value: object) -> bool:
    """Say whether `value` is a pandas or polars frame, without importing either."""
    return hasattr(value, "columns") and hasattr(value, "to_numpy")


def is_short(value: object) -> bool:
    """Say whether `value` is the binary short form, ``{"fn": ..., "fp": ...}``."""
    return isinstance(value, Mapping) and bool(value) and all(key in SHORT_KEYS for key in value)


def as_floats(value: Any, name: str, owner: str) -> Floats:
    """Return `value` as an array of floats; no copy if it is one already."""
    rule = f"{parameter(name, owner)} must hold numbers"
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O":
            for entry in array.flat:
                refuse_uncertain(entry, name, owner)
        if array.dtype.kind not in "fiubO":
            raise TypeError(f"{rule}, got an array of dtype {array.dtype}. Convert it to float.")
        return np.asarray(array, dtype=np.float64)
    except ValueError as error:
        raise ValueError(
            f"{rule} and be rectangular, got {type(value).__name__}: {error}. "
            "Pass an array of floats."
        ) from error


def refuse_uncertain(entry: object, name: str, owner: str) -> None:
    """Refuse an interval or samples where one number is needed, and say who takes them."""
    if isinstance(entry, Uncertain):
        raise TypeError(
            f"{parameter(name, owner)} must hold plain numbers, got the uncertain {entry!r}. "
            "Uncertain costs are taken by CostBoostClassifier; elsewhere pass the mean costs, "
            "costboost.costs.scenarios(...).expected."
        )


def check_finite(array: Floats, name: str, owner: str, classes: AnyArray) -> None:
    """Refuse NaN and infinity, and say where the first one stands."""
    finite = np.isfinite(array)
    if finite.all():
        return
    where = tuple(int(i) for i in np.argwhere(~finite)[0])
    labels = classes.tolist()
    if array.ndim == 3 or name == "cost_matrix":
        place = f"deciding {labels[where[-1]]!r} when the truth is {labels[where[-2]]!r}"
        place += f" on row {where[0]}" if array.ndim == 3 else ""
    else:
        place = f"row {where[0]}"
    raise ValueError(
        f"{parameter(name, owner)} must be finite, got {array[where]} for {place}. "
        "Replace it by a number; forbid a decision with a large cost instead of infinity."
    )


def static_matrix(cost_matrix: Any, classes: AnyArray, owner: str) -> Floats:
    """Turn one matrix for all rows, in any form but a callable, into a new (k, k) array."""
    k = len(classes)
    if cost_matrix is None:
        return 1.0 - np.eye(k)
    if isinstance(cost_matrix, Mapping):
        matrix = _from_mapping(cost_matrix, classes, owner)
    elif is_frame(cost_matrix):
        truths, decisions, values = _open_frame(cost_matrix, owner)
        matrix = by_label(values, truths, decisions, classes, owner)
    else:
        matrix = as_floats(cost_matrix, "cost_matrix", owner).copy()
    if matrix.shape != (k, k):
        remedy = (
            "Matrices of single rows go into costs=, at fit, predict or score."
            if matrix.ndim == 3
            else "Give one row per true class and one column per decision, in the order of the "
            "classes."
        )
        raise ValueError(
            f"{parameter('cost_matrix', owner)} must have shape ({k}, {k}) for the classes "
            f"{classes.tolist()}, got {matrix.shape}. {remedy}"
        )
    check_finite(matrix, "cost_matrix", owner, classes)
    return matrix


def by_label(
    values: Floats,
    truths: Sequence[Any],
    decisions: Sequence[Any],
    classes: AnyArray,
    owner: str,
) -> Floats:
    """Put a labelled matrix into class order, after checking its labels against the classes.

    Classes that have both a row and a column in the matrix, but no rows of data (a rare class
    missing from a fold), are left out.
    """
    matched = _matched(truths, classes)
    absent = {x for x in truths if x in set(decisions)} - matched
    if len(matched) < len(classes):
        absent = set()  # a class is misspelt, and the message should name what was found instead
    rows = [i for i, x in enumerate(truths) if x not in absent]
    columns = [j for j, x in enumerate(decisions) if x not in absent]
    row_codes = positions(
        [truths[i] for i in rows], classes, "rows (the truth)", "cost_matrix", owner
    )
    column_codes = positions(
        [decisions[j] for j in columns], classes, "columns (the decision)", "cost_matrix", owner
    )
    matrix = np.empty((len(classes), len(classes)))
    matrix[np.ix_(row_codes, column_codes)] = np.asarray(values)[np.ix_(rows, columns)]
    return matrix


def _matched(labels: Sequence[Any], classes: AnyArray) -> set[Any]:
    """The labels that stand for a class, as in `positions`."""
    known = classes.tolist()
    printed = {str(label) for label in known}
    return {x for x in labels if x in known or (isinstance(x, str) and x in printed)}


def positions(
    labels: Sequence[Any], classes: AnyArray, what: str, name: str, owner: str
) -> list[int]:
    """Index of each label among the classes; the labels must be exactly the classes.

    Column names are often text where the classes are not (always so in polars), so a text also
    stands for the class that prints like it.
    """
    known = classes.tolist()
    exact = {label: i for i, label in enumerate(known)}
    printed = {str(label): i for i, label in enumerate(known)}
    found = [exact.get(x, printed.get(x, -1) if isinstance(x, str) else -1) for x in labels]
    missing = [label for i, label in enumerate(known) if i not in found]
    unknown = [x for x, i in zip(labels, found, strict=True) if i < 0]
    if missing or unknown or len(found) != len(known):
        faults = [
            f"lack {missing}" if missing else "",
            f"name the unknown {unknown}" if unknown else "",
            "" if missing or unknown else f"repeat a class in {list(labels)}",
        ]
        raise ValueError(
            f"{parameter(name, owner)} must name exactly the classes {known} in its {what}, in "
            f"any order: they {' and '.join(f for f in faults if f)}. Relabel the frame, rows = "
            "truth and columns = decision, or pass a plain array."
        )
    return found


def _open_frame(frame: Any, owner: str) -> tuple[list[Any], list[Any], Floats]:
    """Row labels, column labels and values of a labelled pandas or polars frame.

    Row labels are the pandas index, or the first column if there is one column more than rows.
    """
    decisions = list(frame.columns)
    n_rows = len(frame)
    if len(decisions) == n_rows + 1:
        truth = decisions.pop(0)
        truths = frame[truth].to_numpy().tolist()
        frame = frame[decisions]
    elif hasattr(frame, "index"):
        truths = list(frame.index)
    else:
        raise ValueError(
            f"{parameter('cost_matrix', owner)} is a frame without an index, so its first column "
            f"must hold the true class and each other column the decision it is named after; got "
            f"{n_rows} rows and the columns {decisions}. Add the column of true classes."
        )
    return truths, decisions, as_floats(frame.to_numpy(), "cost_matrix", owner)


def _from_mapping(mapping: Mapping[Any, Any], classes: AnyArray, owner: str) -> Floats:
    if is_short(mapping):
        return _from_short(mapping, classes, owner)
    known = classes.tolist()
    strange = [key for key in mapping if not (isinstance(key, tuple) and len(key) == 2)]
    if strange:
        raise ValueError(
            f"{parameter('cost_matrix', owner)} has the unknown keys {strange}. Write "
            "{(truth, decision): cost}, or for two classes {'fn': ..., 'fp': ...} with 'tp', 'tn' "
            "and 'positive' if needed."
        )
    index = {label: i for i, label in enumerate(known)}
    # A class without rows of data (a rare one missing from a fold) is priced both as truth and as
    # decision, against every class; anything less is a misspelling.
    strangers = {x for key in mapping for x in key if x not in index}
    absent = {x for x in strangers if all((x, y) in mapping and (y, x) in mapping for y in known)}
    mapping = {key: v for key, v in mapping.items() if absent.isdisjoint(key)}
    unknown = [key for key in mapping if not (key[0] in index and key[1] in index)]
    if unknown:
        raise ValueError(
            f"{parameter('cost_matrix', owner)} must map pairs (truth, decision) of the classes "
            f"{known}, got the pairs {unknown}. Correct or drop them."
        )
    pairs = {(index[truth], index[decision]) for truth, decision in mapping}
    missing = [
        (known[i], known[j])
        for i in range(len(known))
        for j in range(len(known))
        if i != j and (i, j) not in pairs
    ]
    if missing:
        raise ValueError(
            f"{parameter('cost_matrix', owner)} must give a cost to every pair (truth, decision) "
            f"of different classes; {_some(missing)} missing. Add the pairs (right decisions may "
            "be left out: they cost 0)."
        )
    matrix = np.zeros((len(known), len(known)))
    for (truth, decision), value in mapping.items():
        matrix[index[truth], index[decision]] = _number(value, (truth, decision), owner)
    return matrix


def _from_short(mapping: Mapping[Any, Any], classes: AnyArray, owner: str) -> Floats:
    known = classes.tolist()
    if len(known) != 2:
        raise ValueError(
            f"{parameter('cost_matrix', owner)} may use the keys 'fn' and 'fp' for two classes "
            f"only, and there are {len(known)}: {known}. Write {{(truth, decision): cost}} or a "
            "matrix."
        )
    missing = [key for key in ("fn", "fp") if key not in mapping]
    if missing:
        raise ValueError(
            f"{parameter('cost_matrix', owner)} must give both 'fn' (the price of a miss) and 'fp' "
            f"(the price of a false alarm), got {dict(mapping)}. Add {missing[0]!r}."
        )
    positive = mapping.get("positive", known[1])
    if positive not in known:
        raise ValueError(
            f"{parameter('cost_matrix', owner)} names the positive class {positive!r}, which is "
            f"not among the classes {known}. Name one of them."
        )
    p = known.index(positive)
    matrix = np.zeros((2, 2))
    for key, truth, decision in (("fn", p, 1 - p), ("fp", 1 - p, p), ("tp", p, p)):
        matrix[truth, decision] = _number(mapping.get(key, 0.0), key, owner)
    matrix[1 - p, 1 - p] = _number(mapping.get("tn", 0.0), "tn", owner)
    return matrix


def _number(value: Any, key: object, owner: str) -> float:
    refuse_uncertain(value, "cost_matrix", owner)
    if np.ndim(value) != 0:
        raise ValueError(
            f"{parameter('cost_matrix', owner)} must map {key!r} to one number, got an array of "
            f"shape {np.shape(value)}. Prices that differ from row to row go into costs=, built by "
            "costboost.costs.per_row(fn=..., fp=...)."
        )
    if isinstance(value, (str, bytes)) or value is None:
        raise TypeError(
            f"{parameter('cost_matrix', owner)} must map {key!r} to a number, got {value!r}."
        )
    return float(value)


def _some(items: Sequence[object], limit: int = 5) -> str:
    """List a few items; say how many there are if not all are shown."""
    shown = ", ".join(map(str, items[:limit]))
    verb = "is" if len(items) == 1 else "are"
    return (
        f"{shown} {verb}" if len(items) <= limit else f"{shown} and {len(items) - limit} more are"
    )


def row_matrices(
    value: Any, classes: AnyArray, n_samples: int | None, name: str, owner: str
) -> Floats:
    """Check one matrix per row, (n, k, k)."""
    array = as_floats(value, name, owner)
    k = len(classes)
    n = "n" if n_samples is None else n_samples
    if array.ndim != 3 or array.shape[1:] != (k, k) or n_samples not in (None, len(array)):
        raise ValueError(
            f"{parameter(name, owner)} must give one matrix per row, truth by decision: shape "
            f"({n}, {k}, {k}), got {array.shape}. For two classes "
            "costboost.costs.per_row builds it."
        )
    check_finite(array, name, owner, classes)
    return array


def row_prices(costs: Any, classes: AnyArray, codes: Ints, owner: str) -> Floats:
    """Check prices of rows whose truth is known, (n, k) or (n,), and return them as (n, k).

    A frame whose columns carry the class labels is put into class order.
    """
    n, k = len(codes), len(classes)
    array = as_floats(costs.to_numpy() if is_frame(costs) else costs, "costs", owner)
    if array.shape == (n,):
        check_finite(array, "costs", owner, classes)
        prices = np.repeat(array[:, None], k, axis=1)
        prices[np.arange(n), codes] = 0.0
        return prices
    if array.shape != (n, k):
        remedy = (
            "One matrix for all rows goes into cost_matrix=."
            if array.shape == (k, k)
            else "Check that costs and the data have the same rows."
        )
        raise ValueError(
            f"{parameter('costs', owner)} must have shape ({n}, {k}, {k}), a matrix per row; "
            f"({n}, {k}), the price of each decision per row; or ({n},), the price of an error "
            f"per row; got {array.shape}. {remedy}"
        )
    if is_frame(costs) and list(costs.columns) != list(range(k)):
        order = positions(list(costs.columns), classes, "columns (the decision)", "costs", owner)
        array = array[:, np.argsort(order)]
    check_finite(array, "costs", owner, classes)
    return array


def named_labels(cost_matrix: Any) -> list[Any]:
    """Class labels that a labelled form names by itself; empty for an unlabelled one."""
    if isinstance(cost_matrix, Mapping):
        if is_short(cost_matrix):
            return [cost_matrix["positive"]] if "positive" in cost_matrix else []
        return [label for key in cost_matrix if isinstance(key, tuple) for label in key]
    if is_frame(cost_matrix):
        return _open_frame(cost_matrix, "")[0]
    return []


def is_labelled(cost_matrix: Any) -> bool:
    """Whether the form names all classes by itself."""
    return len(named_labels(cost_matrix)) > 1
