"""The page that ``costboost demo`` writes: its fraud problem, decided by CostBoost."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

if TYPE_CHECKING:
    from costboost.cli.demo import Problem

__all__ = ["write_demo_report"]


def write_demo_report(
    console: Console, problem: Problem, path: Path, seed: int, rounds: int
) -> Path | None:
    """Train CostBoost on the training rows, and write the report of the test rows."""
    if find_spec("plotly") is None:
        console.print(escape('No page: it needs plotly (pip install "costboost[report]").'))
        return None
    from costboost import CostBoostClassifier
    from costboost.datasets import make_fraud

    ((train, test),) = problem.folds
    X: Any = problem.X
    if find_spec("pandas") is not None:  # features have names, and are explained
        import pandas as pd

        X = pd.DataFrame(X, columns=list(make_fraud(2, random_state=0).feature_names))
    rows = [X.iloc[part] if hasattr(X, "iloc") else X[part] for part in (train, test)]
    model = CostBoostClassifier(
        decision="bayes", n_estimators=rounds, ensemble=2, random_state=seed, n_jobs=1
    )
    model.fit(rows[0], problem.y[train], costs=problem.costs[train])
    page = model.report(
        rows[1],
        problem.y[test],
        costs=problem.costs[test],
        path=path,
        amount="amount" if hasattr(X, "columns") else None,
        title="costboost demo: which payments to stop",
    )
    console.print(f"Wrote [bold]{escape(str(page))}[/bold]: open it in a browser.")
    return page
