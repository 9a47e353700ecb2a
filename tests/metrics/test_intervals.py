"""Does it pay? Verdicts and costs by segment sum up, cover, and speak."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from costboost import CostBoostClassifier
from costboost.datasets import make_fraud
from costboost.errors import CostWarning
from costboost.metrics import cost_by, total_cost, verdict

PRICES = {"fn": 5.0, "fp": 1.0}


def decided_with(accuracy, n, seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    return truth, np.where(rng.uniform(size=n) < accuracy, truth, 1 - truth)


ANSWERS = {
    "pays": (0.95, 2000, "The model pays: it saves €"),
    "does not pay": (0.5, 2000, "The model does not pay: it costs €"),
    "cannot tell yet": (0.85, 60, "60 rows cannot tell yet whether the model pays"),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_answers(answer):
    accuracy, n, said = ANSWERS[answer]
    truth, decided = decided_with(accuracy, n)
    found = verdict(truth, decided, cost_matrix=PRICES)
    saved = 1.0 * (1 - truth) - np.where(truth == decided, 0.0, np.where(truth == 1, 5.0, 1.0))
    wanted = student.interval(0.95, n - 1, saved.mean(), saved.std(ddof=1) / np.sqrt(n))
    assert (found.answer, found.constant, found.rows) == (answer, 1, n)
    np.testing.assert_allclose([found.gain, found.low, found.high], [saved.mean(), *wanted])
    assert said in found.in_words("€")
    assert "the best constant decision (always 1)" in found.in_words("€")
    constant = verdict([0, 1, 1], [1, 1, 1], cost_matrix=PRICES)
    assert (constant.answer, constant.gain, constant.more_rows) == ("does not pay", 0, 0)
    assert "saves nothing" in str(constant)


def test_so_many_more_rows_tell():
    """Rows that repeat have the same gain and an interval narrower by the root of their number."""
    truth, decided = decided_with(0.85, 60)
    found = verdict(truth, decided, cost_matrix=PRICES)
    needed = 60 * ((found.gain - found.low) / found.gain) ** 2 - 60
    assert needed <= found.more_rows <= 1.1 * needed + 1
    times = int(np.ceil((found.rows + found.more_rows) / found.rows)) + 1
    assert 2 <= times < 60
    later = verdict(np.tile(truth, times), np.tile(decided, times), cost_matrix=PRICES)
    assert later.answer != "cannot tell yet"


def test_intervals_cover_the_truth_as_often_as_they_say():
    verdicts, segments, equal = [], [], {"fn": 1.0, "fp": 1.0}
    rng = np.random.default_rng(0)
    for seed in range(300):
        truth, decided = decided_with(0.9, 80, seed)
        found = verdict(truth, decided, cost_matrix=equal, labels=[0, 1])
        verdicts.append(found.low <= 0.4 <= found.high)
        costs, zeros = rng.gamma(2, 5, 400), np.zeros(400, int)
        by = cost_by(np.repeat([0, 1], 200), zeros, 1 - zeros, costs=costs, confidence=0.9)
        segments.extend((by["low"] <= 10) & (by["high"] >= 10))
    assert 0.85 <= np.mean(verdicts) <= 0.99  # the constant is the best of these rows, not of all
    assert 0.86 < np.mean(segments) < 0.94


def test_fit_warns_if_its_decisions_do_not_pay():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 5)), (rng.uniform(size=600) < 0.3).astype(int)
    too_sure = {"learning_rate": 0.5, "calibration": None, "early_stopping": False, "cv": 2}
    model = CostBoostClassifier(effort="fast", n_estimators=40, random_state=3, **too_sure)
    with pytest.warns(CostWarning, match="does not pay: it costs .* than the best constant"):
        model.fit(X, y)


def test_segments_sum_to_the_total_to_the_cent():
    data = make_fraud(20_000, random_state=0)
    decided, hours = (data.X[:, 6] > 0.3).astype(int), data.X[:, 2].astype(int)
    found = cost_by(hours, data.y, decided, costs=data.costs)
    total = total_cost(data.y, decided, costs=data.costs)
    assert abs(found["total_cost"].sum() - total) < 1e-6
    assert found["share"].sum() == pytest.approx(1)
    assert (np.diff(found["total_cost"]) <= 0).all()
    paid = np.asarray(data.costs)[np.arange(len(data.y)), data.y, decided]
    for group, n, sum_, *ends in zip(
        *(found[name] for name in ("group", "rows", "total_cost", "low", "high")), strict=True
    ):
        own = paid[hours == group]
        assert (n, sum_) == (len(own), pytest.approx(own.sum()))
        error = own.std(ddof=1) / np.sqrt(len(own))
        np.testing.assert_allclose(ends, student.interval(0.95, n - 1, own.mean(), error))
    groups = pd.Series(["a", "b", "a"], dtype="string")
    frame = pd.DataFrame(cost_by(groups, [0, 1, 1], [0, 0, 1], cost_matrix=PRICES))
    assert frame["group"].tolist() == ["b", "a"]
    assert np.isinf(frame["high"][0])  # one row has no interval
    with pytest.raises(ValueError, match="1 rows have none"):
        cost_by([1.0, np.nan, 2.0], [0, 1, 1], [0, 0, 1])
    with pytest.raises(ValueError, match=r"'confidence' parameter of cost_by must be in \(0, 1\)"):
        cost_by(groups, [0, 1, 1], [0, 0, 1], confidence=95)
