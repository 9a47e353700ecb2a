"""The classes that a model file may hold: a table, and nothing outside it is ever built.

A file names a class by the word in the left column. The right column says where that class lives
in this version of the library, so classes may move without making old files unreadable. A new part
of an estimator needs one line here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

__all__ = ["CHECKS", "ESTIMATORS", "PARTS", "class_of", "is_estimator", "name_of"]

# Estimators: everything of this list that the library has.
ESTIMATORS: tuple[str, ...] = (
    "AdaBoostCClassifier",
    "AdaBoostM2Classifier",
    "AdaC1Classifier",
    "AdaC2Classifier",
    "AdaC3Classifier",
    "AdaCostClassifier",
    "AdaCostM2Classifier",
    "AdaMECClassifier",
    "AsyBClassifier",
    "AsyBLClassifier",
    "AsymmetricAdaBoostClassifier",
    "AverageCostClassifier",
    "CSAdaBoostClassifier",
    "CSB0Classifier",
    "CSB1Classifier",
    "CSB2Classifier",
    "CSB2M2Classifier",
    "CSLogitBoostClassifier",
    "CSRealBoostClassifier",
    "CostBoostClassifier",
    "CostingClassifier",
    "DSEClassifier",
    "GBSEClassifier",
    "GradientCSBClassifier",
    "LpCSBClassifier",
    "MCBoostClassifier",
    "MinCostClassifier",
    "TargetRateClassifier",
)

PARTS: Mapping[str, str] = {
    # how columns are coded
    "FrameEncoder": "costboost._frames:FrameEncoder",
    # uncertain costs
    "Interval": "costboost.costs.uncertain:Interval",
    "Samples": "costboost.costs.uncertain:Samples",
    # sums of weak rules
    "Ensemble": "costboost.learners.base:Ensemble",
    "TreeEnsemble": "costboost.learners.tree:TreeEnsemble",
    "StepEnsemble": "costboost.learners.steps:StepEnsemble",
    "PairEnsemble": "costboost.learners.pairs:PairEnsemble",
    "CoordinateEnsemble": "costboost.learners.coordinates:CoordinateEnsemble",
    # weak rules
    "ConstantRule": "costboost.learners.base:ConstantRule",
    "TreeRule": "costboost.learners.tree:TreeRule",
    "StepRule": "costboost.learners.steps:StepRule",
    "LineRule": "costboost.learners.line:LineRule",
    "LinearRule": "costboost.learners.perceptron:LinearRule",
    "EstimatorRule": "costboost.learners.adapter:EstimatorRule",
    "CheapestClassRule": "costboost.learners.cost_tree:CheapestClassRule",
    "RelationalRule": "costboost.learners.pairs:RelationalRule",
    "OneHotRule": "costboost.algorithms._sampled:OneHotRule",
    # criteria of weak rules
    "Votes": "costboost.learners.criteria:Votes",
    "JointVotes": "costboost.learners.criteria:JointVotes",
    "LeastSquares": "costboost.learners.criteria:LeastSquares",
    "LogRatio": "costboost.learners.criteria:LogRatio",
    # weak learners, as parameters
    "Tree": "costboost.learners.tree:Tree",
    "Stump": "costboost.learners.stump:Stump",
    "Histogram": "costboost.learners.histogram:Histogram",
    "Line": "costboost.learners.line:Line",
    "Perceptron": "costboost.learners.perceptron:Perceptron",
    "SklearnLearner": "costboost.learners.adapter:SklearnLearner",
    "CostRegressor": "costboost.learners.cost_tree:CostRegressor",
    # losses, as parameters
    "CostExponential": "costboost.losses:CostExponential",
    "WeightedExponential": "costboost.losses:WeightedExponential",
    "CostLogistic": "costboost.losses:CostLogistic",
    "AsymmetricLogistic": "costboost.losses:AsymmetricLogistic",
    "PNorm": "costboost.losses:PNorm",
    "GEL": "costboost.losses:GEL",
    "GLL": "costboost.losses:GLL",
    "MC": "costboost.losses:MC",
    "Ls": "costboost.losses:Ls",
    "Lt": "costboost.losses:Lt",
    # boosters of the gradient boosting classifier
    "Head": "costboost.flagship.heads:Head",
    "ProbabilityHead": "costboost.flagship.heads:ProbabilityHead",
    "LightGBMModel": "costboost.flagship.lightgbm_engine:LightGBMModel",
    "XGBoostModel": "costboost.flagship.xgboost_engine:XGBoostModel",
    "Fold": "costboost.flagship.heads:Fold",
    "Estimate": "costboost.flagship.estimate:Estimate",
    # classes of scikit-learn that have nothing but plain attributes, and trees, which are checked
    "DecisionTreeClassifier": "sklearn.tree:DecisionTreeClassifier",
    "DecisionTreeRegressor": "sklearn.tree:DecisionTreeRegressor",
    "LabelEncoder": "sklearn.preprocessing:LabelEncoder",
    "OrdinalEncoder": "sklearn.preprocessing:OrdinalEncoder",
    # classifiers of the engines, whose boosters are members of their own
    "LGBMClassifier": "lightgbm.sklearn:LGBMClassifier",
    "XGBClassifier": "xgboost.sklearn:XGBClassifier",
}


@cache
def _places() -> dict[str, str]:
    return {**PARTS, **{name: f"costboost:{name}" for name in ESTIMATORS}}


@cache
def class_of(name: str) -> type | None:
    """The class by the name that files use; None if there is none."""
    place = _places().get(name)
    if place is None:
        return None
    module, attribute = place.split(":")
    found = getattr(import_module(module), attribute, None)
    return found if isinstance(found, type) else None


def name_of(cls: type) -> str | None:
    """The name of a class in files; None if files do not hold it.

    Only modules that are loaded already are looked at: the object exists, so its class does.
    """
    name = cls.__name__
    if name in _places() and class_of(name) is cls:
        return name
    return None


def is_estimator(name: str) -> bool:
    """Whether a file may have this class at its root."""
    return name in ESTIMATORS


# -- what the state of a part must look like ----------------------------------------------------


def _need(holds: bool, words: str) -> None:
    if not holds:
        raise ValueError(words)


def _is_count(value: Any) -> bool:
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return is_integer and bool(value >= 0)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _is_vector(value: Any, length: int | None = None) -> bool:
    fine = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "fiu"
    return fine and (length is None or len(value) == length)


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
    _need(_is_number(rule.vote) and rule.vote != 0, "vote must be a number that is not zero")
    _need(_is_number(rule.offset), "offset must be a number")


def _line_rule(rule: Any) -> None:
    _need(_is_count(rule.feature), "feature must be a column number")
    _need(_is_number(rule.slope) and _is_number(rule.intercept), "a line has slope and intercept")


def _linear_rule(rule: Any) -> None:
    _need(_is_vector(rule.coef), "coef must be a vector")
    _need(_is_number(rule.intercept), "intercept must be a number")


def _ensemble(ensemble: Any) -> None:
    _need(isinstance(ensemble.rules, list), "rules must be a list")
    _need(all(hasattr(rule, "predict") for rule in ensemble.rules), "rules must be weak rules")
    _need(_is_vector(ensemble.votes, len(ensemble.rules)), "there must be a vote per rule")


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


def _head(head: Any) -> None:
    _need(isinstance(head.models, list) and len(head.models) > 0, "models must be a list")
    _need(all(hasattr(model, "booster") for model in head.models), "models must have boosters")
    _need(_is_number(head.temperature), "temperature must be a number")


def _lightgbm_model(model: Any) -> None:
    _need(hasattr(model.booster, "num_trees"), "booster must be a LightGBM booster")


def _xgboost_model(model: Any) -> None:
    _need(hasattr(model.booster, "num_boosted_rounds"), "booster must be an XGBoost booster")


CHECKS: Mapping[str, Callable[[Any], None]] = {
    "StepRule": _step_rule,
    "TreeRule": _tree_rule,
    "LineRule": _line_rule,
    "LinearRule": _linear_rule,
    "Ensemble": _ensemble,
    "StepEnsemble": _ensemble,
    "TreeEnsemble": _tree_ensemble,
    "PairEnsemble": _parts,
    "CoordinateEnsemble": _coordinates,
    "Head": _head,
    "ProbabilityHead": _head,
    "LightGBMModel": _lightgbm_model,
    "XGBoostModel": _xgboost_model,
}
