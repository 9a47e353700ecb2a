"""Money as a scikit-learn scorer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED

from costboost._utils import invalid
from costboost.costs.labels import check_same_index
from costboost.metrics.money import avoidable_cost_score, mean_cost, savings_score, total_cost

METRICS: dict[str, tuple[Callable[..., float], float]] = {
    # name: the function, and the sign that makes greater better
    "avoidable_cost": (avoidable_cost_score, 1.0),
    "savings": (savings_score, 1.0),
    "total_cost": (total_cost, -1.0),
    "mean_cost": (mean_cost, -1.0),
}


@dataclass(eq=False, repr=False)
class CostScorer(BaseEstimator):  # type: ignore[misc]
    """A scorer that counts money; made by `make_cost_scorer`."""

    # sample_weight and costs are routed; the estimator is not metadata.
    __metadata_request__score: ClassVar[dict[str, str]] = {"estimator": UNUSED}

    metric: str
    cost_matrix: Any
    labels: Any
    decisions: Any
    positive: Any
    costs: Any

    def score(
        self,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        costs: Any = None,
    ) -> float:
        """Score a fitted classifier; greater is better."""
        given = (costs, self.costs, self.cost_matrix)
        if all(form is None for form in given) and needs_costs(estimator):
            raise ValueError(
                f"{self._owner} was given no costs, but the model was fitted with costs, and unit "
                "costs would mislead. Pass cost_matrix= (expressions over columns will do), costs= "
                "with the index of the rows, or route costs: scorer.set_score_request(costs=True)."
            )
        classes: Any = getattr(estimator, "classes_", None)
        known: Any = getattr(estimator, "decisions_", classes)
        other = {} if np.array_equal(known, classes) else {"decisions": known}
        decided = estimator.predict(X)
        return self._sign * self._score_func(y, decided, sample_weight, costs=costs, X=X, **other)

    __call__ = score  # as scikit-learn calls scorers

    # -- what TunedThresholdClassifierCV asks of a scorer ----------------------------------------

    _kwargs: ClassVar[dict[str, Any]] = {}

    @property
    def _sign(self) -> float:
        return METRICS[self.metric][1]

    def _score_func(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        costs: Any = None,
        X: Any = None,
        decisions: Any = None,
    ) -> float:
        """The metric of these decisions."""
        given = {**self.get_params(deep=False), "sample_weight": sample_weight, "X": X}
        given["decisions"] = decisions if self.decisions is None else self.decisions
        given["costs"] = self._costs_of(y_true, X) if costs is None else costs
        return METRICS[given.pop("metric")][0](y_true, y_pred, **given)

    @property
    def _owner(self) -> str:
        return f"make_cost_scorer({self.metric!r})"

    def _costs_of(self, y: Any, X: Any) -> Any:
        """The costs that were bound, of the rows to score: found by their index."""
        if self.costs is None:
            return None
        index: Any = getattr(self.costs, "index", None)
        rows = check_same_index(self._owner, y=y, X=X)
        if hasattr(index, "get_indexer") and rows is not None:
            positions = index.get_indexer(rows) if index.is_unique else np.array([-1])
            if (positions < 0).any():
                raise ValueError(
                    f"costs= of {self._owner} has no costs, or several, for some of the rows: its "
                    "index has other or repeated labels. Take it from the rows of the data."
                )
            if hasattr(self.costs, "iloc"):
                return self.costs.iloc[positions]
            return self.costs[positions]
        if len(self.costs) != len(y):
            raise ValueError(
                f"{self._owner} has costs of {len(self.costs)} rows and scores {len(y)}. To find "
                "the costs of some rows, costs= and X or y need a pandas index."
            )
        return self.costs


def make_cost_scorer(
    metric: Literal["avoidable_cost", "savings", "total_cost", "mean_cost"] = "avoidable_cost",
    *,
    cost_matrix: Any = None,
    labels: ArrayLike | None = None,
    decisions: ArrayLike | None = None,
    positive: Any = None,
    costs: Any = None,
) -> Any:
    """Make a scikit-learn scorer in money, for ``GridSearchCV`` and similar tools.

    Costs are negated, so that greater is always better. Costs of single rows reach it in one of
    three ways: as expressions over columns in ``cost_matrix``; bound to the scorer, ``costs=``, for
    tools that pass nothing on (``permutation_importance``); or by metadata routing: ask for them
    with ``set_score_request(costs=True)`` and pass ``costs=`` to ``fit`` of the search, which then
    cuts them into folds.

    Parameters
    ----------
    metric : {"avoidable_cost", "savings", "total_cost", "mean_cost"}, default="avoidable_cost"
        What to measure: `avoidable_cost_score`, which is always defined and what ``score`` of the
        classifiers returns, `savings_score`, `total_cost` or `mean_cost`.
    cost_matrix : array, frame, mapping or None
        Costs, as in `total_cost`; None: every mistake costs 1. Routed costs override it.
        Expressions see the X of each fold.
    labels : array of shape (k,), optional
        The classes, in the order of the rows of the costs. Name them if a fold may lack some and
        the costs do not name them.
    decisions : array of shape (d,), optional
        The decisions, in the order of the columns of unlabelled costs.
    positive : label, optional
        The positive class of costs that do not name it.
    costs : Series, frame, `costboost.costs.per_row` or array, optional
        Costs of single rows. Those of the rows that are scored are found by the pandas index of y
        or X; without an index, exactly these rows must be scored.

    Returns
    -------
    scorer
        A callable ``scorer(estimator, X, y, ...)``. It raises a ValueError if it has no costs, but
        the model was fitted with costs.

    Examples
    --------
    >>> import numpy as np
    >>> import sklearn
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.model_selection import GridSearchCV
    >>> from costboost.costs import per_row
    >>> X, y = make_classification(n_samples=60, weights=[0.8], random_state=0)
    >>> amount = np.where(y == 1, 50.0, 1.0)
    >>> grid = {"strategy": ["constant"], "constant": [0, 1]}
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     scorer = make_cost_scorer("mean_cost").set_score_request(costs=True)
    ...     search = GridSearchCV(DummyClassifier(), grid, scoring=scorer, cv=3)
    ...     search = search.fit(X, y, costs=per_row(fn=amount, fp=5))
    >>> search.best_params_["constant"]
    1
    """
    if metric not in METRICS:
        raise invalid(
            "metric", "make_cost_scorer", f"must be in {sorted(METRICS)}, got {metric!r}."
        )
    return CostScorer(metric, cost_matrix, labels, decisions, positive, costs)


def needs_costs(estimator: Any) -> bool:
    """Whether a model was fitted with costs of its own, so that unit costs would misjudge it."""
    # Pipelines and searches are asked about the model inside them.
    if hasattr(estimator, "_costs_source"):
        return estimator.cost_matrix is not None or estimator._costs_source != "cost_matrix"
    for name in ("best_estimator_", "estimator_"):
        if hasattr(estimator, name):
            return needs_costs(getattr(estimator, name))
    steps = getattr(estimator, "steps", None)
    return needs_costs(steps[-1][1]) if steps else False
