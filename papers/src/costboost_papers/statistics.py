"""Tests of methods: over data sets (ranks, Wilcoxon) and over resampled splits (corrected t)."""

# scipy.stats takes a third of a second to import, hence inside the functions.

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import Floats
from costboost._utils import checked_share


def mean_ranks(table: ArrayLike, *, lower_is_better: bool = True) -> Floats:
    """Mean rank of each method over data sets; ties share the mean of their ranks.

    Parameters
    ----------
    table : array of shape (n_datasets, k)
        A row per data set, a column per method.
    lower_is_better : bool, default=True
        True for costs, False for savings.

    Returns
    -------
    array of shape (k,)
        Mean ranks, 1 being the best.

    Examples
    --------
    >>> mean_ranks([[1.0, 2.0, 3.0], [1.0, 1.0, 5.0]])
    array([1.25, 1.75, 3.  ])
    """
    mean: Floats = _ranked(table, lower_is_better).mean(axis=0)
    return mean


def friedman_test(table: ArrayLike) -> float:
    """The p-value of Friedman's test: whether any methods differ over the data sets.

    Parameters
    ----------
    table : array of shape (n_datasets, k)
        A row per data set, a column per method, at least three.

    Returns
    -------
    float
        The p-value; 1 if there is nothing but ties.

    Examples
    --------
    >>> round(friedman_test([[1, 2, 3], [1, 2, 3], [1, 3, 2], [1, 2, 3]]), 3)
    0.039
    """
    from scipy.stats import friedmanchisquare

    ranks = _ranked(table, True)
    if ranks.shape[1] < 3:
        raise ValueError("friedman_test needs at least three methods; wilcoxon_test compares two.")
    if (ranks == ranks[:, :1]).all():
        return 1.0
    return float(friedmanchisquare(*ranks.T).pvalue)


def critical_difference(k: int, n: int, alpha: float = 0.05) -> float:
    """Least difference of mean ranks that Nemenyi's test calls significant.

    ``q sqrt(k (k + 1) / (6 n))`` with q the quantile of the studentized range over the square root
    of 2 [1]_.

    Parameters
    ----------
    k : int
        Number of methods.
    n : int
        Number of data sets.
    alpha : float, default=0.05
        Chance of a false alarm among all pairs.

    Returns
    -------
    float
        The critical difference.

    References
    ----------
    .. [1] J. Demsar, "Statistical comparisons of classifiers over multiple data sets", Journal of
       Machine Learning Research 7, 2006.

    Examples
    --------
    >>> round(critical_difference(4, 14, alpha=0.05), 2)
    1.25
    """
    from scipy.stats import studentized_range

    if k < 2 or n < 1:
        raise ValueError(f"At least two methods and one data set are needed; got {k=}, {n=}.")
    alpha = checked_share(alpha, "alpha", "critical_difference")
    q = float(studentized_range.ppf(1.0 - alpha, k, np.inf)) / np.sqrt(2.0)
    return float(q * np.sqrt(k * (k + 1) / (6.0 * n)))


def wilcoxon_test(differences: ArrayLike) -> float:
    """Two-sided p of Wilcoxon's signed-rank test of paired differences.

    Parameters
    ----------
    differences : array of shape (n,)
        Ours less theirs, a value per data set.

    Returns
    -------
    float
        The p-value; 1 if all differences are 0.

    Examples
    --------
    >>> wilcoxon_test([1.0, 2.0, 3.0, 4.0, 5.0])
    0.0625
    """
    from scipy.stats import wilcoxon

    values = _checked(differences, "differences")
    return float(wilcoxon(values).pvalue) if np.any(values) else 1.0


def corrected_t_test(differences: ArrayLike, test_to_train: float) -> float:
    """Two-sided p of Nadeau and Bengio's t-test for differences over resampled splits.

    Splits share training rows, so the variance of the mean is not s²/J but
    s² (1/J + n_test / n_train) [1]_. With ``test_to_train=0`` it is Student's paired test.

    Parameters
    ----------
    differences : array of shape (J,)
        Ours less theirs, a value per split.
    test_to_train : float
        Test rows per training row, 3/7 for splits of 70 % and 30 %.

    Returns
    -------
    float
        The p-value; 1 for fewer than two splits or if all differences are 0.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52,
       2003.

    Examples
    --------
    >>> round(corrected_t_test([0.1, 0.2, 0.3, 0.2, 0.2], test_to_train=3 / 7), 3)
    0.023
    """
    from scipy.stats import t

    values = _checked(differences, "differences")
    if len(values) < 2 or not np.any(values):
        return 1.0
    error = _corrected_error(values, test_to_train)
    return float(2 * t.sf(abs(values.mean()) / error, len(values) - 1)) if error > 0.0 else 0.0


def holm(p_values: ArrayLike) -> Floats:
    """p-values after Holm's correction for their number.

    Those below α are found with a chance of at most α that any of them is a false alarm.

    Parameters
    ----------
    p_values : array of shape (n,)
        p-values of n tests.

    Returns
    -------
    array of shape (n,)
        Adjusted p-values, in the same order, at most 1.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = _checked(p_values, "p_values")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def _ranked(table: ArrayLike, lower_is_better: bool) -> Floats:
    from scipy.stats import rankdata

    values = np.asarray(table, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] < 2 or not len(values):
        raise ValueError(f"table must have shape (data sets, methods >= 2), got {values.shape}.")
    gaps = np.flatnonzero(np.isnan(values).any(axis=1))
    if len(gaps):
        raise ValueError(f"table must have no NaN; rows {gaps[:5].tolist()} have gaps. Drop them.")
    ranks: Floats = rankdata(values if lower_is_better else -values, axis=1)
    return ranks


def _checked(values: ArrayLike, name: str) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        given = f"shape {array.shape} and {(~np.isfinite(array)).sum()} that are not finite"
        raise ValueError(f"{name!r} must have shape (n,) and finite numbers, got {given}.")
    return array


def _corrected_error(values: Floats, test_to_train: float) -> float:
    return float(np.std(values, ddof=1)) * float(np.sqrt(1.0 / len(values) + test_to_train))
