"""The recipes: one file per paper, each a declaration of parts under its equations."""

from costboost.algorithms.cai import GradientCSBClassifier
from costboost.algorithms.cao2013 import AsyBClassifier, AsyBLClassifier
from costboost.algorithms.classic import (
    AdaBoostCClassifier,
    AdaC1Classifier,
    AdaC2Classifier,
    AdaC3Classifier,
    AdaCostClassifier,
    AsymmetricAdaBoostClassifier,
    CSB0Classifier,
    CSB1Classifier,
    CSB2Classifier,
)
from costboost.algorithms.masnadi2007 import (
    CSAdaBoostClassifier,
    CSLogitBoostClassifier,
    CSRealBoostClassifier,
)

__all__ = [
    "AdaBoostCClassifier",
    "AdaC1Classifier",
    "AdaC2Classifier",
    "AdaC3Classifier",
    "AdaCostClassifier",
    "AsyBClassifier",
    "AsyBLClassifier",
    "AsymmetricAdaBoostClassifier",
    "CSAdaBoostClassifier",
    "CSB0Classifier",
    "CSB1Classifier",
    "CSB2Classifier",
    "CSLogitBoostClassifier",
    "CSRealBoostClassifier",
    "GradientCSBClassifier",
]
