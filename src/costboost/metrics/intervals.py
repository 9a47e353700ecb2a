"""Money with an interval: whether decisions pay, and what they cost in each segment."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student

from costboost._typing import AnyArray, Floats, Ints
from costboost._utils import checked_share
from costboost._words import count, money, span
from costboost.costs import Costs
from costboost.costs.forms import aligned
from costboost.costs.labels import grouped, parameter
from costboost.metrics.money import Judged

# Beyond so many times the rows at hand, a number of rows that would tell is not named.
_MOST = 100.0


def cost_by(
    groups: ArrayLike,
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
    confidence: float = 0.95,
) -> dict[str, AnyArray]:
    """Return what decisions cost in each segment, with intervals of the means.

    The intervals are Student's, for rows that are independent draws from their segment. With few
    rows and a few large costs they are too narrow.

    Parameters
    ----------
    groups : array of shape (n,)
        Segment of each row, such as a country.
    y_true, y_pred, cost_matrix, costs, labels, decisions, sample_weight, positive, X
        As in `total_cost`.
    confidence : float, default=0.95
        Coverage of each interval.

    Returns
    -------
    dict of str to array of shape (g,)
        The segments, most costly first, for ``pandas.DataFrame``: ``group``; ``rows``, their number
        or the sum of their weights; ``total_cost``, which sums to that of all rows; ``share`` of
        it (NaN if it is 0); ``mean_cost`` of a row (NaN without weight), and the ends of its
        interval, ``low`` and ``high`` (infinite for a single row).

    Examples
    --------
    >>> found = cost_by(
    ...     ["web", "web", "shop", "shop"], [0, 1, 1, 0], [0, 0, 1, 1],
    ...     cost_matrix={"fn": 5, "fp": 1},
    ... )
    >>> found["group"].tolist(), found["total_cost"].tolist()
    (['web', 'shop'], [5.0, 1.0])
    """
    given = {key: x for key, x in locals().items() if key not in ("groups", "confidence")}
    owner, case = "cost_by", Judged("cost_by", **given)
    checked_share(confidence, "confidence", owner)
    paid = case.costs.paid(case.decisions)
    groups = aligned(groups, y_true, parameter("groups", owner))
    names, codes = grouped(groups, len(paid), "groups", owner)
    weight = np.ones(len(paid)) if case.weights is None else case.weights
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(names)))[:-1]
    members = np.split(order, ends)
    totals = np.array([math.fsum(paid[rows] * weight[rows]) for rows in members])
    rows = np.array([float(weight[rows].sum()) for rows in members])
    half = np.array([half_width(paid[rows], weight[rows], confidence) for rows in members])
    with np.errstate(invalid="ignore", divide="ignore"):
        means = totals / rows
    total = math.fsum(paid * weight)
    shares = totals / total if total else np.full(len(totals), np.nan)
    first = np.argsort(-totals, kind="stable")
    return {
        "group": names[first],
        "rows": rows[first],
        "total_cost": totals[first],
        "share": shares[first],
        "mean_cost": means[first],
        "low": (means - half)[first],
        "high": (means + half)[first],
    }


@dataclass(frozen=True)
class Verdict:
    """Whether decisions pay, from rows that the model has not seen; made by `verdict`.

    ``print`` shows it in words.

    Attributes
    ----------
    gain, low, high : float
        What a row saves against the best constant decision, in money, and its 95 % interval.
    rows : float
        Number of rows, or sum of their weights.
    constant : label
        The best constant decision.
    """

    gain: float
    low: float
    high: float
    rows: float
    constant: Any

    @classmethod
    def of(cls, costs: Costs, decided: Ints, weights: Floats | None = None) -> Verdict:
        """The verdict on decisions, given as codes, for rows whose truth is known."""
        w = np.ones(len(decided)) if weights is None else weights
        constant = int((w @ costs.prices).argmin())
        rows = float(w.sum())
        gains = costs.prices[:, constant] - costs.paid(decided)
        total, low, high = total_intervals(gains, weights).ravel()
        label = costs.decisions.tolist()[constant]
        return cls(float(total) / rows, float(low) / rows, float(high) / rows, rows, label)

    @property
    def answer(self) -> str:
        """One of "pays", "does not pay" and "cannot tell yet"."""
        if self.low > 0:
            return "pays"
        return "does not pay" if self.high <= 0 else "cannot tell yet"

    @property
    def more_rows(self) -> float:
        """Rows that are still needed to tell, if the gain stays as it is; infinite if very many."""
        if self.answer != "cannot tell yet":
            return 0.0
        # The interval narrows with the root of the number of rows, until it ends at 0.
        half = self.gain - self.low if self.gain > 0 else self.high - self.gain
        times = (half / abs(self.gain)) ** 2 if self.gain else math.inf
        if not times <= _MOST:
            return math.inf
        more = max((times - 1.0) * self.rows, 1.0)
        step = 10.0 ** max(math.floor(math.log10(more)) - 1, 0)
        return math.ceil(more / step) * step

    def in_words(self, unit: str = "") -> str:
        """The verdict in one or two sentences.

        Parameters
        ----------
        unit : str, default=""
            Sign of the currency.

        Returns
        -------
        str
            The sentences.
        """
        gain, low, high = 1000 * self.gain, 1000 * self.low, 1000 * self.high
        than = f"the best constant decision (always {self.constant})"
        size = money(abs(gain), unit, low, high)
        what, ends = f"it saves {size} per 1,000 rows against {than}", (low, high)
        if gain < 0:
            what, ends = f"it costs {size} more per 1,000 rows than {than}", (-high, -low)
        sure = f"95 % interval {span(*ends, unit, gain)}"
        if low == high == 0:
            return f"The model does not pay: it saves nothing against {than}."
        if self.answer != "cannot tell yet":
            return f"The model {self.answer}: {what}; {sure}."
        more = f"It would take more than {_MOST:.0f} times as many rows to tell."
        if math.isfinite(self.more_rows):
            more = f"About {count(self.more_rows)} more rows would tell, if this stays so."
        return (
            f"{count(self.rows)} rows cannot tell yet whether the model pays: {what}, but this may "
            f"be chance ({sure}). {more}"
        )

    def __str__(self) -> str:
        return self.in_words()


def verdict(
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
) -> Verdict:
    """Say whether decisions pay, against the best that is the same for every row.

    They pay if the 95 % interval of the money that a row saves lies above 0, and they do not if its
    upper end is at or below 0. In between these rows cannot tell yet; the verdict then says how
    many more would. The interval is Student's, of the differences row by row; a row of weight 2
    counts as two. The constant decision is the best one on these very rows, which gives it a
    small advantage.

    Parameters
    ----------
    y_true, y_pred, cost_matrix, costs, labels, decisions, sample_weight, positive, X
        As in `total_cost`; rows that the model has not seen.

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
    The model pays: it saves 500 per 1,000 rows against ... (always 1); 95 % interval 430 to 570.
    """
    case = Judged("verdict", **locals())
    return Verdict.of(case.costs, case.decisions, case.weights)


def total_intervals(values: Floats, weights: Floats | None = None) -> Floats:
    """Sum of each column of draws, and the ends of its 95 % interval by Student's law: (m, 3)."""
    table = values.reshape(len(values), -1)
    w = np.ones(len(table)) if weights is None else weights
    half = [w.sum() * half_width(column, w) for column in table.T]
    total = (table * w[:, None]).sum(axis=0)
    return np.column_stack([total, total - half, total + half])


def half_width(paid: Floats, weight: Floats, confidence: float = 0.95) -> float:
    """Half the interval of a weighted mean; a weight of 2 is a row that came twice."""
    mass = float(weight.sum())
    if mass <= 1.0:
        return float("inf")
    mean = float((paid * weight).sum()) / mass
    variance = float((weight * (paid - mean) ** 2).sum()) / (mass - 1.0)
    return float(student.ppf(0.5 + confidence / 2, mass - 1.0)) * math.sqrt(variance / mass)
