"""AsyB and AsyBL: Fisher-consistent cost-sensitive boosting (Cao et al. 2013).

Y. Cao, Q.-G. Miao, J.-C. Liu and L. Gao, "Fisher consistent cost sensitive boosting algorithm",
Journal of Software 24(11), 2013, 2584-2596.
"""

from __future__ import annotations

from typing import Any

from costboost.boosting import BoostingClassifier, Init, Recipe, VoteRule
from costboost.boosting.descent import NewtonDescent
from costboost.boosting.votes import cost_ratio_vote
from costboost.losses import AsymmetricLogistic

__all__ = ["AsyBClassifier", "AsyBLClassifier"]


class AsyBClassifier(BoostingClassifier):
    r"""AsyB: cost-weighted exponential loss, with the cost in the vote.

    .. math::

        D_i = \frac{c_i}{\sum c}, \qquad
        \alpha = \tfrac12 \ln \frac{C_1 TP + C_2 TN}{C_1 FN + C_2 FP}, \qquad
        D \leftarrow D\,e^{-\alpha y h} / Z

    (Algorithm 1), where TP, TN, FN, FP are the D-masses of the four outcomes; for rows with their
    own costs the vote is :math:`\tfrac12 \ln(\sum_{right} cD / \sum_{wrong} cD)`. The masses are
    those of the derivation: the paper's γ⁻ and ε⁻ are misprinted (both say y = 1). As printed, the
    cost is in D already when it enters the vote a second time; this is kept. The loss
    :math:`E[c\,e^{-yF}]` has the minimiser :math:`F^* = \tfrac12 \log(P_+C_1/P_-C_2)` (Eq. 1), from
    which `predict_proba` is read. With equal costs it is AdaBoost. By default ``init`` is
    ``"cost"``.

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    References
    ----------
    Y. Cao, Q.-G. Miao, J.-C. Liu and L. Gao, "Fisher consistent cost sensitive boosting algorithm",
    Journal of Software 24(11), 2013, 2584-2596.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import AsyBClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = AsyBClassifier({"fn": 1, "fp": 5}, n_estimators=20).fit(X[:400], y[:400])
    >>> bool(clf.score(X[400:], y[400:]) > 0.8)
    True
    """

    _recipe = Recipe(
        "cost-weighted exponential loss, cost-weighted vote",
        "Cao et al. 2013",
        link="yes",
        parent="AdaBoost",
    )
    _rule = VoteRule(vote=cost_ratio_vote)

    init: Init | None = None


class AsyBLClassifier(BoostingClassifier):
    r"""AsyBL: LogitBoost through the link that the costs shift.

    .. math::

        p_c = \frac{C_2 e^F}{C_1 e^{-F} + C_2 e^F}, \qquad
        z = \frac{y' - p_c}{p_c(1 - p_c)}, \qquad
        F \leftarrow F + \tfrac12 f

    (Algorithm 2), f the regression of z with weights :math:`p_c(1-p_c)`, y' = (y + 1)/2. The
    minimiser is :math:`F^* = \tfrac12 \log(P_+C_1/P_-C_2)` (Eq. 2), so p_c is the probability that
    `predict_proba` returns. With equal costs it is LogitBoost. Responses are clipped to :math:`\pm
    2(1 + \max(C_1/C_2, C_2/C_1))`, which is LogitBoost's 4 for equal costs; their rows get up to
    fourfold weight in return. Unlike in the paper, a step that does not lower the training loss is
    halved until it does (if none does, boosting ends): full Newton steps diverge when the costs are
    far apart. Trees at full step soon overfit: lower ``learning_rate``. By default ``init`` is
    ``"uniform"``. Rows with their own costs have their own shift.

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    Attributes
    ----------
    train_loss_ : array of shape (n_iter_,)
        The mean loss on the training rows after each round.

    References
    ----------
    Y. Cao, Q.-G. Miao, J.-C. Liu and L. Gao, "Fisher consistent cost sensitive boosting algorithm",
    Journal of Software 24(11), 2013, 2584-2596.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import AsyBLClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = AsyBLClassifier({"fn": 1, "fp": 5}, n_estimators=50, learning_rate=0.2)
    >>> bool(clf.fit(X[:400], y[:400]).score(X[400:], y[400:]) > 0.8)
    True
    """

    _recipe = Recipe(
        "asymmetric logistic loss by Newton steps",
        "Cao et al. 2013",
        link="yes",
        parent="LogitBoost",
    )
    _default_init = "uniform"
    _link = AsymmetricLogistic()

    init: Init | None = None
    learning_rate: float = 1.0
    guarded: bool = True

    def _scheme(self, problem: Any, rng: Any = None) -> NewtonDescent:
        return NewtonDescent(problem, self, weighting="newton", even_start=False)
