"""Boosters as ``TreeEnsemble`` nodes of ONNX, exact at every split value.

LightGBM compares ``x <= t`` in double precision, XGBoost ``x < t`` in single precision; both have
rules of their own for missing values and categories. A ``TreeEnsemble`` of the ONNX domain for
machine learning, version 5, compares in either precision and sends NaN where it is told. What it
does not know becomes a column of its input:

* *zero is missing* (LightGBM): the feature with values around zero replaced by NaN; elsewhere
  LightGBM takes values within 1e-35 of zero for zero, and so does the graph;
* *a set of categories*: 0 where the split goes left, 1 where it goes right.

Sums are taken tree by tree in the precision of the engine, so with one thread they are the engine's
own to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.files.lightgbm_text import TextModel, TextTree
from costboost.files.xgboost_model import TreeModel, XGBoostTree
from costboost.gbm.engines.trees import ZERO

__all__ = ["CategorySet", "Forest", "from_lightgbm", "from_xgboost"]


@dataclass(frozen=True)
class CategorySet:
    """Categories of a feature that go to one side of a split."""

    feature: int
    members: tuple[int, ...]
    goes_left: bool


@dataclass(eq=False)
class Forest:
    """Trees as the attributes of a ``TreeEnsemble``."""

    # Columns are numbered: first the features, then copies of ``zero_missing`` features, then the
    # ``sets`` of categories, feature by feature.

    n_features: int
    n_targets: int
    dtype: type[np.floating[Any]]
    mode: int  # 0 is <=, 1 is <
    flushes: bool = False  # whether tiny numbers must count as zero
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

    def set_column(self, feature: int, members: Ints, goes_left: bool) -> tuple[str, int]:
        """The column of a set of categories."""
        wanted = CategorySet(feature, tuple(sorted(members.tolist())), goes_left)
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
            "nodes_splits": np.array(self.split, self.dtype),
            "nodes_modes": np.full(len(self.split), self.mode, np.uint8),
            "nodes_truenodeids": left,
            "nodes_trueleafs": [int(leaf) for leaf in left_leaf],
            "nodes_falsenodeids": right,
            "nodes_falseleafs": [int(leaf) for leaf in right_leaf],
            "nodes_missing_value_tracks_true": [int(side) for side in self.missing_left],
            "leaf_targetids": target,
            "leaf_weights": np.array(self.leaf_value, self.dtype),
        }


def from_lightgbm(model: TextModel) -> Forest:
    """Trees of LightGBM."""
    if model.is_average or any(tree.is_linear for tree in model.trees):
        raise ValueError(
            "ONNX graphs are made of trees with constant leaves whose sum is the score; this "
            "LightGBM model is a random forest or has linear leaves."
        )
    forest = Forest(model.n_features, model.n_classes, np.float64, mode=0)
    # LightGBM takes tiny values for zero before it compares; only tiny thresholds can tell.
    forest.flushes = any(
        bool(np.any(np.abs(tree.threshold[(tree.decision & 1) == 0]) <= ZERO))
        for tree in model.trees
    )
    for i, tree in enumerate(model.trees):
        target = i % model.n_classes
        if len(tree.left):
            _add_lightgbm(forest, tree, target)
        else:
            forest.constant(target, float(tree.leaf_value[0]))
    return forest


def _add_lightgbm(forest: Forest, tree: TextTree, target: int) -> None:
    first, leaves = forest.start(target)
    for i in range(len(tree.left)):
        feature, threshold = int(tree.feature[i]), float(tree.threshold[i])
        decision = int(tree.decision[i])
        default_left, missing = bool(decision & 2), decision >> 2
        column, goes_left = ("feature", feature), default_left
        if decision & 1:
            members = _bits(tree, int(threshold))
            column, threshold, goes_left = forest.set_column(feature, members, True), 0.5, False
        elif missing == 0:
            goes_left = threshold >= 0.0  # NaN counts as zero
        elif missing == 1:
            column = forest.zero_column(feature)
        children = [
            (leaves + ~child, True) if child < 0 else (first + child, False)
            for child in (int(tree.left[i]), int(tree.right[i]))
        ]
        forest.node(column, threshold, (*children[0], *children[1]), goes_left)
    for value in tree.leaf_value:
        forest.leaf(value)


def _bits(tree: TextTree, number: int) -> Ints:
    """The categories of a set."""
    words = tree.bits[tree.bounds[number] : tree.bounds[number + 1]].astype("<u4")
    found: Ints = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))
    return found


def from_xgboost(model: TreeModel, margins: Floats) -> Forest:
    """Trees of XGBoost."""
    if model.weights is not None:
        raise ValueError("ONNX graphs are made of gbtree models; this XGBoost model is a dart.")
    forest = Forest(model.n_features, model.n_groups, np.float32, mode=1)
    for target in range(model.n_groups):
        forest.constant(target, float(np.broadcast_to(margins, model.n_groups)[target]))
    for tree, target in zip(model.trees, model.groups.tolist(), strict=True):
        _add_xgboost(forest, tree, target)
    return forest


def _add_xgboost(forest: Forest, tree: XGBoostTree, target: int) -> None:
    if tree.left[0] < 0:
        forest.constant(target, float(tree.value[0]))
        return
    is_leaf: AnyArray = tree.left < 0
    order = _reachable(tree)
    inner = [node for node in order if not is_leaf[node]]
    first, leaves = forest.start(target)
    place = {node: first + i for i, node in enumerate(inner)}
    outer = [node for node in order if is_leaf[node]]
    place.update({node: leaves + i for i, node in enumerate(outer)})
    for node in inner:
        feature, threshold = int(tree.feature[node]), float(tree.value[node])
        column = ("feature", feature)
        if tree.is_category[node]:
            column, threshold = forest.set_column(feature, tree.categories[node], False), 0.5
        left, right = int(tree.left[node]), int(tree.right[node])
        children = (place[left], bool(is_leaf[left]), place[right], bool(is_leaf[right]))
        forest.node(column, threshold, children, bool(tree.default_left[node]))
    for node in outer:
        forest.leaf(float(tree.value[node]))


def _reachable(tree: XGBoostTree) -> list[int]:
    """Nodes in order from the root down; pruned ones are left out."""
    order = [0]
    for node in order:
        if tree.left[node] >= 0:
            order += [int(tree.left[node]), int(tree.right[node])]
    return order


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
