"""States that are well-formed and still no model: refused, each for its reason."""

from __future__ import annotations

import json

import numpy as np
import pytest

from costboost.errors import ModelFileError
from costboost.files import container, load
from costboost.files.arrays import inline
from costboost.files.model import contents
from files.models import fitted


def changed(case, change, tmp_path):
    """A file of a model whose state was changed, with hashes that are right."""
    manifest, members = contents(fitted(case)[0])
    state = json.loads(members["state.json"])
    root = state["nodes"][state["root"]["ref"]]
    change(state, root["state"])
    members = {**members, "state.json": json.dumps(state).encode()}
    return container.write(tmp_path / "m.costboost", manifest, members)


def nodes_of(state, name):
    return [node for node in state["nodes"] if node.get("object") == name]


def root_put(name, value):
    return lambda state, root: root.__setitem__(name, value)


def part_put(part, name, value):
    return lambda state, root: nodes_of(state, part)[0]["state"].__setitem__(name, value)


def add_node(node):
    return lambda state, root: state["nodes"].append(node)


BAD = {
    "a method hidden": (root_put("predict", 1), "no attribute 'predict'"),
    "a property hidden": (root_put("booster_", 1), "no attribute 'booster_'"),
    "a dunder": (root_put("__class__", "x"), "no attribute '__class__'"),
    "a parameter missing": (lambda s, root: root.pop("n_estimators"), "lacks its parameter"),
    "a field missing": (
        lambda s, root: nodes_of(s, "TreeRule")[0]["state"].pop("leaf_outputs"),
        "lacks, or cannot have, 'leaf_outputs'",
    ),
    "a field too many": (part_put("TreeRule", "more", 1), "lacks, or cannot have, 'more'"),
    "a tree beyond": (part_put("TreeRule", "index", 99), "index must be a tree"),
    "outputs of text": (part_put("TreeRule", "leaf_outputs", "x"), "leaf_outputs must be"),
    "threads": (part_put("TreeEnsemble", "n_threads", 10**6), "at most 1024"),
    "no features": (root_put("n_features_in_", 0), "number of features"),
    "many features": (root_put("n_features_in_", 10**12), "number of features"),
    "another width": (root_put("n_features_in_", 3), "cannot decide"),
    "text for an ensemble": (root_put("_ensemble", "x"), "cannot decide"),
    "one class": (root_put("classes_", None), "two classes"),
    "a class unknown": (add_node({"object": "Popen", "state": {}}), "'Popen', which files do not"),
    "a class by its place": (
        add_node({"object": "subprocess:Popen", "state": {}}),
        "which files do not hold",
    ),
    "a later node": (root_put("classes_", {"ref": 10**6}), "only earlier nodes"),
    "itself": (lambda s, root: root.update(classes_=s["root"]), "only earlier nodes"),
    "an unknown node": (add_node({"code": "print(1)"}), "unknown keys"),
    "an unknown value": (root_put("verbose", {"eval": "1"}), "which is not allowed"),
    "a list key": (
        lambda s, root: s["nodes"].extend(
            [{"list": []}, {"dict": [[{"ref": len(s["nodes"])}, 1]]}]
        ),
        "key that cannot be one",
    ),
    "a member twice": (
        lambda s, root: s["nodes"].append(next(n for n in s["nodes"] if "booster" in n)),
        "used twice",
    ),
    "best round": (
        lambda s, root: s["nodes"].extend(
            [{"dict": [["best_iteration", 99]]}]
        ) or next(n for n in s["nodes"] if "booster" in n).update(extra={"ref": 0}),
        "best one is|no settings|only earlier",
    ),
    "costs of another shape": (
        lambda s, root: s["nodes"].__setitem__(
            root["cost_matrix_"]["ref"], {"array": inline(np.zeros((3, 3)))}
        ),
        r"costs of the shape \(2, 2\)",
    ),
    "another root": (lambda s, root: s.update(root=None), "is not a AdaC2Classifier"),
    "no nodes": (lambda s, root: s.update(nodes={}), "list of nodes"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_states_that_are_no_model(case, tmp_path):
    change, words = BAD[case]
    with pytest.raises(ModelFileError, match=words):
        load(changed("AdaC2Classifier", change, tmp_path))


def test_the_class_must_be_that_of_the_manifest(tmp_path):
    manifest, members = contents(fitted("AdaC2Classifier")[0])
    path = container.write(tmp_path / "m", {**manifest, "class": "AdaC1Classifier"}, members)
    with pytest.raises(ModelFileError, match="is not a AdaC1Classifier"):
        load(path)
    path = container.write(tmp_path / "m", {**manifest, "class": "TreeRule"}, members)
    with pytest.raises(ModelFileError, match="not a classifier of costboost"):
        load(path)


def test_a_member_that_nothing_uses(tmp_path):
    manifest, members = contents(fitted("AdaC2Classifier")[0])
    path = container.write(tmp_path / "m", manifest, {**members, "arrays/x.npy": b""})
    with pytest.raises(ModelFileError, match="belongs to no node"):
        load(path)
