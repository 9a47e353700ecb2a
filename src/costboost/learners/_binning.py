"""Features cut into at most 255 bins, once per fit, for stumps, histograms and joint trees."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost.learners import _kernels
from costboost.learners.base import Aim, Rows

__all__ = ["BinnedRows"]

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
            _kernels.assign_bins(column, edges, self.bins[j])
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
        self._each_feature(lambda j: _kernels.histograms(self.bins[j], first, second, sums[j]))
        return np.ascontiguousarray(sums[:, :, 0]), np.ascontiguousarray(sums[:, :, 1])
