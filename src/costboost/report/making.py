"""Making a case: arrays checked, labels turned into codes, what was left out completed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats, Ints
from costboost.report.case import Case, Explain, Rival

__all__ = ["make_case"]

OWN_NAMES = ("The model", "Threshold 0.5", "Most likely class")
"""Names that the report gives to its own rules."""


def make_case(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    decisions: ArrayLike | None = None,
    costs: ArrayLike | None = None,
    prices: ArrayLike | None = None,
    decided: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    nothing: Any = None,
    positive: Any = None,
    time: Any = None,
    amount: tuple[str, ArrayLike] | None = None,
    segments: Any = None,
    features: Any = None,
    explain: Explain | ArrayLike | None = None,
    rounds: Mapping[str, ArrayLike] | None = None,
    rivals: Mapping[str, Any] | None = None,
    ids: ArrayLike | None = None,
    title: str = "Cost report",
    unit: str = "",
    settings: Mapping[str, Any] | None = None,
) -> Case:
    """Check the arrays of a report and complete them.

    Parameters
    ----------
    y : array of shape (n,)
        True labels.
    proba : array of shape (n, k)
        Probabilities of the classes.
    classes : array of shape (k,), optional
        Labels, in the order of the columns of `proba`; by default the sorted labels of `y`.
    decisions : array of shape (d,), optional
        Labels of the decisions; by default the classes.
    costs : array of shape (k, d) or (n, k, d), optional
        Truth by decision, as known when deciding. None: every mistake costs 1.
    prices : array of shape (n, d), optional
        What each decision costs on the row, if only that is known. The mean prices of each class
        then stand for the costs known when deciding.
    decided : array of shape (n,), optional
        Labels of the model's decisions; by default the cheapest by `proba` and `costs`.
    sample_weight : array of shape (n,), optional
        How often each row counts.
    nothing : label, optional
        The decision that means doing nothing. By default the right one of the class that is not
        `positive` (two classes), else of the most frequent class.
    positive : label, optional
        With two classes, the one that calls for action; by default the last.
    time : array of shape (n,), optional
        When each row happened; anything that numpy converts to datetime64.
    amount : (str, array of shape (n,)), optional
        Name and values of the column to show by deciles.
    segments, features : frame or mapping of name to array of shape (n,), optional
        Columns to break the costs down by; values of the features.
    explain : callable or array of shape (n, features), optional
        Each feature's part, in money, of what the decision taken is expected to save against the
        next-best one; a callable takes row numbers, and only the rows shown are explained.
    rounds : mapping of name to array, optional
        Mean cost after each boosting round, for example ``{"held-out rows": [...]}``.
    rivals : mapping of name to array, optional
        Probabilities (n, k), decided by the same costs; or labels of decisions (n,).
    ids : array of shape (n,), optional
        Names of the rows in the table of mistakes; by default their numbers.
    title, unit : str
        Heading of the page; sign of the currency.
    settings : mapping, optional
        Settings of the model, shown as text.

    Returns
    -------
    Case
        The checked arrays.

    Examples
    --------
    >>> case = make_case(["ok", "fraud"], [[0.1, 0.9], [0.3, 0.7]], costs=[[0, 80], [5, 0]])
    >>> case.decisions[case.nothing], [case.classes[j] for j in case.risky]
    ('fraud', ['ok'])
    >>> make_case(
    ...     ["ok", "fraud"], [[0.1, 0.9], [0.3, 0.7]], costs=[[0, 80], [5, 0]], positive="fraud"
    ... ).decided.tolist()
    [0, 0]
    """
    truth = np.asarray(y)
    labels = np.unique(truth) if classes is None else np.asarray(classes)
    named = labels if decisions is None else np.asarray(decisions)
    n, k, d = len(truth), len(labels), len(named)
    if n < 2 or k < 2 or d < 2:
        raise ValueError(
            "make_case needs at least two rows, two classes and two decisions, got "
            f"{n} rows, {k} classes and {d} decisions."
        )
    p = _table(proba, (n, k), "proba")
    codes = _coded(truth, labels, "y")
    weights = np.ones(n) if sample_weight is None else _table(sample_weight, (n,), "sample_weight")
    if (weights < 0).any() or not weights.any():
        raise ValueError(
            "The 'sample_weight' parameter of make_case must be >= 0 and not all 0, got values "
            f"from {weights.min()} to {weights.max()}."
        )
    matrix, paid = _costs(costs, prices, codes, weights, (n, k, d))
    average = matrix if matrix.ndim == 2 else np.tensordot(weights, matrix, axes=1)
    right = average.argmin(axis=1)
    if nothing is not None:
        idle = int(_coded(np.asarray([nothing]), named, "nothing")[0])
    elif k == 2:
        acting = (
            1 if positive is None else int(_coded(np.asarray([positive]), labels, "positive")[0])
        )
        idle = int(right[1 - acting])
    else:
        idle = int(right[np.bincount(codes, weights, minlength=k).argmax()])
    others = {} if rivals is None else rivals
    taken = [name for name in others if name in OWN_NAMES]
    if taken:
        raise ValueError(
            f"The 'rivals' parameter of make_case must not use the names of the report's own "
            f"rules, got {taken}. Choose other names."
        )
    return Case(
        classes=tuple(labels.tolist()),
        decisions=tuple(named.tolist()),
        codes=codes,
        proba=p,
        matrix=matrix,
        prices=paid,
        weights=weights,
        decided=_cheapest(p, matrix) if decided is None else _decided(decided, named, n, "decided"),
        nothing=idle,
        time=None if time is None else _time(time, n),
        amount=None if amount is None else (amount[0], _table(amount[1], (n,), "amount")),
        segments=_columns(segments, n, "segments"),
        features=_columns(features, n, "features"),
        explain=_explainer(explain, n),
        rounds={name: np.asarray(cost, dtype=float) for name, cost in (rounds or {}).items()},
        rivals={name: _rival(name, other, matrix, named, (n, k)) for name, other in others.items()},
        ids=None if ids is None else _column(ids, n, "ids"),
        title=title,
        unit=unit,
        settings={str(name): str(value) for name, value in (settings or {}).items()},
    )


def _table(values: ArrayLike, shape: tuple[int, ...], name: str) -> Floats:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(
            f"The {name!r} parameter of make_case must have shape {shape}, got {array.shape}."
        )
    if not np.isfinite(array).all():
        raise ValueError(
            f"The {name!r} parameter of make_case must be finite, got NaN or infinity. Drop those "
            "rows."
        )
    return array


def _column(values: Any, n: int, name: str) -> AnyArray:
    array = np.asarray(values)
    if array.shape != (n,):
        raise ValueError(
            f"The {name!r} parameter of make_case must have one value per row, {n}, got shape "
            f"{array.shape}."
        )
    return array


def _columns(table: Any, n: int, name: str) -> dict[str, AnyArray]:
    if table is None:
        return {}
    return {str(key): _column(values, n, f"{name}[{key!r}]") for key, values in table.items()}


def _coded(values: AnyArray, labels: AnyArray, name: str) -> Ints:
    known = {label: code for code, label in enumerate(labels.tolist())}
    distinct, inverse = np.unique(values, return_inverse=True)
    unknown = [label for label in distinct.tolist() if label not in known]
    if unknown:
        raise ValueError(
            f"The {name!r} parameter of make_case must hold only {list(known)}, got {unknown[:5]}."
        )
    return np.array([known[label] for label in distinct.tolist()], dtype=np.intp)[inverse]


def _decided(values: ArrayLike, named: AnyArray, n: int, name: str) -> Ints:
    return _coded(_column(values, n, name), named, name)


def _costs(
    costs: ArrayLike | None,
    prices: ArrayLike | None,
    codes: Ints,
    weights: Floats,
    shape: tuple[int, int, int],
) -> tuple[Floats, Floats]:
    """Costs known when deciding, and the price of each decision given the truth."""
    n, k, d = shape
    if costs is not None:
        form = shape if np.ndim(costs) == 3 else (k, d)
        matrix = _table(costs, form, "costs")
        own = matrix[codes] if matrix.ndim == 2 else matrix[np.arange(n), codes]
        return matrix, own if prices is None else _table(prices, (n, d), "prices")
    if prices is None:
        if k != d:
            raise ValueError(
                "make_case needs costs= or prices= where the decisions are not the classes, got "
                f"{k} classes and {d} decisions."
            )
        matrix = 1.0 - np.eye(k)
        return matrix, matrix[codes]
    own = _table(prices, (n, d), "prices")
    matrix = np.empty((k, d))
    for j in range(k):
        w = np.where(codes == j, weights, 0.0)
        matrix[j] = (w if w.any() else weights) @ own / (w.sum() or weights.sum())
    return matrix, own


def _cheapest(proba: Floats, matrix: Floats) -> Ints:
    form = "nk,kd->nd" if matrix.ndim == 2 else "nk,nkd->nd"
    decided: Ints = np.einsum(form, proba, matrix).argmin(axis=1)
    return decided


def _time(time: Any, n: int) -> AnyArray:
    moments = _column(time, n, "time")
    try:
        moments = moments.astype("datetime64[s]")
    except ValueError as error:
        raise ValueError(
            f"The 'time' parameter of make_case must hold dates, got {moments[0]!r} ({error}). "
            "Convert it with pandas.to_datetime."
        ) from error
    if np.isnat(moments).any():
        raise ValueError("The 'time' parameter of make_case must not have missing dates.")
    return moments


def _explainer(explain: Any, n: int) -> Explain | None:
    if explain is None or callable(explain):
        return explain  # type: ignore[no-any-return]
    parts = np.asarray(explain, dtype=np.float64)
    if parts.ndim != 2 or len(parts) != n:
        raise ValueError(
            f"The 'explain' parameter of make_case must have shape ({n}, features), got "
            f"{parts.shape}."
        )
    return lambda rows: parts[rows]


def _rival(name: str, other: Any, matrix: Floats, named: AnyArray, shape: tuple[int, int]) -> Rival:
    if np.ndim(other) == 2:
        p = _table(other, shape, f"rivals[{name!r}]")
        return Rival(_cheapest(p, matrix), p)
    return Rival(_decided(other, named, shape[0], f"rivals[{name!r}]"), None)
