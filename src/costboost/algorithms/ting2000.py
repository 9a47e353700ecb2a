"""CSB0, CSB1 and CSB2.

K. M. Ting, "A comparative study of cost-sensitive boosting algorithms", ICML 2000.
"""

from __future__ import annotations

import math

from costboost._typing import Floats
from costboost.boosting import BoostingClassifier, Init, Recipe, VoteRule, adaboost_factor
from costboost.boosting.votes import CostScale, two_valued

__all__ = ["CSB0Classifier", "CSB1Classifier", "CSB2Classifier", "csb_factor"]


def csb_factor(c: Floats, wrong: Floats) -> Floats:
    """κ: the cost of the row where the rule errs, 1 elsewhere."""
    return 1.0 + (c - 1.0) * wrong


class CSB0Classifier(BoostingClassifier):
    r"""CSB0: wrong rows gain their cost, right rows keep their weight.

    .. math::

        D_i = \frac{c_i}{\sum c}, \qquad
        \alpha = \tfrac12 \ln \frac{1 - \varepsilon}{\varepsilon}, \qquad
        D \leftarrow D\,\kappa / Z, \quad \kappa = c \text{ if wrong, } 1 \text{ if right}

    with c scaled so that the cheapest class costs 1 (``cost_scale``). With equal costs the weights
    never move. It tends to end up predicting the costly class everywhere. Theory gives no link to
    probabilities; `predict_proba` uses that of the cost-weighted exponential loss. By default
    ``init`` is ``"cost"``.

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    Parameters
    ----------
    cost_scale : {"max", "min"} or None, default="min"
        What the costs c of the equations are divided by: the largest one, the smallest positive
        one, or nothing. Where 1 lies says which wrong rows gain weight.

    References
    ----------
    K. M. Ting, "A comparative study of cost-sensitive boosting algorithms", ICML 2000.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import CSB0Classifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = CSB0Classifier({"fn": 1, "fp": 2}, n_estimators=20).fit(X[:400], y[:400])
    >>> clf.predict(X[400:403]).shape
    (3,)
    """

    _recipe = Recipe("errors multiply the weight by their cost", "Ting 2000")
    _rule = VoteRule(factor=lambda c, wrong, alpha: csb_factor(c, wrong))

    init: Init | None = None
    cost_scale: CostScale = "min"


class CSB1Classifier(BoostingClassifier):
    r"""CSB1: CSB0 with an AdaBoost-like update of unit vote.

    .. math::

        D_i = \frac{c_i}{\sum c}, \qquad
        \alpha = \tfrac12 \ln \frac{1 - \varepsilon}{\varepsilon}, \qquad
        D \leftarrow D\,\kappa\,e^{-y h} / Z

    with κ as in `CSB0Classifier`. Theory gives no link to probabilities; `predict_proba` uses that
    of the cost-weighted exponential loss. By default ``init`` is ``"cost"``.

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    Parameters
    ----------
    cost_scale : {"max", "min"} or None, default="min"
        What the costs c of the equations are divided by: the largest one, the smallest positive
        one, or nothing. Where 1 lies says which wrong rows gain weight.

    References
    ----------
    K. M. Ting, "A comparative study of cost-sensitive boosting algorithms", ICML 2000.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import CSB1Classifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = CSB1Classifier({"fn": 1, "fp": 2}, n_estimators=20).fit(X[:400], y[:400])
    >>> clf.predict(X[400:403]).shape
    (3,)
    """

    _recipe = Recipe("CSB0 with a constant exponential step", "Ting 2000")
    _rule = VoteRule(
        factor=lambda c, wrong, alpha: csb_factor(c, wrong) * two_valued(wrong, 1 / math.e, math.e),
    )

    init: Init | None = None
    cost_scale: CostScale = "min"


class CSB2Classifier(BoostingClassifier):
    r"""CSB2: AdaBoost's update times the cost of wrong rows.

    .. math::

        D_i = \frac{c_i}{\sum c}, \qquad
        \alpha = \tfrac12 \ln \frac{1 - \varepsilon}{\varepsilon}, \qquad
        D \leftarrow D\,\kappa\,e^{-\alpha y h} / Z

    with κ as in `CSB0Classifier`. With equal costs it is AdaBoost. Theory gives no link to
    probabilities; `predict_proba` uses that of the cost-weighted exponential loss. By default
    ``init`` is ``"cost"``.

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    Parameters
    ----------
    cost_scale : {"max", "min"} or None, default="min"
        What the costs c of the equations are divided by: the largest one, the smallest positive
        one, or nothing. Where 1 lies says which wrong rows gain weight.

    References
    ----------
    K. M. Ting, "A comparative study of cost-sensitive boosting algorithms", ICML 2000.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import CSB2Classifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = CSB2Classifier({"fn": 1, "fp": 2}, n_estimators=20).fit(X[:400], y[:400])
    >>> clf.predict(X[400:403]).shape
    (3,)
    """

    _recipe = Recipe("CSB0 with AdaBoost's step", "Ting 2000", parent="AdaBoost")
    _rule = VoteRule(
        factor=lambda c, wrong, alpha: csb_factor(c, wrong) * adaboost_factor(c, wrong, alpha),
    )

    init: Init | None = None
    cost_scale: CostScale = "min"
