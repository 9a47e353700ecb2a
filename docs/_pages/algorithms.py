"""What follows from algorithms, losses and papers: public names, the type stub, tables of pages."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from tables import DOCS, markdown

import costboost
from costboost import errors, losses

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "costboost" / "__init__.py"
STUB = ROOT / "src" / "costboost" / "algorithms" / "__init__.pyi"

# ------------------------------------------------------------------------------ public names


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
    if name.isupper():
        return 0, name
    if name[0].isupper():
        return 1, name
    return 2, name


# --------------------------------------------------------------------------------- algorithms


def classes() -> str:
    """All algorithms, with what each does and can do."""
    lines = []
    for name in costboost.algorithms.__all__:
        algorithm = getattr(costboost, name)
        card = algorithm._recipe
        many = "any"
        if getattr(algorithm, "_is_binary", True):
            many = "two"
        beyond_classes = "yes"
        if algorithm._needs_classes_as_decisions:
            beyond_classes = "no"
        source = f"[{card.source}](algorithms/{module_of(algorithm)}.md)"
        lines.append([f"`{name}`", card.idea, source, many, beyond_classes, card.link])
    headings = ["class", "idea", "paper", "classes", "decisions beyond classes", "link"]
    return markdown(headings, lines)


def module_of(algorithm: Any) -> str:
    """Return the name of the module, which is that of the paper."""
    return str(algorithm.__module__.rsplit(".", 1)[1])


def papers() -> dict[str, list[Any]]:
    """The algorithms by the module of their paper, in the order of years."""
    by_paper: dict[str, list[Any]] = {}
    for name in costboost.algorithms.__all__:
        algorithm = getattr(costboost, name)
        by_paper.setdefault(module_of(algorithm), []).append(algorithm)
    for algorithms in by_paper.values():
        algorithms.sort(key=lambda algorithm: inspect.getsourcelines(algorithm)[1])
    # A module is named by author and year.
    return {paper: by_paper[paper] for paper in sorted(by_paper, key=lambda name: name[-4:] + name)}


def list_of_papers() -> str:
    """The papers and their classes."""
    lines = []
    for paper, algorithms in papers().items():
        names = ", ".join(f"`{algorithm.__name__}`" for algorithm in algorithms)
        links = dict.fromkeys(algorithm._recipe.link for algorithm in algorithms)
        source = algorithms[0]._recipe.source
        lines.append([f"[{source}]({paper}.md)", names, ", ".join(links)])
    return markdown(["paper", "classes", "link to probabilities"], lines)


def classes_of(paper: str) -> str:
    """The classes of a paper."""
    lines = []
    for algorithm in papers()[paper]:
        name = algorithm.__name__
        card = algorithm._recipe
        link = f"[`{name}`](#costboost.algorithms.{paper}.{name})"
        lines.append([link, card.idea, card.link, card.parent or "–"])
    return markdown(["class", "idea", "link to probabilities", "with equal costs it is"], lines)


# ------------------------------------------------------------------------------------- losses

JUDGED = ["guess-averse", "Fisher consistent", "symmetric", "calibrated", "two classes"]


@cache
def judged_losses() -> list[tuple[losses.Loss, dict[str, Any]]]:
    """Every loss of the library with its verdicts, by property."""
    from costboost_papers.loss_properties import (
        is_calibrated,
        is_fisher_consistent,
        is_guess_averse,
    )

    own = [one for one in losses.LOSSES.values() if type(one).__module__.startswith("costboost.")]
    own.sort(key=lambda loss: not loss.is_binary)
    judged = []
    for loss in [*own, losses.PNorm(1.0), losses.PNorm(2.0), losses.PNorm(4.0)]:
        verdicts = [
            is_guess_averse(loss),
            is_fisher_consistent(loss),
            is_calibrated(loss, costs="symmetric"),
            is_calibrated(loss),
            is_calibrated(loss, 2),
        ]
        judged.append((loss, dict(zip(JUDGED, verdicts, strict=True))))
    return judged


def loss_properties() -> str:
    """The losses and their properties."""
    marks = {True: "yes", False: "**no**"}
    lines = []
    for loss, verdicts in judged_losses():
        lines.append([f"`{loss!r}`", loss.formula, *(marks[bool(v)] for v in verdicts.values())])
    calibrated = ["symmetric costs", "all costs", "two classes"]
    headings = ["loss", "value", "guess-averse", "Fisher consistent"]
    return markdown([*headings, *(f"calibrated: {costs}" for costs in calibrated)], lines)


def loss_counterexamples() -> str:
    """A counterexample for every "no"."""
    lines = []
    for loss, verdicts in judged_losses():
        for name, verdict in verdicts.items():
            if not verdict:
                lines.append(f"- `{loss!r}`, {name}: {verdict.witness}.")
    return "\n".join(lines)


# ------------------------------------------------------------------------ papers, run again

VERDICTS = DOCS / "papers" / "README.md"
_CLAIM = re.compile(r"^\| \[(\w+)\]\(", flags=re.MULTILINE)
VERDICT_WORDS = {
    "holds": "hold",
    "holds in part": "hold in part",
    "does not hold": "do not hold",
    "cannot be told": "cannot be told",
}


def verdicts(paper: str) -> Counter[str]:
    """How many of the paper's claims hold in our runs, hold in part, or do not hold."""
    rows = re.findall(
        rf"^\| \[{paper}\]\([^)]*\) \|.*?\| \*\*(.*?)\*\* \|",
        VERDICTS.read_text("utf-8"),
        re.MULTILINE,
    )
    return Counter(rows)


def _counted(number: int, verdict: str) -> str:
    """For instance "1 holds", "3 hold in part"."""
    if number == 1:
        return f"1 {verdict}"
    return f"{number} {VERDICT_WORDS[verdict]}"


# Words of the main claim of each paper.
MAIN_CLAIMS = {
    "lozano2008": "Higher norms",
    "cai2008": "have close F",
    "masnadi2007": "smaller median loss",
    "beijbom2014": "perform significantly better",
    "cao2013": "lower cost than the other",
    "nikolaou2016": "outperform the other variants",
}
# Names of papers whose algorithms are not in the library, or are named by another paper.
PAPER_NAMES = {
    "masnadi2007": "Masnadi-Shirazi & Vasconcelos 2007",
}


def at_a_glance() -> str:
    """The main claim of each reproduced paper, and whether it holds."""
    lines = []
    text = VERDICTS.read_text("utf-8")
    for paper in dict.fromkeys(_CLAIM.findall(text)):
        row = rf"^\| \[{paper}\]\([^)]*\) \| .*? \| (.*?) \| \*\*(.*?)\*\* \| (.*?) \| .*\|$"
        claim, verdict, parts = next(
            cells for cells in re.findall(row, text, re.MULTILINE) if MAIN_CLAIMS[paper] in cells[0]
        )
        counts = verdicts(paper)
        in_all = ", ".join(_counted(counts[word], word) for word in VERDICT_WORDS if counts[word])
        source = PAPER_NAMES.get(paper) or papers()[paper][0]._recipe.source
        lines.append([f"[{source}](papers/{paper}.md)", claim, f"**{verdict}**", parts, in_all])
    headings = ["paper", "main claim", "here", "its parts", "of all claims"]
    return markdown(headings, lines)


TABLES: dict[str, Callable[[], str]] = {
    "classes": classes,
    "losses": loss_properties,
    "loss_counterexamples": loss_counterexamples,
    "algorithms": list_of_papers,
    "papers_at_a_glance": at_a_glance,
    **{paper: partial(classes_of, paper) for paper in papers()},
}
