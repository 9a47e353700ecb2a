"""The container of a model file: a zip whose manifest names, measures and hashes its members.

Nothing here knows what a model is. `write` makes the same bytes from the same members and replaces
a file in one step. `read` believes nothing: sizes are bounded before a byte is unpacked, and values
of JSON are counted before they are parsed.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from costboost._utils import replaced
from costboost.errors import ModelFileError

FORMAT = 2
KIND = "costboost model"
MANIFEST = "manifest.json"

_NAME = re.compile(r"[a-z0-9_]+(/[a-z0-9_]+)*\.[a-z0-9]+")
_END = struct.Struct("<4s4H2LH")  # end of central directory
_DATE = (1980, 1, 1, 0, 0, 0)  # the oldest that a zip can hold: bytes must not depend on the clock


@dataclass(frozen=True)
class Limits:
    """What a file may ask of memory and time before anything in it is believed.

    Attributes
    ----------
    total : int
        Bytes of the file, and of all members together once they are unpacked.
    json : int
        Bytes of a member in JSON.
    values : int
        Values in a member in JSON; and values of the state if each object were written out wherever
        it is used, in tens.
    members : int
        Number of members.
    ratio : int
        How many times larger than its packed form a member may be...
    free : int
        ...if it is larger than this many bytes.
    """

    total: int = 2**31
    json: int = 2**24
    values: int = 500_000
    members: int = 1000
    ratio: int = 8
    free: int = 2**20


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


# -- writing ------------------------------------------------------------------------------------


def write(
    path: str | os.PathLike[str], manifest: Mapping[str, Any], members: Mapping[str, bytes]
) -> Path:
    """Write a container, in one step: after a crash the old file is still there, whole."""
    return write_bytes(Path(path), pack(manifest, members))


def write_bytes(path: Path, data: bytes) -> Path:
    """Write a file in one step, and make it last."""
    with replaced(path) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    with suppress(OSError):  # folders cannot be synchronised everywhere
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    return path


def pack(manifest: Mapping[str, Any], members: Mapping[str, bytes]) -> bytes:
    """The bytes of a container; the same for the same content."""
    table = {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in sorted(members.items())
    }
    head = to_json({**manifest, "kind": KIND, "format": FORMAT, "members": table})
    parse_json(head, MANIFEST)  # a file that is written can be read
    if len(table) > LIMITS.members:
        raise ModelFileError(
            f"The model needs {len(table)} members; a model file may have {LIMITS.members}."
        )
    if len(head) + sum(len(data) for data in members.values()) > LIMITS.total:
        raise ModelFileError(f"The model is larger than {LIMITS.total} bytes, which a file may be.")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in [(MANIFEST, head), *sorted(members.items())]:
            info = zipfile.ZipInfo(name, _DATE)
            info.create_system = 3
            info.external_attr = 0o644 << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            if len(data) > LIMITS.free and len(zlib.compress(data, 6)) * LIMITS.ratio <= len(data):
                info.compress_type = zipfile.ZIP_STORED  # packed, it would look like a bomb
            archive.writestr(info, data, compresslevel=6)
    return buffer.getvalue()


# -- reading ------------------------------------------------------------------------------------


def read(
    path: str | os.PathLike[str], limits: Limits = LIMITS
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The manifest and all members of a file, checked against each other."""
    return unpack(_bytes_of(path, limits), limits)


def read_manifest(path: str | os.PathLike[str], limits: Limits = LIMITS) -> dict[str, Any]:
    """The manifest alone; members are measured, not unpacked."""
    with _archive(_bytes_of(path, limits), limits) as archive:
        return _manifest(archive, limits)


def _bytes_of(path: str | os.PathLike[str], limits: Limits) -> bytes:
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ModelFileError("This is not a regular file.")
        if status.st_size > limits.total:
            raise ModelFileError(
                f"The file has {status.st_size} bytes; {limits.total} are allowed."
            )
        return file.read(status.st_size)


def unpack(data: bytes, limits: Limits = LIMITS) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The manifest and all members of a container in memory."""
    with _archive(data, limits) as archive:
        manifest = _manifest(archive, limits)
        members = {}
        for name, declared in manifest["members"].items():
            content = _member(archive, name, declared["bytes"])
            digest = hashlib.sha256(content).hexdigest()
            if digest != declared["sha256"]:
                raise ModelFileError(
                    f"Member {name} has the SHA-256 {digest}, but the manifest declares "
                    f"{declared['sha256']}: the file was changed after it was written."
                )
            members[name] = content
        return manifest, members


def _archive(data: bytes, limits: Limits) -> zipfile.ZipFile:
    """The zip, if its directory is as `write` makes it: at the end, complete and small."""
    if len(data) < _END.size or data[:2] != b"PK":
        raise ModelFileError("This is not a costboost model file: it is not a zip.")
    tag, disk, first, here, count, size, start, comment = _END.unpack(data[-_END.size :])
    if tag != b"PK\x05\x06" or comment or disk or first or here != count:
        raise ModelFileError("The file is cut off, or has something behind its end.")
    if start + size + _END.size != len(data):
        raise ModelFileError("The directory of the zip does not lie where the file says.")
    if count > limits.members + 1:
        raise ModelFileError(f"The file has {count} members; at most {limits.members} are allowed.")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OverflowError) as error:
        raise ModelFileError(f"The directory of the zip is damaged: {error}") from error
    _check_directory(archive.infolist(), len(data), limits)
    return archive


def _check_directory(entries: list[zipfile.ZipInfo], file_size: int, limits: Limits) -> None:
    seen = set()
    for entry in entries:
        name = entry.filename
        if not _NAME.fullmatch(name):
            raise ModelFileError(
                f"Member {name!r} has a name that is not allowed: small letters, digits and "
                "underscores, folders by a slash, one ending; no absolute or parent path."
            )
        if name in seen:
            raise ModelFileError(f"Member {name} occurs twice.")
        seen.add(name)
        if entry.flag_bits or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ModelFileError(
                f"Member {name} is packed in a way that is not allowed: plain or deflated, not "
                "encrypted."
            )
        if entry.file_size > max(limits.ratio * entry.compress_size, limits.free):
            raise ModelFileError(
                f"Member {name} would grow from {entry.compress_size} to {entry.file_size} bytes; "
                f"more than {limits.ratio} times is not allowed."
            )
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > limits.total:
        raise ModelFileError(f"The members take {unpacked} bytes; the limit is {limits.total}.")
    if sum(entry.compress_size for entry in entries) > file_size:
        raise ModelFileError("Members of the zip overlap.")


def _member(archive: zipfile.ZipFile, name: str, size: int) -> bytes:
    """The content of a member, of which no more than the declared bytes are unpacked."""
    try:
        with archive.open(name) as file:
            content = file.read(size + 1)
            if len(content) == size:
                file.read(1)  # at the end the checksum is compared
    except (
        zipfile.BadZipFile, zlib.error, struct.error, ValueError, EOFError, OSError,
        NotImplementedError, OverflowError, IndexError,
    ) as error:  # fmt: skip
        raise ModelFileError(f"Member {name} cannot be unpacked: {error}") from error
    if len(content) != size:
        raise ModelFileError(f"Member {name} does not have the {size} bytes that are declared.")
    return content


def _manifest(archive: zipfile.ZipFile, limits: Limits) -> dict[str, Any]:
    sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    if MANIFEST not in sizes:
        raise ModelFileError(f"This is not a costboost model file: it has no {MANIFEST}.")
    size = sizes.pop(MANIFEST)
    if size > limits.json:
        raise ModelFileError(f"{MANIFEST} has {size} bytes; the limit is {limits.json}.")
    manifest = parse_json(_member(archive, MANIFEST, size), MANIFEST, limits)
    if not isinstance(manifest, dict) or manifest.get("kind") != KIND:
        raise ModelFileError(f"This is not a costboost model file: {MANIFEST} does not say so.")
    number = manifest.get("format")
    if type(number) is not int or number < 1:
        raise ModelFileError(f"The format number in {MANIFEST} must be 1 or more; got {number!r}.")
    if number != FORMAT:
        old = number < FORMAT
        remedy = "Fit the model again and save it." if old else "Update costboost to read it."
        raise ModelFileError(
            f"The file has format {number}, which this version of costboost does not read: it "
            f"reads format {FORMAT}. {remedy}"
        )
    table = manifest.get("members")
    if not isinstance(table, dict):
        raise ModelFileError(f"{MANIFEST} has no table of members.")
    for name, declared in table.items():
        fine = isinstance(declared, dict) and set(declared) == {"bytes", "sha256"}
        if not fine or type(declared["bytes"]) is not int or type(declared["sha256"]) is not str:
            raise ModelFileError(
                f"{MANIFEST} must declare bytes and SHA-256 of member {name}; got "
                f"{declared!r:.100}."
            )
    missing, unexpected = sorted(set(table) - set(sizes)), sorted(set(sizes) - set(table))
    if missing or unexpected:
        what = f"lacks {missing[0]}" if missing else f"has the unexpected member {unexpected[0]}"
        raise ModelFileError(f"The file {what}: its members are not those that it declares.")
    for name, declared in table.items():
        if sizes[name] != declared["bytes"]:
            raise ModelFileError(
                f"Member {name} has {sizes[name]} bytes, but the manifest declares "
                f"{declared['bytes']}."
            )
    return manifest
