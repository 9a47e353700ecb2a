"""Every binary loss: derivatives, minimiser, link, extremes, and the plain formulas."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from costboost import losses
from costboost.boosting.votes import BinaryProblem
from costboost.costs import Costs
from reference.losses import LOSSES as PLAIN

LOSSES = {type(loss).__name__: loss for loss in losses.LOSSES.values() if loss.is_binary}
PAIRS = [(1.0, 1.0), (2.0, 1.0), (5.0, 1.0), (1.0, 20.0), (0.3, 0.7)]
EVERY = pytest.mark.parametrize("name", LOSSES)


def rows(form, seed=1, n=60):
    """Labels of both classes, scores around 0, the two costs: numbers, or of every row."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    F, own = rng.normal(size=n), tuple(rng.uniform(0.5, 4.0, (2, n)))
    return y, F, (3.0, 1.0) if form == "pair" else own


@pytest.mark.parametrize("form", ["pair", "rows"])
@EVERY
def test_derivatives_and_plain_formulas(name, form):
    loss, (y, F, C), h = LOSSES[name], rows(form), 1e-5
    slope = (loss.value(y, F + h, C) - loss.value(y, F - h, C)) / (2 * h)
    np.testing.assert_allclose(loss.gradient(y, F, C), slope, rtol=1e-6, atol=1e-8)
    curvature = (loss.gradient(y, F + h, C) - loss.gradient(y, F - h, C)) / (2 * h)
    np.testing.assert_allclose(loss.hessian(y, F, C), curvature, rtol=1e-6, atol=1e-8)
    assert (loss.hessian(y, F, C) > 0).all()
    (value, minimiser), both = PLAIN[name], np.broadcast_arrays(*C, y)[:2]
    expected = [value(*row) for row in zip(y, F, *both, strict=True)]
    np.testing.assert_allclose(loss.value(y, F, C), expected, rtol=1e-12)
    p = np.linspace(0.02, 0.98, len(y))
    expected = [minimiser(*row) for row in zip(p, *both, strict=True)]
    np.testing.assert_allclose(loss.minimiser(p, C), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("p", "pair"), list(itertools.product([0.01, 0.2, 0.5, 0.9], PAIRS)))
@EVERY
def test_the_stated_minimiser_minimises(name, p, pair):
    loss, both, share = LOSSES[name], np.array([1.0, -1.0]), np.array([p, 1 - p])
    stated = float(loss.minimiser(np.array([p]), pair)[0])
    found = minimize_scalar(
        lambda F: share @ loss.value(both, np.full(2, F), pair), bracket=(-1.0, 1.0), tol=1e-12
    )
    assert found.x == pytest.approx(stated, abs=1e-5)
    slope = share @ loss.gradient(both, np.full(2, stated), pair)
    assert slope == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("pair", PAIRS)
@EVERY
def test_probability_inverts_the_minimiser(name, pair):
    loss, p = LOSSES[name], np.linspace(1e-6, 1 - 1e-6, 101)
    np.testing.assert_allclose(loss.probability(loss.minimiser(p, pair), pair), p, rtol=1e-9)
    _, F, C = rows("rows")
    back = loss.minimiser(loss.probability(F, C), C)
    np.testing.assert_allclose(back, F, rtol=1e-6, atol=1e-8)


SIZES = (0.0, 1e-12, 1.0, 1e12)


@pytest.mark.parametrize("score", [-500.0, -1.0, 0.0, 1.0, 500.0])
@EVERY
def test_extremes_and_free_errors_stay_finite(name, score):
    loss, F = LOSSES[name], np.full(2, score)
    for pair, signs in itertools.product(itertools.product(SIZES, SIZES), ([1, -1], [1, 1])):
        if not any(pair):
            continue
        y = np.array(signs, dtype=float)
        for C in (pair, tuple(np.full(2, cost) for cost in pair)):
            with np.errstate(over="raise", invalid="raise", divide="raise"):
                for method in (loss.value, loss.gradient, loss.hessian):
                    assert np.isfinite(method(y, F, C)).all()
                p = loss.probability(F, C)
                assert ((p >= 0) & (p <= 1)).all()
                assert np.isfinite(loss.minimiser(np.array([1e-12, 1 - 1e-12]), C)).all()
            assert (loss.value(y, F, C) >= 0).all()


def test_unknown_costs_are_weighted_means():
    c, weights = np.array([1.0, 4.0, 2.0, 10.0]), np.array([1.0, 2.0, 3.0, 1.0])
    known = Costs.resolve(None, c, classes=[0, 1], codes=np.array([1, 1, 0, 0]))
    C1, C2 = BinaryProblem.from_costs(known, weights).both
    np.testing.assert_allclose(C1, [1.0, 4.0, 3.0, 3.0])
    np.testing.assert_allclose(C2, [4.0, 4.0, 2.0, 10.0])
