"""The classes that a model file may hold: a table, and nothing outside it is ever built.

A file names a class by the word in the left column. The right column says where that class lives
in this version of the library, so classes may move without making old files unreadable. A new part
of an estimator needs one line here; a new algorithm or loss needs none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

__all__ = [
    "FUNCTIONS",
    "LATER",
    "PARTS",
    "class_of",
    "estimators",
    "function_of",
    "is_estimator",
    "name_of",
    "name_of_function",
]

# Classifiers that are no algorithms of a paper.
_CLASSIFIERS: Mapping[str, str] = {
    "CostBoostClassifier": "costboost.gbm.classifier:CostBoostClassifier",
    "MinCostClassifier": "costboost.wrappers:MinCostClassifier",
    "TargetRateClassifier": "costboost.wrappers:TargetRateClassifier",
}

PARTS: Mapping[str, str] = {
    # how columns are coded
    "FrameEncoder": "costboost._frames:FrameEncoder",
    # costs
    "Costs": "costboost.costs.table:Costs",
    "CostSummary": "costboost.costs.words:CostSummary",
    "Interval": "costboost.costs.uncertain:Interval",
    "Samples": "costboost.costs.uncertain:Samples",
    # sums and averages of weak rules
    "Ensemble": "costboost.learners.base:Ensemble",
    "TreeEnsemble": "costboost.learners.tree:TreeEnsemble",
    "StepEnsemble": "costboost.learners.steps:StepEnsemble",
    "PairEnsemble": "costboost.learners.pairs:PairEnsemble",
    "CoordinateEnsemble": "costboost.learners.coordinates:CoordinateEnsemble",
    "ProjectedEnsemble": "costboost.learners.coordinates:ProjectedEnsemble",
    "Mixture": "costboost.learners.mixture:Mixture",
    # weak rules
    "ConstantRule": "costboost.learners.base:ConstantRule",
    "TreeRule": "costboost.learners.tree:TreeRule",
    "StepRule": "costboost.learners.steps:StepRule",
    "LineRule": "costboost.learners.line:LineRule",
    "LinearRule": "costboost.learners.perceptron:LinearRule",
    "EstimatorRule": "costboost.learners.adapter:EstimatorRule",
    "CheapestClassRule": "costboost.learners.cost_tree:CheapestClassRule",
    "JointRule": "costboost.learners.joint:JointRule",
    "RelationalRule": "costboost.learners.pairs:RelationalRule",
    "ClassRule": "costboost.learners.classes:ClassRule",
    "ConstantClass": "costboost.learners.classes:ConstantClass",
    # criteria of weak rules
    "Votes": "costboost.learners.criteria:Votes",
    "JointVotes": "costboost.learners.criteria:JointVotes",
    "LeastSquares": "costboost.learners.criteria:LeastSquares",
    "LogRatio": "costboost.learners.criteria:LogRatio",
    # weak learners, as parameters
    "Tree": "costboost.learners.tree:Tree",
    "JointTree": "costboost.learners.joint:JointTree",
    "Stump": "costboost.learners.stump:Stump",
    "Histogram": "costboost.learners.histogram:Histogram",
    "Line": "costboost.learners.line:Line",
    "Perceptron": "costboost.learners.perceptron:Perceptron",
    "SklearnLearner": "costboost.learners.adapter:SklearnLearner",
    "CostRegressor": "costboost.learners.cost_tree:CostRegressor",
    "Labels": "costboost.learners.classes:Labels",
    # a loss that is made with a parameter; `_losses` has the named ones
    "PNorm": "costboost.losses:PNorm",
    # boosters of the gradient boosting classifier
    "ProbabilityHead": "costboost.gbm.heads:ProbabilityHead",
    "PriceHead": "costboost.gbm.heads:PriceHead",
    "JointHead": "costboost.gbm.heads:JointHead",
    "LossHead": "costboost.gbm.heads:LossHead",
    "Member": "costboost.gbm.members:Member",
    "Members": "costboost.gbm.members:Members",
    "Design": "costboost.gbm.models:Design",
    "LinearModel": "costboost.gbm.models:LinearModel",
    "NetworkModel": "costboost.gbm.models:NetworkModel",
    "TreeModel": "costboost.gbm.models:TreeModel",
    "Trees": "costboost.trees:Trees",
    "Estimate": "costboost.gbm.estimate:Estimate",
    # what a warm start must know
    "LastFit": "costboost.gbm.sources.memory:LastFit",
    "Plan": "costboost.gbm.sources.memory:Plan",
    "Fold": "costboost.gbm.folds:Fold",
    # classes of scikit-learn that have nothing but plain attributes, and trees, which are checked
    "DecisionTreeClassifier": "sklearn.tree:DecisionTreeClassifier",
    "DecisionTreeRegressor": "sklearn.tree:DecisionTreeRegressor",
    "LabelEncoder": "sklearn.preprocessing:LabelEncoder",
    # classifiers of the engines, whose boosters are members of their own
    "LGBMClassifier": "lightgbm.sklearn:LGBMClassifier",
    "XGBClassifier": "xgboost.sklearn:XGBClassifier",
}

# Functions of the library that parts keep.
FUNCTIONS: Mapping[str, str] = {
    "stochastic": "costboost.learners.mixture:stochastic",
}

# Parameters and fields that were added after the first files of the current format were written.
# Where a file lacks them, they have their defaults.
LATER: Mapping[str, frozenset[str]] = {
    "MCBoostClassifier": frozenset({"codewords"}),
    "Tree": frozenset({"min_rows"}),
}


@cache
def estimators() -> Mapping[str, str]:
    """The classifiers that a file may hold, and where they live: all that the library has."""
    algorithms = import_module("costboost.algorithms").__all__
    return {**{name: f"costboost.algorithms:{name}" for name in algorithms}, **_CLASSIFIERS}


@cache
def _losses() -> Mapping[str, str]:
    """The classes of the named losses."""
    kinds = {type(loss) for loss in import_module("costboost.losses").LOSSES.values()}
    return {kind.__name__: f"{kind.__module__}:{kind.__name__}" for kind in kinds}


def _place(name: str) -> str | None:
    if name in PARTS:
        return PARTS[name]
    return estimators().get(name) or _losses().get(name)


def _import(place: str) -> Any:
    module, attribute = place.split(":")
    return getattr(import_module(module), attribute, None)


@cache
def class_of(name: str) -> type | None:
    """The class by the name that files use; None if there is none."""
    place = _place(name)
    found = None if place is None else _import(place)
    return found if isinstance(found, type) else None


def name_of(cls: type) -> str | None:
    """The name of a class in files; None if files do not hold it."""
    name = cls.__name__
    return name if _place(name) is not None and class_of(name) is cls else None


def is_estimator(name: str) -> bool:
    """Whether a file may have this class at its root."""
    return name in estimators()


@cache
def function_of(name: str) -> Callable[..., Any] | None:
    """A function of the library by the name that files use; None if there is none."""
    found = _import(FUNCTIONS[name]) if name in FUNCTIONS else None
    return found if callable(found) else None


def name_of_function(function: Any) -> str | None:
    """The name of a function in files; None if files do not hold it."""
    name = getattr(function, "__name__", None)
    return name if name in FUNCTIONS and function_of(name) is function else None
