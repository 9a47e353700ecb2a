"""Laws of classifiers: functions of an estimator and a case that raise `LawBrokenError`.

A law passes where the estimator refuses the case by a clear error.
"""

from __future__ import annotations

import pickle
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from costboost._typing import AnyArray
from costboost.testing.case import Case
from costboost.testing.outcome import (
    LawBrokenError,
    Outcome,
    answers,
    only_known_warnings,
    outcome,
    prepared,
    refused,
    taken,
)

__all__ = [
    "answers_or_refuses",
    "answers_soundly",
    "counts_weights_as_rows",
    "ignores_names_of_classes",
    "ignores_order_of_classes",
    "ignores_order_of_rows",
    "ignores_unit_of_costs",
    "ignores_unit_of_weights",
    "leaves_input_alone",
    "repeats",
]

# How far probabilities may be apart that should be equal up to rounding.
_ROUNDING = 1e-6
# A score that is so near to that of another decision, relative to the largest, decides by rounding.
_NEAR_TIE = 1e-6
# Probabilities sum to 1 up to this.
_SUM = 1e-9


def _break(estimator: Any, what: str, case: Case) -> LawBrokenError:
    return LawBrokenError(f"{type(estimator).__name__} {what}. On {case!r}")


def _random(case: Case) -> np.random.Generator:
    """Choices of a law that depend on the case alone."""
    return np.random.default_rng(zlib.crc32(case.table.tobytes() + case.codes.tobytes()))


# -- answers --------------------------------------------------------------------------------------


def answers_or_refuses(estimator: Any, case: Case) -> Outcome:
    """Fit, ``predict``, ``predict_proba``, ``predict_cost`` and ``score`` answer or refuse clearly.

    A clear refusal is a ValueError or TypeError raised on purpose, with a message that names what
    is wrong. Errors from inside another library, ZeroDivisionError, IndexError, LinAlgError and the
    like break the law, and so do warnings of numpy about divisions, overflows and NaN.

    Parameters
    ----------
    estimator : estimator
        It stays as it is.
    case : Case
        Rows, labels, weights and costs.

    Returns
    -------
    Outcome
        What it made of the case.
    """
    found = outcome(estimator, case)
    if found.refusal is None:
        owner = type(estimator)
        for name in ("predict_cost", "staged_predict"):
            if hasattr(found.model, name):
                refused(partial(_said, found.model, name, case), owner, case)
        given = taken(found.model.score, case)
        refused(lambda: found.model.score(case.X(), case.y(), **given), owner, case)
    return found


def _all(answer: Any) -> Any:
    return answer if isinstance(answer, np.ndarray) else list(answer)


def answers_soundly(estimator: Any, case: Case) -> Outcome:
    """Scores are finite, probabilities sum to 1, decisions are of ``decisions_``, in its type.

    Parameters
    ----------
    estimator, case
        As in `answers_or_refuses`.

    Returns
    -------
    Outcome
        What it made of the case.
    """
    found = outcome(estimator, case)
    if found.refusal is not None:
        return found
    model, m = found.model, len(case.new)
    classes = np.asarray(model.classes_)
    if classes.tolist() != case.labels[np.unique(case.codes)].tolist():
        raise _break(estimator, f"has the classes {classes.tolist()}, not the sorted labels", case)
    if type(classes.tolist()[0]) is not type(case.labels.tolist()[0]):
        raise _break(estimator, f"turns labels into {classes.dtype}", case)
    _check_decisions(estimator, np.asarray(found.decisions), case, model, m)
    if found.proba is not None:
        _check_proba(estimator, found.proba, case, (m, len(classes)))
    if found.scores is not None and not np.isfinite(found.scores).all():
        raise _break(estimator, f"has scores that are not finite: {found.scores}", case)
    if hasattr(model, "predict_cost"):
        expected, _ = refused(lambda: model.predict_cost(case.X_new()), type(model), case)
        if expected is not None and not np.isfinite(expected).all():
            raise _break(estimator, f"expects costs that are not finite: {expected}", case)
    for name in ("feature_importances_", "estimator_weights_", "train_loss_", "cost_matrix_"):
        value, _ = _attribute(model, name)
        if value is not None and not np.isfinite(value).all():
            raise _break(estimator, f"has {name} that is not finite: {value}", case)
    return found


def _attribute(model: Any, name: str) -> tuple[Any, None]:
    try:
        return getattr(model, name, None), None
    except ValueError:
        return None, None


def _check_decisions(estimator: Any, decisions: AnyArray, case: Case, model: Any, m: int) -> None:
    allowed = np.asarray(getattr(model, "decisions_", model.classes_))
    if decisions.shape != (m,):
        raise _break(estimator, f"decides in shape {decisions.shape}, not {(m,)}", case)
    known = {type(label): label for label in allowed.tolist()}
    strange = [x for x in decisions.tolist() if x not in set(allowed.tolist())]
    if strange:
        raise _break(estimator, f"decides {strange[0]!r}, none of {allowed.tolist()}", case)
    if not {type(x) for x in decisions.tolist()} <= set(known):
        raise _break(estimator, f"returns labels as {decisions.dtype}, not {allowed.dtype}", case)


def _check_proba(estimator: Any, proba: AnyArray, case: Case, shape: tuple[int, int]) -> None:
    if proba.shape != shape:
        raise _break(estimator, f"has probabilities of shape {proba.shape}, not {shape}", case)
    if not np.isfinite(proba).all():
        raise _break(estimator, f"has probabilities that are not finite: {proba}", case)
    if proba.min() < 0 or proba.max() > 1:
        low, high = float(proba.min()), float(proba.max())
        raise _break(estimator, f"has probabilities from {low!r} to {high!r}", case)
    worst = float(np.abs(proba.sum(axis=1) - 1.0).max())
    if worst > _SUM:
        raise _break(estimator, f"has probabilities whose sums are off 1 by {worst:.1e}", case)


# -- the same answers -----------------------------------------------------------------------------


def _bits(found: Outcome) -> list[Any]:
    parts = (found.decisions, found.proba, found.scores)
    return [None if part is None else np.asarray(part).tolist() for part in parts]


def repeats(estimator: Any, case: Case) -> Outcome:
    """The same seed gives the same answers, bit for bit.

    Whatever was fitted before, with one thread or two (``n_jobs``, where the estimator has it), and
    asked by several threads at once.

    Parameters
    ----------
    estimator : estimator
        It stays as it is. If it has a ``random_state`` that is None, the seed is 0.
    case : Case
        Rows, labels, weights and costs.

    Returns
    -------
    Outcome
        What it made of the case.
    """
    known = clone(estimator).get_params(deep=False)
    seed = {"random_state": 0} if known.get("random_state", 0) is None else {}
    first = outcome(estimator, case, **seed)
    if first.refusal is not None:
        return first
    owner = type(estimator)
    model, other = first.model, clone(first.model)
    half = case.take(np.arange(len(case.codes))[::-1][: max(len(case.codes) // 2, 1)])
    with only_known_warnings(owner, case):
        with suppress(ValueError, TypeError):  # too few rows
            _refit(other, half)
        with ThreadPoolExecutor(2) as pool:
            asked = list(pool.map(lambda _: np.asarray(model.predict(case.X_new())), range(4)))
    if any(x.tolist() != np.asarray(first.decisions).tolist() for x in asked):
        raise _break(estimator, "decides otherwise when threads ask", case)
    refitted, error = refused(lambda: _refit(other, case), owner, case)
    if error is not None or _bits(answers(refitted, case)) != _bits(first):
        raise _break(estimator, "answers otherwise after it was fitted to other rows", case)
    threads = {"n_jobs": 2} if "n_jobs" in known and known["n_jobs"] in (None, 1) else {}
    again = outcome(estimator, case, **seed, **threads)
    if _bits(again) != _bits(first):
        raise _break(estimator, "answers otherwise when it is fitted again", case)
    return first


def _refit(model: Any, case: Case) -> Any:
    """Fit the same object again, without cloning it."""
    return model.fit(case.X(), case.y(), **taken(model.fit, case))


def leaves_input_alone(estimator: Any, case: Case) -> Outcome:
    """Neither the rows, labels, weights and costs nor the parameters are changed.

    Parameters
    ----------
    estimator, case
        As in `answers_or_refuses`.

    Returns
    -------
    Outcome
        What it made of the case.
    """
    owner, model = type(estimator), prepared(estimator, case)
    cost_matrix = model.get_params(deep=False).get("cost_matrix")
    given = taken(model.fit, case)
    X, y, new = case.X(), case.y(), case.X_new()
    objects = {"X": X, "y": y, "the new rows": new, "cost_matrix": cost_matrix, **given}
    before = {name: _fingerprint(value) for name, value in objects.items()}
    parameters = _fingerprint(model.get_params(deep=False))

    def run() -> Outcome:
        model.fit(X, y, **given)
        return Outcome(model, model.predict(new))

    found, refusal = refused(run, owner, case)
    for name, value in objects.items():
        if _fingerprint(value) != before[name]:
            raise _break(estimator, f"changes {name}", case)
    if _fingerprint(model.get_params(deep=False)) != parameters:
        raise _break(estimator, "changes its parameters in fit", case)
    return Outcome(refusal=refusal) if found is None else found


def _fingerprint(value: Any) -> bytes:
    """Content of what was passed, layout included."""
    if isinstance(value, np.ndarray):
        flags = (value.dtype.str, value.shape, value.strides, value.flags.writeable)
        if value.dtype.kind == "O":
            return repr((flags, value.tolist())).encode()
        return repr(flags).encode() + np.ascontiguousarray(value).tobytes()
    if hasattr(value, "indptr"):
        return b"".join(map(_fingerprint, (value.data, value.indices, value.indptr)))
    if hasattr(value, "equals") and hasattr(value, "columns"):
        columns = [_fingerprint(value[name]) for name in value.columns]
        return repr((list(value.columns), list(map(str, value.dtypes)))).encode() + b"".join(
            columns
        )
    if hasattr(value, "tolist") or hasattr(value, "to_list"):
        return repr(value.to_list() if hasattr(value, "to_list") else value.tolist()).encode()
    if isinstance(value, dict):
        return b"".join(repr(key).encode() + _fingerprint(x) for key, x in value.items())
    try:
        return pickle.dumps(value)
    except (pickle.PicklingError, AttributeError, TypeError):
        return repr(value).encode()


# -- symmetries -----------------------------------------------------------------------------------


def _same(
    estimator: Any, first: Outcome, second: Outcome, case: Case, what: str, exact: bool = False
) -> Outcome:
    """Break the law unless two outcomes are equal, up to rounding if not ``exact``."""
    if (first.refusal is None) != (second.refusal is None):
        refusal = first.refusal or second.refusal
        raise _break(estimator, f"refuses only once ({refusal}) {what}", case)
    if first.refusal is not None:
        return first
    if exact and _bits(first)[:2] != _bits(second)[:2]:
        raise _break(estimator, f"answers otherwise {what}", case)
    if first.proba is not None and second.proba is not None:
        gap = float(np.abs(first.proba - second.proba).max())
        if gap > _ROUNDING:
            raise _break(estimator, f"has probabilities that differ by {gap:.2g} {what}", case)
    differ = np.asarray(first.decisions) != np.asarray(second.decisions)
    differ &= ~_near_ties(first)
    if differ.any():
        raise _break(estimator, f"decides otherwise on {int(differ.sum())} rows {what}", case)
    return first


def _near_ties(found: Outcome) -> AnyArray:
    """Rows whose two best decisions are equal up to rounding, (m,)."""
    m = len(np.asarray(found.decisions))
    values = found.scores if found.scores is not None else found.proba
    if values is None:
        return np.zeros(m, dtype=bool)
    values = np.asarray(values, dtype=np.float64)
    size = float(np.abs(values).max(initial=0.0)) or 1.0
    if values.ndim == 1:
        return np.asarray(np.abs(values) <= _NEAR_TIE * size)
    best = np.sort(values, axis=1)
    return np.asarray(best[:, -1] - best[:, -2] <= _NEAR_TIE * size)


def ignores_unit_of_costs(estimator: Any, case: Case) -> Outcome:
    """Costs in another unit (times a power of two) change no decision and no probability.

    Parameters
    ----------
    estimator : estimator
        It stays as it is.
    case : Case
        A plain case with costs.

    Returns
    -------
    Outcome
        What it made of the case.
    """
    power = int(_random(case).choice([-960, -300, -40, -3, 3, 40, 300, 960]))
    other = replace(case, prices=case.prices.times(2.0**power))
    what = f"when costs are multiplied by 2^{power}"
    return _same(estimator, outcome(estimator, case), outcome(estimator, other), case, what)


def ignores_unit_of_weights(estimator: Any, case: Case) -> Outcome:
    """Weights in another unit (times a power of two) change no decision and no probability.

    Parameters
    ----------
    estimator, case
        As in `ignores_unit_of_costs`.

    Returns
    -------
    Outcome
        What it made of the case.
    """
    power = int(_random(case).choice([-960, -300, -40, -3, 3, 40, 300, 960]))
    weights = np.ones(len(case.codes)) if case.weights is None else case.weights
    first = replace(case, weights=weights)
    other = replace(case, weights=weights * 2.0**power)
    what = f"when weights are multiplied by 2^{power}"
    return _same(estimator, outcome(estimator, first), outcome(estimator, other), case, what)


def ignores_names_of_classes(estimator: Any, case: Case) -> Outcome:
    """Other names for the classes, in the same order, change the names and nothing else.

    Parameters
    ----------
    estimator, case
        As in `answers_or_refuses`.

    Returns
    -------
    Outcome
        What it made of the case.
    """
    k = len(case.labels)
    named = case.relabelled(np.array([f"class {i:03}" for i in range(k)]), range(k))
    first, second = outcome(estimator, case), outcome(estimator, named)
    if second.refusal is None and first.refusal is None:
        own = np.asarray(getattr(second.model, "decisions_", second.model.classes_))
        if own.tolist() == second.model.classes_.tolist():
            second = replace(second, decisions=_renamed(second, named, case))
    elif (first.refusal is None) != (second.refusal is None):
        # Labels of some types are refused, and positive classes may have to be named.
        return first
    return _same(estimator, first, second, case, "when classes get other names", exact=True)


def _renamed(found: Outcome, named: Case, case: Case) -> AnyArray:
    """The decisions under the names of another case with the same classes."""
    place = {label: i for i, label in enumerate(named.labels.tolist())}
    return case.labels[[place[x] for x in np.asarray(found.decisions).tolist()]]


def ignores_order_of_classes(estimator: Any, case: Case) -> Outcome:
    """Classes whose names sort the other way round are permuted, up to rounding and ties.

    Parameters
    ----------
    estimator, case
        As in `ignores_unit_of_costs`.

    Returns
    -------
    Outcome
        What it made of the case.
    """
    k = len(case.labels)
    turned = case.relabelled(case.labels, range(k)[::-1])
    first, second = outcome(estimator, case), outcome(estimator, turned)
    if second.refusal is None:
        place = {label: i for i, label in enumerate(case.labels.tolist())}
        back = [k - 1 - place[x] for x in np.asarray(second.decisions).tolist()]
        proba = None if second.proba is None else second.proba[:, ::-1]
        second = replace(second, decisions=case.labels[back], proba=proba)
    return _same(estimator, first, second, case, "when classes change places")


def ignores_order_of_rows(estimator: Any, case: Case) -> Outcome:
    """Training rows in another order change nothing but rounding.

    Parameters
    ----------
    estimator, case
        As in `ignores_unit_of_costs`.

    Returns
    -------
    Outcome
        What it made of the case.
    """
    other = case.take(_random(case).permutation(len(case.codes)))
    first, second = outcome(estimator, case), outcome(estimator, other)
    return _same(estimator, first, second, case, "when rows change places")


def counts_weights_as_rows(estimator: Any, case: Case) -> Outcome:
    """A row of weight a + b is two rows of weights a and b.

    Parameters
    ----------
    estimator, case
        As in `ignores_unit_of_costs`.

    Returns
    -------
    Outcome
        What it made of the case.
    """
    n, rng = len(case.codes), _random(case)
    weights = np.ones(n) if case.weights is None else case.weights
    part = np.where(rng.random(n) < 0.5, rng.uniform(0.2, 0.8, n), 0.0)
    split = np.flatnonzero(part)
    repeated = replace(case, weights=weights).take(np.concatenate([np.arange(n), split]))
    shares = np.concatenate([weights * (1.0 - part), (weights * part)[split]])
    first = outcome(estimator, replace(case, weights=weights))
    second = outcome(estimator, replace(repeated, weights=shares))
    return _same(estimator, first, second, case, "when rows are split into two")


def _said(model: Any, name: str, case: Case) -> Any:
    """All that a method says about new rows."""
    return _all(getattr(model, name)(case.X_new()))
