"""Run the commands of a page as a newcomer would, and compare what they print with the page.

    python tests/cli/newcomer.py docs/cli.md            # in an environment with costboost
    python tests/cli/newcomer.py docs/cli.md --write    # put what they print now into the page

Blocks of a page that begin with ```` ```console ```` hold lines ``$ command`` and, below each, its
output. ``...`` stands for anything.
"""

from __future__ import annotations

import argparse
import doctest
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(r"^```console\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
CHECKER = doctest.OutputChecker()
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Step:
    """A command and what the page says it prints."""

    command: str
    output: str


def steps_of(block: str) -> Iterator[Step]:
    """The commands of a block; a line that ends with a backslash goes on."""
    lines = block.splitlines()
    at = 0
    while at < len(lines):
        command = lines[at].removeprefix("$ ")
        at += 1
        while command.endswith("\\"):
            command += "\n" + lines[at]
            at += 1
        output = []
        while at < len(lines) and not lines[at].startswith("$ "):
            output.append(lines[at])
            at += 1
        yield Step(command, "\n".join(output).strip("\n"))


def run(command: str, folder: str) -> str:
    """What a command prints in a terminal of 80 columns."""
    scripts = Path(sys.executable).parent
    environment = {
        **os.environ,
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "80",
        "NO_COLOR": "1",
    }
    command = re.sub(r"^costboost\b", f"{sys.executable} -m costboost", command)
    done = subprocess.run(
        command, shell=True, cwd=folder, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip("\n")


def main() -> int:
    """Run the page; 1 if an output is not what the page says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    text = arguments.page.read_text("utf-8")
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:

        def played(found: re.Match[str]) -> str:
            nonlocal wrong
            lines = []
            for step in steps_of(found[1]):
                print(f"$ {step.command}", flush=True)
                printed = run(step.command, folder)
                same = CHECKER.check_output(step.output + "\n", printed + "\n", FLAGS)
                if not same and not arguments.write:
                    wrong += 1
                    print(f"The page says:\n{step.output}\nIt prints:\n{printed}\n")
                lines.append(f"$ {step.command}\n" + (step.output if same else printed))
            return "```console\n" + "\n".join(line.rstrip("\n") for line in lines) + "\n```"

        new = BLOCK.sub(played, text)
    if arguments.write:
        arguments.page.write_text(new, "utf-8")
    print(f"{wrong} outputs differ from the page" if wrong else "The page is right.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
