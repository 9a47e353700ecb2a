"""Files that are no model: one kind of error, and no code of theirs runs."""

from __future__ import annotations

import io
import json
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import skops.io
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from costboost import files
from costboost.errors import ModelFileError
from costboost.files import FORMAT, inspect, load, save
from files import mutations
from files.models import ESTIMATORS, answers, fitted, make, rows, same
from files.mutations import array_bytes, node_of, packed, places, unpacked

ABOUT = {"about.json": json.dumps({"format": FORMAT})}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.costboost"


def changed(model, path, change):
    """A file of a model whose schema or members were changed."""
    schema, members = unpacked(save(model, path).read_bytes())
    change(schema, members)
    path.write_bytes(packed(schema, members))
    return path


# -- the archive ----------------------------------------------------------------------------------


@pytest.mark.parametrize("read_file", [load, inspect])
@pytest.mark.parametrize("number", [1, 2])
def test_files_of_older_formats_are_refused_in_one_sentence(read_file, number):
    with pytest.raises(ModelFileError, match=r"earlier version.*Fit the\s+model again and save it"):
        read_file(Path(__file__).parent / "old" / f"format_{number}.costboost")


ARCHIVES = {
    "nothing": (b"", "not a costboost model file"),
    "text": (b"a,b\n1,2\n", "not a costboost model file"),
    "another archive": (packed({}, {}), "not a costboost model file"),
    "a newer format": (packed({}, {"about.json": '{"format": 99}'}), "another format"),
    "no number of a format": (packed({}, {"about.json": "[]"}), "another format"),
    "about that is no JSON": (packed({}, {"about.json": "{'a': 1}"}), "damaged"),
    "deep JSON": (packed({}, {"about.json": "[" * 10**5}), "damaged"),
    "a bomb": (packed({}, {**ABOUT, "1.npy": bytes(2**28)}), "would grow from"),
    "much JSON": (packed({}, {"about.json": " " * (2**26 + 1)}), "of JSON, are allowed"),
}  # fmt: skip


@pytest.mark.parametrize("case", ARCHIVES)
def test_bad_archives_are_one_kind_of_error(case, path):
    data, words = ARCHIVES[case]
    path.write_bytes(data)
    for read_file in (load, inspect):
        with pytest.raises(ModelFileError, match=rf"m\.costboost: .*({words})"):
            read_file(path)


def test_a_member_that_unpacks_to_more_than_it_says_is_refused(path):
    """Its size is believed by no one: it would fill the memory."""
    data = save(fitted("AdaC2Classifier")[0], path).read_bytes()
    _, members = unpacked(data)
    name = next(name for name in members if name.endswith(".npy"))
    for compression in (zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA):
        buffer = io.BytesIO(data)
        with zipfile.ZipFile(buffer) as archive:
            rest = {n: archive.read(n) for n in archive.namelist() if n != name}
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for other, member in rest.items():
                archive.writestr(other, member)
            archive.writestr(name, bytes(2**20), compression)
            archive.getinfo(name).file_size = 128
        path.write_bytes(buffer.getvalue())
        with pytest.raises(ModelFileError, match=r"another size|not known|damaged"):
            load(path)


def test_a_file_that_is_cut_off_or_changed_is_refused(path):
    data = save(fitted("AdaC2Classifier")[0], path).read_bytes()
    half = len(data) // 2
    for wrong in (data[:half], data[:half] + bytes([data[half] ^ 1]) + data[half + 1 :]):
        path.write_bytes(wrong)
        with pytest.raises(ModelFileError):
            load(path)


def test_a_member_twice_is_refused(path):
    data = save(fitted("AdaC2Classifier")[0], path).read_bytes()
    buffer = io.BytesIO(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(buffer, "a") as archive:
            archive.writestr("schema.json", "{}")
    path.write_bytes(buffer.getvalue())
    with pytest.raises(ModelFileError, match="not a costboost model file"):
        load(path)


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none")


# -- what skops would build -----------------------------------------------------------------------


def node(cls, module, loader, content=None, **more):
    names = {"__class__": cls, "__module__": module, "__loader__": loader}
    return {**names, "content": content, **more}


EMPTY = node("dict", "builtins", "DictNode", {}, key_types=node("list", "builtins", "ListNode", []))
ATTACKS = {
    "a function": node("system", "posix", "FunctionNode"),
    "a function of the library": node("save", "costboost.files", "FunctionNode"),
    "a call by reduce": node("system", "posix", "ConstructorFromReduceNode", EMPTY),
    "a method": node("Trees", "costboost.trees", "MethodNode", {"func": "check", "obj": EMPTY}),
    "a partial": node("partial", "functools", "PartialNode", {}),
    "an operator": node("methodcaller", "operator", "OperatorFuncNode", attrs=EMPTY),
    "a type": node("Popen", "subprocess", "TypeNode"),
    "an object": node("Popen", "subprocess", "ObjectNode", EMPTY),
    "a module that runs when imported": node("s", "this", "TypeNode"),
    "a class that is only imported there": node("Path", "costboost.trees", "ObjectNode", EMPTY),
    "a part that no model has": node("Settings", "costboost.serve.app", "ObjectNode", EMPTY),
    "a module of the library that is none": node("X", "costboost.gbm.x", "ObjectNode", EMPTY),
    "a class called as a list": node("Trees", "costboost.trees", "ListNode", []),
    "a class called with arguments": node(
        "Trees", "costboost.trees", "ConstructorFromReduceNode", node("tuple", "builtins",
        "TupleNode", [])),
    "an estimator called as a list": node("Pipeline", "sklearn.pipeline", "ListNode", []),
    "an estimator that is not known": node("SVC", "sklearn.svm._classes", "ObjectNode", EMPTY),
    "a generator of random numbers": node("seed", "numpy.random", "RandomStateNode", EMPTY),
}  # fmt: skip


@pytest.mark.parametrize("case", ATTACKS)
def test_nothing_is_built_that_is_not_trusted(case, path):
    sys.modules.pop("this", None)
    attack = ATTACKS[case]
    path.write_bytes(packed({**attack, "protocol": 2}, ABOUT))
    with pytest.raises(ModelFileError, match=rf"types .*{attack['__class__']}"):
        load(path)
    assert "this" not in sys.modules


SCHEMAS = {
    "an older protocol": ({**EMPTY, "protocol": 0}, "protocol"),
    "nothing of a classifier": ({**EMPTY, "protocol": 2}, "no classifier"),
    "no schema": ([], "damaged"),
    "an array twice": (
        {**node("list", "builtins", "ListNode", [node("ndarray", "numpy", "NdArrayNode",
        type="numpy", file="1.npy") for _ in range(2)]), "protocol": 2}, "each array once"),
    "an array that is not there": (
        {**node("ndarray", "numpy", "NdArrayNode", type="numpy", file="2.npy"), "protocol": 2},
        "each array once"),
}  # fmt: skip


@pytest.mark.parametrize("case", SCHEMAS)
def test_schemas_that_are_none(case, path):
    schema, words = SCHEMAS[case]
    path.write_bytes(packed(schema, {**ABOUT, "1.npy": array_bytes(np.zeros(3))}))
    with pytest.raises(ModelFileError, match=words):
        load(path)


def test_values_that_unfold_to_very_many_are_refused(path):
    """Sixty lists that hold the one before twice would be asked 2 ** 60 times."""
    value = node("list", "builtins", "ListNode", [], __id__=1)
    for number in range(2, 62):
        again = {name: value[name] for name in files.REFERENCE}
        value = node("list", "builtins", "ListNode", [value, again], __id__=number)
    path.write_bytes(packed({**value, "protocol": 2}, ABOUT))
    with pytest.raises(ModelFileError, match="values"):
        load(path)
    value["content"].append({name: value[name] for name in files.REFERENCE})  # itself
    path.write_bytes(packed({**value, "protocol": 2}, ABOUT))
    with pytest.raises(ModelFileError, match="values"):
        load(path)


def test_an_object_is_written_once(path):
    schema, members = unpacked(save(fitted("AdaC2Classifier")[0], path).read_bytes())
    trees = [x for x, key in places(schema) if key == "__class__" and x[key] == "Trees"]
    assert sum("content" in x for x in trees) == 1 < len(trees)
    trees[0].update(content=EMPTY)  # it was written before
    path.write_bytes(packed(schema, members))
    with pytest.raises(ModelFileError, match="two objects of one number"):
        load(path)


# -- what was built -------------------------------------------------------------------------------


def put(name, value):
    """Set a value of JSON in the first object that has the name."""

    def change(schema, members):
        parent, _ = node_of(schema, name)
        parent[name] = {**node("str", "builtins", "JsonNode", json.dumps(value)), "is_json": True}

    return change


def add(name, value):
    def change(schema, members):
        content = schema["content"]["content"]
        content[name] = {**node("str", "builtins", "JsonNode", json.dumps(value)), "is_json": True}
        schema["content"]["key_types"]["content"].append(node("str", "builtins", "TypeNode"))

    return change


def entry(name, where, value):
    """Change an entry of the first array that has the name."""

    def change(schema, members):
        _, array_node = node_of(schema, name)
        array = np.load(io.BytesIO(members[array_node["file"]]))
        array[where] = value
        members[array_node["file"]] = array_bytes(array)

    return change


def array(name, value):
    """Put another array in place of the first one that has the name."""

    def change(schema, members):
        members[node_of(schema, name)[1]["file"]] = array_bytes(np.asarray(value))

    return change


STATES = {
    "a method hidden": (add("predict", 1), "no attribute 'predict'"),
    "a dunder": (add("a b", "x"), "no attribute 'a b'"),
    "threads": (put("n_jobs", 10**6), "at most 1024"),
    "no features": (put("n_features_in_", 0), "0 columns"),
    "many features": (put("n_features_in_", 10**12), "1000000000000 columns"),
    "another width": (put("n_features_in_", 1), "not that of the columns|has 1 columns"),
    "text for an ensemble": (put("_ensemble", "x"), "cannot answer|damaged"),
    "no classes": (array("classes_", [[0], [1]]), "two classes and decisions"),
    "costs": (array("cost_matrix_", np.zeros(4)), r"costs of the shape \(2, 2\)"),
}  # fmt: skip


@pytest.mark.parametrize("case", STATES)
def test_states_that_are_no_model(case, path):
    change, words = STATES[case]
    with pytest.raises(ModelFileError, match=words):
        load(changed(fitted("histograms")[0], path, change))


def test_what_a_table_remembers_is_not_read_from_a_file(path):
    """A width of zero would skip the check of the rows."""

    def change(schema, members):
        objects = [x for x, key in places(schema) if key == "content" and x["__class__"] == "Trees"]
        trees = objects[0]
        content = trees["content"]["content"]
        content["width"] = node("str", "builtins", "JsonNode", "0", is_json=True)
        trees["content"]["key_types"]["content"].append(node("str", "builtins", "TypeNode"))

    with pytest.raises(ModelFileError, match="no attribute 'width'"):
        load(changed(fitted("AdaC2Classifier")[0], path, change))


def test_booleans_are_zero_or_one(path):
    def change(schema, members):
        values = np.zeros(2, dtype=bool)
        values.view(np.uint8)[:] = 7
        members[node_of(schema, "classes_")[1]["file"]] = array_bytes(values)

    with pytest.raises(ModelFileError, match="neither 0 nor 1"):
        load(changed(fitted("AdaC2Classifier")[0], path, change))


def test_a_generator_of_random_numbers_is_checked(path):
    def change(schema, members):
        _, state = node_of(schema, "random_state")
        state["content"]["content"]["state"]["content"]["pos"]["content"] = "1000000"

    with pytest.raises(ModelFileError, match="generator"):
        load(changed(fitted("a generator as seed")[0], path, change))


@pytest.mark.parametrize("size", [-1, 2**20 + 1, 2**30, 2**62])
def test_a_network_asks_for_no_more_categories_than_there_are(size, path):
    """One count in a file of a few kilobytes must not fill the memory."""
    with pytest.raises(ModelFileError, match="sizes must be counts of at most"):
        load(changed(fitted("lightgbm, columns for costs")[0], path, entry("sizes", 0, size)))


# `tests/test_trees.py` has all that a table may not be; here, that files are held to it.
TABLES = {
    "a cycle": ("children", (0, 1), 0, "one parent"),
    "feature of another table": ("feature", 0, 17, "column 17|beyond"),
    "feature beyond": ("feature", 0, 2**30, "column 1073741824|beyond"),
    "feature before": ("feature", 0, -1, "features"),
    "a set beyond": ("words", ..., 2**30, "sets of categories"),
}


@pytest.mark.parametrize("case", TABLES)
@pytest.mark.parametrize("of", ["lightgbm, categories", "AdaC2Classifier", "MinCostClassifier"])
def test_broken_tables_of_trees_are_refused(case, of, path):
    field, where, value, words = TABLES[case]
    with pytest.raises(ModelFileError, match=words):
        load(changed(fitted(of)[0], path, entry(field, where, value)))


NODES = {
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
def test_broken_trees_of_scikit_learn_are_refused(estimator, path):
    """Compiled code follows their nodes unchecked."""
    X, y = rows()
    model = make("MinCostClassifier", estimator=estimator).fit(X, y)
    assert same(answers(load(save(model, path)), X), answers(model, X))
    for field, where, value in NODES.values():

        def change(schema, members, field=field, where=where, value=value):
            file = node_of(schema, "nodes")[1]["file"]
            nodes = np.load(io.BytesIO(members[file]))
            nodes[field][where] = value
            members[file] = array_bytes(nodes)

        with pytest.raises(ModelFileError, match="tree of scikit-learn"):
            load(changed(model, path, change))

    # The tree's own depth: that of the estimator comes first.
    def shallow(schema, members):
        _, state = node_of(schema, "nodes")
        owner = next(x for x, key in places(schema) if key == "nodes" and x[key] is state)
        owner["max_depth"] = node("str", "builtins", "JsonNode", "1", is_json=True)

    with pytest.raises(ModelFileError, match="depth"):
        load(changed(model, path, shallow))

    # Without it scikit-learn takes rows of any width, and compiled code reads beyond their end.
    def widths(schema):
        return [x for x, key in places(schema) if key == "n_features_in_"]

    def another(schema, members):
        widths(schema)[-1]["n_features_in_"] = node("str", "builtins", "JsonNode", "3")

    def missing(schema, members):
        for content in widths(schema):
            names = list(content)
            owners = [x for x, key in places(schema) if key == "content"]
            types = next(x for x in owners if x["content"] is content)
            del types["key_types"]["content"][names.index("n_features_in_")]
            del content["n_features_in_"]

    for change in (another, missing):
        with pytest.raises(ModelFileError, match=r"columns|n_features_in_"):
            load(changed(model, path, change))


# -- everything together --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ESTIMATORS)
def test_skops_reads_the_files(name, path):
    """They are archives of skops, for whoever trusts their types."""
    model, X = fitted(name)
    save(model, path)
    copy = skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))
    assert same(answers(copy, X), answers(model, X))


def test_mutated_files_are_refused_or_a_model():
    """A sample; `make trust` has many."""
    outcomes, failures = mutations.run(60, start=7_000_000)
    assert not failures
    assert sum(outcomes.values()) == 60
