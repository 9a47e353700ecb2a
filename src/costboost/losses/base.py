"""What every binary loss answers, and how it reads its costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import Floats

__all__ = ["BinaryLoss", "CostPair", "class_mean", "cost_pair", "error_cost"]

CostPair: TypeAlias = "tuple[ArrayLike, ArrayLike]"

# exp(709) is the last finite double; exponents stop short of it, which leaves room for costs,
# squares of steps and sums over rows in front.
MAX_EXPONENT = 600.0

# A class whose errors are free has log-cost -inf; costs this far below the dearest one are
# indistinguishable from free in double precision.
_SMALLEST_SHARE = 1e-15


def error_cost(y: Floats, C: CostPair | ArrayLike) -> Floats:
    """The cost ``c_i`` of misclassifying each row: ``C1`` on positives, ``C2`` on negatives."""
    pair = _as_pair(y, C)
    if pair is not None:
        return np.where(y > 0, *pair)
    return np.asarray(C, dtype=np.float64)


def _as_pair(y: Floats, C: CostPair | ArrayLike) -> tuple[Floats, Floats] | None:
    """C1 and C2, if ``C`` is a pair: a tuple, or two numbers where there are not two rows."""
    if not isinstance(C, tuple) and (np.shape(C) != (2,) or np.shape(y) == (2,)):
        return None
    C1, C2 = C if isinstance(C, tuple) else np.asarray(C, dtype=np.float64)
    return np.asarray(C1, dtype=np.float64), np.asarray(C2, dtype=np.float64)


def cost_pair(
    y: Floats, C: CostPair | ArrayLike, weights: Floats | None = None
) -> tuple[Floats, Floats]:
    """Both error costs of each row, positive and finite in the logarithm.

    From (n,) error costs only the cost of the observed class is known; the other side takes the
    (weighted) mean cost of the other class, so that costs constant within a class give back the
    pair.
    """
    pair = _as_pair(y, C)
    if pair is not None:
        C1, C2 = pair
    else:
        c = np.asarray(C, dtype=np.float64)
        positive = y > 0
        w = np.ones_like(c) if weights is None else weights
        C1 = np.where(positive, c, class_mean(c, w * positive, w))
        C2 = np.where(positive, class_mean(c, w * ~positive, w), c)
    floor = _SMALLEST_SHARE * max(float(np.max(C1)), float(np.max(C2)))
    return np.maximum(C1, floor), np.maximum(C2, floor)


def class_mean(c: Floats, of_class: Floats, of_all: Floats) -> float:
    """The mean cost of a class, or of all rows if the class has none."""
    w = of_class if of_class.any() else of_all
    return float(np.average(c, weights=w))


def exp(exponent: Floats, largest: float = MAX_EXPONENT) -> Floats:
    """The exponential, kept finite: exponents above ``largest`` count as that."""
    return np.exp(np.minimum(exponent, largest))


class BinaryLoss(ABC):
    """A loss of one score per row.

    Subclasses hold no state; every method is vectorised over rows. ``C`` is the pair
    ``(C1, C2)`` (a tuple; other sequences of two numbers only if there are not just two rows) or
    an (n,) array of error costs; the two methods that do not know the
    truth, `probability` and `minimiser`, take the pair only.
    """

    @abstractmethod
    def value(self, y: Floats, F: Floats, C: CostPair | ArrayLike) -> Floats:
        """The loss of each row."""

    @abstractmethod
    def gradient(self, y: Floats, F: Floats, C: CostPair | ArrayLike) -> Floats:
        """Its derivative with respect to ``F``."""

    @abstractmethod
    def hessian(self, y: Floats, F: Floats, C: CostPair | ArrayLike) -> Floats:
        """Its second derivative with respect to ``F``."""

    @abstractmethod
    def probability(self, F: Floats, C: CostPair) -> Floats:
        """The P(+|x) for which ``F`` is the minimiser."""

    @abstractmethod
    def minimiser(self, p: Floats, C: CostPair) -> Floats:
        """The score that minimises the expected loss when P(+|x) = ``p``."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
