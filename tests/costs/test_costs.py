"""Costs: every form, the laws of the one representation, the messages."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

from costboost.costs import Costs, RealizedCosts, per_row, summarize
from costboost.errors import CostWarning
from helpers.costs import costs_of_rows

same = np.testing.assert_array_equal

# -- forms ---------------------------------------------------------------------------------------

CLASSES = ["fraud", "ok"]  # sorted, so that "fraud" is not the default positive class
MATRIX = np.array([[0.0, 5.0], [1.0, 0.0]])  # a miss costs 5
DECISIONS = ["accept", "review", "block"]
TABLE = np.array([[100.0, 4.0, 0.0], [0.0, 4.0, 20.0]])
ABC = ["a", "b", "c"]
M3 = np.array([[0.0, 1.0, 2.0], [3.0, 0.5, 4.0], [5.0, 6.0, -1.0]])


def labelled(matrix, classes, decisions):
    """One matrix in every form that names classes and decisions."""
    frame = pd.DataFrame(matrix, classes, decisions)
    columns = {str(d): matrix[:, j] for j, d in enumerate(decisions)}
    polars = pl.DataFrame({"truth": classes, **columns})
    pairs = {(t, d): frame.loc[t, d] for t in classes for d in decisions}
    return {
        "pandas": frame,
        "pandas, other order": frame.iloc[::-1],
        "pandas, truth in a column": frame.reset_index(names="truth"),
        "axes named": frame.rename_axis(index="truth", columns="decision"),
        "polars": polars,
        "polars, other order": polars[::-1],
        "pairs": pairs,
        "Costs": Costs(matrix, classes, decisions),
    }


FRAME = pd.DataFrame(TABLE, CLASSES, DECISIONS)
SQUARE = pd.DataFrame(MATRIX, CLASSES, CLASSES)
FORMS = {
    **labelled(MATRIX, CLASSES, CLASSES),
    "list": MATRIX.tolist(),
    "ints": MATRIX.astype(int),
    "object array": MATRIX.astype(object),
    "other order of columns": SQUARE[["ok", "fraud"]],
    "pairs without right decisions": {("fraud", "ok"): 5, ("ok", "fraud"): 1},
    "short": {"fn": 5, "fp": 1, "positive": "fraud"},
    "short, other positive": {"fn": 1, "fp": 5, "positive": "ok"},
    "numpy scalars": {"fn": np.float32(5), "fp": np.int64(1), "positive": np.str_("fraud")},
    "other Costs": Costs(MATRIX[::-1, ::-1], ["ok", "fraud"]),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_all_forms_say_the_same(form):
    for codes in (None, [0, 1, 1]):
        for name in ("cost_matrix",) if isinstance(form, Costs) else ("cost_matrix", "costs"):
            costs = costs_of_rows(**{name: form}, classes=CLASSES, codes=codes)
            same(costs.matrix, MATRIX)
            assert costs.matrix.dtype == np.float64 and not costs.is_per_row


@pytest.mark.parametrize("classes", [[0, 1], [-1, 1], [False, True], ["n", "y"], ABC], ids=str)
def test_any_labels_and_decisions(classes):
    k = len(classes)
    same(costs_of_rows(None, classes=classes).matrix, 1 - np.eye(k))
    for decisions, table in ((classes, M3[:k, :k]), (DECISIONS, M3[:k])):
        for name, form in labelled(table, classes, decisions).items():
            costs = costs_of_rows(form, classes=np.array(classes))
            assert costs.decisions.tolist() == decisions, name
            same(costs.matrix, table, name)
            known = costs_of_rows(form, classes=classes, decisions=decisions[::-1])
            same(known.matrix, table[:, ::-1], name)
        rows = costs_of_rows(costs=table[None], classes=classes, decisions=decisions)
        same(rows.matrix, table[None])
    if classes[0] in (0, -1):  # a usual pair needs no positive class
        short = costs_of_rows({"fn": 5, "fp": 1, "tp": 0.5, "tn": -2}, classes=classes)
        same(short.matrix, [[-2, 1], [5, 0.5]])


def test_a_class_without_rows_stays_a_decision():
    form = pd.DataFrame(1.0 - np.eye(3), ABC, ABC)
    pairs = {(truth, decision): 1 for truth in ABC for decision in ABC if truth != decision}
    for given in (form, form[["c", "a", "b"]], pairs):
        costs = costs_of_rows(given, classes=["a", "c"])
        assert costs.decisions.tolist() == ABC
        same(costs.matrix, [[0, 1, 1], [1, 1, 0]])
    square = costs_of_rows(form, classes=["a", "c"], as_classes=True)
    same(square.matrix, [[0, 1], [1, 0]])


def test_rows():
    costs = costs_of_rows(costs=per_row(fn=[10, 20], fp=1), classes=[0, 1])
    both = costs_of_rows({"fn": 5, "fp": 1}, costs.matrix, classes=[0, 1], codes=[0, 1])
    same(both.prices, [[0, 1], [20, 0]])  # costs win over the matrix
    prices = costs_of_rows(costs=[2, 30, 4], classes=ABC, codes=[0, 2, 1])
    same(prices.prices, [[0, 2, 2], [30, 30, 0], [4, 0, 4]])
    assert prices.matrix is None and prices.is_per_row
    named = pd.DataFrame(TABLE[[0, 1, 1]], columns=DECISIONS)
    known = costs_of_rows(costs=named, classes=CLASSES, codes=[0, 1, 1])
    assert known.decisions.tolist() == DECISIONS
    same(known.prices, named)


SHORT = {"fn": 5, "fp": 1}
TRUTH = [0, 1, 1]
# What is given as cost_matrix, or other arguments, and what is said of it.
ERRORS = {
    "rows": (np.ones((9, 2, 2)), "Matrices of single rows go into costs="),
    "no error": (dict(costs=[1, 2, 3], codes=TRUTH, decisions=DECISIONS), "error, but .* classes"),
    "shape": (np.ones((3, 3)), r"shape \(2, 2\).*got \(3, 3\)"),
    "nan": ([[0, np.nan], [1, 0]], "finite and .* nan for deciding 'ok' when the truth is 'fraud'"),
    "inf": ({"fn": np.inf, "fp": 1, "positive": "ok"}, "large cost instead of infinity"),
    "ragged": ([[0, 1], [1]], "rectangular"),
    "labels": (
        FRAME.rename({"ok": "fine"}), r"lack \['ok'\] and name the unknown \['fine'\].*Relabel",
    ),
    "no columns": (pd.DataFrame(MATRIX, CLASSES), "columns have no names, only the numbers"),
    "repeated": (FRAME.iloc[[0, 1, 1]], r"label once in its rows, got \['fraud', 'ok', 'ok'\]"),
    "polars": (pl.DataFrame({"fraud": [0, 1], "ok": [5, 0]}), "first column must hold the true"),
    "truth missing": ({("ok", "fraud"): 5, ("ok", "ok"): 0}, r"missing: \('fraud', 'ok'\)\."),
    "no such truth": ({("frud", "ok"): 5, ("ok", "fraud"): 1}, r"lack \['fraud'\].*did you mean"),
    "misspelt truth": (
        {("fraud", "ok"): 5, ("ok", "fraud"): 1, ("frud", "fraud"): 2},
        r"missing: \('frud', 'ok'\). 'frud' is no class; did you mean 'fraud'\?",
    ),
    "strange key": ({"fn": 5, "fpr": 1}, "unknown key 'fpr'; did you mean 'fp'"),
    "empty": ({}, r"two decisions or more"),
    "fp": ({"fn": 5}, "Add 'fp'"),
    "positive": ({**SHORT, "positive": "x"}, r"class 'x', .* not among .*\. Name one of them\."),
    "no positive": (SHORT, "Name it, 'fraud' or 'ok': by 'positive' in a mapping of costs"),
    "no positive of rows": (dict(costs=per_row(5, 1, n=3)), r"Name it, .*by positive= in per_row"),
    "huge": ({**SHORT, "fn": 10**400, "positive": "ok"}, r"at most 1e\+12 in size, got 1000"),
    "cells": (np.array([[0, {1: 2}], [1, 0]], dtype=object), r"in size, got \{1: 2\}"),
    "text": (dict(costs=np.array([1, "abc", 2], object), codes=TRUTH), "got 'abc' at 1"),
    "rows named": (SQUARE.rename_axis(index="predicted"), "has the decision in its rows.*transp"),
    "corner named": (SQUARE.reset_index(names="decision"), "has the decision in its rows"),
    "transposed": (FRAME.T, "looks transposed"),
    "misspelt decision": (SQUARE.rename(columns={"ok": "okay"}), r"lack \['ok'\]; did you mean"),
    "one decision": (FRAME[["accept"]], "two decisions or more"),
    "unnamed decisions": (TABLE, "need names: pass a labelled frame"),
    "fewer decisions": (dict(cost_matrix=SQUARE, decisions=DECISIONS), "review'.*fitted with"),
    "no classes": (dict(cost_matrix=FRAME, as_classes=True), "decides only for the classes"),
    "function": (lambda X: X, r"must not be a function\. Call it, and pass the result as costs="),
    "prices of other rows": (dict(costs=np.ones(5), codes=TRUTH), r"\(3, 2\).*got \(5,\)"),
    "matrices of other rows": (dict(costs=np.ones((5, 2, 2)), codes=TRUTH), r"shape \(3, 2, 2\)"),
    "truth unknown": (dict(costs=np.ones(3)), "because the truth is unknown"),
    "columns of prices": (
        dict(costs=pd.DataFrame({"frud": [1], "ok": [2]}), codes=[0]), r"'costs'.*lack \['fraud'\]",
    ),
    "numbers as texts": ([["0", "1"], ["1", "0"]], "must hold numbers or expressions"),
    "a text": ({"cost_matrix": "amount"}, "got the text 'amount'"),
    "a function as costs": (dict(costs=lambda X: X), "must not be a function"),
    "complex": (dict(costs=np.ones((1, 2, 2), dtype=complex), codes=[0]), "dtype complex128"),
    "short form of three": (dict(cost_matrix=SHORT, classes=ABC), "two classes only.* there are 3"),
    "Costs of rows": (Costs(per_row(1, 1, n=3), CLASSES), "one matrix for all rows"),
    "as many rows as classes": (dict(costs=MATRIX, codes=[1, 1]), "the prices of 2 rows"),
    "the same frame": (dict(costs=pd.DataFrame(MATRIX), codes=[1, 1], classes=[0, 1]), "prices of"),
}  # fmt: skip


@pytest.mark.parametrize(("given", "message"), ERRORS.values(), ids=ERRORS)
def test_message(given, message):
    names = {"cost_matrix", "costs"}
    arguments = given if isinstance(given, dict) and names & set(given) else {"cost_matrix": given}
    with pytest.raises((ValueError, TypeError), match=f"(?s){message}") as caught:
        costs_of_rows(**{"classes": CLASSES, **arguments}, owner="AdaC2")
    assert re.match(r"The '(cost_matrix|costs)' parameter of AdaC2 ", str(caught.value))


SWAPPED = r"Rows are the truth.*\['fraud', 'ok'\].*transposed"
X2 = pd.DataFrame({"amount": [1.0, 3.0]})


def test_costs_that_look_swapped_are_told():
    forms = {"swapped": MATRIX[::-1], "tp": {"fn": 0, "fp": 0, "tp": 1, "positive": "ok"}}
    forms |= {fn: {"fn": fn, "fp": 5, "positive": "ok"} for fn in (-5, "-amount")}
    forms["rows"] = {"fn": [-1.0, -3.0], "fp": 5, "positive": "ok"}
    for name, form in forms.items():
        words = SWAPPED if name in ("swapped", "tp") else "at most -.*without the minus sign"
        with pytest.warns(CostWarning, match=words):
            costs_of_rows(form, classes=CLASSES, X=X2, codes=[0, 1])
    for fine in ([[1, 1], [2, 2]], [[-3, 0], [-1, -2]], [[2, 5], [1, 0]]):
        costs_of_rows(fine, classes=CLASSES)  # ties and profits
    with pytest.warns(CostWarning, match="-2 is negative"):
        costs = costs_of_rows(costs=[1, -2], classes=CLASSES, codes=[0, 0])
    same(costs.best_decision, [0, 1])
    same(costs.error_cost, [1, 2])


# -- laws ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 5])
def test_known_costs(k):
    """One matrix, a matrix per row and prices are one thing; all sums are those over the rows."""
    rng = np.random.default_rng(k)
    n, d = 50, 2 + k % 2
    codes, taken, weights = rng.integers(k, size=n), rng.integers(d, size=n), rng.uniform(size=n)
    table = rng.normal(size=(k, d)) * 10.0 ** rng.integers(-6, 7, size=(k, d))
    table[range(k), np.arange(k) % d] -= 1e7  # no decision is the best one under every truth
    names, places = [f"decision {j}" for j in range(d)], np.arange(n)
    known = Costs(table, np.arange(k), names).realized(codes)
    rows = Costs(np.repeat(table[None], n, axis=0), np.arange(k), names).realized(codes)
    prices = RealizedCosts(table[codes], codes, np.arange(k), names)
    parts = RealizedCosts.concatenate([prices.take(slice(20)), prices.take(places >= 20)])
    joined = RealizedCosts.concatenate([rows.take(slice(20)), rows.take(slice(20, n))])
    regrets = table[codes] - table[codes].min(axis=1, keepdims=True)
    for costs in (known, rows, prices, parts, joined):
        same(costs.prices, table[codes])
        same(costs.regret, regrets)
        same(costs.best_decision, table[codes].argmin(axis=1))
        same(costs.cost_of(taken), table[codes, taken])
        if d == 2:
            same(costs.error_cost, regrets.max(axis=1))
        share = 1 - regrets[places, taken] @ weights / min(regrets.T @ weights)
        assert costs.avoidable_share(taken, weights) == pytest.approx(share)
    np.testing.assert_allclose(rows.mean_matrix(weights), table)


def test_the_decision_is_the_cheapest_by_brute_force():
    rng = np.random.default_rng(0)
    for i in range(300):
        k, d = rng.integers(2, 6, size=2)
        p = rng.dirichlet(np.ones(k), size=1)
        matrix = rng.normal(size=(k, d)) * 10.0 ** rng.integers(-3, 4)
        costs = Costs(matrix[None] if i % 2 else matrix, np.arange(k), list(range(d)))
        expected = [sum(p[0, j] * matrix[j, c] for j in range(k)) for c in range(d)]
        assert costs.decide(p)[0] == int(np.argmin(expected))
        np.testing.assert_allclose(costs.expected(p)[0], expected, rtol=1e-9, atol=1e-9)
    # Row "a" costs 1e12 whatever is decided: only the differences may count.
    matrix = np.array([[1e12, 1e12, 1e12], [0, 0, 1e-3], [1e-3, 1e-3, 0]])
    for given in (matrix, matrix[None]):
        assert Costs(given, ABC).decide([[0.5, 0.2, 0.3]]) == [2]


def test_ties():
    """Of two decisions the positive one; of labels the true one."""
    for form in (
        *({"fn": 3 * unit, "fp": unit} for unit in (1e-12, 1.0, 1e11)),
        per_row(3, 1, n=1),
    ):
        same(costs_of_rows(costs=form, classes=[0, 1]).decide([[0.75, 0.25]]), [1])
    same(costs_of_rows(np.zeros((3, 3)), classes=ABC, codes=[2, 0, 1]).best_decision, [2, 0, 1])
    rows = costs_of_rows(costs=[[1, 1, 1], [2, 1, 1]], classes=ABC, codes=[2, 0])
    same(rows.best_decision, [2, 1])
    # A fraud below the price of a call is not worth flagging.
    costs = costs_of_rows(costs=per_row([3, 900], fp=5, tp=5), classes=[0, 1], codes=[1, 1])
    same(costs.best_decision, [0, 1])
    same(costs.error_cost, [2, 895])


def test_averages():
    rng, weights = np.random.default_rng(0), np.array([2.0, 1.0, 1.0, 1.0])
    for shape in [(4, 2, 2), (4, 2), (4,)]:  # a weight of two counts twice
        costs = rng.uniform(1.0, 2.0, shape)
        weighted = costs_of_rows(costs=costs, classes=[0, 1], codes=[0, 1, 1, 0])
        twice = np.concatenate([costs, costs[:1]])
        repeated = costs_of_rows(costs=twice, classes=[0, 1], codes=[0, 1, 1, 0, 0])
        np.testing.assert_allclose(weighted.mean_matrix(weights), repeated.mean_matrix())
        found = summarize(weighted, weights), summarize(repeated)
        np.testing.assert_allclose(found[0].mean, found[1].mean)
        if len(shape) == 3:
            unknown = np.average(costs, axis=0, weights=weights)
            found = summarize(Costs(costs, [0, 1]), weights).mean
            np.testing.assert_allclose(found, unknown)
    # A class without weight takes the mean price of a mistake; of other decisions, their means.
    rows = costs_of_rows(costs=[4.0, 8.0, 2.0], classes=["a", "b"], codes=[0, 0, 1])
    np.testing.assert_allclose(
        rows.mean_matrix(np.array([1.0, 1.0, 0.0])), [[0.0, 6.0], [6.0, 0.0]]
    )
    prices = np.array([[0.0, 2.0, 4.0], [0.0, 4.0, 8.0]])
    known = RealizedCosts(prices, [1, 1], CLASSES, DECISIONS)
    same(known.mean_matrix(), [[0, 3, 6], [0, 3, 6]])


def test_the_callers_arrays_stay_as_they_are():
    for shape in [(3, 2, 2), (3, 2), (3,)]:
        given = np.random.default_rng(0).uniform(size=shape)
        before = given.copy()
        costs = costs_of_rows(costs=given, classes=[0, 1], codes=[0, 1, 1])
        for name in ("prices", "regret", "best_decision", "error_cost"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(costs, name)[0] = 7
        same(given, before)
        assert given.flags.writeable


def test_what_is_unknown_is_said():
    with pytest.raises(ValueError, match=r"Pass costs of shape \(n, 2, 2\)"):
        RealizedCosts(MATRIX, [0, 1], CLASSES).unrealized  # noqa: B018
    with pytest.raises(ValueError, match=r"must have shape \(3, 2\); got \(2, 2\)"):
        RealizedCosts(MATRIX, [0, 1, 1], CLASSES)
    with pytest.raises(ValueError, match="two decisions, and there are 3"):
        costs_of_rows(None, classes=ABC, codes=[0]).error_cost  # noqa: B018
    for shape in [(2,), (2, 3), (5, 2)]:
        with pytest.raises(ValueError, match=r"'proba'.*shape \(2, 2\)"):
            costs_of_rows(costs=per_row(1, 1, n=2), classes=[0, 1]).expected(np.ones(shape))


def test_words():
    priced = summarize(costs_of_rows({"fn": "amount", "fp": 1}, classes=[0, 1], X=X2))
    for summary in (priced, pickle.loads(pickle.dumps(priced))):
        assert "truth is 1 costs 1.00 to 3.00, on average 2.00 (amount)" in str(summary)
    costs = summarize(costs_of_rows(FRAME, classes=CLASSES))
    assert "deciding 'review' when the truth is 'ok' costs 4" in str(costs)
    for part in ("<th>decide review</th>", "<td>fraud</td>", "<td>costs 100</td>"):
        assert part in costs._repr_html_()
    # A mean is over the rows of the truth that can pay it.
    rows = per_row([10, 20, 90], [1, 3, 8])
    costs = summarize(costs_of_rows(costs=rows, classes=[0, 1], codes=[1, 1, 0]))
    assert "truth is 1 costs 10.00 to 20.00, on average 15.00" in str(costs)
    assert "truth is 0 costs 8" in str(costs)
    lacking = summarize(costs_of_rows(costs=rows[:2], classes=[0, 1], codes=[1, 1]))
    assert np.isnan(lacking.mean[0]).all()
    assert "no rows" in lacking._repr_html_()
    matrix = np.random.default_rng(0).uniform(1, 2, (20, 20)) * (1 - np.eye(20))
    matrix[3, 4] = 99
    lines = str(summarize(costs_of_rows(matrix, classes=np.arange(20)))).splitlines()
    assert lines[1] == "  deciding 4 when the truth is 3 costs 99"
    assert lines[-1] == "  ... and 350 cheaper pairs"


# -- per_row -------------------------------------------------------------------------------------


def variants(costs):
    """The same rows, cut, joined, copied."""
    n = len(costs)
    return {
        "whole": costs,
        "rows": costs[list(range(n))],
        "mask": costs[np.ones(n, dtype=bool)],
        "pickle": pickle.loads(pickle.dumps(costs)),
        "concatenate": np.concatenate([costs[:1], costs[1:]]),
        "vstack": np.vstack([costs[:2], costs[2:]]),
        "scaled": 0.5 * costs * 2,
    }


@pytest.mark.parametrize("classes", [["churn", "stay"], ["stay", "churn"]])
def test_the_positive_class_is_remembered(classes):
    same(per_row([10, 20], [3, 4], tp=1, tn=2), [[[2, 3], [10, 1]], [[2, 4], [20, 1]]])
    costs, p = per_row(fn=[10.0, 20.0, 30.0], fp=2, positive="churn"), classes.index("churn")
    for name, given in variants(costs).items():
        found = costs_of_rows(costs=given, classes=classes)
        same(found.matrix[:, p, 1 - p], [10, 20, 30], name)
        same(found.matrix[:, 1 - p, p], [2, 2, 2], name)
    with pytest.raises(ValueError, match="cannot be joined"):
        np.concatenate([costs, per_row(1, 1, n=2, positive="stay")])


def test_labels_that_a_meta_estimator_has_encoded():
    """With ``classes``, costs by label are found where the labels are 0, 1, ... in sorted order."""
    labels = {"positive": "churn", "classes": ["stay", "churn"]}  # churn is 0
    rows, pairs = per_row([7.0], 2, **labels), {("churn", "stay"): 7, ("stay", "churn"): 2}
    for form in ({"fn": 7, "fp": 2, **labels}, {**pairs, "classes": labels["classes"]}):
        same(costs_of_rows(form, classes=[0, 1]).matrix, [[0, 7], [2, 0]])
        same(costs_of_rows(form, classes=["churn", "stay"]).matrix, [[0, 7], [2, 0]])
    for given in (rows, per_row(pairs, n=1, classes=["stay", "churn"])):
        found = costs_of_rows(costs=given, classes=[0, 1])
        same(found.matrix, [[[0, 7], [2, 0]]])
        assert found.decisions.tolist() == [0, 1]
    with pytest.raises(ValueError, match=r"not among the classes \[0, 1\].*add 'classes'"):
        costs_of_rows({"fn": 7, "fp": 2, "positive": "churn"}, classes=[0, 1])


def test_columns_by_name_and_what_is_wrong():
    same(per_row(fn="amount + 1", fp=2, X=X2), per_row(fn=[2, 4], fp=2))
    pairs = {("a", "x"): "amount", ("a", "y"): 2}
    same(per_row(pairs, X=X2), [[[1, 2]], [[3, 2]]])
    for words, arguments in {
        "columns of X are unknown here. Pass X=": dict(fn="amount", fp=[1, 2]),
        "only single numbers.*Pass n=": dict(fn=5, fp=1),
        r"one price per row, 3 of them, got .* length \[2\]": dict(fn=[1, 2], fp=0, n=3),
        "per_row must be finite .*got nan .* on row 1": dict(fn=[1, np.nan], fp=1),
        "Pass fp=": dict(fn=1),
        "missing: ": dict(fn={("a", "x"): [1.0], ("b", "y"): 2}),
    }.items():
        with pytest.raises(ValueError, match=words):
            per_row(**arguments)


def test_labels_of_rows_are_remembered_and_put_into_the_order_of_a_fit():
    prices = {(t, d): 10.0 * i + j for i, t in enumerate("cab") for j, d in enumerate("xyz")}
    rows = per_row({**prices, ("a", "y"): [1.0, 2.0, 3.0, 4.0]})
    expected = np.array([[10, 11, 12], [20, 21, 22], [0, 1, 2]]) * np.ones((4, 1, 1))
    expected[:, 0, 1] = [1, 2, 3, 4]
    for given in variants(rows).values():
        found = costs_of_rows(costs=given, classes=ABC, n_samples=4)
        same(found.matrix, expected)
        assert found.decisions.tolist() == ["x", "y", "z"]
    known = costs_of_rows(costs=rows[[3, 1]], classes=ABC, decisions=["z", "x", "y"])
    same(known.matrix, expected[[3, 1]][:, :, [2, 0, 1]])
    with pytest.raises(ValueError, match="cannot be joined"):
        np.concatenate([rows, per_row({(t.upper(), d): 1 for t, d in prices}, n=1)])
