"""Decisions that are not classes (accept, review, block), from memory, Parquet files and Dask."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from costboost import CostBoostClassifier

pytest.importorskip("xgboost")
dd = pytest.importorskip("dask.dataframe")
pytest.importorskip("distributed")

from costboost.dask import DaskCostBoostClassifier  # noqa: E402

pytestmark = [
    pytest.mark.xdist_group("dask"),
    pytest.mark.filterwarnings("ignore::costboost.CollapseWarning"),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
]

N = 600
NAMES = ["a", "b", "amount"]
DECISIONS = ["accept", "review", "block"]
CLASSES = ["ok", "fraud"]
STATIC = pd.DataFrame([[0.0, 1, 6], [9, 2, 0]], index=CLASSES, columns=DECISIONS)
# The same in every form: the price of a fraud that is accepted is the amount of the row.
COLUMNS = {
    ("ok", "accept"): 0, ("ok", "review"): 1, ("ok", "block"): 3,
    ("fraud", "accept"): "amount", ("fraud", "review"): 2, ("fraud", "block"): 0.5,
}  # fmt: skip
OPTIONS = {
    "n_estimators": 12,
    "learning_rate": 0.3,
    "min_samples_leaf": 5,
    "subsample": 1.0,
    "colsample": 1.0,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def frame():
    """Few distinct values, so that all sources find the same quantiles."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(-6, 7, (N, 2)) / 2, columns=["a", "b"])
    table["amount"] = rng.integers(1, 30, N).astype(float)
    score = table["a"] + 0.05 * table["amount"] + rng.normal(size=N)
    table["label"] = np.where(score > 1.5, "fraud", "ok")
    return table


def matrices(frame):
    """COLUMNS written out, (n, k, d), classes in sorted order: fraud, ok."""
    found = np.zeros((len(frame), 2, 3))
    found[:, 1] = [0, 1, 3]
    found[:, 0] = [0, 2, 0.5]
    found[:, 0, 0] = frame["amount"]
    return found


def in_memory(costs, **options):
    return CostBoostClassifier(costs, effort="fast", n_jobs=1, **{**OPTIONS, **options})


@pytest.mark.parametrize("costs", [STATIC, COLUMNS], ids=["one matrix", "expressions"])
def test_sources_decide_alike(frame, tmp_path, client, costs):
    one, files = (in_memory(costs) for _ in range(2))
    frame.to_parquet(tmp_path / "all")
    for i, part in enumerate(np.array_split(np.arange(N), 3)):
        frame.iloc[part].to_parquet(tmp_path / f"{i}.parquet", row_group_size=70)
    parts = dd.from_pandas(frame, npartitions=3)
    X, y = frame[NAMES], frame["label"]
    one.fit_parquet(tmp_path / "all", "label", features=NAMES)
    assert one.classes_.tolist() == ["fraud", "ok"] and one.decisions_.tolist() == DECISIONS
    assert one.cost_model_ is None  # predict always knows the costs
    prices = matrices(frame)
    if costs is STATIC:
        prices = np.tile(STATIC.loc[["fraud", "ok"]].to_numpy(), (N, 1, 1))
        np.testing.assert_array_equal(one.cost_matrix_, prices[0])
        np.testing.assert_array_equal(list(one.staged_predict(X))[-1], one.predict(X))
    expected = np.einsum("nk,nkd->nd", one.predict_proba(X), prices)
    np.testing.assert_allclose(one.predict_cost(X), expected)
    np.testing.assert_array_equal(one.predict(X), np.array(DECISIONS)[expected.argmin(axis=1)])
    paid = prices[np.arange(N), np.where(y == "fraud", 0, 1)]
    paid = paid - paid.min(axis=1, keepdims=True)
    share = 1 - paid[np.arange(N), expected.argmin(axis=1)].sum() / paid.sum(axis=0).min()
    assert one.score(X, y) == pytest.approx(share) and 0 < one.estimated_score_.value < 1
    files.fit_parquet(tmp_path, "label", features=NAMES, batch_rows=130)
    many = DaskCostBoostClassifier(costs, client=client, **OPTIONS).fit(
        parts[NAMES], parts["label"]
    )
    for model in (files, many.to_local()):
        assert model.decisions_.tolist() == DECISIONS
        np.testing.assert_allclose(model.cost_matrix_, one.cost_matrix_)
        np.testing.assert_allclose(model.estimated_score_, one.estimated_score_, atol=1e-6)
        np.testing.assert_array_equal(model.predict(X), one.predict(X))
        assert model.score(X, y) == pytest.approx(one.score(X, y))
    assert len(set(one.predict(X))) == 3
    np.testing.assert_array_equal(many.predict(parts[NAMES]).compute(), one.predict(X))
    assert many.score(parts[NAMES], parts["label"]) == pytest.approx(one.score(X, y))
