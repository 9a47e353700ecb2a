"""Folds that are trained at the same time: the same models as one after the other."""

from __future__ import annotations

import threading
import warnings
from dataclasses import replace
from itertools import groupby

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from costboost import CostBoostClassifier, _threads
from costboost.costs import per_row
from costboost.datasets import make_fraud
from costboost.gbm import lightgbm, settings

COSTLY = {"fn": 20, "fp": 1}

pytestmark = pytest.mark.filterwarnings(
    "ignore::costboost.CollapseWarning", "ignore:Held-out rows:costboost.errors.CostWarning"
)


@pytest.fixture(scope="module")
def fraud():
    return make_fraud(400, random_state=0)


def make(**options):
    small = {"n_estimators": 12, "random_state": 0, "refit": True, "cv": 3}
    return CostBoostClassifier(COSTLY, **{**small, **options})


@pytest.fixture
def used(monkeypatch):
    """Of each training: the name of its thread, its threads, its seed, and threads of BLAS."""
    found, fit = [], lightgbm.fit_boosting

    def noted(training):
        name = threading.current_thread().name
        found.append((name, training.n_threads, training.fold.seed, blas()))
        return fit(training)

    monkeypatch.setattr(lightgbm, "fit_boosting", noted)
    return found


def blas():
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return {library.num_threads for library in found}


def together(used):
    return any(name.startswith("costboost") for name, *_ in used)


def told(model, X):
    members = [member._replace(seconds=0.0) for member in model.members_]
    estimates = model.estimated_score_, model.temperature_
    return model.decision_function(X), members, estimates, model.evals_result_


@pytest.mark.parametrize("options", [
    {}, {"effort": "high"},
    {"loss": "cost_logistic", "effort": "fast"},
], ids=str)  # fmt: skip
def test_the_models_are_the_same_to_the_last_bit(fraud, options):
    """On a frame with categories and missing values, with weights and costs of rows."""
    letters = np.where(fraud.X[:, 0] > 0, "a", np.where(fraud.X[:, 1] > 0, "b", "c"))
    X = pd.DataFrame(fraud.X).add_prefix("x").assign(kind=pd.Categorical(letters))
    X.loc[::7, "x1"] = np.nan
    more = {"sample_weight": np.arange(400) % 4, "costs": per_row(fn=fraud.amount, fp=5)}
    models = [make(n_jobs=n, **options).fit(X, fraud.y, **more) for n in (1, 3)]
    np.testing.assert_equal(*(told(model, X) for model in models))


def test_threads_are_shared_out_and_seeds_differ(fraud, used):
    make(n_jobs=7, effort="fast").fit(fraud.X, fraud.y)
    folds, last = used[:3], used[3:]
    assert all(name.startswith("costboost") and threads == 2 for name, threads, *_ in folds)
    assert len({seed for _, _, seed, _ in folds}) == 3
    assert [threads for _, threads, *_ in last] == [7]  # the booster of all rows has them all
    used.clear()
    make(n_jobs=1).fit(fraud.X, fraud.y)
    assert not together(used)
    assert {threads for _, threads, *_ in used} == {1}


@pytest.mark.parametrize("cores, limit, expected", [(4, "", True), (4, "1", False), (1, "", False)])
def test_without_a_number_all_cores_are_used(fraud, used, monkeypatch, cores, limit, expected):
    monkeypatch.setattr(_threads, "cpu_count", lambda: cores)
    monkeypatch.setenv("OMP_NUM_THREADS", limit)
    make().fit(fraud.X, fraud.y)
    assert together(used) is expected
    assert {threads for _, threads, *_ in used} == {1}


@pytest.mark.parametrize("what", ["time_limit", "callbacks", "verbose", "large"])
def test_what_hears_of_rounds_goes_one_by_one(fraud, used, what, monkeypatch, capsys):
    options, more, heard = {}, {}, []
    if what == "callbacks":
        more["callbacks"] = lambda told: heard.append((told.member, told.booster))
    elif what == "large":
        monkeypatch.setattr(settings, "DEFAULTS", replace(settings.DEFAULTS, together_numbers=100))
    else:
        options[what] = 1000
    make(n_jobs=3, **options).fit(fraud.X, fraud.y, **more)
    assert not together(used)
    boosters = [pair for pair, _ in groupby(heard)]
    assert len(boosters) == len(set(boosters))


def test_an_error_in_one_fold_ends_the_others(fraud, monkeypatch):
    ended, started = [], threading.Event()
    fit = lightgbm.fit_boosting

    def broken(training):
        if training.number == 0:
            started.wait(5)
            raise RuntimeError("no more memory")
        started.set()
        model = fit(training)
        ended.append(training.is_over.is_set())
        return model

    monkeypatch.setattr(lightgbm, "fit_boosting", broken)
    model = make(n_jobs=2, n_estimators=100_000, early_stopping=False, effort="fast")
    with pytest.raises(RuntimeError, match="no more memory"):
        model.fit(fraud.X, fraud.y)
    assert not hasattr(model, "model_")
    assert ended and all(ended)  # they were told to end


@pytest.mark.parametrize("threads", [1, 2])
def test_filters_and_threads_of_the_process_stay_as_they_are(fraud, used, threads):
    """Products of matrices use one thread meanwhile, so that a seed gives the same network."""
    before = list(warnings.filters)
    with threadpool_limits(threads, user_api="blas"):
        limits = blas()
        make(n_jobs=3).fit(fraud.X, fraud.y)
        assert blas() == limits
    assert list(warnings.filters) == before
    assert set().union(*(found for *_, found in used)) == {1}
