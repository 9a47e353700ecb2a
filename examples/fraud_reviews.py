"""Accept, review or block card payments with a limited number of reviews a day.

python examples/fraud_reviews.py 200
"""

from __future__ import annotations

import sys

import numpy as np

from costboost import CostBoostClassifier
from costboost.datasets import make_fraud
from costboost.decisions import allocate, cheapest, expected_cost, read_limits

ACTIONS = ["accept", "review", "block"]
ACCEPT, REVIEW, BLOCK = range(3)
DAYS, PAYMENTS = 10, 4_000


def costs_of(amount: np.ndarray) -> np.ndarray:
    """Truth by decision: a missed fraud costs its amount, a review 4, a wrong block 30."""
    matrix = np.zeros((len(amount), 2, 3))
    matrix[:, 1, ACCEPT] = amount
    matrix[:, :, REVIEW] = 4
    matrix[:, 0, BLOCK] = 30
    return matrix


def chow(proba: np.ndarray, price: float) -> np.ndarray:
    """Chow's rule: the more probable class, or a review (2) if its probability is below 1 - r."""
    return np.where(proba.max(axis=1) < 1 - price, 2, proba.argmax(axis=1))


def main(reviews: int = 200) -> None:
    """Fit, decide, compare."""
    train = make_fraud(8_000, random_state=0)
    new = make_fraud(DAYS * PAYMENTS, random_state=1)
    day = np.repeat(np.arange(DAYS), PAYMENTS)
    loss = train.amount[train.y == 1].mean()
    model = CostBoostClassifier(
        {"fn": loss, "fp": 4}, n_estimators=120, max_leaves=7, effort="fast", random_state=0
    ).fit(train.X, train.y)
    proba = model.predict_proba(new.X)
    costs = costs_of(new.amount)
    expected = expected_cost(proba, costs)

    limits = read_limits({"review": reviews}, decisions=ACTIONS)
    limited, prices = allocate(expected, limits, groups=day)
    policies = {
        "no model: accept everything": np.full(len(new.y), ACCEPT),
        "threshold 0.5: block": np.where(proba[:, 1] > 0.5, BLOCK, ACCEPT),
        "costs, as many reviews as needed": cheapest(expected),
        f"costs, {reviews} reviews a day": limited,
    }
    for name, codes in policies.items():
        cost = costs[np.arange(len(codes)), new.y, codes].sum()
        share = (codes == REVIEW).sum() / DAYS
        print(f"{name:<33} costs {cost:>8.0f}  with {share:4.0f} reviews a day")
    savings = [prices[d]["review"] for d in range(DAYS)]
    print(f"one more review on a day saves {np.mean(savings):.2f}, expected")

    price = 0.1
    equal = np.array([[0.0, 1.0, price], [1.0, 0.0, price]])
    same = (cheapest(expected_cost(proba, equal)) == chow(proba, price)).all()
    print(f"equal costs and a review at {price}: the same as Chow's rule: {same}")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
