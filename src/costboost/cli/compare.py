"""The commands ``costboost compare`` and ``costboost demo``: which way to decide costs least."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from costboost._typing import Floats, Ints
from costboost._words import money, span
from costboost.cli import options
from costboost.cli.failure import collected_warnings
from costboost.cli.models import (
    algorithm_class,
    algorithm_names,
    codes_of,
    cut_half_line,
    fingerprint,
    make_model,
    read_settings,
    typed_frame,
)
from costboost.cli.options import ProblemOptions, check_output, command, option
from costboost.cli.problem import CostProblem, LabelledRows, folds
from costboost.cli.show import escape, grid, note, print_json, progress, wrote
from costboost.columns import Columns, TableError, need
from costboost.metrics import Verdict

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
    missing: list[str] = []
    if not only_ours:
        contenders += [*USUAL, *(one for one in RIVALS if find_spec(one.package))]
        missing = [one.package for one in RIVALS if not find_spec(one.package)]
    pairs = list(folds(problem.rows, n_folds, seed))
    question = {
        **fingerprint(problem), "seed": seed, "folds": n_folds,
        "settings": repr((sorted(setting or ()), problem.excludes_cost_columns)),
    }  # fmt: skip
    kept = _Finished(checkpoint, question)
    found = _measured(console, problem, contenders, pairs, seed, kept)
    standings, n = rank(found.paid), sum(len(test) for _, test in pairs)
    if plot is not None:
        _draw(standings, plot)
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
    if as_json:
        kinds = {one.name: one.kind for one in contenders}
        print_json(
            {
                "rows": n,
                "folds": n_folds,
                "standings": [{**one._asdict(), "kind": kinds[one.name]} for one in standings],
                "left_out": found.left_out,
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
    contenders = [*_ours(problem, names, {"n_jobs": 1, **settings}, seed), *USUAL]
    with threadpool_limits(1):
        # Compiled kernels and imports are not what the table times.
        _measured(Console(quiet=True), warm_up, contenders, [np.arange(500).reshape(2, -1)], seed)
        found = _measured(console, problem, contenders, [pair], seed)
    title = f"Card fraud (synthetic): {n:,} payments, {problem.rows.y.mean():.1%} fraud; test half"
    console.print()
    _show(console, found, title, LEGEND, demo=True)
    if with_report:
        _write_demo_report(console, problem, pair, report, seed, 20 if quick else 100)


# --- ways to decide ----------------------------------------------------------------------------


class Fold(NamedTuple):
    """Training rows and test rows, with what decisions cost on them."""

    train: LabelledRows
    test: LabelledRows
    known: Any
    tested: Any
    seed: int
    columns: Columns

    def numbers(self) -> tuple[Floats, Floats]:
        """Features of training and test rows as float matrices; categories as codes."""
        return self.columns.encode(self.train.X), self.columns.encode(self.test.X)


class Contender(NamedTuple):
    """One way to decide: from a fold to the codes of the decisions on its test rows."""

    name: str
    kind: str
    decide: Callable[[Fold], Ints]
    package: str = "lightgbm"


def _ours(
    problem: CostProblem, names: Sequence[str], settings: dict[str, Any], seed: int
) -> list[Contender]:
    """Classes of the library, each with the settings that it knows."""

    def decide(fold: Fold, name: str, own: dict[str, Any]) -> Ints:
        model = problem.fit(make_model(name, problem, own, seed=seed), fold.train)
        return np.asarray(codes_of(fold.known.decisions, model.predict(fold.test.X)))

    found = []
    for name in names:
        kind = algorithm_class(name)
        own = {k: v for k, v in settings.items() if k in kind().get_params(deep=False)}
        short = kind.__name__.removesuffix("Classifier")
        found.append(Contender(short, "ours", partial(decide, name=name, own=own)))
    return found


def _constant(fold: Fold) -> Ints:
    weights = fold.train.weights
    prices = fold.known.prices
    best = (prices if weights is None else prices * weights[:, None]).sum(axis=0).argmin()
    return np.full(len(fold.test), best, dtype=np.intp)


def _engine(name: str, fold: Fold) -> Any:
    """An ordinary boosted classifier of each library, at comparable sizes."""
    threads = 1 if len(fold.train) < FEW_ROWS else -1
    if name == "catboost":
        return import_module("catboost").CatBoostClassifier(
            iterations=ROUNDS, depth=4, learning_rate=0.05, random_seed=fold.seed, verbose=False,
            allow_writing_files=False, thread_count=threads,
        )  # fmt: skip
    same: dict[str, Any] = {
        "n_estimators": ROUNDS, "learning_rate": 0.05, "random_state": fold.seed,
        "n_jobs": threads,
    }  # fmt: skip
    library: Any = import_module(name)
    if name == "xgboost":
        same |= {"max_leaves": 15, "max_depth": 0, "grow_policy": "lossguide"}
        return library.XGBClassifier(**same)
    return library.LGBMClassifier(num_leaves=15, verbose=-1, **same)


def _proba(model: Any, fold: Fold) -> Floats:
    """Probabilities of all classes on the test rows, by a model of the codes of the classes."""
    X, X_test = fold.numbers()
    model.fit(X, fold.known.codes, sample_weight=fold.train.weights)
    proba = np.zeros((len(X_test), len(fold.known.classes)))
    proba[:, np.asarray(model.classes_, dtype=np.intp)] = model.predict_proba(X_test)
    return proba


def _likeliest(fold: Fold) -> Ints:
    """The right decision of the most likely class, by the mean costs of the training rows."""
    proba = _proba(_engine("lightgbm", fold), fold)
    return np.asarray(fold.known.average(None).argmin(axis=1)[proba.argmax(axis=1)])


def _calibrated(fold: Fold, engine: str) -> Ints:
    """The decision of least expected cost, by calibrated probabilities."""
    from sklearn.calibration import CalibratedClassifierCV

    model = CalibratedClassifierCV(_engine(engine, fold), method="isotonic", cv=3)
    return np.asarray(fold.tested.unknown.decide(_proba(model, fold)), dtype=np.intp)


def _weighted(fold: Fold) -> Ints:
    """The label of a row is its cheapest decision, weighted by what the others cost beyond it."""
    X, X_test = fold.numbers()
    weights = fold.known.reduced.sum(axis=1) / (len(fold.known.decisions) - 1)
    if fold.train.weights is not None:
        weights = weights * fold.train.weights
    wanted, taken = np.unique(fold.known.labels, return_inverse=True)
    if len(wanted) == 1:
        return np.full(len(X_test), wanted[0], dtype=np.intp)
    model = _engine("lightgbm", fold)
    model.fit(X, taken, sample_weight=weights / weights.mean())
    return np.asarray(wanted[np.asarray(model.predict(X_test), dtype=np.intp)])


USUAL = (
    Contender("best constant decision", "usual", _constant),
    Contender("LightGBM, likeliest class", "usual", _likeliest),
    Contender("LightGBM, cost weights", "usual", _weighted),
    Contender("LightGBM, calibrated", "usual", partial(_calibrated, engine="lightgbm")),
)
RIVALS = tuple(
    Contender(f"{name}, calibrated", "rival", partial(_calibrated, engine=package), package)
    for name, package in (("XGBoost", "xgboost"), ("CatBoost", "catboost"))
)


# --- measuring ---------------------------------------------------------------------------------


class _Finished:
    """Decisions of finished folds in a file, so that a killed comparison goes on."""

    # A line of JSON for the question, then one for each fold; a line that a kill cut in half is
    # dropped. Without a path nothing is kept.

    def __init__(self, path: Path | None = None, question: Any = None) -> None:
        self.path = path
        self.folds: dict[str, list[int]] = {}
        if path is None:
            return
        lines: list[Any] = []
        if path.exists():
            try:
                if not cut_half_line(path, '{"costboost compare": '):
                    raise ValueError("another kind of file")
                lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
                self.folds = dict(lines[1:])
            except (ValueError, TypeError) as error:
                raise TableError(
                    f"{path} is not a checkpoint of costboost compare. Delete the file, or choose "
                    "another path."
                ) from error
        if not lines:
            self.put({"costboost compare": question})
            return
        before = lines[0]["costboost compare"]
        changed = [topic for topic in question if before.get(topic) != question[topic]]
        if changed:
            raise TableError(
                f"{path}: this checkpoint of costboost compare is of another fit: other "
                f"{', '.join(sorted(changed))}. Delete the file to start anew, or choose another "
                "path."
            )

    def put(self, values: Any) -> None:
        if self.path is None:
            return
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(values) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise OSError(
                error.errno,
                f"The checkpoint of costboost compare cannot be written: "
                f"{error.strerror or error}. What was finished before is still in it. Free the "
                "disk, or choose another path",
                str(self.path),
            ) from error


class Measured(NamedTuple):
    """By contender: what it paid on each held-out row, what it saved, and in how many seconds."""

    paid: dict[str, Floats]
    savings: dict[str, float]  # empty if the best constant decision costs nothing or earns
    seconds: dict[str, float]
    verdicts: dict[str, Verdict]
    left_out: dict[str, str]


def _measured(
    console: Console, problem: CostProblem, contenders: Sequence[Contender], pairs: Sequence[Any],
    seed: int, kept: _Finished | None = None,
) -> Measured:  # fmt: skip
    """Let each contender decide the test rows of each pair of training and test rows."""
    kept = kept or _Finished()
    rows, known = problem.rows, problem.costs("costboost compare")
    tested = np.concatenate([test for _, test in pairs])
    costs = known.take(tested)
    weights = np.ones(len(tested)) if rows.weights is None else rows.weights[tested]
    paid, savings, seconds, verdicts, left_out = found = Measured({}, {}, {}, {}, {})
    with progress(console) as bar, collected_warnings():
        task = bar.add_task("", total=len(contenders) * len(pairs))
        for contender in contenders:
            bar.update(task, description=contender.name)
            start, taken = time.perf_counter(), []
            try:
                for number, (train, test) in enumerate(pairs):
                    name = f"{contender.name}, fold {number}"
                    if name not in kept.folds:
                        fold = Fold(
                            rows.take(train), rows.take(test), known.take(train),
                            known.take(test), seed, problem.columns,
                        )  # fmt: skip
                        kept.folds[name] = np.asarray(contender.decide(fold)).tolist()
                        kept.put([name, kept.folds[name]])
                    taken.append(check_codes(kept.folds[name], len(test), len(known.decisions)))
                    bar.advance(task)
            except (ValueError, TypeError, ImportError, RuntimeError) as error:
                left_out[contender.name] = " ".join(str(error).split(". ")[0].split())[:200]
                bar.advance(task, len(pairs) - len(taken))
                continue
            seconds[contender.name] = time.perf_counter() - start
            codes = np.concatenate(taken)
            paid[contender.name] = np.asarray(costs.paid(codes) * weights)
            verdicts[contender.name] = Verdict.of(costs, codes, weights)
            with suppress(ValueError):  # savings are not always defined; costs are
                savings[contender.name] = float(costs.savings(codes, weights))
    if not paid:
        raise TableError(
            "No way to decide could be measured: "
            + "; ".join(f"{name}: {why}" for name, why in left_out.items())
        )
    return found


def check_codes(codes: Any, n: int, d: int) -> Ints:
    """Decisions of a contender, refused if they are not valid."""
    found = np.asarray(codes, dtype=np.intp)
    if found.shape != (n,) or found.min() < 0 or found.max() >= d:
        raise ValueError("It returned no decision for some rows.")
    return found


class Standing(NamedTuple):
    """One line of a comparison."""

    name: str
    cost: float
    more: float
    low: float
    high: float
    group: int


def rank(costs: Mapping[str, Floats]) -> list[Standing]:
    """Sort by cost, with paired intervals and groups that are not distinguishable."""
    # Rows are compared with themselves: the interval is that of the sum of the differences, by the
    # normal law, widened for the number of comparisons (Bonferroni). A group has the cheapest line
    # that is not in an earlier one, and all later lines whose difference from it may be 0.
    from scipy.stats import norm

    names, paid = list(costs), np.column_stack(list(costs.values()))
    n, m = paid.shape
    order = np.argsort(paid.sum(axis=0), kind="stable").tolist()
    z = float(norm.ppf(1 - 0.025 / max(1, m - 1)))

    def differences(first: int) -> tuple[Floats, Floats]:
        gaps = paid - paid[:, [first]]
        return gaps.sum(axis=0), z * np.sqrt(n) * gaps.std(axis=0, ddof=1)

    groups: dict[int, int] = {}
    for leader in order:
        if leader in groups:
            continue
        number = len(set(groups.values())) + 1
        gap, half = differences(leader)
        for other in order:
            if other not in groups and (other == leader or gap[other] - half[other] <= 0):
                groups[other] = number
    gap, half = differences(order[0])
    return [
        Standing(
            names[j], float(paid[:, j].sum()), float(gap[j]), float(gap[j] - half[j]),
            float(gap[j] + half[j]), groups[j],
        )
        for j in order
    ]  # fmt: skip


def _show(console: Console, found: Measured, title: str, caption: str, demo: bool = False) -> None:
    """The table of a comparison; that of the demo also says what is saved, and in what time."""
    table = grid(title, caption=caption)
    table.add_column("group", justify="right")
    table.add_column("way to decide", overflow="fold")
    more = ("savings", "seconds") if demo else ()
    for heading in ("cost", "more than the cheapest", *more):
        table.add_column(heading, justify="right")
    for place, one in enumerate(rank(found.paid)):
        gap = f"{money(one.more, '', one.low, one.high)} ({span(one.low, one.high, '', one.more)})"
        saved = found.savings.get(one.name)
        extra = ("" if saved is None else f"{saved:.1%}", f"{found.seconds[one.name]:.2f}")
        table.add_row(
            str(one.group), escape(one.name), money(one.cost), gap if place else "",
            *(extra if demo else ()),
            style="bold green" if one.group == 1 else None,
        )  # fmt: skip
    console.print(table)
    first = next(iter(found.verdicts))
    console.print(f"{escape(first)}: {escape(str(found.verdicts[first]))}", highlight=False)
    for name, why in found.left_out.items():
        console.print(f"[yellow]Left out:[/yellow] {escape(name)} ({escape(why)})", highlight=False)


def _draw(standings: list[Standing], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 0.6 + 0.4 * len(standings)), layout="constrained")
    axes: Any = figure.subplots()
    y = np.arange(len(standings))[::-1]
    colors = ["tab:green" if one.group == 1 else "tab:gray" for one in standings]
    half = [one.high - one.more for one in standings]
    axes.barh(y, [one.cost for one in standings], color=colors, xerr=half, ecolor="black")
    axes.set_yticks(y, [one.name for one in standings])
    axes.set_xlabel(
        "total cost on held-out rows; lines: 95 % interval of the difference from the cheapest",
        fontsize=8,
    )
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)


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
