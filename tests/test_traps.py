"""Mix-ups that gave plausible wrong money without a word: each is now right, or an error."""

from __future__ import annotations

import inspect
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import costboost
from costboost import CostBoostClassifier, CostWarning, MinCostClassifier, decisions, metrics
from costboost.costs import Costs, per_row
from costboost.metrics import avoidable_cost_score, make_cost_scorer, total_cost
from costboost.monitor import snapshot
from helpers.costs import costs_of_rows

pytestmark = pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")


def churners(n=600):
    """Customers with a value; "churn" comes first in the alphabet and is the positive class."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    leaves = X["a"] + 0.5 * rng.normal(size=n) > 0.8
    X["value"] = rng.lognormal(4, 1, size=n)
    return X, np.where(leaves, "churn", "stay"), X["value"].to_numpy()


X, y, value = churners()
Z = (y == "churn").astype(int)


def quick(cost_matrix=None, **options):
    defaults = {"effort": "fast", "n_estimators": 60, "cv": 2, "random_state": 0, "n_jobs": 1}
    return CostBoostClassifier(cost_matrix, **{**defaults, **options})


same = np.testing.assert_array_equal
ACTIONS = ["accept", "review", "block"]
TABLE = pd.DataFrame([[100.0, 4.0, 0.0], [0.0, 4.0, 20.0]], ["churn", "stay"], ACTIONS)
PRICES = {"fn": "value", "fp": 10, "positive": "churn"}
MODELS = {
    "CostBoost": quick,
    "MinCost": lambda costs=None: MinCostClassifier(cost_matrix=costs, n_jobs=1),
    "AdaC2": partial(costboost.AdaC2Classifier, n_estimators=10),
    "LpCSB": partial(costboost.LpCSBClassifier, n_estimators=5),
}


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_the_positive_class_is_never_guessed(make):
    short = {"fn": 5, "fp": 1}
    for matrix, costs in ((None, per_row(fn=value, fp=10)), (None, short), (short, None)):
        with pytest.raises(ValueError, match=r"the positive one.*'churn' or 'stay'"):
            make(matrix).fit(X, y, costs=costs)
    lists = np.empty(40, dtype=object)
    lists[:] = [[1], [2]] * 20
    with pytest.raises(ValueError, match=r"one label for every row, got \[1\] on row 0"):
        make().fit(X[:40], lists)
    objects = make().fit(X[:40], np.array([True, False] * 20, dtype=object))
    assert objects.classes_.tolist() == [False, True]
    named = make().fit(X, y, costs=per_row(fn=value, fp=10, positive="churn"))
    # Averaged over the rows that can pay it.
    assert named.cost_matrix_[0, 1] == pytest.approx(value[y == "churn"].mean())
    np.testing.assert_allclose(named.costs_.mean[0, 1], value[y == "churn"].mean())
    assert named.costs_.high[0, 1] == value[y == "churn"].max()
    assert "deciding 'stay' when the truth is 'churn'" in str(named.costs_)


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_score_needs_the_costs_of_the_fit(make):
    costs = per_row(fn=value, fp=10, positive="churn")
    model = make().fit(X, y, costs=costs)
    with pytest.raises(ValueError, match=r"fitted with costs of single rows.*pass costs="):
        model.score(X, y)
    assert np.isfinite(model.score(X, y, costs=costs))
    with pytest.raises(ValueError, match="set_score_request"):
        make_cost_scorer()(model, X, y)
    with pytest.raises(ValueError, match="pass costs="):  # prices are costs of single rows, too
        make().fit(X, y, costs=pd.Series(value)).score(X, y)
    # One matrix for all rows is known to the model, by whatever argument it came.
    static = {"fn": 5, "fp": 1, "positive": "churn"}
    given = make().fit(X, y, costs=static)
    assert given.score(X, y) == avoidable_cost_score(y, given.predict(X), cost_matrix=static)
    same(given.predict(X), make(static).fit(X, y).predict(X))


@pytest.mark.parametrize("name", ["MinCost", "LpCSB"])
def test_a_class_that_the_training_rows_lack_is_judged(name):
    """As in folds of sorted rows, by costs that name it; a plain array cannot say which it is."""
    X, y = np.arange(90.0)[:, None], np.repeat(["bus", "car", "van"], 30)
    train, names = y != "bus", ["van", "bus", "car"]
    prices = pd.DataFrame([[0, 1, 9], [4, 0, 2], [5, 1, 0]], names, names)
    for form in (prices, None):
        model = MODELS[name](form).fit(X[train], y[train])
        wanted = avoidable_cost_score(y, model.predict(X), cost_matrix=form, labels=sorted(names))
        assert model.score(X, y) == pytest.approx(wanted)
    with pytest.raises(ValueError, match=r"shape \(2, 2\) for the classes \['car', 'van'\]"):
        MODELS[name](prices.to_numpy()).fit(X[train], y[train])


def test_costs_are_a_keyword_in_every_method():
    """``fit(X, y, amount)`` takes weights, so ``predict(X, amount)`` must not take costs."""
    pytest.importorskip("distributed")
    from costboost.dask import DaskCostBoostClassifier

    classes = [DaskCostBoostClassifier, type(make_cost_scorer())]
    classes += [getattr(costboost, name) for name in costboost.__all__ if name.endswith("er")]
    seen = set()
    for owner in classes:
        for name, method in inspect.getmembers(owner, inspect.isfunction):
            parameters = inspect.signature(method).parameters
            if name == "fit":
                assert list(parameters)[3] == "sample_weight", owner
            if "costs" in parameters and not name.startswith("_"):
                assert parameters["costs"].kind is inspect.Parameter.KEYWORD_ONLY, (owner, name)
                seen.add(name)
    assert {"fit", "predict", "predict_cost", "decide", "explain", "break_even", "score"} <= seen


@pytest.mark.parametrize("name", ["CostBoost", "MinCost"])
def test_expressions_are_the_same_as_arrays(name):
    costs = per_row(fn=value, fp=10, positive="churn")
    by_column = MODELS[name](PRICES).fit(X, y)
    plain = MODELS[name]().fit(X, y)
    decided = by_column.predict(X)
    same(by_column.predict_proba(X), plain.predict_proba(X))
    for told in (costs, PRICES):
        same(decided, plain.predict(X, costs=told))
        np.testing.assert_allclose(by_column.predict_cost(X), plain.predict_cost(X, costs=told))
    assert by_column.score(X, y) == pytest.approx(plain.score(X, y, costs=costs))
    assert by_column.score(X, y) == pytest.approx(avoidable_cost_score(y, decided, costs=costs))
    paid = total_cost(y, decided, costs=costs)
    assert total_cost(y, decided, cost_matrix=PRICES, X=X) == pytest.approx(paid)
    with pytest.raises(ValueError, match=r"'vale'.*did you mean 'value'"):
        MODELS[name]({**PRICES, "fn": "vale"}).fit(X, y)


def test_a_column_of_prices_can_be_kept_out_of_the_features():
    model = quick(PRICES, cost_columns="exclude").fit(X, y)
    assert model.columns_.inputs == ["a", "b", "c"]
    plain = quick().fit(X[["a", "b", "c"]], y)
    same(model.predict_proba(X), plain.predict_proba(X[["a", "b", "c"]]))
    dearer = X.assign(value=X["value"] * 1000)
    assert (model.predict(dearer) == "churn").sum() > (model.predict(X) == "churn").sum()


@pytest.mark.parametrize("name", ["CostBoost", "MinCost"])
def test_other_costs_without_another_fit(name):
    model = MODELS[name]({"fn": 1, "fp": 1, "positive": "churn"}).fit(X, y)
    proba = model.predict_proba(X)
    what_if = {"fn": 50, "fp": 1, "positive": "churn"}
    expected = model.predict(X, costs=what_if)
    assert (expected == "churn").sum() > (model.predict(X) == "churn").sum()
    other = model.with_costs(what_if)
    same(other.predict(X), expected)
    same(other.predict_proba(X), proba)
    same(other.cost_matrix_, [[0, 50], [1, 0]])
    decided = model.predict(X)
    same(model.set_params(cost_matrix=what_if).predict(X), decided)  # acts at the next fit
    same(model.with_costs(PRICES).predict(X), model.predict(X, costs=PRICES))
    acting = model.with_costs(TABLE)
    assert acting.decisions_.tolist() == ACTIONS
    same(acting.predict(X), np.array(ACTIONS)[(proba @ TABLE.to_numpy()).argmin(axis=1)])


@pytest.mark.parametrize("name", ["CostBoost", "MinCost", "LpCSB"])
def test_decisions_are_columns(name):
    model = MODELS[name](TABLE).fit(X, y)
    decided, score = model.predict(X), model.score(X, y)
    assert score == pytest.approx(avoidable_cost_score(y, decided, cost_matrix=TABLE)) and score > 0
    if name != "LpCSB":
        expected = model.predict_proba(X) @ TABLE.to_numpy()
        np.testing.assert_allclose(model.predict_cost(X), expected)
        same(decided, model.decisions_[expected.argmin(axis=1)])
    prices = {**TABLE.stack().to_dict(), ("churn", "accept"): value}
    rows = MODELS[name]().fit(X, y, costs=prices)
    assert rows.score(X, y, costs=prices) > 0
    for one in (model, rows):
        assert one.decisions_.tolist() == ACTIONS
        assert set(one.predict(X)) <= set(ACTIONS)


def test_rows_without_a_price_do_not_break_the_folds():
    price = np.zeros(len(y))
    price[np.random.default_rng(0).choice(len(y), 10, replace=False)] = 5.0
    model = quick(cv=5, n_estimators=5).fit(X, y, costs=price)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("make", [quick, MODELS["MinCost"], MODELS["AdaC2"]])
def test_messages_name_the_cell(make):
    X, y, _ = churners(60)
    X = X[["a", "b"]]
    infinite, text = X.copy(), np.array(X, dtype=object)
    infinite.loc[5, "b"], text[3, 0] = np.inf, "abc"
    model = make().fit(X, y)
    for call in (lambda: make().fit(infinite, y), lambda: model.predict(infinite)):
        with pytest.raises(ValueError, match=r"infinity.*in column 'b' on row 5\."):
            call()
    with pytest.raises(ValueError, match=r"'abc'\. The first is in column 0 on row 3\."):
        make().fit(text, y)
    missing = X.astype("Float64")
    missing.loc[4, "a"] = None
    with pytest.raises(ValueError, match=r"contains NaN.*in column 'a' on row 4\."):
        costboost.CSLogitBoostClassifier().fit(missing, y)
    for weights in (["abc"] * 60, [10**400] * 60):
        with pytest.raises(ValueError, match=r"'sample_weight' parameter of \w+ must hold numbers"):
            make().fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match=r"positive class \[1\], which is not among"):
        make({"fn": 1, "fp": 1, "positive": [1]}).fit(X, y)
    with pytest.raises(ValueError, match=r"'fn', a name for two classes.*Pass \(truth, decision\)"):
        MODELS["MinCost"]().fit(X, np.arange(60) % 7).break_even(X, "fn")


def frame_of(value):
    """Costs as people hold them: a miss costs the value, a false alarm 10."""
    return pd.DataFrame({"fn": value, "fp": 10.0})


FRAME_NAMES = [
    ["cost_fn", "cost_fp", "cost_tp", "cost_tn"],
    ["FN_cost", "fp-costs", "TP cost", "tn_costs"],
    ["false_negative_cost", "False Positive", "true positives", "costTN"],
]


@pytest.mark.parametrize("names", FRAME_NAMES, ids=lambda names: names[0])
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas])
def test_a_frame_of_fn_and_fp_is_read_as_such(names, kind):
    prices = {"fn": value, "fp": 10.0, "tp": 3.0, "tn": 1.0}
    costs = kind(pd.DataFrame(prices).set_axis(names, axis=1)[names[::-1]])
    wanted = per_row(**prices, positive="churn")
    positive = {"fn": 1, "fp": 1, "positive": "churn"}
    for codes in (None, np.unique(y, return_inverse=True)[1]):
        known = {"classes": ["churn", "stay"], "n_samples": len(y), "codes": codes}
        found = costs_of_rows(positive, costs, **known)
        same(found.matrix, costs_of_rows(None, wanted, **known).matrix)
        with pytest.raises(ValueError, match=r"the positive one.*per_row\(fn=.*positive="):
            costs_of_rows(None, costs, **known)
    for metric in (total_cost, metrics.savings_score, avoidable_cost_score, metrics.mean_cost):
        found = metric(y, y[::-1], costs=costs, positive="churn")
        assert found == metric(y, y[::-1], costs=wanted)


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_every_door_takes_a_frame_of_fn_and_fp(make):
    costs, wanted = frame_of(value), per_row(fn=value, fp=10)
    model, known = make().fit(X, Z, costs=costs), make().fit(X, Z, costs=wanted)
    assert model.decisions_.tolist() == [0, 1]
    same(model.cost_matrix_, known.cost_matrix_)
    assert model.score(X, Z, costs=costs) == known.score(X, Z, costs=wanted)
    methods = {"predict": {}, "predict_cost": {}, "break_even": {"entry": "fn"}}
    for method, more in methods.items() if hasattr(model, "predict_proba") else ():
        found = getattr(model, method)(X, costs=costs, **more)
        same(found, getattr(known, method)(X, costs=wanted, **more))


def test_frames_that_are_neither_decisions_nor_fn_and_fp_are_refused():
    costs = frame_of(value)
    for wrong, message in (
        (costs[["fn"]], r"both 'fn'.*Add 'fp'"),
        (costs.assign(note=1.0), r"must have the columns 'fn' and 'fp'.*'note'"),
        (costs.assign(cost_fn=1.0), r"each once.*'cost_fn'"),
    ):
        with pytest.raises(ValueError, match=message):
            quick().fit(X, Z, costs=wrong)
    with pytest.raises(ValueError, match=r"costs of single rows.*Pass it as costs="):
        quick(costs).fit(X, Z)
    model = quick().fit(X, Z, costs=costs)
    prices = pd.DataFrame({"call": value, "wait": 10.0})
    for wrong in (prices, prices.set_axis([0, 1], axis=1)):
        with pytest.raises(ValueError, match=r"need the truth.*'fn' and 'fp'"):
            model.predict(X, costs=wrong)
    with pytest.raises(ValueError, match=r"must price the decisions \[0, 1\]"):
        model.score(X, Z, costs=prices)
    own = quick().fit(X, Z, costs=prices)  # names of decisions, and nothing else
    assert own.decisions_.tolist() == ["call", "wait"]
    assert own.score(X, Z, costs=prices[["wait", "call"]]) == own.score(X, Z, costs=prices)


def forms_of(values):
    """The forms that know which row a cost is of."""
    yield from (frame_of(values), {"fn": values, "fp": 10}, per_row(fn=values, fp=10), values)


def test_costs_of_other_rows_are_refused():
    """Costs with a pandas index have that of the rows, in the same order; others are positional."""
    X, _, value = churners()
    X.index = [f"c{i}" for i in range(len(X))]
    model = quick().fit(X, Z, costs=per_row(fn=value, fp=10))
    right = pd.Series(value, X.index)
    mixed = right.sample(frac=1, random_state=0)
    later = pd.Series(value, np.arange(len(X)) + 1000)
    doubled = pd.Series(value, np.zeros(len(X), dtype=int))
    truth = pd.Series(Z, X.index)
    calls = (
        lambda costs: model.score(X, Z, costs=costs),
        lambda costs: quick().fit(X, Z, costs=costs),
        lambda costs: total_cost(truth, Z, costs=costs),
    )
    for values in (mixed, later, doubled):
        for costs in forms_of(values):
            for call in calls:
                with pytest.raises(ValueError, match=r"must have the index of .*\.to_numpy\(\)"):
                    call(costs)
    mixed_frame = {"fn": mixed, "fp": "0 * value + 10"}
    with pytest.raises(ValueError, match="must have the index of"):
        model.predict(X, costs=mixed_frame)
    with pytest.raises(ValueError, match="must have the index of"):
        per_row(fn=later, fp=X["value"])
    for costs in forms_of(right):
        for call in calls:
            call(costs)
    model.score(X, Z, costs=later.to_numpy())  # the order is right
    total_cost(Z, Z, costs=later)  # no index to compare
    model.predict(X, costs=per_row(fn=later, fp=10)[:])  # a part of an array has no index


@pytest.mark.parametrize(
    "kind", ["the target", "its codes", "a threshold", "filled in later", "categories"]
)
def test_the_target_among_the_columns_is_told(kind):
    X, y, _ = churners()
    churns, rng, n = y == "churn", np.random.default_rng(1), len(y)
    letters = np.where(churns, rng.choice(["b", "d"], n), rng.choice(["a", "c"], n))
    leaks = {
        "the target": y,
        "its codes": churns.astype(int),
        "a threshold": np.where(churns, 5.0, 0.0) + rng.uniform(0, 4, size=n),
        "filled in later": np.where(churns, rng.normal(size=n), np.nan),
        "categories": pd.Categorical(letters),
    }
    X.insert(1, "left", leaks[kind])
    model = quick({**PRICES, "fn": 100}, n_estimators=10)
    with pytest.warns(CostWarning, match=r"Column 'left' of X tells the class of every"):
        model.fit(X, y)
    if kind not in ("categories", "the target"):
        with pytest.warns(CostWarning, match=r"Column 1 of X tells"):
            model.fit(sparse.csr_matrix(X.to_numpy(dtype=float)), y)
    X["again"] = X["left"]
    with pytest.warns(CostWarning, match=r"Each of the columns 'left', 'again' tells"):
        model.fit(X, y)


def test_honest_columns_are_not_told():
    """Numbers of rows, names of customers, and a column that is wrong once: no warning."""
    X, y, _ = churners(2000)
    rng = np.random.default_rng(0)
    X["number"] = rng.permutation(len(X))
    X["group"] = pd.Categorical(rng.integers(0, 300, len(X)).astype(str))
    X["nearly"] = (y == "churn") != (np.arange(len(X)) == 7)
    X["name"] = pd.Categorical([f"c{i}" for i in range(len(X))])
    quick({**PRICES, "fn": 100}, n_estimators=5).fit(X, y)
    # Columns of few values: equal rows are no copies.
    few = rng.integers(0, 5, size=(2000, 4)).astype(float)
    quick(n_estimators=5).fit(few, y)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_copies_of_rows_across_folds_are_told(form):
    X, y, _ = churners(800)
    X = X.to_numpy()
    X[X < -1] = 0.0
    copied = np.r_[np.arange(800), np.arange(200)]
    model = quick(cv=5, n_estimators=5)
    # Of 1,000 rows 400 have a copy, which another of five folds holds out in four cases of five.
    with pytest.warns(CostWarning, match=r"^3[0-4]% of the held-out rows.*cv=") as told:
        model.fit(form(X[copied]), y[copied])
    assert sum(one.category is CostWarning for one in told) == 1
    together = [(np.flatnonzero(copied % 2 != f), np.flatnonzero(copied % 2 == f)) for f in (0, 1)]
    quick(cv=together, n_estimators=5).fit(form(X[copied]), y[copied])
    quick(n_estimators=5).fit(form(X), y)


P = np.full((9, 2), 0.5)
C = np.array([[0.0, 4.0, 20.0], [100.0, 4.0, 0.0]])
E = P @ C
Y = np.arange(9) % 2
OTHER = pd.DataFrame({"amount": np.arange(9.0)}, index=range(50, 59))


def rate(proba):
    limit = decisions.Rate(1, given=1, at_least=0.5)
    return decisions.read_limits(constraints=limit, decisions=[0, 1, 2], proba=proba)


PRICED = {"cost_matrix": {"fn": "amount", "fp": 1}, "X": OTHER}
MISMATCHED = {
    "'matrix' .* expected_cost": lambda: decisions.expected_cost(P.T, C),
    r"\(2, d\).*got \(3, 2\)": lambda: decisions.expected_cost(P, C.T),
    r"'constraints' .*\(9,\); got shape \(8,\)": lambda: decisions.allocate(E, rate(P[1:])),
    "'proba' .* finite": lambda: rate(P * np.nan),
    r"'codes' .*got \['a'\]": lambda: snapshot(P, C, codes=np.full(9, "a")),
    r"'prices' .*\(9, 3\).*\(8, 3\)": lambda: decisions.capacity_curve(E, 1, prices=E[1:]),
    r"'limit' .*\(0, 1\)": lambda: decisions.rows_needed(5, 0.1),
    "'X' parameter of total_cost must have": lambda: total_cost(pd.Series(Y), Y, **PRICED),
    "'segments' .* must have the index": lambda: metrics.cost_by(OTHER["amount"], pd.Series(Y), Y),
    "'groups' .* must have the index": lambda: metrics.verdict(
        pd.Series(Y), Y, groups=OTHER["amount"]
    ),
    r"\(2, 3\).*got \(3, 2\)": lambda: Costs(C.T, [0, 1], list("abc")),
    r"as rows have classes, 9; got \(5, 2, 2\)": lambda: Costs(np.ones((5, 2, 2)), [0, 1]).realized(
        Y
    ),
    r"'decisions' .*\(9,\)": lambda: Costs(np.eye(2), [0, 1]).realized(Y).cost_of([1]),
    "not labels": lambda: Costs(np.eye(2), ["a", "b"]).realized(Y).cost_of(["a"] * 9),
}


@pytest.mark.parametrize("words", MISMATCHED)
def test_arrays_that_do_not_belong_together_are_refused(words):
    with pytest.raises(ValueError, match=words):
        MISMATCHED[words]()
