"""Kinds of models: which are tried, how much they count, and what becomes of them."""

from __future__ import annotations

import time
from types import SimpleNamespace

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from costboost.gbm.casting import Clock, Training
from costboost.gbm.engines.base import Growth, Job, TargetTable
from costboost.gbm.engines.forest import ForestEngine
from costboost.gbm.engines.linear import LinearEngine
from costboost.gbm.engines.merging import merged_lightgbm
from costboost.gbm.estimate import Estimate, estimate_savings, savings_of_future_rows
from costboost.gbm.folds import Fold
from costboost.gbm.portfolio import Shape, recipes_for
from costboost.gbm.settings import Settings
from costboost.gbm.trials import Trial
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

import costboost
from costboost import CostBoostClassifier, TimeLimitWarning
from costboost.costs import Costs
from costboost.datasets import make_fraud
from costboost.gbm.members import Member, Members, Recipe, blend, mixed
from costboost.gbm.models import Design, LinearModel
from costboost.gbm.targets import Columns, LogLossPart

GROWTH = Growth(0.1, 15, 5, 5.0, 0.8, 0.8)
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


class LogTarget:
    """As much of a target as a linear engine and the recipes use."""

    def __init__(self, k=2, is_log_loss=True):
        self.n_scores = 1 if k == 2 else k
        self.is_log_loss = is_log_loss

    def part(self, columns):
        return LogLossPart(columns.labels, columns.weights)


# --- weights ------------------------------------------------------------------------------------


def test_blend_is_no_worse_than_the_best_member():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 300)
    part = LogLossPart(labels, np.ones(300))
    truth = np.where(labels > 0, 1.0, -1.0)
    scores = [truth + rng.normal(size=300) * noise for noise in (1.0, 1.0, 3.0, 9.0)]
    weights = blend(scores, part.loss)
    assert weights.sum() == pytest.approx(1)
    assert weights[0] > 0 and weights[1] > 0 and weights[3] == 0
    mixed = sum(w * s for w, s in zip(weights, scores, strict=True))
    assert part.loss(mixed) < min(part.loss(s) for s in scores)


def test_blend_drops_members_that_hardly_pay():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=500)
    near = truth + 1e-3 * rng.normal(size=500)
    loss = lambda s: 1.0 + float(np.square(s - truth).mean())  # noqa: E731
    assert np.count_nonzero(blend([near, truth + 0.02], loss)) == 1
    np.testing.assert_array_equal(blend([truth, truth], loss), [1, 0])
    np.testing.assert_array_equal(blend([truth], loss), [1])


# --- which kinds --------------------------------------------------------------------------------


def names(shape=None, k=2, is_log_loss=True, **options):
    shape = shape or Shape(1000, 10)
    target = LogTarget(k, is_log_loss)
    return [r.name for r in recipes_for(Settings.of(CostBoostClassifier(**options)), target, shape)]


def test_recipes():
    balanced = ["31 leaves", "15 leaves, random splits", "linear", "network", "forest"]
    assert names() == balanced
    assert names(effort="fast") == ["15 leaves"]
    high = names(effort="high")
    assert high[:5] == balanced
    assert {"6 leaves", "63 leaves", "31 leaves, random splits"} <= set(high)
    assert names(engine="xgboost") == ["31 leaves", "6 leaves", "linear", "network"]
    assert names(max_leaves=7, effort="high")[:3] == [
        "7 leaves",
        "7 leaves, random splits",
        "linear",
    ]
    assert names(ensemble=1) == ["15 leaves"]
    assert names(loss="gll") == ["15 leaves"]
    assert names(Shape(1000, 10, has_folds=False)) == ["15 leaves"]


@pytest.mark.parametrize("shape", [Shape(100, 501), Shape(10**6, 11), Shape(10, 2, is_sparse=True)])
def test_smooth_members_are_for_small_tables(shape):
    for kind in ("linear", "network"):
        assert kind not in names(shape, effort="high")
        assert kind not in names(is_log_loss=False)
    assert "network" not in names(Shape(100_001, 10))
    assert "network" in names(Shape(100_001, 10), effort="high")
    assert "network" not in names(Shape(300_001, 10), effort="high")


@pytest.mark.parametrize(
    "shape, k",
    [(Shape(500_001, 3), 2), (Shape(100_001, 3), 5), (Shape(100, 3, has_folds=False), 2)],
)
def test_forests_are_for_tables_that_are_not_large(shape, k):
    assert "forest" not in names(shape, k)
    assert "forest" in names(Shape(100_000, 3), k)
    assert "forest" not in names(is_log_loss=False)
    assert "forest" not in names(engine="xgboost")


def test_other_kinds_would_not_keep_to_constraints():
    free = names(effort="high", engine_params={"max_bin": 63})
    assert {"linear", "network", "forest"} <= set(free)
    for name in ("monotone_constraints", "interaction_constraints", "mc"):
        held = names(effort="high", engine_params={name: [1]})
        assert held == [
            n for n in free if n.endswith(("leaves", "random splits")) and "sym" not in n
        ]


def test_learning_rates():
    def rate(k, **options):
        settings = Settings.of(CostBoostClassifier(**options))
        return [r.growth.learning_rate for r in recipes_for(settings, LogTarget(k), Shape(100, 3))]

    assert rate(2)[:2] == [0.05, 0.2]
    assert rate(3)[:2] == [0.1, 0.4]
    assert rate(3, effort="high")[:2] == [0.1, 0.4]
    assert rate(3, learning_rate=0.3)[:2] == [0.3, 1.0]


def test_symmetric_trees_where_catboost_is_installed():
    pytest.importorskip("catboost")
    assert names(effort="high")[-1] == "symmetric trees, 64 leaves"
    assert names(effort="high", k=3)[-1] == "symmetric trees, 64 leaves"
    assert "symmetric trees, 64 leaves" not in names(effort="high", k=4)
    assert names(effort="high", engine="catboost")[0] == "symmetric trees, 31 leaves"


# --- fits ---------------------------------------------------------------------------------------


def test_members_tell_what_was_used(model):
    members = model.members_
    assert isinstance(members, Members)
    assert all(isinstance(member, Member) for member in members)
    assert sum(member.weight for member in members) == pytest.approx(1)
    used = [member for member in members if member.weight > 0]
    assert len(model.boosters_) == len(used)  # one booster of all rows each
    assert all(np.isfinite(member.loss) and member.seconds > 0 for member in members)
    lines = str(members).splitlines()
    assert lines[0].split() == ["member", "engine", "weight", "loss", "rounds", "seconds"]
    assert len({line.index("lightgbm") for line in lines[1:3]}) == 1


def test_refit_and_folds(fraud):
    X, y = fraud
    refitted, folds = (make(ensemble=3, effort="fast", refit=r).fit(X, y) for r in (True, False))
    assert (len(refitted.boosters_), len(folds.boosters_)) == (1, 3)
    assert refitted.estimated_savings_ == folds.estimated_savings_
    rounds = np.mean([booster.current_iteration() for booster in folds.boosters_])
    assert refitted.booster_.current_iteration() == max(round(1.1 * rounds), 1)
    assert len(make(ensemble=3, effort="fast", refit="auto").fit(X, y).boosters_) == 3
    assert len(make(ensemble=3, effort="fast", warm_start=True).fit(X, y).boosters_) == 1
    few = make(refit="auto").fit(X, y)  # few rows: the average of the folds
    assert len(few.boosters_) == 5 * sum(member.weight > 0 for member in few.members_)


def test_same_seed_same_model(fraud, model):
    again = make().fit(*fraud)
    np.testing.assert_array_equal(again.predict_proba(fraud[0]), model.predict_proba(fraud[0]))
    assert [m._replace(seconds=0) for m in again.members_] == [
        m._replace(seconds=0) for m in model.members_
    ]


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
        1 - np.eye(k), effort=effort, n_estimators=12, random_state=0, n_jobs=1
    ).fit(frame, y)
    proba = fitted.predict_proba(frame)
    parts = fitted.contributions(frame).sum(axis=-1)
    told = expit(parts) if k == 2 else np.exp(parts) / np.exp(parts).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(told, proba[:, 1] if k == 2 else proba, atol=1e-9)
    *_, last = fitted.staged_decision_function(frame)
    np.testing.assert_allclose(last, fitted.decision_function(frame), atol=1e-9)
    path = tmp_path / "model.costboost"
    fitted.save(path)
    loaded = costboost.load(path)
    np.testing.assert_array_equal(loaded.predict_proba(frame), proba)
    assert loaded.members_ == fitted.members_
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(fitted.to_onnx(None).SerializeToString())
    answer = session.run(["probabilities"], {"features": fitted._checked(frame)})
    np.testing.assert_allclose(answer[0], proba, atol=1e-12)


def test_monotone_constraints_bind_the_whole_model():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(300, 2))
    y = (X[:, 0] + 0.3 * rng.normal(size=300) < 0).astype(int)  # falls where it must rise
    held = make(engine_params={"monotone_constraints": [1, 0]}).fit(X, y)
    line = np.column_stack([np.linspace(-1, 1, 50), np.zeros(50)])
    assert (np.diff(held.predict_proba(line)[:, 1]) >= -1e-12).all()
    assert {member.engine for member in held.members_} == {"lightgbm"}


def test_kinds_that_add_nothing_on_the_first_fold_are_given_up(monkeypatch):
    """Trees see a square at once that a line does not; from 500 held-out rows on this is known."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(2600, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    trained = []
    train = LinearEngine.train
    monkeypatch.setattr(
        LinearEngine, "train", lambda self, *a, **o: trained.append(1) or train(self, *a, **o)
    )
    fitted = make(n_estimators=40).fit(X, y)
    linear = next(member for member in fitted.members_ if member.name == "linear")
    assert (linear.weight, linear.note) == (0, "adds nothing on the first fold")
    assert np.isnan(linear.loss) and len(trained) == 1
    assert sum(member.weight for member in fitted.members_) == pytest.approx(1)
    trained.clear()
    few = make(n_estimators=10).fit(X[:2000], y[:2000])  # 400 held-out rows of a fold
    assert len(trained) == 5 and all(member.note == "" for member in few.members_)


@pytest.mark.parametrize("effort, gain, is_kept", [
    ("balanced", 0.002, False), ("balanced", 0.02, True),
    ("high", 0.002, True), ("high", 0.02, True), ("high", -0.02, False),
])  # fmt: skip
def test_race_asks_for_half_a_percent_unless_the_effort_is_high(effort, gain, is_kept):
    """A second kind that is right in another place, so that a mixture saves a share of the loss."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 1000)
    noise = rng.normal(size=1000)
    first = 2.0 * codes - 1.0 + noise
    part = LogLossPart(codes, np.ones(1000))

    def saved(factor):
        second = first - factor * noise
        weights = blend([first, second], part.loss)
        return 1 - part.loss(mixed([first, second], weights)) / part.loss(first), second

    factors = np.linspace(-0.2, 0.2, 401)
    second = saved(min(factors, key=lambda f: abs(saved(f)[0] - max(gain, 0.0))))[1]
    if gain < 0:
        second = -first
    training = race_of(effort, codes)
    trials = [Trial(Recipe(str(i), "lightgbm", GROWTH), parts=[s])
              for i, s in enumerate((first, second))]  # fmt: skip
    assert training._adds_nothing(trials[1], trials[:1]) is not is_kept


def race_of(effort, codes):
    """A training whose first fold holds out rows of these classes."""
    costs = Costs([0, 1], [[0.0, 1.0], [1.0, 0.0]]).known(codes)

    class Rows(SimpleNamespace):
        def __len__(self):
            return len(self.weights)

    rows = Rows(costs=costs, weights=np.ones(len(codes)))
    source = SimpleNamespace(held_out=lambda number=None: rows)
    target = SimpleNamespace(
        columns=lambda costs, weights: Columns(costs.codes, weights),
        part=lambda columns: LogLossPart(columns.labels, columns.weights),
    )
    settings = Settings.of(CostBoostClassifier(effort=effort))
    return Training(source, settings, SimpleNamespace(target=target), [], lambda *_: None)


def test_warm_start_continues_the_kinds_that_count(fraud):
    X, y = fraud
    # Constraints, so that all kinds are boosters.
    free = {"monotone_constraints": [0] * X.shape[1]}
    model = make(warm_start=True, n_estimators=4, ensemble=2, engine_params=free).fit(X, y)
    before = {member.name for member in model.members_ if member.weight > 0}
    model.set_params(n_estimators=9).fit(X, y)
    assert {member.name for member in model.members_} == before
    rounds = [member.rounds for member in model.members_ if "leaves" in member.name]
    assert rounds and max(rounds) <= 9


# --- time ---------------------------------------------------------------------------------------


def test_without_time_kinds_are_left_out_and_boosters_end_early(fraud):
    X, y = fraud
    with pytest.warns(TimeLimitWarning, match=r"time_limit=1e-06.*31 leaves.*more time"):
        model = make(time_limit=1e-6).fit(X, y)
    first, *others = model.members_
    assert (first.note, first.weight, first.rounds) == ("ended by time_limit", 1.0, 1.0)
    assert [member.note for member in others] == ["no time"] * 4
    assert all(np.isnan(member.loss) for member in others)
    assert len(model.boosters_) == 5  # no time to train one on all rows
    assert "no time" in str(model.members_)


def test_with_time_nothing_changes(fraud, model):
    limited = make(time_limit=3600).fit(*fraud)
    np.testing.assert_array_equal(limited.predict_proba(fraud[0]), model.predict_proba(fraud[0]))


def test_clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    clock = Clock(10.0)
    now[0] += 4
    assert clock.left == 6
    assert clock.part(0.5).left == 3
    now[0] += 7
    assert clock.left == -1 and clock.part(1).left == 0
    assert clock.ends(None)
    assert Clock(None).left == np.inf and Clock(None).part(0.1).left == np.inf


# --- linear members -----------------------------------------------------------------------------


def linear_table(k=2, n=200, categories=True):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 4)) * [1, 1e6, 1e-6, 1] + [0, 1e7, 0, 0]
    codes = np.digitize(X[:, 0] + 0.5 * rng.normal(size=n), [0.2] if k == 2 else [-0.3, 0.6])
    if categories:
        X[:, 3] = rng.integers(0, 3, n)
    columns = Columns(codes, np.ones(n))
    return TargetTable(X, [3] if categories else [], LogTarget(k), columns)


@pytest.mark.parametrize("k", [2, 3])
def test_linear_member_is_logistic_regression(k):
    table = linear_table(k, categories=False)
    model, seen = LinearEngine(GROWTH, 1).train(table, Fold(), Job(10, 5, 0))
    assert seen is None
    Z = (table.X - table.X.mean(axis=0)) / table.X.std(axis=0)
    plain = LogisticRegression(C=0.3, max_iter=1000, tol=1e-8).fit(
        np.clip(Z, -5, 5), table.columns.labels
    )
    expected = plain.decision_function(np.clip(Z, -5, 5))
    np.testing.assert_allclose(model.scores(table.X), expected, atol=0.02)


def test_linear_member_takes_gaps_constants_and_huge_numbers():
    table = linear_table()
    X = table.X.copy()
    X[::3, 0] = np.nan
    X[0, 1], X[1, 1] = np.inf, 1e308
    X[:, 2] = 7.0
    X[5, 3] = np.nan
    table = TargetTable(X, [3], table.target, table.columns)
    fold = Fold(np.arange(100), np.arange(100, 200))
    model, seen = LinearEngine(GROWTH, 1).train(table, fold, Job(10, 5, 0))
    assert np.isfinite(seen).all() and np.isfinite(model.scores(X)).all()
    np.testing.assert_allclose(model.contributions(X).sum(axis=1), model.scores(X))
    new = X[:2].copy()
    new[0, 3], new[1, :] = 99, np.nan  # a new category, a row without values
    assert np.isfinite(model.scores(new)).all()
    assert model.importances(4)[2] == 0


def test_held_out_rows_choose_the_penalty():
    """Labels without any pattern: the strongest penalty is best."""
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(120, 30)), rng.integers(0, 2, 120)
    table = TargetTable(X, [], LogTarget(), Columns(codes, np.ones(120)))
    fold = Fold(np.arange(60), np.arange(60, 120))
    chosen, seen = LinearEngine(GROWTH, 1).train(table, fold, Job(10, 5, 0))
    usual, _ = LinearEngine(GROWTH, 1).train(table, Fold(np.arange(60)), Job(10, 5, 0))
    assert np.abs(chosen.slopes).max() < np.abs(usual.slopes).max()
    np.testing.assert_allclose(seen, chosen.scores(X[60:]))


@pytest.mark.parametrize("k", [2, 3])
def test_linear_member_of_fewer_classes(k):
    table = linear_table(k)
    for present in ([0], [0, 1]):
        rows = np.flatnonzero(np.isin(table.columns.labels, present))
        model, _ = LinearEngine(GROWTH, 1).train(table, Fold(rows), Job(10, 5, 0))
        scores = model.scores(table.X)
        assert scores.shape == ((200,) if k == 2 else (200, 3)) and np.isfinite(scores).all()
        if k == 3:
            assert (scores.argmax(axis=1) != 2).all()


def test_mean_of_linear_models():
    table = linear_table()
    models = [
        LinearEngine(GROWTH, 1).train(table, Fold(np.arange(i, 200, 2)), Job(10, 5, 0))[0]
        for i in (0, 1)
    ]
    expected = np.mean([model.scores(table.X) for model in models], axis=0)
    np.testing.assert_allclose(LinearModel.mean(models).scores(table.X), expected)


def test_design_of_no_numbers_or_no_values():
    X = np.full((5, 2), np.nan)
    design = Design.of(X, [1])
    assert design(X).shape == (5, 3)  # a number, its gap, and a category that no row has
    assert np.isfinite(design(X)).all()
    assert design.n_features == 2


# --- forests ------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3])
def test_forest_scores_are_mean_shares_times_a_scale(k):
    table = linear_table(k)
    fold = Fold(np.arange(150), np.arange(150, 200))
    model, seen = ForestEngine(GROWTH, 1).train(table, fold, Job(10, 5, 0))
    scores = model.scores(table.X)
    np.testing.assert_allclose(scores[150:], seen, atol=1e-9)
    # A plain average over the leaves of the trees, which hold shares of rows.
    leaves = np.stack(
        [
            model.booster.predict(table.X, pred_leaf=True)[:, t]
            for t in range(50 * (1 if k == 2 else k))
        ]
    )
    outputs = np.stack(
        [
            [model.booster.get_leaf_output(t, int(leaf)) for leaf in row]
            for t, row in enumerate(leaves)
        ]
    )
    total = outputs.reshape(50, -1, len(scores)).sum(axis=0).T
    np.testing.assert_allclose(total if k > 2 else total[:, 0], scores, atol=1e-9)
    # The scale is the best one: shares are scores / scale, and no other factor has a lower loss.
    part = table.target.part(table.columns.take(fold.held_out))
    losses = [part.loss(factor * seen) for factor in (0.8, 1.0, 1.25)]
    assert losses[1] == min(losses)
    if k > 2:  # shares of the classes sum to one: so do the scores, to the scale
        sums = scores.sum(axis=1)
        assert sums.std() < 0.2 * sums.mean()


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("weights", ["some", "none"])
def test_forests_of_next_to_no_rows_or_weight(n, weights):
    X, y = np.arange(8.0).reshape(-1, 1), np.arange(8) % 3
    w = np.zeros(8)
    w[0] = weights == "some"
    table = TargetTable(X, [], LogTarget(3), Columns(y, w))
    model, _ = ForestEngine(GROWTH, 1).train(
        table, Fold(np.arange(n), np.arange(n, 8)), Job(9, 5, 0)
    )
    assert np.isfinite(model.scores(X)).all()


def test_few_rows_without_an_error_make_no_forest_certain():
    rng = np.random.default_rng(0)
    X = np.append(rng.uniform(-2, -1, 40), rng.uniform(1, 2, 40))[:, None]
    table = TargetTable(X, [], LogTarget(), Columns((X[:, 0] > 0).astype(int), np.ones(80)))
    fold = Fold(np.arange(0, 80, 2), np.arange(1, 80, 2))
    _, seen = ForestEngine(GROWTH, 1).train(table, fold, Job(10, 5, 0))
    assert 4 < np.abs(seen).max() < 10  # right with a probability of 98.2 to 99.995 %


def test_forests_of_folds_become_one():
    table = linear_table()
    engine = ForestEngine(GROWTH, 1)
    models = [engine.train(table, Fold(np.arange(i, 200, 2)), Job(10, 5, i))[0] for i in (0, 1)]
    both = engine.together(models)
    expected = np.mean([model.scores(table.X) for model in models], axis=0)
    np.testing.assert_allclose(both.scores(table.X), expected, atol=1e-9)


# --- merged boosters ----------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 3])
def test_merged_boosters_sum(k):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    X[:, 2] = rng.integers(0, 5, 150)
    y = np.digitize(X[:, 0] + (X[:, 2] == 1), [0.2] if k == 1 else [-0.4, 0.7])
    params = {"objective": "binary" if k == 1 else "multiclass", "verbosity": -1, "num_threads": 1}
    params |= {"num_class": k} if k > 1 else {}
    boosters = [
        lgb.train(params | {"num_leaves": 3 + i}, lgb.Dataset(X, y, categorical_feature=[2]), 2 + i)
        for i in range(3)
    ]
    weights = [0.5, 0.3, 0.2]
    merged = merged_lightgbm(boosters, weights)
    for kind in ("raw_score", "pred_contrib"):
        each = [booster.predict(X, **{kind: True}) for booster in boosters]
        expected = sum(w * s for w, s in zip(weights, each, strict=True))
        np.testing.assert_allclose(merged.predict(X, **{kind: True}), expected, atol=1e-12)
    assert merged.current_iteration() == 2 + 3 + 4


# --- CatBoost -----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3])
def test_catboost_trees_are_lightgbm_trees(k):
    catboost = pytest.importorskip("catboost")
    from costboost.gbm.engines.catboost import Columns as Seen
    from costboost.gbm.engines.catboost import as_lightgbm

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    X[:, 1] = np.round(X[:, 1], 1)  # values on borders
    X[:, 3], X[:, 4] = rng.integers(0, 40, 300), rng.integers(0, 100, 300)
    X[rng.random(X.shape) < 0.1] = np.nan
    score = np.nan_to_num(X[:, 0]) + np.isin(X[:, 3], [3, 7, 33]) + (X[:, 4] > 50)
    y = np.digitize(score, [0.5] if k == 2 else [0.1, 0.9])
    seen = Seen.of(X, [3, 4])
    assert (seen.source == 3).sum() == 40 and (seen.source == 4).sum() == 1
    loss = "Logloss" if k == 2 else "MultiClass"
    booster = catboost.CatBoost(
        {"iterations": 12, "depth": 3, "loss_function": loss, "verbose": False, "thread_count": 1,
         "allow_writing_files": False}
    ).fit(catboost.Pool(seen(X), y))  # fmt: skip
    ours = as_lightgbm(booster, seen, 5)
    expected = np.asarray(booster.predict(seen(X), "RawFormulaVal")).reshape(300, -1)
    np.testing.assert_allclose(ours.predict(X, raw_score=True).reshape(300, -1), expected)
    parts = ours.predict(X, pred_contrib=True).reshape(300, -1, 6).sum(axis=2)
    np.testing.assert_allclose(parts, expected, atol=1e-9)


def test_catboost_as_engine(fraud):
    pytest.importorskip("catboost")
    X, y = fraud
    rounds = []
    model = make(engine="catboost", effort="fast").fit(X, y, callbacks=rounds.append)
    assert [told.round for told in rounds] == list(range(1, len(rounds) + 1))
    assert all(told.held_out_loss > 0 for told in rounds)
    assert isinstance(model.booster_, lgb.Booster)  # CatBoost is needed for training only
    raw = model.temperature_ * model.booster_.predict(X, raw_score=True)
    np.testing.assert_allclose(raw, logit(model.predict_proba(X)[:, 1]), atol=1e-9)
    with pytest.raises(ValueError, match=r"log loss only.*engine='lightgbm'"):
        make(engine="catboost", loss="cost_exponential").fit(X, y)
    with pytest.raises(ValueError, match="cannot continue boosters"):
        warm = make(engine="catboost", effort="fast", warm_start=True, n_estimators=3).fit(X, y)
        warm.set_params(n_estimators=5).fit(X, y)
    with pytest.raises(ValueError, match="symmetric trees only"):
        make(engine="catboost", effort="fast", engine_params={"grow_policy": "Depthwise"}).fit(X, y)


# --- estimates ----------------------------------------------------------------------------------


def test_estimates_of_future_rows(fraud, model):
    long_run = model.estimated_savings()
    assert long_run == model.estimated_savings_
    few, many = model.estimated_savings(50), model.estimated_savings(future_rows=1e9)
    assert few.value == many.value == long_run.value
    assert few.low < many.low and few.high > many.high
    assert few.high <= 1
    with pytest.raises(ValueError, match=r"'future_rows'.*> 0, got 0"):
        model.estimated_savings(0)
    with pytest.raises(ValueError, match="no row was held out"):
        make(early_stopping=False, ensemble=1).fit(*fraud).estimated_savings()
    assert savings_of_future_rows(Estimate(1.0, 1.0, 1.0), 10, 10) == Estimate(1.0, 1.0, 1.0)


def test_future_intervals_cover():
    """Rows of a known population: 19 of 20 intervals hold the savings of the next rows."""
    rng = np.random.default_rng(0)
    n, m, draws = 1500, 500, 400
    held = 0
    for _ in range(draws):
        truth = rng.random(n + m) < 0.2
        price = rng.lognormal(0.0, 0.7, n + m)
        prices = np.stack([np.where(truth, 5 * price, 0.0), np.where(truth, 0.0, 1.0)], axis=1)
        decided = (np.where(truth, 1.2, -1.2) + rng.normal(size=n + m) > 0).astype(int)
        paid = np.take_along_axis(prices, decided[:, None], axis=1)[:, 0]
        known = estimate_savings(paid[:n], prices[:n], np.ones(n))
        best = prices[:n].sum(axis=0).argmin()
        seen = 1.0 - paid[n:].sum() / prices[n:, best].sum()
        interval = savings_of_future_rows(known, n, m)
        held += interval.low <= seen <= interval.high
    assert 0.92 <= held / draws <= 0.98
