"""The losses that Beijbom et al. compare, their data sets, and how much of it is run."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Ints
from costboost.datasets import Dataset, load

LOSSES = {"MCBoost": "mc", "GEL": "gel", "GLL": "gll", "Ls": "ls", "Lt": "lt"}
POSTERIOR = "P-MCBoost"  # MCBoost's fit with the Bayes rule for its decisions
ALGORITHMS = ("MCBoost", POSTERIOR, "GEL", "GLL", "Ls", "Lt")
AVERSE, OTHERS = ALGORITHMS[:4], ALGORITHMS[4:]
LEAST_ROWS = 10  # of a class, where training rows are drawn
EVERYTHING = "all"  # data set of what is computed over all data sets

TREES: dict[str, Any] = {
    "satimage": {  # ground cover in satellite images
        "bare": {"red soil": {1: None}, "grey soil": [3, 4, 7]},  # grey, damp grey, very damp grey
        "grown over": [2, 5],  # cotton crop, vegetation stubble
    },
    "segment": {  # patches of outdoor photographs
        "built": {"upright": ["BRICKFACE", "WINDOW"], "ground": ["CEMENT", "PATH"]},
        "plants": ["FOLIAGE", "GRASS"],
        "sky": {"SKY": None},
    },
    "vehicle": {"car": ["opel", "saab"], "large": ["bus", "van"]},  # silhouettes
}


@dataclass(frozen=True)
class Effort:
    """How much of the protocol a mode runs."""

    rounds: int
    repeats: int
    most_rows: int  # training rows
    repeats_of: dict[str, int] = field(default_factory=dict)  # exceptions


@lru_cache(maxsize=2)
def dataset(name: str) -> Dataset:
    """The benchmark set, read once by a process."""
    return load(name)


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
