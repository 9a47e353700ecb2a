"""The command line is quick to answer, and its list of commands is true."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import costboost
from costboost.cli import COMMANDS, app, load

runner = CliRunner()
HEAVY = (
    *("lightgbm", "matplotlib", "numba", "numpy", "optuna", "pandas", "plotly", "polars", "scipy"),
    *("sklearn", "xgboost"),
)

# Runs the command line, then prints which heavy packages it loaded and its peak memory (not by
# getrusage: its maximum outlives exec, so that a large parent would be counted).
PROBE = f"""
import pathlib, sys
from costboost.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
loaded = [name for name in {HEAVY!r} if name in sys.modules]
status = pathlib.Path("/proc/self/status")
peak = int(status.read_text().split("VmHWM:")[1].split()[0]) // 1024 if status.exists() else 0
print("\\nLOADED", loaded, "PEAK", peak)
"""


@pytest.mark.parametrize("words", ["--version", "--help", "fit --help", "data check --help"])
def test_answers_load_nothing_heavy(words: str) -> None:
    command = [sys.executable, "-c", PROBE, *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    *_, last = done.stdout.splitlines()
    loaded, peak = last.removeprefix("LOADED ").split(" PEAK ")
    assert loaded == "[]"
    assert int(peak) < 150  # megabytes


def test_python_m_costboost() -> None:
    command = [sys.executable, "-m", "costboost", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"costboost {costboost.__version__}"


def test_help_lists_every_command() -> None:
    result = runner.invoke(app, ["--help"])
    assert result.exit_code == 0
    words = " ".join(result.output.replace("│", " ").split())
    for name, text in COMMANDS.items():
        assert f"{name} {text}" in words


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_what_the_command_says(name: str) -> None:
    loaded = load(name)
    assert loaded.name == name
    assert inspect.cleandoc(loaded.help).startswith(COMMANDS[name])
    result = runner.invoke(app, [name, "--help"])
    assert result.exit_code == 0
    assert f"costboost {name}" in result.output


def test_an_unknown_command_suggests_a_known_one() -> None:
    result = runner.invoke(app, ["remo"])
    assert result.exit_code == 2
    assert "'demo'" in result.output
