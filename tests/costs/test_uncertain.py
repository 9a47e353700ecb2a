"""Uncertain costs: forms, brute force over boxes and samples, the messages."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from costboost import AdaC2Classifier
from costboost.costs import Costs, interval, per_row, samples, scenarios

same = np.testing.assert_array_equal
CLASSES = ["fraud", "ok"]
FRAUD = interval(100, 300)
DRAWS = samples([90, 120, 700])


def matrix_of(form, classes=CLASSES, **more):
    return Costs.resolve(form, classes=classes, **more).matrix


def frame_of(entry):
    return pd.DataFrame([[0.0, entry], [5.0, 0.0]], CLASSES, CLASSES, dtype=object)


def polars_of(entry):
    column = pl.Series([entry, 0.0], dtype=pl.Object)
    return pl.DataFrame({"truth": CLASSES, "fraud": [0.0, 5.0], "ok": column})


# Fraud costs an uncertain amount if taken for "ok"; a false alarm costs 5.
FORMS = {
    "short": lambda e: {"fn": e, "fp": 5, "positive": "fraud"},
    "pairs": lambda e: {("fraud", "ok"): e, ("ok", "fraud"): 5},
    "list": lambda e: [[0, e], [5, 0]],
    "pandas": frame_of,
    "pandas, truth in a column": lambda e: frame_of(e).iloc[::-1].reset_index(),
    "polars": polars_of,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_forms(form):
    for entry, mean, worst in ((FRAUD, 200, [300]), (DRAWS, 910 / 3, [90, 120, 700])):
        found = scenarios(form(entry))
        assert found.is_uncertain
        np.testing.assert_allclose(matrix_of(found.expected), [[0, mean], [5, 0]])
        same([matrix_of(one) for one in found.worst], [[[0, x], [5, 0]] for x in worst])
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(CLASSES * 2)
    with pytest.raises(TypeError, match=r"interval\(100, 300\).*CostBoostClassifier.*expected"):
        AdaC2Classifier(cost_matrix=form(FRAUD)).fit(X, y)


def test_entries_of_several_kinds_and_of_rows():
    found = scenarios({"fn": DRAWS, "fp": interval(1, 4), "positive": "fraud"})
    assert [tuple(form.values()) for form in found.worst] == [
        (draw, 4, "fraud") for draw in (90, 120, 700)
    ]
    found = scenarios({"fn": interval([1, 2], [3, 6]), "fp": samples([[1, 1], [5, 7]])})
    same([form["fn"] for form in found.worst], [[3, 6], [3, 6]])
    same([form["fp"] for form in found.worst], [[1, 1], [5, 7]])
    same(matrix_of(found.expected, [0, 1]), per_row(fn=[2, 4], fp=[3, 4]))


def test_certain_costs_are_themselves():
    rows, costs = per_row(fn=[1.0, 2.0], fp=1.0), Costs(CLASSES, np.eye(2))
    for form in (
        None,
        {"fn": 5, "fp": 1},
        [[0, 1], [5, 0]],
        [[0, 1], [5]],
        frame_of(1),
        rows,
        costs,
    ):
        found = scenarios(form)
        assert not found.is_uncertain and found.expected is form
        assert len(found.worst) == 1 and found.worst[0] is form


@pytest.mark.parametrize("k", [2, 3])
def test_box_against_its_corners(k):
    """The worst matrix of a box is one matrix, at whatever probabilities; profits included."""
    rng = np.random.default_rng(k)
    low = rng.normal(size=(k, k)) + 6 * (1 - np.eye(k))
    high = low + rng.exponential(size=(k, k))
    choices = itertools.product([False, True], repeat=k * k)
    corners = [np.where(np.reshape(choice, (k, k)), high, low) for choice in choices]
    P = np.vstack([rng.dirichlet(np.ones(k), size=20), np.eye(k)])
    found = scenarios({(i, j): interval(low[i, j], high[i, j]) for i, j in np.ndindex(k, k)})
    (worst,) = (Costs.resolve(form, classes=np.arange(k)) for form in found.worst)
    np.testing.assert_allclose(worst.expected(P), np.max([P @ M for M in corners], axis=0))
    np.testing.assert_allclose(matrix_of(found.expected, range(k)), np.mean(corners, axis=0))


def test_printed_and_pickled():
    rows = [interval([1, 2], 3), samples(np.zeros((4, 2)))]
    said = "[interval(100, 300), samples([90, 120, 700]), <interval of 2 rows>, "
    said += "<4 samples of 2 rows>]"
    assert repr(pickle.loads(pickle.dumps([FRAUD, DRAWS, *rows]))) == said


ERRORS = {
    "'low' parameter of interval.*3 > 1. Swap": lambda: interval(3, 1),
    "'high' parameter of interval must be finite": lambda: interval(0, np.inf),
    "labels would be lost": lambda: interval(pd.Series([1.0]), 2),
    r"at least one sample.*\(0,\)": lambda: samples([]),
    r"samples of one length.*\[2, 3\]": lambda: scenarios(
        {"fn": samples([1, 2]), "fp": samples([1, 2, 3])}
    ),
    r"one price per row for deciding 0 when the truth is 1, got shape \(1, 2\)": lambda: matrix_of(
        scenarios({"fn": interval([[1, 2]], 4), "fp": 1}).expected, [0, 1]
    ),
    r"the uncertain interval\(100, 300\).*entries": lambda: matrix_of(FRAUD, means=True),
}


@pytest.mark.parametrize("words", ERRORS)
def test_errors_say_what_to_do(words):
    with pytest.raises((ValueError, TypeError), match=words):
        ERRORS[words]()
