"""Figures of the papers, as scikit-learn's Display classes; `costboost.plots` has the others."""

from __future__ import annotations

from costboost_papers.plots.boundary import BoundaryDisplay
from costboost_papers.plots.crossing import ZeroCrossingDisplay, zero_crossing
from costboost_papers.plots.factor import CostFactorDisplay
from costboost_papers.plots.ranks import RankDisplay

__all__ = [
    "BoundaryDisplay",
    "CostFactorDisplay",
    "RankDisplay",
    "ZeroCrossingDisplay",
    "zero_crossing",
]
