"""CostBoostClassifier on a real cluster of two worker processes."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

pytest.importorskip("distributed")
pytest.importorskip("xgboost")

import dask.array as da
import dask.dataframe as dd
from costboost.gbm.folds import HoldOut, strata
from distributed import Client, LocalCluster

from costboost import CostBoostClassifier
from costboost.costs import Costs, per_row
from costboost.dask import DaskCostBoostClassifier, WorkerLostError
from costboost.datasets import make_fraud
from costboost.gbm.sources.dask.guard import Crew, _gone

# One process of the test run, so that one cluster is started.
pytestmark = pytest.mark.xdist_group("dask")

N = 6000
CHUNK = 1600  # the last partition is smaller
EXACT = {"subsample": 1.0, "colsample": 1.0, "random_state": 0}
ALL_ROWS = {**EXACT, "early_stopping": False, "n_estimators": 30}


@pytest.fixture(scope="module")
def client():
    cluster = LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        memory_limit="1GiB",
        dashboard_address=":0",
    )
    with cluster, Client(cluster) as client:
        yield client


def rows(array, chunk=CHUNK):
    return da.from_array(array, chunks=(chunk, *array.shape[1:]))


def frauds(seed):
    data = make_fraud(N, random_state=seed)
    # Few values per column, so that one machine and the cluster find the same bins.
    return np.round(data.X, 1), data.y, per_row(fn=data.amount, fp=5)


def four_classes(seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((N, 5)), 1)
    utility = X @ np.random.default_rng(7).standard_normal((5, 4)) + rng.gumbel(size=(N, 4))
    X[rng.random(X.shape) < 0.05] = np.nan
    costs = rng.lognormal(size=(N, 4, 4)) * (1 - np.eye(4))
    return X, np.array(["a", "b", "c", "d"])[utility.argmax(axis=1)], costs


@pytest.fixture(scope="module")
def fraud():
    return frauds(0)


@pytest.fixture(scope="module")
def fraud_model(client, fraud):
    """Early stopping, both heads."""
    X, y, costs = fraud
    model = DaskCostBoostClassifier(**EXACT, n_estimators=60, patience=5, client=client)
    return model.fit(rows(X), rows(y), costs=rows(costs))


def on_one_machine(**arguments):
    return CostBoostClassifier(engine="xgboost", ensemble=1, effort="fast", n_jobs=1, **arguments)


# --- the same as on one machine ----------------------------------------------------------------


def spread(client, array, chunk=CHUNK):
    """Rows whose partitions lie on the workers in turns."""
    addresses = sorted(client.scheduler_info()["workers"])
    starts = range(0, len(array), chunk)
    parts = [array[s : s + chunk] for s in starts]
    held = [client.scatter(p, workers=[addresses[i % 2]]) for i, p in enumerate(parts)]
    return da.concatenate(
        [da.from_delayed(h, p.shape, p.dtype) for h, p in zip(held, parts, strict=True)]
    )


@pytest.fixture
def crews(monkeypatch):
    """Workers that took part in each training."""
    seen = []
    needs = Crew.needs

    def note(self, addresses):
        needs(self, addresses)
        seen.append(self.addresses)

    monkeypatch.setattr(Crew, "needs", note)
    return seen


def test_two_classes_match_one_machine(client, fraud, crews):
    X, y, costs = fraud
    many = DaskCostBoostClassifier(**ALL_ROWS)
    for _ in range(3):  # a busy scheduler may move the rows of one worker to the other
        crews.clear()
        data = [spread(client, part) for part in (X, y, costs)]
        many.fit(*data[:2], costs=data[2])
        if [len(crew) for crew in crews] == [2, 2]:
            break
    assert [len(crew) for crew in crews] == [2, 2]  # else nothing would be compared
    one = on_one_machine(**ALL_ROWS).fit(X, y, costs=costs)
    X_test, y_test, costs_test = frauds(1)
    np.testing.assert_allclose(
        many.predict_proba(rows(X_test)).compute(), one.predict_proba(X_test), atol=1e-5
    )
    np.testing.assert_allclose(many.cost_matrix_, one.cost_matrix_)
    assert (many.predict(rows(X_test)).compute() == one.predict(X_test)).mean() > 0.999
    saved = many.score(rows(X_test), rows(y_test), costs=rows(costs_test))
    assert saved == pytest.approx(one.score(X_test, y_test, costs=costs_test), abs=0.005)
    assert not hasattr(many, "estimated_savings_")


def test_many_classes_with_costs_of_rows_match_one_machine(client):
    X, y, costs = four_classes(0)
    many = DaskCostBoostClassifier(**ALL_ROWS).fit(rows(X), rows(y), costs=rows(costs))
    one = on_one_machine(**ALL_ROWS).fit(X, y, costs=costs)
    X_test, y_test, costs_test = four_classes(1)
    np.testing.assert_allclose(
        many.predict_proba(rows(X_test)).compute(), one.predict_proba(X_test), atol=1e-3
    )
    np.testing.assert_allclose(
        many.to_local().decision_function(X_test), one.decision_function(X_test), atol=1e-2
    )
    saved = many.score(rows(X_test), rows(y_test), costs=rows(costs_test))
    assert saved == pytest.approx(one.score(X_test, y_test, costs=costs_test), abs=0.01)


def parted(y, costs=None):
    """The rows that random_state=0 trains on and holds out."""
    classes, codes = np.unique(y, return_inverse=True)
    seed = int(np.random.RandomState(0).randint(np.iinfo(np.int32).max))
    known = Costs.resolve(None, costs, classes=classes, codes=codes)
    held = HoldOut(5, seed).mask(strata(known))
    return np.flatnonzero(~held), np.flatnonzero(held)


def test_early_stopping_matches_one_machine(fraud, fraud_model):
    X, y, costs = fraud
    train, held_out = parted(y, costs)
    assert len(held_out) == pytest.approx(N / 5, abs=4)
    one = on_one_machine(**EXACT, n_estimators=60, patience=5).fit(X, y, costs=costs)
    (fold,) = one._last_fit.plan.folds
    np.testing.assert_array_equal(fold.rows, train)
    np.testing.assert_array_equal(fold.held_out, held_out)
    assert abs(fraud_model.n_iter_ - one.n_iter_) <= 1
    assert fraud_model.temperature_ == pytest.approx(one.temperature_, rel=0.02)
    for name in ("estimated_savings_", "estimated_savings_without_costs_"):
        np.testing.assert_allclose(getattr(fraud_model, name), getattr(one, name), atol=0.02)
    assert fraud_model.estimated_cost_ == pytest.approx(one.estimated_cost_, rel=0.02)


def test_many_classes_stop_early_by_the_loss_of_all_workers(client):
    X, y, costs = four_classes(0)
    arguments = {
        **EXACT,
        "decision": "learned",
        "n_estimators": 200,
        "learning_rate": 0.3,
        "patience": 5,
    }
    many = DaskCostBoostClassifier(**arguments).fit(rows(X), rows(y), costs=rows(costs))
    one = on_one_machine(**arguments, cv=[parted(y, costs)]).fit(X, y, costs=costs)
    assert many.n_iter_ < 100
    assert abs(many.n_iter_ - one.n_iter_) <= 3
    np.testing.assert_allclose(many.estimated_savings_, one.estimated_savings_, atol=0.05)
    saved = many.score(rows(X), rows(y), costs=rows(costs))
    assert saved == pytest.approx(many.to_local().score(X, y, costs=costs))
    assert saved == pytest.approx(one.score(X, y, costs=costs), abs=0.02)
    with pytest.raises(AttributeError, match="knows no probabilities"):
        many.predict_proba(rows(X))


def test_workers_may_be_threads_of_one_process():
    X, y, costs = (part[:2000] for part in four_classes(0))
    arguments = {**ALL_ROWS, "n_estimators": 5, "decision": "learned"}
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        with client.as_current():
            data = [spread(client, part, 500) for part in (X, y, costs)]
        many = DaskCostBoostClassifier(**arguments, client=client)
        many.fit(*data[:2], costs=data[2])
    one = on_one_machine(**arguments).fit(X, y, costs=costs)
    np.testing.assert_allclose(
        many.to_local().decision_function(X), one.decision_function(X), atol=1e-5
    )


@pytest.mark.parametrize("loss", ["cost_logistic", "gll"])
def test_losses_of_the_library_match_one_machine(client, fraud, loss):
    X, y, _ = fraud
    arguments = {**EXACT, "loss": loss, "n_estimators": 20, "cost_matrix": {"fn": 5, "fp": 1}}
    many = DaskCostBoostClassifier(**arguments).fit(rows(X), rows(y))
    one = on_one_machine(**arguments, cv=[parted(y)]).fit(X, y)
    assert many.n_iter_ == one.n_iter_
    np.testing.assert_allclose(
        many.to_local().decision_function(X), one.decision_function(X), atol=1e-2
    )


def test_result_depends_neither_on_partitions_nor_on_workers(client, fraud):
    X, y, costs = fraud
    arguments = {"n_estimators": 10, "random_state": 3, "subsample": 1.0, "decision": "bayes"}
    both = DaskCostBoostClassifier(**arguments).fit(rows(X), rows(y), costs=rows(costs))
    address = next(iter(client.scheduler_info()["workers"]))
    with_one = [client.persist(rows(part, 2500), workers=[address]) for part in (X, y, costs)]
    one = DaskCostBoostClassifier(**arguments).fit(*with_one[:2], costs=with_one[2])
    np.testing.assert_allclose(
        both.predict_proba(rows(X)).compute(), one.predict_proba(rows(X)).compute(), atol=1e-3
    )


# --- input -------------------------------------------------------------------------------------


def frame_of(n=N, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "kind": pd.Categorical(rng.choice(["x", "y", "z"], n), ["z", "y", "x", "never"]),
            "size": np.round(rng.standard_normal(n), 1),
        }
    )
    odds = frame["size"] + np.where(frame["kind"] == "y", 2.0, -1.0)
    frame["label"] = np.where(odds + rng.logistic(size=n) > 0, "yes", "no")
    frame["price"] = rng.lognormal(size=n)
    frame.loc[rng.random(n) < 0.05, "size"] = np.nan
    return frame


def test_frames_with_categories(client):
    local = frame_of()
    frame = dd.from_pandas(local, npartitions=3)
    names = ["kind", "size"]
    many = DaskCostBoostClassifier(**ALL_ROWS).fit(
        frame[names], frame["label"], costs=frame["price"], sample_weight=frame["price"]
    )
    one = on_one_machine(**ALL_ROWS)
    one.fit(local[names], local["label"], local["price"], costs=local["price"].to_numpy())
    proba = many.predict_proba(frame[names])
    assert list(proba.columns) == ["no", "yes"]
    np.testing.assert_allclose(proba.compute(), one.predict_proba(local[names]), atol=1e-3)
    labels = many.predict(frame[names]).compute()
    assert labels.index.equals(local.index)
    assert (labels.to_numpy() == one.predict(local[names])).mean() > 0.995
    served = many.to_local()
    assert list(served.feature_names_in_) == names
    strange = pd.DataFrame({"kind": ["new", None], "size": [0.5, 0.5]})
    assert np.ptp(served.predict_proba(strange)[:, 0]) == 0  # unseen is missing
    saved = many.score(frame[names], frame["label"], costs=frame["price"])
    alone = one.score(local[names], local["label"], costs=local["price"])
    assert saved == pytest.approx(alone, abs=0.01)


def test_text_columns_are_refused(client):
    frame = dd.from_pandas(frame_of(200).astype({"kind": str}), npartitions=2)
    with pytest.raises(ValueError, match=r"categorize\(columns=\['kind'\]\)"):
        DaskCostBoostClassifier().fit(frame[["kind", "size"]], frame["label"])


def test_empty_partitions_and_unknown_sizes(client, fraud):
    X, y, _ = fraud
    X, y = rows(X), rows(y)
    chosen = rows(np.arange(N)) >= CHUNK  # nothing is left of the first partition
    model = DaskCostBoostClassifier({"fn": 20, "fp": 1}, n_estimators=30, random_state=0)
    model.fit(X[chosen], y[chosen])
    labels = model.predict(X[chosen])
    assert np.isnan(labels.shape[0])
    assert len(labels.compute()) == N - CHUNK


def test_rows_in_memory_are_refused_and_labels_in_memory_taken(client, fraud):
    X, y, _ = fraud
    with pytest.raises(TypeError, match="from_array"):
        DaskCostBoostClassifier().fit(X, y)
    model = DaskCostBoostClassifier(n_estimators=2, early_stopping=False)
    assert model.fit(rows(X), y, sample_weight=np.ones(N)).classes_.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "costs", "message"),
    [
        ({}, np.ones(N - 1), "an entry for each of the 6000 rows"),
        ({}, np.zeros(N), "nothing to learn"),
        ({"loss": "cost_logistic"}, np.ones(N), "one cost matrix for all rows"),
        ({"patience": 0}, None, "'patience' parameter of DaskCostBoostClassifier"),
        ({"cost_matrix": [[0, 1, 2]]}, None, "cost_matrix"),
    ],
)
def test_errors(client, fraud, arguments, costs, message):
    X, y, _ = fraud
    with pytest.raises(ValueError, match=message):
        DaskCostBoostClassifier(**arguments).fit(rows(X), rows(y), costs=costs)


def test_partitions_that_do_not_match(client):
    frame = dd.from_pandas(frame_of(600), npartitions=3)
    with pytest.raises(ValueError, match="must have the partitions of X, 3"):
        DaskCostBoostClassifier().fit(frame[["size"]], frame["label"].repartition(npartitions=2))
    other = dd.from_pandas(frame_of(603), npartitions=3)
    with pytest.raises(ValueError, match=r"partition . of y has 201 rows, that of X 200"):
        DaskCostBoostClassifier().fit(frame[["size"]], other["label"])


def test_one_class_is_refused(client, fraud):
    X, y, _ = fraud
    with pytest.raises(ValueError, match="only one class"):
        DaskCostBoostClassifier().fit(rows(X), rows(np.zeros_like(y)))


# --- the estimator -----------------------------------------------------------------------------


def test_predictions_are_lazy_and_serving_is_the_same(fraud, fraud_model):
    X, _, costs = fraud
    labels = fraud_model.predict(rows(X), rows(costs))
    assert isinstance(labels, da.Array)
    assert labels.chunks == rows(X).chunks[:1]
    served = pickle.loads(pickle.dumps(fraud_model.to_local()))
    np.testing.assert_array_equal(labels.compute(), served.predict(X, costs))
    np.testing.assert_array_equal(fraud_model.predict(rows(X)).compute(), served.predict(X))
    assert served.n_iter_ == fraud_model.n_iter_
    assert served.estimated_savings_ == fraud_model.estimated_savings_


def test_attributes(fraud_model):
    assert set(fraud_model.heads_) == {"probability", "decision"}
    assert fraud_model.boosters_ == fraud_model.heads_["probability"].boosters
    assert fraud_model.boosters_ == [fraud_model.booster_]
    assert fraud_model.feature_importances_.sum() == pytest.approx(1.0)
    assert fraud_model.cost_matrix_.shape == (2, 2)
    low, high = fraud_model.estimated_savings_[1:]
    assert low < fraud_model.estimated_savings_.value < high


def test_clone_keeps_the_client_and_pickle_drops_it(client, fraud_model):
    copy = clone(fraud_model)
    assert copy.client is client
    assert not hasattr(copy, "classes_")
    assert pickle.loads(pickle.dumps(fraud_model)).client is None


def test_verbose_says_what_is_done(client, fraud, capsys):
    X, y, _ = fraud
    DaskCostBoostClassifier(n_estimators=2, early_stopping=False, verbose=1).fit(rows(X), rows(y))
    said = capsys.readouterr().out
    assert "training the probability booster" in said
    assert "2 rounds" in said


# --- a worker dies -----------------------------------------------------------------------------


def is_training(client):
    return any(str(key).startswith("fn-") for keys in client.processing().values() for key in keys)


def fit_and_kill(client, model, data):
    """Kill a worker in the middle of the training: what fit raised, or None."""
    outcome = []

    def fit():
        try:
            model.fit(*map(rows, data))
            outcome.append(None)
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=fit, daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while not is_training(client):
        assert time.monotonic() < deadline, "the training did not begin"
        time.sleep(0.05)
    time.sleep(0.5)
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    thread.join(timeout=30)
    assert not thread.is_alive(), "fit hangs"
    return outcome[0]


def test_a_killed_worker_is_an_error_and_the_next_fit_works(client, fraud):
    model = DaskCostBoostClassifier(
        n_estimators=100_000, early_stopping=False, client=client, random_state=0
    )
    error = fit_and_kill(client, model, fraud[:2])
    assert isinstance(error, WorkerLostError), error
    assert "lost the worker tcp://" in str(error)
    assert "Call fit again" in str(error)
    assert not hasattr(model, "classes_")
    client.wait_for_workers(2, timeout=30)
    again = model.set_params(n_estimators=3).fit(*map(rows, fraud[:2]))
    assert again.n_iter_ == 3


def test_a_worker_of_the_same_address_is_another_one_if_its_process_is():
    known = {"a": "folder 1", "b": "folder 2"}
    assert _gone({"a", "b"}, known, known) == set()
    assert _gone({"a", "b"}, known, {"b": "folder 2"}) == {"a"}
    assert _gone({"a", "b"}, known, {**known, "b": "folder 3"}) == {"b"}
    assert _gone({"c"}, known, {**known, "c": "folder 4"}) == set()


def test_without_a_client(fraud, monkeypatch):
    def nothing():
        raise ValueError("No global client found")

    monkeypatch.setattr("costboost.gbm.sources.dask.guard.get_client", nothing)
    with pytest.raises(RuntimeError, match="found no Dask client"):
        DaskCostBoostClassifier().fit(rows(fraud[0]), rows(fraud[1]))
