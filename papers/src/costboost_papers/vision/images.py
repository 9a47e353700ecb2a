"""Windows to train on, with and without a face, from scikit-image or from a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import skimage
from scipy.ndimage import affine_transform, gaussian_filter
from skimage.util import img_as_float64
from sklearn.utils import check_random_state

from costboost._typing import AnyArray, Floats, Ints

# Pictures that come with scikit-image itself, without download, and show no face from the front.
# The man in "camera" is seen from the side; "chelsea" is a cat.
BACKGROUNDS = (
    "brick", "camera", "chelsea", "clock", "coffee", "coins", "grass", "gravel",
    "hubble_deep_field", "immunohistochemistry", "moon", "page", "rocket", "stereo_motorcycle",
    "text",
)  # fmt: skip

# Pictures are scaled down step by step, up to the largest factor, and windows cut from each size.
_STEP, _LARGEST_CUT = 1.2, 6.0


def grey(image: AnyArray) -> Floats:
    """An image of any kind as grey values in [0, 1], (h, w)."""
    pixels = np.asarray(image)
    if pixels.ndim == 3:
        pixels = skimage.color.rgb2gray(pixels[..., :3])
    return np.asarray(img_as_float64(pixels), dtype=np.float64)


def face_windows(source: str | Path | None = None, part: str = "train") -> tuple[Floats, Ints]:
    """Grey windows with a face and without, (n, h, w), and their labels.

    They are those of scikit-image, or of an ``.npz`` file with stacks of grey images of 8 bits,
    ``train_faces`` and ``train_nonfaces``, or ``test_...`` for the other ``part``.
    """
    if source is None:
        windows = np.asarray(skimage.data.lfw_subset(), dtype=np.float64)
        return windows, np.repeat(np.array([1, 0], dtype=np.intp), len(windows) // 2)
    with np.load(source) as content:
        names = [f"{part}_faces", f"{part}_nonfaces"]
        missing = [name for name in names if name not in content]
        if missing:
            raise ValueError(
                f"The file {source} has no stack named {missing[0]!r}; it has "
                f"{sorted(content.files)}. Rename its stacks, or name another part=."
            )
        stacks = [content[name] for name in names]
    for name, stack in zip(names, stacks, strict=True):
        if stack.ndim != 3 or stack.dtype != np.uint8:
            raise ValueError(
                f"{name} of {source} must be a stack of grey images of 8 bits, (n, h, w); got "
                f"{stack.dtype} of shape {stack.shape}."
            )
    y = np.repeat(np.array([1, 0], dtype=np.intp), [len(stack) for stack in stacks])
    return np.concatenate(stacks) / 255.0, y


def background_pictures(pictures: Sequence[str] = BACKGROUNDS) -> list[AnyArray]:
    """Pictures without a face that come with scikit-image."""
    data = skimage.data
    found = (getattr(data, name)() for name in pictures)
    return [picture[0] if isinstance(picture, tuple) else picture for picture in found]


def background_windows(
    n_windows: int, shape: tuple[int, int] = (25, 25), random_state: Any = None
) -> Floats:
    """Windows cut out of these pictures at random places and in random sizes."""
    rng = check_random_state(random_state)
    pictures = [grey(picture) for picture in background_pictures()]
    h, w = shape
    cuts = np.empty((n_windows, h, w))
    for k, picture in enumerate(pictures):
        levels = picture_levels(picture, shape)
        rows = np.arange(k, n_windows, len(pictures))
        for row, which in zip(rows, rng.randint(len(levels), size=len(rows)), strict=True):
            level = levels[which]
            top = rng.randint(level.shape[0] - h + 1)
            left = rng.randint(level.shape[1] - w + 1)
            cuts[row] = level[top : top + h, left : left + w]
    return cuts


def picture_levels(picture: Floats, shape: tuple[int, int]) -> list[Floats]:
    """The picture and smaller copies of it, as long as a window fits."""
    levels, factor = [picture], _STEP
    while factor <= _LARGEST_CUT and (np.round(np.divide(picture.shape, factor)) >= shape).all():
        levels.append(scaled(picture, factor))
        factor *= _STEP
    return levels


def scaled(picture: Floats, factor: float) -> Floats:
    """The picture, smaller by a factor."""
    if factor == 1.0:
        return picture
    shape = tuple(round(length / factor) for length in picture.shape)
    return np.asarray(skimage.transform.resize(picture, shape, anti_aliasing=True))


def varied_windows(
    windows: AnyArray,
    n_copies: int = 1,
    *,
    turn: float = 8.0,
    shift: float = 0.05,
    zoom: float = 0.1,
    blur: float = 1.0,
    random_state: Any = None,
) -> Floats:
    """Copies of windows as another camera might have seen them."""
    # Every copy is mirrored with probability one half, turned, shifted, made larger or smaller, and
    # blurred, each by a random amount. Pixels beyond the border repeat those of the border.
    rng = check_random_state(random_state)
    stack = np.asarray(windows, dtype=np.float64)
    h, w = stack.shape[1:]
    centre = np.array([(h - 1) / 2.0, (w - 1) / 2.0])
    copies = np.empty((n_copies, *stack.shape))
    for place in np.ndindex(n_copies, len(stack)):
        angle = np.deg2rad(rng.uniform(-turn, turn))
        size = 1.0 + rng.uniform(-zoom, zoom)
        turned = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) / size
        if rng.random_sample() < 0.5:
            turned[:, 1] *= -1.0
        offset = centre - turned @ centre + rng.uniform(-shift, shift, 2) * (h, w)
        seen = affine_transform(stack[place[1]], turned, offset, order=1, mode="nearest")
        copies[place] = gaussian_filter(seen, rng.uniform(0.0, blur), mode="nearest")
    return copies.reshape(-1, h, w)


def paste_windows(
    picture: AnyArray,
    windows: AnyArray,
    n_windows: int,
    *,
    sizes: tuple[int, int] = (40, 80),
    random_state: Any = None,
) -> tuple[Floats, list[tuple[int, int, int, int]]]:
    """A picture with some windows pasted into it, to try a detector on."""
    rng = check_random_state(random_state)
    resize = skimage.transform.resize
    pasted = np.array(picture, dtype=np.float64)
    height, width = pasted.shape
    boxes: list[tuple[int, int, int, int]] = []
    for row in rng.choice(len(windows), n_windows, replace=False):
        for _ in range(100):
            h = int(rng.randint(sizes[0], sizes[1] + 1))
            w = round(h * windows.shape[2] / windows.shape[1])
            top, left = int(rng.randint(height - h)), int(rng.randint(width - w))
            if all(
                left + w <= x or x + a <= left or top + h <= y or y + b <= top
                for x, y, a, b in boxes
            ):
                pasted[top : top + h, left : left + w] = resize(windows[row], (h, w), order=1)
                boxes.append((left, top, w, h))
                break
    return pasted, boxes
