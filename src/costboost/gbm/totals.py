"""Sums over rows that training needs; those of blocks add up."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import CostSummary, KnownCosts
from costboost.costs.table import mean_prices
from costboost.gbm.blocks import Block

__all__ = ["Totals", "gains"]


def gains(costs: KnownCosts) -> Floats:
    """What each decision saves against the costliest one on its row, (n, d)."""
    return np.asarray(costs.reduced.max(axis=1, keepdims=True) - costs.reduced)


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums over rows that have weight."""

    # A table in memory is one block; Parquet files and Dask partitions are many, whose totals are
    # added. The rules that follow from the sums are the same for all of them:
    #
    # - One matrix for all rows is the mean matrix, unchanged. - Matrices of single rows are
    # averaged over all rows, whatever the truth. - Prices (where only the costs under the true
    # class are known) are averaged for each true class
    #   over its own rows. A class whose rows have no weight gets no zeros, which would make every
    #   decision free: each of its mistakes gets the mean price of a mistake. If the decisions are
    #   not the classes, each decision gets its mean price over all rows.
    # - The unit of costs is the mean of what is at stake on a row; the unit of gains is the mean
    # sum
    #   of a row's gains. Held-out rows count in all sums.

    train_rows: int
    held_out_rows: int
    weight: Floats
    label_weight: Floats
    label_gain: Floats
    stakes: float
    cost_sums: Floats
    cost_weights: Floats
    cost_low: Floats
    cost_high: Floats
    classes: AnyArray
    decisions: AnyArray
    texts: dict[tuple[int, int], str]
    matrix: Floats | None = None

    @classmethod
    def of(cls, block: Block, held_out_rows: int = 0) -> Totals:
        """The sums over one block."""
        n = len(block)
        if not block.costs.is_per_row and n:
            block = _one_row_per_class(block)
        costs, w = block.costs, block.weights
        codes = costs.codes
        k, d = len(costs.classes), costs.reduced.shape[1]

        def by(groups: Ints, values: Floats, n: int) -> Floats:
            return np.asarray(np.bincount(groups, values, minlength=n), dtype=np.float64)

        weight = by(codes, w, k)
        spans = costs.summary
        if costs.matrix is not None and costs.matrix.ndim == 3:
            sums, counted = np.tensordot(w, costs.matrix, 1), np.full(k, w.sum())
        else:
            sums = np.stack([by(codes, w * column, k) for column in costs.reduced.T], axis=1)
            counted = weight
        return cls(
            n - held_out_rows,
            held_out_rows,
            weight,
            by(costs.labels, w, d),
            by(costs.labels, w * gains(costs).sum(axis=1), d),
            float(w @ costs.reduced.max(axis=1)) if len(w) else 0.0,
            sums,
            counted,
            spans.low,
            spans.high,
            costs.classes,
            costs.decisions,
            costs.texts,
            None if costs.is_per_row else costs.matrix,
        )

    def __add__(self, other: Totals) -> Totals:
        found = {f.name: getattr(self, f.name) for f in fields(self)}
        for name in found:
            mine, others = found[name], getattr(other, name)
            if name in ("cost_low", "cost_high"):
                found[name] = (np.fmin if name == "cost_low" else np.fmax)(mine, others)
            elif name not in ("classes", "decisions", "texts", "matrix"):
                found[name] = mine + others
        return Totals(**found)

    @property
    def rows(self) -> int:
        """Number of all rows."""
        return self.train_rows + self.held_out_rows

    @property
    def mean_stakes(self) -> float:
        """What is at stake on a row, on average."""
        return float(self.stakes / self.weight.sum())

    @property
    def mean_gain(self) -> float:
        """Sum of the gains of a row's decisions, on average."""
        return float(self.label_gain.sum() / self.weight.sum())

    @property
    def mean_costs(self) -> Floats:
        """One matrix for all rows, (k, d): what a decision costs on average under each truth."""
        if self.matrix is not None:
            return self.matrix.copy()
        is_square = self.classes.tolist() == self.decisions.tolist()
        return mean_prices(self.cost_weights, self.cost_sums, is_square=is_square)

    @property
    def summary(self) -> CostSummary:
        """Smallest, mean and largest costs, which print themselves in words."""
        return CostSummary(
            self.classes,
            self.decisions,
            self.cost_low,
            self.mean_costs,
            self.cost_high,
            self.rows if self.matrix is None else None,
            self.texts,
        )

    def check(self, owner: str) -> None:
        """Raise a ValueError if there is nothing to learn from the rows."""
        if not self.stakes > 0:
            raise ValueError(
                f"Every decision costs {owner} the same, so there is nothing to learn. Give "
                "cost_matrix or costs at least one entry that tells decisions apart."
            )


def _one_row_per_class(block: Block) -> Block:
    """With one matrix for all rows, a row of each class stands for all of its rows."""
    found, first, codes = np.unique(block.costs.codes, return_index=True, return_inverse=True)
    weights = np.bincount(codes, block.weights, minlength=len(found))
    return Block(None, block.costs.take(first), np.asarray(weights, dtype=np.float64))
