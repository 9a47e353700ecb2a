"""Objectives and metrics for LightGBM and XGBoost: every loss, engine and API."""

from __future__ import annotations

import pickle
from functools import partial

import lightgbm
import numpy as np
import pytest

from costboost.costs import per_row
from costboost.datasets import make_fraud
from costboost.gbm import LOSSES, cost_metric, decide, objective, probability
from costboost.gbm.custom import LossRows
from costboost.metrics import avoidable_cost_score, mean_cost, savings_score
from data import rows
from helpers.costs import costs_of_rows

xgboost = pytest.importorskip("xgboost")

CLASSES = {name: 2 if loss.is_binary else 3 for name, loss in LOSSES.items()}
BINARY = [name for name, k in CLASSES.items() if k == 2]
CALLERS = [(e, a) for e in ("lightgbm", "xgboost") for a in ("native", "sklearn")]
PAIR = {"fn": 4.0, "fp": 0.5}
MATRIX = np.array([[0.0, 1.0, 0.3], [2.0, 0.0, 0.2], [6.0, 6.0, 0.0]])
MATRICES = {2: np.array([[0.0, 0.5], [4.0, 0.0]]), 3: MATRIX}
ROUNDS = 25


def run(engine, api, made, X, y, *, weight=None, on=None, metric=None, k=2, rounds=5, **options):
    """Raw scores by round, (rounds, n[, k]), on the training rows or others; the metric there."""
    B, b, w = on or (X, y, weight)
    steps, classes = range(1, rounds + 1), {"num_class": k} if k > 2 else {}
    record, weights = {}, None if w is None else [w]
    if engine == "lightgbm":
        params = {"learning_rate": 0.1, "num_leaves": 8, "verbosity": -1, "num_threads": 1}
        params |= {"min_sum_hessian_in_leaf": 1e-3, "metric": "none", **options}
        if api == "native":
            rows = lightgbm.Dataset(X, y, weight=weight)
            other = [lightgbm.Dataset(B, b, weight=w, reference=rows)] if metric else None
            told = [lightgbm.record_evaluation(record)]
            params |= {"objective": made, **classes}
            booster = lightgbm.train(params, rows, rounds, other, feval=metric, callbacks=told)
        else:
            model = lightgbm.LGBMClassifier(objective=made, n_estimators=rounds, **params)
            other = {"eval_X": (B,), "eval_y": (b,), "eval_sample_weight": weights}
            other = {**other, "eval_metric": metric} if metric else {}
            model.fit(X, y, sample_weight=weight, **other)
            booster, record = model.booster_, model.evals_result_
        scores = [booster.predict(B, num_iteration=t, raw_score=True) for t in steps]
    else:
        params = {"learning_rate": 0.1, "max_leaves": 8, "min_child_weight": 1e-3, **options}
        at = xgboost.DMatrix(B, b, weight=w, nthread=1)
        if api == "native":
            params |= {"base_score": 0.0, "disable_default_eval_metric": 1, "nthread": 1, **classes}
            told = {"evals": [(at, "valid")], "evals_result": record, "verbose_eval": False}
            rows = xgboost.DMatrix(X, y, weight=weight, nthread=1)
            booster = xgboost.train(params, rows, rounds, obj=made, custom_metric=metric, **told)
        else:
            params |= {"n_estimators": rounds, "n_jobs": 1, "eval_metric": metric}
            model = xgboost.XGBClassifier(objective=made, **params)
            other = {"eval_set": [(B, b)], "sample_weight_eval_set": weights, "verbose": False}
            model.fit(X, y, sample_weight=weight, **(other if metric else {}))
            booster, record = model.get_booster(), model.evals_result() if metric else {}
        scores = [booster.predict(at, iteration_range=(0, t), output_margin=True) for t in steps]
    seen = next(iter(record.values()))[metric.__name__] if metric else None
    return np.array(scores), seen


# --- training -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "engine", "api"),
    [(name, "lightgbm", "native") for name in LOSSES]
    + [(name, *caller) for name in ("cost_logistic", "gll", "lt") for caller in CALLERS[1:]],
)
def test_training_lowers_loss_and_cost(name, engine, api):
    """The loss on the training rows; the cost on fresh ones."""
    k, matrix = CLASSES[name], MATRICES[CLASSES[name]]
    (X, y), (T, t) = rows(k, 600), rows(k, 4000, seed=1)
    made, both = objective(name, cost_matrix=matrix, engine=engine), np.concatenate([X, T])
    scores, _ = run(engine, api, made, X, y, on=(both, None, None), k=k, rounds=ROUNDS)
    costs = costs_of_rows(matrix, classes=np.arange(k), codes=y)
    known = LossRows(LOSSES[name], costs, None)
    values = [known.value(F[: len(X)].astype(float)).mean() for F in scores]
    assert values[-1] < 0.95 * values[0]
    assert (np.diff(values[:10]) < 0).all()
    plain = {"num_leaves": 8, "learning_rate": 0.1, "verbosity": -1, "n_jobs": 1}
    blind = lightgbm.LGBMClassifier(n_estimators=ROUNDS, **plain).fit(X, y).predict(T)
    decided = decide(scores[-1][len(X) :], name, cost_matrix=matrix)
    spent, most = (mean_cost(t, labels, cost_matrix=matrix) for labels in (decided, blind))
    assert spent < 0.9 * most


@pytest.mark.parametrize(("engine", "api"), CALLERS)
@pytest.mark.parametrize("name", ["asymmetric_logistic", "gll"])
def test_costs_of_rows_and_weights_reach_the_engine(name, engine, api):
    """The same matrix on every row is the matrix; weights change the trees."""
    k = CLASSES[name]
    (X, y), matrices = rows(k, 600), np.repeat(MATRICES[k][None], 600, 0)
    weight = np.random.default_rng(1).integers(0, 3, size=len(y)).astype(float)
    made = objective(name, cost_matrix=MATRICES[k], engine=engine)
    one, _ = run(engine, api, objective(name, matrices), X, y, k=k, weight=weight)
    other, _ = run(engine, api, made, X, y, k=k, weight=weight)
    plain, _ = run(engine, api, made, X, y, k=k)
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7)
    assert not np.allclose(other, plain)


@pytest.mark.parametrize(
    ("name", "theirs", "rate", "more"),
    [
        # LightGBM multiplies its Hessian by k/(k - 1): a smaller learning rate.
        ("gll", "multiclass", 0.1 * 2 / 3, {}),
        # The score is half the log-odds.
        ("cost_logistic", "binary", 0.1, {"sigmoid": 2.0}),
    ],
)
def test_unit_costs_are_the_losses_of_lightgbm(name, theirs, rate, more):
    k = CLASSES[name]
    X, y = rows(k, 600)
    shared = {"min_sum_hessian_in_leaf": 0.0, "boost_from_average": False, "k": k, **more}
    ours, _ = run("lightgbm", "native", objective(name), X, y, learning_rate=rate, **shared)
    known, _ = run("lightgbm", "native", theirs, X, y, **shared)
    np.testing.assert_allclose(ours, known, atol=1e-5)


# --- derivatives ----------------------------------------------------------------------------


def scores_for(name, n, rng):
    return rng.normal(size=n if name in BINARY else (n, 3))


def forms(n, k, y, rng):
    """Costs of rows in all forms, larger than 0."""
    matrices = rng.uniform(0.5, 2.0, size=(n, k, k)) * (1 - np.eye(k))
    return {
        "matrix": {"cost_matrix": matrices[0]},
        "matrices": {"costs": matrices},
        "prices": {"costs": matrices[np.arange(n), y]},
        "errors": {"costs": rng.uniform(0.5, 2.0, size=n)},
    }


@pytest.mark.slow
@pytest.mark.parametrize(("n", "order"), [(600, "C"), (600, "F"), (4, "C")])
@pytest.mark.parametrize("form", ["matrix", "matrices", "prices", "errors"])
@pytest.mark.parametrize("name", LOSSES)
def test_derivatives_are_those_of_the_loss(name, form, n, order):
    """Kernels work on 256 rows at a time, the last block is shorter."""
    rng = np.random.default_rng(3)
    k, loss = CLASSES[name], LOSSES[name]
    y, w = rng.permutation(np.arange(n) % k), rng.uniform(0.5, 2.0, size=n)
    given = forms(n, k, y, rng)[form]
    F = np.asarray(scores_for(name, n, rng), order=order)
    costs = costs_of_rows(**given, classes=np.arange(k), codes=y)
    truth, C, weights = y, costs.regret, w[:, None]
    if name in BINARY:
        truth, C, weights = 2.0 * y - 1.0, costs.error_cost, w
        if costs.matrix is not None:
            M = np.broadcast_to(costs.matrix, (n, 2, 2))
            C = (M[:, 1, 0], M[:, 0, 1])
        else:  # the mean of the other class, weighted
            means = [np.average(C[y == j], weights=w[y == j]) for j in (0, 1)]
            C = (np.where(y == 1, C, means[1]), np.where(y == 0, C, means[0]))
    g, h = loss.raw_derivatives(truth, F, C)
    G, H = objective(name, **given).derivatives(y, F, w)
    assert G.dtype == H.dtype == np.float32
    assert G.flags.f_contiguous == F.flags.f_contiguous
    np.testing.assert_allclose(G, weights * g, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(H, weights * h, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("cost", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("name", LOSSES)
def test_extremes_are_finite(name, cost):
    rng = np.random.default_rng(5)
    n, k = 200, CLASSES[name]
    y = rng.integers(0, k, size=n)
    for F in (scores_for(name, n, rng), 500.0 * np.sign(scores_for(name, n, rng))):
        for scale, weight in ((cost, None), ([1e-6, 1e6, 1.0][:k], None), (1.0, 1e12)):
            matrix = np.reshape(scale, (-1, 1)) * (1 - np.eye(k))
            weights = None if weight is None else np.full(n, weight)
            with np.errstate(all="raise", under="ignore"):
                made = objective(name, cost_matrix=matrix)
                G, H = made.derivatives(y, F.astype(np.float32), weights)
            assert np.isfinite(G).all() and np.isfinite(H).all() and (H > 0).all()
            assert 0 < np.abs(G).max() < 1e31 and H.max() < 1e31
            if k == 2:
                assert (np.sign(G.astype(float)) * np.where(y == 1, -1, 1) >= 0).all()


def test_large_rows_keep_their_newton_step():
    made = objective("weighted_exponential", cost_matrix={"fn": 1e6, "fp": 1})
    G, H = made.derivatives([1, 1], np.array([-500.0, -50.0]))
    np.testing.assert_allclose(G / H, -1.0, rtol=1e-6)
    assert G[0] == np.float32(-1e30) and G[1] > G[0]


def test_new_labels_or_weights_are_noticed():
    made, F = objective("gll", cost_matrix=MATRIX), np.zeros((4, 3))
    y = np.array([0.0, 1.0, 2.0, 0.0])
    first = made.derivatives(y, F)[0]
    y[3] = 2  # in place
    assert (made.derivatives(y, F)[0][3] != first[3]).any()
    assert (made.derivatives(y, F, np.full(4, 2.0))[0] == 2 * made.derivatives(y, F)[0]).all()


# --- metrics --------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["mean_cost", "avoidable_cost"])
@pytest.mark.parametrize(("engine", "api"), CALLERS)
@pytest.mark.parametrize("name", ["cost_logistic", "gll", "mc"])
def test_metric_in_training(name, engine, api, measure):
    """The engine records the cost of the decisions, with weights and costs of rows."""
    k, w = CLASSES[name], np.linspace(0.5, 2.0, 300)
    (X, y), matrix, factor = rows(k, 600), MATRICES[k], np.linspace(1, 3, 300)[:, None, None]
    made = objective(name, cost_matrix=matrix, engine=engine)
    known = {"costs": matrix * factor}
    metric = cost_metric(name, **known, cost_matrix=matrix, measure=measure, engine=engine)
    on = X[300:], y[300:], w
    scores, seen = run(engine, api, made, X[:300], y[:300], on=on, metric=metric, k=k)
    decisions = decide(scores[-1], name, cost_matrix=matrix, **(known if name == "mc" else {}))
    score = mean_cost if measure == "mean_cost" else avoidable_cost_score
    expected = score(y[300:], decisions, labels=np.arange(k), sample_weight=w, **known)
    is_left = engine == "xgboost" and measure != "mean_cost"  # XGBoost minimises
    assert metric.__name__ == (f"one_minus_{measure}" if is_left else measure)
    assert seen[-1] == pytest.approx(1 - expected if is_left else expected, abs=1e-5)


@pytest.mark.parametrize(("engine", "api"), CALLERS)
def test_a_metric_with_costs_beside_an_objective_without(engine, api):
    """By the loss alone it would decide by the sign of scores that know no costs."""
    made, other = make_fraud(2000, random_state=0), make_fraud(2000, random_state=1)
    costs, name = per_row(fn=other.amount, fp=5), "cost_logistic"
    same = np.broadcast_to([[0, 5], [60, 0]], costs.shape)
    blind, trained = objective(name, engine=engine), partial(run, engine, api)
    rows = {"X": made.X, "y": made.y, "on": (other.X, other.y, None)}
    for given, known in (({"costs": costs}, costs), ({"cost_matrix": {"fn": 60, "fp": 5}}, same)):
        with pytest.raises(ValueError, match=r"cost_metric\(objective, costs\)"):
            trained(blind, metric=cost_metric(name, engine=engine, **given), **rows)
        metric = cost_metric(blind, engine=engine, measure="savings", **given)
        scores, seen = trained(blind, metric=metric, rounds=ROUNDS, **rows)
        found = savings_score(other.y, decide(scores[-1], blind, costs=known), costs=known)
        assert seen[-1] == pytest.approx(found if engine == "lightgbm" else 1 - found, abs=1e-5)
        assert found > savings_score(other.y, decide(scores[-1], blind), costs=known) + 0.05
    # With costs in the training the name of the loss will do, and costs cannot count twice.
    priced = objective(name, per_row(fn=made.amount, fp=5), engine=engine)
    trained(priced, metric=cost_metric(name, costs, engine=engine), **rows)
    with pytest.raises(ValueError, match="the costs are in them"):
        decide(scores[-1], priced, costs=costs)


def test_an_objective_tells_its_matrix():
    prices, scores = {"fn": 4, "fp": 1}, np.linspace(-2, 2, 9)
    made = objective("asymmetric_logistic", cost_matrix=prices)
    expected = probability(scores, "asymmetric_logistic", cost_matrix=prices)
    np.testing.assert_array_equal(probability(scores, made), expected)
    own = per_row(fn=np.full(9, 30.0), fp=1)
    named = decide(scores, "asymmetric_logistic", cost_matrix=prices, costs=own)
    np.testing.assert_array_equal(decide(scores, made, costs=own), named)
    np.testing.assert_array_equal(decide(scores, made), scores >= 0)


@pytest.mark.parametrize("form", ["matrix", "matrices", "prices", "errors"])
@pytest.mark.parametrize("k", [2, 4])
def test_metric_is_the_library_metric(form, k):
    rng = np.random.default_rng(7)
    n, name = 200, "cost_logistic" if k == 2 else "gll"
    y, w = rng.integers(0, k, size=n), rng.integers(0, 3, size=n).astype(float)
    F, given = rng.normal(size=n if k == 2 else (n, k)), forms(n, k, y, rng)[form]
    if form in ("matrices", "prices"):  # profits, and right decisions that cost something
        given = {"costs": given["costs"] - rng.uniform(0.0, 3.0, given["costs"].shape)}
    for measure, score in (("mean_cost", mean_cost), ("avoidable_cost", avoidable_cost_score)):
        metric = cost_metric(name, measure=measure, **given)
        for weights in (None, w):
            expected = score(
                y, decide(F, name), labels=np.arange(k), sample_weight=weights, **given
            )
            assert metric.value(y, F, weights) == pytest.approx(expected, rel=1e-12)
        assert pickle.loads(pickle.dumps(metric)).value(y, F) == metric.value(y, F)


# --- decisions ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BINARY)
def test_sign_is_the_bayes_decision(name):
    loss, p = LOSSES[name], np.array([0.05, 0.1, 0.12, 0.5, 0.9])
    F = loss.minimiser(p, (4.0, 0.5))
    np.testing.assert_allclose(probability(F, name, cost_matrix=PAIR)[:, 1], p)
    assert decide(F, name).tolist() == (p * 4.0 >= (1 - p) * 0.5).astype(int).tolist()
    unit = per_row(fn=1.0, fp=1.0, n=5)
    assert decide(F, name, cost_matrix=PAIR, costs=unit).tolist() == [0, 0, 0, 1, 1]


def test_cost_blind_losses_decide_by_expected_cost():
    P = np.array([[0.6, 0.3, 0.1]])
    expected = int((P @ MATRIX).argmin())
    assert expected == 2
    np.testing.assert_allclose(probability(np.log(P) / 2, "mc"), P)
    np.testing.assert_allclose(probability(np.log(P), "gll"), P)
    assert decide(np.log(P) / 2, "mc", cost_matrix=MATRIX) == [expected]
    assert decide(np.log(P), "gll", costs=MATRIX[None]) == [expected]
    assert decide(np.log(P), "gll") == [0]


# --- errors ---------------------------------------------------------------------------------

Y, S1, S3 = np.array([0, 1, 1, 0]), np.zeros(4), np.zeros((4, 3))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: objective("log"), "'loss' parameter of objective must be one of .*'gll'.*'log'"),
        (lambda: objective("gll", engine="catboost"), "'engine' parameter.*'catboost'"),
        (lambda: cost_metric("gll", measure="auc"), "'measure' parameter.*'auc'"),
        (lambda: objective("gll").derivatives(Y, S1), r"score per class.*\(4,\).*num_class"),
        (lambda: objective("cost_logistic").derivatives(2 * Y - 1, S1), "codes 0 to 1.*-1 to 1"),
        (lambda: objective("gll").derivatives(Y + 2, S3), "codes 0 to 2.*from 2 to 3"),
        (lambda: objective("gll").derivatives(Y[:3], S3), r"one element per row.*\(4,\).*\(3,\)"),
        (lambda: objective("gll").derivatives(Y, S3, np.full(4, 1e-30)), "at least 1e-25"),
        (lambda: objective("gll", np.full(4, 1e26)).derivatives(Y, S3), "at most 1e.12 in size"),
        (lambda: objective("gll", np.ones(5)).derivatives(Y, S3), r"'costs'.*objective.*\(5,\)"),
        (lambda: objective("gll", np.ones((5, 3, 3))).derivatives(Y, S3), r"\(5, 3, 3\)"),
        (lambda: objective("gll", cost_matrix=PAIR).derivatives(Y, S3), "two classes only"),
        (lambda: cost_metric("gll", np.ones(5)).value(Y, S3), r"'costs' parameter.*\(5,\)"),
        (lambda: decide(S3, "gel", costs=np.ones((4, 3, 3))), "link to probabilities"),
        (lambda: decide(S1, "cost_logistic", costs=np.ones(4)), "the truth is unknown"),
        (lambda: probability(S1, "cost_logistic", cost_matrix={"fn": 0, "fp": 1}), "costlier"),
    ],
)
def test_errors_say_what_to_do(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def own(*matrices):
    """A cost matrix per row."""
    return np.array(matrices, dtype=float)


FREE_ALARM, FREE_MISS = [[0, 0], [1, 0]], [[0, 1], [0, 0]]
SWAPPED = [[5, 0], [0, 1]]
ALWAYS_2 = [[1, 1, 0], [1, 1, 0], [1, 1, 0]]


@pytest.mark.filterwarnings("ignore:.*:costboost.errors.CostWarning")
@pytest.mark.parametrize(
    ("loss", "given", "words"),
    [
        *((name, {"cost_matrix": FREE_ALARM}, "alarm costs 0 .* class 1 is") for name in BINARY),
        ("cost_logistic", {"cost_matrix": {"fn": 3, "tp": 3, "fp": 1}}, "A miss .* class 0 is"),
        ("cost_logistic", {"costs": own(*[FREE_MISS] * 4)}, "A miss costs 0"),
        ("cost_logistic", {"costs": own(*[FREE_ALARM, SWAPPED] * 2)}, "alarm costs 0"),
        ("gll", {"cost_matrix": ALWAYS_2}, "decision 2 is the cheapest whatever the truth"),
        ("gel", {"costs": own(*[ALWAYS_2] * 4)}, "decision 2 is the cheapest"),
        ("ls", {"cost_matrix": np.zeros((3, 3))}, "decision 0 is the cheapest"),
    ],
)
def test_costs_that_leave_nothing_to_learn_are_refused(loss, given, words):
    """Two classes are certain: a matrix for them is refused before the first round."""
    with pytest.raises(ValueError, match=f"costs of objective .*{words}.*Check the (cost )?matrix"):
        made = objective(loss, **given)
        assert loss not in BINARY or "costs" in given
        made.derivatives(Y, S1 if loss in BINARY else S3)


@pytest.mark.parametrize(
    ("loss", "given"),
    [
        ("mc", {"cost_matrix": ALWAYS_2}),  # cost-blind
        ("gll", {"cost_matrix": [[0, 0, 0], [1, 0, 1], [1, 1, 0]]}),  # a class without costs
        ("cost_logistic", {"cost_matrix": {"fn": 1, "fp": 1e-9}}),
        ("cost_logistic", {"costs": own(*[FREE_ALARM, FREE_MISS] * 2)}),
        ("cost_logistic", {"costs": np.array([0.0, 0.0, 2.0, 0.0])}),  # few rows have a price
        ("gll", {"costs": np.array([0.0, 0.0, 2.0, 0.0])}),
    ],
)
@pytest.mark.filterwarnings("ignore:.*:costboost.errors.CostWarning")
def test_costs_that_leave_something_to_learn_are_taken(loss, given):
    G, _ = objective(loss, **given).derivatives(Y, S1 if loss in BINARY else S3)
    assert np.abs(G).max() > 0
