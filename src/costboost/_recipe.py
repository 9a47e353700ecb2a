"""What a recipe says about itself: the row of the README's table, and its cost-blind parent."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Recipe"]


@dataclass(frozen=True)
class Recipe:
    """The card of an algorithm.

    Parameters
    ----------
    idea : str
        One line for the table of algorithms.
    source : str
        Authors and year.
    link : str
        Whether theory ties the score to a probability: "yes", "no", or what it depends on.
    parent : str or None
        The algorithm that it equals, round by round, when every mistake costs 1: "AdaBoost",
        "SAMME", "RealBoost" or "LogitBoost". The laws compare the two. None if there is none.
    """

    idea: str
    source: str
    link: str = "no"
    parent: str | None = None
