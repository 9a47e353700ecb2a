"""The interval of a difference over splits that share training rows."""

from __future__ import annotations

import numpy as np

from costboost._typing import Floats


def corrected_t_interval(differences: Floats, test_to_train: float) -> float:
    """Return half the 95 % interval of the mean difference over resampled splits.

    Splits share training rows, so the variance of the mean is not s²/J but s² (1/J + n_test /
    n_train) (Nadeau and Bengio, "Inference for the generalization error", 2003). A single split has
    no interval: NaN.

    Parameters
    ----------
    differences : array of shape (J,)
        A difference per split.
    test_to_train : float
        Test rows per training row, 3/7 for splits of 70 % and 30 %.

    Returns
    -------
    float
        The half-width.
    """
    from scipy.stats import t  # takes a third of a second to import

    n_splits = len(differences)
    if n_splits < 2:
        return float("nan")
    error = np.std(differences, ddof=1) * np.sqrt(1.0 / n_splits + test_to_train)
    return float(t.ppf(0.975, n_splits - 1) * error)
