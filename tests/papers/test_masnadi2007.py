"""Masnadi-Shirazi and Vasconcelos (2007): the Gaussian study and Table 2 on tiny settings."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from costboost.datasets import bayes_threshold
from costboost.metrics import total_cost
from costboost_papers import masnadi2007
from costboost_papers.item import Task
from costboost_papers.masnadi2007 import (
    ALGORITHMS,
    GRID,
    Figure2,
    Figure3,
    Table1,
    Table2,
    classifier,
    cost_ratio,
    crossing,
)
from costboost_papers.protocol import binary_data, encode, fold, quiet, split_seed
from data import rows_of_tasks

# --- the line -------------------------------------------------------------------------------


@pytest.mark.parametrize("C1", [0.2, 5.0, 20.0])
def test_the_best_threshold_costs_the_least(C1):
    best = bayes_threshold(C1)
    assert crossing(best <= GRID) == pytest.approx(best, abs=2e-3)
    assert cost_ratio(best <= GRID, C1) == pytest.approx(1.0, abs=1e-4)
    for other in (best - 0.3, best + 0.3):
        assert cost_ratio(other <= GRID, C1) > 1.01


def test_crossings_without_a_change_or_with_several():
    assert crossing(np.ones(len(GRID), dtype=bool)) == -4.0
    assert crossing(np.zeros(len(GRID), dtype=bool)) == 4.0
    wiggle = (GRID >= -1.0) | ((GRID > -3.9) & (GRID < -3.8))
    assert crossing(wiggle) == pytest.approx(-1.0, abs=2e-3)
    # Decisions the wrong way round have no crossing from - to + in the middle.
    assert abs(crossing(GRID < -1.0)) == 4.0


# --- plans ----------------------------------------------------------------------------------


def test_printed_values_are_the_papers():
    printed = Figure3().printed()
    of_bayes = printed[printed["algorithm"] == "Bayes"]
    for setting, value in zip(of_bayes["setting"], of_bayes["value"], strict=True):
        assert value == pytest.approx(bayes_threshold(float(setting[3:])), abs=5e-5)
    assert Table2().printed()["value"].sum() == 10
    assert Figure2().printed().empty


# --- figures --------------------------------------------------------------------------------


def test_figure2():
    item = Figure2()
    item.rows = 2000
    tasks = [task for task in item.tasks("quick") if task.setting in ("C1=1", "C1=5")]
    summary = item.summarise(rows_of_tasks(item, tasks))
    table = item.table(summary)
    assert table["C1"].tolist() == [1.0, 5.0]
    np.testing.assert_allclose(table["CS-LogitBoost"], table["Bayes"], atol=0.15)
    assert len(item.figure(summary).axes) == 2
    assert len(item.conclusions(summary)) == 2


def test_figure3():
    item = Figure3()
    item.rows = 2000
    found = rows_of_tasks(item, item.tasks("quick"))
    summary = item.summarise(found)
    assert {"mean", "sd", "median", "first"} <= set(summary["statistic"])
    table = item.table(summary).set_index(["setting", "algorithm"])
    assert len(table) == 2 * len(ALGORITHMS)
    assert table.loc[("C1=20", "CS-AdaBoost"), "x*, paper"] == pytest.approx(-1.499)
    assert abs(table.loc[("C1=5", "CS-LogitBoost"), "x*, round 50"] + 0.805) < 0.15
    # Costs that are not scaled leave AdaC1 at the cost-blind crossing; large ones have no vote.
    assert abs(table.loc[("C1=5", "AdaC1"), "x*, round 50"]) < 0.15
    assert np.isnan(table.loc[("C1=5", "AdaC1"), "x* at the true cost"])
    votes = found[found["metric"] == "vote of rule 1"]["value"]
    np.testing.assert_allclose(votes, 0.9056, atol=0.1)
    assert len(item.figure(summary).axes) == 2
    assert len(item.conclusions(summary)) == 7
    # The distance is to the crossing that was chosen, the nearest of all searched.
    own = found[found["metric"].isin(["distance", "crossing"])]
    wide = own.pivot(index=["setting", "algorithm"], columns="metric", values="value")
    for setting, target in (("C1=5", bayes_threshold(5)), ("C1=20", bayes_threshold(20))):
        part = wide.loc[setting]
        np.testing.assert_allclose(part["distance"], (part["crossing"] - target).abs())


# --- table 2 --------------------------------------------------------------------------------


def made_up_rows():
    """Rows in which the algorithms' counts are known: later names have more misses."""
    rng = np.random.default_rng(0)
    rows = []
    for dataset in ("pima", "cleveland"):
        for rank, algorithm in enumerate(ALGORITHMS):
            for split in range(2):
                metrics = {f"ε@{f}": 10.0 * f + rank for f in masnadi2007.FACTORS}
                for cost in ("1", "5"):
                    for rounds in masnadi2007.REPORTED:
                        metrics[f"fp@{cost}@{rounds}"] = float(cost) + rng.integers(2)
                        metrics[f"fn@{cost}@{rounds}"] = (10.0 + rank) / float(cost)
                rows += [
                    (dataset, algorithm, "", split, metric, v) for metric, v in metrics.items()
                ]
    columns = ["dataset", "algorithm", "setting", "split", "metric", "value"]
    return pd.DataFrame(rows, columns=columns)


def test_table2_takes_the_least_epsilon_over_the_costs():
    rows, item = made_up_rows(), Table2()
    summary = item.summarise(rows)
    sums = rows.groupby(["dataset", "algorithm", "metric"])["value"].sum()
    own = sums["pima", "AdaC1"]
    expected = np.mean(
        [min(own[f"fp@{c}@50"] + f * own[f"fn@{c}@50"] for c in "15") for f in masnadi2007.FACTORS]
    )
    table = item.table(summary).set_index("data set")
    assert table.loc["pima", "AdaC1"] == pytest.approx(expected, abs=0.05)
    median = f"median ε: {masnadi2007.PROTOCOLS[masnadi2007.OTHERS[-1]]}"
    assert table.loc[median, "CSB0"] == pytest.approx(2 * (170 / 3 + 3), abs=0.05)
    assert table.loc["sets with the lowest ε: paper", "CS-RealBoost"] == 7
    assert len(summary) < 400
    assert len(item.figure(summary).axes) == 2


def test_table1_is_cleveland_s_part_of_table2():
    summary = Table1().summarise(made_up_rows())
    table = Table1().table(summary).set_index("setting")
    assert table.index.tolist() == ["f=2", "f=5", "f=10"]
    assert (table["training C1"] == 5).all()  # fewer misses in the made-up rows


def test_one_task_of_table2(data_dir, monkeypatch):
    monkeypatch.setitem(masnadi2007.COSTS, "quick", (1.0, 5.0))
    task = Task("masnadi2007", "table2", "echocardiogram", "CSB2", "", 1)
    found = Table2().run(task, "quick")
    data = binary_data(task.dataset)
    train, test = fold(data.y, masnadi2007.FOLDS, task.split, split_seed(task))
    X, X_test = encode(data.X.iloc[train], data.X.iloc[test], one_hot=True, scale=True)
    with quiet():
        decided = classifier("CSB2", 5.0, 50).fit(X, data.y[train]).predict(X_test)
    counted = found["fp@5@50"] + 2 * found["fn@5@50"]
    assert counted == total_cost(data.y[test], decided, cost_matrix={"fn": 2, "fp": 1})
    assert found["Ĉ1@10"] in (1.0, 5.0)
    assert found["rounds@10"] in masnadi2007.ROUNDS
