"""Write docs/gallery: the scripts of examples/, what they print, and the pictures they draw.

    python docs/build.py gallery                          # run all of them
    python docs/build.py gallery --only add_a_loss
    python docs/build.py gallery --keep                   # new code, what was printed before

A script is run in an empty folder; pictures (PNG) that it leaves there are shown on its page. The
first line of its docstring is the title, the rest the introduction.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from results import DOCS, NOTE, ROOT, table

EXAMPLES = ROOT / "examples"
PAGES = DOCS / "gallery"
PICTURES = DOCS / "pictures"


@dataclass(frozen=True)
class Example:
    """A script of the gallery.

    Attributes
    ----------
    name : str
        Of the file, without ending.
    arguments : tuple of str
        What it is called with.
    warns : str
        A package whose own warnings cannot be helped; empty if none. It may not be installed.
    prints : bool
        Whether the page shows what it prints; not where no test can compare it.
    """

    name: str
    arguments: tuple[str, ...] = ()
    warns: str = ""
    prints: bool = True

    @property
    def path(self) -> Path:
        """The script."""
        return EXAMPLES / f"{self.name}.py"

    @property
    def source(self) -> str:
        """Its text."""
        return self.path.read_text("utf-8")

    @property
    def docstring(self) -> tuple[str, str]:
        """Title and introduction."""
        title, _, rest = (ast.get_docstring(ast.parse(self.source)) or "").partition("\n\n")
        return title.rstrip("."), rest


SECTIONS = {
    "From costs to decisions": [
        Example("fraud_reviews", ("200",)),
        Example("credit_scoring"),
        Example("medical_test"),
        Example("churn_unknown_value"),
        Example("hierarchical_classes"),
    ],
    "With other tools": [
        Example("own_gbm"),
        Example("search_with_costs"),
        Example("parquet_files"),
        Example("dask_cluster"),
        Example("onnx_model"),
        Example("skops_model"),
        Example("joblib_model"),
        Example("scoring_service"),
        Example("cost_report"),
    ],
    "For researchers": [
        Example("add_an_algorithm"),
        Example("add_a_loss"),
    ],
}


def examples() -> list[Example]:
    """All examples, in the order of the gallery."""
    return [example for section in SECTIONS.values() for example in section]


def run(example: Example, folder: Path) -> str:
    """Run a script in a folder; what it prints."""
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": paths, "MPLBACKEND": "Agg"}
    mode = "ignore" if example.warns else "error"
    command = [sys.executable, "-W", mode, str(example.path), *example.arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"{example.path.name} failed:\n{done.stderr[-2000:]}")
    return done.stdout


def page(example: Example, printed: str, pictures: list[str]) -> str:
    """The page of an example."""
    title, introduction = example.docstring
    # The call is shown as a command, not as an indented block.
    introduction = re.sub(r"(?m)^    (python .*)$", r"```console\n$ \1\n```", introduction)
    lines = [
        NOTE,
        "",
        f"# {title}",
        "",
        introduction,
        "",
        *(f"![{title}](../pictures/{picture})\n" for picture in pictures),
        *(["It prints:", "", f"```text\n{printed.rstrip()}\n```", ""] if printed else ()),
        f'```py title="examples/{example.name}.py"',
        code(example),
        "```",
    ]
    return "\n".join(lines) + "\n"


def code(example: Example) -> str:
    """The script without its docstring, which the page has already."""
    tree = ast.parse(example.source)
    end = tree.body[0].end_lineno or 0
    return "\n".join(example.source.splitlines()[end:]).strip()


def index() -> str:
    """The list of examples."""
    lines = [
        NOTE,
        "",
        "# Gallery",
        "",
        "Complete programs. Each is a file in `examples/` that the tests run; the page shows what "
        "it printed and drew.",
        "",
    ]
    lines += ["To read along: [a notebook](first_model.md), from a table to a verdict.", ""]
    for name, section in SECTIONS.items():
        rows = [
            [f"[{example.docstring[0]}]({example.name}.md)", f"`examples/{example.name}.py`"]
            for example in section
        ]
        lines += [f"## {name}", "", *table(["program", "file"], rows), ""]
    return "\n".join(lines).rstrip() + "\n"


def write(example: Example) -> None:
    """Run an example and write its page and pictures."""
    from PIL import Image

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        printed = run(example, folder).replace(name, "…")
        if not example.prints:
            printed = ""
        drawn = sorted(folder.glob("*.png"))
        for path in drawn:
            with Image.open(path) as picture:
                small = picture.convert("RGB").quantize(256)
                small.save(PICTURES / path.name, optimize=True)
        text = page(example, printed, [path.name for path in drawn])
    (PAGES / f"{example.name}.md").write_text(text, encoding="utf-8")


def shown(example: Example) -> tuple[str, list[str]]:
    """What the page of an example says it prints, and its pictures."""
    text = (PAGES / f"{example.name}.md").read_text("utf-8")
    printed = re.search(r"^```text\n(.*?)\n```$", text, flags=re.DOTALL | re.MULTILINE)
    kept = printed[1] if printed and example.prints else ""
    return kept, re.findall(r"\(\.\./pictures/([^)]+)\)", text)


def pages() -> dict[Path, str]:
    """All pages, with what they show already, and the list."""
    written = {PAGES / f"{one.name}.md": page(one, *shown(one)) for one in examples()}
    return written | {PAGES / "index.md": index()}


def prepare(only: Sequence[str]) -> None:
    """Run the named examples, or all."""
    for example in examples():
        if not only or example.name in only:
            print(" ", example.name)
            write(example)
