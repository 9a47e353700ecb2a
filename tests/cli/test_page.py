"""The page of the command line says what its commands print.

    PYTHONPATH=tests python tests/cli/test_page.py    # puts what they print now into the page

Blocks that begin with ```` ```console ```` hold lines ``$ command`` and, below each, its output.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from helpers.pages import ROOT, same_output

pytestmark = pytest.mark.slow

PAGE = ROOT / "docs" / "cli.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
# A command, which goes on after a line that ends with a backslash, and its output.
STEP = re.compile(r"^\$ ((?:.*\\\n)*.*)\n?((?:(?!\$ ).*\n?)*)", flags=re.MULTILINE)
LINES = str.maketrans("", "", "━╇┃│╪═╭╮╰╯─")


def printed(command, folder):
    """What a command prints in a terminal of 80 columns."""
    paths = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        re.sub(r"^costboost\b", "python -m costboost", command), shell=True, cwd=folder,
        env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PATH": paths}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip("\n")


def test_the_page_is_right(tmp_path):
    for module in ("catboost", "plotly", "xgboost"):
        pytest.importorskip(module)
    for block in BLOCK.findall(PAGE.read_text("utf-8")):
        for command, said in STEP.findall(block):
            found = printed(command, tmp_path)
            assert same_output(said.translate(LINES), found.translate(LINES)), (command, found)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:

        def anew(block):
            steps = [f"$ {one}\n{printed(one, folder)}" for one, _ in STEP.findall(block[1])]
            return "\n".join(["```console", *(step.rstrip("\n") for step in steps), "```"])

        PAGE.write_text(BLOCK.sub(anew, PAGE.read_text("utf-8")), "utf-8")
