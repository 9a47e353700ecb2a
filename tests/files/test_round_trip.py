"""A model that was saved and loaded answers as before, to the last bit; some are not saved."""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline

from costboost.errors import ModelFileError
from costboost.files import inspect, load, save
from costboost.files.container import to_json
from costboost.files.state import Decoder, Encoder
from files.models import CASES, answers, fitted, make, rows, same


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
    assert save(copy, path).read_bytes() == first


def test_rules_are_written_once(path):
    copy = load(save(fitted("AdaC2Classifier")[0], path))
    assert all(a is b for a, b in zip(copy.estimators_, copy._ensemble.rules, strict=True))


VALUES = [
    None, True, "ä\ud800\x00", 10**30, -0.0, 5e-324, float("inf"), (1, (2.0, "x")),
    [[], {}, ()], {("a", 1): [np.float32(0.1)], None: (2, 3), 1.5: "u"},
    np.float64("nan"), np.int8(-3), np.bool_(True), np.str_("größe"), np.float32,
    np.datetime64("2024-02-29", "D"), np.array([1.5, np.nan, -0.0], dtype=">f4"),
    np.array(["a", "ccc"]), np.array([b"a", b"c"]), np.zeros((0, 3)), np.array(7),
    np.array(["a", None, np.nan, 3, (1, 2)], dtype=object), np.arange(4000.0).reshape(10, 400),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda v: type(v).__name__ + repr(v)[:20])
def test_values_keep_type_and_bits(value):
    encoder = Encoder()
    state = to_json(encoder.value([value, value], "value"))
    copy, again = Decoder(b"".join(encoder.arrays), frozenset()).root(state)
    assert again is copy or repr(again) == repr(copy)
    assert type(copy) is type(value)
    if isinstance(value, np.ndarray):
        assert copy.dtype == value.dtype and copy.shape == value.shape
        assert repr(copy.tolist()) == repr(value.tolist())
    elif not isinstance(value, type):
        assert repr(copy) == repr(value)


def test_what_is_not_saved_says_why(path):
    called = make(
        "CostBoostClassifier", cost_matrix=lambda X: np.tile(1 - np.eye(2), (len(X), 1, 1))
    )
    bagged = {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}
    forest = LGBMClassifier(n_estimators=5, n_jobs=1, verbosity=-1, **bagged)
    for model, words in (
        (called, "expression"),
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
