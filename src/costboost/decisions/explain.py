r"""Explain decisions in money: what each feature adds to what a decision saves.

A row's decision saves something against the runner-up, the cheapest other decision. With the costs
C of the row, expected costs are linear in the probabilities p, and so is this saving:

.. math:: S(p) = \sum_j p_j \, (C_{j, \text{runner-up}} - C_{j, \text{decision}}).

At the base scores of the model (those of a row it knows nothing about) the same choice would save
:math:`S(p_{base})`. The features move the scores from the base s₀ to :math:`s_0 + \sum_f \phi_f`
with the SHAP contributions φ, and the saving along with them. **The rule:** all contributions grow
together, from none to their full size, and each feature gets what its contribution adds to the
saving on the way (the Aumann-Shapley value):

.. math::

    \text{part}_f = \int_0^1 \nabla_s S\bigl(p(s_0 + t \textstyle\sum_g \phi_g)\bigr) \cdot \phi_f
    \; dt, \qquad \sum_f \text{part}_f = S(p) - S(p_{base}).

For two classes this shares out the change of the probability in proportion to the contributions.
What rounding and integration leave over is shared out in proportion to the sizes of the parts.

A feature that also sets the costs (an amount) acts twice. Its effect on the costs is in the base,
which is computed with the row's own costs; its part is the effect on the probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, softmax

from costboost._utils import Framed, as_frame, invalid
from costboost.costs.costs import to_proba
from costboost.decisions.decisions import Decisions

if TYPE_CHECKING:
    import pandas as pd

NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(64)


@dataclass(frozen=True, eq=False)
class Explanation(Framed):
    """Decisions and what each feature adds to their saving; made by `explain`.

    Attributes
    ----------
    decisions : Decisions
        The decisions that are explained.
    base : array of shape (n,)
        What the decision would save at the base rate of the model, with the row's own costs.
    parts : array of shape (n, f)
        What each feature adds: ``base + parts.sum(axis=1) == saving``.
    feature_names : list of str
        Names of the features.
    values : array of shape (n, f), or None
        Their values.
    """

    decisions: Decisions
    base: np.ndarray
    parts: np.ndarray
    feature_names: list[str]
    values: np.ndarray | None = None

    @property
    def labels(self) -> np.ndarray:
        """The label of each row's decision, (n,)."""
        return self.decisions.labels

    @property
    def runner_up(self) -> np.ndarray:
        """The cheapest other decision of each row, (n,)."""
        return self.decisions.runner_up

    @property
    def saving(self) -> np.ndarray:
        """What each decision is expected to save against the runner-up, (n,)."""
        return self.decisions.saving

    @property
    def mean_absolute(self) -> np.ndarray:
        """Mean absolute part of each feature over the rows, (f,)."""
        return np.abs(self.parts).mean(axis=0)

    def to_frame(self) -> pd.DataFrame:
        """Return the explanation as a frame, one row per row explained.

        Returns
        -------
        pandas.DataFrame
            Columns ``decision``, ``runner_up``, ``saving``, ``base`` and one per feature.
        """
        columns = {
            "decision": self.labels,
            "runner_up": self.runner_up,
            "saving": self.saving,
            "base": self.base,
            **dict(zip(self.feature_names, self.parts.T, strict=True)),
        }
        return as_frame(columns, "Explanation.to_frame")


def explain(
    decisions: Decisions,
    contributions: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    values: Any = None,
) -> Explanation:
    """Explain decisions by what each feature adds to their saving.

    Parameters
    ----------
    decisions : Decisions
        The decisions that were taken, with the probabilities and costs that they were taken by.
    contributions : array of shape (n, f + 1) or (n, k, f + 1)
        SHAP contributions to the log-odds of the second class, or to the scores whose softmax is
        the probability; the last column is the base. Where they add up to other probabilities than
        those of the decisions, because they are rounded or those of an average of scores, the
        difference is shared out in proportion to the sizes of the parts.
    names : sequence of str, optional
        Names of the features; by default x0, x1, ...
    values : array of shape (n, f), optional
        Values of the features, to be shown.

    Returns
    -------
    Explanation
        Decision, runner-up, saving and parts of each row.

    Examples
    --------
    Two features push the log-odds from -2 to 0; a false alarm costs 1, a miss 4:

    >>> from costboost.costs import Costs
    >>> from costboost.decisions import Decisions
    >>> decided = Decisions.from_proba(np.array([[0.5, 0.5]]), Costs([[0, 1], [4, 0]], [0, 1]))
    >>> explanation = explain(decided, [[1.5, 0.5, -2.0]])
    >>> explanation.labels, explanation.saving
    (array([1]), array([1.5]))
    >>> explanation.base.round(3), explanation.parts.round(3)
    (array([-0.404]), array([[1.428, 0.476]]))
    """
    phi = np.asarray(contributions, dtype=np.float64)
    if phi.ndim not in (2, 3) or phi.shape[-1] < 2:
        rule = "must have shape (n, f + 1) or (n, k, f + 1)"
        raise invalid("contributions", "explain", f"{rule}, got {phi.shape}.")
    proba_at_base = to_proba(phi[..., -1])
    if decisions.proba is None or decisions.proba.shape != proba_at_base.shape:
        given = None if decisions.proba is None else decisions.proba.shape
        rule = f"must have probabilities of shape {proba_at_base.shape}, as the contributions"
        raise invalid("decisions", "explain", f"{rule}; got {given}.")
    if len(decisions.decisions) < 2:
        labels = decisions.decisions.tolist()
        raise ValueError(f"explain needs at least two decisions to compare, got {labels}.")
    if decisions.costs is None:
        raise invalid("decisions", "explain", "must have the costs that they were taken by.")
    n_rows = len(phi)
    n_features = phi.shape[-1] - 1
    feature_names = [f"x{j}" for j in range(n_features)]
    if names is not None:
        feature_names = [str(name) for name in names]
    if len(feature_names) != n_features:
        rule = f"must hold {n_features} names, one per feature of the contributions"
        raise invalid("names", "explain", f"{rule}; got {len(feature_names)}.")
    if values is not None and np.shape(values) != (n_rows, n_features):
        rule = f"must have shape ({n_rows}, {n_features}) to go with the contributions"
        raise invalid("values", "explain", f"{rule}, got {np.shape(values)}.")

    # What the decision saves against the runner-up under each class, (n, k).
    rows = np.arange(n_rows)
    matrix = np.broadcast_to(decisions.costs.matrix, (n_rows, *decisions.costs.matrix.shape[-2:]))
    gain = matrix[rows, :, decisions.runner_up_chosen] - matrix[rows, :, decisions.chosen]
    base = (proba_at_base * gain).sum(axis=1)
    parts = _share_out_rest(_integrate(phi, gain), decisions.saving - base)
    return Explanation(decisions, base, parts, feature_names, values)


def _integrate(contributions: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """Return the path integral of the saving along the contributions, (n, f)."""
    phi = contributions[..., :-1]
    base = contributions[..., -1]
    total = phi.sum(axis=-1)
    if base.ndim == 1:
        rise = _mean_slope(base, total) * (gain[:, 1] - gain[:, 0])
        return rise[:, None] * phi
    slope = np.zeros_like(base)
    for node, weight in zip(0.5 * (NODES + 1.0), 0.5 * NODE_WEIGHTS, strict=True):
        p = softmax(base + node * total, axis=1)
        slope += weight * p * (gain - (p * gain).sum(axis=1, keepdims=True))
    return np.einsum("nk,nkf->nf", slope, phi)


def _mean_slope(base: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Return the mean slope of the logistic function between base and base + total."""
    is_flat = np.abs(total) < 1e-4
    middle = expit(base + 0.5 * total)
    step = np.where(is_flat, 1.0, total)
    return np.where(is_flat, middle * (1.0 - middle), (expit(base + total) - expit(base)) / step)


def _share_out_rest(parts: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Share out what is missing from the total in proportion to the sizes of the parts."""
    for _ in range(2):  # the second time for the rounding of the first
        rest = total - parts.sum(axis=1)
        size = np.abs(parts)
        whole = size.sum(axis=1, keepdims=True)
        share = np.where(whole > 0, size / np.where(whole > 0, whole, 1.0), 1.0 / parts.shape[1])
        parts = parts + rest[:, None] * share
    return parts
