"""What the service counts, as Prometheus text.

Several processes count into files of one folder (``PROMETHEUS_MULTIPROC_DIR``), and each of them
can add up all of them.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)

from costboost.serve.scoring import Answer

__all__ = ["CONTENT_TYPE", "Metrics"]

CONTENT_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0)


class Metrics:
    """Counters of one process."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Counter(
            "costboost_requests", "Requests answered.", ["path", "status"], registry=registry
        )
        self.seconds = Histogram(
            "costboost_request_seconds",
            "Time from the head of a request to the end of its answer.",
            ["path"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.rows = Counter("costboost_rows", "Rows decided.", registry=registry)
        self.decisions = Counter(
            "costboost_decisions", "Rows that got a decision.", ["decision"], registry=registry
        )
        # Profits are negative costs, so these sums may fall.
        self.cost = Gauge(
            "costboost_expected_cost_sum",
            "Expected cost of the decisions, added up.",
            ["decision"],
            registry=registry,
            multiprocess_mode="sum",
        )
        self.saving = Gauge(
            "costboost_saving_sum",
            "Expected saving against the runner-up, added up.",
            registry=registry,
            multiprocess_mode="sum",
        )
        self.reloads = Counter(
            "costboost_reloads", "Reloads of the model file.", ["result"], registry=registry
        )
        self.loaded = Gauge(
            "costboost_model_loaded_timestamp_seconds",
            "When the model was loaded, by the worker that did so last.",
            registry=registry,
            multiprocess_mode="max",
        )
        self._children: dict[tuple[str, int], tuple[Any, Any]] = {}

    def request(self, path: str, status: int, seconds: float) -> None:
        """Count one request."""
        found = self._children.get((path, status))
        if found is None:
            found = self.requests.labels(path, str(status)), self.seconds.labels(path)
            self._children[path, status] = found
        found[0].inc()
        found[1].observe(seconds)

    def answer(self, answer: Answer, labels: list[str]) -> None:
        """Count the decisions of one request."""
        n = len(answer.codes)
        self.rows.inc(n)
        if n == 1:
            code = int(answer.codes[0])
            self.decisions.labels(labels[code]).inc()
            if answer.expected is not None:
                self.cost.labels(labels[code]).inc(float(answer.expected[0, code]))
        else:
            counts = np.bincount(answer.codes, minlength=len(labels))
            for label, count in zip(labels, counts.tolist(), strict=True):
                self.decisions.labels(label).inc(count)
            if answer.expected is not None:
                taken = np.take_along_axis(answer.expected, answer.codes[:, None], axis=1)[:, 0]
                sums = np.bincount(answer.codes, taken, minlength=len(labels))
                for label, total in zip(labels, sums.tolist(), strict=True):
                    self.cost.labels(label).inc(total)
        if answer.saving is not None:
            self.saving.inc(float(answer.saving.sum()))

    def text(self) -> bytes:
        """All metrics, of all processes."""
        folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
        if folder is None:
            return bytes(generate_latest(self.registry))
        from prometheus_client.multiprocess import MultiProcessCollector

        together = CollectorRegistry()
        MultiProcessCollector(together, path=folder)  # type: ignore[no-untyped-call]
        return bytes(generate_latest(together))
