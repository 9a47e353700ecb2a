"""The page of the command line says what its commands print."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cli.newcomer import alike, steps_of

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_page_is_right() -> None:
    for module in ("optuna", "plotly", "xgboost"):
        pytest.importorskip(module)
    script = ROOT / "tests" / "cli" / "newcomer.py"
    done = subprocess.run(
        [sys.executable, str(script), str(ROOT / "docs" / "cli.md")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_commands_may_go_on_over_lines() -> None:
    (one, two) = steps_of("$ a \\\n  b\nout\nput\n$ c\n")
    assert (one.command, one.output) == ("a \\\n  b", "out\nput")
    assert (two.command, two.output) == ("c", "")


def test_outputs_are_alike_if_words_are_the_same_and_numbers_near() -> None:
    assert alike("cost │ 1,000 (900 to 1,100)", "cost ┃ 1,020 (890 to 1,110)")
    assert not alike("cost 1,000", "cost 1,200")
    assert not alike("cost 1,000", "costs 1,000")
    assert not alike("cost 1,000", "cost")
