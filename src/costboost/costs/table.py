"""`Costs`: what decisions cost while the truth is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats, Ints
from costboost._validation import usual_exponent
from costboost.costs.words import CostSummary, in_words

if TYPE_CHECKING:
    from costboost.costs.known import KnownCosts

__all__ = ["Costs", "frozen", "names_of", "same_labels"]

ArrayT = TypeVar("ArrayT", bound=AnyArray)


class Costs:
    """What each decision costs under each truth: one (k, d) matrix, or one per row.

    The truth of the rows is not known; `known` adds it. Arrays are read-only, and the caller's
    arrays are never written to.

    Parameters
    ----------
    classes : array of shape (k,)
        The classes, in the order of the rows of `matrix`.
    matrix : array of shape (k, d) or (n, k, d)
        Costs, truth by decision.
    decisions : array of shape (d,), optional
        The decisions, in the order of its columns; by default the classes.
    texts : mapping, optional
        Expressions that cells were written as, by their place (truth, decision).

    Attributes
    ----------
    classes : array of shape (k,)
        The classes.
    decisions : array of shape (d,)
        The decisions.
    matrix : array of shape (k, d) or (n, k, d)
        Costs, truth by decision.

    See Also
    --------
    Costs.resolve : Build it from any form a user may write, with checks.

    Examples
    --------
    >>> costs = Costs.resolve([[0, 1], [5, 0]], classes=[0, 1])
    >>> costs.decide([[0.9, 0.1], [0.8, 0.2]])
    array([0, 1])
    >>> known = costs.known([0, 1, 1])
    >>> known.prices
    array([[0., 1.],
           [5., 0.],
           [5., 0.]])
    >>> known.error_cost
    array([1., 5., 5.])

    Decisions need not be classes:

    >>> prices = {("ok", "accept"): 0, ("ok", "review"): 4, ("ok", "block"): 20,
    ...           ("fraud", "accept"): 100, ("fraud", "review"): 4, ("fraud", "block"): 0}
    >>> costs = Costs.resolve(prices, classes=["fraud", "ok"])
    >>> costs.decisions[costs.decide([[0.01, 0.99], [0.2, 0.8], [0.9, 0.1]])]
    array(['accept', 'review', 'block'], dtype='<U6')
    """

    def __init__(
        self,
        classes: ArrayLike,
        matrix: Floats,
        decisions: ArrayLike | None = None,
        *,
        texts: Mapping[tuple[int, int], str] | None = None,
    ) -> None:
        self.classes: AnyArray = np.asarray(classes)
        self.decisions: AnyArray = self.classes if decisions is None else np.asarray(decisions)
        self.matrix: Floats = frozen(np.asarray(matrix, dtype=np.float64))
        self.texts = dict(texts or {})

    @overload
    @staticmethod
    def resolve(
        cost_matrix: Any = ...,
        costs: Any = ...,
        *,
        classes: ArrayLike,
        decisions: ArrayLike | None = ...,
        n_samples: int | None = ...,
        X: Any = ...,
        codes: None = ...,
        owner: str = ...,
        as_classes: bool = ...,
    ) -> Costs: ...

    @overload
    @staticmethod
    def resolve(
        cost_matrix: Any = ...,
        costs: Any = ...,
        *,
        classes: ArrayLike,
        decisions: ArrayLike | None = ...,
        n_samples: int | None = ...,
        X: Any = ...,
        codes: ArrayLike,
        owner: str = ...,
        as_classes: bool = ...,
    ) -> KnownCosts: ...

    @staticmethod
    def resolve(
        cost_matrix: Any = None,
        costs: Any = None,
        *,
        classes: ArrayLike,
        decisions: ArrayLike | None = None,
        n_samples: int | None = None,
        X: Any = None,
        codes: ArrayLike | None = None,
        owner: str = "",
        as_classes: bool = False,
    ) -> Costs | KnownCosts:
        """Reduce any form of costs to this object.

        Parameters
        ----------
        cost_matrix : array, frame, mapping, callable, Costs or None
            Costs, rows = truth, columns = decision: a (k, k) array in the order of `classes`; a
            pandas frame whose index (or first column) holds the classes and whose columns are
            the decisions; a polars frame whose first column holds the true class; a mapping
            ``{(truth, decision): cost}`` (right decisions may be left out: 0); for two classes
            ``{"fn": ..., "fp": ..., "positive": ...}``, also with ``"tp"`` and ``"tn"``
            (``"positive"`` may be left out for the labels {0, 1}, {False, True} and {-1, 1});
            another static `Costs`; a callable ``X -> (n, k, d)``; or None, every mistake costs 1.
            Entries are numbers, arrays with a price per row, or arithmetic over columns of X,
            ``"0.9 * amount + 15"``.
        costs : array, frame or mapping, optional
            Costs in place of `cost_matrix`: shape (n, k, d), each row's own matrix; a (k, d) matrix
            or a mapping, as above. If `codes` is given, also (n, d), the price of each decision on
            the row (the columns of a frame name the decisions), or (n,), the price of any error on
            the row.
        classes : array of shape (k,)
            The classes, in order.
        decisions : array of shape (d,), optional
            The decisions, if they are known from elsewhere: they name the columns of unlabelled
            arrays, and labelled forms are put into their order.
        n_samples : int, optional
            Number of rows; by default that of `codes` or `costs`.
        X : table, optional
            The features as the user passed them, for functions and expressions.
        codes : int array of shape (n,), optional
            Truth of each row, as an index into `classes`; None when it is unknown.
        owner : str, default=""
            Class or function that error messages name.
        as_classes : bool, default=False
            Whether to refuse decisions that are not the classes.

        Returns
        -------
        Costs, or KnownCosts if `codes` is given
            The costs, checked.

        Warns
        -----
        CostWarning
            If in one matrix for all rows the right decision is the most costly of its row, or if
            the price of an error is negative: rows and columns, or signs, may be swapped.

        Examples
        --------
        >>> rows = Costs.resolve(costs=[30.0, 2.0], classes=["ok", "fraud"], codes=[1, 0])
        >>> rows.prices
        array([[30.,  0.],
               [ 0.,  2.]])
        """
        from costboost.costs.reading import resolve

        return resolve(
            cost_matrix,
            costs,
            classes=classes,
            decisions=decisions,
            n_samples=n_samples,
            X=X,
            codes=codes,
            owner=owner,
            as_classes=as_classes,
        )

    # -- what they are --------------------------------------------------------------------------

    @property
    def is_per_row(self) -> bool:
        """False when one (k, d) matrix serves all rows."""
        return self.matrix.ndim == 3

    @cached_property
    def decides_classes(self) -> bool:
        """Whether the decisions are the classes, in the same order."""
        return same_labels(self.decisions, self.classes)

    @cached_property
    def reduced_matrix(self) -> Floats | None:
        """The static matrix, each row reduced by its minimum; None for costs of single rows."""
        if self.is_per_row:
            return None
        return frozen(np.asarray(self.matrix - self.matrix.min(axis=1, keepdims=True)))

    @property
    def summary(self) -> CostSummary:
        """Smallest, mean and largest cost of every pair, in words."""
        return CostSummary.of_matrix(self)

    def known(self, codes: ArrayLike) -> KnownCosts:
        """The same costs once the truth of each row is known.

        Parameters
        ----------
        codes : int array of shape (n,)
            Truth of each row, as an index into `classes`.

        Returns
        -------
        KnownCosts
            Prices of the decisions on each row.
        """
        from costboost.costs.known import KnownCosts

        truth = np.asarray(codes, dtype=np.intp)
        return KnownCosts(self.classes, truth, self.matrix, self.decisions, texts=self.texts)

    def average(self, weights: Floats | None = None) -> Floats:
        """One (k, d) matrix: the matrix itself, or its weighted mean over the rows.

        Parameters
        ----------
        weights : array of shape (n,), optional
            Weights of the rows; a row of weight 2 counts twice.

        Returns
        -------
        array of shape (k, d)
            Costs, truth by decision.
        """
        if not self.is_per_row:
            return self.matrix.copy()
        exponent = usual_exponent(float(np.abs(self.matrix).max(initial=0.0)))
        usual = np.ldexp(self.matrix, -exponent) if exponent else self.matrix
        mean = np.asarray(np.average(usual, axis=0, weights=weights))
        return np.ldexp(mean, exponent) if exponent else mean

    @cached_property
    def mean_matrix(self) -> Floats:
        """One (k, d) matrix: the matrix itself, or its mean over the rows."""
        return frozen(self.average())

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
        matrix = self.matrix[rows] if self.is_per_row else self.matrix
        return Costs(self.classes, matrix, self.decisions, texts=self.texts)

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
        return Costs(self.classes, self.matrix / unit, self.decisions)

    # -- what they say --------------------------------------------------------------------------

    def expected(self, proba: ArrayLike) -> Floats:
        """Expected cost of every decision, ``sum_j proba[i, j] * matrix[i, j, d]``.

        Parameters
        ----------
        proba : array of shape (n, k)
            Probability of each class on each row.

        Returns
        -------
        array of shape (n, d)
            Expected cost of each decision on each row.
        """
        p = self._checked_proba(proba)
        if not self.is_per_row:
            return np.asarray(p @ self.matrix)
        return np.asarray(np.einsum("nj,njd->nd", p, self.matrix))

    def decide(self, proba: ArrayLike) -> Ints:
        """Take the decision of smallest expected cost (the Bayes rule).

        A tie goes to the positive class ``classes[1]`` if two classes are the decisions, else to
        the first of the cheapest ones.

        Parameters
        ----------
        proba : array of shape (n, k)
            Probability of each class on each row.

        Returns
        -------
        int array of shape (n,)
            Decisions, as indices into `decisions`.
        """
        p = self._checked_proba(proba)
        matrix = self.matrix
        if len(self.classes) == 2 and self.decides_classes:
            # P(+) C1 >= P(-) C2 with C1, C2 the net prices of the two errors.
            C1 = matrix[..., 1, 0] - matrix[..., 1, 1]
            C2 = matrix[..., 0, 1] - matrix[..., 0, 0]
            return (p[:, 1] * C1 >= p[:, 0] * C2).astype(np.intp)
        if self.reduced_matrix is not None:
            total: Floats = p @ self.reduced_matrix
        else:
            total = np.zeros((len(p), len(self.decisions)))
            for j in range(len(self.classes)):  # by truth: no second (n, k, d) array
                rows = matrix[:, j]
                total += p[:, j, None] * (rows - rows.min(axis=1, keepdims=True))
        return np.asarray(total.argmin(axis=1))

    def _checked_proba(self, proba: ArrayLike) -> Floats:
        p = np.asarray(proba, dtype=np.float64)
        k = len(self.classes)
        rows = len(self.matrix) if self.is_per_row else None
        if p.ndim != 2 or p.shape[1] != k or rows not in (None, len(p)):
            n = "n" if rows is None else rows
            raise ValueError(
                f"The 'proba' parameter of Costs must have shape ({n}, {k}), a column per class in "
                f"the order {self.classes.tolist()}; got {p.shape}."
            )
        return p

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        return np.array(self.matrix, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        return f"<Costs of {names_of(self)}: matrix of shape {self.matrix.shape}>"

    def __str__(self) -> str:
        return in_words(self.summary)

    def _repr_html_(self) -> str:
        return self.summary._repr_html_()


def same_labels(one: AnyArray, other: AnyArray) -> bool:
    """Whether two arrays hold the same labels in the same order."""
    return one is other or (len(one) == len(other) and one.tolist() == other.tolist())


def frozen(array: ArrayT) -> ArrayT:
    """Read-only view."""
    view = array.view()
    view.flags.writeable = False
    return view


def names_of(costs: Costs | KnownCosts) -> str:
    """Classes, and decisions if they are others, for a short description."""
    labels = str(costs.classes.tolist())
    return labels if costs.decides_classes else f"{labels} by {costs.decisions.tolist()}"
