"""What makes fits on a cluster repeat: hashes, bins and gradients that do not know workers."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("distributed")
pytest.importorskip("xgboost")

import xgboost as xgb

from costboost.gbm.sources.dask.guard import Silence
from costboost.gbm.sources.dask.repeatable import (
    edges_of,
    floored,
    hashed,
    is_drawn,
    log_loss_derivatives,
    on_grid,
)

RNG = np.random.default_rng(0)


def test_samples_have_the_right_size_and_are_independent_of_the_order():
    marks = hashed(np.arange(20_000), 1).astype(np.float32)
    first, second = is_drawn(marks, 0, 0.8, 5), is_drawn(marks, 1, 0.8, 5)
    assert abs(first.mean() - 0.8) < 0.01
    assert abs((first & second).mean() - 0.64) < 0.015
    order = RNG.permutation(len(marks))
    assert np.array_equal(is_drawn(marks[order], 0, 0.8, 5), first[order])
    assert not np.array_equal(is_drawn(marks, 0, 0.8, 6), first)


def test_sums_on_the_grid_are_exact_in_any_order():
    values = RNG.standard_normal(5_000) * np.exp(RNG.standard_normal(5_000))
    rough = on_grid(values, np.abs(values).max()).astype(np.float64)
    sums = {float(np.cumsum(rough[RNG.permutation(len(rough))])[-1]) for _ in range(20)}
    assert len(sums) == 1
    plain = {float(np.cumsum(values[RNG.permutation(len(values))])[-1]) for _ in range(20)}
    assert len(plain) > 1  # so the test can fail
    np.testing.assert_allclose(rough, values, atol=np.abs(values).max() * 2.0**-23)
    assert on_grid(np.zeros(3), 0.0).tolist() == [0, 0, 0]


def test_a_tree_on_rounded_values_decides_as_on_the_values_themselves():
    X = RNG.standard_normal((3_000, 3)).astype(np.float32)
    X[RNG.random(X.shape) < 0.05] = np.nan
    X[:, 2] = RNG.integers(0, 4, len(X))
    edges = edges_of(X, 32, [2])
    assert edges[2] is None and len(edges[0]) <= 31
    rounded = floored(X, edges)
    assert np.array_equal(np.isnan(rounded), np.isnan(X))
    assert len(np.unique(rounded[:, 0][~np.isnan(rounded[:, 0])])) <= 31
    y = (np.nan_to_num(X[:, 0]) + RNG.standard_normal(len(X)) > 0).astype(float)
    booster = xgb.train({"max_depth": 4}, xgb.QuantileDMatrix(rounded, y, max_bin=256), 10)
    new = RNG.standard_normal((500, 3)).astype(np.float32) * 2
    for rows in (X, new):
        found = booster.predict(xgb.DMatrix(rows))
        assert np.array_equal(found, booster.predict(xgb.DMatrix(floored(rows, edges))))


def test_log_loss_derivatives_are_those_of_the_loss():
    weights = RNG.random(6) + 0.5
    z, labels, step = RNG.standard_normal(6), RNG.integers(0, 2, 6), 1e-5
    loss = lambda z: weights * np.logaddexp(0, np.where(labels > 0, -z, z))  # noqa: E731
    g, h = log_loss_derivatives(z, labels, weights)
    np.testing.assert_allclose(g, (loss(z + step) - loss(z - step)) / (2 * step), rtol=1e-6)
    up, down = (log_loss_derivatives(z + s, labels, weights)[0] for s in (step, -step))
    np.testing.assert_allclose(h, (up - down) / (2 * step), rtol=1e-6)
    Z, codes = RNG.standard_normal((6, 3)), RNG.integers(0, 3, 6)
    G, H = log_loss_derivatives(Z, codes, weights)
    np.testing.assert_allclose(G.sum(axis=1), 0, atol=1e-12)
    assert G.shape == H.shape == (6, 3) and (H > 0).all()


# -- silence ---------------------------------------------------------------------------------------


def worker(seen, status="running", executing=0):
    return {
        "last_seen": seen, "status": status, "metrics": {"task_counts": {"executing": executing}},
    }  # fmt: skip


def test_a_worker_is_silent_when_nothing_new_is_heard_of_it():
    silence = Silence(10)
    assert silence.look({"a": worker(1), "b": worker(1)}, set(), 0) == {}
    assert silence.look({"a": worker(2), "b": worker(1)}, set(), 9) == {}
    assert silence.look({"a": worker(3), "b": worker(1)}, set(), 11) == {"b": "does not answer"}


def test_a_paused_worker_is_stuck_if_it_is_needed_or_all_are():
    paused = {"a": worker(0, "paused"), "b": worker(0)}
    for needed, expected in (({"a"}, {"a"}), (set(), set()), ({"b"}, set())):
        silence = Silence(10)
        silence.look({k: {**v, "last_seen": 1} for k, v in paused.items()}, needed, 0)
        found = silence.look({k: {**v, "last_seen": 2} for k, v in paused.items()}, needed, 11)
        assert set(found) == expected
    busy = {"a": worker(0, "paused", executing=1)}
    silence = Silence(10)
    silence.look({"a": {**busy["a"], "last_seen": 1}}, {"a"}, 0)
    assert silence.look({"a": {**busy["a"], "last_seen": 2}}, {"a"}, 11) == {}
