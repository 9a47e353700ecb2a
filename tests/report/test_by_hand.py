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
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("by_hand")


@pytest.fixture(scope="module")
def model(folder):
    table = pd.read_csv(written(folder / "train.csv", 1500, 0))
    made = CostBoostClassifier(PRICES, n_estimators=40, ensemble=2, random_state=0, n_jobs=1)
    return made.fit(table.drop(columns="fraud"), table["fraud"])


@pytest.fixture(scope="module")
def by_hand(folder, model):
    """Sums in cents over the rows of a file."""
    path = written(folder / "later.csv", 1500, 1)
    table = pd.read_csv(path)
    decided = model.predict(table.drop(columns="fraud")).tolist()
    sums = {"model": 0, "always no": 0, "always yes": 0, "right": 0}
    with path.open(newline="") as file:
        for decision, row in zip(decided, csv.DictReader(file), strict=True):
            missed = round(100 * float(row["amount"])) + 1500
            no = missed if row["fraud"] == "yes" else 0
            sums["always no"] += no
            sums["always yes"] += 500
            sums["model"] += no if decision == "no" else 500
            sums["right"] += min(no, 500)
    return table, decided, {name: cents / 100 for name, cents in sums.items()}


def test_costs_of_the_fit(folder, model):
    with (folder / "train.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    missed = [float(row["amount"]) + 15 for row in rows if row["fraud"] == "yes"]
    known = model.costs_
    assert known.classes.tolist() == ["no", "yes"]
    assert (known.low[1, 0], known.high[1, 0]) == pytest.approx((min(missed), max(missed)))
    assert known.mean[1, 0] == pytest.approx(math.fsum(missed) / len(missed), abs=0.005)
    assert (known.mean[0, 0], known.mean[0, 1], known.mean[1, 1]) == (0, 5, 5)


def test_metrics(model, by_hand):
    table, decided, sums = by_hand
    X, y = table.drop(columns="fraud"), table["fraud"]
    known = {"cost_matrix": PRICES, "X": X}
    assert total_cost(y, decided, **known) == pytest.approx(sums["model"], abs=0.005)
    assert mean_cost(y, decided, **known) == pytest.approx(sums["model"] / len(y))
    best = min(sums["always no"], sums["always yes"])
    saved, share = 1 - sums["model"] / best, (best - sums["model"]) / (best - sums["right"])
    assert 0 < saved < share < 1
    assert savings_score(y, decided, **known) == pytest.approx(saved, abs=1e-9)
    assert model.score(X, y) == pytest.approx(share, abs=1e-9)


def test_report(model, by_hand):
    pytest.importorskip("plotly")
    table, _, sums = by_hand
    X, y = table.drop(columns="fraud"), table["fraud"]
    head = model.report_data(X, y, nothing="no").headline
    best = min(sums["always no"], sums["always yes"])
    wanted = {"model": sums["model"], "constant": best, "nothing": sums["always no"]}
    for key, cost in wanted.items():
        assert head.rule(key).cost.value == pytest.approx(cost, abs=0.005), key
        assert head.rule(key).saving.value == pytest.approx(cost - sums["model"], abs=0.005), key
    assert head.verdict.gain == pytest.approx((best - sums["model"]) / len(y))
    assert head.perfect == pytest.approx(sums["right"], abs=0.005)
