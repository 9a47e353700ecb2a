"""Write the lists of public names that follow from the recipes.

    python docs/build.py algorithms

The stub tells type checkers which classes `costboost.algorithms` finds in its modules. The table of
all classes is on the page that docs/_pages/choosing.py writes.
"""

from __future__ import annotations

import re
from pathlib import Path

import costboost
from costboost import errors

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "costboost" / "__init__.py"
STUB = ROOT / "src" / "costboost" / "algorithms" / "__init__.pyi"


def stub() -> str:
    """The names of `costboost.algorithms`, for type checkers."""
    names = costboost.algorithms.__all__
    lines = ["# Written by docs/build.py", ""]
    modules = sorted({getattr(costboost, name).__module__ for name in names})
    for module in modules:
        mine = sorted(name for name in names if getattr(costboost, name).__module__ == module)
        line = f"from {module} import {', '.join(mine)}"
        if len(line) > 100:
            line = "\n".join([f"from {module} import (", *(f"    {name}," for name in mine), ")"])
        lines.append(line)
    lines += ["", "__all__ = [", *(f'    "{name}",' for name in names), "]"]
    return "\n".join(lines) + "\n"


def public_names(text: str) -> str:
    """The text of the package with its list of public names written anew."""
    elsewhere = {*costboost._MODULES, *costboost._PACKAGES, *errors.__all__, "__version__"}
    names = sorted({*elsewhere, *costboost.algorithms.__all__}, key=_as_ruff_sorts)
    lines = "\n".join(["__all__ = [", *(f'    "{name}",' for name in names), "]"])
    return re.sub(r"^__all__ = \[.*?^\]", lines, text, flags=re.DOTALL | re.MULTILINE)


def _as_ruff_sorts(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions and modules."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def pages() -> dict[Path, str]:
    """Both files."""
    return {PACKAGE: public_names(PACKAGE.read_text(encoding="utf-8")), STUB: stub()}
