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

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np

from costboost._typing import AnyArray, Bools, Floats
from costboost.columns.columns import Column, ColumnError, TypedRows
from costboost.columns.raw import open_column, text_of
from costboost.costs.labels import nearest

__all__ = ["Expression", "ExpressionError"]

LONGEST = 2_000
"""Largest number of characters of an expression."""

DEEPEST = 40
"""How deep parentheses, functions, signs and powers may be nested."""


class Use(NamedTuple):
    """A step of a program: a column."""

    name: str
    is_text: bool


class _Call(NamedTuple):
    """A step of a program: a function of the last ``n`` values."""

    function: Callable[..., Any]
    n: int


Program: TypeAlias = list[float | str | Use | _Call]
"""An expression in postfix order, so that a long sum needs no deep recursion."""


def _is_missing(values: Any) -> Any:
    """Where numbers are NaN, and texts None."""
    if isinstance(values, str):
        return False
    if isinstance(values, np.ndarray) and values.dtype.kind == "O":
        return np.array([x is None for x in values])
    return np.isnan(values)


# Conditions are 1 or 0 on each row, NaN where a value that they need is missing.
def _compared(test: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    return np.where(_is_missing(a) | _is_missing(b), np.nan, test(a, b))


def _chosen(condition: Any, yes: Any, no: Any) -> Any:
    return np.where(np.isnan(condition), np.nan, np.where(condition > 0, yes, no))


def _filled(a: Any, b: Any) -> Any:
    return np.where(_is_missing(a), b, a)


_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])"
    r"|(?P<name>[^\W\d]\w*)|(?P<quoted>`[^`]+`)|(?P<text>'[^']*'|\"[^\"]*\")"
    r"|(?P<sign>\*\*|<=|>=|==|!=|[-+*/(),<>]))"
)
# How tightly a sign binds, and what it does; as in Python, 2 ** -1 is 0.5 and -2 ** 2 is -4.
_BINARY: dict[str, tuple[int, Callable[[Any, Any], Any]]] = {
    "or": (1, np.maximum),
    "and": (2, np.minimum),
    "<": (4, partial(_compared, np.less)),
    "<=": (4, partial(_compared, np.less_equal)),
    ">": (4, partial(_compared, np.greater)),
    ">=": (4, partial(_compared, np.greater_equal)),
    "==": (4, partial(_compared, np.equal)),
    "!=": (4, partial(_compared, np.not_equal)),
    "+": (5, np.add),
    "-": (5, np.subtract),
    "*": (6, np.multiply),
    "/": (6, np.divide),
    "**": (8, np.power),
}
_UNARY: dict[str, tuple[int, Callable[[Any], Any]]] = {
    "not": (3, lambda a: 1.0 - a),
    "-": (7, np.negative),
    "+": (7, lambda a: a),
}
_WORDS = ("and", "or", "not")
# Of how many values (0: two or more), and what it does.
_FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "abs": (1, np.abs),
    "sqrt": (1, np.sqrt),
    "log": (1, np.log),
    "exp": (1, np.exp),
    "min": (0, lambda *values: reduce(np.minimum, values)),
    "max": (0, lambda *values: reduce(np.maximum, values)),
    "coalesce": (0, lambda *values: reduce(_filled, values)),
    "where": (3, _chosen),
}


class ExpressionError(ColumnError):
    """The text cannot be read as an expression, or columns do not give a price.

    Its `column` and `row` are the cell that makes the price what it is.
    """


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
        self._program = _Parser(text).program
        uses = [step for step in self._program if isinstance(step, Use)]
        self._uses = tuple(dict.fromkeys(uses))
        self.columns: tuple[str, ...] = tuple(dict.fromkeys(use.name for use in uses))

    def __call__(self, X: Any, *, rows: Sequence[int] | None = None, of: str = "X") -> Floats:
        """The price of each row; ``rows``, their numbers, and ``of`` are for messages."""
        table = X
        if isinstance(X, np.ndarray) and X.ndim == 2:
            table = {f"x{j}": column for j, column in enumerate(X.T)}
        names = list(table if table is not X else getattr(X, "columns", ()))
        first = X.first if isinstance(X, TypedRows) else 0
        values = {use: self._column(table, *use, names, first) for use in self._uses}
        with np.errstate(all="ignore"):
            result = np.asarray(self._run(values), dtype=np.float64)
        prices = np.array(np.broadcast_to(result, (len(X),)))
        wrong = ~np.isfinite(prices)
        if wrong.any():
            row = int(wrong.argmax())
            number = first + row if rows is None else rows[row]
            raise self._error(prices, values, row, f"{of}, first on row {number}")
        return prices

    @property
    def has_texts(self) -> bool:
        """Whether it compares a column with a text."""
        return any(use.is_text for use in self._uses)

    def traced(self, columns: Mapping[str, Any]) -> Any:
        """The price of stand-ins for columns of numbers, which see what numpy does to them."""
        return self._run({use: columns[use.name] for use in self._uses})

    def _run(self, values: Mapping[Use, Any]) -> Any:
        stack: list[Any] = []
        for step in self._program:
            if isinstance(step, _Call):
                stack[-step.n :] = [step.function(*stack[-step.n :])]
            else:
                stack.append(values[step] if isinstance(step, Use) else step)
        return stack[0]

    def _error(self, prices: Floats, values: Any, row: int, place: str) -> ExpressionError:
        """Say which column is missing, or what the columns are, where there is no price."""
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
        return ExpressionError(
            f"The expression {self.text!r} is {prices[row]} on {_rows(wrong)} of {place}"
            f"{', where ' * bool(given)}{given}. A price must be finite: avoid divisions by 0, "
            "roots and logarithms of negative numbers, and huge powers.",
            *((self.columns[0], row) if self.columns else ()),
        )

    def _column(
        self, X: Any, name: str, is_text: bool, names: Sequence[Any], first: int
    ) -> AnyArray:
        if name not in names:
            shown = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
            has = f"has {shown}" if names else f"is a {type(X).__name__}; pass a data frame"
            raise ExpressionError(
                f"The expression {self.text!r} names the column {name!r}, which X does not have"
                f"{nearest(name, names)} X {has}."
            )
        raw = open_column(X[name])
        if not is_text:
            return Column(name, "number").values(raw, f"The expression {self.text!r}", first)
        if raw.kind not in ("text", "category"):
            raise ExpressionError(
                f"The column {name!r} of the expression {self.text!r} is compared with a text, but "
                f"holds a {raw.kind}. Compare it with a number, without quotes."
            )
        return np.array([*raw.texts, None], dtype=object)[raw.values]

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def __reduce__(self) -> tuple[type[Expression], tuple[str]]:
        return Expression, (self.text,)


def _rows(where: Bools) -> str:
    n = int(where.sum())
    return f"{n} rows" if n > 1 else "1 row"


class _Part(NamedTuple):
    """A part of an expression that was read."""

    # "number", "condition", "text" in quotes, "column" (of numbers; of texts next to a text), or
    # "texts", a column of texts whose missing ones count as another.
    kind: str
    at: int  # place of its first step in the program


class _Parser:
    """Reads operands and the signs between them, the tightest first (a Pratt parser)."""

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise ExpressionError(f"An expression must be a text, got {type(text).__name__}.")
        if len(text) > LONGEST:
            raise ExpressionError(
                f"An expression may have at most {LONGEST} characters, got {len(text)}: "
                f"{text[:40]!r}... Compute it as a column of X and name the column."
            )
        self.text = text
        self.program: Program = []
        self._tokens = self._tokenised(text.rstrip())
        self._next = self._depth = 0
        if len(self._tokens) == 1:
            raise ExpressionError("An expression is empty. Write a number or a column name.")
        self._need("number", self._parse(0))
        kind, word, place = self._tokens[self._next]
        if kind != "end":
            self._fail(f"{word!r} is unexpected", place)

    def _tokenised(self, text: str) -> list[tuple[str, str, int]]:
        """Kind, word and place of each token, and of the end."""
        tokens, place = [], 0
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None:
                word = text[place:].lstrip()
                self._fail(f"{word[0]!r} is not understood", len(text) - len(word))
            kind = str(match.lastgroup)
            word = match[kind][1:-1] if kind in ("quoted", "text") else match[kind]
            is_sign = kind == "name" and word in _WORDS
            tokens.append(("sign" if is_sign else kind, word, match.start(kind)))
            place = match.end()
        return [*tokens, ("end", "", len(text))]

    def _fail(self, what: str, place: int | None = None) -> NoReturn:
        place = self._tokens[self._next][2] if place is None else place
        raise ExpressionError(
            f"The expression {self.text!r} cannot be read: {what}, at character {place + 1}. Use "
            f"numbers, column names, + - * / **, parentheses, {', '.join([*_FUNCTIONS][:-1])} "
            "and where(condition, a, b); put a column name with spaces or signs into `backticks`."
        )

    def _sign(self) -> str:
        """The next token, if it is a sign or a word of the grammar."""
        kind, word, _ = self._tokens[self._next]
        return word if kind == "sign" else ""

    def _take(self, sign: str) -> bool:
        is_there = self._sign() == sign
        self._next += is_there
        return is_there

    def _close(self) -> None:
        if not self._take(")"):
            self._fail("')' is missing")

    def _need(self, kind: str, *parts: _Part) -> None:
        """Refuse parts that are no numbers, or no conditions."""
        for part in parts:
            if kind == "condition" and part.kind != "condition":
                self._fail("a condition is missing, such as amount > 100")
            if kind == "number" and part.kind == "condition":
                self._fail("a comparison is not a number: write where(condition, a, b)")
            if kind == "number" and part.kind in ("text", "texts"):
                self._fail("a text is not a number")

    def _parse(self, level: int) -> _Part:
        """An operand, and all that follows by signs that bind at least as tightly."""
        left = self._operand()
        while (sign := self._sign()) in _BINARY and _BINARY[sign][0] >= level:
            self._next += 1
            binds, function = _BINARY[sign]
            right = self._deeper(binds) if sign == "**" else self._parse(binds + 1)
            if binds == 4 and "text" in (left.kind, right.kind):
                column = left if right.kind == "text" else right
                if column.kind not in ("column", "texts") or sign not in ("==", "!="):
                    self._fail("a text can only be compared with a column, by == or !=")
                self._as_text(column)
            else:
                self._need("condition" if sign in _WORDS else "number", left, right)
            self.program.append(_Call(function, 2))
            left = _Part("condition" if binds <= 4 else "number", left.at)
        return left

    def _deeper(self, level: int) -> _Part:
        self._depth += 1
        if self._depth > DEEPEST:
            self._fail(f"it is nested deeper than {DEEPEST}")
        part = self._parse(level)
        self._depth -= 1
        return part

    def _as_text(self, column: _Part) -> None:
        step = self.program[column.at]
        assert isinstance(step, Use)
        self.program[column.at] = step._replace(is_text=True)

    def _operand(self) -> _Part:
        sign = self._sign()
        if sign in _UNARY:
            self._next += 1
            binds, function = _UNARY[sign]
            part = self._deeper(binds)
            kind = "condition" if sign == "not" else "number"
            self._need(kind, part)
            self.program.append(_Call(function, 1))
            return _Part(kind, part.at)
        if self._take("("):
            part = self._deeper(0)
            self._close()
            return part
        kind, word, _ = self._tokens[self._next]
        if kind in ("sign", "end"):
            self._fail("a number or a column is missing" + f" before {sign!r}" * bool(sign))
        self._next += 1
        if kind == "name" and self._take("("):
            return self._function(word)
        step: float | str | Use = Use(word, False)
        if kind in ("number", "text"):
            # A text as columns are read, so that it equals their cells.
            step = float(word) if kind == "number" else text_of(word) or word
        self.program.append(step)
        return _Part(kind if kind in ("number", "text") else "column", len(self.program) - 1)

    def _function(self, name: str) -> _Part:
        if name not in _FUNCTIONS:
            self._fail(f"there is no function {name!r}{nearest(name, _FUNCTIONS).rstrip('.')}")
        parts = [self._deeper(0)]
        while self._take(","):
            parts.append(self._deeper(0))
        self._close()
        (wanted, function), n, kind = _FUNCTIONS[name], len(parts), "number"
        if n != wanted and (wanted or n < 2):
            words = {0: "2 or more values", 1: "1 value", 3: "a condition and two values"}
            self._fail(f"{name} takes {words[wanted]}, got {n}")
        if name == "coalesce" and [part.kind for part in parts] == ["column", "text"]:
            self._as_text(parts[0])
            kind = "texts"
        elif name == "where":
            self._need("condition", parts[0])
            self._need("number", *parts[1:])
        else:
            self._need("number", *parts)
        self.program.append(_Call(function, n))
        return _Part(kind, parts[0].at)
