"""A small file of payments, and a model of it, as the command line makes them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from costboost.cli import app
from costboost.datasets import make_fraud

SMALL = ("--set", "n_estimators=12", "--set", "ensemble=2", "--set", "n_jobs=1")
COSTS = ("--target", "fraud", "--positive", "yes", "--cost", "fn=amount+15", "--cost", "fp=5")


def run(*arguments: object, code: int = 0, input: bytes | None = None) -> Result:
    """Run a command, and check its exit code."""
    result = CliRunner().invoke(app, [str(one) for one in arguments], input=input)
    shown = f"{result.output}\n{result.stderr}\n{result.exception!r}"
    assert result.exit_code == code, shown
    assert "Traceback" not in shown
    return result


def words(text: str) -> str:
    """Text as it was before it was broken into lines."""
    return " ".join(text.replace("│", " ").split())


def payments(n: int, seed: int) -> pd.DataFrame:
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


@dataclass(frozen=True)
class World:
    """Files of a fit."""

    folder: Path
    train: Path
    held_out: Path
    model: Path


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A training file, a model of it, and its held-out rows."""
    folder = tmp_path_factory.mktemp("world")
    train = folder / "train.csv"
    payments(700, 0).to_csv(train, index=False)
    model, held_out = folder / "fraud.costboost", folder / "held_out.csv"
    run("fit", train, *COSTS, *SMALL, "-o", model, "--save-test", held_out)
    return World(folder, train, held_out, model)
