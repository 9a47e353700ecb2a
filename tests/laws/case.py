"""A case: rows, labels, weights and costs, which laws can transform before they build them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from costboost.costs import Costs
from helpers.arrays import AnyArray, Floats, Ints
from laws.containers import CONTAINERS, LABEL_CONTAINERS, column_names

__all__ = ["ACTIONS", "Case", "Prices"]

ACTIONS = ("accept", "review", "block")
"""Decisions that are not classes."""


@dataclass(frozen=True)
class Prices:
    """Costs before they take a form."""

    form: str = "none"
    values: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def is_per_row(self) -> bool:
        """Whether the values belong to single rows."""
        return self.form in ("rows", "row prices", "row errors")

    def take(self, rows: Any) -> Prices:
        """The costs of some of the rows."""
        return replace(self, values=self.values[rows]) if self.is_per_row else self

    def times(self, factor: float) -> Prices:
        """All costs multiplied; no costs at all become unit costs times the factor."""
        return replace(self, values=self.values * factor)

    def permuted(self, order: Sequence[int]) -> Prices:
        """The costs after the classes changed places."""
        places, values = list(order), self.values
        if self.form in ("none", "row errors"):
            return self
        if self.form == "decisions":
            return replace(self, values=values[places])
        if self.form == "row prices":
            return replace(self, values=values[:, places])
        if self.form == "rows":
            return replace(self, values=values[:, places][:, :, places])
        return replace(self, values=values[places][:, places])

    def arguments(self, labels: AnyArray) -> tuple[Any, Any]:
        """The costs in their form."""
        values, names = self.values.copy(), labels.tolist()
        if self.form == "none":
            return None, None
        if self.form in ("rows", "row prices", "row errors", "given"):
            return None, values
        if self.form in ("frame", "decisions"):
            import pandas as pd

            columns = names if self.form == "frame" else list(ACTIONS)
            return pd.DataFrame(values, index=names, columns=columns), None
        if self.form == "short":
            short = {"tn": values[0, 0], "fp": values[0, 1], "fn": values[1, 0], "tp": values[1, 1]}
            return {**short, "positive": names[1]}, None
        if self.form == "matrix":
            return values, None
        if self.form == "object":
            return Costs(values, labels), None
        pairs = {(a, b): values[i, j] for i, a in enumerate(names) for j, b in enumerate(names)}
        if self.form == "expression":
            return {
                pair: f"{float(price)!r} * (1 + abs(x0))" for pair, price in pairs.items()
            }, None
        return {pair: float(price) for pair, price in pairs.items()}, None


@dataclass(frozen=True, repr=False)
class Case:
    """What is given to an estimator: training rows, new rows, labels, weights, costs."""

    table: Floats
    codes: Ints
    labels: AnyArray
    new: Floats
    weights: AnyArray | None = None
    prices: Prices = field(default_factory=Prices)
    container: str = "array"
    label_container: str = "array"
    note: str = ""

    def X(self) -> Any:
        """The training rows, in their container."""
        return CONTAINERS[self.container](self.table)

    def X_new(self) -> Any:
        """The new rows, in the same container."""
        return CONTAINERS[self.container](self.new)

    def y(self) -> Any:
        """The labels of the training rows, in their container."""
        return LABEL_CONTAINERS[self.label_container](self.labels[self.codes])

    def take(self, rows: Ints) -> Case:
        """The case of some of the training rows, in this order."""
        return replace(
            self,
            table=self.table[rows],
            codes=self.codes[rows],
            weights=None if self.weights is None else self.weights[rows],
            prices=self.prices.take(rows),
        )

    def relabelled(self, labels: AnyArray, order: Sequence[int]) -> Case:
        """The same rows with other names for the classes."""
        place = np.argsort(np.asarray(order))
        return replace(
            self, labels=labels, codes=place[self.codes], prices=self.prices.permuted(order)
        )

    def __repr__(self) -> str:
        n, d = self.table.shape
        counts = np.bincount(self.codes, minlength=len(self.labels)).tolist()
        lines = [
            f"Case({n} rows, {d} columns as {self.container!r}, {len(self.new)} new rows; labels "
            f"{self.labels.tolist()!r} of {self.labels.dtype} as {self.label_container!r}, "
            f"{counts} rows each; costs {self.prices.form!r}; {self.note})",
        ]
        if n <= 12:
            table = dict(zip(column_names(d), self.table.T.tolist(), strict=True))
            lines.append(f"  X = {table}, y = {self.labels[self.codes].tolist()}")
        if self.weights is not None:
            lines.append(f"  weights = {np.array2string(np.asarray(self.weights), threshold=12)}")
        if self.prices.form != "none":
            shown = np.array2string(self.prices.values, threshold=24)
            lines.append(f"  costs = {shown}")
        return "\n".join(lines)
