"""What decisions are expected to cost, and batches decided within limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from costboost._typing import Floats
from costboost.costs import Costs
from costboost.costs.forms import is_short
from costboost.costs.labels import positive_code
from costboost.decisions import Allocation, Budget, Rate, allocate, break_even

if TYPE_CHECKING:
    pass


from costboost.cost_sensitive.costs import CostClassifier

__all__ = ["DecidingClassifier"]


class DecidingClassifier(CostClassifier):
    """A classifier that says what each decision is expected to cost."""

    def predict_cost(self, X: Any, costs: Any = None) -> Floats:
        """The expected cost of every decision on each row.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.
        costs : array, frame or mapping, optional
            The costs to decide by, as in `predict`; by default those of the columns or of the fit.

        Returns
        -------
        array of shape (n, d)
            A column per decision, in the order of ``decisions_``.
        """
        return self._expected_costs(X, costs, "predict_cost")[2]

    def decide(
        self,
        X: Any,
        costs: Any = None,
        capacity: Mapping[Any, Any] | None = None,
        per: Any = None,
        *,
        constraints: Sequence[Rate | Budget] | Rate | Budget | None = None,
        prices: ArrayLike | None = None,
    ) -> Allocation:
        """Decide a whole batch within limits, at the least expected cost.

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
        Allocation
            ``labels``, ``expected_cost`` and the ``price`` of each limit: what one unit more would
            save.

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
        >>> found = model.decide(data.X, capacity={"review": 20})
        >>> bool((found.labels == "review").sum() <= 20)
        True
        >>> found.price["review"] >= 0
        True
        """
        proba, known, expected = self._expected_costs(X, costs, "decide")
        if prices is not None:
            expected = expected + np.asarray(prices, dtype=np.float64)
        return allocate(
            expected,
            known.decisions,
            capacity=capacity,
            constraints=constraints,
            per=per,
            proba=proba,
            classes=self.classes_,
            X=X,
        )

    def break_even(self, X: Any, entry: Any, costs: Any = None) -> Floats:
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
        check_is_fitted(self)
        self._check_probabilities("break_even")
        proba = self.predict_proba(X)
        known = self._decision_costs(costs, len(proba), X)
        form = self.cost_matrix if costs is None else costs
        positive = form.get("positive") if is_short(form) else getattr(form, "positive", None)
        if isinstance(entry, str):
            code = positive_code(
                positive, self.classes_, "entry", f"{type(self).__name__}.break_even",
                remedy="name the entry by its labels, (truth, decision)",
            )  # fmt: skip
            positive = self.classes_.tolist()[code]
        return break_even(
            proba,
            known.matrix,
            entry,
            classes=self.classes_,
            decisions=known.decisions,
            positive=positive,
            decide=lambda matrix: Costs(self.classes_, matrix, known.decisions).decide(proba),
        )

    def _expected_costs(self, X: Any, costs: Any, what: str) -> tuple[Floats, Costs, Floats]:
        """Probabilities, costs and the expected cost of every decision on each row."""
        check_is_fitted(self)
        self._check_probabilities(what)
        proba = self.predict_proba(X)
        known = self._decision_costs(costs, len(proba), X)
        return proba, known, known.expected(proba)
