"""Comparisons are paired, their groups mean something, and a killed one goes on."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from cli.conftest import COSTS, World, run
from costboost import comparison
from costboost.cli.problem import folds


def test_compare(world: World, tmp_path: Path) -> None:
    plot = tmp_path / "plot.svg"
    result = run("compare", world.train, *COSTS, "--folds", 2, "--algorithm", "CostBoost",
                 "--algorithm", "AdaC2", "--algorithm", "MCBoost", "--set", "n_estimators=8",
                 "--set", "ensemble=1", "--set", "n_jobs=1", "--plot", plot,
                 "--json")  # fmt: skip
    found = json.loads(result.stdout)
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


def test_the_table_fits_a_terminal(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = run("compare", world.train, *COSTS, "--folds", 2, "--only-ours", "--algorithm",
               "MinCost", "-q").stdout  # fmt: skip
    assert "MinCost" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_killed_comparison_goes_on(world: World, tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "c"
    arguments = ("compare", world.train, *COSTS, "--folds", 2, "--algorithm", "AdaC2",
                 "--only-ours", "--set", "n_estimators=3", "--json")  # fmt: skip
    whole = run(*arguments).stdout
    check, calls = comparison.positions, []

    def counted(*given):
        calls.append(given)
        if len(calls) == 2:
            raise MemoryError("killed")
        return check(*given)

    monkeypatch.setattr(comparison, "positions", counted)
    run(*arguments, "--checkpoint", path, code=2)
    monkeypatch.setattr(comparison, "positions", check)
    for more, what in ((("--seed", 1), "seed"), (("--cost", "tp=1"), "costs")):
        said = " ".join(run(*arguments, *more, "--checkpoint", path, code=2).stderr.split())
        assert "of another question" in said
        assert what in said
        assert "Delete the file" in said
    kept = path.read_bytes()
    assert len(kept.splitlines()) == 2  # the kind of file, and a fold
    for part in (kept, kept[:-5], kept[:3], b""):  # also cut within a line
        path.write_bytes(part)
        assert run(*arguments, "--checkpoint", path).stdout == whole
        assert not path.exists()
    path.write_text('{"not": "yours"}')
    assert (
        "is not a file of costboost compare" in run(*arguments, "--checkpoint", path, code=2).stderr
    )
    assert path.read_text() == '{"not": "yours"}'
