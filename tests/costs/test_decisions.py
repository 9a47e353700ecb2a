"""Decisions are columns: they need not be the classes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from costboost.costs import Costs

CLASSES = ["fraud", "ok"]
DECISIONS = ["accept", "review", "block"]
TABLE = np.array([[100.0, 4.0, 0.0], [0.0, 4.0, 20.0]])
PAIRS = {(t, d): TABLE[i, j] for i, t in enumerate(CLASSES) for j, d in enumerate(DECISIONS)}
FRAME = pd.DataFrame(TABLE, CLASSES, DECISIONS)
FORMS = {
    "frame": FRAME,
    "other order of truths": FRAME.loc[["ok", "fraud"]],
    "truth in a column": FRAME.reset_index(names="truth"),
    "polars": pl.DataFrame({"truth": CLASSES, **dict(zip(DECISIONS, TABLE.T, strict=True))}),
    "pairs": PAIRS,
    "axes named": FRAME.rename_axis(index="truth", columns="decision"),
    "Costs": Costs(CLASSES, TABLE, DECISIONS),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_forms(form):
    costs = Costs.resolve(form, classes=CLASSES)
    assert costs.decisions.tolist() == DECISIONS
    assert costs.classes.tolist() == CLASSES
    np.testing.assert_array_equal(costs.matrix, TABLE)
    assert not costs.decides_classes


def test_known_decisions_set_the_order():
    other = FRAME[["block", "accept", "review"]]
    costs = Costs.resolve(other, classes=CLASSES, decisions=DECISIONS)
    np.testing.assert_array_equal(costs.matrix, TABLE)
    rows = Costs.resolve(costs=TABLE[None], classes=CLASSES, decisions=DECISIONS)
    np.testing.assert_array_equal(rows.matrix, TABLE[None])
    with pytest.raises(ValueError, match=r"decisions \['accept', 'review', 'block'\].*fitted with"):
        Costs.resolve(FRAME[["accept", "review"]], classes=CLASSES, decisions=DECISIONS)


def test_a_class_without_rows_stays_a_decision():
    labels = ["a", "b", "c"]
    form = pd.DataFrame(1.0 - np.eye(3), labels, labels)
    costs = Costs.resolve(form, classes=["a", "c"])
    assert costs.decisions.tolist() == labels
    np.testing.assert_array_equal(costs.matrix, [[0, 1, 1], [1, 1, 0]])
    square = Costs.resolve(form, classes=["a", "c"], as_classes=True)
    np.testing.assert_array_equal(square.matrix, [[0, 1], [1, 0]])
    with pytest.raises(ValueError, match=r"decides only for the classes \['fraud', 'ok'\]"):
        Costs.resolve(FRAME, classes=CLASSES, as_classes=True)


@pytest.mark.parametrize("kind", ["static", "rows"])
def test_random_matrices(kind):
    """The decision is the argmin of p·C, by brute force."""
    rng = np.random.default_rng(0)
    for _ in range(500):
        k, d = rng.integers(2, 6, size=2)
        p = rng.dirichlet(np.ones(k), size=1)
        matrix = rng.normal(size=(k, d)) * 10.0 ** rng.integers(-3, 4)
        names = [f"decision {j}" for j in range(d)]
        costs = Costs(np.arange(k), matrix if kind == "static" else matrix[None], names)
        expected = [sum(p[0, j] * matrix[j, c] for j in range(k)) for c in range(d)]
        assert costs.decide(p)[0] == int(np.argmin(expected))
        np.testing.assert_allclose(costs.expected(p)[0], expected, rtol=1e-9, atol=1e-9)


def test_laws_of_known_costs():
    rng = np.random.default_rng(1)
    codes = rng.integers(2, size=50)
    known = Costs.resolve(FRAME, classes=CLASSES, codes=codes)
    np.testing.assert_array_equal(known.prices, TABLE[codes])
    np.testing.assert_array_equal(known.labels, TABLE[codes].argmin(axis=1))
    taken = rng.integers(3, size=50)
    np.testing.assert_array_equal(known.paid(taken), TABLE[codes, taken])
    np.testing.assert_array_equal(known.regret(taken), known.reduced[np.arange(50), taken])
    rows = Costs(CLASSES, np.repeat(TABLE[None], 50, axis=0), DECISIONS, codes=codes)
    prices = Costs(CLASSES, None, DECISIONS, codes=codes, prices=TABLE[codes])
    weights = rng.uniform(size=50)
    for other in (
        rows,
        prices,
        Costs.concat([rows.take(slice(20)), rows.take(slice(20, 50))]),
    ):
        np.testing.assert_array_equal(other.reduced, known.reduced)
        np.testing.assert_array_equal(other.labels, known.labels)
        assert other.avoidable_share(taken, weights) == pytest.approx(
            known.avoidable_share(taken, weights)
        )
    best = min(known.reduced.T @ weights)
    assert known.avoidable_share(taken, weights) == pytest.approx(
        1 - known.regret(taken) @ weights / best
    )
    np.testing.assert_allclose(known.average(), TABLE)


def test_mean_prices_of_a_class_without_rows():
    prices = np.array([[0.0, 2.0, 4.0], [0.0, 4.0, 8.0]])
    known = Costs(CLASSES, None, DECISIONS, codes=[1, 1], prices=prices)
    np.testing.assert_array_equal(known.average(), [[0, 3, 6], [0, 3, 6]])


def test_prices_of_named_decisions():
    prices = pd.DataFrame(TABLE[[0, 1, 1]], columns=DECISIONS)
    known = Costs.resolve(costs=prices, classes=CLASSES, codes=[0, 1, 1])
    assert known.decisions.tolist() == DECISIONS
    np.testing.assert_array_equal(known.prices, prices)
    with pytest.raises(ValueError, match=r"price of an error, but .* are not the classes"):
        Costs.resolve(costs=[1, 2, 3], classes=CLASSES, codes=[0, 1, 1], decisions=DECISIONS)


def test_words():
    text = str(Costs.resolve(FRAME, classes=CLASSES))
    assert "deciding 'review' when the truth is 'ok' costs 4" in text
    html = Costs.resolve(FRAME, classes=CLASSES)._repr_html_()
    assert "<th>decide review</th>" in html
    assert "<td>fraud</td>" in html
