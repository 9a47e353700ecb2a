"""Folds that are trained at the same time: the same models as one after the other."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from costboost.gbm.engines.lightgbm import LightGBMEngine
from costboost.gbm.sources import memory
from threadpoolctl import ThreadpoolController, threadpool_limits

from costboost import CostBoostClassifier, _threads
from costboost.costs import per_row
from costboost.datasets import make_fraud
from costboost.gbm import casting

COSTLY = {"fn": 20, "fp": 1}

pytestmark = pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")


@pytest.fixture(scope="module")
def fraud():
    return make_fraud(400, random_state=0)


def make(**options):
    small = {"n_estimators": 12, "random_state": 0, "refit": True, "ensemble": 3}
    return CostBoostClassifier(COSTLY, **{**small, **options})


def frame(data):
    kind = pd.Categorical(np.where(data.X[:, 0] > 0, "a", np.where(data.X[:, 1] > 0, "b", "c")))
    X = pd.DataFrame(data.X).add_prefix("x").assign(kind=kind)
    X.loc[::7, "x1"] = np.nan
    return X


@pytest.fixture
def used(monkeypatch):
    """Names of the threads that train boosters, with the threads of each booster."""
    found = []
    train = LightGBMEngine.train

    def noted(self, *arguments):
        found.append((threading.current_thread().name, self.threads))
        return train(self, *arguments)

    monkeypatch.setattr(LightGBMEngine, "train", noted)
    return found


def together(used):
    return any(name.startswith("costboost") for name, _ in used)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"effort": "high"},
        {"engine": "xgboost"},
        {"engine": "catboost"},
        {"refit": False},
        {"loss": "cost_logistic", "effort": "fast"},
    ],
    ids=str,
)
def test_the_models_are_the_same_to_the_last_bit(fraud, options):
    serial, parallel = (make(n_jobs=n, **options).fit(fraud.X, fraud.y) for n in (1, 3))
    head, other = (next(iter(model.heads_.values())) for model in (serial, parallel))
    assert head.weights == other.weights
    assert head.temperature == other.temperature
    for model, twin in zip(head.models, other.models, strict=True):
        np.testing.assert_array_equal(model.scores(fraud.X), twin.scores(fraud.X))
    assert serial.estimated_savings_ == parallel.estimated_savings_
    for member, twin in zip(serial.members_, parallel.members_, strict=True):
        assert member._replace(seconds=0.0) == twin._replace(seconds=0.0)


@pytest.mark.parametrize("kind", ["frame", "sparse", "weights", "row costs", "monotone"])
def test_so_they_are_on_any_table(fraud, kind):
    X, options, more = fraud.X, {}, {}
    if kind == "frame":
        X = frame(fraud)
    elif kind == "sparse":
        X = sp.csr_matrix(np.where(fraud.X > 0, fraud.X, 0.0))
    elif kind == "weights":
        more["sample_weight"] = np.arange(len(fraud.y)) % 4
    elif kind == "row costs":
        more["costs"] = per_row(fn=fraud.amount, fp=5)
    else:
        options["engine_params"] = {"monotone_constraints": [1] + [0] * (X.shape[1] - 1)}
    serial, parallel = (make(n_jobs=n, **options).fit(X, fraud.y, **more) for n in (1, 2))
    for name, head in serial.heads_.items():
        found = parallel.heads_[name]
        rows = serial._checked(X)
        np.testing.assert_array_equal(head.scores(rows), found.scores(rows))
        for evals, twin in zip(
            serial.evals_result_[name], parallel.evals_result_[name], strict=True
        ):
            assert evals.keys() == twin.keys()
            for rows, measures in evals.items():
                np.testing.assert_array_equal(measures["cost"], twin[rows]["cost"])


def test_kinds_race_on_the_first_fold_as_ever(fraud, monkeypatch):
    monkeypatch.setattr(casting, "_RACE_ROWS", 10)
    models = [make(n_jobs=n, effort="high").fit(fraud.X, fraud.y) for n in (1, 3)]
    notes, others = ([member.note for member in model.members_] for model in models)
    assert notes == others
    assert any(notes)
    np.testing.assert_array_equal(*(model.predict_proba(fraud.X) for model in models))


def test_a_warm_start_continues_them(fraud):
    models = []
    for n_jobs in (1, 2):
        model = make(n_jobs=n_jobs, warm_start=True, refit=False, n_estimators=5)
        model.fit(fraud.X, fraud.y).set_params(n_estimators=9)
        models.append(model.fit(fraud.X, fraud.y).predict_proba(fraud.X))
    np.testing.assert_array_equal(*models)


def test_threads_are_shared_out(fraud, used):
    make(n_jobs=7, effort="fast").fit(fraud.X, fraud.y)
    folds, last = used[:3], used[3:]
    assert all(name.startswith("costboost") and threads == 2 for name, threads in folds)
    assert [threads for _, threads in last] == [7]  # the booster of all rows has them all
    used.clear()
    make(n_jobs=1).fit(fraud.X, fraud.y)
    assert not together(used)
    assert {threads for _, threads in used} == {1}


@pytest.mark.parametrize("cores, limit, expected", [(4, "", True), (4, "1", False), (1, "", False)])
def test_without_a_number_all_cores_are_used(fraud, used, monkeypatch, cores, limit, expected):
    monkeypatch.setattr(_threads, "cpu_count", lambda: cores)
    monkeypatch.setenv("OMP_NUM_THREADS", limit)
    make().fit(fraud.X, fraud.y)
    assert together(used) is expected
    assert {threads for _, threads in used} == {1}


@pytest.mark.parametrize("what", ["time_limit", "callbacks", "checkpoint", "verbose", "large"])
def test_what_hears_of_rounds_goes_one_by_one(fraud, used, what, tmp_path, monkeypatch, capsys):
    options, more = {}, {}
    if what == "time_limit":
        options["time_limit"] = 1000.0
    elif what == "callbacks":
        heard = []
        more["callbacks"] = lambda told: heard.append((told.member, told.booster))
    elif what == "checkpoint":
        more["checkpoint"] = tmp_path / "fit.checkpoint"
    elif what == "verbose":
        options["verbose"] = 1
    else:
        monkeypatch.setattr(memory, "_TOGETHER_NUMBERS", 100)
    make(n_jobs=3, **options).fit(fraud.X, fraud.y, **more)
    assert not together(used)
    if what == "callbacks":
        assert heard == sorted(heard, key=lambda pair: (pair[0] != heard[0][0], pair[1]))


def test_an_error_in_one_fold_ends_the_others(fraud, monkeypatch):
    ended = []
    train = LightGBMEngine.train

    def broken(self, table, fold, job, *arguments):
        if job.seed == first.seeds[0]:
            started.wait(5)
            raise RuntimeError("no more memory")
        started.set()
        model, scores = train(self, table, fold, job, *arguments)
        ended.append(model.n_rounds)
        return model, scores

    class Plan:
        seeds: tuple[int, ...] = ()

    first, started = Plan(), threading.Event()
    init = memory.MemorySource.__init__

    def noted(self, *arguments, **options):
        init(self, *arguments, **options)
        first.seeds = tuple(self.seeds)

    monkeypatch.setattr(memory.MemorySource, "__init__", noted)
    monkeypatch.setattr(LightGBMEngine, "train", broken)
    model = make(n_jobs=2, n_estimators=100_000, early_stopping=False, effort="fast")
    with pytest.raises(RuntimeError, match="no more memory"):
        model.fit(fraud.X, fraud.y)
    assert not hasattr(model, "heads_")
    assert ended
    assert max(ended) < 100_000  # they were told to end


def test_warning_filters_stay_as_they_are(fraud):
    before = list(warnings.filters)
    make(n_jobs=3).fit(fraud.X, fraud.y)
    assert list(warnings.filters) == before


def test_matrix_products_use_the_threads_of_a_fold(monkeypatch, fraud):
    def limits():
        found = ThreadpoolController().select(user_api="blas").lib_controllers
        return {library.num_threads for library in found}

    seen = []
    trained = casting.Training._trained

    def noted(self, *arguments):
        seen.extend(limits())
        return trained(self, *arguments)

    monkeypatch.setattr(casting.Training, "_trained", noted)
    with threadpool_limits(2, user_api="blas"):
        before = limits()
        make(n_jobs=3).fit(fraud.X, fraud.y)
        assert limits() == before
    assert set(seen) == {1}
    seen.clear()
    with threadpool_limits(1, user_api="blas"):
        make(n_jobs=9).fit(fraud.X, fraud.y)
    assert set(seen) == {1}  # 3 are allowed, but not more than before
