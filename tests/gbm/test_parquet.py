"""Training on Parquet files; `test_sources` compares models with those from memory."""

from __future__ import annotations

import gc
import itertools
import os
import tempfile
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from costboost import CostBoostClassifier
from costboost.costs import per_row

pytestmark = pytest.mark.slow

pytest.importorskip("pyarrow")
pytest.importorskip("xgboost", minversion="3.0")

N = 600


def table(n=N, n_classes=2, seed=0):
    """Rounded numbers, so that batches and the whole table have the same quantiles."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(np.round(rng.standard_normal((n, 4)), 1), columns=list("abcd"))
    frame.loc[rng.random(n) < 0.1, "b"] = np.nan
    frame["city"] = rng.choice(["Paris", "Oslo", "Bern"], n)
    frame["count"] = rng.integers(0, 5, n)
    frame["amount"] = np.round(np.exp(rng.normal(2, 1, n)), 1) + np.arange(n) // 100
    score = frame.a + (frame.city == "Oslo") + 0.5 * rng.standard_normal(n)
    frame["label"] = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    return frame


def written(folder, frame, n_files=3):
    """Files whose columns differ in type and order, and one without rows."""
    for i, rows in enumerate(np.array_split(np.arange(len(frame)), n_files)):
        part = frame.iloc[rows]
        if i == 1:
            part = part.astype({"city": "category", "count": "int32", "d": "float32"})
            part = part[part.columns[::-1]]
        part.to_parquet(folder / f"{i}.parquet", row_group_size=130)
    frame[:0].to_parquet(folder / "none.parquet")
    return f"{folder}/*.parquet"


def small(**arguments):
    given = {"n_estimators": 8, "learning_rate": 0.3, "early_stopping": False, "random_state": 0}
    given |= {"subsample": 1.0, "colsample": 1.0, "n_jobs": 1, "effort": "fast"}
    return CostBoostClassifier(**(given | arguments))


def assert_same(ours, theirs, X):
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_allclose(ours.cost_matrix_, theirs.cost_matrix_)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)


@pytest.fixture(autouse=True)
def scratch(tmp_path_factory, monkeypatch):
    """A folder of one's own for temporary files, empty when the test is over."""
    folder = tmp_path_factory.mktemp("scratch")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


# --- costs ----------------------------------------------------------------------------------------


CLASSES = ["high", "low", "mid"]
PAIRS = {
    (truth, decision): f"{i} * amount"
    for i, (truth, decision) in enumerate(itertools.permutations(CLASSES, 2), 1)
}


@pytest.mark.parametrize(
    ("k", "cost_matrix", "costs"),
    [
        (2, None, {"fn": "0.5 * amount", "fp": 5, "tp": 1, "positive": "low"}),
        (3, None, PAIRS),
        (2, {"fn": "amount", "fp": 5, "positive": "low"}, None),
    ],
    ids=["short form", "pairs", "expressions"],
)
def test_a_model_of_files_is_that_of_one_file(tmp_path, k, cost_matrix, costs):
    frame = table(n_classes=k)
    frame["label"] = np.array(CLASSES)[frame["label"]]
    frame["weight"] = np.where(frame.index % 7 == 0, 0, 1 + frame["count"])
    frame["flag"] = frame["a"] > 0
    frame["known"] = np.where(frame["b"].isna(), None, frame["a"] > 0)
    frame["nanoseconds"] = 17 * 10**17 + 10**15 * frame["count"]
    frame["price"] = [Decimal(i % 40) / 4 for i in range(N)]
    frame["empty"] = pd.Series([None] * N, dtype="str")
    frame.loc[::60, "c"] = 1e300  # beyond single precision
    frame.loc[250:, "city"] += " Nord"  # categories of later files
    frame.loc[::50, "city"] = None
    paths, X = written(tmp_path, frame), frame.drop(columns=["label", "weight"])
    ours, theirs = small(cost_matrix=cost_matrix), small(cost_matrix=cost_matrix)
    ours.fit_parquet(paths, "label", costs=costs, sample_weight="weight", batch_rows=110)
    frame.to_parquet(tmp_path / "all")
    theirs.fit_parquet(tmp_path / "all", "label", costs=costs, sample_weight="weight")
    memory = small(cost_matrix=cost_matrix)
    memory.fit(X, frame["label"], frame["weight"], costs=costs)
    assert (ours.cost_model_ is None) == (memory.cost_model_ is None)
    assert list(ours.columns_) == list(memory.columns_)
    assert list(ours.feature_names_in_) == list(X.columns)
    np.testing.assert_allclose(ours.cost_matrix_, memory.cost_matrix_)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-3)
    X.loc[::40, "city"], X["empty"] = "elsewhere", "filled"
    assert_same(ours, theirs, X)


def test_expressions_name_columns_that_are_no_features(tmp_path):
    frame = table()
    paths = written(tmp_path, frame)
    model = small(cost_matrix={"fn": "amount", "fp": 5})
    model.fit_parquet(paths, "label", features=["a", "city"], batch_rows=250)
    amount = frame["amount"].to_numpy()
    X = frame[["a", "city"]]
    decided = model.predict(X, costs=per_row(fn=amount, fp=5))
    probability = model.predict_proba(X)[:, 1]
    assert decided.tolist() == (probability * amount > (1 - probability) * 5).astype(int).tolist()


# --- held-out rows -------------------------------------------------------


@pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")
def test_held_out_rows_that_cost_nothing(tmp_path):
    """Then no costs can be learned, and the rows still calibrate and estimate."""
    frame = table(400).assign(price=0.0)
    frame.loc[frame.index[3], "price"] = 5.0  # the first row of its group is never held out
    model = small(early_stopping=True, n_iter_no_change=1)
    model.fit_parquet(written(tmp_path, frame), "label", costs="price", batch_rows=90)
    assert model.cost_model_ is None and "too few" in model.costs_.without
    assert model.estimated_score_.value == 0.0


def test_the_only_row_of_a_class_is_trained_on(tmp_path):
    paths = written(tmp_path, table(2), 1)
    model = small(early_stopping=True, validation_fraction=0.99).fit_parquet(paths, "label")
    assert model.classes_.tolist() == [0, 1]
    assert not hasattr(model, "estimated_score_")


# --- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], list(range(26))], ids=str)
def test_labels(tmp_path, labels):
    frame = table(300).assign(label=np.array(labels)[np.arange(300) % len(labels)])
    costs = {"fn": 9, "fp": 1, "positive": labels[1]} if len(labels) == 2 else None
    model = small(n_estimators=1)
    model.fit_parquet(written(tmp_path, frame), "label", costs=costs, batch_rows=90)
    assert model.classes_.tolist() == labels
    if costs:
        assert model.cost_matrix_.tolist() == [[0, 1], [9, 0]]


@pytest.mark.parametrize("stop", [RuntimeError, KeyboardInterrupt])
def test_a_fit_that_fails_leaves_the_classifier_as_it_was(tmp_path, stop):
    paths = written(tmp_path, table(400))
    model = small(early_stopping=True)

    def ends(told):
        if told.round == 2:
            raise stop("in the middle")

    for _ in range(2):  # not fitted, and fitted
        before = dict(model.__dict__)
        with pytest.raises(stop):
            model.fit_parquet(paths, "label", features=["a", "amount"], callbacks=ends)
        assert model.__dict__ == before
        model.fit_parquet(paths, "label", costs={"fn": "amount", "fp": 5})
    assert len(model.cost_model_.entries) == 1


# --- the folder for temporary files ---------------------------------------------------------------


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc to list open files")
def test_files_are_closed(tmp_path):
    paths = written(tmp_path, table(400))
    small(early_stopping=True, n_estimators=2).fit_parquet(paths, "label", batch_rows=100)
    gc.collect()  # of other tests, too
    opened = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
    names = [os.readlink(path) for path in opened if os.path.islink(path)]
    assert not [name for name in names if ".parquet" in name or "costboost-" in name]


def test_too_little_room_is_an_error_before_anything_is_written(tmp_path, monkeypatch):
    """XGBoost ends the process if the disk is full."""
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("usage", (), {"free": 1000}))
    with pytest.raises(OSError, match=r"writes up to 1 MB.*costboost-parquet-\*.*TMPDIR"):
        small().fit_parquet(written(tmp_path, table()), "label")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(OSError, match=r"0 MB free.*TMPDIR"):
        small().fit_parquet(tmp_path, "label")


# --- errors ---------------------------------------------------------------------------------------


def changed(**columns):
    return lambda frame: frame.assign(**columns)


def holes(column, row, value=np.nan):
    return lambda frame: frame.assign(**{column: np.where(frame.index == row, value, 1.0)})


def same(frame):
    return frame


PRICED = {"costs": {"fn": "amount", "fp": 1}}


@pytest.mark.parametrize(
    ("change", "arguments", "says"),
    [
        (lambda f: f[:0], {}, "have no rows"),
        (same, {"target": "fraud"}, "1.parquet has no column 'fraud'"),
        (same, {"features": ["a", "zz"]}, "no column 'zz'"),
        (same, {"features": ["a", "label"]}, "other than the target"),
        (same, {"features": []}, "at least one"),
        (same, {"batch_rows": 0}, "'batch_rows' parameter.*integer >= 1, got 0"),
        (same, {"costs": {"fn": "amount"}}, "'costs' parameter.*must give both 'fn'"),
        (same, {"costs": {"fn": "city", "fp": 1}}, "must hold numbers, got"),
        (same, {"costs": {"fn": "price", "fp": 1}}, "no column 'price'"),
        (same, {"costs": {"fn": 0, "fp": 0}}, "nothing to learn"),
        (same, {"costs": lambda rows: np.ones(3)}, "'costs' parameter"),
        (same, {"costs": "city"}, "'city' must hold numbers.*(Paris|Oslo|Bern)"),
        (changed(label=1), {}, "only one class"),
        (changed(label=np.linspace(0, 1, N)), {}, "Unknown label type: continuous"),
        (changed(a=np.inf), {}, "contains infinity: .*column 'a', row 0"),
        (changed(amount=np.nan), PRICED, "missing on 200 rows of X, first on row 0"),
        (holes("amount", 450), PRICED, "missing on 1 row of X, first on row 450.*rows out.$"),
        (changed(w=-1), {"sample_weight": "w"}, "sample_weight.*>= 0"),
        (changed(w=0), {"sample_weight": "w"}, "zero on all rows"),
        (holes("w", 450), {"sample_weight": "w"}, "sample_weight.*finite.*row 0 is row 400 of"),
    ],
)
def test_errors_of_tables(tmp_path, change, arguments, says):
    change(table()).to_parquet(tmp_path / "1.parquet")
    with pytest.raises(ValueError, match=says):
        small().fit_parquet(tmp_path, **({"target": "label", "batch_rows": 200} | arguments))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda f: f.drop(columns="a"), "2.parquet has no column 'a'"),
        (changed(new=1), "1.parquet has no column 'new'"),
        (changed(a="text"), "must agree on what their columns hold.*Field a"),
        (holes("label", 10), r"missing in row 610"),
    ],
)
def test_errors_of_a_later_file(tmp_path, change, says):
    table().to_parquet(tmp_path / "1.parquet")
    change(table()).to_parquet(tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=says):
        small().fit_parquet(tmp_path, "label", batch_rows=500)


def test_a_class_of_a_later_file_counts(tmp_path):
    table().to_parquet(tmp_path / "1.parquet")
    table(n_classes=3).to_parquet(tmp_path / "2.parquet")
    assert small(n_estimators=2).fit_parquet(tmp_path, "label").classes_.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="two classes only, and there are 3"):
        small().fit_parquet(tmp_path, "label", **PRICED)


@pytest.mark.parametrize(
    ("arguments", "paths", "kind", "says"),
    [
        ({"cv": 5}, ".", ValueError, "cv='auto'"),
        ({"effort": "high"}, ".", ValueError, "effort='balanced'"),
        ({"n_iter_no_change": 0}, ".", ValueError, "n_iter_no_change"),
        ({}, ".", ValueError, r"No file matches .*\*\.parquet"),
        ({}, "x.parquet", ValueError, "There is no file"),
        ({}, [], ValueError, "have no rows"),
        ({}, 3, TypeError, "a pattern, a folder"),
        ({}, ["empty"], ValueError, "no readable Parquet file"),
    ],
    ids=str,
)
def test_errors_of_parameters_and_paths(tmp_path, monkeypatch, arguments, paths, kind, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(kind, match=says):
        small().set_params(**arguments).fit_parquet(paths, "label")
