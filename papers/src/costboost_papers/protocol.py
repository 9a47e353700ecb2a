"""What the papers' protocols share: binary targets, splits, encoding, and the usual metrics."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.metrics import precision_recall_fscore_support, recall_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from costboost._typing import AnyArray, Floats, Ints
from costboost.errors import CollapseWarning
from costboost.metrics import total_cost
from costboost_papers import datasets
from costboost_papers.datasets import load
from costboost_papers.item import Task

LEAST_ROWS = 10  # of a class, where training rows are drawn


def data_file(*names: str) -> Path | None:
    """The first of some files in the folder of the benchmark files that is there."""
    folder = datasets.find_folder(None, missing_ok=True)
    paths = [folder / name for name in names] if folder is not None else []
    return next((path for path in paths if path.is_file()), None)


class BinaryData(NamedTuple):
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
    coder = (
        OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        if one_hot
        else OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    )
    transform = make_column_transformer(
        (
            SimpleImputer(strategy="median", keep_empty_features=True),
            make_column_selector(dtype_include="number"),
        ),
        (
            make_pipeline(SimpleImputer(strategy="most_frequent"), coder),
            make_column_selector(dtype_exclude="number"),
        ),
    )
    pipeline = make_pipeline(transform, StandardScaler()) if scale else transform
    train, test = (
        frame.astype({name: object for name in frame.select_dtypes(exclude="number")})
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
    repeat, which = divmod(number, k)
    splitter = StratifiedKFold(k, shuffle=True, random_state=(seed + repeat) % 2**31)
    train, test = list(splitter.split(np.zeros(len(y)), y))[which]
    return np.asarray(train), np.asarray(test)


def holdout(y: AnyArray, test_share: float, seed: int) -> tuple[Ints, Ints]:
    """Training and test rows of one stratified random split."""
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


def g_mean(truth: Any, decided: Any) -> float:
    """The geometric mean of the recalls of the classes that are there."""
    recalls = recall_score(truth, decided, labels=np.unique(truth), average=None)
    return float(np.prod(recalls ** (1.0 / len(recalls))))


def binary_metrics(
    truth: AnyArray, decided: AnyArray, scores: AnyArray, C1: float
) -> dict[str, float]:
    """Metrics of 0/1 decisions: a miss costs C1, a false alarm 1."""
    truth, decided = np.asarray(truth), np.asarray(decided)
    precision, recall, f, _ = precision_recall_fscore_support(
        truth, decided, average="binary", zero_division=0.0
    )
    cost = float(total_cost(truth, decided, cost_matrix={"fn": C1, "fp": 1.0}))
    return {
        "cost": cost,
        "mean cost": cost / len(truth),
        "fn": float(((truth == 1) & (decided == 0)).sum()),
        "fp": float(((truth == 0) & (decided == 1)).sum()),
        "positive share": float(decided.mean()),
        "error": float((truth != decided).mean()),
        "precision": float(precision),
        "recall": float(recall),
        "f": float(f),
        "g-mean": g_mean(truth, decided),  # √(TPR·TNR)
        "auc": float(roc_auc_score(truth, scores)),
    }


@contextmanager
def quiet() -> Iterator[None]:
    """Collapse is measured here, so it is not warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        yield
