"""The commands ``costboost report`` and ``costboost monitor``: how a model does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from costboost.cli import options, show
from costboost.cli.models import load_model, measure, typed_frame
from costboost.cli.options import ScoringOptions, check_output, command, option
from costboost.cli.problem import check_names, column_values, has_label, read_rows, texts, truth
from costboost.columns import Source, need
from costboost.costs.spec import columns_of


@command
def report(
    asked: ScoringOptions,
    path: Path = option(Path("report.html"), "Page to write.", "--output", "-o", metavar="PAGE"),
    segment: list[str] | None = option(
        None,
        "Column to break the costs down by, numbers by tenths of the rows; may be repeated. By "
        "default the first that the costs name, and categories with few values.",
    ),
    time_column: str | None = option(None, "Column of times, for costs by day."),
    nothing: str | None = option(
        None, "Decision that means doing nothing; that of the fit if left out."
    ),
    title: str | None = option(None, "Heading."),
    unit: str = option("", "Sign of the currency, such as €."),
    force: bool = options.FORCE,
    as_json: bool = options.AS_JSON,
) -> None:
    """Write a page about what the decisions cost on rows the model was not trained on."""
    # The file must have the target: use the rows of `costboost fit --save-test FILE`.
    from costboost.report import write_report

    need("plotly", "cli", "costboost report")
    model, facts = load_model(asked.model, "which the report needs")
    source, columns = asked.open(model.columns_), model.columns_
    frame = source.read()
    facts = {**facts, "nothing": nothing or facts.get("nothing")}
    rows = read_rows(frame, columns, model.classes_.tolist(), facts, source.name)
    X = typed_frame(model, frame, source.name)
    # Rows have the numbers that a spreadsheet shows: a header is row 1.
    more = {"ids": np.arange(len(frame)) + 1 + source.is_text}
    if time_column is not None:
        more["time"] = column_values(frame, time_column, columns, source.name, "date")
    check_names(segment or (), frame.columns, "--segment", source.name)
    check_output(path, asked.model, asked.table, force=force)
    priced = [name for name in columns_of(model.cost_matrix) if X[name].dtype.kind == "f"]
    few = [str(x) for x in X if str(X[x].dtype) == "category" and X[x].nunique() <= 20]
    kinds = {one.name: one.kind for one in columns if one.name in X}
    out, _ = show.consoles(as_json)
    with out.status("Computing the report"):
        case, found = measure(
            model, rows, X, unit=unit,
            title=title or f"Cost report: {columns.target} in {source.name}",
            segments={
                name: X[name] if kinds.get(name) in ("number", "category")
                else texts(frame[name], "missing")  # as it is written: yes, 2026-12-31
                for name in segment or [*priced[:1], *few[:5]]
            },
            **more,
        )  # fmt: skip
        page = write_report(case, path)
    if as_json:
        show.print_json({"page": str(page), "rows": len(rows), **show.verdict_json(found)})
    show.print_money(out, found, case.rows_in_words)
    show.say(out, found.verdict.in_words(unit) + "\n")
    show.wrote(out, page, f" ({page.stat().st_size / 1e6:.1f} MB). Open it in a browser.")


@command
def monitor(
    asked: ScoringOptions,
    reference: str = option(
        ...,
        "Rows to compare with, on which the model was not trained: those of `costboost fit "
        "--save-test FILE`.",
        metavar="FILE",
    ),
    as_json: bool = options.AS_JSON,
) -> None:
    """Put what new rows cost beside what rows of a reference cost."""
    # The target may be missing from the new rows.
    from costboost.monitor import Monitor

    model, _ = load_model(asked.model, "so the cost of new rows cannot be predicted")
    old = _snapshot(model, asked.open(model.columns_, reference))
    found = Monitor(old).check(_snapshot(model, asked.open(model.columns_)))
    if as_json:
        show.print_json(found.to_dict())
    out, _ = show.consoles(as_json)
    show.say(out, str(found))


def _snapshot(model: Any, source: Source) -> Any:
    from costboost.monitor import snapshot_of

    frame, target, labels = source.read(), model.columns_.target, None
    if target in frame.columns and has_label(frame[target]).all():
        labels = truth(frame[target], model.classes_.tolist(), source.name)
    return snapshot_of(model, typed_frame(model, frame, source.name), labels)
