"""A small file of payments, and a model of it, as the command line makes them."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from costboost.cli import app
from costboost.datasets import make_fraud

SMALL = ("--set", "n_estimators=12", "--set", "cv=2", "--set", "n_jobs=1")
COSTS = ("--target", "fraud", "--positive", "yes", "--cost", "fn=amount+15", "--cost", "fp=5")


def run(*arguments, code=0, input=None):
    """Run a command, and check its exit code."""
    result = CliRunner().invoke(app, [str(one) for one in arguments], input=input)
    shown = f"{result.output}\n{result.stderr}\n{result.exception!r}"
    assert result.exit_code == code, shown
    assert "Traceback" not in shown
    return result


def as_json(*arguments, code=0):
    """What a command says to scripts."""
    return json.loads(run(*arguments, "--json", code=code).stdout)


def words(text):
    """Text as it was before it was broken into lines."""
    return " ".join(text.replace("│", " ").split())


def fails(*arguments):
    """The one message of a command that cannot do what it was asked for."""
    result = run(*arguments, code=2)
    assert not result.stdout.strip() and result.stderr.startswith("Error: ")
    return words(result.stderr)


def payments(n, seed):
    """Payments as a file has them: ids, dates, words, a constant."""
    data = make_fraud(n, random_state=seed)
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(data.X, columns=list(data.feature_names)).round(3)
    frame.insert(0, "payment_id", np.arange(n) + 1000)
    frame["country"] = rng.choice(["CH", "DE", "FR", ""], n)
    frame["currency"] = "CHF"
    frame["shop"] = rng.integers(0, 70, n)
    frame["when"] = pd.date_range("2026-01-01", periods=n, freq="97min").astype(str)
    frame["fraud"] = np.where(data.y == 1, "yes", "no")
    return frame


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    """A training file, a model of it, and its held-out rows."""
    folder = tmp_path_factory.mktemp("world")
    names = {"train": "train.csv", "held_out": "held_out.csv", "model": "fraud.costboost"}
    files = SimpleNamespace(**{name: folder / file for name, file in names.items()})
    payments(700, 0).to_csv(files.train, index=False)
    run("fit", files.train, *COSTS, *SMALL, "-o", files.model, "--save-test", files.held_out)
    return files
