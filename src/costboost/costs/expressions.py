"""Prices written as arithmetic over the columns of a table: ``"0.9 * amount + 15"``.

The grammar is small and closed, so that a text from a file or a command line can never run code:

- numbers, column names (``amount``; `` `total amount` `` in backticks if it is not a plain word),
- ``+ - * /``, parentheses, ``min(a, b, ...)``, ``max(a, b, ...)``, ``abs(a)``, ``log(a)``,
  ``exp(a)``,
- ``where(condition, a, b)``, with the comparisons ``< <= > >= == !=`` between numbers, ``==`` and
  ``!=`` between a column and a text in quotes, and ``and``, ``or``, ``not`` in the condition.

>>> import pandas as pd
>>> from costboost.costs.expressions import Expression
>>> price = Expression("where(country == 'CH', 0, 15) + 0.9 * amount")
>>> price.columns
('country', 'amount')
>>> price(pd.DataFrame({"country": ["CH", "FR"], "amount": [100.0, 10.0]}))
array([90., 24.])
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NoReturn, TypeAlias

import numpy as np

from costboost._typing import AnyArray, Floats

__all__ = ["Expression", "ExpressionError", "column_names"]

LONGEST = 2_000
"""Largest number of characters of an expression."""

DEEPEST = 40
"""How deep parentheses and functions may be nested."""

Use: TypeAlias = tuple[str, bool]
"""A column, and whether it is used as text."""

Node: TypeAlias = Callable[[dict[Use, AnyArray]], Any]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])"
    r"|(?P<name>[^\W\d]\w*)|`(?P<quoted>[^`]+)`"
    r"|'(?P<single>[^']*)'|\"(?P<double>[^\"]*)\""
    r"|(?P<sign><=|>=|==|!=|[-+*/(),<>]))"
)
_WORDS = ("and", "or", "not")
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}
_SUMS: dict[str, Callable[[Any, Any], Any]] = {"+": np.add, "-": np.subtract}
_PRODUCTS: dict[str, Callable[[Any, Any], Any]] = {"*": np.multiply, "/": np.divide}
_FUNCTIONS: dict[str, tuple[int, int | None, Callable[..., Any]]] = {
    # name: fewest and most arguments, what it computes
    "min": (2, None, lambda *values: _fold(np.minimum, values)),
    "max": (2, None, lambda *values: _fold(np.maximum, values)),
    "abs": (1, 1, np.abs),
    "log": (1, 1, np.log),
    "exp": (1, 1, np.exp),
}


class ExpressionError(ValueError):
    """The text cannot be read as an expression, or the table lacks a column that it names."""


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
        parser = _Parser(text)
        self.text = text
        self._node = parser.parse()
        self._uses = tuple(parser.uses)
        self.columns: tuple[str, ...] = tuple(parser.columns)

    def __call__(self, X: Any) -> Floats:
        """The price of each row."""
        names = column_names(X)
        if names is None and self.columns:
            raise ExpressionError(
                f"The expression {self.text!r} names columns, and X has none: it is a "
                f"{type(X).__name__}. Pass a data frame, or the prices as an array."
            )
        values = {use: self._column(X, *use, names or []) for use in self._uses}
        with np.errstate(all="ignore"):  # the caller refuses NaN and infinity, by row
            result = self._node(values)
        return np.array(np.broadcast_to(np.asarray(result, dtype=np.float64), (len(X),)))

    def _column(self, X: Any, name: str, is_text: bool, names: Sequence[Any]) -> AnyArray:
        if name not in names:
            near = get_close_matches(name, [str(known) for known in names], n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}? " if near else ""
            shown = ", ".join(map(repr, list(names)[:10])) + (", ..." if len(names) > 10 else "")
            raise ExpressionError(
                f"The expression {self.text!r} names the column {name!r}, which X does not have: "
                f"{hint}X has {shown}."
            )
        column = X[name]
        if is_text:
            return _texts(column, name, self.text)
        return _numbers(column, name, self.text)

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __reduce__(self) -> tuple[type[Expression], tuple[str]]:
        return Expression, (self.text,)


def column_names(X: Any) -> list[Any] | None:
    """Names of the columns of a data frame; None if X has none."""
    columns = getattr(X, "columns", None)
    return None if columns is None or callable(columns) else list(columns)


def _numbers(column: Any, name: str, text: str) -> Floats:
    """A column as floats; missing values become NaN."""
    kind = str(getattr(column, "dtype", ""))
    if "date" in kind.lower() or "time" in kind.lower():
        raise ExpressionError(
            f"The column {name!r} of the expression {text!r} holds times ({kind}). Turn it into a "
            "number first, such as days since a date."
        )
    try:
        if hasattr(column, "to_numpy") and hasattr(column, "isna"):  # pandas, nullable or not
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        raise ExpressionError(
            f"The column {name!r} of the expression {text!r} must hold numbers, got "
            f"{kind or 'text'}. Convert it to numbers, or compare it with a text: "
            f"where({name} == '...', 1, 0)."
        ) from None


def _texts(column: Any, name: str, text: str) -> AnyArray:
    """A column of texts as objects; missing values become None."""
    if hasattr(column, "isna"):  # pandas, nullable or not
        texts = np.array(column.astype(object).to_numpy(), dtype=object)
        texts[column.isna().to_numpy()] = None
    else:
        texts = np.asarray(getattr(column, "to_numpy", lambda: column)(), dtype=object)
    first = next((x for x in texts if x is not None), "")
    if not isinstance(first, str):
        raise ExpressionError(
            f"The column {name!r} of the expression {text!r} is compared with a text, but holds "
            f"{type(first).__name__} values such as {first!r}. Compare it with a number, without "
            "quotes."
        )
    return texts


def _fold(function: Callable[[Any, Any], Any], values: Sequence[Any]) -> Any:
    first, *rest = values
    for value in rest:
        first = function(first, value)
    return first


@dataclass(frozen=True)
class _Text:
    """A text in quotes; it can only be compared with a column."""

    text: str


@dataclass(frozen=True)
class _Column:
    """A column of numbers; next to a text in quotes, one of texts."""

    name: str

    def __call__(self, values: dict[Use, AnyArray]) -> AnyArray:
        return values[self.name, False]


@dataclass(frozen=True)
class _Condition:
    """True or False on each row."""

    node: Node


class _Parser:
    """Recursive descent, one method per level of the grammar."""

    # Conditions and numbers are kept apart by `_number` and `_condition`, which refuse the other.

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise ExpressionError(f"An expression must be a text, got {type(text).__name__}.")
        if len(text) > LONGEST:
            raise ExpressionError(
                f"An expression may have at most {LONGEST} characters, got {len(text)}: "
                f"{text[:40]!r}... Compute it as a column of X and name the column."
            )
        self.text = text
        self.columns: dict[str, None] = {}
        self.uses: dict[Use, None] = {}
        self._tokens = self._tokenise()
        self._next = 0
        self._depth = 0

    # -- tokens ---------------------------------------------------------------------------------

    def _tokenise(self) -> list[tuple[str, str, int]]:
        tokens, place, text = [], 0, self.text.rstrip()
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None:
                while text[place].isspace():
                    place += 1
                self._fail(f"{text[place]!r} is not understood", place)
            kind = str(match.lastgroup)
            tokens.append((kind, match[kind], match.start(kind)))
            place = match.end()
        return tokens

    def _fail(self, what: str, place: int | None = None) -> NoReturn:
        if place is None:
            place = (
                self._tokens[self._next][2] if self._next < len(self._tokens) else len(self.text)
            )
        raise ExpressionError(
            f"The expression {self.text!r} cannot be read: {what}, at character {place + 1}. Use "
            "numbers, column names, + - * /, parentheses, min, max, abs, log, exp and "
            "where(condition, a, b); put a column name with spaces or signs into `backticks`."
        )

    def _sign(self, *signs: str) -> str | None:
        """The next token, taken, if it is one of these signs or words."""
        if self._next < len(self._tokens):
            kind, value, _ = self._tokens[self._next]
            if value in signs and (kind == "sign" or (kind == "name" and value in _WORDS)):
                self._next += 1
                return value
        return None

    def _expect(self, sign: str) -> None:
        if self._sign(sign) is None:
            self._fail(f"{sign!r} is missing")

    # -- grammar --------------------------------------------------------------------------------

    def parse(self) -> Node:
        if not self._tokens:
            raise ExpressionError("An expression is empty. Write a number or a column name.")
        node = self._number(self._or())
        if self._next < len(self._tokens):
            self._fail(f"{self._tokens[self._next][1]!r} is unexpected")
        return node

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            self._fail(f"parentheses are nested deeper than {DEEPEST}")

    def _or(self) -> Any:
        return self._joined(self._and, "or", np.logical_or)

    def _and(self) -> Any:
        return self._joined(self._not, "and", np.logical_and)

    def _joined(self, part: Callable[[], Any], word: str, function: Any) -> Any:
        first, rest = part(), []
        while self._sign(word):
            rest.append((function, self._condition(part())))
        return _Condition(_chain(self._condition(first), rest)) if rest else first

    def _not(self) -> Any:
        if not self._sign("not"):
            return self._comparison()
        self._deeper()
        inner = self._condition(self._not())
        self._depth -= 1
        return _Condition(lambda values: np.logical_not(inner(values)))

    def _comparison(self) -> Any:
        left = self._sum()
        sign = self._sign(*_COMPARISONS)
        if sign is None:
            return left
        right = self._sum()
        if isinstance(left, _Text) or isinstance(right, _Text):
            return self._text_comparison(left, right, sign)
        return _Condition(_chain(self._number(left), [(_COMPARISONS[sign], self._number(right))]))

    def _text_comparison(self, left: Any, right: Any, sign: str) -> _Condition:
        column, text = (left, right) if isinstance(right, _Text) else (right, left)
        if not isinstance(column, _Column) or sign not in ("==", "!="):
            self._fail("a text can only be compared with a column, by == or !=")
        use, function = (column.name, True), _COMPARISONS[sign]
        self.uses[use] = None
        return _Condition(lambda values: np.asarray(function(values[use], text.text), bool))

    def _sum(self) -> Any:
        return self._operations(self._product, _SUMS)

    def _product(self) -> Any:
        return self._operations(self._signed, _PRODUCTS)

    def _operations(self, part: Callable[[], Any], functions: dict[str, Any]) -> Any:
        first, rest = part(), []
        while sign := self._sign(*functions):
            rest.append((functions[sign], self._number(part())))
        return _chain(self._number(first), rest) if rest else first

    def _signed(self) -> Any:
        sign = self._sign("-", "+")
        if sign is None:
            return self._atom()
        self._deeper()
        inner = self._number(self._signed())
        self._depth -= 1
        return inner if sign == "+" else lambda values: np.negative(inner(values))

    def _atom(self) -> Any:
        if self._sign("("):
            self._deeper()
            inner = self._or()
            self._expect(")")
            self._depth -= 1
            return inner
        if self._next >= len(self._tokens):
            self._fail("a number or a column is missing")
        kind, value, _ = self._tokens[self._next]
        if kind == "sign" or (kind == "name" and value in _WORDS):
            self._fail(f"a number or a column is missing before {value!r}")
        self._next += 1
        if kind == "number":
            number = float(value)
            return lambda values: number
        if kind in ("single", "double"):
            return _Text(value)
        if kind == "name" and self._sign("("):
            return self._function(value)
        self.columns[value] = None
        return _Column(value)

    def _function(self, name: str) -> Node:
        self._deeper()
        arguments = [self._or()]
        while self._sign(","):
            arguments.append(self._or())
        self._expect(")")
        self._depth -= 1
        if name == "where":
            if len(arguments) != 3:
                self._fail(f"where takes a condition and two values, got {len(arguments)}")
            condition = self._condition(arguments[0])
            yes, no = self._number(arguments[1]), self._number(arguments[2])
            return lambda values: np.where(condition(values), yes(values), no(values))
        if name not in _FUNCTIONS:
            near = get_close_matches(name, [*_FUNCTIONS, "where"], n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]}?" if near else ""
            self._fail(f"there is no function {name!r}{hint}")
        fewest, most, function = _FUNCTIONS[name]
        if len(arguments) < fewest or (most is not None and len(arguments) > most):
            wanted = f"{fewest} or more" if most is None else fewest
            self._fail(f"{name} takes {wanted} values, got {len(arguments)}")
        nodes = [self._number(argument) for argument in arguments]
        return lambda values: function(*(node(values) for node in nodes))

    # -- what a part may be ---------------------------------------------------------------------

    def _number(self, node: Any) -> Node:
        if isinstance(node, _Text):
            self._fail(f"the text {node.text!r} is not a number")
        if isinstance(node, _Condition):
            self._fail("a comparison is not a number: write where(condition, a, b)")
        if isinstance(node, _Column):
            self.uses[node.name, False] = None
        return node  # type: ignore[no-any-return]

    def _condition(self, node: Any) -> Node:
        if not isinstance(node, _Condition):
            self._fail("a condition is missing, such as amount > 100")
        return node.node


def _chain(first: Node, rest: Sequence[tuple[Callable[[Any, Any], Any], Node]]) -> Node:
    """Operations from left to right, in a loop: a long sum needs no deep recursion."""

    def node(values: dict[Use, AnyArray]) -> Any:
        result = first(values)
        for function, other in rest:
            result = function(result, other(values))
        return result

    return node
