"""Hypothesis strategies for hard cases, and laws to check on them.

A *case* is what is given to an estimator: rows in some container, labels of some type, weights,
costs in some form. A *law* is a function of an estimator and a case that raises a `LawBrokenError`.
"""

from laws.case import Case, Prices
from laws.checking import LAWS, Law, check_laws
from laws.outcome import LawBrokenError, Outcome, outcome
from laws.strategies import cases, plain_cases

__all__ = [
    "LAWS",
    "Case",
    "Law",
    "LawBrokenError",
    "Outcome",
    "Prices",
    "cases",
    "check_laws",
    "outcome",
    "plain_cases",
]
