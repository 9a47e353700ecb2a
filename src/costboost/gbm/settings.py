"""The parameters of a training, frozen, and the rules for what they may be."""

from __future__ import annotations

from dataclasses import dataclass, fields
from importlib.util import find_spec
from typing import Any, ClassVar, Literal, Self

import numpy as np

from costboost._threads import n_threads
from costboost._validation import (
    BOOLEAN,
    FRACTION,
    LEARNING_RATE,
    N_JOBS,
    VERBOSE,
    Constraint,
    integer,
    is_integer,
    number,
    one_of,
    share,
)
from costboost.gbm.engines.base import Engine, Growth

__all__ = ["RULES", "Settings"]


def _is_folds(value: Any) -> bool:
    return value is None or hasattr(value, "split") or hasattr(value, "__iter__")


RULES: dict[str, Constraint] = {
    "n_estimators": integer(1),
    "max_leaves": integer(2),
    "learning_rate": LEARNING_RATE,
    "n_jobs": N_JOBS,
    "verbose": VERBOSE,
    "engine": one_of("lightgbm", "xgboost"),
    "decision": one_of("auto", "bayes", "learned"),
    "risk": one_of("expected", "worst"),
    "cost_columns": one_of("features", "exclude"),
    "min_samples_leaf": Constraint(
        "an integer >= 1 or 'auto'", lambda v: v == "auto" or (is_integer(v) and v >= 1)
    ),
    "reg_lambda": number(0),
    "subsample": FRACTION,
    "colsample": FRACTION,
    "early_stopping": BOOLEAN,
    "patience": integer(1),
    "ensemble": integer(1),
    "cv": Constraint(
        "None, a splitter or an iterable of (rows, held-out rows); for a number of folds use "
        "ensemble",
        lambda v: _is_folds(v) and not isinstance(v, str),
    ),
    "validation_fraction": share(),
    "calibration": one_of("temperature", None),
    "engine_params": Constraint("None or a dict", lambda v: v is None or isinstance(v, dict)),
    "device": Constraint("a string", lambda v: isinstance(v, str)),
    "warm_start": BOOLEAN,
}


@dataclass(frozen=True, eq=False)
class Settings:
    """Parameters of an estimator, as they were when ``fit`` was called.

    Attributes
    ----------
    owner : str
        Name of the estimator, for messages.
    loss, decision, n_estimators, ... : object
        Its parameters, as `costboost.CostBoostClassifier` documents them.
    """

    owner: str
    loss: Any
    decision: Literal["auto", "bayes", "learned"]
    n_estimators: int
    learning_rate: float
    max_leaves: int
    min_samples_leaf: int | Literal["auto"]
    reg_lambda: float
    subsample: float
    colsample: float
    early_stopping: bool
    patience: int
    validation_fraction: float
    calibration: str | None
    engine_params: dict[str, Any] | None
    device: str
    random_state: Any
    verbose: int
    # What only tables in memory leave open.
    engine: str = "xgboost"
    ensemble: int = 1
    cv: Any = None
    warm_start: bool = False
    n_jobs: int | None = None

    largest_seed: ClassVar[int] = int(np.iinfo(np.int32).max)

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """The parameters of an estimator.

        Parameters
        ----------
        estimator : estimator
            With checked parameters.

        Returns
        -------
        Settings
            Those of its parameters that a training needs.
        """
        given = estimator.get_params(deep=False)
        known = {f.name: given[f.name] for f in fields(cls) if f.name in given}
        return cls(owner=type(estimator).__name__, **known)

    @property
    def stopping_patience(self) -> int:
        """Rounds without a smaller held-out loss that end a training; 0 if none do."""
        return self.patience if self.early_stopping else 0

    def growth(self, n_rows: int) -> Growth:
        """How trees are grown on so many rows."""
        leaf = self.min_samples_leaf
        return Growth(
            learning_rate=self.learning_rate,
            max_leaves=self.max_leaves,
            min_samples_leaf=int(np.clip(n_rows // 100, 5, 50)) if leaf == "auto" else int(leaf),
            reg_lambda=self.reg_lambda,
            subsample=self.subsample,
            colsample=self.colsample,
        )

    def make_engine(self, n_rows: int, *, own_threads: bool = True) -> Engine:
        """The engine of that name, which must be installed.

        Parameters
        ----------
        n_rows : int
            Number of all rows.
        own_threads : bool, default=True
            Whether `n_jobs` says how many threads it uses; if not, the library decides.

        Returns
        -------
        Engine
            Ready to train.
        """
        if find_spec(self.engine) is None:
            raise ImportError(
                f"{self.owner}(engine={self.engine!r}) needs {self.engine}, which is not "
                'installed: pip install "costboost[gbm]"'
            )
        chosen: type[Engine]
        if self.engine == "xgboost":
            from costboost.gbm.engines.xgboost import XGBoostEngine

            chosen = XGBoostEngine
        else:
            from costboost.gbm.engines.lightgbm import LightGBMEngine

            chosen = LightGBMEngine
        return chosen(
            self.growth(n_rows),
            n_threads(self.n_jobs, n_rows) if own_threads else None,
            self.device,
            self.engine_params or {},
        )
