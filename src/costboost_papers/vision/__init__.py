"""Detection of objects in images: Haar-like features, an attentional cascade, a sliding window.

Needs scikit-image: ``pip install "costboost[experiments]"``.
"""

from costboost_papers.vision.cascade import (
    HELD_OUT,
    CascadeClassifier,
    Stage,
    face_cascade,
    face_free_pictures,
)
from costboost_papers.vision.detector import Box, SlidingWindowDetector, suppress
from costboost_papers.vision.features import FEATURE_TYPES, HaarFeatures, Windows
from costboost_papers.vision.haar_stump import HaarRule, HaarStump
from costboost_papers.vision.images import (
    BACKGROUNDS,
    background_pictures,
    background_windows,
    cut_windows,
    face_windows,
    grey,
    paste_windows,
    varied_windows,
)

__all__ = [
    "BACKGROUNDS",
    "FEATURE_TYPES",
    "HELD_OUT",
    "Box",
    "CascadeClassifier",
    "HaarFeatures",
    "HaarRule",
    "HaarStump",
    "SlidingWindowDetector",
    "Stage",
    "Windows",
    "background_pictures",
    "background_windows",
    "cut_windows",
    "face_cascade",
    "face_free_pictures",
    "face_windows",
    "grey",
    "paste_windows",
    "suppress",
    "varied_windows",
]
