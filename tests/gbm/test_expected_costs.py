"""What decisions are expected to cost where the costs of rows are known in training alone."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from costboost import CostBoostClassifier
from costboost.costs import per_row
from costboost.decisions import cheapest
from costboost.files import load, save
from costboost.metrics import avoidable_cost_score
from costboost.monitor import snapshot_of

OPTIONS = {"effort": "fast", "cv": 2, "n_estimators": 60, "random_state": 0, "n_jobs": 1}


def rows(n, seed, noise=False):
    """Payments whose amount is a column; a missed fraud costs it, or what chance will have."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 3] = np.exp(X[:, 3]).round(2)
    y = (rng.random(n) < 1 / (1 + np.exp(2 - 2 * X[:, 0] - X[:, 1]))).astype(int)
    amount = rng.permutation(X[:, 3]) if noise else X[:, 3]
    return X, y, per_row(fn=5 * amount, fp=2)


def three(n, seed):
    """Three classes and four decisions, all entries of which differ over the rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.digitize(X[:, 0] + rng.normal(size=n), [-0.7, 0.7])
    sizes = np.exp(X[:, [0, 1, 2, 1]] / 2)[:, None] * rng.lognormal(0, 0.3, (n, 3, 4))
    costs = sizes * rng.uniform(1, 9, (3, 4)) - 4.0 * (np.arange(4) == 3)
    return X, y, costs


@pytest.fixture(scope="module")
def fitted():
    X, y, costs = rows(1500, 0)
    return CostBoostClassifier(**OPTIONS).fit(X, y, costs=costs)


# -- laws -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("made", [rows, three])
@pytest.mark.parametrize("form", ["matrices", "prices"])
def test_one_number_decides_everything(made, form):
    X, y, costs = made(600, 0)
    given = costs if form == "matrices" else costs[np.arange(600), y]
    names = "abcd"[: costs.shape[2]]
    model = CostBoostClassifier(
        pd.DataFrame(np.zeros(costs.shape[1:]), np.unique(y), list(names)),
        **{**OPTIONS, "n_estimators": 20},
    ).fit(X, y, costs=given)
    assert model.cost_model_ is not None and "expects them" in model.costs_.without
    X = made(300, 1)[0]
    expected, decided = model.predict_cost(X), model.predict(X)
    np.testing.assert_array_equal(decided, np.array(list(names))[cheapest(expected)])
    np.testing.assert_array_equal(model.decide(X, capacity={"a": 301}).labels, decided)
    np.testing.assert_array_equal(model.explain(X).labels, decided)
    np.testing.assert_allclose(snapshot_of(model, X).expected, expected.min(axis=1))
    *_, last = model.staged_decision_function(X)
    np.testing.assert_allclose(last, model.decision_function(X), atol=1e-6)


# -- what it is worth -----------------------------------------------------------------------------


def test_a_cost_that_is_a_column_need_not_be_told_and_others_do_no_harm(fitted):
    X, y, costs = rows(3000, 1)
    told, untold = fitted.predict(X, costs=costs), fitted.predict(X)
    mean = fitted.predict(X, costs=fitted.cost_matrix_)
    saved = [avoidable_cost_score(y, d, costs=costs) for d in (told, untold, mean)]
    assert np.mean(told == untold) > 0.95
    assert saved[1] > saved[0] - 0.02 and saved[1] > saved[2] + 0.02
    known = fitted.predict_cost(X, costs=costs).mean(axis=0)
    np.testing.assert_allclose(fitted.predict_cost(X).mean(axis=0), known, rtol=0.05)
    # Costs that follow from nothing.
    train, (X, y, costs) = rows(1500, 0, noise=True), rows(3000, 1, noise=True)
    model = CostBoostClassifier(**OPTIONS).fit(*train[:2], costs=train[2])
    decided = model.predict(X), model.predict(X, costs=model.cost_matrix_)
    saved = [avoidable_cost_score(y, d, costs=costs) for d in decided]
    assert saved[0] > saved[1] - 0.02


def test_the_estimate_is_that_of_held_out_rows():
    X, y, costs = rows(400, 0)
    halves = np.arange(0, 400, 2), np.arange(1, 400, 2)
    options = {
        **OPTIONS,
        "cv": [halves, halves[::-1]],
        "calibration": None,
        "early_stopping": False,
    }
    model = CostBoostClassifier(**options).fit(X, y, costs=costs)
    proba, (price,) = model.model_.ensemble, model.cost_model_.entries
    p, amounts = np.empty(400), np.empty(400)
    for (_, held), one, other in zip(
        options["cv"], proba.models, price.ensemble.models, strict=True
    ):
        p[held] = 1 / (1 + np.exp(-one.predict(X[held])))
        amounts[held] = np.exp(other.predict(X[held]))
    # The factor makes up for what the frauds paid beyond what was expected.
    amounts *= costs[y == 1, 1, 0].sum() / amounts[y == 1].sum()
    expected = avoidable_cost_score(y, (p * amounts >= (1 - p) * 2).astype(int), costs=costs)
    assert model.estimated_score_without_costs_.value == pytest.approx(expected)
    known = CostBoostClassifier(**options, costs_known=False)
    known.fit(X, y, costs=costs)
    assert known.estimated_score_ == model.estimated_score_without_costs_ != model.estimated_score_


# -- what is learned ------------------------------------------------------------------------------


def learned(costs, n=200, k=2, **options):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(n, 2)), np.arange(n) % k
    model = CostBoostClassifier(**{**OPTIONS, "n_estimators": 5, **options})
    model.fit(X, y, costs=costs(rng, y))
    entries = model.cost_model_.entries if model.cost_model_ else []
    return [{tuple(map(int, at)) for at in np.argwhere(entry.slopes)} for entry in entries], model


def amounts(rng, y):
    return per_row(fn=rng.exponential(9.0, len(y)), fp=2)


def affine(rng, y):
    amount = rng.exponential(9.0, len(y))
    return per_row(fn=amount, fp=3 + amount / 5, tp=-amount)


@pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")
@pytest.mark.parametrize(("costs", "k", "expected"), [
    (affine, 2, [{(0, 1), (1, 0), (1, 1)}]),  # the others follow from it
    (lambda rng, y: rng.exponential(size=(len(y), 2, 2)), 2,
     [{(j, d)} for j in (0, 1) for d in (0, 1)]),
    (lambda rng, y: rng.exponential(size=(len(y), 3, 3)) * (1 - np.eye(3)), 3,
     [{(j, d)} for j in range(3) for d in range(3) if j != d]),
    (lambda rng, y: rng.exponential(9.0, len(y)), 2, [{(0, 1)}, {(1, 0)}]),
    # Costs that differ only where nobody pays them are the same.
    (lambda rng, y: per_row(fn=5.0 + (np.arange(len(y)) == 0), fp=2), 2, []),
])  # fmt: skip
def test_entries_that_get_a_booster(costs, k, expected):
    names, model = learned(costs, k=k)
    assert sorted(names, key=sorted) == expected and bool(model.costs_.without) == bool(expected)


@pytest.mark.filterwarnings("ignore::costboost.CostWarning")
@pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")
@pytest.mark.parametrize(
    ("costs", "options", "says"),
    [
        (amounts, {"costs_known": True}, "costs_known=True"),
        (amounts, {"engine_params": {"monotone_constraints": [1, 0]}}, "constraints"),
        (amounts, {"cv": "auto", "early_stopping": False}, "no rows are held out"),
        (amounts, {"n": 16}, "too few"),
    ],
    ids=["known", "monotone", "none held out", "few"],
)
def test_where_the_mean_costs_decide(costs, options, says):
    names, model = learned(costs, **options)
    assert names == []
    assert "goes by these means" in str(model.costs_) and says in str(model.costs_)
    X = np.random.default_rng(2).normal(size=(50, 2))
    np.testing.assert_array_equal(
        model.predict_cost(X), model.predict_proba(X) @ model.cost_matrix_
    )


def test_prices_near_the_largest_are_compared_without_an_overflow():
    rng = np.random.default_rng(0)
    X, y, prices = rng.normal(size=(40, 1)), np.arange(40) % 2, rng.uniform(0.1, 0.5, 40) * 1e12
    costs = per_row(fn=prices, fp=2 * prices[::-1])
    model = CostBoostClassifier(effort="fast", n_estimators=5, cv=2, random_state=0)
    assert np.isfinite(model.fit(X, y, costs=costs).predict_cost(X)).all()  # and no warning


def test_prices_may_be_profits_and_follow_from_each_other():
    X, y, _ = rows(2000, 0)
    amount = X[:, 3]
    costs = per_row(tp=-amount, fn=1 + amount / 5, fp=2)
    model = CostBoostClassifier(**OPTIONS).fit(X, y, costs=costs[np.arange(2000), y])
    assert len(model.cost_model_.entries) == 1
    # Of an expected cost the part of class 0 is known: 0, and 2 for an alarm.
    rest, chance = model.predict_proba(X)[y == 1].T
    missed, caught = (model.predict_cost(X)[y == 1].T - np.stack([0 * rest, 2 * rest])) / chance
    np.testing.assert_allclose(missed, 1 - caught / 5)  # the line that costs are on
    assert (caught < 0).all()
    assert np.corrcoef(caught, -amount[y == 1])[0, 1] > 0.95


def test_expressions_are_always_known():
    X, y, _ = rows(300, 0)
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = CostBoostClassifier({"fn": "5 * d", "fp": 2}, **OPTIONS).fit(frame, y)
    assert model.cost_model_ is None and not model.costs_.without


# -- where it goes --------------------------------------------------------------------------------


def test_where_learned_costs_go(fitted, tmp_path):
    X, y, costs = rows(300, 3)
    expected = fitted.predict_cost(X)
    kept = load(save(fitted, tmp_path / "model.costboost"))
    for other in (kept, pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(other.predict_cost(X), expected)
        assert str(other.costs_) == str(fitted.costs_)
    # Other costs take their place, and a report weighs them.
    other = fitted.with_costs([[0, 1], [0.001, 0]])
    assert other.cost_model_ is None and not other.predict(X).any()
    decided, known = fitted.judged(X, y, costs=costs[np.arange(300), y])
    assert known.matrix is None
    np.testing.assert_array_equal(decided.costs.decide(decided.proba), decided.chosen)
    np.testing.assert_allclose(decided.expected_cost, expected)


# --- a population that is known -------------------------------------------------------------------


def population(n, rng):
    """Rows whose probabilities and prices depend on different columns; prices vary beyond them."""
    X = rng.uniform(-1, 1, (n, 3))
    y = (rng.random(n) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(int)
    costs = np.zeros((n, 2, 2))
    costs[:, 1, 0] = np.exp(1 + X[:, 1]) * rng.gamma(2, 0.5, n)
    costs[:, 0, 1] = 1 + (X[:, 2] > 0)
    return X, y, costs


@pytest.mark.filterwarnings("ignore::costboost.CostWarning", "ignore::costboost.CollapseWarning")
def test_sums_are_what_a_population_pays():
    """Over 60 draws, what each decision is expected to cost is what it costs, to two errors."""
    off = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y, costs = population(300, rng)
        others, truth, paid = population(1000, rng)
        model = CostBoostClassifier(**{**OPTIONS, "cv": "auto", "learning_rate": 0.2})
        model.fit(X, y, costs=costs)
        paid = paid[np.arange(1000), truth].mean(axis=0)
        off.append(model.predict_cost(others).mean(axis=0) / paid - 1)
    errors = np.std(off, axis=0) / np.sqrt(len(off))
    assert (np.abs(np.mean(off, axis=0)) < 2 * errors).all()
    assert (errors < 0.04).all()
