"""What works with `CostBoostClassifier`: the cells of the table of docs/works_with.md, by running.

Every cell is a run on 120 rows: the tool is fitted or called, and decisions must be labels of y.
"""

from __future__ import annotations

import io
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, StackingClassifier
from sklearn.ensemble import VotingClassifier as Voting
from sklearn.feature_selection import RFECV, SelectFromModel, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    validation_curve,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import costboost
from costboost import CostBoostClassifier, MinCostClassifier
from costboost.costs import per_row
from costboost.metrics import make_cost_scorer

GRID = {"max_leaves": [3]}
LABELS = ["fraud", "ok"]


class Case:
    """Rows, labels and costs in one of their forms, and how they reach the model."""

    def __init__(self, text: bool, form: str) -> None:
        rng = np.random.default_rng(0)
        self.X: Any = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"])
        self.X["amount"] = np.exp(rng.normal(size=120)).round(2) * 3
        codes = (self.X["a"] + 0.5 * rng.normal(size=120) > 0.4).astype(int)
        self.y = pd.Series(np.where(codes, LABELS[0], LABELS[1]) if text else codes)
        names = {"positive": LABELS[0]} if text else {}
        if form == "with `classes`":
            names["classes"] = LABELS
        if form == "by place, `x3`":
            self.X = self.X.to_numpy()
        price = {"by name": "amount", "by place, `x3`": "x3"}.get(form, 3)
        self.costs: Any = None
        self.plain: Any = {"fn": 3, "fp": 1, **names}  # for what does not see the columns
        self.prices: Any = {**self.plain, "fn": price}
        self.bound = make_cost_scorer("mean_cost", cost_matrix=self.prices)
        if form in ("routed", "bound to the scorer", "in `fit`"):
            self.costs = per_row(fn=self.X["amount"], fp=1)
            self.prices = self.plain = None
            self.bound = make_cost_scorer("mean_cost", costs=self.costs)
        if form == "routed":
            self.bound = make_cost_scorer("mean_cost").set_score_request(costs=True)
        self.is_routed = form == "routed"

    def model(self, kind: Any = CostBoostClassifier, **options: Any) -> Any:
        """The classifier, which asks for the costs if they are routed."""
        if kind is CostBoostClassifier:
            options = {
                "effort": "fast",
                "n_estimators": 5,
                "n_jobs": 1,
                **options,
            }
        found = kind(**{"cost_matrix": self.prices, **options})
        if self.is_routed:
            found.set_fit_request(costs=True).set_score_request(costs=True)
        return found

    @property
    def params(self) -> dict[str, Any]:
        """What a tool is told beside the rows."""
        return {"costs": self.costs} if self.is_routed else {}

    def fitted(self, tool: Any) -> Any:
        """The decisions of a meta-estimator, with which the model inside is fitted."""
        return tool.fit(self.X, self.y, **self.params).predict(self.X)


def _selected(case: Case, selector: Any) -> Any:
    chosen = selector.fit(case.X, case.y, **case.params).get_support()
    return case.y[:1] if chosen.any() else []


def _searched(case: Case, search: Any) -> Any:
    assert np.isfinite(search.fit(case.X, case.y, **case.params).best_score_)
    return search.predict(case.X)


def _scores(case: Case, call: Callable[..., Any], **more: Any) -> Any:
    """Cross-validated scores, which must be finite."""
    found = call(case.model(), case.X, case.y, cv=2, params=case.params, **more)
    assert np.isfinite(found["test_score"] if isinstance(found, dict) else found).all()
    return case.y


def _curve(case: Case, call: Callable[..., Any], **more: Any) -> Any:
    *_, scores = call(
        case.model(),
        case.X,
        case.y,
        cv=2,
        scoring=case.bound,
        error_score="raise",
        params=case.params,
        **more,
    )
    assert np.isfinite(scores).all()
    return case.y


def _importance(case: Case) -> Any:
    if case.is_routed:
        raise TypeError("permutation_importance takes no metadata")
    fitted = case.model().fit(case.X, case.y, costs=case.costs)
    found = permutation_importance(fitted, case.X, case.y, scoring=case.bound, n_repeats=1)
    assert np.isfinite(found.importances_mean).all()
    return case.y


def _probabilities(case: Case) -> Any:
    made = {"params": case.params, "cv": 2, "method": "predict_proba"}
    assert cross_val_predict(case.model(), case.X, case.y, **made).shape == (120, 2)
    return case.y


def _copied(case: Case, copy: Callable[[Any], Any]) -> Any:
    """The decisions of a copy of the fitted model."""
    model = case.model().fit(case.X, case.y, costs=case.costs)
    return copy(model).predict(case.X)


def _by_joblib(model: Any) -> Any:
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


def _by_skops(model: Any) -> Any:
    import skops.io

    data = skops.io.dumps(model)
    return skops.io.loads(data, trusted=skops.io.get_untrusted_types(data=data))


def _by_file(model: Any) -> Any:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return costboost.load(model.save(Path(folder) / "model.costboost"))


def _by_onnx(case: Case) -> Any:
    from onnxruntime import InferenceSession

    model = case.model().fit(case.X, case.y, costs=case.costs)
    session = InferenceSession(model.to_onnx().SerializeToString())
    rows = case.X if isinstance(case.X, pd.DataFrame) else pd.DataFrame(case.X)
    inputs = session.get_inputs()
    if len(inputs) == 1:
        given = {inputs[0].name: rows.to_numpy(np.float32)}
    else:
        given = {
            one.name: rows[[one.name]].to_numpy(np.float64 if "double" in one.type else np.float32)
            for one in inputs
        }
    (proba,) = session.run(["probabilities"], given)
    return model.decisions_[(proba @ model.cost_matrix_).argmin(axis=1)]


# Each tool by its name: decisions of a case.
TOOLS: dict[str, Callable[[Case], Any]] = {
    "`make_pipeline`": lambda case: case.fitted(
        make_pipeline(StandardScaler().set_output(transform="pandas"), case.model())
        if isinstance(case.X, pd.DataFrame)
        else make_pipeline(StandardScaler(), case.model())
    ),
    "`cross_val_score`": lambda case: _scores(case, cross_val_score),
    "`cross_validate`, `make_cost_scorer`": lambda case: _scores(
        case, cross_validate, scoring=case.bound, error_score="raise"
    ),
    "`cross_val_predict`": lambda case: cross_val_predict(
        case.model(), case.X, case.y, cv=2, params=case.params
    ),
    '`cross_val_predict(method="predict_proba")`': _probabilities,
    "`GridSearchCV`": lambda case: _searched(
        case, GridSearchCV(case.model(), GRID, cv=2, error_score="raise")
    ),
    "`RandomizedSearchCV`, `make_cost_scorer`": lambda case: _searched(
        case,
        RandomizedSearchCV(case.model(), GRID, n_iter=1, cv=2, scoring=case.bound),
    ),
    "`CalibratedClassifierCV`": lambda case: case.fitted(
        CalibratedClassifierCV(case.model(), cv=2)
    ),
    "`TunedThresholdClassifierCV`, `make_cost_scorer`": lambda case: case.fitted(
        TunedThresholdClassifierCV(case.model(), scoring=case.bound, cv=2, thresholds=5)
    ),
    "`FixedThresholdClassifier`": lambda case: case.fitted(FixedThresholdClassifier(case.model())),
    "`VotingClassifier`": lambda case: case.fitted(
        Voting([("costs", case.model()), ("other", LogisticRegression())])
    ),
    '`VotingClassifier(voting="soft")`': lambda case: case.fitted(
        Voting([("costs", case.model()), ("other", LogisticRegression())], voting="soft")
    ),
    "`StackingClassifier`": lambda case: case.fitted(
        StackingClassifier([("costs", case.model())], cv=2)
    ),
    "`StackingClassifier(final_estimator=MinCostClassifier())`": lambda case: case.fitted(
        StackingClassifier(
            [("costs", case.model())],
            case.model(MinCostClassifier, n_jobs=1, cost_matrix=case.plain),
            cv=2,
        )
    ),
    "`BaggingClassifier`": lambda case: case.fitted(
        BaggingClassifier(case.model(), n_estimators=2, random_state=0)
    ),
    "`OneVsRestClassifier`": lambda case: case.fitted(OneVsRestClassifier(case.model())),
    "`MinCostClassifier(CostBoostClassifier())`": lambda case: case.fitted(
        MinCostClassifier(case.model(), case.prices)
    ),
    "`permutation_importance`": _importance,
    "`learning_curve`": lambda case: _curve(case, learning_curve, train_sizes=[0.6, 1.0]),
    "`validation_curve`": lambda case: _curve(
        case, validation_curve, param_name="max_leaves", param_range=[3, 5]
    ),
    "`SelectFromModel`": lambda case: _selected(case, SelectFromModel(case.model())),
    "`RFECV`": lambda case: _selected(case, RFECV(case.model(), cv=2, min_features_to_select=3)),
    "`SequentialFeatureSelector`": lambda case: _selected(
        case, SequentialFeatureSelector(case.model(), n_features_to_select=3, cv=2)
    ),
    "`pickle`, `clone`": lambda case: _copied(
        case, lambda model: [clone(model), pickle.loads(pickle.dumps(model))][1]
    ),
    "`joblib`": lambda case: _copied(case, _by_joblib),
    "`skops`": lambda case: _copied(case, _by_skops),
    "`save`, `costboost.load`": lambda case: _copied(case, _by_file),
    "ONNX (`to_onnx`)": _by_onnx,
}

# Columns: whether labels are texts, and the forms to try, the plainest first.
COLUMNS: dict[str, tuple[bool, tuple[str, ...]]] = {
    "numbers": (False, ("yes",)),
    "text labels": (True, ("yes", "with `classes`")),
    "row costs": (False, ("routed", "bound to the scorer", "in `fit`")),
    "expressions": (False, ("by name", "by place, `x3`")),
}


def cell(tool: str, column: str) -> str:
    """How a tool works with a form of costs; "no" if it does in none of the ways."""
    text, forms = COLUMNS[column]
    is_copy = list(TOOLS).index(tool) >= list(TOOLS).index("`pickle`, `clone`")
    is_scored = tool.endswith("make_cost_scorer`") or "_curve" in tool or "_import" in tool
    apt = {"routed": not is_copy, "bound to the scorer": is_scored, "in `fit`": is_copy}
    for form in forms:
        if not apt.get(form, True):
            continue
        try:
            with (
                sklearn.config_context(enable_metadata_routing=True),
                warnings.catch_warnings(),
            ):
                warnings.simplefilter("ignore")
                case = Case(text, form)
                decided = np.asarray(TOOLS[tool](case))
        except (ValueError, TypeError, RecursionError, AssertionError):
            continue
        if len(decided) and set(decided.tolist()) <= set(case.y):
            return form
    return "no"
