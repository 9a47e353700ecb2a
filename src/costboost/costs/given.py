"""The one reader of ``cost_matrix`` and ``costs=``; `per_row` makes costs of single rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost.costs.costs import Costs, RealizedCosts
from costboost.costs.labels import arranged, check_same_index, label_array, listed, matched
from costboost.costs.rows import RowCosts
from costboost.costs.spec import (
    Context,
    CostSpec,
    _row_labels,
    arrange_row_costs,
    as_floats,
    as_labels,
    check_order,
    is_frame,
    named_labels,
    object_array,
    positive_of,
    short_columns,
)
from costboost.errors import CostWarning


def read_costs(
    cost_matrix: Any = None,
    costs: Any = None,
    *,
    classes: ArrayLike,
    decisions: ArrayLike | None = None,
    n_rows: int | None = None,
    X: Any = None,
    index: Any = None,
    owner: str = "",
    as_classes: bool = False,
) -> Costs:
    """Read costs of rows whose classes are unknown.

    Parameters
    ----------
    cost_matrix : array, frame, mapping, Costs, CostSpec or None
        Costs, rows = truth, columns = decision, in any form of `CostSpec.parse`.
    costs : array, frame or mapping, optional
        Costs in place of `cost_matrix`: shape (n, k, d), each row's own matrix; a (k, d) matrix
        or a mapping, as above; for two classes a frame with a row per row and the columns
        ``fn``, ``fp``, ``tp``, ``tn`` (the first two at least), also called ``cost_fn`` or
        ``FN_cost``.
    classes : array of shape (k,)
        The classes, in order.
    decisions : array of shape (d,), optional
        The decisions, if they are known from elsewhere: they name the columns of unlabelled
        arrays, and labelled forms are put into their order.
    n_rows : int, optional
        Number of rows; by default that of `costs`.
    X : table, optional
        The features as the user passed them, for expressions.
    index : pandas.Index, optional
        Index of the rows; costs of rows that have one must have the same.
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
    >>> read_costs({"fn": 5, "fp": 1, "positive": "fraud"}, classes=["fraud", "ok"]).matrix
    array([[0., 5.],
           [1., 0.]])
    """
    context = _context(cost_matrix, costs, classes, decisions, owner, as_classes)
    if costs is None:
        found = _parse(cost_matrix, context).evaluate(X, n_rows=n_rows, index=index)
    else:
        costs = _open(costs, cost_matrix, context)
        if is_prices(costs, context, n_rows=n_rows):
            k = len(context.classes)
            raise context.error(
                f"must have shape (n, {k}, {len(context.columns)}), truth by decision, or "
                f"({k}, {len(context.columns)}), because the truth is unknown here; got "
                f"{_shape(costs)}. Prices of decisions need the truth: use "
                "costboost.costs.per_row, or a frame with the columns 'fn' and 'fp'."
            )
        found = _read_matrices(costs, context, X, n_rows, index)
    if not found.is_per_row:
        _warn_if_swapped(found, context)
    return found


def read_realized_costs(
    cost_matrix: Any = None,
    costs: Any = None,
    *,
    y_index: ArrayLike,
    classes: ArrayLike,
    decisions: ArrayLike | None = None,
    X: Any = None,
    index: Any = None,
    owner: str = "",
    as_classes: bool = False,
) -> RealizedCosts:
    """Read costs of rows whose classes are known.

    Parameters
    ----------
    cost_matrix, classes, decisions, X, index, owner, as_classes
        As in `read_costs`.
    costs : array, frame or mapping, optional
        As in `read_costs`, and also (n, d), the price of each decision on the row (the columns of
        a frame name the decisions), or (n,), the price of any error on the row.
    y_index : int array of shape (n,)
        Class of each row, as an index into `classes`.

    Returns
    -------
    RealizedCosts
        The costs, checked.

    Examples
    --------
    >>> rows = read_realized_costs(costs=[30.0, 2.0], classes=["ok", "fraud"], y_index=[1, 0])
    >>> rows.prices
    array([[30.,  0.],
           [ 0.,  2.]])
    """
    y = np.asarray(y_index, dtype=np.intp)
    context = _context(cost_matrix, costs, classes, decisions, owner, as_classes)
    if costs is None:
        found = _parse(cost_matrix, context).evaluate(X, n_rows=len(y), index=index)
    else:
        costs = _open(costs, cost_matrix, context)
        if is_prices(costs, context, n_rows=len(y), has_truth=True):
            prices, names = _read_prices(costs, context, y, index)
            return RealizedCosts(prices, y, context.classes, names)
        found = _read_matrices(costs, context, X, len(y), index)
    _warn_if_swapped(found, context)
    return found.realized(y)


def _context(cost_matrix, costs, classes, decisions, owner, as_classes):
    name = "cost_matrix" if costs is None else "costs"
    return Context(np.asarray(classes), as_labels(decisions), name, owner, as_classes)


def _parse(form, context):
    return CostSpec.parse(
        form,
        context.classes,
        decisions=context.decisions,
        owner=context.owner,
        name=context.name,
        as_classes=context.as_classes,
    )


def _open(costs, cost_matrix, context):
    """Return what can be read: a frame of fn and fp as a mapping, a list of arrays joined."""
    if is_frame(costs):
        labels = [*context.classes.tolist(), *context.columns.tolist()]
        return row_costs(costs, labels, positive_of(cost_matrix), context.start)
    if isinstance(costs, list | tuple):
        if len(costs) and isinstance(costs[0], RowCosts):
            return np.stack(costs)
        array = object_array(costs)
        if array.ndim == 3:
            return array
    if isinstance(costs, RowCosts):
        check_order(costs, context)
    return costs


def row_costs(
    costs: Any, labels: Iterable[Any] = (), positive: Any = None, start: str = "A frame of costs"
) -> Any:
    """Return a frame with a row per row and the columns fn, fp, tp, tn as the short form.

    Anything else is returned as it is, also a frame whose columns are known decisions.
    """
    if not is_frame(costs):
        return costs
    names = short_columns(costs, labels)
    if not names:
        return costs
    short = {name: costs[column] for column, name in names.items()}
    if len(short) < len(costs.columns):
        raise ValueError(
            f"{start} must have the columns 'fn' and 'fp', and 'tp' and 'tn' if needed, each once, "
            f"or a column per decision; got {listed(costs.columns)}. Drop the other columns."
        )
    if positive is not None:
        short["positive"] = positive
    return short


def _shape(costs):
    if is_frame(costs):
        return tuple(costs.shape)
    return object_array(costs).shape


def is_prices(costs: Any, context: Context, *, n_rows: int | None, has_truth: bool = False) -> bool:
    """Return True if costs are prices under the known truth, and not matrices."""
    if callable(costs) and not isinstance(costs, np.ndarray):
        raise TypeError(
            f"{context.start} must not be a function. Pass what it returns for these rows."
        )
    if isinstance(costs, Mapping | str | Costs | CostSpec):
        return False
    shape = _shape(costs)
    k = len(context.classes)
    is_matrix = len(shape) > 2 or shape == (k, len(context.columns))
    if is_frame(costs):
        labels, _ = _row_labels(costs)
        is_matrix = len(labels) == k and -1 not in matched(labels, context.classes)
        if not has_truth and len(costs) != n_rows:
            is_matrix = True
    if has_truth and is_matrix and len(shape) == 2 and n_rows == k:
        raise context.error(
            f"of shape {shape} may be one matrix or the prices of {k} rows. Pass a matrix as "
            f"cost_matrix=, prices as one matrix per row, shape ({k}, {k}, {len(context.columns)})."
        )
    return not is_matrix


def _read_matrices(costs, context, X, n_rows, index):
    """Read a matrix per row, or any form of one for all rows."""
    if not isinstance(costs, np.ndarray) or costs.ndim != 3:
        return _parse(costs, context).evaluate(X, n_rows=n_rows, index=index)
    names = context.columns
    if isinstance(costs, RowCosts):
        _check_index(costs, context, index)
        matrix, names = arrange_row_costs(costs, context)
    else:
        matrix = as_floats(costs, context.name, context.owner)
    expected = (len(matrix) if n_rows is None else n_rows, len(context.classes), len(names))
    if matrix.shape != expected:
        raise context.wrong_shape(matrix.shape, n_rows)
    context.check_sizes(matrix, names)
    return Costs(matrix, context.classes, names)


def _check_index(costs, context, index):
    check_same_index(context.owner, **{"the rows": index, context.name: costs})


def _read_prices(costs, context, y_index, index):
    """Read prices (n, d) of rows, given as (n, d) or as (n,), the price of an error."""
    n = len(y_index)
    classes = context.classes
    decisions = context.columns
    _check_index(costs, context, index)
    columns = []
    values = costs
    if is_frame(costs):
        columns = list(costs.columns)
        values = costs.to_numpy()
    prices = as_floats(values, context.name, context.owner)
    is_error = prices.shape == (n,)
    is_named = columns not in ([], list(range(len(decisions))))
    if prices.ndim == 2 and len(prices) == n and is_named:
        decisions, _, places = arranged(
            classes.tolist(), columns, classes, context.start, context.as_classes
        )
        prices, decisions = context.in_fitted_order(prices[:, places], decisions)
    elif not is_error and prices.shape != (n, len(decisions)):
        k = len(classes)
        d = len(decisions)
        raise context.error(
            f"must have shape ({n}, {k}, {d}), a matrix per row; ({n}, {d}), the price of each "
            f"decision per row; ({n},), the price of an error per row; or ({k}, {d}), one "
            f"matrix; got {prices.shape}. Take the costs from the same rows as X; name other "
            "decisions by the columns of a frame."
        )
    context.check_sizes(prices, decisions)
    if is_error:
        return _prices_of_errors(prices, context, y_index), classes
    return prices, decisions


def _prices_of_errors(error_cost, context, y_index):
    decisions = context.columns
    if not np.array_equal(decisions, context.classes):
        raise context.error(
            f"of shape (n,) is the price of an error, but {listed(decisions.tolist())} are not "
            "the classes. Pass shape (n, d), the price of each decision."
        )
    if error_cost.min(initial=0.0) < 0:
        warnings.warn(
            f"{context.start} of shape (n,) is the price of an error, and {error_cost.min():g} is "
            "negative: check the sign. Pass shape (n, d) if an error earns.",
            CostWarning,
            stacklevel=5,
        )
    prices = np.repeat(error_cost[:, None], len(context.classes), axis=1)
    prices[np.arange(len(y_index)), y_index] = 0.0
    return prices


def check_training_costs(costs: RealizedCosts, spec: CostSpec | None, X: Any, owner: str) -> None:
    """Notice costs of training rows that are probably not the money that was meant.

    Parameters
    ----------
    costs : RealizedCosts
        Costs of the training rows.
    spec : CostSpec or None
        Where they come from, if they are not given by row.
    X : table
        The rows that its expressions read.
    owner : str
        Class that messages name.

    Raises
    ------
    ValueError
        If an expression reads a column that was standardised.

    Warns
    -----
    CostWarning
        If on some rows a mistake earns money, and more than the right decision.
    """
    if spec is not None:
        for expression in spec.expressions:
            for name, values in expression.numbers(X).items():
                if _is_standardised(values):
                    raise ValueError(
                        f"The expression {expression.text!r} of {owner} reads the column {name!r}, "
                        "which was standardised (its center is 0 and its spread 1): costs would be "
                        "worked out on these numbers, not on money. Put the costs outside, around "
                        "the steps that change columns, MinCostClassifier(pipeline, {...}), or "
                        "pass the costs of the rows as costs=."
                    )
    _warn_of_gains(costs, owner)


def _is_standardised(values):
    # Exactly as scalers leave them: no column of money has both by chance.
    if len(values) < 10 or not np.isfinite(values).all() or values.min() >= 0:
        return False
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    centers = np.array([values.mean(), middle])
    spreads = np.array([values.std(), high - low])
    return bool(((np.abs(centers) < 1e-6) & (np.abs(spreads - 1.0) < 1e-6)).any())


def _warn_of_gains(costs, owner):
    if not costs.is_per_row or not costs.decides_classes or not len(costs):
        return
    right = costs.prices[np.arange(len(costs)), costs.y_index]
    gains = costs.prices.min(axis=1) < np.minimum(right, 0.0)
    if not gains.any():
        return
    row = int(gains.argmax())
    decision = costs.decisions.tolist()[int(costs.prices[row].argmin())]
    truth = costs.classes.tolist()[costs.y_index[row]]
    warnings.warn(
        f"{owner}: a mistake earns money on {gains.mean():.1%} of the rows, first on row {row}, "
        f"where deciding {decision!r} when the truth is {truth!r} costs "
        f"{costs.prices[row].min():.6g} and the right decision {right[row]:.6g}. A negative cost "
        "is a profit: check the signs, and what the expression subtracts.",
        CostWarning,
        stacklevel=4,
    )


def _warn_if_swapped(costs, context):
    """Warn if a right decision costs more than every mistake on the same truth, on all rows."""
    if not costs.decides_classes:
        return
    matrix = costs.matrix
    known = context.classes.tolist()
    right = matrix.diagonal(axis1=-2, axis2=-1)
    mistakes = np.where(np.eye(len(known), dtype=bool), -np.inf, matrix).max(axis=-1)
    swapped = np.flatnonzero((right > mistakes).reshape(-1, len(known)).all(axis=0))
    if not len(swapped) or len(known) < 2 or not matrix.size:
        return
    j = swapped[0]
    costs, most = (float(table[..., j].max()) for table in (right, mistakes))
    remedy = (
        f"Rows are the truth, columns the decision, both in the order {listed(known)}: is the "
        "matrix transposed?"
    )
    if most < 0 <= costs:
        remedy = "A negative cost is a profit. Write costs without the minus sign."
    warnings.warn(
        f"{context.start} makes the right decision the most costly one: deciding {known[j]!r} "
        f"when the truth is {known[j]!r} costs {costs:.6g}, a mistake at most {most:.6g}. {remedy}",
        CostWarning,
        stacklevel=4,
    )


def per_row(
    fn: ArrayLike | Mapping[tuple[Any, Any], Any],
    fp: ArrayLike | None = None,
    tp: ArrayLike = 0.0,
    tn: ArrayLike = 0.0,
    *,
    positive: Any = None,
    classes: Iterable[Any] | None = None,
    n: int | None = None,
    X: Any = None,
) -> RowCosts:
    """Build the costs of single rows, which scikit-learn can cut into folds and route.

    Parameters
    ----------
    fn : float, array of shape (n,), str, or mapping
        Price of a miss, for all rows or for each. A text is the name of a column of X or arithmetic
        over columns, ``"amount + 15"``; see `costboost.costs.expressions`. For any classes and
        decisions, a mapping ``{(truth, decision): price}`` of such prices in place of all four
        (right decisions may be left out: 0).
    fp, tp, tn : float, array of shape (n,) or str
        Price of a false alarm, of a detection and of a correct rejection.
    positive : label, optional
        The positive class, such as ``"fraud"``. It may be left out only for the labels {0, 1},
        {False, True} and {-1, 1}, whose second is positive.
    classes : iterable of labels, optional
        All classes. Where a meta-estimator encodes the labels as 0, 1, ... (in sorted order, as
        scikit-learn does), costs by label are then found by their codes.
    n : int, optional
        Number of rows; needed only if all prices are single numbers.
    X : data frame, optional
        The rows, if prices name columns.

    Returns
    -------
    RowCosts of shape (n, k, d)
        Cost of each row, truth by decision; for two classes index 1 is the positive one.

    Examples
    --------
    A fraud costs its amount, a call to the customer 5 whether or not it was needed:

    >>> per_row(fn=[120.0, 3.0], fp=5, tp=5)
    RowCosts([[[  0.,   5.],
               [120.,   5.]],
              [[  0.,   5.],
               [  3.,   5.]]])

    Any classes and decisions:

    >>> prices = {("ok", "accept"): 0, ("ok", "review"): 4,
    ...           ("fraud", "accept"): [120.0, 3.0, 9.0], ("fraud", "review"): 4}
    >>> per_row(prices)[:2].labels
    (['ok', 'fraud'], ['accept', 'review'])
    """
    form: dict[Any, Any] = {"fn": fn, "fp": fp, "tp": tp, "tn": tn}
    known = np.array([0, 1])
    if isinstance(fn, Mapping):
        form = dict(fn)
        known = label_array(named_labels(fn)[0])
    elif fp is None:
        raise ValueError("per_row needs fp, the price of a false alarm. Pass fp=.")
    index = check_same_index("per_row", X=X, **{str(name): cell for name, cell in form.items()})
    spec = CostSpec.parse(form, known, owner="per_row", name="costs")
    n_rows = n if X is None else len(X)
    matrix = spec.evaluate(X, n_rows=n_rows).matrix
    if matrix.ndim == 2:
        if n_rows is None:
            raise ValueError(
                "per_row got only single numbers, so the number of rows is unknown. Pass n=."
            )
        matrix = np.repeat(matrix[None], n_rows, axis=0)
    costs = np.array(matrix).view(RowCosts)
    if isinstance(fn, Mapping):
        costs.labels = (known.tolist(), spec.decisions.tolist())
    costs.positive = positive
    if classes is not None:
        costs.classes = list(classes)
    if index is not None and len(index) == len(costs):
        costs.index = index
    return costs
