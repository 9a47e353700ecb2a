"""Models behind HTTP: a small service in this process, and a client for it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
from starlette.testclient import TestClient

from costboost import AdaC2Classifier, CostBoostClassifier, MinCostClassifier
from costboost.datasets import make_fraud
from costboost.serve import Settings, create_app


def fraud_frame(n=800, seed=0):
    data = make_fraud(n, random_state=seed)
    X = pd.DataFrame(data.X, columns=list(data.feature_names))
    rng = np.random.default_rng(seed)
    X["merchant"] = rng.choice(["shop", "travel", "web"], n)
    X.loc[rng.random(n) < 0.05, "distance_km"] = np.nan
    return X, np.where(data.y == 1, "fraud", "ok")


SMALL = {"n_estimators": 15, "cv": 2, "random_state": 0, "n_jobs": 1}
REVIEW = pd.DataFrame(
    [[0, 4, 30], ["amount", 4, 0]], index=["ok", "fraud"], columns=["accept", "review", "block"]
)
COSTS = {"fn": 100, "fp": 5}
FRAUD = {"fp": 5, "positive": "fraud"}


def _boosted(costs, X, y, given=None, **more):
    return CostBoostClassifier(costs, **SMALL, **more).fit(X, y, costs=given)


def _learned():
    X, y = fraud_frame()
    costs = np.zeros((len(X), 2, 2))
    costs[:, 0, 1], costs[:, 1, 0] = X["amount"], 5.0  # classes: fraud, ok
    return _boosted(None, X, y, costs)


def _three():
    X, y = fraud_frame()
    kinds = np.where(y == "fraud", 2, (X["hour"] > 12).to_numpy().astype(int))
    return _boosted([[0, 1, 9], [2, 0, 9], [50, 50, 0]], X, kinds)


def _votes():
    X, y = fraud_frame()
    X = X.drop(columns="merchant").fillna(0)
    return AdaC2Classifier({"fn": 100, **FRAUD}, n_estimators=10).fit(X, y)


def _on_arrays(model):
    data = make_fraud(800, random_state=0)
    return model.fit(data.X, data.y)


PRICED = {"fn": "amount", **FRAUD}
MODELS = {
    "expression": lambda: _boosted({"fn": "amount + 15", **FRAUD}, *fraud_frame()),
    "review": lambda: _boosted(REVIEW, *fraud_frame()),
    "excluded": lambda: _boosted(PRICED, *fraud_frame(), cost_columns="exclude"),
    "learned": _learned,
    "decided": lambda: _boosted({"fn": 100, **FRAUD}, *fraud_frame(), loss="gll"),
    "array": lambda: _on_arrays(CostBoostClassifier(COSTS, **SMALL)),
    "three": _three,
    "votes": _votes,
    "min_cost": lambda: _on_arrays(MinCostClassifier(cost_matrix=COSTS, n_jobs=1)),
}


@cache
def model_of(name):
    return MODELS[name]()


def rows_of(model, n=40, seed=7):
    """New rows as the model takes them: a frame, or an array."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return make_fraud(n, random_state=seed).X
    X, _ = fraud_frame(n, seed)
    X = X[[name for name in X.columns if name in names or name == "amount"]]
    return X if "merchant" in names else X.fillna(0)


def records_of(X):
    if not isinstance(X, pd.DataFrame):
        X = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    return X.astype(object).where(X.notna(), None).to_dict("records")


def client_of(name, **settings):
    """A client of a small service in this process."""
    return TestClient(create_app(model_of(name), Settings(model_version="test", **settings)))


def decide(client, body, **options):
    return client.post("/decide", json=body, **options)
