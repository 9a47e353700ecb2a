"""The plain references hold against hand-worked numbers, scikit-learn and one another."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from reference import PERFECT, Trace, decide, descent, initial_weights, losses, normalised, votes

EXACT = {"rtol": 0, "atol": 1e-12}


def stump():
    return DecisionTreeClassifier(max_depth=1, random_state=0)


def regression_stump():
    return DecisionTreeRegressor(max_depth=1, random_state=0)


def make_rows(seed=0, n=120, features=3):
    """Overlapping classes, and sample weights without ties."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, features))
    y = np.where(X[:, 0] + 0.7 * X[:, 1] + rng.normal(size=n) > 0.3, 1, -1)
    return X, y, rng.uniform(0.5, 1.5, size=n), rng


def assert_same(one: Trace, other: Trace, votes_scale=1.0):
    assert len(one.alphas) == len(other.alphas) > 0
    np.testing.assert_allclose(np.multiply(one.alphas, votes_scale), other.alphas, atol=1e-11)
    np.testing.assert_allclose(np.multiply(one.F, votes_scale), other.F, atol=1e-10)
    np.testing.assert_allclose(one.D, other.D, atol=1e-11)
    assert one.stopped == other.stopped


# --- by hand --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", votes.WORKED)
def test_votes_agree_with_the_hand(name):
    worked = votes.WORKED[name]
    algorithm, _, objective = name.partition("-")
    trace = votes.run(
        algorithm,
        worked.X,
        worked.y,
        worked.c,
        rounds=2,
        make_learner=stump,
        objective=objective or "adaboost",
    )
    assert trace.stopped == worked.stopped
    np.testing.assert_allclose(trace.alphas, worked.alphas, **EXACT)
    for t, rule in enumerate(worked.rules):
        np.testing.assert_array_equal(trace.h[t], worked.outputs[rule])
        np.testing.assert_allclose(trace.D[t], normalised(worked.D[t]), **EXACT)
    if worked.rules:
        np.testing.assert_allclose(trace.F[-1], worked.F, **EXACT)
        np.testing.assert_allclose(votes.score(trace, worked.X), worked.F, **EXACT)


def test_adaboost_hand_in_decimals():
    # B: eps 0.2, alpha 0.6931; weights .125 .5 .125 .125 .125; A: eps 0.125, alpha 0.9730.
    # Scores: -0.6931 - 0.9730, -0.6931 + 0.9730, the same, then 1.6661 twice; row 3 stays wrong.
    worked = votes.WORKED["AdaBoost"]
    trace = votes.run("AdaBoost", worked.X, worked.y, worked.c, rounds=2, make_learner=stump)
    np.testing.assert_allclose(trace.alphas, [0.693147, 0.972955], atol=1e-6)
    np.testing.assert_allclose(trace.D[1], [0.125, 0.5, 0.125, 0.125, 0.125], **EXACT)
    np.testing.assert_allclose(
        trace.F[-1], [-1.666102, 0.279808, 0.279808, 1.666102, 1.666102], atol=1e-6
    )
    np.testing.assert_array_equal(decide(trace.F[-1]), [-1, 1, 1, 1, 1])


def test_cs_adaboost_agrees_with_the_hand():
    worked = descent.WORKED_CS_ADABOOST
    y = worked["y"]
    c = np.where(y == 1, worked["C1"], worked["C2"])
    trace = descent.run_cs_adaboost_stumps(worked["X"], y, c, rounds=2)
    assert trace.rules == worked["stumps"]
    np.testing.assert_allclose(trace.alphas, worked["alphas"], **EXACT)
    np.testing.assert_allclose(trace.losses, worked["losses"], **EXACT)
    # The decimals of the comment.
    np.testing.assert_allclose(math.exp(trace.alphas[1]), 1.8266508, atol=1e-7)
    second = descent.joint_search(worked["X"], y, c, np.full(5, 1.0))[1]
    np.testing.assert_allclose([math.exp(second.alpha), second.loss], [1.3532, 4.4013], atol=1e-4)


def test_cs_realboost_agrees_with_the_hand():
    worked = descent.WORKED_CS_REALBOOST
    trace = descent.run_cs_realboost(
        worked["codes"],
        worked["y"],
        worked["C1"],
        worked["C2"],
        rounds=2,
        smoothing=descent.no_smoothing,
    )
    assert [table.feature for table in trace.rules] == worked["features"]
    for table, G in zip(trace.rules, worked["G"], strict=True):
        np.testing.assert_allclose(table.G, G, **EXACT)
    np.testing.assert_allclose(trace.losses, worked["losses"], **EXACT)
    np.testing.assert_allclose(trace.F[-1], worked["F"], **EXACT)


@pytest.mark.parametrize("weighting", ["boundary", "newton"])
def test_cs_logitboost_agrees_with_the_hand(weighting):
    # With one binary feature either weighting is constant wherever the line is a mean.
    worked = descent.WORKED_CS_LOGITBOOST
    trace = descent.run_cs_logitboost(
        worked["X"], worked["y"], worked["C1"], worked["C2"], rounds=2, weighting=weighting
    )
    np.testing.assert_allclose(trace.h, worked["G"], **EXACT)
    np.testing.assert_allclose(trace.F[-1], worked["F"], **EXACT)


def test_asybl_agrees_with_the_hand():
    worked = descent.WORKED_ASYBL
    trace = descent.run_asybl(
        worked["X"],
        worked["y"],
        worked["C1"],
        worked["C2"],
        rounds=2,
        make_learner=regression_stump,
    )
    np.testing.assert_allclose(trace.h, worked["f"], **EXACT)
    np.testing.assert_allclose(trace.F[-1], worked["F"], **EXACT)
    np.testing.assert_allclose(trace.F[-1][0], 1.0618, atol=1e-4)


# --- votes among themselves -----------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1])
def test_adaboost_is_scikit_learns(seed):
    """SAMME's votes are twice ours for two classes."""
    X, y, s, _ = make_rows(seed)
    ours = votes.run(
        "AdaBoost", X, y, np.ones(len(y)), rounds=20, make_learner=stump, sample_weight=s
    )
    theirs = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=1), n_estimators=20, random_state=0
    )
    theirs.fit(X, y, sample_weight=s)
    np.testing.assert_allclose(2.0 * np.array(ours.alphas), theirs.estimator_weights_, atol=1e-9)
    np.testing.assert_array_equal(decide(ours.F[-1]), theirs.predict(X))


@pytest.mark.parametrize(
    "name",
    ["AdaBoostC", "CSB2", "AdaC1", "AdaC2", "AdaC3", "AsymmetricAdaBoost", "AsyB"],
)
def test_equal_costs_give_adaboost(name):
    X, y, s, _ = make_rows(3)
    kwargs = {"rounds": 12, "make_learner": stump, "sample_weight": s}
    blind = votes.run("AdaBoost", X, y, np.ones(len(y)), **kwargs)
    # All of these scale their costs or are indifferent to a common factor.
    assert_same(votes.run(name, X, y, np.full(len(y), 4.0), **kwargs), blind)


@pytest.mark.parametrize("objective", ["adaboost", "adac1", "asymboost"])
def test_gradient_csb_with_equal_costs_is_adaboost(objective):
    X, y, s, _ = make_rows(4)
    one = np.ones(len(y))
    kwargs = {"rounds": 12, "make_learner": stump, "sample_weight": s}
    blind = votes.run("AdaBoost", X, y, one, **kwargs)
    assert_same(votes.run("GradientCSB", X, y, one, objective=objective, **kwargs), blind)
    # Costs of 2 in the exponent halve the votes; adaboost ignores them, adac1 scales them to 1.
    twice = votes.run("GradientCSB", X, y, 2 * one, objective=objective, **kwargs)
    assert_same(twice, blind, votes_scale=2.0 if objective == "asymboost" else 1.0)


def test_gradient_csb_takes_own_parts():
    X, y, s, rng = make_rows(5)
    c = rng.uniform(1, 5, size=len(y))
    kwargs = {"rounds": 8, "make_learner": stump, "sample_weight": s}
    named = votes.run("GradientCSB", X, y, c, objective="asymboost", **kwargs)
    own = (np.ones(len(y)), c * y, np.zeros(len(y)))
    assert_same(votes.run("GradientCSB", X, y, c, objective=own, **kwargs), named)


def test_gradient_csb_adacost_minimises_what_it_says():
    X, y, s, rng = make_rows(6)
    c = np.where(y == 1, 0.1, 0.05) * rng.uniform(0.9, 1.1, size=len(y))
    own = (c, 0.5 * y, -0.5 * c)  # small costs: AdaCost is then close to AdaBoost
    kwargs = {"rounds": 8, "make_learner": stump, "sample_weight": s}
    trace = votes.run("GradientCSB", X, y, c, objective=own, **kwargs)
    assert len(trace.alphas) == 8
    w0 = normalised(c * s)
    previous = 1.0
    for t in range(8):

        def objective(last, t=t):
            alphas = [*trace.alphas[:t], last]
            exponent = sum(a * (own[1] * h + own[2]) for a, h in zip(alphas, trace.h, strict=False))
            return np.sum(w0 * np.exp(-exponent))

        alpha = trace.alphas[t]
        np.testing.assert_allclose(trace.losses[t], objective(alpha), rtol=1e-12)
        assert objective(alpha) < min(previous, objective(alpha - 1e-4), objective(alpha + 1e-4))
        previous = objective(alpha)


def test_gradient_csb_asymboost_is_cs_adaboost():
    X, y, s, rng = make_rows(7)
    c = rng.uniform(0.2, 5, size=len(y))
    kwargs = {"rounds": 12, "make_learner": stump, "sample_weight": s}
    gradient = votes.run("GradientCSB", X, y, c, objective="asymboost", **kwargs)
    direct = descent.run_cs_adaboost(X, y, c, **kwargs)
    assert_same(gradient, direct)
    np.testing.assert_allclose(gradient.losses, direct.losses, rtol=1e-10)


def test_asymmetric_adaboost_is_viola_and_jones():
    """c^(1/T) row by row and (C1/C2)^(y/2T) by class leave the same distribution."""
    X, y, s, _ = make_rows(8)
    T, C1, C2 = 6, 7.0, 2.0
    c = np.where(y == 1, C1, C2)
    kwargs = {"rounds": T, "make_learner": stump, "sample_weight": s}
    trace = votes.run("AsymmetricAdaBoost", X, y, c, **kwargs)
    D = initial_weights("uniform", y, c, s)
    for t in range(T):
        D = normalised(D * (C1 / C2) ** (y / (2 * T)))
        np.testing.assert_allclose(trace.D[t], D, atol=1e-12)
        eps = D[trace.h[t] != y].sum()
        np.testing.assert_allclose(trace.alphas[t], 0.5 * np.log((1 - eps) / eps), atol=1e-11)
        D = D * np.exp(-trace.alphas[t] * y * trace.h[t])


@pytest.mark.parametrize("per_row", [False, True])
@pytest.mark.parametrize("name", votes.NAMES)
def test_printed_formulas(name, per_row):
    """Votes and weights by the printed formulas, vectorised, on rules drawn at random."""
    rng = np.random.default_rng(9)
    n, T = 200, 3
    # Rare, dear positives and few errors, or else AdaCost has no vote to give.
    y = np.where(rng.uniform(size=n) < 0.2, 1, -1)
    c = np.where(y == 1, 5.0, 1.0) * (rng.uniform(0.5, 1.5, size=n) if per_row else 1.0)
    rules = [np.where(rng.uniform(size=n) < 0.02, -y, y) for _ in range(T)]
    D = normalised(rng.uniform(0.5, 1.5, size=n))
    trace = votes.run(
        name,
        np.zeros((n, 1)),
        y,
        c,
        rounds=T,
        make_learner=votes.replay(rules),
        sample_weight=D,
        init="uniform",
    )
    assert len(trace.alphas) == T
    k, cheap = c / c.max(), c / c.min()
    for t, h in enumerate(rules):
        if name == "AsymmetricAdaBoost":
            D = normalised(D * c ** (1 / T))
        right, wrong = h == y, h != y
        eps = D[wrong].sum()
        beta = np.where(right, 0.5 - 0.5 * k, 0.5 + 0.5 * k)
        r = np.sum(D * y * h * beta)
        A = (k * D)[right].sum() - (k * D)[wrong].sum()
        B = (k**2 * D)[right].sum() - (k**2 * D)[wrong].sum()
        odds = {
            "AdaCost": (1 + r) / (1 - r),
            "AdaC1": (1 + A) / (1 - A),
            "AdaC2": (k * D)[right].sum() / (k * D)[wrong].sum(),
            "AdaC3": ((k * D).sum() + B) / ((k * D).sum() - B),
            "AsyB": (c * D)[right].sum() / (c * D)[wrong].sum(),
        }.get(name, (1 - eps) / eps)
        alpha = 0.5 * np.log(odds)
        np.testing.assert_allclose(trace.D[t], D, atol=1e-13)
        np.testing.assert_allclose(trace.alphas[t], alpha, atol=1e-11)
        kappa = np.where(wrong, cheap, 1.0)
        factor = {
            "AdaCost": np.exp(-alpha * y * h * beta),
            "CSB0": kappa,
            "CSB1": kappa * np.exp(-y * h),
            "CSB2": kappa * np.exp(-alpha * y * h),
            "AdaC1": np.exp(-alpha * k * y * h),
            "AdaC2": k * np.exp(-alpha * y * h),
            "AdaC3": k * np.exp(-alpha * k * y * h),
        }.get(name, np.exp(-alpha * y * h))
        D = normalised(D * factor)


def test_asyb_masses_are_those_of_the_four_outcomes():
    """C1 TP + C2 TN over C1 FN + C2 FP, with the costs of two classes."""
    X, y, s, _ = make_rows(22)
    C1, C2 = 5.0, 2.0
    trace = votes.run(
        "AsyB", X, y, np.where(y == 1, C1, C2), rounds=1, make_learner=stump, sample_weight=s
    )
    D, h = trace.D[0], trace.h[0]
    np.testing.assert_allclose(D, normalised(s * np.where(y == 1, C1, C2)), atol=1e-15)
    tp, tn = D[(y == 1) & (h == 1)].sum(), D[(y == -1) & (h == -1)].sum()
    fn, fp = D[(y == 1) & (h == -1)].sum(), D[(y == -1) & (h == 1)].sum()
    alpha = 0.5 * np.log((C1 * tp + C2 * tn) / (C1 * fn + C2 * fp))
    np.testing.assert_allclose(trace.alphas, [alpha], atol=1e-12)


def test_asyb_may_find_its_last_rule_again():
    """Its vote makes the c-weighted masses equal, which D alone does not see."""
    worked = votes.WORKED["AsyB"]
    rule = worked.outputs["A"]
    trace = votes.run(
        "AsyB",
        worked.X,
        worked.y,
        worked.c,
        rounds=2,
        make_learner=votes.replay([rule, rule]),
        floor=1e-12,
    )
    assert (len(trace.alphas), trace.stopped) == (1, "useless")


@pytest.mark.parametrize("name", [*votes.NAMES, "GradientCSB"])
def test_replay_gives_the_same_votes(name):
    X, y, s, rng = make_rows(10)
    c = rng.uniform(1, 3, size=len(y))
    first = votes.run(name, X, y, c, rounds=6, make_learner=stump, sample_weight=s)
    again = votes.run(
        name, X, y, c, rounds=6, make_learner=votes.replay([*first.h, -y]), sample_weight=s
    )
    np.testing.assert_array_equal(first.alphas, again.alphas)
    assert again.stopped == first.stopped


@pytest.mark.parametrize("name", [*votes.NAMES, "GradientCSB"])
def test_a_useless_rule_is_dropped_and_a_perfect_one_ends(name):
    y = np.array([1, 1, -1, -1])
    X, c = np.zeros((4, 1)), np.array([2.0, 1.0, 1.0, 1.0])
    useless = votes.run(name, X, y, c, rounds=3, make_learner=votes.replay([-y]))
    assert useless.alphas == []
    assert useless.stopped == "useless"
    perfect = votes.run(name, X, y, c, rounds=3, make_learner=votes.replay([y] * 3))
    if name in ("AdaC1", "AdaC3", "AdaCost"):
        # Their formulas are finite as long as some c is below 1.
        assert perfect.stopped == "rounds"
        assert np.isfinite(perfect.alphas).all()
    else:
        assert perfect.stopped == "perfect"
        assert perfect.alphas == [PERFECT]
    if name in ("AdaC1", "AdaC3"):
        equal = votes.run(name, X, y, np.ones(4), rounds=3, make_learner=votes.replay([y]))
        assert (equal.stopped, equal.alphas) == ("perfect", [PERFECT])


def test_adacost_runs_on_rare_positives():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    signal = X[:, 0] + 0.3 * rng.normal(size=200)
    y = np.where(signal > np.quantile(signal, 0.9), 1, -1)
    s = rng.uniform(0.5, 1.5, size=200)
    kwargs = {"rounds": 10, "make_learner": stump, "sample_weight": s}
    c = np.where(y == 1, 5.0, 1.0)
    assert len(votes.run("AdaCost", X, y, c, **kwargs).alphas) == 10
    gradient = votes.run("GradientCSB", X, y, c, objective="adacost", **kwargs)
    assert all(np.diff([1.0, *gradient.losses]) < 0)
    # Its full steps use the descent up: in the end the slope -sum w (a f + b) is not below 0.
    assert gradient.stopped == "useless"
    k = c / c.max()
    fall = sum(
        alpha * (0.5 * y * f - 0.5 * k)
        for alpha, f in zip(gradient.alphas, gradient.h, strict=True)
    )
    w = c * s * np.exp(-fall)
    f = stump().fit(X, y, sample_weight=normalised(w)).predict(X)
    assert np.sum(normalised(w) * (0.5 * y * f - 0.5 * k)) < -1e-3


def test_adacost_cannot_start_from_equal_costs():
    """C = 1 throughout gives beta 0 to every right row, so r = -eps."""
    X, y, s, _ = make_rows(11)
    for name in ("AdaCost", "GradientCSB"):
        trace = votes.run(
            name, X, y, np.ones(len(y)), rounds=5, make_learner=stump, sample_weight=s,
            objective="adacost",
        )  # fmt: skip
        assert (trace.alphas, trace.stopped) == ([], "useless")


@pytest.mark.parametrize("init", ["uniform", "cost", "balanced"])
@pytest.mark.parametrize("name", [*votes.NAMES, "GradientCSB"])
def test_integer_weights_are_copies(name, init):
    X, y, _, rng = make_rows(12, n=60)
    c = np.where(y == 1, 3.0, 1.0) * rng.uniform(0.8, 1.2, size=len(y))
    copies = rng.integers(1, 4, size=len(y))
    kwargs = {"rounds": 5, "init": init}
    weighted = votes.run(name, X, y, c, make_learner=stump, sample_weight=copies, **kwargs)
    # The rules are replayed: integer weights tie, and a tie may be broken either way.
    rules = [np.repeat(h, copies) for h in [*weighted.h, -y]]
    X, y, c = (np.repeat(part, copies, axis=0) for part in (X, y, c))
    copied = votes.run(name, X, y, c, make_learner=votes.replay(rules), **kwargs)
    np.testing.assert_allclose(weighted.alphas, copied.alphas, atol=1e-11)


def test_initial_weights_by_hand():
    y, c, s = np.array([1, -1, -1]), np.array([5.0, 1.0, 2.0]), np.array([1.0, 1.0, 3.0])
    expected = {
        "uniform": ([1 / 3, 1 / 3, 1 / 3], [1 / 5, 1 / 5, 3 / 5]),
        "cost": ([5 / 8, 1 / 8, 2 / 8], [5 / 12, 1 / 12, 6 / 12]),
        "balanced": ([1 / 2, 1 / 4, 1 / 4], [1 / 2, 1 / 8, 3 / 8]),
    }
    for init, (plain, weighted) in expected.items():
        np.testing.assert_allclose(initial_weights(init, y, c), plain, atol=1e-15)
        np.testing.assert_allclose(initial_weights(init, y, c, s), weighted, atol=1e-15)


def test_a_perfect_gradient_step_is_capped_by_the_largest_a():
    y, c = np.array([1, 1, -1, -1]), np.array([4.0, 4.0, 1.0, 1.0])
    for objective, largest in (("adaboost", 1.0), ("adac1", 1.0), ("asymboost", 4.0)):
        trace = votes.run(
            "GradientCSB",
            np.zeros((4, 1)),
            y,
            c,
            rounds=2,
            make_learner=votes.replay([y]),
            objective=objective,
        )
        assert (trace.alphas, trace.stopped) == ([PERFECT / largest], "perfect")


# --- descent --------------------------------------------------------------------------------


@pytest.mark.slow
def test_cs_adaboost_with_equal_costs_is_adaboost():
    X, y, s, _ = make_rows(13)
    kwargs = {"rounds": 12, "sample_weight": s}
    blind = votes.run("AdaBoost", X, y, np.ones(len(y)), make_learner=stump, **kwargs)
    assert_same(descent.run_cs_adaboost(X, y, np.ones(len(y)), make_learner=stump, **kwargs), blind)
    # The exhaustive search picks the stump of least error, and gives it AdaBoost's vote.
    joint = descent.run_cs_adaboost_stumps(X, y, np.ones(len(y)), **kwargs)
    given = votes.run(
        "AdaBoost", X, y, np.ones(len(y)), make_learner=votes.replay(joint.h), **kwargs
    )
    assert_same(joint, given)
    for D, h in zip(joint.D, joint.h, strict=True):
        least = min(D[rule.predict(X) != y].sum() for rule in descent.stumps(X))
        np.testing.assert_allclose(D[h != y].sum(), least, atol=1e-12)


@pytest.mark.parametrize("ratio", [1.0, 5.0, 20.0])
def test_joint_search_solves_the_printed_equations(ratio):
    X, y, s, _ = make_rows(14, n=40, features=2)
    C1, C2 = ratio, 1.0
    c = np.where(y == 1, C1, C2)
    w = normalised(s)
    T_pos, T_neg = w[y == 1].sum(), w[y == -1].sum()
    found = descent.joint_search(X, y, c, w)
    for candidate in found:
        wrong = candidate.stump.predict(X) != y
        masses = (w[wrong & (y == 1)].sum(), w[wrong & (y == -1)].sum(), T_pos, T_neg, C1, C2)
        np.testing.assert_allclose(candidate.alpha, descent.alpha_equation_41(*masses), atol=1e-11)
        loss = descent.loss_equation_40(candidate.alpha, *masses)
        np.testing.assert_allclose(candidate.loss, loss, rtol=1e-12)
    # No stump at any step on a fine grid does better than the first.
    grid = np.linspace(-2.0, 2.0, 401)[:, None]
    for rule in descent.stumps(X):
        m = c * y * rule.predict(X)
        assert np.min(np.exp(-grid * m) @ w) >= found[0].loss - 1e-12


@pytest.mark.parametrize("per_row", [False, True])
def test_joint_search_beats_the_two_steps(per_row):
    X, y, s, rng = make_rows(15, n=60, features=2)
    c = rng.uniform(0.5, 5, size=len(y)) if per_row else np.where(y == 1, 5.0, 1.0)
    joint = descent.run_cs_adaboost_stumps(X, y, c, rounds=5, sample_weight=s)
    apart = descent.run_cs_adaboost(X, y, c, rounds=5, make_learner=stump, sample_weight=s)
    assert joint.losses[0] <= apart.losses[0] + 1e-12
    assert all(np.diff([1.0, *joint.losses]) < 0)
    w = descent.weights_at(joint.F[-1], y, c, normalised(s))
    np.testing.assert_allclose(w.sum(), joint.losses[-1], rtol=1e-12)


def test_perfect_and_useless_stumps():
    y = np.array([-1, -1, 1, 1])
    c = np.array([1.0, 1.0, 4.0, 4.0])
    trace = descent.run_cs_adaboost_stumps([[1.0], [2.0], [3.0], [4.0]], y, c, rounds=3)
    assert (trace.stopped, trace.alphas) == ("perfect", [PERFECT / 4.0])
    trace = descent.run_cs_adaboost_stumps(np.ones((4, 1)), y, c, rounds=3)
    assert (trace.stopped, trace.alphas) == ("useless", [])


def test_cs_realboost_bin_values_minimise_the_loss():
    X, y, s, _ = make_rows(16)
    codes = np.digitize(X, [-0.5, 0.5])
    C1, C2 = 5.0, 2.0
    trace = descent.run_cs_realboost(
        codes, y, C1, C2, rounds=4, smoothing=descent.no_smoothing, sample_weight=s
    )
    for D, table in zip(trace.D, trace.rules, strict=True):
        for k, G in enumerate(table.G):
            rows = codes[:, table.feature] == k
            P, N = D[rows & (y == 1)].sum(), D[rows & (y == -1)].sum()
            best = minimize_scalar(lambda g, P=P, N=N: P * np.exp(-C1 * g) + N * np.exp(C2 * g))
            np.testing.assert_allclose(G, best.x, atol=1e-6)
    assert all(np.diff([1.0, *trace.losses]) < 0)


def test_cs_realboost_with_unit_costs_is_realboost():
    """Half the log-odds of the bin."""
    X, y, s, _ = make_rows(17)
    codes = np.digitize(X, [0.0])
    trace = descent.run_cs_realboost(
        codes, y, 1.0, 1.0, rounds=3, smoothing=lambda total, bins: 0.01 * total / bins,
        sample_weight=s,
    )  # fmt: skip
    for D, table, h in zip(trace.D, trace.rules, trace.h, strict=True):
        for k in (0, 1):
            rows = codes[:, table.feature] == k
            P, N = D[rows & (y == 1)].sum() + 0.005, D[rows & (y == -1)].sum() + 0.005
            np.testing.assert_allclose(table.G[k], 0.5 * np.log(P / N), atol=1e-11)
            np.testing.assert_allclose(h[rows], table.G[k], atol=0)


def test_lines_are_scikit_learns():
    X, y, s, rng = make_rows(18)
    z = y + rng.normal(size=len(y))
    for error, line in descent.best_line(X, z, s):
        column = X[:, [line.feature]]
        theirs = LinearRegression().fit(column, z, sample_weight=s)
        np.testing.assert_allclose([line.slope], theirs.coef_, atol=1e-12)
        np.testing.assert_allclose(line.intercept, theirs.intercept_, atol=1e-12)
        np.testing.assert_allclose(error, np.sum(s * (z - theirs.predict(column)) ** 2))
    constant = descent.best_line(np.ones((len(y), 1)), z, s)[0][1]
    assert constant.slope == 0.0
    np.testing.assert_allclose(constant.intercept, np.average(z, weights=s))


@pytest.mark.parametrize("weighting", ["boundary", "newton"])
def test_cs_logitboost_with_unit_costs_is_logitboost(weighting):
    """Friedman's LogitBoost: F += G/2, p = 1/(1 + e^(-2F)), |z| at most 4."""
    X, y, s, _ = make_rows(19)
    trace = descent.run_cs_logitboost(
        X, y, 1.0, 1.0, rounds=5, weighting=weighting, sample_weight=s
    )
    F = np.zeros(len(y))
    for t in range(5):
        p = 1 / (1 + np.exp(-2 * F))
        z = np.clip(((y + 1) / 2 - p) / (p * (1 - p)), -4, 4)
        F += 0.5 * descent.best_line(X, z, s * p * (1 - p))[0][1].predict(X)
        np.testing.assert_allclose(trace.F[t], F, atol=1e-10)


def test_logistic_runs_take_costs_per_row():
    X, y, s, _ = make_rows(20)
    one = np.ones(len(y))
    lines = {"rounds": 3, "weighting": "newton", "learning_rate": 0.5, "sample_weight": s}
    trees = {"rounds": 3, "make_learner": regression_stump, "learning_rate": 0.5}
    for runner, kwargs in ((descent.run_cs_logitboost, lines), (descent.run_asybl, trees)):
        np.testing.assert_allclose(
            runner(X, y, 5.0 * one, 2.0 * one, **kwargs).F, runner(X, y, 5.0, 2.0, **kwargs).F
        )
        assert all(np.diff(runner(X, y, 5.0, 2.0, **kwargs).losses) < 0)


def test_asybl_loss_is_the_loss_of_its_scores():
    X, y, _, _ = make_rows(21)
    trace = descent.run_asybl(X, y, 5.0, 2.0, rounds=3, make_learner=regression_stump)
    for F, loss in zip(trace.F, trace.losses, strict=True):
        mean = np.mean(
            [losses.asymmetric_logistic(y_i, F_i, 5.0, 2.0) for y_i, F_i in zip(y, F, strict=True)]
        )
        np.testing.assert_allclose(loss, mean, rtol=1e-12)


# --- losses ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", losses.LOSSES)
@pytest.mark.parametrize("costs", [(1.0, 1.0), (5.0, 1.0), (2.0, 3.0)])
@pytest.mark.parametrize("p", [0.1, 0.5, 0.8])
def test_minimisers(name, costs, p):
    value, minimiser = losses.LOSSES[name]
    best = minimize_scalar(
        lambda F: losses.expected(value, p, F, *costs), bounds=(-4, 4), method="bounded",
        options={"xatol": 1e-10},
    )  # fmt: skip
    np.testing.assert_allclose(best.x, minimiser(p, *costs), atol=1e-6)
    # Bayes' rule: + exactly when p C1 >= (1-p) C2.
    assert (minimiser(p, *costs) >= 0) == (p * costs[0] >= (1 - p) * costs[1])


def test_links_invert_the_minimisers():
    for p in (0.05, 0.5, 0.9):
        F = losses.cs_minimiser(p, 5.0, 2.0)
        np.testing.assert_allclose(losses.cost_logistic_probability(F, 5.0, 2.0), p)
        F = losses.asy_minimiser(p, 5.0, 2.0)
        np.testing.assert_allclose(losses.asymmetric_logistic_probability(F, 5.0, 2.0), p)


@pytest.mark.parametrize("y", [-1, 1])
def test_unit_costs_give_the_parents(y):
    F = 0.37
    np.testing.assert_allclose(losses.cost_exponential(y, F, 1, 1), math.exp(-y * F))
    np.testing.assert_allclose(losses.weighted_exponential(y, F, 1, 1), math.exp(-y * F))
    np.testing.assert_allclose(losses.cost_logistic(y, F, 1, 1), math.log1p(math.exp(-2 * y * F)))
    np.testing.assert_allclose(
        losses.asymmetric_logistic(y, F, 1, 1), math.log1p(math.exp(-2 * y * F))
    )
