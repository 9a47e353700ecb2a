"""Costs in any form, read for rows: the one place where tests name who reads them."""

from __future__ import annotations

from costboost.costs import read_costs, read_realized_costs


def costs_of_rows(cost_matrix=None, costs=None, *, classes, codes=None, n_samples=None, **given):
    """Return the costs of rows: `Costs`, or `RealizedCosts` if ``codes`` are their classes.

    ``X`` has the columns of expressions.
    """
    if codes is None:
        return read_costs(cost_matrix, costs, classes=classes, n_rows=n_samples, **given)
    return read_realized_costs(cost_matrix, costs, classes=classes, y_index=codes, **given)
