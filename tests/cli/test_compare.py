"""Comparisons are paired, their groups mean something, and a killed one goes on."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from cli.conftest import COSTS, World, run
from costboost.cli import compare
from costboost.cli.compare import rank
from costboost.cli.problem import LabelledRows, folds


def test_intervals_are_paired_and_widened() -> None:
    rng = np.random.default_rng(0)
    shared = rng.exponential(100, 400)  # what all ways pay alike does not widen the intervals
    paid = {"a": shared, "b": shared + rng.normal(1, 1, 400), "c": shared + rng.normal(0.1, 1, 400)}
    first, *_ = standings = rank(paid)
    found = {one.name: one for one in standings}
    gap = paid["b"] - paid[first.name]
    half = norm.ppf(1 - 0.05 / 2 / 2) * np.sqrt(400) * gap.std(ddof=1)
    assert found["b"].more == pytest.approx(gap.sum())
    assert found["b"].high == pytest.approx(gap.sum() + half)
    assert [found[name].group for name in "abc"] == [1, 2, 1]
    (one,) = rank({"a": np.ones(10)})
    assert (one.cost, one.more, one.group) == (10.0, 0.0, 1)


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
    for train, test in folds(LabelledRows(frame, frame["fraud"].to_numpy(str)), 2, 0):
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
    check, calls = compare.check_codes, []

    def counted(codes, n, d):
        calls.append(n)
        if len(calls) == 2:
            raise MemoryError("killed")
        return check(codes, n, d)

    monkeypatch.setattr(compare, "check_codes", counted)
    run(*arguments, "--checkpoint", path, code=2)
    said = " ".join(run(*arguments, "--seed", 1, "--checkpoint", path, code=2).stderr.split())
    assert "of another fit: other seed. Delete the file" in said
    monkeypatch.setattr(compare, "check_codes", check)
    kept = path.read_bytes()
    assert len(kept.splitlines()) == 3  # the question, and two folds
    for part in (kept, kept[:-5], kept[:3], b""):  # also cut within a line
        path.write_bytes(part)
        assert run(*arguments, "--checkpoint", path).stdout == whole
        assert not path.exists()
    path.write_text('{"not": "yours"}')
    assert "is not a checkpoint" in run(*arguments, "--checkpoint", path, code=2).stderr
    assert path.read_text() == '{"not": "yours"}'
