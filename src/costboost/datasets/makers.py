"""Seeded synthetic data: a fraud set with an amount per row, and the papers' Gaussian studies.

The Gaussian problems come with their exact Bayes rule, so that a test or an experiment can ask how
far a classifier is from the best possible one. Labels there are -1 and +1, ``C1`` is the cost of a
miss (true +1, decided -1) and ``C2`` the cost of a false alarm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import multivariate_normal
from sklearn.utils import check_random_state, shuffle

from costboost._typing import Floats
from costboost.costs import per_row

Labels = NDArray[np.int64]

FRAUD_FEATURES = (
    "amount",
    "amount_ratio",
    "hour",
    "account_age_days",
    "payments_today",
    "distance_km",
    "merchant_risk",
    "abroad",
)


@dataclass(frozen=True, eq=False)
class FraudData:
    """Card payments, some of them fraudulent, and what each decision costs on each of them.

    Attributes
    ----------
    X : ndarray of shape (n_samples, 8)
        Numeric features; the first column is the amount.
    y : ndarray of shape (n_samples,)
        1 = fraud, 0 = genuine.
    amount : ndarray of shape (n_samples,)
        The amount of each payment, lost when a fraud passes.
    costs : ndarray of shape (n_samples, 2, 2)
        Truth x decision: a missed fraud costs its amount, every flag costs one review (also a
        justified flag), letting a genuine payment pass costs nothing.
    feature_names : tuple of str
        Names of the columns of X.
    """

    X: Floats
    y: Labels
    amount: Floats
    costs: Floats
    feature_names: tuple[str, ...] = FRAUD_FEATURES


def make_fraud(
    n_samples: int = 10_000, *, review_cost: float = 5.0, random_state: Any = None
) -> FraudData:
    """Card payments of which about 4 % are fraud, with a loss that differs from row to row.

    The chance of fraud depends on the features through interactions (large against the customer's
    habit *and* abroad, many small payments in one day, young accounts at night), so that neither a
    linear model nor a single threshold on the amount is enough. A fraud smaller than
    ``review_cost`` costs more to flag than to miss.

    Parameters
    ----------
    n_samples : int, default=10000
        Number of payments.
    review_cost : float, default=5.0
        Price of looking at a flagged payment, whether it turns out to be fraud or not.
    random_state : int, RandomState or None, default=None
        Seed; equal seeds give equal data.

    Returns
    -------
    FraudData
        Features, labels, amounts and per-row costs.

    Examples
    --------
    >>> from costboost.datasets import make_fraud
    >>> data = make_fraud(2000, random_state=0)
    >>> data.X.shape, data.costs.shape
    ((2000, 8), (2000, 2, 2))
    >>> bool((data.costs[:, 1, 0] == data.amount).all())
    True
    """
    rng, n = check_random_state(random_state), n_samples
    usual = rng.lognormal(3.3, 0.7, n)  # what this customer normally pays
    ratio = rng.lognormal(0.0, 0.8, n)
    amount = np.round(np.maximum(usual * ratio, 0.5), 2)
    hour = (rng.normal(14.5, 5.0, n) % 24).round(2)
    account_age = rng.exponential(700.0, n).round()
    payments_today = rng.poisson(rng.gamma(1.5, 1.2, n)).astype(np.float64)
    abroad = (rng.random(n) < 0.08).astype(np.float64)
    distance = np.round(rng.lognormal(1.6, 1.1, n) + abroad * rng.lognormal(6.5, 0.8, n), 1)
    merchant_risk = rng.beta(1.5, 6.0, n).round(3)

    night = (hour < 6.0) | (hour > 23.0)
    young = account_age < 90.0
    excess = np.log(amount / usual)
    log_odds_of_fraud = (
        -6.9
        + 1.3 * np.maximum(excess, 0.0) ** 2
        + 2.2 * abroad * (excess > 0.5)
        + 5.0 * merchant_risk
        + 1.4 * (night & young)
        + 2.6 * ((payments_today >= 5) & (amount < 20.0))  # testing a stolen card
        + 0.35 * np.log1p(payments_today) * np.log1p(distance)
        + 0.5 * young
    )
    y = (rng.random(n) < 1.0 / (1.0 + np.exp(-log_odds_of_fraud))).astype(np.int64)

    shop = payments_today, distance, merchant_risk, abroad
    X = np.column_stack([amount, amount / usual, hour, account_age, *shop])
    costs = per_row(fn=amount, fp=review_cost, tp=review_cost, tn=0.0)
    return FraudData(X, y, amount, costs)


def make_gaussians_1d(
    n_per_class: int = 10_000, *, random_state: Any = None
) -> tuple[Floats, Labels]:
    """One feature, two unit-variance Gaussians at -1 and +1, equally frequent.

    The scalar problem of Masnadi-Shirazi and Vasconcelos (2007, section "Synthetic datasets"):
    ``P(+1 | x) = 1 / (1 + exp(-2x))``, so the best decision is +1 right of `bayes_threshold`.

    Parameters
    ----------
    n_per_class : int, default=10000
        Rows of each class.
    random_state : int, RandomState or None, default=None
        Seed; equal seeds give equal data.

    Returns
    -------
    X : ndarray of shape (2 * n_per_class, 1)
        The feature.
    y : ndarray of shape (2 * n_per_class,)
        Labels -1 and +1, in random order.

    Examples
    --------
    >>> from costboost.datasets import make_gaussians_1d
    >>> X, y = make_gaussians_1d(1000, random_state=0)
    >>> X.shape, int(y.sum())
    ((2000, 1), 0)
    """
    rng, y = check_random_state(random_state), np.repeat([-1, 1], n_per_class)
    X = (y + rng.standard_normal(2 * n_per_class))[:, None]
    return tuple(shuffle(X, y, random_state=rng))


def bayes_threshold(C1: float, C2: float = 1.0) -> float:
    """Where the best decision on `make_gaussians_1d` turns from -1 to +1.

    ``x* = -T / 2`` with ``T = log(C1 / C2)``: the point where ``P(+|x) C1 = P(-|x) C2``.

    Parameters
    ----------
    C1, C2 : float
        Costs of a miss and of a false alarm.

    Returns
    -------
    float
        The threshold ``x*``.

    Examples
    --------
    >>> from costboost.datasets import bayes_threshold
    >>> round(bayes_threshold(5), 4), round(bayes_threshold(20), 4)
    (-0.8047, -1.4979)
    """
    return -0.5 * float(np.log(C1 / C2))


# Cao et al. (2013), section 1. The paper numbers the classes 1 and 2 and writes C1 for the cost of
# taking class 1 for class 2, so its class 1 is our +1.
_POSITIVE_2D = ((-1.0, 1.0), ((5.2, 2.0), (2.0, 3.7)))
_NEGATIVE_2D = ((1.0, -1.0), ((3.3, 1.5), (1.5, 4.6)))


def make_gaussians_2d(
    n_per_class: int = 1000, *, random_state: Any = None
) -> tuple[Floats, Labels]:
    """Two overlapping, correlated Gaussians in the plane, equally frequent.

    The synthetic problem of Cao et al. (2013, section 1). The paper does not say which class is the
    costly one; here the first it prints, ``N([-1, 1], [[5.2, 2], [2, 3.7]])``, is +1 (its ``C1`` is
    the cost of an error on class 1) and ``N([1, -1], [[3.3, 1.5], [1.5, 4.6]])`` is -1.

    Parameters
    ----------
    n_per_class : int, default=1000
        Rows of each class.
    random_state : int, RandomState or None, default=None
        Seed; equal seeds give equal data.

    Returns
    -------
    X : ndarray of shape (2 * n_per_class, 2)
        The features.
    y : ndarray of shape (2 * n_per_class,)
        Labels -1 and +1, in random order.

    Examples
    --------
    >>> from costboost.datasets import bayes_decision, make_gaussians_2d
    >>> X, y = make_gaussians_2d(1000, random_state=0)
    >>> bool(0.75 < (bayes_decision(X, 1, 1) == y).mean() < 0.85)
    True
    """
    rng, y = check_random_state(random_state), np.repeat([-1, 1], n_per_class)
    parts = [rng.multivariate_normal(*one, n_per_class) for one in (_NEGATIVE_2D, _POSITIVE_2D)]
    return tuple(shuffle(np.concatenate(parts), y, random_state=rng))


def log_odds(X: ArrayLike) -> Floats:
    """Exact ``log P(+|x) / P(-|x)`` of the problem of `make_gaussians_2d`.

    Parameters
    ----------
    X : array-like of shape (n_samples, 2)
        Points of the plane.

    Returns
    -------
    ndarray of shape (n_samples,)
        The log-odds of +1.

    Examples
    --------
    >>> from costboost.datasets import log_odds
    >>> log_odds([[-1.0, 1.0], [1.0, -1.0]]).round(2)
    array([ 1.6 , -1.78])
    """
    points = np.asarray(X, dtype=np.float64)
    positive, negative = (
        multivariate_normal(*one).logpdf(points) for one in (_POSITIVE_2D, _NEGATIVE_2D)
    )
    return np.atleast_1d(positive - negative)


def bayes_decision(X: ArrayLike, C1: float, C2: float = 1.0) -> Labels:
    """Cheapest decision for each point of the problem of `make_gaussians_2d`.

    +1 where ``P(+|x) C1 >= P(-|x) C2``, else -1.

    Parameters
    ----------
    X : array-like of shape (n_samples, 2)
        Points of the plane.
    C1, C2 : float
        Costs of a miss and of a false alarm.

    Returns
    -------
    ndarray of shape (n_samples,)
        Decisions -1 and +1.

    Examples
    --------
    >>> from costboost.datasets import bayes_decision
    >>> bayes_decision([[-1.0, 1.0], [1.0, -1.0]], C1=1), bayes_decision([[1.0, -1.0]], C1=10)
    (array([ 1, -1]), array([1]))
    """
    return np.where(log_odds(X) + np.log(C1 / C2) >= 0.0, 1, -1).astype(np.int64)
