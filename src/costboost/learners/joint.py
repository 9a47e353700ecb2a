"""One tree over the pairs of rows and classes, as Lozano and Abe (2008, Figure 1) print it.

The class is one more feature, a categorical one. `costboost.learners.ensembles` grows a tree per
class instead, which is the default of the algorithms and usually needs fewer rounds.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from costboost._typing import AnyArray, Bools, Floats, Ints
from costboost.learners._kernels import find_split
from costboost.learners.base import Aim, Fitted, PairLearner, Rows
from costboost.learners.steps import BinnedRows


@dataclass
class JointTree(PairLearner):
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

    def prepare(self, rows: Rows) -> None:
        """Bin the rows."""
        binned = BinnedRows(rows, min(self.max_bins, 254))
        self._k, self._bins, self._edges = rows.k, binned.bins, binned.edges
        d = len(binned.edges)
        self._n_bins = np.array([len(edges) + 2 for edges in binned.edges], dtype=np.intp)
        self._is_categorical = np.zeros(d, dtype=bool)
        self._is_categorical[list(rows.categorical)] = True
        # Codes of categories, by column, for the subsets of finished rules.
        self._n_codes = [
            int(np.nanmax(rows.X[:, j], initial=0)) + 1 if self._is_categorical[j] else 0
            for j in range(d)
        ]

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """The tree, with the relation on all pairs."""
        W = np.ascontiguousarray(aim.weights)
        S = aim.targets * W
        outputs = np.empty((len(W), self._k))
        # A node is a product of rows and classes on its way to be split, or to be a leaf; its place
        # in the table breaks ties. The largest gain is split next.
        root = self._found(np.arange(len(W)), np.arange(self._k), S, W)
        waiting = [(-root[0], 0, root)]
        # Rows of the table of a `JointRule`: feature, threshold, subset, missing_left, left, right,
        # claim, gain.
        table: list[tuple[Any, ...]] = [()]
        subsets: list[Bools] = []
        n_leaves = 1
        while waiting:
            _, place, (gain, feature, on_left, claim, rows, classes) = heapq.heappop(waiting)
            if feature < 0 or n_leaves == self.max_leaves:
                table[place] = (-1, 0.0, -1, False, -1, -1, claim, 0.0)
                outputs[np.ix_(rows, classes)] = claim
                continue
            n_leaves += 1
            question = self._question(feature, on_left, subsets)
            table[place] = (feature, *question, len(table), len(table) + 1, 0.0, gain)
            if feature == len(self._edges):
                goes_left = on_left[classes]
                parts = (rows, classes[goes_left]), (rows, classes[~goes_left])
            else:
                goes_left = on_left[self._bins[feature][rows]]
                parts = (rows[goes_left], classes), (rows[~goes_left], classes)
            for part in parts:
                child = self._found(*part, S, W)
                heapq.heappush(waiting, (-child[0], len(table), child))
                table.append(())
        width = max([self._k, *self._n_codes])
        known = np.array(subsets, dtype=bool).reshape(-1, width)
        columns = [np.array(column) for column in zip(*table, strict=True)]
        parts_of_rule: list[Any] = [*columns, known, len(self._edges), self._k]
        return Fitted(JointRule(*parts_of_rule), outputs)

    def _found(
        self, rows: Ints, classes: Ints, S: Floats, W: Floats
    ) -> tuple[float, int, Bools, float, Ints, Ints]:
        """Gain, feature (d: the class, -1: a leaf) and left side of a node's split; its claim."""
        on_left = np.zeros(max(256, self._k), dtype=bool)
        sums = np.zeros((self._k, 3))
        rules = self._bins, self._n_bins, self._is_categorical, float(self.min_pairs)
        gain, feature = find_split(rows, classes, S, W, *rules, on_left, sums)
        score, weight, pairs = sums.sum(axis=0)  # score: positive where label 1 weighs more
        if feature < 0 and abs(score) < (1.0 - 1e-12) * weight:  # see JointTree
            heaviest = int(np.argmax(np.round(sums[:, 1], 12)))
            if min(sums[heaviest, 2], pairs - sums[heaviest, 2]) >= self.min_pairs:
                gain, feature = 0.0, len(self._edges)
                on_left[:] = False
                on_left[heaviest] = True
        # As `costboost.learners.Votes`; where no pair has weight, nothing is claimed.
        claim = float(weight > 0 and score >= -1e-12 * weight)
        return float(gain), int(feature), on_left, claim, rows, classes

    def _question(
        self, feature: int, on_left: Bools, subsets: list[Bools]
    ) -> tuple[float, int, bool]:
        """Threshold, subset and side of missing values of a split, by values in place of bins."""
        is_left = False
        members = np.flatnonzero(on_left[: self._k])
        if feature < len(self._edges):
            edges = self._edges[feature]
            is_left = bool(on_left[len(edges) + 1])
            if not self._is_categorical[feature]:
                last = int(np.flatnonzero(on_left[: len(edges) + 1])[-1])
                return float(edges[last]) if last < len(edges) else np.inf, -1, is_left
            codes = np.arange(self._n_codes[feature])
            members = codes[on_left[np.searchsorted(edges, codes)]]
        subset = np.zeros(max([self._k, *self._n_codes]), dtype=bool)
        subset[members] = True
        subsets.append(subset)
        return 0.0, len(subsets) - 1, is_left


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
