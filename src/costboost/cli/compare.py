"""The command ``costboost compare``: which way to decide costs least."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

import costboost
from costboost._typing import AnyArray
from costboost._words import money, span
from costboost.cli import options, show
from costboost.cli.failure import collected_warnings
from costboost.cli.models import algorithm_class, algorithm_names, make_model, read_settings
from costboost.cli.options import ProblemOptions, check_output, command, option
from costboost.cli.problem import CostProblem, folds, read_problem
from costboost.columns import need

if TYPE_CHECKING:
    from costboost.comparison import Comparison, Fold

GROUPS = "Ways with the same group number are not distinguishable from its cheapest."
ROUNDS = 200
FEW_ROWS = 10_000
"""Below this many rows one thread is faster than several."""
OTHER_LIBRARIES = {"xgboost": "XGBoost", "catboost": "CatBoost"}


@command
def compare(
    asked: ProblemOptions,
    algorithm: list[str] | None = option(
        None,
        "Class of the library; may be repeated; 'all' for all of them. By default CostBoost "
        "and MinCost.",
        panel=options.MODEL,
    ),
    only_ours: bool = option(
        False, "Leave out the usual alternatives and other libraries.", panel=options.MODEL
    ),
    setting: list[str] | None = options.SETTINGS,
    seed: int = options.SEED,
    n_folds: int = option(
        5, "Folds of the cross-validation.", "--folds", min=2, panel=options.TEST
    ),
    plot: Path | None = options.PLOT,
    force: bool = options.FORCE,
    as_json: bool = options.AS_JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Compare ways to decide on a file, by cross-validation, in money."""
    # Ways that are not distinguishable from the best of their group share its number.
    if plot is not None:
        need("matplotlib", "cli", "--plot")
    out, talk = show.consoles(as_json, quiet)
    problem = read_problem(asked)
    names = algorithm or ["CostBoost", "MinCost"]
    if [name.lower() for name in names] == ["all"]:
        names = [name for name in algorithm_names() if name != "TargetRate"]
    methods = our_methods(problem, names, read_settings(setting), seed)
    missing = []
    if not only_ours:
        methods |= usual_methods(len(problem), seed)
        missing = [package for package in OTHER_LIBRARIES if not find_spec(package)]
        for package, name in OTHER_LIBRARIES.items():
            if package not in missing:
                methods[f"{name}, calibrated"] = calibrated(boosted(package, len(problem), seed))
    splits = folds(problem, n_folds, seed)
    check_output(plot, asked.table, asked.cost_matrix, force=force)

    show.note(talk, *problem.notes)
    with collected_warnings() as remarks:
        comparison = costboost.compare(
            methods,
            (problem.X.drop(problem.columns.target), problem.y),
            costs=problem.settings["cost_matrix"],
            columns=problem.columns,
            sample_weight=problem.weights,
            groups=problem.groups,
            splits=splits,
            random_state=seed,
            progress=not talk.quiet,
        )
    show.warn(talk, *remarks)
    n_rows = sum(len(test) for _, test in splits)
    if as_json:
        answer = {
            "rows": n_rows,
            "folds": n_folds,
            "standings": standings_json(comparison),
            "left_out": comparison.failures,
            "not_installed": missing,
        }
        show.print_json(answer)
    print_comparison(
        out,
        comparison,
        title=f"Total cost of {n_rows:,} held-out rows, {n_folds}-fold cross-validation",
        caption=f"{GROUPS} Intervals: 95 % for all lines at once, on the same rows.",
    )
    if missing:
        show.say(out, f"Not installed, so not compared: {', '.join(missing)}.")
    if plot is not None:
        picture: Any = comparison.plot("cost").figure
        picture.savefig(plot)
        show.wrote(talk, plot)


# --- ways to decide ----------------------------------------------------------------------------


def our_methods(
    problem: CostProblem, names: Sequence[str], settings: dict[str, Any], seed: int
) -> dict[str, Any]:
    """Return classes of the library, each with the settings that it knows."""
    methods = {}
    for name in names:
        model_class = algorithm_class(name)
        parameters = model_class().get_params(deep=False)
        its_settings = {key: value for key, value in settings.items() if key in parameters}
        short_name = model_class.__name__.removesuffix("Classifier")
        methods[short_name] = make_model(name, problem, its_settings, seed=seed)
    return methods


def usual_methods(n_rows: int, seed: int) -> dict[str, Any]:
    """Return the usual ways to decide."""
    model = boosted("lightgbm", n_rows, seed)
    return {
        "best constant decision": constant_decision,
        "LightGBM, likeliest class": partial(likeliest_class, model=model),
        "LightGBM, cost weights": partial(weighted_rows, model=model),
        "LightGBM, calibrated": calibrated(model),
    }


def boosted(package: str, n_rows: int, seed: int) -> Any:
    """Return an ordinary boosted classifier of a library, of comparable size."""
    library: Any = import_module(package)
    settings = {"n_estimators": ROUNDS, "learning_rate": 0.05, "random_state": seed}
    n_threads = 1 if n_rows < FEW_ROWS else -1
    if package == "catboost":
        return library.CatBoostClassifier(
            depth=4,
            thread_count=n_threads,
            verbose=False,
            allow_writing_files=False,
            **settings,
        )
    if package == "xgboost":
        return library.XGBClassifier(
            max_leaves=15, max_depth=0, grow_policy="lossguide", n_jobs=n_threads, **settings
        )
    return library.LGBMClassifier(num_leaves=15, verbose=-1, n_jobs=n_threads, **settings)


def calibrated(model: Any) -> Any:
    """Return calibrated probabilities, by which `compare` decides at the least expected cost."""
    from sklearn.calibration import CalibratedClassifierCV

    return CalibratedClassifierCV(model, method="isotonic", cv=3)


def constant_decision(fold: Fold) -> AnyArray:
    """Decide all rows by the decision that costs least on all training rows."""
    best = np.average(fold.costs.prices, axis=0, weights=fold.sample_weight).argmin()
    return np.repeat(fold.costs.decisions[best], len(fold.numbers_test))


def likeliest_class(fold: Fold, model: Any) -> AnyArray:
    """Take the right decision of the most likely class, by mean costs of the training rows."""
    model.fit(fold.numbers, fold.costs.y_index, sample_weight=fold.sample_weight)
    return fold.right(fold.costs.classes[model.predict(fold.numbers_test)])


def weighted_rows(fold: Fold, model: Any) -> AnyArray:
    """Learn the cheapest decision of each row, weighted by what the others cost beyond it."""
    costs = fold.costs
    weights = costs.regret.mean(axis=1)
    if fold.sample_weight is not None:
        weights = weights * fold.sample_weight
    model.fit(fold.numbers, costs.best_decision, sample_weight=weights / weights.mean())
    return np.asarray(costs.decisions[model.predict(fold.numbers_test)])


# --- what is shown -----------------------------------------------------------------------------


def standings_json(comparison: Comparison) -> list[dict[str, Any]]:
    """Return a row per method, for scripts."""
    rows = []
    for standing in comparison.standings():
        row = standing._asdict()
        if np.isnan(standing.savings):
            row["savings"] = None
        rows.append(row)
    return rows


def print_comparison(console: Console, comparison: Comparison, title: str, caption: str) -> None:
    """Print the table of a comparison, and whether the first way to decide pays."""
    standings = comparison.standings()
    costs = [standing.cost for standing in standings]
    rows = []
    for place, standing in enumerate(standings):
        gap = ""
        if place:
            more = money(standing.more, "", standing.low, standing.high)
            gap = f"{more} ({span(standing.low, standing.high, '', standing.more)})"
        style = "bold green" if standing.group == 1 else None
        cost = money(standing.cost, "", *costs)
        rows.append((style, (standing.group, standing.name, cost, gap)))
    headings = [">group", "way to decide", ">cost", ">more than the cheapest"]
    show.print_table(console, title, headings, rows, caption=caption)
    name, verdict = next(iter(comparison.verdicts().items()))
    show.say(console, f"{name}: {verdict}")
    for name, reason in comparison.failures.items():
        show.say(console, f"{name} ({reason})", before="[yellow]Left out:[/yellow] ")
