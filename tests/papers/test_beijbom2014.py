"""Beijbom et al. (2014): tasks run on a tiny set, conclusions follow from hand-made rows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from matplotlib import pyplot

from costboost.costs import Costs
from costboost.datasets import Dataset, load
from costboost_papers import beijbom2014
from costboost_papers.beijbom2014 import ITEMS
from costboost_papers.costs import from_taxonomy
from costboost_papers.item import wide
from costboost_papers.pages import ordering, summarise
from costboost_papers.svm import CostHingeSVM, cost_hinge
from data import blobs, rows_of_tasks, rows_of_values

SURFACES, UCI, TAXONOMY = ITEMS


def test_printed_ranks_follow_from_the_printed_risks():
    printed = UCI.printed().assign(statistic="mean")
    risks = wide(printed, "risk")
    assert risks.shape == (10, 6)
    ranks = wide(printed, "rank of means").loc[("all", ""), risks.columns]
    np.testing.assert_allclose(risks.rank(axis=1).mean(), ranks, atol=0.051)


@pytest.fixture
def tiny_beijbom(monkeypatch):
    X, y = blobs()
    data = Dataset("made", X.drop(columns="w"), y, np.unique(y), None, None, None, None, "", "")
    monkeypatch.setattr(beijbom2014, "dataset", lambda name: data)
    monkeypatch.setitem(beijbom2014.TREES, "made", {"near": ["a", "b"], "far": {"c": None}})
    effort = beijbom2014.Effort(rounds=3, repeats=2, most_rows=40, machines=1)
    for item in (UCI, TAXONOMY):
        monkeypatch.setattr(type(item), "efforts", {"quick": effort, "full": effort})


@pytest.mark.parametrize("item", [UCI, TAXONOMY], ids=lambda item: item.name)
def test_from_tasks_to_conclusions(item, tiny_beijbom):
    name = item.datasets[0]
    tasks = [task for task in item.tasks("full") if task.dataset == name]
    values = {}
    for task in tasks:
        found = item.run(task, "full")
        assert ("risk by posterior" in found) == (task.algorithm == "MCBoost")
        for metric, value in found.items():
            values[task.dataset, task.algorithm, "", task.split, metric] = value
    summary = summarise(item, rows_of_values(item, values))
    assert set(summary["algorithm"]) == set(beijbom2014.COLUMNS)
    assert item.table(summary).iloc[0, 0] == name
    assert item.conclusions(summary)
    figure = item.figure(summary)
    assert figure is not None
    pyplot.close(figure)


def test_published_parts_are_kept():
    split = np.array(["train", "test", "train"])
    data = Dataset("made", None, None, None, None, None, split, None, "", "")
    train, test = UCI.split(data, 0)
    assert (train.tolist(), test.tolist()) == ([0, 2], [1])


def test_drawn_training_rows_keep_small_classes():
    y = np.repeat([0, 1, 2], [900, 95, 5])
    train = np.arange(1000)
    kept = beijbom2014.capped(y, train, 100, seed=1)
    assert np.bincount(y[kept]).tolist() == [90, 10, 5]
    assert len(np.unique(kept)) == len(kept)
    assert beijbom2014.capped(y, train, 1000, seed=1) is train


@pytest.mark.parametrize("name", beijbom2014.TREES)
def test_class_trees_hold_the_classes_of_their_sets(name, data_dir):
    costs = from_taxonomy(beijbom2014.TREES[name])
    assert costs.classes.tolist() == load(name).classes.tolist()
    assert costs.matrix.max() <= 6


def beijbom_rows(risks, item=UCI):
    """Risks by algorithm, five repeats with a little noise that all algorithms share in part."""
    rng = np.random.default_rng(0)
    values = {}
    for name, repeat in itertools.product(item.datasets, range(5)):
        for algorithm, risk in risks.items():
            noisy = risk + 0.01 * rng.normal()
            owner, metric = algorithm, "risk"
            if algorithm == "P-MCBoost":
                owner, metric = "MCBoost", "risk by posterior"
            values[name, owner, "", repeat, metric] = noisy
    return rows_of_values(item, values)


PAPERS_ORDER = {"MCBoost": 1.0, "P-MCBoost": 0.8, "GEL": 1.0, "GLL": 0.6, "Ls": 2.0, "Lt": 2.5}


def test_ranks_and_tests_are_in_the_summary():
    summary = summarise(UCI, beijbom_rows(PAPERS_ORDER))
    ranks = wide(summary, "rank").loc[("all", "")]
    assert ranks["GLL"] == 1 and ranks["P-MCBoost"] == 2 and ranks["Lt"] == 6
    assert np.isclose(ranks.sum(), 21)
    table = UCI.table(summary)
    assert table["source"].tolist() == ["ours", "paper"] * 10 + ["ours", "ours", "paper"]
    assert "†" in table.iloc[0]["GLL"] and "†" not in table.iloc[0]["Lt"]
    taus = ordering(UCI, summary)
    assert len(taus) == 10 and taus["tau"].mean() > 0.5


def test_the_cost_sensitive_machine_is_its_loss(tiny_beijbom):
    """It decides where the others are blind, and its loss is the multi-class hinge with costs."""
    scores, z = np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 3.0]]), np.array([0, 1])
    costs = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    assert cost_hinge(scores, z, costs).tolist() == [3.0, 4.0]
    X, y = blobs()
    X = X.drop(columns="w").to_numpy(dtype=float)
    labels = np.unique(y)
    costly = np.ones((3, 3)) - np.eye(3)
    costly[0] *= 50.0  # the first class must not be missed
    machine, blind = (
        CostHingeSVM(Costs(labels, matrix), 1.0).fit(X, y) for matrix in (costly, costly > 0)
    )
    assert (machine.predict(X) == labels[0]).sum() > (blind.predict(X) == labels[0]).sum()
    z = np.searchsorted(labels, y)
    beside = np.column_stack([X, np.ones(len(X))])
    fitted, other = (cost_hinge(beside @ m.coef_, z, costly).mean() for m in (machine, blind))
    assert fitted < other


def test_surfaces_are_the_paper_s():
    """Eq. 13: Ls(G) is about 7.4, that of a guess is 2."""
    at = np.array([3.0]), np.array([2.0])
    assert beijbom2014.surface("a) Ls", *at)[0] == pytest.approx(np.exp(2) + np.exp(-5) - 2)
    rows = rows_of_tasks(SURFACES, SURFACES.tasks("full"))
    summary = summarise(SURFACES, rows)
    assert [found.verdict for found in SURFACES.conclusions(summary)] == ["holds"] * 3
    assert len(SURFACES.figure(summary).axes) == 3
    assert len(SURFACES.table(summary)) == 3


def test_the_paper_s_corals_stand_below_our_trees():
    table = TAXONOMY.table(summarise(TAXONOMY, beijbom_rows(PAPERS_ORDER, TAXONOMY)))
    corals = table[table["data set"] == "MLC"].iloc[0]
    assert (corals["MCBoost"], corals["GLL"], corals["Ls"]) == ("0.66", "0.62", "")
