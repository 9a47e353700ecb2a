"""Fitted models for the tests of files: one of every class, and every form of state."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import costboost
from costboost.costs import interval
from costboost.files.registry import estimators
from costboost.losses import MC
from costboost.multiclass import MulticlassBoostingClassifier

ESTIMATORS = sorted(estimators())
MULTICLASS = [
    name
    for name in ESTIMATORS
    if issubclass(getattr(costboost, name), MulticlassBoostingClassifier)
    or name in ("CostBoostClassifier", "MinCostClassifier")
]


@cache
def rows(k=2, labels=None):
    """A table with a NaN, and labels of some type."""
    rng = np.random.RandomState(0)
    X = rng.randn(240, 4)
    codes = np.digitize(X[:, 0] + rng.randn(240), np.linspace(-0.8, 0.8, k - 1))
    return X, codes if labels is None else np.array(labels)[codes]


@cache
def frame():
    """A table with categories, text, numbers and missing values."""
    rng = np.random.RandomState(1)
    X = pd.DataFrame(rng.randn(300, 2), columns=["amount", "größe 1"])
    X["country"] = pd.Categorical(rng.choice(["de", "fr", "at", "ch"], 300))
    X["note"] = rng.choice(np.array(["a", "b", None], dtype=object), 300)
    X.loc[::7, "amount"] = np.nan
    y = np.where(
        np.where(X["country"].isin(["de", "at"]), 1.0, -1.0) + rng.randn(300) > 0, "yes", "no"
    )
    return X, y


def make(name, **parameters):
    """An unfitted classifier that is quick to fit."""
    C = getattr(costboost, name)
    known = C().get_params()
    quick = {"n_estimators": 4, "random_state": 0, "ensemble": 2}
    if name in ("MinCostClassifier", "AdaMECClassifier"):
        quick.pop("ensemble")
    if name == "TargetRateClassifier":
        quick["detection_rate"] = 0.7
    return C(**{k: v for k, v in {**quick, **parameters}.items() if k in known})


def _plain(name, k):
    return lambda: (make(name), *rows(k))


def _on_frame(name, **parameters):
    return lambda: (make(name, **parameters), *frame())


def _with(name, k=2, labels=None, **parameters):
    return lambda: (make(name, **parameters), *rows(k, labels))


CASES = {
    **{name: _plain(name, 2) for name in ESTIMATORS},
    **{f"{name}, 4 classes": _plain(name, 4) for name in MULTICLASS},
    "XGBoost": _with("CostBoostClassifier", engine="xgboost"),
    "XGBoost, 3 classes": _with("CostBoostClassifier", 3, engine="xgboost"),
    "XGBoost, categories": _on_frame("CostBoostClassifier", engine="xgboost"),
    "LightGBM, categories": _on_frame("CostBoostClassifier"),
    "trees, categories": _on_frame("AdaC2Classifier"),
    "text labels": _with("CostBoostClassifier", 3, ("a", "bb", "ccc")),
    "float labels": _with("AdaC2Classifier", 2, (-1.0, 2.0)),
    "boolean labels": _with("AdaC2Classifier", 2, (False, True)),
    "labels as objects": lambda: (
        make("AdaC2Classifier"),
        rows()[0],
        np.array(["nein", "ja"], dtype=object)[rows()[1]],
    ),
    "a cost mapping": _with(
        "AdaC2Classifier", 2, ("n", "p"), cost_matrix={("n", "p"): 2.5, ("p", "n"): 1}
    ),
    "uncertain costs": _with(
        "CostBoostClassifier", cost_matrix={"fn": interval(2, 9), "fp": 1}, risk="worst"
    ),
    "a cost frame": _with(
        "AdaC2Classifier",
        cost_matrix=pd.DataFrame([[0.0, 1.0], [7.5, 0.0]], index=[0, 1], columns=[0, 1]),
    ),
    "a loss object": _with("CostBoostClassifier", 3, loss=MC()),
    "perceptrons": _with("AdaC2Classifier", estimator="perceptron"),
    "histograms": _with("CSRealBoostClassifier", estimator="histogram"),
    "scikit-learn trees": _with("AdaC2Classifier", estimator=DecisionTreeClassifier(max_depth=2)),
    "scikit-learn lines": _with("CSLogitBoostClassifier", estimator=LinearRegression()),
    "a pipeline": _with(
        "MinCostClassifier", estimator=make_pipeline(StandardScaler(), LogisticRegression())
    ),
    "sigmoid": _with("MinCostClassifier", calibration="sigmoid", cv=2),
    "isotonic": _with("MinCostClassifier", calibration="isotonic", cv=2),
    "a generator as seed": _with("AdaC2Classifier", random_state=np.random.RandomState(3)),
    "warm start": _with("CostBoostClassifier", warm_start=True),
}


@cache
def fitted(case):
    """A fitted model of the table above, and its rows."""
    model, X, y = CASES[case]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y), X


def answers(model, X):
    """All that a model says of some rows, as arrays."""
    found = {"predict": model.predict(X)}
    for method in ("predict_proba", "predict_cost", "decision_function", "contributions"):
        if hasattr(model, method):
            found[method] = getattr(model, method)(X)
    for method in ("staged_predict", "staged_decision_function"):
        if hasattr(model, method):
            found.update({f"{method} {t}": s for t, s in enumerate(getattr(model, method)(X))})
    for attribute in ("classes_", "cost_matrix_", "feature_importances_", "estimator_weights_"):
        if hasattr(model, attribute):
            found[attribute] = getattr(model, attribute)
    return found


def same(a, b):
    """Whether two sets of answers agree in every bit and type."""
    return a.keys() == b.keys() and all(
        a[key].dtype == b[key].dtype and a[key].tobytes() == b[key].tobytes()
        if a[key].dtype != object
        else a[key].tolist() == b[key].tolist()
        for key in a
    )
