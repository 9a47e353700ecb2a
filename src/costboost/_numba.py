"""Kernels: plain functions that numba compiles at their first call.

numba is imported then, so importing a kernel costs nothing. Its disk cache may fail without anybody
hearing of it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from types import CellType, FunctionType
from typing import Any

__all__ = ["Compiled", "compiled", "jit"]


def jit(function: Any, **options: Any) -> Any:
    """Compile a function at its first call, or read it from numba's cache."""
    from numba import njit  # imported here: most of the library never needs it

    try:
        kernel = njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # no folder can be written to, or the function has no source file
        return njit(cache=False, nogil=True, **options)(function)
    if hasattr(kernel, "_cache"):  # not with NUMBA_DISABLE_JIT
        # A truncated file raises whatever unpickling does, a full disk an OSError: numba compiles
        # again, and writes a new index where the old one cannot be read.
        cache = kernel._cache
        cache.load_overload = _ignoring_errors(cache.load_overload, then=cache.flush)
        cache.save_overload = _ignoring_errors(cache.save_overload)
    return kernel


def _ignoring_errors(action: Any, then: Any = lambda: None) -> Any:
    def attempt(*arguments: Any) -> Any:
        with suppress(Exception):
            return action(*arguments)
        with suppress(Exception):
            then()
        return None

    return attempt


class Compiled:
    """A plain function that numba compiles when it is first called."""

    # Other `Compiled` functions that it calls by name are compiled with it.

    def __init__(self, function: FunctionType, options: dict[str, Any]) -> None:
        self.function = function
        self.options = options
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        return self.dispatcher(*arguments)

    @cached_property
    def dispatcher(self) -> Any:
        """The function as numba sees it; made, not yet compiled, at first use."""
        plain = self.function
        code = plain.__code__
        # numba looks names up in the globals of the function, and must find its own kind there.
        names = {
            name: _as_numba(plain.__globals__[name])
            for name in code.co_names
            if name in plain.__globals__
        }
        cells = tuple(CellType(_as_numba(c.cell_contents)) for c in plain.__closure__ or ())
        scope = {**plain.__globals__, **names}
        twin = FunctionType(code, scope, plain.__name__, plain.__defaults__, cells or None)
        return jit(twin, **self.options)

    def __getstate__(self) -> dict[str, Any]:
        # Compiled code stays in its process: another one compiles for itself.
        return {name: value for name, value in vars(self).items() if name != "dispatcher"}


def _as_numba(value: Any) -> Any:
    return value.dispatcher if isinstance(value, Compiled) else value


def compiled(**options: Any) -> Callable[[Any], Compiled]:
    """Mark a function to be compiled by numba at its first call."""
    return lambda function: Compiled(function, options)
