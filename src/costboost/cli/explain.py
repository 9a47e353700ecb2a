"""The command ``costboost explain``: why a row got its decision, in money."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from costboost.cli import options, show
from costboost.cli.models import load_model
from costboost.cli.options import ScoringOptions, command, option
from costboost.columns import Source, TableError


@command
def explain(
    asked: ScoringOptions,
    row: int | None = option(
        None,
        "Row of the file as a spreadsheet counts it: a header is row 1. The first one if left out.",
        min=1,
    ),
    top: int = option(10, "Features to show.", min=1),
    as_json: bool = options.AS_JSON,
) -> None:
    """Explain the decision of a row: what each feature adds to the saving, in money."""
    model, _ = load_model(asked.model)
    check_explains(model)
    source = asked.open(model.columns_)
    if row is None:
        row = source.first_row
    X = model.columns_.read(read_row(source, row), source.name, row)
    decided = model.decide(X)
    explanation = model.explain(X, decisions=decided)

    parts = []
    for column, part in zip(model.columns_, explanation.parts[0].tolist(), strict=True):
        if column.is_used:
            parts.append({"feature": column.name, "value": X[column.name][0], "part": part})
    parts.sort(key=lambda member: -abs(member["part"]))
    answer = {
        "row": row,
        "decision": explanation.labels[0],
        "runner_up": explanation.runner_up[0],
        "saving": float(explanation.saving[0]),
        "base": float(explanation.base[0]),
        "probability": dict(zip(model.classes_.tolist(), decided.proba[0].tolist(), strict=True)),
        "expected_cost": dict(
            zip(model.decisions_.tolist(), decided.expected_cost[0].tolist(), strict=True)
        ),
        "parts": parts,
    }
    if as_json:
        show.print_json(answer)
    else:
        print_explanation(Console(), answer, top)


def check_explains(model: Any) -> None:
    """Raise an error if decisions of the model cannot be explained."""
    if model._lack_of_probabilities() or not hasattr(model, "explain"):
        raise TableError(
            f"Decisions of {type(model).__name__} cannot be explained in money. Those of CostBoost "
            "can; `costboost predict` decides without --explain."
        )


def read_row(source: Source, row: int) -> Any:
    """Return a row of a file as a table."""
    import polars as pl

    first = source.first_row
    if row < first:
        raise TableError(f"Row 1 of {source.name} is its header; its first row is --row {first}.")
    frame = source.scan().slice(row - first, 1).collect()
    if not frame.height:
        n_rows = source.scan().select(pl.len()).collect().item()
        raise TableError(
            f"{source.name} has {n_rows:,} rows, the last of them is row {n_rows + first - 1}, so "
            f"there is no row {row}."
        )
    return frame


def print_explanation(console: Console, answer: dict[str, Any], top: int) -> None:
    """Print a decision, its expected costs, and where its saving comes from."""
    saving = answer["saving"]
    console.print(
        f"Row {answer['row']}: [bold]{show.escape(answer['decision'])}[/bold]. It is expected to "
        f"save [bold]{saving:,.2f}[/bold] against the next-best decision, "
        f"{show.escape(answer['runner_up'])}.",
        highlight=False,
    )
    costs = [(None, (name, f"{cost:,.2f}")) for name, cost in answer["expected_cost"].items()]
    show.print_table(console, "", ["decision", ">expected cost"], costs)
    chances = [f"{name} {chance:.1%}" for name, chance in answer["probability"].items()]
    show.say(console, f"Probability: {', '.join(chances)}\n")

    rows: list[Any] = [
        (None, ("base rate", "(a row nothing is known about)", f"{answer['base']:+,.2f}"))
    ]
    for member in answer["parts"][:top]:
        cells = (member["feature"], shown_value(member["value"]), f"{member['part']:+,.2f}")
        rows.append((None, cells))
    others = answer["parts"][top:]
    if others:
        added = sum(member["part"] for member in others)
        rows.append((None, (f"{len(others)} other features", "", f"{added:+,.2f}")))
    rows.append(("bold", ("saving", "", f"{saving:+,.2f}")))
    show.print_table(
        console,
        "Where the saving comes from",
        ["feature", "value", ">adds"],
        rows,
        caption="Base rate and features add up to the saving.",
    )


def shown_value(value: Any) -> str:
    """Return a cell in few digits."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)
