"""Iterative weighting and gradient boosting with stochastic ensembles.

N. Abe, B. Zadrozny and J. Langford, "An iterative method for multi-class cost-sensitive learning",
KDD 2004, doi:10.1145/1014052.1014056.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from costboost._typing import Bools, Floats, Ints
from costboost.boosting import BoostingClassifier, Recipe
from costboost.boosting.multiclass import MulticlassProblem, PNormAveraging
from costboost.learners.ensembles import stochastic

__all__ = ["DSEClassifier", "GBSEClassifier"]


def _gbse_pairs(H: Floats, C: Floats, right: Bools, p: float) -> Floats:
    return np.asarray((H * C).sum(axis=1, keepdims=True) - C)


class GBSEClassifier(BoostingClassifier):
    r"""GBSE: gradient boosting with stochastic ensembles.

    .. math:: w_{x,y} = \sum_{y'} H_{t-1}(y'|x)\, C_{x,y'} - C_{x,y}, \qquad
        H_t = (1 - \tfrac1t) H_{t-1} + \tfrac1t f_t

    A class that costs less than what the ensemble now pays on the row has label 1, a costlier one
    label 0, with weight \|w\|. The relation h that a binary learner finds on the pairs becomes a
    distribution: the classes it claims share the row; a row without a claim is uniform. The average
    H is the score; `predict_proba` returns it, uncalibrated.

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    Parameters
    ----------
    max_leaves : int, default=16
        Largest number of leaves of the tree of each decision.

    References
    ----------
    N. Abe, B. Zadrozny and J. Langford, "An iterative method for multi-class cost-sensitive
    learning", KDD 2004, doi:10.1145/1014052.1014056.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from costboost import GBSEClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = GBSEClassifier(n_estimators=20).fit(X[::2], y[::2])
    >>> bool(clf.score(X[1::2], y[1::2]) > 0.7)
    True
    """

    _recipe = Recipe("decisions cheaper than what the ensemble pays are wanted", "Abe et al. 2004")
    _is_binary = False
    _needs_classes_as_decisions = False

    max_leaves: int = 16

    def _scheme(self, problem: Any, rng: Any = None) -> PNormAveraging:
        return PNormAveraging(problem, 1.0, _gbse_pairs, stochastic)


class DSEClassifier(BoostingClassifier):
    r"""DSE: data space expansion, every class right to some degree.

    Each round draws pairs (x, y) of the expanded set with probability proportional to

    .. math:: \max_{y'} C_{x,y'} - C_{x,y}

    and fits a multi-class learner that predicts y from x; the rules vote. A rule without mistakes
    on the weighted pairs has the smallest expected cost. `predict_proba` returns the shares of the
    votes, uncalibrated. Each sample has as many pairs as there are rows.

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of samples, each with a classifier of its own.
    estimator : scikit-learn classifier or None, default=None
        The classifier of each sample. None is a fully grown decision tree.
    max_leaves : int, default=8
        Without effect here: the classifier brings its own limits.
    n_jobs : int or None, default=None
        Number of processes of joblib. None is one.
    verbose : int, default=0
        Above 0, joblib prints its progress.

    References
    ----------
    N. Abe, B. Zadrozny and J. Langford, "An iterative method for multi-class cost-sensitive
    learning", KDD 2004, doi:10.1145/1014052.1014056.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from costboost import DSEClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DSEClassifier(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> bool(clf.score(X[1::2], y[1::2]) > 0.7)
    True
    """

    _recipe = Recipe("every class right to some degree, sampled", "Abe et al. 2004")
    _is_binary = False
    _needs_classes_as_decisions = False

    @staticmethod
    def _draw(problem: MulticlassProblem, rng: np.random.RandomState) -> tuple[Ints, Ints]:
        n, k = problem.C.shape
        gain = problem.C.max(axis=1, keepdims=True) - problem.C
        gain *= problem.sample_weight[:, None]
        pairs = rng.choice(n * k, size=n, p=(gain / gain.sum()).ravel())
        rows, classes = np.divmod(pairs, k)
        return rows, classes
