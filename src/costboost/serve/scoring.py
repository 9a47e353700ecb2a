"""All that a model says of the rows of a request, by one pass over the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from costboost._typing import AnyArray, Ints
from costboost.decisions import allocate
from costboost.decisions.arrays import cheapest_other


@dataclass(frozen=True)
class DecidedRows:
    """Decisions of rows; a model without probabilities has no more than these."""

    chosen: Ints  # (n,), positions among the decisions
    decisions: AnyArray
    proba: Any = None
    expected_cost: Any = None
    runner_up: Any = None
    saving: Any = None
    limit_prices: dict[str, float] = field(default_factory=dict)

    @property
    def total_cost(self) -> float | None:
        """The expected cost of all decisions together."""
        if self.expected_cost is None:
            return None
        return float(self.expected_cost[np.arange(len(self.chosen)), self.chosen].sum())


def decide_rows(
    model: Any, table: pd.DataFrame | AnyArray, costs: Any, capacity: Mapping[Any, Any] | None
) -> DecidedRows:
    """Decide rows at the least expected cost, within limits if there are any."""
    answer = model._answer(table, costs)
    decisions = answer.costs.decisions
    if answer.expected is None:
        if capacity is not None:
            model._check_probabilities("decide")
        return DecidedRows(answer.codes, decisions)
    chosen = answer.codes
    limit_prices = {}
    if capacity is not None:
        allocation = allocate(answer.expected, decisions, capacity=capacity)
        chosen = allocation.codes
        limit_prices = {str(label): price for label, price in allocation.price.items()}
    runner_up, saving = cheapest_other(answer.expected, chosen)
    return DecidedRows(
        chosen,
        decisions,
        proba=answer.proba,
        expected_cost=answer.expected,
        runner_up=runner_up,
        saving=saving,
        limit_prices=limit_prices,
    )
