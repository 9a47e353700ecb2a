"""Models behind HTTP: a small service in this process, and a client for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd

from costboost import AdaC2Classifier, CostBoostClassifier, MinCostClassifier
from costboost.datasets import make_fraud
from costboost.serve import Settings
from costboost.serve.app import create_app
from costboost.serve.scoring import Service

MERCHANTS = ["shop", "travel", "web"]


class Client:
    """Plain calls of an application, without a network."""

    def __init__(self, app: Any, base: str = "http://localhost") -> None:
        self.app = app
        self.base = base

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        async def call() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url=self.base) as client:
                return await client.request(method, path, **options)

        return asyncio.run(call())

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)

    def decide(self, body: Any = None, **options: Any) -> httpx.Response:
        if body is not None:
            options["json"] = body
        return self.request("POST", "/decide", **options)


def fraud_frame(n: int = 800, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    data = make_fraud(n, random_state=seed)
    X = pd.DataFrame(data.X, columns=list(data.feature_names))
    rng = np.random.default_rng(seed)
    X["merchant"] = rng.choice(MERCHANTS, n)
    X.loc[rng.random(n) < 0.05, "distance_km"] = np.nan
    return X, np.where(data.y == 1, "fraud", "ok")


SMALL: dict[str, Any] = {"n_estimators": 15, "ensemble": 2, "random_state": 0, "n_jobs": 1}
REVIEW = pd.DataFrame(
    [[0, 4, 30], ["amount", 4, 0]], index=["ok", "fraud"], columns=["accept", "review", "block"]
)


def _expression() -> Any:
    return CostBoostClassifier({"fn": "amount + 15", "fp": 5, "positive": "fraud"}, **SMALL).fit(
        *fraud_frame()
    )


def _review() -> Any:
    return CostBoostClassifier(REVIEW, **SMALL).fit(*fraud_frame())


def _excluded() -> Any:
    costs = {"fn": "amount", "fp": 5, "positive": "fraud"}
    return CostBoostClassifier(costs, cost_columns="exclude", **SMALL).fit(*fraud_frame())


def _learned() -> Any:
    X, y = fraud_frame()
    costs = np.zeros((len(X), 2, 2))
    costs[:, 0, 1], costs[:, 1, 0] = X["amount"], 5.0  # classes: fraud, ok
    return CostBoostClassifier(**SMALL).fit(X, y, costs=costs)


def _array() -> Any:
    data = make_fraud(800, random_state=0)
    return CostBoostClassifier({"fn": 100, "fp": 5}, engine="xgboost", **SMALL).fit(data.X, data.y)


def _three() -> Any:
    X, y = fraud_frame()
    kinds = np.where(y == "fraud", 2, (X["hour"] > 12).to_numpy().astype(int))
    return CostBoostClassifier([[0, 1, 9], [2, 0, 9], [50, 50, 0]], **SMALL).fit(X, kinds)


def _votes() -> Any:
    X, y = fraud_frame()
    costs = {"fn": 100, "fp": 5, "positive": "fraud"}
    return AdaC2Classifier(costs, n_estimators=10).fit(X.drop(columns="merchant").fillna(0), y)


def _min_cost() -> Any:
    data = make_fraud(800, random_state=0)
    return MinCostClassifier(cost_matrix={"fn": 100, "fp": 5}, n_jobs=1).fit(data.X, data.y)


MODELS: dict[str, Callable[[], Any]] = {
    "expression": _expression,
    "review": _review,
    "excluded": _excluded,
    "learned": _learned,
    "array": _array,
    "three": _three,
    "votes": _votes,
    "min_cost": _min_cost,
}
_made: dict[str, Any] = {}


def model_of(name: str) -> Any:
    if name not in _made:
        _made[name] = MODELS[name]()
    return _made[name]


def rows_of(model: Any, n: int = 40, seed: int = 7) -> Any:
    """New rows as the model takes them: a frame, or an array."""
    X, _ = fraud_frame(n, seed)
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return make_fraud(n, random_state=seed).X
    X = X[[name for name in X.columns if name in names or name == "amount"]]
    return X if "merchant" in names else X.fillna(0)


def records_of(X: Any) -> list[dict[str, Any]]:
    if not isinstance(X, pd.DataFrame):
        X = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    values = X.astype(object).where(X.notna(), None)
    return values.to_dict("records")


def client_of(model: Any, **settings: Any) -> Client:
    chosen = Settings(Path("absent"), **settings)
    return Client(create_app(chosen, lambda: Service(model, "test", "fraud")))
