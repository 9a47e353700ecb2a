"""AdaBoost.M2 with costs, and AdaCost and CSB2 built on it: the rivals of paper 1.

Y. Freund and R. E. Schapire, "Experiments with a new boosting algorithm", ICML 1996. The
multi-class forms of AdaCost and CSB2 follow from their binary equations with the pair's margin
u = h(x, y*) - h(x, y) in place of y·h(x).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost.algorithms.classic import AdaCostClassifier, csb_factor
from costboost.boosting import VoteRule, boost
from costboost.boosting.multiclass import MulticlassProblem, PairVotes
from costboost.boosting.problem import Init
from costboost.boosting.votes import adaboost_vote, margins
from costboost.learners.pairs import BoundPairs
from costboost.multiclass import MulticlassBoostingClassifier, shares

__all__ = ["AdaBoostM2Classifier", "AdaCostM2Classifier", "CSB2M2Classifier"]


def _m2_factor(c: Floats, wrong: Floats, alpha: float) -> Floats:
    return np.exp(-alpha * margins(wrong))


class AdaBoostM2Classifier(MulticlassBoostingClassifier):
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
    per class. A round whose vote is not positive ends the boosting, and
    so does a rule without mistakes, which is kept. `predict_proba` returns the shares of the
    votes; theory gives no link. Other parameters are those of
    `costboost.base.BoostingClassifier`.

    Parameters
    ----------
    init : {"cost", "uniform"} or None, default=None
        Initial D: proportional to the costs (None), or the same for all pairs.
    max_leaves : int, default=16
        Most leaves of the tree of each class.

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

    _rule: ClassVar[VoteRule] = VoteRule(vote=adaboost_vote, factor=_m2_factor)

    def __init__(
        self,
        cost_matrix: Any = None,
        n_estimators: int = 100,
        estimator: Any = None,
        max_leaves: int = 16,
        init: Init | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            cost_matrix=cost_matrix,
            n_estimators=n_estimators,
            estimator=estimator,
            max_leaves=max_leaves,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.init = init

    def _boost(self, problem: MulticlassProblem, X: AnyArray, rng: np.random.RandomState) -> Floats:
        if self.init not in (None, "cost", "uniform"):
            raise ValueError(
                f"The 'init' parameter of {type(self).__name__} must be None, 'cost' or 'uniform'. "
                f"Got {self.init!r} instead."
            )
        rows = self._bound_rows(X, problem.sample_weight, rng)
        bound = BoundPairs(self._learner().bind(rows), problem.C.shape[1])
        scheme = PairVotes(self._rule, problem, from_costs=self.init != "uniform")
        with self._progress() as progress:
            history = boost(scheme, bound, n_rounds=self.n_estimators, rng=rng, progress=progress)
        votes = np.array(history.votes)
        self._keep(bound.ensemble(history.rules, votes), votes, len(votes), [])
        return scheme.F

    def _scores(self, X: AnyArray) -> Floats:
        # Outputs are ±1, h is 0 or 1.
        F = self._ensemble.decision_function(X)
        return np.asarray(0.5 * (F + self.estimator_weights_.sum()))

    def _staged_scores(self, X: AnyArray) -> Iterator[Floats]:
        totals = np.cumsum(self.estimator_weights_)
        for total, F in zip(totals, self._ensemble.staged(X), strict=True):
            yield 0.5 * (F + total)

    def _probabilities(self, scores: Floats) -> Floats:
        return shares(scores)


class AdaCostM2Classifier(AdaBoostM2Classifier):
    r"""AdaCost for several classes, on the pairs of AdaBoost.M2.

    .. math::

        r = \sum D\, u \beta, \qquad \alpha = \tfrac12 \ln \frac{1 + r}{1 - r}, \qquad
        D \leftarrow D\, e^{-\alpha u \beta} / Z

    with u the margin of a pair as in `AdaBoostM2Classifier`, :math:`\beta = \tfrac12 - \tfrac12 c`
    where u > 0 and :math:`\tfrac12 + \tfrac12 c` where u < 0, and c the pair's cost scaled by the
    largest. Parameters are those of `AdaBoostM2Classifier`.

    References
    ----------
    W. Fan, S. J. Stolfo, J. Zhang and P. K. Chan, "AdaCost: misclassification cost-sensitive
    boosting", ICML 1999; Y. Freund and R. E. Schapire, ICML 1996.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from costboost import AdaCostM2Classifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AdaCostM2Classifier(n_estimators=20, max_leaves=8).fit(X[::2], y[::2])
    >>> bool(clf.score(X[1::2], y[1::2]) > 0.7)
    True
    """

    _rule = AdaCostClassifier._rule


class CSB2M2Classifier(AdaBoostM2Classifier):
    r"""CSB2 for several classes, on the pairs of AdaBoost.M2.

    .. math:: D \leftarrow D\, \kappa\, e^{-\alpha u} / Z, \qquad
        \kappa = 1 + (c - 1) \tfrac{1 - u}{2}

    with u and α as in `AdaBoostM2Classifier` and c the pair's cost over the smallest positive one:
    κ is the cost where the pair is wrong (u = -1) and 1 where it is right (u = 1). Parameters are
    those of `AdaBoostM2Classifier`.

    References
    ----------
    K. M. Ting, "A comparative study of cost-sensitive boosting algorithms", ICML 2000; Y. Freund
    and R. E. Schapire, ICML 1996.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from costboost import CSB2M2Classifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = CSB2M2Classifier(n_estimators=20, max_leaves=8).fit(X[::2], y[::2])
    >>> bool(clf.score(X[1::2], y[1::2]) > 0.7)
    True
    """

    _rule = VoteRule(
        vote=adaboost_vote,
        factor=lambda c, wrong, alpha: csb_factor(c, wrong) * _m2_factor(c, wrong, alpha),
        cost_scale="min",
    )
