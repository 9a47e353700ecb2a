"""Boosters of LightGBM made of the trees of others: side by side, their leaves multiplied."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

import lightgbm as lgb

__all__ = ["affine", "booster_of", "merged_lightgbm", "trees_of"]

# What is multiplied: outputs of leaves and of inner nodes, constants and slopes of leaves.
_OUTPUTS = re.compile(r"^(leaf_value|internal_value|leaf_const|leaf_coeff)=(.*)$", re.MULTILINE)
_NUMBER = re.compile(r"^Tree=\d+\n")


def merged_lightgbm(boosters: Sequence[lgb.Booster], weights: Sequence[float]) -> lgb.Booster:
    """One booster whose raw score is the weighted sum of those of the others."""
    head, _, tail = _parts(boosters[0])
    trees = [
        affine(tree, weight)
        for booster, weight in zip(boosters, weights, strict=True)
        for tree in trees_of(booster)
    ]
    return _joined(head, trees, tail)


def trees_of(booster: lgb.Booster) -> list[str]:
    """The text of each tree of a booster, its first line included."""
    return _parts(booster)[1]


def affine(tree: str, factor: float, shift: float = 0.0) -> str:
    """A tree whose output is a linear function of that of another."""
    return _OUTPUTS.sub(partial(_changed, factor=factor, shift=shift), tree)


def booster_of(trees: Sequence[str], n_scores: int, n_features: int) -> lgb.Booster:
    """A booster for log loss that is made of given trees."""
    objective = "binary sigmoid:1" if n_scores == 1 else f"multiclass num_class:{n_scores}"
    head = "\n".join(
        [
            "tree",
            "version=v4",
            f"num_class={n_scores}",
            f"num_tree_per_iteration={n_scores}",
            "label_index=0",
            f"max_feature_idx={n_features - 1}",
            f"objective={objective}",
            "feature_names=" + " ".join(f"Column_{j}" for j in range(n_features)),
            "feature_infos=" + " ".join(["none"] * n_features),
            "tree_sizes=",
            "\n",
        ]
    )
    tail = "end of trees\n\nfeature_importances:\n\npandas_categorical:null\n"
    return _joined(head[:-1], trees, tail)


def _parts(booster: lgb.Booster) -> tuple[str, list[str], str]:
    """What stands before the trees, the trees, and what stands after them."""
    text = booster.model_to_string()
    head, mark, rest = text.partition("Tree=0\n")
    body, end, tail = (mark + rest).partition("end of trees")
    trees = [tree.lstrip("\n") for tree in body.split("\n\n\n") if tree.strip()]
    return head, trees, end + tail


def _joined(head: str, trees: Sequence[str], tail: str) -> lgb.Booster:
    numbered = [
        _NUMBER.sub(f"Tree={number}\n", tree.rstrip("\n")) + "\n\n\n"
        for number, tree in enumerate(trees)
    ]
    sizes = " ".join(str(len(tree.encode())) for tree in numbered)
    head = re.sub(r"^tree_sizes=.*$", f"tree_sizes={sizes}", head, flags=re.MULTILINE)
    return lgb.Booster(model_str=head + "".join(numbered) + tail)


def _changed(found: re.Match[str], *, factor: float, shift: float) -> str:
    moved = 0.0 if found[1] == "leaf_coeff" else shift  # slopes are not moved
    values = " ".join(repr(float(value) * factor + moved) for value in found[2].split())
    return f"{found[1]}={values}"
