"""Objects of scikit-learn in files: no type is built and no function called that nobody trusts."""

from __future__ import annotations

import io
import json
import sys
import zipfile

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from costboost.errors import ModelFileError
from costboost.files import load, parts, save, sklearn_tree
from files.models import answers, make, rows, same

X, Y = rows()


def archive(schema, **members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("schema.json", json.dumps(schema))
        for name, data in members.items():
            file.writestr(name, data)
    return buffer.getvalue()


def node(cls, module, loader, content=None, **more):
    return {
        "__class__": cls,
        "__module__": module,
        "__loader__": loader,
        "content": content,
        **more,
    }


EMPTY = node("dict", "builtins", "DictNode", {}, key_types=node("list", "builtins", "ListNode", []))
ATTACKS = {
    "a function": node(
        "system", "posix", "FunctionNode"
    ),
    "a call by reduce": node(
        "system", "posix", "ReduceNode", EMPTY, __reduce__={"args": EMPTY}
    ),
    "a type": node("Popen", "subprocess", "TypeNode"),
    "an object": node("Popen", "subprocess", "ObjectNode", EMPTY),
    "a module that runs when imported": node("s", "this", "TypeNode"),
    "a tree that says it is a dict": node(
        "dict", "builtins", "TreeNode", EMPTY, __reduce__={"args": EMPTY}
    ),
    "a tree of compiled code": node("Tree", "sklearn.tree._tree", "TreeNode", EMPTY),
}  # fmt: skip


@pytest.mark.parametrize("case", ATTACKS)
def test_nothing_is_built_that_is_not_known(case):
    sys.modules.pop("this", None)
    data = archive({**ATTACKS[case], "protocol": 2, "_skops_version": "0.16"})
    named = {f"{ATTACKS[case]['__module__']}.{ATTACKS[case]['__class__']}"}
    for declared in (sorted(named), sorted(parts.KNOWN), []):
        with pytest.raises(ModelFileError):
            parts.load(data, declared, (), "it")
    assert "this" not in sys.modules


def test_a_function_is_named_to_the_user():
    data = archive({**ATTACKS["a function"], "protocol": 2, "_skops_version": "0.16"})
    with pytest.raises(ModelFileError, match=r"posix\.system"):
        parts.load(data, ["posix.system"], (), "it")


def test_packed_members_are_refused():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("schema.json", json.dumps(EMPTY) + " " * 10**6)
    with pytest.raises(ModelFileError, match="not an archive of skops as costboost"):
        parts.load(buffer.getvalue(), [], (), "it")


def test_trees_inside_a_forest_are_checked_ones(tmp_path):
    """A forest of scikit-learn holds compiled trees: they are nodes of ours, not of skops."""
    forest = RandomForestClassifier(n_estimators=3, random_state=0)
    model = make("MinCostClassifier", estimator=forest).fit(X, Y)
    copy = load(save(model, tmp_path / "m"))
    assert same(answers(copy, X), answers(model, X))


def test_an_estimator_of_ours_inside_a_pipeline(tmp_path):
    """Also where it stands in a tuple, which cannot be changed in place."""
    inner = make_pipeline(StandardScaler(), make("AdaC2Classifier"))
    model = make("MinCostClassifier", estimator=inner).fit(X, Y)
    copy = load(save(model, tmp_path / "m"))
    assert same(answers(copy, X), answers(model, X))


@pytest.mark.parametrize(
    "way",
    [[["attribute", "nothing"]], [["item", 0]], [["attribute", 3]], "x", [["call", "predict"]]],
)
def test_ways_that_lead_nowhere(way):
    with pytest.raises(ModelFileError):
        parts.put(LogisticRegression(), way, 1, "it")


def grown():
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, Y).tree_
    return sklearn_tree.dump(tree)


def test_a_tree_of_scikit_learn_comes_back():
    state = grown()
    copy = sklearn_tree.load(state, "it")
    again = sklearn_tree.dump(copy)
    assert again["nodes"].keys() == state["nodes"].keys()
    for name, field in state["nodes"].items():
        assert np.array_equal(again["nodes"][name], field, equal_nan=field.dtype.kind == "f")
    assert np.array_equal(again["values"], state["values"])


def field(name, place, value):
    def change(state):
        state["nodes"][name][place] = value

    return change


TREE_FAULTS = {
    "child beyond": (field("left_child", 0, 10**6), "does not come after"),
    "child negative": (field("right_child", 0, -9), "does not come after"),
    "a cycle": (field("left_child", 1, 0), "does not come after|one child"),
    "one child": (field("left_child", 0, -1), "one child"),
    "feature": (field("feature", 0, 4), "splits a feature"),
    "feature negative": (field("feature", 0, -3), "splits a feature"),
    "threshold": (field("threshold", 0, np.nan), "not a number"),
    "no nodes": (lambda s: s.update(nodes={k: v[:0] for k, v in s["nodes"].items()}), "no nodes"),
    "a field short": (
        lambda s: s["nodes"].update(feature=s["nodes"]["feature"][:-1]),
        "wrong type or length",
    ),
    "a field missing": (lambda s: s["nodes"].pop("impurity"), "needs the fields"),
    "values": (lambda s: s.update(values=s["values"][:-1]), "values of the shape"),
    "classes": (lambda s: s.update(n_classes=np.array([10**9])), "sizes|shape"),
    "features": (lambda s: s.update(n_features=1), "splits a feature"),
    "a key": (lambda s: s.pop("max_depth"), "must have"),
}


@pytest.mark.parametrize("case", TREE_FAULTS)
def test_broken_trees_are_refused(case):
    change, words = TREE_FAULTS[case]
    state = grown()
    change(state)
    with pytest.raises(ModelFileError, match=words):
        sklearn_tree.load(state, "it")
