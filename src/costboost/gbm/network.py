"""A small neural network: smooth boundaries across several columns, in few rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
from scipy.optimize import OptimizeResult, minimize
from scipy.special import expit, logsumexp

from costboost._typing import AnyArray, Floats, Ints
from costboost.gbm.members import NETWORK_ROWS, Candidate, Rounds
from costboost.gbm.models import Design, NetworkModel
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
Shapes: TypeAlias = "tuple[tuple[int, ...], ...]"
# Hidden units: so many at least, and so many per score.
_UNITS, _UNITS_PER_SCORE = 32, 4
# Rows of a block.
_ROWS = 2048


def fit(
    kind: Candidate, X: AnyArray, target: Target, rounds: Rounds, table: MemoryRows
) -> NetworkModel:
    """A network with one hidden layer and a squared penalty, stopped by held-out rows."""
    # It is trained on all rows at a time (L-BFGS): for tables of some thousand rows that takes a
    # few hundred steps, and there is no learning rate to choose. scikit-learn's network cannot be
    # stopped by given rows, and takes weights only in newer versions. Only for targets that are log
    # loss, and for tables that are not sparse.
    #
    # One design for all folds, so that their models can be put into one.
    design = Design.of(table.rows.X, table.columns.categorical)
    rng = np.random.RandomState(rounds.seed)
    if X.shape[0] > NETWORK_ROWS:
        some = np.sort(rng.permutation(X.shape[0])[:NETWORK_ROWS])
        X, target = X[some], target.put(target.labels[some], target.weights[some])
    inputs, k = design(X), target.n_scores
    centre = inputs.mean(axis=0)
    weights = np.asarray(target.weights, dtype=np.float64)
    weights = weights / weights.mean() if weights.any() else np.ones(len(weights))
    # An input that is the same on all rows, such as a category not among them, tells nothing.
    inputs = np.where(np.ptp(inputs, axis=0) > 0, inputs, 0.0).astype(np.float32)
    units = max(_UNITS, _UNITS_PER_SCORE * k)
    # Slopes, shifts, tops and base.
    shapes = (units, inputs.shape[1]), (units,), (k, units), (k,)
    shares = (weights / weights.sum()).astype(np.float32)
    descended = partial(_descended, (shapes, inputs, target.labels, shares))
    # Random hidden units (Glorot and Bengio 2010), whose weights in the scores are zero.
    bound, n_slopes = np.sqrt(6.0 / sum(shapes[0])), units * inputs.shape[1]
    drawn = rng.uniform(-bound, bound, n_slopes + units)
    drawn[:n_slopes] *= np.tile(inputs.any(axis=0), units)
    start = np.concatenate([drawn, np.zeros(k * units + k)])

    stop_by = rounds.stop_by
    if stop_by is None:
        point = descended(start, _PENALTIES[0], _USUAL_STEPS)
        return NetworkModel(design, *_parts(point, shapes), centre)
    held = design(rounds.sets[stop_by].X)
    best, model = start, None

    def is_better(point: Floats) -> bool:
        """Whether the held-out loss is smaller than before; if so, keep the network."""
        nonlocal best, model
        found = NetworkModel(design, *_parts(point.copy(), shapes), centre)
        scores = found.scores_of(held)
        if not (least := rounds.see(stop_by, scores)) < rounds.best_loss:
            return False
        rounds.best_loss, rounds.best_outputs = least, scores
        best, model = point.copy(), found
        return True

    is_better(best)
    for penalty in _PENALTIES:
        descended(best, penalty, _STEPS, is_better)
    if model is None:  # no loss is finite
        point = descended(start, _PENALTIES[0], _USUAL_STEPS)
        model = NetworkModel(design, *_parts(point, shapes), centre)
        rounds.best_outputs = model.scores_of(held)
    return model


# The hidden units of the networks of all folds side by side: their mean score is one network.
merged = NetworkModel.mean


def _descended(
    problem: tuple[Shapes, AnyArray, Ints, AnyArray],
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
        _loss,
        start,
        args=(penalty / len(problem[1]), *problem),
        jac=True,
        method="L-BFGS-B",
        callback=after_step,
        options={"maxiter": n_steps, "maxfun": 2 * n_steps},
    )
    point = np.asarray(found.x)
    if is_better is not None and steps % _EVERY:  # it converged between two looks
        is_better(point)
    return point


def _parts(point: Floats, shapes: Shapes) -> tuple[Floats, Floats, Floats, Floats]:
    """Slopes, shifts, tops and base at a point."""
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    found = zip(np.split(point, ends), shapes, strict=True)
    slopes, shifts, tops, base = (part.reshape(shape) for part, shape in found)
    return slopes, shifts, tops, base


def _loss(
    point: Floats, penalty: float, shapes: Shapes, inputs: AnyArray, labels: Ints, shares: AnyArray
) -> tuple[float, Floats]:
    """Log loss and its gradient, with a squared penalty of slopes and tops."""
    parts = _parts(point, shapes)
    slopes, shifts, tops, base = (part.astype(inputs.dtype) for part in parts)
    total, gradient = 0.0, [np.zeros(shape) for shape in shapes]
    # Block by block, in single precision: a block and its hidden units stay in the cache, which
    # takes a quarter of the time. Sums over blocks are in double precision.
    for start in range(0, len(inputs), _ROWS):
        some = slice(start, start + _ROWS)
        x, y, share = inputs[some], labels[some], shares[some]
        hidden = x @ slopes.T
        hidden += shifts
        np.maximum(hidden, 0.0, out=hidden)
        scores = hidden @ tops.T + base
        if len(base) == 1:
            score, is_positive = scores[:, 0], y == 1
            losses = np.logaddexp(0.0, score) - score * is_positive
            steep = (expit(score) - is_positive)[:, None]
        else:
            rows = np.arange(len(scores))
            logs = scores - logsumexp(scores, axis=1, keepdims=True)
            losses = -logs[rows, y]
            steep = np.exp(logs)
            steep[rows, y] -= 1.0
        total += float(losses @ share)
        steep *= share[:, None]
        back = steep @ tops
        back *= hidden > 0
        found = back.T @ x, back.sum(axis=0), steep.T @ hidden, steep.sum(axis=0)
        for part, more in zip(gradient, found, strict=True):
            part += more
    for place in (0, 2):  # slopes and tops
        total += 0.5 * penalty * float(np.square(parts[place]).sum())
        gradient[place] += penalty * parts[place]
    return total, np.concatenate([part.ravel() for part in gradient])
