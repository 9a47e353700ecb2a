"""The command ``costboost tune``: settings that cost least, with an honest estimate."""

from __future__ import annotations

from pathlib import Path

from costboost.cli import options, show
from costboost.cli.failure import collected_warnings
from costboost.cli.options import LearnerOptions, ProblemOptions, check_output, command, option
from costboost.columns import TableError, need


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
    from costboost.cli import problem as problems
    from costboost.cli.models import measure, read_settings, save_model

    need("optuna", "tune", "costboost tune")
    out, talk = show.consoles(as_json, quiet)
    study, seed = study or Path(f"{asked.target}.study"), learner.seed
    check_output(path, asked.table, asked.cost_matrix, force=force, model=True)
    check_output(study, asked.table, asked.cost_matrix, force=True)
    if not test_size:
        raise TableError("--test-size must be above 0: the best settings are measured on it.")
    problem = problems.read_problem(asked)
    show.note(talk, *problem.notes)
    train, test, words = problems.split(problem, test_size, seed)
    training, held_out = problem.take(train), problem.take(test)
    plain = learner.make(problem)
    # Without calibration: the best settings are printed as options of `costboost fit`.
    keep = ["calibration", *read_settings(learner.setting)]
    search = tuned(
        plain, n_trials=trials, cv=problems.folds(training, folds, seed), keep=keep,
        study=study, random_state=seed, verbose=not talk.quiet,
    )  # fmt: skip
    with collected_warnings() as remarks:
        training.fit(search)
        training.fit(plain)
    show.warn(talk, *remarks)
    best, known = search.best_params_, plain.get_params(deep=False)
    rivals = {"Default settings": plain.predict(held_out.X)}
    _, found = measure(search.best_estimator_, held_out, rivals=rivals)
    if path is not None:
        save_model(search.best_estimator_, problem.facts, path)
    if as_json:
        show.print_json(
            {
                "study": study,
                "trials": search.n_trials_,
                "pruned": search.n_pruned_,
                "best": best,
                "held_out": show.held_out_json(len(held_out), words, found),
                "model": path,
            }
        )
        return
    done, pruned = search.n_trials_, search.n_pruned_
    out.print(f"[bold]Best settings[/bold] of {done} trials ({pruned} stopped early)")
    shown = {name: f"{v:.4g}" if isinstance(v, float) else str(v) for name, v in best.items()}
    rows = [(None, (name, str(known[name]), value)) for name, value in shown.items()]
    show.print_table(out, "", ["parameter", ">default", ">best"], rows)
    out.print()
    show.print_money(out, found, len(held_out))
    saving = found.rule("rival").saving
    if saving.low <= 0 <= saving.high:
        out.print("On these rows the best settings are not distinguishable from the defaults.")
    elif saving.high < 0:
        out.print("[yellow]On these rows the defaults cost less: keep them.[/yellow]")
    else:
        out.print("[green]The best settings cost less than the defaults.[/green]")
    given = " ".join(f"--set {name}={value}" for name, value in shown.items())
    show.say(out, f"For `costboost fit`: {given}")
    where = f"[bold]{show.escape(study)}[/bold]"
    out.print(f"\nThe trials are in {where}. For more of them, raise --trials.")
    if path is not None:
        show.wrote(out, path)
