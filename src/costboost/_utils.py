"""Small things that all rooms use: rules of parameters, weights, fits at once, progress."""

from __future__ import annotations

import hashlib
import math
import os
import tempfile
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats

if TYPE_CHECKING:
    import pandas as pd
    from rich.progress import Progress

# -- rules of constructor arguments --------------------------------------------------------------
# A class declares the rules of its arguments beside them, in ``_rules``; those of its bases hold
# too. They are checked at the start of fit.


class Constraint(NamedTuple):
    """A rule in words and as a test."""

    words: str
    holds: Callable[[Any], bool]


Rules: TypeAlias = Mapping[str, Constraint]


def invalid(name: str, owner: str, problem: str) -> ValueError:
    """The error for an argument; the problem is the rule, the value given and the remedy."""
    return ValueError(f"The {name!r} parameter of {owner} {problem}")


def is_integer(value: Any) -> bool:
    """An integer that is not a boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_real(value: Any) -> bool:
    """A finite number that is not a boolean."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return math.isfinite(value)


def checked_share(value: Any, name: str, owner: str) -> float:
    """A number between 0 and 1, which are excluded."""
    if not (is_real(value) and 0 < value < 1):
        raise invalid(name, owner, f"must be in (0, 1), got {value!r}.")
    return float(value)


def integer(low: int) -> Constraint:
    """An integer of at least ``low``."""
    return Constraint(f"an integer >= {low}", lambda v: is_integer(v) and v >= low)


def one_of(*options: Any) -> Constraint:
    """One of a few names."""
    words = "one of " + ", ".join(repr(option) for option in options)
    return Constraint(words, lambda v: (v is None or isinstance(v, str)) and v in options)


def share(*, optional: bool = False) -> Constraint:
    """A number strictly between 0 and 1, or None if it is optional."""
    return Constraint(
        f"{'None or ' * optional}a number in (0, 1)",
        lambda v: (optional and v is None) or (is_real(v) and 0 < v < 1),
    )


def number(low: float) -> Constraint:
    """A finite number of at least ``low``."""
    return Constraint(f"a number >= {low:g}", lambda v: is_real(v) and v >= low)


BOOLEAN = Constraint("a boolean", lambda v: isinstance(v, (bool, np.bool_)))
FRACTION = Constraint("a number in (0, 1]", lambda v: is_real(v) and 0 < v <= 1)
LEARNING_RATE = FRACTION
N_JOBS = Constraint("None or a non-zero integer", lambda v: v is None or (is_integer(v) and v != 0))
VERBOSE = Constraint(
    "an integer >= 0 or a boolean", lambda v: isinstance(v, bool) or (is_integer(v) and v >= 0)
)
COLUMNS = Constraint(
    "None or a mapping of column names to 'number', 'boolean', 'category', 'date' or 'ignore'",
    lambda v: v is None or isinstance(v, Mapping),
)
FOLDS = Constraint(
    "an integer >= 2, a splitter or an iterable of splits",
    lambda v: (
        v >= 2
        if is_integer(v)
        else not isinstance(v, str) and (hasattr(v, "split") or isinstance(v, Iterable))
    ),
)


def check_parameters(estimator: Any) -> None:
    """Raise a ValueError for the first constructor argument that breaks its rule."""
    # Those of the class itself win over those of its bases.
    rules = ChainMap(*(vars(base).get("_rules", {}) for base in type(estimator).__mro__))
    for name, value in estimator.get_params(deep=False).items():
        if name in rules and not rules[name].holds(value):
            problem = f"must be {rules[name].words}. Got {value!r} instead."
            raise invalid(name, type(estimator).__name__, problem)


def checked_labels(y: Any, owner: str) -> Any:
    """The labels, none of them missing."""
    if y is None:
        raise ValueError(f"{owner} requires y to be passed, but the target y is None.")
    values = np.asarray(y)
    if values.dtype.kind in "US" and isinstance(y, (list, tuple)):
        # A NaN among texts would become the text "nan", a class of its own.
        values = np.array(y, dtype=object)
    if values.dtype.kind == "O" and values.ndim == 1:
        labels = values.tolist()
        for i, x in enumerate(labels):
            if isinstance(x, list | dict | set | np.ndarray):
                problem = f"must hold one label for every row, got {x!r} on row {i}"
                raise ValueError(f"y of {owner} {problem}. Fit a classifier for each label.")
        missing = [i for i, x in enumerate(labels) if is_missing(x)]
        if missing:
            raise ValueError(
                f"y of {owner} must hold a label for every row, and {len(missing)} are missing "
                f"(Input y contains NaN), the first on row {missing[0]}. Drop these rows."
            )
        if labels and all(isinstance(x, bool | np.bool_) for x in labels):
            return values.astype(bool)  # scikit-learn knows no objects that are booleans
    # scikit-learn would turn categories that are booleans into floats.
    return values if str(getattr(y, "dtype", "")) == "category" else y


def check_classes(classes: AnyArray, owner: str, *, binary: bool = False) -> None:
    """Refuse rows of one class, and of more than two where only two are allowed."""
    if len(classes) < 2:
        known = classes.tolist()
        raise ValueError(f"{owner} needs rows of at least two classes; only one class: {known}.")
    if binary and len(classes) > 2:
        # Worded so that scikit-learn's checks recognise it.
        raise ValueError(
            f"Only binary classification is supported by {owner}. The type of the target is "
            f"multiclass, with {len(classes)} classes. Use a multi-class algorithm of costboost."
        )


# The largest of the numbers of which only the ratios matter is at least this: a few of them can be
# multiplied. Those that are smaller than it by the second factor count as 0.
_SMALLEST = 1e-30
_SMALLEST_RATIO = 2.0**-200


def in_range(values: Floats, largest: float) -> Floats:
    """Return numbers >= 0 of which only the ratios matter, safe to be summed and multiplied."""
    if 0.0 < largest < _SMALLEST:
        values = values / largest
        largest = 1.0
    negligible = (values > 0) & (values < _SMALLEST_RATIO * largest)
    return np.where(negligible, 0.0, values) if negligible.any() else values


def check_weights(sample_weight: ArrayLike | None, n: int, owner: str) -> Floats:
    """Sample weights as (n,) floats of which only the ratios matter; ones if there are none."""
    if sample_weight is None:
        return np.ones(n)
    weights = checked_weights(sample_weight, n, owner)
    return in_range(weights, float(weights.max()))


_LARGEST_WEIGHT = 1e12


def checked_weights(sample_weight: ArrayLike, n: int, owner: str) -> Floats:
    """Sample weights as (n,) floats: finite, not negative, not all zero."""
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise invalid("sample_weight", owner, f"must hold numbers; {error}.") from None
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.ndim != 1:
        # scikit-learn's wording, which its checks look for.
        raise ValueError("Sample weights must be 1D array or scalar")
    if weights.shape != (n,):
        raise invalid("sample_weight", owner, f"must have shape ({n},), got {weights.shape}.")
    is_usual = (weights >= 0) & (weights <= _LARGEST_WEIGHT)  # NaN is not
    if not is_usual.all() or not weights.any():
        rule = f"must be finite, >= 0 and not all zero, at most {_LARGEST_WEIGHT:g}"
        given = f"got values from {weights.min()} to {weights.max()}"
        raise invalid("sample_weight", owner, f"{rule}, {given}.")
    return weights


# -- a fit at once or not at all, and where a model comes from ---------------------------------

# Rows that are hashed at a time, where an array must be copied for it.
_BLOCK = 65_536

EstimatorT = TypeVar("EstimatorT")


def unfitted(estimator: EstimatorT) -> EstimatorT:
    """A copy without what an earlier fit has left."""
    # Not by `copy`, which asks for the state of a file: every argument stays the same object.
    blank = type(estimator).__new__(type(estimator))
    given = {n: v for n, v in vars(estimator).items() if not n.endswith("_") or n[0] == "_"}
    vars(blank).update(given)
    return blank


def fit_at_once(estimator: EstimatorT, X: Any, y: Any, *others: Any) -> EstimatorT:
    """Fit a copy by ``_fit(X, y, *others)``, then take over its state."""
    # An error or an interrupt leaves the estimator as it was.
    blank: Any = unfitted(estimator)
    blank._fit(X, y, *others)
    blank.trained_at_, blank.data_fingerprint_ = now(), fingerprint(X, y)
    estimator.__dict__ = blank.__dict__
    return estimator


def now() -> str:
    """The time of a training: UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def versions(*packages: str) -> dict[str, str]:
    """Versions of those packages that are installed."""
    found = {}
    for package in packages:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def fingerprint(X: Any, y: Any) -> str:
    """A hash of all training rows: names, types, values and labels."""
    is_arrow = type(X).__module__.startswith("pyarrow")
    if is_arrow or (hasattr(X, "columns") and hasattr(X, "dtypes")):
        pieces = [(str(name), X[name]) for name in (X.column_names if is_arrow else X.columns)]
    elif hasattr(X, "tocsr"):
        rows = X.tocsr()
        pieces = [(name, getattr(rows, name)) for name in ("data", "indices", "indptr")]
    else:
        pieces = [("X", X)]
    found = hashlib.sha256()
    for name, piece in [*pieces, ("y", y)]:
        values = np.asarray(piece)
        found.update(f"{name} {values.dtype} {values.shape};".encode("utf-8", "surrogatepass"))
        if values.dtype.kind in "OT":  # objects and texts of any length
            words = "\x1f".join(map(str, values.ravel().tolist()))
            found.update(words.encode("utf-8", "surrogatepass"))
            continue
        rows = np.atleast_1d(values)
        if rows.dtype.kind in "mM":  # times, which have no buffer of their own
            rows = np.ascontiguousarray(rows).view(np.int64)
        for start in range(0, len(rows), _BLOCK):
            found.update(np.ascontiguousarray(rows[start : start + _BLOCK]).data.cast("B"))
    return found.hexdigest()


# -- tables --------------------------------------------------------------------------------------


def as_frame(table: Mapping[str, Any] | list[dict[str, Any]], owner: str) -> pd.DataFrame:
    """Columns, or rows, as a pandas frame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            f'{owner} returns a pandas frame: pip install "costboost[cli]".'
        ) from error
    return pd.DataFrame(table)


class Framed:
    """A result that notebooks show as its frame, and as text where pandas is not installed."""

    def _repr_html_(self) -> str | None:
        try:
            return str(self.to_frame()._repr_html_())  # type: ignore[attr-defined]
        except ImportError:  # IPython would show a traceback
            return None


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA, which is not even equal to itself."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


@contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of another in one step, once it is complete."""
    path = Path(os.path.realpath(path))  # a link stays, and leads to the new file
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write_bytes(path: Path, data: bytes) -> Path:
    """Write a file in one step; it is on the disk when this returns."""
    with replaced(path) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return path


def dot(weights: Floats, values: Floats) -> float:
    """Σ w v over (n,) arrays, without BLAS."""
    # Its threads keep spinning for a while after every call, in the way of LightGBM's: with default
    # settings a single dot product per round made fits three times slower.
    return float(np.einsum("i,i->", weights, values))


def progress_bar(is_wanted: bool) -> Progress:
    """A bar of rich, which goes when all is done; only in a terminal."""
    from rich import progress

    shown = progress.BarColumn(10), progress.TaskProgressColumn(), progress.TimeRemainingColumn()
    bar = progress.Progress(*shown, "{task.description}", transient=True)
    bar.disable = not (is_wanted and bar.console.is_terminal)
    return bar
