"""Decisions that are not classes (accept, review, block), from memory, Parquet files and Dask."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from costboost import CostBoostClassifier
from costboost.metrics import avoidable_cost_score

pytest.importorskip("xgboost")
da = pytest.importorskip("dask.array")
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


def labelled(frame):
    """The rows' matrices as a mapping: they name their decisions."""
    return {**COLUMNS, ("fraud", "accept"): frame["amount"].to_numpy()}


def brute_force(proba, prices):
    return np.array(DECISIONS)[np.einsum("nk,nkd->nd", proba, prices).argmin(axis=1)]


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
class TestMemory:
    def make(self, costs, engine, **options):
        return CostBoostClassifier(
            costs,
            engine=engine,
            ensemble=3,
            effort="fast",
            n_jobs=1,
            **{**OPTIONS, **options},
        )

    def test_one_matrix(self, frame, engine):
        X, y = frame[NAMES], frame["label"]
        model = self.make(STATIC, engine).fit(X, y)
        assert model.decisions_.tolist() == DECISIONS
        assert model.classes_.tolist() == ["fraud", "ok"]
        assert model.cost_matrix_.tolist() == STATIC.loc[["fraud", "ok"]].to_numpy().tolist()
        prices = np.tile(model.cost_matrix_, (N, 1, 1))
        decided = model.predict(X)
        np.testing.assert_array_equal(decided, brute_force(model.predict_proba(X), prices))
        assert set(decided) <= set(DECISIONS)
        assert len(set(decided)) > 1
        assert model.predict_proba(X).shape == (N, 2)
        assert model.predict_cost(X).shape == (N, 3)
        assert list(model.staged_predict(X))[-1].tolist() == decided.tolist()
        paid = STATIC.to_numpy()[
            [CLASSES.index(t) for t in y], [DECISIONS.index(d) for d in decided]
        ].sum()
        totals = np.sum([STATIC.loc[t] for t in y], axis=0)
        assert model.score(X, y) == pytest.approx(1 - paid / totals.min())
        assert 0 < model.estimated_score_.value < 1

    def test_expressions_are_matrices_of_rows(self, frame, engine):
        X, y = frame[NAMES], frame["label"]
        model = self.make(COLUMNS, engine).fit(X, y)
        assert list(model.heads_) == ["probability"]  # predict always knows the costs
        np.testing.assert_array_equal(
            model.predict(X), brute_force(model.predict_proba(X), matrices(frame))
        )
        assert model.score(X, y) == pytest.approx(
            avoidable_cost_score(
                y, model.predict(X), costs=matrices(frame), decisions=DECISIONS,
                labels=["fraud", "ok"],
            )
        )  # fmt: skip

    def test_costs_of_rows(self, frame, engine):
        X, y = frame[["a", "b"]], frame["label"]
        model = self.make(None, engine).fit(X, y, costs=labelled(frame))
        assert list(model.heads_) == ["probability", "price 0/0"]
        assert model.decisions_.tolist() == DECISIONS
        np.testing.assert_array_equal(
            model.predict(X, costs=matrices(frame)),
            brute_force(model.predict_proba(X), matrices(frame)),
        )
        expected = model.predict_cost(X)
        np.testing.assert_array_equal(
            model.predict(X), np.array(DECISIONS)[expected.argmin(axis=1)]
        )
        np.testing.assert_allclose(
            expected[:, 1:], model.predict_cost(X, costs=matrices(frame))[:, 1:]
        )
        assert model.estimated_score_.value > model.estimated_score_without_costs_.value > 0
        assert model.score(X, y, costs=labelled(frame)) > 0


# --- sources ------------------------------------------------------------------------------------


def three(frame, folder, client, costs, early_stopping):
    """The same classifier from memory, Parquet files and Dask; ``costs`` is the constructor's."""
    options = {**OPTIONS, "early_stopping": early_stopping}
    make = lambda: CostBoostClassifier(  # noqa: E731
        costs, engine="xgboost", ensemble=1, n_jobs=1, **options
    )
    for i, part in enumerate(np.array_split(np.arange(N), 3)):
        frame.iloc[part].to_parquet(folder / f"{i}.parquet", row_group_size=70)
    parts = dd.from_pandas(frame, npartitions=3)
    many = DaskCostBoostClassifier(costs, client=client, **options)
    return {
        "memory": make().fit(frame[NAMES], frame["label"]),
        "parquet": make().fit_parquet(folder, "label", features=NAMES, batch_rows=130),
        "dask": many.fit(parts[NAMES], parts["label"]),
    }


@pytest.mark.parametrize("early_stopping", [True, False])
@pytest.mark.parametrize("costs", [STATIC, COLUMNS], ids=["one matrix", "expressions"])
def test_sources_decide_alike(frame, tmp_path, client, costs, early_stopping):
    models = three(frame, tmp_path, client, costs, early_stopping)
    one, X, y = models["memory"], frame[NAMES], frame["label"]
    parts = dd.from_pandas(frame, npartitions=2)
    for name, model in models.items():
        assert model.decisions_.tolist() == DECISIONS, name
        np.testing.assert_allclose(model.cost_matrix_, one.cost_matrix_)
        assert hasattr(model, "estimated_score_") == early_stopping
        if early_stopping:
            np.testing.assert_allclose(
                model.estimated_score_, one.estimated_score_, atol=1e-6, err_msg=name
            )
        local = model if name != "dask" else model.to_local()
        np.testing.assert_array_equal(local.predict(X), one.predict(X), name)
        assert local.score(X, y) == pytest.approx(one.score(X, y))
    assert len(set(one.predict(X))) == 3
    decided = models["dask"].predict(parts[NAMES]).compute()
    np.testing.assert_array_equal(decided, one.predict(X))
    assert models["dask"].score(parts[NAMES], parts["label"]) == pytest.approx(one.score(X, y))
    written = models["parquet"].predict_parquet(tmp_path, tmp_path.with_suffix(".decided"))
    np.testing.assert_array_equal(pd.read_parquet(written)["decision"], one.predict(X))


def test_prices_of_rows_are_learned_alike(frame, tmp_path, client):
    """Costs of rows given to fit: matrices that name their decisions."""
    options = {**OPTIONS, "n_estimators": 8}
    frame.to_parquet(tmp_path / "all.parquet", row_group_size=100)
    memory, files = (
        CostBoostClassifier(engine="xgboost", ensemble=1, n_jobs=1, **options) for _ in range(2)
    )
    told = []
    memory.fit(frame[NAMES], frame["label"], costs=labelled(frame), callbacks=lambda told: None)
    files.fit_parquet(tmp_path, "label", costs=COLUMNS, features=NAMES, callbacks=told.append)
    for head, (found,) in memory.evals_result_.items():
        heard = [r.held_out_cost for r in told if r.head == head]
        np.testing.assert_allclose(heard, found["held_out"]["cost"])
    for model in (memory, files):
        assert list(model.heads_) == ["probability", "price 0/0"]
        assert model.decisions_.tolist() == DECISIONS
    np.testing.assert_array_equal(files.predict(frame[NAMES]), memory.predict(frame[NAMES]))
    np.testing.assert_allclose(files.estimated_score_, memory.estimated_score_, atol=1e-6)
    np.testing.assert_allclose(
        files.estimated_score_without_costs_, memory.estimated_score_without_costs_, atol=1e-6
    )
    costs = labelled(frame)
    assert files.score(frame[NAMES], frame["label"], costs=costs) == pytest.approx(
        memory.score(frame[NAMES], frame["label"], costs=costs)
    )


def test_dask_learns_prices_of_three_decisions(frame, client):
    """Costs of rows as an (n, k, d) array; the decisions are those of cost_matrix."""
    X = da.from_array(frame[NAMES].to_numpy(), chunks=(200, 3))
    y = da.from_array(frame["label"].to_numpy(dtype="U5"), chunks=200)
    costs = da.from_array(matrices(frame), chunks=(200, 2, 3))
    many = DaskCostBoostClassifier(STATIC, client=client, **OPTIONS).fit(X, y, costs=costs)
    one = CostBoostClassifier(STATIC, engine="xgboost", ensemble=1, n_jobs=1, **OPTIONS)
    one.fit(frame[NAMES].to_numpy(), frame["label"], costs=matrices(frame))
    assert list(many.heads_) == list(one.heads_) == ["probability", "price 0/0"]
    assert many.decisions_.tolist() == one.decisions_.tolist()
    rows = frame[NAMES].to_numpy()
    np.testing.assert_array_equal(many.predict(X).compute(), one.predict(rows))
    np.testing.assert_array_equal(
        many.predict(X, costs=costs).compute(), one.predict(rows, costs=matrices(frame))
    )
    np.testing.assert_allclose(many.estimated_score_, one.estimated_score_, atol=1e-6)
    for head, (found,) in many.evals_result_.items():  # the workers tell losses, no costs
        assert list(found["held_out"]) == ["loss"]
        expected = one.evals_result_[head][0]["held_out"]["loss"]
        np.testing.assert_allclose(found["held_out"]["loss"], expected, rtol=1e-4)
    assert many.score(X, y, costs=costs) == pytest.approx(
        one.score(rows, frame["label"], costs=matrices(frame))
    )
