"""From the arguments of the flagship to trained heads: targets, folds, jobs."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from costboost._threads import n_threads
from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import Costs
from costboost.flagship.engine import Engine, Growth, Job
from costboost.flagship.heads import Fold, Head, HeldOut, folds, train_head
from costboost.flagship.progress import booster_progress
from costboost.flagship.targets import LossTarget, PriceTarget, ProbabilityTarget, Target
from costboost.gbm.objectives import check_costs
from costboost.losses import named_loss

if TYPE_CHECKING:
    from costboost.flagship.estimator import CostBoostClassifier

__all__ = ["Plan", "fit_heads", "growth_for", "plan_folds", "targets_for"]

# A fold and the seed of its booster.
Plan = list[tuple[Fold, int]]


def fit_heads(
    model: CostBoostClassifier,
    X: AnyArray,
    categorical: list[int],
    targets: dict[str, Target],
    plan: Plan,
    costs: Costs,
) -> tuple[dict[str, Head], dict[str, HeldOut]]:
    """Train a head per target.

    Parameters
    ----------
    model : CostBoostClassifier
        Whose arguments count.
    X : array of shape (n, d)
        The rows.
    categorical : list of int
        Columns of category codes.
    targets : dict of str to Target
        What for, by the name of the head.
    plan : list of (Fold, int)
        Folds and seeds, one per booster.
    costs : Costs
        Costs of the rows, for the held-out bill that the progress bar shows.

    Returns
    -------
    heads : dict of str to Head
        The boosters.
    held_out : dict of str to HeldOut
        Their scores of rows they have not seen, for heads that have any.
    """
    engine = engine_for(model, len(X))
    heads: dict[str, Head] = {}
    held_out: dict[str, HeldOut] = {}
    n_boosters = len(targets) * len(plan)
    with booster_progress(
        type(model).__name__, n_boosters, model.n_estimators, model.verbose
    ) as bar:
        for name, target in targets.items():
            before = model._boosters_to_continue(name)
            jobs = [
                Job(
                    fold.rows,
                    fold.held_out,
                    model.n_estimators,
                    model.patience if model.early_stopping else 0,
                    seed,
                    before[i] if before else None,
                    bar(_bill(model, name, costs, fold)),
                )
                for i, (fold, seed) in enumerate(plan)
            ]
            heads[name], seen = train_head(engine, X, categorical, target, jobs)
            if seen is not None:
                held_out[name] = seen
    return heads, held_out


def _bill(model: CostBoostClassifier, head: str, costs: Costs, fold: Fold) -> Any:
    """Mean bill of the held-out rows as a function of their scores; None if there are none."""
    if fold.held_out is None or not model.verbose:
        return None
    part = costs.take(fold.held_out)
    return lambda scores: float(part.paid(model._decide(head, scores, part)).mean())


def targets_for(
    model: CostBoostClassifier, costs: Costs, weights: Floats, have_row_costs: bool
) -> dict[str, Target]:
    """What to train for: the classes' probabilities, the decision, or both.

    Parameters
    ----------
    model : CostBoostClassifier
        Whose arguments count.
    costs : Costs
        Costs and truth of the rows.
    weights : array of shape (n,)
        Sample weights.
    have_row_costs : bool
        Whether the rows had costs of their own that ``predict`` may not be told.

    Returns
    -------
    dict of str to Target
        By the name of the head, ``"probability"`` or ``"decision"``.
    """
    if model.loss != "auto":
        loss = named_loss(model.loss, type(model).__name__)
        k = len(costs.classes)
        if loss.is_binary and k > 2:
            raise ValueError(
                f"The 'loss' parameter of {type(model).__name__}, {model.loss!r}, is for two "
                f"classes, and there are {k}. Use 'auto' or a multi-class loss, such as 'gll'."
            )
        owner, link_matrix = type(model).__name__, costs.average(weights)
        check_costs(loss, costs, owner, link_matrix=link_matrix)
        return {"decision": LossTarget(loss, costs.divided(stakes(costs, weights)), weights)}
    targets: dict[str, Target] = {}
    if model.decision != "learned":
        targets["probability"] = ProbabilityTarget(costs, weights)
    if model.decision == "learned" or (model.decision == "auto" and have_row_costs):
        targets["decision"] = PriceTarget(costs, weights)
    return targets


def stakes(costs: Costs, weights: Floats) -> float:
    """What is at stake on a row, on average."""
    return float(np.average(costs.reduced.max(axis=1), weights=weights))


def plan_folds(model: CostBoostClassifier, X: AnyArray, codes: Ints, place: Ints) -> Plan:
    """Who trains on which rows.

    Parameters
    ----------
    model : CostBoostClassifier
        Whose arguments count.
    X : array of shape (n, d)
        The rows, for a splitter.
    codes : int array of shape (n,)
        Their classes.
    place : int array
        Index of each row that the user passed among the rows here; -1 if it has no weight.

    Returns
    -------
    list of (Fold, int)
        Folds and seeds.
    """
    rng = check_random_state(model.random_state)
    if model.cv is not None:
        parts = _own_folds(model.cv, X, codes, place)
    elif (n_folds := min(model.ensemble, len(codes) // 2)) >= 2:
        parts = folds(codes, n_folds, rng)
    elif model.early_stopping and len(codes) * model.validation_fraction >= 1:
        parts = folds(codes, max(round(1.0 / model.validation_fraction), 2), rng)[:1]
    else:
        parts = [Fold(None, None)]
    return [(part, int(rng.randint(np.iinfo(np.int32).max))) for part in parts]


def _own_folds(cv: Any, X: AnyArray, codes: Ints, place: Ints) -> list[Fold]:
    """Folds by a splitter of these rows, or as indices into those that the user passed."""
    if hasattr(cv, "split"):
        return [Fold(np.asarray(rows), np.asarray(held)) for rows, held in cv.split(X, codes)]

    def found(rows: Any) -> Ints:
        places: Ints = place[np.asarray(rows)]
        return np.asarray(places[places >= 0])

    return [Fold(found(rows), found(held)) for rows, held in cv]


def growth_for(model: CostBoostClassifier, n_rows: int) -> Growth:
    """How trees are grown on so many rows."""
    leaf = model.min_samples_leaf
    return Growth(
        learning_rate=model.learning_rate,
        max_leaves=model.max_leaves,
        min_samples_leaf=int(np.clip(n_rows // 100, 5, 50)) if leaf == "auto" else int(leaf),
        reg_lambda=model.reg_lambda,
        subsample=model.subsample,
        colsample=model.colsample,
    )


def engine_for(model: CostBoostClassifier, n_rows: int) -> Engine:
    """The engine of that name, which must be installed."""
    if find_spec(model.engine) is None:
        raise ImportError(
            f"{type(model).__name__}(engine={model.engine!r}) needs {model.engine}, which is not "
            'installed: pip install "costboost[gbm]"'
        )
    if model.engine == "xgboost":
        from costboost.flagship.xgboost_engine import XGBoostEngine as Chosen
    else:
        from costboost.flagship.lightgbm_engine import (  # type: ignore[assignment]
            LightGBMEngine as Chosen,
        )
    return Chosen(
        growth_for(model, n_rows),
        n_threads(model.n_jobs, n_rows),
        model.device,
        model.engine_params or {},
    )
