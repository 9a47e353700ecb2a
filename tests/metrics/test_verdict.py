"""Does it pay? The verdict on decisions, its interval and its words."""

from __future__ import annotations

import numpy as np
import pytest

from costboost import CostBoostClassifier
from costboost.errors import CostWarning
from costboost.metrics import total_cost, verdict

PRICES = {"fn": 5.0, "fp": 1.0}


def decided_with(accuracy, n, seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    return truth, np.where(rng.uniform(size=n) < accuracy, truth, 1 - truth)


@pytest.mark.parametrize(
    ("accuracy", "n", "answer"),
    [(0.95, 2000, "pays"), (0.5, 2000, "does not pay"), (0.85, 60, "cannot tell yet")],
)
def test_answers(accuracy, n, answer):
    truth, decided = decided_with(accuracy, n)
    found = verdict(truth, decided, cost_matrix=PRICES)
    assert found.answer == answer
    saved = total_cost(truth, np.ones(n, int), cost_matrix=PRICES)
    saved -= total_cost(truth, decided, cost_matrix=PRICES)
    assert found.gain == pytest.approx(saved / n)
    assert found.constant == 1
    assert found.low < found.gain < found.high
    words = found.in_words("€")
    assert answer.replace("pays", "The model pays") in words or answer in words
    assert "the best constant decision (always 1)" in words


def test_a_constant_does_not_pay_and_nobody_divides_by_zero():
    found = verdict([0, 1, 1], [1, 1, 1], cost_matrix=PRICES)
    assert (found.answer, found.gain, found.more_rows) == ("does not pay", 0, 0)
    assert "saves nothing" in str(found)


def test_so_many_more_rows_tell():
    """Rows that repeat have the same gain and an interval narrower by the root of their number."""
    truth, decided = decided_with(0.85, 60)
    found = verdict(truth, decided, cost_matrix=PRICES)
    times = int(np.ceil((found.rows + found.more_rows) / found.rows)) + 1
    assert 2 <= times < 60
    later = verdict(np.tile(truth, times), np.tile(decided, times), cost_matrix=PRICES)
    assert later.answer != "cannot tell yet"
    few = verdict(np.tile(truth, 2), np.tile(decided, 2), cost_matrix=PRICES)
    assert few.more_rows < found.more_rows


def test_intervals_cover_the_truth_as_often_as_they_say():
    hits = []
    for seed in range(300):
        truth, decided = decided_with(0.9, 80, seed)
        found = verdict(truth, decided, cost_matrix={"fn": 1.0, "fp": 1.0}, labels=[0, 1])
        hits.append(found.low <= 0.4 <= found.high)
    assert 0.85 <= np.mean(hits) <= 0.99  # the constant is the best of these rows, not of all


def test_fit_warns_if_its_decisions_do_not_pay():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 5)), (rng.uniform(size=600) < 0.3).astype(int)
    too_sure = {"learning_rate": 0.5, "calibration": None, "early_stopping": False}
    model = CostBoostClassifier(
        effort="fast", n_estimators=40, ensemble=2, random_state=3, **too_sure
    )
    with pytest.warns(CostWarning, match="does not pay: it costs .* than the best constant"):
        model.fit(X, y)
