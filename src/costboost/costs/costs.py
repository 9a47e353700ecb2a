"""What decisions cost: `Costs` until the class of a row is known, then `RealizedCosts`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, softmax

from costboost._typing import AnyArray, Bools, Floats, Ints
from costboost._utils import in_range
from costboost.costs.labels import checked_codes, listed

if TYPE_CHECKING:
    from costboost.costs.summary import CostSummary

# Expressions that cells were written as, by their place (truth, decision).
Texts = Mapping[tuple[int, int], str]


@dataclass(frozen=True, eq=False)
class Costs:
    """What each decision costs under each class; the class of the rows is not known yet.

    Rows of a matrix are the classes (the truth), columns are the decisions. Arrays are read-only,
    and those of the caller are never written to.

    Parameters
    ----------
    matrix : array of shape (k, d) or (n, k, d)
        Costs, one matrix for all rows or one for each.
    classes : array of shape (k,)
        The classes.
    decisions : array of shape (d,), optional
        The decisions; by default the classes.
    texts : mapping, optional
        Expressions that cells were written as, for words only.

    Examples
    --------
    >>> costs = Costs([[0, 1], [5, 0]], [0, 1])
    >>> costs.decide([[0.9, 0.1], [0.8, 0.2]])
    array([0, 1])
    >>> realized = costs.realized([0, 1, 1])
    >>> realized.prices
    array([[0., 1.],
           [5., 0.],
           [5., 0.]])
    >>> realized.error_cost
    array([1., 5., 5.])
    """

    matrix: Floats
    classes: AnyArray
    decisions: AnyArray | Any = None
    texts: Texts = field(default_factory=dict)

    def __post_init__(self) -> None:
        _set_labels(self)
        matrix = np.asarray(self.matrix, dtype=np.float64)
        k = len(self.classes)
        d = len(self.decisions)
        if matrix.ndim not in (2, 3) or matrix.shape[-2:] != (k, d):
            raise ValueError(
                f"Costs of {k} classes and {d} decisions need a matrix of shape ({k}, {d}) or "
                f"(n, {k}, {d}), truth by decision; got {matrix.shape}."
            )
        object.__setattr__(self, "matrix", _read_only(matrix))

    def __len__(self) -> int:
        if not self.is_per_row:
            raise TypeError("One matrix for all rows has no number of rows.")
        return len(self.matrix)

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        return str(self._in_words())

    def _repr_html_(self) -> str | None:
        return self._in_words()._repr_html_()

    def _in_words(self) -> CostSummary:
        from costboost.costs.summary import summarize  # which imports this module

        return summarize(self)

    @property
    def is_per_row(self) -> bool:
        """False if one (k, d) matrix serves all rows."""
        return self.matrix.ndim == 3

    @property
    def decides_classes(self) -> bool:
        """Whether the decisions are the classes, in the same order."""
        return same_labels(self.decisions, self.classes)

    def expected(self, proba: ArrayLike) -> Floats:
        """Return the expected cost of each decision, ``sum_j proba[i, j] * matrix[i, j, d]``.

        Parameters
        ----------
        proba : array of shape (n, k)
            Probability of each class on each row.

        Returns
        -------
        array of shape (n, d)
            Expected cost of each decision on each row.
        """
        p = np.asarray(proba, dtype=np.float64)
        k = len(self.classes)
        n_rows = len(self.matrix) if self.is_per_row else None
        if p.ndim != 2 or p.shape[1] != k or n_rows not in (None, len(p)):
            n = "n" if n_rows is None else n_rows
            raise ValueError(
                f"The 'proba' parameter of Costs must have shape ({n}, {k}), a column per class in "
                f"the order {listed(self.classes.tolist())}; got {p.shape}."
            )
        return expected_costs(p, self.matrix)

    def decide(self, proba: ArrayLike) -> Ints:
        """Take the decision of smallest expected cost (the Bayes rule), see `cheapest`.

        Parameters
        ----------
        proba : array of shape (n, k)
            Probability of each class on each row.

        Returns
        -------
        int array of shape (n,)
            Decisions, as indices into `decisions`.
        """
        return cheapest(self.expected(proba))

    def realized(self, y_index: ArrayLike) -> RealizedCosts:
        """Return the costs of rows whose classes are known.

        Parameters
        ----------
        y_index : int array of shape (n,)
            Class of each row, as an index into `classes`.

        Returns
        -------
        RealizedCosts
            Prices of the decisions on each row.
        """
        y = np.asarray(y_index, dtype=np.intp)
        if not self.is_per_row:
            prices = self.matrix[y]
        elif len(self.matrix) == len(y):
            prices = self.matrix[np.arange(len(y)), y]
        else:
            raise ValueError(
                f"Costs of rows need as many matrices as rows have classes, {len(y)}; got "
                f"{self.matrix.shape}."
            )
        return RealizedCosts(prices, y, self.classes, self.decisions, self.matrix, self.texts)

    def take(self, rows: AnyArray | slice) -> Costs:
        """Return the costs of some of the rows.

        Parameters
        ----------
        rows : int or bool array, or slice
            Which rows.

        Returns
        -------
        Costs
            Their costs.
        """
        if not self.is_per_row:
            return self
        return replace(self, matrix=self.matrix[rows])


@dataclass(frozen=True, eq=False)
class RealizedCosts:
    """What each decision costs on each row, its class being known.

    Parameters
    ----------
    prices : array of shape (n, d)
        Price of each decision on each row.
    y_index : int array of shape (n,)
        Class of each row, as an index into `classes`.
    classes : array of shape (k,)
        The classes.
    decisions : array of shape (d,), optional
        The decisions; by default the classes.
    matrix : array of shape (k, d) or (n, k, d), optional
        Costs under all classes, of which `prices` are a part; None if they are unknown.
    texts : mapping, optional
        Expressions that cells were written as, for words only.
    """

    prices: Floats
    y_index: Ints
    classes: AnyArray
    decisions: AnyArray | Any = None
    matrix: Floats | Any = None
    texts: Texts = field(default_factory=dict)

    def __post_init__(self) -> None:
        _set_labels(self)
        prices = np.asarray(self.prices, dtype=np.float64)
        y_index = np.asarray(self.y_index, dtype=np.intp)
        shape = (len(y_index), len(self.decisions))
        if prices.shape != shape:
            raise ValueError(
                f"Prices of {shape[1]} decisions on {shape[0]} rows must have shape {shape}; got "
                f"{prices.shape}."
            )
        object.__setattr__(self, "prices", _read_only(prices))
        object.__setattr__(self, "y_index", y_index)

    @staticmethod
    def concatenate(parts: Sequence[RealizedCosts]) -> RealizedCosts:
        """Return the rows of several parts, one after another.

        Parameters
        ----------
        parts : sequence of RealizedCosts
            Costs of the same classes and decisions, in the same form.

        Returns
        -------
        RealizedCosts
            The costs of all rows.
        """
        matrix = parts[0].matrix
        if matrix is not None and matrix.ndim == 3:
            matrix = np.concatenate([part.matrix for part in parts if part.matrix is not None])
        prices = np.concatenate([part.prices for part in parts])
        y_index = np.concatenate([part.y_index for part in parts])
        return replace(parts[0], prices=prices, y_index=y_index, matrix=matrix)

    def __len__(self) -> int:
        return len(self.y_index)

    @property
    def is_per_row(self) -> bool:
        """False if one (k, d) matrix serves all rows."""
        return self.matrix is None or self.matrix.ndim == 3

    @property
    def decides_classes(self) -> bool:
        """Whether the decisions are the classes, in the same order."""
        return same_labels(self.decisions, self.classes)

    @property
    def unrealized(self) -> Costs:
        """The costs of the same rows before their classes are known."""
        if self.matrix is None:
            k = len(self.classes)
            d = len(self.decisions)
            raise ValueError(
                "Expected costs need the cost of every decision under every truth, and only the "
                f"prices under the known truth were given. Pass costs of shape (n, {k}, {d})."
            )
        return Costs(self.matrix, self.classes, self.decisions, self.texts)

    @cached_property
    def regret(self) -> Floats:
        """Prices minus the row minimum, (n, d): what a decision costs beyond the cheapest one."""
        return _read_only(self.prices - self.prices.min(axis=1, keepdims=True))

    @cached_property
    def best_decision(self) -> Ints:
        """Effective label of each row, (n,): its cheapest decision; ties keep the true class."""
        # The decision named like each class, -1 if none is.
        positions = {label: d for d, label in enumerate(self.decisions.tolist())}
        same_name = np.array([positions.get(label, -1) for label in self.classes.tolist()])
        right = same_name[self.y_index]
        is_cheapest = _pick(self.regret, np.maximum(right, 0)) == 0.0
        return _read_only(np.where(is_cheapest & (right >= 0), right, self.prices.argmin(axis=1)))

    @cached_property
    def error_cost(self) -> Floats:
        """What missing the best of two decisions costs on each row, (n,)."""
        if len(self.decisions) != 2:
            raise ValueError(
                f"error_cost is defined for two decisions, and there are {len(self.decisions)}. "
                "Use regret, the price of every decision beyond the cheapest one."
            )
        return _read_only(np.abs(self.prices[:, 1] - self.prices[:, 0]))

    def take(self, rows: AnyArray | slice) -> RealizedCosts:
        """Return the costs of some of the rows.

        Parameters
        ----------
        rows : int or bool array, or slice
            Which rows.

        Returns
        -------
        RealizedCosts
            Their costs.
        """
        matrix = self.matrix
        if matrix is not None and matrix.ndim == 3:
            matrix = matrix[rows]
        return replace(self, prices=self.prices[rows], y_index=self.y_index[rows], matrix=matrix)

    def divided(self, unit: float) -> RealizedCosts:
        """Return the same costs in another unit.

        Parameters
        ----------
        unit : float
            What counts as 1.

        Returns
        -------
        RealizedCosts
            All costs divided by it.
        """
        return self._with_values(self._values / unit)

    def in_range(self, used: Bools) -> RealizedCosts:
        """Return the same costs in a unit in which they can be multiplied.

        Costs of usual size are returned as they are. Tiny ones are reduced and divided by the
        largest.

        Parameters
        ----------
        used : bool array of shape (n,)
            The rows that count for the size.

        Returns
        -------
        RealizedCosts
            Costs of which only the ratios matter.
        """
        largest = float(self.regret[used].max(initial=0.0))
        reduced = self._values - self._values.min(axis=-1, keepdims=True)
        scaled = in_range(reduced, largest)
        if scaled is reduced:
            return self
        return self._with_values(scaled)

    @property
    def _values(self):
        """The matrix, or the prices if there is none."""
        if self.matrix is None:
            return self.prices
        return self.matrix

    def _with_values(self, values):
        """Return other costs in the same form."""
        if self.matrix is None:
            return replace(self, prices=values)
        return Costs(values, self.classes, self.decisions).realized(self.y_index)

    # -- what decisions cost and save -----------------------------------------------------------

    def cost_of(self, chosen: ArrayLike) -> Floats:
        """Return the price of the decision taken on each row.

        Parameters
        ----------
        chosen : int array of shape (n,)
            Decisions, as indices into `decisions`.

        Returns
        -------
        array of shape (n,)
            What each row's decision costs, its unavoidable cost included.
        """
        return _pick(self.prices, self._checked(chosen))

    def _checked(self, chosen):
        return checked_codes(chosen, len(self), len(self.decisions), "decisions", "Costs")

    def totals(
        self, chosen: ArrayLike, weight: Floats | None = None, *, reduced: bool = False
    ) -> tuple[float, Floats]:
        """Return the total cost of the decisions taken, and of each constant decision.

        Parameters
        ----------
        chosen : int array of shape (n,)
            Decisions, as indices into `decisions`.
        weight : array of shape (n,), optional
            How often each row counts.
        reduced : bool, default=False
            Whether to count only what goes beyond the cheapest decision of each row.

        Returns
        -------
        total : float
            Of the decisions taken.
        constants : array of shape (d,)
            Of deciding the same for every row.
        """
        chosen = self._checked(chosen)
        if self.is_per_row:
            prices = self.regret if reduced else self.prices
            # Summed in the order of the decisions taken, so that a constant saves exactly 0.
            constants = np.array([_sum(column, weight) for column in prices.T])
            return _sum(_pick(prices, chosen), weight), constants
        # By outcome: no array of n rows.
        prices = self._values
        if reduced:
            prices = prices - prices.min(axis=1, keepdims=True)
        k, d = prices.shape
        outcomes = np.bincount(self.y_index * d + chosen, weight, minlength=k * d).reshape(k, d)
        total = (outcomes * prices).sum(axis=0).sum()
        return float(total), (outcomes.sum(axis=1)[:, None] * prices).sum(axis=0)

    def savings(self, chosen: ArrayLike, weight: Floats | None = None) -> float:
        """Return the savings, in plain money: ``1 - cost / cost of the best constant decision``.

        Parameters
        ----------
        chosen : int array of shape (n,)
            Decisions, as indices into `decisions`.
        weight : array of shape (n,), optional
            How often each row counts.

        Returns
        -------
        float
            See `costboost.metrics.savings_score`.

        Raises
        ------
        ValueError
            If the best constant decision costs nothing or earns.
        """
        cost, constants = self.totals(chosen, weight)
        best = int(constants.argmin())
        best_cost = float(constants[best])
        rounding = 0.0
        if self._values.min(initial=0.0) < 0:  # profits may cancel costs, but for rounding
            sizes = self._with_values(np.abs(self._values)).totals(chosen, weight)[1]
            rounding = 1e-12 * float(sizes[best])
        if best_cost <= rounding:
            what = "earns money" if best_cost < -rounding else "costs nothing"
            raise ValueError(
                f"Savings are not defined: the best constant decision, "
                f"{self.decisions.tolist()[best]!r}, {what}: use avoidable_cost_score, the share "
                "of the avoidable cost, or mean_cost, of costboost.metrics."
            )
        return 1.0 - cost / best_cost

    def avoidable_share(self, chosen: ArrayLike, weight: Floats | None = None) -> float:
        """Return the share of the avoidable cost that is saved.

        Parameters
        ----------
        chosen : int array of shape (n,)
            Decisions, as indices into `decisions`.
        weight : array of shape (n,), optional
            How often each row counts.

        Returns
        -------
        float
            See `costboost.metrics.avoidable_cost_score`.
        """
        return avoidable_share(*self.totals(chosen, weight, reduced=True))

    def mean_matrix(self, weight: Floats | None = None) -> Floats:
        """Return one (k, d) matrix for all rows: the matrix itself, or its weighted mean.

        Row j is the mean over the rows of class j (over all rows if there are none): only they can
        pay it. If only prices are known, it is that of the regrets, and for a class without rows
        every mistake gets the mean price of a mistake; if the decisions are not the classes, each
        decision gets its mean price over all rows.

        Parameters
        ----------
        weight : array of shape (n,), optional
            Weights of the rows; a row of weight 2 counts twice.

        Returns
        -------
        array of shape (k, d)
            Costs, truth by decision.
        """
        if not self.is_per_row:
            return np.array(self.matrix)
        if weight is None:
            weight = np.ones(len(self))
        k = len(self.classes)
        if self.matrix is None:
            masses = np.bincount(self.y_index, weight, minlength=k).astype(np.float64)
            columns = self.regret.T
            sums = [np.bincount(self.y_index, weight * column, minlength=k) for column in columns]
            return mean_prices(masses, np.stack(sums, 1), is_square=self.decides_classes)
        mean = np.average(self.matrix, axis=0, weights=weight)
        for j in range(k):
            of_class = np.where(self.y_index == j, weight, 0.0)
            if of_class.any():
                mean[j] = np.average(self.matrix[:, j], axis=0, weights=of_class)
        return mean


# -- functions of arrays --------------------------------------------------------------------------


def expected_costs(p: Floats, C: Floats) -> Floats:
    """Return the expected cost of each decision, (n, d), by probabilities (n, k) and any costs."""
    # What a truth costs at least is added last: it must not drown the differences of decisions.
    least = C.min(axis=-1, keepdims=True)
    if C.ndim == 2:
        return p @ (C - least) + p @ least
    above = np.zeros((len(p), C.shape[2]))
    for j in range(C.shape[1]):  # by truth: no second (n, k, d) array
        above += p[:, j, None] * (C[:, j] - least[:, j])
    return above + np.einsum("nj,njd->nd", p, least)


def cheapest(expected: Floats) -> Ints:
    """Return the decision of smallest expected cost.

    Of two decisions that tie the second is taken, which is the positive class where decisions are
    classes; of more the first of the cheapest ones. All decisions by expected costs follow it.

    Parameters
    ----------
    expected : array of shape (n, d)
        Expected cost of each decision.

    Returns
    -------
    int array of shape (n,)
        The column of the cheapest decision.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost.decisions import cheapest
    >>> cheapest(np.array([[1.0, 1.0], [1.0, 2.0]]))
    array([1, 0])
    """
    if expected.shape[1] == 2:
        return (expected[:, 1] <= expected[:, 0]).astype(np.intp)
    return expected.argmin(axis=1)


def avoidable_share(cost: float, constants: Floats) -> float:
    """Return the share of the avoidable cost that is saved, of costs without each row's minimum.

    If no constant decision could be improved, there is nothing to avoid. The result is then 0 if
    the cost is 0 too, else ``-cost / cost of the worst constant decision``: never NaN or infinite.

    Parameters
    ----------
    cost : float
        Cost of the decisions taken, beyond the cheapest ones.
    constants : array of shape (d,)
        The same of each constant decision.

    Returns
    -------
    float
        At most 1; see `costboost.metrics.avoidable_cost_score`.

    Examples
    --------
    >>> import numpy as np
    >>> avoidable_share(2.0, np.array([8.0, 10.0]))
    0.75
    >>> avoidable_share(2.0, np.array([0.0, 10.0]))
    -0.2
    """
    best = float(constants.min())
    if best > 0:
        return 1.0 - cost / best
    if cost > 0:
        return -cost / float(constants.max())
    return 0.0


def mean_prices(masses: Floats, sums: Floats, *, is_square: bool) -> Floats:
    """Return the mean price of each decision by class, with a fallback for classes without rows."""
    mean = sums / np.where(masses > 0, masses, 1.0)[:, None]
    empty = masses == 0
    if not empty.any():
        return mean
    total = float(masses.sum())
    if is_square:
        k = len(masses)
        mistake = (sums.sum() - np.trace(sums)) / max(total * (k - 1), 1e-300)
        mean[empty] = (mistake * (1.0 - np.eye(k)))[empty]
    else:
        mean[empty] = sums.sum(axis=0) / max(total, 1e-300)
    return mean


def to_proba(scores: Floats) -> Floats:
    """Return scores as probabilities, (n, k)."""
    if scores.ndim == 1:
        return np.stack([expit(-scores), expit(scores)], axis=1)
    return softmax(scores, axis=1)


def same_labels(labels: AnyArray, others: AnyArray) -> bool:
    """Whether two arrays hold the same labels in the same order."""
    return labels is others or (len(labels) == len(others) and labels.tolist() == others.tolist())


def _set_labels(costs):
    """Make arrays of the labels; the decisions are the classes if they have no names."""
    classes = np.asarray(costs.classes)
    decisions = classes
    if costs.decisions is not None:
        decisions = np.asarray(costs.decisions)
    object.__setattr__(costs, "classes", classes)
    object.__setattr__(costs, "decisions", decisions)


def _read_only(array):
    view = array.view()
    view.flags.writeable = False
    return view


def _pick(table, chosen):
    """Return the entry of each row that its decision picks."""
    return np.take_along_axis(table, chosen[:, None], axis=1)[:, 0]


def _sum(values, weight):
    if weight is None:
        return float(values.sum())
    return float((values * weight).sum())
