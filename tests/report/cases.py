"""Small cases of every shape that a report must cope with."""

from __future__ import annotations

import numpy as np

from costboost.report import make_case


def drawn(rng, n, k, decimals=15):
    """Probabilities that sum to 1, and a truth drawn from them."""
    p = rng.dirichlet(np.full(k, 0.6), size=n).round(decimals)
    p[:, -1] = 1.0 - p[:, :-1].sum(axis=1)
    return p, (rng.uniform(size=n)[:, None] > p.cumsum(axis=1)[:, :-1]).sum(axis=1)


def two_classes(n=300, seed=0, per_row=True, weights=False, **more):
    """Frauds with amounts; acting costs 5 whatever the truth."""
    rng = np.random.default_rng(seed)
    p, truth = drawn(rng, n, 2, 15 if per_row else 2)  # by two decimals some risks are thresholds
    amount = np.round(rng.lognormal(3.0, 1.0, n), 2)
    labels = np.array(["fraud", "ok"])
    costs = np.zeros((n, 2, 2))
    costs[:, 0, 0] = costs[:, 1, 0] = 5.0
    costs[:, 0, 1] = amount
    return make_case(
        labels[truth],
        p,
        classes=labels,
        costs=costs if per_row else [[5.0, 30.0], [5.0, 0.0]],
        positive="fraud",
        sample_weight=rng.integers(1, 4, n).astype(float) if weights else None,
        **{"segments": {"amount": amount}, "nothing": "ok", **more},
    )


def many_classes(n=200, k=4, d=4, seed=1, per_row=False, **more):
    rng = np.random.default_rng(seed)
    p, truth = drawn(rng, n, k)
    costs = rng.uniform(1, 9, size=(n, k, d) if per_row else (k, d)).round(2)
    for j in range(min(k, d)):
        costs[..., j, j] = 0.0
    labels = {"classes": np.arange(k), "decisions": np.arange(10, 10 + d)}
    return make_case(truth, p, **labels, costs=costs, **more)


def prices_only(n=150, seed=2):
    rng = np.random.default_rng(seed)
    p, truth = drawn(rng, n, 2)
    return make_case(truth, p, classes=[0, 1], costs=rng.uniform(-2, 9, (n, 2)).round(2))


CASES = {
    "two classes, costs of rows": two_classes,
    "two classes, one matrix": lambda: two_classes(per_row=False),
    "two classes, weights": lambda: two_classes(weights=True),
    "four classes": many_classes,
    "four classes, costs of rows": lambda: many_classes(per_row=True),
    "three classes, five decisions": lambda: many_classes(k=3, d=5),
    "four classes, two decisions": lambda: many_classes(k=4, d=2),
    "prices of decisions": prices_only,
}
