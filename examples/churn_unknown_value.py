"""Churn: what a customer is worth is known only afterwards.

python examples/churn_unknown_value.py
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from costboost import CostBoostClassifier
from costboost.costs import per_row
from costboost.metrics import total_cost

OFFER = 20.0


def customers(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Made-up customers: the table, who leaves, and what they would spend."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "months": rng.integers(1, 60, n),
            "calls": rng.poisson(1.5, n),
            "plan": pd.Categorical(rng.choice(["basic", "plus", "business"], n, p=[0.6, 0.3, 0.1])),
            "minutes": rng.gamma(2, 100, n).round(0),
        }
    )
    score = -2.0 + 0.5 * table["calls"] - 0.03 * table["months"]
    leaves = rng.random(n) < 1 / (1 + np.exp(-score))
    plan = table["plan"].map({"basic": 40.0, "plus": 120.0, "business": 600.0}).astype(float)
    value = plan * (0.5 + table["minutes"] / 200) * rng.lognormal(0, 0.5, n)
    return table, leaves.astype(int), value.to_numpy().round(2)


def main() -> None:
    """Compare what is known when deciding."""
    X, y, value = customers(6_000, seed=0)
    X_new, y_new, value_new = customers(6_000, seed=1)
    prices = per_row(fn=value, fp=OFFER, tp=OFFER)
    prices_new = per_row(fn=value_new, fp=OFFER, tp=OFFER)
    fast = {"n_estimators": 100, "cv": 3, "n_jobs": 1, "random_state": 0}
    model = CostBoostClassifier(**fast).fit(X, y, costs=prices)
    average = CostBoostClassifier({"fn": value.mean(), "fp": OFFER, "tp": OFFER}, **fast).fit(X, y)
    policies = {
        "no offers": np.zeros(len(y_new), dtype=int),
        "an average value for everyone": average.predict(X_new),
        "value unknown, learned": model.predict(X_new),
        "value known (an oracle)": model.predict(X_new, costs=prices_new),
    }
    for name, decided in policies.items():
        cost = total_cost(y_new, decided, costs=prices_new)
        print(f"{name:<30} costs {cost:>9,.0f} with {decided.sum():5,} offers")
    print(f"expected savings, value unknown: {model.estimated_savings_without_costs_}")


if __name__ == "__main__":
    main()
