"""Trained models: what an engine leaves behind scores, explains itself and is kept in files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import lightgbm as lgb
import numpy as np

from costboost._frames import is_sparse
from costboost._threads import is_forked, limit_forked, most_threads
from costboost._typing import AnyArray, Floats, Ints
from costboost.gbm.engines.trees import trees_for

if TYPE_CHECKING:
    import xgboost as xgb

__all__ = [
    "MOST",
    "Design",
    "DesignModel",
    "LightGBMModel",
    "Model",
    "NetworkModel",
    "XGBoostModel",
    "in_single",
    "row_products",
    "written_out",
]

# Standardised values beyond are cut off: a line through an outlier says nothing about the others.
MOST = 5.0
# Rows that are multiplied at a time.
_BLOCK = 64


class Model(ABC):
    """A trained member: raw scores, (n,) if there is one score per row, else (n, n_scores)."""

    booster: Any
    # Name of the engine that trained it.
    engine: ClassVar[str]

    @property
    @abstractmethod
    def n_rounds(self) -> int:
        """Number of rounds kept."""

    @abstractmethod
    def scores(self, X: AnyArray) -> Floats:
        """Raw scores."""

    @abstractmethod
    def staged_scores(self, X: AnyArray) -> Iterator[Floats]:
        """Raw scores after each round."""

    @abstractmethod
    def contributions(self, X: AnyArray) -> Floats:
        """SHAP values: a column per feature, and last the base; they sum to the scores."""

    @abstractmethod
    def importances(self, n_features: int) -> Floats:
        """Total gain of each feature."""


class LightGBMModel(Model):
    """A LightGBM booster, all of whose rounds count."""

    engine = "lightgbm"

    def __init__(self, booster: lgb.Booster) -> None:
        self.booster = booster

    @property
    def n_rounds(self) -> int:
        """Number of rounds kept."""
        best = self.booster.best_iteration
        return int(best if best > 0 else self.booster.current_iteration())

    def scores(self, X: AnyArray) -> Floats:
        """Raw scores: of many rows by many trees by `Trees`, which is faster."""
        trees = None
        if not is_sparse(X) and X.shape[1] == self.booster.num_feature():
            trees = trees_for(self.booster, self.n_rounds, len(X))
        if trees is not None:
            threads = int(self.booster.params.get("num_threads", 0))
            return trees.scores(X, most_threads(threads if threads > 0 else None))
        return np.asarray(self._predicted(X, raw_score=True, num_iteration=self.n_rounds))

    def _predicted(self, X: AnyArray, **options: Any) -> Any:
        """The booster's answer, in a forked process by one thread."""
        if is_forked():
            options["num_threads"] = 1
        return self.booster.predict(X, **options)

    def staged_scores(self, X: AnyArray) -> Iterator[Floats]:
        """Raw scores after each round."""
        total: Any = 0.0
        for t in range(self.n_rounds):
            total = total + self._predicted(X, raw_score=True, start_iteration=t, num_iteration=1)
            yield total

    def contributions(self, X: AnyArray) -> Floats:
        """SHAP values, last the base."""
        found: Any = self._predicted(X, pred_contrib=True, num_iteration=self.n_rounds)
        if isinstance(found, list):  # of sparse rows: a sparse matrix per score
            return np.stack([part.toarray() for part in found], axis=1)
        values = np.asarray(found.toarray() if is_sparse(found) else found)
        width = X.shape[1] + 1
        return values if values.shape[1] == width else values.reshape(len(values), -1, width)

    def importances(self, n_features: int) -> Floats:
        """Total gain of each feature."""
        gains = self.booster.feature_importance("gain", iteration=self.n_rounds)
        return np.asarray(gains, dtype=np.float64)


class XGBoostModel(Model):
    """An XGBoost booster."""

    engine = "xgboost"

    def __init__(self, booster: xgb.Booster, types: list[str] | None) -> None:
        self.booster = booster
        self.types = types

    @property
    def n_rounds(self) -> int:
        """Number of rounds kept."""
        return int(self.booster.num_boosted_rounds())

    def _matrix(self, X: AnyArray) -> xgb.DMatrix:
        import xgboost as xgb  # imported here: LightGBM does without

        options: dict[str, Any] = {}
        if is_forked():  # by one thread
            limit_forked()
            options["nthread"] = 1
            self.booster.set_param({"nthread": 1})
        is_categorical = self.types is not None
        return xgb.DMatrix(
            X, feature_types=self.types, enable_categorical=is_categorical, **options
        )

    def _predicted(self, X: AnyArray, **options: Any) -> Floats:
        """The booster's answer, block by block for sparse rows."""
        parts = [self.booster.predict(self._matrix(rows), **options) for rows in written_out(X)]
        return np.asarray(parts[0] if len(parts) == 1 else np.concatenate(parts), np.float64)

    def scores(self, X: AnyArray) -> Floats:
        """Raw scores."""
        return self._predicted(X, output_margin=True)

    def staged_scores(self, X: AnyArray) -> Iterator[Floats]:
        """Raw scores after each round."""
        if is_sparse(X):
            for t in range(self.n_rounds):
                yield self._predicted(X, output_margin=True, iteration_range=(0, t + 1))
            return
        rows = self._matrix(in_single(X))
        for t in range(self.n_rounds):
            scores = self.booster.predict(rows, output_margin=True, iteration_range=(0, t + 1))
            yield np.asarray(scores, dtype=np.float64)

    def contributions(self, X: AnyArray) -> Floats:
        """SHAP values, last the base."""
        return self._predicted(X, pred_contribs=True)

    def importances(self, n_features: int) -> Floats:
        """Total gain of each feature."""
        gains = np.zeros(n_features)
        names = self.booster.feature_names or [f"f{j}" for j in range(n_features)]
        place = {name: j for j, name in enumerate(names)}
        for name, gain in self.booster.get_score(importance_type="total_gain").items():
            gains[place[name]] = np.sum(gain)
        return gains


# Numbers of sparse rows that are written out at a time.
_DENSE_NUMBERS = 2**21


def written_out(X: Any) -> Iterator[AnyArray]:
    """Arrays as they are; sparse rows written out, a block at a time."""
    # XGBoost takes entries that a sparse matrix leaves out for missing values. Here they are zeros,
    # as in the array of the same rows.
    if not is_sparse(X):
        yield in_single(X)
        return
    step = max(_DENSE_NUMBERS // max(X.shape[1], 1), 1)
    for start in range(0, X.shape[0], step):
        yield in_single(X[start : start + step].toarray())


_LARGEST = float(np.finfo(np.float32).max)


def in_single(X: AnyArray) -> AnyArray:
    """Numbers that single precision holds: larger ones, refused by XGBoost, become the largest."""
    # No threshold is beyond it, so a new row falls into the same leaf.
    if X.dtype == np.float64 and X.size:
        largest = max(np.fmax.reduce(X, axis=None), -np.fmin.reduce(X, axis=None))
        if largest > _LARGEST:
            return np.clip(X, -_LARGEST, _LARGEST)
    return X


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
        medians = np.array([_median(column) for column in values.T], dtype=np.float64)
        filled = np.where(missing, medians, values)
        # Means of scaled values: sums of huge ones would overflow.
        unit = np.maximum(np.abs(filled).max(axis=0, initial=0.0), np.finfo(float).tiny)
        means = (filled / unit).mean(axis=0) * unit
        scales = (filled / unit).std(axis=0) * unit
        tiny = scales <= 1e-12 * unit
        known = np.asarray(X[:, codes], dtype=np.float64)
        sizes = np.array([_n_codes(column) for column in known.T], dtype=np.intp)
        return cls(
            numeric,
            codes,
            medians,
            means,
            np.where(tiny, np.inf, scales),  # constant columns become zeros
            numeric[missing.any(axis=0)],
            sizes,
        )

    @property
    def n_features(self) -> int:
        """Number of columns of the table."""
        return len(self.numeric) + len(self.categorical)

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


class DesignModel(Model):
    """A model of the inputs that a design makes of rows."""

    design: Design
    base: Floats
    centre: Floats

    @property
    def booster(self) -> Self:
        """The model itself: there is no library behind it."""
        return self

    @property
    def n_rounds(self) -> int:
        """One: it is fitted at once."""
        return 1

    @abstractmethod
    def all_scores(self, inputs: Floats) -> Floats:
        """Raw scores of inputs, (n, n_scores)."""

    @abstractmethod
    def effects(self, inputs: Floats, score: int) -> Floats:
        """What each input adds to a score of the centre, (n, p)."""

    @abstractmethod
    def sizes(self) -> Floats:
        """How much each input weighs, (p,)."""

    def scores_of(self, inputs: Floats) -> Floats:
        """Raw scores of inputs."""
        found = self.all_scores(inputs)
        return np.asarray(found[:, 0] if len(self.base) == 1 else found)

    def scores(self, X: AnyArray) -> Floats:
        """Raw scores."""
        return self.scores_of(self.design(X))

    def staged_scores(self, X: AnyArray) -> Iterator[Floats]:
        """The scores, once."""
        yield self.scores(X)

    def contributions(self, X: AnyArray) -> Floats:
        """What each feature adds to the score of a mean row; last the base."""
        inputs = self.design(X)
        found = np.zeros((len(inputs), len(self.base), X.shape[1] + 1))
        is_source = self.design.sources[:, None] == np.arange(X.shape[1])
        for score in range(len(self.base)):
            effects = self.effects(inputs, score)
            found[:, score, :-1] = row_products(effects, is_source.T.astype(np.float64))
        found[:, :, -1] = self.all_scores(self.centre[None])[0]
        return found[:, 0] if len(self.base) == 1 else found

    def importances(self, n_features: int) -> Floats:
        """Sum of the sizes of each feature's inputs."""
        return np.asarray(
            np.bincount(self.design.sources, self.sizes(), minlength=n_features), dtype=np.float64
        )


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


class NetworkModel(DesignModel):
    """A network with one hidden layer of rectified units."""

    engine = "network"

    def __init__(
        self,
        design: Design,
        slopes: Floats,
        shifts: Floats,
        tops: Floats,
        base: Floats,
        centre: Floats,
    ) -> None:
        self.design = design
        self.slopes = slopes
        self.shifts = shifts
        self.tops = tops
        self.base = base
        self.centre = centre

    @classmethod
    def mean(cls, models: Sequence[NetworkModel]) -> NetworkModel:
        """One model with the mean score of models that share a design."""
        return cls(
            models[0].design,
            np.vstack([model.slopes for model in models]),
            np.concatenate([model.shifts for model in models]),
            np.hstack([model.tops for model in models]) / len(models),
            np.mean([model.base for model in models], axis=0),
            np.mean([model.centre for model in models], axis=0),
        )

    def all_scores(self, inputs: Floats) -> Floats:
        """Raw scores of inputs, (n, n_scores)."""
        hidden = np.maximum(row_products(inputs, self.slopes) + self.shifts, 0.0)
        return np.asarray(row_products(hidden, self.tops) + self.base)

    def effects(self, inputs: Floats, score: int) -> Floats:
        """What each input adds to a score of the centre, (n, p)."""
        # The score's gradient, averaged along the line from the centre to the row (Aumann and
        # Shapley 1974; integrated gradients): on it, a unit is active on one side of a point, so
        # the average is exact, and the effects sum to the difference of the scores.
        at_centre = self.slopes @ self.centre + self.shifts
        away = inputs - self.centre
        moves = row_products(away, self.slopes)
        low, high = (
            np.minimum(at_centre, at_centre + moves),
            np.maximum(at_centre, at_centre + moves),
        )
        # The share of the line on which a unit is active.
        crossed = np.divide(high, np.abs(moves), out=np.zeros_like(high), where=moves != 0.0)
        active = np.where(low > 0.0, 1.0, np.where(high > 0.0, crossed, 0.0))
        return np.asarray(away * row_products(active * self.tops[score], self.slopes.T))

    def sizes(self) -> Floats:
        """Sum over the units of the size of each input's weight times that of the unit."""
        return np.asarray(np.abs(self.tops).sum(axis=0) @ np.abs(self.slopes))


def _median(column: Floats) -> float:
    """The median of the numbers among the values; 0 if there are none."""
    known = column[np.isfinite(column)]
    return float(np.median(known)) if len(known) else 0.0


def _n_codes(column: Floats) -> int:
    """Number of values of a column of codes; 1 if none is known, so that there is an input."""
    known = column[np.isfinite(column)]
    return int(known.max()) + 1 if len(known) else 1
