"""Costing: cost-proportionate rejection sampling with aggregation.

B. Zadrozny, J. Langford and N. Abe, "Cost-sensitive learning by cost-proportionate example
weighting", ICDM 2003, doi:10.1109/ICDM.2003.1250950.
"""

from __future__ import annotations

import numpy as np

from costboost._typing import Ints
from costboost.boosting import BoostingClassifier, Recipe
from costboost.boosting.multiclass import MulticlassProblem

__all__ = ["CostingClassifier"]


class CostingClassifier(BoostingClassifier):
    r"""Costing: average classifiers fitted to rejection samples.

    A row enters a sample with probability :math:`c / \max c`, where c is the cost of an error on it
    (with more than two decisions, the mean cost of its wrong decisions), times its sample weight.
    No row enters a sample twice, so learners do not overfit to duplicates; the accepted rows are
    few when the costs are far apart, which makes a round cheap. `predict_proba` returns the shares
    of the votes, uncalibrated.

    Every class with a row that costs something is forced into every sample: if none of its rows was
    accepted, one is added, drawn with equal chances. The paper does not do so, but many learners
    refuse a sample of one class, and without it a cheap class would be missing from many samples.

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
    B. Zadrozny, J. Langford and N. Abe, "Cost-sensitive learning by cost-proportionate example
    weighting", ICDM 2003, doi:10.1109/ICDM.2003.1250950.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import CostingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = CostingClassifier({"fn": 1, "fp": 5}, n_estimators=10, random_state=0)
    >>> bool(clf.fit(X[:400], y[:400]).score(X[400:], y[400:]) > 0.6)
    True
    """

    _recipe = Recipe("cost-proportionate rejection sampling, averaged", "Zadrozny et al. 2003")
    _is_binary = False
    _needs_classes_as_decisions = False

    @staticmethod
    def _draw(problem: MulticlassProblem, rng: np.random.RandomState) -> tuple[Ints, Ints]:
        chance = problem.error_cost * problem.sample_weight
        accepted = rng.uniform(size=len(chance)) * chance.max() < chance
        # A row of every class that costs something but was rejected: some learners refuse a single
        # class.
        lacking = (chance > 0) & ~np.isin(problem.z, problem.z[accepted])
        order = rng.permutation(np.flatnonzero(lacking))
        _, first = np.unique(problem.z[order], return_index=True)
        accepted[order[first]] = True
        rows = np.flatnonzero(accepted)
        return rows, problem.z[rows]
