"""`make trust`: every part in a process of its own, what is done is not done again.

    PYTHONPATH=src:tests python -m trust [--fresh] [--quick] [part ...]

A part is done if its report is of the same source files and sizes and has no violation. Seeds are
printed, and are in the reports.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

from trust.part import FOLDER

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "docs" / "trust.json"
# Part to module, and its arguments in full and in quick runs.
PARTS = {
    "files": ("trust.files_part", ["2000"], ["300"]),
    "full_disks": ("trust.full_disks", [], []),
    "load": ("trust.load", ["1000", "10000"], ["60", "300"]),
    "security": ("trust.security", ["20000"], ["1000"]),
    "service": ("trust.service", ["50"], ["3"]),
    "dask": ("trust.clusters", [], ["quick"]),
    "verdicts": ("trust.verdicts", ["40"], ["2"]),
    "properties": ("trust.properties", ["20000"], ["500"]),
}


def source_hash():
    """A hash of the library and of the parts: a report of other files does not count."""
    found = hashlib.sha256()
    for folder in ("src", "tests/trust", "tests/files"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            found.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return found.hexdigest()[:16]


def is_done(part, arguments, source):
    path = FOLDER / f"{part}.json"
    if not path.exists():
        return False
    report = json.loads(path.read_text())
    same = report.get("source") == source and report.get("arguments") == arguments
    return same and not report["violations"]


def keep(part, report):
    """Keep what a part counted, for the tables of docs/promises.md."""
    kept = json.loads(KEPT.read_text("utf-8"))
    kept[part] = {
        "seed": report["seed"],
        "counts": report["counts"],
        "violations": len(report["violations"]),
        "arguments": report["arguments"],
        "processor_seconds": report["processor_seconds"],
    }
    KEPT.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


def processor_seconds():
    """What all parts so far have computed, in all of their processes."""
    times = os.times()
    return times.children_user + times.children_system


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--fresh", action="store_true", help="do all parts again")
    parser.add_argument("--quick", action="store_true", help="small sizes, for a try")
    chosen = parser.parse_args()
    source, failed, start = source_hash(), [], time.monotonic()
    for part in chosen.parts or PARTS:
        module, full, quick = PARTS[part]
        arguments = quick if chosen.quick else full
        if find_spec(module) is None:
            print(f"{part}: not run, there is no module {module}", flush=True)
            continue
        if not chosen.fresh and is_done(part, arguments, source):
            print(f"{part}: done before", flush=True)
            continue
        # With one thread nothing can hang after a fork.
        threads = {"OMP_NUM_THREADS": "2"} if part == "load" else {}
        command = [sys.executable, "-m", module, *arguments]
        before = processor_seconds()
        code = subprocess.run(command, env={**os.environ, **threads}).returncode
        used = round(processor_seconds() - before)
        path = FOLDER / f"{part}.json"
        if path.exists():
            more = {"source": source, "arguments": arguments, "processor_seconds": used}
            report = {**json.loads(path.read_text()), **more}
            path.write_text(json.dumps(report, indent=1) + "\n")
            if not chosen.quick:
                keep(part, report)
        if code:
            failed.append(part)
    print(f"{time.monotonic() - start:.0f} s; " + (f"FAILED: {failed}" if failed else "all well"))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
