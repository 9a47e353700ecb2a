"""Training by XGBoost's external memory: quantised features on disk, a few batches in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from costboost._threads import n_threads
from costboost._typing import AnyArray
from costboost.costs import Costs
from costboost.flagship.engine import Job, Watch
from costboost.flagship.fitting import growth_for, targets_for
from costboost.flagship.heads import Fold, Head, HeldOut
from costboost.flagship.parquet.files import ParquetFiles
from costboost.flagship.parquet.rows import Batch, Source
from costboost.flagship.parquet.survey import Split, Survey, survey
from costboost.flagship.progress import booster_progress
from costboost.flagship.targets import Target, WorthPart, worths
from costboost.gbm.objectives import Derivatives

try:
    import xgboost as xgb
except ImportError as error:
    raise ImportError(
        'fit_parquet needs xgboost, which is not installed: pip install "costboost[gbm]"'
    ) from error

from costboost.flagship.xgboost_engine import (
    AfterRound,
    XGBoostModel,
    feature_types,
    first_hessian,
    held_out_metric,
    shared_parameters,
)

if TYPE_CHECKING:
    from costboost.flagship.estimator import CostBoostClassifier

__all__ = ["fit_parquet"]

# Rows whose gradients are computed at once, in double precision.
_GRADIENT_ROWS = 2**16


def fit_parquet(
    model: CostBoostClassifier,
    paths: Any,
    target: str,
    costs: Any,
    sample_weight: str | None,
    features: Sequence[str] | None,
    batch_rows: int | None,
) -> None:
    """Fit a classifier on Parquet files; see `CostBoostClassifier.fit_parquet`.

    Parameters
    ----------
    model : CostBoostClassifier
        The classifier, whose arguments have been checked.
    paths : str, path, or sequence of them
        The files.
    target : str
        Column of the true classes.
    costs : None, str, mapping or callable
        Costs of the rows.
    sample_weight : str or None
        Column of weights.
    features : sequence of str or None
        Feature columns.
    batch_rows : int or None
        Rows of a batch.
    """
    owner = f"{type(model).__name__}.fit_parquet"
    _check_supported(model, owner)
    files = ParquetFiles(paths, owner)
    source = Source(model, files, target, costs, sample_weight, features, batch_rows)
    model.classes_ = source.classes
    model._check_classes()
    rng = check_random_state(model.random_state)
    largest = np.iinfo(np.int32).max
    holds_out = model.early_stopping and files.n_rows * model.validation_fraction >= 1
    split = Split.bounded(
        model.validation_fraction if holds_out else 0.0,
        files.n_rows,
        len(source.classes),
        int(rng.randint(largest)) if holds_out else 0,
    )
    seed = int(rng.randint(largest))
    found = survey(source, split)
    if not found.n_train:
        raise ValueError(
            f"{owner} holds out validation_fraction={model.validation_fraction} of the rows, and "
            f"of {found.n_rows} none is left to train on. Lower it, or set early_stopping=False."
        )
    model.cost_matrix_ = found.mean_matrix
    model._frame = source.encoder()
    model.feature_names_in_ = np.asarray(source.features, dtype=object)
    model.n_features_in_ = len(source.features)
    # For a warm start on the same rows in memory: all of them, none held out.
    model._plan, model._used = [(Fold(None, None), seed)], (files.n_rows, files.n_rows)
    heads, held_out = _fit_heads(model, source, split, found, seed)
    known = Costs(source.classes, found.mean_matrix) if found.held_out is None else found.held_out
    model._keep(heads, held_out, known, found.held_out_weights)


def _check_supported(model: CostBoostClassifier, owner: str) -> None:
    """Refuse what cannot be trained from disk, with the way out."""
    name = type(model).__name__
    refused = [
        (
            model.engine != "xgboost",
            f"engine={model.engine!r}",
            "LightGBM keeps all binned rows in memory. Set engine='xgboost'",
        ),
        (
            model.ensemble != 1 or model.cv is not None,
            f"ensemble={model.ensemble}, cv={model.cv!r}",
            "each booster would need its own copy on disk. Set ensemble=1 and cv=None; with so "
            "many rows one booster is enough",
        ),
        (
            model.loss != "auto",
            f"loss={model.loss!r}",
            "its gradients need the costs of all rows in memory. Set loss='auto'",
        ),
        (model.warm_start, "warm_start=True", "set warm_start=False to train anew"),
        (
            model.device != "cpu",
            f"device={model.device!r}",
            "it reads batches into the memory of the processor. Set device='cpu', or use fit or "
            "costboost.dask for GPUs",
        ),
    ]
    for is_refused, given, why in refused:
        if is_refused:
            raise ValueError(f"{owner} cannot train {name}({given}): {why}.")
    if not hasattr(xgb, "ExtMemQuantileDMatrix"):
        raise ImportError(
            f"{owner} needs xgboost 3.0 or later, got {xgb.__version__}: "
            'pip install --upgrade "xgboost>=3"'
        )


def _fit_heads(
    model: CostBoostClassifier, source: Source, split: Split, found: Survey, seed: int
) -> tuple[dict[str, Head], dict[str, HeldOut]]:
    """Train a head per target, as `costboost.flagship.fitting.fit_heads` does in memory."""
    k = len(source.classes)
    rows = None
    # Without held-out rows, any rows tell which heads there are and how many scores they have.
    watched, weights = Costs(source.classes, 1.0 - np.eye(k), codes=np.arange(k)), np.ones(k)
    if found.held_out is not None and found.held_out.reduced.any():
        watched, weights = found.held_out, found.held_out_weights
        rows = np.arange(len(weights))
    targets = targets_for(model, watched, weights, have_row_costs=source.priced.costs is not None)
    types = feature_types(len(source.features), source.categorical)
    heads: dict[str, Head] = {}
    held_out: dict[str, HeldOut] = {}
    with booster_progress(
        type(model).__name__, len(targets), model.n_estimators, model.verbose
    ) as bar:
        for name, target in targets.items():
            bill = None if rows is None else _bill(model, name, watched)
            job = Job(None, rows, model.n_estimators, model.patience, seed, None, bar(bill))
            training = _Training(model, source, split, found, name, target, types)
            booster, scores = training.run(job)
            heads[name] = Head([XGBoostModel(booster, types)])
            if rows is not None and scores is not None:
                held_out[name] = HeldOut(rows, scores)
    return heads, held_out


def _bill(model: CostBoostClassifier, head: str, costs: Costs) -> Callable[[AnyArray], float]:
    """Mean bill of the held-out rows as a function of their scores."""
    return lambda scores: float(costs.paid(model._decide(head, scores, costs)).mean())


class _Training:
    """The training of one head."""

    def __init__(
        self,
        model: CostBoostClassifier,
        source: Source,
        split: Split,
        found: Survey,
        head: str,
        target: Target,
        types: list[str] | None,
    ) -> None:
        self.model = model
        self.source = source
        self.split = split
        self.found = found
        self.head = head
        self.target = target
        self.types = types
        self.threads = n_threads(model.n_jobs, found.n_rows)

    def run(self, job: Job) -> tuple[xgb.Booster, AnyArray | None]:
        """The booster, cut at its best round, and its scores of the held-out rows."""
        options: dict[str, Any] = {}
        watch = None
        with tempfile.TemporaryDirectory(prefix="costboost-") as folder:
            train = self._data(Path(folder) / "train", held_out=False)
            if job.held_out is not None:
                watch = Watch(self.target, job, np.empty((0, 0)))
                options = {
                    "evals": [(self._data(Path(folder) / "held_out", True, train), "held_out")],
                    "custom_metric": held_out_metric(watch, self.target.is_log_loss),
                    "verbose_eval": False,
                }
            if not self.target.is_log_loss:
                options["obj"] = _WorthObjective(*self._worths())
            booster = xgb.train(
                self._parameters(job.seed),
                train,
                num_boost_round=job.n_estimators,
                callbacks=[AfterRound(watch, job)],
                **options,
            )
            if watch is not None and watch.best_round < booster.num_boosted_rounds():
                booster = booster[: watch.best_round]
            # The booster lets go of the rows, so that their files can be removed.
            booster.reset()
            del train, options
        return booster, None if watch is None else watch.best_scores

    def _parameters(self, seed: int) -> dict[str, Any]:
        growth = growth_for(self.model, self.found.n_rows)
        masses = self.found.masses[self.head]
        return {
            **shared_parameters(growth, self.target.n_scores, self.target.is_log_loss),
            "min_child_weight": growth.min_samples_leaf * first_hessian(masses),
            "nthread": self.threads,
            "seed": seed,
            **(self.model.engine_params or {}),
        }

    def _data(
        self, cache: Path, held_out: bool, reference: xgb.DMatrix | None = None
    ) -> xgb.ExtMemQuantileDMatrix:
        """Rows quantised into files, read when they are needed."""

        def batches() -> Generator[dict[str, Any], None, None]:
            for batch in self.source.batches(features=True):
                rows = self.split.rows(batch, held_out)
                if len(rows):
                    yield self._named(batch, rows)

        return xgb.ExtMemQuantileDMatrix(
            _Batches(batches, cache, self.types),
            ref=reference,
            enable_categorical=self.types is not None,
            max_bin=(self.model.engine_params or {}).get("max_bin"),
            nthread=self.threads,
        )

    def _named(self, batch: Batch, rows: AnyArray) -> dict[str, Any]:
        """Features, labels and weights of some rows of a batch, by XGBoost's names."""
        assert batch.X is not None
        labels, weights = batch.codes[rows], batch.weights[rows]
        if self.head == "decision":
            costs = batch.costs.take(rows)
            labels = costs.labels
            if self.target.is_log_loss:
                weights = weights * worths(costs).sum(axis=1) / self.found.worth
        return {"data": batch.X[rows], "label": labels, "weight": weights}

    def _worths(self) -> tuple[AnyArray, AnyArray]:
        """Worths and weights of the training rows, in single precision."""
        found = self.found
        held = np.empty((found.n_train, self.target.n_scores), dtype=np.float32)
        weights = np.empty(found.n_train, dtype=np.float32)
        at = 0
        for batch in self.source.batches(features=False):
            rows = self.split.rows(batch, held_out=False)
            place = slice(at, at + len(rows))
            held[place] = worths(batch.costs.take(rows)) / found.worth
            weights[place] = batch.weights[rows]
            at += len(rows)
        return held, weights


class _WorthObjective:
    """The cross entropy of worths, as XGBoost's objective, a slice of the rows at a time."""

    def __init__(self, worth: AnyArray, weights: AnyArray) -> None:
        self.worth = worth
        self.weights = weights

    def __call__(self, scores: AnyArray, _: Any) -> Derivatives:
        gradient, hessian = np.empty_like(self.worth), np.empty_like(self.worth)
        for start in range(0, len(scores), _GRADIENT_ROWS):
            some = slice(start, start + _GRADIENT_ROWS)
            part = WorthPart(self.worth[some].astype(np.float64), self.weights[some])
            gradient[some], hessian[some] = part.derivatives(scores[some])
        return gradient, hessian


class _Batches(xgb.DataIter):
    """Batches as XGBoost asks for them."""

    def __init__(
        self,
        batches: Callable[[], Generator[dict[str, Any], None, None]],
        cache: Path,
        types: list[str] | None,
    ) -> None:
        self.batches = batches
        self.types = types
        self.current = batches()
        super().__init__(cache_prefix=str(cache))

    def next(self, input_data: Callable[..., None]) -> bool:
        """Hand over a batch; False if there is none left."""
        named = next(self.current, None)
        if named is None:
            return False
        input_data(**named, feature_types=self.types)
        return True

    def reset(self) -> None:
        """Start from the first file."""
        self.current.close()
        self.current = self.batches()
