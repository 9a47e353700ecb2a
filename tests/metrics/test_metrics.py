"""Metrics: hand-worked values, laws, messages, and the scorer in a real search."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import zero_one_loss
from sklearn.model_selection import (
    TunedThresholdClassifierCV,
    cross_validate,
    learning_curve,
)
from sklearn.tree import DecisionTreeClassifier

from costboost.costs import Costs, per_row
from costboost.metrics import (
    avoidable_cost_score,
    cost_by_threshold,
    make_cost_scorer,
    mean_cost,
    total_cost,
)
from costboost_papers.costs import random_symmetric
from costboost_papers.protocol import g_mean

BILLS = [total_cost, mean_cost, avoidable_cost_score]
SHORT = {"fn": 5, "fp": 1}
Y = np.array([0, 0, 0, 1, 1])
D = np.array([0, 1, 1, 0, 1])  # two false alarms, one miss


def random_case(k: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.integers(k, size=n), rng.integers(k, size=n), rng.integers(1, 5, size=n)


class TestBills:
    def test_by_hand(self):
        assert total_cost(Y, D, cost_matrix=SHORT) == 7
        assert mean_cost(Y, D, cost_matrix=SHORT) == 7 / 5
        assert avoidable_cost_score(Y, D, cost_matrix=SHORT) == 1 - 7 / 3  # all positive costs 3
        assert total_cost(Y, D, costs=[9, 2, 3, 40, 500]) == 45
        assert total_cost(Y, D, costs=np.arange(10.0).reshape(5, 2)) == 0 + 3 + 5 + 6 + 9
        assert total_cost(Y, D, costs=per_row([1, 1, 1, 40, 500], [9, 2, 3, 1, 1])) == 45

    def test_none_counts_errors(self):
        y, d, _ = random_case(4, 50, seed=0)
        assert mean_cost(y, d) == pytest.approx(zero_one_loss(y, d))
        assert total_cost(y, d) == zero_one_loss(y, d, normalize=False)

    def test_profits(self):
        form = {"fn": 0, "fp": 3, "tp": -10}
        assert total_cost(Y, D, cost_matrix=form) == 3 + 3 + 0 - 10
        # Reduced: a miss costs 10; always deciding 1 would cost 9.
        assert avoidable_cost_score(Y, D, cost_matrix=form) == pytest.approx(1 - 16 / 9)
        assert avoidable_cost_score(Y, Y, cost_matrix=form) == 1

    @pytest.mark.parametrize("metric", BILLS)
    def test_static_equals_rows(self, metric):
        y, d, w = random_case(3, 40, seed=3)
        matrix = random_symmetric(3, 1, 10, 0) - 4
        expected = metric(y, d, cost_matrix=matrix, sample_weight=w)
        for costs in (np.repeat(matrix[None], 40, axis=0), matrix[y]):
            assert metric(y, d, costs=costs, sample_weight=w) == pytest.approx(expected)

    def test_savings_of_constants(self):
        y, _, _ = random_case(3, 40, seed=5)
        costs = np.random.default_rng(0).normal(size=(40, 3, 3))
        for form in ({"costs": costs}, {"cost_matrix": random_symmetric(3, 1, 10, 0)}):
            assert max(avoidable_cost_score(y, np.full(40, c), **form) for c in range(3)) == 0
        best = Costs.resolve(costs=costs, classes=[0, 1, 2], codes=y).labels
        assert avoidable_cost_score(y, best, costs=costs) == 1

    def test_nothing_to_save(self):
        zeros, ones = np.zeros(4, int), np.ones(4, int)
        assert avoidable_cost_score(zeros, zeros, cost_matrix=SHORT) == 0
        assert avoidable_cost_score(zeros, ones, cost_matrix=SHORT) == -1
        assert avoidable_cost_score(zeros, [0, 0, 0, 1], cost_matrix=SHORT) == -0.25
        assert avoidable_cost_score(Y, D, costs=np.zeros(5)) == 0
        assert (
            avoidable_cost_score(zeros, [0, 0, 0, 1], costs=[1.0, 2.0, 3.0, 4.0], labels=[0, 1])
            == -0.4
        )

    @pytest.mark.parametrize("metric", BILLS)
    def test_labels(self, metric):
        names = np.array(["ok", "fraud"])
        prices = {**SHORT, "positive": "fraud"}
        expected = metric(Y, D, cost_matrix=SHORT)
        truth, decided = names[Y], names[D]
        assert metric(truth, decided, cost_matrix=prices) == expected
        assert metric(truth.astype(object), decided, cost_matrix=prices) == expected
        assert metric(pd.Series(truth), pl.Series(decided), cost_matrix=prices) == expected
        assert metric(Y == 1, D == 1, cost_matrix=SHORT) == expected
        assert metric(2 * Y - 1, 2 * D - 1, cost_matrix=SHORT) == expected
        assert metric(Y[:, None], D.astype(float), cost_matrix=SHORT) == expected
        matrix = [[0, 1], [5, 0]]
        assert metric(truth, decided, cost_matrix=matrix, labels=["ok", "fraud"]) == expected
        frame = pd.DataFrame(matrix, names, names)
        assert metric(truth, decided, cost_matrix=frame) == expected
        table = pl.DataFrame({"truth": names, "ok": [0, 5], "fraud": [1, 0]})
        assert metric(truth, decided, cost_matrix=table) == expected

    @pytest.mark.parametrize("lone", [0, 1, -1, True, 1.0])
    def test_a_lone_usual_label_is_completed(self, lone):
        for form in (SHORT, [[0, 1], [5, 0]]):
            assert total_cost([lone], [lone], cost_matrix=form) == 0
        right = {"fn": 5, "fp": 5, "tp": 1, "tn": 2}
        assert total_cost([lone], [lone], cost_matrix=right) == (1 if lone == 1 else 2)
        assert total_cost([lone], [lone], costs=per_row(5, 5, 1, 2, n=1)) in (1, 2)


ERRORS = {
    "function": (dict(cost_matrix=lambda X: X), r"costs=cost_matrix\(X\)"),
    "length": (dict(y_pred=[0, 1]), "'y_pred'.*one decision per row of y_true, 5, got 2"),
    "empty": (dict(y_true=[], y_pred=[]), "'y_true'.*non-empty"),
    "2-D": (dict(y_pred=np.ones((5, 2))), r"'y_pred'.*shape \(n,\), got shape \(5, 2\)"),
    "nan": (dict(y_true=[0, 1, np.nan, 0, 1]), "'y_true'.*got NaN"),
    "types": (dict(y_pred=["0", "1", "1", "0", "1"]), "labels of different types"),
    "mixture": (dict(y_pred=np.array([0, "a", 1, 0, 1], dtype=object)), "of one type"),
    "too few classes": (dict(cost_matrix=np.ones((3, 3))), r"needs 3 classes.*Pass labels="),
    "unknown label": (dict(y_true=[2, 0, 0, 1, 1], labels=[0, 1]), r"'y_true'.*got \[2\]"),
    "weights": (dict(sample_weight=[1, 2]), r"'sample_weight'.*shape \(5,\), got \(2,\)"),
    "negative weights": (dict(sample_weight=[-1, 0, 0, 0, 1]), "'sample_weight'.*>= 0"),
    "zero weights": (dict(sample_weight=np.zeros(5)), "'sample_weight'.*not all zero"),
    "shape of costs": (dict(costs=np.ones(4)), r"'costs' parameter of \w+ must.*got \(4,\)"),
    "unknown decision": (
        dict(y_pred=[0, 2, 1, 0, 1], labels=[0, 1]),
        r"'y_pred'.*only the decisions \[0, 1\], got \[2\]",
    ),
    "which is positive": (
        dict(y_true=["b", "a", "a", "b", "b"], y_pred=["b"] * 5, cost_matrix=SHORT),
        "Name it, 'a' or 'b'",
    ),
    "unnamed decisions": (dict(costs=np.ones((5, 2, 3))), "need names"),
}


class TestErrors:
    @pytest.mark.parametrize("metric", BILLS)
    @pytest.mark.parametrize(("arguments", "message"), ERRORS.values(), ids=ERRORS)
    def test_message(self, metric, arguments, message):
        with pytest.raises(ValueError, match=f"(?s){message}") as caught:
            metric(**{"y_true": Y, "y_pred": D, **arguments})
        assert metric.__name__ in str(caught.value)

    def test_scores(self):
        with pytest.raises(ValueError, match=r"'y_score'.*predict_proba\(X\)\[:, 1\]"):
            cost_by_threshold(Y, np.ones((5, 2)))
        with pytest.raises(ValueError, match=r"'y_score'.*finite"):
            cost_by_threshold(Y, [0, 1, np.nan, 0, 0])
        with pytest.raises(ValueError, match="two classes, found 3"):
            cost_by_threshold([0, 1, 2], [0.1, 0.2, 0.3])
        with pytest.raises(ValueError, match=r"two classes, found 3"):
            cost_by_threshold(Y, np.ones(5), positive=7)

    def test_one_class(self):
        with pytest.raises(ValueError, match="needs 2 classes"):
            cost_by_threshold(["a", "a"], [0.1, 0.2])


class TestThreshold:
    @pytest.mark.parametrize("form", ["static", "rows", "prices"])
    @pytest.mark.parametrize("named", [None, 0, 1])
    def test_equals_total_cost_at_every_threshold(self, form, named):
        rng = np.random.default_rng(0)
        y, _, w = random_case(2, 60, seed=1)
        score = rng.integers(15, size=60) / 15
        prices = rng.normal(size=(60, 2, 2)) * 10.0 ** rng.integers(-6, 6, size=(60, 2, 2))
        costs = {"static": None, "rows": prices, "prices": prices[:, 0]}[form]
        rest = {"cost_matrix": [[-1, 2], [9, 0.5]], "costs": costs, "sample_weight": w}
        thresholds, bills = cost_by_threshold(y, score, positive=named, **rest)
        np.testing.assert_array_equal(thresholds, [*np.unique(score), np.inf])
        positive = 1 if named is None else named
        expected = [
            total_cost(y, np.where(score >= t, positive, 1 - positive), **rest) for t in thresholds
        ]
        np.testing.assert_allclose(bills, expected, rtol=1e-9)

    def test_nothing_cancels(self):
        # After a huge price, tiny ones still count where the huge one is not paid.
        costs = per_row(fn=[1e-12, 1e-12, 1e12], fp=1)
        _, bills = cost_by_threshold([1, 1, 1], [0.1, 0.2, 0.3], costs=costs)
        np.testing.assert_allclose(bills, [0, 1e-12, 2e-12, 1e12], rtol=1e-12)

    def test_positive_class_of_the_short_form(self):
        y, score = ["fraud", "ok", "ok"], [0.9, 0.5, 0.1]
        named = cost_by_threshold(y, score, cost_matrix={**SHORT, "positive": "fraud"})
        np.testing.assert_array_equal(named[1], [2, 1, 0, 5])
        given = cost_by_threshold(y, score, cost_matrix=SHORT, positive="fraud")
        np.testing.assert_array_equal(given, named)


def test_counts_of_the_papers():
    assert g_mean(Y, D) == pytest.approx(np.sqrt(1 / 3 * 1 / 2))
    assert (g_mean(Y, np.zeros(5, int)), g_mean(Y, Y)) == (0, 1)
    assert g_mean([0, 0], [0, 1]) == 0.5  # over the classes that are there
    y, d = [0, 0, 1, 1, 2, 2], [0, 0, 1, 0, 2, 1]
    assert g_mean(y, d) == pytest.approx((1 * 0.5 * 0.5) ** (1 / 3))


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def priced_data(n: int = 200) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Noisy classes that a line separates roughly, with an amount at stake on each positive."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=n) > 1.5).astype(int)
    amount = np.where(y == 1, rng.exponential(100, size=n), 0)
    return X, y, amount


class Cut(LogisticRegression):
    """Logistic regression that decides at a given probability."""

    def __init__(self, cut: float = 0.5):
        super().__init__()
        self.cut = cut

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] >= self.cut).astype(int)]


class TestScorer:
    @pytest.mark.usefixtures("routing")
    @pytest.mark.parametrize("ndim", [1, 2, 3])
    def test_folds_get_their_own_costs(self, ndim):
        X, y, amount = priced_data()
        rows = per_row(fn=amount, fp=7)
        prices = rows[np.arange(len(y)), y]
        costs = {1: prices.max(axis=1), 2: prices, 3: rows}[ndim]
        weight = np.arange(len(y)) % 3
        scorer = make_cost_scorer("total_cost").set_score_request(costs=True, sample_weight=True)
        result = cross_validate(
            Cut().set_fit_request(sample_weight=False),
            X,
            y,
            scoring=scorer,
            cv=3,
            params={"costs": costs, "sample_weight": weight},
            return_estimator=True,
            return_indices=True,
        )
        for model, test, score in zip(
            result["estimator"], result["indices"]["test"], result["test_score"], strict=True
        ):
            bill = total_cost(
                y[test], model.predict(X[test]), costs=rows[test], sample_weight=weight[test]
            )
            assert score == pytest.approx(-bill)

    @pytest.mark.usefixtures("routing")
    def test_thresholds_are_tuned_in_money(self):
        X, y, amount = priced_data()
        tuned = {}
        for call in (1e-3, 1e3):
            costs = per_row(fn=pd.Series(amount), fp=call)
            routed = make_cost_scorer("mean_cost").set_score_request(costs=True)
            bound = make_cost_scorer("mean_cost", costs=costs)
            found = [
                TunedThresholdClassifierCV(Cut(), scoring=scorer, cv=3).fit(X, labels, **params)
                for scorer, labels, params in (
                    (routed, y, {"costs": costs}),
                    (bound, pd.Series(y), {}),
                )
            ]
            assert found[0].best_threshold_ == found[1].best_threshold_
            tuned[call] = found[0].best_threshold_
        assert tuned[1e-3] < tuned[1e3]

    @pytest.mark.parametrize("form", [pd.DataFrame, per_row])
    def test_costs_are_bound_to_the_scorer(self, form):
        X, y, amount = priced_data()
        frame = pd.DataFrame(X).set_axis([f"row {i}" for i in range(len(y))])
        prices = {"fn": pd.Series(amount, frame.index), "fp": 7.0}
        costs = form(prices)[::-1] if form is pd.DataFrame else form(**prices)
        scorer = make_cost_scorer("total_cost", costs=costs)
        tree = DecisionTreeClassifier(max_depth=2).fit(X, y)
        bill = -total_cost(y, tree.predict(X), costs=per_row(fn=amount, fp=7))
        assert scorer(tree, frame, y) == pytest.approx(bill)
        some = np.arange(0, len(y), 3)
        bill = -total_cost(y[some], tree.predict(X[some]), costs=per_row(fn=amount[some], fp=7))
        assert scorer(tree, frame.iloc[some], y[some]) == pytest.approx(bill)
        importance = permutation_importance(tree, frame, y, scoring=scorer, n_repeats=2)
        assert importance.importances_mean.max() > 0
        _, _, scores = learning_curve(tree, frame, y, scoring=scorer, cv=3, error_score="raise")
        assert (scores < 0).all()
        with pytest.raises(ValueError, match="need a pandas index"):
            scorer(tree, X[some], y[some])
        with pytest.raises(ValueError, match="index has other or repeated labels"):
            scorer(tree, frame.iloc[:2].set_axis(["a", "b"]), y[:2])

    def test_labels(self):
        scorer = make_cost_scorer(cost_matrix=1 - np.eye(3), labels=["a", "b", "c"])
        tree = DecisionTreeClassifier().fit([[0], [1]], ["a", "b"])
        assert scorer(tree, [[0], [1]], ["a", "b"]) == 1

    def test_errors(self):
        with pytest.raises(ValueError, match=r"'metric'.*'savings'.*got 'auc'"):
            make_cost_scorer("auc")

    def test_functions_and_expressions_see_each_fold(self):
        X, y, amount = priced_data()
        frame = pd.DataFrame(X).assign(amount=amount)
        frame.columns = frame.columns.map(str)
        tree = DecisionTreeClassifier(max_depth=1).fit(frame, y)
        expected = -total_cost(y, tree.predict(frame), costs=per_row(fn=amount, fp=7))
        for form in ({"fn": "amount", "fp": 7}, lambda X: per_row(fn=X["amount"], fp=7)):
            scorer = make_cost_scorer("total_cost", cost_matrix=form)
            assert scorer(tree, frame, y) == pytest.approx(expected)
            assert len(cross_validate(tree, frame, y, scoring=scorer, cv=3)["test_score"]) == 3


DECISIONS = ["accept", "review", "block"]
PRICES = pd.DataFrame([[0, 4, 20], [100, 4, 0]], ["ok", "fraud"], DECISIONS)


class TestDecisions:
    """The columns of the costs are decisions, which need not be classes."""

    truth = np.array(["ok", "fraud", "fraud", "ok"])
    taken = np.array(["accept", "review", "accept", "block"])

    @pytest.mark.parametrize(
        "costs",
        [
            {"cost_matrix": PRICES},
            {"cost_matrix": Costs(["fraud", "ok"], PRICES.to_numpy()[::-1], DECISIONS)},
            {"costs": PRICES.loc[["ok", "fraud", "fraud", "ok"]].reset_index(drop=True)},
            {
                "costs": np.repeat(PRICES.to_numpy()[None], 4, axis=0),
                "labels": ["ok", "fraud"],
                "decisions": DECISIONS,
            },
        ],
        ids=["frame", "Costs", "prices", "matrices"],
    )
    def test_forms(self, costs):
        assert total_cost(self.truth, self.taken, **costs) == 124
        assert mean_cost(self.truth, self.taken, **costs) == 31
        # Reviewing every row costs 16, the least of the constant decisions.
        assert avoidable_cost_score(self.truth, self.taken, **costs) == 1 - 124 / 16

    def test_unknown_decision(self):
        with pytest.raises(ValueError, match="got \\['acept'\\]; did you mean 'accept'"):
            total_cost(["ok"], ["acept"], cost_matrix=PRICES)


def test_a_scorer_without_the_costs_of_the_fit_refuses():
    X, y, amount = priced_data()
    tree = DecisionTreeClassifier(max_depth=1).fit(X, y)
    tree.cost_matrix, tree._costs_source = None, "rows"
    scorer = make_cost_scorer()
    with pytest.raises(ValueError, match=r"set_score_request\(costs=True\)"):
        scorer(tree, X, y)
    assert np.isfinite(scorer(tree, X, y, costs=per_row(fn=amount, fp=7)))
    assert np.isfinite(make_cost_scorer(cost_matrix=SHORT)(tree, X, y))
