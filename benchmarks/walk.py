"""The walk of a newcomer on the command line: own file, verdict, decisions, service; timed.

    python benchmarks/walk.py
    python docs/build.py tables      # puts the seconds into docs/cli.md

Each step is run three times in a new process, as a user would. Processor seconds tell more than
seconds where the machine is busy.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from harness import load, write_rows

ROWS = 5_000
ROUNDS = 3
COSTS = ("--target", "fraud", "--positive", "yes", "--cost", "fn=amount+15", "--cost", "fp=5")
STEPS = {
    "check": ("data", "check", "payments.csv", *COSTS),
    "fit": ("fit", "payments.csv", *COSTS, "--time-column", "when", "--save-test", "held_out.csv",
            "-o", "fraud.costboost", "--force"),
    "predict": ("predict", "fraud.costboost", "payments.csv", "-o", "decisions.csv", "--force"),
    "report": ("report", "fraud.costboost", "held_out.csv", "-o", "report.html", "--force"),
}  # fmt: skip
PAYMENT = {
    "payment_id": 1, "when": "2026-04-01 16:57", "amount": 74.77, "amount_ratio": 0.885,
    "account_age_days": 1405, "payments_today": 1, "distance_km": 0.9, "merchant_risk": 0.223,
    "city": "Zurich", "currency": "CHF",
}  # fmt: skip


def start(arguments: tuple[str, ...], folder: Path) -> subprocess.Popen[bytes]:
    """A command of costboost in another process."""
    return subprocess.Popen(
        [sys.executable, "-m", "costboost", *arguments], cwd=folder,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def spent() -> float:
    """Processor seconds of the processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def timed(arguments: tuple[str, ...], folder: Path) -> tuple[float, float]:
    """Seconds and processor seconds of a command."""
    before, begun = spent(), time.perf_counter()
    if start(arguments, folder).wait():
        raise RuntimeError(f"costboost {' '.join(arguments)} failed")
    return time.perf_counter() - begun, spent() - before


def served(port: int, folder: Path) -> tuple[float, float, float]:
    """Seconds to the first answer, processor seconds in all, and seconds of one more answer."""
    content = json.dumps({"records": [PAYMENT]}).encode()
    headers = {"content-type": "application/json"}
    request = Request(f"http://127.0.0.1:{port}/decide", content, headers)

    def ask() -> None:
        with urlopen(request) as answer:
            answer.read()

    before, begun = spent(), time.perf_counter()
    service = start(("serve", "fraud.costboost", "--port", str(port)), folder)
    try:
        while service.poll() is None:
            try:
                ask()
                break
            except OSError:
                time.sleep(0.02)
        first, again = time.perf_counter() - begun, time.perf_counter()
        ask()
        again = time.perf_counter() - again
    finally:
        service.terminate()
        service.wait()
    return first, spent() - before, again


def main() -> None:
    """Run the walk."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, default=8790)
    port = parser.parse_args().port
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        timed(("data", "example", "--rows", str(ROWS)), folder)
        for number in range(ROUNDS):
            for step, arguments in STEPS.items():
                seconds, processor = timed(arguments, folder)
                rows.append({"step": step, "round": number, "rows": ROWS, "seconds": seconds,
                             "processor_seconds": processor, "load": load()})  # fmt: skip
            first, processor, again = served(port + number, folder)
            rows.append({"step": "serve", "round": number, "rows": 1, "seconds": first,
                         "processor_seconds": processor, "load": load()})  # fmt: skip
            rows.append({"step": "one more answer", "round": number, "rows": 1, "seconds": again,
                         "processor_seconds": "", "load": load()})  # fmt: skip
    write_rows("walk", rows, seed=0)


if __name__ == "__main__":
    main()
