"""What a report is about: rows with a known truth, probabilities, costs and decisions, checked.

`Case.operating_point` and ``operatingPoint`` in ``assets/report.js`` are one definition of what is
decided, and what it costs, at one position of the sliders; computed in the same order, so that
their decisions agree to the last bit:

1. The factor ``f[j, e]`` multiplies the stated cost of decision e when the truth is j.
2. The expected cost of decision e on a row is ``sum over j of f[j, e] * (p[j] * C[j, e])``.
3. A row gets the decision of smallest expected cost, by `cheapest`: of two that tie the second, of
   more the first.
4. With a capacity c of one decision, the rows that were to get it are sorted by what it saves
   against the row's cheapest other decision. The first ones keep it, as long as their weights sum
   to at most c; the others get their cheapest other decision. Ties keep the order of the rows.
5. A row pays ``f[truth, e] * price[e]`` times its weight.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Bools, Floats, Ints
from costboost._utils import check_weights, invalid
from costboost._words import count
from costboost.columns.table import has_columns
from costboost.costs import Costs, RealizedCosts, read_realized_costs
from costboost.costs.labels import of_length, position, positions
from costboost.costs.spec import positive_code, positive_of
from costboost.decisions import Decisions, cheapest, expected_cost
from costboost.decisions.arrays import column_of, columns_of, finite
from costboost.decisions.capacity import by_saving
from costboost.estimator import CostSensitiveClassifier

if TYPE_CHECKING:
    from costboost.report.headline import Headline

# Names that the report gives to its own rules.
OWN_NAMES = ("The model", "Threshold 0.5", "Most likely class")

# With at most this many kinds of mistake, each has its own lever; else each true class has one.
MOST_CELLS = 6

# Maps row numbers to (rows, features): each feature's part, in money, of what the decision taken
# is expected to save against the next-best one. Positive parts speak for the decision taken.
Explain = Callable[[Ints], Floats]


class OperatingPoint(NamedTuple):
    """What is decided and paid at one position of the sliders."""

    decided: Ints
    counts: Floats  # weight of the rows of each decision (d,)
    cost: float


@dataclass(frozen=True, eq=False)
class Case:
    """Arrays that a report is made of; `make_case` checks and completes them.

    Attributes
    ----------
    costs : RealizedCosts
        What each decision costs on each row, whose truth is known.
    matrix : array of shape (k, d) or (n, k, d)
        What each decision costs for each truth, as known when deciding.
    proba : array of shape (n, k)
        Probabilities of the classes.
    weights : array of shape (n,)
        Weights of the rows.
    groups : array of shape (n,) or None
        Groups of rows that are alike, for the intervals.
    decided : array of shape (n,)
        Codes of the model's decisions.
    nothing : int or None
        Code of the decision that means doing nothing, if it was named.
    idle : int or None
        Code of the decision that rows below a threshold get: doing nothing, or with two classes the
        right one of the class that is not positive. None if there is no such decision.
    time : array of datetime64 of shape (n,) or None
        When each row happened.
    segments, features : mapping of name to array of shape (n,)
        Columns to break the costs down by; features in the order of the columns of `explain`.
    explain : callable or None
        Maps row numbers to an array (rows, features): parts of the saving, in money.
    rivals : mapping of name to array of shape (n,)
        Codes of the decisions of other ways to decide.
    ids : array of shape (n,) or None
        Names of the rows.
    title, unit : str
        Heading of the page; sign of the currency, for example ``"€"``.
    settings : mapping of str to str
        Settings of the model, as text.
    doubts : tuple of str
        Reasons not to believe a good result, such as rows that the model was trained on.
    are_new : bool
        Whether it is known that the model was not trained on these rows.
    """

    costs: RealizedCosts
    matrix: Floats
    proba: Floats
    weights: Floats
    decided: Ints
    groups: AnyArray | None = None
    nothing: int | None = None
    idle: int | None = None
    time: AnyArray | None = None
    segments: Mapping[str, AnyArray] = field(default_factory=dict)
    features: Mapping[str, AnyArray] = field(default_factory=dict)
    explain: Explain | None = None
    rivals: Mapping[str, Ints] = field(default_factory=dict)
    ids: AnyArray | None = None
    title: str = ""
    unit: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()
    are_new: bool = False

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.decided)

    @cached_property
    def classes(self) -> list[str]:
        """Names of the k classes (the truth)."""
        return [str(label) for label in self.costs.classes.tolist()]

    @cached_property
    def decisions(self) -> list[str]:
        """Names of the d decisions."""
        return [str(label) for label in self.costs.decisions.tolist()]

    @property
    def k(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def d(self) -> int:
        """Number of decisions."""
        return len(self.decisions)

    @cached_property
    def codes(self) -> Ints:
        """Code of each row's true class."""
        return np.asarray(self.costs.y_index)

    @property
    def prices(self) -> Floats:
        """What each decision costs on the row, its truth being known (n, d)."""
        return self.costs.prices

    @cached_property
    def average(self) -> Floats:
        """Mean cost matrix (k, d): of each truth over its own rows, where it has some."""
        known = self.costs
        weighed = Costs(self.matrix, known.classes, known.decisions).realized(known.y_index)
        return weighed.mean_matrix(self.weights)

    @cached_property
    def right(self) -> Ints:
        """Cheapest decision of each class, by the mean costs (k,)."""
        return np.asarray(self.average.argmin(axis=1))

    @cached_property
    def risky(self) -> Ints:
        """Classes for which the idle decision is a mistake; none if every or no class is."""
        if self.idle is None:
            return np.empty(0, dtype=np.intp)
        found = np.flatnonzero(self.right != self.idle)
        return found if len(found) < self.k else found[:0]

    @cached_property
    def risk(self) -> Floats:
        """Probability (n,) that the idle decision is a mistake."""
        return np.asarray(self.proba[:, self.risky].sum(axis=1))

    @property
    def rows_in_words(self) -> str:
        """Return the number of rows, and that they are new if that is known."""
        rows = f"{count(self.weights.sum())} cases"
        if self.are_new:
            return f"{rows} that the model has not seen"
        return rows

    def spent(self, decided: Ints | int) -> Floats:
        """What decisions, or one for all rows, cost: price times weight of each row (n,)."""
        return np.asarray(self.prices[np.arange(self.n), decided] * self.weights)

    @cached_property
    def constant(self) -> int:
        """The constant decision that is cheapest on these rows."""
        return int((self.weights @ self.prices).argmin())

    @cached_property
    def perfect(self) -> Floats:
        """What the cheapest decision of each row costs (n,)."""
        return np.asarray(self.prices.min(axis=1) * self.weights)

    # -- at one position of the sliders ---------------------------------------------------------

    @cached_property
    def levers(self) -> dict[str, Bools]:
        """Cells (k, d) by name: one per kind of mistake, or per true class if there are many."""
        # A mistake of class j is a decision other than the cheapest one of that class, on average,
        # if it ever costs anything.
        wrong = np.any(self.matrix.reshape(-1, self.k, self.d), axis=0)
        wrong[np.arange(self.k), self.right] = False
        pairs = np.argwhere(wrong)
        places: dict[str, Any] = {self.mistake(j, e): (j, e) for j, e in pairs}
        if len(pairs) > MOST_CELLS:
            places = {f"Mistakes on {self.classes[j]}": j for j, _ in pairs}
        found = {name: np.zeros_like(wrong) for name in places}
        for name, place in places.items():
            found[name][place] = wrong[place]
        return found

    def mistake(self, truth: int, decision: int) -> str:
        """A kind of mistake in words."""
        return f"Deciding {self.decisions[decision]} when it is {self.classes[truth]}"

    def factors(self, values: Any = None) -> Floats:
        """Factors (k, d) of the levers' positions; 1 where no lever acts."""
        factors = np.ones((self.k, self.d))
        if values is not None:
            for cells, value in zip(self.levers.values(), values, strict=True):
                factors[cells] = value
        return factors

    def expected(self, factors: Floats | float = 1.0) -> Floats:
        """Expected cost of each decision (n, d)."""
        weighed = np.broadcast_to(factors, (self.k, self.d))
        # Added class by class: JavaScript gets the same bits.
        parts = (weighed[j] * (self.proba[:, [j]] * self.matrix[..., j, :]) for j in range(self.k))
        return np.asarray(sum(parts, np.zeros((self.n, self.d))))

    def operating_point(
        self, values: Any = None, capacity: float | None = None, limited: int | None = None
    ) -> OperatingPoint:
        """Decisions and costs at one position of the sliders.

        Parameters
        ----------
        values : sequence of float, optional
            A factor for each of `levers`; by default the stated costs.
        capacity, limited : float, int, optional
            Largest weight of the rows that may get a decision, and its code.

        Returns
        -------
        OperatingPoint
            Decisions, counts and costs.
        """
        factors = self.factors(values)
        expected = self.expected(factors)
        decided: Ints = cheapest(expected)
        if capacity is not None and limited is not None:
            rows, other, _ = by_saving(expected, decided, limited)
            lost = np.cumsum(self.weights[rows]) > capacity
            decided[rows[lost]] = other[lost]
        paid = self.by_cell(self.spent(decided), decided) * factors
        return OperatingPoint(decided, sums(decided, self.weights, self.d), float(paid.sum()))

    def by_cell(self, values: Floats, decided: Ints) -> Floats:
        """Sums of the values by truth and decision (k, d)."""
        cell = self.codes * self.d + decided
        return sums(cell, values, self.k * self.d).reshape(self.k, self.d)

    def take(self, rows: Ints, weights: Floats) -> Case:
        """Some of the rows, with new weights, for the sliders."""
        matrix = self.matrix[rows] if self.matrix.ndim == 3 else self.matrix
        costs, proba, decided = self.costs.take(rows), self.proba[rows], self.decided[rows]
        return replace(
            self, costs=costs, matrix=matrix, proba=proba, weights=weights, decided=decided
        )


@dataclass(frozen=True, eq=False)
class ReportData:
    """All numbers of a report, as Python objects.

    Attributes
    ----------
    case : Case
        The arrays it was made of.
    headline : Headline
        Costs and savings of the model and the alternatives.
    sliders : dict
        The ``capacities`` that the slider can take; the number of ``rows`` the sliders act on,
        the relative ``error`` of their total cost if these are a sample, the rows that the model
        decided otherwise (``disagree``), and what the page embeds (``packed``).
    thresholds : dict or None
        Total cost by threshold: ``thresholds``, ``costs`` and ``best`` (threshold and cost, in
        hindsight). None if rows are not told apart by one probability, as with many classes.
    calibration : dict
        Of the probability of ``name``, the classes that call for action or the most likely one:
        ``predicted`` and ``observed`` frequencies, ``low``, ``high`` and ``rows`` of each bin.
    capacities : list of dict
        Cost by capacity of each ``decision`` other than the idle one: ``capacity``, ``cost``,
        ``expected_cost``, ``price`` (as `costboost.decisions.capacity_curve`), ``wanted``.
    break_even : dict or None
        For each cost the factors, low and high, between which the model stays cheaper than every
        constant decision. None if costs are known only afterwards.
    mistakes : list of dict
        The costliest mistakes: ``row``, ``truth``, ``decided``, ``cheapest``, ``paid``,
        ``avoidable``, ``probability``, ``reasons``.
    outcomes : dict
        ``rows``, ``paid`` and ``avoidable`` by truth and decision (k, d).
    segments : dict of str to dict
        Costs by segment: ``labels``, and for each its ``rows``, ``constant``,
        ``model``, ``perfect``.
    features : dict or None
        Features by money: ``names``, ``money``, ``rows``.
    about : dict
        ``data``, ``settings``, ``versions`` as pairs, ``costs`` in words.
    """

    case: Case
    headline: Headline
    sliders: dict[str, Any]
    thresholds: dict[str, Any] | None
    calibration: dict[str, Any]
    capacities: list[dict[str, Any]]
    break_even: dict[str, tuple[float, float]] | None
    mistakes: list[dict[str, Any]]
    outcomes: dict[str, Floats]
    segments: dict[str, dict[str, Any]]
    features: dict[str, Any] | None
    about: dict[str, Any]


def sums(place: Ints, values: Floats, size: int = 0) -> Floats:
    """Sum of the values at each place (at least `size` places)."""
    return np.bincount(place, values, minlength=size).astype(np.float64)


def make_case(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    decisions: ArrayLike | None = None,
    costs: Any = None,
    decided: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    groups: Any = None,
    nothing: Any = None,
    positive: Any = None,
    time: Any = None,
    segments: Any = None,
    features: Any = None,
    explain: Explain | ArrayLike | None = None,
    rivals: Mapping[str, Any] | None = None,
    ids: Any = None,
    title: str | None = None,
    unit: str = "",
    settings: Mapping[str, Any] | None = None,
) -> Case:
    """Check the arrays of a report and complete them.

    Parameters
    ----------
    y : array of shape (n,)
        True labels.
    proba : array of shape (n, k)
        Probabilities of the classes.
    classes : array of shape (k,), optional
        Labels, in the order of the columns of `proba`; by default the sorted labels of `y`.
    decisions : array of shape (d,), optional
        Labels of the decisions; by default the classes, or those that labelled costs name.
    costs : array, frame, mapping or RealizedCosts, optional
        Costs in any form of `costboost.costs.read_realized_costs`, for example truth by
        decision, of shape (k, d) or (n, k, d), as known when deciding. Of shape (n, d), what each
        decision costs on the row: its means by class then stand for the costs known when deciding.
        None: every mistake costs 1.
    decided : array of shape (n,), optional
        Labels of the model's decisions; by default the cheapest by `proba` and `costs`.
    sample_weight : array of shape (n,), optional
        Weights of the rows.
    groups : str or array of shape (n,), optional
        Group of each row, such as a customer, if rows of one group are alike: a column of
        `features`, or an array. Intervals then take groups for independent, not rows.
    nothing : label, optional
        The decision that means doing nothing; the model is then compared with that, too.
    positive : label, optional
        With two classes, the one that calls for action; by default the last.
    time : str or array of shape (n,), optional
        When each row happened, as a column of `features` or anything that numpy converts to
        datetime64.
    segments : str, list of str, or mapping of name to array of shape (n,), optional
        Columns to break the costs down by, such as the amount. Numbers are shown by tenths of the
        rows.
    features : frame or mapping of name to array of shape (n,), optional
        Values of the features.
    explain : callable or array of shape (n, features), optional
        Each feature's part, in money, of what the decision taken is expected to save against the
        next-best one; a callable takes row numbers, and only the rows shown are explained.
    rivals : mapping of name to array, optional
        Probabilities (n, k), decided by the same costs; or labels of decisions (n,).
    ids : str or array of shape (n,), optional
        Names of the rows in the table of mistakes; by default their numbers.
    title : str, optional
        Heading of the page; by default it names the decisions.
    unit : str, default=""
        Sign of the currency.
    settings : mapping, optional
        Settings of the model, shown as text.

    Returns
    -------
    Case
        The checked arrays.

    Examples
    --------
    >>> case = make_case(
    ...     ["ok", "fraud"], [[0.1, 0.9], [0.3, 0.7]], costs=[[0, 80], [5, 0]], positive="fraud"
    ... )
    >>> case.decided.tolist(), case.title
    ([0, 0], 'Cost report: fraud or ok')
    """
    truth, owner = np.asarray(y), "make_case"
    labels = np.unique(truth) if classes is None else np.asarray(classes)
    n, k = len(truth), len(labels)
    p = _table(proba, (n, k), "proba")
    codes = positions(truth, labels, "classes", "y", owner, n)
    known = costs
    if not isinstance(costs, RealizedCosts):
        # As many rows as classes: a square of numbers is the matrix, not the prices of rows.
        form = (costs, None) if costs is None or np.shape(costs)[:1] == (k,) else (None, costs)
        known = read_realized_costs(
            *form, classes=labels, decisions=decisions, y_index=codes, owner=owner
        )
    named = known.decisions
    if costs is None and decisions is not None and not np.array_equal(decisions, labels):
        rule = "is needed where the decisions are not the classes, got None."
        raise invalid("costs", owner, rule)
    if n < 2 or k < 2 or len(named) < 2:
        given = f"{n} rows, {k} classes and {len(named)} decisions"
        raise ValueError(f"{owner} needs at least two rows, classes and decisions, got {given}.")
    weights = check_weights(sample_weight, n, owner)
    matrix = known.mean_matrix(weights) if known.matrix is None else known.matrix
    if taken := [name for name in rivals or {} if name in OWN_NAMES]:
        rule = "must not use names of the report's own rules"
        raise invalid("rivals", owner, f"{rule}, got {taken}.")

    def decide(given: Any, name: str) -> Ints:
        """Labels of decisions as they are; probabilities by the smallest expected cost."""
        if np.ndim(given) != 2:
            return positions(given, named, "decisions", name, owner, n)
        return cheapest(expected_cost(_table(given, (n, k), name), matrix))

    def column(values: Any, name: str) -> Any:
        if values is not None:
            return of_length(column_of(values, features, name, owner), n, name, owner)

    if isinstance(segments, str):
        segments = [segments]
    if isinstance(segments, Sequence):
        segments = {name: column(name, "segments") for name in segments}
    if explain is not None and not callable(explain):
        explain = _table(explain, (n, np.shape(explain)[-1]), "explain").__getitem__
    idle = None if nothing is None else position(nothing, named, "decisions", "nothing", owner)
    heading = f"Cost report: {' or '.join(map(str, named))}" if len(named) < 5 else "Cost report"
    found = Case(
        costs=known,
        matrix=matrix,
        proba=p,
        weights=weights,
        decided=decide(p if decided is None else decided, "decided"),
        groups=column(groups, "groups"),
        nothing=idle,
        idle=idle,
        time=None if time is None else _time(column(time, "time")),
        segments=columns_of(segments, n, "segments", owner),
        features=columns_of(features, n, "features", owner),
        explain=explain,
        rivals={name: decide(one, f"rivals[{name!r}]") for name, one in (rivals or {}).items()},
        ids=column(ids, "ids"),
        title=heading if title is None else title,
        unit=unit,
        settings={str(name): str(value) for name, value in (settings or {}).items()},
    )
    if k == 2:
        calls = labels[1] if positive is None else positive
        usual = 1 - position(calls, labels, "classes", "positive", owner)
        found = replace(found, idle=int(found.right[usual]) if idle is None else idle)
    return found


def _table(values: ArrayLike, shape: tuple[int, ...], name: str) -> Floats:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != shape:
        raise invalid(name, "make_case", f"must have shape {shape}, got {array.shape}.")
    return finite(array, name, "make_case")


def _time(given: AnyArray) -> AnyArray:
    try:
        moments = given.astype("datetime64[s]")
    except ValueError as error:
        rule = f"must hold dates: {error}. Use pandas.to_datetime."
        raise invalid("time", "make_case", rule) from error
    if np.isnat(moments).any():
        raise invalid("time", "make_case", "must not have missing dates.")
    return moments


# -- a fitted classifier on rows whose truth is known ---------------------------------------------


def case_of(
    model: CostSensitiveClassifier,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    costs: Any = None,
    positive: Any = None,
    **options: Any,
) -> Case:
    """Gather what a report needs from a fitted classifier; `options` are those of `make_case`."""
    decided, known = model.judged(X, y, costs=costs)
    proba: Any = decided.proba
    found = make_case(
        model.classes_[known.y_index],
        proba,
        classes=model.classes_,
        costs=known,
        decided=decided.labels,
        sample_weight=sample_weight,
        positive=_positive(positive, model.cost_matrix if costs is None else costs, known),
        features=X if has_columns(X) else None,
        settings={k: v for k, v in model.get_params(deep=False).items() if k != "cost_matrix"},
        **options,
    )
    matrix = found.matrix
    if known.matrix is None:
        # Only prices under the true classes are given: the costs that decided are expected ones.
        decision_costs: Any = decided.costs
        matrix = decision_costs.matrix
    doubts = list(getattr(model, "doubts_", ()))
    are_new = False
    if hasattr(model, "known_rows"):
        rows = model.known_rows(X, y)
        if rows is not None:
            are_new = rows.are_new
            doubts += [rows.doubt] if rows.doubt else []
    return replace(
        found,
        matrix=matrix,
        explain=_model_parts(model, X, decided, list(found.features)),
        doubts=tuple(doubts),
        are_new=are_new,
    )


def _positive(given: Any, form: Any, known: RealizedCosts) -> Any:
    """The class that calls for action: named, usual, or the rarer one."""
    named = positive_of(form) if given is None else given
    if named is not None or len(known.classes) != 2:
        return named
    try:
        code = positive_code(None, known.classes, "positive", "report")
    except ValueError:
        code = int(np.bincount(known.y_index, minlength=2).argmin())
    return known.classes.tolist()[code]


def _model_parts(model: Any, X: Any, decided: Decisions, names: list[str]) -> Explain | None:
    """From row numbers to parts in money; None if the model does not explain itself."""
    if not hasattr(model, "explain") or not has_columns(X):
        return None

    def parts(rows: Ints) -> Floats:
        some = X.take(rows) if hasattr(X, "take") else X[rows]  # polars
        found = model.explain(some, decisions=decided.take(rows))
        table = np.zeros((len(rows), len(names)))
        for j, name in enumerate(found.feature_names):
            if name in names:  # columns that fit left out may be absent
                table[:, names.index(name)] = found.parts[:, j]
        return table

    return parts
