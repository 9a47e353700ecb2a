"""`KnownCosts`: what decisions cost on rows whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Bools, Floats, Ints
from costboost._validation import in_range, usual_exponent
from costboost.costs.table import Costs, frozen, names_of, same_labels
from costboost.costs.words import CostSummary, in_words

__all__ = ["KnownCosts", "mean_prices", "savings"]


# How many times the largest cost at stake a cost under another truth may be.
_LARGEST_RATIO = 2.0**200


class KnownCosts:
    """What each decision costs on rows whose truth is known.

    Holds the costs under every truth, as `Costs` does, or only the prices of each row's decisions.
    Everything derived is computed when first asked for, so a static matrix costs no memory per row
    until then.

    Parameters
    ----------
    classes : array of shape (k,)
        The classes.
    codes : int array of shape (n,)
        Truth of each row, as an index into `classes`.
    matrix : array of shape (k, d) or (n, k, d), optional
        Costs, truth by decision; None if only prices are known.
    decisions : array of shape (d,), optional
        The decisions; by default the classes.
    prices : array of shape (n, d), optional
        Price of each decision on each row, if no matrix is known.
    texts : mapping, optional
        Expressions that cells were written as, by their place (truth, decision).

    Attributes
    ----------
    classes, decisions, codes, matrix
        As above.
    """

    def __init__(
        self,
        classes: ArrayLike,
        codes: Ints,
        matrix: Floats | None = None,
        decisions: ArrayLike | None = None,
        *,
        prices: Floats | None = None,
        texts: Mapping[tuple[int, int], str] | None = None,
    ) -> None:
        if (matrix is None) == (prices is None):
            raise ValueError("KnownCosts needs a matrix or prices, and not both.")
        self.classes: AnyArray = np.asarray(classes)
        self.decisions: AnyArray = self.classes if decisions is None else np.asarray(decisions)
        self.codes = np.asarray(codes, dtype=np.intp)
        self.matrix = None if matrix is None else frozen(np.asarray(matrix, dtype=np.float64))
        self.texts = dict(texts or {})
        self._given_prices = None if prices is None else frozen(prices)

    @staticmethod
    def concat(parts: Sequence[KnownCosts]) -> KnownCosts:
        """The rows of several parts, one after another.

        Parameters
        ----------
        parts : sequence of KnownCosts
            Costs of the same classes and decisions, in the same form.

        Returns
        -------
        KnownCosts
            The costs of all rows.
        """
        first = parts[0]
        codes = np.concatenate([part.codes for part in parts])
        if first.matrix is None:
            prices = np.concatenate([part.prices for part in parts])
            return KnownCosts(first.classes, codes, None, first.decisions, prices=prices)
        matrix: Floats = first.matrix
        if matrix.ndim == 3:
            matrix = np.concatenate([part.matrix for part in parts if part.matrix is not None])
        return KnownCosts(first.classes, codes, matrix, first.decisions, texts=first.texts)

    def __len__(self) -> int:
        return len(self.codes)

    # -- what they are --------------------------------------------------------------------------

    @property
    def is_per_row(self) -> bool:
        """False when one (k, d) matrix serves all rows."""
        return self.matrix is None or self.matrix.ndim == 3

    @cached_property
    def decides_classes(self) -> bool:
        """Whether the decisions are the classes, in the same order."""
        return same_labels(self.decisions, self.classes)

    @property
    def unknown(self) -> Costs:
        """The same costs before the truth is known."""
        if self.matrix is None:
            k, d = len(self.classes), len(self.decisions)
            raise ValueError(
                "Expected costs need the cost of every decision under every truth, and only the "
                f"prices under the known truth were given. Pass costs of shape (n, {k}, {d})."
            )
        return Costs(self.classes, self.matrix, self.decisions, texts=self.texts)

    @property
    def summary(self) -> CostSummary:
        """Smallest, mean and largest cost of every pair, in words."""
        return CostSummary.of_known(self)

    @cached_property
    def _reduced_matrix(self) -> Floats | None:
        return None if self.is_per_row else self.unknown.reduced_matrix

    @cached_property
    def prices(self) -> Floats:
        """Price of each decision on each row given its truth, (n, d)."""
        if self._given_prices is not None:
            return self._given_prices
        matrix = self.unknown.matrix
        if matrix.ndim == 2:
            return frozen(matrix[self.codes])
        return frozen(matrix[np.arange(len(self.codes)), self.codes])

    @cached_property
    def reduced(self) -> Floats:
        """Prices minus the row minimum, (n, d): what a decision costs beyond the cheapest one."""
        if self._reduced_matrix is not None:
            return frozen(self._reduced_matrix[self.codes])
        return frozen(self.prices - self.prices.min(axis=1, keepdims=True))

    @cached_property
    def labels(self) -> Ints:
        """Effective label of each row, (n,): its cheapest decision; ties keep the true class."""
        own = self._own_decision
        if self._reduced_matrix is not None:
            return frozen(_cheapest(self._reduced_matrix, own)[self.codes])
        return frozen(_cheapest(self.prices, own[self.codes]))

    @cached_property
    def _own_decision(self) -> Ints:
        """The decision that is named like each class, -1 if there is none, (k,)."""
        if self.decides_classes:
            return np.arange(len(self.classes))
        places = {label: d for d, label in enumerate(self.decisions.tolist())}
        return np.array([places.get(label, -1) for label in self.classes.tolist()], dtype=np.intp)

    @cached_property
    def error_cost(self) -> Floats:
        """Two decisions: what missing the effective label costs on each row, (n,)."""
        if len(self.decisions) != 2:
            raise ValueError(
                f"error_cost is defined for two decisions, and there are {len(self.decisions)}: "
                f"{self.decisions.tolist()}. Use reduced, the price of every decision."
            )
        if self._reduced_matrix is not None:
            return frozen(self._reduced_matrix.max(axis=1)[self.codes])
        return frozen(np.abs(self.prices[:, 1] - self.prices[:, 0]))

    def average(self, weights: Floats | None = None) -> Floats:
        """One (k, d) matrix for all rows: the matrix itself, or its weighted mean over the rows.

        If only prices are known, row j is the mean of the reduced prices over the rows whose truth
        is j. For a class without rows every mistake gets the mean price of a mistake; if the
        decisions are not the classes, each decision gets its mean price over all rows.

        Parameters
        ----------
        weights : array of shape (n,), optional
            Weights of the rows; a row of weight 2 counts twice.

        Returns
        -------
        array of shape (k, d)
            Costs, truth by decision.
        """
        if self.matrix is not None:
            return self.unknown.average(weights)
        k = len(self.classes)
        w = np.ones(len(self.codes)) if weights is None else weights
        exponent = usual_exponent(float(self.reduced.max(initial=0.0)))
        usual = np.ldexp(self.reduced, -exponent) if exponent else self.reduced
        masses = np.bincount(self.codes, w, minlength=k).astype(np.float64)
        sums: Floats = np.stack(
            [np.bincount(self.codes, w * column, minlength=k) for column in usual.T], 1
        )
        mean = mean_prices(masses, sums, is_square=self.decides_classes)
        return np.ldexp(mean, exponent) if exponent else mean

    @cached_property
    def mean_matrix(self) -> Floats:
        """One (k, d) matrix for all rows: the matrix itself, or its mean over the rows."""
        return frozen(self.average())

    def in_range(self, used: Bools) -> KnownCosts:
        """The same costs, reduced, in a unit in which they can be summed and multiplied.

        Costs of usual size are returned as they are. Otherwise they are divided by a power of two
        near the largest one, which changes no digit, and those that are smaller than it by a factor
        of more than 1e60 become 0.

        Parameters
        ----------
        used : bool array of shape (n,)
            The rows that count for the size.

        Returns
        -------
        KnownCosts
            Costs of which only the ratios matter.
        """
        given: Floats = self.prices if self.matrix is None else self.matrix
        reduced = given - given.min(axis=-1, keepdims=True)
        if self._reduced_matrix is None:
            stakes = self.reduced[used]
        else:
            present = np.bincount(self.codes[used], minlength=len(self.classes)) > 0
            stakes = self._reduced_matrix[present]
        largest = float(stakes.max(initial=0.0))
        # What a row would cost under another truth must not drown what it does cost.
        limit = _LARGEST_RATIO * largest
        capped = np.minimum(reduced, limit) if reduced.max(initial=0.0) > limit else reduced
        scaled = in_range(capped, largest)
        if scaled is reduced:
            return self
        if self.matrix is None:
            return KnownCosts(self.classes, self.codes, None, self.decisions, prices=scaled)
        return KnownCosts(self.classes, self.codes, scaled, self.decisions)

    def take(self, rows: Any) -> KnownCosts:
        """The costs of some of the rows.

        Parameters
        ----------
        rows : int or bool array, or slice
            Which rows.

        Returns
        -------
        KnownCosts
            Their costs.
        """
        matrix = self.matrix
        if matrix is not None and matrix.ndim == 3:
            matrix = matrix[rows]
        return KnownCosts(
            self.classes,
            self.codes[rows],
            matrix,
            self.decisions,
            prices=None if self._given_prices is None else self._given_prices[rows],
            texts=self.texts,
        )

    def divided(self, unit: float) -> KnownCosts:
        """The same costs in another unit.

        Parameters
        ----------
        unit : float
            What counts as 1.

        Returns
        -------
        KnownCosts
            All costs divided by it.
        """
        return KnownCosts(
            self.classes,
            self.codes,
            None if self.matrix is None else self.matrix / unit,
            self.decisions,
            prices=None if self._given_prices is None else self._given_prices / unit,
        )

    # -- what decisions cost --------------------------------------------------------------------

    def paid(self, decisions: ArrayLike) -> Floats:
        """Price of the decision taken on each row.

        Parameters
        ----------
        decisions : int array of shape (n,)
            Decisions, as indices into `decisions`.

        Returns
        -------
        array of shape (n,)
            What each row's decision costs, in the user's own (not reduced) prices.
        """
        taken = np.asarray(decisions, dtype=np.intp)
        if self.matrix is None:
            return _taken(self.prices, taken)
        if self.matrix.ndim == 2:
            return self.matrix[self.codes, taken]
        return self.matrix[np.arange(len(self.codes)), self.codes, taken]

    def regret(self, decisions: ArrayLike) -> Floats:
        """What the decision taken on each row costs beyond the cheapest one.

        Parameters
        ----------
        decisions : int array of shape (n,)
            Decisions, as indices into `decisions`.

        Returns
        -------
        array of shape (n,)
            Never negative; 0 for the effective label.
        """
        taken = np.asarray(decisions, dtype=np.intp)
        if self._reduced_matrix is not None:
            return self._reduced_matrix[self.codes, taken]
        return _taken(self.reduced, taken)

    def regret_totals(
        self, decisions: ArrayLike, weights: Floats | None = None
    ) -> tuple[float, Floats]:
        """Total regret of the decisions taken, and of each constant decision.

        Parameters
        ----------
        decisions : int array of shape (n,)
            Decisions, as indices into `decisions`.
        weights : array of shape (n,), optional
            How often each row counts.

        Returns
        -------
        total : float
            Of the decisions taken.
        constants : array of shape (d,)
            Of deciding the same for every row.
        """
        taken = np.asarray(decisions, dtype=np.intp)
        matrix, k, d = self._reduced_matrix, len(self.classes), len(self.decisions)
        if matrix is not None:  # by outcome: no array of n rows
            outcomes = np.bincount(self.codes * d + taken, weights, minlength=k * d).reshape(k, d)
            total = (outcomes * matrix).sum(axis=0).sum()
            return float(total), (outcomes.sum(axis=1)[:, None] * matrix).sum(axis=0)
        # Summed in the same order as the decisions taken, so that a constant saves exactly 0.
        constants = np.array([_sum(column, weights) for column in self.reduced.T])
        return _sum(_taken(self.reduced, taken), weights), constants

    def savings(self, decisions: ArrayLike, weights: Floats | None = None) -> float:
        """Share of the cost of the best constant decision that is saved.

        Parameters
        ----------
        decisions : int array of shape (n,)
            Decisions, as indices into `decisions`.
        weights : array of shape (n,), optional
            How often each row counts.

        Returns
        -------
        float
            See `costboost.costs.savings`.
        """
        if weights is not None:
            weights = in_range(weights, float(weights.max(initial=0.0)))
        return savings(*self._in_usual_unit().regret_totals(decisions, weights))

    def _in_usual_unit(self) -> KnownCosts:
        """Reduced costs that can be multiplied by weights; themselves if they can already."""
        matrix = self._reduced_matrix
        reduced = self.reduced if matrix is None else matrix
        scaled = in_range(reduced, float(reduced.max(initial=0.0)))
        if scaled is reduced:
            return self
        if matrix is None:
            return KnownCosts(self.classes, self.codes, None, self.decisions, prices=scaled)
        return KnownCosts(self.classes, self.codes, scaled, self.decisions)

    def __repr__(self) -> str:
        if self.matrix is None:
            return f"<KnownCosts of {names_of(self)}: prices of shape {self.prices.shape}>"
        return f"<KnownCosts of {names_of(self)}: matrix of shape {self.matrix.shape}>"

    def __str__(self) -> str:
        return in_words(self.summary)

    def _repr_html_(self) -> str:
        return self.summary._repr_html_()


def mean_prices(masses: Floats, sums: Floats, *, is_square: bool) -> Floats:
    """Mean price of each decision under each truth, with a fallback for classes without rows."""
    mean: Floats = sums / np.where(masses > 0, masses, 1.0)[:, None]
    empty, total = masses == 0, float(masses.sum())
    if empty.any():
        k = len(masses)
        if is_square:
            fallback = (sums.sum() - np.trace(sums)) / max(total * (k - 1), 1e-300)
            mean[empty] = (fallback * (1.0 - np.eye(k)))[empty]
        else:
            mean[empty] = sums.sum(axis=0) / max(total, 1e-300)
    return mean


def savings(cost: float, constants: Floats) -> float:
    """Share of the cost of the best constant decision that is saved.

    ``1 - cost / cost of the best constant decision``: 1 for perfect decisions, 0 for those as good
    as deciding the same for every row, negative if worse. All costs are reduced: the cheapest
    decision of every row costs 0.

    If the best constant decision costs 0 there is nothing to save. The result is then 0 if the cost
    is 0 too, else ``-cost / cost of the worst constant decision``. It is never NaN or infinite.

    Parameters
    ----------
    cost : float
        Reduced cost of the decisions taken.
    constants : array of shape (d,)
        Reduced cost of each constant decision.

    Returns
    -------
    float
        The savings, at most 1.

    Examples
    --------
    >>> import numpy as np
    >>> savings(2.0, np.array([8.0, 10.0]))
    0.75
    >>> savings(2.0, np.array([0.0, 10.0]))
    -0.2
    """
    best = float(constants.min())
    if best > 0:
        return 1.0 - cost / best
    return -cost / float(constants.max()) if cost > 0 else 0.0


def _cheapest(prices: Floats, own: Ints) -> Ints:
    """Cheapest decision of each row; ties keep the decision named like the truth."""
    first = prices.argmin(axis=1)
    kept = np.maximum(own, 0)
    tied = (own >= 0) & (_taken(prices, kept) <= prices.min(axis=1))
    return np.where(tied, kept, first)


def _taken(table: Floats, decisions: Ints) -> Floats:
    """The entry of each row that its decision picks."""
    return np.take_along_axis(table, decisions[:, None], axis=1)[:, 0]


def _sum(values: Floats, weights: Floats | None) -> float:
    return float(values.sum() if weights is None else (values * weights).sum())
