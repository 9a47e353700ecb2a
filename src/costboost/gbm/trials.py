"""Kinds of models while they are trained, fold by fold."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from costboost._typing import Floats
from costboost.gbm.members import Member, Recipe
from costboost.gbm.models import Model
from costboost.gbm.rounds import Evals

__all__ = ["Trained", "Trial"]


@dataclass(frozen=True, eq=False)
class Trained:
    """One model: its scores of the rows that it held out, its rounds, and the time it took."""

    model: Model
    scores: Floats | None
    evals: Evals
    seconds: float


@dataclass(eq=False)
class Trial:
    """One kind of model, trained on every fold."""

    recipe: Recipe
    models: list[Model] = field(default_factory=list)
    parts: list[Floats] = field(default_factory=list)
    evals: list[Evals] = field(default_factory=list)
    seconds: float = 0.0
    note: str = ""

    def add(self, trained: Trained) -> None:
        """Take the model of the next fold."""
        self.models.append(trained.model)
        self.evals.append(trained.evals)
        if trained.scores is not None:
            self.parts.append(trained.scores)
        self.seconds += trained.seconds

    @property
    def scores(self) -> Floats | None:
        """Scores of the held-out rows, fold by fold."""
        return np.concatenate(self.parts) if self.parts else None

    def give_up(self, why: str) -> None:
        """Leave it out."""
        self.models, self.parts, self.evals, self.note = [], [], [], why

    def member(self, weight: float, loss: float) -> Member:
        """What became of it."""
        rounds = float(np.mean([model.n_rounds for model in self.models])) if self.models else 0.0
        recipe = self.recipe
        return Member(
            recipe.name, recipe.engine, float(weight), float(loss), rounds, self.seconds, self.note
        )
