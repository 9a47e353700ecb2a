"""Any classifiers beside each other, in money: `compare`, behind the command and the benchmarks.

Five classifiers of scikit-learn beside ours, on a file of your own::

    import pandas as pd
    from sklearn import ensemble, linear_model, naive_bayes
    import costboost
    costs = {"fn": "value", "fp": 5, "positive": "yes"}  # a missed churner costs what it is worth
    others = [linear_model.LogisticRegression(max_iter=1000), naive_bayes.GaussianNB(),
              ensemble.RandomForestClassifier(), ensemble.ExtraTreesClassifier(),
              ensemble.HistGradientBoostingClassifier()]
    methods = [costboost.CostBoostClassifier(), *others]
    print(costboost.compare(methods, pd.read_csv("customers.csv"), target="churned", costs=costs))
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from costboost._typing import AnyArray, Floats, Ints
from costboost._utils import (
    as_frame,
    check_weights,
    checked_labels,
    invalid,
    progress_bar,
)
from costboost.columns import Columns
from costboost.columns.table import has_columns, is_sparse
from costboost.costs import Costs, RealizedCosts, read_realized_costs
from costboost.costs.labels import grouped, positions
from costboost.costs.spec import expressions_in, is_frame
from costboost.gbm.leakage import find_leaks
from costboost.metrics import Verdict
from costboost.metrics.intervals import decision_gains
from costboost.metrics.money_interval import Interval, interval_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Comparison", "Fold", "compare"]

OWNER = "costboost.compare"
Key = tuple[str, str, str]  # data, split, method


class Fold(NamedTuple):
    """Training and test rows of one split, as a function among the ``estimators`` gets them.

    Attributes
    ----------
    X, X_test : tables
        The rows as they were given.
    numbers, numbers_test : arrays of shape (n, p)
        The same as numbers: categories as codes (``categorical`` says which columns), missing
        values as NaN.
    y : array of shape (n,)
        Classes of the training rows.
    costs, costs_test : RealizedCosts, Costs
        What decisions cost on the rows. The truth of the test rows is not in it; if their costs are
        not known when deciding, it is the mean costs of the training rows.
    sample_weight : array of shape (n,) or None
        Weights of the training rows.
    categorical : list of int
        Columns of ``numbers`` that are categories.
    seed : int
        Seed of the split.
    """

    X: Any
    X_test: Any
    numbers: Any
    numbers_test: Any
    y: AnyArray
    costs: RealizedCosts
    costs_test: Costs
    sample_weight: Floats | None
    categorical: list[int]
    seed: int

    def cheapest(self, proba: Any, classes: Any = None) -> AnyArray:
        """The decisions of least expected cost on the test rows.

        Parameters
        ----------
        proba : array of shape (n_test, k)
            Probabilities of the classes.
        classes : array of shape (k,), optional
            The classes of its columns; by default all classes, sorted.

        Returns
        -------
        array of shape (n_test,)
            Labels of decisions.
        """
        told, known = self.costs_test, np.asarray(proba, dtype=np.float64)
        if classes is not None:  # a class that is missing in the training rows has probability 0
            known = np.zeros((len(known), len(told.classes)))
            known[:, np.searchsorted(told.classes, classes)] = proba
        return np.asarray(told.decisions[told.decide(known)])

    def right(self, labels: Any) -> AnyArray:
        """The cheapest decisions, if the rows were of these classes, by mean costs.

        Parameters
        ----------
        labels : array of shape (n,)
            Classes.

        Returns
        -------
        array of shape (n,)
            Labels of decisions.
        """
        best = self.costs.mean_matrix(self.sample_weight).argmin(axis=1)
        return np.asarray(self.costs.decisions[best[np.searchsorted(self.costs.classes, labels)]])


def compare(
    estimators: Mapping[str, Any] | Sequence[Any],
    data: Any,
    *,
    target: str | None = None,
    costs: Any = None,
    costs_known: bool = True,
    splits: Any = 5,
    metrics: Mapping[str, Callable[[Any, Any], float]] | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    columns: Mapping[str, str] | Columns | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    progress: bool = True,
) -> Comparison:
    """Compare classifiers by what their decisions cost on rows they have not seen.

    A classifier with a ``cost_matrix`` (those of this library, or a pipeline that ends with one)
    is told the costs, unless it has some of its own. Any other classifier is trained without costs;
    the decision of least expected cost is taken by its ``predict_proba``. If it has none, the right
    decision of the class that it predicts is taken. It gets the columns as numbers: categories
    one-hot, missing values as medians unless its tags allow NaN. A pipeline gets the rows as they
    are, as does a classifier whose tags say that it takes categories or texts.

    Parameters
    ----------
    estimators : mapping of str to classifier or function, or list of classifiers
        The methods. They are cloned; a ``random_state`` of None becomes the seed of the split. A
        function gets a `Fold` and returns a decision for each test row: a rule of thumb, or a model
        that has no scikit-learn interface.
    data : (X, y), (X, y, costs), frame, data set, or mapping of str to any of these
        The rows. A frame needs ``target``; a data set has attributes ``X`` and ``y``, and may have
        ``costs`` or ``cost_matrix``, as those of `costboost.datasets.make_fraud`; those of
        scikit-learn (``data``, ``target``) will do.
    target : str, optional
        Column of the truth, if the data are frames.
    costs : array, frame, mapping or None
        What decisions cost, in any form that ``cost_matrix`` or ``costs`` of a classifier take.
    costs_known : bool, default=True
        Whether the costs of a single row are known when it is decided. If not, methods that decide
        by probabilities go by the mean costs of the training rows.
    splits : int, splitter, list of pairs, or mapping of label to pair, default=5
        An integer is that many folds: stratified, or by ``groups``. Pairs are row numbers to train
        on and to test on.
    metrics : mapping of str to callable, optional
        More columns of the result: functions of the truth and the decisions.
    sample_weight, groups : array of shape (n,), optional
        Weights of the rows, and groups that folds keep together and that intervals take for
        independent; for one data set.
    columns : mapping of name to kind, or Columns, optional
        What columns are, as in `CostBoostClassifier`.
    n_jobs : int or None, default=None
        Processes of joblib.
    random_state : int, default=0
        Seed of the folds and of the classifiers.
    progress : bool, default=True
        Whether to show a bar, in a terminal.

    Returns
    -------
    Comparison
        A row per data set, split and method, with tables, intervals and pictures.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> import costboost
    >>> from costboost.datasets import make_fraud
    >>> methods = {
    ...     "CostBoost": costboost.CostBoostClassifier(effort="fast"),
    ...     "forest": RandomForestClassifier(50),
    ...     "logistic": LogisticRegression(max_iter=1000),
    ...     "review above 100": lambda fold: (fold.X_test[:, 0] > 100).astype(int),
    ... }
    >>> found = costboost.compare(methods, make_fraud(1000, random_state=0), splits=2)
    >>> table = found.table()  # the best rank first
    >>> sorted(table.index)
    ['CostBoost', 'forest', 'logistic', 'review above 100']
    >>> list(table)
    ['rank', 'savings', 'score', 'mean_cost', 'fit_seconds']
    """
    methods = _named(estimators)
    splits = list(splits) if isinstance(splits, Iterator) else splits  # for more than one table
    tables = {}
    for name, one in _by_name(data, sample_weight, groups).items():
        X, y, own = _opened(one, target, costs)
        table = Table(name, X, y, own, sample_weight, columns, costs_known, groups=groups)
        tables[name] = table
        table.pairs = dict(_pairs(table, splits, groups, random_state))
        table.doubts = _doubts(table)
    failures: dict[str, str] = {}
    tasks: dict[Key, tuple[Any, ...]] = {
        (name, split, method): (table, split, methods[method], random_state)
        for name, table in tables.items()
        for split, method in product(table.pairs, methods)
    }
    rows: dict[Key, dict[str, Any]] = {}
    run = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    with progress_bar(progress) as bar:
        line = bar.add_task("compare", total=len(tasks))
        for key, row in run(delayed(_measured)(key, *task) for key, task in tasks.items()):
            bar.update(line, advance=1, description=f"{key[2]}, {key[0]}")
            if "error" in row:
                failures.setdefault(key[2], row["error"])
            else:
                rows[key] = row
    done = {key: rows[key] for key in tasks if key in rows}
    return Comparison(tables, list(methods), done, failures, dict(metrics or {}))


# -- the rows -----------------------------------------------------------------------------------


class Table:
    """Rows with their truth, costs and splits."""

    def __init__(
        self, name: str, X: Any, y: Any, costs: Any, weights: Any, columns: Any,
        known: bool = True, owner: str = OWNER, groups: Any = None,
    ) -> None:  # fmt: skip
        X, y = np.asarray(X) if isinstance(X, list) else X, np.asarray(checked_labels(y, owner))
        if len(y) != X.shape[0]:
            raise ValueError(f"X of {name} has {X.shape[0]} rows, y {len(y)}. Take the same rows.")
        weights = None if weights is None else check_weights(weights, len(y), owner)
        self.name, self.X, self.y, self.weights, self.form = name, X, y, weights, costs
        self.groups: Ints | None = None
        if groups is not None:
            self.groups = grouped(groups, len(y), "groups", owner)[1]
        self.classes, codes = np.unique(y, return_inverse=True)
        self.kinds = None
        if not isinstance(columns, Columns):
            self.kinds = columns
            columns = Columns.from_table(X, kinds=columns) if has_columns(X) else None
        self.columns: Columns | None = columns
        self.pairs: dict[str, tuple[Ints, Ints]] = {}
        self.doubts: list[str] = []
        X = columns.read(X, name) if columns is not None and expressions_in(costs) else X
        as_rows = (is_frame(costs) and len(costs) == len(y)) or isinstance(costs, np.ndarray | list)
        self.known = read_realized_costs(
            None if as_rows else costs, costs if as_rows else None, classes=self.classes,
            X=X, y_index=codes, owner=owner,
        )  # fmt: skip
        # Costs of single rows that no column tells are handed to `fit` and `predict`.
        by_columns = bool(expressions_in(costs))
        self.row_costs: Floats | None = None
        if self.known.is_per_row and not by_columns:
            self.row_costs = self.known.prices if self.known.matrix is None else self.known.matrix
        elif self.known.is_per_row and not known:
            raise ValueError(
                "costs_known=False of compare is for costs of single rows in arrays; these costs "
                "are computed from columns of X, so every row tells them. Pass them as an array."
            )
        # Prices under the truth cannot be known when deciding.
        self.tells = known and self.known.matrix is not None

    @cached_property
    def numbers(self) -> Any:
        """The features as numbers, categories as codes."""
        return self.X if self.columns is None else self.columns.read(self.X, self.name).inputs

    def fold(self, train: Ints, test: Ints, seed: int) -> Fold:
        known, weights = self.known.take(train), self.weights
        weights = None if weights is None else weights[train]
        told = Costs(known.mean_matrix(weights), known.classes, known.decisions)
        return Fold(
            taken(self.X, train), taken(self.X, test), taken(self.numbers, train),
            taken(self.numbers, test), self.y[train], known,
            self.known.take(test).unrealized if self.tells else told, weights,
            [] if self.columns is None else self.columns.categorical, seed,
        )  # fmt: skip


def taken(X: Any, rows: Ints) -> Any:
    """Some rows of a table."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _named(estimators: Any) -> dict[str, Any]:
    found = estimators
    if not isinstance(estimators, Mapping):
        found = {type(one).__name__.removesuffix("Classifier"): one for one in estimators}
    wrong = [one for one in found.values() if isinstance(one, type) or (not callable(one)
             and not hasattr(one, "fit"))]  # fmt: skip
    if wrong or not found or len(found) < len(estimators):
        rule = "must hold classifiers or functions, each with a name of its own"
        example = '{"logistic": LogisticRegression()}'
        got = f"got {wrong or estimators!r}. Pass objects by name, {example}."
        raise invalid("estimators", "compare", f"{rule}; {got}")
    return {str(name): one for name, one in found.items()}


def _by_name(data: Any, *of_one: Any) -> dict[str, Any]:
    if not isinstance(data, Mapping) or hasattr(data, "target") or is_frame(data):
        return {str(getattr(data, "name", "data")): data}
    if any(one is not None for one in of_one):
        raise ValueError(f"sample_weight and groups are for one data set, not {len(data)}.")
    return {str(name): one for name, one in data.items()}


def _opened(data: Any, target: Any, costs: Any) -> tuple[Any, Any, Any]:
    """Rows, their truth and what decisions cost on them."""
    if is_frame(data):
        if target is None or target not in data.columns:
            rule = f"must name the column of the truth, one of {list(data.columns)}"
            raise invalid("target", "compare", f"{rule}; got {target!r}.")
        rows = data.drop(columns=[target]) if hasattr(data, "iloc") else data.drop(target)
        return rows, np.asarray(data[target]), costs
    if hasattr(data, "target"):  # of scikit-learn
        return data.data, data.target, costs
    if hasattr(data, "X") and hasattr(data, "y"):
        own = (costs, getattr(data, "costs", None), getattr(data, "cost_matrix", None))
        return data.X, data.y, next((one for one in own if one is not None), None)
    if isinstance(data, tuple | list) and len(data) in (2, 3):
        return (*data, costs) if len(data) == 2 else tuple(data)
    raise TypeError(
        "The 'data' parameter of compare must be (X, y), (X, y, costs), a frame with target=, a "
        f"data set, or a mapping of names to these; got {type(data).__name__}."
    )


def _doubts(table: Table) -> list[str]:
    """Return why no method is to be believed: a column that tells the class, copies of rows."""
    numbers = table.numbers
    if not is_sparse(numbers) and np.asarray(numbers).dtype.kind not in "biuf":
        return []
    categorical: Sequence[int] = ()
    names = None
    if table.columns is not None:
        categorical = table.columns.categorical
        names = table.columns.inputs
    findings = find_leaks(
        csr_matrix(numbers) if is_sparse(numbers) else np.asarray(numbers, dtype=np.float64),
        table.known.y_index,
        list(table.pairs.values()),
        categorical=categorical,
        names=names,
    )
    return [finding.doubt for finding in findings]


def _pairs(table: Table, splits: Any, groups: Any, seed: int) -> Iterator[tuple[str, Any]]:
    from sklearn.model_selection import GroupKFold, StratifiedKFold

    if isinstance(splits, int):
        by_class = StratifiedKFold(splits, shuffle=True, random_state=seed)
        splits = by_class if groups is None else GroupKFold(splits)
    if hasattr(splits, "split"):
        splits = splits.split(table.y, table.y, groups)
    found = splits.items() if isinstance(splits, Mapping) else enumerate(splits)
    for label, pair in found:
        yield str(label), tuple(np.asarray(rows, dtype=np.intp) for rows in pair)


# -- one method on one split --------------------------------------------------------------------


def _measured(
    key: Key, table: Table, split: str, method: Any, seed: int
) -> tuple[Key, dict[str, Any]]:
    """What a method decides on the test rows of a split, or why it cannot."""
    train, test = table.pairs[split]
    with warnings.catch_warnings(action="ignore"):
        try:
            codes, facts = decide(method, table, train, test, seed)
        except MemoryError:
            raise
        except Exception as error:
            said = " ".join(f"{type(error).__name__}: {error}".split())
            return key, {"error": said[:300]}
    return key, {"decided": codes.tolist(), "n_train": len(train), "n_test": len(test), **facts}


def decide(
    method: Any, table: Table, train: Ints, test: Ints, seed: int
) -> tuple[Ints, dict[str, Any]]:
    """Train a method; its decisions on the test rows, as codes, and what else is worth keeping."""
    fold, start = table.fold(train, test, seed), processor_seconds()

    def coded(labels: Any) -> Ints:
        place = ("decisions", "decisions", "a method", len(test))
        return positions(np.ravel(labels), table.known.decisions, *place)

    if not hasattr(method, "fit"):
        said = method(fold)
        labels, facts = said if isinstance(said, tuple) else (said, {})
        seconds = {"fit_seconds": processor_seconds() - start}
        return coded(labels), seconds | facts
    model = clone(method)
    known, prefix = model.get_params(), _last_step(model)
    if known.get(f"{prefix}random_state", 0) is None:
        model.set_params(**{f"{prefix}random_state": seed})
    given: dict[str, AnyArray] = {}
    if fold.sample_weight is not None:
        given["sample_weight"] = fold.sample_weight
    takes_costs = f"{prefix}cost_matrix" in known
    if takes_costs:
        rows, tested, y = fold.X, fold.X_test, fold.y
        last = model.steps[-1][1] if isinstance(model, Pipeline) else model
        if table.groups is not None and has_fit_parameter(last, "groups"):
            given["groups"] = table.groups[train]
        if table.row_costs is not None:
            given["costs"] = table.row_costs[train]
        elif known[f"{prefix}cost_matrix"] is None:
            model.set_params(**{f"{prefix}cost_matrix": table.form})
        if known.get("columns", 0) is None and table.kinds:
            model.set_params(columns=table.kinds)
    else:
        model, rows, tested = _prepared(model, fold)
        y, prefix = fold.costs.y_index, _last_step(model)  # XGBoost takes no other labels
    model.fit(rows, y, **{f"{prefix}{name}": one for name, one in given.items()})
    facts = {"fit_seconds": processor_seconds() - start}
    start = processor_seconds()
    if takes_costs:
        told = {}
        if table.tells and table.row_costs is not None and hasattr(model, "_known_when_deciding"):
            told["costs"] = model._known_when_deciding(table.row_costs[test], len(test))
        labels = model.predict(tested, **told)
    elif hasattr(model, "predict_proba"):
        labels = fold.cheapest(model.predict_proba(tested), table.classes[model.classes_])
    else:
        labels = fold.right(table.classes[model.predict(tested)])
    facts["predict_seconds"] = processor_seconds() - start
    rounds = getattr(model, "n_iter_", None)
    if isinstance(rounds, int | np.integer):
        facts["rounds"] = int(rounds)
    if hasattr(model, "estimated_score_"):
        facts["estimated"] = [float(value) for value in model.estimated_score_]
    return coded(labels), facts


def _last_step(model: Any) -> str:
    """What parameters of the last step of a pipeline begin with."""
    return f"{model.steps[-1][0]}__" if isinstance(model, Pipeline) else ""


def _prepared(model: Any, fold: Fold) -> tuple[Any, Any, Any]:
    """A classifier without costs, and the rows as it takes them."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import OneHotEncoder

    tags = get_tags(model).input_tags
    takes_all = isinstance(model, Pipeline) or tags.categorical or tags.string
    if takes_all or is_sparse(fold.X):
        return model, fold.X, fold.X_test
    both = np.vstack([fold.numbers, fold.numbers_test]).astype(np.float64)
    has_gaps = not tags.allow_nan and bool(np.isnan(both).any())
    if fold.categorical or has_gaps:
        numbers = [j for j in range(fold.numbers.shape[1]) if j not in set(fold.categorical)]
        filled = SimpleImputer(strategy="median", keep_empty_features=True)
        codes = OneHotEncoder(handle_unknown="ignore", max_categories=50, sparse_output=False)
        encoder = make_column_transformer(
            (codes, fold.categorical), (filled if has_gaps else "passthrough", numbers)
        )
        model = make_pipeline(encoder, model)
    return model, fold.numbers, fold.numbers_test


def processor_seconds() -> float:
    """Processor time of this process and of the child processes that have ended."""
    spent = os.times()
    return time.process_time() + spent.children_user + spent.children_system


# -- the result ---------------------------------------------------------------------------------


class Comparison:
    """What methods paid on rows that they had not seen; made by `costboost.compare`.

    Attributes
    ----------
    methods : list of str
        The methods that were measured, in the order given.
    rows : list of dict
        A row per data set, split and method: ``mean_cost``;
        ``savings``, 1 - cost / cost of the best constant decision (NaN where that is not defined);
        ``score``, the share of the avoidable cost; your ``metrics``; processor seconds of training
        and of deciding; numbers of rows and rounds.
    failures : dict of str to str
        Methods that failed on some split, and why. They have no rank.
    best : str
        The method of the smallest mean rank.
    """

    def __init__(
        self,
        tables: Mapping[str, Table],
        methods: Sequence[str],
        found: Mapping[Key, Mapping[str, Any]],
        failures: Mapping[str, str],
        metrics: Mapping[str, Callable[[Any, Any], float]],
    ) -> None:
        self.failures, self._tables, self._found = dict(failures), dict(tables), dict(found)
        self.methods = [name for name in methods if any(key[2] == name for key in found)]
        if not self.methods:
            said = "; ".join(f"{name}: {why}" for name, why in failures.items())
            raise ValueError(f"No method could be measured: {said}")
        self.rows = [self._row(key, metrics) for key in found]

    def _row(self, key: Key, metrics: Mapping[str, Any]) -> dict[str, Any]:
        table, facts = self._tables[key[0]], dict(self._found[key])
        rows, codes = table.pairs[key[1]][1], np.array(facts.pop("decided"), dtype=np.intp)
        known, weights = table.known.take(rows), table.weights
        weights = None if weights is None else weights[rows]
        truth, decided = table.y[rows], known.decisions[codes]
        return {
            **dict(zip(("data", "split", "method"), key, strict=True)),
            "mean_cost": float(np.average(known.cost_of(codes), weights=weights)),
            "savings": _savings(known, codes, weights),
            "score": known.avoidable_share(codes, weights),
            **{name: float(metric(truth, decided)) for name, metric in metrics.items()}, **facts,
        }  # fmt: skip

    # -- tables ---------------------------------------------------------------------------------

    def to_frame(self) -> pd.DataFrame:
        """All rows as a pandas frame."""
        return as_frame(self.rows, OWNER)

    def scores(self, measure: str = "score") -> pd.DataFrame:
        """Means over the splits: a row per data set, a column per method; NaN where one failed.

        Parameters
        ----------
        measure : str, default="score"
            A column of the rows.

        Returns
        -------
        pandas.DataFrame
            The means. Of a single data set, a row per split.
        """
        keys: Any = {"index": ["data", "split"], "columns": "method"}
        wide = self.to_frame().pivot_table(**keys, values=measure).reindex(columns=self.methods)
        if len(self._tables) == 1:
            return wide.droplevel("data")
        means = wide.groupby(level="data", sort=False)
        return means.mean().where(means.count().eq(means.size(), axis=0))

    def table(self) -> pd.DataFrame:
        """A line per method: mean rank, savings, score, cost and processor seconds.

        Ranks are by the score on each data set (of a single one: on each split), 1 = best, among
        methods that finished everything. The cost is left out where data sets differ.

        Returns
        -------
        pandas.DataFrame
            The table, the best rank first.
        """
        means = self.to_frame().groupby("method", sort=False)
        found = means[["savings", "score"]].mean()
        if len(self._tables) == 1:
            found["mean_cost"] = means["mean_cost"].mean()
        found["fit_seconds"] = means["fit_seconds"].mean()
        found.insert(0, "rank", self.ranks())
        return found.sort_values(["rank", "score"], ascending=[True, False])

    def ranks(self) -> pd.Series:
        """Mean rank of each method that finished everything, 1 = best."""
        ranks = self.scores().dropna(axis=1).rank(axis=1, ascending=False)
        return ranks.mean().rename("rank").sort_values()

    @property
    def best(self) -> str:
        """The method of the smallest mean rank."""
        return str(self.ranks().index[0])

    def __str__(self) -> str:
        sets = f"{len(self._tables)} data sets" if len(self._tables) > 1 else "1 data set"
        failed = "".join(f"\nfailed: {name} ({why})" for name, why in self.failures.items())
        return f"{len(self.methods)} methods on {sets}\n{self.table().round(4)}{failed}"

    def _repr_html_(self) -> str:
        return str(self.table().round(4).to_html())

    # -- differences ----------------------------------------------------------------------------

    def standings(self) -> list[Standing]:
        """Total costs on one data set, compared row by row.

        Every row is compared with itself: the interval is that of `costboost.metrics.verdict`, of
        the sum of the differences from the cheapest method, 95 % for all lines at once
        (Bonferroni). A group has the cheapest method that is in no earlier one, and all later
        methods whose difference from it may be 0.

        Returns
        -------
        list of Standing
            The methods, the cheapest first.
        """
        costs, weights, groups = self._tested()
        return rank(costs, self._decided(), weights, groups=groups)

    def paid(self) -> dict[str, Floats]:
        """What each method paid on each held-out row of a single data set, times its weight."""
        costs, weights, _ = self._tested()
        return {name: costs.cost_of(codes) * weights for name, codes in self._decided().items()}

    def verdicts(self) -> dict[str, Verdict]:
        """Whether the decisions of each method pay, on a single data set."""
        costs, weights, groups = self._tested()
        (table,) = self._tables.values()
        return {
            name: Verdict.of(costs, codes, weights, groups=groups, doubts=table.doubts)
            for name, codes in self._decided().items()
        }

    def _tested(self) -> tuple[RealizedCosts, Floats, AnyArray | None]:
        """Return costs, weights and groups of the held-out rows of the only data set."""
        if len(self._tables) > 1:
            raise ValueError("Rows are compared one by one on a single data set. Use scores().")
        (table,) = self._tables.values()
        rows = np.concatenate([test for _, test in table.pairs.values()])
        if len(np.unique(rows)) < len(rows):
            raise ValueError(
                "Rows are compared one by one if each is tested once, and these splits test some "
                "again. Use folds (splits=5), or scores()."
            )
        weights = np.ones(len(rows))
        if table.weights is not None:
            weights = table.weights[rows]
        groups = None
        if table.groups is not None:
            groups = table.groups[rows]
        return table.known.take(rows), weights, groups

    def _decided(self) -> dict[str, Ints]:
        """Return the decisions of the methods that finished all splits of the only data set."""
        (table,) = self._tables.values()
        decided = {}
        for name in self.methods:
            if name not in self.failures:
                parts = [self._found[table.name, split, name]["decided"] for split in table.pairs]
                decided[name] = np.concatenate(parts).astype(np.intp)
        return decided

    # -- pictures -------------------------------------------------------------------------------

    def plot(self, kind: str = "ranks", ax: Axes | None = None) -> Axes:
        """Draw the comparison.

        Parameters
        ----------
        kind : {"ranks", "cost"}, default="ranks"
            Mean ranks; or total cost on one data set with intervals.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes
            The picture.
        """
        from costboost.plots import comparison as draw

        if kind == "ranks":
            return draw.ranks(self.ranks(), len(self.scores()), ax)
        if kind == "cost":
            return draw.standings(self.standings(), ax)
        raise invalid("kind", "plot", f"must be ranks or cost; got {kind!r}.")


class Standing(NamedTuple):
    """One line of a comparison on one data set."""

    name: str
    cost: float
    more: float
    low: float
    high: float
    group: int
    savings: float


def _savings(costs: RealizedCosts, codes: Ints, weights: Floats | None) -> float:
    """Savings; NaN where they are not defined."""
    try:
        return costs.savings(codes, weights)
    except ValueError:
        return float("nan")


def rank(
    costs: RealizedCosts,
    decided: Mapping[str, Ints],
    weights: Floats,
    *,
    groups: AnyArray | None = None,
) -> list[Standing]:
    """Sort methods by cost, with paired intervals and groups that are not distinguishable."""
    total = {name: float((costs.cost_of(codes) * weights).sum()) for name, codes in decided.items()}
    order = sorted(total, key=lambda name: total[name])
    rows = float(weights.sum())
    # As many comparisons as there are other methods are to hold at once.
    confidence = 1.0 - 0.05 / max(1, len(order) - 1)

    def more_than(leader: str, name: str) -> Interval:
        """Return what a method costs more than another."""
        if name == leader:
            return Interval(0.0, 0.0, 0.0)
        gains = decision_gains(
            costs, decided[leader], weights, groups=groups, baseline=decided[name]
        )
        mean = interval_of(gains, confidence=confidence)
        return Interval(*(rows * np.array(mean)).tolist())

    numbers: dict[str, int] = {}
    for leader in order:
        if leader not in numbers:
            near = [name for name in order if more_than(leader, name).low <= 0.0]
            numbers = dict.fromkeys(near, max(numbers.values(), default=0) + 1) | numbers
    standings = []
    for name in order:
        more = more_than(order[0], name)
        savings = _savings(costs, decided[name], weights)
        standings.append(Standing(name, total[name], *more, numbers[name], savings))
    return standings
