"""Expressions over columns: their grammar, their errors, and that they never run code."""

from __future__ import annotations

import ast
import math
import pickle
import random
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

from costboost.columns import ColumnError, Columns
from costboost.costs import Expression
from costboost.costs.expressions import ExpressionError
from costboost.costs.spec import columns_of, varies
from helpers.costs import costs_of_rows

ROWS = {"amount": [100.0, 10.0, 2.5], "age": [30, 40, 50], "country": ["CH", "FR", "IT"]}
HOLES = {"amount": [100.0, None, 2.5], "age": [30, 40, None], "country": ["CH", None, "IT"]}
MAKERS = {
    "pandas": pd.DataFrame,
    "nullable": lambda rows: pd.DataFrame(rows).convert_dtypes(),
    "pyarrow": lambda rows: pd.DataFrame(rows).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
}
FRAMES = {name: make(ROWS) for name, make in MAKERS.items()}
EXAMPLES = {
    "0.9 * amount - age / 10": lambda a, g, c: 0.9 * a - g / 10,
    "-2 * (amount - 1 - 2) * 3": lambda a, g, c: -2 * (a - 1 - 2) * 3,
    "amount / 2 / 5": lambda a, g, c: a / 2 / 5,
    "min(amount, 50)": lambda a, g, c: min(a, 50),
    "max(amount, age, 35) + abs(amount - 50)": lambda a, g, c: max(a, g, 35) + abs(a - 50),
    "log(amount) + exp(0.01 * age)": lambda a, g, c: math.log(a) + math.exp(0.01 * g),
    "where(amount > 50, amount, 5)": lambda a, g, c: a if a > 50 else 5,
    "where(country == 'CH', 1, 2)": lambda a, g, c: 1 if c == "CH" else 2,
    'where("CH" != country, 1, 2)': lambda a, g, c: 1 if c != "CH" else 2,
    "where(age >= 40 and not amount < 5 or age == 30, 1, 0)": lambda a, g, c: g != 50,
    "sqrt(amount) ** 3 + -2 ** 2 * 2 ** -1": lambda a, g, c: math.sqrt(a) ** 3 - 2,
    "2 ** 3 ** 2": lambda a, g, c: 512.0,
    "coalesce(amount, 1) + age": lambda a, g, c: a + g,
    "1e2 * .5 + 3.": lambda a, g, c: 53.0,
    "`amount` + `age`": lambda a, g, c: a + g,
    "where(country == 'not' or 'and' == country, 1, 2)": lambda a, g, c: 2,
    "( amount\n + 007 )": lambda a, g, c: a + 7,
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("text", EXAMPLES)
def test_value(text, frame):
    plain = [EXAMPLES[text](*row) for row in zip(*ROWS.values(), strict=True)]
    np.testing.assert_allclose(Expression(text)(frame), plain, rtol=1e-15)


def test_names_copies_and_long_sums():
    price = Expression("`total amount` + where(country == 'CH', fee, 0)")
    assert price.columns == ("total amount", "country", "fee")
    np.testing.assert_array_equal(Expression("+".join(["1"] * 999))(FRAMES["pandas"]), [999] * 3)
    assert repr(pickle.loads(pickle.dumps(price))) == f"Expression({price.text!r})"


# What a missing value makes of each row; an error where it says so.
MISSING = {
    "coalesce(amount, 7)": [100, 7, 2.5],
    "coalesce(amount, age, 1)": [100, 40, 2.5],
    "where(age > 35, age, coalesce(amount, 0)) + 0 * coalesce(age, 0)": "'age'.* 1 row .*row 2",
    "where(country == 'CH', amount, 5)": r"'country'.*row 1.*coalesce\(country, 'none'\)",
    "where(coalesce(country, 'none') == 'CH', amount, 5)": [100, 5, 5],
    "where(coalesce(country, 'none') == 'none', 5, amount)": [100, 5, 2.5],
    "where(amount > 50, 50, 0)": r"'amount', .* 1 row of X, first on row 1.*\(amount, 100\)",
    "where(not amount <= 50, 0, 50)": "'amount'",
    "where(amount > 50 or age > 0, 1, 2)": "'amount'",
    "where(amount > 50 and 1 > 2, 1, 2)": "'amount'",
    "min(amount, 5)": "'amount'",
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("text", MISSING)
def test_a_missing_value_is_an_error_unless_coalesce_says_what_it_counts_as(text, make):
    expected, frame = MISSING[text], make(HOLES)
    if isinstance(expected, list):
        np.testing.assert_array_equal(Expression(text)(frame), expected)
        return
    with pytest.raises(ExpressionError, match=f"needs the column {expected}"):
        costs_of_rows({"fn": text, "fp": 1}, classes=[0, 1], X=frame, n_samples=3)


def test_rows_are_counted_as_the_caller_counts_them():
    frame = pd.DataFrame(HOLES).assign(first="Ann")  # a column, not where the rows begin
    for more, words in (
        ({"rows": [2, 3, 4], "of": "a.csv"}, r"missing on 1 row of a\.csv, first on row 3\."),
        ({}, r"missing on 1 row of X, first on row 1\."),
    ):
        with pytest.raises(ExpressionError, match=words):
            Expression("amount")(frame, **more)
    rows = Columns.from_table(frame[["age"]]).read(frame.assign(amount=["1", "x", "2"]), first=400)
    with pytest.raises(ColumnError, match=r"got 'x' \(row 401\)"):
        Expression("amount")(rows)


def test_texts_are_compared_as_columns_are_read():
    frame = pd.DataFrame({"version": ["1.0", "1", " 2.5 ", "NA "]})
    for test, prices in {"== '1.0'": [5, 5, 1, 1], "!= ' 2.5'": [5, 5, 1, 5]}.items():
        price = Expression(f"where(coalesce(version, 'NA') {test}, 5, 1)")
        np.testing.assert_array_equal(price(frame), prices)


ERRORS = {
    "": "is empty",
    "amout + 1": "did you mean 'amount'",
    "amount +": "a number or a column is missing, at character 9",
    "+ * 2": "is missing before '*'",
    "(amount": r"'\)' is missing",
    "amount)": r"'\)' is unexpected",
    "1 ** " * 45 + "1": "nested deeper than 40",
    "where(1 < age < 3, 1, 2)": "a comparison is not a number",
    "1, 2": "',' is unexpected",
    "max(*amount)": r"missing before '\*'",
    "coalesce(amount)": "coalesce takes 2 or more values, got 1",
    "amount[0]": r"'\[' is not understood, at character 7",
    "__import__('os')": "no function '__import__'",
    "abs(1, 2)": "abs takes 1 value, got 2",
    "where(amount, 1, 2)": "a condition is missing",
    "amount > 1": r"a comparison is not a number: write where\(condition, a, b\)",
    "'CH'": "a text is not a number",
    "country + 1": "'country \\+ 1': the column 'country' must hold numbers, got 'CH'",
    "where(country < 'CH', 1, 2)": "can only be compared with a column, by == or !=",
    "where(age == '30', 1, 2)": "is compared with a text, but holds a number",
    "(" * 50 + "1" + ")" * 50: "nested deeper than 40",
    "-" * 50 + "1": "nested deeper than 40",
    "1+" * 1500 + "1": "may have at most 2000 characters",
    "1 / (age - 40)": "is inf on 1 row of X, first on row 1, where age = 40",
    "log(-age)": "is nan on 3 rows of X, first on row 0",
    "10 ** 400": r"is inf on 3 rows of X, first on row 0\. A price must be finite",
}


@pytest.mark.parametrize("text", ERRORS, ids=lambda text: repr(text[:25]))
def test_message(text):
    with pytest.raises(ColumnError, match=f"(?s){ERRORS[text]}"):
        Expression(text)(FRAMES["pandas"])


def test_columns_of_arrays_have_numbers():
    with pytest.raises(ExpressionError, match=r"does not have. X has 'x0', 'x1'\."):
        Expression("amount")(np.ones((2, 2)))
    np.testing.assert_array_equal(Expression("2 * x1")(np.array([[1, 2], [3, 4]])), [4, 8])


def test_random_texts_never_run_code(monkeypatch):
    """Any text gives numbers or one clear error; nothing that could run code is ever called."""

    def refuse(*args, **kwargs):
        raise AssertionError("code was run")

    words = "amount age country min( max( where( abs( log( exp( and or not == != <= >= 1e3 .5 'CH'"
    words += " __import__ os lambda __class__ eval( exec( open( import True None f'{x}' \x00"
    pieces = [*"+-*/(),<>=!'\"`._[]{}:;@#$%^&|~\\ \n\t0159eEéß∑", *words.split(" ")]
    rng, read = random.Random(0), 0

    def find_structure(source, filename, mode, flags=0, **options):
        """Compile nothing, and see only what is left of a text without its words."""
        assert flags == ast.PyCF_ONLY_AST
        assert re.fullmatch(r"(x|and|or|not|[-+*/(),<>=! ])*", source)
        return compile_structure(source, filename, mode, flags, **options)

    compile_structure = compile
    with monkeypatch.context() as patch:
        patch.setattr("builtins.eval", refuse)
        patch.setattr("builtins.exec", refuse)
        patch.setattr("builtins.compile", find_structure)
        for _ in range(4_000):
            text = "".join(rng.choice(pieces) for _ in range(rng.randint(1, 12)))
            try:
                values = Expression(text)(FRAMES["pandas"])
                assert (values.shape, values.dtype) == ((3,), np.float64)
                read += 1
            except ColumnError as error:
                assert len(str(error)) > 20
    assert read > 20


def test_expressions_in_every_form():
    table, X = [[0, 5], ["amount", 0]], FRAMES["pandas"]
    pairs = {(0, 1): 5, (1, 0): "amount"}
    arrays = {(0, 1): [5, 5, 5], (1, 0): X["amount"]}
    for form in (table, pd.DataFrame(table, [0, 1], [0, 1]), pairs, arrays):
        costs = costs_of_rows(form, classes=[0, 1], X=X, n_samples=3)
        np.testing.assert_array_equal(costs.matrix[:, 1, 0], X["amount"])
        np.testing.assert_array_equal(costs.matrix[:, 0, 1], 5)
        assert varies(form)
        assert columns_of(form) == ([] if form is arrays else ["amount"])
    assert columns_of({"fn": "amount + fee", "fp": "fee", "positive": "x"}) == ["amount", "fee"]
    for plain in ({"fn": 5, "fp": 1, "positive": "yes"}, [[0, 1], [5, 0]]):
        assert columns_of(plain) == [] and not varies(plain)
