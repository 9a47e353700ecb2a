# mypy: disable-error-code="no-untyped-call"
"""`DaskCostBoostClassifier`: `CostBoostClassifier` trained by a Dask cluster."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from dask.delayed import delayed
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from costboost._typing import Floats
from costboost._validation import Constraint, check_parameters, number
from costboost.costs import savings
from costboost.dask import serving
from costboost.gbm.classifier import CostBoostClassifier
from costboost.gbm.settings import RULES, Settings
from costboost.gbm.sources.dask.guard import SILENCE, client_for, gather
from costboost.gbm.sources.dask.partitions import aligned, as_table, like
from costboost.gbm.sources.dask.source import DaskSource
from costboost.gbm.train import train

__all__ = ["DaskCostBoostClassifier"]

_RESULTS = (
    "classes_",
    "decisions_",
    "costs_",
    "cost_matrix_",
    "heads_",
    "n_iter_",
    "n_features_in_",
    "feature_names_in_",
    "estimated_savings_",
    "estimated_savings_without_costs_",
    "estimated_cost_",
    "evals_result_",
)


class DaskCostBoostClassifier(ClassifierMixin, BaseEstimator):
    """Gradient boosting that takes the decisions of least expected cost, on many machines.

    `costboost.CostBoostClassifier` with ``engine="xgboost", ensemble=1``, trained by the workers of
    a Dask cluster: no process ever holds all rows. There is one booster per head, not one per
    fold, so that the cluster trains once, not five times.

    Parameters
    ----------
    cost_matrix, loss, decision, risk, n_estimators, learning_rate, max_leaves
        As in `costboost.CostBoostClassifier`. A loss other than ``"auto"`` takes one cost matrix
        for all rows. A callable ``cost_matrix`` is called with one partition at a time.
    min_samples_leaf, reg_lambda, subsample, colsample, early_stopping, patience
        As there.
    validation_fraction : float, default=0.2
        Share of rows held out to stop early, calibrate and estimate savings: one in
        ``round(1 / validation_fraction)`` of every class, but at most about a million rows. Which
        ones depends on ``random_state`` and the order of the rows, not on partitions or workers.
    calibration : {"temperature", None}, default="temperature"
        How scores are calibrated on held-out rows.
    engine_params : dict, optional
        Parameters of XGBoost; they override the ones above.
    device : str, default="cpu"
        ``"cuda"`` trains on the workers' GPUs.
    random_state : int, RandomState or None, default=None
        Seed of held-out rows and samples.
    verbose : int, default=0
        1 prints what is being done, 2 lets workers print the held-out loss of every round.
    worker_timeout : float, default=300
        Seconds that a worker may be silent, or take no work because its memory is full; then
        ``fit`` and ``score`` give up with a `WorkerLostError`. A worker that died is noticed at
        once.
    client : distributed.Client, optional
        The cluster; by default the client in use.

    Attributes
    ----------
    classes_ : array of shape (k,)
        The classes.
    cost_matrix_ : array of shape (k, k)
        The costs, averaged over the rows where they differ.
    estimated_savings_, estimated_savings_without_costs_ : Estimate
        Savings on held-out rows, as in `CostBoostClassifier`.
    estimated_cost_ : float
        Mean cost of a held-out row.
    temperature_ : float
        Factor that calibrates the scores.
    heads_ : dict of str to Head
        ``"probability"``, ``"decision"`` or both, as in `CostBoostClassifier`.
    boosters_ : list of xgboost.Booster
        The boosters of the first head: a list of one.
    booster_ : xgboost.Booster
        That booster; of the probabilities if there are two heads.
    n_iter_ : int
        Rounds of the longer booster.

    See Also
    --------
    costboost.CostBoostClassifier : On one machine.

    Examples
    --------
    >>> import dask.array as da
    >>> from costboost.costs import per_row
    >>> from costboost.dask import DaskCostBoostClassifier
    >>> from costboost.datasets import make_fraud
    >>> from distributed import Client
    >>> data = make_fraud(4000, random_state=0)
    >>> X, y, costs = (
    ...     da.from_array(part, chunks=(1000, *part.shape[1:]))
    ...     for part in (data.X, data.y, per_row(fn=data.amount, fp=5))
    ... )
    >>> with Client(n_workers=2, threads_per_worker=1) as client:  # doctest: +SKIP
    ...     model = DaskCostBoostClassifier(client=client, random_state=0).fit(X, y, costs=costs)
    ...     print(model.score(X, y, costs=costs) > 0.2)
    True
    """

    _rules: ClassVar[Mapping[str, Constraint]] = {**RULES, "worker_timeout": number(1)}
    _local: CostBoostClassifier

    def __init__(
        self,
        cost_matrix: Any = None,
        *,
        loss: Any = "auto",
        decision: Literal["auto", "bayes", "learned"] = "auto",
        risk: Literal["expected", "worst"] = "expected",
        n_estimators: int = 1000,
        learning_rate: float | Literal["auto"] = "auto",
        max_leaves: int | Literal["auto"] = "auto",
        min_samples_leaf: int | Literal["auto"] = "auto",
        reg_lambda: float = 5.0,
        subsample: float = 0.8,
        colsample: float = 0.8,
        early_stopping: bool = True,
        patience: int = 50,
        validation_fraction: float = 0.2,
        calibration: Literal["temperature"] | None = "temperature",
        engine_params: dict[str, Any] | None = None,
        device: str = "cpu",
        random_state: Any = None,
        verbose: int = 0,
        worker_timeout: float = SILENCE,
        client: Any = None,
    ) -> None:
        self.cost_matrix = cost_matrix
        self.loss = loss
        self.decision = decision
        self.risk = risk
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaves = max_leaves
        self.min_samples_leaf = min_samples_leaf
        self.reg_lambda = reg_lambda
        self.subsample = subsample
        self.colsample = colsample
        self.early_stopping = early_stopping
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.calibration = calibration
        self.engine_params = engine_params
        self.device = device
        self.random_state = random_state
        self.verbose = verbose
        self.worker_timeout = worker_timeout
        self.client = client

    # -- fit ------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, costs: Any = None) -> Self:
        """Fit the boosters.

        Parameters
        ----------
        X : dask array of shape (n, d) or dask DataFrame
            The rows. NaN is a missing value; columns of text must be categories known to all
            partitions (``X.categorize()``).
        y : dask array or Series of shape (n,)
            Their true classes.
        sample_weight : dask array or Series of shape (n,), optional
            Weights of the rows.
        costs : dask array of shape (n, k, k), (n, k) or (n,), optional
            Costs of the rows, as in `CostBoostClassifier.fit`.

        Returns
        -------
        self
            The fitted classifier.

        Raises
        ------
        WorkerLostError
            If a worker died during the training, or one was silent for ``worker_timeout`` seconds.

        Notes
        -----
        ``y``, ``costs`` and ``sample_weight`` must have the partitions of ``X``. Arrays of known
        chunks are brought into them; arrays in memory too, if the chunks of ``X`` are known.
        """
        check_parameters(self)
        settings = Settings.of(self)
        client = client_for(self.client, settings.owner)
        source = DaskSource(
            client, X, y, costs, sample_weight, self.cost_matrix, settings, self.worker_timeout
        )
        arguments = self.get_params(deep=False)
        del arguments["client"], arguments["worker_timeout"]
        local = CostBoostClassifier(engine="xgboost", ensemble=1, **arguments)
        local.adopt(train(source, settings))
        kept = {name: value for name, value in self.__dict__.items() if name not in _RESULTS}
        found = {name: getattr(local, name) for name in _RESULTS if hasattr(local, name)}
        self.__dict__ = {**kept, **found, "_local": local}
        return self

    # -- predict --------------------------------------------------------------------------------

    def predict(self, X: Any, costs: Any = None) -> Any:
        """The decision of smallest expected cost for each row, computed when asked for.

        Parameters
        ----------
        X : dask array of shape (n, d) or dask DataFrame
            The rows.
        costs : dask array of shape (n, k, k), optional
            The rows' own cost matrices, where they are known; as in `CostBoostClassifier.predict`.

        Returns
        -------
        dask array or Series of shape (n,)
            Labels of ``decisions_``; a Series with the index of X if X is a DataFrame.
        """
        check_is_fitted(self)
        table = as_table(X, type(self).__name__)
        rows, given = aligned(table, type(self).__name__, costs=costs)
        model = delayed(self._local)
        parts = [delayed(serving.decisions)(model, *part) for part in zip(rows, given, strict=True)]
        return like(table, parts, None, self.decisions_.dtype)

    def predict_proba(self, X: Any) -> Any:
        """Calibrated class probabilities, computed when asked for.

        Parameters
        ----------
        X : dask array of shape (n, d) or dask DataFrame
            The rows.

        Returns
        -------
        dask array or DataFrame of shape (n, k)
            A column per class, in the order of ``classes_``.
        """
        check_is_fitted(self)
        table = as_table(X, type(self).__name__)
        if not hasattr(self._local, "predict_proba"):
            raise AttributeError(
                f"{type(self).__name__}(decision='learned') knows no probabilities. Use "
                "decision='auto'."
            )
        model = delayed(self._local)
        (rows,) = aligned(table, type(self).__name__)
        parts = [delayed(serving.probabilities)(model, part) for part in rows]
        return like(table, parts, self.classes_.tolist(), np.float64)

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, costs: Any = None) -> float:
        """Savings: 1 - cost / cost of the best constant decision.

        Parameters
        ----------
        X : dask array of shape (n, d) or dask DataFrame
            The rows.
        y : dask array or Series of shape (n,)
            Their true classes, all of them among ``classes_``.
        costs : dask array of shape (n, k, k), (n, k) or (n,), optional
            Costs of the rows. Of shape (n, k, k) they are known at decision time, so the
            decisions use them too, unless they were learned; the other forms only price them.
        sample_weight : dask array or Series of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        float
            1 if nothing was paid, 0 if as much as for the best constant decision, below 0 if more.
        """
        check_is_fitted(self)
        owner = type(self).__name__
        if costs is None and self._local._fitted_costs[1] == "rows":
            raise ValueError(
                f"{owner} was fitted with costs of single rows, so score needs the costs of these "
                "rows: pass costs=."
            )
        table = as_table(X, owner)
        parts = aligned(table, owner, y=y, costs=costs, sample_weight=sample_weight)
        model = delayed(self._local)
        paid = [delayed(serving.costs_paid)(model, *part) for part in zip(*parts, strict=True)]
        found: list[Floats] = gather(
            client_for(self.client, owner), paid, "adding up the costs", owner, self.worker_timeout
        )
        cost, *constants = np.sum(found, axis=0)
        return savings(float(cost), np.asarray(constants))

    def to_local(self) -> CostBoostClassifier:
        """The fitted classifier for data in memory, which needs no cluster and no Dask.

        Returns
        -------
        CostBoostClassifier
            The same boosters, costs and calibration.
        """
        check_is_fitted(self)
        return copy.deepcopy(self._local)

    # -- inspection -----------------------------------------------------------------------------

    @property
    def boosters_(self) -> list[Any]:
        """XGBoost's boosters; those of the probabilities if there are two heads."""
        check_is_fitted(self)
        return self._local.boosters_

    @property
    def booster_(self) -> Any:
        """The booster; of the probabilities if there are two heads."""
        check_is_fitted(self)
        return self._local.booster_

    @property
    def temperature_(self) -> float:
        """Factor that calibrates the scores."""
        check_is_fitted(self)
        return self._local.temperature_

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the gain of all splits."""
        check_is_fitted(self)
        return self._local.feature_importances_

    def __sklearn_is_fitted__(self) -> bool:
        return "_local" in self.__dict__

    def __sklearn_clone__(self) -> DaskCostBoostClassifier:
        """A copy that is not fitted, on the same cluster: a client cannot be copied."""
        arguments = self.get_params(deep=False)
        client = arguments.pop("client")
        return type(self)(
            **{name: clone(value, safe=False) for name, value in arguments.items()}, client=client
        )

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {**state, "client": None}
