"""What may be written where: no input is lost, nothing is replaced in silence, no half file."""

import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from cli.conftest import COSTS, SMALL, fails, payments, run
from costboost.files import load

FIT = (*COSTS, *SMALL, "--set", "effort=fast", "-q")


@pytest.fixture
def rows(tmp_path):
    """A file of rows, of which nothing else knows."""
    path = tmp_path / "rows.csv"
    payments(150, 3).to_csv(path, index=False)
    return path


def test_an_output_is_no_input(world, rows):
    folder, before = rows.parent, rows.read_bytes()
    (folder / "symbolic.csv").symlink_to(rows)
    (folder / "hard.csv").hardlink_to(rows)
    predict, out = ("predict", world.model), folder / "symbolic.csv"
    for command in (
        *((*predict, rows, "-o", folder / name, "--force") for name in ("rows.csv", "hard.csv")),
        (*predict, rows, "-o", folder / f"../{folder.name}/rows.csv", "--force"),
        (*predict, folder, "-o", out),
        ("fit", rows, *FIT, "-o", out),
        ("fit", rows, *FIT, "-o", folder / "m.costboost", "--save-test", out),
        ("fit", str(folder / "row*.csv"), *FIT, "-o", out),
        ("report", world.model, rows, "-o", out),
        ("report", world.model, rows, "-o", world.model, "--force"),
        ("compare", rows, *FIT, "--plot", out),
    ):
        assert "is read as well" in fails(*command)
    assert rows.read_bytes() == before
    assert not (folder / "m.costboost").exists()
    assert "is not an ordinary file" in fails("fit", rows, *FIT, "-o", "/dev/null", "--force")


def test_what_exists_is_replaced_only_if_that_is_meant(world, rows, monkeypatch):
    folder = rows.parent
    monkeypatch.chdir(folder)
    other = folder / "notes.csv"
    other.write_text("mine")
    for command in (
        ("fit", rows, *FIT, "-o", other),
        ("fit", rows, *FIT, "--save-test", other),
        ("predict", world.model, rows, "-o", other),
        ("report", world.model, rows, "-o", other),
        ("compare", rows, *COSTS, "--plot", other),
        ("data", "example", "-o", other),
        ("demo", "--report", other),
    ):
        assert f"{other} exists. Name another file, or add --force" in fails(*command)
    assert other.read_text() == "mine"
    run("fit", rows, *FIT)
    model = (folder / "fraud.costboost").read_bytes()
    assert "fraud.costboost exists" in fails("fit", rows, *FIT)  # the name was not said
    run("fit", rows, *FIT, "--seed", 1, "-o", "fraud.costboost")
    assert (folder / "fraud.costboost").read_bytes() != model
    run("predict", "fraud.costboost", rows, "-o", other, "--force")
    assert "decision" in pd.read_csv(other)


def test_links_stay_and_lead_to_the_new_file(world, rows):
    folder = rows.parent
    (folder / "real").mkdir()
    for name in ("m.costboost", "out.csv"):
        (folder / name).symlink_to(folder / "real" / name)
    run("fit", rows, *FIT, "-o", folder / "m.costboost")
    run("predict", folder / "m.costboost", rows, "-o", folder / "out.csv")
    for name in ("m.costboost", "out.csv"):
        assert (folder / name).is_symlink()
        assert (folder / "real" / name).is_file()
    load(folder / "real" / "m.costboost")


def test_a_stopped_command_leaves_no_file(world, tmp_path):
    many = tmp_path / "many.csv"
    pd.concat([pd.read_csv(world.train)] * 200).to_csv(many, index=False)
    out = tmp_path / "out"
    out.mkdir()
    command = [sys.executable, "-m", "costboost", "predict", world.model, many, "-o"]
    with subprocess.Popen(
        [*map(str, command), str(out / "o.csv"), "--batch-rows", "50"], stderr=subprocess.PIPE
    ) as process:
        while not any(out.iterdir()):
            time.sleep(0.05)
            assert process.poll() is None, process.stderr.read()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 128 + signal.SIGTERM
    assert not list(out.iterdir())


def test_formulas_and_escape_sequences(world, rows):
    frame = pd.read_csv(rows).rename(columns={"currency": "\x1b[31mcurrency"})
    frame["=note"] = ["=1+1", "+cmd", "@x", "-5.5", "-x"] * 30
    frame.to_csv(rows, index=False)
    out = rows.parent / "out.csv"
    run("predict", world.model, rows, "-o", out)
    assert pd.read_csv(out)["=note"].tolist() == frame["=note"].tolist()
    run("predict", world.model, rows, "-o", out, "--safe-cells", "--force")
    found = pd.read_csv(out)
    assert found["'=note"].tolist()[:5] == ["'=1+1", "'+cmd", "'@x", "-5.5", "'-x"]
    assert found["amount"].tolist() == frame["amount"].tolist()
    for command in (
        ("data", "check", rows, *COSTS),
        ("fit", rows, *COSTS, *SMALL, "-o", rows.parent / "m.costboost"),
    ):
        result = run(*command)
        assert "\x1b[31m" not in result.output and "?[31mcurrency" in result.output
    assert "\x1b[31m" not in fails("fit", rows, "--target", "none")


def test_the_dialect_stays(world, rows):
    frame = pd.read_csv(rows).drop(columns="fraud")
    frame["note"] = "größer"
    frame.to_csv(rows, index=False, sep=";", encoding="latin-1", decimal=",", lineterminator="\r\n")
    model = rows.parent / "m.costboost"
    train = payments(150, 3)
    train.to_csv(rows.parent / "train.csv", index=False, sep=";", decimal=",")
    run("fit", rows.parent / "train.csv", *FIT, "--decimal", ",", "-o", model)
    run("predict", model, rows, "-o", rows.parent / "out.csv", "--batch-rows", 64)
    out = (rows.parent / "out.csv").read_bytes()
    lines = zip(rows.read_bytes().splitlines(True), out.splitlines(True), strict=True)
    for line, decided in lines:
        assert decided.startswith(line.removesuffix(b"\r\n") + b";")
    found = pd.read_csv(rows.parent / "out.csv", sep=";", encoding="latin-1", decimal=",")
    assert found["probability_yes"].between(0, 1).all()
