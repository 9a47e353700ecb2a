"""The sliders' model against plain loops and `costboost.metrics`; the embedded rows bit by bit."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from costboost.report import report_data
from costboost.report.board import bin_rows, board_of, factors_of, levers_of, pack, stated_error
from costboost.report.what_if import FACTORS, capacities, sliders, thresholds
from report.cases import CASES, many_classes, two_classes

cases = pytest.mark.parametrize("case", [make() for make in CASES.values()], ids=list(CASES))


def positions(case, count, seed=0):
    """Random positions of the sliders, each control on or off."""
    rng = np.random.default_rng(seed)
    levers = levers_of(case)
    for _ in range(count):
        yield (
            factors_of(levers, rng.choice(FACTORS, len(levers)), (case.k, case.d)),
            float(rng.choice(thresholds())) if rng.uniform() < 0.5 else None,
            float(rng.integers(case.n)) if rng.uniform() < 0.6 else None,
            int(rng.integers(case.d)),
        )


def by_loops(case, factors, threshold, capacity, limited):
    """The definition, row by row."""
    n, k, d = case.n, case.k, case.d
    matrix = case.matrix if case.is_per_row else np.broadcast_to(case.matrix, (n, k, d))
    expected, decided = [], []
    for i in range(n):
        row = [
            sum(factors[j, e] * (case.proba[i, j] * matrix[i, j, e]) for j in range(k))
            for e in range(d)
        ]
        risk = sum(case.proba[i, j] for j in range(k) if case.right[j] != case.nothing)
        if threshold is None:
            decided.append(min(range(d), key=row.__getitem__))
        elif risk >= threshold:
            others = [e for e in range(d) if e != case.nothing]
            decided.append(min(others, key=row.__getitem__))
        else:
            decided.append(case.nothing)
        expected.append(row)
    if capacity is not None:
        found = []
        for i in range(n):
            if decided[i] == limited:
                others = [e for e in range(d) if e != limited]
                other = min(others, key=expected[i].__getitem__)
                found.append((expected[i][limited] - expected[i][other], i, other))
        used = 0.0
        for _, i, other in sorted(found):
            used += case.weights[i]
            if used > capacity:
                decided[i] = other
    paid = sum(
        case.weights[i] * factors[case.codes[i], decided[i]] * case.prices[i, decided[i]]
        for i in range(n)
    )
    return decided, paid


@cases
def test_operating_point_is_its_definition(case):
    board = board_of(case)
    for position in positions(case, 12):
        point = board.operating_point(*position)
        decided, paid = by_loops(case, *position)
        assert point.decided.tolist() == decided
        assert point.cost == pytest.approx(paid, rel=1e-12, abs=1e-9)
        assert point.counts == pytest.approx(np.bincount(decided, case.weights, minlength=case.d))


@cases
def test_untouched_sliders_decide_as_the_case_does(case):
    assert (board_of(case).operating_point().decided == case.decided).all()


def test_a_report_answers_in_labels():
    report = report_data(two_classes())
    factors = factors_of(report.sliders.levers, [2.0, 0.5], (2, 2))
    found = report.operating_point([2.0, 0.5], threshold=0.3, capacity={"fraud": 40})
    expected = report.board.operating_point(factors, 0.3, 40, 0)
    assert (found.decided == expected.decided).all()
    assert found.cost == expected.cost
    assert report.operating_point().cost == report.board.operating_point().cost
    with pytest.raises(ValueError, match="one number for each of"):
        report.operating_point([1.0])
    with pytest.raises(ValueError, match="must limit one decision of"):
        report.operating_point(capacity={"review": 3})


def test_levers_are_single_mistakes_or_classes():
    few = levers_of(two_classes(per_row=False))
    assert [lever.label for lever in few] == [
        "Deciding ok when it is fraud",
        "Deciding fraud when it is ok",
    ]
    many = levers_of(many_classes())
    assert [lever.label for lever in many] == [f"Mistakes on {j}" for j in range(4)]
    joint = sum(lever.cells.astype(int) for lever in many)
    assert (joint == 1 - np.eye(4)).all()


def test_positions_of_sliders():
    marks = thresholds()
    assert marks == sorted(set(marks))
    assert {0.0, 0.5, 1.0} <= set(marks)
    assert min(t for t in marks if t > 0) < 0.001
    assert 1.0 in FACTORS
    assert list(FACTORS) == sorted(FACTORS)
    steps = capacities(2500.0)
    assert steps[0] == 0
    assert steps[-1] == 2500
    assert all(float(c).is_integer() for c in steps)


# -- packing ------------------------------------------------------------------------------------


def decoded(packed, spec, done=()):
    """Read a column as the page does."""

    def array(place):
        return np.frombuffer(bytes(packed.buffer), place["type"], place["length"], place["at"])

    if spec["kind"] == "constant":
        return spec["value"]
    if spec["kind"] == "complement":
        return 1.0 - done[spec["of"]]
    if spec["kind"] == "table":
        return array(spec["values"])[array(spec["index"])]
    return array(spec["values"])


@cases
def test_packed_rows_keep_every_bit(case):
    packed = pack(case, board_of(case), levers_of(case))
    header = packed.header
    assert packed.error is None
    assert header["exact"]
    done = []
    for spec in header["proba"]:
        done.append(decoded(packed, spec, done))
    assert (np.column_stack([np.broadcast_to(c, case.n) for c in done]) == case.proba).all()
    for j in range(case.k):
        for e in range(case.d):
            assert np.all(decoded(packed, header["costs"][j][e]) == case.cost_of(j, e))
    assert np.all(decoded(packed, header["weights"]) == case.weights)
    assert gzip.decompress(packed.compressed()) == bytes(packed.buffer)


def test_prices_are_packed_if_costs_do_not_tell_them():
    packed = pack(case := CASES["prices of decisions"](), board_of(case), levers_of(case))
    for e in range(case.d):
        assert (decoded(packed, packed.header["prices"][e]) == case.prices[:, e]).all()
    case = two_classes()
    assert pack(case, board_of(case), levers_of(case)).header["prices"] is None


@pytest.mark.parametrize("per_row", [False, True])
def test_bins_are_exact_at_the_stated_costs_and_close_elsewhere(per_row):
    case = two_classes(20_000, per_row=per_row, weights=True)
    board, levers = board_of(case), levers_of(case)
    bins = bin_rows(case, board, most=2_000)
    assert len(bins.truth) <= 2_000
    exact, binned = board.operating_point(), bins.operating_point()
    assert binned.cost == pytest.approx(exact.cost, rel=1e-6)
    assert binned.rows == pytest.approx(exact.rows)
    error = stated_error(board, bins, levers)
    assert 0 < error["relative"] < 0.04
    fewer = stated_error(board, bin_rows(case, board, most=60), levers)
    assert fewer["relative"] > error["relative"]


def test_bins_of_many_classes():
    case = many_classes(20_000)
    board = board_of(case)
    bins = bin_rows(case, board, most=3_000)
    assert bins.operating_point().cost == pytest.approx(board.operating_point().cost, rel=1e-6)
    assert stated_error(board, bins, levers_of(case))["relative"] < 0.1


def test_more_rows_than_the_page_takes_are_binned(monkeypatch):
    monkeypatch.setattr("costboost.report.board.EXACT_ROWS", 1_000)
    case = two_classes(3_000)
    moves = sliders(case, board_of(case))
    assert not moves.packed.header["exact"]
    assert moves.packed.error["positions"] == 40
    assert moves.packed.header["rows"] == moves.packed.header["truth"]["length"]
