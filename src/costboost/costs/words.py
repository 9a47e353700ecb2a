"""Costs in words, so that swapped rows and columns are seen at a glance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost._words import html_table, money, span

if TYPE_CHECKING:
    from costboost.costs.table import Costs

MOST_LINES = 30
"""A printed table of costs names at most this many pairs."""


@dataclass(frozen=True, eq=False, repr=False)
class CostSummary:
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

    @classmethod
    def of(cls, costs: Costs) -> CostSummary:
        """The summary of costs."""
        n: int | None = None
        if not costs.is_per_row:
            low = mean = high = costs.matrix
        else:
            n = len(costs)
            if costs.codes is None:
                low, mean, high = _spans(costs.matrix)
            else:  # only rows of a truth can pay its costs
                truths = range(len(costs.classes))
                spans = [np.stack(_spans(costs.prices[costs.codes == j])) for j in truths]
                low, mean, high = np.stack(spans, axis=1)
        return cls(costs.classes, costs.decisions, low, mean, high, n, costs.texts)

    def __getstate__(self) -> dict[str, Any]:
        # Keys that are no texts are more than skops and JSON know.
        return {**vars(self), "texts": [[*place, text] for place, text in self.texts.items()]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        texts = state["texts"]
        if not isinstance(texts, dict):  # files of older versions hold the mapping itself
            texts = {(truth, decision): text for truth, decision, text in texts}
        vars(self).update({**state, "texts": texts})

    def __repr__(self) -> str:
        return in_words(self)

    def _repr_html_(self) -> str:
        """A table for notebooks, rows = truth and columns = decision."""
        columns = {"truth": self.classes.tolist()}
        for d, name in enumerate(self.decisions.tolist()):
            columns[f"decide {name}"] = [self._cell(j, d) for j in range(len(self.classes))]
        return html_table(columns)

    def _cell(self, j: int, d: int) -> str:
        low, mean, high = self.low[j, d], self.mean[j, d], self.high[j, d]
        if np.isnan(mean):
            return "no rows"
        number = f"{low:.6g}" if low == high else f"mean {mean:.6g} ({low:.6g} to {high:.6g})"
        return f"{self.texts[j, d]}: {number}" if (j, d) in self.texts else number


def _spans(rows: Floats) -> tuple[Floats, Floats, Floats]:
    """Smallest, mean and largest over the first axis; NaN without rows."""
    if not len(rows):
        nothing = np.full(rows.shape[1:], np.nan)
        return nothing, nothing, nothing
    return rows.min(axis=0), rows.mean(axis=0), rows.max(axis=0)


def in_words(costs: CostSummary) -> str:
    """Put the pairs (truth, decision) into words; only the most costly if there are many."""
    # Right decisions that cost nothing are left out.
    truths = [repr(label) for label in costs.classes.tolist()]
    decisions = [repr(label) for label in costs.decisions.tolist()]
    pairs = [
        (j, d)
        for j, d in np.ndindex(*costs.mean.shape)
        if not np.isnan(costs.mean[j, d])
        and (truths[j] != decisions[d] or costs.low[j, d] != 0 or costs.high[j, d] != 0)
    ]
    shown = pairs
    if len(pairs) > MOST_LINES:
        shown = sorted(pairs, key=lambda pair: -costs.mean[pair])[:MOST_LINES]
    lines = [
        f"  deciding {decisions[d]} when the truth is {truths[j]} {_phrase(costs, j, d)}"
        for j, d in shown
    ]
    if len(shown) < len(pairs):
        lines.append(f"  ... and {len(pairs) - len(shown)} cheaper pairs")
    head = f"costs of {costs.n_rows} rows, smallest to largest"
    if costs.n_rows is None:
        head = "costs (rows = truth, columns = decision)"
    return "\n".join([head, *lines, *filter(None, [costs.without])])


def _phrase(costs: CostSummary, j: int, d: int) -> str:
    low, mean, high = (float(table[j, d]) for table in (costs.low, costs.mean, costs.high))
    text = f" ({costs.texts[j, d]})" if (j, d) in costs.texts else ""
    if low == high:
        return f"costs {low:,.6g}{text}" if low >= 0 else f"earns {-low:,.6g}{text}"
    return f"costs {span(low, high)}, on average {money(mean, '', low, high)}{text}"
