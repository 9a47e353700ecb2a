"""Trees of scikit-learn as arrays: compiled code reads their nodes unchecked, so check them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Ints


def is_tree(value: Any) -> bool:
    """Whether an object is the compiled tree inside a scikit-learn tree."""
    return type(value).__module__ == "sklearn.tree._tree" and type(value).__name__ == "Tree"


def dump(tree: Any) -> dict[str, Any]:
    """The tree as numbers and arrays, one per field of its nodes."""
    _, (n_features, n_classes, _), state = tree.__reduce__()
    nodes = state["nodes"]
    return {
        "n_features": int(n_features),
        "n_classes": np.asarray(n_classes),
        "max_depth": int(state["max_depth"]),
        "nodes": {name: np.ascontiguousarray(nodes[name]) for name in nodes.dtype.names},
        "values": state["values"],
    }


def load(state: Mapping[str, Any]) -> Any:
    """The tree; a ValueError, KeyError or TypeError if its nodes are not those of a tree."""
    n_features, n_classes, depth = state["n_features"], state["n_classes"], state["max_depth"]
    if n_classes.dtype != np.intp or ((n_classes < 1) | (n_classes > 2**20)).any():
        raise ValueError("the numbers of classes are those of no tree")
    if not 0 < n_features < 2**31 or not 0 <= depth < 2**20:
        raise ValueError("the sizes are those of no tree")
    # Private, and the only place where scikit-learn has it.
    tree = import_module("sklearn.tree._tree").Tree(n_features, n_classes, len(n_classes))
    dtype, fields = tree.__getstate__()["nodes"].dtype, state["nodes"]
    if set(fields) != set(dtype.names):
        raise ValueError(f"the installed scikit-learn has the fields {', '.join(dtype.names)}")
    nodes = np.zeros(len(fields["left_child"]), dtype)
    for name in dtype.names:
        if fields[name].shape != nodes.shape or fields[name].dtype != dtype[name]:
            raise ValueError(f"the field {name} has another type or length")
        nodes[name] = fields[name]
    values: AnyArray = state["values"]
    if values.dtype != np.float64 or values.shape != (
        len(nodes), len(n_classes), int(n_classes.max())
    ):  # fmt: skip
        raise ValueError("there must be values of each node")
    _check(nodes, n_features)
    tree.__setstate__(
        {"max_depth": depth, "node_count": len(nodes), "nodes": nodes, "values": values}
    )
    return tree


def _check(nodes: AnyArray, n_features: int) -> None:
    """Every node but the first is the child of one earlier node; features exist."""
    left, right = nodes["left_child"], nodes["right_child"]
    inner: Ints = np.flatnonzero(left != -1)
    children = np.concatenate([left[inner], right[inner]])
    feature = nodes["feature"][inner]
    rules = {
        "a node with one child": (left == -1) != (right == -1),
        "no nodes": not len(nodes),
        "a child that does not come after its node": (children <= np.tile(inner, 2))
        | (children >= len(nodes)),
        "a column that does not exist": (feature < 0) | (feature >= n_features),
        "a threshold that is not a number": np.isnan(nodes["threshold"][inner]),
    }
    for fault, is_so in rules.items():
        if np.any(is_so):
            raise ValueError(f"the tree has {fault}")
    if np.any(np.bincount(children, minlength=len(nodes))[1:] != 1):
        raise ValueError("the tree has a node that is not the child of one node")
