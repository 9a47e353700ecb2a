"""The demo's table tells the truth."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from cli.conftest import run
from costboost.cli import compare
from costboost.metrics import savings_score, total_cost


def test_bad_rows_are_refused() -> None:
    assert "--rows" in re.sub(r"\x1b\[[0-9;]*m", "", run("demo", "--rows", 3, code=2).output)


def test_demo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = tmp_path / "demo.html"
    text = run("demo", "--rows", 1000, "--report", page).output
    assert "which payments to stop" in page.read_text("utf-8")
    for word in ("Card fraud", "CostBoost", "MinCost", "best constant decision", "per 1,000 rows"):
        assert word in text
    monkeypatch.setattr(compare, "find_spec", lambda name: None)
    text = run("demo", "--rows", 500, "--report", tmp_path / "none.html").output
    assert 'pip install "costboost[report]"' in text


def test_costs_and_savings_are_those_of_the_metrics() -> None:
    problem = compare._fraud(600, 0)
    costs = np.zeros((600, 2, 2))
    costs[:, :, 1], costs[:, 1, 0] = 5, problem.X["amount"]
    decided = np.arange(300) % 2
    pair = np.arange(600).reshape(2, -1)
    found = compare._compared(problem, {"careless": lambda fold: decided}, [pair], 0)
    truth, paid = problem.y[300:], found.paid()["careless"].sum()
    assert paid == pytest.approx(total_cost(truth, decided, costs=costs[300:]))
    assert found.standings()[0].savings == savings_score(truth, decided, costs=costs[300:])
