"""Save a classifier to a file, load it without running code, and say what is inside a file."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from costboost._utils import versions
from costboost.columns import Columns
from costboost.costs.forms import columns_of
from costboost.errors import ModelFileError
from costboost.files import container
from costboost.files.state import Decoder, Encoder, name_of

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # the same model must give the same bytes
PACKAGES = ("costboost", "lightgbm", "numpy", "scikit-learn", "xgboost")
# Columns, categories and entries of arrays that a manifest lists.
_MOST_LISTED = 10_000
_ESTIMATES = (
    "estimated_score_", "estimated_score_without_costs_", "estimated_savings_",
    "estimated_savings_without_costs_", "estimated_cost_",
)  # fmt: skip


def save(model: Any, path: str | os.PathLike[str]) -> Path:
    """Write a fitted classifier of costboost to a model file.

    The file holds no code. It appears when it is complete: a crash leaves an old file as it was.
    The same model gives the same bytes.

    Parameters
    ----------
    model : classifier
        Any fitted classifier of the library.
    path : str or path
        The file, usually with the ending ``.costboost``.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import AdaC2Classifier
    >>> from costboost.files import load, save
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaC2Classifier({"fn": 1, "fp": 10}, n_estimators=10).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     same = load(save(model, os.path.join(folder, "cancer.costboost")))
    >>> bool((same.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    return container.write_bytes(Path(path), container.pack(*contents(model)))


def contents(model: Any) -> tuple[dict[str, Any], bytes, bytes]:
    """The manifest, the state and the arrays of a model's file."""
    name = name_of(type(model))
    if name is None or not hasattr(type(model), "save"):  # parts of classifiers lack this method
        remedy = " Save what its to_local() returns." if hasattr(model, "to_local") else ""
        raise ModelFileError(
            f"A model file holds a fitted classifier of costboost; got {type(model).__name__}."
            f"{remedy}"
        )
    check_is_fitted(model)
    encoder = Encoder()
    state = container.to_json(encoder.value(model, type(model).__name__))
    manifest = {
        "class": name,
        "versions": versions(*PACKAGES),
        "untrusted": sorted(encoder.types),
        "boosters": encoder.boosters,
        **_summary(model),
    }
    return manifest, state, b"".join(encoder.arrays)


def load(
    path: str | os.PathLike[str],
    *,
    trusted: Iterable[str] = (),
    limits: container.Limits = container.LIMITS,
) -> Any:
    """Read a model file.

    Nothing in the file is run, imported or believed before it is checked: sizes and the hash of all
    bytes, the structure of every tree, the class and the attributes of every object.

    Parameters
    ----------
    path : str or path
        The file.
    trusted : iterable of str, default=()
        Types of scikit-learn objects inside the model, beyond those that costboost knows, that you
        trust. The error for a file that needs them lists them.
    limits : Limits, optional
        What the file may ask of memory.

    Returns
    -------
    classifier
        The fitted classifier.

    Raises
    ------
    ModelFileError
        If anything is wrong with the file; the message says what and where.
    """
    with reading(path):
        manifest, state, arrays = container.read(path, limits)
        model = Decoder(arrays, frozenset(trusted), limits).root(state)
        if not hasattr(type(model), "save") or type(model).__name__ != manifest.get("class"):
            raise ModelFileError(f"The file holds no classifier {manifest.get('class')!r:.60}.")
        _check_answer(model)
        return model


@contextmanager
def reading(path: Any) -> Iterator[None]:
    """Whatever is wrong with a file is one kind of error, and begins with its name."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from error
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        raise ModelFileError(f"{os.fspath(path)}: it is damaged: {error!r}") from error
    except (RecursionError, MemoryError, NotImplementedError, EOFError) as error:
        raise ModelFileError(f"{os.fspath(path)}: it asks for too much: {error!r}") from error


def _check_answer(model: Any) -> None:
    """Ask a loaded model about a row of zeros: parts may be sound and still not fit together."""
    classes = model.classes_
    decisions = getattr(model, "decisions_", classes)
    if not all(isinstance(found, np.ndarray) and found.ndim == 1 for found in (classes, decisions)):
        raise ModelFileError("The model must have lists of classes and decisions.")
    shape = (len(classes), len(decisions))
    matrix = getattr(model, "cost_matrix_", None)
    fine = isinstance(matrix, np.ndarray) and matrix.shape == shape and np.isfinite(matrix).all()
    if min(shape) < 2 or (matrix is not None and not fine):
        raise ModelFileError(
            f"The model must have two classes or more, and costs of shape {shape}."
        )
    columns = getattr(model, "columns_", None)
    if columns is None:
        return  # wrappers hand the row to an estimator, which may want any kind of table
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            codes, proba = model._scored(columns.example(), codes=True, proba=True)
        for answer, expected in ((codes, (1,)), (proba, (1, len(classes)))):
            if answer is not None and np.shape(answer) != expected:
                raise ValueError(f"its answer has the shape {np.shape(answer)}, not {expected}")
    except Exception as error:  # whatever parts that do not fit make of it
        raise ModelFileError(
            f"The model cannot decide on a row of zeros: {error!r:.300}"
        ) from error


# -- what people want to know of a model --------------------------------------------------------


def _summary(model: Any) -> dict[str, Any]:
    """What `inspect` shows; nothing of it is needed to load the model."""
    parameters = model.get_params(deep=False)
    return {
        "parameters": {key: _readable(value) for key, value in parameters.items()},
        "classes": _readable(getattr(model, "classes_", None)),
        "decisions": _readable(getattr(model, "decisions_", getattr(model, "classes_", None))),
        "cost_matrix": _readable(getattr(model, "cost_matrix_", None)),
        "costs": str(model.costs_)[:10_000] if hasattr(model, "costs_") else None,
        "features": _features(model),
        "calibration": {
            "method": _readable(parameters.get("calibration")),
            "temperature": _readable(getattr(model, "temperature_", None)),
        },
        "estimates": {
            name: _readable(getattr(model, name)) for name in _ESTIMATES if hasattr(model, name)
        },
        "trained": _readable(getattr(model, "trained_at_", None)),
        "data": _readable(getattr(model, "data_fingerprint_", None)),
    }


def _features(model: Any) -> dict[str, Any]:
    """What the columns of a table must be."""
    n, columns = getattr(model, "n_features_in_", None), getattr(model, "columns_", None)
    # Of very wide tables there is nothing to say that a person would read.
    known: Any = Columns((), 0) if n is None or n > _MOST_LISTED or columns is None else columns
    return {
        "number": _readable(n),
        "names": _readable(getattr(model, "feature_names_in_", None)),
        "columns": [list(row) for row in known.rows()],
        "categories": {
            str(c.name): list(c.categories[:_MOST_LISTED]) for c in known if c.categories
        },
        "cost_columns": list(columns_of(getattr(model, "cost_matrix", None))),
    }


def _readable(value: Any, depth: int = 0) -> Any:
    """A value as JSON for people: exact values are in the state."""
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist() if value.size <= _MOST_LISTED else f"array of {value.shape}"
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return value[:1000]
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)
    if depth < 6 and isinstance(value, dict):
        return {
            key if isinstance(key, str) else repr(key): _readable(item, depth + 1)
            for key, item in value.items()
        }
    if depth < 6 and isinstance(value, (list, tuple)):
        return [_readable(item, depth + 1) for item in value]
    return _ADDRESS.sub("", repr(value))[:1000]


def inspect(
    path: str | os.PathLike[str], limits: container.Limits = container.LIMITS
) -> dict[str, Any]:
    """What a model file says of itself, after its hash was checked; nothing is loaded.

    Parameters
    ----------
    path : str or path
        The file.
    limits : Limits, optional
        What the file may ask of memory.

    Returns
    -------
    dict
        The manifest (``docs/files.md``): what the model is, ``boosters`` with the engine, trees
        and scores of each, and ``untrusted``, the types that `load` must be told to trust.

    Raises
    ------
    ModelFileError
        If anything is wrong with the container.
    """
    with reading(path):
        return container.opened(path, limits)[0]
