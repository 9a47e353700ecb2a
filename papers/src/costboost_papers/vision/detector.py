"""Objects in a whole picture: the cascade on every window of every size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib import pyplot
from matplotlib.patches import Rectangle

from costboost._typing import AnyArray, Floats
from costboost_papers.vision.cascade import CascadeClassifier
from costboost_papers.vision.features import Windows
from costboost_papers.vision.images import grey, scaled


class Box(NamedTuple):
    """A detection: pixels from the upper left corner of the picture, and how sure it is."""

    left: float
    top: float
    width: float
    height: float
    score: float
    neighbours: int = 1


def suppress(boxes: Sequence[Box], overlap: float = 0.3) -> list[Box]:
    """Non-maximum suppression: of boxes that overlap, the one that most others agree with."""
    # A box counts how many boxes overlap it by ``overlap`` or more, intersection over union. The
    # box with the highest count (the higher score among equals) is kept and those it overlaps are
    # dropped, again and again.
    if not boxes:
        return []
    table = np.array([box[:5] for box in boxes], dtype=np.float64)
    # A row of the matrix of overlaps at a time: thousands of boxes make a large matrix.
    counts = np.array([(_overlap(table, i) >= overlap).sum() for i in range(len(table))])
    left = np.ones(len(boxes), dtype=np.bool_)
    kept = []
    for i in np.lexsort((-table[:, 4], -counts)):
        if left[i]:
            kept.append(boxes[i]._replace(neighbours=int(counts[i])))
            left &= _overlap(table, i) < overlap
    return kept


def _overlap(table: Floats, i: int) -> Floats:
    """Intersection over union of box i and every box, (n,)."""
    left, top, width, height = table[:, :4].T
    across = np.minimum(left + width, left[i] + width[i]) - np.maximum(left, left[i])
    down = np.minimum(top + height, top[i] + height[i]) - np.maximum(top, top[i])
    shared = np.maximum(across, 0.0) * np.maximum(down, 0.0)
    return np.asarray(shared / (width * height + width[i] * height[i] - shared))


@dataclass
class SlidingWindowDetector:
    """Boxes around the objects in a picture, by a cascade on windows of all places and sizes."""

    # The picture is scaled down step by step until it is no larger than a window; at each size one
    # integral image serves all windows, and later stages of the cascade see only those that passed
    # the earlier ones. An object is found several times, slightly shifted and scaled: `suppress`
    # keeps one box of each cluster, and clusters of fewer than ``min_neighbours`` boxes are taken
    # for false alarms.

    cascade: CascadeClassifier
    _: KW_ONLY
    min_size: int = 0
    scale_factor: float = 1.2
    step: int = 1
    min_neighbours: int = 3

    def __post_init__(self) -> None:
        if self.scale_factor <= 1:
            raise ValueError(f"scale_factor must be a number above 1; got {self.scale_factor!r}.")

    def detect(self, image: AnyArray) -> list[Box]:
        """The objects in a picture."""
        found = suppress(self.candidates(image))
        return [box for box in found if box.neighbours >= self.min_neighbours]

    def candidates(self, image: AnyArray) -> list[Box]:
        """Every window that passes the cascade, before suppression."""
        picture, (h, w) = grey(image), self.cascade.shape_
        boxes: list[Box] = []
        for scale in self.scales(picture.shape):
            level = scaled(picture, scale)
            windows = Windows.of_image(level, (h, w), self.step)
            scores = self.cascade.score_windows(windows)
            down, across = (a / b for a, b in zip(picture.shape, level.shape, strict=True))
            for i in np.flatnonzero(scores >= 0):
                left, top = float(windows.lefts[i] * across), float(windows.tops[i] * down)
                boxes.append(Box(left, top, w * across, h * down, float(scores[i])))
        return boxes

    def scales(self, shape: Sequence[int]) -> list[float]:
        """By how much a picture of this shape is scaled down, for each size looked for."""
        h, w = self.cascade.shape_
        scale, scales = max(1.0, self.min_size / h), []
        while scale <= min(shape[0] / h, shape[1] / w):
            scales.append(scale)
            scale *= self.scale_factor
        return scales

    def draw(self, image: AnyArray, boxes: Sequence[Box], ax: Any = None) -> Any:
        """The picture with its boxes."""
        if ax is None:
            _, ax = pyplot.subplots(layout="constrained")
        ax.imshow(image, cmap="gray" if np.ndim(image) == 2 else None)
        ax.set_axis_off()
        look = {"facecolor": "black", "alpha": 0.5, "edgecolor": "none", "pad": 1}
        for box in boxes:
            corner = (box.left - 0.5, box.top - 0.5)
            ax.add_patch(
                Rectangle(corner, box.width, box.height, fill=False, edgecolor="lime", linewidth=2)
            )
            text = f"{box.score:.2f} ({box.neighbours})"
            at = (box.left + 2, box.top - 4)
            ax.text(*at, text, color="lime", fontsize="small", clip_on=True, bbox=look)
        return ax
