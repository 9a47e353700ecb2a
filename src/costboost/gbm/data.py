"""The rows of a fit: inputs, costs and weights, their sums, and the folds that share them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.utils import check_random_state

from costboost._typing import AnyArray, Bools, Floats, Ints
from costboost._utils import is_integer
from costboost.columns import Columns
from costboost.columns.table import is_sparse
from costboost.costs import CostSummary, RealizedCosts, summarize
from costboost.costs.costs import mean_prices
from costboost.gbm.settings import DEFAULTS

if TYPE_CHECKING:
    from costboost.gbm.classifier import CostBoostClassifier
    from costboost.gbm.models import Model, TreeModel
    from costboost.gbm.train import ModelTraining

LARGEST_SEED = int(np.iinfo(np.int32).max)


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Some rows: a table in memory, a batch of a file, a partition of a cluster."""

    X: AnyArray | None  # (n, p) inputs, NaN is missing, categories are codes; None if not needed
    costs: RealizedCosts  # what decisions cost, the class of each row being known
    sample_weight: Floats
    categorical: list[int] = field(default_factory=list)  # columns of X that hold codes
    groups: AnyArray = None  # rows of one group stay in one fold

    def __len__(self) -> int:
        return len(self.sample_weight)

    def take(self, rows: Ints | Bools | slice) -> TrainingData:
        """Return some of the rows."""
        X = self.X
        if X is not None:
            X = X[rows]
        groups = self.groups
        if groups is not None:
            groups = groups[rows]
        costs = self.costs.take(rows)
        return TrainingData(X, costs, self.sample_weight[rows], self.categorical, groups)

    def with_weight(self) -> TrainingData:
        """Return the rows that have weight."""
        if self.sample_weight.all():
            return self
        return self.take(np.flatnonzero(self.sample_weight))

    def without_inputs(self) -> TrainingData:
        """Return the rows without what models see of them."""
        return replace(self, X=None)

    @cached_property
    def totals(self) -> Totals:
        """The sums over the rows."""
        return Totals.of(self)

    @property
    def strata(self) -> Ints:
        """Kinds of rows that folds share out evenly, (n,): class, and whether errors cost."""
        # Where few rows have a price, folds by class alone may have no such row, and nothing to
        # learn from or to stop by.
        return np.asarray(2 * self.costs.y_index + self.costs.regret.any(axis=1), dtype=np.intp)

    @property
    def n_network_inputs(self) -> float:
        """The number of inputs, a category counted once per value; endless if X is sparse."""
        if is_sparse(self.X):
            return np.inf
        largest = np.nan_to_num(self.X[:, self.categorical]).max(axis=0, initial=0)
        return self.X.shape[1] + float(np.sum(largest))


# --- sums -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums over rows that have weight, held-out rows included."""

    # A table in memory is one part; Parquet files and Dask partitions are many, whose totals are
    # added. The rules that follow from the sums are the same for all of them:
    #
    # - One matrix for all rows is the mean matrix, unchanged.
    # - Matrices of single rows are averaged for each class over its own rows, which alone can pay
    #   it; over all rows if it has none.
    # - Prices (where only the costs under the true class are known) are averaged for each class
    #   over its own rows. A class whose rows have no weight gets no zeros, which would make every
    #   decision free: each of its mistakes gets the mean price of a mistake. If the decisions are
    #   not the classes, each decision gets its mean price over all rows.
    # - The unit of costs is what the worst decision costs on average.

    rows: int
    held_out_rows: int
    weight: Floats
    worst_cost: float  # what the costliest decision costs beyond the cheapest
    price_sums: Floats  # of the prices under each row's own class
    reduced_sums: Floats  # of what they are beyond the cheapest decision's
    matrix_sums: Floats | None  # of all rows, whatever the class; None if only prices are known
    cost_low: Floats
    cost_high: Floats
    classes: AnyArray
    decisions: AnyArray
    texts: dict[tuple[int, int], str]
    matrix: Floats | None = None

    @classmethod
    def of(cls, data: TrainingData, held_out_rows: int = 0) -> Totals:
        """Return the sums over some rows."""
        costs = data.costs
        weight = data.sample_weight
        if not costs.is_per_row and len(data):
            # With one matrix for all rows, a row of each class stands for all of its rows.
            present, first, codes = np.unique(costs.y_index, return_index=True, return_inverse=True)
            weight = np.bincount(codes, weight, minlength=len(present)).astype(np.float64)
            costs = costs.take(first)
        worst_cost = 0.0
        if len(weight):
            worst_cost = float(weight @ costs.regret.max(axis=1))
        matrix_sums = None
        if costs.matrix is not None and costs.matrix.ndim == 3:
            matrix_sums = np.tensordot(weight, costs.matrix, 1)
        matrix = None
        if not costs.is_per_row:
            matrix = costs.matrix
        spans = summarize(costs)
        n_classes = len(costs.classes)
        return cls(
            rows=len(data),
            held_out_rows=held_out_rows,
            weight=np.bincount(costs.y_index, weight, minlength=n_classes).astype(np.float64),
            worst_cost=worst_cost,
            price_sums=sums_by_class(costs.prices, costs.y_index, weight, n_classes),
            reduced_sums=sums_by_class(costs.regret, costs.y_index, weight, n_classes),
            matrix_sums=matrix_sums,
            cost_low=spans.low,
            cost_high=spans.high,
            classes=costs.classes,
            decisions=costs.decisions,
            texts=dict(costs.texts),
            matrix=matrix,
        )

    def __add__(self, other: Totals) -> Totals:
        matrix_sums = self.matrix_sums
        if matrix_sums is not None:
            matrix_sums = matrix_sums + other.matrix_sums
        return replace(
            self,
            rows=self.rows + other.rows,
            held_out_rows=self.held_out_rows + other.held_out_rows,
            weight=self.weight + other.weight,
            worst_cost=self.worst_cost + other.worst_cost,
            price_sums=self.price_sums + other.price_sums,
            reduced_sums=self.reduced_sums + other.reduced_sums,
            matrix_sums=matrix_sums,
            cost_low=np.fmin(self.cost_low, other.cost_low),
            cost_high=np.fmax(self.cost_high, other.cost_high),
        )

    @property
    def mean_costs(self) -> Floats:
        """One matrix for all rows, (k, d): what a decision costs on average under each class."""
        if self.matrix is not None:
            return self.matrix.copy()
        if self.matrix_sums is not None:
            return np.where(self.weight[:, None] > 0, self.summary.mean, self.mean_entries)
        is_square = self.classes.tolist() == self.decisions.tolist()
        return mean_prices(self.weight, self.reduced_sums, is_square=is_square)

    @property
    def mean_entries(self) -> Floats:
        """Mean of each entry over all rows on which it is known, (k, d); NaN if there are none."""
        if self.matrix_sums is None:
            return self.summary.mean
        return np.asarray(self.matrix_sums / self.weight.sum())

    @property
    def summary(self) -> CostSummary:
        """Smallest, mean and largest costs over the rows of each class, which print in words."""
        mean = self.matrix
        n_rows = None
        if mean is None:
            n_rows = self.rows
            mean = self.price_sums / np.where(self.weight > 0, self.weight, np.nan)[:, None]
        spans = (self.cost_low, mean, self.cost_high)
        return CostSummary(self.classes, self.decisions, *spans, n_rows, self.texts)

    @property
    def effective_mean(self) -> Floats:
        """The mean matrix of a fitted classifier: of a class without rows, that of others."""
        mean = self.summary.mean
        return np.where(np.isnan(mean), self.mean_costs, mean)


def sums_by_class(table: Floats, y_index: Ints, weight: Floats, n_classes: int) -> Floats:
    """Return the weighted sums of the rows of each class, (k, d)."""
    columns = [np.bincount(y_index, weight * column, minlength=n_classes) for column in table.T]
    return np.stack(columns, axis=1).astype(np.float64)


# --- folds ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to train on, and rows that are held out, if any are."""

    seed: int
    source: TrainingData | None = None  # all rows; None if they are not in memory
    train_rows: Ints | None = None  # indices; None is all rows
    held_out_rows: Ints | None = None
    eval_set: TrainingData | None = None  # rows of another table that are held out
    # The part of each held-out row: parts choose rounds and calibration for each other.
    parts: Ints | None = None

    # Rows are taken when they are asked for: five copies of a large table would not fit in memory.

    @property
    def train(self) -> TrainingData:
        """The rows to train on."""
        if self.train_rows is None:
            return self.source
        return self.source.take(self.train_rows)

    @property
    def held_out(self) -> TrainingData | None:
        """The rows that are held out."""
        if self.eval_set is not None:
            return self.eval_set
        if self.held_out_rows is None or self.source is None:
            return None
        return self.source.take(self.held_out_rows)

    @property
    def held_out_name(self) -> str:
        """What the held-out rows are called in `evals_result_`."""
        if self.eval_set is not None:
            return "eval_set"
        return "held_out"

    def predict_held_out(self, model: Model, held_out: TrainingData) -> Floats:
        """Return the scores of the held-out rows."""
        return model.predict(held_out.X)


class StreamedFold(Fold):
    """Rows that are never in memory together; subclasses train on them and score them."""

    @property
    def held_out_name(self) -> str:
        """What the held-out rows are called in `evals_result_`."""
        return "held_out"

    def fit_model(self, training: ModelTraining) -> TreeModel:
        """Train a model on the rows that are not held out."""
        raise NotImplementedError


def held_out_data(folds: Sequence[Fold]) -> TrainingData | None:
    """Return the held-out rows of all folds, without their inputs."""
    first = folds[0]
    if first.eval_set is not None:
        return first.eval_set.without_inputs()
    indices = [fold.held_out_rows for fold in folds if fold.held_out_rows is not None]
    if not indices or first.source is None:
        return None
    return first.source.without_inputs().take(np.concatenate(indices))


def make_folds(
    data: TrainingData,
    model: CostBoostClassifier,
    rng: np.random.RandomState,
    *,
    has_weight: Bools | None = None,
) -> list[Fold]:
    """Share the rows of a table out in folds, by the parameters of a classifier.

    Parameters
    ----------
    data : TrainingData
        The rows that have weight.
    model : CostBoostClassifier
    rng : RandomState
    has_weight : bool array, optional
        Which of the rows that the user passed these are: folds of his own count all of them.
    """
    n_rows = len(data)
    owner = type(model).__name__
    if n_rows < 2:
        raise ValueError(f"{owner} needs two rows or more with a weight above 0, got {n_rows}.")
    n_folds = model.cv
    if isinstance(model.cv, str):  # the effort and the number of rows choose
        is_small = n_rows < DEFAULTS.fast_fold_rows and model.early_stopping
        is_single = model.effort == "fast" and not is_small
        n_folds = DEFAULTS.folds
        if is_single or n_rows >= DEFAULTS.one_fold_rows:
            n_folds = 1
    if not is_integer(n_folds):
        splits = _own_folds(model.cv, data, owner, y=data.costs.y_index, has_weight=has_weight)
    else:
        splits = _usual_folds(min(int(n_folds), n_rows // 2), data, model, rng)
    seeds = [draw_seed(rng) for _ in splits]
    if splits[0][1] is None:
        return [Fold(seeds[0], data)]
    pairs = zip(seeds, splits, strict=True)
    folds = [Fold(seed, data, train, held_out) for seed, (train, held_out) in pairs]
    return _with_parts(folds)


def draw_seed(rng: np.random.RandomState) -> int:
    """Return a seed that all engines take."""
    return int(rng.randint(LARGEST_SEED))


def _usual_folds(n_folds, data, model, rng):
    """Return shuffled folds, or one part that is held out."""
    strata = data.strata
    if data.groups is not None:
        n_parts = n_folds
        if n_folds < 2:
            n_parts = round(1.0 / model.validation_fraction)
        cv = StratifiedGroupKFold(n_parts, shuffle=True, random_state=draw_seed(rng))
        splits = _own_folds(cv, data, type(model).__name__, y=strata)
        return splits[: max(n_folds, 1)]
    if n_folds >= 2:
        number = shared_out(strata, n_folds, rng)
        return [(np.flatnonzero(number != f), np.flatnonzero(number == f)) for f in range(n_folds)]
    rule = HoldOut.of(model, len(data), len(data.costs.classes), rng)
    held_out = rule.held_out(strata)
    if not held_out.any():
        return [(np.arange(len(data)), None)]
    return [(np.flatnonzero(~held_out), np.flatnonzero(held_out))]


def shared_out(strata: Ints, n_folds: int, rng: np.random.RandomState) -> Ints:
    """Return the fold of each row: shuffled, with the same share of every stratum, to a row."""
    order = rng.permutation(len(strata))
    order = order[np.argsort(strata[order], kind="stable")]
    number = np.empty(len(strata), dtype=np.intp)
    number[order] = np.arange(len(strata)) % n_folds
    return number


def _with_parts(folds):
    """Return folds whose held-out rows are in parts: the folds, or five parts of a single one."""
    held_out = [fold.held_out_rows for fold in folds if fold.held_out_rows is not None]
    if sum(map(len, held_out)) > DEFAULTS.part_rows:
        return folds
    if len(folds) > 1:
        pairs = zip(folds, held_out, strict=True)
        return [replace(fold, parts=np.full(len(rows), i)) for i, (fold, rows) in enumerate(pairs)]
    (fold,) = folds
    rng = check_random_state(fold.seed)
    data = fold.held_out
    if data.groups is None:
        parts = shared_out(data.strata, DEFAULTS.folds, rng)
    else:
        names, group = np.unique(data.groups, return_inverse=True)
        parts = rng.permutation(len(names))[group] % DEFAULTS.folds
    return [replace(fold, parts=parts)]


def sample_fold(fold: Fold, n_rows: int) -> Fold:
    """Return a fold of about so many of its rows, and of twice as many held-out ones."""
    rng = check_random_state(fold.seed)
    strata = fold.source.strata

    def sample(rows: Ints, wanted: int) -> Ints:
        return rows[shared_out(strata[rows], max(len(rows) // wanted, 1), rng) == 0]

    train_rows = fold.train_rows
    if train_rows is None:
        train_rows = np.arange(len(fold.source))
    train_rows = sample(train_rows, n_rows)
    held_out_rows = fold.held_out_rows
    if held_out_rows is not None:
        held_out_rows = sample(held_out_rows, 2 * n_rows)
    return replace(fold, train_rows=train_rows, held_out_rows=held_out_rows, parts=None)


class HoldOut(NamedTuple):
    """The rule by which a single booster holds out rows, wherever they come from.

    The rows of a stratum are counted in their order. Of every ``one_in`` that follow each other one
    is held out, drawn by the seed, but never the first row of a stratum. So every stratum has a row
    to train on and gives the same share, to within a row, and the rows held out do not depend on
    batches, files, partitions or workers.
    """

    one_in: int
    seed: int

    @classmethod
    def of(
        cls,
        model: CostBoostClassifier,
        n_rows: int,
        n_classes: int,
        rng: np.random.RandomState,
    ) -> HoldOut:
        """Return the rule for so many rows; nothing is held out if ``one_in`` is 0."""
        fraction = model.validation_fraction
        if not model.early_stopping or n_rows * fraction < 1:
            return cls(0, 0)
        seed = draw_seed(rng)
        # Less than the fraction if memory could not hold so many rows.
        most = min(DEFAULTS.held_out_rows, DEFAULTS.held_out_numbers // n_classes**2)
        return cls(max(round(1.0 / fraction), 2, -(-n_rows // most)), seed)

    def held_out(self, strata: Ints, before: Ints | None = None) -> Bools:
        """Return which rows of a part are held out, after so many of each stratum before it."""
        held_out = np.zeros(len(strata), dtype=np.bool_)
        if not self.one_in:
            return held_out
        for stratum in np.unique(strata):
            rows = np.flatnonzero(strata == stratum)
            number = np.arange(len(rows))
            if before is not None:
                number += before[stratum]
            turn, position = np.divmod(number, self.one_in)
            # A stream of its own for each stratum, from the number of the first turn on.
            stream = np.random.PCG64([self.seed, stratum])
            stream.advance(int(turn[0]))
            uniform = np.random.Generator(stream).random(turn[-1] - turn[0] + 1)
            is_first = turn == 0
            drawn = np.floor((self.one_in - is_first) * uniform[turn - turn[0]]) + is_first
            held_out[rows] = position == drawn
        return held_out


def _own_folds(cv, data, owner, *, y, has_weight=None):
    """Return the folds of a splitter or of an iterable, checked."""
    # The index among the rows with weight of each row that folds count; -1 without weight.
    position = np.arange(len(data))
    if hasattr(cv, "split"):
        cv = cv.split(data.X, y, data.groups)
    elif has_weight is not None:
        position = np.where(has_weight, np.cumsum(has_weight) - 1, -1)
    folds = []
    for number, (train, held_out) in enumerate(cv):
        name = f"Fold {number} of the 'cv' parameter of {owner}"
        train_rows = _fold_rows(train, position, f"{name}, training rows")
        held_out_rows = _fold_rows(held_out, position, f"{name}, held-out rows")
        both = np.intersect1d(train_rows, held_out_rows)
        if len(both):
            raise ValueError(
                f"{name} holds out {len(both)} of its training rows, such as row "
                f"{int(np.flatnonzero(position == both[0])[0])}: the estimates would be too good."
            )
        folds.append((train_rows, held_out_rows))
    if not folds:
        raise ValueError(
            f"The 'cv' parameter of {owner} gave no folds. Pass at least one pair "
            "(training rows, held-out rows); an iterator can be used once only, so pass a list."
        )
    return folds


def _fold_rows(given, position, name):
    """Return indices or a mask of a fold as indices among the rows that have weight."""
    n_rows = len(position)
    rows = np.asarray(given)
    if rows.dtype == np.bool_ and rows.shape == (n_rows,):
        rows = np.flatnonzero(rows)
    is_index = np.issubdtype(rows.dtype, np.integer) and ((rows >= 0) & (rows < n_rows)).all()
    kept = np.empty(0, dtype=np.intp)
    if is_index and rows.ndim == 1:
        kept = position[rows]
        kept = kept[kept >= 0]
    if not len(kept):
        raise ValueError(
            f"{name}, must be indices from 0 to {n_rows - 1} or a mask of {n_rows} booleans, with "
            f"at least one row that has weight; got {rows!r}."
        )
    return kept


# --- what a fit reads -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """What a fit has read, wherever the rows are."""

    owner: str  # the class that messages name
    columns: Columns
    totals: Totals
    folds: list[Fold]
    has_row_costs: bool  # whether rows have costs of their own, by ``costs``
    n_network_inputs: float | None = None  # None if members cannot be compared
    engine: str = "lightgbm"  # that grows trees
    is_local: bool = True  # whether threads are those of this machine


def streamed_table(
    parts: Sequence[tuple[TrainingData | None, Totals | None]],
    *,
    owner: str,
    columns: Columns,
    loss: object,
    has_row_costs: bool,
    fold: StreamedFold,
    is_local: bool = True,
) -> TrainingTable:
    """Return the sums over all parts of rows that are never in memory together.

    Parameters
    ----------
    parts : sequence of (TrainingData, Totals)
        The held-out rows of each part, without inputs, and the sums over the part.
    """
    totals = [sums for _, sums in parts if sums is not None]
    if not totals:
        raise ValueError(f"sample_weight of {owner} must not be zero on all rows.")
    total = reduce(Totals.__add__, totals)
    if loss != "auto" and total.matrix is None:
        raise ValueError(
            f"The 'loss' parameter of {owner}, {loss!r}, takes one cost matrix for all "
            "rows here, and they have costs of their own. Use loss='auto'."
        )
    held_out = [rows for rows, _ in parts if rows is not None]
    if held_out:
        costs = RealizedCosts.concatenate([rows.costs for rows in held_out])
        weight = np.concatenate([rows.sample_weight for rows in held_out])
        fold = replace(fold, eval_set=TrainingData(None, costs, weight))
    return TrainingTable(
        owner=owner,
        columns=columns,
        totals=total,
        folds=[fold],
        has_row_costs=has_row_costs,
        engine="xgboost",
        is_local=is_local,
    )
