"""Intrusion detection with the official cost matrix of the KDD Cup 1999.

    python papers/examples/intrusion_detection.py

Five kinds of connections, and a matrix that says what each confusion costs: missing a remote attack
costs 4, taking a probe for normal traffic costs 1. Needs the benchmark file ``kddcup99`` (see
`costboost_papers.datasets.load`).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from sklearn.model_selection import train_test_split

from costboost import CostBoostClassifier
from costboost.metrics import mean_cost
from costboost_papers.datasets import load


def some(X: pd.DataFrame, y: np.ndarray, n: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Some of the rows, by class."""
    kept, _, labels, _ = train_test_split(X, y, train_size=n, random_state=0, stratify=y)
    return kept, labels


def main() -> None:
    """Fit on 4,000 connections, decide 10,000 of the official test part."""
    data = load("kddcup99")
    prices = pd.DataFrame(data.cost_matrix, index=data.classes, columns=data.classes)
    print(prices.to_string())
    train, test = data.split == "train", data.split == "test"
    train &= ~data.X.duplicated().to_numpy()  # attacks come in thousands of copies
    X, y = some(data.X[train], data.y[train], 4_000)
    X_new, y_new = some(data.X[test], data.y[test], 10_000)
    model = CostBoostClassifier(prices, n_estimators=60, cv=2, n_jobs=1, random_state=0).fit(X, y)
    probable = model.classes_[model.predict_proba(X_new).argmax(axis=1)]
    decided = model.predict(X_new)
    for name, labels in (("most probable class", probable), ("cheapest decision", decided)):
        cost = mean_cost(y_new, labels, cost_matrix=prices)
        print(f"{name:<20} costs {cost:.4f} a connection")
    table = pd.crosstab(y_new, decided).reindex(data.classes, axis=0).fillna(0)
    table = table.reindex(data.classes, axis=1).fillna(0)
    paid = table.to_numpy() * prices.to_numpy()
    figure, axes = plt.subplots(figsize=(6, 4.5), layout="constrained")
    image = axes.imshow(paid, cmap="Oranges")
    axes.set_xticks(range(5), data.classes)
    axes.set_yticks(range(5), data.classes)
    axes.set(xlabel="decision", ylabel="truth", title="Where the money goes")
    for i in range(5):
        for j in range(5):
            axes.text(j, i, f"{paid[i, j]:.0f}", ha="center", va="center")
    figure.colorbar(image, label="cost")
    figure.savefig("intrusion_detection.png", dpi=110)


if __name__ == "__main__":
    main()
