"""Kinds of models: which are tried, how much they count, and what becomes of them."""

from __future__ import annotations

import os
from dataclasses import replace
from types import SimpleNamespace

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import check_grad
from scipy.special import expit
from sklearn import metrics

import costboost
from costboost import CollapseWarning, CostBoostClassifier, TimeLimitWarning
from costboost.costs.costs import to_proba
from costboost.datasets import make_fraud
from costboost.gbm.calibration import blend, mixed
from costboost.gbm.data import Fold
from costboost.gbm.members import Member, Members, MemberSpec, TrainedMember, members_to_try
from costboost.gbm.network import Design, NetworkModel, network_loss, row_products
from costboost.gbm.objectives import make_objective
from costboost.gbm.parameters import resolved
from costboost.gbm.settings import DEFAULTS, TrainingSettings
from costboost.gbm.train import ModelTraining, refit

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


def test_blend_is_no_worse_than_the_best_member_and_drops_those_that_hardly_pay():
    rng = np.random.default_rng(0)
    labels, truth = rng.integers(0, 2, 300), rng.normal(size=300)
    noisy = [np.where(labels > 0, 1.0, -1.0) + c * rng.normal(size=300) for c in (1, 1, 3, 9)]
    loss = lambda s: log_loss(s, labels)  # noqa: E731
    weights = blend(noisy, loss)
    assert weights.sum() == pytest.approx(1)
    assert weights[0] > 0 and weights[1] > 0 and weights[3] == 0
    assert loss(mixed(noisy, weights)) < min(map(loss, noisy))
    square = lambda s: 1.0 + float(np.square(s - truth).mean())  # noqa: E731
    near = truth + 1e-3 * rng.normal(size=300)
    assert np.count_nonzero(blend([near, truth + 0.02], square)) == 1
    np.testing.assert_array_equal(blend([truth, truth], square), [1, 0])
    np.testing.assert_array_equal(blend([truth], square), [1])


# --- which kinds --------------------------------------------------------------------------------


def specs(n=1000, inputs=10, k=2, **options):
    model = CostBoostClassifier(**options)
    table = SimpleNamespace(owner="", n_network_inputs=inputs, totals=SimpleNamespace(rows=n))
    table.engine, table.is_local, table.folds = "lightgbm", True, [Fold(0)]
    table.columns = SimpleNamespace(n_features=10)
    is_log_loss = model.loss == "auto"
    objective = SimpleNamespace(n_scores=1 if k == 2 else k, is_log_loss=is_log_loss)
    own = resolved(model.engine_params, (), "", "lightgbm")
    settings = TrainingSettings.from_estimator(model, table, objective, own)
    return members_to_try(table, objective, settings), settings


def names(*args, **options):
    return [spec.name for spec in specs(*args, **options)[0]]


BALANCED = ["31 leaves", "15 leaves, random splits", "network"]
HIGH = [*BALANCED, "6 leaves", "63 leaves", "31 leaves, random splits"]
TREES = [name for name in HIGH if name != "network"]


@pytest.mark.parametrize("options, expected", [
    ({}, BALANCED), ({"effort": "high", "k": 4}, HIGH),
    *(({"effort": "high", "engine_params": {name: [1]}}, TREES)
      for name in ("monotone_constraints", "interaction_constraints", "mc")),
    *((single, ["15 leaves"])
      for single in ({"effort": "fast"}, {"loss": "gll"}, {"inputs": None})),
    # Of one size, some kinds are the same.
    ({"max_leaves": 7}, ["7 leaves", "7 leaves, random splits", "network"]),
    ({"max_leaves": 7, "effort": "high", "inputs": 501, "k": 4},
     ["7 leaves", "7 leaves, random splits"]),
    # Networks are for log loss and tables that are not large.
    *(({**table, "effort": effort, "k": 4}, [name for name in kinds if name != "network"])
      for table in ({"inputs": 501}, {"inputs": np.inf}, {"n": 30_001, "inputs": 100})
      for effort, kinds in (("balanced", BALANCED), ("high", HIGH))),
    ({"n": 20_001, "inputs": 50}, BALANCED[:2]),
    ({"n": 20_001, "inputs": 50, "effort": "high", "k": 4}, HIGH),
], ids=str)  # fmt: skip
def test_kinds_by_effort_engine_size_and_constraints(options, expected):
    assert names(**options) == expected


def test_learning_rates_leaves_and_own_parameters():
    def rates(k, **options):
        members, settings = specs(k=k, **options)
        return [settings.learning_rate_of(spec) for spec in members][:2]

    assert (rates(2), rates(3), rates(3, learning_rate=0.3)) == ([0.05, 0.2], [0.1, 0.4], [0.3, 1])
    for given, leaf in (("auto", 5), (3, 3)):
        assert specs(min_samples_leaf=given)[1].min_samples_leaf == leaf
    assert specs(engine_params={"max_bins": 63})[1].engine_params == {"max_bin": 63}


def test_symmetric_trees_where_catboost_is_installed():
    pytest.importorskip("catboost")
    for k in (2, 3):
        assert names(effort="high", k=k) == [*HIGH, "symmetric trees, 64 leaves"]


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
    refitted, folds = (make(cv=3, refit=r, **all_of).fit(X, y) for r in (True, False))
    assert (len(refitted.boosters_), len(folds.boosters_)) == (1, 3)
    assert refitted.estimated_score_ == folds.estimated_score_
    rounds = np.mean([booster.current_iteration() for booster in folds.boosters_])
    n = max(round(1.1 * rounds), 1)
    assert refitted.booster_.current_iteration() == n
    whole = make(early_stopping=False, **{**all_of, "n_estimators": n}).fit(X, y)
    scores = [model.booster_.predict(X, raw_score=True) for model in (refitted, whole)]
    np.testing.assert_allclose(*scores)  # it has seen all rows
    assert len(make(cv=3, effort="fast", refit="auto").fit(X, y).boosters_) == 3
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
        1 - np.eye(k), effort=effort, n_estimators=8, cv=2, random_state=0, n_jobs=1
    ).fit(frame, y)
    grown = {model.engine for model in fitted.model_.ensemble.models}
    assert hasattr(fitted, "booster_") == ("network" not in grown)  # which has no trees
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


def on_a_line(n):
    """Two classes on the sides of a slanted line, which a network sees and trees do not."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, (X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=n) > 0).astype(int)


def with_defaults(monkeypatch, **changes):
    defaults = replace(DEFAULTS, **changes)
    for module in ("data", "members", "settings", "train"):
        monkeypatch.setattr(f"costboost.gbm.{module}.DEFAULTS", defaults)


def test_members_that_add_nothing_on_a_sample_are_given_up(monkeypatch):
    with_defaults(monkeypatch, race_rows=1000, race_sample_rows=400, race_held_out_rows=100)
    X, y = on_a_line(1500)
    fitted, again = (make(n_estimators=20).fit(X, y) for _ in (1, 2))
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    members = {member.name: member for member in fitted.members_}
    trees = members["15 leaves, random splits"]
    assert (trees.weight, trees.note) == (0, "adds nothing on a sample")
    assert np.isnan(trees.loss) and trees.rounds == 0 and members["31 leaves"].note == ""
    assert members["network"].weight > 0.3
    assert sum(member.weight for member in fitted.members_) == pytest.approx(1)
    fitted = make(n_estimators=10).fit(X[:450], y[:450])
    assert all(member.note == "" for member in fitted.members_)


def test_large_tables_hold_out_one_part(monkeypatch):
    """One fold chooses rounds and weights; the boosters that decide see all rows."""
    with_defaults(monkeypatch, one_fold_rows=1000, refit_rows=1000)
    X, y = on_a_line(1200)
    model = make(n_estimators=10).fit(X, y)
    assert len(model.members_) > 1
    assert len(model.boosters_) == sum(member.weight > 0 for member in model.members_)
    own = make(n_estimators=10, cv=3).fit(X, y)  # what the user says counts
    widths = [one.estimated_score_.high - one.estimated_score_.low for one in (model, own)]
    assert widths[0] > 1.5 * widths[1]  # 240 rows, or all 1,200


# --- time ---------------------------------------------------------------------------------------


def test_without_time_kinds_are_left_out_and_boosters_end_early(fraud):
    with pytest.warns(TimeLimitWarning, match=r"time_limit=1e-06.*31 leaves.*more time"):
        model = make(time_limit=1e-6).fit(*fraud)
    first, *others = model.members_
    assert (first.note, first.weight, first.rounds) == ("ended by time_limit", 1.0, 1.0)
    assert [member.note for member in others] == ["no time"] * 2
    assert all(np.isnan(member.loss) for member in others)
    assert len(model.boosters_) == 5  # no time to train one on all rows
    assert "no time" in str(model.members_)


# --- one kind alone: networks -------------------------------------------------------


def trained(name, X, y, train, held_out=None, *, categorical=(), seed=0, n_rounds=10):
    """A model of one engine on some rows, and its scores of the held-out ones."""
    kinds = {f"x{j}": "category" if j in categorical else "number" for j in range(X.shape[1])}
    frame = pd.DataFrame(X, columns=list(kinds))
    options = {"cv": 2, "n_jobs": 1, "n_iter_no_change": 5, "columns": kinds}
    model = CostBoostClassifier(n_estimators=n_rounds, **options)
    table = model._read_training_table(frame, y)
    objective = make_objective("auto", table.totals, "")
    settings = TrainingSettings.from_estimator(model, table, objective, {})
    fold = Fold(seed, table.folds[0].source, np.asarray(train), held_out)
    training = ModelTraining(MemberSpec(engine=name), fold, objective, settings)
    training.run()
    return training.model, training.held_out_scores


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
def test_networks_of_folds_become_one(k):
    X, y = mixed_table(k)
    folds = [np.arange(i, 200, 2) for i in (0, 1)]
    models = [trained("network", X, y, rows, categorical=[3])[0] for rows in folds]
    expected = np.mean([model.predict(X) for model in models], axis=0)
    model = CostBoostClassifier(cv=2, refit=True)
    table = model._read_training_table(X, y)
    objective = make_objective("auto", table.totals, "")
    settings = TrainingSettings.from_estimator(model, table, objective, {})
    member = TrainedMember(MemberSpec(engine="network"), models=models)
    refit([member], table.folds, objective, settings)
    (one,) = member.models
    np.testing.assert_allclose(one.predict(X), expected, atol=1e-9)


@pytest.mark.parametrize("n_scores", [1, 3])
def test_gradient_of_a_network_is_that_of_finite_differences_and_weights_are_copies(n_scores):
    rng = np.random.default_rng(0)
    shapes = [(8, 4), (8,), (n_scores, 8), (n_scores,)]
    X, labels = rng.normal(size=(30, 4)), rng.integers(0, max(n_scores, 2), 30)
    weights = rng.integers(0, 3, 30)
    # Not where a training starts: there the scores do not depend on the hidden units.
    point = rng.normal(size=sum(np.prod(shape) for shape in shapes))
    loss = lambda p: network_loss(p, shapes, 0.3, X, labels, weights / weights.sum())  # noqa: E731
    assert check_grad(lambda p: loss(p)[0], lambda p: loss(p)[1], point, epsilon=1e-7) < 1e-5
    rows = np.repeat(np.arange(30), weights)
    shares = np.full(len(rows), 1 / len(rows))
    copies = network_loss(point, shapes, 0.3, X[rows], labels[rows], shares)
    for one, other in zip(loss(point), copies, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("k", [2, 3])
def test_networks_learn_what_no_column_tells_and_stop_by_held_out_rows(k):
    X, y = rings(600, k)
    network, seen = trained("network", X, y, np.arange(400), np.arange(400, 600))
    np.testing.assert_allclose(seen, network.predict(X[400:]))
    assert log_loss(seen, y[400:]) < 0.4 * np.log(k)
    again, _ = trained("network", X, y, np.arange(400), np.arange(400, 600))
    np.testing.assert_array_equal(again.slopes, network.slopes)
    # Of labels without any pattern the less is learned the better.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 30)), rng.integers(0, k, 120)
    stopped, _ = trained("network", X, y, np.arange(60), np.arange(60, 120))
    free, _ = trained("network", X, y, np.arange(60))
    assert np.std(stopped.predict(X[60:])) < 0.5 * np.std(free.predict(X[60:]))


@pytest.mark.parametrize("k", [2, 3])
def test_contributions_are_mean_gradients_on_the_way_from_the_centre(k):
    rng = np.random.default_rng(1)
    X, y = rings(200, k)
    X = np.column_stack([X, rng.integers(0, 3, 200)])
    X[::7, 1] = np.nan
    model, _ = trained("network", X, y, np.arange(200), categorical=[2])
    found = model.contributions(X).reshape(200, -1, 4)
    np.testing.assert_allclose(found.sum(axis=2), model.predict(X).reshape(200, -1), atol=1e-9)
    row = model.design(X[:1])[0]
    steps = (np.arange(20_000) + 0.5) / 20_000
    on_the_way = model.centre + steps[:, None] * (row - model.centre)
    active = (on_the_way @ model.slopes.T + model.shifts > 0).mean(axis=0)
    for score, top in enumerate(model.tops):
        effects = (row - model.centre) * ((active * top) @ model.slopes)
        expected = [effects[model.design.sources == j].sum() for j in range(3)]
        np.testing.assert_allclose(found[0, score, :3], expected, atol=2e-3)
    # A unit whose inputs cancel still tells what each adds.
    design, ones = Design.of(np.array([[1.0, 1.0], [-1.0, -1.0]]), []), np.ones((1, 1))
    unit = NetworkModel(design, np.array([[1.0, -1.0]]), ones[0], ones, np.zeros(1), np.zeros(2))
    np.testing.assert_allclose(unit.contributions(np.array([[1.0, 1.0]])), [[1.0, -1.0, 1.0]])


@pytest.mark.parametrize("n", [1, 14])
def test_networks_of_few_rows_one_class_and_huge_numbers(n):
    X, y = rings(40, 3)
    X[:3, 0] = [1e300, -1e300, np.nan]
    model, _ = trained("network", X, y, np.flatnonzero(y == 0)[:n])
    assert np.isfinite(model.predict(X)).all() and np.isfinite(model.contributions(X)).all()


def test_a_row_scores_the_same_in_any_batch_and_what_rows_do_not_show_has_no_say():
    """A constant column, and a category that is only among the held-out rows."""
    X, y = rings(300)
    more = np.random.default_rng(0).normal(size=(300, 9))
    X = np.column_stack([X, np.full(300, 3.0), np.arange(300) >= 250, more])
    model, _ = trained("network", X, y, np.arange(250), np.arange(250, 300), categorical=[3])
    for ask in (model.predict, model.contributions):
        whole = ask(X)
        for size in (1, 7, 64, 100):
            parts = [ask(X[i : i + size]) for i in range(0, 300, size)]
            np.testing.assert_array_equal(np.concatenate(parts), whole)
    for n, p in ((0, 3), (70, 0)):
        assert not row_products(np.ones((n, p)), np.ones((2, p))).any()
    other = np.where(np.arange(13) == 2, -8.0, X)
    np.testing.assert_array_equal(model.predict(X), model.predict(other))
    assert model.importances(13)[2] == 0
    assert (model.slopes[:, model.design.sources == 3] == 0).all()


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


@pytest.mark.parametrize("k", [2, 3])
def test_symmetric_trees_stop_by_held_out_rows(k, tmp_path, monkeypatch):
    pytest.importorskip("catboost")
    monkeypatch.chdir(tmp_path)
    X, y = mixed_table(k, 400)
    held_out = np.arange(300, 400)
    model, seen = trained("catboost", X, y, np.arange(300), held_out, categorical=[3], n_rounds=200)
    np.testing.assert_array_equal(model.predict(X)[300:], seen)
    losses = [log_loss(scores[300:], y[300:]) for scores in model.staged_predict(X)][1:]
    assert losses[-1] == pytest.approx(min(losses), abs=1e-6) and model.n_rounds < 200
    assert isinstance(model.booster, lgb.Booster)  # CatBoost is needed for training only
    raw = model.booster.predict(X, raw_score=True)
    np.testing.assert_allclose(raw, model.predict(X), atol=1e-9)
    assert os.listdir(tmp_path) == []  # no folder catboost_info


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
        make(early_stopping=False, effort="fast").fit(*fraud).estimated_savings()
