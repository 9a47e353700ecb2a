"""One model, ready to answer: its decisions on rows, with one pass over the trees."""

from __future__ import annotations

import hashlib
import math
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic_core import to_json

from costboost._typing import AnyArray, Floats, Ints
from costboost.columns import ColumnError
from costboost.columns.raw import RawTable, as_texts
from costboost.costs import Expression
from costboost.costs.forms import Reader, varies
from costboost.decisions import allocate
from costboost.decisions.arrays import cheapest_other
from costboost.estimator import Answer
from costboost.serve.logs import stamp
from costboost.serve.requests import PASSED, Query, RequestError, Requests
from costboost.trees import load_kernel

# Rows that are decided between two looks at the clock.
_ROWS = 4096
# Numbers in the explanations of one answer.
_PARTS = 2_000_000


class Reply(NamedTuple):
    """What is known of the rows of a request; a model that has no probabilities knows the codes."""

    codes: Ints
    proba: Any = None
    expected: Any = None
    runner_up: Any = None
    saving: Any = None
    taken: Any = None  # the expected cost of the decision of each row
    base: Any = None
    parts: Any = None  # of the base and the saving, a column per feature
    limits: list[dict[Any, Any]] | None = None


def _check_time(end: float) -> None:
    """A request that is over is over."""
    if time.monotonic() > end:
        raise TimeoutError


class Service:
    """A model with everything that answering needs; safe to call from several threads."""

    def __init__(self, model: Any, fingerprint: str, title: str = "model") -> None:
        self.model = model
        self.fingerprint = fingerprint
        self.title = title
        self.requests = Requests(model)
        self.columns = self.requests.columns
        self.classes: AnyArray = model.classes_
        self.decisions: AnyArray = model.decisions_
        numbers = [f"probability_{label}" for label in self.classes.tolist()]
        numbers += [f"expected_cost_{label}" for label in self.decisions.tolist()]
        # Fields of a line of the audit log, beside the cells; places for the start and the numbers.
        self.audited = {"time", "request", "model", "decision", *numbers}
        labels = [to_json(label, fallback=str) for label in self.decisions.tolist()]
        self._audit_decisions = [b',"decision":' + label for label in labels]
        keys = [to_json(name).replace(b"%", b"%%") for name in numbers]
        self._audit_form = b"%s" + b"".join(b"," + key + b":%s" for key in keys)
        scale = float(np.abs(model.cost_matrix_).max())
        self.largest_usual_cost = 1e6 * (scale or 1e6)
        self.has_probabilities = hasattr(model, "predict_proba")
        self.can_explain = hasattr(model, "explain")
        # Expressions over columns are read once, instead of at every request.
        self._cells: dict[tuple[int, ...], Any] = {}
        can_weigh = hasattr(model, "columns_") and self.has_probabilities
        if can_weigh and varies(model.cost_matrix):
            reader = Reader(self.classes, owner=type(model).__name__, decisions=self.decisions)
            cells, _ = reader.cells(model.cost_matrix)
            for place, cell in np.ndenumerate(cells):
                self._cells[place] = Expression(cell) if isinstance(cell, str) else cell
        # One row, so that the first request finds everything loaded and compiled. It is made up and
        # may break a rule of the costs.
        load_kernel()
        row: dict[Any, Any] = {name: [1.0] for name in self.requests.required.values()}
        row |= {one.name: ["2026-01-01"] for one in self.columns.used if one.kind == "date"}
        with suppress(ValueError, RequestError):
            self.answer(Query(row, 1))

    def about(self) -> dict[str, Any]:
        """What people and programs may know of the model."""
        return {
            "title": self.title,
            "class": type(self.model).__name__,
            "model": self.fingerprint,
            "classes": self.classes.tolist(),
            "decisions": self.decisions.tolist(),
            "costs": str(self.model.costs_),
            "mean_cost_matrix": self.model.cost_matrix_.tolist(),
            "probabilities": self.has_probabilities,
            "short_costs": self.requests.short_costs,
            "explains": self.can_explain and self.has_probabilities,
        }

    # -- decisions ------------------------------------------------------------------------------

    def answer(self, query: Query, end: float = math.inf) -> Reply:
        """Decide the rows of a request; `end` is when work on it must stop."""
        for field in ("costs", "capacity", "explain"):
            if not self.has_probabilities and getattr(query, field) is not None:
                raise RequestError(
                    422, "The model has learned decisions and no probabilities, so it takes "
                    f"no {field}. Leave it out.", field,
                )  # fmt: skip
        if query.explain and not self.can_explain:
            raise RequestError(422, "This model cannot explain its decisions.", "explain")
        if query.explain and query.n * len(self.columns) > _PARTS:
            most = _PARTS // len(self.columns)
            message = f"At most {most} rows can be explained at once. Send several requests."
            raise RequestError(413, message, "explain")
        asked: list[tuple[Any, Floats | None, Answer]] = []
        for start in range(0, query.n, _ROWS):
            _check_time(end)
            some = slice(start, start + _ROWS)
            rows = {name: values[some] for name, values in query.rows.items()}
            costs = None if query.costs is None else query.costs[some]
            try:
                X = self._read(rows, start)
                costs = self._expressed(X) if costs is None else costs
                asked.append((X, costs, self.model._answer(X, costs)))
            except ColumnError as error:
                if error.row is None:
                    raise
                cell = f"records[{start + error.row}].{str(error.column)[:100]}"
                raise RequestError(422, str(error)[:1000], cell) from None
        codes = np.concatenate([one.codes for *_, one in asked])
        if asked[0][2].expected is None:
            return Reply(codes)
        proba: Any = np.concatenate([one.proba for *_, one in asked])
        expected: Any = np.concatenate([one.expected for *_, one in asked])
        limits = base = parts = None
        if query.capacity is not None:
            _check_time(end)
            allowed = allocate(expected, self.decisions, capacity=query.capacity)
            codes, frame = allowed.codes, allowed.to_frame()
            limited = frame[frame["decision"].isin(query.capacity)]
            limits = limited[["decision", "rows", "price"]].to_dict("records")
        if query.explain:
            told = []
            for place, (X, costs, _) in enumerate(asked):
                _check_time(end)
                taken = codes[place * _ROWS :][: len(X)]
                told.append(self.model.explain(X, costs=costs, codes=taken))
            used = [place for place, column in enumerate(self.columns) if column.is_used]
            base = np.concatenate([one.base for one in told])
            parts = np.concatenate([one.parts[:, used] for one in told])
        runner_up, saving = cheapest_other(expected, codes)
        taken = expected[np.arange(query.n), codes]
        return Reply(codes, proba, expected, runner_up, saving, taken, base, parts, limits)

    def _read(self, columns: dict[Any, list[Any]], first: int) -> Any:
        """The rows as the model takes them."""
        rows = self.columns.read(columns, "The request", first)
        if not self.columns.columns:
            return rows.matrix()
        # Typed rows save a booster a data frame, which takes longer than the trees of one row.
        if hasattr(self.model, "columns_"):
            return rows
        import pandas as pd

        return pd.DataFrame({one.name: columns[one.name] for one in self.columns})

    def _unseen(self, query: Query) -> dict[str, list[str]]:
        """Categories that training has not seen, by column."""
        found, rows = {}, RawTable(query.rows)
        for column in self.columns.used:
            if column.kind == "category":
                texts = as_texts(rows[column.name])[1]
                new = {text for text in texts if text is not None} - set(column.categories)
                if new:
                    found[str(column.name)] = sorted(text[:100] for text in new)[:20]
        return found

    def passed_on(self, query: Query) -> dict[str, Any]:
        """The columns that the model does not use: they come back beside the decisions."""
        used = set(self.requests.required.values())
        found = {name: values for name, values in query.rows.items() if name not in used}
        if query.n * len(found) > PASSED:
            message = (
                f"Columns that the model does not use come back in the answer: at most {PASSED} "
                "cells. Leave some out, or send fewer rows."
            )
            raise RequestError(413, message, "columns")
        return {str(name): values for name, values in found.items()}

    def _expressed(self, X: Any) -> Floats | None:
        """Costs of rows by expressions over columns. None: the model decides by its own."""
        if not self._cells:
            return None
        found = np.empty((len(X), len(self.classes), len(self.decisions)))
        for (j, d), cell in self._cells.items():
            found[:, j, d] = cell(X, of="the request") if isinstance(cell, Expression) else cell
        return found

    # -- answers --------------------------------------------------------------------------------

    def _records(self, answer: Reply, passed: dict[str, Any], rows: slice) -> list[dict[str, Any]]:
        """Some rows of an answer as objects."""
        columns: dict[str, list[Any]] = {"decision": self.decisions[answer.codes[rows]].tolist()}
        if answer.expected is not None:
            columns["probabilities"] = _named(self.classes.tolist(), answer.proba[rows])
            columns["expected_costs"] = _named(self.decisions.tolist(), answer.expected[rows])
            columns["runner_up"] = self.decisions[answer.runner_up[rows]].tolist()
            columns["saving"] = answer.saving[rows].tolist()
        if answer.parts is not None:
            parts = _named([column.name for column in self.columns.used], answer.parts[rows])
            explained = {"base": answer.base[rows].tolist(), "parts": parts}
            columns["explanation"] = _objects(explained)
        if passed:
            columns["given"] = _objects({name: values[rows] for name, values in passed.items()})
        return _objects(columns)

    def as_json(self, answer: Reply, query: Query, passed: dict[str, Any]) -> bytes:
        """The answer as JSON: an object per row, then what concerns all rows."""
        # Some rows at a time: as objects of Python they take much more memory than as text.
        rows = [
            to_json(self._records(answer, passed, slice(at, at + _ROWS)), inf_nan_mode="null")[1:-1]
            for at in range(0, query.n, _ROWS)
        ]
        total = None if answer.taken is None else float(answer.taken.sum())
        content: dict[str, Any] = {"model": self.fingerprint, "expected_cost": total}
        if answer.limits is not None:
            content["limits"] = answer.limits
        if unseen := self._unseen(query):
            content["unseen_categories"] = unseen
        return b'{"rows":[' + b",".join(rows) + b"]," + to_json(content, inf_nan_mode="null")[1:]

    def audit_lines(self, answer: Reply, query: Query, request: str, with_rows: bool) -> bytes:
        """A line of JSON per decision, in the words of ``costboost predict``."""
        head = {"time": stamp(time.time()), "request": request, "model": self.fingerprint}
        start = to_json(head)[:-1]
        lines: Any = [start + self._audit_decisions[code] for code in answer.codes.tolist()]
        if answer.expected is not None:
            # All numbers are written at once, and then put into the lines: 2.5 times as quick.
            numbers = np.concatenate((answer.proba, answer.expected), axis=1)
            k = numbers.shape[1]
            texts = to_json(numbers.ravel().tolist(), inf_nan_mode="null")[1:-1].split(b",")
            columns = [texts[place::k] for place in range(k)]
            lines = [self._audit_form % row for row in zip(lines, *columns, strict=True)]
        # A column that is only passed on may be called like a field: it is left out.
        given = query.rows.items() if with_rows else ()
        cells = {str(name): x for name, x in given if str(name) not in self.audited}
        if not cells:
            return b"}\n".join([*lines, b""])
        ends = [to_json(x, inf_nan_mode="null", fallback=str)[1:] for x in _objects(cells)]
        return b"".join([b"%s,%s\n" % both for both in zip(lines, ends, strict=True)])


def _objects(columns: dict[str, Any]) -> list[dict[str, Any]]:
    """An object per row."""
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _named(names: list[Any], values: Floats) -> list[dict[str, Any]]:
    """An object per row, by names of the columns."""
    texts = [str(name) for name in names]
    return [dict(zip(texts, row, strict=True)) for row in values.tolist()]


def load_service(path: Path, trusted: tuple[str, ...] = (), title: str | None = None) -> Service:
    """Load a model file; nothing in it is run, and pickles are refused."""
    from costboost.files import load

    with path.open("rb") as file:
        fingerprint = hashlib.file_digest(file, "sha256").hexdigest()[:16]
    return Service(load(path, trusted=trusted), fingerprint, path.stem if title is None else title)
