"""The command ``costboost predict``: decisions for the rows of a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from costboost.cli import arguments
from costboost.cli.failure import collected_warnings, tells_errors

if TYPE_CHECKING:
    import polars as pl

    from costboost._typing import AnyArray, Floats
    from costboost.columns import Source, TableRecipe
    from costboost.decisions import Allocation, Explanation

__all__ = ["predict"]

PERIODS = ("hour", "day", "week", "month")


@tells_errors
def predict(
    model: arguments.Model,
    table: arguments.Table,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="File to write; its ending says the format. - is the standard output, as CSV.",
        ),
    ] = "-",
    capacity: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DECISION=LIMIT",
            help="Limit of a decision: a number of rows (200) or a share of them (0.05); may be "
            "repeated.",
            show_default=False,
        ),
    ] = None,
    per: Annotated[
        str | None,
        typer.Option(
            help="The limits hold in each hour, day, week or month of --time-column, or in each "
            "group of a column.",
            show_default=False,
        ),
    ] = None,
    time_column: Annotated[
        str | None,
        typer.Option(
            help="Column of times for --per; that of the fit if left out.", show_default=False
        ),
    ] = None,
    explain: Annotated[
        int, typer.Option(min=0, metavar="N", help="Add the N strongest reasons, in money.")
    ] = 0,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            help="Column to copy to the output, such as an id; all if left out.",
            show_default=False,
        ),
    ] = None,
    prefix: Annotated[
        str, typer.Option(help="Text to put before the names of the new columns.")
    ] = "",
    batch_rows: Annotated[
        int, typer.Option(min=1, help="Rows in memory at once; files may be larger than memory.")
    ] = 100_000,
    delimiter: arguments.Delimiter = None,
    encoding: arguments.Encoding = None,
    as_json: arguments.AsJson = False,
) -> None:
    """Decide the rows of a file, and write the decisions beside them."""
    # New columns: decision, probability_CLASS, expected_cost_DECISION, saving (against the
    # next-best decision) and, with --explain, reason_1, reason_2, ...
    from costboost.cli.models import load_model
    from costboost.cli.show import print_json, warn
    from costboost.columns import TableError, check_output, open_source

    if as_json and output == "-":
        raise TableError("--json prints a summary to the standard output: name a file with -o.")
    console = Console(stderr=True, quiet=as_json)
    check_output(output)
    fitted, recipe = load_model(model)
    source = open_source(table, delimiter=delimiter, encoding=encoding)
    job = _Job(fitted, recipe, source, tuple(_listed(keep)), prefix, explain, batch_rows)
    with collected_warnings() as remarks:
        limits = _limits(capacity or (), fitted.decisions_.tolist(), recipe)
        if limits:
            found = _allocated(job, limits, per, time_column)
        elif per is not None:
            raise TableError("--per needs --capacity, as in --capacity review=200 --per day.")
        else:
            found = None
        totals = _write(job, output, found)
    for text in remarks:
        warn(console, text)
    if as_json:
        print_json({"output": output, **totals, "prices": _prices(found)})
        return
    _summary(console, totals, found, output)


@dataclass(frozen=True, eq=False)
class _Job:
    """What to decide, and what to write."""

    model: Any
    recipe: TableRecipe
    source: Source
    keep: tuple[str, ...]
    prefix: str
    n_reasons: int
    batch_rows: int

    def batches(self) -> Iterator[tuple[pl.DataFrame, Any]]:
        """Raw rows and their features, batch by batch."""
        done = 0
        for frame in self.source.batches(self.batch_rows):
            yield (
                frame,
                self.recipe.features(
                    frame, f"{self.source.name}, after row {done}" if done else self.source.name
                ),
            )
            done += frame.height


def _listed(names: Sequence[str] | None) -> list[str]:
    return [name.strip() for one in names or () for name in one.split(",") if name.strip()]


def _limits(entries: Sequence[str], decisions: list[Any], recipe: TableRecipe) -> dict[Any, Any]:
    from costboost.columns import TableError

    known = {str(decision): decision for decision in decisions}
    found: dict[Any, Any] = {}
    for entry in entries:
        name, _, text = entry.partition("=")
        if name.strip() not in known:
            raise TableError(
                f"--capacity {entry!r} must name a decision of the model: "
                f"{', '.join(known)}. For example --capacity {next(iter(known))}=200."
            )
        try:
            limit = float(text)
        except ValueError:
            raise TableError(
                f"--capacity {entry!r} must be a number of rows (200) or a share (0.05)."
            ) from None
        whole = limit.is_integer() and "." not in text
        if limit < 0 or (not whole and limit > 1):
            raise TableError(
                f"--capacity {entry!r} must be a whole number of rows, or a share from 0 to 1."
            )
        found[known[name.strip()]] = int(limit) if whole else limit
    return found


def _allocated(
    job: _Job, limits: dict[Any, Any], per: str | None, time_column: str | None
) -> Allocation:
    """Decide all rows together; only their expected costs are in memory."""
    import numpy as np

    from costboost.decisions import allocate

    costs: list[Floats] = []
    groups: list[AnyArray] = []
    for frame, X in job.batches():
        costs.append(job.model.predict_cost(X))
        if per is not None:
            groups.append(_groups(job, frame, per, time_column))
    return allocate(
        np.concatenate(costs),
        job.model.decisions_,
        capacity=limits,
        per=np.concatenate(groups) if groups else None,
    )


def _groups(job: _Job, frame: pl.DataFrame, per: str, time_column: str | None) -> AnyArray:
    """The group of each row: its day, its week, ..., or the value of a column."""
    import numpy as np
    import polars as pl

    from costboost.columns import TableError, unknown_column

    where = job.source.name
    if per in PERIODS and per not in frame.columns:
        name = time_column or job.recipe.role("time")
        if name is None:
            dates = [column.name for column in job.recipe.columns if column.kind == "date"]
            hint = f", such as --time-column {dates[0]}" if dates else ""
            raise TableError(f"--per {per} needs a column of times: add --time-column{hint}.")
        moment = job.recipe.moments(frame, name, where)
        form = {"hour": "%Y-%m-%d %H:00", "day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m"}
        if not moment.dtype.is_temporal():
            raise TableError(f"--per {per} needs dates, and {name!r} holds numbers.")
        return np.asarray(moment.dt.strftime(form[per]).to_list(), dtype=np.str_)
    if per not in frame.columns:
        raise unknown_column(per, frame.columns, "--per", where)
    return np.asarray(frame[per].cast(pl.String).fill_null("").to_list(), dtype=np.str_)


def _write(job: _Job, output: str, found: Allocation | None) -> dict[str, Any]:
    """Write the decisions, batch by batch; returns counts and sums."""
    import numpy as np

    from costboost.columns import TableError, unknown_column, writer

    decisions = job.model.decisions_.tolist()
    counts = np.zeros(len(decisions), dtype=np.int64)
    sums = np.zeros(len(decisions))
    knows_costs = hasattr(job.model, "predict_proba")
    done = 0
    with writer(output) as out:
        for frame, X in job.batches():
            for name in job.keep:
                if name not in frame.columns:
                    raise unknown_column(name, frame.columns, "--keep", job.source.name)
            part = slice(done, done + len(X))
            taken = job.model.predict(X) if found is None else found.labels[part]
            new, codes, expected = _new_columns(job, X, taken)
            kept = frame.select(list(job.keep)) if job.keep else frame
            twice = [name for name in new if name in kept.columns]
            if twice:
                raise TableError(
                    f"{job.source.name} has a column {twice[0]!r} already. Rename the new columns, "
                    "as in --prefix model_, or copy only some columns with --keep."
                )
            out.write(kept.with_columns(**new))
            counts += np.bincount(codes, minlength=len(decisions))
            if expected is not None:
                own = np.take_along_axis(expected, codes[:, None], axis=1)[:, 0]
                sums += np.bincount(codes, own, minlength=len(decisions))
            done += len(X)
    if not done:
        raise TableError(f"{job.source.name} has no rows. Check that it is the right file.")
    return {
        "rows": done,
        "decisions": {
            str(name): {"rows": int(n), "expected_cost": float(cost) if knows_costs else None}
            for name, n, cost in zip(decisions, counts, sums, strict=True)
        },
    }


def _new_columns(
    job: _Job, X: Any, taken: AnyArray
) -> tuple[dict[str, Any], AnyArray, Floats | None]:
    """The new columns, the codes of the decisions, and the expected costs."""
    import numpy as np
    import polars as pl

    from costboost.columns import TableError

    model, prefix = job.model, job.prefix
    decisions = model.decisions_.tolist()
    places = {label: code for code, label in enumerate(decisions)}
    codes = np.array([places[label] for label in taken.tolist()], dtype=np.intp)
    new: dict[str, Any] = {f"{prefix}decision": pl.Series(taken.tolist())}
    if not hasattr(model, "predict_proba"):
        if job.n_reasons:
            raise TableError(
                f"{type(model).__name__} has no probabilities, so its decisions cannot be "
                "explained in money. Leave --explain out."
            )
        return new, codes, None
    proba = model.predict_proba(X)
    for j, label in enumerate(model.classes_.tolist()):
        new[f"{prefix}probability_{label}"] = pl.Series(proba[:, j])
    expected = model.predict_cost(X)
    for d, label in enumerate(decisions):
        new[f"{prefix}expected_cost_{label}"] = pl.Series(expected[:, d])
    own = np.take_along_axis(expected, codes[:, None], axis=1)[:, 0]
    others = expected.copy()
    np.put_along_axis(others, codes[:, None], np.inf, axis=1)
    new[f"{prefix}saving"] = pl.Series(others.min(axis=1) - own)
    if job.n_reasons:
        if not hasattr(model, "explain"):
            raise TableError(
                f"{type(model).__name__} cannot explain decisions in money; CostBoost can."
            )
        new |= _reasons(model.explain(X, codes=codes), X, job.n_reasons, prefix)
    return new, codes, expected


def _reasons(found: Explanation, X: Any, n: int, prefix: str) -> dict[str, Any]:
    """The strongest parts of each row, as text: ``merchant_risk = 0.37: +12.40``."""
    import numpy as np
    import polars as pl

    names = found.feature_names
    order = np.argsort(-np.abs(found.parts), axis=1, kind="stable")[:, :n]
    new = {}
    for place in range(min(n, len(names))):
        texts = []
        for row, feature in enumerate(order[:, place].tolist()):
            value = X[names[feature]].iloc[row]
            shown = f"{value:.6g}" if isinstance(value, float) else str(value)
            texts.append(f"{names[feature]} = {shown}: {found.parts[row, feature]:+.2f}")
        new[f"{prefix}reason_{place + 1}"] = pl.Series(texts)
    return new


def _prices(found: Allocation | None) -> Any:
    if found is None:
        return None
    return {str(key): _named(value) for key, value in found.price.items()}


def _named(value: Any) -> Any:
    return {str(k): v for k, v in value.items()} if isinstance(value, dict) else value


def _summary(
    console: Console, totals: dict[str, Any], found: Allocation | None, output: str
) -> None:
    from costboost.cli.show import money

    table = Table(title=f"{totals['rows']:,} rows decided", title_justify="left", show_edge=False)
    for heading, justify in (
        ("decision", "left"),
        ("rows", "right"),
        ("share", "right"),
        ("expected cost", "right"),
    ):
        table.add_column(heading, justify=justify)  # type: ignore[arg-type]
    for name, row in totals["decisions"].items():
        cost = row["expected_cost"]
        table.add_row(
            escape(name), f"{row['rows']:,}", f"{row['rows'] / totals['rows']:.1%}",
            "" if cost is None else money(cost),
        )  # fmt: skip
    console.print(table)
    if found is not None:
        _tell_prices(console, found)
    if output != "-":
        console.print(f"Wrote [bold]{escape(output)}[/bold].")


def _tell_prices(console: Console, found: Allocation) -> None:
    """What one more unit of each limit would have saved."""
    from costboost.cli.show import money

    by_group: list[dict[Any, float]]
    nested = any(isinstance(value, dict) for value in found.price.values())
    by_group = list(found.price.values()) if nested else [found.price]
    for decision in by_group[0]:
        prices = [group[decision] for group in by_group]
        low, high = money(min(prices)), money(max(prices))
        spread = low if low == high else f"{low} to {high}"
        where = f", in each of {len(prices)} groups" if nested else ""
        console.print(
            f"One more [bold]{escape(str(decision))}[/bold] would have saved {spread}{where}."
        )
