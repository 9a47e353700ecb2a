"""Check an XGBoost model before XGBoost sees it.

XGBoost reads children, features and groups of trees as they are; one out of range is a read or a
write outside its arrays. So the model must have the arrays that XGBoost writes, of the right type
and length, and trees that are trees.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.errors import ModelFileError
from costboost.files import ubjson

__all__ = ["TreeModel", "XGBoostTree", "parse"]

MAX_DEPTH = 2048
_NUMBER = re.compile(r"[0-9]{1,10}")
_FLOAT = re.compile(r"-?[0-9]{1,40}(\.[0-9]{0,40})?([eE][-+]?[0-9]{1,3})?")
# Where a set of categories may not reach: larger ones are no exact single precision numbers.
_MAX_CATEGORY = 2**24


@dataclass(frozen=True, eq=False)
class XGBoostTree:
    """A tree that was found to be one; arrays are of its nodes, leaves have no children."""

    left: Ints
    right: Ints
    feature: Ints
    value: Floats  # threshold of a split, output of a leaf; single precision
    default_left: AnyArray
    is_category: AnyArray
    categories: dict[int, Ints]  # of a node: what goes right


@dataclass(frozen=True, eq=False)
class TreeModel:
    """A model that was found to be one."""

    n_groups: int
    n_features: int
    objective: str
    base_score: Floats
    trees: list[XGBoostTree]
    groups: Ints
    weights: Floats | None  # of the trees, for boosting with dropout


class _StructureError(Exception):
    """What is wrong, and where."""


def parse(data: bytes, where: str) -> TreeModel:
    """Read a model in UBJSON, or say what is wrong with it."""
    tree = ubjson.parse(data, where)
    try:
        return _model(tree)
    except _StructureError as fault:
        raise ModelFileError(f"{where} is not a model of XGBoost: {fault}") from fault
    except (ValueError, IndexError, OverflowError) as error:
        raise ModelFileError(f"{where} is not a model of XGBoost: {error}") from error


def _need(holds: Any, words: str) -> None:
    if not holds:
        raise _StructureError(words)


def _object(value: Any, keys: str, words: str, optional: str = "") -> dict[str, Any]:
    _need(isinstance(value, dict), f"{words} must be an object")
    missing = set(keys.split()) - set(value)
    unknown = set(value) - set(keys.split()) - set(optional.split())
    _need(not missing, f"{words} has no {', '.join(sorted(missing))}")
    _need(not unknown, f"{words} has the unknown {', '.join(sorted(unknown))!r:.60}")
    found: dict[str, Any] = value
    return found


def _count(text: Any, words: str, low: int, high: int) -> int:
    fine = isinstance(text, str) and _NUMBER.fullmatch(text)
    _need(fine, f"{words} must be an integer as text, got {text!r:.40}")
    _need(low <= int(text) <= high, f"{words} must be from {low} to {high}, got {text}")
    return int(text)


def _array(value: Any, dtype: str, n: int | None, words: str) -> Any:
    fine = isinstance(value, np.ndarray) and value.dtype == np.dtype(dtype)
    _need(fine, f"{words} must be an array of {dtype}")
    _need(n is None or len(value) == n, f"{words} must have {n} items, got {len(value)}")
    return value


def _small_ints(value: Any, words: str) -> Ints:
    """Integers of any type, as XGBoost mixes them."""
    fine = isinstance(value, np.ndarray) and value.dtype.kind in "iu"
    if isinstance(value, list):
        fine = all(type(item) is int for item in value)
    _need(fine, f"{words} must be integers")
    return np.array(value, dtype=np.int64)


def _texts(value: Any, n: int, words: str) -> None:
    fine = isinstance(value, list) and all(isinstance(item, str) for item in value)
    _need(fine and len(value) in (0, n), f"{words} must be {n} texts, or none")


def _model(root: Any) -> TreeModel:
    root = _object(root, "learner version", "the model")
    version = _small_ints(root["version"], "version")
    _need(len(version) == 3 and version[0] in (2, 3), f"version {version.tolist()} is unknown")
    learner = _object(
        root["learner"],
        "attributes feature_names feature_types gradient_booster learner_model_param objective",
        "learner",
    )
    parameter = _object(
        learner["learner_model_param"],
        "base_score num_class num_feature num_target",
        "learner_model_param",
        "boost_from_average",
    )
    n_features = _count(parameter["num_feature"], "num_feature", 1, 2**31 - 1)
    n_classes = _count(parameter["num_class"], "num_class", 0, 2**20)
    _count(parameter["num_target"], "num_target", 1, 1)
    n_groups = max(n_classes, 1)
    _texts(learner["feature_names"], n_features, "feature_names")
    _texts(learner["feature_types"], n_features, "feature_types")
    _need(
        set(learner["feature_types"]) <= {"q", "c", "int", "i", "float"},
        "feature_types must be those of XGBoost",
    )
    attributes = learner["attributes"]
    _need(
        isinstance(attributes, dict) and all(isinstance(v, str) for v in attributes.values()),
        "attributes must be texts",
    )
    objective = _objective(learner["objective"], n_classes)
    booster, weights = _booster(learner["gradient_booster"])
    trees, groups = _trees(booster, n_features, n_groups)
    _need(
        weights is None or (len(weights) == len(trees) and np.isfinite(weights).all()),
        "weight_drop must have a finite number per tree",
    )
    base = _base_score(parameter["base_score"], n_groups)
    _need(n_groups <= max(len(trees), 1), f"{len(trees)} trees cannot serve {n_groups} classes")
    return TreeModel(n_groups, n_features, objective, base, trees, groups, weights)


def _base_score(text: Any, n_groups: int) -> Floats:
    _need(isinstance(text, str), "base_score must be text")
    items = text[1:-1].split(",") if text.startswith("[") and text.endswith("]") else [text]
    _need(len(items) in (1, n_groups), f"base_score must be {n_groups} numbers")
    _need(all(_FLOAT.fullmatch(item) for item in items), f"base_score {text!r:.40} is not a number")
    values = np.array([float(item) for item in items])
    _need(np.isfinite(values.astype(np.float32)).all(), "base_score must be finite")
    return values


def _objective(value: Any, n_classes: int) -> str:
    _need(isinstance(value, dict) and isinstance(value.get("name"), str), "objective has no name")
    name: str = value["name"]
    _need(
        name in ("binary:logistic", "binary:logitraw", "multi:softprob", "multi:softmax")
        or name.startswith("reg:"),
        f"objective {name!r:.40} is not one that costboost uses",
    )
    for key, setting in value.items():
        if key == "name":
            continue
        fine = isinstance(setting, dict) and all(isinstance(v, str) for v in setting.values())
        _need(fine, f"{key} of the objective must be texts")
    if name.startswith("multi:"):
        softmax = value.get("softmax_multiclass_param", {})
        _count(softmax.get("num_class"), "num_class of the objective", n_classes, n_classes)
        _need(n_classes >= 2, "num_class must be 2 or more")
    elif name.startswith("binary:"):
        _need(n_classes in (0, 1), f"objective {name} has one score, and num_class is {n_classes}")
    return name


def _booster(value: Any) -> tuple[Any, Floats | None]:
    _need(isinstance(value, dict) and "name" in value, "gradient_booster has no name")
    if value["name"] == "dart":
        value = _object(value, "name gbtree weight_drop", "gradient_booster")
        drop = value["weight_drop"]
        drop = np.array(drop if isinstance(drop, list) else _array(drop, "f4", None, "weight_drop"))
        _need(drop.dtype.kind == "f" or not len(drop), "weight_drop must be numbers")
        return _booster(value["gbtree"])[0], drop.astype(np.float64)
    _need(value["name"] == "gbtree", f"gradient_booster {value['name']!r:.40} is not one of trees")
    return _object(value, "name model", "gradient_booster")["model"], None


def _trees(value: Any, n_features: int, n_groups: int) -> tuple[list[XGBoostTree], Ints]:
    model = _object(
        value, "gbtree_model_param iteration_indptr tree_info trees", "the trees", "cats"
    )
    parameter = _object(
        model["gbtree_model_param"], "num_parallel_tree num_trees", "gbtree_model_param"
    )
    _need(isinstance(model["trees"], list), "trees must be a list")
    n = _count(parameter["num_trees"], "num_trees", len(model["trees"]), len(model["trees"]))
    _count(parameter["num_parallel_tree"], "num_parallel_tree", 1, max(n, 1))
    groups = _small_ints(model["tree_info"], "tree_info")
    _need(len(groups) == n, f"tree_info must have {n} items, got {len(groups)}")
    _need(np.all((groups >= 0) & (groups < n_groups)), f"tree_info must be below {n_groups}")
    bounds = _small_ints(model["iteration_indptr"], "iteration_indptr")
    _need(
        len(bounds) >= 1 and bounds[0] == 0 and bounds[-1] == n and np.all(np.diff(bounds) >= 0),
        f"iteration_indptr must grow from 0 to {n}",
    )
    if "cats" in model:
        cats = _object(model["cats"], "enc feature_segments sorted_idx", "cats")
        _need(
            all(len(item) == 0 for item in cats.values()), "cats must be empty: columns are codes"
        )
    return [_tree(tree, i, n_features) for i, tree in enumerate(model["trees"])], groups


def _tree(value: Any, number: int, n_features: int) -> XGBoostTree:
    words = f"tree {number}"
    tree = _object(
        value,
        "base_weights categories categories_nodes categories_segments categories_sizes "
        "default_left id left_children loss_changes parents right_children "
        "split_conditions split_indices split_type sum_hessian tree_param",
        words,
    )
    parameter = _object(
        tree["tree_param"],
        "num_deleted num_feature num_nodes size_leaf_vector",
        f"tree_param of {words}",
    )
    _need(tree["id"] == number, f"{words} has the id {tree['id']!r:.20}")
    n = _count(parameter["num_nodes"], f"num_nodes of {words}", 1, 2**31 - 1)
    deleted = _count(parameter["num_deleted"], f"num_deleted of {words}", 0, n - 1)
    _count(parameter["num_feature"], f"num_feature of {words}", n_features, n_features)
    _count(parameter["size_leaf_vector"], f"size_leaf_vector of {words}", 0, 1)
    arrays = {
        name: _array(tree[name], dtype, n, f"{name} of {words}")
        for name, dtype in {
            "left_children": "i4",
            "right_children": "i4",
            "parents": "i4",
            "split_indices": "i4",
            "split_conditions": "f4",
            "base_weights": "f4",
            "loss_changes": "f4",
            "sum_hessian": "f4",
            "default_left": "u1",
            "split_type": "u1",
        }.items()
    }
    left, right = arrays["left_children"], arrays["right_children"]
    inner = _reached(left, right, arrays["parents"], deleted, words)
    feature, value_of = arrays["split_indices"], arrays["split_conditions"]
    bad = inner[(feature[inner] < 0) | (feature[inner] >= n_features)]
    if len(bad):
        raise _StructureError(
            f"{words}: node {bad[0]} splits feature {feature[bad[0]]}; there are {n_features}"
        )
    _need(np.isfinite(value_of).all(), f"split_conditions of {words} must be finite")
    _need(np.all(arrays["default_left"] <= 1), f"default_left of {words} must be 0 or 1")
    _need(np.all(arrays["split_type"] <= 1), f"split_type of {words} must be 0 or 1")
    is_category = np.zeros(n, dtype=bool)
    is_category[inner] = arrays["split_type"][inner] == 1
    categories = _categories(tree, np.flatnonzero(arrays["split_type"] == 1), words)
    return XGBoostTree(
        left,
        right,
        feature,
        value_of,
        arrays["default_left"].astype(bool),
        is_category,
        categories,
    )


def _reached(left: Ints, right: Ints, parents: Ints, deleted: int, words: str) -> Ints:
    """The splits, if walking down from the root meets every node once, as its parents say."""
    n = len(left)
    seen = np.zeros(n, dtype=bool)
    seen[0] = True
    level = np.zeros(1, dtype=np.int64)
    depth = 0
    while len(level):
        _need(depth <= MAX_DEPTH, f"{words} is deeper than {MAX_DEPTH} splits")
        is_leaf = (left[level] == -1) & (right[level] == -1)
        inner = level[~is_leaf]
        children = np.concatenate([left[inner], right[inner]]).astype(np.int64)
        wrong = np.flatnonzero((children < 1) | (children >= n))
        if len(wrong):
            raise _StructureError(f"{words} has the child {children[wrong[0]]} among {n} nodes")
        again = seen[children].any() or len(np.unique(children)) < len(children)
        _need(not again, f"{words} has a node with two parents")
        told = np.array_equal(parents[children], np.tile(inner, 2))
        _need(told, f"parents of {words} do not fit its children")
        seen[children] = True
        level, depth = children, depth + 1
    _need(int((~seen).sum()) == deleted, f"{words} has nodes that nothing leads to")
    return np.flatnonzero(seen & (left >= 0))


def _categories(tree: dict[str, Any], nodes: Ints, words: str) -> dict[int, Ints]:
    """The sets of categories by node."""
    named = _array(tree["categories_nodes"], "i4", None, f"categories_nodes of {words}")
    starts = _array(
        tree["categories_segments"], "i8", len(named), f"categories_segments of {words}"
    )
    sizes = _array(tree["categories_sizes"], "i8", len(named), f"categories_sizes of {words}")
    values = _array(tree["categories"], "i4", None, f"categories of {words}")
    _need(
        np.array_equal(named, nodes),
        f"categories_nodes of {words} must be the nodes whose split_type is 1, in order",
    )
    _need(
        np.array_equal(starts, np.cumsum(sizes) - sizes) and sizes.sum() == len(values),
        f"categories_segments and categories_sizes of {words} do not fit categories",
    )
    _need(np.all(sizes >= 0), f"categories_sizes of {words} must not be negative")
    _need(
        np.all((values >= 0) & (values < _MAX_CATEGORY)),
        f"categories of {words} must be from 0 to {_MAX_CATEGORY - 1}",
    )
    return {
        int(node): values[start : start + size].astype(np.int64)
        for node, start, size in zip(named, starts, sizes, strict=True)
    }
