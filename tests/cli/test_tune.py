"""A search goes on where it stopped, and its estimate is honest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import COSTS, SMALL, World, run
from costboost.files import load

pytest.importorskip("optuna")
FAST = (*COSTS, *SMALL, "--set", "effort=fast")


def tuned(world: World, folder: Path, trials: int, *more: object) -> Any:
    result = run("tune", world.train, *FAST, "--study", folder / "s.study", "--folds", 2,
                 "--trials", trials, "--json", *more)  # fmt: skip
    return json.loads(result.stdout)


def test_a_search_goes_on(world: World, tmp_path: Path) -> None:
    """Also after a kill: half a line at the end, a trial that never ended, one that never began."""
    study = tmp_path / "s.study"
    assert tuned(world, tmp_path, 2)["trials"] == 2
    whole = tuned(world, tmp_path, 3, "-o", tmp_path / "m.costboost")
    assert whole["trials"] == 3
    model = load(tmp_path / "m.costboost")
    for name, value in whole["best"].items():
        assert getattr(model, name) == value
    study.write_bytes(study.read_bytes()[:-100])
    resumed = tuned(world, tmp_path, 3)
    assert {**resumed, "model": 0} == {**whole, "model": 0}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.costboost", "s.study"]
    study.write_text('{"not": "yours"}')
    said = run("tune", world.train, *COSTS, "--study", study, code=2).stderr
    assert "is not a file of costboost tune" in said
    assert study.read_text() == '{"not": "yours"}'


def test_what_is_found_can_be_typed_as_options(world: World, tmp_path: Path) -> None:
    study = tmp_path / "s.study"
    few = ("--algorithm", "AdaC2", "--set", "n_estimators=3", "--folds", 2, "--trials", 1)
    text = run("tune", world.train, *COSTS, *few, "--study", study).stdout
    assert "Best settings of 1 trials" in text and "--set max_leaves=8" in text
    assert "calibration" not in study.read_text()


def test_the_estimate_is_that_of_rows_the_search_has_not_seen(world: World, tmp_path: Path) -> None:
    """The held-out rows of `fit` with the best settings cost the same."""
    found = tuned(world, tmp_path, 1)
    settings = [x for k, v in found["best"].items() for x in ("--set", f"{k}={v!r}")]
    result = run("fit", world.train, *FAST, *settings, "-o", tmp_path / "m.costboost",
                 "--json")  # fmt: skip
    rules = {rule["key"]: rule["cost"] for rule in found["held_out"]["ways_to_decide"]}
    for rule in json.loads(result.stdout)["held_out"]["ways_to_decide"]:
        assert rules[rule["key"]] == rule["cost"]
