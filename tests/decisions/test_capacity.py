"""Decisions within limits against trying everything; prices against solving again."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from costboost import CostBoostClassifier, MinCostClassifier
from costboost.costs import Costs
from costboost.datasets import make_fraud
from costboost.decisions import Budget, Rate, allocate, capacity_curve, capacity_prices, program
from costboost.decisions.arrays import cheapest, expected_cost
from costboost.decisions.sensitivity import sensitivity

ACTIONS = ["accept", "review", "block"]
MATRIX = [[0.0, 4.0, 15.0], [60.0, 6.0, 0.0]]


def least_cost(E, lower, upper, *checks):
    """The least cost within bounds on counts and checks of (choices) -> bools, by trying all."""
    choices = np.indices((E.shape[1],) * len(E)).reshape(len(E), -1).T
    counts = np.stack([(choices == j).sum(axis=1) for j in range(E.shape[1])], axis=1)
    fits = ((counts >= lower) & (counts <= upper)).all(axis=1)
    fits &= np.logical_and.reduce([check(choices) for check in checks])
    return E[np.arange(len(E)), choices[fits]].sum(axis=1).min() if fits.any() else None


def payments(n):
    """Probabilities of two classes, and expected costs of three decisions."""
    fraud = np.random.default_rng(0).beta(0.4, 6, n)
    p = np.stack([1 - fraud, fraud], axis=1)
    return p, expected_cost(p, MATRIX)


@pytest.fixture(params=[False, True], ids=["exchanges", "a program of few rows"])
def by_program(request, monkeypatch):
    """Also by prices and a program of few rows, which normally needs thousands of rows."""
    if request.param:
        monkeypatch.setattr(program, "_ROWS", 2)
        monkeypatch.setattr("costboost.decisions.solve._SMALL", 0)


@pytest.mark.usefixtures("by_program")
@pytest.mark.parametrize("kind", ["ties", "distinct"])
@pytest.mark.parametrize("seed", range(12))
def test_the_optimum_and_its_prices_are_those_of_brute_force(seed, kind):
    rng = np.random.default_rng(seed)
    n, d = (9, 2) if seed % 5 == 0 else (int(rng.integers(4, 8)), 3)
    E = rng.integers(0, 3, (n, d)).astype(float) if kind == "ties" else rng.normal(size=(n, d))
    lower = upper = np.zeros(d, int)
    while not ((lower <= upper).all() and lower.sum() <= n <= upper.sum()):
        lower = rng.integers(0, n + 1, d) * (rng.random(d) < 0.4)
        upper = np.where(rng.random(d) < 0.6, rng.integers(0, n + 1, d), n)
    found = allocate(E, capacity=dict(enumerate(np.stack([lower, upper], axis=1).tolist())))
    counts, least = np.bincount(found.codes, minlength=d), least_cost(E, lower, upper)
    assert ((counts >= lower) & (counts <= upper)).all()
    assert found.expected_cost == pytest.approx(least, abs=1e-9)
    assert found.expected_cost == pytest.approx(E[np.arange(n), found.codes].sum(), abs=1e-12)
    for j, step in enumerate(np.eye(d, dtype=int)):
        more = least - least_cost(E, lower, upper + step) if upper[j] < n else 0.0
        fewer = least - least_cost(E, np.maximum(lower - step, 0), upper)
        assert found.price[j] == pytest.approx(more if more > 1e-12 else -fewer, abs=1e-9)


DAILY = {name: (1, 1 + name % 2) for name in range(10_000)}  # a limit of each group


@pytest.mark.parametrize("limit", [{1: (1, 1)}, {1: (1, 1), 2: (None, 1)}, {1: DAILY, 2: 0.5}])
def test_many_groups_are_one_pass(limit):
    """A scan per group took 5 and 25 s for these; each is decided as if it were alone."""
    rng = np.random.default_rng(0)
    E, group = rng.uniform(0, 9, (30_000, 3)), rng.integers(0, 10_000, 30_000)
    start = time.process_time()
    found = allocate(E, capacity=limit, per=group)
    assert time.process_time() - start < 2.0
    frame = found.to_frame().set_index(["group", "decision"])
    assert list(found.price) == np.unique(group).tolist() == frame.index.unique("group").tolist()
    assert frame["rows"].sum() == 30_000
    for costs in (frame["expected_cost"], found.cost_by_decision.values()):
        assert sum(costs) == pytest.approx(found.expected_cost)
    for name in list(found.price)[:60]:
        own = {j: one[name] if isinstance(one, dict) else one for j, one in limit.items()}
        alone = allocate(E[group == name], capacity=own)
        assert (found.codes[group == name] == alone.codes).all()
        assert found.price[name] == pytest.approx(alone.price, abs=1e-12)
        assert frame.loc[name]["rows"].to_dict() == alone.counts


EVERY = {0: (90, 90), 1: (60, 60), 2: (150, 150)}
SHARES = [{1: 0.07}, {1: (5, 20), 2: 0.1}, EVERY]


@pytest.mark.parametrize("capacity", [*SHARES, {1: 2}])
@pytest.mark.parametrize("seed", range(3))
def test_prices_make_the_optimum_the_cheapest_decision(seed, capacity):
    """One mechanism: the policy of the prices is the allocation, ties aside."""
    E, days = np.random.default_rng(seed).normal(size=(300, 3)), np.arange(300) % 10
    is_daily = capacity == {1: 2}  # on average
    prices = capacity_prices(E, capacity=capacity, per=days if is_daily else None)
    found = allocate(E, capacity={1: 20} if is_daily else capacity)
    assert ((E + prices).argmin(axis=1) == found.codes).all()
    assert all(prices[j] == 0 for j in range(3) if j not in capacity)
    assert capacity_prices(E, capacity={1: 0})[1] == np.inf


def test_unit_and_level_of_the_costs_do_not_matter():
    rng = np.random.default_rng(0)
    E, capacity = rng.normal(size=(300, 3)), {1: (10, 30), 2: 0.1}
    codes = allocate(E, capacity=capacity).codes
    for other in (1e-9 * E, 1e9 * E, E + 1e6 * rng.normal(size=(300, 1))):
        assert (allocate(other, capacity=capacity).codes == codes).all()


def test_shares_are_rounded_to_the_feasible_side():
    E = np.tile([1.0, 0.0], (1000, 1))  # equal rows never overshoot
    assert allocate(E[:100], capacity={1: 0.29}).counts[1] == 29  # 0.29 * 100 is below 29
    assert allocate(E[:100], capacity={1: 0.295}).counts[1] == 29
    assert allocate(-E[:100], capacity={1: (0.295, 1.0)}).counts[1] == 30
    assert allocate(E, capacity={1: 0.01, 0: (0.003, 1.0)}).counts[1] == 10


@pytest.mark.parametrize("d", [2, 4])
def test_the_curve_is_allocate_at_every_capacity(d):
    rng = np.random.default_rng(d)
    E, prices = rng.normal(size=(40, d)), rng.normal(size=(40, d))
    curve = capacity_curve(E, 1, prices=prices)
    assert curve["capacity"][-1] == (cheapest(E) == 1).sum()
    for at, limit in enumerate(curve["capacity"]):
        found = allocate(E, capacity={1: int(limit)})
        assert curve["expected_cost"][at] == pytest.approx(found.expected_cost)
        assert curve["price"][at] == pytest.approx(found.price[1])
        paid = np.take_along_axis(prices, found.codes[:, None], axis=1).sum()
        assert curve["cost"][at] == pytest.approx(paid)
    weights = rng.integers(1, 4, 40)
    often = capacity_curve(np.repeat(E, weights, axis=0), 1)
    once = capacity_curve(E, 1, sample_weight=weights)
    assert often["expected_cost"][[0, -1]] == pytest.approx(once["expected_cost"][[0, -1]])
    assert often["capacity"][-1] == once["capacity"][-1]


# Costs that tie at even probabilities, and the winner: of two the second, of more the first.
TIES = [([[0, 4], [4, 0]], 1), ([[0, 6], [3, 0], [3, 0]], 1), ([[5, 0, 4], [5, 4, 0]], 1)]


@pytest.mark.parametrize(("matrix", "winner"), [*TIES, (1.0 - np.eye(3), 0)])
def test_a_tie_is_decided_in_one_way(matrix, winner):
    k, d = np.shape(matrix)
    p = np.full((3, k), 1 / k)
    found = [cheapest(expected_cost(p, matrix)), allocate(expected_cost(p, matrix)).codes]
    for costs in (matrix, np.broadcast_to(matrix, (3, k, d))):
        found.append(Costs(np.arange(k), costs, np.arange(d)).decide(p))
    assert {*np.concatenate(found)} == {winner}
    rows = sensitivity(p, matrix, rivals={"the winner": [winner] * 3}).rows
    assert all(row["cost"] == row["the winner"] for row in rows)


SMALL = {"n_estimators": 10, "effort": "fast", "random_state": 0}
MODELS = {
    "learned costs": CostBoostClassifier(**SMALL),
    "costs of columns": CostBoostClassifier({"fn": "amount", "fp": 5, "tp": 5}, **SMALL),
    "any classifier": MinCostClassifier(GaussianNB(), {"fn": 60, "fp": 5}),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("per", [None, "night"])
def test_one_number_decides(name, per):
    """`decide` with room for all is `predict`."""
    data = make_fraud(600, random_state=0)
    X = pd.DataFrame(data.X, columns=list(data.feature_names)).assign(night=data.X[:, 2] < 6)
    old, told = ({"costs": data.costs[part]} for part in (slice(400), slice(400, None)))
    is_told = name == "learned costs"
    model = MODELS[name].fit(X[:400], data.y[:400], **(old if is_told else {}))
    new = X[400:]
    for more in [{}, told] if is_told else [{}]:
        decided = model.predict(new, **more)
        for room in ({1: len(new) + 1}, {1: 1.0}, {0: (0, 1.0), 1: 500}, None):
            assert (model.decide(new, capacity=room, per=per, **more).labels == decided).all()
        share = model.decide(new, capacity={1: 0.1}, per=per, **more)
        for rows in [new.index >= 0] if per is None else [new[per], ~new[per]]:
            wanted = (decided[rows] == 1).sum()
            assert (share.labels[rows] == 1).sum() == min(int(0.1 * rows.sum()), wanted)
        for price in (1e9, np.inf):  # infinite: the price of a limit of 0
            assert (model.decide(new, prices=[0.0, price], **more).labels == 0).all()
    for wrong in ([1.0], 1.0, [np.inf, 0.0, 0.0], [[0.0, 1.0]], [0.0, np.nan]):
        with pytest.raises(ValueError, match=r"prices.*one number for each of the decisions"):
            model.decide(new, prices=wrong)


# -- constraints --------------------------------------------------------------------------------


def hard_limits(rng, n, hours):
    """Expected costs and limits of which some bind; the last are hours of reviews."""
    p, each = rng.dirichlet([3, 1], n), rng.uniform(1, 2, n)
    limits = [Rate([1, 2], 1, at_least=0.7), Rate(2, 0, at_most=0.3), Budget(1, hours, each)]
    E = expected_cost(p, [[0.0, 3.0, 9.0], [20.0, 5.0, 0.0]])
    return p, each, E, {"constraints": limits, "proba": p}


@pytest.mark.usefixtures("by_program")
@pytest.mark.parametrize("seed", range(12))
def test_constraints_hold_and_the_bound_is_one(seed):
    p, hours, E, limits = hard_limits(np.random.default_rng(seed), 8, 4.0)
    checks = (
        lambda c: (p[:, 1] * (c > 0)).sum(1) >= 0.7 * p[:, 1].sum() - 1e-9,
        lambda c: (p[:, 0] * (c == 2)).sum(1) <= 0.3 * p[:, 0].sum() + 1e-9,
        lambda c: (hours * (c == 1)).sum(1) <= 4 + 1e-9,
    )
    best = least_cost(E, 0, 8, *checks)
    if best is None:
        with pytest.raises(ValueError, match="infeasible"):
            allocate(E, **limits)
        return
    found = allocate(E, **limits)
    assert all(check(found.codes[None]) for check in checks)
    assert found.lower_bound - 1e-9 <= best <= found.expected_cost + 1e-9


@pytest.mark.parametrize("seed", [5, 9, 34])
def test_a_program_of_few_rows_is_solved_until_its_prices_agree_with_all(seed, monkeypatch):
    _, _, E, limits = hard_limits(np.random.default_rng(seed), 60, 12)
    whole = allocate(E, **limits).lower_bound
    monkeypatch.setattr(program, "_ROWS", 2)
    assert allocate(E, **limits).lower_bound == pytest.approx(whole)


def test_constraints_on_many_rows_are_met_closely():
    p, E = payments(30_000)
    limits = [Rate(["review", "block"], 1, at_least=0.7), Rate("block", 0, at_most=0.15)]
    found = allocate(E, ACTIONS, capacity={"review": 2000}, constraints=limits, proba=p)
    detection, alarms = found.constraints
    assert detection["value"] + 1e-9 >= 0.7 and alarms["value"] <= 0.15 + 1e-9
    assert found.counts["review"] <= 2000
    assert 0 <= found.expected_cost - found.lower_bound + 1e-6 < 3 * np.ptp(E, axis=1).max()
    assert detection["price"] <= 0 <= alarms["price"]
    half = np.arange(30_000) % 2
    both = allocate(E, ACTIONS, constraints=limits, proba=p, per=half)
    for one in (0, 1):
        alone = allocate(E[half == one], ACTIONS, constraints=limits, proba=p[half == one])
        assert (both.codes[half == one] == alone.codes).all()
        values = [row["value"] for row in both.constraints if row["group"] == one]
        assert values == [row["value"] for row in alone.constraints]


def test_infeasible_constraints_on_many_rows_are_refused_without_the_whole_program():
    """By a contradiction between the limits; the whole program would take minutes."""
    p, E = payments(20_000)
    start = time.process_time()
    caught, likely = ["review", "block"], np.sort(p[:, 1])[::-1]
    needed = np.searchsorted(likely.cumsum(), 0.5 * likely.sum())  # to catch half of the frauds
    for limits in (
        [Rate(caught, given=1, at_least=0.9), Rate(caught, given=0, at_most=0.1)],
        [Rate(caught, given=1, at_least=0.5), Budget(caught, 0.995 * needed, amount=1.0)],
    ):
        with pytest.raises(ValueError, match="infeasible: found no decisions"):
            allocate(E, ACTIONS, constraints=limits, proba=p)
    assert time.process_time() - start < 30


def test_a_budget_on_the_expected_cost_of_a_decision_and_no_rows():
    E = np.array([[10.0, 4.0], [2.0, 4.0], [50.0, 4.0], [30.0, 4.0]])
    found = allocate(E, constraints=Budget(1, at_most=9.0))
    assert found.counts[1] == 2
    assert found.constraints[0]["value"] == 8.0
    assert allocate(E[:0], capacity={1: 5}).codes.shape == (0,)
    assert allocate(E[:0], capacity={1: 5}, per=[]).price == {}
