"""Every binary loss: the plain formulas, minimiser and link, extremes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from costboost import losses
from reference.losses import LOSSES as PLAIN

LOSSES = {type(loss).__name__: loss for loss in losses.LOSSES.values() if loss.is_binary}
PAIRS = [(1.0, 1.0), (2.0, 1.0), (5.0, 1.0), (1.0, 20.0), (0.3, 0.7)]
OF_ROWS = tuple(np.random.default_rng(1).uniform(0.5, 4.0, (2, 60)))
EVERY = pytest.mark.parametrize("name", LOSSES)


@pytest.mark.parametrize("C", [(3.0, 1.0), OF_ROWS], ids=["pair", "rows"])
@EVERY
def test_plain_formulas(name, C):
    loss, (value, minimiser) = LOSSES[name], PLAIN[name]
    y, F = np.where(np.arange(60) % 2 == 0, 1.0, -1.0), np.random.default_rng(1).normal(size=60)
    p, both = np.linspace(0.02, 0.98, 60), np.broadcast_arrays(*C, y)[:2]
    expected = [value(*row) for row in zip(y, F, *both, strict=True)]
    np.testing.assert_allclose(loss.value(y, F, C), expected, rtol=1e-10)
    expected = [minimiser(*row) for row in zip(p, *both, strict=True)]
    np.testing.assert_allclose(loss.minimiser(p, C), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("C", [*PAIRS, OF_ROWS], ids=[*map(str, PAIRS), "rows"])
@EVERY
def test_the_minimiser_has_no_slope_and_gives_the_probability_back(name, C):
    loss, p = LOSSES[name], np.linspace(1e-6, 1 - 1e-6, 60)
    F = loss.minimiser(p, C)
    up, down = (loss.gradient(np.full(60, sign), F, C) for sign in (1.0, -1.0))
    np.testing.assert_allclose(p * up + (1 - p) * down, 0.0, atol=1e-9)
    assert (loss.hessian(np.ones(60), F, C) > 0).all()
    np.testing.assert_allclose(loss.probability(F, C), p, rtol=1e-9)


@pytest.mark.parametrize("score", [-500.0, -1.0, 0.0, 1.0, 500.0])
@EVERY
def test_extremes_and_free_errors_stay_finite(name, score):
    loss, F, sizes = LOSSES[name], np.full(2, score), (0.0, 1e-12, 1.0, 1e12)
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
