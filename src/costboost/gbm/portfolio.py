"""Which kinds of models a training tries, by the effort that the user allows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec

from costboost.gbm.engines.base import Growth
from costboost.gbm.members import Recipe
from costboost.gbm.settings import Settings
from costboost.gbm.targets import Target

__all__ = ["Shape", "recipes_for"]

# Inputs (columns times categories) and rows beyond which a linear member is left out.
_LINEAR_INPUTS = 500
_LINEAR_NUMBERS = 10_000_000
# Engines that members are added of, if they are installed.
_OTHER_ENGINES = ("catboost", "xgboost")


@dataclass(frozen=True)
class Shape:
    """How large a table is.

    Attributes
    ----------
    rows : int
        Number of rows.
    inputs : int
        Number of columns, a category counted once per value.
    is_sparse : bool
        Whether the table is a sparse matrix.
    has_folds : bool
        Whether rows are held out, so that members can be compared.
    """

    rows: int
    inputs: int
    is_sparse: bool = False
    has_folds: bool = True


def recipes_for(settings: Settings, target: Target, shape: Shape) -> list[Recipe]:
    """The kinds of models to try, the most promising first.

    Parameters
    ----------
    settings : Settings
        Effort, engine, and what the user fixed.
    target : Target
        What is trained for.
    shape : Shape
        The size of the table.

    Returns
    -------
    list of Recipe
        One at least.
    """
    growth = settings.growth()
    plain = _trees(settings.engine, growth)
    if settings.effort == "fast" or not shape.has_folds or settings.loss != "auto":
        return [plain]
    found = [plain]
    is_free = settings.max_leaves == "auto"
    if settings.engine == "lightgbm":
        found.append(_trees("lightgbm", replace(growth, random_splits=True)))
    elif is_free:
        found.append(_trees(settings.engine, replace(growth, max_leaves=6)))
    if target.is_log_loss and _is_small(shape):
        found.append(Recipe("linear", "linear", growth))
    if settings.effort == "high":
        if is_free:
            found += [
                _trees(settings.engine, replace(growth, max_leaves=leaves))
                for leaves in (6, 31)
                if all(recipe.growth.max_leaves != leaves for recipe in found)
            ]
            if settings.engine == "lightgbm":
                found.append(
                    _trees("lightgbm", replace(growth, max_leaves=31, random_splits=True))
                )
        if target.is_log_loss and settings.engine_params is None:
            found += [
                _trees(engine, replace(growth, max_leaves=64 if engine == "catboost" else 15))
                for engine in _OTHER_ENGINES
                if engine != settings.engine and find_spec(engine) is not None
            ]
    return found


def _trees(engine: str, growth: Growth) -> Recipe:
    leaves = f"{growth.max_leaves} leaves"
    return Recipe(f"{leaves}, random splits" if growth.random_splits else leaves, engine, growth)


def _is_small(shape: Shape) -> bool:
    fits = shape.inputs <= _LINEAR_INPUTS and shape.rows * shape.inputs <= _LINEAR_NUMBERS
    return fits and not shape.is_sparse
