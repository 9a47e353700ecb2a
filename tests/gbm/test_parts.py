"""The parts of CostBoostClassifier: folds, totals, targets, boosters, heads, estimates."""

from __future__ import annotations

import re

import numpy as np
import pytest
from costboost.gbm.blocks import Block, Features, joined
from costboost.gbm.engines.base import Growth, Job, TargetTable, Watch, to_scores, watched_sets
from costboost.gbm.engines.lightgbm import LightGBMEngine
from costboost.gbm.engines.xgboost import XGBoostEngine
from costboost.gbm.estimate import Estimate, estimate_savings
from costboost.gbm.folds import Fold, HoldOut, folds, strata
from costboost.gbm.settings import Settings
from costboost.gbm.sources.memory import MemorySource, Plan, make_plan
from costboost.gbm.totals import Totals
from scipy.optimize import minimize
from scipy.special import expit, softmax
from sklearn.metrics import log_loss

from costboost import CostBoostClassifier
from costboost.costs import Costs
from costboost.gbm import LOSSES
from costboost.gbm.heads import PriceHead, ProbabilityHead, temperature, to_proba
from costboost.gbm.targets import LossTarget, PriceTarget, ProbabilityTarget
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


def planned(n=100, weights=None, **options):
    block = Block(np.zeros((n, 1)), costs_of(np.arange(n) % 2, 2), np.ones(n))
    settings = Settings.of(CostBoostClassifier(random_state=0, **options))
    return make_plan(block, np.ones(n) if weights is None else weights, settings)


def test_plan():
    assert len(planned(ensemble=4).folds) == 4
    assert len(planned(n=5, ensemble=5).folds) == 2  # two rows in a fold, at least
    (fold,) = planned(ensemble=1, validation_fraction=0.25).folds
    assert len(fold.held_out) == pytest.approx(25, abs=2)
    for options in ({"ensemble": 1, "early_stopping": False}, {"n": 2}):
        (fold,) = planned(**options).folds
        assert fold.rows is None
        assert fold.held_out is None
    assert len(set(planned(ensemble=5).seeds)) == 5


def test_own_folds_count_the_rows_that_were_passed():
    """Rows without weight are gone, whose indices others must not inherit."""
    weights = np.array([1, 0, 1, 1, 1, 0, 1, 1])
    mask = np.arange(8) < 4
    first, second = planned(6, weights, cv=[([0, 1, 2, 3], [4, 5, 6, 7]), (~mask, mask)]).folds
    assert first.rows.tolist() == [0, 1, 2]
    assert first.held_out.tolist() == [3, 4, 5]
    assert second.rows.tolist() == [3, 4, 5]
    assert second.held_out.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("cv", "says"),
    [
        (
            [([0, 1, 2], [3]), ([0, 1, 2], [2, 3])],
            r"Fold 1 .*holds out 1 of its training rows.*row 2",
        ),
        ([([0, 1, 100], [3])], r"Fold 0 .*training rows, must be indices from 0 to 99, got 100"),
        ([([0, 1], [-1])], r"Fold 0 .*held-out rows, must be indices from 0 to 99, got -1"),
        ([([0, 1], [])], r"Fold 0 .*held-out rows, must have at least one row.*larger folds"),
        ([([], [0])], r"Fold 0 .*training rows, must have at least one row"),
        ([([0.5], [0])], r"Fold 0 .*must be indices of rows or a mask of 100 booleans"),
        ([(np.ones(7, bool), [0])], r"Fold 0 .*mask of 100 booleans.*\(7,\)"),
        ([], r"gave no folds.*pass a list"),
        (iter(()), r"gave no folds.*pass a list"),
    ],
)
def test_wrong_folds_are_named(cv, says):
    with pytest.raises(ValueError, match="'cv' parameter of CostBoostClassifier") as error:
        planned(cv=cv)
    assert re.search(says, str(error.value))


def test_rows_of_a_leaf():
    assert Settings.of(CostBoostClassifier()).growth(1).min_samples_leaf == 5
    assert Settings.of(CostBoostClassifier(min_samples_leaf=3)).growth(1).min_samples_leaf == 3


# --- held-out rows of one booster -------------------------------------------------------------


def test_one_in_so_many_of_every_group_is_held_out():
    groups = np.random.default_rng(0).choice(6, 20_000, p=[0.5, 0.3, 0.1, 0.09, 0.009, 0.001])
    mask = HoldOut(5, seed=3).mask(groups)
    counts, held = np.bincount(groups), np.bincount(groups[mask], minlength=6)
    assert (np.abs(held - counts / 5) <= 1).all()
    # Never the first, so that no group is held out as a whole.
    assert not mask[[np.flatnonzero(groups == g)[0] for g in range(6)]].any()
    # Within the five, every place has its turn.
    place = np.flatnonzero(groups == 0).searchsorted(np.flatnonzero(mask & (groups == 0))) % 5
    np.testing.assert_allclose(np.bincount(place) / len(place), 0.2, atol=0.05)
    other = HoldOut(5, seed=4).mask(groups)
    assert abs(np.corrcoef(mask, other)[0, 1]) < 0.05
    assert not HoldOut().mask(groups).any()


@pytest.mark.parametrize("cuts", [[1], [7, 8, 500], list(range(10, 3000, 10))])
def test_held_out_rows_do_not_depend_on_blocks(cuts):
    groups = np.random.default_rng(0).choice(4, 3000, p=[0.6, 0.3, 0.09, 0.01])
    rule = HoldOut(4, seed=1)
    before, found = np.zeros(4, dtype=int), []
    for part in np.split(groups, cuts):
        found.append(rule.mask(part, before))
        before = before + np.bincount(part, minlength=4)
    np.testing.assert_array_equal(np.concatenate(found), rule.mask(groups))


def test_held_out_rows_are_bounded():
    assert HoldOut.bounded(0.2, 10**6, 2, 0).one_in == 5
    assert HoldOut.bounded(0.9, 100, 2, 0).one_in == 2
    assert 10**9 / HoldOut.bounded(0.2, 10**9, 2, 0).one_in <= 2**20
    assert 10**8 * 100**2 / HoldOut.bounded(0.2, 10**8, 100, 0).one_in <= 2**24


def test_rows_at_stake_are_spread_over_the_folds():
    prices = np.zeros((400, 2))
    prices[::40, 1] = 7.0
    costs = Costs([0, 1], codes=np.arange(400) % 2, prices=prices)
    for part in folds(strata(costs), 5, np.random.RandomState(0)):
        assert costs.take(part.held_out).reduced.any(axis=1).sum() == 2


# --- totals -------------------------------------------------------------------------------------


def cost_forms(n=60, k=3, seed=0):
    rng = np.random.default_rng(seed)
    codes, matrices = rng.integers(k, size=n), rng.gamma(1.0, 5.0, (n, k, k)) - 1.0
    prices = matrices[np.arange(n), codes]
    return {
        "one matrix": Costs(np.arange(k), MATRIX3, codes=codes),
        "matrices": Costs(np.arange(k), matrices, codes=codes),
        "prices": Costs(np.arange(k), codes=codes, prices=prices),
    }


@pytest.mark.parametrize("form", cost_forms())
def test_totals_are_plain_sums_and_add_up(form):
    costs = cost_forms()[form]
    w = np.random.default_rng(1).uniform(0.5, 2, 60)
    block = Block(None, costs, w)
    totals = Totals.of(block, 12)
    assert (totals.train_rows, totals.held_out_rows, totals.rows) == (48, 12, 60)
    expected = np.zeros((3, 4))
    stakes = 0.0
    for i in range(60):
        prices = costs.prices[i]
        gain = (prices.max() - prices).sum()
        expected[costs.codes[i], 0] += w[i]
        expected[costs.labels[i], 1:3] += w[i], w[i] * gain
        stakes += w[i] * (prices.max() - prices.min())
    np.testing.assert_allclose(totals.weight, expected[:, 0])
    np.testing.assert_allclose(totals.label_weight, expected[:, 1])
    np.testing.assert_allclose(totals.label_gain, expected[:, 2])
    assert totals.mean_stakes == pytest.approx(stakes / w.sum())
    np.testing.assert_allclose(totals.mean_costs, costs.average(w))
    parts = [Totals.of(block.take(rows), 4) for rows in np.array_split(np.arange(60), 3)]
    added = parts[0] + parts[1] + parts[2]
    for name in ("weight", "label_weight", "label_gain", "mean_stakes", "mean_gain", "mean_costs"):
        np.testing.assert_allclose(getattr(added, name), getattr(totals, name))
    assert (added.train_rows, added.held_out_rows) == (48, 12)


def test_a_class_without_weight_pays_the_mean_price_of_a_mistake():
    prices = np.array([[0.0, 4, 4], [0, 2, 2], [6, 0, 6]])
    totals = Totals.of(Block(None, Costs([0, 1, 2], codes=[0, 0, 1], prices=prices), np.ones(3)))
    np.testing.assert_allclose(totals.mean_costs, [[0, 3, 3], [6, 0, 6], [4, 4, 0]])


@pytest.mark.parametrize("form", cost_forms())
def test_joined_blocks_are_the_whole(form):
    block = Block(None, cost_forms()[form], np.arange(60.0))
    whole = joined([block.take(rows) for rows in np.array_split(np.arange(60), 4)])
    np.testing.assert_array_equal(whole.costs.prices, block.costs.prices)
    np.testing.assert_array_equal(whole.costs.codes, block.costs.codes)
    np.testing.assert_array_equal(whole.weights, block.weights)
    assert (whole.costs.matrix is None) == (block.costs.matrix is None)


# --- temperature ------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [0.6, 1.0, 1.8])
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
    few, many = np.ones(4), 20_000
    assert 1.0 < temperature(scores, separable, few) < 1.01  # four rows say little
    assert temperature(np.tile(scores, many), np.tile(separable, many), np.ones(4 * many)) > 1.5
    weak = 0.1 * np.tile(scores, many)
    ones = np.ones(4 * many)
    assert temperature(weak, np.tile(separable, many), ones) == pytest.approx(2.0, rel=1e-2)
    assert temperature(weak, np.tile(1 - separable, many), ones) == pytest.approx(0.5, rel=1e-2)
    # Nine parts in ten right: log-odds of log 9.
    labels, weights = np.array([1, 0, 0, 1]), np.array([9.0, 1, 9, 1])
    found = temperature(np.tile(scores, many), np.tile(labels, many), np.tile(weights, many))
    assert found * 3 == pytest.approx(np.log(9), rel=0.01)


def test_scores_to_probabilities_and_back():
    scores = np.linspace(-20, 20, 41)
    np.testing.assert_allclose(to_scores(expit(scores)), scores, atol=1e-6)
    np.testing.assert_allclose(to_proba(scores)[:, 1], expit(scores))
    np.testing.assert_allclose(to_proba(scores).sum(axis=1), 1)
    proba = softmax(np.random.default_rng(0).normal(size=(9, 4)), axis=1)
    np.testing.assert_allclose(to_proba(to_scores(proba)), proba)
    assert np.isfinite(to_scores(np.array([0.0, 1.0]))).all()


# --- the interval of savings --------------------------------------------------------------------


def paid_rows(n, rng):
    """Rows whose decisions pay a skewed, random part of their price."""
    truth = rng.random(n) < 0.3
    amount = rng.gamma(2.0, 10.0, n)
    prices = np.stack([np.where(truth, amount, 0.0), np.where(truth, 0.0, 5.0)], axis=1)
    decision = np.where(rng.random(n) < 0.8, truth, ~truth).astype(int)
    return prices[np.arange(n), decision], prices


def test_estimate_is_the_savings_with_the_bootstrap_error():
    rng = np.random.default_rng(0)
    paid, prices = paid_rows(800, rng)
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
    paid, prices = paid_rows(400_000, rng)
    truth = 1 - paid.sum() / prices.sum(axis=0).min()
    hits = 0
    for _ in range(1000):
        p, c = paid_rows(400, rng)
        found = estimate_savings(p, c, np.ones(400))
        hits += found.low <= truth <= found.high
    # 95 % by a first-order variance; three standard errors of 1000 trials are 2 %.
    assert 0.92 <= hits / 1000 <= 0.975


def test_estimate_of_nothing_and_of_weights():
    zero = estimate_savings(np.zeros(3), np.zeros((3, 2)), np.ones(3))
    assert zero == Estimate(0.0, 0.0, 0.0)
    paid, prices = paid_rows(50, np.random.default_rng(1))
    one = estimate_savings(paid, prices, np.ones(50))
    scaled = estimate_savings(1e6 * paid, 1e6 * prices, np.full(50, 7.0))
    np.testing.assert_allclose(one, scaled)
    left_out = estimate_savings(paid, prices, np.r_[np.ones(49), 0.0])
    assert left_out.value == pytest.approx(
        estimate_savings(paid[:49], prices[:49], np.ones(49)).value
    )
    assert str(Estimate(0.5, 0.25, 0.75)) == "0.500 (0.250 to 0.750)"


# --- targets ------------------------------------------------------------------------------------


def totals_of(costs, weights):
    return Totals.of(Block(None, costs, weights))


def ready(target, costs, weights):
    """The target on all rows."""
    return target.part(target.columns(costs, weights))


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
    costs = costs_of(codes, k)
    target = LossTarget(loss, totals_of(costs, weights), costs.classes)
    assert not target.is_log_loss
    assert target.n_scores == (1 if isinstance(loss, BinaryLoss) else k)
    scores = rng.normal(size=(9,) if target.n_scores == 1 else (9, k))
    # The Hessian of an objective may be a bound; test_gbm_objectives.py has its rules.
    check_derivatives(
        ready(target, costs, weights), weights, scores, exact_hessian=False, centred=name == "ls"
    )


def test_gradients_of_prices():
    rng = np.random.default_rng(0)
    codes, weights = np.arange(9) % 3, rng.uniform(0.5, 2, 9)
    costs = costs_of(codes, 3)
    target = PriceTarget(totals_of(costs, weights))
    assert not target.is_log_loss
    scores = rng.normal(size=(9, 3))
    part = ready(target, costs, weights)
    check_derivatives(part, weights, scores, exact_hessian=True)
    # Some rows: those rows of the whole.
    rows = np.array([1, 4, 8])
    np.testing.assert_allclose(
        ready(target, costs.take(rows), weights[rows]).derivatives(scores[rows])[0],
        part.derivatives(scores)[0][rows],
    )


@pytest.mark.parametrize("k", [2, 3])
def test_probability_target_is_log_loss(k):
    rng = np.random.default_rng(0)
    codes, weights = np.arange(20) % k, rng.uniform(0.5, 2, 20)
    costs = costs_of(codes, k)
    target = ProbabilityTarget(totals_of(costs, weights))
    assert target.is_log_loss
    np.testing.assert_array_equal(target.columns(costs, weights).labels, codes)
    scores = rng.normal(size=(20,) if k == 2 else (20, k))
    expected = log_loss(codes, to_proba(scores), sample_weight=weights)
    part = ready(target, costs, weights)
    assert part.loss(scores) == pytest.approx(expected)
    with pytest.raises(TypeError, match="own log loss"):
        part.derivatives(scores)


@pytest.mark.parametrize("seed", range(5))
def test_minimiser_of_prices_orders_decisions_by_expected_cost(seed):
    """On a few cells of x, with every price random, negative ones included."""
    rng = np.random.default_rng(seed)
    cells, k, n = 4, 3, 200
    x = np.arange(n) % cells
    prices = rng.gamma(1.0, 5.0, (n, k)) - 2.0
    weights = rng.uniform(0.5, 2, n)
    costs = Costs(np.arange(k), codes=rng.integers(k, size=n), prices=prices)
    part = ready(PriceTarget(totals_of(costs, weights)), costs, weights)

    def loss(flat):
        return part.loss(flat.reshape(cells, k)[x])

    best = minimize(loss, np.zeros(cells * k), options={"gtol": 1e-9}).x.reshape(cells, k)
    gain = prices.max(axis=1, keepdims=True) - prices
    for cell in range(cells):
        inside = x == cell
        expected = np.average(prices[inside], axis=0, weights=weights[inside])
        np.testing.assert_array_equal(np.argsort(-best[cell]), np.argsort(expected))
        share = weights[inside] @ gain[inside]
        np.testing.assert_allclose(softmax(best[cell]), share / share.sum(), atol=1e-4)


def test_prices_of_two_classes_are_weighted_log_loss():
    rng = np.random.default_rng(0)
    n = 30
    prices = rng.gamma(1.0, 5.0, (n, 2))
    weights = rng.uniform(0.5, 2, n)
    costs = Costs([0, 1], codes=rng.integers(2, size=n), prices=prices)
    target = PriceTarget(totals_of(costs, weights))
    assert target.is_log_loss
    assert target.n_scores == 1
    columns = target.columns(costs, weights)
    np.testing.assert_array_equal(columns.labels, prices.argmin(axis=1))
    stake = np.abs(prices[:, 1] - prices[:, 0])
    np.testing.assert_allclose(
        columns.weights, weights * stake / np.average(stake, weights=weights)
    )
    scores = rng.normal(size=n)
    assert target.part(columns).loss(scores) == pytest.approx(
        log_loss(prices.argmin(axis=1), expit(scores), sample_weight=weights * stake)
    )


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_prices_have_no_unit(unit):
    codes = np.arange(9) % 3
    one, other = (
        PriceTarget(totals_of(costs, np.ones(9))).columns(costs, np.ones(9)).gains
        for costs in (Costs(np.arange(3), MATRIX3 * u, codes=codes) for u in (1.0, unit))
    )
    np.testing.assert_allclose(one, other)
    assert one.sum(axis=1).mean() == pytest.approx(1)


@pytest.mark.parametrize("kind", ["probability", "price", "gll"])
@pytest.mark.parametrize("k", [2, 3])
def test_columns_survive_the_engine(kind, k):
    """What XGBoost carries as labels and weights is read back as the same target."""
    rng = np.random.default_rng(0)
    codes, weights = np.arange(30) % k, rng.uniform(0.5, 2, 30)
    costs = costs_of(codes, k)
    target = target_of(LOSSES["gll"] if kind == "gll" else kind, costs, weights)
    columns = target.columns(costs, weights)
    labels = columns.labels if columns.gains is None else columns.gains
    back = target.carried(labels.astype(np.float32), columns.weights.astype(np.float32))
    scores = rng.normal(size=30 if target.n_scores == 1 else (30, target.n_scores))
    assert target.part(back).loss(scores) == pytest.approx(target.part(columns).loss(scores))


# --- the watch ----------------------------------------------------------------------------------


def test_watch_keeps_the_best_scores():
    X, codes = table(n=8)
    told = []
    held = np.array([0, 2, 5, 7])
    job = Job(10, 2, 0, after_round=told.append)
    fold = Fold(None, held)
    sets = watched_sets(table_for("probability", X, codes, 2), fold, job, None)
    watch = Watch.over(job, sets)
    right = np.where(codes[held] == 1, 2.0, -2.0)

    def seen(outputs, is_probability=False):
        return watch.see("held_out", outputs, is_probability), watch.end_round()

    losses, ends = zip(*(seen(s * right) for s in (0.1, 1.0, 0.5)), strict=True)
    assert losses[1] == min(losses) == watch.best_loss
    assert watch.best_round == 2
    np.testing.assert_array_equal(watch.scores_for(fold), right)
    assert not any(ends)
    assert seen(expit(0.2 * right), is_probability=True)[1]
    assert [round.round for round in told] == [1, 2, 3, 4]
    np.testing.assert_allclose(told[-1].scores["held_out"], 0.2 * right)
    assert told[1].losses == {"held_out": watch.best_loss}


@pytest.mark.parametrize("patience", [0, 2])
def test_watch_prefers_the_other_table(patience):
    X, codes = table(n=8)
    one = table_for("probability", X, codes, 2)
    fold, job = Fold(None, np.array([0, 2])), Job(10, patience, 0, watches_training=True)
    watch = Watch.over(job, watched_sets(one, fold, job, one))
    assert list(watch.parts) == ["eval_set", "held_out", "train"]
    assert watch.stop_by == ("eval_set" if patience else None)
    for scale in (1.0, 0.5):
        for name, part in watch.parts.items():
            watch.see(name, scale * np.ones(2 if name == "held_out" else 8), False)
            assert part.weight > 0
        watch.end_round()
    assert watch.best_round == 2
    assert watch.scores_for(fold) is None  # they were not what stopped it


# --- boosters -----------------------------------------------------------------------------------


def target_of(kind, costs, weights):
    totals = totals_of(costs, weights)
    if kind == "probability":
        return ProbabilityTarget(totals)
    return PriceTarget(totals) if kind == "price" else LossTarget(kind, totals, costs.classes)


def table_for(kind, X, codes, k):
    costs, weights = costs_of(codes, k), np.ones(len(codes))
    target = target_of(kind, costs, weights)
    return TargetTable(X, [], target, target.columns(costs, weights))


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
        fold = Fold(np.arange(160), np.arange(160, 240))
        job = Job(n_estimators, patience, 0, start)
        return X, fold.held_out, *engine.train(table_for(kind, X, codes, k), fold, job)

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
        head = PriceHead((model, model), (0.25, 0.75), 0.5)
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
    fold = Fold(np.arange(160), np.arange(160, 240))
    model, scores = engine.train(table_for("probability", X, codes, 2), fold, Job(40, 50, 0))
    np.testing.assert_allclose(scores, model.scores(X[160:]), atol=CLOSE[name])


@pytest.mark.parametrize("name", ENGINES)
def test_engine_parameters_win(name):
    X, codes = table()
    own = {"lightgbm": {"num_leaves": 2}, "xgboost": {"max_leaves": 2}}[name]
    engine = ENGINES[name](GROWTH, 1, parameters=own)
    model, _ = engine.train(table_for("probability", X, codes, 2), Fold(), Job(3, 0, 0))
    trees = model.booster.trees_to_dataframe()
    leaves = trees["left_child"].isna() if name == "lightgbm" else trees["Feature"] == "Leaf"
    assert leaves.sum() == 3 * 2


def trained(name, parts, start=None, patience=0, n_estimators=5):
    """A head by a memory source, as `train` does it, and its held-out scores."""
    X, codes = table()
    block = Block(X, costs_of(codes, 2), np.ones(240))
    plan = Plan(parts, list(range(len(parts))))
    source = MemorySource(block, Features(4), plan, has_row_costs=False)
    trainer = source.trainer(ENGINES[name](GROWTH, 1), ProbabilityTarget(source.totals))
    found = [
        trainer(i, Job(n_estimators, patience, i, start[i] if start else None))
        for i in range(len(parts))
    ]
    return (
        X,
        ProbabilityHead(costs=None).trained([model for model, _ in found]),
        [s for _, s in found],
    )


@pytest.mark.parametrize("name", ENGINES)
def test_head_of_folds(name):
    parts = folds(table()[1], 3, np.random.RandomState(0))
    X, head, scores = trained(name, parts)
    for part, model, seen in zip(parts, head.models, scores, strict=True):
        np.testing.assert_allclose(seen, model.scores(X[part.held_out]))
    mean = np.mean([model.scores(X) for model in head.models], axis=0)
    np.testing.assert_allclose(head.scores(X), mean)
    stages = list(head.staged_scores(X))
    assert len(stages) == 5
    np.testing.assert_allclose(stages[-1], head.scores(X), atol=CLOSE[name])
    # Trained long enough: a job that continues it has nothing to do.
    _, again, still = trained(name, parts, start=head.models)
    assert again.models == head.models
    np.testing.assert_allclose(np.concatenate(still), np.concatenate(scores))


@pytest.mark.parametrize("k", [2, 3])
def test_scores_are_averaged_by_weight(k):
    rng = np.random.default_rng(0)
    scores = list(rng.normal(size=(3, 20) if k == 2 else (3, 20, 3)))
    expected = 0.5 * (0.5 * scores[0] + 0.2 * scores[1] + 0.3 * scores[2])
    for head in (PriceHead, lambda *parts: ProbabilityHead(*parts, costs=None)):
        np.testing.assert_allclose(head((), (0.5, 0.2, 0.3), 0.5).average(scores), expected)


def test_head_without_held_out_rows():
    _, _, scores = trained("lightgbm", [Fold()], patience=5, n_estimators=3)
    assert scores == [None]


# --- heads decide -------------------------------------------------------------------------------


def test_heads_decide_for_more_decisions_than_classes():
    """Two classes, three decisions: scores of classes are priced, scores of decisions compared."""
    scores = np.array([-3.0, 0.0, 3.0])
    p = expit(scores)
    matrix = np.array([[0.0, 1, 4], [9, 2, 0]])
    expected = np.stack([1 - p, p], axis=1) @ matrix

    class Three:
        """As much of Costs as a head uses, for a matrix that is not square."""

        def expected(self, proba):
            return proba @ matrix

        def decide(self, proba):
            return (proba @ matrix).argmin(axis=1)

    head = ProbabilityHead(costs=Three())
    np.testing.assert_array_equal(head.decide(scores), expected.argmin(axis=1))
    np.testing.assert_allclose(head.decision_values(scores), -expected)
    np.testing.assert_array_equal(PriceHead().decide(-expected), expected.argmin(axis=1))
