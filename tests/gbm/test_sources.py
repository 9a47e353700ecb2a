"""The same rows from memory, from Parquet files and on a Dask cluster: the same model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("distributed")
pytest.importorskip("xgboost", minversion="3.0")

import dask.array as da
import dask.dataframe as dd

from costboost import CostBoostClassifier
from costboost.dask import DaskCostBoostClassifier

# One process of the test run, so that one cluster is started.
pytestmark = pytest.mark.xdist_group("dask")

N = 900
NAMES = ["a", "b", "c"]
OPTIONS = {"n_estimators": 12, "learning_rate": 0.3, "n_iter_no_change": 3, "random_state": 0}
OPTIONS |= {"subsample": 1.0, "colsample": 1.0}
MATRIX = {2: np.array([[0.0, 1], [5, 0]]), 3: np.array([[0.0, 2, 9], [1, 0, 3], [4, 1, 0]])}


def table(k):
    """Few distinct values, so that all sources find the same quantiles; some rows weigh nothing."""
    rng = np.random.default_rng(k)
    frame = pd.DataFrame(rng.integers(-6, 7, (N, 3)) / 2, columns=NAMES)
    frame.loc[rng.random(N) < 0.1, "b"] = np.nan
    score = frame["a"] + np.nan_to_num(frame["b"]) + rng.normal(size=N)
    codes = np.digitize(score, np.quantile(score, np.arange(1, k) / k))
    frame["label"] = np.array(["high", "low", "mid"])[codes]
    frame["weight"] = np.where(np.arange(N) % 11 == 0, 0, 1 + np.arange(N) % 3)
    # Later rows cost more: means of batches differ.
    amount = rng.lognormal(size=N).round(1) * (1 + np.arange(N) // 200)
    frame["amount"] = np.where(rng.random(N) < 0.8, amount, 0.0)
    return frame


def matrices(frame, k):
    return MATRIX[k] * frame["amount"].to_numpy()[:, None, None]


def sources(frame, k, form, folder, client, **options):
    """A fit from each source; costs are None, matrices of the rows, or prices of errors.

    In memory LightGBM grows the trees; of one file in one batch, of several in several batches and
    on a cluster XGBoost does.
    """
    options = {**OPTIONS, **options}
    for i, part in enumerate(np.array_split(np.arange(N), 3)):
        frame.iloc[part].to_parquet(folder / f"{i}.parquet", row_group_size=70)
    parts = dd.from_pandas(frame, npartitions=4)
    chunks = tuple(len(part) for part in parts.partitions), k, k
    chunked = da.from_array(matrices(frame, k), chunks=chunks)
    forms = {
        "one matrix": (None, None, None),
        "prices": (frame["amount"].to_numpy(), "amount", parts["amount"]),
        "matrices": (matrices(frame, k), lambda rows: matrices(rows, k), chunked),
    }
    costs = forms[form]
    memory, one, files = (
        CostBoostClassifier(MATRIX[k], effort="fast", n_jobs=1, **options) for _ in range(3)
    )
    memory.fit(frame[NAMES], frame["label"], frame["weight"], costs=costs[0])
    given = {"costs": costs[1], "sample_weight": "weight", "features": NAMES}
    files.fit_parquet(folder, "label", **given, batch_rows=130)
    frame.to_parquet(folder / "all")
    one.fit_parquet(folder / "all", "label", **given)
    many = DaskCostBoostClassifier(MATRIX[k], client=client, **options)
    many.fit(parts[NAMES], parts["label"], parts["weight"], costs=costs[2])
    return memory, one, files, many


@pytest.mark.parametrize(
    ("k", "form", "options"),
    [(k, form, {}) for k in (2, 3) for form in ("one matrix", "matrices", "prices")]
    + [(3, "matrices", {"early_stopping": False})]
    + [(2, "one matrix", {"loss": "cost_logistic"}), (3, "one matrix", {"loss": "gll"})],
    ids=str,
)
def test_sources_agree(tmp_path, client, k, form, options):
    frame = table(k)
    memory, one, *others = fits = sources(frame, k, form, tmp_path, client, **options)
    X, first = frame.loc[frame["weight"] > 0, NAMES], next(iter(one.evals_result_))
    for fit in fits:
        assert fit.classes_.tolist() == memory.classes_.tolist()
        assert fit.feature_names_in_.tolist() == NAMES
        np.testing.assert_allclose(fit.cost_matrix_, memory.cost_matrix_)
        np.testing.assert_allclose(fit.costs_.high, memory.costs_.high)
        assert len(ensembles(fit)) == len(ensembles(memory))
    for other in others:
        for ensemble, expected in zip(ensembles(other), ensembles(one), strict=True):
            assert_same_trees(ensemble.models, expected.models, X)
        if "early_stopping" in options:  # no row is held out
            assert other.n_iter_ == one.n_iter_ == 12
            assert not hasattr(other, "estimated_score_")
            continue
        losses = [m.evals_result_[first][0]["held_out"]["loss"] for m in (other, one)]
        np.testing.assert_allclose(*losses, rtol=1e-4)
        np.testing.assert_allclose(other.estimated_score_, one.estimated_score_, atol=1e-6)
        assert other.estimated_cost_ == pytest.approx(one.estimated_cost_)
        if "loss" not in options:
            assert other.temperature_ == pytest.approx(one.temperature_, rel=1e-3)
            local = other.to_local() if hasattr(other, "to_local") else other
            np.testing.assert_allclose(local.predict_cost(X), one.predict_cost(X), rtol=1e-4)
    if "loss" in options:
        with pytest.raises(ValueError, match="one cost matrix for all rows here"):
            others[0].fit_parquet(tmp_path, "label", costs="amount")


def ensembles(model):
    """All models of a fit: of the probabilities, and of costs."""
    entries = [] if model.cost_model_ is None else model.cost_model_.entries
    return [model.model_.ensemble, *(entry.ensemble for entry in entries)]


def assert_same_trees(ours, theirs, X):
    """As many trees, and every training row falls into the same leaf of each, of the same value."""
    # Between thresholds that have no training row between them, rounding errors decide.
    assert len(ours) == 1
    both = ours[0].booster, theirs[0].booster
    np.testing.assert_array_equal(*(booster.predict(X, pred_leaf=True) for booster in both))
    scores = [booster.predict(X, raw_score=True) for booster in both]
    np.testing.assert_allclose(*scores, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("source", ["memory", "parquet"])
@pytest.mark.parametrize("given", [{}, {"max_cat_to_onehot": 2}], ids=str)
def test_trees_split_categories_off_one_at_a_time(source, given, tmp_path):
    rng = np.random.RandomState(0)
    kind = rng.randint(0, 12, 600)
    y = (np.isin(kind, [1, 4, 6, 9]) ^ (rng.rand(600) < 0.1)).astype(int)
    frame = pd.DataFrame({"kind": pd.Categorical([f"k{code}" for code in kind]), "y": y})
    options = {"effort": "fast", "n_estimators": 10, "learning_rate": 0.3}
    model = CostBoostClassifier(**options, n_jobs=1, random_state=0, engine_params=given)
    if source == "memory":
        model.fit(frame[["kind"]], frame["y"])
    else:
        frame.to_parquet(tmp_path / "rows.parquet")
        model.fit_parquet(tmp_path, "y")
    # What goes one way is one category, or all but one: a word of bits for each split.
    tree_model = model.model_.ensemble.models[0]
    sizes = [(word & 0xFFF).bit_count() for word in tree_model.trees.categories.tolist()]
    assert (max(min(size, 12 - size) for size in sizes) <= 1) is (not given)
