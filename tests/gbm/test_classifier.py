"""CostBoostClassifier keeps scikit-learn's contracts, the laws of costs, and its own words."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit, logit
from sklearn.metrics import log_loss
from sklearn.model_selection import GroupKFold, TimeSeriesSplit
from sklearn.utils.estimator_checks import parametrize_with_checks

from costboost import CollapseWarning, CostBoostClassifier
from costboost.costs import per_row
from costboost.costs.costs import to_proba
from costboost.datasets import make_fraud
from costboost.gbm import LOSSES
from costboost.gbm.calibration import best_factor, best_round
from costboost.gbm.objectives import ExpectedCost
from costboost.losses import BinaryLoss
from data import row_costs, rows

COSTLY = {"fn": 5, "fp": 1}
COSTLY2 = np.array([[0.0, 1], [5, 0]])
COSTLY3 = np.array([[0.0, 2, 9], [1, 0, 3], [4, 1, 0]])
# One booster on all rows, nothing drawn: what is equal in theory is equal here.
PLAIN = {"cv": "auto", "early_stopping": False, "subsample": 1.0, "colsample": 1.0}

pytestmark = pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")


def make(cost_matrix=None, **options):
    small = {"n_estimators": 15, "cv": 2, "effort": "fast", "n_jobs": 1, "random_state": 0}
    return CostBoostClassifier(cost_matrix, **{**small, "learning_rate": 0.2, **options})


def brute_force(proba, matrices):
    """The decision of smallest expected cost, row by row; ties go to the second of two."""
    decisions = []
    for i, p in enumerate(proba):
        C = matrices if np.ndim(matrices) == 2 else matrices[i]
        expected = [sum(p[j] * C[j][d] for j in range(len(p))) for d in range(len(p))]
        best = min(expected)
        cheapest = [d for d, e in enumerate(expected) if e <= best]
        decisions.append(cheapest[-1] if len(p) == 2 else cheapest[0])
    return np.array(decisions)


# --- scikit-learn -----------------------------------------------------------------------------

# Leaves of one row, because some checks have ten rows: where no tree can split, equally frequent
# classes are a tie, which the library gives to the second class and scikit-learn to the first.
CHECKED = [
    CostBoostClassifier(n_estimators=5, cv=2, n_jobs=1, min_samples_leaf=1, **options)
    for options in ({}, {"effort": "fast"})
]
EXPECTED_FAILURES = {
    f"check_sample_weight_equivalence_on_{rows}_data": (
        "copies of a row may be in several folds, a row of weight 2 is in one"
    )
    for rows in ("dense", "sparse")
}


# Some checks draw classes that no column tells, with a seed that changes.
@pytest.mark.filterwarnings("ignore:Held-out rows:costboost.errors.CostWarning")
@parametrize_with_checks(CHECKED, expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_categories_and_missing_values():
    rng = np.random.default_rng(0)
    colour, size = rng.choice(["red", "green", "blue"], 400).astype(object), rng.normal(size=400)
    y = np.where((colour == "red") ^ (rng.random(400) < 0.05), "bad", "good")
    size[::10], colour[::20] = np.nan, None
    table = pd.DataFrame({"size": size, "colour": pd.Categorical(colour)})
    model = make().fit(table, y)
    assert (model.predict(table) == y).mean() > 0.85
    assert model.feature_importances_.argmax() == 1
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.predict(table), model.predict(table))


# --- laws of costs ----------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["auto", "gll"])
def test_other_names_of_classes_rename_the_decisions(loss):
    X, y = rows(3)
    new = np.array([2, 0, 1])  # class j is called new[j]
    matrix = np.empty((3, 3))
    matrix[np.ix_(new, new)] = COSTLY3
    # Leaves of any size: XGBoost knows none by rows, so their size is a guess from the classes.
    options = {"loss": loss, **PLAIN}
    one = make(COSTLY3, **options).fit(X, y)
    other = make(matrix, **options).fit(X, new[y])
    np.testing.assert_array_equal(other.predict(X), new[one.predict(X)])
    np.testing.assert_allclose(
        other.decision_function(X)[:, new], one.decision_function(X), atol=1e-5
    )


@pytest.mark.parametrize("k", [2, 3])
def test_decisions_are_those_of_smallest_expected_cost(k):
    X, y = rows(k)
    matrix = COSTLY2 if k == 2 else COSTLY3
    model = make(matrix).fit(X, y)
    proba, decided = model.predict_proba(X), model.predict(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(decided, brute_force(proba, matrix))
    own = np.random.default_rng(0).gamma(1.0, 5.0, (len(X), k, k)) - 2.0
    for costs in (own, own[:, :, [0] * k]):  # the latter tie
        np.testing.assert_array_equal(model.predict(X, costs=costs), brute_force(proba, costs))
    # What is decided by, and its stages.
    scores = model.decision_function(X)
    np.testing.assert_array_equal(decided, scores >= 0 if k == 2 else scores.argmax(axis=1))
    stages = list(model.staged_decision_function(X))
    assert len(stages) == model.n_iter_
    np.testing.assert_allclose(stages[-1], scores, atol=1e-5)
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], decided)
    # Rows of equal costs are the matrix.
    each = np.tile(matrix, (len(X), 1, 1))
    other = make().fit(X, y, costs=each)
    np.testing.assert_allclose(other.cost_matrix_, matrix)
    for found in (other.predict(X), other.predict(X, costs=each), model.predict(X, costs=each)):
        np.testing.assert_array_equal(found, decided)
    np.testing.assert_allclose(other.estimated_score_, model.estimated_score_)


def test_prices_of_rows_and_expressions():
    X, y = rows()
    # Costs that only the truth tells apart: they can be learned, not used to decide.
    prices = row_costs()[np.arange(len(y)), y]
    one, two = (make().fit(X, y, costs=form) for form in (prices, prices.max(axis=1)))
    np.testing.assert_allclose(one.predict_cost(X), two.predict_cost(X))
    with pytest.raises(ValueError, match=r"costs.*\(n, 2, 2\)"):
        one.predict(X, costs=prices)
    by_size = per_row(fn=1 + 5 * np.abs(X[:, 1]), fp=2.0)
    model = make({"fn": "1 + 5 * abs(x1)", "fp": 2.0}).fit(X, y)
    given = make(costs_known=True).fit(X, y, costs=by_size)
    np.testing.assert_array_equal(model.predict(X), given.predict(X, costs=by_size))
    assert model.score(X, y) == given.score(X, y, costs=by_size)
    assert model.estimated_score_ == given.estimated_score_


# --- losses of the library --------------------------------------------------------------------


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("k", [2, 3])
def test_losses_by_name_and_object(name, k):
    X, y = rows(k)
    matrix = COSTLY2 if k == 2 else COSTLY3
    one, other = (make(matrix, loss=loss) for loss in (name, LOSSES[name]))
    if isinstance(LOSSES[name], BinaryLoss) and k == 3:
        with pytest.raises(ValueError, match=f"'loss'.*{name}.*two classes.*3"):
            one.fit(X, y)
        return
    scores = [model.fit(X, y).decision_function(X) for model in (one, other)]
    np.testing.assert_array_equal(*scores)
    assert one.score(X, y) > 0.3
    assert one.estimated_score_.value > 0.1
    has_link = isinstance(LOSSES[name], BinaryLoss) or name == "mc"
    assert hasattr(one, "predict_proba") == has_link
    each = np.tile(matrix, (len(X), 1, 1))
    if has_link:
        np.testing.assert_allclose(one.predict_proba(X).sum(axis=1), 1)
    else:
        with pytest.raises(ValueError, match="no probabilities"):
            one.predict(X, costs=each)
    rowwise = make(loss=name).fit(X, y, costs=each)
    np.testing.assert_allclose(rowwise.decision_function(X), scores[0], rtol=1e-4, atol=1e-4)
    assert np.isfinite(rowwise.score(X, y, costs=each))


# --- weights ----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3])
def test_weights_are_copies(k):
    """Up to rounding, if leaves may have any size: LightGBM counts rows of a leaf, not weights."""
    X, y = rows(k)
    X = X.round(1)  # as many values as bins
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    own = {"min_data_in_bin": 1, "min_data_in_leaf": 0}
    # A penalty is in units of a mean row, so it weighs less where rows are copied.
    options = {
        **PLAIN,
        "max_leaves": 4,
        "min_samples_leaf": 1,
        "reg_lambda": 0.0,
        "engine_params": own,
    }
    matrix = COSTLY2 if k == 2 else COSTLY3
    one = make(matrix, **options).fit(X, y, sample_weight=weights)
    copies = np.repeat(np.arange(len(y)), weights)
    other = make(matrix, **options).fit(X[copies], y[copies])
    gaps = np.abs(one.decision_function(X) - other.decision_function(X))
    # LightGBM guesses the rows of a leaf from Hessians, so here and there a split moves by a row.
    assert gaps.mean() < 0.01
    assert (one.predict(X) == other.predict(X)).mean() > 0.99


@pytest.mark.parametrize("effort", ["fast", "balanced"])
def test_units_of_money_and_weight_do_not_matter(effort):
    X, y = rows(2, 200)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    usual = make(COSTLY, effort=effort).fit(X, y, sample_weight=weights)
    for money, weight in ((1000.0, 1.0), (1e-6, 1.0), (1.0, 3.0), (1e-6, 1e4)):
        matrix = {"fn": money * COSTLY["fn"], "fp": money * COSTLY["fp"]}
        other = make(matrix, effort=effort).fit(X, y, sample_weight=weight * weights)
        np.testing.assert_allclose(other.predict_proba(X), usual.predict_proba(X), rtol=1e-9)
        np.testing.assert_array_equal(other.predict(X), usual.predict(X))
        np.testing.assert_allclose(other.estimated_score_, usual.estimated_score_, atol=1e-9)


def test_rows_of_weight_zero_are_absent():
    X, y = rows()
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    weights[::3] = 0
    kept = weights > 0
    told = {"costs": row_costs(), "sample_weight": weights}
    for more in (told, {**told, "groups": np.arange(300) // 10}):
        one = make().fit(np.where(kept[:, None], X, 1e6), y, **more)
        less = {name: values[kept] for name, values in more.items()}
        other = make().fit(X[kept], y[kept], **less)
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
        np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
        assert one.estimated_score_ == other.estimated_score_
        np.testing.assert_allclose(one.cost_matrix_, other.cost_matrix_)


# --- rounds, folds, seeds ---------------------------------------------------------------------


@pytest.mark.parametrize("cv", ["auto", 2])
def test_early_stopping(cv):
    X, y = rows()
    options = {"cv": cv, "n_estimators": 60, "learning_rate": 0.5, "n_iter_no_change": 5}
    stopped, whole = (make(**options).fit(X, y, costs=row_costs()) for _ in range(2))
    np.testing.assert_array_equal(stopped.predict_proba(X), whole.predict_proba(X))
    assert stopped.n_iter_ < 60 and len(stopped.boosters_) == (5 if cv == "auto" else 2)
    assert stopped.estimated_score_.value > 0 and hasattr(whole, "estimated_score_without_costs_")
    # Estimates vanish with a fit that has none: with one booster on all rows nothing is held out.
    whole.set_params(early_stopping=False).fit(X, y)
    assert whole.n_iter_ == 60 and not hasattr(whole, "estimated_score_without_costs_")
    for name in ("estimated_score_", "estimated_cost_"):
        assert hasattr(whole, name) == (cv == 2)
    if cv == "auto":
        assert whole.temperature_ == 1
        assert len(whole.boosters_) == 1


def test_all_folds_choose_one_number_of_rounds():
    """The rows that they hold out together lose least after it."""
    X, y = rows()
    folds = list(TimeSeriesSplit(3).split(X))
    options = {"calibration": None, "learning_rate": 0.9, "n_estimators": 30}
    model, same = (make(COSTLY, cv=cv, **options).fit(X, y) for cv in (TimeSeriesSplit(3), folds))
    np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(X))
    assert model.n_iter_ < 30
    losses = [evals["held_out"]["loss"] for evals in model.evals_result_["probability"]]
    assert np.sum(losses, axis=0).argmin() + 1 == model.n_iter_
    assert {len(booster.trees.roots) for booster in model.model_.ensemble.models} == {model.n_iter_}


def test_the_other_parts_choose_a_round():
    first = np.array([[5.0, 0.0], [1.0, 0.0], [4.0, 0.0]])
    second = np.array([[0.0, 3.0], [0.0, 9.0]])  # it has stopped, and keeps its last loss
    assert best_round([first, second]) == 1
    assert best_round([first, second], without=0) == 1
    assert best_round([first, second], without=1) == 2


# --- inspection -------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3])
def test_contributions_importances_and_boosters(k):
    X, y = rows(k)
    model = make().fit(X, y)
    parts = model.contributions(X)
    assert parts.shape == ((300, 5) if k == 2 else (300, 3, 5))
    proba = model.predict_proba(X)
    np.testing.assert_allclose(to_proba(parts.sum(axis=-1)), proba, atol=1e-5)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_.argmax() == 0
    # One booster with the mean score.
    raw = model.temperature_ * model.booster_.predict(X, raw_score=True)
    np.testing.assert_allclose(to_proba(raw), proba, atol=1e-9)
    first = model.boosters_[0]
    told = to_proba(first.predict(X, raw_score=True))
    np.testing.assert_allclose(first.predict(X), told[:, 1] if k == 2 else told)
    learned = make(COSTLY2 if k == 2 else COSTLY3, loss="gll").fit(X, y)
    total = learned.contributions(X).sum(axis=-1)
    np.testing.assert_allclose(total, learned.decision_function(X), atol=1e-5)


@pytest.mark.filterwarnings("ignore:Held-out rows:costboost.errors.CostWarning")
@pytest.mark.parametrize("k", [2, 3])
def test_scores_that_may_not_pay_are_drawn_to_the_shares_of_the_classes(k):
    """A column that hardly tells the rare classes, whose errors cost the more."""
    rng = np.random.default_rng(2)
    X, w = rng.normal(size=(200, 3)), rng.uniform(0.5, 1.5, 200)
    told = X[:, 0] + 2 * rng.normal(size=200)
    y = np.searchsorted(np.quantile(told, {2: [0.7], 3: [0.6, 0.8]}[k]), told)
    costs = (1.0 - np.eye(k)) * np.where(np.arange(k) == 0, 0.3, 1.0)[:, None]
    held = np.arange(200) % 2 == 0
    raw, drawn = (
        make(costs, cv=[(~held, held)], calibration=how).fit(X, y, sample_weight=w)
        for how in (None, "temperature")
    )
    shares = np.log(np.bincount(y, w) / w.sum())
    scores = drawn.temperature_ * np.log(raw.predict_proba(X)) + drawn.shrinkage_ * shares
    proba = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(drawn.predict_proba(X), proba, atol=1e-6)
    assert drawn.estimated_score_.low < 0 and drawn.shrinkage_ == 0.3
    told = drawn.contributions(X).sum(axis=-1)
    odds = np.log(proba) if k > 2 else np.log(proba[:, 1] / proba[:, 0])
    # Scores of several classes are told up to a number that all share.
    moved = np.ptp(told - odds, axis=1) if k > 2 else told - odds
    np.testing.assert_allclose(moved, 0, atol=1e-6)
    assert make().fit(*rows(k)).shrinkage_ == 0  # without costs the probabilities may be wanted
    many = make(costs, cv="auto").fit(rng.normal(size=(1200, 3)), np.tile(y, 6))
    assert many.shrinkage_ == 0


def test_the_temperature_is_that_of_held_out_rows_by_their_weights():
    X, y = rows()
    weights, held = np.random.default_rng(0).uniform(0.1, 3, 300), np.arange(300) % 2 == 0
    options = {"cv": [(~held, held)], "early_stopping": False}
    raw, fitted = (
        make(calibration=how, n_estimators=60, **options).fit(X, y, weights)
        for how in (None, "temperature")
    )
    scores, w = logit(raw.predict_proba(X[held])[:, 1]), weights[held]
    loss = lambda s: log_loss(y[held], expit(s), sample_weight=w)  # noqa: E731
    expected = best_factor(scores, loss, w.sum() ** 2 / np.square(w).sum())
    assert abs(expected - 1) > 0.01
    assert fitted.temperature_ == pytest.approx(expected, rel=1e-4)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_columns_of_an_array_are_those_of_the_frame_by_their_places():
    X, y = rows()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = make(COSTLY, columns={"a": "ignore"}).fit(frame, y)
    for same in (X, sparse.csr_matrix(X)):
        np.testing.assert_array_equal(model.predict_proba(same), model.predict_proba(frame))


def test_engine_params_are_handed_on():
    """Four bins: at most four thresholds in a column."""
    X, y = rows()
    model = make(engine_params={"max_bin": 4})
    trees = model.fit(X, y).boosters_[0].trees_to_dataframe()
    splits = trees[trees["threshold"].notna()]
    assert splits.groupby("split_feature")["threshold"].nunique().max() <= 4
    with pytest.raises(Exception, match=r"(?i)device|quantum"):
        make(engine_params={"device": "quantum"}).fit(X, y)


# --- parameters of engines, groups ---------------------------------------------------------------


def falling(n=300):
    """Rows whose second class is the likelier, the smaller the first column is."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-1, 1, size=(n, 3)), columns=["a", "b", "c"])
    return X, np.asarray(X["a"] + 0.3 * rng.normal(size=n) < 0, dtype=int)


def test_constraints_by_the_names_of_columns():
    X, y = falling()
    line = pd.DataFrame({"a": np.linspace(-1, 1, 50), "b": 0.0, "c": 0.0})
    for given, rises in (({"a": 1}, True), ({"b": -1}, False)):
        model = make(engine_params={"monotone_constraints": given}, n_estimators=8)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            proba = model.fit(X, y).predict_proba(line)[:, 1]
        assert (np.diff(proba) >= -1e-12).all() == rises
    with pytest.raises(ValueError, match=r"names 'z', which is no column.*\['a', 'b', 'c'\]"):
        make(engine_params={"monotone_constraints": {"z": 1}}).fit(X, y)
    make(engine_params={"max_depth": 2}, n_estimators=2).fit(X, y)
    with pytest.raises(Exception, match="max_dept"):  # one that it would ignore
        make(engine_params={"max_dept": 2}, n_estimators=2).fit(X, y)


def test_rows_of_a_group_are_in_one_fold():
    """Labels that only the group tells cannot be learned from other groups."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(20), 30)
    y = rng.permutation(np.arange(20) % 2)[groups]
    X = np.column_stack([groups, rng.normal(size=600)])
    for options in ({}, {"cv": GroupKFold(3)}, {"cv": "auto"}):
        alone, shared = (make(COSTLY, **options) for _ in range(2))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # held-out rows say that it does not pay
            alone.fit(X, y, groups=groups)
            shared.set_params(cv="auto").fit(X, y)
        assert alone.estimated_score_.value < 0.3 < shared.estimated_score_.value
    with pytest.raises(ValueError, match="inconsistent numbers"):
        make(COSTLY).fit(X, y, groups=groups[:-1])


# --- failures ---------------------------------------------------------------------------------


@pytest.mark.parametrize("stop", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("is_fitted", [False, True])
def test_a_fit_that_fails_leaves_the_classifier_as_it_was(stop, is_fitted, monkeypatch):
    """In the second fold of the second head, when all else has been done."""
    X, y = rows()
    model = make(COSTLY, n_estimators=30)
    if is_fitted:
        model.fit(X, y, costs=row_costs())
    before, calls = dict(model.__dict__), []

    def failing(self, costs, weights):
        calls.append(len(weights))
        if len(calls) > 3:
            raise stop("in the middle")
        return on(self, costs, weights)

    on = ExpectedCost.target
    monkeypatch.setattr(ExpectedCost, "target", failing)
    # Another table, with other classes.
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"])
    with pytest.raises(stop):
        model.fit(frame, np.where(y, 1, -1), costs=row_costs())
    assert model.__dict__.keys() == before.keys()
    assert all(model.__dict__[name] is before[name] for name in before)


# --- odd data ---------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"loss": "gll"}], ids=str)
def test_odd_data(options):
    X, y = rows()
    X[:, 3] = np.nan  # a column of nothing
    X[::7, 0] = np.nan
    alone = np.where(np.arange(300) == 5, 2, y)  # a class of one row
    for n, labels in ((2, y), (9, y), (300, y), (300, alone)):
        few = np.argsort(labels, kind="stable")[[0, -1]] if n == 2 else np.arange(n)
        model = make(cv=5, **options).fit(X[few], labels[few])
        assert np.isfinite(model.decision_function(X)).all()
        assert len(list(model.staged_predict(X))) == model.n_iter_
    if not options:
        for n_priced in (1, 10):  # folds share out the rows that have a price, if there are any
            prices = 5.0 * (np.random.default_rng(0).permutation(300) < n_priced)
            model = make(cv=5).fit(X, alone, costs=prices)
            assert np.isfinite(model.decision_function(X)).all()
            assert not np.isnan(model.estimated_score_).any()
    three = np.r_[np.zeros(40, int), 1 + np.arange(20) % 2]
    model = make(**options).fit(np.ones((60, 2)), three)
    assert (model.predict(np.ones((60, 2))) == 0).all()
    np.testing.assert_allclose(model.feature_importances_, 0)
    for bad, says in (((X, 0 * y), "at least two classes"), ((X[:1], y[:1]), "two classes|sample")):
        with pytest.raises(ValueError, match=says):
            make(**options).fit(*bad)
    with pytest.raises(ValueError, match="nothing to learn"):
        make(np.zeros((2, 2)), **options).fit(X, y)


def test_collapse_is_said_once():
    with pytest.warns(CollapseWarning) as caught:
        make({"fn": 1e6, "fp": 1}, n_estimators=2).fit(*rows())
    assert [warning.filename for warning in caught] == [__file__]


# --- words ------------------------------------------------------------------------------------

BAD = [
    ("loss", "hinge", "or a Loss"),
    ("costs_known", "maybe", "a boolean or 'auto'"),
    ("n_estimators", 0, "an integer >= 1"),
    ("learning_rate", 0.0, "a number in (0, 1]"),
    ("max_leaves", 1, "an integer >= 2"),
    ("min_samples_leaf", 0, "an integer >= 1 or 'auto'"),
    ("reg_lambda", -1.0, "a number >= 0"),
    ("n_iter_no_change", 0, "an integer >= 1"),
    ("cv", 1, "'auto', an integer >= 2"),
    ("cv", "all", "'auto', an integer >= 2"),
    ("validation_fraction", 1.0, "a number in (0, 1)"),
    ("calibration", "isotonic", "one of 'temperature', None"),
    ("engine_params", [("max_bin", 3)], "None or a dict"),
    ("verbose", -1, "an integer >= 0 or a boolean"),
]


@pytest.mark.parametrize(("name", "value", "rule"), BAD)
def test_bad_arguments(name, value, rule):
    X, y = rows()
    with pytest.raises(ValueError) as caught:
        make(**{name: value}).fit(X, y)
    message = str(caught.value)
    assert f"{name!r} parameter of CostBoostClassifier" in message
    assert rule in message
    assert repr(value) in message


def test_a_held_out_row_of_weight_2_counts_twice():
    """In the value; the interval is that of rows, which weights do not make more."""
    data = make_fraud(900, random_state=0)
    costs, weights = per_row(fn=data.amount, fp=5), np.ones(900, dtype=int)
    weights[600:] = np.random.default_rng(0).integers(1, 4, 300)
    copies = np.repeat(np.arange(900), weights)
    options = {"effort": "fast", "calibration": None, "n_estimators": 30, "random_state": 0}
    options |= {"early_stopping": False, "reg_lambda": 0.0, "n_jobs": 1}

    def fitted(rows, weight):
        fold = np.flatnonzero(rows < 600), np.flatnonzero(rows >= 600)
        model = CostBoostClassifier(cv=[fold], **options)
        return model.fit(data.X[rows], data.y[rows], weight, costs=costs[rows])

    weighted, copied = fitted(np.arange(900), weights), fitted(copies, None)
    for name in ("estimated_score_", "estimated_savings_"):
        found, of_copies = getattr(weighted, name), getattr(copied, name)
        assert found.value == pytest.approx(of_copies.value, rel=1e-5)
        assert found.high - found.low > of_copies.high - of_copies.low
