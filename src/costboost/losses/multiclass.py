"""The base of multi-class losses: a score per class and a cost row per example.

``y`` (n,) holds the code of each row's right (cheapest) class z, ``F`` (n, k) the scores S, ``C``
(n, k) the cost of deciding each class on the row, with ``C[i, y[i]] = 0``. A cost matrix is the
special case ``C = matrix[y]``.

The exponential losses clip their exponents (at 600; the two factors of `Lt` at 300 each), so that
values and derivatives stay finite; `GLL` needs no clipping.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax

from costboost._typing import AnyArray, Floats, Ints
from costboost.losses.base import Loss
from costboost.losses.coordinates import Coordinate, Slopes, plain

__all__ = ["MulticlassLoss", "Slopes", "right_scores"]

_STEP = 1e-5


class MulticlassLoss(Loss):
    """A loss of k scores per row; a subclass needs `value` only.

    `gradient` and `hessian` default to central differences: correct but slow, good enough to try
    out an idea. ``hessian`` is the diagonal of the second derivatives, one per score.

    Attributes
    ----------
    softmax_scale : float
        The link is P = softmax(softmax_scale · S). For losses without a link it only orders the
        classes.
    """

    is_binary = False
    softmax_scale: ClassVar[float] = 2.0  # MCBoost's link (Beijbom et al. 2014, Eq. 33)

    @abstractmethod
    def value(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """The loss of each row, (n,)."""

    def gradient(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its derivatives with respect to the scores, (n, k)."""
        return self._differences(
            y, F, C, lambda up, middle, down, h: (up - down) / (2.0 * h), _STEP
        )

    def hessian(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its second derivatives with respect to each score, (n, k)."""
        return self._differences(
            y, F, C, lambda up, middle, down, h: (up - 2.0 * middle + down) / h**2, 20.0 * _STEP
        )

    def _differences(
        self,
        y: Ints,
        F: Floats,
        C: Floats,
        formula: Callable[[Floats, Floats, Floats, float], Floats],
        h: float,
    ) -> Floats:
        middle = self.value(y, F, C)
        result = np.empty_like(F)
        for j in range(F.shape[1]):
            up, down = F.copy(), F.copy()
            up[:, j] += h
            down[:, j] -= h
            result[:, j] = formula(self.value(y, up, C), middle, self.value(y, down, C), h)
        return result

    def along(self, y: Ints, F: Floats, C: Floats, direction: Floats, weights: Floats) -> Slopes:
        """The first and second derivatives by α of the weighted loss at F + α·direction.

        The default takes the second derivative by a difference of the first.
        """

        def slope(alpha: float) -> float:
            gradient = self.gradient(y, F + alpha * direction, C)
            return float(np.einsum("n,nk,nk->", weights, gradient, direction))

        def slopes(alpha: float) -> tuple[float, float]:
            return slope(alpha), (slope(alpha + _STEP) - slope(alpha - _STEP)) / (2.0 * _STEP)

        return slopes

    def coordinate(self, y: Ints, F: Floats, C: Floats, directions: Floats) -> Coordinate:
        """The loss at F along a coordinate that adds ``directions``, (k,), to the scores.

        The default takes value, gradient and `along`; a loss that can share work between them
        overrides it.
        """
        return plain(self, y, F, C, directions)

    def n_scores(self, n_decisions: int) -> int:
        """One per decision."""
        return n_decisions

    def checked_scores(self, scores: ArrayLike, owner: str) -> AnyArray:
        """Raw scores, (n, k)."""
        F = np.asarray(scores)
        if F.ndim != 2 or F.shape[1] < 2:
            raise ValueError(
                f"{owner} with the multi-class loss {self!r} needs a score per class, (n, k), got "
                f"scores of shape {F.shape}. Set num_class (for two classes and one score, use a "
                "binary loss, such as 'cost_logistic')."
            )
        return F

    def check_costs(self, matrix: Floats, owner: str) -> None:
        """Refuse costs under which one decision is the cheapest for every truth and row."""
        if not self.carries_costs:
            return
        free = matrix <= matrix.min(axis=-1, keepdims=True)
        always = np.flatnonzero(free.reshape(-1, matrix.shape[-1]).all(axis=0))
        if always.size:
            raise ValueError(
                f"The costs of {owner} must leave something to decide, and decision {always[0]} "
                "is the cheapest whatever the truth. Check the cost matrix (rows are the truth, "
                "columns the decision), or give its mistakes a small positive cost."
            )

    def class_probabilities(self, F: Floats, matrix: Floats | None = None) -> Floats:
        """The softmax of the scaled scores, (n, k)."""
        linked = self.has_probabilities_at_unit_costs if matrix is None else self.has_probabilities
        if not linked:
            only = " once costs are in it" if self.has_probabilities_at_unit_costs else ""
            raise ValueError(
                f"The loss {self!r} has no link to probabilities{only}. Train 'mc', or 'gll' "
                "without costs, and decide by expected cost; or calibrate the scores."
            )
        return self.softmax(F)

    def softmax(self, F: Floats) -> Floats:
        """The link without asking whether the loss has one: at least it orders the classes."""
        return np.asarray(softmax(self.softmax_scale * F, axis=1))

    def kernel_rows(self, y: Ints, C: Floats) -> tuple[AnyArray, ...]:
        """Right classes and cost rows."""
        return y, C


def right_scores(y: Ints, F: Floats) -> Floats:
    """The score of each row's right class, (n, 1)."""
    return np.take_along_axis(F, y[:, None], axis=1)
