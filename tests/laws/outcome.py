"""What an estimator makes of a case: answers, or one clear error."""

from __future__ import annotations

import dis
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any

import numpy as np
from sklearn.base import clone

from helpers.arrays import AnyArray
from laws.case import Case

__all__ = [
    "LawBrokenError",
    "Outcome",
    "answers",
    "clear_error",
    "fitted",
    "only_known_warnings",
    "outcome",
    "prepared",
    "refused",
    "taken",
]

# Packages whose deliberate errors are as clear as an estimator's own: they check input.
_CHECKERS = ("costboost", "sklearn.utils", "sklearn.base")
# Modules that warn in the name of whoever called them.
_BETWEEN = ("numpy", "warnings")
_SHORTEST_MESSAGE = 30
_NAMES = ("X", "y", "cost", "weight", "class", "sample", "row", "column", "feature", "label")


class LawBrokenError(AssertionError):
    """An estimator breaks a law; the message says which, and on what case."""


@dataclass(frozen=True)
class Outcome:
    """Answers about the new rows of a case, or the error that refused it."""

    model: Any = None
    decisions: AnyArray | None = None
    proba: AnyArray | None = None
    scores: AnyArray | None = None
    refusal: Exception | None = None


def clear_error(error: BaseException, owner: Any) -> str:
    """Why an error is not a clear one; an empty text if it is."""
    # A clear error is a ValueError or a TypeError, raised on purpose by a ``raise`` statement of
    # the estimator's own package or of the checks of scikit-learn, whose message names what is
    # wrong.
    own = type(error).__module__.split(".")[0]
    package = owner.__module__.split(".")[0]
    is_usual = type(error) in (ValueError, TypeError)
    if not is_usual and not (isinstance(error, (ValueError, TypeError)) and own == package):
        return f"{type(error).__name__} is neither a ValueError nor a TypeError"
    where = error.__traceback__
    if where is None:
        return ""
    while where.tb_next is not None:
        where = where.tb_next
    module = where.tb_frame.f_globals.get("__name__", "")
    if not module.startswith((package, *_CHECKERS)):
        return f"it comes from inside {module}, not from a check"
    if not _is_raised(where):
        return f"nobody raised it on purpose: it happened in {module}, line {where.tb_lineno}"
    text = str(error)
    if len(text) < _SHORTEST_MESSAGE or not any(name in text for name in _NAMES):
        return "its message does not say what is wrong with which argument"
    return ""


def _is_raised(where: TracebackType) -> bool:
    """Whether a frame ended by a raise statement."""
    for instruction in dis.get_instructions(where.tb_frame.f_code):
        if instruction.offset == where.tb_lasti:
            return instruction.opname in ("RAISE_VARARGS", "RERAISE")
    return False


@contextmanager
def only_known_warnings(owner: Any, what: object) -> Iterator[None]:
    """Break the law if a warning is not one of the estimator's package or of scikit-learn's."""
    own = (owner.__module__.split(".")[0], "costboost")
    caught: list[tuple[Any, ...]] = []

    def note(
        message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None
    ) -> None:
        caught.append((message, category, f"{filename}, line {lineno}", _asker()))

    with warnings.catch_warnings(), np.errstate(all="warn", under="ignore"):
        warnings.simplefilter("always")
        warnings.showwarning = note
        yield
    for message, category, where, asker in caught:
        if category.__module__.startswith((*own, "sklearn")):
            continue
        if _is_advice(str(message), category, where, asker, own):
            continue
        raise LawBrokenError(
            f"{owner.__name__} warns by {category.__name__}: {message} ({where}, asked by "
            f"{asker}). On {what!r}"
        )


def _asker() -> str:
    """The module that called numpy: numpy warns in the name of its own functions."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_BETWEEN):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", ""))


def _is_advice(text: str, category: Any, where: str, asker: str, own: tuple[str, ...]) -> bool:
    """Whether a warning is passed over: scikit-learn's advice, or numbers too large for it."""
    # The latter is tolerated in other libraries only; the same warning of the estimator's own
    # package breaks the law.
    if category is UserWarning:
        # Advice about rare classes, which scikit-learn gives in the caller's name.
        return "sklearn" in where or "number of unique classes" in text
    if asker.split(".")[0] in own:
        return False
    # Trees work in single precision; what became infinite is then looked for by a sum.
    return "overflow encountered in cast" in text or "invalid value encountered in reduce" in text


def refused(action: Callable[[], Any], owner: Any, case: object) -> tuple[Any, Exception | None]:
    """The result of an action, or the clear error that it ended with; else the law is broken."""
    with only_known_warnings(owner, case):
        try:
            return action(), None
        except Exception as error:
            wrong = clear_error(error, owner)
            if wrong:
                raise LawBrokenError(
                    f"{owner.__name__} ends with {type(error).__name__}: {error}: {wrong}. On "
                    f"{case!r}"
                ) from error
            return None, error


def fitted(estimator: Any, case: Case, **parameters: Any) -> Any:
    """Fit a clone of an estimator to a case."""
    # Costs are passed where the estimator takes them: ``cost_matrix`` of the constructor, ``costs``
    # and ``sample_weight`` of ``fit``.
    model = prepared(estimator, case, **parameters)
    return model.fit(case.X(), case.y(), **taken(model.fit, case))


def prepared(estimator: Any, case: Case, **parameters: Any) -> Any:
    """A clone of an estimator with the costs of a case, unfitted."""
    model = clone(estimator)
    cost_matrix, _ = case.prices.arguments(case.labels)
    if cost_matrix is not None and "cost_matrix" in model.get_params(deep=False):
        parameters = {"cost_matrix": cost_matrix, **parameters}
    return model.set_params(**parameters) if parameters else model


def taken(method: Any, case: Case) -> dict[str, Any]:
    """Sample weights and costs of rows, as far as a method takes them."""
    takes = inspect.signature(method).parameters
    costs = case.prices.arguments(case.labels)[1]
    given: dict[str, Any] = {}
    if costs is not None and "costs" in takes:
        given["costs"] = costs
    if case.weights is not None and "sample_weight" in takes:
        given["sample_weight"] = case.weights.copy()
    return given


def outcome(estimator: Any, case: Case, **parameters: Any) -> Outcome:
    """Fit a clone to a case and ask it about the new rows."""
    owner = type(estimator)
    model, refusal = refused(lambda: fitted(estimator, case, **parameters), owner, case)
    if refusal is not None:
        return Outcome(refusal=refusal)
    return answers(model, case)


def answers(model: Any, case: Case) -> Outcome:
    """Ask a fitted model about the new rows of a case."""
    owner = type(model)
    decisions, refusal = refused(lambda: model.predict(case.X_new()), owner, case)
    if refusal is not None:
        return Outcome(refusal=refusal)
    found: list[Any] = []
    for name in ("predict_proba", "decision_function"):
        method = getattr(model, name, None)
        answer = None
        if method is not None:
            answer, _ = refused(partial(_asked, method, case), owner, case)
        found.append(answer)
    return Outcome(model, decisions, *found)


def _asked(method: Any, case: Case) -> Any:
    """What a method says about new rows."""
    return method(case.X_new())
