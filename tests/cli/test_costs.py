"""Costs as they are typed become the costs that the library takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from costboost.cli.problem import has_label, label_names, read_costs, truth, typed_costs
from costboost.columns import TableError
from costboost.costs import Costs


@pytest.mark.parametrize(
    ("entries", "classes", "positive", "matrix"),
    [
        (["fn=5", "fp=1", "tp=-2"], ["bad", "good"], "bad", [[-2, 5], [1, 0]]),
        (["fn=5", "fp=1"], [0, 1], None, [[0, 1], [5, 0]]),  # usual labels name no positive class
        (["fn=5", "fp=1"], [-1, 1], None, [[0, 1], [5, 0]]),
        (["1:2=3", "2:1=4", "1:1=0", "2:2=0"], [1, 2], None, [[0, 3], [4, 0]]),
        ("truth,1,2\n1,0,3\n2,4,0\n", [1, 2], None, [[0, 3], [4, 0]]),
    ],
)
def test_typed_costs(tmp_path, entries, classes, positive, matrix) -> None:
    table = None
    if isinstance(entries, str):
        table = tmp_path / "costs.csv"
        table.write_text(entries)
        entries = []
    form, _ = read_costs(typed_costs(entries, table), classes, positive, "y")
    assert np.asarray(Costs.resolve(form, classes=classes).matrix).tolist() == matrix


def test_decisions_that_are_no_classes(tmp_path: Path) -> None:
    (tmp_path / "costs.tsv").write_text("truth\taccept\treview\n0\t0\t4\n1\tamount\t4\n2\t9\t9\n")
    entries = typed_costs([], tmp_path / "costs.tsv")
    form, _ = read_costs(entries, [0, 1], None, "y")
    priced = np.asarray(Costs.resolve(form, classes=[0, 1], X=pl.DataFrame({"amount": [7.0]})))
    assert priced.tolist() == [[[0, 4], [7, 4]]]  # no row of the class 2


def test_what_cannot_be(tmp_path: Path) -> None:
    path = tmp_path / "costs.csv"
    with pytest.raises(TableError, match="not both"):
        typed_costs(["fn=1"], path)
    with pytest.raises(TableError, match="all as truth:decision"):
        typed_costs(["fn=1", "a:b=2"], None)
    for text, message in (
        ("truth,a,b\na,0,\nb,1,0\n", "no cost for the truth 'a' and the decision 'b'"),
        ("truth,a\na,0\nb,1\n", "at least two"),
    ):
        path.write_text(text)
        with pytest.raises(TableError, match=message):
            typed_costs([], path)


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        (["0", "1.0"], [0, 1]),
        (["001", "002"], ["001", "002"]),
        (["True", "False"], [False, True]),
        (["yes", " no "], ["no", "yes"]),
        (["1.5", "2"], ["1.5", "2"]),
    ],
)
def test_labels(values: list[str], classes: list[object]) -> None:
    series = pl.Series("y", [*values, None])
    assert sorted(label_names(series).values()) == classes
    assert has_label(series).tolist() == [True, True, False]
    assert truth(series[:2], classes, "file").tolist() == list(label_names(series).values())
    with pytest.raises(TableError, match="must hold the classes"):
        truth(pl.Series("y", ["other"]), classes, "file")
