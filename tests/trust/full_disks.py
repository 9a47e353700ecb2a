"""Full disks and paths that cannot be written: a clear error, nothing lost, no stray files.

    PYTHONPATH=src:tests python -m trust.full_disks

Fills a small tmpfs where the user may mount one (root on Linux), else limits the size of files.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from costboost import CostBoostClassifier
from costboost.costs import per_row
from costboost.datasets import make_fraud
from trust.part import main

DATA = make_fraud(1500, random_state=0)
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


def fit():
    model = CostBoostClassifier(n_estimators=40, cv=4, random_state=0, n_jobs=1)
    return model.fit(DATA.X, DATA.y, costs=PRICES)


def fill(disk, left):
    """Use up a disk but for some bytes."""
    free = shutil.disk_usage(disk).free
    (disk / "filler").write_bytes(b"\0" * max(free - left, 0))


def full_while_saving(disk, left):
    """A model file that does not fit keeps the old one."""
    model, path = fit(), disk / "model"
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
        frame = pd.DataFrame(DATA.X).add_prefix("x").assign(amount=DATA.amount, fraud=DATA.y)
        frame.to_parquet(Path(name) / "rows.parquet")
        fill(disk, left)
        before, tempfile.tempdir = tempfile.tempdir, str(disk)
        try:
            CostBoostClassifier(random_state=0).fit_parquet(
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


ON_DISK = (
    full_while_saving,
    full_while_spilling,
)


def run(seed):
    """Fill disks to several levels; returns counts and violations."""
    warnings.simplefilter("ignore")
    counts, violations = {"full disks (tmpfs)": 0}, []

    def note(what, found):
        if found is not None:
            violations.append(f"{what}: {found}")

    for action in ON_DISK:
        sizes = (0, 4096, 8192) if action is full_while_saving else (0,)
        for left in sizes:
            with small_disk(2048) as disk:
                if disk is None:
                    continue
                counts["full disks (tmpfs)"] += 1
                note(f"{action.__name__}, {left} bytes left", action(disk, left))
                for path in disk.iterdir():
                    path.unlink()
    return counts, violations


if __name__ == "__main__":
    main("full_disks", run)
