"""Classifiers as ONNX models."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from costboost.binary import BinaryBoostingClassifier
from costboost.costs.forms import varies
from costboost.costs.uncertain import scenarios
from costboost.files.container import write_bytes
from costboost.files.onnx_graph import boosters_to_onnx
from costboost.files.onnx_votes import votes_to_onnx
from costboost.gbm.classifier import CostBoostClassifier
from costboost.gbm.heads import LossHead, ProbabilityHead
from costboost.multiclass import MulticlassBoostingClassifier

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
        A fitted `CostBoostClassifier`, or an algorithm whose weak rules are trees.
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
    metadata = _metadata(model)
    _check_costs(model, costs)
    if isinstance(model, MulticlassBoostingClassifier):
        made = votes_to_onnx(model, costs=costs, exact=exact, metadata=metadata)
    else:
        settings = _settings(model, costs)
        made = boosters_to_onnx(
            classes=model.classes_, costs=costs, exact=exact, metadata=metadata, **settings
        )
    if path is not None:
        write_bytes(Path(path), made.SerializeToString(deterministic=True))
    return made


def _check_costs(model: Any, costs: bool) -> None:
    """Refuse costs that a graph cannot work out."""
    owner = type(model).__name__
    form = getattr(model, "cost_matrix", None)
    if not costs and varies(form):
        raise ValueError(
            f"The costs of {owner} are expressions or a function of the columns, which a graph "
            "cannot work out. Use to_onnx(..., costs=True) and pass it the costs of each row."
        )
    is_uncertain = getattr(model, "risk", "expected") == "worst" and scenarios(form).is_uncertain
    if not costs and is_uncertain:
        raise ValueError(
            f"A graph cannot weigh the uncertain costs of {owner}(risk='worst'). Use risk="
            "'expected', or to_onnx(..., costs=True) and pass it the costs of each row."
        )


def _settings(model: Any, costs: bool) -> dict[str, Any]:
    if isinstance(model, CostBoostClassifier):
        return _of_heads(model, costs)
    if isinstance(model, BinaryBoostingClassifier):
        return _of_votes(model, costs)
    raise ValueError(
        f"to_onnx takes CostBoostClassifier and the algorithms whose weak rules are trees, got "
        f"{type(model).__name__}. Convert the estimator inside it with its own tools."
    )


def _of_heads(model: Any, costs: bool) -> dict[str, Any]:
    owner = type(model).__name__
    head = model._first_head if costs else model._deciding_head
    boosters = head.boosters
    if isinstance(head, ProbabilityHead):
        return {
            "boosters": boosters,
            "weights": head.weights,
            "slope": head.temperature,
            **_costs_of(model),
        }
    if costs or (isinstance(head, LossHead) and not head.loss.carries_costs):
        raise ValueError(
            f"to_onnx writes the decisions of {owner}(loss={model.loss!r}, decision="
            f"{model.decision!r}) by the scores of its boosters alone. Leave costs out, or fit "
            "with loss='auto' and decision='auto' or 'bayes'."
        )
    return {
        "boosters": boosters,
        "weights": head.weights,
        "base": head.base,
        "decisions": model.decisions_,
        "cost_matrix": np.zeros((len(model.classes_), len(model.decisions_))),
        "rule": "score",
        "probabilities": False,
    }


def _costs_of(model: Any) -> dict[str, Any]:
    """The decisions, and the costs that decide without others; zeros where rows have their own."""
    if varies(model.cost_matrix):
        shape = len(model.classes_), len(model.decisions_)
        return {"decisions": model.decisions_, "cost_matrix": np.zeros(shape)}
    known = model._decision_costs(None, 1, None)
    return {"decisions": known.decisions, "cost_matrix": known.matrix}


def _of_votes(model: Any, costs: bool) -> dict[str, Any]:
    if getattr(model._ensemble, "booster", None) is None:
        raise ValueError(
            f"to_onnx takes {type(model).__name__} with trees as weak rules, and this one has "
            "none. Fit with estimator='tree'."
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
        **_costs_of(model),
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
