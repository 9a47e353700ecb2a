"""Trees grown by LightGBM: one binned ``Dataset`` serves every round."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import lightgbm as lgb
import numpy as np
from sklearn.tree import DecisionTreeRegressor

from costboost._threads import n_threads
from costboost._typing import AnyArray, Floats
from costboost.learners.base import (
    Aim,
    ConstantRule,
    Criterion,
    Ensemble,
    Fitted,
    Learner,
    Rows,
    constant,
    voted,
)
from costboost.trees import Trees, from_lightgbm


@dataclass
class Tree(Learner):
    """A decision or regression tree with at most ``max_leaves`` leaves.

    A tree for targets t and weights w is LightGBM's second-order tree with gradient -w·t, Hessian
    w, learning rate 1 and no penalty: its leaves hold weighted means, and its split gain is the
    weighted least-squares one (for votes in {-1, +1} that is the Gini gain). The criterion then
    turns leaf means into outputs. NaN, categorical columns and sparse rows are handled by
    LightGBM, for which entries left out of a sparse matrix are zeros.

    Parameters
    ----------
    max_leaves : int, default=8
        Largest number of leaves.
    max_bins : int, default=255
        Largest number of bins of a feature.
    min_rows : int, default=1
        Smallest number of rows of a leaf.
    """

    max_leaves: int = 8
    max_bins: int = 255
    min_rows: int = 1

    accepts_missing: ClassVar[bool] = True
    accepts_categories: ClassVar[bool] = True
    accepts_sparse: ClassVar[bool] = True

    def class_estimator(self) -> DecisionTreeRegressor:
        """Return a tree of cost rows, whose leaves name the cheapest class."""
        return DecisionTreeRegressor(max_leaf_nodes=self.max_leaves)

    def prepare(self, rows: Rows) -> None:
        """Bin the rows."""
        n = len(rows.sample_weight)
        total = float(rows.sample_weight.sum())
        # LightGBM guards leaves by their absolute Hessian, so weights are scaled to a mean near
        # 1. The scale is the sum of the sample weights times a power of two: that keeps weight 2
        # and a duplicated row equal to the last bit.
        self._total = total * 2.0 ** -round(float(np.log2(total / n)))
        self._n_threads = rows.n_threads
        params = {
            "objective": "none",
            "metric": "None",
            "num_leaves": self.max_leaves,
            "max_bin": self.max_bins,
            "learning_rate": 1.0,
            "min_data_in_leaf": self.min_rows,
            "min_data_in_bin": 1,
            # With 0, LightGBM aborts once the weights are skewed: it guesses counts from Hessians.
            "min_sum_hessian_in_leaf": 1e-3,
            # A weak learner is small; its categories need no further smoothing.
            "cat_l2": 0.0,
            "cat_smooth": 1.0,
            "min_data_per_group": 1,
            "feature_pre_filter": False,
            "num_threads": rows.n_threads,
            "force_col_wise": True,
            "deterministic": True,
            "seed": rows.seed,
            "verbosity": -1,
        }
        self._params = params
        self._data = lgb.Dataset(
            rows.X,
            label=np.zeros(n, dtype=np.float32),
            categorical_feature=list(rows.categorical),
            params=params,
        )
        self._start()

    def _start(self) -> None:
        self._booster = lgb.Booster(self._params, self._data)
        # LightGBM fails to train when every feature is constant.
        features = range(self._data.num_feature())
        self._has_features = any(self._data.feature_num_bin(j) > 1 for j in features)
        self._scores: Any = 0.0  # of the training rows

    def sibling(self) -> Tree:
        """A booster of its own on the same binned rows."""
        other = copy(self)
        other._start()
        return other

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """Grow one tree; its outputs are the change of LightGBM's own training scores."""
        if not self._has_features:
            return constant(aim)
        fit_weights = aim.criterion.fit_weights(aim.targets, aim.weights)
        # In double precision until the result: the factors alone may not fit into single.
        hessian = np.empty(fit_weights.shape, np.float32)
        np.multiply(fit_weights, self._total / fit_weights.sum(), out=hessian, casting="unsafe")
        gradient = np.empty(fit_weights.shape, np.float32)
        np.multiply(hessian, -aim.targets, out=gradient, casting="unsafe")
        if self._booster.update(fobj=lambda scores, data: (gradient, hessian)):
            return constant(aim)  # no split gains anything

        self._booster.eval_train(feval=self._take_scores)
        draft = _Draft(self._booster, self._booster.num_trees() - 1, aim.criterion)
        if not aim.criterion.needs_masses:
            return Fitted(draft, aim.criterion.of_mean(self._means))

        # A row's mean names its leaf. Leaves of one mean (all pure ones) cannot be told apart by
        # it and are one cell: they answer alike.
        leaves = _leaf_means(self._booster, draft.index)
        order = np.argsort(leaves)
        ranked = leaves[order]
        is_border = np.diff(ranked) > 1e-9
        of_leaf = np.empty(len(leaves), dtype=np.intp)
        of_leaf[order] = np.concatenate([[0], np.cumsum(is_border)])
        borders = 0.5 * (ranked[1:] + ranked[:-1])[is_border]
        cell = np.searchsorted(borders, self._means)
        first, second = (
            np.bincount(cell, channel, minlength=of_leaf.max() + 1).astype(np.float64, copy=False)
            for channel in aim.criterion.channels(aim.targets, aim.weights)
        )
        outputs = aim.criterion.values(first, second)
        return Fitted(replace(draft, leaf_outputs=outputs[of_leaf]), outputs[cell])

    def _take_scores(self, scores: Floats, data: Any) -> tuple[str, float, bool]:
        # LightGBM hands out one buffer for all rounds, hence the copy.
        self._means = scores - self._scores  # what the last tree added
        self._scores = scores.copy()
        return "scores", 0.0, True

    def ensemble(self, rules: Sequence[Any], votes: Floats) -> Ensemble:
        """Write α·h into the leaves: the sum of the trees is the score."""
        grown = [rule.index for rule in rules if not isinstance(rule, ConstantRule)]
        if not grown:
            return super().ensemble(rules, votes)
        trees = from_lightgbm(self._booster).picked(np.array(grown))
        means = np.split(trees.values, np.cumsum(trees.sizes + 1)[:-1])
        base, tables, leaves = 0.0, list[Floats](), list[Floats]()  # tree by tree
        for rule, vote in zip(rules, votes, strict=True):
            if isinstance(rule, ConstantRule):
                base += float(voted(vote, np.array(rule.value)))
            else:
                outputs = rule.leaf_outputs
                if outputs is None:
                    outputs = rule.criterion.of_mean(means[len(tables)])
                tables.append(outputs)
                leaves.append(voted(vote, outputs))
        trees = replace(trees, base=np.array([base]), values=np.concatenate(leaves))
        made = (TreeRule(trees, index, outputs) for index, outputs in enumerate(tables))
        finished = [rule if isinstance(rule, ConstantRule) else next(made) for rule in rules]
        return TreeEnsemble(finished, votes, trees, self._n_threads)


def _leaf_means(booster: lgb.Booster, index: int) -> Floats:
    text = booster.model_to_string(num_iteration=1, start_iteration=index)
    found = re.search(r"^leaf_value=(.*)$", text, flags=re.MULTILINE)
    return np.array(found.group(1).split() if found else [], dtype=np.float64)


@dataclass(frozen=True)
class _Draft:
    """A tree that the booster has grown; `Tree.ensemble` makes a `TreeRule` of it."""

    booster: lgb.Booster
    index: int
    criterion: Criterion
    leaf_outputs: Floats | None = None  # where the criterion needs more than the leaf means

    def predict(self, X: AnyArray) -> Floats:
        """The outputs of the tree, (n,)."""
        found: Any = self.booster.predict(
            X,
            start_iteration=self.index,
            num_iteration=1,
            raw_score=True,
            pred_leaf=self.leaf_outputs is not None,
            num_threads=self.booster.params["num_threads"],
        )
        if self.leaf_outputs is None:
            return self.criterion.of_mean(found)
        return np.asarray(self.leaf_outputs[found[:, 0]])


@dataclass(frozen=True, repr=False)
class TreeRule:
    """One tree of a finished table: the outputs of its leaves, without its vote."""

    trees: Trees
    index: int
    leaf_outputs: Floats

    def predict(self, X: AnyArray) -> Floats:
        """The outputs of the tree, (n,)."""
        return np.asarray(self.leaf_outputs[self.trees.leaves(X, self.index)[:, 0]])

    def importances(self, n_features: int) -> Floats:
        """The share of each feature in the gain of the tree's splits, (d,)."""
        gain = self.trees.picked(np.array([self.index])).importances(n_features)
        return np.asarray(gain / gain.sum() if gain.sum() > 0 else gain, dtype=np.float64)

    def __repr__(self) -> str:
        return f"TreeRule(index={self.index}, leaves={len(self.leaf_outputs)})"


class TreeEnsemble(Ensemble):
    """A sum of trees that is one table, with votes in its leaves."""

    def __init__(self, rules: Sequence[Any], votes: Floats, trees: Trees, n_threads: int) -> None:
        super().__init__(rules, votes)
        self.trees = trees
        self.n_threads = n_threads

    def outputs(self, X: AnyArray) -> Iterator[Floats]:
        """The outputs of every rule in turn; the rows are sent through all trees at once."""
        leaves = self.trees.leaves(X)
        for rule in self.rules:
            if isinstance(rule, TreeRule):
                yield rule.leaf_outputs[leaves[:, rule.index]]
            else:
                yield rule.predict(X)

    def decision_function(self, X: AnyArray) -> Floats:
        """F after the last round, in one pass."""
        return self.trees.scores(X, n_threads(self.n_threads))
