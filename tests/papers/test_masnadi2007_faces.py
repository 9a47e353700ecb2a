"""Figure 4 of masnadi2007: its measures by hand, its tasks on tiny settings."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from costboost_papers import masnadi2007_faces as faces
from costboost_papers.item import SUMMARY_COLUMNS

pytest.importorskip("skimage", reason='needs scikit-image: pip install "costboost[experiments]"')

ITEM = faces.Figure4()


@pytest.fixture(scope="module", autouse=True)
def tiny():
    """Few features, rounds, resamples and windows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(faces.FEATURES, ("quick", faces.HELD_OUT), 30)
        patch.setitem(faces.ROUNDS, "quick", (2, 5))
        patch.setitem(faces.RESAMPLES, "quick", 5)
        patch.setitem(faces.COSTS, "quick", (1.2, 20.0))
        patch.setattr(faces, "N_CUT", 60)
        yield


def plain(truth):
    """The windows as they are."""
    return faces.resamples(truth, 0, seed=0)


def test_costs_by_hand():
    truth, scores = [1, 1, 0, 0], [0.9, 0.2, 0.5, 0.1]
    found = [faces.cost_at(truth, scores, 10, t) for t in (0.0, 0.15, 0.3, 0.7, 1.0)]
    assert found == [2.0, 1.0, 11.0, 10.0, 20.0]

    def least(table):
        return faces.least_costs(truth, table, [10], plain(truth))[0, 0]

    assert least([scores]) == 1.0
    assert least([scores, truth]) == 0.0
    assert least([[0.0] * 4]) == 2.0  # one decision for all


def test_least_costs_equal_a_search_over_all_thresholds():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 60)
    scores = np.round(truth + rng.normal(size=60), 1)  # with ties
    sets = faces.resamples(truth, 3, seed=1)
    found = faces.least_costs(truth, [scores], [10, 50], sets)
    for f, row in zip((10, 50), found, strict=True):
        for weight, value in zip(sets, row, strict=True):
            slow = min(
                weight[(scores >= t) & (truth == 0)].sum()
                + f * weight[(scores < t) & (truth == 1)].sum()
                for t in [-np.inf, *np.unique(scores), np.inf]
            )
            assert value == pytest.approx(slow)


def test_resamples_keep_the_class_sizes():
    truth = np.repeat([1, 0], [20, 80])
    sets = faces.resamples(truth, 4, seed=0)
    np.testing.assert_allclose(sets[:, :20].sum(axis=1), 20)
    np.testing.assert_allclose(sets[:, 20:].sum(axis=1), 20)
    assert len({tuple(row) for row in sets}) == 5


def test_the_honest_cost_is_not_below_the_searched_one():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 80)
    scores = truth + rng.normal(size=(5, 80))
    sets = faces.resamples(truth, 3, seed=0)
    honest = faces.halves_costs(truth, scores, faces.FACTORS, sets, seed=1)
    assert (honest >= faces.least_costs(truth, scores, faces.FACTORS, sets) - 1e-9).all()


def test_halves_choose_on_one_half_and_measure_on_the_other():
    """A detector that is right on all rows wins over one that is never right."""
    truth = np.array([0, 1] * 20)

    def honest(table):
        return faces.halves_costs(truth, table, [50], plain(truth), seed=0)[0, 0]

    assert honest([-truth, truth - 0.5]) == 0.0
    assert honest([0.0 * truth]) == 20.0  # flags everything


@pytest.fixture(scope="module")
def summary(tiny):
    rows = []
    for task in ITEM.tasks("quick"):
        for metric, value in ITEM.run(task, "quick").items():
            shared = {"dataset": task.dataset, "algorithm": task.algorithm}
            shared["setting"] = task.setting
            rows.append({**shared, "split": task.split, "metric": metric, "value": value})
    return ITEM.summarise(pd.DataFrame(rows))


def test_summary(summary):
    assert list(summary.columns) == SUMMARY_COLUMNS
    assert len(summary) < 1200
    assert not summary["value"].isna().any()
    excess = summary[summary["statistic"] == faces.EXCESS]
    assert set(excess["algorithm"]) == set(faces.METHODS) - {faces.OURS}
    value = faces.lookup(summary)
    metric = faces.minimum(20, 5)
    difference = value("CSB2", metric) - value(faces.OURS, metric)
    assert value("CSB2", metric, faces.EXCESS) == pytest.approx(difference)
    assert value("CSB2", metric, faces.LOW) <= value("CSB2", metric, faces.HIGH)


def test_figure_has_a_line_per_cost_and_per_method(summary):
    left, right = ITEM.figure(summary).axes
    assert len(left.lines) == len(faces.COSTS["quick"])
    assert len(right.lines) == len(faces.METHODS)


def test_conclusions_state_figures(summary):
    found = ITEM.conclusions(summary)
    assert len(found) == 5
    for conclusion in found:
        assert any(letter.isdigit() for letter in conclusion.evidence)
        assert conclusion.why
        assert "nan" not in conclusion.evidence


def test_both_tests_are_told(summary):
    """Graded on the test part; the held-out windows in brackets."""
    other = summary.assign(setting=faces.TEST)
    found = ITEM.conclusions(pd.concat([summary, other], ignore_index=True))
    for conclusion in found:
        assert conclusion.evidence.startswith("Test part: ")
        assert f"Held-out training windows ({conclusion.verdict}): " in conclusion.evidence
    assert len(ITEM.figure(pd.concat([summary, other], ignore_index=True)).axes) == 4


@pytest.mark.skipif(faces.faces_file() is None, reason="cbcl_faces.npz is not in the data folder")
def test_draws_of_the_face_set():
    data = faces.draw("full", faces.TEST, seed=0)
    assert np.bincount(data.y).tolist() == [2429, 2429]
    assert np.bincount(data.truth).tolist() == [19572, 472]
    held = faces.draw("full", faces.HELD_OUT, seed=0)
    assert np.bincount(held.y).tolist() == [1482, 1482]
    assert np.bincount(held.truth).tolist() == [947, 947]
    train = {window.tobytes() for window in held.train[held.y == 1]}
    assert sum(window.tobytes() in train for window in held.test[held.truth == 1]) < 20


def test_the_missing_file_is_named(monkeypatch):
    monkeypatch.setattr(faces, "faces_file", lambda: None)
    with pytest.raises(FileNotFoundError, match=r"cbcl_faces\.npz"):
        faces.draw("full", faces.TEST, seed=0)
