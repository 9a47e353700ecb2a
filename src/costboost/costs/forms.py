"""The forms in which users write costs, each turned into an array, truth by decision.

`Reader` reads them all. It returns finite floats with the names of the decisions, or raises an
error that names the parameter, its owner, the rule, what was given and the remedy.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats, Ints
from costboost.columns import Rows
from costboost.costs.expressions import Expression
from costboost.costs.labels import (
    arranged,
    encoded_hint,
    label_array,
    listed,
    matched,
    nearest,
    parameter,
)
from costboost.errors import CostWarning

Texts: TypeAlias = dict[tuple[int, int], str]

# fn, fp, tp and tn as columns are called: cost_fn, FN_cost, "false negative", costFP.
_SHORT_NAME = re.compile(
    r"(?:costs?[_\-\s]*)?(?:([tf])([pn])|(true|false)[_\-\s]?(positive|negative)s?)"
    r"(?:[_\-\s]*costs?)?",
    re.IGNORECASE,
)

NAMING_KEYS = ("positive", "classes")
"""Keys of a mapping of costs that name classes, and are no costs."""

SHORT_KEYS = ("fn", "fp", "tp", "tn", *NAMING_KEYS)
"""Keys of the binary short form ``{"fn": 5, "fp": 1}``."""

LARGEST = 1e12
"""The largest size of a cost."""

# A pair that a mapping leaves out.
_NOT_GIVEN = object()

_TRUTH_WORDS = ("truth", "true", "actual", "y_true", "true class", "true label", "true_label")
_DECISION_WORDS = (
    *("decision", "decisions", "decide", "decided", "predicted", "prediction", "pred", "y_pred"),
    *("action", "actions"),
)


class RowCosts(np.ndarray[Any, np.dtype[np.float64]]):
    """Costs of single rows, shape (n, k, d), that remember what they are of; see `per_row`.

    Where they are used as ``costs``, they are put into the order of the classes. Slices and joined
    arrays remember it too, so the array may be cut into folds. ``numpy.asarray`` forgets it.

    Attributes
    ----------
    positive : label or None
        The positive class of costs of two classes, whose index is 1; None is the second of {0, 1},
        {False, True} or {-1, 1}.
    labels : tuple of two lists, or None
        The classes and the decisions, if pairs of them were named.
    classes : list or None
        All classes, if they were named, so that costs are found where labels are encoded.
    """

    positive: Any
    labels: tuple[list[Any], list[Any]] | None
    classes: list[Any] | None
    # Index of the prices that `per_row` was given. Parts of the array have none.
    index: Any

    def __array_finalize__(self, obj: Any) -> None:
        self.names = getattr(obj, "names", (None, None, None))
        self.index = None

    @property
    def names(self) -> tuple[Any, Any, Any]:
        """What the costs are of: `positive`, `labels` and `classes`."""
        return self.positive, self.labels, self.classes

    @names.setter
    def names(self, names: tuple[Any, Any, Any]) -> None:
        self.positive, self.labels, self.classes = names

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        result = super().__array_function__(func, types, args, kwargs)
        if type(result) is not np.ndarray or result.ndim != 3:
            return result
        # Functions that join arrays return plain ones.
        parts = [x for y in args for x in (y if isinstance(y, list | tuple) else [y])]
        for part in parts:
            if isinstance(part, RowCosts) and part.names != self.names:
                raise ValueError(
                    "Costs of rows with other positive classes or labels cannot be joined."
                )
        joined = result.view(RowCosts)
        joined.names = self.names
        return joined

    def __reduce__(self) -> Any:
        rebuilt: Any = super().__reduce__()
        return rebuilt[0], rebuilt[1], (rebuilt[2], self.names)

    def __setstate__(self, state: Any) -> None:
        inner, self.names = state
        super().__setstate__(inner)


def per_row(
    fn: ArrayLike | Mapping[tuple[Any, Any], Any],
    fp: ArrayLike | None = None,
    tp: ArrayLike = 0.0,
    tn: ArrayLike = 0.0,
    *,
    positive: Any = None,
    classes: Iterable[Any] | None = None,
    n: int | None = None,
    X: Any = None,
) -> RowCosts:
    """Build the costs of single rows, which scikit-learn can cut into folds and route.

    Parameters
    ----------
    fn : float, array of shape (n,), str, or mapping
        Price of a miss, for all rows or for each. A text is the name of a column of X or arithmetic
        over columns, ``"amount + 15"``; see `costboost.costs.expressions`. For any classes and
        decisions, a mapping ``{(truth, decision): price}`` of such prices in place of all four
        (right decisions may be left out: 0).
    fp, tp, tn : float, array of shape (n,) or str
        Price of a false alarm, of a detection and of a correct rejection.
    positive : label, optional
        The positive class, such as ``"fraud"``. It may be left out only for the labels {0, 1},
        {False, True} and {-1, 1}, whose second is positive.
    classes : iterable of labels, optional
        All classes. Where a meta-estimator encodes the labels as 0, 1, ... (in sorted order, as
        scikit-learn does), costs by label are then found by their codes.
    n : int, optional
        Number of rows; needed only if all prices are single numbers.
    X : data frame, optional
        The rows, if prices name columns.

    Returns
    -------
    RowCosts of shape (n, k, d)
        Cost of each row, truth by decision; for two classes index 1 is the positive one.

    Examples
    --------
    A fraud costs its amount, a call to the customer 5 whether or not it was needed:

    >>> per_row(fn=[120.0, 3.0], fp=5, tp=5)
    RowCosts([[[  0.,   5.],
               [120.,   5.]],
              [[  0.,   5.],
               [  3.,   5.]]])

    Any classes and decisions:

    >>> prices = {("ok", "accept"): 0, ("ok", "review"): 4,
    ...           ("fraud", "accept"): [120.0, 3.0, 9.0], ("fraud", "review"): 4}
    >>> per_row(prices)[:2].labels
    (['ok', 'fraud'], ['accept', 'review'])
    """
    form: dict[Any, Any] = {"fn": fn, "fp": fp, "tp": tp, "tn": tn}
    known = np.array([0, 1])
    if isinstance(fn, Mapping):
        form, known = dict(fn), label_array(named_labels(fn)[0])
    elif fp is None:
        raise ValueError("per_row needs fp, the price of a false alarm. Pass fp=.")
    indexed = [x for x in (X, *form.values()) if hasattr(getattr(x, "index", None), "get_indexer")]
    size = n if X is None else len(X)
    table = X if X is not None else next(iter(indexed), None)
    matrix, decisions, _ = Reader(known, "costs", "per_row", None, size, table).matrix(form)
    if matrix.ndim == 2:
        if size is None:
            raise ValueError(
                "per_row got only single numbers, so the number of rows is unknown. Pass n=."
            )
        matrix = np.repeat(matrix[None], size, axis=0)
    costs = matrix.view(RowCosts)
    labels = (known.tolist(), decisions.tolist()) if isinstance(fn, Mapping) else None
    costs.names = positive, labels, None if classes is None else list(classes)
    costs.index = indexed[0].index if indexed and len(indexed[0]) == len(costs) else None
    return costs


# -- what a form says without being read -------------------------------------------------------


def is_frame(value: object) -> bool:
    """Say whether `value` is a pandas or polars frame, without importing either."""
    return hasattr(value, "columns") and hasattr(value, "to_numpy")


def is_short(value: object) -> bool:
    """Say whether `value` is the binary short form, ``{"fn": ..., "fp": ...}``."""
    return isinstance(value, Mapping) and bool(value) and all(key in SHORT_KEYS for key in value)


def row_costs(
    costs: Any, labels: Iterable[Any] = (), positive: Any = None, start: str = "A frame of costs"
) -> Any:
    """A frame with a row per row and the columns fn, fp, tp, tn as the short form."""
    # Anything else is returned as it is, also a frame whose columns are known decisions.
    if not is_frame(costs) or set(costs.columns) <= {*labels}:
        return costs
    read = {column: _SHORT_NAME.fullmatch(str(column).strip()) for column in costs.columns}
    short = {
        "".join(word[0].lower() for word in found.groups() if word): costs[column]
        for column, found in read.items()
        if found
    }
    if not short:
        return costs
    if len(short) < len(costs.columns):
        raise ValueError(
            f"{start} must have the columns 'fn' and 'fp', and 'tp' and 'tn' if needed, each once, "
            f"or a column per decision; got {listed(costs.columns)}. Drop the other columns."
        )
    return short if positive is None else {**short, "positive": positive}


def aligned(values: Any, rows: Any, start: str, *, some: bool = False) -> Any:
    """Values in the order of the rows, if both have an index of pandas; refused if they differ."""
    # With ``some`` there may be values of more rows, which are left out.
    rows = rows.table.X if isinstance(rows, Rows) else rows
    mine, index = getattr(values, "index", None), getattr(rows, "index", None)
    has_both = hasattr(mine, "get_indexer") and hasattr(index, "get_indexer")
    if not has_both or (len(mine) != len(index) and not some) or mine.equals(index):  # type: ignore[arg-type, union-attr]
        return values
    if mine.is_unique and (some or index.is_unique):  # type: ignore[union-attr]
        places = mine.get_indexer(index)  # type: ignore[union-attr]
        if (places >= 0).all():
            return values.iloc[places] if hasattr(values, "iloc") else values[places]
    raise ValueError(
        f"{start} must have the index of the rows it belongs to, in any order; its index has other "
        "or repeated labels. Take it from the same rows, or pass .to_numpy() if its order is right."
    )


def cells_in(form: Any) -> list[Any]:
    """The cells of a mapping, a frame or an object array; empty for other forms."""
    if isinstance(form, Mapping):
        return [value for key, value in form.items() if key not in NAMING_KEYS]
    if is_frame(form):
        is_first = _row_labels(form)[1]  # the first column holds the classes: not expressions
        form = form.to_numpy()[:, int(is_first) :]
    if isinstance(form, list | tuple):
        form = object_array(form)
    if isinstance(form, np.ndarray) and form.dtype.kind in "OUT":
        return list(form.flat)
    return []


def expressions_in(form: Any) -> list[Expression]:
    """The expressions of a form."""
    texts = [cell for cell in cells_in(form) if isinstance(cell, str)]
    return [Expression(text) for text in texts if not is_number(text)]


def columns_of(form: Any) -> list[str]:
    """Columns of X that the expressions of a form name, each once."""
    return list(dict.fromkeys(name for x in expressions_in(form) for name in x.columns))


def varies(form: Any) -> bool:
    """Whether the costs differ from row to row: a function of X, columns or arrays as entries."""
    if callable(form) or (isinstance(form, np.ndarray) and form.ndim == 3):
        return True
    return any(isinstance(cell, str) or np.ndim(cell) == 1 for cell in cells_in(form))


def decisions_of(
    form: Any, classes: AnyArray, owner: str = "", *, as_classes: bool = False
) -> AnyArray:
    """The decisions that a form names; the classes if it names none."""
    if not isinstance(form, Mapping) and not is_frame(form):
        return getattr(form, "decisions", classes)  # those of a Costs object
    return Reader(classes, owner=owner, as_classes=as_classes).cells(form)[1]


def named_labels(form: Any) -> tuple[list[Any], list[Any]]:
    """Truths and decisions that a labelled form names by itself; empty for an unlabelled one."""
    if isinstance(form, RowCosts):
        return form.labels or (form.classes or [x for x in [form.positive] if x is not None], [])
    if is_short(form):
        return list(form.get("classes") or [form[key] for key in form if key == "positive"]), []
    if isinstance(form, Mapping):
        pairs = [key for key in form if isinstance(key, tuple) and len(key) == 2]
        return list(dict.fromkeys(t for t, _ in pairs)), list(dict.fromkeys(d for _, d in pairs))
    if is_frame(form):
        return _open_frame(form, parameter("cost_matrix", ""))[:2]
    return [], []


def positive_of(form: Any) -> Any:
    """The positive class that costs of two classes name; None if they name none."""
    return form.get("positive") if is_short(form) else getattr(form, "positive", None)


# Pairs of classes whose second one is the positive class by common usage.
_USUAL_PAIRS = ({0, 1}, {-1, 1})


def positive_code(positive: Any, classes: AnyArray, name: str, owner: str) -> int:
    """Index of the positive class: the one that is named, or the second of a usual pair."""
    # Labels {0, 1}, {False, True} and {-1, 1} need no name. For all others guessing would be wrong
    # half of the time.
    known = classes.tolist()
    if positive is not None:
        (code,) = matched([positive], classes)
        if code < 0:
            raise ValueError(
                f"{parameter(name, owner)} names the positive class {positive!r}, which is not "
                f"among the classes {listed(known)}{nearest(positive, known)} "
                f"{encoded_hint(known, [positive]) or 'Name one of them.'}"
            )
        return code
    if not any(isinstance(x, str) for x in known) and set(known) in _USUAL_PAIRS:
        return 1
    raise ValueError(
        f"{parameter(name, owner)} must say which class is the positive one: it cannot be guessed "
        f"from the labels. Name it, {known[0]!r} or {known[-1]!r}: by 'positive' in a mapping of "
        "costs, by positive= in per_row(fn=..., fp=..., positive=...) and elsewhere."
    )


def _says(name: Any, words: Sequence[str]) -> bool:
    return isinstance(name, str) and name.strip().lower() in words


# -- numbers -----------------------------------------------------------------------------------


def as_floats(value: Any, name: str, owner: str) -> Floats:
    """Return `value` as an array of floats; no copy if it is one already."""
    rule = f"{parameter(name, owner)} must hold numbers"
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(f"{rule} in a rectangular array, got rows of other lengths.") from None
    if array.dtype.kind not in "fiubO":
        raise TypeError(f"{rule}, got an array of dtype {array.dtype}. Convert it to float.")
    try:
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        for place, entry in np.ndenumerate(array):
            if not is_number(entry):
                at = f" at {place if len(place) > 1 else place[0]}" if place else ""
                raise ValueError(
                    f"{rule} of at most {LARGEST:g} in size, got {entry!r:.50}{at}."
                ) from None
        raise


def object_array(form: Any) -> AnyArray:
    """The form as an array without converting numbers to text; ragged forms become empty."""
    if isinstance(form, np.ndarray):
        return form
    try:
        array = np.asarray(form)
        return np.asarray(form, dtype=object) if array.dtype.kind in "US" else array
    except ValueError:
        return np.empty(0)


def is_number(cell: Any) -> bool:
    """Whether a cell is a number, or a text that is one."""
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


# -- frames ------------------------------------------------------------------------------------


def _row_labels(frame: Any) -> tuple[list[Any], bool]:
    """Labels of the rows, and whether the first column holds them, and not the index."""
    # A first column holds the truth if there is no index, or the index only counts and the column
    # holds text, or has a name that says so. One that is named after decisions is refused later.
    columns, index = list(frame.columns), getattr(frame, "index", None)
    if not columns:
        return [], False
    if index is not None and list(index) == columns:
        return columns, False
    first = frame[columns[0]].to_numpy()
    is_counted = index is None or list(index) == list(range(len(frame)))
    is_text = all(isinstance(label, str) for label in first.tolist())
    has_name = _says(columns[0], (*_TRUTH_WORDS, *_DECISION_WORDS, "index", "class", "label"))
    if is_counted and (is_text or has_name or (index is None and len(columns) == len(frame) + 1)):
        return first.tolist(), True
    return [] if index is None else list(index), False


def _open_frame(frame: Any, start: str) -> tuple[list[Any], list[Any], AnyArray]:
    """Row labels, column labels and cells of a labelled pandas or polars frame."""
    columns, (truths, is_first) = list(frame.columns), _row_labels(frame)
    names = [getattr(getattr(frame, axis, None), "name", None) for axis in ("index", "columns")]
    if is_first:
        names[0], *columns = columns
    if not truths:
        raise ValueError(
            f"{start} is a frame without an index, so its first column must hold the true class; "
            f"got {len(frame)} rows and the columns {listed(columns)}. Add that column."
        )
    if columns == list(range(len(columns))) and any(isinstance(x, str) for x in truths):
        raise ValueError(
            f"{start} is a frame whose rows are named {listed(truths)}, but whose columns have no "
            f"names, only the numbers {listed(columns)}. Name the columns after the decisions."
        )
    if _says(names[0], _DECISION_WORDS) or _says(names[1], _TRUTH_WORDS):
        raise ValueError(
            f"{start} is a frame whose axes are named {names}: it has the decision in its rows. "
            "Rows are the truth and columns the decision: pass its transpose, .T."
        )
    return truths, columns, np.asarray(frame.to_numpy(), dtype=object)[:, int(is_first) :]


# -- all forms ---------------------------------------------------------------------------------


@dataclass(eq=False)
class Reader:
    """Reads any form of costs, by what is known where they are read."""

    classes: AnyArray
    name: str = "cost_matrix"
    owner: str = ""
    decisions: AnyArray | None = None  # if they are known from a fit
    n_samples: int | None = None
    X: Any = None
    as_classes: bool = False

    @property
    def columns(self) -> AnyArray:
        """Decisions of an unlabelled array."""
        return self.classes if self.decisions is None else self.decisions

    @property
    def start(self) -> str:
        """How a message begins."""
        return parameter(self.name, self.owner)

    def error(self, problem: str) -> ValueError:
        """The error for a form that cannot be read; what is wrong, and the remedy."""
        return ValueError(f"{self.start} {problem}")

    def matrix(self, form: Any) -> tuple[Floats, AnyArray, Texts]:
        """Any matrix, (k, d) or (n, k, d), the decisions, and the texts of cells that are texts."""
        is_result = callable(form)
        if is_result:
            form = self._called(form)
        if form is None:
            return 1.0 - np.eye(len(self.classes)), self.classes, {}
        names = self.classes if self.decisions is None else self.decisions
        if isinstance(form, RowCosts) and form.ndim == 3:
            given, form = form, np.asarray(form)
            if given.index is not None:
                form = np.asarray(aligned(given, self.X, self.start))
            coded = self if given.classes is None else self._decoded(given.classes)
            if given.labels is not None:
                form, names = coded.labelled(form, *given.labels)
                names = self._encoded(names, coded)
            elif len(names) == 2:
                code = positive_code(given.positive, coded.classes, self.name, self.owner)
                form = form if code else form[:, ::-1, ::-1]
        if isinstance(form, str | bytes):
            raise TypeError(
                f"{self.start} must be a matrix or a mapping, got the text {form!r}. Name the "
                f'entry it stands for, as in {{"fn": {form!r}, "fp": 1}}.'
            )
        if isinstance(form, np.ndarray) and form.dtype.kind in "fiub":
            matrix = np.asarray(form, dtype=np.float64)
        elif isinstance(form, Mapping) or is_frame(form) or _has_cells(form):
            return self._filled(*self.cells(form))
        else:
            matrix = as_floats(form, self.name, self.owner)
        if matrix.ndim == 3 and self.name == "cost_matrix" and not is_result:
            raise self.error(
                f"must be one matrix for all rows, got shape {matrix.shape}. Matrices of single "
                "rows go into costs=, at fit, predict or score."
            )
        n = len(matrix) if self.n_samples is None and matrix.ndim else self.n_samples
        k, d = len(self.classes), len(names)
        if matrix.shape not in ((k, d), (n, k, d)):
            raise self._wrong_shape(matrix.shape)
        self._check_size(matrix, names)
        return (matrix.copy() if matrix.ndim == 2 else matrix), names, {}

    def cells(self, form: Any) -> tuple[AnyArray, AnyArray]:
        """Numbers, arrays and texts of a form, truth by decision, and the decisions."""
        if isinstance(form, Mapping):
            coded = self._decoded(form["classes"]) if "classes" in form else self
            given = {key: x for key, x in form.items() if key != "classes"}
            cells, names = coded._short(given) if is_short(given) else coded._mapping(given)
            return cells, self._encoded(names, coded)
        if is_frame(form):
            known = [*self.classes.tolist(), *self.columns.tolist()]
            if row_costs(form, known, start=self.start) is not form:
                raise self.error(
                    "must be one matrix for all rows, got a frame with the columns "
                    f"{listed(form.columns)}, costs of single rows. Pass it as costs=."
                )
            truths, columns, cells = _open_frame(form, self.start)
            return self.labelled(cells, truths, columns)
        cells = object_array(form).astype(object)
        if cells.shape != (len(self.classes), len(self.columns)):
            raise self._wrong_shape(cells.shape)
        return cells, self.columns

    def _decoded(self, classes: Iterable[Any]) -> Reader:
        """The reader of costs by label, where the labels may have become codes."""
        # As scikit-learn's encoders do it: the code is the place among the sorted labels.
        # All of them must be there: one class against the rest has the codes 0 and 1, too.
        labels, known = np.unique(label_array(list(classes))), self.classes.tolist()
        if known != list(range(len(labels))) or known == labels.tolist():
            return self
        decides = self.decisions is not None and self.decisions.tolist() != known
        given = self.decisions if decides else None
        return replace(self, classes=labels, decisions=given)

    def _encoded(self, decisions: AnyArray, coded: Reader) -> AnyArray:
        """Decisions that are classes by their codes, others by their names."""
        are_classes = decisions.tolist() == coded.classes.tolist()
        return self.classes if are_classes else decisions

    def _called(self, form: Any) -> Any:
        """What a function of X returns."""
        if self.X is None:
            raise self.error(
                "is a function of X, which is unknown here. Pass its result, costs=cost_matrix(X)."
            )
        result = form(self.X)
        if not isinstance(result, Mapping) and np.ndim(result) != 3:
            shape = (self.n_samples or len(self.X), len(self.classes), len(self.columns))
            raise self.error(
                f"must return one matrix per row, truth by decision: shape {shape}, or a mapping "
                f"{{(truth, decision): prices}}; got {np.shape(result)}."
            )
        return result

    def _wrong_shape(self, shape: tuple[int, ...]) -> ValueError:
        known, decisions = self.classes.tolist(), self.columns.tolist()
        stated = "" if decisions == known else f" and the decisions {listed(decisions)}"
        rows = f"{self.n_samples or 'n'}, " if len(shape) == 3 else ""
        return self.error(
            f"must have shape ({rows}{len(known)}, {len(decisions)}) for the classes "
            f"{listed(known)}{stated}, got {shape}. Rows are the truth, columns the decision, each "
            "in their order; take costs of rows from the same rows as X. Decisions that are not "
            "the classes need names: pass a labelled frame, or a mapping {(truth, decision): cost}."
        )

    def _check_size(self, array: Floats, decisions: AnyArray) -> None:
        """Refuse costs that are NaN, infinite or huge, and say where the first one is."""
        # ``array`` is (k, d) or (n, k, d), truth by decision, or prices of rows.
        is_usual = np.abs(array) <= LARGEST  # NaN is not
        if is_usual.all():
            return
        where = tuple(int(i) for i in np.argwhere(~is_usual)[0])
        place = f"row {where[0]}"
        is_table = array.shape[-2:] == (len(self.classes), len(decisions))
        if is_table and (array.ndim == 3 or self.name == "cost_matrix"):
            decision, truth = decisions.tolist()[where[-1]], self.classes.tolist()[where[-2]]
            on_row = f" on row {where[0]}" if array.ndim == 3 else ""
            place = f"deciding {decision!r} when the truth is {truth!r}{on_row}"
        raise self.error(
            f"must be finite and at most {LARGEST:g} in size, got {array[where]} for {place}. "
            "Give costs in a larger unit; forbid a decision by a large cost instead of infinity."
        )

    # -- labelled forms -------------------------------------------------------------------------

    def labelled(
        self, cells: AnyArray, truths: Sequence[Any], columns: Sequence[Any]
    ) -> tuple[AnyArray, AnyArray]:
        """The cells of a labelled matrix in the order of the classes, and the decisions."""
        decisions, rows, places = arranged(
            truths, columns, self.classes, self.start, self.as_classes
        )
        return self._in_known_order(cells[..., rows, :][..., places], decisions)

    def _in_known_order(self, cells: AnyArray, decisions: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Columns in the order of decisions that are known from a fit."""
        if self.decisions is None:
            return cells, decisions
        wanted, given = self.decisions.tolist(), decisions.tolist()
        if set(wanted) != set(given):
            raise self.error(
                f"must price the decisions {listed(wanted)} that the model was fitted with, got "
                f"{listed(given)}. Give a column to each, or fit anew."
            )
        return cells[..., [given.index(x) for x in wanted]], self.decisions

    def _mapping(self, mapping: Mapping[Any, Any]) -> tuple[AnyArray, AnyArray]:
        others = [key for key in mapping if not (isinstance(key, tuple) and len(key) == 2)]
        strange = [key for key in others if key not in SHORT_KEYS] or others
        if strange:
            keys = f"key{'s' * (len(strange) > 1)} {listed(strange)[1:-1]}"
            raise self.error(
                f"has the unknown {keys}{nearest(str(strange[0]).lower(), SHORT_KEYS)} Write "
                "{(truth, decision): cost}, or for two classes {'fn': ..., 'fp': ...}."
            )
        truths, columns = named_labels(mapping)
        codes = matched(truths, self.classes)
        strangers = [x for x, code in zip(truths, codes, strict=True) if code < 0]
        if not strangers:  # pairs of the other classes are missing, and named below
            truths += [x for i, x in enumerate(self.classes.tolist()) if i not in codes]
        cells = np.empty((len(truths), len(columns)), dtype=object)
        for i, j in np.ndindex(*cells.shape):
            cells[i, j] = mapping.get((truths[i], columns[j]), _NOT_GIVEN)
        cells, decisions = self.labelled(cells, truths, columns)
        labels = self.classes.tolist(), decisions.tolist()
        lacking = [place for place in np.ndindex(*cells.shape) if cells[place] is _NOT_GIVEN]
        missing = [(labels[0][i], labels[1][j]) for i, j in lacking if labels[0][i] != labels[1][j]]
        # A truth without rows of data is left out, but a few pairs of it are a misspelt class.
        pairs = product(strangers, columns)
        missing += [(t, d) for t, d in pairs if t != d and (t, d) not in mapping]
        if missing:
            hint = ""
            if strangers:
                hint = f" {strangers[0]!r} is no class{nearest(strangers[0], labels[0])}"
            raise self.error(
                "must give a cost to every pair (truth, decision) of different labels; missing: "
                f"{listed(missing)[1:-1]}.{hint} Add the pairs, or correct the labels."
            )
        for place in lacking:  # right decisions
            cells[place] = 0.0
        return cells, decisions

    def _short(self, mapping: Mapping[str, Any]) -> tuple[AnyArray, AnyArray]:
        known = self.classes.tolist()
        if len(known) != 2:
            raise self.error(
                f"may use the keys 'fn' and 'fp' for two classes only, and there are {len(known)}: "
                f"{listed(known)}. Write {{(truth, decision): cost}} or a matrix."
            )
        missing = [key for key in ("fn", "fp") if key not in mapping]
        if missing:
            raise self.error(
                "must give both 'fn' (the price of a miss) and 'fp' (the price of a false alarm). "
                f"Add {missing[0]!r}."
            )
        p = positive_code(mapping.get("positive"), self.classes, self.name, self.owner)
        q = 1 - p
        cells = np.empty((2, 2), dtype=object)
        for key, truth, decision in (("tp", p, p), ("fn", p, q), ("fp", q, p), ("tn", q, q)):
            cells[truth, decision] = mapping.get(key, 0.0)
        return self._in_known_order(cells, self.classes)

    # -- cells ----------------------------------------------------------------------------------

    def _filled(self, cells: AnyArray, decisions: AnyArray) -> tuple[Floats, AnyArray, Texts]:
        """Numbers for all cells: (n, k, d) if one of them is an array or an expression."""
        known, names = self.classes.tolist(), decisions.tolist()
        places: list[tuple[int, ...]] = list(np.ndindex(*cells.shape))
        values = {(j, d): self._value(cells[j, d], known[j], names[d]) for j, d in places}
        texts: Texts = {(j, d): str(x) for j, d in places if isinstance(x := cells[j, d], str)}
        sizes = {len(value) for value in values.values() if np.ndim(value)}
        if len(sizes | ({self.n_samples} - {None} if sizes else set())) > 1:
            raise self.error(
                f"must give one price per row, {self.n_samples or 'n'} of them, got arrays of "
                f"length {listed(sorted(sizes))}. Take the prices from the same rows, or write an "
                'expression over columns, such as "amount + 15".'
            )
        matrix = np.empty((*sizes, *cells.shape))
        for place, value in values.items():
            matrix[(..., *place)] = value
        self._check_size(matrix, decisions)
        return matrix, decisions, texts

    def _value(self, cell: Any, truth: Any, decision: Any) -> Any:
        """A number, or the numbers of all rows."""
        place = f"for deciding {decision!r} when the truth is {truth!r}"
        if isinstance(cell, str):
            if is_number(cell):
                raise TypeError(
                    f"{self.start} must hold numbers or expressions over columns, got the text "
                    f"{cell!r} {place}. Write the number without quotes: {cell.strip()}."
                )
            if self.X is None:
                raise self.error(
                    f"has the expression {cell!r} {place}, and the columns of X are unknown here. "
                    "Pass X=, or the prices as an array."
                )
            return Expression(cell)(self.X)
        values = as_floats(aligned(cell, self.X, self.start), self.name, self.owner)
        if values.ndim > 1:
            raise self.error(f"must hold one price per row {place}, got shape {values.shape}.")
        return values if values.ndim else float(values)

    # -- prices of rows whose truth is known ----------------------------------------------------

    def are_prices(self, costs: Any, codes: Ints | None) -> bool:
        """Whether row costs are prices under the known truth, and not a matrix."""
        if callable(costs):
            raise TypeError(f"{self.start} must not be a function. Pass it as cost_matrix=.")
        if isinstance(costs, Mapping | str):  # of which `matrix` refuses the latter
            return False
        shape = tuple(costs.shape) if is_frame(costs) else object_array(costs).shape
        k, d = len(self.classes), len(self.columns)
        is_matrix = len(shape) > 2 or shape == (k, d)
        if is_frame(costs):
            labels, _ = _row_labels(costs)
            is_matrix = len(labels) == k and -1 not in matched(labels, self.classes)
        if codes is None:
            if is_matrix or (is_frame(costs) and len(costs) != self.n_samples):
                return False
            raise self.error(
                f"must have shape (n, {k}, {d}), truth by decision, or ({k}, {d}), because the "
                f"truth is unknown here; got {shape}. Prices of decisions need the truth: use "
                "costboost.costs.per_row, or a frame with the columns 'fn' and 'fp'."
            )
        if is_matrix and len(shape) == 2 and len(codes) == k:
            raise self.error(
                f"of shape {shape} may be one matrix or the prices of {k} rows. Pass a matrix as "
                f"cost_matrix=, prices as one matrix per row, shape ({k}, {k}, {d})."
            )
        return not is_matrix

    def prices(self, costs: Any, codes: Ints) -> tuple[Floats, AnyArray]:
        """Prices (n, d) of rows, given as (n, d) or as (n,), the price of an error; decisions."""
        n, classes, decisions = len(codes), self.classes, self.columns
        costs = aligned(costs, self.X, self.start)
        labels = list(costs.columns) if is_frame(costs) else []
        array = as_floats(costs.to_numpy() if is_frame(costs) else costs, self.name, self.owner)
        is_error = array.shape == (n,)
        if array.ndim == 2 and len(array) == n and labels not in ([], [*range(len(decisions))]):
            truths = classes.tolist()
            decisions, _, places = arranged(truths, labels, classes, self.start, self.as_classes)
            array, decisions = self._in_known_order(array[:, places], decisions)
        elif not is_error and array.shape != (n, len(decisions)):
            k, d = len(classes), len(decisions)
            raise self.error(
                f"must have shape ({n}, {k}, {d}), a matrix per row; ({n}, {d}), the price of each "
                f"decision per row; ({n},), the price of an error per row; or ({k}, {d}), one "
                f"matrix; got {array.shape}. Take the costs from the same rows as X; name other "
                "decisions by the columns of a frame."
            )
        self._check_size(array, decisions)
        if not is_error:
            return array, decisions
        if not np.array_equal(decisions, classes):
            raise self.error(
                f"of shape (n,) is the price of an error, but {listed(decisions.tolist())} are not "
                "the classes. Pass shape (n, d), the price of each decision."
            )
        if array.min(initial=0.0) < 0:
            warnings.warn(
                f"{self.start} of shape (n,) is the price of an error, and {array.min():g} is "
                "negative: check the sign. Pass shape (n, d) if an error earns.",
                CostWarning,
                stacklevel=4,
            )
        array = np.repeat(array[:, None], len(classes), axis=1)
        array[np.arange(n), codes] = 0.0
        return array, classes


def _has_cells(form: Any) -> bool:
    """Whether a matrix in an array or in lists may hold more than numbers."""
    array = object_array(form)
    return array.ndim == 2 and array.dtype.kind in "OUT"
