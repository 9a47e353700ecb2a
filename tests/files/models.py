"""Fitted models for the tests of files: one of every class, and every form of state."""

from __future__ import annotations

import warnings
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags

import costboost
from costboost.losses import LOSSES, MC

ESTIMATORS = sorted(name for name in costboost.__all__ if name.endswith("Classifier"))
MULTICLASS = [
    name for name in ESTIMATORS if get_tags(getattr(costboost, name)()).classifier_tags.multi_class
]


@cache
def rows(k=2, labels=None):
    """A table with a NaN, and labels of some type."""
    rng = np.random.RandomState(0)
    X = rng.randn(240, 4)
    # Steps and an interaction, which trees see best.
    signal = np.floor(2 * X[:, 0]) * np.where(X[:, 1] > 0, 1, -1)
    codes = np.digitize(signal + rng.randn(240), np.linspace(-0.8, 0.8, k - 1))
    return X, codes if labels is None else np.array(labels)[codes]


@cache
def frame():
    """A table with categories, text, numbers and missing values."""
    rng = np.random.RandomState(1)
    X = pd.DataFrame(rng.randn(300, 2), columns=["amount", "größe 1"])
    X["country"] = pd.Categorical(rng.choice(["de", "fr", "at", "ch"], 300))
    X["note"] = rng.choice(np.array(["a", "b", None], dtype=object), 300)
    X.loc[::7, "amount"] = np.nan
    signal = np.where(X["country"].isin(["de", "at"]) ^ (X["größe 1"] > 0), 1.0, -1.0)
    return X, np.where(signal + rng.randn(300) > 0, "yes", "no")


@cache
def odd_frame():
    """The frame, with an id that is left out and a column for prices."""
    X, y = frame()
    ids = [f"customer {i}" for i in range(len(X))]
    return X.assign(id=ids, charge=np.arange(len(X)) % 17 / 4.0), y


def make(name, **parameters):
    """An unfitted classifier that is quick to fit."""
    C = getattr(costboost, name)
    known = C().get_params()
    quick = {"n_estimators": 4, "random_state": 0, "cv": 2}
    if name in ("MinCostClassifier", "AdaMECClassifier"):
        quick.pop("cv")
    if name == "CostBoostClassifier":
        quick["learning_rate"] = 0.5  # so that boosters count beside other kinds
    if name == "MinCostClassifier":
        quick["estimator"] = LGBMClassifier(n_estimators=4, n_jobs=1, verbosity=-1)
    if name == "TargetRateClassifier":
        quick["detection_rate"] = 0.7
    return C(**{k: v for k, v in {**quick, **parameters}.items() if k in known})


# A case is a function that makes a classifier, rows, labels and, if there are any, their costs.


def _with(name, k=2, labels=None, **parameters):
    return lambda: (make(name, **parameters), *rows(k, labels))


def _on_odd_frame(name, **parameters):
    return lambda: (make(name, **parameters), *odd_frame())


def _with_columns(name):
    X, y = odd_frame()
    return lambda: (make(name, cost_matrix=PRICES), X[["größe 1", "charge"]], y)


def _with_row_costs(k=2, **parameters):
    X, y = rows(k)
    costs = np.tile(1.0 - np.eye(k), (len(X), 1, 1)) * (1.0 + np.abs(X[:, :1, None]))
    return lambda: (make("CostBoostClassifier", **parameters), X, y, costs)


def _told(model, cost_matrix):
    """A model of the table below that decides by other costs than those of its fit."""
    return lambda: (fitted(model)[0].with_costs(cost_matrix), fitted(model)[1], None)


# Three decisions for two classes.
CHOICES = {
    **{("no", "accept"): 0, ("no", "review"): 4, ("no", "block"): 20},
    **{("yes", "accept"): 100, ("yes", "review"): 4, ("yes", "block"): 0},
}
PRICES = {"fn": "10 + 2 * abs(charge)", "fp": 5, "positive": "yes"}


FREE = [  # that take decisions which are not the classes
    name
    for name in ESTIMATORS
    if not getattr(getattr(costboost, name), "_needs_classes_as_decisions", True)
    and name != "CostBoostClassifier"
]
FORMS = {
    "categories": {},
    "decisions": {"cost_matrix": CHOICES},
    "expressions": {"cost_matrix": PRICES},
    "columns for costs": {"cost_matrix": PRICES, "cost_columns": "exclude"},
}
CASES = {name: _with(name) for name in ESTIMATORS}
CASES |= {f"{name}, 4 classes": _with(name, 4) for name in MULTICLASS}
for name in FREE:
    CASES[f"{name}, decisions"] = _with(name, 2, ("no", "yes"), cost_matrix=CHOICES)
for n, k in product((1, 3), (2, 3)):
    folds = {"effort": "fast", "cv": "auto"} if n == 1 else {"cv": n}
    CASES[f"lightgbm, {n} booster(s), {k} classes"] = _with("CostBoostClassifier", k, **folds)
for form in FORMS:
    CASES[f"lightgbm, {form}"] = _on_odd_frame("CostBoostClassifier", **FORMS[form])
for name, loss in LOSSES.items():
    CASES[f"loss {name}"] = _with("CostBoostClassifier", 2 if loss.is_binary else 3, loss=name)
for learner in ("tree", "stump", "histogram", "line"):
    CASES[f"weak learner {learner}"] = _with("CSLogitBoostClassifier", estimator=learner)
for learner in ("tree", "histogram", "line"):
    CASES[f"MCBoost, {learner}"] = _with("MCBoostClassifier", 4, estimator=learner)
for variant, k in product(("relational", "adjusted", "direct"), (2, 3)):
    CASES[f"LpCSB, {variant}, {k} classes"] = _with("LpCSBClassifier", k, variant=variant)
TABLE = pd.DataFrame([[0.0, 1.0], [7.5, 0.0]], index=[0, 1], columns=[0, 1])
CASES |= {
    "two heads": _with_row_costs(),
    "two heads, 3 classes": _with_row_costs(3),
    "own folds": _with("CostBoostClassifier", cv=KFold(3)),
    "no calibration": _with("CostBoostClassifier", calibration=None, early_stopping=False),
    "trees, categories": _on_odd_frame("AdaC2Classifier"),
    "trees, expressions": _on_odd_frame("AdaC2Classifier", cost_matrix=PRICES),
    "relations, categories": _on_odd_frame("LpCSBClassifier"),
    "MinCost, expressions": _with_columns("MinCostClassifier"),
    "AdaMEC, expressions": _with_columns("AdaMECClassifier"),
    "other costs": _told("lightgbm, 3 booster(s), 2 classes", {"fn": 3, "fp": 2}),
    "other expressions": _told("lightgbm, categories", PRICES),
    "other decisions": _told("lightgbm, categories", CHOICES),
    "SAMMEC2, classifier": _with("SAMMEC2Classifier", 3, estimator=DecisionTreeClassifier()),
    "AverageCost, regressor": _with("GBSEClassifier", 3, estimator=DecisionTreeRegressor()),
    "a rate for certain": _with("TargetRateClassifier", delta=0.2, n_trials=3),
    "nothing to learn": _with("AdaC2Classifier", cost_matrix=[[0, 0], [1, 0]]),
    "text labels": _with("CostBoostClassifier", 3, ("a", "bb", "ccc")),
    "float labels": _with("AdaC2Classifier", 2, (-1.0, 2.0)),
    "boolean labels": _with("AdaC2Classifier", 2, (False, True)),
    "labels as objects": lambda: (
        make("AdaC2Classifier"), rows()[0], rows(2, ("nein", "ja"))[1].astype(object)),
    "a cost mapping": _with(
        "AdaC2Classifier", 2, ("n", "p"), cost_matrix={("n", "p"): 2.5, ("p", "n"): 1}),
    "a cost frame": _with("AdaC2Classifier", cost_matrix=TABLE),
    "a loss object": _with("CostBoostClassifier", 3, loss=MC()),
    "perceptrons": _with("AdaC2Classifier", estimator="perceptron"),
    "histograms": _with("CSRealBoostClassifier", estimator="histogram"),
    "scikit-learn trees": _with("AdaC2Classifier", estimator=DecisionTreeClassifier(max_depth=2)),
    "scikit-learn lines": _with("CSLogitBoostClassifier", estimator=LinearRegression()),
    "a pipeline": _with(
        "MinCostClassifier", estimator=make_pipeline(StandardScaler(), LogisticRegression())),
    "sigmoid": _with("MinCostClassifier", calibration="sigmoid", cv=2),
    "isotonic": _with("MinCostClassifier", calibration="isotonic", cv=2),
    "a generator as seed": _with("AdaC2Classifier", random_state=np.random.RandomState(3)),
    "lines": lambda: (make("CostBoostClassifier", learning_rate=0.05), rows()[0],
                      (rows()[0][:, 0] > 0.0).astype(int)),
}  # fmt: skip


@cache
def fitted(case):
    """A fitted model of the table above, and its rows."""
    model, X, y, *costs = CASES[case]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if y is None:  # it is fitted
            return model, X
        return model.fit(X, y, **({"costs": costs[0]} if costs else {})), X


def answers(model, X):
    """All that a model says of some rows, as arrays; the error, if it has no such answer."""
    found = {}
    for method in (
        "predict", "predict_proba", "predict_cost", "decision_function", "contributions",
        "explain", "staged_predict", "staged_decision_function",
    ):  # fmt: skip
        try:
            answer = getattr(model, method)(X) if hasattr(model, method) else ()
        except ValueError as error:
            answer = np.array(str(error))
        if isinstance(answer, np.ndarray):
            found[method] = answer
        elif method == "explain" and answer:
            found |= {f"explain.{name}": getattr(answer, name) for name in ("labels", "parts")}
        else:  # of every round
            found |= {f"{method} {t}": scores for t, scores in enumerate(answer)}
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
