"""The lower bounds of pyproject.toml as constraints of pip: what `make test-lower` installs.

python tests/trust/lower_bounds.py > build/lower-bounds.txt
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
# What users install; tools of developers need no lower bounds that are true.
EXTRAS = ("cli", "dask", "high", "onnx", "serve")

# Packages of packages. typer 0.16 and matplotlib 3.9 use names that newer ones deprecate: users are
# not told, but the tests make every warning an error.
COMPANIONS = {"click": "8.2.0", "pyparsing": "3.1.0"}


def bounds(extras=EXTRAS):
    """Package to lower bound, of the library itself and some extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lists = [project["dependencies"], *(project["optional-dependencies"][e] for e in extras)]
    found = {}
    for line in (line for some in lists for line in some):
        if line.startswith("costboost"):
            continue
        match = re.fullmatch(r"([A-Za-z0-9_.-]+)(\[[^]]*\])?>=([0-9.]+)", line)
        if match is None:
            raise ValueError(f"{line!r} has no lower bound of the form name>=version.")
        name, _, version = match.groups()
        if found.setdefault(name, version) != version:
            raise ValueError(f"{name} has two lower bounds: {found[name]} and {version}.")
    return found


def constraints(extras=EXTRAS):
    """Lines for pip: the smallest release that a bound allows."""
    both = bounds(extras) | COMPANIONS
    return [f"{name}=={version}" for name, version in sorted(both.items())]


if __name__ == "__main__":
    print("\n".join(constraints()))
