"""A small neural network: smooth boundaries across several columns, in few rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, minimize
from scipy.special import expit, logsumexp

from costboost._typing import AnyArray, Floats, Ints
from costboost.gbm.members import Candidate
from costboost.gbm.models import Design, NetworkModel
from costboost.gbm.rounds import Rounds
from costboost.gbm.rows import MemoryRows
from costboost.gbm.targets import Target

# Squared penalties of the weights in rows; the second starts from the best point of the first.
_PENALTIES = (5.0, 0.5)
# Steps of a training by one penalty, and after how many of them the held-out rows are asked.
_STEPS, _EVERY = 120, 10
# Times that their loss may be no smaller before the training ends.
_PATIENCE = 2
# Steps if no row was held out.
_USUAL_STEPS = 50
# Hidden units: so many at least, and so many per score.
_UNITS, _UNITS_PER_SCORE = 32, 4


def fit(
    kind: Candidate, X: AnyArray, target: Target, rounds: Rounds, threads: int, table: MemoryRows
) -> NetworkModel:
    """A network with one hidden layer and a squared penalty, stopped by held-out rows."""
    # It is trained on all rows at a time (L-BFGS): for tables of some thousand rows that takes a
    # few hundred steps, and there is no learning rate to choose. scikit-learn's network cannot be
    # stopped by given rows, and takes weights only in newer versions. Only for targets that are log
    # loss, and for tables that are not sparse.
    #
    # One design for all folds, so that their models can be put into one.
    design = Design.of(table.rows.X, table.columns.categorical)
    inputs = design(X)
    centre = inputs.mean(axis=0)
    loss = NetworkLoss.of(inputs, target)

    def network(point: Floats) -> NetworkModel:
        slopes, shifts, tops, base = loss.parts(point)
        return NetworkModel(design, slopes, shifts, tops, base, centre)

    start, stop_by = loss.start(rounds.seed), rounds.stop_by
    if stop_by is None:
        return network(_descended(loss, start, _PENALTIES[0], _USUAL_STEPS))
    held = design(rounds.sets[stop_by].X)
    best, model = start, None

    def is_better(point: Floats) -> bool:
        """Whether the held-out loss is smaller than before; if so, keep the network."""
        nonlocal best, model
        found = network(point.copy())
        scores = found.scores_of(held)
        if not (least := rounds.see(stop_by, scores)) < rounds.best_loss:
            return False
        rounds.best_loss, rounds.best_scores = least, scores
        best, model = point.copy(), found
        return True

    is_better(best)
    for penalty in _PENALTIES:
        _descended(loss, best, penalty, _STEPS, is_better)
    if model is None:  # no loss is finite
        model = network(_descended(loss, start, _PENALTIES[0], _USUAL_STEPS))
        rounds.best_scores = model.scores_of(held)
    return model


# The hidden units of the networks of all folds side by side: their mean score is one network.
merged = NetworkModel.mean


def _descended(
    loss: NetworkLoss,
    start: Floats,
    penalty: float,
    n_steps: int,
    is_better: Callable[[Floats], bool] | None = None,
) -> Floats:
    """The last point of a descent; it ends where the held-out loss does not fall any more."""
    steps, waits = 0, 0

    def after_step(intermediate_result: OptimizeResult) -> None:
        nonlocal steps, waits
        steps += 1
        if is_better is None or steps % _EVERY:
            return
        waits = 0 if is_better(intermediate_result.x) else waits + 1
        if waits >= _PATIENCE:
            raise StopIteration

    found = minimize(
        loss,
        start,
        args=(penalty / len(loss.inputs),),
        jac=True,
        method="L-BFGS-B",
        callback=after_step,
        options={"maxiter": n_steps, "maxfun": 2 * n_steps},
    )
    point = np.asarray(found.x)
    if is_better is not None and steps % _EVERY:  # it converged between two looks
        is_better(point)
    return point


@dataclass(frozen=True, eq=False)
class NetworkLoss:
    """Log loss of a network as a function of all its numbers, with its gradient."""

    inputs: Floats
    labels: Ints
    shares: Floats
    n_scores: int

    @classmethod
    def of(cls, inputs: Floats, target: Target) -> NetworkLoss:
        """The loss of rows."""
        weights = np.asarray(target.weights, dtype=np.float64)
        weights = weights / weights.mean() if weights.any() else np.ones(len(weights))
        # An input that is the same on all rows, such as a category not among them, tells nothing.
        inputs = np.where(np.ptp(inputs, axis=0) > 0, inputs, 0.0)
        return cls(inputs, target.labels, weights / weights.sum(), target.n_scores)

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of slopes, shifts, tops and base."""
        units = max(_UNITS, _UNITS_PER_SCORE * self.n_scores)
        return (units, self.inputs.shape[1]), (units,), (self.n_scores, units), (self.n_scores,)

    def parts(self, point: Floats) -> list[Floats]:
        """Slopes, shifts, tops and base at a point."""
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes])
        return [
            part.reshape(shape)
            for part, shape in zip(np.split(point, ends[:-1]), self.shapes, strict=True)
        ]

    def start(self, seed: int) -> Floats:
        """Random hidden units (Glorot and Bengio 2010), whose weights in the scores are zero."""
        bound = np.sqrt(6.0 / sum(self.shapes[0]))
        sizes = [int(np.prod(shape)) for shape in self.shapes]
        units = np.random.RandomState(seed).uniform(-bound, bound, sizes[0] + sizes[1])
        units[: sizes[0]] *= np.tile(self.inputs.any(axis=0), self.shapes[0][0])
        return np.concatenate([units, np.zeros(sizes[2] + sizes[3])])

    def __call__(self, point: Floats, penalty: float) -> tuple[float, Floats]:
        """Loss and gradient, with a squared penalty of slopes and tops."""
        slopes, shifts, tops, base = self.parts(point)
        hidden = self.inputs @ slopes.T + shifts
        np.maximum(hidden, 0.0, out=hidden)
        scores = hidden @ tops.T + base
        if self.n_scores == 1:
            score, is_positive = scores[:, 0], self.labels == 1
            losses = np.logaddexp(0.0, score) - score * is_positive
            steep = (expit(score) - is_positive)[:, None]
        else:
            rows = np.arange(len(scores))
            logs = scores - logsumexp(scores, axis=1, keepdims=True)
            losses = -logs[rows, self.labels]
            steep = np.exp(logs)
            steep[rows, self.labels] -= 1.0
        steep *= self.shares[:, None]
        back = steep @ tops
        back *= hidden > 0
        gradient = (
            back.T @ self.inputs + penalty * slopes,
            back.sum(axis=0),
            steep.T @ hidden + penalty * tops,
            steep.sum(axis=0),
        )
        size = 0.5 * penalty * (np.square(slopes).sum() + np.square(tops).sum())
        total = float(losses @ self.shares + size)
        return total, np.concatenate([part.ravel() for part in gradient])
