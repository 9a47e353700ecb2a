"""Comparisons and searches: paired, on rows not seen, and a killed one goes on; the demo."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import train_test_split

from cli.conftest import COSTS, as_json, run, words
from costboost.cli import demo
from costboost.cli.problem import folds
from costboost.columns import TableError
from costboost.datasets import make_fraud


@pytest.mark.slow
def test_compare(world, tmp_path):
    plot = tmp_path / "plot.svg"
    ours = [x for name in ("CostBoost", "AdaC2", "MCBoost") for x in ("--algorithm", name)]
    few = ("--folds", 2, "--set", "n_estimators=8", "--set", "effort=fast", "--set", "n_jobs=1")
    found = as_json("compare", world.train, *COSTS, *ours, *few, "--plot", plot)
    costs = {one["name"]: one["cost"] for one in found["standings"]}
    assert {"CostBoost", "LightGBM, calibrated", "LightGBM, cost weights"} <= set(costs)
    assert {"AdaC2", "MCBoost"} <= {*costs, *found["left_out"]}
    assert found["rows"] == 700
    assert plot.stat().st_size > 1000
    # Out of fold, always `no` or always `yes`: the cheaper one on the training rows.
    frame = pd.read_csv(world.train)
    is_fraud = frame["fraud"] == "yes"
    always = {"no": ((frame["amount"] + 15) * is_fraud), "yes": 5.0 * ~is_fraud}
    total = 0.0
    rows = SimpleNamespace(X=frame, y=frame["fraud"].to_numpy(str), time=None, groups=None)
    for train, test in folds(rows, 2, 0):
        best = min(always, key=lambda name: always[name].iloc[train].sum())
        total += float(always[best].iloc[test].sum())
    assert costs["best constant decision"] == pytest.approx(total)


def test_folds_go_forward_in_time_and_keep_groups_together():
    time, groups = np.arange(30.0)[::-1], np.arange(30) % 7
    rows = SimpleNamespace(X=np.ones((30, 1)), y=np.arange(30) % 2, time=time, groups=groups)
    for train, test in folds(rows, 3, 0):
        assert time[train].max() < time[test].min()
    rows.time = None
    for train, test in folds(rows, 3, 0):
        assert not set(groups[train]) & set(groups[test])
    rows.groups, rows.y = None, np.array([1, 1, *[0] * 28])
    with pytest.raises(TableError, match="rarest class has 2 rows, too few for 3 folds"):
        folds(rows, 3, 0)


def test_a_warning_is_a_line_of_the_command(world):
    few = ("--only-ours", "--algorithm", "AdaC2", "--set", "n_estimators=2", "--folds", 2)
    costs = ("--target", "fraud", "--positive", "yes", "--cost", "fn=-30", "--cost", "fp=5")
    result = run("compare", world.train, *costs, *few)
    assert "Warning: " in result.stdout and "without the minus sign" in words(result.stdout)
    assert not result.stderr


@pytest.mark.slow
def test_demo(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "80")
    page = tmp_path / "demo.html"
    text = run("demo", "--rows", 1000, "--report", page).stdout
    assert max(map(len, text.splitlines())) <= max(80, 40 + len(str(page)))
    assert "which payments to stop" in page.read_text("utf-8")
    for word in ("Card fraud", "CostBoost", "MinCost", "per 1,000 rows"):
        assert word in text
    data, rows = make_fraud(1000, random_state=2026), np.arange(1000)
    train, test = train_test_split(rows, test_size=0.5, stratify=data.y, random_state=2026)
    paid = data.costs[rows, data.y]
    total = paid[test, paid[train].sum(axis=0).argmin()].sum()
    assert re.search(rf"best constant decision +│ +{total:,.0f} ", text)
    assert "--rows" in re.sub(r"\x1b\[[0-9;]*m", "", run("demo", "--rows", 3, code=2).output)
    monkeypatch.setattr(demo, "usual_methods", lambda *_: {})
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    text = run("demo", "--rows", 500, "--report", tmp_path / "none.html").output
    assert 'pip install "costboost[cli]"' in text
