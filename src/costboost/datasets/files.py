"""The benchmark sets: one gzip CSV each, described by a ``metadata.json`` beside them.

The files are not part of the package. `load` looks for their folder in this order: the argument
``data_dir``, the environment variable ``COSTBOOST_DATA``, and ``shared/data`` next to the
repository or the working directory. Where there is none, many of the sets are downloaded from
OpenML. It needs pandas (``pip install "costboost[data]"``).
"""

from __future__ import annotations

import json
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from costboost._typing import AnyArray, Floats
from costboost.costs import per_row
from costboost.datasets.openml import OPENML, REMEDY, fetch

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Dataset", "available", "load"]

ENVIRONMENT_VARIABLE = "COSTBOOST_DATA"
METADATA = "metadata.json"
COST_COLUMNS = ("cost_fp", "cost_fn", "cost_tp", "cost_tn")

# Official matrices that come with a data set: {name: {truth: {decision: cost}}}.
COST_MATRICES: dict[str, dict[str, dict[str, float]]] = {
    "kddcup99": {
        "normal": {"normal": 0, "probe": 1, "dos": 2, "u2r": 2, "r2l": 2},
        "probe": {"normal": 1, "probe": 0, "dos": 2, "u2r": 2, "r2l": 2},
        "dos": {"normal": 2, "probe": 1, "dos": 0, "u2r": 2, "r2l": 2},
        "u2r": {"normal": 3, "probe": 2, "dos": 2, "u2r": 0, "r2l": 2},
        "r2l": {"normal": 4, "probe": 2, "dos": 2, "u2r": 2, "r2l": 0},
    },
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
    costs: Floats | None
    cost_matrix: Floats | None
    split: NDArray[np.str_] | None
    positive: int | str | None
    description: str
    licence: str


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
    >>> from costboost.datasets import available
    >>> "adult" in available("/data/costboost")  # doctest: +SKIP
    True
    """
    folder = _folder(data_dir)
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
    >>> from costboost.datasets import load
    >>> data = load("bankmarketing", "/data/costboost")  # doctest: +SKIP
    >>> data.positive, data.X.shape, data.costs.shape  # doctest: +SKIP
    ('yes', (37931, 10), (37931, 2, 2))
    """
    pd = _import_pandas()
    folder = _folder(data_dir, missing_ok=name in OPENML)
    if folder is None:
        return Dataset(**fetch(name))
    known = available(folder)
    if name not in known:
        raise ValueError(
            f"name of load must be a data set of {folder}; got {name!r}. "
            f"Use one of: {', '.join(known)}."
        )
    about = _metadata(folder)[name]
    numeric, categorical = about["numeric"], about["categorical"]
    floats = [*numeric, *(COST_COLUMNS if about["has_costs"] else ())]
    words = ["target", *(["split"] if about["split"] else [])]
    path = folder / f"{name}.csv.gz"
    try:
        # Only an empty field is a missing value: "NA" or "None" may be a category.
        frame = pd.read_csv(
            path,
            usecols=[*floats, *categorical, *words],
            dtype={
                **dict.fromkeys(floats, "float64"),
                **dict.fromkeys(categorical, "category"),
                **dict.fromkeys(words, "str"),
            },
            keep_default_na=False,
            na_values=[""],
        )
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise ValueError(
            f"The benchmark file {path} is damaged: {str(error).strip()}. Copy it again."
        ) from error
    y = _labels(frame["target"].to_numpy(dtype=str))
    classes = np.unique(y)
    positive = _positive(about["positive"], classes)
    features = set(numeric) | set(categorical)
    note = f" {about['note']}" if about["note"] else ""
    return Dataset(
        name=name,
        X=frame[[column for column in frame.columns if column in features]],
        y=y,
        classes=classes,
        costs=_row_costs(frame, classes, positive) if about["has_costs"] else None,
        cost_matrix=_official_matrix(name, classes),
        split=frame["split"].to_numpy(dtype=str) if about["split"] else None,
        positive=positive,
        description=f"{about['what']}.{note}",
        licence=about["licence"],
    )


@overload
def _folder(data_dir: str | os.PathLike[str] | None) -> Path: ...
@overload
def _folder(data_dir: str | os.PathLike[str] | None, *, missing_ok: bool) -> Path | None: ...
def _folder(data_dir: str | os.PathLike[str] | None, *, missing_ok: bool = False) -> Path | None:
    """Find the folder that holds the files, or say how to name it."""
    if data_dir is not None:
        named, origin = Path(data_dir), "data_dir"
    elif os.environ.get(ENVIRONMENT_VARIABLE):
        named, origin = Path(os.environ[ENVIRONMENT_VARIABLE]), ENVIRONMENT_VARIABLE
    else:
        repository = Path(__file__).resolve().parents[3]
        for base in (repository, Path.cwd()):
            folder = base.parent / "shared" / "data"
            if (folder / METADATA).is_file():
                return folder
        if missing_ok:
            return None
        raise FileNotFoundError(
            f"The benchmark files of costboost.datasets.load were not found. {REMEDY} It has "
            f"{METADATA} and one <name>.csv.gz per set. Without it, these sets come from OpenML: "
            f"{', '.join(OPENML)}."
        )
    if not (named / METADATA).is_file():
        raise FileNotFoundError(
            f"{origin} of costboost.datasets.load must be a folder with {METADATA} and one "
            f"<name>.csv.gz per set; {str(named)!r} has no {METADATA}."
        )
    return named


def _metadata(folder: Path) -> dict[str, dict[str, Any]]:
    path = folder / METADATA
    try:
        content: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"The file {path} is damaged: {error}. Copy it again.") from error
    return content


def _import_pandas() -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "costboost.datasets.load needs pandas, which is not installed: "
            'pip install "costboost[data]".'
        ) from error
    return pd


def _labels(text: NDArray[np.str_]) -> AnyArray:
    """Labels as integers where all of them are, so that 10 sorts after 9."""
    try:
        return text.astype(np.int64)
    except ValueError:
        return text


def _positive(text: str, classes: AnyArray) -> int | str | None:
    """Positive class of a binary set; the metadata writes "label (remark)"."""
    if len(classes) != 2:
        return None
    label = text.split(" (")[0]
    for known in classes.tolist():
        if str(known) == label:
            return known  # type: ignore[no-any-return]
    raise ValueError(
        f"positive in {METADATA} must begin with one of the classes {classes.tolist()}; "
        f"got {text!r}."
    )


def _row_costs(frame: pd.DataFrame, classes: AnyArray, positive: int | str | None) -> Floats:
    fp, fn, tp, tn = (frame[column].to_numpy() for column in COST_COLUMNS)
    costs = np.asarray(per_row(fn=fn, fp=fp, tp=tp, tn=tn))
    # per_row puts the positive class second; follow the order of classes.
    return costs if classes[1] == positive else costs[:, ::-1, ::-1].copy()


def _official_matrix(name: str, classes: AnyArray) -> Floats | None:
    if name not in COST_MATRICES:
        return None
    table = COST_MATRICES[name]
    return np.array([[table[truth][decision] for decision in classes] for truth in classes], float)
