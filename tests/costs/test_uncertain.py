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

CLASSES = ["fraud", "ok"]
FRAUD = interval(100, 300)
DRAWS = samples([90, 120, 700])


def resolved(form, classes=CLASSES, **kw):
    return Costs.resolve(form, classes=classes, **kw)


def all_of(found, k, *, rows=False, **kw):
    """The scenarios, resolved."""
    classes = np.arange(k)
    if rows:
        return [Costs.resolve(costs=form, classes=classes, **kw) for form in found.worst]
    return [Costs.resolve(form, classes=classes, **kw) for form in found.worst]


def entries(k, at, entry, fill=5.0):
    """A (k, k) object array of `fill` with one uncertain entry."""
    array = np.full((k, k), fill, dtype=object)
    np.fill_diagonal(array, 0.0)
    array[at] = entry
    return array


def polars_objects(values):
    return pl.DataFrame(
        {
            "truth": CLASSES,
            **{
                name: pl.Series(list(column), dtype=pl.Object)
                for name, column in zip(CLASSES, values.T, strict=True)
            },
        }
    )


# Fraud costs an uncertain amount if taken for "ok"; a false alarm costs 5.
FORMS = {
    "short": lambda e: {"fn": e, "fp": 5, "positive": "fraud"},
    "pairs": lambda e: {("fraud", "ok"): e, ("ok", "fraud"): 5},
    "list": lambda e: [[0, e], [5, 0]],
    "objects": lambda e: entries(2, (0, 1), e),
    "pandas": lambda e: pd.DataFrame(entries(2, (0, 1), e), CLASSES, CLASSES),
    "pandas, other order": lambda e: pd.DataFrame(entries(2, (0, 1), e), CLASSES, CLASSES).iloc[
        ::-1
    ],
    "pandas, truth in a column": lambda e: pd.DataFrame(
        entries(2, (0, 1), e), CLASSES, CLASSES
    ).reset_index(),
    "polars": lambda e: polars_objects(entries(2, (0, 1), e)),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
class TestForms:
    def test_interval(self, form):
        given = form(FRAUD)
        found = scenarios(given)
        assert found.is_uncertain
        np.testing.assert_array_equal(resolved(found.expected).matrix, [[0, 200], [5, 0]])
        (worst,) = found.worst
        np.testing.assert_array_equal(resolved(worst).matrix, [[0, 300], [5, 0]])

    def test_samples(self, form):
        found = scenarios(form(DRAWS))
        expected = resolved(found.expected).matrix
        np.testing.assert_allclose(expected, [[0, 910 / 3], [5, 0]])
        assert [resolved(f).matrix[0, 1] for f in found.worst] == [90, 120, 700]
        assert all(resolved(f).matrix[1, 0] == 5 for f in found.worst)

    def test_other_estimators_say_who_takes_them(self, form):
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
        np.array([[0, 1], [5, 0]]),
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


class TestWhole:
    low = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0], [2.0, 2.0, -1.0]])

    def test_matrix(self):
        found = scenarios(interval(self.low, self.low + 2))
        np.testing.assert_array_equal(found.expected, self.low + 1)
        np.testing.assert_array_equal(found.worst, [self.low + 2])
        assert resolved(found.expected, ["a", "b", "c"]).matrix.shape == (3, 3)

    @pytest.mark.parametrize("S", [1, 4])
    def test_rows(self, S):
        draws = np.random.default_rng(0).uniform(size=(S, 6, 3, 3))
        found = scenarios(samples(draws))
        np.testing.assert_allclose(found.expected, draws.mean(axis=0))
        assert [c.matrix.shape for c in all_of(found, 3, rows=True)] == [(6, 3, 3)] * S
        assert np.shares_memory(found.worst[0], found.worst[-1].base)  # views: no copies


def uncertain_amounts(X):
    return interval(per_row(fn=X[:, 0], fp=1), per_row(fn=3 * X[:, 0], fp=1))


class TestFunctions:
    X = np.array([[10.0], [20.0]])

    def test_a_function_stays_one(self):
        found = pickle.loads(pickle.dumps(scenarios(uncertain_amounts)))
        assert callable(found.expected) and not found.is_uncertain
        costs = Costs.resolve(found.expected, classes=[0, 1], X=self.X)
        np.testing.assert_array_equal(costs.matrix, per_row(fn=[20, 40], fp=1))
        with pytest.raises(ValueError, match=r"scenarios\(cost_matrix, X\)"):
            _ = found.worst

    def test_a_called_function_gives_rows(self):
        found = scenarios(uncertain_amounts, self.X)
        assert found.is_uncertain
        (worst,) = all_of(found, 2, rows=True)
        np.testing.assert_array_equal(worst.matrix, per_row(fn=[30, 60], fp=1))

    def test_elsewhere_it_is_refused(self):
        with pytest.raises(TypeError, match=r"cost_matrix.*CostBoostClassifier"):
            Costs.resolve(uncertain_amounts, classes=[0, 1], X=self.X)


# --- the worst bill -------------------------------------------------------------------------


def simplex(rng, n, k):
    return rng.dirichlet(np.ones(k), size=n)


def brute_worst(P, matrices):
    """Largest expected cost of each decision over matrices (S, k, k) or (S, n, k, k)."""
    return np.max(
        [
            [p @ (M if M.ndim == 2 else M[i]) for i, p in enumerate(P)]
            for M in np.asarray(matrices, dtype=float)
        ],
        axis=0,
    )


def assert_best(decisions, bills):
    rows = np.arange(len(bills))
    np.testing.assert_allclose(bills[rows, decisions], bills.min(axis=1), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("seed", range(2))
def test_box_against_its_corners(k, seed):
    """The worst matrix of a box is one matrix, at whatever probabilities; profits included."""
    rng = np.random.default_rng(seed)
    low = rng.normal(size=(k, k))
    high = low + rng.exponential(size=(k, k))
    corners = [
        np.where(np.reshape(choice, (k, k)), high, low)
        for choice in itertools.product([False, True], repeat=k * k)
    ]
    P = np.vstack([simplex(rng, 20, k), np.eye(k)])
    bills = brute_worst(P, corners)
    (worst,) = (Costs(np.arange(k), form) for form in scenarios(interval(low, high)).worst)
    np.testing.assert_allclose(worst.expected(P), bills)
    assert_best(worst.decide(P), bills)
    middle = np.mean(corners, axis=0)
    np.testing.assert_allclose(scenarios(interval(low, high)).expected, middle)


@pytest.mark.parametrize("per_row_matrices", [False, True])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_samples_against_brute_force(k, per_row_matrices):
    rng = np.random.default_rng(k)
    n, S = 200, 7
    shape = (S, n, k, k) if per_row_matrices else (S, k, k)
    draws = rng.normal(size=shape) + 6 * (1 - np.eye(k))
    found = scenarios(samples(draws))
    P = simplex(rng, n, k)
    costs = all_of(found, k, rows=per_row_matrices)
    decisions = cheapest(np.max([one.expected(P) for one in costs], axis=0))
    assert_best(decisions, brute_worst(P, draws))
    mean = Costs(np.arange(k), found.expected)
    bills = np.mean([c.expected(P) for c in costs], axis=0)
    assert_best(mean.decide(P), bills)
    assert (decisions != mean.decide(P)).any()


# --- small print ----------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: interval(3, 1), ValueError, "'low' parameter of interval.*3 > 1. Swap"),
        (lambda: interval(0, np.inf), ValueError, "'high' parameter of interval must be finite"),
        (lambda: interval([1, 2], [1, 2, 3]), ValueError, r"one shape.*\(2,\) and \(3,\)"),
        (lambda: interval("a", "b"), TypeError, "'low' parameter of interval must hold numbers"),
        (lambda: interval({"fn": 1}, {"fn": 2}), TypeError, "labels would be lost"),
        (lambda: samples([]), ValueError, r"at least one sample.*\(0,\)"),
        (lambda: samples([1, np.nan]), ValueError, "'values' parameter of samples must be finite"),
        (
            lambda: scenarios({"fn": samples([1, 2]), "fp": samples([1, 2, 3])}),
            ValueError,
            r"samples of one length.*\[2, 3\]",
        ),
        (lambda: scenarios(FRAUD), ValueError, r"single entry interval\(100, 300\)"),
        (
            lambda: scenarios({"fn": interval([1, 2], [3, 4]), "fp": 1}),
            ValueError,
            "single uncertain numbers",
        ),
    ],
)
def test_errors_say_what_to_do(call, error, words):
    with pytest.raises(error, match=words):
        call()
