"""Kernels by numba, whose disk cache may fail without anybody hearing of it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

__all__ = ["jit"]


def jit(function: Any, **options: Any) -> Any:
    """The function compiled at its first call; from the disk, if it was compiled before."""
    from numba import njit  # imported here: most of the library never needs it

    try:
        kernel = njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # no folder may be written to, or the function has no source file
        return njit(nogil=True, **options)(function)
    if hasattr(kernel, "_cache"):  # not with NUMBA_DISABLE_JIT
        kernel._cache = _QuietCache(kernel._cache)
    return kernel


class _QuietCache:
    """numba's cache of a kernel; what it cannot read is compiled again."""

    # A truncated file raises whatever unpickling does, a full or read-only disk an OSError.

    def __init__(self, cache: Any) -> None:
        self.cache = cache

    def load_overload(self, *arguments: Any) -> Any:
        """Compiled code, or None."""
        try:
            return self.cache.load_overload(*arguments)
        except Exception:
            with suppress(Exception):
                self.cache.flush()  # or the index would never be written again
            return None

    def save_overload(self, *arguments: Any) -> None:
        """Keep compiled code, if that is possible."""
        with suppress(Exception):
            self.cache.save_overload(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.cache, name)
