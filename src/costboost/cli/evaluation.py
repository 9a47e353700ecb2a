"""What a model's decisions cost on rows whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from costboost._typing import Floats
from costboost.cli.problem import Rows
from costboost.columns import TableError

if TYPE_CHECKING:
    from costboost.report import Case
    from costboost.report.headline import Rule

__all__ = ["decision_costs", "evaluation_case", "idle_decision", "money_rules", "rules_as_json"]


def decision_costs(model: Any, X: Any) -> Floats:
    """What each decision costs under each truth: (k, d), or (n, k, d) if rows differ."""
    from costboost.costs import Costs
    from costboost.costs.uncertain import scenarios

    costs = Costs.resolve(
        scenarios(model.cost_matrix).expected,
        classes=model.classes_,
        decisions=model.decisions_,
        n_samples=len(X),
        X=X,
        owner=type(model).__name__,
    )
    return np.asarray(costs.matrix, dtype=np.float64)


def evaluation_case(model: Any, rows: Rows, positive: Any = None, **more: Any) -> Case:
    """The rows as `costboost.report` takes them, with the model's own decisions."""
    has_dates = rows.time is not None and rows.time.dtype.kind == "M"
    more = {"time": rows.time if has_dates else None, "positive": positive, **more}
    if hasattr(model, "predict_proba"):
        from costboost.report.of_model import case_of

        return case_of(model, rows.X, rows.y, rows.weights, **more)
    from costboost.report import make_case

    k = len(model.classes_)
    return make_case(
        rows.y,
        np.full((len(rows), k), 1.0 / k),
        classes=model.classes_,
        decisions=model.decisions_,
        costs=decision_costs(model, rows.X),
        decided=model.predict(rows.X),
        sample_weight=rows.weights,
        **more,
    )


def idle_decision(model: Any, name: str | None) -> Any:
    """The decision that means doing nothing, by the name that was typed; None if none was."""
    if not name:
        return None
    known = {str(label): label for label in model.decisions_.tolist()}
    if name not in known:
        raise TableError(f"--nothing must be a decision, {', '.join(known)}, got {name!r}.")
    return known[name]


def money_rules(model: Any, case: Case) -> tuple[list[Rule], str]:
    """Doing nothing, the best constant decision, the threshold of 0.5 and the model."""
    from costboost.report.headline import headline

    found = headline(case)
    rules = found.rules
    if not hasattr(model, "predict_proba"):
        rules = [rule for rule in rules if rule.key != "likeliest"]
    return rules, found.unit


def rules_as_json(rules: list[Rule]) -> list[Mapping[str, Any]]:
    """The rules as plain dictionaries."""
    return [asdict(rule) for rule in rules]
