"""Options that several commands share, said once.

A parameter of a command that is a dataclass stands for all options that are its fields: `command`
takes it apart for typer, and puts it together again when the command runs.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_type_hints

import typer

from costboost.cli.failure import tells_errors

if TYPE_CHECKING:
    from costboost.cli.problem import Problem
    from costboost.columns import Source, TableRecipe

TABLE, COSTS, MODEL, TEST = "The table", "What mistakes cost", "The model", "Held-out rows"


def option(help: str, *names: str, panel: str | None = None, **more: Any) -> Any:
    """An option whose help does not show a default."""
    return typer.Option(*names, help=help, rich_help_panel=panel, show_default=False, **more)


def output(help: str, metavar: str) -> Any:
    """The option ``-o``."""
    return option(help, "--output", "-o", metavar=metavar)


def command(function: Callable[..., None]) -> Callable[..., None]:
    """A command of typer: groups of options are taken apart, errors are messages."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[inspect.Parameter] = []

    def add(name: str, default: Any, annotation: Any) -> None:
        kind = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(name, kind, default=default, annotation=annotation))

    for name, parameter in inspect.signature(function).parameters.items():
        if name not in groups:
            add(name, parameter.default, hints[name])
            continue
        own = get_type_hints(groups[name], include_extras=True)
        for field in fields(groups[name]):
            empty = field.default is MISSING
            add(field.name, inspect.Parameter.empty if empty else field.default, own[field.name])

    @functools.wraps(function)
    def run(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        tells_errors(function)(**given)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


Table: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, Parquet, Arrow or JSON lines; also a folder, a pattern in quotes such as "
        "'2026-*.csv', or - for the standard input.",
        show_default=False,
    ),
]
ModelFile: TypeAlias = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="A model file of `costboost fit`.", show_default=False),
]
Delimiter: TypeAlias = Annotated[
    str | None, option("Delimiter of CSV files; detected by default.", panel=TABLE)
]
Encoding: TypeAlias = Annotated[
    str | None, option("Encoding of CSV files; detected by default.", panel=TABLE)
]
Plot: TypeAlias = Annotated[Path | None, option("Picture to write, .png or .svg.", metavar="FILE")]
AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON object instead of text, for scripts.")
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result.")]
Settings: TypeAlias = Annotated[
    list[str] | None,
    option(
        "Parameter of the algorithm, as in --set n_estimators=200; may be repeated.",
        "--set",
        metavar="NAME=VALUE",
        panel=MODEL,
    ),
]
Seed: TypeAlias = Annotated[
    int, typer.Option(help="Seed of splits and of the model.", rich_help_panel=MODEL)
]
TestSize: TypeAlias = Annotated[
    float,
    typer.Option(
        min=0.0, max=0.9, help="Share of the rows that is held out.", rich_help_panel=TEST
    ),
]


def listed(names: list[str] | None) -> list[str]:
    """Names that were given one by one, or with commas."""
    return [name.strip() for one in names or () for name in one.split(",") if name.strip()]


class _File:
    """Options that name a file."""

    table: str
    delimiter: str | None
    encoding: str | None

    def open(self, table: str | None = None) -> Source:
        """The file, or another one that is written like it."""
        from costboost.columns import open_source

        return open_source(table or self.table, delimiter=self.delimiter, encoding=self.encoding)


@dataclass(frozen=True)
class ScoringOptions(_File):
    """A model file, and a file of rows for it."""

    model: ModelFile
    table: Table
    delimiter: Delimiter = None
    encoding: Encoding = None

    def load(self) -> tuple[Any, TableRecipe]:
        """The model, and the recipe of its table."""
        from costboost.cli.models import load_model

        return load_model(self.model)


@dataclass(frozen=True)
class ProblemOptions(_File):
    """Rows of a file, the column of their truth, and what decisions cost."""

    table: Table
    target: Annotated[str, option("Column of the truth.", panel=TABLE)]
    positive: Annotated[
        str | None,
        option(
            "The class to find, of two: the p in fp and fn. Not needed for 0 and 1.", panel=COSTS
        ),
    ] = None
    cost: Annotated[
        list[str] | None,
        option(
            "fn, fp, tp or tn and what it costs: a number or arithmetic over columns, "
            '--cost "fn=amount+15" --cost fp=5. More classes or other decisions: '
            '"fraud:review=4" (truth:decision).',
            metavar="ENTRY=COST",
            panel=COSTS,
        ),
    ] = None
    cost_matrix: Annotated[
        Path | None,
        option(
            "Table of costs: first column the truth, one more column per decision.",
            metavar="FILE",
            panel=COSTS,
        ),
    ] = None
    exclude: Annotated[
        list[str] | None,
        option(
            "Column that is not a feature; may be repeated, or given as a list with commas.",
            panel=TABLE,
        ),
    ] = None
    category: Annotated[
        list[str] | None,
        option(
            "Column whose values are categories, although they look like numbers or ids.",
            panel=TABLE,
        ),
    ] = None
    weight_column: Annotated[str | None, option("Column of row weights.", panel=TABLE)] = None
    delimiter: Delimiter = None
    encoding: Encoding = None
    time_column: Annotated[
        str | None, option("Column of times: the latest rows are held out.", panel=TEST)
    ] = None
    group_column: Annotated[
        str | None,
        option("Column of groups, such as customers: whole groups are held out.", panel=TEST),
    ] = None

    def read(self, first: int | None = None) -> Problem:
        """The rows with classes and costs; ``first`` says how many, if not all."""
        from costboost.cli.problem import read_problem

        return read_problem(self, first)


@dataclass(frozen=True)
class LearnerOptions:
    """A class of the library and its parameters."""

    algorithm: Annotated[
        str, typer.Option(help="Any class of the library, such as AdaC2.", rich_help_panel=MODEL)
    ] = "CostBoost"
    setting: Settings = None
    seed: Seed = 0

    def build(self, problem: Problem, **settings: Any) -> Any:
        """An unfitted classifier; what was typed wins over ``settings``."""
        from costboost.cli.models import make_model, read_settings

        chosen = {**settings, **read_settings(self.setting)}
        return make_model(self.algorithm, problem, chosen, seed=self.seed)
