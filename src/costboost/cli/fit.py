"""The command ``costboost fit``: from a file to a model file, with its worth in money."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from costboost.cli import arguments
from costboost.cli.failure import collected_warnings, tells_errors

__all__ = ["Plan", "fit", "measure", "tell_costs", "train_model"]


@tells_errors
def fit(
    table: arguments.Table,
    target: arguments.Target,
    positive: arguments.Positive = None,
    cost: arguments.CostEntries = None,
    cost_matrix: arguments.CostMatrix = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="MODEL",
            help="Model file to write; TARGET.costboost if left out.",
            show_default=False,
        ),
    ] = None,
    exclude: arguments.Exclude = None,
    category: arguments.Categories = None,
    weight_column: arguments.WeightColumn = None,
    delimiter: arguments.Delimiter = None,
    encoding: arguments.Encoding = None,
    algorithm: arguments.Algorithm = "CostBoost",
    setting: arguments.Settings = None,
    seed: arguments.Seed = 0,
    refit: Annotated[
        bool,
        typer.Option(
            "--refit",
            help="After measuring, train once more on all rows, and save that model.",
            rich_help_panel="The model",
        ),
    ] = False,
    out_of_core: Annotated[
        bool | None,
        typer.Option(
            "--out-of-core/--in-memory",
            help="Train from disk; the default for files that do not fit into memory.",
            rich_help_panel="The model",
            show_default=False,
        ),
    ] = None,
    test_size: arguments.TestSize = 0.2,
    test: arguments.Test = None,
    time_column: arguments.TimeColumn = None,
    group_column: arguments.GroupColumn = None,
    nothing: Annotated[
        str | None,
        typer.Option(
            help="Decision that means doing nothing. By default the right one for the class that "
            "is not positive, or for the most frequent class.",
            rich_help_panel="Held-out rows",
            show_default=False,
        ),
    ] = None,
    save_test: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the held-out rows, for `costboost report` and `monitor`.",
            rich_help_panel="Held-out rows",
            show_default=False,
        ),
    ] = None,
    as_json: arguments.AsJson = False,
    quiet: arguments.Quiet = False,
) -> None:
    """Train a model on a file, and show what its decisions cost on held-out rows."""
    # Example: costboost fit train.csv --target fraud --positive yes --cost "fn=amount+15" --cost
    # fp=5
    from costboost.cli.large import fit_from_disk, is_too_large
    from costboost.cli.problem import Wish
    from costboost.cli.show import print_json
    from costboost.columns import check_output, open_source

    console = Console(stderr=as_json, quiet=as_json)
    path = output or Path(f"{target}.costboost")
    check_output(path, kinds=False)
    if save_test is not None:
        check_output(save_test)
    wish = Wish(
        table, target, positive, tuple(cost or ()), cost_matrix, tuple(exclude or ()),
        tuple(category or ()), weight_column, time_column, group_column, delimiter, encoding,
    )  # fmt: skip
    talk = Console(stderr=as_json, quiet=as_json or quiet)
    plan = Plan(
        path, algorithm, tuple(setting or ()), seed, refit, test_size, test, save_test,
        show_bar=not (as_json or quiet) and sys.stdout.isatty(), talk=talk, nothing=nothing or "",
    )  # fmt: skip
    from_disk = out_of_core
    if from_disk is None and table != "-":
        from_disk = is_too_large(open_source(table, delimiter=delimiter, encoding=encoding))
    found = fit_from_disk(console, wish, plan) if from_disk else _fit(console, wish, plan)
    if as_json:
        print_json(found)


@dataclass(frozen=True)
class Plan:
    """What to train and where to write it."""

    path: Path
    algorithm: str
    settings: tuple[str, ...]
    seed: int
    refit: bool
    test_size: float
    test: str | None
    save_test: Path | None
    show_bar: bool
    talk: Console
    nothing: str = ""


def _fit(console: Console, wish: Any, plan: Plan) -> dict[str, Any]:
    import numpy as np

    from costboost.cli.algorithm import make_model, read_settings
    from costboost.cli.models import save_model
    from costboost.cli.problem import read_problem, read_rows
    from costboost.cli.show import columns_table, note, warn
    from costboost.cli.split import split
    from costboost.columns import open_source, writer

    talk = plan.talk
    problem = read_problem(wish)
    recipe, rows = replace(problem.recipe, nothing=plan.nothing), problem.rows
    talk.print(f"{escape(wish.table)}: {len(rows):,} rows ({problem.source.in_words()})")
    talk.print(columns_table(recipe))
    for text in problem.notes:
        note(talk, text)
    model = make_model(
        plan.algorithm, problem.cost_matrix, read_settings(plan.settings), seed=plan.seed,
        exclude_cost_columns=problem.excludes_cost_columns,
    )  # fmt: skip
    if plan.test is not None:
        other = open_source(plan.test, delimiter=wish.delimiter, encoding=wish.encoding)
        test_frame = other.read()
        test_rows = read_rows(test_frame, recipe, other.name)
        train, words = np.arange(len(rows)), plan.test
    else:
        train, test, words = split(rows, plan.test_size, plan.seed)
        test_rows, test_frame = rows.take(test), problem.frame[test]
    training = rows.take(train)
    talk.print(
        f"\nTraining {type(model).__name__} on {len(training):,} rows; held out: "
        f"{len(test_rows):,} rows ({escape(words)}).",
        highlight=False,
    )
    with collected_warnings() as remarks:
        has_told = train_model(model, training, show_bar=plan.show_bar)
    for text in remarks:
        warn(talk, text)
    if not has_told:
        tell_costs(talk, model)
    found = measure(console, model, test_rows, recipe)
    if plan.refit:
        with collected_warnings():
            train_model(model, rows, show_bar=plan.show_bar)
        note(talk, f"The saved model was trained once more, on all {len(rows):,} rows.")
    save_model(model, recipe, plan.path)
    if plan.save_test is not None and len(test_rows):
        with writer(plan.save_test) as out:
            out.write(test_frame)
    _farewell(console, plan)
    return {
        "model": str(plan.path),
        "class": type(model).__name__,
        "rows": len(rows),
        "columns": [column.to_json() for column in recipe.columns],
        "classes": model.classes_.tolist(),
        "decisions": model.decisions_.tolist(),
        "costs": str(model.costs_),
        "notes": [*problem.notes, *remarks],
        "held_out": {"rows": len(test_rows), "how": words, "ways_to_decide": found},
    }


def tell_costs(console: Console, model: Any) -> None:
    """Say what decisions cost, in words."""
    console.print(
        f"\n[bold]What decisions cost[/bold]\n{escape(str(model.costs_))}", highlight=False
    )


def train_model(model: Any, rows: Any, *, show_bar: bool) -> bool:
    """Fit a model, with a progress bar in a terminal."""
    has_bar = show_bar and "verbose" in model.get_params(deep=False)
    if has_bar:
        model.set_params(verbose=1)
    try:
        model.fit(rows.X, rows.y, rows.weights)
    finally:
        if has_bar:
            model.set_params(verbose=0)
    return has_bar


def measure(console: Console, model: Any, rows: Any, recipe: Any) -> list[Any]:
    """Print what the usual ways to decide cost on held-out rows, and return it for scripts."""
    from costboost.cli.evaluation import (
        evaluation_case,
        idle_decision,
        money_rules,
        rules_as_json,
    )
    from costboost.cli.show import money_table, note

    if len(rows) < 2:
        note(console, "No rows are held out, so nothing was measured.")
        return []
    idle = idle_decision(model, recipe.nothing)
    case = evaluation_case(model, rows, recipe.positive, nothing=idle)
    rules, unit = money_rules(model, case)
    console.print()
    console.print(money_table(rules, len(rows), unit))
    return list(rules_as_json(rules))


def _farewell(console: Console, plan: Plan) -> None:
    name = escape(str(plan.path))
    held_out = plan.save_test or plan.test
    console.print(f"\nWrote [bold]{name}[/bold].")
    plan.talk.print("Next:")
    plan.talk.print(f"  costboost predict {name} new.csv -o decisions.csv", highlight=False)
    if held_out is None:
        plan.talk.print("  --save-test held_out.csv keeps the held-out rows for report and monitor")
    else:
        shown = escape(str(held_out))
        plan.talk.print(f"  costboost report {name} {shown} -o report.html", highlight=False)
