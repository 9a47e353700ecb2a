"""The parameters of `CostBoostClassifier`: their rules, and what LightGBM and XGBoost call them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache, wraps
from inspect import signature
from typing import Any, TypeVar

import numpy as np

from costboost._utils import (
    BOOLEAN,
    COLUMNS,
    FRACTION,
    LEARNING_RATE,
    N_JOBS,
    VERBOSE,
    Constraint,
    integer,
    is_real,
    number,
    one_of,
    share,
)
from costboost.columns import Columns

# Categories of a column that engines split off one at a time.
ONE_HOT = 64

OwnerT = TypeVar("OwnerT")


def _or(other: str | None, rule: Constraint) -> Constraint:
    return Constraint(f"{rule.words} or {other!r}", lambda v: v == other or rule.holds(v))


def _are_folds(value: object) -> bool:
    return integer(2).holds(value) or hasattr(value, "split") or np.iterable(value)


RULES: dict[str, Constraint] = {
    "n_estimators": integer(1),
    "effort": one_of("fast", "balanced", "high"),
    "time_limit": _or(None, Constraint("a number of seconds > 0", lambda v: is_real(v) and v > 0)),
    "refit": _or("auto", BOOLEAN),
    "max_leaves": _or("auto", integer(2)),
    "learning_rate": _or("auto", LEARNING_RATE),
    "n_jobs": N_JOBS,
    "verbose": VERBOSE,
    "costs_known": _or("auto", BOOLEAN),
    "cost_columns": one_of("features", "exclude"),
    "columns": COLUMNS,
    "min_samples_leaf": _or("auto", integer(1)),
    "reg_lambda": number(0),
    "subsample": FRACTION,
    "colsample": FRACTION,
    "early_stopping": BOOLEAN,
    "n_iter_no_change": integer(1),
    "cv": Constraint(
        "'auto', an integer >= 2, a splitter or an iterable of (rows, held-out rows)",
        lambda v: v == "auto" if isinstance(v, str) else _are_folds(v),
    ),
    "validation_fraction": share(),
    "calibration": one_of("temperature", None),
    "engine_params": Constraint("None or a dict", lambda v: v is None or isinstance(v, dict)),
}

# Other names of the parameters that XGBoost is given here: a user's own must win by any name.
# LightGBM has a table of its own.
_XGBOOST_ALIASES = {
    "eta": "learning_rate",
    "lambda": "reg_lambda",
    "n_jobs": "nthread",
    "random_state": "seed",
}
# Parameters of an engine that say what a model may do, not how it is found.
CONSTRAINTS = frozenset(
    ["monotone_constraints", "interaction_constraints", "feature_contri", "forcedsplits_filename"]
)
# LightGBM's own names, to which its other names lead, -> the names here.
_NAMES = {
    "num_leaves": "max_leaves",
    "min_data_in_leaf": "min_samples_leaf",
    "lambda_l2": "reg_lambda",
    "bagging_fraction": "subsample",
    "feature_fraction": "colsample",
    "seed": "random_state",
    "num_threads": "n_jobs",
    "verbosity": "verbose",
    "objective": "loss",
    "num_iterations": "n_estimators",
    "early_stopping_round": "n_iter_no_change",
}
_WEIGHTS_OF_CLASSES = ("class_weight", "class_weights", "scale_pos_weight", "is_unbalance")


@cache
def aliases(engine: str) -> dict[str, str]:
    """Names of an engine's parameters -> those that are used here."""
    if engine == "xgboost":
        return _XGBOOST_ALIASES
    import lightgbm as lgb

    known = lgb.basic._ConfigAliases._get_all_param_aliases()
    return {alias: name for name, others in known.items() for alias in (name, *others)}


def canonical(parameters: Mapping[str, Any], engine: str) -> dict[str, Any]:
    """A user's parameters of an engine, by the names that are used here."""
    return {aliases(engine).get(name, name): value for name, value in parameters.items()}


def resolved(
    engine_params: Mapping[str, Any] | None, columns: Columns, owner: str, engine: str
) -> dict[str, Any]:
    """Return the user's parameters of the engine, by the names used here; signs by position."""
    if not engine_params:
        return {}
    unknown = _unknown(engine_params, engine)
    if unknown:
        near = get_close_matches(unknown, aliases(engine), n=1)
        raise ValueError(
            f"The 'engine_params' parameter of {owner} has {unknown!r}, which {engine} does "
            f"not know. {f'Did you mean {near[0]!r}?' if near else 'Leave it out.'}"
        )
    parameters = canonical(engine_params, engine)
    wanted = parameters.get("monotone_constraints")
    if isinstance(wanted, Mapping):
        names = [column.name for column in columns]
        sources = [names[place] for place in columns.sources]
        strange = [column for column in wanted if column not in sources]
        if strange:
            raise ValueError(
                f"'monotone_constraints' in engine_params of {owner} names {strange[0]!r}, which "
                f"is no column that the model uses. The columns are {list(dict.fromkeys(sources))}."
            )
        signs = [int(wanted.get(column, 0)) for column in sources]
        parameters["monotone_constraints"] = tuple(signs) if engine == "xgboost" else signs
    return parameters


def _unknown(parameters: Mapping[str, Any], engine: str) -> str | None:
    """A parameter that the engine would ignore in silence."""
    if engine == "lightgbm":
        return next((name for name in parameters if name not in aliases(engine)), None)
    import xgboost as xgb

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        rows = xgb.DMatrix(np.zeros((2, 1)), label=[0.0, 1.0])
        own = {name: v for name, v in parameters.items() if name not in CONSTRAINTS}
        xgb.train({**own, "verbosity": 1, "nthread": 1}, rows, 1)
    found = re.search(r'Parameters: \{ "(\w+)"', " ".join(str(w.message) for w in told))
    return found[1] if found else None


def hint(name: str, known: list[str]) -> str:
    """What to write instead of an unknown parameter."""
    if name in _WEIGHTS_OF_CLASSES:
        return "Say what errors cost: cost_matrix={'fn': ..., 'fp': ...}."
    own = aliases("lightgbm").get(name, "")
    if (found := _NAMES.get(own, own)) in known:
        return f"Here it is called {found!r}."
    if own:
        return f"It belongs to LightGBM: pass engine_params={{{name!r}: ...}}."
    near = get_close_matches(name, known, n=1)
    return f"Did you mean {near[0]!r}?" if near else f"The parameters are {known}."


def with_hints(cls: type[OwnerT]) -> type[OwnerT]:
    """A class whose constructor says what to write instead of an unknown parameter."""
    # The signature stays the one of ``__init__``, as scikit-learn asks for.
    init: Any = cls.__init__
    known = list(signature(init).parameters)[1:]

    @wraps(init)
    def checked(self: OwnerT, /, *args: Any, **options: Any) -> None:
        for name in options:
            if name not in known:
                raise TypeError(f"{cls.__name__} has no parameter {name!r}. {hint(name, known)}")
        init(self, *args, **options)

    cls.__init__ = checked  # type: ignore[assignment]
    return cls
