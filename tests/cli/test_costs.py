"""Costs and labels as they are typed become those that the library takes."""

import numpy as np
import polars as pl
import pytest

from costboost.cli.problem import has_label, label_names, read_costs, truth, typed_costs
from costboost.columns import TableError
from helpers.costs import costs_of_rows

REVIEW = "truth\taccept\treview\n0\t0\t4\n1\tamount\t4\n2\t9\t9\n"  # no row is of the class 2


@pytest.mark.parametrize(
    ("given", "classes", "positive", "matrix"),
    [
        (["fn=5", "fp=1", "tp=-2"], ["bad", "good"], "bad", [[-2, 5], [1, 0]]),
        (["fn=5", "fp=1"], [0, 1], None, [[0, 1], [5, 0]]),  # usual labels name no positive class
        (["fn=5", "fp=1"], [-1, 1], None, [[0, 1], [5, 0]]),
        (["1:2=3", "2:1=4", "1:1=0", "2:2=0"], [1, 2], None, [[0, 3], [4, 0]]),
        ("truth,1,2\n1,0,3\n2,4,0\n", [1, 2], None, [[0, 3], [4, 0]]),
        (REVIEW, [0, 1], None, [[[0, 4], [7, 4]]]),
        (["fn=1", "a:b=2"], [0, 1], None, "all as truth:decision"),
        (["fn=1", "fn=2"], [0, 1], None, "given twice"),
        ("truth,a,b\na,0,\nb,1,0\n", ["a", "b"], None, "no cost for the truth 'a' and the deci"),
        ("truth,a\na,0\nb,1\n", ["a", "b"], None, "at least two"),
    ],
)
def test_typed_costs(tmp_path, given, classes, positive, matrix):
    table, entries = None, given
    if isinstance(given, str):
        table, entries = tmp_path / "costs.csv", []
        table.write_text(given)
        with pytest.raises(TableError, match="not both"):
            typed_costs(["fn=1"], table)
    if isinstance(matrix, str):
        with pytest.raises(TableError, match=matrix):
            typed_costs(entries, table)
        return
    form, _ = read_costs(typed_costs(entries, table), classes, positive, "y")
    found = costs_of_rows(form, classes=classes, X=pl.DataFrame({"amount": [7.0]}))
    assert np.asarray(found.matrix).tolist() == matrix


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
def test_labels(values, classes):
    series = pl.Series("y", [*values, None])
    assert sorted(label_names(series).values()) == classes
    assert has_label(series).tolist() == [True, True, False]
    assert truth(series[:2], classes, "file").tolist() == list(label_names(series).values())
    for other, message in ((["other"], "must hold the classes"), ([None], "is missing on 1 rows")):
        with pytest.raises(TableError, match=message):
            truth(pl.Series("y", other, pl.String), classes, "file")
