"""A small neural network: smooth boundaries across several columns, in few rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from scipy.optimize import OptimizeResult, minimize
from scipy.special import expit, logsumexp
from sklearn.utils import check_random_state

from costboost._typing import AnyArray, Floats, Ints

# Rows that it is trained on, at most.
NETWORK_ROWS = 40_000
# Standardised values beyond are cut off: a line through an outlier says nothing about the others.
MOST = 5.0
# Rows that are multiplied at a time: of a prediction, and of a training.
PREDICTION_BLOCK_ROWS = 64
TRAINING_BLOCK_ROWS = 2048
# Hidden units: so many at least, and so many per score.
LEAST_UNITS = 32
UNITS_PER_SCORE = 4
# Squared penalties of the weights in rows; the second starts from the best point of the first.
PENALTIES = (5.0, 0.5)
# Steps of a training by one penalty, and after how many of them the held-out rows are asked.
STEPS = 120
STEPS_PER_LOOK = 10
# Looks at which their loss may be no smaller before the training ends.
PATIENCE_LOOKS = 2
# Steps if no row is held out.
USUAL_STEPS = 50
# Categories of all columns, if the network comes from a file.
MAX_CATEGORIES = 2**20


# --- the trained network --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Design:
    """How columns become the inputs of a smooth model.

    Numbers are standardised, missing ones replaced by the median and marked; a category becomes a
    column of zeros and ones for each of its values.
    """

    numeric: Ints
    categorical: Ints
    medians: Floats
    means: Floats
    scales: Floats
    gaps: Ints  # columns with missing values
    sizes: Ints  # values of each category

    @classmethod
    def of(cls, X: AnyArray, categorical: list[int]) -> Design:
        """Return the design for the columns of a table."""
        codes = np.asarray(categorical, dtype=np.intp)
        numeric = np.setdiff1d(np.arange(X.shape[1]), codes)
        values = np.asarray(X[:, numeric], dtype=np.float64)
        missing = ~np.isfinite(values)
        medians = np.zeros(len(numeric))
        for j, column in enumerate(values.T):
            if not missing[:, j].all():
                medians[j] = np.median(column[~missing[:, j]])
        filled = np.where(missing, medians, values)
        # Means of scaled values: sums of huge ones would overflow.
        unit = np.maximum(np.abs(filled).max(axis=0, initial=0.0), np.finfo(float).tiny)
        means = (filled / unit).mean(axis=0) * unit
        scales = (filled / unit).std(axis=0) * unit
        # A constant column, such as one that is left out of a frame, is no input.
        varies = scales > 1e-12 * unit
        category_codes = np.asarray(X[:, codes], dtype=np.float64)
        return cls(
            numeric=numeric[varies],
            categorical=codes,
            medians=medians[varies],
            means=means[varies],
            scales=scales[varies],
            gaps=numeric[missing.any(axis=0)],
            # One value if none is present, so that there is an input.
            sizes=np.nan_to_num(category_codes).max(axis=0, initial=0.0).astype(np.intp) + 1,
        )

    def check(self) -> None:
        """Raise a ValueError if inputs would take more memory than categories can need."""
        sizes = self.sizes
        if sizes.dtype.kind != "i" or (sizes < 0).any() or (sizes > MAX_CATEGORIES).any():
            raise ValueError(f"sizes must be counts of at most {MAX_CATEGORIES}")
        if sizes.sum() > MAX_CATEGORIES:
            raise ValueError("there are too many categories")

    @property
    def sources(self) -> Ints:
        """The column of the table behind each input."""
        return np.concatenate([self.numeric, self.gaps, np.repeat(self.categorical, self.sizes)])

    def __call__(self, X: AnyArray) -> Floats:
        """Return the inputs of a smooth model, (n, p)."""
        values = np.asarray(X[:, self.numeric], dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            filled = np.where(np.isnan(values), self.medians, values)
            scaled = np.clip((filled - self.means) / self.scales, -MOST, MOST)
        gaps = ~np.isfinite(np.asarray(X[:, self.gaps], dtype=np.float64))
        inputs = [np.nan_to_num(scaled), gaps]
        for column, size in zip(self.categorical, self.sizes, strict=True):
            inputs.append(np.asarray(X[:, column])[:, None] == np.arange(size))
        return np.hstack(inputs, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class NetworkModel:
    """A network with one hidden layer of rectified units, on the inputs that a design makes."""

    engine: ClassVar[str] = "network"
    # It is fitted at once.
    n_rounds: ClassVar[int] = 1

    design: Design
    slopes: Floats  # (units, inputs)
    shifts: Floats  # (units,)
    tops: Floats  # (scores, units)
    base: Floats  # (scores,)
    centre: Floats  # the mean inputs

    @classmethod
    def mean(cls, models: Sequence[NetworkModel]) -> NetworkModel:
        """Return one model with the mean score of models that share a design."""
        return cls(
            design=models[0].design,
            # Their units side by side.
            slopes=np.vstack([model.slopes for model in models]),
            shifts=np.concatenate([model.shifts for model in models]),
            tops=np.hstack([model.tops for model in models]) / len(models),
            base=np.mean([model.base for model in models], axis=0),
            centre=np.mean([model.centre for model in models], axis=0),
        )

    @property
    def booster(self) -> Self:
        """The model itself: there is no library behind it."""
        return self

    def scores_of(self, inputs: Floats) -> Floats:
        """Return raw scores of inputs."""
        hidden = np.maximum(row_products(inputs, self.slopes) + self.shifts, 0.0)
        scores = row_products(hidden, self.tops) + self.base
        if len(self.base) == 1:
            return scores[:, 0]
        return scores

    def predict(self, X: AnyArray) -> Floats:
        """Return raw scores."""
        return self.scores_of(self.design(X))

    def staged_predict(self, X: AnyArray) -> Iterator[Floats]:
        """Yield the scores, once."""
        yield self.predict(X)

    def shifted(self, shift: float | Floats) -> NetworkModel:
        """Return the model with a number added to each score."""
        return replace(self, base=self.base + shift)

    def contributions(self, X: AnyArray) -> Floats:
        """Return what each feature adds to the score of a mean row; last the base."""
        # The score's gradient, averaged along the line from the centre to the row (Aumann and
        # Shapley 1974; integrated gradients): on it, a unit is active on one side of a point, so
        # the average is exact, and the effects sum to the difference of the scores.
        at_centre = self.slopes @ self.centre + self.shifts
        away = self.design(X) - self.centre
        change = row_products(away, self.slopes)
        low = np.minimum(at_centre, at_centre + change)
        high = np.maximum(at_centre, at_centre + change)
        # The share of the line on which a unit is active.
        crossed = np.divide(high, np.abs(change), out=np.zeros_like(high), where=change != 0.0)
        active = np.where(low > 0.0, 1.0, np.where(high > 0.0, crossed, 0.0))
        is_source = (self.design.sources == np.arange(X.shape[1])[:, None]).astype(np.float64)
        values = np.empty((len(away), len(self.base), X.shape[1] + 1))
        for score, top in enumerate(self.tops):
            effects = away * row_products(active * top, self.slopes.T)
            values[:, score, :-1] = row_products(effects, is_source)
        values[:, :, -1] = self.scores_of(self.centre[None])
        if len(self.base) == 1:
            return values[:, 0]
        return values

    def importances(self, n_features: int) -> Floats:
        """Return the sum over units and inputs of an input's weight times that of the unit."""
        sizes = np.abs(self.tops).sum(axis=0) @ np.abs(self.slopes)
        return np.bincount(self.design.sources, sizes, minlength=n_features).astype(np.float64)


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

    def predict_after(self, X: AnyArray, rounds: Sequence[int]) -> dict[int, Floats]:
        """Return raw scores after some numbers of looks."""
        return {n: self.points[n - 1].predict(X) for n in set(rounds)}


def row_products(rows, weights):
    """Return products of rows and weights, each row by the same steps whatever the others are."""
    # A matrix product may add in another order if there are more rows, so that the score of a row
    # would depend on the batch that it comes in. Blocks of one size do not.
    n_rows, n_inputs = rows.shape
    n_blocks = -(-n_rows // PREDICTION_BLOCK_ROWS)
    padded = np.zeros((n_blocks * PREDICTION_BLOCK_ROWS, n_inputs))
    padded[:n_rows] = rows
    blocks = padded.reshape(n_blocks, PREDICTION_BLOCK_ROWS, n_inputs)
    products = blocks @ np.ascontiguousarray(weights.T)
    return products.reshape(len(padded), len(weights))[:n_rows]


# --- training -------------------------------------------------------------------------------------


def fit_network(training):
    """Train a network with one hidden layer and a squared penalty, stopped by held-out rows."""
    # It is trained on all rows at a time (L-BFGS): for tables of some thousand rows that takes a
    # few hundred steps, and there is no learning rate to choose. scikit-learn's network cannot be
    # stopped by given rows, and takes weights only in newer versions. Only for log loss, and for
    # tables that are not sparse.
    fold = training.fold
    # One design for all folds, so that their models can be put into one.
    design = Design.of(fold.source.X, fold.source.categorical)
    rng = check_random_state(fold.seed)
    data = fold.train
    if len(data) > NETWORK_ROWS:
        data = data.take(np.sort(rng.permutation(len(data))[:NETWORK_ROWS]))
    target = training.objective.target(data.costs, data.sample_weight)
    inputs = design(data.X)
    centre = inputs.mean(axis=0)
    # An input that is the same on all rows, such as a category not among them, tells nothing.
    inputs = np.where(np.ptp(inputs, axis=0) > 0, inputs, 0.0).astype(np.float32)
    row_weight = target.weight / target.weight.mean()
    shares = (row_weight / row_weight.sum()).astype(np.float32)

    # Random hidden units (Glorot and Bengio 2010) that do not count in the scores yet.
    n_inputs = inputs.shape[1]
    n_scores = training.objective.n_scores
    n_units = max(LEAST_UNITS, UNITS_PER_SCORE * n_scores)
    shapes = [(n_units, n_inputs), (n_units,), (n_scores, n_units), (n_scores,)]
    bound = np.sqrt(6.0 / (n_units + n_inputs))
    start = np.zeros(sum(np.prod(shape) for shape in shapes))
    n_slopes = n_units * n_inputs
    start[: n_slopes + n_units] = rng.uniform(-bound, bound, n_slopes + n_units)
    start[:n_slopes] *= np.tile(inputs.any(axis=0), n_units)

    search = NetworkSearch(training, design, centre, shapes, start)
    if search.held_out is None:
        search.descend(USUAL_STEPS, PENALTIES[0], inputs, target.y, shares)
        return search.model(search.best)
    for penalty in PENALTIES:
        search.descend(STEPS, penalty, inputs, target.y, shares)
    if training.chooses_by_parts:
        return NetworkPath([search.model(point) for point in search.path])
    return search.model(search.best)


class NetworkSearch:
    """Looks at the held-out rows every few steps, keeps the best point, and ends the training."""

    def __init__(self, training, design, centre, shapes, start):
        self.training = training
        self.design = design
        self.centre = centre
        self.shapes = shapes  # of slopes, shifts, tops and base, which are one point
        self.held_out = None
        if training.stops_early:
            self.held_out = design(training.held_out.X)
        self.path = []
        self.n_looks = 1
        self.n_steps = 0
        self.n_waits = 0
        self.best = start
        self.look(start)

    def model(self, point):
        """Return the network at a point."""
        slopes, shifts, tops, base = split_weights(point, self.shapes)
        return NetworkModel(self.design, slopes, shifts, tops, base, self.centre)

    def look(self, point):
        """Return True if the held-out loss is smaller than before, and keep the point then."""
        if self.held_out is not None:
            self.path.append(point.copy())
            loss = self.training.record(self.model(point).scores_of(self.held_out))
            is_better = loss < self.training.best_loss  # False of NaN
            if not is_better:
                return False
            self.training.best_loss = loss
        self.best = point.copy()
        return True

    def __call__(self, intermediate_result: OptimizeResult) -> None:
        """Look after every few steps, and end the training if that has not helped for long."""
        self.n_steps += 1
        if self.n_steps % STEPS_PER_LOOK:
            return
        self.n_waits += 1
        if self.look(intermediate_result.x):
            self.n_waits = 0
        if self.n_waits >= PATIENCE_LOOKS:
            raise StopIteration

    def descend(self, n_steps, penalty, inputs, y, shares):
        """Lower the loss by some steps from the best point."""
        self.n_steps = 0
        self.n_waits = 0
        result = minimize(
            network_loss,
            self.best,
            args=(self.shapes, penalty / len(inputs), inputs, y, shares),
            jac=True,
            method="L-BFGS-B",
            callback=self,
            options={"maxiter": n_steps, "maxfun": 2 * n_steps},
        )
        if self.n_steps % STEPS_PER_LOOK:  # it converged between two looks
            self.look(result.x)
        # Folds are compared look by look: a descent that has ended early keeps its last point.
        self.n_looks += STEPS // STEPS_PER_LOOK + 1
        n_missing = self.n_looks - len(self.path)
        self.path += self.path[-1:] * n_missing
        self.training.part_losses += self.training.part_losses[-1:] * n_missing


def split_weights(point, shapes):
    """Return slopes, shifts, tops and base at a point."""
    ends = np.cumsum([np.prod(shape) for shape in shapes])[:-1]
    pairs = zip(np.split(point, ends), shapes, strict=True)
    return [part.reshape(shape) for part, shape in pairs]


def network_loss(point, shapes, penalty, inputs, y, shares):
    """Return log loss and its gradient, with a squared penalty of slopes and tops."""
    exact = split_weights(point, shapes)
    slopes, shifts, tops, base = (part.astype(inputs.dtype) for part in exact)
    total = 0.0
    gradient = [np.zeros(shape) for shape in shapes]
    # Block by block, in single precision: a block and its hidden units stay in the cache, which
    # takes a quarter of the time. Sums over blocks are in double precision.
    for start in range(0, len(inputs), TRAINING_BLOCK_ROWS):
        block = slice(start, start + TRAINING_BLOCK_ROWS)
        x = inputs[block]
        share = shares[block]
        hidden = x @ slopes.T
        hidden += shifts
        np.maximum(hidden, 0.0, out=hidden)
        losses, steep = log_loss_and_slope(hidden @ tops.T + base, y[block])
        total += float(losses @ share)
        steep *= share[:, None]
        back = steep @ tops
        back *= hidden > 0
        gradient[0] += back.T @ x
        gradient[1] += back.sum(axis=0)
        gradient[2] += steep.T @ hidden
        gradient[3] += steep.sum(axis=0)
    for i in (0, 2):  # slopes and tops
        total += 0.5 * penalty * float(np.square(exact[i]).sum())
        gradient[i] += penalty * exact[i]
    return total, np.concatenate([part.ravel() for part in gradient])


def log_loss_and_slope(scores, y):
    """Return the log loss of each row, (n,), and its derivative by each score, (n, scores)."""
    if scores.shape[1] == 1:
        score = scores[:, 0]
        is_positive = y == 1
        losses = np.logaddexp(0.0, score) - score * is_positive
        return losses, (expit(score) - is_positive)[:, None]
    rows = np.arange(len(scores))
    logs = scores - logsumexp(scores, axis=1, keepdims=True)
    slope = np.exp(logs)
    slope[rows, y] -= 1.0
    return -logs[rows, y], slope
