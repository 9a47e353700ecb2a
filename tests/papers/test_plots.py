"""The numbers that figures of papers draw, and what they say when they cannot."""

from __future__ import annotations

import matplotlib.text
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib import pyplot as plt
from sklearn.linear_model import LogisticRegression

from costboost import MinCostClassifier
from costboost.datasets import log_odds, make_gaussians_2d
from costboost.metrics import critical_difference
from costboost_papers.plots import (
    BoundaryDisplay,
    CostFactorDisplay,
    RankDisplay,
    ZeroCrossingDisplay,
    spread,
    zero_crossing,
)


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def plane():
    return make_gaussians_2d(300, random_state=0)


# --- boundaries -----------------------------------------------------------------------------


def zero_points(contours):
    return np.concatenate([path.vertices for path in contours.get_paths()])


class Linear:
    """Decides by x0 + 2 x1 - 1."""

    def decision_function(self, X):
        return X[:, 0] + 2 * X[:, 1] - 1


def test_boundary_is_the_zero_line(plane):
    X, y = plane
    shown = BoundaryDisplay.from_estimators(
        {"Linear": Linear()}, X, y, bayes=log_odds, grid_resolution=60
    )
    np.testing.assert_allclose(zero_points(shown.lines_["Linear"]) @ [1, 2], 1.0, atol=1e-9)
    np.testing.assert_allclose(log_odds(zero_points(shown.bayes_line_)), 0.0, atol=0.02)
    assert sum(len(part.get_offsets()) for part in shown.points_) == len(X)


def test_boundary_of_decisions(plane):
    X, y = plane
    known = MinCostClassifier(
        LogisticRegression(), cost_matrix={"fn": 5, "fp": 1}, calibration=None
    ).fit(X, y)
    decided = BoundaryDisplay.from_estimators({"MinCost": known}, X, y, grid_resolution=80)
    chance = known.predict_proba(zero_points(decided.lines_["MinCost"]))[:, 1]
    assert np.abs(chance - 1 / 6).max() < 0.05  # P C1 = (1 - P) C2, not one half


def test_boundary_that_is_nowhere():
    shown = BoundaryDisplay([0, 1], [0, 1], {"all": np.ones((2, 2))}).plot()
    assert shown.lines_ == {"all": None}
    assert shown.legend_.get_texts()[0].get_text() == "all (one class everywhere)"


def test_boundary_needs_the_plane(plane):
    with pytest.raises(ValueError, match=r"'X' parameter of BoundaryDisplay .* \(n, 2\)"):
        BoundaryDisplay.from_estimators({"Linear": Linear()}, plane[0][:, :1], plane[1])


# --- zero crossing --------------------------------------------------------------------------


def test_zero_crossing_interpolates():
    x = np.linspace(-2, 2, 41)
    assert zero_crossing(x, 3 * x - 1) == pytest.approx(1 / 3)
    assert zero_crossing(x, 1 - 3 * x) == pytest.approx(1 / 3)
    assert np.isnan(zero_crossing(x, np.ones(41)))
    assert zero_crossing([0, 1, 2, 3], [-1, 1, -1, 1]) == 1.5  # the middle one of three
    assert zero_crossing([0, 1, 2], [-1, 0, 1]) == 1.0


class Staged:
    """Score x - shift of the round."""

    def __init__(self, *shifts):
        self.shifts = shifts

    def staged_decision_function(self, X):
        return (np.asarray(X)[:, 0] - shift for shift in self.shifts)


def test_crossings_by_round():
    X = np.array([[-3.0], [4.0]])
    est = {"short": Staged(0.5, -1.25), "long": Staged(2.0, 9.0, 1.0), "never": Staged(9.0)}
    shown = ZeroCrossingDisplay.from_estimators(est, X, bayes=-0.8)
    np.testing.assert_allclose(shown.lines_["short"].get_ydata(), [0.5, -1.25])
    np.testing.assert_array_equal(shown.lines_["long"].get_xdata(), [1, 2, 3])
    np.testing.assert_allclose(shown.lines_["long"].get_ydata(), [2.0, np.nan, 1.0])
    assert set(shown.bayes_line_.get_ydata()) == {-0.8}
    assert set(shown.labels_) == {"Bayes (−0.8)", "short", "long"}
    assert shown.ax_.get_xlabel() == "round\nno crossing: never"


# --- cost against cost factor ---------------------------------------------------------------


@pytest.mark.parametrize("frame", [dict, pl.DataFrame])
def test_rows_are_averaged(frame):
    rows = {
        "algorithm": ["B", "B", "B", "A", "A", "A"],
        "factor": [20, 1, 1, 1, 5, 20],
        "value": [4.0, 1.0, 2.0, 1.0, 2.0, 3.0],
    }
    shown = CostFactorDisplay.from_rows(frame(rows))
    assert list(shown.lines_) == ["B", "A"]
    assert shown.lines_["B"].get_xydata().tolist() == [[1, 1.5], [20, 4]]
    assert shown.lines_["A"].get_ydata().tolist() == [1, 2, 3]
    assert shown.errors["B"][0] == pytest.approx(0.5)
    assert shown.ax_.get_xscale() == "log"
    assert [text.get_text() for text in shown.ax_.get_xticklabels()] == ["1", "5", "20"]


def test_errors_make_the_band():
    lines = {"A": [1.0, 2.0, 3.0], "B": [1.0, 2.0, 3.0]}
    errors = {"A": [0.25] * 3, "B": [np.nan] * 3}
    shown = CostFactorDisplay([1, 5, 20], lines, errors, value_name="cost").plot()
    assert list(shown.bands_) == ["A"]
    heights = shown.bands_["A"].get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (0.75, 3.25)
    assert shown.ax_.get_ylabel() == "cost (band: ± standard error)"


def test_labels_at_line_ends_do_not_overlap():
    ends = {f"method {j}": [0.0, 1.0 + 0.001 * j] for j in range(9)}
    shown = CostFactorDisplay([1, 2], {**ends, "far": [0.0, 3.0]}).plot()
    shown.figure_.canvas.draw()
    # Of an annotation the words alone, without the line that leads to them.
    boxes = [matplotlib.text.Text.get_window_extent(text) for text in shown.labels_.values()]
    assert not [i for i, box in enumerate(boxes) for other in boxes[:i] if box.overlaps(other)]


def test_spread_keeps_order_and_distance():
    wanted = np.array([5.0, 1.0, 1.0, 1.5, 9.0])
    placed = spread(wanted, 1.0)
    assert np.diff(np.sort(placed)).min() >= 1.0 - 1e-12
    assert (np.argsort(placed, kind="stable") == np.argsort(wanted, kind="stable")).all()
    assert placed[0] == 5.0 and placed[4] == 9.0
    assert placed[1:4].mean() == pytest.approx(wanted[1:4].mean())


# --- ranks ----------------------------------------------------------------------------------

DEMSAR = """
0.763 0.768 0.771 0.798
0.599 0.591 0.590 0.569
0.954 0.971 0.968 0.967
0.628 0.661 0.654 0.657
0.882 0.888 0.886 0.898
0.936 0.931 0.916 0.931
0.661 0.668 0.609 0.685
0.583 0.583 0.563 0.625
0.775 0.838 0.866 0.875
1.000 1.000 1.000 1.000
0.940 0.962 0.965 0.962
0.619 0.666 0.614 0.669
0.972 0.981 0.975 0.975
0.957 0.978 0.946 0.970
"""


def test_demsars_example():
    """Table 6 of the paper: AUC of C4.5 with and without its parameters m and cf tuned."""
    auc = np.loadtxt(DEMSAR.split("\n"))
    auc[12, 2] += 1e-4  # printed as a tie, ranked 2 and 3 there by digits that are not printed
    names = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
    shown = RankDisplay.from_results(auc, names=names, lower_is_better=False, alpha=0.10)
    np.testing.assert_allclose(shown.ranks, [3.143, 2.000, 2.893, 1.964], atol=6e-4)
    assert shown.critical_difference == pytest.approx(1.12, abs=0.006)
    # "Pure C4.5 is significantly worse than C4.5+m and C4.5+m+cf."
    assert shown.groups == [("C4.5+m+cf", "C4.5+m", "C4.5+cf"), ("C4.5+cf", "C4.5")]
    stricter = RankDisplay(shown.ranks, names, 14, alpha=0.05)
    assert stricter.critical_difference == pytest.approx(1.25, abs=0.006)
    assert len(stricter.groups) == 1


def test_ranks_on_the_axis():
    table = pd.DataFrame({"bad": [3.0, 3.0, 3.0], "good": [1.0, 1.0, 2.0], "mid": [2.0, 2.0, 2.0]})
    shown = RankDisplay.from_results(table)
    assert shown.ranks.to_dict() == pytest.approx({"bad": 3.0, "good": 3.5 / 3, "mid": 5.5 / 3})
    marks, bars = shown.ax_.collections[1], shown.ax_.collections[0]
    np.testing.assert_allclose(marks.get_offsets()[:, 0], [3.5 / 3, 5.5 / 3, 3.0])
    lengths = [np.ptp(bar[:, 0]) for bar in bars.get_segments()]
    np.testing.assert_allclose(lengths, critical_difference(3, 3))
    assert [text.get_text() for text in shown.ax_.get_yticklabels()] == ["good", "mid", "bad"]
    assert "Friedman p" in shown.ax_.get_xlabel() and 0 < shown.p_value < 0.1
