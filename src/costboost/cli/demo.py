"""The command ``costboost demo``: costboost against the usual alternatives, in money."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from costboost._typing import Floats, Ints
from costboost.cli.failure import tells_errors
from costboost.columns import check_output

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

__all__ = ["demo"]


@tells_errors
def demo(
    seed: Annotated[int, typer.Option(help="Seed of the data and of every method.")] = 2026,
    rows: Annotated[int, typer.Option(min=500, help="Rows of the synthetic fraud data.")] = 20_000,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer rows and rounds.")] = False,
    report: Annotated[
        Path, typer.Option(metavar="PAGE", help="Page to write about the fraud data.")
    ] = Path("costboost-demo.html"),
    with_report: Annotated[
        bool, typer.Option("--with-report/--no-report", help="The page.")
    ] = True,
) -> None:
    """Compare costboost with the usual alternatives, in money, on built-in data."""
    console = Console()
    if with_report:
        check_output(report, kinds=False)
    rounds = 20 if quick else 100
    problems = [
        _fraud(min(rows, 2_000) if quick else rows, seed),
        _cancer(seed, folds=2 if quick else 5),
    ]
    methods = _methods(rounds, seed)
    warm_up = _fraud(500, seed)  # compiled kernels and imports are not what the table times
    outcomes: list[list[Outcome]] = []
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(problems) * len(methods))
        for problem in problems:
            outcomes.append([])
            for method in methods:
                progress.update(task, description=method.name)
                if problem is problems[0]:
                    _run(method, warm_up)
                outcomes[-1].append(_run(method, problem))
                progress.advance(task)
    for problem, results in zip(problems, outcomes, strict=True):
        _report(console, problem, results)
    console.print()
    console.print(LEGEND)
    if with_report:
        from costboost.cli.demo_report import write_demo_report

        write_demo_report(console, problems[0], report, seed, rounds)


# --- the problems -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """Data, what decisions cost on it, and the splits to measure on."""

    title: str
    note: str
    X: Floats
    y: Ints  # 1 = positive
    costs: Floats  # (n, 2, 2), truth x decision
    cost_matrix: dict[str, float] | None  # None: the costs differ from row to row
    folds: list[tuple[Ints, Ints]]  # (training rows, test rows)

    @property
    def per_row(self) -> bool:
        """Whether the costs differ from row to row."""
        return self.cost_matrix is None


def _fraud(rows: int, seed: int) -> Problem:
    from sklearn.model_selection import train_test_split

    from costboost.datasets import make_fraud

    data = make_fraud(rows, random_state=seed)
    train, test = train_test_split(
        np.arange(rows), test_size=0.5, stratify=data.y, random_state=seed
    )
    return Problem(
        title=f"Card fraud (synthetic): {rows} payments, {data.y.mean():.1%} fraud",
        note=(
            "A missed fraud costs its amount, a flag costs a review (5). Half of the payments "
            "train, half test. The amount is known when a payment is decided: methods marked yes "
            "under 'row costs' decide each payment by its own costs."
        ),
        X=data.X,
        y=data.y,
        costs=data.costs,
        cost_matrix=None,
        folds=[(train, test)],
    )


def _cancer(seed: int, folds: int) -> Problem:
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import StratifiedKFold

    from costboost.costs import per_row

    X, benign = load_breast_cancer(return_X_y=True)
    y = 1 - benign  # malignant is the class to find
    cost_matrix = {"fn": 10.0, "fp": 1.0}
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    return Problem(
        title=f"Breast cancer (Wisconsin): {len(y)} tumours, {y.mean():.1%} malignant",
        note=f"A missed malignant tumour costs 10, a false alarm 1. {folds}-fold cross-validation.",
        X=X,
        y=y,
        costs=per_row(**cost_matrix, n=len(y)),
        cost_matrix=cost_matrix,
        folds=list(splitter.split(X, y)),
    )


# --- the methods ------------------------------------------------------------------------------

Decide = Callable[[Problem, Ints, Ints], Ints]


@dataclass(frozen=True)
class Method:
    """A name, a rule from (problem, training rows, test rows) to decisions, and what it knows."""

    name: str
    decide: Decide
    ours: bool
    uses_row_costs: bool  # at decision time; in training all but the plain model know the costs


def _methods(rounds: int, seed: int) -> list[Method]:
    import costboost as cb

    def lightgbm() -> BaseEstimator:
        from lightgbm import LGBMClassifier

        return LGBMClassifier(
            n_estimators=rounds, num_leaves=8, verbose=-1, n_jobs=1, random_state=seed
        )

    def boosted(
        kind: Callable[..., Any], remark: str = "", row_costs: bool = True, **settings: Any
    ) -> Method:
        def decide(problem: Problem, train: Ints, test: Ints) -> Ints:
            classifier = kind(
                cost_matrix=problem.cost_matrix,
                n_estimators=rounds,
                random_state=seed,
                n_jobs=1,
                **settings,
            )
            return _fit_predict(classifier, problem, train, test, row_costs)

        name = kind.__name__.removesuffix("Classifier") + remark
        return Method(name, decide, True, row_costs)

    def min_cost(problem: Problem, train: Ints, test: Ints) -> Ints:
        classifier = cb.MinCostClassifier(
            lightgbm(), cost_matrix=problem.cost_matrix, calibration="sigmoid"
        )
        return _fit_predict(classifier, problem, train, test, row_costs=True)

    def flagship(problem: Problem, train: Ints, test: Ints) -> Ints:
        classifier = cb.CostBoostClassifier(
            problem.cost_matrix, decision="bayes", random_state=seed, n_jobs=1
        )
        return _fit_predict(classifier, problem, train, test, row_costs=True)

    def plain(problem: Problem, train: Ints, test: Ints) -> Ints:
        model: Any = lightgbm()
        return np.asarray(model.fit(problem.X[train], problem.y[train]).predict(problem.X[test]))

    def weighted(problem: Problem, train: Ints, test: Ints) -> Ints:
        # Every row weighs what an error on it costs; its label is its cheapest decision.
        prices = problem.costs[train, problem.y[train]]
        label = prices.argmin(axis=1)
        weight = np.abs(prices[:, 0] - prices[:, 1])
        model: Any = lightgbm()
        model.fit(problem.X[train], label, sample_weight=weight / weight.mean())
        return np.asarray(model.predict(problem.X[test]))

    def calibrated(problem: Problem, train: Ints, test: Ints) -> Ints:
        from sklearn.calibration import CalibratedClassifierCV

        model = CalibratedClassifierCV(lightgbm(), method="isotonic", cv=5)
        proba = model.fit(problem.X[train], problem.y[train]).predict_proba(problem.X[test])
        expected = np.einsum("nj,nja->na", proba, problem.costs[test])
        return np.asarray(expected.argmin(axis=1))

    return [
        Method("CostBoost", flagship, True, True),
        boosted(cb.AdaBoostCClassifier),
        boosted(cb.AdaC2Classifier, row_costs=False),  # its score has no link to a probability
        boosted(cb.AsyBClassifier),
        boosted(cb.CSAdaBoostClassifier),
        # The step of the rivals' LightGBM; a full Newton step overfits noisy data.
        boosted(cb.CSLogitBoostClassifier, ", trees", estimator="tree", learning_rate=0.1),
        boosted(cb.AsyBLClassifier, learning_rate=0.1),
        Method("MinCost, LightGBM", min_cost, True, True),
        Method("LightGBM at 0.5", plain, False, False),
        Method("LightGBM, cost weights", weighted, False, False),
        Method("calibrated LightGBM", calibrated, False, True),
    ]


def _fit_predict(
    classifier: Any, problem: Problem, train: Ints, test: Ints, row_costs: bool
) -> Ints:
    known = problem.per_row
    classifier.fit(
        problem.X[train], problem.y[train], costs=problem.costs[train] if known else None
    )
    at_decision = problem.costs[test] if known and row_costs else None
    return np.asarray(classifier.predict(problem.X[test], costs=at_decision))


LEGEND = (
    "Savings: 1 - cost / cost of the best single decision for all rows. Seconds: training and "
    "deciding, one thread. ★: the cheapest. Usual alternatives: LightGBM at probability 0.5, "
    "LightGBM with rows weighted by what an error costs, and LightGBM calibrated (isotonic) with "
    "the decision of least expected cost. MinCost is that rule with sigmoid calibration. Trees "
    "have 8 leaves; AsyBL and CSLogitBoost learn at rate 0.1, as LightGBM does. CostBoost has its "
    "own defaults: a few kinds of models, weighted by what they are worth on held-out rows."
)


# --- measuring and printing -------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What a method paid on the test rows."""

    method: Method
    cost: float
    savings: float
    seconds: float
    remarks: tuple[str, ...]


def _run(method: Method, problem: Problem) -> Outcome:
    from threadpoolctl import threadpool_limits

    from costboost.metrics import savings_score, total_cost

    decisions, tested = [], []
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(1):
        warnings.simplefilter("always")
        start = time.perf_counter()
        for train, test in problem.folds:
            decisions.append(method.decide(problem, train, test))
            tested.append(test)
        seconds = time.perf_counter() - start
    test, decision = np.concatenate(tested), np.concatenate(decisions)
    truth, costs = problem.y[test], problem.costs[test]
    return Outcome(
        method=method,
        cost=float(total_cost(truth, decision, costs=costs)),
        savings=float(savings_score(truth, decision, costs=costs)),
        seconds=seconds,
        remarks=tuple(dict.fromkeys(str(warning.message) for warning in caught)),
    )


def _report(console: Console, problem: Problem, outcomes: Iterable[Outcome]) -> None:
    ranked = sorted(outcomes, key=lambda outcome: outcome.cost)
    table = Table(
        title=problem.title, caption=problem.note, title_justify="left", caption_justify="left"
    )
    table.add_column("method")
    table.add_column("kind")
    if problem.per_row:
        table.add_column("row costs")
    for heading in ("test cost", "savings", "seconds"):
        table.add_column(heading, justify="right")
    for outcome in ranked:
        best = outcome.cost == ranked[0].cost
        cells = [
            f"{'★' if best else ' '} {outcome.method.name}",
            "ours" if outcome.method.ours else "usual",
            *(["yes" if outcome.method.uses_row_costs else "no"] if problem.per_row else []),
            f"{outcome.cost:,.0f}",
            f"{outcome.savings:.1%}",
            f"{outcome.seconds:.2f}",
        ]
        table.add_row(*cells, style="bold green" if best else None)
    console.print()
    console.print(table)
    for outcome in ranked:
        for remark in outcome.remarks:
            console.print(f"[yellow]{outcome.method.name}:[/yellow] {escape(remark)}")
