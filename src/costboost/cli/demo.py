"""The command ``costboost demo``: the usual alternatives on built-in data, in money."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from rich.console import Console

from costboost.cli import options, show
from costboost.cli.compare import GROUPS, print_comparison, usual_methods
from costboost.cli.models import algorithm_class
from costboost.cli.options import check_output, command, option
from costboost.columns import need

COSTS = {"fn": "amount", "fp": 5, "tp": 5}
ALGORITHMS = ("CostBoost", "MinCost", "CSAdaBoost", "CSLogitBoost", "AdaC2")
LEGEND = (
    f"{GROUPS} A missed fraud costs its amount, a flag costs a review (5). Half of the payments "
    "train, half test. The amount is known when a payment is decided. LightGBM decides for the "
    "likeliest class, or with rows weighted by what an error costs, or, calibrated (isotonic), for "
    "the least expected cost. MinCost is that rule with sigmoid calibration."
)


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
    check_output(report, force=force)
    need("polars", "cli", "costboost demo")
    import numpy as np
    import polars as pl
    from sklearn.model_selection import train_test_split

    import costboost
    from costboost.datasets import make_fraud

    console = Console()
    data = make_fraud(rows, random_state=seed)
    X = pl.DataFrame(data.X, schema=list(data.feature_names))
    y = data.y
    train, test = train_test_split(np.arange(rows), test_size=0.5, stratify=y, random_state=seed)
    methods = {name: algorithm_class(name)() for name in ALGORITHMS}
    comparison = costboost.compare(
        methods | usual_methods(rows, seed),
        (X, y),
        costs=COSTS,
        splits=[(train, test)],
        random_state=seed,
    )
    title = f"Card fraud (synthetic): {rows:,} payments, {y.mean():.1%} fraud; test half"
    print_comparison(console, comparison, title, LEGEND)
    if find_spec("plotly") is None:
        show.say(console, 'No page: it needs plotly (pip install "costboost[cli]").')
        return
    model = costboost.CostBoostClassifier(COSTS, effort="fast", random_state=seed)
    page = model.fit(X[train], y[train]).report(
        X[test],
        y[test],
        path=report,
        segments="amount",
        title="costboost demo: which payments to stop",
    )
    show.wrote(console, page, ": open it in a browser.")
