"""The commands ``costboost compare`` and ``costboost demo``: which way to decide costs least."""

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
    contenders = _ours(problem, names, read_settings(setting), seed)
    others = {} if only_ours else {"xgboost": "XGBoost", "catboost": "CatBoost"}
    missing = [package for package in others if not find_spec(package)]
    if not only_ours:
        contenders |= _usual(len(problem), seed)
    for package in (name for name in others if name not in missing):
        engine = _engine(package, len(problem), seed)
        contenders[f"{others[package]}, calibrated"] = _calibrated(engine)
    pairs = folds(problem, n_folds, seed)
    check_output(plot, asked.table, asked.cost_matrix, force=force)
    show.note(talk, *problem.notes)
    with collected_warnings() as remarks:
        found = costboost.compare(
            contenders, (problem.X.drop(problem.columns.target), problem.y),
            costs=problem.settings["cost_matrix"], columns=problem.columns,
            sample_weight=problem.weights, groups=problem.groups, splits=pairs, random_state=seed,
            progress=not talk.quiet,
        )  # fmt: skip
    show.warn(talk, *remarks)
    standings, n = found.standings(), sum(len(test) for _, test in pairs)
    if as_json:
        show.print_json(
            {
                "rows": n,
                "folds": n_folds,
                "standings": [
                    one._asdict() | {"savings": None if np.isnan(one.savings) else one.savings}
                    for one in standings
                ],
                "left_out": found.failures,
                "not_installed": missing,
            }
        )
    _show(
        out, found, f"Total cost of {n:,} held-out rows, {n_folds}-fold cross-validation",
        f"{GROUPS} Intervals: 95 % for all lines at once, on the same rows.",
    )  # fmt: skip
    if missing:
        show.say(out, f"Not installed, so not compared: {', '.join(missing)}.")
    if plot is not None:
        picture: Any = found.plot("cost").figure
        picture.savefig(plot)
        show.wrote(talk, plot)


@command
def demo(
    seed: int = option(2026, "Seed of the data and of every method."),
    rows: int = option(20_000, "Rows of the synthetic fraud data.", min=500),
    report: Path = option(
        Path("costboost-demo.html"), "Page to write about the fraud data.", metavar="PAGE"
    ),
    force: bool = options.FORCE,
) -> None:
    """Compare costboost with the usual alternatives, in money, on built-in data."""
    import polars as pl
    from sklearn.model_selection import train_test_split

    from costboost.datasets import make_fraud

    console = Console()
    check_output(report, force=force)
    need("polars", "cli", "costboost demo")
    data, costs = make_fraud(rows, random_state=seed), {"fn": "amount", "fp": 5, "tp": 5}
    X, y = pl.DataFrame(data.X, schema=list(data.feature_names)), data.y
    train, test = train_test_split(np.arange(rows), test_size=0.5, stratify=y, random_state=seed)
    names = ["CostBoost", "MinCost", "CSAdaBoost", "CSLogitBoost", "AdaC2"]
    ours = {name: algorithm_class(name)() for name in names}
    found = costboost.compare(
        ours | _usual(rows, seed), (X, y), costs=costs, splits=[(train, test)], random_state=seed
    )
    title = f"Card fraud (synthetic): {rows:,} payments, {y.mean():.1%} fraud; test half"
    _show(console, found, title, LEGEND)
    if find_spec("plotly") is None:
        show.say(console, 'No page: it needs plotly (pip install "costboost[cli]").')
        return
    model = costboost.CostBoostClassifier(costs, effort="fast", random_state=seed)
    page = model.fit(X[train], y[train]).report(
        X[test], y[test], path=report, segments="amount",
        title="costboost demo: which payments to stop",
    )  # fmt: skip
    show.wrote(console, page, ": open it in a browser.")


# --- ways to decide ----------------------------------------------------------------------------


def _ours(
    problem: CostProblem, names: Sequence[str], settings: dict[str, Any], seed: int
) -> dict[str, Any]:
    """Classes of the library, each with the settings that it knows."""
    found = {}
    for name in names:
        kind = algorithm_class(name)
        own = {k: v for k, v in settings.items() if k in kind().get_params(deep=False)}
        model = make_model(name, problem, own, seed=seed)
        found[kind.__name__.removesuffix("Classifier")] = model
    return found


def _engine(name: str, n: int, seed: int) -> Any:
    """An ordinary boosted classifier of each library, at comparable sizes."""
    library: Any = import_module(name)
    own = {"n_estimators": ROUNDS, "learning_rate": 0.05, "random_state": seed}
    threads = 1 if n < FEW_ROWS else -1
    if name == "catboost":
        quiet = {"verbose": False, "allow_writing_files": False}
        return library.CatBoostClassifier(**own, depth=4, thread_count=threads, **quiet)
    own["n_jobs"] = threads
    if name == "xgboost":
        return library.XGBClassifier(**own, max_leaves=15, max_depth=0, grow_policy="lossguide")
    return library.LGBMClassifier(**own, num_leaves=15, verbose=-1)


def _calibrated(model: Any) -> Any:
    """Calibrated probabilities, by which `compare` takes the decision of least expected cost."""
    from sklearn.calibration import CalibratedClassifierCV

    return CalibratedClassifierCV(model, method="isotonic", cv=3)


def _constant(fold: Fold) -> AnyArray:
    """The decision that costs least if it is made for all training rows."""
    best = np.average(fold.costs.prices, axis=0, weights=fold.sample_weight).argmin()
    return np.repeat(fold.costs.decisions[best], len(fold.numbers_test))


def _likeliest(fold: Fold, model: Any) -> AnyArray:
    """The right decision of the most likely class, by the mean costs of the training rows."""
    model.fit(fold.numbers, fold.costs.codes, sample_weight=fold.sample_weight)
    return fold.right(fold.costs.classes[model.predict(fold.numbers_test)])


def _weighted(fold: Fold, model: Any) -> AnyArray:
    """The label of a row is its cheapest decision, weighted by what the others cost beyond it."""
    known = fold.costs
    weights = known.reduced.mean(axis=1)
    if fold.sample_weight is not None:
        weights = weights * fold.sample_weight
    model.fit(fold.numbers, known.labels, sample_weight=weights / weights.mean())
    return np.asarray(known.decisions[model.predict(fold.numbers_test)])


def _usual(n: int, seed: int) -> dict[str, Any]:
    """The usual ways to decide, for n rows."""
    model = _engine("lightgbm", n, seed)
    return {
        "best constant decision": _constant,
        "LightGBM, likeliest class": partial(_likeliest, model=model),
        "LightGBM, cost weights": partial(_weighted, model=model),
        "LightGBM, calibrated": _calibrated(model),
    }


def _show(console: Console, found: Comparison, title: str, caption: str) -> None:
    """The table of a comparison, and whether the first way to decide pays."""
    standings = found.standings()
    costs, rows = [one.cost for one in standings], []
    for place, one in enumerate(standings):
        gap = f"{money(one.more, '', one.low, one.high)} ({span(one.low, one.high, '', one.more)})"
        cells = (one.group, one.name, money(one.cost, "", *costs), gap if place else "")
        rows.append(("bold green" if one.group == 1 else None, cells))
    headings = [">group", "way to decide", ">cost", ">more than the cheapest"]
    show.print_table(console, title, headings, rows, caption=caption)
    first, verdict = next(iter(found.verdicts().items()))
    show.say(console, f"{first}: {verdict}")
    for name, why in found.failures.items():
        show.say(console, f"{name} ({why})", before="[yellow]Left out:[/yellow] ")


# --- the demo ----------------------------------------------------------------------------------

LEGEND = (
    f"{GROUPS} A missed fraud costs its amount, a flag costs a review (5). Half of the payments "
    "train, half test. The amount is known when a payment is decided. LightGBM decides for the "
    "likeliest class, or with rows weighted by what an error costs, or, calibrated (isotonic), for "
    "the least expected cost. MinCost is that rule with sigmoid calibration."
)
