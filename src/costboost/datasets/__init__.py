"""Data to try things on: seeded makers with known answers, and loaders for benchmark files."""

from costboost.datasets.files import Dataset, available, load
from costboost.datasets.makers import (
    FraudData,
    bayes_decision,
    bayes_threshold,
    log_odds,
    make_fraud,
    make_gaussians_1d,
    make_gaussians_2d,
)

__all__ = [
    "Dataset",
    "FraudData",
    "available",
    "bayes_decision",
    "bayes_threshold",
    "load",
    "log_odds",
    "make_fraud",
    "make_gaussians_1d",
    "make_gaussians_2d",
]
