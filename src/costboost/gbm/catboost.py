"""CatBoost, for log loss: it grows symmetric trees, which LightGBM then holds.

A symmetric tree asks the same question at every node of a level, so it is an ordinary tree too.
Boosters are therefore written as models of LightGBM: they predict the same, can be merged with its
own boosters, explained, saved and exported like them, and CatBoost is needed for training only.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import catboost
import lightgbm as lgb
import numpy as np

from costboost._frames import is_sparse
from costboost._typing import AnyArray, Floats, Ints
from costboost.gbm import lightgbm
from costboost.gbm.engines.merging import booster_of
from costboost.gbm.engines.tree_text import TREE_FIELDS
from costboost.gbm.members import Candidate
from costboost.gbm.models import LightGBMModel
from costboost.gbm.parameters import ONE_HOT
from costboost.gbm.rounds import Rounds
from costboost.gbm.rows import MemoryRows
from costboost.gbm.targets import Target

__all__ = ["as_lightgbm", "fit"]

# CatBoost's trees are weaker than others of as many leaves, and take larger steps.
_FASTER = 2.0
_MOST_DEPTH = 16


def fit(
    kind: Candidate, X: AnyArray, target: Target, rounds: Rounds, threads: int, table: MemoryRows
) -> LightGBMModel:
    """Train one booster: trees have the smallest depth with `max_leaves`."""
    if not target.is_log_loss:
        raise ValueError(
            "engine='catboost' trains log loss only. A loss of the library, or more than two "
            "decisions whose costs are unknown when deciding, need engine='lightgbm'."
        )
    if len(np.unique(target.labels)) < 2:  # CatBoost refuses rows of one label
        alone = Rounds(1, 0, 0, target, {}, **rounds.place)
        usual = replace(kind, parameters={}, device="cpu")
        return lightgbm.fit(usual, X, target, alone, threads, table)
    inputs = _Inputs.of(_dense(table.rows.X), table.columns.categorical)

    def pool(X: Any, known: Target) -> catboost.Pool:
        return catboost.Pool(inputs(_dense(X)), label=known.labels, weight=known.weights)

    stop_by = rounds.stop_by
    watched = None
    if stop_by is not None:
        watched = pool(rounds.sets[stop_by].X, rounds.targets[stop_by])
    booster = catboost.CatBoost(_parameters(kind, target, rounds, threads))
    booster.fit(
        pool(X, target),
        eval_set=watched,
        use_best_model=watched is not None,
        early_stopping_rounds=rounds.patience if watched is not None else None,
        callbacks=[_Callback(rounds)],
    )
    model = LightGBMModel(as_lightgbm(booster, inputs, X.shape[1]))
    if stop_by is not None:
        rounds.best_scores = model.scores(rounds.sets[stop_by].X)  # type: ignore[arg-type]
    return model


def _parameters(kind: Candidate, target: Target, rounds: Rounds, threads: int) -> dict[str, Any]:
    parameters: dict[str, Any] = {
        "iterations": rounds.n_rounds,
        "learning_rate": min(_FASTER * kind.learning_rate, 1.0),
        "depth": int(np.clip(np.ceil(np.log2(kind.max_leaves)), 1, _MOST_DEPTH)),
        "l2_leaf_reg": kind.reg_lambda,
        "rsm": kind.colsample,
        "bootstrap_type": "Bernoulli",
        "subsample": kind.subsample,
        "loss_function": "Logloss" if target.n_scores == 1 else "MultiClass",
        "random_seed": rounds.seed,
        "verbose": False,
        "allow_writing_files": False,  # no folder catboost_info in that of the user
        "thread_count": threads,
    }
    if kind.device in ("gpu", "cuda"):
        parameters["task_type"] = "GPU"
        del parameters["rsm"]  # for two classes it is for processors only
    if target.n_scores > 1:
        parameters["classes_count"] = target.n_scores
    return {**parameters, **kind.parameters}


class _Callback:
    """Reports rounds, and stops when it is told to."""

    def __init__(self, rounds: Rounds) -> None:
        self.rounds = rounds

    def after_iteration(self, info: Any) -> bool:
        """Whether to go on."""
        losses = {}
        if self.rounds.stop_by is not None:
            values = next(iter(info.metrics["validation"].values()))
            losses[self.rounds.stop_by] = float(values[-1])
        return not self.rounds.tell(losses)


def _dense(X: Any) -> AnyArray:
    return np.asarray(X.toarray() if is_sparse(X) else X)


@dataclass(frozen=True, eq=False)
class _Inputs:
    """The columns that CatBoost sees: numbers, and a column of zeros and ones per category."""

    source: Ints
    category: Ints

    @classmethod
    def of(cls, X: AnyArray, categorical: Sequence[int]) -> _Inputs:
        """The columns for a table, whose category codes are counted."""
        pairs: list[tuple[int, int]] = []
        for j in range(X.shape[1]):
            known = X[:, j][np.isfinite(X[:, j])] if j in categorical else np.empty(0)
            size = int(known.max()) + 1 if len(known) else 0
            if j in categorical and 0 < size <= ONE_HOT:
                pairs += [(j, code) for code in range(size)]
            else:
                pairs.append((j, -1))
        source, category = np.array(pairs, dtype=np.intp).T
        return cls(source, category)

    def __call__(self, X: AnyArray) -> AnyArray:
        """Rows as CatBoost takes them, in single precision."""
        values = X[:, self.source].astype(np.float32)
        marks = self.category >= 0
        values[:, marks] = values[:, marks] == self.category[marks]
        return np.ascontiguousarray(values)


def as_lightgbm(booster: catboost.CatBoost, columns: _Inputs, n_features: int) -> lgb.Booster:
    """A model of LightGBM with the raw scores of a CatBoost model."""
    with tempfile.TemporaryDirectory(prefix="costboost-") as folder:
        path = Path(folder) / "model.json"
        booster.save_model(str(path), format="json")
        model = json.loads(path.read_text())
    if "oblivious_trees" not in model:
        raise ValueError(
            "engine='catboost' takes symmetric trees only. Leave grow_policy out of engine_params."
        )
    scale, bias = model["scale_and_bias"]
    bias = np.atleast_1d(np.asarray(bias, dtype=np.float64))
    trees: list[str] = []
    for number, tree in enumerate(model["oblivious_trees"]):
        values = scale * np.asarray(tree["leaf_values"], dtype=np.float64).reshape(-1, len(bias))
        if number == 0:
            values = values + bias
        # The first question is the lowest bit of the number of a leaf.
        questions = [
            (int(split["float_feature_index"]), float(split["border"]))
            for split in tree.get("splits") or []
        ]
        weights = np.asarray(tree["leaf_weights"], dtype=np.float64)
        for column in values.T:
            shape = _Symmetric(questions, column, weights, columns)
            trees.append(shape.text(len(trees)))
    return booster_of(trees, len(bias), n_features)


class _Symmetric:
    """A symmetric tree as the text of an ordinary one."""

    def __init__(
        self,
        questions: list[tuple[int, float]],
        values: Floats,
        weights: Floats,
        columns: _Inputs,
    ) -> None:
        if not questions:  # a constant: both sides of any question
            questions, values = [(0, 0.0)], np.repeat(values, 2)
            weights = np.repeat(weights / 2, 2)
        self.questions = questions
        self.values = values
        # Without a row a leaf still has one, or SHAP values would divide by zero.
        self.counts = np.maximum(np.round(weights), 1.0)
        self.columns = columns

    def text(self, number: int) -> str:
        """The lines of the tree."""
        depth = len(self.questions)
        totals, sums = self._inner()
        lines: dict[str, list[Any]] = {name: [] for name in TREE_FIELDS}
        bounds, bits = [0], []
        for level, (feature, border) in enumerate(self.questions):
            category = int(self.columns.category[feature])
            for path in range(2**level):
                yes, no = self._child(level, path | 1 << level), self._child(level, path)
                lines["split_feature"].append(int(self.columns.source[feature]))
                if category >= 0:  # LightGBM goes left if the category is in the set
                    lines["threshold"].append(len(bounds) - 1)
                    lines["decision_type"].append(1)
                    words = [0] * (category // 32) + [1 << category % 32]
                    bits += words
                    bounds.append(bounds[-1] + len(words))
                    left, right = yes, no
                else:  # left if the number is not larger, or missing
                    lines["threshold"].append(_double_border(border))
                    lines["decision_type"].append(10)
                    left, right = no, yes
                lines["left_child"].append(left)
                lines["right_child"].append(right)
                total, mean = totals[level][path], sums[level][path] / totals[level][path]
                gain = sum(
                    totals[level + 1][p] * (sums[level + 1][p] / totals[level + 1][p] - mean) ** 2
                    for p in (path, path | 1 << level)
                )
                lines["split_gain"].append(float(gain))
                lines["internal_value"].append(float(mean))
                lines["internal_weight"].append(float(total))
                lines["internal_count"].append(int(total))
        lines["num_leaves"], lines["num_cat"] = [2**depth], [len(bounds) - 1]
        lines["leaf_value"] = self.values.tolist()
        lines["leaf_weight"] = self.counts.tolist()
        lines["leaf_count"] = self.counts.astype(int).tolist()
        lines["is_linear"], lines["shrinkage"] = [0], [1]
        if len(bounds) > 1:
            lines["cat_boundaries"], lines["cat_threshold"] = bounds, bits
        body = "".join(
            f"{name}={' '.join(map(repr, lines[name]))}\n" for name in TREE_FIELDS if lines[name]
        )
        return f"Tree={number}\n{body}\n\n"

    def _inner(self) -> tuple[list[Floats], list[Floats]]:
        """Counts, and sums of outputs, of the nodes of each level, leaves last."""
        totals, sums = [self.counts], [self.counts * self.values]
        for level in reversed(range(len(self.questions))):
            half = 2**level
            totals.insert(0, totals[0][:half] + totals[0][half:])
            sums.insert(0, sums[0][:half] + sums[0][half:])
        return totals, sums

    def _child(self, level: int, path: int) -> int:
        """The number of a child: of a node, level by level, or of a leaf."""
        is_leaf = level + 1 == len(self.questions)
        return ~path if is_leaf else 2 ** (level + 1) - 1 + path


def _double_border(border: float) -> float:
    """The largest double that single precision does not round above a border."""
    low = np.float32(border)
    middle = 0.5 * (float(low) + float(np.nextafter(low, np.float32(np.inf))))
    if not np.isfinite(middle):
        return float(low)
    return middle if np.float32(middle) <= low else float(np.nextafter(middle, -np.inf))
