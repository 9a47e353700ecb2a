"""The bases of all classifiers: costs in, cheapest decision out, tables read the same way."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, validate_data

from costboost._frames import FrameEncoder, categorical_columns
from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import Costs
from costboost.costs._forms import is_labelled
from costboost.errors import CollapseWarning
from costboost.metrics import savings_score

__all__ = ["CostSensitiveClassifier", "TableClassifier"]


class CostSensitiveClassifier(ClassifierMixin, BaseEstimator):
    """What all classifiers of the library share: how costs enter, and the savings score."""

    cost_matrix: Any
    classes_: AnyArray

    def _truth_costs(self, costs: Any, codes: Ints, X: Any) -> Costs:
        """The costs of rows whose truth is known."""
        return Costs.resolve(
            self.cost_matrix,
            costs,
            classes=self.classes_,
            n_samples=len(codes),
            X=X,
            codes=codes,
            owner=type(self).__name__,
        )

    def _decision_costs(self, costs: Any, n_samples: int, X: Any) -> Costs:
        """The rows' costs when the truth is unknown."""
        return Costs.resolve(
            self.cost_matrix,
            costs,
            classes=self.classes_,
            n_samples=n_samples,
            X=X,
            owner=type(self).__name__,
        )

    def score(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        costs: ArrayLike | None = None,
    ) -> float:
        """Savings: 1 - cost / cost of the best constant decision.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.
        y : array of shape (n,)
            Their true classes.
        sample_weight : array of shape (n,), optional
            Weights of the rows.
        costs : array of shape (n, k, k), (n, k) or (n,), optional
            Costs of the rows. Of shape (n, k, k) they are known at decision time, so the
            decisions use them too; the other forms only price the decisions.

        Returns
        -------
        float
            1 for a bill of nothing, 0 for that of the best constant decision, below 0 if dearer.
        """
        known = costs if costs is not None and np.ndim(costs) == 3 else None
        decisions = self.predict(X, costs=self._tellable(known))
        matrix = self.cost_matrix
        if costs is None and callable(matrix):
            costs = matrix(X)
        matrix = self._certain(matrix) if costs is None else None
        names_all = costs is None and (matrix is None or is_labelled(matrix))
        return float(
            savings_score(
                y,
                decisions,
                cost_matrix=matrix,
                costs=None if costs is None else self._certain(costs),
                # A labelled matrix, or none, also prices truths that the training rows lacked.
                labels=np.union1d(self.classes_, np.asarray(y)) if names_all else self.classes_,
                sample_weight=sample_weight,
            )
        )

    def _tellable(self, costs: Any) -> Any:
        """The rows' costs, if `predict` can use them."""
        return costs

    def _certain(self, costs: Any) -> Any:
        """Costs as numbers, for classes that also take uncertain ones."""
        return costs

    @abstractmethod
    def predict(self, X: Any, costs: ArrayLike | None = None) -> AnyArray:
        """The cheapest decision for each row."""


class TableClassifier(CostSensitiveClassifier):
    """A classifier that reads arrays and frames itself: numbers, categories, missing values."""

    _frame: FrameEncoder | None
    cost_matrix_: Floats

    def _read_training(
        self, X: Any, y: Any, *, categories: bool, missing: bool, remedy: str = ""
    ) -> tuple[AnyArray, AnyArray]:
        """The rows as a float matrix, and the labels; remembers how the columns are coded."""
        categorical = categorical_columns(X)
        self._frame = None
        if categorical:
            if not categories:
                names = [X.columns[j] for j in categorical]
                raise ValueError(f"X has categorical columns {names}, which {remedy}")
            self._frame = FrameEncoder(X, categorical)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        matrix, y = self._read(X, missing=missing, y=y)
        check_classification_targets(y)
        return matrix, y

    def _read(self, X: Any, *, missing: bool, y: Any = None) -> Any:
        """Validate X (and y while fitting), categories encoded."""
        reset = y is not None
        checks: dict[str, Any] = {
            "dtype": [np.float64, np.float32],
            "ensure_all_finite": "allow-nan" if missing else True,
        }
        if self._frame is None:
            return validate_data(self, X, **({"y": y} if reset else {}), reset=reset, **checks)
        validate_data(self, X, reset=reset, skip_check_array=True)
        matrix = check_array(self._frame.transform(X), estimator=self, **checks)
        if not reset:
            return matrix
        y = np.asarray(y)
        if y.shape != (len(matrix),):
            raise ValueError(
                f"y must have shape ({len(matrix)},), one label per row of X; got {y.shape}."
            )
        return matrix, y

    def _check_classes(self) -> None:
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs rows of at least two classes, and there is only one "
                f"class: {self.classes_.tolist()}."
            )

    def _check_stakes(self, costs: Costs, weights: Floats) -> None:
        if not costs.reduced[weights > 0].any():
            raise ValueError(
                f"Every decision costs {type(self).__name__} the same, so there is nothing to "
                "learn. Give cost_matrix or costs at least one entry that tells decisions apart."
            )

    def _warn_if_collapsed(
        self,
        decisions: Ints,
        remedy: str = "give the weak learner more room",
        stacklevel: int = 4,
    ) -> None:
        """Say it once when one decision is made for every training row."""
        if decisions.min() == decisions.max():
            label = self.classes_.tolist()[int(decisions[0])]
            remedy = remedy[0].upper() + remedy[1:]
            if self._costs_differ():
                remedy = f"Is the cost ratio meant to be so high? Look at cost_matrix_. {remedy}"
            warnings.warn(
                f"{type(self).__name__} predicts class {label!r} for every training row. {remedy}.",
                CollapseWarning,
                stacklevel=stacklevel,
            )

    def _costs_differ(self) -> bool:
        """Whether the costs say more than "every mistake costs the same"."""
        matrix = self.cost_matrix_
        reduced = matrix - matrix.min(axis=1, keepdims=True)
        paid = reduced[reduced > 0]
        return bool((np.diag(reduced) > 0).any() or (paid.size and paid.min() < paid.max()))
