"""One table of trees: what is kept of any engine's trees after training.

A tree asks `x <= threshold` in double precision at each node. Engines that compare in single
precision have their thresholds moved once, here, so that every double goes to the same leaf.
Numbers within `ZERO` of zero count as zero, as in LightGBM. Leaves are added in double, tree after
tree: scores are those of LightGBM to the last bit, whatever the batch and the number of threads.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np

from costboost._numba import jit
from costboost._typing import AnyArray, Floats, Ints
from costboost.columns.raw import is_sparse

# Bits of a node's kind: it asks whether the category is in a set; missing values go left; zeros
# are missing.
CATEGORY, MISSING_LEFT, ZERO_MISSING = 1, 2, 4
# What LightGBM takes for zero, a number of single precision.
ZERO = float(np.float32(1e-35))

# Rows times trees, of all calls, for which it does not pay to load numba.
_WORK = 1_000_000
# Bytes of the rows that go through a tree together: they stay in the processor's cache.
_BLOCK_BYTES = 2**15
# Rows that a thread takes at a time, and numbers of sparse rows that are written out at a time.
_CHUNK_ROWS, _DENSE_NUMBERS = 4096, 2**21
# Depth of a tree in a file, at most: LightGBM's SHAP values need its square in memory.
_DEPTH = 1000
# Words of all sets of categories in a file, at most.
_WORDS = 2**24
# Whole numbers that stand for the covers of leaves where these are no counts: of all rows.
_COUNTS = 2.0**28

_DTYPES: dict[str, Any] = {
    **dict.fromkeys(("base", "threshold", "values", "gain", "leaf_cover"), np.float64),
    **dict.fromkeys(("roots", "feature", "words", "children"), np.int32),
    "kind": np.int8,
    "categories": np.uint32,
}


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

    def _check_width(self, X: Any) -> None:
        # Compiled code reads beyond the end of a row that is too short.
        if X.shape[1] < self.width:
            raise ValueError(
                f"The trees ask for column {self.width - 1}, and there are {X.shape[1]}."
            )

    def __getstate__(self) -> dict[str, Any]:
        # What is made on the way, such as LightGBM's twin, is made again elsewhere.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    # --- scores -----------------------------------------------------------------------------------

    def scores(self, X: AnyArray, threads: int = 1) -> Floats:
        """Raw scores of rows, (n,) or (n, n_scores)."""
        if is_sparse(X):
            found = self._predicted(X, raw_score=True, num_threads=threads)
            return np.asarray(found, dtype=np.float64)
        total = np.tile(self.base, (X.shape[0], 1))
        asked = self.__dict__.get("_asked", 0) + len(total) * len(self.roots)
        self.__dict__["_asked"] = asked
        if asked < _WORK and not load_kernel.cache_info().currsize:
            self._add_slowly(np.asarray(X, dtype=np.float64), total)
        else:
            self._add(X, total, threads, self.roots)
        return total[:, 0] if self.n_scores == 1 else total

    def _add_slowly(self, X: Floats, total: Floats) -> None:
        """Add all leaves to the scores, without numba: all rows and trees take a step at a time."""
        self._check_width(X)
        node = np.tile(self.roots.astype(np.int64), len(X))
        row = np.repeat(np.arange(len(X)), len(self.roots))
        at = np.flatnonzero(node >= 0)
        while len(at):
            here = node[at]
            value, kind = X[row[at], self.feature[here]], self.kind[here]
            is_set = (kind & CATEGORY) > 0
            is_left = value <= self.threshold[here]
            lost = np.isnan(value)
            lost |= ((kind & ZERO_MISSING) > 0) & ~is_set & (np.abs(value) <= ZERO)
            if is_set.any():  # codes of -1 and below are in no set
                inside = is_set & (value > -1.0) & (value < 32.0 * self.words[here])
                code, first = np.where(inside, [value, self.threshold[here]], 0.0).astype(np.int64)
                word = np.append(self.categories, np.uint32(0))[first + (code >> 5)]
                found = inside & ((word.astype(np.int64) >> (code & 31)) & 1 > 0)
                is_left = np.where(is_set, found, is_left)
            is_left = np.where(lost, (kind & MISSING_LEFT) > 0, is_left)
            node[at] = self.children[here, np.where(is_left, 0, 1)]
            at = at[node[at] >= 0]
        for values in self.values[~node].reshape(len(X), -1, self.n_scores).swapaxes(0, 1):
            total += values  # from the first tree to the last, as everywhere

    def staged_scores(self, X: AnyArray, threads: int = 1) -> Iterator[Floats]:
        """Raw scores after each round."""
        total = np.tile(self.base, (X.shape[0], 1))
        for roots in self.roots.reshape(-1, self.n_scores):
            self._add(X, total, threads, roots)
            yield total[:, 0].copy() if self.n_scores == 1 else total.copy()

    def leaves(self, X: AnyArray, tree: int | None = None) -> Ints:
        """The leaf of each row in every tree or in one, (n, n_trees), counted tree by tree."""
        trees = slice(None) if tree is None else slice(tree, tree + 1)
        total = np.zeros((X.shape[0], len(self.roots[trees])))
        self._numbered._add(X, total, 1, self.roots[trees])
        return total.astype(np.int64) - _before(self.sizes + 1)[trees]

    @cached_property
    def _numbered(self) -> Trees:
        """The same trees, each leaf with its number for a value."""
        return replace(self, values=np.arange(float(len(self.values))))

    def _add(self, X: AnyArray, total: Floats, threads: int, roots: AnyArray) -> None:
        """Add the leaves of some trees to the scores, a few rows at a time."""
        # Each row through all trees, as LightGBM does it, would fetch the trees into the cache
        # again and again.
        # Arrays as the kernel knows them: numba would compile another one for read-only memory.
        self._check_width(X)
        add, roots = load_kernel(), np.require(roots, np.int32, ["C", "W"])
        n, width = X.shape[0], max(X.shape[1], 1)
        block = max(_BLOCK_BYTES // (8 * width), 8)
        chunk = min(_CHUNK_ROWS, max(_DENSE_NUMBERS // width, 1)) if is_sparse(X) else _CHUNK_ROWS

        def score(start: int) -> None:
            some: Any = X[start : start + chunk]
            if is_sparse(some):
                some = some.toarray()
            rows = np.require(some, np.float64, ["C", "W"])
            add(rows, total[start : start + chunk], block, roots, *self._arrays)

        starts = range(0, n, chunk)
        if min(threads, len(starts)) <= 1:
            for start in starts:
                score(start)
        else:
            with ThreadPoolExecutor(min(threads, len(starts))) as pool:
                list(pool.map(score, starts))

    @cached_property
    def _arrays(self) -> tuple[AnyArray, ...]:
        names = ("feature", "threshold", "kind", "words", "children", "values", "categories")
        return tuple(np.require(getattr(self, name), _DTYPES[name], ["C", "W"]) for name in names)

    def contributions(self, X: AnyArray, threads: int = 1) -> Floats:
        """SHAP values, (n, d + 1) or (n, n_scores, d + 1), summing to the scores; last the base."""
        found: Any = self._predicted(X, pred_contrib=True, num_threads=threads)
        if isinstance(found, list):  # of sparse rows: a sparse matrix per score
            return np.stack([part.toarray() for part in found], axis=1)
        values = np.asarray(found.toarray() if is_sparse(found) else found)
        width = X.shape[1] + 1
        return values if values.shape[1] == width else values.reshape(len(values), -1, width)

    def importances(self, n_features: int) -> Floats:
        """Total gain of each feature."""
        gains = np.maximum(self.gain, 0.0)
        return np.asarray(np.bincount(self.feature, gains, minlength=n_features), dtype=np.float64)

    # --- tables from tables -----------------------------------------------------------------------

    def scaled(self, factor: float, shift: float | Floats = 0.0) -> Trees:
        """A table whose scores are a linear function of these."""
        return replace(self, base=factor * self.base + shift, values=factor * self.values)

    @classmethod
    def joined(cls, tables: Sequence[Trees], weights: Sequence[float]) -> Trees:
        """One table whose scores are the weighted sum of those of others."""
        nodes, leaves, words = (
            _before(np.array([len(getattr(table, name)) for table in tables]))
            for name in ("feature", "values", "categories")
        )
        parts = [
            replace(
                table.scaled(weight),
                roots=_moved(table.roots, node, leaf),
                children=_moved(table.children, node, leaf),
                threshold=table.threshold + word * (table.kind & CATEGORY),
            )
            for table, weight, node, leaf, word in zip(
                tables, weights, nodes, leaves, words, strict=True
            )
        ]
        found = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _DTYPES}
        found["base"] = np.sum([part.base for part in parts], axis=0)
        return cls(parts[0].n_scores, **found)

    def picked(self, trees: Ints) -> Trees:
        """Some of the trees, in the order given."""
        sizes = self.sizes
        of_node, of_leaf = _before(sizes)[trees], _before(sizes + 1)[trees]
        sizes = sizes[trees]
        node, leaf = _before(sizes), _before(sizes + 1)
        nodes = np.arange(sizes.sum()) + np.repeat(of_node - node, sizes)
        leaves = np.arange((sizes + 1).sum()) + np.repeat(of_leaf - leaf, sizes + 1)
        some = {name: getattr(self, name)[nodes] for name in _OF_NODES}
        some |= {name: getattr(self, name)[leaves] for name in ("values", "leaf_cover")}
        moves = [np.repeat(x, sizes)[:, None] for x in (node - of_node, leaf - of_leaf)]
        some["children"] = _moved(self.children[nodes], *moves)
        return replace(self, roots=np.where(sizes > 0, node, ~leaf).astype(np.int32), **some)

    @cached_property
    def sizes(self) -> Ints:
        """Number of nodes of each tree."""
        grown = self.roots >= 0
        sizes = np.zeros(len(self.roots), dtype=np.int64)
        sizes[grown] = np.diff(np.append(self.roots[grown], len(self.feature)))
        return sizes

    def _levels(self) -> Iterator[AnyArray]:
        """Nodes of all trees by depth."""
        level = self.roots[self.roots >= 0]
        while len(level):
            yield level
            below = self.children[level].ravel()
            level = below[below >= 0]

    # --- soundness --------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise a ValueError unless any row of at least `width` columns can be scored."""
        if type(self.n_scores) is not int or self.n_scores < 1:
            raise ValueError(f"Trees: n_scores must be at least 1, got {self.n_scores!r}.")
        n_nodes, n_trees = np.size(self.feature), np.size(self.roots)
        shapes = dict.fromkeys(_OF_NODES, (n_nodes,)) | {
            "base": (self.n_scores,),
            "roots": (n_trees,),
            "children": (n_nodes, 2),
            "values": (n_nodes + n_trees,),
            "leaf_cover": (n_nodes + n_trees,),
            "categories": (np.size(self.categories),),
        }
        for name, dtype in _DTYPES.items():
            array, shape = getattr(self, name), shapes[name]
            if type(array) is not np.ndarray or array.dtype != dtype or array.shape != shape:
                kind = np.dtype(dtype).name
                raise ValueError(f"Trees: {name} must be an array of {kind} of the shape {shape}.")
        is_set = (self.kind & CATEGORY) > 0
        first, size = self.threshold[is_set], self.words[is_set].astype(np.float64)
        within = (first >= 0) & (first == np.floor(first)) & (size >= 0)
        within &= first + size <= len(self.categories)
        # LightGBM's twin writes each set out, and those that hold missing values up to the longest.
        to_longest = np.count_nonzero(self.kind[is_set] & MISSING_LEFT)
        written = size.sum() + size.max(initial=0) * to_longest
        numbers = np.concatenate([self.base, self.values, self.gain, self.leaf_cover])
        rules = {
            "the same number of trees for each score": n_trees % self.n_scores == 0,
            "finite numbers": np.isfinite(numbers).all() and not np.isnan(self.threshold).any(),
            "covers that are not negative": (self.leaf_cover >= 0).all(),
            "features that are columns": (self.feature >= 0).all(),
            "known kinds of nodes": ((self.kind >= 0) & (self.kind < 8)).all(),
            "sets of categories within the table": within.all()
            and not self.words[~is_set].any()
            and written <= _WORDS,
            "one parent for each node, and no circles": self._is_forest(),
        }
        for rule, holds in rules.items():
            if not holds:
                raise ValueError(f"Trees must have {rule}.")
        if next(islice(self._levels(), _DEPTH, None), None) is not None:
            raise ValueError(f"Trees must have a depth of at most {_DEPTH}.")

    def _is_forest(self) -> bool:
        """Whether each tree has its own nodes and leaves, each met once, parents first."""
        is_grown, sizes = self.roots >= 0, self.sizes
        starts, first = _before(sizes), _before(sizes + 1)
        is_placed = self.roots == np.where(is_grown, starts, ~first)
        if not (is_placed & (sizes >= is_grown)).all() or sizes.sum() != len(self.feature):
            return False
        tree = np.repeat(np.arange(len(sizes)), sizes)[:, None]
        child, leaf = self.children.astype(np.int64), ~self.children.astype(np.int64)
        is_node = (child > np.arange(len(child))[:, None]) & (child < (starts + sizes)[tree])
        is_leaf = (leaf >= first[tree]) & (leaf <= first[tree] + sizes[tree])
        # A tree of m nodes has 2 m children: m - 1 nodes and m + 1 leaves, if each comes once.
        if not (is_node | is_leaf).all():
            return False
        met = np.zeros(len(self.feature) + len(self.values), dtype=bool)
        met[child] = True  # leaves, whose numbers are negative, from the end
        return bool(np.count_nonzero(met) == child.size)

    # --- LightGBM's twin --------------------------------------------------------------------------

    def to_lightgbm(self, n_features: int, *, is_log_loss: bool = False) -> lgb.Booster:
        """An ordinary booster with the same raw scores; covers become whole counts."""
        # A missing category goes right there, always: see `_predicted`.
        k, table = self.n_scores, self
        if not len(self.roots):
            roots, ones = ~np.arange(k, dtype=np.int32), np.ones(k)
            table = replace(self, roots=roots, values=0.0 * ones, leaf_cover=ones)
        texts = _texts(table)
        objective = "binary sigmoid:1" if k == 1 else f"multiclass num_class:{k}"
        head = (
            f"tree\nversion=v4\nnum_class={k}\nnum_tree_per_iteration={k}\nlabel_index=0\n"
            f"max_feature_idx={n_features - 1}\n"
            + (f"objective={objective}\n" if is_log_loss else "")
            + f"feature_names={' '.join(f'Column_{j}' for j in range(n_features))}\n"
            f"feature_infos={' '.join(['none'] * n_features)}\n"
            f"tree_sizes={' '.join(str(len(text)) for text in texts)}\n\n"
        )
        tail = "end of trees\n\nfeature_importances:\n\npandas_categorical:null\n"
        return lgb.Booster(model_str=head + "".join(texts) + tail)

    def _predicted(self, X: Any, **options: Any) -> Any:
        """The answer of LightGBM's twin."""
        self._check_width(X)
        twins = self.__dict__.setdefault("_twins", {})
        if (twin := twins.get(X.shape[1])) is None:
            twin = twins[X.shape[1]] = self.to_lightgbm(X.shape[1])
        lost = np.unique(self.feature[(self.kind & (CATEGORY | MISSING_LEFT)) == 3])
        if len(lost):
            # XGBoost may send a missing category to either side, LightGBM only right: a code that
            # no row has stands for it.
            X = np.array(X.toarray() if is_sparse(X) else X, dtype=np.float64)
            codes, missing = X[:, lost], 32 * int(self.words.max(initial=0))
            codes[codes >= missing] = -1.0
            X[:, lost] = np.where(np.isnan(codes), missing, codes)
        return twin.predict(X, **options)


# Arrays with an entry per node, beside the children.
_OF_NODES = ("feature", "threshold", "kind", "words", "gain")


def _before(sizes: Ints) -> Ints:
    """Sum of the sizes before each."""
    return np.asarray(np.cumsum(sizes) - sizes, dtype=np.int64)


def _moved(places: AnyArray, nodes: Any, leaves: Any) -> AnyArray:
    """Nodes and leaves so many places further on."""
    return np.asarray(np.where(places >= 0, places + nodes, places - leaves), dtype=np.int32)


@cache
def load_kernel() -> Callable[..., None]:
    """Load numba: a process that answers for long scores single rows sooner."""

    def add(  # type: ignore[no-untyped-def]
        X, total, block, roots, feature, threshold, kind, words, children, values, categories
    ):
        n, n_scores = total.shape
        for start in range(0, n, block):
            end = min(start + block, n)
            for t in range(roots.shape[0]):
                score = t % n_scores
                root = roots[t]
                for i in range(start, end):
                    node = root
                    while node >= 0:
                        x = X[i, feature[node]]
                        bits = kind[node]
                        if np.isnan(x):
                            right = 1 - ((bits >> 1) & 1)
                        elif bits & 1:  # codes of -1 and below are in no set
                            right = 1
                            if x > -1.0 and x < 32.0 * words[node]:
                                code = np.int64(x)
                                word = categories[np.int64(threshold[node]) + (code >> 5)]
                                right = 1 - ((word >> np.uint32(code & 31)) & 1)
                        elif bits & 4 and -ZERO <= x <= ZERO:
                            right = 1 - ((bits >> 1) & 1)
                        else:
                            right = 0 if x <= threshold[node] else 1
                        node = children[node, right]
                    total[i, score] += values[~node]

    compiled: Callable[..., None] = jit(add)
    return compiled


def _texts(trees: Trees) -> list[str]:
    """Each tree in LightGBM's own words."""
    sizes, k = trees.sizes, trees.n_scores
    node, leaf = _before(sizes), _before(sizes + 1)
    values, owner = trees.values.copy(), np.repeat(np.arange(len(sizes)), sizes + 1)
    # The first tree of each score carries its base: the sum is the same to the last bit.
    values[owner < k] += trees.base[owner[owner < k]]
    leaf_count, total = trees.leaf_cover, np.bincount(owner, trees.leaf_cover).max(initial=1.0)
    if (leaf_count < 1).any() or (leaf_count % 1 > 0).any() or total > _COUNTS:
        # Without a row a leaf still has one, or SHAP values would divide by zero.
        leaf_count = np.maximum(np.round(leaf_count * (_COUNTS / total)), 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        count, mean, _ = _inner(trees, leaf_count, values)
    kind, is_set = trees.kind.astype(np.int64), (trees.kind & CATEGORY) > 0
    missing = (kind & MISSING_LEFT) | np.where(kind & ZERO_MISSING, 4, 8)
    moves = [-np.repeat(first, sizes)[:, None] for first in (node, leaf)]
    children = _moved(trees.children, *moves)
    nodes = {
        "split_feature": trees.feature,
        "split_gain": trees.gain,
        "threshold": trees.threshold,
        "decision_type": np.where(is_set, CATEGORY, missing),
        "left_child": children[:, 0],
        "right_child": children[:, 1],
        "internal_value": np.nan_to_num(mean),
        "internal_weight": count,
        "internal_count": count.astype(np.int64),
    }
    leaves = {
        "leaf_value": values,
        "leaf_weight": leaf_count,
        "leaf_count": leaf_count.astype(np.int64),
    }
    texts = []
    for t, size in enumerate(sizes.tolist()):
        tree = {name: array[node[t] : node[t] + size] for name, array in nodes.items()}
        tree |= {name: array[leaf[t] : leaf[t] + size + 1] for name, array in leaves.items()}
        chosen = np.flatnonzero(tree["decision_type"] == CATEGORY)
        sets = _sets(trees, node[t] + chosen)
        if sets:
            tree["threshold"] = tree["threshold"].copy()
            tree["threshold"][chosen] = np.arange(len(sets))
            tree["cat_boundaries"] = np.cumsum([0, *map(len, sets)])
            tree["cat_threshold"] = np.concatenate(sets)
        lines = [f"{name}={' '.join(map(repr, x.tolist()))}\n" for name, x in tree.items()]
        texts.append(
            f"Tree={t}\nnum_leaves={size + 1}\nnum_cat={len(sets)}\n{''.join(lines)}"
            "is_linear=0\nshrinkage=1\n\n\n"
        )
    return texts


def _inner(trees: Trees, leaf_count: Floats, values: Floats) -> tuple[Floats, Floats, Floats]:
    """Counts and means of the nodes, and what a split takes off the squared error."""
    count, mean, gain = np.zeros((3, len(trees.feature)))
    for level in reversed(list(trees._levels())):
        child = trees.children[level]
        is_leaf = child < 0
        counts = np.where(is_leaf, leaf_count[~child * is_leaf], count[child * ~is_leaf])
        means = np.where(is_leaf, values[~child * is_leaf], mean[child * ~is_leaf])
        count[level] = counts.sum(axis=1)
        mean[level] = (counts * means).sum(axis=1) / count[level]
        gain[level] = (counts * (means - mean[level, None]) ** 2).sum(axis=1)
    return count, mean, gain


def _sets(trees: Trees, nodes: Ints) -> list[list[int]]:
    """Words of the sets of categories of some nodes."""
    last = int(trees.words.max(initial=0))
    sets = []
    for node in nodes:
        first = int(trees.threshold[node])
        words = trees.categories[first : first + int(trees.words[node])].tolist()
        if trees.kind[node] & MISSING_LEFT:  # the code that stands for a missing category
            words += [0] * (last - len(words)) + [1]
        sets.append(words or [0])
    return sets


# --- from the engines -----------------------------------------------------------------------------


def _largest_double(border: AnyArray) -> Floats:
    """The largest double that single precision does not round above a number of its own."""
    low = np.asarray(border, dtype=np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        above = np.nextafter(low, np.float32(np.inf)).astype(np.float64)
        middle = 0.5 * (low.astype(np.float64) + above)
        is_low = middle.astype(np.float32) <= low
    found = np.where(is_low, middle, np.nextafter(middle, -np.inf))
    return np.where(np.isfinite(middle), found, low)


def _with_zeros(threshold: Floats) -> Floats:
    """Thresholds that treat all that counts as zero alike."""
    low = np.nextafter(-ZERO, -np.inf)
    moved = np.where((threshold >= -ZERO) & (threshold < 0), low, threshold)
    return np.where((threshold >= 0) & (threshold < ZERO), ZERO, moved)


def _made(n_scores: int, **arrays: AnyArray) -> Trees:
    """A table with arrays of the right types."""
    right = {name: np.ascontiguousarray(arrays[name], _DTYPES[name]) for name in _DTYPES}
    return Trees(n_scores, **right)


def from_lightgbm(booster: lgb.Booster, n_rounds: int | None = None) -> Trees:
    """The trees of a LightGBM booster's first rounds."""
    text = booster.model_to_string(num_iteration=-1 if n_rounds is None else n_rounds)
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

    k = booster.num_model_per_iteration()
    leaves = numbers("num_leaves")
    sizes = leaves - 1
    first, first_leaf = _before(sizes), _before(leaves)
    children = np.stack([numbers("left_child"), numbers("right_child")], axis=1)
    decision = numbers("decision_type")
    is_set = (decision & 1) > 0
    asked = numbers("threshold", np.float64)
    threshold = _with_zeros(asked)
    missing = decision >> 2
    # Where nothing was missing in training, NaN counts as zero.
    left = np.where(missing == 0, threshold >= 0, (decision & 2) > 0)
    kind = np.where(is_set, CATEGORY, MISSING_LEFT * left + ZERO_MISSING * (missing == 1))
    words = np.zeros(len(kind), dtype=np.int64)
    if is_set.any():
        # A tree with sets has one bound more than sets; trees without have none.
        counts, bounds = numbers("num_cat"), numbers("cat_boundaries")
        rows = np.where(counts > 0, counts + 1, 0)
        ends = np.where(counts > 0, bounds[np.maximum(np.cumsum(rows) - 1, 0)], 0)
        tree = np.repeat(np.arange(len(sizes)), sizes)[is_set]
        place = _before(rows)[tree] + asked[is_set].astype(np.int64)
        words[is_set] = bounds[place + 1] - bounds[place]
        threshold[is_set] = _before(ends)[tree] + bounds[place]
    values = numbers("leaf_value", np.float64)
    cover, counts = np.ones(len(values)), numbers("leaf_count", np.float64)
    # Trees that are constants may have no count in the text.
    has_count = np.repeat((leaves > 1) | (len(counts) == len(values)), leaves)
    cover[has_count] = counts
    moves = [np.repeat(x, sizes)[:, None] for x in (first, first_leaf)]
    return _made(
        k,
        base=np.zeros(k),
        roots=np.where(sizes > 0, first, ~first_leaf),
        feature=numbers("split_feature"),
        threshold=threshold,
        kind=kind,
        words=words,
        children=_moved(children, *moves),
        values=values,
        categories=numbers("cat_threshold"),
        gain=numbers("split_gain", np.float64),
        leaf_cover=cover,
    )


def _counted(n_scores: int, base: Any, sizes: Ints, children: Ints, **nodes: Any) -> Trees:
    """A table of trees that count nodes and leaves together; a leaf's left child is -1."""
    roots, is_leaf = _before(sizes), children[:, 0] < 0
    is_grown = ~is_leaf
    children = children[is_grown] + np.repeat(roots, sizes)[is_grown, None]
    # A node that was pruned away stays in XGBoost's arrays, without a parent.
    is_kept = np.zeros(len(is_leaf), dtype=bool)
    is_kept[children] = is_kept[roots] = True
    is_leaf &= is_kept
    place = np.where(is_leaf, ~(np.cumsum(is_leaf) - 1), np.cumsum(is_grown) - 1)
    for names, some in ((_OF_NODES, is_grown), (("values", "leaf_cover"), is_leaf)):
        nodes |= {name: nodes[name][some] for name in names}
    return _made(n_scores, base=base, roots=place[roots], children=place[children], **nodes)


def from_xgboost(booster: Any) -> Trees:
    """The trees of an XGBoost booster."""
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
        one, tiny = np.float32(1.0), np.float32(1e-6)
        base = -np.log(one / np.clip(base.astype(np.float32), tiny, one - tiny) - one)
    k = max(int(learner["learner_model_param"][name]) for name in ("num_class", "num_target"))

    def joined(name: str, dtype: Any = np.int64) -> AnyArray:
        return np.concatenate([np.asarray(tree[name], dtype=dtype) for tree in trees])

    sizes = np.array([len(tree["left_children"]) for tree in trees])
    left, right = joined("left_children"), joined("right_children")
    # `x < t` in single precision.
    condition = joined("split_conditions", np.float32)
    threshold = _with_zeros(_largest_double(np.nextafter(condition, np.float32(-np.inf))))
    is_left = joined("default_left", bool)
    is_set = (joined("split_type") == 1) & (left >= 0)
    # A category of the set goes right there, left here.
    left[is_set], right[is_set] = right[is_set], left[is_set]
    kind = np.where(is_set, CATEGORY + MISSING_LEFT * ~is_left, MISSING_LEFT * is_left)
    words = np.zeros(len(left), dtype=np.int64)
    categories: list[int] = []
    for tree, start in zip(trees, _before(sizes), strict=True):
        sets = ("categories_nodes", "categories_segments", "categories_sizes")
        for node, begin, size in zip(*(tree[name] for name in sets), strict=True):
            codes = np.asarray(tree["categories"][begin : begin + size], dtype=np.int64)
            bits = np.zeros(int(codes.max(initial=0)) // 32 + 1, dtype=np.uint32)
            np.bitwise_or.at(bits, codes // 32, np.uint32(1) << (codes % 32).astype(np.uint32))
            threshold[start + node], words[start + node] = len(categories), len(bits)
            categories += bits.tolist()
    value = condition.astype(np.float64)
    if scales:
        value *= np.repeat(np.asarray(scales, dtype=np.float32).astype(np.float64), sizes)
    found = _counted(
        k,
        np.broadcast_to(base, (k,)),
        sizes,
        np.stack([left, right], axis=1),
        values=value,
        leaf_cover=joined("sum_hessian", np.float64),
        feature=joined("split_indices"),
        threshold=threshold,
        kind=kind,
        words=words,
        gain=joined("loss_changes", np.float64),
        categories=categories,
    )
    # With parallel trees, those of a score follow each other.
    groups = np.asarray(model["tree_info"])
    order = np.stack([np.flatnonzero(groups == group) for group in range(k)], axis=1).ravel()
    return found if (order == np.arange(len(order))).all() else found.picked(order)


def from_catboost(booster: Any, source: Ints, category: Ints) -> Trees:
    """The symmetric trees of a CatBoost model, whose columns are categories (or -1) of others."""
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
    """A symmetric tree, which asks one question per level, as an ordinary one."""
    depth = len(feature)
    n_leaves, levels = 2**depth, np.arange(depth + 1)
    level = np.repeat(levels, 2**levels)
    path = np.arange(len(level)) + 1 - 2**level
    category = np.append(category, -1)[level]
    # The first question is the lowest bit of the number of a leaf.
    no = 2 ** (level + 1) - 1 + path
    yes, is_set, is_leaf = no + 2**level, category >= 0, level == depth
    # Left if the category is in the set; if the number is not larger, or missing.
    words = np.where(is_set, category // 32 + 1, 0)
    categories = np.zeros(words.sum(), dtype=np.uint32)
    bits = np.uint32(1) << (category[is_set] % 32).astype(np.uint32)
    categories[np.cumsum(words)[is_set] - 1] = bits
    border = np.append(_with_zeros(_largest_double(borders)), 0.0)[level]
    inner = np.zeros(n_leaves - 1)
    found = _counted(
        1,
        np.zeros(1),
        np.array([len(level)]),
        np.where(is_leaf, -1, np.where(is_set, [yes, no], [no, yes])).T,
        values=np.append(inner, values),
        leaf_cover=np.append(inner, np.maximum(np.round(weights), 1.0)),
        feature=np.append(feature, 0)[level],
        threshold=np.where(is_set, _before(words), border),
        kind=np.where(is_set, CATEGORY, MISSING_LEFT),
        words=words,
        gain=np.zeros(len(level)),
        categories=categories,
    )
    return replace(found, gain=_inner(found, found.leaf_cover, found.values)[2])
