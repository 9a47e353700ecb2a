"""What the service counts for Prometheus."""

from __future__ import annotations

import os

import numpy as np
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from costboost.decisions import Decisions

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0)

requests = Counter("costboost_requests", "Requests answered.", ["path", "status"])
request_seconds = Histogram(
    "costboost_request_seconds", "Time of a request.", ["path"], buckets=SECONDS
)
decisions_counted = Counter("costboost_decisions", "Rows that got a decision.", ["decision"])
# Profits are negative costs, so sums of money may fall. Those of several processes are added up.
expected_cost = Gauge(
    "costboost_expected_cost_sum",
    "Expected cost of the decisions.",
    ["decision"],
    multiprocess_mode="sum",
)
saving = Gauge(
    "costboost_saving_sum",
    "Expected saving of the decisions against the runner-up.",
    ["decision"],
    multiprocess_mode="sum",
)


def count_decisions(decided: Decisions) -> None:
    """Count rows, expected cost and saving of each decision."""
    for position in np.unique(decided.chosen):
        rows = np.flatnonzero(decided.chosen == position)
        label = str(decided.decisions[position])
        decisions_counted.labels(label).inc(len(rows))
        if decided.expected_cost is not None:
            expected_cost.labels(label).inc(float(decided.expected_cost[rows, position].sum()))
            saving.labels(label).inc(float(decided.saving[rows].sum()))


def as_text() -> bytes:
    """Return all metrics, of all processes."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return generate_latest()
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)
