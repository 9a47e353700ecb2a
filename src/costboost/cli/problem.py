"""Rows of a file with their classes and costs, and how they are split.

Costs are typed as ``--cost fn=amount+15``, as ``--cost fraud:review=4``, or in a table of costs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.cli.options import ProblemOptions, listed
from costboost.columns import Columns, Source, TableError, open_source, unknown_column
from costboost.columns.columns import look
from costboost.columns.files import reading
from costboost.columns.raw import as_texts, open_column
from costboost.costs import Costs
from costboost.costs.forms import Reader, columns_of, expressions_in

if TYPE_CHECKING:
    import polars as pl

Entries = Mapping[tuple[str, ...], Any]


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows as they were read, and what is known of them."""

    X: pl.DataFrame
    y: AnyArray
    weights: Floats | None = None
    time: AnyArray | None = None
    groups: AnyArray | None = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, index: AnyArray) -> LabelledRows:
        """Some of the rows."""
        others = (self.weights, self.time, self.groups)
        return LabelledRows(
            self.X[index], self.y[index], *(None if one is None else one[index] for one in others)
        )


@dataclass(frozen=True, eq=False)
class CostProblem:
    """Rows with classes and costs, and all that was found out about the file."""

    rows: LabelledRows
    cost_matrix: Any
    columns: Columns
    target: str
    kinds: Mapping[str, str]  # what columns are, for the estimator
    excludes_cost_columns: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)  # kept with the model
    notes: Sequence[str] = ()
    source: Any = None
    classes: Sequence[Any] = ()

    def costs(self, owner: str) -> Any:
        """What decisions cost on each row, by its class."""
        classes, codes = np.unique(self.rows.y, return_inverse=True)
        return Costs.resolve(
            self.cost_matrix, classes=classes, n_samples=len(self.rows),
            X=self.columns.read(self.rows.X), codes=codes, owner=owner,
        )  # fmt: skip

    def read(self, frame: pl.DataFrame, where: str) -> LabelledRows:
        """Labelled rows of another file, or of another part of this one."""
        return read_rows(frame, self.columns, self.classes, self.facts, where)

    def fit(self, model: Any, rows: LabelledRows | None = None) -> Any:
        """Fit a model to some of the rows, or to all."""
        import pandas as pd

        rows = rows or self.rows
        X = rows.X.drop(self.target, strict=False)
        return model.fit(X, pd.Series(rows.y, name=self.target), rows.weights)


def read_problem(options: ProblemOptions, first: int | None = None) -> CostProblem:
    """Read a file, or its first rows, and find out what its columns hold."""
    import polars as pl

    source, target = options.open(), options.target
    entries = typed_costs(options.cost or (), options.cost_matrix)
    names = source.columns()
    _check_names(options, names, source)
    costed = columns_of(entries)
    for name in costed:
        if name not in names:
            raise unknown_column(name, names, "the costs name it", source.name)
    if first is None:
        frame = source.read()
        distinct = frame[target]
    else:  # the classes are those of all rows
        with reading(source.name):
            frame = source.scan().head(first).collect()
            distinct = source.scan().select(pl.col(target).unique()).collect().to_series()
    is_known = has_label(frame[target])
    notes = []
    if not is_known.all():
        n = f"{(~is_known).sum():,} rows" if first is None else "Rows"
        notes.append(f"{n} without a value for {target} are left out.")
        frame = frame.filter(is_known)
    if not frame.height:
        raise TableError(f"{source.name}: no row has a value for the target {target!r}.")
    classes = sorted({*label_names(distinct).values()})
    _check_target(classes, frame.height, target, source.name)
    kinds, left_out, excludes_costs = _kinds(frame, options, costed)
    columns = Columns.learn(
        frame.drop(target), kinds, target=target, keep=costed, left_out=left_out
    )
    form, positive = read_costs(entries, classes, options.positive, target)
    if form is None:
        notes.append("No --cost is given: every mistake costs 1.")
    for place, cell in entries.items():
        is_mistake = place in (("fn",), ("fp",)) or (len(place) == 2 and place[0] != place[1])
        if cell == 0 and is_mistake and place[-1].lower() in {"fn", "fp", *map(str, classes)}:
            notes.append(f"--cost {':'.join(place)}=0: this mistake costs nothing. Is that meant?")
    facts = {
        "positive": positive, "weight": options.weight_column, "time": options.time_column,
        "group": options.group_column,
    }  # fmt: skip
    rows = read_rows(frame, columns, classes, facts, source.name)
    # Rows are counted as a spreadsheet does: a header is row 1.
    numbers = np.flatnonzero(is_known) + 1 + int(source.is_text)
    for expression in expressions_in(form):
        expression(columns.read(rows.X), rows=numbers.tolist(), of=source.name)
    return CostProblem(
        rows, form, columns, target, kinds, excludes_costs, facts, notes, source, classes
    )


def read_rows(
    frame: pl.DataFrame, columns: Columns, classes: Sequence[Any], facts: Mapping[str, Any],
    where: str,
) -> LabelledRows:  # fmt: skip
    """Labelled rows of a file; `facts` name the columns of weights, times and groups."""
    if columns.target not in frame.columns:
        raise unknown_column(columns.target, frame.columns, "the truth", where)
    weights = time = groups = None
    if facts.get("weight") in frame.columns:
        weights = _column(frame, facts["weight"], columns, "number", where)
        if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
            raise TableError(
                f"{where}: the weights {facts['weight']!r} must be numbers >= 0, not all 0."
            )
    if facts.get("time") in frame.columns:
        time = moments(frame, facts["time"], columns, where)
    if facts.get("group") in frame.columns:
        groups = texts(frame[facts["group"]])
    y = truth(frame[columns.target], classes, where)
    return LabelledRows(frame, y, weights, time, groups)


# --- labels ------------------------------------------------------------------------------------


def has_label(values: pl.Series) -> AnyArray:
    """Which rows have a label."""
    places, found = as_texts(open_column(values))
    return np.array([*(text is not None for text in found), False])[places]


def label_names(values: pl.Series) -> dict[str, Any]:
    """Labels by what the file calls them: whole numbers, booleans, or texts."""
    names = [text for text in as_texts(open_column(values))[1] if text is not None]
    if all(text.lstrip("+-").isdecimal() and str(int(text)) == text for text in names):
        return {text: int(text) for text in names}
    if {text.lower() for text in names} <= {"true", "false"}:
        return {text: text.lower() == "true" for text in names}
    return {text: text for text in names}


def truth(values: pl.Series, classes: Sequence[Any], where: str) -> AnyArray:
    """Labels of the rows, which are classes that are known."""
    places, found = as_texts(open_column(values))
    known = {str(label).lower(): label for label in classes}
    missing = ~has_label(values)
    if missing.any():
        raise TableError(
            f"{where}: the target {values.name!r} is missing on {missing.sum()} rows. Remove them."
        )
    strange = [text for text in found if text is not None and text.lower() not in known]
    if strange:
        raise TableError(
            f"{where}: the target {values.name!r} must hold the classes "
            f"{', '.join(map(str, classes))}, got {strange[0]!r}."
        )
    return np.array([known.get(str(text).lower(), classes[0]) for text in found])[places]


def texts(values: pl.Series, missing: str = "") -> AnyArray:
    """A column as texts."""
    import polars as pl

    return np.asarray(values.cast(pl.String).fill_null(missing).to_list(), dtype=np.str_)


# --- columns -----------------------------------------------------------------------------------


def _check_names(options: ProblemOptions, names: Sequence[str], source: Source) -> None:
    """Refuse names of columns that the file does not have."""
    target = options.target
    asked: dict[str, list[Any]] = {
        "--target": [target], "--exclude": listed(options.exclude),
        "--column": list(options.kinds()), "--weight-column": [options.weight_column],
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


def _kinds(
    frame: pl.DataFrame, options: ProblemOptions, costed: Sequence[str]
) -> tuple[dict[str, str], dict[str, str], bool]:
    """What columns are, why some are no features, and whether only costs may use their columns."""
    excluded = listed(options.exclude)
    rest = [name for name in costed if name not in excluded]
    if rest and len(rest) < len(costed):
        raise TableError(
            f"The costs name {', '.join(costed)}; exclude all of them or none "
            f"(--exclude {' --exclude '.join(rest)})."
        )
    only_costs = [] if rest else costed
    kinds, time = options.kinds(), options.time_column
    reasons: dict[str | None, str] = {
        options.weight_column: "weight of the row", options.group_column: "keeps groups together",
        **dict.fromkeys(only_costs, "only for the costs"),
    }  # fmt: skip
    left_out = {name: reason for name, reason in reasons.items() if name is not None}
    aside = [name for name in (*excluded, *left_out) if name not in only_costs]
    times = [] if time is None or time in kinds else [time]
    seen = look(frame.select(times))
    aside += [x for x in times if seen[x].column(keep=True).kind == "number"]  # it grows for ever
    return kinds | dict.fromkeys(aside, "ignore"), left_out, bool(only_costs)


def moments(frame: pl.DataFrame, name: str, columns: Columns, where: str) -> AnyArray:
    """A column of times: dates or numbers, none missing."""
    return _column(frame, name, columns, "date", where)


def _column(frame: pl.DataFrame, name: str, columns: Columns, kind: str, where: str) -> AnyArray:
    """The values of a column that an option names."""
    if name not in frame.columns:
        raise unknown_column(name, frame.columns, "--time-column", where)
    found = [column for column in columns if column.name == name]
    known = found[0] if found and found[0].kind in ("date", "number") else None
    known = known or look(frame.select(name))[name].column(keep=True)
    if known.kind not in ("number", kind):
        dates = "dates such as 2026-12-31 08:30, or " if kind == "date" else ""
        raise TableError(
            f"{where}: the column {name!r} must hold {dates}numbers, got "
            f"{frame[name].drop_nulls()[0]!r}."
        )
    if known.kind == "date" and known.note.startswith("dates such as"):
        raise TableError(f"{where}: the column {name!r} holds {known.note}.")
    values = known.values(open_column(frame[name]), where, 1)
    missing = np.isnat(values) if known.kind == "date" else np.isnan(values)
    if missing.any():
        row = int(missing.argmax())
        raise TableError(
            f"{where}: the column {name!r} has no value on row {row + 1} ({missing.sum():,} such "
            "rows). Remove them."
        )
    return values


def leaks(problem: CostProblem) -> list[str]:
    """Columns that tell the class of every row; they are often known only after the decision."""
    from costboost.gbm.rows import telling_columns

    columns, rows = problem.columns, problem.rows
    codes = np.unique(rows.y, return_inverse=True)[1]
    found = telling_columns(columns.encode(rows.X), codes, columns.categorical)
    names = [column.name for column in columns]
    return [
        f"The column {name} tells the class of every row. If it is known only after the decision, "
        f"leave it out: --exclude {name}."
        for name in dict.fromkeys(names[columns.sources[j]] for j in found)
    ]


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
    """What was typed: a cost for each entry, ``("fn",)`` or ``(truth, decision)``."""
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
    first, *decisions = frame.columns
    if len(decisions) < 2:
        raise TableError(
            f"{os.fspath(path)} must have the truth in its first column and a column for each "
            f"decision, at least two; its columns are {', '.join(frame.columns)}."
        )
    found: dict[tuple[str, ...], Any] = {}
    for row in frame.iter_rows(named=True):
        for decision in decisions:
            text = "" if row[decision] is None else str(row[decision]).strip()
            if not text:
                raise TableError(
                    f"{os.fspath(path)}: no cost for the truth {row[first]!r} and the decision "
                    f"{decision!r}. Write 0 if it costs nothing."
                )
            found[str(row[first]).strip(), decision.strip()] = _cell(text)
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
                f"--positive {classes[0]!r} or --positive {classes[1]!r}."
            )
        form["positive"] = chosen
    else:
        as_class = names if {decision.lower() for _, decision in entries} <= set(names) else {}
        form = {
            (names.get(truth.lower(), truth), as_class.get(decision.lower(), decision)): cell
            for (truth, decision), cell in entries.items()
        }
    try:
        Reader(np.asarray(classes), "--cost").cells(form)
    except ValueError as error:
        raise TableError(
            f"{error} Here, pairs are written --cost truth:decision=PRICE, tables --cost-matrix "
            "FILE."
        ) from None
    return form, chosen


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
