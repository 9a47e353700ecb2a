"""Rows as every source brings them: features, costs and weights, a block at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from costboost._frames import FrameEncoder, as_csr, is_sparse
from costboost._typing import AnyArray, Floats, Ints
from costboost._validation import checked_labels
from costboost.costs import Costs, KnownCosts
from costboost.costs.expressions import column_names
from costboost.costs.forms import decisions_of, is_labelled, varies
from costboost.costs.table import same_labels
from costboost.costs.uncertain import scenarios

__all__ = ["Block", "Features", "Pricing", "check_classes", "eval_block", "joined"]


@dataclass(frozen=True, eq=False)
class Features:
    """The columns of a table, and how they become numbers."""

    n_features: int
    names: AnyArray | None = None
    encoder: FrameEncoder | None = None

    @property
    def categorical(self) -> list[int]:
        """Positions of the columns that hold category codes."""
        return self.encoder.categorical if self.encoder else []

    def read_as_trained(self, X: Any, owner: str) -> AnyArray:
        """A whole table with these columns, as a float matrix; sparse rows stay sparse."""
        names = column_names(X)
        if self.encoder is not None and names is None:
            raise ValueError(
                f"{owner} must have a data frame as X, because the training rows have columns that "
                f"are not numbers; got {type(X).__name__}."
            )
        if self.names is not None and names is not None and names != self.names.tolist():
            raise ValueError(
                f"{owner} must have the columns of the training rows in their order, "
                f"{self.names.tolist()}; got {names}."
            )
        if is_sparse(X):
            checks = {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan"}
            matrix: Any = as_csr(check_array(X, accept_sparse="csr", **checks))
        else:
            matrix = self.read(X)
        if matrix.shape[1] != self.n_features:
            raise ValueError(
                f"{owner} has {matrix.shape[1]} features, and the training rows {self.n_features}."
            )
        rows: AnyArray = matrix
        return rows

    def read(self, X: Any) -> AnyArray:
        """Part of a table whose columns have been checked, as a float matrix."""
        table = X if self.encoder is None else self.encoder.transform(X)
        matrix = check_array(
            table, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan", input_name="X"
        )
        return np.asarray(matrix)


@dataclass(frozen=True, eq=False)
class Pricing:
    """What the user said about costs, ready to price any rows."""

    cost_matrix: Any
    classes: AnyArray
    owner: str
    as_classes: bool = False

    @property
    def needs_columns(self) -> bool:
        """Whether the costs depend on columns of the rows: expressions, or a function."""
        return varies(self.cost_matrix)

    def nothing(self) -> KnownCosts:
        """Costs of no rows, which add up with those of others."""
        decisions = decisions_of(self.cost_matrix, self.classes, self.owner)
        free = np.zeros((len(self.classes), len(decisions)))
        return Costs(self.classes, free, decisions, codes=np.empty(0, dtype=np.intp))

    def _names_for(self, costs: Any) -> AnyArray | None:
        """Names of the columns of costs without any: the decisions that `cost_matrix` names."""
        shape: tuple[int, ...] = getattr(costs, "shape", ())
        if len(shape) < 2 or is_labelled(costs) or hasattr(costs, "columns"):
            return None
        names = decisions_of(self.cost_matrix, self.classes, self.owner)
        return names if shape[-1] == len(names) else None

    def resolve(self, costs: Any, X: Any, codes: Ints) -> KnownCosts:
        """Costs of some rows; uncertain ones by their means."""
        return Costs.resolve(
            scenarios(self.cost_matrix).expected if costs is None else None,
            None if costs is None else scenarios(costs).expected,
            classes=self.classes,
            decisions=self._names_for(costs),
            X=X,
            codes=codes,
            owner=self.owner,
            as_classes=self.as_classes,
        )


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows."""

    X: AnyArray | None
    costs: KnownCosts
    weights: Floats

    def __len__(self) -> int:
        return len(self.weights)

    def take(self, rows: Any) -> Block:
        """Some of the rows (indices, a mask or a slice)."""
        return Block(
            None if self.X is None else self.X[rows], self.costs.take(rows), self.weights[rows]
        )

    def weighted(self) -> Block:
        """The rows that have weight."""
        return self if self.weights.all() else self.take(np.flatnonzero(self.weights))

    def with_prices(self) -> Block:
        """Without the matrices of single rows: of these, only the prices under the truth."""
        costs = self.costs
        if costs.matrix is None or costs.matrix.ndim == 2:
            return self
        known = Costs(costs.classes, None, costs.decisions, codes=costs.codes, prices=costs.prices)
        return Block(self.X, known, self.weights)

    def without_features(self) -> Block:
        """Costs and weights only."""
        return Block(None, self.costs, self.weights)


def joined(blocks: Sequence[Block]) -> Block:
    """The costs and weights of several blocks as one block."""
    if len(blocks) == 1:
        return blocks[0].without_features()
    return Block(
        None,
        KnownCosts.concat([block.costs for block in blocks]),
        np.concatenate([block.weights for block in blocks]),
    )


def eval_block(
    eval_set: Any,
    without_cost_columns: Callable[[Any], Any],
    features: Features,
    pricing: Pricing,
    training: KnownCosts,
    *,
    has_costs: bool,
) -> Block:
    """The rows of another table that a training watches."""
    owner = f"The 'eval_set' argument of {pricing.owner}.fit"
    if not isinstance(eval_set, (tuple, list)) or len(eval_set) not in (2, 3):
        raise ValueError(
            f"{owner} must be (X, y) or (X, y, costs), got {_described(eval_set)}. Pass one pair."
        )
    X, y = eval_set[:2]
    costs = eval_set[2] if len(eval_set) == 3 else None
    matrix = features.read_as_trained(without_cost_columns(X), owner)
    labels = np.asarray(checked_labels(y, pricing.owner))
    if labels.shape != (matrix.shape[0],):
        raise ValueError(
            f"{owner} has {matrix.shape[0]} rows in X and labels of shape {labels.shape}. Give one "
            "label per row."
        )
    unknown = sorted(set(labels.tolist()) - set(pricing.classes.tolist()), key=str)
    if unknown:
        raise ValueError(
            f"{owner} has labels that the training rows lack: {unknown[:5]}; the classes are "
            f"{pricing.classes.tolist()}. Leave these rows out."
        )
    if costs is None and has_costs:
        raise ValueError(
            f"{owner} must have costs, because the training rows were given some. Pass "
            "(X, y, costs)."
        )
    known = pricing.resolve(costs, X, np.searchsorted(pricing.classes, labels))
    if not same_labels(known.decisions, training.decisions):
        raise ValueError(
            f"{owner} has costs of the decisions {known.decisions.tolist()}, and the training rows "
            f"those of {training.decisions.tolist()}. Name the same decisions."
        )
    return Block(matrix, known, np.ones(len(labels)))


def _described(value: Any) -> str:
    size = f" of length {len(value)}" if hasattr(value, "__len__") else ""
    return f"{type(value).__name__}{size}"


def check_classes(classes: AnyArray, owner: str) -> None:
    """Raise a ValueError if there are fewer than two classes."""
    if len(classes) < 2:
        raise ValueError(
            f"{owner} needs rows of at least two classes, and there is only one class: "
            f"{classes.tolist()}."
        )
