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
import math
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
from costboost.files import FORMAT, load, save
from costboost.files.model import contents
from costboost.files.state import classes
from files.models import answers, fitted, same

BASES = (
    "AdaC2Classifier",
    "lightgbm, categories",
    "xgboost, categories",
    "xgboost, 3 booster(s), 3 classes",
    "CostingClassifier, 4 classes",
    "CSRealBoostClassifier",
    "sigmoid",
    "MCBoostClassifier, 4 classes",
    "lightgbm, columns for costs",
    "two heads",
    "LpCSB, adjusted, 3 classes",
    "RareBoostClassifier",
    "uncertain costs",
    "SAMMEC2, classifier",
    "LpCSB, direct, 3 classes",
)
# Seconds of processor time; a load that takes longer should have been refused before.
SLOW = 1.0
NUMBERS = (
    "-1 -2 0 1 2 3 7 -100 99 1000000 2147483647 -2147483648 4294967296 1e400 nan inf -0 1e-320"
)
VALUES = (None, True, False, -1, 0, 1, 2**31, 10**40, 0.5, "", "x", "__class__", [], {}, [[]])


# -- accidents: the bytes of a file ---------------------------------------------------------------


def flip(data, rng):
    """Some bits turned over."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def cut(data, rng):
    """The end missing."""
    return data[: rng.randrange(len(data))]


def lose(data, rng):
    """A part in the middle missing, doubled or zero."""
    a, b = sorted(rng.randrange(len(data)) for _ in range(2))
    b = min(b, a + 200)
    return data[:a] + rng.choice((b"", data[a:b] * 2, bytes(b - a))) + data[b:]


def append(data, rng):
    """Something before or behind the file."""
    junk = rng.randbytes(rng.randrange(1, 60))
    return rng.choice((junk + data, data + junk))


ACCIDENTS = (flip, cut, lose, append)


# -- attacks: what is inside ----------------------------------------------------------------------

STATE, ARRAYS = "state", "arrays"


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


def number_in_state(members, rng):
    """A number of the state replaced."""
    text = members[STATE].decode()
    place = rng.choice(list(re.finditer(r"-?\d+(\.\d+)?(e[-+]\d+)?", text)))
    new = rng.choice((*NUMBERS.split(), str(rng.randrange(-20, 20))))
    members[STATE] = (text[: place.start()] + new + text[place.end() :]).encode()


def entry_of_array(members, rng):
    """An entry of an array replaced by one that is out of range somewhere; trees are arrays too."""
    nodes = list(walk(json.loads(members[STATE])))
    arrays = [node for node in nodes if "array" in node and 0 not in node["array"]]
    place, wanted = 0, rng.randrange(len(arrays))
    for node in nodes:
        if "scalar" in node:
            place += np.dtype(node["scalar"]).itemsize
        if "array" not in node:
            continue
        dtype, count = np.dtype(node["array"][0]), math.prod(node["array"][1:])
        if node is arrays[wanted]:
            break
        place += dtype.itemsize * count
    data = bytearray(members[ARRAYS])
    value = rng.choice((-1, -2, 0, 1, 2, 3, 5, 77, 10**6, 2**30, 2**31 - 1, -(2**31), np.nan))
    some = np.frombuffer(data, dtype, count, place)
    with contextlib.suppress(ValueError, OverflowError, TypeError):
        for _ in range(rng.choice((1, 1, 3))):
            some[rng.randrange(count)] = value
    members[ARRAYS] = bytes(data)


def walk(value):
    """All objects of a JSON value, in the order of the text."""
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, (dict, list)):
            yield from walk(item)


def shape_or_type(members, rng):
    """An array that says it has another shape, or other numbers."""
    state = json.loads(members[STATE])
    node = rng.choice([node for node in walk(state) if "array" in node])
    if rng.random() < 0.5:
        kinds = ("<f8", "<f4", "<i8", "<i4", "|b1", "<U3", "|O", "<V8", "f8,f8")
        node["array"][0] = rng.choice(kinds)
    else:
        shape = node["array"][1:]
        shapes = ([2**39, 0], [2**62], [], [-1], [0], [1] * 40, shape[::-1], ["x"], [None])
        node["array"][1:] = rng.choice((*shapes, [*shape, 1]))
    members[STATE] = json.dumps(state).encode()


def bytes_of_member(members, rng):
    """The state or the arrays damaged like a file."""
    name = rng.choice((STATE, ARRAYS))
    members[name] = rng.choice((flip, cut, lose))(members[name], rng) if members[name] else b"x"


def state_value(members, rng):
    """A value anywhere in the state replaced, moved or removed, or a key renamed."""
    state = json.loads(members[STATE])
    places = []
    stack = [state]
    while stack:
        item = stack.pop()
        for key, inner in list(item.items() if isinstance(item, dict) else enumerate(item)):
            places.append((item, key))
            if isinstance(inner, (dict, list)):
                stack.append(inner)
    item, key = rng.choice(places)
    action = rng.randrange(4)
    if action == 0 and isinstance(item, dict):
        names = ("same", "predict", "__class__", "tuple", "n_features_in_", "tree_")
        item[rng.choice(names)] = item.pop(key)
    elif action == 1:
        other, place = rng.choice(places)
        item[key] = other[place]
        try:
            json.dumps(state)
        except ValueError:  # it contains itself now
            item[key] = None
    elif action == 2:
        del item[key]
    else:
        item[key] = rng.choice((*VALUES, {"same": rng.randrange(-2, 40)}))
    members[STATE] = json.dumps(state).encode()


def another_class(members, rng):
    """An object that says it is of another class."""
    state = json.loads(members[STATE])
    node = rng.choice([node for node in walk(state) if next(iter(node), "") in classes()])
    content = node.pop(next(iter(node)))
    node[rng.choice((*sorted(classes()), "Popen", "os.system", ""))] = content
    members[STATE] = json.dumps(state).encode()


ATTACKS = (
    number_in_state,
    number_in_state,
    entry_of_array,
    entry_of_array,
    entry_of_array,
    entry_of_array,
    shape_or_type,
    bytes_of_member,
    state_value,
    state_value,
    another_class,
)


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
    "shared tables": shared_tables,
    "designs": doubling_designs,
    "generators": generators,
}


def bomb_file(kind, manifest=b"{}"):
    """A file with such a state, packed as tightly as it may be."""
    found = BOMBS[kind]()
    state, arrays = (found, b"") if isinstance(found, bytes) else found
    return forged(manifest, state, arrays, content=tight(state + arrays))


def bomb(manifest, members, rng):
    """A file that asks for more memory or time than it should get."""
    kind = rng.choice([*BOMBS, "zeros"])
    if kind == "zeros":  # packed as the writer would not
        return forged(manifest, members[STATE], members[ARRAYS] + bytes(2**24), level=9)
    return bomb_file(kind, manifest)


def mutated(number, base):
    """A damaged file, what was done to it, and whether it was an accident."""
    rng = random.Random(number)
    members = {STATE: base[1], ARRAYS: base[2]}
    manifest, draw = json.dumps(base[0]).encode(), rng.random()
    if draw < 0.4:
        action = rng.choice(ACCIDENTS)
        return action(forged(manifest, *members.values()), rng), action.__name__, True
    if draw < 0.42:
        return bomb(manifest, members, rng), "bomb", False
    if draw < 0.45:
        key = rng.choice(["class", "untrusted", "boosters", "features"])
        manifest = json.dumps({**base[0], key: rng.choice(VALUES)}).encode()
        return forged(manifest, *members.values()), "manifest", False
    action = rng.choice(ATTACKS)
    action(members, rng)
    return forged(manifest, *members.values()), action.__name__, False


# -- asking ---------------------------------------------------------------------------------------


def ask(model, X):
    """Call all that reads the trees; a bad answer is allowed, a crash is not."""
    for method in ("predict", "predict_proba", "contributions", "staged_decision_function"):
        if not hasattr(type(model), method):
            continue
        try:
            answer = getattr(model, method)(X)
            list(answer) if method.startswith("staged") else answer
        except Exception as error:
            return f"unusable model: {error!r:.200}"
    return "another model"


def worker(first, last):
    """Load the files from first to last - 1; one line of JSON for each."""
    warnings.simplefilter("ignore")
    bases = {}
    for case in BASES:
        model, X = fitted(case)
        base = contents(model)
        with tempfile.TemporaryDirectory() as folder:
            path = save(model, Path(folder) / "base")
            bases[case] = base, answers(load(path), X), X  # the copy's, for SHAP values
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutant.costboost"
        for number in range(first, last):
            case = BASES[number % len(BASES)]
            base, right, X = bases[case]
            data, action, is_accident = mutated(number, base)
            path.write_bytes(data)
            report = {"number": number, "case": case, "action": action}
            print(json.dumps({**report, "outcome": "running"}), flush=True)
            start = time.process_time()
            try:
                model = load(path)
            except ModelFileError:
                outcome = "refused"
            except Exception as error:
                outcome = f"WRONG ERROR {error!r:.300}"
            else:
                outcome = "ok"
            seconds = time.process_time() - start
            if outcome == "ok":
                try:
                    is_same = same(answers(model, X), right)
                except Exception:
                    is_same = False
                outcome = "the same model" if is_same else ask(model, X)
                if is_accident and not is_same:
                    outcome = f"WRONG MODEL after an accident ({outcome})"
            if seconds > SLOW:
                outcome = f"SLOW {seconds:.1f} s, {outcome}"
            print(json.dumps({**report, "outcome": outcome}), flush=True)


def started(*command, timeout=1800):
    """Python in a process of its own, which has the library and the tests."""
    paths = [str(Path(__file__).parents[1]), *sys.path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in paths if p)}
    return subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, timeout=timeout
    )


MEASURE = """
import re, sys, time
from pathlib import Path
import costboost.algorithms, costboost.gbm
from costboost.errors import ModelFileError
from costboost.files import inspect, load

def memory(name):
    return int(re.search(name + r":\\s*(\\d+)", Path("/proc/self/status").read_text())[1]) / 1000

for path in sys.argv[1:]:
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak
    start, before, said = time.process_time(), memory("VmRSS"), ""
    for read in (inspect, load):
        try:
            read(path)
        except ModelFileError as error:
            said = str(error)[:300].replace("\\n", " ")
    print(time.process_time() - start, memory("VmHWM") - before, said, sep="|")
"""


def measured(paths):
    """Of each file the seconds of a processor and megabytes that it takes, and the error."""
    done = started("-c", MEASURE, *map(str, paths), timeout=300)
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
            if report["outcome"] == "running":
                continue
            outcomes[report["action"], report["outcome"].split(" ")[0]] += 1
            if report["outcome"].startswith(("WRONG", "SLOW")):
                failures.append(report)
        if done.returncode != 0:
            at = reports[-1] if reports else {}
            failures.append({**at, "outcome": f"exit {done.returncode}: {done.stderr[-800:]}"})
    return outcomes, failures


if __name__ == "__main__":
    worker(*map(int, sys.argv[1:]))
