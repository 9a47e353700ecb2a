"""Write the cost report of a model on one of the benchmark sets.

    python examples/cost_report.py bankmarketing
    python examples/cost_report.py creditcard_subset
    python examples/cost_report.py kddcup99

The first two have costs of single rows, the last has the official matrix of its contest. The files
are found as `costboost.datasets.load` says.
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
from costboost.report import make_case, report_data, write_report

MOST_TRAINING_ROWS = 40_000
MOST_STAGED_ROWS = 5_000
AMOUNTS = {"bankmarketing": "balance", "creditcard_subset": "Amount"}
SEGMENTS = {
    "bankmarketing": ["job", "marital", "education", "age"],
    "kddcup99": ["protocol_type", "service"],
}
TITLES = {
    "bankmarketing": "Bank marketing: whom to call",
    "creditcard_subset": "Card payments: which to stop",
    "kddcup99": "Network connections: which attack",
}


def logistic_regression():
    columns = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")),
        (
            OneHotEncoder(handle_unknown="ignore"),
            make_column_selector(dtype_include="category"),
        ),
    )
    return make_pipeline(columns, LogisticRegression(max_iter=300))


def parts_in_money(model, X, costs, decided, steps=16):
    """From row numbers to each feature's part of what the decision saves against the next-best.

    The contributions to the scores are turned into money by the slope of the saving, averaged on
    the straight way from the base scores to those of the row (Aumann and Shapley).
    """

    def explain(rows):
        found = model.contributions(X.iloc[rows])
        if found.ndim == 2:  # log-odds of the second class
            found = np.stack([np.zeros_like(found), found], axis=1)
        parts, base = found[:, :, :-1], found[:, :, -1]
        matrix = (
            costs[rows] if costs.ndim == 3 else np.broadcast_to(costs, (len(rows), *costs.shape))
        )
        expected = np.einsum("nk,nkd->nd", model.predict_proba(X.iloc[rows]), matrix)
        row = np.arange(len(rows))
        taken = decided[rows]
        expected[row, taken] = np.inf
        gap = matrix[row, :, expected.argmin(axis=1)] - matrix[row, :, taken]
        slope = np.zeros_like(base)
        for t in (np.arange(steps) + 0.5) / steps:
            score = base + t * parts.sum(axis=2)
            p = np.exp(score - score.max(axis=1, keepdims=True))
            p /= p.sum(axis=1, keepdims=True)
            slope += p * (gap - (p * gap).sum(axis=1, keepdims=True)) / steps
        return np.einsum("nk,nkf->nf", slope, parts)

    return explain


def cost_by_round(model, X, costs, prices):
    """Mean cost after each round, decided by the costs of the rows themselves."""
    rows = np.arange(min(len(X), MOST_STAGED_ROWS))
    mean = []
    for score in model.staged_decision_function(X.iloc[rows]):
        if score.ndim == 1:  # what the second decision saves by the mean costs: linear in p
            first, second = model.cost_matrix_[:, 0] - model.cost_matrix_[:, 1]
            p = (score - first) / (second - first)
            matrix = costs[rows] if costs.ndim == 3 else costs
            expected = (1 - p)[:, None] * matrix[..., 0, :] + p[:, None] * matrix[..., 1, :]
        else:
            expected = -score
        mean.append(prices[rows, expected.argmin(axis=1)].mean())
    return np.array(mean)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", choices=list(TITLES), nargs="?", default="bankmarketing")
    parser.add_argument("-o", "--output", type=Path, default=Path("report.html"))
    parser.add_argument("--rounds", type=int, default=300, help="number of boosting rounds")
    arguments = parser.parse_args()

    data = load(arguments.data)
    rows = np.arange(len(data.y))
    if data.split is None:
        train, test = train_test_split(rows, test_size=0.4, random_state=0, stratify=data.y)
    else:
        train, test = np.flatnonzero(data.split == "train"), np.flatnonzero(data.split == "test")
    if len(train) > MOST_TRAINING_ROWS:
        train = np.random.default_rng(0).choice(train, MOST_TRAINING_ROWS, replace=False)
    X, y, X_test, y_test = data.X.iloc[train], data.y[train], data.X.iloc[test], data.y[test]

    settings = {"decision": "bayes", "n_estimators": arguments.rounds, "ensemble": 3}
    model = CostBoostClassifier(data.cost_matrix, **settings, random_state=0)
    model.fit(X, y, costs=None if data.costs is None else data.costs[train])
    costs = data.cost_matrix if data.costs is None else data.costs[test]
    decided = model.predict(X_test, costs=None if data.costs is None else costs)
    codes, taken = np.searchsorted(data.classes, y_test), np.searchsorted(data.classes, decided)
    prices = costs[codes] if costs.ndim == 2 else costs[np.arange(len(codes)), codes]
    rival = logistic_regression().fit(X, y)

    amount = AMOUNTS.get(arguments.data)
    case = make_case(
        y_test,
        model.predict_proba(X_test),
        classes=data.classes,
        costs=costs,
        decided=decided,
        positive=data.positive,
        nothing="normal" if arguments.data == "kddcup99" else None,
        amount=None if amount is None else (amount, X_test[amount]),
        segments=X_test[SEGMENTS.get(arguments.data, [])],
        features=X_test,
        explain=parts_in_money(model, X_test, costs, taken),
        rounds={"held-out rows": cost_by_round(model, X_test, costs, prices)},
        rivals={"Logistic regression, same costs": rival.predict_proba(X_test)},
        ids=test,
        title=TITLES[arguments.data],
        unit="" if arguments.data == "kddcup99" else "€",
        settings={"data": data.name, **settings, "training rows": f"{len(train):,}"},
    )
    report = report_data(case)
    for rule in report.headline.rules:
        low, high = rule.saving.low, rule.saving.high
        print(f"{rule.name:60} {rule.cost.value:14,.2f}   saved {low:,.0f} to {high:,.0f}")
    page = write_report(report, arguments.output)
    print(f"{page}: {page.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
