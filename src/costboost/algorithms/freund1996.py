"""AdaBoost.M2 with costs, and AdaCost and CSB2 built on it: the rivals of Lozano & Abe 2008.

Y. Freund and R. E. Schapire, "Experiments with a new boosting algorithm", ICML 1996. The
multi-class forms of AdaCost and CSB2 follow from their binary equations with the pair's margin
u = h(x, y*) - h(x, y) in place of y·h(x).
"""

from __future__ import annotations

import numpy as np

from costboost._typing import Floats
from costboost._utils import Rules, one_of
from costboost.algorithms.fan1999 import AdaCostClassifier
from costboost.algorithms.ting2000 import csb_factor
from costboost.boosting import BoostingClassifier, Init, Recipe, VoteRule
from costboost.boosting.multiclass import PairVotes
from costboost.boosting.votes import margins

__all__ = ["AdaBoostM2Classifier", "AdaCostM2Classifier", "CSB2M2Classifier"]


_INIT: Rules = {"init": one_of(None, "cost", "uniform")}


def _m2_factor(c: Floats, wrong: Floats, alpha: float) -> Floats:
    return np.exp(-alpha * margins(wrong))


class AdaBoostM2Classifier(BoostingClassifier):
    r"""AdaBoost.M2 with cost-proportional initial weights.

    A distribution D over the pairs of rows and wrong classes, a relational rule h(x, y) in {0, 1},
    and its pseudo-loss:

    .. math::

        D_{x,y} \propto C_{x,y}, \qquad
        \varepsilon = \tfrac12 \sum_{x,\, y \ne y^*} D_{x,y} (1 - h(x, y^*) + h(x, y)), \qquad
        \alpha = \tfrac12 \ln \frac{1 - \varepsilon}{\varepsilon}, \qquad
        D \leftarrow D\, e^{-\alpha u} / Z

    with the margin u = h(x, y*) - h(x, y) of a pair; decision :math:`\arg\max_y \sum_t \alpha_t
    h_t(x, y)`. (Freund and Schapire write β = e^{-2α}.) The weak learner works on all pairs, a rule
    per class. A rule whose vote is not positive ends boosting and is dropped; a rule without
    mistakes ends it too, and is kept. `predict_proba` returns the shares of the votes; theory gives
    no link.

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    Parameters
    ----------
    max_leaves : int, default=16
        Largest number of leaves of the tree of each class.
    init : {"cost", "uniform"} or None, default=None
        Initial weights: proportional to the costs, or equal. None is the paper's choice.

    References
    ----------
    Y. Freund and R. E. Schapire, "Experiments with a new boosting algorithm", ICML 1996.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from costboost import AdaBoostM2Classifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AdaBoostM2Classifier(n_estimators=20, max_leaves=8).fit(X[::2], y[::2])
    >>> bool(clf.score(X[1::2], y[1::2]) > 0.7)
    True
    """

    _recipe = Recipe("AdaBoost.M2 started from cost-proportional weights", "Freund & Schapire 1996")
    _is_binary = False
    _scheme_type = PairVotes
    _rules = _INIT
    _rule = VoteRule(factor=_m2_factor)

    max_leaves: int = 16
    init: Init | None = None


class AdaCostM2Classifier(BoostingClassifier):
    r"""AdaCost for several classes, on the pairs of AdaBoost.M2.

    .. math::

        r = \sum D\, u \beta, \qquad \alpha = \tfrac12 \ln \frac{1 + r}{1 - r}, \qquad
        D \leftarrow D\, e^{-\alpha u \beta} / Z

    with u the margin of a pair as in `AdaBoostM2Classifier`, :math:`\beta = \tfrac12 - \tfrac12 c`
    where u > 0 and :math:`\tfrac12 + \tfrac12 c` where u < 0, and c the pair's cost scaled by the
    largest.

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    Parameters
    ----------
    max_leaves : int, default=16
        Largest number of leaves of the tree of each class.
    init : {"cost", "uniform"} or None, default=None
        Initial weights: proportional to the costs, or equal. None is the paper's choice.

    References
    ----------
    W. Fan, S. J. Stolfo, J. Zhang and P. K. Chan, "AdaCost: misclassification cost-sensitive
    boosting", ICML 1999; Y. Freund and R. E. Schapire, "Experiments with a new boosting
    algorithm", ICML 1996.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from costboost import AdaCostM2Classifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AdaCostM2Classifier(n_estimators=20, max_leaves=8).fit(X[::2], y[::2])
    >>> bool(clf.score(X[1::2], y[1::2]) > 0.7)
    True
    """

    _recipe = Recipe("AdaCost on the pairs of AdaBoost.M2", "Fan et al. 1999")
    _is_binary = False
    _scheme_type = PairVotes
    _rules = _INIT
    _rule = AdaCostClassifier._rule

    max_leaves: int = 16
    init: Init | None = None


class CSB2M2Classifier(BoostingClassifier):
    r"""CSB2 for several classes, on the pairs of AdaBoost.M2.

    .. math:: D \leftarrow D\, \kappa\, e^{-\alpha u} / Z, \qquad
        \kappa = 1 + (c - 1) \tfrac{1 - u}{2}

    with u and α as in `AdaBoostM2Classifier` and c the pair's cost over the smallest positive one:
    κ is the cost where the pair is wrong (u = -1) and 1 where it is right (u = 1).

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    Parameters
    ----------
    max_leaves : int, default=16
        Largest number of leaves of the tree of each class.
    init : {"cost", "uniform"} or None, default=None
        Initial weights: proportional to the costs, or equal. None is the paper's choice.

    References
    ----------
    K. M. Ting, "A comparative study of cost-sensitive boosting algorithms", ICML 2000; Y. Freund
    and R. E. Schapire, "Experiments with a new boosting algorithm", ICML 1996.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from costboost import CSB2M2Classifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = CSB2M2Classifier(n_estimators=20, max_leaves=8).fit(X[::2], y[::2])
    >>> bool(clf.score(X[1::2], y[1::2]) > 0.7)
    True
    """

    _recipe = Recipe("CSB2 on the pairs of AdaBoost.M2", "Ting 2000")
    _is_binary = False
    _scheme_type = PairVotes
    _rules = _INIT
    _rule = VoteRule(
        factor=lambda c, wrong, alpha: csb_factor(c, wrong) * _m2_factor(c, wrong, alpha),
        cost_scale="min",
    )

    max_leaves: int = 16
    init: Init | None = None
