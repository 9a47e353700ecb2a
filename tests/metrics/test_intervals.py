"""Does it pay? Verdicts and costs by segment sum up, cover, and speak."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from costboost import CostBoostClassifier
from costboost.costs import Costs
from costboost.datasets import make_fraud
from costboost.errors import CostWarning
from costboost.metrics import Verdict, cost_by, total_cost, verdict
from costboost.metrics.money_interval import money_interval

PRICES = {"fn": 5.0, "fp": 1.0}


def decided_with(accuracy, n, seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    return truth, np.where(rng.uniform(size=n) < accuracy, truth, 1 - truth)


ANSWERS = {
    "pays": (0.95, 2000, "The model pays: it saves €"),
    "does not pay": (0.5, 2000, "The model does not pay: it costs €"),
    "cannot tell": (0.85, 60, "Cannot tell from 60 rows whether the model pays: it saves €200"),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_answers(answer):
    accuracy, n, words = ANSWERS[answer]
    truth, decided = decided_with(accuracy, n)
    found = verdict(truth, decided, cost_matrix=PRICES)
    matrix = np.array([[0.0, 1.0], [5.0, 0.0]])
    wanted = money_interval(matrix[truth, decided], matrix[truth], prices=matrix, chosen=decided)
    assert (found.answer, found.constant, found.rows) == (answer, 1, n)
    assert (found.gain, found.low, found.high) == wanted
    assert words in found.in_words("€")
    assert "the best constant decision (always 1)" in found.in_words("€")


def test_one_decision_for_all_does_not_pay():
    best = verdict([0, 1, 1], [1, 1, 1], cost_matrix=PRICES)
    assert (best.answer, best.gain, best.more_rows) == ("does not pay", 0, np.inf)
    assert str(best) == (
        "The model does not pay: it decides 1 for every row, as can be done without it."
    )
    other = verdict([0, 1, 1], [0, 0, 0], cost_matrix=PRICES)
    assert "decides 0 for every row, and so it costs 3,000 more per 1,000 rows" in str(other)
    # Against what is decided today it may pay.
    truth = np.repeat([0, 1], [100, 900])
    assert verdict(truth, np.ones(1000, int), cost_matrix=PRICES, baseline=0).answer == "pays"


def test_so_many_more_rows_tell():
    """The number named is that of rows like these with which the interval leaves 0 out."""
    truth, decided = decided_with(0.85, 60)
    found = verdict(truth, decided, cost_matrix=PRICES)
    times = int(np.ceil((found.rows + found.more_rows) / found.rows))
    assert 2 <= times < 60
    later = verdict(np.tile(truth, times), np.tile(decided, times), cost_matrix=PRICES)
    assert later.answer == "pays"
    sooner = verdict(np.tile(truth, times - 1), np.tile(decided, times - 1), cost_matrix=PRICES)
    assert sooner.answer == "cannot tell"


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
    assert 0.9 <= np.mean(verdicts) <= 1.0
    assert 0.88 < np.mean(segments) < 0.97


# -- few costly events, groups, and what is decided today ------------------------------------------

FRAUD = {"fn": 1000.0, "fp": 4.0}


def passed_with_frauds(rng, n):
    """Of all rows 95 % are passed and .6 % of these are frauds; the true gain is -1.92 a row."""
    decided = (rng.uniform(size=n) > 0.95).astype(int)
    truth = np.where(decided == 1, rng.uniform(size=n) < 0.5, rng.uniform(size=n) < 0.006)
    return truth.astype(int), decided


# Rows, least coverage, most verdicts "pays"; a plain Student interval covers .45 of 100 rows, and
# says "pays" of 52 % of them and of 18 % of 300.
@pytest.mark.parametrize(("n", "coverage", "false_pays"), [(100, 0.93, 0.0), (300, 0.93, 0.0)])
def test_few_frauds_among_the_passed_do_not_pay(n, coverage, false_pays):
    rng = np.random.default_rng(n)
    # Passing saves the 4 of a false alarm on a row without fraud, and loses the 1,000 of a miss.
    true_gain = 0.95 * (0.994 * 4 - 0.006 * 1000)
    assert round(true_gain, 2) == -1.92
    covered = []
    pays = []
    for _ in range(300):
        found = verdict(*passed_with_frauds(rng, n), cost_matrix=FRAUD, labels=[0, 1])
        covered.append(found.low <= true_gain <= found.high)
        pays.append(found.answer == "pays")
    assert np.mean(covered) >= coverage
    assert np.mean(pays) <= false_pays


def test_groups_are_independent_and_their_rows_are_not():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), 20)
    by_row = []
    by_group = []
    for _ in range(300):
        # The class hangs on the group, and so does the decision, but not on the class.
        truth = rng.uniform(size=600) < (rng.beta(0.6, 1.4, 30)[groups])
        decided = rng.uniform(size=600) < (rng.beta(0.5, 0.5, 30)[groups])
        prices = {"cost_matrix": {"fn": 2.4, "fp": 1.0}, "baseline": 1, "labels": [0, 1]}
        # Deciding 0 saves the false alarm of 1 on .7 of the rows, and misses .3 of them.
        true_gain = 0.5 * (0.7 * 1.0 - 0.3 * 2.4)
        for covered, options in ((by_row, {}), (by_group, {"groups": groups})):
            found = verdict(truth.astype(int), decided.astype(int), **prices, **options)
            covered.append(found.low <= true_gain <= found.high)
    assert np.mean(by_row) < 0.7 and np.mean(by_group) > 0.92


def test_an_event_that_was_never_seen_is_named_until_it_matters_no_more():
    """It pays once 3.9 times the cost of the event by the rows is less than the gain."""
    for n, answer in ((200, "cannot tell"), (2000, "pays")):
        truth = np.tile([0, 0, 0, 1], n // 4)
        found = verdict(truth, truth, cost_matrix=FRAUD)
        assert found.gain == 3.0 and found.answer == answer
        assert (3.9 * 1000 / n < found.gain) == (answer == "pays")
        if answer == "pays":
            continue
        assert found.rare_event == (1, 0, 0)
        assert "but no row of class 1 was decided 0 yet, and a few of them would" in str(found)
        assert 1000 < found.rows + found.more_rows < 1500
        assert "About 1," in str(found) and found.low < 0 < found.gain
    decided = truth.copy()
    for row in (3, 7):
        decided[row] = 0
        found = verdict(truth[:200], decided[:200], cost_matrix=FRAUD | {"fn": 150})
        assert found.rare_event.rows == 1 + (row > 3)
    assert "but only 2 rows of class 1 had the decision 0, and a few of them would" in str(found)


def test_against_what_is_decided_today():
    rng = np.random.default_rng(0)
    truth = (rng.uniform(size=3000) < 0.3).astype(int)
    today = np.where(rng.uniform(size=3000) < 0.8, truth, 1 - truth)
    better = np.where(rng.uniform(size=3000) < 0.95, truth, 1 - truth)
    found = verdict(truth, better, cost_matrix=PRICES, baseline=today)
    saved = total_cost(truth, today, cost_matrix=PRICES)
    saved -= total_cost(truth, better, cost_matrix=PRICES)
    assert found.gain == pytest.approx(saved / 3000) and found.answer == "pays"
    assert "against what is decided today; 95 % interval" in str(found)
    assert verdict(truth, today, cost_matrix=PRICES, baseline=better).answer == "does not pay"
    same = verdict(truth, today, cost_matrix=PRICES, baseline=today)
    assert same.answer == "cannot tell" and same.low < same.gain == 0 < same.high
    always = verdict(truth, better, cost_matrix=PRICES, baseline=0)
    assert "against deciding 0 for every row" in str(always)
    with pytest.raises(ValueError, match="'baseline' parameter of verdict must hold only"):
        verdict(truth, better, cost_matrix=PRICES, baseline="pass")
    with pytest.raises(ValueError, match="'groups' parameter of verdict must have one element"):
        verdict(truth, better, cost_matrix=PRICES, groups=[1, 2])


def test_doubts_change_a_good_answer_and_no_bad_one():
    truth, decided = decided_with(0.95, 2000)
    matrix = np.array([[0.0, 1.0], [5.0, 0.0]])
    costs = Costs(matrix, [0, 1]).realized(truth)
    doubts = ["column Mahnstufe alone tells the class"]
    found = Verdict.of(costs, decided, doubts=doubts)
    assert found.answer == "cannot tell"
    assert str(found).startswith("Cannot tell: column Mahnstufe alone tells the class. On these")
    assert Verdict.of(costs, 1 - decided, doubts=doubts).answer == "does not pay"


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
    columns = ("segment", "rows", "total_cost", "low", "high")
    for segment, n, sum_, low, high in zip(*(found[name] for name in columns), strict=True):
        own = paid[hours == segment]
        assert (n, sum_) == (len(own), pytest.approx(own.sum()))
        # At least as wide as Student's, by the events that may not have been seen.
        ends = student.interval(0.95, n - 1, own.mean(), own.std(ddof=1) / np.sqrt(n))
        assert low <= ends[0] and high >= ends[1]
    by_customer = cost_by(hours, data.y, decided, costs=data.costs, groups=np.arange(20_000) // 50)
    assert np.allclose(by_customer["mean_cost"], found["mean_cost"])
    assert (by_customer["low"] != found["low"]).all()
    segments = pd.Series(["a", "b", "a"], dtype="string")
    frame = pd.DataFrame(cost_by(segments, [0, 1, 1], [0, 0, 1], cost_matrix=PRICES))
    assert frame["segment"].tolist() == ["b", "a"]
    assert np.isinf(frame["high"][0])  # one row has no interval
    with pytest.raises(ValueError, match="1 rows have none"):
        cost_by([1.0, np.nan, 2.0], [0, 1, 1], [0, 0, 1])
    with pytest.raises(ValueError, match=r"'confidence' parameter of cost_by must be in \(0, 1\)"):
        cost_by(segments, [0, 1, 1], [0, 0, 1], confidence=95)
