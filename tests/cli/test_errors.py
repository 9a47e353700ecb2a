"""What goes wrong is said in one message with a remedy; nothing is half-written."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from cli.conftest import COSTS, SMALL, World, run


def fails(*arguments: object, input: bytes | None = None) -> str:
    result = run(*arguments, code=2, input=input)
    assert not result.stdout.strip()
    assert result.stderr.startswith("Error: ")
    return " ".join(result.stderr.split())


FIT_ERRORS = {
    "unknown target": (
        ["--target", "frud"],
        "no column 'frud' (--target). The nearest names: 'fraud'",
    ),
    "unknown excluded column": (
        [*COSTS, "--exclude", "amounts"],
        "no column 'amounts' (--exclude). The nearest names: 'amount'",
    ),
    "unknown column in a cost": (
        ["--target", "fraud", "--positive", "yes", "--cost", "fn=amoun+15", "--cost", "fp=5"],
        "no column 'amoun' (the cost 'fn=amoun+15' names it). The nearest names: 'amount'",
    ),
    "a cost that is text": (
        ["--target", "fraud", "--positive", "yes", "--cost", "fn=high", "--cost", "fp=5"],
        "no column 'high' (the cost 'fn=high' names it)",
    ),
    "a cost over a column of text": (
        ["--target", "fraud", "--positive", "yes", "--cost", "fn=country*2", "--cost", "fp=5"],
        "calculates with the column 'country', which holds text",
    ),
    "a cost that is no expression": (
        ["--target", "fraud", "--positive", "yes", "--cost", "fn=amount+", "--cost", "fp=5"],
        "must be a number or arithmetic over columns",
    ),
    "code is no expression": (
        ["--target", "fraud", "--positive", "yes", "--cost", "fn=__import__('os')", "--cost",
         "fp=5"],
        "must be a number or arithmetic over columns",
    ),
    "an entry that is none": (
        ["--target", "fraud", "--positive", "yes", "--cost", "miss=5"],
        "must be fn, fp, tp or tn, or truth:decision",
    ),
    "an entry twice": (
        ["--target", "fraud", "--positive", "yes", "--cost", "fn=5", "--cost", "fn=6"],
        "is given twice",
    ),
    "no positive class": (
        ["--target", "fraud", "--cost", "fn=5", "--cost", "fp=6"],
        "--positive must say which class is the one to find",
    ),
    "a positive class that is none": (
        ["--target", "fraud", "--positive", "ja", "--cost", "fn=5", "--cost", "fp=6"],
        "--positive must be a class of the target 'fraud', no or yes, got 'ja'",
    ),
    "half of the costs": (
        ["--target", "fraud", "--positive", "yes", "--cost", "fn=5"],
        "--cost fp=... is missing. What does it cost to decide 'yes' when the truth is 'no'?",
    ),
    "a class without costs": (
        ["--target", "fraud", "--cost", "yes:no=5", "--cost", "yes:review=4"],
        "The costs say nothing about the class 'no'",
    ),
    "fn with many classes": (
        ["--target", "country", "--cost", "fn=5", "--cost", "fp=4"],
        "fn, fp, tp and tn are for two classes; the target 'country' has 3: CH, DE, FR",
    ),
    "a target with one class": (
        ["--target", "currency"],
        "the target 'currency' has one class, 'CHF', on all 700 rows",
    ),
    "a target of numbers": (
        ["--target", "amount"],
        "A target has a few classes",
    ),
    "unknown algorithm": (
        [*COSTS, "--algorithm", "AdaC4"],
        "Did you mean AdaC",
    ),
    "unknown parameter": (
        [*COSTS, "--set", "n_estimator=4"],
        "has no parameter 'n_estimator'. Did you mean n_estimators?",
    ),
    "a parameter of the wrong kind": (
        [*COSTS, "--set", "n_estimators=many"],
        "The 'n_estimators' parameter of CostBoostClassifier",
    ),
    "a setting that is none": ([*COSTS, "--set", "n_estimators"], "must be name=value"),
    "half of the cost columns excluded": (
        ["--target", "fraud", "--positive", "yes", "--cost", "fn=amount+hour", "--cost", "fp=5",
         "--exclude", "hour"],
        "exclude all of them or none",
    ),
    "a time column of words": (
        [*COSTS, "--time-column", "country"],
        "must hold dates such as",
    ),
    "a wrong delimiter": ([*COSTS, "--delimiter", ";"], "It looks like comma"),
}  # fmt: skip


@pytest.mark.parametrize("case", FIT_ERRORS)
def test_fit(world: World, tmp_path: Path, case: str) -> None:
    arguments, message = FIT_ERRORS[case]
    settings = [] if "--set" in arguments else SMALL
    said = fails("fit", world.train, *arguments, *settings, "-o", tmp_path / "m.costboost", "-q")
    assert message in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["fit", "compare", "tune"])
def test_the_commands_share_their_messages(world: World, tmp_path: Path, command: str) -> None:
    more = ["--study", tmp_path / "s.study"] if command == "tune" else []
    if command == "tune":
        pytest.importorskip("optuna")
    assert "The nearest names: 'fraud'" in fails(command, world.train, "--target", "Fraude", *more)
    assert not list(tmp_path.iterdir())


def test_empty_and_missing_files(world: World, tmp_path: Path) -> None:
    empty = tmp_path / "empty.csv"
    empty.touch()
    assert "is empty" in fails("fit", empty, *COSTS)
    empty.write_text("amount,fraud\n")
    assert "has column names but no rows" in fails("fit", empty, *COSTS)
    assert "There is no file" in fails("fit", tmp_path / "none.csv", *COSTS)
    assert "standard input is empty" in fails("fit", "-", *COSTS, input=b"")


def test_unlabelled_rows_are_left_out_and_said(world: World, tmp_path: Path) -> None:
    frame = pd.read_csv(world.train)
    frame.loc[:9, "fraud"] = None
    frame.to_csv(tmp_path / "rows.csv", index=False)
    said = run("fit", tmp_path / "rows.csv", *COSTS, *SMALL, "-o", tmp_path / "m.costboost").stdout
    assert "10 rows without a value for fraud are left out" in said


def test_a_column_that_tells_the_target_is_said(world: World, tmp_path: Path) -> None:
    frame = pd.read_csv(world.train)
    frame["refund"] = (frame["fraud"] == "yes") * 1
    frame.to_csv(tmp_path / "rows.csv", index=False)
    said = run("fit", tmp_path / "rows.csv", *COSTS, *SMALL, "-o", tmp_path / "m.costboost").stdout
    assert "--exclude refund" in " ".join(said.split())


def test_places_to_write_are_checked_before_the_work(world: World, tmp_path: Path) -> None:
    assert "does not exist" in fails(
        "fit", world.train, *COSTS, "-o", tmp_path / "no" / "m.costboost"
    )
    assert "is a folder" in fails("fit", world.train, *COSTS, "-o", tmp_path)
    said = fails("predict", world.model, world.train, "-o", tmp_path / "out.xlsx")
    assert "must say how to write it" in said
    assert not list(tmp_path.iterdir())


def test_predict(world: World, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    frame = pd.read_csv(world.train)
    file = tmp_path / "rows.csv"

    frame.drop(columns=["hour"]).to_csv(file, index=False)
    assert "no column 'hour' (the model needs it)" in fails("predict", world.model, file, "-o", out)
    frame.drop(columns=["hour", "amount"]).to_csv(file, index=False)
    assert "lacks 2 columns" in fails("predict", world.model, file, "-o", out)

    frame.astype({"hour": object}).assign(hour="noon").to_csv(file, index=False)
    said = fails("predict", world.model, file, "-o", out)
    assert "'hour' must hold numbers, as in training, got 'noon' on row 1" in said

    frame.assign(decision="mine").to_csv(file, index=False)
    said = fails("predict", world.model, file, "-o", out)
    assert "has a column 'decision' already" in said
    run("predict", world.model, file, "-o", out, "--prefix", "model_")
    assert "model_decision" in pd.read_csv(out)
    out.unlink()

    for arguments, message in (
        (["--capacity", "block=3"], "must name a decision of the model: no, yes"),
        (["--capacity", "yes=some"], "must be a number of rows (200) or a share"),
        (["--capacity", "yes=1.5"], "a share from 0 to 1"),
        (["--per", "day"], "--per needs --capacity"),
        (["--capacity", "yes=2", "--per", "day"], "add --time-column, such as --time-column when"),
        (["--capacity", "yes=2", "--per", "shops"], "The nearest names: 'shop'"),
        (["--keep", "paymentid"], "The nearest names: 'payment_id'"),
    ):
        assert message in fails("predict", world.model, world.train, "-o", out, *arguments)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.csv"]


def test_a_bad_row_in_a_late_batch_writes_nothing(world: World, tmp_path: Path) -> None:
    frame = pd.read_csv(world.train).astype({"hour": object})
    frame.loc[650, "hour"] = "noon"
    frame.to_csv(tmp_path / "rows.csv", index=False)
    out = tmp_path / "out.csv"
    said = fails("predict", world.model, tmp_path / "rows.csv", "-o", out, "--batch-rows", 50)
    assert "got 'noon'" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.csv"]


def test_model_files(world: World, tmp_path: Path) -> None:
    assert "There is no model file" in fails("predict", tmp_path / "none", world.train)
    broken = tmp_path / "broken.costboost"
    broken.write_bytes(world.model.read_bytes()[:-50])
    for command in (("predict", broken, world.train), ("inspect", broken)):
        assert "broken.costboost" in fails(*command)


def test_models_saved_from_python_say_what_they_lack(world: World, tmp_path: Path) -> None:
    from costboost.files import load, save

    path = save(load(world.model), tmp_path / "python.costboost")
    assert "was saved from Python" in fails("predict", path, world.train)
    run("inspect", path)


def test_explain_and_monitor(world: World, tmp_path: Path) -> None:
    said = fails("explain", world.model, world.train, "--row", 701)
    assert "has 700 rows, so there is no row 701" in said
    frame = pd.read_csv(world.train).drop(columns=["fraud"])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    said = fails("report", world.model, tmp_path / "rows.csv", "-o", tmp_path / "r.html")
    assert "no column 'fraud' (the truth)" in said
    assert not (tmp_path / "r.html").exists()
    run("monitor", world.model, world.train, code=2)


def test_serve_names_what_to_install(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from costboost.columns import files

    monkeypatch.setattr(files, "find_spec", lambda name: None)
    said = run("serve", world.model, code=2).stderr
    assert 'pip install "costboost[serve]"' in " ".join(said.split())


def test_traceback_on_request(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from costboost.cli import app
    from costboost.columns import TableError

    monkeypatch.setenv("COSTBOOST_TRACEBACK", "1")
    result = CliRunner().invoke(app, ["fit", str(world.train), "--target", "frud"])
    assert isinstance(result.exception, TableError)
