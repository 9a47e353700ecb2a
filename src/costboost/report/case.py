"""What a report is about: rows with a known truth, probabilities, costs and decisions, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats, Ints
from costboost._utils import check_weights
from costboost.costs import Costs
from costboost.costs.forms import positive_of
from costboost.costs.labels import positive_code
from costboost.decisions import cheapest, expected_cost
from costboost.estimator import CostSensitiveClassifier, column_of

# Names that the report gives to its own rules.
OWN_NAMES = ("The model", "Threshold 0.5", "Most likely class")

# Maps row numbers to (rows, features): each feature's part, in money, of what the decision taken
# is expected to save against the next-best one. Positive parts speak for the decision taken.
Explain = Callable[[Ints], Floats]


@dataclass(frozen=True, eq=False)
class Case:
    """Arrays that a report is made of; `make_case` checks and completes them.

    Attributes
    ----------
    costs : Costs
        What each decision costs on each row, whose truth is known.
    matrix : array of shape (k, d) or (n, k, d)
        What each decision costs for each truth, as known when deciding.
    proba : array of shape (n, k)
        Probabilities of the classes.
    weights : array of shape (n,)
        How often each row counts.
    decided : array of shape (n,)
        Codes of the model's decisions.
    nothing : int or None
        Code of the decision that means doing nothing, if it was named.
    idle : int or None
        Code of the decision that rows below a threshold get: doing nothing, or with two classes the
        right one of the class that is not positive. None if there is no such decision.
    time : array of datetime64 of shape (n,) or None
        When each row happened.
    amount : tuple of (name, array of shape (n,)) or None
        The column whose deciles the report shows.
    segments, features : mapping of name to array of shape (n,)
        Columns to break the costs down by; features in the order of the columns of `explain`.
    explain : callable or None
        Maps row numbers to an array (rows, features): parts of the saving, in money.
    rounds : mapping of name to array
        Mean cost after each boosting round.
    rivals : mapping of name to array of shape (n,)
        Codes of the decisions of other ways to decide.
    ids : array of shape (n,) or None
        Names of the rows.
    title, unit : str
        Heading of the page; sign of the currency, for example ``"€"``.
    settings : mapping of str to str
        Settings of the model, as text.
    """

    costs: Costs
    matrix: Floats
    proba: Floats
    weights: Floats
    decided: Ints
    nothing: int | None = None
    idle: int | None = None
    time: AnyArray | None = None
    amount: tuple[str, Floats] | None = None
    segments: Mapping[str, AnyArray] = field(default_factory=dict)
    features: Mapping[str, AnyArray] = field(default_factory=dict)
    explain: Explain | None = None
    rounds: Mapping[str, Floats] = field(default_factory=dict)
    rivals: Mapping[str, Ints] = field(default_factory=dict)
    ids: AnyArray | None = None
    title: str = ""
    unit: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

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

    @property
    def codes(self) -> Ints:
        """Code of each row's true class."""
        truth: Ints = self.costs.codes
        return truth

    @property
    def prices(self) -> Floats:
        """What each decision costs on the row, its truth being known (n, d)."""
        return self.costs.prices

    def cost_of(self, truth: int, decision: int) -> Floats | float:
        """Cost of a pair, as known when deciding: a number, or one per row."""
        found = self.matrix[..., truth, decision]
        return found if self.matrix.ndim == 3 else float(found)

    @cached_property
    def average(self) -> Floats:
        """Mean cost matrix (k, d): of each truth over its own rows, where it has some."""
        if self.matrix.ndim == 2:
            return self.matrix
        own = np.eye(self.k)[self.codes].T * self.weights
        own[own.sum(axis=1) == 0] = self.weights
        return np.asarray(np.einsum("jn,njd->jd", own, self.matrix) / own.sum(axis=1)[:, None])

    @cached_property
    def right(self) -> Ints:
        """Cheapest decision of each class, by the mean costs (k,)."""
        cheapest: Ints = self.average.argmin(axis=1)
        return cheapest

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
        # Added from left to right: JavaScript gets the same bits.
        return np.asarray(sum((self.proba[:, j] for j in self.risky), np.zeros(self.n)))

    def spent(self, decided: Ints | int) -> Floats:
        """What decisions, or one for all rows, cost: price times weight of each row (n,)."""
        return np.asarray(self.prices[np.arange(self.n), decided] * self.weights)

    def total(self, decided: Ints | int) -> float:
        """What the decisions cost together."""
        return float(self.spent(decided).sum())

    @cached_property
    def constant(self) -> int:
        """The constant decision that is cheapest on these rows."""
        return int((self.weights @ self.prices).argmin())

    @cached_property
    def perfect(self) -> Floats:
        """What the cheapest decision of each row costs (n,)."""
        return np.asarray(self.prices.min(axis=1) * self.weights)

    def take(self, rows: Ints, weights: Floats) -> Case:
        """Some of the rows, with new weights, for the sliders."""
        matrix = self.matrix[rows] if self.matrix.ndim == 3 else self.matrix
        costs = self.costs.take(rows)
        return replace(
            self, costs=costs, matrix=matrix, proba=self.proba[rows], weights=weights,
            decided=self.decided[rows],
        )  # fmt: skip


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
    nothing: Any = None,
    positive: Any = None,
    time: Any = None,
    amount: tuple[str, ArrayLike] | None = None,
    segments: Any = None,
    features: Any = None,
    explain: Explain | ArrayLike | None = None,
    rounds: Mapping[str, ArrayLike] | None = None,
    rivals: Mapping[str, Any] | None = None,
    ids: ArrayLike | None = None,
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
    costs : array, frame, mapping or Costs, optional
        Costs in any form of `costboost.costs.Costs.resolve`, for example truth by decision, of
        shape (k, d) or (n, k, d), as known when deciding. Of shape (n, d), what each decision costs
        on the row: its means by class then stand for the costs known when deciding. None: every
        mistake costs 1.
    decided : array of shape (n,), optional
        Labels of the model's decisions; by default the cheapest by `proba` and `costs`.
    sample_weight : array of shape (n,), optional
        How often each row counts.
    nothing : label, optional
        The decision that means doing nothing; the model is then compared with that, too.
    positive : label, optional
        With two classes, the one that calls for action; by default the last.
    time : array of shape (n,), optional
        When each row happened; anything that numpy converts to datetime64.
    amount : (str, array of shape (n,)), optional
        Name and values of the column to show by deciles.
    segments, features : frame or mapping of name to array of shape (n,), optional
        Columns to break the costs down by; values of the features.
    explain : callable or array of shape (n, features), optional
        Each feature's part, in money, of what the decision taken is expected to save against the
        next-best one; a callable takes row numbers, and only the rows shown are explained.
    rounds : mapping of name to array, optional
        Mean cost after each boosting round, for example ``{"held-out rows": [...]}``.
    rivals : mapping of name to array, optional
        Probabilities (n, k), decided by the same costs; or labels of decisions (n,).
    ids : array of shape (n,), optional
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
    truth = np.asarray(y)
    labels = np.unique(truth) if classes is None else np.asarray(classes)
    n, k = len(truth), len(labels)
    p = _table(proba, (n, k), "proba")
    codes = _coded(truth, labels, "y")
    if isinstance(costs, Costs) and costs.codes is not None:
        known = costs
    else:
        # As many rows as classes: a square of numbers is the matrix, not the prices of rows.
        form = (costs, None) if costs is None or np.shape(costs)[:1] == (k,) else (None, costs)
        known = Costs.resolve(
            *form, classes=labels, decisions=decisions, codes=codes, owner="make_case"
        )
    named = known.decisions
    if costs is None and decisions is not None and not np.array_equal(decisions, labels):
        raise _wrong("costs", "is needed where the decisions are not the classes, got None.")
    if n < 2 or k < 2 or len(named) < 2:
        raise ValueError(
            "make_case needs at least two rows, two classes and two decisions, got "
            f"{n} rows, {k} classes and {len(named)} decisions."
        )
    weights = check_weights(sample_weight, n, "make_case")
    matrix = known.average(weights) if known.matrix is None else known.matrix
    taken = [name for name in rivals or {} if name in OWN_NAMES]
    if taken:
        rule = "must not use the names of the report's own rules"
        raise _wrong("rivals", f"{rule}, got {taken}. Choose other names.")

    def decide(given: Any, name: str) -> Ints:
        """Labels of decisions as they are; probabilities by the smallest expected cost."""
        if np.ndim(given) != 2:
            return _coded(_column(given, n, name), named, name)
        return cheapest(expected_cost(_table(given, (n, k), name), matrix))

    idle = None
    if nothing is not None:
        idle = int(_coded(np.asarray([nothing]), named, "nothing")[0])
    found = Case(
        costs=known,
        matrix=matrix,
        proba=p,
        weights=weights,
        decided=decide(p if decided is None else decided, "decided"),
        nothing=idle,
        idle=idle,
        time=None if time is None else _time(time, n),
        amount=None if amount is None else (amount[0], _table(amount[1], (n,), "amount")),
        segments=_columns(segments, n, "segments"),
        features=_columns(features, n, "features"),
        explain=explain if explain is None or callable(explain) else _parts(explain, n),
        rounds={name: np.asarray(cost, dtype=float) for name, cost in (rounds or {}).items()},
        rivals={name: decide(one, f"rivals[{name!r}]") for name, one in (rivals or {}).items()},
        ids=None if ids is None else _column(ids, n, "ids"),
        title=_title(named.tolist()) if title is None else title,
        unit=unit,
        settings={str(name): str(value) for name, value in (settings or {}).items()},
    )
    if k == 2:
        calls = labels[1:] if positive is None else np.asarray([positive])
        usual = 1 - int(_coded(calls, labels, "positive")[0])
        found = replace(found, idle=int(found.right[usual]) if idle is None else idle)
    return found


def _title(decisions: list[Any]) -> str:
    *others, last = [str(label) for label in decisions]
    if len(others) > 3:
        return f"Cost report: {', '.join(others[:3])} and {len(others) - 2} other decisions"
    return f"Cost report: {', '.join(others)} or {last}"


def _wrong(name: str, text: str) -> ValueError:
    return ValueError(f"The {name!r} parameter of make_case {text}")


def _table(values: ArrayLike, shape: tuple[int, ...], name: str) -> Floats:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != shape:
        raise _wrong(name, f"must have shape {shape}, got {array.shape}.")
    if not np.isfinite(array).all():
        raise _wrong(name, "must be finite, got NaN or infinity. Drop those rows.")
    return array


def _column(values: Any, n: int, name: str) -> AnyArray:
    array = np.asarray(values)
    if array.shape != (n,):
        raise _wrong(name, f"must have one value per row, {n}, got shape {array.shape}.")
    return array


def _columns(table: Any, n: int, name: str) -> dict[str, AnyArray]:
    if table is None:
        return {}
    return {str(key): _column(values, n, f"{name}[{key!r}]") for key, values in table.items()}


def _coded(values: AnyArray, labels: AnyArray, name: str) -> Ints:
    known = {label: code for code, label in enumerate(labels.tolist())}
    distinct, inverse = np.unique(values, return_inverse=True)
    unknown = [label for label in distinct.tolist() if label not in known]
    if unknown:
        raise _wrong(name, f"must hold only {list(known)}, got {unknown[:5]}.")
    return np.array([known[label] for label in distinct.tolist()], dtype=np.intp)[inverse]


def _time(time: Any, n: int) -> AnyArray:
    moments = _column(time, n, "time")
    try:
        moments = moments.astype("datetime64[s]")
    except ValueError as error:
        remedy = "Convert it with pandas.to_datetime."
        text = f"must hold dates, got {moments[0]!r} ({error}). {remedy}"
        raise _wrong("time", text) from error
    if np.isnat(moments).any():
        raise _wrong("time", "must not have missing dates.")
    return moments


def _parts(explain: Any, n: int) -> Explain:
    parts = np.asarray(explain, dtype=np.float64)
    if parts.ndim != 2 or len(parts) != n:
        raise _wrong("explain", f"must have shape ({n}, features), got {parts.shape}.")
    return lambda rows: parts[rows]


# -- a fitted classifier on rows whose truth is known ---------------------------------------------


def case_of(
    model: CostSensitiveClassifier,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    costs: Any = None,
    time: Any = None,
    amount: Any = None,
    segments: Any = None,
    positive: Any = None,
    ids: Any = None,
    **options: Any,
) -> Case:
    """Gather what a report needs from a fitted classifier; `options` are those of `make_case`."""
    proba, known, weighed, decided = model.judged(X, y, costs=costs)
    form = model.cost_matrix if costs is None else costs
    owner = f"{type(model).__name__}.report"
    if amount is not None and not isinstance(amount, tuple):
        name = amount if isinstance(amount, str) else "amount"
        amount = (name, column_of(amount, X, "amount", owner))
    if isinstance(segments, str):
        segments = [segments]
    if isinstance(segments, Sequence):
        segments = {str(name): column_of(name, X, "segments", owner) for name in segments}
    found = make_case(
        model.classes_[known.codes],
        proba,
        classes=model.classes_,
        costs=known,
        decided=decided,
        sample_weight=sample_weight,
        positive=_positive(positive, form, known),
        time=column_of(time, X, "time", owner),
        amount=amount,
        segments=segments,
        features=X if hasattr(X, "columns") else None,
        explain=_model_parts(model, X, costs, known, decided),
        rounds=_rounds(model),
        ids=column_of(ids, X, "ids", owner),
        settings=model.get_params(deep=False),
        **options,
    )
    return replace(found, matrix=weighed.matrix) if known.matrix is None else found


def _positive(given: Any, form: Any, known: Costs) -> Any:
    """The class that calls for action: named, usual, or the rarer one."""
    named = positive_of(form) if given is None else given
    if named is not None or len(known.classes) != 2:
        return named
    try:
        code = positive_code(None, known.classes, "positive", "report")
    except ValueError:
        code = int(np.bincount(known.codes, minlength=2).argmin())
    return known.classes.tolist()[code]


def _model_parts(model: Any, X: Any, costs: Any, known: Costs, decided: AnyArray) -> Any:
    """From row numbers to parts in money; None if the model does not explain itself."""
    if not hasattr(model, "explain") or not hasattr(X, "columns"):
        return None
    codes = _coded(np.asarray(decided), known.decisions, "decided")

    def parts(rows: Ints) -> Floats:
        some = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
        own = None if costs is None or known.matrix is None else known.take(rows).matrix
        found = model.explain(some, costs=own, codes=codes[rows])
        table = np.zeros((len(rows), len(X.columns)))
        names = [str(name) for name in X.columns]
        for j, name in enumerate(found.feature_names):
            if name in names:  # columns that fit left out may be absent
                table[:, names.index(name)] = found.parts[:, j]
        return table

    return parts


def _rounds(model: Any) -> dict[str, Floats] | None:
    """Mean held-out cost of a booster after each round, if the fit kept it."""
    heads = getattr(model, "evals_result_", None) or {}
    boosters: list[Any] = next(iter(heads.values()), [])
    costs = [one["held_out"]["cost"] for one in boosters if "cost" in one.get("held_out", {})]
    if not costs or not all(len(cost) for cost in costs):
        return None
    longest = max(len(cost) for cost in costs)
    # Boosters that stopped early stay where they are.
    padded = [np.pad(cost, (0, longest - len(cost)), mode="edge") for cost in costs]
    return {"held-out rows, one booster": np.mean(padded, axis=0)}
