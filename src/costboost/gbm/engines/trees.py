"""Scores of many rows by the trees of a LightGBM booster, block of rows by block of rows.

LightGBM sends each row through all trees before it takes the next one, so large boosters fall out
of the processor's cache again and again. Here a few rows that fit into the cache go through one
tree after the other. Leaves are added in LightGBM's order: scores are the same to the last bit.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import lightgbm as lgb
import numpy as np

from costboost._typing import AnyArray, Floats, Ints

__all__ = ["ZERO", "Trees", "trees_for"]

# Rows times trees below which LightGBM is fast enough.
_WORK = 1_000_000
# Rows for which it pays to read the trees first.
_ROWS = 5000
# Bytes of the rows that go through a tree together: they stay in the cache.
_BLOCK_BYTES = 2**15
# Rows that a thread takes at a time.
_CHUNK_ROWS = 4096
# What LightGBM takes for zero, a number of single precision.
ZERO = float(np.float32(1e-35))
# Bits of LightGBM's decision type: a split by category, missing values to the left, and what is
# missing (nothing, zeros, NaN).
_CATEGORY, _LEFT, _MISSING_SHIFT = 1, 2, 2
_ZEROS = 1

_trees: WeakKeyDictionary[lgb.Booster, tuple[int, Trees | None]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Trees:
    """All trees of a booster, node after node."""

    n_scores: int
    roots: AnyArray
    feature: AnyArray
    threshold: Floats
    kind: AnyArray
    words: AnyArray
    children: AnyArray
    values: Floats
    categories: AnyArray

    @classmethod
    def of(cls, booster: lgb.Booster, n_rounds: int) -> Trees | None:
        """The trees of the first rounds; None if there is something else in the booster."""
        text = booster.model_to_string(num_iteration=n_rounds)
        head, _, rest = text.partition("\nTree=0\n")
        body = rest.partition("\nend of trees")[0]
        if "\naverage_output" in head or "\nis_linear=1" in body:
            return None

        def numbers(name: str, dtype: Any) -> AnyArray:
            found = re.findall(rf"^{name}=(.*)$", body, re.MULTILINE)
            return np.array(" ".join(found).split(), dtype=dtype)

        kind = numbers("decision_type", np.int64)
        if ((kind >> _MISSING_SHIFT) == _ZEROS).any():
            return None
        leaves = numbers("num_leaves", np.int64)
        nodes = leaves - 1
        first, first_leaf = _before(nodes), _before(leaves)
        children = np.stack(
            [numbers(f"{side}_child", np.int64) for side in ("left", "right")], axis=1
        )
        children += np.where(
            children >= 0, np.repeat(first, nodes)[:, None], -np.repeat(first_leaf, nodes)[:, None]
        )
        threshold = numbers("threshold", np.float64)
        sets = _Sets(numbers("num_cat", np.int64), numbers("cat_boundaries", np.int64))
        is_category = (kind & _CATEGORY) > 0
        words = np.zeros(len(kind), dtype=np.int64)
        if is_category.any():
            tree = np.repeat(np.arange(len(leaves)), nodes)[is_category]
            start, words[is_category] = sets.find(tree, threshold[is_category].astype(np.int64))
            threshold[is_category] = start
        return cls(
            int(re.search(r"^num_tree_per_iteration=(\d+)$", head, re.MULTILINE)[1]),  # type: ignore[index]
            np.where(nodes > 0, first, ~first_leaf).astype(np.int32),
            numbers("split_feature", np.int32),
            threshold,
            kind.astype(np.int8),
            words.astype(np.int32),
            np.ascontiguousarray(children, dtype=np.int32).ravel(),
            numbers("leaf_value", np.float64),
            numbers("cat_threshold", np.uint32),
        )

    def scores(self, X: AnyArray, threads: int = 1) -> Floats:
        """Raw scores of rows."""
        total = np.zeros((len(X), self.n_scores))
        arguments = (
            self.roots,
            self.feature,
            self.threshold,
            self.kind,
            self.words,
            self.children,
            self.values,
            self.categories,
        )
        add, rows = _compiled(), max(_BLOCK_BYTES // (8 * max(X.shape[1], 1)), 8)

        def score(start: int) -> None:
            some = slice(start, start + _CHUNK_ROWS)
            add(np.ascontiguousarray(X[some], dtype=np.float64), total[some], rows, *arguments)

        starts = range(0, len(X), _CHUNK_ROWS)
        workers = min(threads, len(starts))
        if workers <= 1:
            for start in starts:
                score(start)
        else:
            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(score, starts))
        return total[:, 0] if self.n_scores == 1 else total


def trees_for(booster: lgb.Booster, n_rounds: int, n_rows: int) -> Trees | None:
    """The trees of a booster if they score so many rows faster than LightGBM, else None."""
    if n_rows * n_rounds * booster.num_model_per_iteration() < _WORK:
        return None
    known = _trees.get(booster)
    if known is None or known[0] != n_rounds:
        if n_rows < _ROWS:
            return None
        known = _trees[booster] = n_rounds, Trees.of(booster, n_rounds)
    return known[1]


@dataclass(frozen=True, eq=False)
class _Sets:
    """Sets of categories of all trees: how many each has, and where they begin."""

    counts: Ints
    bounds: Ints

    def find(self, tree: Ints, number: Ints) -> tuple[Ints, Ints]:
        """First word, and words, of a tree's set of that number."""
        # A tree with sets has one bound more than sets; trees without have none.
        rows = np.where(self.counts > 0, self.counts + 1, 0)
        first = _before(rows)
        sizes = np.where(self.counts > 0, self.bounds[np.maximum(first + rows - 1, 0)], 0)
        place = first[tree] + number
        start = self.bounds[place]
        return _before(sizes)[tree] + start, self.bounds[place + 1] - start


def _before(sizes: Ints) -> Ints:
    """Sum of the sizes before each."""
    return np.asarray(np.cumsum(sizes) - sizes, dtype=np.int64)


@cache
def _compiled() -> Callable[..., None]:
    from numba import njit  # imported here: small jobs never need it

    @njit(cache=True, nogil=True)
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
                        if kind[node] & 1:  # NaN and codes of -1 and below are in no set
                            right = 1
                            if x > -1.0 and x < 32.0 * words[node]:
                                code = np.int64(x)
                                word = categories[np.int64(threshold[node]) + (code >> 5)]
                                right = 1 - ((word >> np.uint32(code & 31)) & 1)
                        elif np.isnan(x):
                            if kind[node] >> 2:  # NaN is missing; else it counts as zero
                                right = 1 - ((kind[node] >> 1) & 1)
                            else:
                                right = 0 if threshold[node] >= 0.0 else 1
                        else:
                            if -ZERO <= x <= ZERO:
                                x = 0.0
                            right = 0 if x <= threshold[node] else 1
                        node = children[2 * node + right]
                    total[i, score] += values[~node]

    compiled: Callable[..., None] = add
    return compiled
