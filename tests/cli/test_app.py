"""The command line is quick to answer, and its list of commands is true."""

import inspect
import subprocess
import sys

import pytest

import costboost
from cli.conftest import run, words
from costboost.cli import COMMANDS, load

HEAVY = "lightgbm matplotlib numba numpy pandas plotly polars scipy sklearn xgboost"
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


def printed(*arguments):
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize("asked", ["--version", "--help", "fit --help", "data check --help"])
def test_answers_load_nothing_heavy(asked):
    loaded, peak = printed("-c", PROBE, *asked.split())[-1].split(" PEAK ")
    assert loaded == "LOADED []"
    assert int(peak) < 150  # megabytes


def test_version_help_and_unknown_commands():
    assert printed("-m", "costboost", "--version") == [f"costboost {costboost.__version__}"]
    for name, text in COMMANDS.items():
        assert f"{name} {text}" in words(run("--help").output)
        command = load(name)
        assert command.name == name and inspect.cleandoc(command.help).startswith(text)
        assert f"costboost {name}" in run(name, "--help").output
    assert "'demo'" in run("remo", code=2).output
