"""What must be known of all rows before training: sums over them, and the held-out ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost.costs import Costs
from costboost.costs.checks import parameter
from costboost.flagship.parquet.rows import Batch, Source, drawn
from costboost.flagship.targets import worths

__all__ = ["Split", "Survey", "survey"]

# Most held-out rows, and most numbers in their cost matrices: they are kept in memory.
_HELD_OUT_ROWS = 2**20
_HELD_OUT_NUMBERS = 2**24


@dataclass(frozen=True)
class Split:
    """Which rows are held out: a share of them, drawn by their numbers.

    Attributes
    ----------
    share : float
        Share of rows held out; 0 holds out none.
    seed : int
        Seed of the draw.
    """

    share: float
    seed: int

    @classmethod
    def bounded(cls, fraction: float, n_rows: int, n_classes: int, seed: int) -> Split:
        """A split of that fraction, or less if memory could not hold as many rows."""
        most = min(_HELD_OUT_ROWS, _HELD_OUT_NUMBERS // n_classes**2)
        return cls(min(fraction, most / n_rows), seed)

    def rows(self, batch: Batch, held_out: bool) -> AnyArray:
        """Indices of the rows of a batch that have weight and are held out, or are not."""
        is_out = drawn(batch.start, len(batch.weights), self.seed) < self.share
        return np.flatnonzero((is_out == held_out) & (batch.weights > 0))


@dataclass(frozen=True, eq=False)
class Survey:
    """Sums over all rows that have weight.

    Attributes
    ----------
    n_rows, n_train : int
        Rows, and those of them that are not held out.
    mean_matrix : array of shape (k, k)
        The costs, averaged.
    worth : float
        Mean over the rows of the sum of their worths.
    masses : dict of str to array of shape (k,)
        Weight of each class in the labels of each head.
    held_out : Costs or None
        Costs and truth of the held-out rows; None if there are none.
    held_out_weights : array of shape (m,)
        Their weights.
    """

    n_rows: int
    n_train: int
    mean_matrix: Floats
    worth: float
    masses: dict[str, Floats]
    held_out: Costs | None
    held_out_weights: Floats


def survey(source: Source, split: Split) -> Survey:
    """One pass over the rows that reads no features.

    Parameters
    ----------
    source : Source
        The rows.
    split : Split
        Which are held out.

    Returns
    -------
    Survey
        What it found.
    """
    k = len(source.classes)
    n_rows = n_train = 0
    # By truth: where only the prices under the truth are known, each truth has a mean of its own.
    totals, sums = np.zeros(k), np.zeros((k, k))
    weight = worth = 0.0
    truths, cheapest = np.zeros(k), np.zeros(k)
    is_at_stake = False
    held: list[tuple[Costs, Floats]] = []
    last: tuple[Costs, Floats] | None = None
    for batch in source.batches(features=False):
        used = np.flatnonzero(batch.weights)
        if not len(used):
            continue
        costs, codes, w = batch.costs.take(used), batch.codes[used], batch.weights[used]
        last = costs, w
        counted = np.bincount(codes, w, minlength=k) if costs.matrix is None else w.sum()
        totals += counted
        sums += np.broadcast_to(counted, k)[:, None] * costs.average(w)
        weight += float(w.sum())
        truths += np.bincount(codes, w, minlength=k)
        stakes = w * worths(costs).sum(axis=1)
        worth += float(stakes.sum())
        # With two classes the worths are weights of the labels, with more they are the labels.
        cheapest += np.bincount(costs.labels, stakes if k == 2 else w, minlength=k)
        is_at_stake |= bool(costs.reduced.any())
        rows = split.rows(batch, held_out=True)
        if len(rows):
            held.append((batch.costs.take(rows), batch.weights[rows]))
        n_rows += len(used)
        n_train += len(used) - len(rows)
    if last is None:
        raise ValueError(
            f"{parameter('sample_weight', source.owner)} names the column {source.weight!r}, which "
            "is 0 in every row. Give weight to some rows."
        )
    if not is_at_stake:
        source.model._check_stakes(*last)
    return Survey(
        n_rows,
        n_train,
        sums / np.where(totals > 0, totals, 1.0)[:, None],
        worth / weight,
        {"probability": truths, "decision": cheapest},
        _joined([costs for costs, _ in held]) if held else None,
        np.concatenate([w for _, w in held]) if held else np.ones(0),
    )


def _joined(parts: list[Costs]) -> Costs:
    """The costs of the rows of all parts."""
    first = parts[0]
    codes = np.concatenate([part.codes for part in parts if part.codes is not None])
    if first.matrix is None:
        prices = [part.prices for part in parts if part.prices is not None]
        return Costs(first.classes, prices=np.concatenate(prices), codes=codes)
    if first.matrix.ndim == 2:
        return Costs(first.classes, first.matrix, codes=codes)
    matrices = [part.matrix for part in parts if part.matrix is not None]
    return Costs(first.classes, np.concatenate(matrices), codes=codes)
