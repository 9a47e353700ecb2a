"""The sliders' model against plain loops and `costboost.metrics`; the embedded rows bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

from costboost.report import report_data
from costboost.report.what_if import (
    FACTORS,
    packed,
    sampling_error,
    shown_rows,
    thresholds,
)
from report.cases import CASES, many_classes, two_classes

cases = pytest.mark.parametrize("case", [make() for make in CASES.values()], ids=list(CASES))


def positions(board, count, seed=0):
    """Random positions of the sliders, each control on or off."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield (
            rng.choice(FACTORS, len(board.levers)),
            float(rng.choice(thresholds())) if len(board.risky) and rng.integers(2) else None,
            float(rng.integers(board.n)) if rng.uniform() < 0.6 else None,
            int(rng.integers(board.d)),
        )


def by_loops(case, factors, threshold, capacity, limited):
    """The definition, row by row."""
    n, k, d = case.n, case.k, case.d
    matrix = case.matrix if case.matrix.ndim == 3 else np.broadcast_to(case.matrix, (n, k, d))
    expected, decided = [], []
    for i in range(n):
        row = [
            sum(factors[j, e] * (case.proba[i, j] * matrix[i, j, e]) for j in range(k))
            for e in range(d)
        ]
        risk = sum(case.proba[i, j] for j in range(k) if case.right[j] != case.idle)
        if threshold is None:
            decided.append(min(range(d), key=row.__getitem__))
        elif risk >= threshold:
            others = [e for e in range(d) if e != case.idle]
            decided.append(min(others, key=row.__getitem__))
        else:
            decided.append(case.idle)
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
    board = case
    for values, *others in positions(board, 12):
        point = board.operating_point(values, *others)
        decided, paid = by_loops(case, board.factors(values), *others)
        assert point.decided.tolist() == decided
        assert point.cost == pytest.approx(paid, rel=1e-12, abs=1e-9)
        assert point.counts == pytest.approx(np.bincount(decided, case.weights, minlength=case.d))


@cases
def test_untouched_sliders_decide_as_the_case_does(case):
    assert (case.operating_point().decided == case.decided).all()


def test_a_report_answers_in_labels():
    report = report_data(two_classes())
    found = report.operating_point([2.0, 0.5], threshold=0.3, capacity={"fraud": 40})
    expected = report.case.operating_point([2.0, 0.5], 0.3, 40, 0)
    assert (found.decided == expected.decided).all()
    assert found.cost == expected.cost
    assert report.operating_point().cost == report.case.operating_point().cost
    with pytest.raises(ValueError, match="one number for each of"):
        report.operating_point([1.0])
    with pytest.raises(ValueError, match="must limit one decision of"):
        report.operating_point(capacity={"review": 3})


def test_levers_are_single_mistakes_or_classes():
    few = two_classes(per_row=False).levers
    assert list(few) == ["Deciding ok when it is fraud", "Deciding fraud when it is ok"]
    many = many_classes().levers
    assert list(many) == [f"Mistakes on {j}" for j in range(4)]
    assert (sum(cells.astype(int) for cells in many.values()) == 1 - np.eye(4)).all()


# -- the rows in the page -----------------------------------------------------------------------


@cases
def test_packed_rows_keep_every_bit(case):
    header, content = packed(case)

    def array(place):
        return np.frombuffer(content, place["type"], place["length"], place["at"])

    def read(spec):
        """A column as the page reads it."""
        return np.full(case.n, spec["constant"]) if "constant" in spec else array(spec)

    assert (array(header["truth"]) == case.codes).all()
    assert (np.column_stack([read(spec) for spec in header["proba"]]) == case.proba).all()
    for j in range(case.k):
        for e in range(case.d):
            assert (read(header["costs"][j][e]) == case.cost_of(j, e)).all()
    assert (read(header["weights"]) == case.weights).all()
    if case.costs.matrix is None:
        assert (np.column_stack([read(spec) for spec in header["prices"]]) == case.prices).all()
    else:
        assert header["prices"] is None


SAMPLED = {
    "one matrix": lambda: two_classes(30_000, per_row=False, weights=True),
    "costs of rows": lambda: two_classes(30_000, weights=True),
    "four classes": lambda: many_classes(30_000),
}


@pytest.mark.parametrize("make", SAMPLED.values(), ids=list(SAMPLED))
def test_a_sample_stands_for_all_rows(make, monkeypatch):
    case = make()
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
    assert errors[1] < errors[0]
    assert errors[1] < 0.06
    report = report_data(case)
    assert (report.sliders["rows"], report.sliders["error"]) == (sample.n, errors[1])
