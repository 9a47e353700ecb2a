"""How costs enter a classifier, and the savings score."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import Costs, CostSummary, KnownCosts
from costboost.costs.forms import Reader, decisions_of, is_labelled, varies
from costboost.costs.table import same_labels
from costboost.costs.uncertain import scenarios
from costboost.metrics import savings_score

if TYPE_CHECKING:
    pass


__all__ = ["CostClassifier"]


class CostClassifier(ClassifierMixin, BaseEstimator):
    """A classifier that knows what decisions cost.

    Attributes
    ----------
    classes_ : array of shape (k,)
        The classes.
    n_classes_ : int
        Their number.
    decisions_ : array of shape (d,)
        The decisions, which `predict` returns; the classes unless the costs name others.
    costs_ : CostSummary
        The costs of the fit; ``print`` shows them in words.
    cost_matrix_ : array of shape (k, d)
        The costs, averaged over the rows where they differ.
    trained_at_ : str
        When the fit ended, UTC.
    data_fingerprint_ : str
        A SHA-256 of all training rows, where they were in memory.
    """

    _needs_classes_as_decisions: ClassVar[bool] = False
    """Whether the algorithm decides only for classes."""

    cost_matrix: Any
    classes_: AnyArray
    decisions_: AnyArray
    costs_: CostSummary
    cost_matrix_: Floats
    _needs_costs: bool  # whether fit was given costs that X does not tell
    _was_given_costs: bool = False  # whether fit was given costs in place of cost_matrix
    _fitted_costs: Any  # the cost_matrix of the fit, to notice set_params

    # -- costs ----------------------------------------------------------------------------------

    def _truth_costs(
        self, costs: Any, codes: Ints, X: Any, classes: AnyArray | None = None
    ) -> KnownCosts:
        """The costs of rows whose truth is known, while fitting."""
        return Costs.resolve(
            self.cost_matrix,
            costs,
            classes=self.classes_ if classes is None else classes,
            n_samples=len(codes),
            X=X,
            codes=codes,
            owner=type(self).__name__,
            as_classes=self._needs_classes_as_decisions,
        )

    def _cost_state(self, known: KnownCosts, weights: Floats | None, costs: Any) -> dict[str, Any]:
        """The fitted attributes that describe the costs."""
        return {
            "decisions_": known.decisions,
            "costs_": known.summary,
            "cost_matrix_": known.average(weights),
            "_needs_costs": costs is not None and known.is_per_row,
            "_was_given_costs": costs is not None,
            "_fitted_costs": self.cost_matrix,
        }

    def _decision_costs(self, costs: Any, n_samples: int, X: Any) -> Costs:
        """The rows' costs when the truth is unknown: those given, of the columns, or of the fit."""
        if costs is None and not self._costs_changed() and not varies(self.cost_matrix):
            return Costs(self.classes_, self.cost_matrix_, self.decisions_)
        return self._resolved(self.cost_matrix if costs is None else None, costs, n_samples, X)

    def _resolved(self, cost_matrix: Any, costs: Any, n_samples: int, X: Any) -> Costs:
        """Costs of rows whose truth is unknown, in the order of the decisions of the fit."""
        return Costs.resolve(
            scenarios(cost_matrix).expected,
            None if costs is None else scenarios(costs).expected,
            classes=self.classes_,
            decisions=None if self._costs_changed() else self.decisions_,
            n_samples=n_samples,
            X=X,
            owner=type(self).__name__,
            as_classes=self._needs_classes_as_decisions,
        )

    def _stated_costs(self) -> Any:
        """The costs that rows are judged by: ``cost_matrix``, or the one matrix given to fit."""
        if self._was_given_costs and not self._costs_changed():
            return Costs(self.classes_, self.cost_matrix_, self.decisions_)
        return self.cost_matrix

    def _costs_changed(self) -> bool:
        """Whether ``cost_matrix`` was set anew after the fit."""
        return self.cost_matrix is not self._fitted_costs

    def _decides_by_costs(self, costs: Any) -> bool:
        """Whether `predict` weighs costs: given, of the columns, or set after the fit."""
        return costs is not None or varies(self.cost_matrix) or self._costs_changed()

    def with_costs(self, cost_matrix: Any) -> Self:
        """The same fitted model, deciding by other costs, without training again.

        The probabilities stay as they are; only the decisions change. The costs may name other
        decisions.

        Parameters
        ----------
        cost_matrix : array, frame, mapping, callable or None
            The costs, in any form of the constructor.

        Returns
        -------
        classifier
            A copy that shares the trained parts.

        Raises
        ------
        ValueError
            If the model has no probabilities that theory ties to its scores: its decisions hold the
            costs of the fit, and only a new fit can change them.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from costboost import MinCostClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = MinCostClassifier(cost_matrix={"fn": 1, "fp": 1}).fit(X, y)
        >>> careful = model.with_costs({"fn": 1, "fp": 50})
        >>> bool(careful.predict(X).sum() < model.predict(X).sum())
        True
        """
        check_is_fitted(self)
        self._check_probabilities("with_costs")
        other = copy.copy(self)
        other.cost_matrix = cost_matrix
        owner = type(self).__name__
        other.decisions_ = decisions_of(
            cost_matrix, self.classes_, owner, as_classes=self._needs_classes_as_decisions
        )
        if varies(cost_matrix):
            # They depend on the rows: no summary of the rows of the fit would be true.
            for name in ("costs_", "cost_matrix_"):
                other.__dict__.pop(name, None)
            return other
        costs = Costs.resolve(
            scenarios(cost_matrix).expected,
            classes=self.classes_,
            owner=owner,
            as_classes=self._needs_classes_as_decisions,
        )
        other.costs_, other.cost_matrix_ = costs.summary, costs.average()
        return other

    def _check_probabilities(self, what: str) -> None:
        """Raise a ValueError if the model has no probabilities to decide by other costs with."""
        if not hasattr(self, "predict_proba"):
            raise ValueError(
                f"{type(self).__name__} has learned decisions and no probabilities, so {what} "
                "cannot use other costs. Fit it anew with them, or use CostBoostClassifier or "
                "MinCostClassifier, which decide by probabilities."
            )

    @abstractmethod
    def predict(self, X: Any, costs: Any = None) -> AnyArray:
        """The cheapest decision for each row."""

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        check_is_fitted(self)
        return len(self.classes_)

    @available_if(lambda model: hasattr(model, "predict_proba"))
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the class probabilities.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, k)
            A column per class, in the order of ``classes_``; -inf for a probability of 0.
        """
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def score(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        costs: Any = None,
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
        costs : array of shape (n, k, d), (n, d) or (n,), frame or mapping, optional
            Costs of the rows. A matrix, one for all rows or one per row, is known at decision time,
            so the decisions use it too; prices, of shape (n, d) or (n,), only price the
            decisions. They must be given if `fit` was given costs of single rows.

        Returns
        -------
        float
            1 if nothing is lost, 0 for the cost of the best constant decision, below 0 if more.
        """
        check_is_fitted(self)
        self._check_costs_of_score(costs)
        usable = costs
        if costs is not None and not self._is_known_when_deciding(costs, y):
            usable = None
        decided = self.predict(X, costs=self._usable_costs(usable))
        form = self._stated_costs() if costs is None else None
        # A labelled matrix, or none, also prices truths that the training rows lacked.
        names_all = costs is None and (form is None or is_labelled(form))
        classes = np.union1d(self.classes_, np.asarray(y)) if names_all else self.classes_
        own = None if same_labels(self.decisions_, self.classes_) else self.decisions_
        return float(
            savings_score(
                y,
                decided,
                cost_matrix=scenarios(form).expected,
                costs=None if costs is None else scenarios(costs).expected,
                labels=classes,
                decisions=own,
                sample_weight=sample_weight,
                X=X,
            )
        )

    def _check_costs_of_score(self, costs: Any) -> None:
        """Refuse unit costs where the fit knew others."""
        if costs is None and self._needs_costs:
            raise ValueError(
                f"{type(self).__name__} was fitted with costs of single rows, so score needs the "
                "costs of these rows: pass costs=. In pipelines and cross-validation, request "
                "them by set_score_request(costs=True) with scikit-learn's metadata routing, or "
                'write the costs as expressions over columns, cost_matrix={"fn": "amount", "fp": '
                "5}."
            )

    def _is_known_when_deciding(self, costs: Any, y: ArrayLike) -> bool:
        """Whether costs tell what every decision costs under every truth."""
        reader = Reader(self.classes_, "costs", type(self).__name__, self.decisions_)
        codes = np.zeros(len(np.asarray(y)), dtype=np.intp)
        return not reader.are_prices(scenarios(costs).expected, codes)

    def _usable_costs(self, costs: Any) -> Any:
        """The rows' costs, if `predict` can use them."""
        return costs
