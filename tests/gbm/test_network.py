"""Networks as members: their loss, what they learn, and what each column adds to their scores."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from costboost.gbm.engines.base import Growth, Job, TargetTable
from costboost.gbm.engines.linear import LinearEngine
from costboost.gbm.engines.network import NetworkEngine, _Loss, hidden_units
from costboost.gbm.folds import Fold
from scipy.optimize import check_grad

from costboost import CostBoostClassifier
from costboost.errors import CollapseWarning
from costboost.gbm.models import Design, NetworkModel, row_products
from costboost.gbm.targets import Columns, LogLossPart

GROWTH = Growth(0.1, 15, 5, 0.0, 1.0, 1.0)


class Target:
    """Log loss of k classes."""

    def __init__(self, k):
        self.n_scores = 1 if k == 2 else k

    def part(self, columns):
        return LogLossPart(columns.labels, columns.weights)


def table_of(X, y, weights=None, k=2, categorical=()):
    weights = np.ones(len(y)) if weights is None else weights
    return TargetTable(X, list(categorical), Target(k), Columns(y, weights))


def rings(n=400, k=2, seed=0):
    """Classes by the distance from the middle: no column tells them alone."""
    X = np.random.default_rng(seed).normal(size=(n, 2))
    radius = np.hypot(*X.T)
    return X, np.searchsorted(np.quantile(radius, np.arange(1, k) / k), radius)


def trained(table, fold=None, seed=0):
    fold = fold or Fold(np.arange(len(table.X)))
    return NetworkEngine(GROWTH, 1).train(table, fold, Job(10, 5, seed))


@pytest.mark.parametrize("n_scores", [1, 3])
def test_gradient_is_that_of_finite_differences(n_scores):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, max(n_scores, 2), 30)
    loss = _Loss(rng.normal(size=(30, 4)), labels, rng.dirichlet(np.ones(30)), n_scores)
    for _ in range(3):
        # Not where a training starts: there the scores do not depend on the hidden units.
        point = rng.normal(size=len(loss.start(0)))
        error = check_grad(
            lambda p: loss(p, 0.3)[0], lambda p: loss(p, 0.3)[1], point, epsilon=1e-7
        )
        assert error < 1e-5


@pytest.mark.parametrize("k", [2, 3])
def test_it_learns_what_a_line_cannot(k):
    X, y = rings(600, k)
    table, fold = table_of(X, y, k=k), Fold(np.arange(400), np.arange(400, 600))
    part = LogLossPart(y[400:], np.ones(200))
    network, seen = trained(table, fold)
    _, line = LinearEngine(GROWTH, 1).train(table, fold, Job(10, 5, 0))
    np.testing.assert_allclose(seen, network.scores(X[400:]))
    assert part.loss(seen) < 0.4 * part.loss(line)


def test_held_out_rows_stop_it():
    """Labels without any pattern: the less is learned the better."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 30)), rng.integers(0, 2, 120)
    fold = Fold(np.arange(60), np.arange(60, 120))
    stopped, _ = trained(table_of(X, y), fold)
    free, _ = trained(table_of(X, y), Fold(np.arange(60)))
    assert np.std(stopped.scores(X[60:])) < 0.5 * np.std(free.scores(X[60:]))


def test_weights_are_copies():
    """Rows with the weight 2 count as if they were there twice; those with 0, not at all."""
    X, y = rings(60)
    weights = np.arange(60) % 3 * 1.0
    loss = _Loss(X, y, weights / weights.sum(), 1)
    rows = np.repeat(np.arange(60), np.arange(60) % 3)
    copies = _Loss(X[rows], y[rows], np.full(len(rows), 1 / len(rows)), 1)
    point = loss.start(1)
    for mine, other in zip(loss(point, 0.1), copies(point, 0.1), strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-12)


@pytest.mark.parametrize("k", [2, 3])
def test_contributions_are_mean_gradients_on_the_way_from_the_centre(k):
    rng = np.random.default_rng(1)
    X, y = rings(200, k)
    X = np.column_stack([X, rng.integers(0, 3, 200)])
    X[::7, 1] = np.nan
    model, _ = trained(table_of(X, y, k=k, categorical=[2]))
    found = model.contributions(X).reshape(200, -1, 4)
    np.testing.assert_allclose(found.sum(axis=2), model.scores(X).reshape(200, -1), atol=1e-9)
    row = model.design(X[:1])[0]
    steps = (np.arange(20_000) + 0.5) / 20_000
    on_the_way = model.centre + steps[:, None] * (row - model.centre)
    active = (on_the_way @ model.slopes.T + model.shifts > 0).mean(axis=0)
    for score, top in enumerate(model.tops):
        effects = (row - model.centre) * ((active * top) @ model.slopes)
        expected = [effects[model.design.sources == j].sum() for j in range(3)]
        np.testing.assert_allclose(found[0, score, :3], expected, atol=2e-3)


def test_unit_whose_inputs_cancel_still_tells_what_each_adds():
    design = Design.of(np.array([[1.0, 1.0], [-1.0, -1.0]]), [])
    model = NetworkModel(
        design, np.array([[1.0, -1.0]]), np.ones(1), np.ones((1, 1)), np.zeros(1), np.zeros(2)
    )
    np.testing.assert_allclose(model.contributions(np.array([[1.0, 1.0]])), [[1.0, -1.0, 1.0]])


@pytest.mark.parametrize("k", [2, 3])
def test_networks_of_folds_are_one(k):
    X, y = rings(k=k)
    models = [trained(table_of(X, y, k=k), Fold(np.arange(i, 400, 2)), i)[0] for i in (0, 1)]
    one = NetworkEngine(GROWTH, 1).together(models)
    expected = np.mean([model.scores(X) for model in models], axis=0)
    np.testing.assert_allclose(one.scores(X), expected)
    assert len(one.shifts) == 2 * hidden_units(1 if k == 2 else k)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("present", [[0], [0, 1]])
def test_fewer_classes_huge_numbers_and_few_rows(k, present):
    X, y = rings(40, 3)
    X[:3, 0] = [1e300, -1e300, np.nan]
    rows = np.flatnonzero(np.isin(y, present))
    for some in (rows, rows[:1]):
        model, _ = trained(table_of(X, np.minimum(y, k - 1), k=k), Fold(some))
        assert np.isfinite(model.scores(X)).all()
        assert np.isfinite(model.contributions(X)).all()


@pytest.mark.parametrize("engine", [NetworkEngine, LinearEngine])
def test_a_row_scores_the_same_in_any_batch(engine):
    X, y = rings(300)
    X = np.column_stack([X, np.random.default_rng(0).normal(size=(300, 9))])
    model, _ = engine(GROWTH, 1).train(table_of(X, y), Fold(np.arange(300)), Job(10, 5, 0))
    for ask in (model.scores, model.contributions):
        whole = ask(X)
        for size in (1, 7, 64, 100):
            parts = [ask(X[i : i + size]) for i in range(0, 300, size)]
            np.testing.assert_array_equal(np.concatenate(parts), whole)


@pytest.mark.parametrize("n, p", [(0, 3), (70, 0), (0, 0)])
def test_products_of_no_rows_or_no_inputs(n, p):
    np.testing.assert_array_equal(row_products(np.ones((n, p)), np.ones((2, p))), np.zeros((n, 2)))


def test_what_the_rows_do_not_show_has_no_say():
    """A constant column, and a category that is only among the held-out rows."""
    X, y = rings(200)
    X = np.column_stack([X, np.full(200, 3.0), np.arange(200) >= 150])
    fold = Fold(np.arange(150), np.arange(150, 200))
    model, _ = trained(table_of(X, y, categorical=[3]), fold)
    assert model.importances(4)[2] == 0
    other = X.copy()
    other[:, 2] = -8.0
    np.testing.assert_array_equal(model.scores(X), model.scores(other))
    assert (model.slopes[:, model.design.sources == 3] == 0).all()


def test_same_seed_same_network():
    X, y = rings()
    a, b, other = (trained(table_of(X, y), seed=seed)[0] for seed in (3, 3, 4))
    np.testing.assert_array_equal(a.slopes, b.slopes)
    assert np.abs(a.slopes - other.slopes).max() > 0.01


def test_in_a_model_it_counts_where_it_pays():
    X, y = rings(900, seed=2)
    X = np.column_stack([X @ [[1, 1], [1, -1]], np.random.default_rng(0).normal(size=(900, 6))])
    model = CostBoostClassifier({"fn": 5, "fp": 1, "positive": 1}, random_state=0).fit(X, y)
    weights = {member.name: member.weight for member in model.members_}
    assert weights["network"] > 0.3
    assert not hasattr(model, "booster_")
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("X", [
    pd.DataFrame({"a": pd.Categorical([None] * 40, categories=["x"])}),
    np.full((40, 1), np.nan),
    np.ones((40, 2)),
], ids=["categories", "numbers", "constants"])  # fmt: skip
def test_a_table_that_tells_nothing(X):
    model = CostBoostClassifier({"fn": 5, "fp": 1, "positive": 1}, random_state=0)
    with pytest.warns(CollapseWarning):
        model.fit(X, np.arange(40) % 2)
    np.testing.assert_allclose(model.predict_proba(X), 0.5, atol=0.05)
    assert (model.predict(X) == 1).all()
