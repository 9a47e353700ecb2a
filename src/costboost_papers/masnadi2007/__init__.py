"""Masnadi-Shirazi and Vasconcelos 2007, “Cost-sensitive boosting”.

The tables of the report survive as text without their numbers, so the printed figures here are the
ones that its sentences state.
"""

from __future__ import annotations

from costboost_papers.item import Item
from costboost_papers.masnadi2007.faces import Figure4
from costboost_papers.masnadi2007.figures import Figure2, Figure3
from costboost_papers.masnadi2007.tables import Table2
from costboost_papers.masnadi2007.verdicts import overall

__all__ = ["ITEMS", "Figure2", "Figure3", "Figure4", "Table2", "overall"]

ITEMS: list[Item] = [Figure2(), Figure3(), Table2(), Figure4()]
