"""Five classifiers of other libraries beside CostBoost, on a file of your own.

    python examples/compare_your_own.py customers.csv

The file has a column ``churned`` (yes or no) and what a customer is worth, ``value``. A missed
churner costs that, an offer to somebody who would have stayed costs 5.
"""

import sys

import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import costboost

# fmt: off
frame = pd.read_csv(sys.argv[1])
others = [LogisticRegression(max_iter=1000), GaussianNB(), RandomForestClassifier(),
          HistGradientBoostingClassifier(), LGBMClassifier(verbosity=-1)]
costs = {"fn": "value", "fp": 5, "positive": "yes"}
found = costboost.compare(
    [costboost.CostBoostClassifier(), *others], frame, target="churned", costs=costs, splits=3)
print(found)
print(found.against("CostBoost"))
