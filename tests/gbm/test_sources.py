"""One small table through all three sources: the same classes, totals, targets and trees."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("distributed")
pytest.importorskip("xgboost", minversion="3.0")

import dask.array as da
import dask.dataframe as dd
import xgboost
from costboost.gbm.blocks import Block, Features, Pricing
from costboost.gbm.settings import Settings
from costboost.gbm.sources.memory import MemorySource, make_plan
from distributed import Client, LocalCluster

from costboost import CostBoostClassifier
from costboost.dask import DaskCostBoostClassifier
from costboost.gbm.parquet import ParquetSource
from costboost.gbm.sources.dask.source import DaskSource
from costboost.gbm.train import tasks_for, train

# One process of the test run, so that one cluster is started.
pytestmark = pytest.mark.xdist_group("dask")

N = 900
NAMES = ["a", "b", "c"]
OPTIONS = {
    "n_estimators": 12,
    "learning_rate": 0.3,
    "patience": 3,
    "subsample": 1.0,
    "colsample": 1.0,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def client():
    """Workers that are threads: the sources are compared, not the network."""
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def table(k):
    """Few distinct values, so that all sources find the same quantiles; some rows weigh nothing."""
    rng = np.random.default_rng(k)
    frame = pd.DataFrame(rng.integers(-6, 7, (N, 3)) / 2, columns=NAMES)
    frame.loc[rng.random(N) < 0.1, "b"] = np.nan
    score = frame["a"] + np.nan_to_num(frame["b"]) + rng.normal(size=N)
    codes = np.digitize(score, np.quantile(score, np.arange(1, k) / k))
    frame["label"] = np.array(["high", "low", "mid"])[codes]
    frame["weight"] = np.where(np.arange(N) % 11 == 0, 0, 1 + np.arange(N) % 3)
    frame["amount"] = np.where(rng.random(N) < 0.8, rng.lognormal(size=N).round(1), 0.0)
    return frame


def matrices(frame, k):
    if k == 2:
        found = np.zeros((len(frame), 2, 2))
        found[:, 0, 1], found[:, 1, 0] = 0.5, frame["amount"]
        return found
    base = np.array([[0.0, 2, 9], [1, 0, 3], [4, 1, 0]])
    return base * frame["amount"].to_numpy()[:, None, None]


FORMS = {
    "one matrix": lambda frame, k: None,
    "matrices": matrices,
    "prices of errors": lambda frame, k: frame["amount"].to_numpy(),
}
MATRIX = {2: np.array([[0.0, 1], [5, 0]]), 3: np.array([[0.0, 2, 9], [1, 0, 3], [4, 1, 0]])}


class Table:
    """The same rows and costs for each source."""

    def __init__(self, k, form, folder, client, **options):
        self.frame = table(k)
        self.X = self.frame[NAMES].to_numpy()
        self.k = k
        self.costs = FORMS[form](self.frame, k)
        self.form = form
        self.client = client
        self.settings = Settings.of(
            CostBoostClassifier(
                MATRIX[k], engine="xgboost", ensemble=1, n_jobs=1, **{**OPTIONS, **options}
            )
        )
        for i, part in enumerate(np.array_split(np.arange(N), 3)):
            self.frame.iloc[part].to_parquet(folder / f"{i}.parquet", row_group_size=70)
        self.folder = folder

    def memory(self):
        frame, weights = self.frame, self.frame["weight"].to_numpy(float)
        classes, codes = np.unique(frame["label"], return_inverse=True)
        known = Pricing(MATRIX[self.k], classes, "test").resolve(self.costs, None, codes)
        block = Block(self.X, known, weights).weighted()
        plan = make_plan(block, weights, self.settings)
        columns = Features(3, np.asarray(NAMES, dtype=object))
        return MemorySource(block, columns, plan, has_row_costs=self.costs is not None)

    def parquet(self):
        costs = {
            "one matrix": None,
            "matrices": lambda rows: matrices(rows, self.k),
            "prices of errors": "amount",
        }[self.form]
        return ParquetSource(
            self.folder, "label", costs, "weight", NAMES, 130, MATRIX[self.k], self.settings
        )

    def dask(self):
        frame = dd.from_pandas(self.frame, npartitions=4)
        costs = None
        if self.form == "prices of errors":
            costs = frame["amount"]
        elif self.form == "matrices":
            sizes = tuple(len(part) for part in frame.partitions)
            costs = da.from_array(self.costs, chunks=(sizes, self.k, self.k))
        return DaskSource(
            self.client,
            frame[NAMES],
            frame["label"],
            costs,
            frame["weight"],
            MATRIX[self.k],
            self.settings,
        )

    def sources(self):
        return {"memory": self.memory(), "parquet": self.parquet(), "dask": self.dask()}


def tasks(source, settings):
    return tasks_for(settings, source.totals, source.classes, has_row_costs=source.has_row_costs)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("form", FORMS)
def test_sources_agree(tmp_path, client, k, form):
    rows = Table(k, form, tmp_path, client)
    sources = rows.sources()
    one = sources.pop("memory")
    expected = train(one, rows.settings)
    held = one.held_out()
    trained_on = one.block.X[one.plan.folds[0].rows]
    assert 0.15 * N < len(held) < 0.25 * N
    for source in sources.values():
        # classes, columns, seeds
        np.testing.assert_array_equal(source.classes, one.classes)
        assert source.features.names.tolist() == NAMES
        assert source.seeds == one.seeds
        # held-out rows
        other = source.held_out()
        np.testing.assert_array_equal(other.costs.codes, held.costs.codes)
        np.testing.assert_allclose(other.costs.prices, held.costs.prices)
        np.testing.assert_array_equal(other.weights, held.weights)
        # totals
        assert source.totals.rows == one.totals.rows == np.count_nonzero(rows.frame["weight"])
        assert source.totals.held_out_rows == len(held)
        for name in ("weight", "label_weight", "label_gain", "mean_stakes", "mean_costs"):
            np.testing.assert_allclose(getattr(source.totals, name), getattr(one.totals, name))
        # targets: the same columns for the same rows
        for ours, theirs in zip(
            tasks(source, rows.settings), tasks(one, rows.settings), strict=True
        ):
            assert ours.target.name == theirs.target.name
            found = ours.target.columns(held.costs, held.weights)
            wanted = theirs.target.columns(held.costs, held.weights)
            np.testing.assert_array_equal(found.labels, wanted.labels)
            np.testing.assert_allclose(found.weights, wanted.weights)
            if wanted.gains is not None:
                np.testing.assert_allclose(found.gains, wanted.gains)
        # boosters, calibration, estimates
        fitted = train(source, rows.settings)
        np.testing.assert_allclose(fitted.costs.mean, expected.costs.mean)
        assert list(fitted.heads) == list(expected.heads)
        for name, head in fitted.heads.items():
            assert_same_trees(head.boosters, expected.heads[name].boosters, trained_on)
            assert head.temperature == pytest.approx(expected.heads[name].temperature, rel=1e-3)
        np.testing.assert_allclose(fitted.estimates.savings, expected.estimates.savings, atol=1e-6)
        assert fitted.estimates.cost == pytest.approx(expected.estimates.cost)


def assert_same_trees(ours, theirs, X):
    """As many trees, and every training row falls into the same leaf of each, of the same value.

    Between thresholds that have no training row between them, rounding errors decide.
    """
    rows = xgboost.DMatrix(X)
    for one, other in zip(ours, theirs, strict=True):
        leaves = [booster.predict(rows, pred_leaf=True) for booster in (one, other)]
        np.testing.assert_array_equal(*leaves)
        scores = [booster.predict(rows, output_margin=True) for booster in (one, other)]
        np.testing.assert_allclose(*scores, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("k", [2, 3])
def test_estimators_agree(tmp_path, client, k):
    """The same through the public classes, all rows trained on."""
    frame = table(k)
    frame.to_parquet(tmp_path / "all.parquet", row_group_size=100)
    options = {**OPTIONS, "early_stopping": False}
    one, files = (
        CostBoostClassifier(MATRIX[k], engine="xgboost", ensemble=1, n_jobs=1, **options)
        for _ in range(2)
    )
    one.fit(frame[NAMES], frame["label"], frame["weight"])
    files.fit_parquet(tmp_path, "label", None, "weight", NAMES, batch_rows=200)
    parts = dd.from_pandas(frame, npartitions=3)
    many = DaskCostBoostClassifier(MATRIX[k], client=client, **options)
    many.fit(parts[NAMES], parts["label"], parts["weight"])
    trained_on = frame.loc[frame["weight"] > 0, NAMES]
    for other in (files, many.to_local()):
        assert_same_trees(other.boosters_, one.boosters_, trained_on)
        assert isinstance(other.boosters_, list)
        np.testing.assert_allclose(
            other.predict_proba(trained_on), one.predict_proba(trained_on), atol=1e-5
        )


@pytest.mark.parametrize("source", ["memory", "parquet"])
@pytest.mark.parametrize("given", [{}, {"max_cat_to_onehot": 2}], ids=str)
def test_xgboost_splits_categories_off_one_at_a_time(source, given, tmp_path):
    rng = np.random.RandomState(0)
    kind = rng.randint(0, 12, 600)
    y = (np.isin(kind, [1, 4, 6, 9]) ^ (rng.rand(600) < 0.1)).astype(int)
    frame = pd.DataFrame({"kind": pd.Categorical([f"k{code}" for code in kind]), "y": y})
    model = CostBoostClassifier(
        engine="xgboost",
        effort="fast",
        n_estimators=10,
        learning_rate=0.3,
        n_jobs=1,
        random_state=0,
        engine_params=given,
    )
    if source == "memory":
        model.fit(frame[["kind"]], frame["y"])
    else:
        frame.to_parquet(tmp_path / "rows.parquet")
        model.set_params(ensemble=1).fit_parquet(tmp_path, "y")
    trees = json.loads(bytes(model.booster_.save_raw("json")))
    trees = trees["learner"]["gradient_booster"]["model"]["trees"]
    # What goes right is one category, or all but one.
    sizes = [min(size, 12 - size) for tree in trees for size in tree["categories_sizes"]]
    assert sizes
    assert (max(sizes) <= 1) is (not given)
