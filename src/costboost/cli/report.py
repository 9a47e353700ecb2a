"""The command ``costboost report``: one page about what a model's decisions cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape

from costboost._typing import Floats, Ints
from costboost.cli import arguments
from costboost.cli.failure import tells_errors

if TYPE_CHECKING:
    from costboost.cli.problem import Rows
    from costboost.report import Case
    from costboost.tables import TableRecipe

__all__ = ["model_case", "report"]

MOST_STAGED_ROWS = 5_000
"""The cost by round is that of so many rows."""
MOST_SEGMENT_VALUES = 20
"""Categories with at most so many values are shown as segments by themselves."""
MOST_SEGMENTS = 5


@tells_errors
def report(
    model: arguments.Model,
    table: arguments.Table,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="PAGE", help="Page to write.")
    ] = Path("report.html"),
    segment: Annotated[
        list[str] | None,
        typer.Option(
            help="Column to break the costs down by; may be repeated. Categories with few values "
            "if left out.",
            show_default=False,
        ),
    ] = None,
    amount: Annotated[
        str | None,
        typer.Option(
            help="Column whose deciles are shown; the first that the costs name if left out.",
            show_default=False,
        ),
    ] = None,
    time_column: Annotated[
        str | None,
        typer.Option(help="Column of times, for costs by day.", show_default=False),
    ] = None,
    nothing: Annotated[
        str | None,
        typer.Option(help="Decision that means doing nothing.", show_default=False),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Heading.", show_default=False)] = None,
    unit: Annotated[str, typer.Option(help="Sign of the currency, such as €.")] = "",
    delimiter: arguments.Delimiter = None,
    encoding: arguments.Encoding = None,
    as_json: arguments.AsJson = False,
) -> None:
    """Write a page about what the decisions cost on rows the model was not trained on.

    The file must have the target: use the rows of `costboost fit --save-test FILE`.
    """
    from costboost.cli.evaluation import money_rules, rules_as_json
    from costboost.cli.models import load_model
    from costboost.cli.problem import read_rows
    from costboost.cli.show import money_table, print_json
    from costboost.report import report_data, write_report
    from costboost.tables import TableError, check_output, need, open_source, unknown_column

    need("plotly", "report", "costboost report")
    check_output(output, kinds=False)
    fitted, recipe = load_model(model)
    if not hasattr(fitted, "predict_proba"):
        raise TableError(
            f"{type(fitted).__name__} has no probabilities, which the report needs. CostBoost has."
        )
    source = open_source(table, delimiter=delimiter, encoding=encoding)
    frame = source.read()
    rows = read_rows(frame, recipe, source.name)
    moments = None
    if time_column is not None:
        moments = recipe.moments(frame, time_column, source.name).to_numpy()
        if moments.dtype.kind != "M":
            raise TableError(f"--time-column {time_column!r} must hold dates, not numbers.")
    elif rows.time is not None and rows.time.dtype.kind == "M":
        moments = rows.time
    columns = {}
    for name in segment or ():
        if name not in frame.columns:
            raise unknown_column(name, frame.columns, "--segment", source.name)
        columns[name] = np.asarray(frame[name].cast(_string()).fill_null("missing").to_list())
    if amount is not None and amount not in rows.X.columns:
        raise unknown_column(amount, rows.X.columns, "--amount", source.name)
    console = Console(stderr=as_json, quiet=as_json)
    with console.status("Computing the report"):
        case = model_case(
            fitted, rows, recipe, amount=amount, segments=columns or None, time=moments,
            nothing=None if nothing is None else _decision(nothing, fitted),
            title=title or f"Cost report: {recipe.target}", unit=unit,
        )  # fmt: skip
        page = write_report(report_data(case), output)
    rules = money_rules(fitted, case)
    if as_json:
        print_json({"page": str(page), "rows": len(rows), "ways_to_decide": rules_as_json(rules)})
        return
    console.print(money_table(rules, len(rows)))
    size = page.stat().st_size / 1e6
    console.print(f"\nWrote [bold]{escape(str(page))}[/bold] ({size:.1f} MB). Open it in a browser.")


def _string() -> Any:
    import polars as pl

    return pl.String


def _decision(name: str, model: Any) -> Any:
    from costboost.tables import TableError

    known = {str(label): label for label in model.decisions_.tolist()}
    if name not in known:
        raise TableError(f"--nothing must be a decision, {', '.join(known)}, got {name!r}.")
    return known[name]


def model_case(
    model: Any,
    rows: Rows,
    recipe: TableRecipe,
    *,
    amount: str | None = None,
    segments: dict[str, Any] | None = None,
    time: Any = None,
    nothing: Any = None,
    title: str = "Cost report",
    unit: str = "",
) -> Case:
    """All that a report shows of a model on labelled rows.

    Parameters
    ----------
    model : classifier
        Fitted, with probabilities.
    rows : Rows
        Rows that it was not trained on.
    recipe : TableRecipe
        Knows the positive class and the columns.
    amount : str, optional
        Column whose deciles are shown; the first that the costs name by default.
    segments : dict, optional
        Columns to break the costs down by; categories with few values by default.
    time : array, optional
        Times of the rows.
    nothing : label, optional
        The decision that means doing nothing.
    title, unit : str
        Heading and currency.

    Returns
    -------
    Case
        For `costboost.report.write_report`.
    """
    from dataclasses import replace

    from costboost.cli.evaluation import evaluation_case
    from costboost.costs.forms import columns_of

    X = rows.X
    costed = columns_of(model.cost_matrix)
    amount = amount or next((name for name in costed if X[name].dtype.kind == "f"), None)
    if segments is None:
        segments = _segments(X)
    shown = {name: np.asarray(X[name]) for name in _feature_names(model, X)}
    parameters = {key: value for key, value in model.get_params(deep=False).items()
                  if key not in ("cost_matrix", "verbose") and value is not None}
    return evaluation_case(
        model,
        replace(rows, time=time),
        recipe.positive,
        nothing=nothing,
        amount=None if amount is None else (amount, np.asarray(X[amount], dtype=float)),
        segments=segments,
        features=shown,
        explain=_explainer(model, X),
        rounds=_rounds(model, rows),
        title=title,
        unit=unit,
        settings={"class": type(model).__name__, "target": recipe.target, **parameters},
    )


def _feature_names(model: Any, X: Any) -> Sequence[str]:
    names = getattr(model, "feature_names_in_", None)
    return list(X.columns) if names is None else [str(name) for name in names]


def _segments(X: Any) -> dict[str, Any]:
    few = {}
    for name in X.columns:
        values = X[name]
        if str(values.dtype) == "category" and values.nunique() <= MOST_SEGMENT_VALUES:
            few[name] = np.asarray(values.astype(object).fillna("missing"))
        if len(few) == MOST_SEGMENTS:
            break
    return few


def _explainer(model: Any, X: Any) -> Callable[[Ints], Floats] | None:
    if not hasattr(model, "explain"):
        return None

    def parts(rows: Ints) -> Floats:
        return np.asarray(model.explain(X.iloc[rows]).parts)

    return parts


def _rounds(model: Any, rows: Rows) -> dict[str, Floats]:
    """Mean cost of the decisions after each boosting round."""
    from costboost.cli.evaluation import decision_costs

    if not hasattr(model, "staged_predict"):
        return {}
    n = min(len(rows), MOST_STAGED_ROWS)
    X, codes = rows.X.iloc[:n], np.searchsorted(model.classes_, rows.y[:n])
    matrix = decision_costs(model, X)
    prices = matrix[codes] if matrix.ndim == 2 else matrix[np.arange(n), codes]
    places = {label: code for code, label in enumerate(model.decisions_.tolist())}
    cost = []
    for taken in model.staged_predict(X):
        index = np.array([places[label] for label in taken.tolist()], dtype=np.intp)
        cost.append(float(prices[np.arange(n), index].mean()))
    return {"held-out rows": np.array(cost)} if cost else {}
