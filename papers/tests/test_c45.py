"""C4.5: the trees of Weka's J48, and what its documentation and Quinlan's books say."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import check_estimator

import j48
from costboost import AdaC2Classifier, CSLogitBoostClassifier, LpCSBClassifier
from costboost_papers.c45 import C45Classifier, JointC45

# Numbers that a tree compares with: J48 takes values that differ by less than 1e-6 for one.
THRESHOLD = re.compile(r"(?<=[<>=] )-?[\d.]+")


def same_trees(ours, theirs):
    """The same but for thresholds of values that J48 cannot tell apart."""
    cuts = [np.array(THRESHOLD.findall(text), dtype=float) for text in (ours, theirs)]
    return THRESHOLD.sub("", ours) == THRESHOLD.sub("", theirs) and np.allclose(
        *cuts, rtol=0, atol=1.1e-6
    )


@pytest.mark.parametrize("kind", ["plain", "weighted"])
@pytest.mark.parametrize("name", j48.SETS)
def test_the_trees_are_those_of_j48(name, kind, data_dir):
    if not (data_dir / f"{name}.csv.gz").exists():
        pytest.skip(f"needs {name}.csv.gz in the folder of the benchmark files")
    X, y, w = j48.rows(name, kind == "weighted")
    clf = C45Classifier().fit(X, y, w)
    theirs = (j48.FOLDER / f"{name}-{kind}.txt").read_text().rstrip()
    assert same_trees(str(clf.tree_), theirs)
    assert clf.n_leaves_ == theirs.count(": y")


def test_golf_by_hand():
    # Quinlan (1993), chapter 3: with the outlook of one day unknown, outlook has a gain of 0.199
    # bits and a ratio of 0.110, and wins. The unknown day goes down all three branches.
    outlook = pd.Categorical([*"sssss", *"oooo", *"rrrrr"]).rename_categories(list("ors"))
    days = pd.DataFrame(
        {
            "outlook": outlook,
            "humidity": [70, 90, 85, 95, 70, 90, 78, 65, 75, 80, 70, 80, 80, 96.0],
            "windy": pd.Categorical([*"yynnn", *"ynyn", *"yynnn"]),
        }
    )
    plays = np.array([*"pddd", "p", *"pppp", *"ddppp"])
    days.loc[5, "outlook"] = np.nan
    clf = C45Classifier(min_samples_leaf=1.5).fit(days, plays)
    assert str(clf.tree_).splitlines()[0] == "c0 = v0: y1 (3.23)"
    assert clf.n_leaves_ == 5
    # 3/13 of the day plays as all overcast days do, 5/13 as each other kind of day.
    shares = [5 / 13, 3 / 13, 5 / 13]
    asked = pd.DataFrame({"outlook": list("sor"), "humidity": 90.0, "windy": "y"})
    known = clf.predict_proba(asked)[[0, 1, 2]]
    unknown = clf.predict_proba(asked.assign(outlook="hail"))  # a new category is a missing value
    np.testing.assert_allclose(unknown[0], shares @ known, atol=0.01)
    with pytest.raises(ValueError, match="'humidity' must hold numbers, got 'high'"):
        clf.predict(asked.assign(humidity="high"))


def test_a_leaf_without_rows_answers_as_its_parent():
    X = pd.DataFrame({"a": list("xxxxyyyy"), "b": list("ppppqqrr")})
    y = np.array([0, 0, 0, 0, 1, 1, 1, 0])
    clf = C45Classifier().fit(pd.concat([X, X]), np.tile(y, 2))
    assert clf.n_nodes_ == 1 + len(set(X["b"]))
    np.testing.assert_allclose(clf.feature_importances_, [0.0, 1.0])


def test_columns_of_many_categories_do_not_count_in_the_average():
    """Half as many categories as rows: its gain of 1 bit would rule out the better ratio."""
    X = pd.DataFrame({"many": list("xxyyzzww"), "two": list("pppppqqq")})
    assert C45Classifier().fit(X, [0, 0, 0, 0, 1, 1, 1, 1]).tree_.feature[0] == 1


def test_parameters():
    X, y = load_iris(return_X_y=True)
    assert C45Classifier(min_samples_leaf=30).fit(X, y).n_leaves_ == 3
    rng = np.random.default_rng(2)
    noisy = np.where(rng.random(150) < 0.3, rng.integers(0, 3, 150), y)
    leaves = [C45Classifier(confidence=c).fit(X, noisy).n_leaves_ for c in (0.5, 0.25, 0.01)]
    assert leaves[0] > leaves[1] > leaves[2]
    for tree, words in (
        (C45Classifier(confidence=0.6), "'confidence' .* above 0 and at most 0.5. Got 0.6"),
        (C45Classifier(min_samples_leaf=-1), "'min_samples_leaf' .* >= 0. Got -1"),
    ):
        for model in (tree, AdaC2Classifier(estimator=tree)):
            with pytest.raises(ValueError, match=words):
                model.fit(X[50:], y[50:])


def test_only_the_size_of_the_weights_counts():
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    X, w = X + 0.01 * rng.normal(size=X.shape), rng.uniform(0.2, 2.0, len(y))
    few = C45Classifier().fit(X, y, 0.02 * w)
    assert few.n_nodes_ == 1
    rows = np.flatnonzero(w > 1)
    dropped = C45Classifier().fit(X, y, np.where(w > 1, 1.0, 0.0))
    assert str(dropped.tree_) == str(C45Classifier().fit(X[rows], y[rows]).tree_)


@pytest.mark.filterwarnings("ignore::costboost.errors.CollapseWarning")  # of one class
def test_scikit_learn():
    why = "like J48 it counts rows, whatever their weight, before a column of numbers is split"
    failures = {"check_sample_weight_equivalence_on_dense_data": why}
    check_estimator(C45Classifier(), on_skip=None, expected_failed_checks=failures)
    boosted = AdaC2Classifier(n_estimators=5, estimator="c45")
    check_estimator(boosted, on_skip=None, expected_failed_checks={})


# -- as a weak learner ------------------------------------------------------------------------


def test_one_round_is_the_classifier():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    alone = C45Classifier().fit(X, y)
    boosted = AdaC2Classifier(n_estimators=1, estimator="c45").fit(X, y)
    assert str(boosted.estimators_[0].tree) == str(alone.tree_)
    np.testing.assert_array_equal(boosted.predict(X), alone.predict(X))
    as_object = AdaC2Classifier(n_estimators=1, estimator=C45Classifier()).fit(X, y)
    np.testing.assert_array_equal(as_object.decision_function(X), boosted.decision_function(X))


def test_a_joint_tree_asks_for_the_class_first():
    X, y = load_iris(return_X_y=True)
    costs = [[0, 1, 1], [1, 0, 5], [4, 1, 0]]
    clf = LpCSBClassifier(costs, n_estimators=3, estimator=JointC45()).fit(X, y)
    rule = clf.estimators_[0]
    assert rule.feature[0] == X.shape[1]
    # Below it stands, class by class, a tree on the rows: the same as a tree per class makes.
    per_class = LpCSBClassifier(costs, n_estimators=3, estimator="c45").fit(X, y)
    assert clf.score(X, y) > 0.9
    np.testing.assert_array_equal(rule.predict(X), per_class.estimators_[0].predict(X))
    with pytest.raises(ValueError, match="JointC45 learns relations"):
        AdaC2Classifier(estimator=JointC45()).fit(X[50:], y[50:])
    with pytest.raises(ValueError, match=r"real-valued responses\. Choose estimator='tree'"):
        CSLogitBoostClassifier(estimator="c45").fit(X[50:], y[50:])
    model = AdaC2Classifier(estimator="c45", n_estimators=2).fit(X[50:], y[50:])
    with pytest.raises(ValueError, match="to_onnx takes CostBoostClassifier"):
        model.to_onnx()
