"""Laws of metrics and of training objectives: functions of a callable and a case."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from helpers.arrays import AnyArray
from laws.case import ACTIONS, Case
from laws.comparing import broken, random_of
from laws.outcome import refused

__all__ = [
    "has_finite_derivatives",
    "measures_or_refuses",
    "measures_ratios_of_weights",
    "measures_rows_in_any_order",
    "measures_weights_as_rows",
    "scales_with_costs",
]

# How far two measurements may be apart, relative to their size, that should be equal.
_ROUNDING = 1e-9
# Powers of two by which costs are multiplied; costs above 1e12 are refused.
_UNITS = (-40, -3, 3, 35)

Metric = Callable[..., Any]


def _drawn(metric: Metric, case: Case) -> dict[str, AnyArray]:
    """What a metric is told about each row, beside truth, weights and costs, by its signature."""
    rng, n = random_of(case), len(case.codes)
    lucky = rng.integers(len(case.labels), size=n)
    codes = np.where(rng.random(n) < 0.7, case.codes, lucky)  # right on most rows
    actions = np.array(ACTIONS)[rng.integers(len(ACTIONS), size=n)]
    told = {
        "y_pred": actions if case.prices.form == "decisions" else case.labels[codes],
        "y_score": np.round(codes + rng.normal(size=n), 1),  # some are equal
        "segments": np.array(["a", "b", "c"])[rng.integers(3, size=n)],
        "groups": rng.integers(5, size=n),
    }
    names = inspect.signature(metric).parameters
    return {name: value for name, value in told.items() if name in names}


def _measured(metric: Metric, case: Case, told: dict[str, AnyArray]) -> Any:
    """The measurement, as an array of floats; None if the case was refused."""
    cost_matrix, costs = case.prices.arguments(case.labels)
    given = {
        "cost_matrix": cost_matrix,
        "costs": costs,
        "labels": case.labels,
        "sample_weight": case.weights,
        "X": case.X(),
    }
    names = inspect.signature(metric).parameters
    if not any(one.kind is one.VAR_KEYWORD for one in names.values()):
        given = {name: value for name, value in given.items() if name in names}

    def measure() -> Any:
        return metric(y_true=case.y(), **told, **given)

    value, error = refused(measure, metric, case)
    if error is not None:
        return None
    is_number = isinstance(value, float) or (
        isinstance(value, np.ndarray) and value.dtype == np.float64
    )
    if not (is_number and np.isfinite(value).all()):
        raise broken(metric, f"measures {value!r}, which is not finite floats", case)
    return np.atleast_1d(value)


def measures_or_refuses(metric: Metric, case: Case) -> Any:
    """A metric returns finite floats, or refuses the case by a clear error."""
    return _measured(metric, case, _drawn(metric, case))


def _equal(metric: Metric, case: Case, value: Any, other: Any, what: str) -> Any:
    """Break the law unless two measurements are equal up to rounding."""
    if value is None:
        return None
    if other is not None and value.shape == other.shape:
        size = np.maximum(np.maximum(np.abs(value), np.abs(other)), 1e-6)
        if (np.abs(value - other) <= _ROUNDING * size).all():
            return value
    raise broken(metric, f"measures {value}, and {other} {what}", case)


def _of_rows(told: dict[str, AnyArray], rows: AnyArray) -> dict[str, AnyArray]:
    return {name: value[rows] for name, value in told.items()}


def measures_rows_in_any_order(metric: Metric, case: Case) -> Any:
    """The order of the rows changes nothing but rounding."""
    told, order = _drawn(metric, case), random_of(case).permutation(len(case.codes))
    value = _measured(metric, case, told)
    other = _measured(metric, case.take(order), _of_rows(told, order))
    return _equal(metric, case, value, other, "in another order")


def measures_weights_as_rows(metric: Metric, case: Case) -> Any:
    """A row of weight 2 is two rows."""
    n, told = len(case.codes), _drawn(metric, case)
    counts = random_of(case).integers(1, 4, n)
    rows = np.repeat(np.arange(n), counts)
    value = _measured(metric, replace(case, weights=counts.astype(float)), told)
    other = _measured(metric, replace(case, weights=None).take(rows), _of_rows(told, rows))
    return _equal(metric, case, value, other, "by repeated rows")


def measures_ratios_of_weights(metric: Metric, case: Case) -> Any:
    """Weights times a constant change nothing but rounding; rows of weight 0 are no rows."""
    n, told = len(case.codes), _drawn(metric, case)
    weights = random_of(case).integers(0, 4, n).astype(float)
    weights[0] = 1.0
    rows = np.flatnonzero(weights)
    value = _measured(metric, replace(case, weights=weights), told)
    fewer = replace(case, weights=3.0 * weights).take(rows)
    other = _measured(metric, fewer, _of_rows(told, rows))
    return _equal(metric, case, value, other, "with weights times 3, without those of weight 0")


def scales_with_costs(metric: Metric, case: Case) -> Any:
    """Costs in another unit (times a power of two) scale the measurement, or leave it as it is."""
    power = int(random_of(case).choice(_UNITS))
    told = _drawn(metric, case)
    value = _measured(metric, case, told)
    scaled = replace(case, prices=case.prices.times(2.0**power))
    other = _measured(metric, scaled, told)
    if (value is None) != (other is None):
        raise broken(metric, f"refuses costs only once, times 2^{power}", case)
    if value is not None:
        is_right = (other == value) | (other == np.ldexp(value, power))
        if not is_right.all():
            raise broken(metric, f"measures {value}, and {other} with costs times 2^{power}", case)
    return value


def has_finite_derivatives(objective: Callable[..., Any], case: Case) -> Any:
    """A training objective has finite gradients and Hessians, positive where a row has weight."""
    # Rows in another order have the same derivatives in that order.
    rng, n, k = random_of(case), len(case.codes), len(case.labels)
    coded = case.relabelled(np.arange(k), range(k))
    size = float(rng.choice([0.0, 1.0, 30.0, 1e3, 1e6]))

    def derivatives(of: Case, scores: AnyArray) -> Any:
        cost_matrix, costs = of.prices.arguments(of.labels)
        made = objective(costs=costs, cost_matrix=cost_matrix)
        return made.derivatives(of.codes, scores, of.weights)

    is_binary = getattr(objective, "is_binary", k == 2)
    scores = rng.normal(size=n if is_binary else (n, k)) * size
    owner: Any = type(objective) if not hasattr(objective, "__module__") else objective
    found, error = refused(lambda: derivatives(coded, scores), owner, case)
    if error is not None:
        return None
    gradient, hessian = found
    if not (np.isfinite(gradient).all() and np.isfinite(hessian).all()):
        raise broken(objective, "has derivatives that are not finite", case)
    counted = np.ones(n, dtype=bool) if coded.weights is None else np.asarray(coded.weights) > 0
    if not (hessian[counted] > 0).all():
        raise broken(objective, "has a Hessian that is not positive", case)
    order = rng.permutation(n)
    moved, _ = refused(lambda: derivatives(coded.take(order), scores[order]), owner, case)
    if moved is not None and not np.allclose(moved[0], gradient[order], rtol=1e-4, atol=1e-30):
        raise broken(objective, "has derivatives that depend on the order of the rows", case)
    return gradient
