# mypy: disable-error-code="no-untyped-call"
"""Boosters trained by the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
import xgboost as xgb
from dask.delayed import delayed
from distributed import Client, get_worker
from xgboost import dask as xgb_dask

from costboost._typing import AnyArray, Floats
from costboost.costs import Costs
from costboost.dask.aims import Aim, derivatives, mean_loss
from costboost.dask.blocks import Block, Rows
from costboost.dask.guard import Crew
from costboost.flagship.engine import Growth
from costboost.flagship.heads import Head
from costboost.flagship.xgboost_engine import (
    XGBoostModel,
    feature_types,
    first_hessian,
    shared_parameters,
)

__all__ = ["HeldOutRows", "Training", "held_out_rows", "joined", "worker_threads"]


@dataclass(frozen=True, eq=False)
class Training:
    """One booster to be trained on the blocks of a cluster.

    Attributes
    ----------
    client : distributed.Client
        The cluster.
    blocks : list of delayed Block
        The rows, held by the workers.
    sizes : list of (int, int)
        Training and held-out rows of each block.
    n_features : int
        Columns.
    categorical : list of int
        Columns of category codes.
    growth : Growth
        How trees are grown.
    n_estimators, patience : int
        Most rounds; rounds without a smaller held-out loss that end the training, 0 for none.
    seed : int
        Seed of row and column samples.
    device : str
        XGBoost's device.
    parameters : dict
        XGBoost's own parameters; they win.
    chatty : bool
        Whether workers print the held-out loss of each round.
    """

    client: Client
    blocks: list[Any]
    sizes: list[tuple[int, int]]
    n_features: int
    categorical: list[int]
    growth: Growth
    n_estimators: int
    patience: int
    seed: int
    device: str
    parameters: dict[str, Any]
    chatty: bool = False

    def run(self, aim: Aim) -> Callable[[Crew], Any]:
        """The training for an aim, to be guarded: a coroutine that returns the model."""

        async def train(crew: Crew) -> XGBoostModel:
            data = await self._matrix(aim, "train")
            options: dict[str, Any] = {}
            if self.patience and any(held for _, held in self.sizes):
                watched = await self._matrix(aim, "held_out", ref=data)
                options = {
                    "evals": [(watched, "held_out")],
                    "early_stopping_rounds": self.patience,
                }
                if not aim.is_log_loss:
                    options["custom_metric"] = mean_loss(aim)
            if not aim.is_log_loss:
                options["obj"] = derivatives(aim)
            crew.needs(
                address
                for matrix in (data, *(matrix for matrix, _ in options.get("evals", ())))
                for address in matrix.worker_map
            )
            result = await xgb_dask.train(
                self.client,
                self._parameters(aim),
                data,
                num_boost_round=self.n_estimators,
                verbose_eval=self.chatty,
                **options,
            )
            booster = result["booster"]
            if "evals" in options:
                booster = booster[: booster.best_iteration + 1]
            return XGBoostModel(booster, self._types)

        return train

    @property
    def _types(self) -> list[str] | None:
        return feature_types(self.n_features, self.categorical)

    def _parameters(self, aim: Aim) -> dict[str, Any]:
        parameters = shared_parameters(self.growth, aim.n_scores, aim.is_log_loss)
        if aim.is_log_loss:
            parameters["eval_metric"] = "logloss" if aim.n_scores == 1 else "mlogloss"
        elif aim.carries_worths:
            # Labels of k columns make k scores, and XGBoost wants no classes beside them.
            del parameters["num_class"]
            parameters["objective"] = "reg:squarederror"
        return {
            **parameters,
            # A leaf of min_samples_leaf rows has about this Hessian in the first round.
            "min_child_weight": self.growth.min_samples_leaf * first_hessian(aim.masses),
            "device": self.device,
            "seed": self.seed,
            **self.parameters,
        }

    async def _matrix(self, aim: Aim, use: str, ref: Any = None) -> Any:
        """The rows of one use, binned by the workers that hold them."""
        place = ("train", "held_out").index(use)
        used = [
            (delayed(_columns)(block, use, aim), sizes[place])
            for block, sizes in zip(self.blocks, self.sizes, strict=True)
            if sizes[place]
        ]

        def column(i: int, *width: int) -> Any:
            arrays = [
                da.from_delayed(delayed(_pick)(part, i), (n, *width), np.float32)
                for part, n in used
            ]
            return da.concatenate(arrays)

        return await xgb_dask.DaskQuantileDMatrix(
            self.client,
            column(0, self.n_features),
            column(1, *((aim.n_classes,) if aim.carries_worths else ())),
            weight=column(2),
            feature_types=self._types,
            enable_categorical=self._types is not None,
            max_bin=self.parameters.get("max_bin"),
            ref=ref,
        )


def _columns(block: Block, use: str, aim: Aim) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Features, labels and weights of the rows of one use."""
    rows: Rows = getattr(block, use)
    return (rows.X, *aim.columns(rows.costs, rows.weights))


def _pick(parts: tuple[AnyArray, ...], i: int) -> AnyArray:
    return parts[i]


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Scores by head, costs and weights of held-out rows."""

    scores: dict[str, Floats]
    costs: Costs
    weights: Floats


def held_out_rows(
    block: Block, heads: dict[str, Head], share: float, seed: tuple[int, int]
) -> HeldOutRows:
    """What the boosters say of the held-out rows of a block, without the features.

    Parameters
    ----------
    block : Block
        The rows.
    heads : dict of str to Head
        The boosters.
    share : float
        Share of the rows to take, by chance.
    seed : tuple of int
        Of the choice.

    Returns
    -------
    HeldOutRows
        Small enough to travel.
    """
    rows = block.held_out
    if share < 1.0:
        n = round(share * len(rows))
        picked = np.random.default_rng(seed).choice(len(rows), n, replace=False, shuffle=False)
        rows = rows.take(np.sort(picked))
    with xgb.config_context(nthread=worker_threads()):
        scores = {name: head.scores(rows.X) for name, head in heads.items()}
    return HeldOutRows(scores, rows.costs, rows.weights)


def joined(parts: list[HeldOutRows]) -> HeldOutRows:
    """The rows of several blocks as one.

    Parameters
    ----------
    parts : list of HeldOutRows
        At least one.

    Returns
    -------
    HeldOutRows
        All of them.
    """
    first = parts[0].costs
    matrix, prices = first.matrix, None
    if matrix is None:
        prices = np.concatenate([part.costs.prices for part in parts])
    elif matrix.ndim == 3:
        matrix = np.concatenate([part.costs.matrix for part in parts])
    codes = np.concatenate([part.costs.codes for part in parts])
    return HeldOutRows(
        {name: np.concatenate([part.scores[name] for part in parts]) for name in parts[0].scores},
        Costs(first.classes, matrix, prices=prices, codes=codes),
        np.concatenate([part.weights for part in parts]),
    )


def worker_threads() -> int:
    """Threads of the Dask worker that asks; 1 elsewhere."""
    try:
        return int(get_worker().state.nthreads)
    except ValueError:
        return 1
