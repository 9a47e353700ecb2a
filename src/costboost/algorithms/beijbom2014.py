"""MCBoost with guess-averse losses.

O. Beijbom, M. Saberian, D. Kriegman and N. Vasconcelos, "Guess-averse loss functions for
cost-sensitive multiclass boosting", ICML 2014.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from costboost._typing import Floats
from costboost._utils import Rules, one_of
from costboost.boosting import BoostingClassifier, Recipe
from costboost.boosting.multiclass import CoordinateDescent
from costboost.learners import Learner, Rows
from costboost.learners.ensembles import Coordinates
from costboost.losses import MulticlassLoss, named_loss

__all__ = ["MCBoostClassifier", "simplex_codewords"]


def simplex_codewords(k: int) -> Floats:
    """The corners of a regular simplex in R^{k-1}, (k, k-1)."""
    # Unit vectors with :math:`\sum_j y_j = 0` and :math:`\langle y_i, y_j \rangle = -1/(k-1)`. Two
    # classes get -1 and +1.
    # An orthonormal basis of the vectors with sum 0 (Helmert), its rows then the corners.
    basis = np.zeros((k, k - 1))
    for r in range(1, k):
        basis[:r, r - 1] = -1.0
        basis[r, r - 1] = r
        basis[:, r - 1] /= np.sqrt(r * (r + 1.0))
    return np.asarray(basis * np.sqrt(k / (k - 1.0)))


class MCBoostClassifier(BoostingClassifier):
    r"""MCBoost: coordinate descent on a loss of simplex scores.

    .. math:: S_k = \tfrac12 \langle y_k, f(x) \rangle, \qquad f(x) \in R^{M-1}

    with codewords :math:`y_1 \dots y_M` the corners of a simplex. Every round, for every
    coordinate r: the gradient :math:`w^r_i` of the loss with respect to :math:`f_r(x_i)` (Eq. 34 to
    37); the weak rule g, by weighted least squares to -sign(w) with weights \|w\|; the step α by
    line search (Eq. 31); :math:`f_r \leftarrow f_r + \alpha g` (Algorithm 1). Decision
    :math:`\arg\max_k S_k`.

    ========= ======================================================= ============
    ``loss``  L(C, z, S)                                              guess-averse
    ========= ======================================================= ============
    ``"mc"``  Σ_j e^{S_j - S_z}, cost-blind                           yes
    ``"gel"`` Σ_j C_{z,j} e^{S_j - S_z}                               yes
    ``"gll"`` log(1 + Σ_j C_{z,j} e^{S_j - S_z})                      yes
    ``"ls"``  Σ_j C_{z,j} e^{S_j}                                     no
    ``"lt"``  Σ_k Σ_j C_{z,j} e^{S_j - S_k}                           no
    ========= ======================================================= ============

    Rows may have their own cost rows in place of :math:`C_{z,\cdot}`; z is the row's cheapest
    class. Costs are used as given for ``"gll"``, whose shape depends on their size; the other
    losses only scale with them.

    `predict_proba` returns :math:`P_k \propto e^{2 S_k}` (Eq. 33), which is the posterior for
    ``"mc"``; for ``"gll"`` :math:`e^{S_k}`, the posterior with unit costs. For the other losses,
    and costs that differ, it orders classes but is not calibrated. The features need comparable
    scales only for learners that depend on them (lines do not).

    The decisions depend on how the simplex is turned, because the rules are fitted along its
    coordinates, one after the other. The paper does not name a rotation. On four benchmark sets
    (ecoli, vehicle, segment, satimage) any two of six rotations decided 1 to 38 % of the test rows
    differently after 5 rounds and 0.4 to 11 % after 50; no rotation was better on all sets. Here
    it is that of Helmert's basis.

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    Parameters
    ----------
    loss : str or MulticlassLoss, default="gll"
        The loss: a convex multi-class one of `costboost.losses.LOSSES`, or an object. A loss of
        your own subclasses `costboost.losses.MulticlassLoss` and needs a `value` only.
    decision : {"argmax", "bayes"}, default="argmax"
        The largest score, or the smallest expected cost under `predict_proba` and
        ``cost_matrix_``: P-MCBoost is ``loss="mc", decision="bayes"``.

    Attributes
    ----------
    codewords_ : array of shape (k, k - 1)
        The corner of the simplex that belongs to each class, in the order of ``classes_``.
    estimators_ : list
        The weak rules, coordinate by coordinate within a round.
    train_loss_ : array of shape (n_iter_,)
        The mean loss on the training rows after each round.

    References
    ----------
    O. Beijbom, M. Saberian, D. Kriegman and N. Vasconcelos, "Guess-averse loss functions for
    cost-sensitive multiclass boosting", ICML 2014; M. Saberian and N. Vasconcelos, "Multiclass
    boosting: theory and algorithms", NIPS 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from costboost import MCBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> costs = [[0, 1, 1], [1, 0, 5], [1, 5, 0]]
    >>> clf = MCBoostClassifier(costs, loss="gll", n_estimators=50).fit(X[::2], y[::2])
    >>> bool(clf.score(X[1::2], y[1::2]) > 0.7)
    True
    """

    _recipe = Recipe(
        "coordinate descent on guess-averse losses of simplex scores: GEL, GLL, MC, Ls, Lt, "
        "your own",
        "Beijbom et al. 2014",
        link="by loss",
    )
    _default_estimator = "line"
    _is_binary = False
    _rules: ClassVar[Rules] = {"decision": one_of("argmax", "bayes")}

    loss: str | MulticlassLoss = "gll"
    decision: Literal["argmax", "bayes"] = "argmax"
    learning_rate: float = 1.0

    def _loss(self) -> MulticlassLoss:
        loss: MulticlassLoss = named_loss(self.loss, type(self).__name__, binary=False)
        if loss.bounds_curvature:
            raise ValueError(
                f"The 'loss' parameter of {type(self).__name__} must be convex, because the steps "
                f"are searched along lines; {loss!r} is not. Use CostBoostClassifier, or another "
                "loss."
            )
        return loss

    def _bind(self, rows: Rows, problem: Any) -> Learner:
        return Coordinates(self._learner(), problem.C.shape[1] - 1).bind(rows)

    def _scheme(self, problem: Any, rng: Any = None) -> CoordinateDescent:
        self.codewords_ = words = simplex_codewords(problem.C.shape[1])
        return CoordinateDescent(self._loss(), problem, words, learning_rate=self.learning_rate)

    def _probabilities(self, scores: Floats) -> Floats:
        return self._loss().softmax(scores)

    def _decides_by_score(self) -> bool:
        return super()._decides_by_score() and self.decision == "argmax"
