"""What every part of `make trust` shares: the report that it writes, processes to kill.

A part is a function ``run(seed, **sizes)`` that returns counts and violations. Its report is
``build/trust/<part>.json``; what it counted is kept in ``docs/trust.json``.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path

import psutil

FOLDER = Path(os.environ.get("COSTBOOST_TRUST_FOLDER", "build/trust"))


def report(part, seed, counts, violations, seconds, **more):
    """Write the report of a part; returns its path."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{part}.json"
    content = {
        "part": part,
        "seed": seed,
        "counts": counts,
        "violations": violations,
        "seconds": round(seconds, 1),
        **more,
    }
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(content, indent=1) + "\n")
    temporary.replace(path)
    return path


def main(part, run, *, seed=17, **sizes):
    """Run a part from the command line, print and write what it found; exit 1 on violations."""
    start = time.monotonic()
    print(f"{part}: seed {seed}, {sizes}", flush=True)
    counts, violations = run(seed, **sizes)
    path = report(part, seed, counts, violations, time.monotonic() - start, sizes=sizes)
    for what, n in counts.items():
        print(f"  {what}: {n}")
    for violation in violations[:20]:
        print(f"  VIOLATION {violation}")
    print(f"  {len(violations)} violations; {path}")
    sys.exit(bool(violations))


class Child:
    """A forked process that runs a function; its output and errors go to a file."""

    def __init__(self, action, log):
        sys.stdout.flush()
        self.log = Path(log)
        self.start = time.monotonic()
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                handle = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.dup2(handle, 1)
                os.dup2(handle, 2)
                action()
                code = 0
            except KeyboardInterrupt:
                code = 130
            except SystemExit as error:
                code = error.code if isinstance(error.code, int) else 1
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                os._exit(code)

    def poll(self):
        """The exit code; minus the signal that ended it; None while it runs."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if pid else None

    def wait(self, seconds):
        """The exit code; None if it slept for so long without computing: then it is killed.

        A busy machine may let a process wait for a long time, so what counts is that it asks for
        the processor.
        """
        process, used, last = psutil.Process(self.pid), -1.0, time.monotonic()
        while True:
            code = self.poll()
            if code is not None:
                self.seconds = time.monotonic() - self.start
                return code
            times = process.cpu_times()
            if times.user + times.system > used or process.status() != psutil.STATUS_SLEEPING:
                used, last = times.user + times.system, time.monotonic()
            if time.monotonic() - last > seconds:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                return None
            time.sleep(0.005)

    @property
    def words(self):
        return self.log.read_text(errors="replace")[-2000:]
