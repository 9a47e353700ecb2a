"""Wrong costs: regret, crossings with other rules, and the amounts at which decisions flip."""

from __future__ import annotations

import numpy as np
import pytest

from costboost.decisions import break_even, cheapest, expected_cost, sensitivity

MATRIX = np.array([[0.0, 3.0, 8.0], [40.0, 5.0, 1.0]])
STATED = [[0.0, 3.0], [15.0, 0.0]]


RNG = np.random.default_rng(0)
FRAUD = RNG.beta(0.6, 4, 3000)
P, TRUTH = np.stack([1 - FRAUD, FRAUD], axis=1), (RNG.random(3000) < FRAUD).astype(int)


@pytest.mark.parametrize("per_row", [False, True])
@pytest.mark.parametrize("realised", [False, True])
def test_costs_and_regret_by_plain_sums(realised, per_row):
    rng, every = np.random.default_rng(1), np.arange(3000)
    matrix = MATRIX * rng.uniform(0.5, 2, (3000, 1, 1)) if per_row else MATRIX
    weight = rng.uniform(0.5, 2, 3000) if per_row else np.ones(3000)
    options = {"factors": [0.3, 1.0, 3.0], "sample_weight": weight}
    found = sensitivity(P, matrix, TRUTH if realised else None, **options)
    stated = cheapest(expected_cost(P, matrix))
    assert {row["entry"] for row in found.rows} == {(0, 1), (0, 2), (1, 0), (1, 1), (1, 2)}
    for row in found.rows:
        true = np.broadcast_to(matrix, (3000, 2, 3)).copy()
        true[:, *row["entry"]] *= row["factor"]
        expected = np.einsum("nj,njd->nd", P, true)
        price = (true[every, TRUTH] if realised else expected) * weight[:, None]
        paid, best = (price[every, codes].sum() for codes in (stated, cheapest(expected)))
        wanted = {"cost": paid, "known": best, "regret": paid - best, "always 1": price[:, 1].sum()}
        assert {key: row[key] for key in wanted} == pytest.approx(wanted, abs=1e-8)
        assert row["factor"] != 1.0 or row["regret"] == 0.0
        assert realised or row["regret"] >= -1e-9


def test_rivals_are_cheaper_exactly_beyond_their_crossings():
    more = {"rivals": {"half": (FRAUD > 0.5).astype(int)}}
    found, checked = sensitivity(P, STATED, TRUTH, **more).crossings, 0
    assert {one["rival"] for one in found} == {
        "always 0",
        "always 1",
        "most probable class",
        "half",
    }
    for one in found:
        for side, step in (("cheaper_below", 1 - 1e-6), ("cheaper_above", 1 + 1e-6)):
            at = one[side] if np.isfinite(one[side]) else 1e9 ** np.sign(step - 1)  # nowhere
            factors, options = [at / step, at * step], {"entries": [one["entry"]], **more}
            again = sensitivity(P, STATED, TRUTH, factors=factors, **options).rows
            inside, beyond = (row[one["rival"]] - row["cost"] for row in again)
            if one[side] == 1.0:  # cheaper at the stated costs
                assert inside < 0
                continue
            assert inside >= 0
            assert (beyond < 0) == np.isfinite(one[side])
            checked += beyond < 0
    assert checked >= 6


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("d", [2, 3, 4])
def test_decisions_flip_at_the_break_even(k, d):
    rng = np.random.default_rng(10 * k + d)
    p, matrix = rng.dirichlet(np.ones(k), 400), rng.uniform(-2, 9, (400, k, d))
    for truth, taken in [(0, 0), (k - 1, 0), (0, d - 1)]:
        amounts, changed = break_even(p, matrix, (truth, taken)), matrix.copy()
        assert np.isfinite(amounts).all()
        for step, is_taken in ((1e-9, False), (-1e-9, True)):
            changed[:, truth, taken] = amounts + step * np.abs(amounts)
            assert ((cheapest(expected_cost(p, changed)) == taken) == is_taken).all()


def test_short_names_and_the_positive_class():
    assert break_even([[0.9, 0.1]], [[0, 4], [9, 4]], "fn")[0] == pytest.approx(40)
    assert break_even([[0.9, 0.1]], [[0, 4], [9, 0]], "fp")[0] == pytest.approx(1)
    labels = {key: ["fraud", "ok"] for key in ("classes", "decisions")}
    swapped = break_even([[0.1, 0.9]], [[4, 9], [4, 0]], "fn", positive="fraud", **labels)
    assert swapped[0] == pytest.approx(40)
    assert np.isnan(break_even([[1.0, 0.0]], [[0, 4], [9, 4]], "fn")[0])  # fraud is impossible
