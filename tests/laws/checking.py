"""Laws by name, each with the cases it is for, and the function that runs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as hypothesis_seed

from laws import answers as _laws
from laws import symmetries as _symmetries
from laws.case import Case
from laws.outcome import Outcome
from laws.strategies import cases, plain_cases

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["LAWS", "Law", "check_laws", "run_law"]


@dataclass(frozen=True)
class Law:
    """A law and the cases it is for."""

    check: Callable[[Any, Case], Outcome]
    cases: Callable[[Any], SearchStrategy[Case]]

    @property
    def words(self) -> str:
        """The law in a sentence."""
        return (self.check.__doc__ or "").split("\n", 1)[0]


_OF_ANY_CASE = (
    _laws.answers_or_refuses,
    _laws.answers_soundly,
    _laws.leaves_input_alone,
    _laws.repeats,
    _symmetries.ignores_names_of_classes,
)
_OF_PLAIN_CASES = (
    _symmetries.ignores_unit_of_costs,
    _symmetries.ignores_unit_of_weights,
    _symmetries.ignores_order_of_classes,
    _symmetries.ignores_order_of_rows,
    _symmetries.counts_weights_as_rows,
)

LAWS: dict[str, Law] = {
    **{check.__name__: Law(check, cases) for check in _OF_ANY_CASE},
    **{check.__name__: Law(check, plain_cases) for check in _OF_PLAIN_CASES},
}
"""The laws by name. The first half is about any case, the second about cases without ties."""


def run_law(
    check: Callable[[Any, Case], Any],
    subject: Any,
    strategy: SearchStrategy[Case],
    *,
    max_examples: int,
    seed: int,
    shrink: bool = True,
) -> dict[str, int]:
    """Check one law on many cases."""
    counts: Counter[str] = Counter(answered=0, refused=0)
    phases = [Phase.generate, Phase.shrink] if shrink else [Phase.generate]

    @hypothesis_seed(seed)
    @settings(
        max_examples=max_examples,
        database=None,
        deadline=None,
        phases=phases,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def run(case: Case) -> None:
        found = check(subject, case)
        is_refused = found is None or getattr(found, "refusal", None) is not None
        counts["refused" if is_refused else "answered"] += 1

    run()
    return dict(counts)


def check_laws(
    estimator: Any,
    laws: Iterable[str] | None = None,
    *,
    n_classes: Any = None,
    max_examples: int = 50,
    seed: int = 0,
) -> dict[str, dict[str, int]]:
    """Check laws on an estimator; the first one that is broken raises."""
    names = list(LAWS if laws is None else laws)
    unknown = [name for name in names if name not in LAWS]
    if unknown:
        raise ValueError(
            f"The 'laws' parameter of check_laws must hold names of LAWS, {list(LAWS)}; got "
            f"{unknown[0]!r}. Correct it."
        )
    return {
        name: run_law(
            LAWS[name].check,
            estimator,
            LAWS[name].cases(n_classes),
            max_examples=max_examples,
            seed=seed,
        )
        for name in names
    }
