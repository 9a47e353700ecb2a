"""The command ``costboost explain``: one decision, in money."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from costboost.cli import arguments
from costboost.cli.failure import tells_errors

__all__ = ["explain"]


@tells_errors
def explain(
    model: arguments.Model,
    table: arguments.Table,
    row: Annotated[
        int, typer.Option(min=1, help="Row of the file, counted from 1 without the header.")
    ] = 1,
    top: Annotated[int, typer.Option(min=1, help="Features to show.")] = 10,
    delimiter: arguments.Delimiter = None,
    encoding: arguments.Encoding = None,
    as_json: arguments.AsJson = False,
) -> None:
    """Explain the decision of a row: what each feature adds to the saving, in money."""
    from costboost.cli.models import load_model
    from costboost.cli.show import print_json
    from costboost.columns import TableError, open_source

    fitted, recipe = load_model(model)
    if not hasattr(fitted, "explain"):
        raise TableError(
            f"{type(fitted).__name__} cannot explain decisions in money; CostBoost can."
        )
    source = open_source(table, delimiter=delimiter, encoding=encoding)
    frame = source.scan().slice(row - 1, 1).collect()
    if not frame.height:
        rows = source.scan().select(_length()).collect().item()
        raise TableError(f"{source.name} has {rows:,} rows, so there is no row {row}.")
    X = recipe.features(frame, source.name)
    found = fitted.explain(X)
    values = {
        "row": row,
        "decision": found.labels[0],
        "runner_up": found.runner_up[0],
        "saving": float(found.saving[0]),
        "base": float(found.base[0]),
        "probability": {
            str(label): float(p)
            for label, p in zip(fitted.classes_.tolist(), fitted.predict_proba(X)[0], strict=True)
        },
        "expected_cost": {
            str(label): float(cost)
            for label, cost in zip(
                fitted.decisions_.tolist(), fitted.predict_cost(X)[0], strict=True
            )
        },
        "parts": [
            {"feature": name, "value": X[name].iloc[0], "part": float(part)}
            for name, part in sorted(
                zip(found.feature_names, found.parts[0], strict=True), key=lambda one: -abs(one[1])
            )
        ],
    }
    if as_json:
        print_json(values)
        return
    _show(Console(), values, top)


def _length() -> Any:
    import polars as pl

    return pl.len()


def _show(console: Console, values: dict[str, Any], top: int) -> None:
    decision, other = escape(str(values["decision"])), escape(str(values["runner_up"]))
    console.print(
        f"Row {values['row']}: [bold]{decision}[/bold]. It is expected to save "
        f"[bold]{values['saving']:,.2f}[/bold] against the next-best decision, {other}.",
        highlight=False,
    )
    facts = Table(show_edge=False, pad_edge=False)
    facts.add_column("decision")
    facts.add_column("expected cost", justify="right")
    for name, cost in values["expected_cost"].items():
        facts.add_row(escape(name), f"{cost:,.2f}")
    console.print(facts)
    chances = ", ".join(f"{name} {p:.1%}" for name, p in values["probability"].items())
    console.print(f"Probability: {escape(chances)}\n", highlight=False)
    table = Table(
        title="Where the saving comes from", title_justify="left", show_edge=False,
        pad_edge=False, caption="Base rate and features add up to the saving.",
        caption_justify="left",
    )  # fmt: skip
    table.add_column("feature", overflow="fold")
    table.add_column("value", overflow="fold")
    table.add_column("adds", justify="right")
    table.add_row("base rate", "(a row nothing is known about)", f"{values['base']:+,.2f}")
    shown = values["parts"][:top]
    for part in shown:
        value = part["value"]
        text = f"{value:.6g}" if isinstance(value, float) else str(value)
        style = "green" if part["part"] > 0 else "red"
        table.add_row(
            escape(part["feature"]), escape(text), f"[{style}]{part['part']:+,.2f}[/{style}]"
        )
    rest = values["parts"][top:]
    if rest:
        table.add_row(
            f"{len(rest)} other features", "", f"{sum(part['part'] for part in rest):+,.2f}"
        )
    table.add_row("saving", "", f"{values['saving']:+,.2f}", style="bold")
    console.print(table)
