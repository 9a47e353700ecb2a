"""Early stopping of the algorithms of the loop: the best round on rows that no rule has seen."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from costboost.boosting import StopBoosting
from helpers.algorithms import CASES, classes_of, make, matrix_of, rows

pytestmark = pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")
AVERAGES = ("AdaMECClassifier", "CostingClassifier", "DSEClassifier")
LOOP = [case for case in CASES if CASES[case][0] not in AVERAGES]


def noisy(case, n=150, seed=0):
    """Rows with so much noise that later rounds fit it."""
    X, y, _ = rows(classes_of(case), n=n, seed=seed, noise=1.5)
    return X, y


def prices(case):
    """AdaCost finds no rule where costs are far apart."""
    k = classes_of(case)
    return 1.0 - np.eye(k) if case.startswith("AdaCost") else matrix_of(k)


@pytest.mark.parametrize("case", LOOP)
def test_the_cost_by_round_is_that_of_the_stages(case):
    """With rows of another table all rounds are run, and the training is what it was."""
    X, y = noisy(case)
    new, truth = noisy(case, seed=1)
    alone, clf = (make(case, prices(case), n_estimators=6) for _ in range(2))
    clf.fit(X, y, eval_set=(new, truth))
    np.testing.assert_array_equal(clf.predict_proba(X), alone.fit(X, y).predict_proba(X))
    told = clf.evals_result_["decision"][0]["eval_set"]["cost"]
    assert len(told) == clf.n_iter_
    if clf.get_params().get("decision") == "bayes":
        assert told[-1] == pytest.approx(prices(case)[truth, clf.predict(new)].mean())
        return
    stages = [prices(case)[truth, decided].mean() for decided in clf.staged_predict(new)]
    np.testing.assert_allclose(told, stages)


@pytest.mark.parametrize("case", LOOP)
def test_the_best_round_is_kept(case):
    X, y = noisy(case)
    new, truth = noisy(case, seed=1)
    options = {"n_estimators": 30, "early_stopping": True, "n_iter_no_change": 5}
    clf = make(case, prices(case), **options).fit(X, y, eval_set=(new, truth))
    told = clf.evals_result_["decision"][0]["eval_set"]["cost"]
    assert clf.n_iter_ == told.argmin() + 1
    assert len(told) - clf.n_iter_ <= 5
    assert prices(case)[truth, clf.predict(new)].mean() == pytest.approx(told.min())


class Told:
    """A weak learner that keeps the rows of every fit."""

    tables: list[np.ndarray] = []  # noqa: RUF012 (of all copies)

    def fit(self, X, y, sample_weight=None):
        self.tables.append(np.array(X))
        return super().fit(X, y, sample_weight)


class ToldClassifier(Told, DecisionTreeClassifier):
    pass


class ToldRegressor(Told, DecisionTreeRegressor):
    pass


def trained_on(X):
    """Whether each row was in the first fit of a weak rule; its first number tells it."""
    return np.isin(X[:, 0], Told.tables[0][:, 0])


LEARNERS = {
    "AdaC2Classifier": ToldClassifier(max_depth=2, random_state=0),
    "CSLogitBoostClassifier": ToldRegressor(max_depth=2, random_state=0),
    "MCBoostClassifier": ToldRegressor(max_depth=2, random_state=0),
}


@pytest.mark.parametrize("case", LEARNERS)
def test_held_out_rows_are_not_trained_on(case):
    X, y = noisy(case)
    costs = np.random.default_rng(0).uniform(1.0, 5.0, len(y))
    options = {"early_stopping": True, "validation_fraction": 0.3, "n_iter_no_change": 3}
    options["estimator"] = LEARNERS[case]
    Told.tables.clear()
    clf = make(case, n_estimators=20, **options).fit(X, y, costs=costs)
    assert len(clf.evals_result_["decision"][0]["held_out"]["cost"]) >= clf.n_iter_
    others = np.flatnonzero(trained_on(X))
    assert 0.65 < len(others) / len(y) < 0.75
    learner = LEARNERS[case]
    alone = make(case, n_estimators=clf.n_iter_, estimator=learner).fit(
        X[others], y[others], costs=costs[others]
    )
    np.testing.assert_allclose(clf.decision_function(X), alone.decision_function(X), atol=1e-9)
    with pytest.raises(ValueError, match=r"validation_fraction.*holds out none of"):
        make(case, early_stopping=True).fit(X[:8], y[:8])
    if case == "AdaC2Classifier":
        packed = make(case, n_estimators=20, **options)
        packed.fit(sparse.csr_matrix(X), y, costs=costs)
        np.testing.assert_allclose(packed.decision_function(X), clf.decision_function(X))


@pytest.mark.parametrize("case", ["AdaC2Classifier", "SAMMEC2Classifier"])
def test_held_out_rows_count_by_their_weights(case):
    X, y = noisy(case)
    s = np.random.default_rng(0).integers(0, 9, len(y)).astype(float)
    clf = make(case, prices(case), n_estimators=4, early_stopping=True, validation_fraction=0.4)
    clf.set_params(estimator=ToldClassifier(max_depth=2))
    Told.tables.clear()
    clf.fit(X, y, sample_weight=s)
    held = np.flatnonzero((s > 0) & ~trained_on(X))
    paid = [prices(case)[y, decided] for decided in clf.staged_predict(X)]
    told = clf.evals_result_["decision"][0]["held_out"]["cost"][: clf.n_iter_]
    np.testing.assert_allclose(told, [np.average(c[held], weights=s[held]) for c in paid])


def test_callbacks_hear_of_rounds_and_end_them():
    X, y = noisy("AdaC2Classifier")
    heard = []

    def hear(told):
        heard.append((told.round, told.n_rounds, told.eval_cost))
        if told.round == 3:
            raise StopBoosting

    clf = make("AdaC2Classifier", n_estimators=9).fit(X, y, eval_set=(X, y), callbacks=hear)
    costs = clf.evals_result_["decision"][0]["eval_set"]["cost"].tolist()
    assert heard == [(i + 1, 9, cost) for i, cost in enumerate(costs)]
    assert clf.n_iter_ == 3
    assert make("AdaC2Classifier").fit(X, y, callbacks=lambda told: True).n_iter_ == 1


def test_averages_of_samples_have_no_rounds():
    X, y = noisy("DSEClassifier")
    for options, given in (({"early_stopping": True}, {}), ({}, {"eval_set": (X, y)})):
        with pytest.raises(ValueError, match="no rounds"):
            make("DSEClassifier", **options).fit(X, y, **given)
