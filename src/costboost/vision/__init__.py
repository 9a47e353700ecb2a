"""Detection of objects in images: Haar-like features, an attentional cascade, a sliding window.

Needs scikit-image: ``pip install "costboost[experiments]"``.
"""

from costboost.vision.cascade import CascadeClassifier, Stage
from costboost.vision.detector import Box, SlidingWindowDetector, suppress
from costboost.vision.features import FEATURE_TYPES, HaarFeatures, Windows
from costboost.vision.haar_stump import HaarRule, HaarStump
from costboost.vision.images import (
    BACKGROUNDS,
    background_windows,
    cut_windows,
    face_windows,
    grey,
)

__all__ = [
    "BACKGROUNDS",
    "FEATURE_TYPES",
    "Box",
    "CascadeClassifier",
    "HaarFeatures",
    "HaarRule",
    "HaarStump",
    "SlidingWindowDetector",
    "Stage",
    "Windows",
    "background_windows",
    "cut_windows",
    "face_windows",
    "grey",
    "suppress",
]
