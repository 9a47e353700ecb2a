r"""Costs that are expected of rows from their columns, where `predict` is not given them.

The expected cost of a decision d is then

.. math:: E[C_d \mid x] = \sum_y P(y \mid x) \, E[C_{yd} \mid y, x].

Small boosters learn the entries (y, d) of the cost matrix that vary over the rows: one for all
entries that follow from each other by a straight line. They are trained on all rows where these
have whole matrices, and on the rows of the class where only the costs under that class are known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from costboost._typing import Floats
from costboost.costs import RealizedCosts
from costboost.gbm.calibration import BLEND_ROWS
from costboost.gbm.data import Totals, TrainingTable, held_out_data
from costboost.gbm.members import usual_member
from costboost.gbm.models import CostEntry, CostModel
from costboost.gbm.objectives import ExpectedCost
from costboost.gbm.parameters import CONSTRAINTS
from costboost.gbm.settings import DEFAULTS, TrainingSettings
from costboost.gbm.train import HeldOut, train

# Costs follow from each other if a straight line leaves no more than this share of the variance.
SAME_COST = 1e-9


@dataclass(frozen=True, eq=False)
class LearnedEntry:
    """An entry of the cost matrix that models learn."""

    objective: ExpectedCost
    slopes: Floats  # (k, d): units of it that each entry has which follows from it


@dataclass(frozen=True)
class CostPlan:
    """The entries of the cost matrix that are learned, or why there are none."""

    entries: list[LearnedEntry]
    without_costs: str = ""  # what `predict` does if it is not given the costs, in words


def plan_cost_model(
    table: TrainingTable, settings: TrainingSettings, *, is_wanted: bool, costs_known: object
) -> CostPlan:
    """Return what to learn of the costs of rows."""
    totals = table.totals
    varies = bool((totals.cost_low < totals.cost_high).any())
    if not (table.has_row_costs and is_wanted and varies):
        return CostPlan([])
    by_means = "If predict is not told the costs of rows, it goes by these means: "
    if costs_known is True:
        return CostPlan([], f"{by_means}costs_known=True.")
    if not CONSTRAINTS.isdisjoint(settings.engine_params):
        reason = "boosters of costs would not keep to the constraints of engine_params."
        return CostPlan([], by_means + reason)
    held_out = held_out_data(table.folds)
    if held_out is None:
        return CostPlan([], f"{by_means}no rows are held out to learn costs by.")
    every = slice(None, None, -(-len(held_out) // BLEND_ROWS))
    entries = _entries_to_learn(held_out.take(every).costs, totals)
    if not entries:
        return CostPlan([], f"{by_means}too few held-out rows to learn costs by.")
    verb = "are"
    if len(entries) == 1:
        verb = "is"
    return CostPlan(
        entries,
        "If predict is not told the costs of rows, it expects them from the columns: "
        f"{len(entries)} of them {verb} learned.",
    )


def _entries_to_learn(costs: RealizedCosts, totals: Totals) -> list[LearnedEntry]:
    """Return the entries that vary and do not follow from each other, by some held-out rows."""
    counts = np.bincount(costs.y_index, minlength=len(totals.classes))
    spread = totals.weight[:, None] * (totals.cost_high - totals.cost_low)
    entries: list[LearnedEntry] = []
    for position in np.argsort(-spread, axis=None, kind="stable"):  # those that matter most first
        j, d = (int(i) for i in np.unravel_index(position, spread.shape))
        if counts[j] < DEFAULTS.cost_entry_rows or not spread[j, d] > 0:
            continue
        if costs.matrix is None:
            # Only the costs under a row's own class are known: learn from the rows of that class.
            rows = costs.y_index == j
            values = costs.prices[rows, d]
        else:
            rows = np.ones(len(costs), dtype=np.bool_)
            values = costs.matrix[:, j, d]
        if np.ptp(values) <= SAME_COST * np.abs(values).max():
            continue
        for entry in entries:
            if costs.matrix is None and entry.objective.class_index != j:
                continue
            learned = entry.objective.target(costs, np.ones(len(costs))).y[rows]
            (variance, covariance), (_, total) = np.cov(learned, values)
            if covariance**2 >= (1.0 - SAME_COST) * variance * total:
                entry.slopes[j, d] = covariance / variance
                break
        else:
            if len(entries) < DEFAULTS.cost_entries:
                objective = ExpectedCost(j, d, totals)
                slopes = np.zeros_like(totals.cost_low)
                slopes[j, d] = objective.unit
                entries.append(LearnedEntry(objective, slopes))
    return entries


def fit_cost_model(
    plan: CostPlan, table: TrainingTable, settings: TrainingSettings
) -> tuple[CostModel, Floats]:
    """Train the models of costs, small and few.

    Returns
    -------
    CostModel
        The models.
    array of shape (n, k, d)
        The costs that models of the other folds expect of the held-out rows.
    """
    mean = table.totals.effective_mean
    spec = usual_member(table, settings)
    entries = []
    held_out_scores = []
    for number, entry in enumerate(plan.entries):
        seconds = settings.seconds_left() / (len(plan.entries) - number)
        result = train(table, entry.objective, settings.of_costs(seconds), specs=[spec])
        scores = result.held_out.scores[0]
        base = np.where(entry.slopes != 0, table.totals.mean_entries - entry.slopes - mean, 0.0)
        factors = class_factors(entry, result.held_out, scores)
        entries.append(CostEntry(result.ensemble, base, entry.slopes, factors))
        held_out_scores.append(scores)
    model = CostModel(mean, entries)
    return model, model.with_excess(held_out_scores)


def class_factors(entry: LearnedEntry, held_out: HeldOut, scores: Floats) -> Floats:
    """Return by what to multiply scores so that rows of a class pay what is expected of them."""
    costs = held_out.data.costs
    target = entry.objective.target(costs, held_out.data.sample_weight)
    n_classes = len(entry.slopes)
    expected = np.bincount(costs.y_index, target.weight * np.exp(scores), minlength=n_classes)
    paid = np.bincount(costs.y_index, target.weight * target.y, minlength=n_classes)
    has_both = (expected > 0) & (paid > 0)
    # A class that has no cost here pays like the others.
    of_all = paid.sum() / expected.sum()
    return np.where(has_both, paid / np.where(has_both, expected, 1.0), of_all)
