"""Costs in any form, read for rows: the one place where tests name who reads them."""

from __future__ import annotations

from costboost.costs import Costs


def costs_of_rows(cost_matrix=None, costs=None, *, classes, **given):
    """Return the costs of rows with `matrix`, `prices`, `decisions` and the laws of costs.

    ``codes`` says the class of each row, if it is known; ``X`` has the columns of expressions.
    """
    return Costs.resolve(cost_matrix, costs, classes=classes, **given)
