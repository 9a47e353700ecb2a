"""Universal Binary JSON, as XGBoost writes it; bounded by the bytes that are there.

Arrays of one type become numpy arrays of that type, all else Python objects.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from costboost.errors import ModelFileError

__all__ = ["parse"]

_MAX_DEPTH = 32
_NUMBERS = {
    b"i": struct.Struct(">b"),
    b"U": struct.Struct(">B"),
    b"I": struct.Struct(">h"),
    b"l": struct.Struct(">i"),
    b"L": struct.Struct(">q"),
    b"d": struct.Struct(">f"),
    b"D": struct.Struct(">d"),
}
_LENGTHS = (b"i", b"U", b"I", b"l", b"L")
_ARRAYS = {b"i": "i1", b"U": "u1", b"I": ">i2", b"l": ">i4", b"L": ">i8", b"d": ">f4", b"D": ">f8"}
_WORDS = {b"Z": None, b"T": True, b"F": False}


def parse(data: bytes, where: str) -> Any:
    """The value that the bytes hold, all of them."""
    reader = _Reader(data, where)
    value = reader.value(reader.take(1), 0)
    if reader.at != len(data):
        raise ModelFileError(f"{where} has {len(data) - reader.at} bytes behind its end.")
    return value


class _Reader:
    def __init__(self, data: bytes, where: str) -> None:
        self._data = data
        self._where = where
        self.at = 0

    def _fault(self, words: str) -> ModelFileError:
        return ModelFileError(f"{self._where} is not UBJSON: {words} at byte {self.at}.")

    def take(self, n: int) -> bytes:
        """The next bytes."""
        if n < 0 or n > len(self._data) - self.at:
            raise self._fault(f"{n} bytes are missing")
        self.at += n
        return self._data[self.at - n : self.at]

    def _length(self) -> int:
        marker = self.take(1)
        if marker not in _LENGTHS:
            raise self._fault(f"{marker!r} is not the type of a length")
        number = _NUMBERS[marker]
        length: int = number.unpack(self.take(number.size))[0]
        if length < 0:
            raise self._fault("a length is negative")
        return length

    def _text(self) -> str:
        raw = self.take(self._length())
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self._fault("text is not UTF-8") from error

    def value(self, marker: bytes, depth: int) -> Any:
        """The value behind a marker."""
        if depth > _MAX_DEPTH:
            raise self._fault(f"values are nested deeper than {_MAX_DEPTH}")
        if marker in _NUMBERS:
            number = _NUMBERS[marker]
            return number.unpack(self.take(number.size))[0]
        if marker in _WORDS:
            return _WORDS[marker]
        if marker == b"S":
            return self._text()
        if marker == b"[":
            return self._array(depth)
        if marker == b"{":
            return self._object(depth)
        raise self._fault(f"{marker!r} is not a type")

    def _array(self, depth: int) -> Any:
        marker = self.take(1)
        if marker == b"$":
            kind = self.take(1)
            if kind not in _ARRAYS or self.take(1) != b"#":
                raise self._fault(f"{kind!r} is not the type of an array")
            dtype = np.dtype(_ARRAYS[kind])
            raw = self.take(self._length() * dtype.itemsize)
            return np.frombuffer(raw, dtype).astype(dtype.newbyteorder("="))
        if marker == b"#":
            length = self._length()
            if length > len(self._data) - self.at:  # an item takes a byte or more
                raise self._fault(f"an array of {length} items cannot be here")
            return [self.value(self.take(1), depth + 1) for _ in range(length)]
        items = []
        while marker != b"]":
            items.append(self.value(marker, depth + 1))
            marker = self.take(1)
        return items

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self._data[self.at : self.at + 1] != b"}":
            key = self._text()
            if key in found:
                raise self._fault(f"the key {key!r:.40} occurs twice")
            found[key] = self.value(self.take(1), depth + 1)
        self.take(1)
        return found
