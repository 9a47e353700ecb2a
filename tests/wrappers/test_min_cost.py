"""MinCostClassifier: the Bayes decision on the probabilities of any classifier."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from lightgbm import LGBMClassifier
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from costboost import AdaBoostCClassifier, AdaMECClassifier, CollapseWarning, MinCostClassifier
from costboost.costs import per_row
from costboost.datasets import make_gaussians_2d

SMALL = LGBMClassifier(n_estimators=10, num_leaves=4, verbosity=-1, n_jobs=1)

EXPECTED_FAILURES = dict.fromkeys(
    [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")],
    "LightGBM's min_child_samples and its bins count rows, whatever their weights",
)


@pytest.mark.filterwarnings("ignore::costboost.errors.CollapseWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:Converting data to scipy sparse matrix")  # LightGBM, csr_array
@parametrize_with_checks(
    [
        MinCostClassifier(),
        MinCostClassifier(LogisticRegression()),
        MinCostClassifier(LinearSVC(), calibration="sigmoid", cv=2),
    ],
    expected_failed_checks=lambda clf: EXPECTED_FAILURES if clf.estimator is None else {},
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def gaussians():
    return make_gaussians_2d(150, random_state=0)


@pytest.mark.parametrize("calibration", [None, "sigmoid", "isotonic"])
def test_predict_is_the_bayes_decision(calibration):
    X, y = load_iris(return_X_y=True)
    X, y = X[:, :2], np.array(["setosa", "versicolor", "virginica"])[y]
    matrix = np.array([[0.0, 1, 2], [8, 0, 3], [1, 20, 0]])
    clf = MinCostClassifier(LogisticRegression(), matrix, calibration=calibration).fit(X, y)
    decided = (clf.predict_proba(X) @ matrix).argmin(axis=1)
    np.testing.assert_array_equal(clf.predict(X), clf.classes_[decided])
    assert isinstance(clf.estimator_, CalibratedClassifierCV) == (calibration is not None)


def test_costs_of_the_fit(gaussians):
    """An expression is worked out again at predict; of costs of rows the mean is kept."""
    X, y = gaussians
    asked = MinCostClassifier(LogisticRegression(), {"fn": "1 + x0 ** 2", "fp": 1})
    costs = per_row(fn=1 + X[:, 0] ** 2, fp=1)
    mean = [[0, 1], [costs[y > 0, 1, 0].mean(), 0]]  # over the rows that can pay it
    np.testing.assert_allclose(asked.fit(X, y).cost_matrix_, mean)
    p = asked.predict_proba(X)
    expected = np.where(p[:, 1] * costs[:, 1, 0] >= p[:, 0], 1, -1)
    for decided in (asked.predict(X), asked.predict(X, costs=costs)):
        np.testing.assert_array_equal(decided, expected)
    assert asked.score(X, y) == asked.score(X, y, costs=costs)
    weights = np.linspace(1, 2, len(y))
    given = MinCostClassifier(LogisticRegression()).fit(X, y, weights, costs=costs)
    fn = np.average(costs[y > 0, 1, 0], weights=weights[y > 0])
    np.testing.assert_allclose(given.cost_matrix_, [[0, 1], [fn, 0]])
    given.fit(X, y, costs=costs)
    static = MinCostClassifier(LogisticRegression(), mean).fit(X, y)
    np.testing.assert_array_equal(given.predict(X), static.predict(X))


def test_frames_reach_the_estimator_untouched(gaussians):
    X, y = gaussians
    rng = np.random.default_rng(0)
    kind = np.where(y > 0, rng.choice(["a", "b", "c"], len(y)), rng.choice(["c", "d"], len(y)))
    frame = pd.DataFrame({"x": X[:, 0], "kind": pd.Categorical(kind)})
    labels = pd.Series(np.where(y > 0, "fraud", "ok"))
    clf = MinCostClassifier(SMALL).fit(frame, labels)
    assert clf.estimator_.booster_.pandas_categorical == [["a", "b", "c", "d"]]
    assert list(clf.feature_names_in_) == ["x", "kind"]
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(frame.rename(columns={"x": "z"}))
    texts = ["cheap pills", "win money", "see you at noon", "minutes of the meeting"] * 5
    spam = make_pipeline(CountVectorizer(), LogisticRegression())
    clf = MinCostClassifier(spam).fit(texts, ["spam", "spam", "ham", "ham"] * 5)
    assert clf.predict(["money for pills", "the meeting at noon"]).tolist() == ["spam", "ham"]


def test_metadata_routing(gaussians):
    X, y = gaussians
    costs = per_row(fn=np.linspace(1, 5, len(y)), fp=1)
    weights = np.linspace(1, 2, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        for calibration in (None, "sigmoid"):
            clf = MinCostClassifier(LogisticRegression(), calibration=calibration, cv=2)
            clf.set_fit_request(costs=True, sample_weight=True).set_predict_request(costs=True)
            clf.set_score_request(costs=True, sample_weight=True)
            pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), clf)
            pipe.fit(X, y, costs=costs, sample_weight=weights)
            assert pipe[-1].cost_matrix_[1, 0] > 3  # the dearer rows weigh more
            params = {"costs": costs, "sample_weight": weights}
            scores = cross_validate(pipe, X, y, cv=2, params=params)["test_score"]
            assert (scores > 0).all()
        step = LogisticRegression().set_fit_request(sample_weight=True)
        nested = MinCostClassifier(
            make_pipeline(StandardScaler().set_fit_request(sample_weight=False), step)
        )
        heavy = nested.fit(X, y, sample_weight=np.where(y > 0, 20, 1))
        assert (heavy.predict(X) > 0).mean() > 0.7


ONE_OF_TRUE = {"y": np.arange(150) == 4}


@pytest.mark.parametrize(
    ("model", "more", "message"),
    [
        (MinCostClassifier(LinearSVC()), {}, r"does not[.] Set calibration='sigmoid'"),
        (
            MinCostClassifier(KNeighborsClassifier()),
            {"sample_weight": np.ones(150)},
            "KNeighborsClassifier takes no sample_weight",
        ),
        (MinCostClassifier(calibration="platt"), {}, "'calibration' parameter of MinCost"),
        (MinCostClassifier(cv="5"), {}, "'cv' parameter of MinCostClassifier"),
        (MinCostClassifier(SMALL, calibration="sigmoid"), ONE_OF_TRUE, "class True has 1"),
        (MinCostClassifier(cost_matrix=np.eye(3)), {}, "cost_matrix"),
        (MinCostClassifier(SMALL), {"groups": np.ones(150)}, "folds of a calibration, and there"),
    ],
)
def test_errors(model, more, message, gaussians):
    X, y = gaussians[0][:150], gaussians[1][:150]
    with pytest.raises(ValueError, match=message):
        model.fit(**{"X": X, "y": y, **more})


def test_folds_keep_groups_together(gaussians):
    X, y = gaussians
    groups = np.arange(len(y)) // 5
    folds = list(GroupKFold(3).split(X, y, groups))
    options = {"calibration": "sigmoid", "ensemble": True}
    one = MinCostClassifier(LogisticRegression(), cv=GroupKFold(3), **options)
    other = MinCostClassifier(LogisticRegression(), cv=folds, **options).fit(X, y)
    proba = one.fit(X, y, groups=groups).predict_proba(X)
    np.testing.assert_array_equal(proba, other.predict_proba(X))
    assert len(clone(one).set_params(cv=2).fit(X, y, groups=groups).estimator_.classes_) == 2
    with pytest.raises(ValueError, match="cv is a list of folds"):
        other.fit(X, y, groups=groups)


@pytest.mark.parametrize(
    "model",
    [
        MinCostClassifier(cost_matrix={"fn": 5, "fp": 1}),
        MinCostClassifier(cost_matrix={"fn": 5, "fp": 1}, calibration="sigmoid"),
        AdaMECClassifier({"fn": 5, "fp": 1}, n_estimators=10, random_state=0),
    ],
    ids=["plain", "calibrated", "AdaMEC"],
)
def test_rows_without_weight_do_not_matter(model, gaussians):
    X, y = gaussians
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2.0, len(y))
    weight[rng.uniform(size=len(y)) < 0.2] = 0.0
    rows = weight > 0
    all_rows = clone(model).fit(X, y, sample_weight=weight)
    rows_with_weight = clone(model).fit(X[rows], y[rows], sample_weight=weight[rows])
    np.testing.assert_allclose(
        all_rows.predict_proba(X), rows_with_weight.predict_proba(X), atol=1e-12
    )


def test_a_class_without_weight_is_still_a_class(gaussians):
    X, y = gaussians
    weight = np.where(y == y[0], 0.0, 1.0)
    model = MinCostClassifier(cost_matrix={"fn": 5, "fp": 1})
    with pytest.warns(CollapseWarning, match="for every training row"):
        model.fit(X, y, sample_weight=weight)
    assert model.predict_proba(X).shape == (len(y), 2)


def test_small_folds_and_one_decision(gaussians):
    X, y = gaussians
    with pytest.warns(CollapseWarning, match="decides 1 for every training row"):
        MinCostClassifier(LogisticRegression(), {"fn": 1e12, "fp": 1}).fit(X, y)
    rows = np.r_[np.flatnonzero(y > 0)[:3], np.flatnonzero(y < 0)[:30]]
    clf = MinCostClassifier(LogisticRegression(), {"fn": 4, "fp": 1}, calibration="sigmoid")
    clf.fit(X[rows], y[rows])
    assert len(clf.estimator_.calibrated_classifiers_) == 3


# --- AdaMEC: AdaBoost, calibrated, then the Bayes decision --------------------------------------


def test_adamec_is_calibrated_adaboost_and_the_bayes_decision(gaussians):
    rare = (gaussians[1] < 0) | (np.arange(len(gaussians[1])) % 3 == 0)
    X, y = (part[rare] for part in gaussians)
    options = {"n_estimators": 10, "max_leaves": 4, "random_state": 0}
    clf = AdaMECClassifier({"fn": 5, "fp": 1}, **options).fit(X, y)
    adaboost = AdaBoostCClassifier(init="uniform", **options)
    p = CalibratedClassifierCV(adaboost, method="sigmoid", cv=5).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(clf.predict_proba(X), p, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(clf.predict(X), np.where(p[:, 1] * 5 >= p[:, 0], 1, -1))
    clf = AdaMECClassifier({"fn": 5, "fp": 1}, calibration=None, **options).fit(X, y)
    F = clf.estimator_.decision_function(X)  # blind to costs
    np.testing.assert_array_equal(F, adaboost.fit(X, y).decision_function(X))
    np.testing.assert_allclose(clf.predict_proba(X)[:, 1], expit(2 * F), atol=1e-12)


# --- estimators that fail -----------------------------------------------------------------------


class Failing(ClassifierMixin, BaseEstimator):
    """A classifier that fails in its own way."""

    def __init__(self, how="nan"):
        self.how = how

    def fit(self, X, y):
        if self.how == "fit":
            raise ZeroDivisionError("division by zero")
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        if self.how == "predict":
            raise IndexError("list index out of range")
        return np.full((len(X), len(self.classes_)), np.nan)


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        (Failing("fit"), "cannot take these rows: ZeroDivisionError"),
        (Failing("predict"), "cannot take these rows: IndexError"),
        (Failing("nan"), "gives probabilities that are not finite"),
        (LogisticRegression(), "cannot take these rows: ValueError: could not convert string"),
    ],
)
def test_errors_and_nan_of_the_estimator_are_named(inner, message):
    X, y = np.array([["a", "b"]] * 6, dtype=object), [0, 1, 0, 1, 0, 1]
    with pytest.raises(ValueError, match=f"{type(inner).__name__} of MinCostClassifier {message}"):
        MinCostClassifier(inner).fit(X, y)


@pytest.mark.parametrize("kind", [MinCostClassifier, AdaMECClassifier])
def test_raw_rows_of_text_are_decided_as_the_typed_ones(kind: type) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=300), "k": rng.choice(list("xyz"), 300)})
    y = pd.Series((X["a"] + (X["k"] == "x") + rng.normal(size=300) > 0).astype(int), name="t")
    model = kind(cost_matrix={"fn": 3, "fp": 1}).fit(X, y)
    raw = pl.from_pandas(X.assign(id=7, t=y)).cast(pl.String)
    np.testing.assert_array_equal(
        model.predict_proba(model.columns_.read(raw)), model.predict_proba(X)
    )
