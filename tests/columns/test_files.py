"""Files of every kind give the same table, and appear only when they are whole."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from costboost.columns import (
    TableError,
    TableRecipe,
    infer_columns,
    label_kind,
    labels,
    open_source,
    writer,
)

N = 120
FRAME = pl.DataFrame(
    {
        "n": [0.1 * i for i in range(N)],
        "word": [["a", "b", "NA"][i % 3] for i in range(N)],
        "when": [f"2026-0{1 + i % 9}-1{i % 9} 0{i % 7}:30" for i in range(N)],
        "flag": [i % 2 == 0 for i in range(N)],
        "y": [i % 2 for i in range(N)],
    }
)


def written(path: Path) -> Path:
    name = path.name
    if name.endswith(".csv.gz"):
        path.write_bytes(gzip.compress(FRAME.write_csv().encode()))
    elif name.endswith(".csv"):
        FRAME.write_csv(path)
    elif name.endswith(".tsv"):
        FRAME.write_csv(path, separator="\t")
    elif name.endswith(".parquet"):
        FRAME.write_parquet(path)
    elif name.endswith(".arrow"):
        FRAME.write_ipc(path)
    else:
        FRAME.write_ndjson(path)
    return path


ENDINGS = ["csv", "csv.gz", "tsv", "parquet", "arrow", "jsonl"]


def recipe() -> TableRecipe:
    csv = pl.read_csv(FRAME.write_csv().encode(), infer_schema=False)
    columns = tuple(c for c in infer_columns(csv) if c.name != "y")
    return TableRecipe(columns, "y", "int", 1)


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_gives_the_same_features(tmp_path: Path, ending: str) -> None:
    frame = open_source(written(tmp_path / f"rows.{ending}")).read()
    found = recipe().features(frame)
    parts = ["when_day", "when_weekday", "when_hour"]  # less than two years: no months
    assert list(found.columns) == recipe().feature_names == ["n", "word", *parts, "flag"]
    np.testing.assert_array_equal(found["n"], FRAME["n"].to_numpy())
    assert found["word"].isna().sum() == N // 3
    np.testing.assert_array_equal(found["flag"], FRAME["flag"].cast(float).to_numpy())
    moments = pd.to_datetime(FRAME["when"].to_pandas())
    np.testing.assert_array_equal(found["when_hour"], moments.dt.hour)
    np.testing.assert_array_equal(recipe().truth(frame), FRAME["y"].to_numpy())


def test_patterns_folders_and_the_standard_input(tmp_path: Path) -> None:
    for half, name in ((FRAME[:50], "a.csv"), (FRAME[50:], "b.csv")):
        half.write_csv(tmp_path / name)
    whole = open_source(written(tmp_path / "all.csv")).read()
    assert open_source(str(tmp_path / "[ab].csv")).read().equals(whole)
    (tmp_path / "all.csv").unlink()
    assert open_source(tmp_path).read().equals(whole)
    for data in (FRAME.write_csv().encode(), _parquet()):
        source = open_source("-", stdin=io.BytesIO(data))
        assert source.read().height == N


def _parquet() -> bytes:
    out = io.BytesIO()
    FRAME.write_parquet(out)
    return out.getvalue()


def test_batches_are_the_rows_in_their_order(tmp_path: Path) -> None:
    source = open_source(written(tmp_path / "rows.csv"))
    parts = list(source.batches(7))
    assert len(parts) > 1
    assert pl.concat(parts).equals(source.read())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"a,b\n", "no rows"),
    ],
)
def test_empty_files(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    with pytest.raises(TableError, match=message):
        open_source(path).read()


def test_files_that_are_not_there_or_not_what_they_seem(tmp_path: Path) -> None:
    written(tmp_path / "payments.csv")
    with pytest.raises(TableError, match=r"no file .*payment\.csv.* Did you mean .*payments\.csv"):
        open_source(tmp_path / "payment.csv")
    with pytest.raises(TableError, match="No file matches"):
        open_source(str(tmp_path / "*.parquet"))
    (tmp_path / "fake.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(TableError, match="is not one"):
        open_source(tmp_path / "fake.parquet")
    (tmp_path / "other.csv").write_text("n,word\n1,a\n")
    with pytest.raises(TableError, match="differ in the columns 'flag', 'when', 'y'"):
        open_source(str(tmp_path / "*.csv")).read()


# --- the recipe --------------------------------------------------------------------------------


def test_lacking_columns_are_named() -> None:
    with pytest.raises(TableError, match=r"no column 'word'.*nearest names: 'words'"):
        recipe().features(FRAME.rename({"word": "words"}))
    with pytest.raises(TableError, match="lacks 2 columns that the model needs: 'n', 'word'"):
        recipe().features(FRAME.drop("n", "word"))


def test_values_that_cannot_be_read_are_named() -> None:
    text = FRAME.cast({"n": pl.String}).with_columns(
        n=pl.when(pl.int_range(pl.len()) == 3).then(pl.lit("12 EUR")).otherwise(pl.col("n"))
    )
    with pytest.raises(TableError, match=r"'n' must hold numbers.*'12 EUR' on row 4 \(1 such"):
        recipe().features(text)


def test_the_recipe_survives_json() -> None:
    import json

    again = TableRecipe.from_json(json.loads(json.dumps(recipe().to_json())))
    assert again == recipe()
    with pytest.raises(TableError, match="damaged"):
        TableRecipe.from_json({"version": 1})
    with pytest.raises(TableError, match="Update costboost"):
        TableRecipe.from_json({**recipe().to_json(), "version": 99})


@pytest.mark.parametrize(
    ("values", "kind", "first"),
    [
        (["0", "1"], "int", 0),
        (["1.0", "2.0"], "int", 1),
        (["001", "002"], "text", "001"),
        (["True", "False"], "bool", True),
        (["yes", "no"], "text", "yes"),
        (["1.5", "2"], "text", "1.5"),
    ],
)
def test_labels(values: list[str], kind: str, first: object) -> None:
    series = pl.Series("y", values)
    assert label_kind(series) == kind
    assert labels(series, kind).tolist()[0] == first
    assert TableRecipe((), "y", kind).label(values[0]) == first


# --- output ------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arrow", "jsonl"])
def test_batches_written_are_the_table(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"out.{ending}"
    with writer(path) as out:
        for start in range(0, N, 50):
            out.write(FRAME[start : start + 50])
        assert not path.exists()
    found = open_source(path).read()
    assert found.height == N
    assert found["n"].cast(float).to_list() == FRAME["n"].to_list()


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    with pytest.raises(RuntimeError), writer(path) as out:
        out.write(FRAME)
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_places_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    for bad, message in (
        (tmp_path / "no" / "out.csv", "does not exist"),
        (tmp_path / "out.xlsx", "ending"),
        (tmp_path, "is a folder"),
    ):
        with pytest.raises(TableError, match=message), writer(bad):
            pass
