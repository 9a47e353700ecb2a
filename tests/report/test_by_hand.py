"""Money added up by hand from the CSV: costs_, score, savings and the report agree."""

from __future__ import annotations

import csv
import math

import pandas as pd
import pytest

from costboost import CostBoostClassifier
from costboost.datasets import make_fraud
from costboost.metrics import mean_cost, savings_score, total_cost

# A flag costs a call of 5, also where it is right, so savings and score are two numbers.
PRICES = {"fn": "amount + 15", "fp": 5, "tp": 5, "positive": "yes"}


def written(path, n, seed):
    data = make_fraud(n, random_state=seed)
    frame = pd.DataFrame(data.X).add_prefix("x")
    frame["amount"] = data.amount.round(2)
    frame["fraud"] = ["yes" if label else "no" for label in data.y]
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = written(tmp_path_factory.mktemp("by_hand") / "train.csv", 1500, 0)
    table = pd.read_csv(path)
    made = CostBoostClassifier(PRICES, n_estimators=40, ensemble=2, random_state=0, n_jobs=1)
    made.fit(table.drop(columns="fraud"), table["fraud"])
    with path.open(newline="") as file:
        frauds = [row for row in csv.DictReader(file) if row["fraud"] == "yes"]
    missed = [float(row["amount"]) + 15 for row in frauds]
    known = made.costs_
    assert known.classes.tolist() == ["no", "yes"]
    assert (known.low[1, 0], known.high[1, 0]) == pytest.approx((min(missed), max(missed)))
    assert known.mean[1, 0] == pytest.approx(math.fsum(missed) / len(missed), abs=0.005)
    assert (known.mean[0, 0], known.mean[0, 1], known.mean[1, 1]) == (0, 5, 5)
    return made


def test_sums_in_cents_over_the_rows_of_a_file(model, tmp_path):
    path = written(tmp_path / "later.csv", 1500, 1)
    X = pd.read_csv(path)
    y = X.pop("fraud")
    decided = model.predict(X).tolist()
    cents = {"model": 0, "no": 0, "yes": 0, "right": 0}
    with path.open(newline="") as file:
        for decision, row in zip(decided, csv.DictReader(file), strict=True):
            no = round(100 * float(row["amount"])) + 1500 if row["fraud"] == "yes" else 0
            cents["no"] += no
            cents["yes"] += 500
            cents["model"] += no if decision == "no" else 500
            cents["right"] += min(no, 500)
    sums = {name: total / 100 for name, total in cents.items()}
    known, best = {"cost_matrix": PRICES, "X": X}, min(sums["no"], sums["yes"])
    assert total_cost(y, decided, **known) == pytest.approx(sums["model"], abs=0.005)
    assert mean_cost(y, decided, **known) == pytest.approx(sums["model"] / len(y))
    saved, share = 1 - sums["model"] / best, (best - sums["model"]) / (best - sums["right"])
    assert 0 < saved < share < 1
    assert savings_score(y, decided, **known) == pytest.approx(saved, abs=1e-9)
    assert model.score(X, y) == pytest.approx(share, abs=1e-9)
    head = model.report_data(X, y, nothing="no").headline
    for key, cost in {"model": sums["model"], "constant": best, "nothing": sums["no"]}.items():
        assert head.rule(key).cost.value == pytest.approx(cost, abs=0.005), key
        assert head.rule(key).saving.value == pytest.approx(cost - sums["model"], abs=0.005), key
    assert head.verdict.gain == pytest.approx((best - sums["model"]) / len(y))
    assert head.perfect == pytest.approx(sums["right"], abs=0.005)
