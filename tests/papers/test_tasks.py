"""What the tasks of each paper measure, on tiny sets.

Summaries, tables, printed numbers and claims are compared with the kept rows and pages in
tests/pages/test_generated.py.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from costboost.costs import Costs
from costboost.datasets import Dataset, bayes_decision, bayes_threshold, files, load
from costboost.metrics import total_cost
from costboost_papers import (
    beijbom2014,
    cai2008,
    cao2013,
    lozano2008,
    masnadi2007,
    nikolaou2016,
    outside,
    registry,
    vanderschraelen2025,
)
from costboost_papers.costs import from_taxonomy
from costboost_papers.item import Task, wide
from costboost_papers.pages import summarise
from costboost_papers.protocol import BinaryData, binary_data, encode, fold, quiet, split_seed
from costboost_papers.svm import CostHingeSVM, cost_hinge
from data import blobs, rows_of_tasks


def two_classes(n=120):
    """A third positive; the first column tells."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [n - n // 3, n // 3])
    return BinaryData(pd.DataFrame({"u": y + rng.normal(size=n), "v": rng.normal(size=n)}), y)


# --- lozano2008 ---------------------------------------------------------------------------------


def test_lozano_every_algorithm_runs(monkeypatch):
    figure1, table1, _ = lozano2008.ITEMS
    monkeypatch.setattr(lozano2008, "dataset", lambda name: blobs())
    effort = SimpleNamespace(**vars(lozano2008.EFFORTS["full"]) | {"rounds": 2, "most_rows": 60})
    monkeypatch.setattr(lozano2008, "EFFORTS", {"full": effort})
    monkeypatch.setattr(lozano2008, "FIGURE_EFFORTS", {"full": (2, 1)})
    tasks = [t for t in table1.tasks("full") if t.dataset == "splice" and t.split == 0]
    assert {*lozano2008.ESTIMATORS, "constant"} == {task.algorithm for task in tasks}
    others = [t for t in figure1.tasks("full") if t.dataset == "vehicle"]
    assert {task.setting for task in others} == set(lozano2008.LEARNERS)
    for item, plan in ((table1, tasks), (figure1, others)):
        for task in plan:
            found = item.run(task, "full")
            assert found["cost"] >= 0 and found["rounds"] <= 2
        assert item.run(task, "full") == found
    # Tree sizes see the same rows and costs: a constant does not depend on the tree.
    task = next(t for t in tasks if t.algorithm == "constant")
    assert table1.run(task, "full") == table1.run(replace(task, setting="grown"), "full")


def test_lozano_the_constant_is_the_cheapest_on_the_training_rows():
    costs = Costs(np.array(["a", "b", "c"]), np.array([[0, 9, 1], [1, 0, 1], [9, 9, 0]]))
    decided = lozano2008.cheapest_constant(costs, np.array(["a", "b", "b", "c"]), 3)
    assert decided.tolist() == ["c"] * 3


def test_lozano_flare_is_told_by_its_c_class_flares(data_dir):
    X, y = lozano2008.dataset("flare")
    assert sorted(set(y.tolist())) == list(range(7))
    assert not [column for column in X.columns if "flares_production" in column]
    assert "zurich_class" in X.columns


# --- cai2008 ------------------------------------------------------------------------------------


def test_cai_every_algorithm_sweeps_the_costs_on_the_same_rows(monkeypatch):
    (table3,) = cai2008.ITEMS
    data, seen, holdout = two_classes(), set(), cai2008.holdout
    monkeypatch.setattr(cai2008, "binary_data", lambda name: data)
    effort = SimpleNamespace(splits=2, costs=(0.1, 0.9), trees=("C4.5",), rounds=2)
    monkeypatch.setattr(cai2008, "EFFORTS", {"full": effort})
    for task in table3.tasks("full")[:6]:
        found = table3.run(task, "full")
        assert all(0 <= value <= 100 for value in found.values())
        swept = {"f@0.1", "f@0.9"} | ({"nested f"} if task.algorithm in cai2008.NESTED else set())
        assert set(found) == ({"f"} if task.algorithm in cai2008.BLIND else swept)
        if "nested f" in found:
            assert found["nested f"] in (found["f@0.1"], found["f@0.9"])
    assert found == table3.run(task, "full")
    monkeypatch.setattr(cai2008, "holdout", lambda *how: seen.add(how[1:]) or holdout(*how))
    for setting in cai2008.LEARNERS:
        table3.run(replace(task, setting=setting), "full")
    assert len(seen) == 1


# --- masnadi2007 --------------------------------------------------------------------------------


def test_masnadi_crossings():
    grid = masnadi2007.GRID
    for C1 in (0.2, 5.0, 20.0):
        best = bayes_threshold(C1)
        assert masnadi2007.crossing(best <= grid) == pytest.approx(best, abs=2e-3)
        assert masnadi2007.cost_ratio(best <= grid, C1) == pytest.approx(1.0, abs=1e-4)
        for other in (best - 0.3, best + 0.3):
            assert masnadi2007.cost_ratio(other <= grid, C1) > 1.01
    assert masnadi2007.crossing(np.ones(len(grid), dtype=bool)) == -4.0
    assert masnadi2007.crossing(np.zeros(len(grid), dtype=bool)) == 4.0
    wiggle = (grid >= -1.0) | ((grid > -3.9) & (grid < -3.8))
    assert masnadi2007.crossing(wiggle) == pytest.approx(-1.0, abs=2e-3)
    # Decisions the wrong way round have no crossing from - to + in the middle.
    assert abs(masnadi2007.crossing(grid < -1.0)) == 4.0
    printed = masnadi2007.Figure3().printed()
    for _, _, setting, _, value in printed[printed["algorithm"] == "Bayes"].to_numpy():
        assert value == pytest.approx(bayes_threshold(float(setting[3:])), abs=5e-5)


def test_masnadi_figures_reach_the_bayes_crossing():
    item = masnadi2007.Figure2()
    item.rows = 2000
    tasks = [task for task in item.tasks("quick") if task.setting in ("C1=1", "C1=5")]
    table = item.table(item.summarise(rows_of_tasks(item, tasks)))
    np.testing.assert_allclose(table["CS-LogitBoost"], table["Bayes"], atol=0.15)
    item = masnadi2007.Figure3()
    item.rows = 2000
    found = rows_of_tasks(item, item.tasks("quick"))
    table = item.table(item.summarise(found)).set_index(["setting", "algorithm"])
    assert table.loc[("C1=20", "CS-AdaBoost"), "x*, paper"] == pytest.approx(-1.499)
    assert abs(table.loc[("C1=5", "CS-LogitBoost"), "x*, round 50"] + 0.805) < 0.15
    # Costs that are not scaled leave AdaC1 at the cost-blind crossing; large ones have no vote.
    assert abs(table.loc[("C1=5", "AdaC1"), "x*, round 50"]) < 0.15
    assert np.isnan(table.loc[("C1=5", "AdaC1"), "x* at the true cost"])
    votes = found[found["metric"] == "vote of rule 1"]["value"]
    np.testing.assert_allclose(votes, 0.9056, atol=0.1)
    # The distance is to the crossing that was chosen, the nearest of all searched.
    own = found.pivot(index=["setting", "algorithm"], columns="metric", values="value")
    for setting, target in (("C1=5", bayes_threshold(5)), ("C1=20", bayes_threshold(20))):
        part = own.loc[setting]
        np.testing.assert_allclose(part["distance"], (part["crossing"] - target).abs())


def test_masnadi_one_task_of_table2(data_dir, monkeypatch):
    monkeypatch.setitem(masnadi2007.COSTS, "quick", (1.0, 5.0))
    task = Task("masnadi2007", "table2", "echocardiogram", "CSB2", "", 1)
    found = masnadi2007.Table2().run(task, "quick")
    data = binary_data(task.dataset)
    train, test = fold(data.y, masnadi2007.FOLDS, task.split, split_seed(task))
    X, X_test = encode(data.X.iloc[train], data.X.iloc[test], one_hot=True, scale=True)
    with quiet():
        decided = masnadi2007.classifier("CSB2", 5.0, 50).fit(X, data.y[train]).predict(X_test)
    counted = found["fp@5@50"] + 2 * found["fn@5@50"]
    assert counted == total_cost(data.y[test], decided, cost_matrix={"fn": 2, "fp": 1})
    assert found["Ĉ1@10"] in (1.0, 5.0) and found["rounds@10"] in masnadi2007.ROUNDS


# --- beijbom2014 --------------------------------------------------------------------------------

SURFACES, UCI, TAXONOMY = beijbom2014.ITEMS


@pytest.mark.parametrize("item", [UCI, TAXONOMY], ids=lambda item: item.name)
def test_beijbom_every_method_runs(item, monkeypatch):
    X, y = blobs()
    data = Dataset("made", X.drop(columns="w"), y, np.unique(y), "", "")
    monkeypatch.setattr(beijbom2014, "dataset", lambda name: data)
    monkeypatch.setitem(beijbom2014.TREES, "made", {"near": ["a", "b"], "far": {"c": None}})
    effort = SimpleNamespace(rounds=3, repeats=2, rows=40)
    monkeypatch.setattr(type(item), "efforts", {"quick": effort})
    tasks = [task for task in item.tasks("quick") if task.dataset == item.datasets[0]]
    rows = rows_of_tasks(item, tasks)
    assert set(rows[rows["metric"] == "risk by posterior"]["algorithm"]) == {"MCBoost"}
    summary = summarise(item, rows)
    assert set(summary["algorithm"]) == set(beijbom2014.COLUMNS)
    assert np.isclose(wide(summary, "rank").sum(axis=None), 21)


def test_beijbom_published_parts_and_classes_are_kept(data_dir):
    split = np.array(["train", "test", "train"])
    data = Dataset("made", None, None, None, "", "", split=split)
    train, test = UCI.split(data, 0)
    assert (train.tolist(), test.tolist()) == ([0, 2], [1])
    for name, tree in beijbom2014.TREES.items():
        costs = from_taxonomy(tree)
        assert costs.classes.tolist() == load(name).classes.tolist()
        assert costs.matrix.max() <= 6


def test_the_cost_sensitive_machine_is_its_loss():
    """It decides where the others are blind, and its loss is the multi-class hinge with costs."""
    scores, z = np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 3.0]]), np.array([0, 1])
    costs = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    assert cost_hinge(scores, z, costs).tolist() == [3.0, 4.0]
    X, y = blobs()
    X, labels = X.drop(columns="w").to_numpy(dtype=float), np.unique(y)
    costly = np.ones((3, 3)) - np.eye(3)
    costly[0] *= 50.0  # the first class must not be missed
    machine, blind = (
        CostHingeSVM(Costs(labels, matrix), 1.0).fit(X, y) for matrix in (costly, costly > 0)
    )
    assert (machine.predict(X) == labels[0]).sum() > (blind.predict(X) == labels[0]).sum()
    z, beside = np.searchsorted(labels, y), np.column_stack([X, np.ones(len(X))])
    fitted, other = (cost_hinge(beside @ m.coef_, z, costly).mean() for m in (machine, blind))
    assert fitted < other


def test_beijbom_surfaces_are_the_paper_s():
    """Eq. 13: Ls(G) is about 7.4, that of a guess is 2."""
    at = np.array([3.0]), np.array([2.0])
    assert beijbom2014.surface("a) Ls", *at)[0] == pytest.approx(np.exp(2) + np.exp(-5) - 2)
    summary = summarise(SURFACES, rows_of_tasks(SURFACES, SURFACES.tasks("full")))
    assert [found.verdict for found in SURFACES.conclusions(summary)] == ["holds"] * 3


# --- cao2013 ------------------------------------------------------------------------------------


def test_cao_crx_has_the_rows_of_the_paper(data_dir):
    data = cao2013._data("crx", None)
    assert len(data.y) == 653 and (data.y == 0).sum() / 5 == 71.4  # what one decision costs there
    assert not data.X.isna().any(axis=None)


def test_cao_all_algorithms_and_trees_see_the_same_rows(data_dir):
    item = cao2013.TABLES[3]
    found = {
        (algorithm, setting): item.run(Task("cao2013", "table4", "pima", algorithm, setting, 1), "")
        for algorithm in ("AdaC1", "AsyBL")
        for setting in cao2013.LEARNERS
    }
    for (_, setting), one in found.items():
        assert one["recall"] == 1 or round(one["fn"] / (1 - one["recall"])) in (53, 54)
        if setting != cao2013.LARGE:  # the curve ends where the table is
            assert one["test cost@50"] == one["cost"]
    # AsyBL fits real-valued responses, with regression trees where the others have C4.5.
    c45, tree, _ = cao2013.LEARNERS
    assert found["AsyBL", c45]["cost"] == found["AsyBL", tree]["cost"]
    assert found["AdaC1", c45]["cost"] != found["AdaC1", tree]["cost"]


def test_cao_boundaries_survive_the_summary(monkeypatch):
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(cao2013.COLUMNS, cao2013.HEIGHTS)])

    def shown(predict):
        flips = cao2013._flips(SimpleNamespace(predict=predict))
        summary = pd.DataFrame({"metric": list(flips), "value": list(flips.values())})
        return flips, cao2013._response(summary)

    _, response = shown(lambda X: bayes_decision(X, 5.0))
    truth = bayes_decision(grid, 5.0).reshape(response.shape)
    assert (np.sign(response) == truth).mean() > 0.995
    flips, response = shown(lambda X: np.ones(len(X)))  # a collapsed classifier has no boundary
    assert set(flips.values()) == {-6.0} and (response > 0).all()
    monkeypatch.setattr(cao2013, "FIGURE_ROUNDS", 5)
    for item in (cao2013.FIGURE_1, cao2013.FIGURE_2):
        rows = rows_of_tasks(item, [task for task in item.tasks("quick") if task.split == 0])
        assert len(item.table(summarise(item, rows))) == len(item.recipes) * len(item.factors)


# --- nikolaou2016 -------------------------------------------------------------------------------


def test_nikolaou_every_variant_runs(monkeypatch):
    (item,) = nikolaou2016.ITEMS
    data = two_classes()
    monkeypatch.setattr(nikolaou2016, "mat_data", lambda name: (data.X.to_numpy(), data.y))
    effort = SimpleNamespace(splits=1, ratios=(0.01, 1.0, 100.0), rows=100, rounds=3)
    monkeypatch.setattr(nikolaou2016, "EFFORTS", {"full": effort})
    tasks = [task for task in item.tasks("full") if task.dataset == nikolaou2016.DATASETS[0]]
    found = {(task.algorithm, task.setting): item.run(task, "full") for task in tasks}
    assert len(found) == 2 * len(nikolaou2016.METHODS) - 1
    for costs in found.values():
        assert list(costs) == ["cost@0.01", "cost@1", "cost@100"]
        assert all(0 <= cost <= 1 for cost in costs.values())
    # With equal costs the costs are without effect.
    same = [found[name, "plain"]["cost@1"] for name in ("AdaBoost", "AdaMEC", "CGAda", "AsymAda")]
    assert len(set(same)) == 1
    # Extreme costs: AdaMEC takes the cheap decision, AdaBoost does not know it.
    for ratio in ("cost@0.01", "cost@100"):
        assert found["AdaMEC", "calibrated"][ratio] < found["AdaBoost", "plain"][ratio]


def test_nikolaou_files_of_the_authors(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_folder", lambda data_dir, missing_ok: tmp_path)
    nikolaou2016.mat_data.cache_clear()
    with pytest.raises(FileNotFoundError, match=r"new\.mat is not there\. Put their \.mat files"):
        nikolaou2016.mat_data("new.mat")
    (tmp_path / "nikolaou2016").mkdir()
    labels = np.array([[1], [2], [0]])
    savemat(tmp_path / "nikolaou2016" / "new.mat", {"data": np.eye(3), "labels": labels})
    X, y = nikolaou2016.mat_data("new.mat")
    assert X.shape == (3, 3) and y.tolist() == [1, 0, 0]


# --- papers whose algorithms are not ours -------------------------------------------------------


@pytest.mark.parametrize("name", ["bahnsen2015", "hoppner2022"])
def test_savings_of_every_method(name, monkeypatch):
    (item,) = registry.items(name)
    X, y = two_classes(240)
    costs = np.zeros((len(y), 2, 2))
    costs[:, 1, 0], costs[:, 0, 1] = np.random.default_rng(0).uniform(5, 20, size=len(y)), 1.0
    monkeypatch.setattr(outside, "load", lambda name: SimpleNamespace(X=X, y=y, costs=costs))
    tasks = [task for task in item.tasks("full") if task.dataset == item.datasets[0]]
    assert len(tasks) == item.splits * len(item.methods)
    for task in tasks[: len(item.methods)]:
        (saved,) = item.run(task, "quick").values()
        assert -1 < saved < 1, task.algorithm


@pytest.mark.parametrize("item", vanderschraelen2025.ITEMS, ids=lambda item: item.name)
def test_money_in_the_best_shares(item, monkeypatch):
    X, y = two_classes(240)
    charge = np.random.default_rng(1).permutation(np.linspace(20, 120, len(y)))
    data = BinaryData(X.assign(monthly_charges=charge, total_charges=charge), y)
    monkeypatch.setattr(vanderschraelen2025, "binary_data", lambda name: data)
    vanderschraelen2025.stakes.cache_clear()
    try:
        most = np.where(y == 1, 5.0 if item.name == "german" else charge - 5.0, 0.0).sum()
        for task in item.tasks("full")[: len(item.ways)]:
            found = item.run(task, "full")
            assert list(found) == ["10%", "20%", "30%", "40%", "50%"]
            assert 0 < found["10%"] < most, task.algorithm
        features = vanderschraelen2025.stakes(item.name)[0]
        assert ("monthly_charges" in features) == (item.name == "german")
    finally:
        vanderschraelen2025.stakes.cache_clear()
