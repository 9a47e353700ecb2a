"""Compute what wrong costs would cost: at a factor, and the amount at which a decision flips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._utils import Framed, as_frame, check_weights, invalid
from costboost.costs.costs import cheapest, expected_costs
from costboost.costs.labels import position, positions
from costboost.decisions.arrays import checked

if TYPE_CHECKING:
    import pandas as pd


FACTORS = (0.2, 0.5, 0.8, 1.0, 1.25, 2.0, 5.0)
# The class and the decision that short names stand for, the positive class being the second.
SHORT_NAMES = {"tn": (0, 0), "fp": (0, 1), "fn": (1, 0), "tp": (1, 1)}


# -- The amount of one cost at which a row's decision changes ------------------------------------


def break_even(
    proba: ArrayLike,
    matrix: ArrayLike,
    entry: Any,
    *,
    classes: ArrayLike | None = None,
    decisions: ArrayLike | None = None,
    positive: Any = None,
) -> np.ndarray:
    """Return the amount of one cost at which the decision of each row flips, all other costs kept.

    An entry is the cost of one decision given one truth. While it is below the amount returned,
    the row gets that decision; above it, another. At the amount itself the two cost the same, up to
    rounding.

    Parameters
    ----------
    proba : array of shape (n, k)
        Probability of each class on each row.
    matrix : array of shape (k, d) or (n, k, d)
        Costs, truth by decision.
    entry : (truth, decision), or "fn", "fp", "tp" or "tn"
        Labels of the entry; the short names are for two classes and two decisions.
    classes, decisions : arrays of shape (k,) and (d,), optional
        Labels; by default 0, 1, ...
    positive : label, optional
        The positive class of a short name; by default the second.

    Returns
    -------
    array of shape (n,)
        The amounts. NaN if no finite amount flips the decision: the truth has probability 0.

    Examples
    --------
    A payment is a fraud with probability 0.1, and a review costs 4. From what loss on does it pay?

    >>> matrix = [[0, 4], [100, 4]]
    >>> break_even([[0.9, 0.1]], matrix, "fn").round(6)
    array([40.])
    """
    p, matrix, class_labels, decision_labels = checked(
        proba, matrix, "break_even", classes, decisions
    )
    label, decision = entry_position(
        entry, class_labels, decision_labels, positive=positive, owner="break_even"
    )
    without = matrix.copy()
    without[..., label, decision] = 0.0
    expected_cost = expected_costs(p, without)
    least_of_others = np.delete(expected_cost, decision, axis=1).min(axis=1, initial=np.inf)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        amounts = (least_of_others - expected_cost[:, decision]) / p[:, label]
    return np.where(np.isfinite(amounts), amounts, np.nan)


def entry_position(
    entry: Any, classes: np.ndarray, decisions: np.ndarray, *, positive: Any, owner: str
) -> tuple[int, int]:
    """Return the row and the column of an entry given by labels or by a short name."""
    if isinstance(entry, str) and entry in SHORT_NAMES:
        if len(classes) != 2 or len(decisions) != 2:
            problem = f"is {entry!r}, a name for two classes and two decisions"
            raise invalid("entry", owner, f"{problem}. Pass (truth, decision).")
        label, decision = SHORT_NAMES[entry]
        if positive is not None and position(positive, classes, "classes", "positive", owner) == 0:
            return 1 - label, 1 - decision
        return label, decision
    if not (isinstance(entry, tuple) and len(entry) == 2):
        rule = f"must be (truth, decision) or one of {sorted(SHORT_NAMES)}"
        raise invalid("entry", owner, f"{rule}, got {entry!r}.")
    label = position(entry[0], classes, "classes", "entry", owner)
    decision = position(entry[1], decisions, "decisions", "entry", owner)
    return label, decision


# -- What wrong costs would cost -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sensitivity(Framed):
    """What decisions by the stated costs cost if the true ones differ; made by `sensitivity`.

    Attributes
    ----------
    rows : list of dict
        For each entry and factor: ``entry``, ``factor``; ``cost``, what the decisions of the stated
        costs cost at the true ones; ``known``, what decisions that know the true costs cost;
        ``regret``, their difference; and the cost of each rival rule.
    crossings : list of dict
        For each entry and rival rule: ``entry``, ``rival``, ``cheaper_below`` and
        ``cheaper_above``, the factors nearest to 1 below and above which the rival is the cheaper
        rule; NaN where there is none.
    """

    rows: list[dict[str, Any]]
    crossings: list[dict[str, Any]]

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a frame.

        Returns
        -------
        pandas.DataFrame
            One row per entry and factor.
        """
        return as_frame(self.rows, "Sensitivity.to_frame")


def sensitivity(
    proba: ArrayLike,
    matrix: ArrayLike,
    truth: ArrayLike | None = None,
    *,
    classes: ArrayLike | None = None,
    decisions: ArrayLike | None = None,
    factors: Sequence[float] = FACTORS,
    entries: Sequence[Any] | None = None,
    rivals: Mapping[str, ArrayLike] | None = None,
    sample_weight: ArrayLike | None = None,
    positive: Any = None,
) -> Sensitivity:
    """Compute what it costs if stated costs are off by a factor, beside knowing the true ones.

    The stated costs decide. The true cost of one entry is its stated cost times the factor, and the
    decisions are paid at the true costs. At factor 1 the regret is 0.

    Parameters
    ----------
    proba : array of shape (n, k)
        Probability of each class on each row.
    matrix : array of shape (k, d) or (n, k, d)
        The stated costs, truth by decision.
    truth : array of shape (n,), optional
        True labels. With them, costs are the realised ones, and the regret may be negative: on a
        sample, wrong costs can be lucky. Without them, costs are those expected under the
        probabilities, and the regret is never negative.
    classes, decisions : arrays of shape (k,) and (d,), optional
        Labels; by default 0, 1, ...
    factors : sequence of float
        True cost divided by stated cost; positive numbers.
    entries : sequence of (truth, decision), "fn", "fp", "tp" or "tn", optional
        What may be wrong; by default every entry that is not 0.
    rivals : mapping of name to array of shape (n,), optional
        Decisions of other rules, as labels. Every constant decision is always a rival, and, where
        decisions are classes, ``"most probable class"``, which for two classes is the threshold
        0.5.
    sample_weight : array of shape (n,), optional
        How often each row counts.
    positive : label, optional
        The positive class of short names; by default the second.

    Returns
    -------
    Sensitivity
        Costs, regrets, and the factors beyond which a rival is cheaper.

    Examples
    --------
    What if a miss costs ten times as much, or half as much, as stated?

    >>> proba = [[0.95, 0.05], [0.7, 0.3], [0.2, 0.8]]
    >>> found = sensitivity(proba, [[0, 1], [4, 0]], factors=[0.5, 1, 10], entries=["fn"])
    >>> [(row["factor"], round(row["regret"], 2)) for row in found.rows]
    [(0.5, 0.1), (1.0, 0.0), (10.0, 1.05)]
    >>> found.crossings[1]["rival"], round(found.crossings[1]["cheaper_above"], 2)
    ('always 1', 4.75)
    """
    p, stated, class_labels, decision_labels = checked(
        proba, matrix, "sensitivity", classes, decisions
    )
    n_rows = len(p)
    steps = [float(factor) for factor in factors]
    if not steps or min(steps) <= 0 or not np.isfinite(steps).all():
        rule = "must hold positive numbers"
        raise invalid("factors", "sensitivity", f"{rule}, got {list(factors)}.")
    # How much each class counts on each row: its probability, or 1 if it is the class of the row.
    weight = p
    if truth is not None:
        y_index = positions(truth, class_labels, "classes", "truth", "sensitivity", n_rows)
        weight = np.eye(p.shape[1])[y_index]
    weight = weight * check_weights(sample_weight, n_rows, "sensitivity")[:, None]

    chosen = cheapest(expected_costs(p, stated))
    rules = _constant_rules(p, class_labels, decision_labels)
    for name, labels in (rivals or {}).items():
        argument = f"rivals[{name!r}]"
        rules[name] = positions(
            labels, decision_labels, "decisions", argument, "sensitivity", n_rows
        )
    if entries is None:
        entries = _entries_above_zero(stated, class_labels, decision_labels)
    rows = []
    crossings = []
    for entry in entries:
        label, decision = entry_position(
            entry, class_labels, decision_labels, positive=positive, owner="sensitivity"
        )
        for factor in steps:
            true = stated.copy()
            true[..., label, decision] *= factor
            cost = _total_cost(weight, true, chosen)
            informed_cost = _total_cost(weight, true, cheapest(expected_costs(p, true)))
            row = {"entry": entry, "factor": factor, "cost": cost, "known": informed_cost}
            row["regret"] = cost - informed_cost
            for rule, decided in rules.items():
                row[rule] = _total_cost(weight, true, decided)
            rows.append(row)
        only_entry = np.zeros_like(stated)
        only_entry[..., label, decision] = stated[..., label, decision]
        for rule, decided in rules.items():
            # What the other rule costs more, in all and by this entry.
            gap = _total_cost(weight, stated, decided) - _total_cost(weight, stated, chosen)
            slope = _total_cost(weight, only_entry, decided)
            slope -= _total_cost(weight, only_entry, chosen)
            crossings.append({"entry": entry, "rival": rule, **_crossing(gap, slope)})
    return Sensitivity(rows, crossings)


def _constant_rules(
    p: np.ndarray, classes: np.ndarray, decisions: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the decisions of rules that need no costs."""
    rules = {
        f"always {label}": np.full(len(p), decision)
        for decision, label in enumerate(decisions.tolist())
    }
    if classes.tolist() == decisions.tolist():
        rules["most probable class"] = p.argmax(axis=1)
    return rules


def _entries_above_zero(
    matrix: np.ndarray, classes: np.ndarray, decisions: np.ndarray
) -> list[tuple[Any, Any]]:
    """Return the labels of the entries that are not 0 on every row."""
    is_used = np.any(matrix.reshape(-1, *matrix.shape[-2:]), axis=0)
    return [(classes.tolist()[j], decisions.tolist()[d]) for j, d in np.argwhere(is_used).tolist()]


def _total_cost(weight: np.ndarray, matrix: np.ndarray, chosen: np.ndarray) -> float:
    """Return the cost of decisions, the classes of each row weighted."""
    if matrix.ndim == 2:
        cost = matrix.T[chosen]
    else:
        cost = np.take_along_axis(matrix, chosen[:, None, None], axis=2)[:, :, 0]
    return float((weight * cost).sum())


def _crossing(gap: float, slope: float) -> dict[str, float]:
    """Return the factors beyond which the other rule is cheaper: ``gap + (factor - 1) slope < 0``.

    A rule that is already cheaper at the stated costs has the factor 1 on both sides.
    """
    if gap < 0:
        return {"cheaper_below": 1.0, "cheaper_above": 1.0}
    below = above = float("nan")
    if slope != 0:
        factor = (slope - gap) / slope
        if slope < 0:
            above = factor
        elif factor > 0:
            below = factor
    return {"cheaper_below": below, "cheaper_above": above}
