"""Tests of methods against scipy, hand values and the tables of the papers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from costboost_papers.statistics import (
    corrected_t_test,
    critical_difference,
    friedman_test,
    holm,
    mean_ranks,
    wilcoxon_test,
)

D = np.array([0.1, 0.2, 0.3, 0.2, 0.2])


def test_corrected_t_is_student_t_with_the_larger_variance():
    # mean 0.2, s 0.0707, error s * sqrt(1/5 + 3/7) = 0.05606, t = 3.568 with 4 degrees of freedom
    assert corrected_t_test(D, 3 / 7) == pytest.approx(0.0234, abs=2e-4)
    one, other = np.random.default_rng(0).normal(size=(2, 12))
    assert corrected_t_test(one - other, 0.0) == pytest.approx(stats.ttest_rel(one, other).pvalue)
    # Without spread.
    assert corrected_t_test(np.zeros(5), 1.0) == wilcoxon_test(np.zeros(5)) == 1.0
    assert corrected_t_test([0.5, 0.5, 0.5], 1.0) == 0.0
    assert corrected_t_test([0.5], 1.0) == 1.0


def test_holm_multiplies_by_what_is_left_and_stays_monotone():
    np.testing.assert_allclose(holm([0.04, 0.01, 0.03, 0.9]), [0.09, 0.04, 0.09, 0.9])
    np.testing.assert_allclose(holm([0.6, 0.7]), [1.0, 1.0])


def test_ranks_and_friedman():
    table = np.random.default_rng(1).normal([0, 0, 1, 1.5], size=(15, 4))
    assert friedman_test(table) == pytest.approx(stats.friedmanchisquare(*table.T).pvalue)
    np.testing.assert_allclose(mean_ranks(table), stats.rankdata(table, axis=1).mean(axis=0))
    np.testing.assert_allclose(mean_ranks(-table, lower_is_better=False), mean_ranks(table))
    assert friedman_test(np.ones((4, 3))) == 1.0
    np.testing.assert_allclose(mean_ranks(np.ones((4, 3))), 2.0)
    assert wilcoxon_test(table[:, 0] - table[:, 3]) == pytest.approx(
        stats.wilcoxon(table[:, 0], table[:, 3]).pvalue
    )


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_critical_difference_is_that_of_demsars_table(k, q):
    """Table 5a of the paper; its third digit is cut off rather than rounded now and then."""
    assert critical_difference(k, 12) == pytest.approx(q * np.sqrt(k * (k + 1) / 72), abs=1e-3)


def test_they_say_what_is_wrong():
    for words, ask in {
        r"rows \[1\] have gaps": lambda: mean_ranks([[1.0, 2.0], [np.nan, 1.0]]),
        r"shape \(data sets, methods": lambda: mean_ranks([1.0, 2.0]),
        "at least three methods": lambda: friedman_test([[1.0, 2.0]]),
        "'alpha' parameter": lambda: critical_difference(3, 3, 5),
        "At least two methods": lambda: critical_difference(1, 3),
        "'differences' .* 1 that are": lambda: corrected_t_test([1.0, np.nan, 2.0], 0.3),
        r"'p_values' .*\(1, 2\)": lambda: holm([[0.1, 0.2]]),
    }.items():
        with pytest.raises(ValueError, match=words):
            ask()
