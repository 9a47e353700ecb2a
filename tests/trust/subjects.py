"""What the properties are checked on: every public class, objective and metric; and the exceptions.

Classifiers are small (few rounds, few leaves): a law is about every case, not about quality.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

import costboost
from costboost import CostBoostClassifier, MinCostClassifier, TargetRateClassifier, metrics
from costboost.gbm import LOSSES, objective
from laws import LAWS, cases, metric_laws, plain_cases

ROUNDS = {"n_estimators": 3, "random_state": 0}
# Trees of many leaves on few rows end in splits that are equally good: rounding chooses.
LEAVES = {"max_leaves": 3}


@dataclass(frozen=True)
class Subject:
    """Something public that laws are checked on."""

    name: str
    what: Any  # an estimator, or a callable
    laws: dict[str, Any]  # name -> law
    n_classes: Any = None
    share: float = 1.0  # of the usual number of cases, where a fit takes long

    def strategy(self, law: str) -> Any:
        """The cases of a law."""
        if law in LAWS:
            return LAWS[law].cases(self.n_classes)
        return (plain_cases if law in PLAIN_METRIC_LAWS else cases)(self.n_classes)


# -- classifiers ----------------------------------------------------------------------------------

# Beside the default learner of each class: others, options.
VARIANTS = {
    "AdaBoostCClassifier": [{"estimator": "perceptron"}],
    "AdaC1Classifier": [{"estimator": "line"}],
    "AdaC2Classifier": [{"estimator": "stump"}, {"estimator": DecisionTreeClassifier(max_depth=1)}],
    "AdaC3Classifier": [{"estimator": "histogram"}],
    "AsyBClassifier": [{"estimator": "stump"}],
    "AsyBLClassifier": [{"estimator": "line"}],
    "CSAdaBoostClassifier": [{"estimator": "tree"}],
    "CSLogitBoostClassifier": [{"estimator": "tree"}, {"weighting": "newton"}],
    "CSRealBoostClassifier": [{"estimator": "tree"}],
    "GradientCSBClassifier": [{"objective": "adacost"}, {"objective": "adac1"}],
    "LpCSBClassifier": [{"variant": "adjusted"}, {"variant": "direct"}, {"step": "bound"}],
    "MCBoostClassifier": [
        {"loss": "mc", "estimator": "tree"},
        {"loss": "gel", "estimator": "histogram"},
        {"loss": "ls"},
        {"loss": "lt", "estimator": "stump"},
    ],
    "SAMMEC2Classifier": [{"estimator": DecisionTreeClassifier(max_depth=2)}],
}


def classifiers() -> dict[str, Any]:
    """Every public classifier, by name and options."""
    found: dict[str, Any] = {}
    for name in costboost.algorithms.__all__:
        make = getattr(costboost, name)
        small = ROUNDS | (LEAVES if "max_leaves" in make().get_params() else {})
        for options in ({}, *VARIANTS.get(name, [])):
            shown = ", ".join(f"{key}={value!r}" for key, value in options.items())
            found[f"{name}({shown})"] = make(**small, **options)
    found["MinCostClassifier()"] = MinCostClassifier()
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    found["MinCostClassifier(tree)"] = MinCostClassifier(tree)
    found["MinCostClassifier(tree, calibration='sigmoid')"] = MinCostClassifier(
        tree, calibration="sigmoid", cv=2
    )
    found["TargetRateClassifier(tree)"] = TargetRateClassifier(
        tree, detection_rate=0.8, n_trials=2, cv=2, random_state=0
    )
    found["CostBoostClassifier()"] = CostBoostClassifier(n_estimators=4, cv=2, random_state=0)
    return found


SLOW = ("AdaMEC", "MinCostClassifier()", "sigmoid", "TargetRate", "CostBoost")

# Laws that do not hold for a class, with the reason.
_SAMPLES = "each round draws a sample by the place of the rows"
_FOLDS = "folds are cut by the place of the rows"
_LEAVES = (
    "LightGBM guesses from the weights how many rows a leaf has, and refuses less than half a one"
)
_ROWS = "weights count rows: they are set against a penalty, a smoothing or a least number of rows"
_SIMPLEX = "coordinates of a simplex are descended one after another: the classes are not alike"
_ONLINE = "it learns row by row"
SAMPLING = ("AverageCost", "DSE", "Costing")
FOLDING = ("AdaMEC", "CostBoost", "MinCostClassifier(tree, calibration", "TargetRate")
_TREES = (
    *("AdaBoostC", "AdaBoostM2", "AdaC1Classifier()", "AdaC2Classifier()", "AdaC3Classifier()"),
    *("AdaCost", "AsyBClassifier()", "AsyBLClassifier()", "Asymmetric", "CSB", "GBSE", "Gradient"),
    *("CSAdaBoostClassifier(estimator='tree'", "CSLogitBoostClassifier(estimator='tree'"),
    *("CSRealBoostClassifier(estimator='tree'", "LpCSB", "RareBoost", "SAMMEC2Classifier()"),
    *("MCBoostClassifier(loss='mc'", "MinCostClassifier()"),
)
EXCEPTIONS: dict[tuple[str, str], str] = {
    **{(name, "ignores_order_of_rows"): _SAMPLES for name in SAMPLING},
    **{(name, "ignores_order_of_classes"): _SAMPLES for name in SAMPLING},
    **{(name, "counts_weights_as_rows"): _SAMPLES for name in SAMPLING},
    **{(name, "ignores_order_of_rows"): _FOLDS for name in FOLDING},
    **{(name, "ignores_order_of_classes"): _FOLDS for name in FOLDING},
    **{(name, "counts_weights_as_rows"): _FOLDS for name in FOLDING},
    **{(name, "ignores_unit_of_weights"): _ROWS for name in FOLDING},
    **{(name, "counts_weights_as_rows"): _LEAVES for name in _TREES},
    ("AdaBoostCClassifier(estimator='perceptron'", "ignores_order_of_rows"): _ONLINE,
    ("CSRealBoost", "ignores_unit_of_weights"): _ROWS,
    ("MinCostClassifier()", "ignores_unit_of_weights"): _ROWS,
    ("MCBoost", "ignores_order_of_classes"): _SIMPLEX,
    ("LpCSBClassifier(variant='direct'", "ignores_order_of_classes"): "the first of equal classes",
    ("MCBoostClassifier()", "ignores_unit_of_costs"): "the shape of its loss depends on their size",
}


def is_excepted(name: str, law: str) -> bool:
    """Whether a law does not hold for a class, for a reason that is named."""
    return any(name.startswith(start) and law == of for start, of in EXCEPTIONS)


def _classifier_subjects() -> list[Subject]:
    subjects = []
    for name, estimator in classifiers().items():
        is_binary = not estimator.__sklearn_tags__().classifier_tags.multi_class
        laws = {law: LAWS[law].check for law in LAWS if not is_excepted(name, law)}
        share = 0.3 if any(part in name for part in SLOW) else 1.0
        subjects.append(Subject(name, estimator, laws, 2 if is_binary else None, share))
    return subjects


# -- objectives and metrics -----------------------------------------------------------------------

PLAIN_METRIC_LAWS = ("measures_rows_in_any_order", "measures_weights_as_rows", "scales_with_costs")
_ALL = ("measures_or_refuses", *PLAIN_METRIC_LAWS)
# Of intervals: a weight is that of a survey, and does not count rows.
_INTERVAL = (
    "measures_or_refuses",
    "measures_rows_in_any_order",
    "measures_ratios_of_weights",
    "scales_with_costs",
)


def _public(metric: Any) -> Any:
    """A wrapper whose messages name the public function."""
    metric.__module__ = "costboost.metrics"
    return metric


@_public
def cost_by(
    segments,
    y_true,
    y_pred,
    *,
    cost_matrix=None,
    costs=None,
    labels=None,
    sample_weight=None,
    X=None,
):
    """Numbers of `metrics.cost_by` in the order of the segments, without the intervals."""
    found = metrics.cost_by(
        segments, y_true, y_pred, cost_matrix=cost_matrix, costs=costs, labels=labels,
        sample_weight=sample_weight, X=X,
    )  # fmt: skip
    order = np.argsort(found.pop("segment"))
    found = {name: found[name][order] for name in ("rows", "total_cost", "share", "mean_cost")}
    found["mean_cost"] = found["mean_cost"][found["rows"] > 0]
    if np.isnan(found["share"]).all():  # of nothing
        del found["share"]
    return np.concatenate(list(found.values()))


@_public
def cost_by_interval(
    segments, y_true, y_pred, *, cost_matrix=None, costs=None, labels=None, sample_weight=None,
    groups=None, X=None,
):  # fmt: skip
    """The intervals of `metrics.cost_by`, where they are finite by promise."""
    found = metrics.cost_by(
        segments, y_true, y_pred, cost_matrix=cost_matrix, costs=costs, labels=labels,
        sample_weight=sample_weight, groups=groups, X=X,
    )  # fmt: skip
    order = np.argsort(found["segment"])
    ends = np.concatenate([found["low"][order], found["high"][order]])
    return ends[np.isfinite(ends)]


cost_by_interval.__name__ = "cost_by.interval"


@_public
def cost_by_threshold(
    y_true, y_score, *, cost_matrix=None, costs=None, labels=None, sample_weight=None, X=None
):
    """Numbers of `metrics.cost_by_threshold`, without the last threshold, which is infinite."""
    thresholds, totals = metrics.cost_by_threshold(
        y_true, y_score, cost_matrix=cost_matrix, costs=costs, labels=labels,
        sample_weight=sample_weight, X=X, positive=None if labels is None else labels[-1],
    )  # fmt: skip
    return np.concatenate([thresholds[:-1], totals])


@_public
def cost_scorer(
    y_true, y_pred, *, cost_matrix=None, costs=None, labels=None, sample_weight=None, X=None
):
    """What `metrics.make_cost_scorer` says of a classifier that decides as given."""
    scorer = metrics.make_cost_scorer("total_cost", cost_matrix=cost_matrix, labels=labels)
    return scorer(_Decided(y_pred), X, y_true, sample_weight=sample_weight, costs=costs)


@_public
def verdict(
    y_true, y_pred, *, cost_matrix=None, costs=None, labels=None, sample_weight=None, X=None
):
    """The gain of `metrics.verdict`, and its rows."""
    found = metrics.verdict(
        y_true, y_pred, cost_matrix=cost_matrix, costs=costs, labels=labels,
        sample_weight=sample_weight, X=X,
    )  # fmt: skip
    return np.array([found.gain, found.rows])


@_public
def verdict_interval(
    y_true, y_pred, *, cost_matrix=None, costs=None, labels=None, sample_weight=None, groups=None,
    X=None,
):  # fmt: skip
    """The interval of `metrics.verdict`, where it is finite by promise."""
    found = metrics.verdict(
        y_true, y_pred, cost_matrix=cost_matrix, costs=costs, labels=labels,
        sample_weight=sample_weight, groups=groups, X=X,
    )  # fmt: skip
    return np.array([edge for edge in (found.low, found.high) if np.isfinite(edge)])


verdict_interval.__name__ = "verdict.interval"


class _Decided(ClassifierMixin, BaseEstimator):
    """A classifier whose decisions are known."""

    def __init__(self, decided=None):
        self.decided = decided

    def predict(self, X, costs=None):
        return self.decided


# Metric to laws, and number of classes.
METRICS: dict[Any, tuple[tuple[str, ...], Any]] = {
    metrics.total_cost: (_ALL, None),
    metrics.mean_cost: (_ALL, None),
    metrics.avoidable_cost_score: (_ALL, None),
    metrics.savings_score: (_ALL, None),
    cost_by: (_ALL, None),
    cost_by_interval: (_INTERVAL, None),
    cost_scorer: (_ALL, None),
    verdict: (_ALL, None),
    verdict_interval: (_INTERVAL, None),
    cost_by_threshold: (_ALL, 2),
}


def _metric_subjects() -> list[Subject]:
    return [
        Subject(
            f"metrics.{metric.__name__}",
            metric,
            {law: getattr(metric_laws, law) for law in laws},
            n_classes,
        )
        for metric, (laws, n_classes) in METRICS.items()
    ]


def _objective_subjects() -> list[Subject]:
    subjects = []
    for name, loss in LOSSES.items():
        made = partial(objective, name)
        made.__name__ = f"objective({name!r})"  # type: ignore[attr-defined]
        made.__module__ = "costboost.gbm"
        made.is_binary = loss.is_binary  # type: ignore[attr-defined]
        laws = {"has_finite_derivatives": metric_laws.has_finite_derivatives}
        n_classes = 2 if loss.is_binary else None
        subjects.append(Subject(f"gbm.objective({name!r})", made, laws, n_classes))
    return subjects


def subjects() -> list[Subject]:
    """Everything that laws are checked on."""
    return [*_classifier_subjects(), *_objective_subjects(), *_metric_subjects()]
