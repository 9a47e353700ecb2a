"""Full disks and paths that cannot be written: a clear error, nothing lost, no stray files.

    PYTHONPATH=src:tests python -m trust.full_disks

Fills a small tmpfs where the user may mount one (root on Linux), else limits the size of files.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path

from costboost import CostBoostClassifier
from costboost.costs import per_row
from trust.kills import COSTS, DATA, command, model_hash, scene
from trust.part import main

PRICES = per_row(fn=DATA.amount, fp=5)


@contextmanager
def small_disk(kilobytes):
    """A folder of a file system of that size; None if none can be mounted."""
    folder = Path(tempfile.mkdtemp(prefix="trust-disk-"))
    options = ["-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    mounted = (
        shutil.which("mount") is not None
        and subprocess.run(["mount", "-t", "tmpfs", *options], capture_output=True).returncode == 0
    )
    try:
        yield folder if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)
        folder.rmdir()


@contextmanager
def small_files(n_bytes):
    """No file may grow beyond that size."""
    limits, old = resource.getrlimit(resource.RLIMIT_FSIZE), signal.getsignal(signal.SIGXFSZ)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, old)


def fit(path, **more):
    model = CostBoostClassifier(n_estimators=40, ensemble=4, random_state=0, n_jobs=1)
    return model.fit(DATA.X, DATA.y, costs=PRICES, checkpoint=path, **more)


def fill(disk, left):
    """Use up a disk but for some bytes."""
    free = shutil.disk_usage(disk).free
    (disk / "filler").write_bytes(b"\0" * max(free - left, 0))


def full_while_fitting(disk, left):
    """The disk gets full after the first boosters; after some room is made, the fit goes on."""
    right, path = model_hash(fit(None)), disk / "checkpoint"

    def after_round(told):
        if (told.booster, told.round, told.head) == (2, 1, "probability"):
            fill(disk, left)

    try:
        fit(path, callbacks=after_round)
        return "a fit on a full disk did not fail"
    except OSError as error:
        if "cannot be written" not in str(error) or "still in it" not in str(error):
            return f"an unclear error: {error}"
    if sorted(p.name for p in disk.iterdir()) != ["checkpoint", "filler"]:
        return f"stray files: {sorted(p.name for p in disk.iterdir())}"
    (disk / "filler").unlink()
    seen = []
    if model_hash(fit(path, callbacks=seen.append)) != right:
        return "resumed to another model"
    if seen[0].booster < 2:
        return "finished boosters were lost"
    return None if not list(disk.iterdir()) else "stray files at the end"


def full_at_once(disk, left):
    """No room from the first byte: an error before the training."""
    fill(disk, left)
    seen = []
    try:
        fit(disk / "checkpoint", callbacks=seen.append)
        return "a fit on a full disk did not fail"
    except OSError as error:
        if "cannot be written" not in str(error):
            return f"an unclear error: {error}"
    left_over = sorted(p.name for p in disk.iterdir())
    return None if left_over == ["filler"] and not seen else f"{left_over}, {len(seen)} rounds"


def full_while_saving(disk, left):
    """A model file that does not fit keeps the old one."""
    model, path = fit(None), disk / "model"
    path.write_bytes(b"old")
    fill(disk, left)
    try:
        model.save(path)
        return "save on a full disk did not fail"
    except OSError:
        pass
    left_over = sorted(p.name for p in disk.iterdir())
    fine = path.read_bytes() == b"old" and left_over == ["filler", "model"]
    return None if fine else f"save left {left_over}"


def full_while_spilling(disk, left):
    """The temporary folder of fit_parquet is full: an error, not the end of the process."""
    with tempfile.TemporaryDirectory() as name:
        scene(Path(name))
        fill(disk, left)
        before, tempfile.tempdir = tempfile.tempdir, str(disk)
        try:
            CostBoostClassifier(engine="xgboost", ensemble=1, random_state=0).fit_parquet(
                Path(name) / "rows.parquet", "fraud", costs={"fn": "amount", "fp": 5}
            )
            return "fit_parquet on a full disk did not fail"
        except OSError as error:
            if "TMPDIR" not in str(error):
                return f"an unclear error: {error}"
        finally:
            tempfile.tempdir = before
    left_over = sorted(p.name for p in disk.iterdir())
    return None if left_over == ["filler"] else f"stray files: {left_over}"


def full_while_commanding(disk, left):
    """`compare` on a full disk: exit code 2 with words, and it goes on later."""
    with tempfile.TemporaryDirectory() as name:
        scene(Path(name))
        fill(disk, left)
        arguments = (
            "compare", Path(name) / "rows.csv", *COSTS, "--folds", 2, "--algorithm", "AdaC2",
            "--only-ours", "--set", "n_estimators=3", "--json",
        )  # fmt: skip
        right = command(*arguments)
        try:
            command(*arguments, "--checkpoint", disk / "checkpoint")
            return "compare on a full disk did not fail"
        except RuntimeError as error:
            words = " ".join(str(error).split())
            if "cannot be written" not in words or "Traceback" in words:
                return f"an unclear error: {words}"
        (disk / "filler").unlink()
        if command(*arguments, "--checkpoint", disk / "checkpoint") != right:
            return "another result"
    return None if not list(disk.iterdir()) else "stray files at the end"


ON_DISK = (
    full_while_fitting,
    full_at_once,
    full_while_saving,
    full_while_spilling,
    full_while_commanding,
)


def limited_files(n_bytes):
    """Files may not grow beyond a size: the same errors as on a full disk."""
    right = model_hash(fit(None))
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "checkpoint"
        try:
            with small_files(n_bytes):
                found = fit(path)
        except OSError as error:
            if "cannot be written" not in str(error):
                return f"an unclear error: {error}"
            if set(os.listdir(name)) - {"checkpoint"}:
                return f"stray files: {os.listdir(name)}"
            found = fit(path)
        if model_hash(found) != right:
            return "another model"
        return None if not os.listdir(name) else f"stray files: {os.listdir(name)}"


def unwritable(where):
    """Paths that cannot be written, as seen by a user without rights."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "file").write_text("")
        (folder / "locked").mkdir(mode=0o500)
        folder.chmod(0o755)
        seen = []
        user = os.geteuid()
        try:
            if user == 0:
                os.seteuid(65534)
            fit(folder / where, callbacks=seen.append)
            return f"{where}: no error"
        except (OSError, ValueError) as error:
            if seen:
                return f"{where}: an error after {len(seen)} rounds: {error}"
        finally:
            os.seteuid(user)
        left_over = sorted(p.name for p in folder.iterdir())
        return None if left_over == ["file", "locked"] else f"stray files: {left_over}"


def run(seed, n_sizes=6):
    """Fill disks to several levels; returns counts and violations."""
    warnings.simplefilter("ignore")
    counts, violations = {"full disks (tmpfs)": 0, "limits of file size": 0}, []

    def note(what, found):
        if found is not None:
            violations.append(f"{what}: {found}")

    for action in ON_DISK:
        small = action in (full_at_once, full_while_spilling, full_while_commanding)
        sizes = (0,) if small else [4096 * (1 + 2 * i) for i in range(n_sizes)]
        if action is full_while_saving:
            sizes = (0, 4096, 8192)
        for left in sizes:
            with small_disk(2048) as disk:
                if disk is None:
                    continue
                counts["full disks (tmpfs)"] += 1
                note(f"{action.__name__}, {left} bytes left", action(disk, left))
                for path in disk.iterdir():
                    path.unlink()
    for i in range(n_sizes):
        counts["limits of file size"] += 1
        note(f"files of {4000 + 9000 * i} bytes", limited_files(4000 + 9000 * i))
    paths = ("missing/checkpoint", "file/checkpoint", "locked", "locked/checkpoint")
    for where in paths:
        counts["unwritable paths"] = counts.get("unwritable paths", 0) + 1
        note("unwritable", unwritable(where))
    return counts, violations


if __name__ == "__main__":
    main("full_disks", run)
