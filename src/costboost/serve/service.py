"""One model, ready to answer; loaded from a file, and replaced by a newer one on demand."""

from __future__ import annotations

import hashlib
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from costboost.serve.columns import Columns
from costboost.serve.errors import RequestError
from costboost.serve.prices import Prices
from costboost.serve.requests import Query
from costboost.serve.scoring import Answer, scorer_of

__all__ = ["Current", "Service", "load_service"]


class Service:
    """A model with everything that answering needs, prepared once."""

    def __init__(self, model: Any, fingerprint: str, title: str = "model") -> None:
        self.model = model
        self.fingerprint = fingerprint
        self.title = title
        self.columns = Columns.of(model)
        self.prices = Prices(model)
        self.scorer = scorer_of(model)
        self.labels = [str(label) for label in model.decisions_.tolist()]
        self.loaded_at = time.time()
        self._warm_up()

    def answer(self, query: Query) -> Answer:
        """Decide the rows of a request."""
        return self.scorer.answer(query.table, query.costs, query.capacity, explain=query.explain)

    def about(self) -> dict[str, Any]:
        """What people and programs may know of the model."""
        model = self.model
        summary = getattr(model, "costs_", None)
        matrix = getattr(model, "cost_matrix_", None)
        return {
            "title": self.title,
            "class": type(model).__name__,
            "model": self.fingerprint,
            "classes": model.classes_.tolist(),
            "decisions": model.decisions_.tolist(),
            "costs": None if summary is None else str(summary),
            "mean_cost_matrix": None if matrix is None else np.asarray(matrix).tolist(),
            "probabilities": self.scorer.has_probabilities,
            "short_costs": self.prices.has_short and self.prices.knows_positive,
            "explains": self.scorer.can_explain and self.scorer.has_probabilities,
        }

    def _warm_up(self) -> None:
        """Decide one row, so that the first request finds everything loaded."""
        record = {
            column.name: column.categories[0] if column.categories else 1.0
            for column in self.columns.columns
        }
        with suppress(ValueError, RequestError):  # a made-up row may break a rule of the costs
            self.scorer.answer(self.columns.from_records([record]))


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


class Current:
    """The model that answers now."""

    def __init__(self, service: Service, load: Any) -> None:
        self.service = service
        self.is_draining = False
        self._load = load
        self._lock = threading.Lock()

    def reload(self) -> Service:
        """Replace the model; requests that have begun keep the old one."""
        # If the file cannot be loaded the old model stays and the error is raised.
        with self._lock:
            self.service = self._load()
            return self.service
