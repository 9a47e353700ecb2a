"""What all classifiers of the library share: costs, decisions, the score, reports, files."""

from costboost.cost_sensitive.classifier import CostSensitiveClassifier, column_of

__all__ = ["CostSensitiveClassifier", "column_of"]
