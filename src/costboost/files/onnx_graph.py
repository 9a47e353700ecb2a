"""An ONNX graph from boosters: scores, probabilities, expected costs, the cheapest decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import Floats
from costboost.costs.table import same_labels
from costboost.files import boosters as engines
from costboost.files.onnx_nodes import (
    Graph,
    assembled,
    cheapest,
    label_constant,
    largest,
    named,
    network_scores,
    probabilities_of,
    scaled,
    scores_of,
    weighted,
)
from costboost.files.onnx_trees import Forest, from_lightgbm, from_xgboost
from costboost.gbm.models import NetworkModel

__all__ = ["boosters_to_onnx", "forest_of"]


def boosters_to_onnx(
    boosters: Sequence[Any],
    *,
    classes: ArrayLike,
    decisions: ArrayLike | None = None,
    cost_matrix: ArrayLike | None = None,
    weights: Sequence[float] | None = None,
    slope: float = 1.0,
    intercept: float = 0.0,
    base: float = 0.0,
    rule: Literal["cheapest", "score"] = "cheapest",
    probabilities: bool = True,
    complement: bool = False,
    costs: bool = False,
    exact: bool = False,
    metadata: Mapping[str, Any] | None = None,
) -> Any:
    """The ONNX model of some boosters."""
    # Inputs of the graph are ``features``, (n, d) double, NaN where a value is missing and codes in
    # categorical columns, and, if ``costs`` is true, ``costs``, (n, k, decisions) double: the
    # rows' own cost matrices, in place of ``cost_matrix``. Outputs are ``probabilities``,
    # ``expected_costs`` and ``decision``, the label.
    if costs and rule == "score":
        raise ValueError("A score that decides alone cannot use costs: leave them out.")
    labels, chosen = np.asarray(classes), np.asarray(classes if decisions is None else decisions)
    k, d = len(labels), len(chosen)
    C = 1.0 - np.eye(k) if cost_matrix is None else np.asarray(cost_matrix, dtype=np.float64)
    if C.shape != (k, d):
        raise ValueError(f"cost_matrix must have the shape ({k}, {d}), got {C.shape}.")
    graph = Graph()
    m = k if probabilities else d  # scores are about classes or about decisions
    scores, n_features = [], 1
    for booster in boosters:
        if isinstance(booster, NetworkModel):
            scores.append(network_scores(graph, booster))
            n_targets, n_features = len(booster.base), booster.design.n_features
        else:
            forest = forest_of(booster)
            scores.append(scores_of(graph, forest, exact))
            n_targets, n_features = forest.n_targets, forest.n_features
        if n_targets != (1 if m == 2 else m):
            raise ValueError(f"A booster has {n_targets} scores for {m} labels.")
    shares = [1.0 / len(scores)] * len(scores) if weights is None else weights
    mean = weighted(graph, scores, shares)
    if base:
        mean = scaled(graph, mean, 1.0, base)
    outputs = []
    proba = ""
    if probabilities:
        proba = probabilities_of(graph, scaled(graph, mean, slope, intercept), k, complement)
        outputs.append(named(graph, proba, "probabilities"))
    if rule == "score":
        taken = largest(graph, mean, m)
    else:
        expected, taken = cheapest(graph, proba, k, of_classes=same_labels(chosen, labels))
        outputs.append(named(graph, expected, "expected_costs"))
    decision = graph("Gather", label_constant(graph, chosen), taken, output="decision", axis=0)
    outputs.append(decision)
    shapes = {"probabilities": k, "expected_costs": d, "decision": None}
    return assembled(graph, n_features, outputs, shapes, chosen, C, costs, metadata)


def forest_of(booster: Any) -> Forest:
    """The trees of a booster of LightGBM or XGBoost."""
    engine = engines.engine_of(booster)
    if engine is None:
        raise ValueError(f"A booster of LightGBM or XGBoost is needed, got {type(booster)}.")
    if engine == "lightgbm":
        text = booster.model_to_string()  # up to the best round, as predict does
        return from_lightgbm(engines.check(engine, text.encode("utf-8"), "The booster"))
    model = engines.check(engine, bytes(booster.save_raw("ubj")), "The booster")
    return from_xgboost(model, _margins(model.base_score, model.objective))


def _margins(base_score: Floats, objective: str) -> Floats:
    """Scores before the first tree, in single precision like XGBoost's."""
    base = base_score.astype(np.float32)
    if objective.startswith(("binary:logistic", "reg:logistic")):
        odds = np.float32(1.0) / base - np.float32(1.0)
        return np.asarray(-np.log(odds.astype(np.float64)).astype(np.float32))
    return np.asarray(base)
