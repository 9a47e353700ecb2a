"""The command ``costboost tune``: settings that cost least, with an honest estimate."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from costboost.cli import arguments
from costboost.cli.failure import collected_warnings, tells_errors

if TYPE_CHECKING:
    from costboost.cli.problem import Problem, Rows

__all__ = ["SPACE", "tune"]

SPACE: dict[str, tuple[str, float, float, bool]] = {
    # name: type, lowest, highest, whether steps are ratios
    "learning_rate": ("float", 0.01, 0.3, True),
    "max_leaves": ("int", 4, 63, True),
    "min_samples_leaf": ("int", 5, 200, True),
    "reg_lambda": ("float", 0.1, 100.0, True),
    "subsample": ("float", 0.5, 1.0, False),
    "colsample": ("float", 0.3, 1.0, False),
    "n_estimators": ("int", 25, 400, True),
}
"""Parameters that are searched, if the algorithm has them."""


@tells_errors
def tune(
    table: arguments.Table,
    target: arguments.Target,
    positive: arguments.Positive = None,
    cost: arguments.CostEntries = None,
    cost_matrix: arguments.CostMatrix = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="MODEL",
            help="Model file to write, with the best settings.",
            show_default=False,
        ),
    ] = None,
    study: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File that keeps the trials; the same command continues from it. TARGET.study if "
            "left out.",
            show_default=False,
        ),
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="Trials in all, earlier ones included.")] = 30,
    folds: Annotated[int, typer.Option(min=2, help="Folds that a trial is measured on.")] = 3,
    exclude: arguments.Exclude = None,
    category: arguments.Categories = None,
    weight_column: arguments.WeightColumn = None,
    delimiter: arguments.Delimiter = None,
    encoding: arguments.Encoding = None,
    algorithm: arguments.Algorithm = "CostBoost",
    setting: arguments.Settings = None,
    seed: arguments.Seed = 0,
    test_size: arguments.TestSize = 0.2,
    time_column: arguments.TimeColumn = None,
    group_column: arguments.GroupColumn = None,
    as_json: arguments.AsJson = False,
    quiet: arguments.Quiet = False,
) -> None:
    """Search for the settings that cost least; measure them on rows the search has not seen."""
    from costboost.cli.algorithm import make_model, read_settings
    from costboost.cli.models import save_model
    from costboost.cli.problem import Wish, read_problem
    from costboost.cli.resume import hash_of, versions_in_words
    from costboost.cli.show import note, print_json, warn
    from costboost.cli.split import split
    from costboost.columns import TableError, check_output, need

    need("optuna", "tune", "costboost tune")
    console = Console(stderr=as_json, quiet=as_json or quiet)
    if output is not None:
        check_output(output, kinds=False)
    path = study or Path(f"{target}.study")
    check_output(path, kinds=False)
    if not test_size:
        raise TableError("--test-size must be above 0: the best settings are measured on it.")
    wish = Wish(
        table, target, positive, tuple(cost or ()), cost_matrix, tuple(exclude or ()),
        tuple(category or ()), weight_column, time_column, group_column, delimiter, encoding,
    )  # fmt: skip
    problem = read_problem(wish)
    for text in problem.notes:
        note(console, text)
    fixed = read_settings(setting or ())
    train, test, words = split(problem.rows, test_size, seed)
    training, held_out = problem.rows.take(train), problem.rows.take(test)

    def build(chosen: dict[str, Any]) -> Any:
        return make_model(
            algorithm, problem.cost_matrix, {**fixed, **chosen}, seed=seed,
            exclude_cost_columns=problem.excludes_cost_columns,
        )  # fmt: skip

    asked = {
        "table": hash_of(problem.rows), "versions": versions_in_words(),
        "algorithm": algorithm, "settings": fixed, "seed": seed,
        "folds": folds, "test_size": test_size, "costs": repr(problem.cost_matrix),
    }  # fmt: skip
    search = _Search(problem, training, build, folds, seed, asked)
    with collected_warnings() as remarks:
        best, n_done, n_pruned = search.run(console, path, trials)
        plain, tuned = build({}), build(best)
        for model in (plain, tuned):
            model.fit(training.X, training.y, training.weights)
    for text in remarks:
        warn(console, text)
    rules, unit = _rules(tuned, plain, held_out, problem)
    if output is not None:
        save_model(tuned, problem.recipe, output)
    if as_json:
        from costboost.cli.evaluation import rules_as_json

        print_json(
            {
                "study": str(path),
                "trials": n_done,
                "pruned": n_pruned,
                "best": best,
                "held_out": {
                    "rows": len(held_out),
                    "how": words,
                    "ways_to_decide": rules_as_json(rules),
                },
                "model": None if output is None else str(output),
            }
        )
        return
    console = Console()
    _show(console, best, plain, rules, unit, len(held_out), n_done, n_pruned)
    where = f"[bold]{escape(str(path))}[/bold]"
    console.print(f"\nThe trials are in {where}. For more of them, raise --trials.")
    if output is not None:
        console.print(f"Wrote [bold]{escape(str(output))}[/bold].")


class _Search:
    """Trials of settings, each measured by its cost on folds of the training rows."""

    def __init__(
        self, problem: Problem, rows: Rows, build: Any, n_folds: int, seed: int, asked: Any
    ) -> None:
        from costboost.cli.split import folds
        from costboost.costs import Costs

        self.rows = rows
        self.build = build
        self.seed = seed
        self.asked = json.dumps(asked, sort_keys=True, default=str)
        self.pairs = list(folds(rows, n_folds, seed))
        classes, codes = np.unique(rows.y, return_inverse=True)
        self.known = Costs.resolve(
            problem.cost_matrix, classes=classes, n_samples=len(rows), X=rows.X, codes=codes,
            owner="costboost tune",
        )  # fmt: skip
        self.places = {label: code for code, label in enumerate(self.known.decisions.tolist())}

    def space(self) -> dict[str, tuple[str, float, float, bool]]:
        """What is searched: parameters that the algorithm has and that are not fixed."""
        settings = json.loads(self.asked)["settings"]
        known = self.build({}).get_params(deep=False)
        stops = bool(known.get("early_stopping", False))
        return {
            name: row
            for name, row in SPACE.items()
            if name in known and name not in settings and not (name == "n_estimators" and stops)
        }

    def run(self, console: Console, path: Path, trials: int) -> tuple[dict[str, Any], int, int]:
        """Do the trials that are missing; returns the best settings and what was done."""
        import optuna
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        from costboost.columns import TableError

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        space = self.space()
        if not space:
            raise TableError("There is nothing to search: every parameter is fixed by --set.")
        found = self._study(path)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            done = len(_finished(found))
            task = bar.add_task("trials", total=max(trials, done), completed=done)

            def after(study: Any, _: Any) -> None:
                text = f"trials (least cost {study.best_value:.4g} per row)"
                bar.update(task, completed=len(_finished(study)), description=text)

            for number in range(done, trials):
                # Each trial has its own seed, so that a search that was killed goes on as if it
                # had not been.
                found.sampler = optuna.samplers.TPESampler(seed=self.seed + number)
                if number == 0 and not found.get_trials(states=[optuna.trial.TrialState.WAITING]):
                    found.enqueue_trial(self._defaults(space))
                found.optimize(lambda trial: self.cost(trial, space), n_trials=1, callbacks=[after])
        states = [trial.state.name for trial in _finished(found)]
        return dict(found.best_params), len(states), states.count("PRUNED")

    def _study(self, path: Path) -> Any:
        """The study of a file, new or to be continued."""
        import optuna
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend

        from costboost.columns import TableError

        if path.exists():
            content = path.read_bytes()
            if content[:1] not in (b"{", b""):
                raise TableError(f"{path} is not a study file. Name another with --study.")
            whole = content.rfind(b"\n") + 1
            if whole < len(content):  # a killed run, or a full disk, has left half a line
                os.truncate(path, whole)
        storage = JournalStorage(JournalFileBackend(str(path), lock_obj=_lock(path)))
        found = optuna.create_study(
            study_name="costboost",
            storage=storage,
            load_if_exists=True,
            direction="minimize",
            pruner=optuna.pruners.MedianPruner(n_startup_trials=5),
        )
        asked = found.user_attrs.get("asked")
        if asked is not None and asked != self.asked:
            before, now = json.loads(asked), json.loads(self.asked)
            changed = [key for key in now if now[key] != before.get(key)]
            raise TableError(
                f"{path} holds trials of another question: {', '.join(changed)} differ. Name "
                "another file with --study, or delete it."
            )
        found.set_user_attr("asked", self.asked)
        return found

    def _defaults(self, space: dict[str, Any]) -> dict[str, Any]:
        """The defaults, as far as they lie in the space: the first trial."""
        known = self.build({}).get_params(deep=False)
        return {
            name: known[name]
            for name, (_, low, high, _) in space.items()
            if isinstance(known[name], int | float) and low <= known[name] <= high
        }

    def cost(self, trial: Any, space: dict[str, tuple[str, float, float, bool]]) -> float:
        """Mean cost of a held-out row; hopeless trials stop after a fold."""
        import optuna

        chosen: dict[str, Any] = {}
        for name, (kind, low, high, ratio) in space.items():
            if kind == "int":
                chosen[name] = trial.suggest_int(name, int(low), int(high), log=ratio)
            else:
                chosen[name] = trial.suggest_float(name, low, high, log=ratio)
        total = weight = 0.0
        for step, (train, test) in enumerate(self.pairs):
            part = self.rows.take(train)
            model = self.build(chosen).fit(part.X, part.y, part.weights)
            taken = model.predict(self.rows.X.iloc[test])
            codes = np.array([self.places[label] for label in taken.tolist()], dtype=np.intp)
            weights = np.ones(len(test)) if self.rows.weights is None else self.rows.weights[test]
            total += float((self.known.take(test).paid(codes) * weights).sum())
            weight += float(weights.sum())
            trial.report(total / weight, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return total / weight


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


def _finished(study: Any) -> list[Any]:
    """Trials that have a result; one that was interrupted is done again."""
    return [trial for trial in study.trials if trial.state.name in ("COMPLETE", "PRUNED")]


def _rules(tuned: Any, plain: Any, rows: Rows, problem: Problem) -> tuple[list[Any], str]:
    from costboost.cli.evaluation import evaluation_case, money_rules

    case = evaluation_case(
        tuned, rows, problem.recipe.positive, rivals={"Default settings": plain.predict(rows.X)}
    )
    return money_rules(tuned, case)


def _show(
    console: Console, best: dict[str, Any], plain: Any, rules: list[Any], unit: str, n: int,
    done: int, pruned: int,
) -> None:  # fmt: skip
    from costboost.cli.show import money_table

    console.print(f"[bold]Best settings[/bold] of {done} trials ({pruned} stopped early)")
    table = Table(show_edge=False, pad_edge=False)
    table.add_column("parameter")
    table.add_column("default", justify="right")
    table.add_column("best", justify="right")
    known = plain.get_params(deep=False)
    for name, value in best.items():
        table.add_row(name, str(known[name]), f"{value:.4g}")
    console.print(table)
    console.print()
    console.print(money_table(rules, n, unit))
    default = next(rule for rule in rules if rule.key == "rival")
    low, high = default.saving.low, default.saving.high
    if low <= 0 <= high:
        console.print("On these rows the best settings are not distinguishable from the defaults.")
    elif high < 0:
        console.print("[yellow]On these rows the defaults cost less: keep them.[/yellow]")
    else:
        console.print("[green]The best settings cost less than the defaults.[/green]")
    given = " ".join(f"--set {name}={value:.4g}" for name, value in best.items())
    console.print(f"For `costboost fit`: {given}", highlight=False)
