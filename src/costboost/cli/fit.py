"""The command ``costboost fit``: from a file to a model file, with its worth in money."""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from costboost.cli import options
from costboost.cli.failure import collected_warnings
from costboost.cli.options import LearnerOptions, ProblemOptions, check_output, command, option
from costboost.cli.show import columns_table, escape, money_table, note, print_json, warn, wrote

if TYPE_CHECKING:
    from costboost.cli.problem import CostProblem, LabelledRows
    from costboost.columns import Source, TableRecipe

SAMPLE = 200_000
"""Number of first rows from which the types of the columns are inferred, if not all are read."""
MOST_TEST_ROWS = 500_000
"""Largest number of held-out rows on disk that are measured."""
_WEIGHT, _TARGET = "__weight__", "__target__"


@command
def fit(
    asked: ProblemOptions,
    learner: LearnerOptions,
    path: Path | None = option(
        None,
        "Model file to write, also in place of an older model; a new TARGET.costboost if left out.",
        "--output",
        "-o",
        metavar="MODEL",
    ),
    refit: bool = option(
        False,
        "After measuring, train once more on all rows, and save that model.",
        "--refit",
        panel=options.MODEL,
    ),
    out_of_core: bool | None = option(
        None,
        "Train from disk; the default for files that do not fit into memory.",
        "--out-of-core/--in-memory",
        panel=options.MODEL,
    ),
    test_size: float = options.TEST_SIZE,
    test: str | None = option(
        None, "Measure on this file instead of held-out rows.", metavar="FILE", panel=options.TEST
    ),
    nothing: str | None = option(
        None,
        "Decision that means doing nothing; the model is compared with it, too.",
        panel=options.TEST,
    ),
    save_test: Path | None = option(
        None,
        "Write the held-out rows, for `costboost report` and `monitor`.",
        metavar="FILE",
        panel=options.TEST,
    ),
    force: bool = options.FORCE,
    as_json: bool = options.AS_JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Train a model on a file, and show what its decisions cost on held-out rows."""
    # Example: costboost fit train.csv --target fraud --positive yes --cost "fn=amount+15" --cost
    # fp=5
    from costboost.cli.models import measure, save_model
    from costboost.columns import writer
    from costboost.report.headline import verdict

    console = Console(stderr=as_json, quiet=as_json)
    talk = Console(stderr=as_json, quiet=as_json or quiet)
    reads = (asked.table, asked.cost_matrix, test)
    model_file = path or Path(f"{asked.target}.costboost")
    check_output(model_file, *reads, force=force, model=path is not None)
    check_output(save_test, *reads, force=force, table=True)
    path = model_file
    from_disk = out_of_core
    if from_disk is None:
        from_disk = asked.table != "-" and is_too_large(asked.open())
    if from_disk:
        _check_disk(asked, learner, {"--refit": refit, "--save-test": save_test})
    problem = asked.read(SAMPLE if from_disk else None)
    recipe, notes = replace(problem.recipe, nothing=nothing or ""), list(problem.notes)
    size = f"{problem.source.size:,} bytes" if from_disk else f"{len(problem.rows):,} rows"
    place = ", from disk" if from_disk else ""
    talk.print(f"{escape(asked.table)}: {size} ({problem.source.in_words()}){place}")
    talk.print(columns_table(recipe))
    said = f"Types are those of the first {SAMPLE:,} rows; all rows are checked."
    note(talk, *notes, *([said] if from_disk else []))
    train = _train_from_disk if from_disk else _train_in_memory
    model, rows, frame, n, held_out = train(asked, learner, problem, test, test_size, talk)
    rules: Any = []
    if len(rows) < 2:
        note(console, "No rows are held out, so nothing was measured.")
    else:
        case, rules, unit = measure(model, rows, recipe)
        console.print()
        console.print(money_table(rules, len(rows), unit))
        console.print(verdict(rules, float(case.weights.sum())), highlight=False)
    if refit:
        _fit(model, problem.rows, Console(quiet=True), has_bar(model, talk))
        note(talk, f"The saved model was trained once more, on all {n:,} rows.")
    save_model(model, recipe, path)
    if save_test is not None and len(rows):
        with writer(save_test, problem.source) as out:
            out.write(frame)
    console.print()
    wrote(console, path)
    name, measured = escape(str(path)), escape(str(save_test or test))
    talk.print(f"Next:\n  costboost predict {name} new.csv -o decisions.csv", highlight=False)
    if save_test is None and test is None:
        talk.print("  --save-test held_out.csv keeps the held-out rows for report and monitor")
    else:
        talk.print(f"  costboost report {name} {measured} -o report.html", highlight=False)
    if as_json:
        print_json(
            {
                "model": str(path),
                "class": type(model).__name__,
                "rows": n,
                "columns": recipe.columns,
                "classes": model.classes_.tolist(),
                "decisions": model.decisions_.tolist(),
                "costs": str(model.costs_),
                "notes": [*notes, *held_out.pop("remarks")],
                "held_out": {**held_out, "ways_to_decide": rules},
            }
        )


def _announce(talk: Console, model: Any, n_train: int, n_test: int, words: str) -> None:
    talk.print(
        f"\nTraining {type(model).__name__} on {n_train:,} rows; held out: {n_test:,} rows "
        f"({escape(words)}).",
        highlight=False,
    )


def _conclude(talk: Console, model: Any, remarks: list[str], costs: bool = True) -> None:
    warn(talk, *remarks)
    if costs:
        talk.print(
            f"\n[bold]What decisions cost[/bold]\n{escape(str(model.costs_))}", highlight=False
        )


# --- in memory ---------------------------------------------------------------------------------


def has_bar(model: Any, talk: Console) -> bool:
    """Whether a fit shows its progress, and with it what decisions cost."""
    in_terminal = not talk.quiet and sys.stdout.isatty()
    return in_terminal and "verbose" in model.get_params(deep=False)


def _fit(model: Any, rows: LabelledRows, talk: Console, bar: bool) -> list[str]:
    """Fit a model; returns its warnings."""
    with collected_warnings() as remarks:
        if bar:
            model.set_params(verbose=1)
        try:
            model.fit(rows.X, rows.y, rows.weights)
        finally:
            if bar:
                model.set_params(verbose=0)
    _conclude(talk, model, remarks, costs=not bar)
    return remarks


def _train_in_memory(
    asked: ProblemOptions, learner: LearnerOptions, problem: CostProblem, test: str | None,
    test_size: float, talk: Console,
) -> tuple[Any, LabelledRows, Any, int, dict[str, Any]]:  # fmt: skip
    """The model, held-out rows and their raw frame, the number of all rows, what was held out."""
    import numpy as np

    from costboost.cli.problem import read_rows, split

    model, rows = learner.build(problem), problem.rows
    if test is None:
        train, index, words = split(rows, test_size, learner.seed)
        held_out, frame = rows.take(index), problem.frame[index]
    else:
        other = asked.open(test)
        frame = other.read()
        held_out = read_rows(frame, problem.recipe, other.name)
        train, words = np.arange(len(rows)), test
    _announce(talk, model, len(train), len(held_out), words)
    remarks = _fit(model, rows.take(train), talk, has_bar(model, talk))
    found = {"rows": len(held_out), "how": words, "remarks": remarks}
    return model, held_out, frame, len(rows), found


# --- from disk: files that do not fit into memory ----------------------------------------------


def is_too_large(source: Source) -> bool:
    """Whether a file would take too much of the free memory."""
    growth = {"csv": 3.0, "jsonl": 3.0, "parquet": 8.0, "arrow": 2.0}[source.format]
    packed = any(path.suffix.lower() in (".gz", ".zst") for path in source.paths)
    return source.size * growth * (6.0 if packed else 1.0) > 0.4 * free_memory()


def free_memory() -> float:
    """Bytes of memory that are free, as far as the system tells."""
    try:
        for line in Path("/proc/meminfo").read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) / 2
    except (AttributeError, ValueError, OSError):
        return 8e9


def _check_disk(asked: ProblemOptions, learner: LearnerOptions, given: dict[str, Any]) -> None:
    """Refuse what cannot be done from disk."""
    from costboost.cli.models import FLAGSHIP
    from costboost.columns import TableError, need

    need("xgboost", "gbm", "Training from disk")
    columns = {"--time-column": asked.time_column, "--group-column": asked.group_column}
    for name, value in {**columns, **given}.items():
        if value:
            raise TableError(
                f"{name} cannot be used when training from disk. Leave it out, split the "
                "file yourself and use --test FILE, or add --in-memory."
            )
    if learner.algorithm.lower().removesuffix("classifier") != FLAGSHIP.lower():
        raise TableError(
            f"Only {FLAGSHIP} trains from disk, not {learner.algorithm}. Leave --algorithm out, "
            "or add --in-memory."
        )


def _train_from_disk(
    asked: ProblemOptions, learner: LearnerOptions, problem: CostProblem, test: str | None,
    test_size: float, talk: Console,
) -> tuple[Any, LabelledRows, Any, int, dict[str, Any]]:  # fmt: skip
    """As `_train_in_memory`; XGBoost trains from Parquet files in the folder of temporary files."""
    import polars as pl

    model = learner.build(problem, engine="xgboost", ensemble=1)
    recipe, weight = problem.recipe, asked.weight_column
    words = test or "at random"
    with tempfile.TemporaryDirectory(prefix="costboost-") as name:
        files = [Path(name, part) for part in ("train.parquet", "test.parquet", "all.parquet")]
        with talk.status("Converting the rows"):
            rows = _typed_rows(problem.source, recipe, weight)
            if test is None:
                # Held-out rows are drawn by their number: the same rows for a seed, in one pass.
                rows.with_row_index("__row__").sink_parquet(files[2])
                drawn = pl.col("__row__").hash(learner.seed) % 10_000 < round(test_size * 10_000)
                for file, chosen in zip(files, (~drawn, drawn), strict=False):
                    part = pl.scan_parquet(files[2]).filter(chosen)
                    part.drop("__row__").sink_parquet(file)
                files[2].unlink()
            else:
                rows.sink_parquet(files[0])
                _typed_rows(asked.open(test), recipe, weight).sink_parquet(files[1])
        n_train, n_test = (
            int(pl.scan_parquet(file).select(pl.len()).collect().item()) for file in files[:2]
        )
        _announce(talk, model, n_train, n_test, words)
        with collected_warnings() as remarks, talk.status("Training"):
            model.fit_parquet(
                files[0], _TARGET, sample_weight=_WEIGHT if weight else None,
                features=recipe.feature_names,
            )  # fmt: skip
        _conclude(talk, model, remarks)
        held_out = _test_rows(files[1], n_test, recipe, bool(weight))
    found = {"rows": n_test, "measured_rows": len(held_out), "how": words, "remarks": remarks}
    if len(held_out) < n_test:
        talk.print(f"Costs are measured on {len(held_out):,} of the {n_test:,} held-out rows.")
    return model, held_out, None, n_train + n_test, found


def _typed_rows(source: Source, recipe: TableRecipe, weight: str | None) -> Any:
    """Features, target and weight as a lazy frame, after a check of all values."""
    import polars as pl

    lazy = source.scan()
    schema = lazy.collect_schema()
    recipe.check_columns(schema.names(), source.name)
    for batch in source.batches(SAMPLE) if source.is_text else ():
        recipe.features(batch, source.name)
    label: Any = pl.col(recipe.target).cast(pl.String).str.strip_chars()
    if recipe.label_kind == "int":
        label = label.cast(pl.Float64).cast(pl.Int64)
    elif recipe.label_kind == "bool":
        label = label.str.to_lowercase() == "true"
    columns = [*recipe.expressions(schema), label.alias(_TARGET)]
    if weight:
        columns.append(pl.col(weight).cast(pl.Float64).alias(_WEIGHT))
    return lazy.select(columns).filter(pl.col(_TARGET).is_not_null())


def _test_rows(path: Path, n: int, recipe: TableRecipe, has_weights: bool) -> LabelledRows:
    import polars as pl

    from costboost.cli.problem import LabelledRows

    # Evenly spread: the first rows of a file may be its oldest.
    frame = pl.scan_parquet(path).gather_every(max(-(-n // MOST_TEST_ROWS), 1)).collect()
    texts = [column.name for column in recipe.used if column.kind == "category"]
    X = frame.select(recipe.feature_names).with_columns(pl.col(texts).cast(pl.Categorical))
    y = frame[_TARGET].to_numpy()
    weights = frame[_WEIGHT].to_numpy() if has_weights else None
    return LabelledRows(X.to_pandas(), y.astype(str) if recipe.label_kind == "text" else y, weights)
