"""The papers' tables and figures, run again: ``costboost reproduce``.

Needs ``pip install "costboost[experiments]"``. :mod:`costboost_papers.item` says what an
experiment is. Each paper has a folder, and the folders have the same files: ``methods`` (the
algorithms, and how much of the protocol is run), ``tables`` and ``figures`` (the items),
``verdicts`` (what the paper states, checked on our figures) and ``printed.csv`` (the paper's
numbers).
"""

from __future__ import annotations

from costboost_papers.item import Conclusion, Item, Mode, Task, Verdict

__all__ = ["Conclusion", "Item", "Mode", "Task", "Verdict"]
