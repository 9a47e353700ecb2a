"""`CostSpec`: a cost matrix, in whatever form it was written, parsed once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats
from costboost.costs.costs import Costs
from costboost.costs.expressions import Expression
from costboost.costs.labels import (
    arranged,
    check_same_index,
    encoded_hint,
    label_array,
    listed,
    matched,
    nearest,
    parameter,
)
from costboost.costs.rows import RowCosts

NAMING_KEYS = ("positive", "classes")
"""Keys of a mapping of costs that name classes, and are no costs."""

SHORT_KEYS = ("fn", "fp", "tp", "tn", *NAMING_KEYS)
"""Keys of the binary short form ``{"fn": 5, "fp": 1}``."""

LARGEST = 1e12
"""The largest size of a cost."""

# fn, fp, tp and tn as columns are called: cost_fn, FN_cost, "false negative", costFP.
_SHORT_NAME = re.compile(
    r"(?:costs?[_\-\s]*)?(?:([tf])([pn])|(true|false)[_\-\s]?(positive|negative)s?)"
    r"(?:[_\-\s]*costs?)?",
    re.IGNORECASE,
)

# A pair that a mapping leaves out.
_NOT_GIVEN = object()

# Pairs of classes whose second one is the positive class by common usage.
_USUAL_PAIRS = ({0, 1}, {-1, 1})

_TRUTH_WORDS = ("truth", "true", "actual", "y_true", "true class", "true label", "true_label")
_DECISION_WORDS = (
    *("decision", "decisions", "decide", "decided", "predicted", "prediction", "pred", "y_pred"),
    *("action", "actions"),
)


@dataclass(frozen=True, eq=False)
class CostSpec:
    """A cost matrix as it was written, parsed: what each decision costs under each class.

    Made by `CostSpec.parse`.

    Attributes
    ----------
    cells : array of shape (k, d)
        Rows are the classes (the truth), columns the decisions: numbers, `Expression` objects over
        columns, or arrays with a price per row.
    classes : array of shape (k,)
        The classes.
    decisions : array of shape (d,)
        The decisions.
    positive : label or None
        The positive class of two that the form names.
    form : object
        What was parsed.
    context : Context
        What it was parsed for: names in messages, and the order of decisions that are known.

    Examples
    --------
    >>> spec = CostSpec.parse({"fn": "amount + 15", "fp": 5, "positive": "fraud"}, ["fraud", "ok"])
    >>> spec.columns
    ['amount']
    >>> import pandas as pd
    >>> spec.evaluate(pd.DataFrame({"amount": [100.0, 3.0]})).matrix
    array([[[  0., 115.],
            [  5.,   0.]],
    <BLANKLINE>
           [[  0.,  18.],
            [  5.,   0.]]])
    """

    cells: AnyArray
    classes: AnyArray
    decisions: AnyArray
    positive: Any = None
    form: Any = field(default=None, repr=False)
    context: Context | Any = field(default=None, repr=False)

    @staticmethod
    def parse(
        form: Any,
        classes: ArrayLike,
        *,
        decisions: ArrayLike | None = None,
        owner: str = "",
        name: str = "cost_matrix",
        as_classes: bool = False,
    ) -> CostSpec:
        """Parse a cost matrix.

        Parameters
        ----------
        form : array, frame, mapping, Costs, CostSpec or None
            Costs, rows = truth, columns = decision: a (k, k) array in the order of `classes`; a
            pandas frame whose index (or first column) holds the classes and whose columns are
            the decisions; a polars frame whose first column holds the true class; a mapping
            ``{(truth, decision): cost}`` (right decisions may be left out: 0); for two classes
            ``{"fn": ..., "fp": ..., "positive": ...}``, also with ``"tp"`` and ``"tn"``
            (``"positive"`` may be left out for the labels {0, 1}, {False, True} and {-1, 1});
            in a mapping also ``"classes"``, all labels, so that costs are found where a
            meta-estimator encodes the labels as 0, 1, ... in sorted order; another static `Costs`;
            or None, every mistake costs 1. Entries are numbers, arrays with a price per row, or
            arithmetic over columns of X, ``"0.9 * amount + 15"``.
        classes : array of shape (k,)
            The classes, in order.
        decisions : array of shape (d,), optional
            The decisions, if they are known from elsewhere: they name the columns of unlabelled
            arrays, and labelled forms are put into their order.
        owner, name : str
            Class or function that error messages name, and its parameter.
        as_classes : bool, default=False
            Whether to refuse decisions that are not the classes.

        Returns
        -------
        CostSpec
            The costs, checked.
        """
        if isinstance(form, CostSpec):
            form = form.form
        context = Context(np.asarray(classes), as_labels(decisions), name, owner, as_classes)
        cells, names = _parse(form, context)
        if cells.dtype != np.float64:
            for place in np.ndindex(*cells.shape):
                cells[place] = _parse_cell(cells[place], place, names, context)
            if not any(isinstance(cell, Expression | np.ndarray) for cell in cells.flat):
                cells = cells.astype(np.float64)
        if cells.dtype == np.float64:
            context.check_sizes(cells, names)
        return CostSpec(cells, context.classes, names, positive_of(form), form, context)

    @property
    def expressions(self) -> list[Expression]:
        """The cells that are expressions."""
        return [cell for cell in self.cells.flat if isinstance(cell, Expression)]

    @property
    def columns(self) -> list[str]:
        """The columns that expressions name, each once."""
        return list(dict.fromkeys(name for cell in self.expressions for name in cell.columns))

    @property
    def is_per_row(self) -> bool:
        """Whether the costs differ from row to row."""
        return self.cells.dtype != np.float64

    def evaluate(self, rows: Any = None, *, n_rows: int | None = None, index: Any = None) -> Costs:
        """Work the costs out.

        Parameters
        ----------
        rows : table, optional
            The rows, if cells are expressions.
        n_rows : int, optional
            Their number, which arrays among the cells must have.
        index : pandas.Index, optional
            Their index, which arrays among the cells must have if they have one.

        Returns
        -------
        Costs
            One matrix for all rows, or one for each.
        """
        for cell in cells_in(self.form):
            check_same_index(self.context.owner, **{"the rows": index, self.context.name: cell})
        if not self.is_per_row:
            return Costs(self.cells.copy(), self.classes, self.decisions)
        values = np.empty(self.cells.shape, dtype=object)
        texts = {}
        sizes = set()
        for place in np.ndindex(*self.cells.shape):
            cell = self.cells[place]
            if isinstance(cell, Expression):
                texts[place] = cell.text
                cell = self._evaluate_cell(cell, rows, place)
            values[place] = cell
            if isinstance(cell, np.ndarray):
                sizes.add(len(cell))
        if len(sizes | ({n_rows} - {None})) > 1:
            raise self.context.error(
                f"must give one price per row, {n_rows or 'n'} of them, got arrays of "
                f"length {listed(sorted(sizes))}. Take the prices from the same rows, or write an "
                'expression over columns, such as "amount + 15".'
            )
        matrix = np.empty((*sizes, *self.cells.shape))
        for place in np.ndindex(*self.cells.shape):
            matrix[(..., *place)] = values[place]
        self.context.check_sizes(matrix, self.decisions)
        return Costs(matrix, self.classes, self.decisions, texts)

    def _evaluate_cell(self, expression, rows, place):
        if rows is None:
            raise self.context.error(
                f"has the expression {expression.text!r} "
                f"{self.context.pair(place, self.decisions)}, and the columns of X are unknown "
                "here. Pass X=, or the prices as an array."
            )
        return expression(rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CostSpec):
            return NotImplemented
        return all(
            repr(mine.tolist()) == repr(others.tolist())
            for mine, others in (
                (self.cells, other.cells),
                (self.classes, other.classes),
                (self.decisions, other.decisions),
            )
        )

    __hash__ = None  # type: ignore[assignment]


def as_labels(decisions):
    if decisions is None or isinstance(decisions, np.ndarray):
        return decisions
    return label_array(list(decisions))


@dataclass(frozen=True, eq=False)
class Context:
    """What is known where costs are read, for their order and for error messages."""

    classes: AnyArray
    decisions: AnyArray | None = None  # if they are known from a fit
    name: str = "cost_matrix"
    owner: str = ""
    as_classes: bool = False

    @property
    def start(self):
        """How a message begins."""
        return parameter(self.name, self.owner)

    @property
    def columns(self):
        """Decisions of an unlabelled array."""
        return self.classes if self.decisions is None else self.decisions

    def error(self, problem):
        """Return the error for a form that cannot be read; what is wrong, and the remedy."""
        return ValueError(f"{self.start} {problem}")

    def pair(self, place, decisions):
        truth = self.classes.tolist()[place[-2]]
        decision = decisions.tolist()[place[-1]]
        return f"for deciding {decision!r} when the truth is {truth!r}"

    def wrong_shape(self, shape, n_rows=None):
        classes = self.classes.tolist()
        decisions = self.columns.tolist()
        also = ""
        if decisions != classes:
            also = f" and the decisions {listed(decisions)}"
        rows = f"{n_rows or 'n'}, " if len(shape) == 3 else ""
        return self.error(
            f"must have shape ({rows}{len(classes)}, {len(decisions)}) for the classes "
            f"{listed(classes)}{also}, got {shape}. Rows are the truth, columns the decision, each "
            "in their order; take costs of rows from the same rows as X. Decisions that are not "
            "the classes need names: pass a labelled frame, or a mapping {(truth, decision): cost}."
        )

    def check_sizes(self, values, decisions):
        """Refuse costs that are NaN, infinite or huge, and say where the first one is."""
        # ``values`` is (k, d) or (n, k, d), truth by decision, or prices of rows.
        is_usual = np.abs(values) <= LARGEST  # NaN is not
        if is_usual.all():
            return
        where = tuple(int(i) for i in np.argwhere(~is_usual)[0])
        place = f"for row {where[0]}"
        is_table = values.shape[-2:] == (len(self.classes), len(decisions))
        if is_table and (values.ndim == 3 or self.name == "cost_matrix"):
            place = self.pair(where, decisions)
            if values.ndim == 3:
                place += f" on row {where[0]}"
        raise self.error(
            f"must be finite and at most {LARGEST:g} in size, got {values[where]} {place}. "
            "Give costs in a larger unit; forbid a decision by a large cost instead of infinity."
        )

    def arrange(self, cells, truths, columns):
        """Return labelled cells in the order of the classes and decisions, and the decisions."""
        decisions, rows, places = arranged(
            truths, columns, self.classes, self.start, self.as_classes
        )
        return self.in_fitted_order(cells[..., rows, :][..., places], decisions)

    def in_fitted_order(self, cells, decisions):
        """Return columns in the order of decisions that are known from a fit."""
        if self.decisions is None:
            return cells, decisions
        wanted = self.decisions.tolist()
        given = decisions.tolist()
        if set(wanted) != set(given):
            raise self.error(
                f"must price the decisions {listed(wanted)} that the model was fitted with, got "
                f"{listed(given)}. Give a column to each, or fit anew."
            )
        return cells[..., [given.index(label) for label in wanted]], self.decisions

    def decoded(self, classes):
        """Return the context of costs by label, where the labels may have become codes."""
        # As scikit-learn's encoders do it: the code is the position among the sorted labels.
        # All of them must be there: one class against the rest has the codes 0 and 1, too.
        labels = np.unique(label_array(list(classes)))
        codes = self.classes.tolist()
        if codes != list(range(len(labels))) or codes == labels.tolist():
            return self
        decisions = self.decisions
        if decisions is not None and decisions.tolist() == codes:
            decisions = None
        return Context(labels, decisions, self.name, self.owner, self.as_classes)

    def encoded(self, decisions, decoded):
        """Return decisions that are classes by their codes, others by their names."""
        if decisions.tolist() == decoded.classes.tolist():
            return self.classes
        return decisions


# -- the forms ------------------------------------------------------------------------------------


def _parse(form, context):
    """Return the cells of any form, truth by decision, and the decisions."""
    if form is None:
        return 1.0 - np.eye(len(context.classes)), context.classes
    if isinstance(form, Costs):
        if form.is_per_row:
            raise context.error(
                "must be one matrix for all rows, got Costs of single rows. Pass their .matrix as "
                "costs=."
            )
        labels = form.classes.tolist(), form.decisions.tolist()
        return context.arrange(form.matrix, *labels)
    if isinstance(form, RowCosts) and form.ndim == 2:
        return arrange_row_costs(form, context)
    if isinstance(form, Mapping):
        decoded = context
        if "classes" in form:
            decoded = context.decoded(form["classes"])
        mapping = {key: cell for key, cell in form.items() if key != "classes"}
        parse = _parse_short if is_short(mapping) else _parse_pairs
        table, names = parse(mapping, decoded)
        return table, context.encoded(names, decoded)
    if is_frame(form):
        if short_columns(form, [*context.classes.tolist(), *context.columns.tolist()]):
            raise context.error(
                "must be one matrix for all rows, got a frame with the columns "
                f"{listed(form.columns)}, costs of single rows. Pass it as costs=."
            )
        truths, names, cells = _open_frame(form, context.start)
        return context.arrange(cells, truths, names)
    return _parse_array(form, context)


def _parse_array(form, context):
    if isinstance(form, str | bytes):
        raise TypeError(
            f"{context.start} must be a matrix or a mapping, got the text {form!r}. Name the "
            f'entry it stands for, as in {{"fn": {form!r}, "fp": 1}}.'
        )
    if callable(form):
        raise context.error(
            "must not be a function. Call it, and pass the result as costs=, or write costs as "
            'expressions over columns, such as "amount + 15".'
        )
    array = object_array(form)
    if array.ndim == 2 and array.dtype.kind in "OUT":
        cells = array.astype(object)
    else:
        cells = as_floats(form, context.name, context.owner)
    if cells.ndim == 3 and context.name == "cost_matrix":
        raise context.error(
            f"must be one matrix for all rows, got shape {cells.shape}. Matrices of single "
            "rows go into costs=, at fit, predict or score."
        )
    if cells.shape != (len(context.classes), len(context.columns)):
        raise context.wrong_shape(cells.shape)
    return cells.copy(), context.columns


def _parse_short(cells, context):
    """Read fn, fp, tp and tn of two classes."""
    classes = context.classes.tolist()
    if len(classes) != 2:
        raise context.error(
            f"may use the keys 'fn' and 'fp' for two classes only, and there are {len(classes)}: "
            f"{listed(classes)}. Write {{(truth, decision): cost}} or a matrix."
        )
    missing = [key for key in ("fn", "fp") if key not in cells]
    if missing:
        raise context.error(
            "must give both 'fn' (the price of a miss) and 'fp' (the price of a false alarm). "
            f"Add {missing[0]!r}."
        )
    p = positive_code(cells.get("positive"), context.classes, context.name, context.owner)
    q = 1 - p
    table = np.empty((2, 2), dtype=object)
    table[p, p] = cells.get("tp", 0.0)
    table[p, q] = cells["fn"]
    table[q, p] = cells["fp"]
    table[q, q] = cells.get("tn", 0.0)
    return context.in_fitted_order(table, context.classes)


def _parse_pairs(cells, context):
    """Read a mapping of pairs (truth, decision)."""
    others = [key for key in cells if not (isinstance(key, tuple) and len(key) == 2)]
    unknown = [key for key in others if key not in SHORT_KEYS] or others
    if unknown:
        keys = f"key{'s' * (len(unknown) > 1)} {listed(unknown)[1:-1]}"
        raise context.error(
            f"has the unknown {keys}{nearest(str(unknown[0]).lower(), SHORT_KEYS)} Write "
            "{(truth, decision): cost}, or for two classes {'fn': ..., 'fp': ...}."
        )
    truths, columns = named_labels(cells)
    codes = matched(truths, context.classes)
    extra = [label for label, code in zip(truths, codes, strict=True) if code < 0]
    if not extra:  # pairs of the other classes are missing, and named below
        truths += [x for i, x in enumerate(context.classes.tolist()) if i not in codes]
    table = np.empty((len(truths), len(columns)), dtype=object)
    for i, j in np.ndindex(*table.shape):
        table[i, j] = cells.get((truths[i], columns[j]), _NOT_GIVEN)
    table, decisions = context.arrange(table, truths, columns)

    missing = []
    for i, truth in enumerate(context.classes.tolist()):
        for j, decision in enumerate(decisions.tolist()):
            if table[i, j] is not _NOT_GIVEN:
                continue
            if truth != decision:
                missing.append((truth, decision))
            table[i, j] = 0.0  # right decisions may be left out
    # A truth without rows of data is left out, but a few pairs of it are a misspelt class.
    for truth in extra:
        missing += [(truth, d) for d in columns if d != truth and (truth, d) not in cells]
    if missing:
        hint = ""
        if extra:
            hint = f" {extra[0]!r} is no class{nearest(extra[0], context.classes.tolist())}"
        raise context.error(
            "must give a cost to every pair (truth, decision) of different labels; missing: "
            f"{listed(missing)[1:-1]}.{hint} Add the pairs, or correct the labels."
        )
    return table, decisions


def _parse_cell(cell, place, decisions, context):
    """Return a cell as a number, the numbers of all rows, or an expression."""
    if isinstance(cell, str):
        if is_number(cell):
            raise TypeError(
                f"{context.start} must hold numbers or expressions over columns, got the text "
                f"{cell!r} {context.pair(place, decisions)}. Write the number without quotes: "
                f"{cell.strip()}."
            )
        return Expression(cell)
    values = as_floats(cell, context.name, context.owner)
    if values.ndim > 1:
        raise context.error(
            f"must hold one price per row {context.pair(place, decisions)}, got shape "
            f"{values.shape}."
        )
    if values.ndim == 1:
        return values
    return float(values)


def check_order(costs, context):
    """Refuse costs made by `per_row` whose classes or decisions were moved."""
    # Prices under the true class, of costs without labels, are in the order of {0, 1}.
    has_labels = costs.names != (None, None, None)
    if not costs.is_in_order and (has_labels or costs.ndim == 3):
        raise context.error(
            "comes from per_row, and its classes or decisions were moved, so that its labels are "
            "lost. Pass it as per_row made it, or numpy.asarray of it in the order of the classes."
        )


def arrange_row_costs(costs, context):
    """Return costs made by `per_row` in the order of the classes, and the decisions."""
    check_order(costs, context)
    decoded = context
    if costs.classes is not None:
        decoded = context.decoded(costs.classes)
    cells = np.asarray(costs, dtype=np.float64)
    names = context.columns
    if costs.labels is not None:
        cells, names = decoded.arrange(cells, *costs.labels)
        return cells, context.encoded(names, decoded)
    if cells.shape[-2:] != (len(context.classes), len(names)):
        raise context.wrong_shape(cells.shape)
    if len(names) == 2:
        code = positive_code(costs.positive, decoded.classes, context.name, context.owner)
        if code == 0:
            cells = cells[..., ::-1, ::-1]
    return cells, names


# -- what a form says without being parsed --------------------------------------------------------


def is_frame(value: object) -> bool:
    """Say whether `value` is a pandas or polars frame, without importing either."""
    return hasattr(value, "columns") and hasattr(value, "to_numpy")


def is_short(value: object) -> bool:
    """Say whether `value` is the binary short form, ``{"fn": ..., "fp": ...}``."""
    return isinstance(value, Mapping) and bool(value) and all(key in SHORT_KEYS for key in value)


def short_columns(frame: Any, labels: Iterable[Any]) -> dict[Any, str]:
    """Return which columns of a frame are fn, fp, tp and tn; none if all are known labels."""
    if set(frame.columns) <= {*labels}:
        return {}
    names = {}
    for column in frame.columns:
        match = _SHORT_NAME.fullmatch(str(column).strip())
        if match is not None:
            names[column] = "".join(word[0].lower() for word in match.groups() if word)
    return names


def cells_in(form: Any) -> list[Any]:
    """Return the cells of a mapping, a frame or an object array; none of other forms."""
    if isinstance(form, CostSpec):
        form = form.form
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
    """Return the expressions of a form."""
    texts = [cell for cell in cells_in(form) if isinstance(cell, str)]
    return [Expression(text) for text in texts if not is_number(text)]


def columns_of(form: Any) -> list[str]:
    """Return the columns of X that the expressions of a form name, each once."""
    return list(dict.fromkeys(name for x in expressions_in(form) for name in x.columns))


def varies(form: Any) -> bool:
    """Return True if the costs differ from row to row: columns or arrays as entries."""
    return any(isinstance(cell, str) or np.ndim(cell) == 1 for cell in cells_in(form))


def named_labels(form: Any) -> tuple[list[Any], list[Any]]:
    """Return truths and decisions that a labelled form names; none of an unlabelled one."""
    if isinstance(form, CostSpec):
        form = form.form
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
    """Return the positive class that costs of two classes name, or None."""
    if is_short(form):
        return form.get("positive")
    return getattr(form, "positive", None)


def positive_code(positive: Any, classes: AnyArray, name: str, owner: str) -> int:
    """Return the index of the positive class: the one named, or the second of a usual pair."""
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


# -- numbers --------------------------------------------------------------------------------------


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


# -- frames ---------------------------------------------------------------------------------------


def _says(name: Any, words: Sequence[str]) -> bool:
    return isinstance(name, str) and name.strip().lower() in words


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
