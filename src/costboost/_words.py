"""Numbers as people read them, the same way everywhere: money, shares, counts."""

from __future__ import annotations

import math


def money(value: float, unit: str = "", *beside: float) -> str:
    """An amount: whole from 100 on, below that with cents, below 0.10 with two significant digits.

    Amounts that are read together (`beside`), such as an interval, share the decimals of the
    largest.
    """
    size = max((abs(x) for x in (value, *beside) if math.isfinite(x)), default=0.0)
    decimals = 0 if size >= 99.995 else 2
    if 0 < size < 0.1:
        decimals = 1 - math.floor(math.log10(size))
    text = f"{abs(value):,.{decimals}f}"
    is_negative = value < 0 and bool(text.strip("0.,"))
    # The sign stands before the unit.
    return f"{'−' if is_negative else ''}{unit}{' ' if len(unit) > 1 else ''}{text}"


def span(low: float, high: float, unit: str = "", *beside: float) -> str:
    """An interval of money."""
    return f"{money(low, unit, high, *beside)} to {money(high, unit, low, *beside)}"


def count(value: float) -> str:
    """A number of rows; with a decimal only if it is not whole, as weights may make it."""
    return f"{value:,.0f}" if abs(value - round(value)) < 1e-9 else f"{value:,.1f}"


def percent(share: float) -> str:
    """A share in percent, with one decimal; below 0.1 % with two significant digits."""
    if 0 < abs(share) < 0.001:
        return f"{100 * share:.2g}\u00a0%"
    return f"{100 * share:.1f}\u00a0%"


def number(value: float) -> str:
    """A number that is no money: four significant digits, whole ones in full, no false decimals."""
    if math.isnan(value):
        return "missing"
    if abs(value) >= 10_000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.4g}"
