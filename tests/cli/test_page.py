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
    for module in ("catboost", "optuna", "plotly", "xgboost"):
        pytest.importorskip(module)
    script = ROOT / "tests" / "cli" / "newcomer.py"
    command = [sys.executable, str(script), str(ROOT / "docs" / "cli.md")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_steps_and_what_is_alike() -> None:
    found = steps_of("$ a \\\n  b\nout\nput\n$ c\n")
    assert found == [("a \\\n  b", "out\nput"), ("c", "")]
    assert alike("cost │ 1,000 (900 to 1,100)", "cost ┃ 1,020 (890 to 1,110)")
    for other in ("cost 1,200", "costs 1,000", "cost"):
        assert not alike("cost 1,000", other)
