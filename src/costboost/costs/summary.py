"""Costs in words, so that swapped rows and columns are seen at a glance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost._utils import Framed, as_frame
from costboost._words import money, span
from costboost.costs.costs import Costs, RealizedCosts

MOST_LINES = 30
"""A printed table of costs names at most this many pairs."""


@dataclass(frozen=True, eq=False, repr=False)
class CostSummary(Framed):
    """What each decision costs under each truth, over the rows of a fit.

    ``print`` shows it in words.

    Attributes
    ----------
    classes : array of shape (k,)
        The classes.
    decisions : array of shape (d,)
        The decisions.
    low, mean, high : arrays of shape (k, d)
        Smallest, mean and largest cost, truth by decision, over the rows of that truth where it
        is known; NaN for a truth without rows.
    n_rows : int or None
        Number of rows whose costs differ; None if one matrix serves all.
    texts : mapping
        Expressions that cells were written as, by their place (truth, decision).
    without : str
        What `predict` does if it is not told the costs of rows; empty if it needs none.
    """

    classes: AnyArray
    decisions: AnyArray
    low: Floats
    mean: Floats
    high: Floats
    n_rows: int | None = None
    texts: Mapping[tuple[int, int], str] = field(default_factory=dict)
    without: str = ""

    def __getstate__(self) -> dict[str, Any]:
        # Keys that are no texts are more than skops and JSON know.
        return {**vars(self), "texts": [[*place, text] for place, text in self.texts.items()]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        texts = state["texts"]
        if not isinstance(texts, dict):  # older files of format 2 hold the mapping itself
            texts = {(truth, decision): text for truth, decision, text in texts}
        vars(self).update({**state, "texts": texts})

    def __repr__(self) -> str:
        """The pairs (truth, decision) in words; only the most costly if there are many."""
        # Right decisions that cost nothing are left out.
        truths = [repr(label) for label in self.classes.tolist()]
        decisions = [repr(label) for label in self.decisions.tolist()]
        pairs = [
            (j, d)
            for j, d in np.ndindex(*self.mean.shape)
            if not np.isnan(self.mean[j, d])
            and (truths[j] != decisions[d] or self.low[j, d] != 0 or self.high[j, d] != 0)
        ]
        shown = pairs
        if len(pairs) > MOST_LINES:
            shown = sorted(pairs, key=lambda pair: -self.mean[pair])[:MOST_LINES]
        lines = [
            f"  deciding {decisions[d]} when the truth is {truths[j]} {self._phrase(j, d)}"
            for j, d in shown
        ]
        if len(shown) < len(pairs):
            lines.append(f"  ... and {len(pairs) - len(shown)} cheaper pairs")
        head = f"costs of {self.n_rows} rows, smallest to largest"
        if self.n_rows is None:
            head = "costs (rows = truth, columns = decision)"
        return "\n".join([head, *lines, *filter(None, [self.without])])

    def to_frame(self) -> Any:
        """The costs in words, as a pandas frame.

        Returns
        -------
        pandas.DataFrame
            A row per truth, a column per decision.
        """
        columns = {"truth": self.classes.tolist()}
        for d, name in enumerate(self.decisions.tolist()):
            columns[f"decide {name}"] = [self._phrase(j, d) for j in range(len(self.classes))]
        return as_frame(columns, "CostSummary.to_frame")

    def _phrase(self, j: int, d: int) -> str:
        low, mean, high = (float(table[j, d]) for table in (self.low, self.mean, self.high))
        text = f" ({self.texts[j, d]})" if (j, d) in self.texts else ""
        if np.isnan(mean):
            return "no rows"
        if low == high:
            return f"costs {low:,.6g}{text}" if low >= 0 else f"earns {-low:,.6g}{text}"
        return f"costs {span(low, high)}, on average {money(mean, '', low, high)}{text}"


def summarize(costs: Costs | RealizedCosts, weight: Floats | None = None) -> CostSummary:
    """Return the smallest, mean and largest cost of every pair of truth and decision.

    Parameters
    ----------
    costs : Costs or RealizedCosts
        What decisions cost; only rows of a class can pay its costs, where classes are known.
    weight : array of shape (n,), optional
        Weights of the rows in the means.

    Returns
    -------
    CostSummary
        The costs in words.
    """
    low: Any = costs.matrix
    mean = high = low
    n = None
    if costs.is_per_row:
        n = len(costs)
        low, mean, high = np.full((3, len(costs.classes), len(costs.decisions)), np.nan)
        for j in range(len(costs.classes)):
            if isinstance(costs, RealizedCosts):
                of_class = costs.y_index == j
                paid = costs.prices[of_class]
            else:
                of_class = slice(None)
                paid = costs.matrix[:, j]
            if not len(paid):
                continue
            low[j] = paid.min(axis=0)
            high[j] = paid.max(axis=0)
            mean[j] = _mean(paid, None if weight is None else weight[of_class])
    return CostSummary(costs.classes, costs.decisions, low, mean, high, n, costs.texts)


def _mean(paid, weight):
    if weight is None or not weight.any():
        return paid.mean(axis=0)
    return np.average(paid, axis=0, weights=weight)
