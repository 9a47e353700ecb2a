"""The costs that a request sends with its rows, as arrays truth by decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost.costs.forms import is_short
from costboost.costs.labels import positive_code
from costboost.serve.errors import RequestError

__all__ = ["LARGEST", "Given", "Prices"]

# Sums of costs of a whole batch stay finite.
LARGEST = 1e100
_SHORT = {"fn", "fp", "tp", "tn", "positive"}


@dataclass(frozen=True, eq=False)
class Given:
    """Costs of a request."""

    matrix: Floats
    told: AnyArray

    @property
    def is_complete(self) -> bool:
        """Whether every row has costs of its own."""
        return bool(self.told.all())


class Prices:
    """Reads the costs of rows."""

    def __init__(self, model: Any) -> None:
        self.classes: AnyArray = model.classes_
        self.decisions: AnyArray = model.decisions_
        self.truths = {str(label): j for j, label in enumerate(self.classes.tolist())}
        self.choices = {str(label): d for d, label in enumerate(self.decisions.tolist())}
        self.shape = len(self.classes), len(self.decisions)
        form: Any = getattr(model, "cost_matrix", None)
        self._positive = form.get("positive") if is_short(form) else None
        self.has_short = self.shape[0] == 2 and self.classes.tolist() == self.decisions.tolist()

    # -- JSON -----------------------------------------------------------------------------------

    def read(self, given: Any, n: int) -> Given | None:
        """Costs of `n` rows: one entry for all, or a list with an entry or null per row."""
        if given is None:
            return None
        if type(given) is dict or (type(given) is list and self._is_matrix(given)):
            matrix = np.broadcast_to(self._one(given, "costs"), (n, *self.shape))
            return Given(matrix, np.ones(n, dtype=np.bool_))
        if type(given) is not list or len(given) != n:
            got = f"{len(given)} entries" if type(given) is list else type(given).__name__
            raise RequestError(
                422, f"costs must be one entry for all rows or {n}, one per row; got {got}.",
                "costs",
            )  # fmt: skip
        matrices = np.zeros((n, *self.shape))
        told = np.array([entry is not None for entry in given], dtype=np.bool_)
        for row, entry in enumerate(given):
            if entry is not None:
                matrices[row] = self._one(entry, f"costs[{row}]")
        return Given(matrices, told) if told.any() else None

    @property
    def knows_positive(self) -> bool:
        """Whether the short form may leave out the positive class."""
        try:
            self.positive(self._positive)
        except RequestError:
            return False
        return True

    def _is_matrix(self, given: list[Any]) -> bool:
        """Whether a list is one matrix, not a list of entries."""
        first = given[0] if given else None
        return type(first) is list and bool(first) and type(first[0]) in (int, float)

    def _one(self, entry: Any, place: str) -> Floats:
        k, d = self.shape
        if type(entry) is dict:
            named = set(entry)
            nested = any(type(value) is dict for value in entry.values())
            if self.has_short and not nested and named <= _SHORT and {"fn", "fp"} <= named:
                return self._short(entry, place)
            return self._labelled(entry, place)
        if type(entry) is list and len(entry) == k:
            matrix = np.empty(self.shape)
            for j, row in enumerate(entry):
                if type(row) is not list or len(row) != d:
                    break
                for c, value in enumerate(row):
                    matrix[j, c] = _price(value, f"{place}[{j}][{c}]")
            else:
                return matrix
        raise RequestError(
            422,
            f"Costs must be a matrix of {k} rows (the truth) and {d} columns (the decision), or "
            "an object {truth: {decision: cost}}.",
            place,
        )

    def _short(self, entry: Mapping[str, Any], place: str) -> Floats:
        positive = self.positive(entry.get("positive", self._positive), place)
        matrix = np.zeros((2, 2))
        for name, (truth, decision) in _cells(positive).items():
            if name in entry:
                matrix[truth, decision] = _price(entry[name], f"{place}.{name}")
        return matrix

    def positive(self, label: Any, place: str = "costs") -> int:
        """Code of the positive class."""
        named = self.truths.get(str(label)) if label is not None else None
        if named is not None:
            return named
        try:
            return positive_code(
                label, self.classes, "costs", "POST /decide", remedy='add "positive" to the costs'
            )
        except (TypeError, ValueError) as error:
            raise RequestError(422, str(error), place) from None

    def _labelled(self, entry: Mapping[str, Any], place: str) -> Floats:
        matrix = np.empty(self.shape)
        self._check_labels(entry, self.truths, "truth", place)
        for truth, j in self.truths.items():
            row = entry[truth]
            inside = f"{place}.{truth}"
            if type(row) is not dict:
                raise RequestError(422, "Must be an object {decision: cost}.", inside)
            self._check_labels(row, self.choices, "decision", inside)
            for decision, d in self.choices.items():
                matrix[j, d] = _price(row[decision], f"{inside}.{decision}")
        return matrix

    def _check_labels(
        self, entry: Mapping[str, Any], known: Mapping[str, int], what: str, place: str
    ) -> None:
        if entry.keys() == known.keys():
            return
        unknown = sorted(set(entry) - set(known))
        absent = sorted(set(known) - set(entry))
        problem = (
            f"{unknown[0][:100]!r} is not a {what}" if unknown else f"{absent[0]!r} is missing"
        )
        short = ", or the short form with fn and fp" if self.has_short else ""
        raise RequestError(
            422, f"{problem}; costs need every {what} of {list(known)}{short}.", place
        )

    # -- columns of a table -----------------------------------------------------------------------

    def column_names(self) -> dict[str, tuple[int, int] | str]:
        """Names of columns that hold costs: the cell of each, or its short name."""
        cells: dict[str, tuple[int, int] | str] = {
            f"costs.{truth}.{decision}": (j, d)
            for truth, j in self.truths.items()
            for decision, d in self.choices.items()
        }
        if self.has_short:
            cells |= {f"costs.{name}": name for name in ("fn", "fp", "tp", "tn")}
        return cells

    def from_columns(
        self, columns: Mapping[str, Floats], n: int, place: Callable[[str, int], str]
    ) -> Given | None:
        """Costs from columns ``costs.fn``, ... or ``costs.TRUTH.DECISION``; null is not told."""
        if not columns:
            return None
        names = self.column_names()
        short = {name for name in columns if isinstance(names[name], str)}
        if short:
            needed = {"costs.fn", "costs.fp"}
            cells = _cells(self.positive(self._positive))
            places = {f"costs.{name}": cell for name, cell in cells.items()}
        else:
            needed = {name for name, cell in names.items() if not isinstance(cell, str)}
            places = {name: names[name] for name in needed}  # type: ignore[misc]
        if (short and len(short) < len(columns)) or not needed <= set(columns):
            absent = sorted(needed - set(columns))
            problem = f"{absent} are missing" if absent else "both forms are there"
            raise RequestError(
                422, f"Columns of costs must be complete and of one form; {problem}.",
                absent[0] if absent else "costs",
            )  # fmt: skip
        matrix = np.zeros((n, *self.shape))
        told: AnyArray = ~np.isnan(columns[next(iter(sorted(needed)))])
        for name, values in columns.items():
            wrong = (np.abs(values) > LARGEST) | (np.isnan(values) == told)
            if wrong.any():
                row = int(wrong.argmax())
                raise RequestError(
                    422, f"Costs must be numbers up to {LARGEST:g}; a row has all of them or none.",
                    place(name, row),
                )  # fmt: skip
            matrix[(slice(None), *places[name])] = np.where(told, values, 0.0)
        return Given(matrix, told) if told.any() else None


def _cells(positive: int) -> dict[str, tuple[int, int]]:
    """Truth and decision of the short names."""
    negative = 1 - positive
    return {
        "fn": (positive, negative),
        "fp": (negative, positive),
        "tp": (positive, positive),
        "tn": (negative, negative),
    }


def _price(value: Any, place: str) -> float:
    """A finite number."""
    if type(value) in (int, float):
        try:
            number = float(value)
        except OverflowError:
            number = np.inf
        if abs(number) <= LARGEST:
            return number
    raise RequestError(422, f"A cost must be a number, at most {LARGEST:g} in size.", place)
