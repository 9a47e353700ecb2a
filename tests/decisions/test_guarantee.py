"""The bound of the mean cost is seldom too low."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from costboost.decisions import cost_guarantee

# Draws of costs in [0, 100], and their mean.
DISTRIBUTIONS = {
    "rare": (lambda rng, n: 100.0 * (rng.random(n) < 0.03), 3.0),
    "beta": (lambda rng, n: 100.0 * rng.beta(0.3, 5.7, n), 5.0),
    "constant": (lambda rng, n: np.full(n, 7.0), 7.0),
}


def bound(costs, delta=0.05):
    return cost_guarantee(costs, 50.0, delta, largest=100.0).upper_bound


@pytest.mark.parametrize(("draw", "mean"), DISTRIBUTIONS.values(), ids=list(DISTRIBUTIONS))
def test_violations_stay_below_delta(draw, mean):
    rng = np.random.default_rng(0)
    violated = sum(bound(draw(rng, 300), 0.1) < mean for _ in range(300))
    # More than this happens with probability 0.001 if the guarantee is just met.
    assert violated <= binom.ppf(0.999, 300, 0.1)


def test_the_bound_is_where_the_bets_win():
    """Row by row: each stake knows the rows before it only."""
    costs = 100.0 * np.random.default_rng(0).beta(0.3, 5.7, 60)
    m, x = bound(costs) / 100, np.random.default_rng(0).permutation(costs) / 100
    capital, total, squares = 1.0, 0.5, 0.25
    for seen, one in enumerate(x):
        stake = np.sqrt(2 * np.log(20) / (60 * squares / (seen + 1)))
        capital *= 1 + min(stake, 0.75 / (1 - m)) * (m - one)
        total += one
        squares += (one - total / (seen + 2)) ** 2
    assert capital == pytest.approx(20)


def test_answer_and_bound_agree():
    costs = np.random.default_rng(1).uniform(0, 10, 500)
    found = cost_guarantee(costs, 6.0, 0.05, largest=10.0)
    assert found and found.holds and found.upper_bound <= 6.0
    assert not cost_guarantee(costs, float(costs.mean()), 0.05, largest=10.0)
    assert not cost_guarantee(np.zeros(20), 0.2, 0.05, largest=10.0)  # too few rows to show it
    assert found.mean == pytest.approx(costs.mean())
    assert cost_guarantee(costs, 6.0, 0.05, largest=10.0) == found
    shifted = cost_guarantee(costs - 4, 2.0, 0.05, largest=6.0, smallest=-4.0)
    assert shifted.upper_bound == pytest.approx(found.upper_bound - 4)
