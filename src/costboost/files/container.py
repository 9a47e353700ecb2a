"""The container of a model file: a line with a hash, sizes, a manifest in JSON, packed numbers.

::

    costboost model 2 <SHA-256 of all that follows, in hexadecimal>
    <bytes of the manifest> <bytes of the state> <bytes of the arrays>
    <the manifest><the state and the arrays, packed by zlib>

Nothing here knows what a model is. Sizes are bounded before a byte is unpacked, values of JSON are
counted before they are parsed, and the same content gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from costboost._utils import replaced
from costboost.errors import ModelFileError

FORMAT = 2
_HEAD = re.compile(rb"costboost model (\d{1,9}) ([0-9a-f]{64})\n")
_SIZES = re.compile(rb"(\d{1,12}) (\d{1,12}) (\d{1,12})\n")
# Bytes that may be packed as tightly as they can: less than starting Python takes.
_FREE = 2**20


@dataclass(frozen=True)
class Limits:
    """What a file may ask of memory and time before anything in it is believed.

    Attributes
    ----------
    total : int
        Bytes of the file, and of its content once it is unpacked.
    json : int
        Bytes of the manifest, and of the state.
    values : int
        Values in the manifest, and in the state, counted before they are parsed.
    seconds : float
        Seconds that it would take to make all values of the state, each written out wherever it is
        used, and to decide on a row: an estimate by numbers of values, trees and rules.
    ratio : int
        How many times larger than its packed form the content may be, beyond 1 MiB.

    Notes
    -----
    These limits bound the nodes of all trees as well: a node takes 49 bytes of the content, so
    2 GiB hold 43 million, and a file of 10 MB at most 1.6 million. Whatever the limits, values are
    nested at most 64 deep, trees 1,000 deep; a classifier has at most 2^21 columns and 2^20
    classes, asks for at most 1,024 threads, and its sets of categories have at most 2^24 words.
    `load` and `inspect` of any file of at most 10 MB end within 5 seconds of one processor and
    500 MB above what the process had; ``tests/files/test_hostile.py`` measures it.
    """

    total: int = 2**31
    json: int = 2**24
    values: int = 500_000
    seconds: float = 2.0
    ratio: int = 8


LIMITS = Limits()


def to_json(value: Any) -> bytes:
    """A value as JSON of one form: no NaN, ASCII only."""
    return json.dumps(value, indent=1, allow_nan=False, ensure_ascii=True).encode("ascii")


def parse_json(data: bytes, where: str, limits: Limits = LIMITS) -> Any:
    """Strict JSON of bounded size: no NaN, no key twice."""
    # Every value but the first follows a bracket, a comma or a colon, so this counts at least all.
    count = sum(data.count(sign) for sign in (b",", b"[", b"{"))
    if len(data) > limits.json or count > limits.values:
        raise ModelFileError(
            f"{where} has {len(data)} bytes and about {count} values; at most {limits.json} and "
            f"{limits.values} are allowed."
        )

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            raise ValueError("a key occurs twice in one object")
        return found

    def constant(name: str) -> Any:
        raise ValueError(f"{name} is not JSON")

    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=pairs, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{where} is not valid JSON: {error}") from error


def write_bytes(path: Path, data: bytes) -> Path:
    """Write a file in one step."""
    with replaced(path) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return path


def pack(manifest: Mapping[str, Any], state: bytes, arrays: bytes) -> bytes:
    """The bytes of a file."""
    head = to_json(manifest)
    for data, what in ((head, "The manifest"), (state, "The state")):
        parse_json(data, what)  # a file that is written can be read
    content = state + arrays
    packed = zlib.compress(content, 6)
    if len(content) > max(LIMITS.ratio * len(packed), _FREE):
        packed = zlib.compress(content, 0)  # packed tightly, it would look like a bomb
    rest = b"%d %d %d\n" % (len(head), len(state), len(arrays)) + head + packed
    if max(len(content), len(rest)) > LIMITS.total:
        raise ModelFileError(f"The model is larger than {LIMITS.total} bytes, which a file may be.")
    digest = hashlib.sha256(rest).hexdigest()
    return f"costboost model {FORMAT} {digest}\n".encode() + rest


def read(
    path: str | os.PathLike[str], limits: Limits = LIMITS
) -> tuple[dict[str, Any], bytes, memoryview]:
    """The manifest, the state and the arrays of a file."""
    manifest, packed, n_state, n_arrays = opened(path, limits)
    size = n_state + n_arrays
    if n_state > limits.json or size > min(limits.total, max(limits.ratio * len(packed), _FREE)):
        raise ModelFileError(
            f"The content would grow from {len(packed)} to {size} bytes, of which {n_state} are "
            f"JSON; at most {limits.ratio} times, {limits.total} and {limits.json} are allowed."
        )
    unpacker = zlib.decompressobj()
    try:
        content = unpacker.decompress(packed, size + 1)
    except zlib.error as error:
        raise ModelFileError(f"The content cannot be unpacked: {error}.") from error
    if len(content) != size or not unpacker.eof or unpacker.unused_data:
        raise ModelFileError(f"The content does not have the {size} bytes that are declared.")
    return manifest, content[:n_state], memoryview(content)[n_state:]


def opened(
    path: str | os.PathLike[str], limits: Limits = LIMITS
) -> tuple[dict[str, Any], memoryview, int, int]:
    """The manifest, the packed content, and the sizes of its two parts."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size  # pipes and devices have none
        if size > limits.total:
            raise ModelFileError(f"It has {size} bytes; {limits.total} are allowed.")
        data = file.read(size)
    head = _HEAD.match(data)
    if head is None and not data.startswith(b"PK"):
        raise ModelFileError("This is not a costboost model file.")
    if head is None or int(head[1]) != FORMAT:
        again = "Fit the model again and save it."
        number, remedy = (int(head[1]), "Update costboost.") if head else (1, again)
        raise ModelFileError(f"It has format {number}, this costboost reads {FORMAT}. {remedy}")
    rest = memoryview(data)[head.end() :]
    if hashlib.sha256(rest).hexdigest() != head[2].decode():
        raise ModelFileError(
            "It is cut off, or was changed after it was written: its SHA-256 is not that of its "
            "first line."
        )
    sizes = _SIZES.match(rest)
    if sizes is None:
        raise ModelFileError("The second line must have the sizes of the parts.")
    n_manifest, n_state, n_arrays = map(int, sizes.groups())
    end = sizes.end() + n_manifest
    if end > len(rest):
        raise ModelFileError(f"The manifest must have {n_manifest} bytes.")
    manifest = parse_json(bytes(rest[sizes.end() : end]), "The manifest", limits)
    if not isinstance(manifest, dict):
        raise ModelFileError("The manifest must be an object.")
    return {**manifest, "format": FORMAT}, rest[end:], n_state, n_arrays
