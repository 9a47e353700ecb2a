"""Detection of objects in images: Haar-like features, an attentional cascade, a sliding window."""

from costboost_papers.vision.cascade import (
    HELD_OUT,
    CascadeClassifier,
    face_cascade,
    face_free_pictures,
)
from costboost_papers.vision.detector import Box, SlidingWindowDetector, suppress
from costboost_papers.vision.features import HaarFeatures, Windows
from costboost_papers.vision.haar_stump import HaarStump
from costboost_papers.vision.images import (
    background_pictures,
    background_windows,
    face_windows,
    grey,
    paste_windows,
    varied_windows,
)

__all__ = [
    "HELD_OUT",
    "Box",
    "CascadeClassifier",
    "HaarFeatures",
    "HaarStump",
    "SlidingWindowDetector",
    "Windows",
    "background_pictures",
    "background_windows",
    "face_cascade",
    "face_free_pictures",
    "face_windows",
    "grey",
    "paste_windows",
    "suppress",
    "varied_windows",
]
