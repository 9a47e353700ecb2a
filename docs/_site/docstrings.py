"""Docstrings as the site shows them: equations as MathML.

Equations of ``.. math::`` and ``:math:`` become MathML, which browsers draw by themselves: no
script and no font is loaded.
"""

from __future__ import annotations

import html
import re
import textwrap
from typing import Any

import griffe
from latex2mathml.converter import convert

_BLOCK = re.compile(
    r"^( *)\.\. math::(?: (?P<first>.+))?\n(?P<rest>(?:\1 +\S.*\n|[ ]*\n)*)", flags=re.MULTILINE
)
_BORDER = re.compile(r"^ *=+(?: +=+)+$")
_INLINE = re.compile(r":math:`([^`]+)`", flags=re.DOTALL)
_NOTE = re.compile(r"^( *)\.\. \[(\d+)\] ", flags=re.MULTILINE)
_DOCTEST = re.compile(r"^>>> .*\n(?:.+\n)*", flags=re.MULTILINE)
_CITED = re.compile(r" ?\[(\d+)\]_")
# The choices of a parameter; griffe would take the first of them for its default.
_CHOICES = re.compile(r"^(\w[\w, ]* : )\{([^}\n]+)\}", flags=re.MULTILINE)


class Docstrings(griffe.Extension):
    """Turn what is reStructuredText into Markdown."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of an object once it is read."""
        if obj.docstring is None:
            return
        text = to_markdown(obj.docstring.value)
        if obj.is_module:  # elsewhere they stand in the section Examples, which is known
            text = _DOCTEST.sub(lambda match: f"```pycon\n{match[0]}```\n", text + "\n")
        obj.docstring.value = text


def to_markdown(text: str) -> str:
    """Equations as MathML, numbered references as a list, choices in words."""
    text = _BLOCK.sub(_displayed, text + "\n").rstrip("\n")
    text = _INLINE.sub(lambda match: f"<span>{mathml(match[1], 'inline')}</span>", text)
    text = _tables(text)
    text = _NOTE.sub(r"\1\2. ", text)
    text = _CHOICES.sub(lambda match: match[1] + " or ".join(match[2].split(", ")), text)
    return _CITED.sub(r" (reference \1)", text)


def _displayed(match: re.Match[str]) -> str:
    # A blank line ends raw HTML in Markdown, so an equation is one line.
    first = match["first"] or ""
    parts = re.split(r"\n\s*\n", f"{first}\n{textwrap.dedent(match['rest'])}".strip())
    lines = "\n\n".join(f'<div class="equation">{mathml(part, "block")}</div>' for part in parts)
    return textwrap.indent(f"\n{lines}\n\n", match[1])


def _tables(text: str) -> str:
    """Simple tables of reStructuredText as tables of Markdown."""
    lines = text.split("\n")
    borders = [i for i, line in enumerate(lines) if _BORDER.match(line)]
    for top, middle, bottom in reversed(list(zip(*[iter(borders)] * 3, strict=False))):
        starts = [match.start() for match in re.finditer(r"=+", lines[top])]
        ends = [*starts[1:], None]
        rows = [
            [line[i:j].strip().replace("|", "\\|") for i, j in zip(starts, ends, strict=True)]
            for line in (*lines[top + 1 : middle], *lines[middle + 1 : bottom])
        ]
        table = [f"| {' | '.join(row)} |" for row in rows]
        table.insert(middle - top - 1, "|---" * len(starts) + "|")
        lines[top : bottom + 1] = table
    return "\n".join(lines)


def mathml(latex: str, display: str) -> str:
    """An equation as MathML."""
    plain = re.sub(r"\s+", " ", latex).replace(r"\tfrac", r"\frac").strip()
    drawn: str = convert(plain, display=display)
    return drawn.replace("\n", " ") if drawn else html.escape(latex)
