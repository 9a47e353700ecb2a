"""What a report is about: rows with a known truth, probabilities, costs and decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats, Ints

__all__ = ["Case", "Rival"]

Explain = Callable[[Ints], Floats]
"""Maps row numbers to (rows, features): each feature's part, in money, of what the decision taken
is expected to save against the next-best one. Positive parts speak for the decision taken."""


@dataclass(frozen=True, eq=False)
class Rival:
    """Another way to decide on the same rows.

    Attributes
    ----------
    decided : array of shape (n,)
        Codes of its decisions.
    proba : array of shape (n, k) or None
        Its probabilities of the classes, where it has them.
    """

    decided: Ints
    proba: Floats | None


@dataclass(frozen=True, eq=False)
class Case:
    """Arrays that a report is made of; `make_case` checks and completes them.

    Attributes
    ----------
    classes, decisions : tuple
        Labels of the k classes (the truth) and of the d decisions.
    codes : array of shape (n,)
        Code of each row's true class.
    proba : array of shape (n, k)
        Probabilities of the classes.
    matrix : array of shape (k, d) or (n, k, d)
        What each decision costs for each truth, as known when deciding.
    prices : array of shape (n, d)
        What each decision costs on the row, its truth being known.
    weights : array of shape (n,)
        How often each row counts.
    decided : array of shape (n,)
        Codes of the model's decisions.
    nothing : int
        Code of the decision that means doing nothing.
    time : array of datetime64 of shape (n,) or None
        When each row happened.
    amount : tuple of (name, array of shape (n,)) or None
        The column whose deciles the report shows.
    segments : mapping of name to array of shape (n,)
        Columns to break the costs down by.
    features : mapping of name to array of shape (n,)
        Values of the features, in the order of the columns of `explain`.
    explain : callable or None
        Maps row numbers to an array (rows, features): parts of the saving, in money.
    rounds : mapping of name to array
        Mean cost after each boosting round.
    rivals : mapping of name to Rival
        Other ways to decide.
    ids : array of shape (n,) or None
        Names of the rows.
    title, unit : str
        Heading of the page; sign of the currency, for example ``"€"``.
    settings : mapping of str to str
        Settings of the model, as text.
    """

    classes: tuple[Any, ...]
    decisions: tuple[Any, ...]
    codes: Ints
    proba: Floats
    matrix: Floats
    prices: Floats
    weights: Floats
    decided: Ints
    nothing: int
    time: AnyArray | None = None
    amount: tuple[str, Floats] | None = None
    segments: Mapping[str, AnyArray] = field(default_factory=dict)
    features: Mapping[str, AnyArray] = field(default_factory=dict)
    explain: Explain | None = None
    rounds: Mapping[str, Floats] = field(default_factory=dict)
    rivals: Mapping[str, Rival] = field(default_factory=dict)
    ids: AnyArray | None = None
    title: str = "Cost report"
    unit: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.codes)

    @property
    def k(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def d(self) -> int:
        """Number of decisions."""
        return len(self.decisions)

    @property
    def is_per_row(self) -> bool:
        """Whether each row has a cost matrix of its own."""
        return self.matrix.ndim == 3

    def cost_of(self, truth: int, decision: int) -> Floats | float:
        """Cost of a pair: a number, or one per row."""
        if self.is_per_row:
            return self.matrix[:, truth, decision]
        return float(self.matrix[truth, decision])

    @cached_property
    def average(self) -> Floats:
        """Mean cost matrix (k, d)."""
        if not self.is_per_row:
            return self.matrix
        return np.tensordot(self.weights / self.weights.sum(), self.matrix, axes=1)

    @cached_property
    def right(self) -> Ints:
        """Cheapest decision of each class, by the mean costs (k,)."""
        cheapest: Ints = self.average.argmin(axis=1)
        return cheapest

    @cached_property
    def risky(self) -> Ints:
        """Classes for which doing nothing is a mistake."""
        return np.flatnonzero(self.right != self.nothing)

    @cached_property
    def risk(self) -> Floats:
        """Probability (n,) that doing nothing is a mistake."""
        return sum_columns(self.proba, self.risky)

    def paid(self, decided: Ints) -> Floats:
        """What the decisions cost, each row once (n,)."""
        return np.take_along_axis(self.prices, decided[:, None], axis=1)[:, 0]

    def total(self, decided: Ints) -> float:
        """What the decisions cost together."""
        return float((self.paid(decided) * self.weights).sum())


def sum_columns(table: Floats, columns: Ints) -> Floats:
    """Sum of some columns, added from left to right: JavaScript gets the same bits."""
    total = np.zeros(len(table))
    for column in columns:
        total += table[:, column]
    return total


def sums(place: Ints, values: Floats, size: int = 0) -> Floats:
    """Sum of the values at each place (at least `size` places)."""
    return np.bincount(place, values, minlength=size).astype(np.float64)


def texts(labels: Sequence[Any]) -> list[str]:
    """Labels as a page shows them."""
    return [str(label) for label in labels]
