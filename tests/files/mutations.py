"""Damage model files in every way we can think of; loading must refuse them or give a model.

Two kinds of damage. *Accidents* change bytes of a file: the answer is a `ModelFileError`, or the
same model to the last bit. *Attacks* change what is inside and pack it properly: the answer is a
`ModelFileError`, or a model that can be asked without a crash (a file with another sound tree is
another sound model). The files are loaded in a process of their own, so that a crash is seen.
`tests/trust/files_part.py` loads many.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np

from costboost.errors import ModelFileError
from costboost.files import load, save
from files.models import answers, fitted, same

BASES = (
    "AdaC2Classifier", "lightgbm, categories", "two heads", "sigmoid", "scikit-learn trees",
    "lightgbm, 3 booster(s), 3 classes", "CostingClassifier, 4 classes", "CSRealBoostClassifier",
    "MCBoostClassifier, 4 classes", "lightgbm, columns for costs", "LpCSB, adjusted, 3 classes",
    "RareBoostClassifier", "SAMMEC2, classifier", "LpCSB, direct, 3 classes",
    "a generator as seed",
)  # fmt: skip
NUMBERS = (-1, -2, 0, 1, 2, 3, 5, 7, -100, 99, 10**6, 2**30, 2**31 - 1, -(2**31), np.nan)
VALUES = (None, True, False, 0.5, 10**40, 1e-320, np.inf, "", "x", "__class__", [], {}, [[]])
TYPES = ("<f8", "<f4", "<i8", "<i4", "|b1", "<U3", "<M8[D]")
SHAPES = ([0], [-1], [1], [1, -1], [-1, 1], [1, 1, -1], [0, 2**40])
NAMES = ("predict", "check", "width", "__class__", "n_features_in_", "tree_", "estimators_")


def unpacked(data):
    """The schema of a file, and all its other members."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(members.pop("schema.json")), members


def packed(schema, members, compression=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, member in {**members, "schema.json": json.dumps(schema)}.items():
            archive.writestr(name, member)
    return buffer.getvalue()


def array_bytes(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


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


def places(value, kinds=(dict, list)):
    """All dictionaries and lists of a schema, with the keys of their values."""
    waiting, found = [value], []
    while waiting:
        item = waiting.pop()
        keys = item if isinstance(item, dict) else range(len(item))
        for key in keys:
            found.append((item, key))
            if isinstance(item[key], kinds):
                waiting.append(item[key])
    return found


def node_of(schema, name, of=""):
    """The first node of a schema that is the value of a name, in objects of a class."""
    for item, key in places(schema):
        if key == name and isinstance(item, dict) and isinstance(item[key], dict):
            return item, item[key]
    raise AssertionError(f"there is no {name}")


def entry_of_array(schema, members, rng):
    """Entries of an array replaced by one that is out of range somewhere; trees are arrays too."""
    name = rng.choice([name for name in members if name.endswith(".npy")])
    array = np.load(io.BytesIO(members[name]))
    if not array.size:
        return
    fields = array.dtype.names
    view = array[rng.choice(fields)] if fields else array
    with contextlib.suppress(ValueError, OverflowError, TypeError):
        if view.ndim == 0:
            array = np.array(rng.choice(NUMBERS)).astype(array.dtype)
        else:
            for _ in range(rng.choice((1, 1, 3))):
                place = tuple(rng.randrange(n) for n in view.shape)
                view[place] = rng.choice(NUMBERS)
    members[name] = array_bytes(array)


def form_of_array(schema, members, rng):
    """Another type, another shape, or fewer bytes."""
    name = rng.choice([name for name in members if name.endswith(".npy")])
    array = np.load(io.BytesIO(members[name]))
    with contextlib.suppress(ValueError, OverflowError, TypeError), np.errstate(all="ignore"):
        array = rng.choice(
            (
                lambda: array.astype(rng.choice(TYPES)),
                lambda: array.reshape(rng.choice(SHAPES)),
                lambda: array[: rng.randrange(max(len(array), 1))],
                lambda: np.concatenate([array, array]),
            )
        )()
    members[name] = array_bytes(array)
    if rng.random() < 0.2:
        members[name] = accident(members[name], rng)


def value_of_schema(schema, members, rng):
    """A value replaced, moved or removed; a key, a class or a member changed."""
    found = places(schema)
    action = rng.choice(("content", "content", "content", "key", "move", "move", "class", "lose"))
    item, key = rng.choice(found)
    if action == "content":
        texts = [(x, k) for x, k in found if k == "content" and isinstance(x[k], str)]
        item, key = rng.choice(texts)
        value = rng.choice((*NUMBERS, *VALUES, rng.randrange(-20, 20)))
        item[key] = json.dumps(value)
    elif action == "key":
        named = [(x, k) for x, k in found if isinstance(x, dict) and not k.startswith("__")]
        item, key = rng.choice(named)
        item[rng.choice(NAMES)] = item.pop(key)
    elif action == "move":
        other, place = rng.choice(found)
        item[key] = json.loads(json.dumps(other[place]))
    elif action == "class":
        named = [x for x, k in found if k == "__class__"]
        one, another = rng.choice(named), rng.choice(named)
        for name in ("__class__", "__module__", "__loader__")[: rng.choice((2, 3))]:
            one[name] = another[name]
    else:
        del item[key]


ATTACKS = (entry_of_array, entry_of_array, form_of_array, value_of_schema, value_of_schema)


def mutated(number, base):
    """A damaged file, and what was done to it."""
    rng = random.Random(number)
    if rng.random() < 0.3:
        return accident(base, rng), "accident"
    schema, members = unpacked(base)
    attack = rng.choice(ATTACKS)
    attack(schema, members, rng)
    if rng.random() < 0.3:
        with contextlib.suppress(ValueError):  # an array that the first has damaged
            attack(schema, members, rng)
    return packed(schema, members), attack.__name__


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
    try:
        model = load(path)
    except ModelFileError:
        return "refused"
    except Exception as error:
        return f"WRONG ERROR {error!r:.300}"
    is_same = False
    with contextlib.suppress(Exception):
        is_same = same(answers(model, X), right)
    said = "the same model" if is_same else ask(model, X)
    if is_accident and not is_same:
        return f"WRONG MODEL after an accident ({said})"
    return said


def worker(first, last):
    """Load the files from first to last - 1; one line of JSON for each."""
    warnings.simplefilter("ignore")
    bases = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutant.costboost"
        for case in BASES:
            model, X = fitted(case)
            right = answers(load(save(model, path)), X)
            bases.append((path.read_bytes(), X, right))
        for number in range(first, last):
            base, X, right = bases[number % len(BASES)]
            data, action = mutated(number, base)
            path.write_bytes(data)
            report = {"number": number, "case": BASES[number % len(BASES)], "action": action}
            print(json.dumps(report | {"outcome": "begun"}), file=sys.stderr, flush=True)
            report["outcome"] = outcome(path, X, right, action == "accident")
            print(json.dumps(report), flush=True)


def started(*command, timeout=3600):
    """Python in a process of its own, which has the library and the tests."""
    paths = [str(Path(__file__).parents[1]), *sys.path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in paths if p)}
    return subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, timeout=timeout
    )


def run(count, start=0, batch=500):
    """Load ``count`` mutated files in processes of their own; returns outcomes and failures."""
    outcomes, failures = Counter(), []
    for first in range(start, start + count, batch):
        last = min(first + batch, start + count)
        done = started("-m", "files.mutations", str(first), str(last))
        reports = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        for report in reports:
            outcomes[report["action"], report["outcome"].split(" ")[0]] += 1
            if report["outcome"].startswith("WRONG"):
                failures.append(report)
        if done.returncode != 0:  # the next one ended it
            said = f"exit {done.returncode}: {done.stderr[-800:]}"
            failures.append({"number": first + len(reports), "outcome": said})
    return outcomes, failures


if __name__ == "__main__":
    worker(*map(int, sys.argv[1:]))
