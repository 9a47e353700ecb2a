"""Poor input: a finite answer, a warning where one class is left, or a clear error."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression

import costboost
from costboost import CollapseWarning
from costboost.algorithms._base import BinaryBoostingClassifier
from costboost.costs import per_row
from costboost.learners import BUILT_IN

BOOSTERS = {
    name: C
    for name in costboost.algorithms.__all__
    if issubclass(C := getattr(costboost, name), BinaryBoostingClassifier)
}
REGRESSIONS = ("AsyBLClassifier", "CSLogitBoostClassifier")
REAL_VALUED = (*REGRESSIONS, "CSRealBoostClassifier")
PAIRS = [
    (name, learner)
    for name, learner in itertools.product(BOOSTERS, BUILT_IN)
    if not (learner == "perceptron" and name in REAL_VALUED)
]
EVERY_PAIR = pytest.mark.parametrize(("name", "learner"), PAIRS)

DEAR = {"fn": 3, "fp": 1}


def rows(seed=0, n=80):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] + 0.6 * X[:, 1] + 0.7 * rng.normal(size=n) > 0.2).astype(int)
    return X, y, rng


def check_fit(name, learner, X, y, cost_matrix=DEAR, *, n_estimators=10, **fit):
    """Fit, and see that all is finite and that a collapse, and only that, is announced."""
    clf = BOOSTERS[name](
        cost_matrix, n_estimators=n_estimators, estimator=learner, max_leaves=4, random_state=0
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.fit(X, y, **fit)
    assert {w.category for w in caught} <= {CollapseWarning}, [str(w.message) for w in caught]
    assert len(caught) <= 1

    F, proba, decisions = clf.decision_function(X), clf.predict_proba(X), clf.predict(X)
    assert np.isfinite(F).all()
    assert np.isfinite(proba).all()
    assert ((proba >= 0) & (proba <= 1)).all()
    assert np.isfinite(clf.estimator_weights_).all()
    assert (clf.estimator_weights_ >= 0).all()
    assert clf.n_iter_ == len(clf.estimators_) == len(clf.estimator_weights_) > 0
    assert np.isfinite(getattr(clf, "train_loss_", 0.0)).all()
    assert np.isfinite(list(clf.staged_decision_function(X))).all()
    used = np.asarray(fit.get("sample_weight", np.ones(len(y)))) > 0
    collapsed = len(np.unique(decisions[used])) == 1
    if collapsed:
        assert caught, "one class for every row, and not a word about it"
    return clf, collapsed, [str(w.message) for w in caught]


# --- weak learners --------------------------------------------------------------------------


@EVERY_PAIR
def test_perfect_weak_learner(name, learner):
    _, y, rng = rows()
    X = np.column_stack([np.where(y == 1, 2.0, -2.0), rng.normal(size=len(y))])
    clf, collapsed, _ = check_fit(name, learner, X, y, {"fn": 2, "fp": 1})
    assert not collapsed
    np.testing.assert_array_equal(clf.predict(X), y)


@EVERY_PAIR
def test_useless_weak_learner(name, learner):
    """Every point has as many positives as negatives."""
    rng = np.random.default_rng(0)
    half = rng.normal(size=(40, 2))
    X, y = np.vstack([half, half]), np.repeat([0, 1], 40)
    clf, _, _ = check_fit(name, learner, X, y, None)
    assert clf.predict_proba(X)[:, 1].mean() == pytest.approx(0.5, abs=0.45)


@pytest.mark.parametrize("name", BOOSTERS)
def test_a_learner_that_sees_nothing(name):
    X, y, _ = rows()
    learner = DummyRegressor() if name in REGRESSIONS else DummyClassifier(strategy="prior")
    check_fit(name, learner, X, y)


@EVERY_PAIR
def test_constant_features(name, learner):
    _, y, _ = rows()
    X = np.ones((len(y), 3))
    clf, collapsed, _ = check_fit(name, learner, X, y)
    assert collapsed
    assert (clf.predict(X) == clf.predict(X)[0]).all()


@EVERY_PAIR
def test_a_constant_feature_among_others(name, learner):
    X, y, _ = rows()
    X[:, 1] = 7.0
    _, collapsed, _ = check_fit(name, learner, X, y, {"fn": 1, "fp": 1})
    assert not collapsed


@EVERY_PAIR
def test_one_feature(name, learner):
    X, y, _ = rows()
    check_fit(name, learner, X[:, :1], y)


@EVERY_PAIR
def test_two_rows(name, learner):
    check_fit(name, learner, np.array([[0.0], [1.0]]), np.array([0, 1]), None)
    check_fit(name, learner, np.array([[0.0, 5.0], [1.0, 5.0]]), np.array([1, 0]))
    check_fit(name, learner, np.array([[1.0], [1.0]]), np.array([1, 0]))


@EVERY_PAIR
def test_features_of_any_size(name, learner):
    X, y, _ = rows()
    X = X * np.array([1e-12, 1e12, 1.0]) + np.array([0.0, 0.0, 1e9])
    check_fit(name, learner, X, y)


# --- costs ----------------------------------------------------------------------------------


@EVERY_PAIR
@pytest.mark.parametrize("cost", [1.0, 1e-9, 1e9])
def test_all_costs_equal(name, learner, cost):
    X, y, _ = rows()
    check_fit(name, learner, X, y, {"fn": cost, "fp": cost})
    check_fit(name, learner, X, y, None, costs=np.full(len(y), cost))


@EVERY_PAIR
@pytest.mark.parametrize("pair", [(1e12, 1.0), (1.0, 1e12), (1e6, 1e-6)])
def test_extreme_ratios(name, learner, pair):
    X, y, _ = rows()
    fn, fp = pair
    check_fit(name, learner, X, y, {"fn": fn, "fp": fp})
    check_fit(name, learner, X, y, None, costs=np.where(y == 1, fn, fp))
    check_fit(name, learner, X, y, None, costs=per_row(fn=fn, fp=fp, n=len(y)))


@EVERY_PAIR
def test_costs_of_every_size_in_one_table(name, learner):
    X, y, rng = rows()
    check_fit(name, learner, X, y, None, costs=10.0 ** rng.uniform(-12, 12, len(y)))


@EVERY_PAIR
def test_rows_without_cost(name, learner):
    X, y, rng = rows()
    costs = rng.uniform(1, 3, len(y))
    costs[::3] = 0.0
    check_fit(name, learner, X, y, None, costs=costs)
    costs = per_row(fn=costs, fp=costs)
    check_fit(name, learner, X, y, None, costs=costs)


@EVERY_PAIR
def test_only_one_row_of_each_class_costs_anything(name, learner):
    X, y, _ = rows()
    costs = np.zeros(len(y))
    costs[[np.argmax(y == 1), np.argmax(y == 0)]] = 1.0
    check_fit(name, learner, X, y, None, costs=costs)


@EVERY_PAIR
@pytest.mark.parametrize("free", [0, 1])
def test_a_class_whose_errors_are_free(name, learner, free):
    X, y, _ = rows()
    cost_matrix = {"fn": 0, "fp": 1} if free else {"fn": 1, "fp": 0}
    clf, _, said = check_fit(name, learner, X, y, cost_matrix)
    if name not in ("AdaC1Classifier", *REGRESSIONS):
        # Deciding for the class at risk costs nothing. AdaC1 never gives it more weight, and ten
        # Newton steps do not bridge fifteen powers of ten.
        np.testing.assert_array_equal(clf.predict(X)[y != free], y[y != free])
    if (clf.predict(X) != free).all():
        assert said
    check_fit(name, learner, X, y, None, costs=np.where(y == free, 0.0, 1.0))


@pytest.mark.parametrize("name", BOOSTERS)
def test_nothing_costs_anything(name):
    X, y, _ = rows()
    for arguments in ({"cost_matrix": {"fn": 0, "fp": 0}}, {"cost_matrix": [[5, 5], [5, 5]]}):
        with pytest.raises(ValueError, match="nothing to learn"):
            BOOSTERS[name](**arguments).fit(X, y)
    with pytest.raises(ValueError, match="nothing to learn"):
        BOOSTERS[name]().fit(X, y, costs=np.zeros(len(y)))


@pytest.mark.parametrize("name", BOOSTERS)
def test_one_decision_is_the_cheapest_everywhere(name):
    X, y, _ = rows()
    with pytest.warns(CollapseWarning, match="cheapest for every row"):
        clf = BOOSTERS[name]().fit(X, y, costs=np.tile([[1.0, 0.0]], (len(y), 1)))
    assert (clf.predict(X) == 1).all()


# --- labels, weights, missing values --------------------------------------------------------


@pytest.mark.parametrize("name", BOOSTERS)
def test_one_class(name):
    X, y, _ = rows()
    with pytest.raises(ValueError, match=rf"{name}.*class"):
        BOOSTERS[name]().fit(X, np.ones_like(y))


@pytest.mark.parametrize("name", BOOSTERS)
def test_one_class_once_the_weights_are_counted(name):
    X, y, _ = rows()
    with pytest.warns(CollapseWarning):
        clf = BOOSTERS[name](n_estimators=3).fit(X, y, sample_weight=(y == 1).astype(float))
    assert (clf.predict(X) == 1).all()
    assert np.isfinite(clf.predict_proba(X)).all()


@pytest.mark.parametrize("name", BOOSTERS)
def test_three_classes(name):
    X, y, _ = rows()
    with pytest.raises(ValueError, match="binary"):
        BOOSTERS[name]().fit(X, np.arange(len(y)) % 3)


@pytest.mark.parametrize("name", BOOSTERS)
def test_continuous_labels(name):
    X, _, rng = rows()
    with pytest.raises(ValueError, match="label type"):
        BOOSTERS[name]().fit(X, rng.normal(size=len(X)))


@EVERY_PAIR
def test_missing_values(name, learner):
    X, y, rng = rows()
    X[rng.random(X.shape) < 0.2] = np.nan
    if BUILT_IN[learner](4).accepts_missing:
        check_fit(name, learner, X, y)
        X[:, 1] = np.nan
        check_fit(name, learner, X, y)
        return
    with pytest.raises(ValueError, match=rf"(?s){name}.*NaN"):
        BOOSTERS[name](estimator=learner).fit(X, y)


def test_missing_values_and_an_estimator_that_cannot_take_them():
    X, y, _ = rows()
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        BOOSTERS["AdaC2Classifier"](estimator=LogisticRegression()).fit(X, y)


@pytest.mark.parametrize("learner", BUILT_IN)
def test_infinite_values(learner):
    X, y, _ = rows()
    X[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        BOOSTERS["AdaC2Classifier"](estimator=learner).fit(X, y)


@EVERY_PAIR
def test_missing_values_that_training_never_saw(name, learner):
    X, y, _ = rows()
    clf, _, _ = check_fit(name, learner, X, y)
    X[::2, 0] = np.nan
    if BUILT_IN[learner](4).accepts_missing:
        assert np.isfinite(clf.decision_function(X)).all()
    else:
        with pytest.raises(ValueError, match="NaN"):
            clf.predict(X)


@EVERY_PAIR
@pytest.mark.parametrize("scale", [1e-12, 1e12, 1e-200])
def test_sample_weights_of_any_size(name, learner, scale):
    X, y, rng = rows()
    check_fit(name, learner, X, y, sample_weight=scale * rng.uniform(0.5, 1.5, len(y)))


@EVERY_PAIR
def test_sample_weights_of_every_size_in_one_table(name, learner):
    X, y, rng = rows()
    check_fit(name, learner, X, y, sample_weight=10.0 ** rng.uniform(-12, 12, len(y)))


@EVERY_PAIR
def test_most_rows_without_weight(name, learner):
    X, y, _ = rows()
    weights = np.zeros(len(y))
    weights[:10] = 1.0
    check_fit(name, learner, X, y, sample_weight=weights)


@pytest.mark.parametrize("name", BOOSTERS)
@pytest.mark.parametrize("kind", ["negative", "missing", "none left"])
def test_bad_sample_weights(name, kind):
    X, y, _ = rows()
    weights = np.ones(len(y))
    if kind == "none left":
        weights[:] = 0.0
    else:
        weights[0] = {"negative": -1.0, "missing": np.nan}[kind]
    with pytest.raises(ValueError, match=f"sample_weight of {name}"):
        BOOSTERS[name]().fit(X, y, sample_weight=weights)


@EVERY_PAIR
def test_many_rounds(name, learner):
    """Long after there is nothing left to learn."""
    X, y, _ = rows(n=30)
    check_fit(name, learner, X, y, {"fn": 2, "fp": 1}, n_estimators=300)
