"""All that a model says of the rows of a request, by one pass over the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from costboost._typing import AnyArray
from costboost.decisions import Decisions


def decide_rows(
    model: Any, table: pd.DataFrame | AnyArray, costs: Any, capacity: Mapping[Any, Any] | None
) -> Decisions:
    """Decide rows at the least expected cost, within limits if there are any."""
    if capacity is not None:
        decided: Decisions = model.decide(table, costs=costs, capacity=capacity)
        return decided
    answer = model._answer(table, costs)
    return Decisions(
        answer.codes,
        decisions=answer.costs.decisions,
        classes=model.classes_,
        proba=answer.proba,
        expected_cost=answer.expected,
        costs=answer.costs,
    )
