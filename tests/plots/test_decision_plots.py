"""The numbers that the displays of explanations and monitors draw."""

from __future__ import annotations

from itertools import pairwise

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot as plt

from costboost.decisions import explain
from costboost.monitor import Check, Monitor, snapshot
from costboost.plots import ExplanationDisplay, MonitorDisplay


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def explanation():
    rng = np.random.default_rng(0)
    phi = rng.normal(size=(40, 7))
    return explain(
        phi,
        [[0.0, 3.0, 8.0], [40.0, 5.0, 1.0]],
        decisions=["accept", "review", "block"],
        feature_names=list("abcdef"),
        X=np.round(rng.normal(size=(40, 6)) * 1000, 1),
    )


def test_steps_of_a_row_lead_from_the_base_rate_to_the_saving(explanation):
    shown = ExplanationDisplay.from_explanation(explanation, row=3, max_features=4)
    bars = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in shown.bars_]
    assert bars[0] == (0.0, explanation.base[3])
    for before, after in pairwise(bars[:-1]):
        assert after[0] == pytest.approx(before[1])
    assert bars[-2][1] == pytest.approx(explanation.saving[3])
    assert bars[-1][1] == pytest.approx(explanation.saving[3])
    assert shown.names_[0] == "base rate"
    assert shown.names_[-2:] == ["2 other features", "saving"]
    sizes = [abs(bar[1] - bar[0]) for bar in bars[1:-2]]
    assert sizes == sorted(sizes, reverse=True)
    decision, other = explanation.labels[3], explanation.runner_up[3]
    assert shown.ax_.get_title(loc="left") == f"{decision} rather than {other}"


def test_features_are_shown_with_their_values(explanation):
    shown = ExplanationDisplay.from_explanation(explanation, row=0)
    largest = int(np.abs(explanation.parts[0]).argmax())
    name, value = shown.names_[1].split(" = ")
    assert name == explanation.feature_names[largest]
    number = float(value.replace("\N{MINUS SIGN}", "-").replace(",", ""))
    assert number == pytest.approx(explanation.values[0, largest], rel=0.01)
    assert [label.get_text() for label in shown.ax_.get_yticklabels()] == shown.names_


def test_many_rows_by_mean_absolute_money(explanation):
    shown = ExplanationDisplay.from_explanation(explanation)
    widths = [bar.get_width() for bar in shown.bars_]
    np.testing.assert_allclose(widths, np.sort(explanation.mean_absolute)[::-1])
    assert shown.names_[0] == "abcdef"[int(explanation.mean_absolute.argmax())]


def test_texts_lie_inside_the_figure(explanation):
    for row in (None, 0, 3):
        shown = ExplanationDisplay.from_explanation(explanation, row=row)
        shown.figure_.canvas.draw()
        width = shown.figure_.bbox.width
        assert all(text.get_window_extent().x1 <= width for text in shown.texts_)


def test_unknown_row_is_refused(explanation):
    with pytest.raises(ValueError, match="must be one of the 40 rows explained, got 40"):
        ExplanationDisplay.from_explanation(explanation, row=40)


def test_own_axes(explanation):
    _, ax = plt.subplots()
    assert ExplanationDisplay.from_explanation(explanation, row=1, ax=ax).ax_ is ax


def test_checks_in_the_order_of_their_evidence():
    checks = [
        Check(name, "feature", 1.0, 2.0, p, p, p < 0.01)
        for name, p in (("b", 0.2), ("a", 1e-5), ("c", 1.0), ("d", 0.0))
    ]
    shown = MonitorDisplay(checks, 0.01, max_checks=3).plot()
    assert shown.names_ == ["d", "a", "b"]
    offsets = shown.points_.get_offsets()
    np.testing.assert_allclose(offsets[:, 0], [1e-12, 1e-5, 0.2])
    colors = shown.points_.get_facecolors()
    assert (colors[0] == colors[1]).all() and (colors[1] != colors[2]).any()
    assert shown.ax_.get_xlim()[0] > shown.ax_.get_xlim()[1]


def test_a_report_is_drawn_with_its_costs():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([3, 1], 300)
    truth = (rng.random(300) < p[:, 1]).astype(int)
    rows = snapshot(rng.normal(size=(300, 2)), p, [[0, 1], [5, 0]], truth)
    report = Monitor(rows).check(rows)
    title = MonitorDisplay.from_report(report).ax_.get_title(loc="right")
    assert f"{report.expected_cost:.3g}" in title
    assert f"realised {report.realised_cost:.3g}" in title
