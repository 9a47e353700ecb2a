"""Data sets, splits and prices.

A *problem* is a data set with a way to price mistakes. All problems of a set share its splits, so
a model that never sees prices is trained once per split.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder

from costboost.costs import Costs, RealizedCosts
from costboost_papers.costs import class_frequency, random_symmetric
from costboost_papers.datasets import load

FIRST_SEED = 1000  # the flagship's defaults were looked at on seeds 0 to 9
SPLITS = 3
TEST_SHARE = 0.3
MOST_ROWS = 10_000  # of a training set, and of a test set
LEAST_OF_CLASS = 10  # rows of a class; fewer, and five folds would not each have one

PER_ROW = ("bankmarketing", "creditscoring1", "credit_default", "creditcard_subset")
BINARY = (
    "adult", "pima", "phoneme", "page-blocks", "wdbc", "wbc", "haberman", "liver", "crx",
    "cleveland", "sick-euthyroid", "hepatitis", "breast-cancer", "tic-tac-toe", "sonar", "wpbc",
    "german", "telco", "mlc_churn",
)  # fmt: skip
MULTICLASS = (
    "vehicle", "segment", "satimage", "ecoli", "splice", "vertebral", "thyroid", "flare",
    "optdigits", "pendigits", "vowel", "shuttle", "nursery", "winewhite", "drybean",
)  # fmt: skip
OFFICIAL = ("kddcup99",)
SETS = (*PER_ROW, *BINARY, *MULTICLASS, *OFFICIAL)
# The same problems with all rows of a set: `--full`.
ALL_ROWS = " (all rows)"
FULL = tuple(
    name + ALL_ROWS
    for name in ("adult", "bankmarketing", "creditscoring1", "credit_default", "letter", "kddcup99")
)
# On other splits of these the flagship's defaults were chosen.
DEVELOPMENT = (
    "bankmarketing", "credit_default", "pima", "phoneme", "crx", "haberman", "wdbc", "page-blocks",
    "vehicle", "segment", "ecoli", "satimage", "german", "mlc_churn",
)  # fmt: skip
# Rows drawn from the whole set, by class, before it is split.
SAMPLED = {"shuttle": 5_000, "pendigits": 3_000, "optdigits": 2_500}
# Rows of the official training and test parts that a seed draws.
OFFICIAL_ROWS = (5_000, 20_000)

RATIOS = (2, 5, 20)
KNOWN, HIDDEN = "row costs", "row costs, hidden"


@dataclass(frozen=True)
class Problem:
    """A data set with a way to price mistakes."""

    data: str
    costs: str

    @property
    def name(self) -> str:
        return f"{self.data}, {self.costs}"

    @property
    def group(self) -> str:
        if self.costs in (KNOWN, HIDDEN):
            return "per row" if self.costs == KNOWN else "hidden"
        return "binary" if self.costs.startswith("ratio") else "multi-class"

    @property
    def is_development(self) -> bool:
        return file_of(self.data) in DEVELOPMENT


def file_of(data: str) -> str:
    """The name that `load` knows a set by."""
    return data.removesuffix(ALL_ROWS)


def problems_of(data: str) -> list[Problem]:
    """All problems of a set."""
    if data not in (*SETS, *FULL):
        raise ValueError(f"The data set must be one of {', '.join((*SETS, *FULL))}; got {data!r}.")
    file = file_of(data)
    if file in PER_ROW:
        costs = [KNOWN, HIDDEN]
    elif file in BINARY:
        costs = [f"ratio {ratio}" for ratio in RATIOS]
    elif file in OFFICIAL:
        costs = ["official"]
    else:
        costs = ["class frequency", "random symmetric"]
    return [Problem(data, name) for name in costs]


@dataclass(frozen=True, eq=False)
class Table:
    """A whole data set: classes are numbered from 0, in sorted order.

    `capped`: a split draws at most `MOST_ROWS` training and test rows (or `OFFICIAL_ROWS`).
    """

    X: pd.DataFrame
    y: np.ndarray
    row_costs: np.ndarray | None = None
    matrix: np.ndarray | None = None
    official: np.ndarray | None = None
    capped: bool = True

    @property
    def k(self) -> int:
        return int(self.y.max()) + 1


@dataclass(eq=False)
class Split:
    """Training and test rows."""

    X_train: pd.DataFrame
    X_test: pd.DataFrame
    y_train: np.ndarray
    y_test: np.ndarray
    k: int
    seed: int
    row_costs: tuple[np.ndarray, np.ndarray] | None = None
    matrix: np.ndarray | None = None
    rarer: int = 1


def encoder() -> Any:
    """Numbers without gaps, for methods that need them: one-hot codes and medians."""
    return make_column_transformer(
        (
            OneHotEncoder(handle_unknown="ignore", sparse_output=False),
            make_column_selector(dtype_include="category"),
        ),
        (
            SimpleImputer(strategy="median", keep_empty_features=True),
            make_column_selector(dtype_include=np.number),
        ),
    )


@dataclass(eq=False)
class Prices:
    """What mistakes cost in a problem: one matrix, or a matrix per row.

    Attributes
    ----------
    matrix : array of shape (k, k)
        Truth by decision; the mean over the training rows if they differ.
    train, test : RealizedCosts
        With the truth of the rows.
    told : array of shape (n_test, 2, 2) or None
        The test rows' own costs, if they are known when deciding.
    """

    matrix: np.ndarray
    train: RealizedCosts
    test: RealizedCosts
    told: np.ndarray | None = None

    @property
    def rows(self) -> np.ndarray | None:
        """Costs of the training rows, (n, 2, 2), if they differ."""
        return self.train.matrix if self.train.is_per_row else None


@lru_cache(maxsize=2)
def table(data: str) -> Table:
    """Read a set: classes merged, sampled and dropped as the report says."""
    file = file_of(data)
    found = load(file)
    X, y = found.X, np.searchsorted(found.classes, found.y)
    rows = np.arange(len(y))
    if file == "page-blocks":
        y = (found.y != found.classes[0]).astype(int)
    if data in SAMPLED:
        rows = sample(y, SAMPLED[data], FIRST_SEED)
    counts = np.bincount(y[rows])
    rows = rows[counts[y[rows]] >= LEAST_OF_CLASS]
    kept, y = np.unique(y[rows], return_inverse=True)
    matrix = None if found.cost_matrix is None else found.cost_matrix[np.ix_(kept, kept)]
    X = X.iloc[rows].reset_index(drop=True)
    for column in X.select_dtypes("category"):
        # XGBoost takes no categories that are fractions, such as 1.0.
        X[column] = X[column].cat.rename_categories(str)
    return Table(
        X,
        y,
        None if found.costs is None else found.costs[rows],
        matrix,
        found.split[rows] if file in OFFICIAL and found.split is not None else None,
        capped=file == data,
    )


def sample(y: np.ndarray, n: int, seed: int) -> np.ndarray:
    """About n rows, by class; `LEAST_OF_CLASS` of a class at least, if it has them."""
    if len(y) <= n:
        return np.arange(len(y))
    rng = np.random.default_rng(seed)
    picked = []
    for rows in (np.flatnonzero(y == label) for label in np.unique(y)):
        wanted = max(round(n * len(rows) / len(y)), LEAST_OF_CLASS)
        picked.append(rng.permutation(rows)[:wanted])
    return np.sort(np.concatenate(picked))


def rows_of(
    whole: Table, seed: int, most_train: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Training and test rows of a seed."""
    if whole.official is None:
        train, test = train_test_split(
            np.arange(len(whole.y)), test_size=TEST_SHARE, stratify=whole.y, random_state=seed
        )
        most = (most_train or MOST_ROWS, MOST_ROWS)
    else:
        train, test = (np.flatnonzero(whole.official == part) for part in ("train", "test"))
        most = (most_train or OFFICIAL_ROWS[0], OFFICIAL_ROWS[1])
    if whole.capped:
        train, test = (
            part[sample(whole.y[part], n, seed)]
            for part, n in zip((train, test), most, strict=True)
        )
    return train, test


def draw(whole: Table, seed: int, most_train: int | None = None) -> Split:
    """The split of a seed."""
    train, test = rows_of(whole, seed, most_train)
    costs = whole.row_costs
    return Split(
        *(whole.X.iloc[part].reset_index(drop=True) for part in (train, test)),
        whole.y[train],
        whole.y[test],
        whole.k,
        seed,
        None if costs is None else (costs[train], costs[test]),
        whole.matrix,
        int(np.bincount(whole.y).argmin()),
    )


def price(problem: Problem, split: Split) -> Prices:
    """The prices of a problem on a split."""
    classes, told = np.arange(split.k), None
    if problem.costs in (KNOWN, HIDDEN):
        assert split.row_costs is not None
        train, test = split.row_costs
        matrix = train.mean(axis=0)
        told = test if problem.costs == KNOWN else None
    else:
        matrix = train = test = _matrix(problem, split)
    return Prices(
        matrix,
        Costs(train, classes).realized(split.y_train),
        Costs(test, classes).realized(split.y_test),
        told,
    )


def _matrix(problem: Problem, split: Split) -> np.ndarray:
    if problem.costs == "class frequency":
        return class_frequency(split.y_train, split.seed)
    if problem.costs == "random symmetric":
        return random_symmetric(split.k, 1, 10, split.seed)
    if problem.costs == "official":
        assert split.matrix is not None
        return split.matrix
    matrix = 1.0 - np.eye(2)
    matrix[split.rarer, 1 - split.rarer] = float(problem.costs.removeprefix("ratio "))
    return matrix
