"""SAMME.C2: AdaC2 for any number of classes.

B. So, J.-P. Boucher and E. A. Valdez, "Cost-sensitive multi-class AdaBoost for understanding
driving behavior based on telematics", ASTIN Bulletin 51(3), 2021, 719-751.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from scipy.special import softmax

from costboost._typing import Floats
from costboost._utils import Rules, one_of
from costboost.boosting import BoostingClassifier, Init, Recipe, VoteRule
from costboost.boosting.multiclass import ClassVotes
from costboost.boosting.votes import two_valued
from costboost.learners import Learner
from costboost.learners.adapter import class_learner

__all__ = ["SAMMEC2Classifier"]


class SAMMEC2Classifier(BoostingClassifier):
    r"""SAMME.C2: SAMME's vote for several classes, AdaC2's cost in front of the update.

    .. math::

        D_i = \frac1n, \qquad
        \varepsilon = \sum D\,[h \ne y], \quad
        \alpha = \ln \frac{1 - \varepsilon}{\varepsilon} + \ln(k - 1), \qquad
        D \leftarrow c\,D\,e^{-\alpha [h = y]} / Z

    with h(x) one of k classes and c in (0, 1] the cost of the row; decision
    :math:`\arg\max_y \sum_t \alpha_t [h_t(x) = y]`. The error of the vote is that of D as printed
    by So, Boucher and Valdez: the cost is in D from the second round on. (AdaC2 of Sun et al.
    multiplies by c once more in the vote.) The cost of a row is the mean reduced cost of its wrong
    classes, divided by the largest one of all rows; the authors choose a cost per class.

    With equal costs it is SAMME, for two classes AdaBoost with votes twice as large. The cost
    enters anew in every round, so costly rows take over in the long run: take few rounds, or costs
    that are not far apart. A rule no better than chance, :math:`\varepsilon \ge 1 - 1/k`, ends
    boosting and is dropped; a rule without mistakes ends it too, and is kept. `predict_proba` is
    SAMME's link :math:`P_y \propto e^{F_y}`, exact with equal costs. With unequal costs theory
    gives no link, and the result orders classes but is not calibrated. By default ``init`` is
    ``"uniform"``.

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    Parameters
    ----------
    estimator : "tree", scikit-learn estimator or None, default=None
        The weak learner: ``"tree"`` (None), a tree whose leaves name the class of most weight, or
        any scikit-learn classifier whose ``fit`` takes ``sample_weight``, or a regressor with
        several outputs.
    max_leaves : int, default=8
        Largest number of leaves of the tree.
    init : {"cost", "uniform"} or None, default=None
        Initial weights: proportional to the costs, or equal. None is the paper's choice.

    References
    ----------
    B. So, J.-P. Boucher and E. A. Valdez, "Cost-sensitive multi-class AdaBoost for understanding
    driving behavior based on telematics", ASTIN Bulletin 51(3), 2021, 719-751; B. So and E. A.
    Valdez, "SAMME.C2 algorithm for imbalanced multi-class classification", Soft Computing, 2024,
    doi:10.1007/s00500-024-09847-0.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from costboost import SAMMEC2Classifier
    >>> X, y = load_iris(return_X_y=True)
    >>> costs = [[0, 1, 1], [1, 0, 2], [1, 1, 0]]
    >>> clf = SAMMEC2Classifier(costs, n_estimators=20).fit(X[::2], y[::2])
    >>> bool(clf.score(X[1::2], y[1::2]) > 0.7)
    True
    """

    _recipe = Recipe(
        "SAMME with AdaC2's cost in front of the update", "So et al. 2021", parent="SAMME"
    )
    _is_binary = False
    _scheme_type = ClassVotes  # its vote is twice AdaBoost's, and ln(k - 1)
    _rule = VoteRule(factor=lambda c, wrong, alpha: c * two_valued(wrong, math.exp(-alpha), 1.0))
    _default_init = "uniform"
    _rules: ClassVar[Rules] = {"init": one_of(None, "cost", "uniform")}

    init: Init | None = None

    def _learner(self) -> Learner:
        return class_learner(super()._learner(), type(self).__name__)

    def _probabilities(self, scores: Floats) -> Floats:
        return np.asarray(softmax(scores, axis=1))
