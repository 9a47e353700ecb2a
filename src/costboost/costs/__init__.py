"""What each decision costs: every form a user may write, reduced to one object.

Rows are the truth and columns the decision, everywhere:

>>> from costboost.costs import Costs
>>> costs = Costs.resolve({"fn": 5, "fp": 1, "positive": "fraud"}, classes=["fraud", "ok"])
>>> print(costs)
costs (rows = truth, columns = decision)
  deciding 'ok' when the truth is 'fraud' costs 5
  deciding 'fraud' when the truth is 'ok' costs 1

Which class is positive is never guessed:

>>> Costs.resolve({"fn": 5, "fp": 1}, classes=["fraud", "ok"])
Traceback (most recent call last):
    ...
ValueError: The 'cost_matrix' parameter must say which class is the positive one: ...

Costs may be arithmetic over columns, ``{"fn": "amount + 15", "fp": 5, "positive": "fraud"}`` (see
`costboost.costs.expressions`), and the decisions need not be the classes: a frame with the rows ok,
fraud and the columns accept, review, block works as it is. Costs that differ from row to row also
come from `per_row`.
"""

from __future__ import annotations

from costboost.costs.expressions import Expression
from costboost.costs.forms import RowCosts, per_row
from costboost.costs.table import Costs, avoidable_share
from costboost.costs.taxonomy import from_taxonomy
from costboost.costs.words import CostSummary

__all__ = [
    "CostSummary",
    "Costs",
    "Expression",
    "RowCosts",
    "avoidable_share",
    "from_taxonomy",
    "per_row",
]
