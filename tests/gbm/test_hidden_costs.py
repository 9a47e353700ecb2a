"""Costs of rows that are known in training and not when deciding."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from costboost.gbm.blocks import Block, Features
from costboost.gbm.settings import Settings
from costboost.gbm.sources.memory import MemorySource, make_plan
from costboost.gbm.stakes import StakePart, Stakes, error_prices, share_of_expected, stakes_for
from costboost.gbm.totals import Totals

from costboost import CostBoostClassifier
from costboost.costs import Costs, per_row
from costboost.files import load, save
from costboost.gbm.heads import JointHead, PriceHead
from costboost.gbm.targets import PriceTarget
from costboost.metrics import savings_score

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


def source_of(costs, y, weights=None, **options):
    known = Costs(np.unique(y), costs, codes=y)
    X = np.arange(2.0 * len(y)).reshape(-1, 2)
    block = Block(X, known, np.ones(len(y)) if weights is None else np.asarray(weights, float))
    settings = Settings.of(CostBoostClassifier(**{**OPTIONS, **options}))
    plan = make_plan(block, block.weights, settings)
    return settings, MemorySource(block, Features(2), plan, has_row_costs=True)


# -- what it is worth ---------------------------------------------------------------------------


def test_a_cost_that_is_a_column_need_not_be_told(fitted):
    X, y, costs = rows(3000, 1)
    told, guessed = fitted.predict(X, costs=costs), fitted.predict(X)
    train = rows(1500, 0)
    learned = CostBoostClassifier(decision="learned", **OPTIONS).fit(*train[:2], costs=train[2])
    saved = {
        name: savings_score(y, decided, costs=costs)
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
        saved.append(savings_score(test[1], model.predict(test[0]), costs=test[2]))
    assert saved[0] > saved[1] - 0.01


def test_the_estimate_without_costs_is_that_of_the_deciding_head():
    X, y, costs = rows(400, 0)
    halves = np.arange(0, 400, 2), np.arange(1, 400, 2)
    options = {**OPTIONS, "cv": [halves, halves[::-1]]}
    model = CostBoostClassifier(**options).fit(X, y, costs=costs)
    head = model.heads_["decision"]
    scores = np.full(400, head.base)
    for place, (booster, weight) in enumerate(head.terms):  # of each kind, one per fold
        held_out = options["cv"][place % 2][1]
        scores[held_out] += 2 * weight * booster.scores(X[held_out])
    expected = savings_score(y, (scores >= 0).astype(int), costs=costs)
    assert model.estimated_savings_without_costs_.value == pytest.approx(expected)


# -- the choice ---------------------------------------------------------------------------------


def block_of(labels, price):
    matrix = np.zeros((len(labels), 2, 2))
    matrix[:, 1, 0], matrix[:, 0, 1] = price, price
    return Block(None, Costs([0, 1], matrix, codes=labels), np.ones(len(labels)))


@pytest.mark.parametrize(
    ("direct", "expected", "share"),
    [
        ([-3.0, 3.0, -3.0, 3.0], [3.0, -3.0, 3.0, -3.0], 0.0),
        ([3.0, -3.0, 3.0, -3.0], [-3.0, 3.0, -3.0, 3.0], 1.0),
        # One is too low by as much as the other is too high.
        ([-3.0, 1.0, -3.0, 1.0], [-1.0, 3.0, -1.0, 3.0], 0.5),
    ],
)
def test_the_held_out_loss_chooses(direct, expected, share):
    block = block_of([0, 1, 0, 1], 2.0)
    target = PriceTarget(Totals.of(block))
    assert share_of_expected(np.array(direct), np.array(expected), target, block) == share


def test_nothing_at_stake_leaves_what_was_learned():
    target = PriceTarget(Totals.of(block_of([0, 1], 1.0)))
    scores = np.array([-1.0, 1.0])
    assert share_of_expected(scores, 2 * scores, target, block_of([0, 1], 0.0)) == 0.0


# -- what is learned ----------------------------------------------------------------------------


def test_prices_of_errors():
    matrix = np.array([[[0.0, 2.0], [9.0, 1.0]], [[0.5, 2.0], [1.0, 4.0]]])
    costs = Costs([0, 1], matrix, codes=[0, 1])
    np.testing.assert_allclose(error_prices(costs, 0, 0), [2.0, 1.5])
    np.testing.assert_allclose(error_prices(costs, 1, 1), [8.0, 0.0])  # the second saves 3 instead


def test_derivatives_of_the_stakes():
    rng = np.random.default_rng(0)
    prices, weights = rng.exponential(1.0, 20), rng.uniform(0.5, 2.0, 20)
    part, scores = StakePart(prices, weights), rng.normal(size=20)
    gradient, hessian = part.derivatives(scores)
    for i in range(3):
        step = np.eye(20)[i] * 1e-5
        slope = (part.loss(scores + step) - part.loss(scores - step)) / 2e-5 * weights.sum()
        assert slope == pytest.approx(gradient[i], rel=1e-4)
    assert (np.abs(gradient) <= hessian).all()  # no step of a leaf above 1
    best = np.full(20, np.log(np.average(prices, weights=weights)))
    assert part.loss(best) < min(part.loss(best + 0.01), part.loss(best - 0.01))


def test_weights_count_like_copies():
    y, costs = [0, 1, 0, 1], per_row(fn=np.array([1.0, 2, 3, 4]), fp=np.array([1.0, 1, 2, 1]))
    once = stakes_for(*source_of(costs, y, [1, 1, 2, 1]))
    twice = stakes_for(*source_of(costs[[0, 1, 2, 2, 3]], [0, 1, 0, 0, 1]))
    assert once.units == pytest.approx(twice.units)
    assert once.units == pytest.approx((7 / 5, 13 / 5))


def test_one_price_of_all_errors_needs_no_boosters():
    y = [0, 1] * 10
    found = stakes_for(*source_of(per_row(fn=np.arange(1.0, 21), fp=2), y))
    assert isinstance(found, Stakes) and list(found.tasks) == [1]
    assert not stakes_for(*source_of(np.tile([[0.0, 1], [5, 0]], (20, 1, 1)), y)).tasks


AMOUNTS = per_row(fn=np.arange(1.0, 21), fp=np.arange(2.0, 22))


@pytest.mark.parametrize(
    ("costs", "y", "options"),
    [
        (AMOUNTS, [0, 1] * 10, {"warm_start": True}),
        (AMOUNTS, [0, 1] * 10, {"engine": "catboost"}),
        (AMOUNTS, [0, 1] * 10, {"engine_params": {"monotone_constraints": [1, 0]}}),
        (AMOUNTS, [0, 1] * 10, {"ensemble": 1, "early_stopping": False}),
        (AMOUNTS * [[1, 1], [0, 0]], [0, 1] * 10, {}),  # a missed fraud costs nothing
        (np.arange(180.0).reshape(20, 3, 3), [0, 1, 2, 0] * 5, {}),
    ],
    ids=["warm start", "CatBoost", "monotone", "none held out", "one truth", "three"],
)
def test_where_the_boosters_that_learned_decide_alone(costs, y, options):
    assert stakes_for(*source_of(costs, y, **options)) is None


def test_prices_under_the_truth_alone_are_learned_directly():
    X, y, costs = rows(300, 0)
    model = CostBoostClassifier(**OPTIONS).fit(X, y, costs=costs[np.arange(300), y])
    assert type(model.heads_["decision"]) is PriceHead


def test_decisions_in_another_order_are_the_same():
    X, y, costs = rows(600, 0)
    decided = []
    for names in (["pass", "stop"], ["stop", "pass"]):
        order = [["pass", "stop"].index(name) for name in names]
        named = pd.DataFrame(np.zeros((2, 2)), index=[0, 1], columns=names)
        model = CostBoostClassifier(named, **OPTIONS).fit(X, y, costs=costs[:, :, order])
        assert isinstance(model.heads_["decision"], JointHead)
        decided.append(model.predict(X))
    assert np.mean(decided[0] == decided[1]) > 0.99
    assert (decided[0] == "stop").mean() > 0.1


# -- what the head can do -----------------------------------------------------------------------


def test_the_head_is_a_sum_of_scores(fitted):
    X = rows(40, 2)[0]
    head, scores = fitted.heads_["decision"], fitted.decision_function(X)
    assert isinstance(head, JointHead) and head.base != 0
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
    from costboost.files import to_onnx

    X = rows(500, 2)[0]
    session = runtime.InferenceSession(to_onnx(fitted).SerializeToString())
    (decided,) = session.run(["decision"], {"features": X})
    np.testing.assert_array_equal(decided, fitted.predict(X))


def test_other_costs_decide_by_the_probabilities(fitted):
    X = rows(40, 2)[0]
    other = fitted.with_costs([[0, 1], [0.001, 0]])
    assert list(other.heads_) == ["probability"] and not other.predict(X).any()


@pytest.mark.parametrize("decision", ["learned", "bayes"])
def test_a_chosen_way_to_decide_stays_alone(decision):
    X, y, costs = rows(200, 0)
    model = CostBoostClassifier(decision=decision, **OPTIONS).fit(X, y, costs=costs)
    assert [len(head.models) for head in model.heads_.values()] == [2]


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
def test_a_seed_gives_one_model(engine):
    pytest.importorskip(engine)
    X, y, costs = rows(300, 0)
    options = {**OPTIONS, "n_estimators": 10, "engine": engine}
    first, second = (
        CostBoostClassifier(**options).fit(X, y, costs=costs).decision_function(X) for _ in (1, 2)
    )
    np.testing.assert_array_equal(first, second)


def test_a_warm_start_continues_the_boosters_that_learned_and_has_no_others():
    X, y, costs = rows(300, 0)
    options = {**OPTIONS, "early_stopping": False}
    model = CostBoostClassifier(**{**options, "n_estimators": 10}).fit(X, y, costs=costs)
    first = model.heads_["decision"]
    assert isinstance(first, JointHead)
    before = [booster.scores(X) for booster in first.models]
    model.set_params(warm_start=True, n_estimators=15).fit(X, y, costs=costs)
    head = model.heads_["decision"]
    assert type(head) is PriceHead and [booster.n_rounds for booster in head.models] == [15, 15]
    for booster, scores in zip(head.models, before, strict=True):
        np.testing.assert_allclose(list(booster.staged_scores(X))[9], scores)


def test_a_checkpoint_keeps_the_stakes(tmp_path, monkeypatch):
    X, y, costs = rows(300, 0)
    options = {**OPTIONS, "n_estimators": 10}
    path = tmp_path / "fit.checkpoint"

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Stakes, "combined", killed)
        CostBoostClassifier(**options).fit(X, y, costs=costs, checkpoint=path)
    assert path.exists()

    def trained(*_, **__):
        raise AssertionError("a finished booster is trained again")

    with monkeypatch.context() as patch:
        patch.setattr("costboost.gbm.engines.lightgbm.lgb.train", trained)
        again = CostBoostClassifier(**options).fit(X, y, costs=costs, checkpoint=path)
    whole = CostBoostClassifier(**options).fit(X, y, costs=costs)
    np.testing.assert_array_equal(again.decision_function(X), whole.decision_function(X))


def test_parquet_files_are_learned_directly(tmp_path):
    pytest.importorskip("xgboost")
    pytest.importorskip("pyarrow")
    X, y, _ = rows(300, 0)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "amount"]).assign(y=y)
    frame.to_parquet(tmp_path / "rows.parquet")
    model = CostBoostClassifier(engine="xgboost", ensemble=1, n_estimators=5, random_state=0)
    model.fit_parquet(tmp_path / "rows.parquet", "y", costs={"fn": "amount", "fp": 2})
    assert type(model.heads_["decision"]) is PriceHead


@pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")
@pytest.mark.parametrize("n", [4, 12])
def test_few_rows(n):
    X, y, costs = rows(n, 0)
    y[:] = np.arange(n) % 2
    model = CostBoostClassifier(**OPTIONS).fit(X, y, costs=costs)
    assert np.isfinite(model.decision_function(X)).all()
