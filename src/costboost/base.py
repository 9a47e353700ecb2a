"""The estimator bases: costs in, cheapest decision out, scikit-learn conventions throughout."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, validate_data

from costboost._frames import (
    FrameEncoder,
    as_csr,
    categorical_columns,
    check_table,
    is_sparse,
    odd_columns,
    warn_of,
)
from costboost._typing import AnyArray, Floats, Ints
from costboost._validation import (
    checked_labels,
)
from costboost.cost_sensitive import CostSensitiveClassifier
from costboost.costs import KnownCosts
from costboost.costs.table import same_labels
from costboost.errors import CollapseWarning

__all__ = ["TableClassifier"]


class TableClassifier(CostSensitiveClassifier):
    """A classifier that reads tables itself: numbers, categories, missing values, sparse rows."""

    _frame: FrameEncoder | None
    cost_matrix_: Floats

    def _read_training(
        self,
        X: Any,
        y: Any,
        *,
        categories: bool,
        missing: bool,
        sparse_rows: bool,
        remedy: str = "",
    ) -> tuple[AnyArray, AnyArray]:
        """The rows as a float matrix, and the labels; remembers how the columns are coded."""
        # A sparse X, where it is accepted, becomes a ``scipy.sparse.csr_matrix``.
        categorical, odd = categorical_columns(X), odd_columns(X)
        self._frame = None
        if categorical:
            names = [X.columns[j] for j in categorical if j not in odd]
            if names and not categories:
                raise ValueError(f"X has categorical columns {names}, which {remedy}")
            self._frame = FrameEncoder(X, categorical, odd)
        if odd:
            warn_of(odd, X, type(self).__name__)
        y = checked_labels(y, type(self).__name__)
        matrix, y = self._read(X, missing=missing, sparse_rows=sparse_rows, y=y)
        check_classification_targets(y)
        return matrix, y

    def _read(self, X: Any, *, missing: bool, sparse_rows: bool, y: Any = None) -> Any:
        """Validate X (and y while fitting), categories encoded."""
        check_table(X, type(self).__name__)
        reset = y is not None
        checks: dict[str, Any] = {
            "dtype": [np.float64, np.float32],
            "ensure_all_finite": "allow-nan" if missing else True,
        }
        if self._frame is None:
            checks["accept_sparse"] = "csr" if sparse_rows else False
            # scikit-learn sums X to look for infinities of both signs.
            with np.errstate(invalid="ignore"):
                if not reset:
                    return _plain(validate_data(self, X, reset=False, **checks))
                matrix, y = validate_data(self, X, y=y, reset=True, **checks)
            return _plain(matrix), y
        if not hasattr(X, "columns"):
            raise ValueError(
                f"X of {type(self).__name__} must be a data frame, as in fit, because it has "
                f"columns that are not numbers; got {type(X).__name__}. Pass a frame with the "
                f"columns {list(getattr(self, 'feature_names_in_', []))}."
            )
        validate_data(self, X, reset=reset, skip_check_array=True)
        with np.errstate(invalid="ignore"):
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

    def _check_stakes(self, costs: KnownCosts, weights: Floats) -> None:
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
            label = self.decisions_.tolist()[int(decisions[0])]
            remedy = remedy[0].upper() + remedy[1:]
            if self._costs_differ():
                remedy = f"Is the cost ratio meant to be so high? Look at cost_matrix_. {remedy}"
            warnings.warn(
                f"{type(self).__name__} decides {label!r} for every training row. {remedy}.",
                CollapseWarning,
                stacklevel=stacklevel,
            )

    def _costs_differ(self) -> bool:
        """Whether the costs say more than "every mistake costs the same"."""
        matrix = self.cost_matrix_
        if not same_labels(self.decisions_, self.classes_):
            return True
        reduced = matrix - matrix.min(axis=1, keepdims=True)
        paid = reduced[reduced > 0]
        return bool((np.diag(reduced) > 0).any() or (paid.size and paid.min() < paid.max()))


def _plain(matrix: Any) -> Any:
    """An array as it is; sparse rows as the matrix type that all engines know."""
    return as_csr(matrix) if is_sparse(matrix) else matrix
