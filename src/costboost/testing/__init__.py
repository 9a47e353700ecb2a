"""Tests for your own estimators: Hypothesis strategies for hard cases, and laws to check on them.

A *case* is what is given to an estimator: rows in some container, labels of some type, weights,
costs in some form. A *law* is a function of an estimator and a case that raises a `LawBrokenError`.

>>> from sklearn.naive_bayes import GaussianNB
>>> from costboost import MinCostClassifier
>>> from costboost.testing import check_laws
>>> check_laws(MinCostClassifier(GaussianNB()), laws=["ignores_order_of_rows"], max_examples=5)
{'ignores_order_of_rows': {'answered': 5, 'refused': 0}}

It needs ``pip install "costboost[testing]"``.
"""

from __future__ import annotations

from costboost.testing.case import Case, Prices
from costboost.testing.checking import LAWS, Law, check_laws
from costboost.testing.containers import CONTAINERS, LABEL_CONTAINERS
from costboost.testing.outcome import LawBrokenError, Outcome, clear_error, outcome
from costboost.testing.strategies import (
    LABELS,
    PRICES,
    TABLES,
    WEIGHTS,
    cases,
    labels,
    plain_cases,
    prices,
    sample_weights,
    tables,
)

__all__ = [
    "CONTAINERS",
    "LABELS",
    "LABEL_CONTAINERS",
    "LAWS",
    "PRICES",
    "TABLES",
    "WEIGHTS",
    "Case",
    "Law",
    "LawBrokenError",
    "Outcome",
    "Prices",
    "cases",
    "check_laws",
    "clear_error",
    "labels",
    "outcome",
    "plain_cases",
    "prices",
    "sample_weights",
    "tables",
]
