"""The cost report of a model: one HTML file in money.

python examples/cost_report.py
"""

from __future__ import annotations

import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from costboost import CostBoostClassifier
from costboost.datasets import make_fraud


def main() -> None:
    """Train, write the page, print its headline."""
    data = make_fraud(15_000, random_state=0)
    X = pd.DataFrame(data.X, columns=data.feature_names)
    X, X_test, y, y_test, costs, costs_test = train_test_split(
        X, data.y, data.costs, test_size=0.4, random_state=0, stratify=data.y
    )
    model = CostBoostClassifier(costs_known=True, n_estimators=100, n_jobs=1, random_state=0)
    model.fit(X, y, costs=costs)
    logistic = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)

    options = {
        "title": "Card payments: which to stop",
        "rivals": {"Logistic regression, same costs": logistic.predict_proba(X_test)},
        "segments": ["amount", "abroad"],
        "unit": "€",
    }
    report = model.report_data(X_test, y_test, costs=costs_test, **options)
    for rule in report.headline.rules:
        print(f"{rule.name:60} costs {rule.cost.value:12,.0f}")
    page = model.report(X_test, y_test, costs=costs_test, path="report.html", **options)
    print(f"written: {page}")


if __name__ == "__main__":
    main()
