"""The interval over splits that share training rows, by hand and against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.held_out_cost.statistics import corrected_t_interval
from scipy import stats


def test_the_corrected_interval_is_student_s_with_the_larger_variance():
    # s 0.0707, error s * sqrt(1/5 + 3/7) = 0.05606, quantile 2.7764 of 4 degrees of freedom
    values = np.array([0.1, 0.2, 0.3, 0.2, 0.2])
    assert corrected_t_interval(values, 3 / 7) == pytest.approx(2.7764 * 0.05606, rel=1e-3)
    drawn = np.random.default_rng(0).normal(size=12)
    low, high = stats.ttest_1samp(drawn, 0.0).confidence_interval()
    assert corrected_t_interval(drawn, 0.0) == pytest.approx((high - low) / 2)
    assert np.isnan(corrected_t_interval(values[:1], 1.0))
