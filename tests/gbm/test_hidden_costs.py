"""Costs of rows that are known in training and not when deciding."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from costboost import CostBoostClassifier
from costboost.costs import per_row
from costboost.files import load, save
from costboost.gbm.train import price_targets
from costboost.metrics import avoidable_cost_score

OPTIONS = {"effort": "fast", "ensemble": 2, "n_estimators": 60, "random_state": 0, "n_jobs": 1}


def rows(n, seed, noise=False):
    """Payments whose amount is a column; a missed fraud costs it, or what chance will have."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 3] = np.exp(X[:, 3]).round(2)
    y = (rng.random(n) < 1 / (1 + np.exp(2 - 2 * X[:, 0] - X[:, 1]))).astype(int)
    amount = rng.permutation(X[:, 3]) if noise else X[:, 3]
    return X, y, per_row(fn=5 * amount, fp=2)


@pytest.fixture(scope="module")
def fitted():
    X, y, costs = rows(1500, 0)
    return CostBoostClassifier(**OPTIONS).fit(X, y, costs=costs)


def guesses(model):
    """Whether models that guess costs are among those that decide."""
    return model.heads_["decision"].base != 0


# -- what it is worth ---------------------------------------------------------------------------


def test_a_cost_that_is_a_column_need_not_be_told(fitted):
    X, y, costs = rows(3000, 1)
    told, guessed = fitted.predict(X, costs=costs), fitted.predict(X)
    train = rows(1500, 0)
    learned = CostBoostClassifier(decision="learned", **OPTIONS).fit(*train[:2], costs=train[2])
    saved = {
        name: avoidable_cost_score(y, decided, costs=costs)
        for name, decided in (("told", told), ("guessed", guessed), ("learned", learned.predict(X)))
    }
    assert np.mean(told == guessed) > 0.97
    assert saved["guessed"] > saved["told"] - 0.01
    assert saved["guessed"] > saved["learned"] + 0.01


def test_costs_that_follow_from_nothing_do_no_harm():
    train, test = rows(1500, 0, noise=True), rows(3000, 1, noise=True)
    saved = []
    for decision in ("auto", "learned"):
        model = CostBoostClassifier(decision=decision, **OPTIONS)
        model.fit(*train[:2], costs=train[2])
        saved.append(avoidable_cost_score(test[1], model.predict(test[0]), costs=test[2]))
    assert saved[0] > saved[1] - 0.01


def test_the_estimate_without_costs_is_that_of_the_deciding_head():
    X, y, costs = rows(400, 0)
    halves = np.arange(0, 400, 2), np.arange(1, 400, 2)
    options = {**OPTIONS, "cv": [halves, halves[::-1]]}
    model = CostBoostClassifier(**options).fit(X, y, costs=costs)
    head = model.heads_["decision"]
    scores = np.full(400, head.base)
    for place, (booster, weight) in enumerate(zip(head.models, head.weights, strict=True)):
        held_out = options["cv"][place % 2][1]  # of each kind, one per fold
        scores[held_out] += 2 * weight * booster.scores(X[held_out])
    expected = avoidable_cost_score(y, (scores >= 0).astype(int), costs=costs)
    assert model.estimated_score_without_costs_.value == pytest.approx(expected)


# -- what is learned ----------------------------------------------------------------------------

AMOUNTS = per_row(fn=np.arange(1.0, 21), fp=np.arange(2.0, 22))


def learned(costs, y=(0, 1) * 10, weights=None, **options):
    model = CostBoostClassifier(**{**OPTIONS, **options})
    X = np.arange(2.0 * len(y)).reshape(-1, 2)
    return price_targets(model, model._read_rows(X, y, weights, costs, None, False))


def test_weights_count_like_copies():
    y, costs = [0, 1, 0, 1], per_row(fn=np.array([1.0, 2, 3, 4]), fp=np.array([1.0, 1, 2, 1]))
    once = learned(costs, y, [1, 1, 2, 1])
    twice = learned(costs[[0, 1, 2, 2, 3]], [0, 1, 0, 0, 1])
    for found in (once, twice):
        assert [target.unit for target in found] == pytest.approx([7 / 5, 13 / 5])
        assert [target.sign for target in found] == [-1, 1]


def test_one_price_of_all_errors_needs_no_boosters():
    found = learned(per_row(fn=np.arange(1.0, 21), fp=2))
    assert [target.varies for target in found] == [False, True]
    alike = learned(np.tile([[0.0, 1], [5, 0]], (20, 1, 1)))
    assert not any(target.varies for target in alike)


@pytest.mark.parametrize(
    ("costs", "y", "options"),
    [
        (AMOUNTS, (0, 1) * 10, {"engine": "catboost"}),
        (AMOUNTS, (0, 1) * 10, {"engine_params": {"monotone_constraints": [1, 0]}}),
        (AMOUNTS, (0, 1) * 10, {"ensemble": 1, "early_stopping": False}),
        (AMOUNTS * [[1, 1], [0, 0]], (0, 1) * 10, {}),  # a missed fraud costs nothing
        (AMOUNTS[np.arange(20), np.arange(20) % 2], (0, 1) * 10, {}),
        (np.arange(180.0).reshape(20, 3, 3), (0, 1, 2, 0) * 5, {}),
    ],
    ids=["CatBoost", "monotone", "none held out", "one truth", "own prices", "three"],
)
def test_where_the_boosters_that_learned_decide_alone(costs, y, options):
    assert learned(costs, y, **options) == []


def test_decisions_in_another_order_are_the_same():
    X, y, costs = rows(600, 0)
    decided = []
    for names in (["pass", "stop"], ["stop", "pass"]):
        order = [["pass", "stop"].index(name) for name in names]
        named = pd.DataFrame(np.zeros((2, 2)), index=[0, 1], columns=names)
        model = CostBoostClassifier(named, **OPTIONS).fit(X, y, costs=costs[:, :, order])
        assert guesses(model)
        decided.append(model.predict(X))
    assert np.mean(decided[0] == decided[1]) > 0.99
    assert (decided[0] == "stop").mean() > 0.1


# -- what the head can do -----------------------------------------------------------------------


def test_the_head_is_a_sum_of_scores(fitted):
    X = rows(40, 2)[0]
    head, scores = fitted.heads_["decision"], fitted.decision_function(X)
    assert guesses(fitted)
    parts = head.contributions(X)
    assert parts.shape == (40, 5)
    np.testing.assert_allclose(parts.sum(axis=1), scores)
    *_, last = fitted.staged_decision_function(X)
    np.testing.assert_allclose(last, scores)
    np.testing.assert_array_equal(fitted.predict(X), (scores >= 0).astype(int))
    shares = head.importances(4)
    assert shares.sum() == pytest.approx(1.0)
    assert shares[3] > 0.1  # the amount
    assert list(fitted.evals_result_) == ["probability", "decision"]


def test_files_keep_it(fitted, tmp_path):
    X = rows(40, 2)[0]
    for other in (
        load(save(fitted, tmp_path / "model.costboost")),
        pickle.loads(pickle.dumps(fitted)),
    ):
        np.testing.assert_array_equal(other.decision_function(X), fitted.decision_function(X))


def test_onnx_decides_the_same(fitted):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    X = rows(500, 2)[0]
    session = runtime.InferenceSession(fitted.to_onnx().SerializeToString())
    (decided,) = session.run(["decision"], {"features": X})
    np.testing.assert_array_equal(decided, fitted.predict(X))


def test_other_costs_decide_by_the_probabilities(fitted):
    X = rows(40, 2)[0]
    other = fitted.with_costs([[0, 1], [0.001, 0]])
    assert list(other.heads_) == ["probability"] and not other.predict(X).any()


@pytest.mark.parametrize("decision", ["learned", "bayes"])
def test_one_head_if_only_one_is_wanted(decision):
    X, y, costs = rows(200, 0)
    model = CostBoostClassifier(decision=decision, **OPTIONS).fit(X, y, costs=costs)
    assert [len(head.models) for head in model.heads_.values()] == [2]


@pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")
@pytest.mark.parametrize("n", [4, 12])
def test_few_rows(n):
    X, y, costs = rows(n, 0)
    y[:] = np.arange(n) % 2
    model = CostBoostClassifier(**OPTIONS).fit(X, y, costs=costs)
    assert np.isfinite(model.decision_function(X)).all()
