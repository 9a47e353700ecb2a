"""The command ``costboost fit``: from a file to a model file, with its worth in money."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from costboost.cli import options, show
from costboost.cli.failure import collected_warnings
from costboost.cli.options import LearnerOptions, ProblemOptions, check_output, command, option

if TYPE_CHECKING:
    from costboost.cli.problem import CostProblem


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
    forget_rows: bool = option(
        False,
        "Leave hashes of the training rows out of the model file. Reports then cannot notice rows "
        "that the model was trained on.",
        panel=options.MODEL,
    ),
    force: bool = options.FORCE,
    as_json: bool = options.AS_JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Train a model on a file, and show what its decisions cost on held-out rows."""
    # Example: costboost fit train.csv --target fraud --positive yes --cost "fn=amount+15" --cost
    # fp=5
    from costboost.cli.models import measure, save_model
    from costboost.cli.problem import read_problem, read_rows, split
    from costboost.columns import writer
    from costboost.costs.spec import columns_of

    out, talk = show.consoles(as_json, quiet)
    problem = read_problem(asked)
    problem = replace(problem, facts={**problem.facts, "nothing": nothing})
    model = learner.make(problem)
    training = problem
    if test is None:
        train, index, how = split(problem, test_size, learner.seed)
        training, held_out = problem.take(train), problem.take(index)
    else:
        other, how = asked.open(test), test
        known = problem.columns, problem.classes, problem.facts
        held_out = read_rows(other.read(), *known, other.name)
    # Mistakes of the request come before files that exist, which is seldom the mistake.
    reads = (asked.table, asked.cost_matrix, test)
    model_file = path or Path(f"{asked.target}.costboost")
    check_output(model_file, *reads, force=force, model=path is not None)
    check_output(save_test, *reads, force=force, table=True)
    words = problem.source.in_words()
    talk.print(f"{show.escape(asked.table)}: {len(problem):,} rows ({words})")
    show.print_columns(talk, problem.columns, columns_of(problem.settings["cost_matrix"]))
    show.note(talk, *problem.notes)
    show.say(
        talk,
        f"\nTraining {type(model).__name__} on {len(training):,} rows; held out: "
        f"{len(held_out):,} rows ({how}).",
    )
    remarks = _train(model, training, talk)
    found = None
    if len(held_out) < 2:
        show.note(out, "No rows are held out, so nothing was measured.")
    else:
        with collected_warnings():  # those of the costs were told
            case, found = measure(model, held_out)
        out.print()
        show.print_money(out, found, case.rows_in_words)
        show.say(out, found.verdict)
    if refit:
        with collected_warnings():
            problem.fit(model)
        show.note(talk, f"The saved model was trained once more, on all {len(problem):,} rows.")
    if forget_rows and hasattr(model, "row_hashes_"):
        model.row_hashes_ = None
    save_model(model, problem.facts, model_file)
    if save_test is not None and len(held_out):
        comma = problem.columns.notation.decimal == ","
        with writer(save_test, problem.source, decimal_comma=comma) as write:
            write(held_out.X)
    out.print()
    show.wrote(out, model_file)
    first = f"costboost predict {model_file} new.csv -o decisions.csv"
    if found is not None and found.verdict.doubts:
        first = "fit again without what gives the class away: --exclude COLUMN"
    elif found is not None and found.verdict.answer != "pays":
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
                "rows": len(problem),
                "columns": show.columns_json(model.columns_),
                "classes": model.classes_.tolist(),
                "decisions": model.decisions_.tolist(),
                "costs": str(model.costs_),
                "notes": [*problem.notes, *remarks],
                "held_out": {"rows": len(held_out), "how": how, **show.verdict_json(found)},
            }
        )


def _train(model: Any, rows: CostProblem, talk: Console) -> list[str]:
    """Train the model; returns its warnings."""
    with collected_warnings() as remarks:
        rows.fit(model)
    show.warn(Console(stderr=True) if talk.quiet else talk, *remarks)
    show.say(talk, model.costs_, before="\n[bold]What decisions cost[/bold]\n")
    if getattr(model, "members_", None) and model.members_.remark:
        show.note(talk, model.members_.remark)
    return remarks
