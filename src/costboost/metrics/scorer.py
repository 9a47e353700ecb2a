"""Money as a scikit-learn scorer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from numpy.typing import ArrayLike
from sklearn.metrics import make_scorer

from costboost.metrics.bills import mean_cost, savings_score, total_cost

__all__ = ["make_cost_scorer"]


def make_cost_scorer(
    metric: Literal["savings", "total_cost", "mean_cost"] = "savings",
    *,
    cost_matrix: Any = None,
    labels: ArrayLike | None = None,
) -> Any:
    """Make a scikit-learn scorer that counts money, for ``GridSearchCV`` and its like.

    Costs are negated, so that greater is always better. Costs of single rows reach it by metadata
    routing: ask for them with ``set_score_request(costs=True)`` and pass ``costs=`` to ``fit`` of
    the search, which then cuts them into folds.

    Parameters
    ----------
    metric : {"savings", "total_cost", "mean_cost"}, default="savings"
        What to measure.
    cost_matrix : array, frame, mapping or None
        One matrix for all rows, as in `total_cost`; None: every mistake costs 1. Routed costs win
        over it. A function of X is not possible, because scikit-learn gives a scorer's metric
        no X: route ``costs=function(X)`` instead.
    labels : array of shape (k,), optional
        The classes, in the order of the axes of the costs. Name them if a fold may lack some and
        the costs do not name them.

    Returns
    -------
    scorer
        A callable ``scorer(estimator, X, y, ...)``.

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
    functions: dict[str, tuple[Callable[..., float], bool]] = {
        "savings": (savings_score, True),
        "total_cost": (total_cost, False),
        "mean_cost": (mean_cost, False),
    }
    if metric not in functions:
        raise ValueError(
            f"The 'metric' parameter of make_cost_scorer must be one of {list(functions)}, got "
            f"{metric!r}."
        )
    if callable(cost_matrix):
        raise ValueError(
            "The 'cost_matrix' parameter of make_cost_scorer cannot be a function of X, because a "
            "scorer's metric sees no X. Call scorer.set_score_request(costs=True) and pass "
            "costs=cost_matrix(X) to fit of the search."
        )
    function, greater_is_better = functions[metric]
    options = {"cost_matrix": cost_matrix, "labels": labels}
    stated = {key: value for key, value in options.items() if value is not None}
    return make_scorer(function, greater_is_better=greater_is_better, **stated)
