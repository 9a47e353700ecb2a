"""Haar features equal scikit-image's; the cascade rejects in stages; the detector finds the bar."""

from __future__ import annotations

import numpy as np
import pytest

from costboost_papers.vision import (
    BACKGROUNDS,
    FEATURE_TYPES,
    Box,
    CascadeClassifier,
    HaarFeatures,
    SlidingWindowDetector,
    Windows,
    background_windows,
    cut_windows,
    face_windows,
    grey,
    suppress,
)

pytest.importorskip("skimage", reason='needs scikit-image: pip install "costboost[experiments]"')

SIZE = 12


def windows_with_bars(n, rng):
    """Half of the windows have a dark band above a bright one; the others are noise."""
    X = 0.3 * rng.random((2 * n, SIZE, SIZE))
    X[:n, 2:5, 2:10] -= 0.3
    X[:n, 6:9, 2:10] += 0.3
    return X, np.repeat([1, 0], n)


@pytest.fixture(scope="module")
def cascade():
    rng = np.random.default_rng(0)
    X, y = windows_with_bars(60, rng)
    # The pool has the band the other way round too, and shifted ones.
    pool = 0.3 * rng.random((600, SIZE, SIZE))
    pool[:200, 6:9, 2:10] += 0.3
    pool[200:300, :3, :] += 0.3
    return CascadeClassifier(
        features=HaarFeatures(max_features=150),
        rounds=(1, 5, 10),
        detection_rate=0.95,
        min_negatives=5,
        n_trials=5,
        random_state=0,
    ).fit(X, y, pool=pool)


# --- features -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FEATURE_TYPES)
def test_features_equal_those_of_scikit_image(kind):
    from skimage.feature import haar_like_feature
    from skimage.transform import integral_image

    X = np.random.default_rng(0).random((4, 7, 9))
    ours = HaarFeatures([kind], max_features=None, normalize=False).fit_transform(X)
    theirs = [haar_like_feature(integral_image(x), 0, 0, 9, 7, kind) for x in X]
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_a_choice_of_features_inside_a_picture():
    """As scikit-image has them on the window cut out: its own offsets go wrong at the borders."""
    from skimage.feature import haar_like_feature
    from skimage.transform import integral_image

    picture = np.random.default_rng(1).random((20, 24))
    haar = HaarFeatures(max_features=40, normalize=False, random_state=3)
    haar.fit(np.zeros((1, 8, 10)))
    windows = Windows.of_image(picture, (8, 10), step=4)
    assert len(windows) == 16
    for row, top, left in zip(haar.compute(windows), windows.tops, windows.lefts, strict=True):
        cut = integral_image(picture[top : top + 8, left : left + 10])
        kinds, coordinates = haar.feature_type_, haar.feature_coord_
        theirs = haar_like_feature(cut, 0, 0, 10, 8, kinds, coordinates)
        np.testing.assert_allclose(row, theirs, atol=1e-10)


def test_brightness_and_contrast_do_not_matter_and_flat_windows_have_no_features():
    X = np.random.default_rng(0).random((3, 8, 8))
    X[2] = 0.7
    haar = HaarFeatures(max_features=30, random_state=0).fit(X)
    np.testing.assert_allclose(haar.transform(X), haar.transform(3.0 * X + 5.0), atol=1e-9)
    assert not haar.transform(X)[2].any()


@pytest.mark.parametrize(
    ("haar", "X", "words"),
    [
        (HaarFeatures(["type-5"]), np.zeros((1, 4, 4)), "feature_types"),
        (HaarFeatures(max_features=0), np.zeros((1, 4, 4)), "max_features"),
        (HaarFeatures(), np.zeros((3, 16)), "stack of grey windows"),
        (HaarFeatures(), np.full((1, 4, 4), np.nan), "finite"),
    ],
)
def test_bad_features(haar, X, words):
    with pytest.raises(ValueError, match=words):
        haar.fit(X)


# --- cascade --------------------------------------------------------------------------------


def test_cascade_on_new_windows(cascade):
    X, y = windows_with_bars(100, np.random.default_rng(5))
    found = cascade.predict(X) == 1
    assert found[y == 1].mean() > 0.85
    assert found[y == 0].mean() < 0.1


def test_stages_report_their_rates(cascade):
    detected = false_alarms = 1.0
    for stage in cascade.stages_:
        detected *= stage.detection_rate
        false_alarms *= stage.false_alarm_rate
        assert stage.total_detection_rate == pytest.approx(detected)
        assert stage.total_false_alarm_rate == pytest.approx(false_alarms)
        assert stage.detection_rate >= 0.95
        assert len(stage.columns) <= stage.classifier.estimator_.n_estimators
    assert len(cascade.report().splitlines()) == len(cascade.stages_) + 2
    assert cascade.stop_ in cascade.report()


def test_later_stages_learn_from_false_alarms_of_the_earlier(cascade):
    counts = [stage.n_negatives for stage in cascade.stages_]
    assert len(counts) > 1
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == 660  # its own negatives and the pool


def test_decision_says_how_far_a_window_got(cascade):
    X, _ = windows_with_bars(50, np.random.default_rng(6))
    scores = cascade.decision_function(X)
    windows, alive = Windows.of_stack(X), np.arange(len(X))
    for k, stage in enumerate(cascade.stages_):
        own = stage.scores(cascade.features_, windows.take(alive))
        left = len(cascade.stages_) - 1 - k
        lost = scores[alive[own < 0]]
        assert ((-left - 1 <= lost) & (lost <= -left)).all()
        alive = alive[own >= 0]
    assert set(np.flatnonzero(scores >= 0)) == set(alive)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rounds": ()}, "rounds"),
        ({"detection_rate": 1.5}, "detection_rate"),
        ({"false_alarm_rate": None}, "false_alarm_rate"),
        ({"min_negatives": 0}, "min_negatives"),
    ],
)
def test_bad_cascades(options, words):
    X, y = windows_with_bars(5, np.random.default_rng(0))
    with pytest.raises(ValueError, match=words):
        CascadeClassifier(**options).fit(X, y)


def test_cascade_needs_two_classes_and_windows_of_one_size(cascade):
    X, y = windows_with_bars(5, np.random.default_rng(0))
    with pytest.raises(ValueError, match="two classes"):
        CascadeClassifier().fit(X, np.zeros_like(y))
    with pytest.raises(ValueError, match="shape seen in fit"):
        cascade.predict(X[:, 1:])


# --- detector -------------------------------------------------------------------------------


def picture_with_a_bar(scale):
    """Noise with the object at row 30, column 44, enlarged."""
    rng = np.random.default_rng(9)
    one = np.zeros((SIZE, SIZE))
    one[2:5, 2:10] -= 0.3
    one[6:9, 2:10] += 0.3
    picture = 0.4 + 0.1 * rng.random((90, 110))
    side = scale * SIZE
    picture[30 : 30 + side, 44 : 44 + side] += np.kron(one, np.ones((scale, scale)))
    return picture


@pytest.mark.parametrize("scale", [1, 3])
def test_detector_finds_the_object_at_its_size(cascade, scale):
    detector = SlidingWindowDetector(cascade, min_neighbours=2)
    boxes = detector.detect(picture_with_a_bar(scale))
    side = scale * SIZE
    truth = Box(44, 30, side, side, 0.0)
    near = [suppress([truth, box._replace(score=-1.0)], 0.4) for box in boxes]
    assert any(len(kept) == 1 for kept in near)
    assert boxes == sorted(boxes, key=lambda box: -box.neighbours)


def test_suppression_prefers_agreement():
    crowd = [Box(10 + i, 10, 20, 20, 0.1 * i) for i in range(3)]
    kept = suppress([Box(80, 80, 20, 20, 9.0), *crowd])
    assert [(box.left, box.neighbours) for box in kept] == [(12, 3), (80, 1)]
    assert suppress([]) == []


def test_draw(cascade):
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    boxes = [Box(1, 2, 3, 4, 0.5), Box(5, 6, 7, 8, 0.1)]
    assert SlidingWindowDetector(cascade).draw(np.zeros((20, 20)), boxes, ax) is ax
    assert [patch.get_width() for patch in ax.patches] == [3, 7]


@pytest.mark.parametrize(
    "options", [{"scale_factor": 1.0}, {"step": 0}, {"overlap": 0}, {"min_neighbours": 0}]
)
def test_bad_detectors(cascade, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        SlidingWindowDetector(cascade, **options)


# --- images ---------------------------------------------------------------------------------


def test_faces_of_scikit_image():
    windows, y = face_windows()
    assert windows.shape == (200, 25, 25)
    assert y.tolist() == [1] * 100 + [0] * 100
    smaller, _ = face_windows(shape=(12, 10))
    assert smaller.shape == (200, 12, 10)


def test_faces_of_a_folder(tmp_path):
    from skimage.io import imsave

    rng = np.random.default_rng(0)
    for name, n in (("people", 3), ("walls", 2)):
        (tmp_path / name).mkdir()
        for i in range(n):
            pixels = rng.integers(0, 255, (30, 40, 3), dtype=np.uint8)
            imsave(tmp_path / name / f"{i}.png", pixels, check_contrast=False)
    windows, y = face_windows(tmp_path, faces="people", others="walls", shape=(16, 16))
    assert windows.shape == (5, 16, 16)
    assert y.tolist() == [1, 1, 1, 0, 0]
    assert 0 <= windows.min() < windows.max() <= 1
    with pytest.raises(FileNotFoundError, match="faces"):
        face_windows(tmp_path)
    (tmp_path / "faces").mkdir()
    with pytest.raises(FileNotFoundError, match="no image"):
        face_windows(tmp_path)


def test_backgrounds_come_with_scikit_image():
    cut = background_windows(2 * len(BACKGROUNDS), shape=(16, 16), random_state=0)
    assert cut.shape == (2 * len(BACKGROUNDS), 16, 16)
    assert "astronaut" not in BACKGROUNDS


def test_bad_images():
    with pytest.raises(ValueError, match="at least as large"):
        cut_windows([np.zeros((10, 10))], 2)
    with pytest.raises(ValueError, match="got none"):
        cut_windows([], 2)
    with pytest.raises(ValueError, match="one image at a time"):
        grey(np.zeros((2, 2, 2, 2)))


def test_missing_scikit_image_names_the_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "skimage.data", None)
    with pytest.raises(ImportError, match=r"costboost\[experiments\]"):
        face_windows()
