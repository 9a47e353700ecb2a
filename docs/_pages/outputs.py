"""Write what the Python blocks of the pages print into text blocks below them.

    python docs/build.py outputs [--only docs/start.md ...]

runs the given pages, or all, and rewrites those whose output has changed by more than the tests
allow. Prose that cites a number is not rewritten: read the pages afterwards.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from results import ROOT


def prepare(only: Sequence[str]) -> None:
    """Rewrite the pages."""
    os.environ["MPLBACKEND"] = "Agg"
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]
    from helpers.pages import PAGES

    chosen = [Path(p).resolve().relative_to(ROOT).as_posix() for p in only]
    for page in chosen or PAGES:
        path = ROOT / page
        text = path.read_text("utf-8")
        found = rewritten(page, text)
        if found != text:
            path.write_text(found, "utf-8")
            print(f"written: {page}")


def rewritten(page: str, text: str) -> str:
    """The page with the outputs of today."""
    from helpers.pages import run_blocks, same_output

    pieces, end = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for block in run_blocks(page, Path(folder)):
            if not same_output(block.shown, block.printed):
                below = f"\n\n```text\n{block.printed}```" if block.printed else ""
                code = f"```python\n{block.match[1]}```"
                pieces += [text[end : block.match.start()], code, below]
                end = block.match.end()
    return "".join([*pieces, text[end:]])
