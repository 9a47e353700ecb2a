"""Files that are no model: one kind of error, in time, and nothing is built from them."""

from __future__ import annotations

import hashlib
import io
import json
import re
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from costboost.errors import ModelFileError
from costboost.files import FORMAT, Limits, container, inspect, load, save, skops_parts
from costboost.files.container import pack, unpack
from costboost.files.model import contents
from costboost.files.state import ARRAYS, STATE, Decoder
from costboost.trees import Trees
from files.models import answers, fitted, make, rows, same
from files.mutations import rewritten_manifest, run

# -- the container --------------------------------------------------------------------------------

MEMBERS = {"state.json": b'{"a": 1}', "arrays.bin": bytes(range(256)) * 9}
GOOD = pack({"class": "x"}, MEMBERS)


def zipped(entries, compression=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return buffer.getvalue()


def declared(entries, table=None):
    """A container of any entries, whose manifest declares them rightly."""
    table = table or {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in entries
    }
    manifest = {"kind": container.KIND, "format": FORMAT, "members": table}
    return zipped([("manifest.json", json.dumps(manifest)), *entries])


def overlapping():
    """Two names for the same bytes, as in the bombs that expand quadratically."""
    data = bytearray(declared([("a/0.txt", b"x" * 500), ("b/0.txt", b"x" * 500)]))
    places = [m.start() for m in re.finditer(b"PK\x01\x02", bytes(data))]
    data[places[2] + 42 : places[2] + 46] = data[places[1] + 42 : places[1] + 46]
    return bytes(data)


def test_members_come_back_and_bytes_do_not_depend_on_their_order():
    manifest, members = unpack(GOOD)
    assert members == MEMBERS and manifest["class"] == "x" and manifest["format"] == FORMAT
    assert pack({"class": "x"}, dict(reversed(MEMBERS.items()))) == GOOD
    zeros = {"arrays.bin": bytes(2**23)}  # stored, since packed it would look like a bomb
    assert unpack(pack({}, zeros))[1] == zeros


A = ("a/0.txt", b"hello")
CONTAINERS = {
    "nothing": (b"", "not a zip"),
    "text": (b"model = 1\n" * 100, "not a zip"),
    "half": (GOOD[: len(GOOD) // 2], "cut off"),
    "a byte more": (GOOD + b"\x00", "behind its end"),
    "a prefix": (b"PK" + GOOD, "does not lie"),
    "no manifest": (zipped([A]), "no manifest.json"),
    "another zip": (zipped([("manifest.json", "{}")]), "does not say so"),
    "manifest not JSON": (zipped([("manifest.json", "{'a': 1}")]), "not valid JSON"),
    "manifest with NaN": (zipped([("manifest.json", '{"a": NaN}')]), "not valid JSON"),
    "a key twice": (zipped([("manifest.json", '{"a": 1, "a": 2}')]), "twice"),
    "deep JSON": (zipped([("manifest.json", "[" * 10**5)]), "not valid JSON"),
    "much JSON": (zipped([("manifest.json", "[0" + ",0" * 10**6)], 0), "about 1000001 values"),
    "an older format": (rewritten_manifest(GOOD, "format", 1), "Fit the model again"),
    "a newer format": (rewritten_manifest(GOOD, "format", FORMAT + 1), "Update costboost"),
    "no format": (rewritten_manifest(GOOD, "format", "two"), "format number"),
    "no table": (rewritten_manifest(GOOD, "members", 3), "no table of members"),
    "no size": (rewritten_manifest(GOOD, "members", {"a.txt": {}}), "must declare"),
    "a member too many": (declared([A], {"state.json": {"bytes": 5, "sha256": ""}}), "lacks"),
    "unexpected": (rewritten_manifest(declared([A]), "members", {}), "unexpected member a/0.txt"),
    "a wrong size": (declared([A], {"a/0.txt": {"bytes": 4, "sha256": ""}}), "declares 4"),
    "a wrong hash": (declared([A], {"a/0.txt": {"bytes": 5, "sha256": "0"}}), "SHA-256"),
    "an absolute path": (declared([("/etc/passwd.txt", b"")]), "not allowed"),
    "a parent path": (declared([("a/../../b.txt", b"")]), "not allowed"),
    "a backslash": (declared([("a\\b.txt", b"")]), "not allowed"),
    "unknown packing": (zipped([("manifest.json", "{}")], zipfile.ZIP_BZIP2), "packed in a way"),
    "a bomb": (declared([("a/0.txt", bytes(2**22))]), "would grow"),
    "overlapping": (overlapping(), "Member b/0.txt|overlap"),
    "many members": (declared([(f"a/{i}.txt", b"") for i in range(1002)]), "at most 1000"),
}  # fmt: skip


@pytest.mark.parametrize("case", CONTAINERS)
def test_bad_containers_are_one_kind_of_error(case, tmp_path):
    data, words = CONTAINERS[case]
    path = tmp_path / "bad.costboost"
    path.write_bytes(data)
    for read in (load, inspect):
        with pytest.raises(ModelFileError, match=rf"bad\.costboost: .*({words})"):
            read(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_twice():
    with pytest.raises(ModelFileError, match="occurs twice"):
        unpack(declared([A, A]))


@pytest.mark.parametrize("limits, words", [
    (Limits(total=100), "limit is 100"),
    (Limits(members=0), "at most 0"),
    (Limits(json=10), "limit is 10"),
    (Limits(values=3), "at most .* and 3"),
])  # fmt: skip
def test_limits_hold(limits, words):
    with pytest.raises(ModelFileError, match=words):
        unpack(GOOD, limits)


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none")
    with pytest.raises((ModelFileError, IsADirectoryError)):
        load(tmp_path)


# -- values ---------------------------------------------------------------------------------------


def decoded(value, data=b"", objects=()):
    """A value of a state, read."""
    nodes = [*objects, {"class": "Members", "items": [value]}]
    members = {STATE: json.dumps({"objects": nodes}).encode(), ARRAYS: data}
    return Decoder(members, frozenset()).root()[0]


def nested(depth):
    value = 0
    for _ in range(depth):
        value = [value]
    return value


def colliding(n):
    """Numbers with one hash."""
    return [[i * (2**61 - 1), 0] for i in range(n)]


VALUES = {
    "an unknown kind": ({"eval": "1"}, b"", "not allowed"),
    "two kinds": ({"tuple": [], "set": []}, b"", "not allowed"),
    "an unknown float": ({"float": "1"}, b"", "cannot be read"),
    "bytes": ({"bytes": "xyz"}, b"", "cannot be read"),
    "deep": (nested(40), b"", "deep"),
    "a list as a key": ({"pairs": [[[], 1]]}, b"", "unhashable"),
    "a key twice": ({"pairs": [[1, 1], [1, 2]]}, b"", "twice"),
    "not pairs": ({"pairs": [1, 2]}, b"", "cannot be read"),
    "keys that collide": ({"pairs": colliding(30_000)}, b"", "too many keys"),
    "a set that collides": ({"set": [a for a, _ in colliding(30_000)]}, b"", "too many keys"),
    "itself": ({"object": 0}, b"", "only earlier objects"),
    "a later object": ({"object": 10**9}, b"", "only earlier objects"),
    "a negative object": ({"object": -1}, b"", "only earlier objects"),
    "a builtin function": ({"function": "eval"}, b"", "files do not hold"),
    "a class as a function": ({"function": "Tree"}, b"", "files do not hold"),
    "pickled objects": ({"array": "|O", "shape": [1]}, bytes(8), "type"),
    "records": ({"array": "f8,f8", "shape": [1]}, bytes(16), "type"),
    "a huge array": ({"array": "<f8", "shape": [10**9]}, b"", "needs 8000000000 bytes"),
    "a shape that overflows": ({"array": "<f8", "shape": [2**39, 2**39]}, b"", "needs"),
    "an empty giant": ({"array": "<f8", "shape": [2**39, 0]}, b"", "needs 0 bytes"),
    "long text of nothing": ({"array": "<U999999999", "shape": [0]}, b"", "type"),
    "a negative shape": ({"array": "<f8", "shape": [-1]}, b"", "no array can have"),
    "booleans": ({"array": "|b1", "shape": [1]}, b"\x07", "neither 0 nor 1"),
    "text": ({"array": "<U1", "shape": [1]}, b"\xff\xff\xff\x7f", "do not exist"),
    "bytes that nothing names": (1, b"x", "belongs to no object"),
    "a scalar without bytes": ({"scalar": "<f8"}, b"", "needs 8 bytes"),
    "objects": ({"objects": [1, 2], "shape": [3]}, b"", "cannot be read"),
    "a generator": ({"random": {"dict": {"bit_generator": "MT19937"}}}, b"", "cannot be read"),
}  # fmt: skip


@pytest.mark.parametrize("case", VALUES)
def test_values_that_are_none(case):
    value, data, words = VALUES[case]
    start = time.process_time()
    with pytest.raises(ModelFileError, match=words):
        decoded(value, data)
    assert time.process_time() - start < 1.0


def test_what_doubles_is_refused_at_once():
    """Forty objects that hold the one before twice would be 10^12 values to hash or to print."""
    objects = [{"class": "Members", "items": [1, 2]}]
    objects += [{"class": "Members", "items": [{"object": i}] * 2} for i in range(40)]
    with pytest.raises(ModelFileError, match="written out in full"):
        decoded({"object": 40}, objects=objects)


# -- states ---------------------------------------------------------------------------------------


def changed(case, change, path):
    """A file of a model whose state was changed, with hashes that are right."""
    manifest, members = contents(fitted(case)[0])
    state = json.loads(members[STATE])
    change(state["objects"], state["objects"][-1]["fields"])
    return container.write(path, manifest, {**members, STATE: json.dumps(state).encode()})


def put(name, value, of=None):
    """Set a field of the classifier, or of the first part of a class."""

    def change(objects, root):
        fields = next(n["fields"] for n in objects if n["class"] == of) if of else root
        fields[name] = value

    return change


def pop(name, of=None):
    def change(objects, root):
        (next(n["fields"] for n in objects if n["class"] == of) if of else root).pop(name)

    return change


STATES = {
    "a method hidden": (put("predict", 1), "no attribute 'predict'"),
    "a dunder": (put("__class__", "x"), "no attribute '__class__'"),
    "a parameter missing": (pop("n_estimators"), "lacks, or cannot have, 'n_estimators'"),
    "a field missing": (pop("outputs", "StepRule"), "lacks, or cannot have, 'outputs'"),
    "a field too many": (put("more", 1, "StepRule"), "lacks, or cannot have, 'more'"),
    "a column beyond": (put("feature", 4, "StepRule"), "asks for column 4, and there are 4"),
    "a column far beyond": (put("feature", 2**30, "StepRule"), "asks for column 1073741824"),
    "a column before": (put("feature", -1, "StepRule"), "must be a column number"),
    "threads": (put("n_jobs", 10**6), "at most 1024"),
    "no features": (put("n_features_in_", 0), "number of features"),
    "many features": (put("n_features_in_", 10**12), "number of features"),
    "another width": (put("n_features_in_", 1), "asks for column|cannot decide|that of the columns"),
    "text for an ensemble": (put("_ensemble", "x"), "cannot decide"),
    "no classes": (lambda o, r: r["classes_"].update(shape=[2, 1]), "two classes"),
    "costs": (lambda o, r: r["cost_matrix_"].update(shape=[4]), r"costs of the shape \(2, 2\)"),
    "a class unknown": (lambda o, r: o.insert(0, {"class": "Popen", "fields": {}}), "'Popen', wh"),
    "a class by its place": (
        lambda o, r: o.insert(0, {"class": "subprocess:Popen", "fields": {}}), "do not hold"),
    "no object": (lambda o, r: o.clear(), "list of objects"),
    "an unknown object": (lambda o, r: o.insert(0, {"code": "print(1)"}), "unknown keys"),
    "another root": (lambda o, r: o.append(o[0]), "is not a CSRealBoostClassifier|arrays.bin"),
}  # fmt: skip


@pytest.mark.parametrize("case", STATES)
def test_states_that_are_no_model(case, tmp_path):
    change, words = STATES[case]
    with pytest.raises(ModelFileError, match=words):
        load(changed("histograms", change, tmp_path / "m"))


def test_the_class_must_be_that_of_the_manifest(tmp_path):
    manifest, members = contents(fitted("histograms")[0])
    for name, words in (("AdaC1Classifier", "is not a AdaC1"), ("StepRule", "not a classifier")):
        path = container.write(tmp_path / "m", {**manifest, "class": name}, members)
        with pytest.raises(ModelFileError, match=words):
            load(path)
    path = container.write(tmp_path / "m", manifest, {**members, "sklearn/x.skops": b""})
    with pytest.raises(ModelFileError, match="belongs to no object"):
        load(path)


# -- trees ----------------------------------------------------------------------------------------

X, Y = rows()


def arrays_of(node, name=""):
    """The arrays of an object, in the order of their bytes."""
    if isinstance(node, dict) and ("array" in node or "scalar" in node):
        yield name, node.get("array", node.get("scalar")), node.get("shape", [])
    elif isinstance(node, (dict, list)):
        for key, item in node.items() if isinstance(node, dict) else enumerate(node):
            yield from arrays_of(item, key)


def tampered(model, kind, name, change, path):
    """A file in which an array of the first object of a kind was changed."""
    manifest, members = contents(model)
    data, place, done = bytearray(members[ARRAYS]), 0, False
    for node in json.loads(members[STATE])["objects"]:
        for key, dtype, shape in arrays_of(node):
            count = int(np.prod(shape))
            if not done and kind in (*node, node.get("class")) and key == name:
                change(np.frombuffer(data, dtype, count, place).reshape(shape))
                done = True
            place += count * np.dtype(dtype).itemsize
    assert done
    return container.write(path, manifest, {**members, ARRAYS: bytes(data)})


def entry(where, value):
    return lambda array: array.__setitem__(where, value)


SKLEARN = {
    "child beyond": ("left_child", 0, 10**6),
    "child negative": ("right_child", 0, -9),
    "a cycle": ("left_child", 1, 0),
    "one child": ("left_child", 0, -1),
    "feature beyond": ("feature", 0, 2**30),
    "feature of another table": ("feature", 0, 4),
    "threshold": ("threshold", 0, np.nan),
}


@pytest.mark.parametrize("case", SKLEARN)
@pytest.mark.parametrize("forest", [False, True], ids=["tree", "forest"])
def test_broken_trees_of_scikit_learn_are_refused(case, forest, tmp_path):
    estimator = DecisionTreeClassifier(max_depth=4, random_state=0)
    if forest:
        estimator = RandomForestClassifier(n_estimators=2, random_state=0)
    model = make("MinCostClassifier", estimator=estimator).fit(X, Y)
    name, where, value = SKLEARN[case]
    with pytest.raises(ModelFileError, match=r"child|column|number"):
        load(tampered(model, "tree", name, entry(where, value), tmp_path / "m"))


TABLES = {
    "child beyond": ("children", (0, 0), 10**6, "one parent"),
    "leaf beyond": ("children", (0, 0), -(10**6), "one parent"),
    "a cycle": ("children", (0, 1), 0, "one parent"),
    "root beyond": ("roots", 0, 10**6, "one parent"),
    "feature beyond": ("feature", 0, 2**30, "asks for column 1073741824"),
    "feature of another table": ("feature", 0, 17, "asks for column 17"),
    "feature before": ("feature", 0, -1, "features"),
    "threshold": ("threshold", ..., np.nan, "numbers"),
    "leaf": ("values", 0, np.inf, "finite"),
    "kind": ("kind", 0, 64, "kinds"),
    "a set beyond": ("words", ..., 2**30, "sets of categories"),
    "cover": ("leaf_cover", 0, -1.0, "covers"),
}


@pytest.mark.parametrize("case", TABLES)
@pytest.mark.parametrize("of", ["lightgbm, categories", "xgboost, categories", "AdaC2Classifier"])
def test_broken_tables_of_trees_are_refused(case, of, tmp_path):
    name, where, value, words = TABLES[case]
    with pytest.raises(ModelFileError, match=words):
        load(tampered(fitted(of)[0], "Trees", name, entry(where, value), tmp_path / "m"))


def test_a_deep_tree_is_refused(tmp_path):
    n = 2000
    chain = Trees(
        1, np.zeros(1), np.zeros(1, np.int32), np.zeros(n, np.int32), np.zeros(n),
        np.zeros(n, np.int8), np.zeros(n, np.int32),
        np.stack([np.append(np.arange(1, n), ~n), ~np.arange(n)], axis=1).astype(np.int32),
        np.zeros(n + 1), np.zeros(0, np.uint32), np.zeros(n), np.ones(n + 1),
    )  # fmt: skip
    model = make("AdaC2Classifier").fit(X, Y)
    model._ensemble.trees = chain
    with pytest.raises(ModelFileError, match="depth"):
        load(save(model, tmp_path / "m"))


def test_trees_inside_a_forest_come_back(tmp_path):
    forest = RandomForestClassifier(n_estimators=3, random_state=0)
    model = make("MinCostClassifier", estimator=forest).fit(X, Y)
    assert same(answers(load(save(model, tmp_path / "m")), X), answers(model, X))


# -- objects by skops -----------------------------------------------------------------------------


def archive(schema):
    return zipped([("schema.json", json.dumps(schema))], zipfile.ZIP_STORED)


def node(cls, module, loader, content=None, **more):
    names = {"__class__": cls, "__module__": module, "__loader__": loader}
    return {**names, "content": content, **more, "protocol": 2, "_skops_version": "0.16"}


EMPTY = node("dict", "builtins", "DictNode", {}, key_types=node("list", "builtins", "ListNode", []))
ATTACKS = {
    "a function": node("system", "posix", "FunctionNode"),
    "a call by reduce": node("system", "posix", "ReduceNode", EMPTY, __reduce__={"args": EMPTY}),
    "a type": node("Popen", "subprocess", "TypeNode"),
    "an object": node("Popen", "subprocess", "ObjectNode", EMPTY),
    "a module that runs when imported": node("s", "this", "TypeNode"),
    "a tree that says it is a dict": node(
        "dict", "builtins", "TreeNode", EMPTY, __reduce__={"args": EMPTY}
    ),
    "a tree of compiled code": node("Tree", "sklearn.tree._tree", "TreeNode", EMPTY),
    "nothing of scikit-learn": EMPTY,
}  # fmt: skip


@pytest.mark.parametrize("case", ATTACKS)
def test_nothing_is_built_that_is_not_trusted(case):
    pytest.importorskip("skops")
    sys.modules.pop("this", None)
    with pytest.raises(ModelFileError):
        skops_parts.load(archive(ATTACKS[case]), (), "it")
    assert "this" not in sys.modules


def test_packed_parts_are_refused():
    data = zipped([("schema.json", json.dumps(EMPTY) + " " * 10**6)])
    with pytest.raises(ModelFileError, match="not an archive of skops as costboost"):
        skops_parts.load(data, (), "it")


# -- time and memory ------------------------------------------------------------------------------


def many(n, item):
    """A state with a list of so many values."""
    return b'{"objects": [{"class": "Members", "items": [' + b",".join([item] * n) + b"]}]}"


LARGE = {
    "lists": many(249_000, b"[]"),
    "mappings": many(166_000, b'{"dict":{}}'),
    "arrays": many(124_000, b'{"array":"<f8","shape":[0]}'),
    "objects": b'{"objects": [' + b",".join([b'{"class":"Votes","fields":{}}'] * 124_000) + b"]}",
    "frames": many(60_000, b'{"frame":[[],[],[]]}'),
    "more than there may be": many(3_000_000, b"[]"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", LARGE)
def test_large_files_end_in_time(case, tmp_path):
    """Within 5 seconds of one processor and 500 MB; a process of its own, whose peak is known."""
    manifest, members = contents(fitted("histograms")[0])
    path = container.write(tmp_path / "m", manifest, {**members, STATE: LARGE[case]})
    assert path.stat().st_size < 10_000_000
    code = (
        "import resource, time; from costboost.files import inspect, load; "
        "from costboost.errors import ModelFileError; import costboost.algorithms\n"
        "def used(): r = resource.getrusage(resource.RUSAGE_SELF); return r.ru_utime, r.ru_maxrss\n"
        "before = used(); inspect(PATH)\n"
        "try: load(PATH)\n"
        "except ModelFileError: pass\n"
        "after = used(); print(after[0] - before[0], (after[1] - before[1]) / 1000)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code.replace("PATH", repr(str(path)))],
        capture_output=True, text=True, timeout=100, check=True,
    )  # fmt: skip
    seconds, megabytes = map(float, done.stdout.split())
    assert seconds < 5 and megabytes < 500


def test_mutated_files_are_refused_or_equal():
    """A sample; `python -m files.mutations 5000` runs them all."""
    outcomes, failures = run(120, start=7_000_000)
    assert not failures
    assert sum(outcomes.values()) == 120
