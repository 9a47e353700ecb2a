"""Write what follows from the recipes: tables of the README, lists of public names.

    python docs/build.py algorithms

Every recipe declares its row of the table in its card (``_recipe``). The tables stand in README.md
between ``<!-- algorithms: ... -->`` and ``<!-- end -->``; the order is that of the papers' years.
The stub tells type checkers which classes `costboost.algorithms` finds in its modules.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import costboost
from costboost.boosting.classifiers import BinaryBoostingClassifier, BoostingClassifier

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PACKAGE = ROOT / "src" / "costboost" / "__init__.py"
STUB = ROOT / "src" / "costboost" / "algorithms" / "__init__.pyi"


def takes_many(algorithm: type) -> bool:
    """Whether an algorithm is for any number of classes."""
    is_binary = issubclass(algorithm, BinaryBoostingClassifier)
    return issubclass(algorithm, BoostingClassifier) and not is_binary


TABLES = {
    "two classes": lambda C: not takes_many(C),
    "any number of classes": takes_many,
}


def recipes() -> list[type]:
    """The algorithms by year of their paper, in the order of its file."""
    return sorted((getattr(costboost, name) for name in costboost.algorithms.__all__), key=_place)


def _place(algorithm: type) -> tuple[str, str, int]:
    module = algorithm.__module__.rsplit(".", 1)[1]  # "sun2007"
    return module[-4:], module, inspect.getsourcelines(algorithm)[1]


def table(algorithms: list[Any]) -> str:
    """A row per algorithm."""
    lines = ["| class | idea | source | link |", "|---|---|---|---|"]
    for algorithm in algorithms:
        card = algorithm._recipe
        lines.append(f"| `{algorithm.__name__}` | {card.idea} | {card.source} | {card.link} |")
    return "\n".join(lines)


def readme(text: str) -> str:
    """The text with its tables written anew."""
    for name, belongs in TABLES.items():
        rows = table([algorithm for algorithm in recipes() if belongs(algorithm)])
        pattern = re.compile(rf"(<!-- algorithms: {name} -->\n).*?(<!-- end -->)", flags=re.DOTALL)
        text, found = pattern.subn(lambda m, rows=rows: f"{m[1]}{rows}\n{m[2]}", text)
        if found != 1:
            raise ValueError(f"README.md needs '<!-- algorithms: {name} -->' and '<!-- end -->'.")
    return text


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
    elsewhere = {*costboost._MODULES, *costboost._PACKAGES, "__version__"}
    names = sorted({*elsewhere, *costboost.algorithms.__all__}, key=_as_ruff_sorts)
    lines = "\n".join(["__all__ = [", *(f'    "{name}",' for name in names), "]"])
    return re.sub(r"^__all__ = \[.*?^\]", lines, text, flags=re.DOTALL | re.MULTILINE)


def _as_ruff_sorts(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions and modules."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def build(*, keep: bool, only: list[str]) -> None:
    """Write all three files."""
    for path, write in ((README, readme), (PACKAGE, public_names)):
        path.write_text(write(path.read_text(encoding="utf-8")), encoding="utf-8")
    STUB.write_text(stub(), encoding="utf-8")
