"""The amount of one cost at which a row's decision changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Bools, Floats, Ints
from costboost.decisions.arrays import (
    cheapest,
    checked_labels,
    expected_cost,
    position,
    probabilities_and_matrix,
)

__all__ = ["break_even"]

_SHORT = {"tn": (0, 0), "fp": (0, 1), "fn": (1, 0), "tp": (1, 1)}


def break_even(
    proba: ArrayLike,
    matrix: ArrayLike,
    entry: Any,
    *,
    classes: ArrayLike | None = None,
    decisions: ArrayLike | None = None,
    positive: Any = None,
    decide: Callable[[Floats], Ints] | None = None,
) -> Floats:
    """The amount of one cost at which the decision of each row flips, all other costs kept.

    An entry is the cost of one decision given one truth. While it is below the amount returned,
    the row gets that decision; from that amount on it gets another. This holds to the last
    digit: deciding with the amount itself gives the other decision, and deciding with the
    next smaller floating-point number gives the decision of the entry.

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
    decide : callable of (n, k, d) -> (n,), optional
        The rule that decides, given a matrix per row; by default the cheapest expected cost. Pass
        ``lambda matrix: Costs(classes, matrix).decide(proba)`` for exactly the arithmetic of
        predict.

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
    p, C = probabilities_and_matrix(proba, matrix, owner)
    n, k = p.shape
    d = C.shape[-1]
    truth, taken = entry_position(
        entry,
        checked_labels(classes, k, "classes", owner),
        checked_labels(decisions, d, "decisions", owner),
        positive,
        owner,
    )
    rows = np.array(np.broadcast_to(C, (n, k, d)))
    judge = decide or (lambda table: cheapest(expected_cost(p, table)))

    def is_taken(amounts: Floats) -> Bools:
        rows[:, truth, taken] = amounts
        return np.asarray(judge(rows) == taken, dtype=np.bool_)

    if d < 2:
        return np.full(n, np.nan)
    estimate = _estimate(p, rows, truth, taken)
    possible = np.isfinite(estimate)
    start = np.where(possible, estimate, 0.0)
    low, high, bracketed = _bracket(start, np.abs(rows).max(axis=(1, 2)), is_taken)
    flips = _bisected(low, high, is_taken)
    return np.where(possible & bracketed, flips, np.nan)


def entry_position(
    entry: Any, classes: AnyArray, decisions: AnyArray, positive: Any, owner: str
) -> tuple[int, int]:
    """Row and column of an entry given by labels or by a short name."""
    if isinstance(entry, str) and entry in _SHORT:
        if len(classes) != 2 or len(decisions) != 2:
            raise ValueError(
                f"The 'entry' parameter of {owner} is {entry!r}, a name for two classes and two "
                f"decisions; there are {len(classes)} and {len(decisions)}. Pass (truth, decision)."
            )
        j, a = _SHORT[entry]
        swap = positive is not None and position(positive, classes, "class", "positive", owner) == 0
        return (1 - j, 1 - a) if swap else (j, a)
    if not (isinstance(entry, tuple) and len(entry) == 2):
        raise ValueError(
            f"The 'entry' parameter of {owner} must be (truth, decision) or one of "
            f"{sorted(_SHORT)}, got {entry!r}."
        )
    return (
        position(entry[0], classes, "class", "entry", owner),
        position(entry[1], decisions, "decision", "entry", owner),
    )


def _estimate(p: Floats, rows: Floats, truth: int, taken: int) -> Floats:
    """The amount by algebra; it is right up to rounding."""
    blank = rows.copy()
    blank[:, truth, taken] = 0.0
    expected = np.einsum("nj,njd->nd", p, blank)
    rivals = np.delete(expected, taken, axis=1).min(axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.asarray((rivals - expected[:, taken]) / p[:, truth])


def _bracket(
    start: Floats, scale: Floats, is_taken: Callable[[Floats], Bools]
) -> tuple[Floats, Floats, Bools]:
    """Amounts on both sides of the flip, at growing distances from the estimate."""
    low, high = start.copy(), start.copy()
    width = 1e-12 * np.maximum(np.abs(start), scale) + 1e-300
    for _ in range(60):
        too_high, too_low = ~is_taken(low), is_taken(high)
        if not (too_high.any() or too_low.any()):
            break
        low = np.where(too_high, start - width, low)
        high = np.where(too_low, start + width, high)
        width = width * 4.0
    return low, high, np.asarray(is_taken(low) & ~is_taken(high), dtype=np.bool_)


def _bisected(low: Floats, high: Floats, is_taken: Callable[[Floats], Bools]) -> Floats:
    """The smallest amount at which the decision is not taken; rounding is monotone."""
    while True:
        middle = low + 0.5 * (high - low)
        inside = (middle > low) & (middle < high)
        if not inside.any():
            return high
        middle = np.where(inside, middle, high)
        taken = is_taken(middle)
        low = np.where(inside & taken, middle, low)
        high = np.where(inside & ~taken, middle, high)
