"""Damage model files in every way we can think of; loading must refuse them or give the same model.

Two kinds of damage. *Accidents* change bytes of a file and cannot know its hashes: the answer is a
`ModelFileError`, or the same model to the last bit. *Attacks* change what is inside and declare the
right sizes and hash: the answer is a `ModelFileError`, or a model that can be asked without a
signal or a hang (a file that declares another sound tree is another sound model). The files are
loaded in a process of their own, so that a crash is seen. `tests/trust/files_part.py` loads many.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import warnings
import zlib
from collections import Counter
from pathlib import Path

import numpy as np

from costboost.errors import ModelFileError
from costboost.files import FORMAT, inspect, load, save
from costboost.files.model import contents
from costboost.files.state import classes
from files.models import answers, fitted, same

BASES = (
    "AdaC2Classifier", "lightgbm, categories", "two heads", "sigmoid",
    "lightgbm, 3 booster(s), 3 classes", "CostingClassifier, 4 classes", "CSRealBoostClassifier",
    "MCBoostClassifier, 4 classes", "lightgbm, columns for costs", "LpCSB, adjusted, 3 classes",
    "RareBoostClassifier", "SAMMEC2, classifier", "LpCSB, direct, 3 classes",
)  # fmt: skip
# Seconds of processor time; a load that takes longer should have been refused before.
SLOW = 1.0
NUMBERS = (-1, -2, 0, 1, 2, 3, 5, 7, -100, 99, 10**6, 2**30, 2**31 - 1, -(2**31), np.nan)
VALUES = (None, True, False, 0.5, 10**40, 1e-320, np.inf, "", "x", "__class__", [], {}, [[]])
TYPES = ("<f8", "<f4", "<i8", "<i4", "|b1", "<U3", "|O", "<V8", "f8,f8")
SHAPES = ([2**39, 0], [2**62], [], [-1], [0], [1] * 40, ["x"], [None])
NAMES = ("same", "predict", "__class__", "tuple", "n_features_in_", "tree_", "Popen", "os.system")


def accident(data, rng):
    """Bits turned over; the end, or a part, missing; a part doubled or zero; something added."""
    a, b = sorted(rng.randrange(len(data)) for _ in range(2))
    b, junk, flipped = min(b, a + 200), rng.randbytes(rng.randrange(1, 60)), bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        flipped[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    parts = (data[a:b] * 2, bytes(b - a), b"")
    others = (bytes(flipped), data[:a], junk + data, data + junk)
    return rng.choice((*others, data[:a] + rng.choice(parts) + data[b:]))


# -- attacks: what is inside ----------------------------------------------------------------------


def signed(rest, number=FORMAT):
    """A file with the right hash."""
    return f"costboost model {number} {hashlib.sha256(rest).hexdigest()}\n".encode() + rest


def forged(manifest=b"{}", state=b"{}", arrays=b"", *, sizes=None, content=None, level=0):
    """A file of anything, which declares its sizes rightly unless told otherwise."""
    sizes = sizes or (len(manifest), len(state), len(arrays))
    content = zlib.compress(state + arrays, level) if content is None else content
    return signed(b"%d %d %d\n" % sizes + manifest + content)


def tight(content, ratio=7.9):
    """Content packed as tightly as a file may be: a part stored, the rest as it packs."""
    packer = zlib.compressobj(6, wbits=-15)
    small = packer.compress(content) + packer.flush()
    stored = 0
    while len(content) > ratio * (len(small) + stored + 16):
        stored = int(len(content) / ratio) + 1 - len(small)
        packer = zlib.compressobj(6, wbits=-15)
        small = packer.compress(content[stored:]) + packer.flush()
    packer = zlib.compressobj(0, wbits=-15)
    first = packer.compress(content[:stored]) + packer.flush(zlib.Z_FULL_FLUSH)
    return b"\x78\x01" + first + small + zlib.adler32(content).to_bytes(4, "big")


def walk(value, name=""):
    """All objects of a JSON value with the names of their fields, in the order of the text."""
    if isinstance(value, dict):
        yield name, value
    for key, item in value.items() if isinstance(value, dict) else ((name, x) for x in value):
        if isinstance(item, (dict, list)):
            yield from walk(item, key)


def arrays_of(state, data):
    """The arrays of a state with the names of their fields; what is changed changes the data."""
    place = 0
    for name, node in walk(state):
        dtype, *shape = node.get("array") or [node.get("scalar")]
        if dtype is not None:
            array = np.ndarray(shape, dtype, data, place)
            place += array.nbytes
            yield name, array


def entry_of_array(state, data, rng):
    """Entries of an array replaced by one that is out of range somewhere; trees are arrays too."""
    some = rng.choice([array for _, array in arrays_of(state, data) if array.size])
    with contextlib.suppress(ValueError, OverflowError, TypeError):
        for _ in range(rng.choice((1, 1, 3))):
            some.flat[rng.randrange(some.size)] = rng.choice(NUMBERS)


def value_of_state(state, data, rng):
    """A value replaced, moved or removed; a key, a class, a type or a shape changed."""
    lists, waiting = [], [state]
    while waiting:
        lists.append(item := waiting.pop())
        inner = item.values() if isinstance(item, dict) else item
        waiting += [x for x in inner if isinstance(x, (dict, list))]
    places = [(x, key) for x in lists for key in (x if isinstance(x, dict) else range(len(x)))]
    numbers = [(x, key) for x, key in places if type(x[key]) in (int, float)]
    arrays = [(x[key], 0) for x, key in places if key == "array"]
    named = [(x, key) for x, key in places if key in classes()]
    action = rng.choice(
        ("number", "number", "type", "shape", "class", "key", "move", "lose", "put")
    )
    kinds = {"number": numbers, "type": arrays, "shape": arrays, "class": named}
    item, key = rng.choice(kinds.get(action, places))
    if action == "number":
        item[key] = rng.choice((*NUMBERS, rng.randrange(-20, 20)))
    elif action == "type":
        item[0] = rng.choice(TYPES)
    elif action == "shape":
        item[1:] = rng.choice((*SHAPES, item[:0:-1], [*item[1:], 1]))
    elif action in ("class", "key") and isinstance(item, dict):
        item[rng.choice(sorted(classes()) if action == "class" else NAMES)] = item.pop(key)
    elif action == "move":
        other, place = rng.choice(places)
        item[key] = json.loads(json.dumps(other[place]))
    elif action == "lose":
        del item[key]
    else:
        item[key] = rng.choice((*VALUES, {"same": rng.randrange(-2, 40)}))


def many(n, item):
    """A state with a list of so many values."""
    return b"[" + b",".join([item] * n) + b"]"


def doubling(n, kind):
    """Values that hold the one before several times."""
    return json.dumps([[1], *(kind(i) for i in range(n))]).encode()


def chains(n, size=500):
    """The arrays of a sound table of trees with n nodes, each tree a long chain."""
    n, place = n // size * size, np.arange(n // size * size)
    leaf = place + place // size  # a tree has a leaf more than nodes
    left = np.where((place + 1) % size, place + 1, ~(leaf + 1))
    nodes, leaves = np.zeros(n), np.zeros(n + n // size)
    return {
        "base": np.zeros(1), "roots": place[::size].astype("<i4"), "feature": nodes.astype("<i4"),
        "threshold": nodes, "kind": nodes.astype("i1"), "words": nodes.astype("<i4"),
        "children": np.stack([left, ~leaf], axis=1).astype("<i4"), "values": leaves,
        "categories": np.zeros(0, "<u4"), "gain": nodes, "leaf_cover": leaves,
    }  # fmt: skip


def shared_tables():
    """Many tables of trees made of the same arrays, which would be checked again and again."""
    arrays = chains(200_000)
    once = [{"array": [array.dtype.str, *array.shape]} for array in arrays.values()]
    fields = {name: {"same": place} for place, name in enumerate(arrays)}
    state = [*once, *[{"Trees": {"n_scores": 1, **fields}}] * 500]
    return json.dumps(state).encode(), b"".join(array.tobytes() for array in arrays.values())


def doubling_designs():
    """Parts that hold the one before several times, printed by an error message."""
    names = ("numeric", "categorical", "medians", "means", "scales", "gaps")
    parts = [
        {"Design": {"sizes": {"same": 0}, **{name: {"same": i + 1} for name in names}}}
        for i in range(60)
    ]
    root = {"CSRealBoostClassifier": {"n_features_in_": {"same": 61}}}
    return json.dumps([{"array": ["<i8", 1]}, [1], *parts, root]).encode(), bytes(8)


def generators():
    inner = {"dict": {"key": {"array": ["<u4", 624]}, "pos": 1}}
    outer = {"bit_generator": "MT19937", "state": inner, "has_gauss": 0, "gauss": 0.0}
    return json.dumps([{"random": {"dict": outer}}] * 25_000).encode(), bytes(624 * 4 * 25_000)


# States, or states and arrays, that ask for more memory or time than they should get.
BOMBS = {
    "deep": lambda: b"[" * 200_000,
    "nested": lambda: b"[" * 70 + b"]" * 70,
    "doubling": lambda: doubling(60, lambda i: {"tuple": [{"tuple": [{"same": i}] * 2}]}),
    "nine times": lambda: doubling(200, lambda i: [[{"same": i}] * 9]),
    "a long number": lambda: b"[" + b"9" * 100_000 + b"]",
    "a huge array": lambda: b'{"array":["<f8",1000000000000]}',
    "an empty giant": lambda: b'{"array":["<f8",549755813888,0]}',
    "keys that collide": lambda: json.dumps(
        {"pairs": [[i * (2**61 - 1), 0] for i in range(50_000)]}
    ).encode(),
    "lists": lambda: many(249_000, b"[]"),
    "mappings": lambda: many(166_000, b'{"dict":{}}'),
    "arrays": lambda: many(124_000, b'{"array":["<f8",0]}'),
    "objects": lambda: many(124_000, b'{"Votes":{}}'),
    "frames": lambda: many(60_000, b'{"frame":[[],[],[]]}'),
    "more lists than there may be": lambda: many(3_000_000, b"[]"),
    "zeros": lambda: (b"{}", bytes(2**24)),  # packed tightly
    "shared tables": shared_tables,
    "designs": doubling_designs,
    "generators": generators,
}


def bomb_file(kind, manifest=b"{}"):
    """A file with such a state, packed as tightly as it may be; zeros as the writer would not."""
    found = BOMBS[kind]()
    state, arrays = (found, b"") if isinstance(found, bytes) else found
    content = zlib.compress(state + arrays, 9) if kind == "zeros" else tight(state + arrays)
    return forged(manifest, state, arrays, content=content)


def mutated(number, base):
    """A damaged file, and what was done to it."""
    rng = random.Random(number)
    manifest, state, data = json.dumps(base[0]).encode(), base[1], bytearray(base[2])
    draw = rng.random()
    if draw < 0.4:
        return accident(forged(manifest, state, data), rng), "accident"
    if draw < 0.42:
        return bomb_file(rng.choice([*BOMBS]), manifest), "bomb"
    if draw < 0.45:
        key = rng.choice(["class", "untrusted", "boosters", "features"])
        manifest = json.dumps({**base[0], key: rng.choice(VALUES)}).encode()
        return forged(manifest, state, data), "manifest"
    if draw < 0.5:
        state = accident(state, rng) if draw < 0.475 else state
        return forged(manifest, state, accident(data, rng) if draw > 0.475 else data), "members"
    attack, values = rng.choice((entry_of_array, value_of_state)), json.loads(state)
    attack(values, data, rng)
    return forged(manifest, json.dumps(values).encode(), data), attack.__name__


# -- asking ---------------------------------------------------------------------------------------


def ask(model, X):
    """Call all that reads the trees; a bad answer is allowed, a crash is not."""
    for method in ("predict", "predict_proba", "contributions", "staged_decision_function"):
        try:
            answer = getattr(model, method)(X) if hasattr(type(model), method) else None
            list(answer) if method.startswith("staged") and answer is not None else answer
        except Exception as error:
            return f"unusable model: {error!r:.200}"
    return "another model"


def outcome(path, X, right, is_accident):
    """What becomes of a file."""
    start = time.process_time()
    try:
        model = load(path)
    except ModelFileError:
        model, said = None, "refused"
    except Exception as error:
        model, said = None, f"WRONG ERROR {error!r:.300}"
    seconds = time.process_time() - start
    if model is not None:
        is_same = False
        with contextlib.suppress(Exception):
            is_same = same(answers(model, X), right)
        said = "the same model" if is_same else ask(model, X)
        if is_accident and not is_same:
            said = f"WRONG MODEL after an accident ({said})"
    return said if seconds <= SLOW else f"SLOW {seconds:.1f} s, {said}"


def worker(first, last):
    """Load the files from first to last - 1; one line of JSON for each."""
    warnings.simplefilter("ignore")
    bases = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutant.costboost"
        for case in BASES:
            model, X = fitted(case)
            right = answers(load(save(model, path)), X)  # the copy's, for SHAP values
            bases.append((contents(model), X, right))
        for number in range(first, last):
            base, X, right = bases[number % len(BASES)]
            data, action = mutated(number, base)
            path.write_bytes(data)
            report = {"number": number, "case": BASES[number % len(BASES)], "action": action}
            report["outcome"] = outcome(path, X, right, action == "accident")
            print(json.dumps(report), flush=True)


def started(*command, timeout=1800):
    """Python in a process of its own, which has the library and the tests."""
    paths = [str(Path(__file__).parents[1]), *sys.path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in paths if p)}
    return subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, timeout=timeout
    )


def measure(*paths):
    """Read files; of each a line with seconds, megabytes and the error."""

    def memory(name):
        status = Path("/proc/self/status").read_text()
        return int(re.search(name + r":\s*(\d+)", status)[1]) / 1000

    for path in paths:
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak
        start, before, said = time.process_time(), memory("VmRSS"), ""
        for read in (inspect, load):
            try:
                read(path)
            except ModelFileError as error:
                said = str(error)[:300].replace("\n", " ")
        print(time.process_time() - start, memory("VmHWM") - before, said, sep="|")


def measured(paths):
    """Of each file the seconds of a processor and megabytes that it takes, and the error."""
    done = started("-m", "files.mutations", "measure", *map(str, paths), timeout=300)
    assert done.returncode == 0, done.stderr
    lines = (line.split("|", 2) for line in done.stdout.splitlines())
    return [(float(seconds), float(megabytes), said) for seconds, megabytes, said in lines]


def run(count, start=0, batch=500):
    """Load ``count`` mutated files in processes of their own; returns outcomes and failures."""
    outcomes, failures = Counter(), []
    for first in range(start, start + count, batch):
        last = min(first + batch, start + count)
        done = started("-m", "files.mutations", str(first), str(last))
        reports = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        for report in reports:
            outcomes[report["action"], report["outcome"].split(" ")[0]] += 1
            if report["outcome"].startswith(("WRONG", "SLOW")):
                failures.append(report)
        if done.returncode != 0:  # the next one ended it
            said = f"exit {done.returncode}: {done.stderr[-800:]}"
            failures.append({"number": first + len(reports), "outcome": said})
    return outcomes, failures


if __name__ == "__main__":
    if sys.argv[1] == "measure":
        measure(*sys.argv[2:])
    else:
        worker(*map(int, sys.argv[1:]))
