"""What the tasks of each paper measure: the rows that are kept, and some of it by hand.

Summaries, tables, printed numbers and claims are compared with the kept rows and pages in
tests/pages/test_generated.py.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from costboost.costs import Costs, from_taxonomy
from costboost.datasets import bayes_decision, bayes_threshold
from costboost_papers import (
    beijbom2014,
    cao2013,
    datasets,
    lozano2008,
    masnadi2007,
    nikolaou2016,
    registry,
)
from costboost_papers.datasets import Dataset, load
from costboost_papers.item import Options, Task
from costboost_papers.run import TASK, Store, versions
from costboost_papers.svm import CostHingeSVM, cost_hinge
from data import blobs

DOCS = Path(__file__).parents[2] / "docs" / "papers"
# Figure 4 of masnadi2007 has no task of a second; test_masnadi2007_faces.py has small ones.
ITEMS = [item for item in registry.items() if not item.shares_rows_with and item.name != "figure4"]


@pytest.mark.filterwarnings("ignore::costboost.errors.CostWarning")  # rows that are equal
@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item.paper}-{item.name}")
def test_the_source_computes_the_rows_that_are_kept(item, data_dir):
    """The cheapest task of each method and of each setting that takes no more than a second."""
    rows = Store("nowhere", item, Options(), DOCS).rows()
    tasks = rows[rows["seconds"] <= 1.0].drop_duplicates(TASK).sort_values("seconds", kind="stable")
    cheapest = [tasks.drop_duplicates(name)[TASK] for name in ("algorithm", "setting")]
    for place, kept in rows.merge(pd.concat(cheapest).drop_duplicates()).groupby(TASK, sort=False):
        task = Task(*place)
        found, wanted = item.run(task, "full"), kept.set_index("metric")["value"]
        assert task.seed == kept["seed"].iloc[0]
        assert list(found) == list(wanted.index), task.key
        if set(kept["versions"]) == {versions()}:  # other libraries, other trees
            np.testing.assert_allclose(list(found.values()), wanted, rtol=1e-6, err_msg=task.key)


# --- lozano2008 ---------------------------------------------------------------------------------


def test_lozano_flare_is_told_by_its_c_class_flares(data_dir):
    X, y = lozano2008.dataset("flare")
    assert sorted(set(y.tolist())) == list(range(7))
    assert not [column for column in X.columns if "flares_production" in column]
    assert "zurich_class" in X.columns


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


# --- beijbom2014 --------------------------------------------------------------------------------


def test_beijbom_published_parts_and_classes_are_kept(data_dir):
    split = np.array(["train", "test", "train"])
    data = Dataset("made", None, None, None, "", "", split=split)
    train, test = beijbom2014.ITEMS[1].split(data, 0)
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
        CostHingeSVM(Costs(matrix, labels), 1.0).fit(X, y) for matrix in (costly, costly > 0)
    )
    assert (machine.predict(X) == labels[0]).sum() > (blind.predict(X) == labels[0]).sum()
    z, beside = np.searchsorted(labels, y), np.column_stack([X, np.ones(len(X))])
    fitted, other = (cost_hinge(beside @ m.coef_, z, costly).mean() for m in (machine, blind))
    assert fitted < other


# --- cao2013 ------------------------------------------------------------------------------------


def test_cao_boundaries_survive_the_summary():
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(cao2013.COLUMNS, cao2013.HEIGHTS)])

    def shown(predict):
        flips = cao2013.boundary_heights(SimpleNamespace(predict=predict))
        summary = pd.DataFrame({"metric": list(flips), "value": list(flips.values())})
        return flips, cao2013.distance_to_boundary(summary)

    _, response = shown(lambda X: bayes_decision(X, 5.0))
    truth = bayes_decision(grid, 5.0).reshape(response.shape)
    assert (np.sign(response) == truth).mean() > 0.995
    flips, response = shown(lambda X: np.ones(len(X)))  # a collapsed classifier has no boundary
    assert set(flips.values()) == {-6.0} and (response > 0).all()


# --- nikolaou2016 -------------------------------------------------------------------------------


def test_nikolaou_files_of_the_authors(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets, "find_folder", lambda data_dir, missing_ok: tmp_path)
    nikolaou2016.mat_data.cache_clear()
    with pytest.raises(FileNotFoundError, match=r"new\.mat is not there\. Put their \.mat files"):
        nikolaou2016.mat_data("new.mat")
    (tmp_path / "nikolaou2016").mkdir()
    labels = np.array([[1], [2], [0]])
    savemat(tmp_path / "nikolaou2016" / "new.mat", {"data": np.eye(3), "labels": labels})
    X, y = nikolaou2016.mat_data("new.mat")
    assert X.shape == (3, 3) and y.tolist() == [1, 0, 0]
