"""Losses describe themselves: the registry, what a loss declares, and a new one in one file."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.special import softmax

from costboost import CostBoostClassifier
from costboost.gbm import objective, probability
from costboost.losses import GLL, LOSSES, BinaryLoss, Ls, MulticlassLoss, PNorm, register
from costboost.losses.base import named_loss
from costboost.losses.kernels import compiled, usable_hessian
from data import rows

MATRIX = np.array([[0.0, 1.0, 0.3], [2.0, 0.0, 0.2], [6.0, 6.0, 0.0]])

# --- a new loss with its kernel -------------------------------------------------------------


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


@pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")
def test_a_new_loss_is_known_by_its_name():
    """Its kernel is the objective, in any order of the scores, and equal to a loss without one."""
    (X, y), w = rows(3), np.linspace(0.5, 2.0, 300)
    slow = type("Slow", (Regression,), {})()
    assert slow.kernel is None and slow.name == ""
    register(Regression)
    try:
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
        options = {"n_estimators": 5, "ensemble": 1, "n_jobs": 1, "random_state": 0}
        one, other = (
            CostBoostClassifier(MATRIX, loss=it, **options).fit(X, y) for it in ("regression", slow)
        )
        np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-5)
        assert not hasattr(one, "predict_proba")
    finally:
        del LOSSES["regression"]


def test_the_classifier_refuses_free_errors_in_fit():
    X, y = rows()
    for free in (0, 1):
        for matrix, costs in (({"fn": free, "fp": 1 - free}, None), (None, 3.0 * (y == free))):
            model = CostBoostClassifier(matrix, loss="cost_logistic", n_estimators=2, ensemble=1)
            with pytest.raises(ValueError, match="CostBoostClassifier must make both errors"):
                model.fit(X, y, costs=costs)


# --- laws of every loss ---------------------------------------------------------------------


def drawn(loss, k, n=50):
    """Labels, scores and costs as the loss reads them."""
    rng = np.random.default_rng(k)
    codes = rng.integers(0, k, size=n)
    if loss.is_binary:
        pair = rng.uniform(0.5, 4.0, size=(2, n))
        return 2.0 * codes - 1.0, rng.normal(size=n), (pair[0], pair[1])
    C = rng.uniform(0.5, 4.0, size=(n, k)) * (np.arange(k) != codes[:, None])
    return codes, rng.normal(size=(n, k)), C


@pytest.mark.parametrize(
    ("name", "k"),
    [(name, k) for name in LOSSES for k in (2, 3, 5) if not LOSSES[name].is_binary or k == 2],
)
def test_kernels_are_the_derivatives_at_raw_scores(name, k):
    """Kernel, numpy derivatives, and differences of the value at centred scores."""
    loss = LOSSES[name]
    y, F, C = drawn(loss, k)
    g, h = loss.raw_derivatives(y, F, C)
    G, H, w = np.empty_like(F), np.empty_like(F), np.linspace(0.5, 2.0, len(y))
    if loss.kernel is not None:
        loss.kernel(*loss.kernel_rows(y, C), F, w, G, H)
        w = w if loss.is_binary else w[:, None]
        np.testing.assert_allclose(G, w * g, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(H, w * h, rtol=1e-10, atol=1e-12)

    def value(at):
        return loss.value(y, loss.centred(at), C)

    for j in range(loss.n_scores(k)):
        step = 1e-4 if loss.is_binary else 1e-4 * np.eye(k)[j]
        up, middle, down = value(F + step), value(F), value(F - step)
        first, second = (g, h) if loss.is_binary else (g[:, j], h[:, j])
        np.testing.assert_allclose(first, (up - down) / 2e-4, rtol=1e-5, atol=1e-5)
        curvature = (up - 2 * middle + down) / 1e-8
        if loss.bounds_curvature:
            assert (second >= np.abs(curvature) - 1e-6).all() and (second > 0).all()
        else:
            np.testing.assert_allclose(second, curvature, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", LOSSES)
def test_what_a_loss_declares(name):
    loss = LOSSES[name]
    assert named_loss(name, "") is loss and named_loss(loss, "") is loss and loss.formula
    assert loss.is_binary == isinstance(loss, BinaryLoss) != isinstance(loss, MulticlassLoss)
    for width in (1, 3):
        scores = np.zeros((4, width))
        if (width == 1) == loss.is_binary:
            assert loss.checked_scores(scores, "").shape == ((4,) if width == 1 else (4, 3))
        else:
            with pytest.raises(ValueError, match=rf"Somebody .* score per .*\(4, {width}\)"):
                loss.checked_scores(scores, "Somebody")
    assert loss.has_probabilities == (loss.is_binary or name == "mc")
    assert loss.has_probabilities_at_unit_costs == (loss.has_probabilities or name == "gll")
    if not loss.is_binary:  # a cost-blind one ignores costs, a constant added to all scores none
        y, F, C = drawn(loss, 3)
        values = loss.value(y, loss.centred(F), C)
        ignores = np.array_equal(values, loss.value(y, loss.centred(F), 3.0 * C))
        assert ignores == (not loss.carries_costs) == (name == "mc")
        np.testing.assert_allclose(loss.value(y, loss.centred(F + 7.0), C), values, rtol=1e-12)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("name", ["mc", "gll"])
def test_probabilities_are_those_of_the_minimiser(name, k):
    """At the scores of given probabilities the expected loss has no slope."""
    loss, P = LOSSES[name], np.random.default_rng(k).dirichlet(np.ones(k), size=1)
    F, unit = np.log(P) / loss.softmax_scale, 1.0 - np.eye(k)
    slope = sum(P[0, z] * loss.gradient(np.array([z]), F, unit[[z]])[0] for z in range(k))
    np.testing.assert_allclose(slope, 0.0, atol=1e-12)
    np.testing.assert_allclose(loss.class_probabilities(F), P)


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


# --- the registry ---------------------------------------------------------------------------


def test_names_are_unique_and_declared():
    before = dict(LOSSES)
    twin = type("Twin", (MulticlassLoss,), {"name": "gll", "value": GLL.value})
    with pytest.raises(ValueError, match=r"'gll' of Twin is already that of GLL\. Choose"):
        register(twin)
    with pytest.raises(ValueError, match=r'name = "..." in its class; Nameless has none'):
        register(type("Nameless", (GLL,), {}))
    assert before == LOSSES
    assert register(GLL) is GLL  # again: a cell of a notebook run twice


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
