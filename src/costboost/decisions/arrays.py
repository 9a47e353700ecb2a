"""Compute expected costs on plain arrays, and check arrays.

Rows of a cost matrix are classes (the truth, k of them), columns are decisions (d of them).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._utils import invalid
from costboost.columns.table import column_names, has_columns
from costboost.costs.costs import expected_costs
from costboost.costs.labels import nearest, of_length


def expected_cost(proba: ArrayLike, matrix: ArrayLike) -> np.ndarray:
    """Return the expected costs of decisions, ``sum_j proba[i, j] * matrix[i, j, d]``.

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
    p, costs, _, _ = checked(proba, matrix, "expected_cost")
    return expected_costs(p, costs)


def cheapest_other(
    expected_cost: np.ndarray, chosen: np.ndarray | int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the cheapest decision other than the chosen one, and what the chosen one saves."""
    rows = np.arange(len(expected_cost))
    others = expected_cost.copy()
    others[rows, chosen] = np.inf
    runner_up = others.argmin(axis=1)
    return runner_up, others[rows, runner_up] - expected_cost[rows, chosen]


def checked(
    proba: ArrayLike,
    matrix: ArrayLike,
    owner: str,
    classes: ArrayLike | None = None,
    decisions: ArrayLike | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return probabilities and costs that are finite and belong together, and their labels."""
    p = np.asarray(proba, dtype=np.float64)
    costs = np.asarray(matrix, dtype=np.float64)
    if p.ndim != 2:
        raise invalid("proba", owner, f"must have shape (n, k), a column per class; got {p.shape}.")
    n, k = p.shape
    is_of_classes = costs.ndim in (2, 3) and costs.shape[-2] == k
    if not is_of_classes or (costs.ndim == 3 and len(costs) != n):
        rule = f"must have shape ({k}, d) or ({n}, {k}, d), truth by decision, to go with proba"
        raise invalid("matrix", owner, f"{rule} of shape {p.shape}; got {costs.shape}.")
    class_labels = column_labels(classes, k, "classes", owner)
    decision_labels = column_labels(decisions, costs.shape[-1], "decisions", owner)
    return finite(p, "proba", owner), finite(costs, "matrix", owner), class_labels, decision_labels


def finite(array: np.ndarray, name: str, owner: str) -> np.ndarray:
    """Return the array, if it has neither NaN nor infinity."""
    if not np.isfinite(array).all():
        raise invalid(name, owner, "must be finite, got NaN or infinity. Drop those rows.")
    return array


def checked_table(
    expected: ArrayLike, decisions: ArrayLike | None, owner: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return costs of each decision on each row, (n, d), and labels of the decisions."""
    table = np.asarray(expected, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] == 0:
        rule = f"must have shape (n, d), a column per decision; got shape {table.shape}"
        raise invalid("expected", owner, f"{rule}. See expected_cost(proba, matrix).")
    labels = column_labels(decisions, table.shape[1], "decisions", owner)
    return finite(table, "expected", owner), labels


def column_labels(labels: ArrayLike | None, size: int, name: str, owner: str) -> np.ndarray:
    """Return distinct labels of the columns; by default 0 to size - 1."""
    if labels is None:
        return np.arange(size)
    array = np.asarray(labels)
    if array.shape != (size,) or len(set(array.tolist())) != size:
        rule = f"must hold {size} distinct labels, one per column"
        raise invalid(name, owner, f"{rule}; got {array.tolist()}.")
    return array


def column_of(values: Any, X: Any, name: str, owner: str) -> Any:
    """Return values of the rows: as they are given, or a column of X by its name."""
    if not isinstance(values, str):
        return values
    columns = []
    if has_columns(X):
        columns = column_names(X)
    if values not in columns:
        remedy = f"{nearest(values, columns)} Pass the column's values."
        raise invalid(name, owner, f"names {values!r}, which X does not have{remedy}")
    return np.asarray(X[values])


def columns_of(table: Any, n_rows: int, name: str, owner: str) -> dict[str, np.ndarray]:
    """Return columns of a frame, an Arrow table or a mapping by their names; none of None."""
    columns = {}
    if table is not None:
        for key in column_names(table):
            columns[str(key)] = of_length(table[key], n_rows, f"{name}[{key!r}]", owner)
    return columns
