"""Laws of cost-sensitive classifiers, checked on small made data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags

from costboost.errors import CollapseWarning
from helpers.arrays import AnyArray

# Rounding may tip rows that lie between two decisions; a law that is broken tips more of them.
_TIPPED = 0.05


def check_cost_sensitive(estimator: Any, *, skip: Iterable[str] = ()) -> list[str]:
    """Check on made data that a classifier treats costs as it should.

    The classifier takes ``cost_matrix`` in its constructor; it may take ``costs`` (per row) and
    ``sample_weight`` in `fit`, and ``costs`` in `predict`. It is fitted about a dozen times on 90
    rows of two classes, and of three if its tags allow that. Copies, seeds and data that stay as
    they are belong to scikit-learn's own ``check_estimator``. The laws, by name:

    - ``forms``: a matrix, a mapping, and costs per row that say the same give the same decisions;
    - ``unit``: costs times 8 change no decision;
    - ``labels``: other names of the classes, sorted the other way round, permute the decisions;
    - ``weights``: a row with the weight 2 is two rows;
    - ``decisions``: `predict` returns one of ``decisions_`` (``classes_`` without it) for each row;
    - ``costly``: a class that is costly to miss is decided more often than one that is cheap;
    - ``errors``: wrong costs raise a `ValueError` or `TypeError` that speaks of costs;
    - ``atomic``: a fit that fails leaves the fitted model as it was.

    Laws in ``skip`` are not checked. Returned are the names of those that were. A broken law raises
    an AssertionError that names it and says what happened.
    """
    left_out = set(skip)
    if unknown := left_out - set(_LAWS):
        raise ValueError(
            f"The 'skip' parameter of check_cost_sensitive must hold names of laws, "
            f"{', '.join(_LAWS)}; got {sorted(unknown)}."
        )
    name = type(estimator).__name__
    assert is_classifier(estimator), f"{name} is no classifier of scikit-learn: see is_classifier."
    assert "cost_matrix" in estimator.get_params(), f"{name} has no parameter 'cost_matrix'."
    sizes = (2, 3) if get_tags(estimator).classifier_tags.multi_class else (2,)
    chosen = [law for law in _LAWS if law not in left_out]
    for law in chosen:
        for k in sizes:
            try:
                with warnings.catch_warnings():
                    # Whether made data are worth a model is not the question.
                    warnings.simplefilter("ignore", CollapseWarning)
                    _LAWS[law](_Subject(estimator, k))
            except AssertionError as error:
                raise AssertionError(f"{name} breaks the law {law!r}: {error}") from error
    return chosen


class _Subject:
    """An estimator with made rows of k classes and the costs of their mistakes."""

    def __init__(self, estimator: Any, k: int) -> None:
        rng = np.random.default_rng(k)
        self.estimator, self.k = estimator, k
        self.y = np.arange(90) % k
        self.X = rng.normal(size=(90, 3)) + 1.2 * (self.y[:, None] == np.arange(3))
        self.new = rng.normal(size=(60, 3)) + 1.2 * (np.arange(60)[:, None] % k == np.arange(3))
        self.C = np.round(rng.uniform(1.0, 6.0, size=(k, k)), 2) * (1 - np.eye(k))

    def fit(self, costs: Any = None, y: AnyArray | None = None, **more: Any) -> Any:
        model = clone(self.estimator).set_params(cost_matrix=self.C if costs is None else costs)
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        return model.fit(self.X, self.y if y is None else y, **more)

    def takes(self, method: str, argument: str) -> bool:
        return argument in signature(getattr(self.estimator, method)).parameters

    def same(self, mine: AnyArray, theirs: AnyArray, what: str) -> None:
        differ = float(np.mean(np.asarray(mine) != np.asarray(theirs)))
        assert differ <= _TIPPED, f"{differ:.0%} of the decisions differ {what} ({self.k} classes)."


def _forms(case: _Subject) -> None:
    mine = case.fit().predict(case.new)
    pairs = {(i, j): case.C[i, j] for i in range(case.k) for j in range(case.k)}
    case.same(case.fit(pairs).predict(case.new), mine, "between a matrix and a mapping")
    if case.k == 2:
        short = {"fn": case.C[1, 0], "fp": case.C[0, 1], "positive": 1}
        case.same(case.fit(short).predict(case.new), mine, "between a matrix and fn, fp")
    if case.takes("fit", "costs"):
        rows, new = (np.broadcast_to(case.C, (len(X), *case.C.shape)) for X in (case.X, case.new))
        given = {"costs": new} if case.takes("predict", "costs") else {}
        trained = clone(case.fit()).set_params(cost_matrix=None).fit(case.X, case.y, costs=rows)
        mine, theirs = (model.predict(case.new, **given) for model in (case.fit(), trained))
        case.same(mine, theirs, "between a matrix and costs per row of fit")


def _unit(case: _Subject) -> None:
    mine, theirs = (case.fit(case.C * unit).predict(case.new) for unit in (1.0, 8.0))
    case.same(mine, theirs, "when costs are 8 times as high")


def _labels(case: _Subject) -> None:
    names = np.array(["c", "b", "a"])[: case.k]
    order = np.argsort(names)
    decided = case.fit(case.C[np.ix_(order, order)], names[case.y]).predict(case.new)
    case.same(decided, names[case.fit().predict(case.new)], "when the classes change their names")


def _weights(case: _Subject) -> None:
    if not case.takes("fit", "sample_weight"):
        return
    twice = case.y == 0
    weighted = case.fit(sample_weight=1.0 + twice).predict(case.new)
    repeated = clone(case.fit())
    rows = np.concatenate([np.arange(len(case.y)), np.flatnonzero(twice)])
    decided = repeated.fit(case.X[rows], case.y[rows]).predict(case.new)
    case.same(decided, weighted, "between rows of weight 2 and rows that occur twice")


def _decisions(case: _Subject) -> None:
    model = case.fit()
    known, decided = getattr(model, "decisions_", model.classes_), model.predict(case.new)
    assert np.shape(decided) == (len(case.new),), f"predict has the shape {np.shape(decided)}."
    strangers = sorted(set(decided.tolist()) - set(np.asarray(known).tolist()))
    assert not strangers, f"predict returns {strangers[:3]}, none of {list(known)}."


def _costly(case: _Subject) -> None:
    # One column that is wrong on every third row: no tree, however deep, can know the class.
    seen = (case.y + (np.arange(len(case.y)) // case.k % 3 == 0)) % case.k
    case.X, case.new = seen[:, None].astype(float), np.arange(case.k)[:, None].astype(float)
    factor = np.where(np.arange(case.k) == case.k - 1, 20.0, 1.0)[:, None]
    often, seldom = (
        float(np.mean(case.fit((1.0 - np.eye(case.k)) * by).predict(case.new) == case.k - 1))
        for by in (factor, 20.0 / factor)
    )
    assert often >= seldom, (
        f"class {case.k - 1} is decided on {often:.0%} of the rows when missing it costs 20 times "
        f"more than the other mistakes, and on {seldom:.0%} when it costs 20 times less."
    )


def _errors(case: _Subject) -> None:
    wrong: dict[str, Any] = {
        "of a wrong shape": np.ones((case.k + 1, case.k + 1)),
        "with NaN": np.where(case.C > 0, np.nan, 0.0),
        "that are words": "five",
    }
    for what, costs in wrong.items():
        try:
            case.fit(costs)
        except (ValueError, TypeError) as error:
            assert "cost" in str(error).lower(), f"the error for costs {what} says: {error}"
        else:
            raise AssertionError(f"costs {what} are accepted.")


def _atomic(case: _Subject) -> None:
    model = case.fit()
    before, state = model.predict(case.new), sorted(vars(model))
    try:
        model.fit(case.X[:, :2], case.y[:-1])  # columns and lengths do not fit
    except ValueError:
        pass
    else:
        raise AssertionError("a fit with fewer labels than rows is accepted.")
    assert sorted(vars(model)) == state, "a fit that failed changed the attributes."
    assert np.array_equal(model.predict(case.new), before), "a fit that failed changed the model."


_LAWS: dict[str, Callable[[_Subject], None]] = {
    law.__name__[1:]: law
    for law in (_forms, _unit, _labels, _weights, _decisions, _costly, _errors, _atomic)
}
