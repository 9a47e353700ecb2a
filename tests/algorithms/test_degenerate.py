"""Poor input: a finite answer, a warning where one class is left, or a clear error."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor

from costboost import CollapseWarning
from costboost.costs import per_row
from costboost.gbm import objective
from costboost.learners import BUILT_IN
from costboost.losses import AsymmetricLogistic, CostLogistic
from costboost.metrics import mean_cost, total_cost
from helpers.algorithms import PAIRS, REGRESSIONS, TWO, rows

# Every algorithm with stumps; one of each kind with every weak learner.
KINDS = ("AdaC2", "CSAdaBoost", "GradientCSB", "RareBoost", "CSRealBoost", "CSLogitBoost")
EVERY_PAIR = pytest.mark.parametrize(
    ("name", "learner"),
    [pair for pair in PAIRS if pair[1] == "stump" or pair[0].removesuffix("Classifier") in KINDS],
)
EVERY_NAME = pytest.mark.parametrize("name", TWO)
COSTLY = {"fn": 3, "fp": 1}


def check_fit(name, learner, X, y, cost_matrix=COSTLY, *, n_estimators=10, **fit):
    """Fit, and see that all is finite and that a collapse, and only that, is announced."""
    clf = TWO[name](
        cost_matrix, n_estimators=n_estimators, estimator=learner, max_leaves=4, random_state=0
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.fit(X, y, **fit)
    assert {w.category for w in caught} <= {CollapseWarning}, [str(w.message) for w in caught]
    assert len(caught) <= 1

    numbers = (clf.predict_proba(X), clf.estimator_weights_, getattr(clf, "train_loss_", 0.0))
    assert all(np.isfinite(values).all() for values in (*numbers, clf.decision_function(X)))
    assert min(values.min() for values in numbers[:2]) >= 0
    assert clf.n_iter_ == len(clf.estimators_) == len(clf.estimator_weights_) > 0
    assert np.isfinite(list(clf.staged_decision_function(X))).all()
    used = np.asarray(fit.get("sample_weight", np.ones(len(y)))) > 0
    collapsed = len(np.unique(clf.predict(X)[used])) == 1
    assert caught or not collapsed, "one class for every row, and not a word about it"
    return clf, collapsed


# --- tables that every algorithm takes with every learner -----------------------------------

X, Y, RNG = rows(2, n=80)
N = len(Y)
HALF = np.random.default_rng(0).normal(size=(40, 2))
SOME_FREE = np.where(np.arange(N) % 3 == 0, 0.0, RNG.uniform(1, 3, N))
FIRST_OF_EACH = np.isin(np.arange(N), [Y.argmax(), Y.argmin()]).astype(float)

# Arguments of check_fit beside, or in place of, X and y.
PERFECT = np.column_stack([np.where(Y == 1, 2.0, -2.0), RNG.normal(size=N)])
EVERY_SIZE = 10.0 ** RNG.uniform(-12, 12, (2, N))
TABLES: dict[str, dict] = {
    "a perfect rule": {"X": PERFECT, "cost_matrix": {"fn": 2, "fp": 1}},
    "each row with both labels": {"X": np.vstack([HALF, HALF]), "y": np.repeat([0, 1], 40)},
    "constant features": {"X": np.ones((N, 3))},
    "a constant feature": {"X": X * [1, 0, 1] + [0, 7, 0], "cost_matrix": {"fn": 1, "fp": 1}},
    "one feature": {"X": X[:, :1]},
    "two rows": {"X": np.array([[0.0], [1.0]]), "y": np.array([0, 1])},
    "two equal rows": {"X": np.array([[1.0], [1.0]]), "y": np.array([1, 0])},
    "features of any size": {"X": X * [1e-12, 1e12, 1.0] + [0.0, 0.0, 1e9]},
    "equal costs": {"cost_matrix": {"fn": 1e12, "fp": 1e12}},
    "all costs 1e-300": {"cost_matrix": {"fn": 1e-300, "fp": 3e-300}},
    "costs 1e300 apart": {"cost_matrix": {"fn": 1e-300, "fp": 1.0}},
    "a profit of 1e12": {"cost_matrix": {"fn": 1.0, "fp": 1.0, "tp": -1e12}},
    "misses 1e12 times as costly": {"cost_matrix": {"fn": 1e12, "fp": 1.0}},
    "alarms 1e12 times as costly": {"cost_matrix": {"fn": 1.0, "fp": 1e12}},
    "equal row costs": {"costs": np.full(N, 1e-9)},
    "row costs far apart": {"costs": np.where(Y == 1, 1e6, 1e-6)},
    "matrices far apart": {"costs": per_row(fn=1e6, fp=1e-6, n=N)},
    "row costs of every size": {"costs": EVERY_SIZE[0]},
    "rows without cost": {"costs": SOME_FREE},
    "matrices without cost": {"costs": per_row(fn=SOME_FREE, fp=SOME_FREE)},
    "one row of each class with a cost": {"costs": FIRST_OF_EACH},
    "negatives free by row": {"costs": (Y == 1).astype(float)},
    "large weights": {"sample_weight": 1e12 / RNG.uniform(1.0, 3.0, N)},
    "tiny weights": {"sample_weight": 1e-200 * RNG.uniform(0.5, 1.5, N)},
    "weights of every size": {"sample_weight": EVERY_SIZE[1]},
    "weights 1e300 apart": {"sample_weight": RNG.choice([1e-300, 1.0, 1e12], N)},
    "most rows without weight": {"sample_weight": (np.arange(N) < 10).astype(float)},
    "long after nothing is left to learn": {"X": X[:30], "y": Y[:30], "n_estimators": 300},
}
COLLAPSES = {"a perfect rule": False, "constant features": True, "a constant feature": False}


@EVERY_PAIR
@pytest.mark.parametrize("table", TABLES)
def test_poor_tables(name, learner, table):
    given = {"X": X, "y": Y, "cost_matrix": None if "costs" in TABLES[table] else COSTLY}
    clf, collapsed = check_fit(name, learner, **given | TABLES[table])
    assert collapsed == COLLAPSES.get(table, collapsed)
    if table == "a perfect rule":
        np.testing.assert_array_equal(clf.predict(PERFECT), Y)


@EVERY_PAIR
@pytest.mark.parametrize("free", [0, 1])
def test_a_class_whose_errors_are_free(name, learner, free):
    cost_matrix = {"fn": 0, "fp": 1} if free else {"fn": 1, "fp": 0}
    clf, _ = check_fit(name, learner, X, Y, cost_matrix)
    if name not in ("AdaC1Classifier", *REGRESSIONS):
        # Deciding for the class at risk costs nothing. AdaC1 never gives it more weight, and ten
        # Newton steps do not bridge fifteen powers of ten.
        np.testing.assert_array_equal(clf.predict(X)[free != Y], Y[free != Y])


@EVERY_PAIR
def test_missing_values(name, learner):
    clf, _ = check_fit(name, learner, X, Y)
    holed, unseen = X.copy(), X.copy()
    holed[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    unseen[::2, 0] = np.nan
    if BUILT_IN[learner].accepts_missing:
        check_fit(name, learner, holed, Y)
        holed[:, 1] = np.nan
        check_fit(name, learner, holed, Y)
        assert np.isfinite(clf.decision_function(unseen)).all()
        return
    for broken in (holed, np.where(np.isnan(holed), np.inf, X)):
        with pytest.raises(ValueError, match=rf"(?s)infinity|{name}.*NaN"):
            TWO[name](estimator=learner).fit(broken, Y)
    with pytest.raises(ValueError, match="NaN"):
        clf.predict(unseen)


# --- labels, costs and weights that are refused or leave one decision -----------------------


@EVERY_NAME
def test_what_cannot_be_learned_is_refused(name):
    for matrix, costs in (
        ({"fn": 0, "fp": 0}, None),
        (np.full((2, 2), 5), None),
        (None, np.zeros(N)),
    ):
        with pytest.raises(ValueError, match="nothing to learn"):
            TWO[name](matrix).fit(X, Y, costs=costs)
    for first, others in ((-1.0, 1.0), (np.nan, 1.0), (0.0, 0.0)):
        weights = np.where(np.arange(N) == 0, first, others)
        with pytest.raises(ValueError, match=f"'sample_weight' parameter of {name}"):
            TWO[name]().fit(X, Y, sample_weight=weights)


@EVERY_NAME
def test_one_decision_is_left(name):
    with pytest.warns(CollapseWarning, match="cheapest for every row"):
        clf = TWO[name]().fit(X, Y, costs=np.tile([[1.0, 0.0]], (N, 1)))
    assert (clf.predict(X) == 1).all()
    with pytest.warns(CollapseWarning):  # one class once the weights are counted
        clf = TWO[name](n_estimators=3).fit(X, Y, sample_weight=(Y == 1).astype(float))
    assert (clf.predict(X) == 1).all()
    assert np.isfinite(clf.predict_proba(X)).all()
    usual = TWO[name](n_estimators=1).fit(X, Y)
    shapes = [np.shape(getattr(model, "train_loss_", None)) for model in (clf, usual)]
    assert clf.n_iter_ == 1 and shapes[0] == shapes[1]


LINKS = {"AsyBLClassifier": AsymmetricLogistic(), "CSLogitBoostClassifier": CostLogistic()}


@pytest.mark.parametrize("name", REGRESSIONS)
def test_the_loss_of_a_constant_decision(name):
    """The mean loss of the training rows at the constant score that is left."""
    learner = DummyRegressor(strategy="constant", constant=0.0)
    with pytest.warns(CollapseWarning):
        clf = TWO[name](COSTLY, estimator=learner, n_estimators=3).fit(X, Y)
    F = clf.decision_function(X)
    value = LINKS[name].value(2.0 * Y - 1.0, F, (3.0, 1.0)).mean()
    np.testing.assert_allclose(clf.train_loss_, [value], rtol=1e-9)


def test_large_costs_and_weights_are_refused():
    truth, decided = [0, 1, 1, 0], [1, 1, 0, 0]
    fits = partial(TWO["AdaC2Classifier"]().fit, X, Y)
    for ask in (
        lambda: total_cost(truth, decided, cost_matrix={"fn": 3e12, "fp": 1.0}),
        lambda: total_cost(truth, decided, costs=[2e12, 1.0, 1.0, 1.0]),
        lambda: TWO["AdaC2Classifier"]({"fn": 3e12, "fp": 1.0}).fit(X, Y),
        lambda: fits(costs=np.full(len(Y), -2e12)),
    ):
        with pytest.raises(ValueError, match="at most 1e\\+12 in size"):
            ask()
    for ask in (
        lambda: total_cost(truth, decided, sample_weight=[2e12, 1.0, 1.0, 1.0]),
        lambda: fits(sample_weight=np.full(len(Y), 2e12)),
    ):
        with pytest.raises(ValueError, match=r"sample_weight.*at most 1e\+12"):
            ask()
    given = {"cost_matrix": {"fn": 1e12, "fp": 0.5e12}, "sample_weight": np.full(4, 1e12)}
    assert total_cost(truth, decided, **given) == pytest.approx(1.5e24)
    assert mean_cost(truth, decided, **given) == pytest.approx(0.375e12)


@pytest.mark.parametrize("weights", [[0.0, 0.0], [1.0, -1.0], [1.0, np.nan]])
def test_objectives_refuse_what_are_no_weights(weights):
    with pytest.raises(ValueError, match="'sample_weight' parameter of objective must be finite"):
        objective("mc").derivatives([0, 1], np.zeros((2, 2)), np.array(weights))
