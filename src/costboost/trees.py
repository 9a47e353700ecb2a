"""One table of trees: what is kept of any library's trees after training.

A tree asks `x <= threshold` in double precision at each node. Libraries that compare in single
precision have their thresholds moved once, here, so that every double goes to the same leaf.
Numbers within `ZERO` of zero count as zero, as in LightGBM. LightGBM scores the table, through a
booster that is made of it; leaves are added in double precision, tree after tree, so scores do not
depend on the batch or on the number of threads.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np

from costboost._threads import prediction_threads
from costboost._typing import AnyArray, Floats, Ints
from costboost.columns.table import is_sparse

# Bits of a node's kind: it asks whether the category is in a set; missing values go left; zeros
# are missing.
CATEGORY, MISSING_LEFT, ZERO_MISSING = 1, 2, 4
# What LightGBM takes for zero, a number of single precision.
ZERO = float(np.float32(1e-35))

# Depth of a tree in a file, at most: LightGBM's SHAP values need its square in memory.
MAX_DEPTH = 1000
# Words of all sets of categories in a file, at most.
MAX_CATEGORY_WORDS = 2**24
# Sum of the whole numbers that stand for the covers of leaves where these are no counts.
COVER_TOTAL = 2.0**28
# Numbers of leaves that staged scores hold at a time.
STAGED_LEAVES = 2**22

DTYPES: dict[str, Any] = {
    "base": np.float64,
    "roots": np.int32,
    "feature": np.int32,
    "threshold": np.float64,
    "kind": np.int8,
    "words": np.int32,
    "children": np.int32,
    "values": np.float64,
    "categories": np.uint32,
    "gain": np.float64,
    "leaf_cover": np.float64,
}
# Arrays with an entry per node, beside the children.
NODE_ARRAYS = ("feature", "threshold", "kind", "words", "gain")
LEAF_ARRAYS = ("values", "leaf_cover")


@dataclass(frozen=True, eq=False)
class Trees:
    """All trees of a model, node after node and leaf after leaf; tree t adds to score t % k."""

    # A child, or a root, that is negative is the leaf of that complement. Nodes of a tree stand
    # together, parents before children; so do its leaves, one more than nodes.

    n_scores: int
    base: Floats  # (n_scores,) scores before the first tree
    roots: AnyArray  # (n_trees,)
    feature: AnyArray  # (n_nodes,)
    threshold: Floats  # (n_nodes,) of a category: its first word in `categories`
    kind: AnyArray  # (n_nodes,) bits, see above
    words: AnyArray  # (n_nodes,) words of 32 categories in its set; those go left
    children: AnyArray  # (n_nodes, 2) left, right
    values: Floats  # (n_leaves,)
    categories: AnyArray  # words of all sets, a bit per category
    gain: Floats  # (n_nodes,)
    leaf_cover: Floats  # (n_leaves,) rows, or sums of Hessians

    @property
    def n_rounds(self) -> int:
        """Number of trees per score."""
        return len(self.roots) // self.n_scores

    @cached_property
    def width(self) -> int:
        """Number of columns that rows must have."""
        return int(self.feature.max(initial=-1)) + 1

    @cached_property
    def sizes(self) -> Ints:
        """Number of nodes of each tree."""
        grown = self.roots >= 0
        sizes = np.zeros(len(self.roots), dtype=np.int64)
        sizes[grown] = np.diff(np.append(self.roots[grown], len(self.feature)))
        return sizes

    def __getstate__(self) -> dict[str, Any]:
        # Boosters of LightGBM are made again elsewhere.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    # --- scores -----------------------------------------------------------------------------------

    def scores(self, X: AnyArray, threads: int = 1) -> Floats:
        """Return the raw scores of rows, (n,) or (n, n_scores)."""
        booster = self._booster(X)
        scores = self._predict(booster, X, threads, raw_score=True)
        return self._shaped(scores.reshape(-1, self.n_scores))

    def staged_scores(self, X: AnyArray, threads: int = 1) -> Iterator[Floats]:
        """Yield the raw scores after each round."""
        # A booster of its own: a first round in one prediction changes the rounds that a prediction
        # in another thread takes.
        booster = self.to_lightgbm(X.shape[1])
        values = np.split(self.values, np.cumsum(self.sizes + 1)[:-1])
        total = np.tile(self.base, (X.shape[0], 1))
        step = max(STAGED_LEAVES // max(total.size, 1), 1)
        for start in range(0, self.n_rounds, step):
            n_rounds = min(step, self.n_rounds - start)
            rounds = {"start_iteration": start, "num_iteration": n_rounds}
            leaves = self._predict(booster, X, threads, pred_leaf=True, **rounds)
            leaves = leaves.reshape(len(total), -1, self.n_scores)
            for i in range(n_rounds):
                for score in range(self.n_scores):
                    tree_values = values[(start + i) * self.n_scores + score]
                    total[:, score] += tree_values[leaves[:, i, score]]
                yield self._shaped(total.copy())

    def leaves(self, X: AnyArray, tree: int | None = None) -> Ints:
        """Return the leaf of each row in every tree or in one, (n, n_trees), counted by tree."""
        if tree is not None:
            table = replace(self, n_scores=1, base=np.zeros(1)).picked(np.array([tree]))
            return table.leaves(X)
        booster = self._booster(X)
        if not len(self.roots):
            return np.zeros((X.shape[0], 0), dtype=np.int64)
        leaves = self._predict(booster, X, pred_leaf=True)
        return leaves.reshape(X.shape[0], -1).astype(np.int64)

    def contributions(self, X: AnyArray, threads: int = 1) -> AnyArray:
        """Return SHAP values, (n, d + 1) or (n, n_scores, d + 1): they sum to the scores."""
        values = self._predict(self._booster(X), X, threads, pred_contrib=True)
        if isinstance(values, list):  # of sparse rows: a sparse matrix per score
            return np.stack([part.toarray() for part in values], axis=1)
        if is_sparse(values):
            values = values.toarray()
        values = values.reshape(len(values), self.n_scores, -1)
        if self.n_scores == 1:
            return values[:, 0]
        return values

    def importances(self, n_features: int) -> Floats:
        """Return the total gain of each feature."""
        totals = np.zeros(n_features)
        np.add.at(totals, self.feature, np.maximum(self.gain, 0.0))
        return totals

    def _shaped(self, scores: AnyArray) -> Floats:
        if self.n_scores == 1:
            return scores[:, 0]
        return scores

    def _booster(self, X: AnyArray) -> lgb.Booster:
        """Return the booster for rows of this width, made once."""
        boosters = self.__dict__.setdefault("_boosters", {})
        width = X.shape[1]
        if width not in boosters:
            boosters[width] = self.to_lightgbm(width)
        return boosters[width]

    def _predict(self, booster: lgb.Booster, X: Any, threads: int = 1, **options: Any) -> Any:
        missing_left = self.feature[(self.kind & (CATEGORY | MISSING_LEFT)) == 3]
        if not is_sparse(X) and X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)  # LightGBM would take single precision
        if len(missing_left):
            # XGBoost may send a missing category to either side, LightGBM only right: a code that
            # no row has stands for it.
            if is_sparse(X):
                X = X.toarray()
            X = np.array(X, dtype=np.float64)
            columns = np.unique(missing_left)
            codes = X[:, columns]
            missing = 32 * int(self.words.max(initial=0))
            codes[codes >= missing] = -1.0
            codes[np.isnan(codes)] = missing
            X[:, columns] = codes
        with prediction_threads(threads) as num_threads:
            return booster.predict(X, num_threads=num_threads, **options)

    # --- tables from tables -----------------------------------------------------------------------

    def scaled(self, factor: float, shift: float | Floats = 0.0) -> Trees:
        """Return a table whose scores are a linear function of these."""
        return replace(self, base=factor * self.base + shift, values=factor * self.values)

    @classmethod
    def joined(cls, tables: Sequence[Trees], weights: Sequence[float]) -> Trees:
        """Return one table whose scores are the weighted sum of those of others."""
        parts = []
        node = leaf = word = 0
        for table, weight in zip(tables, weights, strict=True):
            is_set = (table.kind & CATEGORY) > 0
            part = replace(
                table.scaled(weight),
                roots=_shifted(table.roots, node, leaf),
                children=_shifted(table.children, node, leaf),
                threshold=table.threshold + word * is_set,
            )
            parts.append(part)
            node += len(table.feature)
            leaf += len(table.values)
            word += len(table.categories)
        arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in DTYPES}
        arrays["base"] = np.sum([part.base for part in parts], axis=0)
        return cls(parts[0].n_scores, **arrays)

    def picked(self, trees: Ints) -> Trees:
        """Return a table of some of the trees, in the order given."""
        old_node = _starts(self.sizes)[trees]
        old_leaf = _starts(self.sizes + 1)[trees]
        sizes = self.sizes[trees]
        node = _starts(sizes)
        leaf = _starts(sizes + 1)
        nodes = np.arange(sizes.sum()) + np.repeat(old_node - node, sizes)
        leaves = np.arange((sizes + 1).sum()) + np.repeat(old_leaf - leaf, sizes + 1)
        node_shift = np.repeat(node - old_node, sizes)[:, None]
        leaf_shift = np.repeat(leaf - old_leaf, sizes)[:, None]
        arrays = {name: getattr(self, name)[nodes] for name in NODE_ARRAYS}
        arrays |= {name: getattr(self, name)[leaves] for name in LEAF_ARRAYS}
        arrays["children"] = _shifted(self.children[nodes], node_shift, leaf_shift)
        arrays["roots"] = np.where(sizes > 0, node, ~leaf).astype(np.int32)
        return replace(self, **arrays)

    def _levels(self) -> Iterator[AnyArray]:
        """Yield the nodes of all trees by depth."""
        level = self.roots[self.roots >= 0]
        while len(level):
            yield level
            below = self.children[level].ravel()
            level = below[below >= 0]

    # --- soundness --------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise a ValueError unless any row of at least `width` columns can be scored."""
        self._check_arrays()
        rules = {
            "the same number of trees for each score": len(self.roots) % self.n_scores == 0,
            "finite numbers": self._is_finite(),
            "covers that are not negative": (self.leaf_cover >= 0).all(),
            "features that are columns": (self.feature >= 0).all(),
            "known kinds of nodes": ((self.kind >= 0) & (self.kind < 8)).all(),
            "sets of categories within the table": self._has_sets_in_range(),
            "one parent for each node, and no circles": self._is_forest(),
        }
        for rule, holds in rules.items():
            if not holds:
                raise ValueError(f"Trees must have {rule}.")
        if next(islice(self._levels(), MAX_DEPTH, None), None) is not None:
            raise ValueError(f"Trees must have a depth of at most {MAX_DEPTH}.")

    def _check_arrays(self) -> None:
        if type(self.n_scores) is not int or self.n_scores < 1:
            raise ValueError(f"Trees: n_scores must be at least 1, got {self.n_scores!r}.")
        n_nodes = np.size(self.feature)
        n_trees = np.size(self.roots)
        shapes: dict[str, tuple[int, ...]] = dict.fromkeys(NODE_ARRAYS, (n_nodes,))
        shapes |= dict.fromkeys(LEAF_ARRAYS, (n_nodes + n_trees,))
        shapes["base"] = (self.n_scores,)
        shapes["roots"] = (n_trees,)
        shapes["children"] = (n_nodes, 2)
        shapes["categories"] = (np.size(self.categories),)
        for name, dtype in DTYPES.items():
            array = getattr(self, name)
            shape = shapes[name]
            if type(array) is not np.ndarray or array.dtype != dtype or array.shape != shape:
                kind = np.dtype(dtype).name
                raise ValueError(f"Trees: {name} must be an array of {kind} of the shape {shape}.")

    def _is_finite(self) -> bool:
        numbers = np.concatenate([self.base, self.values, self.gain, self.leaf_cover])
        return bool(np.isfinite(numbers).all() and not np.isnan(self.threshold).any())

    def _has_sets_in_range(self) -> bool:
        is_set = (self.kind & CATEGORY) > 0
        first = self.threshold[is_set]
        size = self.words[is_set].astype(np.float64)
        within = (first >= 0) & (first == np.floor(first)) & (size >= 0)
        within &= first + size <= len(self.categories)
        # The booster has each set written out, and those with missing values up to the longest.
        n_longest = np.count_nonzero(self.kind[is_set] & MISSING_LEFT)
        written = size.sum() + size.max(initial=0) * n_longest
        is_small = written <= MAX_CATEGORY_WORDS
        return bool(within.all() and is_small and not self.words[~is_set].any())

    def _is_forest(self) -> bool:
        """Return whether each tree has its own nodes and leaves, each met once, parents first."""
        is_grown = self.roots >= 0
        sizes = self.sizes
        start = _starts(sizes)
        first_leaf = _starts(sizes + 1)
        is_placed = self.roots == np.where(is_grown, start, ~first_leaf)
        if not (is_placed & (sizes >= is_grown)).all() or sizes.sum() != len(self.feature):
            return False
        tree = np.repeat(np.arange(len(sizes)), sizes)[:, None]
        child = self.children.astype(np.int64)
        leaf = ~child
        is_node = (child > np.arange(len(child))[:, None]) & (child < (start + sizes)[tree])
        is_leaf = (leaf >= first_leaf[tree]) & (leaf <= first_leaf[tree] + sizes[tree])
        # A tree of m nodes has 2 m children: m - 1 nodes and m + 1 leaves, if each comes once.
        if not (is_node | is_leaf).all():
            return False
        is_met = np.zeros(len(self.feature) + len(self.values), dtype=bool)
        is_met[child] = True  # leaves, whose numbers are negative, from the end
        return bool(np.count_nonzero(is_met) == child.size)

    # --- LightGBM's booster -----------------------------------------------------------------------

    def to_lightgbm(self, n_features: int, *, is_log_loss: bool = False) -> lgb.Booster:
        """Return an ordinary booster with the same raw scores; covers become whole counts."""
        # A missing category goes right there, always: see `_predict`.
        if n_features < self.width:
            raise ValueError(
                f"The trees ask for column {self.width - 1}, and there are {n_features}."
            )
        k = self.n_scores
        table = self
        if not len(self.roots):
            roots = ~np.arange(k, dtype=np.int32)
            table = replace(self, roots=roots, values=np.zeros(k), leaf_cover=np.ones(k))
        lines = [
            "tree",
            "version=v4",
            f"num_class={k}",
            f"num_tree_per_iteration={k}",
            "label_index=0",
            f"max_feature_idx={n_features - 1}",
            f"feature_names={' '.join(f'Column_{j}' for j in range(n_features))}",
            f"feature_infos={' '.join(['none'] * n_features)}",
        ]
        if is_log_loss and k == 1:
            lines.append("objective=binary sigmoid:1")
        elif is_log_loss:
            lines.append(f"objective=multiclass num_class:{k}")
        # Without the sizes of the trees in the text LightGBM reads it in one thread, as a process
        # made by fork must.
        text = "\n".join([*lines, "", *_tree_texts(table), "end of trees", ""])
        tail = "\nfeature_importances:\n\npandas_categorical:null\n"
        return lgb.Booster(model_str=text + tail)


def _starts(sizes: Ints) -> Ints:
    """Return the sum of the sizes before each."""
    return np.cumsum(sizes) - sizes


def _shifted(positions: AnyArray, nodes: Any, leaves: Any) -> AnyArray:
    """Return nodes and leaves that many positions further on."""
    moved = np.where(positions >= 0, positions + nodes, positions - leaves)
    return moved.astype(np.int32)


def _tree_texts(trees: Trees) -> list[str]:
    """Return each tree in LightGBM's own words."""
    sizes = trees.sizes
    node = _starts(sizes)
    leaf = _starts(sizes + 1)
    owner = np.repeat(np.arange(len(sizes)), sizes + 1)
    # The first tree of each score carries its base: the sum is the same to the last bit.
    values = trees.values.copy()
    is_first = owner < trees.n_scores
    values[is_first] += trees.base[owner[is_first]]
    leaf_count = trees.leaf_cover
    total = np.bincount(owner, leaf_count).max(initial=1.0)
    if (leaf_count < 1).any() or (leaf_count % 1 > 0).any() or total > COVER_TOTAL:
        # Without a row a leaf still has one, or SHAP values would divide by zero.
        leaf_count = np.maximum(np.round(leaf_count * (COVER_TOTAL / total)), 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        count, mean, _ = _node_statistics(trees, leaf_count, values)
    kind = trees.kind.astype(np.int64)
    missing = (kind & MISSING_LEFT) | np.where(kind & ZERO_MISSING, 4, 8)
    node_shift = -np.repeat(node, sizes)[:, None]
    leaf_shift = -np.repeat(leaf, sizes)[:, None]
    children = _shifted(trees.children, node_shift, leaf_shift)
    node_arrays = {
        "split_feature": trees.feature,
        "split_gain": trees.gain,
        "threshold": trees.threshold,
        "decision_type": np.where(kind & CATEGORY, CATEGORY, missing),
        "left_child": children[:, 0],
        "right_child": children[:, 1],
        "internal_value": np.nan_to_num(mean),
        "internal_weight": count,
        "internal_count": count.astype(np.int64),
    }
    leaf_arrays = {
        "leaf_value": values,
        "leaf_weight": leaf_count,
        "leaf_count": leaf_count.astype(np.int64),
    }
    texts = []
    for t, size in enumerate(sizes.tolist()):
        nodes = slice(node[t], node[t] + size)
        leaves = slice(leaf[t], leaf[t] + size + 1)
        tree = {name: array[nodes] for name, array in node_arrays.items()}
        tree |= {name: array[leaves] for name, array in leaf_arrays.items()}
        chosen = np.flatnonzero(tree["decision_type"] == CATEGORY)
        sets = _category_sets(trees, node[t] + chosen)
        if sets:
            tree["threshold"] = tree["threshold"].copy()
            tree["threshold"][chosen] = np.arange(len(sets))
            tree["cat_boundaries"] = np.cumsum([0, *map(len, sets)])
            tree["cat_threshold"] = np.concatenate(sets)
        lines = [f"Tree={t}", f"num_leaves={size + 1}", f"num_cat={len(sets)}"]
        lines += [f"{name}={' '.join(map(repr, array.tolist()))}" for name, array in tree.items()]
        lines += ["is_linear=0", "shrinkage=1", "", ""]
        texts.append("\n".join(lines))
    return texts


def _node_statistics(
    trees: Trees, leaf_count: Floats, values: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return counts and means of the nodes, and what a split takes off the squared error."""
    n = len(trees.feature)
    # Leaves, whose numbers are negative, from the end.
    counts = np.append(np.zeros(n), leaf_count[::-1])
    means = np.append(np.zeros(n), values[::-1])
    gain = np.zeros(n)
    for level in reversed(list(trees._levels())):
        child = trees.children[level]
        weight = counts[child]
        counts[level] = weight.sum(axis=1)
        means[level] = (weight * means[child]).sum(axis=1) / counts[level]
        gain[level] = (weight * (means[child] - means[level, None]) ** 2).sum(axis=1)
    return counts[:n], means[:n], gain


def _category_sets(trees: Trees, nodes: Ints) -> list[list[int]]:
    """Return the words of the sets of categories of some nodes."""
    longest = int(trees.words.max(initial=0))
    sets = []
    for node in nodes:
        first = int(trees.threshold[node])
        words = trees.categories[first : first + int(trees.words[node])].tolist()
        if trees.kind[node] & MISSING_LEFT:  # the code that stands for a missing category
            words += [0] * (longest - len(words)) + [1]
        sets.append(words or [0])
    return sets


# --- from other libraries -------------------------------------------------------------------------


def _largest_double(border: AnyArray) -> Floats:
    """Return the largest double that single precision does not round above a number of its own."""
    low = np.asarray(border, dtype=np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        above = np.nextafter(low, np.float32(np.inf)).astype(np.float64)
        middle = 0.5 * (low.astype(np.float64) + above)
        is_low = middle.astype(np.float32) <= low
    largest = np.where(is_low, middle, np.nextafter(middle, -np.inf))
    return np.where(np.isfinite(middle), largest, low)


def _treat_zeros_alike(threshold: Floats) -> Floats:
    """Move thresholds so that all that counts as zero goes to the same side."""
    below = np.nextafter(-ZERO, -np.inf)
    moved = np.where((threshold >= -ZERO) & (threshold < 0), below, threshold)
    return np.where((threshold >= 0) & (threshold < ZERO), ZERO, moved)


def _table(n_scores: int, **arrays: AnyArray) -> Trees:
    """Return a table with arrays of the right types."""
    for name, dtype in DTYPES.items():
        arrays[name] = np.ascontiguousarray(arrays[name], dtype)
    return Trees(n_scores, **arrays)


def from_lightgbm(booster: lgb.Booster, n_rounds: int | None = None) -> Trees:
    """Return the trees of a LightGBM booster's first rounds."""
    text = booster.model_to_string(num_iteration=n_rounds or -1)
    lines: dict[str, list[str]] = {}
    for line in text.partition("\nTree=0\n")[2].partition("\nend of trees")[0].split("\n"):
        name, _, rest = line.partition("=")
        lines.setdefault(name, []).append(rest)
    if "1" in lines["is_linear"]:
        raise ValueError(
            "Trees with linear leaves are not supported. Leave linear_tree out of engine_params."
        )

    def numbers(name: str, dtype: Any = np.int64) -> AnyArray:
        return np.array(" ".join(lines.get(name, [])).split(), dtype=dtype)

    leaves = numbers("num_leaves")
    sizes = leaves - 1
    node = _starts(sizes)
    leaf = _starts(leaves)
    children = np.stack([numbers("left_child"), numbers("right_child")], axis=1)
    node_shift = np.repeat(node, sizes)[:, None]
    leaf_shift = np.repeat(leaf, sizes)[:, None]
    decision = numbers("decision_type")
    is_set = (decision & 1) > 0
    position = numbers("threshold", np.float64)
    threshold = _treat_zeros_alike(position)
    missing = decision >> 2
    # Where nothing was missing in training, NaN counts as zero.
    is_left = np.where(missing == 0, threshold >= 0, (decision & 2) > 0)
    kind = np.where(is_set, CATEGORY, MISSING_LEFT * is_left + ZERO_MISSING * (missing == 1))
    words = np.zeros(len(kind), dtype=np.int64)
    if is_set.any():
        # A tree with sets has one bound more than sets; trees without have none.
        counts = numbers("num_cat")
        bounds = numbers("cat_boundaries")
        n_bounds = np.where(counts > 0, counts + 1, 0)
        ends = np.where(counts > 0, bounds[np.maximum(np.cumsum(n_bounds) - 1, 0)], 0)
        tree = np.repeat(np.arange(len(sizes)), sizes)[is_set]
        first_bound = _starts(n_bounds)[tree] + position[is_set].astype(np.int64)
        words[is_set] = bounds[first_bound + 1] - bounds[first_bound]
        threshold[is_set] = _starts(ends)[tree] + bounds[first_bound]
    values = numbers("leaf_value", np.float64)
    cover = np.ones(len(values))
    leaf_counts = numbers("leaf_count", np.float64)
    # Trees that are constants may have no count in the text.
    has_count = np.repeat((leaves > 1) | (len(leaf_counts) == len(values)), leaves)
    cover[has_count] = leaf_counts
    n_scores = booster.num_model_per_iteration()
    return _table(
        n_scores,
        base=np.zeros(n_scores),
        roots=np.where(sizes > 0, node, ~leaf),
        feature=numbers("split_feature"),
        threshold=threshold,
        kind=kind,
        words=words,
        children=_shifted(children, node_shift, leaf_shift),
        values=values,
        categories=numbers("cat_threshold"),
        gain=numbers("split_gain", np.float64),
        leaf_cover=cover,
    )


def _from_common_numbers(
    n_scores: int, *, base: Any, sizes: Ints, children: Ints, **nodes: Any
) -> Trees:
    """Return a table of trees that number nodes and leaves together; a leaf's left child is -1."""
    roots = _starts(sizes)
    is_leaf = children[:, 0] < 0
    is_grown = ~is_leaf
    children = children[is_grown] + np.repeat(roots, sizes)[is_grown, None]
    # A node that was pruned away stays in XGBoost's arrays, without a parent.
    is_kept = np.zeros(len(is_leaf), dtype=bool)
    is_kept[children] = True
    is_kept[roots] = True
    is_leaf &= is_kept
    position = np.where(is_leaf, ~(np.cumsum(is_leaf) - 1), np.cumsum(is_grown) - 1)
    arrays = {"base": base, "categories": nodes["categories"]}
    arrays |= {name: nodes[name][is_grown] for name in NODE_ARRAYS}
    arrays |= {name: nodes[name][is_leaf] for name in LEAF_ARRAYS}
    return _table(n_scores, roots=position[roots], children=position[children], **arrays)


def from_xgboost(booster: Any) -> Trees:
    """Return the trees of an XGBoost booster."""
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    model = learner["gradient_booster"]
    # Newer versions of XGBoost keep the weights of dropped trees beside the trees.
    scales = model.get("weight_drop") or model.get("model", {}).get("weight_drop")
    model = model.get("gbtree", model).get("model", {})
    trees = model.get("trees")
    if trees is None or any(int(t["tree_param"].get("size_leaf_vector", 1)) > 1 for t in trees):
        raise ValueError(
            "XGBoost's linear boosters and trees with vectors as leaves are not supported. Leave "
            "booster and multi_strategy out of engine_params."
        )
    base = np.atleast_1d(json.loads(learner["learner_model_param"]["base_score"]))
    if learner["objective"]["name"] in ("binary:logistic", "reg:logistic"):
        # As XGBoost does it, in single precision: near 1 that is another number.
        one = np.float32(1.0)
        tiny = np.float32(1e-6)
        base = -np.log(one / np.clip(base.astype(np.float32), tiny, one - tiny) - one)
    k = max(int(learner["learner_model_param"][name]) for name in ("num_class", "num_target"))

    def numbers(name: str, dtype: Any = np.int64) -> AnyArray:
        return np.concatenate([np.asarray(tree[name], dtype=dtype) for tree in trees])

    sizes = np.array([len(tree["left_children"]) for tree in trees])
    children = np.stack([numbers("left_children"), numbers("right_children")], axis=1)
    # `x < t` in single precision.
    condition = numbers("split_conditions", np.float32)
    threshold = np.nextafter(condition, np.float32(-np.inf))
    threshold = _treat_zeros_alike(_largest_double(threshold))
    is_left = numbers("default_left", bool)
    is_set = (numbers("split_type") == 1) & (children[:, 0] >= 0)
    # A category of the set goes right there, left here.
    children[is_set] = children[is_set, ::-1]
    kind = np.where(is_set, CATEGORY + MISSING_LEFT * ~is_left, MISSING_LEFT * is_left)
    words = np.zeros(len(children), dtype=np.int64)
    categories: list[int] = []
    for tree, start in zip(trees, _starts(sizes), strict=True):
        sets = (tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"])
        for node, begin, size in zip(*sets, strict=True):
            set_words = _bit_words(tree["categories"][begin : begin + size])
            threshold[start + node] = len(categories)
            words[start + node] = len(set_words)
            categories += set_words
    value = condition.astype(np.float64)
    if scales:
        value *= np.repeat(np.asarray(scales, dtype=np.float32).astype(np.float64), sizes)
    table = _from_common_numbers(
        k,
        base=np.broadcast_to(base, (k,)),
        sizes=sizes,
        children=children,
        values=value,
        leaf_cover=numbers("sum_hessian", np.float64),
        feature=numbers("split_indices"),
        threshold=threshold,
        kind=kind,
        words=words,
        gain=numbers("loss_changes", np.float64),
        categories=categories,
    )
    # With parallel trees, those of a score follow each other.
    groups = np.asarray(model["tree_info"])
    order = np.stack([np.flatnonzero(groups == group) for group in range(k)], axis=1).ravel()
    if (order == np.arange(len(order))).all():
        return table
    return table.picked(order)


def _bit_words(categories: Sequence[int]) -> list[int]:
    """Return a set of categories as words of 32 bits."""
    codes = np.asarray(categories, dtype=np.int64)
    bits = np.zeros(int(codes.max(initial=0)) // 32 + 1, dtype=np.uint32)
    np.bitwise_or.at(bits, codes // 32, np.uint32(1) << (codes % 32).astype(np.uint32))
    return bits.tolist()


def from_catboost(booster: Any, source: Ints, category: Ints) -> Trees:
    """Return the symmetric trees of CatBoost, whose columns are categories (or -1) of others."""
    with tempfile.TemporaryDirectory(prefix="costboost-") as folder:
        path = Path(folder) / "model.json"
        booster.save_model(str(path), format="json")
        model = json.loads(path.read_text())
    scale, bias = model["scale_and_bias"]
    bias = np.atleast_1d(np.asarray(bias, dtype=np.float64))
    trees = []
    for tree in model["oblivious_trees"]:
        outputs = scale * np.asarray(tree["leaf_values"], dtype=np.float64).reshape(-1, len(bias))
        splits = tree.get("splits") or []
        columns = np.array([split["float_feature_index"] for split in splits], dtype=np.intp)
        borders = np.array([split["border"] for split in splits], dtype=np.float64)
        weights = np.asarray(tree["leaf_weights"], dtype=np.float64)
        for values in outputs.T:
            trees.append(_symmetric(source[columns], category[columns], borders, values, weights))
    table = Trees.joined(trees, [1.0] * len(trees))
    return replace(table, n_scores=len(bias), base=bias)


def _symmetric(
    feature: Ints, category: Ints, borders: Floats, values: Floats, weights: Floats
) -> Trees:
    """Return a symmetric tree, which asks one question per level, as an ordinary one."""
    depth = len(feature)
    level = np.repeat(np.arange(depth + 1), 2 ** np.arange(depth + 1))
    path = np.arange(len(level)) + 1 - 2**level
    category = np.append(category, -1)[level]
    is_set = category >= 0
    # The first question is the lowest bit of the number of a leaf.
    no = 2 ** (level + 1) - 1 + path
    yes = no + 2**level
    # Left if the category is in the set; if the number is not larger, or missing.
    children = np.where(is_set, [yes, no], [no, yes]).T
    children[level == depth] = -1
    words = np.where(is_set, category // 32 + 1, 0)
    categories = np.zeros(words.sum(), dtype=np.uint32)
    bits = np.uint32(1) << (category[is_set] % 32).astype(np.uint32)
    categories[np.cumsum(words)[is_set] - 1] = bits
    border = np.append(_treat_zeros_alike(_largest_double(borders)), 0.0)[level]
    inner = np.zeros(2**depth - 1)
    table = _from_common_numbers(
        1,
        base=np.zeros(1),
        sizes=np.array([len(level)]),
        children=children,
        values=np.append(inner, values),
        leaf_cover=np.append(inner, np.maximum(np.round(weights), 1.0)),
        feature=np.append(feature, 0)[level],
        threshold=np.where(is_set, _starts(words), border),
        kind=np.where(is_set, CATEGORY, MISSING_LEFT),
        words=words,
        gain=np.zeros(len(level)),
        categories=categories,
    )
    _, _, gain = _node_statistics(table, table.leaf_cover, table.values)
    return replace(table, gain=gain)
