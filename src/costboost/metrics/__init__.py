"""What decisions cost, and how much of it a classifier saves.

Precision, recall, AUC and F come from scikit-learn. Here are the metrics that know prices:

>>> from costboost.metrics import savings_score, total_cost
>>> truth = ["ok", "ok", "ok", "fraud", "fraud"]
>>> decided = ["ok", "ok", "fraud", "fraud", "ok"]
>>> prices = {"fn": 5, "fp": 1, "positive": "fraud"}
>>> total_cost(truth, decided, cost_matrix=prices)
6.0

Calling every row a fraud would have cost 3, so this classifier loses money against that:

>>> savings_score(truth, decided, cost_matrix=prices)
-1.0

`verdict` says in words whether decisions pay; `costboost.compare` compares methods.
"""

from __future__ import annotations

from costboost.metrics.intervals import Verdict, cost_by, verdict
from costboost.metrics.money import (
    avoidable_cost_score,
    cost_by_threshold,
    mean_cost,
    savings_score,
    total_cost,
)
from costboost.metrics.scorer import make_cost_scorer

__all__ = [
    "Verdict",
    "avoidable_cost_score",
    "cost_by",
    "cost_by_threshold",
    "make_cost_scorer",
    "mean_cost",
    "savings_score",
    "total_cost",
    "verdict",
]
