"""The command ``costboost tune``: settings that cost least, with an honest estimate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from costboost.cli import options
from costboost.cli.failure import collected_warnings
from costboost.cli.options import LearnerOptions, ProblemOptions, check_output, command, option
from costboost.cli.show import escape, grid, money_table, note, print_json, warn, wrote
from costboost.columns import TableError, need

if TYPE_CHECKING:
    from costboost.report.headline import Headline


@command
def tune(
    asked: ProblemOptions,
    learner: LearnerOptions,
    path: Path | None = option(
        None, "Model file to write, with the best settings.", "--output", "-o", metavar="MODEL"
    ),
    study: Path | None = option(
        None,
        "File that keeps the trials; the same command continues from it. TARGET.study if left out.",
        metavar="FILE",
    ),
    trials: int = option(30, "Trials in all, earlier ones included.", min=1),
    folds: int = option(3, "Folds that a trial is measured on.", min=2),
    test_size: float = options.TEST_SIZE,
    force: bool = options.FORCE,
    as_json: bool = options.AS_JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Search for the settings that cost least; measure them on rows the search has not seen."""
    from costboost import tuned
    from costboost.cli.models import measure, read_settings, save_model
    from costboost.cli.problem import folds as folds_of
    from costboost.cli.problem import split

    need("optuna", "tune", "costboost tune")
    console = Console(stderr=as_json, quiet=as_json or quiet)
    study = study or Path(f"{asked.target}.study")
    check_output(path, asked.table, asked.cost_matrix, force=force, model=True)
    check_output(study, asked.table, asked.cost_matrix, force=True)
    if not test_size:
        raise TableError("--test-size must be above 0: the best settings are measured on it.")
    problem = asked.read()
    note(console, *problem.notes)
    rows = problem.rows
    train, test, words = split(problem.rows, test_size, learner.seed)
    training, held_out = rows.take(train), rows.take(test)
    plain = learner.build(problem)
    # Without calibration: the best settings are printed as options of `costboost fit`.
    search = tuned(
        plain, n_trials=trials, cv=list(folds_of(training, folds, learner.seed)), calibrate=False,
        keep=list(read_settings(learner.setting)), study=study, random_state=learner.seed,
        verbose=not console.quiet,
    )  # fmt: skip
    with collected_warnings() as remarks:
        problem.fit(search, training)
        problem.fit(plain, training)
    best, done, pruned = search.best_params_, search.n_trials_, search.n_pruned_
    warn(console, *remarks)
    facts = problem.facts
    rivals = {"Default settings": plain.predict(held_out.X)}
    _, found = measure(search.best_estimator_, held_out, facts, rivals=rivals)
    if path is not None:
        save_model(search.best_estimator_, facts, path)
    if as_json:
        print_json(
            {
                "study": str(study),
                "trials": done,
                "pruned": pruned,
                "best": best,
                "held_out": {"rows": len(held_out), "how": words, "ways_to_decide": found.rules},
                "model": None if path is None else str(path),
            }
        )
        return
    console = Console()
    console.print(f"[bold]Best settings[/bold] of {done} trials ({pruned} stopped early)")
    _show(console, best, plain.get_params(deep=False), found, len(held_out))
    where = f"[bold]{escape(str(study))}[/bold]"
    console.print(f"\nThe trials are in {where}. For more of them, raise --trials.")
    if path is not None:
        wrote(console, path)


def _show(
    console: Console, best: dict[str, Any], known: dict[str, Any], found: Headline, n: int
) -> None:
    table = grid("", ["parameter"], ["default", "best"])
    for name, value in best.items():
        table.add_row(name, str(known[name]), _word(value))
    console.print(table)
    console.print()
    console.print(money_table(found, n))
    saving = found.rule("rival").saving
    if saving.low <= 0 <= saving.high:
        console.print("On these rows the best settings are not distinguishable from the defaults.")
    elif saving.high < 0:
        console.print("[yellow]On these rows the defaults cost less: keep them.[/yellow]")
    else:
        console.print("[green]The best settings cost less than the defaults.[/green]")
    given = " ".join(f"--set {name}={_word(value)}" for name, value in best.items())
    console.print(f"For `costboost fit`: {given}", highlight=False)


def _word(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
