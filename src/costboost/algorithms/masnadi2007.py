"""Cost-sensitive AdaBoost, RealBoost and LogitBoost (Masnadi-Shirazi & Vasconcelos 2011).

H. Masnadi-Shirazi and N. Vasconcelos, "Cost-sensitive boosting", IEEE Trans. Pattern Analysis and
Machine Intelligence 33(2), 2011, 294-309, doi:10.1109/TPAMI.2010.71 (technical report 2007).
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from costboost._utils import Rules, one_of
from costboost.boosting import BoostingClassifier, Init, Recipe
from costboost.boosting.descent import ExponentialDescent, NewtonDescent
from costboost.learners.base import JointVotes, LogRatio
from costboost.losses import CostExponential, CostLogistic

__all__ = ["CSAdaBoostClassifier", "CSLogitBoostClassifier", "CSRealBoostClassifier"]


class CSAdaBoostClassifier(BoostingClassifier):
    r"""Cost-sensitive AdaBoost: the cost scales the margin, the step is exact.

    .. math:: \min_F \; \sum_{+} e^{-C_1 F} + \sum_{-} e^{C_2 F}

    For a rule g with class totals :math:`T_\pm = \sum_\pm w` and wrong masses
    :math:`b = \sum_+ w[g \ne y]`, :math:`d = \sum_- w[g \ne y]`, the step α is the one root of

    .. math::

        2 C_1 b \cosh(C_1 \alpha) + 2 C_2 d \cosh(C_2 \alpha)
        = C_1 T_+ e^{-C_1 \alpha} + C_2 T_- e^{-C_2 \alpha}

    (Eq. 41). With the default ``"stump"`` learner the stump and its step are chosen together: every
    feature, threshold and polarity is judged by the loss at its own α (Algorithm 1). Other learners
    are first fitted with the gradient weights c·w, and then the equation is solved for α; so is the
    stump when rows have their own costs, which do not collapse into four masses. The update is
    :math:`w e^{-C_1\alpha g}` on positives, :math:`w e^{C_2\alpha g}` on negatives.

    The minimiser is :math:`F^* = \log(P_+C_1/P_-C_2)/(C_1 + C_2)` (Eq. 36), from which
    `predict_proba` is read. With C1 = C2 = 1 it is AdaBoost. The paper starts from
    ``init="balanced"``, which answers for equal priors; the default here is ``"uniform"``, which
    answers for the real costs.

    Once the rules can separate the training rows, the costly class loses its weight first, as its
    exponent is the larger one, and further rounds favour the cheap class: take few rounds or a
    small ``learning_rate`` (breast cancer data, misses ten times as costly, 5 folds: cost 143 after
    5 rounds, 240 after 100; with ``learning_rate=0.1`` 110 after 50).

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    Attributes
    ----------
    train_loss_ : array of shape (n_iter_,)
        The loss on the training rows after each round, relative to that of F = 0.

    References
    ----------
    H. Masnadi-Shirazi and N. Vasconcelos, "Cost-sensitive boosting", IEEE TPAMI 33(2), 2011,
    doi:10.1109/TPAMI.2010.71.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import CSAdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = CSAdaBoostClassifier({"fn": 1, "fp": 5}, n_estimators=30).fit(X[:400], y[:400])
    >>> bool(clf.score(X[400:], y[400:]) > 0.8)
    True
    """

    _recipe = Recipe(
        "cost-sensitive exponential loss, stump and vote chosen together",
        "Masnadi-Shirazi & Vasconcelos 2011",
        link="yes",
        parent="AdaBoost",
    )
    _default_estimator = "stump"
    _default_init = "uniform"
    _link = CostExponential()

    init: Init | None = None
    learning_rate: float = 1.0

    def _scheme(self, problem: Any, rng: Any = None) -> ExponentialDescent:
        # The stump and its step together, where four masses are enough to do so.
        joint = problem.pair is not None
        return ExponentialDescent(
            problem.initial_weights(self._init),
            problem.c * problem.y,
            learning_rate=self.learning_rate,
            criterion=JointVotes(*problem.mean_pair) if joint else None,
            factor=1.0 if joint else None,
        )


class CSRealBoostClassifier(BoostingClassifier):
    r"""Cost-sensitive RealBoost: real-valued rules that are the minimising step themselves.

    .. math::

        G_\varphi(x) = \frac{1}{C_1 + C_2}
        \log \frac{P_w(+|\varphi(x))\,C_1}{P_w(-|\varphi(x))\,C_2}

    (Eq. 49) for a feature φ, with :math:`P_w` from smoothed, weighted histograms (the default
    ``"histogram"`` learner), from the leaves of a ``"tree"``, or from ``predict_proba`` of a
    classifier. The φ with the smallest :math:`\sum_+ w e^{-C_1 G} + \sum_- w e^{C_2 G}` is taken
    (Eq. 47), then weights are multiplied by :math:`e^{-C_1 G}` and :math:`e^{C_2 G}`. Each cell
    is smoothed by half the weight of an average row in either class.

    Loss and minimiser are those of `CSAdaBoostClassifier`. With C1 = C2 = 1 it is RealBoost. For
    rows with their own costs, cells weigh rows by their cost and G takes the mean costs; a line
    search along G then makes sure that the loss falls. Default ``init="uniform"`` (the paper's is
    ``"balanced"``).

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    Attributes
    ----------
    train_loss_ : array of shape (n_iter_,)
        The loss on the training rows after each round, relative to that of F = 0.

    References
    ----------
    H. Masnadi-Shirazi and N. Vasconcelos, "Cost-sensitive boosting", IEEE TPAMI 33(2), 2011,
    doi:10.1109/TPAMI.2010.71.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import CSRealBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = CSRealBoostClassifier({"fn": 1, "fp": 5}, n_estimators=20, learning_rate=0.5)
    >>> bool(clf.fit(X[:400], y[:400]).score(X[400:], y[400:]) > 0.8)
    True
    """

    _recipe = Recipe(
        "the same loss with real-valued histogram rules",
        "Masnadi-Shirazi & Vasconcelos 2011",
        link="yes",
        parent="RealBoost",
    )
    _default_estimator = "histogram"
    _default_init = "uniform"
    _link = CostExponential()

    init: Init | None = None
    learning_rate: float = 1.0

    def _scheme(self, problem: Any, rng: Any = None) -> ExponentialDescent:
        C1, C2 = problem.mean_pair
        relative_cost = problem.c / np.where(problem.y > 0, C1, C2)
        # The weights of the scheme sum to 1: half a row's share of that.
        smoothing = 0.5 / max(float(problem.sample_weight.sum()), 1.0)
        return ExponentialDescent(
            problem.initial_weights(self._init),
            problem.c * problem.y,
            learning_rate=self.learning_rate,
            criterion=LogRatio(C1, C2, smoothing),
            factor=relative_cost,
            line_search=problem.pair is None,
        )


class CSLogitBoostClassifier(BoostingClassifier):
    r"""Cost-sensitive LogitBoost: Newton steps through the link of the costs.

    .. math::

        \gamma = \tfrac12 (C_1 + C_2), \quad \eta = \tfrac12 \log \frac{C_2}{C_1}, \quad
        p_c = \frac{1}{1 + e^{-2(\gamma F + \eta)}}, \quad
        z = \frac{y' - p_c}{p_c(1 - p_c)}, \quad
        F \leftarrow F + \frac{G}{2\gamma}

    (Eq. 34, 35 and 53 to 56), G the weighted least-squares fit to z: the best single-feature line
    :math:`a\varphi + b` by default, or a regression tree. The regression weights are p(1-p) with
    :math:`p = 1/(1 + e^{-2F})`, centred on the cost-sensitive boundary F = 0 (``"boundary"``, the
    paper's; F is taken in units of the cheaper cost, which is 1 in the paper), or the exact Newton
    weights :math:`p_c(1-p_c)` (``"newton"``). The first round takes p_c = ½, as printed. Responses
    are clipped to :math:`\pm 2(1 + \max(C_1/C_2, C_2/C_1))`, LogitBoost's 4 for equal costs; their
    rows get up to fourfold weight in return, since clipping alone moves the boundary. Unlike in the
    paper, a step that does not lower the training loss is halved until it does. If no step along a
    rule does with boundary weights, Newton weights take over; if none does with Newton weights,
    boosting ends.

    The minimiser is :math:`F^* = \log(P_+C_1/P_-C_2)/(C_1 + C_2)` (Eq. 36), so p_c is the
    probability that `predict_proba` returns. With C1 = C2 = 1 it is LogitBoost. Rows with their own
    costs have their own γ and η. By default ``init`` is ``"uniform"``.

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    Parameters
    ----------
    weighting : {"boundary", "newton"}, default="boundary"
        Weights of the regression: p(1-p) or p_c(1-p_c), as described above.

    Attributes
    ----------
    train_loss_ : array of shape (n_iter_,)
        The mean loss on the training rows after each round.

    References
    ----------
    H. Masnadi-Shirazi and N. Vasconcelos, "Cost-sensitive boosting", IEEE TPAMI 33(2), 2011,
    doi:10.1109/TPAMI.2010.71.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import CSLogitBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = CSLogitBoostClassifier({"fn": 1, "fp": 5}, n_estimators=50).fit(X[:400], y[:400])
    >>> bool(clf.score(X[400:], y[400:]) > 0.8)
    True
    """

    _recipe = Recipe(
        "cost-sensitive logistic loss by Newton steps",
        "Masnadi-Shirazi & Vasconcelos 2011",
        link="yes",
        parent="LogitBoost",
    )
    _default_estimator = "line"
    _default_init = "uniform"
    _link = CostLogistic()
    _rules: ClassVar[Rules] = {"weighting": one_of("boundary", "newton")}

    init: Init | None = None
    weighting: Literal["boundary", "newton"] = "boundary"
    learning_rate: float = 1.0
    guarded: bool = True

    def _scheme(self, problem: Any, rng: Any = None) -> NewtonDescent:
        return NewtonDescent(problem, self, weighting=self.weighting, even_start=True)
