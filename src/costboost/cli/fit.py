"""The command ``costboost fit``: from a file to a model file, with its worth in money."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console

from costboost.cli import options, show
from costboost.cli.failure import collected_warnings
from costboost.cli.options import LearnerOptions, ProblemOptions, check_output, command, option

if TYPE_CHECKING:
    from costboost.cli.problem import CostProblem
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
    from costboost.cli.problem import read_problem
    from costboost.columns import writer
    from costboost.costs.forms import columns_of

    out, talk = show.consoles(as_json, quiet)
    reads = (asked.table, asked.cost_matrix, test)
    model_file = path or Path(f"{asked.target}.costboost")
    check_output(model_file, *reads, force=force, model=path is not None)
    check_output(save_test, *reads, force=force, table=True)
    from_disk = out_of_core
    if from_disk is None:
        from_disk = asked.table != "-" and is_too_large(asked.open())
    if from_disk:
        _check_disk(asked, learner, {"--refit": refit, "--save-test": save_test})
    problem = read_problem(asked, SAMPLE if from_disk else None)
    problem = replace(problem, facts={**problem.facts, "nothing": nothing})
    notes = list(problem.notes)
    size, place = f"{len(problem):,} rows", ""
    if from_disk:
        size, place = f"{problem.source.size:,} bytes", ", from disk"
        notes.append(f"Columns are shown as in the first {SAMPLE:,} rows; all rows count.")
    talk.print(f"{show.escape(asked.table)}: {size} ({problem.source.in_words()}){place}")
    show.print_columns(talk, problem.columns, columns_of(problem.settings["cost_matrix"]))
    show.note(talk, *notes)
    with tempfile.TemporaryDirectory(prefix="costboost-") as folder:
        if from_disk:
            task = _on_disk(asked, learner, problem, test, test_size, Path(folder), talk)
        else:
            task = _in_memory(asked, learner, problem, test, test_size)
        model = task.model
        show.say(
            talk,
            f"\nTraining {type(model).__name__} on {task.n_train:,} rows; held out: "
            f"{task.n_test:,} rows ({task.how}).",
        )
        remarks = _trained(task, talk)
        held_out = task.held_out()
    if len(held_out) < task.n_test:
        talk.print(f"Costs are measured on {len(held_out):,} of the {task.n_test:,} held-out rows.")
    found = None
    if len(held_out) < 2:
        show.note(out, "No rows are held out, so nothing was measured.")
    else:
        with collected_warnings():  # those of the costs were told
            _, found = measure(model, held_out)
        out.print()
        show.print_money(out, found, len(held_out))
        show.say(out, found.verdict)
    n = task.n_train + (task.n_test if test is None else 0)
    if refit:
        with collected_warnings():
            problem.fit(model)
        show.note(talk, f"The saved model was trained once more, on all {n:,} rows.")
    save_model(model, problem.facts, model_file)
    if save_test is not None and len(held_out):
        with writer(save_test, problem.source) as write:
            write(held_out.X)
    out.print()
    show.wrote(out, model_file)
    first = f"costboost predict {model_file} new.csv -o decisions.csv"
    if found is not None and found.verdict.answer != "pays":
        first = f"costboost compare {asked.table} ... shows whether another way to decide pays"
    second = f"costboost report {model_file} {save_test or test} -o report.html"
    if save_test is None and test is None:
        second = "--save-test held_out.csv keeps the held-out rows for report and monitor"
    show.say(talk, f"Next:\n  {first}\n  {second}")
    if as_json:
        show.print_json(
            {
                "model": str(model_file),
                "class": type(model).__name__,
                "rows": n,
                "columns": show.columns_json(model.columns_),
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
    held_out: Callable[[], CostProblem]
    n_train: int
    n_test: int
    how: str


def _trained(task: Task, talk: Console) -> list[str]:
    """Train the model; returns its warnings."""
    # In a terminal the model shows its progress, and with it what decisions cost.
    model = task.model
    bar = not talk.quiet and sys.stdout.isatty() and "verbose" in model.get_params(deep=False)
    with collected_warnings() as remarks:
        if bar:
            model.set_params(verbose=1)
        task.train()
    if bar:
        model.set_params(verbose=0)
    show.warn(Console(stderr=True) if talk.quiet else talk, *remarks)
    if not bar:
        show.say(talk, model.costs_, before="\n[bold]What decisions cost[/bold]\n")
    if getattr(model, "members_", None) and model.members_.remark:
        show.note(talk, model.members_.remark)
    return remarks


def _in_memory(
    asked: ProblemOptions, learner: LearnerOptions, problem: CostProblem, test: str | None,
    test_size: float,
) -> Task:  # fmt: skip
    from costboost.cli.problem import read_rows, split

    model, training = learner.make(problem), problem
    if test is None:
        train, index, how = split(problem, test_size, learner.seed)
        training, held_out = problem.take(train), problem.take(index)
    else:
        other, how = asked.open(test), test
        known = problem.columns, problem.classes, problem.facts
        held_out = read_rows(other.read(), *known, other.name)
    return Task(
        model, lambda: training.fit(model), lambda: held_out, len(training), len(held_out), how
    )


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
    from costboost.cli.models import FLAGSHIP, algorithm_class
    from costboost.columns import TableError, need

    need("xgboost", "gbm", "Training from disk")
    given |= {"--time-column": asked.time_column, "--group-column": asked.group_column}
    for name, value in given.items():
        if value:
            raise TableError(
                f"{name} cannot be used when training from disk. Leave it out, split the file "
                "yourself and use --test FILE, or add --in-memory."
            )
    if algorithm_class(learner.algorithm).__name__ != f"{FLAGSHIP}Classifier":
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

    from costboost.cli.problem import has_label, read_rows
    from costboost.columns import writer

    target, weight = asked.target, asked.weight_column
    known = problem.columns, problem.classes, problem.facts
    features = [one.name for one in problem.columns if one.name != weight]
    model = learner.make(problem, engine="xgboost", ensemble=1)
    model.set_params(
        columns={k: v for k, v in (model.columns or {}).items() if k in features} or None
    )
    files = folder / "train.parquet", folder / "test.parquet"
    rng, counts = np.random.default_rng(learner.seed), [0, 0]
    shares = [(problem.source, test_size)]
    if test is not None:
        shares = [(problem.source, 0.0), (asked.open(test), 1.0)]
    with talk.status("Converting the rows"), writer(files[0]) as train, writer(files[1]) as tests:
        for source, share in shares:
            for batch in source.batches(SAMPLE):
                frame = batch.filter(has_label(batch[target]))
                rows = read_rows(frame, *known, source.name)
                frame = frame.with_columns(pl.Series(target, rows.y))
                if rows.weights is not None:
                    frame = frame.with_columns(pl.Series(weight, rows.weights))
                drawn = rng.random(frame.height) < share
                for place, write in enumerate((train, tests)):
                    part = frame.filter(drawn if place else ~drawn)
                    write(part)
                    counts[place] += part.height

    def fit() -> None:
        with talk.status("Training"):
            model.fit_parquet(files[0], target, sample_weight=weight, features=features)

    def held_out() -> CostProblem:
        # Evenly spread: the first rows of a file may be its oldest.
        step = max(-(-counts[1] // MOST_TEST_ROWS), 1)
        frame = pl.scan_parquet(files[1]).gather_every(step).collect()
        return read_rows(frame, *known, "The held-out rows")

    return Task(model, fit, held_out, counts[0], counts[1], test or "at random")
