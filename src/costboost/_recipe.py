"""What a recipe says about itself: the row of the README's table, and its cost-blind parent."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Recipe"]


@dataclass(frozen=True)
class Recipe:
    """The card of an algorithm."""

    idea: str
    source: str
    link: str = "no"
    parent: str | None = None
