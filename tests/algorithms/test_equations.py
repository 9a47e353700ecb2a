"""Votes and scores of the library equal those of the plain references, round by round."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import costboost
from costboost.boosting.descent import exponential_step
from costboost.costs import per_row
from reference import decide, descent, losses, own_files, votes

ROUNDS = 20
RATIOS = (1.0, 2.0, 5.0, 20.0)
FLOOR = 1e-12  # a smaller vote is 0 to the library
CLOSE = {"rtol": 1e-9, "atol": 1e-9}

CLASSES = {
    n.removesuffix("Classifier"): getattr(costboost, n) for n in costboost.algorithms.__all__
}
VOTE_CLASSES = [
    *("AdaBoostC", "AdaC1", "AdaC2", "AdaC3", "AdaCost", "AsyB", "AsymmetricAdaBoost", "CSB0"),
    *("CSB1", "CSB2", "RareBoost"),
]

# A dear class at any ratio must not swallow the other within 20 rounds of every algorithm for the
# votes to be right, so "everything is +" is no failure here.
pytestmark = pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")


def stump():
    return DecisionTreeClassifier(max_depth=1)


def rows(seed, n=120):
    """Continuous features and weights (no ties); + is easy to catch, so that AdaCost gets going."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + 0.4 * X[:, 1] > 0.2, 1, -1)
    X[:, 0] += np.where(y > 0, 0.5, 0.0)
    flipped = (y < 0) & (rng.random(n) < 0.15)
    X[flipped, 0] += 1.5
    return X, y, rng.uniform(0.5, 1.5, n), rng


CASES = range(len(RATIOS) + 1)


def the_case(k):
    """Four ratios of class costs, then costs per row: rows, a name, a matrix, costs, c."""
    X, y, s, rng = rows(0)
    if k < len(RATIOS):
        c = np.where(y > 0, RATIOS[k], 1.0)
        return X, y, s, rng, f"ratio {RATIOS[k]:g}", {"fn": RATIOS[k], "fp": 1.0}, {}, c
    c = np.random.default_rng(100).uniform(1.0, 3.0, len(y))
    return X, y, s, rng, "per row", None, {"costs": c}, c


def assert_equal_stages(clf, trace, X, unit=1.0, losses=True):
    """Votes (the steps of the reference in another unit), scores by round, and losses."""
    assert clf.n_iter_ == len(trace.rules) > 0
    np.testing.assert_allclose(clf.estimator_weights_, np.multiply(trace.alphas, unit), **CLOSE)
    for F, expected in zip(clf.staged_decision_function(X), trace.F, strict=True):
        np.testing.assert_allclose(F, expected, **CLOSE)
    if losses:
        np.testing.assert_allclose(clf.train_loss_, trace.losses, rtol=1e-9)


def assert_equal_runs(clf, trace, X, X_new, losses=False):
    assert_equal_stages(clf, trace, X, losses=losses)
    F = votes.score(trace, X_new)
    np.testing.assert_allclose(clf.decision_function(X_new), F, **CLOSE)
    np.testing.assert_array_equal(clf.predict(X_new), decide(F))


# --- vote-based algorithms ------------------------------------------------------------------


# Algorithms whose reference has a file of its own, and those of reference/votes.py.
OWN = {name: module for name, module in own_files().items() if module.FAMILY == "votes"}


def plain_run(name, X, y, c, s, make_learner=stump, **options):
    options |= {"rounds": ROUNDS, "make_learner": make_learner, "sample_weight": s, "floor": FLOOR}
    if name in OWN:
        return OWN[name].run(X, y, c, **options)
    return votes.run(name, X, y, c, **options)


def fitted(name, X, y, s, cost_matrix=None, fit=None, **options):
    options = {"n_estimators": ROUNDS, "estimator": stump(), "random_state": 0} | options
    return CLASSES[name](cost_matrix, **options).fit(X, y, sample_weight=s, **(fit or {}))


def test_the_reference_knows_every_vote_based_class():
    assert set(VOTE_CLASSES) == (set(votes.NAMES) - {"AdaBoost"}) | set(OWN)


def limit_of_adacost(X, y, c, s):
    """Equal costs mean c -> 0 (as c = 1 no rule would do): a dear row without weight says so."""
    dear = 1e12
    return np.vstack([X, X[:1]]), np.append(y, y[0]), np.append(c, dear), np.append(s, 0.0)


def assert_equal_to_the_plain_run(clf, name, plain, pseudo, X, X_new, **options):
    """From nothing, and by the library's own rules, after which comes one that is always wrong."""
    trace = plain_run(name, *plain, **options)
    trace.F = [F[: len(X)] for F in trace.F]
    assert_equal_runs(clf, trace, X, X_new)
    outputs = [rule.predict(plain[0]) for rule in clf.estimators_]
    replayed = plain_run(name, *plain, make_learner=votes.replay([*outputs, -pseudo]), **options)
    np.testing.assert_allclose(clf.estimator_weights_, replayed.alphas, **CLOSE)
    return trace


@pytest.mark.parametrize("k", CASES)
@pytest.mark.parametrize("name", VOTE_CLASSES)
def test_votes(name, k):
    X, y, s, rng, _, matrix, fit, c = the_case(k)
    clf = fitted(name, X, y, s, matrix, fit)
    plain = X, y, c, s
    if name == "AdaCost" and c.min() == c.max():
        plain = limit_of_adacost(*plain)
    X_new = rng.normal(size=(50, 3))
    assert_equal_to_the_plain_run(clf, name, plain, plain[1], X, X_new)


SCALED = ("AdaC1", "AdaC2", "AdaC3", "CSB0", "CSB1", "CSB2")
VARIATIONS = [
    *((name, {"init": init}) for name in VOTE_CLASSES for init in ("uniform", "balanced", "cost")),
    *((name, {"cost_scale": scale}) for name in SCALED for scale in ("max", "min", None)),
]


@pytest.mark.parametrize(("name", "options"), VARIATIONS, ids=str)
def test_initial_weights_and_scales_of_costs(name, options):
    X, y, s, rng = rows(3)
    pair = (2.0, 1.0)
    if "cost_scale" in options:
        pair = (1.1, 0.9)
        y = np.where(rng.random(len(y)) < 0.25, -y, y)  # costs above 1 ask for mistakes
    clf = fitted(name, X, y, s, dict(zip(("fn", "fp"), pair, strict=True)), **options)
    trace = plain_run(name, X, y, np.where(y > 0, *pair), s, **options)
    assert_equal_runs(clf, trace, X, X)


@pytest.mark.parametrize("name", VOTE_CLASSES)
def test_a_dear_negative_class(name):
    X, y, s, _ = rows(5)
    X, y = -X, -y  # the class that is easy to catch is the dear one
    clf = fitted(name, X, y, s, {"fn": 1, "fp": 5})
    assert_equal_runs(clf, plain_run(name, X, y, np.where(y > 0, 1.0, 5.0), s), X, X)


@pytest.mark.parametrize("name", ["AdaC1", "AdaC3"])
def test_costs_too_large_for_the_vote(name):
    X, y, s, _ = rows(2)
    with pytest.raises(ValueError, match=r"not defined for costs as large as 50.*cost_scale='max'"):
        fitted(name, X, y, s, {"fn": 50, "fp": 40}, cost_scale=None)


# Each has AdaBoost's scores where every mistake costs 1, times the factor.
ADABOOST = [
    *((name, {}, 1.0) for name, C in CLASSES.items() if C._recipe.parent == "AdaBoost"),
    ("GradientCSB", {"objective": "adaboost"}, 1.0),
    ("GradientCSB", {"objective": "adac1"}, 1.0),
    ("GradientCSB", {"objective": "adacost"}, 2.0),  # a = y/2: half the margin, twice the step
]


@pytest.mark.parametrize(("name", "options", "factor"), ADABOOST, ids=str)
def test_unit_costs_give_adaboost(name, options, factor):
    X, y, s, _ = rows(1)
    clf = fitted(name, X, y, s, **options)
    parent = AdaBoostClassifier(stump(), n_estimators=ROUNDS, random_state=0)
    parent.fit(X, y, sample_weight=s)
    # SAMME's vote is ln((1 - eps)/eps), twice the alpha of the equations.
    alphas = 0.5 * factor * parent.estimator_weights_
    assert clf.n_iter_ == len(alphas) == ROUNDS
    np.testing.assert_allclose(clf.estimator_weights_, alphas, rtol=1e-9)
    F = sum(a * rule.predict(X) for a, rule in zip(alphas, parent.estimators_, strict=True))
    np.testing.assert_allclose(clf.decision_function(X), F, atol=1e-9)


# --- gradient cost-sensitive boosting -------------------------------------------------------


def own_objective(y, c):
    """Return (w0, a, b) that no named objective has, some pseudo-labels flipped."""
    a = y * (0.5 + 0.5 * c / c.max())
    a[::17] *= -0.5
    return 1.0 + c / c.max(), a, -0.05 * c / c.max()


@pytest.mark.parametrize("k", CASES)
@pytest.mark.parametrize("objective", [*votes.OBJECTIVES, own_objective])
def test_gradient_csb(objective, k):
    X, y, s, rng, _, matrix, fit, c = the_case(k)
    clf = fitted("GradientCSB", X, y, s, matrix, fit, objective=objective)
    plain, named, pseudo, scale = (X, y, c, s), objective, y, 1.0
    if objective is own_objective:
        named = own_objective(y.astype(float), c)
        pseudo, scale = np.where(named[1] < 0, -1, 1), float(np.sum(named[0] * s))
    elif objective == "adacost" and c.min() == c.max():
        plain = limit_of_adacost(*plain)
        pseudo = plain[1]
    X_new = rng.normal(size=(50, 3))
    trace = assert_equal_to_the_plain_run(
        clf, "GradientCSB", plain, pseudo, X, X_new, objective=named
    )
    np.testing.assert_allclose(clf.train_loss_, np.multiply(trace.losses, scale), rtol=1e-9)


# --- CS-AdaBoost ----------------------------------------------------------------------------


@pytest.mark.parametrize("k", CASES)
def test_cs_adaboost_with_any_learner(k):
    X, y, s, rng, _, matrix, fit, c = the_case(k)
    clf = fitted("CSAdaBoost", X, y, s, matrix, fit)
    plain = {"rounds": ROUNDS, "sample_weight": s}
    trace = descent.run_cs_adaboost(X, y, c, make_learner=stump, **plain)
    assert_equal_runs(clf, trace, X, rng.normal(size=(50, 3)), losses=True)
    outputs = [rule.predict(X) for rule in clf.estimators_]
    replayed = descent.run_cs_adaboost(X, y, c, make_learner=votes.replay([*outputs, -y]), **plain)
    np.testing.assert_allclose(clf.estimator_weights_, replayed.alphas, **CLOSE)


@pytest.mark.parametrize("pair", [(1.0, 1.0), (2.0, 1.0), (5.0, 1.0), (20.0, 1.0), (1.0, 5.0)])
def test_cs_adaboost_joint_search(pair):
    X, y, s, rng = rows(0, n=40)
    X, X_new = X[:, :2], rng.normal(size=(50, 2))
    C1, C2 = pair
    clf = costboost.CSAdaBoostClassifier({"fn": C1, "fp": C2}, n_estimators=ROUNDS).fit(
        X, y, sample_weight=s
    )
    c = np.where(y > 0, C1, C2)
    trace = descent.run_cs_adaboost_stumps(X, y, c, rounds=ROUNDS, sample_weight=s)
    for rule, plain in zip(clf.estimators_, trace.rules, strict=True):
        assert rule.feature == plain.feature
        np.testing.assert_array_equal(rule.predict(X_new), plain.predict(X_new))
    assert_equal_runs(clf, trace, X, X_new, losses=True)


# --- CS-RealBoost, CS-LogitBoost, AsyBL -----------------------------------------------------


@pytest.mark.parametrize("ratio", RATIOS)
def test_cs_realboost(ratio):
    X, y, s, _ = rows(0)
    codes = np.stack([np.searchsorted([-0.7, 0.0, 0.7], column) for column in X.T], axis=1)
    clf = costboost.CSRealBoostClassifier({"fn": ratio, "fp": 1}, n_estimators=ROUNDS)
    clf.fit(codes.astype(float), y, sample_weight=s)
    # Half the weight of an average row, as the library documents.
    options = {"smoothing": lambda total, n_bins: total * 0.5 / s.sum(), "sample_weight": s}
    trace = descent.run_cs_realboost(codes, y, ratio, 1.0, rounds=ROUNDS, **options)
    assert [rule.feature for rule in clf.estimators_] == [rule.feature for rule in trace.rules]
    assert_equal_stages(clf, trace, codes)


@pytest.mark.parametrize("weighting", ["boundary", "newton"])
@pytest.mark.parametrize("pair", [(1.0, 1.0), (2.0, 1.0), (5.0, 1.0), (20.0, 1.0), (1.0, 5.0)])
@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_cs_logitboost(pair, rate, weighting):
    X, y, s, _ = rows(0)
    C1, C2 = pair
    options = {"weighting": weighting, "learning_rate": rate, "guarded": True}
    clf = costboost.CSLogitBoostClassifier({"fn": C1, "fp": C2}, n_estimators=ROUNDS, **options)
    clf.fit(X, y, sample_weight=s)
    trace = descent.run_cs_logitboost(X, y, C1, C2, rounds=ROUNDS, sample_weight=s, **options)
    assert_equal_stages(clf, trace, X, unit=rate / (C1 + C2))


@pytest.mark.parametrize("k", CASES)
def test_asybl(k):
    X, y, s, rng, name, matrix, fit, _ = the_case(k)
    rate = 0.1
    if name != "per row":
        C1, C2 = RATIOS[k], 1.0
    else:
        # Costs close to their mean and small steps: no response is clipped, be it by the limit of
        # the row (the reference) or by that of the mean costs (the library).
        rate = 0.03
        C1, C2 = rng.uniform(1.8, 2.2, len(y)), rng.uniform(0.9, 1.1, len(y))
        fit = {"costs": per_row(fn=C1, fp=C2)}
    tree = DecisionTreeRegressor(max_depth=1)
    clf = fitted("AsyBL", X, y, s, matrix, fit, estimator=tree, learning_rate=rate)
    options = {"rounds": ROUNDS, "learning_rate": rate, "sample_weight": s, "guarded": True}
    trace = descent.run_asybl(X, y, C1, C2, make_learner=lambda: clone(tree), **options)
    assert_equal_stages(clf, trace, X, unit=rate / 2)


@pytest.mark.parametrize("ratio", [1.0, 2.0, 5.0])  # far above they diverge, as printed
@pytest.mark.parametrize("name", ["AsyBL", "CSLogitBoost"])
def test_without_guards_the_equations_are_the_printed_ones(name, ratio):
    X, y, s, rng = rows(0)
    y = np.where(rng.random(len(y)) < 0.2, -y, y)
    tree = DecisionTreeRegressor(max_depth=2, random_state=0)
    options = {"n_estimators": 3, "estimator": tree, "guarded": False}
    clf = fitted(name, X, y, s, {"fn": ratio, "fp": 1.0}, **options)
    gamma = 1.0 if name == "AsyBL" else 0.5 * (ratio + 1.0)
    F, largest = np.zeros(len(y)), 0.0
    for t, staged in enumerate(clf.staged_decision_function(X)):
        link = 2.0 * gamma * F - np.log(ratio)
        if name == "CSLogitBoost" and t == 0:
            link = np.zeros(len(y))  # p_c = 1/2
        centre = link if name == "AsyBL" else 2.0 * F
        z = y * (1.0 + np.exp(-y * link))  # (y' - p_c) / (p_c (1 - p_c))
        w = 1.0 / (1.0 + np.exp(-centre)) / (1.0 + np.exp(centre))
        F = F + tree.fit(X, z, sample_weight=s * w).predict(X) / (2.0 * gamma)
        np.testing.assert_allclose(staged, F, rtol=1e-6, atol=1e-6)
        largest = max(largest, np.abs(z).max())
    assert clf.n_iter_ == 3 and largest > 2.0 * (1.0 + ratio)  # the guard would have been at work


def test_cs_logitboost_with_costs_per_row_takes_the_newton_step():
    X, y, s, rng = rows(8)
    C1, C2 = rng.uniform(1.5, 2.5, len(y)), rng.uniform(0.8, 1.2, len(y))
    clf = costboost.CSLogitBoostClassifier(n_estimators=2, learning_rate=0.1, weighting="newton")
    clf.fit(X, y, costs=per_row(fn=C1, fp=C2), sample_weight=s)
    first, second = clf.staged_decision_function(X)

    value = losses.cost_logistic
    step, h = np.empty(len(y)), 1e-4
    curvature = np.empty(len(y))
    for i in range(len(y)):
        at = [value(y[i], first[i] + d, C1[i], C2[i]) for d in (-h, 0.0, h)]
        curvature[i] = (at[0] - 2 * at[1] + at[2]) / h**2
        step[i] = -(at[2] - at[0]) / (2 * h) / curvature[i]
    _, line = descent.best_line(X, step, s * curvature)[0]
    np.testing.assert_allclose(second - first, 0.1 * line.predict(X), atol=1e-6)


# --- the line search ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_the_exact_step(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    w = rng.uniform(size=n) ** rng.integers(1, 20)
    m = rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(-rng.integers(0, 7), 0, n)
    step = exponential_step(w, m)
    if (m >= 0).all():
        assert step == math.inf
    elif np.sum(w * m) <= 1e-12 * np.sum(w) * np.abs(m).max():
        assert step == 0.0
    else:
        expected, _ = votes.line_search(w / w.sum(), m, 1.0)
        assert step == pytest.approx(min(expected, 350.0 / np.abs(m).max()), rel=1e-7)
