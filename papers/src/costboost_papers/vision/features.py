"""Haar-like features of image windows, read off integral images.

An integral image holds, at each pixel, the sum of everything above and to the left of it, so the
sum over any rectangle takes four look-ups whatever its size. `Windows` are windows of one size in
one or many images, with the integral images they lie in; `HaarFeatures` chooses features and
computes any of them for any windows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import skimage
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state

from costboost._typing import AnyArray, Floats, Ints

# The rectangles of a feature are added up with alternating signs.
_SIGNS = np.array([-1.0, 1.0, -1.0, 1.0])

# Standard deviations of pixels below this share of the mean brightness are rounding noise.
FLAT = 1e-6


def integral(images: AnyArray) -> Floats:
    """Integral images with a zero row above and a zero column to the left, (m, h + 1, w + 1)."""
    m, h, w = images.shape
    sums = np.zeros((m, h + 1, w + 1))
    np.cumsum(images, axis=1, out=sums[:, 1:, 1:])
    np.cumsum(sums[:, 1:, 1:], axis=2, out=sums[:, 1:, 1:])
    return sums


def corner_points(rectangles: Ints) -> tuple[Ints, Floats, Ints]:
    """Features as weighted sums of corner points of the integral image."""
    # Rectangles side by side share corners, so nine points serve for four rectangles.
    d = len(rectangles)
    r0, c0, r1, c1 = np.moveaxis(rectangles, 2, 0)  # (d, 4) each
    rows = np.concatenate([r0, r0, r1, r1], axis=1)
    columns = np.concatenate([c0, c1, c0, c1], axis=1)
    used = (r1 > r0) & (c1 > c0)
    signs = np.concatenate([_SIGNS, -_SIGNS, -_SIGNS, _SIGNS]) * np.tile(used, 4)
    place = rows * (columns.max() + 1) + columns
    order = np.argsort(place, axis=1, kind="stable")
    place, rows, columns, signs = (
        np.take_along_axis(table, order, axis=1) for table in (place, rows, columns, signs)
    )
    # Points at the same place are summed into the first of them.
    new = np.concatenate([np.ones((d, 1), dtype=bool), place[:, 1:] != place[:, :-1]], axis=1)
    slot = np.cumsum(new, axis=1) - 1
    feature = np.broadcast_to(np.arange(d)[:, None], slot.shape)
    sums = np.zeros((d, 16))
    np.add.at(sums, (feature, slot), signs)
    at = np.zeros((d, 16, 2), dtype=np.intp)
    at[feature[new], slot[new]] = np.column_stack([rows[new], columns[new]])
    kept = np.argsort(sums == 0.0, axis=1, kind="stable")[:, :9]
    return (
        np.ascontiguousarray(np.take_along_axis(at, kept[:, :, None], axis=1)),
        np.ascontiguousarray(np.take_along_axis(sums, kept, axis=1)),
        (sums != 0.0).sum(axis=1).astype(np.intp),
    )


@dataclass(frozen=True, eq=False)
class Windows:
    """Windows of one size in a stack of images, by their integral images."""

    shape: tuple[int, int]
    sums: Floats
    squares: Floats
    image: Ints
    tops: Ints
    lefts: Ints

    @classmethod
    def of_stack(cls, X: ArrayLike) -> Windows:
        """Windows that are whole images, (n, h, w)."""
        pixels = np.asarray(X, dtype=np.float64)
        n, h, w = pixels.shape
        nowhere = np.zeros(n, dtype=np.intp)
        squares = integral(pixels**2)
        return cls((h, w), integral(pixels), squares, np.arange(n), nowhere, nowhere)

    @classmethod
    def of_image(cls, image: AnyArray, shape: tuple[int, int], step: int = 1) -> Windows:
        """Windows at every ``step``-th pixel of one grey image, both ways."""
        pixels = np.asarray(image, dtype=np.float64)[None]
        tops, lefts = np.meshgrid(
            *(np.arange(0, pixels.shape[k + 1] - shape[k] + 1, step) for k in (0, 1)), indexing="ij"
        )
        nowhere = np.zeros(tops.size, dtype=np.intp)
        squares = integral(pixels**2)
        return cls(shape, integral(pixels), squares, nowhere, tops.ravel(), lefts.ravel())

    def __len__(self) -> int:
        return len(self.tops)

    def take(self, rows: AnyArray) -> Windows:
        """Some of the windows, in the same images."""
        return replace(self, image=self.image[rows], tops=self.tops[rows], lefts=self.lefts[rows])

    def pixels(self) -> Floats:
        """The pixels of each window, (n, h, w), from the differences of the integral image."""
        h, w = self.shape
        out = np.empty((len(self), h, w))
        for k, (i, top, left) in enumerate(zip(self.image, self.tops, self.lefts, strict=True)):
            table = self.sums[i, top : top + h + 1, left : left + w + 1]
            out[k] = np.diff(np.diff(table, axis=0), axis=1)
        return out

    def brightness(self) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the pixels of each window."""
        i, r0, c0 = self.image, self.tops, self.lefts
        r1, c1 = r0 + self.shape[0], c0 + self.shape[1]
        mean, square = (
            (table[i, r1, c1] - table[i, r0, c1] - table[i, r1, c0] + table[i, r0, c0])
            / (self.shape[0] * self.shape[1])
            for table in (self.sums, self.squares)
        )
        return mean, np.sqrt(np.maximum(square - mean**2, 0.0))

    def normalisers(self) -> tuple[Floats, Floats]:
        """What is taken off each window's pixels, and what they are then multiplied by."""
        means, deviations = self.brightness()
        flat = deviations <= FLAT * np.maximum(np.abs(means), np.finfo(float).tiny)
        return means, np.where(flat, 0.0, 1.0 / np.where(flat, 1.0, deviations))


class HaarFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Haar-like features of grey image windows: differences of rectangle sums."""

    # The features are those of `skimage.feature.haar_like_feature`: two, three or four rectangles
    # side by side, added up with alternating signs. A window of 25 by 25 pixels has 190,736 of
    # them; a random choice of ``max_features`` is kept. As in Viola and Jones (2004), a window with
    # pixels x of mean m and standard deviation s is first brought to :math:`(x - m)/s`, which the
    # integral images give without touching the pixels; a window without contrast has features 0.

    def __init__(
        self, max_features: int | None = 2000, normalize: bool = True, random_state: Any = None
    ) -> None:
        self.max_features = max_features
        self.normalize = normalize
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Choose the features; only the size of the windows, (n, h, w), matters."""
        _, h, w = np.shape(X)
        coordinates, kinds = skimage.feature.haar_like_feature_coord(w, h)
        if self.max_features is not None and self.max_features < len(kinds):
            rng = check_random_state(self.random_state)
            chosen = np.sort(rng.choice(len(kinds), self.max_features, replace=False))
            coordinates, kinds = coordinates[chosen], kinds[chosen]
        self.shape_ = (int(h), int(w))
        self.feature_coord_, self.feature_type_ = coordinates, kinds
        # First row, first column, row and column behind the last; of up to four rectangles.
        self.rectangles_ = np.zeros((len(kinds), 4, 4), dtype=np.intp)
        for j, feature in enumerate(coordinates):
            for k, ((r0, c0), (r1, c1)) in enumerate(feature):
                self.rectangles_[j, k] = r0, c0, r1 + 1, c1 + 1
        r0, c0, r1, c1 = np.moveaxis(self.rectangles_, 2, 0)
        self.excess_ = ((r1 - r0) * (c1 - c0)) @ _SIGNS  # pixels added less pixels taken off
        self.points_, self.weights_, self.counts_ = corner_points(self.rectangles_)
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """The features of windows, (n, h, w)."""
        return self.compute(Windows.of_stack(X))

    def compute(self, windows: Windows, columns: Ints | slice = slice(None)) -> Floats:
        """The features of windows that lie in larger images, or some of them, side by side."""
        if windows.shape != self.shape_:
            raise ValueError(
                f"windows of {type(self).__name__} must have the shape seen in fit, "
                f"{self.shape_}; got {windows.shape}. Resize them."
            )
        _, height, width = windows.sums.shape
        corner = (windows.image * height + windows.tops) * width + windows.lefts
        places = self.points_[columns] @ np.array([width, 1])
        weights, sums = self.weights_[columns], windows.sums.ravel()
        out = np.zeros((len(windows), len(places)))
        for p in range(weights.shape[1]):
            out += weights[:, p] * sums[corner[:, None] + places[:, p]]
        if self.normalize:
            means, scales = windows.normalisers()
            out = (out - means[:, None] * self.excess_[columns]) * scales[:, None]
        return out
