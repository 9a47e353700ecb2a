"""numpy arrays as bytes and back: no pickle, no memory before the size is known to be right."""

from __future__ import annotations

import base64
import binascii
import io
import math
from typing import Any

import numpy as np

from costboost._typing import AnyArray
from costboost.errors import ModelFileError

__all__ = ["array_from_npy", "array_to_npy", "inline", "is_plain", "outline"]

# Booleans, integers, floats, complex numbers, bytes, text, dates and durations.
_KINDS = "biufcSUMm"
_MAX_AXES = 32


def is_plain(array: AnyArray) -> bool:
    """Whether an array is made of bytes alone."""
    return array.dtype.kind in _KINDS and array.dtype.names is None and array.dtype.subdtype is None


def _dtype(name: Any, where: str) -> np.dtype[Any]:
    try:
        dtype = np.dtype(name) if isinstance(name, str) and len(name) < 40 else None
    except (TypeError, ValueError, SyntaxError) as error:
        raise ModelFileError(f"{where} has the unknown type {name!r}.") from error
    if dtype is None or dtype.kind not in _KINDS or dtype.str != name:
        raise ModelFileError(f"{where} has the type {name!r:.60}, which model files do not hold.")
    return dtype


def _shape(shape: Any, where: str) -> tuple[int, ...]:
    fine = isinstance(shape, (list, tuple)) and len(shape) <= _MAX_AXES
    if not fine or not all(type(n) is int and 0 <= n < 2**40 for n in shape):
        raise ModelFileError(f"{where} has the shape {shape!r:.60}, which no array can have.")
    return tuple(shape)


def _view(data: bytes, dtype: np.dtype[Any], shape: tuple[int, ...], where: str) -> AnyArray:
    """An array of its own from raw bytes, in C order."""
    expected = math.prod(shape) * dtype.itemsize
    if len(data) != expected:
        raise ModelFileError(
            f"{where} of shape {shape} and type {dtype} needs {expected} bytes; it has {len(data)}."
        )
    if dtype.kind == "b" and data.strip(b"\x00\x01"):
        raise ModelFileError(f"{where} has booleans that are neither 0 nor 1.")
    if dtype.kind == "U" and np.frombuffer(data, dtype.str[0] + "u4").max(initial=0) > 0x10FFFF:
        raise ModelFileError(f"{where} has text with characters that do not exist.")
    if not expected:
        return np.empty(shape, dtype)
    return np.frombuffer(data, dtype).reshape(shape).copy()


def inline(array: AnyArray) -> dict[str, Any]:
    """A small array, or a scalar as an array without axes, as JSON."""
    raw = np.ascontiguousarray(array).tobytes()
    return {
        "type": array.dtype.str,
        "shape": list(array.shape),
        "data": base64.b64encode(raw).decode("ascii"),
    }


def outline(node: Any, where: str) -> AnyArray:
    """The array that `inline` was given."""
    if not isinstance(node, dict) or set(node) != {"type", "shape", "data"}:
        raise ModelFileError(f"{where} must have type, shape and data; got {node!r:.80}.")
    try:
        data = base64.b64decode(node["data"], validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise ModelFileError(f"{where} has data that are not base64: {error}") from error
    return _view(data, _dtype(node["type"], where), _shape(node["shape"], where), where)


def array_to_npy(array: AnyArray) -> bytes:
    """An array in numpy's own format, which `numpy.load` reads."""
    buffer = io.BytesIO()
    np.lib.format.write_array(
        buffer, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False
    )
    return buffer.getvalue()


def array_from_npy(data: bytes, where: str) -> AnyArray:
    """The array of a ``.npy`` member; its header is believed only if the bytes agree."""
    buffer = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(buffer)
        if version != (1, 0):
            raise ValueError(f"version {version} is not (1, 0)")
        shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(buffer)
    except Exception as error:  # numpy's parser raises whatever a bad header makes of it
        raise ModelFileError(f"{where} is not an array in numpy's format: {error}") from error
    if is_fortran:
        raise ModelFileError(f"{where} is in Fortran order; model files hold C order.")
    dtype = _dtype(dtype.str, where)
    return _view(data[buffer.tell() :], dtype, _shape(shape, where), where)
