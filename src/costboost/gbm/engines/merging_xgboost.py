"""Several XGBoost boosters as one: their trees side by side, leaves times the booster's weight."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import xgboost as xgb

from costboost._typing import Floats

__all__ = ["merged_xgboost"]


def merged_xgboost(boosters: Sequence[xgb.Booster], weights: Sequence[float]) -> xgb.Booster:
    """One booster whose raw score is the weighted sum of those of the others."""
    models = [json.loads(bytes(booster.save_raw("json"))) for booster in boosters]
    learners = [model["learner"] for model in models]
    for learner in learners:
        name = learner["gradient_booster"]["name"]
        if name != "gbtree":
            raise AttributeError(
                f"Boosters of XGBoost's kind {name!r} cannot be merged into one: see boosters_."
            )
    forests = [learner["gradient_booster"]["model"] for learner in learners]
    trees: list[dict[str, Any]] = []
    groups: list[int] = []
    ends = [0]
    for forest, weight in zip(forests, weights, strict=True):
        ends += [len(trees) + end for end in forest["iteration_indptr"][1:]]
        groups += forest["tree_info"]
        trees += [_scaled(tree, weight) for tree in forest["trees"]]
    margins = np.stack([_margins(learner) for learner in learners])
    shift = np.asarray(weights) @ margins - margins[0]
    for group in sorted(set(groups)):
        _shifted(trees[groups.index(group)], float(shift[min(group, len(shift) - 1)]))
    for number, tree in enumerate(trees):
        tree["id"] = number
    merged = forests[0]
    merged["trees"], merged["tree_info"], merged["iteration_indptr"] = trees, groups, ends
    merged["gbtree_model_param"]["num_trees"] = str(len(trees))
    learners[0]["attributes"] = {}  # they are about the first booster
    return xgb.Booster(model_file=bytearray(json.dumps(models[0]).encode()))


def _margins(learner: dict[str, Any]) -> Floats:
    """Scores before the first tree: one, or one per group."""
    base = np.atleast_1d(json.loads(learner["learner_model_param"]["base_score"])).astype(float)
    if learner["objective"]["name"] in ("binary:logistic", "reg:logistic"):
        return np.asarray(np.log(base) - np.log1p(-base))
    return np.asarray(base)


def _scaled(tree: dict[str, Any], weight: float) -> dict[str, Any]:
    """The tree with its outputs multiplied; thresholds of inner nodes stay."""
    children = tree["left_children"]
    tree["split_conditions"] = [
        weight * value if child == -1 else value
        for value, child in zip(tree["split_conditions"], children, strict=True)
    ]
    tree["base_weights"] = [weight * value for value in tree["base_weights"]]
    return tree


def _shifted(tree: dict[str, Any], shift: float) -> None:
    """Add to all outputs of a tree."""
    tree["split_conditions"] = [
        value + shift if child == -1 else value
        for value, child in zip(tree["split_conditions"], tree["left_children"], strict=True)
    ]
    tree["base_weights"] = [value + shift for value in tree["base_weights"]]
