"""Cost-sensitive boosting as gradient descent on one family of objectives (Cai et al. 2008).

Q.-T. Cai, Y.-Q. Song and C.-S. Zhang, "Cost-sensitive boosting algorithms as gradient descent",
ICASSP 2008.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from costboost._typing import Floats
from costboost.boosting import BoostingClassifier, Init, Recipe
from costboost.boosting.descent import ExponentialDescent
from costboost.boosting.votes import BinaryProblem
from costboost.losses import BinaryLoss, CostExponential, WeightedExponential

__all__ = ["OBJECTIVES", "GradientCSBClassifier", "NamedObjective"]

Factory: TypeAlias = Callable[[Floats, Floats], tuple[Floats, Floats, Floats]]


class NamedObjective(NamedTuple):
    """A named member of the family: a_i and b_i from labels and costs, and where it starts."""

    coefficients: Callable[[Floats, Floats], tuple[Floats, Floats | float]]  # (y, c) -> (a, b)
    init: Init
    link: BinaryLoss
    link_costs: Callable[[float, float], tuple[float, float]]  # the costs inside the score


def _adacost(y: Floats, c: Floats) -> tuple[Floats, Floats | float]:
    return 0.5 * y, 0.0 if c.min() == c.max() else -0.5 * c / c.max()


def _relative(C1: float, C2: float) -> tuple[float, float]:
    return C1 / max(C1, C2), C2 / max(C1, C2)


_WEIGHTED, _COST = WeightedExponential(), CostExponential()

OBJECTIVES: dict[str, NamedObjective] = {
    "adaboost": NamedObjective(lambda y, c: (y, 0.0), "uniform", _WEIGHTED, lambda *C: (1.0, 1.0)),
    "adacost": NamedObjective(_adacost, "cost", _WEIGHTED, lambda *C: C),
    "adac1": NamedObjective(lambda y, c: (c / c.max() * y, 0.0), "uniform", _COST, _relative),
    "asymboost": NamedObjective(lambda y, c: (c * y, 0.0), "uniform", _COST, lambda *C: C),
}


class GradientCSBClassifier(BoostingClassifier):
    r"""Gradient descent on any objective of the cost-sensitive exponential family.

    .. math:: \sum_i w^0_i \exp\Bigl(-\sum_t \alpha_t [a_i f_t(x_i) + b_i]\Bigr)

    (Eq. 17). Direction: the weak rule for pseudo-labels sign(a) with weights \|w a\| (Eq. 18).
    Step: the α >= 0 that minimises the convex objective (Eq. 19 prints argmax for argmin, and α in
    R: a rule with a negative step has failed, so it is dropped and boosting ends). Update:
    :math:`w \leftarrow w\,e^{-\alpha(a f + b)}`.

    ================ ============= ============== ====================
    ``objective``    a             b              w⁰ (``init=None``)
    ================ ============= ============== ====================
    ``"adaboost"``   y             0              uniform, cost-blind
    ``"adacost"``    y/2           -c/2           cost
    ``"adac1"``      c·y           0              uniform
    ``"asymboost"``  c·y           0              uniform
    ================ ============= ============== ====================

    with c scaled by its maximum for ``"adacost"`` and ``"adac1"``; if all costs are equal,
    ``"adacost"`` takes the limit c → 0, which is AdaBoost. ``"asymboost"`` is the default because
    it is consistent with the Bayes rule for the costs as given; ``"adac1"`` is the same in another
    unit of F. For these two and ``"adaboost"``, `predict_proba` follows from the loss; for
    ``"adacost"`` and your own objectives theory gives no link, and that of the cost-weighted
    exponential loss is used.

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    Parameters
    ----------
    objective : str or callable, default="asymboost"
        A name of the table, or a function ``(y, c) -> (w0, a, b)`` of the labels in {-1, +1} and
        the error costs, all (n,).

    Attributes
    ----------
    train_loss_ : array of shape (n_iter_,)
        The objective after each round, for w⁰ that sums to 1 (for your own objectives, w⁰ as
        given).

    References
    ----------
    Q.-T. Cai, Y.-Q. Song and C.-S. Zhang, "Cost-sensitive boosting algorithms as gradient
    descent", ICASSP 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import GradientCSBClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = GradientCSBClassifier({"fn": 1, "fp": 5}, n_estimators=20).fit(X[:400], y[:400])
    >>> bool(clf.score(X[400:], y[400:]) > 0.8)
    True
    """

    _recipe = Recipe(
        "one gradient descent for AdaBoost, AdaCost, AdaC1, AsymBoost and your own `(w0, a, b)`",
        "Cai et al. 2008",
        link="by objective",
        parent="AdaBoost",
    )

    init: Init | None = None
    objective: str | Factory = "asymboost"
    learning_rate: float = 1.0

    def _named(self) -> NamedObjective:
        """The row of the table; for a function that of AdaCost, which has no link either."""
        name = "adacost" if callable(self.objective) else self.objective
        if name not in OBJECTIVES:
            raise ValueError(
                f"The 'objective' parameter of {type(self).__name__} must be one of "
                f"{sorted(OBJECTIVES)} or a function (y, c) -> (w0, a, b). Got "
                f"{self.objective!r} instead."
            )
        return OBJECTIVES[name]

    def _scheme(self, problem: Any, rng: Any = None) -> ExponentialDescent:
        parts: tuple[Any, Any, Any]
        if callable(self.objective):
            parts = self._own(self.objective, problem)
        else:
            named = self._named()
            w0 = problem.initial_weights(self.init or named.init)
            parts = w0, *named.coefficients(problem.y, problem.c)
        return ExponentialDescent(*parts, learning_rate=self.learning_rate)

    def _own(self, objective: Factory, problem: BinaryProblem) -> tuple[Floats, Floats, Floats]:
        owner, n = type(self).__name__, problem.y.shape
        if self.init is not None:
            raise ValueError(
                f"The 'init' parameter of {owner} must be None when 'objective' is a function: w0 "
                f"are the initial weights. Got {self.init!r} instead."
            )
        parts = objective(problem.y.copy(), problem.c.copy())
        w0, a, b = (np.array(part, dtype=np.float64) for part in parts)
        are_fit = all(part.shape == n and np.isfinite(part).all() for part in (w0, a, b))
        if not (are_fit and (w0 >= 0).all() and (w0 * a).any()):
            raise ValueError(
                f"The 'objective' function of {owner} must return three finite arrays (w0, a, b) "
                f"of shape {n}, w0 >= 0, and an a other than zero on a row with positive w0."
            )
        return w0 * problem.sample_weight, a, b

    @property
    def _link(self) -> BinaryLoss:  # type: ignore[override]
        return self._named().link

    def _link_costs(self) -> tuple[float, float]:
        return self._named().link_costs(*self._cost_pair)
