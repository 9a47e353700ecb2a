"""The parts of the flagship: folds, temperature, targets, boosters, the interval of savings."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, softmax
from sklearn.metrics import log_loss

from costboost import CostBoostClassifier
from costboost.costs import Costs
from costboost.flagship.engine import Growth, Job, Watch, log_odds
from costboost.flagship.estimate import Estimate, estimate_savings
from costboost.flagship.fitting import growth_for, plan_folds
from costboost.flagship.heads import (
    Fold,
    Head,
    ProbabilityHead,
    folds,
    temperature,
    to_proba,
    train_head,
)
from costboost.flagship.lightgbm_engine import LightGBMEngine
from costboost.flagship.targets import LossTarget, PriceTarget, ProbabilityTarget
from costboost.flagship.xgboost_engine import XGBoostEngine
from costboost.gbm import LOSSES
from costboost.losses import BinaryLoss

ENGINES = {"lightgbm": LightGBMEngine, "xgboost": XGBoostEngine}
# XGBoost stores scores in single precision.
CLOSE = {"lightgbm": 1e-9, "xgboost": 2e-5}
GROWTH = Growth(0.3, 7, 5, 1.0, 1.0, 1.0)
MATRIX3 = np.array([[0.0, 2, 9], [1, 0, 3], [4, 1, 0]])


def table(k=2, n=240, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    score = X[:, 0] + 0.5 * X[:, 1] + 0.7 * rng.normal(size=n)
    return X, np.digitize(score, [0.3] if k == 2 else [-0.5, 0.6])


def costs_of(codes, k):
    matrix = np.array([[0.0, 1], [5, 0]]) if k == 2 else MATRIX3
    return Costs(np.arange(k), matrix, codes=codes)


# --- folds ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_folds", [2, 3, 5])
@pytest.mark.parametrize("sizes", [(50, 50), (97, 4), (40, 7, 1), (10,)])
def test_each_row_is_held_out_once_and_classes_are_spread_to_a_row(n_folds, sizes):
    codes = np.random.default_rng(0).permutation(np.repeat(np.arange(len(sizes)), sizes))
    parts = folds(codes, n_folds, np.random.RandomState(0))
    held = np.concatenate([part.held_out for part in parts])
    assert sorted(held) == list(range(len(codes)))
    for part in parts:
        together = np.concatenate([part.rows, part.held_out])
        assert sorted(together) == list(range(len(codes)))
    counts = np.array([np.bincount(codes[p.held_out], minlength=len(sizes)) for p in parts])
    assert (counts.max(axis=0) - counts.min(axis=0) <= 1).all()
    assert np.ptp(counts.sum(axis=1)) <= 1


def test_folds_are_shuffled_by_the_seed():
    codes = np.arange(60) % 2
    one, same, other = (folds(codes, 3, np.random.RandomState(s))[0].held_out for s in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def planned(n=100, **options):
    codes = np.arange(n) % 2
    model = CostBoostClassifier(random_state=0, **options)
    return plan_folds(model, np.zeros((n, 1)), codes, np.arange(n))


def test_plan():
    assert len(planned(ensemble=4)) == 4
    assert len(planned(n=5, ensemble=5)) == 2  # two rows in a fold, at least
    ((fold, _),) = planned(ensemble=1, validation_fraction=0.25)
    assert len(fold.held_out) == 25
    ((fold, _),) = planned(ensemble=1, early_stopping=False)
    assert fold.rows is None
    assert fold.held_out is None
    ((fold, _),) = planned(n=2)
    assert fold.held_out is None
    assert len({seed for _, seed in planned(ensemble=5)}) == 5


def test_own_folds_count_the_rows_that_were_passed():
    """Rows without weight are gone, whose indices others must not inherit."""
    codes = np.arange(6) % 2
    place = np.array([0, -1, 1, 2, 3, -1, 4, 5])
    mask = np.arange(8) < 4
    model = CostBoostClassifier(cv=[([0, 1, 2, 3], [4, 5, 6, 7]), (~mask, mask)])
    (first, _), (second, _) = plan_folds(model, np.zeros((6, 1)), codes, place)
    assert first.rows.tolist() == [0, 1, 2]
    assert first.held_out.tolist() == [3, 4, 5]
    assert second.rows.tolist() == [3, 4, 5]
    assert second.held_out.tolist() == [0, 1, 2]


@pytest.mark.parametrize(("n", "rows"), [(10, 5), (499, 5), (1234, 12), (10**6, 50)])
def test_rows_of_a_leaf(n, rows):
    assert growth_for(CostBoostClassifier(), n).min_samples_leaf == rows
    assert growth_for(CostBoostClassifier(min_samples_leaf=3), n).min_samples_leaf == 3


# --- temperature ------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [0.4, 1.0, 2.5])
@pytest.mark.parametrize("k", [2, 3])
def test_temperature_finds_the_factor(factor, k):
    rng = np.random.default_rng(0)
    n = 40_000
    scores = rng.normal(size=n if k == 2 else (n, k)) * 1.5
    proba = to_proba(scores)
    labels = (rng.random((n, 1)) > proba.cumsum(axis=1)).sum(axis=1)
    assert temperature(scores / factor, labels, np.ones(n)) == pytest.approx(factor, rel=0.05)


def test_temperature_has_bounds_and_weights():
    scores = np.array([3.0, 3.0, -3.0, -3.0])
    separable = np.array([1, 1, 0, 0])
    assert temperature(scores, separable, np.ones(4)) == pytest.approx(10, rel=0.01)
    assert temperature(scores, 1 - separable, np.ones(4)) == pytest.approx(0.1, rel=0.01)
    # Three parts in four right: log-odds of log 3.
    found = temperature(scores, np.array([1, 0, 0, 1]), np.array([3.0, 1, 3, 1]))
    assert found * 3 == pytest.approx(np.log(3), rel=0.01)


def test_scores_to_probabilities_and_back():
    scores = np.linspace(-20, 20, 41)
    np.testing.assert_allclose(log_odds(expit(scores)), scores, atol=1e-6)
    np.testing.assert_allclose(to_proba(scores)[:, 1], expit(scores))
    np.testing.assert_allclose(to_proba(scores).sum(axis=1), 1)
    proba = softmax(np.random.default_rng(0).normal(size=(9, 4)), axis=1)
    np.testing.assert_allclose(to_proba(log_odds(proba)), proba)
    assert np.isfinite(log_odds(np.array([0.0, 1.0]))).all()


# --- the interval of savings --------------------------------------------------------------------


def bills(n, rng):
    """Rows whose decisions pay a skewed, random part of their price."""
    truth = rng.random(n) < 0.3
    amount = rng.gamma(2.0, 10.0, n)
    prices = np.stack([np.where(truth, amount, 0.0), np.where(truth, 0.0, 5.0)], axis=1)
    decision = np.where(rng.random(n) < 0.8, truth, ~truth).astype(int)
    return prices[np.arange(n), decision], prices


def test_estimate_is_the_savings_with_the_bootstrap_error():
    rng = np.random.default_rng(0)
    paid, prices = bills(800, rng)
    found = estimate_savings(paid, prices, np.ones(800))
    assert found.value == pytest.approx(1 - paid.sum() / prices.sum(axis=0).min())
    drawn = []
    for _ in range(1000):
        rows = rng.integers(800, size=800)
        drawn.append(1 - paid[rows].sum() / prices[rows].sum(axis=0).min())
    low, high = np.quantile(drawn, [0.025, 0.975])
    width = high - low
    assert found.high - found.low == pytest.approx(width, rel=0.15)
    assert abs(found.low - low) < 0.15 * width
    assert abs(found.high - high) < 0.15 * width


def test_interval_covers_in_95_of_100_samples():
    rng = np.random.default_rng(0)
    paid, prices = bills(400_000, rng)
    truth = 1 - paid.sum() / prices.sum(axis=0).min()
    hits = 0
    for _ in range(1000):
        p, c = bills(400, rng)
        found = estimate_savings(p, c, np.ones(400))
        hits += found.low <= truth <= found.high
    # 95 % by a first-order variance; three standard errors of 1000 trials are 2 %.
    assert 0.92 <= hits / 1000 <= 0.975


def test_estimate_of_nothing_and_of_weights():
    zero = estimate_savings(np.zeros(3), np.zeros((3, 2)), np.ones(3))
    assert zero == Estimate(0.0, 0.0, 0.0)
    paid, prices = bills(50, np.random.default_rng(1))
    one = estimate_savings(paid, prices, np.ones(50))
    scaled = estimate_savings(1e6 * paid, 1e6 * prices, np.full(50, 7.0))
    np.testing.assert_allclose(one, scaled)
    left_out = estimate_savings(paid, prices, np.r_[np.ones(49), 0.0])
    assert left_out.value == pytest.approx(
        estimate_savings(paid[:49], prices[:49], np.ones(49)).value
    )
    assert str(Estimate(0.5, 0.25, 0.75)) == "0.500 (0.250 to 0.750)"


# --- targets ------------------------------------------------------------------------------------


def total(part, weights):
    """The weighted sum that the derivatives are of; a part's loss is its mean."""
    return lambda scores: part.loss(scores) * weights.sum()


def check_derivatives(part, weights, scores, *, exact_hessian, centred=False):
    """Central differences of the weighted loss, entry by entry."""
    gradient, hessian = (np.reshape(a, scores.shape) for a in part.derivatives(scores))
    if centred:  # scores that must sum to 0: along the other directions
        gradient = gradient - gradient.mean(axis=1, keepdims=True)
    loss = total(part, weights)
    h = 1e-4
    for at in np.ndindex(scores.shape):
        step = np.zeros_like(scores)
        step[at] = h
        slope = (loss(scores + step) - loss(scores - step)) / (2 * h)
        assert gradient[at] == pytest.approx(slope, rel=2e-3, abs=1e-4)
        if exact_hessian:
            bend = (loss(scores + step) - 2 * loss(scores) + loss(scores - step)) / h**2
            assert hessian[at] == pytest.approx(bend, rel=2e-2, abs=1e-3)
    assert (hessian > 0).all()


@pytest.mark.parametrize(
    ("name", "k"),
    [(name, 2) for name in LOSSES]
    + [(name, 3) for name, loss in LOSSES.items() if not isinstance(loss, BinaryLoss)],
)
def test_gradients_of_losses(name, k):
    loss = LOSSES[name]
    rng = np.random.default_rng(0)
    codes = np.arange(9) % k
    weights = rng.uniform(0.5, 2, 9)
    target = LossTarget(loss, costs_of(codes, k), weights)
    assert not target.is_log_loss
    assert target.n_scores == (1 if isinstance(loss, BinaryLoss) else k)
    scores = rng.normal(size=(9,) if target.n_scores == 1 else (9, k))
    # The Hessian of an objective may be a bound; test_gbm_objectives.py has its rules.
    check_derivatives(
        target.part(slice(None)), weights, scores, exact_hessian=False, centred=name == "ls"
    )


def test_gradients_of_prices():
    rng = np.random.default_rng(0)
    codes, weights = np.arange(9) % 3, rng.uniform(0.5, 2, 9)
    target = PriceTarget(costs_of(codes, 3), weights)
    assert not target.is_log_loss
    scores = rng.normal(size=(9, 3))
    check_derivatives(target.part(slice(None)), weights, scores, exact_hessian=True)
    # Some rows: those rows of the whole.
    rows = np.array([1, 4, 8])
    np.testing.assert_allclose(
        target.part(rows).derivatives(scores[rows])[0],
        target.part(slice(None)).derivatives(scores)[0][rows],
    )


@pytest.mark.parametrize("k", [2, 3])
def test_probability_target_is_log_loss(k):
    rng = np.random.default_rng(0)
    codes, weights = np.arange(20) % k, rng.uniform(0.5, 2, 20)
    target = ProbabilityTarget(costs_of(codes, k), weights)
    assert target.is_log_loss
    np.testing.assert_array_equal(target.labels, codes)
    scores = rng.normal(size=(20,) if k == 2 else (20, k))
    expected = log_loss(codes, to_proba(scores), sample_weight=weights)
    assert target.part(slice(None)).loss(scores) == pytest.approx(expected)
    with pytest.raises(TypeError, match="own log loss"):
        target.part(slice(None)).derivatives(scores)


@pytest.mark.parametrize("seed", range(5))
def test_minimiser_of_prices_orders_decisions_by_expected_cost(seed):
    """On a few cells of x, with every price random, negative ones included."""
    rng = np.random.default_rng(seed)
    cells, k, n = 4, 3, 200
    x = np.arange(n) % cells
    prices = rng.gamma(1.0, 5.0, (n, k)) - 2.0
    weights = rng.uniform(0.5, 2, n)
    part = PriceTarget(
        Costs(np.arange(k), prices=prices, codes=rng.integers(k, size=n)), weights
    ).part(slice(None))

    def loss(flat):
        return part.loss(flat.reshape(cells, k)[x])

    best = minimize(loss, np.zeros(cells * k), options={"gtol": 1e-9}).x.reshape(cells, k)
    worth = prices.max(axis=1, keepdims=True) - prices
    for cell in range(cells):
        inside = x == cell
        expected = np.average(prices[inside], axis=0, weights=weights[inside])
        np.testing.assert_array_equal(np.argsort(-best[cell]), np.argsort(expected))
        share = weights[inside] @ worth[inside]
        np.testing.assert_allclose(softmax(best[cell]), share / share.sum(), atol=1e-4)


def test_prices_of_two_classes_are_weighted_log_loss():
    rng = np.random.default_rng(0)
    n = 30
    prices = rng.gamma(1.0, 5.0, (n, 2))
    weights = rng.uniform(0.5, 2, n)
    target = PriceTarget(Costs([0, 1], prices=prices, codes=rng.integers(2, size=n)), weights)
    assert target.is_log_loss
    assert target.n_scores == 1
    np.testing.assert_array_equal(target.labels, prices.argmin(axis=1))
    stake = np.abs(prices[:, 1] - prices[:, 0])
    np.testing.assert_allclose(target.weights, weights * stake / np.average(stake, weights=weights))
    scores = rng.normal(size=n)
    assert target.part(slice(None)).loss(scores) == pytest.approx(
        log_loss(prices.argmin(axis=1), expit(scores), sample_weight=weights * stake)
    )


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_prices_have_no_unit(unit):
    codes = np.arange(9) % 3
    one, other = (
        PriceTarget(Costs(np.arange(3), MATRIX3 * u, codes=codes), np.ones(9)) for u in (1.0, unit)
    )
    np.testing.assert_allclose(one.worth, other.worth)
    assert one.worth.sum(axis=1).mean() == pytest.approx(1)


# --- the watch ----------------------------------------------------------------------------------


def test_watch_keeps_the_best_scores():
    X, codes = table(n=8)
    told = []
    held = np.array([0, 2, 5, 7])
    job = Job(None, held, 10, 2, 0, report=lambda *news: told.append(news))
    watch = Watch(ProbabilityTarget(costs_of(codes, 2), np.ones(8)), job, X)
    right = np.where(codes[held] == 1, 2.0, -2.0)
    losses = [watch.see(s * right, is_probability=False) for s in (0.1, 1.0, 0.5)]
    assert losses[1] == min(losses) == watch.best_loss
    assert watch.best_round == 2
    np.testing.assert_array_equal(watch.best_scores, right)
    assert not watch.is_over
    watch.see(expit(0.2 * right), is_probability=True)
    assert watch.is_over
    assert [rounds for rounds, _ in told] == [1, 2, 3, 4]
    np.testing.assert_allclose(told[-1][1], 0.2 * right)


# --- boosters -----------------------------------------------------------------------------------


def target_of(kind, codes, k):
    costs, weights = costs_of(codes, k), np.ones(len(codes))
    if kind == "probability":
        return ProbabilityTarget(costs, weights)
    return PriceTarget(costs, weights) if kind == "price" else LossTarget(kind, costs, weights)


CASES = [
    ("probability", 2),
    ("probability", 3),
    ("price", 2),
    ("price", 3),
    (LOSSES["cost_logistic"], 2),
    (LOSSES["gll"], 3),
]


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize(("kind", "k"), CASES, ids=str)
class TestBooster:
    def trained(self, name, kind, k, n_estimators=25, patience=3, start=None, **growth):
        X, codes = table(k)
        engine = ENGINES[name](Growth(**{**GROWTH.__dict__, **growth}), 1)
        rows, held = np.arange(160), np.arange(160, 240)
        job = Job(rows, held, n_estimators, patience, 0, start)
        return X, held, *engine.train(X, [], target_of(kind, codes, k), job)

    def check_same(self, name, kind, scores, others):
        if kind == "probability" and scores.ndim == 2:  # up to a constant of the row
            scores, others = softmax(scores, axis=1), softmax(others, axis=1)
        np.testing.assert_allclose(scores, others, atol=CLOSE[name])

    @pytest.mark.parametrize("patience", [3, 100])
    def test_held_out_scores_are_those_of_the_model(self, name, kind, k, patience):
        X, held, model, scores = self.trained(name, kind, k, patience=patience)
        assert scores.shape == ((80,) if k == 2 else (80, 3))
        self.check_same(name, kind, scores, model.scores(X[held]))

    def test_continued_after_its_best_round(self, name, kind, k):
        """Rounds beyond the best one are gone, and a warm start goes on from there."""
        *_, first, _ = self.trained(name, kind, k, patience=100, learning_rate=0.9)
        X, held, model, scores = self.trained(
            name, kind, k, n_estimators=60, patience=100, start=first, learning_rate=0.02
        )
        assert first.n_rounds < 25
        assert model.n_rounds >= first.n_rounds
        for kept in (first, model):
            grown = (
                kept.booster.current_iteration()
                if name == "lightgbm"
                else kept.booster.num_boosted_rounds()
            )
            assert grown == kept.n_rounds
        self.check_same(name, kind, scores, model.scores(X[held]))

    def test_stages_contributions_importances(self, name, kind, k):
        X, _, model, _ = self.trained(name, kind, k)
        stages = list(model.staged_scores(X))
        assert len(stages) == model.n_rounds
        np.testing.assert_allclose(stages[-1], model.scores(X), atol=CLOSE[name])
        parts = model.contributions(X)
        assert parts.shape == ((240, 5) if k == 2 else (240, 3, 5))
        np.testing.assert_allclose(parts.sum(axis=-1), model.scores(X), atol=2e-5)
        gains = model.importances(4)
        assert gains.shape == (4,)
        assert gains.argmax() == 0
        head = Head([model, model], 0.5)
        assert head.importances(4).sum() == pytest.approx(1)
        np.testing.assert_allclose(head.scores(X), 0.5 * model.scores(X))
        np.testing.assert_allclose(head.contributions(X), 0.5 * parts)

    def test_without_patience_all_rounds_are_trained(self, name, kind, k):
        _, _, model, scores = self.trained(name, kind, k, patience=0, n_estimators=12)
        assert model.n_rounds == 12
        assert scores is None


@pytest.mark.parametrize("name", ENGINES)
def test_columns_without_a_split_do_not_shift_the_best_round(name):
    """Most trees see constant columns only."""
    X, codes = table()
    X = np.c_[X[:, :1], np.zeros((240, 9))]
    engine = ENGINES[name](Growth(0.3, 4, 5, 1.0, 1.0, 0.2), 1)
    job = Job(np.arange(160), np.arange(160, 240), 40, 50, 0)
    model, scores = engine.train(X, [], target_of("probability", codes, 2), job)
    np.testing.assert_allclose(scores, model.scores(X[160:]), atol=CLOSE[name])


@pytest.mark.parametrize("name", ENGINES)
def test_engine_parameters_win(name):
    X, codes = table()
    own = {"lightgbm": {"num_leaves": 2}, "xgboost": {"max_leaves": 2}}[name]
    engine = ENGINES[name](GROWTH, 1, parameters=own)
    model, _ = engine.train(X, [], target_of("probability", codes, 2), Job(None, None, 3, 0, 0))
    trees = model.booster.trees_to_dataframe()
    leaves = trees["left_child"].isna() if name == "lightgbm" else trees["Feature"] == "Leaf"
    assert leaves.sum() == 3 * 2


@pytest.mark.parametrize("name", ENGINES)
def test_head_of_jobs(name):
    X, codes = table()
    parts = folds(codes, 3, np.random.RandomState(0))
    jobs = [Job(part.rows, part.held_out, 5, 0, i) for i, part in enumerate(parts)]
    head, seen = train_head(
        ENGINES[name](GROWTH, 1), X, [], target_of("probability", codes, 2), jobs
    )
    assert sorted(seen.rows) == list(range(240))
    at = 0
    for part, model in zip(parts, head.models, strict=True):
        np.testing.assert_allclose(
            seen.scores[at : at + len(part.held_out)], model.scores(X[part.held_out])
        )
        at += len(part.held_out)
    proba = np.mean([to_proba(model.scores(X)) for model in head.models], axis=0)
    np.testing.assert_allclose(to_proba(head.scores(X)), proba)
    stages = list(head.staged_scores(X))
    assert len(stages) == 5
    np.testing.assert_allclose(stages[-1], head.scores(X), atol=CLOSE[name])
    # Trained long enough: a job that continues it has nothing to do.
    done = [Job(p.rows, p.held_out, 5, 0, 0, m) for p, m in zip(parts, head.models, strict=True)]
    again, still = train_head(
        ENGINES[name](GROWTH, 1), X, [], target_of("probability", codes, 2), done
    )
    assert again.models == head.models
    np.testing.assert_allclose(still.scores, seen.scores)


@pytest.mark.parametrize("k", [2, 3])
def test_probabilities_are_averaged_after_calibration_and_learned_scores_are_averaged(k):
    rng = np.random.default_rng(0)
    scores = list(rng.normal(size=(3, 20) if k == 2 else (3, 20, 3)))
    np.testing.assert_allclose(Head([], 0.5).average(scores), 0.5 * np.mean(scores, axis=0))
    expected = np.mean([to_proba(0.5 * s) for s in scores], axis=0)
    head = ProbabilityHead([], 0.5)
    np.testing.assert_allclose(to_proba(head.average(scores)), expected)
    np.testing.assert_allclose(head.average(scores[:1]), 0.5 * scores[0])


def test_head_without_held_out_rows():
    X, codes = table()
    fold = Fold(None, None)
    job = Job(fold.rows, fold.held_out, 3, 5, 0)
    _, seen = train_head(
        LightGBMEngine(GROWTH, 1), X, [], target_of("probability", codes, 2), [job]
    )
    assert seen is None
