"""The command ``costboost predict``: decisions beside the rows of a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

from costboost._typing import AnyArray, Floats
from costboost._words import money, span
from costboost.cli import options, show
from costboost.cli.explain import check_explains, shown_value
from costboost.cli.failure import collected_warnings
from costboost.cli.models import load_model
from costboost.cli.options import ScoringOptions, assigned, check_output, command, listed, option
from costboost.cli.problem import check_names, column_values, texts
from costboost.columns import Columns, Source, TableError, writer
from costboost.costs.expressions import ExpressionError
from costboost.costs.spec import columns_of, expressions_in
from costboost.decisions import Decisions

if TYPE_CHECKING:
    import polars as pl

PERIODS = {"hour": "%Y-%m-%d %H:00", "day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m"}


@dataclass(frozen=True)
class DecideOptions:
    """How rows are decided, and what is written of them."""

    capacity: list[str] | None = option(
        None,
        "Limit of a decision: a number of rows (200) or a share of them (0.05); may be repeated.",
        metavar="DECISION=LIMIT",
    )
    per: str | None = option(
        None,
        "The limits hold in each hour, day, week or month of --time-column, or in each "
        "group of a column.",
    )
    time_column: str | None = option(
        None, "Column of times for --per; that of the fit if left out."
    )
    missing_cost: str = option(
        "error",
        "What to do with rows that lack a value in a column of the costs: error, or mean, which "
        "decides them by the mean costs of the training rows.",
    )
    explain: int = option(0, "Add the N strongest reasons, in money.", min=0, metavar="N")
    keep: list[str] | None = option(
        None, "Column to copy to the output, such as an id; all if left out."
    )
    prefix: str = option("", "Text to put before the names of the new columns.")
    safe_cells: bool = option(
        False, "Put an apostrophe before texts that a spreadsheet would run as formulas (= + - @)."
    )
    batch_rows: int = option(100_000, "Rows in memory at once; all of them with --capacity.", min=1)


@command
def predict(
    asked: ScoringOptions,
    how: DecideOptions,
    output: str = option(
        "-",
        "File to write; its ending says the format. - is the standard output, as CSV.",
        "--output",
        "-o",
        metavar="OUT",
    ),
    force: bool = options.FORCE,
    as_json: bool = options.AS_JSON,
) -> None:
    """Decide the rows of a file, and write the decisions beside them."""
    # New columns: decision, probability_CLASS, expected_cost_DECISION, saving (against the
    # next-best decision) and, with --explain, reason_1, reason_2, ...
    if as_json and output == "-":
        raise TableError("--json prints a summary to the standard output: name a file with -o.")
    model, facts = load_model(asked.model)
    source = asked.open(model.columns_)
    limits = read_limits(how, model.decisions_.tolist())
    check_request(how, model, source)
    check_output(output, asked.model, asked.table, force=force, table=True)

    batch = Batch(model, source, how, limits, how.time_column or facts.get("time"))
    totals = Totals(model.decisions_.tolist())
    has_commas = model.columns_.notation.decimal == ","
    style = {"decimal_comma": has_commas, "safe_cells": how.safe_cells}
    with collected_warnings() as remarks, writer(output, source, **style) as write:
        for first, frame in batch.frames():
            X, decided = batch.decide(frame, first)
            new = new_columns(model, X, decided, how.explain)
            write(beside(frame, new, how, source.name))
            totals.add(decided)
        if not totals.n_rows:
            raise TableError(f"{source.name} has no rows. Check that it is the right file.")

    console = Console(stderr=True, quiet=as_json)
    show.warn(console, *remarks)
    show.note(console, *batch.notes)
    if as_json:
        show.print_json({"output": output, **totals.as_json()})
    totals.print(console)
    if output != "-":
        show.wrote(console, output)


# --- the request -------------------------------------------------------------------------------


def read_limits(how: DecideOptions, decisions: Sequence[Any]) -> dict[Any, Any]:
    """Return what --capacity says."""
    labels = {str(decision): decision for decision in decisions}
    limits: dict[Any, Any] = {}
    for name, text in assigned("--capacity", how.capacity, f"{decisions[0]}=200"):
        is_count = text.isdecimal()
        is_share = text.replace(".", "", 1).isdecimal() and "." in text and float(text) <= 1
        if name not in labels or not (is_count or is_share):
            raise TableError(
                f"--capacity {name}={text} must name a decision of the model, "
                f"{', '.join(labels)}, and its limit: a whole number of rows (200), or a share "
                "from 0 to 1 (0.05)."
            )
        if is_count:
            limits[labels[name]] = int(text)
        else:
            limits[labels[name]] = float(text)
    if how.per is not None and not limits:
        raise TableError("--per needs --capacity, as in --capacity review=200 --per day.")
    return limits


def check_request(how: DecideOptions, model: Any, source: Source) -> None:
    """Refuse what cannot be done, before any row is read."""
    if how.missing_cost not in ("error", "mean"):
        raise TableError(f"--missing-cost must be error or mean, got {how.missing_cost!r}.")
    if how.explain:
        check_explains(model)
    names = source.columns()
    check_names(listed(how.keep), names, "--keep", source.name)
    for column in model.columns_.used:
        if column.name not in names:
            raise model.columns_.lacks(column.name, names, source.name)


# --- decisions ---------------------------------------------------------------------------------


@dataclass
class Batch:
    """The rows of a file, some at a time, and how they are decided."""

    model: Any
    source: Source
    how: DecideOptions
    limits: Mapping[Any, Any]
    time_column: str | None
    n_without_costs: int = 0

    def frames(self) -> Iterator[tuple[int, pl.DataFrame]]:
        """Yield some rows at a time, and the number of the first as a spreadsheet counts it."""
        first = self.source.first_row
        frames = self.source.batches(self.how.batch_rows)
        if self.limits:
            frames = iter([self.source.read()])  # limits are those of all rows together
        for frame in frames:
            yield first, frame
            first += frame.height

    def decide(self, frame: pl.DataFrame, first: int) -> tuple[Any, Decisions]:
        """Return the rows as the model reads them, and their decisions."""
        X = self.model.columns_.read(frame, self.source.name, first)
        costs = self.costs_of(frame, X, first)
        groups = None
        if self.how.per is not None:
            groups = self.groups_of(frame, self.how.per)
        capacity = self.limits or None
        return X, self.model.decide(X, costs=costs, capacity=capacity, per=groups)

    def costs_of(self, frame: pl.DataFrame, X: Any, first: int) -> Floats | None:
        """Return costs in which rows that lack theirs have mean ones; None if none lacks them."""
        rows = range(first, first + len(X))
        try:
            for expression in expressions_in(self.model.cost_matrix):
                expression(X, rows=rows, of=self.source.name)
        except ExpressionError as error:
            lacking = lacks_costs(self.model, X)
            if self.how.missing_cost == "error" or not lacking.any():
                raise TableError(
                    f"{error} --missing-cost mean decides such rows by the mean costs of the "
                    "training rows."
                ) from None
        else:
            return None
        self.n_without_costs += int(lacking.sum())
        costs = np.repeat(self.model.cost_matrix_[None], len(X), axis=0)
        if not lacking.all():
            others = self.model.columns_.read(frame.filter(~lacking), self.source.name, first)
            costs[~lacking] = self.model.decide(others).costs.matrix
        return costs

    def groups_of(self, frame: pl.DataFrame, per: str) -> AnyArray:
        """Return the group of each row: its day, its week, ..., or the value of a column."""
        import polars as pl

        where = self.source.name
        columns: Columns = self.model.columns_
        if per in frame.columns or per not in PERIODS:
            check_names([per], frame.columns, "--per", where)
            return texts(frame[per])
        if self.time_column is None:
            dates = [column.name for column in columns if column.kind == "date"]
            hint = f", such as --time-column {dates[0]}" if dates else ""
            raise TableError(f"--per {per} needs a column of times: add --time-column{hint}.")
        time = column_values(frame, self.time_column, columns, where, "date")
        return np.asarray(pl.Series(time).dt.strftime(PERIODS[per]).to_list(), dtype=np.str_)

    @property
    def notes(self) -> list[str]:
        """What is worth knowing of the rows."""
        if not self.n_without_costs:
            return []
        return [
            f"{self.n_without_costs:,} rows lack a value in a column of the costs; the mean costs "
            "of the training rows decided them."
        ]


def lacks_costs(model: Any, X: Any) -> AnyArray:
    """Return the rows without a value in a column that the costs name."""
    import pandas as pd

    lacking = np.zeros(len(X), dtype=bool)
    for name in columns_of(model.cost_matrix):
        lacking |= pd.isna(X[name])
    return lacking


# --- what is written ---------------------------------------------------------------------------


def new_columns(model: Any, X: Any, decided: Decisions, n_reasons: int) -> dict[str, Any]:
    """Return the columns that are written beside the rows."""
    new: dict[str, Any] = {"decision": decided.labels.tolist()}
    if decided.proba is None or decided.expected_cost is None:
        return new
    for label, values in zip(decided.classes.tolist(), decided.proba.T, strict=True):
        new[f"probability_{label}"] = values
    for label, values in zip(decided.decisions.tolist(), decided.expected_cost.T, strict=True):
        new[f"expected_cost_{label}"] = values
    new["saving"] = decided.saving
    if n_reasons:
        new |= reasons(model, X, decided, n_reasons)
    return new


def reasons(model: Any, X: Any, decided: Decisions, n_reasons: int) -> dict[str, list[str]]:
    """Return the features that add most to the saving of each row, or take most from it."""
    explanation = model.explain(X, decisions=decided)
    names = explanation.feature_names
    cells = [X[name] if name in X.columns else None for name in names]
    order = np.argsort(-np.abs(explanation.parts), axis=1, kind="stable")[:, :n_reasons]
    columns = {}
    for place, features in enumerate(order.T.tolist(), start=1):
        words = []
        for row, feature in enumerate(features):
            value = shown_value(cells[feature][row])
            words.append(f"{names[feature]} = {value}: {explanation.parts[row, feature]:+.2f}")
        columns[f"reason_{place}"] = words
    return columns


def beside(
    frame: pl.DataFrame, new: dict[str, Any], how: DecideOptions, where: str
) -> pl.DataFrame:
    """Return the columns to keep, and the new ones."""
    import polars as pl

    if how.keep:
        frame = frame.select(listed(how.keep))
    for name in new:
        if how.prefix + name in frame.columns:
            raise TableError(
                f"{where} has a column {how.prefix + name!r} already. Rename the new columns, as "
                "in --prefix model_, or copy only some columns with --keep."
            )
    return frame.with_columns(
        **{how.prefix + name: pl.Series(values) for name, values in new.items()}
    )


class Totals:
    """What is said of all rows at the end."""

    def __init__(self, decisions: Sequence[Any]) -> None:
        self.decisions = decisions
        self.counts = np.zeros(len(decisions), dtype=np.int64)
        self.costs = np.zeros(len(decisions))
        self.limit_prices: dict[Any, Any] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.counts.sum())

    @property
    def has_costs(self) -> bool:
        """Whether the expected costs are known."""
        return not np.isnan(self.costs).any()

    def add(self, decided: Decisions) -> None:
        """Add the decisions of some rows."""
        costs = np.full(len(decided), np.nan)
        if decided.expected_cost is not None:
            costs = decided.cost
        self.counts += np.bincount(decided.chosen, minlength=len(self.decisions))
        self.costs += np.bincount(decided.chosen, costs, minlength=len(self.decisions))
        self.limit_prices = decided.limit_prices

    def as_json(self) -> dict[str, Any]:
        """Return the totals for scripts."""
        decisions = {}
        pairs = zip(self.counts.tolist(), self.costs.tolist(), strict=True)
        for label, (n_rows, cost) in zip(self.decisions, pairs, strict=True):
            decisions[str(label)] = {
                "rows": n_rows,
                "expected_cost": cost if self.has_costs else None,
            }
        return {"rows": self.n_rows, "decisions": decisions, "prices": self.limit_prices}

    def print(self, console: Console) -> None:
        """Print a table of the decisions, and the prices of limits."""
        rows: list[Any] = []
        for label, n_rows, cost in zip(self.decisions, self.counts, self.costs, strict=True):
            shown_cost = money(cost, "", *self.costs) if self.has_costs else ""
            cells = (label, f"{n_rows:,}", f"{n_rows / self.n_rows:.1%}", shown_cost)
            rows.append((None, cells))
        headings = ["decision", ">rows", ">share", ">expected cost"]
        show.print_table(console, f"{self.n_rows:,} rows decided", headings, rows, pad_edge=True)
        if self.limit_prices is not None:
            print_prices(console, self.limit_prices)


def print_prices(console: Console, limit_prices: Mapping[Any, Any]) -> None:
    """Print what one more unit of each limit would have saved."""
    groups = [limit_prices]
    where = ""
    if any(isinstance(value, dict) for value in limit_prices.values()):
        groups = list(limit_prices.values())
        where = f", in each of {len(groups)} groups"
    for decision in groups[0]:
        prices = [group[decision] for group in groups]
        low = min(prices)
        high = max(prices)
        spread = money(low) if low == high else span(low, high)
        name = show.escape(decision)
        console.print(f"One more [bold]{name}[/bold] would have saved {spread}{where}.")
