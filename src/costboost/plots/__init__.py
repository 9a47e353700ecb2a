"""Pictures of costs and decisions, as scikit-learn's Display classes.

Each class keeps the numbers it was given, ``plot`` draws them, and the class methods compute them
from fitted estimators, predictions or tables. `CostThresholdDisplay` takes any fitted classifier,
`CapacityDisplay` one with ``predict_cost``, `ExplanationDisplay` one with ``explain``. Drawing
needs matplotlib, ``pip install "costboost[cli]"``; importing does not.
"""

from __future__ import annotations

from costboost.plots.capacity import CapacityDisplay
from costboost.plots.explanation import ExplanationDisplay
from costboost.plots.threshold import CostThresholdDisplay

__all__ = ["CapacityDisplay", "CostThresholdDisplay", "ExplanationDisplay"]
