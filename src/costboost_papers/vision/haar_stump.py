"""Stumps on Haar-like features: all features of a window, one byte each in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.boosting.loop import History, Scheme, advance
from costboost.learners.base import (
    Aim,
    Ensemble,
    Fitted,
    JointVotes,
    Learner,
    Rows,
    Votes,
    constant,
    voted,
)
from costboost_papers.vision._kernels import LANES, compiled
from costboost_papers.vision.features import HaarFeatures, Windows, integral

# --- haar_stump ----------------------------------------------------------------------------------

# Features searched at a time by a thread.
_BLOCK = 1024
# Values of a feature that set its thresholds.
_EDGE_SAMPLE = 1024
# Grid of the lower bound of the joint search; dense at both ends, where the loss is steep.
_KNOTS = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, 65))
_GUIDE = np.searchsorted(_KNOTS, np.linspace(0.0, 1.0, 4097), side="right").clip(1, 64) - 1
# The loss of no stump at all: finite, so that differences are numbers.
_NONE = 1e300


@dataclass(frozen=True)
class HaarRule:
    """A stump: ``low`` where the feature is at most ``edge``, else ``high``."""

    features: HaarFeatures
    feature: int
    edge: float
    low: float
    high: float

    def predict(self, X: AnyArray) -> Floats:
        """The outputs of the rule on flat windows, (n,)."""
        values = self.features.compute(_windows(self.features, X), np.array([self.feature]))[:, 0]
        return self.of_values(values)

    def of_values(self, values: Floats) -> Floats:
        """The outputs where the feature has these values, (n,)."""
        return np.where(values <= self.edge, self.low, self.high)

    def importances(self, n_features: int) -> Floats:
        """Which pixels the rule looks at: the rectangles of its feature, in equal shares, (d,)."""
        inside = self.features.mask(self.feature).ravel()
        return np.asarray(inside / inside.sum())


@dataclass
class HaarStump(Learner):
    """The best threshold on a Haar-like feature, for windows that come as flat pixels."""

    # Any binary classifier of the library takes it as ``estimator``. The features are computed
    # once, when the classifier is fitted, and kept as bin numbers, one byte each: 63,960 features
    # of 5,000 windows of 19 by 19 pixels are 320 MB. For `CSAdaBoostClassifier` the stump and its
    # step are chosen together, over all features and thresholds.

    shape: tuple[int, int]
    max_features: int | None = None
    max_bins: int = 32
    normalize: bool = True

    def prepare(self, rows: Rows) -> None:
        """Compute and bin the features of the windows."""
        h, w = self.shape
        if rows.X.shape[1] != h * w:
            raise ValueError(
                f"X of a classifier with {type(self).__name__}(shape={self.shape}) must have "
                f"{h * w} columns, the pixels of a window; got {rows.X.shape[1]}."
            )
        if not 2 <= self.max_bins <= 255:
            raise ValueError(
                f"The 'max_bins' parameter of {type(self).__name__} must be an integer from 2 to "
                f"255. Got {self.max_bins!r} instead."
            )
        features = HaarFeatures(
            max_features=self.max_features, normalize=self.normalize, random_state=rows.seed
        ).fit(np.zeros((1, h, w)))
        self.features = features
        self._pool = ThreadPoolExecutor(rows.n_threads) if rows.n_threads > 1 else None
        self.bins, self._edges, self._n_edges = self._binned(rows.X, self.max_bins)
        self._targets: Floats | None = None  # those by which the rows are sorted now
        self._order = np.arange(rows.X.shape[0])
        self._n_positive = 0

    def _binned(self, X: AnyArray, max_bins: int) -> tuple[AnyArray, Floats, Ints]:
        """Bin numbers (features, n), upper edges (features, bins - 1), and how many there are."""
        h, w = self.features.shape_
        pixels = np.asarray(X, dtype=np.float64).reshape(-1, h, w)
        if self.features.normalize:
            means, scales = Windows.of_stack(pixels).normalisers()
            pixels = (pixels - means[:, None, None]) * scales[:, None, None]
        n, d = len(pixels), self.features.n_features_out_
        sums = np.ascontiguousarray(integral(pixels).reshape(n, -1).T)
        places = self.features._points @ np.array([w + 1, 1])
        weights, counts = self.features._weights, self.features._counts
        bins = np.empty((d, n), dtype=np.uint8)
        edges, n_edges = np.full((d, max_bins - 1), np.inf), np.zeros(d, dtype=np.intp)
        stride = max(n // _EDGE_SAMPLE, 1)

        def bin_block(part: slice) -> None:
            compiled()["bin_features"](
                sums, places[part], weights[part], counts[part], stride, bins[part], edges[part],
                n_edges[part],
            )  # fmt: skip

        self._each_block(bin_block, d)
        return bins, edges, n_edges

    def _each_block(self, function: Any, d: int) -> list[Any]:
        blocks = [slice(start, min(start + _BLOCK, d)) for start in range(0, d, _BLOCK)]
        return list(self._pool.map(function, blocks) if self._pool else map(function, blocks))

    # -- search ---------------------------------------------------------------------------------

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """The stump of smallest loss."""
        return self.fit_many([aim])[0]

    def fit_many(self, aims: Sequence[Aim]) -> list[Fitted]:
        """The stump of each aim; all aims have the same targets in {-1, +1}."""
        # Several aims share one pass over the bins, in single precision.
        targets = aims[0].targets
        for aim in aims:
            if type(aim.criterion) not in (Votes, JointVotes):
                raise ValueError(
                    "HaarStump serves algorithms whose rules vote -1 or +1; "
                    f"{type(aim.criterion).__name__} asks for real outputs. Use HaarFeatures and "
                    "another learner."
                )
            if aim.targets is not targets and not np.array_equal(aim.targets, targets):
                raise ValueError("aims of fit_many must have the same targets.")
        self._sort_rows(targets)
        places, signs = self._search(aims)
        return [
            self._fitted(aim, int(feature), int(last), float(sign))
            for aim, (feature, last), sign in zip(aims, places, signs, strict=True)
        ]

    def _fitted(self, aim: Aim, feature: int, last: int, sign: float) -> Fitted:
        if feature < 0:  # no feature has a threshold
            return constant(aim)
        rule = HaarRule(self.features, feature, float(self._edges[feature, last]), -sign, sign)
        outputs = np.empty(len(aim.targets))
        outputs[self._order] = np.where(self.bins[feature] <= last, -sign, sign)
        return Fitted(rule, outputs)

    def _sort_rows(self, targets: Floats) -> None:
        """Positives first, so that a row adds to one sum."""
        if self._targets is not None and np.array_equal(targets, self._targets):
            return
        order = np.argsort(targets <= 0, kind="stable")
        where = np.empty_like(self._order)
        where[self._order] = np.arange(len(order))
        move = where[order]
        self._each_block(lambda part: self._reorder(part, move), len(self.bins))
        self._order, self._targets = order, targets.copy()
        self._n_positive = int((targets > 0).sum())

    def _reorder(self, part: slice, move: Ints) -> None:
        self.bins[part] = self.bins[part][:, move]

    def _search(self, aims: Sequence[Aim]) -> tuple[Ints, Floats]:
        """(Feature, bin) and sign of the best stump of every aim."""
        n, n_positive, many = len(self._order), self._n_positive, len(aims)
        # Aims of one kind side by side; the kernel searches by votes first.
        lanes = np.argsort([isinstance(aim.criterion, JointVotes) for aim in aims], kind="stable")
        weights = np.empty((n, many))
        ratios = np.ones((many, 2))
        n_votes = 0
        for k, lane in enumerate(lanes):
            aim = aims[lane]
            weights[:, k] = aim.weights[self._order] / aim.weights.sum()
            if isinstance(aim.criterion, JointVotes):
                costs = np.array([aim.criterion.C1, aim.criterion.C2])
                ratios[k] = costs / costs.max()
            else:
                n_votes += 1
        totals = np.column_stack(
            [weights[:n_positive].sum(axis=0), weights[n_positive:].sum(axis=0)]
        )
        totals = np.maximum(totals, np.finfo(float).tiny)
        tables = np.zeros((many, len(_KNOTS), len(_KNOTS)))
        for k in range(n_votes, many):
            compiled()["bound_table"](_KNOTS, *totals[k], *ratios[k], tables[k])
        side_by_side = _in_lanes(weights)

        def search_block(part: slice) -> tuple[Floats, Ints, Floats]:
            found = np.full(many, _NONE), np.full((many, 2), -1), np.ones(many)
            compiled()["search"](
                self.bins[part], self._n_edges[part], part.start, side_by_side, n_positive,
                totals, n_votes, ratios, _KNOTS, _GUIDE, tables, *found,
            )  # fmt: skip
            return found

        losses, places, signs = np.full(many, _NONE), np.full((many, 2), -1), np.ones(many)
        for loss, place, sign in self._each_block(search_block, len(self.bins)):
            better = loss < losses - 1e-12 * losses
            losses[better], places[better], signs[better] = (
                loss[better],
                place[better],
                sign[better],
            )
        back = np.argsort(lanes)
        return places[back], signs[back]

    def ensemble(self, rules: Sequence[Any], votes: Floats) -> HaarEnsemble:
        """The finished predictor."""
        return HaarEnsemble(rules, votes)


class HaarEnsemble(Ensemble):
    """A sum of stumps on Haar features; integral images are computed once."""

    def outputs(self, X: AnyArray) -> Iterator[Floats]:
        """The outputs of every rule in turn."""
        rules = [rule for rule in self.rules if isinstance(rule, HaarRule)]
        if not rules:
            return super().outputs(X)
        return self._outputs_of(_windows(rules[0].features, X))

    def staged_of(self, windows: Windows) -> Iterator[Floats]:
        """F after each round for windows that lie in larger images, (n,) each."""
        F: Any = 0.0
        for vote, outputs in zip(self.votes, self._outputs_of(windows), strict=True):
            F = F + voted(vote, outputs)
            yield F

    def _outputs_of(self, windows: Windows) -> Iterator[Floats]:
        rules = [rule for rule in self.rules if isinstance(rule, HaarRule)]
        columns = np.array([rule.feature for rule in rules], dtype=np.intp)
        values = rules[0].features.compute(windows, columns).T if rules else ()
        found = iter(values)
        for rule in self.rules:
            if isinstance(rule, HaarRule):
                yield rule.of_values(next(found))
            else:
                yield np.full(len(windows), rule.value)


def _in_lanes(weights: Floats) -> AnyArray:
    """Weights (n, m) as the kernel takes them: one in double precision, several in single."""
    n, many = weights.shape
    if many == 1:
        return weights
    padded = np.zeros((n, -(-many // LANES) * LANES), dtype=np.float32)
    padded[:, :many] = weights
    return padded


def _windows(features: HaarFeatures, X: AnyArray) -> Windows:
    h, w = features.shape_
    return Windows.of_stack(np.asarray(X).reshape(-1, h, w))


# --- together ------------------------------------------------------------------------------------


def boost_together(schemes: Sequence[Scheme], learner: HaarStump, n_rounds: int) -> list[History]:
    """Run several algorithms on the same windows and labels."""
    # Each goes its own way, as it would alone; only the search over the features is shared.
    histories = [History() for _ in schemes]
    active = list(range(len(schemes)))
    for number in range(1, n_rounds + 1):
        aims = {}
        for k in active:
            aim = schemes[k].aim()
            if aim is None:
                histories[k].stop = "every row is fitted"
            else:
                aims[k] = aim
        if not aims:
            break
        fitted = learner.fit_many(list(aims.values()))
        active = [
            k
            for k, found in zip(aims, fitted, strict=True)
            if advance(schemes[k], found, histories[k], number)
        ]
    return histories
