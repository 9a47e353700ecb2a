"""Write what the Python blocks of the pages print into the text blocks that follow them.

    python docs/build.py outputs [--only docs/start.md ...]

runs the given pages, or all that show an output, and rewrites those whose output has changed by
more than the tests allow. Prose that cites a number is not rewritten: read the pages afterwards.
"""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def build(*, keep: bool, only: list[str]) -> None:
    """Rewrite the pages."""
    if keep:
        return
    os.environ["MPLBACKEND"] = "Agg"
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]
    tests = runpy.run_path(str(ROOT / "tests" / "pages" / "test_snippets.py"))
    chosen = [Path(p).resolve().relative_to(ROOT).as_posix() for p in only]
    for page in chosen or tests["PAGES"]:
        path = ROOT / page
        text = path.read_text("utf-8")
        if "```text" not in text:
            continue
        found = rewritten(page, text, tests)
        if found != text:
            path.write_text(found, "utf-8")
            print(f"written: {page}")


def rewritten(page: str, text: str, tests: dict) -> str:
    """The page with the outputs of today."""
    names: dict[str, object] = {"__name__": "page"}
    pieces, end = [], 0
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            tests["PREPARED"].get(page, lambda: None)()
            for block in tests["BLOCK"].finditer(text):
                out = io.StringIO()
                with contextlib.redirect_stdout(out):
                    exec(compile(block[1], page, "exec"), names)
                if block[2] is not None and not tests["same_output"](block[2], out.getvalue()):
                    pieces += [text[end : block.start(2)], out.getvalue()]
                    end = block.end(2)
        finally:
            os.chdir(here)
            tests["close"](names)
    return "".join([*pieces, text[end:]])
