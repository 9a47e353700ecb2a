"""Stumps on Haar-like features: all features of a window, one byte each in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.boosting import Scheme
from costboost.boosting.loop import History, advance
from costboost.learners import Aim, Ensemble, Fitted, Learner, Rows
from costboost.learners.base import JointVotes, Votes, constant
from costboost_papers.vision import _kernels as kernels
from costboost_papers.vision.features import HaarFeatures, Windows, integral

# Values of a feature that set its thresholds.
_EDGE_SAMPLE = 1024
# Grid of the lower bound of the joint search; dense at both ends, where the loss is steep.
_KNOTS = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, 65))
_GUIDE = np.searchsorted(_KNOTS, np.linspace(0.0, 1.0, 4097), side="right").clip(1, 64) - 1
# The loss of no stump at all: finite, so that differences are numbers.
_NONE = 1e300
# Several weights are summed side by side by vector instructions, in multiples of this.
_LANES = 8


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
        return next(HaarEnsemble([self], np.ones(1)).outputs(X))

    def importances(self, n_features: int) -> Floats:
        """Which pixels the rule looks at: the rectangles of its feature, in equal shares, (d,)."""
        inside = np.zeros(self.features.shape_)
        for r0, c0, r1, c1 in self.features.rectangles_[self.feature]:
            inside[r0:r1, c0:c1] = 1.0
        return np.asarray(inside.ravel() / inside.sum())


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
        pixels = np.asarray(rows.X, dtype=np.float64).reshape(-1, h, w)
        means, scales = Windows.of_stack(pixels).normalisers()
        pixels = (pixels - means[:, None, None]) * scales[:, None, None]
        features = HaarFeatures(self.max_features, random_state=rows.seed).fit(pixels)
        n, d = len(pixels), len(features.counts_)
        self.features = features
        self.bins = np.empty((d, n), dtype=np.uint8)
        self.edges, self.n_edges = np.full((d, self.max_bins - 1), np.inf), np.zeros(d, np.intp)
        kernels.bin_features(
            np.ascontiguousarray(integral(pixels).reshape(n, -1).T),
            features.points_ @ np.array([w + 1, 1]),
            features.weights_,
            features.counts_,
            max(n // _EDGE_SAMPLE, 1),
            self.bins,
            self.edges,
            self.n_edges,
        )
        self._positive = np.ones(n, dtype=bool)  # the rows are sorted by this: positives first
        self._order = np.arange(n)

    # -- search ---------------------------------------------------------------------------------

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """The stump of smallest loss."""
        return self.fit_many([aim])[0]

    def fit_many(self, aims: Sequence[Aim]) -> list[Fitted]:
        """The stump of each aim; all aims have the same targets in {-1, +1}."""
        # Several aims share one pass over the bins, in single precision.
        for aim in aims:
            if type(aim.criterion) not in (Votes, JointVotes):
                raise ValueError(
                    "HaarStump serves algorithms whose rules vote -1 or +1; "
                    f"{type(aim.criterion).__name__} asks for real outputs. Use HaarFeatures and "
                    "another learner."
                )
        self._sort_rows(aims[0].targets > 0)
        places, signs = self._search(aims)
        return [
            self._fitted(aim, int(feature), int(last), float(sign))
            for aim, (feature, last), sign in zip(aims, places, signs, strict=True)
        ]

    def _fitted(self, aim: Aim, feature: int, last: int, sign: float) -> Fitted:
        if feature < 0:  # no feature has a threshold
            return constant(aim)
        rule = HaarRule(self.features, feature, float(self.edges[feature, last]), -sign, sign)
        outputs = np.empty(len(aim.targets))
        outputs[self._order] = np.where(self.bins[feature] <= last, -sign, sign)
        return Fitted(rule, outputs)

    def _sort_rows(self, positive: AnyArray) -> None:
        """Positives first, so that a row adds to one sum."""
        if np.array_equal(positive, self._positive):
            return
        order = np.argsort(~positive, kind="stable")
        move = np.argsort(self._order)[order]
        for row in self.bins:  # one by one: a copy of all would be large
            row[:] = row[move]
        self._order, self._positive = order, positive

    def _search(self, aims: Sequence[Aim]) -> tuple[Ints, Floats]:
        """(Feature, bin) and sign of the best stump of every aim."""
        n_positive, many = int(self._positive.sum()), len(aims)
        # Aims of one kind side by side; the kernel searches by votes first.
        joint = np.array([isinstance(aim.criterion, JointVotes) for aim in aims])
        lanes = np.argsort(joint, kind="stable")
        n_votes = many - int(joint.sum())
        weights, ratios = np.empty((len(self._order), many)), np.ones((many, 2))
        for k, aim in enumerate(aims[lane] for lane in lanes):
            weights[:, k] = aim.weights[self._order] / aim.weights.sum()
            if isinstance(aim.criterion, JointVotes):
                ratios[k] = aim.criterion.C1, aim.criterion.C2
        ratios /= ratios.max(axis=1, keepdims=True)
        totals = np.column_stack(
            [weights[:n_positive].sum(axis=0), weights[n_positive:].sum(axis=0)]
        )
        totals = np.maximum(totals, np.finfo(float).tiny)
        tables = np.zeros((many, len(_KNOTS), len(_KNOTS)))
        for k in range(n_votes, many):
            kernels.bound_table(_KNOTS, *totals[k], *ratios[k], tables[k])
        if many > 1:
            idle = np.zeros((len(weights), -many % _LANES))
            weights = np.column_stack([weights, idle]).astype(np.float32)
        losses, places, signs = np.full(many, _NONE), np.full((many, 2), -1), np.ones(many)
        kernels.search(
            self.bins, self.n_edges, weights, n_positive, totals, n_votes, ratios, _KNOTS, _GUIDE,
            tables, losses, places, signs,
        )  # fmt: skip
        back = np.argsort(lanes)
        return places[back], signs[back]

    def ensemble(self, rules: Sequence[Any], votes: Floats) -> HaarEnsemble:
        """The finished predictor."""
        return HaarEnsemble(rules, votes)


class HaarEnsemble(Ensemble):
    """A sum of stumps on Haar features; integral images are computed once."""

    def outputs(self, X: AnyArray) -> Iterator[Floats]:
        """The outputs of every rule in turn."""
        stumps = [rule for rule in self.rules if isinstance(rule, HaarRule)]
        values: Iterator[Floats] = iter(())
        if stumps:
            windows = Windows.of_stack(np.asarray(X).reshape(-1, *stumps[0].features.shape_))
            columns = np.array([rule.feature for rule in stumps])
            values = iter(stumps[0].features.compute(windows, columns).T)
        for rule in self.rules:
            if isinstance(rule, HaarRule):
                yield np.where(next(values) <= rule.edge, rule.low, rule.high)
            else:
                yield rule.predict(X)


# --- together ------------------------------------------------------------------------------------


def boost_together(schemes: Sequence[Scheme], learner: HaarStump, n_rounds: int) -> list[History]:
    """Run several algorithms on the same windows and labels."""
    # Each goes its own way, as it would alone; only the search over the features is shared.
    histories = [History() for _ in schemes]
    active = list(range(len(schemes)))
    for number in range(1, n_rounds + 1):
        aims = {k: aim for k in active if (aim := schemes[k].aim()) is not None}
        for k in set(active) - set(aims):
            histories[k].stop = "every row is fitted"
        if not aims:
            break
        fitted = learner.fit_many(list(aims.values()))
        active = [
            k
            for k, found in zip(aims, fitted, strict=True)
            if advance(schemes[k], found, histories[k], number)
        ]
    return histories
