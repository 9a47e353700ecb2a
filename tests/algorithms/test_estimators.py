"""Every algorithm keeps the contracts of scikit-learn and of the library."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

import costboost
from costboost.costs import per_row
from costboost.learners import BUILT_IN, Tree
from costboost.metrics import avoidable_cost_score
from helpers.algorithms import (
    ALGORITHMS,
    BLIND,
    CASES,
    DRAWS,
    OPTIONS,
    REGRESSIONS,
    TREES,
    TWO,
    classes_of,
    make,
    matrix_of,
    rows,
)

pytestmark = pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")
EVERY_CASE = pytest.mark.parametrize("case", CASES)
SEVERAL = pytest.mark.parametrize("case", OPTIONS)  # algorithms for several classes


def said(clf, X):
    """The scores; probabilities of a model without them."""
    return clf.decision_function(X) if hasattr(clf, "decision_function") else clf.predict_proba(X)


# --- scikit-learn's own checks --------------------------------------------------------------

WEIGHTS = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
SAMPLES = "every round draws rows: a weight of 2 and two copies of a row lead to other samples"
TIES = (
    "15 rows, 30 features: LightGBM chooses between equally good splits by rounding; the equations "
    "are compared with sample weights"
)
# The only place for expected failures: {case: {check: why}}.
EXPECTED_FAILURES = {
    **{case: dict.fromkeys(WEIGHTS, SAMPLES) for case in DRAWS},
    **{case: dict.fromkeys(WEIGHTS, TIES) for case in ("GBSEClassifier", "MCBoost tree")},
}
# Algorithms that differ by a rule of votes or a loss share everything that these checks look at.
LIKE_OTHERS = {
    *(name for name, C in TWO.items() if hasattr(C, "_rule")),
    *("AdaCostM2Classifier", "CSB2M2Classifier", "M2 uniform", "AsyBLClassifier"),
    *(case for case in CASES if case.startswith("MCBoost ")),
    *("LpCSB relational", "LpCSB adjusted", "LpCSB bound"),
} - {"AdaC2Classifier", "RareBoostClassifier", "AsymmetricAdaBoostClassifier", "MCBoost tree"}
CHECKED = [case for case in CASES if case not in LIKE_OTHERS]


def expected_failures(clf):
    if isinstance(clf.estimator, str) and clf.estimator == "perceptron":
        why = "stochastic descent visits copies one by one, a weighted row at once"
        return {WEIGHTS[0]: why}
    for case, failures in EXPECTED_FAILURES.items():
        name, options = CASES[case]
        plain = ALGORITHMS[name](n_estimators=5, random_state=0, **options)
        if type(clf) is type(plain) and clf.get_params() == plain.get_params():
            return failures
    return {}


@parametrize_with_checks(
    [  # seeded: of those that draw rows, a rare draw ties probabilities that scores tell apart
        ALGORITHMS[CASES[case][0]](n_estimators=5, random_state=0, **CASES[case][1])
        for case in CHECKED
    ]
    + [
        ALGORITHMS["AdaC2Classifier"](n_estimators=5, estimator=learner)
        for learner in ("stump", "perceptron", DecisionTreeClassifier(max_depth=1))
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# --- parameters and copies ------------------------------------------------------------------


BAD_ARGUMENTS = [
    *(("n_estimators", 0), ("n_estimators", 2.5), ("max_leaves", 1), ("estimator", "forest")),
    *(("estimator", KNeighborsClassifier()), ("learning_rate", 0.0), ("learning_rate", 1.5)),
    *(("init", "random"), ("verbose", -1), ("n_jobs", 0), ("objective", "hinge")),
    *(("weighting", "none"), ("p", 0.5), ("variant", "indirect"), ("step", "exact")),
    *(("resample", "always"), ("loss", "hinge"), ("decision", "coin")),
    *(("cost_matrix", {"fn": 1}), ("cost_matrix", [[0, 1, 2, 3]] * 4)),
    *(("cost_matrix", [[0, np.nan], [1, 0]]), ("cost_matrix", [[0, 1, np.nan]] * 3)),
]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_bad_arguments_are_named(name):
    X, y, _ = rows(classes_of(name))
    parameters = ALGORITHMS[name]().get_params()
    for option, value in BAD_ARGUMENTS:
        takes = name in ("CostingClassifier", "DSEClassifier") and option == "estimator"
        if option not in parameters or (takes and not isinstance(value, str)):
            continue
        with pytest.raises((ValueError, TypeError), match=option):
            ALGORITHMS[name](**{"n_estimators": 2, option: value}).fit(X, y)
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(ALGORITHMS[name], method):
            with pytest.raises(NotFittedError):
                getattr(ALGORITHMS[name](), method)(X)


# --- inside scikit-learn --------------------------------------------------------------------


@pytest.mark.parametrize("name", ALGORITHMS)
def test_costs_are_routed(name):
    k = classes_of(name)
    X, y, rng = rows(k)
    costs = rng.uniform(1, 5, size=(len(y), k, k)) * (1.0 - np.eye(k))
    X_ = StandardScaler().fit_transform(X)
    by_hand = make(name, n_estimators=3).fit(X_, y, costs=costs)
    with sklearn.config_context(enable_metadata_routing=True):
        clf = make(name, n_estimators=3).set_fit_request(costs=True).set_score_request(costs=True)
        pipe = make_pipeline(StandardScaler(), clf.set_predict_request(costs=True))
        decided = pipe.fit(X, y, costs=costs).predict(X, costs=costs)
        np.testing.assert_array_equal(decided, by_hand.predict(X_, costs=costs))
        assert pipe.score(X, y, costs=costs) == by_hand.score(X_, y, costs=costs)


# --- scores and decisions of several classes ------------------------------------------------


@pytest.mark.parametrize("k", [2, 10])
@SEVERAL
def test_from_two_classes_to_ten(case, k):
    X, y, _ = rows(k, n=6 * k + 30, noise=0.3)
    clf = make(case, matrix_of(k)).fit(X, y)
    F, P, decided = clf.decision_function(X), clf.predict_proba(X), clf.predict(X)
    assert F.shape == ((len(y),) if k == 2 else (len(y), k))
    if OPTIONS[case][1].get("decision") == "bayes":
        expected = (P @ matrix_of(k)).argmin(axis=1)
    else:
        expected = (F > 0).astype(int) if k == 2 else F.argmax(axis=1)
    np.testing.assert_array_equal(decided, expected)
    if k == 2:
        np.testing.assert_array_equal(P[F != 0].argmax(axis=1), (F > 0)[F != 0])
    elif not isinstance(clf, costboost.MCBoostClassifier):
        np.testing.assert_array_equal(P.argmax(axis=1), F.argmax(axis=1))


# --- costs ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in TWO if name not in REGRESSIONS])
def test_effective_labels(name):
    """A fraud below the cost of a phone call is not worth one: the row counts as a negative."""
    X, y, rng = rows(2)
    amount = rng.uniform(0.5, 9, len(y))
    label = np.where((y == 1) & (amount > 2.0), 1, 0)
    assert (label != y).any()
    one = make(name).fit(X, y, costs=per_row(fn=amount, fp=2.0, tp=2.0))
    other = make(name).fit(X, label, costs=np.where(y == 1, np.abs(amount - 2.0), 2.0))
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


@EVERY_CASE
def test_costs_known_when_deciding(case):
    k = classes_of(case)
    X, y, rng = rows(k)
    clf = make(case).fit(X, y)
    costs = rng.uniform(0, 9, size=(len(y), k, k))
    expected = np.einsum("nj,njd->nd", clf.predict_proba(X), costs)
    np.testing.assert_allclose(clf.predict_cost(X, costs=costs), expected)
    decided = clf.predict(X, costs=costs)
    ranked = np.sort(expected, axis=1)
    sure = ranked[:, 1] - ranked[:, 0] > 1e-9
    np.testing.assert_array_equal(decided[sure], expected.argmin(axis=1)[sure])
    assert clf.score(X, y, costs=costs) == avoidable_cost_score(y, decided, costs=costs)
    with pytest.raises(ValueError, match=rf"costs.*shape \(n, {k}, {k}\)"):
        clf.predict(X, costs=costs[:, 0])


@pytest.mark.parametrize("name", ["AdaC2Classifier", "LpCSBClassifier"])
def test_costs_of_columns_decide(name):
    X, y, _ = rows(2)
    frame = pd.DataFrame(np.abs(X), columns=["a", "b", "c"])
    costs, options = {"fn": "20 * b", "fp": "1 + a"}, {"estimator": "stump", "n_estimators": 3}
    clf = make(name, costs, **options).fit(frame, y)
    p = clf.predict_proba(frame)[:, 1]
    decided = 20 * frame["b"] * p >= (1 + frame["a"]) * (1 - p)
    np.testing.assert_array_equal(clf.predict(frame), decided)
    assert (decided != (clf.decision_function(frame) > 0)).any()


# --- weak learners --------------------------------------------------------------------------


def test_penalties_of_a_learner_mean_the_same_as_without_boosting():
    X, y, _ = rows(2)
    learner = LogisticRegression(C=0.1)
    clf = make("AdaBoostCClassifier", estimator=learner, n_estimators=1).fit(X, y)
    np.testing.assert_array_equal(clf.predict(X), learner.fit(X, y).predict(X))


@pytest.mark.parametrize("name", TWO)
def test_the_booster_is_the_model(name):
    X, y, _ = rows(2)
    clf = make(name, {"fn": 3, "fp": 1}, estimator="tree").fit(X, y)
    F = clf.decision_function(X)
    np.testing.assert_allclose(clf.booster_.predict(X, raw_score=True), F, atol=1e-12)
    contributions = clf.booster_.predict(X, pred_contrib=True)
    np.testing.assert_allclose(contributions.sum(axis=1), F, atol=1e-6)
    assert clf.booster_.num_trees() == clf.n_iter_
    with pytest.raises(AttributeError, match="booster_"):
        _ = make(name, estimator="line").fit(X, y).booster_


SEVERAL_LEARNERS = {
    "LpCSB adjusted": ("stump", "histogram", "line", "perceptron", Tree(4)),
    "AdaBoostM2Classifier": ("stump", "histogram", "line", "perceptron", Tree(4)),
    "MCBoostClassifier": ("tree", "stump", "line", DecisionTreeRegressor(max_depth=2)),
    "CostingClassifier": (LogisticRegression(), GaussianNB(), KNeighborsClassifier(3)),
    "DSEClassifier": (LogisticRegression(), GaussianNB(), KNeighborsClassifier(3)),
}


@pytest.mark.parametrize("case", SEVERAL_LEARNERS)
def test_learners_of_several_classes(case):
    X, y, _ = rows()
    for learner in SEVERAL_LEARNERS[case]:
        clf = make(case, estimator=learner).fit(X, y)
        assert clf.score(X, y) > 0.2
        *_, last = clf.staged_decision_function(X)
        np.testing.assert_allclose(last, clf.decision_function(X), atol=1e-12)
    wrong = {"MCBoostClassifier": DecisionTreeClassifier()}.get(case, DecisionTreeRegressor())
    if "LpCSB" not in case and "M2" not in case:
        with pytest.raises(ValueError, match=r"regressor|scikit-learn classifier"):
            make(case, estimator=wrong).fit(X, y)


def test_learners_of_the_direct_variant():
    X, y, _ = rows()

    def scores(learner, **options):
        return make("LpCSB direct", estimator=learner, **options).fit(X, y).decision_function(X)

    np.testing.assert_array_equal(scores(None, max_leaves=4), scores("tree", max_leaves=4))
    regressor = DecisionTreeRegressor(max_leaf_nodes=4)
    np.testing.assert_array_equal(scores(regressor), scores(None, max_leaves=4))
    for learner in ("stump", "line", DecisionTreeClassifier()):
        with pytest.raises(ValueError, match=r"estimator.*direct"):
            scores(learner)
    X[0, 0] = np.nan
    assert np.isfinite(scores(None)).all()
    with pytest.raises(ValueError, match="NaN"):
        scores(LinearRegression())


# --- frames, categories and missing values --------------------------------------------------


def table_with_categories():
    rng = np.random.default_rng(0)
    colour, size = rng.choice(["red", "green", "blue"], 300).astype(object), rng.normal(size=300)
    y = np.where((colour == "red") ^ (rng.random(300) < 0.1), "bad", "good")
    size[::10], colour[::15] = np.nan, None
    return pd.DataFrame({"colour": pd.Categorical(colour), "size": size}), y


@pytest.mark.parametrize("case", [*TWO, *sorted(TREES)])
def test_categories_and_missing_values_with_trees(case):
    table, y = table_with_categories()
    clf = make(case, **({"estimator": "tree"} if case in TWO else {})).fit(table, y)
    assert (clf.predict(table) == y).mean() > 0.8
    assert clf.feature_names_in_.tolist() == ["colour", "size"]
    # The order of the rows must not matter, nor whether a category is missing from them.
    some = slice(100, 105)
    np.testing.assert_array_equal(clf.predict(table[some]), clf.predict(table)[some])


def test_categories_are_refused_by_other_learners():
    table, y = table_with_categories()
    refusing = (make("AdaC2Classifier", estimator=name) for name in BUILT_IN.keys() - {"tree"})
    for clf in (*refusing, *(make(case) for case in OPTIONS.keys() - TREES)):
        with pytest.raises(ValueError, match=r"categorical columns.*colour"):
            clf.fit(table, y)


# --- degenerate tables of several classes ---------------------------------------------------


@SEVERAL
def test_features_that_say_nothing(case):
    X, y, _ = rows(n=60)
    with pytest.raises(ValueError, match="nothing to learn"):
        make(case).fit(X, y, costs=np.ones((len(y), 3)))
    clf = make(case, np.array([[0, 1, 1], [1, 0, 1], [9, 9, 0]]), n_estimators=30)
    with pytest.warns(costboost.CollapseWarning, match=type(clf).__name__):
        clf.fit(np.ones_like(X), y)
    assert np.isfinite(clf.predict_proba(X)).all()
    if case not in BLIND:
        assert set(clf.predict(X)) == {2}


@SEVERAL
def test_rows_that_cost_nothing(case):
    X, y, _ = rows()
    costs = 1.0 - np.eye(3)[y]
    free = np.arange(len(y)) % 3 == 0
    costs[free] = 0.0
    # Stumps, because LightGBM guesses from their weight how many rows a leaf has.
    options = {"estimator": "stump", "n_estimators": 10} if case in TREES else {}
    clf = make(case, **options).fit(X, y, costs=costs)
    assert clf.n_iter_ > 0 and clf.score(X, y, costs=costs) > 0.2
    # Free rows are in the norm of step="bound" and in the means of regression trees; equal initial
    # weights give them a say in the first round.
    if case in DRAWS | {"LpCSB bound", "LpCSB direct", *BLIND, "P-MCBoost", "SAMMEC2Classifier"}:
        return
    others = make(case, **options).fit(X[~free], y[~free], costs=costs[~free])
    np.testing.assert_allclose(
        others.decision_function(X[~free]), clf.decision_function(X[~free]), atol=1e-9
    )
