"""Lozano and Abe 2008, “Multi-class cost-sensitive boosting with p-norm loss functions”."""

from __future__ import annotations

from costboost_papers.item import Item
from costboost_papers.lozano2008.figure1 import Figure1
from costboost_papers.lozano2008.tables import Table1, Table2
from costboost_papers.lozano2008.verdicts import overall

__all__ = ["ITEMS", "Figure1", "Table1", "Table2", "overall"]

ITEMS: list[Item] = [Figure1(), Table1(), Table2()]
