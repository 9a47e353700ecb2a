"""A face detector from a set of face windows and from pictures without a face."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.datasets import load_sample_images

from costboost._typing import AnyArray
from costboost.algorithms import AsymmetricAdaBoostClassifier
from costboost_papers.vision.cascade import CascadeClassifier
from costboost_papers.vision.features import import_skimage
from costboost_papers.vision.haar_stump import HaarStump
from costboost_papers.vision.images import BACKGROUNDS, background_pictures, face_windows

__all__ = ["HELD_OUT", "face_cascade", "face_free_pictures"]

# Pictures without a face that are kept from training, to look for false alarms in.
HELD_OUT = ("brick", "coffee", "gravel")
_ROUNDS = (5, 10, 20, 40, 60, 80, 100, 120, 150, 200, 200, 200)


def face_free_pictures() -> list[AnyArray]:
    """Pictures without a face from scikit-image and scikit-learn."""
    # Each comes as it is, upside down and turned to the side, and as the negatives of these three.
    # Those named in ``HELD_OUT`` are left out.
    found = background_pictures([name for name in BACKGROUNDS if name not in HELD_OUT])
    found += list(load_sample_images().images)
    views = [view for picture in found for view in (picture, np.flipud(picture), np.rot90(picture))]
    return views + [import_skimage("util").invert(view) for view in views]


def face_cascade(
    source: str | Path | None = None,
    *,
    part: str | None = "train",
    pictures: Sequence[AnyArray] | None = None,
    rounds: Sequence[int] = _ROUNDS,
    max_features: int = 4000,
    random_state: int = 0,
) -> CascadeClassifier:
    """Train a cascade of face detectors."""
    # Each stage is Viola and Jones's asymmetric AdaBoost, for which a missed face costs twice a
    # false alarm, on a random choice of the Haar features of the window; its score is added to
    # those of the stages before. Every face comes with four varied copies; a fifth of the faces
    # sets the thresholds, at 99.5 % of them per stage; the negatives are false alarms of the
    # earlier stages.
    windows, y = face_windows() if source is None else face_windows(source, part=part)
    h, w = windows.shape[1:]
    model = AsymmetricAdaBoostClassifier(
        {"fn": 2, "fp": 1}, estimator=HaarStump((h, w), max_features)
    )
    cascade = CascadeClassifier(
        model,
        rounds=rounds,
        detection_rate=0.97 if source is None else 0.995,
        false_alarm_rate=1e-7,
        max_negatives=5000 if source is None else 8000,
        min_negatives=50,
        validation=0.2,
        copies=20 if source is None else 4,
        carry=True,
        random_state=random_state,
    )
    chosen = face_free_pictures() if pictures is None else pictures
    return cascade.fit(windows, y, pictures=chosen)
