"""RareBoost.

M. V. Joshi, V. Kumar and R. C. Agarwal, "Evaluating boosting algorithms to classify rare classes:
comparison and improvements", ICDM 2001, doi:10.1109/ICDM.2001.989527.
"""

from __future__ import annotations

from costboost.boosting import BoostingClassifier, Init, Recipe, SidedVoteScheme, VoteRule

__all__ = ["RareBoostClassifier"]


class RareBoostClassifier(BoostingClassifier):
    r"""RareBoost-1: two votes per rule, one for what it calls positive and one for the rest.

    .. math::

        D_i = \frac{c_i}{\sum c}, \qquad
        \alpha^+ = \tfrac12 \ln \frac{TP}{FP}, \quad
        \alpha^- = \tfrac12 \ln \frac{TN}{FN}, \qquad
        D \leftarrow D\,e^{-\alpha^{s} y h} / Z, \qquad
        F \leftarrow F + \alpha^{s} h

    with TP, FP, TN, FN the D-masses of the four outcomes and s the sign of h(x). AdaBoost has one
    vote for both kinds of prediction. With two, a rule may be sure of its negatives and unsure of
    its positives, as rules on a rare class are. Errors of either kind gain weight by the vote of
    their own side. The votes minimise the weighted exponential loss on either side, so :math:`F^* =
    \tfrac12 \log(P_+C_1 / P_-C_2)`, from which `predict_proba` is read.

    The paper is about imbalance and starts from equal weights (``init="uniform"``); the costs enter
    by the initial weights here, as in `AdaBoostCClassifier`. The paper asks for TP > FP and TN >
    FN: a rule with a negative vote ends boosting and is dropped. A side on which nothing is
    predicted has the vote 0. A side without mistakes, whose vote is infinite, gets a large finite
    one; boosting ends when neither side has mistakes. By default ``init`` is ``"cost"``.

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    Attributes
    ----------
    estimator_weights_ : array of shape (n_iter_, 2)
        The votes α- and α+ of each rule, for predictions of ``classes_[0]`` and ``classes_[1]``.

    References
    ----------
    M. V. Joshi, V. Kumar and R. C. Agarwal, "Evaluating boosting algorithms to classify rare
    classes: comparison and improvements", ICDM 2001, doi:10.1109/ICDM.2001.989527.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import RareBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = RareBoostClassifier({"fn": 1, "fp": 5}, n_estimators=20).fit(X[:400], y[:400])
    >>> bool(clf.score(X[400:], y[400:]) > 0.8)
    True
    """

    _recipe = Recipe(
        "two votes per rule: one for what it calls positive, one for the rest",
        "Joshi et al. 2001",
        link="yes",
    )
    _scheme_type = SidedVoteScheme
    _costs_by_init = True
    _rule = VoteRule()

    init: Init | None = None
