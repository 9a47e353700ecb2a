"""Files that do not fit into memory: converted to Parquet in pieces, then trained from disk."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from costboost.columns import Source, TableError, TableRecipe, need, open_source

if TYPE_CHECKING:
    import polars as pl

__all__ = ["fit_from_disk", "is_too_large"]

SAMPLE = 200_000
"""Number of first rows from which the types of the columns are inferred."""
MOST_TEST_ROWS = 500_000
"""Largest number of held-out rows that are measured."""
_GROWTH = {"csv": 3.0, "jsonl": 3.0, "parquet": 8.0, "arrow": 2.0}
_SHARE = 0.4
_WEIGHT = "__weight__"
_TARGET = "__target__"


def is_too_large(source: Source) -> bool:
    """Whether a file would take too much of the free memory."""
    packed = any(path.suffix.lower() in (".gz", ".zst") for path in source.paths)
    needed = source.size * _GROWTH[source.format] * (6.0 if packed else 1.0)
    return needed > _SHARE * free_memory()


def free_memory() -> float:
    """Bytes of memory that are free, as far as the system tells."""
    try:
        for line in Path("/proc/meminfo").read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) / 2
    except (AttributeError, ValueError, OSError):
        return 8e9


def fit_from_disk(console: Console, wish: Any, plan: Any) -> dict[str, Any]:
    """Train on files that are larger than memory."""
    # The columns are found out from the first rows, and every row is checked against them. The
    # features go to Parquet files in the folder for temporary files, from which XGBoost trains.
    from costboost.cli.algorithm import FLAGSHIP, make_model, read_settings
    from costboost.cli.costs import check_expressions, columns_in, typed_costs
    from costboost.cli.failure import collected_warnings
    from costboost.cli.fit import measure, tell_costs
    from costboost.cli.models import save_model
    from costboost.cli.problem import check_names
    from costboost.cli.show import columns_table, note, warn

    need("xgboost", "gbm", "Training from disk")
    for option, given in (
        ("--time-column", wish.time), ("--group-column", wish.group), ("--refit", plan.refit),
        ("--save-test", plan.save_test),
    ):  # fmt: skip
        if given:
            raise TableError(
                f"{option} cannot be used when training from disk. Leave it out, split the "
                "file yourself and use --test FILE, or add --in-memory."
            )
    if plan.algorithm.lower().removesuffix("classifier") != FLAGSHIP.lower():
        raise TableError(
            f"Only {FLAGSHIP} trains from disk, not {plan.algorithm}. Leave --algorithm out, or "
            "add --in-memory."
        )
    source = open_source(wish.table, delimiter=wish.delimiter, encoding=wish.encoding)
    entries = typed_costs(wish.costs, wish.cost_matrix)
    names = source.columns()
    check_names(wish, names, source)
    check_expressions(entries, names, source.name)
    recipe, form, excludes, notes = _looked_at(source, wish, entries, columns_in(entries))
    recipe = replace(recipe, nothing=plan.nothing)
    plan.talk.print(f"{escape(wish.table)}: {source.size:,} bytes ({source.in_words()}), from disk")
    plan.talk.print(columns_table(recipe))
    for text in [*notes, f"Types are those of the first {SAMPLE:,} rows; all rows are checked."]:
        note(plan.talk, text)
    settings = {"engine": "xgboost", "ensemble": 1, **read_settings(plan.settings)}
    model = make_model(
        plan.algorithm, form, settings, seed=plan.seed, exclude_cost_columns=excludes
    )
    with tempfile.TemporaryDirectory(prefix="costboost-") as name:
        folder = Path(name)
        with plan.talk.status("Converting the rows"):
            n_train, n_test = _convert(source, recipe, wish, plan, folder)
        plan.talk.print(
            f"\nTraining {type(model).__name__} on {n_train:,} rows, {n_test:,} held out."
        )
        with collected_warnings() as remarks, plan.talk.status("Training"):
            model.fit_parquet(
                folder / "train.parquet",
                _TARGET,
                sample_weight=_WEIGHT if wish.weight else None,
                features=recipe.feature_names,
            )
        for text in remarks:
            warn(plan.talk, text)
        tell_costs(plan.talk, model)
        rows = _test_rows(folder / "test.parquet", recipe, bool(wish.weight))
        if len(rows) < n_test:
            console.print(f"Costs are measured on {len(rows):,} of the {n_test:,} held-out rows.")
    found = measure(console, model, rows, recipe)
    save_model(model, recipe, plan.path)
    console.print(f"\nWrote [bold]{escape(str(plan.path))}[/bold].")
    return {
        "model": str(plan.path),
        "class": type(model).__name__,
        "rows": n_train + n_test,
        "columns": [column.to_json() for column in recipe.columns],
        "classes": model.classes_.tolist(),
        "decisions": model.decisions_.tolist(),
        "costs": str(model.costs_),
        "notes": [*notes, *remarks],
        "held_out": {
            "rows": n_test,
            "measured_rows": len(rows),
            "how": plan.test or "at random",
            "ways_to_decide": found,
        },
    }


def _looked_at(
    source: Source, wish: Any, entries: Any, costed: list[str]
) -> tuple[TableRecipe, Any, bool, list[str]]:
    """What the first rows say: recipe, costs, whether cost columns are excluded, remarks."""
    import numpy as np
    import polars as pl

    from costboost.cli.costs import check_kinds, read_costs
    from costboost.cli.problem import check_target, make_recipe
    from costboost.columns import label_kind, labels, without_label
    from costboost.columns.files import reading

    with reading(source.name):
        sample = source.scan().head(SAMPLE).collect()
        distinct = source.scan().select(pl.col(wish.target).unique()).collect().to_series()
    if not sample.height:
        raise TableError(
            f"{source.name} has column names but no rows. Check that it is the right file."
        )
    distinct = distinct.filter(~without_label(distinct))
    sample = sample.filter(~without_label(sample[wish.target]))
    recipe, excludes, notes = make_recipe(sample, wish, costed)
    recipe = replace(recipe, label_kind=label_kind(distinct))
    check_kinds(entries, recipe.columns)
    classes = np.unique(labels(distinct, recipe.label_kind)).tolist()
    check_target(classes, SAMPLE, wish.target, source.name)
    form, positive = read_costs(entries, recipe, classes, wish.positive)
    return replace(recipe, positive=positive), form, excludes, notes


def _convert(
    source: Source, recipe: TableRecipe, wish: Any, plan: Any, folder: Path
) -> tuple[int, int]:
    """Write features, target and weights of training and held-out rows; returns how many."""
    import polars as pl

    lazy = _typed_rows(source, recipe, wish)
    train, test = folder / "train.parquet", folder / "test.parquet"
    if plan.test is not None:
        other = open_source(plan.test, delimiter=wish.delimiter, encoding=wish.encoding)
        lazy.sink_parquet(train)
        _typed_rows(other, recipe, wish).sink_parquet(test)
    else:
        everything = folder / "all.parquet"
        lazy.with_row_index("__row__").sink_parquet(everything)
        drawn = pl.col("__row__").hash(plan.seed) % 10_000 < round(plan.test_size * 10_000)
        rows = pl.scan_parquet(everything)
        rows.filter(~drawn).drop("__row__").sink_parquet(train)
        rows.filter(drawn).drop("__row__").sink_parquet(test)
        everything.unlink()
    counts = [pl.scan_parquet(file).select(pl.len()).collect().item() for file in (train, test)]
    return counts[0], counts[1]


def _typed_rows(source: Source, recipe: TableRecipe, wish: Any) -> pl.LazyFrame:
    import polars as pl

    lazy = source.scan()
    schema = lazy.collect_schema()
    recipe.check_columns(schema.names(), source.name)
    _check_values(source, recipe, schema)
    label = pl.col(wish.target).cast(pl.String).str.strip_chars()
    kinds: dict[str, Any] = {"int": pl.Int64, "bool": pl.Boolean}
    if recipe.label_kind == "int":
        target = label.cast(pl.Float64).cast(kinds["int"])
    elif recipe.label_kind == "bool":
        target = label.str.to_lowercase() == "true"
    else:
        target = label
    columns = [*recipe.expressions(schema), target.alias(_TARGET)]
    if wish.weight:
        columns.append(pl.col(wish.weight).cast(pl.Float64).alias(_WEIGHT))
    return lazy.select(columns).filter(pl.col(_TARGET).is_not_null())


def _check_values(source: Source, recipe: TableRecipe, schema: Any) -> None:
    """Refuse values that the types of the first rows cannot hold, batch by batch."""
    if not source.is_text:
        return
    for batch in source.batches(SAMPLE):
        recipe.features(batch, source.name)


def _test_rows(path: Path, recipe: TableRecipe, has_weights: bool) -> Any:
    import polars as pl

    from costboost.cli.problem import Rows

    lazy = pl.scan_parquet(path)
    n = int(lazy.select(pl.len()).collect().item())
    # Evenly spread: the first rows of a file may be its oldest.
    frame = lazy.gather_every(max(-(-n // MOST_TEST_ROWS), 1)).collect()
    texts = [column.name for column in recipe.used if column.kind == "category"]
    X = frame.select(recipe.feature_names).with_columns(pl.col(texts).cast(pl.Categorical))
    y = frame[_TARGET].to_numpy()
    if recipe.label_kind == "text":
        y = y.astype(str)
    weights = frame[_WEIGHT].to_numpy() if has_weights else None
    return Rows(X.to_pandas(), y, weights)
