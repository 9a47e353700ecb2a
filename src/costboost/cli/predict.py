"""The commands ``costboost predict`` and ``costboost explain``: decisions, and reasons for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

from costboost._typing import AnyArray, Floats, Ints
from costboost._words import money, span
from costboost.cli import options, show
from costboost.cli.failure import collected_warnings
from costboost.cli.models import load_model
from costboost.cli.options import ScoringOptions, assigned, check_output, command, listed, option
from costboost.cli.problem import check_names, column_values, texts
from costboost.columns import Columns, TableError, writer
from costboost.costs.forms import expressions_in
from costboost.decisions.arrays import cheapest_other

if TYPE_CHECKING:
    import polars as pl

    from costboost.decisions import Decisions

PERIODS = {"hour": "%Y-%m-%d %H:00", "day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m"}


@command
def predict(
    asked: ScoringOptions,
    output: str = option(
        "-",
        "File to write; its ending says the format. - is the standard output, as CSV.",
        "--output",
        "-o",
        metavar="OUT",
    ),
    capacity: list[str] | None = option(
        None,
        "Limit of a decision: a number of rows (200) or a share of them (0.05); may be repeated.",
        metavar="DECISION=LIMIT",
    ),
    per: str | None = option(
        None,
        "The limits hold in each hour, day, week or month of --time-column, or in each "
        "group of a column.",
    ),
    time_column: str | None = option(
        None, "Column of times for --per; that of the fit if left out."
    ),
    explain: int = option(0, "Add the N strongest reasons, in money.", min=0, metavar="N"),
    keep: list[str] | None = option(
        None, "Column to copy to the output, such as an id; all if left out."
    ),
    prefix: str = option("", "Text to put before the names of the new columns."),
    safe_cells: bool = option(
        False, "Put an apostrophe before texts that a spreadsheet would run as formulas (= + - @)."
    ),
    batch_rows: int = option(
        100_000, "Rows in memory at once; all of them with --capacity.", min=1
    ),
    force: bool = options.FORCE,
    as_json: bool = options.AS_JSON,
) -> None:
    """Decide the rows of a file, and write the decisions beside them."""
    # New columns: decision, probability_CLASS, expected_cost_DECISION, saving (against the
    # next-best decision) and, with --explain, reason_1, reason_2, ...
    if as_json and output == "-":
        raise TableError("--json prints a summary to the standard output: name a file with -o.")
    console = Console(stderr=True, quiet=as_json)
    model, facts = load_model(asked.model)
    source, columns, decisions = asked.open(), model.columns_, model.decisions_.tolist()
    limits = _limits(capacity, decisions)
    if per is not None and not limits:
        raise TableError("--per needs --capacity, as in --capacity review=200 --per day.")
    if explain:
        _check_explains(model)
    given = source.columns()
    check_names(listed(keep), given, "--keep", source.name)
    for column in columns.used:
        if column.name not in given:
            raise columns.lacks(column.name, given, source.name)
    check_output(output, asked.model, asked.table, force=force, table=True)
    expressions, plan = expressions_in(model.cost_matrix), None
    counts, sums, done = np.zeros(len(decisions), dtype=np.int64), np.zeros(len(decisions)), 0
    comma = any(column.decimal == "," for column in columns.used)
    how = {"decimal_comma": comma, "safe_cells": safe_cells}
    with collected_warnings() as remarks, writer(output, source, **how) as write:
        # Limits are those of all rows together.
        for frame in [source.read()] if limits else source.batches(batch_rows):
            first = done + 1 + source.is_text  # counted as a spreadsheet does: a header is row 1
            X = columns.read(frame, source.name, first)
            for expression in expressions:  # all columns of the costs are there
                expression(X, rows=range(first, first + len(X)), of=source.name)
            if limits:
                name = time_column or facts.get("time")
                groups = None if per is None else _groups(frame, columns, per, name, source.name)
                plan = model.decide(X, capacity=limits, per=groups)
            codes, costs, new = _decided(model, X, plan, explain)
            write(_beside(frame, new, listed(keep), prefix, source.name))
            counts += np.bincount(codes, minlength=len(decisions))
            sums += np.bincount(codes, costs, minlength=len(decisions))
            done += len(X)
        if not done:
            raise TableError(f"{source.name} has no rows. Check that it is the right file.")
    show.warn(console, *remarks)
    has_costs = not np.isnan(sums).any()
    if as_json:
        totals = {
            str(name): {"rows": n, "expected_cost": cost if has_costs else None}
            for name, n, cost in zip(decisions, counts.tolist(), sums.tolist(), strict=True)
        }
        prices = None if plan is None else plan.limit_prices
        show.print_json({"output": output, "rows": done, "decisions": totals, "prices": prices})
    rows: list[Any] = [
        (None, (name, f"{n:,}", f"{n / done:.1%}", money(cost, "", *sums) if has_costs else ""))
        for name, n, cost in zip(decisions, counts, sums, strict=True)
    ]
    headings = ["decision", ">rows", ">share", ">expected cost"]
    show.print_table(console, f"{done:,} rows decided", headings, rows, pad_edge=True)
    if plan is not None:
        _show_prices(console, plan)
    if output != "-":
        show.wrote(console, output)


def _decided(
    model: Any, X: Any, plan: Decisions | None, n_reasons: int
) -> tuple[Ints, Floats, dict[str, Any]]:
    """Codes of the decisions, their expected costs (NaN if unknown), and the new columns."""
    answer = model._answer(X)
    codes = np.asarray(answer.codes) if plan is None else plan.chosen
    new: dict[str, Any] = {"decision": model.decisions_[codes].tolist()}
    if answer.proba is None:
        return codes, np.full(len(X), np.nan), new
    for label, values in zip(model.classes_.tolist(), answer.proba.T, strict=True):
        new[f"probability_{label}"] = values
    for label, values in zip(model.decisions_.tolist(), answer.expected.T, strict=True):
        new[f"expected_cost_{label}"] = values
    new["saving"] = cheapest_other(answer.expected, codes)[1]
    if n_reasons:
        found = model.explain(X, decisions=plan)
        values = [X[name] if name in X.columns else None for name in found.feature_names]
        order = np.argsort(-np.abs(found.parts), axis=1, kind="stable")[:, :n_reasons]
        for place, features in enumerate(order.T.tolist(), start=1):
            new[f"reason_{place}"] = [
                f"{found.feature_names[j]} = {_shown(values[j][row])}: {found.parts[row, j]:+.2f}"
                for row, j in enumerate(features)
            ]
    return codes, answer.expected[np.arange(len(codes)), codes], new


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _beside(
    frame: pl.DataFrame, new: dict[str, Any], keep: list[str], prefix: str, where: str
) -> pl.DataFrame:
    """The columns to keep, and the new ones."""
    import polars as pl

    check_names(keep, frame.columns, "--keep", where)
    kept = frame.select(keep) if keep else frame
    for name in new:
        if prefix + name in kept.columns:
            raise TableError(
                f"{where} has a column {prefix + name!r} already. Rename the new columns, as in "
                "--prefix model_, or copy only some columns with --keep."
            )
    return kept.with_columns(**{prefix + name: pl.Series(values) for name, values in new.items()})


def _check_explains(model: Any) -> None:
    """Refuse reasons of a model that has none."""
    if model._lack_of_probabilities() or not hasattr(model, "explain"):
        raise TableError(
            f"Decisions of {type(model).__name__} cannot be explained in money. Those of CostBoost "
            "can; `costboost predict` decides without --explain."
        )


# --- limits ------------------------------------------------------------------------------------


def _limits(entries: Sequence[str] | None, decisions: list[Any]) -> dict[Any, Any]:
    known = {str(decision): decision for decision in decisions}
    found: dict[Any, Any] = {}
    for name, text in assigned("--capacity", entries, f"{decisions[0]}=200"):
        is_share = text.replace(".", "", 1).isdecimal() and "." in text and float(text) <= 1
        if name not in known or not (text.isdecimal() or is_share):
            raise TableError(
                f"--capacity {name}={text} must name a decision of the model, {', '.join(known)}, "
                "and its limit: a whole number of rows (200), or a share from 0 to 1 (0.05)."
            )
        found[known[name]] = float(text) if is_share else int(text)
    return found


def _groups(
    frame: pl.DataFrame, columns: Columns, per: str, name: str | None, where: str
) -> AnyArray:
    """The group of each row: its day, its week, ..., or the value of a column."""
    import polars as pl

    if per in frame.columns or per not in PERIODS:
        check_names([per], frame.columns, "--per", where)
        return texts(frame[per])
    if name is None:
        dates = [column.name for column in columns if column.kind == "date"]
        hint = f", such as --time-column {dates[0]}" if dates else ""
        raise TableError(f"--per {per} needs a column of times: add --time-column{hint}.")
    time = column_values(frame, name, columns, where, "date")
    return np.asarray(pl.Series(time).dt.strftime(PERIODS[per]).to_list(), dtype=np.str_)


def _show_prices(console: Console, plan: Decisions) -> None:
    """What one more unit of each limit would have saved."""
    by_group: list[Any] = [plan.limit_prices]
    nested = any(isinstance(value, dict) for value in by_group[0].values())
    if nested:
        by_group = list(by_group[0].values())
    for decision in by_group[0]:
        prices = [group[decision] for group in by_group]
        low, high = min(prices), max(prices)
        spread = money(low) if low == high else span(low, high)
        where = f", in each of {len(prices)} groups" if nested else ""
        name = show.escape(decision)
        console.print(f"One more [bold]{name}[/bold] would have saved {spread}{where}.")


# --- one row -----------------------------------------------------------------------------------


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
    import polars as pl

    model, _ = load_model(asked.model)
    _check_explains(model)
    source = asked.open()
    first = 1 + source.is_text  # a header is row 1
    if row is None:
        row = first
    if row < first:
        raise TableError(f"Row 1 of {source.name} is its header; its first row is --row 2.")
    frame = source.scan().slice(row - first, 1).collect()
    if not frame.height:
        n = source.scan().select(pl.len()).collect().item()
        raise TableError(
            f"{source.name} has {n:,} rows, the last of them is row {n + first - 1}, so there is "
            f"no row {row}."
        )
    X = model.columns_.read(frame, source.name, row)
    found = model.explain(X)
    answer = model._answer(X)
    proba, expected = answer.proba[0], answer.expected[0]
    parts = [
        {"feature": column.name, "value": X[column.name][0], "part": part}
        for column, part in zip(model.columns_, found.parts[0].tolist(), strict=True)
        if column.is_used
    ]
    parts.sort(key=lambda one: -abs(one["part"]))
    decision, other = found.labels[0], found.runner_up[0]
    saving, base = float(found.saving[0]), float(found.base[0])
    chances = dict(zip(model.classes_.tolist(), proba.tolist(), strict=True))
    costs = dict(zip(model.decisions_.tolist(), expected.tolist(), strict=True))
    if as_json:
        values = {"row": row, "decision": decision, "runner_up": other, "saving": saving}
        values |= {"base": base, "probability": chances, "expected_cost": costs, "parts": parts}
        show.print_json(values)
        return
    out = Console()
    out.print(
        f"Row {row}: [bold]{show.escape(decision)}[/bold]. It is expected to save "
        f"[bold]{saving:,.2f}[/bold] against the next-best decision, {show.escape(other)}.",
        highlight=False,
    )
    rows: list[Any] = [(None, (name, f"{cost:,.2f}")) for name, cost in costs.items()]
    show.print_table(out, "", ["decision", ">expected cost"], rows)
    words = ", ".join(f"{name} {p:.1%}" for name, p in chances.items())
    show.say(out, f"Probability: {words}\n")
    rows = [(None, ("base rate", "(a row nothing is known about)", f"{base:+,.2f}"))]
    rows += [
        (None, (one["feature"], _shown(one["value"]), f"{one['part']:+,.2f}"))
        for one in parts[:top]
    ]
    if rest := parts[top:]:
        added = sum(one["part"] for one in rest)
        rows.append((None, (f"{len(rest)} other features", "", f"{added:+,.2f}")))
    rows.append(("bold", ("saving", "", f"{saving:+,.2f}")))
    show.print_table(
        out, "Where the saving comes from", ["feature", "value", ">adds"], rows,
        caption="Base rate and features add up to the saving.",
    )  # fmt: skip
