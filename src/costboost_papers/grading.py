"""How a statement is graded: the only place where figures become verdicts."""

from __future__ import annotations

from collections.abc import Iterable

from costboost_papers.item import Verdict

__all__ = ["counted", "graded", "tiered", "together"]


def tiered(holds: bool, in_part: bool) -> Verdict:
    """Whether the whole statement is borne out, else whether a weaker form of it is."""
    return "holds" if holds else "holds in part" if in_part else "does not hold"


def graded(signs: Iterable[bool]) -> Verdict:
    """Holds if all signs are good, in part if some are."""
    found = list(signs)
    return tiered(all(found), any(found))


def counted(right: int, of: int) -> Verdict:
    """Holds if all cases are right, in part if some are."""
    return tiered(right == of, right > 0)


def together(verdicts: Iterable[Verdict]) -> Verdict:
    """What several verdicts on the parts of one statement come to: theirs if they agree."""
    found = set(verdicts)
    return found.pop() if len(found) == 1 else "holds in part"
