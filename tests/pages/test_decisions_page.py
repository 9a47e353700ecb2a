"""The page on decisions runs, and prints what it shows."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import matplotlib
import pytest

matplotlib.use("Agg")

from matplotlib import pyplot as plt

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "decisions.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(python|text)\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@pytest.fixture(scope="module")
def printed():
    """What each python block that is followed by a text block prints."""
    space: dict[str, object] = {"__name__": "page"}
    pairs = []
    for (kind, code), (after, shown) in zip(BLOCKS, [*BLOCKS[1:], ("", "")], strict=True):
        if kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(code, "docs/decisions.md", "exec"), space)
            if after == "text":
                pairs.append((shown, out.getvalue()))
    plt.close("all")
    return pairs


def test_every_output_is_shown(printed):
    assert len(printed) == 9


@pytest.mark.parametrize("i", range(9))
def test_output(printed, i):
    """Words are the same; numbers may differ a little between versions of the tree library."""
    shown, out = printed[i]
    assert NUMBER.sub("#", shown).split() == NUMBER.sub("#", out).split()
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(out), strict=True)
    assert all(float(a) == pytest.approx(float(b), rel=0.1, abs=0.05) for a, b in pairs)


def test_the_policies_are_in_the_order_of_the_page(printed):
    costs = [float(line.split()[-5]) for line in printed[0][1].splitlines()]
    nothing, half, riskiest, free, limited = costs
    assert free < limited < riskiest < half < nothing
