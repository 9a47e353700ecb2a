"""What a source of training rows must tell and do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from costboost._state import fingerprint
from costboost._threads import n_threads
from costboost._typing import AnyArray, Floats
from costboost.costs import KnownCosts
from costboost.gbm.blocks import Block, Features
from costboost.gbm.engines.base import Engine, Job
from costboost.gbm.folds import HoldOut
from costboost.gbm.members import Recipe
from costboost.gbm.models import Model
from costboost.gbm.portfolio import Shape
from costboost.gbm.settings import Settings
from costboost.gbm.targets import Target
from costboost.gbm.totals import Totals

__all__ = ["Source", "Trainer", "hashes", "hold_out_rule"]

# Trains booster number i: its model, and its scores of the rows that it held out. None is a
# booster that trains on all rows.
Trainer: TypeAlias = Callable[[int | None, Job], "tuple[Model, Floats | None]"]


class Source(ABC):
    """Training rows."""

    classes: AnyArray
    features: Features
    has_row_costs: bool
    totals: Totals
    seeds: Sequence[int]
    tells_rounds: bool = True

    @property
    def row_costs(self) -> tuple[KnownCosts, Floats] | None:
        """Costs and weights of all rows, if they are in memory and those of the rows differ."""
        return None

    @property
    def shape(self) -> Shape:
        """How large the table is; by default members cannot be compared on it."""
        return Shape(self.totals.rows, self.features.n_features, has_folds=False)

    def refits(self, settings: Settings) -> bool:
        """Whether one booster of all rows replaces those of the folds in the end."""
        return False

    def threads(self, settings: Settings) -> int:
        """Threads that a training may use in all."""
        return n_threads(settings.n_jobs, self.totals.rows)

    def n_workers(self, settings: Settings) -> int:
        """Models that may be trained at a time."""
        return 1

    @abstractmethod
    def engine(self, settings: Settings, recipe: Recipe) -> Engine:
        """The engine that trains a kind of model on these rows."""

    @abstractmethod
    def held_out(self, number: int | None = None) -> Block | None:
        """Costs and weights of held-out rows; None if there are none."""

    def watched(self, number: int) -> dict[str, Block]:
        """Costs and weights of the rows whose loss and cost a booster's training tells."""
        held = self.held_out(number)
        return {} if held is None else {"held_out": held}

    def identity(self) -> dict[str, str]:
        """Hashes of the rows, their costs and their use, by topic: what a checkpoint compares."""
        raise NotImplementedError(f"{type(self).__name__} has no checkpoints.")

    @abstractmethod
    def trainer(self, engine: Engine, target: Target) -> Trainer:
        """A function that trains the boosters of one target."""


def hashes(block: Block, prefix: str = "") -> dict[str, str]:
    """Hashes of some rows, by topic."""
    costs = block.costs
    return {
        f"{prefix}rows": fingerprint(() if block.X is None else block.X, costs.codes),
        f"{prefix}classes": fingerprint(costs.classes, costs.decisions),
        f"{prefix}costs": fingerprint(costs.prices if costs.matrix is None else costs.matrix, ()),
        f"{prefix}sample weights": fingerprint(block.weights, ()),
    }


def hold_out_rule(
    settings: Settings, n_rows: int, n_classes: int, rng: np.random.RandomState
) -> HoldOut:
    """Which rows a single booster holds out, to stop early, calibrate and estimate savings."""
    if not settings.early_stopping or n_rows * settings.validation_fraction < 1:
        return HoldOut()
    seed = int(rng.randint(Settings.largest_seed))
    return HoldOut.bounded(settings.validation_fraction, n_rows, n_classes, seed)
