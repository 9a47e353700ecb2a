"""Mix-ups that gave plausible wrong money without a word: each is now right, or an error."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

import costboost
from costboost import AdaC2Classifier, CostBoostClassifier, LpCSBClassifier, MinCostClassifier
from costboost.costs import per_row
from costboost.metrics import (
    avoidable_cost_score,
    make_cost_scorer,
    mean_cost,
    savings_score,
    total_cost,
)

pytestmark = pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")


def churners(n=600, seed=0):
    """Customers with a value; "churn" comes first in the alphabet and is the positive class."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    leaves = X["a"] + 0.5 * rng.normal(size=n) > 0.8
    X["value"] = rng.lognormal(4, 1, size=n)
    return X, np.where(leaves, "churn", "stay"), X["value"].to_numpy()


def quick(cost_matrix=None, **options):
    defaults = {"n_estimators": 30, "ensemble": 2, "random_state": 0, "n_jobs": 1}
    return CostBoostClassifier(cost_matrix, **{**defaults, **options})


PRICES = {"fn": "value", "fp": 10, "positive": "churn"}
MODELS = {
    "CostBoost": quick,
    "MinCost": lambda cost_matrix=None: MinCostClassifier(cost_matrix=cost_matrix, n_jobs=1),
    "AdaC2": lambda cost_matrix=None: AdaC2Classifier(cost_matrix, n_estimators=10),
    "LpCSB": lambda cost_matrix=None: LpCSBClassifier(cost_matrix, n_estimators=5),
}


# -- 1: which class is positive


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_costs_are_averaged_over_the_rows_that_can_pay_them(make):
    X, y, value = churners()
    model = make().fit(X, y, costs=per_row(fn=value, fp=10, positive="churn"))
    np.testing.assert_allclose(model.costs_.mean[0, 1], value[y == "churn"].mean())
    assert model.costs_.high[0, 1] == value[y == "churn"].max()


def test_seven_classes_have_no_fn():
    X = np.random.default_rng(0).normal(size=(140, 2))
    model = MinCostClassifier(cost_matrix=None, n_jobs=1).fit(X, np.arange(140) % 7)
    with pytest.raises(ValueError, match=r"'fn', a name for two classes.*Pass \(truth, decision\)"):
        model.break_even(X, "fn")


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_labels_that_are_objects(make):
    X = np.arange(40.0)[:, None]
    y = np.array([True, False] * 20, dtype=object)
    assert make().fit(X, y).classes_.tolist() == [False, True]
    lists = np.empty(40, dtype=object)
    lists[:] = [[1], [2]] * 20
    with pytest.raises(ValueError, match=r"one label for every row, got \[1\] on row 0"):
        make().fit(X, lists)


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_the_positive_class_is_never_guessed(make):
    X, y, value = churners()
    for arguments in ({"costs": per_row(fn=value, fp=10)}, {"costs": {"fn": 5, "fp": 1}}):
        with pytest.raises(ValueError, match=r"the positive one.*'churn' or 'stay'"):
            make().fit(X, y, **arguments)
    with pytest.raises(ValueError, match="which class is the positive one"):
        make({"fn": 5, "fp": 1}).fit(X, y)
    named = make().fit(X, y, costs=per_row(fn=value, fp=10, positive="churn"))
    assert named.cost_matrix_[0, 1] == pytest.approx(value[y == "churn"].mean())
    assert "deciding 'stay' when the truth is 'churn'" in str(named.costs_)


def test_the_estimate_is_that_of_the_positive_class_that_was_meant():
    X, y, value = churners(2000)
    model = quick().fit(X, y, costs=per_row(fn=value, fp=10, positive="churn"))
    new, truth, prices = churners(2000, seed=1)
    realised = model.score(new, truth, costs=per_row(fn=prices, fp=10, positive="churn"))
    assert model.estimated_score_.low - 0.05 < realised < model.estimated_score_.high + 0.05


# -- 2: score without the costs of the fit


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_score_needs_the_costs_of_the_fit(make):
    X, y, value = churners()
    costs = per_row(fn=value, fp=10, positive="churn")
    model = make().fit(X, y, costs=costs)
    with pytest.raises(ValueError, match=r"fitted with costs of single rows.*pass costs="):
        model.score(X, y)
    assert np.isfinite(model.score(X, y, costs=costs))
    with pytest.raises(ValueError, match="set_score_request"):
        make_cost_scorer()(model, X, y)
    # Prices of rows in any form count as costs of single rows.
    table = np.column_stack([np.where(y == "churn", 0, 10.0), np.where(y == "churn", value, 0)])
    for prices in (value, value.tolist(), pd.Series(value), table):
        with pytest.raises(ValueError, match="pass costs="):
            make().fit(X, y, costs=prices).score(X, y)
    # One matrix for all rows is known to the model, by whatever argument it came.
    static = {"fn": 5, "fp": 1, "positive": "churn"}
    given = make().fit(X, y, costs=static)
    assert given.score(X, y) == avoidable_cost_score(y, given.predict(X), cost_matrix=static)
    np.testing.assert_array_equal(given.predict(X), make(static).fit(X, y).predict(X))


def test_pipelines_and_cross_validation_refuse_too():
    X, y, value = churners()
    costs = per_row(fn=value, fp=10, positive="churn")
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), quick())
    pipeline.fit(X, y, costboostclassifier__costs=costs)
    with pytest.raises(ValueError, match="pass costs="):
        pipeline.score(X, y)
    with sklearn.config_context(enable_metadata_routing=True):
        model = quick().set_fit_request(costs=True).set_score_request(costs=False)
        with pytest.raises(ValueError, match="pass costs="):
            cross_validate(model, X, y, params={"costs": costs}, cv=2, error_score="raise")
        model = quick().set_fit_request(costs=True).set_score_request(costs=True)
        scores = cross_val_score(model, X, y, params={"costs": costs}, cv=2, error_score="raise")
        assert np.isfinite(scores).all()
        search = GridSearchCV(model, {"max_leaves": [3, 7]}, cv=2, error_score="raise")
        assert np.isfinite(search.fit(X, y, costs=costs).best_score_)


# -- 3: weights in the place of costs


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_the_third_argument_of_fit_is_sample_weight(make):
    X, y, value = churners()
    prices = {"fn": 20, "fp": 1, "positive": "churn"}
    by_place = make(prices).fit(X, y, value)
    by_name = make(prices).fit(X, y, sample_weight=value)
    np.testing.assert_array_equal(by_place.predict(X), by_name.predict(X))
    np.testing.assert_array_equal(by_place.cost_matrix_, [[0, 20], [1, 0]])
    with pytest.raises(TypeError):
        make(prices).fit(X, y, value, per_row(fn=value, fp=1, positive="churn"))


# -- 4: transposed matrices: tests/costs/test_costs.py (names of the axes)


def test_the_costs_are_said_in_words_after_the_fit(capsys):
    X, y, _ = churners()
    model = quick(PRICES, verbose=1).fit(X, y)
    text = str(model.costs_)
    assert "deciding 'stay' when the truth is 'churn' costs" in text
    assert "(value)" in text
    assert text.splitlines()[1] in capsys.readouterr().out
    assert "<td>value: mean" in model.costs_._repr_html_()


# -- 5: folds whose held-out rows are among the training rows


def test_overlapping_folds_are_refused():
    X, y, _ = churners()
    rows = np.arange(len(y))
    with pytest.raises(
        ValueError, match=r"Fold 0 of the 'cv' parameter.*holds out 100 of its training rows"
    ):
        quick(cv=[(rows, rows[:100])]).fit(X, y)


# -- 6: ids and dates


def test_columns_of_ids_are_named_and_left_out_and_dates_become_parts():
    X, y, _ = churners()
    X["customer"] = [f"C{i:05d}" for i in range(len(X))]
    X["since"] = pd.date_range("2020-01-01", periods=len(X), freq="h").astype(str)
    X["colour"] = np.where(X["b"] > 0, "red", "blue")
    with pytest.warns(costboost.ColumnWarning, match=r"'customer' \(an id: 600 different texts"):
        model = quick().fit(X, y)
    since = pd.to_datetime(X["since"])
    plain = X.drop(columns=["customer", "since"])
    plain.insert(4, "weekday", since.dt.day_of_week + 1)
    plain.insert(5, "hour", since.dt.hour)
    by_hand = quick().fit(plain, y)
    np.testing.assert_array_equal(model.predict_proba(X), by_hand.predict_proba(plain))
    parts, own = model.contributions(X), by_hand.contributions(plain)
    np.testing.assert_allclose(parts[:, 5], own[:, 4] + own[:, 5])


# -- 7: interrupted fits


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("stop", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_fit_changes_nothing(make, stop):
    X, y, _ = churners()
    calls = []

    def interrupted(rows):
        calls.append(len(rows))
        raise stop("in the middle")

    model = make(interrupted)
    with pytest.raises(stop):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    model = make().fit(X, y)
    before, told = dict(model.__dict__), model.predict(X)
    other = np.where(y == "churn", 2, 1)
    with pytest.raises(stop):
        model.set_params(cost_matrix=interrupted).fit(X[["a", "b"]], other)
    model.set_params(cost_matrix=None)
    assert model.__dict__.keys() == before.keys()
    assert all(model.__dict__[name] is before[name] for name in before)
    np.testing.assert_array_equal(model.predict(X), told)


# -- costs said once


@pytest.mark.parametrize("name", ["CostBoost", "MinCost"])
def test_expressions_are_the_same_as_arrays(name):
    X, y, value = churners()
    costs = per_row(fn=value, fp=10, positive="churn")
    by_column = MODELS[name](PRICES).fit(X, y)
    plain = MODELS[name]().fit(X, y)
    np.testing.assert_array_equal(by_column.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(by_column.predict(X), plain.predict(X, costs=costs))
    np.testing.assert_array_equal(by_column.predict(X), plain.predict(X, costs=PRICES))
    np.testing.assert_allclose(by_column.predict_cost(X), plain.predict_cost(X, costs=costs))
    assert by_column.score(X, y) == pytest.approx(plain.score(X, y, costs=costs))
    decided = by_column.predict(X)
    assert by_column.score(X, y) == pytest.approx(avoidable_cost_score(y, decided, costs=costs))
    assert total_cost(y, decided, cost_matrix=PRICES, X=X) == pytest.approx(
        total_cost(y, decided, costs=costs)
    )
    with pytest.raises(ValueError, match=r"'vale'.*did you mean 'value'"):
        MODELS[name]({**PRICES, "fn": "vale"}).fit(X, y)


def test_a_column_of_prices_can_be_kept_out_of_the_features():
    X, y, _ = churners()
    model = quick(PRICES, cost_columns="exclude").fit(X, y)
    assert model.columns_.inputs == ["a", "b", "c"]
    plain = quick().fit(X[["a", "b", "c"]], y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X[["a", "b", "c"]]))
    dearer = X.assign(value=X["value"] * 1000)
    assert (model.predict(dearer) == "churn").sum() > (model.predict(X) == "churn").sum()


@pytest.mark.parametrize("name", ["CostBoost", "MinCost"])
def test_other_costs_without_another_fit(name):
    X, y, _ = churners()
    model = MODELS[name]({"fn": 1, "fp": 1, "positive": "churn"}).fit(X, y)
    proba = model.predict_proba(X)
    what_if = {"fn": 50, "fp": 1, "positive": "churn"}
    expected = model.predict(X, costs=what_if)
    assert (expected == "churn").sum() > (model.predict(X) == "churn").sum()
    other = model.with_costs(what_if)
    np.testing.assert_array_equal(other.predict(X), expected)
    np.testing.assert_array_equal(other.predict_proba(X), proba)
    np.testing.assert_array_equal(other.cost_matrix_, [[0, 50], [1, 0]])
    np.testing.assert_array_equal(model.set_params(cost_matrix=what_if).predict(X), expected)
    by_row = model.with_costs(PRICES)
    np.testing.assert_array_equal(by_row.predict(X), model.predict(X, costs=PRICES))
    actions = pd.DataFrame(
        [[30.0, 3.0, 0.0], [0.0, 3.0, 9.0]], ["churn", "stay"], ["wait", "call", "gift"]
    )
    acting = model.with_costs(actions)
    assert acting.decisions_.tolist() == ["wait", "call", "gift"]
    brute = np.asarray(["wait", "call", "gift"])[(proba @ actions.to_numpy()).argmin(axis=1)]
    np.testing.assert_array_equal(acting.predict(X), brute)


ACTIONS = pd.DataFrame(
    [[100.0, 4.0, 0.0], [0.0, 4.0, 20.0]], ["churn", "stay"], ["accept", "review", "block"]
)


@pytest.mark.parametrize("name", ["CostBoost", "MinCost", "LpCSB"])
def test_decisions_are_columns(name):
    X, y, value = churners()
    model = MODELS[name](ACTIONS).fit(X, y)
    assert model.decisions_.tolist() == ["accept", "review", "block"]
    decided = model.predict(X)
    assert set(decided) <= {"accept", "review", "block"}
    score = model.score(X, y)
    assert score == pytest.approx(avoidable_cost_score(y, decided, cost_matrix=ACTIONS))
    assert score > 0
    if name != "LpCSB":
        expected = model.predict_proba(X) @ ACTIONS.to_numpy()
        np.testing.assert_allclose(model.predict_cost(X), expected)
        np.testing.assert_array_equal(decided, model.decisions_[expected.argmin(axis=1)])
    prices = {
        ("churn", "accept"): value, ("churn", "review"): 4, ("churn", "block"): 0,
        ("stay", "accept"): 0, ("stay", "review"): 4, ("stay", "block"): 20,
    }  # fmt: skip
    rows = MODELS[name]().fit(X, y, costs=prices)
    assert rows.decisions_.tolist() == ["accept", "review", "block"]
    assert rows.score(X, y, costs=prices) > 0
    assert set(rows.predict(X)) <= {"accept", "review", "block"}


@pytest.mark.parametrize("name", costboost.algorithms.__all__)
def test_who_needs_classes_as_decisions_says_so(name):
    X, y, _ = churners(200)
    model = getattr(costboost, name)(ACTIONS, n_estimators=3)
    takes = {"AdaMECClassifier", "AverageCostClassifier", "CostingClassifier"}
    takes |= {"DSEClassifier", "GBSEClassifier", "LpCSBClassifier"}
    if name in takes:
        assert model.fit(X, y).decisions_.tolist() == ["accept", "review", "block"]
    else:
        with pytest.raises(ValueError, match=r"decides only for the classes.*CostBoostClassifier"):
            model.fit(X, y)


def test_rows_without_a_price_do_not_break_the_folds():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), rng.integers(2, size=400)
    for seed in range(6):
        price = np.zeros(400)
        price[np.random.default_rng(seed).choice(400, 10, replace=False)] = 5.0
        model = CostBoostClassifier(n_estimators=5, random_state=seed, n_jobs=1)
        assert np.isfinite(model.fit(X, y, costs=price).predict_proba(X)).all()


def test_costs_are_a_keyword_in_every_method():
    """``fit(X, y, amount)`` takes weights, so ``predict(X, amount)`` must not take costs."""
    pytest.importorskip("distributed")
    from costboost.dask import DaskCostBoostClassifier

    classes = [DaskCostBoostClassifier, type(make_cost_scorer())]
    classes += [getattr(costboost, name) for name in costboost.__all__ if name.endswith("er")]
    seen = set()
    for owner in classes:
        for name, method in inspect.getmembers(owner, callable):
            if name.startswith("_") or isinstance(method, type):
                continue
            found = inspect.signature(method).parameters.get("costs")
            # set_fit_request and its like come from scikit-learn, by keyword only too.
            if found is not None:
                assert found.kind is inspect.Parameter.KEYWORD_ONLY, (owner, name)
                seen.add(name)
    wanted = {
        "fit",
        "predict",
        "predict_cost",
        "decide",
        "explain",
        "break_even",
        "score",
        "report",
    }
    assert wanted <= seen
    X, y, value = churners()
    model = AdaC2Classifier(n_estimators=2).fit(X, y)
    with pytest.raises(TypeError, match="positional"):
        model.predict(X, per_row(fn=value, fp=5, positive="churn"))


# -- a frame of fn and fp


def frame_of(value, fn="fn", fp="fp"):
    """Costs as people hold them: a miss costs the value, a false alarm 10."""
    return pd.DataFrame({fn: value, fp: 10.0})


FRAME_NAMES = [
    {},
    {"fn": "cost_fn", "fp": "cost_fp"},
    {"fn": "FN_cost", "fp": "fp-costs"},
    {"fn": "costFN", "fp": "Fp Cost"},
    {"fn": "false_negative_cost", "fp": "False Positive"},
]


@pytest.mark.parametrize("names", FRAME_NAMES, ids=lambda names: names.get("fn", "fn"))
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_frame_of_fn_and_fp_is_read_as_such(names, kind):
    X, y, value = churners()
    y = (y == "churn").astype(int)
    costs, wanted = frame_of(value, **names), per_row(fn=value, fp=10)
    if kind == "polars":
        costs = pytest.importorskip("polars").from_pandas(costs)
    for make in MODELS.values():
        model, known = make().fit(X, y, costs=costs), make().fit(X, y, costs=wanted)
        assert model.decisions_.tolist() == [0, 1]
        np.testing.assert_array_equal(model.cost_matrix_, known.cost_matrix_)
        assert model.score(X, y, costs=costs) == known.score(X, y, costs=wanted)
        if hasattr(model, "predict_proba"):
            decided = known.predict(X, costs=wanted)
            np.testing.assert_array_equal(model.predict(X, costs=costs), decided)
            paid = known.predict_cost(X, costs=wanted)
            np.testing.assert_array_equal(model.predict_cost(X, costs=costs), paid)
            limited = model.decide(X, costs=costs, capacity={1: 20}).labels
            assert (limited == known.decide(X, costs=wanted, capacity={1: 20}).labels).all()
            np.testing.assert_array_equal(
                model.break_even(X, "fn", costs=costs), known.break_even(X, "fn", costs=wanted)
            )
    for metric in (total_cost, savings_score, avoidable_cost_score, mean_cost):
        assert metric(y, decided, costs=costs) == metric(y, decided, costs=wanted)


def test_a_frame_of_all_four_and_the_positive_class():
    X, y, value = churners()
    names = ["cost_fp", "cost_fn", "cost_tp", "cost_tn"]
    costs = pd.DataFrame({"cost_fp": 10.0, "cost_fn": value, "cost_tp": 3.0, "cost_tn": 1.0})
    assert list(costs) == names
    wanted = per_row(fn=value, fp=10, tp=3, tn=1, positive="churn")
    model = quick({"fn": 1, "fp": 1, "positive": "churn"}).fit(X, y, costs=costs)
    known = quick().fit(X, y, costs=wanted)
    assert model.decisions_.tolist() == ["churn", "stay"]
    np.testing.assert_array_equal(model.cost_matrix_, known.cost_matrix_)
    decided = model.predict(X, costs=costs)
    np.testing.assert_array_equal(decided, known.predict(X, costs=wanted))
    assert model.score(X, y, costs=costs) == known.score(X, y, costs=wanted)
    cost = total_cost(y, decided, costs=costs, positive="churn")
    assert cost == total_cost(y, decided, costs=wanted)
    with pytest.raises(ValueError, match=r"the positive one.*per_row\(fn=.*positive="):
        quick().fit(X, y, costs=costs)


def test_frames_that_are_neither_decisions_nor_fn_and_fp_are_refused():
    X, y, value = churners()
    y = (y == "churn").astype(int)
    costs = frame_of(value)
    for wrong, message in (
        (costs[["fn"]], r"both 'fn'.*Add 'fp'"),
        (costs.assign(note=1.0), r"must have the columns 'fn' and 'fp'.*'note'"),
        (costs.assign(cost_fn=1.0), r"each once.*'cost_fn'"),
    ):
        with pytest.raises(ValueError, match=message):
            quick().fit(X, y, costs=wrong)
    with pytest.raises(ValueError, match=r"costs of single rows.*costs= at fit"):
        quick(costs).fit(X, y)
    model = quick().fit(X, y, costs=costs)
    prices = pd.DataFrame({"call": value, "wait": 10.0})
    for wrong in (prices, prices.set_axis([0, 1], axis=1)):
        with pytest.raises(ValueError, match=r"need the truth.*'fn' and 'fp'"):
            model.predict(X, costs=wrong)
    with pytest.raises(ValueError, match=r"must price the decisions \[0, 1\]"):
        model.score(X, y, costs=prices)
    own = quick().fit(X, y, costs=prices)  # names of decisions, and nothing else
    assert own.decisions_.tolist() == ["call", "wait"]
    assert own.score(X, y, costs=prices[["wait", "call"]]) == own.score(X, y, costs=prices)


def test_no_message_lists_an_index():
    X, y, value = churners(2000)
    y = (y == "churn").astype(int)
    many = np.arange(2000) % 40
    frames = [pd.DataFrame({"a": value, "b": 1.0}), frame_of(value).assign(c=1.0)]
    frames += [frame.set_axis([f"r{i}" for i in range(2000)], axis=0) for frame in frames]
    model = quick(effort="fast", n_estimators=5).fit(X, y, costs=frame_of(value))
    calls = [(model.predict, (X,), frame) for frame in frames]
    calls += [(model.score, (X, y), frame) for frame in frames]
    calls += [
        (quick().fit, (X, many), {(i, 99): 1.0 for i in range(39)}),
        (quick().fit, (X, many), pd.DataFrame(np.ones((39, 40)))),
        (quick().fit, (X, many), np.ones((39, 40))),
    ]
    for call, arguments, costs in calls:
        with pytest.raises(ValueError) as raised:
            call(*arguments, costs=costs)
        assert len(str(raised.value)) < 700, str(raised.value)


# -- the order of the rows


def test_costs_in_another_order_than_the_rows_are_aligned():
    X, y, value = churners()
    X.index = [f"c{i}" for i in range(len(X))]
    y = (y == "churn").astype(int)
    by_row = pd.Series(value, X.index)
    model, wanted = quick(), per_row(fn=value, fp=10)
    model.fit(X, y, costs=wanted)
    mixed = by_row.sample(frac=1, random_state=0)
    frame = frame_of(mixed)
    decided = model.predict(X, costs=wanted)
    shuffled = [
        frame,
        {"fn": mixed, "fp": 10},
        per_row(fn=mixed, fp=10),
        per_row(fn=mixed, fp=pd.Series(10.0, X.index)),
    ]
    for costs in shuffled:
        np.testing.assert_array_equal(model.predict(X, costs=costs), decided)
        assert model.score(X, y, costs=costs) == model.score(X, y, costs=wanted)
        again = quick().fit(X, y, costs=costs)
        np.testing.assert_array_equal(again.cost_matrix_, model.cost_matrix_)
        assert again.estimated_score_ == model.estimated_score_
    truth = pd.Series(y, X.index)
    for costs, plain in ((mixed, value), *((costs, wanted) for costs in shuffled)):
        cost = total_cost(truth, decided, costs=plain)
        assert total_cost(truth, decided, costs=costs) == pytest.approx(cost)
    error = quick().fit(X, y, costs=mixed)
    np.testing.assert_array_equal(error.cost_matrix_, quick().fit(X, y, costs=value).cost_matrix_)


def test_costs_of_other_rows_are_refused():
    X, y, value = churners()
    y = (y == "churn").astype(int)
    model = quick(effort="fast").fit(X, y, costs=per_row(fn=value, fp=10))
    later = pd.Series(value, np.arange(len(X)) + 1000)
    doubled = pd.Series(value, np.zeros(len(X), dtype=int))
    for costs in (
        *(later, doubled),
        *(frame_of(later), {"fn": later, "fp": 10}, per_row(fn=later, fp=10)),
    ):
        with pytest.raises(ValueError, match=r"index has other or repeated.*\.to_numpy\(\)"):
            model.score(X, y, costs=costs)
        with pytest.raises(ValueError, match=r"index has other or repeated.*\.to_numpy\(\)"):
            quick().fit(X, y, costs=costs)
        with pytest.raises(ValueError, match=r"index has other or repeated.*\.to_numpy\(\)"):
            total_cost(pd.Series(y), y, costs=costs)
    with pytest.raises(ValueError, match="other or repeated"):
        per_row(fn=later, fp=X["value"])
    model.score(X, y, costs=later.to_numpy())  # the order is right
    total_cost(y, y, costs=later)  # no index to compare
    model.predict(X, costs=per_row(fn=later, fp=10)[:])  # a part of an array has no index


# -- the target in X, and copies of rows


def leaky(kind, y):
    """A column that gives the classes away."""
    churns = y == "churn"
    rng = np.random.default_rng(1)
    if kind == "the target":
        return y
    if kind == "its codes":
        return churns.astype(int)
    if kind == "a threshold":
        return np.where(churns, 5.0, 0.0) + rng.uniform(0, 4, size=len(y))
    if kind == "filled in later":
        return np.where(churns, rng.normal(size=len(y)), np.nan)
    kinds = np.where(churns, rng.choice(["b", "d"], len(y)), rng.choice(["a", "c"], len(y)))
    return pd.Categorical(kinds)


@pytest.mark.parametrize(
    "kind", ["the target", "its codes", "a threshold", "filled in later", "categories"]
)
def test_the_target_among_the_columns_is_told(kind):
    X, y, _ = churners()
    X.insert(1, "left", leaky(kind, y))
    model = quick({**PRICES, "fn": 100}, effort="fast", n_estimators=10)
    with pytest.warns(costboost.CostWarning, match=r"Column 'left' of X tells the class of every"):
        model.fit(X, y)
    if kind != "categories" and kind != "the target":
        matrix = X.to_numpy(dtype=float)
        with pytest.warns(costboost.CostWarning, match=r"Column 1 of X tells"):
            model.fit(matrix, y)
        with pytest.warns(costboost.CostWarning, match=r"Column 1 of X tells"):
            model.fit(sparse.csr_matrix(matrix), y)
    X["again"] = X["left"]
    with pytest.warns(costboost.CostWarning, match=r"Each of the columns 'left', 'again' tells"):
        model.fit(X, y)


def test_honest_columns_are_not_told():
    """Numbers of rows, names of customers, and a column that is wrong once: no warning."""
    X, y, _ = churners(2000)
    rng = np.random.default_rng(0)
    X["number"] = rng.permutation(len(X))
    X["group"] = pd.Categorical(rng.integers(0, 300, len(X)).astype(str))
    nearly = (y == "churn").astype(float)
    nearly[7] = 1 - nearly[7]
    X["nearly"] = nearly
    X["name"] = pd.Categorical([f"c{i}" for i in range(len(X))])
    quick({**PRICES, "fn": 100}, effort="fast", n_estimators=5).fit(X, y)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_copies_of_rows_across_folds_are_told(form):
    X, y, _ = churners(800)
    X = X.to_numpy()
    X[X < -1] = 0.0
    copied = np.r_[np.arange(800), np.arange(200)]
    model = quick(effort="fast", ensemble=5, n_estimators=5)
    # Of 1,000 rows 400 have a copy, which another of five folds holds out in four cases of five.
    with pytest.warns(costboost.CostWarning, match=r"^3[0-4]% of the held-out rows.*cv=") as told:
        model.fit(form(X[copied]), y[copied])
    assert sum(one.category is costboost.CostWarning for one in told) == 1
    together = [(np.flatnonzero(copied % 2 != f), np.flatnonzero(copied % 2 == f)) for f in (0, 1)]
    quick(effort="fast", cv=together, n_estimators=5).fit(form(X[copied]), y[copied])
    quick(effort="fast", n_estimators=5).fit(form(X), y)


def test_twins_that_are_natural_are_not_told():
    """Few columns, or columns of few values: equal rows are no copies."""
    rng = np.random.default_rng(0)
    few = rng.integers(0, 5, size=(2000, 4)).astype(float)
    age = np.c_[rng.integers(18, 90, 2000), rng.integers(0, 2, 2000)].astype(float)
    y = (rng.random(2000) < 0.4).astype(int)
    for X in (few, age):
        quick(effort="fast", n_estimators=5).fit(X, y)


def test_kddcup99_is_told_to_repeat_rows(data_dir):
    X = pd.read_csv(data_dir / "kddcup99.csv.gz", nrows=20_000)
    y = X.pop("target")
    X = X.loc[:, ~X.columns.str.startswith("aux_")]  # what the loader leaves out
    with pytest.warns(costboost.CostWarning, match=r"\d\d% of the held-out rows are equal"):
        quick(effort="fast", n_estimators=2).fit(X, y)
