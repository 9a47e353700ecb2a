"""Expressions cannot run code, nothing uses the network, the wheel has the same bytes twice.

PYTHONPATH=src:tests python -m trust.security 20000
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

from costboost.costs.expressions import DEEPEST, LONGEST, Expression
from trust.part import main

ROOT = Path(__file__).parents[2]

# -- expressions --------------------------------------------------------------------------------

# What Python tells when code is made or run, files are opened, processes or connections begin.
WATCHED = (
    "exec", "compile", "import", "open", "os.", "subprocess.", "socket.", "ctypes.", "pickle.",
    "marshal.", "code.__new__", "function.__new__", "shutil.", "tempfile.",
)  # fmt: skip
STRUCTURE = re.compile(rb"(x|and|or|not|[-+*/(),<>=! ])*")
_events: list[str] = []
_is_watching = False
_WATCHED_THREAD = threading.get_ident()  # others, such as a cluster's monitor, read no expression


def _hook(event, arguments):
    is_ours = threading.get_ident() == _WATCHED_THREAD
    if _is_watching and is_ours and event.startswith(WATCHED):
        # `ast` parses what is left of an expression without its words; code would be run by exec.
        if event == "compile" and STRUCTURE.fullmatch(arguments[0] or b""):
            return
        _events.append(f"{event} {arguments!r:.80}")


PIECES = (
    *("amount", "country", "`total amount`", "0", "1.5", "1e308", ".5", "'CH'", '"x"', "-1"),
    *("+", "-", "*", "/", "(", ")", ",", "<", "<=", "==", "!=", "and", "or", "not", " "),
    *("min(", "max(", "abs(", "log(", "exp(", "where(", "where(amount > 1, 2, 3)"),
    *("sqrt(", "coalesce(", "coalesce(amount, 2)", "coalesce(country, 'none')", "** 0.5"),
    *("__import__('os').system('id')", "().__class__.__bases__", "lambda: 0"),
    *("open('/etc/passwd')", "{amount}", "%s", "f'{1}'"),
    *("exec('1')", "eval", ";", "\n", "\x00", "`", "'", '"', "**", "//"),
    *("[x for x in ()]", "amount.__class__", "import os", "@", "\\"),
    *("é", "\U0001d7d9", "\uff10", "\u221e", "nan", "inf"),
    *("9" * 400, "(" * (DEEPEST + 2), "1" * (LONGEST + 1), "not " * 50, "-" * 60),
)  # fmt: skip
FRAME = pd.DataFrame(
    {"amount": [1.0, -2.0, np.nan], "country": ["CH", "FR", "CH"], "total amount": [0.0, 1e308, 5]}
)


def expression(rng):
    """A text that may be an expression: pieces, or a right one with characters changed."""
    if rng.random() < 0.5:
        return "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 12)))
    text = list(
        "where(country == 'CH', 0, 15) + 0.9 * max(coalesce(amount, 3), `total amount`) / "
        "sqrt(abs(-coalesce(amount, 3)) ** 2)"
    )
    for _ in range(rng.randint(0, 4)):
        at = rng.randrange(len(text))
        text[at : at + rng.randint(0, 2)] = rng.choice(
            (rng.choice(PIECES), chr(rng.randrange(300)))
        )
    return "".join(text)


def read(text):
    """What became of a text: an answer, or the errors that are allowed."""
    try:
        found = Expression(text)
    except ValueError:
        return "refused"
    try:
        with np.errstate(all="ignore"):
            answer = np.asarray(found(FRAME))
    except (ValueError, TypeError, KeyError) as error:
        return "refused for these rows" if isinstance(error, (ValueError, TypeError)) else "key"
    return "computed" if answer.dtype.kind in "fiub" else f"WRONG {answer.dtype}"


def expressions(n, seed, violations):
    """Read so many texts; anything but an answer or a ValueError, and any event, is a violation."""
    global _is_watching
    sys.addaudithook(_hook)
    rng, outcomes = random.Random(seed), Counter()
    for text in ("amount + 1", "where(country == 'CH', 1, 2)", "bad ("):  # imports happen here
        read(text)
    slowest = 0.0
    for _ in range(n):
        text = expression(rng)
        start = time.process_time()
        _is_watching = True
        try:
            outcome = read(text)
        except BaseException as error:
            outcome = f"WRONG {error!r:.80}"
        finally:
            _is_watching = False
        slowest = max(slowest, time.process_time() - start)
        outcomes[outcome] += 1
        if outcome.startswith(("WRONG", "key")) or _events:
            violations.append(f"{text!r:.120}: {outcome} {_events[:2]}")
            _events.clear()
    if slowest > 2:
        violations.append(f"an expression took {slowest:.1f} s")
    return outcomes


# -- network ------------------------------------------------------------------------------------

OFFLINE = """
import sys
import threading

def hook(event, arguments):
    if event.startswith("socket.") and event not in ("socket.__new__", "socket.gethostname"):
        raise PermissionError(f"network: {event} {arguments!r}")

sys.addaudithook(hook)
import os, tempfile, warnings
warnings.simplefilter("ignore")
import socket
try:
    socket.create_connection(("127.0.0.1", 9), timeout=1)
    raise SystemExit("the ban does not work")
except PermissionError:
    pass
import pandas as pd
from typer.testing import CliRunner
import costboost
from costboost.cli import app
from costboost.datasets import make_fraud
from files.models import ESTIMATORS, fitted
n = 0
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "m.costboost")
    for name in NAMES or ESTIMATORS:
        model, X = fitted(name)
        model.predict(X)
        model.save(path)
        costboost.load(path).predict(X)
        n += 1
    data = make_fraud(300, random_state=0)
    frame = pd.DataFrame(data.X).add_prefix("x").assign(amount=data.amount, fraud=data.y)
    table = os.path.join(folder, "t.csv")
    frame.to_csv(table, index=False)
    costs = ["--target", "fraud", "--positive", "1", "--cost", "fn=amount", "--cost", "fp=5"]
    small = ["--set", "n_estimators=5", "--set", "cv=2"]
    for command in (
        ["fit", table, *costs, *small, "-o", path],
        ["predict", path, table, "-o", os.path.join(folder, "d.csv")],
        ["report", path, table, "-o", os.path.join(folder, "r.html")],
        ["inspect", path],
        ["explain", path, table],
    ):
        done = CliRunner().invoke(app, command)
        if done.exit_code:
            raise SystemExit(f"{command}: {done.output} {done.stderr} {done.exception!r}")
        n += 1
print("OFFLINE", n)
"""


def offline(violations, names=()):
    """Fit, predict, save and load every class, and run commands, with sockets forbidden."""
    code = f"NAMES = {list(names)!r}\n{OFFLINE}"
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True, text=True, timeout=3600,
    )  # fmt: skip
    last = done.stdout.strip().splitlines()[-1:] or [""]
    if done.returncode or not last[0].startswith("OFFLINE"):
        violations.append(f"offline: {done.stdout[-500:]} {done.stderr[-1500:]}")
        return 0
    return int(last[0].split()[1])


# -- the wheel ----------------------------------------------------------------------------------

BUILD = """
import sys, os
os.umask(int(sys.argv[2], 8))
from hatchling.build import build_wheel
print(build_wheel(sys.argv[1]))
"""


def wheel(violations):
    """Build the wheel twice, from copies of other times and rights; the bytes must be the same."""
    if find_spec("hatchling") is None:
        return "not run: hatchling is not installed"
    hashes = []
    for number, umask in enumerate(("022", "077")):
        with tempfile.TemporaryDirectory() as name:
            copy, out = Path(name) / f"source{number}", Path(name) / "out"
            out.mkdir()
            copy.mkdir()
            for item in ("pyproject.toml", "README.md", "LICENSE"):
                shutil.copy(ROOT / item, copy / item)
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / "src", copy / "src", ignore=ignored)
            for path in copy.rglob("*"):
                os.utime(path, (1_600_000_000 + 10_000 * number,) * 2)
            environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
            done = subprocess.run(
                [sys.executable, "-c", BUILD, str(out), umask],
                cwd=copy, env=environment, capture_output=True, text=True, timeout=3600,
            )  # fmt: skip
            if done.returncode:
                violations.append(f"the wheel cannot be built: {done.stderr[-800:]}")
                return "failed"
            [built] = out.iterdir()
            hashes.append(hashlib.sha256(built.read_bytes()).hexdigest())
    if hashes[0] != hashes[1]:
        violations.append(f"two builds of the wheel differ: {hashes}")
    return "2 builds, same bytes" if hashes[0] == hashes[1] else "differ"


def run(seed, n=20_000, names=()):
    """Counts and violations."""
    warnings.simplefilter("ignore")
    violations = []
    outcomes = expressions(n, seed, violations)
    counts = {
        "hostile expressions": n,
        **{f"expressions {what}": times for what, times in sorted(outcomes.items())},
        "steps with sockets forbidden": offline(violations, names),
        "wheel": wheel(violations),
    }
    return counts, violations


if __name__ == "__main__":
    main("security", run, n=int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
