"""Prices written as arithmetic over the columns of a table: ``"0.9 * amount + 15"``.

The grammar is small and closed, so that a text from a file or a command line can never run code:

- numbers, column names (``amount``; `` `total amount` `` in backticks if it is not a plain word;
  those of an array are ``x0``, ``x1``, ..., as scikit-learn names them),
- ``+ - * / **``, parentheses, ``min(a, b, ...)``, ``max(a, b, ...)``, ``abs(a)``, ``sqrt(a)``,
  ``log(a)``, ``exp(a)``,
- ``where(condition, a, b)``, with the comparisons ``< <= > >= == !=`` between numbers, ``==`` and
  ``!=`` between a column and a text in quotes, and ``and``, ``or``, ``not`` in the condition,
- ``coalesce(a, b, ...)``, the first value that is not missing, also ``coalesce(country, 'none')``.

A price that depends on a missing value, also in a condition, is an error: what a missing value
counts as is for the user to say, by ``coalesce``.

Python's `ast` finds the structure of a text, and nothing of it is ever compiled or run. What `ast`
sees has no names, numbers or texts of the user any more, only ``x`` in their places, so that the
grammar is the one above and not Python's.

>>> import pandas as pd
>>> from costboost.costs.expressions import Expression
>>> price = Expression("where(country == 'CH', 0, 15) + 0.9 * amount")
>>> price.columns
('country', 'amount')
>>> price(pd.DataFrame({"country": ["CH", "FR"], "amount": [100.0, 10.0]}))
array([90., 24.])
>>> Expression("coalesce(income, 100) ** 0.5")(pd.DataFrame({"income": [None, 400.0]}))
array([10., 20.])
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

import numpy as np

from costboost._typing import AnyArray, Bools, Floats
from costboost.columns import Column, ColumnError, Rows
from costboost.columns.table import read_values, text_of
from costboost.costs.labels import nearest

__all__ = ["Expression", "ExpressionError"]

LONGEST = 2_000
"""Largest number of characters of an expression."""

DEEPEST = 40
"""How deep parentheses, functions, signs and powers may be nested."""


class ExpressionError(ColumnError):
    """The text cannot be read as an expression, or columns do not give a price.

    Its `column` and `row` are the cell that makes the price what it is.
    """


# -- what signs and functions do ------------------------------------------------------------------


def _is_missing(values):
    """Return where numbers are NaN, and texts None."""
    if isinstance(values, str):
        return False
    if isinstance(values, np.ndarray) and values.dtype.kind == "O":
        return np.array([x is None for x in values])
    return np.isnan(values)


# Conditions are 1 or 0 on each row, NaN where a value that they need is missing.
def _compare(test, a, b):
    return np.where(_is_missing(a) | _is_missing(b), np.nan, test(a, b))


def _where(condition, yes, no):
    return np.where(np.isnan(condition), np.nan, np.where(condition > 0, yes, no))


def _fill(a, b):
    return np.where(_is_missing(a), b, a)


def _least(*values):
    return reduce(np.minimum, values)


def _largest(*values):
    return reduce(np.maximum, values)


def _coalesce(*values):
    return reduce(_fill, values)


def _negate(condition):
    return 1.0 - condition


_ARITHMETIC = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
}
_COMPARISONS = {
    ast.Lt: partial(_compare, np.less),
    ast.LtE: partial(_compare, np.less_equal),
    ast.Gt: partial(_compare, np.greater),
    ast.GtE: partial(_compare, np.greater_equal),
    ast.Eq: partial(_compare, np.equal),
    ast.NotEq: partial(_compare, np.not_equal),
}
_LOGIC = {ast.And: _least, ast.Or: _largest}
# Of how many values (0: two or more), and what it does.
_FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "abs": (1, np.abs),
    "sqrt": (1, np.sqrt),
    "log": (1, np.log),
    "exp": (1, np.exp),
    "min": (0, _least),
    "max": (0, _largest),
    "coalesce": (0, _coalesce),
    "where": (3, _where),
}


class _Column(NamedTuple):
    """A step of a program: a column."""

    name: str
    is_text: bool


class _Call(NamedTuple):
    """A step of a program: a function of the last ``n`` values."""

    function: Callable[..., Any]
    n: int


class Expression:
    """A price as arithmetic over columns; see the module for the grammar.

    Parameters
    ----------
    text : str
        The expression.

    Attributes
    ----------
    text : str
        The expression as it was written.
    columns : tuple of str
        The columns that it names, in the order of their first appearance.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        # In postfix order, so that a long sum needs no deep recursion.
        self._program = _Parser(text).program
        columns = [step for step in self._program if isinstance(step, _Column)]
        self._columns = tuple(dict.fromkeys(columns))
        self.columns: tuple[str, ...] = tuple(dict.fromkeys(column.name for column in columns))

    def __call__(self, X: Any, *, rows: Sequence[int] | None = None, of: str = "X") -> Floats:
        """Return the price of each row; ``rows``, their numbers, and ``of`` are for messages."""
        first = X.first if isinstance(X, Rows) else 0
        values = self._read_columns(X, first)
        with np.errstate(all="ignore"):
            result = np.asarray(self._run(values), dtype=np.float64)
        prices = np.array(np.broadcast_to(result, (len(X),)))
        wrong = ~np.isfinite(prices)
        if wrong.any():
            row = int(wrong.argmax())
            number = first + row if rows is None else rows[row]
            raise self._error(prices, values, row, f"{of}, first on row {number}")
        return prices

    def numbers(self, X: Any) -> dict[str, Floats]:
        """Return the columns of numbers that it reads, by their names."""
        values = self._read_columns(X, first=0)
        return {column.name: array for column, array in values.items() if not column.is_text}

    def _read_columns(self, X, first):
        table = X
        if isinstance(X, np.ndarray) and X.ndim == 2:
            table = {f"x{j}": column for j, column in enumerate(X.T)}
        names = list(table if table is not X else getattr(X, "columns", ()))
        return {column: self._read(table, column, names, first) for column in self._columns}

    def _run(self, values):
        stack: list[Any] = []
        for step in self._program:
            if isinstance(step, _Call):
                stack[-step.n :] = [step.function(*stack[-step.n :])]
            elif isinstance(step, _Column):
                stack.append(values[step])
            else:
                stack.append(step)
        return stack[0]

    def _error(self, prices, values, row, place):
        """Return the error that says which column is missing, or which values give no price."""
        wrong = ~np.isfinite(prices)
        for (name, is_text), column in values.items():
            missing = wrong & _is_missing(column)
            if missing[row]:
                word = name if name.isidentifier() else f"`{name}`"
                other = repr("none") if is_text else 100
                problem = (
                    f"needs the column {name!r}, which is missing on {_rows(missing)} of {place}. "
                    f"Say what a missing value counts as, coalesce({word}, {other}), or leave "
                    "those rows out."
                )
                return ExpressionError(f"The expression {self.text!r} {problem}", name, row)
        given = ", ".join(f"{name} = {column[row]}" for (name, _), column in values.items())
        problem = f"is {prices[row]} on {_rows(wrong)} of {place}"
        if given:
            problem += f", where {given}"
        return ExpressionError(
            f"The expression {self.text!r} {problem}. A price must be finite: avoid divisions by "
            "0, roots and logarithms of negative numbers, and huge powers.",
            *((self.columns[0], row) if self.columns else ()),
        )

    def _read(self, X: Any, column: _Column, names: Sequence[Any], first: int) -> AnyArray:
        """Return the values of a column, as numbers or as texts."""
        name = column.name
        if name not in names:
            shown = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
            has = f"has {shown}" if names else f"is a {type(X).__name__}; pass a data frame"
            raise ExpressionError(
                f"The expression {self.text!r} names the column {name!r}, which X does not have"
                f"{nearest(name, names)} X {has}."
            )
        raw = read_values(X[name])
        if not column.is_text:
            return Column(name, "number").values(raw, f"The expression {self.text!r}", first)
        if raw.kind not in ("text", "category"):
            raise ExpressionError(
                f"The column {name!r} of the expression {self.text!r} is compared with a text, but "
                f"holds a {raw.kind}. Compare it with a number, without quotes."
            )
        return np.array([*raw.texts, None], dtype=object)[raw.array]

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def __reduce__(self) -> tuple[type[Expression], tuple[str]]:
        return Expression, (self.text,)


def _rows(where: Bools) -> str:
    n = int(where.sum())
    return f"{n} rows" if n > 1 else "1 row"


_TEXTS = "a text can only be compared with a column, by == or !="


# -- from a text to a program ---------------------------------------------------------------------

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])"
    r"|(?P<sign>(?:and|or|not)\b|\*\*|<=|>=|==|!=|[-+*/(),<>])"
    r"|(?P<name>[^\W\d]\w*)|(?P<quoted>`[^`]+`)|(?P<text>'[^']*'|\"[^\"]*\"))"
)


class _Token(NamedTuple):
    # "number", "name", "quoted" (a name in backticks), "text", "sign", "prefix" (a sign before its
    # only operand) or "end"
    kind: str
    word: str
    place: int

    @property
    def wants_operand(self):
        """Whether a number, a column, a parenthesis or a prefix must follow."""
        return self.kind == "prefix" or (self.kind == "sign" and self.word != ")")


class _Parser:
    """Turns a text into a program: checks its tokens, then their structure, then the types."""

    def __init__(self, text):
        if not isinstance(text, str):
            raise ExpressionError(f"An expression must be a text, got {type(text).__name__}.")
        if len(text) > LONGEST:
            raise ExpressionError(
                f"An expression may have at most {LONGEST} characters, got {len(text)}: "
                f"{text[:40]!r}... Compute it as a column of X and name the column."
            )
        if not text.strip():
            raise ExpressionError("An expression is empty. Write a number or a column name.")
        self.text = text
        self.tokens = self._split()
        self._check_order()
        self._check_depth()
        self.token_at = {token.place: token for token in self.tokens[1:-1]}
        # The parentheses allow spaces and line breaks anywhere.
        tree = ast.parse(f"({self._skeleton()})", "<expression>", mode="eval")
        self.program = []
        self._add_number(tree.body)

    def _fail(self, problem, place) -> NoReturn:
        raise ExpressionError(
            f"The expression {self.text!r} cannot be read: {problem}, at character {place + 1}. "
            f"Use numbers, column names, + - * / **, parentheses, {', '.join([*_FUNCTIONS][:-1])} "
            "and where(condition, a, b); put a column name with spaces or signs into `backticks`."
        )

    # -- tokens -----------------------------------------------------------------------------------

    def _split(self):
        """Return the tokens of the text, and one for its end."""
        text = self.text.rstrip()
        tokens = [_Token("sign", "(", 0)]  # the one around all
        place = 0
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None:
                word = text[place:].lstrip()
                self._fail(f"{word[0]!r} is not understood", len(text) - len(word))
            group = str(match.lastgroup)
            kind = group
            word = match[group]
            if kind in ("quoted", "text"):
                word = word[1:-1]
            if word in ("+", "-", "not") and kind == "sign" and tokens[-1].wants_operand:
                kind = "prefix"
            tokens.append(_Token(kind, word, match.start(group)))
            place = match.end()
        return [*tokens, _Token("end", "", len(text))]

    def _check_order(self):
        """Refuse tokens that cannot follow each other."""
        for before, token in pairwise(self.tokens):
            kind, word, place = token
            is_operand = kind in ("number", "name", "quoted", "text")
            if before.wants_operand:
                if kind == "end" or (kind == "sign" and word != "("):
                    end = f" before {word!r}" if word else ""
                    self._fail(f"a number or a column is missing{end}", place)
                is_not = kind == "prefix" and word == "not"
                if is_not and before.word not in ("(", ",", "and", "or", "not"):
                    self._fail("'not' is unexpected", place)
                continue
            is_call = before.kind == "name" and word == "("
            if is_operand or (word in ("not", "(") and not is_call):
                self._fail(f"{word!r} is unexpected", place)

    def _check_depth(self):
        """Refuse what is nested too deep, which `ast` might not survive, and open parentheses."""
        depth = 0
        outside = []  # the depth outside of each open parenthesis
        for kind, word, place in self.tokens[1:]:
            if kind == "prefix" or (kind == "sign" and word == "**"):
                depth += 1
            elif kind == "sign" and word == "(":
                outside.append(depth)
                depth += 1
            elif kind == "sign" and word == ")":
                if not outside:
                    self._fail("')' is unexpected", place)
                depth = outside.pop()
            elif kind == "sign":
                depth = 0 if not outside else outside[-1] + 1
            if depth > DEEPEST:
                self._fail(f"it is nested deeper than {DEEPEST}", place)
        if outside:
            self._fail("')' is missing", self.tokens[-1].place)

    def _skeleton(self):
        """Return the text with every operand and function as ``x``, at the same place."""
        characters = [" "] * len(self.text)
        for kind, word, place in self.token_at.values():
            if kind not in ("sign", "prefix"):
                word = "x"
            characters[place : place + len(word)] = word
        return "".join(characters)

    # -- structure and types ----------------------------------------------------------------------

    # Nodes of `ast` that are not named here are refused.

    def _refuse(self, problem, node) -> NoReturn:
        self._fail(problem, node.col_offset - 1)

    def _token(self, node):
        """Return the token that the ``x`` of a node replaced."""
        return self.token_at[node.col_offset - 1]

    def _add_number(self, node):
        """Add the steps of a number to the program."""
        # Recursion has a limit, and a long sum is a long chain of left operands.
        chain = []
        while isinstance(node, ast.BinOp):
            chain.append(node)
            node = node.left
        match node:
            case ast.Name():
                self._add_operand(self._token(node))
            case ast.Call():
                self._add_function(self._token(node.func), node.args)
            case ast.UnaryOp(op=ast.UAdd()):
                self._add_number(node.operand)
            case ast.UnaryOp(op=ast.USub()):
                self._add_number(node.operand)
                self.program.append(_Call(np.negative, 1))
            case ast.Tuple():
                self._refuse("',' is unexpected", node.elts[1])
            case _:
                problem = "a comparison is not a number: write where(condition, a, b)"
                self._refuse(problem, node)
        for operation in reversed(chain):
            self._add_number(operation.right)
            self.program.append(_Call(_ARITHMETIC[type(operation.op)], 2))

    def _add_operand(self, token):
        if token.kind == "text":
            self._fail("a text is not a number", token.place)
        if token.kind == "number":
            self.program.append(float(token.word))
        else:
            self.program.append(_Column(token.word, is_text=False))

    def _add_function(self, token, values):
        name = token.word
        if name not in _FUNCTIONS:
            hint = nearest(name, _FUNCTIONS).rstrip(".")
            self._fail(f"there is no function {name!r}{hint}", token.place)
        n_values, function = _FUNCTIONS[name]
        if n_values != len(values) and (n_values or len(values) < 2):
            words = {0: "2 or more values", 1: "1 value", 3: "a condition and two values"}
            self._fail(f"{name} takes {words[n_values]}, got {len(values)}", token.place)
        numbers = values
        if name == "where":
            self._add_condition(values[0])
            numbers = values[1:]
        for value in numbers:
            self._add_number(value)
        self.program.append(_Call(function, len(values)))

    def _add_condition(self, node):
        """Add the steps of a condition to the program."""
        match node:
            case ast.UnaryOp(op=ast.Not()):
                self._add_condition(node.operand)
                self.program.append(_Call(_negate, 1))
            case ast.BoolOp():
                for value in node.values:
                    self._add_condition(value)
                self.program.append(_Call(_LOGIC[type(node.op)], len(node.values)))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                is_text = [self._is_text(left), self._is_text(right)]
                if all(is_text) or (any(is_text) and not isinstance(op, ast.Eq | ast.NotEq)):
                    self._refuse(_TEXTS, node)
                for side in (left, right):
                    if any(is_text):
                        self._add_text(side)
                    else:
                        self._add_number(side)
                self.program.append(_Call(_COMPARISONS[type(op)], 2))
            case ast.Compare():  # a < 3 < 4
                self._add_number(node)
            case _:
                self._refuse("a condition is missing, such as amount > 100", node)

    def _is_text(self, node):
        return isinstance(node, ast.Name) and self._token(node).kind == "text"

    def _add_text(self, node):
        """Add a text, a column of texts, or one whose missing values count as a text."""
        match node:
            case ast.Name() if self._is_text(node):
                # As columns are read, so that it equals their cells.
                text = self._token(node).word
                self.program.append(text_of(text) or text)
            case ast.Name() if self._token(node).kind != "number":
                column = self._token(node).word
                self.program.append(_Column(column, is_text=True))
            case ast.Call(func=function, args=[column, text]) if (
                self._token(function).word == "coalesce"
                and isinstance(column, ast.Name)
                and self._is_text(text)
                and not self._is_text(column)
            ):
                self._add_text(column)
                self._add_text(text)
                self.program.append(_Call(_coalesce, 2))
            case _:
                self._refuse(_TEXTS, node)
