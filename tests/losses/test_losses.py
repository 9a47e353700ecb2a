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
LOGISTIC = ("AsymmetricLogistic", "CostLogistic")
PAIRS = [(1.0, 1.0), (2.0, 1.0), (5.0, 1.0), (1.0, 20.0), (0.3, 0.7)]


def rows(seed=0, n=60):
    """Labels of both classes, scores around 0, both costs of every row."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return y, rng.normal(size=n), rng.uniform(0.5, 4.0, n), rng.uniform(0.5, 4.0, n)


def costs(form, C1, C2):
    """The forms of C: numbers, or a pair of arrays."""
    return (3.0, 1.0) if form == "pair" else (C1, C2)


FORMS = ("pair", "rows")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", LOSSES)
def test_derivatives_are_finite_differences(name, form):
    loss = LOSSES[name]
    y, F, C1, C2 = rows()
    C = costs(form, C1, C2)
    h = 1e-5
    slope = (loss.value(y, F + h, C) - loss.value(y, F - h, C)) / (2 * h)
    np.testing.assert_allclose(loss.gradient(y, F, C), slope, rtol=1e-6, atol=1e-8)
    curvature = (loss.gradient(y, F + h, C) - loss.gradient(y, F - h, C)) / (2 * h)
    np.testing.assert_allclose(loss.hessian(y, F, C), curvature, rtol=1e-6, atol=1e-8)
    assert (loss.hessian(y, F, C) > 0).all()


@pytest.mark.parametrize("form", ["pair", "rows"])
@pytest.mark.parametrize("name", LOSSES)
def test_values_are_the_plain_formulas(name, form):
    y, F, C1, C2 = rows(1)
    C = costs(form, C1, C2)
    value, minimiser = PLAIN[name]
    both = np.broadcast_arrays(*C, y)[:2]
    expected = [value(*row) for row in zip(y, F, *both, strict=True)]
    np.testing.assert_allclose(LOSSES[name].value(y, F, C), expected, rtol=1e-12)
    p = np.linspace(0.02, 0.98, len(y))
    expected = [minimiser(*row) for row in zip(p, *both, strict=True)]
    np.testing.assert_allclose(LOSSES[name].minimiser(p, C), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("p", "pair"), list(itertools.product([0.01, 0.2, 0.5, 0.9], PAIRS)))
@pytest.mark.parametrize("name", LOSSES)
def test_the_stated_minimiser_minimises(name, p, pair):
    loss = LOSSES[name]
    both = np.array([1.0, -1.0])

    def expected(F):
        return float(np.array([p, 1 - p]) @ loss.value(both, np.full(2, F), pair))

    stated = float(loss.minimiser(np.array([p]), pair)[0])
    found = minimize_scalar(expected, bracket=(-1.0, 1.0), tol=1e-12)
    assert found.x == pytest.approx(stated, abs=1e-5)
    assert expected(stated) <= min(expected(stated - 1e-3), expected(stated + 1e-3))
    slope = np.array([p, 1 - p]) @ loss.gradient(both, np.full(2, stated), pair)
    assert slope == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("name", LOSSES)
def test_probability_inverts_the_minimiser(name, pair):
    loss = LOSSES[name]
    p = np.linspace(1e-6, 1 - 1e-6, 101)
    np.testing.assert_allclose(loss.probability(loss.minimiser(p, pair), pair), p, rtol=1e-9)
    _, F, C1, C2 = rows(3)
    back = loss.minimiser(loss.probability(F, (C1, C2)), (C1, C2))
    np.testing.assert_allclose(back, F, rtol=1e-6, atol=1e-8)


EXTREMES = list(
    itertools.product((-500.0, -1.0, 0.0, 1.0, 500.0), (1e-12, 1.0, 1e12), (1e-12, 1.0, 1e12))
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", LOSSES)
def test_extremes_stay_finite(name, form):
    loss = LOSSES[name]
    for score, high, low in EXTREMES:
        y = np.array([1.0, -1.0])
        F = np.full(2, score)
        C = {
            "pair": (high, low),
            "rows": (np.full(2, high), np.full(2, low)),
        }[form]
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            for method in (loss.value, loss.gradient, loss.hessian):
                assert np.isfinite(method(y, F, C)).all()
            p = loss.probability(F, C)
            assert ((p >= 0) & (p <= 1)).all()
            assert np.isfinite(loss.minimiser(np.array([1e-12, 1 - 1e-12]), C)).all()
        assert (loss.value(y, F, C) >= 0).all()


@pytest.mark.parametrize("name", LOSSES)
def test_free_errors_and_single_classes_stay_finite(name):
    loss, F = LOSSES[name], np.array([0.5, -0.5])
    for y, C in itertools.product(
        np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, -1.0]]),
        [(1.0, 0.0), (0.0, 1.0)],
    ):
        for method in (loss.value, loss.gradient, loss.hessian):
            assert np.isfinite(method(y, F, C)).all()
        assert np.isfinite(loss.probability(F, C)).all()
        assert np.isfinite(loss.minimiser(np.array([0.5]), C)).all()


def test_unknown_costs_are_weighted_means():
    c, weights = np.array([1.0, 4.0, 2.0, 10.0]), np.array([1.0, 2.0, 3.0, 1.0])
    known = Costs.resolve(None, c, classes=[0, 1], codes=np.array([1, 1, 0, 0]))
    C1, C2 = BinaryProblem.from_costs(known, weights).both
    np.testing.assert_allclose(C1, [1.0, 4.0, 3.0, 3.0])
    np.testing.assert_allclose(C2, [4.0, 4.0, 2.0, 10.0])
