"""XGBoost as an engine of the flagship."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats, Ints
from costboost.flagship.engine import Engine, Growth, Job, Model, Watch
from costboost.flagship.targets import Target

__all__ = [
    "AfterRound",
    "XGBoostEngine",
    "XGBoostModel",
    "feature_types",
    "first_hessian",
    "held_out_metric",
    "shared_parameters",
]


class XGBoostEngine(Engine):
    """Boosters by XGBoost, grown leaf by leaf on histograms."""

    def train(
        self, X: AnyArray, categorical: list[int], target: Target, job: Job
    ) -> tuple[XGBoostModel, Floats | None]:
        """Train one booster."""
        types = feature_types(X.shape[1], categorical)

        def data(rows: Ints | None, reference: xgb.DMatrix | None = None) -> xgb.QuantileDMatrix:
            picked: Any = slice(None) if rows is None else rows
            return xgb.QuantileDMatrix(
                X[picked],
                label=target.labels[picked],
                weight=target.weights[picked],
                ref=reference,
                max_bin=self.parameters.get("max_bin"),
                feature_types=types,
                enable_categorical=bool(categorical),
                nthread=self.threads,
            )

        train, watch = data(job.rows), None
        watched: dict[str, Any] = {}
        if job.watched is not None:
            watch = Watch(target, job, X)
            watched = {
                "evals": [(data(job.watched, train), "held_out")],
                "custom_metric": held_out_metric(watch, target.is_log_loss),
                "verbose_eval": False,
            }
        if not target.is_log_loss:
            part = target.part(slice(None) if job.rows is None else job.rows)
            watched["obj"] = lambda scores, _: part.derivatives(scores)
        booster = xgb.train(
            self._parameters(target, job),
            train,
            num_boost_round=job.rounds_to_go,
            xgb_model=None if job.start is None else job.start.booster,
            callbacks=[AfterRound(watch, job)],
            **watched,
        )
        if watch is not None and watch.best_round < booster.num_boosted_rounds():
            booster = booster[: watch.best_round]
        return XGBoostModel(booster, types), None if watch is None else watch.best_scores

    def _parameters(self, target: Target, job: Job) -> dict[str, Any]:
        masses = np.bincount(target.labels, target.weights, minlength=max(target.n_scores, 2))
        return {
            **shared_parameters(self.growth, target.n_scores, target.is_log_loss),
            "min_child_weight": self.growth.min_samples_leaf * first_hessian(masses),
            "nthread": self.threads,
            "device": self.device,
            "seed": job.fresh_seed,
            **self.parameters,
        }


def shared_parameters(growth: Growth, n_scores: int, is_log_loss: bool) -> dict[str, Any]:
    """Parameters of XGBoost that do not depend on the rows."""
    parameters: dict[str, Any] = {
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": growth.max_leaves,
        "max_depth": 0,
        "learning_rate": growth.learning_rate,
        "reg_lambda": growth.reg_lambda,
        "subsample": growth.subsample,
        "colsample_bytree": growth.colsample,
        "disable_default_eval_metric": 1,
        "verbosity": 0,
    }
    if n_scores > 1:
        parameters["num_class"] = n_scores
    if is_log_loss:
        parameters["objective"] = "binary:logistic" if n_scores == 1 else "multi:softprob"
    else:
        parameters["base_score"] = 0.0
    return parameters


def first_hessian(masses: ArrayLike) -> float:
    """Mean Hessian of a row in the first round: it turns rows of a leaf into XGBoost's weight.

    With shares p of the classes it is the mean over classes of p (1 - p).

    Parameters
    ----------
    masses : array of shape (k,)
        Sum of the weights of each class.

    Returns
    -------
    float
        The mean Hessian.

    Examples
    --------
    >>> first_hessian([30.0, 10.0])
    0.1875
    """
    shares = np.asarray(masses) / np.sum(np.asarray(masses))
    return float((1.0 - np.square(shares).sum()) / len(shares))


def feature_types(n_features: int, categorical: list[int]) -> list[str] | None:
    """XGBoost's types of the columns; None if all are numbers."""
    if not categorical:
        return None
    return ["c" if j in set(categorical) else "q" for j in range(n_features)]


class XGBoostModel(Model):
    """An XGBoost booster.

    Parameters
    ----------
    booster : xgboost.Booster
        The booster, all of whose rounds count.
    types : list of str or None
        Types of the columns.
    """

    def __init__(self, booster: xgb.Booster, types: list[str] | None) -> None:
        self.booster = booster
        self.types = types

    @property
    def n_rounds(self) -> int:
        """Rounds kept."""
        return int(self.booster.num_boosted_rounds())

    def _matrix(self, X: AnyArray) -> xgb.DMatrix:
        return xgb.DMatrix(X, feature_types=self.types, enable_categorical=self.types is not None)

    def scores(self, X: AnyArray) -> Floats:
        """Raw scores."""
        scores = self.booster.predict(self._matrix(X), output_margin=True)
        return np.asarray(scores, dtype=np.float64)

    def staged_scores(self, X: AnyArray) -> Iterator[Floats]:
        """Raw scores after each round."""
        rows = self._matrix(X)
        for t in range(self.n_rounds):
            scores = self.booster.predict(rows, output_margin=True, iteration_range=(0, t + 1))
            yield np.asarray(scores, dtype=np.float64)

    def contributions(self, X: AnyArray) -> Floats:
        """SHAP values, (n, d + 1) or (n, k, d + 1)."""
        return np.asarray(
            self.booster.predict(self._matrix(X), pred_contribs=True), dtype=np.float64
        )

    def importances(self, n_features: int) -> Floats:
        """Total gain of each feature."""
        gains = np.zeros(n_features)
        names = self.booster.feature_names or [f"f{j}" for j in range(n_features)]
        place = {name: j for j, name in enumerate(names)}
        for name, gain in self.booster.get_score(importance_type="total_gain").items():
            gains[place[name]] = np.sum(gain)
        return gains


def held_out_metric(watch: Watch, is_log_loss: bool) -> Callable[..., tuple[str, float]]:
    """The held-out loss, as XGBoost's custom metric."""

    def loss(outputs: AnyArray, _: xgb.DMatrix) -> tuple[str, float]:
        # With an objective of its own XGBoost hands over probabilities, else raw scores.
        return "loss", watch.see(outputs, is_probability=is_log_loss)

    return loss


class AfterRound(xgb.callback.TrainingCallback):
    """Report, and stop when the loss has stopped falling."""

    def __init__(self, watch: Watch | None, job: Job) -> None:
        self.watch = watch
        self.job = job

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Whether to stop."""
        if self.watch is None:
            self.job.tell(model.num_boosted_rounds(), None)
            return False
        return self.watch.is_over
