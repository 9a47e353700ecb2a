"""Files that are no model: one kind of error, in time, and nothing is built from them."""

from __future__ import annotations

import io
import json
import sys
import zipfile
import zlib

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from costboost.errors import ModelFileError
from costboost.files import FORMAT, Limits, inspect, load, save
from costboost.files.container import pack, read
from costboost.files.estimators import dump_tree, load_part, load_tree
from costboost.files.model import contents
from costboost.files.state import Decoder, Encoder
from costboost.trees import Trees
from files import mutations
from files.models import answers, fitted, make, rows, same
from files.mutations import arrays_of, forged, signed, walk

# -- the container --------------------------------------------------------------------------------

STATE, ARRAYS = b'{"a": 1}', bytes(range(256)) * 9
GOOD = pack({"class": "x"}, STATE, ARRAYS)


def container(manifest=b"{}", **more):
    return forged(manifest, **{"state": STATE, **more})


BOMB = {"arrays": bytes(2**22), "level": 9}
CONTAINERS = {
    "nothing": (b"", "not a costboost"),
    "half": (GOOD[: len(GOOD) // 2], "cut off"),
    "a byte more": (GOOD + b"\x00", "changed after it was written"),
    "an older format": (b"PK\x03\x04", "format 1, .*Fit the model again"),
    "a newer format": (signed(b"", FORMAT + 1), "Update costboost"),
    "no sizes": (signed(b"12 x 3\n{}"), "sizes of the parts"),
    "a long manifest": (container(sizes=(10**9, 8, 0)), "must have 1000000000 bytes"),
    "a long number": (container(sizes=(2, 10**12, 0)), "sizes of the parts"),
    "manifest of a list": (container(b"[]"), "must be an object"),
    "manifest not JSON": (container(b"{'a': 1}"), "not valid JSON"),
    "manifest with NaN": (container(b'{"a": NaN}'), "not valid JSON"),
    "a key twice": (container(b'{"a": 1, "a": 2}'), "twice"),
    "deep JSON": (container(b"[" * 10**5), "not valid JSON"),
    "much JSON": (container(b"[0" + b",0" * 10**6 + b"]"), "about 1000001 values"),
    # What inspect does not look at.
    "content: a byte more": (container(content=zlib.compress(STATE) + b"x"), "not have the 8"),
    "content: not packed": (container(content=STATE), "cannot be unpacked"),
    "content: cut off": (container(content=zlib.compress(STATE)[:-1]), "not have the 8 bytes"),
    "content: fewer bytes": (container(sizes=(2, 9, 0)), "does not have the 9 bytes"),
    "content: more bytes": (container(sizes=(2, 7, 0)), "does not have the 7 bytes"),
    "content: a bomb": (container(**BOMB), "would grow"),
    "content: much state": (container(state=bytes(2**25), level=9), "would grow"),
}  # fmt: skip


@pytest.mark.parametrize("case", CONTAINERS)
def test_bad_containers_are_one_kind_of_error(case, tmp_path):
    data, words = CONTAINERS[case]
    path = tmp_path / "bad.costboost"
    path.write_bytes(data)
    for read_file in (load,) if case.startswith("content") else (load, inspect):
        with pytest.raises(ModelFileError, match=rf"bad\.costboost: .*({words})"):
            read_file(path)


@pytest.mark.parametrize("limits, words", [
    (Limits(total=100), "100 are allowed"),
    (Limits(json=10), "at most 10 and"),
    (Limits(values=1), "at most .* and 1 are"),
    (Limits(seconds=1e-9), "more than 1e-09 seconds"),
    (Limits(ratio=0, total=20_000), "at most 0 times"),
])  # fmt: skip
def test_limits_hold(limits, words, tmp_path):
    path = save(fitted("histograms")[0], tmp_path / "m")
    if not limits.ratio:
        path.write_bytes(container(**BOMB))
    with pytest.raises(ModelFileError, match=words):
        load(path, limits=limits)


def test_zeros_are_stored_not_packed(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(pack({}, STATE, bytes(2**23)))
    assert read(path)[1:] == (STATE, bytes(2**23))


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none")


# -- values ---------------------------------------------------------------------------------------


VALUES = {
    "an unknown kind": ({"eval": "1"}, b"", "no class 'eval'"),
    "two kinds": ({"tuple": [], "dict": {}}, b"", "must have one key"),
    "an unknown float": ({"float": "1"}, b"", "1"),
    "a list as a key": ({"pairs": [[[], 1]]}, b"", "unhashable"),
    "a key twice": ({"pairs": [[1, 1], [1, 2]]}, b"", "twice"),
    "not pairs": ({"pairs": [1, 2]}, b"", "must be a list"),
    "itself": ([{"same": 0}], b"", "no earlier value"),
    "a later value": ({"same": 10**9}, b"", "no earlier value"),
    "a negative number": ([[], {"same": -1}], b"", "no earlier value"),
    "a builtin function": ({"function": "eval"}, b"", "no function 'eval'"),
    "a class as a function": ({"function": "Tree"}, b"", "no function 'Tree'"),
    "a class": ({"Popen": {}}, b"", "no class 'Popen'"),
    "a class by its place": ({"subprocess:Popen": {}}, b"", "no class"),
    "pickled objects": ({"array": ["|O", 1]}, bytes(8), "type"),
    "records": ({"array": ["f8,f8", 1]}, bytes(16), "type"),
    "a shape that overflows": ({"array": ["<f8", 2**39, 2**39]}, b"", "needs"),
    "an empty giant of objects": ({"objects": [[2**39, 0], []]}, b"", "no array without numbers"),
    "long text of nothing": ({"array": ["<U999999999", 0]}, b"", "type"),
    "a negative shape": ({"array": ["<f8", -1]}, b"", "no array can have"),
    "booleans": ({"array": ["|b1", 1]}, b"\x07", "0 or 1"),
    "text": ({"array": ["<U1", 1]}, b"\xff\xff\xff\x7f", "do not exist"),
    "bytes that nothing names": (1, b"x", "belongs to no value"),
    "a scalar without bytes": ({"scalar": "<f8"}, b"", "needs 8 bytes"),
    "objects": ({"objects": [[3], [1, 2]]}, b"", "do not have the shape"),
    "a generator": ({"random": {"dict": {"bit_generator": "MT19937"}}}, b"", "state"),
}  # fmt: skip


@pytest.mark.parametrize("case", VALUES)
def test_values_that_are_none(case):
    value, data, words = VALUES[case]
    with pytest.raises((ValueError, LookupError, TypeError), match=words):
        Decoder(data, frozenset()).root(json.dumps(value).encode())


# -- states and arrays ----------------------------------------------------------------------------


def changed(model, path, change=None, array=None, where=None, value=None):
    """A file of a model whose state or first array of a name was changed; its hash is right."""
    manifest, state, arrays = contents(model)
    values, data = json.loads(state), bytearray(arrays)
    if array:
        next(found for name, found in arrays_of(values, data) if name == array)[where] = value
    else:
        change(values)
    path.write_bytes(pack(manifest, json.dumps(values).encode(), bytes(data)))
    return path


def put(name, value, of="CSRealBoostClassifier"):
    """Set a field of the first object of a class; None takes it away."""

    def change(state):
        found = [node[of] for _, node in walk(state) if of in node]
        fields = next((one for one in found if name in one), found[0])
        if value is None:
            del fields[name]
        else:
            fields[name] = value

    return change


def another_root(state):
    state["AdaC1Classifier"] = state.pop("CSRealBoostClassifier")


STATES = {
    "a method hidden": (put("predict", 1), "no attribute 'predict'"),
    "a dunder": (put("__class__", "x"), "no attribute '__class__'"),
    "a field missing": (put("outputs", None, "StepRule"), "lacks, or cannot have, 'outputs'"),
    "a field too many": (put("more", 1, "StepRule"), "lacks, or cannot have, 'more'"),
    "a column beyond": (put("feature", 4, "StepRule"), "cannot decide.*4 is out of bounds"),
    "a column far beyond": (put("feature", 2**30, "StepRule"), "cannot decide"),
    "threads": (put("n_jobs", 10**6), "at most 1024"),
    "no features": (put("n_features_in_", 0), "number of features"),
    "many features": (put("n_features_in_", 10**12), "number of features"),
    "another width": (put("n_features_in_", 1), "not that of the columns"),
    "text for an ensemble": (put("_ensemble", "x"), "cannot decide|no earlier value"),
    "no classes": (put("classes_", {"array": ["<i8", 2, 1]}), "lists of classes"),
    "costs": (put("cost_matrix_", {"array": ["<f8", 4]}), r"costs of shape \(2, 2\)"),
    "another root": (another_root, "lacks, or cannot have|no classifier"),
    "a tuple": (lambda s: s.update(tuple=[{name: s.pop(name) for name in list(s)}]), "no classif"),
}  # fmt: skip


@pytest.mark.parametrize("case", STATES)
def test_states_that_are_no_model(case, tmp_path):
    change, words = STATES[case]
    with pytest.raises(ModelFileError, match=words):
        load(changed(fitted("histograms")[0], tmp_path / "m", change))


def test_the_class_must_be_that_of_the_manifest(tmp_path):
    manifest, state, arrays = contents(fitted("histograms")[0])
    for name in ("AdaC1Classifier", "StepRule", 3):
        (tmp_path / "m").write_bytes(pack({**manifest, "class": name}, state, arrays))
        with pytest.raises(ModelFileError, match="holds no classifier"):
            load(tmp_path / "m")


@pytest.mark.parametrize("more", [{}, {"save": 1}], ids=str)
def test_a_part_alone_is_no_model(tmp_path, more):
    part, encoder = DecisionTreeClassifier(max_depth=2).fit(*rows()), Encoder()
    vars(part).update(more)
    state = json.dumps(encoder.value(part, "")).encode()
    manifest = {"class": "DecisionTreeClassifier"}
    (tmp_path / "m").write_bytes(pack(manifest, state, b"".join(encoder.arrays)))
    with pytest.raises(ModelFileError, match="holds no classifier"):
        load(tmp_path / "m")


SKLEARN = {
    "child beyond": ("left_child", 0, 10**6),
    "child negative": ("right_child", 0, -9),
    "a cycle": ("left_child", 1, 0),
    "one child": ("left_child", 0, -1),
    "feature beyond": ("feature", 0, 2**30),
    "feature of another table": ("feature", 0, 4),
    "threshold": ("threshold", 0, np.nan),
}


@pytest.mark.parametrize("estimator", [
    DecisionTreeClassifier(max_depth=4, random_state=0),
    RandomForestClassifier(n_estimators=2, random_state=0),
], ids=["tree", "forest"])  # fmt: skip
def test_broken_trees_of_scikit_learn_are_refused(estimator, tmp_path):
    X, y = rows()
    model, path = make("MinCostClassifier", estimator=estimator).fit(X, y), tmp_path / "m"
    assert same(answers(load(save(model, path)), X), answers(model, X))
    for field, where, value in SKLEARN.values():
        with pytest.raises(ModelFileError, match=r"child|column|number"):
            load(changed(model, path, array=field, where=where, value=value))
    # Without it scikit-learn takes rows of any width, and compiled code reads beyond their end.
    for of in {type(estimator).__name__, "DecisionTreeClassifier"}:
        for columns in (None, 3):
            with pytest.raises(ModelFileError, match=r"n_features_in_|column"):
                load(changed(model, path, put("n_features_in_", columns, of)))


def test_arrays_of_scikit_learn_fit_together():
    tree = dump_tree(DecisionTreeClassifier(max_depth=2).fit(*rows()).tree_)
    values, n_classes = tree["values"], tree["n_classes"]
    wrong = [{"values": x} for x in (values[1:], values[..., :1], values.astype("<f4"))]
    wrong += [{"n_classes": x} for x in (n_classes + 1, n_classes.astype(float), -n_classes)]
    for one in (*wrong, {"nodes": {}}, {"nodes": {k: v[:0] for k, v in tree["nodes"].items()}}):
        with pytest.raises(ValueError, match=r"shape|type|classes|fields|nodes"):
            load_tree({**tree, **one}, 4)


# `tests/test_trees.py` has all that a table may not be; here, that files are held to it.
TABLES = {
    "a cycle": ("children", (0, 1), 0, "one parent"),
    "feature beyond": ("feature", 0, 2**30, "ask for column 1073741824"),
    "feature of another table": ("feature", 0, 17, "ask for column 17"),
    "feature before": ("feature", 0, -1, "features"),
    "a set beyond": ("words", ..., 2**30, "sets of categories"),
}


@pytest.mark.parametrize("case", TABLES)
@pytest.mark.parametrize("of", ["lightgbm, categories", "AdaC2Classifier", "MinCostClassifier"])
def test_broken_tables_of_trees_are_refused(case, of, tmp_path):
    field, where, value, words = TABLES[case]
    with pytest.raises(ModelFileError, match=rf"{words}|columns beyond"):
        load(changed(fitted(of)[0], tmp_path / "m", array=field, where=where, value=value))


# -- objects by skops -----------------------------------------------------------------------------


def archive(schema, compression=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        file.writestr("schema.json", json.dumps(schema))
    return buffer.getvalue()


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
    "a tree of compiled code": node("Tree", "sklearn.tree._tree", "TreeNode", EMPTY),
    "a tree that says it is a dict": node("dict", "builtins", "TreeNode", EMPTY, __reduce__=EMPTY),
    "nothing of scikit-learn": EMPTY,
}  # fmt: skip


@pytest.mark.parametrize("size", [-1, 2**20 + 1, 2**30, 2**62])
def test_a_network_asks_for_no_more_categories_than_there_are(size, tmp_path):
    """One count in a file of a few kilobytes must not fill the memory."""
    manifest, state, data = contents(fitted("lightgbm, columns for costs")[0])
    values, data = json.loads(state), bytearray(data)
    next(array for name, array in arrays_of(values, data) if name == "sizes")[0] = size
    path = tmp_path / "model.costboost"
    path.write_bytes(forged(json.dumps(manifest).encode(), json.dumps(values).encode(), data))
    with pytest.raises(ModelFileError, match="sizes must be counts of at most"):
        load(path)


@pytest.mark.parametrize("case", ATTACKS)
def test_nothing_is_built_that_is_not_trusted(case):
    pytest.importorskip("skops")
    sys.modules.pop("this", None)
    with pytest.raises(ModelFileError):
        load_part(archive(ATTACKS[case]), (), "it")
    assert "this" not in sys.modules
    with pytest.raises(ModelFileError, match="not an archive of skops as costboost"):
        load_part(archive(ATTACKS[case], zipfile.ZIP_DEFLATED), (), "it")


# -- time and memory ------------------------------------------------------------------------------


def many_trees():
    """A sound model of as many nodes as fit into 10 MB."""
    model = make("AdaC2Classifier").fit(*rows())
    model._ensemble.trees = Trees(1, **mutations.chains(1_400_000))
    manifest, state, arrays = contents(model)
    return forged(
        json.dumps(manifest).encode(), state, arrays, content=mutations.tight(state + arrays)
    )


@pytest.mark.slow
def test_large_files_end_in_time(tmp_path):
    """Within 5 seconds of one processor and 500 MB; in a process whose peak is known."""
    files = {name: tmp_path / name for name in [*mutations.BOMBS, "trees"]}
    for name, path in files.items():
        path.write_bytes(many_trees() if name == "trees" else mutations.bomb_file(name))
        assert path.stat().st_size < 10_000_000
    for name, found in zip(files, mutations.measured(files.values()), strict=True):
        seconds, megabytes, said = found
        assert seconds < 5 and megabytes < 500, (name, found)
        assert bool(said) == (name != "trees")  # refused, but for the sound model


def test_mutated_files_are_refused_or_equal():
    """A sample; `make trust` has many."""
    outcomes, failures = mutations.run(60, start=7_000_000)
    assert not failures
    assert sum(outcomes.values()) == 60
