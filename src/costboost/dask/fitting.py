# mypy: disable-error-code="no-untyped-call"
"""From the arguments of `DaskCostBoostClassifier` to a fitted classifier."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
from dask.delayed import delayed
from rich.console import Console
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets

from costboost._typing import AnyArray
from costboost.costs import Costs
from costboost.dask.aims import Aim, ClassAim, LossAim, PriceAim
from costboost.dask.blocks import Totals, found_classes, prepared
from costboost.dask.guard import client_for, gather, guarded
from costboost.dask.partitions import Parts, aligned, as_table, example_rows
from costboost.dask.training import HeldOutRows, Training, held_out_rows, joined
from costboost.flagship import CostBoostClassifier
from costboost.flagship.fitting import growth_for
from costboost.flagship.heads import Head, HeldOut
from costboost.losses import named_loss

if TYPE_CHECKING:
    from costboost.dask.estimator import DaskCostBoostClassifier

__all__ = ["fit_local"]

# What held-out rows may bring to the client: so many rows, so many costs.
_MOST_ROWS = 1_000_000
_MOST_COSTS = 16_000_000


def fit_local(
    model: DaskCostBoostClassifier, X: Any, y: Any, costs: Any, sample_weight: Any
) -> CostBoostClassifier:
    """Train on the cluster, and put the boosters into a classifier for data in memory.

    Parameters
    ----------
    model : DaskCostBoostClassifier
        Whose arguments count.
    X, y, costs, sample_weight : dask collections
        The rows.

    Returns
    -------
    CostBoostClassifier
        Fitted.
    """
    owner = type(model).__name__
    client = client_for(model.client, owner)
    table = as_table(X, owner)
    if y is None:
        raise ValueError(f"{owner} requires y to be passed, but the target y is None.")
    parts = aligned(table, owner, y=y, costs=costs, sample_weight=sample_weight)
    local = _unfitted(model, table)
    local.classes_ = _classes(client, parts[1], owner)
    varies = costs is not None or callable(model.cost_matrix)
    _check_loss(model, len(local.classes_), varies)
    if not varies:
        local.cost_matrix_ = local._known_costs(None, None, 0).average()

    rng = check_random_state(model.random_state)
    split_seed, seed = (int(rng.randint(np.iinfo(np.int32).max)) for _ in range(2))
    n_folds = max(round(1.0 / model.validation_fraction), 2) if model.early_stopping else 0
    shared = delayed(local)
    blocks = client.persist(
        [
            delayed(prepared)(i, *part, shared, split_seed, n_folds)
            for i, part in enumerate(zip(*parts, strict=True))
        ]
    )
    totals: list[Totals] = gather(
        client, [block.totals for block in blocks], "reading the rows", owner
    )
    total = reduce(add, totals)
    _check_totals(total, owner)
    if varies:
        local.cost_matrix_ = total.mean_costs
    local._unit = total.mean_stakes
    training = Training(
        client,
        blocks,
        [(part.train_rows, part.held_out_rows) for part in totals],
        local.n_features_in_,
        local._frame.categorical if local._frame else [],
        growth_for(local, total.rows),
        model.n_estimators,
        model.patience if model.early_stopping else 0,
        seed,
        model.device,
        model.engine_params or {},
        chatty=model.verbose > 1,
    )
    heads: dict[str, Head] = {}
    for name, aim in _aims(model, local, total, costs is not None).items():
        doing = f"training the {name} booster"
        _say(model, f"{doing} on {total.train_rows} rows in {len(blocks)} partitions")
        trained = guarded(client, training.run(aim), doing, owner)
        _say(model, f"{trained.n_rounds} rounds")
        heads[name] = Head([trained])
    _keep(local, heads, _held_out(training, heads, total, split_seed, owner))
    return local


def _unfitted(model: DaskCostBoostClassifier, table: Any) -> CostBoostClassifier:
    """The classifier in memory with the same arguments, which knows the columns of the table."""
    arguments = model.get_params(deep=False)
    del arguments["client"]
    local = CostBoostClassifier(engine="xgboost", ensemble=1, **arguments)
    example = example_rows(table)
    local._read_training(example, np.arange(len(example)) % 2, categories=True, missing=True)
    return local


def _classes(client: Any, y: Parts, owner: str) -> AnyArray:
    """All labels that occur."""
    found = gather(client, [delayed(found_classes)(part) for part in y], "reading y", owner)
    classes = np.unique(np.concatenate([part for part in found if len(part)] or found))
    check_classification_targets(classes)
    if len(classes) < 2:
        raise ValueError(
            f"{owner} needs rows of at least two classes, and there is only one class: "
            f"{classes.tolist()}."
        )
    return classes


def _check_loss(model: DaskCostBoostClassifier, n_classes: int, costs_vary: bool) -> None:
    if model.loss == "auto":
        return
    loss = named_loss(model.loss, type(model).__name__)
    name = f"The 'loss' parameter of {type(model).__name__}, {model.loss!r},"
    if costs_vary:
        raise ValueError(
            f"{name} takes one cost matrix for all rows, and the rows have costs of their own. "
            "Use loss='auto'."
        )
    if loss.is_binary and n_classes > 2:
        raise ValueError(
            f"{name} is for two classes, and there are {n_classes}. Use 'auto' or a multi-class "
            "loss, such as 'gll'."
        )


def _check_totals(total: Totals, owner: str) -> None:
    if not total.weight.sum() > 0:
        raise ValueError(
            f"sample_weight of {owner} must not be zero on all rows, and it is. Leave it out to "
            "weigh all rows alike."
        )
    if not total.stakes > 0:
        raise ValueError(
            f"Every decision costs {owner} the same, so there is nothing to learn. Give "
            "cost_matrix or costs at least one entry that tells decisions apart."
        )
    if not total.train_rows:
        raise ValueError(
            f"{owner} would hold out every row, because partitions have only a row or two: "
            f"{total.rows} rows in all. Use larger partitions or early_stopping=False."
        )


def _aims(
    model: DaskCostBoostClassifier,
    local: CostBoostClassifier,
    total: Totals,
    have_row_costs: bool,
) -> dict[str, Aim]:
    """What to train for: the classes' probabilities, the decision, or both."""
    k = len(local.classes_)
    if model.loss != "auto":
        loss = named_loss(model.loss, type(model).__name__)
        return {"decision": LossAim(k, total, loss, local.cost_matrix_ / local._unit)}
    aims: dict[str, Aim] = {}
    if model.decision != "learned":
        aims["probability"] = ClassAim(k, total)
    if model.decision == "learned" or (model.decision == "auto" and have_row_costs):
        aims["decision"] = PriceAim(k, total)
    return aims


def _held_out(
    training: Training, heads: dict[str, Head], total: Totals, seed: int, owner: str
) -> HeldOutRows | None:
    """Scores, costs and weights of the held-out rows, or of a sample if there are very many."""
    if not total.held_out_rows:
        return None
    most = min(_MOST_ROWS, _MOST_COSTS // len(total.weight) ** 2)
    share = min(1.0, most / total.held_out_rows)
    shared = delayed(heads, traverse=False)
    parts = [
        delayed(held_out_rows)(block, shared, share, (seed, i))
        for i, (block, (_, held)) in enumerate(zip(training.blocks, training.sizes, strict=True))
        if held
    ]
    return joined(gather(training.client, parts, "scoring held-out rows", owner))


def _keep(local: CostBoostClassifier, heads: dict[str, Head], seen: HeldOutRows | None) -> None:
    """Calibrate the boosters and estimate the savings, as on one machine."""
    if seen is None:
        local._keep(heads, {}, Costs(local.classes_, local.cost_matrix_), np.empty(0))
        return
    every = np.arange(len(seen.weights))
    held_out = {name: HeldOut(every, scores) for name, scores in seen.scores.items()}
    local._keep(heads, held_out, seen.costs, seen.weights)


def _say(model: DaskCostBoostClassifier, what: str) -> None:
    if model.verbose:
        Console().print(f"{type(model).__name__}: {what}")
