"""Rows of a file with their classes and costs, and how they are split.

Costs are typed as ``--cost fn=amount+15``, as ``--cost fraud:review=4``, or in a table of costs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.cli.options import ProblemOptions, listed
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
from costboost.columns.files import reading
from costboost.costs import Costs
from costboost.costs.expressions import Expression
from costboost.costs.forms import expressions_in, is_decision_name

if TYPE_CHECKING:
    import polars as pl

Entries = Mapping[tuple[str, ...], Any]


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows as a model takes them."""

    X: Any
    y: AnyArray
    weights: Floats | None = None
    time: AnyArray | None = None
    groups: AnyArray | None = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, index: AnyArray) -> LabelledRows:
        """Some of the rows."""
        is_frame = hasattr(self.X, "iloc")
        X = self.X.iloc[index].reset_index(drop=True) if is_frame else self.X[index]
        others = (self.weights, self.time, self.groups)
        return LabelledRows(
            X, self.y[index], *(None if one is None else one[index] for one in others)
        )


@dataclass(frozen=True, eq=False)
class CostProblem:
    """Rows with classes and costs, and all that was found out about the file."""

    rows: LabelledRows
    cost_matrix: Any
    recipe: Any = None
    excludes_cost_columns: bool = False
    notes: Sequence[str] = ()
    source: Any = None
    frame: Any = None

    def costs(self, owner: str) -> Any:
        """What decisions cost on each row, by its class."""
        classes, codes = np.unique(self.rows.y, return_inverse=True)
        return Costs.resolve(
            self.cost_matrix, classes=classes, n_samples=len(self.rows), X=self.rows.X,
            codes=codes, owner=owner,
        )  # fmt: skip


def read_problem(options: ProblemOptions, first: int | None = None) -> CostProblem:
    """Read a file, or its first rows, and find out what its columns hold."""
    import polars as pl

    source, target = options.open(), options.target
    entries = typed_costs(options.cost or (), options.cost_matrix)
    names = source.columns()
    _check_names(options, names, source)
    costed = columns_in(entries, names, source.name)
    if first is None:
        frame = source.read()
        distinct = frame[target]
    else:  # the classes are those of all rows
        with reading(source.name):
            frame = source.scan().head(first).collect()
            distinct = source.scan().select(pl.col(target).unique()).collect().to_series()
    notes = []
    unlabelled = without_label(frame[target])
    if unlabelled.any():
        frame = frame.filter(~unlabelled)
        n = f"{unlabelled.sum():,} rows" if first is None else "Rows"
        notes.append(f"{n} without a value for {target} are left out.")
    if not frame.height:
        raise TableError(f"{source.name}: no row has a value for the target {target!r}.")
    distinct = distinct.filter(~without_label(distinct))
    columns, excludes, more = _roles(frame, options, costed)
    recipe = TableRecipe(columns, target, label_kind(distinct))
    if not recipe.used:
        raise TableError("No column is left to learn from: all are skipped or excluded.")
    _check_kinds(entries, columns)
    classes = np.unique(labels(distinct, recipe.label_kind)).tolist()
    _check_target(classes, frame.height, target, source.name)
    form, positive = read_costs(entries, recipe, classes, options.positive)
    recipe = replace(recipe, positive=positive)
    if form is None:
        notes.append("No --cost is given: every mistake costs 1.")
    rows = read_rows(frame, recipe, source.name)
    # Rows are counted as a spreadsheet does: a header is row 1.
    numbers = np.flatnonzero(~unlabelled.to_numpy()) + 1 + int(source.is_text)
    for expression in expressions_in(form):
        expression(rows.X, rows=numbers.tolist(), of=source.name)
    return CostProblem(rows, form, recipe, excludes, [*notes, *more], source, frame)


def read_rows(frame: pl.DataFrame, recipe: TableRecipe, where: str) -> LabelledRows:
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
        groups = texts(frame[name])
    return LabelledRows(recipe.features(frame, where), y, weights, time, groups)


def texts(values: pl.Series, missing: str = "") -> AnyArray:
    """A column as texts."""
    import polars as pl

    return np.asarray(values.cast(pl.String).fill_null(missing).to_list(), dtype=np.str_)


# --- columns -----------------------------------------------------------------------------------


def _check_names(options: ProblemOptions, names: Sequence[str], source: Source) -> None:
    """Refuse names of columns that the file does not have."""
    target = options.target
    if len(names) == 1 and target not in names and source.is_text:
        raise TableError(
            f"{source.name} has one column, {names[0]!r}: the delimiter ({source.delimiter!r}) "
            "seems wrong. Name the right one with --delimiter."
        )
    asked: dict[str, list[Any]] = {
        "--target": [target], "--exclude": listed(options.exclude),
        "--category": listed(options.category), "--weight-column": [options.weight_column],
        "--time-column": [options.time_column], "--group-column": [options.group_column],
    }  # fmt: skip
    for option, wanted in asked.items():
        for name in wanted:
            if name is None:
                continue
            if name not in names:
                raise unknown_column(name, names, option, source.name)
            if option != "--target" and name == target:
                raise TableError(f"{option} must not be the target, got {name!r}.")


def _roles(
    frame: pl.DataFrame, options: ProblemOptions, costed: Sequence[str]
) -> tuple[tuple[Column, ...], bool, list[str]]:
    """What each column is used as, whether cost columns are not features, and remarks."""
    excluded = listed(options.exclude)
    rest = [name for name in costed if name not in excluded]
    only_costs = bool(costed) and not rest
    if rest and len(rest) < len(costed):
        raise TableError(
            f"The costs name {', '.join(costed)}; exclude all of them or none "
            f"(--exclude {' --exclude '.join(rest)})."
        )

    found = infer_columns(frame, keep=costed, force_category=listed(options.category))
    order = next((one.reason for one in found if one.name == options.time_column), "")
    # A later line wins, if a column has several roles.
    roles: dict[str | None, dict[str, Any]] = {
        options.time_column: {"role": "time", "reason": order or "orders the rows"},
        options.group_column: {"role": "group", "reason": "keeps groups together", "parts": ()},
        **{one: {"role": "excluded", "reason": "as you asked", "parts": ()} for one in excluded},
        **{one: {"role": "cost", "reason": "only for the costs"} for one in costed if only_costs},
        options.weight_column: {"role": "weight", "reason": "weight of the row"},
        options.target: {"role": "target", "reason": "", "parts": ()},
    }
    columns = tuple(replace(column, **roles.get(column.name, {})) for column in found)
    notes = [
        f"The column {column.name} tells the class of every row. If it is known only after the "
        f"decision, leave it out: --exclude {column.name}."
        for column in columns
        if column.role == "feature" and tells_target(frame, column.name, options.target)
    ]
    return columns, only_costs, notes


def _check_target(classes: Sequence[Any], n: int, target: str, where: str) -> None:
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


# --- costs as they are typed -------------------------------------------------------------------


def typed_costs(entries: Sequence[str], matrix: str | os.PathLike[str] | None) -> Entries:
    """What was typed: a cost for each entry, ``("fn",)`` or ``(truth, decision)``, all as text."""
    if entries and matrix is not None:
        raise TableError("Give --cost or --cost-matrix, not both.")
    if matrix is not None:
        return _costs_of_file(matrix)
    found: dict[tuple[str, ...], Any] = {}
    for entry in entries:
        key, _, text = (part.strip() for part in entry.partition("="))
        pair = tuple(part.strip() for part in key.split(":"))
        is_short = key.lower() in ("fn", "fp", "tp", "tn")
        if not text or not (is_short or (len(pair) == 2 and all(pair))):
            raise TableError(
                f"--cost {entry!r} must be fn, fp, tp or tn, or truth:decision, then = and the "
                'cost. For example --cost "fn=amount+15", or --cost "fraud:review=4".'
            )
        place = (key.lower(),) if is_short else pair
        if place in found:
            raise TableError(f"--cost {key} is given twice: {found[place]} and {text}. Keep one.")
        found[place] = _cell(text)
    if len({len(place) for place in found}) > 1:
        raise TableError("Write all costs as fn, fp, tp, tn, or all as truth:decision.")
    return found


def _cell(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text.strip()


def _costs_of_file(path: str | os.PathLike[str]) -> Entries:
    frame = open_source(path).read()
    if frame.width < 3:
        raise TableError(
            f"{os.fspath(path)} must have the truth in its first column and a column for each "
            f"decision, at least two; its columns are {', '.join(frame.columns)}."
        )
    first, *decisions = frame.columns
    if is_decision_name(first):
        raise TableError(
            f"{os.fspath(path)} looks transposed: its first column is called {first!r}. It must "
            "hold the truth, and the other columns the decisions: swap rows and columns."
        )
    found: dict[tuple[str, ...], Any] = {}
    for row in frame.iter_rows(named=True):
        for decision in decisions:
            value = row[decision]
            if value is None or not str(value).strip():
                raise TableError(
                    f"{os.fspath(path)}: no cost for the truth {row[first]!r} and the decision "
                    f"{decision!r}. Write 0 if it costs nothing."
                )
            found[str(row[first]).strip(), decision.strip()] = _cell(str(value))
    return found


def columns_in(entries: Entries, known: Sequence[str], where: str) -> list[str]:
    """Columns that the costs name, each once; they must be arithmetic over known columns."""
    found: dict[str, None] = {}
    for place, cell in entries.items():
        if not isinstance(cell, str):
            continue
        entry = f"{':'.join(place)}={cell}"
        try:
            names = Expression(cell).columns
        except ValueError as error:
            raise TableError(
                f"The cost {entry!r} must be a number or arithmetic over columns: {error}"
            ) from error
        for name in names:
            if name not in known:
                raise unknown_column(name, known, f"the cost {entry!r} names it", where)
            found[name] = None
    return list(found)


def _check_kinds(entries: Entries, columns: Sequence[Column]) -> None:
    """Refuse arithmetic over columns of text."""
    kinds = {column.name: column.kind for column in columns}
    for place, cell in entries.items():
        for name, is_text in Expression(cell)._uses if isinstance(cell, str) else ():
            if not is_text and kinds[name] not in ("number", "boolean"):
                raise TableError(
                    f"The cost '{':'.join(place)}={cell}' calculates with the column {name!r}, "
                    f"which holds {'dates' if kinds[name] == 'date' else 'text'}. Remove currency "
                    f"signs and words from it, or compare it: where({name} == '...', 1, 0)."
                )


def read_costs(
    entries: Entries, recipe: TableRecipe, classes: Sequence[Any], positive: str | None
) -> tuple[dict[Any, Any] | None, Any]:
    """The costs as the library takes them, and the positive class."""
    names = [str(label) for label in classes]
    chosen = None
    if positive is not None:
        chosen = recipe.label(positive)
        if chosen not in classes:
            raise TableError(
                f"--positive must be a class of the target {recipe.target!r}, "
                f"{' or '.join(names)}, got {positive!r}."
            )
    elif set(classes) in ({0, 1}, {-1, 1}):
        chosen = max(classes)
    if not entries:
        return None, chosen
    if any(len(place) == 2 for place in entries):
        return _pairs(entries, recipe, classes), chosen
    if len(classes) != 2:
        raise TableError(
            f"fn, fp, tp and tn are for two classes; the target {recipe.target!r} has "
            f"{len(classes)}: {', '.join(names[:10])}. Write --cost truth:decision=..., or "
            "--cost-matrix FILE."
        )
    if chosen is None:
        raise TableError(
            "--positive must say which class is the one to find (the p in fp and fn): "
            f"--positive {names[0]!r} or --positive {names[1]!r}."
        )
    other = next(label for label in classes if label != chosen)
    for key, decision, truth in (("fn", other, chosen), ("fp", chosen, other)):
        if (key,) not in entries:
            raise TableError(
                f"--cost {key}=... is missing. What does it cost to decide {decision!r} when the "
                f"truth is {truth!r}?"
            )
    return {**{key: cell for (key,), cell in entries.items()}, "positive": chosen}, chosen


def _pairs(entries: Entries, recipe: TableRecipe, classes: Sequence[Any]) -> dict[Any, Any]:
    truths, decisions = (list(dict.fromkeys(one)) for one in zip(*entries, strict=True))
    known = [recipe.label(truth) for truth in truths]
    lacking = next((label for label in classes if label not in known), None)
    if lacking is not None and set(classes) <= {recipe.label(decision) for decision in decisions}:
        raise TableError(
            f"The costs look transposed: the classes of the target {recipe.target!r} are among the "
            f"decisions, {', '.join(decisions)}, and not among the truths, {', '.join(truths)}. "
            "Rows are the truth and columns the decision (--cost truth:decision=...): swap them."
        )
    if lacking is not None:
        raise TableError(
            f"The costs say nothing about the class {lacking!r} of the target "
            f"{recipe.target!r}; they have {', '.join(truths)}. Add "
            + " ".join(f"--cost '{lacking}:{decision}=...'" for decision in decisions[:3])
            + ", or a row to the table of costs."
        )
    decides_classes = set(decisions) <= set(map(str, classes))
    return {
        (recipe.label(truth), recipe.label(decision) if decides_classes else decision): cell
        for (truth, decision), cell in entries.items()
        if recipe.label(truth) in classes  # a table of costs may have classes that rows have not
    }


# --- held-out rows -----------------------------------------------------------------------------


def split(rows: LabelledRows, share: float, seed: int) -> tuple[Ints, Ints, str]:
    """Hold out rows: the latest if times are known, whole groups if there are groups."""
    from sklearn.model_selection import GroupShuffleSplit, train_test_split

    n = len(rows)
    everything = np.arange(n)
    if share == 0:
        return everything, everything[:0], "none"
    if rows.time is not None:
        first = np.sort(rows.time, kind="stable")[min(n - 1, round(n * (1 - share)))]
        late = rows.time >= first
        train, test = everything[~late], everything[late]
        words = f"the latest, from {first}".replace("T", " ").removesuffix(".000000")
    elif rows.groups is not None:
        splitter = GroupShuffleSplit(1, test_size=share, random_state=seed)
        train, test = next(splitter.split(everything, groups=rows.groups))
        words = f"{len(np.unique(rows.groups[test]))} whole groups, at random"
    else:
        _, counts = np.unique(rows.y, return_counts=True)
        stratify = rows.y if counts.min() >= 2 else None
        train, test = train_test_split(
            everything, test_size=share, random_state=seed, stratify=stratify
        )
        words = "at random"
    if len(test) < 2:
        raise TableError(f"Only {len(test)} rows would be held out. Use a larger --test-size.")
    lacking = np.setdiff1d(rows.y, rows.y[train]).tolist()
    if lacking:
        raise TableError(
            f"The training rows have no row of the class {lacking[0]!r}: all of them are held "
            "out. Use a smaller --test-size, or another split."
        )
    return np.sort(train), np.sort(test), words


def folds(rows: LabelledRows, n_folds: int, seed: int) -> Iterator[tuple[Ints, Ints]]:
    """Folds of a cross-validation: forward in time, by groups, or stratified at random."""
    from sklearn.model_selection import GroupKFold, StratifiedKFold, TimeSeriesSplit

    if rows.time is not None:
        order = np.argsort(rows.time, kind="stable")
        for train, test in TimeSeriesSplit(n_folds).split(order):
            yield np.sort(order[train]), np.sort(order[test])
        return
    if rows.groups is not None:
        yield from GroupKFold(n_folds).split(rows.X, rows.y, rows.groups)
        return
    _, counts = np.unique(rows.y, return_counts=True)
    if counts.min() < n_folds:
        raise TableError(
            f"The rarest class has {counts.min()} rows, too few for {n_folds} folds. Use "
            f"--folds {max(2, int(counts.min()))}, or gather more rows."
        )
    yield from StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(rows.X, rows.y)
