"""What a column holds is found out, and why it is skipped is said."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest

from costboost.columns import Column, Columns
from costboost.columns.columns import look

N = 200
DAYS = [datetime(2025, 1, 1) + timedelta(days=4 * i, hours=i % 24) for i in range(N)]

KINDS = {
    "numbers": (["1", "2.5", "-3e2", None] * 50, "number", True, ""),
    "decimal comma": (["1,5", "2", "-3,25", "0,1"] * 50, "number", True, "decimal comma"),
    "a mark": (["1", "?", "3", "4"] * 50, "number", True, "'?' read as missing, 50 rows"),
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
    return look(values.to_frame())[values.name].column(asked, keep)


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
    first, second = map(look, parts)
    merged = Columns.learn({name: first[name].merge(second[name]) for name in first})
    assert list(merged) == list(Columns.learn(pl.concat(parts)))
    assert merged["c"].categories == ("a", "b", "z")
    found = dict(zip(merged.inputs, merged.encode(frame).T, strict=True))
    moments = pd.to_datetime(frame["t"].to_pandas(), utc=True).dt
    for part in ("month", "day", "hour"):
        np.testing.assert_array_equal(found[f"t_{part}"], getattr(moments, part))
    np.testing.assert_array_equal(found["t_weekday"], moments.day_of_week + 1)
    assert merged.inputs == ["t_month", "t_day", "t_weekday", "t_hour", "c"]
    np.testing.assert_array_equal(
        merged.by_column(np.arange(10.0).reshape(2, 5)), [[6, 4], [26, 9]]
    )


def test_numbers_as_categories() -> None:
    frame = pl.DataFrame({"x": [30, 4, None, 200, 4]})
    found = Columns.learn(frame, {"x": "category"})
    assert found["x"].categories == ("4", "30", "200")
    np.testing.assert_array_equal(found.encode(frame)[:, 0], [1, 0, np.nan, 2, 0])
    # Whole numbers are written with a decimal by columns that have missing values.
    np.testing.assert_array_equal(found.encode({"x": ["4.0", " 30", "200.0"]})[:, 0], [0, 1, 2])
