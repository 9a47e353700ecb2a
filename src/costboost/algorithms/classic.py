"""The vote-based algorithms before the loss-based ones, as papers 2, 3 and 5 compare to them.

All of them are AdaBoost with the cost put into the initial weights, the vote or the update. A round
whose vote is not positive ends the boosting and its rule is dropped: the condition under which
Fan et al. and Sun et al. derive their votes fails there. A rule without mistakes is kept with a
large finite vote and ends the boosting too: no weight is left to move.

Notation: D the distribution over rows, y in {-1, +1}, h(x) in {-1, +1} the weak rule, c the cost of
misclassifying the row, α the vote.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from costboost._sums import dot
from costboost._typing import Floats
from costboost.algorithms._bases import VoteBoostingClassifier
from costboost.boosting import VoteRule
from costboost.boosting.problem import Init
from costboost.boosting.votes import (
    adaboost_factor,
    adaboost_vote,
    half_log_ratio,
    margins,
    right_and_wrong,
    two_valued,
)

__all__ = [
    "AdaBoostCClassifier",
    "AdaC1Classifier",
    "AdaC2Classifier",
    "AdaC3Classifier",
    "AdaCostClassifier",
    "AsymmetricAdaBoostClassifier",
    "CSB0Classifier",
    "CSB1Classifier",
    "CSB2Classifier",
]


class AdaBoostCClassifier(VoteBoostingClassifier):
    r"""AdaBoost with cost-proportional initial weights.

    .. math::

        D_i = \frac{c_i}{\sum c}, \qquad
        \alpha = \tfrac12 \ln \frac{1 - \varepsilon}{\varepsilon}, \quad
        \varepsilon = \sum D\,[h \ne y], \qquad D \leftarrow D\,e^{-\alpha y h} / Z

    It minimises :math:`\sum c\,e^{-yF}`, so :math:`F^* = \tfrac12 \log(P_+C_1 / P_-C_2)`, from
    which `predict_proba` is read. With equal costs, or ``init="uniform"``, it is AdaBoost. The
    parameters are those of `costboost.binary.BinaryBoostingClassifier`; default ``init="cost"``.

    References
    ----------
    I. Landesa-Vázquez and J. L. Alba-Castro, "Shedding light on the asymmetric learning capability
    of AdaBoost", Pattern Recognition Letters 33(3), 2012, doi:10.1016/j.patrec.2011.10.022.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import AdaBoostCClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = AdaBoostCClassifier({"fn": 1, "fp": 10}, n_estimators=20).fit(X[:400], y[:400])
    >>> bool(clf.score(X[400:], y[400:]) > 0.8)
    True
    """

    _rule = VoteRule(vote=adaboost_vote, factor=adaboost_factor)

    def _link_costs(self) -> tuple[float, float]:
        """Only cost-proportional initial weights bring costs into the score."""
        return self._cost_pair if (self.init or self._default_init) == "cost" else (1.0, 1.0)


def _adacost_vote(D: Floats, c: Floats, wrong: Floats) -> float:
    r = dot(D, _adjusted_margins(c, wrong))
    return half_log_ratio(1.0 + r, 1.0 - r)


def _adjusted_margins(c: Floats, wrong: Floats) -> Floats:
    """Y h β = ½ (y h - c |y h|)."""
    margin = margins(wrong)
    return 0.5 * (margin - c * np.abs(margin))


def _adacost_factor(c: Floats, wrong: Floats, alpha: float) -> Floats:
    return np.exp(-alpha * _adjusted_margins(c, wrong))


class AdaCostRule(VoteRule):
    """AdaCost's equations."""

    def scaled(self, c: Floats) -> Floats:
        """Costs in (0, 1]; equal costs, which tell rows nothing apart, count as none."""
        at_stake = c[c > 0]
        return super().scaled(c) if at_stake.min() < at_stake.max() else np.zeros_like(c)


class AdaCostClassifier(VoteBoostingClassifier):
    r"""AdaCost: a cost adjustment β inside the exponent.

    .. math::

        D_i = \frac{c_i}{\sum c}, \qquad
        r = \sum D\,y h \beta, \quad \alpha = \tfrac12 \ln \frac{1 + r}{1 - r}, \qquad
        D \leftarrow D\,e^{-\alpha y h \beta} / Z

    with :math:`\beta = \tfrac12 - \tfrac12 c` on rows decided rightly and
    :math:`\tfrac12 + \tfrac12 c` on others, c scaled by its maximum. Dear rows are slow to lose
    weight and quick to gain it, but r > 0 asks for very accurate rules when the costs are far
    apart, so the boosting may end after few rounds. If all costs are equal, c = 1 would make every
    r negative; the limit c → 0 is taken instead, in which AdaCost is a damped AdaBoost.

    Theory gives no link to probabilities; `predict_proba` uses that of the cost-weighted
    exponential loss, which orders rows but is not calibrated. The parameters are those of
    `costboost.binary.BinaryBoostingClassifier`; default ``init="cost"``.

    References
    ----------
    W. Fan, S. J. Stolfo, J. Zhang and P. K. Chan, "AdaCost: misclassification cost-sensitive
    boosting", ICML 1999.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import AdaCostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = AdaCostClassifier({"fn": 1, "fp": 2}, n_estimators=20).fit(X[:400], y[:400])
    >>> bool(clf.score(X[400:], y[400:]) > 0.7)
    True
    """

    _rule = AdaCostRule(vote=_adacost_vote, factor=_adacost_factor)


def csb_factor(c: Floats, wrong: Floats) -> Floats:
    """κ: the cost of the row where the rule errs, 1 elsewhere."""
    return 1.0 + (c - 1.0) * wrong


class CSB0Classifier(VoteBoostingClassifier):
    r"""CSB0: wrong rows gain their cost, right rows keep their weight.

    .. math::

        D_i = \frac{c_i}{\sum c}, \qquad
        \alpha = \tfrac12 \ln \frac{1 - \varepsilon}{\varepsilon}, \qquad
        D \leftarrow D\,\kappa / Z, \quad \kappa = c \text{ if wrong, } 1 \text{ if right}

    with c scaled so that the cheapest class costs 1. With equal costs the weights never move. It
    tends to end up predicting the dear class everywhere. Theory gives no link to probabilities;
    `predict_proba` uses that of the cost-weighted exponential loss. The parameters are those of
    `costboost.binary.BinaryBoostingClassifier`; default ``init="cost"``.

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

    _rule = VoteRule(
        vote=adaboost_vote,
        factor=lambda c, wrong, alpha: csb_factor(c, wrong),
        cost_scale="min",
    )


class CSB1Classifier(VoteBoostingClassifier):
    r"""CSB1: CSB0 with an AdaBoost-like update of unit vote.

    .. math::

        D_i = \frac{c_i}{\sum c}, \qquad
        \alpha = \tfrac12 \ln \frac{1 - \varepsilon}{\varepsilon}, \qquad
        D \leftarrow D\,\kappa\,e^{-y h} / Z

    with κ as in `CSB0Classifier`. Theory gives no link to probabilities; `predict_proba` uses that
    of the cost-weighted exponential loss. The parameters are those of
    `costboost.binary.BinaryBoostingClassifier`; default ``init="cost"``.

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

    _rule = VoteRule(
        vote=adaboost_vote,
        factor=lambda c, wrong, alpha: csb_factor(c, wrong) * two_valued(wrong, 1 / math.e, math.e),
        cost_scale="min",
    )


class CSB2Classifier(VoteBoostingClassifier):
    r"""CSB2: AdaBoost's update times the cost of wrong rows.

    .. math::

        D_i = \frac{c_i}{\sum c}, \qquad
        \alpha = \tfrac12 \ln \frac{1 - \varepsilon}{\varepsilon}, \qquad
        D \leftarrow D\,\kappa\,e^{-\alpha y h} / Z

    with κ as in `CSB0Classifier`. With equal costs it is AdaBoost. Theory gives no link to
    probabilities; `predict_proba` uses that of the cost-weighted exponential loss. The parameters
    are those of `costboost.binary.BinaryBoostingClassifier`; default ``init="cost"``.

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

    _rule = VoteRule(
        vote=adaboost_vote,
        factor=lambda c, wrong, alpha: csb_factor(c, wrong) * adaboost_factor(c, wrong, alpha),
        cost_scale="min",
    )


def _bounded_vote(weights: Floats, c: Floats, wrong: Floats) -> float:
    """½ ln((W + A)/(W - A)), W the sum of the weights and A = Σ_right c w - Σ_wrong c w.

    Both terms are summed without the subtraction: exactly 0 only where nothing is left.
    """
    right = 1.0 - wrong
    up, down = weights * (1.0 + c), weights * (1.0 - c)
    good = dot(up, right) + dot(down, wrong)
    bad = dot(down, right) + dot(up, wrong)
    return half_log_ratio(good, bad)


def _cost_in_exponent(c: Floats, wrong: Floats, alpha: float) -> Floats:
    return np.exp(-alpha * c * margins(wrong))


def cost_ratio_vote(D: Floats, c: Floats, wrong: Floats) -> float:
    """α = ½ ln(Σ_right cD / Σ_wrong cD)."""
    return half_log_ratio(*right_and_wrong(c * D, wrong))


class AdaC1Classifier(VoteBoostingClassifier):
    r"""AdaC1: the cost inside the exponent.

    .. math::

        D_i = \frac1n, \qquad
        \alpha = \tfrac12 \ln \frac{1 + A}{1 - A}, \quad
        A = \sum_{right} c D - \sum_{wrong} c D, \qquad
        D \leftarrow D\,e^{-\alpha c y h} / Z

    with c scaled by its maximum. It approximates CS-AdaBoost's exact step on the same loss. With
    equal costs it is AdaBoost. Theory gives no link to probabilities for the approximate step;
    `predict_proba` uses that of the cost-weighted exponential loss. The parameters are those of
    `costboost.binary.BinaryBoostingClassifier`; default ``init="uniform"``.

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

    _default_init: ClassVar[Init] = "uniform"
    _rule = VoteRule(vote=_bounded_vote, factor=_cost_in_exponent)


class AdaC2Classifier(VoteBoostingClassifier):
    r"""AdaC2: the cost in front of the exponential, in every round.

    .. math::

        D_i = \frac1n, \qquad
        \alpha = \tfrac12 \ln \frac{\sum_{right} c D}{\sum_{wrong} c D}, \qquad
        D \leftarrow c\,D\,e^{-\alpha y h} / Z

    with c scaled by its maximum. The cost enters anew in every round, so dear rows take over in
    the long run. With equal costs it is AdaBoost. Theory gives no link to probabilities;
    `predict_proba` uses that of the cost-weighted exponential loss. The parameters are those of
    `costboost.binary.BinaryBoostingClassifier`; default ``init="uniform"``.

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

    _default_init: ClassVar[Init] = "uniform"
    _rule = VoteRule(
        vote=cost_ratio_vote,
        factor=lambda c, wrong, alpha: c * adaboost_factor(c, wrong, alpha),
    )


class AdaC3Classifier(VoteBoostingClassifier):
    r"""AdaC3: the cost both inside the exponent and in front of it.

    .. math::

        D_i = \frac1n, \qquad
        \alpha = \tfrac12 \ln \frac{\sum c D + B}{\sum c D - B}, \quad
        B = \sum_{right} c^2 D - \sum_{wrong} c^2 D, \qquad
        D \leftarrow c\,D\,e^{-\alpha c y h} / Z

    with c scaled by its maximum. With equal costs it is AdaBoost. Theory gives no link to
    probabilities; `predict_proba` uses that of the cost-weighted exponential loss. The parameters
    are those of `costboost.binary.BinaryBoostingClassifier`; default ``init="uniform"``.

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

    _default_init: ClassVar[Init] = "uniform"
    _rule = VoteRule(
        vote=lambda D, c, wrong: _bounded_vote(c * D, c, wrong),
        factor=lambda c, wrong, alpha: c * _cost_in_exponent(c, wrong, alpha),
    )


class AsymmetricAdaBoostClassifier(VoteBoostingClassifier):
    r"""Asymmetric AdaBoost: the cost is handed out over the rounds.

    .. math::

        D_i = \frac1n, \qquad
        D \leftarrow D \left(\frac{C_1}{C_2}\right)^{y/(2T)} / Z \text{ before every round}, \qquad
        \alpha,\ D \text{ as in AdaBoost}

    with T = ``n_estimators``. For rows with their own costs the factor is :math:`c^{1/T}`, which
    is the same up to normalisation when the costs are those of the classes. With equal costs it
    is AdaBoost. `predict_proba` uses the link of the cost-weighted exponential loss, exact if all
    T rounds run. The parameters are those of `costboost.binary.BinaryBoostingClassifier`; default
    ``init="uniform"``.

    References
    ----------
    P. Viola and M. Jones, "Fast and robust classification using asymmetric AdaBoost and a detector
    cascade", NIPS 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import AsymmetricAdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = AsymmetricAdaBoostClassifier({"fn": 1, "fp": 5}, n_estimators=20)
    >>> bool(clf.fit(X[:400], y[:400]).score(X[400:], y[400:]) > 0.8)
    True
    """

    _default_init: ClassVar[Init] = "uniform"
    _rule = VoteRule(
        vote=adaboost_vote,
        factor=adaboost_factor,
        before=lambda c, n_rounds: c ** (1.0 / n_rounds),
    )
