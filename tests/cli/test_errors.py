"""What goes wrong is said in one message with a remedy; nothing is half-written."""

import shlex

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from cli.conftest import COSTS, SMALL, fails, run, words
from costboost import AdaC2Classifier
from costboost.cli import app
from costboost.cli.failure import FOUND
from costboost.columns import TableError, files
from costboost.files import load, save

FRAUD = "--target fraud --positive yes"
GOOD = f"{FRAUD} --cost fn=amount+15 --cost fp=5"
FIT_ERRORS = {
    "--target frud": "no column 'frud' (--target). The nearest names: 'fraud'",
    f"{GOOD} --exclude amounts": "'amounts' (--exclude). The nearest names: 'amount'",
    f"{FRAUD} --cost fn=amoun+15 --cost fp=5": "no column 'amoun' (the costs name it)",
    f"{FRAUD} --cost fn=country*2 --cost fp=5": "'country*2': the column 'country' must hold",
    f"{GOOD} --column shop": "must be NAME=VALUE",
    f"{GOOD} --column fraud=category": "'fraud' is the target, and nothing else (--column)",
    f"{FRAUD} --cost miss=5": "must be fn, fp, tp or tn, or truth:decision",
    "--target fraud --cost fn=5 --cost fp=6": "--positive must say which class is the one to find",
    "--target fraud --positive ja --cost fn=5 --cost fp=6": "no or yes, got 'ja'",
    f"{FRAUD} --cost fn=5": "must give both 'fn' (the price of a miss) and 'fp'",
    "--target currency": "the target 'currency' has one class, 'CHF', on all 700 rows",
    "--target amount": "A target has a few classes",
    f"{GOOD} --algorithm AdaC4": "Did you mean AdaC",
    f"{GOOD} --algorithm LightGBM": "--algorithm MinCost decides at the least expected cost",
    f"{GOOD} --column country=number": "--column says that 'country' is 'number'",
    f"{GOOD} --set n_estimator=4": "has no parameter 'n_estimator'. Did you mean n_estimators?",
    f"{GOOD} --set verbose=1": "other options of the command set it",
    f"{GOOD} --set n_estimators=many": "The 'n_estimators' parameter of CostBoostClassifier",
    f"{FRAUD} --cost fn=amount+hour --cost fp=5 --exclude hour": "exclude all of them or none",
    f"{GOOD} --algorithm AdaC2 --exclude amount": "takes every column as a feature",
    f"{GOOD} --time-column country": "must hold dates such as",
    f"{GOOD} --time-column when --test-size 0.001": "Use a larger --test-size",
    f"{GOOD} --separator ;": "Its columns: payment_id,amount",
}


@pytest.mark.parametrize("arguments", FIT_ERRORS)
def test_fit(world, tmp_path, arguments):
    said = fails("fit", world.train, *shlex.split(arguments), "-o", tmp_path / "m.costboost", "-q")
    assert FIT_ERRORS[arguments] in said
    assert not list(tmp_path.iterdir())


def test_what_is_odd_is_said(world, tmp_path):
    frame, rows = pd.read_csv(world.train), tmp_path / "rows.csv"
    frame["refund"] = (frame["fraud"] == "yes") * 1
    frame.loc[:9, "fraud"] = None
    frame.to_csv(rows, index=False)
    fit = run("fit", rows, *COSTS, *SMALL, "-o", tmp_path / "m.costboost").stdout
    for said in (fit, run("data", "check", rows, *COSTS, code=FOUND).stdout):
        assert "10 rows without a value for fraud are left out" in words(said)
        assert "'refund' of X tells the class of every row" in words(said)
    assert "Cannot tell: column refund alone tells the class" in words(fit)
    assert "--exclude COLUMN" in words(fit) and "The model pays" not in words(fit)
    for costs, said in {
        "--cost fn=0.00 --cost fp=5": "--cost fn=0: this mistake costs nothing. Is that meant?",
        "--cost yes:no=9 --cost no:yes=0": "--cost no:yes=0: this mistake costs nothing",
        "--cost fn=-amount --cost fp=5": "costs without the minus sign",
        "--cost fn=3 --cost fp=amount": "A miss (fn) costs less than a false alarm (fp), 3 against",
    }.items():
        given = (*FRAUD.split(), *costs.split())
        assert said in words(run("data", "check", world.train, *given, code=FOUND).stdout)


def test_a_missing_cost_names_column_row_and_remedy(world, tmp_path):
    file, frame = tmp_path / "rows.csv", pd.read_csv(world.train)
    frame.loc[2, "fraud"] = None
    frame.loc[[60, 61], "amount"] = None
    frame.to_csv(file, index=False)
    message = (
        f"needs the column 'amount', which is missing on {{}} of {file}, first on row {{}}. "
        "Say what a missing value counts as, coalesce(amount, 100), or leave those rows out."
    )
    for command in (["fit", "-o", tmp_path / "m.costboost"], ["data", "check"]):
        assert message.format("2 rows", 62) in fails(*command, file, *COSTS)
    said = fails("predict", world.model, file, "-o", tmp_path / "out.csv", "--batch-rows", 61)
    assert message.format("1 row", 62) in said
    assert "--missing-cost mean decides such rows by the mean costs of the training rows." in said
    filled = [x.replace("amount", "coalesce(amount, 100)") for x in COSTS]
    run("data", "check", file, *filled, code=FOUND)  # a row without a target is a remark


@pytest.mark.parametrize("more", [(), ("--capacity", "yes=40"), ("--explain", 1)])
def test_rows_without_a_cost_can_be_decided_by_mean_costs(world, tmp_path, more):
    file, out, frame = tmp_path / "rows.csv", tmp_path / "out.csv", pd.read_csv(world.train)
    lacking = np.arange(len(frame)) % 7 == 3
    frame.loc[lacking, "amount"] = None
    frame.to_csv(file, index=False)
    said = run("predict", world.model, file, "-o", out, "--missing-cost", "mean", *more).stderr
    assert f"{lacking.sum()} rows lack a value in a column of the costs" in words(said)
    decided, model = pd.read_csv(out), load(world.model)
    costs = np.repeat(model.cost_matrix_[None], len(frame), axis=0)
    costs[~lacking, 1, 0] = frame["amount"][~lacking] + 15  # classes: no, yes
    expected = model.predict_cost(frame.drop(columns="fraud"), costs=costs)
    np.testing.assert_allclose(decided[["expected_cost_no", "expected_cost_yes"]], expected)
    if "--capacity" not in more:
        assert decided["decision"].tolist() == model.decisions_[expected.argmin(axis=1)].tolist()


def test_rows_that_cannot_be_decided(world, tmp_path):
    """The bad row is the first of a late batch: the rows before it are not written either."""
    file, frame = tmp_path / "rows.csv", pd.read_csv(world.train)
    late = frame.astype({"hour": object})
    late.loc[650, "hour"] = "noon"
    for message, rows in {
        "lacks the column 'hour', which the model needs. Is it 'hours'?": frame.rename(
            columns={"hour": "hours"}
        ),
        "'hour' must hold numbers, got 'noon' (row 652)": late,
        "column 'hour', row 62. Correct": frame.assign(hour=[*[1.0] * 60, np.inf, *[1.0] * 639]),
        "has a column 'decision' already": frame.assign(decision="mine"),
    }.items():
        rows.to_csv(file, index=False)
        for name in ("out.csv", "out.parquet"):
            out = ("-o", tmp_path / name, "--batch-rows", 50)
            assert message in fails("predict", world.model, file, *out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.csv"]
    run("predict", world.model, file, "-o", tmp_path / "out.csv", "--prefix", "model_")
    assert "model_decision" in pd.read_csv(tmp_path / "out.csv")


OTHER_ERRORS = {
    "predict MODEL TRAIN -o NEW --capacity block=3": "name a decision of the model, no, yes, and",
    "predict MODEL TRAIN -o NEW --capacity yes=some": "a whole number of rows (200), or a share",
    "predict MODEL TRAIN -o NEW --capacity yes=1.5": "a share from 0 to 1",
    "predict MODEL TRAIN -o NEW --missing-cost median": "must be error or mean, got 'median'",
    "predict MODEL TRAIN -o NEW --per day": "--per needs --capacity",
    "predict MODEL TRAIN -o NEW --capacity yes=2 --per day": "such as --time-column when",
    "predict MODEL TRAIN -o NEW --capacity yes=2 --per day --time-column hour": "must hold dates",
    "predict MODEL TRAIN -o NEW --capacity yes=2 --per shops": "The nearest names: 'shop'",
    "predict MODEL TRAIN -o NEW --keep paymentid": "The nearest names: 'payment_id'",
    "predict MODEL TRAIN -o NEW.xlsx": "must say how to write it",
    "predict NEW TRAIN": "There is no model file",
    f"fit TRAIN {GOOD} -o NEW/m.costboost": "does not exist",
    f"fit TRAIN {GOOD} -o .": "is a folder",
    "explain MODEL TRAIN --row 702": "the last of them is row 701, so there is no row 702",
    "explain MODEL TRAIN --row 1": "is its header; its first row is --row 2",
    "report MODEL BLIND -o NEW": "no column 'fraud' (the truth)",
}


EXISTING = {
    f"fit TRAIN {GOOD} --exclude amounts": "The nearest names: 'amount'",
    f"fit TRAIN {GOOD} --algorithm LightGBM": "--algorithm MinCost",
    f"fit TRAIN {GOOD} --set n_estimator=4": "Did you mean n_estimators?",
    f"fit TRAIN {GOOD}": "fraud.costboost exists",
    f"compare TRAIN {GOOD} --algorithm AdaC4 --plot OLD.png": "Did you mean AdaC",
    "predict MODEL TRAIN -o OLD.csv --capacity block=3": "name a decision of the model",
    "predict MODEL TRAIN -o OLD.csv --keep paymentid": "The nearest names: 'payment_id'",
    "predict MODEL BLIND -o OLD.csv": "Is it 'amounts'?",
    "report MODEL TRAIN -o OLD.html --segment amounts": "The nearest names: 'amount'",
}


@pytest.mark.parametrize(("asked", "said"), EXISTING.items())
def test_the_request_is_checked_before_files_that_exist(world, tmp_path, monkeypatch, asked, said):
    monkeypatch.chdir(tmp_path)
    frame = pd.read_csv(world.train).rename(columns={"amount": "amounts"})
    frame.to_csv("blind.csv", index=False)
    old = ["OLD.csv", "OLD.html", "OLD.png", "fraud.costboost"]
    for name in old:
        (tmp_path / name).write_text("old")
    for name, path in (("MODEL", world.model), ("TRAIN", world.train), ("BLIND", "blind.csv")):
        asked = asked.replace(name, str(path))
    assert said in fails(*shlex.split(asked))
    assert all((tmp_path / name).read_text() == "old" for name in old)


@pytest.mark.parametrize(("asked", "said"), OTHER_ERRORS.items())
def test_other_commands(world, tmp_path, asked, said):
    blind, new = tmp_path / "blind.csv", tmp_path / "new.csv"
    pd.read_csv(world.train).drop(columns="fraud").to_csv(blind, index=False)
    for name, path in (
        ("MODEL", world.model), ("TRAIN", world.train), ("BLIND", blind), ("NEW", new)
    ):  # fmt: skip
        asked = asked.replace(name, str(path))
    assert said in fails(*shlex.split(asked))
    assert list(tmp_path.iterdir()) == [blind]


def test_model_files(world, tmp_path):
    broken = tmp_path / "broken.costboost"
    broken.write_bytes(world.model.read_bytes()[:-50])
    for command in (("predict", broken, world.train), ("inspect", broken)):
        assert "broken.costboost" in fails(*command)
    path = save(load(world.model), tmp_path / "python.costboost")
    run("predict", path, world.train, "-o", tmp_path / "out.csv")
    rng = np.random.default_rng(0)
    array = AdaC2Classifier(n_estimators=2).fit(rng.normal(size=(40, 2)), np.arange(40) % 2)
    path = save(array, tmp_path / "array.costboost")
    assert "was trained on an array" in fails("predict", path, world.train)
    run("inspect", path)


def test_what_to_install_and_tracebacks_on_request(world, monkeypatch):
    monkeypatch.setenv("COSTBOOST_TRACEBACK", "1")
    result = CliRunner().invoke(app, ["fit", str(world.train), "--target", "frud"])
    assert isinstance(result.exception, TableError)
    monkeypatch.undo()
    monkeypatch.setattr(files, "find_spec", lambda name: None)
    assert 'pip install "costboost[serve]"' in fails("serve", world.model)
