"""The interval under every verdict: what it equals, what it does not depend on, how it covers."""

import numpy as np
import pytest
from scipy.stats import t as student

from costboost.metrics.money_interval import money_interval

MATRIX = np.array([[0.0, 1.0], [5.0, 0.0]])


def decided(n=400, seed=0, matrix=MATRIX):
    rng = np.random.default_rng(seed)
    y = (rng.uniform(size=n) < 0.4).astype(int)
    chosen = np.where(rng.uniform(size=n) < 0.9, y, 1 - y)
    return {
        "paid": matrix[y, chosen],
        "constant_costs": matrix[y],
        "prices": matrix,
        "chosen": chosen,
    }


@pytest.mark.parametrize(("n_events", "limit"), [(0, 3.9), (1, 5.6), (5, 11.5), (10, 18.2)])
def test_events_that_were_hardly_seen_count_as_with_poisson(n_events, limit):
    """Nothing was blocked; blocking all would have cost nothing, and an event costs 1."""
    y = np.zeros(100_000, dtype=int)
    y[:n_events] = 1
    matrix = np.array([[0.0, 0.0], [1.0, 0.0]])
    passed = np.zeros(len(y), dtype=int)
    gain = money_interval(matrix[y, passed], matrix[y], prices=matrix, chosen=passed)
    assert gain.low * len(y) == pytest.approx(-limit, abs=0.1)
    assert gain.value * len(y) == pytest.approx(-n_events)


def test_with_many_events_it_is_students():
    rows = decided(n=200_000)
    gains = rows["constant_costs"][:, 1] - rows["paid"]  # deciding 1 for all is the best constant
    error = gains.std(ddof=1) / np.sqrt(len(gains))
    ends = student.interval(0.95, len(gains) - 1, gains.mean(), error)
    gain = money_interval(**rows)
    np.testing.assert_allclose([gain.low, gain.high], ends, atol=0.02 * error * 1.96)


def test_value_is_against_the_best_constant():
    rows = decided()
    best = rows["constant_costs"].sum(axis=0).min()
    gain = money_interval(**rows)
    share = money_interval(**rows, of="share")
    assert gain.value == pytest.approx((best - rows["paid"].sum()) / 400)
    assert share.value == pytest.approx(1.0 - rows["paid"].sum() / best)
    assert gain.low < gain.value < gain.high
    assert share.low < share.value < share.high <= 1.0


@pytest.mark.parametrize("of", ["gain", "share"])
def test_units_of_money_and_weight_do_not_matter(of):
    rows = decided()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 400)
    before = money_interval(**rows, weight=weight, of=of)
    dearer = {**rows, **{name: 1e6 * rows[name] for name in ("paid", "constant_costs", "prices")}}
    after = money_interval(**dearer, weight=1e-3 * weight, of=of)
    unit = 1e6 if of == "gain" else 1.0
    np.testing.assert_allclose(after, unit * np.array(before), rtol=1e-9)


def test_groups_count_once():
    rows = decided()
    alone = money_interval(**rows, groups=np.arange(400))
    np.testing.assert_allclose(alone, money_interval(**rows))
    copies = {
        name: np.repeat(values, 5, axis=0) if name != "prices" else values
        for name, values in rows.items()
    }
    together = money_interval(**copies, groups=np.repeat(np.arange(400), 5))
    assert together.value == pytest.approx(alone.value)
    # The pseudo-event is one row in five times as many, so the interval is hardly narrower.
    assert 0.85 < (together.high - together.low) / (alone.high - alone.low) <= 1.0
    naive = money_interval(**copies)
    assert naive.high - naive.low < 0.6 * (together.high - together.low)


def test_width_is_never_zero():
    """Also if the model decides one thing for all, and if it makes no mistake."""
    y = np.repeat([0, 1], [200, 100])
    for chosen in (np.zeros(300, dtype=int), np.ones(300, dtype=int), y):
        for of in ("gain", "share"):
            found = money_interval(
                MATRIX[y, chosen], MATRIX[y], prices=MATRIX, chosen=chosen, of=of
            )
            assert found.low < found.high


def test_what_few_rows_cannot_say():
    one = money_interval(
        np.array([0.0]), np.array([[0.0, 1.0]]), prices=MATRIX, chosen=np.array([0])
    )
    assert (one.low, one.high) == (-np.inf, np.inf)
    # Of a class alone, whose right decision is free, there is no cost to take a share of.
    free = money_interval(
        np.zeros(50),
        np.tile([0.0, 1.0], (50, 1)),
        prices=MATRIX,
        chosen=np.zeros(50, dtype=int),
        of="share",
    )
    assert tuple(free) == (0.0, -np.inf, 1.0)


def test_prices_of_single_rows_are_averaged_where_they_were_decided():
    """A pseudo-event of a decision costs what it costs on the rows that were decided so."""
    y = np.zeros(1000, dtype=int)
    amount = np.where(np.arange(1000) < 500, 1.0, 10_000.0)
    prices = np.zeros((1000, 2, 2))
    prices[:, 1, 0] = amount
    prices[:, 0, 1] = 2.0
    careful = (amount > 10).astype(int)  # passes small amounts only
    rows = np.arange(1000)
    paid = prices[rows, y, careful]

    def low(prices):
        constants = np.tile([0.0, 2.0], (1000, 1))
        return money_interval(paid, constants, prices=prices, chosen=careful).low

    # It might miss a fraud of 1; by mean prices of all rows, one of 5,000.
    assert low(prices) == pytest.approx(-1.0, abs=0.1)
    assert low(prices.mean(axis=0)) < -5.0


def test_it_covers_where_frauds_are_rare_among_the_passed():
    """Six frauds in a thousand passed rows lose 1.92 a row, though most samples show none."""
    matrix = np.array([[0.0, 4.0], [1000.0, 0.0]])
    rng = np.random.default_rng(0)
    n_covering = n_paying = 0
    for _ in range(200):
        chosen = (rng.uniform(size=100) < 0.04).astype(int)
        fraud = np.where(chosen == 1, rng.uniform(size=100) < 0.9, rng.uniform(size=100) < 0.006)
        y = fraud.astype(int)
        gain = money_interval(matrix[y, chosen], matrix[y], prices=matrix, chosen=chosen)
        truth = 4.0 * (0.96 * 0.994 + 0.04 * 0.1) - (0.96 * 0.006 * 1000.0 + 0.04 * 0.1 * 4.0)
        n_covering += gain.low <= truth <= gain.high
        n_paying += gain.low > 0.0
    assert n_covering >= 0.93 * 200
    assert n_paying == 0
