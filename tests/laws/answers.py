"""Laws of classifiers: functions of an estimator and a case that raise `LawBrokenError`.

A law passes where the estimator refuses the case by a clear error. The laws here are about one fit;
those of `laws.symmetries` compare two.
"""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from costboost import MinCostClassifier
from costboost.costs.spec import varies
from costboost.decisions import cheapest
from helpers.arrays import AnyArray
from laws.case import Case
from laws.comparing import bits, broken
from laws.outcome import (
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
    "leaves_input_alone",
    "repeats",
]

# Probabilities sum to 1 up to this.
_SUM = 1e-9


# -- answers --------------------------------------------------------------------------------------


def answers_or_refuses(estimator: Any, case: Case) -> Outcome:
    """Fit, ``predict``, ``predict_proba``, ``predict_cost`` and ``score`` answer or refuse."""
    # A clear refusal is a ValueError or TypeError raised on purpose, with a message that names what
    # is wrong. Errors from inside another library, ZeroDivisionError, IndexError, LinAlgError and
    # the like break the law, and so do warnings of numpy about divisions, overflows and NaN.
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
    """Scores are finite, probabilities sum to 1, decisions are of ``decisions_``, in its type."""
    found = outcome(estimator, case)
    if found.refusal is not None:
        return found
    model, m = found.model, len(case.new)
    classes = np.asarray(model.classes_)
    if classes.tolist() != case.labels[np.unique(case.codes)].tolist():
        raise broken(estimator, f"has the classes {classes.tolist()}, not the sorted labels", case)
    if type(classes.tolist()[0]) is not type(case.labels.tolist()[0]):
        raise broken(estimator, f"turns labels into {classes.dtype}", case)
    _check_decisions(estimator, np.asarray(found.decisions), case, model, m)
    if found.proba is not None:
        _check_proba(estimator, found.proba, case, (m, len(classes)))
    if found.scores is not None and not np.isfinite(found.scores).all():
        raise broken(estimator, f"has scores that are not finite: {found.scores}", case)
    if hasattr(model, "predict_cost"):
        _check_expected_costs(estimator, found, case)
    for name in ("feature_importances_", "estimator_weights_", "train_loss_", "cost_matrix_"):
        value, _ = _attribute(model, name)
        if value is not None and not np.isfinite(value).all():
            raise broken(estimator, f"has {name} that is not finite: {value}", case)
    return found


def _check_expected_costs(estimator: Any, found: Outcome, case: Case) -> None:
    """Expected costs are finite, and the least of them decides, to the bit."""
    model, X = found.model, case.X_new()
    told = {"costs": pd.DataFrame(model.cost_matrix_, model.classes_, model.decisions_)}
    by_costs = isinstance(model, MinCostClassifier) or getattr(model, "loss", "") == "auto"
    for costs in ({}, told):
        expected, _ = refused(partial(model.predict_cost, X, **costs), type(model), case)
        decided, _ = refused(partial(model.predict, X, **costs), type(model), case)
        if expected is None:
            return
        if not np.isfinite(expected).all():
            raise broken(estimator, f"expects costs that are not finite: {expected}", case)
        least = model.decisions_[cheapest(expected)]
        if (costs or by_costs) and not np.array_equal(decided, least):
            raise broken(estimator, f"decides {decided}, and expects {expected}", case)
        # Told what it has learned, it decides the same.
        is_mean = isinstance(model, MinCostClassifier) and not varies(model.cost_matrix)
        if is_mean and not np.array_equal(decided, found.decisions):
            raise broken(estimator, f"decides {decided} by the costs of the fit, told", case)


def _attribute(model: Any, name: str) -> tuple[Any, None]:
    try:
        return getattr(model, name, None), None
    except ValueError:
        return None, None


def _check_decisions(estimator: Any, decisions: AnyArray, case: Case, model: Any, m: int) -> None:
    allowed = np.asarray(getattr(model, "decisions_", model.classes_))
    if decisions.shape != (m,):
        raise broken(estimator, f"decides in shape {decisions.shape}, not {(m,)}", case)
    known = {type(label): label for label in allowed.tolist()}
    strange = [x for x in decisions.tolist() if x not in set(allowed.tolist())]
    if strange:
        raise broken(estimator, f"decides {strange[0]!r}, none of {allowed.tolist()}", case)
    if not {type(x) for x in decisions.tolist()} <= set(known):
        raise broken(estimator, f"returns labels as {decisions.dtype}, not {allowed.dtype}", case)


def _check_proba(estimator: Any, proba: AnyArray, case: Case, shape: tuple[int, int]) -> None:
    if proba.shape != shape:
        raise broken(estimator, f"has probabilities of shape {proba.shape}, not {shape}", case)
    if not np.isfinite(proba).all():
        raise broken(estimator, f"has probabilities that are not finite: {proba}", case)
    if proba.min() < 0 or proba.max() > 1:
        low, high = float(proba.min()), float(proba.max())
        raise broken(estimator, f"has probabilities from {low!r} to {high!r}", case)
    worst = float(np.abs(proba.sum(axis=1) - 1.0).max())
    if worst > _SUM:
        raise broken(estimator, f"has probabilities whose sums are off 1 by {worst:.1e}", case)


# -- the same answers -----------------------------------------------------------------------------


def repeats(estimator: Any, case: Case) -> Outcome:
    """The same seed gives the same answers, bit for bit."""
    # Whatever was fitted before, with one thread or two (``n_jobs``, where the estimator has it),
    # and asked by several threads at once.
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
        raise broken(estimator, "decides otherwise when threads ask", case)
    refitted, error = refused(lambda: _refit(other, case), owner, case)
    if error is not None or bits(answers(refitted, case)) != bits(first):
        raise broken(estimator, "answers otherwise after it was fitted to other rows", case)
    threads = {"n_jobs": 2} if "n_jobs" in known and known["n_jobs"] in (None, 1) else {}
    again = outcome(estimator, case, **seed, **threads)
    if bits(again) != bits(first):
        raise broken(estimator, "answers otherwise when it is fitted again", case)
    return first


def _refit(model: Any, case: Case) -> Any:
    """Fit the same object again, without cloning it."""
    return model.fit(case.X(), case.y(), **taken(model.fit, case))


def leaves_input_alone(estimator: Any, case: Case) -> Outcome:
    """Neither the rows, labels, weights and costs nor the parameters are changed."""
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
            raise broken(estimator, f"changes {name}", case)
    if _fingerprint(model.get_params(deep=False)) != parameters:
        raise broken(estimator, "changes its parameters in fit", case)
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


def _said(model: Any, name: str, case: Case) -> Any:
    """All that a method says about new rows."""
    return _all(getattr(model, name)(case.X_new()))
