"""The command line is quick to answer, and its list of commands is true."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import costboost
from cli.conftest import run
from costboost.cli import COMMANDS, load

HEAVY = "lightgbm matplotlib numba numpy optuna pandas plotly polars scipy sklearn xgboost"
# Runs the command line, then prints which heavy packages it loaded and its peak memory (not by
# getrusage: its maximum outlives exec, so that a large parent would be counted).
PROBE = f"""
import pathlib, sys
from costboost.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
status = pathlib.Path("/proc/self/status")
peak = int(status.read_text().split("VmHWM:")[1].split()[0]) // 1024 if status.exists() else 0
print("\\nLOADED", [name for name in {HEAVY!r}.split() if name in sys.modules], "PEAK", peak)
"""


def printed(*arguments: str) -> list[str]:
    command = [sys.executable, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("words", ["--version", "--help", "fit --help", "data check --help"])
def test_answers_load_nothing_heavy(words: str) -> None:
    loaded, peak = printed("-c", PROBE, *words.split())[-1].split(" PEAK ")
    assert loaded == "LOADED []"
    assert int(peak) < 150  # megabytes


def test_version_help_and_unknown_commands() -> None:
    assert printed("-m", "costboost", "--version") == [f"costboost {costboost.__version__}"]
    words = " ".join(run("--help").output.replace("│", " ").split())
    for name, text in COMMANDS.items():
        assert f"{name} {text}" in words
    assert "'demo'" in run("remo", code=2).output


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_what_the_command_says(name: str) -> None:
    loaded = load(name)
    assert loaded.name == name
    assert inspect.cleandoc(loaded.help).startswith(COMMANDS[name])
    assert f"costboost {name}" in run(name, "--help").output
