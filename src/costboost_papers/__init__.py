"""The papers' tables and figures, run again: ``costboost reproduce``.

Needs ``pip install "costboost[experiments]"``. `costboost_papers.item` says what an experiment is.
Each paper has a file: the algorithms, how much of the protocol is run, what the paper states,
checked on our figures (the verdicts), its tables and figures (the items). ``printed`` has the
papers' numbers.
"""

from __future__ import annotations

from costboost_papers.grading import Conclusion, Part, Verdict
from costboost_papers.item import Item, Mode, Task

__all__ = ["Conclusion", "Item", "Mode", "Part", "Task", "Verdict"]
