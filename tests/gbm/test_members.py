"""Kinds of models: which are tried, how much they count, and what becomes of them."""

from __future__ import annotations

import os
from types import SimpleNamespace

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import check_grad
from scipy.special import expit, logit
from sklearn import metrics

import costboost
from costboost import CollapseWarning, CostBoostClassifier, TimeLimitWarning
from costboost.costs.table import to_proba
from costboost.datasets import make_fraud
from costboost.gbm import network as networks
from costboost.gbm import rows as gbm_rows
from costboost.gbm import train
from costboost.gbm.models import Target
from costboost.gbm.network import Design, NetworkModel, row_products
from costboost.gbm.train import (
    Estimate,
    Member,
    Members,
    Rounds,
    blend,
    candidate,
    candidates_for,
    mixed,
    of_future_rows,
)

COSTLY = {"fn": 20, "fp": 1}

pytestmark = pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")


def make(**options):
    small = {"n_estimators": 30, "n_jobs": 1, "random_state": 0}
    return CostBoostClassifier(COSTLY, **{**small, "refit": True, **options})


@pytest.fixture(scope="module")
def fraud():
    data = make_fraud(400, random_state=0)
    return data.X, data.y


@pytest.fixture(scope="module")
def model(fraud):
    return make().fit(*fraud)


def log_loss(scores, labels):
    return metrics.log_loss(labels, to_proba(scores))


# --- weights ------------------------------------------------------------------------------------


def test_blend_is_no_worse_than_the_best_member():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 300)
    truth = np.where(labels > 0, 1.0, -1.0)
    scores = [truth + rng.normal(size=300) * noise for noise in (1.0, 1.0, 3.0, 9.0)]
    loss = lambda s: log_loss(s, labels)  # noqa: E731
    weights = blend(scores, loss)
    assert weights.sum() == pytest.approx(1)
    assert weights[0] > 0 and weights[1] > 0 and weights[3] == 0
    assert loss(mixed(scores, weights)) < min(map(loss, scores))


def test_blend_drops_members_that_hardly_pay():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=500)
    near = truth + 1e-3 * rng.normal(size=500)
    loss = lambda s: 1.0 + float(np.square(s - truth).mean())  # noqa: E731
    assert np.count_nonzero(blend([near, truth + 0.02], loss)) == 1
    np.testing.assert_array_equal(blend([truth, truth], loss), [1, 0])
    np.testing.assert_array_equal(blend([truth], loss), [1])


# --- which kinds --------------------------------------------------------------------------------


def kinds(n=1000, inputs=10, k=2, *, is_log_loss=True, **options):
    rows = SimpleNamespace(owner="", n_inputs=inputs, totals=SimpleNamespace(rows=n), columns=())
    rows.seeds = [0] * (1 if options.get("ensemble") == 1 else 5)
    target = SimpleNamespace(n_scores=1 if k == 2 else k, is_log_loss=is_log_loss)
    return candidates_for(CostBoostClassifier(**options), target, rows)


def names(*args, **options):
    return [kind.name for kind in kinds(*args, **options)]


def test_kinds_by_effort_engine_and_size():
    balanced = ["31 leaves", "15 leaves, random splits", "network", "forest"]
    assert names() == balanced
    high = names(effort="high")
    assert high[:4] == balanced
    assert {"6 leaves", "63 leaves", "31 leaves, random splits"} <= set(high)
    assert names(engine="xgboost") == ["31 leaves", "6 leaves", "network"]
    own = names(max_leaves=7, effort="high")  # of one size, some kinds are the same
    assert own[:2] == ["7 leaves", "7 leaves, random splits"] and len(own) == len(set(own))
    for single in ({"effort": "fast"}, {"ensemble": 1}, {"loss": "gll"}, {"inputs": None}):
        assert names(**single) == ["15 leaves"]


@pytest.mark.parametrize(
    ("kind", "table", "effort", "is_tried"),
    [
        *(("network", table, effort, False) for effort in ("balanced", "high")
          for table in ({"inputs": 501}, {"inputs": np.inf}, {"is_log_loss": False})),
        ("network", {"n": 20_001, "inputs": 50}, "balanced", False),
        ("network", {"n": 20_001, "inputs": 50}, "high", True),
        ("network", {"n": 30_001, "inputs": 100}, "high", False),
        ("forest", {"n": 500_001}, "balanced", False),
        ("forest", {"n": 100_001, "k": 5}, "balanced", False),
        ("forest", {"n": 100_000, "k": 5}, "balanced", True),
        ("forest", {"is_log_loss": False}, "balanced", False),
    ],
)  # fmt: skip
def test_networks_and_forests_are_for_tables_that_are_not_large(kind, table, effort, is_tried):
    assert (kind in names(effort=effort, **table)) is is_tried


def test_other_kinds_would_not_keep_to_constraints():
    free = names(effort="high", engine_params={"max_bin": 63})
    assert {"network", "forest"} <= set(free)
    for name in ("monotone_constraints", "interaction_constraints", "mc"):
        held = names(effort="high", engine_params={name: [1]})
        assert held == [
            n for n in free if n.endswith(("leaves", "random splits")) and "sym" not in n
        ]


def test_learning_rates_leaves_and_own_parameters():
    def rates(k, **options):
        return [kind.learning_rate for kind in kinds(k=k, **options)][:2]

    assert rates(2) == [0.05, 0.2]
    assert rates(3) == rates(3, effort="high") == [0.1, 0.4]
    assert rates(3, learning_rate=0.3) == [0.3, 1.0]
    assert {kind.min_samples_leaf for kind in kinds()} == {5}
    assert {kind.min_samples_leaf for kind in kinds(min_samples_leaf=3)} == {3}
    own = {"max_bin": 63}
    for kind in kinds(effort="high", engine_params=own):
        assert kind.parameters == (own if kind.engine == "lightgbm" else {})


def test_symmetric_trees_where_catboost_is_installed():
    pytest.importorskip("catboost")
    for k in (2, 3):
        assert names(effort="high", k=k)[-1] == "symmetric trees, 64 leaves"
    assert "symmetric trees, 64 leaves" not in names(effort="high", k=4)
    assert names(effort="high", engine="catboost")[0] == "symmetric trees, 31 leaves"


# --- fits ---------------------------------------------------------------------------------------


def test_members_tell_what_was_used(model):
    members = model.members_
    assert isinstance(members, Members) and all(isinstance(m, Member) for m in members)
    assert sum(member.weight for member in members) == pytest.approx(1)
    used = [member for member in members if member.weight > 0]
    assert len(model.boosters_) == len(used)  # one booster of all rows each
    assert all(np.isfinite(member.loss) and member.seconds > 0 for member in members)
    lines = str(members).splitlines()
    assert lines[0].split() == ["member", "engine", "weight", "loss", "rounds", "seconds"]
    assert len({line.index("lightgbm") for line in lines[1:3]}) == 1


def test_refit_and_folds(fraud):
    X, y = fraud
    all_of = {"effort": "fast", "subsample": 1.0, "colsample": 1.0}  # nothing is drawn
    refitted, folds = (make(ensemble=3, refit=r, **all_of).fit(X, y) for r in (True, False))
    assert (len(refitted.boosters_), len(folds.boosters_)) == (1, 3)
    assert refitted.estimated_score_ == folds.estimated_score_
    rounds = np.mean([booster.current_iteration() for booster in folds.boosters_])
    n = max(round(1.1 * rounds), 1)
    assert refitted.booster_.current_iteration() == n
    whole = make(ensemble=1, early_stopping=False, **{**all_of, "n_estimators": n}).fit(X, y)
    scores = [model.booster_.predict(X, raw_score=True) for model in (refitted, whole)]
    np.testing.assert_allclose(*scores)  # it has seen all rows
    assert len(make(ensemble=3, effort="fast", refit="auto").fit(X, y).boosters_) == 3
    few = make(refit="auto").fit(X, y)  # few rows: the average of the folds
    assert len(few.boosters_) == 5 * sum(member.weight > 0 for member in few.members_)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("effort", ["balanced", "high"])
def test_scores_parts_stages_and_files(tmp_path, k, effort):
    """What a head of several kinds says is the sum of its parts, also after a journey."""
    rng = np.random.default_rng(0)
    n = 240
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    frame["kind"] = pd.Categorical(rng.choice(list("uvw"), n))
    frame.loc[rng.random(n) < 0.2, "b"] = np.nan
    score = frame["a"] + (frame["kind"] == "u") + 0.5 * rng.normal(size=n)
    y = np.digitize(score, [0.3] if k == 2 else [-0.2, 0.8])
    fitted = CostBoostClassifier(
        1 - np.eye(k), effort=effort, n_estimators=8, ensemble=2, random_state=0, n_jobs=1
    ).fit(frame, y)
    proba = fitted.predict_proba(frame)
    parts = fitted.contributions(frame).sum(axis=-1)
    told = expit(parts) if k == 2 else np.exp(parts) / np.exp(parts).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(told, proba[:, 1] if k == 2 else proba, atol=1e-9)
    *_, last = fitted.staged_decision_function(frame)
    np.testing.assert_allclose(last, fitted.decision_function(frame), atol=1e-9)
    loaded = costboost.load(fitted.save(tmp_path / "model.costboost"))
    np.testing.assert_array_equal(loaded.predict_proba(frame), proba)
    assert loaded.members_ == fitted.members_
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(fitted.to_onnx(None).SerializeToString())
    given = {name: frame[[name]].to_numpy(float) for name in "abc"}
    given["kind"] = frame[["kind"]].to_numpy(object)
    answer = session.run(["probabilities"], given)
    np.testing.assert_allclose(answer[0], proba, atol=1e-12)


def test_kinds_that_add_nothing_on_the_first_fold_are_given_up():
    """A network finds a line that a forest does not: known from 500 held-out rows on."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(2600, 2))
    y = (X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=2600) > 0).astype(int)
    fitted = make(n_estimators=40).fit(X, y)
    forest = next(member for member in fitted.members_ if member.name == "forest")
    assert (forest.weight, forest.note) == (0, "adds nothing on the first fold")
    assert np.isnan(forest.loss) and forest.rounds == 0
    assert sum(member.weight for member in fitted.members_) == pytest.approx(1)
    few = make(n_estimators=10).fit(X[:2000], y[:2000])  # 400 held-out rows of a fold
    assert all(member.note == "" for member in few.members_)


@pytest.mark.parametrize("effort, more_rows, gain, is_kept", [
    ("balanced", 1, 0.002, False), ("balanced", 1, 0.02, True), ("balanced", 1000, 0.02, False),
    ("high", 1, 0.004, True), ("high", 1, 0.001, False), ("high", 1, -0.02, False),
])  # fmt: skip
def test_race_asks_for_a_share_of_the_loss_by_effort_and_rows(effort, more_rows, gain, is_kept):
    """A second kind that is right in another place, so that a mixture saves a share of the loss."""
    rng = np.random.default_rng(0)
    model = CostBoostClassifier(effort=effort, ensemble=2, random_state=0)
    X, y = rng.normal(size=(2000, 2)), rng.integers(0, 2, 2000)
    rows = model._read_rows(X, y)
    y = rows.held_out(0).costs.codes
    noise = rng.normal(size=len(y))
    first = 2.0 * y - 1.0 + noise
    loss = lambda s: log_loss(s, y)  # noqa: E731

    def saved(factor):
        second = first - factor * noise
        weights = blend([first, second], loss)
        return 1 - loss(mixed([first, second], weights)) / loss(first), second

    factors = np.linspace(-0.2, 0.2, 101)
    second = saved(min(factors, key=lambda f: abs(saved(f)[0] - max(gain, 0.0))))[1]
    usual = [candidate(model, Target(rows.totals)) for _ in (1, 2)]
    for kind, scores in zip(usual, (first, -first if gain < 0 else second), strict=True):
        kind.models, kind.scores = [None], [scores]
    train._drop(usual, rows, more_rows)
    assert [bool(kind.models) for kind in usual] == [True, is_kept]


def test_kinds_that_add_nothing_on_a_sample_are_not_trained(monkeypatch):
    """Every kind sees a sample of 400 rows; a forest does not see a line."""
    monkeypatch.setattr(train, "_SAMPLES", ((400, 1000), (800, 10**9)))
    monkeypatch.setattr(train, "_RACE_ROWS", 100)
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(1500, 2))
    y = (X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=1500) > 0).astype(int)
    fitted = make(n_estimators=20).fit(X, y)
    notes = {member.name: member.note for member in fitted.members_}
    assert notes["forest"] == "adds nothing on a sample" and notes["31 leaves"] == ""
    again = make(n_estimators=20).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    few = make(n_estimators=20).fit(X[:900], y[:900])
    assert "adds nothing on a sample" not in {member.note for member in few.members_}


def test_large_tables_hold_out_one_part(monkeypatch):
    """One fold chooses rounds and weights; the boosters that decide see all rows."""
    monkeypatch.setattr(gbm_rows, "_ONE_FOLD_ROWS", 1000)
    monkeypatch.setattr(train, "_REFIT_ROWS", 1000)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 3))
    y = (X[:, 0] + rng.normal(size=1200) > 0).astype(int)
    model = make(n_estimators=10).fit(X, y)
    assert model._estimated_rows == pytest.approx(240)
    assert len(model.members_) > 1
    assert len(model.boosters_) == sum(member.weight > 0 for member in model.members_)
    own = make(n_estimators=10, ensemble=3).fit(X, y)  # what the user says counts
    assert own._estimated_rows == pytest.approx(1200)


# --- time ---------------------------------------------------------------------------------------


def test_without_time_kinds_are_left_out_and_boosters_end_early(fraud):
    with pytest.warns(TimeLimitWarning, match=r"time_limit=1e-06.*31 leaves.*more time"):
        model = make(time_limit=1e-6).fit(*fraud)
    first, *others = model.members_
    assert (first.note, first.weight, first.rounds) == ("ended by time_limit", 1.0, 1.0)
    assert [member.note for member in others] == ["no time"] * 3
    assert all(np.isnan(member.loss) for member in others)
    assert len(model.boosters_) == 5  # no time to train one on all rows
    assert "no time" in str(model.members_)


# --- one kind alone: forests and networks -------------------------------------------------------


def trained(name, X, y, train, held_out=None, *, categorical=None, seed=0):
    """A model of one engine on some rows, and its scores of the held-out ones."""
    frame = pd.DataFrame(X)
    frame.columns = [f"x{j}" for j in range(X.shape[1])]
    for j in categorical or ():
        frame[f"x{j}"] = pd.Categorical(frame[f"x{j}"])
    model = CostBoostClassifier(ensemble=2, n_jobs=1, n_estimators=10, patience=5)
    rows = model._read_rows(frame, y)
    rows.folds, rows.seeds = [(np.asarray(train), held_out)], [seed]
    watched = {} if held_out is None else rows.watched(0)
    kind = candidate(model, Target(rows.totals), engine=name)
    return rows.fit(kind, kind.target, 0, Rounds(kind, seed, 1, watched))


def mixed_table(k=2, n=200):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 4)) * [1, 1e6, 1e-6, 1] + [0, 1e7, 0, 0]
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=n), [0.2] if k == 2 else [-0.3, 0.6])
    X[:, 3] = rng.integers(0, 3, n)
    return X, y


def rings(n=400, k=2, seed=0):
    """Classes by the distance from the middle: no column tells them alone."""
    X = np.random.default_rng(seed).normal(size=(n, 2))
    radius = np.hypot(*X.T)
    return X, np.searchsorted(np.quantile(radius, np.arange(1, k) / k), radius)


@pytest.mark.parametrize("k", [2, 3])
def test_forest_scores_are_mean_shares_times_the_best_scale(k):
    X, y = mixed_table(k)
    model, seen = trained("forest", X, y, np.arange(150), np.arange(150, 200), categorical=[3])
    np.testing.assert_allclose(model.scores(X)[150:], seen, atol=1e-9)
    losses = [log_loss(factor * seen, y[150:]) for factor in (0.8, 1.0, 1.25)]
    assert losses[1] == min(losses)
    if k > 2:  # shares of the classes sum to one: so do the scores, to the scale
        sums = model.scores(X).sum(axis=1)
        assert sums.std() < 0.2 * sums.mean()


@pytest.mark.parametrize("n", [1, 2, 5])
def test_forests_of_next_to_no_rows(n):
    X, y = np.arange(9.0).reshape(-1, 1), np.arange(9) % 3
    model, _ = trained("forest", X, y, np.arange(n), np.arange(n, 9))
    assert np.isfinite(model.scores(X)).all()


def test_few_rows_without_an_error_make_no_forest_certain():
    rng = np.random.default_rng(0)
    X = np.append(rng.uniform(-2, -1, 40), rng.uniform(1, 2, 40))[:, None]
    y = (X[:, 0] > 0).astype(int)
    _, seen = trained("forest", X, y, np.arange(0, 80, 2), np.arange(1, 80, 2))
    assert 4 < np.abs(seen).max() < 10  # right with a probability of 98.2 to 99.995 %


@pytest.mark.parametrize("name", ["forest", "network"])
@pytest.mark.parametrize("k", [2, 3])
def test_models_of_folds_become_one(name, k):
    X, y = mixed_table(k)
    models = [trained(name, X, y, np.arange(i, 200, 2), categorical=[3], seed=i)[0] for i in (0, 1)]
    expected = np.mean([model.scores(X) for model in models], axis=0)
    model = CostBoostClassifier(ensemble=2, refit=True)
    rows = model._read_rows(X, y)
    kind = candidate(model, Target(rows.totals), engine=name)
    kind.models = models
    train._refit([kind], rows, np.inf)
    (one,) = kind.models
    np.testing.assert_allclose(one.scores(X), expected, atol=1e-9)


@pytest.mark.parametrize("n_scores", [1, 3])
def test_gradient_of_a_network_is_that_of_finite_differences_and_weights_are_copies(n_scores):
    rng = np.random.default_rng(0)
    shapes = (8, 4), (8,), (n_scores, 8), (n_scores,)
    X, labels, weights = (
        rng.normal(size=(30, 4)),
        rng.integers(0, max(n_scores, 2), 30),
        rng.integers(0, 3, 30),
    )
    # Not where a training starts: there the scores do not depend on the hidden units.
    point = rng.normal(size=sum(np.prod(shape) for shape in shapes))
    value, gradient = (
        lambda p, part=part: networks._loss(p, 0.3, shapes, X, labels, weights / weights.sum())[
            part
        ]
        for part in (0, 1)
    )
    assert check_grad(value, gradient, point, epsilon=1e-7) < 1e-5
    rows = np.repeat(np.arange(30), weights)
    shares = np.full(len(rows), 1 / len(rows))
    copies = networks._loss(point, 0.3, shapes, X[rows], labels[rows], shares)
    for one, other in zip((value(point), gradient(point)), copies, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("k", [2, 3])
def test_networks_learn_what_no_column_tells(k):
    X, y = rings(600, k)
    network, seen = trained("network", X, y, np.arange(400), np.arange(400, 600))
    np.testing.assert_allclose(seen, network.scores(X[400:]))
    assert log_loss(seen, y[400:]) < 0.4 * np.log(k)
    again, _ = trained("network", X, y, np.arange(400), np.arange(400, 600))
    np.testing.assert_array_equal(again.slopes, network.slopes)


def test_held_out_rows_stop_a_network():
    """Labels without any pattern: the less is learned the better."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 30)), rng.integers(0, 2, 120)
    stopped, _ = trained("network", X, y, np.arange(60), np.arange(60, 120))
    free, _ = trained("network", X, y, np.arange(60))
    assert np.std(stopped.scores(X[60:])) < 0.5 * np.std(free.scores(X[60:]))


@pytest.mark.parametrize("k", [2, 3])
def test_contributions_are_mean_gradients_on_the_way_from_the_centre(k):
    rng = np.random.default_rng(1)
    X, y = rings(200, k)
    X = np.column_stack([X, rng.integers(0, 3, 200)])
    X[::7, 1] = np.nan
    model, _ = trained("network", X, y, np.arange(200), categorical=[2])
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


@pytest.mark.parametrize("n", [1, 14])
def test_networks_of_few_rows_one_class_and_huge_numbers(n):
    X, y = rings(40, 3)
    X[:3, 0] = [1e300, -1e300, np.nan]
    model, _ = trained("network", X, y, np.flatnonzero(y == 0)[:n])
    assert np.isfinite(model.scores(X)).all() and np.isfinite(model.contributions(X)).all()


def test_a_row_scores_the_same_in_any_batch():
    X, y = rings(300)
    X = np.column_stack([X, np.random.default_rng(0).normal(size=(300, 9))])
    model, _ = trained("network", X, y, np.arange(300))
    for ask in (model.scores, model.contributions):
        whole = ask(X)
        for size in (1, 7, 64, 100):
            parts = [ask(X[i : i + size]) for i in range(0, 300, size)]
            np.testing.assert_array_equal(np.concatenate(parts), whole)
    for n, p in ((0, 3), (70, 0)):
        assert not row_products(np.ones((n, p)), np.ones((2, p))).any()


def test_what_the_rows_do_not_show_has_no_say():
    """A constant column, and a category that is only among the held-out rows."""
    X, y = rings(200)
    X = np.column_stack([X, np.full(200, 3.0), np.arange(200) >= 150])
    model, _ = trained("network", X, y, np.arange(150), np.arange(150, 200), categorical=[3])
    assert model.importances(4)[2] == 0
    other = X.copy()
    other[:, 2] = -8.0
    np.testing.assert_array_equal(model.scores(X), model.scores(other))
    assert (model.slopes[:, model.design.sources == 3] == 0).all()


def test_a_network_counts_where_it_pays():
    X, y = rings(700, seed=2)
    X = np.column_stack([X @ [[1, 1], [1, -1]], np.random.default_rng(0).normal(size=(700, 6))])
    model = CostBoostClassifier(COSTLY, n_estimators=60, ensemble=2, random_state=0).fit(X, y)
    assert {member.name: member.weight for member in model.members_}["network"] > 0.3
    assert not hasattr(model, "booster_")
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("X", [
    pd.DataFrame({"a": pd.Categorical(["x", "x", "y", "y"] * 10, categories=["x", "y", "z"])}),
    np.full((40, 1), np.nan),
    np.ones((40, 2)),
], ids=["categories", "numbers", "constants"])  # fmt: skip
def test_a_table_that_tells_nothing(X):
    model = CostBoostClassifier({"fn": 5, "fp": 1, "positive": 1}, random_state=0)
    with pytest.warns(CollapseWarning):
        model.fit(X, np.arange(40) % 2)
    np.testing.assert_allclose(model.predict_proba(X), 0.5, atol=0.05)
    assert (model.predict(X) == 1).all()


# --- CatBoost -----------------------------------------------------------------------------------


def test_catboost_as_engine(fraud, tmp_path, monkeypatch):
    pytest.importorskip("catboost")
    monkeypatch.chdir(tmp_path)
    X, y = fraud
    rounds = []
    model = make(engine="catboost", effort="fast").fit(X, y, callbacks=rounds.append)
    assert [told.round for told in rounds] == list(range(1, len(rounds) + 1))
    assert all(told.held_out_loss > 0 for told in rounds)
    assert isinstance(model.booster_, lgb.Booster)  # CatBoost is needed for training only
    raw = model.temperature_ * model.booster_.predict(X, raw_score=True)
    np.testing.assert_allclose(raw, logit(model.predict_proba(X)[:, 1]), atol=1e-9)
    assert os.listdir(tmp_path) == []  # no folder catboost_info
    with pytest.raises(ValueError, match=r"log loss only.*engine='lightgbm'"):
        make(engine="catboost", loss="cost_exponential").fit(X, y)
    with pytest.raises(ValueError, match="symmetric trees only"):
        make(engine="catboost", effort="fast", engine_params={"grow_policy": "Depthwise"}).fit(X, y)


# --- estimates of future rows ---------------------------------------------------------------------


def test_estimates_of_future_rows(fraud, model):
    long_run = model.estimated_savings()
    assert long_run == model.estimated_savings_
    few, many = model.estimated_savings(50), model.estimated_savings(future_rows=1e9)
    assert few.value == many.value == long_run.value
    assert few.low < many.low and many.high < few.high <= 1
    with pytest.raises(ValueError, match=r"'future_rows'.*> 0, got 0"):
        model.estimated_savings(0)
    with pytest.raises(ValueError, match="no row was held out"):
        make(early_stopping=False, ensemble=1).fit(*fraud).estimated_savings()
    assert of_future_rows(Estimate(1.0, 1.0, 1.0), 10, 10) == Estimate(1.0, 1.0, 1.0)


def test_future_intervals_cover():
    """Rows of a known population: 19 of 20 intervals hold the savings of the next rows."""
    from costboost.gbm.train import estimate_share

    rng = np.random.default_rng(0)
    n, m, draws = 1500, 500, 400
    held = 0
    for _ in range(draws):
        truth = rng.random(n + m) < 0.2
        price = rng.lognormal(0.0, 0.7, n + m)
        prices = np.stack([np.where(truth, 5 * price, 0.0), np.where(truth, 0.0, 1.0)], axis=1)
        decided = (np.where(truth, 1.2, -1.2) + rng.normal(size=n + m) > 0).astype(int)
        paid = np.take_along_axis(prices, decided[:, None], axis=1)[:, 0]
        known = estimate_share(paid[:n], prices[:n], np.ones(n))
        best = prices[:n].sum(axis=0).argmin()
        seen = 1.0 - paid[n:].sum() / prices[n:, best].sum()
        interval = of_future_rows(known, n, m)
        held += interval.low <= seen <= interval.high
    assert 0.92 <= held / draws <= 0.98
