"""The page that ``costboost demo`` writes: its fraud problem, decided by CostBoost."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.markup import escape

from costboost._typing import Floats, Ints

if TYPE_CHECKING:
    from costboost.cli.demo import Problem

__all__ = ["write_demo_report"]


def write_demo_report(
    console: Console, problem: Problem, path: Path, seed: int, rounds: int
) -> Path | None:
    """Train CostBoost on the training rows, and write the report of the test rows.

    Parameters
    ----------
    console : Console
        Where to say what was written.
    problem : Problem
        Two classes, with costs of single rows.
    path : Path
        The page.
    seed, rounds : int
        Seed and number of boosting rounds, at most.

    Returns
    -------
    Path or None
        The page; None if plotly, which draws it, is not installed.
    """
    if find_spec("plotly") is None:
        console.print('No page: it needs plotly (pip install "costboost[report]").')
        return None
    from costboost import CostBoostClassifier
    from costboost.datasets import make_fraud
    from costboost.report import make_case, write_report

    ((train, test),) = problem.folds
    X, costs = problem.X[test], problem.costs[test]
    model = CostBoostClassifier(
        decision="bayes", n_estimators=rounds, ensemble=2, random_state=seed, n_jobs=1
    )
    model.fit(problem.X[train], problem.y[train], costs=problem.costs[train])
    names = make_fraud(2, random_state=0).feature_names

    def parts(rows: Ints) -> Floats:
        return np.asarray(model.explain(X[rows], costs=costs[rows]).parts)

    case = make_case(
        problem.y[test],
        model.predict_proba(X),
        classes=model.classes_,
        costs=costs,
        decided=model.predict(X, costs=costs),
        positive=1,
        amount=("amount", X[:, list(names).index("amount")]),
        features={name: X[:, j] for j, name in enumerate(names)},
        explain=parts,
        title="costboost demo: which payments to stop",
    )
    page = write_report(case, path)
    console.print(f"Wrote [bold]{escape(str(page))}[/bold]: open it in a browser.")
    return page
