"""Cascades with thresholds on held-out windows and hard negatives from pictures; the recipe."""

from __future__ import annotations

import numpy as np
import pytest

from costboost import AsymmetricAdaBoostClassifier, CSAdaBoostClassifier
from costboost.learners import Stump
from costboost_papers.vision import (
    CascadeClassifier,
    HaarFeatures,
    HaarStump,
    SlidingWindowDetector,
    Windows,
    face_windows,
    paste_windows,
    varied_windows,
)
from costboost_papers.vision.cascade import PictureMine

pytest.importorskip("skimage", reason='needs scikit-image: pip install "costboost[experiments]"')

SIZE = 10


def objects(n, rng):
    """A dark band above a bright one."""
    X = 0.3 * rng.random((n, SIZE, SIZE))
    X[:, 2:4, 1:9] -= 0.4
    X[:, 5:8, 1:9] += 0.4
    return X + 0.4


def model(**options):
    learner = HaarStump((SIZE, SIZE), 200, 16)
    return AsymmetricAdaBoostClassifier({"fn": 2, "fp": 1}, estimator=learner, **options)


@pytest.fixture(scope="module")
def cascade():
    rng = np.random.default_rng(0)
    X = np.concatenate([objects(80, rng), rng.random((80, SIZE, SIZE))])
    pictures = [rng.random((50, 60)), np.kron(rng.random((12, 14)), np.ones((4, 4)))]
    return CascadeClassifier(
        model(),
        rounds=(2, 5, 10),
        detection_rate=0.95,
        max_negatives=200,
        min_negatives=10,
        validation=0.25,
        copies=1,
        random_state=0,
    ).fit(X, np.repeat([1, 0], 80), pictures=pictures)


def test_planted_object_is_found(cascade):
    rng = np.random.default_rng(3)
    picture = np.kron(rng.random((10, 12)), np.ones((8, 8)))
    planted, truth = paste_windows(picture, objects(5, rng), 1, sizes=(24, 25), random_state=0)
    (left, top, width, height) = truth[0]
    assert not SlidingWindowDetector(cascade, min_size=20).detect(picture)
    boxes = SlidingWindowDetector(cascade, min_size=20).detect(planted)
    assert len(boxes) == 1
    assert abs(boxes[0].left + boxes[0].width / 2 - left - width / 2) < 0.3 * width
    assert abs(boxes[0].top + boxes[0].height / 2 - top - height / 2) < 0.3 * height


def test_rates_are_those_of_the_positives_set_aside(cascade):
    # 20 of the 80 are set aside, with a copy each: 40 set the thresholds.
    assert cascade.stages_[0].n_positives == 2 * 60
    for stage in cascade.stages_:
        assert stage.detection_rate >= 0.95
    assert cascade.stages_[-1].total_detection_rate >= 0.95 ** len(cascade.stages_) - 1e-9


def test_compiled_table_equals_the_stages_one_by_one(cascade):
    rng = np.random.default_rng(5)
    X = np.concatenate([objects(40, rng), rng.random((200, SIZE, SIZE))])
    windows = Windows.of_stack(X)
    scores = cascade.decision_function(X)
    alive = np.ones(len(X), dtype=bool)
    for k, stage in enumerate(cascade.stages_):
        rows = stage.classifier.estimator_.decision_function(X.reshape(len(X), -1))
        own = rows - stage.classifier.threshold_
        np.testing.assert_allclose(stage.scores(cascade.features_, windows), own, atol=1e-9)
        left = len(cascade.stages_) - 1 - k
        lost = alive & (own < 0)
        assert ((-left - 1 <= scores[lost]) & (scores[lost] <= -left)).all()
        alive &= own >= 0
    np.testing.assert_array_equal(scores >= 0, alive)
    np.testing.assert_allclose(scores[alive], own[alive], atol=1e-9)


def test_stumps_on_a_feature_matrix_are_compiled_too():
    rng = np.random.default_rng(0)
    X = np.concatenate([objects(40, rng), rng.random((60, SIZE, SIZE))])
    fitted = CascadeClassifier(
        CSAdaBoostClassifier(estimator=Stump(max_bins=8)),
        features=HaarFeatures(max_features=50),
        rounds=(3, 4),
        detection_rate=0.9,
        n_trials=2,
        min_negatives=2,
        random_state=0,
    ).fit(X, np.repeat([1, 0], [40, 60]), pool=rng.random((100, SIZE, SIZE)))
    assert fitted._table is not None
    compiled = fitted.decision_function(X)
    fitted._table = None
    np.testing.assert_allclose(compiled, fitted.decision_function(X), atol=1e-9)


def test_carried_scores_are_sums_over_the_stages():
    rng = np.random.default_rng(0)
    weak = 0.5 * objects(60, rng) + 0.5 * rng.random((60, SIZE, SIZE))
    X = np.concatenate([weak, rng.random((150, SIZE, SIZE))])
    fitted = CascadeClassifier(
        model(),
        rounds=(1, 1, 2),
        detection_rate=0.95,
        min_negatives=2,
        validation=0.25,
        carry=True,
        random_state=0,
    ).fit(X, np.repeat([1, 0], [60, 150]), pictures=[rng.random((50, 60))])
    assert len(fitted.stages_) > 1
    scores, total = fitted.decision_function(X), np.zeros(len(X))
    alive = np.ones(len(X), dtype=bool)
    for stage in fitted.stages_:
        own = stage.classifier.estimator_.decision_function(X.reshape(len(X), -1))
        total += own - stage.classifier.threshold_
        alive &= total >= 0
    assert 0 < alive.sum() < len(X)
    np.testing.assert_array_equal(scores >= 0, alive)
    np.testing.assert_allclose(scores[alive], total[alive], atol=1e-9)


def test_mine_draws_only_what_passes():
    rng = np.random.RandomState(0)
    mine = PictureMine([rng.random_sample((40, 50)), rng.random_sample((30, 30))], (8, 8))
    assert mine.n_windows > 33 * 43
    bright = mine.draw(50, lambda w: w.brightness()[0] > 0.52, 0.01, rng)
    assert bright.shape == (50, 8, 8)
    assert bright.mean(axis=(1, 2)).min() > 0.519
    none = mine.draw(5, lambda w: np.zeros(len(w), dtype=bool), 0.5, rng)
    assert none.shape == (0, 8, 8)
    assert mine.scanned == mine.n_windows  # it looked at all before it gave up


def test_varied_windows_stay_near_the_original():
    rng = np.random.default_rng(0)
    X = objects(4, rng)
    still = varied_windows(X, 2, turn=0, shift=0, zoom=0, blur=0, random_state=0)
    for copy, original in zip(still, np.concatenate([X, X]), strict=True):
        same = np.allclose(copy, original) or np.allclose(copy, original[:, ::-1])
        assert same
    varied = varied_windows(X, 3, random_state=1)
    assert varied.shape == (12, SIZE, SIZE)
    again = varied_windows(X, 3, random_state=1)
    np.testing.assert_array_equal(varied, again)
    # The band is still dark above bright.
    assert (varied[:, 2:4, 3:7].mean(axis=(1, 2)) < varied[:, 5:8, 3:7].mean(axis=(1, 2))).all()


def test_pasted_windows_do_not_overlap():
    picture, boxes = paste_windows(
        np.zeros((80, 90)), np.ones((6, 9, 9)), 4, sizes=(12, 20), random_state=0
    )
    covered = sum(width * height for _, _, width, height in boxes)
    assert len(boxes) == 4
    assert (picture > 0.99).sum() == covered


def test_windows_of_a_file(tmp_path):
    rng = np.random.default_rng(0)
    stacks = {
        f"{part}_{name}": rng.integers(0, 255, (n, 6, 7), dtype=np.uint8)
        for part, name, n in (("train", "faces", 3), ("train", "nonfaces", 5), ("test", "faces", 2))
    }
    path = tmp_path / "set.npz"
    np.savez(path, **stacks)
    windows, y = face_windows(path, part="train")
    assert windows.shape == (8, 6, 7)
    assert y.tolist() == [1] * 3 + [0] * 5
    np.testing.assert_array_equal(windows[:3] * 255, stacks["train_faces"])
    assert face_windows(path, part="train", shape=(5, 5))[0].shape == (8, 5, 5)
    with pytest.raises(ValueError, match="test_others"):
        face_windows(path, part="test")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        face_windows(tmp_path / "none.npz")
    np.savez(path, faces=np.zeros((2, 4, 4)), others=np.zeros((2, 4, 4)))
    with pytest.raises(ValueError, match="8 bits"):
        face_windows(path)
