"""The papers' tables and figures, run again: ``costboost reproduce``.

Needs ``pip install "costboost[experiments]"``. :mod:`costboost.experiments.item` says what an
experiment is; there is one module per paper.
"""

from __future__ import annotations

from costboost.experiments.item import Conclusion, Item, Mode, Task, Verdict

__all__ = ["Conclusion", "Item", "Mode", "Task", "Verdict"]
