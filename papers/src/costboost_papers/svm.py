"""The support vector machines that Beijbom et al. (2014, section 5.2) set beside boosting."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import Costs
from costboost.metrics import mean_cost
from costboost_papers.protocol import capped, holdout

SVMS = ("SVM-OVA", "SVM-MC", "SVM-CSMC")
STRENGTHS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
TUNED_ROWS = 3000  # at most, to choose the strength on


def cost_hinge(scores: Floats, z: Ints, costs: Floats) -> Floats:
    """max_j C[z, j] + S_j - S_z of each row: the cost-sensitive multi-class hinge loss."""
    own = np.take_along_axis(scores, z[:, None], axis=1)
    loss: Floats = (costs[z] + scores - own).max(axis=1)
    return loss


class CostHingeSVM(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Linear scores that minimise ½‖W‖² + C Σ of `cost_hinge`, its maximum softened."""

    def __init__(self, costs: Costs, C: float = 1.0) -> None:
        self.costs = costs
        self.C = C

    def fit(self, X: Floats, y: AnyArray) -> CostHingeSVM:
        """Descend by L-BFGS; the soft maximum is at most a tenth of the mean cost too high."""
        assert self.costs.matrix is not None
        self.classes_ = self.costs.classes
        z, matrix = np.searchsorted(self.classes_, y), np.asarray(self.costs.matrix)
        X, k = np.column_stack([X, np.ones(len(X))]), len(matrix)
        softness = 0.1 * matrix.sum() / (k * (k - 1)) / np.log(k)
        rows = np.arange(len(X))

        def objective(flat: Floats) -> tuple[float, Floats]:
            W = flat.reshape(X.shape[1], k)
            scores = X @ W
            margins = (matrix[z] + scores - scores[rows, z][:, None]) / softness
            pull = softmax(margins, axis=1)
            pull[rows, z] -= 1.0
            scale = 1.0 / (self.C * len(X))
            value = softness * logsumexp(margins, axis=1).mean() + 0.5 * scale * (W**2).sum()
            return float(value), (X.T @ pull / len(X) + scale * W).ravel()

        start = np.zeros(X.shape[1] * k)
        found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 300})
        self.coef_ = found.x.reshape(X.shape[1], k)
        return self

    def predict(self, X: Floats) -> AnyArray:
        """The class with the highest score."""
        scores = np.column_stack([X, np.ones(len(X))]) @ self.coef_
        labels: AnyArray = self.classes_[scores.argmax(axis=1)]
        return labels


def _machine(name: str, costs: Costs, C: float, seed: int) -> Any:
    if name == "SVM-OVA":
        return LinearSVC(C=C, dual=False)
    if name == "SVM-MC":
        return LinearSVC(C=C, multi_class="crammer_singer", random_state=seed)
    return CostHingeSVM(costs, C)


def tuned_machine(name: str, X: Floats, y: AnyArray, costs: Costs, seed: int) -> Any:
    """One of `SVMS`, fitted; C has the lowest risk on a quarter of the training rows."""
    rows = capped(y, np.arange(len(y)), TUNED_ROWS, seed)
    learn, check = (rows[part] for part in holdout(y[rows], 0.25, seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        risks = [
            mean_cost(
                y[check],
                _machine(name, costs, C, seed).fit(X[learn], y[learn]).predict(X[check]),
                cost_matrix=costs,
            )
            for C in STRENGTHS
        ]
        return _machine(name, costs, STRENGTHS[int(np.argmin(risks))], seed).fit(X, y)
