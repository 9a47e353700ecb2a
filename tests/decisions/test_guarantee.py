"""The bound of the mean cost is seldom too low."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from costboost.decisions import cost_guarantee, mean_cost_bound

# Draws of costs in [0, 100], and their mean.
DISTRIBUTIONS = {
    "rare": (lambda rng, n: 100.0 * (rng.random(n) < 0.03), 3.0),
    "common": (lambda rng, n: 100.0 * (rng.random(n) < 0.4), 40.0),
    "beta": (lambda rng, n: 100.0 * rng.beta(0.3, 5.7, n), 5.0),
    "constant": (lambda rng, n: np.full(n, 7.0), 7.0),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_violations_stay_below_delta(name):
    draw, mean = DISTRIBUTIONS[name]
    rng = np.random.default_rng(0)
    delta, n_draws = 0.1, 300
    violated = sum(
        mean_cost_bound(draw(rng, 300), delta, largest=100.0) < mean for _ in range(n_draws)
    )
    # More than this happens with probability 0.001 if the guarantee is just met.
    assert violated <= binom.ppf(0.999, n_draws, delta)


def test_the_bound_is_useful():
    """Far below Hoeffding's, and it tightens with rows."""
    rng = np.random.default_rng(0)
    costs = 100.0 * rng.beta(0.3, 5.7, 2000)
    bound = mean_cost_bound(costs, 0.05, largest=100.0)
    hoeffding = costs.mean() + 100 * np.sqrt(np.log(1 / 0.05) / 4000)
    assert costs.mean() < bound < costs.mean() + 0.5 * (hoeffding - costs.mean())
    assert bound < mean_cost_bound(costs[:200], 0.05, largest=100.0)


def test_answer_and_bound_agree():
    costs = np.random.default_rng(1).uniform(0, 10, 500)
    found = cost_guarantee(costs, 6.0, 0.05, largest=10.0)
    assert found and found.holds and found.upper_bound <= 6.0
    assert found.upper_bound == mean_cost_bound(costs, 0.05, largest=10.0)
    assert not cost_guarantee(costs, float(costs.mean()), 0.05, largest=10.0)
    assert not cost_guarantee(np.zeros(20), 0.2, 0.05, largest=10.0)  # too few rows to show it
    assert found.mean == pytest.approx(costs.mean())
    assert cost_guarantee(costs, 6.0, 0.05, largest=10.0) == found


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"limit": 0.0}, "must lie between smallest=0 and largest=10"),
        ({"limit": 10.0}, "never or always met; got 10"),
        ({"limit": float("nan")}, "must be a number"),
        ({"delta": 0.0}, r"'delta' parameter of cost_guarantee must be in \(0, 1\)"),
        ({"largest": 3.0}, "must lie between smallest=0 and largest=3"),
        ({"smallest": 20.0}, "must be numbers in this order"),
        ({"costs": []}, "non-empty"),
        ({"costs": np.full(500, np.nan)}, "must lie between"),
    ],
)
def test_bad_input(arguments, message):
    given = {"costs": np.linspace(0, 9, 500), "limit": 6.0, "delta": 0.05, "largest": 10.0}
    with pytest.raises(ValueError, match=message):
        cost_guarantee(**{**given, **arguments})
