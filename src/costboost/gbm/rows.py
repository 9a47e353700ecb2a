"""Training rows: features, costs and weights; their sums; which of them a booster trains on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import reduce
from importlib import import_module
from operator import add
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, column_or_1d

from costboost._typing import AnyArray, Bools, Floats, Ints
from costboost._utils import is_integer
from costboost.columns import Columns
from costboost.columns.raw import is_sparse
from costboost.costs import Costs, CostSummary
from costboost.costs.table import mean_prices

if TYPE_CHECKING:
    from costboost.gbm.models import Model, Target
    from costboost.gbm.train import Candidate, Rounds

LARGEST_SEED = int(np.iinfo(np.int32).max)
# Folds, if the user does not say how many, and rows from which on one of them is enough: it holds
# out so many rows that more would change neither rounds nor weights, and estimates hardly.
_USUAL_FOLDS = 5
_ONE_FOLD_ROWS = 50_000
# Rows below which effort="fast", too, has folds: a single booster of few rows is too uncertain.
_FAST_FOLD_ROWS = 2000
# Held-out rows beyond which their choices are so many rows' that they hardly favour any of them.
_PART_ROWS = 10_000
# Most held-out rows, and most numbers in their cost matrices: they are kept in memory.
_HELD_OUT_ROWS = 2**20
_HELD_OUT_NUMBERS = 2**24


@dataclass(frozen=True, eq=False)
class PricedRows:
    """Some rows: a table in memory, a batch of a file, a partition of a cluster."""

    X: Any  # a matrix; None where features are not read
    costs: Costs
    weights: Floats

    def __len__(self) -> int:
        return len(self.weights)

    def take(self, rows: Any) -> PricedRows:
        """Some of the rows (indices, a mask or a slice)."""
        X = None if self.X is None else self.X[rows]
        return PricedRows(X, self.costs.take(rows), self.weights[rows])

    def weighted(self) -> PricedRows:
        """The rows that have weight."""
        return self if self.weights.all() else self.take(np.flatnonzero(self.weights))


# --- sums -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums over rows that have weight."""

    # A table in memory is one part; Parquet files and Dask partitions are many, whose totals are
    # added. The rules that follow from the sums are the same for all of them:
    #
    # - One matrix for all rows is the mean matrix, unchanged.
    # - Matrices of single rows are averaged for each truth over its own rows, which alone can pay
    #   it; over all rows if it has none.
    # - Prices (where only the costs under the true class are known) are averaged for each true
    #   class over its own rows. A class whose rows have no weight gets no zeros, which would make
    #   every decision free: each of its mistakes gets the mean price of a mistake. If the
    #   decisions are not the classes, each decision gets its mean price over all rows.
    # - The unit of costs is what the worst decision costs on average.
    #
    # Held-out rows count in all sums.

    rows: int
    held_out_rows: int
    weight: Floats
    worst_cost: float  # what the costliest decision costs beyond the cheapest
    price_sums: Floats  # of the prices under each row's own truth
    reduced_sums: Floats  # of what they are beyond the cheapest decision's
    matrix_sums: Floats | None  # of all rows, whatever the truth; None if only prices are known
    cost_low: Floats
    cost_high: Floats
    classes: AnyArray
    decisions: AnyArray
    texts: dict[tuple[int, int], str]
    matrix: Floats | None = None

    @classmethod
    def of(cls, rows: PricedRows, held_out_rows: int = 0) -> Totals:
        """The sums over some rows."""
        n, costs, w = len(rows), rows.costs, rows.weights
        if not costs.is_per_row and n:
            # With one matrix for all rows, a row of each class stands for all of its rows.
            found, first, codes = np.unique(costs.codes, return_index=True, return_inverse=True)
            w = np.asarray(np.bincount(codes, w, minlength=len(found)), dtype=np.float64)
            costs = costs.take(first)
        codes = costs.codes
        k = len(costs.classes)
        price_sums, reduced_sums = (
            np.stack([np.bincount(codes, w * column, minlength=k) for column in table.T], axis=1)
            for table in (costs.prices, costs.reduced)
        )
        weight = np.asarray(np.bincount(codes, w, minlength=k), dtype=np.float64)
        spans = costs.summary
        has_matrices = costs.matrix is not None and costs.matrix.ndim == 3
        return cls(
            n,
            held_out_rows,
            weight,
            float(w @ costs.reduced.max(axis=1)) if len(w) else 0.0,
            price_sums.astype(np.float64),
            reduced_sums.astype(np.float64),
            np.tensordot(w, costs.matrix, 1) if has_matrices else None,
            spans.low,
            spans.high,
            costs.classes,
            costs.decisions,
            costs.texts,
            None if costs.is_per_row else costs.matrix,
        )

    def __add__(self, other: Totals) -> Totals:
        found = {f.name: getattr(self, f.name) for f in fields(self)}
        for name in found:
            mine, others = found[name], getattr(other, name)
            if name in ("cost_low", "cost_high"):
                found[name] = (np.fmin if name == "cost_low" else np.fmax)(mine, others)
            elif name not in ("classes", "decisions", "texts", "matrix") and mine is not None:
                found[name] = mine + others
        return Totals(**found)

    @property
    def mean_costs(self) -> Floats:
        """One matrix for all rows, (k, d): what a decision costs on average under each truth."""
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
        """Smallest, mean and largest costs over the rows of each truth, which print in words."""
        weight = np.where(self.weight > 0, self.weight, np.nan)[:, None]
        mean = self.price_sums / weight if self.matrix is None else self.matrix
        spans = self.cost_low, mean, self.cost_high
        n = self.rows if self.matrix is None else None
        return CostSummary(self.classes, self.decisions, *spans, n, self.texts)


# --- folds ----------------------------------------------------------------------------------------


# Rows to train on and rows held out; None is all rows and none.
Split: TypeAlias = "tuple[Ints | None, Ints | None]"


def strata(costs: Costs) -> Ints:
    """Groups of rows that folds share out evenly, (n,): class, and whether errors cost anything."""
    # Where few rows have a price, folds by class alone may have no such row, and nothing to learn
    # from or to stop by.
    return np.asarray(2 * costs.codes + costs.reduced.any(axis=1), dtype=np.intp)


def is_auto(cv: Any) -> bool:
    """Return True if the effort and the number of rows choose the folds."""
    return isinstance(cv, str)


def make_folds(
    rows: PricedRows, weights: Floats, model: Any, groups: Any = None, has_eval_set: bool = False
) -> tuple[list[Split], list[int]]:
    """The folds of a table in memory, and a seed for the boosters of each."""
    rng, owner = check_random_state(model.random_state), type(model).__name__
    n = len(rows)
    n_folds = model.cv
    if is_auto(model.cv):
        is_small = n < _FAST_FOLD_ROWS and model.early_stopping
        is_single = model.effort == "fast" and not is_small
        n_folds = 1 if is_single or n >= _ONE_FOLD_ROWS else _USUAL_FOLDS
    if n < 2:
        raise ValueError(f"{owner} needs two rows or more with a weight above 0, got {n}.")
    alike = strata(rows.costs)
    if has_eval_set:
        if groups is not None or not is_auto(model.cv):
            raise ValueError(
                f"eval_set holds the held-out rows of {owner}, so there are no folds. Pass either "
                "eval_set, or groups or cv."
            )
        return [(None, None)], [int(rng.randint(LARGEST_SEED))]
    if groups is not None:
        groups = column_or_1d(groups)
        check_consistent_length(weights, groups)
        groups = groups[weights > 0]
    if not is_integer(n_folds):
        place = np.where(weights > 0, np.cumsum(weights > 0) - 1, -1)
        folds = _own_folds(model.cv, rows.X, rows.costs.codes, groups, place, owner)
        return folds, [int(rng.randint(LARGEST_SEED)) for _ in folds]
    n_folds = min(int(n_folds), n // 2)
    if groups is not None:
        n_parts = n_folds if n_folds >= 2 else round(1.0 / model.validation_fraction)
        cv = StratifiedGroupKFold(n_parts, shuffle=True, random_state=rng.randint(LARGEST_SEED))
        folds = _own_folds(cv, rows.X, alike, groups, np.arange(n), owner)[: max(n_folds, 1)]
    elif n_folds >= 2:
        number = shared_out(alike, n_folds, rng)
        folds = [(np.flatnonzero(number != f), np.flatnonzero(number == f)) for f in range(n_folds)]
    else:
        held = held_out_rows(hold_out_rule(model, n, len(rows.costs.classes), rng), alike)
        folds = [(np.flatnonzero(~held), np.flatnonzero(held)) if held.any() else (None, None)]
    return folds, [int(rng.randint(LARGEST_SEED)) for _ in folds]


def shared_out(groups: Ints, n_folds: int, rng: np.random.RandomState) -> Ints:
    """The fold of each row: shuffled, with the same share of every group, to within a row."""
    order = rng.permutation(len(groups))
    order = order[np.argsort(groups[order], kind="stable")]
    number = np.empty(len(groups), dtype=np.intp)
    number[order] = np.arange(len(groups)) % n_folds
    return number


# The rule by which a single booster holds out rows, wherever they come from: one in so many, and a
# seed. The rows of a group (see `strata`) are counted in their order. Of every ``one_in`` that
# follow each other one is held out, drawn by the seed, but never the first row of a group. So every
# group has a row to train on and gives the same share, to within a row, and the rows held out do
# not depend on batches, files, partitions or workers.
HoldOut: TypeAlias = "tuple[int, int]"


def held_out_rows(rule: HoldOut, groups: Ints, before: Ints | None = None) -> Bools:
    """Which rows of a part are held out, after so many of each group in the parts before it."""
    one_in, seed = rule
    if not one_in:
        return np.zeros(len(groups), dtype=np.bool_)
    counts = np.bincount(groups)
    order = np.argsort(groups, kind="stable")
    number = np.empty(len(groups), dtype=np.int64)
    number[order] = np.arange(len(groups)) - np.repeat(np.cumsum(counts) - counts, counts)
    if before is not None:
        number += before[groups]
    turn, place = np.divmod(number, one_in)
    first = turn == 0
    drawn = np.floor((one_in - first) * _drawn(groups, turn, seed)) + first
    return np.asarray(place == drawn)


def hold_out_rule(model: Any, n_rows: int, n_classes: int, rng: np.random.RandomState) -> HoldOut:
    """Which rows a single booster holds out, to stop early, calibrate and estimate costs."""
    fraction = model.validation_fraction
    if not model.early_stopping or n_rows * fraction < 1:
        return 0, 0
    seed = int(rng.randint(LARGEST_SEED))
    # Less than the fraction if memory could not hold so many rows.
    most = min(_HELD_OUT_ROWS, _HELD_OUT_NUMBERS // n_classes**2)
    return max(round(1.0 / fraction), 2, -(-n_rows // most)), seed


def _drawn(groups: Ints, turn: Ints, seed: int) -> Floats:
    """A number in [0, 1) per group and turn (the mixing function of SplitMix64)."""
    golden = 0x9E3779B97F4A7C15
    z = np.asarray(turn, dtype=np.uint64) * np.uint64(golden)
    z += np.asarray(groups, dtype=np.uint64) * np.uint64(0xD1342543DE82EF95)
    z += np.uint64((seed + 1) * golden % 2**64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((z ^ (z >> np.uint64(31))) >> np.uint64(11), dtype=np.float64) / 2.0**53


def _own_folds(
    cv: Any, X: Any, codes: Ints, groups: AnyArray | None, place: Ints, owner: str
) -> list[Split]:
    """The folds of a splitter or of an iterable, checked."""
    if hasattr(cv, "split"):
        cv, place = cv.split(X, codes, groups), np.arange(len(codes))
    n, found = len(place), list[Split]()
    for number, pair in enumerate(cv):
        name = f"Fold {number} of the 'cv' parameter of {owner}"
        parts: list[Ints] = []
        for part, what in zip(pair, ("training rows", "held-out rows"), strict=True):
            rows = np.asarray(part)
            if rows.dtype == np.bool_ and rows.shape == (n,):
                rows = np.flatnonzero(rows)
            is_index = np.issubdtype(rows.dtype, np.integer) and ((rows >= 0) & (rows < n)).all()
            kept = place[rows] if is_index and rows.ndim == 1 else np.empty(0, dtype=np.intp)
            kept = kept[kept >= 0]
            if not len(kept):
                raise ValueError(
                    f"{name}, {what}, must be indices from 0 to {n - 1} or a mask of {n} booleans, "
                    f"with at least one row that has weight; got {rows!r}."
                )
            parts.append(kept)
        train, held_out = parts
        both = np.intersect1d(train, held_out)
        if len(both):
            raise ValueError(
                f"{name} holds out {len(both)} of its training rows, such as row "
                f"{int(np.flatnonzero(place == both[0])[0])}: the estimates would be too good."
            )
        found.append((train, held_out))
    if not found:
        raise ValueError(
            f"The 'cv' parameter of {owner} gave no folds. Pass at least one pair (training rows, "
            "held-out rows); an iterator can be used once only, so pass a list."
        )
    return found


# --- where rows come from -------------------------------------------------------------------------


class TrainingRows(ABC):
    """Training rows wherever they are: all that `costboost.gbm.train` asks of them."""

    owner: str
    columns: Columns
    totals: Totals
    # A seed for the booster of each fold.
    seeds: Sequence[int]
    has_row_costs: bool
    # The library that grows the trees.
    engine: str = "lightgbm"
    # Inputs of a network, a category counted once per value, if kinds of models can be compared on
    # folds; endlessly many of a sparse table.
    n_inputs: float | None = None
    # Whether rows of the table are held out, by folds.
    has_folds: bool = False
    # Whether each round is told while it happens, and threads are those of this machine.
    is_local: bool = True
    # Whether the user asked for the rounds of other rows than the held-out ones.
    is_watched: bool = False

    @abstractmethod
    def held_out(self, number: int | None = None) -> PricedRows | None:
        """Costs and weights of held-out rows, of one fold or all; None if there are none."""

    # Parts of the held-out rows that choose rounds and calibration for each other.
    n_parts: int = 0

    def parts_of_held_out(self, number: int | None = None) -> Ints | None:
        """Return the part of each held-out row, of one fold or all; None if there are no parts."""
        return None

    def held_out_in_parts(self, number: int) -> tuple[Ints, Any]:
        """Return the part of each row that a fold holds out, and its features."""
        raise NotImplementedError

    def groups_of_held_out(self) -> AnyArray | None:
        """Return the group of each held-out row; None if rows are independent."""
        return None

    def sample(self, n: int) -> TrainingRows:
        """About n rows of the first fold, with rows that it holds out."""
        return self

    def watched(self, number: int) -> dict[str, PricedRows]:
        """The sets of rows whose loss and cost a booster's training tells."""
        held = self.held_out(number)
        return {} if held is None else {"held_out": held}

    @abstractmethod
    def fit(
        self, kind: Candidate, target: Target, number: int | None, rounds: Rounds
    ) -> tuple[Model, Floats | None]:
        """Train a booster on a fold (None: on all rows); its scores of the rows it held out."""


class StreamedRows(TrainingRows):
    """Training rows that are never in memory together: their sums and held-out costs are."""

    engine = "xgboost"
    _held_out: PricedRows | None

    def _add_up(self, parts: Iterable[tuple[PricedRows | None, Totals | None]], loss: Any) -> None:
        """Keep the held-out rows of all parts, and the sums over all rows."""
        found = list(parts)
        totals = [sums for _, sums in found if sums is not None]
        if not totals:
            raise ValueError(f"sample_weight of {self.owner} must not be zero on all rows.")
        self.totals = reduce(add, totals)
        held = [rows for rows, _ in found if rows is not None]
        self._held_out = None
        if held:
            costs = Costs.concat([part.costs for part in held])
            weights = np.concatenate([part.weights for part in held])
            self._held_out = PricedRows(None, costs, weights)
        if loss != "auto" and self.totals.matrix is None:
            raise ValueError(
                f"The 'loss' parameter of {self.owner}, {loss!r}, takes one cost matrix for all "
                "rows here, and they have costs of their own. Use loss='auto'."
            )

    def held_out(self, number: int | None = None) -> PricedRows | None:
        """Costs and weights of the held-out rows."""
        return self._held_out


@dataclass(eq=False)
class MemoryRows(TrainingRows):
    """A table in memory, shared out in folds."""

    rows: PricedRows
    columns: Columns
    folds: list[Split]
    seeds: Sequence[int]
    owner: str
    has_row_costs: bool = False
    eval_set: PricedRows | None = None
    eval_train: bool = False
    groups: AnyArray | None = None
    parts: list[Ints] | None = None

    def __post_init__(self) -> None:
        self.parts = self._make_parts()
        if self.parts is not None:
            self.n_parts = max(len(self.folds), _USUAL_FOLDS)
        self.is_watched = self.eval_train or self.eval_set is not None
        self.totals = Totals.of(self.rows)
        self.has_folds = self.folds[0][1] is not None
        if self.eval_set is not None or self.has_folds:
            X, codes = self.rows.X, self.columns.categorical
            largest = np.inf if is_sparse(X) else np.nan_to_num(X[:, codes]).max(axis=0, initial=0)
            self.n_inputs = X.shape[1] + float(np.sum(largest))

    def _make_parts(self) -> list[Ints] | None:
        """Return the part of each held-out row by fold: the fold, or a fifth of a single one."""
        held_out = [held for _, held in self.folds if held is not None]
        n_rows = sum(len(held) for held in held_out)
        if not held_out or n_rows > _PART_ROWS:
            return None
        if len(held_out) > 1:
            return [np.full(len(held), fold) for fold, held in enumerate(held_out)]
        rng = check_random_state(self.seeds[0])
        (held,) = held_out
        if self.groups is None:
            return [shared_out(strata(self.rows.costs.take(held)), _USUAL_FOLDS, rng)]
        names, group = np.unique(self.groups[held], return_inverse=True)
        return [rng.permutation(len(names))[group] % _USUAL_FOLDS]

    def parts_of_held_out(self, number: int | None = None) -> Ints | None:
        """Return the part of each held-out row, of one fold or all; None if there are no parts."""
        if self.parts is None:
            return None
        return np.concatenate(self.parts) if number is None else self.parts[number]

    def held_out_in_parts(self, number: int) -> tuple[Ints, Any]:
        """Return the part of each row that a fold holds out, and its features."""
        assert self.parts is not None
        return self.parts[number], self.rows.X[self.folds[number][1]]

    def groups_of_held_out(self) -> AnyArray | None:
        """Return the group of each held-out row; None if rows are independent."""
        held_out = [held for _, held in self.folds if held is not None]
        if self.groups is None or not held_out:
            return None
        return self.groups[np.concatenate(held_out)]

    def held_out(self, number: int | None = None) -> PricedRows | None:
        """Costs and weights of the held-out rows of one fold, or of all; else of `eval_set`."""
        some = self.folds if number is None else [self.folds[number]]
        found = [held for _, held in some if held is not None]
        if found:
            return replace(self.rows, X=None).take(np.concatenate(found))
        return None if self.eval_set is None else replace(self.eval_set, X=None)

    def sample(self, n: int) -> MemoryRows:
        """About n rows to train on and 2 n held-out ones, of the first fold."""
        found, rng = copy(self), check_random_state(self.seeds[0])

        def some(rows: Any, wanted: int) -> Any:
            groups = strata(self.rows.costs.take(rows))
            return rows[shared_out(groups, max(len(rows) // wanted, 1), rng) == 0]

        rows, held = self.folds[0]
        if rows is None or held is None:
            found.folds = [(some(np.arange(len(self.rows)), n), None)]
        else:
            found.folds = [(some(rows, n), some(held, 2 * n))]
        found.parts = None
        return found

    def watched(self, number: int) -> dict[str, PricedRows]:
        """Rows of another table, held-out rows, and training rows if they were asked for."""
        rows, held = self.folds[number]
        found: dict[str, PricedRows] = {}
        if self.eval_set is not None:
            found["eval_set"] = self.eval_set
        if held is not None:
            found["held_out"] = self.rows.take(held)
        if self.eval_train:
            found["train"] = self.rows if rows is None else self.rows.take(rows)
        return found

    def fit(
        self, kind: Candidate, target: Target, number: int | None, rounds: Rounds
    ) -> tuple[Model, Floats | None]:
        """Train on the rows of a fold."""
        rows, held = (None, None) if number is None else self.folds[number]
        train = self.rows if rows is None else self.rows.take(rows)
        known = target.on(train.costs, train.weights)
        if not known.weights.any():  # no error costs anything here: by sample weights alone
            known = known.put(known.labels, train.weights)
        module = import_module(f"costboost.gbm.{kind.engine}")
        model: Model = module.fit(train.X, known, rounds, self)
        if number is None:
            return model, None
        stop_by = "eval_set" if held is None else "held_out"
        scores = rounds.best_scores if rounds.stop_by == stop_by else None
        if scores is None and stop_by in rounds.sets:
            scores = model.scores(rounds.sets[stop_by].X)
        return model, scores
