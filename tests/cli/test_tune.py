"""A search goes on where it stopped, and its estimate is honest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import COSTS, SMALL, World, run
from costboost.files import load

pytest.importorskip("optuna")


def tuned(world: World, folder: Path, trials: int, *more: object) -> dict[str, object]:
    result = run("tune", world.train, *COSTS, *SMALL, "--study", folder / "s.study", "--folds", 2,
                 "--trials", trials, "--json", *more)  # fmt: skip
    return dict(json.loads(result.stdout))


def test_a_search_goes_on(world: World, tmp_path: Path) -> None:
    first = tuned(world, tmp_path, 2)
    assert first["trials"] == 2
    more = tuned(world, tmp_path, 3, "-o", tmp_path / "m.costboost")
    assert more["trials"] == 3
    size = (tmp_path / "s.study").stat().st_size
    again = tuned(world, tmp_path, 3)
    assert again["best"] == more["best"]
    assert again["held_out"] == more["held_out"]
    assert (tmp_path / "s.study").stat().st_size - size < 2_000
    model = load(tmp_path / "m.costboost")
    for name, value in more["best"].items():  # type: ignore[attr-defined]
        assert getattr(model, name) == value
    said = run("tune", world.train, *COSTS[:-1], "fp=6", *SMALL, "--study", tmp_path / "s.study",
               "--folds", 2, "--trials", 3, code=2).stderr  # fmt: skip
    assert "holds trials of another question: costs differ" in " ".join(said.split())


def test_the_estimate_is_that_of_rows_the_search_has_not_seen(world: World, tmp_path: Path) -> None:
    """The held-out rows of `fit` with the best settings cost the same."""
    found = tuned(world, tmp_path, 1)
    settings = [x for k, v in found["best"].items() for x in ("--set", f"{k}={v!r}")]  # type: ignore[attr-defined]
    result = run("fit", world.train, *COSTS, *SMALL, *settings, "-o", tmp_path / "m.costboost",
                 "--json")  # fmt: skip
    plain = json.loads(result.stdout)["held_out"]["ways_to_decide"]
    rules = {rule["key"]: rule["cost"] for rule in found["held_out"]["ways_to_decide"]}  # type: ignore[index]
    for rule in plain:
        assert rules[rule["key"]] == rule["cost"]


def test_a_file_that_is_no_study(world: World, tmp_path: Path) -> None:
    (tmp_path / "s.study").write_text("hello")
    said = run("tune", world.train, *COSTS, "--study", tmp_path / "s.study", code=2).stderr
    assert "is not a study file" in said


def test_a_killed_search_goes_on_as_if_it_had_not_been(world: World, tmp_path: Path) -> None:
    """Half a line at the end, a trial that never ended, one that never began."""
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    whole = tuned(world, tmp_path / "a", 3)
    tuned(world, tmp_path / "b", 1)
    study = tmp_path / "b" / "s.study"
    study.write_bytes((tmp_path / "a" / "s.study").read_bytes()[:-1200])
    resumed = tuned(world, tmp_path / "b", 3)
    assert {**resumed, "study": 0} == {**whole, "study": 0}
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["s.study"]
