"""`costboost.compare` pays what the metrics say, treats outsiders by a stated rule, and goes on."""

import inspect
import textwrap
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure
from scipy.stats import t
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import Bunch

import costboost as cb
from costboost import comparison, metrics
from costboost.comparison import rank
from costboost.costs import Costs
from costboost.metrics import verdict
from data import blobs, row_costs, rows

compare = partial(comparison.compare, progress=False)
COSTS = {"fn": 5, "fp": 1}
FAST = {"AdaC2": cb.AdaC2Classifier(n_estimators=5), "naive": GaussianNB()}


@pytest.fixture(scope="module")
def found():
    sets = {f"set {seed}": rows(seed=seed, n=120) for seed in range(4)}
    methods = {**FAST, "always": lambda fold: np.ones(len(fold.X_test), int)}
    own = {"accuracy": accuracy_score}
    return compare(methods, sets, costs=COSTS, splits=3, metrics=own)


def test_a_row_per_data_split_and_method_with_what_the_metrics_say(found):
    frame = found.to_frame()
    assert len(frame) == 4 * 3 * 3
    X, y = rows(seed=2, n=120)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    train, test = folds[1]
    own = frame.query("data == 'set 2' and split == '1'").set_index("method")
    model = cb.AdaC2Classifier(COSTS, n_estimators=5, random_state=0).fit(X[train], y[train])
    # An outsider decides by its probabilities, for the least expected cost.
    proba = GaussianNB().fit(X[train], y[train]).predict_proba(X[test])
    for name, decided in {
        "AdaC2": model.predict(X[test]),
        "naive": (5 * proba[:, 1] >= proba[:, 0]).astype(int),
    }.items():
        for column, metric in {
            "mean_cost": metrics.mean_cost,
            "savings": metrics.savings_score,
            "score": metrics.avoidable_cost_score,
        }.items():
            known = metric(y[test], decided, cost_matrix=COSTS)
            assert own.loc[name, column] == pytest.approx(known)
        assert own.loc[name, "accuracy"] == accuracy_score(y[test], decided)
    assert own.loc["AdaC2", ["n_train", "n_test", "rounds"]].tolist() == [80, 40, model.n_iter_]


def test_tables_tests_and_pictures(found):
    table, scores = found.table(), found.scores()
    assert table.index[0] == found.best
    ranks = (-scores).rank(axis=1).mean()
    np.testing.assert_allclose(found.ranks()[scores.columns], ranks)
    assert set(scores.columns) == set(found.methods)
    assert "<table" in found._repr_html_()
    assert "3 methods on 4 data sets" in str(found)
    assert "mean rank over 4" in found.plot("ranks", Figure().subplots()).get_xlabel()
    with pytest.raises(ValueError, match="must be ranks or cost; got 'pie'"):
        found.plot("pie")
    with pytest.raises(ValueError, match="on a single data set"):
        found.standings()


def test_intervals_are_paired_and_widened():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    amount = rng.exponential(100, 2000)  # what all ways pay alike does not widen the intervals
    prices = np.zeros((2000, 2, 2))
    prices[:, 0, 1] = amount
    prices[:, 1, 0] = amount
    costs = Costs(prices, [0, 1]).realized(y)
    wrong = rng.uniform(size=2000)
    decided = {name: np.where(wrong < share, 1 - y, y)
               for name, share in {"a": 0.3, "b": 0.36, "c": 0.302}.items()}  # fmt: skip
    standings = rank(costs, decided, np.ones(2000))
    found = {line.name: line for line in standings}
    assert [line.name for line in standings] == ["a", "c", "b"]
    gap = costs.cost_of(decided["b"]) - costs.cost_of(decided["a"])
    half = t.ppf(1 - 0.05 / 2 / 2, 1999) * np.sqrt(2000) * gap.std(ddof=1)
    assert found["b"].more == pytest.approx(gap.sum())
    # Pseudo-events widen it by a little, what all ways pay alike would by a lot.
    assert gap.sum() + half < found["b"].high < gap.sum() + 1.1 * half
    assert [found[name].group for name in "abc"] == [1, 2, 1]
    by_group = rank(costs, decided, np.ones(2000), groups=np.arange(2000) // 20)
    assert by_group[2].more == found["b"].more and by_group[2].high != found["b"].high
    (line,) = rank(costs, {"a": decided["a"]}, np.ones(2000))
    assert (line.more, line.low, line.high, line.group) == (0.0, 0.0, 0.0, 1)


def test_groups_reach_folds_models_and_intervals():
    X, y = rows()
    groups = np.repeat(np.arange(100), 3)
    methods = {"ours": cb.CostBoostClassifier(n_estimators=5, effort="fast"), "nb": GaussianNB()}
    found = compare(methods, (X, y), costs=COSTS, splits=2, groups=groups)
    (table,) = found._tables.values()
    for train, test in table.pairs.values():
        assert not set(groups[train]) & set(groups[test])
    alone = compare(methods, (X, y), costs=COSTS, splits=table.pairs)
    tested = np.concatenate([test for _, test in table.pairs.values()])
    decided = found._decided()["nb"]
    wanted = verdict(y[tested], decided, cost_matrix=COSTS, groups=groups[tested])
    assert found.verdicts()["nb"] == wanted
    assert alone.verdicts()["nb"].low != wanted.low


def test_one_data_set_row_by_row():
    X, y = rows()
    found = compare([*FAST.values()], (X, y), costs=COSTS, splits=2, n_jobs=2)
    assert found.methods == ["AdaC2", "GaussianNB"]
    total = {one.name: one.cost for one in found.standings()}
    for name, paid in found.paid().items():
        assert total[name] == pytest.approx(paid.sum())
        assert np.mean([r["mean_cost"] for r in found.rows if r["method"] == name]) == (
            pytest.approx(paid.mean())
        )
    assert set(found.verdicts()) == set(found.methods)
    assert all(one.savings < 1 for one in found.standings())
    found.plot("cost", Figure().subplots())
    again = compare(FAST, Bunch(data=X, target=y), splits=ShuffleSplit(3))
    with pytest.raises(ValueError, match="Use folds"):
        again.standings()
    pairs = iter([(np.arange(150), np.arange(150, 300))])  # for both tables
    assert len(compare(FAST, {"a": (X, y), "b": (X, y)}, splits=pairs).rows) == 4


@pytest.mark.parametrize("known", [True, False])
def test_costs_of_rows_are_told_unless_they_are_hidden(known):
    X, y = rows()
    costs, train, test = np.asarray(row_costs()), np.arange(200), np.arange(200, 300)
    methods = {"ours": cb.AsyBLClassifier(n_estimators=5, learning_rate=0.1), "nb": GaussianNB()}
    found = compare(methods, (X, y, costs), splits=[(train, test)], costs_known=known)
    model = methods["ours"].set_params(random_state=0).fit(X[:200], y[:200], costs=costs[:200])
    decided = model.predict(X[200:], costs=costs[200:] if known else None)
    told = Costs(costs[:200], [0, 1]).realized(y[:200]).mean_matrix()
    proba = GaussianNB().fit(X[:200], y[:200]).predict_proba(X[200:])
    blind = Costs(costs[200:] if known else told, [0, 1]).decide(proba)
    by_name = {row["method"]: row["mean_cost"] for row in found.rows}
    assert by_name["ours"] == pytest.approx(metrics.mean_cost(y[200:], decided, costs=costs[200:]))
    assert by_name["nb"] == pytest.approx(metrics.mean_cost(y[200:], blind, costs=costs[200:]))


def test_columns_of_any_kind_reach_outsiders_as_numbers():
    X, y = blobs()
    X.loc[::7, "u"] = np.nan
    frame = X.assign(truth=y)

    def pick(rows):
        return np.asarray(rows[["v"]])

    methods = {
        "logistic": LogisticRegression(), "margin": LinearSVC(),
        "pipeline": make_pipeline(StandardScaler(), cb.LpCSBClassifier(n_estimators=3)),
        "raw": make_pipeline(StandardScaler(), GaussianNB()),
        "ours": make_pipeline(FunctionTransformer(pick), cb.LpCSBClassifier(n_estimators=3)),
    }  # fmt: skip
    costs = {("c", "a"): 9, ("c", "b"): 9, ("a", "b"): 1, ("a", "c"): 1, ("b", "a"): 1,
             ("b", "c"): 1}  # fmt: skip
    for table in (frame, pl.DataFrame(frame)):
        found = compare(methods, table, target="truth", costs=costs, splits=2)
        assert found.methods == ["logistic", "margin", "ours"]  # a pipeline gets rows as they are
        assert set(found.failures) == {"pipeline", "raw"}
        assert found.table().loc["logistic", "score"] > 0.3


def test_expressions_and_weights():
    X, y = rows()
    X = pd.DataFrame(X, columns=list("abcd")).assign(amount=np.linspace(1, 20, 300).astype(str))
    form, weights = {"fn": "amount", "fp": 2}, np.linspace(0, 2, 300)
    methods = {**FAST, "never": lambda fold: np.zeros(len(fold.X_test), int)}
    found = compare(methods, (X, y), costs=form, splits=2, sample_weight=weights)
    missed = weights * np.linspace(1, 20, 300) * (y == 1)
    assert found.methods == list(methods)
    assert found.paid()["never"].sum() == pytest.approx(missed.sum())
    for row, (_, test) in zip(
        (row for row in found.rows if row["method"] == "never"),
        StratifiedKFold(2, shuffle=True, random_state=0).split(X, y),
        strict=True,
    ):
        assert row["mean_cost"] == pytest.approx(missed[test].sum() / weights[test].sum())
    with pytest.raises(ValueError, match="computed from columns"):
        compare(FAST, (X, y), costs=form, costs_known=False)


def test_a_method_that_fails_is_named_and_has_no_rank():
    def broken(fold):
        raise RuntimeError("out of order")

    methods = {**FAST, "broken": broken, "silent": lambda fold: []}
    found = compare(methods, rows(), costs=COSTS, splits=2)
    assert "out of order" in found.failures["broken"]
    assert "must have one element per row, shape (150,)" in found.failures["silent"]
    assert set(found.ranks().index) == set(FAST)
    with pytest.raises(ValueError, match="No method could be measured: broken: RuntimeError"):
        compare({"broken": broken}, rows())


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"estimators": {"a": GaussianNB}}, "Pass objects by name"),
        ({"estimators": {}}, "must hold classifiers"),
        ({"estimators": [GaussianNB(), GaussianNB()]}, "a name of its own"),
        ({"data": pd.DataFrame({"a": [1, 2]})}, "'target' parameter of compare"),
        ({"data": 3}, "'data' parameter of compare"),
        ({"data": (np.ones((3, 1)), [0, 1])}, "Take the same rows"),
        ({"splits": 200}, "n_splits=200"),
        ({"data": {"a": rows(), "b": rows()}, "sample_weight": np.ones(300)}, "for one data set"),
    ],
)
def test_mix_ups_are_errors_with_the_remedy(change, match):
    given = {"estimators": FAST, "data": rows(), **change}
    with pytest.raises((ValueError, TypeError), match=match):
        compare(**given)


@pytest.mark.slow
def test_five_outsiders_on_a_file_in_under_ten_lines(tmp_path, monkeypatch, capsys):
    """The example of the module, as a newcomer runs it."""
    code = inspect.cleandoc(comparison.__doc__).split("::\n\n", 1)[1]
    assert len(code.strip().splitlines()) < 10
    X, y = blobs(n=80)
    frame = X.assign(churned=np.where(y == "c", "yes", "no"), value=np.linspace(10, 90, 80))
    frame.to_csv(tmp_path / "customers.csv", index=False)
    monkeypatch.chdir(tmp_path)
    exec(textwrap.dedent(code), {})
    printed = capsys.readouterr().out
    assert "6 methods on 1 data set" in printed
    assert "failed" not in printed
