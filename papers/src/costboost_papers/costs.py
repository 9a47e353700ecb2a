"""Makers of cost matrices for experiments."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import Floats

__all__ = ["class_frequency", "random_symmetric"]

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
