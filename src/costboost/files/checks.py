"""What the state of a part must look like, by the name of its class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from costboost.files.registry import class_of, name_of_function

__all__ = ["CHECKS"]


def _need(holds: bool, words: str) -> None:
    if not holds:
        raise ValueError(words)


def _is_count(value: Any) -> bool:
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return is_integer and bool(value >= 0)


# Inputs of a smooth model, at most.
_MOST_INPUTS = 1_000_000


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _is_vector(value: Any, length: int | None = None) -> bool:
    fine = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "fiu"
    return fine and (length is None or len(value) == length)


def _is_matrix(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind == "f"


def _step_rule(rule: Any) -> None:
    _need(_is_count(rule.feature), "feature must be a column number")
    _need(_is_vector(rule.edges), "edges must be a vector")
    _need(bool(np.all(np.diff(rule.edges) >= 0)), "edges must not fall")
    _need(_is_vector(rule.outputs, len(rule.edges) + 2), "outputs must have two more than edges")


def _tree_rule(rule: Any) -> None:
    _need(hasattr(rule.booster, "num_trees"), "booster must be a LightGBM booster")
    _need(
        _is_count(rule.index) and rule.index < rule.booster.num_trees(),
        f"index must be a tree of the booster, got {rule.index!r}",
    )
    _need(_is_vector(rule.leaf_outputs), "leaf_outputs must be a vector")


def _joint_rule(rule: Any) -> None:
    _need(_is_count(rule.n_features) and _is_count(rule.k), "features and classes must be counts")
    n = len(rule.feature) if _is_vector(rule.feature) else 0
    _need(n > 0, "there must be nodes")
    for name in ("feature", "subset", "left", "right"):
        column = getattr(rule, name)
        _need(_is_vector(column, n) and column.dtype.kind == "i", f"{name} must be whole numbers")
    for name in ("threshold", "claim", "gain"):
        _need(_is_vector(getattr(rule, name), n), f"{name} must be a number per node")
    sides = rule.missing_left
    _need(isinstance(sides, np.ndarray) and sides.dtype == bool and sides.shape == (n,), "sides")
    subsets = rule.subsets
    fine = isinstance(subsets, np.ndarray) and subsets.dtype == bool and subsets.ndim == 2
    _need(fine and subsets.shape[1] >= rule.k, "subsets must have a column per class")
    asked = rule.feature >= 0
    _need(bool(np.all(rule.feature <= rule.n_features)), "features must be columns or the class")
    _need(bool(np.all(rule.subset < len(subsets))), "subsets must be those of the table")
    by_class = rule.feature == rule.n_features
    _need(bool(np.all(rule.subset[by_class] >= 0)), "classes are asked by subsets")
    for children in (rule.left[asked], rule.right[asked]):
        # Children after parents: no way leads round in a circle.
        fine = bool(np.all((children > np.flatnonzero(asked)) & (children < n)))
        _need(fine, "children must come after their parent")
    children = np.concatenate([rule.left[asked], rule.right[asked]])
    _need(len(np.unique(children)) == len(children), "a node must have one parent")


def _line_rule(rule: Any) -> None:
    _need(_is_count(rule.feature), "feature must be a column number")
    _need(_is_number(rule.slope) and _is_number(rule.intercept), "a line has slope and intercept")


def _linear_rule(rule: Any) -> None:
    _need(_is_vector(rule.coef), "coef must be a vector")
    _need(_is_number(rule.intercept), "intercept must be a number")


def _ensemble(ensemble: Any) -> None:
    _need(isinstance(ensemble.rules, list), "rules must be a list")
    _need(all(hasattr(rule, "predict") for rule in ensemble.rules), "rules must be weak rules")
    votes, n_rules = ensemble.votes, len(ensemble.rules)
    is_pair = _is_matrix(votes) and votes.shape == (n_rules, 2)  # a vote for either sign
    _need(is_pair or _is_vector(votes, n_rules), "there must be a vote per rule")


def _tree_ensemble(ensemble: Any) -> None:
    _ensemble(ensemble)
    _need(hasattr(ensemble.booster, "num_trees"), "booster must be a LightGBM booster")
    _need(_is_count(ensemble.n_threads), "n_threads must be a count")


def _parts(ensemble: Any) -> None:
    _ensemble(ensemble)
    _need(isinstance(ensemble.parts, list) and len(ensemble.parts) > 0, "parts must be a list")


def _coordinates(ensemble: Any) -> None:
    _parts(ensemble)
    c = ensemble.coordinates
    _need(_is_vector(c, len(ensemble.rules)) and c.dtype.kind in "iu", "a coordinate per rule")
    _need(bool(np.all((c >= 0) & (c < len(ensemble.parts)))), "coordinates must be those of parts")


def _projected(ensemble: Any) -> None:
    _ensemble(ensemble)
    _need(hasattr(ensemble.inner, "coordinates"), "inner must be sums of coordinates")
    _need(_is_matrix(ensemble._directions), "directions must be a matrix")
    _need(len(ensemble._directions) == len(ensemble.inner.parts), "a direction per coordinate")


def _mixture(ensemble: Any) -> None:
    _ensemble(ensemble)
    _need(hasattr(ensemble.parts, "decision_function"), "parts must be a sum of rules")
    _need(_is_count(ensemble._k) and ensemble._k >= 2, "there must be two columns or more")
    _need(_is_number(ensemble._start), "the start must be a number")
    _need(
        ensemble._shape is None or name_of_function(ensemble._shape) is not None,
        "the shape must be a function of the library",
    )


def _class_rule(rule: Any) -> None:
    _need(hasattr(rule.classifier, "predict"), "classifier must be one")
    _need(_is_count(rule.k) and rule.k >= 2, "there must be two classes or more")


def _constant_class(rule: Any) -> None:
    _need(_is_count(rule.k) and _is_count(rule.code), "class and number of classes must be counts")
    _need(rule.code < rule.k, "the class must be one of them")


def _head(head: Any) -> None:
    _weighted_models(head.models, head.weights)
    _need(_is_number(head.temperature), "temperature must be a number")


def _weighted_models(models: Any, weights: Any) -> None:
    _need(isinstance(models, tuple) and len(models) > 0, "models must be a tuple")
    _need(all(hasattr(model, "n_rounds") for model in models), "models must be trained")
    fine = isinstance(weights, tuple) and len(weights) == len(models)
    _need(fine and all(map(_is_number, weights)), "weights must be a number per model")


def _joint_head(head: Any) -> None:
    _head(head)
    _weighted_models(head.beside, head.beside_weights)
    _need(_is_number(head.base), "base must be a number")


def _probability_head(head: Any) -> None:
    _head(head)
    _need(type(head.costs) is class_of("Costs"), "costs must be Costs")


def _loss_head(head: Any) -> None:
    _head(head)
    _need(hasattr(head.loss, "checked_scores"), "loss must be a loss")
    _need(_is_matrix(head.matrix), "matrix must be a matrix of costs")


def _costs(costs: Any) -> None:
    shape = _labels(costs.classes, "classes"), _labels(costs.decisions, "decisions")
    _need(isinstance(costs.texts, dict), "texts must be a mapping")
    matrix = costs.matrix
    fine = isinstance(matrix, np.ndarray) and matrix.dtype == np.float64 and matrix.ndim in (2, 3)
    _need(fine and matrix.shape[-2:] == shape, f"matrix must have the shape {shape}")
    _need(bool(np.isfinite(matrix).all()), "matrix must be finite")
    matrix.flags.writeable = False  # as it was


def _cost_summary(summary: Any) -> None:
    shape = _labels(summary.classes, "classes"), _labels(summary.decisions, "decisions")
    for name in ("low", "mean", "high"):
        matrix = getattr(summary, name)
        _need(_is_matrix(matrix) and matrix.shape == shape, f"{name} must have the shape {shape}")
    _need(summary.n_rows is None or _is_count(summary.n_rows), "n_rows must be a count or None")
    _need(isinstance(summary.texts, dict), "texts must be a mapping")


def _labels(labels: Any, name: str) -> int:
    _need(isinstance(labels, np.ndarray) and labels.ndim == 1, f"{name} must be a vector")
    return len(labels)


def _interval(interval: Any) -> None:
    low, high = interval.low, interval.high
    fine = isinstance(low, np.ndarray) and isinstance(high, np.ndarray)
    _need(fine and low.dtype == high.dtype == np.float64, "bounds must be arrays of numbers")
    _need(low.shape == high.shape, "bounds must have one shape")


def _samples(samples: Any) -> None:
    fine = isinstance(samples.values, np.ndarray) and samples.values.dtype == np.float64
    _need(fine and samples.values.ndim > 0, "values must be an array of numbers")


def _frame_encoder(encoder: Any) -> None:
    for name in ("categorical", "ignored"):
        columns = getattr(encoder, name)
        fine = isinstance(columns, list) and all(map(_is_count, columns))
        _need(fine, f"{name} must be column numbers")
    fine = isinstance(encoder.categories, list) and all(
        isinstance(known, np.ndarray) and known.ndim == 1 for known in encoder.categories
    )
    _need(fine, "categories must be vectors")
    _need(len(encoder.categories) == len(encoder.categorical), "categories of each column")


def _members(members: Any) -> None:
    _need(all(type(m) is class_of("Member") for m in members), "members must be members")


def _member(member: Any) -> None:
    fine = all(isinstance(text, str) for text in (member.name, member.engine, member.note))
    _need(fine, "names of a member must be text")
    numbers = (member.weight, member.loss, member.rounds, member.seconds)
    _need(all(map(_is_number, numbers)), "weight, loss, rounds and seconds must be numbers")


def _design(design: Any) -> None:
    for name in ("numeric", "categorical", "gaps", "sizes"):
        columns = getattr(design, name)
        fine = isinstance(columns, np.ndarray) and columns.ndim == 1 and columns.dtype.kind == "i"
        _need(fine and bool((columns >= 0).all()), f"{name} must be counts")
    n = len(design.numeric)
    for name in ("medians", "means", "scales"):
        _need(_is_vector(getattr(design, name), n), f"{name} must be a number per column")
    _need(len(design.sizes) == len(design.categorical), "sizes must be a count per category")
    _need(int(design.sizes.sum()) <= _MOST_INPUTS, "there are too many categories")


def _design_model(model: Any) -> int:
    """What models of a design share; the number of their inputs."""
    _need(type(model.design) is class_of("Design"), "design must be one")
    _need(_is_vector(model.base) and len(model.base) > 0, "base must be numbers")
    n_inputs = len(model.design.sources)
    _need(_is_vector(model.centre, n_inputs), "centre must be a number per input")
    return n_inputs


def _linear_model(model: Any) -> None:
    shape = (len(model.base), _design_model(model))
    fine = _is_matrix(model.slopes) and model.slopes.shape == shape
    _need(fine, "slopes must be a number per input")


def _network_model(model: Any) -> None:
    n_inputs = _design_model(model)
    _need(_is_vector(model.shifts) and len(model.shifts) > 0, "shifts must be numbers")
    n_units = len(model.shifts)
    fine = _is_matrix(model.slopes) and model.slopes.shape == (n_units, n_inputs)
    _need(fine, "slopes must be a number per unit and input")
    fine = _is_matrix(model.tops) and model.tops.shape == (len(model.base), n_units)
    _need(fine, "tops must be a number per score and unit")


def _tree_model(model: Any) -> None:
    _need(type(model.trees) is class_of("Trees"), "trees must be Trees")
    _need(_is_count(model.n_features), "n_features must be a count")
    model.trees.check(model.n_features)


CHECKS: Mapping[str, Callable[[Any], None]] = {
    "FrameEncoder": _frame_encoder,
    "Costs": _costs,
    "CostSummary": _cost_summary,
    "Interval": _interval,
    "Samples": _samples,
    "StepRule": _step_rule,
    "TreeRule": _tree_rule,
    "JointRule": _joint_rule,
    "LineRule": _line_rule,
    "LinearRule": _linear_rule,
    "ClassRule": _class_rule,
    "ConstantClass": _constant_class,
    "Ensemble": _ensemble,
    "StepEnsemble": _ensemble,
    "TreeEnsemble": _tree_ensemble,
    "PairEnsemble": _parts,
    "CoordinateEnsemble": _coordinates,
    "ProjectedEnsemble": _projected,
    "Mixture": _mixture,
    "ProbabilityHead": _probability_head,
    "PriceHead": _head,
    "JointHead": _joint_head,
    "LossHead": _loss_head,
    "Member": _member,
    "Members": _members,
    "Design": _design,
    "LinearModel": _linear_model,
    "NetworkModel": _network_model,
    "TreeModel": _tree_model,
}
