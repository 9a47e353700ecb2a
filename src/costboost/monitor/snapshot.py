"""What a monitor keeps of a set of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import Costs, scenarios
from costboost.decisions.arrays import (
    cheapest,
    checked_labels,
    expected_cost,
    of_length,
    position,
    probabilities_and_matrix,
)

__all__ = ["Snapshot", "snapshot", "snapshot_of"]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Rows, probabilities, decisions and their costs; made by `snapshot` or `snapshot_of`.

    Attributes
    ----------
    features : dict of str to array of shape (n,)
        The columns.
    proba : array of shape (n, k)
        Probability of each class.
    classes, decisions : arrays of shape (k,) and (d,)
        Labels.
    codes : int array of shape (n,)
        Decisions, as indices into `decisions`.
    expected, variance : arrays of shape (n,)
        Mean and variance of the cost of each row's decision, over its unknown truth.
    truth : int array of shape (n,), or None
        True classes, as indices into `classes`, if known.
    paid : array of shape (n,), or None
        What each decision cost, if the truth is known.
    """

    features: dict[str, AnyArray]
    proba: Floats
    classes: AnyArray
    decisions: AnyArray
    codes: Ints
    expected: Floats
    variance: Floats
    truth: Ints | None
    paid: Floats | None

    def __len__(self) -> int:
        return len(self.codes)


def snapshot(
    X: Any,
    proba: ArrayLike,
    matrix: ArrayLike,
    truth: ArrayLike | None = None,
    *,
    codes: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    decisions: ArrayLike | None = None,
) -> Snapshot:
    """Take a snapshot from plain arrays.

    Parameters
    ----------
    X : table of shape (n, f)
        The rows.
    proba : array of shape (n, k)
        Probability of each class.
    matrix : array of shape (k, d) or (n, k, d)
        Costs, truth by decision.
    truth : array of shape (n,), optional
        True labels, if known.
    codes : int array of shape (n,), optional
        Decisions taken, as indices into `decisions`; by default the cheapest ones.
    classes, decisions : arrays of shape (k,) and (d,), optional
        Labels; by default 0, 1, ...

    Returns
    -------
    Snapshot
        The snapshot.
    """
    owner = "snapshot"
    p, C = probabilities_and_matrix(proba, matrix, owner)
    n, k = p.shape
    names = checked_labels(classes, k, "classes", owner)
    actions = checked_labels(decisions, C.shape[-1], "decisions", owner)
    if n < 2:
        raise ValueError(f"{owner} needs at least two rows, got {n}. Collect more rows.")
    taken = cheapest(expected_cost(p, C))
    if codes is not None:
        taken = of_length(codes, n, "codes", owner).astype(np.intp)
    own = C.T[taken] if C.ndim == 2 else C[np.arange(n), :, taken]  # (n, k)
    mean = (p * own).sum(axis=1)
    variance = (p * (own - mean[:, None]) ** 2).sum(axis=1)
    known = paid = None
    if truth is not None:
        labels = of_length(truth, n, "truth", owner).tolist()
        index = {one: position(one, names, "class", "truth", owner) for one in set(labels)}
        known = np.array([index[one] for one in labels], dtype=np.intp)
        paid = own[np.arange(n), known]
    return Snapshot(_columns(X, n, owner), p, names, actions, taken, mean, variance, known, paid)


def snapshot_of(
    model: Any, X: Any, y: ArrayLike | None = None, *, costs: Any = None, cost_matrix: Any = None
) -> Snapshot:
    """Take a snapshot of rows as a fitted classifier sees them.

    Parameters
    ----------
    model : classifier
        Fitted, with ``predict_proba`` and ``classes_``.
    X : table of shape (n, f)
        The rows, as the model takes them.
    y : array of shape (n,), optional
        True labels, if known.
    costs : array of shape (n, k, d), optional
        Costs of single rows.
    cost_matrix : any form of costs, optional
        One matrix for all rows, or a function of X; by default the model's own ``cost_matrix``.
        Uncertain costs count by their means.

    Returns
    -------
    Snapshot
        The snapshot, with the cheapest decisions.
    """
    proba = np.asarray(model.predict_proba(X), dtype=np.float64)
    if cost_matrix is None:
        cost_matrix = getattr(model, "cost_matrix", None)
    resolved = Costs.resolve(
        None if costs is not None else scenarios(cost_matrix).expected,
        None if costs is None else scenarios(costs).expected,
        classes=model.classes_,
        n_samples=len(proba),
        X=X,
        owner="snapshot_of",
    )
    return snapshot(
        X,
        proba,
        np.asarray(resolved),
        y,
        codes=resolved.decide(proba),
        classes=model.classes_,
        decisions=resolved.decisions,
    )


def _columns(X: Any, n: int, owner: str) -> dict[str, AnyArray]:
    if hasattr(X, "columns"):
        columns = {str(name): np.asarray(X[name]) for name in X.columns}
    else:
        array = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        if array.ndim != 2:
            raise ValueError(
                f"The 'X' parameter of {owner} must have shape (n, f), got {array.shape}."
            )
        columns = {f"x{j}": array[:, j] for j in range(array.shape[1])}
    for name, column in columns.items():
        of_length(column, n, f"X[{name!r}]", owner)
    return columns
