"""`Costs`: what decisions cost, on rows whose truth is known or not."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, softmax

from costboost._typing import AnyArray, Bools, Floats, Ints
from costboost._utils import in_range
from costboost.costs.forms import Reader, is_frame, positive_of, row_costs
from costboost.costs.labels import checked_codes, label_array, listed
from costboost.costs.words import CostSummary
from costboost.errors import CostWarning

ArrayT = TypeVar("ArrayT", bound=AnyArray)


class Costs:
    """What each decision costs under each truth: one (k, d) matrix, or one per row.

    The truth of the rows may be known (`codes`) or not; `known` adds it. Of rows whose truth is
    known, the prices of the decisions are enough. Arrays are read-only, and the caller's arrays are
    never written to. What is derived is computed when first asked for, so one matrix for all rows
    needs no memory per row until then.

    Parameters
    ----------
    classes : array of shape (k,)
        The classes, in the order of the rows of `matrix`.
    matrix : array of shape (k, d) or (n, k, d), optional
        Costs, truth by decision; None if only prices are known.
    decisions : array of shape (d,), optional
        The decisions, in the order of its columns; by default the classes.
    codes : int array of shape (n,), optional
        Truth of each row, as an index into `classes`; None if it is unknown.
    prices : array of shape (n, d), optional
        Price of each decision on each row whose truth is known, if there is no matrix.
    texts : mapping, optional
        Expressions that cells were written as, by their place (truth, decision).

    Attributes
    ----------
    classes : array of shape (k,)
        The classes.
    decisions : array of shape (d,)
        The decisions.
    matrix : array of shape (k, d) or (n, k, d), or None
        Costs, truth by decision.
    codes : int array of shape (n,), or None
        Truth of each row.

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

    # Defaults on the class: costs without a known truth, the usual ones in files, have no more.
    codes: Ints | Any = None
    _given_prices: Floats | None = None

    def __init__(
        self,
        classes: ArrayLike,
        matrix: ArrayLike | None = None,
        decisions: ArrayLike | None = None,
        *,
        codes: ArrayLike | None = None,
        prices: Floats | None = None,
        texts: Mapping[tuple[int, int], str] | None = None,
    ) -> None:
        if (matrix is None) == (prices is None) or (matrix is None and codes is None):
            raise ValueError(
                "Costs needs a matrix, or prices and the truth of their rows, codes; not both."
            )
        self.classes: AnyArray = np.asarray(classes)
        self.decisions: AnyArray = self.classes if decisions is None else np.asarray(decisions)
        given = np.asarray(prices if matrix is None else matrix, dtype=np.float64).view()
        given.flags.writeable = False
        # Any, because it is None where only prices are known.
        self.matrix: Floats | Any = None if matrix is None else given
        if matrix is None:
            self._given_prices = given
        if codes is not None:
            self.codes = np.asarray(codes, dtype=np.intp)
        self.texts = dict(texts or {})
        k, d = len(self.classes), len(self.decisions)
        n = given.shape[:1] if codes is None else self.codes.shape
        if given.shape not in ([(*n, d)] if matrix is None else [(k, d), (*n, k, d)]):
            raise ValueError(
                f"Costs of {k} classes and {d} decisions need a matrix of shape ({k}, {d}) or "
                f"(n, {k}, {d}), truth by decision, or prices of shape (n, {d}), of as many rows "
                f"as codes; got {given.shape}."
            )

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
    ) -> Costs:
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
            in a mapping also ``"classes"``, all labels, so that costs are found where a
            meta-estimator encodes the labels as 0, 1, ... in sorted order;
            another static `Costs`; a callable ``X -> (n, k, d)``; or None, every mistake costs 1.
            Entries are numbers, arrays with a price per row, or arithmetic over columns of X,
            ``"0.9 * amount + 15"``.
        costs : array, frame or mapping, optional
            Costs in place of `cost_matrix`: shape (n, k, d), each row's own matrix; a (k, d) matrix
            or a mapping, as above; for two classes a frame with a row per row and the columns
            ``fn``, ``fp``, ``tp``, ``tn`` (the first two at least), also called ``cost_fn`` or
            ``FN_cost``. If `codes` is given, also (n, d), the price of each decision on
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
        Costs
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
        truth = None if codes is None else np.asarray(codes, dtype=np.intp)
        given = cost_matrix if costs is None else costs
        if decisions is not None and not isinstance(decisions, np.ndarray):
            decisions = label_array(list(decisions))  # type: ignore[arg-type]
        name = "cost_matrix" if costs is None else "costs"
        n = len(truth) if n_samples is None and truth is not None else n_samples
        reader = Reader(np.asarray(classes), name, owner, decisions, n, X, as_classes)
        # An array with a matrix per row, the usual form, is checked and taken as it is.
        if not (isinstance(given, np.ndarray) and given.ndim == 3):
            if is_frame(costs):
                known = [*reader.classes.tolist(), *reader.columns.tolist()]
                given = row_costs(costs, known, positive_of(cost_matrix), reader.start)
            if isinstance(given, Costs):
                return given._read_by(reader, truth)
            are_prices = costs is not None and reader.are_prices(given, truth)
            if are_prices and truth is not None:
                prices, names = reader.prices(given, truth)
                return Costs(reader.classes, None, names, codes=truth, prices=prices)
        matrix, names, texts = reader.matrix(given)
        found = Costs(reader.classes, matrix, names, codes=truth, texts=texts)
        if (matrix.ndim == 2 or truth is not None) and found.decides_classes:
            _warn_if_swapped(matrix, reader)
        return found

    def _read_by(self, reader: Reader, codes: Ints | None) -> Costs:
        """One matrix for all rows, in the order of other classes and decisions."""
        if self.is_per_row:
            what = "must be one matrix for all rows, got Costs of single rows"
            raise reader.error(f"{what}. Pass their .matrix as costs=.")
        labels = self.classes.tolist(), self.decisions.tolist()
        matrix, names = reader.labelled(self.matrix, *labels)
        return Costs(reader.classes, matrix, names, codes=codes)

    @staticmethod
    def concat(parts: Sequence[Costs]) -> Costs:
        """The rows of several parts, one after another.

        Parameters
        ----------
        parts : sequence of Costs
            Costs of the same classes and decisions, in the same form, the truth known.

        Returns
        -------
        Costs
            The costs of all rows.
        """
        given = {"codes": np.concatenate([part._truth for part in parts])}
        if parts[0].is_per_row:
            name = "prices" if parts[0].matrix is None else "matrix"
            given[name] = np.concatenate([part._given for part in parts])
        return parts[0]._with(**given)

    def __len__(self) -> int:
        if self.codes is None and not self.is_per_row:
            raise TypeError("One matrix for all rows has no number of rows.")
        return len(self.matrix if self.codes is None else self.codes)

    def __bool__(self) -> bool:
        return True

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
    def summary(self) -> CostSummary:
        """Smallest, mean and largest cost of every pair, in words."""
        low = mean = high = self.matrix
        if self.is_per_row:
            low, mean, high = np.full((3, len(self.classes), len(self.decisions)), np.nan)
            for j in range(len(self.classes)):  # only rows of a truth can pay its costs
                own = self.matrix[:, j] if self.codes is None else self.prices[self.codes == j]
                if len(own):
                    low[j], mean[j], high[j] = own.min(axis=0), own.mean(axis=0), own.max(axis=0)
        n = len(self) if self.is_per_row else None
        return CostSummary(self.classes, self.decisions, low, mean, high, n, self.texts)

    def known(self, codes: ArrayLike) -> Costs:
        """The same costs once the truth of each row is known.

        Parameters
        ----------
        codes : int array of shape (n,)
            Truth of each row, as an index into `classes`.

        Returns
        -------
        Costs
            Costs with prices of the decisions on each row.
        """
        return self._with(matrix=self._table, codes=codes)

    @property
    def unknown(self) -> Costs:
        """The same costs before the truth is known."""
        return self._with(matrix=self._table, codes=None)

    def _with(self, **changes: Any) -> Costs:
        given = {"matrix": self.matrix, "codes": self.codes, "prices": self._given_prices}
        known = {"decisions": self.decisions, "texts": self.texts}
        return Costs(self.classes, **{**known, **given, **changes})

    @property
    def _table(self) -> Floats:
        """The matrix, where it is needed."""
        if self.matrix is None:
            k, d = len(self.classes), len(self.decisions)
            raise ValueError(
                "Expected costs need the cost of every decision under every truth, and only the "
                f"prices under the known truth were given. Pass costs of shape (n, {k}, {d})."
            )
        return self.matrix

    @property
    def _truth(self) -> Ints:
        """The codes, where they are needed."""
        if self.codes is None:
            raise ValueError(
                "What decisions cost on each row needs the truth of the rows, which is unknown "
                "here. Add it by known(codes)."
            )
        return self.codes

    @cached_property
    def prices(self) -> Floats:
        """Price of each decision on each row given its truth, (n, d)."""
        if self._given_prices is not None:
            return self._given_prices
        rows = (np.arange(len(self._truth)),) if self.is_per_row else ()
        return frozen(self.matrix[*rows, self._truth])

    @cached_property
    def reduced(self) -> Floats:
        """Prices minus the row minimum, (n, d): what a decision costs beyond the cheapest one."""
        return frozen(self.prices - self.prices.min(axis=1, keepdims=True))

    @cached_property
    def labels(self) -> Ints:
        """Effective label of each row, (n,): its cheapest decision; ties keep the true class."""
        # The decision named like each class, -1 if none is.
        places = {label: d for d, label in enumerate(self.decisions.tolist())}
        named = np.array([places.get(label, -1) for label in self.classes.tolist()])
        own = named[self._truth]
        is_cheapest = _taken(self.reduced, np.maximum(own, 0)) == 0.0
        return frozen(np.where(is_cheapest & (own >= 0), own, self.prices.argmin(axis=1)))

    @cached_property
    def error_cost(self) -> Floats:
        """Two decisions: what missing the effective label costs on each row, (n,)."""
        if len(self.decisions) != 2:
            raise ValueError(
                f"error_cost is defined for two decisions, and there are {len(self.decisions)}. "
                "Use reduced, the price of every decision."
            )
        return frozen(np.abs(self.prices[:, 1] - self.prices[:, 0]))

    def average(self, weights: Floats | None = None) -> Floats:
        """One (k, d) matrix for all rows: the matrix itself, or its weighted mean over the rows.

        Where the truth is known, row j is the mean over the rows whose truth is j (over all rows if
        there are none): only they can pay it. If only prices are known, it is that of the reduced
        prices, and for a class without rows every mistake gets the mean price of a mistake; if the
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
        if not self.is_per_row:
            return np.array(self.matrix)
        table: Floats = self.reduced if self.matrix is None else self.matrix
        k, w = len(self.classes), np.ones(len(table)) if weights is None else weights
        if self.matrix is not None:
            mean = np.asarray(np.average(table, axis=0, weights=w))
            for j in range(k) if self.codes is not None else ():
                of_class = np.where(self.codes == j, w, 0.0)
                if of_class.any():
                    mean[j] = np.average(table[:, j], axis=0, weights=of_class)
        else:
            masses = np.bincount(self.codes, w, minlength=k).astype(np.float64)
            sums = [np.bincount(self.codes, w * column, minlength=k) for column in table.T]
            mean = mean_prices(masses, np.stack(sums, 1), is_square=self.decides_classes)
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
        given = {"codes": self.codes, "prices": self._given_prices}
        if self.is_per_row:
            given["matrix"] = self.matrix
        return self._with(**{name: x[rows] for name, x in given.items() if x is not None})

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
        return self._of(self._given / unit)

    def _of(self, table: Floats) -> Costs:
        """Other costs in the same form."""
        return self._with(**{"prices" if self.matrix is None else "matrix": table}, texts=None)

    @property
    def _given(self) -> Floats:
        """The matrix, or the prices if there is none."""
        return self.prices if self.matrix is None else self.matrix

    def in_range(self, used: Bools) -> Costs:
        """The same costs, in a unit in which they can be multiplied.

        Costs of usual size are returned as they are. Tiny ones are reduced and divided by the
        largest.

        Parameters
        ----------
        used : bool array of shape (n,)
            The rows that count for the size.

        Returns
        -------
        Costs
            Costs of which only the ratios matter.
        """
        largest = float(self.reduced[used].max(initial=0.0))
        reduced = self._given - self._given.min(axis=-1, keepdims=True)
        scaled = in_range(reduced, largest)
        return self if scaled is reduced else self._of(scaled)

    # -- what decisions cost while the truth is unknown -----------------------------------------

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
        p, k = np.asarray(proba, dtype=np.float64), len(self.classes)
        rows = len(self._table) if self.is_per_row else None
        if p.ndim != 2 or p.shape[1] != k or rows not in (None, len(p)):
            n = "n" if rows is None else rows
            raise ValueError(
                f"The 'proba' parameter of Costs must have shape ({n}, {k}), a column per class in "
                f"the order {listed(self.classes.tolist())}; got {p.shape}."
            )
        return expected_costs(p, self.matrix)

    def decide(self, proba: ArrayLike) -> Ints:
        """Take the decision of smallest expected cost (the Bayes rule).

        Of two decisions that tie the second is taken, which is the positive class where decisions
        are classes; of more the first of the cheapest ones: `costboost.decisions.cheapest` of what
        `expected` returns.

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

    # -- what they cost once it is known --------------------------------------------------------

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
        return _taken(self.prices, self._decided(decisions))

    def _decided(self, decisions: ArrayLike) -> Ints:
        return checked_codes(decisions, len(self._truth), len(self.decisions), "decisions", "Costs")

    def totals(
        self, decisions: ArrayLike, weights: Floats | None = None, *, reduced: bool = False
    ) -> tuple[float, Floats]:
        """Total cost of the decisions taken, and of each constant decision.

        Parameters
        ----------
        decisions : int array of shape (n,)
            Decisions, as indices into `decisions`.
        weights : array of shape (n,), optional
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
        taken = self._decided(decisions)
        k, d = len(self.classes), len(self.decisions)
        if not self.is_per_row:  # by outcome: no array of n rows
            prices = self.matrix - (self.matrix.min(axis=1, keepdims=True) if reduced else 0.0)
            outcomes = np.bincount(self._truth * d + taken, weights, minlength=k * d).reshape(k, d)
            total = (outcomes * prices).sum(axis=0).sum()
            return float(total), (outcomes.sum(axis=1)[:, None] * prices).sum(axis=0)
        prices = self.reduced if reduced else self.prices
        # Summed in the same order as the decisions taken, so that a constant saves exactly 0.
        constants = np.array([_sum(column, weights) for column in prices.T])
        return _sum(_taken(prices, taken), weights), constants

    def savings(self, decisions: ArrayLike, weights: Floats | None = None) -> float:
        """Savings, in plain money: ``1 - cost / cost of the best constant decision``.

        Parameters
        ----------
        decisions : int array of shape (n,)
            Decisions, as indices into `decisions`.
        weights : array of shape (n,), optional
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
        cost, constants = self.totals(decisions, weights)
        place = int(constants.argmin())
        best = float(constants[place])
        rounding = 0.0
        if self._given.min(initial=0.0) < 0:  # profits may cancel costs, but for rounding
            sizes = self._of(np.abs(self._given)).totals(decisions, weights)[1]
            rounding = 1e-12 * float(sizes[place])
        if best <= rounding:
            what = "earns money" if best < -rounding else "costs nothing"
            raise ValueError(
                f"Savings are not defined: the best constant decision, "
                f"{self.decisions.tolist()[place]!r}, {what}: use avoidable_cost_score, the share "
                "of the avoidable cost, or mean_cost, of costboost.metrics."
            )
        return 1.0 - cost / best

    def avoidable_share(self, decisions: ArrayLike, weights: Floats | None = None) -> float:
        """Share of the avoidable cost that is saved; each row's minimum is taken off first.

        Parameters
        ----------
        decisions : int array of shape (n,)
            Decisions, as indices into `decisions`.
        weights : array of shape (n,), optional
            How often each row counts.

        Returns
        -------
        float
            See `costboost.metrics.avoidable_cost_score`.
        """
        return avoidable_share(*self.totals(decisions, weights, reduced=True))

    def __repr__(self) -> str:
        kind = "prices" if self.matrix is None else "matrix"
        labels = f"{self.classes.tolist()} by {self.decisions.tolist()}"
        return f"<Costs of {labels}: {kind} of shape {self._given.shape}>"

    def __str__(self) -> str:
        return str(self.summary)

    def _repr_html_(self) -> str | None:
        return self.summary._repr_html_()


def avoidable_share(cost: float, constants: Floats) -> float:
    """Share of the avoidable cost that is saved, of costs without each row's minimum.

    If no constant decision could be improved, there is nothing to avoid. The result is then 0 if
    the cost is 0 too, else ``-cost / cost of the worst constant decision``: never NaN or infinite.

    Parameters
    ----------
    cost : float
        Reduced cost of the decisions taken.
    constants : array of shape (d,)
        Reduced cost of each constant decision.

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
    return -cost / float(constants.max()) if cost > 0 else 0.0


def mean_prices(masses: Floats, sums: Floats, *, is_square: bool) -> Floats:
    """Mean price of each decision under each truth, with a fallback for classes without rows."""
    mean: Floats = sums / np.where(masses > 0, masses, 1.0)[:, None]
    empty, total, k = masses == 0, float(masses.sum()), len(masses)
    if empty.any() and is_square:
        fallback = (sums.sum() - np.trace(sums)) / max(total * (k - 1), 1e-300)
        mean[empty] = (fallback * (1.0 - np.eye(k)))[empty]
    elif empty.any():
        mean[empty] = sums.sum(axis=0) / max(total, 1e-300)
    return mean


def same_labels(one: AnyArray, other: AnyArray) -> bool:
    """Whether two arrays hold the same labels in the same order."""
    return one is other or (len(one) == len(other) and one.tolist() == other.tolist())


def frozen(array: ArrayT) -> ArrayT:
    """Read-only view."""
    view = array.view()
    view.flags.writeable = False
    return view


def _warn_if_swapped(matrix: Floats, reader: Reader) -> None:
    """Warn if a right decision costs more than every mistake on the same truth, on all rows."""
    known = reader.classes.tolist()
    right = matrix.diagonal(axis1=-2, axis2=-1)
    mistakes = np.where(np.eye(len(known), dtype=bool), -np.inf, matrix).max(axis=-1)
    swapped = np.flatnonzero((right > mistakes).reshape(-1, len(known)).all(axis=0))
    if not len(swapped) or len(known) < 2 or not matrix.size:
        return
    j = swapped[0]
    costs, most = (float(table[..., j].max()) for table in (right, mistakes))
    remedy = f"Rows are the truth, columns the decision, both in the order {listed(known)}: is the "
    remedy += "matrix transposed?"
    if most < 0 <= costs:
        remedy = "A negative cost is a profit. Write costs without the minus sign."
    warnings.warn(
        f"{reader.start} makes the right decision the most costly one: deciding {known[j]!r} "
        f"when the truth is {known[j]!r} costs {costs:.6g}, a mistake at most {most:.6g}. {remedy}",
        CostWarning,
        stacklevel=3,
    )


def _taken(table: Floats, decisions: Ints) -> Floats:
    """The entry of each row that its decision picks."""
    return np.take_along_axis(table, decisions[:, None], axis=1)[:, 0]


def _sum(values: Floats, weights: Floats | None) -> float:
    return float(values.sum() if weights is None else (values * weights).sum())


def to_proba(scores: Floats) -> Floats:
    """Scores as probabilities, (n, k)."""
    if scores.ndim == 1:
        return np.stack([expit(-scores), expit(scores)], axis=1)
    return np.asarray(softmax(scores, axis=1))


def expected_costs(p: Floats, C: Floats) -> Floats:
    """Expected cost of every decision, (n, d), by probabilities (n, k) and costs of any rows."""
    # What a truth costs at least is added last: it must not drown the differences of decisions.
    least = C.min(axis=-1, keepdims=True)
    if C.ndim == 2:
        return np.asarray(p @ (C - least) + p @ least)
    above = np.zeros((len(p), C.shape[2]))
    for j in range(C.shape[1]):  # by truth: no second (n, k, d) array
        above += p[:, j, None] * (C[:, j] - least[:, j])
    return np.asarray(above + np.einsum("nj,njd->nd", p, least))


def cheapest(expected: Floats) -> Ints:
    """Decision of smallest expected cost.

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
    return np.asarray(expected.argmin(axis=1), dtype=np.intp)
