r"""Decisions explained in money: a part of the saving for each feature.

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

from costboost._typing import AnyArray, Floats, Ints
from costboost._utils import Framed, as_frame, invalid
from costboost.costs.labels import checked_codes
from costboost.costs.table import to_proba
from costboost.decisions.arrays import cheapest, cheapest_other, checked, expected_cost

if TYPE_CHECKING:
    import pandas as pd

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)


@dataclass(frozen=True, eq=False)
class Explanation(Framed):
    """Decisions and what each feature adds to their saving; made by `explain`.

    Attributes
    ----------
    decisions : array of shape (d,)
        Labels of the decisions.
    codes, runner_up_codes : int arrays of shape (n,)
        The decision of each row and the cheapest other one, as indices into `decisions`.
    saving : array of shape (n,)
        What the decision is expected to save against the runner-up; negative where limits forced
        it.
    base : array of shape (n,)
        What it would save at the base rate of the model, with the row's own costs.
    parts : array of shape (n, f)
        What each feature adds: ``base + parts.sum(axis=1) == saving``.
    feature_names : list of str
        Names of the features.
    values : array of shape (n, f), or None
        Their values.
    """

    decisions: AnyArray
    codes: Ints
    runner_up_codes: Ints
    saving: Floats
    base: Floats
    parts: Floats
    feature_names: list[str]
    values: AnyArray | None = None

    @property
    def labels(self) -> AnyArray:
        """The decision of each row, (n,)."""
        return np.asarray(self.decisions[self.codes])

    @property
    def runner_up(self) -> AnyArray:
        """The cheapest other decision of each row, (n,)."""
        return np.asarray(self.decisions[self.runner_up_codes])

    @property
    def mean_absolute(self) -> Floats:
        """Mean absolute part of each feature over the rows, (f,)."""
        return np.asarray(np.abs(self.parts).mean(axis=0))

    def to_frame(self) -> pd.DataFrame:
        """One row per row explained.

        Returns
        -------
        pandas.DataFrame
            Columns ``decision``, ``runner_up``, ``saving``, ``base`` and one per feature.
        """
        parts = dict(zip(self.feature_names, self.parts.T, strict=True))
        own = {"decision": self.labels, "runner_up": self.runner_up, "saving": self.saving}
        return as_frame({**own, "base": self.base, **parts}, "Explanation.to_frame")


def explain(
    contributions: ArrayLike,
    matrix: ArrayLike,
    *,
    proba: ArrayLike | None = None,
    decisions: ArrayLike | None = None,
    codes: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
    X: Any = None,
) -> Explanation:
    """Explain decisions by what each feature adds to their saving.

    Parameters
    ----------
    contributions : array of shape (n, f + 1) or (n, k, f + 1)
        SHAP contributions to the log-odds of the second class, or to the scores whose softmax is
        the probability; the last column is the base.
    matrix : array of shape (k, d) or (n, k, d)
        Costs, truth by decision.
    proba : array of shape (n, k), optional
        Probabilities that decide; by default those of the contributions. If the two differ, because
        the contributions are rounded or those of an average of scores, the difference is
        shared out in proportion to the sizes of the parts.
    decisions : array of shape (d,), optional
        Labels of the decisions; by default 0, 1, ...
    codes : int array of shape (n,), optional
        Decisions taken, such as ``allocate(...).codes``; by default the cheapest ones.
    feature_names : sequence of str, optional
        Names of the features; by default the columns of X, or x0, x1, ...
    X : table of shape (n, f), optional
        Values of the features, to be shown.

    Returns
    -------
    Explanation
        Decision, runner-up, saving and parts of each row.

    Examples
    --------
    Two features push the log-odds from -2 to 0; a false alarm costs 1, a miss 4:

    >>> found = explain([[1.5, 0.5, -2.0]], [[0, 1], [4, 0]])
    >>> found.labels, found.saving, found.base.round(3), found.parts.round(3)
    (array([1]), array([1.5]), array([-0.404]), array([[1.428, 0.476]]))
    """
    owner = "explain"
    given = np.asarray(contributions, dtype=np.float64)
    if given.ndim not in (2, 3) or given.shape[-1] < 2:
        rule = "must have shape (n, f + 1) or (n, k, f + 1)"
        raise invalid("contributions", owner, f"{rule}, got {given.shape}.")
    n, f = len(given), given.shape[-1] - 1
    own = to_proba(given.sum(axis=-1))
    p, C, _, labels = checked(own if proba is None else proba, matrix, owner, None, decisions)
    if p.shape != own.shape:
        rule = f"must have shape {own.shape} to go with the contributions"
        raise invalid("proba", owner, f"{rule}, got {p.shape}.")
    if len(labels) < 2:
        raise ValueError(f"{owner} needs at least two decisions to compare, got {labels.tolist()}.")
    expected = expected_cost(p, C)
    taken = cheapest(expected)
    if codes is not None:
        taken = checked_codes(codes, n, len(labels), "codes", owner)
    rows, (runner_up, saving) = np.arange(n), cheapest_other(expected, taken)
    full = np.broadcast_to(C, (n, *C.shape[-2:]))
    gain = full[rows, :, runner_up] - full[rows, :, taken]  # (n, k)
    base = (to_proba(given[..., -1]) * gain).sum(axis=1)
    parts = _adding_up(_parts(given, gain), saving - base)
    if feature_names is None:
        feature_names = X.columns if hasattr(X, "columns") else [f"x{j}" for j in range(f)]
    names = [str(name) for name in feature_names]
    if len(names) != f:
        rule = f"must hold {f} names, one per feature of the contributions"
        raise invalid("feature_names", owner, f"{rule}; got {len(names)}.")
    values = None if X is None else np.asarray(X, dtype=object if hasattr(X, "columns") else None)
    if values is not None and values.shape != (n, f):
        rule = f"must have shape ({n}, {f}) to go with the contributions"
        raise invalid("X", owner, f"{rule}, got {values.shape}.")
    return Explanation(labels, taken, runner_up, saving, base, parts, names, values)


def _parts(contributions: Floats, gain: Floats) -> Floats:
    """The path integral of the saving along the contributions, (n, f)."""
    phi, base = contributions[..., :-1], contributions[..., -1]
    total = phi.sum(axis=-1)
    if base.ndim == 1:
        rise = _mean_slope(base, total) * (gain[:, 1] - gain[:, 0])
        return np.asarray(rise[:, None] * phi)
    slope = np.zeros_like(base)
    for node, weight in zip(0.5 * (_NODES + 1.0), 0.5 * _WEIGHTS, strict=True):
        p = np.asarray(softmax(base + node * total, axis=1))
        slope += weight * p * (gain - (p * gain).sum(axis=1, keepdims=True))
    return np.asarray(np.einsum("nk,nkf->nf", slope, phi))


def _mean_slope(base: Floats, total: Floats) -> Floats:
    """Mean slope of the logistic function between base and base + total."""
    is_flat = np.abs(total) < 1e-4
    middle = expit(base + 0.5 * total)
    step = np.where(is_flat, 1.0, total)
    return np.where(is_flat, middle * (1.0 - middle), (expit(base + total) - expit(base)) / step)


def _adding_up(parts: Floats, total: Floats) -> Floats:
    """Share out what is missing from the total in proportion to the sizes of the parts."""
    for _ in range(2):  # the second time for the rounding of the first
        rest = total - parts.sum(axis=1)
        size = np.abs(parts)
        whole = size.sum(axis=1, keepdims=True)
        share = np.where(whole > 0, size / np.where(whole > 0, whole, 1.0), 1.0 / parts.shape[1])
        parts = parts + rest[:, None] * share
    return parts
