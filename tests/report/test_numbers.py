"""The parts of a report against `costboost.metrics` and plain code."""

from __future__ import annotations

import numpy as np
import pytest

from costboost.metrics import cost_by_threshold, total_cost
from costboost.report import make_case, report_data
from costboost.report.headline import headline
from costboost.report.money import mistakes
from report.cases import CASES, two_classes

cases = pytest.mark.parametrize("case", [make() for make in CASES.values()], ids=list(CASES))


def labels(case, codes):
    return np.array(case.classes)[codes]


# -- headline -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in CASES if "decisions" not in name])
def test_headline_costs_what_the_metric_says(name):
    case = CASES[name]()
    head = headline(case)

    def priced(decided):
        truth, taken = labels(case, case.codes), labels(case, decided)
        names = np.array(case.classes)
        return total_cost(truth, taken, costs=case.prices, labels=names, sample_weight=case.weights)

    constants = [priced(np.full(case.n, e)) for e in range(case.d)]
    for key, cost in {
        "constant": min(constants),
        "model": priced(case.decided),
        "likeliest": priced(case.right[case.proba.argmax(axis=1)]),
    }.items():
        assert head.rule(key).cost.value == pytest.approx(cost)
    for rule in head.rules:
        gap = rule.cost.value - head.rule("model").cost.value
        assert rule.saving.value == pytest.approx(gap)
        assert rule.saving.low <= rule.saving.value <= rule.saving.high
    assert head.perfect == pytest.approx((case.prices.min(axis=1) * case.weights).sum())
    assert head.verdict.gain == pytest.approx(head.rule("constant").saving.value / head.rows)
    assert ("nothing" in [rule.key for rule in head.rules]) == (case.nothing is not None)


def test_days_are_the_draws_if_there_are_enough():
    n = 600
    time = np.datetime64("2026-03-01") + (np.arange(n) // 20).astype("timedelta64[D]")
    case = two_classes(n, time=time)
    head = headline(case)
    assert (head.unit, len(head.days)) == ("day", 30)
    rows = case.spent(case.decided)
    model = head.daily["The model"]
    assert model == pytest.approx([rows[20 * d : 20 * d + 20].sum() for d in range(30)])
    assert model.sum() == pytest.approx(head.rule("model").cost.value)
    assert headline(two_classes(n, time=np.full(n, "2026-03-01"))).unit == "row"


def test_rivals_decide_by_the_same_costs():
    case = two_classes()
    blind = np.full((case.n, 2), 0.5)
    head = headline(two_classes(rivals={"coin": blind, "never": np.array(["ok"] * case.n)}))
    rivals = {rule.name: rule.cost.value for rule in head.rules if rule.key == "rival"}
    assert rivals["never"] == head.rule("nothing").cost.value
    decided = np.einsum("nk,nkd->nd", blind, case.matrix).argmin(axis=1)
    assert rivals["coin"] == pytest.approx(case.total(decided))


# -- curves -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("two classes")])
def test_threshold_curve_is_the_metric(name):
    case = CASES[name]()
    report = report_data(case)
    curve = report.thresholds
    risks, costs = cost_by_threshold(
        labels(case, case.codes),
        case.risk,
        costs=case.prices,
        positive="fraud",
        labels=np.array(case.classes),
        sample_weight=case.weights,
    )
    assert curve["costs"] == pytest.approx(costs[np.searchsorted(risks, curve["thresholds"])])
    if case.matrix.ndim == 2:
        assert curve["stated"] == pytest.approx(5 / 30)
        at = report.operating_point(threshold=curve["stated"])
        assert at.cost == pytest.approx(report.headline.rule("model").cost.value)


@cases
def test_curves_are_the_sliders_model(case):
    report = report_data(case)
    board, curve = report.case, report.thresholds
    assert (curve is None) == (len(case.risky) == 0)
    if curve is not None:
        best, lowest = curve["best"]
        assert f"{best:g}" in str(report.sliders["thresholds"])  # what is shown can be set
        assert board.operating_point(threshold=best).cost == pytest.approx(lowest)
        for t, cost in list(zip(curve["thresholds"], curve["costs"], strict=True))[::17]:
            assert board.operating_point(threshold=t).cost == pytest.approx(cost)
    for curve in report.capacities:
        limited = curve["decision"]
        assert curve["wanted"] == pytest.approx(board.operating_point().counts[limited])
        for capacity, cost in list(zip(curve["capacity"], curve["cost"], strict=True))[::23]:
            point = board.operating_point(capacity=capacity, limited=limited)
            assert point.cost == pytest.approx(cost)
        assert (np.diff(curve["price"]) <= 1e-12).all()
        assert curve["price"][-1] == 0
        assert (np.diff(curve["expected_cost"]) <= 1e-9).all()


@cases
def test_calibration_counts_every_row_once(case):
    for curve in report_data(case).calibrations:
        j = case.classes.index(curve["label"])
        for key, wanted in {
            "observed": case.weights[case.codes == j].sum(),
            "predicted": (case.weights * case.proba[:, j]).sum(),
        }.items():
            assert (curve[key] * curve["rows"]).sum() == pytest.approx(wanted)
        assert curve["rows"].sum() == pytest.approx(case.weights.sum())
        assert (curve["low"] <= curve["observed"]).all()
        assert (curve["observed"] <= curve["high"]).all()


# -- if the costs are wrong ---------------------------------------------------------------------


@cases
def test_wrong_costs_are_those_of_decisions(case):
    """By levers of single mistakes the page's own model says the same."""
    report = report_data(case)
    found, board = report.sensitivity, report.case
    if case.costs.matrix is None:
        assert found is None
        return
    stated = board.operating_point().decided
    for place, name in enumerate(board.levers):
        if name not in found["regret"]:
            continue
        low, high = found["break_even"][name]
        for at, factor in enumerate(found["factors"]):
            values = np.ones(len(board.levers))
            values[place] = factor
            factors = board.factors(values)
            cost, known = board.account(stated, factors).cost, board.operating_point(values).cost
            assert found["regret"][name][at] == pytest.approx(cost - known, abs=1e-6)
            constants = [board.account(np.full(case.n, e), factors).cost for e in range(case.d)]
            if low < factor < high:
                assert cost <= min(constants) + 1e-6
    assert all(line[list(found["factors"]).index(1)] == 0 for line in found["regret"].values())
    assert 1 <= len(found["regret"]) <= 6


# -- where the money goes -----------------------------------------------------------------------


@cases
def test_mistakes_are_the_rows_of_largest_avoidable_cost(case):
    found = mistakes(case, most=10)
    avoidable = [
        case.weights[i] * (case.prices[i, case.decided[i]] - case.prices[i].min())
        for i in range(case.n)
    ]
    ranked = sorted(range(case.n), key=lambda i: -avoidable[i])[:10]
    assert [m["avoidable"] for m in found] == pytest.approx([avoidable[i] for i in ranked])
    for mistake in found:
        i = int(mistake["row"])
        assert mistake["truth"] == case.classes[case.codes[i]]
        assert mistake["decided"] == case.decisions[case.decided[i]]
        assert mistake["probability"] == case.proba[i, case.codes[i]]


def test_reasons_are_the_largest_parts():
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(300, 5))
    values = {f"f{j}": rng.normal(size=300) for j in range(5)}
    asked = []

    def explain(rows):
        asked.append(len(rows))
        return parts[rows]

    for source in (parts, explain):
        for mistake in mistakes(two_classes(explain=source, features=values), most=5):
            i = int(mistake["row"])
            best = np.argsort(-np.abs(parts[i]))[:3]
            names, _, money = zip(*mistake["reasons"], strict=True)
            assert (names, money) == (tuple(f"f{j}" for j in best), tuple(parts[i, best]))
    assert asked == [5]  # only the rows shown


@cases
def test_outcomes_add_up(case):
    found = report_data(case).outcomes
    assert found["rows"].sum() == pytest.approx(case.weights.sum())
    assert found["paid"].sum() == pytest.approx(case.total(case.decided))
    best = (case.prices.min(axis=1) * case.weights).sum()
    assert (found["paid"] - found["avoidable"]).sum() == pytest.approx(best)
    inside = (case.codes == 0) & (case.decided == 1)
    assert found["paid"][0, 1] == pytest.approx((case.prices[:, 1] * case.weights)[inside].sum())


def test_groups_add_up():
    rng = np.random.default_rng(0)
    n = 300
    columns = {
        "word": rng.choice(list("abcdefghijklmnopqrs"), n),
        "number": rng.normal(size=n),
        "few": rng.integers(0, 3, n),
        "gaps": np.where(rng.uniform(size=n) < 0.2, np.nan, rng.normal(size=n)),
    }
    case = two_classes(n, weights=True, segments=columns)
    report = report_data(case)
    parts = report.segments
    assert {name: len(parts[name]["labels"]) for name in ("amount", "word", "number")} == {
        "amount": 10, "word": 12, "number": 5
    }  # fmt: skip
    assert parts["word"]["labels"][-1] == "8 others"
    assert sorted(parts["few"]["labels"]) == ["0", "1", "2"]
    assert parts["gaps"]["labels"][-1] == "missing"
    for groups in parts.values():
        for key, wanted in {
            "rows": case.weights.sum(),
            "model": case.total(case.decided),
            "constant": report.headline.rule("constant").cost.value,
        }.items():
            assert groups[key].sum() == pytest.approx(wanted)


def test_features_by_money():
    rng = np.random.default_rng(0)
    n = 300
    parts = rng.normal(size=(n, 3)) * [1.0, 5.0, 0.0]
    values = {"a": rng.normal(size=n), "b": rng.choice(["x", "y"], n), "c": np.zeros(n)}
    case = two_classes(n, explain=parts, features=values)
    found = report_data(case).features
    assert found["names"] == ["b", "a", "c"]
    assert found["money"] == pytest.approx(np.abs(parts).mean(axis=0)[[1, 0, 2]])
    assert [effect["name"] for effect in found["effects"]] == ["b", "a"]
    assert found["toward"] == "fraud"
    for_acting = np.where(case.decided == case.idle, -1, 1) * parts[:, 1]
    effect = found["effects"][0]
    for label, mean in zip(effect["labels"], effect["mean"], strict=True):
        assert mean == pytest.approx(for_acting[values["b"] == label].mean())


# -- laws ---------------------------------------------------------------------------------------


def test_weight_two_is_the_row_twice():
    once = two_classes(200, weights=True)
    rows = np.repeat(np.arange(200), once.weights.astype(int))
    names = np.array(once.classes)
    y = names[once.codes[rows]]
    costs = once.matrix[rows]
    twice = make_case(y, once.proba[rows], classes=names, costs=costs, nothing="ok")
    a, b = report_data(once), report_data(twice)
    assert a.outcomes["paid"] == pytest.approx(b.outcomes["paid"])
    assert a.thresholds["best"] == pytest.approx(b.thresholds["best"])
    for x, y in zip(a.headline.rules, b.headline.rules, strict=True):
        assert x.cost.value == pytest.approx(y.cost.value)
    for name, span in a.sensitivity["break_even"].items():
        assert span == pytest.approx(b.sensitivity["break_even"][name])


def test_average_costs_are_over_the_rows_of_that_truth():
    case = two_classes()
    missed = case.matrix[case.codes == 0, 0, 1]
    assert case.average[0, 1] == pytest.approx(missed.mean())


# -- what make_case refuses ---------------------------------------------------------------------

P = np.full((4, 2), 0.5)
Y = [0, 1, 0, 1]
WRONG = [
    ({"proba": P[:3]}, r"'proba' parameter of make_case must have shape \(4, 2\), got \(3, 2\)"),
    ({"proba": P * np.nan}, "'proba' parameter of make_case must be finite"),
    ({"costs": np.ones((3, 2))}, "'costs' parameter"),
    ({"costs": np.ones((3, 2, 2))}, "'costs' parameter"),
    (
        {"decided": [0, 1, 0, 2]},
        "'decided' parameter of make_case must hold only the decisions .*got .2",
    ),
    (
        {"classes": [0, 2]},
        "'y' parameter of make_case must hold only the classes .*got .1",
    ),
    ({"nothing": 7}, "'nothing' parameter"),
    ({"positive": 7}, "'positive' parameter"),
    ({"sample_weight": [-1, 1, 1, 1]}, "'sample_weight' parameter of make_case must be finite"),
    ({"time": ["x"] * 4}, "'time' parameter of make_case must hold dates"),
    ({"segments": {"a": [1, 2]}}, "must have one element per row"),
    ({"rivals": {"r": P[:2]}}, r"rivals\['r'\]"),
    ({"rivals": {"The model": P}}, "must not use the names"),
    ({"explain": np.ones((3, 2))}, "'explain' parameter"),
    ({"decisions": ["a", "b", "c"]}, "'costs' parameter of make_case is needed"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_make_case_says_what_is_wrong(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_case(**{"y": Y, "proba": P, **arguments})


def test_the_idle_decision_is_named_or_that_of_the_other_class():
    costs = [[0, 5], [1, 0]]
    assert make_case(Y, P, costs=costs).idle == 0
    assert make_case(Y, P, costs=costs, positive=0).idle == 1
    assert make_case(Y, P, costs=costs, nothing=1).idle == 1
    assert make_case(Y, P, costs=costs).nothing is None
    many = {"y": [2, 2, 1], "proba": np.full((3, 3), 1 / 3), "classes": [0, 1, 2]}
    assert make_case(**many).idle is None
    assert make_case(**many, nothing=2).idle == 2
