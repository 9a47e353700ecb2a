"""The commands ``costboost compare`` and ``costboost demo``: which way to decide costs least."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

from costboost._typing import AnyArray
from costboost._words import money, span
from costboost.cli import options
from costboost.cli.models import (
    algorithm_class,
    algorithm_names,
    make_model,
    read_settings,
    typed_frame,
)
from costboost.cli.options import ProblemOptions, check_output, command, option
from costboost.cli.problem import CostProblem, LabelledRows, folds
from costboost.cli.show import escape, grid, note, print_json, wrote
from costboost.columns import Columns, need

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
        False,
        "Leave out the usual alternatives and other libraries.",
        "--only-ours",
        panel=options.MODEL,
    ),
    setting: list[str] | None = options.SETTINGS,
    seed: int = options.SEED,
    n_folds: int = option(
        5, "Folds of the cross-validation.", "--folds", min=2, panel=options.TEST
    ),
    checkpoint: Path | None = option(
        None,
        "Keeps what is finished; if the command is killed, the same command goes on where "
        "it stopped. The file is deleted at the end.",
        metavar="FILE",
    ),
    plot: Path | None = options.PLOT,
    force: bool = options.FORCE,
    as_json: bool = options.AS_JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Compare ways to decide on a file, by cross-validation, in money."""
    # Ways that are not distinguishable from the best of their group share its number.
    if plot is not None:
        need("matplotlib", "plots", "--plot")
    check_output(plot, asked.table, asked.cost_matrix, force=force)
    check_output(checkpoint, asked.table, asked.cost_matrix, force=True)
    console = Console(stderr=as_json, quiet=as_json or quiet)
    problem = asked.read()
    note(console, *problem.notes)
    names = algorithm or ["CostBoost", "MinCost"]
    if [name.lower() for name in names] == ["all"]:
        names = [name for name in algorithm_names() if name != "TargetRate"]
    contenders = _ours(problem, names, read_settings(setting), seed)
    kinds = dict.fromkeys(contenders, "ours")
    missing: list[str] = []
    if not only_ours:
        missing = [package for package in RIVALS if not find_spec(package)]
        usual = _usual(len(problem.rows), seed)
        rivals = {f"{name}, calibrated": _calibrated(package, len(problem.rows), seed)
                  for package, name in RIVALS.items() if package not in missing}  # fmt: skip
        contenders |= usual | rivals
        kinds |= dict.fromkeys(usual, "usual") | dict.fromkeys(rivals, "rival")
    pairs = list(folds(problem.rows, n_folds, seed))
    found = _compared(problem, contenders, pairs, seed, checkpoint, not console.quiet)
    standings, n = found.standings(), sum(len(test) for _, test in pairs)
    if plot is not None:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8, 0.6 + 0.4 * len(standings)), layout="constrained")
        found.plot("cost", figure.subplots())
        figure.savefig(plot)
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
    if as_json:
        print_json(
            {
                "rows": n,
                "folds": n_folds,
                "standings": [
                    {
                        **one._asdict(),
                        "savings": None if np.isnan(one.savings) else one.savings,
                        "kind": kinds[one.name],
                    }
                    for one in standings
                ],
                "left_out": found.failures,
                "not_installed": missing,
            }
        )
        return
    out = Console()
    _show(
        out, found, f"Total cost of {n:,} held-out rows, {n_folds}-fold cross-validation",
        f"{GROUPS} Intervals: 95 % for all lines at once, row by row on the same rows.",
    )  # fmt: skip
    if missing:
        out.print(f"Not installed, so not compared: {', '.join(missing)}.", highlight=False)
    if plot is not None:
        wrote(console, plot)


@command
def demo(
    seed: int = option(2026, "Seed of the data and of every method."),
    rows: int = option(20_000, "Rows of the synthetic fraud data.", min=500),
    quick: bool = option(False, "Fewer rows and rounds.", "--quick"),
    report: Path = option(
        Path("costboost-demo.html"), "Page to write about the fraud data.", metavar="PAGE"
    ),
    with_report: bool = option(True, "The page.", "--with-report/--no-report"),
    force: bool = options.FORCE,
) -> None:
    """Compare costboost with the usual alternatives, in money, on built-in data."""
    from sklearn.model_selection import train_test_split
    from threadpoolctl import threadpool_limits

    console = Console()
    if with_report:
        check_output(report, force=force)
    n = min(rows, 2_000) if quick else rows
    problem, warm_up = _fraud(n, seed), _fraud(500, seed)
    pair = train_test_split(np.arange(n), test_size=0.5, stratify=problem.rows.y, random_state=seed)
    settings = {"n_estimators": 20} if quick else {}
    names = ["CostBoost", "MinCost", "CSAdaBoost", "CSLogitBoost", "AdaC2"]
    contenders = _ours(problem, names, {"n_jobs": 1, **settings}, seed)
    contenders |= _usual(n, seed)
    with threadpool_limits(1):
        # Compiled kernels and imports are not what the table times.
        _compared(warm_up, contenders, [np.arange(500).reshape(2, -1)], seed)
        found = _compared(problem, contenders, [pair], seed, progress=True)
    title = f"Card fraud (synthetic): {n:,} payments, {problem.rows.y.mean():.1%} fraud; test half"
    console.print()
    _show(console, found, title, LEGEND, demo=True)
    if with_report:
        _write_demo_report(console, problem, pair, report, seed, 20 if quick else 100)


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
    threads = 1 if n < FEW_ROWS else -1
    if name == "catboost":
        return import_module("catboost").CatBoostClassifier(
            iterations=ROUNDS, depth=4, learning_rate=0.05, random_seed=seed, verbose=False,
            allow_writing_files=False, thread_count=threads,
        )  # fmt: skip
    same: dict[str, Any] = {
        "n_estimators": ROUNDS, "learning_rate": 0.05, "random_state": seed, "n_jobs": threads,
    }  # fmt: skip
    library: Any = import_module(name)
    if name == "xgboost":
        same |= {"max_leaves": 15, "max_depth": 0, "grow_policy": "lossguide"}
        return library.XGBClassifier(**same)
    return library.LGBMClassifier(num_leaves=15, verbose=-1, **same)


def _calibrated(engine: str, n: int, seed: int) -> Any:
    """Calibrated probabilities, by which `compare` takes the decision of least expected cost."""
    from sklearn.calibration import CalibratedClassifierCV

    return CalibratedClassifierCV(_engine(engine, n, seed), method="isotonic", cv=3)


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
    if len(np.unique(known.labels)) == 1:
        return np.repeat(known.decisions[known.labels[0]], len(fold.numbers_test))
    model.fit(fold.numbers, known.labels, sample_weight=weights / weights.mean())
    return np.asarray(known.decisions[model.predict(fold.numbers_test)])


def _usual(n: int, seed: int) -> dict[str, Any]:
    """The usual ways to decide, for n rows."""
    return {
        "best constant decision": _constant,
        "LightGBM, likeliest class": partial(_likeliest, model=_engine("lightgbm", n, seed)),
        "LightGBM, cost weights": partial(_weighted, model=_engine("lightgbm", n, seed)),
        "LightGBM, calibrated": _calibrated("lightgbm", n, seed),
    }


RIVALS = {"xgboost": "XGBoost", "catboost": "CatBoost"}


def _compared(
    problem: CostProblem, contenders: Mapping[str, Any], pairs: Any, seed: int,
    results: Path | None = None, progress: bool = False,
) -> Comparison:  # fmt: skip
    """`costboost.compare` on the rows of a file."""
    from costboost import compare

    rows = problem.rows
    return compare(
        contenders, (rows.X.drop(problem.target, strict=False), rows.y),
        costs=problem.cost_matrix, columns=problem.columns, sample_weight=rows.weights,
        splits=pairs, random_state=seed, results=results, progress=progress,
    )  # fmt: skip


def _show(
    console: Console, found: Comparison, title: str, caption: str, demo: bool = False
) -> None:
    """The table of a comparison; that of the demo also says what is saved, and in what time."""
    more = ("savings", "seconds") if demo else ()
    table = grid(title, caption=caption)
    table.add_column("group", justify="right")
    table.add_column("way to decide", overflow="fold")
    for heading in ("cost", "more than the cheapest", *more):
        table.add_column(heading, justify="right")
    for place, one in enumerate(found.standings()):
        gap = f"{money(one.more, '', one.low, one.high)} ({span(one.low, one.high, '', one.more)})"
        own = [row for row in found.rows if row["method"] == one.name]
        seconds = sum(row["fit_seconds"] + row.get("predict_seconds", 0.0) for row in own)
        extra = ("" if np.isnan(one.savings) else f"{one.savings:.1%}", f"{seconds:.2f}")
        table.add_row(
            str(one.group), escape(one.name), money(one.cost), gap if place else "",
            *(extra if demo else ()),
            style="bold green" if one.group == 1 else None,
        )  # fmt: skip
    console.print(table)
    first, verdict = next(iter(found.verdicts().items()))
    console.print(f"{escape(first)}: {escape(str(verdict))}", highlight=False)
    for name, why in found.failures.items():
        console.print(f"[yellow]Left out:[/yellow] {escape(name)} ({escape(why)})", highlight=False)


# --- the demo ----------------------------------------------------------------------------------

LEGEND = (
    f"{GROUPS} A missed fraud costs its amount, a flag costs a review (5). Half of the payments "
    "train, half test. The amount is known when a payment is decided. Savings: 1 - cost / cost of "
    "the best single decision for all rows. Seconds: training and deciding, one thread. "
    "LightGBM decides for the likeliest class, or with rows weighted by what an error costs, or, "
    "calibrated (isotonic), for the least expected cost. MinCost is that rule with sigmoid "
    "calibration."
)


def _fraud(n: int, seed: int) -> CostProblem:
    """Synthetic payments."""
    import polars as pl

    from costboost.datasets import make_fraud

    need("polars", "cli", "costboost demo")
    data = make_fraud(n, random_state=seed)
    X = pl.DataFrame(data.X, schema=list(data.feature_names))
    costs = {"fn": "amount", "fp": 5, "tp": 5}
    columns = Columns.learn(X, target="fraud", keep=["amount"])
    return CostProblem(LabelledRows(X, data.y), costs, columns, "fraud", {})


def _write_demo_report(
    console: Console, problem: CostProblem, pair: Any, path: Path, seed: int, rounds: int
) -> None:
    """Train CostBoost on the training rows, and write the report of the test rows."""
    if find_spec("plotly") is None:
        console.print(escape('No page: it needs plotly (pip install "costboost[report]").'))
        return
    from costboost import CostBoostClassifier

    train, test = (problem.rows.take(index) for index in pair)
    model = CostBoostClassifier(
        problem.cost_matrix, n_estimators=rounds, ensemble=2, random_state=seed, n_jobs=1
    )
    problem.fit(model, train)
    page = model.report(
        typed_frame(model, test.X), test.y, path=path, amount="amount",
        title="costboost demo: which payments to stop",
    )  # fmt: skip
    wrote(console, page, ": open it in a browser.")
