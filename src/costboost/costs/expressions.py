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
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NoReturn, TypeAlias

import numpy as np

from costboost._typing import AnyArray, Bools, Floats

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
    r"|(?P<sign>\*\*|<=|>=|==|!=|[-+*/(),<>]))"
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
_SINGLE: dict[str, Callable[[Any], Any]] = {
    "abs": np.abs,
    "sqrt": np.sqrt,
    "log": np.log,
    "exp": np.exp,
}
_FOLDED: dict[str, Callable[[Any, Any], Any]] = {
    "min": np.minimum,
    "max": np.maximum,
    "coalesce": lambda a, b: np.where(np.isnan(a), b, a),
}


class ExpressionError(ValueError):
    """The text cannot be read as an expression, or the table lacks a column that it names."""

    # The cell that makes the price what it is, counted in the rows that were given.
    column: str | None = None
    row: int | None = None


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

    def __call__(self, X: Any, *, rows: Sequence[int] | None = None, of: str = "X") -> Floats:
        """The price of each row; ``rows``, their numbers, and ``of`` are for messages."""
        names, table = column_names(X), X
        if names is None and self.columns:
            is_array = isinstance(X, np.ndarray) and X.ndim == 2
            table = {f"x{j}": column for j, column in enumerate(X.T)} if is_array else {}
            names = list(table)
            if not set(self.columns) <= set(names):
                raise ExpressionError(
                    f"The expression {self.text!r} names columns, and X has none: it is a "
                    f"{type(X).__name__}. Pass a data frame, or the prices as an array; the "
                    "columns of an array are called x0, x1, ..., as scikit-learn names them."
                )
        values = {use: self._column(table, *use, names or []) for use in self._uses}
        with np.errstate(all="ignore"):
            result = np.asarray(self._node(values), dtype=np.float64)
        prices = np.array(np.broadcast_to(result, (len(X),)))
        wrong = ~np.isfinite(prices)
        if wrong.any():
            row = int(wrong.argmax())
            self._refuse(
                prices,
                wrong,
                row,
                values,
                f"{of}, first on row {rows[row] if rows is not None else row}",
            )
        return prices

    @property
    def has_texts(self) -> bool:
        """Whether it compares a column with a text."""
        return any(is_text for _, is_text in self._uses)

    def traced(self, columns: Mapping[str, Any]) -> Any:
        """The price of stand-ins for columns of numbers, which see what numpy does to them."""
        return self._node({use: columns[use[0]] for use in self._uses})

    def _refuse(
        self, prices: Floats, wrong: Bools, row: int, values: dict[Use, AnyArray], place: str
    ) -> NoReturn:
        """Say which column is missing, or what the columns are, where there is no price."""
        for (name, _), column in values.items():
            missing = wrong & _is_missing(column)
            if missing[row]:
                word = name if name.isidentifier() else f"`{name}`"
                filler = "100" if column.dtype.kind == "f" else "'none'"
                error = ExpressionError(
                    f"The expression {self.text!r} needs the column {name!r}, which is missing on "
                    f"{_rows(missing)} of {place}. Say what a missing value counts as, "
                    f"coalesce({word}, {filler}), or leave those rows out."
                )
                error.column, error.row = name, row
                raise error
        given = ", ".join(f"{name} = {column[row]}" for (name, _), column in values.items())
        error = ExpressionError(
            f"The expression {self.text!r} is {prices[row]} on {_rows(wrong)} of {place}"
            f"{', where ' * bool(given)}{given}. A price must be finite: avoid divisions by 0, "
            "roots and logarithms of negative numbers, and huge powers."
        )
        if self.columns:
            error.column, error.row = self.columns[0], row
        raise error

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
            f"{_strange(column) or kind or 'text'}. Convert it to numbers, or compare it with a "
            f"text: where({name} == '...', 1, 0)."
        ) from None


def _strange(column: Any) -> str:
    """The first value that is no number, and its row."""
    for row, value in enumerate(column):
        try:
            float(value)
        except (TypeError, ValueError):
            if isinstance(value, str):
                return f"{value!r} (row {row})"
    return ""


def _texts(column: Any, name: str, text: str) -> AnyArray:
    """A column of texts as objects; missing values become None."""
    if hasattr(column, "isna"):  # pandas, nullable or not
        texts = np.array(column.astype(object).to_numpy(), dtype=object)
        texts[column.isna().to_numpy()] = None
    else:
        texts = np.asarray(column, dtype=object)
    first = next((x for x in texts if x is not None), "")
    if not isinstance(first, str):
        raise ExpressionError(
            f"The column {name!r} of the expression {text!r} is compared with a text, but holds "
            f"{type(first).__name__} values such as {first!r}. Compare it with a number, without "
            "quotes."
        )
    return texts


def _is_missing(values: Any) -> Any:
    """Where numbers are NaN, and texts None."""
    if isinstance(values, str):
        return False
    if isinstance(values, np.ndarray) and values.dtype.kind == "O":
        return np.array([x is None for x in values])
    return np.isnan(values)


def _rows(where: Bools) -> str:
    n = int(where.sum())
    return f"{n} rows" if n > 1 else "1 row"


@dataclass(frozen=True)
class _Text:
    """A text in quotes; it can only be compared with a column."""

    text: str


@dataclass(frozen=True)
class _Column:
    """A column of numbers; next to a text in quotes, one of texts."""

    name: str
    missing: str | None = None  # the text that a missing one counts as

    def __call__(self, values: dict[Use, AnyArray]) -> AnyArray:
        return values[self.name, False]


@dataclass(frozen=True)
class _Condition:
    """1 or 0 on each row, NaN where a value that it needs is missing."""

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
            f"numbers, column names, + - * / **, parentheses, {', '.join(_SINGLE)}, "
            f"{', '.join(_FOLDED)} and where(condition, a, b); put a column name with spaces or "
            "signs into `backticks`."
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
        return self._joined(self._and, "or", np.maximum)

    def _and(self) -> Any:
        return self._joined(self._not, "and", np.minimum)

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
        return _Condition(lambda values: 1.0 - inner(values))

    def _comparison(self) -> Any:
        left = self._sum()
        sign = self._sign(*_COMPARISONS)
        if sign is None:
            return left
        right = self._sum()
        if isinstance(left, _Text) or isinstance(right, _Text):
            return self._text_comparison(left, right, sign)
        return _compared(self._number(left), self._number(right), _COMPARISONS[sign])

    def _text_comparison(self, left: Any, right: Any, sign: str) -> _Condition:
        column, text = (left, right) if isinstance(right, _Text) else (right, left)
        if not isinstance(column, _Column) or sign not in ("==", "!="):
            self._fail("a text can only be compared with a column, by == or !=")
        use, other = (column.name, True), column.missing
        self.uses[use] = None

        def texts(values: dict[Use, AnyArray]) -> AnyArray:
            found = values[use]
            return found if other is None else np.where(_is_missing(found), other, found)

        return _compared(texts, lambda values: text.text, _COMPARISONS[sign])

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
            return self._power()
        self._deeper()
        inner = self._number(self._signed())
        self._depth -= 1
        return inner if sign == "+" else lambda values: np.negative(inner(values))

    def _power(self) -> Any:
        base = self._atom()
        if not self._sign("**"):
            return base
        self._deeper()
        exponent = self._number(self._signed())  # as in Python: 2 ** -1, and -2 ** 2 is -4
        self._depth -= 1
        return _chain(self._number(base), [(np.power, exponent)])

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
        n = len(arguments)
        if name == "where":
            if n != 3:
                self._fail(f"where takes a condition and two values, got {n}")
            condition = self._condition(arguments[0])
            yes, no = self._number(arguments[1]), self._number(arguments[2])
            return lambda values: _chosen(condition(values), yes(values), no(values))
        known = [*_SINGLE, *_FOLDED, "where"]
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.5)
            self._fail(
                f"there is no function {name!r}" + "".join(f"; did you mean {x}?" for x in near)
            )
        if (n != 1) if name in _SINGLE else (n < 2):
            self._fail(
                f"{name} takes {'1 value' if name in _SINGLE else '2 or more values'}, got {n}"
            )
        if (
            name == "coalesce"
            and isinstance(arguments[0], _Column)
            and isinstance(arguments[1], _Text)
        ):
            if n > 2:
                self._fail("coalesce of a column of texts takes one text")
            return _Column(arguments[0].name, arguments[1].text)
        first, *rest = [self._number(argument) for argument in arguments]
        if name in _SINGLE:
            return lambda values: _SINGLE[name](first(values))
        return _chain(first, [(_FOLDED[name], other) for other in rest])

    # -- what a part may be ---------------------------------------------------------------------

    def _number(self, node: Any) -> Node:
        if isinstance(node, _Text):
            self._fail(f"the text {node.text!r} is not a number")
        if isinstance(node, _Condition):
            self._fail("a comparison is not a number: write where(condition, a, b)")
        if isinstance(node, _Column):
            if node.missing is not None:
                self._fail(f"coalesce({node.name}, {node.missing!r}) is a text and not a number")
            self.uses[node.name, False] = None
        return node  # type: ignore[no-any-return]

    def _condition(self, node: Any) -> Node:
        if not isinstance(node, _Condition):
            self._fail("a condition is missing, such as amount > 100")
        return node.node


def _compared(left: Node, right: Node, function: Callable[[Any, Any], Any]) -> _Condition:
    def node(values: dict[Use, AnyArray]) -> Any:
        a, b = left(values), right(values)
        return np.where(_is_missing(a) | _is_missing(b), np.nan, function(a, b))

    return _Condition(node)


def _chosen(condition: Any, yes: Any, no: Any) -> Any:
    return np.where(np.isnan(condition), np.nan, np.where(condition > 0, yes, no))


def _chain(first: Node, rest: Sequence[tuple[Callable[[Any, Any], Any], Node]]) -> Node:
    """Operations from left to right, in a loop: a long sum needs no deep recursion."""

    def node(values: dict[Use, AnyArray]) -> Any:
        result = first(values)
        for function, other in rest:
            result = function(result, other(values))
        return result

    return node
