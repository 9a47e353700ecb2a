"""The command ``costboost compare``: which way to decide costs least on your rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from costboost._typing import Floats, Ints
from costboost.cli import arguments
from costboost.cli.failure import collected_warnings, tells_errors

if TYPE_CHECKING:
    from costboost.cli.contenders import Contender
    from costboost.cli.problem import Problem
    from costboost.files.checkpoint import Checkpoint

__all__ = ["compare", "rank"]


@tells_errors
def compare(
    table: arguments.Table,
    target: arguments.Target,
    positive: arguments.Positive = None,
    cost: arguments.CostEntries = None,
    cost_matrix: arguments.CostMatrix = None,
    exclude: arguments.Exclude = None,
    category: arguments.Categories = None,
    weight_column: arguments.WeightColumn = None,
    delimiter: arguments.Delimiter = None,
    encoding: arguments.Encoding = None,
    algorithm: Annotated[
        list[str] | None,
        typer.Option(
            help="Class of the library; may be repeated; 'all' for all of them. By default "
            "CostBoost and MinCost.",
            rich_help_panel="The model",
            show_default=False,
        ),
    ] = None,
    only_ours: Annotated[
        bool,
        typer.Option(
            "--only-ours",
            help="Leave out the usual alternatives and other libraries.",
            rich_help_panel="The model",
        ),
    ] = False,
    setting: arguments.Settings = None,
    seed: arguments.Seed = 0,
    folds: Annotated[
        int,
        typer.Option(min=2, help="Folds of the cross-validation.", rich_help_panel="Held-out rows"),
    ] = 5,
    time_column: arguments.TimeColumn = None,
    group_column: arguments.GroupColumn = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keeps what is finished; if the command is killed, the same command goes on where "
            "it stopped. The file is deleted at the end.",
            show_default=False,
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Picture to write, .png or .svg.", show_default=False),
    ] = None,
    as_json: arguments.AsJson = False,
    quiet: arguments.Quiet = False,
) -> None:
    """Compare ways to decide on a file, by cross-validation, in money."""
    # Ways that are not distinguishable from the best of their group share its number.
    from costboost.cli.algorithm import read_settings
    from costboost.cli.contenders import contenders
    from costboost.cli.problem import Wish, read_problem
    from costboost.cli.show import note, print_json
    from costboost.columns import check_output, need

    if plot is not None:
        need("matplotlib", "plots", "--plot")
        check_output(plot, kinds=False)
    console = Console(stderr=as_json, quiet=as_json or quiet)
    problem = read_problem(
        Wish(
            table,
            target,
            positive,
            tuple(cost or ()),
            cost_matrix,
            tuple(exclude or ()),
            tuple(category or ()),
            weight_column,
            time_column,
            group_column,
            delimiter,
            encoding,
        )
    )
    for text in problem.notes:
        note(console, text)
    chosen, missing = contenders(
        algorithm or (), problem.cost_matrix, read_settings(setting or ()),
        excludes=problem.excludes_cost_columns, only_ours=only_ours,
    )  # fmt: skip
    store = None
    if checkpoint is not None:
        from costboost.cli.resume import hash_of, versions_in_words
        from costboost.files.checkpoint import Checkpoint

        asked = {
            "rows": hash_of(problem.rows),
            "costs": repr(problem.cost_matrix),
            "settings": repr((sorted(setting or ()), problem.excludes_cost_columns)),
            "seed": str(seed),
            "folds": str(folds),
            "versions": versions_in_words(),
        }
        store = Checkpoint(checkpoint, asked, "costboost compare")
    result = _measured(console, problem, chosen, folds, seed, store)
    standings = rank(result.names, result.paid)
    if plot is not None:
        _draw(standings, plot)
    if store is not None:
        store.remove()
    if as_json:
        print_json(
            {
                "rows": result.n,
                "folds": folds,
                "standings": [{**asdict(one), "kind": result.kinds[one.name]} for one in standings],
                "left_out": result.left_out,
                "not_installed": missing,
            }
        )
        return
    _show(Console(), standings, result, folds, missing)
    if plot is not None:
        console.print(f"Wrote [bold]{escape(str(plot))}[/bold].")


@dataclass(frozen=True, eq=False)
class _Result:
    """What each contender paid on each held-out row."""

    names: list[str]
    kinds: dict[str, str]
    paid: Floats  # (n, contenders)
    left_out: dict[str, str]
    n: int


def _measured(
    console: Console,
    problem: Problem,
    chosen: Sequence[Contender],
    n_folds: int,
    seed: int,
    store: Checkpoint | None = None,
) -> _Result:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from costboost.cli.contenders import Fold, check_codes
    from costboost.cli.split import folds
    from costboost.columns import TableError
    from costboost.costs import Costs

    rows = problem.rows
    classes, codes = np.unique(rows.y, return_inverse=True)
    known = Costs.resolve(
        problem.cost_matrix, classes=classes, n_samples=len(rows), X=rows.X, codes=codes,
        owner="costboost compare",
    )  # fmt: skip
    d = len(known.decisions)
    two = len(classes) == 2 and known.decides_classes
    pairs = list(folds(rows, n_folds, seed))
    tested = np.concatenate([test for _, test in pairs])
    paid: dict[str, Floats] = {}
    left_out = {c.name: "for two classes only" for c in chosen if c.binary and not two}
    runs = [c for c in chosen if c.name not in left_out]
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as bar, collected_warnings():
        task = bar.add_task("", total=len(runs) * len(pairs))
        for contender in runs:
            bar.update(task, description=contender.name)
            taken: list[Ints] = []
            try:
                for number, (train, test) in enumerate(pairs):
                    name = f"{contender.name}, fold {number}"
                    if store is not None and name in store.names():
                        found = store.get(name)
                    else:
                        fold = Fold(
                            rows.take(train),
                            rows.take(test),
                            known.take(train),
                            known.take(test),
                            seed,
                        )
                        found = contender.decide(fold)
                        if store is not None:
                            store.put(name, np.asarray(found))
                    taken.append(check_codes(found, len(test), d))
                    bar.advance(task)
            except (ValueError, TypeError, ImportError, RuntimeError) as error:
                left_out[contender.name] = " ".join(str(error).split(". ")[0].split())[:200]
                bar.advance(task, len(pairs) - len(taken))
                continue
            cost = known.take(tested).paid(np.concatenate(taken))
            weights = 1.0 if rows.weights is None else rows.weights[tested]
            paid[contender.name] = np.asarray(cost * weights)
    if not paid:
        raise TableError(
            "No way to decide could be measured: "
            + "; ".join(f"{name}: {why}" for name, why in left_out.items())
        )
    kinds = {c.name: c.kind for c in chosen}
    return _Result(list(paid), kinds, np.column_stack(list(paid.values())), left_out, len(tested))


@dataclass(frozen=True)
class Standing:
    """One line of a comparison."""

    name: str
    cost: float
    more: float
    low: float
    high: float
    group: int


def rank(names: Sequence[str], paid: Floats) -> list[Standing]:
    """Sort by cost, with paired intervals and groups that are not distinguishable."""
    # Rows are compared with themselves: the interval is that of the sum of the differences, by the
    # normal law, widened for the number of comparisons (Bonferroni). A group has the cheapest line
    # that is not in an earlier one, and all later lines whose difference from it may be 0.
    from scipy.stats import norm

    n, m = paid.shape
    order = np.argsort(paid.sum(axis=0), kind="stable")
    z = float(norm.ppf(1 - 0.025 / max(1, m - 1)))

    def differences(first: int) -> tuple[Floats, Floats]:
        gaps = paid - paid[:, [first]]
        return gaps.sum(axis=0), z * np.sqrt(n) * gaps.std(axis=0, ddof=1)

    groups: dict[int, int] = {}
    for leader in order.tolist():
        if leader in groups:
            continue
        number = len(set(groups.values())) + 1
        gap, half = differences(leader)
        for other in order.tolist():
            if other not in groups and (other == leader or gap[other] - half[other] <= 0):
                groups[other] = number
    gap, half = differences(int(order[0]))
    return [
        Standing(
            names[j], float(paid[:, j].sum()), float(gap[j]), float(gap[j] - half[j]),
            float(gap[j] + half[j]), groups[j],
        )
        for j in order.tolist()
    ]  # fmt: skip


def _show(
    console: Console,
    standings: list[Standing],
    result: _Result,
    n_folds: int,
    missing: Sequence[str],
) -> None:
    from costboost.cli.show import money

    table = Table(
        title=f"Total cost of {result.n:,} held-out rows, {n_folds}-fold cross-validation",
        title_justify="left", show_edge=False, pad_edge=False,
        caption="Ways with the same group number are not distinguishable from its cheapest. "
        "Intervals: 95 % for all lines at once, row by row on the same rows.",
        caption_justify="left",
    )  # fmt: skip
    table.add_column("group", justify="right")
    table.add_column("way to decide", overflow="fold")
    table.add_column("cost", justify="right")
    table.add_column("more than the cheapest", justify="right")
    for one in standings:
        more = (
            ""
            if one is standings[0]
            else (f"{money(one.more)} ({money(one.low)} to {money(one.high)})")
        )
        table.add_row(
            str(one.group), escape(one.name), money(one.cost), more,
            style="bold green" if one.group == 1 else None,
        )  # fmt: skip
    console.print(table)
    for name, why in result.left_out.items():
        console.print(f"[yellow]Left out:[/yellow] {escape(name)} ({escape(why)})", highlight=False)
    if missing:
        console.print(f"Not installed, so not compared: {', '.join(missing)}.", highlight=False)


def _draw(standings: list[Standing], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
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
