"""What figures of papers draw."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import matplotlib.text
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression

from costboost import MinCostClassifier
from costboost.datasets import log_odds, make_gaussians_2d
from costboost_papers.plots import (
    boundaries_of,
    draw_boundaries,
    draw_crossings,
    draw_factors,
    spread,
)


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def test_boundaries_are_the_zero_lines_of_scores_or_decisions():
    X, y = make_gaussians_2d(300, random_state=0)
    prices = {"fn": 5, "fp": 1}
    known = MinCostClassifier(LogisticRegression(), prices, calibration=None).fit(X, y)
    linear = SimpleNamespace(decision_function=lambda X: X @ [1, 2] - 1)
    ax = boundaries_of({"linear": linear, "known": known}, X, y, log_odds)
    *points, bayes, scored, decided = ax.collections
    assert sum(len(part.get_offsets()) for part in points) == len(X)
    bayes, scored, decided = (
        np.concatenate([path.vertices for path in lines.get_paths()])
        for lines in (bayes, scored, decided)
    )
    np.testing.assert_allclose(log_odds(bayes), 0.0, atol=0.02)
    np.testing.assert_allclose(scored @ [1, 2], 1.0, atol=1e-9)
    chance = known.predict_proba(decided)[:, 1]
    assert np.abs(chance - 1 / 6).max() < 0.05  # P C1 = (1 - P) C2, not one half


def test_a_boundary_that_is_nowhere_is_named():
    place = np.array([0.0, 1.0])
    for side in (1.0, -1.0):
        scores = {"all": np.full((2, 2), side)}
        (handle,) = draw_boundaries(Figure().subplots(), place, place, scores)
        assert handle.get_label() == "all (one class everywhere)"


def test_lines_are_named_at_their_ends():
    ax = Figure().subplots()
    draw_crossings(ax, {"A": np.array([2.0, 0.5, 1.0])}, -0.8)
    bayes, line = ax.get_lines()
    assert set(bayes.get_ydata()) == {-0.8}
    assert line.get_xydata().tolist() == [[1, 2.0], [2, 0.5], [3, 1.0]]
    assert [text.get_text() for text in ax.texts] == ["Bayes (−0.8)", "A"]


def test_labels_at_line_ends_keep_their_order_and_do_not_overlap():
    figure, ax = plt.subplots()
    ends = {f"method {j}": [0.0, 1.0 + 0.001 * j] for j in range(9)}
    draw_factors(ax, [1, 20], {**ends, "far": [0.0, 3.0]}, "cost")
    assert ax.get_xscale() == "log"
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "20"]
    figure.canvas.draw()
    # Of an annotation the words alone, without the line that leads to them.
    boxes = [matplotlib.text.Text.get_window_extent(text) for text in ax.texts]
    assert all(low.y1 <= high.y0 for low, high in pairwise(boxes))


def test_spread_keeps_order_and_distance_and_shares_the_shift():
    placed = spread(np.array([5.0, 1.0, 1.0, 1.5, 9.0]), 1.0)
    np.testing.assert_allclose(placed, [5.0, 1 / 6, 7 / 6, 13 / 6, 9.0])
