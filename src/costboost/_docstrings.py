"""Class docstrings that list every parameter and attribute, inherited ones too."""

from __future__ import annotations

import ast
import inspect
import re
from typing import Any

__all__ = ["complete"]

_HEADING = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", flags=re.MULTILINE)
_ENTRY = re.compile(r"^(?=\w[\w, ]* : )", flags=re.MULTILINE)
_DEFAULT = re.compile(r"default=(.+)$", flags=re.MULTILINE)


def complete(cls: type) -> None:
    """Add to the docstring of a class what its bases say about its parameters and attributes."""
    # What the class says itself wins. The default of an inherited parameter is that of the class.
    if not cls.__dict__.get("__doc__"):
        return
    text, sections = _parse(cls)
    bases = [_parse(base)[1] for base in cls.__mro__[1:] if base.__doc__ and base is not object]
    known = [sections, *bases]
    parameters = list(inspect.signature(cls).parameters.values())
    entries = [
        _with_default(found, parameter.default)
        for parameter in parameters
        if (found := _first(known, "Parameters", parameter.name)) is not None
    ]
    attributes: dict[str, str] = {}
    for level in reversed(known):
        attributes |= _entries(level.get("Attributes", ""))
    filled = {"Parameters": "".join(entries), "Attributes": "".join(attributes.values())}
    rest = {name: body for name, body in sections.items() if name not in filled}
    for name, body in (filled | rest).items():
        if body:
            text += f"\n\n{name}\n{'-' * len(name)}\n{body.rstrip()}"
    cls.__doc__ = text + "\n"


def _parse(cls: type) -> tuple[str, dict[str, str]]:
    """The text before the first section, and the sections."""
    pieces = _HEADING.split(inspect.cleandoc(cls.__doc__ or ""))
    names, bodies = pieces[1::2], pieces[2::2]
    return pieces[0].rstrip(), dict(zip(names, bodies, strict=True))


def _entries(section: str) -> dict[str, str]:
    """The entries ``name : type`` of a section, by name, each ending with a line break."""
    blocks = [block for block in _ENTRY.split(section) if block.strip()]
    return {block.split(" : ")[0]: block.rstrip() + "\n" for block in blocks}


def _first(levels: list[dict[str, str]], section: str, name: str) -> str | None:
    for level in levels:
        entry = _entries(level.get(section, "")).get(name)
        if entry is not None:
            return entry
    return None


def _with_default(entry: str, default: Any) -> str:
    """The entry with the default that the constructor has."""
    stated = _DEFAULT.search(entry.splitlines()[0])
    if stated is None or ast.literal_eval(stated.group(1)) == default:
        return entry
    real = f'"{default}"' if isinstance(default, str) else repr(default)
    return entry[: stated.start()] + f"default={real}" + entry[stated.end() :]
