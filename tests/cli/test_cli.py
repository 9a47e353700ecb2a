"""The command line answers, and the demo's tables tell the truth."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

import costboost
from costboost import cli

runner = CliRunner()


def test_version() -> None:
    result = runner.invoke(cli.app, ["--version"])
    assert result.exit_code == 0
    assert result.output.strip() == f"costboost {costboost.__version__}"


def test_help_lists_the_commands() -> None:
    result = runner.invoke(cli.app, ["--help"])
    assert result.exit_code == 0
    assert "demo" in result.output


def test_bad_rows_are_refused() -> None:
    result = runner.invoke(cli.app, ["demo", "--rows", "3"])
    assert result.exit_code == 2
    assert "--rows" in re.sub(r"\x1b\[[0-9;]*m", "", result.output)


def test_quick_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    result = runner.invoke(cli.app, ["demo", "--quick"], catch_exceptions=False)
    assert result.exit_code == 0
    for text in ("Card fraud", "Breast cancer", "test cost", "savings", "seconds", "★"):
        assert text in result.output
    for method in cli._methods(1, 0):
        assert result.output.count(method.name) >= 2


def test_problems_measure_every_row_at_most_once() -> None:
    for problem in (cli._fraud(500, 0), cli._cancer(0, folds=3)):
        tested = np.concatenate([test for _, test in problem.folds])
        assert len(np.unique(tested)) == len(tested)
        for train, test in problem.folds:
            assert not np.intersect1d(train, test).size
        assert problem.costs.shape == (len(problem.y), 2, 2)
        assert set(np.unique(problem.y)) == {0, 1}


def test_cancer_charges_ten_for_a_missed_tumour() -> None:
    problem = cli._cancer(0, folds=2)
    assert problem.y.sum() == 212
    np.testing.assert_array_equal(problem.costs[0], [[0, 1], [10, 0]])


def outcome(name: str, decide: cli.Decide, problem: cli.Problem) -> cli.Outcome:
    return cli._run(cli.Method(name, decide, ours=False, uses_row_costs=False), problem)


def test_costs_and_savings_of_known_decisions() -> None:
    problem = cli._cancer(0, folds=2)
    perfect = outcome("perfect", lambda p, _, test: p.y[test], problem)
    constant = outcome("constant", lambda p, _, test: np.ones(len(test), int), problem)
    assert perfect.cost == 0
    assert perfect.savings == 1
    assert constant.cost == (problem.y == 0).sum()
    assert constant.savings == pytest.approx(0)


def test_best_row_is_marked_and_warnings_are_shown() -> None:
    problem = cli._cancer(0, folds=2)

    def careless(problem: cli.Problem, train: cli.Ints, test: cli.Ints) -> cli.Ints:
        warnings.warn("nothing learned", UserWarning, stacklevel=1)
        return np.zeros(len(test), int)

    results = [
        outcome("careless", careless, problem),
        outcome("perfect", lambda p, _, test: p.y[test], problem),
    ]
    console = Console(width=120)
    with console.capture() as capture:
        cli._report(console, problem, results)
    lines = capture.get().splitlines()
    (marked,) = [line for line in lines if "★" in line]
    assert "perfect" in marked
    assert "careless: nothing learned" in lines[-1]
    assert sum("nothing learned" in line for line in lines) == 1  # said once, not per fold
