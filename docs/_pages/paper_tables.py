"""The table of docs/reproduced.md: the main claim of each paper, and whether it holds."""

from __future__ import annotations

import re
from collections import Counter

from tables import DOCS, markdown

from algorithms import papers

VERDICTS = DOCS / "papers" / "README.md"
_CLAIM = re.compile(r"^\| \[(\w+)\]\(", flags=re.MULTILINE)
WORDS = {
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
    return f"{number} {WORDS[verdict]}"


# Words of the main claim of each paper.
MAIN = {
    "lozano2008": "Higher norms",
    "cai2008": "have close F",
    "masnadi2007": "smaller median loss",
    "beijbom2014": "perform significantly better",
    "cao2013": "lower cost than the other",
    "nikolaou2016": "outperform the other variants",
}
# Names of papers whose algorithms are not in the library, or are named by another paper.
NAMES = {
    "masnadi2007": "Masnadi-Shirazi & Vasconcelos 2007",
}


def at_a_glance() -> str:
    """The main claim of each reproduced paper, and whether it holds."""
    lines = []
    text = VERDICTS.read_text("utf-8")
    for paper in dict.fromkeys(_CLAIM.findall(text)):
        row = rf"^\| \[{paper}\]\([^)]*\) \| .*? \| (.*?) \| \*\*(.*?)\*\* \| (.*?) \| .*\|$"
        claim, verdict, parts = next(
            cells for cells in re.findall(row, text, re.MULTILINE) if MAIN[paper] in cells[0]
        )
        counts = verdicts(paper)
        in_all = ", ".join(_counted(counts[word], word) for word in WORDS if counts[word])
        source = NAMES.get(paper) or papers()[paper][0]._recipe.source
        lines.append([f"[{source}](papers/{paper}.md)", claim, f"**{verdict}**", parts, in_all])
    headings = ["paper", "main claim", "here", "its parts", "of all claims"]
    return markdown(headings, lines)


TABLES = {"papers_at_a_glance": at_a_glance}
