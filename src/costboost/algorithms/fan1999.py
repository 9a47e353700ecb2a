"""AdaCost.

W. Fan, S. J. Stolfo, J. Zhang and P. K. Chan, "AdaCost: misclassification cost-sensitive boosting",
ICML 1999.
"""

from __future__ import annotations

import numpy as np

from costboost._typing import Floats
from costboost._utils import dot
from costboost.boosting import BoostingClassifier, Init, Recipe, VoteRule
from costboost.boosting.votes import half_log_ratio, margins

__all__ = ["AdaCostClassifier"]


def _adacost_vote(D: Floats, c: Floats, wrong: Floats) -> float:
    r = dot(D, _adjusted_margins(c, wrong))
    return half_log_ratio(1.0 + r, 1.0 - r)


def _adjusted_margins(c: Floats, wrong: Floats) -> Floats:
    """The adjusted margin, y h β = ½ (y h - c |y h|)."""
    margin = margins(wrong)
    return 0.5 * (margin - c * np.abs(margin))


def _adacost_factor(c: Floats, wrong: Floats, alpha: float) -> Floats:
    return np.exp(-alpha * _adjusted_margins(c, wrong))


class AdaCostRule(VoteRule):
    """AdaCost's equations."""

    def scaled(self, c: Floats) -> Floats:
        """Costs in (0, 1]; equal costs, which do not tell rows apart, count as 0."""
        at_stake = c[c > 0]
        return super().scaled(c) if at_stake.min() < at_stake.max() else np.zeros_like(c)


class AdaCostClassifier(BoostingClassifier):
    r"""AdaCost: a cost adjustment β inside the exponent.

    .. math::

        D_i = \frac{c_i}{\sum c}, \qquad
        r = \sum D\,y h \beta, \quad \alpha = \tfrac12 \ln \frac{1 + r}{1 - r}, \qquad
        D \leftarrow D\,e^{-\alpha y h \beta} / Z

    with :math:`\beta = \tfrac12 - \tfrac12 c` on rows decided rightly and :math:`\tfrac12 +
    \tfrac12 c` on others, c scaled by its maximum. Costly rows are slow to lose weight and quick to
    gain it, but r > 0 asks for very accurate rules when the costs are far apart, so boosting may
    end after a few rounds. It also asks for them when the costs are almost equal: then c is near 1
    on all rows, a right decision earns next to nothing (β near 0), and only a rule almost without
    mistakes has r > 0; a `costboost.CollapseWarning` says so when no rule is kept. Give the weak
    learner more leaves then, or use `AdaC2Classifier`. If all costs are exactly equal, c = 1 would
    make every r negative; the limit c → 0 is taken instead, in which AdaCost is a damped AdaBoost.

    Theory gives no link to probabilities; `predict_proba` uses that of the cost-weighted
    exponential loss, which orders rows but is not calibrated. By default ``init`` is ``"cost"``.

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

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

    _recipe = Recipe(
        "costly errors gain weight faster, costly successes lose it slower", "Fan et al. 1999"
    )
    _rule = AdaCostRule(vote=_adacost_vote, factor=_adacost_factor)

    init: Init | None = None
