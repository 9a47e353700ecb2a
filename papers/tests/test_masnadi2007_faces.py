"""Figure 4 of masnadi2007: its measures by hand, its tasks on tiny settings."""

from __future__ import annotations

import numpy as np
import pytest

from costboost_papers import masnadi2007_faces as faces
from costboost_papers.grading import Kept
from costboost_papers.pages import summarise
from data import rows_of_tasks

ITEM = faces.Figure4()


def test_least_and_honest_costs():
    """The least equals a search over all thresholds; the honest one is not below it."""
    found = [
        faces.cost_at([1, 1, 0, 0], [0.9, 0.2, 0.5, 0.1], 10, t) for t in (0.0, 0.15, 0.3, 0.7, 1.0)
    ]
    assert found == [2.0, 1.0, 11.0, 10.0, 20.0]
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 60)
    table = np.round(truth + rng.normal(size=(5, 60)), 1)  # with ties
    for f, value in zip((10, 50), faces.least_costs(truth, table, [10, 50]), strict=True):
        slow = min(
            faces.cost_at(truth, scores, f, t)
            for scores in table
            for t in [-np.inf, *np.unique(scores), np.inf]
        )
        assert value == pytest.approx(slow)
    honest = faces.halves_costs(truth, table, faces.FACTORS, seed=1)
    assert (honest >= faces.least_costs(truth, table, faces.FACTORS) - 1e-9).all()


def test_halves_choose_on_one_half_and_measure_on_the_other():
    """A detector that is right on all rows wins over one that is never right."""
    truth = np.array([0, 1] * 20)
    for table, cost in (([-truth, truth - 0.5], 0.0), ([0.0 * truth], 20.0)):  # flags everything
        assert faces.halves_costs(truth, table, [50], seed=0)[0] == cost
    scores, other = 1.0 * truth, faces.holdout(truth, 0.5, 0)[1]
    scores[other] = np.where(truth[other] == 1, 0.9, 0.6)  # all above 0.5, which the first chooses
    assert faces.halves_costs(truth, [scores], [50], seed=0)[0] == 10.0


def test_from_tasks_to_conclusions(monkeypatch):
    monkeypatch.setitem(faces.FEATURES, ("quick", faces.HELD_OUT), 30)
    monkeypatch.setitem(faces.ROUNDS, "quick", (2, 5))
    monkeypatch.setitem(faces.COSTS, "quick", (1.2, 20.0))
    monkeypatch.setattr(faces, "N_CUT", 60)
    summary = summarise(ITEM, rows_of_tasks(ITEM, ITEM.tasks("quick")))
    kept, place = Kept(summary), ("lfw_subset", faces.HELD_OUT, faces.minimum(20, 5))
    means = [kept.value(place[0], name, *place[1:]) for name in ("CSB2", faces.OURS)]
    gap, half = kept.gap(faces.OURS, "CSB2", *place)
    assert gap == pytest.approx(means[0] - means[1], rel=1e-4) and half >= 0
    left, right = ITEM.figure(summary).axes
    assert (len(left.lines), len(right.lines)) == (2, len(faces.METHODS))
    assert len(ITEM.conclusions(summary)) == 9
    assert ITEM.conclusions(summary.assign(setting=faces.TEST)) == []


def test_draws_of_the_face_set(data_dir):
    if not (data_dir / faces.FILE).is_file():
        pytest.skip(f"needs {faces.FILE}")
    data = faces.draw("full", faces.TEST, seed=0)
    assert np.bincount(data.y).tolist() == [2429, 2429]
    assert np.bincount(data.truth).tolist() == [19572, 472]
    held = faces.draw("full", faces.HELD_OUT, seed=0)
    assert np.bincount(held.y).tolist() == [1482, 1482]
    assert np.bincount(held.truth).tolist() == [947, 947]
    train = {window.tobytes() for window in held.train[held.y == 1]}
    assert sum(window.tobytes() in train for window in held.test[held.truth == 1]) < 20


def test_the_missing_file_is_named(monkeypatch):
    monkeypatch.setattr(faces, "data_file", lambda name: None)
    with pytest.raises(FileNotFoundError, match=r"cbcl_faces\.npz"):
        faces.draw("full", faces.TEST, seed=0)
