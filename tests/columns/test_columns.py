"""What a column holds is found out, and why it is skipped is said."""

from __future__ import annotations

from datetime import datetime, timedelta

import polars as pl
import pytest

from costboost.columns import Column, infer_column, tells_target

N = 200
DAYS = [datetime(2025, 1, 1) + timedelta(days=4 * i, hours=i % 24) for i in range(N)]

KINDS = {
    "numbers": (["1", "2.5", "-3e2", None] * 50, "number", "feature", ""),
    "decimal comma": (["1,5", "2", "-3,25", "0,1"] * 50, "number", "feature", "decimal comma"),
    "a mark": (["1", "?", "3", "4"] * 50, "number", "feature", "'?' read as missing, 50 rows"),
    "booleans": (["true", "False"] * 100, "boolean", "feature", ""),
    "few texts": (["CH", "DE", "FR", "NA"] * 50, "category", "feature", "3 values"),
    "zip codes are numbers": (["8001", "3000"] * 100, "number", "feature", ""),
    "texts that are ids": ([f"c{i}" for i in range(N)], "category", "skipped", "an id: 200"),
    "consecutive numbers": ([str(7 + i) for i in range(N)], "number", "skipped", "an id"),
    "constant": (["x"] * N, "category", "skipped", "constant: always x"),
    "empty": ([None] * N, "category", "skipped", "empty"),
    "only NA": (["NA", "nan"] * 100, "category", "skipped", "empty"),
    "long texts": (
        [f"{i % 80} " + "lorem ipsum " * 8 for i in range(N)], "category", "skipped", "free text",
    ),
    "iso dates": ([f"{d:%Y-%m-%d}" for d in DAYS], "date", "feature", "as month, day, weekday"),
    "moments": (
        [f"{d:%Y-%m-%d %H:%M}" for d in DAYS], "date", "feature", "as month, day, weekday, hour",
    ),
    "german dates": ([f"{d:%d.%m.%Y}" for d in DAYS], "date", "feature", "as month"),
    "clear slashes": ([f"{d:%d/%m/%Y}" for d in DAYS], "date", "feature", "as month"),
    "unclear slashes": (
        [f"0{1 + i % 9}/0{1 + i % 7}/2026" for i in range(N)], "date", "skipped", "day or month",
    ),
    "two days": (["2026-01-01", "2026-01-02"] * 100, "date", "skipped", "too short a time"),
}  # fmt: skip


@pytest.mark.parametrize("case", KINDS)
def test_kinds(case: str) -> None:
    values, kind, role, reason = KINDS[case]
    found = infer_column(pl.Series("x", values, dtype=pl.String))
    assert (found.kind, found.role) == (kind, role)
    assert found.reason.startswith(reason) or (reason and reason in found.reason)


def test_ids_by_name() -> None:
    numbers = [str(i * 7919 % 100_003) for i in range(N)]
    assert infer_column(pl.Series("customer_id", numbers)).role == "skipped"
    assert infer_column(pl.Series("amount", numbers)).role == "feature"
    assert infer_column(pl.Series("customer_id", numbers[:100] * 2)).role == "feature"


def test_costs_keep_a_column_and_people_may_insist() -> None:
    assert infer_column(pl.Series("x", ["3"] * N), keep=True).role == "feature"
    forced = infer_column(pl.Series("x", [str(i) for i in range(N)]), force_category=True)
    assert (forced.kind, forced.role) == ("category", "feature")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2, None] * 60, "number"),
        ([1.5, float("nan"), 2.0] * 60, "number"),
        ([True, False] * 60, "boolean"),
        (DAYS, "date"),
        (["1", "2"] * 60, "number"),
        ([[1], [2]] * 60, "nested"),
    ],
)
def test_typed_columns(values: list[object], kind: str) -> None:
    assert infer_column(pl.Series("x", values)).kind == kind


def test_values_are_read_as_the_column_says() -> None:
    raw = pl.DataFrame({"x": [" 1,5", "?", "NA", None, "oops"]})
    column = Column("x", "number", decimal=",", missing="?")
    read = raw.select(column.typed(pl.col("x"), pl.String)).to_series()
    assert read.to_list() == [1.5, None, None, None, None]
    assert column.is_missing(raw["x"]).to_list() == [False, True, True, True, False]


def test_json_round_trip() -> None:
    column = Column("x", "date", "time", "why", format="%Y", parts=("month", "hour"))
    assert Column.from_json(column.to_json()) == column
    assert Column.from_json(Column("a", "number").to_json()) == Column("a", "number")


def test_a_column_that_tells_the_target_is_noticed() -> None:
    frame = pl.DataFrame(
        {
            "y": ["a", "b"] * 100,
            "leak": [1, 2] * 100,
            "finer": [1, 2, 3, 4] * 50,
            "innocent": [1, 1, 2, 2] * 50,
        }
    )
    assert [tells_target(frame, name, "y") for name in ("leak", "finer", "innocent")] == [
        True, True, False,
    ]  # fmt: skip
