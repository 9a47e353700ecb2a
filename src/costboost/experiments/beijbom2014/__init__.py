"""Beijbom et al. 2014, “Guess-averse loss functions for cost-sensitive multiclass boosting”."""

from __future__ import annotations

from costboost.experiments.beijbom2014.figures import Taxonomy
from costboost.experiments.beijbom2014.tables import Table2
from costboost.experiments.item import Item

__all__ = ["ITEMS", "Table2", "Taxonomy"]

ITEMS: list[Item] = [Table2(), Taxonomy()]
