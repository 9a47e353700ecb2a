"""Options that several commands share, said once.

A parameter of a command that is a dataclass stands for all options that are its fields: `command`
takes it apart for typer, and puts it together again when the command runs.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from costboost.cli.failure import told_errors

if TYPE_CHECKING:
    from costboost.cli.problem import CostProblem
    from costboost.columns import Columns, Notation, Source

TABLE, COSTS, MODEL, TEST = "The table", "What mistakes cost", "The model", "Held-out rows"


def option(default: Any, help: str, *names: str, panel: str | None = None, **more: Any) -> Any:
    """An option; ``...`` as default means that it must be given."""
    return typer.Option(default, *names, help=help, rich_help_panel=panel, **more)


def command(function: Callable[..., None]) -> Callable[..., None]:
    """A command of typer: groups of options are taken apart, errors are messages."""
    parameters = inspect.signature(function, eval_str=True).parameters
    groups = {
        name: inspect.signature(one.annotation, eval_str=True).parameters  # type: ignore[arg-type]
        for name, one in parameters.items()
        if is_dataclass(one.annotation)
    }
    options = {
        name: one.replace(kind=one.KEYWORD_ONLY)
        for place, parameter in parameters.items()
        for name, one in groups.get(place, {place: parameter}).items()
    }
    for name, one in options.items():
        if one.annotation is bool and not one.default.param_decls:  # no --no-...
            one.default.param_decls = (f"--{name.replace('_', '-')}",)

    @functools.wraps(function)
    def run(**given: Any) -> None:
        for place, group in groups.items():
            own = {name: given.pop(name) for name in group}
            given[place] = parameters[place].annotation(**own)
        with told_errors():
            function(**given)

    run.__annotations__ = {name: one.annotation for name, one in options.items()}
    run.__signature__ = inspect.Signature(list(options.values()))  # type: ignore[attr-defined]
    return run


FILE = typer.Argument(
    ...,
    metavar="FILE",
    help="CSV, TSV, Parquet, Arrow or JSON lines; also a folder, a pattern in quotes such as "
    "'2026-*.csv', or - for the standard input.",
)
MODEL_FILE = typer.Argument(..., metavar="MODEL", help="A model file of `costboost fit`.")
SEPARATOR = option(None, "Separator of CSV files; detected by default.", panel=TABLE)
DECIMAL = option(None, "Decimal mark of CSV files, as in --decimal ','.", panel=TABLE)
THOUSANDS = option(None, "What separates thousands in CSV files, as in --thousands .", panel=TABLE)
NA = option(
    None,
    "Text of CSV files that means a missing value, such as k.A.; may be repeated.",
    metavar="TEXT",
    panel=TABLE,
)
ENCODING = option(None, "Encoding of CSV files; detected by default.", panel=TABLE)
PLOT = option(None, "Picture to write, .png or .svg.", metavar="FILE")
AS_JSON = option(False, "Print one JSON object instead of text, for scripts.", "--json")
QUIET = option(False, "Print only the result.", "--quiet", "-q")
FORCE = option(False, "Replace files that exist.")
SETTINGS = option(
    None,
    "Parameter of the algorithm, as in --set n_estimators=200; may be repeated.",
    "--set",
    metavar="NAME=VALUE",
    panel=MODEL,
)
SEED = option(0, "Seed of splits and of the model.", panel=MODEL)
TEST_SIZE = option(0.2, "Share of the rows that is held out.", min=0.0, max=0.9, panel=TEST)


def check_output(
    path: str | Path | None, *reads: Any, force: bool, table: bool = False, model: bool = False
) -> None:
    """Refuse to replace what is read, and without --force what exists, before any work is done."""
    # `table`: the ending must be that of a table. `model`: models of ours may be replaced.
    from costboost.cli.models import is_model_file
    from costboost.columns import TableError
    from costboost.columns.files import WRITTEN, find_files

    if path is None or str(path) == "-":
        return
    target = Path(path)
    if not os.path.isdir(os.path.dirname(os.path.realpath(target))):
        raise TableError(f"The folder {target.parent} of {path} does not exist. Make it first.")
    if target.is_dir():
        raise TableError(f"{path} is a folder. Name a file in it.")
    if table and target.suffix.lower() not in WRITTEN:
        raise TableError(
            f"The ending of {path} must say how to write it: {', '.join(sorted(WRITTEN))}."
        )
    if not target.exists():
        return
    for read in (str(one) for one in reads if one is not None):
        if read != "-" and any(target.samefile(file) for file in find_files(read)):
            raise TableError(f"{path} is read as well ({read}). Name another file to write.")
    if not target.is_file():
        raise TableError(f"{path} is not an ordinary file. Name another one.")
    if not (force or (model and is_model_file(target))):
        raise TableError(f"{path} exists. Name another file, or add --force to replace it.")


def assigned(option: str, entries: Sequence[str] | None, example: str) -> Iterator[tuple[str, str]]:
    """Names and values of ``NAME=VALUE``."""
    for entry in entries or ():
        name, _, value = (part.strip() for part in entry.partition("="))
        if not name or not value:
            raise ValueError(f"{option} {entry!r} must be NAME=VALUE, as in {option} {example}.")
        yield name, value


def listed(names: list[str] | None) -> list[str]:
    """Names that were given one by one, or with commas."""
    return [name.strip() for one in names or () for name in one.split(",") if name.strip()]


@dataclass(frozen=True)
class ScoringOptions:
    """A model file, and a file of rows for it."""

    model: Path = MODEL_FILE
    table: str = FILE
    separator: str | None = SEPARATOR
    encoding: str | None = ENCODING

    def open(self, columns: Columns, table: str | None = None) -> Source:
        """Return the file, or another one, whose texts are written like those of the fit."""
        from costboost.columns import open_source

        return open_source(
            table or self.table,
            delimiter=self.separator,
            encoding=self.encoding,
            notation=columns.notation,
        )


@dataclass(frozen=True)
class ProblemOptions:
    """Rows of a file, the column of their truth, and what decisions cost."""

    table: str = FILE
    target: str = option(..., "Column of the truth.", panel=TABLE)
    positive: str | None = option(
        None, "The class to find, of two: the p in fp and fn. Not needed for 0 and 1.", panel=COSTS
    )
    cost: list[str] | None = option(
        None,
        "fn, fp, tp or tn and what it costs: a number or arithmetic over columns, "
        '--cost "fn=amount+15" --cost fp=5. More classes or other decisions: '
        '"fraud:review=4" (truth:decision).',
        metavar="ENTRY=COST",
        panel=COSTS,
    )
    cost_matrix: Path | None = option(
        None,
        "Table of costs: first column the truth, one more column per decision.",
        metavar="FILE",
        panel=COSTS,
    )
    exclude: list[str] | None = option(
        None,
        "Column that is not a feature; may be repeated, or given as a list with commas.",
        panel=TABLE,
    )
    column: list[str] | None = option(
        None,
        "What a column holds, if that is not what it looks like: --column zip=category; number, "
        "boolean, category, date (or how dates are written, when=%d/%m/%Y), ignore. May be "
        "repeated.",
        metavar="NAME=KIND",
        panel=TABLE,
    )
    weight_column: str | None = option(None, "Column of row weights.", panel=TABLE)
    separator: str | None = SEPARATOR
    decimal: str | None = DECIMAL
    thousands: str | None = THOUSANDS
    na: list[str] | None = NA
    encoding: str | None = ENCODING
    time_column: str | None = option(
        None, "Column of times: the latest rows are held out.", panel=TEST
    )
    group_column: str | None = option(
        None, "Column of groups, such as customers: whole groups are held out.", panel=TEST
    )

    def open(self, table: str | None = None) -> Source:
        """Return the file, or another one that is written like it."""
        from costboost.columns import open_source

        return open_source(
            table or self.table,
            delimiter=self.separator,
            encoding=self.encoding,
            notation=self.notation(),
        )

    def notation(self) -> Notation:
        """Return what --decimal, --thousands and --na say."""
        from costboost.columns import Notation, TableError

        decimal = self.decimal or "."
        thousands = self.thousands or ""
        if len(decimal) != 1 or len(thousands) > 1 or decimal == thousands:
            raise TableError(
                "--decimal and --thousands must be one character each, and not the same; got "
                f"{decimal!r} and {thousands!r}."
            )
        return Notation(self.decimal, thousands, tuple(self.na or ()))

    def kinds(self) -> dict[str, str]:
        """What --column says."""
        return dict(assigned("--column", self.column, "zip=category"))


@dataclass(frozen=True)
class LearnerOptions:
    """A class of the library and its parameters."""

    algorithm: str = option("CostBoost", "Any class of the library, such as AdaC2.", panel=MODEL)
    setting: list[str] | None = SETTINGS
    seed: int = SEED

    def make(self, problem: CostProblem) -> Any:
        """An unfitted classifier."""
        from costboost.cli.models import make_model, read_settings

        return make_model(self.algorithm, problem, read_settings(self.setting), seed=self.seed)
