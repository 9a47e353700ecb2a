"""Every classifier keeps the contracts of scikit-learn and of the library."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

import costboost
from costboost.algorithms._base import BinaryBoostingClassifier, BoostingClassifier
from costboost.costs import per_row
from costboost.learners import BUILT_IN, Stump, Tree
from costboost.metrics import savings_score

BOOSTERS = {
    name: C
    for name in costboost.algorithms.__all__
    if issubclass(C := getattr(costboost, name), BinaryBoostingClassifier)
}
# With the binary algorithms that are not boosting alone (AdaMEC).
BINARY = BOOSTERS | {
    name: C
    for name in costboost.algorithms.__all__
    if not issubclass(C := getattr(costboost, name), BoostingClassifier)
}
REGRESSIONS = ("AsyBLClassifier", "CSLogitBoostClassifier")

DEAR = {"fn": 3, "fp": 1}

# --- scikit-learn's own checks --------------------------------------------------------------

# The only place for expected failures, by class and weak learner: {(class, learner): {check: why}}.
WEIGHTS = "check_sample_weight_equivalence_on_dense_data"
EXPECTED_FAILURES: dict[tuple[str, str | None], dict[str, str]] = {
    ("AdaC2Classifier", "perceptron"): {
        WEIGHTS: "stochastic descent visits copies one by one, a weighted row at once"
    },
}


def expected_failures(clf):
    learner = clf.estimator if isinstance(clf.estimator, str) else None
    return EXPECTED_FAILURES.get((type(clf).__name__, learner), {})


@parametrize_with_checks(
    [C(n_estimators=5) for C in BINARY.values()],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@parametrize_with_checks(
    [BOOSTERS["AdaC2Classifier"](n_estimators=5, estimator=learner) for learner in BUILT_IN]
    + [
        BOOSTERS["CSAdaBoostClassifier"](n_estimators=5, estimator="tree"),
        BOOSTERS["CSRealBoostClassifier"](n_estimators=5, estimator="tree"),
        BOOSTERS["CSLogitBoostClassifier"](n_estimators=5, estimator="stump"),
        BOOSTERS["AdaBoostCClassifier"](
            n_estimators=5, estimator=DecisionTreeClassifier(max_depth=1)
        ),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")
def test_scikit_learn_checks_with_other_learners(estimator, check):
    check(estimator)


# --- data -----------------------------------------------------------------------------------

pytestmark = pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")


def rows(seed=0, n=120):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] + 0.6 * X[:, 1] + 0.7 * rng.normal(size=n) > 0.2).astype(int)
    return X, y, rng


def make(name, cost_matrix=DEAR, **options):
    return BINARY[name](cost_matrix, **({"n_estimators": 6, "random_state": 0} | options))


# --- parameters and copies ------------------------------------------------------------------


@pytest.mark.parametrize("name", BINARY)
def test_clone(name):
    clf = make(name, max_leaves=3)
    copy = clone(clf)
    assert copy is not clf
    assert copy.get_params() == clf.get_params()
    assert copy.set_params(n_estimators=2).n_estimators == 2


@pytest.mark.parametrize("name", BINARY)
def test_pickle(name):
    X, y, _ = rows()
    clf = make(name).fit(X, y)
    back = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(back.predict(X), clf.predict(X))
    np.testing.assert_array_equal(back.predict_proba(X), clf.predict_proba(X))
    if name in BOOSTERS:
        np.testing.assert_array_equal(back.decision_function(X), clf.decision_function(X))
        assert len(list(back.staged_predict(X))) == clf.n_iter_


@pytest.mark.parametrize("learner", [*BUILT_IN, DecisionTreeClassifier(max_depth=1)], ids=str)
def test_pickle_with_every_learner(learner):
    X, y, _ = rows()
    clf = make("AdaC2Classifier", estimator=learner).fit(X, y)
    back = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(back.decision_function(X), clf.decision_function(X))


@pytest.mark.parametrize("name", BINARY)
def test_equal_seeds_give_equal_models(name):
    X, y, _ = rows()
    one, other = (make(name).fit(X, y).predict_proba(X) for _ in range(2))
    np.testing.assert_array_equal(one, other)


BAD_ARGUMENTS = [
    ("n_estimators", 0),
    ("n_estimators", 2.5),
    ("max_leaves", 1),
    ("estimator", "forest"),
    ("estimator", KNeighborsClassifier()),
    ("cost_matrix", {"fn": 1}),
    ("cost_matrix", [[0, 1, 2], [1, 0, 2], [1, 2, 0]]),
    ("cost_matrix", [[0, np.nan], [1, 0]]),
    ("learning_rate", 0.0),
    ("learning_rate", 1.5),
    ("init", "random"),
    ("verbose", -1),
    ("n_jobs", 0),
    ("objective", "hinge"),
    ("weighting", "none"),
]


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        (name, option, value)
        for name, C in BINARY.items()
        for option, value in BAD_ARGUMENTS
        if option in C().get_params()
    ],
)
def test_bad_arguments_are_named(name, option, value):
    X, y, _ = rows()
    with pytest.raises((ValueError, TypeError), match=option):
        make(name, **{option: value}).fit(X, y)


@pytest.mark.parametrize("name", BINARY)
def test_not_fitted(name):
    X, _, _ = rows()
    clf = make(name)
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(type(clf), method):
            with pytest.raises(NotFittedError):
                getattr(clf, method)(X)


# --- inside scikit-learn --------------------------------------------------------------------


@pytest.mark.parametrize("name", BINARY)
def test_pipeline(name):
    X, y, _ = rows()
    pipe = make_pipeline(StandardScaler(), make(name)).fit(X, y)
    assert set(pipe.predict(X)) <= {0, 1}
    assert pipe.score(X, y) == pytest.approx(savings_score(y, pipe.predict(X), cost_matrix=DEAR))


@pytest.mark.parametrize("name", BINARY)
def test_grid_search(name):
    X, y, _ = rows()
    grid = {"max_leaves": [2, 4], "cost_matrix": [None, DEAR]}
    search = GridSearchCV(make(name, n_estimators=2), grid, cv=2).fit(X, y)
    assert search.best_params_["max_leaves"] in (2, 4)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("name", BINARY)
def test_costs_are_routed(name):
    X, y, rng = rows()
    costs = per_row(fn=rng.uniform(1, 9, len(y)), fp=1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        clf = make(name, None, n_estimators=3)
        clf.set_fit_request(costs=True).set_predict_request(costs=True)
        clf.set_score_request(costs=True)
        pipe = make_pipeline(StandardScaler(), clf).fit(X, y, costs=costs)
        by_hand = make(name, None, n_estimators=3).fit(
            StandardScaler().fit_transform(X), y, costs=costs
        )
        X_ = StandardScaler().fit_transform(X)
        np.testing.assert_array_equal(
            pipe.predict(X, costs=costs), by_hand.predict(X_, costs=costs)
        )
        assert pipe.score(X, y, costs=costs) == by_hand.score(X_, y, costs=costs)
        results = cross_validate(clf, X, y, params={"costs": costs}, cv=3)
        search = GridSearchCV(clf, {"max_leaves": [2, 4]}, cv=2).fit(X, y, costs=costs)
    assert np.isfinite(results["test_score"]).all()
    assert np.isfinite(search.best_score_)


@pytest.mark.parametrize("name", BINARY)
def test_costs_and_weights_are_routed_to_a_scorer(name):
    X, y, rng = rows()
    costs = rng.uniform(1, 9, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        clf = make(name, None, n_estimators=2)
        clf.set_fit_request(costs=True, sample_weight=True)
        scorer = make_scorer(savings_score).set_score_request(costs=True, sample_weight=True)
        results = cross_validate(
            clf,
            X,
            y,
            scoring=scorer,
            params={"costs": costs, "sample_weight": rng.uniform(0.5, 1.5, len(y))},
            cv=2,
        )
    assert np.isfinite(results["test_score"]).all()


def test_penalties_of_a_learner_mean_the_same_as_without_boosting():
    X, y, _ = rows()
    learner = LogisticRegression(C=0.1)
    clf = make("AdaBoostCClassifier", None, estimator=learner, n_estimators=1).fit(X, y)
    np.testing.assert_array_equal(clf.predict(X), learner.fit(X, y).predict(X))


@pytest.mark.parametrize("name", BOOSTERS)
def test_every_class_takes_scikit_learn_learners(name):
    X, y, _ = rows()
    learner = (
        DecisionTreeRegressor(max_depth=2)
        if name in REGRESSIONS
        else DecisionTreeClassifier(max_depth=2)
    )
    assert make(name, {"fn": 2, "fp": 1}, estimator=learner).fit(X, y).score(X, y) > -0.5
    regressor = DecisionTreeRegressor(max_depth=2)
    assert np.isfinite(make(name, estimator=regressor).fit(X, y).decision_function(X)).all()
    if name in REGRESSIONS:
        with pytest.raises(ValueError, match="regressor"):
            make(name, estimator=DecisionTreeClassifier()).fit(X, y)


@pytest.mark.parametrize("learner", [Tree(max_leaves=3), Stump(max_bins=10)], ids=str)
def test_learner_objects_are_estimators_too(learner):
    X, y, _ = rows()
    clf = make("AdaC2Classifier", estimator=learner).fit(X, y)
    assert clone(clf).estimator == learner
    assert clf.score(X, y) > 0


# --- frames and labels ----------------------------------------------------------------------


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_of_numbers(name, frame):
    X, y, _ = rows()
    table = frame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    labels = (pd.Series if frame is pd.DataFrame else pl.Series)(y)
    clf = make(name).fit(table, labels)
    plain = make(name).fit(X, y)
    assert clf.feature_names_in_.tolist() == ["a", "b", "c"]
    assert clf.n_features_in_ == 3
    np.testing.assert_array_equal(clf.predict(table), plain.predict(X))
    np.testing.assert_allclose(clf.predict_proba(table), plain.predict_proba(X))
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(table[["b", "a", "c"]])


def table_with_categories(kind):
    rng = np.random.default_rng(0)
    n = 300
    colour = rng.choice(["red", "green", "blue"], n)
    size = rng.normal(size=n)
    y = np.where((colour == "red") ^ (rng.random(n) < 0.1), "bad", "good")
    size[::10] = np.nan
    names = colour.astype(object)
    names[::15] = None
    if kind == "pandas category":
        return pd.DataFrame({"colour": pd.Categorical(names), "size": size}), y
    if kind == "pandas text":
        return pd.DataFrame({"colour": names, "size": size}), y
    table = pl.DataFrame({"colour": names.tolist(), "size": size})
    if kind == "polars category":
        table = table.with_columns(pl.col("colour").cast(pl.Categorical))
    elif kind == "polars enum":
        table = table.with_columns(pl.col("colour").cast(pl.Enum(["red", "green", "blue"])))
    return table, y


KINDS = ("pandas category", "pandas text", "polars category", "polars enum", "polars text")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", BOOSTERS)
def test_categories_and_missing_values_with_trees(name, kind):
    table, y = table_with_categories(kind)
    clf = make(name, estimator="tree", cost_matrix=None).fit(table, y)
    assert (clf.predict(table) == y).mean() > 0.85
    assert clf.n_features_in_ == 2
    assert np.isfinite(clf.decision_function(table)).all()
    back = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(back.predict(table), clf.predict(table))
    # The order of the rows must not matter, nor whether a category is missing from them.
    some = slice(100, 105)
    np.testing.assert_array_equal(clf.predict(table[some]), clf.predict(table)[some])


@pytest.mark.parametrize("kind", ["pandas category", "polars category"])
def test_unseen_categories_count_as_missing(kind):
    table, y = table_with_categories(kind)
    clf = make("AdaC2Classifier", None).fit(table, y)
    if kind == "pandas category":
        new = pd.DataFrame({"colour": pd.Categorical(["violet", None]), "size": [0.0, 0.0]})
    else:
        new = pl.DataFrame({"colour": ["violet", None], "size": [0.0, 0.0]})
        new = new.with_columns(pl.col("colour").cast(pl.Categorical))
    violet, missing = clf.decision_function(new)
    assert violet == missing


@pytest.mark.parametrize("learner", [name for name in BUILT_IN if name != "tree"])
def test_categories_are_refused_by_other_learners(learner):
    table, y = table_with_categories("pandas category")
    with pytest.raises(ValueError, match=r"categorical columns.*colour.*tree"):
        make("AdaC2Classifier", estimator=learner).fit(table, y)


LABELS = {
    "text": np.array(["ok", "fraud"]),
    "bool": np.array([False, True]),
    "negative": np.array([-1, 1]),
    "far": np.array([7, 1000]),
    "float": np.array([0.0, 2.0]),
    "object": np.array(["no", "yes"], dtype=object),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("name", BINARY)
def test_any_labels(name, kind):
    X, y, _ = rows()
    labels = np.sort(LABELS[kind])
    clf = make(name, {**DEAR, "positive": labels[1]}).fit(X, labels[y])
    np.testing.assert_array_equal(clf.classes_, labels)
    plain = make(name).fit(X, y)
    np.testing.assert_array_equal(clf.predict(X), labels[plain.predict(X)])
    assert clf.predict(X).dtype == labels.dtype
    assert clf.score(X, labels[y]) == plain.score(X, y)


# --- costs ----------------------------------------------------------------------------------

FORMS = {
    "array": [[0, 1], [3, 0]],
    "short": {"fn": 3, "fp": 1, "positive": "b"},
    "positive": {"fn": 1, "fp": 3, "positive": "a"},
    "pairs": {("b", "a"): 3, ("a", "b"): 1},
    "frame": pd.DataFrame([[0, 3], [1, 0]], index=["b", "a"], columns=["b", "a"]),
    "polars": pl.DataFrame({"truth": ["b", "a"], "b": [0, 1], "a": [3, 0]}),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", BINARY)
def test_every_form_of_a_cost_matrix_is_the_same(name, form):
    X, y, _ = rows()
    y = np.array(["a", "b"])[y]
    one = make(name, [[0, 1], [3, 0]]).fit(X, y)
    other = make(name, FORMS[form]).fit(X, y)
    np.testing.assert_array_equal(other.cost_matrix_, [[0, 1], [3, 0]])
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    assert one.score(X, y) == other.score(X, y)


def costs_of(X):
    """Each row's own matrix, by its first feature."""
    return per_row(fn=2.0 + np.abs(np.asarray(X)[:, 0]), fp=1.0)


@pytest.mark.parametrize("name", BINARY)
def test_callable_cost_matrix(name):
    X, y, _ = rows()
    clf = make(name, costs_of).fit(X, y)
    known = make(name, None).fit(X, y, costs=costs_of(X))
    np.testing.assert_array_equal(clf.predict_proba(X), known.predict_proba(X))
    np.testing.assert_array_equal(clf.predict(X), known.predict(X, costs=costs_of(X)))
    assert clf.score(X, y) == known.score(X, y, costs=costs_of(X))
    np.testing.assert_allclose(clf.cost_matrix_, costs_of(X).mean(axis=0))


@pytest.mark.parametrize("name", BINARY)
def test_costs_per_row(name):
    X, y, rng = rows()
    matrices = per_row(fn=rng.uniform(1, 9, len(y)), fp=rng.uniform(0.5, 2, len(y)))
    prices = matrices[np.arange(len(y)), y]
    errors = prices.max(axis=1)
    for costs in (matrices, prices, errors):
        clf = make(name, None).fit(X, y, costs=costs)
        assert clf.cost_matrix_.shape == (2, 2)
        assert np.isfinite(clf.predict_proba(X)).all()
        assert np.isfinite(clf.score(X, y, costs=costs))
    # The last model knows no matrices; those of the moment it takes.
    assert set(clf.predict(X, costs=matrices)) <= {0, 1}
    for costs in (prices, errors):
        with pytest.raises(ValueError, match=r"costs.*shape \(n, 2, 2\)"):
            clf.predict(X, costs=costs)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("shape", [(5,), (119, 2), (120, 3), (120, 2, 3), (2, 3)])
def test_costs_of_a_wrong_shape(name, shape):
    X, y, _ = rows()
    with pytest.raises(ValueError, match="costs"):
        make(name, None).fit(X, y, costs=np.ones(shape))


@pytest.mark.parametrize("name", [name for name in BOOSTERS if name not in REGRESSIONS])
def test_effective_labels(name):
    """A fraud below the cost of a phone call is not worth one: the row counts as a negative."""
    X, y, rng = rows()
    amount = rng.uniform(0.5, 9, len(y))
    costs = per_row(fn=amount, fp=2.0, tp=2.0)
    label = np.where((y == 1) & (amount > 2.0), 1, 0)
    assert (label != y).any()
    price = np.where(y == 1, np.abs(amount - 2.0), 2.0)
    one = make(name, None).fit(X, y, costs=costs)
    other = make(name, None).fit(X, label, costs=price)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


@pytest.mark.parametrize("name", BINARY)
def test_score_is_the_savings(name):
    X, y, rng = rows()
    w = rng.uniform(size=len(y))
    clf = make(name).fit(X, y)
    decisions = clf.predict(X)
    assert clf.score(X, y) == savings_score(y, decisions, cost_matrix=DEAR)
    assert clf.score(X, y, sample_weight=w) == savings_score(
        y, decisions, cost_matrix=DEAR, sample_weight=w
    )
    matrices = per_row(fn=rng.uniform(1, 9, len(y)), fp=1.0)
    assert clf.score(X, y, costs=matrices) == savings_score(
        y, clf.predict(X, costs=matrices), costs=matrices
    )
    prices = matrices[np.arange(len(y)), y]
    assert clf.score(X, y, costs=prices) == savings_score(y, decisions, costs=prices)


# --- what belongs to the caller -------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", BINARY)
def test_the_callers_arrays_are_left_alone(name, order, dtype):
    X, y, rng = rows()
    given = {
        "X": np.array(X, dtype=dtype, order=order),
        "y": y,
        "costs": per_row(fn=rng.uniform(1, 9, len(y)), fp=1.0),
        "sample_weight": rng.integers(0, 3, len(y)).astype(float),
    }
    before = {key: value.copy() for key, value in given.items()}
    matrix = np.array([[0.0, 1.0], [3.0, 0.0]])
    for value in (*given.values(), matrix):
        value.flags.writeable = False
    clf = make(name, matrix).fit(**given)
    clf.predict(given["X"], costs=given["costs"])
    clf.score(given["X"], y, costs=given["costs"])
    if name in BOOSTERS:
        list(clf.staged_predict(given["X"]))
    for key, value in given.items():
        np.testing.assert_array_equal(value, before[key])
    assert clf.cost_matrix is matrix
    clf.cost_matrix_[0, 0] = 5.0  # the fitted copy is the model's own
    assert matrix[0, 0] == 0.0


@pytest.mark.parametrize("learner", BUILT_IN)
def test_learners_leave_the_callers_arrays_alone(learner):
    X, y, rng = rows()
    w = rng.uniform(size=len(y))
    X.flags.writeable = w.flags.writeable = False
    make("AdaC2Classifier", estimator=learner).fit(X, y, sample_weight=w).predict(X)


@pytest.mark.parametrize("name", BOOSTERS)
def test_float32_is_enough(name):
    X, y, _ = rows()
    X = X.astype(np.float32)
    single = make(name).fit(X, y)
    double = make(name).fit(X.astype(np.float64), y)
    np.testing.assert_array_equal(single.predict(X), double.predict(X))


# --- fitted attributes ----------------------------------------------------------------------


@pytest.mark.parametrize("name", BOOSTERS)
def test_fitted_attributes(name):
    X, y, _ = rows()
    clf = make(name).fit(X, y)
    assert clf.n_features_in_ == 3
    assert 0 < clf.n_iter_ <= 6
    assert len(clf.estimators_) == len(clf.estimator_weights_) == clf.n_iter_
    assert (clf.estimator_weights_ > 0).all()
    assert not hasattr(clf, "feature_names_in_")


@pytest.mark.parametrize("name", BOOSTERS)
def test_the_booster_is_the_model(name):
    X, y, _ = rows()
    clf = make(name, estimator="tree").fit(X, y)
    F = clf.decision_function(X)
    np.testing.assert_allclose(clf.booster_.predict(X, raw_score=True), F, atol=1e-12)
    contributions = clf.booster_.predict(X, pred_contrib=True)
    assert contributions.shape == (len(X), 4)
    np.testing.assert_allclose(contributions.sum(axis=1), F, atol=1e-6)
    # A tree that comes again, because the weights do not change, is in the booster once.
    is_repeated = name == "CSB0Classifier"
    assert clf.booster_.num_trees() == clf.n_iter_ or (
        is_repeated and 0 < clf.booster_.num_trees() < clf.n_iter_
    )


@pytest.mark.parametrize("learner", [name for name in BUILT_IN if name != "tree"])
def test_there_is_no_booster_without_trees(learner):
    X, y, _ = rows()
    clf = make("AdaC2Classifier", estimator=learner).fit(X, y)
    with pytest.raises(AttributeError, match="booster_"):
        _ = clf.booster_
    assert not hasattr(clf, "booster_")


@pytest.mark.parametrize("verbose", [1, 2, True])
@pytest.mark.parametrize("name", BOOSTERS)
def test_verbose(name, verbose, capsys):
    X, y, _ = rows()
    loud = make(name, verbose=verbose).fit(X, y)
    assert name in capsys.readouterr().out
    quiet = make(name).fit(X, y)
    assert capsys.readouterr().out == ""
    np.testing.assert_array_equal(loud.predict_proba(X), quiet.predict_proba(X))


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
@pytest.mark.parametrize("learner", BUILT_IN)
def test_threads_change_nothing(learner, n_jobs):
    X, y, _ = rows()
    one = make("AdaC2Classifier", estimator=learner).fit(X, y)
    many = make("AdaC2Classifier", estimator=learner, n_jobs=n_jobs).fit(X, y)
    np.testing.assert_allclose(one.decision_function(X), many.decision_function(X))


@pytest.mark.parametrize("name", BINARY)
def test_refitting_forgets(name):
    X, y, _ = rows()
    clf = make(name).fit(pd.DataFrame(X, columns=list("abc")), np.array([-1, 1])[y])
    clf.fit(X[:, :2], y)
    assert clf.n_features_in_ == 2
    assert not hasattr(clf, "feature_names_in_")
    np.testing.assert_array_equal(
        clf.predict(X[:, :2]), make(name).fit(X[:, :2], y).predict(X[:, :2])
    )
