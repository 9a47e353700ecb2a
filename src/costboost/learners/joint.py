"""One tree over the pairs of rows and classes, as Lozano and Abe (2008, Figure 1) print it.

The class is one more feature, a categorical one. `costboost.learners.pairs` grows a tree per class
instead, which is the default of the algorithms and usually needs fewer rounds.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from costboost._typing import AnyArray, Bools, Floats, Ints
from costboost.learners._binning import BinnedRows
from costboost.learners._joint import find_split, smallest_gain
from costboost.learners.base import Aim, BoundLearner, Fitted, Learner, Rows

__all__ = ["BoundJointTree", "JointRule", "JointTree"]


@dataclass(frozen=True)
class JointTree(Learner):
    r"""One tree over all pairs (x, y) of rows and classes, for relations h(x, y) in {0, 1}.

    The class y is a categorical feature beside those of x. Splits are binary and chosen best
    first by the weighted least-squares gain (for two labels, Gini's), among thresholds on numbers
    and subsets of categories or classes; missing values go to the side that gains more. A leaf
    claims its pairs where label 1 has the larger weight.

    The weights of a row's pairs balance (the right class against all wrong ones), so no split by
    a feature of x gains anything before the class is split. Where the class gains nothing either
    (balanced classes with equal costs), the class of most weight is split off, after all splits
    that gain something; a greedy tree could not go on otherwise.

    For algorithms on pairs only: ``LpCSBClassifier(estimator=JointTree(max_leaves=16))``, its
    relatives `AverageCostClassifier` and `GBSEClassifier`, and the family of AdaBoost.M2.

    Parameters
    ----------
    max_leaves : int, default=16
        Largest number of leaves, of all classes together.
    min_pairs : int, default=1
        Smallest number of pairs with weight in a leaf, at least 1; C4.5 uses 2.
    max_bins : int, default=255
        Largest number of bins of a feature; above 254 it counts as 254.
    """

    max_leaves: int = 16
    min_pairs: int = 1
    max_bins: int = 255

    accepts_missing: ClassVar[bool] = True
    accepts_categories: ClassVar[bool] = True

    def bind(self, rows: Rows) -> BoundLearner:
        """Refuse: this learner needs pairs."""
        raise ValueError(
            "JointTree learns relations between rows and classes, which this algorithm does not "
            "use. Choose estimator='tree', or LpCSBClassifier or a member of the AdaBoost.M2 "
            "family."
        )

    def bind_pairs(self, rows: Rows, k: int) -> BoundJointTree:
        """Bin the rows.

        Parameters
        ----------
        rows : Rows
            The training rows.
        k : int
            Number of classes, or of decisions.

        Returns
        -------
        BoundJointTree
            The learner on these rows; aims and outputs are (n, k).
        """
        return BoundJointTree(self, rows, k)


@dataclass(frozen=True, eq=False)
class JointRule:
    """A tree over pairs, as a table of nodes; children come after their parent.

    ``feature`` is -1 in a leaf, d where the class is asked. ``threshold`` is used by numbers:
    ``x <= threshold`` goes to the left. Categories and classes go to the left if ``subsets``, at
    the place ``subset``, has them. Missing values go where ``missing_left`` says.
    """

    feature: Ints  # (nodes,)
    threshold: Floats  # (nodes,)
    subset: Ints  # (nodes,) -1 where a threshold is asked
    missing_left: Bools  # (nodes,)
    left: Ints  # (nodes,)
    right: Ints  # (nodes,)
    claim: Floats  # (nodes,) h of a leaf
    gain: Floats  # (nodes,)
    subsets: Bools  # (subsets, categories)
    n_features: int
    k: int

    def predict(self, X: AnyArray) -> Floats:
        """The relation h(x, y) in {0, 1} of every pair, (n, k)."""
        h = np.empty((X.shape[0], self.k))
        waiting = [(0, np.arange(X.shape[0]), np.arange(self.k))]
        while waiting:
            node, rows, classes = waiting.pop()
            if not len(rows) or not len(classes):
                continue
            feature = int(self.feature[node])
            if feature < 0:
                h[np.ix_(rows, classes)] = self.claim[node]
                continue
            left, right = int(self.left[node]), int(self.right[node])
            if feature == self.n_features:
                goes_left = self.subsets[self.subset[node], classes]
                waiting += [(left, rows, classes[goes_left]), (right, rows, classes[~goes_left])]
            else:
                goes_left = self._goes_left(node, X[rows, feature])
                waiting += [(left, rows[goes_left], classes), (right, rows[~goes_left], classes)]
        return h

    def _goes_left(self, node: int, x: AnyArray) -> Bools:
        missing = np.isnan(x)
        if self.subset[node] < 0:
            goes_left = x <= self.threshold[node]
        else:
            known = self.subsets[self.subset[node]]
            codes = np.where(missing | (x < 0) | (x >= len(known)), 0, x).astype(np.intp)
            goes_left = known[codes] & (x >= 0) & (x < len(known))
        return np.asarray(np.where(missing, self.missing_left[node], goes_left), dtype=bool)

    def importances(self, n_features: int) -> Floats:
        """The share of each feature in the gain of the splits by features, (d,)."""
        asked = (self.feature >= 0) & (self.feature < n_features)
        gain = np.bincount(self.feature[asked], self.gain[asked], minlength=n_features)
        return np.asarray(gain / gain.sum() if gain.sum() > 0 else gain, dtype=np.float64)


class Split(NamedTuple):
    """What a node asks: a feature, or d for the class; and which bins or classes go left."""

    gain: float
    feature: int
    on_left: Bools


class Node(NamedTuple):
    """A product of rows and classes on its way to be split, or to be a leaf."""

    rows: Ints
    classes: Ints
    score: float  # G: positive where label 1 has the larger weight
    weight: float  # H
    split: Split


class BoundJointTree(BoundLearner):
    """Grows a tree per call of `fit`; aims and outputs are (n, k)."""

    def __init__(self, spec: JointTree, rows: Rows, k: int) -> None:
        self._spec, self._k = spec, k
        binned = BinnedRows(rows, min(spec.max_bins, 254))
        self._bins, self._edges = binned.bins, binned.edges
        d = len(self._edges)
        self._n_bins = np.array([len(edges) + 2 for edges in self._edges], dtype=np.intp)
        self._is_categorical = np.zeros(d, dtype=bool)
        self._is_categorical[list(rows.categorical)] = True
        # Codes of categories, by column, for the subsets of finished rules.
        self._n_codes = [
            int(np.nanmax(rows.X[:, j], initial=0)) + 1 if self._is_categorical[j] else 0
            for j in range(d)
        ]
        self._width = max([k, *self._n_codes])

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """The tree, with the relation on all pairs."""
        W = np.ascontiguousarray(aim.weights)
        S = aim.targets * W
        growth = Growth(self._width)
        outputs = np.empty((len(W), self._k))
        everything = np.arange(len(W)), np.arange(self._k)
        root = self._node(*everything, S, W)
        waiting = [(-root.split.gain, 0, root)]
        growth.add()
        n_leaves = 1
        while waiting:
            _, place, node = heapq.heappop(waiting)
            if node.split.feature < 0 or n_leaves == self._spec.max_leaves:
                growth.claim[place] = self._claim(node)
                outputs[np.ix_(node.rows, node.classes)] = growth.claim[place]
                continue
            n_leaves += 1
            self._write(growth, place, node.split)
            for side, part in zip(("left", "right"), self._parts(node), strict=True):
                child = self._node(*part, S, W)
                number = growth.add()
                getattr(growth, side)[place] = number
                heapq.heappush(waiting, (-child.split.gain, number, child))
        return Fitted(growth.rule(len(self._edges), self._k), outputs)

    def _claim(self, node: Node) -> float:
        # As `costboost.learners.criteria.Votes`; where nothing is at stake, nothing is claimed.
        return float(node.weight > 0 and node.score >= -1e-12 * node.weight)

    def _node(self, rows: Ints, classes: Ints, S: Floats, W: Floats) -> Node:
        on_left = np.zeros(max(256, self._k), dtype=bool)
        sums = np.zeros((self._k, 3))
        gain, feature = find_split(
            rows,
            classes,
            S,
            W,
            self._bins,
            self._n_bins,
            self._is_categorical,
            float(self._spec.min_pairs),
            smallest_gain,
            on_left,
            sums,
        )
        score, weight, pairs = sums.sum(axis=0)
        if feature < 0 and abs(score) < (1.0 - 1e-12) * weight:  # see JointTree
            heaviest = int(np.argmax(np.round(sums[:, 1], 12)))
            if min(sums[heaviest, 2], pairs - sums[heaviest, 2]) >= self._spec.min_pairs:
                gain, feature = 0.0, len(self._edges)
                on_left[:] = False
                on_left[heaviest] = True
        split = Split(float(gain), int(feature), on_left)
        return Node(rows, classes, float(score), float(weight), split)

    def _parts(self, node: Node) -> Iterator[tuple[Ints, Ints]]:
        """Rows and classes of the two sides."""
        _, feature, on_left = node.split
        if feature == len(self._edges):
            goes_left = on_left[node.classes]
            yield node.rows, node.classes[goes_left]
            yield node.rows, node.classes[~goes_left]
            return
        goes_left = on_left[self._bins[feature][node.rows]]
        yield node.rows[goes_left], node.classes
        yield node.rows[~goes_left], node.classes

    def _write(self, growth: Growth, place: int, split: Split) -> None:
        """The split as a rule asks it, by values in place of bins."""
        gain, feature, on_left = split
        growth.feature[place], growth.gain[place] = feature, gain
        if feature == len(self._edges):
            growth.ask_subset(place, np.flatnonzero(on_left[: self._k]))
            return
        edges = self._edges[feature]
        growth.missing_left[place] = bool(on_left[len(edges) + 1])
        if self._is_categorical[feature]:
            codes = np.arange(self._n_codes[feature])
            growth.ask_subset(place, codes[on_left[np.searchsorted(edges, codes)]])
        else:
            last = int(np.flatnonzero(on_left[: len(edges) + 1])[-1])
            growth.threshold[place] = edges[last] if last < len(edges) else np.inf


class Growth:
    """The table of a `JointRule` while it grows."""

    def __init__(self, width: int) -> None:
        self._width = width
        self.feature: list[int] = []
        self.threshold: list[float] = []
        self.subset: list[int] = []
        self.missing_left: list[bool] = []
        self.left: list[int] = []
        self.right: list[int] = []
        self.claim: list[float] = []
        self.gain: list[float] = []
        self._subsets: list[Bools] = []

    def add(self) -> int:
        """A new node, a leaf so far; its number."""
        for column, value in (
            (self.feature, -1),
            (self.subset, -1),
            (self.left, -1),
            (self.right, -1),
        ):
            column.append(value)
        for numbers in (self.threshold, self.claim, self.gain):
            numbers.append(0.0)
        self.missing_left.append(False)
        return len(self.feature) - 1

    def ask_subset(self, place: int, members: Ints) -> None:
        """Send these categories or classes to the left."""
        row = np.zeros(self._width, dtype=bool)
        row[members] = True
        self.subset[place] = len(self._subsets)
        self._subsets.append(row)

    def rule(self, n_features: int, k: int) -> JointRule:
        """The finished rule."""
        return JointRule(
            np.array(self.feature, dtype=np.intp),
            np.array(self.threshold),
            np.array(self.subset, dtype=np.intp),
            np.array(self.missing_left, dtype=bool),
            np.array(self.left, dtype=np.intp),
            np.array(self.right, dtype=np.intp),
            np.array(self.claim),
            np.array(self.gain),
            np.array(self._subsets, dtype=bool).reshape(-1, self._width),
            n_features,
            k,
        )
