"""The parameters of a training, frozen, and the rules for what they may be."""

from __future__ import annotations

from dataclasses import dataclass, fields
from importlib import import_module
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
    is_real,
    number,
    one_of,
    share,
)
from costboost.gbm.engines.base import Engine, Growth
from costboost.gbm.members import Recipe

__all__ = ["RULES", "Settings"]


# Where the parameters are "auto".
_USUAL_LEAVES = 15
_USUAL_LEAF = 5
_USUAL_FOLDS = 5
_USUAL_RATE = 0.05
_ENGINES = {
    "lightgbm": ("costboost.gbm.engines.lightgbm", "LightGBMEngine"),
    "xgboost": ("costboost.gbm.engines.xgboost", "XGBoostEngine"),
    "catboost": ("costboost.gbm.engines.catboost", "CatBoostEngine"),
    "linear": ("costboost.gbm.engines.linear", "LinearEngine"),
    "network": ("costboost.gbm.engines.network", "NetworkEngine"),
    "forest": ("costboost.gbm.engines.forest", "ForestEngine"),
}
# Engines that need no library of their name.
_OWN = ("linear", "network", "forest")
_EXTRAS = {"lightgbm": "gbm", "xgboost": "gbm", "catboost": "catboost"}


def _is_folds(value: Any) -> bool:
    return value is None or hasattr(value, "split") or hasattr(value, "__iter__")


RULES: dict[str, Constraint] = {
    "n_estimators": integer(1),
    "effort": one_of("fast", "balanced", "high"),
    "time_limit": Constraint(
        "None or a number of seconds > 0", lambda v: v is None or (is_real(v) and v > 0)
    ),
    "refit": Constraint(
        "a boolean or 'auto'", lambda v: isinstance(v, bool | np.bool_) or v == "auto"
    ),
    "max_leaves": Constraint(
        "an integer >= 2 or 'auto'", lambda v: v == "auto" or (is_integer(v) and v >= 2)
    ),
    "learning_rate": Constraint(
        f"{LEARNING_RATE.words} or 'auto'", lambda v: v == "auto" or LEARNING_RATE.holds(v)
    ),
    "n_jobs": N_JOBS,
    "verbose": VERBOSE,
    "engine": one_of("lightgbm", "xgboost", "catboost"),
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
    "ensemble": Constraint(
        "an integer >= 1 or 'auto'", lambda v: v == "auto" or (is_integer(v) and v >= 1)
    ),
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
    """Parameters of an estimator, as they were when ``fit`` was called."""

    owner: str
    loss: Any
    decision: Literal["auto", "bayes", "learned"]
    n_estimators: int
    learning_rate: float | Literal["auto"]
    max_leaves: int | Literal["auto"]
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
    effort: Literal["fast", "balanced", "high"] = "fast"
    time_limit: float | None = None
    refit: bool | Literal["auto"] = False
    ensemble: int | Literal["auto"] = 1
    cv: Any = None
    warm_start: bool = False
    n_jobs: int | None = None

    largest_seed: ClassVar[int] = int(np.iinfo(np.int32).max)

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """The parameters of an estimator."""
        given = estimator.get_params(deep=False)
        known = {f.name: given[f.name] for f in fields(cls) if f.name in given}
        return cls(owner=type(estimator).__name__, **known)

    @property
    def stopping_patience(self) -> int:
        """Rounds without a smaller held-out loss that end a training; 0 if none do."""
        return self.patience if self.early_stopping else 0

    @property
    def n_folds(self) -> int:
        """Models of each kind, one per fold; 1 holds out a share of the rows."""
        if self.ensemble == "auto":
            return 1 if self.effort == "fast" else _USUAL_FOLDS
        return int(self.ensemble)

    def growth(self, n_scores: int) -> Growth:
        """How trees are grown, where the user left it open as is usual."""
        leaf, leaves = self.min_samples_leaf, self.max_leaves
        # A round of several scores is as many trees: half as many rounds are hardly worse.
        usual = _USUAL_RATE if n_scores == 1 else 2 * _USUAL_RATE
        return Growth(
            learning_rate=usual if self.learning_rate == "auto" else float(self.learning_rate),
            max_leaves=_USUAL_LEAVES if leaves == "auto" else int(leaves),
            min_samples_leaf=_USUAL_LEAF if leaf == "auto" else int(leaf),
            reg_lambda=self.reg_lambda,
            subsample=self.subsample,
            colsample=self.colsample,
        )

    def make_engine(self, recipe: Recipe, n_rows: int, *, own_threads: bool = True) -> Engine:
        """The engine of a kind of model, which must be installed."""
        chosen = self._engine_class(recipe.engine)
        return chosen(
            recipe.growth,
            n_threads(self.n_jobs, n_rows) if own_threads else None,
            self.device,
            # The user's own parameters are for the engine that the user chose.
            (self.engine_params or {}) if recipe.engine == self.engine else {},
        )

    def _engine_class(self, name: str) -> type[Engine]:
        if name not in _OWN and find_spec(name) is None:
            raise ImportError(
                f"{self.owner}(engine={name!r}) needs {name}, which is not installed: "
                f'pip install "costboost[{_EXTRAS[name]}]"'
            )
        module, engine = _ENGINES[name]
        found: type[Engine] = getattr(import_module(module), engine)
        return found
