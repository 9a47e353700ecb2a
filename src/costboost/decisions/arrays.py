"""Expected costs and cheapest decisions on plain arrays, and the checks they share.

Rows of a cost matrix are classes (the truth, k of them), columns are decisions (d of them).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats, Ints
from costboost._utils import invalid
from costboost.columns.raw import column_names, has_columns
from costboost.costs.labels import nearest, of_length
from costboost.costs.table import cheapest, expected_costs

__all__ = ["cheapest", "expected_cost"]


def expected_cost(proba: ArrayLike, matrix: ArrayLike) -> Floats:
    """Expected cost of every decision on every row, ``sum_j proba[i, j] * matrix[i, j, d]``.

    Parameters
    ----------
    proba : array of shape (n, k)
        Probability of each class on each row.
    matrix : array of shape (k, d) or (n, k, d)
        Costs, truth by decision, for all rows or for each.

    Returns
    -------
    array of shape (n, d)
        The expected costs.

    Examples
    --------
    >>> expected_cost([[0.9, 0.1]], [[0, 4, 20], [100, 4, 0]])
    array([[10.,  4., 18.]])
    """
    p, C, _, _ = checked(proba, matrix, "expected_cost")
    return expected_costs(p, C)


def cheapest_other(expected: Floats, codes: Ints | int) -> tuple[Ints, Floats]:
    """The cheapest decision of each row other than its own, and what its own saves against it."""
    rows = np.arange(len(expected))
    others = expected.copy()
    others[rows, codes] = np.inf
    found: Ints = others.argmin(axis=1)
    return found, others[rows, found] - expected[rows, codes]


def checked(
    proba: ArrayLike,
    matrix: ArrayLike,
    owner: str,
    classes: ArrayLike | None = None,
    decisions: ArrayLike | None = None,
) -> tuple[Floats, Floats, AnyArray, AnyArray]:
    """Probabilities and costs that are finite and belong together, and their labels."""
    p = np.asarray(proba, dtype=np.float64)
    C = np.asarray(matrix, dtype=np.float64)
    if p.ndim != 2:
        raise invalid("proba", owner, f"must have shape (n, k), a column per class; got {p.shape}.")
    n, k = p.shape
    if not (C.ndim in (2, 3) and C.shape[-2] == k and (C.ndim == 2 or len(C) == n)):
        rule = f"must have shape ({k}, d) or ({n}, {k}, d), truth by decision, to go with proba"
        raise invalid("matrix", owner, f"{rule} of shape {p.shape}; got {C.shape}.")
    names = column_labels(classes, k, "classes", owner)
    actions = column_labels(decisions, C.shape[-1], "decisions", owner)
    return finite(p, "proba", owner), finite(C, "matrix", owner), names, actions


def finite(array: Floats, name: str, owner: str) -> Floats:
    """The array, if it has neither NaN nor infinity."""
    if not np.isfinite(array).all():
        raise invalid(name, owner, "must be finite, got NaN or infinity. Drop those rows.")
    return array


def checked_table(
    expected: ArrayLike, decisions: ArrayLike | None, owner: str
) -> tuple[Floats, AnyArray]:
    """Costs of each decision on each row as finite floats, (n, d), and labels of the decisions."""
    E = np.asarray(expected, dtype=np.float64)
    if E.ndim != 2 or not E.shape[1]:
        rule = f"must have shape (n, d), a column per decision; got shape {E.shape}"
        raise invalid("expected", owner, f"{rule}. See expected_cost(proba, matrix).")
    labels = column_labels(decisions, E.shape[1], "decisions", owner)
    return finite(E, "expected", owner), labels


def column_labels(labels: ArrayLike | None, size: int, name: str, owner: str) -> AnyArray:
    """Distinct labels of the columns; by default 0 to size - 1."""
    array = np.arange(size) if labels is None else np.asarray(labels)
    if array.shape != (size,) or len(set(array.tolist())) != size:
        rule = f"must hold {size} distinct labels, one per column"
        raise invalid(name, owner, f"{rule}; got {array.tolist()}.")
    return array


def column_of(values: Any, X: Any, name: str, owner: str) -> Any:
    """Values of the rows: as they are given, or a column of X by its name."""
    if not isinstance(values, str):
        return values
    columns = column_names(X) if has_columns(X) else []
    if values not in columns:
        remedy = f"{nearest(values, columns)} Pass the column's values."
        raise invalid(name, owner, f"names {values!r}, which X does not have{remedy}")
    return np.asarray(X[values])


def columns_of(table: Any, n: int, name: str, owner: str) -> dict[str, AnyArray]:
    """Columns of a frame, an Arrow table or a mapping, by their names; none of None."""
    keys = [] if table is None else column_names(table)
    return {str(key): of_length(table[key], n, f"{name}[{key!r}]", owner) for key in keys}
