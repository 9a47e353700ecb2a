"""How a file was written is found out."""

from __future__ import annotations

from pathlib import Path

import pytest

from costboost.columns import TableError, open_source
from costboost.columns.files import _DELIMITERS, delimiter_of, encoding_of

ROWS = [["Größe", "note", "n"], ["1.5", "a b", "1"], ["2.5", "é", "2"], ["3.5", "", "3"]]
ENCODINGS = ["utf-8", "utf-8-sig", "cp1252", "utf-16"]


@pytest.mark.parametrize("delimiter", _DELIMITERS)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_rows_come_back_whatever_the_encoding(
    tmp_path: Path, delimiter: str, encoding: str
) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("\n".join(delimiter.join(row) for row in ROWS).encode(encoding))
    source = open_source(path)
    assert (source.delimiter, source.encoding) == (delimiter, encoding)
    frame = source.read()
    assert frame.columns == ROWS[0]
    assert [[value or "" for value in row] for row in frame.rows()] == ROWS[1:]


def test_decimal_commas_do_not_hide_semicolons() -> None:
    assert delimiter_of("a;b\n1,5;2,5\n3,5;4,5\n") == ";"


def test_delimiters_in_quotes_do_not_count() -> None:
    assert delimiter_of('a|b\n"x,y,z"|1\n"u,v"|2\n') == "|"


def test_one_column_has_a_comma() -> None:
    assert delimiter_of("a\n1\n2\n") == ","


def test_a_head_may_end_within_a_character() -> None:
    head = "größ".encode()[:-1]
    assert encoding_of(head, is_whole=False) == "utf-8"
    assert encoding_of(head) == "cp1252"


def test_an_accent_after_the_first_megabyte_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "late.csv"
    path.write_bytes(b"a,b\n" + b"1,x\n" * 300_000 + "2,é\n".encode("latin-1"))
    assert open_source(path).encoding == "cp1252"
    assert open_source(path).read()["b"][-1] == "é"


def test_a_wrong_delimiter_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a;b\n1;2\n")
    with pytest.raises(TableError, match="looks like semicolon"):
        open_source(path, delimiter="|")


def test_an_unknown_or_wrong_encoding_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("a,b\n1,é\n".encode("latin-1"))
    with pytest.raises(TableError, match="--encoding must be one that Python knows"):
        open_source(path, encoding="utf-9")
    with pytest.raises(TableError, match="not written in utf-16"):
        open_source(path, encoding="utf-16").read()
