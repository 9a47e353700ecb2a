"""The case of a fitted classifier on rows whose truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import Costs
from costboost.costs.forms import positive_of
from costboost.costs.labels import positive_code
from costboost.estimator import CostSensitiveClassifier, column_of
from costboost.report.case import Case, make_case


def case_of(
    model: CostSensitiveClassifier,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    costs: Any = None,
    time: Any = None,
    amount: Any = None,
    segments: Any = None,
    positive: Any = None,
    ids: Any = None,
    **options: Any,
) -> Case:
    """Gather what a report needs from a fitted classifier; `options` are those of `make_case`."""
    proba, known, decided = model.judged(X, y, costs=costs)
    form = model.cost_matrix if costs is None else costs
    owner = f"{type(model).__name__}.report"
    return make_case(
        model.classes_[known.codes],
        proba,
        classes=model.classes_,
        decisions=known.decisions,
        costs=known.matrix,
        prices=known.prices if known.matrix is None else None,
        decided=decided,
        sample_weight=sample_weight,
        positive=_positive(positive, form, known),
        time=column_of(time, X, "time", owner),
        amount=_named(amount, X, "amount", owner),
        segments=_segments(segments, X, owner),
        features=X if hasattr(X, "columns") else None,
        explain=_explainer(model, X, costs, known, decided),
        rounds=_rounds(model),
        ids=column_of(ids, X, "ids", owner),
        settings=model.get_params(deep=False),
        **options,
    )


def _positive(given: Any, form: Any, known: Costs) -> Any:
    """The class that calls for action: named, usual, or the rarer one."""
    named = positive_of(form) if given is None else given
    if named is not None or len(known.classes) != 2:
        return named
    try:
        code = positive_code(None, known.classes, "positive", "report")
    except ValueError:
        code = int(np.bincount(known.codes, minlength=2).argmin())
    return known.classes.tolist()[code]


def _named(column: Any, X: Any, name: str, owner: str) -> tuple[str, AnyArray] | None:
    if column is None:
        return None
    if isinstance(column, tuple):
        return column
    label = column if isinstance(column, str) else name
    return label, np.asarray(column_of(column, X, name, owner))


def _segments(segments: Any, X: Any, owner: str) -> Any:
    if isinstance(segments, str):
        segments = [segments]
    if isinstance(segments, Sequence):
        return {str(name): column_of(name, X, "segments", owner) for name in segments}
    return segments


def _explainer(model: Any, X: Any, costs: Any, known: Costs, decided: AnyArray) -> Any:
    """From row numbers to parts in money; None if the model does not explain itself."""
    if not hasattr(model, "explain") or not hasattr(X, "columns"):
        return None
    places = {label: d for d, label in enumerate(known.decisions.tolist())}
    codes = np.array([places[label] for label in np.asarray(decided).tolist()], dtype=np.intp)

    def parts(rows: Ints) -> Floats:
        some = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
        own = None if costs is None or known.matrix is None else known.take(rows).matrix
        found = model.explain(some, costs=own, codes=codes[rows])
        table = np.zeros((len(rows), len(X.columns)))
        place = {str(name): j for j, name in enumerate(X.columns)}
        for f, name in enumerate(found.feature_names):
            table[:, place[name]] = found.parts[:, f]
        return table

    return parts


def _rounds(model: Any) -> dict[str, Floats] | None:
    """Mean held-out cost of a booster after each round, if the fit kept it."""
    heads = getattr(model, "evals_result_", None) or {}
    boosters: list[Any] = next(iter(heads.values()), [])
    costs = [one["held_out"]["cost"] for one in boosters if "cost" in one.get("held_out", {})]
    if not costs or not all(len(cost) for cost in costs):
        return None
    longest = max(len(cost) for cost in costs)
    # Boosters that stopped early stay where they are.
    padded = [np.pad(cost, (0, longest - len(cost)), mode="edge") for cost in costs]
    return {"held-out rows, one booster": np.mean(padded, axis=0)}
