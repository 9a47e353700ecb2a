"""What the papers' protocols share: binary targets, folds, encoding, and the usual metrics.

- `binary_data(name, ...)`: a benchmark set as a frame and 0/1 labels.
- `encode(train, test)`: frames to float matrices (codes, missing values filled, scaled on demand),
  fitted on the training part alone.
- `fold(y, k, number, seed)` and `holdout(y, share, seed)`: stratified splits.
- `capped(y, train, most, seed)`: at most so many training rows, drawn by class.
- `split_seed(task)`: one seed for all folds of a partition.
- `binary_metrics(truth, decided, scores, C1, C2)`: cost, counts, precision, recall, F, G-mean, AUC.
- `quiet()`: no collapse warnings; a study that measures collapse need not be told of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.datasets import load
from costboost.errors import CollapseWarning
from costboost_papers.item import Task

if TYPE_CHECKING:
    import pandas as pd


LEAST_ROWS = 10  # of a class, where training rows are drawn


@dataclass(frozen=True, eq=False)
class BinaryData:
    """A benchmark set with a positive class."""

    X: pd.DataFrame
    y: Ints  # (n,) 1 = positive, the costly class


def binary_data(
    name: str, positive: Iterable[Any] | None = None, *, complete: bool = False
) -> BinaryData:
    """A benchmark set as a frame and 0/1 labels; ``complete`` drops rows with missing values."""
    data = load(name)
    wanted: list[Any] = [data.positive] if positive is None else list(positive)
    y = np.isin(data.y, wanted).astype(np.intp)
    kept = data.X.notna().all(axis=1).to_numpy() if complete else np.ones(len(y), dtype=bool)
    return BinaryData(data.X[kept].reset_index(drop=True), y[kept])


def encode(
    train: pd.DataFrame, test: pd.DataFrame, *, one_hot: bool = False, scale: bool = False
) -> tuple[Floats, Floats]:
    """Both frames as float matrices, by what the training part shows."""
    # Missing numbers become the training median, missing categories the most frequent one;
    # categories are codes (``one_hot=False``: fit for trees) or indicator columns; ``scale`` brings
    # every column to mean 0 and variance 1 (fit for linear learners).
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

    from costboost.columns.raw import are_numbers

    words = [column for column in train.columns if not are_numbers(train[[column]])]
    numbers = [column for column in train.columns if column not in words]
    coder = (
        OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        if one_hot
        else OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    )
    transform = ColumnTransformer(
        [
            ("numbers", SimpleImputer(strategy="median", keep_empty_features=True), numbers),
            ("words", make_pipeline(SimpleImputer(strategy="most_frequent"), coder), words),
        ]
    )
    pipeline = make_pipeline(transform, StandardScaler()) if scale else transform
    train, test = (
        frame.astype({**dict.fromkeys(numbers, "float64"), **dict.fromkeys(words, object)})
        for frame in (train, test)
    )
    return (
        np.asarray(pipeline.fit_transform(train), dtype=np.float64),
        np.asarray(pipeline.transform(test), dtype=np.float64),
    )


def split_seed(task: Task) -> int:
    """The seed of the whole partition: the same for all splits (and algorithms) of a data set."""
    return replace(task, split=0).seed


def fold(y: AnyArray, k: int, number: int, seed: int) -> tuple[Ints, Ints]:
    """Training and test rows of one fold (0 to k - 1) of a stratified, shuffled k-fold split."""
    # From k on, ``number`` counts the folds of repeated partitions, each with a seed of its own.
    from sklearn.model_selection import StratifiedKFold

    repeat, which = divmod(number, k)
    splitter = StratifiedKFold(k, shuffle=True, random_state=(seed + repeat) % 2**31)
    train, test = list(splitter.split(np.zeros(len(y)), y))[which]
    return np.asarray(train), np.asarray(test)


def holdout(y: AnyArray, test_share: float, seed: int) -> tuple[Ints, Ints]:
    """Training and test rows of one stratified random split."""
    from sklearn.model_selection import train_test_split

    train, test = train_test_split(
        np.arange(len(y)), test_size=test_share, stratify=y, random_state=seed
    )
    return np.asarray(train), np.asarray(test)


def capped(y: AnyArray, train: Ints, most: int, seed: int) -> Ints:
    """At most about ``most`` training rows, drawn by class; small classes keep `LEAST_ROWS`."""
    if len(train) <= most:
        return train
    rng = np.random.default_rng(seed)
    kept = []
    for label in np.unique(y[train]):
        rows = train[y[train] == label]
        size = max(round(most * len(rows) / len(train)), min(len(rows), LEAST_ROWS))
        kept.append(rng.choice(rows, size, replace=False))
    return np.sort(np.concatenate(kept))


def epsilon(truth: Any, decided: Any, factor: float) -> float:
    """False alarms plus ``factor`` times misses: Table 2 of Masnadi-Shirazi & Vasconcelos 2007."""
    from costboost.metrics import total_cost

    return total_cost(truth, decided, cost_matrix={"fn": factor, "fp": 1}, labels=[0, 1])


def g_mean(truth: Any, decided: Any) -> float:
    """The geometric mean of the recalls of the classes that are there."""
    from sklearn.metrics import recall_score

    recalls = recall_score(truth, decided, labels=np.unique(truth), average=None)
    return float(np.prod(recalls ** (1.0 / len(recalls))))


def binary_metrics(
    truth: AnyArray, decided: AnyArray, scores: AnyArray | None, C1: float, C2: float = 1.0
) -> dict[str, float]:
    """Metrics of 0/1 decisions: a miss costs C1, a false alarm C2."""
    # Keys: ``cost`` (total), ``mean cost``, ``fn``, ``fp``, ``positive share`` (of the decisions),
    # ``error``, ``precision`` (0 if nothing is flagged), ``recall``, ``f``, ``g-mean``
    # (√(TPR·TNR)) and, with scores, ``auc``.
    from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

    from costboost.metrics import total_cost

    truth, decided = np.asarray(truth), np.asarray(decided)
    precision, recall, f, _ = precision_recall_fscore_support(
        truth, decided, average="binary", zero_division=0.0
    )
    cost = float(total_cost(truth, decided, cost_matrix={"fn": C1, "fp": C2}))
    metrics = {
        "cost": cost,
        "mean cost": cost / len(truth),
        "fn": float(((truth == 1) & (decided == 0)).sum()),
        "fp": float(((truth == 0) & (decided == 1)).sum()),
        "positive share": float(decided.mean()),
        "error": float((truth != decided).mean()),
        "precision": float(precision),
        "recall": float(recall),
        "f": float(f),
        "g-mean": float(g_mean(truth, decided)),
    }
    if scores is not None:
        metrics["auc"] = float(roc_auc_score(truth, scores))
    return metrics


@contextmanager
def quiet() -> Iterator[None]:
    """Collapse is measured here, so it is not warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        yield
