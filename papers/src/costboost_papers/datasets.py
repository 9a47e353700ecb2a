"""The benchmark sets: one gzip CSV each, described by a ``metadata.json`` beside them.

The files are not part of the package. `load` looks for their folder in this order: the argument
``data_dir``, the environment variable ``COSTBOOST_DATA``, and ``shared/data`` next to the
repository or the working directory. Where there is none, many of the sets are downloaded from
OpenML.
"""

from __future__ import annotations

import json
import os
import warnings
import zlib
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from costboost._typing import AnyArray, Floats
from costboost.costs import per_row

ENVIRONMENT_VARIABLE = "COSTBOOST_DATA"
METADATA = "metadata.json"
COST_COLUMNS = ("cost_fp", "cost_fn", "cost_tp", "cost_tn")

REMEDY = (
    "Name the folder of the benchmark files: data_dir of costboost_papers.datasets.load, the "
    "environment variable COSTBOOST_DATA, or --data of costboost-papers run."
)

# The official matrix of kddcup99: truth by decision, in this order.
KDD_CLASSES = ("normal", "probe", "dos", "u2r", "r2l")
KDD_COSTS = ((0, 1, 2, 2, 2), (1, 0, 2, 2, 2), (2, 1, 0, 2, 2), (3, 2, 2, 0, 2), (4, 2, 2, 2, 0))

# Number of a set on OpenML, and the positive class of a binary one as OpenML writes it.
OPENML: dict[str, tuple[int, str | None]] = {
    "adult": (1590, ">50K"),
    "anneal": (2, None),
    "breast-cancer": (13, "recurrence-events"),
    "breast-tissue": (1465, None),
    "crx": (29, "+"),
    "ecoli": (39, None),
    "haberman": (43, "2"),
    "hepatitis": (55, "DIE"),
    "letter": (6, None),
    "optdigits": (28, None),
    "page-blocks": (30, None),
    "pendigits": (32, None),
    "phoneme": (1489, "2"),
    "pima": (37, "tested_positive"),
    "satimage": (182, None),
    "segment": (36, None),
    "shuttle": (40685, None),
    "sonar": (40, "Mine"),
    "splice": (46, None),
    "tic-tac-toe": (50, "positive"),
    "vehicle": (54, None),
    "wbc": (15, "malignant"),
    "wdbc": (1510, "2"),
}


@dataclass(frozen=True, eq=False)
class Dataset:
    """One benchmark set.

    Attributes
    ----------
    name : str
        Name of the set, as in `available`.
    X : pandas.DataFrame
        Features: float columns (NaN = missing) and category columns.
    y : ndarray of shape (n_samples,)
        Original labels; integers where every label is one, else strings.
    classes : ndarray of shape (n_classes,)
        The sorted labels, in the order scikit-learn's ``classes_`` has.
    costs : ndarray of shape (n_samples, 2, 2) or None
        The row's own costs, truth x decision in the order of ``classes``.
    cost_matrix : ndarray of shape (n_classes, n_classes) or None
        Official matrix of the set, truth x decision in the order of ``classes``.
    split : ndarray of shape (n_samples,) or None
        ``"train"`` or ``"test"`` where a split was published.
    positive : int, str or None
        Positive class of a binary set; None with more than two classes.
    description : str
        What the set is, with its remarks.
    licence : str
        Licence or citation.
    """

    name: str
    X: pd.DataFrame
    y: AnyArray
    classes: AnyArray
    description: str
    licence: str
    costs: Floats | None = None
    cost_matrix: Floats | None = None
    split: NDArray[np.str_] | None = None
    positive: int | str | None = None


def available(data_dir: str | os.PathLike[str] | None = None) -> list[str]:
    """Names that `load` accepts: the sets of the folder, in alphabetical order.

    Parameters
    ----------
    data_dir : path or None, default=None
        Folder with the files; None looks for it as the module's docstring says.

    Returns
    -------
    list of str
        Names of the data sets.

    Examples
    --------
    >>> from costboost_papers.datasets import available
    >>> "adult" in available("/data/costboost")  # doctest: +SKIP
    True
    """
    folder = find_folder(data_dir)
    return sorted(name for name in _metadata(folder) if (folder / f"{name}.csv.gz").is_file())


def load(name: str, data_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """Read one benchmark set.

    Parameters
    ----------
    name : str
        One of `available`.
    data_dir : path or None, default=None
        Folder with the files; None looks for it as the module's docstring says.

    Returns
    -------
    Dataset
        Features, labels and, where the set has them, costs and the published split.

    Examples
    --------
    >>> from costboost_papers.datasets import load
    >>> data = load("bankmarketing", "/data/costboost")  # doctest: +SKIP
    >>> data.positive, data.X.shape, data.costs.shape  # doctest: +SKIP
    ('yes', (37931, 10), (37931, 2, 2))
    """
    folder = find_folder(data_dir, missing_ok=name in OPENML)
    if folder is None:
        return _from_openml(name)
    known = available(folder)
    if name not in known:
        raise ValueError(f"{folder} has no set {name!r}. Use one of: {', '.join(known)}.")
    about = _metadata(folder)[name]
    floats = [*about["numeric"], *(COST_COLUMNS if about["has_costs"] else ())]
    words = ["target", *(["split"] if about["split"] else [])]
    kinds = {
        **dict.fromkeys(floats, "float64"),
        **dict.fromkeys(about["categorical"], "category"),
        **dict.fromkeys(words, "str"),
    }
    path = folder / f"{name}.csv.gz"
    try:
        # Only an empty field is a missing value: "NA" or "None" may be a category.
        frame = pd.read_csv(
            path, usecols=list(kinds), dtype=kinds, keep_default_na=False, na_values=[""]
        )
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise ValueError(f"{path} is damaged: {error}. Copy it again.") from error
    y: AnyArray = frame["target"].to_numpy(dtype=str)
    with suppress(ValueError):  # integers where all of them are, so that 10 sorts after 9
        y = y.astype(np.int64)
    classes = np.unique(y)
    positive = costs = matrix = None
    if len(classes) == 2:  # the metadata writes "label (remark)"
        positive = y.dtype.type(about["positive"].split(" (")[0]).item()
    if about["has_costs"]:
        fp, fn, tp, tn = (frame[column].to_numpy() for column in COST_COLUMNS)
        costs = np.asarray(per_row(fn=fn, fp=fp, tp=tp, tn=tn))
        if classes[1] != positive:  # per_row puts the positive class second
            costs = costs[:, ::-1, ::-1].copy()
    if name == "kddcup99":
        order = [KDD_CLASSES.index(label) for label in classes]
        matrix = np.array(KDD_COSTS, dtype=np.float64)[np.ix_(order, order)]
    features = {*about["numeric"], *about["categorical"]}
    return Dataset(
        name=name,
        X=frame[[column for column in frame.columns if column in features]],
        y=y,
        classes=classes,
        costs=costs,
        cost_matrix=matrix,
        split=frame["split"].to_numpy(dtype=str) if about["split"] else None,
        positive=positive,
        description=f"{about['what']}.{' ' if about['note'] else ''}{about['note']}",
        licence=about["licence"],
    )


def _from_openml(name: str) -> Dataset:
    """A set; labels, order of rows and column names are OpenML's, without split or costs."""
    from sklearn.datasets import fetch_openml

    number, positive = OPENML[name]
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A network error occurred", UserWarning)
            bunch = fetch_openml(data_id=number, as_frame=True, n_retries=1)
    except (OSError, HTTPException, ValueError) as error:
        raise FileNotFoundError(
            f"The data set {name!r} is not on this machine, and the download from OpenML failed: "
            f"{error}. {REMEDY}"
        ) from error
    y = bunch.target.to_numpy(dtype=str)
    return Dataset(
        name=name,
        X=bunch.data,
        y=y,
        classes=np.unique(y),
        positive=positive if positive in y else None,
        description=f"OpenML data set {number}.",
        licence="see OpenML",
    )


def find_folder(data_dir: str | os.PathLike[str] | None, *, missing_ok: bool = False) -> Any:
    """Return the folder that holds the files; without one raise an error, or return None."""
    named = data_dir or os.environ.get(ENVIRONMENT_VARIABLE)
    repository = Path(__file__).resolve().parents[3]
    beside = [base.parent / "shared" / "data" for base in (repository, Path.cwd())]
    for folder in [Path(named)] if named else beside:
        if (folder / METADATA).is_file():
            return folder
    if named:
        origin = ENVIRONMENT_VARIABLE if data_dir is None else "data_dir"
        raise FileNotFoundError(
            f"{origin} of costboost_papers.datasets.load must be a folder of benchmark files; "
            f"{str(named)!r} has no {METADATA}."
        )
    if missing_ok:
        return None
    raise FileNotFoundError(
        f"The benchmark files of costboost_papers.datasets.load were not found. {REMEDY} Without "
        f"them, these sets come from OpenML: {', '.join(OPENML)}."
    )


def _metadata(folder: Path) -> dict[str, dict[str, Any]]:
    content: dict[str, dict[str, Any]] = json.loads((folder / METADATA).read_text("utf-8"))
    return content
