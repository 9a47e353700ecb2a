"""Train a cascade of face detectors on 100 faces and look for the face in a picture.

    python examples/detect_faces.py faces.png

Needs scikit-image and matplotlib (pip install "costboost[experiments]") and takes a minute or two.
The picture, `skimage.data.astronaut`, has no part in the training. A folder of your own windows
(`costboost.vision.face_windows(folder)`) with thousands of faces makes a far better detector.
"""

from __future__ import annotations

import sys
import time

import matplotlib
import numpy as np
from skimage.data import astronaut

from costboost import AsymmetricAdaBoostClassifier
from costboost.learners import Stump
from costboost.vision import (
    CascadeClassifier,
    HaarFeatures,
    SlidingWindowDetector,
    background_windows,
    face_windows,
)


def train(n_pool: int = 60_000, rounds: tuple[int, ...] = (10, 30, 60, 100)) -> CascadeClassifier:
    """A cascade from the faces of scikit-image, their mirror images, and cuts of its pictures."""
    windows, y = face_windows()
    mirrored = windows[y == 1][:, :, ::-1]
    windows = np.concatenate([windows, mirrored])
    y = np.concatenate([y, np.ones(len(mirrored), dtype=y.dtype)])
    return CascadeClassifier(
        AsymmetricAdaBoostClassifier(estimator=Stump(max_bins=16)),
        features=HaarFeatures(max_features=1500),
        rounds=rounds,
        detection_rate=0.95,
        max_negatives=2000,
        n_trials=6,
        random_state=0,
    ).fit(windows, y, pool=background_windows(n_pool, random_state=1).astype(np.float32))


def main(path: str = "faces.png") -> None:
    """Train, detect, draw."""
    matplotlib.use("Agg")
    start = time.perf_counter()
    cascade = train()
    print(cascade.report())
    print(f"trained in {time.perf_counter() - start:.0f} s")

    picture = astronaut()
    # A portrait: the face is not small. With smaller windows, false alarms outnumber it.
    detector = SlidingWindowDetector(cascade, min_size=60)
    start = time.perf_counter()
    boxes = detector.detect(picture)
    print(f"scanned in {time.perf_counter() - start:.1f} s: {len(boxes)} clusters of boxes")
    for box in boxes[:5]:
        print(
            f"  at column {box.left:.0f}, row {box.top:.0f}, size {box.width:.0f}: "
            f"{box.neighbours} windows agree, score {box.score:.2f}"
        )
    ax = detector.draw(picture, boxes[:1])
    ax.figure.savefig(path, dpi=80)
    print(f"the surest box is drawn in {path}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
