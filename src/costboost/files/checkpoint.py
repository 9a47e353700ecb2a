"""Finished parts of a long computation on disk, so that a killed one goes on where it stopped.

A checkpoint is a container of `costboost.files.container`: no code, nothing believed before it is
checked. Each finished part is a container of its own inside. The file is replaced in one step
after each part, so at any moment it holds whole parts only.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from costboost.errors import ModelFileError
from costboost.files import container
from costboost.files.model import reading
from costboost.files.state import ARRAYS, STATE, Decoder, Encoder

__all__ = ["Checkpoint", "digest", "versions"]

_KIND = "checkpoint"
_PACKAGES = ("costboost", "lightgbm", "numpy", "scikit-learn", "scipy", "xgboost")


def versions() -> dict[str, str]:
    """Versions of the packages that results depend on."""
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def digest(value: Any, where: str) -> str:
    """A hash of anything that a model file can hold."""
    encoder = Encoder()
    found = hashlib.sha256(container.to_json([encoder.value([value], where), encoder.objects]))
    found.update(encoder.data)
    for name, data in sorted(encoder.members.items()):
        found.update(name.encode() + hashlib.sha256(data).digest())
    return found.hexdigest()


class Checkpoint:
    """A file that keeps finished parts by name."""

    def __init__(self, path: str | os.PathLike[str], asked: Mapping[str, str], owner: str) -> None:
        self.path = Path(path)
        self.asked = dict(asked)
        self.owner = owner
        self._parts: dict[str, bytes] = {}
        if self.path.exists():
            self._parts = reading(self.path, self._read)
        self._write()

    # -- parts ----------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """Names of the parts that are finished."""
        return list(self._parts)

    def get(self, name: str) -> Any:
        """A finished part, rebuilt and checked."""

        def rebuilt() -> Any:
            _, members = container.unpack(self._parts[name])
            return Decoder(members, frozenset()).root()[0]

        return reading(self.path, rebuilt)

    def put(self, name: str, value: Any) -> None:
        """Keep a finished part; it is on disk when this returns."""
        encoder = Encoder()
        items = encoder.value([value], name)
        encoder.objects.append({"class": "Members", "items": items})
        members = {STATE: container.to_json({"objects": encoder.objects}), ARRAYS: encoder.data}
        self._parts[name] = container.pack({"class": _KIND}, {**encoder.members, **members})
        self._write()

    def remove(self) -> None:
        """The work is done: the file goes."""
        self.path.unlink(missing_ok=True)

    # -- the file -------------------------------------------------------------------------------

    def _read(self) -> dict[str, bytes]:
        try:
            manifest, members = container.read(self.path)
            if manifest.get("class") != _KIND:
                raise ModelFileError(f"it holds a {manifest.get('class')!r:.60}.")
            before, names = manifest.get("asked"), manifest.get("parts")
            if not isinstance(before, dict) or not isinstance(names, dict):
                raise ModelFileError("it does not say what it is a checkpoint of.")
            parts = {name: members[member] for name, member in names.items()}
        except (ModelFileError, KeyError, TypeError) as error:
            raise ModelFileError(
                f"this is not a checkpoint of {self.owner}: {error} Delete the file, or choose "
                "another path."
            ) from error
        topics = sorted({*before, *self.asked})
        changed = [topic for topic in topics if before.get(topic) != self.asked.get(topic)]
        if changed:
            raise ModelFileError(
                f"this checkpoint of {self.owner} is of another fit: other {', '.join(changed)}. "
                "Delete the file to start anew, or choose another path."
            )
        return parts

    def _write(self) -> None:
        names = {name: f"parts/{i:05d}.zip" for i, name in enumerate(self._parts)}
        manifest = {"class": _KIND, "asked": self.asked, "parts": names}
        members = {names[name]: data for name, data in self._parts.items()}
        # One fixed name: a killed run leaves at most this file, and the next write takes it over.
        temporary = self.path.with_name(f".{self.path.name}.tmp")
        try:
            try:
                with open(temporary, "wb") as file:
                    file.write(container.pack(manifest, members))
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(temporary, self.path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
        except OSError as error:
            kept = "What was finished before is still in it. " if self.path.is_file() else ""
            raise OSError(
                error.errno,
                f"The checkpoint of {self.owner} cannot be written: {error.strerror or error}. "
                f"{kept}Free the disk, or choose another path",
                str(self.path),
            ) from error
