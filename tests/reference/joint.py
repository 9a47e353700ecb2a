"""One tree over the expanded set of pairs, grown by looking at every split (paper 1, Figure 1).

A learner for `reference.pnorm`: it sees the features ``[X_i, one-hot(y)]`` of all pairs. Splits
ask whether a number is at most the middle between two neighbouring values of the whole training
set, or whether the class is in a subset. All subsets are tried, unless leaves must have several
pairs: then only those that begin the order of the classes by their mean label, because no other
one is better by itself. Where nothing gains, the heaviest class is split off. Of equal gains the
first one is kept; subsets come first, then features in their order, then small thresholds.
"""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np

__all__ = ["PlainJointTree"]

ENOUGH = 1e-12  # what a split must gain, of weights that sum to 1


class PlainJointTree:
    """Best-first growth to ``max_leaves`` leaves of ``min_pairs`` pairs with weight or more."""

    def __init__(self, n_features, max_leaves, min_pairs=1):
        self.d, self.max_leaves, self.min_pairs = n_features, max_leaves, min_pairs

    def fit(self, pairs, labels, sample_weight):
        self.pairs = np.asarray(pairs, dtype=float)
        self.w = np.asarray(sample_weight, dtype=float)
        self.signed = np.where(np.asarray(labels) == 1, self.w, -self.w)
        self.k = self.pairs.shape[1] - self.d
        self.cuts = []
        for j in range(self.d):
            values = sorted(set(self.pairs[:, j]))
            middles = [(a + b) / 2 for a, b in pairwise(values)]
            self.cuts += [(j, middle) for middle in middles]
        self.root = self.leaf(np.ones(len(self.pairs), dtype=bool))
        leaves = [self.root]
        while len(leaves) < self.max_leaves:
            asking = [leaf for leaf in leaves if leaf["question"] is not None]
            if not asking:
                break
            leaf = max(asking, key=lambda leaf: leaf["gain"])
            leaves = [other for other in leaves if other is not leaf]
            yes = self.answers(leaf["question"], self.pairs)
            leaf["yes"] = self.leaf(leaf["members"] & yes)
            leaf["no"] = self.leaf(leaf["members"] & ~yes)
            leaves += [leaf["yes"], leaf["no"]]
        return self

    def answers(self, question, pairs):
        """Whether pairs go to the first side."""
        kind, what = question
        if kind == self.d:
            return pairs[:, [self.d + y for y in what]].any(axis=1)
        return pairs[:, kind] <= what

    def questions(self, members):
        in_class = [members & (self.pairs[:, self.d + y] == 1.0) for y in range(self.k)]
        classes = [y for y in range(self.k) if self.w[in_class[y]].sum() > 0]
        if self.min_pairs == 1:
            for size in range(1, len(classes)):
                for subset in combinations(classes, size):
                    yield self.d, subset
        else:
            means = {y: self.signed[in_class[y]].sum() / self.w[in_class[y]].sum() for y in classes}
            ordered = sorted(classes, key=lambda y: means[y])
            for size in range(1, len(classes)):
                yield self.d, tuple(ordered[:size])
        yield from self.cuts

    def explained(self, members):
        """(sum of w t)^2 / sum of w, with targets t = -1 or +1."""
        total = self.w[members].sum()
        return self.signed[members].sum() ** 2 / total if total > 0 else 0.0

    def leaf(self, members):
        """A leaf of these pairs, with its best question."""
        total = self.w[members].sum()
        claims = total > 0 and self.signed[members].sum() >= -1e-12 * total
        leaf = {"members": members, "gain": ENOUGH, "question": None, "claim": float(claims)}
        for question in self.questions(members):
            yes = self.answers(question, self.pairs)
            sides = members & yes, members & ~yes
            if min((self.w[side] > 0).sum() for side in sides) < self.min_pairs:
                continue
            gain = sum(self.explained(side) for side in sides) - self.explained(members)
            if gain > leaf["gain"] * (1 + 1e-9):
                leaf["gain"], leaf["question"] = gain, question
        if leaf["question"] is None:
            leaf["gain"], leaf["question"] = 0.0, self.split_off(members)
        return leaf

    def split_off(self, members):
        """The class of most weight, where labels are mixed and no question gains anything."""
        if abs(self.signed[members].sum()) >= (1 - 1e-12) * self.w[members].sum():
            return None
        in_class = [members & (self.pairs[:, self.d + y] == 1.0) for y in range(self.k)]
        weights = [self.w[mine].sum() for mine in in_class]
        heaviest = int(np.argmax(np.round(weights, 12)))
        mine = (self.w[in_class[heaviest]] > 0).sum()
        others = (self.w[members] > 0).sum() - mine
        return (self.d, (heaviest,)) if min(mine, others) >= self.min_pairs else None

    def predict(self, pairs):
        return np.array([self.claim(pair[None, :]) for pair in pairs])

    def claim(self, pair):
        leaf = self.root
        while "yes" in leaf:
            leaf = leaf["yes"] if self.answers(leaf["question"], pair)[0] else leaf["no"]
        return leaf["claim"]
