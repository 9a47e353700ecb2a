"""`Costs`, the one representation of what decisions cost."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import _forms
from costboost.costs._words import in_words
from costboost.errors import CostWarning

ArrayT = TypeVar("ArrayT", bound=AnyArray)


class Costs:
    """What each decision costs on each row.

    Holds one (k, k) matrix for all rows, one (k, k) matrix per row, or only the prices of each
    row's decisions under its known truth. Everything derived is computed when first asked for, so
    a static matrix costs no memory per row until then. All arrays are read-only, and the caller's
    arrays are never written to.

    Parameters
    ----------
    classes : array of shape (k,)
        Labels, in the order of the axes of `matrix`.
    matrix : array of shape (k, k) or (n, k, k), optional
        Costs, truth by decision.
    prices : array of shape (n, k), optional
        Price of each decision on each row, if no matrix is known.
    codes : int array of shape (n,), optional
        Truth of each row, as an index into `classes`.

    Attributes
    ----------
    classes : array of shape (k,)
        The labels.
    matrix : array of shape (k, k) or (n, k, k), or None
        Costs, truth by decision; None if only prices are known.
    codes : int array of shape (n,), or None
        The truth; None if unknown.

    See Also
    --------
    Costs.resolve : Build it from any form a user may write, with checks.

    Examples
    --------
    >>> costs = Costs.resolve([[0, 1], [5, 0]], classes=["ok", "fraud"], codes=[0, 1, 1])
    >>> costs.prices
    array([[0., 1.],
           [5., 0.],
           [5., 0.]])
    >>> costs.error_cost
    array([1., 5., 5.])
    >>> costs.decide([[0.9, 0.1], [0.8, 0.2]])
    array([0, 1])
    """

    def __init__(
        self,
        classes: ArrayLike,
        matrix: Floats | None = None,
        *,
        prices: Floats | None = None,
        codes: Ints | None = None,
    ) -> None:
        self.classes: AnyArray = np.asarray(classes)
        self.matrix = None if matrix is None else _frozen(matrix)
        self.codes = codes
        self._given_prices = None if prices is None else _frozen(prices)

    @classmethod
    def resolve(
        cls,
        cost_matrix: Any = None,
        costs: Any = None,
        *,
        classes: ArrayLike,
        n_samples: int | None = None,
        X: Any = None,
        codes: ArrayLike | None = None,
        owner: str = "",
    ) -> Costs:
        """Reduce any form of costs to this object.

        Parameters
        ----------
        cost_matrix : array, frame, mapping, callable, Costs or None
            One matrix for all rows, truth by decision: a (k, k) array in the order of `classes`; a
            pandas frame whose index (or first of k + 1 columns) and columns are the classes in any
            order (classes without rows of data may be among them, and are left out); a polars
            frame whose first of k + 1 columns holds the true class; a mapping ``{(truth,
            decision): cost}`` (right decisions may be left out: 0); for two classes ``{"fn": ...,
            "fp": ...}``, also with ``"tp"``, ``"tn"`` and ``"positive"`` (default: the last
            class); another static `Costs`; a callable ``X -> (n, k, k)``; or None, every mistake
            costs 1.
        costs : array or frame, optional
            Costs of single rows; they win over `cost_matrix`. Shape (n, k, k), the row's own
            matrix. If `codes` is given also (n, k), the price of each decision on the row (a frame
            whose columns are the classes is put into their order), or (n,), the price of any error
            on the row. A 2-D array always means (n, k), even if n equals k: one matrix for
            all rows is a `cost_matrix`.
        classes : array of shape (k,)
            Labels, in the order of the axes.
        n_samples : int, optional
            Number of rows; by default that of `codes` or `costs`.
        X : table, optional
            The features as the user passed them, for a callable `cost_matrix`.
        codes : int array of shape (n,), optional
            Truth of each row, as an index into `classes`; None when it is unknown.
        owner : str, default=""
            Class or function that error messages name.

        Returns
        -------
        Costs
            The costs, checked.

        Warns
        -----
        CostWarning
            If in one matrix for all rows the right decision is the dearest of its row, or if the
            price of an error is negative: rows and columns, or signs, may be swapped.

        Examples
        --------
        >>> rows = Costs.resolve(costs=[30.0, 2.0], classes=["ok", "fraud"], codes=[1, 0])
        >>> rows.prices
        array([[30.,  0.],
               [ 0.,  2.]])
        """
        labels = np.asarray(classes)
        truth = None if codes is None else np.asarray(codes, dtype=np.intp)
        if n_samples is None and truth is not None:
            n_samples = len(truth)
        if costs is not None:
            return cls._from_rows(costs, labels, n_samples, truth, owner)
        if isinstance(cost_matrix, Costs):
            matrix = cost_matrix._relabelled(labels, owner)
        elif callable(cost_matrix):
            if X is None:
                raise ValueError(
                    f"{_forms.parameter('cost_matrix', owner)} is a function of the features X, "
                    "which are unknown here. Call it yourself and pass the result as "
                    "costs=cost_matrix(X)."
                )
            matrix = _forms.row_matrices(cost_matrix(X), labels, n_samples, "cost_matrix(X)", owner)
        else:
            matrix = _forms.static_matrix(cost_matrix, labels, owner)
        if matrix.ndim == 2:
            _warn_if_swapped(matrix, labels, owner)
        return cls(labels, matrix, codes=truth)

    @classmethod
    def _from_rows(
        cls,
        costs: Any,
        classes: AnyArray,
        n_samples: int | None,
        codes: Ints | None,
        owner: str,
    ) -> Costs:
        name = _forms.parameter("costs", owner)
        if callable(costs) or isinstance(costs, (Costs, Mapping, str)):
            raise TypeError(
                f"{name} must be an array with one entry per row, got {type(costs).__name__}. "
                "Pass a mapping, a function or a Costs object as cost_matrix=."
            )
        ndim = 2 if _forms.is_frame(costs) else np.ndim(costs)
        if ndim == 3:
            matrix = _forms.row_matrices(costs, classes, n_samples, "costs", owner)
            return cls(classes, matrix, codes=codes)
        if codes is None:
            k = len(classes)
            raise ValueError(
                f"{name} must have shape (n, {k}, {k}), truth by decision, because the truth is "
                f"unknown here; got {np.shape(costs)}. For two classes "
                "costboost.costs.per_row(fn=..., fp=...) builds it."
            )
        prices = _forms.row_prices(costs, classes, codes, owner)
        if ndim == 1 and prices.min(initial=0.0) < 0:
            warnings.warn(
                f"{name} of shape (n,) is the price of an error, and {prices.min():g} is negative: "
                "there the error is taken for the best decision. Pass shape (n, k) if that is "
                "meant, else check the sign.",
                CostWarning,
                stacklevel=4,
            )
        return cls(classes, prices=prices, codes=codes)

    def _relabelled(self, classes: AnyArray, owner: str) -> Floats:
        if self.matrix is None or self.matrix.ndim == 3:
            raise ValueError(
                f"{_forms.parameter('cost_matrix', owner)} must be one matrix for all rows, got "
                "Costs of single rows. Pass those as costs=."
            )
        mine = self.classes.tolist()
        return _forms.by_label(self.matrix, mine, mine, classes, owner)

    @property
    def is_per_row(self) -> bool:
        """False when one (k, k) matrix serves all rows."""
        return self.matrix is None or self.matrix.ndim == 3

    @cached_property
    def prices(self) -> Floats | None:
        """Price of each decision on each row given its truth, (n, k); None if that is unknown."""
        if self._given_prices is not None:
            return self._given_prices
        if self.codes is None or self.matrix is None:
            return None
        if self.matrix.ndim == 2:
            return _frozen(self.matrix[self.codes])
        return _frozen(self.matrix[np.arange(len(self.codes)), self.codes])

    @cached_property
    def reduced(self) -> Floats:
        """Prices minus the row minimum, (n, k): what a decision costs beyond the cheapest one."""
        if self.reduced_matrix is not None:
            return _frozen(self.reduced_matrix[self._truth("reduced")])
        prices = self._known_prices("reduced")
        return _frozen(prices - prices.min(axis=1, keepdims=True))

    @cached_property
    def labels(self) -> Ints:
        """Effective label of each row, (n,): its cheapest decision; ties keep the true label."""
        codes = self._truth("labels")
        if self.reduced_matrix is not None:
            truths = np.arange(len(self.classes))
            return _frozen(_cheapest(self.reduced_matrix, truths)[codes])
        return _frozen(_cheapest(self._known_prices("labels"), codes))

    @cached_property
    def error_cost(self) -> Floats:
        """Two classes: what missing the effective label costs on each row, (n,)."""
        if len(self.classes) != 2:
            raise ValueError(
                f"error_cost is defined for two classes, and there are {len(self.classes)}: "
                f"{self.classes.tolist()}. Use reduced, the price of every decision."
            )
        if self.reduced_matrix is not None:
            return _frozen(self.reduced_matrix.max(axis=1)[self._truth("error_cost")])
        prices = self._known_prices("error_cost")
        return _frozen(np.abs(prices[:, 1] - prices[:, 0]))

    @cached_property
    def mean_matrix(self) -> Floats:
        """One (k, k) matrix for all rows: the matrix itself, or its mean over the rows."""
        return _frozen(self.average())

    def average(self, weights: Floats | None = None) -> Floats:
        """One (k, k) matrix for all rows: the matrix itself, or its weighted mean over the rows.

        If only prices are known, row j is the mean of the reduced prices over the rows whose truth
        is j; for a class without rows every mistake gets the mean price of a mistake.

        Parameters
        ----------
        weights : array of shape (n,), optional
            Weights of the rows; a row of weight 2 counts twice.

        Returns
        -------
        array of shape (k, k)
            Costs, truth by decision.
        """
        if self.matrix is not None and self.matrix.ndim == 2:
            return self.matrix.copy()
        if self.matrix is not None:
            return np.asarray(np.average(self.matrix, axis=0, weights=weights))
        codes, k = self._truth("average"), len(self.classes)
        w = np.ones(len(codes)) if weights is None else weights
        totals = np.bincount(codes, w, minlength=k)
        sums = np.stack(
            [np.bincount(codes, w * column, minlength=k) for column in self.reduced.T], 1
        )
        mean: Floats = sums / np.where(totals > 0, totals, 1.0)[:, None]
        empty = totals == 0
        if empty.any():
            fallback = (sums.sum() - np.trace(sums)) / max(float(w.sum()) * (k - 1), 1.0)
            mean[empty] = fallback * (1.0 - np.eye(k))[empty]
        return mean

    def take(self, rows: Any) -> Costs:
        """The costs of some of the rows.

        Parameters
        ----------
        rows : int or bool array, or slice
            Which rows.

        Returns
        -------
        Costs
            Their costs.
        """
        per_row = self.matrix is not None and self.matrix.ndim == 3
        return Costs(
            self.classes,
            self.matrix[rows] if per_row and self.matrix is not None else self.matrix,
            prices=None if self._given_prices is None else self._given_prices[rows],
            codes=None if self.codes is None else self.codes[rows],
        )

    def divided(self, unit: float) -> Costs:
        """The same costs in another unit.

        Parameters
        ----------
        unit : float
            What counts as 1.

        Returns
        -------
        Costs
            All costs divided by it.
        """
        return Costs(
            self.classes,
            None if self.matrix is None else self.matrix / unit,
            prices=None if self._given_prices is None else self._given_prices / unit,
            codes=self.codes,
        )

    def paid(self, decisions: ArrayLike) -> Floats:
        """Price of the decision taken on each row.

        Parameters
        ----------
        decisions : int array of shape (n,)
            Decisions, as indices into `classes`.

        Returns
        -------
        array of shape (n,)
            What each row's decision costs, in the user's own (not reduced) prices.
        """
        taken = np.asarray(decisions, dtype=np.intp)
        codes = self._truth("paid")
        if self.matrix is None:
            return np.take_along_axis(self._known_prices("paid"), taken[:, None], axis=1)[:, 0]
        if self.matrix.ndim == 2:
            return self.matrix[codes, taken]
        return self.matrix[np.arange(len(codes)), codes, taken]

    def expected(self, proba: ArrayLike) -> Floats:
        """Expected cost of every decision, ``sum_j proba[i, j] * matrix[i, j, d]``.

        Parameters
        ----------
        proba : array of shape (n, k)
            Probability of each class on each row.

        Returns
        -------
        array of shape (n, k)
            Expected cost of each decision on each row.
        """
        p = self._checked_proba(proba)
        matrix = self._known_matrix()
        if matrix.ndim == 2:
            expected: Floats = p @ matrix
        else:
            expected = np.einsum("nj,njd->nd", p, matrix)
        return expected

    def decide(self, proba: ArrayLike) -> Ints:
        """Decide for the smallest expected cost (the Bayes rule).

        A tie goes to the positive class ``classes[1]`` if there are two classes, else to the first
        of the cheapest ones.

        Parameters
        ----------
        proba : array of shape (n, k)
            Probability of each class on each row.

        Returns
        -------
        int array of shape (n,)
            Decisions, as indices into `classes`.
        """
        p = self._checked_proba(proba)
        matrix = self._known_matrix()
        if len(self.classes) == 2:
            # P(+) C1 >= P(-) C2 with C1, C2 the net prices of the two errors.
            C1 = matrix[..., 1, 0] - matrix[..., 1, 1]
            C2 = matrix[..., 0, 1] - matrix[..., 0, 0]
            return (p[:, 1] * C1 >= p[:, 0] * C2).astype(np.intp)
        if self.reduced_matrix is not None:
            total: Floats = p @ self.reduced_matrix
        else:
            total = np.zeros_like(p)
            for j in range(len(self.classes)):  # by truth: no second (n, k, k) array
                rows = matrix[:, j]
                total += p[:, j, None] * (rows - rows.min(axis=1, keepdims=True))
        cheapest: Ints = total.argmin(axis=1)
        return cheapest

    @cached_property
    def reduced_matrix(self) -> Floats | None:
        """The static matrix, each row reduced by its minimum; None for costs of single rows."""
        if self.matrix is None or self.matrix.ndim == 3:
            return None
        reduced: Floats = self.matrix - self.matrix.min(axis=1, keepdims=True)
        return reduced

    def _truth(self, what: str) -> Ints:
        if self.codes is None:
            raise ValueError(
                f"{what} of Costs needs the truth of each row. Pass codes= to Costs.resolve."
            )
        return self.codes

    def _known_prices(self, what: str) -> Floats:
        self._truth(what)
        if self.prices is None:
            raise ValueError(f"{what} of Costs needs a matrix or prices, got neither.")
        return self.prices

    def _known_matrix(self) -> Floats:
        if self.matrix is None:
            k = len(self.classes)
            raise ValueError(
                "Expected costs need the cost of every decision under every truth, and only the "
                f"prices under the known truth were given. Pass costs of shape (n, {k}, {k})."
            )
        return self.matrix

    def _checked_proba(self, proba: ArrayLike) -> Floats:
        p = np.asarray(proba, dtype=np.float64)
        k = len(self.classes)
        rows = None if self.matrix is None or self.matrix.ndim == 2 else len(self.matrix)
        if p.ndim != 2 or p.shape[1] != k or rows not in (None, len(p)):
            n = "n" if rows is None else rows
            raise ValueError(
                f"The 'proba' parameter of Costs must have shape ({n}, {k}), a column per class in "
                f"the order {self.classes.tolist()}; got {p.shape}."
            )
        return p

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        return np.array(self._known_matrix(), dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        if self.matrix is None:
            shape = () if self._given_prices is None else self._given_prices.shape
            held = f"prices of shape {shape}"
        else:
            held = f"matrix of shape {self.matrix.shape}"
        return f"<Costs of {self.classes.tolist()}: {held}>"

    def __str__(self) -> str:
        return in_words(self)


def _cheapest(prices: Floats, truth: Ints) -> Ints:
    """Cheapest decision of each row; ties keep the truth."""
    lowest = prices.min(axis=1)
    own = np.take_along_axis(prices, truth[:, None], axis=1)[:, 0]
    return np.where(own <= lowest, truth, prices.argmin(axis=1))


def _frozen(array: ArrayT) -> ArrayT:
    """Read-only view."""
    view = array.view()
    view.flags.writeable = False
    return view


def _warn_if_swapped(matrix: Floats, classes: AnyArray, owner: str) -> None:
    """Warn if a right decision is dearer than every mistake on the same truth."""
    if len(classes) < 2:
        return
    right = matrix.diagonal()
    mistakes = np.where(np.eye(len(classes), dtype=bool), -np.inf, matrix).max(axis=1)
    swapped = np.flatnonzero(right > mistakes)
    if len(swapped):
        j = swapped[0]
        label = classes.tolist()[j]
        warnings.warn(
            f"{_forms.parameter('cost_matrix', owner)} makes the right decision the dearest one: "
            f"deciding {label!r} when the truth is {label!r} costs {right[j]:.6g}, a mistake at "
            f"most {mistakes[j]:.6g}. Rows are the truth and columns the decision: is the matrix "
            "transposed, or its columns in another order than the classes "
            f"{classes.tolist()}?",
            CostWarning,
            stacklevel=4,
        )
