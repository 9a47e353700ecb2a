"""Costs: every form, the laws of the one representation, the messages."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from costboost.costs import Costs, per_row
from costboost.errors import CostWarning

CLASSES = ["fraud", "ok"]  # sorted, so that "fraud" is not the default positive class
MATRIX = np.array([[0.0, 5.0], [1.0, 0.0]])  # a miss costs 5

SHORT = {"fn": 5, "fp": 1}
ABC = ["a", "b", "c"]
M3 = np.array([[0.0, 1.0, 2.0], [3.0, 0.5, 4.0], [5.0, 6.0, -1.0]])


def pandas_frame(classes: list[Any], matrix: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(matrix, index=classes, columns=classes)


def polars_frame(classes: list[Any], matrix: np.ndarray) -> pl.DataFrame:
    columns = {str(c): matrix[:, j] for j, c in enumerate(classes)}
    return pl.DataFrame({"truth": classes, **columns})


FORMS = {
    "list": MATRIX.tolist(),
    "ints": MATRIX.astype(int),
    "pandas": pandas_frame(CLASSES, MATRIX),
    "pandas, other order": pandas_frame(CLASSES, MATRIX).loc[["ok", "fraud"]],
    "pandas, other column order": pandas_frame(CLASSES, MATRIX)[["ok", "fraud"]],
    "pandas, truth in a column": pandas_frame(CLASSES, MATRIX).reset_index(),
    "polars": polars_frame(CLASSES, MATRIX),
    "polars, other order": polars_frame(CLASSES, MATRIX)[::-1, ["truth", "ok", "fraud"]],
    "pairs": {("fraud", "ok"): 5, ("ok", "fraud"): 1},
    "pairs with diagonal": {("fraud", "ok"): 5, ("ok", "fraud"): 1, ("ok", "ok"): 0},
    "short": {"fn": 5, "fp": 1, "positive": "fraud"},
    "short, other positive": {"fn": 1, "fp": 5, "positive": "ok"},
    "object array": np.array([[0, 5], [1, 0]], dtype=object),
    "numpy scalars": {"fn": np.float32(5), "fp": np.int64(1), "positive": np.str_("fraud")},
    "Costs": Costs(["ok", "fraud"], MATRIX[::-1, ::-1]),
}


class TestForms:
    @pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
    def test_all_forms_say_the_same(self, form):
        found = [Costs.resolve(form, classes=CLASSES, n_samples=3)]
        if not isinstance(form, Costs):
            found += [
                Costs.resolve(costs=form, classes=CLASSES, codes=codes)
                for codes in (None, [0, 1, 1])
            ]
        for costs in found:
            np.testing.assert_array_equal(costs.matrix, MATRIX)
            assert costs.matrix.dtype == np.float64
            assert not costs.is_per_row

    @pytest.mark.parametrize(
        "classes", [[0, 1], [-1, 1], [False, True], [0.0, 1.0], ["n", "y"]], ids=str
    )
    def test_any_labels(self, classes):
        negative, positive = classes
        expected = [[0, 1], [5, 0]]
        forms = [
            {"fn": 5, "fp": 1, "positive": positive},
            {(positive, negative): 5, (negative, positive): 1},
            pandas_frame(classes, np.array(expected)),
            polars_frame(classes, np.array(expected)),
        ]
        for form in forms:
            for order in (classes, np.array(classes)):
                np.testing.assert_array_equal(Costs.resolve(form, classes=order).matrix, expected)
        if classes[0] in (0, -1):  # a usual pair needs no positive class
            short = Costs.resolve({"fn": 5, "fp": 1, "tp": 0.5, "tn": -2}, classes=classes)
            np.testing.assert_array_equal(short.matrix, [[-2, 1], [5, 0.5]])

    def test_three_classes(self):
        pairs = {(a, b): M3[i, j] for i, a in enumerate(ABC) for j, b in enumerate(ABC)}
        shuffled = pandas_frame(ABC, M3).loc[["c", "a", "b"], ["b", "c", "a"]]
        for form in (pairs, shuffled, polars_frame(ABC, M3)[[2, 0, 1]]):
            np.testing.assert_array_equal(Costs.resolve(form, classes=ABC).matrix, M3)
        np.testing.assert_array_equal(Costs.resolve(None, classes=ABC).matrix, 1 - np.eye(3))

    def test_a_function_sees_the_features_as_they_are(self):
        X = pd.DataFrame({"amount": [10.0, 20.0]})
        costs = Costs.resolve(lambda X: per_row(fn=X["amount"], fp=1), classes=[0, 1], X=X)
        np.testing.assert_array_equal(costs.matrix, per_row(fn=[10, 20], fp=1))
        assert costs.is_per_row

    def test_costs_win_over_the_matrix(self):
        costs = Costs.resolve(
            {"fn": 5, "fp": 1}, per_row(fn=[7, 8], fp=2), classes=[0, 1], codes=[0, 1]
        )
        np.testing.assert_array_equal(costs.prices, [[0, 2], [8, 0]])

    def test_price_of_an_error(self):
        costs = Costs.resolve(costs=[2, 30, 4], classes=ABC, codes=[0, 2, 1])
        np.testing.assert_array_equal(costs.prices, [[0, 2, 2], [30, 30, 0], [4, 0, 4]])
        assert costs.matrix is None
        assert costs.is_per_row

    def test_as_many_rows_as_classes_is_refused(self):
        for given in ([[0, 5], [7, 0]], pd.DataFrame([[0, 5], [7, 0]])):
            with pytest.raises(ValueError, match="as many rows as classes"):
                Costs.resolve(costs=given, classes=[0, 1], codes=[1, 1])


ERRORS = {
    "shape": (dict(cost_matrix=np.ones((3, 3))), r"shape \(2, 2\).*got \(3, 3\)"),
    "rows in cost_matrix": (
        dict(cost_matrix=np.ones((9, 2, 2))),
        "Matrices of single rows go into costs=",
    ),
    "nan": (
        dict(cost_matrix=[[0, np.nan], [1, 0]]),
        "must be finite and at most .*, got nan for deciding 'ok' when the truth is 'fraud'",
    ),
    "inf": (
        dict(cost_matrix={"fn": np.inf, "fp": 1, "positive": "ok"}),
        "large cost instead of infinity",
    ),
    "ragged": (dict(cost_matrix=[[0, 1], [1]]), "rectangular"),
    "frame lacks": (
        dict(cost_matrix=pandas_frame(["fraud", "fine"], MATRIX)),
        r"rows \(the truth\).*lack \['ok'\] and name the unknown \['fine'\].*Relabel",
    ),
    "frame columns": (
        dict(cost_matrix=pd.DataFrame(MATRIX, index=CLASSES)),
        "columns have no names, only the numbers",
    ),
    "frame repeats": (
        dict(cost_matrix=pd.DataFrame(np.ones((3, 3)), [*CLASSES, "ok"], [*CLASSES, "ok"])),
        r"name each label once in its rows, got \['fraud', 'ok', 'ok'\]",
    ),
    "polars without truth": (
        dict(cost_matrix=pl.DataFrame({"fraud": [0, 1], "ok": [5, 0]})),
        "first column must hold the true class",
    ),
    "pair missing": (dict(cost_matrix={("fraud", "ok"): 5}), r"\('ok', 'fraud'\) is missing"),
    "pair unknown": (
        dict(cost_matrix={("fraud", "OK"): 5}),
        r"'OK' is no class\..*\['fraud', 'ok'\]",
    ),
    "strange keys": (dict(cost_matrix={"fn": 5, "fpr": 1}), "unknown key 'fpr'; did you mean 'fp'"),
    "capital keys": (dict(cost_matrix={"FN": 5, "fp": 1}), "unknown key 'FN'; did you mean 'fn'"),
    "empty mapping": (dict(cost_matrix={}), "are missing"),
    "short misses fp": (dict(cost_matrix={"fn": 5}), "Add 'fp'"),
    "positive": (
        dict(cost_matrix={"fn": 5, "fp": 1, "positive": "x"}),
        r"class 'x', which is not among the classes \['fraud', 'ok'\]\. Name one of them\.",
    ),
    "huge integer": (
        dict(cost_matrix={"fn": 10**400, "fp": 1, "positive": "ok"}),
        r"numbers of at most 1e\+300 in size, got one of 401 digits",
    ),
    "lists in cells": (
        dict(cost_matrix=np.array([[0, {1: 2}], [1, 0]], dtype=object)),
        r"must hold numbers, got \{1: 2\} at \(0, 1\)",
    ),
    "text among costs": (
        dict(costs=pd.Series([1, "abc", 2], dtype=object), codes=[0, 1, 1]),
        "must hold numbers, got 'abc' at 1",
    ),
    "array of other rows": (
        dict(cost_matrix={"fn": [1, 2], "fp": 1, "positive": "ok"}, codes=[0, 1, 1]),
        r"one price per row, 3 of them, got arrays of length \[2\].*expression",
    ),
    "two arrays": (
        dict(cost_matrix={"fn": [1, 2], "fp": [1, 2, 3], "positive": "ok"}),
        r"arrays of length \[2, 3\]",
    ),
    "which is positive": (
        dict(cost_matrix={"fn": 5, "fp": 1}),
        "Name it, 'fraud' or 'ok': by 'positive' in a mapping of costs",
    ),
    "which is positive, per_row": (
        dict(costs=per_row(5, 1, n=3)),
        r"Name it, 'fraud' or 'ok': .* by positive= in per_row",
    ),
    "transposed by its names": (
        dict(cost_matrix=pandas_frame(CLASSES, MATRIX).rename_axis(index="predicted")),
        "has the decision in its rows.*transpose",
    ),
    "transposed by its columns": (
        dict(cost_matrix=pandas_frame(CLASSES, MATRIX).rename_axis(columns="Actual")),
        "has the decision in its rows.*transpose",
    ),
    "transposed with other decisions": (
        dict(cost_matrix=pd.DataFrame(np.ones((3, 2)), ["accept", "review", "block"], CLASSES)),
        "looks transposed",
    ),
    "transposed by its corner": (
        dict(cost_matrix=pd.DataFrame({"decision": [0, 1], "fraud": [0, 1], "ok": [5, 0]})),
        "has the decision in its rows.*transpose",
    ),
    "transposed pairs": (
        dict(cost_matrix={(d, t): 1 for d in ("accept", "review") for t in CLASSES}),
        r"looks transposed.*\{\(truth, decision\): cost\}",
    ),
    "transposed array": (
        dict(cost_matrix=np.ones((3, 2)), decisions=["accept", "review", "block"]),
        r"shape \(2, 3\).*got \(3, 2\). It looks transposed",
    ),
    "misspelt decision": (
        dict(cost_matrix=pd.DataFrame(MATRIX, CLASSES, ["frud", "ok"])),
        r"names the decision 'frud' in its columns and lacks \['fraud'\]; did you mean 'fraud'",
    ),
    "one decision": (
        dict(cost_matrix=pd.DataFrame([[1], [2]], CLASSES, ["accept"])),
        "two decisions or more",
    ),
    "unnamed decisions": (dict(cost_matrix=np.ones((2, 3))), "need names: pass a labelled frame"),
    "expression without X": (
        dict(cost_matrix={"fn": "amount", "fp": 1, "positive": "ok"}),
        "columns of X are unknown here. Pass X=",
    ),
    "function without X": (dict(cost_matrix=lambda X: X), r"pass the result as costs="),
    "function of wrong shape": (
        dict(cost_matrix=lambda X: np.ones((2, 2)), X=np.ones((4, 1)), n_samples=4),
        r"must return one matrix per row.*\(4, 2, 2\).*got \(2, 2\)",
    ),
    "rows of costs": (
        dict(costs=np.ones(5), codes=[0, 1, 1]),
        r"\(3, 2, 2\).*\(3, 2\).*\(3,\).*got \(5,\)",
    ),
    "rows of matrices": (
        dict(costs=np.ones((5, 2, 2)), codes=[0, 1, 1]),
        r"shape \(3, 2, 2\) .*got \(5, 2, 2\). X has 3 rows",
    ),
    "truth unknown": (dict(costs=np.ones(3)), "because the truth is unknown"),
    "nan in costs": (dict(costs=[1, np.nan, 1], codes=[0, 1, 1]), "got nan for row 1"),
    "nan in matrices": (
        dict(costs=np.array([1, np.nan, 1])[:, None, None] * np.ones((2, 2)), codes=[0, 1, 1]),
        "must be finite.*on row 1",
    ),
    "columns of costs": (
        dict(costs=pd.DataFrame({"frud": [1], "ok": [2]}), codes=[0]),
        r"'costs'.*lacks \['fraud'\]; did you mean",
    ),
    "short form of three": (dict(cost_matrix=SHORT, classes=ABC), "two classes only.* there are 3"),
    "many pairs": (dict(cost_matrix={}, classes=range(10)), "and 85 more are missing"),
    "per-row Costs": (
        dict(cost_matrix=Costs(CLASSES, per_row(1, 1, n=3))),
        "one matrix for all rows",
    ),
}


class TestErrors:
    @pytest.mark.parametrize(("arguments", "message"), ERRORS.values(), ids=ERRORS)
    def test_message(self, arguments, message):
        with pytest.raises(ValueError, match=f"(?s){message}") as caught:
            Costs.resolve(**{"classes": CLASSES, **arguments}, owner="AdaC2")
        assert re.match(
            r"The '(cost_matrix|costs|cost_matrix\(X\))' parameter of AdaC2 ", str(caught.value)
        )

    @pytest.mark.parametrize(
        "arguments",
        [
            dict(cost_matrix=[["0", "1"], ["1", "0"]]),
            dict(cost_matrix={"fn": "5", "fp": 1, "positive": "ok"}),
            dict(cost_matrix={"fn": None, "fp": 1, "positive": "ok"}),
            dict(cost_matrix="amount"),
            dict(costs=lambda X: X),
            dict(costs=np.ones((1, 2, 2), dtype=complex)),
        ],
    )
    def test_wrong_type(self, arguments):
        with pytest.raises(TypeError, match="of AdaC2 must"):
            Costs.resolve(**arguments, classes=CLASSES, codes=[0], owner="AdaC2")


class TestWarnings:
    @pytest.mark.parametrize(
        "form",
        [
            [[5, 0], [0, 1]],
            {"fn": 0, "fp": 0, "tp": 1, "positive": "ok"},
            pandas_frame(CLASSES, MATRIX[::-1]),
        ],
        ids=["array", "short", "frame"],
    )
    def test_most_costly_diagonal(self, form):
        with pytest.warns(CostWarning, match=r"Rows are the truth.*\['fraud', 'ok'\].*transposed"):
            Costs.resolve(form, classes=CLASSES, owner="AdaC2")

    @pytest.mark.parametrize(
        "form", [[[1, 1], [2, 2]], [[0, 0], [0, 0]], [[-3, 0], [-1, -2]], [[2, 5], [1, 0]]]
    )
    def test_ties_and_profits_are_fine(self, form):
        Costs.resolve(form, classes=CLASSES)

    @pytest.mark.parametrize("fn", [-5, "-amount", [-1.0, -3.0]])
    def test_a_cost_with_a_minus_sign(self, fn):
        X = pd.DataFrame({"amount": [1.0, 3.0]})
        with pytest.warns(CostWarning, match="a mistake at most -.*without the minus sign"):
            Costs.resolve({"fn": fn, "fp": 5}, classes=[0, 1], X=X, codes=[0, 1])

    def test_negative_price_of_an_error(self):
        with pytest.warns(CostWarning, match="-2 is negative"):
            costs = Costs.resolve(costs=[1, -2], classes=CLASSES, codes=[0, 0])
        np.testing.assert_array_equal(costs.labels, [0, 1])
        np.testing.assert_array_equal(costs.error_cost, [1, 2])


def random_costs(kind: str, k: int, n: int, seed: int) -> Costs:
    rng = np.random.default_rng(seed)
    codes = rng.integers(k, size=n)
    draw = lambda *shape: rng.normal(size=shape) * 10.0 ** rng.integers(-12, 13, size=shape)  # noqa: E731
    if kind == "static":
        matrix = draw(k, k)
        np.fill_diagonal(matrix, matrix.min(axis=1))
        return Costs.resolve(matrix, classes=np.arange(k), codes=codes)
    shape = {"rows": (n, k, k), "prices": (n, k)}[kind]
    return Costs.resolve(costs=draw(*shape), classes=np.arange(k), codes=codes)


class TestLaws:
    @pytest.mark.parametrize("kind", ["static", "rows", "prices"])
    @pytest.mark.parametrize("k", [2, 3, 5])
    def test_reduction(self, kind, k):
        costs = random_costs(kind, k, 60, seed=k)
        rows = np.arange(60)
        np.testing.assert_array_equal(
            costs.reduced, costs.prices - costs.prices.min(axis=1, keepdims=True)
        )
        assert (costs.reduced[rows, costs.labels] == 0).all()
        np.testing.assert_array_equal(costs.paid(costs.labels), costs.prices.min(axis=1))
        decisions = np.random.default_rng(0).integers(k, size=60)
        np.testing.assert_array_equal(costs.paid(decisions), costs.prices[rows, decisions])
        if k == 2:
            np.testing.assert_array_equal(costs.error_cost, costs.reduced.max(axis=1))

    def test_decide_is_the_threshold_rule(self):
        costs = Costs.resolve({"fn": 7, "fp": 2, "tp": 1, "tn": -1}, classes=[0, 1])
        p = np.linspace(0, 1, 101)
        threshold = (2 + 1) / (2 + 1 + 7 - 1)
        np.testing.assert_array_equal(costs.decide(np.c_[1 - p, p]), p >= threshold)

    @pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
    def test_a_binary_tie_goes_to_the_positive_class(self, scale):
        costs = Costs.resolve({"fn": 3 * scale, "fp": scale}, classes=[0, 1])
        np.testing.assert_array_equal(costs.decide([[0.75, 0.25]]), [1])
        rows = Costs.resolve(costs=per_row(3 * scale, scale, n=1), classes=[0, 1])
        np.testing.assert_array_equal(rows.decide([[0.75, 0.25]]), [1])

    def test_tied_prices_keep_the_true_label(self):
        costs = Costs.resolve(np.zeros((3, 3)), classes=ABC, codes=[2, 0, 1])
        np.testing.assert_array_equal(costs.labels, [2, 0, 1])
        rows = Costs.resolve(costs=[[1, 1, 1], [2, 1, 1]], classes=ABC, codes=[2, 0])
        np.testing.assert_array_equal(rows.labels, [2, 1])

    def test_a_fraud_below_the_price_of_a_call_is_not_worth_flagging(self):
        costs = Costs.resolve(costs=per_row([3, 900], fp=5, tp=5), classes=[0, 1], codes=[1, 1])
        np.testing.assert_array_equal(costs.labels, [0, 1])
        np.testing.assert_array_equal(costs.error_cost, [2, 895])

    def test_offsets_of_a_row_do_not_drown_the_decision(self):
        # Row "a" costs 1e12 whatever is decided: only the differences may count.
        matrix = np.array([[1e12, 1e12, 1e12], [0, 0, 1e-3], [1e-3, 1e-3, 0]])
        proba = [[0.5, 0.2, 0.3]]
        assert Costs(ABC, matrix).decide(proba) == [2]
        assert Costs(ABC, matrix[None]).decide(proba) == [2]

    @pytest.mark.parametrize("kind", ["static", "rows"])
    def test_the_unit_is_that_of_the_rows_that_count(self, kind):
        matrix, codes = np.array([[0.0, 1e-300], [1e300, 0.0]]), np.array([0, 1, 0])
        given = matrix if kind == "static" else matrix[None].repeat(3, axis=0)
        found = Costs([0, 1], given, codes=codes).in_range(codes == 0)
        assert 0.25 < found.error_cost[0] <= 1.0


class TestObject:
    @pytest.mark.parametrize("shape", [(3, 2, 2), (3, 2), (3,)])
    def test_the_callers_arrays_stay_as_they_are(self, shape):
        given = np.random.default_rng(0).uniform(size=shape)
        before = given.copy()
        costs = Costs.resolve(costs=given, classes=[0, 1], codes=[0, 1, 1])
        for name in ("prices", "reduced", "labels", "error_cost"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(costs, name)[0] = 7
        str(costs)
        np.testing.assert_array_equal(given, before)
        assert given.flags.writeable

    def test_matrix_is_needed_for_expectations(self):
        costs = Costs.resolve(costs=[1, 2], classes=[0, 1], codes=[0, 1])
        with pytest.raises(ValueError, match=r"Pass costs of shape \(n, 2, 2\)"):
            costs.unknown  # noqa: B018

    def test_error_cost_is_binary(self):
        with pytest.raises(ValueError, match="two decisions, and there are 3"):
            Costs.resolve(None, classes=ABC, codes=[0]).error_cost  # noqa: B018

    @pytest.mark.parametrize("shape", [(2,), (2, 3), (5, 2)])
    def test_shape_of_proba(self, shape):
        costs = Costs.resolve(costs=per_row(1, 1, n=2), classes=[0, 1])
        with pytest.raises(ValueError, match=r"'proba'.*shape \(2, 2\)"):
            costs.expected(np.ones(shape))

    def test_one_class(self):
        costs = Costs.resolve(None, classes=["a"], codes=[0, 0])
        assert costs.unknown.decide(np.ones((2, 1))).tolist() == [0, 0]
        assert costs.labels.tolist() == [0, 0]


class TestWords:
    def test_static(self):
        text = str(Costs.resolve([[0, 5], [1, 0]], classes=CLASSES))
        assert text.splitlines()[1:] == [
            "  deciding 'ok' when the truth is 'fraud' costs 5",
            "  deciding 'fraud' when the truth is 'ok' costs 1",
        ]

    def test_a_mean_is_over_the_rows_of_the_truth_that_can_pay_it(self):
        rows = per_row([10, 20, 90], [1, 3, 8])
        costs = Costs.resolve(costs=rows, classes=[0, 1], codes=[1, 1, 0])
        assert "truth is 1 costs 10.00 to 20.00, on average 15.00" in str(costs)
        assert "truth is 0 costs 8" in str(costs)
        with_costs = Costs.resolve(costs=rows[:2], classes=[0, 1], codes=[1, 1]).summary
        assert np.isnan(with_costs.mean[0]).all()

    def test_many_classes_show_the_most_costly(self):
        matrix = np.random.default_rng(0).uniform(1, 2, (20, 20))
        np.fill_diagonal(matrix, 0)
        matrix[3, 4] = 99
        lines = str(Costs.resolve(matrix, classes=np.arange(20))).splitlines()
        assert lines[1] == "  deciding 4 when the truth is 3 costs 99"
        assert lines[-1] == "  ... and 350 cheaper pairs"


class TestPerRow:
    def test_axes(self):
        rows = per_row(fn=[10, 20], fp=[3, 4], tp=1, tn=2)
        np.testing.assert_array_equal(rows, [[[2, 3], [10, 1]], [[2, 4], [20, 1]]])

    @pytest.mark.parametrize("classes", [["churn", "stay"], ["stay", "churn"]])
    def test_the_positive_class_is_remembered(self, classes):
        costs = per_row(fn=[10.0, 20.0, 30.0], fp=2, positive="churn")
        p = classes.index("churn")
        joined = {
            "whole": costs,
            "slice": costs[:],
            "rows": costs[[0, 1, 2]],
            "mask": costs[np.array([True, True, True])],
            "copy": costs.copy(),
            "pickle": pickle.loads(pickle.dumps(costs)),
            "concatenate": np.concatenate([costs[:1], costs[1:]]),
            "vstack": np.vstack([costs[:2], costs[2:]]),
            "take": np.take(costs, [0, 1, 2], axis=0),
            "scaled": 0.5 * costs * 2,
        }
        for name, given in joined.items():
            found = Costs.resolve(costs=given, classes=classes)
            np.testing.assert_array_equal(found.matrix[:, p, 1 - p], [10, 20, 30], name)
            np.testing.assert_array_equal(found.matrix[:, 1 - p, p], [2, 2, 2], name)

    def test_different_positive_classes_are_not_joined(self):
        with pytest.raises(ValueError, match="cannot be joined"):
            np.concatenate([per_row(1, 1, n=2, positive="a"), per_row(1, 1, n=2, positive="b")])

    def test_columns_by_name(self):
        frame = pd.DataFrame({"amount": [10.0, 20.0]})
        by_name = per_row(fn="amount + 1", fp=2, X=frame)
        np.testing.assert_array_equal(by_name, per_row(fn=[11, 21], fp=2))
        assert per_row(fn="amount", fp=2, tp=1) == {"fn": "amount", "fp": 2, "tp": 1}
        with pytest.raises(ValueError, match="cannot be joined without X"):
            per_row(fn="amount", fp=[1, 2])

    def test_scalars_need_n(self):
        assert per_row(5, 1, n=4).shape == (4, 2, 2)
        with pytest.raises(ValueError, match=r"only single numbers.*Pass n="):
            per_row(5, 1)

    @pytest.mark.parametrize("arguments", [dict(fn=[1, 2], fp=[1]), dict(fn=[1, 2], fp=0, n=3)])
    def test_lengths(self, arguments):
        with pytest.raises(ValueError, match=r"one price per row, .* got arrays of length"):
            per_row(**arguments)
        with pytest.raises(ValueError, match=r"per_row must be finite .*got nan .* on row 1"):
            per_row([1, np.nan], 1)
        with pytest.raises(ValueError, match=r"Pass fp="):
            per_row(1)

    def test_any_classes_and_decisions(self):
        """Labels are remembered by slices, joins and pickles, and put into the order of a fit."""
        prices = {(t, d): 10.0 * i + j for i, t in enumerate("cab") for j, d in enumerate("xyz")}
        rows = per_row({**prices, ("a", "y"): [1.0, 2.0, 3.0, 4.0]})
        expected = np.array([[10, 11, 12], [20, 21, 22], [0, 1, 2]]) * np.ones((4, 1, 1))
        expected[:, 0, 1] = [1, 2, 3, 4]
        for given in (rows, pickle.loads(pickle.dumps(rows)), np.concatenate([rows[:1], rows[1:]])):
            found = Costs.resolve(costs=given, classes=ABC, n_samples=4)
            np.testing.assert_array_equal(found.matrix, expected)
            assert found.decisions.tolist() == ["x", "y", "z"]
        known = Costs.resolve(costs=rows[[3, 1]], classes=ABC, decisions=["z", "x", "y"])
        np.testing.assert_array_equal(known.matrix, expected[[3, 1]][:, :, [2, 0, 1]])
        with pytest.raises(ValueError, match="are missing"):
            per_row({("a", "x"): [1.0], ("b", "y"): 2})
        with pytest.raises(ValueError, match="cannot be joined"):
            np.concatenate([rows, per_row({(t.upper(), d): 1 for t, d in prices}, n=1)])
        frame = pd.DataFrame({"amount": [1.0, 2.0]})
        assert per_row({("a", "x"): "amount", ("a", "y"): 2}) == {
            ("a", "x"): "amount",
            ("a", "y"): 2,
        }
        by_name = per_row({("a", "x"): "amount", ("a", "y"): 2}, X=frame)
        np.testing.assert_array_equal(by_name, [[[1, 2]], [[2, 2]]])


class TestAverage:
    def test_a_weight_of_two_counts_twice(self):
        rng = np.random.default_rng(0)
        codes = np.array([0, 1, 1, 0])
        twice = np.array([0, 1, 1, 0, 0])
        weights = np.array([2.0, 1.0, 1.0, 1.0])
        for shape in [(4, 2, 2), (4, 2), (4,)]:
            costs = rng.uniform(1.0, 2.0, shape)
            weighted = Costs.resolve(costs=costs, classes=[0, 1], codes=codes)
            repeated = Costs.resolve(
                costs=np.concatenate([costs, costs[:1]]), classes=[0, 1], codes=twice
            )
            np.testing.assert_allclose(weighted.average(weights), repeated.average())

    def test_a_class_without_weight_takes_the_mean_price_of_a_mistake(self):
        rows = Costs.resolve(costs=[4.0, 8.0, 2.0], classes=["a", "b"], codes=[0, 0, 1])
        average = rows.average(np.array([1.0, 1.0, 0.0]))
        np.testing.assert_allclose(average, [[0.0, 6.0], [6.0, 0.0]])


def test_what_needs_the_truth_says_so():
    costs = Costs(CLASSES, MATRIX)
    for name in ("prices", "reduced", "labels", "error_cost"):
        with pytest.raises(ValueError, match=r"truth of the rows.*known\(codes\)"):
            getattr(costs, name)
    for method in (costs.paid, costs.regret, costs.savings):
        with pytest.raises(ValueError, match="truth of the rows"):
            method([0, 1])
    with pytest.raises(ValueError, match="prices and the truth of their rows"):
        Costs(CLASSES, prices=MATRIX)
    with pytest.raises(ValueError, match="needs a matrix, or prices"):
        Costs(CLASSES, MATRIX, codes=[0, 1], prices=MATRIX)
