"""The command ``costboost tune``: settings that cost least, with an honest estimate."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

from costboost.cli import options
from costboost.cli.failure import collected_warnings
from costboost.cli.options import LearnerOptions, ProblemOptions, check_output, command, option
from costboost.cli.show import (
    escape,
    grid,
    money_table,
    note,
    print_json,
    progress,
    warn,
    wrote,
)
from costboost.columns import TableError, need

if TYPE_CHECKING:
    from costboost.cli.problem import CostProblem

SPACE: dict[str, tuple[type, float, float, bool]] = {
    # name: type, lowest, highest, whether steps are ratios
    "learning_rate": (float, 0.01, 0.3, True),
    "max_leaves": (int, 4, 63, True),
    "min_samples_leaf": (int, 5, 200, True),
    "reg_lambda": (float, 0.1, 100.0, True),
    "subsample": (float, 0.5, 1.0, False),
    "colsample": (float, 0.3, 1.0, False),
    "n_estimators": (int, 25, 400, True),
}
"""Parameters that are searched, if the algorithm has them."""


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
    from costboost.cli.models import fingerprint, measure, read_settings, save_model
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
    question = {
        **fingerprint(problem), "algorithm": learner.algorithm,
        "settings": read_settings(learner.setting), "seed": learner.seed, "folds": folds,
        "test_size": test_size,
    }  # fmt: skip
    with collected_warnings() as remarks:
        best, done, pruned = _search(
            console, problem, train, learner, folds, study, question, trials
        )
        plain, tuned = learner.build(problem), learner.build(problem, **best)
        for model in (plain, tuned):
            problem.fit(model, training)
    warn(console, *remarks)
    facts = problem.facts or {}
    rivals = {"Default settings": plain.predict(held_out.X)}
    _, rules, unit = measure(tuned, held_out, facts, rivals=rivals)
    if path is not None:
        save_model(tuned, facts, path)
    if as_json:
        print_json(
            {
                "study": str(study),
                "trials": done,
                "pruned": pruned,
                "best": best,
                "held_out": {"rows": len(held_out), "how": words, "ways_to_decide": rules},
                "model": None if path is None else str(path),
            }
        )
        return
    console = Console()
    console.print(f"[bold]Best settings[/bold] of {done} trials ({pruned} stopped early)")
    _show(console, best, plain.get_params(deep=False), rules, unit, len(held_out))
    where = f"[bold]{escape(str(study))}[/bold]"
    console.print(f"\nThe trials are in {where}. For more of them, raise --trials.")
    if path is not None:
        wrote(console, path)


def _search(
    console: Console, problem: CostProblem, train: Any, learner: LearnerOptions, n_folds: int,
    path: Path, question: dict[str, Any], trials: int,
) -> tuple[dict[str, Any], int, int]:  # fmt: skip
    """Do the trials that are missing; the best settings, the number of trials, of those pruned."""
    import optuna

    from costboost.cli.models import codes_of
    from costboost.cli.problem import folds

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    rows, known = problem.rows.take(train), problem.costs("costboost tune").take(train)
    pairs = list(folds(rows, n_folds, learner.seed))
    defaults = learner.build(problem).get_params(deep=False)
    space = {
        name: row
        for name, row in SPACE.items()
        if name in defaults
        and name not in question["settings"]
        and not (name == "n_estimators" and defaults.get("early_stopping", False))
    }
    if not space:
        raise TableError("There is nothing to search: every parameter is fixed by --set.")

    def cost(trial: Any) -> float:
        """Mean cost of a held-out row; hopeless trials stop after a fold."""
        chosen: dict[str, Any] = {}
        for name, (kind, low, high, ratio) in space.items():
            suggest = trial.suggest_int if kind is int else trial.suggest_float
            chosen[name] = suggest(name, kind(low), kind(high), log=ratio)
        total = weight = 0.0
        for step, (index, test) in enumerate(pairs):
            model = problem.fit(learner.build(problem, **chosen), rows.take(index))
            codes = codes_of(known.decisions, model.predict(rows.X[test]))
            weights = np.ones(len(test)) if rows.weights is None else rows.weights[test]
            total += float((known.take(test).paid(codes) * weights).sum())
            weight += float(weights.sum())
            trial.report(total / weight, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return total / weight

    found = _open_study(path, question)
    with progress(console) as bar:
        # A trial that was interrupted has no result, and is done again.
        states = (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)
        done = len(found.get_trials(states=states))
        task = bar.add_task("trials", total=max(trials, done), completed=done)
        for number in range(done, trials):
            # Each trial has its own seed, so that a search that was killed goes on as if it
            # had not been.
            found.sampler = optuna.samplers.TPESampler(seed=learner.seed + number)
            if number == 0 and not found.get_trials(states=[optuna.trial.TrialState.WAITING]):
                # The first trial has the defaults, as far as they lie in the space.
                first = {name: defaults[name] for name in space}
                numbers = {k: v for k, v in first.items() if isinstance(v, int | float)}
                found.enqueue_trial(
                    {k: v for k, v in numbers.items() if space[k][1] <= v <= space[k][2]}
                )
            found.optimize(cost, n_trials=1)
            text = f"trials (least cost {found.best_value:.4g} per row)"
            bar.update(task, completed=number + 1, description=text)
    complete, pruned = (len(found.get_trials(states=[state])) for state in states)
    return dict(found.best_params), complete + pruned, pruned


def _open_study(path: Path, question: dict[str, Any]) -> Any:
    """The study of a file, new or to be continued."""
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    from costboost.cli.models import cut_half_line

    if path.exists() and not cut_half_line(path, '{"op_code"'):
        raise TableError(f"{path} is not a study file. Name another with --study.")
    storage = JournalStorage(JournalFileBackend(str(path), lock_obj=_lock(path)))
    found = optuna.create_study(
        study_name="costboost", storage=storage, load_if_exists=True, direction="minimize",
        pruner=optuna.pruners.MedianPruner(n_startup_trials=5),
    )  # fmt: skip
    now = json.loads(json.dumps(question, default=str))
    before = json.loads(found.user_attrs.get("asked", json.dumps(now)))
    changed = [key for key in now if now[key] != before.get(key)]
    if changed:
        raise TableError(
            f"{path} holds trials of another question: {', '.join(changed)} differ. Name "
            "another file with --study, or delete it."
        )
    found.set_user_attr("asked", json.dumps(now))
    return found


def _lock(path: Path) -> Any:
    """A lock that ends with its process, and leaves no file; None where there is none."""
    # Optuna's own lock is a file. After a kill it stays, and the next run waits half a minute.
    try:
        import fcntl
    except ImportError:
        return None

    class FileLock:
        handle = -1

        def acquire(self) -> bool:
            self.handle = os.open(path, os.O_RDWR | os.O_CREAT)
            fcntl.flock(self.handle, fcntl.LOCK_EX)
            return True

        def release(self) -> None:
            os.close(self.handle)

    return FileLock()


def _show(
    console: Console, best: dict[str, Any], known: dict[str, Any], rules: Any, unit: str, n: int
) -> None:
    table = grid("", ["parameter"], ["default", "best"])
    for name, value in best.items():
        table.add_row(name, str(known[name]), f"{value:.4g}")
    console.print(table)
    console.print()
    console.print(money_table(rules, n, unit))
    saving = next(rule for rule in rules if rule.key == "rival").saving
    if saving.low <= 0 <= saving.high:
        console.print("On these rows the best settings are not distinguishable from the defaults.")
    elif saving.high < 0:
        console.print("[yellow]On these rows the defaults cost less: keep them.[/yellow]")
    else:
        console.print("[green]The best settings cost less than the defaults.[/green]")
    given = " ".join(f"--set {name}={value:.4g}" for name, value in best.items())
    console.print(f"For `costboost fit`: {given}", highlight=False)
