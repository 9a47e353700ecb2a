"""The papers' tables and figures, run again: ``costboost reproduce``.

Needs ``pip install "costboost[experiments]"``. `costboost_papers.item` says what an experiment is.
Each paper has a file: the algorithms, how much of the protocol is run, what the paper states,
checked on our figures (the verdicts), its tables and figures (the items). ``printed`` has the
papers' numbers.
"""

from __future__ import annotations

from costboost_papers.grading import Conclusion, Part, Verdict
from costboost_papers.item import Item, Mode, Task
from costboost_papers.loss_properties import (
    GammaPhi,
    is_c_calibrated,
    is_calibrated,
    is_fisher_consistent,
    is_guess_averse,
)

__all__ = [
    "Conclusion",
    "GammaPhi",
    "Item",
    "Mode",
    "Part",
    "Task",
    "Verdict",
    "is_c_calibrated",
    "is_calibrated",
    "is_fisher_consistent",
    "is_guess_averse",
]
