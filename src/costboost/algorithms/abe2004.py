"""Iterative weighting and gradient boosting with stochastic ensembles.

N. Abe, B. Zadrozny and J. Langford, "An iterative method for multi-class cost-sensitive learning",
KDD 2004, doi:10.1145/1014052.1014056.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from costboost._typing import Bools, Floats, Ints
from costboost.algorithms.lozano2008 import AveragingClassifier, Variant
from costboost.boosting import MulticlassProblem, Recipe, SampledClassifier

__all__ = ["DSEClassifier", "GBSEClassifier"]


def _gbse_pairs(H: Floats, C: Floats, right: Bools, p: float) -> Floats:
    return np.asarray((H * C).sum(axis=1, keepdims=True) - C)


class GBSEClassifier(AveragingClassifier):
    r"""GBSE: gradient boosting with stochastic ensembles.

    .. math:: w_{x,y} = \sum_{y'} H_{t-1}(y'|x)\, C_{x,y'} - C_{x,y}, \qquad
        H_t = (1 - \tfrac1t) H_{t-1} + \tfrac1t f_t

    A class that costs less than what the ensemble now pays on the row has label 1, a costlier one
    label 0, with weight \|w\|. The relation h that a binary learner finds on the pairs becomes a
    distribution: the classes it claims share the row; a row without a claim is uniform. The average
    H is the score; `predict_proba` returns it, uncalibrated.

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

    _recipe = Recipe(
        idea="decisions cheaper than what the ensemble pays are wanted",
        source="Abe et al. 2004",
    )

    _variant = Variant(_gbse_pairs, is_stochastic=True)

    def _parts(self) -> tuple[Variant, float, Literal["harmonic", "bound"], bool]:
        return self._variant, 1.0, "harmonic", False


class DSEClassifier(SampledClassifier):
    r"""DSE: data space expansion, every class right to some degree.

    Each round draws pairs (x, y) of the expanded set with probability proportional to

    .. math:: \max_{y'} C_{x,y'} - C_{x,y}

    and fits a multi-class learner that predicts y from x; the rules vote. A rule without mistakes
    on the weighted pairs has the smallest expected cost. `predict_proba` returns the shares of the
    votes, uncalibrated. Each sample has as many pairs as there are rows.

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

    _recipe = Recipe(
        idea="every class right to some degree, sampled",
        source="Abe et al. 2004",
    )

    @staticmethod
    def _draw(problem: MulticlassProblem, rng: np.random.RandomState) -> tuple[Ints, Ints]:
        n, k = problem.C.shape
        gain = problem.C.max(axis=1, keepdims=True) - problem.C
        gain *= problem.sample_weight[:, None]
        pairs = rng.choice(n * k, size=n, p=(gain / gain.sum()).ravel())
        rows, classes = np.divmod(pairs, k)
        return rows, classes
