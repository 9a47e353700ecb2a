"""Regularised logistic regression as an engine: what trees need many rows for, it sees in few."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from costboost._typing import Floats, Ints
from costboost.gbm.engines.design import DesignEngine, Judge, Sample
from costboost.gbm.models import LinearModel

__all__ = [
    "LinearEngine",
]

# Inverse penalties, from strong to weak; the held-out loss chooses.
_PENALTIES = (0.003, 0.03, 0.3, 3.0, 30.0)
# The one that is used if no row was held out.
_USUAL = 0.3


class LinearEngine(DesignEngine["LinearModel"]):
    """Logistic regression with a squared penalty, chosen on held-out rows."""

    def fitted(self, sample: Sample, seed: int) -> LinearModel:
        """The model of the usual penalty."""
        return next(_path(sample, (_USUAL,)))

    def search(self, sample: Sample, seed: int, judge: Judge[LinearModel]) -> None:
        """Lower the penalty until that is no better."""
        for model in _path(sample, _PENALTIES):
            if not judge.is_better(model):
                break

    def together(self, models: Sequence[Any]) -> LinearModel:
        """The mean of linear scores, which is one."""
        return LinearModel.mean(models)


def _path(sample: Sample, penalties: Sequence[float]) -> Iterator[LinearModel]:
    """A model per penalty, each started from the one before."""
    labels, n_scores, n = sample.labels, sample.n_scores, len(sample.labels)
    centre = sample.centre
    present = np.unique(labels[sample.weights > 0])
    if len(present) < 2:
        base = _constant(int(present[0]), n_scores, n)
        yield LinearModel(sample.design, np.zeros((n_scores, len(centre))), base, centre)
        return
    regression = LogisticRegression(warm_start=True, max_iter=200, tol=1e-4)
    for penalty in penalties:
        regression.set_params(C=penalty)
        regression.fit(sample.inputs, labels, sample_weight=sample.weights)
        slopes, base = regression.coef_.copy(), regression.intercept_.copy()
        if n_scores > 1:
            slopes, base = _spread(slopes, base, present, n_scores, n)
        yield LinearModel(sample.design, slopes, base, centre)


def _spread(
    slopes: Floats, base: Floats, present: Ints, n_scores: int, n: int
) -> tuple[Floats, Floats]:
    """Scores of all classes; those without a row are unlikely everywhere."""
    if len(present) == 2:  # one score, of the second
        slopes, base = np.vstack([-0.5 * slopes, 0.5 * slopes]), np.append(-0.5 * base, 0.5 * base)
    every = np.zeros((n_scores, slopes.shape[1]))
    start = np.full(n_scores, base.mean() + np.log(0.5 / n))
    every[present], start[present] = slopes, base
    return every, start


def _constant(label: int, n_scores: int, n: int) -> Floats:
    """What rows of one class teach: that class, but for half a row."""
    sure = np.log(2.0 * n)
    if n_scores == 1:
        return np.array([sure if label == 1 else -sure])
    return np.where(np.arange(n_scores) == label, sure, 0.0)
