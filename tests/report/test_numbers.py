"""The numbers of a report against `costboost.metrics`, plain loops and the sliders' own model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from costboost import CostBoostClassifier
from costboost._words import number
from costboost.metrics import Verdict, total_cost
from costboost.metrics.intervals import decision_cost
from costboost.report import make_case, report_data
from costboost.report.headline import headline
from costboost.report.money import mistakes
from costboost.report.what_if import FACTORS, packed, sampling_error, shown_rows
from data import rows
from report.cases import CASES, many_classes, two_classes

MADE = {name: make() for name, make in CASES.items()}
cases = pytest.mark.parametrize("case", MADE.values(), ids=list(MADE))


@pytest.fixture(scope="module")
def reports():
    return {id(case): report_data(case) for case in MADE.values()}


def paid(case, decided, factors=1.0):
    """Total cost of decisions, or of one for all rows, their costs multiplied."""
    decided = np.broadcast_to(decided, case.n)
    return (case.by_cell(case.spent(decided), decided) * factors).sum()


# -- headline -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in CASES if "decisions" not in name])
def test_headline_costs_what_the_metric_says(name):
    case = MADE[name]
    head, labels = headline(case), np.array(case.classes)

    def priced(decided):
        options = {"costs": case.prices, "labels": labels, "sample_weight": case.weights}
        return total_cost(labels[case.codes], labels[decided], **options)

    wanted = {
        "constant": min(priced(np.full(case.n, e)) for e in range(case.d)),
        "model": priced(case.decided),
        "likeliest": priced(case.right[case.proba.argmax(axis=1)]),
    }
    assert {key: head.rule(key).cost.value for key in wanted} == pytest.approx(wanted)
    for rule in head.rules:
        assert rule.saving.value == pytest.approx(rule.cost.value - wanted["model"])
        assert rule.saving.low <= rule.saving.value <= rule.saving.high
    assert head.perfect == pytest.approx((case.prices.min(axis=1) * case.weights).sum())
    assert head.verdict.gain == pytest.approx(head.rule("constant").saving.value / head.rows)
    assert ("nothing" in [rule.key for rule in head.rules]) == (case.nothing is not None)


def test_days_are_the_draws_if_there_are_enough():
    n = 600
    time = np.datetime64("2026-03-01") + (np.arange(n) // 20).astype("timedelta64[D]")
    case = two_classes(n, time=time, weights=True)
    head = headline(case)
    assert (head.unit, len(head.days)) == ("day", 30)
    by_day = case.spent(case.decided).reshape(30, 20).sum(axis=1)
    assert head.daily["The model"] == pytest.approx(by_day)
    assert by_day.sum() == pytest.approx(head.rule("model").cost.value)
    days = np.arange(n) // 20
    total = case.weights.sum()
    mean = decision_cost(case.costs, case.decided, case.weights, groups=days)
    assert head.rule("model").cost == pytest.approx(total * np.array(mean))
    by_customer = replace(case, groups=np.arange(n) // 6)
    assert headline(by_customer).unit == "group"
    assert headline(by_customer).verdict == Verdict.of(
        case.costs, case.decided, case.weights, groups=np.arange(n) // 6
    )
    assert headline(two_classes(n, time=np.full(n, "2026-03-01"))).unit == "row"


def test_rivals_decide_by_the_same_costs():
    blind = np.full((300, 2), 0.5)
    case = two_classes(rivals={"coin": blind, "never": np.array(["ok"] * 300)})
    head = headline(case)
    rivals = {rule.name: rule.cost.value for rule in head.rules if rule.key == "rival"}
    assert rivals["never"] == head.rule("nothing").cost.value
    decided = np.einsum("nk,nkd->nd", blind, case.matrix).argmin(axis=1)
    assert rivals["coin"] == pytest.approx(paid(case, decided))


# -- sliders and curves -------------------------------------------------------------------------


def by_loops(case, factors, capacity, limited):
    """The definition of an operating point, row by row."""
    n, k, d = case.n, case.k, case.d
    matrix, decided, found, used = np.broadcast_to(case.matrix, (n, k, d)), [], [], 0.0
    for i in range(n):
        row = [
            sum(factors[j, e] * (case.proba[i, j] * matrix[i, j, e]) for j in range(k))
            for e in range(d)
        ]
        order = range(d) if d > 2 else (1, 0)  # of two decisions that tie, the second
        decided.append(min(order, key=row.__getitem__))
        if decided[i] == limited:
            other = min((e for e in range(d) if e != limited), key=row.__getitem__)
            found.append((row[limited] - row[other], i, other))
    for _, i, other in sorted(found) if capacity is not None else ():
        used += case.weights[i]
        if used > capacity:
            decided[i] = other
    return decided


@cases
def test_operating_point_is_its_definition(case):
    assert (case.operating_point().decided == case.decided).all()
    rng = np.random.default_rng(0)
    for _ in range(12):
        values = rng.choice(FACTORS, len(case.levers))
        capacity = float(rng.integers(case.n)) if rng.uniform() < 0.6 else None
        at, factors = (capacity, int(rng.integers(case.d))), case.factors(values)
        point, decided = case.operating_point(values, *at), by_loops(case, factors, *at)
        assert point.decided.tolist() == decided
        each = case.prices[np.arange(case.n), decided] * factors[case.codes, decided]
        assert point.cost == pytest.approx(each @ case.weights, rel=1e-12, abs=1e-9)
        assert point.counts == pytest.approx(np.bincount(decided, case.weights, minlength=case.d))


def test_levers_are_single_mistakes_or_classes():
    few = two_classes(per_row=False).levers
    assert list(few) == ["Deciding ok when it is fraud", "Deciding fraud when it is ok"]
    many = many_classes().levers
    assert list(many) == [f"Mistakes on {j}" for j in range(4)]
    assert (sum(cells.astype(int) for cells in many.values()) == 1 - np.eye(4)).all()


@cases
def test_curves_are_what_the_decisions_cost_and_count(case, reports):
    report = reports[id(case)]
    curve = report.thresholds
    assert (curve is None) == (len(case.risky) == 0)
    if curve is not None:
        others = np.delete(np.arange(case.d), case.idle)
        act = others[case.expected()[:, others].argmin(axis=1)]
        risk = case.proba[:, case.right != case.idle].sum(axis=1)
        pairs = [*zip(curve["thresholds"], curve["costs"], strict=True)]
        for t, cost in pairs[::17]:
            assert float(number(t)) == t  # what is shown can be tried
            assert paid(case, np.where(risk >= t, act, case.idle)) == pytest.approx(cost)
        assert curve["best"] == min(pairs, key=lambda pair: pair[1])
    for curve in report.capacities:
        limited = curve["decision"]
        assert curve["wanted"] == pytest.approx(case.operating_point().counts[limited])
        for capacity, cost in list(zip(curve["capacity"], curve["cost"], strict=True))[::23]:
            point = case.operating_point(capacity=capacity, limited=limited)
            assert point.cost == pytest.approx(cost)
        assert (np.diff(curve["price"]) <= 1e-12).all() and curve["price"][-1] == 0
    curve = report.calibration  # counts every row once
    p, hit = case.proba.max(axis=1), case.proba.argmax(axis=1) == case.codes
    if len(case.risky):
        p, hit = case.proba[:, case.risky].sum(axis=1), np.isin(case.codes, case.risky)
    for key, wanted in {"observed": hit, "predicted": p}.items():
        assert (curve[key] * curve["rows"]).sum() == pytest.approx((case.weights * wanted).sum())
    assert curve["rows"].sum() == pytest.approx(case.weights.sum())
    assert ((curve["low"] <= curve["observed"]) & (curve["observed"] <= curve["high"])).all()


@cases
def test_the_model_pays_between_the_break_even_factors(case, reports):
    found = reports[id(case)].break_even
    assert (found is None) == (case.costs.matrix is None)
    if found is None:
        return
    for lever, name in zip(np.eye(len(case.levers)), case.levers, strict=True):
        low, high = found.get(name, (0.0, 0.0))
        for factor in (0.5 * low, 2 * low, (low + min(high, 1e3)) / 2, 0.5 * high, 2 * high):
            if 0 < factor < np.inf:
                factors = case.factors(1.0 + lever * (factor - 1.0))
                constant = min(paid(case, e, factors) for e in range(case.d))
                pays = paid(case, case.decided, factors) <= constant + 1e-6
                assert pays == (low <= factor <= high), factor
    stakes = case.average * np.bincount(case.codes, case.weights, case.k)[:, None]
    cells = np.argwhere(np.any(list(case.levers.values()), axis=0))
    kinds = {case.mistake(j, e): stakes[j, e] for j, e in cells}
    assert list(found) == sorted(kinds, key=kinds.get, reverse=True)[:6]


@cases
def test_packed_rows_keep_every_bit(case):
    header, content = packed(case)
    assert (header["prices"] is None) == (case.costs.matrix is not None)
    pairs = [(header["truth"], case.codes), (header["weights"], case.weights)]
    pairs += zip(header["proba"], case.proba.T, strict=True)
    pairs += zip(header["prices"] or (), case.prices.T, strict=False)
    for j, e in np.ndindex(case.k, case.d):
        pairs.append((header["costs"][j][e], case.matrix[..., j, e]))
    for spec, wanted in pairs:  # as the page reads them
        found = [spec.get("constant")]
        if "type" in spec:
            found = np.frombuffer(content, spec["type"], spec["length"], spec["at"])
        assert (found == wanted).all()


@pytest.mark.parametrize("name", ["costs of rows", "four classes", "one heavy row"])
def test_a_sample_stands_for_all_rows(name, monkeypatch):
    case = many_classes(30_000) if name == "four classes" else two_classes(30_000, weights=True)
    if name == "one heavy row":
        case.weights[0] = 20_000.0
    assert shown_rows(case) is case
    errors = []
    for most in (300, 3_000):
        monkeypatch.setattr("costboost.report.what_if.MOST_ROWS", most)
        sample = shown_rows(case)
        assert sample.n <= most
        assert sample.weights.sum() == pytest.approx(case.weights.sum(), rel=0.1)
        exact, drawn = (one.operating_point().cost for one in (case, sample))
        assert drawn == pytest.approx(exact, rel=0.05)
        errors.append(sampling_error(case, sample))
    assert errors[1] < min(errors[0], 0.06)
    sliders = report_data(case).sliders
    assert (sliders["rows"], sliders["error"]) == (sample.n, errors[1])


# -- where the money goes -----------------------------------------------------------------------


@cases
def test_mistakes_and_outcomes(case, reports):
    own = case.prices[np.arange(case.n), case.decided]
    avoidable = case.weights * (own - case.prices.min(axis=1))
    found = mistakes(case, most=10)
    assert [one["avoidable"] for one in found] == pytest.approx(np.sort(avoidable)[::-1][:10])
    for one in found:
        i = int(one["row"])
        assert one["truth"] == case.classes[case.codes[i]]
        assert one["decided"] == case.decisions[case.decided[i]]
        assert one["probability"] == case.proba[i, case.codes[i]]
    cells = reports[id(case)].outcomes
    assert cells["rows"].sum() == pytest.approx(case.weights.sum())
    assert cells["avoidable"].sum() == pytest.approx(avoidable.sum())
    inside = (case.codes == 0) & (case.decided == 1)
    assert cells["paid"][0, 1] == pytest.approx((case.prices[:, 1] * case.weights)[inside].sum())


def test_reasons_are_the_largest_parts_and_features_their_mean_sizes():
    rng, asked = np.random.default_rng(0), []
    parts = rng.normal(size=(300, 5)) * [1.0, 1.0, 5.0, 1.0, 0.1]
    values = {f"f{j}": rng.normal(size=300) for j in range(5)}

    def explain(rows):
        asked.append(len(rows))
        return parts[rows]

    for source in (parts, explain):
        case = two_classes(explain=source, features=values)
        for one in mistakes(case, most=5):
            i = int(one["row"])
            best = np.argsort(-np.abs(parts[i]))[:3]
            names, _, money = zip(*one["reasons"], strict=True)
            assert (names, money) == (tuple(f"f{j}" for j in best), tuple(parts[i, best]))
    assert asked == [5]  # only the rows shown
    found, means = report_data(case).features, np.abs(parts).mean(axis=0)
    assert found["names"] == [f"f{j}" for j in np.argsort(-means)]
    assert found["money"] == pytest.approx(np.sort(means)[::-1])


def test_groups_add_up():
    rng, n = np.random.default_rng(0), 300
    columns = {
        "word": rng.choice(list("abcdefghijklmnopqrs"), n),
        "number": rng.normal(size=n),
        "few": rng.integers(0, 3, n),
        "gaps": np.where(rng.uniform(size=n) < 0.2, np.nan, rng.normal(size=n)),
    }
    case = two_classes(n, weights=True, segments=columns)
    parts = report_data(case).segments
    sizes = {name: len(groups["labels"]) for name, groups in parts.items()}
    assert sizes == {"word": 12, "number": 10, "few": 3, "gaps": 11}
    assert [parts[name]["labels"][-1] for name in ("word", "gaps")] == ["8 others", "missing"]
    assert (np.diff(parts["word"]["model"][:-1]) <= 0).all()  # the costliest first
    wanted = {"rows": case.weights.sum(), "model": paid(case, case.decided)}
    wanted["constant"] = paid(case, case.constant)
    for groups in parts.values():
        assert {key: groups[key].sum() for key in wanted} == pytest.approx(wanted)


# -- laws, and what make_case refuses -----------------------------------------------------------


def test_weight_two_is_the_row_twice_but_in_intervals():
    once = two_classes(200, weights=True)
    places = np.repeat(np.arange(200), once.weights.astype(int))
    names = np.array(once.classes)
    more = {"classes": names, "costs": once.matrix[places], "nothing": "ok"}
    twice = make_case(names[once.codes[places]], once.proba[places], **more)
    mean = twice.matrix[twice.codes == 0, 0, 1].mean()  # over the rows of that truth
    assert once.average[0, 1] == pytest.approx(mean)
    a, b = report_data(once), report_data(twice)
    assert a.outcomes["paid"] == pytest.approx(b.outcomes["paid"])
    assert a.thresholds["best"] == pytest.approx(b.thresholds["best"])
    for x, y in zip(a.headline.rules, b.headline.rules, strict=True):
        assert (x.cost.value, x.saving.value) == pytest.approx((y.cost.value, y.saving.value))
    for name, span in a.break_even.items():
        assert span == pytest.approx(b.break_even[name])


def test_rows_of_any_library():
    X, y = rows()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = CostBoostClassifier({"fn": 5, "fp": 1}, effort="fast", random_state=0)
    model.fit(frame, y)
    tables = frame, pl.from_pandas(frame), pl.from_pandas(frame).to_arrow()
    first, *others = (model.report_data(one, y, segments=["a"]) for one in tables)
    for one in others:
        assert one.mistakes == first.mistakes
        assert one.features["money"].tolist() == first.features["money"].tolist()


P = np.full((4, 2), 0.5)
Y = [0, 1, 0, 1]
WRONG = [
    ({"proba": P[:3]}, r"'proba' parameter of make_case must have shape \(4, 2\), got \(3, 2\)"),
    ({"proba": P * np.nan}, "'proba' parameter of make_case must be finite"),
    ({"costs": np.ones((3, 2))}, "'costs' parameter"),
    ({"decided": [0, 1, 0, 2]}, "'decided' parameter of make_case .*only the decisions .*got .2"),
    ({"classes": [0, 2]}, "'y' parameter of make_case must hold only the classes .*got .1"),
    ({"nothing": 7}, "'nothing' parameter"),
    ({"positive": 7}, "'positive' parameter"),
    ({"time": ["x"] * 4}, "'time' parameter of make_case must hold dates"),
    ({"segments": {"a": [1, 2]}}, "must have one element per row"),
    ({"rivals": {"r": P[:2]}}, r"rivals\['r'\]"),
    ({"rivals": {"The model": P}}, "must not use names"),
    ({"explain": np.ones((3, 2))}, "'explain' parameter"),
    ({"decisions": ["a", "b", "c"]}, "'costs' parameter of make_case is needed"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_make_case_says_what_is_wrong(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_case(**{"y": Y, "proba": P, **arguments})


def test_the_idle_decision_is_named_or_that_of_the_other_class():
    costs = [[0, 5], [1, 0]]
    for given, idle in (({}, 0), ({"positive": 0}, 1), ({"nothing": 1}, 1)):
        assert make_case(Y, P, costs=costs, **given).idle == idle
    many = {"y": [2, 2, 1], "proba": np.full((3, 3), 1 / 3), "classes": [0, 1, 2]}
    assert make_case(**many).idle is None
    assert make_case(**many, nothing=2).idle == 2
