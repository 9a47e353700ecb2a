"""What each decision costs: every form a user may write, reduced to one object.

Rows are the truth and columns the decision, everywhere:

>>> from costboost.costs import Costs
>>> costs = Costs.resolve({"fn": 5, "fp": 1}, classes=["fraud", "ok"])
>>> print(costs)
costs (rows = truth, columns = decision)
  deciding 'ok' when the truth is 'fraud' costs 1
  deciding 'fraud' when the truth is 'ok' costs 5

The positive class is the last one, here ``"ok"``, and the printout shows that this is not what was
meant. Naming it helps:

>>> print(Costs.resolve({"fn": 5, "fp": 1, "positive": "fraud"}, classes=["fraud", "ok"]))
costs (rows = truth, columns = decision)
  deciding 'ok' when the truth is 'fraud' costs 5
  deciding 'fraud' when the truth is 'ok' costs 1

Costs that differ from row to row come from `per_row`; matrices for experiments from
`class_frequency`, `random_symmetric`, `from_taxonomy` and `normalise`. Entries that are not known
exactly are written with `interval` and `samples`, and `scenarios` makes certain costs of them.
"""

from __future__ import annotations

from costboost.costs._table import Costs
from costboost.costs.generators import (
    class_frequency,
    from_taxonomy,
    normalise,
    per_row,
    random_symmetric,
)
from costboost.costs.uncertain import (
    Interval,
    Samples,
    Scenarios,
    decide_worst,
    interval,
    samples,
    scenarios,
)

__all__ = [
    "Costs",
    "Interval",
    "Samples",
    "Scenarios",
    "class_frequency",
    "decide_worst",
    "from_taxonomy",
    "interval",
    "normalise",
    "per_row",
    "random_symmetric",
    "samples",
    "scenarios",
]
