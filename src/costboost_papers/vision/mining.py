"""Hard negatives: windows of pictures without an object that a cascade lets pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Bools, Floats
from costboost_papers.vision.features import Windows
from costboost_papers.vision.images import grey, picture_levels

__all__ = ["PictureMine"]

# How many times as many windows are looked at as the pass rate asks for, since it is an estimate.
_SPARE = 2.0


class PictureMine:
    """Pictures without an object, from which false alarms are drawn."""

    def __init__(self, pictures: Sequence[AnyArray], shape: tuple[int, int]) -> None:
        self.shape = shape
        self._levels = [
            level.astype(np.float32)
            for picture in pictures
            for level in picture_levels(grey(picture), shape)
        ]
        h, w = shape
        self._sizes = np.array(
            [(level.shape[0] - h + 1) * (level.shape[1] - w + 1) for level in self._levels]
        )
        self.n_windows = int(self._sizes.sum())
        self.scanned = 0

    def draw(
        self, wanted: int, passes: Callable[[Windows], Bools], rate: float, rng: Any
    ) -> Floats:
        """Windows that pass, (m, h, w) with m at most ``wanted``."""
        share = min(1.0, _SPARE * wanted / max(rate * self.n_windows, 1e-12))
        cuts = self._sample(share, passes, rng)
        while len(cuts) < wanted and share < 1.0:
            # Fewer pass than was thought: look at more.
            share = min(1.0, share * max(4.0, _SPARE * wanted / max(len(cuts), 1)))
            cuts = self._sample(share, passes, rng)
        return np.asarray(cuts[rng.permutation(len(cuts))[:wanted]], dtype=np.float64)

    def _sample(self, share: float, passes: Callable[[Windows], Bools], rng: Any) -> AnyArray:
        """The windows that pass, of a share of all."""
        found: list[AnyArray] = [np.empty((0, *self.shape), dtype=np.float32)]
        self.scanned = 0
        for level in self._levels:
            windows = Windows.of_image(level, self.shape)
            if share < 1.0:
                windows = windows.take(np.flatnonzero(rng.random_sample(len(windows)) < share))
            self.scanned += len(windows)
            found.append(_cut(level, windows.take(np.flatnonzero(passes(windows)))))
        return np.concatenate(found)


def _cut(level: AnyArray, windows: Windows) -> AnyArray:
    """The pixels of windows of one picture, (n, h, w)."""
    h, w = windows.shape
    views = np.lib.stride_tricks.sliding_window_view(level, (h, w))
    return np.asarray(views[windows.tops, windows.lefts])
