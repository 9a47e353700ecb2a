"""Costs of classes in a tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from costboost.costs.costs import Costs

_BRANCHES = (Mapping, list, tuple, set, frozenset, np.ndarray)


def from_taxonomy(tree: Any) -> Costs:
    """Charge a mistake by the distance between the two classes in a tree of classes.

    The distance counts the edges of the path, so sisters cost 2, cousins 4.

    Parameters
    ----------
    tree : mapping, list, tuple, set or label
        Branches, down to the labels of the classes. The names of branches are not used.

    Returns
    -------
    Costs
        The cost matrix of the classes, in the order of their labels.

    Examples
    --------
    >>> from costboost.costs import from_taxonomy
    >>> costs = from_taxonomy({"coral": ["acropora", "porites"], "algae": ["turf"]})
    >>> costs.classes
    array(['acropora', 'porites', 'turf'], dtype='<U8')
    >>> costs.matrix
    array([[0., 2., 4.],
           [2., 0., 4.],
           [4., 4., 0.]])
    """
    leaves = list(_leaves(tree, ()))
    paths = dict(leaves)
    if not paths or len(paths) < len(leaves):
        raise ValueError(
            "tree of from_taxonomy must hold at least one class, and each of them once; got "
            f"{[label for label, _ in leaves]}."
        )
    try:
        labels = sorted(paths)
    except TypeError as error:
        raise ValueError(
            "tree of from_taxonomy must hold labels of one type, only texts or only numbers; got "
            f"{list(paths)}."
        ) from error
    # The way from one class to another is the branches that only one of them is on.
    on = [{paths[label][: i + 1] for i in range(len(paths[label]))} for label in labels]
    matrix = np.array([[len(ours ^ theirs) for theirs in on] for ours in on], dtype=float)
    return Costs(matrix, np.array(labels))


def _leaves(tree: Any, path: tuple[int, ...]) -> Iterator[tuple[Any, tuple[int, ...]]]:
    """Class labels of a tree with their paths, the branch numbers from the root."""
    if isinstance(tree, Mapping):
        for i, (name, branch) in enumerate(tree.items()):
            empty = branch is None or (isinstance(branch, _BRANCHES) and not len(branch))
            yield from [(name, (*path, i))] if empty else _leaves(branch, (*path, i))
    elif isinstance(tree, _BRANCHES):
        for i, branch in enumerate(tree):
            yield from _leaves(branch, (*path, i))
    else:
        yield tree, path
