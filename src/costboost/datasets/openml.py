"""Benchmark sets from OpenML, for machines without the files, by scikit-learn's loader."""

from __future__ import annotations

import warnings
from http.client import HTTPException
from typing import Any, NamedTuple

import numpy as np

__all__ = ["OPENML", "REMEDY", "fetch"]

REMEDY = (
    "Name the folder of the benchmark files: data_dir of costboost.datasets.load, the environment "
    "variable COSTBOOST_DATA, or --data of costboost reproduce."
)


class Entry(NamedTuple):
    """Where a set is on OpenML, and the positive class of a binary one as OpenML writes it."""

    data_id: int
    positive: str | None = None


OPENML: dict[str, Entry] = {
    "adult": Entry(1590, ">50K"),
    "anneal": Entry(2),
    "breast-cancer": Entry(13, "recurrence-events"),
    "breast-tissue": Entry(1465),
    "crx": Entry(29, "+"),
    "ecoli": Entry(39),
    "haberman": Entry(43, "2"),
    "hepatitis": Entry(55, "DIE"),
    "letter": Entry(6),
    "optdigits": Entry(28),
    "page-blocks": Entry(30),
    "pendigits": Entry(32),
    "phoneme": Entry(1489, "2"),
    "pima": Entry(37, "tested_positive"),
    "satimage": Entry(182),
    "segment": Entry(36),
    "shuttle": Entry(40685),
    "sonar": Entry(40, "Mine"),
    "splice": Entry(46),
    "tic-tac-toe": Entry(50, "positive"),
    "vehicle": Entry(54),
    "wbc": Entry(15, "malignant"),
    "wdbc": Entry(1510, "2"),
}


def fetch(name: str) -> dict[str, Any]:
    """A set; labels, order of rows and column names are OpenML's, without split or costs."""
    from sklearn.datasets import fetch_openml

    entry = OPENML[name]
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A network error occurred", UserWarning)
            bunch = fetch_openml(data_id=entry.data_id, as_frame=True, n_retries=1)
    except (OSError, HTTPException, ValueError) as error:
        raise FileNotFoundError(
            f"The data set {name!r} is not on this machine, and the download from OpenML failed: "
            f"{error}. {REMEDY}"
        ) from error
    y = bunch.target.to_numpy(dtype=str)
    classes = np.unique(y)
    return {
        "name": name,
        "X": bunch.data,
        "y": y,
        "classes": classes,
        "costs": None,
        "cost_matrix": None,
        "split": None,
        "positive": entry.positive if entry.positive in classes else None,
        "description": f"OpenML data set {entry.data_id}.",
        "licence": "see OpenML",
    }
