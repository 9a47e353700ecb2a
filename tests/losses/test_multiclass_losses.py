"""Multi-class losses: the formulas row by row, derivatives, symmetries, extremes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from costboost.losses import (
    GEL,
    GLL,
    MC,
    AsymmetricLogistic,
    Ls,
    Lt,
    MulticlassLoss,
    PNorm,
    WeightedExponential,
)
from costboost.losses import LOSSES as REGISTERED
from reference import multiclass

# The loss and its plain version, a class of the same name.
PAIRS = {
    name: (loss, getattr(multiclass, type(loss).__name__)())
    for name, loss in REGISTERED.items()
    if not loss.is_binary
}
PAIRS |= {
    "p1": (PNorm(1.0), multiclass.PNorm(1.0)),
    "p1.5": (PNorm(1.5), multiclass.PNorm(1.5)),
    "p2": (PNorm(2.0), multiclass.PNorm(2.0)),
    "p5": (PNorm(5.0), multiclass.PNorm(5.0)),
}
LOSSES = [loss for loss, _ in PAIRS.values()]
EXPONENTIAL = [MC(), GEL(), Ls(), Lt()]
SCORES = [*EXPONENTIAL, GLL()]
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


@pytest.mark.parametrize("k", CLASSES)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_gradient_and_hessian_equal_differences(loss, k):
    y, F, C, _ = make_rows(loss, k)
    for part, derivative in ((loss.value, loss.gradient), (loss.gradient, loss.hessian)):
        exact = derivative(y, F, C)
        assert exact.shape == F.shape
        for j in range(k):
            h = 1e-5 * np.eye(k)[j]
            slope = (part(y, F + h, C) - part(y, F - h, C)) / 2e-5
            slope = slope if slope.ndim == 1 else slope[:, j]
            np.testing.assert_allclose(exact[:, j], slope, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("far", [0.0, 30.0, 900.0])
@pytest.mark.parametrize("shape", ["three values", "all different"])
@pytest.mark.parametrize("k", CLASSES)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_coordinate_is_value_gradient_and_line(loss, k, shape, far):
    """What MCBoost asks of a loss in one step, also where exponents are clipped or shifted."""
    y, F, C, rng = make_rows(loss, k, n=300)  # more rows than a block
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
        np.testing.assert_allclose(first, same, **close)
        np.testing.assert_allclose(second, near, rtol=1e-5, atol=1e-6 * (1.0 + abs(first)))
        assert slopes(alpha) == (first, second)  # asking leaves no trace
    for before, after in zip(kept, (y, F, C, outputs, weights), strict=True):
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("alpha", [0.0, 0.7, -1.3])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_slopes_of_a_coordinate_equal_differences_of_the_value(loss, alpha):
    y, F, C, rng = make_rows(loss, 3)
    outputs, directions = rng.normal(size=len(y)), np.array([0.2, -0.5, 0.3])
    if isinstance(loss, PNorm):  # stay where H is positive
        outputs *= F.min(axis=1) / 3.0
    weights, h = rng.uniform(0.0, 2.0, size=len(y)), 1e-4
    slopes = loss.coordinate(y, F, C, directions).along(outputs, weights)

    def total(a):
        return weights @ loss.value(y, F + a * outputs[:, None] * directions, C)

    first = (total(alpha + h) - total(alpha - h)) / (2 * h)
    second = (total(alpha + h) - 2 * total(alpha) + total(alpha - h)) / h**2
    np.testing.assert_allclose(slopes(alpha)[0], first, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(slopes(alpha)[1], second, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("loss", SCORES, ids=repr)
def test_convex_along_every_coordinate(loss):
    y, F, C, rng = make_rows(loss, 4)
    for _ in range(20):
        found = loss.coordinate(y, F, C, rng.normal(size=4))
        slopes = found.along(rng.normal(size=len(y)), np.ones(len(y)))
        assert all(slopes(alpha)[1] >= 0.0 for alpha in (-3.0, -0.5, 0.0, 2.0))


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_inputs_are_left_alone_and_pickles_are_the_same(loss):
    y, F, C, _ = make_rows(loss, 3)
    kept = y.copy(), F.copy(), C.copy()
    again = pickle.loads(pickle.dumps(loss))
    assert repr(again) == repr(loss)
    for part in ("value", "gradient", "hessian"):
        found = getattr(loss, part)(y, F, C)
        np.testing.assert_array_equal(getattr(again, part)(y, F, C), found)
    for before, after in zip(kept, (y, F, C), strict=True):
        np.testing.assert_array_equal(before, after)


# --- a user's loss --------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_value_is_enough(loss):
    own = ValueOnly(loss)
    y, F, C, rng = make_rows(loss, 3)
    np.testing.assert_allclose(own.gradient(y, F, C), loss.gradient(y, F, C), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(own.hessian(y, F, C), loss.hessian(y, F, C), rtol=1e-4, atol=1e-5)
    outputs, weights = 0.1 * F[:, 0], rng.uniform(size=len(y))
    slopes = [
        it.coordinate(y, F, C, np.array([0.5, 0.1, -0.2])).along(outputs, weights)(0.4)
        for it in (own, loss)
    ]
    np.testing.assert_allclose(*slopes, rtol=1e-4, atol=1e-4)


def test_repr():
    assert [repr(loss) for loss in (MC(), Lt(), PNorm(1.5))] == ["MC()", "Lt()", "PNorm(p=1.5)"]


# --- symmetries -----------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_relabelling_the_classes_permutes(loss):
    k = 5
    y, F, C, rng = make_rows(loss, k)
    order = rng.permutation(k)  # the new class j was order[j]
    renamed = np.argsort(order)[y]
    close = {"rtol": 1e-13, "atol": 1e-14}
    np.testing.assert_allclose(
        loss.value(renamed, F[:, order], C[:, order]), loss.value(y, F, C), **close
    )
    for part in (loss.gradient, loss.hessian):
        np.testing.assert_allclose(
            part(renamed, F[:, order], C[:, order]), part(y, F, C)[:, order], **close
        )


@pytest.mark.parametrize("loss", [MC(), GEL(), GLL(), Lt()], ids=repr)
def test_adding_a_constant_to_the_scores_changes_nothing(loss):
    y, F, C, rng = make_rows(loss, 4)
    shift = rng.normal(size=(len(y), 1))
    np.testing.assert_allclose(loss.value(y, F + shift, C), loss.value(y, F, C))
    np.testing.assert_allclose(loss.gradient(y, F, C).sum(axis=1), 0.0, atol=1e-12)


@pytest.mark.parametrize("loss", [GEL(), Ls(), Lt(), PNorm(3.0)], ids=repr)
def test_linear_in_the_costs(loss):
    y, F, C, _ = make_rows(loss, 4)
    np.testing.assert_allclose(loss.value(y, F, 3.0 * C), 3.0 * loss.value(y, F, C))


def test_mc_is_gel_with_unit_costs():
    y, F, C, _ = make_rows(MC(), 4)
    unit = (np.arange(4) != y[:, None]).astype(float)
    np.testing.assert_allclose(MC().value(y, F, C), 1.0 + GEL().value(y, F, unit))
    np.testing.assert_allclose(MC().gradient(y, F, C), GEL().gradient(y, F, unit))


def test_gll_of_unit_costs_is_the_multinomial_logistic_loss():
    y, F, _, _ = make_rows(GLL(), 4)
    unit = (np.arange(4) != y[:, None]).astype(float)
    p = np.exp(F) / np.exp(F).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(GLL().value(y, F, unit), -np.log(p[np.arange(len(y)), y]))
    np.testing.assert_allclose(GLL().gradient(y, F, unit), p - np.eye(4)[y], atol=1e-14)


# --- two classes ----------------------------------------------------------------------------


def binary_rows(seed=0, n=30):
    """y in {-1, +1}, margins F, error costs; and the same in two scores, S = (-F/2, F/2)."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], size=n)
    F, c = rng.normal(size=n) * 2.0, rng.uniform(0.1, 5.0, size=n)
    z = (y > 0).astype(int)
    C = np.zeros((n, 2))
    C[np.arange(n), 1 - z] = c
    return y, F, c, z, np.stack([-F / 2, F / 2], axis=1), C


def by_margin(gradient):
    """dL/dF from dL/dS, S = (-F/2, F/2)."""
    return 0.5 * (gradient[:, 1] - gradient[:, 0])


def test_two_classes_give_the_binary_losses():
    y, F, c, z, S, C = binary_rows()
    margin, unit = np.exp(-y * F), (C > 0).astype(float)
    weighted, logistic = WeightedExponential(), AsymmetricLogistic()
    np.testing.assert_allclose(GEL().value(z, S, C), weighted.value(y, F, c))
    np.testing.assert_allclose(by_margin(GEL().gradient(z, S, C)), weighted.gradient(y, F, c))
    np.testing.assert_allclose(MC().value(z, S, C), 1.0 + margin)  # AdaBoost's, and 1
    np.testing.assert_allclose(Ls().value(z, S, C), c * np.sqrt(margin))
    np.testing.assert_allclose(Lt().value(z, S, C), c * (1.0 + margin))
    np.testing.assert_allclose(GLL().value(z, S, unit), np.log1p(margin))
    # The library's binary logistic loss counts the margin twice.
    twice = 2.0 * S
    np.testing.assert_allclose(GLL().value(z, twice, unit), logistic.value(y, F, (1.0, 1.0)))
    slope = 2.0 * by_margin(GLL().gradient(z, twice, unit))
    np.testing.assert_allclose(slope, logistic.gradient(y, F, (1.0, 1.0)))


# --- the risk of GEL ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("k", [2, 3, 5])
def test_gel_cannot_tell_symmetric_matrices_apart(k, seed):
    """Scores that minimise the expected GEL are the same for all symmetric cost matrices.

    Beijbom et al. 2014, Appendix C. They are not for GLL, Ls and Lt once there are three classes.
    """
    rng = np.random.default_rng(seed)
    eta = rng.dirichlet(2.0 * np.ones(k))
    first, second = (np.triu(rng.uniform(1.0, 10.0, (k, k)), 1) for _ in range(2))
    first, second = first + first.T, second + second.T
    blind = 0.5 * np.log(eta)
    blind -= blind.mean()

    def slope(loss, S, C):
        G = eta @ loss.gradient(np.arange(k), np.tile(S, (k, 1)), C)
        return G - G.mean()

    for C in (first, second, 100.0 * first, 1.0 - np.eye(k)):
        np.testing.assert_allclose(slope(GEL(), blind, C), 0.0, atol=1e-10)
        np.testing.assert_allclose(
            multiclass.risk_minimiser(multiclass.GEL(), eta, C), blind, atol=1e-5
        )
    for plain in (multiclass.GLL(), multiclass.Ls(), multiclass.Lt()):
        one, other = (multiclass.risk_minimiser(plain, eta, C) for C in (first, second))
        if k > 2:
            assert np.abs(one - other).max() > 1e-3


# --- extremes -------------------------------------------------------------------------------


def extreme_rows(k, seed=0, n=300):
    rng = np.random.default_rng(seed)
    F = rng.choice([-500.0, 0.0, 500.0, 1e-300], size=(n, k))
    y = rng.integers(0, k, size=n)
    C = 10.0 ** rng.uniform(-6.0, 6.0, size=(n, k)) * (rng.random((n, k)) < 0.8)
    C[np.arange(n), y] = 0.0
    C[:5] = 0.0
    return y, F, C, rng


@pytest.mark.parametrize("k", CLASSES)
@pytest.mark.parametrize("loss", SCORES, ids=repr)
def test_extremes_are_finite(loss, k):
    y, F, C, rng = extreme_rows(k)
    value = loss.value(y, F, C)
    assert np.isfinite(value).all()
    assert (value >= 0.0).all()
    assert np.isfinite(loss.gradient(y, F, C)).all()
    curvature = loss.hessian(y, F, C)
    assert np.isfinite(curvature).all()
    assert (curvature >= 0.0).all()
    found = loss.coordinate(y, F, C, rng.normal(size=k))
    slopes = found.along(rng.normal(size=len(y)), np.ones(len(y)))
    for alpha in (0.0, 1.0, -300.0, 1000.0):
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


def test_a_free_class_far_ahead_hides_nothing():
    """However large the score of a decision that costs nothing, the others keep their loss."""
    y, C = np.array([0]), np.array([[0.0, 2.0, 0.0]])
    near = np.array([[0.0, 0.5, 0.0]])
    far = np.array([[0.0, 0.5, 2000.0]])
    for part in (GLL().value, GLL().gradient, GLL().hessian):
        np.testing.assert_allclose(part(y, far, C), part(y, near, C), rtol=1e-15)


def test_gll_of_small_costs_keeps_its_digits():
    y, F, C = np.array([0]), np.array([[1.0, 2.0]]), np.array([[0.0, 1e-12]])
    np.testing.assert_allclose(GLL().value(y, F, C), np.log1p(1e-12 * np.e), rtol=1e-15)


def test_clipping_starts_where_it_says():
    y, C = np.array([0]), np.array([[0.0, 1.0]])

    def value(loss, gap):
        return loss.value(y, np.array([[-gap / 2, gap / 2]]), C)[0]

    for loss in (GEL(), MC()):
        assert value(loss, 599.0) == pytest.approx(np.exp(599.0), rel=1e-12)
        assert value(loss, 601.0) == value(loss, 1000.0) == pytest.approx(np.exp(600.0))
    assert value(Ls(), 1198.0) == pytest.approx(np.exp(599.0), rel=1e-12)
    assert value(Ls(), 1202.0) == pytest.approx(np.exp(600.0))
    assert value(Lt(), 599.0) == pytest.approx(np.exp(599.0), rel=1e-12)
    assert value(Lt(), 601.0) == pytest.approx(np.exp(600.0))


@pytest.mark.parametrize("loss", SCORES, ids=repr)
def test_clipped_rows_still_point_downhill(loss):
    y = np.array([0])
    F, C = np.array([[-900.0, 900.0, 0.0]]), np.array([[0.0, 2.0, 1.0]])
    G = loss.gradient(y, F, C)[0]
    assert G[0] <= 0.0 < G[1]


@pytest.mark.parametrize("loss", [GEL(), Ls(), Lt(), GLL(), PNorm(2.0)], ids=repr)
def test_free_rows_cost_nothing(loss):
    y, F, C, _ = make_rows(loss, 3)
    C = np.zeros_like(C)
    for part in (loss.value, loss.gradient, loss.hessian):
        np.testing.assert_array_equal(part(y, F, C), 0.0)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 5.0])
def test_p_norm_at_the_corners(p):
    H, y = np.eye(3), np.arange(3)
    C = 1.0 - np.eye(3)
    np.testing.assert_array_equal(PNorm(p).value(y, H, C), 0.0)
    np.testing.assert_array_equal(PNorm(p).value(y, np.roll(H, 1, axis=0), C), 1.0)
    assert np.isfinite(PNorm(p).gradient(y, H, C)).all()


@pytest.mark.parametrize("p", [1.0, 2.0, 3.5])
def test_p_norm_smoothness_bounds_the_curvature(p):
    rng = np.random.default_rng(0)
    H, C = rng.dirichlet(np.ones(4), size=200), rng.uniform(0.0, 3.0, size=(200, 4))
    loss = PNorm(p)
    assert loss.hessian(np.zeros(200, dtype=int), H, C).max() <= loss.smoothness(C)
