"""What each decision costs: every form a user may write, reduced to one object.

Rows are the truth and columns the decision, everywhere:

>>> from costboost.costs import read_costs, summarize
>>> costs = read_costs({"fn": 5, "fp": 1, "positive": "fraud"}, classes=["fraud", "ok"])
>>> print(summarize(costs))
costs (rows = truth, columns = decision)
  deciding 'ok' when the truth is 'fraud' costs 5
  deciding 'fraud' when the truth is 'ok' costs 1

Which class is positive is never guessed:

>>> read_costs({"fn": 5, "fp": 1}, classes=["fraud", "ok"])
Traceback (most recent call last):
    ...
ValueError: The 'cost_matrix' parameter must say which class is the positive one: ...

Costs may be arithmetic over columns, ``{"fn": "amount + 15", "fp": 5, "positive": "fraud"}`` (see
`costboost.costs.expressions`), and the decisions need not be the classes: a frame with the rows ok,
fraud and the columns accept, review, block works as it is. Costs that differ from row to row also
come from `per_row`.
"""

from __future__ import annotations

from costboost.costs.costs import Costs, RealizedCosts, avoidable_share
from costboost.costs.expressions import Expression
from costboost.costs.given import per_row, read_costs, read_realized_costs
from costboost.costs.rows import RowCosts
from costboost.costs.spec import CostSpec
from costboost.costs.summary import CostSummary, summarize
from costboost.costs.taxonomy import from_taxonomy

__all__ = [
    "CostSpec",
    "CostSummary",
    "Costs",
    "Expression",
    "RealizedCosts",
    "RowCosts",
    "avoidable_share",
    "from_taxonomy",
    "per_row",
    "read_costs",
    "read_realized_costs",
    "summarize",
]
