"""The flagship: gradient boosting by LightGBM or XGBoost, driven by costs."""

from costboost.flagship.estimator import CostBoostClassifier

__all__ = ["CostBoostClassifier"]
