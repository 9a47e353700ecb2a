"""Step functions of one feature: stumps, histograms, and fast sums of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.learners._kernels import histogram
from costboost.learners.base import (
    Aim,
    ConstantRule,
    Ensemble,
    Fitted,
    Learner,
    Rows,
    constant,
    one_hot,
    voted,
)

# Edges are weighted quantiles of at most this many rows, as in LightGBM.
_EDGE_SAMPLE = 200_000


def bin_edges(column: AnyArray, sample_weight: Floats, limit: Callable[[int], int] | int) -> Floats:
    """Upper edges of the bins, halfway between neighbouring values; NaN is left out."""
    # With no more distinct values than ``limit`` every value has its own bin, otherwise the bins
    # hold about equal shares of the sample weight.
    known = ~np.isnan(column)
    values, inverse = np.unique(column[known], return_inverse=True)
    values = values.astype(np.float64)
    if len(values) < 2:
        return np.empty(0)
    max_bins = limit if isinstance(limit, int) else limit(len(values))
    middles = 0.5 * (values[1:] + values[:-1])
    # Neighbours one rounding apart: the midpoint may round up to the larger value.
    middles = np.where(middles < values[1:], middles, values[:-1])
    if len(values) <= max_bins:
        return middles
    share = np.cumsum(np.bincount(inverse, sample_weight[known]))
    cuts = np.searchsorted(share, share[-1] * np.arange(1, max_bins) / max_bins)
    return np.asarray(middles[np.unique(np.minimum(cuts, len(middles) - 1))])


def bin_numbers(column: AnyArray, edges: Floats) -> Ints:
    """The bin of every value: the first edge that is not below it; NaN has a bin of its own."""
    bins = np.searchsorted(edges, column)
    bins[np.isnan(column)] = len(edges) + 1
    return bins


class BinnedRows:
    """A matrix of bin numbers, feature by feature, and histograms over it."""

    # ``limit`` is the largest number of bins of a feature, or a function that returns it for a
    # number of distinct values. The last bin of every feature holds its missing values.

    def __init__(self, rows: Rows, limit: Callable[[int], int] | int) -> None:
        X, n = rows.X, rows.X.shape[0]
        sample: Any = slice(None)
        if n > _EDGE_SAMPLE:
            sample = np.random.default_rng(rows.seed).choice(n, _EDGE_SAMPLE, replace=False)
        weight = rows.sample_weight[sample]
        self._pool = ThreadPoolExecutor(rows.n_threads) if rows.n_threads > 1 else None
        self.bins = np.empty((X.shape[1], n), dtype=np.uint8)

        def bin_feature(j: int) -> Floats:
            column = np.ascontiguousarray(X[:, j])
            edges = bin_edges(column[sample], weight, limit)
            self.bins[j] = bin_numbers(column, edges)
            return edges

        self.edges: list[Floats] = self._each_feature(bin_feature)
        self.n_bins = max(len(edges) for edges in self.edges) + 2

    def _each_feature(self, function: Any) -> list[Any]:
        features = range(len(self.bins))
        return list(self._pool.map(function, features) if self._pool else map(function, features))

    def histograms(self, aim: Aim) -> tuple[Floats, Floats]:
        """The criterion's two sums for every feature and bin, (features, bins) each."""
        first, second = aim.criterion.channels(aim.targets, aim.weights)
        sums = np.zeros((len(self.bins), self.n_bins, 2))
        self._each_feature(lambda j: histogram(self.bins[j], first, second, sums[j]))
        return np.ascontiguousarray(sums[:, :, 0]), np.ascontiguousarray(sums[:, :, 1])


# -- learners -------------------------------------------------------------------------------------


class _Steps(Learner):
    """A learner of step functions of one feature."""

    accepts_missing: ClassVar[bool] = True

    def ensemble(self, rules: Sequence[Any], votes: Floats) -> StepEnsemble:
        """The finished predictor, summed by feature."""
        return StepEnsemble(rules, votes)


@dataclass
class Stump(_Steps):
    """The best single threshold on a single feature, by the criterion of the aim.

    Thresholds lie halfway between neighbouring values; with more than ``max_bins`` distinct
    values, between neighbouring quantile bins. Missing values fall on the right side.

    Parameters
    ----------
    max_bins : int, default=255
        Largest number of bins of a feature.
    """

    max_bins: int = 255

    def prepare(self, rows: Rows) -> None:
        """Bin the rows."""
        # One of the 256 bin numbers is kept for missing values.
        self._binned = BinnedRows(rows, min(self.max_bins, 255))
        # (features, bins): bin b may be the last on the left side only if it has an upper edge.
        counts = np.array([len(edges) for edges in self._binned.edges])
        self._candidate = np.nonzero(np.arange(self._binned.n_bins) < counts[:, None])

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """The stump of smallest loss, of all thresholds of all features; ties go to the first."""
        if not len(self._candidate[0]):
            return constant(aim)
        sums = self._binned.histograms(aim)
        # Right sides are summed from the right: a difference of totals would leave rounding
        # noise where a side is empty of a class.
        feature, last = self._candidate
        left = tuple(np.cumsum(s, axis=1)[feature, last] for s in sums)
        right = tuple(np.cumsum(s[:, ::-1], axis=1)[:, ::-1][feature, last + 1] for s in sums)
        loss, left_output, right_output = aim.criterion.stump(
            (left[0], left[1]), (right[0], right[1])
        )
        best = _first_of_least(loss)
        j, b = int(feature[best]), int(last[best])
        left_value, right_value = float(left_output[best]), float(right_output[best])
        edge = self._binned.edges[j][b : b + 1]
        rule = StepRule(j, edge, np.array([left_value, right_value, right_value]))
        outputs = np.where(np.arange(self._binned.n_bins) <= b, left_value, right_value)
        return Fitted(rule, outputs[self._binned.bins[j]])


@dataclass
class Histogram(_Steps):
    """One output per bin of the best single feature, by the criterion of the aim.

    A feature gets one bin per 300 distinct values, but at least ``min_bins`` and at most
    ``max_bins`` (finer bins overfit within a few rounds); one with fewer distinct values gets one
    bin per value. Missing values have a bin of their own.

    Parameters
    ----------
    min_bins, max_bins : int, default=4 and 64
        Smallest and largest number of bins of a feature.
    """

    min_bins: int = 4
    max_bins: int = 64

    def prepare(self, rows: Rows) -> None:
        """Bin the rows."""
        most = min(self.max_bins, 255)
        self._binned = BinnedRows(rows, lambda n: int(np.clip(n // 300, self.min_bins, most)))

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """The histogram of smallest loss; ties go to the first."""
        first, second = self._binned.histograms(aim)
        best = _first_of_least(aim.criterion.loss(first, second).sum(axis=1))
        edges = self._binned.edges[best]
        used = slice(len(edges) + 2)
        outputs = aim.criterion.values(first[best, used], second[best, used])
        return Fitted(StepRule(best, edges, outputs), outputs[self._binned.bins[best]])


def _first_of_least(loss: Floats) -> int:
    """The first candidate of least loss; those within rounding of the least are equals."""
    least = float(loss.min())
    return int(np.argmax(loss <= least + 1e-12 * abs(least)))


# -- rules ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StepRule:
    """``outputs[b]`` where x[feature] lies in bin b; the last output is for missing values."""

    # Bin b reaches from ``edges[b - 1]`` (exclusive) to ``edges[b]`` (inclusive).

    feature: int
    edges: Floats  # (b,)
    outputs: Floats  # (b + 2,)

    def predict(self, X: AnyArray) -> Floats:
        """The outputs of the rule, (n,)."""
        return self.outputs[bin_numbers(X[:, self.feature], self.edges)]

    def importances(self, n_features: int) -> Floats:
        """The rule uses one feature, (d,)."""
        return one_hot(self.feature, n_features)


class StepEnsemble(Ensemble):
    """A sum of step functions: all rules on one feature are one step function."""

    def __init__(self, rules: Sequence[StepRule | ConstantRule], votes: Floats) -> None:
        super().__init__(rules, votes)
        self._constant = 0.0
        by_feature: dict[int, list[tuple[StepRule, Any]]] = {}
        for rule, vote in zip(rules, votes, strict=True):
            if isinstance(rule, ConstantRule):
                self._constant += float(voted(vote, np.array(rule.value)))
            else:
                by_feature.setdefault(rule.feature, []).append((rule, vote))
        self._sums = []
        for feature, parts in sorted(by_feature.items()):
            edges = np.unique(np.concatenate([rule.edges for rule, _ in parts]))
            outputs = np.zeros(len(edges) + 2)
            for rule, vote in parts:
                bins, last = np.searchsorted(rule.edges, edges), len(rule.edges)
                outputs += voted(vote, rule.outputs)[np.append(bins, [last, last + 1])]
            self._sums.append(StepRule(feature, edges, outputs))

    def decision_function(self, X: AnyArray) -> Floats:
        """F after the last round: one table look-up per feature in use."""
        F = np.full(X.shape[0], self._constant)
        for rule in self._sums:
            F += rule.predict(X)
        return F
