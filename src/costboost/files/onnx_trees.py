"""Boosters as ``TreeEnsemble`` nodes of ONNX, exact at every split value.

The table of trees compares ``x <= t`` in double precision. So does a ``TreeEnsemble`` of the ONNX
domain for machine learning, version 5, which sends NaN where it is told. What it does not know
becomes a column of its input:

* *zero is missing* (LightGBM): the feature with values around zero replaced by NaN;
* *a set of categories*: 0 where the split goes left, 1 where it goes right.

Sums are taken tree by tree in double precision, so with one thread they are the model's own to the
last bit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.trees import CATEGORY, MISSING_LEFT, ZERO_MISSING, Trees

__all__ = ["CategorySet", "Forest", "from_sklearn", "from_trees"]


@dataclass(frozen=True)
class CategorySet:
    """Categories of a feature that go to the left of a split."""

    feature: int
    members: tuple[int, ...]


@dataclass(eq=False)
class Forest:
    """Trees as the attributes of a ``TreeEnsemble``."""

    # Columns are numbered: first the features, then copies of ``zero_missing`` features, then the
    # ``sets`` of categories, feature by feature.

    n_features: int
    n_targets: int
    rounds_inputs: bool = False  # whether features are rounded to single precision first
    zero_missing: list[int] = field(default_factory=list)
    sets: dict[CategorySet, int] = field(default_factory=dict)  # and their numbers
    roots: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)  # of the trees
    column: list[tuple[str, int]] = field(default_factory=list)
    split: list[float] = field(default_factory=list)
    children: list[tuple[int, bool, int, bool]] = field(default_factory=list)  # left, right
    missing_left: list[bool] = field(default_factory=list)
    leaf_value: list[float] = field(default_factory=list)
    leaf_tree: list[int] = field(default_factory=list)
    leaf_target: list[int] = field(default_factory=list)  # where leaves of one tree differ in it

    def start(self, target: int) -> tuple[int, int]:
        """Begin a tree; returns where its nodes and its leaves will be."""
        self.targets.append(target)
        self.roots.append(len(self.split))
        return len(self.split), len(self.leaf_value)

    def node(
        self,
        column: tuple[str, int],
        split: float,
        children: tuple[int, bool, int, bool],
        missing_left: bool,
    ) -> None:
        """Add a split; children are (left, is it a leaf, right, is it a leaf)."""
        self.column.append(column)
        self.split.append(float(split))
        self.children.append(children)
        self.missing_left.append(missing_left)

    def leaf(self, value: float) -> int:
        """Add a leaf of the current tree; returns its number."""
        self.leaf_value.append(float(value))
        self.leaf_tree.append(len(self.roots) - 1)
        return len(self.leaf_value) - 1

    def constant(self, target: int, value: float) -> None:
        """Add a tree of one leaf: a split whose sides are the same."""
        self.start(target)
        self.node(("feature", 0), 0.0, (self.leaf(value), True, self.leaf(value), True), False)

    def set_leaves(self, tree: int, values: Floats) -> None:
        """Put other values into the leaves of a tree."""
        mine = [i for i, other in enumerate(self.leaf_tree) if other == tree]
        if len(values) == 1:  # a constant has two leaves that are the same
            values = np.repeat(values, len(mine))
        for place, value in zip(mine, values.tolist(), strict=True):
            self.leaf_value[place] = float(value)

    def zero_column(self, feature: int) -> tuple[str, int]:
        """The column of a feature whose zeros are missing."""
        if feature not in self.zero_missing:
            self.zero_missing.append(feature)
        return "zero", self.zero_missing.index(feature)

    def set_column(self, feature: int, members: Ints) -> tuple[str, int]:
        """The column of a set of categories."""
        wanted = CategorySet(feature, tuple(sorted(members.tolist())))
        return "set", self.sets.setdefault(wanted, len(self.sets))

    def ordered_sets(self) -> list[CategorySet]:
        """The sets of categories, feature by feature: the order of their columns."""
        return sorted(self.sets, key=lambda item: (item.feature, self.sets[item]))

    def attributes(self, *, by_tree: bool = False) -> dict[str, Any]:
        """The attributes of the node; with targets per tree if the sums are taken elsewhere."""
        start = {
            "feature": 0,
            "zero": self.n_features,
            "set": self.n_features + len(self.zero_missing),
        }
        place = {self.sets[item]: i for i, item in enumerate(self.ordered_sets())}
        left, left_leaf, right, right_leaf = (list(c) for c in zip(*self.children, strict=True))
        target = self.leaf_target or [self.targets[t] for t in self.leaf_tree]
        n_targets = self.n_targets
        if by_tree and self.leaf_target:
            target = [n_targets * t + j for t, j in zip(self.leaf_tree, target, strict=True)]
            n_targets *= len(self.roots)
        elif by_tree:
            target, n_targets = self.leaf_tree, len(self.roots)
        return {
            "n_targets": n_targets,
            "aggregate_function": 1,
            "post_transform": 0,
            "tree_roots": self.roots,
            "nodes_featureids": [
                start[kind] + (place[j] if kind == "set" else j) for kind, j in self.column
            ],
            "nodes_splits": np.array(self.split, np.float64),
            "nodes_modes": np.zeros(len(self.split), np.uint8),
            "nodes_truenodeids": left,
            "nodes_trueleafs": [int(leaf) for leaf in left_leaf],
            "nodes_falsenodeids": right,
            "nodes_falseleafs": [int(leaf) for leaf in right_leaf],
            "nodes_missing_value_tracks_true": [int(side) for side in self.missing_left],
            "leaf_targetids": target,
            "leaf_weights": np.array(self.leaf_value, np.float64),
        }


def from_trees(trees: Trees, n_features: int) -> Forest:
    """The trees of a table; its thresholds need no rounding and no zeros of their own."""
    forest = Forest(n_features, trees.n_scores)
    if trees.base.any():
        for target, value in enumerate(trees.base.tolist()):
            forest.constant(target, value)
    root = first_leaf = 0
    for t, size in enumerate(trees.sizes.tolist()):
        target, values = t % trees.n_scores, trees.values[first_leaf : first_leaf + size + 1]
        if not size:
            forest.constant(target, float(values[0]))
            first_leaf += 1
            continue
        first, leaves = forest.start(target)
        for node in range(root, root + size):
            (left, left_leaf), (right, right_leaf) = (
                (leaves + ~child - first_leaf, True) if child < 0 else (first + child - root, False)
                for child in trees.children[node].tolist()
            )
            children = (left, left_leaf, right, right_leaf)
            column, split = _question(forest, trees, node)
            forest.node(column, split, children, bool(trees.kind[node] & MISSING_LEFT))
        for value in values.tolist():
            forest.leaf(value)
        root, first_leaf = root + size, first_leaf + size + 1
    return forest


def _question(forest: Forest, trees: Trees, node: int) -> tuple[tuple[str, int], float]:
    """The column that a node asks, and where it splits."""
    feature, kind = int(trees.feature[node]), int(trees.kind[node])
    if kind & CATEGORY:
        first = int(trees.threshold[node])
        words = trees.categories[first : first + int(trees.words[node])].astype("<u4")
        members = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))
        return forest.set_column(feature, members), 0.5
    if kind & ZERO_MISSING:
        return forest.zero_column(feature), float(trees.threshold[node])
    return ("feature", feature), float(trees.threshold[node])


def from_sklearn(forest: Forest, tree: Any, vote: float, codes: Ints) -> None:
    """Add a tree of scikit-learn that votes for one target in each leaf."""
    nodes = tree.__getstate__()["nodes"]
    left, right = nodes["left_child"], nodes["right_child"]
    if len(nodes) == 1:
        forest.constant(int(codes[0]), vote)
        forest.leaf_target += [int(codes[0])] * 2
        return
    first, leaves = forest.start(0)
    is_leaf: AnyArray = left < 0
    place = np.where(is_leaf, leaves + np.cumsum(is_leaf) - 1, first + np.cumsum(~is_leaf) - 1)
    for node in np.flatnonzero(~is_leaf).tolist():
        ends = [(int(place[child]), bool(is_leaf[child])) for child in (left[node], right[node])]
        feature, threshold = int(nodes["feature"][node]), float(nodes["threshold"][node])
        missing_left = bool(nodes["missing_go_to_left"][node])
        forest.node(("feature", feature), threshold, (*ends[0], *ends[1]), missing_left)
    for node in np.flatnonzero(is_leaf).tolist():
        forest.leaf(vote)
        forest.leaf_target.append(int(codes[node]))
