"""ONNX graphs decide as the classifiers do, on ordinary rows and on every split value."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest

from costboost import CostBoostClassifier
from costboost.columns.raw import as_texts, open_column
from costboost.onnx import to_onnx
from costboost.trees import CATEGORY, Trees
from costboost_papers.datasets import available, load
from files.models import CHOICES, ESTIMATORS, frame, make, odd_frame

ort = pytest.importorskip("onnxruntime")
# Rules that favour one class, and the like: the graphs matter here.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def run(model, X, threads=1, **inputs):
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    runtime = ort.InferenceSession(model.SerializeToString(), options)
    names = [output.name for output in runtime.get_outputs()]
    for one in runtime.get_inputs():
        if one.name == "features":
            inputs["features"] = np.asarray(X, dtype=np.float64)
        elif one.name not in inputs:  # a column
            values = X[one.name].astype(float) if one.type != "tensor(string)" else None
            if values is None:
                places, texts = as_texts(open_column(X[one.name]))
                values = np.array([*(text or "" for text in texts), ""], dtype=object)[places]
            inputs[one.name] = np.asarray(values)[:, None]
    return dict(zip(names, runtime.run(None, inputs), strict=True))


def check(model, X, told=True, rtol=1e-9):
    """The graph and the model say the same, alone and with the costs of each row."""
    found = run(to_onnx(model), X, threads=2)
    assert np.array_equal(found["decision"], model.predict(X))
    for name, ask in (("probabilities", "predict_proba"), ("expected_costs", "predict_cost")):
        if name in found:
            np.testing.assert_allclose(found[name], getattr(model, ask)(X), rtol=rtol, atol=1e-15)
    if told:
        shape = len(X), len(model.classes_), len(model.decisions_)
        costs = np.random.RandomState(1).exponential(size=shape)
        again = run(to_onnx(model, costs=True), X, costs=costs)
        assert np.array_equal(again["decision"], model.predict(X, costs=costs))
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
    "zero as missing": {"engine_params": {"zero_as_missing": True}},
    "no missing": {"engine_params": {"use_missing": False}},
    "no split": {"engine_params": {"min_data_in_leaf": 2000}},
    "one-hot": {"engine_params": {"max_cat_to_onehot": 100}},
    "not calibrated": {"calibration": None},
}


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("case", CLASSIFIERS)
def test_the_graph_decides_as_predict(case, k, tmp_path):
    """On every split value and one step beside it, too."""
    effort = "balanced" if case == "all members" else "fast"
    settings = {"n_estimators": 20, "random_state": 0, "effort": effort, **CLASSIFIERS[case]}
    model = CostBoostClassifier(**settings).fit(framed(TABLE), labels(k))
    made = to_onnx(model, tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == made.SerializeToString(deterministic=True)
    X = framed(np.concatenate([TABLE, edge_rows(model, TABLE, limit=2000)]))
    check(model, X, rtol=1e-5 if effort == "balanced" else 1e-12)
    if k == 3:
        check(model.with_costs([[0, 1, 9], [2, 0, 3], [7, 1, 0]]), X, told=False)


def test_costs_and_decisions_of_all_kinds():
    settings = {"n_estimators": 20, "cv": 2, "random_state": 0}
    three = CostBoostClassifier(CHOICES, **settings).fit(TABLE, np.array(["no", "yes"])[Y])
    found = check(three, np.concatenate([TABLE, edge_rows(three, TABLE, limit=2000)]))
    assert len(set(found["decision"])) > 1
    costs = np.random.RandomState(2).exponential(size=(len(TABLE), 2, 2))
    learned = CostBoostClassifier(**settings).fit(TABLE, Y.astype(bool), costs=costs)
    assert len(learned.cost_model_.entries) == 4  # none of the four entries follows from another
    check(learned, TABLE, rtol=1e-6)
    for loss, k in (("cost_logistic", 2), ("gll", 3), ("gll", 2), ("expected_cost", 2)):
        check(CostBoostClassifier(loss=loss, **settings).fit(TABLE, labels(k)), TABLE, told=False)


# Wrappers around an estimator of the user's own, and votes for several classes, have no graph.
@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_class_of_trees_for_two_classes_has_a_graph(name):
    """Found by discovery, so a new class is tested too."""
    model = make(name, cost_matrix=[[0, 2], [3, 0]])
    if not isinstance(model, CostBoostClassifier) and not getattr(model, "_is_binary", False):
        with pytest.raises(ValueError, match="to_onnx takes CostBoostClassifier and"):
            to_onnx(model.fit(FILLED, Y))
        return
    settings = {"estimator": "tree"} if "estimator" in model.get_params() else {}
    if name == "CSRealBoostClassifier":  # whose rules are histograms
        with pytest.raises(ValueError, match="estimator='tree'"):
            to_onnx(make(name).fit(FILLED, Y))
    if name == "AdaCostClassifier":
        settings["cost_matrix"] = None  # its first rule is none with these costs
    model.set_params(n_estimators=8, **settings).fit(FILLED, labels(2))
    edges = np.nan_to_num(edge_rows(model, FILLED, limit=1000), nan=0.0)
    check(model, np.concatenate([FILLED, edges]))


# -- columns --------------------------------------------------------------------------------------


# Rows of `priced_frame` with an amount of 0 tie, those of 4 and one step beside it are bounds.
EXPRESSIONS = {
    "sum": {"fn": "amount + 15", "fp": 5},
    # Right decisions cost as much as wrong ones up to 4, and clearly less above: costs that differ
    # in the last digit alone may be decided otherwise, as probabilities may differ there.
    "equal up to 4": {
        **dict.fromkeys(("fn", "fp"), "amount"),
        **dict.fromkeys(("tp", "tn"), "where(amount > 4, 1, amount)"),
    },
    "ties and bounds": {"fn": "where(amount >= 4, 3, 0)", "fp": "max(0, 0.5 * amount)"},
    "least costs": {"fn": "9 + amount / 3", "fp": "7 - -amount", "tp": "0.1 + amount", "tn": 0.3},
    "functions": {
        "fn": "sqrt(abs(amount)) + log(1 + amount) * exp(-amount / 9) + min(amount, rate, 2)",
        "fp": "(amount + 1) ** 0.5 - 2 ** -1 + where(vip == 1, 2, 3)",
    },
    "conditions": {
        "fn": "where(amount > 4 or not (amount <= 2) and rate != 0 or 2 < 1, amount, 1)",
        "fp": "where(1 < 2, 1, amount) + where(amount < 4 and amount == 4, 1, 2)",
    },
    "missing": {"fn": "coalesce(gap, rate, 2) + where(coalesce(gap, 1) > 0, 1, 4)", "fp": "1 + 1"},
    "decisions": {
        **{(0, "accept"): 0, (0, "review"): "amount", (0, "block"): "4 * amount"},
        **{(1, "accept"): "20 * amount", (1, "review"): "where(amount < 4, amount, 5)"},
        (1, "block"): 0,
    },
}  # fmt: skip


def priced_frame():
    amounts = [0.0, 1.0, 2.0, np.nextafter(4.0, 0), 4.0, np.nextafter(4.0, 5), 9.5]
    X = pd.DataFrame(TABLE, columns=["p", "q", "r", "s", "gap"])
    X["amount"] = np.resize(amounts, len(X))
    X["rate"], X["vip"] = np.arange(len(X)) % 3 / 2, np.arange(len(X)) % 5 == 0
    return X


@pytest.mark.parametrize("case", EXPRESSIONS)
def test_expressions_decide_inside_the_graph(case):
    X, prices = priced_frame(), EXPRESSIONS[case]
    model = make("CostBoostClassifier", cost_matrix=prices).fit(X, Y)
    found = check(model, X)
    assert len(set(found["decision"])) > 1
    # The same of columns that the model does not use otherwise.
    check(make("CostBoostClassifier", cost_matrix=prices, cost_columns="exclude").fit(X, Y), X)
    if case != "decisions":
        filled = X.fillna(0.0)
        two = make("AdaC2Classifier", estimator="tree").fit(filled, Y)
        check(two.with_costs(prices), filled, told=False)
        check(two.with_costs({"fn": 3, "fp": 1}), filled, told=False)


def test_expressions_of_arrays_and_of_several_classes():
    prices = {(i, j): f"abs(x1) * {1 + i + 2 * j}" for i in range(3) for j in range(3) if i != j}
    check(make("CostBoostClassifier", cost_matrix=prices).fit(FILLED, Y3), FILLED, told=False)


def test_rows_without_a_price_are_refused_by_the_graph_too():
    X = priced_frame()
    model = make("CostBoostClassifier", cost_matrix={"fn": "min(amount, 5) / rate", "fp": 1})
    made = to_onnx(model.fit(X[X["rate"] > 0], Y[X["rate"] > 0]))
    for column, value in (("amount", np.nan), ("rate", 0.0), ("rate", 1e-305)):
        wrong = X[X["rate"] > 0].head(7).copy()
        wrong.loc[wrong.index[3], column] = value
        with pytest.raises(ValueError, match=r"finite|missing"):
            model.predict(wrong)
        with pytest.raises(Exception, match="every cost must be finite"):
            run(made, wrong)


def test_costs_that_are_no_arithmetic_are_refused_where_they_decide():
    texts = {"fn": "where(country == 'de', 9, 1)", "fp": 5, "positive": "yes"}
    X, y = odd_frame()
    for costs in (texts, lambda X: np.tile(1.0 - np.eye(2), (len(X), 1, 1))):
        with pytest.raises(ValueError, match=r"cannot work out.*costs=True"):
            to_onnx(make("CostBoostClassifier", cost_matrix=costs).fit(X, y))
    check(make("CostBoostClassifier", cost_matrix=texts, loss="gll").fit(X, y), X, told=False)


def test_columns_of_a_frame_are_the_inputs():
    X, y = frame()
    model = make("CostBoostClassifier", n_estimators=40).fit(X, y)
    check(model, X, told=False)
    made = to_onnx(model)
    assert [one.name for one in made.graph.input] == [c.name for c in model.columns_.used]
    properties = {item.key: item.value for item in made.metadata_props}
    assert '["at", "ch", "de", "fr"]' in properties["categories"]
    renamed = X.rename(columns={X.columns[0]: "decision"})
    with pytest.raises(ValueError, match="Rename it"):
        to_onnx(make("CostBoostClassifier", n_estimators=5).fit(renamed, y))


def test_parts_of_dates_are_inputs():
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(800) * 23, "h")
    X = pd.DataFrame({"when": when.strftime("%d/%m/%Y %H:%M"), "size": TABLE[:, 0]})
    y = (when.hour < 8).astype(int) ^ (np.arange(800) % 11 == 0)
    model = make("CostBoostClassifier", n_estimators=20).fit(X, y)
    times = {"month": when.month, "day": when.day, "hour": when.hour}
    times["weekday"] = when.day_of_week + 1
    parts = X.assign(**{f"when_{name}": values for name, values in times.items()})
    made = to_onnx(model)
    assert np.array_equal(run(made, parts)["decision"], model.predict(X))
    properties = {item.key: item.value for item in made.metadata_props}
    assert '"format": "%d/%m/%Y"' in properties["dates"] and "1 (Monday)" in properties["dates"]


@pytest.mark.trust  # with all sets of data
@pytest.mark.parametrize("name", available() if "COSTBOOST_TRUST" in os.environ else ["pima"])
def test_real_data(name, data_dir):
    data = load(name, data_dir)
    rows = np.random.RandomState(0).permutation(len(data.y))[:3000]
    X, y = data.X.iloc[rows], data.y[rows]
    model = CostBoostClassifier(n_estimators=30, cv=2, random_state=0)
    check(model.fit(X, y), X, rtol=1e-6)
