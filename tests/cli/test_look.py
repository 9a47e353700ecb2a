"""Commands that look at models and files: explain, report, monitor, inspect, data."""

import re

import pandas as pd
import pytest

from cli.conftest import COSTS, SMALL, as_json, payments, run
from costboost.files import load


def test_explain_adds_up(world):
    found = as_json("explain", world.model, world.train, "--row", 18)
    assert found["base"] + sum(p["part"] for p in found["parts"]) == pytest.approx(found["saving"])
    costs = sorted(found["expected_cost"].values())
    assert found["saving"] == pytest.approx(costs[1] - costs[0])
    values = {part["feature"]: part["value"] for part in found["parts"]}
    assert values["amount"] == pd.read_csv(world.train)["amount"][16]


def test_report(world, tmp_path):
    pytest.importorskip("plotly")
    page = tmp_path / "report.html"
    found = as_json("report", world.model, world.held_out, "-o", page, "--unit", "CHF",
                    "--segment", "payment_id", "--segment", "amount", "--segment", "country",
                    "--segment", "when", "--time-column", "when")  # fmt: skip
    text = page.read_text()
    # Rows are counted as a spreadsheet does: the dearest mistake is found under its number.
    model, frame = load(world.model), pd.read_csv(world.held_out)
    decided = model.predict(frame.drop(columns="fraud"))
    missed = frame["amount"].where((frame["fraud"] == "yes") & (decided == "no"))
    assert f">{missed.idxmax() + 2}<" in text
    for name in ("report: fraud", "by payment_id", "by amount", "by country", "by when"):
        assert f"Cost {name}" in text
    # Of ids and dates, which are no numbers.
    assert len(set(re.findall(r"\d+ others", text))) == 1
    fitted = as_json("fit", world.train, *COSTS, *SMALL, "-o", tmp_path / "m.costboost")
    now = {rule["key"]: rule["cost"]["value"] for rule in found["ways_to_decide"]}
    for rule in fitted["held_out"]["ways_to_decide"]:
        assert now[rule["key"]] == pytest.approx(rule["cost"]["value"])


def test_monitor(world, tmp_path):
    bare, labelled = tmp_path / "bare.csv", tmp_path / "labelled.csv"
    frame = payments(300, 9)
    frame.drop(columns="fraud").to_csv(bare, index=False)
    frame.to_csv(labelled, index=False)
    found = as_json("monitor", world.model, bare, "--reference", world.held_out)
    assert found["realised_cost"] is None
    arguments = ("monitor", world.model, labelled, "--reference", world.held_out)
    found = as_json(*arguments)
    assert found["low"] < found["expected_cost"] < found["high"]
    realised = f"realised {found['realised_cost']:.4g}"
    assert realised in " ".join(run(*arguments).stdout.split())


def test_the_model_file_is_an_ordinary_one(world):
    found = as_json("inspect", world.model)
    assert (found["class"], found["classes"]) == ("CostBoostClassifier", ["no", "yes"])
    assert load(world.model).columns_.target == "fraud"
    text = run("inspect", world.model).stdout
    assert "constant: always CHF" in " ".join(text.split())
    assert "\n  deciding 'yes' when the truth is 'no' costs 5\n" in text
    assert not re.search(r"\d\.\d{7}", text)
    assert load(world.model).cost_matrix == {"fn": "amount+15", "fp": 5.0, "positive": "yes"}


def test_a_report_knows_the_rows_of_the_training(world, tmp_path):
    page = tmp_path / "report.html"
    arguments = ("report", world.model, world.train, "-o", page, "--force")
    said = " ".join(run(*arguments).stdout.split())
    assert "Cannot tell: the model was trained on" in said and "has not seen" not in said
    assert "Deploy it" not in page.read_text(encoding="utf-8").partition('id="comparison"')[0]
    found = as_json("report", world.model, world.held_out, "-o", page, "--force")
    assert found["doubts"] == [] and found["answer"] in found["verdict"].lower()
    model = tmp_path / "m.costboost"
    run("fit", world.train, *COSTS, *SMALL, "--forget-rows", "-o", model)
    found = as_json("report", model, world.train, "-o", page, "--force")
    assert found["doubts"] == []
