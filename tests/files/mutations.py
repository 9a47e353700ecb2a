"""Damage model files in every way we can think of; loading must refuse them or give the same model.

    PYTHONPATH=src:tests python -m files.mutations 20000

Two kinds of damage. *Accidents* change bytes of a file and cannot know its hashes: the answer is a
`ModelFileError`, or the same model to the last bit. *Attacks* change what is inside and declare the
right sizes and hashes: the answer is a `ModelFileError`, or a model that can be asked without a
signal or a hang (a file that declares another sound tree is another sound model). The files are
loaded in a process of their own, so that a crash is seen.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from pathlib import Path

from costboost.errors import ModelFileError
from costboost.files import container, load
from costboost.files.model import contents
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


def pick(members, rng, ending=""):
    return rng.choice([name for name in members if name.endswith(ending)])


def number_in_text(members, rng):
    """A number of a text member replaced."""
    names = [name for name in members if name.endswith((".txt", "state.json"))]
    name = rng.choice(names)
    text = members[name].decode()
    found = list(re.finditer(r"-?\d+(\.\d+)?(e[-+]\d+)?", text))
    place = rng.choice(found)
    new = rng.choice((*NUMBERS.split(), str(rng.randrange(-20, 20))))
    members[name] = (text[: place.start()] + new + text[place.end() :]).encode()


def tree_field(members, rng):
    """A number in a structural line of a tree replaced by another that might pass."""
    names = [name for name in members if name.endswith(".txt")]
    if not names:
        return number_in_text(members, rng)
    name = rng.choice(names)
    lines = members[name].decode().split("\n")
    keys = "left_child right_child split_feature decision_type threshold num_leaves num_cat cat_"
    places = [i for i, line in enumerate(lines) if line.startswith(tuple(keys.split()))]
    i = rng.choice(places)
    key, _, value = lines[i].partition("=")
    items = value.split(" ")
    j = rng.randrange(len(items))
    items[j] = rng.choice((str(rng.randrange(-9, 12)), *NUMBERS.split()))
    lines[i] = f"{key}={' '.join(items)}"
    members[name] = "\n".join(lines).encode()
    if rng.random() < 0.8:
        members[name] = with_tree_sizes(members[name])
    return None


def with_tree_sizes(data):
    """A LightGBM text whose tree_sizes are right again."""
    text = data.decode()
    _, *trees = re.split(r"(?=^Tree=\d+$)", text, flags=re.MULTILINE)
    if trees:
        trees[-1] = trees[-1].split("end of trees")[0]
    sizes = " ".join(str(len(tree.encode())) for tree in trees)
    return re.sub(r"^tree_sizes=.*$", f"tree_sizes={sizes}", text, flags=re.MULTILINE).encode()


def lines_moved(members, rng):
    """Lines of a text member deleted, doubled or exchanged."""
    names = [name for name in members if name.endswith(".txt")]
    if not names:
        return state_value(members, rng)
    name = rng.choice(names)
    lines = members[name].decode().split("\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    action = rng.randrange(4)
    if action == 0:
        del lines[i]
    elif action == 1:
        lines.insert(j, lines[i])
    elif action == 2:
        lines[i], lines[j] = lines[j], lines[i]
    else:
        lines = lines[:i]
    members[name] = "\n".join(lines).encode()
    if rng.random() < 0.5:
        members[name] = with_tree_sizes(members[name])
    return None


def bytes_of_member(members, rng):
    """A member damaged like a file."""
    name = pick(members, rng)
    members[name] = rng.choice((flip, cut, lose))(members[name], rng) if members[name] else b"x"


def numbers_of_arrays(members, rng):
    """Four bytes of a binary member replaced by an integer that is out of range somewhere."""
    names = [name for name in members if name.endswith((".ubj", ".npy", ".skops"))]
    if not names:
        return number_in_text(members, rng)
    name = rng.choice(names)
    data = bytearray(members[name])
    place = rng.randrange(max(len(data) - 4, 1))
    value = rng.choice((-1, -2, 0, 1, 5, 77, 10**6, 2**31 - 1, -(2**31)))
    data[place : place + 4] = value.to_bytes(4, rng.choice(("big", "little")), signed=True)
    members[name] = bytes(data)
    return None


def xgboost_array(members, rng):
    """An entry of a structural array of an XGBoost model replaced."""
    names = [name for name in members if name.endswith(".ubj")]
    if not names:
        return tree_field(members, rng)
    name = rng.choice(names)
    data = bytearray(members[name])
    key = rng.choice(
        b"left_children right_children parents split_indices split_type categories "
        b"categories_nodes categories_segments categories_sizes".split()
    )
    places = [m.end() for m in re.finditer(re.escape(key) + rb"\[\$.#L", bytes(data))]
    if not places:
        return None
    at = rng.choice(places)
    count = int.from_bytes(data[at : at + 8], "big")
    width = {ord("l"): 4, ord("L"): 8, ord("U"): 1}.get(data[at - 3], 4)
    if count and rng.random() < 0.9:
        entry = at + 8 + width * rng.randrange(count)
        value = rng.choice((-1, 0, 1, 2, 3, 4, 5, 1000, 2**31 - 1))
        data[entry : entry + width] = (value % 2 ** (8 * width)).to_bytes(width, "big")
    else:
        value = rng.choice((0, 1, count + 1, 2**20, 2**40, 2**62))
        data[at : at + 8] = value.to_bytes(8, "big")
    members[name] = bytes(data)
    return None


def state_value(members, rng):
    """A value anywhere in state.json replaced, or a key renamed."""
    state = json.loads(members["state.json"])
    places = []
    stack = [state]
    while stack:
        item = stack.pop()
        pairs = item.items() if isinstance(item, dict) else enumerate(item)
        for key, inner in list(pairs):
            places.append((item, key))
            if isinstance(inner, (dict, list)):
                stack.append(inner)
    item, key = rng.choice(places)
    action = rng.randrange(4)
    if action == 0 and isinstance(item, dict):
        item[rng.choice(("ref", "predict", "__class__", "object", "n_features_in_"))] = item.pop(
            key
        )
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
        item[key] = rng.choice((*VALUES, {"ref": rng.randrange(-2, 40)}))
    members["state.json"] = json.dumps(state).encode()


def swapped(members, rng):
    """Contents of two members exchanged."""
    a, b = pick(members, rng), pick(members, rng)
    members[a], members[b] = members[b], members[a]


def renamed(members, rng):
    """A member under a name that is not allowed, or of its own invention."""
    name = pick(members, rng)
    bad = ("/etc/passwd", "../x.txt", "a\\b.txt", "boosters/../x.txt", "extra/0.txt", "CON", "")
    members[rng.choice(bad)] = members.pop(name) if rng.random() < 0.5 else members[name]


ATTACKS = (
    number_in_text,
    tree_field,
    tree_field,
    lines_moved,
    bytes_of_member,
    numbers_of_arrays,
    xgboost_array,
    xgboost_array,
    state_value,
    state_value,
    swapped,
    renamed,
)


def bomb(manifest, members, rng):
    """A file that asks for more memory or time than it should get."""
    buffer = io.BytesIO()
    kind = rng.randrange(6)
    if kind == 0:  # zeros
        members["arrays/bomb.npy"] = bytes(2**22)
    elif kind == 1:  # an array that says it is huge
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
        raw = b"\x93NUMPY\x01\x00" + (len(header) + 1).to_bytes(2, "little") + header + b"\n"
        members["arrays/bomb.npy"] = raw
        state = json.loads(members["state.json"])
        state["nodes"].insert(0, {"member": "arrays/bomb.npy"})
        members["state.json"] = json.dumps(state).encode()
    elif kind == 2:  # deep JSON
        members["state.json"] = b"[" * 200_000
    elif kind == 3:  # a node of a node of a node
        nodes = [{"list": [{"ref": max(i - 1, 0)}] * 9} for i in range(1, 200)]
        members["state.json"] = json.dumps({"nodes": [{"list": []}, *nodes], "root": 0}).encode()
    elif kind == 4:  # a long number
        members["state.json"] = b'{"nodes": [], "root": ' + b"9" * 100_000 + b"}"
    else:  # many members
        members.update({f"arrays/m{i}.npy": b"" for i in range(5000)})
    data = container.pack(manifest, members)
    if kind == 0:  # packed, as the writer would not
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in container.unpack(data)[1].items():
                archive.writestr(name, content)
        return buffer.getvalue()
    return data


def mutated(number, base):
    """A damaged file, what was done to it, and whether it was an accident."""
    rng = random.Random(number)
    manifest, members = base
    manifest, members = dict(manifest), dict(members)
    draw = rng.random()
    if draw < 0.4:
        action = rng.choice(ACCIDENTS)
        return action(container.pack(manifest, members), rng), action.__name__, True
    if draw < 0.42:
        return bomb(manifest, members, rng), "bomb", False
    if draw < 0.45:  # the manifest itself
        key = rng.choice(["class", "format", "members", "kind", "types"])
        data = container.pack(manifest, members)
        return rewritten_manifest(data, key, rng.choice(VALUES)), "manifest", False
    action = rng.choice(ATTACKS)
    action(members, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return container.pack(manifest, members), action.__name__, False


def rewritten_manifest(data, key, value):
    """A container with one entry of its manifest replaced."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename == "manifest.json":
                content = json.dumps({**json.loads(content), key: value}).encode()
            new.writestr(zipfile.ZipInfo(entry.filename), content)
    return buffer.getvalue()


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
            path = container.write(Path(folder) / "base", *base)
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


def run(count, start=0, batch=500, show=""):
    """Load ``count`` mutated files in processes of their own; returns outcomes and failures."""
    outcomes, failures = Counter(), []
    for first in range(start, start + count, batch):
        last = min(first + batch, start + count)
        command = [sys.executable, "-m", "files.mutations", "--worker", str(first), str(last)]
        paths = [str(Path(__file__).parents[1]), *sys.path]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in paths if p)}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=1800
        )
        reports = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        for report in reports:
            if report["outcome"] == "running":
                continue
            if show and report["outcome"].startswith(show):
                print(report)
            outcomes[report["action"], report["outcome"].split(" ")[0]] += 1
            if report["outcome"].startswith(("WRONG", "SLOW")):
                failures.append(report)
        if done.returncode != 0:
            at = reports[-1] if reports else {}
            failures.append({**at, "outcome": f"exit {done.returncode}: {done.stderr[-800:]}"})
    return outcomes, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=5000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--show", default="", help="print files whose outcome begins so")
    parser.add_argument("--worker", type=int, nargs=2)
    arguments = parser.parse_args()
    if arguments.worker:
        worker(*arguments.worker)
        return
    outcomes, failures = run(arguments.count, arguments.start, show=arguments.show)
    for (action, outcome), times in sorted(outcomes.items()):
        print(f"{action:20} {outcome:10} {times:6}")
    print(f"{sum(outcomes.values())} files, {len(failures)} failures")
    for failure in failures[:40]:
        print(failure)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
