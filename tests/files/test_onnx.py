"""ONNX graphs decide as the classifiers do, on ordinary rows and on every split value."""

from __future__ import annotations

import warnings
from functools import cache

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

from costboost import CostBoostClassifier
from costboost.boosting.classifiers import SampledClassifier
from costboost.files import to_onnx
from costboost.files.onnx import _Graph, _scores
from costboost.trees import from_lightgbm, from_xgboost
from files import onnx_sets
from files.edges import edge_rows
from files.models import (
    CHOICES,
    ESTIMATORS,
    MULTICLASS,
    PRICES,
    frame,
    make,
    odd_frame,
    rows,
)
from files.models import fitted as model_of

ort = pytest.importorskip("onnxruntime")

WRAPPERS = ("AdaMECClassifier", "MinCostClassifier", "TargetRateClassifier")


def session(model, threads=1):
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    return ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def run(model, X, threads=1, **inputs):
    runtime = session(model, threads)
    names = [output.name for output in runtime.get_outputs()]
    for one in runtime.get_inputs():
        if one.name == "features":
            inputs["features"] = np.asarray(X, dtype=np.float64)
        elif one.name not in inputs:  # a column
            texts = one.type == "tensor(string)"
            values = X[one.name].astype(object).fillna("") if texts else X[one.name]
            inputs[one.name] = values.to_numpy(object if texts else np.float64)[:, None]
    found = runtime.run(None, inputs)
    return dict(zip(names, found, strict=True))


rng = np.random.RandomState(0)
TABLE = rng.randn(1500, 5)
TABLE[:, 2] = rng.randint(0, 45, 1500)
TABLE[:, 3] = np.where(rng.rand(1500) < 0.5, 0.0, TABLE[:, 3])
TABLE[rng.rand(1500, 5) < 0.05] = np.nan
signal = np.nan_to_num(TABLE[:, 0]) + np.sin(7 * np.nan_to_num(TABLE[:, 2])) + TABLE[:, 4] ** 2
Y = (np.nan_to_num(signal) + rng.randn(1500) > 1).astype(int)
Y3 = Y + (np.nan_to_num(TABLE[:, 1]) > 0.6)


def grown_by_lightgbm(y, rounds=60, **parameters):
    k = len(np.unique(y))
    task = {"objective": "binary"} if k == 2 else {"objective": "multiclass", "num_class": k}
    data = lgb.Dataset(TABLE, y, categorical_feature=[2])
    settings = {"verbosity": -1, "num_leaves": 12, "num_threads": 1, "min_data_per_group": 5}
    return lgb.train({**settings, **task, **parameters}, data, rounds)


def grown_by_xgboost(y, rounds=60, **parameters):
    k = len(np.unique(y))
    task = {"objective": "binary:logistic"} if k == 2 else {
        "objective": "multi:softprob", "num_class": k}  # fmt: skip
    data = xgb.DMatrix(TABLE, y, feature_types=list("qqcqq"), enable_categorical=True)
    return xgb.train({"max_depth": 4, "nthread": 1, **task, **parameters}, data, rounds)


BOOSTERS = {
    "LightGBM": lambda y: grown_by_lightgbm(y),
    "LightGBM, zero as missing": lambda y: grown_by_lightgbm(y, zero_as_missing=True),
    "LightGBM, no missing": lambda y: grown_by_lightgbm(y, use_missing=False),
    "LightGBM, dart": lambda y: grown_by_lightgbm(y, boosting="dart"),
    "LightGBM, no split": lambda y: grown_by_lightgbm(y, min_data_in_leaf=2000),
}
TABLES = {
    **{name: lambda y, grow=grow: from_lightgbm(grow(y)) for name, grow in BOOSTERS.items()},
    "XGBoost": lambda y: from_xgboost(grown_by_xgboost(y)),
    "XGBoost, one-hot": lambda y: from_xgboost(grown_by_xgboost(y, max_cat_to_onehot=100)),
}


@pytest.mark.parametrize("y", [Y, Y3], ids=["two classes", "three classes"])
@pytest.mark.parametrize("case", TABLES)
def test_scores_are_those_of_the_table(case, y):
    """To the last bit with one thread, or with sums in order."""
    trees = TABLES[case](y)
    X = np.concatenate([TABLE, edge_rows([trees], TABLE)])
    right = trees.scores(X)
    for exact, threads in ((False, 1), (True, 4)):
        graph = _Graph(5, exact)
        graph("Identity", _scores(graph, trees), output="scores")
        helper, double = graph.onnx.helper, graph.onnx.TensorProto.DOUBLE
        info = helper.make_tensor_value_info
        made = helper.make_model(
            helper.make_graph(
                graph.nodes,
                "scores",
                [info("features", double, ["n", 5])],
                [info("scores", double, ["n", trees.n_scores])],
                graph.constants,
            ),
            opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 5)],
            ir_version=10,
        )
        assert np.array_equal(run(made, X, threads)["scores"].reshape(right.shape), right)


CLASSIFIERS = {
    "all members": {},
    "LightGBM": {"effort": "fast"},
    "XGBoost": {"effort": "fast", "engine": "xgboost"},
    "one XGBoost": {"effort": "fast", "ensemble": 1, "engine": "xgboost"},
    "not calibrated": {"effort": "fast", "calibration": None},
}


@cache
def fitted(k, **parameters):
    y = np.array(["a", "b", "c"])[Y if k == 2 else Y3]
    model = CostBoostClassifier(n_estimators=20, random_state=0, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(TABLE, y), y


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("case", CLASSIFIERS)
def test_the_graph_decides_as_predict(case, k, tmp_path):
    model, _ = fitted(k, **CLASSIFIERS[case])
    X = np.concatenate([TABLE, edge_rows(model, TABLE, limit=3000)])
    path = tmp_path / "model.onnx"
    made = to_onnx(model, path)
    assert path.read_bytes() == made.SerializeToString(deterministic=True)
    for threads in (1, 4):
        found = run(made, X, threads)
        assert np.array_equal(found["decision"], model.predict(X))
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), rtol=1e-5)
    costs = np.random.RandomState(1).exponential(size=(len(X), k, k))
    found = run(to_onnx(model, costs=True), X, costs=costs)
    assert np.array_equal(found["decision"], model.predict(X, costs=costs))
    expected = np.einsum("nj,njd->nd", model.predict_proba(X), costs)
    np.testing.assert_allclose(found["expected_costs"], expected, rtol=1e-9)


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
def test_learned_costs_decide_where_none_are_told(engine):
    y = Y.astype(bool)
    costs = np.random.RandomState(2).exponential(size=(len(TABLE), 2, 2))
    model = CostBoostClassifier(engine=engine, n_estimators=30, ensemble=2, random_state=0)
    model.fit(TABLE, y, costs=costs)
    assert len(model.heads_) == 5  # none of the four entries follows from another
    found = run(to_onnx(model), TABLE)
    assert np.array_equal(found["decision"], model.predict(TABLE))
    np.testing.assert_allclose(found["expected_costs"], model.predict_cost(TABLE), rtol=1e-6)
    found = run(to_onnx(model, costs=True), TABLE, costs=costs)
    assert np.array_equal(found["decision"], model.predict(TABLE, costs=costs))


# Wrappers around an estimator of the user's own have no graph.
TREES = [name for name in ESTIMATORS if name not in WRAPPERS]
FILLED = np.nan_to_num(TABLE[:800])


def fitted_trees(name, k, **parameters):
    """A classifier of trees, with costs that differ."""
    C = np.random.RandomState(k).randint(1, 6, (k, k)) * (1 - np.eye(k))
    model = make(name, n_estimators=12, cost_matrix=C, **parameters)
    if "estimator" in model.get_params() and not isinstance(model, SampledClassifier):
        model.set_params(estimator="tree")
    if name in ("AdaCostClassifier", "AdaCostM2Classifier"):
        model.set_params(cost_matrix=None)  # its first rule is none with these costs
    return model.fit(FILLED, np.array(["a", "b", "c"])[(Y if k == 2 else Y3)[:800]])


def on_splits(model, X):
    """The rows, and rows whose values are those of splits, and one step beside them."""
    edges = edge_rows(model, X, limit=1500)
    return np.concatenate([X, np.where(np.isnan(edges), 0.0, edges)])


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("name", TREES)
def test_every_class_of_trees_has_a_graph(name, k):
    """Those of two classes for two; found by discovery, so a new class is tested too."""
    if k > 2 and name not in MULTICLASS:
        pytest.skip("for two classes")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fitted_trees(name, k)
    X = on_splits(model, FILLED)
    costs = np.random.RandomState(1).exponential(size=(len(X), k, k))
    found = run(to_onnx(model), X)
    assert np.array_equal(found["decision"], model.predict(X))
    np.testing.assert_allclose(
        found["probabilities"], model.predict_proba(X), rtol=1e-9, atol=1e-15
    )
    found = run(to_onnx(model, costs=True, exact=True), X, threads=4, costs=costs)
    assert np.array_equal(found["decision"], model.predict(X, costs=costs))


@pytest.mark.parametrize("variant", ["relational", "adjusted", "direct"])
def test_variants_of_averages(variant):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fitted_trees("LpCSBClassifier", 3, variant=variant)
    X = on_splits(model, FILLED)
    for exact in (False, True):
        found = run(to_onnx(model, exact=exact), X)
        assert np.array_equal(found["decision"], model.predict(X))
        H = model._scores(X)
        np.testing.assert_allclose(found["scores"], H, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("name", ["LpCSBClassifier", "DSEClassifier"])
def test_votes_for_decisions(name):
    y = np.array(["no", "yes"])[Y]
    model = make(name, n_estimators=12, cost_matrix=CHOICES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(FILLED, y[:800])
    found = run(to_onnx(model), FILLED)
    assert np.array_equal(found["decision"], model.predict(FILLED))
    assert set(found) == {"scores", "decision"}
    with pytest.raises(ValueError, match="no probabilities"):
        to_onnx(model, costs=True)


def test_ties_go_to_the_decision_that_was_cheapest():
    """A rule of one leaf: all scores are the same, on every row."""
    X, y = np.zeros((30, 2)), np.repeat([0, 1, 2], 10)
    model = make("CostingClassifier", n_estimators=5, cost_matrix=[[0, 9, 9], [1, 0, 1], [1, 1, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    model._ensemble.parts.votes[:] = 0.0
    model._by_cost = np.array([2, 0, 1])
    assert set(model.predict(X)) == {2}
    assert set(run(to_onnx(model), X)["decision"]) == {2}


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
def test_three_decisions_for_two_classes(engine):
    y = np.array(["no", "yes"])[Y]
    model = make("CostBoostClassifier", n_estimators=30, cost_matrix=CHOICES, engine=engine)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(TABLE, y)
    X = np.concatenate([TABLE, edge_rows(model, TABLE)])
    found = run(to_onnx(model), X)
    assert np.array_equal(found["decision"], model.predict(X))
    assert len(set(found["decision"])) > 1
    np.testing.assert_allclose(found["expected_costs"], model.predict_cost(X), rtol=1e-9)
    costs = np.random.RandomState(1).exponential(size=(len(X), 2, 3))
    found = run(to_onnx(model, costs=True), X, costs=costs)
    assert np.array_equal(found["decision"], model.predict(X, costs=costs))


@pytest.mark.parametrize("loss", ["cost_logistic", "gll"])
def test_losses_with_costs_inside(loss):
    k = 2 if loss == "cost_logistic" else 3
    model, _ = fitted(k, loss=loss)
    assert np.array_equal(run(to_onnx(model), TABLE)["decision"], model.predict(TABLE))


def test_costs_told_after_the_fit():
    model, _ = fitted(3)
    other = model.with_costs([[0, 1, 9], [2, 0, 3], [7, 1, 0]])
    found = run(to_onnx(other), TABLE)
    assert np.array_equal(found["decision"], other.predict(TABLE))


def test_columns_tell_the_costs():
    X, y = odd_frame()
    X = X[["amount", "größe 1", "charge"]]
    model = make("CostBoostClassifier", n_estimators=20, cost_matrix=PRICES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    with pytest.raises(ValueError, match="expressions"):
        to_onnx(model)
    rows_costs = np.zeros((len(X), 2, 2))
    rows_costs[:, 1, 0] = 10 + 2 * np.abs(X["charge"])
    rows_costs[:, 0, 1] = 5
    found = run(to_onnx(model, costs=True), X, costs=rows_costs)
    assert np.array_equal(found["decision"], model.predict(X))


def test_columns_of_a_frame_are_the_inputs():
    X, y = frame()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it favours one class
        model = make("CostBoostClassifier", n_estimators=40).fit(X, y)
    made = to_onnx(model)
    assert [one.name for one in made.graph.input] == [c.name for c in model.columns_.used]
    assert np.array_equal(run(made, X)["decision"], model.predict(X))
    properties = {item.key: item.value for item in made.metadata_props}
    assert '["at", "ch", "de", "fr"]' in properties["categories"]
    with pytest.raises(ValueError, match="Rename it"):
        to_onnx(make("CostBoostClassifier", n_estimators=5).fit(
            X.rename(columns={X.columns[0]: "decision"}), y
        ))  # fmt: skip


def test_parts_of_dates_are_inputs():
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(1500) * 13, "h")
    X = pd.DataFrame({"when": when.strftime("%d/%m/%Y %H:%M"), "size": TABLE[:, 0]})
    y = (when.hour < 8).astype(int) ^ (np.arange(1500) % 11 == 0)
    model = make("CostBoostClassifier", n_estimators=20).fit(X, y)
    parts = X.assign(
        when_month=when.month,
        when_day=when.day,
        when_weekday=when.day_of_week + 1,
        when_hour=when.hour,
    )
    made = to_onnx(model)
    assert np.array_equal(run(made, parts)["decision"], model.predict(X))
    properties = {item.key: item.value for item in made.metadata_props}
    assert '"format": "%d/%m/%Y"' in properties["dates"]


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("name", ["pima", pytest.param("anneal", marks=pytest.mark.slow)])
def test_real_data(name, engine, data_dir):
    """A sample; `python -m files.onnx_sets` counts on all sets."""
    found = onnx_sets.check(name, engine, data_dir)
    n = found["rows"] + found["on splits"]
    assert found["same"] == found["same with costs"] == n
    assert found["largest difference of probabilities"] < 1e-14


def test_what_has_no_graph_says_why():
    model = make("CSRealBoostClassifier").fit(*rows())
    with pytest.raises(ValueError, match="estimator='tree'"):
        to_onnx(model)
    with pytest.raises(ValueError, match="got LineRule"):
        to_onnx(make("MCBoostClassifier").fit(*rows(3)))
    with pytest.raises(ValueError, match="got MinCostClassifier"):
        model_of("MinCostClassifier")[0].to_onnx()
