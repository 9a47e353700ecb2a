"""Papers whose algorithms are not ours: their items on small made data."""

from __future__ import annotations

import numpy as np
import pytest

from costboost_papers import bahnsen2015, hoppner2022, outside, vanderschraelen2025
from costboost_papers.pages import summarise
from costboost_papers.protocol import BinaryData
from data import rows_of_values


class Made:
    """A set with costs of rows, as `load` returns it."""

    def __init__(self, n=240):
        import pandas as pd

        rng = np.random.default_rng(0)
        self.y = (rng.random(n) < 0.3).astype(int)
        self.X = pd.DataFrame({"a": self.y + rng.normal(size=n), "b": rng.normal(size=n)})
        self.costs = np.zeros((n, 2, 2))
        self.costs[:, 1, 0] = rng.uniform(5, 20, size=n)
        self.costs[:, 0, 1] = 1.0


@pytest.mark.parametrize(
    "item", [bahnsen2015.ITEMS[0], hoppner2022.ITEMS[0]], ids=lambda i: i.paper
)
def test_every_method_saves(item, monkeypatch):
    made = Made()
    monkeypatch.setattr(outside, "load", lambda name: made)
    tasks = [task for task in item.tasks("full") if task.dataset == item.datasets[0]]
    assert len(tasks) == item.splits * len(item.methods)
    for task in tasks[: len(item.methods)]:
        (saved,) = item.run(task, "quick").values()
        assert -1 < saved < 1, task.algorithm


@pytest.mark.parametrize(
    "item", [bahnsen2015.ITEMS[0], hoppner2022.ITEMS[0]], ids=lambda i: i.paper
)
def test_table_of_savings(item):
    values = {
        (name, method, "", split, "savings"): 0.4 + 0.01 * split
        for name in item.datasets
        for method in item.methods
        for split in (0, 1)
    }
    table = item.table(summarise(item, rows_of_values(item, values)))
    assert list(table["data set"]) == list(item.datasets)
    assert table.iloc[0, 1].startswith("0.405 ± 0.007")
    if item.paper == "bahnsen2015":
        assert table["random forest + BMR"][0].endswith("(0.433–0.435)")
        assert table["cost-sensitive tree"][0] == "(0.465–0.502)"


@pytest.fixture
def customers(monkeypatch):
    made = Made()
    made.X["monthly_charges"] = made.X["total_charges"] = np.linspace(20, 120, len(made.y))
    found = BinaryData(made.X, made.y)
    monkeypatch.setattr(vanderschraelen2025, "binary_data", lambda name: found)
    vanderschraelen2025.stakes.cache_clear()
    yield found
    vanderschraelen2025.stakes.cache_clear()


@pytest.mark.parametrize("item", vanderschraelen2025.ITEMS, ids=lambda item: item.name)
def test_money_in_the_best_shares(item, customers):
    earned = 5.0 if item.name == "german" else customers.X["monthly_charges"] - 5.0
    most = np.where(customers.y == 1, earned, 0.0).sum()
    for task in item.tasks("full")[: len(item.ways)]:
        found = item.run(task, "full")
        assert list(found) == ["10%", "20%", "30%", "40%", "50%"]
        assert 0 < found["10%"] < most, task.algorithm
    assert "monthly_charges" in vanderschraelen2025.stakes("german")[0]
    assert "monthly_charges" not in vanderschraelen2025.stakes("telco")[0]


def test_published_figures_stand_beside_ours():
    telco, german = vanderschraelen2025.ITEMS
    for item, published in ((telco, 2), (german, 0)):
        values = {
            (item.name, way, "", split, f"{share:.0%}"): 1000.0 * share + split
            for way in item.ways
            for split in range(4)
            for share in vanderschraelen2025.SHARES
        }
        table = item.table(summarise(item, rows_of_values(item, values)))
        assert list(table["source"]) == ["paper"] * published + ["here"] * len(item.ways)
        assert table["10%"].iloc[-1] == "102"
    assert list(table.columns)[2:] == ["10%", "20%", "30%", "40%", "50%"]
