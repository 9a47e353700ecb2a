"""Costs in words, so that swapped rows and columns are seen at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from costboost.costs._table import Costs

Span = tuple[float, float, float]
"""Smallest, mean and largest cost."""

MOST_LINES = 30
"""A printed table of costs names at most this many pairs."""


def in_words(costs: Costs) -> str:
    """Put the pairs (truth, decision) into words; only the dearest if there are many.

    Right decisions that cost nothing are left out.
    """
    names = [repr(label) for label in costs.classes.tolist()]
    spans = {
        (j, d): span
        for j in range(len(names))
        for d, span in enumerate(_spans(costs, j))
        if j != d or span[0] != 0 or span[2] != 0
    }
    shown = list(spans)
    if len(shown) > MOST_LINES:
        shown = sorted(shown, key=lambda pair: -spans[pair][1])[:MOST_LINES]
    lines = [
        f"  deciding {names[d]} when the truth is {names[j]} {_phrase(spans[j, d])}"
        for j, d in shown
    ]
    if len(shown) < len(spans):
        lines.append(f"  ... and {len(spans) - len(shown)} cheaper pairs")
    return "\n".join([_headline(costs), *lines])


def _headline(costs: Costs) -> str:
    if not costs.is_per_row:
        return "costs (rows = truth, columns = decision)"
    held = costs.prices if costs.matrix is None else costs.matrix
    return f"costs of {0 if held is None else len(held)} rows, smallest to largest"


def _spans(costs: Costs, j: int) -> list[Span]:
    """Span of each decision's cost when the truth is class j; empty if no row has that truth."""
    if costs.matrix is not None:
        rows = costs.matrix[j, None] if costs.matrix.ndim == 2 else costs.matrix[:, j]
    elif costs.prices is not None and costs.codes is not None:
        rows = costs.prices[costs.codes == j]
    else:
        return []
    if not len(rows):
        return []
    table = np.stack([rows.min(axis=0), rows.mean(axis=0), rows.max(axis=0)], axis=1)
    return [(low, mean, high) for low, mean, high in table.tolist()]


def _phrase(span: Span) -> str:
    low, mean, high = span
    if low == high:
        return f"costs {low:.6g}" if low >= 0 else f"earns {-low:.6g}"
    return f"costs {low:.6g} to {high:.6g}, on average {mean:.6g}"
