"""Graphs have the probabilities of the classifiers, on ordinary rows and on every split value."""

from __future__ import annotations

import json
import os

import numpy as np
import pandas as pd
import pytest

from costboost import CostBoostClassifier
from costboost.onnx import to_onnx
from costboost.trees import CATEGORY, Trees
from costboost_papers.datasets import available, load
from files.models import CHOICES, PRICES, frame, make, odd_frame

ort = pytest.importorskip("onnxruntime")
# Rules that favour one class, and the like: the graphs matter here.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def run(model, X, threads=1):
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    runtime = ort.InferenceSession(model.SerializeToString(), options)
    names = [output.name for output in runtime.get_outputs()]
    inputs = {}
    for one in runtime.get_inputs():
        if one.name == "features":
            inputs["features"] = np.asarray(X, dtype=np.float64)
        elif one.type == "tensor(string)":
            texts = [text if isinstance(text, str) else "" for text in X[one.name]]
            inputs[one.name] = np.array(texts, dtype=object)[:, None]
        else:
            inputs[one.name] = X[one.name].to_numpy(dtype=np.float64)[:, None]
    return dict(zip(names, runtime.run(None, inputs), strict=True))


def check(model, X, rtol=1e-9):
    """The graph and the model say the same."""
    found = run(to_onnx(model), X, threads=2)
    np.testing.assert_allclose(
        found["probabilities"], model.predict_proba(X), rtol=rtol, atol=1e-15
    )
    if "expected_costs" in found:
        np.testing.assert_allclose(
            found["expected_costs"], model.predict_cost(X), rtol=rtol, atol=1e-15
        )
        chosen = (found["probabilities"] @ model.cost_matrix_).argmin(axis=1)
        assert (model.decisions_[chosen] == model.predict(X)).mean() > 0.999  # but for ties
    return found


rng = np.random.RandomState(0)
TABLE = rng.randn(800, 5)
TABLE[:, 2] = rng.randint(0, 45, len(TABLE))
TABLE[:35, 2] = np.arange(45, 80)  # so rare that no set of categories has them
TABLE[:, 3] = np.where(rng.rand(len(TABLE)) < 0.5, 0.0, TABLE[:, 3])
TABLE[rng.rand(*TABLE.shape) < 0.05] = np.nan
signal = np.nan_to_num(TABLE[:, 0]) + np.sin(7 * np.nan_to_num(TABLE[:, 2])) + TABLE[:, 4] ** 2
Y = (np.nan_to_num(signal) + rng.randn(len(TABLE)) > 1).astype(int)
Y3 = Y + (np.nan_to_num(TABLE[:, 1]) > 0.6)
FILLED = np.nan_to_num(TABLE)


def labels(k):
    return np.array(["a", "b", "c"])[Y if k == 2 else Y3]


# Rows where converters go wrong: on every split value and one step beside it, missing, odd.
ODD_NUMBERS = [0.0, -0.0, np.nan, 1e-35, -1e-35, 5e-36, float(np.float32(1e-35)), 1e-300, 1e30]
ODD_NUMBERS += [np.nextafter(float(np.float32(1e-35)), 1), -1e30]
ODD_CATEGORIES = [-1.0, -0.5, 0.0, 0.5, 1.0, 1.999, 31.0, 32.0, 1000.0, np.nan, 16777216.0]


def tables(item):
    """All tables of trees inside a model."""
    if isinstance(item, Trees):
        return [item]
    inner = item.values() if isinstance(item, dict) else item
    if not isinstance(item, (list, tuple, dict)):
        inner = vars(item).values() if hasattr(item, "__dict__") else ()
    return [table for part in inner for table in tables(part)]


def around(value):
    """A value, its neighbours in double and, where it is one, in single precision."""
    single = np.float32(value)
    found = [value, np.nextafter(value, np.inf), np.nextafter(value, -np.inf), float(single)]
    return found + [float(np.nextafter(single, np.float32(s))) for s in (np.inf, -np.inf)]


def edge_rows(model, X, limit=20_000):
    """Rows of X with a feature moved to every value that a split could tell apart."""
    rng, pairs = np.random.RandomState(0), set()
    for trees in tables(model):
        for feature, threshold, kind in zip(
            trees.feature.tolist(), trees.threshold.tolist(), trees.kind, strict=True
        ):
            known = X[:, feature][~np.isnan(X[:, feature])]
            is_set = kind & CATEGORY
            values = [*ODD_CATEGORIES, *known] if is_set else [*around(threshold), *ODD_NUMBERS]
            pairs |= {(feature, value) for value in values if not np.isinf(value)}  # refused
    chosen = sorted(pairs)
    if len(chosen) > limit:
        chosen = [chosen[i] for i in rng.choice(len(chosen), limit, replace=False)]
    rows = X[rng.randint(len(X), size=len(chosen))].copy()
    for row, (feature, value) in zip(rows, chosen, strict=True):
        row[feature] = value
    return rows


def framed(codes):
    """The table as a frame whose third column is a category; codes that are none are missing."""
    X = pd.DataFrame(codes, columns=list("pqrst"))
    return X.assign(r=[f"c{int(x):02d}" if x in range(80) else None for x in X["r"]])


# -- classifiers ----------------------------------------------------------------------------------

CLASSIFIERS = {
    "all members": {"n_estimators": 10},
    "LightGBM": {},
    "no missing": {"engine_params": {"use_missing": False}},
    "no split": {"engine_params": {"min_data_in_leaf": 2000}},
    "one-hot": {"engine_params": {"max_cat_to_onehot": 100}},
    "not calibrated": {"calibration": None},
}


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("case", CLASSIFIERS)
def test_the_graph_has_the_probabilities_of_the_model(case, k, tmp_path):
    """On every split value and one step beside it, too."""
    effort = "balanced" if case == "all members" else "fast"
    settings = {"n_estimators": 20, "random_state": 0, "effort": effort, **CLASSIFIERS[case]}
    model = CostBoostClassifier(**settings).fit(framed(TABLE), labels(k))
    made = to_onnx(model, tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == made.SerializeToString(deterministic=True)
    X = framed(np.concatenate([TABLE, edge_rows(model, TABLE, limit=2000)]))
    check(model, X, rtol=1e-5 if effort == "balanced" else 1e-12)
    if k == 3:
        check(model.with_costs([[0, 1, 9], [2, 0, 3], [7, 1, 0]]), X)


def test_costs_of_one_matrix_are_in_the_graph():
    settings = {"n_estimators": 20, "cv": 2, "random_state": 0}
    three = CostBoostClassifier(CHOICES, **settings).fit(TABLE, np.array(["no", "yes"])[Y])
    made = to_onnx(three)
    found = check(three, np.concatenate([TABLE, edge_rows(three, TABLE, limit=2000)]))
    assert found["expected_costs"].shape[1] == 3
    properties = {item.key: json.loads(item.value) for item in made.metadata_props}
    assert properties["classes"] == ["no", "yes"]
    assert properties["decisions"] == three.decisions_.tolist()
    assert properties["cost_matrix"] == three.cost_matrix_.tolist()


def test_costs_that_differ_by_row_are_left_to_the_caller():
    X, y = odd_frame()
    model = make("CostBoostClassifier", cost_matrix=PRICES).fit(X, y)
    assert list(check(model, X)) == ["probabilities"]
    costs = np.random.RandomState(2).exponential(size=(len(TABLE), 2, 2))
    learned = make("CostBoostClassifier").fit(TABLE, Y.astype(bool), costs=costs)
    assert list(check(learned, TABLE)) == ["probabilities"]


def test_other_classifiers_have_no_graph():
    for model in (make("CostBoostClassifier", loss="cost_logistic"), make("AdaC2Classifier")):
        with pytest.raises(ValueError, match=r"to_onnx takes CostBoostClassifier\(loss='auto'\)"):
            to_onnx(model.fit(FILLED, Y))


def test_zeros_that_are_missing_have_no_graph():
    settings = {"effort": "fast", "n_estimators": 5, "engine_params": {"zero_as_missing": True}}
    model = CostBoostClassifier(**settings).fit(TABLE, Y)
    with pytest.raises(ValueError, match="zero_as_missing"):
        to_onnx(model)


# -- columns --------------------------------------------------------------------------------------


def test_columns_of_a_frame_are_the_inputs():
    X, y = frame()
    model = make("CostBoostClassifier", n_estimators=40).fit(X, y)
    check(model, X)
    made = to_onnx(model)
    assert [one.name for one in made.graph.input] == [c.name for c in model.columns_.used]
    renamed = X.rename(columns={X.columns[0]: "probabilities"})
    with pytest.raises(ValueError, match="Rename it"):
        to_onnx(make("CostBoostClassifier", n_estimators=5).fit(renamed, y))


def test_parts_of_dates_are_inputs():
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(800) * 23, "h")
    X = pd.DataFrame({"when": when.strftime("%Y-%m-%d %H:%M"), "size": TABLE[:, 0]})
    y = (when.hour < 8).astype(int) ^ (np.arange(800) % 11 == 0)
    model = make("CostBoostClassifier", n_estimators=20).fit(X, y)
    times = {"month": when.month, "day": when.day, "hour": when.hour}
    times["weekday"] = when.day_of_week + 1
    parts = X.assign(**{f"when_{name}": values for name, values in times.items()})
    found = run(to_onnx(model), parts)["probabilities"]
    np.testing.assert_allclose(found, model.predict_proba(X), rtol=1e-9)


@pytest.mark.trust  # with all sets of data
@pytest.mark.parametrize("name", available() if "COSTBOOST_TRUST" in os.environ else ["pima"])
def test_real_data(name, data_dir):
    data = load(name, data_dir)
    rows = np.random.RandomState(0).permutation(len(data.y))[:3000]
    X, y = data.X.iloc[rows], data.y[rows]
    model = CostBoostClassifier(n_estimators=30, cv=2, random_state=0)
    check(model.fit(X, y), X, rtol=1e-6)
