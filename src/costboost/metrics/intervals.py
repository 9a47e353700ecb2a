"""Money with an interval: whether decisions pay, and what they cost in each segment."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats, Ints
from costboost._utils import checked_share
from costboost._words import count, money, span
from costboost.costs import RealizedCosts
from costboost.costs.costs import mean_prices
from costboost.costs.labels import check_same_index, grouped, position, positions
from costboost.metrics.money import evaluate_costs
from costboost.metrics.money_interval import (
    Gain,
    Interval,
    cost_interval,
    gain_over_decisions,
    gains_over_constants,
    interval_of,
    worst_event,
)

# A kind of mistake that was seen on at most so many rows is rare.
_FEW_EVENTS = 5
# Beyond so many times the rows at hand, a number of rows that would tell is not named.
_MOST_TIMES = 100.0


def cost_by(
    segments: ArrayLike,
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    cost_matrix: Any = None,
    costs: Any = None,
    labels: ArrayLike | None = None,
    decisions: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    positive: Any = None,
    X: Any = None,
    confidence: float = 0.95,
) -> dict[str, AnyArray]:
    """Return what decisions cost in each segment, with intervals of the means.

    The intervals are those of `costboost.metrics.money_interval.cost_interval`: they count costly
    events that a segment is too small to show. Where few rows cost most of the money they are too
    narrow all the same: with log-normal amounts (sigma 1.5) and 15, 75 or 300 costly rows
    they covered .78, .87 and .90.

    Parameters
    ----------
    segments : array of shape (n,)
        Segment of each row, such as a country.
    y_true, y_pred, cost_matrix, costs, labels, decisions, sample_weight, groups, positive, X
        As in `verdict`.
    confidence : float, default=0.95
        Coverage of each interval.

    Returns
    -------
    dict of str to array of shape (s,)
        The segments, most costly first, for ``pandas.DataFrame``: ``segment``; ``rows``, their
        number or the sum of their weights; ``total_cost``, which sums to that of all rows;
        ``share`` of it (NaN if it is 0); ``mean_cost`` of a row (NaN without weight), and the ends
        of its interval, ``low`` and ``high`` (infinite for a single row or group).

    Examples
    --------
    >>> found = cost_by(
    ...     ["web", "web", "shop", "shop"], [0, 1, 1, 0], [0, 0, 1, 1],
    ...     cost_matrix={"fn": 5, "fp": 1},
    ... )
    >>> found["segment"].tolist(), found["total_cost"].tolist()
    (['web', 'shop'], [5.0, 1.0])
    """
    owner = "cost_by"
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
        owner=owner,
    )
    checked_share(confidence, "confidence", owner)
    paid = evaluation.paid
    n_rows = len(paid)
    check_same_index(owner, y_true=y_true, segments=segments)
    names, segment = grouped(segments, n_rows, "segments", owner)
    group = _read_groups(groups, y_true, n_rows, owner)
    weight = np.ones(n_rows)
    if evaluation.sample_weight is not None:
        weight = evaluation.sample_weight
    order = np.argsort(segment, kind="stable")
    ends = np.cumsum(np.bincount(segment, minlength=len(names)))[:-1]
    lines = []
    for rows in np.split(order, ends):
        mean = decision_cost(
            evaluation.costs.take(rows),
            evaluation.chosen[rows],
            weight[rows],
            groups=None if group is None else group[rows],
            confidence=confidence,
        )
        lines.append([float(weight[rows].sum()), math.fsum(paid[rows] * weight[rows]), *mean])
    mass, totals, means, lows, highs = np.array(lines).T
    total = math.fsum(paid * weight)
    shares = np.full(len(totals), np.nan)
    if total:
        shares = totals / total
    first = np.argsort(-totals, kind="stable")
    return {
        "segment": names[first],
        "rows": mass[first],
        "total_cost": totals[first],
        "share": shares[first],
        "mean_cost": means[first],
        "low": lows[first],
        "high": highs[first],
    }


# --- what decisions cost and gain, with intervals -------------------------------------------------


def decision_cost(
    costs: RealizedCosts,
    decided: Ints,
    weights: Floats | None = None,
    *,
    groups: AnyArray | None = None,
    confidence: float = 0.95,
) -> Interval:
    """Return the mean cost of rows whose class is known; of NaN if none has weight."""
    rows, weight, groups = _rows_with_weight(len(decided), weights, groups)
    if not len(rows):
        return Interval(np.nan, -np.inf, np.inf)
    costs = costs.take(rows)
    decided = decided[rows]
    return cost_interval(
        costs.cost_of(decided),
        prices=_event_prices(costs, weight),
        chosen=decided,
        weight=weight,
        groups=groups,
        confidence=confidence,
    )


def decision_gains(
    costs: RealizedCosts,
    decided: Ints,
    weights: Floats | None = None,
    *,
    groups: AnyArray | None = None,
    baseline: Ints | None = None,
) -> list[Gain]:
    """Return the gain of decisions over each constant one, or over those of a baseline."""
    rows, weight, groups = _rows_with_weight(len(decided), weights, groups)
    costs = costs.take(rows)
    decided = decided[rows]
    options: dict[str, Any] = {"chosen": decided, "weight": weight, "groups": groups}
    options["prices"] = _event_prices(costs, weight)
    paid = costs.cost_of(decided)
    if baseline is None:
        return gains_over_constants(paid, costs.prices, **options)
    other = baseline[rows]
    return [gain_over_decisions(paid, costs.cost_of(other), other=other, **options)]


def _rows_with_weight(
    n_rows: int, weights: Floats | None, groups: AnyArray | None
) -> tuple[Ints, Floats, AnyArray | None]:
    """Return the rows that count, their weights and their groups."""
    if weights is None:
        return np.arange(n_rows), np.ones(n_rows), groups
    rows = np.flatnonzero(weights)
    if groups is not None:
        groups = groups[rows]
    return rows, weights[rows], groups


def _event_prices(costs: RealizedCosts, weight: Floats) -> Floats:
    """Return prices by class and decision, of each row if they are known."""
    if costs.matrix is not None:
        return costs.matrix
    # Of each row only the prices under its own class are known: take the means by class.
    n_classes = len(costs.classes)
    sums = np.zeros((n_classes, costs.prices.shape[1]))
    np.add.at(sums, costs.y_index, weight[:, None] * costs.prices)
    mass = np.bincount(costs.y_index, weight, minlength=n_classes).astype(np.float64)
    return mean_prices(mass, sums, is_square=costs.decides_classes)


# --- the verdict ----------------------------------------------------------------------------------


class RareEvent(NamedTuple):
    """A kind of mistake that was seen too seldom to know how often it happens."""

    truth: Any  # label of the class
    decision: Any  # label of the decision
    rows: int  # rows on which it was seen

    def __str__(self) -> str:
        if self.rows == 0:
            return f"no row of class {self.truth} was decided {self.decision} yet"
        rows = "1 row" if self.rows == 1 else f"{self.rows} rows"
        return f"only {rows} of class {self.truth} had the decision {self.decision}"


@dataclass(frozen=True)
class Verdict:
    """Whether decisions pay, from rows whose class is known; made by `verdict`.

    ``print`` shows it in words.

    Attributes
    ----------
    gain, low, high : float
        What a row saves against the baseline, in money, and its 95 % interval.
    rows : float
        Number of rows, or sum of their weights.
    constant : label
        The best constant decision on these rows.
    baseline : str
        What the decisions are compared with, in words.
    more_rows : float
        Rows that are still needed to tell, if what they show stays as it is; infinite if very many.
    rare_event : RareEvent or None
        The mistake that was seen too seldom, where decisions that save money may yet cost more.
    always : label or None
        The decision that was taken for every row, where there is only one and the baseline is the
        best constant decision.
    doubts : tuple of str
        Reasons not to believe a good result, such as a column that tells the class.
    """

    gain: float
    low: float
    high: float
    rows: float
    constant: Any
    baseline: str
    more_rows: float = 0.0
    rare_event: RareEvent | None = None
    always: Any = None
    doubts: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        costs: RealizedCosts,
        decided: Ints,
        weights: Floats | None = None,
        *,
        groups: AnyArray | None = None,
        baseline: Ints | None = None,
        baseline_name: str = "what is decided today",
        doubts: Sequence[str] = (),
    ) -> Verdict:
        """Return the verdict on decisions, given as codes, for rows whose class is known."""
        weight = np.ones(len(decided)) if weights is None else weights
        labels = costs.decisions.tolist()
        constant = labels[int((weight @ costs.prices).argmin())]
        rows = float(weight.sum())
        gains = decision_gains(costs, decided, weights, groups=groups, baseline=baseline)
        always = None
        if baseline is None:
            baseline_name = f"the best constant decision (always {constant})"
            if decided.min() == decided.max():
                always = labels[decided[0]]
        interval = interval_of(gains)
        rare_event = None
        if interval.low <= 0.0 < interval.value:
            rare_event = _rare_event(gains, costs, decided)
        return cls(
            *interval,
            rows=rows,
            constant=constant,
            baseline=baseline_name,
            more_rows=_more_rows(gains, rows),
            rare_event=rare_event,
            always=always,
            doubts=tuple(doubts),
        )

    @property
    def answer(self) -> str:
        """One of "pays", "does not pay" and "cannot tell"."""
        # One decision for all rows cannot save anything against the best one for all rows.
        if self.always is not None or self.high <= 0.0:
            return "does not pay"
        if self.low > 0.0 and not self.doubts:
            return "pays"
        return "cannot tell"

    @property
    def title(self) -> str:
        """The answer as a heading, with the doubts if there are any."""
        if self.answer != "cannot tell":
            return f"The model {self.answer}"
        if self.doubts:
            return f"Cannot tell: {'; '.join(self.doubts)}"
        return f"Cannot tell from {count(self.rows)} rows whether the model pays"

    def reason(self, unit: str = "") -> str:
        """Return what the answer follows from, in one or two sentences.

        Parameters
        ----------
        unit : str, default=""
            Sign of the currency.

        Returns
        -------
        str
            The sentences, to follow the title.
        """
        saving, interval = self._saving(unit)
        if self.always is not None:
            consequence = f"and so {saving}"
            if self.gain == 0.0:
                consequence = "as can be done without it"
            return f"it decides {self.always} for every row, {consequence}."
        if self.answer != "cannot tell":
            return f"{saving}; {interval}."
        if self.doubts:
            return f"on these rows {saving} ({interval}), which says nothing about new ones."
        why = "but this may be chance"
        if self.rare_event is not None:
            why = f"but {self.rare_event}, and a few of them would turn this into a loss"
        more = f"It would take more than {_MOST_TIMES:.0f} times as many rows to tell."
        if math.isfinite(self.more_rows):
            more = f"About {count(self.more_rows)} more rows would tell, if this stays so."
        return f"{saving}, {why} ({interval}). {more}"

    def in_words(self, unit: str = "") -> str:
        """Return the verdict in one to three sentences.

        Parameters
        ----------
        unit : str, default=""
            Sign of the currency.

        Returns
        -------
        str
            The sentences.
        """
        reason = self.reason(unit)
        if self.answer == "cannot tell" and self.doubts:
            return f"{self.title}. {reason[0].upper()}{reason[1:]}"
        return f"{self.title}: {reason}"

    def _saving(self, unit: str) -> tuple[str, str]:
        """Return what 1,000 rows save, and the interval, in words."""
        gain = 1000.0 * self.gain
        low = 1000.0 * self.low
        high = 1000.0 * self.high
        size = money(abs(gain), unit, low, high)
        if gain < 0.0:
            saving = f"it costs {size} more per 1,000 rows than {self.baseline}"
            return saving, f"95 % interval {span(-high, -low, unit, gain)}"
        saving = f"it saves {size} per 1,000 rows against {self.baseline}"
        return saving, f"95 % interval {span(low, high, unit, gain)}"

    def __str__(self) -> str:
        return self.in_words()


def _rare_event(gains: Sequence[Gain], costs: RealizedCosts, decided: Ints) -> RareEvent | None:
    """Return the mistake that lowers the gain most if a few more happen; None if it is not rare."""
    event = worst_event(gains)
    if event is None:
        return None
    # Events are sorted by the decision of the baseline if there is one, then by decision and class.
    place, truth = divmod(event, len(costs.classes))
    taken = np.arange(len(costs.decisions))
    if len(gains) == 1:
        taken = np.unique(decided)
    decision = int(taken[place % len(taken)])
    rows = int(np.sum((decided == decision) & (costs.y_index == truth)))
    if rows > _FEW_EVENTS:
        return None
    return RareEvent(costs.classes.tolist()[truth], costs.decisions.tolist()[decision], rows)


def _more_rows(gains: Sequence[Gain], rows: float) -> float:
    """Return how many more rows like these would tell; infinite if very many."""

    def tells(times: float) -> bool:
        _, low, high = interval_of(gains, times=times)
        return low > 0.0 or high <= 0.0

    if tells(1.0):
        return 0.0
    if not tells(_MOST_TIMES):
        return math.inf
    few = 1.0
    many = _MOST_TIMES
    while many / few > 1.001:
        middle = math.sqrt(few * many)
        if tells(middle):
            many = middle
        else:
            few = middle
    more = max((many - 1.0) * rows, 1.0)
    step = 10.0 ** max(math.floor(math.log10(more)) - 1, 0)
    return math.ceil(more / step) * step


def verdict(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    cost_matrix: Any = None,
    costs: Any = None,
    baseline: Any = None,
    labels: ArrayLike | None = None,
    decisions: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    positive: Any = None,
    X: Any = None,
) -> Verdict:
    """Say whether decisions pay, against the best that is the same for every row.

    They pay if the 95 % interval of the money that a row saves lies above 0, and they do not if its
    upper end is at or below 0, or if they are the same for every row. In between these rows cannot
    tell yet; the verdict then says how many more would. The interval is that of
    `costboost.metrics.money_interval.money_interval`: it counts costly events that the rows are too
    few to show, so decisions that were never seen to fail do not pay before there are enough rows.

    Parameters
    ----------
    y_true, y_pred, cost_matrix, costs, labels, decisions, positive, X
        As in `total_cost`; rows that the model was not trained on.
    baseline : label or array of shape (n,), optional
        What to compare with in place of the best constant decision: one decision for all rows, or
        the decision on each row that is taken today.
    sample_weight : array of shape (n,), optional
        Weights of the rows, as of a survey: only their ratios matter. To count a row twice, repeat
        it.
    groups : array of shape (n,), optional
        Group of each row, such as a customer, if rows of one group are alike.

    Returns
    -------
    Verdict
        The gain per row with its interval, and the answer.

    Examples
    --------
    >>> truth, decided = [0, 0, 0, 1] * 50, [0, 0, 1, 1] * 50
    >>> found = verdict(truth, decided, cost_matrix={"fn": 5, "fp": 1})
    >>> found.answer, found.gain
    ('pays', 0.5)
    >>> print(found)
    The model pays: it saves 500 per 1,000 rows against ... (always 1); 95 % interval 363 to 573.
    """
    owner = "verdict"
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
        owner=owner,
    )
    n_rows = len(evaluation.chosen)
    names = evaluation.costs.decisions
    other = None
    baseline_name = "what is decided today"
    if baseline is not None and np.ndim(baseline) == 0:
        baseline_name = f"deciding {baseline} for every row"
        other = np.full(n_rows, position(baseline, names, "decisions", "baseline", owner))
    elif baseline is not None:
        check_same_index(owner, y_true=y_true, baseline=baseline)
        other = positions(baseline, names, "decisions", "baseline", owner, n_rows)
    return Verdict.of(
        evaluation.costs,
        evaluation.chosen,
        evaluation.sample_weight,
        groups=_read_groups(groups, y_true, n_rows, owner),
        baseline=other,
        baseline_name=baseline_name,
    )


def _read_groups(groups: Any, y_true: Any, n_rows: int, owner: str) -> Ints | None:
    """Return the number of each row's group; None if rows are independent."""
    if groups is None:
        return None
    check_same_index(owner, y_true=y_true, groups=groups)
    return grouped(groups, n_rows, "groups", owner)[1]
