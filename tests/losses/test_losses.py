"""Every loss: plain formulas, derivatives, links, extremes; and a new one in one file."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from unittest.mock import patch

import numpy as np
import pytest
from scipy.special import softmax

from costboost import CostBoostClassifier, losses
from costboost.gbm import objective, probability
from costboost.losses import GEL, GLL, LOSSES, BinaryLoss, Ls, Lt, MulticlassLoss, PNorm, named_loss
from costboost.losses.kernels import compiled, usable_hessian
from data import rows
from reference import multiclass, pnorm
from reference.losses import LOSSES as PLAIN

MATRIX = np.array([[0.0, 1.0, 0.3], [2.0, 0.0, 0.2], [6.0, 6.0, 0.0]])
BINARY = {name: loss for name, loss in LOSSES.items() if loss.is_binary}
SCORES = {name: loss for name, loss in LOSSES.items() if not loss.is_binary}
SEVERAL = {**SCORES, **{f"p{p}": PNorm(p) for p in (1.0, 1.5, 2.0, 5.0)}}
PAIRS = [(1.0, 1.0), (2.0, 1.0), (5.0, 1.0), (1.0, 20.0), (0.3, 0.7)]
OF_ROWS = tuple(np.random.default_rng(1).uniform(0.5, 4.0, (2, 60)))
CLASSES = [2, 3, 7]


def drawn(loss, k, n=60):
    """Labels, scores (or distributions), costs, some of them free, and the generator."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, k, size=n)
    if loss.is_binary:
        return 2.0 * y - 1.0, rng.normal(size=n), tuple(rng.uniform(0.5, 4.0, (2, n))), rng
    F = rng.dirichlet(np.ones(k), size=n) + 0.01 if loss.on_simplex else rng.normal(size=(n, k))
    C = rng.uniform(0.1, 5.0, size=(n, k)) * (rng.random((n, k)) < 0.85)
    C[np.arange(n), y] = 0.0
    return y, F, C, rng


# --- formulas and derivatives ---------------------------------------------------------------


@pytest.mark.parametrize("C", [(3.0, 1.0), OF_ROWS], ids=["pair", "rows"])
@pytest.mark.parametrize("name", BINARY)
def test_plain_formulas(name, C):
    loss, (y, F, _, _) = BINARY[name], drawn(BINARY[name], 2)
    value, minimiser = PLAIN[type(loss).__name__]
    p, both = np.linspace(0.02, 0.98, 60), np.broadcast_arrays(*C, y)[:2]
    expected = [value(*row) for row in zip(y, F, *both, strict=True)]
    np.testing.assert_allclose(loss.value(y, F, C), expected, rtol=1e-10)
    expected = [minimiser(*row) for row in zip(p, *both, strict=True)]
    np.testing.assert_allclose(loss.minimiser(p, C), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("k", CLASSES)
@pytest.mark.parametrize("name", SEVERAL)
def test_plain_formulas_of_several_classes(name, k):
    loss = SEVERAL[name]
    kind = getattr(multiclass, type(loss).__name__)
    plain, (y, F, C, _) = kind(loss.p) if loss.on_simplex else kind(), drawn(loss, k)
    for part in ("value", "gradient", "hessian"):
        expected = [getattr(plain, part)(y[i], F[i], C[i]) for i in range(len(y))]
        np.testing.assert_allclose(getattr(loss, part)(y, F, C), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    ("name", "k"), [(name, k) for name in LOSSES for k in ((2,) if name in BINARY else (2, 3, 5))]
)
def test_kernels_are_the_derivatives_at_raw_scores(name, k):
    """Kernel, numpy derivatives, and differences of the value at centred scores."""
    loss = LOSSES[name]
    y, F, C, _ = drawn(loss, k)
    g, h = loss.raw_derivatives(y, F, C)
    G, H, w = np.empty_like(F), np.empty_like(F), np.linspace(0.5, 2.0, len(y))
    if loss.kernel is not None:
        loss.kernel(*loss.kernel_rows(y, C), F, w, G, H)
        w = w if loss.is_binary else w[:, None]
        np.testing.assert_allclose(G, w * g, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(H, w * np.maximum(h, 1e-9 * np.abs(g)), rtol=1e-10, atol=1e-12)

    def value(at):
        return loss.value(y, loss.centred(at), C)

    for j in range(loss.n_scores(k)):
        step = 1e-4 if loss.is_binary else 1e-4 * np.eye(k)[j]
        up, middle, down = value(F + step), value(F), value(F - step)
        first, second = (g, h) if loss.is_binary else (g[:, j], h[:, j])
        np.testing.assert_allclose(first, (up - down) / 2e-4, rtol=1e-5, atol=1e-5)
        curvature = (up - 2 * middle + down) / 1e-8
        if loss.bounds_curvature:
            assert (second >= np.abs(curvature) - 1e-6).all()
        else:
            np.testing.assert_allclose(second, curvature, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("far", [0.0, 30.0, 900.0])
@pytest.mark.parametrize("shape", ["three values", "all different"])
@pytest.mark.parametrize("k", CLASSES)
@pytest.mark.parametrize("loss", SEVERAL.values(), ids=repr)
def test_a_coordinate_is_value_gradient_and_line(loss, k, shape, far):
    """What MCBoost asks of a loss in one step, also where exponents are clipped or shifted."""
    y, F, C, rng = drawn(loss, k, n=300)
    is_clipped = far == 900.0 and isinstance(loss, (GEL, Ls, Lt)) and not isinstance(loss, GLL)
    outputs, weights = rng.normal(size=len(y)), rng.uniform(0.0, 2.0, size=len(y))
    directions = rng.normal(size=k)
    if shape == "three values":
        directions = np.append(np.full(k - 1, -0.3), 0.7)
        directions[k // 2 : k - 1] = 0.0
    if loss.on_simplex:  # stay where H is positive
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
    for alpha in (0.0, 0.4) if loss.on_simplex else (0.0, 0.4, 2.5, 10.0):
        (first, second), (same, near) = slopes(alpha), by_differences(alpha)
        assert np.isfinite([first, second]).all()
        if not is_clipped:  # beyond the limit the line goes on, and the formula does not
            np.testing.assert_allclose(first, same, **close)
            np.testing.assert_allclose(second, near, rtol=1e-5, atol=1e-6 * (1.0 + abs(first)))
        assert slopes(alpha) == (first, second)  # asking leaves no trace
    for before, after in zip(kept, (y, F, C, outputs, weights), strict=True):
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("loss", SEVERAL.values(), ids=repr)
def test_a_value_is_enough(loss):
    """The derivatives of a user's loss are left to the base class."""
    own = type("Own", (MulticlassLoss,), {"value": lambda self, *given: loss.value(*given)})()
    y, F, C, _ = drawn(loss, 3)
    np.testing.assert_allclose(own.gradient(y, F, C), loss.gradient(y, F, C), rtol=1e-7, atol=1e-8)
    if not loss.bounds_curvature:
        h = loss.hessian(y, F, C)
        np.testing.assert_allclose(own.hessian(y, F, C), h, rtol=1e-4, atol=1e-5)


# --- links ----------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [*PAIRS, OF_ROWS], ids=[*map(str, PAIRS), "rows"])
@pytest.mark.parametrize("loss", BINARY.values(), ids=repr)
def test_the_minimiser_has_no_slope_and_gives_the_probability_back(loss, C):
    p = np.linspace(1e-6, 1 - 1e-6, 60)
    F = loss.minimiser(p, C)
    up, down = (loss.gradient(np.full(60, sign), F, C) for sign in (1.0, -1.0))
    np.testing.assert_allclose(p * up + (1 - p) * down, 0.0, atol=1e-9)
    assert (loss.hessian(np.ones(60), F, C) > 0).all()
    np.testing.assert_allclose(loss.probability(F, C), p, rtol=1e-9)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("name", ["mc", "gll"])
def test_probabilities_are_those_of_the_minimiser(name, k):
    """At the scores of given probabilities the expected loss has no slope."""
    loss, P = LOSSES[name], np.random.default_rng(k).dirichlet(np.ones(k), size=1)
    F, unit = np.log(P) / loss.softmax_scale, 1.0 - np.eye(k)
    slope = sum(P[0, z] * loss.gradient(np.array([z]), F, unit[[z]])[0] for z in range(k))
    np.testing.assert_allclose(slope, 0.0, atol=1e-12)
    np.testing.assert_allclose(loss.class_probabilities(F), P)


# --- extremes -------------------------------------------------------------------------------


@pytest.mark.parametrize("score", [-500.0, -1.0, 0.0, 1.0, 500.0])
@pytest.mark.parametrize("loss", BINARY.values(), ids=repr)
def test_extremes_and_free_errors_stay_finite(loss, score):
    F, sizes = np.full(2, score), (0.0, 1e-12, 1.0, 1e12)
    for pair, signs in itertools.product(itertools.product(sizes, sizes), ([1, -1], [1, 1])):
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


def extreme_rows(k, n=300):
    rng = np.random.default_rng(0)
    F = rng.choice([-500.0, 0.0, 500.0, 1e-300], size=(n, k))
    y = rng.integers(0, k, size=n)
    C = 10.0 ** rng.uniform(-6.0, 6.0, size=(n, k)) * (rng.random((n, k)) < 0.8)
    C[np.arange(n), y] = C[:5] = 0.0
    return y, F, C, rng


@pytest.mark.parametrize("k", CLASSES)
@pytest.mark.parametrize("loss", SCORES.values(), ids=repr)
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


@pytest.mark.parametrize("loss", SEVERAL.values(), ids=repr)
def test_clipped_and_free_rows(loss):
    """Rows beyond all limits still point downhill; free ones cost nothing."""
    if not isinstance(loss, (losses.ExpectedCost, PNorm)):  # the expected cost gives such rows up
        F, C = np.array([[-900.0, 900.0, 0.0]]), np.array([[0.0, 2.0, 1.0]])
        G = loss.gradient(np.array([0]), F, C)[0]
        assert G[0] <= 0.0 < G[1]
    if loss.carries_costs:
        y, F, C, _ = drawn(loss, 3)
        for part in (loss.value, loss.gradient, loss.hessian):
            np.testing.assert_array_equal(part(y, F, np.zeros_like(C)), 0.0)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.5])
def test_p_norm_at_the_corners_and_its_smoothness(p):
    loss, H, y, C = PNorm(p), np.eye(3), np.arange(3), 1.0 - np.eye(3)
    np.testing.assert_array_equal(loss.value(y, H, C), 0.0)
    np.testing.assert_array_equal(loss.value(y, np.roll(H, 1, axis=0), C), 1.0)
    assert np.isfinite(loss.gradient(y, H, C)).all()
    if p != 1.5:  # below 2 nothing bounds the curvature, unless it is 0
        y, H, C, _ = drawn(loss, 4)
        assert loss.hessian(y, H / H.sum(axis=1, keepdims=True), C).max() <= loss.smoothness(C)
    assert loss.smoothness(C) == pytest.approx(pnorm.smoothness(C, p))


# --- what a loss declares, and a new one with its kernel ------------------------------------


@pytest.mark.parametrize("name", LOSSES)
def test_what_a_loss_declares(name):
    loss = LOSSES[name]
    assert named_loss(name, "") is loss and named_loss(loss, "") is loss and loss.formula
    assert loss.is_binary == isinstance(loss, BinaryLoss) != isinstance(loss, MulticlassLoss)
    right, wrong = (1, 3) if loss.is_binary else (3, 1)
    assert loss.checked_scores(np.zeros((4, right)), "").size == 4 * right
    with pytest.raises(ValueError, match=rf"Somebody .* score per .*\(4, {wrong}\)"):
        loss.checked_scores(np.zeros((4, wrong)), "Somebody")
    assert loss.has_probabilities == (loss.is_binary or name == "mc")
    assert loss.has_probabilities_at_unit_costs == (loss.has_probabilities or name == "gll")
    if not loss.is_binary:  # a cost-blind one ignores costs, a constant added to all scores none
        y, F, C, _ = drawn(loss, 3)
        values = loss.value(y, loss.centred(F), C)
        ignores = np.array_equal(values, loss.value(y, loss.centred(F), 3.0 * C))
        assert ignores == (not loss.carries_costs) == (name == "mc")
        np.testing.assert_allclose(loss.value(y, loss.centred(F + 7.0), C), values, rtol=1e-12)


@compiled(error_model="numpy")
def regression_kernel(y, C, F, w, G, H):
    n, k = F.shape
    for i in range(n):
        weight = w[i] if w.size > 1 else w[0]
        for j in range(k):
            g = F[i, j] + C[i, j]
            G[i, j] = weight * g
            H[i, j] = weight * usable_hessian(g, 1.0)


class Regression(MulticlassLoss):
    """Least squares to the negative costs: the largest score is the cheapest decision."""

    name = "regression"
    has_probabilities_at_unit_costs = True
    softmax_scale = 3.0
    kernel = regression_kernel

    def value(self, y, F, C):
        return 0.5 * ((F + C) ** 2).sum(axis=1)

    def gradient(self, y, F, C):
        return F + C

    def hessian(self, y, F, C):
        return np.ones_like(F)


@patch.dict(LOSSES)
@pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")
def test_a_new_loss_is_known_by_its_name():
    """Its kernel is the objective, in any order of the scores, and equal to a loss without one."""
    (X, y), w = rows(3), np.linspace(0.5, 2.0, 300)
    losses.register(Regression)
    for order in "CF":
        F = np.asarray(np.random.default_rng(1).normal(size=(300, 3)), order=order)
        G, H = objective("regression", cost_matrix=MATRIX).derivatives(y, F, w)
        assert G.dtype == H.dtype == np.float32
        np.testing.assert_allclose(G, w[:, None] * (F + MATRIX[y]), rtol=1e-6)
        np.testing.assert_allclose(H, w[:, None] * np.ones_like(F), rtol=1e-6)
    assert Regression.kernel.dispatcher.signatures  # the kernel has run
    np.testing.assert_allclose(probability(F, "regression"), softmax(3.0 * F, axis=1))
    with pytest.raises(ValueError, match=r"Regression\(\) has no link to probabilities"):
        probability(F, "regression", cost_matrix=MATRIX)
    options = {"n_estimators": 5, "effort": "fast", "n_jobs": 1, "random_state": 0}
    slow = type("Slow", (Regression,), {})()
    one, other = (
        CostBoostClassifier(MATRIX, loss=it, **options).fit(X, y) for it in ("regression", slow)
    )
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-5)
    assert not hasattr(one, "predict_proba")


def test_a_subclass_has_no_kernel_and_no_name():
    """It may compute something else: then the kernel would be wrong in silence."""

    class Doubled(GLL):
        def gradient(self, y, F, C):
            return 2.0 * super().gradient(y, F, C)

    assert Doubled.kernel is None and Doubled.name == "" and GLL.kernel is not None
    y, F = np.array([0, 1, 2]), np.random.default_rng(0).normal(size=(3, 3))
    for loss, name, factor in ((Doubled(), "gll", 2.0), (type("Same", (Ls,), {})(), "ls", 1.0)):
        slow, fast = (objective(one, cost_matrix=MATRIX).derivatives(y, F) for one in (loss, name))
        np.testing.assert_allclose(slow[0], factor * fast[0], rtol=1e-6)


@pytest.mark.trust
def test_a_loss_of_a_notebook_travels_to_other_processes():
    """By value, as joblib and Dask send what was defined at a prompt; the kernel goes with it."""
    cloudpickle = pytest.importorskip("cloudpickle")

    @compiled()
    def kernel(y, C, F, w, G, H):
        G[:] = F + C
        for i in range(F.shape[0]):
            for j in range(F.shape[1]):
                H[i, j] = usable_hessian(G[i, j], 1.0)

    local = type("Local", (Regression,), {"kernel": kernel})
    y, F = np.array([0, 1, 2]), np.arange(9.0).reshape(3, 3)
    here = objective(local(), cost_matrix=MATRIX)
    G, H = here.derivatives(y, F)
    np.testing.assert_allclose(G, F + MATRIX, rtol=1e-6)
    script = (
        "import pickle, sys; import numpy as np; made = pickle.load(sys.stdin.buffer); "
        "G, H = made.derivatives(np.array([0, 1, 2]), np.arange(9.0).reshape(3, 3)); "
        "print(G.sum(), H.sum(), 'dispatcher' in vars(made.loss.kernel))"
    )
    # What is compiled stays in its process.
    alone = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    command, sent = [sys.executable, "-c", script], cloudpickle.dumps(here)
    done = subprocess.run(command, input=sent, capture_output=True, check=False, env=alone)
    assert done.stdout.decode().split() == [str(G.sum()), str(H.sum()), "True"], done.stderr


# --- errors ---------------------------------------------------------------------------------


def test_the_classifier_refuses_free_errors_in_fit():
    X, y = rows()
    for free in (0, 1):
        for matrix, costs in (({"fn": free, "fp": 1 - free}, None), (None, 3.0 * (y == free))):
            model = CostBoostClassifier(matrix, loss="cost_logistic", n_estimators=2, effort="fast")
            with pytest.raises(ValueError, match="CostBoostClassifier must make both errors"):
                model.fit(X, y, costs=costs)


def test_names_are_unique_and_declared():
    before = dict(LOSSES)
    twin = type("Twin", (MulticlassLoss,), {"name": "gll", "value": GLL.value})
    with pytest.raises(ValueError, match=r"'gll' of Twin is already that of GLL\. Choose"):
        losses.register(twin)
    with pytest.raises(ValueError, match=r'name = "..." in its class; Nameless has none'):
        losses.register(type("Nameless", (GLL,), {}))
    assert before == LOSSES
    assert losses.register(GLL) is GLL  # again: a cell of a notebook run twice


@pytest.mark.parametrize(
    ("loss", "binary", "words"),
    [
        ("log", None, r"one of \['cost_exp.*'expected_cost'\], or a Loss\. Got 'log'"),
        (3, None, "Got 3 instead"),
        (PNorm(), None, "must be a loss of scores"),
        ("cost_logistic", False, r"one of \['gel', .*\], or a MulticlassLoss"),
        (GLL(), True, r"one of \['cost_exponential', .*\], or a BinaryLoss\. Got GLL"),
    ],
)
def test_unknown_losses(loss, binary, words):
    with pytest.raises(ValueError, match=f"'loss' parameter of Somebody .*{words}"):
        named_loss(loss, "Somebody", binary=binary)
