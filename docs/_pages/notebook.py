"""Run examples/first_model.ipynb, keep what its cells print, and write its page of the gallery.

    python docs/build.py notebook [--keep]

Cells only print, so that running them needs no Jupyter.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from results import DOCS, NOTE, ROOT

NOTEBOOK = ROOT / "examples" / "first_model.ipynb"
PAGE = DOCS / "gallery" / "first_model.md"


def cells() -> list[dict[str, Any]]:
    """The cells of the notebook."""
    return list(json.loads(NOTEBOOK.read_text("utf-8"))["cells"])


def shown(cell: dict[str, Any]) -> str:
    """What a cell of code says it printed."""
    return "".join(text for output in cell["outputs"] for text in output["text"])


def printed() -> list[str]:
    """What the cells of code print, run in an empty folder."""
    names: dict[str, object] = {"__name__": "notebook"}
    found = []
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for cell in cells():
                if cell["cell_type"] == "code":
                    out = io.StringIO()
                    with contextlib.redirect_stdout(out):
                        exec(compile("".join(cell["source"]), NOTEBOOK.name, "exec"), names)
                    found.append(out.getvalue())
        finally:
            os.chdir(here)
    return found


def page() -> str:
    """The notebook as a page."""
    lines = [NOTE, ""]
    for cell in cells():
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            lines += [source, ""]
            continue
        lines += [f"```py\n{source}\n```", ""]
        if text := shown(cell).rstrip():
            lines += [f"```text\n{text}\n```", ""]
    lines.append("The notebook: `examples/first_model.ipynb`.")
    return "\n".join(lines) + "\n"


def pages() -> dict[Path, str]:
    """The page by its path."""
    return {PAGE: page()}


def prepare(only: Sequence[str]) -> None:
    """Run the notebook, and keep what it prints."""
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, (cell, text) in enumerate(zip(code, printed(), strict=True), start=1):
        output = {
            "name": "stdout",
            "output_type": "stream",
            "text": text.splitlines(keepends=True),
        }
        cell.update(execution_count=number, outputs=[output] if text else [])
    NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")
