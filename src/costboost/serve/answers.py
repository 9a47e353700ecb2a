"""Answers as JSON and as Arrow."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic_core import to_json

from costboost.decisions import Allocation
from costboost.serve.columns import Table
from costboost.serve.scoring import Answer, Scorer

__all__ = ["as_arrow", "as_json"]


def as_json(answer: Answer, scorer: Scorer, table: Table, model: str) -> bytes:
    """The answer as JSON: an object per row, then what concerns all rows."""
    content: dict[str, Any] = {
        "model": model, "rows": _rows(answer, scorer), "expected_cost": answer.total
    }  # fmt: skip
    if answer.allocation is not None:
        content["limits"] = _limits(answer, answer.allocation, scorer, table)
    if table.unseen:
        content["unseen_categories"] = table.unseen
    return to_json(content, inf_nan_mode="null")


def _rows(answer: Answer, scorer: Scorer) -> list[dict[str, Any]]:
    labels = scorer.decisions.tolist()
    classes = [str(label) for label in scorer.classes.tolist()]
    decisions = [str(label) for label in labels]
    codes = answer.codes.tolist()
    rows: list[dict[str, Any]] = [{"decision": labels[code]} for code in codes]
    if answer.proba is None or answer.expected is None:
        return rows
    for row, proba, expected in zip(
        rows, answer.proba.tolist(), answer.expected.tolist(), strict=True
    ):
        row["probabilities"] = dict(zip(classes, proba, strict=True))
        row["expected_costs"] = dict(zip(decisions, expected, strict=True))
    if answer.runner_up is not None and answer.saving is not None:
        others, savings = answer.runner_up.tolist(), answer.saving.tolist()
        for row, other, saving in zip(rows, others, savings, strict=True):
            row["runner_up"] = labels[other]
            row["saving"] = saving
    found = answer.explanation
    if found is not None:
        for row, base, parts in zip(rows, found.base.tolist(), found.parts.tolist(), strict=True):
            named = zip(found.feature_names, parts, strict=True)
            row["explanation"] = {"base": base, "parts": dict(named)}
    return rows


def _limits(
    answer: Answer, allocation: Allocation, scorer: Scorer, table: Table
) -> list[dict[str, Any]]:
    """Rows and price of each limited decision, in each group if there are groups."""
    taken = scorer.decisions[answer.codes]
    if table.groups is None:
        return [
            {"decision": label, "rows": int((taken == label).sum()), "price": price}
            for label, price in allocation.price.items()
        ]
    return [
        {
            "group": group,
            "decision": label,
            "rows": int(((taken == label) & (table.groups == group)).sum()),
            "price": price,
        }
        for group, prices in allocation.price.items()
        for label, price in prices.items()
    ]


def as_arrow(answer: Answer, scorer: Scorer, model: str) -> bytes:
    """The answer as an Arrow stream, a column per number."""
    import pyarrow as pa  # type: ignore[import-untyped]

    labels = scorer.decisions
    columns: dict[str, Any] = {"decision": labels[answer.codes]}
    if answer.proba is not None and answer.expected is not None:
        for j, label in enumerate(scorer.classes.tolist()):
            columns[f"probability.{label}"] = np.ascontiguousarray(answer.proba[:, j])
        for d, label in enumerate(labels.tolist()):
            columns[f"expected_cost.{label}"] = np.ascontiguousarray(answer.expected[:, d])
    if answer.runner_up is not None and answer.saving is not None:
        columns["runner_up"] = labels[answer.runner_up]
        columns["saving"] = answer.saving
    found = answer.explanation
    if found is not None:
        columns["base"] = found.base
        for f, name in enumerate(found.feature_names):
            columns[f"part.{name}"] = np.ascontiguousarray(found.parts[:, f])
    arrays = [pa.array(values) for values in columns.values()]
    table = pa.Table.from_arrays(arrays, names=list(columns))
    table = table.replace_schema_metadata({"costboost.model": model})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())
