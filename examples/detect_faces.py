"""Train a cascade of face detectors and look for faces in pictures.

    python examples/detect_faces.py faces.png cbcl_faces.npz

Needs the project ``papers``. The second argument is a
file of face windows with the parts train and test, such as the MIT CBCL set (see
`costboost_papers.vision.face_windows`); training on its 2,429 faces takes four minutes. Without it
the 100 faces of scikit-image are used, which make a poor detector. The two portraits and the
pictures in which test faces are pasted have no part in the training.
"""

from __future__ import annotations

import sys

import matplotlib
import numpy as np
from matplotlib.cbook import get_sample_data
from matplotlib.image import imread
from skimage.data import astronaut

from costboost_papers.vision import (
    HELD_OUT,
    SlidingWindowDetector,
    background_pictures,
    face_cascade,
    face_free_pictures,
    face_windows,
    grey,
    paste_windows,
)


def pictures(source: str | None) -> dict[str, np.ndarray]:
    """Two portraits, and test faces pasted into pictures that were kept from training."""
    with get_sample_data("grace_hopper.jpg") as stream:
        found = {"astronaut": astronaut(), "Grace Hopper": imread(stream)}
    if source is not None:
        windows, y = face_windows(source, part="test")
        held = zip(HELD_OUT, background_pictures(HELD_OUT), strict=True)
        for seed, (name, picture) in enumerate(held):
            pasted, _ = paste_windows(grey(picture), windows[y == 1], 6, random_state=seed)
            found[f"six test faces on {name}"] = pasted
    return found


def main(path: str = "faces.png", source: str | None = None) -> None:
    """Train, detect, draw."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    small = {}
    if source is None:
        few = face_free_pictures()[::3]  # as they are and in the negative, none of them turned
        small = {"rounds": (5, 10, 20, 40), "max_features": 1000, "pictures": few}
    cascade = face_cascade(source, **small)
    print(cascade.report())

    detector = SlidingWindowDetector(cascade, min_size=24, scale_factor=1.2, min_neighbours=4)
    found = pictures(source)
    figure, axes = plt.subplots(
        1, len(found), figsize=(3.2 * len(found), 3.6), layout="constrained"
    )
    for ax, (name, picture) in zip(axes, found.items(), strict=True):
        boxes = detector.detect(picture)
        print(f"{name}: {len(boxes)} boxes")
        for box in boxes[:8]:
            print(
                f"  at column {box.left:.0f}, row {box.top:.0f}, size {box.width:.0f}: "
                f"{box.neighbours} windows agree"
            )
        detector.draw(picture, boxes[:8], ax)
        ax.set_title(name, fontsize="small")
    figure.savefig(path, dpi=80)
    print(f"the boxes are drawn in {path}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
