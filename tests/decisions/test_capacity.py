"""Decisions within limits against trying everything; prices against solving again."""

from __future__ import annotations

import importlib
import time

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from sklearn.naive_bayes import GaussianNB

from costboost import CostBoostClassifier, MinCostClassifier
from costboost.costs import Costs
from costboost.datasets import make_fraud
from costboost.decisions import (
    Budget,
    Decisions,
    Rate,
    allocate,
    capacity_curve,
    capacity_prices,
    cheapest,
    expected_cost,
    read_limits,
    sensitivity,
)

ACTIONS = ["accept", "review", "block"]
MATRIX = [[0.0, 4.0, 15.0], [60.0, 6.0, 0.0]]


def allocated(E, labels=None, *, per=None, **limits):
    """The decisions of rows within limits, and the prices of these."""
    labels = np.arange(E.shape[1]) if labels is None else labels
    return allocate(E, read_limits(decisions=labels, **limits), groups=per)


def total(E, chosen):
    return E[np.arange(len(E)), chosen].sum()


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


@pytest.fixture(params=[False, True], ids=["exchanges", "prices first"])
def by_prices(request, monkeypatch):
    """Also by prices, then exchanges: normally for hundreds of rows."""
    if request.param:
        module = importlib.import_module("costboost.decisions.allocate")
        monkeypatch.setattr(module, "SMALL_GROUP_ROWS", 0)


@pytest.mark.usefixtures("by_prices")
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
    capacity = dict(enumerate(np.stack([lower, upper], axis=1).tolist()))
    chosen, prices = allocated(E, capacity=capacity)
    counts, least = np.bincount(chosen, minlength=d), least_cost(E, lower, upper)
    assert ((counts >= lower) & (counts <= upper)).all()
    assert total(E, chosen) == pytest.approx(least, abs=1e-9)
    for j, step in enumerate(np.eye(d, dtype=int)):
        more = least - least_cost(E, lower, upper + step) if upper[j] < n else 0.0
        fewer = least - least_cost(E, np.maximum(lower - step, 0), upper)
        assert prices[j] == pytest.approx(more if more > 1e-12 else -fewer, abs=1e-9)


DAILY = {name: (1, 1 + name % 2) for name in range(10_000)}  # a limit of each group


@pytest.mark.parametrize("limit", [{1: (1, 1)}, {1: (1, 1), 2: (None, 1)}, {1: DAILY, 2: 0.5}])
def test_many_groups_are_one_pass(limit):
    """A scan per group took 5 and 25 s for these; each is decided as if it were alone."""
    rng = np.random.default_rng(0)
    E, group = rng.uniform(0, 9, (30_000, 3)), rng.integers(0, 10_000, 30_000)
    start = time.process_time()
    chosen, prices = allocated(E, capacity=limit, per=group)
    assert time.process_time() - start < 2.0
    assert list(prices) == np.unique(group).tolist()
    for name in list(prices)[:60]:
        own = {j: one[name] if isinstance(one, dict) else one for j, one in limit.items()}
        alone, alone_prices = allocated(E[group == name], capacity=own)
        assert (chosen[group == name] == alone).all()
        assert prices[name] == pytest.approx(alone_prices, abs=1e-12)


EVERY = {0: (90, 90), 1: (60, 60), 2: (150, 150)}
SHARES = [{1: 0.07}, {1: (5, 20), 2: 0.1}, EVERY]


@pytest.mark.parametrize("capacity", [*SHARES, {1: 2}])
@pytest.mark.parametrize("seed", range(3))
def test_prices_make_the_optimum_the_cheapest_decision(seed, capacity):
    """One mechanism: the policy of the prices is the allocation, ties aside."""
    E, days = np.random.default_rng(seed).normal(size=(300, 3)), np.arange(300) % 10
    is_daily = capacity == {1: 2}  # on average
    prices = capacity_prices(E, capacity=capacity, per=days if is_daily else None)
    chosen, _ = allocated(E, capacity={1: 20} if is_daily else capacity)
    assert ((E + prices).argmin(axis=1) == chosen).all()
    assert all(prices[j] == 0 for j in range(3) if j not in capacity)
    assert capacity_prices(E, capacity={1: 0})[1] == np.inf


def test_unit_and_level_of_the_costs_do_not_matter():
    rng = np.random.default_rng(0)
    E, capacity = rng.normal(size=(300, 3)), {1: (10, 30), 2: 0.1}
    chosen, _ = allocated(E, capacity=capacity)
    for other in (1e-9 * E, 1e9 * E, E + 1e6 * rng.normal(size=(300, 1))):
        assert (allocated(other, capacity=capacity)[0] == chosen).all()


def test_shares_are_rounded_to_the_feasible_side():
    E = np.tile([1.0, 0.0], (1000, 1))  # equal rows never overshoot
    assert allocated(E[:100], capacity={1: 0.29})[0].sum() == 29  # 0.29 * 100 is below 29
    assert allocated(E[:100], capacity={1: 0.295})[0].sum() == 29
    assert allocated(-E[:100], capacity={1: (0.295, 1.0)})[0].sum() == 30
    assert allocated(E, capacity={1: 0.01, 0: (0.003, 1.0)})[0].sum() == 10


@pytest.mark.parametrize("d", [2, 4])
def test_the_curve_is_allocate_at_every_capacity(d):
    rng = np.random.default_rng(d)
    E, prices = rng.normal(size=(40, d)), rng.normal(size=(40, d))
    curve = capacity_curve(E, 1, prices=prices)
    assert curve["capacity"][-1] == (cheapest(E) == 1).sum()
    for at, limit in enumerate(curve["capacity"]):
        chosen, limit_prices = allocated(E, capacity={1: int(limit)})
        assert curve["expected_cost"][at] == pytest.approx(total(E, chosen))
        assert curve["price"][at] == pytest.approx(limit_prices[1])
        assert curve["cost"][at] == pytest.approx(total(prices, chosen))
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
    found = [cheapest(expected_cost(p, matrix)), allocate(expected_cost(p, matrix), [])[0]]
    for costs in (matrix, np.broadcast_to(matrix, (3, k, d))):
        found.append(Costs(costs, np.arange(k), np.arange(d)).decide(p))
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


@pytest.mark.parametrize("seed", range(12))
def test_constraints_hold_and_nothing_cheaper_does(seed):
    p, hours, E, limits = hard_limits(np.random.default_rng(seed), 8, 4.0)
    checks = (
        lambda c: (p[:, 1] * (c > 0)).sum(1) >= 0.7 * p[:, 1].sum() - 1e-9,
        lambda c: (p[:, 0] * (c == 2)).sum(1) <= 0.3 * p[:, 0].sum() + 1e-9,
        lambda c: (hours * (c == 1)).sum(1) <= 4 + 1e-9,
    )
    best = least_cost(E, 0, 8, *checks)
    if best is None:
        with pytest.raises(ValueError, match="infeasible"):
            allocated(E, **limits)
        return
    chosen, _ = allocated(E, **limits)
    assert all(check(chosen[None]) for check in checks)
    assert total(E, chosen) == pytest.approx(best)


def by_whole_program(E, added, low, high):
    """The least cost by a program over all rows; None if there is none."""
    n, d = E.shape
    result = milp(
        E.ravel(),
        integrality=np.ones(n * d),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(np.kron(np.eye(n), np.ones((1, d))), 1, 1),
            LinearConstraint(added.reshape(len(low), -1), low, high),
        ],
        options={"mip_rel_gap": 0.0},
    )
    return result.fun


@pytest.mark.parametrize("capacity", [{}, {1: (None, 20), 2: (5, 25)}], ids=["sums", "counts too"])
@pytest.mark.parametrize("seed", range(8))
def test_the_optimum_is_that_of_a_program_over_all_rows(seed, capacity):
    """The repair changes rows next to a tie: what it loses is less than one row costs."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 180))
    p, hours, E, limits = hard_limits(rng, n, n / 5)
    added = np.zeros((3 + len(capacity), n, 3))
    added[0, :, 1:] = p[:, [1]]
    added[1, :, 2] = p[:, 0]
    added[2, :, 1] = hours
    low, high = [0.7 * p[:, 1].sum(), 0, 0], [np.inf, 0.3 * p[:, 0].sum(), n / 5]
    for place, (j, (least, most)) in enumerate(capacity.items(), start=3):
        added[place, :, j] = 1
        low, high = [*low, least or 0], [*high, most]
    best = by_whole_program(E, added, np.array(low), np.array(high))
    if best is None:
        with pytest.raises(ValueError, match="infeasible"):
            allocated(E, capacity=capacity, **limits)
        return
    chosen, _ = allocated(E, capacity=capacity, **limits)
    sums = added[:, np.arange(n), chosen].sum(axis=1)
    assert (sums >= np.array(low) - 1e-9).all() and (sums <= np.array(high) + 1e-9).all()
    assert best - 1e-6 <= total(E, chosen) <= best + 0.1 * np.ptp(E, axis=1).max()


@pytest.mark.parametrize("kind", ["distinct", "ties"])
def test_constraints_on_many_rows_are_met_closely(kind):
    p, E = payments(30_000)
    if kind == "ties":
        p = p.round(2)
        E = expected_cost(p, MATRIX)
    limits = [Rate(["review", "block"], 1, at_least=0.7), Rate("block", 0, at_most=0.15)]
    known = {"constraints": limits, "proba": p}
    chosen, prices = allocated(E, ACTIONS, capacity={"review": 2000}, **known)
    caught, blocked = chosen > 0, chosen == 2
    assert p[caught, 1].sum() >= 0.7 * p[:, 1].sum() - 1e-6
    assert p[blocked, 0].sum() <= 0.15 * p[:, 0].sum() + 1e-6
    assert (chosen == 1).sum() <= 2000
    review, detection, alarm = prices.values()
    assert detection <= 0 <= min(alarm, review)
    # The prices prove that nothing costs less, up to what a few rows cost.
    penalised = E.copy()
    penalised[:, 1] += review
    penalised[:, 1:] += detection * p[:, [1]]
    penalised[:, 2] += alarm * p[:, 0]
    bound = penalised.min(axis=1).sum() - 2000 * review
    bound -= 0.7 * p[:, 1].sum() * detection + 0.15 * p[:, 0].sum() * alarm
    assert -1e-6 <= total(E, chosen) - bound < 3 * np.ptp(E, axis=1).max()
    half = np.arange(30_000) % 2
    both, prices = allocated(E, ACTIONS, **known, per=half)
    for one in (0, 1):
        rows = half == one
        alone, own = allocated(E[rows], ACTIONS, constraints=limits, proba=p[rows])
        assert (both[rows] == alone).all()
        assert prices[one] == own


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
            allocated(E, ACTIONS, constraints=limits, proba=p)
    assert time.process_time() - start < 10


def test_a_rate_of_one_is_met():
    p, E = payments(5_000)
    every = Rate(["review", "block"], given=1, at_least=1.0)
    chosen, _ = allocated(E, ACTIONS, constraints=every, proba=p)
    assert p[chosen == 0, 1].sum() <= 1e-9 * p[:, 1].sum()


def test_a_budget_on_the_expected_cost_of_a_decision_and_no_rows():
    E = np.array([[10.0, 4.0], [2.0, 4.0], [50.0, 4.0], [30.0, 4.0]])
    chosen, _ = allocated(E, constraints=Budget(1, at_most=9.0))
    assert chosen.tolist() == [0, 0, 1, 1]
    assert allocated(E[:0], capacity={1: 5})[0].shape == (0,)
    assert allocated(E[:0], capacity={1: 5}, per=[])[1] == {}


def test_decisions_say_what_the_limits_met():
    p, _ = payments(400)
    costs = Costs(MATRIX, ["ok", "fraud"], ACTIONS)
    day = np.repeat(["mon", "tue"], 200)
    limits = read_limits(
        {"review": {"mon": 10, "tue": (2, 20)}},
        Rate(["review", "block"], given="fraud", at_least=0.6),
        decisions=ACTIONS,
        proba=p,
        classes=["ok", "fraud"],
    )
    decided = Decisions.from_proba(p, costs, limits, groups=day)
    np.testing.assert_array_equal(decided.expected_cost, expected_cost(p, MATRIX))
    assert decided.cost.sum() == pytest.approx(total(decided.expected_cost, decided.chosen))
    assert decided.counts == {name: (decided.labels == name).sum() for name in ACTIONS}
    table = pd.DataFrame(decided.limits)
    assert table["limit"].unique().tolist() == ["review", "rate of review or block given fraud"]
    for row in decided.limits:
        rows = day == row["group"]
        if row["limit"] == "review":
            assert row["value"] == (decided.labels[rows] == "review").sum()
            assert (row["at_least"], row["at_most"]) == ((0, 10), (2, 20))[row["group"] == "tue"]
        else:
            caught = rows & (decided.labels != "accept")
            assert row["value"] == pytest.approx(p[caught, 1].sum() / p[rows, 1].sum())
            assert (row["at_least"], row["at_most"]) == (0.6, None)
        assert row["price"] == decided.limit_prices[row["group"]][row["limit"]]
    frame = decided.to_frame()
    assert frame.columns[:3].tolist() == ["decision", "runner_up", "saving"]
    assert frame["expected_cost_block"].tolist() == decided.expected_cost[:, 2].tolist()
    assert repr(decided).startswith("Decisions(400 rows: accept ")
    assert "<td>review</td>" in decided._repr_html_()
