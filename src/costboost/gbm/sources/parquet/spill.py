"""The folder for quantised features: large enough, and removed, even if its process was killed."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

fcntl: Any = None
with suppress(ImportError):  # without such locks, folders of killed processes stay
    fcntl = import_module("fcntl")

__all__ = ["spill_bytes", "spill_folder"]

_PREFIX = "costboost-"


def spill_bytes(n_rows: int, n_features: int, max_bin: int) -> int:
    """Bytes on disk that quantised features may take; measured, and rounded up."""
    return n_rows * (n_features * (6 if max_bin <= 256 else 10) + 16) + 2**20


@contextmanager
def spill_folder(n_bytes: int, owner: str) -> Iterator[Path]:
    """A temporary folder with so much free space."""
    # XGBoost ends the process if the disk is full, so this is checked before. Folders that killed
    # processes have left are removed first.
    remedy = "Set the environment variable TMPDIR to a folder that has room and may be written"
    try:
        parent = Path(tempfile.gettempdir())
    except FileNotFoundError as error:
        raise OSError(errno.ENOENT, f"{owner}: {error.strerror}. {remedy}") from error
    if not parent.is_dir():
        raise OSError(
            errno.ENOENT, f"{owner} needs a folder for temporary files. {remedy}", str(parent)
        )
    _remove_stale(parent)
    free = shutil.disk_usage(parent).free
    if free < n_bytes:
        raise OSError(
            errno.ENOSPC,
            f"{owner} writes up to {n_bytes / 1e6:,.0f} MB of quantised features, and there are "
            f"{free / 1e6:,.0f} MB free. {remedy}",
            str(parent),
        )
    lock, handle = _locked(parent)
    folder = lock.with_suffix("")
    try:
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.unlink(missing_ok=True)
        os.close(handle)


def _locked(parent: Path) -> tuple[Path, int]:
    """A new lock file, held by this process until it ends, however it ends."""
    while True:
        handle, name = tempfile.mkstemp(prefix=_PREFIX, suffix=".lock", dir=parent)
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:  # nobody took it for a stale one before it was held
            return Path(name), handle
        os.close(handle)


def _remove_stale(parent: Path) -> None:
    """Remove the folders of processes that are gone: nobody holds their lock."""
    if fcntl is None:
        return
    for lock in parent.glob(f"{_PREFIX}*.lock"):
        try:
            handle = os.open(lock, os.O_RDWR)
        except OSError:  # gone meanwhile, or of another user
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
            lock.unlink(missing_ok=True)
        except OSError:  # it is alive
            continue
        finally:
            os.close(handle)
