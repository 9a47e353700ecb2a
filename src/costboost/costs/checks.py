"""What the readers of costs share: names in messages, numbers, refusals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats

__all__ = [
    "Uncertain",
    "as_floats",
    "check_finite",
    "is_frame",
    "nearest",
    "parameter",
    "refuse_uncertain",
    "some",
]


LARGEST = 1e300
"""The largest cost: differences and sums of costs must stay finite."""


class Uncertain:
    """A cost that is not one number; see `costboost.costs.uncertain`."""


def parameter(name: str, owner: str) -> str:
    """Name a parameter at the start of an error message."""
    return f"The {name!r} parameter of {owner}" if owner else f"The {name!r} parameter"


def some(items: Sequence[object], limit: int = 5) -> str:
    """List a few items; say how many there are if not all are shown."""
    shown = ", ".join(map(str, items[:limit]))
    verb = "is" if len(items) == 1 else "are"
    return (
        f"{shown} {verb}" if len(items) <= limit else f"{shown} and {len(items) - limit} more are"
    )


def nearest(word: object, known: Iterable[object]) -> str:
    """``"; did you mean 'fraud'?"`` if a known word is near, else nothing."""
    words = {str(other): other for other in known}
    near = get_close_matches(str(word), words, n=1, cutoff=0.6)
    return f"; did you mean {words[near[0]]!r}?" if near else ""


def is_frame(value: object) -> bool:
    """Say whether `value` is a pandas or polars frame, without importing either."""
    return hasattr(value, "columns") and hasattr(value, "to_numpy")


def as_floats(value: Any, name: str, owner: str) -> Floats:
    """Return `value` as an array of floats; no copy if it is one already."""
    rule = f"{parameter(name, owner)} must hold numbers"
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(
            f"{rule} in a rectangular array, got {type(value).__name__} with rows of different "
            "lengths. Give every row the same number of entries."
        ) from None
    if array.dtype.kind == "O":
        for entry in array.flat:
            refuse_uncertain(entry, name, owner)
    if array.dtype.kind not in "fiubO":
        raise TypeError(f"{rule}, got an array of dtype {array.dtype}. Convert it to float.")
    try:
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{rule}, got {type(value).__name__}: {error}. Pass an array of floats."
        ) from None


def refuse_uncertain(entry: object, name: str, owner: str) -> None:
    """Refuse an interval or samples where one number is needed, and say who takes them."""
    if isinstance(entry, Uncertain):
        raise TypeError(
            f"{parameter(name, owner)} must hold plain numbers, got the uncertain {entry!r}. "
            "Uncertain costs are taken by CostBoostClassifier; elsewhere pass the mean costs, "
            "costboost.costs.scenarios(...).expected."
        )


def check_finite(
    array: Floats, name: str, owner: str, classes: AnyArray, decisions: AnyArray
) -> None:
    """Refuse NaN and infinity, and say where the first one stands."""
    # ``array`` is (k, d) or (n, k, d), truth by decision; else its first axis is the rows.
    finite = np.isfinite(array) & (np.abs(array) <= LARGEST)
    if finite.all():
        return
    where = tuple(int(i) for i in np.argwhere(~finite)[0])
    if array.shape[-2:] == (len(classes), len(decisions)) and (
        array.ndim == 3 or name == "cost_matrix"
    ):
        decision, truth = decisions.tolist()[where[-1]], classes.tolist()[where[-2]]
        place = f"deciding {decision!r} when the truth is {truth!r}"
        place += f" on row {where[0]}" if array.ndim == 3 else ""
    else:
        place = f"row {where[0]}"
    raise ValueError(
        f"{parameter(name, owner)} must be finite and at most {LARGEST:g} in size, got "
        f"{array[where]} for {place}. Replace it by a number; forbid a decision with a large cost "
        "instead of infinity."
    )
