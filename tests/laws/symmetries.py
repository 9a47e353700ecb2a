"""Laws of classifiers that compare two fits: other units, other names, other orders.

They hold where theory says so, on cases without ties (`plain_cases`); the table of exceptions is in
the guide.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from helpers.arrays import AnyArray
from laws.case import Case
from laws.comparing import COST_UNITS, WEIGHT_UNITS, random_of, same
from laws.outcome import Outcome, outcome

__all__ = [
    "counts_weights_as_rows",
    "ignores_names_of_classes",
    "ignores_order_of_classes",
    "ignores_order_of_rows",
    "ignores_unit_of_costs",
    "ignores_unit_of_weights",
]


def ignores_unit_of_costs(estimator: Any, case: Case) -> Outcome:
    """Costs in another unit (times a power of two) change no decision and no probability."""
    # In half of the cases the weights are in an unusual unit too, so that products of the two would
    # be infinite or 0.
    of_costs, of_weights, is_both = _units(case)
    first = _weighted(case, of_weights if is_both else 0)
    other = replace(first, prices=case.prices.times(2.0**of_costs))
    return _compared(estimator, first, other, f"when costs are multiplied by 2^{of_costs}")


def ignores_unit_of_weights(estimator: Any, case: Case) -> Outcome:
    """Weights in another unit (times a power of two) change no decision and no probability."""
    # In half of the cases the costs are in an unusual unit too.
    of_costs, of_weights, is_both = _units(case)
    prices = case.prices.times(2.0 ** (of_costs if is_both else 0))
    first = replace(_weighted(case, 0), prices=prices)
    other = _weighted(first, of_weights)
    return _compared(estimator, first, other, f"when weights are multiplied by 2^{of_weights}")


def _units(case: Case) -> tuple[int, int, bool]:
    """Powers of two for costs and for weights, and whether both are to be unusual."""
    rng = random_of(case)
    place = rng.integers(len(COST_UNITS))
    return COST_UNITS[place], WEIGHT_UNITS[place], bool(rng.integers(2))


def _weighted(case: Case, power: int) -> Case:
    """The case with weights, in a unit of a power of two."""
    weights = np.ones(len(case.codes)) if case.weights is None else case.weights
    return replace(case, weights=weights * 2.0**power)


def _compared(estimator: Any, first: Case, second: Case, what: str) -> Outcome:
    """The outcome of two cases that should have the same one."""
    return same(estimator, outcome(estimator, first), outcome(estimator, second), first, what)


def ignores_names_of_classes(estimator: Any, case: Case) -> Outcome:
    """Other names for the classes, in the same order, change the names and nothing else."""
    k = len(case.labels)
    named = case.relabelled(np.array([f"class {i:03}" for i in range(k)]), range(k))
    first, second = outcome(estimator, case), outcome(estimator, named)
    if second.refusal is None and first.refusal is None:
        own = np.asarray(getattr(second.model, "decisions_", second.model.classes_))
        if own.tolist() == second.model.classes_.tolist():
            second = replace(second, decisions=_renamed(second, named, case))
    elif (first.refusal is None) != (second.refusal is None):
        # Labels of some types are refused, and positive classes may have to be named.
        return first
    return same(estimator, first, second, case, "when classes get other names", exact=True)


def _renamed(found: Outcome, named: Case, case: Case) -> AnyArray:
    """The decisions under the names of another case with the same classes."""
    place = {label: i for i, label in enumerate(named.labels.tolist())}
    return case.labels[[place[x] for x in np.asarray(found.decisions).tolist()]]


def ignores_order_of_classes(estimator: Any, case: Case) -> Outcome:
    """Classes whose names sort the other way round are permuted, up to rounding and ties."""
    k = len(case.labels)
    turned = case.relabelled(case.labels, range(k)[::-1])
    first, second = outcome(estimator, case), outcome(estimator, turned)
    if second.refusal is None:
        place = {label: i for i, label in enumerate(case.labels.tolist())}
        back = [k - 1 - place[x] for x in np.asarray(second.decisions).tolist()]
        proba = None if second.proba is None else second.proba[:, ::-1]
        second = replace(second, decisions=case.labels[back], proba=proba)
    return same(estimator, first, second, case, "when classes change places")


def ignores_order_of_rows(estimator: Any, case: Case) -> Outcome:
    """Training rows in another order change nothing but rounding."""
    other = case.take(random_of(case).permutation(len(case.codes)))
    return _compared(estimator, case, other, "when rows change places")


def counts_weights_as_rows(estimator: Any, case: Case) -> Outcome:
    """A row of weight a + b is two rows of weights a and b."""
    n, rng, whole = len(case.codes), random_of(case), _weighted(case, 0)
    part = np.where(rng.random(n) < 0.5, rng.uniform(0.2, 0.8, n), 0.0)
    split = np.flatnonzero(part)
    repeated = whole.take(np.concatenate([np.arange(n), split]))
    shares = repeated.weights * np.concatenate([1.0 - part, part[split]])
    other = replace(repeated, weights=shares)
    return _compared(estimator, whole, other, "when rows are split into two")
