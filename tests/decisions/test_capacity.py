"""Decisions within limits against trying everything; prices against solving again."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from costboost import CostBoostClassifier, MinCostClassifier
from costboost.datasets import make_fraud
from costboost.decisions import (
    Budget,
    Rate,
    allocate,
    capacity_curve,
    capacity_prices,
    cheapest,
    expected_cost,
    program,
    worst_expected_cost,
)

ACTIONS = ["accept", "review", "block"]


def least_cost(E, *checks):
    """The least cost of decisions that meet all checks of (choices) -> bools, by trying all."""
    choices = np.indices((E.shape[1],) * len(E)).reshape(len(E), -1).T
    fits = np.logical_and.reduce([check(choices) for check in checks])
    return E[np.arange(len(E)), choices[fits]].sum(axis=1).min() if fits.any() else None


def brute_force(E, lower, upper):
    """The least cost of decisions within bounds on counts."""

    def within(choices):
        counts = np.stack([(choices == j).sum(axis=1) for j in range(E.shape[1])], axis=1)
        return ((counts >= lower) & (counts <= upper)).all(axis=1)

    return least_cost(E, within)


def random_case(rng, n, d, kind):
    """Costs and bounds that can be met; whole numbers have many ties."""
    E = rng.integers(0, 3, (n, d)).astype(float) if kind == "ties" else rng.normal(size=(n, d))
    while True:
        lower = rng.integers(0, n + 1, d) * (rng.random(d) < 0.4)
        upper = np.where(rng.random(d) < 0.6, rng.integers(0, n + 1, d), n)
        if (lower <= upper).all() and lower.sum() <= n <= upper.sum():
            return E, lower, upper


def as_capacity(lower, upper):
    return {j: (int(low), int(up)) for j, (low, up) in enumerate(zip(lower, upper, strict=True))}


@pytest.mark.parametrize("kind", ["ties", "distinct"])
@pytest.mark.parametrize("rows_of_program", [4000, 2], ids=["whole program", "few rows"])
@pytest.mark.parametrize("seed", range(12))
def test_equals_brute_force(seed, kind, rows_of_program, monkeypatch):
    """Also by prices and a program of few rows, which normally needs thousands of rows."""
    monkeypatch.setattr(program, "_ROWS", rows_of_program)
    rng = np.random.default_rng(seed)
    n, d = (12, 2) if seed % 5 == 0 else (int(rng.integers(5, 9)), 3)
    E, lower, upper = random_case(rng, n, d, kind)
    found = allocate(E, capacity=as_capacity(lower, upper))
    counts = np.bincount(found.codes, minlength=d)
    assert ((counts >= lower) & (counts <= upper)).all()
    assert found.expected_cost == pytest.approx(brute_force(E, lower, upper), abs=1e-9)
    assert found.expected_cost == pytest.approx(E[np.arange(n), found.codes].sum(), abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_groups_are_solved_one_by_one(seed):
    rng = np.random.default_rng(seed)
    E = rng.integers(0, 4, (12, 3)) + rng.normal(size=(12, 3)) * (seed % 2)
    days = rng.permutation(np.repeat(["mon", "tue", "wed"], 4))
    limit = {"mon": 1, "tue": (1, 2), "wed": 0.5}
    found = allocate(E, ACTIONS, capacity={"review": limit, "block": 2}, per=days)
    total = 0.0
    for day, (low, high) in {"mon": (0, 1), "tue": (1, 2), "wed": (0, 2)}.items():
        total += brute_force(E[days == day], [0, low, 0], [4, high, 2])
        assert low <= (found.labels[days == day] == "review").sum() <= high
    assert found.expected_cost == pytest.approx(total, abs=1e-9)
    assert list(found.price) == ["mon", "tue", "wed"]


@pytest.mark.parametrize("capacity", [{1: (1, 1)}, {1: (1, 1), 2: (None, 1)}], ids=str)
def test_many_groups_are_one_pass(capacity):
    """A scan per group took 5 and 25 s for these; the prices are those of each group alone."""
    rng = np.random.default_rng(0)
    E, group = rng.uniform(0, 9, (30_000, 3)), rng.integers(0, 10_000, 30_000)
    start = time.process_time()
    found = allocate(E, capacity=capacity, per=group)
    named = {j: dict.fromkeys(found.price, limit) for j, limit in capacity.items()}
    by_name = allocate(E, capacity=named, per=group)
    assert time.process_time() - start < 3.0
    assert (np.bincount(group[found.codes == 1])[list(found.price)] == 1).all()
    assert (found.codes == by_name.codes).all()
    for name in list(found.price)[:60]:
        alone = allocate(E[group == name], capacity=capacity)
        assert (found.codes[group == name] == alone.codes).all()
        assert found.price[name] == pytest.approx(alone.price, abs=1e-12)


@pytest.mark.parametrize("kind", ["ties", "distinct"])
@pytest.mark.parametrize("seed", range(8))
def test_price_is_what_one_more_unit_saves(seed, kind):
    rng = np.random.default_rng(100 + seed)
    n, d = 6, 3
    E, lower, upper = random_case(rng, n, d, kind)
    found = allocate(E, capacity=as_capacity(lower, upper))
    least = brute_force(E, lower, upper)
    for j in range(d):
        step = np.eye(d, dtype=int)[j]
        more = least - brute_force(E, lower, upper + step) if upper[j] < n else 0.0
        fewer = least - brute_force(E, np.maximum(lower - step, 0), upper)
        assert found.price[j] == pytest.approx(more if more > 1e-12 else -fewer, abs=1e-9)


@pytest.mark.parametrize("seed", range(15))
def test_prices_make_the_optimum_the_cheapest_decision(seed):
    """One mechanism: the policy of the prices is the allocation, ties aside."""
    rng = np.random.default_rng(seed)
    E = rng.normal(size=(200, 3))
    capacity = {1: (5, 20), 2: 0.1} if seed % 2 else {1: 0.07}
    prices = capacity_prices(E, capacity=capacity)
    found = allocate(E, capacity=capacity)
    assert ((E + prices).argmin(axis=1) == found.codes).all()


def test_prices_keep_limits_on_average_on_new_rows():
    rng = np.random.default_rng(0)
    proba = rng.beta(0.5, 5, 40_000)
    p = np.stack([1 - proba, proba], axis=1)
    matrix = np.array([[0.0, 4.0, 25.0], [100.0, 6.0, 0.0]])
    E = expected_cost(p, matrix)
    days = np.repeat(np.arange(20), 1000)
    prices = capacity_prices(E[:20_000], ACTIONS, capacity={"review": 50}, per=days)
    chosen = expected_cost(p[20_000:], matrix + prices).argmin(axis=1)
    by_day = (chosen == 1).reshape(20, 1000).sum(axis=1)
    assert abs(by_day.mean() - 50) < 4 * by_day.std() / np.sqrt(20) + 1
    assert prices[0] == prices[2] == 0 < prices[1]


def test_limit_of_zero_has_no_finite_price():
    prices = capacity_prices([[3.0, 1.0], [4.0, 0.0]], capacity={1: 0})
    assert prices.tolist() == [0.0, np.inf]


def test_limits_of_all_decisions():
    E = np.array([[0.0, 1.0, 5.0], [0.0, 2.0, 2.0], [1.0, 0.0, 3.0], [0.0, 4.0, 1.0]])
    found = allocate(E, capacity={0: (1, 1), 1: (2, 2), 2: (1, 1)})
    assert found.counts == {0: 1, 1: 2, 2: 1}
    prices = capacity_prices(E, capacity={0: (1, 1), 1: (2, 2), 2: (1, 1)})
    own = np.take_along_axis(E + prices, found.codes[:, None], axis=1)[:, 0]
    np.testing.assert_allclose(own, (E + prices).min(axis=1), atol=1e-12)


def test_ties_never_overshoot():
    E = np.tile([5.0, 1.0, 9.0], (1000, 1))
    for capacity in ({1: 10}, {1: 10, 2: (3, 7)}, {1: 0.01, 2: (0.003, 1.0)}):
        assert allocate(E, capacity=capacity).counts[1] == 10


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_unit_and_level_of_the_costs_do_not_matter(scale):
    rng = np.random.default_rng(0)
    E = rng.normal(size=(300, 3))
    capacity = {1: (10, 30), 2: 0.1}
    found = allocate(E, capacity=capacity)
    assert (allocate(scale * E, capacity=capacity).codes == found.codes).all()
    level = allocate(E + 1e6 * rng.normal(size=(300, 1)), capacity=capacity)
    assert (level.codes == found.codes).all()


def test_shares_are_rounded_to_the_feasible_side():
    E = np.tile([1.0, 0.0], (100, 1))
    assert allocate(E, capacity={1: 0.29}).counts[1] == 29  # 0.29 * 100 is below 29
    assert allocate(E, capacity={1: 0.295}).counts[1] == 29
    assert allocate(-E, capacity={1: (0.295, 1.0)}).counts[1] == 30


def test_frame_and_parts_add_up():
    rng = np.random.default_rng(0)
    E = rng.uniform(0, 9, (60, 3))
    found = allocate(E, ACTIONS, capacity={"review": 3}, per=np.arange(60) % 4)
    frame = found.to_frame()
    assert list(frame["group"].unique()) == [0, 1, 2, 3]
    assert frame["rows"].sum() == 60
    assert (frame.loc[frame["decision"] == "review", "at_most"] == 3).all()
    assert frame["expected_cost"].sum() == pytest.approx(found.expected_cost, abs=1e-9)
    assert sum(found.cost_by_decision.values()) == pytest.approx(found.expected_cost, abs=1e-9)
    with pytest.raises(AttributeError):
        found.codes = None


def test_worst_case_of_several_matrices():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(2), 30)
    scenarios = rng.uniform(0, 9, (4, 2, 3))
    worst = worst_expected_cost(p, scenarios)
    plain = [[max(row @ C[:, j] for C in scenarios) for j in range(3)] for row in p]
    np.testing.assert_allclose(worst, plain)
    assert allocate(worst, capacity={0: 2}).counts[0] <= 2


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


MODELS = {
    "learned costs": CostBoostClassifier(n_estimators=10, ensemble=1, random_state=0),
    "costs of columns": CostBoostClassifier(
        {"fn": "amount", "fp": 5, "tp": 5}, n_estimators=10, ensemble=1, random_state=0
    ),
    "any classifier": MinCostClassifier(GaussianNB(), {"fn": 60, "fp": 5}),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("per", [None, "night"])
def test_one_number_decides(name, per):
    """`predict` is the cheapest of `predict_cost`; `decide` with room for all is `predict`."""
    data = make_fraud(600, random_state=0)
    X = pd.DataFrame(data.X, columns=list(data.feature_names)).assign(night=data.X[:, 2] < 6)
    told = {"costs": data.costs} if name == "learned costs" else {}
    model = MODELS[name].fit(X[:400], data.y[:400], **{k: v[:400] for k, v in told.items()})
    new = X[400:]
    for more in ({}, {k: v[400:] for k, v in told.items()}):
        expected, decided = model.predict_cost(new, **more), model.predict(new, **more)
        assert (model.decisions_[cheapest(expected)] == decided).all()
        for capacity in ({1: len(new) + 1}, {1: 1.0}, {0: (0, 1.0), 1: 500}, None):
            found = model.decide(new, capacity=capacity, per=per, **more)
            assert (found.labels == decided).all()
        share = model.decide(new, capacity={1: 0.1}, per=per, **more)
        groups = [new.index >= 0] if per is None else [new[per], ~new[per]]
        for rows in groups:
            assert (share.labels[rows] == 1).sum() <= 0.1 * rows.sum()


# -- constraints --------------------------------------------------------------------------------


@pytest.mark.parametrize("rows_of_program", [4000, 2], ids=["whole program", "few rows"])
@pytest.mark.parametrize("seed", range(12))
def test_constraints_hold_and_the_bound_is_one(seed, rows_of_program, monkeypatch):
    monkeypatch.setattr(program, "_ROWS", rows_of_program)
    rng = np.random.default_rng(seed)
    n = 8
    p = rng.dirichlet([3, 1], n)
    E = expected_cost(p, [[0.0, 3.0, 9.0], [20.0, 5.0, 0.0]])
    hours = rng.uniform(1, 2, n)
    constraints = [
        Rate(["review", "block"], given="fraud", at_least=0.7),
        Rate("block", given="ok", at_most=0.3),
        Budget("review", at_most=4.0, amount=hours),
    ]
    detected = lambda c: (p[:, 1] * (c > 0)).sum(1) >= 0.7 * p[:, 1].sum() - 1e-9  # noqa: E731
    alarms = lambda c: (p[:, 0] * (c == 2)).sum(1) <= 0.3 * p[:, 0].sum() + 1e-9  # noqa: E731
    money = lambda c: (hours * (c == 1)).sum(1) <= 4 + 1e-9  # noqa: E731
    best = least_cost(E, detected, alarms, money)
    arguments = {"constraints": constraints, "proba": p, "classes": ["ok", "fraud"]}
    if best is None:
        with pytest.raises(ValueError, match="infeasible"):
            allocate(E, ACTIONS, **arguments)
        return
    found = allocate(E, ACTIONS, **arguments)
    one = found.codes[None]
    assert detected(one) and alarms(one) and money(one)
    assert found.lower_bound <= best + 1e-9
    assert best <= found.expected_cost + 1e-9


def test_constraints_on_many_rows_are_met_closely():
    rng = np.random.default_rng(0)
    fraud = rng.beta(0.4, 6, 30_000)
    p = np.stack([1 - fraud, fraud], axis=1)
    E = expected_cost(p, [[0.0, 4.0, 15.0], [60.0, 6.0, 0.0]])
    found = allocate(
        E,
        ACTIONS,
        capacity={"review": 2000},
        constraints=[
            Rate(["review", "block"], given=1, at_least=0.7),
            Rate("block", given=0, at_most=0.15),
        ],
        proba=p,
    )
    detection, alarms = found.constraints
    assert detection["value"] + 1e-9 >= 0.7
    assert alarms["value"] <= 0.15 + 1e-9
    assert found.counts["review"] <= 2000
    assert 0 <= found.expected_cost - found.lower_bound + 1e-6 < 3 * np.ptp(E, axis=1).max()
    assert detection["price"] <= 0 <= alarms["price"]


def test_infeasible_constraints_on_many_rows_are_refused_without_the_whole_program(monkeypatch):
    """By a contradiction between the limits; the whole program would take minutes."""
    rng = np.random.default_rng(0)
    fraud = rng.beta(0.4, 6, 20_000)
    p = np.stack([1 - fraud, fraud], axis=1)
    E = expected_cost(p, [[0.0, 4.0, 15.0], [60.0, 6.0, 0.0]])
    solved = []
    original = program._with_free_rows
    monkeypatch.setattr(
        program,
        "_with_free_rows",
        lambda E, limits, free, *more: solved.append(len(free)) or original(E, limits, free, *more),
    )
    limits = [
        Rate(["review", "block"], given=1, at_least=0.9),
        Rate(["review", "block"], given=0, at_most=0.1),
    ]
    with pytest.raises(ValueError, match="infeasible: found no decisions"):
        allocate(E, ACTIONS, constraints=limits, proba=p)
    assert max(solved) < 20_000


def test_no_rows():
    none = np.empty((0, 3))
    assert allocate(none, ACTIONS, capacity={"review": 5}).codes.shape == (0,)
    assert allocate(none, ACTIONS, capacity={"review": 5}, per=[]).price == {}


def test_a_budget_on_the_expected_cost_of_a_decision():
    E = np.array([[10.0, 4.0], [2.0, 4.0], [50.0, 4.0], [30.0, 4.0]])
    found = allocate(E, constraints=Budget(1, at_most=9.0))
    assert found.counts[1] == 2
    assert found.constraints[0]["value"] == 8.0


# -- bad input ----------------------------------------------------------------------------------

E4 = np.array([[10.0, 4.0, 18.0], [2.0, 4.0, 20.0], [50.0, 4.0, 9.0], [30.0, 4.0, 12.0]])
P4 = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4]])
DAYS = ["mon", "mon", "tue", "tue"]

CLASSES = {"proba": P4, "classes": ["ok", "fraud"]}
GAPS = np.array(["mon", None, "tue", "tue"], dtype=object)
ONE = {"capacity": {"review": 1}}
BAD = [
    ({"capacity": {"reveiw": 1}}, "only the decisions.*got .'reveiw'.; did you mean 'review'"),
    ({"capacity": {"review": (3, 1)}}, "lower limit above the upper one: 3 > 1"),
    ({"capacity": {"review": (3, 4), "block": (3, 4)}}, "ask for 6 rows and there are 4"),
    ({"capacity": dict.fromkeys(ACTIONS, 1)}, "all decisions are limited.*together to 3 of 4 rows"),
    ({"capacity": {"review": (3, None)}, "per": DAYS}, "there are 2 of the group 'mon'"),
    ({"capacity": {"review": -1}}, "negative limit -1"),
    ({"capacity": {"review": 2.5}}, "got 2.5, which is neither"),
    ({"capacity": {"review": "many"}}, "got 'many'"),
    ({"capacity": {"review": {"mon": 1}}, "per": DAYS}, "no limit of the group 'tue'"),
    ({"capacity": {"review": {"mon": 1}}}, "there are no groups. Pass per="),
    ({"capacity": 200}, "must be a mapping"),
    ({**ONE, "per": GAPS}, "must name a group for every row; .*first row 1"),
    ({**ONE, "per": ["mon"]}, r"must have one element per row, shape \(4,\); got"),
    ({**ONE, "per": "dya", "X": pd.DataFrame({"day": DAYS})}, r"'dya', and X has \['day'\]"),
    ({"decisions": ["accept", "review"]}, "must hold 3 distinct labels"),
    ({"constraints": Rate("block", given=1, at_least=0.5)}, "Pass proba="),
    ({"constraints": Rate("block", "frod", at_least=0.5), **CLASSES}, "did you mean 'fraud'"),
    ({"constraints": Rate("block", "ok", at_least=95), **CLASSES}, "must be from 0 to 1, got 95"),
    ({"constraints": Rate("block", "ok"), **CLASSES}, "got neither"),
    ({"constraints": Rate("block", "ok", 0.5, 0.1), **CLASSES}, "lower limit above the upper one"),
    ({"constraints": Budget("review", -1.0)}, "infeasible: found no decisions of these 4 rows"),
    ({"constraints": [200]}, "must hold Rate"),
    ({"constraints": Budget("review", 5.0, amount=[1.0, 2.0])}, "'amount' parameter of Budget"),
    ({"expected": [[1.0, np.nan, 0.0]]}, "must be finite"),
    ({"expected": [1.0, 2.0]}, r"shape \(n, d\)"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_input_is_refused_with_the_remedy(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        allocate(**{"expected": E4, "decisions": ACTIONS, **arguments})
