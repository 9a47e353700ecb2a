"""What wrong costs would cost: at a factor, and the amount at which a decision flips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats, Ints
from costboost._utils import Framed, as_frame, check_weights, invalid
from costboost.costs.labels import position, positions
from costboost.costs.table import expected_costs
from costboost.decisions.arrays import cheapest, checked

if TYPE_CHECKING:
    import pandas as pd


# -- The amount of one cost at which a row's decision changes ------------------------------------


_SHORT = {"tn": (0, 0), "fp": (0, 1), "fn": (1, 0), "tp": (1, 1)}


def break_even(
    proba: ArrayLike,
    matrix: ArrayLike,
    entry: Any,
    *,
    classes: ArrayLike | None = None,
    decisions: ArrayLike | None = None,
    positive: Any = None,
) -> Floats:
    """The amount of one cost at which the decision of each row flips, all other costs kept.

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
    owner = "break_even"
    p, C, names, actions = checked(proba, matrix, owner, classes, decisions)
    truth, taken = entry_position(entry, names, actions, positive, owner)
    others = C.copy()
    others[..., truth, taken] = 0.0
    expected = expected_costs(p, others)
    rivals = np.delete(expected, taken, axis=1).min(axis=1, initial=np.inf)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        amounts = (rivals - expected[:, taken]) / p[:, truth]
    return np.where(np.isfinite(amounts), amounts, np.nan)


def entry_position(
    entry: Any, classes: AnyArray, decisions: AnyArray, positive: Any, owner: str
) -> tuple[int, int]:
    """Row and column of an entry given by labels or by a short name."""
    if isinstance(entry, str) and entry in _SHORT:
        if len(classes) != 2 or len(decisions) != 2:
            problem = f"is {entry!r}, a name for two classes and two decisions"
            raise invalid("entry", owner, f"{problem}. Pass (truth, decision).")
        (j, a), code = _SHORT[entry], 1
        if positive is not None:
            code = position(positive, classes, "classes", "positive", owner)
        return (j, a) if code else (1 - j, 1 - a)
    if not (isinstance(entry, tuple) and len(entry) == 2):
        rule = f"must be (truth, decision) or one of {sorted(_SHORT)}"
        raise invalid("entry", owner, f"{rule}, got {entry!r}.")
    truth = position(entry[0], classes, "classes", "entry", owner)
    return truth, position(entry[1], decisions, "decisions", "entry", owner)


# -- What wrong costs would cost -----------------------------------------------------------------


_FACTORS = (0.2, 0.5, 0.8, 1.0, 1.25, 2.0, 5.0)


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
        """The rows as a frame.

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
    factors: Sequence[float] = _FACTORS,
    entries: Sequence[Any] | None = None,
    rivals: Mapping[str, ArrayLike] | None = None,
    sample_weight: ArrayLike | None = None,
    positive: Any = None,
) -> Sensitivity:
    """What it costs if stated costs are off by a factor, compared with knowing the true ones.

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
    owner = "sensitivity"
    p, C, names, actions = checked(proba, matrix, owner, classes, decisions)
    n, k = p.shape
    steps = [float(factor) for factor in factors]
    if not steps or min(steps) <= 0 or not np.isfinite(steps).all():
        raise invalid("factors", owner, f"must hold positive numbers, got {list(factors)}.")
    weight = p
    if truth is not None:
        weight = np.eye(k)[positions(truth, names, "classes", "truth", owner, n)]
    weight = weight * check_weights(sample_weight, n, owner)[:, None]
    own = cheapest(expected_costs(p, C))
    rules = {f"always {label}": np.full(n, j) for j, label in enumerate(actions.tolist())}
    if names.tolist() == actions.tolist():
        rules["most probable class"] = p.argmax(axis=1)
    for name, labels in (rivals or {}).items():
        rules[name] = positions(labels, actions, "decisions", f"rivals[{name!r}]", owner, n)
    if entries is None:
        cells = np.argwhere(np.any(C.reshape(-1, *C.shape[-2:]), axis=0)).tolist()
        entries = [(names.tolist()[j], actions.tolist()[a]) for j, a in cells]
    rows, crossings = [], []
    for entry in entries:
        j, a = entry_position(entry, names, actions, positive, owner)
        for factor in steps:
            true = C.copy()
            true[..., j, a] *= factor
            informed = cheapest(expected_costs(p, true))
            cost, known = (_paid(weight, true, codes) for codes in (own, informed))
            found = {"entry": entry, "factor": factor, "cost": cost, "known": known}
            others = {rule: _paid(weight, true, codes) for rule, codes in rules.items()}
            rows.append({**found, "regret": cost - known, **others})
        only = np.zeros_like(C)
        only[..., j, a] = C[..., j, a]
        for rule, codes in rules.items():
            # What the rival costs more, in all and by this entry.
            gap, part = (_paid(weight, of, codes) - _paid(weight, of, own) for of in (C, only))
            crossings.append({"entry": entry, "rival": rule, **_crossing(gap, part)})
    return Sensitivity(rows, crossings)


def _paid(weight: Floats, matrix: Floats, codes: Ints) -> float:
    """Cost of decisions, rows weighted by truth or by probabilities of the truth."""
    if matrix.ndim == 2:
        taken = matrix.T[codes]
    else:
        taken = np.take_along_axis(matrix, codes[:, None, None], axis=2)[:, :, 0]
    return float((weight * taken).sum())


def _crossing(gap: float, part: float) -> dict[str, float]:
    """Factors below and above which a rival is cheaper: beyond ``gap + (factor - 1) part = 0``."""
    below = above = 1.0  # a rival that is already cheaper at the stated costs
    if gap >= 0:
        factor = (part - gap) / part if part else -1.0
        below = factor if part > 0 and factor > 0 else float("nan")
        above = factor if part < 0 else float("nan")
    return {"cheaper_below": below, "cheaper_above": above}
