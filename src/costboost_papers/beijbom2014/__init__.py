"""Beijbom et al. 2014, “Guess-averse loss functions for cost-sensitive multiclass boosting”."""

from __future__ import annotations

from costboost_papers.beijbom2014.figures import Taxonomy
from costboost_papers.beijbom2014.tables import Table2
from costboost_papers.item import Item

__all__ = ["ITEMS", "Table2", "Taxonomy"]

ITEMS: list[Item] = [Table2(), Taxonomy()]
