"""What a user wants learned: rows from a file, their classes, and what decisions cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost.cli.costs import (
    check_expressions,
    check_kinds,
    columns_in,
    read_costs,
    typed_costs,
)
from costboost.columns import (
    Column,
    Source,
    TableError,
    TableRecipe,
    infer_columns,
    label_kind,
    labels,
    open_source,
    tells_target,
    unknown_column,
    without_label,
)

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = ["Problem", "Rows", "Wish", "read_problem", "read_rows"]


@dataclass(frozen=True)
class Wish:
    """What was typed: the options that ``fit``, ``compare`` and ``tune`` share."""

    table: str
    target: str
    positive: str | None = None
    costs: Sequence[str] = ()
    cost_matrix: Path | None = None
    exclude: Sequence[str] = ()
    categories: Sequence[str] = ()
    weight: str | None = None
    time: str | None = None
    group: str | None = None
    delimiter: str | None = None
    encoding: str | None = None


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows as a model takes them."""

    X: pd.DataFrame
    y: AnyArray
    weights: Floats | None = None
    time: AnyArray | None = None
    groups: AnyArray | None = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, index: AnyArray) -> Rows:
        """Some of the rows."""
        return Rows(
            self.X.iloc[index].reset_index(drop=True),
            self.y[index],
            None if self.weights is None else self.weights[index],
            None if self.time is None else self.time[index],
            None if self.groups is None else self.groups[index],
        )


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with classes and costs, and all that was found out about the file."""

    source: Source
    frame: pl.DataFrame
    recipe: TableRecipe
    rows: Rows
    cost_matrix: dict[Any, Any] | None
    excludes_cost_columns: bool
    notes: list[str] = field(default_factory=list)

    @property
    def classes(self) -> list[Any]:
        """The classes, sorted."""
        return list(np.unique(self.rows.y).tolist())


def read_problem(wish: Wish) -> Problem:
    """Read a file and find out what its columns hold."""
    source = open_source(wish.table, delimiter=wish.delimiter, encoding=wish.encoding)
    entries = typed_costs(wish.costs, wish.cost_matrix)
    names = source.columns()
    check_names(wish, names, source)
    check_expressions(entries, names, source.name)
    frame = source.read()
    notes = []
    unlabelled = int(without_label(frame[wish.target]).sum())
    if unlabelled:
        frame = frame.filter(~without_label(frame[wish.target]))
        notes.append(f"{unlabelled:,} rows without a value for {wish.target} are left out.")
    if not frame.height:
        raise TableError(f"{source.name}: no row has a value for the target {wish.target!r}.")
    recipe, excludes, more = make_recipe(frame, wish, columns_in(entries))
    check_kinds(entries, recipe.columns)
    y = labels(frame[wish.target], recipe.label_kind)
    classes = np.unique(y).tolist()
    check_target(classes, len(y), wish.target, source.name)
    form, positive = read_costs(entries, recipe, classes, wish.positive)
    recipe = replace(recipe, positive=positive)
    if form is None:
        notes.append("No --cost is given: every mistake costs 1.")
    rows = read_rows(frame, recipe, source.name)
    return Problem(source, frame, recipe, rows, form, excludes, [*notes, *more])


def check_names(wish: Wish, names: Sequence[str], source: Source) -> None:
    """Refuse names of columns that the file does not have."""
    if len(names) == 1 and wish.target not in names and source.is_text:
        raise TableError(
            f"{source.name} has one column, {names[0]!r}: the delimiter ({source.delimiter!r}) "
            "seems wrong. Name the right one with --delimiter."
        )
    asked = [("--target", [wish.target]), ("--exclude", _listed(wish.exclude))]
    asked += [("--category", _listed(wish.categories))]
    for option, name in (
        ("--weight-column", wish.weight),
        ("--time-column", wish.time),
        ("--group-column", wish.group),
    ):
        asked.append((option, [] if name is None else [name]))
    for option, wanted in asked:
        for name in wanted:
            if name not in names:
                raise unknown_column(name, names, option, source.name)
            if option != "--target" and name == wish.target:
                raise TableError(f"{option} must not be the target, got {name!r}.")


def check_target(classes: Sequence[Any], n: int, target: str, where: str) -> None:
    """Refuse a target that cannot be learned."""
    if len(classes) < 2:
        raise TableError(
            f"{where}: the target {target!r} has one class, {classes[0]!r}, on all {n} rows. "
            "There is nothing to learn: check the file and --target."
        )
    if len(classes) > max(100, n // 20):
        raise TableError(
            f"{where}: the target {target!r} has {len(classes)} different values on {n} rows, "
            f"such as {', '.join(map(repr, classes[:3]))}. A target has a few classes; numbers "
            "must be cut into classes first."
        )


def _listed(names: Sequence[str]) -> list[str]:
    return [name.strip() for one in names for name in one.split(",") if name.strip()]


def make_recipe(
    frame: pl.DataFrame, wish: Wish, costed: Sequence[str]
) -> tuple[TableRecipe, bool, list[str]]:
    """The recipe of a table, whether cost columns are not features, and remarks."""
    excluded = _listed(wish.exclude)
    both = [name for name in costed if name in excluded]
    if both and set(both) != set(costed):
        rest = [name for name in costed if name not in both]
        raise TableError(
            f"The costs name {', '.join(costed)}; exclude all of them or none "
            f"(--exclude {' --exclude '.join(rest)})."
        )
    notes: list[str] = []
    columns = []
    found = infer_columns(frame, keep=costed, force_category=_listed(wish.categories))
    for column in found:
        columns.append(_with_role(column, wish, excluded, both))
        if columns[-1].role == "feature" and tells_target(frame, column.name, wish.target):
            notes.append(
                f"The column {column.name} tells the class of every row. If it is known only "
                f"after the decision, leave it out: --exclude {column.name}."
            )
    recipe = TableRecipe(tuple(columns), wish.target, label_kind(frame[wish.target]))
    if not recipe.used:
        raise TableError("No column is left to learn from: all are skipped or excluded.")
    return recipe, bool(both), notes


def _with_role(column: Column, wish: Wish, excluded: Sequence[str], both: Sequence[str]) -> Column:
    name = column.name
    if name == wish.target:
        return replace(column, role="target", reason="", parts=())
    if name == wish.weight:
        return replace(column, role="weight", reason="weight of the row")
    if name in both:
        return replace(column, role="cost", reason="only for the costs")
    if name in excluded:
        return replace(column, role="excluded", reason="as you asked", parts=())
    if name == wish.group:
        return replace(column, role="group", reason="keeps groups together", parts=())
    if name == wish.time:
        return replace(column, role="time", reason=column.reason or "orders the rows")
    return column


def read_rows(frame: pl.DataFrame, recipe: TableRecipe, where: str) -> Rows:
    """Labelled rows of a file, by a recipe."""
    import polars as pl

    y = recipe.truth(frame, where)
    if y is None:
        raise unknown_column(recipe.target, frame.columns, "the truth", where)
    weights = time = groups = None
    if (name := recipe.role("weight")) is not None and name in frame.columns:
        weights = frame[name].cast(pl.Float64, strict=False).to_numpy()
        if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
            raise TableError(f"{where}: the weights {name!r} must be numbers >= 0, not all 0.")
    if (name := recipe.role("time")) is not None and name in frame.columns:
        time = recipe.moments(frame, name, where).to_numpy()
    if (name := recipe.role("group")) is not None and name in frame.columns:
        groups = np.asarray(frame[name].cast(pl.String).fill_null("").to_list(), dtype=np.str_)
    return Rows(recipe.features(frame, where), y, weights, time, groups)
