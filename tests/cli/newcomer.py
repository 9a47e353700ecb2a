"""Run the commands of a page as a newcomer would, and compare what they print with the page.

    python tests/cli/newcomer.py docs/cli.md            # in an environment with costboost
    python tests/cli/newcomer.py docs/cli.md --write    # put what they print now into the page

Blocks of a page that begin with ```` ```console ```` hold lines ``$ command`` and, below each, its
output. Words must be the same, numbers nearly. The seconds that each command took are printed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BLOCK = re.compile(r"^```console\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
STEP = re.compile(r"^\$ ((?:.*\\\n)*.*)\n?((?:(?!\$ ).*\n?)*)", flags=re.MULTILINE)
LINES = str.maketrans("", "", "━╇┃│╪═╭╮╰╯─")
NUMBER = re.compile(r"[-+]?[\d,]*\.?\d+(?:e-?\d+)?")
NEAR = 0.02
"""Versions of the engines differ in the last trees: numbers may differ by two in a hundred."""


def steps_of(block: str) -> list[tuple[str, str]]:
    """Commands and outputs of a block; a line that ends with a backslash goes on."""
    return [(command, output.strip("\n")) for command, output in STEP.findall(block)]


def alike(said: str, printed: str) -> bool:
    """Whether two outputs have the same words, and nearly the same numbers."""
    said, printed = (" ".join(text.translate(LINES).split()) for text in (said, printed))
    if NUMBER.sub("#", said) != NUMBER.sub("#", printed):
        return False
    for pair in zip(NUMBER.findall(said), NUMBER.findall(printed), strict=True):
        p, q = (float(one.replace(",", "") or "nan") for one in pair)
        if abs(p - q) > NEAR * max(abs(p), abs(q), 0.5):
            return False
    return True


def run(command: str, folder: str) -> str:
    """What a command prints in a terminal of 80 columns."""
    scripts = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        re.sub(r"^costboost\b", f"{sys.executable} -m costboost", command), shell=True, cwd=folder,
        env={**os.environ, "PATH": scripts, "COLUMNS": "80", "NO_COLOR": "1"}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip("\n")


def main() -> int:
    """Run the page; 1 if an output is not what the page says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    wrong = 0

    def played(found: re.Match[str]) -> str:
        nonlocal wrong
        lines = []
        for command, output in steps_of(found[1]):
            start = time.perf_counter()
            printed = run(command, folder)
            print(f"$ {command}\n{time.perf_counter() - start:.1f} s", flush=True)
            if not alike(output, printed) and not arguments.write:
                wrong += 1
                print(f"The page says:\n{output}\nIt prints:\n{printed}\n")
            lines.append(f"$ {command}\n{printed}".rstrip("\n"))
        return "```console\n" + "\n".join(lines) + "\n```"

    with tempfile.TemporaryDirectory() as folder:
        new = BLOCK.sub(played, arguments.page.read_text("utf-8"))
    if arguments.write:
        arguments.page.write_text(new, "utf-8")
    print(f"{wrong} outputs differ from the page" if wrong else "The page is right.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
