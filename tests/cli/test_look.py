"""Commands that look at models and files: explain, report, monitor, inspect, data."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cli.conftest import COSTS, World, payments, run
from costboost.cli.failure import FOUND
from costboost.files import load


def test_explain_adds_up(world: World) -> None:
    found = json.loads(run("explain", world.model, world.train, "--row", 17, "--json").stdout)
    parts = sum(part["part"] for part in found["parts"])
    assert found["base"] + parts == pytest.approx(found["saving"])
    costs = sorted(found["expected_cost"].values())
    assert found["saving"] == pytest.approx(costs[1] - costs[0])
    row = pd.read_csv(world.train).iloc[16]
    values = {part["feature"]: part["value"] for part in found["parts"]}
    assert values["amount"] == row["amount"]
    text = run("explain", world.model, world.train, "--row", 17, "--top", 3).stdout
    assert f"Row 17: {found['decision']}." in text
    assert f"{len(found['parts']) - 3} other features" in text


def test_report(world: World, tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    page = tmp_path / "report.html"
    result = run("report", world.model, world.held_out, "-o", page, "--unit", "CHF", "--segment",
                 "country", "--time-column", "when", "--json")  # fmt: skip
    found = json.loads(result.stdout)
    text = page.read_text()
    assert "Cost report: fraud" in text
    assert "country" in text
    fitted = run("fit", world.train, *COSTS, "--set", "n_estimators=12", "--set", "ensemble=2",
                 "--set", "n_jobs=1", "-o", tmp_path / "m.costboost", "--json")  # fmt: skip
    ways = json.loads(fitted.stdout)["held_out"]["ways_to_decide"]
    now = {rule["key"]: rule["cost"]["value"] for rule in found["ways_to_decide"]}
    for rule in ways:
        assert now[rule["key"]] == pytest.approx(rule["cost"]["value"])


def test_monitor(world: World, tmp_path: Path) -> None:
    same, other = tmp_path / "same.csv", tmp_path / "other.csv"
    payments(300, 9).drop(columns="fraud").to_csv(same, index=False)
    changed = payments(300, 9)
    changed["merchant_risk"] += 0.3
    changed.to_csv(other, index=False)
    arguments = ("--reference", world.held_out, "--json")
    quiet = json.loads(run("monitor", world.model, same, *arguments).stdout)
    assert quiet["alarms"] == []
    assert quiet["realised_cost"] is None
    assert not [c for c in quiet["checks"] if c["name"].startswith("when")]
    loud = run("monitor", world.model, other, *arguments, code=FOUND)
    found = json.loads(loud.stdout)
    assert "merchant_risk" in found["alarms"]
    assert found["realised_cost"] is not None
    text = run("monitor", world.model, other, "--reference", world.held_out, code=FOUND).stdout
    assert "ALARM" in text


def test_inspect(world: World) -> None:
    found = json.loads(run("inspect", world.model, "--json").stdout)
    assert found["class"] == "CostBoostClassifier"
    assert found["table"]["target"] == "fraud"
    text = run("inspect", world.model).stdout
    assert "constant: always CHF" in " ".join(text.split())


def test_the_model_file_is_an_ordinary_one(world: World) -> None:
    import costboost.files

    model = load(world.model)
    assert costboost.files.inspect(world.model)["classes"] == ["no", "yes"]
    assert model.cost_matrix == {"fn": "amount+15", "fp": 5.0, "positive": "yes"}


def test_data_check(world: World, tmp_path: Path) -> None:
    text = run("data", "check", world.train, *COSTS).stdout
    assert "Ready for `costboost fit`" in text
    assert "deciding 'yes' when the truth is 'no' costs 5" in text
    found = run("data", "check", world.train, "--target", "fraud", "--json", code=FOUND)
    assert json.loads(found.stdout)["notes"] == ["No --cost is given: every mistake costs 1."]


def test_data_describe_a_file(world: World) -> None:
    found = json.loads(run("data", "describe", world.train, "--json").stdout)
    frame = pd.read_csv(world.train)
    columns = {column["column"]: column for column in found["columns"]}
    assert found["rows"] == len(frame)
    for name in ("country", "amount", "fraud"):
        assert columns[name]["missing"] == frame[name].isna().sum()
        assert columns[name]["distinct"] == frame[name].nunique()
    assert "constant" in columns["currency"]["remark"]
    assert "payment_id" in run("data", "describe", world.train).stdout


def test_data_list_without_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from costboost.datasets import files

    def nothing(*_: object) -> Path:
        raise FileNotFoundError("no folder")

    monkeypatch.setattr(files, "_folder", nothing)
    found = json.loads(run("data", "list", "--json").stdout)
    assert "adult" in found["sets"]


def test_data_sets(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COSTBOOST_DATA", str(data_dir))
    assert "german" in run("data", "list").stdout
    found = json.loads(run("data", "describe", "haberman", "--json").stdout)
    assert found["rows"] == 306
    assert sum(found["classes"].values()) == 306


def test_numbers_in_json_are_numbers(world: World) -> None:
    found = json.loads(run("explain", world.model, world.train, "--json").stdout)
    assert isinstance(found["saving"], float)
    assert np.isfinite(found["saving"])
