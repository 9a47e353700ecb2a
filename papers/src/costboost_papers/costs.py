"""Makers of cost matrices for experiments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import Floats
from costboost.costs import Costs

__all__ = ["class_frequency", "from_taxonomy", "random_symmetric"]

_BRANCHES = (Mapping, list, tuple, set, frozenset, np.ndarray)
Seed = int | np.random.Generator | None


def class_frequency(y: ArrayLike, rng: Seed = None) -> Floats:
    """Draw a random matrix in which mistaking a rare class for a frequent one is costly.

    Deciding i when the truth is j costs a number uniform in ``[0, 1000 P(i) / P(j)]``; right
    decisions cost 0. It is the cost model of Lozano and Abe (2008), after Domingos (1999).

    Examples
    --------
    >>> class_frequency(["a"] * 90 + ["b"] * 10, rng=0).round()
    array([[  0.,  30.],
           [369.,   0.]])
    """
    _, counts = np.unique(np.asarray(y), return_counts=True)
    highest = 1000.0 * counts[None, :] / counts[:, None]  # truth j in rows, decision i in columns
    matrix = np.random.default_rng(rng).uniform(0.0, highest)
    np.fill_diagonal(matrix, 0.0)
    return matrix


def random_symmetric(k: int, low: float = 1.0, high: float = 10.0, rng: Seed = None) -> Floats:
    """Draw a symmetric matrix with entries uniform in ``[low, high]`` and diagonal 0.

    It is the cost model of Beijbom et al. (2014), where ``low=1`` and ``high=10``.

    Examples
    --------
    >>> random_symmetric(3, 1, 10, rng=0).round(1)
    array([[0. , 6.7, 3.4],
           [6.7, 0. , 1.4],
           [3.4, 1.4, 0. ]])
    """
    matrix = np.zeros((k, k))
    upper = np.triu_indices(k, 1)
    matrix[upper] = np.random.default_rng(rng).uniform(low, high, size=len(upper[0]))
    return matrix + matrix.T


def from_taxonomy(tree: Any) -> Costs:
    """Charge a mistake by the distance between the two classes in a tree of classes.

    The distance counts the edges of the path, so sisters cost 2, cousins 4.

    Examples
    --------
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
    return Costs(np.array(labels), matrix)


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
