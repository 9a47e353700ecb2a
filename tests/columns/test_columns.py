"""What a column holds is found out, and why it is skipped is said."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import RidgeClassifier as Ridge

from costboost import AdaC2Classifier, ColumnWarning, MinCostClassifier
from costboost.columns import Column, ColumnError, Columns, Exclusion, Notation, TableError
from costboost.columns.inference import ColumnStatistics, column_statistics
from costboost.columns.table import read_values

N = 200
DAYS = [datetime(2025, 1, 1) + timedelta(days=4 * i, hours=i % 24) for i in range(N)]

KINDS = {
    "numbers": (["1", "2.5", "-3e2", None] * 50, "number", True, ""),
    "few numbers and a word": (["2", "3", "4", "5more"] * 50, "category", True, ""),
    "booleans": (["true", "False"] * 100, "boolean", True, ""),
    "few texts": (["CH", "DE", "FR", "NA"] * 50, "category", True, ""),
    "zip codes are numbers": (["8001", "3000"] * 100, "number", True, ""),
    "texts that are ids": ([f"c{i}" for i in range(N)], "category", False, "an id: 200"),
    "consecutive numbers": ([str(7 + i) for i in range(N)], "number", True, ""),
    "constant": (["x"] * N, "category", False, "constant: always x"),
    "empty": ([None] * N, "empty", False, "empty"),
    "only NA": (["NA", "nan"] * 100, "empty", False, "empty"),
    "long texts": (
        [f"{i % 80} " + "lorem ipsum " * 8 for i in range(N)], "text", False, "free text",
    ),
    "iso dates": ([f"{d:%Y-%m-%d}" for d in DAYS], "date", True, "as month, day, weekday"),
    "moments": (
        [f"{d:%Y-%m-%d %H:%M}" for d in DAYS], "date", True, "as month, day, weekday, hour",
    ),
    "german dates": ([f"{d:%d.%m.%Y}" for d in DAYS], "date", True, "as month"),
    "clear slashes": ([f"{d:%d/%m/%Y}" for d in DAYS], "date", True, "as month"),
    "unclear slashes": (
        [f"0{1 + i % 9}/0{1 + i % 7}/2026" for i in range(N)], "date", False, "day or month",
    ),
    "two days": (["2026-01-01", "2026-01-02"] * 100, "date", False, "too short a time"),
    "typed numbers": ([1, 2, None, 4] * 50, "number", True, ""),
    "NaN": ([1.5, float("nan"), 2.0, 3.0] * 50, "number", True, ""),
    "typed booleans": ([True, False] * 100, "boolean", True, ""),
    "typed dates": (DAYS, "date", True, "as month, day, weekday, hour"),
    "lists": ([[1], [2]] * 100, "other", False, "holds List(Int64), which is not used"),
}  # fmt: skip


def column_of(values: pl.Series, asked: str | None = None, keep: bool = False) -> Column:
    statistics = ColumnStatistics(values.name)
    return statistics.add(read_values(values), len(values)).infer(asked, keep=keep)


@pytest.mark.parametrize("case", KINDS)
def test_kinds(case: str) -> None:
    values, kind, is_used, note = KINDS[case]
    found = column_of(pl.Series("x", values))
    assert (found.kind, found.is_used) == (kind, is_used)
    assert note in found.note


def test_ids_by_name() -> None:
    numbers = [str(i * 7919 % 100_003) for i in range(N)]
    ids = pl.Series("customer_id", numbers)
    assert not column_of(ids).is_used
    assert column_of(ids.alias("amount")).is_used
    assert column_of(pl.Series("customer_id", numbers[:100] * 2)).is_used
    assert column_of(ids, keep=True).is_used  # costs need it
    forced = column_of(ids, "category")
    assert (forced.kind, forced.is_used) == ("category", True)


@pytest.mark.parametrize("zone", ["", "Z", "+02:00", "-0530"])
def test_parts_of_dates(zone: str) -> None:
    """Times are in UTC if they say how far from it; rows seen in parts are those seen at once."""
    frame = pl.DataFrame(
        {"t": [f"{d:%Y-%m-%dT%H:%M:%S}{zone}" for d in DAYS], "c": ["a", "b"] * 100}
    )
    parts = [frame[:80], frame[80:].with_columns(c=pl.lit("z"))]
    first, second = map(column_statistics, parts)
    merged = Columns.from_table({name: first[name].merge(second[name]) for name in first})
    assert list(merged) == list(Columns.from_table(pl.concat(parts)))
    assert merged["c"].categories == ("a", "b", "z")
    found = dict(zip(merged.inputs, merged.read(frame).inputs.T, strict=True))
    moments = pd.to_datetime(frame["t"].to_pandas(), utc=True).dt
    for part in ("month", "day", "hour"):
        np.testing.assert_array_equal(found[f"t_{part}"], getattr(moments, part))
    np.testing.assert_array_equal(found["t_weekday"], moments.day_of_week + 1)
    assert merged.inputs == ["t_month", "t_day", "t_weekday", "t_hour", "c"]
    np.testing.assert_array_equal(
        merged.sum_by_column(np.arange(10.0).reshape(2, 5)), [[6, 4], [26, 9]]
    )


def test_numbers_as_categories() -> None:
    frame = pl.DataFrame({"x": [30, 4, None, 200, 4]})
    found = Columns.from_table(frame, kinds={"x": "category"})
    assert found["x"].categories == ("4", "30", "200")
    np.testing.assert_array_equal(found.read(frame).inputs[:, 0], [1, 0, np.nan, 2, 0])
    # Whole numbers are written with a decimal by columns that have missing values.
    np.testing.assert_array_equal(
        found.read({"x": ["4.0", " 30", "200.0"]}).inputs[:, 0], [0, 1, 2]
    )


# Texts of a column, what is said of them, and the options that read them.
OTHER_NOTATIONS = {
    "decimal comma": ([f"{i},5" for i in range(20)], "decimal=',' .*--decimal ','"),
    "both marks": (
        [f"{i}.234,56" for i in range(1, 20)], "decimal=',', thousands='.' .*--thousands '.'",
    ),
    "spaces": ([f"{i} 234" for i in range(1, 20)], "thousands=' ' "),
    "commas of thousands": ([*(f"{i},000,000" for i in range(1, 20)), "12"], "thousands=',' "),
    "currency": ([f"{i} €" for i in range(20)], "the unit removed"),
    "kilograms": ([f"{i}.5 kg" for i in range(20)], "the unit removed"),
    "a word": ([*map(str, range(63)), "k.A."], r"na_values=\['k.A.'\] .*--na 'k.A.'"),
    "a word and a comma": ([*(f"{i},5" for i in range(20)), "-"], "decimal=',' .*--na '-'"),
}  # fmt: skip


@pytest.mark.parametrize("case", OTHER_NOTATIONS)
def test_numbers_in_another_notation_are_no_categories_and_no_ids(case: str) -> None:
    texts, words = OTHER_NOTATIONS[case]
    table = pd.DataFrame({"amount": texts * 3, "b": np.arange(3 * len(texts))})
    with pytest.raises(TableError, match=f"'amount' holds .*{words}.*--column amount=category"):
        Columns.from_table(table)
    asked = Columns.from_table(table, kinds={"amount": "category"})
    assert len(asked["amount"].categories) == len(set(texts))
    ignored = Columns.from_table(table, kinds={"amount": "ignore"})
    assert ignored["amount"].excluded is Exclusion.ON_REQUEST


def test_points_that_may_separate_thousands_are_questioned() -> None:
    table = pd.DataFrame({"amount": ["1.275", "936", "2.365"] * 3})
    with pytest.warns(ColumnWarning, match=r"'1.275' is a little more than 1.*thousands='.'"):
        assert Columns.from_table(table)["amount"].kind == "number"
    for texts in (["1.275", "936", "2.3"], ["0.275", "936", "2.365"], ["1.275", "2.365", "1936"]):
        Columns.from_table(pd.DataFrame({"amount": texts}))  # a warning would be an error
    Columns.from_table(table, kinds={"amount": "number"})
    german = Columns.from_table(table, notation=Notation(decimal=",", thousands="."))
    np.testing.assert_array_equal(german.read(table).inputs[:3, 0], [1275, 936, 2365])
    with pytest.raises(ColumnError, match=r"numbers like 1.234,5, got '1.2' \(row 0"):
        _ = german.read({"amount": ["1.2"]}).inputs


def test_a_notation_is_kept_with_the_columns() -> None:
    notation = Notation(decimal=",", thousands=" ", na=("k.A.",))
    table = pd.DataFrame(
        {"a": ["1 234,5", "k.A.", "7", "1\u00a0000\u202f000"], "b": ["x", "k.A.", "y", "x"]}
    )
    columns = Columns.from_table(table, notation=notation)
    assert columns.notation == notation
    assert columns["b"].categories == ("x", "y") and columns["b"].missing == 1
    expected = [[1234.5, 0], [np.nan, np.nan], [7, 1], [1e6, 0]]
    np.testing.assert_array_equal(columns.read(table).inputs, expected)


def test_zones_of_texts_are_not_mixed() -> None:
    table = pd.DataFrame({"at": ["2025-01-01 10:00", "2025-03-01T10:00Z"] * 20})
    with pytest.raises(ColumnError, match="times of one clock"):
        Columns.from_table(table)
    naive = Columns.from_table(pd.DataFrame({"at": [f"{day:%Y-%m-%d %H:%M}" for day in DAYS]}))
    for times in (["2025-01-01T10:00+01:00"], pd.to_datetime(["2025-01-01"]).tz_localize("UTC")):
        with pytest.raises(ColumnError, match=r"have a time zone \(row 0\), .* fit have none"):
            _ = naive.read({"at": times}).inputs


def queries() -> dict[str, tuple[Any, str]]:
    table = pl.DataFrame({"a": [1.0, 2.0], "b": [2.0, 1.0]})
    found: dict[str, tuple[Any, str]] = {"polars": (table.lazy(), "X.collect()")}
    if find_spec("duckdb") is not None:
        import duckdb

        duckdb.register("rows", table.to_arrow())
        found["duckdb"] = duckdb.table("rows"), "X.df()"
    return found


@pytest.mark.parametrize("name", ["polars", "duckdb"])
def test_queries_are_told_how_to_become_tables(name: str) -> None:
    if name not in queries():
        pytest.skip(f"needs {name}")
    query, remedy = queries()[name]
    for ask in (AdaC2Classifier().fit, lambda X, y: MinCostClassifier(Ridge()).fit(X, y)):
        with pytest.raises(TypeError, match=rf"got a query of {name}. Pass {re.escape(remedy)}"):
            ask(query, [0, 1])
