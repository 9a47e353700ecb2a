"""From the raw scores of a booster to probabilities and decisions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax

from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import Costs
from costboost.gbm._reading import Loss, checked_scores, named_loss
from costboost.losses import GLL, MC, BinaryLoss

__all__ = ["decide", "probability"]


def decide(
    scores: ArrayLike, loss: str | Loss, *, cost_matrix: Any = None, costs: Any = None
) -> Ints:
    """Turn raw scores into decisions.

    Without `costs` the training has taken care of them, and the decision is the sign of the score,
    or the class of the largest one. The cost-blind loss ``"mc"`` decides for the least expected
    cost under `cost_matrix`.

    With `costs`, the costs of these very rows, the decision is that of least expected cost, by
    `probability`.

    Parameters
    ----------
    scores : array of shape (n,) or (n, k)
        Raw scores: ``Booster.predict(X, raw_score=True)`` of LightGBM, ``predict(X,
        output_margin=True)`` of XGBoost.
    loss : str, BinaryLoss or MulticlassLoss
        The loss of the objective.
    cost_matrix : array, frame, mapping or None
        The matrix of the objective.
    costs : array of shape (n, k, k), optional
        Costs of these rows, truth by decision, where they are known.

    Returns
    -------
    int array of shape (n,)
        Class codes.

    Examples
    --------
    >>> decide([-0.3, 0.1], "cost_logistic")
    array([0, 1])
    >>> decide([[0.5, 0.0]], "mc", cost_matrix=[[0, 1], [10, 0]])
    array([1])
    """
    known = named_loss(loss, "decide")
    F = checked_scores(scores, known, "decide")
    if costs is None and not isinstance(known, MC):
        return np.asarray(F >= 0 if F.ndim == 1 else F.argmax(axis=1), dtype=np.intp)
    proba = probability(F, known, cost_matrix=cost_matrix)
    k = proba.shape[1]
    prices = Costs.resolve(
        cost_matrix, costs, classes=np.arange(k), n_samples=len(F), owner="decide"
    )
    return prices.decide(proba)


def probability(scores: ArrayLike, loss: str | Loss, *, cost_matrix: Any = None) -> Floats:
    """Turn raw scores into the class probabilities for which they minimise the loss.

    Parameters
    ----------
    scores : array of shape (n,) or (n, k)
        Raw scores.
    loss : str, BinaryLoss or MulticlassLoss
        The loss of the objective: a binary one, ``"mc"``, or ``"gll"`` without costs. No other has
        a link to probabilities.
    cost_matrix : array, frame, mapping or None
        The matrix of the objective, one for all rows.

    Returns
    -------
    array of shape (n, k)
        Probabilities, not calibrated.

    Examples
    --------
    >>> probability([0.0], "asymmetric_logistic", cost_matrix={"fn": 4, "fp": 1})
    array([[0.8, 0.2]])
    """
    known = named_loss(loss, "probability")
    F: AnyArray = np.asarray(checked_scores(scores, known, "probability"), dtype=np.float64)
    if isinstance(known, BinaryLoss):
        (keep, alarm), (miss, hit) = Costs.resolve(
            cost_matrix, classes=[0, 1], owner="probability"
        ).mean_matrix
        if miss <= hit or alarm <= keep:
            raise ValueError(
                "The 'cost_matrix' parameter of probability must make both errors dearer than the "
                f"right decisions, got {[[keep, alarm], [miss, hit]]}."
            )
        p = known.probability(F, (miss - hit, alarm - keep))
        return np.stack([1.0 - p, p], axis=1)
    if isinstance(known, MC):
        return np.asarray(softmax(2.0 * F, axis=1))
    if isinstance(known, GLL) and cost_matrix is None:
        return np.asarray(softmax(F, axis=1))
    raise ValueError(
        f"The 'loss' parameter of probability must have a link to probabilities, which {known!r} "
        "has not (GLL has one without costs). Train 'mc', or 'gll' without costs, and decide by "
        "expected cost; or calibrate the scores."
    )
