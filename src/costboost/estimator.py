"""The base of every classifier: tables and costs are read, rows are answered, results are written.

`CostSensitiveClassifier.decide` is the one door: columns, scores, probabilities, expected costs,
decisions. Everything else uses the `Decisions` that it returns.
"""

from __future__ import annotations

import copy
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import cache, partial
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from costboost._typing import AnyArray, Floats, Ints
from costboost._utils import check_classes, checked_labels
from costboost.columns import Columns, Exclusion, Rows
from costboost.columns.columns import dense_or_csr
from costboost.columns.inference import ColumnStatistics, column_statistics
from costboost.columns.table import Table, check_table, checked_numbers, has_columns
from costboost.costs import (
    Costs,
    CostSpec,
    CostSummary,
    RealizedCosts,
    read_costs,
    read_realized_costs,
    summarize,
)
from costboost.costs.costs import same_labels
from costboost.costs.given import check_training_costs, is_prices, row_costs
from costboost.costs.labels import check_same_index, codes_of
from costboost.costs.spec import (
    Context,
    columns_of,
    named_labels,
    positive_code,
    positive_of,
)
from costboost.decisions import (
    Budget,
    Decisions,
    Rate,
    Sensitivity,
    break_even,
    read_limits,
    sensitivity,
)
from costboost.decisions.arrays import column_of
from costboost.errors import CollapseWarning, ColumnWarning
from costboost.metrics import avoidable_cost_score

if TYPE_CHECKING:
    from costboost.report import ReportData


class CostSensitiveClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A classifier that knows what decisions cost, reports in money and can be saved to a file.

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
    cost_spec_ : CostSpec
        The ``cost_matrix`` of the fit, parsed; the caller's may change afterwards.
    cost_matrix_ : array of shape (k, d)
        The costs, averaged over the rows where they differ.
    trained_at_ : str
        When the fit ended, UTC.
    data_fingerprint_ : str
        A SHA-256 of all training rows, where they were in memory.
    """

    _needs_classes_as_decisions: ClassVar[bool] = False
    """Whether the algorithm decides only for classes."""

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle and skops, without keys that are pairs and without frames."""
        state = dict(super().__getstate__())
        if "cost_spec_" in state:
            state["_fitted_costs"] = state.pop("cost_spec_").form
        forms = []
        for name in ("cost_matrix", "_fitted_costs"):
            plain = _without_pairs_and_frames(state.get(name))
            if plain is not None:
                forms.append([name, *plain])
                state[name] = None
        if forms:
            state["_forms"] = forms
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        for name, kind, *content in state.pop("_forms", ()):
            if kind == "pairs":
                form: Any = dict(*content)
            else:
                import pandas as pd

                form = pd.DataFrame(*content)
            state[name] = form
        is_fitted = "_fitted_costs" in state
        form = state.pop("_fitted_costs", None)
        super().__setstate__(state)
        if is_fitted:
            self.cost_spec_ = self._parse_costs(form)

    cost_matrix: Any
    classes_: AnyArray
    decisions_: AnyArray
    costs_: CostSummary
    cost_matrix_: Floats
    # The ``cost_matrix`` of the fit, and where the costs came from: "cost_matrix", "matrix" (one
    # for all rows, by ``costs``) or "rows" (costs of single rows).
    cost_spec_: CostSpec
    _decides_by_other_costs: bool = False  # those of `with_costs`
    _costs_source: str
    columns: Any = None
    columns_: Columns

    # -- rows of a fit --------------------------------------------------------------------------

    def _learner(self) -> Any:
        """What learns from X: it accepts missing values, categories and sparse rows, or not."""
        return _ALL

    def __sklearn_tags__(self) -> Any:
        tags, learner = super().__sklearn_tags__(), self._learner()
        tags.input_tags.allow_nan = learner.accepts_missing
        tags.input_tags.sparse = learner.accepts_sparse
        return tags

    def _read_training(self, X: Any, y: Any) -> tuple[AnyArray, AnyArray, Ints]:
        """The rows as a float matrix, the labels, and their places in ``classes_``."""
        # Learns the classes, and what becomes of the columns.
        # A sparse X, where it is accepted, becomes a ``scipy.sparse.csr_matrix``.
        owner, learner = type(self).__name__, self._learner()
        check_table(X, owner)
        checks = _checks(learner.accepts_missing, learner.accepts_sparse)
        target = str(getattr(y, "name", None) or "")
        y = checked_labels(y, owner)
        if not has_columns(X):
            if self.columns:
                raise ValueError(
                    f"The 'columns' parameter of {owner} names columns, and X, of type "
                    f"{type(X).__name__}, has no names. Pass a data frame."
                )
            matrix, y = checked_numbers(partial(validate_data, self), X, y=y, **checks)
            self.columns_ = Columns((), matrix.shape[1])
            matrix = dense_or_csr(matrix)
        else:
            table = Table(X)
            validate_data(self, X, skip_check_array=True)
            self.columns_ = self._learn_columns(column_statistics(table, self.columns), target)
            coded = [self.columns_.inputs[j] for j in self.columns_.categorical]
            if coded and not learner.accepts_categories:
                raise ValueError(
                    f"X has categorical columns {coded}, which the weak learner {learner} of "
                    f"{owner} cannot take. Encode them, or use estimator='tree'."
                )
            matrix = self._read(X)
            y = np.asarray(y)
            if y.shape != (matrix.shape[0],):
                n = matrix.shape[0]
                raise ValueError(f"y must have shape ({n},), a label per row of X; got {y.shape}.")
        return matrix, y, learn_classes(self, y)

    def _learn_columns(self, seen: Mapping[Any, ColumnStatistics], target: str) -> Columns:
        """What becomes of the columns, with a warning that names those that are left out."""
        priced = columns_of(self.cost_matrix)
        only_costs = priced if getattr(self, "cost_columns", "") == "exclude" else []
        found = Columns.from_table(
            seen,
            kinds=self.columns,
            exclude=dict.fromkeys(only_costs, Exclusion.COSTS_ONLY),
            keep=priced,
            target=target,
        )
        odd = found.surprising
        if odd:
            named = "; ".join(f"{column.name!r} ({column.note})" for column in odd)
            warnings.warn(
                f"{type(self).__name__} leaves out columns that say nothing about new rows: "
                f"{named}. Drop them, or say what they are: columns={{{odd[0].name!r}: 'ignore'}}.",
                ColumnWarning,
                stacklevel=6,
            )
        return found

    def _read(self, X: Any) -> Any:
        """Return the inputs of the model, from a table with the columns of the fit."""
        inputs, learner = self.columns_.read(X, estimator=self).inputs, self._learner()
        if learner.accepts_missing and learner.accepts_sparse and inputs.shape[0]:
            return inputs  # a check takes longer than the trees of a row
        checks = _checks(learner.accepts_missing, learner.accepts_sparse)
        return checked_numbers(check_array, inputs, self.columns_.inputs, estimator=self, **checks)

    def _typed(self, X: Any, form: Any) -> Any:
        """X as expressions read it, where costs are expressions over columns."""
        columns = getattr(self, "columns_", None)
        if (
            isinstance(X, Rows)
            or columns is None
            or not columns.columns
            or not columns_of(form)
            or not has_columns(X)
        ):
            return X
        return Rows(columns, Table(X), f"X of {type(self).__name__}", 0)

    def _learn_costs(
        self, costs: Any, codes: Ints, X: Any, weights: Floats | None
    ) -> RealizedCosts:
        """The costs of the training rows; sets the fitted attributes that describe them."""
        self.cost_spec_ = self._parse_costs(deepcopy(self.cost_matrix))
        known = self._training_costs(costs, X, codes)
        spec = self.cost_spec_ if costs is None else None
        check_training_costs(known, spec, self._typed(X, spec), type(self).__name__)
        self.decisions_, self.costs_ = known.decisions, summarize(known, weights)
        self.cost_matrix_ = known.mean_matrix(weights)
        per_row = "rows" if known.is_per_row else "matrix"
        self._costs_source = "cost_matrix" if costs is None else per_row
        return known

    def _training_costs(self, costs: Any, X: Any, codes: Ints) -> RealizedCosts:
        """The costs of rows that a training sees or watches."""
        how = self._how_to_read(self.cost_spec_, costs, X)
        return read_realized_costs(self.cost_spec_, costs, y_index=codes, **how)

    def _parse_costs(self, form: Any) -> CostSpec:
        """Parse a cost matrix for the classes of the fit."""
        return CostSpec.parse(
            form,
            self.classes_,
            owner=type(self).__name__,
            as_classes=self._needs_classes_as_decisions,
        )

    def _how_to_read(self, cost_matrix: Any, costs: Any, X: Any) -> dict[str, Any]:
        """What readers of costs must know."""
        return {
            "classes": self.classes_,
            "X": self._typed(X, cost_matrix if costs is None else costs),
            "index": check_same_index(type(self).__name__, X=X),
            "owner": type(self).__name__,
            "as_classes": self._needs_classes_as_decisions,
        }

    def _read_eval_set(
        self,
        eval_set: Any,
        resolve: Callable[..., RealizedCosts],
        training: RealizedCosts,
        *,
        has_costs: bool,
    ) -> tuple[AnyArray, RealizedCosts]:
        """The rows of another table that a training watches, and what decisions cost on them."""
        # ``resolve`` is asked for the costs of its rows: (costs, X, codes) -> RealizedCosts.
        owner = type(self).__name__
        what = f"The 'eval_set' argument of {owner}.fit"
        if not isinstance(eval_set, (tuple, list)) or len(eval_set) not in (2, 3):
            size = f" of length {len(eval_set)}" if hasattr(eval_set, "__len__") else ""
            given = f"{type(eval_set).__name__}{size}"
            raise ValueError(f"{what} must be (X, y) or (X, y, costs), got {given}.")
        X, y = eval_set[:2]
        costs = eval_set[2] if len(eval_set) == 3 else None
        try:
            matrix: AnyArray = self._read(X)
        except ValueError as error:
            raise ValueError(
                f"{what} must have the columns of the training rows. {error}"
            ) from error
        labels = np.asarray(checked_labels(y, owner))
        if labels.shape != (matrix.shape[0],):
            raise ValueError(
                f"{what} has {matrix.shape[0]} rows in X and labels of shape {labels.shape}."
            )
        codes = codes_of(
            labels.tolist(), self.classes_, f"y of {what[4:]}", "Leave these rows out."
        )
        if costs is None and has_costs:
            raise ValueError(f"{what} must have costs, as the training rows: pass (X, y, costs).")
        known = resolve(costs, X, codes)
        if not same_labels(known.decisions, training.decisions):
            raise ValueError(
                f"{what} has costs of the decisions {known.decisions.tolist()}, and the training "
                f"rows of {training.decisions.tolist()}."
            )
        return matrix, known

    def _warn_if_collapsed(
        self, decisions: Ints, remedy: str = "give the weak learner more room", stacklevel: int = 4
    ) -> None:
        """Say it once when one decision is made for every training row."""
        if decisions.min() < decisions.max():
            return
        remedy = remedy[0].upper() + remedy[1:]
        if not np.array_equal(self.cost_matrix_, 1.0 - np.eye(len(self.classes_))):
            remedy = f"Is the cost ratio meant to be so high? Look at cost_matrix_. {remedy}"
        label = self.decisions_.tolist()[int(decisions[0])]
        warnings.warn(
            f"{type(self).__name__} decides {label!r} for every training row. {remedy}.",
            CollapseWarning,
            stacklevel=stacklevel,
        )

    # -- what subclasses compute of rows ----------------------------------------------------------

    @abstractmethod
    def _score(self, X: Any) -> Floats:
        """Return what the model computes of each row, by one pass over it."""

    @abstractmethod
    def _proba_of(self, scores: Floats) -> Floats:
        """Return the probability of each class, (n, k)."""

    def _decide_by_score(self, scores: Floats) -> Ints:
        """Return the decisions by scores that have learned the costs of the fit."""
        raise NotImplementedError(f"{type(self).__name__} decides by expected costs alone.")

    def _decides_by_score(self) -> bool:
        """Return True if the scores decide, where neither costs nor limits are given."""
        if self._decides_by_other_costs:
            self._check_probabilities("predict")
            return False
        # Costs of columns are those of the row at hand, which no score has learned.
        return not self.cost_spec_.is_per_row or bool(self._lack_of_probabilities())

    # -- costs to decide by -----------------------------------------------------------------------

    def _decision_costs(self, costs: Any, n_samples: int, X: Any) -> Costs:
        """The rows' costs when the truth is unknown: those given, of the columns, or of the fit."""
        is_fitted = costs is None and not self._decides_by_other_costs
        if is_fitted and not self.cost_spec_.is_per_row:
            return self._costs_of_fit(X)
        return self._resolved(self.cost_spec_, costs, X, n_samples)

    def _costs_of_fit(self, X: Any) -> Costs:
        """The rows' costs, where nothing but the fit tells them: its mean costs."""
        return Costs(self.cost_matrix_, self.classes_, self.decisions_)

    def _resolved(self, cost_matrix: Any, costs: Any, X: Any, n_rows: int | None = None) -> Costs:
        """Costs of rows, in the order of the fit's decisions."""
        how = self._how_to_read(cost_matrix, costs, X)
        return read_costs(cost_matrix, costs, decisions=self.decisions_, n_rows=n_rows, **how)

    def _realized(self, cost_matrix: Any, costs: Any, X: Any, y_index: Ints) -> RealizedCosts:
        """Costs of rows whose classes are known, in the order of the fit's decisions."""
        how = self._how_to_read(cost_matrix, costs, X)
        return read_realized_costs(
            cost_matrix, costs, decisions=self.decisions_, y_index=y_index, **how
        )

    def _lack_of_probabilities(self) -> str:
        """Why there are no probabilities of the classes to decide by; empty if there are."""
        if hasattr(self, "predict_proba"):
            return ""
        return "has learned decisions and no probabilities"

    def _check_probabilities(self, what: str) -> None:
        lack = self._lack_of_probabilities()
        if lack:
            raise ValueError(
                f"{type(self).__name__} {lack}, so {what} cannot use other costs or limits. Fit "
                "it anew with them, or use CostBoostClassifier(loss='auto') or MinCostClassifier."
            )

    # -- decisions ------------------------------------------------------------------------------

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        check_is_fitted(self)
        return len(self.classes_)

    def predict(self, X: Any, *, costs: Any = None) -> AnyArray:
        """The cheapest decision for each row.

        Without ``costs``, scores that have learned the costs of the fit decide by themselves;
        other classifiers take the decision of smallest expected cost under those costs. Where the
        costs of single rows are known when deciding, a score that has learned the rows' costs
        holds them already: fit on the mean costs, or use a classifier that decides by
        probabilities.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.
        costs : array of shape (n, k, d), matrix, frame or mapping, optional
            The costs to decide by: a matrix per row, or one for all rows (a what-if). The decision
            is then the one of smallest expected cost, by the probabilities; so it is if
            ``cost_matrix`` holds expressions or is a function, which give the costs of each row.

        Returns
        -------
        array of shape (n,)
            Labels of ``decisions_``.
        """
        return self.decide(X, costs=costs).labels

    @available_if(lambda model: hasattr(model, "predict_proba"))  # type: ignore[untyped-decorator]
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

    def predict_cost(self, X: Any, *, costs: Any = None) -> Floats:
        """The expected cost of every decision on each row.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.
        costs : array, frame or mapping, optional
            The costs to decide by, as in `predict`; by default those of the columns or of the fit.
            `CostBoostClassifier` expects costs of single rows that it is not told.

        Returns
        -------
        array of shape (n, d)
            A column per decision, in the order of ``decisions_``.
        """
        expected_cost: Floats = self._decide_with_costs(X, costs, "predict_cost").expected_cost
        return expected_cost

    def decide(
        self,
        X: Any,
        *,
        costs: Any = None,
        capacity: Mapping[Any, Any] | None = None,
        per: Any = None,
        constraints: Sequence[Rate | Budget] | Rate | Budget | None = (),
        prices: ArrayLike | None = None,
    ) -> Decisions:
        """Decide rows at the least expected cost, within limits if there are any.

        An algorithm whose scores have learned the costs decides by them, as its paper says, until
        costs or limits are given (``basis`` is then "score"). `predict` takes the same decisions.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.
        costs : array, frame or mapping, optional
            The costs to decide by, as in `predict`.
        capacity : mapping of decision to limit, optional
            How many rows may get a decision: ``{"review": 200}``, a share of the rows
            ``{"review": 0.02}``, or a pair ``(lower, upper)``.
        per : str or array of shape (n,), optional
            Group of each row, such as its day, or the name of that column: limits hold in each.
        constraints : Rate, Budget or sequence of them, optional
            Limits on expected rates and on sums of money; see `costboost.decisions`.
        prices : array of shape (d,), optional
            Prices of the decisions by `costboost.decisions.capacity_prices`, added to the costs:
            for rows that arrive one by one.

        Returns
        -------
        Decisions
            Labels, expected costs and savings, and the price of each limit: what one unit more
            would save.

        Examples
        --------
        >>> import pandas as pd
        >>> from costboost import MinCostClassifier
        >>> from costboost.datasets import make_fraud
        >>> data = make_fraud(2000, random_state=0)
        >>> prices = pd.DataFrame(
        ...     [[0, 4, 30], [200, 4, 0]], index=[0, 1], columns=["accept", "review", "block"]
        ... )
        >>> model = MinCostClassifier(cost_matrix=prices, n_jobs=1).fit(data.X, data.y)
        >>> decided = model.decide(data.X, capacity={"review": 20})
        >>> bool((decided.labels == "review").sum() <= 20)
        True
        >>> decided.limit_prices["review"] >= 0
        True
        """
        check_is_fitted(self)
        has_limits = capacity is not None or prices is not None or bool(constraints)
        by_score = costs is None and not has_limits and self._decides_by_score()
        if not by_score:
            self._check_probabilities("decide")
        scores = self._score(X)
        if by_score and self._lack_of_probabilities():
            chosen = self._decide_by_score(scores)
            return Decisions(chosen, self.decisions_, self.classes_, basis="score")

        proba = self._proba_of(scores)
        row_costs = self._decision_costs(costs, len(proba), X)
        if by_score:
            return Decisions(
                self._decide_by_score(scores),
                row_costs.decisions,
                self.classes_,
                proba=proba,
                expected_cost=row_costs.expected(proba),
                costs=row_costs,
                basis="score",
            )
        limits = read_limits(
            capacity, constraints, prices, row_costs.decisions, proba=proba, classes=self.classes_
        )
        groups = column_of(per, X, "per", "decide")
        return Decisions.from_proba(proba, row_costs, limits, groups=groups)

    def break_even(self, X: Any, entry: Any, *, costs: Any = None) -> Floats:
        """The amount of one cost at which the decision of each row flips, all others kept.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.
        entry : "fn", "fp", "tp", "tn" or (truth, decision)
            The cost. The short names need two classes as decisions, and a positive class that
            ``cost_matrix`` names or that is usual.
        costs : array, frame or mapping, optional
            The other costs, as in `predict`.

        Returns
        -------
        array of shape (n,)
            Below the amount the row gets the decision of the entry, from it on another; NaN if no
            amount flips it.
        """
        decided = self._decide_with_costs(X, costs, "break_even")
        return break_even(
            decided.proba,
            decided.costs.matrix,
            entry,
            classes=self.classes_,
            decisions=decided.decisions,
            positive=self._positive_label([entry], costs, "break_even"),
        )

    def sensitivity(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        costs: Any = None,
        entries: Sequence[Any] | None = None,
        **options: Any,
    ) -> Sensitivity:
        """What it would cost if stated costs were off by a factor.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.
        y : array of shape (n,), optional
            Their true classes: costs are then the realised ones, else the expected ones.
        costs : array, frame or mapping, optional
            The stated costs, as in `predict`.
        entries : sequence of (truth, decision), "fn", "fp", "tp" or "tn", optional
            What may be wrong; by default every cost that is not 0.
        **options
            ``factors``, ``rivals`` and ``sample_weight`` of `costboost.decisions.sensitivity`.

        Returns
        -------
        Sensitivity
            Costs, regrets, and the factors beyond which another rule is cheaper.
        """
        decided = self._decide_with_costs(X, costs, "sensitivity")
        return sensitivity(
            decided.proba,
            decided.costs.matrix,
            y,
            classes=self.classes_,
            decisions=decided.decisions,
            entries=entries,
            positive=self._positive_label(entries or (), costs, "sensitivity"),
            **options,
        )

    def _decide_with_costs(self, X: Any, costs: Any, what: str) -> Any:
        """Return decisions that have probabilities and costs, which `what` needs."""
        check_is_fitted(self)
        self._check_probabilities(what)
        return self.decide(X, costs=costs)

    def _positive_label(self, entries: Sequence[Any], costs: Any, what: str) -> Any:
        """The positive class of entries that are named fn, fp, tp or tn."""
        named = positive_of(self.cost_spec_ if costs is None else self._read_row_costs(costs))
        if len(self.classes_) != 2 or not any(isinstance(entry, str) for entry in entries):
            return named
        owner = f"{type(self).__name__}.{what}"
        return self.classes_.tolist()[positive_code(named, self.classes_, "entry", owner)]

    def with_costs(self, cost_matrix: Any) -> Self:
        """The same fitted model, deciding by other costs, without training again.

        The probabilities stay as they are; only the decisions change. The costs may name other
        decisions.

        Parameters
        ----------
        cost_matrix : array, frame, mapping or None
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
        other.cost_spec_ = self._parse_costs(deepcopy(cost_matrix))
        other.decisions_ = other.cost_spec_.decisions
        other._decides_by_other_costs = True
        if other.cost_spec_.is_per_row:
            # They depend on the rows: no summary of the rows of the fit would be true.
            for name in ("costs_", "cost_matrix_"):
                other.__dict__.pop(name, None)
            return other
        costs = other.cost_spec_.evaluate()
        other.costs_, other.cost_matrix_ = summarize(costs), np.array(costs.matrix)
        return other

    # -- the score ------------------------------------------------------------------------------

    def score(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        costs: Any = None,
    ) -> float:
        """Share of the avoidable cost that the decisions avoid.

        The avoidable cost is what the best constant decision costs beyond the cheapest decision of
        every row; see `costboost.metrics.avoidable_cost_score`. Where right decisions cost nothing
        it equals `costboost.metrics.savings_score`.

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
            1 if every row is decided right, 0 if the best constant decision does as well, below 0
            if it does better.
        """
        check_is_fitted(self)
        check_same_index(f"{type(self).__name__}.score", X=X, y=y, sample_weight=sample_weight)
        costs = self._read_row_costs(costs)
        form = self._judging_costs(costs)
        decided = self.predict(X, costs=self._known_when_deciding(costs, len(np.asarray(y))))
        # A labelled matrix, or none, also prices truths that the training rows lacked.
        is_named = len(named_labels(form)[0]) > 1 or getattr(form, "form", form) is None
        names_all = costs is None and is_named
        classes = np.union1d(self.classes_, np.asarray(y)) if names_all else self.classes_
        is_usual = same_labels(self.decisions_, self.classes_)
        return float(
            avoidable_cost_score(
                y,
                decided,
                cost_matrix=form if costs is None else None,
                costs=costs,
                labels=classes,
                decisions=None if costs is None and is_usual else self.decisions_,
                sample_weight=sample_weight,
                X=self._typed(X, form),
            )
        )

    def _judging_costs(self, costs: Any) -> Any:
        """The costs that rows are judged by: given, ``cost_matrix``, or the one matrix of fit."""
        if costs is not None:
            return costs
        source = self._costs_source
        if source == "rows":
            raise ValueError(
                f"{type(self).__name__} was fitted with costs of single rows, so score needs those "
                "of these rows: pass costs=. In pipelines and cross-validation use "
                "set_score_request(costs=True), or write the costs as expressions over columns, "
                'cost_matrix={"fn": "amount", "fp": 5}.'
            )
        if source == "matrix" and not self._decides_by_other_costs:
            return Costs(self.cost_matrix_, self.classes_, self.decisions_)
        return self.cost_spec_

    def _read_row_costs(self, costs: Any) -> Any:
        """Costs whose frame has the columns fn and fp as a mapping, the positive class named."""
        labels = [*self.classes_.tolist(), *self.decisions_.tolist()]
        return row_costs(costs, labels, positive_of(self.cost_spec_))

    def _known_when_deciding(self, costs: Any, n: int) -> Any:
        """The costs, if `predict` can use them: a matrix, and not prices under the truth."""
        if costs is None or self._lack_of_probabilities():
            return None
        owner = type(self).__name__
        context = Context(self.classes_, self.decisions_, "costs", owner)
        form = self._read_row_costs(costs)
        if is_prices(form, context, n_rows=n, has_truth=True):
            return None
        return costs

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """What notebooks show: scikit-learn's diagram, and the costs of a fit in words."""
        found: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in found and hasattr(self, "costs_"):
            found["text/html"] += f"<pre>{escape(str(self.costs_))}</pre>"
        return found

    # -- reports and files ----------------------------------------------------------------------

    def judged(self, X: Any, y: ArrayLike, *, costs: Any = None) -> tuple[Decisions, RealizedCosts]:
        """Decide rows whose classes are known, and price their decisions.

        Parameters
        ----------
        X, y, costs
            As in `score`.

        Returns
        -------
        decided : Decisions
            The decisions, with the probabilities and the costs that they were taken by.
        known : RealizedCosts
            What each decision costs on each row, given its class.
        """
        check_is_fitted(self)
        self._check_probabilities("report")
        form = self._judging_costs(costs)
        start, remedy = f"y of {type(self).__name__}", "Drop those rows, or fit on rows of all."
        codes = codes_of(np.asarray(y).tolist(), self.classes_, start, remedy)
        known = self._realized(form, costs, X, codes)
        usable = costs if known.matrix is not None else None
        return self.decide(X, costs=usable), known

    def report_data(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        costs: Any = None,
        **options: Any,
    ) -> ReportData:
        """The numbers of `report`, as objects.

        Parameters
        ----------
        X, y, sample_weight, costs, **options
            As in `report`.

        Returns
        -------
        ReportData
            All numbers of the page.
        """
        from costboost.report import report_data
        from costboost.report.case import case_of

        return report_data(case_of(self, X, y, sample_weight, costs=costs, **options))

    def report(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        costs: Any = None,
        path: str | Path = "report.html",
        **options: Any,
    ) -> Path:
        """Write a report in money about the decisions on these rows: one HTML file.

        Parameters
        ----------
        X : table of shape (n, d)
            Rows that the model was not fitted on.
        y : array of shape (n,)
            Their true classes.
        sample_weight : array of shape (n,), optional
            Weights of the rows.
        costs : array, frame or mapping, optional
            Costs of the rows, as in `score`.
        path : str or Path, default="report.html"
            The file to write. It needs no network to be read.
        **options
            ``groups``, ``time``, ``segments``, ``nothing``, ``positive``, ``rivals``, ``ids``,
            ``title`` and ``unit`` of `costboost.report.case.case_of`.

        Returns
        -------
        Path
            The file.
        """
        from costboost.report import write_report
        from costboost.report.case import case_of

        return write_report(case_of(self, X, y, sample_weight, costs=costs, **options), path)

    def save(self, path: str | os.PathLike[str], *, row_hashes: bool = True) -> Path:
        """Write the fitted classifier to a model file, which holds no code.

        `costboost.load` reads it. The file appears when it is complete: a crash leaves an old file
        as it was. ``docs/files.md`` describes the format.

        Parameters
        ----------
        path : str or path
            The file, usually with the ending ``.costboost``.
        row_hashes : bool, default=True
            Whether the file keeps hashes of training rows, by which reports notice rows that the
            model was trained on. Whoever has the file and a row can tell by them whether it was.

        Returns
        -------
        Path
            The file.
        """
        from costboost.files import save

        model = self
        if not row_hashes and hasattr(self, "row_hashes_"):
            model = copy.copy(self)
            model.row_hashes_ = None
        return save(model, path)

    def to_onnx(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Write the probabilities of the fitted classifier as an ONNX graph, for other runtimes.

        `CostBoostClassifier` with ``loss="auto"`` can be written. The decision is the cheapest one
        by the probabilities, ``(p @ C).argmin(axis=1)``; ``docs/files.md`` describes the inputs.

        Parameters
        ----------
        path : str or path, optional
            The file to write; without it the graph is only returned.

        Returns
        -------
        onnx.ModelProto
            The graph.
        """
        from costboost.onnx import to_onnx

        return to_onnx(self, path)


def _without_pairs_and_frames(form: Any) -> list[Any] | None:
    """Return costs by pairs of labels, or in a frame, as lists; None for others."""
    if type(form) is dict and any(type(key) is tuple for key in form):
        return ["pairs", list(form.items())]
    if hasattr(form, "iloc"):
        cells = [column.tolist() for _, column in form.items()]
        rows = [list(row) for row in zip(*cells, strict=True)]
        return ["frame", rows, form.index.tolist(), form.columns.tolist()]
    return None


# A learner of a booster, or of another classifier, that takes every kind of rows.
_ALL = SimpleNamespace(accepts_missing=True, accepts_categories=True, accepts_sparse=True)


@cache
def _checks(missing: bool, sparse_rows: bool) -> dict[str, Any]:
    """What scikit-learn is to check of a matrix."""
    return {
        "dtype": [np.float64, np.float32],
        "ensure_all_finite": "allow-nan" if missing else True,
        "accept_sparse": "csr" if sparse_rows else False,
    }


def learn_classes(classifier: Any, y: AnyArray) -> Ints:
    """Set ``classes_``; returns the index of each row's label among them."""
    check_classification_targets(y)
    classifier.classes_, codes = np.unique(y, return_inverse=True)
    is_binary = not get_tags(classifier).classifier_tags.multi_class
    check_classes(classifier.classes_, type(classifier).__name__, binary=is_binary)
    return codes
