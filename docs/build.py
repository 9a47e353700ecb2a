"""Write what follows from code or measurements: tables of pages, pictures, lists of names, outputs.

    python docs/build.py tables                  # tables of all pages
    python docs/build.py names                   # public names, and the type stub of algorithms
    python docs/build.py outputs docs/start.md   # what the code of a page prints; of all: minutes
    python docs/build.py figures                 # pictures of docs/algorithms

Pages are Markdown that people write. This script only fills the places that they have for tables
and outputs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from helpers.examples import Example

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = "docs/gallery/first_model.md"
sys.path[:0] = [str(ROOT / folder) for folder in ("docs/_pages", "src", "tests")]


def pages() -> list[Path]:
    """All pages that may have a place for a table."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def write_tables() -> None:
    """Fill the places for tables on all pages."""
    import tables

    import algorithms

    made = algorithms.TABLES | tables.TABLES
    for page in pages():
        text = page.read_text("utf-8")
        page.write_text(tables.fill(text, made), "utf-8")


def write_names() -> None:
    """Write the public names and the stub that follow from the algorithms."""
    from algorithms import PACKAGE, STUB, public_names, stub

    PACKAGE.write_text(public_names(PACKAGE.read_text("utf-8")), "utf-8")
    STUB.write_text(stub(), "utf-8")


def write_outputs(chosen: list[str]) -> None:
    """Run the code of pages and write below it what it prints. Read the prose that cites it."""
    os.environ["MPLBACKEND"] = "Agg"
    from helpers.examples import EXAMPLES
    from helpers.pages import PAGES, notebook

    examples = {example.page.relative_to(ROOT).as_posix(): example for example in EXAMPLES}
    for page in chosen or [*PAGES, *examples]:
        print(page)
        if page in examples:
            write_example(examples[page])
        else:
            write_blocks(page)
    cells = json.dumps(notebook(NOTEBOOK), indent=1, ensure_ascii=False)
    (ROOT / "examples" / "first_model.ipynb").write_text(f"{cells}\n", "utf-8")


def write_blocks(page: str) -> None:
    """Run the Python blocks of a page, and write the outputs that differ from those shown."""
    from helpers.pages import run_blocks, same_output

    text = (ROOT / page).read_text("utf-8")
    pieces = []
    end = 0
    with tempfile.TemporaryDirectory() as folder:
        for block in run_blocks(page, Path(folder)):
            if same_output(block.shown, block.printed):
                continue
            pieces += [text[end : block.match.start()], f"```python\n{block.match[1]}```"]
            if block.printed:
                pieces.append(f"\n\n```text\n{block.printed}```")
            end = block.match.end()
    (ROOT / page).write_text("".join([*pieces, text[end:]]), "utf-8")


def write_example(example: Example) -> None:
    """Run a script of examples/, and write what it prints and draws onto its page."""
    from PIL import Image

    from helpers.examples import OUTPUT
    from helpers.pages import same_output

    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(example.script), *example.arguments]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
        for path in Path(folder).glob("*.png"):
            with Image.open(path) as picture:
                small = picture.convert("RGB").quantize(256)
                small.save(ROOT / "docs" / "pictures" / path.name, optimize=True)
    if not same_output(example.shown_output(), done.stdout):
        text = example.page.read_text("utf-8")
        output = f"```text\n{done.stdout.rstrip()}\n```"
        example.page.write_text(OUTPUT.sub(lambda match: output, text, count=1), "utf-8")


def write_figures() -> None:
    """Draw the pictures of the algorithms."""
    from figures import draw_all

    draw_all()


def main() -> None:
    """Write what is named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=["tables", "names", "outputs", "figures"])
    parser.add_argument("pages", nargs="*", help="pages whose outputs are written; all by default")
    options = parser.parse_args()
    if options.what == "tables":
        write_tables()
    elif options.what == "names":
        write_names()
    elif options.what == "outputs":
        write_outputs(options.pages)
    else:
        write_figures()


if __name__ == "__main__":
    main()
