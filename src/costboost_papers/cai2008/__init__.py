"""Cai, Song and Zhang 2008, “Cost-sensitive boosting algorithms as gradient descent”."""

from __future__ import annotations

from costboost_papers.cai2008.tables import Table3
from costboost_papers.item import Item

__all__ = ["ITEMS", "Table3"]

ITEMS: list[Item] = [Table3()]
