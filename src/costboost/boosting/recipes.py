"""What an algorithm says about itself: its card and its docstring."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import TypeVar


@dataclass(frozen=True)
class Recipe:
    """The card of an algorithm, its class attribute ``_recipe``.

    Attributes
    ----------
    idea : str
        What is special about it, in a line.
    source : str
        Authors and year.
    link : str
        Whether theory ties its scores to probabilities: ``"yes"``, ``"no"``, or on what it depends.
    parent : str or None
        The cost-blind algorithm that it is when every mistake costs 1.
    """

    idea: str
    source: str
    link: str = "no"
    parent: str | None = None


REGISTERED: dict[str, type] = {}

_Class = TypeVar("_Class", bound=type)


def register_algorithm(algorithm: _Class) -> _Class:
    """Let model files hold an algorithm of your own: a class decorator.

    A file names the class and holds no code. `costboost.load` finds it if the module that defines
    it was imported before.

    Parameters
    ----------
    algorithm : type
        A subclass of `BoostingClassifier`, with a name that no class of costboost has.

    Returns
    -------
    type
        The same class.
    """
    REGISTERED[algorithm.__name__] = algorithm
    return algorithm


# -- docstrings -----------------------------------------------------------------------------------

_HEADING = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", flags=re.MULTILINE)
_ENTRY = re.compile(r"^(?=\w[\w, ]* : )", flags=re.MULTILINE)


def complete(cls: type) -> None:
    """Add to the docstring of a class what its bases say about its parameters and attributes."""
    if not cls.__dict__.get("__doc__"):
        return
    text, sections = _parse(cls)
    levels = [_parse(base)[1] for base in reversed(cls.__mro__[1:]) if base.__doc__]
    parameters: dict[str, str] = {}
    attributes: dict[str, str] = {}
    for level in (*levels, sections):  # what the class says itself wins
        for name in ("Other Parameters", "Parameters"):
            parameters |= _entries(level.get(name, ""))
        attributes |= _entries(level.get("Attributes", ""))
    filled = {
        "Parameters": "".join(parameters.get(n, "") for n in inspect.signature(cls).parameters),
        "Attributes": "".join(attributes.values()),
    }
    for name, body in (filled | {k: v for k, v in sections.items() if k not in filled}).items():
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
