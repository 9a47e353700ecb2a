"""Classifiers as ONNX models."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from costboost.binary import BinaryBoostingClassifier
from costboost.files.container import write_bytes
from costboost.files.onnx_graph import boosters_to_onnx
from costboost.gbm.heads import ProbabilityHead
from costboost.gbm.prediction import HeadClassifier

__all__ = ["to_onnx"]


def to_onnx(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    costs: bool = False,
    exact: bool = False,
) -> Any:
    """Write a fitted classifier as an ONNX model.

    The graph takes ``features``, (n, d) double, and answers ``probabilities``, ``expected_costs``
    and ``decision``, the label. Categorical columns hold the codes that the model's properties
    list (``categories``); NaN is a missing value.

    Parameters
    ----------
    model : classifier
        A fitted `CostBoostClassifier`, or a binary classifier whose weak learner is ``"tree"``.
    path : str or path, optional
        The file to write; without it the model is only returned.
    costs : bool, default=False
        Whether the graph decides as ``predict(X, costs=...)``: it has the input ``costs``, the
        rows' own cost matrices. Without it the graph decides as ``predict(X)``.
    exact : bool, default=False
        Whether sums of trees must not depend on the number of threads of the runtime; takes
        memory for a number per row and tree. With one thread sums are exact anyway.

    Returns
    -------
    onnx.ModelProto
        The model.
    """
    check_is_fitted(model)
    settings = _settings(model, costs)
    made = boosters_to_onnx(
        classes=model.classes_,
        costs=costs,
        exact=exact,
        metadata=_metadata(model),
        **settings,
    )
    if path is not None:
        write_bytes(Path(path), made.SerializeToString(deterministic=True))
    return made


def _settings(model: Any, costs: bool) -> dict[str, Any]:
    if isinstance(model, HeadClassifier):
        return _of_heads(model, costs)
    if isinstance(model, BinaryBoostingClassifier):
        return _of_votes(model, costs)
    raise ValueError(
        f"to_onnx takes a CostBoostClassifier or a binary classifier of trees, got "
        f"{type(model).__name__}."
    )


def _of_heads(model: Any, costs: bool) -> dict[str, Any]:
    owner = type(model).__name__
    if model.loss != "auto":
        raise ValueError(f"to_onnx takes {owner}(loss='auto'), got loss={model.loss!r}.")
    if callable(model.cost_matrix) or model.risk == "worst":
        raise ValueError(
            f"to_onnx cannot write costs that are a function, or risk='worst', of {owner}. Fit "
            "with numbers and pass the rows' costs to the graph."
        )
    heads = model.heads_
    if "decision" in heads and not costs:
        head = heads["decision"]
        return {
            "boosters": [m.booster for m in head.models],
            "rule": "score",
            "probabilities": False,
        }
    if "probability" not in heads:
        raise ValueError(
            f"{owner}(decision={model.decision!r}) has learned decisions and no probabilities, so "
            "its graph cannot use costs. Leave costs out."
        )
    head = heads["probability"]
    return {
        "boosters": [m.booster for m in head.models],
        "average": "probabilities" if isinstance(head, ProbabilityHead) else "scores",
        "slope": head.temperature,
        "cost_matrix": model.cost_matrix_,
    }


def _of_votes(model: Any, costs: bool) -> dict[str, Any]:
    if getattr(model._ensemble, "booster", None) is None:
        raise ValueError(
            f"to_onnx takes {type(model).__name__} with trees as weak rules. Fit with "
            "estimator='tree'."
        )
    # Every link is a straight line of the log-odds; two points give it.
    ends = model._link.probability(np.array([0.0, 1.0]), model._link_costs())
    low, high = np.log(ends) - np.log1p(-ends)
    return {
        "boosters": [model._ensemble.booster],
        "rule": "cheapest" if costs else "score",
        "slope": float(high - low),
        "intercept": float(low),
        "complement": True,
        "cost_matrix": model.cost_matrix_,
    }


def _metadata(model: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "class": type(model).__name__,
        "classes": [str(label) for label in model.classes_],
    }
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        found["features"] = [str(name) for name in names]
    frame = getattr(model, "_frame", None)
    if frame is not None:
        found["categories"] = {
            str(place): [str(value) for value in values]
            for place, values in zip(frame.categorical, frame.categories, strict=True)
        }
    return found
