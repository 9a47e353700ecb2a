"""A small neural network: smooth boundaries across several columns, in few rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np
from scipy.optimize import OptimizeResult, minimize
from scipy.special import expit, logsumexp

from costboost._typing import AnyArray, Floats, Ints

if TYPE_CHECKING:
    from costboost.gbm.models import Target
    from costboost.gbm.rows import MemoryRows
    from costboost.gbm.train import Rounds

# Rows that it is trained on, at most.
NETWORK_ROWS = 40_000
# Standardised values beyond are cut off: a line through an outlier says nothing about the others.
MOST = 5.0
# Rows that are multiplied at a time.
_BLOCK = 64
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


# --- the trained network --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Design:
    """How columns become the inputs of a smooth model."""

    # Numbers are standardised, missing ones replaced by the median and marked; a category becomes a
    # column of zeros and ones for each of its values.

    numeric: Ints
    categorical: Ints
    medians: Floats
    means: Floats
    scales: Floats
    gaps: Ints
    sizes: Ints

    @classmethod
    def of(cls, X: AnyArray, categorical: list[int]) -> Design:
        """The design for the columns of a table."""
        codes = np.asarray(categorical, dtype=np.intp)
        numeric = np.setdiff1d(np.arange(X.shape[1]), codes)
        values = np.asarray(X[:, numeric], dtype=np.float64)
        missing = ~np.isfinite(values)
        known = [column[np.isfinite(column)] for column in values.T]
        medians = np.array([np.median(part) if len(part) else 0.0 for part in known], np.float64)
        filled = np.where(missing, medians, values)
        # Means of scaled values: sums of huge ones would overflow.
        unit = np.maximum(np.abs(filled).max(axis=0, initial=0.0), np.finfo(float).tiny)
        means = (filled / unit).mean(axis=0) * unit
        scales = (filled / unit).std(axis=0) * unit
        # A constant column, such as one that is left out of a frame, is no input.
        varies = scales > 1e-12 * unit
        coded = np.asarray(X[:, codes], dtype=np.float64)
        # One value if none is known, so that there is an input.
        sizes = np.nan_to_num(coded).max(axis=0, initial=0.0).astype(np.intp) + 1
        gaps, numeric = numeric[missing.any(axis=0)], numeric[varies]
        medians, means, scales = medians[varies], means[varies], scales[varies]
        return cls(numeric, codes, medians, means, scales, gaps, sizes)

    @property
    def sources(self) -> Ints:
        """The column of the table behind each input."""
        return np.concatenate([self.numeric, self.gaps, np.repeat(self.categorical, self.sizes)])

    def __call__(self, X: AnyArray) -> Floats:
        """The inputs of a smooth model, (n, p)."""
        values = np.asarray(X[:, self.numeric], dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            filled = np.where(np.isnan(values), self.medians, values)
            scaled = np.clip((filled - self.means) / self.scales, -MOST, MOST)
        parts = [
            np.nan_to_num(scaled),
            ~np.isfinite(np.asarray(X[:, self.gaps], dtype=np.float64)),
        ]
        for column, size in zip(self.categorical, self.sizes, strict=True):
            parts.append(np.asarray(X[:, column])[:, None] == np.arange(size))
        return np.hstack(parts, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class NetworkModel:
    """A network with one hidden layer of rectified units, on the inputs that a design makes."""

    engine: ClassVar[str] = "network"
    # It is fitted at once.
    n_rounds: ClassVar[int] = 1

    design: Design
    slopes: Floats
    shifts: Floats
    tops: Floats
    base: Floats
    centre: Floats

    @classmethod
    def mean(cls, models: Sequence[NetworkModel]) -> NetworkModel:
        """One model with the mean score of models that share a design: their units side by side."""
        return cls(
            models[0].design,
            np.vstack([model.slopes for model in models]),
            np.concatenate([model.shifts for model in models]),
            np.hstack([model.tops for model in models]) / len(models),
            np.mean([model.base for model in models], axis=0),
            np.mean([model.centre for model in models], axis=0),
        )

    @property
    def booster(self) -> Self:
        """The model itself: there is no library behind it."""
        return self

    def scores_of(self, inputs: Floats) -> Floats:
        """Raw scores of inputs."""
        hidden = np.maximum(row_products(inputs, self.slopes) + self.shifts, 0.0)
        found = row_products(hidden, self.tops) + self.base
        return np.asarray(found[:, 0] if len(self.base) == 1 else found)

    def scores(self, X: AnyArray) -> Floats:
        """Raw scores."""
        return self.scores_of(self.design(X))

    def shifted(self, shift: float | Floats) -> NetworkModel:
        """The model with a number added to each score."""
        return replace(self, base=self.base + shift)

    def staged_scores(self, X: AnyArray) -> Iterator[Floats]:
        """The scores, once."""
        yield self.scores(X)

    def contributions(self, X: AnyArray) -> Floats:
        """What each feature adds to the score of a mean row; last the base."""
        # The score's gradient, averaged along the line from the centre to the row (Aumann and
        # Shapley 1974; integrated gradients): on it, a unit is active on one side of a point, so
        # the average is exact, and the effects sum to the difference of the scores.
        at_centre = self.slopes @ self.centre + self.shifts
        away = self.design(X) - self.centre
        moves = row_products(away, self.slopes)
        low = np.minimum(at_centre, at_centre + moves)
        high = np.maximum(at_centre, at_centre + moves)
        # The share of the line on which a unit is active.
        crossed = np.divide(high, np.abs(moves), out=np.zeros_like(high), where=moves != 0.0)
        active = np.where(low > 0.0, 1.0, np.where(high > 0.0, crossed, 0.0))
        is_source = (self.design.sources == np.arange(X.shape[1])[:, None]).astype(np.float64)
        found = np.empty((len(away), len(self.base), X.shape[1] + 1))
        for score, top in enumerate(self.tops):
            effects = away * row_products(active * top, self.slopes.T)
            found[:, score, :-1] = row_products(effects, is_source)
        found[:, :, -1] = self.scores_of(self.centre[None])
        return found[:, 0] if len(self.base) == 1 else found

    def importances(self, n_features: int) -> Floats:
        """Sum over units and inputs of the size of an input's weight times that of the unit."""
        sizes = np.abs(self.tops).sum(axis=0) @ np.abs(self.slopes)
        return np.asarray(np.bincount(self.design.sources, sizes, minlength=n_features), np.float64)


@dataclass(frozen=True, eq=False)
class NetworkPath:
    """A network in training, at each look at the held-out rows: a round each."""

    points: list[NetworkModel]

    @property
    def n_rounds(self) -> int:
        """Number of looks."""
        return len(self.points)

    def first_rounds(self, n_rounds: int) -> NetworkModel:
        """Return the network as it was after some looks."""
        return self.points[n_rounds - 1]

    def scores_after(self, X: AnyArray, rounds: Sequence[int]) -> dict[int, Floats]:
        """Return raw scores after some numbers of looks."""
        return {n: self.points[n - 1].scores(X) for n in set(rounds)}


def row_products(rows: Floats, weights: Floats) -> Floats:
    """Products of rows and weights, each row by the same steps whatever the others are."""
    # A matrix product may add in another order if there are more rows, so that the score of a row
    # would depend on the batch that it comes in. Blocks of one size do not.
    n, p = rows.shape
    n_blocks = -(-n // _BLOCK)
    padded = np.zeros((n_blocks * _BLOCK, p))
    padded[:n] = rows
    found = padded.reshape(n_blocks, _BLOCK, p) @ np.ascontiguousarray(weights.T)
    return np.asarray(found.reshape(len(padded), len(weights))[:n])


# --- training -------------------------------------------------------------------------------------


def fit(
    X: AnyArray, target: Target, rounds: Rounds, table: MemoryRows
) -> NetworkModel | NetworkPath:
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
        X, target = X[some], target.take(some)
    inputs, k = design(X), target.n_scores
    centre = inputs.mean(axis=0)
    weights = target.weights / target.weights.mean()
    # An input that is the same on all rows, such as a category not among them, tells nothing.
    inputs = np.where(np.ptp(inputs, axis=0) > 0, inputs, 0.0).astype(np.float32)
    units = max(_UNITS, _UNITS_PER_SCORE * k)
    # Slopes, shifts, tops and base.
    shapes = (units, inputs.shape[1]), (units,), (k, units), (k,)
    shares = (weights / weights.sum()).astype(np.float32)
    # Random hidden units (Glorot and Bengio 2010), whose weights in the scores are zero.
    bound, n_slopes = np.sqrt(6.0 / sum(shapes[0])), units * inputs.shape[1]
    drawn = rng.uniform(-bound, bound, n_slopes + units)
    drawn[:n_slopes] *= np.tile(inputs.any(axis=0), units)
    start = np.concatenate([drawn, np.zeros(k * units + k)])

    stop_by: Any = rounds.stop_by
    held: Any = None if stop_by is None else design(rounds.sets[stop_by].X)
    best, steps, waits = start, 0, 0
    path: list[Floats] = []
    n_looks = 1

    def is_better(point: Floats) -> bool:
        """Whether the held-out loss is smaller than before; if so, keep the point."""
        nonlocal best
        if held is not None:
            scores = NetworkModel(design, *_parts(point, shapes), centre).scores_of(held)
            path.append(point.copy())
            if not (least := rounds.see(stop_by, scores)) < rounds.best_loss:
                return False
            rounds.best_loss, rounds.best_outputs = least, scores
        best = point.copy()
        return True

    def after_step(intermediate_result: OptimizeResult) -> None:
        nonlocal steps, waits
        steps += 1
        if steps % _EVERY == 0:
            waits = 0 if is_better(intermediate_result.x) else waits + 1
            if waits >= _PATIENCE:
                raise StopIteration

    is_better(start)
    n_steps = _USUAL_STEPS if held is None else _STEPS
    for penalty in _PENALTIES[: 1 if held is None else None]:
        steps, waits = 0, 0
        found = minimize(
            _loss,
            best,
            args=(penalty / len(inputs), shapes, inputs, target.labels, shares),
            jac=True,
            method="L-BFGS-B",
            callback=after_step,
            options={"maxiter": n_steps, "maxfun": 2 * n_steps},
        )
        if steps % _EVERY:  # it converged between two looks
            is_better(found.x)
        # Folds are compared look by look: a penalty that has ended early keeps its last point.
        n_looks += _STEPS // _EVERY + 1
        missing = n_looks - len(path)
        path += path[-1:] * missing
        rounds.part_losses += rounds.part_losses[-1:] * missing
    if rounds.chooses_by_parts:
        points = [NetworkModel(design, *_parts(point, shapes), centre) for point in path]
        return NetworkPath(points)
    return NetworkModel(design, *_parts(best, shapes), centre)


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
