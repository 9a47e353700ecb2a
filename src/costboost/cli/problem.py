"""Rows of a file with their classes and costs, and how they are split.

Costs are typed as ``--cost fn=amount+15``, as ``--cost fraud:review=4``, or in a table of costs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from costboost._typing import AnyArray, Floats, Ints
from costboost.cli.options import ProblemOptions, assigned, listed
from costboost.columns import (
    Column,
    Columns,
    Exclusion,
    Notation,
    TableError,
    open_source,
    unknown_column,
)
from costboost.columns.inference import ColumnStatistics, number_of
from costboost.columns.table import read_values
from costboost.costs import Expression
from costboost.costs.spec import CostSpec, columns_of, expressions_in

if TYPE_CHECKING:
    import polars as pl

Entries = Mapping[tuple[str, ...], Any]
SHORT = ("fn", "fp", "tp", "tn")


@dataclass(frozen=True, eq=False)
class CostProblem:
    """Labelled rows of a file, what is known of them, and how a model is to read them."""

    X: pl.DataFrame
    y: AnyArray
    weights: Floats | None
    time: AnyArray | None
    groups: AnyArray | None
    columns: Columns
    facts: Mapping[str, Any]  # what `fit` was told; kept with the model
    classes: Sequence[Any]
    settings: Mapping[str, Any] = field(default_factory=dict)  # parameters of the model
    notes: Sequence[str] = ()
    source: Any = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, index: AnyArray) -> CostProblem:
        """Some of the rows."""
        own = {name: getattr(self, name) for name in ("X", "y", "weights", "time", "groups")}
        return replace(self, **{k: v[index] for k, v in own.items() if v is not None})

    def fit(self, model: Any) -> Any:
        """Fit a model to the rows."""
        import pandas as pd

        target = self.columns.target
        y = pd.Series(self.y, name=target)
        options = {}
        if self.groups is not None and has_fit_parameter(model, "groups"):
            options["groups"] = self.groups
        model.fit(self.X.drop(target), y, self.weights, **options)
        # The numbers of the file have become floats; the next files are written like this one.
        model.columns_ = model.columns_.with_notation(self.columns.notation)
        return model


def read_problem(asked: ProblemOptions) -> CostProblem:
    """Read a file, and find out what its columns hold."""
    source, target = asked.open(), asked.target
    entries = typed_costs(asked.cost or (), asked.cost_matrix)
    costed = columns_of(entries)
    _check_options(asked, source.columns(), costed, source.name)
    frame = source.read()
    is_known, notes = has_label(frame[target]), []
    if not is_known.all():
        notes.append(f"{(~is_known).sum():,} rows without a value for {target} are left out.")
        frame = frame.filter(is_known)
    if not frame.height:
        raise TableError(f"{source.name}: no row has a value for the target {target!r}.")
    classes = sorted({*label_names(frame[target]).values()})
    _check_target(classes, frame.height, target, source.name)
    form, positive = read_costs(entries, classes, asked.positive, target)
    if form is None:
        notes.append("No --cost is given: every mistake costs 1.")
    for place, cell in entries.items():
        is_mistake = place in (("fn",), ("fp",)) or (len(place) == 2 and place[0] != place[1])
        if cell == 0 and is_mistake and place[-1].lower() in {"fn", "fp", *map(str, classes)}:
            notes.append(f"--cost {':'.join(place)}=0: this mistake costs nothing. Is that meant?")
    kinds, left_out = _kinds(frame, asked, costed)
    columns = Columns.from_table(
        frame.drop(target),
        kinds=kinds,
        target=target,
        keep=costed,
        exclude=left_out,
        notation=source.notation,
    )
    frame = with_numbers(frame, columns)
    settings: dict[str, Any] = {"cost_matrix": form, "columns": kinds or None}
    if Exclusion.COSTS_ONLY in left_out.values():
        settings["cost_columns"] = "exclude"
    facts = {
        "positive": positive, "weight": asked.weight_column, "time": asked.time_column,
        "group": asked.group_column,
    }  # fmt: skip
    rows = read_rows(frame, columns, classes, facts, source.name)
    # Rows are counted as a spreadsheet does: a header is row 1.
    numbers = np.flatnonzero(is_known) + 1 + int(source.is_text)
    typed_rows = columns.read(frame)
    for expression in expressions_in(form):
        expression(typed_rows, rows=numbers.tolist(), of=source.name)
    if form is not None and "fn" in form:
        means = [mean_cost(form[name], typed_rows) for name in ("fn", "fp")]
        if means[0] < means[1]:
            notes.append(
                f"A miss (fn) costs less than a false alarm (fp), {means[0]:,.6g} against "
                f"{means[1]:,.6g} on average: are they swapped?"
            )
    return replace(rows, settings=settings, notes=notes, source=source)


def read_rows(
    frame: pl.DataFrame, columns: Columns, classes: Sequence[Any], facts: Mapping[str, Any],
    where: str,
) -> CostProblem:  # fmt: skip
    """Labelled rows of a file; `facts` name the columns of weights, times and groups."""
    check_names([columns.target], frame.columns, "the truth", where)
    weights = time = groups = None
    if facts.get("weight") in frame.columns:
        weights = column_values(frame, facts["weight"], columns, where, "number")
    if facts.get("time") in frame.columns:
        time = column_values(frame, facts["time"], columns, where, "date", "number")
    if facts.get("group") in frame.columns:
        groups = texts(frame[facts["group"]])
    y = truth(frame[columns.target], classes, where)
    return CostProblem(frame, y, weights, time, groups, columns, facts, classes)


# --- labels ------------------------------------------------------------------------------------


def has_label(values: pl.Series) -> AnyArray:
    """Which rows have a label."""
    places, found = read_values(values).as_texts()
    return np.array([*(text is not None for text in found), False])[places]


def label_names(values: pl.Series) -> dict[str, Any]:
    """Labels by what the file calls them: whole numbers, booleans, or texts."""
    names = [text for text in read_values(values).as_texts()[1] if text is not None]
    if all(text.lstrip("+-").isdecimal() and str(int(text)) == text for text in names):
        return {text: int(text) for text in names}
    if {text.lower() for text in names} <= {"true", "false"}:
        return {text: text.lower() == "true" for text in names}
    return {text: text for text in names}


def truth(values: pl.Series, classes: Sequence[Any], where: str) -> AnyArray:
    """Labels of the rows, which are classes that are known."""
    places, found = read_values(values).as_texts()
    known = {str(label).lower(): label for label in classes}
    start, missing = f"{where}: the target {values.name!r}", ~has_label(values)
    if missing.any():
        raise TableError(f"{start} is missing on {missing.sum()} rows. Remove them.")
    strange = [text for text in found if text is not None and text.lower() not in known]
    if strange:
        names = ", ".join(map(str, classes))
        raise TableError(f"{start} must hold the classes {names}, got {strange[0]!r}.")
    return np.array([known.get(str(text).lower(), classes[0]) for text in found])[places]


def texts(values: pl.Series, missing: str = "") -> AnyArray:
    """A column as texts."""
    import polars as pl

    return np.asarray(values.cast(pl.String).fill_null(missing).to_list(), dtype=np.str_)


# --- columns -----------------------------------------------------------------------------------


def check_names(names: Sequence[str | None], known: Sequence[str], option: str, where: str) -> None:
    """Refuse names of columns that the file does not have."""
    for name in filter(None, names):
        if name not in known:
            raise unknown_column(name, known, option, where)


def _check_options(
    asked: ProblemOptions, known: Sequence[str], costed: Sequence[str], where: str
) -> None:
    """Refuse options that name columns which the file does not have, or the target again."""
    named: dict[str, Sequence[str | None]] = {
        "--target": [asked.target], "--exclude": listed(asked.exclude),
        "--column": list(asked.kinds()), "--weight-column": [asked.weight_column],
        "--time-column": [asked.time_column], "--group-column": [asked.group_column],
        "the costs name it": costed,
    }  # fmt: skip
    for option, names in named.items():
        check_names(names, known, option, where)
        if asked.target in names and option != "--target":
            raise TableError(f"{asked.target!r} is the target, and nothing else ({option}).")


def _kinds(
    frame: pl.DataFrame, asked: ProblemOptions, costed: Sequence[str]
) -> tuple[dict[str, str], dict[str, Exclusion]]:
    """What columns are, and why some are no features."""
    excluded = listed(asked.exclude)
    rest = [name for name in costed if name not in excluded]
    if rest and len(rest) < len(costed):
        raise TableError(
            f"The costs name {', '.join(costed)}; exclude all of them or none "
            f"(--exclude {' --exclude '.join(rest)})."
        )
    only_costs = [] if rest else costed
    kinds, time = asked.kinds(), asked.time_column
    reasons: dict[str | None, Exclusion] = {
        asked.weight_column: Exclusion.WEIGHT,
        asked.group_column: Exclusion.GROUP,
        **dict.fromkeys(only_costs, Exclusion.COSTS_ONLY),
    }
    left_out = {name: reason for name, reason in reasons.items() if name is not None}
    aside = [name for name in (*excluded, *left_out) if name not in only_costs]
    if (
        time is not None
        and time not in kinds
        and _infer(frame[time], asked.notation()).kind == "number"
    ):
        aside.append(time)  # it grows for ever
    return kinds | dict.fromkeys(aside, "ignore"), left_out


def column_values(
    frame: pl.DataFrame, name: str, columns: Columns, where: str, *kinds: str
) -> AnyArray:
    """Dates or numbers, as the kinds say, of a column that an option names; none missing."""
    check_names([name], frame.columns, "--time-column", where)
    found = [one for one in columns if one.name == name and one.kind in ("date", "number")]
    known = found[0] if found else _infer(frame[name], columns.notation)
    start = f"{where}: the column {name!r}"
    if known.kind not in kinds:
        names = {"date": "dates such as 2026-12-31 08:30", "number": "numbers"}
        wanted = " or ".join(names[kind] for kind in kinds)
        given = next(iter(frame[name].drop_nulls()), None)
        raise TableError(f"{start} must hold {wanted}, got {given!r}.")
    if known.excluded is Exclusion.UNCLEAR_DATES:
        raise TableError(f"{start} holds {known.note}.")
    values = known.values(read_values(frame[name]), where, 1)
    missing = np.isnat(values) if known.kind == "date" else np.isnan(values)
    if missing.any():
        row, n = int(missing.argmax()) + 1, f"{missing.sum():,}"
        raise TableError(f"{start} has no value on row {row} ({n} such rows). Remove them.")
    return values


def with_numbers(frame: pl.DataFrame, columns: Columns) -> pl.DataFrame:
    """Return a table in which numbers of another notation are floats."""
    import polars as pl

    numbers = []
    for column in columns:
        if column.kind == "number" and frame.schema[column.name] == pl.String:
            texts = frame[column.name].drop_nulls()
            if any(number_of(text) is None for text in texts.unique()):
                values = column.values(read_values(frame[column.name]))
                numbers.append(pl.Series(column.name, values, nan_to_null=True))
    return frame.with_columns(numbers)


def _infer(values: pl.Series, notation: Notation) -> Column:
    """Return what a column holds, used or not."""
    statistics = ColumnStatistics(values.name, notation)
    return statistics.add(read_values(values), len(values)).infer(keep=True)


def _check_target(classes: Sequence[Any], n: int, target: str, where: str) -> None:
    """Refuse a target that cannot be learned."""
    start = f"{where}: the target {target!r} has"
    if len(classes) < 2:
        raise TableError(f"{start} one class, {classes[0]!r}, on all {n} rows. Check --target.")
    if len(classes) > max(100, n // 20):
        raise TableError(
            f"{start} {len(classes)} different values on {n} rows, such as {classes[0]!r}. A "
            "target has a few classes; numbers must be cut into classes first."
        )


# --- costs as they are typed -------------------------------------------------------------------


def typed_costs(entries: Sequence[str], matrix: Path | None) -> Entries:
    """What was typed: a cost for each entry, ``("fn",)`` or ``(truth, decision)``."""
    if entries and matrix is not None:
        raise TableError("Give --cost or --cost-matrix, not both.")
    if matrix is not None:
        return _costs_of_file(matrix)
    found: dict[tuple[str, ...], Any] = {}
    for key, text in assigned("--cost", entries, '"fn=amount+15" or "fraud:review=4"'):
        place = tuple(part.strip() for part in key.split(":"))
        if key.lower() in SHORT:
            place = (key.lower(),)
        elif len(place) != 2 or not all(place):
            raise TableError(f"--cost {key}: this must be fn, fp, tp or tn, or truth:decision.")
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
        return text


def mean_cost(cell: Any, rows: Any) -> float:
    """Return what an entry costs, on average over the rows if it is an expression."""
    if isinstance(cell, str):
        cell = Expression(cell)(rows)
    return float(np.mean(cell))


def _costs_of_file(path: Path) -> Entries:
    frame = open_source(path).read()
    decisions = frame.columns[1:]
    if len(decisions) < 2:
        raise TableError(
            f"{path} must have the truth in its first column and a column for each decision, at "
            f"least two; its columns are {', '.join(frame.columns)}."
        )
    found: dict[tuple[str, ...], Any] = {}
    for truth, *cells in frame.iter_rows():
        for decision, cell in zip(decisions, cells, strict=True):
            text = "" if cell is None else str(cell).strip()
            if not text:
                raise TableError(
                    f"{path}: no cost for the truth {truth!r} and the decision {decision!r}. Write "
                    "0 if it costs nothing."
                )
            found[str(truth).strip(), decision.strip()] = _cell(text)
    return found


def read_costs(
    entries: Entries, classes: Sequence[Any], positive: str | None, target: str
) -> tuple[dict[Any, Any] | None, Any]:
    """The costs as the library takes them, and the positive class."""
    names = {str(label).lower(): label for label in classes}
    chosen = max(classes) if set(classes) in ({0, 1}, {-1, 1}) else None
    if positive is not None:
        chosen = names.get(positive.strip().lower())
        if chosen is None:
            raise TableError(
                f"--positive must be a class of the target {target!r}, "
                f"{' or '.join(map(str, classes))}, got {positive!r}."
            )
    if not entries:
        return None, chosen
    form: dict[Any, Any]
    if all(len(place) == 1 for place in entries):
        form = {key: cell for (key,), cell in entries.items()}
        if chosen is None and len(classes) == 2:
            raise TableError(
                "--positive must say which class is the one to find (the p in fp and fn): "
                f"{classes[0]!r} or {classes[1]!r}."
            )
        form["positive"] = chosen
    else:
        as_class = names if {decision.lower() for _, decision in entries} <= set(names) else {}
        form = {
            (names.get(truth.lower(), truth), as_class.get(decision.lower(), decision)): cell
            for (truth, decision), cell in entries.items()
        }
    CostSpec.parse(form, classes, name="--cost")
    return form, chosen


# --- held-out rows -----------------------------------------------------------------------------


def split(rows: CostProblem, share: float, seed: int) -> tuple[Ints, Ints, str]:
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
        since = f"{first:g}" if rows.time.dtype.kind == "f" else str(first).partition(".")[0]
        words = f"the latest, from {since.replace('T', ' ')}"
        if len(test) > 1.1 * share * n + 1:
            words += f"; {len(test) / n:.0%}, because rows of one time stay together"
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


def folds(rows: CostProblem, n_folds: int, seed: int) -> list[tuple[Ints, Ints]]:
    """Folds of a cross-validation: forward in time, by groups, or stratified at random."""
    from sklearn.model_selection import GroupKFold, StratifiedKFold, TimeSeriesSplit

    if rows.time is not None:
        order = np.argsort(rows.time, kind="stable")
        pairs = TimeSeriesSplit(n_folds).split(order)
        return [(np.sort(order[train]), np.sort(order[test])) for train, test in pairs]
    if rows.groups is not None:
        return list(GroupKFold(n_folds).split(rows.X, rows.y, rows.groups))
    _, counts = np.unique(rows.y, return_counts=True)
    if counts.min() < n_folds:
        raise TableError(
            f"The rarest class has {counts.min()} rows, too few for {n_folds} folds. Use "
            f"--folds {max(2, int(counts.min()))}, or gather more rows."
        )
    by_class = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return list(by_class.split(rows.X, rows.y))
