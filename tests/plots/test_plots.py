"""The numbers that the displays draw, and what they say when they cannot."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from costboost import AdaC2Classifier, CSLogitBoostClassifier, MinCostClassifier
from costboost.costs import Costs, per_row
from costboost.datasets import make_gaussians_2d
from costboost.decisions import Decisions, explain
from costboost.metrics import mean_cost, total_cost
from costboost.plots import CapacityDisplay, CostThresholdDisplay, ExplanationDisplay

COSTS = {"fn": 5, "fp": 1}
X, Y = make_gaussians_2d(150, random_state=0)  # 300 rows


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def cost_at(shown, threshold):
    """Read the steps of the drawn line."""
    x, y = shown.line_.get_data()
    return y[np.searchsorted(x, threshold)]


def test_cost_by_threshold_of_an_estimator():
    logit = CSLogitBoostClassifier(COSTS, n_estimators=10, random_state=0).fit(X, Y)
    shown = CostThresholdDisplay.from_estimator(logit, X, Y)
    score = logit.decision_function(X)
    for threshold in (-0.3, 0.0, 0.2, float(np.median(score))):
        decided = np.where(score >= threshold, 1, -1)
        assert cost_at(shown, threshold) == pytest.approx(mean_cost(Y, decided, cost_matrix=COSTS))
    assert shown.cost_in_use == pytest.approx(mean_cost(Y, logit.predict(X), cost_matrix=COSTS))
    assert set(shown.in_use_.get_xdata()) == {0.0}
    assert CostThresholdDisplay([0.0, 1.0, np.inf], [3, 2, 5], in_use=1.0).cost_in_use == 2
    assert shown.best_cost == shown.costs.min() == cost_at(shown, shown.best_threshold)
    assert shown.best_.get_xydata().tolist() == [[shown.best_threshold, shown.best_cost]]


def test_rows_are_priced_as_by_the_classifier_whichever_class_is_the_second():
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(amount=np.linspace(1, 50, 300))
    y = np.where(Y > 0, "fraud", "ok")  # the score is that of "ok"
    prices, w = {"fn": "amount", "fp": 20, "positive": "fraud"}, np.arange(300) % 3
    paid = {"cost_matrix": prices, "X": frame}
    shown = CostThresholdDisplay.from_estimator(AdaC2Classifier(prices).fit(frame, y), frame, y)
    assert shown.costs[0] == pytest.approx(mean_cost(y, np.full(300, "ok"), **paid))
    clf = LogisticRegression().fit(frame, y)
    ok, method = clf.predict_proba(frame)[:, 1], {"response_method": "predict_proba"}
    shown = CostThresholdDisplay.from_estimator(clf, frame, y, cost_matrix=prices, **method)
    decided = np.where(ok >= 0.8, "ok", "fraud")
    assert cost_at(shown, 0.8) == pytest.approx(mean_cost(y, decided, **paid))
    assert shown.ax_.get_xlabel() == "threshold on the probability of class ok"
    assert shown.in_use_ is None
    assert set(shown.thresholds[:-1]) <= set(ok)
    more = {"labels": clf.classes_, "positive": "ok", "sample_weight": w}
    shown = CostThresholdDisplay.from_predictions(y, ok, **paid, **more)
    assert cost_at(shown, 0.8) == pytest.approx(mean_cost(y, decided, **paid, sample_weight=w))
    with pytest.raises(ValueError, match="the positive one"):  # never guessed
        CostThresholdDisplay.from_estimator(clf, frame, y, costs=per_row(fn=frame["amount"], fp=2))


RNG = np.random.default_rng(0)
PHI = RNG.normal(size=(40, 7))
PRICES = Costs([[0.0, 3.0, 8.0], [40.0, 5.0, 1.0]], [0, 1], ["accept", "review", "block"])
RISK = expit(PHI.sum(axis=1))
FOUND = explain(
    Decisions.from_proba(np.stack([1 - RISK, RISK], axis=1), PRICES),
    PHI,
    names=list("abcdef"),
    values=np.round(RNG.normal(size=(40, 6)) * 1000, 1),
)


def test_steps_of_a_row_lead_from_the_base_rate_to_the_saving():
    model = SimpleNamespace(explain=lambda X, *, costs: FOUND)
    shown = ExplanationDisplay.from_estimator(model, None, row=3, max_features=4)
    starts, widths = np.transpose([(bar.get_x(), bar.get_width()) for bar in shown.bars_])
    ends = starts + widths
    assert starts[1:-1] == pytest.approx(ends[:-2])
    assert starts[[0, -1]].tolist() == [0.0, 0.0]
    assert ends[[0, -2, -1]] == pytest.approx([FOUND.base[3], FOUND.saving[3], FOUND.saving[3]])
    assert (np.diff(np.abs(widths[1:-2])) <= 0).all()
    assert [shown.names_[i] for i in (0, -2, -1)] == ["base rate", "2 other features", "saving"]
    assert shown.ax_.get_title(loc="left") == f"{FOUND.labels[3]} rather than {FOUND.runner_up[3]}"


def test_texts_lie_inside_the_figure_or_the_axes_given():
    for row in (None, 0, 3):
        ax = plt.subplots()[1] if row else None
        shown = ExplanationDisplay.from_explanation(FOUND, row=row, ax=ax)
        assert ax in (None, shown.ax_)
        shown.figure_.canvas.draw()
        width = shown.figure_.bbox.width
        for text in shown.texts_:
            assert 0 <= text.get_window_extent().x0 < text.get_window_extent().x1 <= width
    with pytest.raises(ValueError, match="must be one of 40 rows, got 40"):
        ExplanationDisplay.from_explanation(FOUND, row=40)


def test_capacity_of_an_estimator():
    model = MinCostClassifier(GaussianNB(), COSTS).fit(X, Y)
    shown = CapacityDisplay.from_estimator(model, X, 1, y=Y)
    assert shown.wanted == (model.predict(X) == 1).sum()
    for at in (0, 7, len(shown.capacity) - 1):
        found = model.decide(X, capacity={1: int(shown.capacity[at])})
        lines = shown.expected_line_, shown.price_line_, shown.cost_line_
        paid = total_cost(Y, found.labels, cost_matrix=COSTS)
        wanted = [found.cost.sum(), found.limit_prices[1], paid]
        assert [line.get_ydata()[at] for line in lines] == pytest.approx(wanted)
    told = per_row(fn=np.linspace(1, 9, len(Y)), fp=1)
    assert CapacityDisplay.from_estimator(model, X, 1, costs=told).wanted != shown.wanted
    with pytest.raises(ValueError, match=r"only the decisions .*got \[7\]"):
        CapacityDisplay.from_estimator(model, X, 7)
    with pytest.raises(TypeError, match="Wrap it in MinCostClassifier"):
        CapacityDisplay.from_estimator(LogisticRegression().fit(X, Y), X, 1)


@pytest.mark.slow
def test_matplotlib_is_imported_for_drawing_only():
    code = (
        "import sys, costboost.plots; assert 'matplotlib' not in sys.modules\n"
        "sys.modules['matplotlib'] = None\n"
        "try: costboost.plots.CostThresholdDisplay([1.0], [3.0]).plot()\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "costboost[cli]"' in done.stdout
