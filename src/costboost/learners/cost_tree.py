"""A multi-class tree whose leaves choose the cheapest class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import get_tags

from costboost._typing import AnyArray, Floats
from costboost.learners.base import Aim, BoundLearner, Fitted, Learner, Rows

__all__ = ["CheapestClassRule", "CostRegressor"]


@dataclass(frozen=True)
class CostRegressor(Learner):
    """Regress the costs of all classes at once, then choose the cheapest."""

    # ``regressor`` is any scikit-learn regressor with several outputs and ``sample_weight``; by
    # default a regression tree with at most ``max_leaves`` leaves, whose leaves hold mean cost
    # rows: the class they choose is the cheapest one for their rows. The aim's targets are the (n,
    # k) costs w[x, y]; the outputs are one-hot rows f(y|x).

    max_leaves: int = 8
    regressor: Any = None

    @property
    def accepts_missing(self) -> bool:  # type: ignore[override]
        """As the regressor's tags say."""
        return self.regressor is None or bool(get_tags(self.regressor).input_tags.allow_nan)

    @property
    def accepts_sparse(self) -> bool:  # type: ignore[override]
        """As the regressor's tags say."""
        return self.regressor is None or bool(get_tags(self.regressor).input_tags.sparse)

    def bind(self, rows: Rows) -> BoundCostRegressor:
        """Keep the rows."""
        model = self.regressor or DecisionTreeRegressor(max_leaf_nodes=self.max_leaves)
        return BoundCostRegressor(model, rows)


@dataclass(frozen=True)
class CheapestClassRule:
    """One-hot rows of the class with the smallest predicted cost."""

    regressor: Any

    def predict(self, X: AnyArray) -> Floats:
        """f(y|x), (n, k)."""
        predicted = np.asarray(self.regressor.predict(X))
        return np.asarray(np.eye(predicted.shape[1])[predicted.argmin(axis=1)])

    def importances(self, n_features: int) -> Floats:
        """As the regressor has them, (d,)."""
        return np.asarray(self.regressor.feature_importances_)


class BoundCostRegressor(BoundLearner):
    """Fits a clone per round."""

    def __init__(self, model: Any, rows: Rows) -> None:
        self._model, self._rows = model, rows

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """The regressor of this round's costs, with the classes it chooses."""
        model = clone(self._model)
        if "random_state" in model.get_params(deep=False):
            model.set_params(random_state=seed)
        # Scaled: impurities of tiny costs would count as zero.
        costs = aim.targets / max(float(np.abs(aim.targets).max()), np.finfo(np.float64).tiny)
        model.fit(self._rows.X, costs, sample_weight=aim.weights)
        rule = CheapestClassRule(model)
        return Fitted(rule, rule.predict(self._rows.X))
