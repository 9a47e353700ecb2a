"""Files of every kind give the same table, and appear only when they are whole."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from costboost.columns import Columns, TableError, open_source, writer
from costboost.columns.files import _remove, _scratch, delimiter_of
from costboost.gbm.parquet import _PREFIX

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
COLUMNS = Columns.from_table(pl.read_csv(FRAME.write_csv().encode(), infer_schema=False).drop("y"))


WRITE = {
    "csv": FRAME.write_csv,
    "csv.gz": lambda path: path.write_bytes(gzip.compress(FRAME.write_csv().encode())),
    "tsv": lambda path: FRAME.write_csv(path, separator="\t"),
    "parquet": FRAME.write_parquet,
    "arrow": FRAME.write_ipc,
    "jsonl": FRAME.write_ndjson,
}


@pytest.mark.parametrize("ending", WRITE)
def test_every_format_gives_the_same_features(tmp_path: Path, ending: str) -> None:
    WRITE[ending](tmp_path / f"rows.{ending}")
    frame = open_source(tmp_path / f"rows.{ending}").read()
    found = dict(zip(COLUMNS.inputs, COLUMNS.read(frame).inputs.T, strict=True))
    parts = ["when_day", "when_weekday", "when_hour"]  # less than two years: no months
    assert list(found) == ["n", "word", *parts, "flag"]
    np.testing.assert_array_equal(found["n"], FRAME["n"].to_numpy())
    assert np.isnan(found["word"]).sum() == N // 3
    np.testing.assert_array_equal(found["flag"], FRAME["flag"].cast(float).to_numpy())
    moments = pd.to_datetime(FRAME["when"].to_pandas())
    np.testing.assert_array_equal(found["when_hour"], moments.dt.hour)


def test_patterns_folders_streams_and_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    FRAME[:50].write_csv(tmp_path / "a.csv")
    FRAME[50:].write_csv(tmp_path / "b.csv")
    source = open_source(str(tmp_path / "[ab].csv"))
    whole = source.read()
    assert whole.rows() == pl.read_csv(FRAME.write_csv().encode(), infer_schema=False).rows()
    assert open_source(tmp_path).read().equals(whole)
    parts = list(source.batches(7))
    assert len(parts) > 1
    assert pl.concat(parts).equals(whole)
    (tmp_path / "d.csv").write_text("n,word\n1,a\n")
    with pytest.raises(TableError, match="differ in the columns 'flag', 'when', 'y'"):
        open_source(str(tmp_path / "*.csv")).read()
    FRAME.write_parquet(tmp_path / "c.parquet")
    for name, n in {"a.csv": 50, "c.parquet": N}.items():
        with (tmp_path / name).open() as stream:
            monkeypatch.setattr("sys.stdin", stream)
            assert open_source("-").read().height == n
    with pytest.raises(TableError, match=r"files of several kinds: a\.csv \(csv\)"):
        open_source(tmp_path)


# A file, what is asked for, and what is said of it.
WRONG = {
    "nothing": ("rows.csv", b"", {}, "is empty"),
    "blank lines": ("rows.csv", b"\n\n", {}, "is empty"),
    "old ends of lines": ("rows.csv", b"a,b\r1,2\r", {}, "end with a carriage return alone"),
    "only names": ("rows.csv", b"a,b\n", {}, "no rows"),
    "another name": ("rows.csv", b"a,b\n", {"spec": "row.csv"}, r"row\.csv.* mean .*rows\.csv"),
    "far name": ("a.parquet", b"", {"spec": "b.parquet"}, r"There is no file .*b\.parquet\.$"),
    "no table": ("rows.costboost", b"", {"spec": "row.csv"}, r"There is no file .*\.csv\.$"),
    "pattern": ("rows.csv", b"a\n1\n", {"spec": "*.parquet"}, "No file matches"),
    "empty folder": ("rows.costboost", b"", {"spec": "."}, "No CSV, Parquet, Arrow"),
    "no Parquet": ("rows.parquet", b"a,b\n1,2\n", {}, "is not one"),
    "twice, by ;": ("rows.csv", b'a;"b";b;;\n1,2,3,4,5\n', {}, "more than one column named 'b'"),
    "long delimiter": ("rows.csv", b"a;b\n1;2\n", {"delimiter": "::"}, "must be one character"),
    "encoding": ("rows.csv", b"a;b\n1;\xe9\n", {"encoding": "utf-9"}, "one that Python knows"),
    "utf-16": ("rows.csv", b"a;b\n1;\xe9\n", {"encoding": "utf-16"}, "not written in utf-16"),
}


@pytest.mark.parametrize("case", WRONG)
def test_files_that_are_not_what_they_seem(tmp_path: Path, case: str) -> None:
    name, content, asked, words = WRONG[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=words):
        open_source(tmp_path / asked.pop("spec", name), **asked).read()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_encodings_and_delimiters_are_found_out(tmp_path, delimiter, encoding) -> None:
    rows = [["Größe", "note", "n"], ["1.5", "a b", "1"], ["2.5", "é", "2"], ["3.5", "", "3"]]
    path = tmp_path / "rows.csv"
    path.write_bytes("\n".join(delimiter.join(row) for row in rows).encode(encoding))
    source = open_source(path)
    assert (source.delimiter, source.encoding) == (delimiter, encoding)
    frame = source.read()
    assert frame.columns == rows[0]
    assert [[value or "" for value in row] for row in frame.rows()] == rows[1:]


def test_hard_cases_of_delimiters_and_encodings(tmp_path: Path) -> None:
    assert delimiter_of("a;b\n1,5;2,5\n3,5;4,5\n") == ";"  # decimal commas
    assert delimiter_of('a|b\n"x,y,z"|1\n"u,v"|2\n') == "|"  # commas in quotes
    assert delimiter_of("x, y, z;b\n1;2\n3;4\n") == ";"  # the same number in every line
    path = tmp_path / "late.csv"
    path.write_bytes("a,b\n1,größ".encode()[:-1])  # ends within a character
    assert open_source(path).encoding == "cp1252"
    # An accent after the first megabyte.
    path.write_bytes(b"a,b\n" + b"1,x\n" * 300_000 + "2,é\n".encode("latin-1"))
    source = open_source(path)
    assert (source.encoding, source.read()["b"][-1]) == ("cp1252", "é")
    # The file in UTF-8 outlives forked processes, and fits that clear their folders away.
    assert not _scratch().name.startswith(_PREFIX)
    _remove(_scratch(), os.getpid() + 1)
    assert source.read()["b"][-1] == "é"


def test_wide_tables_long_fields_empty_columns_and_ends_of_lines(tmp_path: Path) -> None:
    path, names = tmp_path / "rows.csv", [f"column_{i}" for i in range(20_000)]
    path.write_text(",".join(names) + "\n" + ",".join("1" * len(names)) + "\n")
    assert open_source(path).read().columns == names
    path.write_text(f'a;b\n1;{"x" * 140_000}\n2;"{"y;" * 70_000}"\n')
    assert open_source(path).read()["b"].str.len_chars().to_list() == [140_000, 140_000]
    for end in ("\n", "\r\n"):
        path.write_bytes(f'a,b{end}1,"x, y"{end}2,z{end}'.encode())
        assert open_source(path).read().rows() == [("1", "x, y"), ("2", "z")]
    path.write_text("a,b,,\n1,2,,\n")  # as spreadsheets leave columns at the end
    assert open_source(path).read().rows() == [("1", "2", None, None)]


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arrow", "jsonl"])
def test_batches_written_are_the_table(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"out.{ending}"
    path.write_text("old")
    with pytest.raises(RuntimeError), writer(path) as write:
        write(FRAME)
        raise RuntimeError
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
    with writer(path) as write:
        for start in range(0, N, 50):
            write(FRAME[start : start + 50])
        assert path.read_text() == "old"
    source = open_source(path)
    assert source.delimiter == {"csv": ",", "tsv": "\t"}.get(ending, "")
    assert source.read()["n"].cast(float).to_list() == FRAME["n"].to_list()
