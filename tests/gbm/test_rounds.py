"""What is known after each round: `evals_result_`, callbacks, eval_set, output."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import ShuffleSplit

from costboost import CostBoostClassifier
from costboost.costs import Costs
from costboost.gbm import Round, StopBoosting
from costboost.gbm.data import Fold, TrainingData
from costboost.gbm.members import MemberSpec
from costboost.gbm.objectives import LogLoss
from costboost.gbm.train import ModelTraining
from costboost.metrics import total_cost
from data import row_costs, rows

pytestmark = pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")

COSTLY = {"fn": 5, "fp": 1}
MATRIX3 = np.array([[0.0, 2, 9], [1, 0, 3], [4, 1, 0]])
THREE = pd.DataFrame([[0, 1, 6], [9, 2, 0]], index=[0, 1], columns=["accept", "review", "block"])


def make(cost_matrix=None, **options):
    small = {"n_estimators": 12, "cv": 2, "effort": "fast", "n_jobs": 1, "random_state": 0}
    return CostBoostClassifier(cost_matrix, **{**small, "learning_rate": 0.2, **options})


# --- evals_result_ ------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "costs"), [(2, COSTLY), (3, MATRIX3), (2, THREE)], ids=str)
def test_values_are_those_of_the_stages(k, costs):
    """The loss of every round, computed again from shorter fits."""
    X, y = rows(k)
    Z, z = rows(k, seed=5)
    model = make(costs, cv="auto", early_stopping=False, calibration=None)
    weights = 1.0 + np.arange(len(y)) % 3
    model.fit(X, y, weights, eval_set=(Z, z))
    (found,) = model.evals_result_["probability"]
    stages = [
        clone(model).set_params(n_estimators=n).fit(X, y, weights, eval_set=(Z, z))
        for n in range(1, 13)
    ]
    assert set(found) == {"eval_set"}
    proba = [stage.predict_proba(Z) for stage in stages]
    losses = [log_loss(z, p, labels=range(k)) for p in proba]
    np.testing.assert_allclose(found["eval_set"]["loss"], losses, rtol=1e-5)


def test_callbacks_hear_what_is_recorded_of_every_round():
    X, y = rows()
    told: list[Round] = []
    model = make(cv=3).fit(X, y, costs=row_costs(), callbacks=told.append)
    ((name, found),) = model.evals_result_.items()  # of boosters of costs nobody hears
    boosters = list(dict.fromkeys((r.head, r.booster, r.n_boosters) for r in told))
    assert boosters == [(name, i, 3) for i in (1, 2, 3)] and name == "probability"
    losses = []
    for number, (booster, measures) in enumerate(
        zip(model.model_.ensemble.models, found, strict=True)
    ):
        assert list(measures) == ["held_out"]
        mine = [r for r in told if r.booster == number + 1]
        assert [r.round for r in mine] == list(range(1, len(mine) + 1))
        assert {r.n_rounds for r in mine} == {12}
        values = measures["held_out"]
        np.testing.assert_array_equal([r.held_out_loss for r in mine], values["loss"])
        assert all(r.eval_loss is r.held_out_cost is None for r in mine)
        losses.append(values["loss"] * np.bincount(np.arange(300) % 3)[0])
        assert len(values["loss"]) >= booster.n_rounds
    # The rows that all folds hold out choose one round for all.
    assert np.sum(losses, axis=0).argmin() + 1 == model.n_iter_
    # Nobody who listens changes a booster.
    plain, watched = (make().fit(X, y, callbacks=other) for other in (None, told.append))
    np.testing.assert_array_equal(plain.predict_proba(X), watched.predict_proba(X))


def test_of_rounds_of_equal_loss_the_first_is_kept():
    rows = TrainingData(None, Costs(1 - np.eye(2), [0, 1]).realized([0, 1]), np.ones(2))
    settings = SimpleNamespace(n_iter_no_change=3, verbose=0)
    fold = Fold(0, eval_set=rows)
    training = ModelTraining(MemberSpec(), fold, LogLoss(np.ones(2)), settings)
    training.hold_out()
    ends = []
    for _ in range(4):
        training.record(np.zeros(2))
        ends.append(training.end_round())
    assert (training.best_round, ends) == (1, [False, False, False, True])


# --- callbacks ----------------------------------------------------------------------------------


def by_return(told):
    return told.booster == 1 and told.round == 3


def by_exception(told):
    if by_return(told):
        raise StopBoosting


@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize("callback", [by_return, by_exception])
def test_callbacks_stop_one_booster(early_stopping, callback):
    X, y = rows()
    heard = []
    options = {"early_stopping": early_stopping, "learning_rate": 0.05}
    only_true = lambda told: told.round  # noqa: E731
    model = make(COSTLY, **options).fit(X, y, callbacks=[callback, only_true, heard.append])
    kept = [m.n_rounds for m in model.model_.ensemble.models]
    assert kept[0] == 3
    assert kept[1] > 10
    assert sum(r.booster == 1 for r in heard) == 3  # the second callback hears of the last round
    with pytest.raises(TypeError, match=r"'callbacks' argument of CostBoostClassifier\.fit"):
        model.fit(X, y, callbacks=[3])


# --- eval_set -----------------------------------------------------------------------------------


@pytest.mark.parametrize("effort", ["fast", "balanced"])
def test_eval_set_stops_boosters_and_replaces_folds(effort):
    """Labels that contradict the training rows: no round helps, so the first one is kept."""
    X, y = rows()
    Z, z = rows(seed=5)
    options = {"cv": "auto", "effort": effort, "n_iter_no_change": 3, "n_estimators": 40}
    usual = make(COSTLY, **options).fit(X, y, eval_set=(Z, z))
    assert usual.n_iter_ > 1
    model = make(COSTLY, **options).fit(X, y, eval_set=(Z, 1 - z))
    used = [member for member in model.members_ if member.weight > 0]
    assert len(model.boosters_) == len(used)  # one of each kind
    for booster, found in zip(
        model.model_.ensemble.models, model.evals_result_["probability"], strict=True
    ):
        if booster.engine == "lightgbm":  # networks have no rounds
            assert list(found) == ["eval_set"]
            assert booster.n_rounds == found["eval_set"]["loss"].argmin() + 1 == 1
            assert len(found["eval_set"]["loss"]) == 4
    paid = total_cost(1 - z, model.predict(Z), cost_matrix=COSTLY) / len(z)
    assert model.estimated_cost_ == pytest.approx(paid)
    for more, options in (({"groups": y}, {}), ({}, {"cv": 3})):
        with pytest.raises(ValueError, match="either eval_set, or groups or cv"):
            make(COSTLY, **{"cv": "auto", **options}).fit(X, y, eval_set=(Z, z), **more)


def test_a_single_booster_trains_on_all_rows():
    X, y = rows()
    Z, z = rows(seed=5)
    options = {"cv": "auto", "subsample": 1.0, "colsample": 1.0}
    model = make(COSTLY, **options, n_iter_no_change=50).fit(X, y, eval_set=(Z, z))
    rounds = model.n_iter_
    all_rows = make(COSTLY, **options, early_stopping=False, n_estimators=rounds).fit(X, y)
    scores = [m.model_.ensemble.models[0].predict(X) for m in (model, all_rows)]
    np.testing.assert_allclose(*scores, atol=1e-6)
    # It is calibrated on the eval_set and its decisions there are the estimate.
    paid = total_cost(z, model.predict(Z), cost_matrix=COSTLY) / len(z)
    assert model.estimated_cost_ == pytest.approx(paid)
    assert model.temperature_ != 1.0


def test_eval_set_takes_costs_frames_and_sparse_rows():
    X, y = rows()
    Z, z = rows(seed=5)
    model, thin = (
        make(cv="auto").fit(form(X), y, costs=row_costs(), eval_set=(form(Z), z, row_costs(seed=9)))
        for form in (np.asarray, sparse.csr_matrix)
    )
    assert set(model.evals_result_["probability"][0]) == {"eval_set"}
    np.testing.assert_array_equal(thin.predict_proba(X), model.predict_proba(X))
    frame, other = (
        pd.DataFrame(A, columns=list("abcd")).assign(amount=np.abs(A[:, 0]) + 1) for A in (X, Z)
    )
    named = make({"fn": "5 * amount", "fp": 1}, cost_columns="exclude", cv="auto")
    named.fit(frame, y, eval_set=(other, z))
    assert named.columns_["amount"].note == "only for the costs" and named.columns_.n_inputs == 4
    assert (named.evals_result_["probability"][0]["eval_set"]["loss"] > 0).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: X, r"must be \(X, y\) or \(X, y, costs\)"),
        (lambda X, y: (X[:, :3], y), r"columns of the training rows. X has 3 features, but .* 4"),
        (lambda X, y: (X, y[:-1]), "has 300 rows in X and labels of shape"),
        (lambda X, y: (X, y + 1), r"only the classes .*, got \[2\].* Leave these rows out"),
        (lambda X, y: (X, y), r"must have costs.*pass \(X, y, costs\)"),
        (lambda X, y: (X, y, np.ones((300, 2, 3))), "decisions|shape"),
    ],
)
def test_eval_set_is_checked(change, message):
    X, y = rows()
    with pytest.raises(ValueError, match=message):
        make().fit(X, y, costs=row_costs(), eval_set=change(X, y))


# --- output -------------------------------------------------------------------------------------


def test_lines_of_boosters_and_of_rounds(capsys):
    X, y = rows()
    make(verbose=1, n_estimators=20, early_stopping=False).fit(X, y, costs=row_costs())
    out = capsys.readouterr().out
    assert out.count("costs of 300 rows") == 1  # in words, once
    line = r"CostBoostClassifier: 15 leaves (\d)/2: round 20, held-out loss [\d.]+\n"
    assert re.findall(line, out) == ["1", "2"] and out.count(" round ") == 2
    single = ShuffleSplit(1, test_size=0.2, random_state=0)
    model = make(
        COSTLY, verbose=2, n_estimators=500, n_iter_no_change=2, learning_rate=0.9, cv=single
    )
    (found,) = model.fit(X, y).evals_result_["probability"]
    out, n = capsys.readouterr().out, len(found["held_out"]["loss"])
    assert out.count("15 leaves: round ") == n + 1
    assert f"round {n}, held-out loss " in out
