"""The cost report of a model: one HTML file in money.

    python examples/cost_report.py bankmarketing

Three benchmark sets are prepared: ``bankmarketing`` and ``creditcard_subset`` have costs of single
rows, ``kddcup99`` has the official matrix of its contest. The files are found as
`costboost.datasets.load` says. The page works offline; it has sliders for the costs and the
capacity, and a table of the most expensive mistakes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from costboost import CostBoostClassifier
from costboost.datasets import load

MOST_TRAINING_ROWS = 40_000
TITLES = {
    "bankmarketing": "Bank marketing: whom to call",
    "creditcard_subset": "Card payments: which to stop",
    "kddcup99": "Network connections: which attack",
}
# What each report breaks the costs down by.
OPTIONS = {
    "bankmarketing": {
        "segments": ["balance", "job", "marital", "education", "age"],
        "unit": "€",
    },
    "creditcard_subset": {"segments": "Amount", "unit": "€"},
    "kddcup99": {"nothing": "normal", "segments": ["protocol_type", "service"]},
}


def logistic_regression():
    """A rival that everybody knows."""
    columns = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_include="category")),
    )
    return make_pipeline(columns, LogisticRegression(max_iter=300))


def parts(data) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers for training and for the report: the published split, or 60 to 40."""
    if data.split is None:
        rows = np.arange(len(data.y))
        train, test = train_test_split(rows, test_size=0.4, random_state=0, stratify=data.y)
    else:
        train, test = (np.flatnonzero(data.split == part) for part in ("train", "test"))
    if len(train) > MOST_TRAINING_ROWS:
        train = np.random.default_rng(0).choice(train, MOST_TRAINING_ROWS, replace=False)
    return train, test


def main() -> None:
    """Train, write the page, print its headline."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", choices=list(TITLES), nargs="?", default="bankmarketing")
    parser.add_argument("-o", "--output", type=Path, default=Path("report.html"))
    parser.add_argument("--rounds", type=int, default=100, help="number of boosting rounds")
    arguments = parser.parse_args()

    data = load(arguments.data)
    train, test = parts(data)
    X, y, X_test, y_test = data.X.iloc[train], data.y[train], data.X.iloc[test], data.y[test]
    costs, costs_test = (
        (None, None) if data.costs is None else (data.costs[train], data.costs[test])
    )
    model = CostBoostClassifier(
        data.cost_matrix,
        costs_known=True,
        n_estimators=arguments.rounds,
        ensemble=3,
        random_state=0,
    ).fit(X, y, costs=costs)
    rival = logistic_regression().fit(X, y).predict_proba(X_test)
    options = {
        "title": TITLES[arguments.data],
        "ids": test,
        "rivals": {"Logistic regression, same costs": rival},
        **OPTIONS[arguments.data],
    }
    report = model.report_data(X_test, y_test, costs=costs_test, **options)
    for rule in report.headline.rules:
        print(f"{rule.name:60} costs {rule.cost.value:12,.0f}")
    page = model.report(X_test, y_test, costs=costs_test, path=arguments.output, **options)
    print(f"written: {page}")


if __name__ == "__main__":
    main()
