"""Models of the engines: sound ones pass, every broken one is refused before an engine sees it."""

from __future__ import annotations

import re

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

from costboost.errors import ModelFileError
from costboost.files import boosters, lightgbm_text, ubjson, xgboost_model

rng = np.random.RandomState(0)
X = rng.randn(400, 3)
X[:, 2] = rng.randint(0, 40, 400)
X[::9, 0] = np.nan
Y = ((np.sin(7 * X[:, 2]) > 0) ^ (X[:, 1] > 0.3)).astype(int)
Y3 = (Y + (X[:, 1] > 1)).astype(int)

LIGHTGBM = {
    "binary": {"objective": "binary"},
    "multiclass": {"objective": "multiclass", "num_class": 3},
    "one against all": {"objective": "multiclassova", "num_class": 3},
    "random forest": {
        "objective": "binary",
        "boosting": "rf",
        "bagging_freq": 1,
        "bagging_fraction": 0.5,
    },
    "dart": {"objective": "binary", "boosting": "dart"},
    "goss": {"objective": "binary", "data_sample_strategy": "goss"},
    "linear leaves": {"objective": "binary", "linear_tree": True},
    "infinite thresholds": {"objective": "binary", "num_leaves": 60, "min_data_in_leaf": 2},
    "zero as missing": {"objective": "binary", "zero_as_missing": True},
    "no split": {"objective": "binary", "min_data_in_leaf": 500},
    "monotone": {"objective": "regression", "monotone_constraints": [0, 1, 0]},
    "custom": {"objective": lambda s, data: (s - data.get_label(), np.ones_like(s))},
}
XGBOOST = {
    "binary": {"objective": "binary:logistic"},
    "multiclass": {"objective": "multi:softprob", "num_class": 3},
    "dart": {"objective": "binary:logistic", "booster": "dart", "rate_drop": 0.4},
    "pruned": {"objective": "binary:logistic", "tree_method": "exact", "gamma": 2.0},
    "lossguide": {"objective": "binary:logistic", "grow_policy": "lossguide", "max_leaves": 9},
    "plain": {"objective": "reg:squarederror", "base_score": 0.0},
}


def lightgbm_booster(case):
    parameters = {"verbosity": -1, "num_leaves": 7, "min_data_per_group": 1, **LIGHTGBM[case]}
    linear = parameters.get("linear_tree")
    data = lgb.Dataset(
        np.nan_to_num(X) if linear else X,
        Y3 if "num_class" in parameters else Y,
        categorical_feature=[] if linear else [2],
        feature_name=["a", "b=c", "größe"],
    )
    return lgb.train(parameters, data, 5)


def xgboost_booster(case):
    exact = XGBOOST[case].get("tree_method") == "exact"
    data = xgb.DMatrix(
        X,
        Y3 if "num_class" in XGBOOST[case] else Y,
        feature_types=None if exact else ["q", "q", "c"],
        enable_categorical=True,
    )
    return xgb.train({"max_depth": 3, **XGBOOST[case]}, data, 4)


@pytest.mark.parametrize("case", LIGHTGBM)
def test_lightgbm_comes_back(case):
    booster = lightgbm_booster(case)
    data, extra = boosters.dump("lightgbm", booster)
    copy = boosters.load("lightgbm", data, extra, "it")
    assert np.array_equal(copy.predict(X, raw_score=True), booster.predict(X, raw_score=True))
    assert boosters.dump("lightgbm", copy) == (data, extra)


@pytest.mark.parametrize("case", XGBOOST)
def test_xgboost_comes_back(case):
    booster = xgboost_booster(case)
    data, extra = boosters.dump("xgboost", booster)
    copy = boosters.load("xgboost", data, extra, "it")
    types = booster.feature_types
    rows = xgb.DMatrix(X, feature_types=types, enable_categorical=True)
    for options in ({"output_margin": True}, {"pred_contribs": True}):
        assert np.array_equal(copy.predict(rows, **options), booster.predict(rows, **options))
    assert boosters.dump("xgboost", copy) == (data, extra)


TEXT = lightgbm_booster("multiclass").model_to_string()
assert "cat_threshold=" in TEXT


def with_sizes(text):
    """tree_sizes made right again, so that the fault behind it is found."""
    trees = re.split(r"(?=^Tree=\d+$)", text.split("end of trees")[0], flags=re.MULTILINE)[1:]
    sizes = " ".join(str(len(tree.encode())) for tree in trees)
    return re.sub(r"^tree_sizes=.*$", f"tree_sizes={sizes}", text, flags=re.MULTILINE)


def first(pattern, replacement):
    def change(text):
        changed = re.sub(pattern, replacement, text, count=1, flags=re.MULTILINE)
        assert changed != text, pattern
        return with_sizes(changed)

    return change


def last_item(key, value):
    """The last number of a line replaced."""
    return first(rf"^({key}=.*[ =])[-\d.e+]+$", rf"\g<1>{value}")


TEXT_FAULTS = {
    "child beyond the splits": (last_item("left_child", "1000"), "left_child"),
    "child beyond the leaves": (last_item("right_child", "-1000"), "right_child"),
    "a cycle": (first(r"^left_child=\d+", "left_child=0"), "does not come after it"),
    "a leaf twice": (
        first(r"^right_child=(.*) -?\d+ (-\d+)$", r"right_child=\1 \2 \2"),
        "child of one split|does not come",
    ),
    "feature beyond": (last_item("split_feature", "3"), "split_feature"),
    "feature negative": (last_item("split_feature", "-1"), "split_feature"),
    "threshold infinite": (last_item("threshold", "1e999"), "threshold must be finite"),
    "threshold not a number": (last_item("threshold", "nan"), "threshold must be finite"),
    "leaf infinite": (last_item("leaf_value", "-1e400"), "leaf_value must be finite"),
    "too few leaves": (first(r"^(leaf_value=.*) \S+$", r"\1"), "leaf_value must be"),
    "too many leaves": (first(r"^(leaf_value=.*)$", r"\1 1"), "leaf_value must be"),
    "fewer leaves declared": (first(r"^num_leaves=\d+", "num_leaves=2"), "must be 1"),
    "no leaves": (first(r"^num_leaves=\d+", "num_leaves=0"), "num_leaves"),
    "very many leaves": (first(r"^num_leaves=\d+", "num_leaves=2000000000"), "num_leaves"),
    "decision type": (last_item("decision_type", "64"), "decision_type"),
    "decision says category": (first(r"^num_cat=\d+", "num_cat=0"), "num_cat|categories"),
    "category set beyond": (
        first(r"^(threshold=(?:\S+ )*)0((?: .*)?)$", r"\g<1>9\g<2>"),
        "must number the sets",
    ),
    "boundaries beyond": (last_item("cat_boundaries", "99999999"), "cat_boundaries"),
    "boundaries falling": (first(r"^cat_boundaries=0 ", "cat_boundaries=5 "), "cat_boundaries"),
    "bits negative": (last_item("cat_threshold", "-4"), "cat_threshold"),
    "sizes wrong": (lambda t: re.sub(r"tree_sizes=\d+", "tree_sizes=9", t), "tree_sizes"),
    "classes wrong": (first(r"^num_class=3", "num_class=2"), "num_tree_per_iteration|num_class"),
    "objective wrong": (first(r"num_class:3", "num_class:4"), "num_class of the objective"),
    "objective unknown": (first(r"objective=multiclass", "objective=magic"), "unknown"),
    "a name missing": (first(r"^feature_names=a ", "feature_names="), "feature_names"),
    "an info missing": (first(r"^feature_infos=\S+ ", "feature_infos="), "feature_infos"),
    "more features": (first(r"^max_feature_idx=2", "max_feature_idx=2000000000"), "names"),
    "a tree missing": (lambda t: t.replace("Tree=1\n", "Tree=7\n"), "Tree=1"),
    "an unknown line": (first(r"^shrinkage=", "secret=1\nshrinkage="), "unknown line"),
    "a line twice": (first(r"^(num_cat=.*)$", r"\1\n\1"), "twice"),
    "a section unknown": (lambda t: t.replace("parameters:", "extras:", 1), "extras|unknown"),
    "cut at 30 %": (lambda t: t[: len(t) * 3 // 10], "."),
    "cut at the end": (lambda t: t[:-1], "middle of a line"),
    "something behind": (lambda t: t + "more\n", "follows its end"),
    "a null byte": (lambda t: t.replace("leaf", "le\x00f", 1), "control"),
    "pandas code": (lambda t: t.replace("_categorical:null", "_categorical:{}"), "pandas"),
    "version": (first(r"^version=v4", "version=v9"), "version"),
}


@pytest.mark.parametrize("case", TEXT_FAULTS)
def test_broken_lightgbm_texts_are_refused(case):
    change, words = TEXT_FAULTS[case]
    with pytest.raises(ModelFileError, match=words):
        lightgbm_text.parse(change(TEXT).encode(), "it")


def test_a_deep_tree_is_refused():
    n = 3000
    chain = {
        "num_leaves": n + 1,
        "num_cat": 0,
        "split_feature": " ".join(["0"] * n),
        "threshold": " ".join(["0.5"] * n),
        "decision_type": " ".join(["2"] * n),
        "left_child": " ".join([*map(str, range(1, n)), "-1"]),
        "right_child": " ".join(str(-i - 2) for i in range(n)),
        "leaf_value": " ".join(["1"] * (n + 1)),
        "leaf_weight": " ".join(["1"] * (n + 1)),
        "leaf_count": " ".join(["1"] * (n + 1)),
        **dict.fromkeys(
            ("split_gain", "internal_value", "internal_weight", "internal_count"),
            " ".join(["1"] * n),
        ),
        "is_linear": 0,
        "shrinkage": 1,
    }
    order = [key for key in lightgbm_text.TREE_FIELDS if key in chain]
    tree = "Tree=0\n" + "".join(f"{key}={chain[key]}\n" for key in order) + "\n\n"
    text = lightgbm_booster("binary").model_to_string()
    head, _, rest = text.partition("Tree=0\n")
    text = head + tree + "end of trees" + rest.partition("end of trees")[2]
    with pytest.raises(ModelFileError, match="deeper than"):
        lightgbm_text.parse(with_sizes(text).encode(), "it")


def packed(value):
    """UBJSON as XGBoost writes it."""
    if isinstance(value, dict):
        items = b"".join(packed(key)[1:] + packed(item) for key, item in value.items())
        return b"{" + items + b"}"
    if isinstance(value, np.ndarray):
        kind = {"i1": b"i", "u1": b"U", "i4": b"l", "i8": b"L", "f4": b"d"}[value.dtype.str[1:]]
        raw = value.astype(value.dtype.newbyteorder(">")).tobytes()
        return b"[$" + kind + b"#L" + len(value).to_bytes(8, "big") + raw
    if isinstance(value, list):
        return b"[#L" + len(value).to_bytes(8, "big") + b"".join(map(packed, value))
    if isinstance(value, str):
        raw = value.encode()
        return b"SL" + len(raw).to_bytes(8, "big") + raw
    return b"L" + int(value).to_bytes(8, "big", signed=True)


RAW = bytes(xgboost_booster("multiclass").save_raw("ubj"))


def tree_of(model):
    trees = model["learner"]["gradient_booster"]["model"]["trees"]
    return next(tree for tree in trees if len(tree["categories"]))


def put(name, place, value):
    def change(model):
        tree_of(model)[name][place] = value

    return change


def put_model(*way):
    *keys, last, value = way

    def change(model):
        for key in keys:
            model = model[key]
        model[last] = value

    return change


TREES = ("learner", "gradient_booster", "model")
UBJSON_FAULTS = {
    "child beyond": (put("left_children", 0, 1000), "the child 1000"),
    "child negative": (put("left_children", 0, -7), "the child -7"),
    "a cycle": (put("right_children", 0, 0), "the child 0"),
    "a node twice": (lambda m: put("right_children", 0, tree_of(m)["left_children"][0])(m), "two"),
    "parents": (put("parents", 1, 5), "parents"),
    "feature beyond": (put("split_indices", 0, 3), "splits feature 3"),
    "threshold": (put("split_conditions", 0, np.nan), "finite"),
    "leaf": (put("split_conditions", -1, np.inf), "finite"),
    "split type": (put("split_type", 0, 7), "split_type"),
    "default": (put("default_left", 0, 2), "default_left"),
    "category huge": (put("categories", 0, 2**30), "categories of"),
    "category negative": (put("categories", 0, -1), "categories of"),
    "category node": (put("categories_nodes", 0, 2**20), "categories_nodes"),
    "category start": (put("categories_segments", 0, 2**40), "categories_segments"),
    "category size": (put("categories_sizes", 0, 2**40), "categories_s"),
    "group": (lambda m: m["learner"]["gradient_booster"]["model"]["tree_info"].__setitem__(0, 3),
              "tree_info"),
    "trees": (put_model(*TREES, "gbtree_model_param", "num_trees", "13"), "num_trees"),
    "rounds": (put_model(*TREES, "iteration_indptr", [0, 99]), "iteration_indptr"),
    "features": (put_model("learner", "learner_model_param", "num_feature", "2"), "feature"),
    "classes": (put_model("learner", "learner_model_param", "num_class", "2"), "num_class"),
    "base score": (put_model("learner", "learner_model_param", "base_score", "[inf]"), "base"),
    "booster": (put_model("learner", "gradient_booster", "name", "gblinear"), "gblinear"),
    "objective": (put_model("learner", "objective", "name", "survival:aft"), "survival"),
    "an unknown key": (put_model("learner", "secret", 1), "secret"),
    "version": (put_model("version", [9, 0, 0]), "version"),
    "a wrong type": (lambda m: tree_of(m).__setitem__(
        "left_children", tree_of(m)["left_children"].astype("i8")), "array of i4"),
    "a wrong length": (lambda m: tree_of(m).__setitem__(
        "left_children", tree_of(m)["left_children"][:-1]), "left_children"),
}  # fmt: skip


def test_our_writer_writes_as_xgboost_does():
    model = ubjson.parse(RAW, "it")
    assert xgboost_model.parse(packed(model), "it").n_groups == 3


@pytest.mark.parametrize("case", UBJSON_FAULTS)
def test_broken_xgboost_models_are_refused(case):
    change, words = UBJSON_FAULTS[case]
    model = ubjson.parse(RAW, "it")
    change(model)
    with pytest.raises(ModelFileError, match=words):
        xgboost_model.parse(packed(model), "it")


RAW_FAULTS = {
    "an array of 2^62 numbers": b"[$l#L\x40\0\0\0\0\0\0\0",
    "a list of 2^40 items": b"[#L\0\0\1\0\0\0\0\0",
    "a negative length": b"SL\xff\xff\xff\xff\xff\xff\xff\xff",
    "deep lists": b"[" * 5000,
    "a type that does not exist": b"Q",
    "something behind": b"TT",
    "nothing": b"",
}


@pytest.mark.parametrize("case", RAW_FAULTS)
def test_bytes_that_are_no_ubjson(case):
    with pytest.raises(ModelFileError, match=r"it (is not UBJSON|has 1 bytes behind)"):
        ubjson.parse(RAW_FAULTS[case], "it")
