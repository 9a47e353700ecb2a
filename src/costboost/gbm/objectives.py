"""Losses as training objectives of LightGBM and XGBoost."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost._typing import AnyArray, Floats
from costboost.boosting.votes import BinaryProblem
from costboost.costs import Costs, KnownCosts
from costboost.gbm.reading import API, EngineName, adapter_for, checked_codes, checked_weights
from costboost.losses import Loss, named_loss
from costboost.losses.kernels import store

__all__ = ["Derivatives", "LossRows", "Objective", "check_costs", "loss_rows", "objective"]

Derivatives: TypeAlias = "tuple[NDArray[np.float32], NDArray[np.float32]]"

# Largest cost whose gradients are numbers of single precision.
_MOST_COST = 1e25


def objective(
    loss: str | Loss = "gll",
    costs: Any = None,
    *,
    cost_matrix: Any = None,
    engine: EngineName = "lightgbm",
    api: API = "native",
) -> Objective:
    """Make a loss of the library the training objective of LightGBM or XGBoost.

    Labels and sample weights are those of the engine's own data. Labels must be class codes 0 to
    k - 1. The booster returns raw scores; `decide` turns them into decisions.

    Parameters
    ----------
    loss : str or Loss, default="gll"
        A name of `costboost.losses.LOSSES`: for two classes and one score ``"cost_exponential"``,
        ``"weighted_exponential"``, ``"cost_logistic"`` or ``"asymmetric_logistic"``; for any number
        of classes, a score each, ``"mc"``, ``"gel"``, ``"gll"``, ``"ls"`` or ``"lt"``. Or a loss
        object, your own included.
    costs : array of shape (n, k, k), (n, k) or (n,), optional
        Costs of the training rows, in their order: a matrix truth by decision, the price of each
        decision, or the price of an error. They take the place of `cost_matrix`.
    cost_matrix : array, frame, mapping or None
        One matrix for all rows, truth by decision, in any form of `costboost.costs.Costs.resolve`
        except a function of X, which an objective does not see: pass ``costs=function(X)``. None:
        every mistake costs 1. The classes are the codes, so ``{"fn": 5, "fp": 1}`` has the
        positive class 1.
    engine : {"lightgbm", "xgboost"}, default="lightgbm"
        The library that grows the trees.
    api : {"native", "sklearn"}, default="native"
        Its own ``train``, or its scikit-learn estimators.

    Returns
    -------
    Objective
        A callable for ``lightgbm.train({"objective": ...})``, ``LGBMClassifier(objective=...)``,
        ``xgboost.train(..., obj=...)`` or ``XGBClassifier(objective=...)``. It can be pickled and
        used for several fits; with `costs`, only on the rows that they belong to.

    See Also
    --------
    cost_metric : The cost of the decisions, as evaluation metric.
    decide : From raw scores to decisions.

    Notes
    -----
    Hessians are the exact second derivatives by each score; for the losses of differences of
    scores (all but ``"ls"``), twice that diagonal bounds the full Hessian. LightGBM's own
    multi-class objective multiplies by k/(k - 1), XGBoost's by 2: with ``lambda`` at 0 the same as
    a learning rate that much smaller. ``"ls"`` is taken at centred scores, because its scores must
    sum to 0. Rows with weighted derivatives above 1e30 are scaled down, and Hessians are at least
    1e-16, so that float32 holds them.

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
    >>> prices = [[0, 1, 1], [1, 0, 1], [1, 20, 0]]
    >>> params = {"objective": objective("gll", cost_matrix=prices), "num_class": 3, "verbose": -1}
    >>> booster = lightgbm.train(params, lightgbm.Dataset(X, y), num_boost_round=20)
    >>> decide(booster.predict(X), "gll")[::50]
    array([0, 1, 2])
    """
    adapter = adapter_for(_ADAPTERS, engine, api, "objective")
    known = named_loss(loss, "objective")
    if known.is_binary and costs is None and cost_matrix is not None:
        # Two classes are certain, so bad costs need not wait for the first round.
        check_costs(known, Costs.resolve(cost_matrix, classes=[0, 1], owner="objective"))
    made: Objective = adapter(known, costs, cost_matrix)
    return made


def check_costs(
    loss: Loss,
    costs: Costs | KnownCosts,
    owner: str = "objective",
    *,
    link_matrix: Floats | None = None,
) -> None:
    """Refuse costs under which a loss has nothing to learn, before it is trained."""
    if costs.matrix is not None:
        loss.check_costs(costs.matrix, owner)
    if link_matrix is not None and loss.has_probabilities:
        loss.check_costs(link_matrix, owner)


class Objective:
    """A loss and its costs, called by an engine once per round.

    Parameters
    ----------
    loss : Loss
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
        F = self.loss.checked_scores(scores, "objective")
        y, w = np.asarray(labels), checked_weights(weights)
        if self._rows is None or not self._rows.belong_to(y, w, F):
            self._rows = self._prepared(y, w, F)
        return self._rows.derivatives(F)

    def _prepared(self, labels: AnyArray, weights: AnyArray | None, F: AnyArray) -> LossRows:
        k = 2 if F.ndim == 1 else F.shape[1]
        codes = checked_codes(labels, k, len(F), "objective")
        costs = Costs.resolve(
            self.cost_matrix,
            self.costs,
            classes=np.arange(k),
            codes=codes,
            owner="objective",
            as_classes=True,
        )
        check_costs(self.loss, costs)
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
    loss: Loss, costs: KnownCosts, weights: AnyArray | None, labels: AnyArray | None = None
) -> LossRows:
    """Rows of known costs and truths, made ready for a loss."""
    given = costs.codes if labels is None else labels
    return LossRows(loss, costs, given, weights)


class LossRows:
    """Labels and costs of the training rows, as the loss reads them."""

    def __init__(
        self, loss: Loss, costs: KnownCosts, labels: AnyArray, weights: AnyArray | None
    ) -> None:
        self.loss = loss
        self.labels = labels.copy()
        self.given = None if weights is None else weights.copy()
        self.weights = np.ones(1) if weights is None else weights.astype(np.float64)
        self.y: AnyArray
        self.C: Any
        if loss.is_binary:
            problem = BinaryProblem.from_costs(costs, self.weights * np.ones(len(labels)))
            self.y, self.C = problem.y, problem.both
        else:
            self.y, self.C = costs.labels, costs.reduced
        largest = max(float(np.max(part, initial=0.0)) for part in self.C)
        if largest > _MOST_COST:
            raise ValueError(
                f"The costs of an objective must be at most {_MOST_COST:g} in size, because the "
                f"engines sum in single precision; got {largest:g}. Give them in a larger unit: "
                "only their ratios matter."
            )
        self.n_scores = loss.n_scores(2 if loss.is_binary else self.C.shape[1])
        self.for_kernel = loss.kernel_rows(self.y, self.C) if loss.kernel else ()

    def belong_to(self, labels: AnyArray, weights: AnyArray | None, F: AnyArray) -> bool:
        """Whether they are the rows of these labels and weights."""
        same = (weights is None) == (self.given is None)
        return (
            same
            and (1 if F.ndim == 1 else F.shape[1]) == self.n_scores
            and np.array_equal(labels, self.labels)
            and (self.given is None or np.array_equal(weights, self.given))  # type: ignore[arg-type]
        )

    def value(self, F: Floats) -> Floats:
        """The loss of each row at raw scores, without its weight."""
        return np.asarray(self.loss.value(self.y, self.loss.centred(F), self.C))

    def derivatives(self, F: AnyArray) -> Derivatives:
        """Gradient and Hessian at raw scores, in the memory order of the scores."""
        G, H = np.empty_like(F, dtype=np.float32), np.empty_like(F, dtype=np.float32)
        if self.loss.kernel is not None:
            self.loss.kernel(*self.for_kernel, F, self.weights, G, H)
        else:
            n, S = len(F), np.asarray(F, dtype=np.float64)
            g, h = (part.reshape(n, -1) for part in self.loss.raw_derivatives(self.y, S, self.C))
            store(g, h, self.weights, G.reshape(n, -1), H.reshape(n, -1))
        return G, H
