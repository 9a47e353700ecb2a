"""Bodies of requests and answers as pydantic models, made from what the model has learned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, StrictFloat, StrictInt, create_model

from costboost._typing import AnyArray, Floats
from costboost.columns import Column, Columns
from costboost.costs.spec import columns_of, positive_of
from costboost.decisions import Decisions

SHOWN_CATEGORIES = 20
EXAMPLE_DATE = datetime(2026, 12, 31)

# With a limit on their length pydantic reads texts as Unicode, and refuses half characters.
Text = Annotated[str, Field(max_length=10_000)]
Limit = StrictInt | StrictFloat | list[StrictInt | StrictFloat | None]

# Rows are raw rows: texts are read as in training, so "12,50" may be a number.
CELLS: dict[str, Any] = {
    "number": FiniteFloat | Text | None,
    "boolean": bool | FiniteFloat | Text | None,
    "date": Text | None,
}
ANY_CELL = Text | int | FiniteFloat | bool | None


class Explanation(BaseModel):
    """What each column adds to the saving of a decision."""

    base: float = Field(description="The saving that the model expects of an average row.")
    parts: dict[str, float] = Field(description="A number per column; with the base, the saving.")


class DecidedRow(BaseModel):
    """The decision of a row."""

    decision: Any
    probabilities: dict[str, float] = Field({}, description="Of each class.")
    expected_costs: dict[str, float] = Field({}, description="Of each decision.")
    runner_up: Any = Field(None, description="The cheapest other decision.")
    saving: float | None = Field(None, description="Cost of the runner-up minus the decision's.")
    explanation: Explanation | None = None


class DecideResponse(BaseModel):
    """The decisions of a request."""

    model: str = Field(description="Start of the SHA-256 of the model file.")
    request: str = Field(description="The X-Request-ID of the request, or a new one.")
    expected_cost: float | None = Field(None, description="Of all decisions together.")
    limit_prices: dict[str, float] = Field({}, description="What one more row would save.")
    rows: list[DecidedRow] = Field(description="In the order of the records.")


class ShortCosts(BaseModel):
    """Costs of a row with two classes."""

    fn: FiniteFloat = Field(description="Of a miss.")
    fp: FiniteFloat = Field(description="Of a false alarm.")
    tp: FiniteFloat = Field(0.0, description="Of a right alarm.")
    tn: FiniteFloat = Field(0.0, description="Of a right all-clear.")


class DecideRequest(BaseModel):
    """Rows to decide; `decide_request` knows what a row and its costs are."""

    model_config = ConfigDict(extra="forbid")

    records: list[Any] = Field(description="Raw rows, as in the table of the fit.")
    costs: list[Any] | None = Field(None, description="Costs to decide by, an entry per record.")
    capacity: dict[Text, Limit] | None = Field(
        None,
        description="How many records may get a decision: a number, a share, or a pair of them, "
        "at least and at most.",
    )
    explain: bool = Field(False, description="Add what each column contributes to the saving.")


def decide_request(row: Any, costs: Any, max_rows: int) -> type[DecideRequest]:
    """Return the type of a request body, for rows and costs of these types."""
    # One error is enough where a body has many rows.
    records = Annotated[list[row], Field(min_length=1, max_length=max_rows, fail_fast=True)]
    entries = Annotated[list[costs], Field(fail_fast=True)] | None
    fields = DecideRequest.model_fields
    return create_model(
        "DecideRequest",
        __base__=DecideRequest,
        records=(records, fields["records"]),
        costs=(entries, fields["costs"]),
    )


def row_schema(columns: Iterable[Column]) -> type[BaseModel]:
    """Return the pydantic model of a row; members that are not columns of it are ignored."""
    members = {}
    for column in columns:
        example = example_cell(column)
        field = Field(alias=str(column.name), description=describe(column), examples=[example])
        members[str(column.name)] = (CELLS.get(column.kind, ANY_CELL), field)
    return numbered_model("Row", members)


def cost_schema(model: Any) -> type[BaseModel]:
    """Return the pydantic model of the costs of a row."""
    classes = model.classes_.tolist()
    decisions = model.decisions_.tolist()
    knows_positive = positive_of(model.cost_matrix) is not None or set(classes) <= {-1, 0, 1}
    if len(classes) == 2 and decisions == classes and knows_positive:
        return ShortCosts
    prices = {str(label): (FiniteFloat, Field(alias=str(label))) for label in decisions}
    by_decision = numbered_model("CostsOfDecisions", prices)
    members = {str(label): (by_decision, Field(alias=str(label))) for label in classes}
    return numbered_model("Costs", members)


def numbered_model(title: str, members: Mapping[str, Any]) -> type[BaseModel]:
    """Return a model whose members have aliases, since columns and labels may have any name."""
    fields: dict[str, Any] = {}
    for position, member in enumerate(members.values()):
        fields[f"member_{position}"] = member
    return create_model(title, **fields)


def describe(column: Column) -> str:
    """Return what a column holds, in words."""
    if column.kind == "category":
        shown = ", ".join(column.categories[:SHOWN_CATEGORIES])
        if len(column.categories) > SHOWN_CATEGORIES:
            shown += ", ..."
        return f"One of {len(column.categories)} categories: {shown}. Others count as missing."
    if column.kind == "date":
        return f"A date, written as {example_cell(column)}; null if it is missing."
    if column.kind in ("number", "boolean"):
        return f"A {column.kind}; null if it is missing."
    return "A value as the estimator takes it."


def example_row(columns: Iterable[Column]) -> dict[str, Any]:
    """Return a row that can be decided."""
    return {str(column.name): example_cell(column) for column in columns}


def example_cell(column: Column) -> Any:
    """Return a value that a column may have."""
    if column.kind == "category":
        return next(iter(column.categories), None)
    if column.kind == "date":
        day = EXAMPLE_DATE.strftime(column.format or "%Y-%m-%d")
        return f"{day} 00:00Z" if column.is_zoned else day
    if column.kind == "boolean":
        return True
    return 1.0


# -- from the request to the library, and back -----------------------------------------------------


def needed_columns(model: Any) -> list[Column]:
    """Return the columns that rows must have: inputs of the model, and those of its costs."""
    names = getattr(model, "feature_names_in_", ())
    # Of an estimator of the user only the names are known, if it has them.
    unread = Columns(tuple(Column(name, "other") for name in names), model.n_features_in_)
    priced = columns_of(model.cost_matrix)
    columns = getattr(model, "columns_", unread)
    return [column for column in columns if column.is_used or column.name in priced]


def read_rows(records: Sequence[BaseModel], columns: Sequence[Column], model: Any) -> Any:
    """Return the rows of a request as the model takes them."""
    cells = [record.model_dump(by_alias=True) for record in records]
    if not hasattr(model, "feature_names_in_"):
        return pd.DataFrame(cells).to_numpy(dtype=np.float64)
    table = {column.name: [row[str(column.name)] for row in cells] for column in columns}
    if hasattr(model, "columns_"):
        # A data frame would take longer than the decision of a single row.
        return model.columns_.read(table, "The request")
    return pd.DataFrame(table)


def read_capacity(limits: Mapping[str, Any] | None, model: Any) -> dict[Any, Any] | None:
    """Return limits by the labels of their decisions; keys of JSON are texts."""
    if limits is None:
        return None
    labels = {str(label): label for label in model.decisions_.tolist()}
    return {labels.get(name, name): limit for name, limit in limits.items()}


def read_costs(entries: Sequence[BaseModel] | None, n_rows: int) -> Any:
    """Return the costs of a request in a form that the library takes."""
    if entries is None:
        return None
    if len(entries) != n_rows:
        raise ValueError(
            f"costs must have an entry for each of the {n_rows} records, got {len(entries)}."
        )
    members = [entry.model_dump() for entry in entries]
    if isinstance(entries[0], ShortCosts):
        return pd.DataFrame(members)
    matrices = [[list(prices.values()) for prices in entry.values()] for entry in members]
    return np.array(matrices)


def answer_rows(decided: Decisions, classes: AnyArray, explanation: Any = None) -> list[DecidedRow]:
    """Return what is said of each row."""
    decisions = decided.decisions
    answer: dict[str, list[Any]] = {"decision": decisions[decided.chosen].tolist()}
    if decided.proba is not None and decided.expected_cost is not None:
        answer["probabilities"] = by_name(classes, decided.proba)
        answer["expected_costs"] = by_name(decisions, decided.expected_cost)
        answer["runner_up"] = decided.runner_up.tolist()
        answer["saving"] = decided.saving.tolist()
    if explanation is not None:
        parts = by_name(explanation.feature_names, explanation.parts)
        pairs = zip(explanation.base.tolist(), parts, strict=True)
        answer["explanation"] = [Explanation(base=base, parts=part) for base, part in pairs]
    rows = zip(*answer.values(), strict=True)
    return [DecidedRow(**dict(zip(answer, row, strict=True))) for row in rows]


def by_name(names: Iterable[Any], values: Floats) -> list[dict[str, float]]:
    """Return the numbers of each row by the names of their columns."""
    texts = [str(name) for name in names]
    return [dict(zip(texts, row, strict=True)) for row in values.tolist()]
