"""Trees of scikit-learn as arrays: compiled code reads their nodes unchecked, so check them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Ints
from costboost.errors import ModelFileError

__all__ = ["dump", "is_tree", "load"]

_KEYS = {"n_features", "n_classes", "max_depth", "nodes", "values"}


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


def load(state: Mapping[str, Any], where: str) -> Any:
    """The tree, if its nodes are those of a tree."""
    if set(state) != _KEYS:
        raise ModelFileError(f"{where} must have {', '.join(sorted(_KEYS))}.")
    n_features, n_classes, depth = state["n_features"], state["n_classes"], state["max_depth"]
    fine = (
        type(n_features) is int
        and 0 < n_features < 2**31
        and isinstance(n_classes, np.ndarray)
        and n_classes.ndim == 1
        and n_classes.dtype == np.intp
        and len(n_classes) > 0
        and np.all((n_classes > 0) & (n_classes < 2**20))
        and type(depth) is int
        and 0 <= depth < 2**20
    )
    if not fine:
        raise ModelFileError(f"{where} has sizes that no tree has.")
    # Private, and the only place where scikit-learn has it.
    empty = import_module("sklearn.tree._tree").Tree(n_features, n_classes, len(n_classes))
    nodes = _nodes(state["nodes"], empty.__getstate__()["nodes"].dtype, where)
    values = state["values"]
    shape = (len(nodes), len(n_classes), int(n_classes.max()))
    if not isinstance(values, np.ndarray) or values.dtype != np.float64 or values.shape != shape:
        raise ModelFileError(f"{where} must have values of the shape {shape}.")
    _check(nodes, n_features, where)
    empty.__setstate__(
        {"max_depth": depth, "node_count": len(nodes), "nodes": nodes, "values": values}
    )
    return empty


def _nodes(fields: Any, dtype: np.dtype[Any], where: str) -> AnyArray:
    names = dtype.names or ()
    if not isinstance(fields, dict) or set(fields) != set(names):
        raise ModelFileError(
            f"{where} needs the fields of trees of the installed scikit-learn: {', '.join(names)}."
        )
    length = None
    for name in names:
        field = fields[name]
        fine = isinstance(field, np.ndarray) and field.ndim == 1 and field.dtype == dtype[name]
        if not fine or (length is not None and len(field) != length):
            raise ModelFileError(f"{where} has the field {name} of the wrong type or length.")
        length = len(field)
    if not length:
        raise ModelFileError(f"{where} has no nodes.")
    nodes = np.zeros(length, dtype)
    for name in names:
        nodes[name] = fields[name]
    return nodes


def _check(nodes: AnyArray, n_features: int, where: str) -> None:
    """Every node but the first is the child of one earlier node; features exist."""
    left, right = nodes["left_child"], nodes["right_child"]
    is_leaf = left == -1
    if np.any(is_leaf != (right == -1)):
        raise ModelFileError(f"{where} has a node with one child.")
    inner: Ints = np.flatnonzero(~is_leaf)
    children = np.concatenate([left[inner], right[inner]])
    if np.any((children <= np.tile(inner, 2)) | (children >= len(nodes))):
        raise ModelFileError(f"{where} has a child that does not come after its node.")
    if np.any(np.bincount(children, minlength=len(nodes))[1:] != 1):
        raise ModelFileError(f"{where} has a node that is not the child of one node.")
    if np.any((nodes["feature"][inner] < 0) | (nodes["feature"][inner] >= n_features)):
        raise ModelFileError(f"{where} splits a feature that is not one of {n_features}.")
    if np.any(np.isnan(nodes["threshold"][inner])):
        raise ModelFileError(f"{where} has a threshold that is not a number.")
