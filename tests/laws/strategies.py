"""Hypothesis strategies: tables, labels, weights and costs of every kind, and whole cases.

The strategies draw a few choices and a seed; the numbers come from the seed. That is quick, and a
failing case shrinks to simpler choices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

from helpers.arrays import AnyArray, Floats, Ints
from laws.case import ACTIONS, Case, Prices
from laws.containers import CONTAINERS, FRAMES, LABEL_CONTAINERS

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

__all__ = [
    "LABELS",
    "PRICES",
    "TABLES",
    "WEIGHTS",
    "cases",
    "labels",
    "plain_cases",
    "prices",
    "sample_weights",
    "tables",
]

Generator = np.random.Generator

# -- tables ---------------------------------------------------------------------------------------


def _sprinkled(values: Floats, rng: Generator, *extras: float) -> Floats:
    """Some entries replaced."""
    place = rng.random(values.shape) < 0.15
    values[place] = rng.choice(extras, size=int(place.sum()))
    return values


def _few(n: int, rng: Generator) -> Ints:
    """N draws from the first third of the rows."""
    return np.asarray(rng.integers(max(n // 3, 1), size=n))


def _constant_column(values: Floats, rng: Generator) -> Floats:
    values[:, rng.integers(values.shape[1])] = 3.25
    return values


def _duplicated_column(values: Floats, rng: Generator) -> Floats:
    values[:, -1] = values[:, 0]
    return values


def _scales(values: Floats, rng: Generator, *powers: float) -> Floats:
    return np.asarray(values * 10.0 ** rng.choice(powers, size=values.shape[1]))


TABLES: dict[str, Callable[[Floats, Generator], Floats]] = {
    "numbers": lambda values, rng: values,
    "ties": lambda values, rng: np.round(values),
    "zeros": lambda values, rng: np.where(rng.random(values.shape) < 0.6, 0.0, values),
    "constant column": _constant_column,
    "duplicated column": _duplicated_column,
    "all constant": lambda values, rng: np.full_like(values, 1.5),
    "duplicated rows": lambda values, rng: values[
        rng.integers(max(len(values) // 3, 1), size=len(values))
    ],
    "missing": lambda values, rng: _sprinkled(values, rng, np.nan),
    "missing column": lambda values, rng: _missing_column(values, rng),
    # Of one sign: with both, scikit-learn's own check makes numpy warn.
    "infinite": lambda values, rng: _sprinkled(values, rng, rng.choice([np.inf, -np.inf])),
    "large": lambda values, rng: _scales(values, rng, 30.0),
    "small": lambda values, rng: _scales(values, rng, -30.0),
    "mixed scales": lambda values, rng: _scales(values, rng, -30.0, 0.0, 30.0),
    "extreme": lambda values, rng: _sprinkled(values, rng, 1e300, -1e300, 1e-300, 5e-324, -0.0),
}
"""Kinds of tables: what is done to normal numbers, some of which tell the class."""


def _missing_column(values: Floats, rng: Generator) -> Floats:
    values[:, rng.integers(values.shape[1])] = np.nan
    return values


def _raw_table(rng: Generator, codes: Ints, d: int, kind: str) -> Floats:
    values = rng.normal(size=(len(codes), d))
    values[:, 0] += 1.5 * codes
    return np.ascontiguousarray(TABLES[kind](values, rng), dtype=np.float64)


@st.composite
def tables(
    draw: DrawFn, n: int | None = None, d: int | None = None, kinds: Any = tuple(TABLES)
) -> Any:
    """Tables in every container, with every kind of numbers."""
    n = draw(_row_counts()) if n is None else n
    d = draw(st.integers(1, 5)) if d is None else d
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = _raw_table(rng, rng.integers(2, size=n), d, draw(st.sampled_from(kinds)))
    return CONTAINERS[draw(st.sampled_from(list(CONTAINERS)))](values)


def _row_counts() -> SearchStrategy[int]:
    return st.one_of(st.integers(8, 60), st.integers(1, 8))


# -- labels ---------------------------------------------------------------------------------------


def _texts(k: int) -> list[str]:
    known = ["fraud", "ok", "", "a b", "ß", "日本", "zz", "Zz", *(f"~{i:03}" for i in range(k))]
    return sorted(known[:k])


LABELS: dict[str, Callable[[int], AnyArray]] = {
    "codes": lambda k: np.arange(k),
    "signs": lambda k: np.array([-1, 1]) if k == 2 else np.arange(-1, k - 1),
    "booleans": lambda k: np.array([False, True]) if k == 2 else np.arange(k),
    "small integers": lambda k: np.arange(k, dtype=np.int8),
    "large integers": lambda k: np.arange(2**62, 2**62 + k),
    "unsigned": lambda k: np.arange(k, dtype=np.uint64) + np.uint64(7),
    "floats": lambda k: np.arange(k, dtype=np.float64) - 1.0,
    "texts": lambda k: np.array(_texts(k)),
    "text objects": lambda k: np.array(_texts(k), dtype=object),
    "bytes": lambda k: np.array([b"b%03d" % i for i in range(k)]),
}
"""Kinds of labels: the number of classes to that many sorted labels."""


def labels(kinds: Any = tuple(LABELS), n_classes: int = 2) -> SearchStrategy[AnyArray]:
    """Labels of classes, of any type."""
    return st.sampled_from(kinds).map(lambda kind: LABELS[kind](n_classes))


# -- weights --------------------------------------------------------------------------------------

WEIGHTS: dict[str, Callable[[int, Generator], AnyArray | None]] = {
    "none": lambda n, rng: None,
    "random": lambda n, rng: rng.uniform(0.5, 2.0, n),
    "counts": lambda n, rng: rng.integers(1, 4, n),
    "some zero": lambda n, rng: rng.uniform(0.5, 2.0, n) * (rng.random(n) < 0.6),
    "one row": lambda n, rng: np.eye(n)[rng.integers(n)],
    "huge": lambda n, rng: rng.uniform(0.1, 1.0, n) * 1e12,
    "tiny": lambda n, rng: rng.uniform(0.5, 2.0, n) * 1e-300,
    "mixed": lambda n, rng: rng.choice([0.0, 1e-12, 1.0, 1e12], n),
    "skewed": lambda n, rng: 10.0 ** rng.uniform(-12, 12, n),
    "all zero": lambda n, rng: np.zeros(n),
    "negative": lambda n, rng: rng.normal(size=n),
    "missing": lambda n, rng: np.where(np.arange(n) == n - 1, np.nan, 1.0),
}
"""Kinds of sample weights; the last three must be refused."""


@st.composite
def sample_weights(draw: DrawFn, n: int, kinds: Any = tuple(WEIGHTS)) -> Any:
    """Sample weights of n rows, or None."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return WEIGHTS[draw(st.sampled_from(kinds))](n, rng)


# -- costs ----------------------------------------------------------------------------------------

_EXTREMES = np.array([0.0, 1e-300, 1e-12, 1.0, 5.0, 1e12, -1.0, -1e12])


def _one_entry(shape: tuple[int, ...], rng: Generator) -> Floats:
    values = np.zeros(int(np.prod(shape)))
    values[rng.integers(len(values))] = rng.choice([1.0, 7.5, 1e-300, 1e12])
    return values.reshape(shape)


PRICES: dict[str, Callable[[tuple[int, ...], Generator], Floats]] = {
    "usual": lambda shape, rng: rng.uniform(0.2, 20.0, shape),
    "equal": lambda shape, rng: np.ones(shape),
    "whole": lambda shape, rng: rng.integers(0, 4, shape).astype(np.float64),
    "one entry": _one_entry,
    "zero": lambda shape, rng: np.zeros(shape),
    "profits": lambda shape, rng: rng.normal(size=shape) * 10.0,
    "skewed": lambda shape, rng: 10.0 ** rng.uniform(-12.0, 12.0, shape),
    "huge": lambda shape, rng: rng.uniform(0.2, 1.0, shape) * 1e12,
    "tiny": lambda shape, rng: rng.uniform(0.2, 20.0, shape) * 1e-300,
    "mixed": lambda shape, rng: rng.choice([0.0, 1e-300, 1.0, 1e12], shape),
    "extreme": lambda shape, rng: rng.choice(_EXTREMES, shape),
    "missing": lambda shape, rng: rng.choice([1.0, np.nan, np.inf], shape),
}
"""Kinds of costs. For square matrices the diagonal is set to 0 unless the kind has profits."""

_SIGNED = ("profits", "extreme", "missing", "one entry")
_FORMS = ("none", "matrix", "frame", "mapping", "object", "decisions", "expression", "given")
_ROW_FORMS = ("rows", "row prices", "row errors")


@st.composite
def prices(draw: DrawFn, n: int, k: int, forms: Any = None, kinds: Any = tuple(PRICES)) -> Any:
    """Costs of n rows and k classes, in every form."""
    if forms is None:
        forms = (*_FORMS, *_ROW_FORMS, *(("short",) if k == 2 else ()))
    form, kind = draw(st.sampled_from(forms)), draw(st.sampled_from(kinds))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return _prices(form, kind, n, k, rng)


def _prices(form: str, kind: str, n: int, k: int, rng: Generator) -> Prices:
    shapes: dict[str, tuple[int, ...]] = {
        "none": (0, 0),
        "rows": (n, k, k),
        "row prices": (n, k),
        "row errors": (n,),
        "decisions": (k, len(ACTIONS)),
    }
    shape = shapes.get(form, (k, k))
    if form == "none":
        return Prices()
    values = PRICES[kind](shape, rng)
    if shape[-2:] == (k, k) and form not in ("row prices", "decisions") and kind not in _SIGNED:
        values = values * (1.0 - np.eye(k))
    return Prices(form, values)


# -- cases ----------------------------------------------------------------------------------------


def _codes(rng: Generator, n: int, k: int, is_rare: bool) -> Ints:
    """Classes of the rows; each class once, as far as there are rows."""
    share = np.ones(k)
    share[0] = 8.0 if is_rare else 1.0
    codes = rng.choice(k, size=n, p=share / share.sum())
    codes[: min(k, n)] = np.arange(min(k, n))
    return np.asarray(rng.permutation(codes))


@st.composite
def cases(draw: DrawFn, n_classes: Any = None) -> Any:
    """Cases of every kind: most can be answered, some must be refused."""
    if n_classes is None:
        n_classes = st.sampled_from([2, 2, 2, 3, 3, 4, 6, 20, 1])
    k = n_classes if isinstance(n_classes, int) else draw(n_classes)
    n, d = draw(_row_counts()), draw(st.integers(1, 5))
    # Half of the choices are usual ones, so that odd ones do not always meet other odd ones.
    table = draw(_often("numbers", TABLES))
    container = draw(_often("array", CONTAINERS))
    label = draw(_often("codes", LABELS))
    label_container = draw(_often("array", LABEL_CONTAINERS))
    weight = draw(_often("none", WEIGHTS))
    form = draw(st.sampled_from((*_FORMS, *_ROW_FORMS, *(("short",) * 2 if k == 2 else ()))))
    price = draw(_often("usual", PRICES))
    is_rare = draw(st.booleans())
    if form == "expression" and draw(st.integers(0, 9)):
        container = draw(st.sampled_from(FRAMES))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    codes = _codes(rng, n, k, is_rare)
    kept, codes = np.unique(codes, return_inverse=True)  # fewer rows than classes
    m = min(n, 5)
    values = _raw_table(rng, np.concatenate([codes, rng.integers(len(kept), size=m)]), d, table)
    return Case(
        values[:n],
        codes,
        LABELS[label](len(kept)),
        values[n:],
        WEIGHTS[weight](n, rng),
        _prices(form if form != "short" or len(kept) == 2 else "matrix", price, n, len(kept), rng),
        container,
        label_container,
        f"table {table!r}, labels {label!r}, weights {weight!r}, costs {price!r}",
    )


def _often(usual: str, table: Any) -> SearchStrategy[str]:
    """The usual key in half of the draws."""
    return st.one_of(st.just(usual), st.sampled_from(list(table)))


_PLAIN_FORMS = ("matrix", "mapping", "rows", "row prices", "row errors")


@st.composite
def plain_cases(draw: DrawFn, n_classes: Any = None, forms: Any = _PLAIN_FORMS) -> Any:
    """Cases without ties and without extremes, on which symmetries hold up to rounding."""
    # All rows have different weights, because equal ones make splits that are equally good.
    if n_classes is None:
        n_classes = st.integers(2, 4)
    k = n_classes if isinstance(n_classes, int) else draw(n_classes)
    n, d = draw(st.integers(12 * k, 20 * k)), draw(st.integers(1, 4))
    form = draw(st.sampled_from(forms))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    codes = np.asarray(rng.permutation(np.arange(n) % k))
    values = _raw_table(rng, np.concatenate([codes, rng.integers(k, size=8)]), d, "numbers")
    # The second column tells the classes apart in another order, so that rules have work to do.
    values[:n, -1] += 0.8 * ((codes + 1) % k)
    return Case(
        values[:n],
        codes,
        np.arange(k),
        values[n:],
        WEIGHTS["random"](n, rng),
        _prices(form, "usual", n, k, rng),
        note="plain",
    )
