"""Add a loss of your own, and use it everywhere by its name.

python examples/add_a_loss.py
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_wine

from costboost import CostBoostClassifier
from costboost.losses import MulticlassLoss, register

PRICES = np.array([[0, 1, 1], [1, 0, 1], [20, 20, 0]])  # rows = truth, columns = decision


@register
class NegativeCosts(MulticlassLoss):
    """Squared difference between scores and negative costs."""

    name = "negative_costs"

    def value(self, y, F, C):
        return 0.5 * ((F + C) ** 2).sum(axis=1)


def main() -> None:
    """Train with it, and with two others."""
    X, y = load_wine(return_X_y=True)
    for name in ("negative_costs", "gll", "auto"):
        model = CostBoostClassifier(
            PRICES, loss=name, n_estimators=60, cv=2, n_jobs=1, random_state=0
        ).fit(X[::2], y[::2])
        print(f"{name:<15} saves {model.score(X[1::2], y[1::2]):.0%}")


if __name__ == "__main__":
    main()
