"""The mathematics behind a fit: folds, sums of costs, targets, calibration, estimates."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.metrics import log_loss

from costboost import CostBoostClassifier
from costboost.costs import Costs, RealizedCosts
from costboost.costs.costs import to_proba
from costboost.gbm.calibration import best_factor
from costboost.gbm.data import HoldOut, Totals, TrainingData, make_folds
from costboost.gbm.estimates import of_future_rows
from costboost.gbm.objectives import ExpectedCost, LogLoss, to_scores
from costboost.metrics.money_interval import Interval, money_interval

MATRIX = {
    2: np.array([[0.0, 1], [5, 0]]),
    3: np.array([[0.0, 2, 9], [1, 0, 3], [4, 1, 0]]),
}


def costs_of(codes, k):
    return Costs(MATRIX[k], np.arange(k)).realized(codes)


def totals_of(costs, weights):
    return Totals.of(TrainingData(None, costs, weights))


# --- folds ------------------------------------------------------------------------------------


def folds(codes, weights=None, costs=None, **options):
    """Rows, and the folds of a fit on them."""
    n = len(codes)
    known = costs_of(codes, 1 + max(codes)) if costs is None else costs
    rows = TrainingData(np.zeros((n, 1)), known, np.ones(n))
    rng = np.random.RandomState(options.pop("random_state", 0))
    has_weight = np.ones(n, dtype=bool) if weights is None else weights > 0
    made = make_folds(rows, CostBoostClassifier(**options), rng, has_weight=has_weight)
    assert len({fold.seed for fold in made}) == len(made)
    return [(fold.train_rows, fold.held_out_rows) for fold in made]


@pytest.mark.parametrize("n_folds", [2, 3, 5])
@pytest.mark.parametrize("sizes", [(50, 50), (97, 4), (40, 7, 1)])
def test_each_row_is_held_out_once_and_classes_are_spread_to_a_row(n_folds, sizes):
    codes = np.random.default_rng(0).permutation(np.repeat(np.arange(len(sizes)), sizes))
    parts = folds(codes, cv=n_folds)
    assert sorted(np.concatenate([part[1] for part in parts])) == list(range(len(codes)))
    for part in parts:
        assert sorted([*part[0], *part[1]]) == list(range(len(codes)))
    counts = np.array([np.bincount(codes[p[1]], minlength=len(sizes)) for p in parts])
    assert (counts.max(axis=0) - counts.min(axis=0) <= 1).all()
    same, other = (folds(codes, cv=n_folds, random_state=seed) for seed in (0, 1))
    np.testing.assert_array_equal(parts[0][1], same[0][1])
    assert not np.array_equal(parts[0][1], other[0][1])


def test_number_of_folds_and_where_rows_with_a_price_are():
    codes = np.arange(400) % 2
    prices = np.zeros((400, 2))
    prices[::40, 1] = 7.0
    costs = RealizedCosts(prices, codes, [0, 1])
    parts = folds(codes, costs=costs)
    assert [costs.take(held).regret.any(axis=1).sum() for _, held in parts] == [2] * 5
    assert len(folds(codes[:5])) == 2  # two rows in a fold, at least
    assert len(folds(codes, effort="fast")) == 5
    many = np.arange(2000) % 2
    (fold,) = folds(many, effort="fast", validation_fraction=0.25)
    np.testing.assert_allclose(np.bincount(many[fold[1]]), 250, atol=1)
    assert sorted([*fold[0], *fold[1]]) == list(range(2000))
    for options in ({"codes": codes, "early_stopping": False}, {"codes": codes[:2]}):
        assert folds(effort="fast", **options) == [(None, None)]


def test_own_folds_count_the_rows_that_were_passed():
    """Rows without weight are gone, whose indices others must not inherit."""
    weights = np.array([1, 0, 1, 1, 1, 0, 1, 1])
    mask = np.arange(8) < 4
    cv = [([0, 1, 2, 3], [4, 5, 6, 7]), (~mask, mask)]
    first, second = folds(np.arange(6) % 2, weights, cv=cv)
    assert (first[0].tolist(), first[1].tolist()) == ([0, 1, 2], [3, 4, 5])
    assert (second[0].tolist(), second[1].tolist()) == ([3, 4, 5], [0, 1, 2])


@pytest.mark.parametrize(("cv", "says"), [
    ([([0, 1, 2], [3]), ([0, 1, 2], [2, 3])], r"Fold 1 .*holds out 1 of its training rows.*row 2"),
    ([([0, 1, 100], [3])], r"Fold 0 .*training rows, must be indices from 0 to 99.*100"),
    ([([0, 1], [])], r"Fold 0 .*held-out rows, must .*at least one row"),
    ([(np.ones(7, bool), [0])], r"Fold 0 .*mask of 100 booleans"),
    (iter(()), r"gave no folds.*pass a list"),
])  # fmt: skip
def test_wrong_folds_are_named(cv, says):
    with pytest.raises(ValueError, match="'cv' parameter of CostBoostClassifier") as error:
        folds(np.arange(100) % 2, cv=cv)
    assert re.search(says, str(error.value))


def test_one_in_so_many_of_every_group_is_held_out():
    groups = np.random.default_rng(0).choice(6, 20_000, p=[0.5, 0.3, 0.1, 0.09, 0.009, 0.001])
    mask = HoldOut(5, 3).held_out(groups)
    counts, held = np.bincount(groups), np.bincount(groups[mask], minlength=6)
    assert (np.abs(held - counts / 5) <= 1).all()
    # Never the first, so that no group is held out as a whole.
    assert not mask[[np.flatnonzero(groups == g)[0] for g in range(6)]].any()
    # Within the five, every place has its turn.
    place = np.flatnonzero(groups == 0).searchsorted(np.flatnonzero(mask & (groups == 0))) % 5
    np.testing.assert_allclose(np.bincount(place) / len(place), 0.2, atol=0.05)
    assert abs(np.corrcoef(mask, HoldOut(5, 4).held_out(groups))[0, 1]) < 0.05
    assert not HoldOut(0, 0).held_out(groups).any()
    # Neither do they depend on the batches that rows come in.
    for cuts in ([1], [7, 8, 500], list(range(10, 3000, 10))):
        before, found = np.zeros(6, dtype=int), []
        for part in np.split(groups, cuts):
            found.append(HoldOut(5, 3).held_out(part, before))
            before = before + np.bincount(part, minlength=6)
        np.testing.assert_array_equal(np.concatenate(found), mask)


def test_held_out_rows_are_bounded():
    limits = (0.2, 10**6, 2, 2e5), (0.9, 100, 2, 50), (0.2, 10**9, 2, 2**20)
    for fraction, n, k, most in (*limits, (0.2, 10**8, 100, 2**24 / 1e4)):
        model = CostBoostClassifier(validation_fraction=fraction)
        held = n / HoldOut.of(model, n, k, np.random.RandomState(0)).one_in
        assert 0.9 * most < held <= most


# --- calibration ------------------------------------------------------------------------------


def temperature(scores, labels, weights):
    loss = lambda s: log_loss(labels, to_proba(s), sample_weight=weights)  # noqa: E731
    return best_factor(scores, loss, weights.sum() ** 2 / np.square(weights).sum())


@pytest.mark.parametrize("factor", [0.6, 1.0, 1.8])
@pytest.mark.parametrize("k", [2, 3])
def test_temperature_finds_the_factor(factor, k):
    rng = np.random.default_rng(0)
    n = 40_000
    scores = rng.normal(size=n if k == 2 else (n, k)) * 1.5
    labels = (rng.random((n, 1)) > to_proba(scores).cumsum(axis=1)).sum(axis=1)
    assert temperature(scores / factor, labels, np.ones(n)) == pytest.approx(factor, rel=0.05)


def test_temperature_has_bounds_and_weights():
    scores, separable, many = np.array([3.0, 3, -3, -3]), np.array([1, 1, 0, 0]), 20_000
    assert 1.0 < temperature(scores, separable, np.ones(4)) < 1.01  # four rows say little
    weak, right, ones = 0.1 * np.tile(scores, many), np.tile(separable, many), np.ones(4 * many)
    assert temperature(weak, right, ones) == pytest.approx(2.0, rel=1e-2)
    assert temperature(weak, 1 - right, ones) == pytest.approx(0.5, rel=1e-2)
    # Nine parts in ten right: log-odds of log 9.
    labels, weights = np.array([1, 0, 0, 1]), np.array([9.0, 1, 9, 1])
    found = temperature(np.tile(scores, many), np.tile(labels, many), np.tile(weights, many))
    assert found * 3 == pytest.approx(np.log(9), rel=0.01)


def test_scores_to_probabilities_and_back():
    scores = np.linspace(-20, 20, 41)
    np.testing.assert_allclose(to_scores(expit(scores)), scores, atol=1e-6)
    np.testing.assert_allclose(to_proba(scores)[:, 1], expit(scores))
    proba = softmax(np.random.default_rng(0).normal(size=(9, 4)), axis=1)
    np.testing.assert_allclose(to_proba(to_scores(proba)), proba)
    assert np.isfinite(to_scores(np.array([0.0, 1.0]))).all()


# --- the interval of savings ------------------------------------------------------------------


def paid_rows(n, rng):
    """Rows whose decisions pay a skewed, random part of their price."""
    truth = rng.random(n) < 0.3
    amount = rng.gamma(2.0, 10.0, n)
    prices = np.stack([np.where(truth, amount, 0.0), np.where(truth, 0.0, 5.0)], axis=1)
    decision = np.where(rng.random(n) < 0.8, truth, ~truth).astype(int)
    return prices[np.arange(n), decision], prices


def savings_of(paid, prices):
    return money_interval(paid, prices, prices=None, of="share")


def test_estimate_is_the_savings_with_the_bootstrap_error():
    rng = np.random.default_rng(0)
    paid, prices = paid_rows(800, rng)
    found = savings_of(paid, prices)
    assert found.value == pytest.approx(1 - paid.sum() / prices.sum(axis=0).min())
    drawn = []
    for _ in range(1000):
        rows = rng.integers(800, size=800)
        drawn.append(1 - paid[rows].sum() / prices[rows].sum(axis=0).min())
    low, high = np.quantile(drawn, [0.025, 0.975])
    np.testing.assert_allclose([found.low, found.high], [low, high], atol=0.15 * (high - low))


def test_future_intervals_cover():
    """19 of 20 intervals hold the savings of the next rows."""
    rng, held = np.random.default_rng(0), 0
    for _ in range(400):
        paid, prices = paid_rows(2000, rng)
        found = of_future_rows(savings_of(paid[:1500], prices[:1500]), 1500, 500)
        best = prices[:1500].sum(axis=0).argmin()
        held += found.low <= 1.0 - paid[1500:].sum() / prices[1500:, best].sum() <= found.high
    assert 0.92 <= held / 400 <= 0.98
    assert of_future_rows(Interval(1.0, 1.0, 1.0), 10, 10) == Interval(1.0, 1.0, 1.0)
    assert of_future_rows(Interval(0.5, -np.inf, 1.0), 10, 10) == Interval(0.5, -np.inf, 1.0)
    assert str(Interval(0.5, 0.25, 0.75)) == "0.500 (0.250 to 0.750)"


# --- targets ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("sign", "shift"), [(1, 0), (-1, 0), (1, -2)], ids=str)
def test_gradients_of_prices(sign, shift):
    """Costs, profits, and entries of both signs."""
    rng = np.random.default_rng(0)
    matrix = np.zeros((20, 2, 2))
    matrix[:, 1, 0] = sign * (rng.exponential(5.0, 20) + shift)
    costs, weights = Costs(matrix, [0, 1]).realized(np.arange(20) % 2), rng.uniform(0.5, 2.0, 20)
    objective = ExpectedCost(1, 0, totals_of(costs, weights))
    target, scores = objective.target(costs, weights), rng.normal(size=20)
    assert target.y.min() >= 0
    assert np.average(target.y, weights=weights) == pytest.approx(1.0)
    np.testing.assert_allclose(objective.least + objective.unit * target.y, matrix[:, 1, 0])
    gradient, hessian = objective.derivatives(scores, target)
    loss = lambda s: objective.loss(s, target)  # noqa: E731
    for i, step in enumerate(1e-4 * np.eye(20)):  # central differences
        low, high = (loss(scores + s) * weights.sum() for s in (-step, step))
        assert gradient[i] == pytest.approx((high - low) / 2e-4, rel=2e-3, abs=1e-4)
    assert (np.abs(gradient) <= hessian).all()  # no step of a leaf above 1
    # Weight 2 is the row twice.
    twice = objective.derivatives(scores, objective.target(costs, 2 * weights))
    np.testing.assert_allclose(2 * np.array([gradient, hessian]), twice, rtol=1e-6)
    assert loss(np.zeros(20)) < min(loss(s + np.zeros(20)) for s in (-0.01, 0.01))


@pytest.mark.parametrize("k", [2, 3])
def test_probability_target_is_log_loss(k):
    rng = np.random.default_rng(0)
    codes, weights = np.arange(20) % k, rng.uniform(0.5, 2, 20)
    costs = costs_of(codes, k)
    objective = LogLoss(totals_of(costs, weights).weight)
    target = objective.target(costs, weights)
    scores = rng.normal(size=(20,) if k == 2 else (20, k))
    expected = log_loss(codes, to_proba(scores), sample_weight=weights)
    assert objective.loss(scores, target) == pytest.approx(expected)
