"""Laws of metrics and of training objectives: functions of a callable and a case."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from costboost._typing import AnyArray
from costboost.testing.case import ACTIONS, Case
from costboost.testing.outcome import LawBrokenError, refused

__all__ = [
    "has_finite_derivatives",
    "measures_or_refuses",
    "measures_rows_in_any_order",
    "measures_weights_as_rows",
    "scales_with_costs",
]

# How far two measurements may be apart, relative to their size, that should be equal.
_ROUNDING = 1e-9

Metric = Callable[..., float]


def _random(case: Case) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(case.table.tobytes() + case.codes.tobytes()))


def _decided(case: Case) -> AnyArray:
    """Decisions that are right on most rows."""
    rng, n = _random(case), len(case.codes)
    if case.prices.form == "decisions":
        return np.array(ACTIONS)[rng.integers(len(ACTIONS), size=n)]
    lucky = rng.integers(len(case.labels), size=n)
    return case.labels[np.where(rng.random(n) < 0.7, case.codes, lucky)]


def _measured(metric: Metric, case: Case, decided: AnyArray) -> tuple[Any, Exception | None]:
    cost_matrix, costs = case.prices.arguments(case.labels)

    def measure() -> float:
        return metric(
            case.y(),
            decided,
            cost_matrix=cost_matrix,
            costs=costs,
            labels=case.labels,
            sample_weight=case.weights,
            X=case.X(),
        )

    return refused(measure, metric, case)


def _broken(metric: Any, what: str, case: Case) -> LawBrokenError:
    return LawBrokenError(f"{metric.__name__} {what}. On {case!r}")


def measures_or_refuses(metric: Metric, case: Case) -> Any:
    """A metric returns a finite float, or refuses the case by a clear error.

    Parameters
    ----------
    metric : callable
        It takes ``(y_true, y_pred, *, cost_matrix, costs, labels, sample_weight, X)``, as those of
        `costboost.metrics` do.
    case : Case
        Truths, weights and costs; decisions are drawn from it.

    Returns
    -------
    float or None
        The measurement; None if it was refused.
    """
    value, error = _measured(metric, case, _decided(case))
    if error is None and not (isinstance(value, float) and math.isfinite(value)):
        raise _broken(metric, f"measures {value!r}, which is no finite float", case)
    return value


def _near(a: float, b: float, size: float) -> bool:
    return abs(a - b) <= _ROUNDING * max(abs(a), abs(b), size)


def measures_rows_in_any_order(metric: Metric, case: Case) -> Any:
    """The order of the rows changes nothing but rounding.

    Parameters
    ----------
    metric, case
        As in `measures_or_refuses`; a plain case.

    Returns
    -------
    float or None
        The measurement; None if it was refused.
    """
    decided, order = _decided(case), _random(case).permutation(len(case.codes))
    value, error = _measured(metric, case, decided)
    other, _ = _measured(metric, case.take(order), decided[order])
    if error is None and not (other is not None and _near(value, other, 1e-6)):
        raise _broken(metric, f"measures {value!r}, and {other!r} in another order", case)
    return value


def measures_weights_as_rows(metric: Metric, case: Case) -> Any:
    """A row of weight 2 is two rows.

    Parameters
    ----------
    metric, case
        As in `measures_rows_in_any_order`.

    Returns
    -------
    float or None
        The measurement; None if it was refused.
    """
    n, decided = len(case.codes), _decided(case)
    counts = _random(case).integers(1, 4, n)
    rows = np.repeat(np.arange(n), counts)
    value, error = _measured(metric, replace(case, weights=counts.astype(float)), decided)
    other, _ = _measured(metric, replace(case, weights=None).take(rows), decided[rows])
    if error is None and not (other is not None and _near(value, other, 1e-6)):
        raise _broken(metric, f"measures {value!r}, and {other!r} by repeated rows", case)
    return value


def scales_with_costs(metric: Metric, case: Case) -> Any:
    """Costs in another unit (times a power of two) scale the measurement, or leave it as it is.

    Parameters
    ----------
    metric, case
        As in `measures_rows_in_any_order`.

    Returns
    -------
    float or None
        The measurement; None if it was refused.
    """
    power = int(_random(case).choice([-900, -40, -3, 3, 40, 900]))
    decided = _decided(case)
    value, error = _measured(metric, case, decided)
    scaled = replace(case, prices=case.prices.times(2.0**power))
    other, _ = _measured(metric, scaled, decided)
    if error is None and other is not None:
        if other in (value, math.ldexp(value, power)):
            return value
        raise _broken(metric, f"measures {value!r}, and {other!r} with costs times 2^{power}", case)
    if (error is None) != (other is not None):
        raise _broken(metric, f"refuses costs only once, times 2^{power}", case)
    return value


def has_finite_derivatives(objective: Callable[..., Any], case: Case) -> Any:
    """A training objective has finite gradients and Hessians, positive where a row has weight.

    Rows in another order have the same derivatives in that order.

    Parameters
    ----------
    objective : callable
        It takes ``(costs, cost_matrix)`` and returns an object with ``derivatives(labels, scores,
        weights)``, as `costboost.gbm.Objective` has.
    case : Case
        Truths, weights and costs; scores are drawn from it.

    Returns
    -------
    gradient or None
        None if the case was refused.
    """
    rng, n, k = _random(case), len(case.codes), len(case.labels)
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
        raise _broken(objective, "has derivatives that are not finite", case)
    counted = np.ones(n, dtype=bool) if coded.weights is None else np.asarray(coded.weights) > 0
    if not (hessian[counted] > 0).all():
        raise _broken(objective, "has a Hessian that is not positive", case)
    order = rng.permutation(n)
    moved, _ = refused(lambda: derivatives(coded.take(order), scores[order]), owner, case)
    if moved is not None and not np.allclose(moved[0], gradient[order], rtol=1e-4, atol=1e-30):
        raise _broken(objective, "has derivatives that depend on the order of the rows", case)
    return gradient
