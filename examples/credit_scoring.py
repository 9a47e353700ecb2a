"""Credit scoring: every applicant has costs of their own.

python examples/credit_scoring.py
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from costboost import CostBoostClassifier
from costboost.costs import per_row
from costboost.metrics import cost_by, total_cost
from costboost.plots import CostThresholdDisplay

COSTS = {"fn": "0.75 * loan", "fp": "0.06 * loan", "positive": "default"}


def applicants(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Made-up applicants and whether they default."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "income": rng.lognormal(8.0, 0.5, n).round(0),
            "debt_ratio": rng.beta(2, 5, n).round(3),
            "age": rng.integers(20, 75, n),
            "late_payments": rng.poisson(0.4, n),
        }
    )
    table["loan"] = (table["income"] * rng.uniform(1, 8, n)).round(-2)
    burden = table["loan"] / table["income"]
    score = -5.4 + 0.9 * table["late_payments"] + 3 * table["debt_ratio"] + 0.15 * burden
    score += np.where((table["age"] < 30) & (burden > 5), 1.5, 0.0)
    chance = 1 / (1 + np.exp(-score))
    return table, np.where(rng.random(n) < chance, "default", "paid")


def main() -> None:
    """Fit, decide, compare in money, draw."""
    X, y = applicants(6_000, seed=0)
    X_new, y_new = applicants(6_000, seed=1)
    model = CostBoostClassifier(COSTS, n_estimators=150, cv=3, n_jobs=1, random_state=0).fit(X, y)
    print(model.costs_)

    scaler = StandardScaler().fit(X)
    logistic = LogisticRegression().fit(scaler.transform(X), y)
    policies = {
        "grant every loan": np.full(len(y_new), "paid"),
        "logistic regression, threshold 0.5": logistic.predict(scaler.transform(X_new)),
        "costboost": model.predict(X_new),
    }
    for name, decided in policies.items():
        cost = total_cost(y_new, decided, cost_matrix=COSTS, X=X_new)
        refused = (decided == "default").mean()
        print(f"{name:<36} costs {cost:>10,.0f}, refuses {refused:4.0%}")

    size = pd.cut(X_new["loan"], [0, 5_000, 15_000, np.inf], labels=["small", "medium", "large"])
    where = cost_by(size.astype(str), y_new, policies["costboost"], cost_matrix=COSTS, X=X_new)
    table = pd.DataFrame(where)[["segment", "rows", "total_cost", "share"]]
    print(table.round({"total_cost": 0, "share": 2}).to_string(index=False))
    chance = model.predict_proba(X_new)[:, 0]  # of "default"
    prices = per_row(fn=0.75 * X_new["loan"], fp=0.06 * X_new["loan"])
    display = CostThresholdDisplay.from_predictions(y_new == "default", chance, costs=prices)
    display.figure_.savefig("credit_scoring.png", dpi=110)


if __name__ == "__main__":
    main()
