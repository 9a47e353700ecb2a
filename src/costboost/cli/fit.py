"""The command ``costboost fit``: from a file to a model file, with its worth in money."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console

from costboost.cli import options
from costboost.cli.failure import collected_warnings
from costboost.cli.options import LearnerOptions, ProblemOptions, check_output, command, option
from costboost.cli.show import (
    columns_json,
    columns_table,
    escape,
    money_table,
    note,
    print_json,
    warn,
    wrote,
)

if TYPE_CHECKING:
    from costboost.cli.problem import CostProblem, LabelledRows
    from costboost.columns import Source

SAMPLE = 200_000
"""Number of first rows from which the types of the columns are inferred, if not all are read."""
MOST_TEST_ROWS = 500_000
"""Largest number of held-out rows on disk that are measured."""


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
    from costboost.costs.forms import columns_of

    console = Console(stderr=as_json, quiet=as_json)
    talk = Console(stderr=as_json, quiet=as_json or quiet)
    reads = (asked.table, asked.cost_matrix, test)
    model_file = path or Path(f"{asked.target}.costboost")
    check_output(model_file, *reads, force=force, model=path is not None)
    check_output(save_test, *reads, force=force, table=True)
    from_disk = out_of_core
    if from_disk is None:
        from_disk = asked.table != "-" and is_too_large(asked.open())
    if from_disk:
        _check_disk(asked, learner, {"--refit": refit, "--save-test": save_test})
    problem = asked.read(SAMPLE if from_disk else None)
    notes = list(problem.notes)
    if from_disk:
        notes.append(f"Columns are shown as in the first {SAMPLE:,} rows; all rows count.")
    facts = {**problem.facts, "nothing": nothing}
    size = f"{problem.source.size:,} bytes" if from_disk else f"{len(problem.rows):,} rows"
    place = ", from disk" if from_disk else ""
    talk.print(f"{escape(asked.table)}: {size} ({problem.source.in_words()}){place}")
    talk.print(columns_table(problem.columns, columns_of(problem.cost_matrix)))
    note(talk, *notes)
    with tempfile.TemporaryDirectory(prefix="costboost-") as folder:
        if from_disk:
            task = _on_disk(asked, learner, problem, test, test_size, Path(folder), talk)
        else:
            task = _in_memory(asked, learner, problem, test, test_size)
        talk.print(
            f"\nTraining {type(task.model).__name__} on {task.n_train:,} rows; held out: "
            f"{task.n_test:,} rows ({escape(task.how)}).",
            highlight=False,
        )
        remarks = _trained(task, talk)
        held_out = task.held_out()
    model = task.model
    if len(held_out) < task.n_test:
        talk.print(f"Costs are measured on {len(held_out):,} of the {task.n_test:,} held-out rows.")
    found = None
    if len(held_out) < 2:
        note(console, "No rows are held out, so nothing was measured.")
    else:
        with collected_warnings():  # those of the costs were told
            _, found = measure(model, held_out, facts)
        console.print()
        console.print(money_table(found, len(held_out)))
        console.print(escape(found.verdict), highlight=False)
    n = task.n_train + (task.n_test if test is None else 0)
    if refit:
        with collected_warnings():
            problem.fit(model)
        note(talk, f"The saved model was trained once more, on all {n:,} rows.")
    save_model(model, facts, model_file)
    if save_test is not None and len(held_out):
        with writer(save_test, problem.source) as write:
            write(held_out.X)
    console.print()
    wrote(console, model_file)
    talk.print("Next:")
    if found is None or found.verdict.answer == "pays":
        first = f"costboost predict {model_file} new.csv -o decisions.csv"
    else:
        first = f"costboost compare {asked.table} ... shows whether another way to decide pays"
    second = f"costboost report {model_file} {save_test or test} -o report.html"
    if save_test is None and test is None:
        second = "--save-test held_out.csv keeps the held-out rows for report and monitor"
    talk.print(f"  {escape(first)}\n  {escape(second)}", highlight=False)
    if as_json:
        print_json(
            {
                "model": str(model_file),
                "class": type(model).__name__,
                "rows": n,
                "columns": columns_json(model.columns_),
                "classes": model.classes_.tolist(),
                "decisions": model.decisions_.tolist(),
                "costs": str(model.costs_),
                "notes": [*notes, *remarks],
                "held_out": {
                    "rows": task.n_test,
                    "measured_rows": len(held_out),
                    "how": task.how,
                    "ways_to_decide": [] if found is None else found.rules,
                },
            }
        )


class Task(NamedTuple):
    """What is trained on which rows; rows in memory and on disk differ in nothing else."""

    model: Any
    train: Callable[[], Any]
    held_out: Callable[[], LabelledRows]
    n_train: int
    n_test: int
    how: str


def _trained(task: Task, talk: Console) -> list[str]:
    """Train the model; returns its warnings."""
    # In a terminal the model shows its progress, and with it what decisions cost.
    bar = not talk.quiet and sys.stdout.isatty() and "verbose" in task.model.get_params(deep=False)
    with collected_warnings() as remarks:
        if bar:
            task.model.set_params(verbose=1)
        try:
            task.train()
        finally:
            if bar:
                task.model.set_params(verbose=0)
    warn(Console(stderr=True) if talk.quiet else talk, *remarks)
    if not bar:
        costs = escape(task.model.costs_)
        talk.print(f"\n[bold]What decisions cost[/bold]\n{costs}", highlight=False)
    if getattr(task.model, "members_", None) and task.model.members_.remark:
        note(talk, task.model.members_.remark)
    return remarks


def _in_memory(
    asked: ProblemOptions, learner: LearnerOptions, problem: CostProblem, test: str | None,
    test_size: float,
) -> Task:  # fmt: skip
    import numpy as np

    from costboost.cli.problem import split

    model, rows = learner.build(problem), problem.rows
    if test is None:
        train, index, how = split(rows, test_size, learner.seed)
        held_out = rows.take(index)
    else:
        other = asked.open(test)
        held_out = problem.read(other.read(), other.name)
        train, how = np.arange(len(rows)), test
    return Task(
        model, lambda: problem.fit(model, rows.take(train)), lambda: held_out, len(train),
        len(held_out), how,
    )  # fmt: skip


# --- from disk: files that do not fit into memory ----------------------------------------------


def is_too_large(source: Source) -> bool:
    """Whether the rows of a file would take more than a quarter of this machine's memory."""
    growth = {"csv": 3.0, "jsonl": 3.0, "parquet": 8.0, "arrow": 2.0}[source.format]
    packed = any(path.suffix.lower() in (".gz", ".zst") for path in source.paths)
    return source.size * growth * (6.0 if packed else 1.0) > memory() / 4


def memory() -> float:
    """Bytes of memory that this machine has, as far as the system tells."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return 16e9


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


def _on_disk(
    asked: ProblemOptions, learner: LearnerOptions, problem: CostProblem, test: str | None,
    test_size: float, folder: Path, talk: Console,
) -> Task:  # fmt: skip
    """Rows as Parquet files in a folder of temporary files; XGBoost trains from them."""
    import numpy as np
    import polars as pl

    from costboost.cli.problem import LabelledRows, has_label
    from costboost.columns import writer

    model, weight = learner.build(problem, engine="xgboost", ensemble=1), asked.weight_column
    features = [one.name for one in problem.columns if one.name != weight]
    model.set_params(columns={k: v for k, v in problem.kinds.items() if k in features} or None)
    files = folder / "train.parquet", folder / "test.parquet"
    rng, counts = np.random.default_rng(learner.seed), [0, 0]
    shares = [(problem.source, test_size)]
    if test is not None:
        shares = [(problem.source, 0.0), (asked.open(test), 1.0)]
    with talk.status("Converting the rows"), writer(files[0]) as train, writer(files[1]) as tests:
        for source, share in shares:
            for frame in source.batches(SAMPLE):
                known = frame.filter(has_label(frame[problem.target]))
                rows = problem.read(known, source.name)
                known = known.with_columns(pl.Series(problem.target, rows.y))
                if rows.weights is not None:
                    known = known.with_columns(pl.Series(weight, rows.weights))
                drawn = rng.random(known.height) < share
                for place, write in enumerate((train, tests)):
                    part = known.filter(drawn if place else ~drawn)
                    write(part)
                    counts[place] += part.height

    def fit() -> None:
        with talk.status("Training"):
            model.fit_parquet(files[0], problem.target, sample_weight=weight, features=features)

    def held_out() -> LabelledRows:
        # Evenly spread: the first rows of a file may be its oldest.
        step = max(-(-counts[1] // MOST_TEST_ROWS), 1)
        frame = pl.scan_parquet(files[1]).gather_every(step).collect()
        weights = None if weight is None else frame[weight].to_numpy()
        return LabelledRows(frame, frame[problem.target].to_numpy(), weights)

    return Task(model, fit, held_out, counts[0], counts[1], test or "at random")
