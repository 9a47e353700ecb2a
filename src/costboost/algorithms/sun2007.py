"""AdaC1, AdaC2 and AdaC3.

Y. Sun, M. S. Kamel, A. K. C. Wong and Y. Wang, "Cost-sensitive boosting for classification of
imbalanced data", Pattern Recognition 40(12), 2007, doi:10.1016/j.patcog.2007.04.009.
"""

from __future__ import annotations

import numpy as np

from costboost._typing import Floats
from costboost._utils import dot
from costboost.boosting import BoostingClassifier, Init, Recipe, VoteRule, adaboost_factor
from costboost.boosting.votes import CostScale, cost_ratio_vote, half_log_ratio, margins

__all__ = ["AdaC1Classifier", "AdaC2Classifier", "AdaC3Classifier"]


def _bounded_vote(weights: Floats, c: Floats, wrong: Floats) -> float:
    """½ ln((W + A)/(W - A)), W the sum of the weights and A = Σ_right c w - Σ_wrong c w."""
    # Both terms are summed without the subtraction: exactly 0 only where nothing is left.
    right = 1.0 - wrong
    up, down = weights * (1.0 + c), weights * (1.0 - c)
    good = dot(up, right) + dot(down, wrong)
    bad = dot(down, right) + dot(up, wrong)
    if bad <= 0.0 < dot(weights, wrong):
        raise ValueError(
            f"The vote of AdaC1 and AdaC3 is not defined for costs as large as {c.max():.3g}: a "
            "rule with mistakes would get an infinite one. Choose cost_scale='max'."
        )
    return half_log_ratio(good, bad)


def _cost_in_exponent(c: Floats, wrong: Floats, alpha: float) -> Floats:
    return np.exp(-alpha * c * margins(wrong))


class AdaC1Classifier(BoostingClassifier):
    r"""AdaC1: the cost inside the exponent.

    .. math::

        D_i = \frac1n, \qquad
        \alpha = \tfrac12 \ln \frac{1 + A}{1 - A}, \quad
        A = \sum_{right} c D - \sum_{wrong} c D, \qquad
        D \leftarrow D\,e^{-\alpha c y h} / Z

    with c scaled by its maximum (``cost_scale``). It approximates CS-AdaBoost's exact step on the
    same loss. With equal costs it is AdaBoost. Theory gives no link to probabilities for the
    approximate step; `predict_proba` uses that of the cost-weighted exponential loss. By default
    ``init`` is ``"uniform"``.

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    Parameters
    ----------
    cost_scale : {"max", "min"} or None, default="max"
        What the costs c of the equations are divided by: the largest one, the smallest positive
        one, or nothing. Above 1 they may be too large for the vote; `fit` says so then.

    References
    ----------
    Y. Sun, M. S. Kamel, A. K. C. Wong and Y. Wang, "Cost-sensitive boosting for classification of
    imbalanced data", Pattern Recognition 40(12), 2007, doi:10.1016/j.patcog.2007.04.009.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import AdaC1Classifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = AdaC1Classifier({"fn": 1, "fp": 5}, n_estimators=20).fit(X[:400], y[:400])
    >>> bool(clf.score(X[400:], y[400:]) > 0.8)
    True
    """

    _recipe = Recipe("cost inside the exponent of the update", "Sun et al. 2007", parent="AdaBoost")
    _default_init = "uniform"
    _rule = VoteRule(vote=_bounded_vote, factor=_cost_in_exponent)

    init: Init | None = None
    cost_scale: CostScale = "max"


class AdaC2Classifier(BoostingClassifier):
    r"""AdaC2: the cost in front of the exponential, in every round.

    .. math::

        D_i = \frac1n, \qquad
        \alpha = \tfrac12 \ln \frac{\sum_{right} c D}{\sum_{wrong} c D}, \qquad
        D \leftarrow c\,D\,e^{-\alpha y h} / Z

    with c scaled by its maximum (``cost_scale``). The cost enters anew in every round, so costly
    rows take over in the long run. With equal costs it is AdaBoost. Theory gives no link to
    probabilities; `predict_proba` uses that of the cost-weighted exponential loss. By default
    ``init`` is ``"uniform"``.

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    Parameters
    ----------
    cost_scale : {"max", "min"} or None, default="max"
        What the costs c of the equations are divided by: the largest one, the smallest positive
        one, or nothing. The result does not depend on it.

    References
    ----------
    Y. Sun, M. S. Kamel, A. K. C. Wong and Y. Wang, "Cost-sensitive boosting for classification of
    imbalanced data", Pattern Recognition 40(12), 2007, doi:10.1016/j.patcog.2007.04.009.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import AdaC2Classifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = AdaC2Classifier({"fn": 1, "fp": 2}, n_estimators=20).fit(X[:400], y[:400])
    >>> clf.predict(X[400:403]).shape
    (3,)
    """

    _recipe = Recipe("cost in front of the exponent", "Sun et al. 2007", parent="AdaBoost")
    _default_init = "uniform"
    _rule = VoteRule(
        vote=cost_ratio_vote,
        factor=lambda c, wrong, alpha: c * adaboost_factor(c, wrong, alpha),
    )

    init: Init | None = None
    cost_scale: CostScale = "max"


class AdaC3Classifier(BoostingClassifier):
    r"""AdaC3: the cost both inside the exponent and in front of it.

    .. math::

        D_i = \frac1n, \qquad
        \alpha = \tfrac12 \ln \frac{\sum c D + B}{\sum c D - B}, \quad
        B = \sum_{right} c^2 D - \sum_{wrong} c^2 D, \qquad
        D \leftarrow c\,D\,e^{-\alpha c y h} / Z

    with c scaled by its maximum (``cost_scale``). With equal costs it is AdaBoost. Theory gives no
    link to probabilities; `predict_proba` uses that of the cost-weighted exponential loss. By
    default ``init`` is ``"uniform"``.

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    Parameters
    ----------
    cost_scale : {"max", "min"} or None, default="max"
        What the costs c of the equations are divided by: the largest one, the smallest positive
        one, or nothing. Above 1 they may be too large for the vote; `fit` says so then.

    References
    ----------
    Y. Sun, M. S. Kamel, A. K. C. Wong and Y. Wang, "Cost-sensitive boosting for classification of
    imbalanced data", Pattern Recognition 40(12), 2007, doi:10.1016/j.patcog.2007.04.009.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import AdaC3Classifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = AdaC3Classifier({"fn": 1, "fp": 2}, n_estimators=20).fit(X[:400], y[:400])
    >>> clf.predict(X[400:403]).shape
    (3,)
    """

    _recipe = Recipe("cost in both places", "Sun et al. 2007", parent="AdaBoost")
    _default_init = "uniform"
    _rule = VoteRule(
        vote=lambda D, c, wrong: _bounded_vote(c * D, c, wrong),
        factor=lambda c, wrong, alpha: c * _cost_in_exponent(c, wrong, alpha),
    )

    init: Init | None = None
    cost_scale: CostScale = "max"
