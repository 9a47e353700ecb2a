"""What an algorithm says about itself: its card."""

from __future__ import annotations

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
