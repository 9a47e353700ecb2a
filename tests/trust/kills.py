"""Long computations are killed at random moments; they must go on and end as if nothing had been.

    PYTHONPATH=src:tests python -m trust.kills 60

Each scenario runs once undisturbed. Then it is started, and killed (kill -9, or Ctrl-C) after a
random time, again and again, with the same checkpoint, until it ends. What it ends in must be the
same to the last bit, and no file may be left.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import pandas as pd
from typer.testing import CliRunner

from costboost.cli import app
from costboost.datasets import make_fraud
from trust.part import Child, main

DATA = make_fraud(1500, random_state=0)


def command(*arguments):
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    if done.exit_code:
        if isinstance(done.exception, KeyboardInterrupt) or done.exit_code == 130:
            raise KeyboardInterrupt
        raise RuntimeError(f"{done.output} {done.stderr} {done.exception!r}")
    return done.stdout


COSTS = ("--target", "fraud", "--positive", "1", "--cost", "fn=amount+15", "--cost", "fp=5")


def compare(folder, checkpoint):
    return command(
        "compare", folder / "rows.csv", *COSTS, "--folds", 3, "--algorithm", "CostBoost",
        "--algorithm", "AdaC2", "--only-ours", "--set", "n_estimators=20", "--json",
        *(() if checkpoint is None else ("--checkpoint", checkpoint)),
    )  # fmt: skip


SCENARIOS = {
    "compare": compare,
}


def scene(folder):
    """The files that scenarios read."""
    frame = pd.DataFrame(DATA.X).add_prefix("x").assign(amount=DATA.amount, fraud=DATA.y)
    frame.to_parquet(folder / "rows.parquet")
    frame.head(600).to_csv(folder / "rows.csv", index=False)
    (folder / "temporary").mkdir()


def disturb(name, n_kills, rng, violations):
    """Kill one scenario so many times; returns what happened."""
    counts = Counter()
    action = SCENARIOS[name]
    folder = Path(tempfile.mkdtemp(prefix="trust-"))
    try:
        scene(folder)
        work = folder / "work"
        work.mkdir()
        checkpoint = work / "checkpoint"

        def play(path, answer):
            warnings.simplefilter("ignore")
            answer.write_text(action(folder, path))

        whole = Child(lambda: play(None, folder / "whole"), folder / "log")
        if whole.wait(60) != 0:
            return counts, [*violations, f"{name}: undisturbed run failed: {whole.words}"]
        right = (folder / "whole").read_text()
        answer = folder / "answer"
        while counts["kills"] + counts["Ctrl-C"] < n_kills:
            child = Child(lambda: play(checkpoint, answer), folder / "log")
            last = rng.random() < 0.15  # sometimes it may end
            delay = rng.uniform(0, 1.1) * whole.seconds
            code = child.wait(60) if last else None
            if not last:
                time.sleep(delay)
                code = child.poll()
                if code is None:
                    sign = signal.SIGKILL if rng.random() < 0.8 else signal.SIGINT
                    os.kill(child.pid, sign)
                    counts["kills" if sign == signal.SIGKILL else "Ctrl-C"] += 1
                    code = child.wait(60)
                    if sign == signal.SIGINT and code != 0:
                        strays = {p.name for p in work.iterdir()} - {"checkpoint"}
                        if strays:
                            violations.append(f"{name}: Ctrl-C left {strays}")
                    if code is None or (code > 0 and code != 130 and code != 1):
                        violations.append(f"{name}: exit {code} after a signal: {child.words}")
                    if code != 0:
                        continue
            if code != 0:
                violations.append(f"{name}: a run that was not killed gave {code}: {child.words}")
                break
            _check_end(name, work, folder, answer, right, counts, violations)
        child = Child(lambda: play(checkpoint, answer), folder / "log")
        if child.wait(60) != 0:
            violations.append(f"{name}: the last run failed: {child.words}")
        else:
            _check_end(name, work, folder, answer, right, counts, violations)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return counts, violations


def _check_end(name, work, folder, answer, right, counts, violations):
    """A run has ended: same answer, no file left."""
    counts["completed"] += 1
    if answer.read_text() != right:
        violations.append(f"{name}: resumed to another result")
    strays = {p.name for p in work.iterdir()}
    strays |= {p.name for p in (folder / "temporary").iterdir()}
    if strays:
        violations.append(f"{name}: left {sorted(strays)}")
    shutil.rmtree(work)
    work.mkdir()
    answer.unlink()


def run(seed, n_kills=60, scenarios=tuple(SCENARIOS)):
    """Kill every scenario; returns counts and violations."""
    counts, violations = {}, []
    for number, name in enumerate(scenarios):
        share = n_kills // len(scenarios) + (number < n_kills % len(scenarios))
        found, violations = disturb(name, share, random.Random(f"{seed} {name}"), violations)
        for what, n in found.items():
            counts[f"{name}: {what}"] = n
    counts["signals in all"] = sum(
        n for what, n in counts.items() if what.endswith(("kills", "Ctrl-C"))
    )
    counts["kill -9"] = sum(n for what, n in counts.items() if what.endswith(": kills"))
    return counts, violations


if __name__ == "__main__":
    main("kills", run, n_kills=int(sys.argv[1]) if len(sys.argv) > 1 else 75)
