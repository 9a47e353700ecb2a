"""What a page shows, compared with what its code prints."""

from __future__ import annotations

import math
import re

__all__ = ["same_output"]

_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def same_output(shown: str, printed: str) -> bool:
    """Whether words are the same, and numbers but for a tenth.

    Numbers may differ a little between versions of the libraries that grow the trees.
    """
    if _NUMBER.sub("#", shown).split() != _NUMBER.sub("#", printed).split():
        return False
    pairs = zip(_numbers(shown), _numbers(printed), strict=True)
    return all(math.isclose(a, b, rel_tol=0.1, abs_tol=0.05) for a, b in pairs)


def _numbers(text: str) -> list[float]:
    return [float(found.replace(",", "")) for found in _NUMBER.findall(text)]
