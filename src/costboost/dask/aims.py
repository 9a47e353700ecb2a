"""What the boosters of a cluster are trained for, as columns that XGBoost carries to the workers.

The targets of `costboost.flagship.targets` hold all rows; on a cluster no process does. An aim is
the part of a target that is the same everywhere: workers turn costs into labels and weights by it,
and back into losses and derivatives.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import xgboost as xgb
from xgboost import collective

from costboost._typing import AnyArray, Floats
from costboost.costs import Costs
from costboost.dask.blocks import Totals
from costboost.flagship.targets import LossPart, Part, WorthPart, worths
from costboost.losses import Loss

__all__ = ["Aim", "ClassAim", "LossAim", "PriceAim", "derivatives", "mean_loss"]


@dataclass(frozen=True)
class Aim(ABC):
    """What to train for.

    Parameters
    ----------
    n_classes : int
        Number of classes, k.
    totals : Totals
        Sums over all rows.
    """

    n_classes: int
    totals: Totals

    @property
    def n_scores(self) -> int:
        """1, or k scores for k classes."""
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def is_log_loss(self) -> bool:
        """Whether XGBoost's own log loss of labels and weights is meant."""
        return True

    @property
    def carries_worths(self) -> bool:
        """Whether labels are (n, k)."""
        return False

    @abstractmethod
    def columns(self, costs: Costs, weights: Floats) -> tuple[AnyArray, AnyArray]:
        """Labels and weights of some rows, as float32."""

    @property
    @abstractmethod
    def masses(self) -> Floats:
        """Weight of the rows of each label."""

    def part(self, labels: AnyArray, weights: AnyArray) -> Part:
        """The target on rows that XGBoost carries."""
        raise TypeError(f"{type(self).__name__} is trained by XGBoost's own log loss.")


class ClassAim(Aim):
    """The true class: `costboost.flagship.targets.ProbabilityTarget`."""

    def columns(self, costs: Costs, weights: Floats) -> tuple[AnyArray, AnyArray]:
        """Codes and sample weights."""
        assert costs.codes is not None
        return costs.codes.astype(np.float32), weights.astype(np.float32)

    @property
    def masses(self) -> Floats:
        """Weight of the rows of each class."""
        return self.totals.weight


class PriceAim(Aim):
    """The cheapest decision: `costboost.flagship.targets.PriceTarget`."""

    @property
    def is_log_loss(self) -> bool:
        """For two classes."""
        return self.n_classes == 2

    @property
    def carries_worths(self) -> bool:
        """For more than two classes."""
        return self.n_classes > 2

    @property
    def unit(self) -> float:
        """Mean worth of a row, so that the engine's regularisation keeps its meaning."""
        return float(self.totals.worth.sum() / self.totals.weight.sum())

    def columns(self, costs: Costs, weights: Floats) -> tuple[AnyArray, AnyArray]:
        """Cheapest decisions weighted by what is at stake, or the worths of all decisions."""
        worth = worths(costs) / self.unit
        if self.n_classes == 2:
            return costs.labels.astype(np.float32), (weights * worth.sum(axis=1)).astype(np.float32)
        return worth.astype(np.float32), weights.astype(np.float32)

    @property
    def masses(self) -> Floats:
        """Weight of the rows of each cheapest decision."""
        return self.totals.worth if self.n_classes == 2 else self.totals.label_weight

    def part(self, labels: AnyArray, weights: AnyArray) -> Part:
        """Cross entropy of the worths."""
        return WorthPart(labels.astype(np.float64), weights.astype(np.float64))


@dataclass(frozen=True)
class LossAim(ClassAim):
    """A loss of the library: `costboost.flagship.targets.LossTarget`.

    Parameters
    ----------
    loss : BinaryLoss or MulticlassLoss
        The loss.
    matrix : array of shape (k, k)
        Costs of all rows, in units of what is at stake.
    """

    loss: Loss
    matrix: Floats

    @property
    def n_scores(self) -> int:
        """1 for a loss of two classes, else k."""
        return self.loss.n_scores(self.n_classes)

    @property
    def is_log_loss(self) -> bool:
        """Never."""
        return False

    def part(self, labels: AnyArray, weights: AnyArray) -> Part:
        """The loss of the rows."""
        costs = Costs(np.arange(self.n_classes), self.matrix, codes=labels.astype(np.intp))
        return LossPart(self.loss, costs, weights.astype(np.float64))


class _Carried:
    """The target on the rows of a worker's matrix, made in the first round and kept.

    Workers that are threads of one process share this object, so it keeps a part per matrix.
    """

    def __init__(self, aim: Aim) -> None:
        self.aim = aim
        # By identity; the matrix is kept too, lest another one gets its number.
        self._parts: dict[int, tuple[xgb.DMatrix, Part]] = {}

    def of(self, data: xgb.DMatrix) -> Part:
        if id(data) not in self._parts:
            labels = data.get_label()
            if self.aim.carries_worths:
                labels = labels.reshape(data.num_row(), self.aim.n_classes)
            self._parts[id(data)] = data, self.aim.part(labels, data.get_weight())
        return self._parts[id(data)][1]


def derivatives(aim: Aim) -> Callable[[AnyArray, xgb.DMatrix], tuple[AnyArray, AnyArray]]:
    """XGBoost's custom objective for an aim that is no log loss.

    Parameters
    ----------
    aim : Aim
        What to train for.

    Returns
    -------
    callable
        From scores and matrix to gradient and Hessian, on the rows of one worker.
    """
    carried = _Carried(aim)

    def gradient(scores: AnyArray, data: xgb.DMatrix) -> tuple[AnyArray, AnyArray]:
        if not data.num_row():
            empty = np.zeros_like(scores, dtype=np.float32)
            return empty, empty
        return carried.of(data).derivatives(scores)

    return gradient


def mean_loss(aim: Aim) -> Callable[[AnyArray, xgb.DMatrix], tuple[str, float]]:
    """XGBoost's custom metric for an aim that is no log loss: the mean over all workers.

    Parameters
    ----------
    aim : Aim
        What is trained for.

    Returns
    -------
    callable
        From scores and matrix to the name and the value, the same on every worker.
    """
    carried = _Carried(aim)

    def loss(scores: AnyArray, data: xgb.DMatrix) -> tuple[str, float]:
        sums = np.zeros(2)
        if data.num_row():
            weight = float(data.get_weight().sum(dtype=np.float64))
            mean = carried.of(data).loss(np.asarray(scores, dtype=np.float64))
            sums[:] = weight * mean, weight
        total: Any = collective.allreduce(sums, collective.Op.SUM)
        return "loss", float(total[0] / total[1])

    return loss
