"""Costs and weights of every size: finite answers, the same in every unit."""

from __future__ import annotations

import numpy as np
import pytest

import costboost
from costboost.gbm import objective
from costboost.metrics import avoidable_cost_score, mean_cost, total_cost


def test_costs_beyond_the_largest_are_refused():
    with pytest.raises(ValueError, match="at most 1e\\+300 in size"):
        costboost.AdaC2Classifier({"fn": 1e301, "fp": 1.0}).fit([[0.0], [1.0]], [0, 1])


# -- metrics and objectives ----------------------------------------------------------------------


def test_metrics_of_large_costs_and_weights():
    truth, decided, weights = [0, 1, 1, 0], [1, 1, 0, 0], np.full(4, 1e200)
    prices = {"fn": 3e300, "fp": 1e300}
    with pytest.raises(ValueError, match="at most 1e\\+300 in size"):
        total_cost(truth, decided, cost_matrix=prices)
    prices = {"fn": 1e300, "fp": 0.5e300}
    assert total_cost(truth, decided, cost_matrix=prices) == pytest.approx(1.5e300)
    with pytest.raises(ValueError, match="larger than the largest number"):
        total_cost(truth, decided, cost_matrix=prices, sample_weight=weights)
    assert mean_cost(truth, decided, cost_matrix=prices, sample_weight=weights) == pytest.approx(
        0.375e300
    )
    score = avoidable_cost_score(truth, decided, cost_matrix=prices, sample_weight=weights)
    assert score == avoidable_cost_score(truth, decided, cost_matrix={"fn": 1.0, "fp": 0.5})


@pytest.mark.parametrize("weights", [[0.0, 0.0], [1.0, -1.0], [1.0, np.nan]])
def test_objectives_refuse_what_are_no_weights(weights):
    made = objective("mc")
    with pytest.raises(ValueError, match="weights of the rows must be finite"):
        made.derivatives([0, 1], np.zeros((2, 2)), np.array(weights))
