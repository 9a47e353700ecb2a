# Written by docs/build.py

from costboost.algorithms.abe2004 import DSEClassifier, GBSEClassifier
from costboost.algorithms.beijbom2014 import MCBoostClassifier
from costboost.algorithms.cai2008 import GradientCSBClassifier
from costboost.algorithms.cao2013 import AsyBClassifier, AsyBLClassifier
from costboost.algorithms.fan1999 import AdaCostClassifier
from costboost.algorithms.freund1996 import (
    AdaBoostM2Classifier,
    AdaCostM2Classifier,
    CSB2M2Classifier,
)
from costboost.algorithms.joshi2001 import RareBoostClassifier
from costboost.algorithms.landesa2012 import AdaBoostCClassifier
from costboost.algorithms.lozano2008 import AverageCostClassifier, LpCSBClassifier
from costboost.algorithms.masnadi2007 import (
    CSAdaBoostClassifier,
    CSLogitBoostClassifier,
    CSRealBoostClassifier,
)
from costboost.algorithms.nikolaou2016 import AdaMECClassifier
from costboost.algorithms.so2021 import SAMMEC2Classifier
from costboost.algorithms.sun2007 import AdaC1Classifier, AdaC2Classifier, AdaC3Classifier
from costboost.algorithms.ting2000 import CSB0Classifier, CSB1Classifier, CSB2Classifier
from costboost.algorithms.viola2002 import AsymmetricAdaBoostClassifier
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
    "RareBoostClassifier",
    "SAMMEC2Classifier",
]
