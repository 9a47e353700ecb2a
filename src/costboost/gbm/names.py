"""What other libraries call the parameters of `CostBoostClassifier` and of the engines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from typing import Any, Concatenate, ParamSpec, TypeVar

__all__ = ["ENGINE_ALIASES", "canonical", "hint", "with_hints"]

P = ParamSpec("P")
OwnerT = TypeVar("OwnerT")

_ENGINE_ONLY = "engine_params={{{name!r}: ...}}"

# What LightGBM, XGBoost, CatBoost and scikit-learn call a parameter -> what to write here.
_SYNONYMS: dict[str, str] = {
    **dict.fromkeys(
        ("num_leaves", "num_leaf", "max_leaf", "max_leaf_nodes", "leaves"), "max_leaves"
    ),
    **dict.fromkeys(
        ("num_iterations", "num_boost_round", "n_iter", "num_round", "max_iter", "iterations"),
        "n_estimators",
    ),
    **dict.fromkeys(("eta", "shrinkage", "shrinkage_rate"), "learning_rate"),
    **dict.fromkeys(
        ("min_data_in_leaf", "min_child_samples", "min_data", "min_data_per_leaf"),
        "min_samples_leaf",
    ),
    **dict.fromkeys(("lambda_l2", "l2_regularization", "l2_leaf_reg", "reg_l2"), "reg_lambda"),
    **dict.fromkeys(("bagging_fraction", "sub_row"), "subsample"),
    **dict.fromkeys(("feature_fraction", "colsample_bytree", "max_features", "rsm"), "colsample"),
    **dict.fromkeys(
        ("early_stopping_rounds", "early_stopping_round", "n_iter_no_change", "od_wait"),
        "patience",
    ),
    **dict.fromkeys(("num_threads", "nthread", "thread_count", "n_threads"), "n_jobs"),
    **dict.fromkeys(("seed", "random_seed"), "random_state"),
    **dict.fromkeys(("verbosity", "silent"), "verbose"),
    **dict.fromkeys(("objective", "loss_function"), "loss"),
    **dict.fromkeys(("device_type", "task_type"), "device"),
    **dict.fromkeys(("n_folds", "n_splits", "bagging"), "ensemble"),
    **dict.fromkeys(("costs", "cost"), "cost_matrix"),
    **dict.fromkeys(
        (
            *("max_depth", "gamma", "min_child_weight", "reg_alpha", "lambda_l1", "max_bin"),
            *("min_split_gain", "min_gain_to_split", "monotone_constraints", "tree_method"),
            *("boosting_type", "scale_pos_weight", "is_unbalance", "max_delta_step"),
        ),
        _ENGINE_ONLY,
    ),
}


def hint(name: str, known: list[str]) -> str:
    """What to write instead of an unknown parameter."""
    found = _SYNONYMS.get(name)
    if found == _ENGINE_ONLY:
        return f"It belongs to the engine: pass {_ENGINE_ONLY.format(name=name)}."
    if found in known:
        return f"Here it is called {found!r}."
    near = get_close_matches(name, known, n=1)
    return f"Did you mean {near[0]!r}?" if near else f"The parameters are {known}."


def with_hints(
    init: Callable[Concatenate[OwnerT, P], None],
) -> Callable[Concatenate[OwnerT, P], None]:
    """A constructor whose error for an unknown parameter says what to write instead."""
    # The signature stays the one of ``init``, as scikit-learn asks for.
    known = list(signature(init).parameters)[1:]

    @wraps(init)
    def checked(self: OwnerT, /, *args: P.args, **options: P.kwargs) -> None:
        for name in options:
            if name not in known:
                raise TypeError(
                    f"{type(self).__name__} has no parameter {name!r}. {hint(name, known)}"
                )
        init(self, *args, **options)

    return checked


# Other names of the parameters that the engines are given here: a user's own must win by any name.
ENGINE_ALIASES: dict[str, dict[str, str]] = {
    "lightgbm": {
        **dict.fromkeys(("eta", "shrinkage_rate"), "learning_rate"),
        **dict.fromkeys(("num_leaf", "max_leaves", "max_leaf", "max_leaf_nodes"), "num_leaves"),
        **dict.fromkeys(
            ("min_data_per_leaf", "min_data", "min_child_samples", "min_samples_leaf"),
            "min_data_in_leaf",
        ),
        **dict.fromkeys(("reg_lambda", "lambda", "l2_regularization"), "lambda_l2"),
        **dict.fromkeys(("sub_row", "subsample", "bagging"), "bagging_fraction"),
        **dict.fromkeys(("subsample_freq",), "bagging_freq"),
        **dict.fromkeys(("sub_feature", "colsample_bytree"), "feature_fraction"),
        **dict.fromkeys(("device",), "device_type"),
        **dict.fromkeys(("random_seed", "random_state"), "seed"),
        **dict.fromkeys(("num_thread", "nthread", "nthreads", "n_jobs"), "num_threads"),
        **dict.fromkeys(("verbose",), "verbosity"),
    },
    "xgboost": {
        "eta": "learning_rate",
        "lambda": "reg_lambda",
        "n_jobs": "nthread",
        "random_state": "seed",
    },
}


def canonical(parameters: Mapping[str, Any], engine: str) -> dict[str, Any]:
    """A user's parameters of an engine, by the names that are used here."""
    aliases = ENGINE_ALIASES[engine]
    return {aliases.get(name, name): value for name, value in parameters.items()}
