"""Decisions on Parquet files, batch by batch, into a Parquet file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from costboost.costs.forms import varies
from costboost.costs.labels import parameter
from costboost.gbm.sources.parquet._arrow import parquet
from costboost.gbm.sources.parquet._arrow import pyarrow as pa
from costboost.gbm.sources.parquet.files import ParquetFiles
from costboost.gbm.sources.parquet.pricing import ColumnCosts
from costboost.gbm.sources.parquet.reading import batch_size

if TYPE_CHECKING:
    from costboost.gbm.classifier import CostBoostClassifier

__all__ = ["predict_parquet"]


def predict_parquet(
    model: CostBoostClassifier,
    paths: Any,
    output: str | Path,
    costs: Any,
    proba: bool,
    keep: Sequence[str],
    batch_rows: int | None,
) -> Path:
    """Decide on Parquet files; see `CostBoostClassifier.predict_parquet`."""
    check_is_fitted(model)
    owner = f"{type(model).__name__}.predict_parquet"
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise ValueError(
            f"{owner} finds features by the names of their columns, and {type(model).__name__} was "
            "fitted on an array without names. Fit it on a frame or by fit_parquet."
        )
    if proba and not hasattr(model, "predict_proba"):
        raise ValueError(
            f"{parameter('proba', owner)} must be False for a classifier of "
            f"decision={model.decision!r}, which knows no probabilities. Leave it out."
        )
    if isinstance(keep, str):
        raise TypeError(f"{parameter('keep', owner)} must be a list of columns, got {keep!r}.")
    added = {"decision", *(f"probability_{label}" for label in model.classes_.tolist() if proba)}
    if added & set(keep):
        raise ValueError(
            f"{parameter('keep', owner)} must not name {sorted(added & set(keep))}, which are "
            "columns of the result. Rename them in the files."
        )
    files = ParquetFiles(paths, owner)
    written = Path(output).expanduser()
    if written.resolve() in {path.resolve() for path in files.paths}:
        raise ValueError(
            f"{parameter('output', owner)} must be another file than those read, got "
            f"{str(output)!r}. Choose another name."
        )
    features = names.tolist()
    is_mapped = costs is None and isinstance(model.cost_matrix, Mapping)
    is_priced = is_mapped and varies(model.cost_matrix) and hasattr(model, "predict_proba")
    priced = ColumnCosts(model.cost_matrix if is_priced else costs, files)
    columns = list(dict.fromkeys([*features, *priced.columns, *keep]))
    n_rows = batch_size(batch_rows, len(columns), owner)
    return _write(model, files, written, features, priced, columns, list(keep), proba, n_rows)


def _write(
    model: CostBoostClassifier,
    files: ParquetFiles,
    output: Path,
    features: list[str],
    priced: ColumnCosts,
    columns: list[str],
    keep: list[str],
    proba: bool,
    n_rows: int,
) -> Path:
    partial = output.with_name(f"{output.name}.partial")
    writer = None
    try:
        for start, table in files.batches(columns, n_rows):
            frame = table.select(features).to_pandas()
            known = priced.read(table, start)
            result = {name: table[name] for name in keep}
            result["decision"] = pa.array(model.predict(frame, costs=known))
            if proba:
                chances = model.predict_proba(frame)
                for j, label in enumerate(model.classes_.tolist()):
                    result[f"probability_{label}"] = pa.array(chances[:, j])
            rows = pa.table(result)
            if writer is None:
                writer = parquet.ParquetWriter(partial, rows.schema)
            writer.write_table(rows)
    except BaseException:
        if writer is not None:
            writer.close()
        partial.unlink(missing_ok=True)
        raise
    assert writer is not None
    writer.close()
    return partial.replace(output)
