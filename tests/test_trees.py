"""The table of trees: scores of the engines, and tables from files that are refused."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

from costboost import trees as module
from costboost._threads import prediction_threads, same_threads
from costboost.trees import ZERO, Trees, from_catboost, from_lightgbm, from_xgboost

CATEGORICAL = [0, 1]


def table(n=600):
    rng = np.random.RandomState(0)
    X = rng.randn(n, 5)
    X[:, 0] = rng.randint(0, 70, n)  # categories, more than a word of bits holds
    X[:, 1] = rng.randint(0, 4, n)
    X[rng.rand(n, 5) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0]) % 3 + np.nan_to_num(X[:, 2]) + rng.randn(n) > 1).astype(int)
    return X, y + (np.nan_to_num(X[:, 3]) > 1)


def strange_rows():
    X = table()[0]
    edges = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-36, 5e-324, -ZERO, ZERO, -0.5]
    edges += [31.0, 32.0, 63.9, 64.0, 1e9, -1e9, 1e300, -1e300]
    return np.vstack([X, -X, np.repeat(np.array(edges)[:, None], X.shape[1], axis=1)])


def lightgbm_booster(objective="binary", categories=CATEGORICAL, rounds=15, **parameters):
    X, y = table()
    if objective == "multiclass":
        parameters["num_class"] = 3
    else:
        y = np.minimum(y, 1)
    chosen = {"objective": objective, "verbosity": -1, "num_threads": 1, "min_data_in_leaf": 5}
    rows = lgb.Dataset(X, y, categorical_feature=list(categories))
    return lgb.train({**chosen, **parameters}, rows, rounds)


def xgboost_matrix(X, y=None):
    types = ["c", "c", "q", "q", "q"]
    return xgb.DMatrix(X, y, feature_types=types, enable_categorical=True)


def xgboost_booster(k=2, rounds=10, **parameters):
    X, y = table()
    chosen = {"objective": "binary:logistic", "nthread": 1, "max_depth": 4, "verbosity": 0}
    if k > 2:
        chosen |= {"objective": "multi:softprob", "num_class": k}
    return xgb.train({**chosen, **parameters}, xgboost_matrix(X, np.minimum(y, k - 1)), rounds)


LIGHTGBM = [
    {},
    {"categories": ()},
    {"objective": "multiclass"},
    {"max_cat_to_onehot": 100},
    {"max_cat_to_onehot": 1, "min_data_per_group": 2, "cat_smooth": 1.0},
    {"use_missing": False},
    {"zero_as_missing": True},
    {"extra_trees": True, "bagging_fraction": 0.5, "bagging_freq": 1},
    {"boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1},  # the sum
    {"min_data_in_leaf": 10_000},  # constants
    {"objective": "multiclass", "min_gain_to_split": 5.0},  # some trees are
]


@pytest.mark.parametrize("options", LIGHTGBM, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_answers_are_those_of_lightgbm(options, dtype):
    """Scores to the last bit."""
    booster = lightgbm_booster(**options)
    with np.errstate(over="ignore"):
        rows = strange_rows().astype(dtype)
    found = from_lightgbm(booster)
    found.check()
    expected = booster.predict(rows, raw_score=True)
    np.testing.assert_array_equal(found.scores(rows), expected)
    np.testing.assert_array_equal(found.scores(rows[::2], threads=3), expected[::2])
    np.testing.assert_array_equal(found.scores(rows[7:8]), expected[7:8])
    stages, early = list(found.staged_scores(rows)), min(4, found.n_rounds)
    assert len(stages) == found.n_rounds
    np.testing.assert_array_equal(stages[-1], expected)
    expected = booster.predict(rows, raw_score=True, num_iteration=early)
    np.testing.assert_array_equal(stages[early - 1], expected)
    np.testing.assert_array_equal(from_lightgbm(booster, early).scores(rows), expected)
    X = table()[0]
    values, expected = found.contributions(X), np.asarray(booster.predict(X, pred_contrib=True))
    np.testing.assert_allclose(values, expected.reshape(values.shape), atol=1e-9)
    np.testing.assert_allclose(found.importances(5), booster.feature_importance("gain"), rtol=1e-4)


def xgboost_rows():
    X, rng = table()[0], np.random.RandomState(1)
    edges = X[:, 2:].astype(np.float32).astype(np.float64)
    rows = [X, X.astype(np.float32), np.nextafter(X, np.inf)]
    for step in (-np.inf, np.inf):  # halfway between two numbers of single precision
        beside = np.nextafter(edges.astype(np.float32), np.float32(step)).astype(np.float64)
        rows.append(np.hstack([X[:, :2], 0.5 * (edges + beside)]))
    rows.append(np.hstack([X[:, :2], rng.choice([0.0, -0.0, 1e30, -1e30, 1e-30], (len(X), 3))]))
    rows.append(np.hstack([rng.choice([np.nan, 3.0, 69.0, 70.0, 500.0], (len(X), 2)), X[:, 2:]]))
    return np.vstack(rows)


XGBOOST = [
    {},
    {"k": 3},
    {"max_cat_to_onehot": 100},
    {"max_cat_to_onehot": 1},
    {"booster": "dart", "rate_drop": 0.5},
    {"num_parallel_tree": 2, "subsample": 0.5, "k": 3},
    {"gamma": 5.0, "max_cat_to_onehot": 100},
    {"base_score": 0.02},
    {"base_score": 0.9999999},
    {"objective": "reg:squarederror", "base_score": 0.0},
]


@pytest.mark.parametrize("options", XGBOOST, ids=str)
def test_answers_are_those_of_xgboost(options):
    booster, rows = xgboost_booster(**options), xgboost_rows()
    matrix = xgboost_matrix(rows)
    expected = booster.predict(matrix, output_margin=True)
    found = from_xgboost(booster)
    found.check()
    scores = found.scores(rows)
    np.testing.assert_allclose(scores, expected, atol=3e-6)
    np.testing.assert_allclose(found.contributions(rows).sum(axis=-1), scores, atol=1e-9)
    *_, last = found.staged_scores(rows)
    np.testing.assert_array_equal(last, scores)
    X, gains = table()[0], booster.get_score(importance_type="total_gain")
    expected = booster.predict(xgboost_matrix(X), pred_contribs=True)
    np.testing.assert_allclose(found.contributions(X), expected, atol=1e-4)
    expected = [gains.get(f"f{j}", 0.0) for j in range(5)]
    np.testing.assert_allclose(found.importances(5), expected, rtol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_what_is_no_tree_is_refused():
    X, y = table()
    vectors = {"multi_strategy": "multi_output_tree", "objective": "multi:softprob", "num_class": 3}
    for options in ({"booster": "gblinear"}, vectors):
        booster = xgb.train({**options, "nthread": 1}, xgb.DMatrix(np.nan_to_num(X), y), 2)
        with pytest.raises(ValueError, match="engine_params"):
            from_xgboost(booster)
    with pytest.raises(ValueError, match="linear_tree"):
        from_lightgbm(lightgbm_booster(linear_tree=True, categories=()))


@pytest.mark.parametrize("k", [2, 3])
def test_scores_are_those_of_catboost(k):
    catboost = pytest.importorskip("catboost")
    X, y = table()
    y = np.minimum(y, k - 1)
    # Columns as CatBoost sees them: numbers, and whether the second is a category.
    source, category = np.array([2, 3, 4, 1, 1, 1, 1]), np.array([-1, -1, -1, 0, 1, 2, 3])

    def seen(rows):
        values = rows[:, source].astype(np.float32)
        values[:, 3:] = values[:, 3:] == category[3:]
        return values

    settings = {"loss_function": "Logloss" if k == 2 else "MultiClass", "iterations": 12}
    settings |= {"verbose": False, "allow_writing_files": False, "thread_count": 1, "depth": 4}
    booster = catboost.CatBoost(settings).fit(seen(X), y)
    found = from_catboost(booster, source, category)
    found.check()
    rows = xgboost_rows()
    expected = booster.predict(seen(rows), prediction_type="RawFormulaVal")
    np.testing.assert_allclose(found.scores(rows), expected, atol=1e-9)
    np.testing.assert_allclose(found.contributions(rows).sum(axis=-1), expected, atol=1e-9)
    assert (found.importances(5)[1:] > 0).all()
    assert found.n_rounds == 12


@pytest.mark.parametrize("k", [2, 3])
def test_joined_tables_are_the_weighted_sum(k):
    objective = "binary" if k == 2 else "multiclass"
    parts = [
        from_lightgbm(lightgbm_booster(objective, rounds=3)),
        from_xgboost(xgboost_booster(k, rounds=4)),
        from_lightgbm(lightgbm_booster(objective, rounds=5, min_gain_to_split=5.0)),
    ]
    weights, rows = [0.5, 0.2, -0.7], xgboost_rows()
    joined = Trees.joined(parts, weights)
    joined.check()
    expected = sum(w * part.scores(rows) for part, w in zip(parts, weights, strict=True))
    np.testing.assert_allclose(joined.scores(rows), expected, atol=1e-12)
    assert joined.n_rounds == 3 + 4 + 5
    known = rows[np.isfinite(rows[:, :2]).all(axis=1)]
    twin = joined.to_lightgbm(5).predict(known, raw_score=True)
    np.testing.assert_allclose(twin, joined.scores(known), atol=1e-12)


def test_the_table_as_an_ordinary_booster():
    found = from_lightgbm(lightgbm_booster("multiclass"))
    booster = found.to_lightgbm(5, is_log_loss=True)
    np.testing.assert_allclose(booster.predict(table()[0]).sum(axis=1), 1.0)
    assert booster.trees_to_dataframe()["tree_index"].nunique() == len(found.roots)
    again = from_lightgbm(lgb.Booster(model_str=booster.model_to_string()))
    for name in (field.name for field in fields(found)):
        np.testing.assert_allclose(getattr(found, name), getattr(again, name), err_msg=name)


def test_a_copy_has_the_arrays_alone():
    found, X = from_lightgbm(lightgbm_booster()), table()[0]
    before = pickle.dumps(found)
    scores = found.scores(X)
    assert pickle.dumps(found) == before
    again = pickle.loads(before)
    for field in fields(again):
        if isinstance(array := getattr(again, field.name), np.ndarray):
            array.flags.writeable = False  # as those of a file may be
    X.flags.writeable = False
    np.testing.assert_array_equal(again.scores(X), scores)


def test_predictions_take_the_threads_of_what_runs():
    """Another number of threads would crash a training or a prediction that runs beside."""
    with prediction_threads(3) as alone:
        assert alone == 3
    with ThreadPoolExecutor(1) as pool, same_threads(2):

        def ask():
            with prediction_threads(1) as number:
                return number

        assert pool.submit(ask).result() == 2
        with prediction_threads(1) as number:
            assert number == 2


def test_stages_beside_scores_in_threads():
    """A prediction of some rounds must not change those that another thread takes."""
    found, rows = from_lightgbm(lightgbm_booster("multiclass")), strange_rows()
    scores, stages = found.scores(rows), list(found.staged_scores(rows))

    def ask(number):
        if number % 2:
            return np.array_equal(found.scores(rows), scores)
        return np.array_equal(list(found.staged_scores(rows)), stages)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(48)))


def test_staged_scores_by_blocks_of_rounds(monkeypatch):
    found, rows = from_lightgbm(lightgbm_booster("multiclass")), strange_rows()
    stages = list(found.staged_scores(rows))
    monkeypatch.setattr(module, "STAGED_LEAVES", 4 * stages[0].size)
    np.testing.assert_array_equal(list(found.staged_scores(rows)), stages)


@pytest.mark.parametrize("dtype", [np.int64, bool, object])
def test_rows_of_other_types_are_scored_in_double_precision(dtype):
    found = from_lightgbm(lightgbm_booster(categories=()))
    X = np.nan_to_num(100_000_001 * table()[0]).astype(dtype)
    np.testing.assert_array_equal(found.scores(X), found.scores(X.astype(np.float64)))
    assert found.scores(X[:0]).shape == (0,)


def put(name, place, value):
    """A table with another number at a place, or at the first node of categories."""

    def change(trees):
        array = getattr(trees, name).copy()
        array[np.flatnonzero(trees.kind & 1)[0] if place == "set" else place] = value
        return replace(trees, **{name: array})

    return change


PARENT = "one parent"
HOSTILE = [
    (put("feature", 3, -1), "features that are columns"),
    (put("children", (3, 0), 3), PARENT),  # a circle
    (put("children", (3, 1), 0), PARENT),  # to the root
    (put("children", (3, 0), 60), PARENT),  # into another tree
    *((put("children", (3, 0), sign * 2**30), PARENT) for sign in (1, -1)),
    *((put("roots", *given), PARENT) for given in ((1, 1), (-1, 2**30), (0, -1))),
    (put("roots", slice(None), -1), PARENT),  # nodes of no tree
    *((put("words", "set", value), "categories") for value in (2**30, -1)),
    *((put("threshold", "set", value), "categories") for value in (-1, 0.5)),
    (lambda t: replace(t, categories=t.categories[:-1]), "categories"),  # one word beyond the end
    *((put(name, 0, np.nan), "finite") for name in ("base", "values", "threshold", "gain")),
    (put("leaf_cover", 0, -1.0), "covers"),
    (put("leaf_cover", 0, np.inf), "finite"),
    *((put("kind", 0, value), "kinds") for value in (8, -1)),
    (lambda t: replace(t, gain=t.gain[1:]), "gain must be an array"),
    (lambda t: replace(t, values=t.values[1:]), "values must be an array"),
    (lambda t: replace(t, children=t.children.ravel()), "children must be an array"),
    (lambda t: replace(t, roots=t.roots.astype(float)), "roots must be an array"),
    (lambda t: replace(t, values=[1.0]), "values must be an array"),
    (lambda t: replace(t, n_scores=0), "n_scores"),
    (lambda t: replace(t, n_scores=2, base=np.zeros(2)), "each score"),
    (lambda t: replace(t, base=np.zeros(3)), "base must be an array"),
]


def test_a_hostile_table_is_refused():
    found = from_lightgbm(lightgbm_booster())
    found.check()
    for change, words in HOSTILE:
        with pytest.raises(ValueError, match=words):
            change(found).check()


def test_rows_that_are_too_narrow_are_refused():
    """Compiled code would read beyond their end."""
    found = put("feature", 0, 5)(from_lightgbm(lightgbm_booster()))
    found.check()
    ask = (found.scores, found.leaves, found.contributions, lambda X: next(found.staged_scores(X)))
    for answer in ask:
        with pytest.raises(ValueError, match="ask for column 5, and there are 5"):
            answer(strange_rows())


def test_a_tree_that_is_too_deep_is_refused():
    n, stump = 1500, from_lightgbm(lightgbm_booster(rounds=1, num_leaves=2, categories=()))
    nodes = {name: np.repeat(getattr(stump, name), n) for name in module.NODE_ARRAYS}
    leaves = {name: np.ones(n + 1) for name in ("values", "leaf_cover")}
    children = np.stack([np.append(np.arange(1, n), ~n), ~np.arange(n)], axis=1).astype(np.int32)
    with pytest.raises(ValueError, match="depth of at most 1000"):
        replace(stump, children=children, **nodes, **leaves).check()
