"""Made data to try things on: seeded, with known answers."""

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
    "FraudData",
    "bayes_decision",
    "bayes_threshold",
    "log_odds",
    "make_fraud",
    "make_gaussians_1d",
    "make_gaussians_2d",
]
