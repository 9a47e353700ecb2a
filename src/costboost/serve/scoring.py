"""One model, ready to answer: its decisions on rows, with one pass over the trees."""

from __future__ import annotations

import hashlib
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
from pydantic_core import to_json

from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import Expression, scenarios
from costboost.costs.forms import Reader, columns_of, varies
from costboost.decisions import Allocation, Explanation, allocate
from costboost.decisions.explain import cheapest_other
from costboost.gbm.classifier import CostBoostClassifier
from costboost.serve.columns import RequestError, Schema, Table
from costboost.serve.requests import LARGEST, Query, Requests


@dataclass(frozen=True, eq=False)
class Reply:
    """What is known of the rows of a request."""

    codes: Ints
    proba: Floats | None = None
    expected: Floats | None = None
    runner_up: Ints | None = None
    saving: Floats | None = None
    explanation: Explanation | None = None
    allocation: Allocation | None = None

    @property
    def taken(self) -> Floats | None:
        """Expected cost of the decision of each row."""
        if self.expected is None:
            return None
        return self.expected[np.arange(len(self.codes)), self.codes]


class Service:
    """A model with everything that answering needs; safe to call from several threads."""

    def __init__(self, model: Any, fingerprint: str, title: str = "model") -> None:
        self.model = model
        self.fingerprint = fingerprint
        self.title = title
        self.columns = Schema(model)
        self.requests = Requests(model, self.columns)
        self.classes: AnyArray = model.classes_
        self.decisions: AnyArray = model.decisions_
        self.loaded_at = time.time()
        self.has_probabilities = hasattr(model, "predict_proba")
        self.can_explain = hasattr(model, "explain") and len(self.decisions) > 1
        # Encoded rows save building and checking a data frame, which takes longer than the trees of
        # a single row. A function in cost_matrix wants the frame.
        self.is_direct = isinstance(model, CostBoostClassifier) and (
            not varies(model.cost_matrix) or bool(columns_of(model.cost_matrix))
        )
        # Expressions over columns are read once, instead of at every request.
        self._cells: AnyArray | None = None
        can_weigh = self.is_direct and self.has_probabilities and model.risk == "expected"
        if can_weigh and varies(model.cost_matrix):
            reader = Reader(self.classes, owner=type(model).__name__, decisions=self.decisions)
            cells, _ = reader.cells(scenarios(model.cost_matrix).expected)
            self._cells = np.vectorize(
                lambda cell: Expression(cell) if isinstance(cell, str) else cell, otypes=[object]
            )(cells)
        # One row, so that the first request finds everything loaded. It is made up and may break
        # a rule of the costs.
        row = {c.name: c.categories[0] if c.categories else 1.0 for c in self.columns.columns}
        with suppress(ValueError, RequestError):
            self.answer(Query(self.columns.from_records([row]), None, None, False))

    def about(self) -> dict[str, Any]:
        """What people and programs may know of the model."""
        summary = getattr(self.model, "costs_", None)
        matrix = getattr(self.model, "cost_matrix_", None)
        return {
            "title": self.title,
            "class": type(self.model).__name__,
            "model": self.fingerprint,
            "classes": self.classes.tolist(),
            "decisions": self.decisions.tolist(),
            "costs": None if summary is None else str(summary),
            "mean_cost_matrix": None if matrix is None else np.asarray(matrix).tolist(),
            "probabilities": self.has_probabilities,
            "short_costs": self.requests.short_costs,
            "explains": self.can_explain and self.has_probabilities,
        }

    # -- decisions ------------------------------------------------------------------------------

    def answer(self, query: Query) -> Reply:
        """Decide the rows of a request."""
        for field in ("costs", "capacity", "explain"):
            if not self.has_probabilities and getattr(query, field) not in (None, False):
                raise RequestError(
                    422, "The model has learned decisions and no probabilities, so it takes "
                    f"no {field}. Leave it out.", field,
                )  # fmt: skip
        if query.explain and not self.can_explain:
            raise RequestError(422, "This model cannot explain its decisions.", "explain")
        table = query.table
        X: Any = table.rows() if self.is_direct else table.frame()
        costs = self._costs(query, X)
        codes, _, proba, expected = self.model._answer(X, costs)
        if expected is None:
            return Reply(codes)
        if not np.abs(expected).max() <= LARGEST:
            message = f"The costs of a row must be at most {LARGEST:g} in size."
            raise RequestError(422, message, "costs")
        found = None
        if query.capacity is not None:
            found = allocate(
                expected, self.decisions, capacity=query.capacity, per=query.groups,
                proba=proba, classes=self.classes,
            )  # fmt: skip
            codes = found.codes
        reasons = None
        if query.explain:
            reasons = self.model.explain(table.frame(), costs=costs, codes=codes)
        others: tuple[Ints | None, Floats | None] = (None, None)
        if len(self.decisions) > 1:
            others = cheapest_other(expected, codes)
        return Reply(codes, proba, expected, *others, reasons, found)

    def _costs(self, query: Query, X: Any) -> Floats | None:
        """A matrix per row: given, or of the columns. None: the model decides by its own."""
        if query.costs is None and self._cells is None:
            return None
        if query.costs is not None and query.costs[1].all():
            return query.costs[0]
        if self._cells is not None:
            own = np.empty((len(X), *self._cells.shape))
            for j, d in np.ndindex(*self._cells.shape):
                cell: Any = self._cells[j, d]
                own[:, j, d] = cell(X, of="the request") if isinstance(cell, Expression) else cell
        elif (
            self.model._decides_by_costs()
            or self.model._scored(X, codes=True, proba=False)[0] is None
        ):
            own = self.model._decision_costs(None, len(X), X).matrix
        else:
            raise RequestError(
                422, "Without costs this model decides by what it has learned, so one request "
                "must have costs for all rows or for none.", "costs",
            )  # fmt: skip
        if query.costs is None:
            return own
        return np.where(query.costs[1][:, None, None], query.costs[0], own)

    # -- answers --------------------------------------------------------------------------------

    def _columns(self, answer: Reply) -> dict[str, Any]:
        """Values of the rows: one of each, or (names, a table with a column per name)."""
        labels = self.decisions
        found: dict[str, Any] = {"decision": labels[answer.codes]}
        if answer.proba is not None:
            found["probabilities"] = self.classes.tolist(), answer.proba
            found["expected_costs"] = labels.tolist(), answer.expected
        if answer.runner_up is not None:
            found |= {"runner_up": labels[answer.runner_up], "saving": answer.saving}
        if answer.explanation is not None:
            parts = answer.explanation.feature_names, answer.explanation.parts
            found |= {"base": answer.explanation.base, "parts": parts}
        return found

    def as_json(self, answer: Reply, table: Table) -> bytes:
        """The answer as JSON: an object per row, then what concerns all rows."""
        rows: list[dict[str, Any]] = [{} for _ in answer.codes]
        for key, values in self._columns(answer).items():
            if isinstance(values, tuple):
                names = [str(name) for name in values[0]]
                cells = [dict(zip(names, row, strict=True)) for row in values[1].tolist()]
            else:
                cells = values.tolist()
            for row, cell in zip(rows, cells, strict=True):
                inside = row.setdefault("explanation", {}) if key in ("base", "parts") else row
                inside[key] = cell
        total = None if answer.taken is None else float(answer.taken.sum())
        content: dict[str, Any] = {"model": self.fingerprint, "rows": rows, "expected_cost": total}
        if answer.allocation is not None:
            limits = answer.allocation.to_frame().dropna(subset="price")
            shown = [name for name in limits if name in ("group", "decision", "rows", "price")]
            content["limits"] = limits[shown].to_dict("records")
        unseen = table.unseen()
        if unseen:
            content["unseen_categories"] = unseen
        return to_json(content, inf_nan_mode="null")

    def as_arrow(self, answer: Reply) -> bytes:
        """The answer as an Arrow stream, a column per number."""
        singular = {"probabilities": "probability", "expected_costs": "expected_cost"}
        columns: dict[str, Any] = {}
        for key, values in self._columns(answer).items():
            if isinstance(values, tuple):
                prefix = singular.get(key, "part")
                columns |= {f"{prefix}.{name}": values[1][:, j] for j, name in enumerate(values[0])}
            else:
                columns[key] = values
        table = pa.table({name: pa.array(values) for name, values in columns.items()})
        table = table.replace_schema_metadata({"costboost.model": self.fingerprint})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return bytes(sink.getvalue().to_pybytes())


def load_service(path: Path, trusted: tuple[str, ...] = ()) -> Service:
    """Load a model file; nothing in it is run, and pickles are refused."""
    from costboost.files import load

    fingerprint = _fingerprint(path)
    model = load(path, trusted=trusted)
    if _fingerprint(path) != fingerprint:
        raise OSError("The model file changed while it was read. Load it again.")
    return Service(model, fingerprint, path.stem)


def _fingerprint(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
