"""The recipes: one file per paper, each a declaration of parts under its equations."""

from costboost.algorithms.abe2004 import DSEClassifier, GBSEClassifier
from costboost.algorithms.adaboost_m2 import (
    AdaBoostM2Classifier,
    AdaCostM2Classifier,
    CSB2M2Classifier,
)
from costboost.algorithms.beijbom2014 import MCBoostClassifier
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
from costboost.algorithms.lozano2008 import AverageCostClassifier, LpCSBClassifier
from costboost.algorithms.masnadi2007 import (
    CSAdaBoostClassifier,
    CSLogitBoostClassifier,
    CSRealBoostClassifier,
)
from costboost.algorithms.nikolaou2016 import AdaMECClassifier
from costboost.algorithms.zadrozny2003 import CostingClassifier

__all__ = [
    "AdaBoostCClassifier",
    "AdaBoostM2Classifier",
    "AdaC1Classifier",
    "AdaC2Classifier",
    "AdaC3Classifier",
    "AdaCostClassifier",
    "AdaCostM2Classifier",
    "AdaMECClassifier",
    "AsyBClassifier",
    "AsyBLClassifier",
    "AsymmetricAdaBoostClassifier",
    "AverageCostClassifier",
    "CSAdaBoostClassifier",
    "CSB0Classifier",
    "CSB1Classifier",
    "CSB2Classifier",
    "CSB2M2Classifier",
    "CSLogitBoostClassifier",
    "CSRealBoostClassifier",
    "CostingClassifier",
    "DSEClassifier",
    "GBSEClassifier",
    "GradientCSBClassifier",
    "LpCSBClassifier",
    "MCBoostClassifier",
]
