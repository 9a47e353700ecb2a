"""Which rows train and which are held out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from costboost._typing import Ints
from costboost.cli.problem import Rows
from costboost.columns import TableError

__all__ = ["folds", "split"]


def split(rows: Rows, share: float, seed: int) -> tuple[Ints, Ints, str]:
    """Hold out rows: the latest if times are known, whole groups if there are groups."""
    n = len(rows)
    everything = np.arange(n)
    if share == 0:
        return everything, everything[:0], "none"
    if rows.time is not None:
        order = np.argsort(rows.time, kind="stable")
        first = rows.time[order[min(n - 1, round(n * (1 - share)))]]
        late = rows.time >= first
        train, test, words = everything[~late], everything[late], f"the latest, from {_date(first)}"
    elif rows.groups is not None:
        from sklearn.model_selection import GroupShuffleSplit

        splitter = GroupShuffleSplit(1, test_size=share, random_state=seed)
        train, test = next(splitter.split(everything, groups=rows.groups))
        words = f"{len(np.unique(rows.groups[test]))} whole groups, at random"
    else:
        from sklearn.model_selection import train_test_split

        _, counts = np.unique(rows.y, return_counts=True)
        stratify = rows.y if counts.min() >= 2 else None
        train, test = train_test_split(
            everything, test_size=share, random_state=seed, stratify=stratify
        )
        words = "at random"
    _check(rows, train, test)
    return np.sort(train), np.sort(test), words


def _date(moment: object) -> str:
    return str(moment).replace("T", " ").removesuffix(".000000")


def _check(rows: Rows, train: Ints, test: Ints) -> None:
    if len(test) < 2:
        raise TableError(f"Only {len(test)} rows would be held out. Use a larger --test-size.")
    lacking = sorted(set(np.unique(rows.y).tolist()) - set(np.unique(rows.y[train]).tolist()))
    if lacking:
        raise TableError(
            f"The training rows have no row of the class {lacking[0]!r}: all of them are held "
            "out. Use a smaller --test-size, or another split."
        )


def folds(rows: Rows, n_folds: int, seed: int) -> Iterator[tuple[Ints, Ints]]:
    """Folds of a cross-validation: forward in time, by groups, or stratified at random."""
    from sklearn.model_selection import GroupKFold, StratifiedKFold, TimeSeriesSplit

    if rows.time is not None:
        order = np.argsort(rows.time, kind="stable")
        for train, test in TimeSeriesSplit(n_folds).split(order):
            yield np.sort(order[train]), np.sort(order[test])
        return
    if rows.groups is not None:
        yield from GroupKFold(n_folds).split(rows.X, rows.y, rows.groups)
        return
    _, counts = np.unique(rows.y, return_counts=True)
    if counts.min() < n_folds:
        raise TableError(
            f"The rarest class has {counts.min()} rows, too few for {n_folds} folds. Use "
            f"--folds {max(2, int(counts.min()))}, or gather more rows."
        )
    yield from StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(rows.X, rows.y)
