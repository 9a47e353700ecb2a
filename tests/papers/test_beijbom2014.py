"""Beijbom et al. (2014): tasks run on a tiny set, conclusions follow from hand-made rows."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib import pyplot

from costboost.costs import Costs
from costboost.datasets import Dataset, load
from costboost_papers import beijbom2014
from costboost_papers.costs import from_taxonomy
from costboost_papers.item import wide
from costboost_papers.pages import ordering, summarise
from costboost_papers.svm import CostHingeSVM, cost_hinge
from data import blobs, rows_of_tasks, rows_of_values

SURFACES, UCI, TAXONOMY = beijbom2014.ITEMS


def test_printed_ranks_follow_from_the_printed_risks():
    printed = UCI.printed_summary()
    risks = wide(printed, "risk")
    assert risks.shape == (10, 6)
    ranks = wide(printed, "rank of means").loc[("all", ""), risks.columns]
    np.testing.assert_allclose(risks.rank(axis=1).mean(), ranks, atol=0.051)


@pytest.mark.parametrize("item", [UCI, TAXONOMY], ids=lambda item: item.name)
def test_from_tasks_to_conclusions(item, monkeypatch):
    X, y = blobs()
    data = Dataset("made", X.drop(columns="w"), y, np.unique(y), None, None, None, None, "", "")
    monkeypatch.setattr(beijbom2014, "dataset", lambda name: data)
    monkeypatch.setitem(beijbom2014.TREES, "made", {"near": ["a", "b"], "far": {"c": None}})
    effort = SimpleNamespace(rounds=3, repeats=2, rows=40)
    monkeypatch.setattr(type(item), "efforts", {"quick": effort})
    name = item.datasets[0]
    rows = rows_of_tasks(item, [task for task in item.tasks("quick") if task.dataset == name])
    posterior = rows[rows["metric"] == "risk by posterior"]
    assert set(posterior["algorithm"]) == {"MCBoost"}
    summary = summarise(item, rows)
    assert set(summary["algorithm"]) == set(beijbom2014.COLUMNS)
    assert item.table(summary).iloc[0, 0] == name
    assert item.conclusions(summary)
    pyplot.close(item.figure(summary))


def test_published_parts_are_kept():
    split = np.array(["train", "test", "train"])
    data = Dataset("made", None, None, None, None, None, split, None, "", "")
    train, test = UCI.split(data, 0)
    assert (train.tolist(), test.tolist()) == ([0, 2], [1])


@pytest.mark.parametrize("name", beijbom2014.TREES)
def test_class_trees_hold_the_classes_of_their_sets(name, data_dir):
    costs = from_taxonomy(beijbom2014.TREES[name])
    assert costs.classes.tolist() == load(name).classes.tolist()
    assert costs.matrix.max() <= 6


def made_summary(item):
    """The paper's order, five repeats with a little noise."""
    risks = {"MCBoost": 1.0, "P-MCBoost": 0.8, "GEL": 1.0, "GLL": 0.6, "Ls": 2.0, "Lt": 2.5}
    rng = np.random.default_rng(0)
    values = {}
    for name, repeat, algorithm in itertools.product(item.datasets, range(5), risks):
        place = (algorithm, "risk")
        if algorithm == "P-MCBoost":
            place = ("MCBoost", "risk by posterior")
        values[name, place[0], "", repeat, place[1]] = risks[algorithm] + 0.01 * rng.normal()
    return summarise(item, rows_of_values(item, values))


def test_ranks_and_tests_are_in_the_summary():
    summary = made_summary(UCI)
    ranks = wide(summary, "rank").loc[("all", "")]
    assert ranks["GLL"] == 1 and ranks["P-MCBoost"] == 2 and ranks["Lt"] == 6
    assert np.isclose(ranks.sum(), 21)
    table = UCI.table(summary)
    assert table["source"].tolist() == ["ours", "paper"] * 10 + ["ours", "ours", "paper"]
    assert "†" in table.iloc[0]["GLL"] and "†" not in table.iloc[0]["Lt"]
    taus = ordering(UCI, summary)
    assert len(taus) == 10 and taus["tau"].mean() > 0.5


def test_the_paper_s_corals_stand_below_our_trees():
    table = TAXONOMY.table(made_summary(TAXONOMY))
    corals = table[table["data set"] == "MLC"].iloc[0]
    assert (corals["MCBoost"], corals["GLL"], corals["Ls"]) == ("0.66", "0.62", "")


def test_the_cost_sensitive_machine_is_its_loss():
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
    z, beside = np.searchsorted(labels, y), np.column_stack([X, np.ones(len(X))])
    fitted, other = (cost_hinge(beside @ m.coef_, z, costly).mean() for m in (machine, blind))
    assert fitted < other


def test_surfaces_are_the_paper_s():
    """Eq. 13: Ls(G) is about 7.4, that of a guess is 2."""
    at = np.array([3.0]), np.array([2.0])
    assert beijbom2014.surface("a) Ls", *at)[0] == pytest.approx(np.exp(2) + np.exp(-5) - 2)
    summary = summarise(SURFACES, rows_of_tasks(SURFACES, SURFACES.tasks("full")))
    assert [found.verdict for found in SURFACES.conclusions(summary)] == ["holds"] * 3
    assert len(SURFACES.figure(summary).axes) == len(SURFACES.table(summary)) == 3
