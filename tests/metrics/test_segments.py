"""Costs by segment sum to the total, and their intervals cover."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from costboost.datasets import make_fraud
from costboost.metrics import cost_by, total_cost
from costboost.metrics.intervals import segmented


@pytest.fixture(scope="module")
def data():
    return make_fraud(20_000, random_state=0)


def test_segments_sum_to_the_total_to_the_cent(data):
    decided = (data.X[:, 6] > 0.3).astype(int)
    hours = data.X[:, 2].astype(int)
    found = cost_by(hours, data.y, decided, costs=data.costs)
    total = total_cost(data.y, decided, costs=data.costs)
    assert round(sum(found.total_cost), 2) == round(total, 2)
    assert abs(found.total_cost.sum() - total) < 1e-6
    assert found.rows.sum() == len(data.y)
    assert found.share.sum() == pytest.approx(1)
    assert (np.diff(found.total_cost) <= 0).all()
    for group, cost, mean in zip(found.groups, found.total_cost, found.mean_cost, strict=True):
        rows = hours == group
        assert cost == pytest.approx(
            total_cost(data.y[rows], decided[rows], costs=data.costs[rows], labels=[0, 1])
        )
        assert mean == pytest.approx(cost / rows.sum())


def test_intervals_cover():
    rng = np.random.default_rng(0)
    few = rng.gamma(2, 5, 7)
    found = segmented(few, np.zeros(7))
    wanted = student.interval(0.95, 6, few.mean(), few.std(ddof=1) / np.sqrt(7))
    np.testing.assert_allclose([found.low[0], found.high[0]], wanted)
    groups = np.repeat([0, 1], 200)
    inside = 0
    for _ in range(300):
        found = segmented(rng.gamma(2, 5, 400), groups, confidence=0.9)
        inside += int(((found.low <= 10) & (found.high >= 10)).sum())
    assert 0.86 < inside / 600 < 0.94


def test_frames_and_text():
    groups = pd.Series(["a", "b", "a"], dtype="string")
    frame = cost_by(groups, [0, 1, 1], [0, 0, 1], cost_matrix={"fn": 5, "fp": 1}).to_frame()
    assert frame["group"].tolist() == ["b", "a"]
    assert np.isinf(frame["high"][0])  # one row has no interval


@pytest.mark.parametrize(
    ("groups", "confidence", "message"),
    [
        ([1], 0.9, "must have one element per row"),
        ([1, None, 2], 0.9, "1 rows have none"),
        ([1.0, np.nan, 2.0], 0.9, "1 rows have none"),
        ([1, 1, 2], 95, r"'confidence' parameter of cost_by must be in \(0, 1\)"),
    ],
)
def test_bad_input(groups, confidence, message):
    with pytest.raises(ValueError, match=message):
        cost_by(groups, [0, 1, 1], [0, 0, 1], confidence=confidence)
