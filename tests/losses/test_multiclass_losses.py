"""Multi-class losses: the formulas row by row, derivatives, symmetries, extremes."""

from __future__ import annotations

import numpy as np
import pytest

from costboost.losses import GEL, GLL, ExpectedCost, Ls, Lt, MulticlassLoss, PNorm
from costboost.losses import LOSSES as REGISTERED
from reference import multiclass

# The loss and its plain version, a class of the same name.
PAIRS = {
    name: (loss, getattr(multiclass, type(loss).__name__)())
    for name, loss in REGISTERED.items()
    if not loss.is_binary
}
PAIRS |= {f"p{p}": (PNorm(p), multiclass.PNorm(p)) for p in (1.0, 1.5, 2.0, 5.0)}
LOSSES = [loss for loss, _ in PAIRS.values()]
SCORES = [loss for loss in LOSSES if not loss.on_simplex]
CLASSES = [2, 3, 7]


class ValueOnly(MulticlassLoss):
    """A user's loss: another one's value, the derivatives left to the base class."""

    def __init__(self, loss):
        self.loss = loss

    def value(self, y, F, C):
        return self.loss.value(y, F, C)


def make_rows(loss, k, n=40, seed=0):
    """Labels, scores (or distributions) and cost rows, some of them free."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, size=n)
    F = rng.normal(size=(n, k))
    F = rng.dirichlet(np.ones(k), size=n) + 0.01 if isinstance(loss, PNorm) else F
    C = rng.uniform(0.1, 5.0, size=(n, k)) * (rng.random((n, k)) < 0.85)
    C[np.arange(n), y] = 0.0
    return y, F, C, rng


# --- formulas and derivatives ---------------------------------------------------------------


@pytest.mark.parametrize("k", CLASSES)
@pytest.mark.parametrize("name", PAIRS)
def test_equals_the_plain_formula(name, k):
    loss, plain = PAIRS[name]
    y, F, C, _ = make_rows(loss, k)
    for part in ("value", "gradient", "hessian"):
        expected = [getattr(plain, part)(y[i], F[i], C[i]) for i in range(len(y))]
        np.testing.assert_allclose(getattr(loss, part)(y, F, C), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("far", [0.0, 30.0, 900.0])
@pytest.mark.parametrize("shape", ["three values", "all different"])
@pytest.mark.parametrize("k", CLASSES)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_coordinate_is_value_gradient_and_line(loss, k, shape, far):
    """What MCBoost asks of a loss in one step, also where exponents are clipped or shifted."""
    y, F, C, rng = make_rows(loss, k, n=300)
    is_clipped = far == 900.0 and isinstance(loss, (GEL, Ls, Lt)) and not isinstance(loss, GLL)
    outputs, weights = rng.normal(size=len(y)), rng.uniform(0.0, 2.0, size=len(y))
    directions = rng.normal(size=k)
    if shape == "three values":
        directions = np.append(np.full(k - 1, -0.3), 0.7)
        directions[k // 2 : k - 1] = 0.0
    if isinstance(loss, PNorm):  # stay where H is positive
        directions, outputs = np.full(k, 0.3), np.abs(outputs)
    else:
        F[5] = far * (np.arange(k) - (k - 1) / 2) / k
        F[6] = -F[5]
    kept = [array.copy() for array in (y, F, C, outputs, weights)]
    found = loss.coordinate(y, F, C, directions)
    close = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(found.value, loss.value(y, F, C), **close)
    np.testing.assert_allclose(found.slope, loss.gradient(y, F, C) @ directions, **close)
    slopes = found.along(outputs, weights)
    by_differences = MulticlassLoss.coordinate(loss, y, F, C, directions).along(outputs, weights)
    for alpha in (0.0, 0.4) if isinstance(loss, PNorm) else (0.0, 0.4, 2.5, 10.0):
        (first, second), (same, near) = slopes(alpha), by_differences(alpha)
        assert np.isfinite([first, second]).all()
        if not is_clipped:  # beyond the limit the line goes on, and the formula does not
            np.testing.assert_allclose(first, same, **close)
            np.testing.assert_allclose(second, near, rtol=1e-5, atol=1e-6 * (1.0 + abs(first)))
        assert slopes(alpha) == (first, second)  # asking leaves no trace
    for before, after in zip(kept, (y, F, C, outputs, weights), strict=True):
        np.testing.assert_array_equal(before, after)


# --- a user's loss --------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_value_is_enough(loss):
    own = ValueOnly(loss)
    y, F, C, rng = make_rows(loss, 3)
    np.testing.assert_allclose(own.gradient(y, F, C), loss.gradient(y, F, C), rtol=1e-7, atol=1e-8)
    if not loss.bounds_curvature:
        h = loss.hessian(y, F, C)
        np.testing.assert_allclose(own.hessian(y, F, C), h, rtol=1e-4, atol=1e-5)
    outputs, weights = 0.1 * F[:, 0], rng.uniform(size=len(y))
    slopes = [
        it.coordinate(y, F, C, np.array([0.5, 0.1, -0.2])).along(outputs, weights)(0.4)
        for it in (own, loss)
    ]
    np.testing.assert_allclose(*slopes, rtol=1e-4, atol=1e-4)


# --- extremes -------------------------------------------------------------------------------


def extreme_rows(k, n=300):
    rng = np.random.default_rng(0)
    F = rng.choice([-500.0, 0.0, 500.0, 1e-300], size=(n, k))
    y = rng.integers(0, k, size=n)
    C = 10.0 ** rng.uniform(-6.0, 6.0, size=(n, k)) * (rng.random((n, k)) < 0.8)
    C[np.arange(n), y] = C[:5] = 0.0
    return y, F, C, rng


@pytest.mark.parametrize("k", CLASSES)
@pytest.mark.parametrize("loss", SCORES, ids=repr)
def test_extremes_are_finite(loss, k):
    y, F, C, rng = extreme_rows(k)
    value, curvature = loss.value(y, F, C), loss.hessian(y, F, C)
    assert np.isfinite(value).all() and value.min() >= 0.0
    assert np.isfinite(curvature).all() and curvature.min() >= 0.0
    assert np.isfinite(loss.gradient(y, F, C)).all()
    directions, outputs = rng.normal(size=k), rng.normal(size=len(y))
    slopes = loss.coordinate(y, F, C, directions).along(outputs, np.ones(len(y)))
    most = 50.0 / (np.abs(directions).max() * np.abs(outputs).max())  # MCBoost moves no further
    for alpha in (0.0, 0.01 * most, most, -most):
        assert np.isfinite(slopes(alpha)).all()


@pytest.mark.parametrize("k", CLASSES)
def test_gll_is_exact_where_exponentials_overflow(k):
    y, F, C, _ = extreme_rows(k)
    gaps = F - F[np.arange(len(y)), y][:, None]
    with np.errstate(divide="ignore"):
        expected = np.logaddexp(0.0, np.logaddexp.reduce(gaps + np.log(C), axis=1))
    np.testing.assert_allclose(GLL().value(y, F, C), expected, rtol=1e-12, atol=1e-15)
    G = GLL().gradient(y, F, C)
    assert np.abs(G).max() <= 1.0 + 1e-12
    np.testing.assert_allclose(G.sum(axis=1), 0.0, atol=1e-12)


def test_gll_far_away_and_of_small_costs():
    """However large the score of a free decision, the others keep their loss."""
    y, C = np.array([0]), np.array([[0.0, 2.0, 0.0]])
    near, far = (np.array([[0.0, 0.5, ahead]]) for ahead in (0.0, 2000.0))
    for part in (GLL().value, GLL().gradient, GLL().hessian):
        np.testing.assert_allclose(part(y, far, C), part(y, near, C), rtol=1e-15)
    small = GLL().value(y, np.array([[1.0, 2.0]]), np.array([[0.0, 1e-12]]))
    np.testing.assert_allclose(small, np.log1p(1e-12 * np.e), rtol=1e-15)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_clipped_and_free_rows(loss):
    """Rows beyond all limits still point downhill; free ones cost nothing."""
    if not isinstance(loss, (ExpectedCost, PNorm)):  # the expected cost gives such rows up
        F, C = np.array([[-900.0, 900.0, 0.0]]), np.array([[0.0, 2.0, 1.0]])
        G = loss.gradient(np.array([0]), F, C)[0]
        assert G[0] <= 0.0 < G[1]
    if loss.carries_costs:
        y, F, C, _ = make_rows(loss, 3)
        for part in (loss.value, loss.gradient, loss.hessian):
            np.testing.assert_array_equal(part(y, F, np.zeros_like(C)), 0.0)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.5])
def test_p_norm_at_the_corners_and_its_smoothness(p):
    loss, H, y, C = PNorm(p), np.eye(3), np.arange(3), 1.0 - np.eye(3)
    np.testing.assert_array_equal(loss.value(y, H, C), 0.0)
    np.testing.assert_array_equal(loss.value(y, np.roll(H, 1, axis=0), C), 1.0)
    assert np.isfinite(loss.gradient(y, H, C)).all()
    if p != 1.5:  # below 2 nothing bounds the curvature, unless it is 0
        rng = np.random.default_rng(0)
        H, C = rng.dirichlet(np.ones(4), size=200), rng.uniform(0.0, 3.0, size=(200, 4))
        assert loss.hessian(np.zeros(200, dtype=int), H, C).max() <= loss.smoothness(C)
