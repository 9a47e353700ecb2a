"""Losses of the library in LightGBM's and XGBoost's own training: objective, metric, decisions."""

from __future__ import annotations

from copy import deepcopy
from threading import local
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost._typing import AnyArray, Floats, Ints
from costboost._utils import checked_weights, invalid
from costboost.boosting.votes import BinaryProblem
from costboost.costs import RealizedCosts, read_costs, read_realized_costs
from costboost.costs.labels import of_length
from costboost.losses import Loss, named_loss
from costboost.losses.kernels import store

# Gradient and Hessian, in single precision as the engines sum them.
Derivatives: TypeAlias = "tuple[NDArray[np.float32], NDArray[np.float32]]"
EngineName: TypeAlias = Literal["lightgbm", "xgboost"]
Measure: TypeAlias = Literal["mean_cost", "savings", "avoidable_cost"]

# The largest weight of a table is at least this, or gradients are no numbers of single precision.
_LEAST_WEIGHT = 1e-25
# The objective that trains in each thread: a metric that knows only the loss asks it for costs.
_TRAINING = local()


def objective(
    loss: str | Loss = "gll",
    costs: Any = None,
    *,
    cost_matrix: Any = None,
    engine: EngineName = "lightgbm",
) -> Objective:
    """Make a loss of the library the training objective of LightGBM or XGBoost.

    Labels and sample weights are those of the engine's own data. Labels must be class codes 0 to
    k - 1. The booster returns raw scores; `decide` turns them into decisions.

    Parameters
    ----------
    loss : str or Loss, default="gll"
        A name of `costboost.losses.LOSSES`: for two classes and one score ``"cost_exponential"``,
        ``"weighted_exponential"``, ``"cost_logistic"`` or ``"asymmetric_logistic"``; for any number
        of classes, a score each, ``"mc"``, ``"gel"``, ``"gll"``, ``"ls"``, ``"lt"`` or
        ``"expected_cost"``. Or a loss object, your own included.
    costs : array of shape (n, k, k), (n, k) or (n,), optional
        Costs of the training rows, in their order: a matrix truth by decision, the price of each
        decision, or the price of an error. They take the place of `cost_matrix`.
    cost_matrix : array, frame, mapping or None
        One matrix for all rows, truth by decision, in any form of `costboost.costs.read_costs`
        except a function of X, which an objective does not see: pass ``costs=function(X)``. None:
        every mistake costs 1. The classes are the codes, so ``{"fn": 5, "fp": 1}`` has the
        positive class 1.
    engine : {"lightgbm", "xgboost"}, default="lightgbm"
        The library that grows the trees; by its own ``train`` or by its scikit-learn estimator.

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
    _check_name("engine", engine, EngineName, "objective")
    known = named_loss(loss, "objective")
    if known.is_binary and costs is None and cost_matrix is not None:
        # Two classes are certain, so bad costs need not wait for the first round.
        matrix = read_costs(cost_matrix, classes=[0, 1], owner="objective").matrix
        known.check_costs(matrix, "objective")
    return Objective(known, costs, cost_matrix)


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
        # The rows of the last round, and the labels, weights and shape of scores they belong to.
        self._rows: LossRows | None = None
        self._given: tuple[Any, ...] = ()

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
        given: tuple[Any, ...] = labels, weights, F.shape
        if self._rows is None or not all(map(np.array_equal, given, self._given)):
            w = _weights(weights, len(F), "objective")
            costs = _known(self, labels, F, "objective")
            if costs.matrix is not None:
                self.loss.check_costs(costs.matrix, "objective")
            self._rows = LossRows(self.loss, costs, w)
            self._given = deepcopy(given)
        return self._rows.derivatives(F)

    def __call__(self, first: Any, second: Any, sample_weight: Any = None) -> Derivatives:
        """Called by an engine: its own training, or its scikit-learn estimator."""
        _TRAINING.objective = self
        return self.derivatives(*_told(first, second, sample_weight))

    @property
    def has_costs(self) -> bool:
        """Whether its scores decide by costs; if not, they are about unit costs."""
        given = self.costs is not None or self.cost_matrix is not None
        return given and self.loss.carries_costs

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_rows": None, "_given": ()}  # engines copy their parameters

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.loss!r})"


class LossRows:
    """Labels and costs of the training rows, as the loss reads them."""

    def __init__(self, loss: Loss, costs: RealizedCosts, weights: AnyArray | None) -> None:
        self.loss = loss
        self.weights = np.ones(1) if weights is None else weights.astype(np.float64)
        self.y: AnyArray
        self.C: Any
        if loss.is_binary:
            problem = BinaryProblem.from_costs(costs, self.weights * np.ones(len(costs)))
            self.y, self.C = problem.y, problem.both
        else:
            self.y, self.C = costs.best_decision, costs.regret
        self.for_kernel = loss.kernel_rows(self.y, self.C) if loss.kernel else ()

    def value(self, F: Floats) -> Floats:
        """The loss of each row at raw scores, without its weight."""
        return np.asarray(self.loss.value(self.y, self.loss.centred(F), self.C))

    def derivatives(self, F: AnyArray) -> Derivatives:
        """Gradient and Hessian at raw scores, in the memory order of the scores."""
        G = np.empty_like(F, dtype=np.float32)
        H = np.empty_like(F, dtype=np.float32)
        if self.loss.kernel is not None:
            self.loss.kernel(*self.for_kernel, F, self.weights, G, H)
        else:
            n = len(F)
            S = np.asarray(F, dtype=np.float64)
            g, h = (part.reshape(n, -1) for part in self.loss.raw_derivatives(self.y, S, self.C))
            store(g, h, self.weights, G.reshape(n, -1), H.reshape(n, -1))
        return G, H


def cost_metric(
    loss: str | Loss | Objective = "gll",
    costs: Any = None,
    *,
    cost_matrix: Any = None,
    measure: Measure = "mean_cost",
    engine: EngineName = "lightgbm",
) -> CostMetric:
    """Make the realised cost the evaluation metric of LightGBM or XGBoost.

    Decisions are those of `decide`, from the raw scores that an `objective` has the engine report.

    Parameters
    ----------
    loss : str, Loss or Objective, default="gll"
        The objective, or its loss if costs were in the training. After a training without costs
        the decisions have to know them: pass the objective itself, and the metric decides for the
        least expected cost by `probability`.
    costs : array of shape (n, k, k), (n, k) or (n,), optional
        Costs of the rows that are evaluated, in their order; they take the place of `cost_matrix`.
        A metric with costs of rows is for one evaluation set.
    cost_matrix : array, frame, mapping or None
        One matrix for all rows, as in `objective`.
    measure : {"mean_cost", "savings", "avoidable_cost"}, default="mean_cost"
        The mean cost of a row; `costboost.metrics.savings_score`, which needs a best constant
        decision that costs something; or `costboost.metrics.avoidable_cost_score`. XGBoost
        minimises every metric, so it is told one minus the share, ``"one_minus_savings"``.
    engine : {"lightgbm", "xgboost"}, default="lightgbm"
        The library that grows the trees.

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
    _check_name("measure", measure, Measure, "cost_metric")
    _check_name("engine", engine, EngineName, "cost_metric")
    known = loss if isinstance(loss, Objective) else named_loss(loss, "cost_metric")
    return CostMetric(known, costs, cost_matrix, measure, engine)


class CostMetric:
    """A loss, which fixes the decision, and the costs of the rows.

    Parameters
    ----------
    loss, costs, cost_matrix, measure, engine
        As in `cost_metric`.
    """

    def __init__(
        self,
        loss: Loss | Objective,
        costs: Any = None,
        cost_matrix: Any = None,
        measure: Measure = "mean_cost",
        engine: EngineName = "lightgbm",
    ) -> None:
        self.objective = loss if isinstance(loss, Objective) else None
        self.loss = loss.loss if isinstance(loss, Objective) else loss
        # Whether the scores are about unit costs, so that the costs are still to be counted.
        self.is_blind = not (loss.has_costs if isinstance(loss, Objective) else loss.carries_costs)
        self.costs, self.cost_matrix = costs, cost_matrix
        self.measure, self.engine = measure, engine
        self._priced: RealizedCosts | None = None
        # XGBoost minimises every metric: there a share is told as what is left of it.
        self._is_left = engine == "xgboost" and measure != "mean_cost"
        self.__name__ = f"one_minus_{measure}" if self._is_left else measure

    def value(
        self, labels: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None
    ) -> float:
        """Mean cost of the decisions, or the share that they save.

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
        y, k = np.asarray(labels), 2 if F.ndim == 1 else F.shape[1]
        priced, w = self._priced, _weights(weights, len(F), "cost_metric")
        if priced is None or len(priced.classes) != k or not np.array_equal(priced.y_index, y):
            priced = self._priced = _known(self, y, F, "cost_metric")
        if self.is_blind:  # by the rows' own matrices where they are known
            known = self.costs if np.ndim(self.costs) == 3 else None
            given = self.cost_matrix if known is None else None
            decisions = _cheapest(probability(F, self.loss), given, known)
        else:  # the costs were in the training
            decisions = decide(F, self.loss)
        if self.measure == "mean_cost":
            return float(np.average(priced.cost_of(decisions), weights=w))
        share = priced.savings if self.measure == "savings" else priced.avoidable_share
        return share(decisions, w)

    def __call__(self, first: Any, second: Any, sample_weight: Any = None) -> Any:
        """Called by an engine: its own training, or its scikit-learn estimator."""
        trained: Objective | None = getattr(_TRAINING, "objective", None)
        by_name = self.objective is None and not self.is_blind
        is_priced = self.costs is not None or self.cost_matrix is not None
        if by_name and is_priced and trained is not None and not trained.has_costs:
            raise ValueError(
                f"cost_metric({self.loss.name!r}) has costs, and the objective of this training "
                "has none: the sign of its scores does not decide by them. Pass the objective in "
                "place of the loss, cost_metric(objective, costs), or give the objective the costs "
                "of the training rows."
            )
        value = self.value(*_told(first, second, sample_weight))
        if self.engine == "lightgbm":
            return self.__name__, value, self.measure != "mean_cost"
        value = 1.0 - value if self._is_left else value
        return (self.__name__, value) if hasattr(second, "get_label") else value

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_priced": None}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.loss!r}, measure={self.measure!r})"


def decide(
    scores: ArrayLike, loss: str | Loss | Objective, *, cost_matrix: Any = None, costs: Any = None
) -> Ints:
    """Turn raw scores into decisions.

    Without `costs` the decision is the sign of the score, or the class of the largest one, because
    the costs were in the training. A cost-blind loss, such as ``"mc"``, decides for the least
    expected cost under `cost_matrix`.

    With `costs`, the costs of these rows, the decision is that of least expected cost, by
    `probability`. Costs of rows that were in the training cannot be taken out of the scores again:
    where `loss` is the objective itself, this is an error.

    Parameters
    ----------
    scores : array of shape (n,) or (n, k)
        Raw scores: ``Booster.predict(X, raw_score=True)`` of LightGBM, ``predict(X,
        output_margin=True)`` of XGBoost.
    loss : str, Loss or Objective
        The objective, or its loss.
    cost_matrix : array, frame, mapping or None
        The matrix of the objective; not needed if `loss` is the objective itself.
    costs : array of shape (n, k, k), optional
        Costs of these rows, truth by decision, where they are known.

    Returns
    -------
    int array of shape (n,)
        Class codes.

    Examples
    --------
    >>> decide([-0.3, 0.1], "cost_logistic")
    array([0, 1])
    >>> decide([[0.5, 0.0]], "mc", cost_matrix=[[0, 1], [10, 0]])
    array([1])
    """
    known = loss.loss if isinstance(loss, Objective) else named_loss(loss, "decide")
    if isinstance(loss, Objective) and cost_matrix is None:
        cost_matrix = loss.cost_matrix
    F = known.checked_scores(scores, "decide")
    if costs is None and known.carries_costs:
        return np.asarray(F >= 0 if F.ndim == 1 else F.argmax(axis=1), dtype=np.intp)
    return _cheapest(probability(F, loss, cost_matrix=cost_matrix), cost_matrix, costs)


def _cheapest(proba: Floats, cost_matrix: Any, costs: Any) -> Ints:
    """The decision of least expected cost, under the costs of the rows or one matrix."""
    n, k = proba.shape
    known = read_costs(
        cost_matrix, costs, classes=np.arange(k), n_rows=n, owner="decide", as_classes=True
    )
    return known.decide(proba)


def probability(
    scores: ArrayLike, loss: str | Loss | Objective, *, cost_matrix: Any = None
) -> Floats:
    """Turn raw scores into the class probabilities for which they minimise the loss.

    Parameters
    ----------
    scores : array of shape (n,) or (n, k)
        Raw scores.
    loss : str, Loss or Objective
        The objective, or its loss. It must have a link to probabilities: the binary losses and
        ``"mc"`` have one, ``"gll"`` has one without costs.
    cost_matrix : array, frame, mapping or None
        The matrix of the objective, one for all rows; not needed if `loss` is the objective.

    Returns
    -------
    array of shape (n, k)
        Probabilities, not calibrated.

    Examples
    --------
    >>> probability([0.0], "asymmetric_logistic", cost_matrix={"fn": 4, "fp": 1})
    array([[0.8, 0.2]])
    """
    if isinstance(loss, Objective):
        if loss.costs is not None and loss.loss.carries_costs:
            raise ValueError(
                "The scores of an objective with costs of rows have no link to probabilities: the "
                "costs are in them. Leave out costs of new rows, or train on one cost_matrix."
            )
        cost_matrix = loss.cost_matrix if cost_matrix is None else cost_matrix
        loss = loss.loss
    known = named_loss(loss, "probability")
    F = np.asarray(known.checked_scores(scores, "probability"), dtype=np.float64)
    if cost_matrix is None:
        return np.asarray(known.class_probabilities(F))
    k = 2 if known.is_binary else F.shape[1]
    costs = read_costs(cost_matrix, classes=np.arange(k), owner="probability")
    return np.asarray(known.class_probabilities(F, costs.matrix))


def _check_name(name: str, given: str, options: Any, owner: str) -> None:
    """Raise an error for a name that is none of the options."""
    if given not in get_args(options):
        raise invalid(name, owner, f"must be one of {get_args(options)}, got {given!r}.")


def _told(first: Any, second: Any, weight: Any) -> tuple[AnyArray, AnyArray, AnyArray | None]:
    """Labels, scores and weights, as engines hand them over."""
    # Their own training: scores and a table with the rest. Their scikit-learn estimators: labels
    # and scores; LightGBM adds weights because the function takes three, XGBoost if there are any.
    if hasattr(second, "get_label"):
        return second.get_label(), first, second.get_weight()
    return first, second, weight


def _known(
    given: Objective | CostMetric, labels: ArrayLike, F: AnyArray, owner: str
) -> RealizedCosts:
    """The costs of rows with these labels, which are class codes."""
    k = 2 if F.ndim == 1 else F.shape[1]
    y = of_length(labels, len(F), "label", owner)
    codes = y.astype(np.intp)
    if (codes != y).any() or codes.min(initial=0) < 0 or codes.max(initial=0) >= k:
        raise invalid(
            "label",
            owner,
            f"must hold class codes 0 to {k - 1}, got values from {y.min():g} to {y.max():g}. "
            "Encode them, for example by sklearn.preprocessing.LabelEncoder, and check num_class.",
        )
    return read_realized_costs(
        given.cost_matrix,
        given.costs,
        y_index=codes,
        classes=np.arange(k),
        owner=owner,
        as_classes=True,
    )


def _weights(weights: ArrayLike | None, n: int, owner: str) -> Any:
    """Weights of the rows, or None: without weights XGBoost passes an empty array."""
    if weights is None or not np.size(weights):
        return None
    w: Any = checked_weights(weights, n, owner)
    largest = w.max()
    if largest < _LEAST_WEIGHT:
        raise invalid(
            "sample_weight",
            owner,
            f"must have a largest value of at least {_LEAST_WEIGHT:g}, because the engines sum in "
            f"single precision; got {largest:g}. Divide all weights by it: only their ratios "
            "matter.",
        )
    return w
