"""Haar features equal scikit-image's; cascades reject in stages; the detector finds the object."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from skimage.feature import haar_like_feature
from skimage.transform import integral_image

from costboost import AsymmetricAdaBoostClassifier, CSAdaBoostClassifier
from costboost_papers.vision import (
    Box,
    CascadeClassifier,
    HaarFeatures,
    HaarStump,
    SlidingWindowDetector,
    Windows,
    background_windows,
    face_windows,
    paste_windows,
    suppress,
    varied_windows,
)

SIZE = 10


def objects(n, rng):
    """A dark band above a bright one."""
    X = 0.4 + 0.3 * rng.random((n, SIZE, SIZE))
    X[:, 2:4, 1:9] -= 0.4
    X[:, 5:8, 1:9] += 0.4
    return X


def windows_of(n_objects, n_others, seed):
    """Objects, then noise, and their classes."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([objects(n_objects, rng), rng.random((n_others, SIZE, SIZE))])
    return X, np.repeat([1, 0], [n_objects, n_others])


def make(**options):
    """A cascade of a few features."""
    learner = HaarStump((SIZE, SIZE), 200, 16)
    model = AsymmetricAdaBoostClassifier({"fn": 2, "fp": 1}, estimator=learner)
    return CascadeClassifier(model, detection_rate=0.95, random_state=0, **options)


@pytest.fixture(scope="module")
def mined():
    """Thresholds on positives set aside, hard negatives from pictures."""
    rng = np.random.default_rng(0)
    X, y = windows_of(80, 80, rng)
    pictures = [rng.random((50, 60)), np.kron(rng.random((12, 14)), np.ones((4, 4)))]
    options = {"max_negatives": 200, "min_negatives": 10, "validation": 0.25, "copies": 1}
    return make(rounds=(2, 5, 10), **options).fit(X, y, pictures=pictures)


# --- features -------------------------------------------------------------------------------


def test_features_equal_those_of_scikit_image():
    """All of a window, and some inside a picture, where its own offsets go wrong at the borders."""
    rng = np.random.default_rng(0)
    X, picture = rng.random((4, 7, 9)), rng.random((20, 24))
    ours = HaarFeatures(max_features=None, normalize=False).fit_transform(X)
    theirs = [haar_like_feature(integral_image(x), 0, 0, 9, 7) for x in X]
    np.testing.assert_allclose(ours, theirs, atol=1e-12)
    haar = HaarFeatures(max_features=40, normalize=False, random_state=3)
    haar.fit(np.zeros((1, 8, 10)))
    windows = Windows.of_image(picture, (8, 10), step=4)
    assert len(windows) == 16
    for row, top, left in zip(haar.compute(windows), windows.tops, windows.lefts, strict=True):
        cut = integral_image(picture[top : top + 8, left : left + 10])
        theirs = haar_like_feature(cut, 0, 0, 10, 8, haar.feature_type_, haar.feature_coord_)
        np.testing.assert_allclose(row, theirs, atol=1e-10)


def test_brightness_and_contrast_do_not_matter_and_flat_windows_have_no_features():
    X = np.random.default_rng(0).random((3, 8, 8))
    X[2] = 0.7
    haar = HaarFeatures(max_features=30, random_state=0).fit(X)
    np.testing.assert_allclose(haar.transform(X), haar.transform(3.0 * X + 5.0), atol=1e-9)
    assert not haar.transform(X)[2].any()


# --- cascades -------------------------------------------------------------------------------


def test_new_windows_are_told_apart_and_stages_report_their_rates(mined):
    X, y = windows_of(100, 100, 5)
    found = mined.predict(X) == 1
    assert found[y == 1].mean() > 0.85 and found[y == 0].mean() < 0.1
    rates = np.array([(stage.detection_rate, stage.false_alarm_rate) for stage in mined.stages_])
    np.testing.assert_allclose(rates.cumprod(axis=0), [stage[-2:] for stage in mined.stages_])
    assert rates[:, 0].min() >= 0.95
    # 20 of the 80 are set aside, with a copy each: 40 set the thresholds.
    assert mined.stages_[0].n_positives == 2 * 60
    assert len(mined.report().splitlines()) == len(rates) + 2 and mined.stop_ in mined.report()


def test_scores_are_sums_over_the_stages_and_say_how_far_a_window_got():
    X, y = windows_of(60, 150, 0)
    X[:60] = 0.5 * X[:60] + 0.5 * np.random.default_rng(1).random((60, SIZE, SIZE))
    fitted = make(rounds=(1, 1, 2), min_negatives=2, validation=0.25)
    fitted.fit(X, y, pictures=[np.random.default_rng(2).random((50, 60))])
    assert len(fitted.stages_) > 1
    assert min(stage.detection_rate for stage in fitted.stages_) >= 0.95
    scores, total = fitted.decision_function(X), np.zeros(len(X))
    alive = np.ones(len(X), dtype=bool)
    for k, stage in enumerate(fitted.stages_):
        total += stage.classifier.decision_function(X.reshape(len(X), -1)) - stage.threshold
        left = len(fitted.stages_) - 1 - k
        lost = scores[alive & (total < 0)]
        assert ((-left - 1 <= lost) & (lost <= -left)).all()
        alive &= total >= 0
    assert 0 < alive.sum() < len(X)
    np.testing.assert_array_equal(scores >= 0, alive)
    np.testing.assert_allclose(scores[alive], total[alive], atol=1e-9)


def test_without_pictures_the_given_negatives_are_used_up():
    X, y = windows_of(60, 200, 0)
    fitted = make(rounds=(2, 5, 10), min_negatives=5).fit(X, y)
    counts = [stage.n_negatives for stage in fitted.stages_]
    assert counts[0] == 200 and counts == sorted(counts, reverse=True)
    assert fitted.predict(X)[y == 1].mean() > 0.8


# --- detector -------------------------------------------------------------------------------


def test_a_planted_object_is_found(mined):
    rng = np.random.default_rng(3)
    picture = np.kron(rng.random((10, 12)), np.ones((8, 8)))
    planted, truth = paste_windows(picture, objects(5, rng), 1, sizes=(24, 25), random_state=4)
    left, top, width, height = truth[0]
    detector = SlidingWindowDetector(mined, min_size=20)
    assert not detector.detect(picture)
    (box,) = detector.detect(planted)
    assert abs(box.left + box.width / 2 - left - width / 2) < 0.3 * width
    assert abs(box.top + box.height / 2 - top - height / 2) < 0.3 * height
    ax = Figure().subplots()
    assert detector.draw(planted, [box, Box(5, 6, 7, 8, 0.1)], ax) is ax
    assert [patch.get_width() for patch in ax.patches] == [box.width, 7]


def test_suppression_prefers_agreement():
    crowd = [Box(10 + i, 10, 20, 20, 0.1 * i) for i in range(3)]
    kept = suppress([Box(80, 80, 20, 20, 9.0), *crowd])
    assert [(box.left, box.neighbours) for box in kept] == [(12, 3), (80, 1)]
    assert suppress([]) == []


# --- images ---------------------------------------------------------------------------------


def test_windows_of_scikit_image_and_of_a_file(tmp_path):
    windows, y = face_windows()
    assert windows.shape == (200, 25, 25) and y.tolist() == [1] * 100 + [0] * 100
    assert background_windows(30, shape=(16, 16), random_state=0).shape == (30, 16, 16)
    sizes = {"train_faces": 3, "train_nonfaces": 5, "test_faces": 2}
    path, rng = tmp_path / "set.npz", np.random.default_rng(0)
    stacks = {name: rng.integers(0, 255, (n, 6, 7), np.uint8) for name, n in sizes.items()}
    np.savez(path, **stacks)
    windows, y = face_windows(path)
    assert windows.shape == (8, 6, 7) and y.tolist() == [1] * 3 + [0] * 5
    np.testing.assert_allclose(windows[0], stacks["train_faces"][0] / 255)
    with pytest.raises(ValueError, match="no stack named 'test_nonfaces'"):
        face_windows(path, part="test")
    np.savez(path, train_faces=np.zeros((2, 4, 4)), train_nonfaces=np.zeros((2, 4, 4)))
    with pytest.raises(ValueError, match="8 bits"):
        face_windows(path)


def test_varied_windows_stay_near_the_original_and_pasted_ones_apart():
    X = objects(4, np.random.default_rng(0))
    still = varied_windows(X, 2, turn=0, shift=0, zoom=0, blur=0, random_state=0)
    for copy, original in zip(still, np.concatenate([X, X]), strict=True):
        assert np.allclose(copy, original) or np.allclose(copy, original[:, ::-1])
    varied = varied_windows(X, 3, random_state=1)
    assert varied.shape == (12, SIZE, SIZE)
    # The band is still dark above bright.
    assert (varied[:, 2:4, 3:7].mean(axis=(1, 2)) < varied[:, 5:8, 3:7].mean(axis=(1, 2))).all()
    white = np.ones((6, 9, 9))
    picture, boxes = paste_windows(np.zeros((80, 90)), white, 4, sizes=(12, 20), random_state=0)
    assert len(boxes) == 4
    assert (picture > 0.99).sum() == sum(width * height for _, _, width, height in boxes)


def test_bad_arguments_are_named(mined):
    X, y = windows_of(5, 5, 0)
    for call, words in (
        (lambda: CascadeClassifier(CSAdaBoostClassifier()).fit(X, y), "estimator=HaarStump"),
        (lambda: make().fit(X.reshape(10, -1), y), "stack of grey"),
        (lambda: make().fit(X, np.zeros(10)), "two classes"),
        (lambda: SlidingWindowDetector(mined, scale_factor=1.0), "scale_factor"),
        (lambda: mined.predict(X[:, 1:]), "shape seen in fit"),
        (lambda: HaarFeatures(5).fit(X).transform(X[:, 1:]), "shape seen in fit"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
