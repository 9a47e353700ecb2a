"""What the decisions of a booster cost, as evaluation metric of LightGBM and XGBoost."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Ints
from costboost.costs import Costs, KnownCosts
from costboost.gbm.decisions import decide
from costboost.gbm.reading import API, EngineName, adapter_for, checked_codes, checked_weights
from costboost.losses import Loss, named_loss
from costboost.metrics import mean_cost, savings_score

__all__ = ["CostMetric", "cost_metric"]

Measure: TypeAlias = Literal["cost", "savings"]

_MEASURES = {"cost": mean_cost, "savings": savings_score}


def cost_metric(
    loss: str | Loss = "gll",
    costs: Any = None,
    *,
    cost_matrix: Any = None,
    measure: Measure = "cost",
    engine: EngineName = "lightgbm",
    api: API = "native",
) -> CostMetric:
    """Make the realised cost the evaluation metric of LightGBM or XGBoost.

    Decisions are those of `decide`, from the raw scores that an `objective` has the engine report.

    Parameters
    ----------
    loss : str or Loss, default="gll"
        The loss of the objective.
    costs : array of shape (n, k, k), (n, k) or (n,), optional
        Costs of the rows that are evaluated, in their order; they take the place of `cost_matrix`.
        A metric with costs of rows is for one evaluation set.
    cost_matrix : array, frame, mapping or None
        One matrix for all rows, as in `objective`.
    measure : {"cost", "savings"}, default="cost"
        The mean cost of a row, or the share saved of what the best constant decision costs.
        XGBoost minimises every metric unless told otherwise: to stop early on savings, pass
        ``maximize=True`` to ``train`` or to the ``EarlyStopping`` callback.
    engine : {"lightgbm", "xgboost"}, default="lightgbm"
        The library that grows the trees.
    api : {"native", "sklearn"}, default="native"
        Its own ``train``, or its scikit-learn estimators.

    Returns
    -------
    CostMetric
        A callable for ``lightgbm.train(..., feval=...)``, ``LGBMClassifier.fit(...,
        eval_metric=...)``, ``xgboost.train(..., custom_metric=...)`` or
        ``XGBClassifier(eval_metric=...)``.

    Examples
    --------
    >>> metric = cost_metric("cost_logistic", cost_matrix={"fn": 5, "fp": 1})
    >>> metric.value(labels=[0, 1, 1], scores=[0.2, -0.1, 0.3])
    2.0
    """
    if measure not in _MEASURES:
        raise ValueError(
            f"The 'measure' parameter of cost_metric must be one of {list(_MEASURES)}. Got "
            f"{measure!r} instead."
        )
    adapter = adapter_for(_ADAPTERS, engine, api, "cost_metric")
    made: CostMetric = adapter(named_loss(loss, "cost_metric"), costs, cost_matrix, measure)
    return made


class CostMetric:
    """A loss, which fixes the decision, and the costs of the rows.

    Parameters
    ----------
    loss, costs, cost_matrix, measure
        As in `cost_metric`.
    """

    def __init__(
        self,
        loss: Loss,
        costs: Any = None,
        cost_matrix: Any = None,
        measure: Measure = "cost",
    ) -> None:
        self.loss = loss
        self.costs = costs
        self.cost_matrix = cost_matrix
        self.measure = measure
        self._priced: KnownCosts | None = None
        self.__name__ = measure  # XGBoost's name of the metric

    def value(
        self, labels: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None
    ) -> float:
        """Mean cost, or savings, of the decisions.

        Parameters
        ----------
        labels : array of shape (n,)
            Class codes.
        scores : array of shape (n,) or (n, k)
            Raw scores.
        weights : array of shape (n,), optional
            Sample weights.

        Returns
        -------
        float
            The metric.
        """
        F = self.loss.checked_scores(scores, "cost_metric")
        k = 2 if F.ndim == 1 else F.shape[1]
        codes = checked_codes(labels, k, len(F), "cost_metric")
        if self._priced is None or not _same(self._priced, codes, k):
            self._priced = Costs.resolve(
                self.cost_matrix,
                self.costs,
                classes=np.arange(k),
                codes=codes,
                owner="cost_metric",
                as_classes=True,
            )
        # A cost-blind loss decides by the rows' own matrices; the others have learned theirs.
        by_rows = not self.loss.carries_costs and np.ndim(self.costs) == 3
        known = self.costs if by_rows else None
        decisions = decide(F, self.loss, cost_matrix=self.cost_matrix, costs=known)
        return self._measured(self._priced, decisions, checked_weights(weights))

    def _measured(self, costs: KnownCosts, decisions: Ints, weights: AnyArray | None) -> float:
        """The measure of these decisions."""
        if self.measure == "savings":
            return costs.savings(decisions, weights)
        return float(np.average(costs.paid(decisions), weights=weights))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_priced": None}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.loss!r}, measure={self.measure!r})"


def _same(costs: KnownCosts, codes: Ints, k: int) -> bool:
    """Whether costs belong to rows of these codes."""
    return len(costs.classes) == k and np.array_equal(costs.codes, codes)


class LightGBMMetric(CostMetric):
    """Called as ``(preds, eval_data)``."""

    def __call__(self, preds: AnyArray, eval_data: Any) -> tuple[str, float, bool]:
        value = self.value(eval_data.get_label(), preds, eval_data.get_weight())
        return self.measure, value, self.measure == "savings"


class LGBMModelMetric(CostMetric):
    """Called as ``(y_true, y_pred, weight)``."""

    def __call__(
        self, y_true: AnyArray, y_pred: AnyArray, weight: AnyArray | None
    ) -> tuple[str, float, bool]:
        return self.measure, self.value(y_true, y_pred, weight), self.measure == "savings"


class XGBoostMetric(CostMetric):
    """Called as ``(predt, dmatrix)``."""

    def __call__(self, predt: AnyArray, dmatrix: Any) -> tuple[str, float]:
        return self.measure, self.value(dmatrix.get_label(), predt, dmatrix.get_weight())


class XGBModelMetric(CostMetric):
    """Called as ``(y_true, y_score)``, with ``sample_weight`` by name if there are weights."""

    def __call__(
        self, y_true: AnyArray, y_score: AnyArray, sample_weight: AnyArray | None = None
    ) -> float:
        return self.value(y_true, y_score, sample_weight)


_ADAPTERS: dict[tuple[str, str], Any] = {
    ("lightgbm", "native"): LightGBMMetric,
    ("lightgbm", "sklearn"): LGBMModelMetric,
    ("xgboost", "native"): XGBoostMetric,
    ("xgboost", "sklearn"): XGBModelMetric,
}
