"""Every multi-class classifier keeps the contracts of scikit-learn and of the library."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import shuffle
from sklearn.utils.estimator_checks import parametrize_with_checks

import costboost
from costboost.algorithms._base import (
    BinaryBoostingClassifier,
    BoostingClassifier,
    SampledClassifier,
)
from costboost.algorithms.lozano2008 import VARIANTS
from costboost.learners import Tree
from costboost.learners.adapter import ClassLearner
from costboost.metrics import savings_score, total_cost
from reference import multiclass

CLASSES = {
    name: C
    for name in costboost.algorithms.__all__
    if issubclass(C := getattr(costboost, name), BoostingClassifier)
    and not issubclass(C, BinaryBoostingClassifier)
}

# Every class once, and the options that change how it learns or decides.
OPTIONS: dict[str, tuple[str, dict]] = {name: (name, {}) for name in CLASSES}
OPTIONS |= {f"LpCSB {v}": ("LpCSBClassifier", {"variant": v}) for v in VARIANTS}
OPTIONS |= {
    "LpCSB bound": ("LpCSBClassifier", {"step": "bound", "variant": "adjusted"}),
    "LpCSB p=1": ("LpCSBClassifier", {"p": 1}),
    "M2 uniform": ("AdaBoostM2Classifier", {"init": "uniform"}),
    "P-MCBoost": ("MCBoostClassifier", {"loss": "mc", "decision": "bayes"}),
    "MCBoost tree": ("MCBoostClassifier", {"estimator": "tree"}),
}
OPTIONS |= {f"MCBoost {loss}": ("MCBoostClassifier", {"loss": loss}) for loss in multiclass.LOSSES}

# Rows are drawn, so equal weights do not mean equal samples.
DRAWS = {
    case
    for case, (name, _) in OPTIONS.items()
    if issubclass(CLASSES[name], SampledClassifier)
    or case in ("AverageCostClassifier", "LpCSB p=1")
}
# LightGBM trees in them: categories and missing values welcome.
TREES = {
    case
    for case, (name, options) in OPTIONS.items()
    if CLASSES[name](**options)._learner().accepts_categories
}


def make(case, cost_matrix=None, **options):
    name, special = OPTIONS[case]
    defaults = {"n_estimators": 5, "random_state": 0, "max_leaves": 8}
    return CLASSES[name](cost_matrix, **(defaults | special | options))


# --- scikit-learn's own checks --------------------------------------------------------------

WEIGHTS = [f"check_sample_weight_equivalence_on_{rows}_data" for rows in ("dense", "sparse")]
SAMPLES = "every round draws rows: a weight of 2 and two copies of a row lead to other samples"
TIES = (
    "15 rows, 30 features: LightGBM chooses between equally good splits by rounding; the training "
    "rows, which all such splits treat alike, are compared in test_weights_are_copies"
)
# The only place for expected failures: {case: {check: why}}.
EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    "AverageCostClassifier": dict.fromkeys(WEIGHTS, SAMPLES),
    "CostingClassifier": dict.fromkeys(WEIGHTS, SAMPLES),
    "DSEClassifier": dict.fromkeys(WEIGHTS, SAMPLES),
    "LpCSB p=1": dict.fromkeys(WEIGHTS, SAMPLES),
    "GBSEClassifier": dict.fromkeys(WEIGHTS, TIES),
    "MCBoost tree": dict.fromkeys(WEIGHTS, TIES),
}


def expected_failures(clf):
    def is_case(case):
        name, options = OPTIONS[case]
        plain = CLASSES[name](n_estimators=5, **options)
        return type(clf) is type(plain) and clf.get_params() == plain.get_params()

    return next((EXPECTED_FAILURES[case] for case in EXPECTED_FAILURES if is_case(case)), {})


@parametrize_with_checks(
    [CLASSES[name](n_estimators=5, **options) for name, options in OPTIONS.values()],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# --- data -----------------------------------------------------------------------------------

pytestmark = pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")


def rows(k=3, n=90, seed=0, noise=0.6):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    X = rng.normal(scale=noise, size=(n, 3))
    X[:, 0] += y
    X[:, 1] -= y % 2
    return X, y, rng


def matrix_of(k, seed=0):
    return np.random.default_rng(seed).uniform(1.0, 9.0, size=(k, k)) * (1.0 - np.eye(k))


def clear(scores):
    """Rows whose decision is not a matter of rounding."""
    if scores.ndim == 1:
        return np.abs(scores) > 1e-9
    ranked = np.sort(scores, axis=1)
    return ranked[:, -1] - ranked[:, -2] > 1e-9


# --- weights --------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [case for case in OPTIONS if case not in DRAWS])
@pytest.mark.parametrize("wide", [False, True])
def test_weights_are_copies(case, wide):
    """On the training rows. Wide: scikit-learn's own case; else stumps for LightGBM's trees.

    LightGBM guesses how many rows a leaf has from its weight, so larger trees are only nearly so.
    """
    rng = np.random.RandomState(42)
    options = {}
    if wide:
        X, y = rng.rand(15, 30), rng.randint(0, 3, size=15)
    else:
        X, y, _ = rows(noise=1.0)
        options = {"estimator": "stump"} if case in TREES else {}
    s = rng.randint(0, 5, size=len(y))
    copies = make(case, **options).fit(X.repeat(s, axis=0), y.repeat(s))
    X, y, s = shuffle(X, y, s, random_state=0)
    weighted = make(case, **options).fit(X, y, sample_weight=s)
    used = s > 0
    np.testing.assert_allclose(
        weighted.decision_function(X[used]), copies.decision_function(X[used]), atol=1e-9
    )


@pytest.mark.parametrize("case", OPTIONS)
def test_rows_without_weight_do_not_exist(case):
    X, y, rng = rows()
    used = rng.random(len(y)) < 0.7
    costs = rng.uniform(1, 5, size=(len(y), 3))
    some = make(case).fit(X[used], y[used], costs=costs[used])
    all_ = make(case).fit(X, y, costs=costs, sample_weight=used.astype(float))
    np.testing.assert_array_equal(some.decision_function(X), all_.decision_function(X))


# --- parameters and copies ------------------------------------------------------------------


@pytest.mark.parametrize("case", OPTIONS)
def test_clone(case):
    clf = make(case, matrix_of(3))
    copy = clone(clf)
    mine, theirs = clf.get_params(), copy.get_params()
    np.testing.assert_array_equal(mine.pop("cost_matrix"), theirs.pop("cost_matrix"))
    assert mine == theirs
    assert copy.set_params(n_estimators=2).n_estimators == 2


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("case", OPTIONS)
def test_pickle(case, k):
    X, y, _ = rows(k)
    clf = make(case, matrix_of(k)).fit(X, y)
    back = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(back.predict(X), clf.predict(X))
    np.testing.assert_array_equal(back.decision_function(X), clf.decision_function(X))
    np.testing.assert_array_equal(back.predict_proba(X), clf.predict_proba(X))
    assert len(list(back.staged_predict(X))) == clf.n_iter_


@pytest.mark.parametrize("case", OPTIONS)
def test_equal_seeds_give_equal_models(case):
    X, y, _ = rows()
    one, other = (make(case).fit(X, y).decision_function(X) for _ in range(2))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("case", sorted(DRAWS))
def test_other_seeds_give_other_models(case):
    X, y, _ = rows(noise=1.0)
    one, other = (
        make(case, matrix_of(3), random_state=seed).fit(X, y).decision_function(X)
        for seed in (0, 1)
    )
    assert (one != other).any()


BAD_ARGUMENTS = [
    ("n_estimators", 0),
    ("max_leaves", 1),
    ("estimator", "forest"),
    ("cost_matrix", {"fn": 1, "fp": 1}),
    ("cost_matrix", [[0, 1], [1, 0]]),
    ("cost_matrix", [[0, np.nan, 1], [1, 0, 1], [1, 1, 0]]),
    ("p", 0.5),
    ("variant", "indirect"),
    ("step", "exact"),
    ("resample", "always"),
    ("init", "balanced"),
    ("loss", "hinge"),
    ("decision", "coin"),
    ("learning_rate", 0.0),
    ("verbose", -1),
    ("n_jobs", 0),
]


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        (name, option, value)
        for name in CLASSES
        for option, value in BAD_ARGUMENTS
        if option in CLASSES[name]().get_params()
    ],
    ids=str,
)
def test_bad_arguments_are_named(name, option, value):
    X, y, _ = rows()
    with pytest.raises((ValueError, TypeError), match=option):
        CLASSES[name](**{"n_estimators": 2, option: value}).fit(X, y)


@pytest.mark.parametrize("name", CLASSES)
def test_not_fitted(name):
    X, _, _ = rows()
    for method in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(CLASSES[name](), method)(X)


@pytest.mark.parametrize("case", OPTIONS)
def test_fitted_attributes(case):
    k = 4
    X, y, _ = rows(k)
    clf = make(case, matrix_of(k)).fit(X, y)
    assert clf.classes_.tolist() == [0, 1, 2, 3]
    assert clf.n_features_in_ == 3
    assert 0 < clf.n_iter_ <= 5
    assert len(clf.estimators_) == len(clf.estimator_weights_)
    assert (clf.estimator_weights_ > 0).all()
    np.testing.assert_array_equal(clf.cost_matrix_, matrix_of(k))
    if hasattr(clf, "train_loss_"):
        assert clf.train_loss_.shape == (clf.n_iter_,)
    if isinstance(clf, costboost.MCBoostClassifier):
        assert clf.codewords_.shape == (k, k - 1)


# --- scores and decisions -------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 7, 26])
@pytest.mark.parametrize("case", OPTIONS)
def test_from_two_classes_to_26(case, k):
    X, y, _ = rows(k, n=6 * k + 30, noise=0.3)
    clf = make(case, matrix_of(k)).fit(X, y)
    F, P = clf.decision_function(X), clf.predict_proba(X)
    assert F.shape == ((len(y),) if k == 2 else (len(y), k))
    assert P.shape == (len(y), k)
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    decided = clf.predict(X)
    if OPTIONS[case][1].get("decision") == "bayes":
        expected = (P @ matrix_of(k)).argmin(axis=1)
    else:
        expected = (F > 0).astype(int) if k == 2 else F.argmax(axis=1)
    np.testing.assert_array_equal(decided, expected)
    if k == 2:
        np.testing.assert_array_equal(P[F != 0].argmax(axis=1), (F > 0)[F != 0])
    elif not isinstance(clf, costboost.MCBoostClassifier):
        np.testing.assert_array_equal(P.argmax(axis=1), F.argmax(axis=1))
    assert total_cost(y, decided, cost_matrix=matrix_of(k)) < total_cost(
        y, np.full(len(y), 0), cost_matrix=matrix_of(k)
    )


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("case", OPTIONS)
def test_the_last_stage_is_the_model(case, k):
    X, y, _ = rows(k)
    clf = make(case, matrix_of(k)).fit(X, y)
    stages = list(clf.staged_decision_function(X))
    assert len(stages) == clf.n_iter_
    np.testing.assert_allclose(stages[-1], clf.decision_function(X), atol=1e-12)
    if clf.get_params().get("decision") == "bayes":
        return  # stages show the scores
    sure = clear(clf.decision_function(X))
    *_, decided = clf.staged_predict(X)
    np.testing.assert_array_equal(decided[sure], clf.predict(X)[sure])


@pytest.mark.parametrize("case", [case for case in OPTIONS if case not in DRAWS])
def test_fewer_rounds_are_an_earlier_stage(case):
    X, y, _ = rows(noise=1.0)
    stages = list(make(case).fit(X, y).staged_decision_function(X))
    short = make(case, n_estimators=2).fit(X, y)
    np.testing.assert_allclose(stages[short.n_iter_ - 1], short.decision_function(X), atol=1e-12)


@pytest.mark.parametrize("case", OPTIONS)
def test_relabelling_classes_permutes_the_scores(case):
    X, y, rng = rows(4, noise=0.4)
    if case in DRAWS:
        pytest.skip("draws by place in the table of pairs")
    costs = rng.uniform(1.0, 5.0, size=(len(y), 4))
    costs[np.arange(len(y)), y] = 0.0
    turn = np.array([2, 0, 3, 1])  # class j is called turn[j]
    # After a first step of 1 few rows have weight left, and trees meet ties.
    options = {"step": "bound"} if case == "LpCSB direct" else {}
    plain = make(case, **options).fit(X, y, costs=costs)
    renamed = make(case, **options).fit(X, turn[y], costs=costs[:, np.argsort(turn)])
    if isinstance(plain, costboost.MCBoostClassifier):
        # Coordinates are taken in another order: another path down the same loss.
        agreement = (renamed.predict(X) == turn[plain.predict(X)]).mean()
        assert agreement > 0.8
        return
    F, G = plain.decision_function(X), renamed.decision_function(X)[:, turn]
    np.testing.assert_allclose(G, F, atol=1e-9)
    sure = clear(F)
    np.testing.assert_array_equal(renamed.predict(X)[sure], turn[plain.predict(X)][sure])


LABELS = {
    "text": np.array(["bus", "car", "van"]),
    "object": np.array(["a", "b", "c"], dtype=object),
    "far": np.array([-7, 3, 1000]),
    "float": np.array([0.0, 2.0, 5.0]),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("case", OPTIONS)
def test_any_labels(case, kind):
    X, y, _ = rows()
    labels = LABELS[kind]
    named, plain = (make(case, matrix_of(3)).fit(X, target) for target in (labels[y], y))
    np.testing.assert_array_equal(named.classes_, labels)
    np.testing.assert_array_equal(named.predict(X), labels[plain.predict(X)])
    assert named.predict(X).dtype == labels.dtype
    assert named.score(X, labels[y]) == plain.score(X, y)


# --- costs ----------------------------------------------------------------------------------

NAMES = ("bus", "car", "van")
FORMS = {
    "frame": pd.DataFrame(matrix_of(3), index=NAMES, columns=NAMES).iloc[::-1, [1, 2, 0]],
    "polars": pl.DataFrame({"truth": NAMES} | dict(zip(NAMES, matrix_of(3).T, strict=True))),
    "pairs": {
        (NAMES[i], NAMES[j]): matrix_of(3)[i, j] for i in range(3) for j in range(3) if i != j
    },
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", OPTIONS)
def test_every_form_of_a_cost_matrix_is_the_same(case, form):
    X, y, _ = rows()
    one, other = (
        make(case, matrix).fit(X, np.array(NAMES)[y]) for matrix in (matrix_of(3), FORMS[form])
    )
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    np.testing.assert_array_equal(other.cost_matrix_, matrix_of(3))


@pytest.mark.parametrize("case", OPTIONS)
def test_a_matrix_is_a_special_case_of_cost_rows(case):
    X, y, _ = rows()
    matrix = matrix_of(3)
    one = make(case, matrix).fit(X, y)
    for costs in (matrix[y], np.broadcast_to(matrix, (len(y), 3, 3))):
        other = make(case).fit(X, y, costs=costs)
        np.testing.assert_allclose(other.decision_function(X), one.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("case", OPTIONS)
def test_what_all_decisions_of_a_row_cost_does_not_matter(case):
    X, y, rng = rows()
    costs = matrix_of(3)[y]
    raised = costs + rng.integers(-4, 5, size=(len(y), 1))
    one, other = (make(case).fit(X, y, costs=c).decision_function(X) for c in (costs, raised))
    np.testing.assert_allclose(one, other, atol=1e-9)


@pytest.mark.parametrize("case", OPTIONS)
def test_the_cheapest_class_counts_not_the_label(case):
    """True class 0 always costs less as 1: whoever reads costs never says 0."""
    X, y, _ = rows(noise=0.3)
    costs = 1.0 - np.eye(3)[y]
    costs[y == 0] = [2.0, 0.0, 3.0]
    clf = make(case).fit(X, y, costs=costs)
    effective = np.where(y == 0, 1, y)
    assert (clf.predict(X) == effective).mean() > 0.85
    if clf.get_params().get("decision") == "bayes":
        return  # decides by the mean matrix, in which class 0 has a truth of its own
    relabelled = make(case).fit(X, y, costs=costs - costs.min(axis=1, keepdims=True))
    np.testing.assert_allclose(relabelled.decision_function(X), clf.decision_function(X))


BLIND = ("MCBoost mc", "M2 uniform")  # no costs in their equations


def small(case):
    """Small trees: large ones fit every row, whatever it costs."""
    if case == "LpCSB direct":
        return {"step": "bound"}  # steps of 1/t leave ties between the classes
    if case == "AdaCostM2Classifier":
        return {"max_leaves": 8, "n_estimators": 4}  # smaller trees leave ties, too
    return {"max_leaves": 4, "n_estimators": 4} if case in TREES else {}


@pytest.mark.parametrize("target", [0, 1, 2])
@pytest.mark.parametrize("case", [case for case in OPTIONS if case not in BLIND])
def test_dear_misses_draw_decisions_to_every_class(case, target):
    X, y, _ = rows(n=150, noise=1.2)
    dear = 1.0 - np.eye(3)
    dear[target] *= 8.0
    counts = []
    for matrix in (1.0 - np.eye(3), dear):
        clf = make(case, matrix, **small(case))
        counts.append((clf.fit(X, y).predict(X) == target).sum())
    assert counts[1] > counts[0]


@pytest.mark.parametrize("case", [case for case in OPTIONS if case not in BLIND])
def test_costs_of_single_rows_change_decisions(case):
    """Where x_2 > 0 class 0 is dear to miss, elsewhere class 2."""
    X, y, _ = rows(n=200, noise=0.8)
    up = X[:, 2] > 0
    costs = 1.0 - np.eye(3)[y]
    # AdaCost finds no rule where costs are far apart.
    dear = 2.0 if case == "AdaCostM2Classifier" else 9.0
    costs[up & (y == 0)] *= dear
    costs[~up & (y == 2)] *= dear
    if case == "P-MCBoost":
        costs_known = np.where(up[:, None, None], [[9.0], [1], [1]], [[1.0], [1], [9]])
        costs_known = costs_known * (1.0 - np.eye(3))
        decided = make(case).fit(X, y).predict(X, costs=costs_known)
    else:
        decided = make(case, **small(case)).fit(X, y, costs=costs).predict(X)
    assert (decided[up] == 0).mean() > (decided[~up] == 0).mean()
    assert (decided[~up] == 2).mean() > (decided[up] == 2).mean()


@pytest.mark.parametrize("case", OPTIONS)
def test_costs_known_when_deciding(case):
    X, y, rng = rows()
    clf = make(case).fit(X, y)
    costs = rng.uniform(0, 9, size=(len(y), 3, 3))
    P = clf.predict_proba(X)
    expected = np.einsum("nj,njd->nd", P, costs)
    decided = clf.predict(X, costs=costs)
    ranked = np.sort(expected, axis=1)
    sure = ranked[:, 1] - ranked[:, 0] > 1e-9
    np.testing.assert_array_equal(decided[sure], expected.argmin(axis=1)[sure])
    assert clf.score(X, y, costs=costs) == savings_score(y, decided, costs=costs)
    with pytest.raises(ValueError, match=r"shape \(n, 3, 3\)"):
        clf.predict(X, costs=costs[:, 0])


def costs_of(X):
    """Each row's own matrix, by its first feature."""
    return (1.0 + np.abs(np.asarray(X)[:, :1, None])) * matrix_of(3)


@pytest.mark.parametrize("case", OPTIONS)
def test_callable_cost_matrix(case):
    X, y, _ = rows()
    clf = make(case, costs_of).fit(X, y)
    known = make(case).fit(X, y, costs=costs_of(X))
    np.testing.assert_array_equal(clf.predict_proba(X), known.predict_proba(X))
    np.testing.assert_array_equal(clf.predict(X), known.predict(X, costs=costs_of(X)))


@pytest.mark.parametrize("case", OPTIONS)
def test_score_is_the_savings(case):
    X, y, rng = rows()
    w = rng.uniform(size=len(y))
    clf = make(case, matrix_of(3)).fit(X, y)
    assert clf.score(X, y, sample_weight=w) == savings_score(
        y, clf.predict(X), cost_matrix=matrix_of(3), sample_weight=w
    )
    prices = rng.uniform(0, 5, size=(len(y), 3))
    assert clf.score(X, y, costs=prices) == savings_score(y, clf.predict(X), costs=prices)
    assert clf.score(X, y) > 0.2


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("shape", [(5,), (89, 3), (90, 2), (90, 3, 2), (3, 3)])
def test_costs_of_a_wrong_shape(name, shape):
    X, y, _ = rows()
    with pytest.raises(ValueError, match="costs"):
        CLASSES[name](n_estimators=2).fit(X, y, costs=np.ones(shape))


# --- inside scikit-learn --------------------------------------------------------------------


@pytest.mark.parametrize("case", OPTIONS)
def test_pipeline_and_grid_search(case):
    X, y, _ = rows()
    matrix = matrix_of(3)
    pipe = make_pipeline(StandardScaler(), make(case, matrix)).fit(X, y)
    assert pipe.score(X, y) == savings_score(y, pipe.predict(X), cost_matrix=matrix)
    grid = {"n_estimators": [1, 3], "cost_matrix": [None, matrix]}
    search = GridSearchCV(make(case), grid, cv=2).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("case", OPTIONS)
def test_costs_are_routed(case, ndim):
    X, y, rng = rows()
    costs = rng.uniform(1, 5, size=(len(y), *(3,) * (ndim - 1)))
    if ndim == 2:
        costs[np.arange(len(y)), y] = 0.0
    else:
        costs *= 1.0 - np.eye(3)
    X_ = StandardScaler().fit_transform(X)
    by_hand = make(case, n_estimators=3).fit(X_, y, costs=costs)
    with sklearn.config_context(enable_metadata_routing=True):
        clf = make(case, n_estimators=3)
        clf.set_fit_request(costs=True).set_score_request(costs=True)
        clf.set_predict_request(costs=ndim == 3)
        pipe = make_pipeline(StandardScaler(), clf).fit(X, y, costs=costs)
        np.testing.assert_array_equal(pipe[-1].decision_function(X_), by_hand.decision_function(X_))
        assert pipe.score(X, y, costs=costs) == by_hand.score(X_, y, costs=costs)
        if ndim == 3:
            np.testing.assert_array_equal(
                pipe.predict(X, costs=costs), by_hand.predict(X_, costs=costs)
            )
        results = cross_validate(clf, X, y, params={"costs": costs}, cv=3)
    assert np.isfinite(results["test_score"]).all()


MISSING = {
    "frame": pd.DataFrame(matrix_of(3), index=NAMES, columns=NAMES),
    "pairs": FORMS["pairs"],
    "array": matrix_of(3),
    "none": None,
}


@pytest.mark.parametrize("form", MISSING)
@pytest.mark.parametrize("name", CLASSES)
def test_a_class_missing_from_a_fold(name, form):
    """Sorted rows without shuffling: each fold lacks a class. A plain array cannot say which."""
    X, y, _ = rows()
    order = np.argsort(y)
    X, y = X[order], np.array(NAMES)[y[order]]
    clf = CLASSES[name](MISSING[form], n_estimators=2)
    if form == "array":
        with pytest.raises(ValueError, match=r"shape \(2, 2\) for the classes \['car', 'van'\]"):
            cross_validate(clf, X, y, cv=KFold(3), error_score="raise")
    else:
        results = cross_validate(clf, X, y, cv=KFold(3), error_score="raise")
        assert (results["test_score"] <= 0).all()  # the class of the fold was never seen
    results = cross_validate(clf, X, y, cv=StratifiedKFold(3), error_score="raise")
    assert np.isfinite(results["test_score"]).all()


# --- weak learners --------------------------------------------------------------------------


@pytest.mark.parametrize("learner", ["stump", "histogram", "line", "perceptron", Tree(4)], ids=str)
@pytest.mark.parametrize(
    "case", ["LpCSBClassifier", "LpCSB adjusted", "GBSEClassifier", "AdaBoostM2Classifier"]
)
def test_relations_of_every_learner(case, learner):
    X, y, _ = rows()
    clf = make(case, estimator=learner).fit(X, y)
    assert clf.score(X, y) > 0.2
    *_, last = clf.staged_decision_function(X)
    np.testing.assert_allclose(last, clf.decision_function(X), atol=1e-12)
    back = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(back.predict(X), clf.predict(X))


@pytest.mark.parametrize("learner", ["tree", "stump", "line", DecisionTreeRegressor(max_depth=2)])
def test_mcboost_with_other_learners(learner):
    X, y, _ = rows()
    clf = make("MCBoostClassifier", estimator=learner).fit(X, y)
    assert clf.score(X, y) > 0.5
    with pytest.raises(ValueError, match="regressor"):
        make("MCBoostClassifier", estimator=DecisionTreeClassifier()).fit(X, y)


@pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB(), KNeighborsClassifier(3)])
@pytest.mark.parametrize("name", ["CostingClassifier", "DSEClassifier"])
def test_any_classifier_can_be_sampled(name, model):
    X, y, _ = rows()
    assert make(name, matrix_of(3), estimator=model, n_jobs=1).fit(X, y).score(X, y) > 0.3
    with pytest.raises(ValueError, match="scikit-learn classifier"):
        make(name, estimator=DecisionTreeRegressor()).fit(X, y)


@pytest.mark.parametrize("name", ["CostingClassifier", "DSEClassifier"])
def test_processes_change_nothing(name):
    X, y, _ = rows()
    one, two = (make(name, n_jobs=jobs).fit(X, y).predict_proba(X) for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_learners_of_the_direct_variant():
    X, y, _ = rows()

    def fitted(learner, **options):
        return make("LpCSB direct", estimator=learner, **options).fit(X, y).decision_function(X)

    np.testing.assert_array_equal(fitted(None, max_leaves=4), fitted("tree", max_leaves=4))
    np.testing.assert_array_equal(fitted(Tree(4)), fitted(None, max_leaves=4))
    np.testing.assert_array_equal(
        fitted(ClassLearner(DecisionTreeRegressor(max_leaf_nodes=4))), fitted(None, max_leaves=4)
    )
    assert np.isfinite(fitted(LinearRegression())).all()
    for learner in ("stump", "line", DecisionTreeClassifier()):
        with pytest.raises(ValueError, match=r"estimator.*direct"):
            fitted(learner)
    X[0, 0] = np.nan
    assert np.isfinite(fitted(None)).all()
    with pytest.raises(ValueError, match="NaN"):
        fitted(LinearRegression())


# --- frames and missing values --------------------------------------------------------------


def table_with_categories(kind):
    rng = np.random.default_rng(0)
    n = 240
    colour = rng.choice(["red", "green", "blue"], n)
    y = np.where(rng.random(n) < 0.1, "green", colour)
    size = rng.normal(size=n)
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
    return table, y


@pytest.mark.parametrize("kind", ["pandas category", "pandas text", "polars category", "polars"])
@pytest.mark.parametrize("case", sorted(TREES))
def test_categories_and_missing_values_with_trees(case, kind):
    table, y = table_with_categories(kind)
    clf = make(case).fit(table, y)
    assert (clf.predict(table) == y).mean() > 0.8
    assert clf.feature_names_in_.tolist() == ["colour", "size"]
    assert np.isfinite(clf.decision_function(table)).all()
    some = slice(100, 105)
    np.testing.assert_array_equal(clf.predict(table[some]), clf.predict(table)[some])
    back = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(back.predict(table), clf.predict(table))


@pytest.mark.parametrize("case", sorted(OPTIONS.keys() - TREES))
def test_categories_are_refused_without_trees(case):
    table, y = table_with_categories("pandas category")
    with pytest.raises(ValueError, match=r"categorical columns.*colour"):
        make(case).fit(table, y)


@pytest.mark.parametrize("case", OPTIONS)
def test_missing_values(case):
    X, y, _ = rows()
    X[::7, 1] = np.nan
    clf = make(case)
    if sklearn.utils.get_tags(clf).input_tags.allow_nan:
        assert np.isfinite(clf.fit(X, y).decision_function(X)).all()
        assert clf.score(X, y) > 0
    else:
        with pytest.raises(ValueError, match="NaN"):
            clf.fit(X, y)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("case", OPTIONS)
def test_frames_of_numbers(case, frame):
    X, y, _ = rows()
    table = frame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    labels = (pd.Series if frame is pd.DataFrame else pl.Series)(y)
    clf, plain = make(case).fit(table, labels), make(case).fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(table), plain.predict_proba(X))
    np.testing.assert_array_equal(clf.predict(table), plain.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(table[["b", "a", "c"]])


@pytest.mark.parametrize("case", OPTIONS)
def test_the_callers_arrays_are_left_alone(case):
    X, y, rng = rows()
    given = {
        "X": X,
        "y": y,
        "costs": rng.uniform(1, 5, size=(len(y), 3, 3)),
        "sample_weight": rng.integers(0, 3, len(y)).astype(float),
    }
    before = {key: value.copy() for key, value in given.items()}
    matrix = matrix_of(3)
    for value in (*given.values(), matrix):
        value.flags.writeable = False
    clf = make(case, matrix).fit(**given)
    clf.predict(X, costs=given["costs"])
    clf.score(X, y, costs=given["costs"])
    list(clf.staged_predict(X))
    make(case).fit(X, y, costs=given["costs"][:, 0])
    for key, value in given.items():
        np.testing.assert_array_equal(value, before[key])
    assert clf.cost_matrix is matrix


@pytest.mark.parametrize("case", OPTIONS)
def test_refitting_forgets(case):
    X, y, _ = rows(4)
    clf = make(case).fit(X, y)
    X, y, _ = rows(3, seed=1)
    again = clf.fit(X[:, :2], y).decision_function(X[:, :2])
    fresh = make(case).fit(X[:, :2], y).decision_function(X[:, :2])
    np.testing.assert_array_equal(again, fresh)


# --- degenerate -----------------------------------------------------------------------------


@pytest.mark.parametrize("case", OPTIONS)
def test_one_class_is_an_error(case):
    X, _, _ = rows()
    with pytest.raises(ValueError, match="only one class"):
        make(case).fit(X, np.zeros(len(X)))


@pytest.mark.parametrize("case", OPTIONS)
def test_nothing_at_stake_is_an_error(case):
    X, y, _ = rows()
    with pytest.raises(ValueError, match="nothing to learn"):
        make(case).fit(X, y, costs=np.ones((len(y), 3)))


@pytest.mark.parametrize("case", OPTIONS)
def test_features_that_say_nothing(case):
    X, y, _ = rows(n=60)
    matrix = np.array([[0, 1, 1], [1, 0, 1], [9, 9, 0]])
    X = np.ones_like(X)
    clf = make(case, matrix, n_estimators=30)
    with pytest.warns(costboost.CollapseWarning, match=type(clf).__name__):
        clf.fit(X, y)
    assert np.isfinite(clf.decision_function(X)).all()
    assert np.isfinite(clf.predict_proba(X)).all()
    if case not in BLIND:
        assert set(clf.predict(X)) == {2}


@pytest.mark.parametrize("case", OPTIONS)
def test_two_rows(case):
    X, y = np.array([[0.0], [1.0]]), np.array(["a", "b"])
    clf = make(case).fit(X, y)
    assert np.isfinite(clf.decision_function(X)).all()
    assert set(clf.predict(X)) <= {"a", "b"}
    if OPTIONS[case][1].get("estimator") == "tree" or case in DRAWS - {"DSEClassifier"}:
        return
    if not isinstance(clf, SampledClassifier):
        np.testing.assert_array_equal(clf.predict(X), y)


@pytest.mark.parametrize("case", OPTIONS)
def test_rows_that_cost_nothing(case):
    X, y, _ = rows()
    costs = 1.0 - np.eye(3)[y]
    free = np.arange(len(y)) % 3 == 0
    costs[free] = 0.0
    # Stumps, because LightGBM guesses from their weight how many rows a leaf has.
    options = {"estimator": "stump", "n_estimators": 10} if case in TREES else {}
    clf = make(case, **options).fit(X, y, costs=costs)
    assert clf.n_iter_ > 0
    assert clf.score(X, y, costs=costs) > 0.2
    # Free rows are in the norm of step="bound" and in the means of regression trees.
    if case in DRAWS | {"LpCSB bound", "LpCSB direct", *BLIND, "P-MCBoost"}:
        return
    # Equal initial weights give free rows a say in the first round.
    if getattr(clf, "_default_init", "cost") == "uniform":
        return
    others = make(case, **options).fit(X[~free], y[~free], costs=costs[~free])
    np.testing.assert_allclose(
        others.decision_function(X[~free]),
        clf.decision_function(X[~free]),
        atol=1e-9,
    )


@pytest.mark.parametrize("dear", [1e12, 1e-12])
@pytest.mark.parametrize("case", OPTIONS)
def test_costs_far_apart(case, dear):
    X, y, _ = rows()
    matrix = 1.0 - np.eye(3)
    matrix[1] *= dear
    clf = make(case, matrix).fit(X, y)
    assert np.isfinite(clf.decision_function(X)).all()
    assert np.isfinite(clf.predict_proba(X)).all()
    if case in BLIND:
        return
    decided = clf.predict(X)
    if dear > 1 and getattr(clf, "loss", None) == "gll" and clf.estimator is None:
        # Its loss only grows with the logarithm of the costs: not calibrated.
        plain = make(case).fit(X, y).predict(X)
        assert (decided == 1).sum() > (plain == 1).sum()
    elif dear > 1:
        assert (decided[y == 1] == 1).all()
    else:
        assert total_cost(y, decided, cost_matrix=matrix) <= total_cost(
            y, np.full(len(y), 0), cost_matrix=matrix
        )


@pytest.mark.parametrize("scale", [1e-9, 1e9])
@pytest.mark.parametrize(
    "case", [case for case in OPTIONS if OPTIONS[case][0] != "MCBoostClassifier"]
)
def test_the_currency_does_not_matter(case, scale):
    X, y, _ = rows()
    one, other = (
        make(case, factor * matrix_of(3)).fit(X, y).decision_function(X) for factor in (1.0, scale)
    )
    np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.parametrize("case", OPTIONS)
def test_collapse_is_said_once(case):
    """Whatever the truth, deciding 1 is free: one class for every row."""
    X, y, _ = rows()
    matrix = np.array([[1.0, 0.0, 1.0]] * 3)
    with pytest.warns(costboost.CollapseWarning) as caught:
        clf = make(case).fit(X, y, costs=matrix[y])
    assert len(caught) == 1
    assert set(clf.predict(X)) == {1}
