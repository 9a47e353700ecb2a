"""The members of an ensemble: which kinds of models are tried, and what became of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from costboost._typing import Floats
from costboost._utils import Framed, as_frame
from costboost.gbm.network import NETWORK_ROWS
from costboost.gbm.parameters import CONSTRAINTS
from costboost.gbm.settings import DEFAULTS, TrainingSettings

if TYPE_CHECKING:
    import pandas as pd

    from costboost.gbm.data import TrainingTable
    from costboost.gbm.objectives import TrainingObjective
    from costboost.gbm.train import ModelTraining


@dataclass(frozen=True)
class MemberSpec:
    """A kind of model that may become a member."""

    engine: str = "lightgbm"
    max_leaves: int = DEFAULTS.max_leaves
    random_splits: bool = False

    @property
    def name(self) -> str:
        """What messages and `members_` call it."""
        if self.engine == "network":
            return "network"
        name = f"{self.max_leaves} leaves"
        if self.random_splits:
            name = f"{name}, random splits"
        if self.engine == "catboost":
            name = f"symmetric trees, {name}"
        return name


# By effort, the most promising first (benchmarks/member_choices.py).
MEMBERS = {
    "fast": [MemberSpec()],
    "balanced": [
        MemberSpec(max_leaves=31),
        MemberSpec(max_leaves=15, random_splits=True),
        MemberSpec(engine="network"),
    ],
    "high": [
        MemberSpec(max_leaves=31),
        MemberSpec(max_leaves=15, random_splits=True),
        MemberSpec(engine="network"),
        MemberSpec(max_leaves=6),
        MemberSpec(max_leaves=63),
        MemberSpec(max_leaves=31, random_splits=True),
        MemberSpec(engine="catboost", max_leaves=64),
    ],
}


def members_to_try(
    table: TrainingTable, objective: TrainingObjective, settings: TrainingSettings
) -> list[MemberSpec]:
    """Return the kinds of models that suit the rows, the objective and the user's parameters."""
    effort = settings.effort
    if table.n_network_inputs is None or not objective.is_log_loss:
        # Members are compared on held-out rows in memory, by log loss.
        effort = "fast"
    specs: list[MemberSpec] = []
    for spec in MEMBERS[effort]:
        if spec.engine == "network" and not _suits_network(table, settings):
            continue
        if spec.engine == "catboost" and not _suits_catboost(objective, settings):
            continue
        if spec.engine == "lightgbm":
            spec = usual_member(table, settings, spec)
        if spec not in specs:
            specs.append(spec)
    return specs


def usual_member(
    table: TrainingTable, settings: TrainingSettings, spec: MemberSpec = MEMBERS["fast"][0]
) -> MemberSpec:
    """Return boosted trees of the size that the user chose, by the engine of the table."""
    # Of one size, some members are the same.
    if settings.max_leaves is not None:
        spec = replace(spec, max_leaves=settings.max_leaves)
    return replace(spec, engine=table.engine)


def _suits_network(table: TrainingTable, settings: TrainingSettings) -> bool:
    """Return True if the table is small enough, and no constraint holds for all models."""
    n_inputs = table.n_network_inputs
    if not CONSTRAINTS.isdisjoint(settings.engine_params) or n_inputs > DEFAULTS.network_inputs:
        return False
    n_numbers = min(settings.n_rows, NETWORK_ROWS) * n_inputs
    return n_numbers <= DEFAULTS.network_numbers[settings.effort]


def _suits_catboost(objective: TrainingObjective, settings: TrainingSettings) -> bool:
    """Return True if CatBoost is installed, fast enough, and no constraint holds."""
    if not CONSTRAINTS.isdisjoint(settings.engine_params):
        return False
    return objective.n_scores <= DEFAULTS.symmetric_scores and find_spec("catboost") is not None


@dataclass
class TrainedMember:
    """A kind of model with a model of each fold, and what held-out rows say of it."""

    spec: MemberSpec
    trainings: list[ModelTraining] = field(default_factory=list)
    models: list = field(default_factory=list)
    held_out_scores: list[Floats] = field(default_factory=list)  # by fold
    seconds: float = 0.0
    note: str = ""
    weight: float = 0.0
    loss: float = np.nan
    n_rounds: float = 0.0  # mean of the models of the folds

    def summary(self) -> Member:
        """Return what `members_` says of it."""
        return Member(
            name=self.spec.name,
            engine=self.spec.engine,
            weight=self.weight,
            loss=self.loss,
            rounds=self.n_rounds,
            seconds=self.seconds,
            note=self.note,
        )


class Member(NamedTuple):
    """A kind of model that was trained, and what became of it."""

    name: str
    engine: str
    weight: float
    loss: float
    rounds: float
    seconds: float
    note: str = ""


class Members(Framed, tuple[Member, ...]):
    """The members of an ensemble, also those that are not used; prints as a table."""

    __slots__ = ()

    def __str__(self) -> str:
        width = max(len(member.name) for member in self)
        lines = [f"{'member':{width}}  engine    weight    loss  rounds  seconds"]
        for m in self:
            numbers = f"{m.weight:6.2f}  {m.loss:6.4f}  {m.rounds:6.0f}  {m.seconds:7.1f}"
            lines.append(f"{m.name:{width}}  {m.engine:8}  {numbers}  {m.note}".rstrip())
        return "\n".join([*lines, self.remark]).rstrip()

    @property
    def remark(self) -> str:
        """Whether a smaller effort would have done as well, in words."""
        if len(self) == 1 or self[0].weight < 1.0:
            return ""
        return "One kind of booster is used: effort='fast' would decide about as well."

    def to_frame(self) -> pd.DataFrame:
        """Return a row per member, as a pandas frame."""
        return as_frame([member._asdict() for member in self], "members_.to_frame")
