"""Algorithms by the names that people type, and their parameters from text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from costboost.columns import TableError

__all__ = ["FLAGSHIP", "algorithm_class", "algorithm_names", "make_model", "read_settings"]

FLAGSHIP = "CostBoost"


def algorithm_names() -> list[str]:
    """Names of all classes, without the ending."""
    import costboost

    names = [name for name in costboost.__all__ if name.endswith("Classifier")]
    return sorted(name.removesuffix("Classifier") for name in names)


def algorithm_class(name: str) -> Any:
    """The class of a name, whatever its capitals and with or without the ending."""
    import costboost

    known = {one.lower(): one for one in algorithm_names()}
    wanted = name.lower().removesuffix("classifier")
    if wanted not in known:
        near = get_close_matches(wanted, known, n=2, cutoff=0.4)
        hint = f" Did you mean {' or '.join(known[one] for one in near)}?" if near else ""
        raise TableError(
            f"--algorithm must be a class of the library, got {name!r}.{hint} There are: "
            f"{', '.join(known.values())}."
        )
    return getattr(costboost, f"{known[wanted]}Classifier")


def read_settings(entries: Sequence[str]) -> dict[str, Any]:
    """Parameters from ``name=value``: numbers, true, false, none, JSON or plain text."""
    found: dict[str, Any] = {}
    for entry in entries:
        name, sign, text = entry.partition("=")
        if not sign or not name.strip():
            raise TableError(f"--set {entry!r} must be name=value, as in --set n_estimators=200.")
        found[name.strip()] = _value(text.strip())
    return found


def _value(text: str) -> Any:
    words = {"true": True, "false": False, "none": None, "null": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return json.loads(text)
    except ValueError:
        return text


def make_model(
    name: str,
    cost_matrix: Any,
    settings: dict[str, Any],
    *,
    seed: int | None,
    exclude_cost_columns: bool = False,
) -> Any:
    """An unfitted classifier."""
    kind = algorithm_class(name)
    known = kind().get_params(deep=False)
    for key in settings:
        if key in ("cost_matrix", "verbose"):
            raise TableError(f"--set {key} cannot be used: other options of the command set it.")
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise TableError(
                f"{kind.__name__} has no parameter {key!r}.{hint} It has: {', '.join(known)}."
            )
    own: dict[str, Any] = (
        {"random_state": seed} if "random_state" in known and seed is not None else {}
    )
    if exclude_cost_columns:
        if "cost_columns" not in known:
            raise TableError(
                f"{kind.__name__} takes every column as a feature, so columns that the costs name "
                "cannot be excluded. Use the default algorithm, or do not exclude them."
            )
        own["cost_columns"] = "exclude"
    return kind(cost_matrix=cost_matrix, **{**own, **settings})
