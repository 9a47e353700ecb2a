"""Which kinds of models a training tries, by the effort that the user allows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec

from costboost.gbm.engines.base import Growth
from costboost.gbm.members import Recipe
from costboost.gbm.settings import Settings
from costboost.gbm.targets import Target

__all__ = ["DEMANDS", "Shape", "recipes_for"]

# Inputs (columns times categories) and rows beyond which a linear model is left out.
_SMOOTH_INPUTS = 500
_SMOOTH_NUMBERS = 10_000_000
# Inputs times rows beyond which a network is left out, by effort.
_NETWORK_NUMBERS = {"balanced": 1_000_000, "high": 3_000_000}
# Rows times scores beyond which a forest is left out: it takes long, and has a leaf for every few.
_FOREST_NUMBERS = 500_000
# Scores beyond which symmetric trees are left out: CatBoost takes eight times as long as LightGBM.
_SYMMETRIC_SCORES = 3
# Parameters of an engine that say what a model may do, not how it is found.
DEMANDS = frozenset(
    {
        *("monotone_constraints", "mc", "monotone_constraint", "monotonic_cst"),
        *("interaction_constraints", "feature_contri", "feature_contrib", "fc", "fp"),
        *("forcedsplits_filename", "fs", "forced_splits_filename", "forced_splits_file"),
        "forced_splits",
    }
)


@dataclass(frozen=True)
class Shape:
    """How large a table is."""

    rows: int
    inputs: int
    is_sparse: bool = False
    has_folds: bool = True


def recipes_for(settings: Settings, target: Target, shape: Shape) -> list[Recipe]:
    """The kinds of models to try, the most promising first."""
    growth, engine = settings.growth(target.n_scores), settings.engine
    is_single = settings.effort == "fast" or (settings.n_folds == 1 and settings.cv is None)
    if is_single or not shape.has_folds or settings.loss != "auto":
        return [_trees(engine, growth)]
    has_random = engine == "lightgbm"
    # Models of other kinds would not keep to what the user demands of this one.
    is_free = target.is_log_loss and DEMANDS.isdisjoint(settings.engine_params or {})

    def sizes(*wanted: int, random_splits: bool = False) -> list[Recipe]:
        """Trees of these sizes; of the size that the user chose, if there is one."""
        free = wanted if settings.max_leaves == "auto" else (growth.max_leaves,)
        return [
            _trees(engine, replace(growth, max_leaves=leaves, random_splits=random_splits))
            for leaves in free
        ]

    found = sizes(31)
    found += sizes(15, random_splits=True) if has_random else sizes(6)
    if is_free and _is_small(shape):
        found.append(Recipe("linear", "linear", growth))
        if shape.rows * shape.inputs <= _NETWORK_NUMBERS[settings.effort]:
            found.append(Recipe("network", "network", growth))
    if is_free and engine == "lightgbm" and shape.rows * target.n_scores <= _FOREST_NUMBERS:
        found.append(Recipe("forest", "forest", growth))
    if settings.effort == "high":
        found += sizes(6, 63)
        found += sizes(31, random_splits=True) if has_random else []
        has_catboost = engine != "catboost" and find_spec("catboost") is not None
        if is_free and has_catboost and target.n_scores <= _SYMMETRIC_SCORES:
            found.append(_trees("catboost", replace(growth, max_leaves=64)))
    # Where the user chose a size, some of them are the same.
    return list(dict.fromkeys(found))


def _trees(engine: str, growth: Growth) -> Recipe:
    name = f"{growth.max_leaves} leaves"
    if engine == "catboost":
        name = f"symmetric trees, {name}"
    if growth.random_splits:
        # Trees that are not greedy overfit less, and take larger steps.
        growth = replace(growth, learning_rate=min(4.0 * growth.learning_rate, 1.0))
        name += ", random splits"
    return Recipe(name, engine, growth)


def _is_small(shape: Shape) -> bool:
    fits = shape.inputs <= _SMOOTH_INPUTS and shape.rows * shape.inputs <= _SMOOTH_NUMBERS
    return fits and not shape.is_sparse
