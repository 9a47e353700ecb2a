"""CostBoostClassifier on a cluster; `test_sources` compares it with memory and Parquet files."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from itertools import chain

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

pytest.importorskip("distributed")
pytest.importorskip("xgboost")

import dask.array as da
import dask.dataframe as dd
import xgboost
from distributed import Client, LocalCluster

import costboost.dask
from costboost import CostBoostClassifier
from costboost.costs import per_row
from costboost.dask import DaskCostBoostClassifier, WorkerLostError
from costboost.datasets import make_fraud
from costboost.decisions import Rate

# One process of the test run, so that one cluster is started.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("dask")]

N = 1000
CHUNK = 300  # the last partition is smaller
SMALL = {"n_estimators": 8, "learning_rate": 0.3, "colsample": 1.0, "random_state": 0}
ALL_ROWS = {**SMALL, "early_stopping": False}


def rows(array, chunk=CHUNK):
    return da.from_array(array, chunks=(chunk, *array.shape[1:]))


@pytest.fixture(scope="module")
def fraud():
    data = make_fraud(N, random_state=0)
    # Few values per column, so that one machine and the cluster find the same bins.
    return np.round(data.X), data.y, per_row(fn=data.amount, fp=5)


@pytest.fixture(scope="module")
def model(client, fraud):
    """Early stopping, both heads."""
    X, y, costs = fraud
    model = DaskCostBoostClassifier(**SMALL, n_iter_no_change=3, client=client)
    return model.fit(rows(X), rows(y), costs=rows(costs))


def on_one_machine(path, frame, costs, weight=None, **arguments):
    """A fit on a Parquet file: XGBoost grows the trees, too."""
    frame.to_parquet(path)
    model = CostBoostClassifier(effort="fast", n_jobs=1, **{"subsample": 1.0, **arguments})
    names = [name for name in frame if name not in ("label", weight)]
    return model.fit_parquet(path, "label", costs=costs, sample_weight=weight, features=names)


# --- workers --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def processes():
    """Two workers that are processes."""
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, memory_limit="1GiB", dashboard_address=":0"
    )
    with cluster, Client(cluster, set_as_default=False) as client:
        yield client


def spread(client, array, chunk=CHUNK):
    """Rows whose partitions lie on the workers in turns."""
    addresses = sorted(client.scheduler_info()["workers"])
    parts = [array[s : s + chunk] for s in range(0, len(array), chunk)]
    # By a key of its own: one made of the content would be let go of by the try before.
    held = [client.scatter(p, workers=[addresses[i % 2]], hash=False) for i, p in enumerate(parts)]
    with client.as_current():
        arrays = [da.from_delayed(h, p.shape, p.dtype) for h, p in zip(held, parts, strict=True)]
    return da.concatenate(arrays)


@pytest.mark.parametrize("arguments", [ALL_ROWS, SMALL], ids=["all rows", "some held out"])
def test_rows_of_both_workers_count(processes, fraud, tmp_path, monkeypatch, arguments):
    (X, y, costs), trained, train = fraud, [], costboost.dask.xgb_dask.train

    async def noting(client, parameters, matrix, **options):
        trained.append(len(matrix.worker_map))
        return await train(client, parameters, matrix, **options)

    monkeypatch.setattr(costboost.dask.xgb_dask, "train", noting)
    many = DaskCostBoostClassifier(**arguments, client=processes)
    for _ in range(3):  # a busy scheduler may move the rows of one worker to the other
        trained.clear()
        A, a, prices = (spread(processes, part) for part in fraud)
        many.fit(A, a, costs=prices)
        if set(trained) == {2}:
            break
    assert set(trained) == {2}  # else nothing would be compared
    named = pd.DataFrame(X).add_prefix("x")
    one = on_one_machine(tmp_path / "rows", named.assign(label=y), lambda rows: costs, **arguments)
    served = many.to_local()
    assert (served.cost_model_ is None) == (one.cost_model_ is None)
    np.testing.assert_allclose(many.cost_matrix_, one.cost_matrix_)
    for name, close in (("predict_proba", 1e-4), ("decision_function", 1e-3)):
        found, expected = getattr(served, name)(X), getattr(one, name)(named)
        np.testing.assert_allclose(found, expected, atol=close)


@pytest.mark.parametrize("given", [{"subsample": 0.8}, {"engine_params": {"subsample": 0.5}}])
def test_row_samples_do_not_repeat(client, fraud, given, capsys):
    X, y = map(rows, fraud[:2])
    arguments = {**ALL_ROWS, "n_estimators": 2, "verbose": 1, **given}
    model = DaskCostBoostClassifier(**arguments, client=client)
    with pytest.raises(ValueError, match="subsample=1, or random_state=None"):
        model.fit(X, y)
    assert model.set_params(random_state=None).fit(X, y).n_iter_ == 2
    said = capsys.readouterr().out
    assert "training the probability booster" in said and "2 rounds" in said


@pytest.mark.parametrize("k, shape", [(1, (0,)), (5, (0, 5))])
def test_a_worker_without_rows_keeps_the_number_of_scores(k, shape):
    # XGBoost compares the columns of the gradient with the classes of the model, and the scores
    # that it hands over have lost them: their shape is (0,).
    target = type("Target", (), {"is_log_loss": False, "n_scores": k})()
    data = xgboost.DMatrix(np.empty((0, 3)), label=np.empty(0))
    g, h = costboost.dask.derivatives(target, np.empty(0, np.float32), data)
    assert g.shape == h.shape == shape


# --- input ----------------------------------------------------------------------------------------


def frame_of(n=N, seed=0):
    rng = np.random.default_rng(seed)
    kind = pd.Categorical(rng.choice(["x", "y", "z"], n), ["z", "y", "x", "never"])
    frame = pd.DataFrame({"kind": kind, "size": np.round(rng.standard_normal(n), 1)})
    odds = frame["size"] + np.where(frame["kind"] == "y", 2.0, -1.0)
    frame["label"] = np.where(odds + rng.logistic(size=n) > 0, "yes", "no")
    frame["price"] = rng.lognormal(size=n)
    frame.loc[rng.random(n) < 0.05, "size"] = np.nan
    return frame


def test_frames(client, tmp_path):
    """Columns are learned from all partitions; answers have the index of the frame."""
    local = frame_of()
    local["when"] = pd.date_range("2025-01-01", periods=len(local), freq="h").astype(str)
    local["text"] = local["size"].astype(str)
    local.loc[::60, "size"] = 1e300  # beyond single precision
    local["row_id"] = [f"r{i}" for i in range(len(local))]
    local["zone"] = np.arange(len(local)) % 5
    names = ["kind", "size", "text", "when", "row_id", "zone"]
    frame, Z = dd.from_pandas(local, npartitions=3), local[names]
    X, given = frame[names], {**ALL_ROWS, "columns": {"row_id": "ignore", "zone": "category"}}
    many = DaskCostBoostClassifier(**given, client=client)
    many.fit(X, frame["label"], costs=frame["price"], sample_weight=frame["price"])
    rows = local[[*names, "label", "price"]]
    one = on_one_machine(tmp_path / "rows", rows, "price", "price", **given)
    assert list(many.columns_) == list(one.columns_)
    proba, labels = many.predict_proba(X), many.predict(X).compute()
    assert list(proba.columns) == ["no", "yes"]
    np.testing.assert_allclose(proba.compute(), one.predict_proba(Z), atol=1e-4)
    assert labels.index.equals(local.index)
    assert (labels.to_numpy() == one.predict(Z)).mean() > 0.995
    served = many.to_local()
    assert list(served.feature_names_in_) == names
    strange = Z[:2].astype({"kind": str}).assign(kind=["new", None], when=Z["when"][0])
    strange[["size", "text", "zone"]] = 0.5, "0.5", 1
    assert np.ptp(served.predict_proba(strange)[:, 0]) == 0  # unseen is missing
    alone = one.score(Z, local["label"], costs=local["price"])
    saved = many.score(X, frame["label"], costs=frame["price"])
    assert saved == pytest.approx(alone, abs=0.01)
    limits = {"capacity": {"yes": 5}, "per": "zone"}
    np.testing.assert_array_equal(
        many.decide(X, **limits).labels, served.decide(Z, **limits).labels
    )
    told = served.explain(Z).to_frame().set_axis(Z.index)
    pd.testing.assert_frame_equal(many.explain(X).compute(), told, check_dtype=False)


def test_columns_of_a_frame_from_files_have_its_partitions(client, tmp_path):
    """Dask would read files of few columns several at a time."""
    pytest.importorskip("pyarrow")
    local = frame_of(400).drop(columns="kind")
    for i in range(4):
        local[i::4].to_parquet(tmp_path / f"{i}.parquet")
    frames = dd.read_parquet(f"{tmp_path}/*.parquet"), dd.from_map(lambda i: local[i::4], range(4))
    fitted = [
        DaskCostBoostClassifier(**SMALL, client=client).fit(
            frame[["size"]], frame["label"], costs=frame["price"]
        )
        for frame in frames
    ]
    proba = [model.predict_proba(frames[1][["size"]]).compute() for model in fitted]
    np.testing.assert_allclose(*proba, rtol=1e-5)  # sums of floats in another order
    assert np.ptp(proba[0], axis=0).max() > 0.01


def test_empty_partitions_and_unknown_sizes(client, fraud):
    X, y = map(rows, fraud[:2])
    chosen = rows(np.arange(N)) >= CHUNK  # nothing is left of the first partition
    model = DaskCostBoostClassifier({"fn": 20, "fp": 1}, **SMALL, client=client)
    labels = model.fit(X[chosen], y[chosen]).predict(X[chosen])
    assert np.isnan(labels.shape[0])
    assert len(labels.compute()) == N - CHUNK
    with pytest.raises(ValueError, match="sizes are unknown; got 1"):
        model.fit(X[chosen], fraud[1][CHUNK:])


@pytest.mark.parametrize(
    ("arguments", "given", "message"),
    [
        ({}, {"costs": np.ones(N - 1)}, f"an entry for each of the {N} rows"),
        ({}, {"costs": np.zeros(N)}, "nothing to learn"),
        ({"loss": "cost_logistic"}, {"costs": np.ones(N)}, "one cost matrix for all rows"),
        ({"n_iter_no_change": 0}, {}, "'n_iter_no_change' parameter of DaskCostBoostClassifier"),
        ({"cost_matrix": [[0, 1, 2]]}, {}, "cost_matrix"),
        ({}, {"y": None}, "y is None"),
        ({}, {"y": np.zeros(N)}, "only one class"),  # labels in memory are taken
        ({}, {"y": np.full(N, np.nan)}, "missing labels"),
        ({}, {"sample_weight": np.zeros(N)}, "zero on all rows"),
    ],
)
def test_errors(client, fraud, arguments, given, message):
    X, y, _ = fraud
    model = DaskCostBoostClassifier(**arguments, client=client)
    with pytest.raises(ValueError, match=message):
        model.fit(**{"X": rows(X), "y": rows(y), **given})
    with pytest.raises((TypeError, ValueError), match=r"from_array|n_iter_no_change"):
        model.fit(X, y)


def test_errors_of_frames(client):
    model = DaskCostBoostClassifier(client=client)
    frame = dd.from_pandas(frame_of(600), npartitions=3)
    with pytest.raises(ValueError, match="must have the 3 partitions of X"):
        model.fit(frame[["size"]], frame["label"].repartition(npartitions=2))
    other = dd.from_pandas(frame_of(603), npartitions=3)
    with pytest.raises(ValueError, match=r"partition . of y has 201 rows, that of X 200"):
        model.fit(frame[["size"]], other["label"])


# --- the estimator --------------------------------------------------------------------------------


def test_predictions_are_lazy_and_serving_is_the_same(fraud, model):
    (X, y, costs), A, served = fraud, rows(fraud[0]), pickle.loads(pickle.dumps(model.to_local()))
    labels = model.predict(A)
    assert isinstance(labels, da.Array) and labels.chunks == A.chunks[:1]
    np.testing.assert_array_equal(model.predict_proba(A), served.predict_proba(X))
    for name in ("predict", "predict_cost"):
        for told, known in ((None, None), (rows(costs), costs)):
            found = getattr(model, name)(A, costs=told).compute()
            np.testing.assert_array_equal(found, getattr(served, name)(X, costs=known))
    for weights in (None, np.arange(N)):
        known = served.score(X, y, weights, costs=costs)
        assert model.score(A, y, weights, costs=costs) == pytest.approx(known)
    with pytest.raises(ValueError, match="pass costs="):
        model.score(A, y)
    with pytest.raises(ValueError, match=r"y must hold only the classes .*, got \[2\]"):
        model.score(A, np.full(N, 2), costs=costs)


def test_decisions_within_limits_and_explanations_are_those_of_one_machine(fraud, model):
    X, _, costs = fraud
    local, day = model.to_local(), np.arange(N) % 3
    limits = {"capacity": {1: 20}, "per": day}, {"constraints": Rate(1, given=1, at_least=0.9)}
    for limit in limits:
        found = model.decide(rows(X), costs=rows(costs), **limit)
        expected = local.decide(X, costs=costs, **limit)
        np.testing.assert_array_equal(found.labels, expected.labels)
        np.testing.assert_allclose(found.expected_cost, expected.expected_cost)
        assert (found.labels != local.predict(X, costs=costs)).any()
    told = model.explain(rows(X), costs=rows(costs)).compute().reset_index(drop=True)
    pd.testing.assert_frame_equal(told, local.explain(X, costs=costs).to_frame())
    with pytest.raises(TypeError, match=r"to_local\(\)"):
        model.explain(X)


def test_costs_over_columns(client, fraud):
    """A mapping of names: the same as the matrices that follow from it."""
    X, y, _ = fraud
    named, many = {"fn": "x0 + 1", "fp": 5}, dd.from_pandas(pd.DataFrame(X).add_prefix("x"), 4)
    labels, sizes = dd.from_pandas(pd.Series(y), 4), tuple(map(len, many.partitions))
    arrays = da.from_array(per_row(fn=X[:, 0] + 1, fp=5), chunks=(sizes, 2, 2))
    one, other = (
        DaskCostBoostClassifier(client=client, **SMALL).fit(many, labels, costs=costs)
        for costs in (named, arrays)
    )
    np.testing.assert_allclose(one.cost_matrix_, other.cost_matrix_)
    for costs, same in ((named, arrays), (None, None)):
        expected = other.predict_cost(many, costs=same).compute()
        found = one.predict_cost(many, costs=costs).compute()
        np.testing.assert_allclose(found, expected, rtol=1e-5)  # workers add up in any order
    saved = other.score(many, labels, costs=arrays)
    assert one.score(many, labels, costs=named) == pytest.approx(saved)


def test_attributes_clone_and_pickle(client, model):
    assert list(model.evals_result_) == ["probability"]
    assert model.boosters_ == [model.booster_]
    assert model.estimated_score_.low < model.estimated_score_.value
    assert not hasattr(model, "nothing_") and not hasattr(DaskCostBoostClassifier(), "classes_")
    copy = clone(model)
    assert copy.client is client and not hasattr(copy, "classes_")
    assert pickle.loads(pickle.dumps(model)).client is None


def test_learned_decisions_know_no_probabilities(client, fraud):
    X, y, costs = map(rows, fraud)
    learned = DaskCostBoostClassifier([[0, 1], [5, 0]], loss="gll", **ALL_ROWS, client=client)
    learned.fit(X, y)
    with pytest.raises(ValueError, match="no probabilities"):
        learned.predict_proba(X)
    assert learned.score(X, y, costs=costs) == learned.to_local().score(*fraud[:2], costs=fraud[2])


# --- lost workers ---------------------------------------------------------------------------------


def test_a_worker_killed_in_the_training_is_an_error_and_the_next_fit_works(processes, fraud):
    model = DaskCostBoostClassifier(**{**ALL_ROWS, "n_estimators": 100_000}, client=processes)
    parts, errors = [rows(part) for part in fraud[:2]], []

    def fit():
        with pytest.raises(WorkerLostError, match=r"lost the worker tcp://.*Call fit again") as one:
            model.fit(*parts)
        errors.append(one.value)

    thread = threading.Thread(target=fit, daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while not any(str(key).startswith("fn-") for key in chain(*processes.processing().values())):
        assert time.monotonic() < deadline, "the training did not begin"
        time.sleep(0.05)
    time.sleep(0.5)
    os.kill(next(iter(processes.run(os.getpid).values())), signal.SIGKILL)
    thread.join(timeout=30)
    assert errors, "fit hangs, or another error was raised"
    assert not hasattr(model, "classes_")
    processes.wait_for_workers(2, timeout=30)
    assert model.set_params(n_estimators=3).fit(*parts).n_iter_ == 3


def test_a_worker_of_the_same_address_is_another_one_if_its_process_is():
    gone = costboost.dask._gone
    a, b, other = ({"local_directory": f"folder {i}"} for i in range(3))
    known = {"a": a, "b": b}
    assert gone({"a", "b"}, known, known) == set()
    assert gone({"a", "b"}, known, {"b": b}) == {"a"}
    assert gone({"a", "b"}, known, {**known, "b": other}) == {"b"}
    assert gone({"c"}, known, {**known, "c": other}) == set()


def silent(states, needed=()):
    """Who is silent for 10 seconds; each worker has (status, tasks) and whether it is heard of."""
    signs = {}
    for now in (0, 9, 11):
        workers = {
            name: {
                "last_seen": now if is_heard else 0,
                "status": status,
                "metrics": {"task_counts": {"executing": tasks}},
            }
            for name, (status, tasks, is_heard) in states.items()
        }
        found = costboost.dask.silent_workers(workers, set(needed), signs, now, 10)
        assert now == 11 or not found
    return found


def test_workers_that_are_silent_or_have_no_memory():
    well, mute, full = ("running", 0, True), ("running", 0, False), ("paused", 0, True)
    assert silent({"a": well, "b": mute}) == {"b": "does not answer"}
    stuck = {"a": "has no memory left to begin its work"}
    assert silent({"a": full, "b": well}, needed="a") == stuck
    assert silent({"a": full}) == stuck  # all of them are
    assert silent({"a": full, "b": well}) == silent({"a": full, "b": well}, needed="b") == {}
    assert silent({"a": ("paused", 1, True)}, needed="a") == {}  # it works
    # Whoever no longer answers may have been paused before.
    assert silent({"a": ("paused", 0, False), "b": well}) == {"a": "does not answer"}


def test_without_a_client(fraud, monkeypatch):
    def nothing():
        raise ValueError("No global client found")

    monkeypatch.setattr(costboost.dask, "get_client", nothing)
    with pytest.raises(RuntimeError, match="found no Dask client"):
        DaskCostBoostClassifier().fit(rows(fraud[0]), rows(fraud[1]))
