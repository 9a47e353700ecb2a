"""Losses as training objectives of LightGBM and XGBoost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost._typing import AnyArray, Floats, Ints
from costboost.boosting.problem import BinaryProblem
from costboost.costs import Costs
from costboost.gbm._reading import (
    API,
    Engine,
    Loss,
    checked_codes,
    checked_scores,
    checked_weights,
    chosen,
    named_loss,
)
from costboost.losses import (
    GEL,
    GLL,
    MC,
    AsymmetricLogistic,
    BinaryLoss,
    CostExponential,
    CostLogistic,
    Ls,
    Lt,
    WeightedExponential,
)

__all__ = ["Objective", "objective"]

Derivatives: TypeAlias = "tuple[NDArray[np.float32], NDArray[np.float32]]"


def objective(
    loss: str | Loss = "gll",
    costs: Any = None,
    *,
    cost_matrix: Any = None,
    engine: Engine = "lightgbm",
    api: API = "native",
) -> Objective:
    """Make a loss of the library the training objective of LightGBM or XGBoost.

    Labels and sample weights come from the engine's own data: labels must be class codes 0 to
    k - 1. The booster returns raw scores; `decide` turns them into decisions.

    Parameters
    ----------
    loss : str, BinaryLoss or MulticlassLoss, default="gll"
        For two classes and one score ``"cost_exponential"``, ``"weighted_exponential"``,
        ``"cost_logistic"`` or ``"asymmetric_logistic"``; for any number of classes, a score each,
        ``"mc"``, ``"gel"``, ``"gll"``, ``"ls"`` or ``"lt"``; or a loss object, one's own included.
    costs : array of shape (n, k, k), (n, k) or (n,), optional
        Costs of the training rows, in their order: a matrix truth by decision, the price of each
        decision, or the price of an error. They win over `cost_matrix`.
    cost_matrix : array, frame, mapping or None
        One matrix for all rows, truth by decision, in any form of `costboost.costs.Costs.resolve`
        except a function of X, which an objective does not see: pass ``costs=function(X)``. None:
        every mistake costs 1. The classes are the codes, so ``{"fn": 5, "fp": 1}`` has the
        positive class 1.
    engine : {"lightgbm", "xgboost"}, default="lightgbm"
        Who trains.
    api : {"native", "sklearn"}, default="native"
        Who calls: ``train`` of the engine, or its scikit-learn estimators.

    Returns
    -------
    Objective
        A callable for ``lightgbm.train({"objective": ...})``, ``LGBMClassifier(objective=...)``,
        ``xgboost.train(..., obj=...)`` or ``XGBClassifier(objective=...)``. It can be pickled and
        used for several fits; with `costs`, only on the rows that they belong to.

    See Also
    --------
    cost_metric : The bill, as evaluation metric.
    decide : From raw scores to decisions.

    Notes
    -----
    Hessians are the exact second derivatives by each score; for the losses of differences of
    scores (all but ``"ls"``), twice that diagonal bounds the full Hessian. LightGBM's own
    multi-class objective multiplies by k/(k - 1), XGBoost's by 2: with ``lambda`` at 0 the same as
    a learning rate that much smaller. ``"ls"`` is taken at centred scores, because its scores must
    sum to 0. Rows with derivatives above 1e30 are scaled down, and Hessians are at least 1e-16, so
    that float32 holds them.

    ``"cost_exponential"`` and ``"cost_logistic"`` measure scores in units of 1/cost, and the
    exponential losses measure Hessians in costs: divide costs by their mean if the regularisation
    of the engine (``lambda``, ``min_sum_hessian_in_leaf``, ``min_child_weight``) should keep its
    usual meaning.

    Examples
    --------
    >>> import lightgbm
    >>> from sklearn.datasets import load_iris
    >>> from costboost.gbm import decide
    >>> X, y = load_iris(return_X_y=True)
    >>> dear = [[0, 1, 1], [1, 0, 1], [1, 20, 0]]
    >>> params = {"objective": objective("gll", cost_matrix=dear), "num_class": 3, "verbose": -1}
    >>> booster = lightgbm.train(params, lightgbm.Dataset(X, y), num_boost_round=20)
    >>> decide(booster.predict(X), "gll")[::50]
    array([0, 1, 2])
    """
    adapter = chosen(_ADAPTERS, engine, api, "objective")
    made: Objective = adapter(named_loss(loss, "objective"), costs, cost_matrix)
    return made


class Objective:
    """A loss and its costs, called by an engine once per round.

    Parameters
    ----------
    loss : BinaryLoss or MulticlassLoss
        The loss.
    costs, cost_matrix
        As in `objective`.
    """

    def __init__(self, loss: Loss, costs: Any = None, cost_matrix: Any = None) -> None:
        self.loss = loss
        self.costs = costs
        self.cost_matrix = cost_matrix
        self._rows: LossRows | None = None

    def derivatives(
        self, labels: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None
    ) -> Derivatives:
        """Gradient and diagonal Hessian of the weighted loss.

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
        gradient, hessian : float32 arrays of the shape of `scores`
            The derivatives; Hessians are positive.
        """
        F = checked_scores(scores, self.loss, "objective")
        y, w = np.asarray(labels), checked_weights(weights)
        if self._rows is None or not self._rows.belong_to(y, w, F):
            self._rows = self._prepared(y, w, F)
        return self._rows.derivatives(F)

    def _prepared(self, labels: AnyArray, weights: AnyArray | None, F: AnyArray) -> LossRows:
        k = 2 if F.ndim == 1 else F.shape[1]
        codes = checked_codes(labels, k, len(F), "objective")
        costs = Costs.resolve(
            self.cost_matrix, self.costs, classes=np.arange(k), codes=codes, owner="objective"
        )
        return loss_rows(self.loss, costs, weights, labels)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_rows": None}  # engines copy their parameters

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.loss!r})"


class LightGBMObjective(Objective):
    """Called as ``(preds, train_data)``."""

    def __call__(self, preds: AnyArray, train_data: Any) -> Derivatives:
        return self.derivatives(train_data.get_label(), preds, train_data.get_weight())


class LGBMModelObjective(Objective):
    """Called as ``(y_true, y_pred, weight)``: with three arguments LightGBM hands over weights."""

    def __call__(self, y_true: AnyArray, y_pred: AnyArray, weight: AnyArray | None) -> Derivatives:
        return self.derivatives(y_true, y_pred, weight)


class XGBoostObjective(Objective):
    """Called as ``(predt, dtrain)``."""

    def __call__(self, predt: AnyArray, dtrain: Any) -> Derivatives:
        return self.derivatives(dtrain.get_label(), predt, dtrain.get_weight())


class XGBModelObjective(Objective):
    """Called as ``(y_true, y_pred)``, with ``sample_weight`` by name if there are weights."""

    def __call__(
        self, y_true: AnyArray, y_pred: AnyArray, sample_weight: AnyArray | None = None
    ) -> Derivatives:
        return self.derivatives(y_true, y_pred, sample_weight)


_ADAPTERS: dict[tuple[str, str], Any] = {
    ("lightgbm", "native"): LightGBMObjective,
    ("lightgbm", "sklearn"): LGBMModelObjective,
    ("xgboost", "native"): XGBoostObjective,
    ("xgboost", "sklearn"): XGBModelObjective,
}


# --- rows: what stays the same from round to round ------------------------------------------------


def loss_rows(
    loss: Loss, costs: Costs, weights: AnyArray | None, labels: AnyArray | None = None
) -> LossRows:
    """Rows of known costs and truths, made ready for a loss.

    Parameters
    ----------
    loss : BinaryLoss or MulticlassLoss
        The loss.
    costs : Costs
        Costs and truths of the rows.
    weights : array of shape (n,) or None
        Sample weights.
    labels : array of shape (n,), optional
        The truths as an engine hands them over.

    Returns
    -------
    LossRows
        Values and derivatives of the loss at any scores.
    """
    kind = _BinaryRows if isinstance(loss, BinaryLoss) else _MulticlassRows
    return kind(loss, costs, np.asarray(costs.codes) if labels is None else labels, weights)


class LossRows(ABC):
    """Labels and costs of the training rows, as the loss reads them."""

    def __init__(self, loss: Any, costs: Costs, labels: AnyArray, weights: AnyArray | None) -> None:
        self.loss = loss
        self.labels = labels.copy()
        self.given = None if weights is None else weights.copy()
        self.weights = np.ones(1) if weights is None else weights.astype(np.float64)
        self.k = len(costs.classes)

    def belong_to(self, labels: AnyArray, weights: AnyArray | None, F: AnyArray) -> bool:
        """Whether they are the rows of these labels and weights."""
        same = (weights is None) == (self.given is None)
        return (
            same
            and (2 if F.ndim == 1 else F.shape[1]) == self.k
            and np.array_equal(labels, self.labels)
            and (self.given is None or np.array_equal(weights, self.given))  # type: ignore[arg-type]
        )

    def derivatives(self, F: AnyArray) -> Derivatives:
        """Gradient and Hessian at these scores, in the memory order of the scores."""
        G, H = np.empty_like(F, dtype=np.float32), np.empty_like(F, dtype=np.float32)
        self.fill(F, G, H)
        return G, H

    @abstractmethod
    def value(self, F: Floats) -> Floats:
        """The loss of each row, without its weight."""

    @abstractmethod
    def fill(self, F: AnyArray, G: AnyArray, H: AnyArray) -> None:
        """Write gradient and Hessian."""

    def plain(self, y: AnyArray, F: AnyArray, C: Any, G: AnyArray, H: AnyArray) -> None:
        """By the methods of the loss: what has no kernel."""
        from costboost.gbm import _kernels

        S = np.asarray(F, dtype=np.float64)
        g, h = self.loss.gradient(y, S, C), self.loss.hessian(y, S, C)
        n = len(S)
        _kernels.store(
            g.reshape(n, -1), h.reshape(n, -1), self.weights, G.reshape(n, -1), H.reshape(n, -1)
        )


class _BinaryRows(LossRows):
    """One score per row: slope a and, by loss, factor f or offset b of every row."""

    def __init__(self, loss: Any, costs: Costs, labels: AnyArray, weights: AnyArray | None) -> None:
        super().__init__(loss, costs, labels, weights)
        problem = BinaryProblem.from_costs(costs, self.weights * np.ones(len(labels)))
        self.y, self.C = problem.y, problem.both
        ones = np.ones_like(self.y)
        C1, C2 = self.C
        c = np.where(self.y > 0, C1, C2)
        kind = type(loss)  # a subclass may differ from what the kernels know
        self.kernel = ""
        if kind in (CostExponential, WeightedExponential):
            inside = kind is CostExponential
            self.kernel = "exponential"
            self.a = self.y * (c if inside else ones)
            self.b = ones if inside else c
        elif kind in (CostLogistic, AsymmetricLogistic):
            self.kernel = "logistic"
            self.a = 2.0 * self.y * loss.slope(C1, C2)
            self.b = self.y * (np.log(C2) - np.log(C1))

    def value(self, F: Floats) -> Floats:
        """The loss of each row."""
        return np.asarray(self.loss.value(self.y, F, self.C))

    def fill(self, F: AnyArray, G: AnyArray, H: AnyArray) -> None:
        """Write gradient and Hessian."""
        if not self.kernel:
            return self.plain(self.y, F, self.C, G, H)
        from costboost.gbm import _kernels

        getattr(_kernels, self.kernel)(self.a, self.b, F, self.weights, G, H)
        return None


class _MulticlassRows(LossRows):
    """A score per class: effective label and reduced costs of every row."""

    def __init__(self, loss: Any, costs: Costs, labels: AnyArray, weights: AnyArray | None) -> None:
        super().__init__(loss, costs, labels, weights)
        self.y: Ints = costs.labels
        self.C: Floats = costs.reduced
        if type(loss) is MC:  # GEL with unit costs
            self.C = np.ones_like(self.C)
            np.put_along_axis(self.C, self.y[:, None], 0.0, axis=1)

    def value(self, F: Floats) -> Floats:
        """The loss of each row."""
        return np.asarray(self.loss.value(self.y, F, self.C))

    def fill(self, F: AnyArray, G: AnyArray, H: AnyArray) -> None:
        """Write gradient and Hessian."""
        kernel = _KERNELS.get(type(self.loss))  # a subclass may differ from what the kernels know
        if kernel is None:
            return self.plain(self.y, F, self.C, G, H)
        from costboost.gbm import _kernels

        getattr(_kernels, kernel)(self.y, self.C, F, self.weights, G, H)
        return None


_KERNELS: dict[type, str] = {GEL: "gel", GLL: "gll", Ls: "ls", Lt: "lt", MC: "gel"}
