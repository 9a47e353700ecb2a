"""Nikolaou et al. (2016): the variants on a tiny set; the table of made rows."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib import pyplot
from scipy.io import savemat

from costboost.datasets import files
from costboost_papers import nikolaou2016
from costboost_papers.nikolaou2016 import CALIBRATED, ITEMS, METHODS, PLAIN
from costboost_papers.pages import summarise
from data import rows_of_values

(RANKS,) = ITEMS


@pytest.fixture
def tiny(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [80, 40])
    X = np.column_stack([y + rng.normal(size=120), rng.normal(size=120)])
    monkeypatch.setattr(nikolaou2016, "mat_data", lambda name: (X, y))
    effort = SimpleNamespace(splits=1, ratios=(0.01, 1.0, 100.0), rows=100, rounds=3)
    monkeypatch.setattr(nikolaou2016, "EFFORTS", {"quick": effort, "full": effort})


def test_plan():
    assert len(nikolaou2016.DATASETS) == 18 and len(set(nikolaou2016.RATIOS)) == 21
    assert len(RANKS.tasks("full")) == 18 * 4 * (2 * len(METHODS) - 1)


def test_every_variant_runs(tiny):
    found = {
        (task.algorithm, task.setting): RANKS.run(task, "full")
        for task in RANKS.tasks("full")[: 2 * len(METHODS) - 1]
    }
    assert len(found) == 2 * len(METHODS) - 1
    for costs in found.values():
        assert list(costs) == ["cost@0.01", "cost@1", "cost@100"]
        assert all(0 <= cost <= 1 for cost in costs.values())
    # With equal costs the costs are without effect.
    same = [found[name, PLAIN]["cost@1"] for name in ("AdaBoost", "AdaMEC", "CGAda", "AsymAda")]
    assert len(set(same)) == 1
    # Extreme costs: AdaMEC takes the cheap decision, AdaBoost does not know it.
    for ratio in ("cost@0.01", "cost@100"):
        assert found["AdaMEC", CALIBRATED][ratio] < found["AdaBoost", PLAIN][ratio]


def test_files_of_the_authors(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_folder", lambda data_dir, missing_ok: tmp_path)
    nikolaou2016.mat_data.cache_clear()
    with pytest.raises(FileNotFoundError, match=r"new\.mat is not there\. Put their \.mat files"):
        nikolaou2016.mat_data("new.mat")
    (tmp_path / "nikolaou2016").mkdir()
    labels = np.array([[1], [2], [0]])
    savemat(tmp_path / "nikolaou2016" / "new.mat", {"data": np.eye(3), "labels": labels})
    X, y = nikolaou2016.mat_data("new.mat")
    assert X.shape == (3, 3) and y.tolist() == [1, 0, 0]


def test_table_and_figure():
    values = {
        (name, algorithm, setting, split, f"cost@{ratio:g}"): 0.1 * number + 0.01 * split
        for name in nikolaou2016.DATASETS[:2]
        for setting in (PLAIN, CALIBRATED)
        for number, algorithm in enumerate(METHODS)
        if (algorithm, setting) != ("AdaBoost", CALIBRATED)
        for split in (0, 1)
        for ratio in (0.1, 10)
    }
    summary = summarise(RANKS, rows_of_values(RANKS, values))
    table = RANKS.table(summary).set_index("variant")
    assert list(table.index) == list(METHODS)
    assert table.loc["CGAda", "cost, plain"] == pytest.approx(0.205)
    assert table.loc["CGAda", "rank, calibrated"] == 4.5  # AdaBoost, twice AdaMEC, twice CGAda
    assert np.isnan(table.loc["AdaBoost", "rank, calibrated"])
    figure = RANKS.figure(summary)
    assert [ax.get_title() for ax in figure.axes] == [PLAIN, CALIBRATED]
    pyplot.close(figure)
