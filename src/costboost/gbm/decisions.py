"""From the raw scores of a booster to probabilities and decisions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import Floats, Ints
from costboost.costs import Costs
from costboost.losses import Loss, named_loss

__all__ = ["decide", "probability"]


def decide(
    scores: ArrayLike, loss: str | Loss, *, cost_matrix: Any = None, costs: Any = None
) -> Ints:
    """Turn raw scores into decisions.

    Without `costs` the decision is the sign of the score, or the class of the largest one, because
    the costs were in the training. A cost-blind loss, such as ``"mc"``, decides for the least
    expected cost under `cost_matrix`.

    With `costs`, the costs of these rows, the decision is that of least expected cost, by
    `probability`.

    Parameters
    ----------
    scores : array of shape (n,) or (n, k)
        Raw scores: ``Booster.predict(X, raw_score=True)`` of LightGBM, ``predict(X,
        output_margin=True)`` of XGBoost.
    loss : str or Loss
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
    F = known.checked_scores(scores, "decide")
    if costs is None and known.carries_costs:
        return np.asarray(F >= 0 if F.ndim == 1 else F.argmax(axis=1), dtype=np.intp)
    proba = probability(F, known, cost_matrix=cost_matrix)
    k = proba.shape[1]
    prices = Costs.resolve(
        cost_matrix,
        costs,
        classes=np.arange(k),
        n_samples=len(F),
        owner="decide",
        as_classes=True,
    )
    return prices.decide(proba)


def probability(scores: ArrayLike, loss: str | Loss, *, cost_matrix: Any = None) -> Floats:
    """Turn raw scores into the class probabilities for which they minimise the loss.

    Parameters
    ----------
    scores : array of shape (n,) or (n, k)
        Raw scores.
    loss : str or Loss
        The loss of the objective. It must have a link to probabilities: the binary losses and
        ``"mc"`` have one, ``"gll"`` has one without costs.
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
    F = np.asarray(known.checked_scores(scores, "probability"), dtype=np.float64)
    if cost_matrix is None:
        return known.class_probabilities(F)
    k = 2 if known.is_binary else F.shape[1]
    costs = Costs.resolve(cost_matrix, classes=np.arange(k), owner="probability")
    return known.class_probabilities(F, costs.mean_matrix)
