"""Uncertain costs: forms, brute force over boxes and samples, the messages."""

from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from costboost import AdaC2Classifier
from costboost.costs import Costs, interval, per_row, samples, scenarios
from costboost.decisions import cheapest

same = np.testing.assert_array_equal
CLASSES = ["fraud", "ok"]
FRAUD = interval(100, 300)
DRAWS = samples([90, 120, 700])


def matrix_of(form, classes=CLASSES, **more):
    return Costs.resolve(form, classes=classes, **more).matrix


def frame_of(entry):
    return pd.DataFrame([[0.0, entry], [5.0, 0.0]], CLASSES, CLASSES, dtype=object)


def polars_of(entry):
    columns = {"fraud": [0.0, 5.0], "ok": [entry, 0.0]}
    objects = {name: pl.Series(column, dtype=pl.Object) for name, column in columns.items()}
    return pl.DataFrame({"truth": CLASSES, **objects})


# Fraud costs an uncertain amount if taken for "ok"; a false alarm costs 5.
FORMS = {
    "short": lambda e: {"fn": e, "fp": 5, "positive": "fraud"},
    "pairs": lambda e: {("fraud", "ok"): e, ("ok", "fraud"): 5},
    "list": lambda e: [[0, e], [5, 0]],
    "objects": lambda e: frame_of(e).to_numpy(),
    "pandas": frame_of,
    "pandas, other order": lambda e: frame_of(e).iloc[::-1],
    "pandas, truth in a column": lambda e: frame_of(e).reset_index(),
    "polars": polars_of,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_forms(form):
    found = scenarios(form(FRAUD))
    assert found.is_uncertain
    same(matrix_of(found.expected), [[0, 200], [5, 0]])
    (worst,) = found.worst
    same(matrix_of(worst), [[0, 300], [5, 0]])
    found = scenarios(form(DRAWS))
    np.testing.assert_allclose(matrix_of(found.expected), [[0, 910 / 3], [5, 0]])
    same([matrix_of(one) for one in found.worst], [[[0, x], [5, 0]] for x in (90, 120, 700)])
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(CLASSES * 2)
    with pytest.raises(TypeError, match=r"interval\(100, 300\).*CostBoostClassifier.*expected"):
        AdaC2Classifier(cost_matrix=form(FRAUD)).fit(X, y)


def test_a_pair_in_a_mapping_is_an_interval():
    found = scenarios({("fraud", "ok"): (100, 300), ("ok", "fraud"): 5})
    assert found.expected == {("fraud", "ok"): 200.0, ("ok", "fraud"): 5}
    assert found.worst == [{("fraud", "ok"): 300.0, ("ok", "fraud"): 5}]
    assert scenarios({"fn": (1, 3), "fp": 1, "positive": (0, 1)}).expected["positive"] == (0, 1)
    found = scenarios({"fn": DRAWS, "fp": interval(1, 4)})
    assert [(form["fn"], form["fp"]) for form in found.worst] == [(90, 4), (120, 4), (700, 4)]


@pytest.mark.parametrize(
    "form",
    [
        None,
        {"fn": 5, "fp": 1},
        [[0, 1], [5, 0]],
        np.array([[0, 1], [5, 0]], dtype=object),
        pd.DataFrame([[0, 1], [5, 0]], CLASSES, CLASSES),
        Costs(CLASSES, np.array([[0.0, 1.0], [5.0, 0.0]])),
        per_row(fn=[1.0, 2.0], fp=1.0),
        [[0, 1], [5]],
    ],
    ids=repr,
)
def test_certain_costs_are_themselves(form):
    found = scenarios(form)
    assert not found.is_uncertain
    assert found.expected is form
    assert len(found.worst) == 1 and found.worst[0] is form


def uncertain_amounts(X):
    return interval(per_row(fn=X[:, 0], fp=1), per_row(fn=3 * X[:, 0], fp=1))


def test_functions():
    X = np.array([[10.0], [20.0]])
    found = pickle.loads(pickle.dumps(scenarios(uncertain_amounts)))
    assert callable(found.expected) and not found.is_uncertain
    same(matrix_of(found.expected, [0, 1], X=X), per_row(fn=[20, 40], fp=1))
    with pytest.raises(ValueError, match=r"scenarios\(cost_matrix, X\)"):
        _ = found.worst
    called = scenarios(uncertain_amounts, X)  # gives rows
    assert called.is_uncertain
    same(called.worst, [per_row(fn=[30, 60], fp=1)])
    with pytest.raises(TypeError, match=r"cost_matrix.*CostBoostClassifier"):
        Costs.resolve(uncertain_amounts, classes=[0, 1], X=X)


# -- the worst cost ------------------------------------------------------------------------------


def brute_worst(P, matrices):
    """Largest expected cost of each decision over matrices (S, k, k) or (S, n, k, k)."""
    return np.max(
        [[p @ (M if M.ndim == 2 else M[i]) for i, p in enumerate(P)] for M in np.asarray(matrices)],
        axis=0,
    )


@pytest.mark.parametrize("k", [2, 3])
def test_box_against_its_corners(k):
    """The worst matrix of a box is one matrix, at whatever probabilities; profits included."""
    rng = np.random.default_rng(k)
    low = rng.normal(size=(k, k))
    high = low + rng.exponential(size=(k, k))
    corners = [
        np.where(np.reshape(choice, (k, k)), high, low)
        for choice in itertools.product([False, True], repeat=k * k)
    ]
    P = np.vstack([rng.dirichlet(np.ones(k), size=20), np.eye(k)])
    found = scenarios(interval(low, high))
    (worst,) = (Costs(np.arange(k), form) for form in found.worst)
    np.testing.assert_allclose(worst.expected(P), brute_worst(P, corners))
    np.testing.assert_allclose(found.expected, np.mean(corners, axis=0))


@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_samples_against_brute_force(k, by_row):
    rng = np.random.default_rng(k)
    n, S = 200, 7
    draws = rng.normal(size=(S, n, k, k) if by_row else (S, k, k)) + 6 * (1 - np.eye(k))
    found, P = scenarios(samples(draws)), rng.dirichlet(np.ones(k), size=n)
    assert np.shares_memory(found.worst[0], found.worst[-1].base)  # views: no copies
    name = "costs" if by_row else "cost_matrix"
    costs = [Costs.resolve(**{name: form}, classes=np.arange(k)) for form in found.worst]
    worst = np.max([one.expected(P) for one in costs], axis=0)
    np.testing.assert_allclose(worst, brute_worst(P, draws), rtol=1e-12, atol=1e-12)
    mean = Costs(np.arange(k), found.expected)
    np.testing.assert_allclose(mean.matrix, draws.mean(axis=0))
    assert (cheapest(worst) != mean.decide(P)).any()


# -- small print ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        (FRAUD, "interval(100, 300)"),
        (DRAWS, "samples([90, 120, 700])"),
        (samples(np.zeros((4, 2, 2))), "<4 samples of shape (2, 2)>"),
    ],
)
def test_printed_copied_and_pickled(thing, text):
    for twin in (thing, copy.deepcopy(thing), pickle.loads(pickle.dumps(thing))):
        assert repr(twin) == text


ERRORS = {
    "'low' parameter of interval.*3 > 1. Swap": lambda: interval(3, 1),
    "'high' parameter of interval must be finite": lambda: interval(0, np.inf),
    r"one shape.*\(2,\) and \(3,\)": lambda: interval([1, 2], [1, 2, 3]),
    "'low' parameter of interval must hold numbers": lambda: interval("a", "b"),
    "labels would be lost": lambda: interval({"fn": 1}, {"fn": 2}),
    r"at least one sample.*\(0,\)": lambda: samples([]),
    "'values' parameter of samples must be finite": lambda: samples([1, np.nan]),
    r"samples of one length.*\[2, 3\]": lambda: scenarios(
        {"fn": samples([1, 2]), "fp": samples([1, 2, 3])}
    ),
    r"single entry interval\(100, 300\)": lambda: scenarios(FRAUD),
    "single uncertain numbers": lambda: scenarios({"fn": interval([1, 2], [3, 4]), "fp": 1}),
}


@pytest.mark.parametrize("words", ERRORS)
def test_errors_say_what_to_do(words):
    with pytest.raises((ValueError, TypeError), match=words):
        ERRORS[words]()
