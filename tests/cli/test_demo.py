"""The demo's tables tell the truth."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from costboost.cli import app, demo, demo_report

runner = CliRunner()


def test_bad_rows_are_refused() -> None:
    result = runner.invoke(app, ["demo", "--rows", "3"])
    assert result.exit_code == 2
    assert "--rows" in re.sub(r"\x1b\[[0-9;]*m", "", result.output)


def test_quick_demo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    page = tmp_path / "demo.html"
    result = runner.invoke(app, ["demo", "--quick", "--report", str(page)], catch_exceptions=False)
    assert result.exit_code == 0
    assert "which payments to stop" in page.read_text("utf-8")
    for text in ("Card fraud", "Breast cancer", "test cost", "savings", "seconds", "★"):
        assert text in result.output
    for method in demo._methods(1, 0):
        assert result.output.count(method.name) >= 2


def test_problems_measure_every_row_at_most_once() -> None:
    for problem in (demo._fraud(500, 0), demo._cancer(0, folds=3)):
        tested = np.concatenate([test for _, test in problem.folds])
        assert len(np.unique(tested)) == len(tested)
        for train, test in problem.folds:
            assert not np.intersect1d(train, test).size
        assert problem.costs.shape == (len(problem.y), 2, 2)
        assert set(np.unique(problem.y)) == {0, 1}


def test_cancer_charges_ten_for_a_missed_tumour() -> None:
    problem = demo._cancer(0, folds=2)
    assert problem.y.sum() == 212
    np.testing.assert_array_equal(problem.costs[0], [[0, 1], [10, 0]])


def outcome(name: str, decide: demo.Decide, problem: demo.Problem) -> demo.Outcome:
    return demo._run(demo.Method(name, decide, ours=False, uses_row_costs=False), problem)


def test_costs_and_savings_of_known_decisions() -> None:
    problem = demo._cancer(0, folds=2)
    perfect = outcome("perfect", lambda p, _, test: p.y[test], problem)
    constant = outcome("constant", lambda p, _, test: np.ones(len(test), int), problem)
    assert perfect.cost == 0
    assert perfect.savings == 1
    assert constant.cost == (problem.y == 0).sum()
    assert constant.savings == pytest.approx(0)


def test_best_row_is_marked_and_warnings_are_shown() -> None:
    problem = demo._cancer(0, folds=2)

    def careless(problem: demo.Problem, train: demo.Ints, test: demo.Ints) -> demo.Ints:
        warnings.warn("nothing learned", UserWarning, stacklevel=1)
        return np.zeros(len(test), int)

    results = [
        outcome("careless", careless, problem),
        outcome("perfect", lambda p, _, test: p.y[test], problem),
    ]
    console = Console(width=120)
    with console.capture() as capture:
        demo._report(console, problem, results)
    lines = capture.get().splitlines()
    (marked,) = [line for line in lines if "★" in line]
    assert "perfect" in marked
    assert "careless: nothing learned" in lines[-1]
    assert sum("nothing learned" in line for line in lines) == 1  # said once, not per fold


def test_without_plotly_the_remedy_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_report, "find_spec", lambda name: None)
    console = Console(record=True, width=100)
    assert demo_report.write_demo_report(console, None, Path("page.html"), 0, 1) is None
    assert 'pip install "costboost[report]"' in console.export_text()
