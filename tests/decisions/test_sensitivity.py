"""Wrong costs: regret, crossings with other rules, and the amounts at which decisions flip."""

from __future__ import annotations

import numpy as np
import pytest

from costboost.decisions import break_even, cheapest, expected_cost, sensitivity

MATRIX = np.array([[0.0, 3.0, 8.0], [40.0, 5.0, 1.0]])


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    fraud = rng.beta(0.6, 4, 3000)
    truth = (rng.random(3000) < fraud).astype(int)
    return np.stack([1 - fraud, fraud], axis=1), truth


# -- sensitivity --------------------------------------------------------------------------------


@pytest.mark.parametrize("per_row", [False, True])
@pytest.mark.parametrize("realised", [False, True])
def test_costs_and_regret_by_plain_sums(rows, realised, per_row):
    p, truth = rows
    rng = np.random.default_rng(1)
    matrix = MATRIX * rng.uniform(0.5, 2, (len(p), 1, 1)) if per_row else MATRIX
    full = np.broadcast_to(matrix, (len(p), 2, 3))
    found = sensitivity(p, matrix, truth if realised else None, factors=[0.3, 1.0, 3.0])
    stated = cheapest(expected_cost(p, matrix))
    seen = set()
    for row in found.rows:
        j, a = row["entry"]
        seen.add((j, a))
        true = full.copy()
        true[:, j, a] *= row["factor"]
        price = true[np.arange(len(p)), truth] if realised else np.einsum("nj,njd->nd", p, true)
        known = cheapest(np.einsum("nj,njd->nd", p, true))
        paid = price[np.arange(len(p)), stated].sum()
        best = price[np.arange(len(p)), known].sum()
        assert row["cost"] == pytest.approx(paid)
        assert row["known"] == pytest.approx(best)
        assert row["regret"] == pytest.approx(paid - best, abs=1e-8)
        assert row["always 1"] == pytest.approx(price[:, 1].sum())
        if row["factor"] == 1.0:
            assert row["regret"] == 0.0
        if not realised:
            assert row["regret"] >= -1e-9
    assert seen == {(0, 1), (0, 2), (1, 0), (1, 1), (1, 2)}


def test_at_a_crossing_the_rules_cost_the_same(rows):
    p, truth = rows
    stated = [[0.0, 3.0], [15.0, 0.0]]
    found = sensitivity(p, stated, truth, rivals={"half": (p[:, 1] > 0.5).astype(int)})
    checked = 0
    for crossing in found.crossings:
        for side, beyond in (("cheaper_below", 0.99), ("cheaper_above", 1.01)):
            factor = crossing[side]
            if np.isnan(factor) or factor == 1.0:
                continue
            at, after = (
                sensitivity(
                    p, stated, truth, factors=[f], entries=[crossing["entry"]],
                    rivals={"half": (p[:, 1] > 0.5).astype(int)},
                ).rows[0]
                for f in (factor, factor * beyond)
            )  # fmt: skip
            assert at["cost"] == pytest.approx(at[crossing["rival"]], rel=1e-6)
            assert after[crossing["rival"]] < after["cost"]
            checked += 1
    assert checked >= 6
    names = {crossing["rival"] for crossing in found.crossings}
    assert names == {"always 0", "always 1", "most probable class", "half"}


def test_between_the_crossings_the_rival_is_not_cheaper(rows):
    p, _ = rows
    found = sensitivity(p, [[0.0, 3.0], [15.0, 0.0]])
    for crossing in found.crossings:
        low = crossing["cheaper_below"]
        high = crossing["cheaper_above"]
        low, high = (0.01 if np.isnan(low) else low), (100.0 if np.isnan(high) else high)
        factors = np.geomspace(low * 1.001, high * 0.999, 9)
        again = sensitivity(
            p, [[0.0, 3.0], [15.0, 0.0]], factors=factors, entries=[crossing["entry"]]
        )
        assert all(row[crossing["rival"]] >= row["cost"] - 1e-9 for row in again.rows)


def test_a_wrong_ratio_keeps_the_product(rows):
    p, _ = rows
    found = sensitivity(p, [[0, 2], [8, 0]], entries=["ratio"], factors=[4.0])
    true = np.array([[0.0, 1.0], [16.0, 0.0]])
    own = cheapest(expected_cost(p, [[0, 2], [8, 0]]))
    assert found.rows[0]["cost"] == pytest.approx(
        np.take_along_axis(expected_cost(p, true), own[:, None], axis=1).sum()
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"factors": [0.0]}, "must hold positive numbers"),
        ({"entries": ["ratio"]}, "defined for two classes and two decisions"),
        ({"entries": ["fn"]}, "a name for two classes and two decisions"),
        ({"entries": [(1, 7)]}, "only the decisions .*got .7"),
        ({"rivals": {"mine": [0]}}, "must have one element per row"),
        ({"truth": [0]}, "'truth' parameter of sensitivity must have one element per row"),
        ({"truth": [0, 5]}, "only the classes .*got .5"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        sensitivity([[0.5, 0.5], [0.2, 0.8]], MATRIX, **arguments)


# -- break-even ---------------------------------------------------------------------------------


def decided(p, matrix, truth, taken, amounts):
    rows = np.array(np.broadcast_to(matrix, (len(p), *np.shape(matrix)[-2:])))
    rows[:, truth, taken] = amounts
    return cheapest(expected_cost(p, rows))


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("d", [2, 3, 4])
def test_decisions_flip_exactly_there(k, d):
    rng = np.random.default_rng(10 * k + d)
    p = rng.dirichlet(np.ones(k), 400)
    matrix = rng.uniform(-2, 9, (400, k, d))
    for truth, taken in [(0, 0), (k - 1, 0), (0, d - 1)]:
        amounts = break_even(p, matrix, (truth, taken))
        assert np.isfinite(amounts).all()
        assert (decided(p, matrix, truth, taken, amounts) != taken).all()
        below = np.nextafter(amounts, -np.inf)
        assert (decided(p, matrix, truth, taken, below) == taken).all()


def test_short_names_and_the_positive_class():
    p = [[0.9, 0.1]]
    assert break_even(p, [[0, 4], [9, 4]], "fn")[0] == pytest.approx(40)
    assert break_even(p, [[0, 4], [9, 0]], "fp")[0] == pytest.approx(1)
    swapped = break_even(
        [[0.1, 0.9]], [[4, 9], [4, 0]], "fn", classes=["fraud", "ok"], positive="fraud",
        decisions=["fraud", "ok"],
    )  # fmt: skip
    assert swapped[0] == pytest.approx(40)


def test_entry_must_be_one():
    with pytest.raises(ValueError, match="must be \\(truth, decision\\) or one of"):
        break_even([[0.5, 0.5]], [[0, 1], [1, 0]], "miss")
