"""The numbers of a fit: constants, and the parameters of a classifier with "auto" resolved."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from costboost._threads import n_threads

if TYPE_CHECKING:
    from costboost.gbm.classifier import CostBoostClassifier
    from costboost.gbm.data import TrainingTable
    from costboost.gbm.members import MemberSpec
    from costboost.gbm.objectives import TrainingObjective


def by_effort(**values: float) -> Mapping[str, float]:
    """Return constants by effort, which nobody can change."""
    return field(default_factory=lambda: MappingProxyType(values))


@dataclass(frozen=True)
class Defaults:
    """Constants that were chosen on development sets, each with the benchmark that chose it."""

    # benchmarks/member_choices.py: trees where the user says nothing of them.
    max_leaves: int = 15
    min_samples_leaf: int = 5
    learning_rate: float = 0.05
    # Trees with random splits overfit less, and take larger steps.
    random_splits_rate: float = 4.0
    # CatBoost's trees are weaker than others of as many leaves.
    symmetric_rate: float = 2.0
    # CatBoost takes eight times as long as LightGBM beyond so many scores per row.
    symmetric_scores: int = 3
    # Inputs, and inputs times rows by effort, beyond which a network adds less than its time.
    network_inputs: int = 500
    network_numbers: Mapping[str, float] = by_effort(balanced=1_000_000, high=3_000_000)

    # benchmarks/classifier_choices.py: folds, and rows from which on one of them is enough, since
    # it holds out so many rows that more would change neither rounds nor weights.
    folds: int = 5
    one_fold_rows: int = 50_000
    # Rows below which effort="fast", too, has folds: one booster of few rows is too uncertain.
    fast_fold_rows: int = 2000
    # Rows from which on one booster of all rows replaces those of the folds. With fewer, their
    # average hedges: it spent less on seven small sets, and as much on sets of 1,600 to 5,000 rows.
    refit_rows: int = 2000
    # Its rounds, in those of models that saw a part of the rows.
    refit_rounds: float = 1.1
    # Time that such a booster takes, in that of all boosters of the folds.
    refit_time: float = 0.4

    # benchmarks/verdicts.py: held-out rows beyond which they are so many that the choices that they
    # make hardly favour any of them.
    part_rows: int = 10_000
    # Most held-out rows, and most numbers in their cost matrices: they are kept in memory.
    held_out_rows: int = 2**20
    held_out_numbers: int = 2**24

    # benchmarks/classifier_speed.py: rows from which on members race on a sample, the rows of that
    # sample, and the held-out rows without which they cannot tell.
    race_rows: int = 10_000
    race_sample_rows: int = 4_000
    race_held_out_rows: int = 500
    # Share of the loss that a member must save there, by effort.
    race_gain: Mapping[str, float] = by_effort(balanced=0.005, high=0.002)
    # Numbers of a table beyond which folds are trained one after the other: several copies would
    # take too much memory, and a booster of so many rows has work for all threads.
    together_numbers: int = 2**25

    # benchmarks/hidden_costs.py: models of costs. A cost that is a function of the columns could be
    # fitted ever closer; a few per cent off, it moves hardly any decision.
    cost_time: float = 0.25  # share of the time of a fit
    cost_rounds: int = 150
    cost_rate: float = 0.1
    cost_patience: int = 10
    # Entries of the cost matrix that are learned, at most; held-out rows of a class that they need.
    cost_entries: int = 16
    cost_entry_rows: int = 10


DEFAULTS = Defaults()


@dataclass(frozen=True)
class TrainingSettings:
    """The parameters of a fit, resolved once for the rows and the objective."""

    owner: str  # the class that messages name
    effort: str
    n_rows: int
    n_features: int
    n_estimators: int
    n_iter_no_change: int  # 0: no early stopping
    learning_rate: float  # of greedy trees
    cost_learning_rate: float  # of models of costs
    max_leaves: int | None  # None: as the member says
    min_samples_leaf: int
    reg_lambda: float
    subsample: float
    colsample: float
    refit: bool
    n_jobs: int | None
    verbose: int
    time_limit: float | None
    start: float  # by `time.monotonic`
    end: float = np.inf  # when the training ends
    is_local: bool = True  # False: the workers of a cluster have threads of their own
    engine_params: dict[str, Any] = field(default_factory=dict)  # by canonical names; they win

    @classmethod
    def from_estimator(
        cls,
        model: CostBoostClassifier,
        table: TrainingTable,
        objective: TrainingObjective,
        engine_params: dict[str, Any],
    ) -> TrainingSettings:
        """Resolve the parameters of a classifier."""
        n_rows = table.totals.rows
        # A round of several scores is as many trees: half as many rounds are hardly worse.
        learning_rate = DEFAULTS.learning_rate
        if objective.n_scores > 1:
            learning_rate = 2 * DEFAULTS.learning_rate
        cost_learning_rate = DEFAULTS.cost_rate
        if model.learning_rate != "auto":
            learning_rate = float(model.learning_rate)
            cost_learning_rate = learning_rate
        max_leaves = None
        if model.max_leaves != "auto":
            max_leaves = int(model.max_leaves)
        min_samples_leaf = DEFAULTS.min_samples_leaf
        if model.min_samples_leaf != "auto":
            min_samples_leaf = int(model.min_samples_leaf)
        n_iter_no_change = 0
        if model.early_stopping:
            n_iter_no_change = model.n_iter_no_change
        start = time.monotonic()
        end = np.inf
        if model.time_limit is not None:
            end = start + model.time_limit
        return cls(
            owner=table.owner,
            effort=model.effort,
            n_rows=n_rows,
            n_features=table.columns.n_features,
            n_estimators=model.n_estimators,
            n_iter_no_change=n_iter_no_change,
            learning_rate=learning_rate,
            cost_learning_rate=cost_learning_rate,
            max_leaves=max_leaves,
            min_samples_leaf=min_samples_leaf,
            reg_lambda=model.reg_lambda,
            subsample=model.subsample,
            colsample=model.colsample,
            refit=_wants_refit(model, table),
            n_jobs=model.n_jobs,
            verbose=model.verbose,
            time_limit=model.time_limit,
            start=start,
            end=end,
            is_local=table.is_local,
            engine_params=engine_params,
        )

    def learning_rate_of(self, spec: MemberSpec) -> float:
        """Return the learning rate of a member."""
        rate = self.learning_rate
        if spec.random_splits:
            rate = min(DEFAULTS.random_splits_rate * rate, 1.0)
        if spec.engine == "catboost":
            rate = min(DEFAULTS.symmetric_rate * rate, 1.0)
        return rate

    def seconds_left(self) -> float:
        """Return the seconds until the training ends."""
        return self.end - time.monotonic()

    def threads(self, n_jobs_at_once: int, *, is_single: bool) -> tuple[int, int]:
        """Return how many models are trained at a time, and the threads of each."""
        cores = n_threads(self.n_jobs)
        threads = n_threads(self.n_jobs, self.n_rows)
        is_large = self.n_rows * self.n_features > DEFAULTS.together_numbers
        on_device = self.engine_params.get("device_type", "cpu") != "cpu"
        # Callbacks, output and time limits need the rounds of one model at a time.
        if is_single or is_large or on_device or self.verbose or self.time_limit is not None:
            return 1, threads
        n_workers = min(cores, n_jobs_at_once)
        if n_workers > 1:
            threads = min(threads, max(cores // n_workers, 1))
        return n_workers, threads

    def leaving_time_for(self, cost_entries: Sequence[object]) -> TrainingSettings:
        """Return settings that leave a share of the time to models of costs, if there are any."""
        if not cost_entries or self.time_limit is None:
            return self
        return replace(self, end=self.start + (1.0 - DEFAULTS.cost_time) * self.time_limit)

    def of_costs(self, seconds: float) -> TrainingSettings:
        """Return the settings of a model of costs, which may take so many seconds."""
        return replace(
            self,
            n_estimators=min(self.n_estimators, DEFAULTS.cost_rounds),
            n_iter_no_change=min(self.n_iter_no_change, DEFAULTS.cost_patience),
            learning_rate=self.cost_learning_rate,
            verbose=0,
            end=time.monotonic() + seconds,
        )


def _wants_refit(model: CostBoostClassifier, table: TrainingTable) -> bool:
    """Return True if one model of all rows replaces those of the folds."""
    if not model.early_stopping or table.folds[0].source is None:
        return False
    chooses_folds = isinstance(model.cv, str) and model.effort != "fast"
    is_single = len(table.folds) == 1
    if is_single and not (chooses_folds and table.folds[0].held_out_rows is not None):
        return False
    if model.refit == "auto":  # who chose the folds wants to keep their boosters
        return chooses_folds and table.totals.rows >= DEFAULTS.refit_rows
    return model.refit
