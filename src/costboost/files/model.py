"""Save an estimator to a file, and load it without running code."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from costboost.costs.forms import columns_of
from costboost.errors import ModelFileError
from costboost.files import container
from costboost.files.decoding import Decoder
from costboost.files.encoding import Encoder
from costboost.files.registry import is_estimator, name_of
from costboost.files.trial import check_answers

__all__ = ["contents", "describe_features", "load", "reading", "save"]

STATE = "state.json"
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # the same model must give the same bytes
_PACKAGES = ("costboost", "lightgbm", "numpy", "scikit-learn", "xgboost")


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
    manifest, members = contents(model)
    return container.write(path, manifest, members)


def contents(model: Any) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The manifest and the members of a model's file."""
    name = name_of(type(model))
    if name is None or not is_estimator(name):
        remedy = " Save what its to_local() returns." if hasattr(model, "to_local") else ""
        raise ModelFileError(
            f"A model file holds a fitted classifier of costboost; got {type(model).__name__}."
            f"{remedy}"
        )
    check_is_fitted(model)
    encoder = Encoder()
    root = encoder.value(model, name)
    state = container.to_json({"nodes": encoder.nodes, "root": root})
    manifest = {"class": name, "versions": _versions(), "types": sorted(encoder.types)}
    return {**manifest, **_summary(model)}, {**encoder.members, STATE: state}


def load(
    path: str | os.PathLike[str],
    *,
    trusted: Iterable[str] = (),
    limits: container.Limits = container.LIMITS,
) -> Any:
    """Read a model file.

    Nothing in the file is run, imported or believed before it is checked: sizes and hashes of all
    members, the structure of every tree, the class and the attributes of every object.

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
    return reading(path, lambda: _load(path, frozenset(trusted), limits))


def _load(path: Any, trusted: frozenset[str], limits: container.Limits) -> Any:
    manifest, members = container.read(path, limits)
    name = manifest.get("class")
    if not isinstance(name, str) or not is_estimator(name):
        raise ModelFileError(f"The file holds {name!r:.60}, not a classifier of costboost.")
    if STATE not in members:
        raise ModelFileError(f"The file has no {STATE}.")
    state = container.parse_json(members[STATE], STATE)
    if not isinstance(state, dict) or set(state) != {"nodes", "root"}:
        raise ModelFileError(f"{STATE} must have nodes and a root.")
    decoder = Decoder(members, trusted)
    decoder.table(state["nodes"])
    model = decoder.value(state["root"], f"The root of {STATE}")
    if name_of(type(model)) != name:
        raise ModelFileError(f"The root of {STATE} is not a {name}, as the manifest says.")
    check_answers(model)
    return model


def reading(path: Any, action: Callable[[], Any]) -> Any:
    """Whatever is wrong with a file is one kind of error, and begins with its name."""
    try:
        return action()
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from error
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        raise ModelFileError(f"{os.fspath(path)}: it is damaged: {error!r}") from error
    except (RecursionError, MemoryError, NotImplementedError, EOFError) as error:
        raise ModelFileError(f"{os.fspath(path)}: it asks for too much: {error!r}") from error


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


# -- what people want to know of a model --------------------------------------------------------


def _summary(model: Any) -> dict[str, Any]:
    """What `inspect` shows; nothing of it is needed to load the model."""
    estimates = {
        name: _readable(getattr(model, name))
        for name in ("estimated_savings_", "estimated_savings_without_costs_", "estimated_cost_")
        if hasattr(model, name)
    }
    parameters = model.get_params(deep=False)
    return {
        "parameters": {key: _readable(value) for key, value in parameters.items()},
        "classes": _readable(getattr(model, "classes_", None)),
        "decisions": _readable(getattr(model, "decisions_", getattr(model, "classes_", None))),
        "cost_matrix": _readable(getattr(model, "cost_matrix_", None)),
        "costs": _costs(model),
        "features": describe_features(model),
        "calibration": {
            "method": _readable(parameters.get("calibration")),
            "temperature": _readable(_optional(model, "temperature_")),
        },
        "estimates": estimates,
        "trained": _readable(getattr(model, "trained_at_", None)),
        "data": _readable(getattr(model, "data_fingerprint_", None)),
    }


def _costs(model: Any) -> str | None:
    """The costs of the fit in words."""
    return str(model.costs_)[:10_000] if hasattr(model, "costs_") else None


def describe_features(model: Any) -> dict[str, Any]:
    """What the columns of a table must be."""
    n = getattr(model, "n_features_in_", None)
    frame = getattr(model, "_frame", None)
    kinds, categories = None, {}
    if n is not None:
        kinds = ["number"] * int(n)
    if kinds is not None and frame is not None:
        for column, values in zip(frame.categorical, frame.categories, strict=True):
            kinds[column] = "category"
            categories[str(column)] = [_readable(value) for value in values]
        for column in frame.ignored:
            kinds[column] = "ignored"
    return {
        "number": _readable(n),
        "names": _readable(getattr(model, "feature_names_in_", None)),
        "kinds": kinds,
        "categories": categories,
        "cost_columns": list(columns_of(getattr(model, "cost_matrix", None))),
    }


def _optional(model: Any, name: str) -> Any:
    try:
        return getattr(model, name, None)
    except (AttributeError, ValueError):
        return None


def _readable(value: Any, depth: int = 0) -> Any:
    """A value as JSON for people: exact values are in the state."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value[:1000] if isinstance(value, str) else value
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)
    if isinstance(value, np.ndarray):
        return _readable(value.tolist()) if value.size <= 10_000 else f"array of {value.shape}"
    if depth < 6 and isinstance(value, dict):
        return {
            key if isinstance(key, str) else repr(key): _readable(item, depth + 1)
            for key, item in value.items()
        }
    if depth < 6 and isinstance(value, (list, tuple)):
        return [_readable(item, depth + 1) for item in value]
    return _ADDRESS.sub("", repr(value))[:1000]
