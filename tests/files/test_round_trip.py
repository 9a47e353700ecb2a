"""A saved model answers as before, to the last bit; its file says what is inside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from lightgbm import LGBMClassifier
from scipy.sparse import csr_array
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline

from cli.conftest import run
from costboost.errors import ModelFileError
from costboost.files import FORMAT, inspect, load, save
from files.models import CASES, PRICES, answers, fitted, make, rows, same
from files.mutations import packed, unpacked


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.costboost"


@pytest.mark.parametrize("case", CASES)
def test_the_loaded_model_is_the_same(case, path):
    """In all it answers, and in the bytes of its own file."""
    model, X = fitted(case)
    first = save(model, path).read_bytes()
    copy = load(path)
    assert type(copy) is type(model)
    assert same(answers(model, X), answers(copy, X))
    # The nodes of trees of scikit-learn have bytes without a meaning.
    if "sklearn.tree" not in json.dumps(unpacked(first)[0]):
        assert save(copy, path).read_bytes() == first


def test_tables_and_costs_of_a_loaded_model_print_as_before(path):
    model, _ = fitted("lightgbm, categories")
    copy = load(save(model, path))
    for name in ("members_", "columns_", "costs_", "estimated_score_"):
        assert type(getattr(copy, name)) is type(getattr(model, name))
        assert str(getattr(copy, name)) == str(getattr(model, name))
    assert copy.with_costs({("no", "yes"): 3, ("yes", "no"): 4}).cost_matrix_.tolist() == [
        [0, 3],
        [4, 0],
    ]


def test_requests_of_routing_stay_behind(path):
    model, X = make("AdaC2Classifier"), rows()[0]
    with sklearn.config_context(enable_metadata_routing=True):
        model.set_fit_request(costs=True).fit(*rows())
    assert same(answers(load(save(model, path)), X), answers(model, X))


def test_notes_of_a_file(path):
    model, _ = fitted("AdaC2Classifier")
    assert inspect(save(model, path, notes={"weight": "w", "positive": 1}))["notes"] == {
        "weight": "w",
        "positive": 1,
    }


def test_what_is_not_saved_says_why(path):
    bagged = {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}
    forest = LGBMClassifier(n_estimators=5, n_jobs=1, verbosity=-1, **bagged)
    for model, words in (
        (SGDClassifier(), "classifier of costboost"),
        (make("MinCostClassifier", estimator=forest), "table of trees"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(*rows())
        with pytest.raises(ModelFileError, match=words):
            save(model, path)
        assert not path.exists()


@pytest.mark.parametrize(
    "estimator",
    [
        SGDClassifier(loss="log_loss", random_state=0),
        make_pipeline(SimpleImputer(), LogisticRegression()),
    ],
    ids=["SGDClassifier", "SimpleImputer"],
)
def test_types_that_are_not_known_must_be_named(estimator, path, request):
    model = make("MinCostClassifier", estimator=estimator).fit(*rows())
    save(model, path)
    with pytest.raises(ModelFileError, match=rf"\.{request.node.callspec.id}.* trusted="):
        load(path)
    copy = load(path, trusted=inspect(path)["untrusted"])
    assert same(answers(copy, rows()[0]), answers(model, rows()[0]))


def test_a_crash_leaves_the_old_file(path, monkeypatch):
    model, _ = fitted("AdaC2Classifier")
    old = save(model, path).read_bytes()
    (path.parent / "plain").touch()
    assert os.stat(path).st_mode == os.stat(path.parent / "plain").st_mode

    def crash(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.raises(OSError, match="full"):
        save(fitted("AdaC1Classifier")[0], path)
    assert path.read_bytes() == old
    assert sorted(os.listdir(path.parent)) == [path.name, "plain"]


def test_classifiers_of_boosting_libraries_leave_their_library(path):
    """XGBoost's own sums are in single precision; LightGBM's come back to the last bit."""
    xgboost = pytest.importorskip("xgboost")
    X, y = rows(3)
    for estimator, tolerance in (
        (xgboost.XGBClassifier(n_estimators=5, n_jobs=1), 1e-6),
        (LGBMClassifier(n_estimators=5, n_jobs=1, verbosity=-1), 0.0),
    ):
        model = make("MinCostClassifier", estimator=estimator).fit(X, y)
        first = save(model, path).read_bytes()
        copy = load(path)
        difference = np.abs(copy.predict_proba(X) - model.predict_proba(X)).max()
        assert difference <= tolerance
        assert save(copy, path).read_bytes() == first


# -- what a file says, without an engine ----------------------------------------------------------


def test_what_a_file_says(path):
    model, _ = fitted("lightgbm, categories")
    found = inspect(save(model, path))
    assert found["class"] == "CostBoostClassifier" and found["format"] == FORMAT
    assert found["classes"] == ["no", "yes"] and found["decisions"] == ["no", "yes"]
    names = ["amount", "größe 1", "country", "note", "id", "charge"]
    assert found["features"]["names"] == [row[0] for row in found["features"]["columns"]] == names
    kinds = ["number", "number", "category", "category", "category", "number"]
    assert [row[1] for row in found["features"]["columns"]] == kinds
    assert found["features"]["categories"]["country"] == ["at", "ch", "de", "fr"]
    assert found["estimates"]["estimated_cost_"] == model.estimated_cost_
    assert found["temperature"] == model.temperature_
    assert found["parameters"]["n_estimators"] == 4
    four, _ = fitted("CostBoostClassifier, 4 classes")
    assert inspect(save(four, path))["cost_matrix"] == four.cost_matrix_.tolist()


def test_costs_in_words(path):
    model, _ = fitted("lightgbm, columns for costs")
    found = inspect(save(model, path))
    assert found["costs"] == str(model.costs_)
    assert found["features"]["cost_columns"] == ["charge"]
    assert found["parameters"]["cost_matrix"] == PRICES


def test_no_engine_is_loaded(path):
    """XGBoost is not even imported (LightGBM is, by the library itself)."""
    model, _ = fitted("lightgbm, categories")
    save(model, path)
    code = (
        "import sys; from costboost.files import inspect; "
        f"assert inspect({str(path)!r})['classes']; assert 'xgboost' not in sys.modules; "
        "assert 'skops' not in sys.modules and 'onnx' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_text_of_the_file_cannot_draw_and_long_lists_are_cut(path):
    """Neither markup nor control characters of labels reach the terminal."""
    X, codes = rows()
    labels = [("[red]a[/red]", "b\x1b[31m")[code] for code in codes]
    save(make("AdaC2Classifier").fit(X, labels), path)
    text = run("inspect", path).stdout
    assert "[red]a" in text and "\x1b" not in text
    about = {"format": FORMAT, "class": "x", "names": [1] * 50_000, "in": "x" * 10**6}
    path.write_bytes(packed({}, {"about.json": json.dumps(about)}))
    assert len(run("inspect", path).stdout) < 50_000


def test_date_and_rows_of_the_training(path):
    X, y = rows()
    model = make("AdaC2Classifier").fit(X, y)
    before = datetime.now(UTC)
    assert before - timedelta(minutes=1) < datetime.fromisoformat(model.trained_at_) <= before
    found = inspect(model.save(path))
    assert found["trained"] == model.trained_at_
    assert found["data"] == model.data_fingerprint_
    for name in ("CostBoostClassifier", "MinCostClassifier", "CSB2M2Classifier"):
        assert fitted(name)[0].data_fingerprint_ == model.data_fingerprint_


def fingerprint(X, y):
    return make("CostBoostClassifier", n_estimators=1).fit(X, y).data_fingerprint_


@pytest.mark.filterwarnings("ignore::costboost.ColumnWarning")
@pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")
def test_fingerprints_tell_tables_apart():
    X, y = rows()
    changed, frame = X.copy(), pd.DataFrame(X, columns=list("abcd"))
    changed[100, 2] = np.nextafter(changed[100, 2], 1)
    tables = [X, changed, X[::-1], X.astype(np.float32), csr_array(X), frame]
    tables += [frame.rename(columns={"a": "e"}), frame.assign(a="x")]
    tables.append(pl.DataFrame(frame).with_columns(pl.lit("y").alias("a")))
    found = {*(fingerprint(table, y) for table in tables), fingerprint(X, 1 - y)}
    assert len(found) == len(tables) + 1
    assert fingerprint(np.asfortranarray(X), y) == fingerprint(X, y)
    assert fingerprint(pl.DataFrame(frame), y) == fingerprint(frame, y)
