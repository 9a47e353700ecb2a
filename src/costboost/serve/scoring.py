"""Decisions of a table of rows, by any classifier of the library, with one pass over the trees.

Two ways lead to the same answers. `Direct` serves `CostBoostClassifier`: the columns are encoded as
the classifier does, and its boosters are called without building and checking a data frame, which
takes longer than the trees of a single row. `Public` calls the public methods of every other class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import Costs
from costboost.costs.forms import columns_of, varies
from costboost.decisions import Allocation, Explanation, allocate, explain
from costboost.gbm.classifier import CostBoostClassifier
from costboost.gbm.heads import ProbabilityHead
from costboost.serve.columns import Table
from costboost.serve.errors import RequestError
from costboost.serve.formulas import Formulas
from costboost.serve.prices import LARGEST, Given

__all__ = ["Answer", "Direct", "Public", "Scorer", "scorer_of"]


@dataclass(frozen=True, eq=False)
class Answer:
    """What is known of the rows of a request."""

    codes: Ints
    proba: Floats | None = None
    expected: Floats | None = None
    runner_up: Ints | None = None
    saving: Floats | None = None
    explanation: Explanation | None = None
    allocation: Allocation | None = None

    @property
    def total(self) -> float | None:
        """Expected cost of all rows together."""
        if self.expected is None:
            return None
        return float(self.expected[np.arange(len(self.codes)), self.codes].sum())


class Scorer(ABC):
    """Answers for one model; safe to call from several threads."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.classes: AnyArray = model.classes_
        self.decisions: AnyArray = model.decisions_
        self.has_probabilities = hasattr(model, "predict_proba")
        self.can_explain = hasattr(model, "explain") and len(self.decisions) > 1

    @property
    @abstractmethod
    def can_mix(self) -> bool:
        """Whether rows with and without costs of their own go together."""

    @abstractmethod
    def own_costs(self, table: Table) -> Costs:
        """The costs of rows that bring none along."""

    def answer(
        self,
        table: Table,
        given: Given | None = None,
        capacity: Mapping[Any, Any] | None = None,
        *,
        explain: bool = False,
    ) -> Answer:
        """Decide the rows."""
        for wanted, field in (
            (given is not None, "costs"), (capacity is not None, "capacity"), (explain, "explain"),
        ):  # fmt: skip
            if wanted and not self.has_probabilities:
                raise RequestError(
                    422, "The model has learned decisions and no probabilities, so it takes "
                    f"no {field}. Leave it out.", field,
                )  # fmt: skip
        if explain and not self.can_explain:
            raise RequestError(422, "This model cannot explain its decisions.", "explain")
        return self._answer(table, self._costs(given, table), capacity, explain=explain)

    def _costs(self, given: Given | None, table: Table) -> Floats | None:
        """A matrix per row, if any row brings costs along."""
        if given is None:
            return None
        if given.is_complete:
            return given.matrix
        if not self.can_mix:
            raise RequestError(
                422, "Without costs this model decides by what it has learned, so one request "
                "must have costs for all rows or for none.", "costs",
            )  # fmt: skip
        own = self.own_costs(table).matrix
        return np.where(given.told[:, None, None], given.matrix, own)

    @abstractmethod
    def _answer(
        self,
        table: Table,
        costs: Floats | None,
        capacity: Mapping[Any, Any] | None,
        *,
        explain: bool,
    ) -> Answer:
        """The answer to a checked request."""

    def _allocated(
        self, expected: Floats, proba: Floats, capacity: Mapping[Any, Any], table: Table
    ) -> Allocation:
        return allocate(
            expected,
            self.decisions,
            capacity=capacity,
            per=table.groups,
            proba=proba,
            classes=self.classes,
        )


def checked(expected: Floats) -> Floats:
    """Expected costs that can be added up."""
    if not np.abs(expected).max() <= LARGEST:
        raise RequestError(422, f"The costs of a row must be at most {LARGEST:g} in size.", "costs")
    return expected


def compared(expected: Floats, codes: Ints) -> tuple[Ints | None, Floats | None]:
    """The cheapest other decision of each row, and what the decision saves against it."""
    n, d = expected.shape
    if d < 2:
        return None, None
    rows = np.arange(n)
    others = expected.copy()
    others[rows, codes] = np.inf
    runner_up: Ints = others.argmin(axis=1)
    return runner_up, others[rows, runner_up] - expected[rows, codes]


class Direct(Scorer):
    """Answers of a classifier with boosters that know probabilities."""

    model: CostBoostClassifier

    def __init__(self, model: CostBoostClassifier) -> None:
        super().__init__(model)
        self.can_explain = len(self.decisions) > 1
        self._head = model._first_head
        last = model._deciding_head
        self._learned = None if last.decides_by_cost else last
        self._own: Callable[[Table], Costs]
        if varies(model.cost_matrix):
            self._own = Formulas(model)
        else:
            fixed = Costs(model.classes_, model.cost_matrix_, model.decisions_)
            self._own = lambda _: fixed

    @staticmethod
    def serves(model: Any) -> bool:
        """Whether the classifier decides in the way that this class does."""
        return (
            isinstance(model, CostBoostClassifier)
            and isinstance(model._first_head, ProbabilityHead)
            and model.risk == "expected"
            and not model._costs_changed()
            and (not varies(model.cost_matrix) or bool(columns_of(model.cost_matrix)))
        )

    @property
    def can_mix(self) -> bool:
        """Whether expected costs decide, with and without costs of the rows."""
        return self._learned is None or self.model._decides_by_costs(None)

    def own_costs(self, table: Table) -> Costs:
        """The costs of the fit, or of the columns."""
        return self._own(table)

    def _answer(
        self,
        table: Table,
        costs: Floats | None,
        capacity: Mapping[Any, Any] | None,
        *,
        explain: bool,
    ) -> Answer:
        matrix, head = table.matrix(), self._head
        proba = head.proba(head.scores(matrix))
        if costs is None:
            known = self.own_costs(table)
        else:
            known = Costs(self.classes, costs, self.decisions)
        expected = checked(known.expected(proba))
        allocation = None
        if capacity is not None:
            allocation = self._allocated(expected, proba, capacity, table)
            codes = allocation.codes
        elif costs is None and self._learned is not None and not self.can_mix:
            codes = self._learned.decide(self._learned.scores(matrix))
        else:
            codes = known.decide(proba)
        runner_up, saving = compared(expected, codes)
        found = self._explained(matrix, known, proba, codes, table) if explain else None
        return Answer(codes, proba, expected, runner_up, saving, found, allocation)

    def _explained(
        self, matrix: Floats, known: Costs, proba: Floats, codes: Ints, table: Table
    ) -> Explanation:
        """As the method ``explain``, for decisions that limits may have changed."""
        head = self._head
        return explain(
            [head.contributions(matrix)],
            known.matrix,
            proba=proba,
            decisions=known.decisions,
            codes=codes,
            feature_names=[column.name for column in table.schema.features],
        )


class Public(Scorer):
    """Answers by the public methods of a classifier."""

    @property
    def can_mix(self) -> bool:
        """Without costs, many classes decide by scores that have learned them."""
        return False

    def own_costs(self, table: Table) -> Costs:
        """The costs of the fit, or of the columns."""
        own: Costs = self.model._decision_costs(None, len(table), table.frame())
        return own

    def _answer(
        self,
        table: Table,
        costs: Floats | None,
        capacity: Mapping[Any, Any] | None,
        *,
        explain: bool,
    ) -> Answer:
        X = table.frame()
        if not self.has_probabilities:
            return Answer(self._codes(self.model.predict(X)))
        proba = self.model.predict_proba(X)
        expected = checked(self.model.predict_cost(X, costs))
        allocation = None
        if capacity is not None:
            allocation = self._allocated(expected, proba, capacity, table)
            codes = allocation.codes
        else:
            codes = self._codes(self.model.predict(X, costs=costs))
        runner_up, saving = compared(expected, codes)
        found = self.model.explain(X, costs) if explain else None
        if found is not None and (found.codes != codes).any():
            raise RequestError(422, "This model explains only decisions without limits.", "explain")
        return Answer(codes, proba, expected, runner_up, saving, found, allocation)

    def _codes(self, labels: AnyArray) -> Ints:
        places = {label: code for code, label in enumerate(self.decisions.tolist())}
        return np.array([places[label] for label in labels.tolist()], dtype=np.intp)


def scorer_of(model: Any) -> Scorer:
    """The quickest scorer that answers for a model."""
    return Direct(model) if Direct.serves(model) else Public(model)
