"""A binary cost-sensitive problem, as every algorithm of the family sees it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from costboost._typing import Bools, Floats
from costboost.costs import KnownCosts
from costboost.losses.base import class_mean, cost_pair

__all__ = ["BinaryProblem", "Init"]

Init: TypeAlias = Literal["uniform", "balanced", "cost"]


@dataclass(frozen=True)
class BinaryProblem:
    """Labels, error costs and sample weights of the training rows."""

    y: Floats  # (n,) effective labels in {-1, +1}
    c: Floats  # (n,) cost of misclassifying the row, reduced: 0 for the right decision
    sample_weight: Floats  # (n,) positive
    pair: tuple[float, float] | None  # (C1, C2) when one pair serves all rows
    both: tuple[Floats, Floats]  # C1 and C2 of every row, scalars (0-d) or (n,), positive

    @classmethod
    def from_costs(cls, costs: KnownCosts, sample_weight: Floats) -> BinaryProblem:
        """The problem of known costs and truths."""
        y = np.where(costs.labels == 1, 1.0, -1.0)
        c = costs.error_cost
        if costs.matrix is not None and not costs.is_per_row:
            (keep, alarm), (miss, hit) = costs.matrix
            pair = float(miss - hit), float(alarm - keep)
            if min(pair) >= 0:
                C1, C2 = cost_pair(y, pair)
                return cls(y, c, sample_weight, pair, (C1, C2))
        C1, C2 = cost_pair(y, c, sample_weight)
        if costs.matrix is not None and costs.is_per_row:
            # The row's own matrix says what the other error would have cost; it is used only where
            # both costs are positive (a flipped row has no such costs).
            miss = costs.matrix[:, 1, 0] - costs.matrix[:, 1, 1]
            alarm = costs.matrix[:, 0, 1] - costs.matrix[:, 0, 0]
            known = (miss > 0) & (alarm > 0)
            C1, C2 = np.where(known, miss, C1), np.where(known, alarm, C2)
        return cls(y, c, sample_weight, None, (C1, C2))

    def take(self, used: Bools) -> BinaryProblem:
        """The problem of some of the rows."""
        C1, C2 = (part[used] if part.ndim else part for part in self.both)
        return BinaryProblem(
            self.y[used], self.c[used], self.sample_weight[used], self.pair, (C1, C2)
        )

    @cached_property
    def mean_pair(self) -> tuple[float, float]:
        """The weighted mean cost of a miss and of a false alarm, both positive."""
        if self.pair is not None:
            C1, C2 = self.both
            return float(C1), float(C2)
        positive, s = self.y > 0, self.sample_weight
        means = class_mean(self.c, s * positive, s), class_mean(self.c, s * ~positive, s)
        C1, C2 = cost_pair(self.y, means)
        return float(C1), float(C2)

    def initial_weights(self, init: Init) -> Floats:
        """The distribution of the first round: a choice of row weights times sample weights."""
        s = self.sample_weight
        if init == "cost":
            w = s * self.c
        elif init == "balanced":
            positive = self.y > 0
            totals = np.where(positive, s[positive].sum(), s[~positive].sum())
            w = s / totals
        else:
            w = s.copy()
        return np.asarray(w / w.sum())
