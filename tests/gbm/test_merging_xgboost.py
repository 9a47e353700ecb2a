"""XGBoost boosters merged into one: the weighted sum of their scores."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

import costboost
from costboost import CostBoostClassifier
from costboost.files.onnx_graph import forest_of
from costboost.gbm.engines.merging_xgboost import merged_xgboost

pytestmark = pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")


def table(k, n=300):
    rng = np.random.RandomState(1)
    X = rng.randn(n, 4)
    X[:, 3] = rng.randint(0, 6, n)
    X[rng.rand(n, 4) < 0.05] = np.nan
    score = np.nan_to_num(X[:, 0]) + (X[:, 3] == 2) + 0.3 * rng.randn(n)
    return X, np.digitize(score, [0.2, 1.5][: k - 1])


def matrix(X, y=None):
    types = ["q", "q", "q", "c"]
    return xgb.DMatrix(X, y, feature_types=types, enable_categorical=True)


def boosters(k):
    X, y = table(k)
    objective = "binary:logistic" if k == 2 else "multi:softprob"
    parameters = {"objective": objective, "nthread": 1, "max_depth": 3}
    if k > 2:
        parameters["num_class"] = k
    # Other rows, so other base scores; the last one starts far from the others.
    return [
        xgb.train({**parameters, **more}, matrix(X[some], y[some]), rounds)
        for some, rounds, more in (
            (slice(0, 150), 2, {}),
            (slice(100, 300), 4, {}),
            (slice(0, 300, 2), 3, {"base_score": 0.02}),
        )
    ]


@pytest.mark.parametrize("k", [2, 3])
def test_scores_are_the_weighted_sum(k):
    parts, weights, X = boosters(k), [0.2, 0.5, 0.3], table(k)[0]
    merged = merged_xgboost(parts, weights)
    for options in ({"output_margin": True}, {"pred_contribs": True}):
        expected = sum(
            w * b.predict(matrix(X), **options) for w, b in zip(weights, parts, strict=True)
        )
        found = merged.predict(matrix(X), **options)
        np.testing.assert_allclose(found, expected, atol=2e-6)
    assert merged.num_boosted_rounds() == 2 + 4 + 3


@pytest.mark.parametrize("k", [2, 3])
def test_it_is_an_ordinary_booster(k, tmp_path):
    X = table(k)[0]
    merged = merged_xgboost(boosters(k), [0.2, 0.5, 0.3])
    scores = merged.predict(matrix(X), output_margin=True)
    merged.save_model(tmp_path / "merged.ubj")
    loaded = xgb.Booster(model_file=tmp_path / "merged.ubj")
    np.testing.assert_array_equal(loaded.predict(matrix(X), output_margin=True), scores)
    # The library's own reader of such models, which ONNX graphs are made by, takes it.
    forest = forest_of(merged)
    assert forest is not None
    # Rounds can be left out: those of the first booster alone.
    first = merged[:2].predict(matrix(X), output_margin=True)
    assert np.isfinite(first).all()
    assert not np.allclose(first, scores)


@pytest.mark.parametrize("k", [2, 3])
def test_the_booster_of_a_classifier(k, tmp_path):
    X, y = table(k)
    kinds = pd.Categorical.from_codes(np.nan_to_num(X[:, 3], nan=-1).astype(int), list("abcdef"))
    frame = pd.DataFrame(X[:, :3], columns=["x", "y", "z"]).assign(kind=kinds)
    model = CostBoostClassifier(
        engine="xgboost", effort="fast", ensemble=3, n_estimators=8, n_jobs=1, random_state=0
    ).fit(frame, y)
    assert len(model.boosters_) == 3
    rows = model._checked(frame)
    rows = rows[np.isfinite(rows[:, 3])]
    raw = model.temperature_ * model.booster_.predict(rows, raw_score=True)
    scores = model.heads_["probability"].scores(rows)
    np.testing.assert_allclose(raw, scores, atol=2e-6)
    path = model.save(tmp_path / "model.costboost")
    loaded = costboost.load(tmp_path / "model.costboost" if path is None else path)
    again = loaded.booster_.predict(rows, raw_score=True)
    np.testing.assert_allclose(model.temperature_ * again, raw, atol=1e-7)


def test_boosting_with_dropout_cannot_be_merged():
    X, y = table(2)
    options = {"booster": "dart", "objective": "binary:logistic", "nthread": 1}
    parts = [xgb.train(options, matrix(X, y), 2) for _ in range(2)]
    with pytest.raises(AttributeError, match=r"'dart'.*boosters_"):
        merged_xgboost(parts, [0.5, 0.5])
