"""The plain multi-class references hold against hand-worked numbers and their own laws."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from reference import PERFECT, multiclass, normalised, pnorm, votes

EXACT = {"rtol": 0, "atol": 1e-12}
CLOSE = {"rtol": 0, "atol": 1e-9}
ROW_LOSSES = {**multiclass.LOSSES, "p1": multiclass.PNorm(1), "p3": multiclass.PNorm(3)}


def tree():
    return DecisionTreeClassifier(max_leaf_nodes=6, random_state=0)


def make_rows(seed=0, n=30, k=3, shift=1.5):
    """Rows that say something of their class, and costs per row, drawn without ties."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, k, size=n)
    X = rng.normal(size=(n, 3))
    X[:, 0] += shift * codes
    C = rng.uniform(0.5, 5.0, size=(n, k))
    C[np.arange(n), codes] = 0.0
    return X, C, codes, rng


def random_rules(rng, n, k, rounds):
    return [rng.integers(0, 2, size=(n, k)).astype(float) for _ in range(rounds)]


def better_rules(rng, codes, k, rounds):
    """Rules that claim the right class most of the time and few others."""
    rules = []
    for _ in range(rounds):
        h = (rng.random((len(codes), k)) < 0.2).astype(float)
        h[np.arange(len(codes)), codes] = rng.random(len(codes)) < 0.8
        rules.append(h)
    return rules


def symmetric(rng, k):
    A = np.triu(rng.uniform(1.0, 10.0, size=(k, k)), 1)
    return A + A.T


# --- by hand --------------------------------------------------------------------------------


def run_worked(name, worked):
    variant, _, step = name.partition("-")
    make_learner = pnorm.replay(worked.h)
    if variant == "gbse":
        return pnorm.run_gbse(worked.C, rounds=2, make_learner=make_learner)
    return pnorm.run_lp_csb(
        worked.C, p=2, rounds=2, variant=variant, step=step, make_learner=make_learner
    )


@pytest.mark.parametrize("name", pnorm.WORKED)
def test_pairs_agree_with_the_hand(name):
    worked = pnorm.WORKED[name]
    trace = run_worked(name, worked)
    assert trace.stopped == "rounds"
    np.testing.assert_allclose(trace.alphas, worked.alphas, **EXACT)
    for t in range(2):
        used = np.asarray(worked.weights[t]) > 0
        np.testing.assert_allclose(trace.weights[t], normalised(worked.weights[t]), **EXACT)
        np.testing.assert_array_equal(trace.labels[t][used], np.asarray(worked.labels[t])[used])
        np.testing.assert_array_equal(trace.h[t], worked.h[t])
        np.testing.assert_allclose(trace.H[t], worked.H[t], **EXACT)
    if name == "relational-harmonic":
        assert trace.losses[-1] == pytest.approx(2.5)
    np.testing.assert_allclose(pnorm.score(trace, np.zeros((3, 0))), trace.H[-1], **EXACT)


def test_a_step_that_would_raise_the_loss_is_useless():
    # With the h_2 of the harmonic example, sum 2 H C (h - H) in 1/72^2 is twice
    # -26^2 + 3*23*49 - 2*23^2 - 2*26^2 + 4*23*49 - 23^2 = 4274 > 0: Eq. 10 is negative.
    worked = pnorm.WORKED["relational-harmonic"]
    trace = pnorm.run_lp_csb(
        worked.C, p=2, rounds=2, step="bound", make_learner=pnorm.replay(worked.h)
    )
    assert trace.stopped == "useless"
    np.testing.assert_allclose(trace.alphas, [1 / 24], **EXACT)


def test_votes_of_pairs_by_hand():
    # C as above: D = 0 1 3 / 2 0 2 / 4 1 0 over 13. h = 1 1 0 / 0 1 1 / 0 0 1 gives
    # u = . 0 1 / 1 . 0 / 1 1 .: masses 0: 1 + 2 = 3, +1: 10. eps = 3/26.
    C, h = pnorm.Worked.C, pnorm.WORKED["relational-harmonic"].h[0]
    again = (h, np.eye(3))
    u0, right = math.sqrt(23 / 3), normalised([[4, 1, 3], [2, 4, 2], [4, 1, 5]])
    m2 = pnorm.run_votes("AdaBoostM2", C, rounds=2, make_learner=pnorm.replay(again))
    np.testing.assert_allclose(m2.weights[0], right, **EXACT)
    np.testing.assert_allclose(m2.alphas, [0.5 * math.log(23 / 3), PERFECT], **EXACT)
    # Pairs with u = 1 shrink by sqrt(23/3); the other two grow against them by that.
    D = np.array([[0, u0, 3], [2, 0, 2 * u0], [4, 1, 0]])
    np.testing.assert_allclose(
        m2.weights[1], normalised(pnorm.relational_pairs(D, [0, 1, 2])[0]), **EXACT
    )
    assert m2.stopped == "perfect"
    np.testing.assert_allclose(m2.H[-1], m2.alphas[0] * np.array(h) + PERFECT * np.eye(3), **EXACT)
    # CSB2, c = C (least cost 1): besides, pairs with u = 0 are multiplied by (1 + c)/2: 1 and 3/2.
    csb2 = pnorm.run_votes("CSB2M2", C, rounds=2, make_learner=pnorm.replay(again))
    D[1, 2] *= 1.5
    np.testing.assert_allclose(csb2.alphas, m2.alphas, **EXACT)
    np.testing.assert_allclose(
        csb2.weights[1], normalised(pnorm.relational_pairs(D, [0, 1, 2])[0]), **EXACT
    )
    # AdaCost, c = C/4: m = (1 - c)/2 where u = 1: 1/8 1/4 0 3/8 at costs 3, 2, 4, 1; r = sum D m =
    # (3/8 + 2/4 + 0 + 3/8)/13 = 5/52.
    ada = pnorm.run_votes("AdaCostM2", C, rounds=1, make_learner=pnorm.replay(again))
    np.testing.assert_allclose(ada.alphas, [0.5 * math.log(57 / 47)], **EXACT)


def test_sampling_probabilities_by_hand():
    # max - C: 3 2 0 / 0 2 0 / 0 3 4, sum 14. Means off y*: 2, 2, 5/2.
    C = pnorm.Worked.C
    np.testing.assert_allclose(
        pnorm.dse_probabilities(C), normalised([[3, 2, 0], [0, 2, 0], [0, 3, 4]]), **EXACT
    )
    np.testing.assert_allclose(pnorm.costing_probabilities(C), [0.8, 0.8, 1.0], **EXACT)
    np.testing.assert_allclose(
        pnorm.costing_probabilities(C, sample_weight=[1, 2, 1]), [0.5, 1.0, 0.625], **EXACT
    )


def test_mcboost_agrees_with_the_hand():
    worked = multiclass.WORKED
    trace = multiclass.run_mcboost(worked.C, worked.X, loss="gel", rounds=1, words=worked.words)
    np.testing.assert_allclose(multiclass.codewords(3), worked.words, **EXACT)
    np.testing.assert_allclose(trace.w[0], worked.w, **EXACT)
    np.testing.assert_array_equal(trace.targets[0], [1, -1, -1])
    np.testing.assert_allclose(trace.weights[0], [0.6, 0.2, 0.2], **EXACT)
    np.testing.assert_allclose(trace.g[0], worked.g, **EXACT)
    np.testing.assert_allclose(trace.alphas[0], worked.alpha, **EXACT)
    np.testing.assert_allclose(trace.f[0], np.column_stack([worked.f, np.zeros(3)]), **EXACT)
    np.testing.assert_allclose(trace.S[0], worked.S, **EXACT)
    start = multiclass.total(multiclass.GEL(), range(3), np.zeros((3, 3)), worked.C)
    np.testing.assert_allclose([start, trace.losses[0]], worked.losses, **EXACT)


def test_points_of_paper_4():
    # Section 3: [3, 2, -5] is right and costs Ls about 7.4, guessing 2. Figure 3(c): the costs 1
    # and 10 make GLL prefer [1.5, 2, -3.5] to guessing.
    unit, guess, G = np.array([0.0, 1.0, 1.0]), np.zeros(3), np.array([3.0, 2.0, -5.0])
    loss = multiclass.LOSSES
    assert loss["ls"].value(0, G, unit) == pytest.approx(7.4, abs=0.01)
    assert loss["ls"].value(0, guess, unit) == 2.0
    assert loss["lt"].value(0, G, unit) > loss["lt"].value(0, guess, unit) == 6.0
    for name in ("mc", "gel", "gll"):
        assert loss[name].value(0, G, unit) < loss[name].value(0, guess, unit)
    skewed, H = np.array([0.0, 1.0, 10.0]), np.array([1.5, 2.0, -3.5])
    assert loss["gll"].value(0, H, skewed) < loss["gll"].value(0, guess, skewed)


# --- losses ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ROW_LOSSES)
@pytest.mark.parametrize("k", [2, 3, 5])
def test_derivatives_equal_finite_differences(name, k):
    loss, rng = ROW_LOSSES[name], np.random.default_rng(k)
    for z in range(k):
        S, C = rng.uniform(0.1, 1.5, size=k), rng.uniform(0.5, 3.0, size=k)
        C[z] = 0.0
        for j in range(k):
            e = 1e-4 * np.eye(k)[j]
            up, middle, down = (loss.value(z, S + t * e, C) for t in (1, 0, -1))
            np.testing.assert_allclose(
                loss.gradient(z, S, C)[j], (up - down) / 2e-4, rtol=1e-6, atol=1e-6
            )
            np.testing.assert_allclose(
                loss.hessian(z, S, C)[j], (up - 2 * middle + down) / 1e-8, rtol=1e-4, atol=1e-4
            )


def test_losses_with_two_classes_are_the_binary_ones():
    for z, y in ((0, 1), (1, -1)):
        for F in (-1.3, 0.0, 0.8):
            S, C = np.array([F / 2, -F / 2]), np.array([0.0, 0.0])
            C[1 - z] = 3.0
            value = {name: loss.value(z, S, C) for name, loss in multiclass.LOSSES.items()}
            assert value["gel"] == pytest.approx(3 * math.exp(-y * F))
            assert value["mc"] == pytest.approx(1 + math.exp(-y * F))
            assert value["gll"] == pytest.approx(math.log(1 + 3 * math.exp(-y * F)))
            assert value["ls"] == pytest.approx(3 * math.exp(-y * F / 2))
            assert value["lt"] == pytest.approx(3 * math.exp(-y * F) + 3)


# --- GEL and symmetric matrices (paper 4, Appendix C) ---------------------------------------


@pytest.mark.parametrize("k", [2, 3, 4, 6])
def test_gel_risk_is_blind_to_symmetric_matrices(k):
    """The least GEL risk of one x is at S = 1/2 ln eta for every symmetric matrix, as for MC."""
    rng = np.random.default_rng(k)
    for _ in range(5):
        eta = rng.dirichlet(np.full(k, 2.0)) * 0.9 + 0.1 / k
        S = multiclass.gel_minimiser(eta)
        np.testing.assert_allclose(multiclass.posteriors([S])[0], eta, **EXACT)
        cost_blind = 1.0 - np.eye(k)
        for C in (symmetric(rng, k), symmetric(rng, k), cost_blind):
            gradient = sum(eta[z] * multiclass.GEL().gradient(z, S, C[z]) for z in range(k))
            np.testing.assert_allclose(gradient, 0.0, atol=1e-12)
            np.testing.assert_allclose(
                multiclass.risk_minimiser(multiclass.GEL(), eta, C), S, atol=1e-6
            )
        np.testing.assert_allclose(
            multiclass.risk_minimiser(multiclass.MC(), eta, cost_blind), S, atol=1e-6
        )


def test_gel_is_blind_to_symmetric_matrices_only():
    """An asymmetric entry moves the minimiser; what a and b do to it is in closed form."""
    rng = np.random.default_rng(0)
    eta, A = np.array([0.5, 0.3, 0.2]), symmetric(rng, 3)
    C = A.copy()
    C[0, 1] *= 2.0
    moved = multiclass.risk_minimiser(multiclass.GEL(), eta, C)
    assert np.abs(moved - multiclass.gel_minimiser(eta)).max() > 0.05
    a, b = rng.uniform(0.5, 3.0, size=3), rng.uniform(0.5, 3.0, size=3)
    np.testing.assert_allclose(
        multiclass.risk_minimiser(multiclass.GEL(), eta, a[:, None] * A * b),
        multiclass.gel_minimiser(eta, a, b),
        atol=1e-6,
    )
    # Two classes are always of this form: S_0 - S_1 = 1/2 ln(eta_0 C_01/(eta_1 C_10)).
    S = multiclass.risk_minimiser(multiclass.GEL(), [0.4, 0.6], np.array([[0, 5.0], [2.0, 0]]))
    assert S[0] - S[1] == pytest.approx(0.5 * math.log(0.4 * 5 / (0.6 * 2)), abs=1e-6)


def test_a_disconnected_matrix_leaves_gel_undecided():
    """Classes 0, 1 and 2, 3 never cost each other: shifting one pair's scores costs nothing."""
    eta = np.array([0.4, 0.3, 0.2, 0.1])
    C = np.zeros((4, 4))
    C[0, 1] = C[1, 0] = 2.0
    C[2, 3] = C[3, 2] = 5.0
    S = multiclass.gel_minimiser(eta)
    shifted = S + np.array([1.0, 1.0, 0.0, 0.0])
    gel = multiclass.GEL()
    assert multiclass.risk(gel, eta, S, C) == pytest.approx(multiclass.risk(gel, eta, shifted, C))


def test_gel_decides_by_odds_where_costs_should_tell():
    """With a symmetric matrix GEL takes the likeliest class, whatever Bayes' rule says."""
    eta = np.array([0.4, 0.35, 0.25])
    C = np.array([[0.0, 10.0, 10.0], [10.0, 0.0, 1.0], [10.0, 1.0, 0.0]])
    assert multiclass.bayes(eta[None], C)[0] == 1  # costs 6, 4.25, 4.35
    assert multiclass.risk_minimiser(multiclass.GEL(), eta, C).argmax() == 0
    assert multiclass.risk_minimiser(multiclass.GLL(), eta, C).argmax() == 1
    assert multiclass.risk_minimiser(multiclass.Ls(), eta, C).argmax() == 1
    assert multiclass.risk_minimiser(multiclass.Lt(), eta, C).argmax() == 1


def cells():
    """Return (X, z, eta, s): three places x with all three classes at the weights s = eta(z|x)."""
    eta = np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.1, 0.6, 0.3]])
    z = np.tile([0, 1, 2], 3)
    return np.repeat([[0.0], [1.0], [2.0]], 3, axis=0), z, eta, eta.ravel()


@pytest.mark.parametrize("seed", [0, 1])
def test_fit_that_can_reach_the_minimum_forgets_a_symmetric_matrix(seed):
    """On every x: S = 1/2 ln of the odds among the rows there, however the matrix was drawn."""
    X, z, eta, s = cells()
    C = symmetric(np.random.default_rng(seed), 3)[z]
    trace = multiclass.run_mcboost(
        C,
        X,
        loss="gel",
        rounds=30,
        make_learner=lambda: DecisionTreeRegressor(random_state=0),
        sample_weight=s,
    )
    expected = [multiclass.gel_minimiser(odds) for odds in eta]
    np.testing.assert_allclose(trace.S[-1][::3], expected, atol=1e-6)


def test_fit_that_cannot_reach_the_minimum_remembers_it():
    """Three places need three values, a line has two: the best compromise depends on the matrix."""
    X, z, _, s = cells()
    ends = []
    for seed in (0, 1):
        C = symmetric(np.random.default_rng(seed), 3)[z]
        trace = multiclass.run_mcboost(C, X, loss="gel", rounds=30, sample_weight=s)
        assert trace.losses[-20] - trace.losses[-1] < 1e-6 * trace.losses[-1]
        ends.append(trace.S[-1])
    assert np.abs(ends[0] - ends[1]).max() > 0.01


# --- MCBoost --------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 4, 7, 26])
def test_codewords(k):
    words = multiclass.codewords(k)
    assert multiclass.codewords_error(words) < 1e-12
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(k - 1, k - 1)))
    assert multiclass.codewords_error(words @ turn) < 1e-12
    assert multiclass.codewords_error(1.01 * words) > 0.01
    f = np.random.default_rng(1).normal(size=(4, k - 1))
    np.testing.assert_allclose(multiclass.scores(f, words), f @ words.T / 2, **EXACT)
    with pytest.raises(ValueError, match="codewords of"):
        multiclass.codewords_error(np.eye(k))


@pytest.mark.parametrize("name", multiclass.LOSSES)
def test_mcboost_descends_by_exact_steps(name):
    X, C, codes, rng = make_rows(n=20, k=4, shift=0.3)
    s = rng.uniform(0.5, 1.5, size=20)
    loss = multiclass.LOSSES[name]
    trace = multiclass.run_mcboost(C, X, loss=name, rounds=2, sample_weight=s)
    assert len(trace.alphas) == 6
    assert all(alpha > 0 for alpha in trace.alphas)
    assert all(after < before for before, after in pairwise(trace.losses))
    for r in range(6):
        before = trace.f[r - 1] if r else np.zeros((20, 3))

        def moved(alpha, f=before, r=r):
            f = f.copy()
            f[:, r % 3] += alpha * trace.g[r]
            return multiclass.total(loss, codes, multiclass.scores(f, trace.words), C, s)

        # w is the derivative of the summed loss with respect to f_r(x_i).
        slope = (moved(1e-5) - moved(-1e-5)) / 2e-5
        np.testing.assert_allclose(trace.w[r] @ trace.g[r], slope, rtol=1e-6)
        if r % 3 == 0:
            best = minimize_scalar(moved, bracket=(0.0, 1.0), options={"xtol": 1e-9})
            assert trace.alphas[r] == pytest.approx(best.x, abs=1e-5)
        # The line is scikit-learn's on that feature, and no other feature has a better one.
        errors = []
        for feature in range(3):
            fit = LinearRegression().fit(X[:, [feature]], trace.targets[r], trace.weights[r])
            g = fit.predict(X[:, [feature]])
            errors.append(trace.weights[r] @ (trace.targets[r] - g) ** 2)
            if trace.rules[r].line.feature == feature:
                np.testing.assert_allclose(trace.g[r], g, **CLOSE)
        assert int(np.argmin(errors)) == trace.rules[r].line.feature
    np.testing.assert_allclose(trace.score(X), trace.S[-1], **EXACT)


def test_mcboost_replay_repeats_the_run():
    X, C, codes, _ = make_rows(n=20)
    one = multiclass.run_mcboost(C, X, loss="gll", rounds=3, learning_rate=0.5)
    other = multiclass.run_mcboost(
        C,
        loss="gll",
        rounds=3,
        learning_rate=0.5,
        make_learner=votes.replay(one.g),
        codes=codes,
    )
    np.testing.assert_array_equal(one.alphas, other.alphas)
    np.testing.assert_array_equal(one.S, other.S)


def test_mcboost_ends_where_nothing_moves():
    """One place, two classes at equal odds and costs: no rule helps."""
    C = np.array([[0.0, 1.0], [1.0, 0.0]])
    trace = multiclass.run_mcboost(C, loss="gel", rounds=5)
    assert (trace.stopped, trace.alphas, trace.S) == ("useless", [], [])
    # And where all is right at once the step is that of a perfect vote.
    trace = multiclass.run_mcboost(C, [[1.0], [-1.0]], loss="gel", rounds=1)
    np.testing.assert_allclose(trace.alphas, [PERFECT], **EXACT)


@pytest.mark.parametrize(("loss", "name"), [("mc", "AdaBoost"), ("gel", "AdaBoostC")])
def test_mcboost_with_two_classes_is_binary_boosting(loss, name):
    """Rules in -1, +1 make every exact step the vote of AdaBoost: class 0 is +."""
    X, C, codes, _ = make_rows(n=40, k=2)
    y, c = np.where(codes == 0, 1, -1), C.max(axis=1)

    def stump():
        return DecisionTreeClassifier(max_depth=1, random_state=0)

    binary = votes.run(name, X, y, c, rounds=6, make_learner=stump)
    multi = multiclass.run_mcboost(C, X, loss=loss, rounds=6, make_learner=stump)
    np.testing.assert_allclose(multi.alphas, binary.alphas, **CLOSE)
    np.testing.assert_allclose(multi.weights, binary.D, **CLOSE)
    np.testing.assert_allclose([S[:, 0] - S[:, 1] for S in multi.S], binary.F, **CLOSE)


# --- p-norm: laws ---------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["relational", "adjusted"])
def test_weights_of_p_1_never_change(variant):
    X, C, _, rng = make_rows()
    rules = random_rules(rng, 30, 3, 4)
    for step in ("harmonic", "bound"):
        trace = pnorm.run_lp_csb(
            C, X, p=1, rounds=4, variant=variant, step=step, make_learner=pnorm.replay(rules)
        )
        for t in range(4):
            np.testing.assert_allclose(trace.weights[t], trace.weights[0], **EXACT)
        np.testing.assert_allclose(trace.alphas, [1, 1 / 2, 1 / 3, 1 / 4], **EXACT)
        np.testing.assert_allclose(trace.H[-1], np.mean(trace.f, axis=0), **EXACT)


def test_average_cost_is_adjusted_p_1_and_gbse_at_first():
    X, C, _, _ = make_rows()
    one = pnorm.run_lp_csb(C, X, p=1, rounds=2, variant="adjusted", make_learner=tree)
    other = pnorm.run_average_cost(C, X, rounds=2, make_learner=tree)
    gbse = pnorm.run_gbse(C, X, rounds=2, make_learner=tree)
    np.testing.assert_allclose(one.weights, other.weights, **EXACT)
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_allclose(one.H, other.H, **EXACT)
    # At H = 1/k, GBSE's pairs are those of the adjusted variant for any p; later they differ.
    np.testing.assert_allclose(gbse.weights[0], one.weights[0], **EXACT)
    np.testing.assert_array_equal(gbse.labels[0], one.labels[0])
    assert np.abs(gbse.weights[1] - one.weights[1]).max() > 1e-3


@pytest.mark.parametrize("k", [2, 3, 5])
def test_errors_on_pairs_are_the_losses_they_stand_for(k):
    """Weighted errors equal the pseudo-loss, the loss (Prop. 3.1), DSE's and GBSE's aims."""
    _, C, codes, rng = make_rows(n=12, k=k)
    H = rng.dirichlet(np.ones(k), size=12)
    w = pnorm.norm_weights(H, C, 3)
    np.testing.assert_allclose(w, H**2 * C, **EXACT)
    rows = np.arange(12)

    def error(pairs, h):
        weights, labels = pairs
        return float(weights[h != labels].sum())

    relational, adjusted = pnorm.relational_pairs(w, codes), pnorm.adjusted_pairs(w, codes)
    gbse = pnorm.gbse_pairs(H, C)
    assert all((pairs[0] >= 0).all() for pairs in (relational, adjusted, gbse))
    constants: dict[str, list[float]] = {"adjusted": [], "dse": [], "gbse": []}
    for _ in range(8):
        h = rng.integers(0, 2, size=(12, k))
        pseudo = 0.5 * (w * (1 - h[rows, codes][:, None] + h)).sum()
        assert error(relational, h) == pytest.approx(pseudo)
        classes = rng.integers(0, k, size=12)
        f = pnorm.one_hot(classes, k)
        # Flipping a label adds a constant; errors on pairs are half the pseudo-loss.
        constants["adjusted"].append(2 * error(adjusted, f) - (w * f).sum())
        constants["dse"].append(
            ((w.max(axis=1, keepdims=True) - w) * (1 - f)).sum() - (w * f).sum()
        )
        constants["gbse"].append(error(gbse, f) - (C * f).sum())
    for values in constants.values():
        np.testing.assert_allclose(values, values[0], **CLOSE)


@pytest.mark.parametrize("p", [1, 2, 3, 5])
@pytest.mark.parametrize("variant", ["relational", "adjusted"])
def test_scores_of_a_run(variant, p):
    X, C, codes, _ = make_rows()
    trace = pnorm.run_lp_csb(C, X, p=p, rounds=4, variant=variant, make_learner=tree)
    np.testing.assert_allclose(pnorm.score(trace, X), trace.H[-1], **EXACT)
    again = pnorm.run_lp_csb(
        C, p=p, rounds=4, variant=variant, make_learner=pnorm.replay(trace.h), codes=codes
    )
    np.testing.assert_array_equal(again.H, trace.H)
    for t in range(len(trace.alphas)):
        assert trace.weights[t].sum() == pytest.approx(1.0)
        H = trace.H[t - 1] if t else np.full_like(C, 1 / 3)
        plain = (trace.labels[t] == 0) & (trace.weights[t] > 1e-12)
        if variant == "relational":
            ratio = trace.weights[t][plain] / (H ** (p - 1) * C)[plain]
            np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
        else:
            np.testing.assert_allclose(trace.H[t].sum(axis=1), 1.0, **EXACT)
    assert trace.losses[-1] == pytest.approx((trace.H[-1] ** p * C).sum())


@pytest.mark.parametrize("p", [2, 3, 4.5])
def test_bound_steps_never_raise_the_loss(p):
    _, C, codes, rng = make_rows(n=15)
    rules = [np.where(rng.random(15) < 0.7, codes, rng.integers(0, 3, 15)) for _ in range(8)]
    trace = pnorm.run_lp_csb(
        C,
        p=p,
        rounds=8,
        variant="direct",
        step="bound",
        make_component=pnorm.replay_classes(rules),
    )
    assert all(after < before for before, after in pairwise(trace.losses))
    for t, alpha in enumerate(trace.alphas):
        H = trace.H[t - 1] if t else np.full_like(C, 1 / 3)
        move = trace.f[t] - H
        M = C.max() * p * (p - 1) * 2 ** (p - 2)
        assert alpha == pytest.approx(
            np.clip(-(p * H ** (p - 1) * C * move).sum() / (M * (move**2).sum()), 0, 1)
        )


def test_a_rule_without_fault_leaves_no_weight():
    _, C, codes, _ = make_rows()
    perfect = [np.eye(3)[codes]] * 3
    trace = pnorm.run_lp_csb(C, p=2, rounds=3, make_learner=pnorm.replay(perfect))
    assert (trace.stopped, trace.alphas, trace.losses) == ("perfect", [1.0], [0.0])


RUNS = {
    "relational": lambda C, X, **more: pnorm.run_lp_csb(C, X, p=2, **more),
    "relational-bound": lambda C, X, **more: pnorm.run_lp_csb(C, X, p=3, step="bound", **more),
    "adjusted": lambda C, X, **more: pnorm.run_lp_csb(C, X, p=2, variant="adjusted", **more),
    "gbse": pnorm.run_gbse,
    "average": pnorm.run_average_cost,
    **{
        name: lambda C, X, name=name, **more: pnorm.run_votes(name, C, X, **more)
        for name in pnorm.VOTES
    },
}


@pytest.mark.parametrize("name", RUNS)
def test_weight_2_is_the_row_twice(name):
    X, C, codes, rng = make_rows(n=12)
    s = rng.integers(1, 3, size=12)
    twice = np.repeat(np.arange(12), s)
    rules = better_rules(rng, codes, 3, 4)
    one = RUNS[name](C, X, rounds=4, make_learner=pnorm.replay(rules), sample_weight=s)
    other = RUNS[name](
        C[twice], X[twice], rounds=4, make_learner=pnorm.replay([h[twice] for h in rules])
    )
    assert len(one.alphas) > 0
    assert one.stopped == other.stopped
    np.testing.assert_allclose(one.alphas, other.alphas, **CLOSE)
    np.testing.assert_allclose([H[twice] for H in one.H], other.H, **CLOSE)
    spread = [(w / s[:, None])[twice] for w in one.weights]
    np.testing.assert_allclose(spread, other.weights, **CLOSE)


def test_rows_that_are_not_reduced_are_refused():
    with pytest.raises(ValueError, match="row 0 of C is not reduced"):
        pnorm.run_gbse([[1.0, 2.0]], rounds=1, make_learner=tree)
    with pytest.raises(ValueError, match="cheapest class 0"):
        pnorm.run_gbse([[2.0, 0.0]], rounds=1, make_learner=tree, codes=[0])
    np.testing.assert_array_equal(pnorm.cheapest([[0, 0, 1], [2, 1, 0]]), [0, 2])


# --- AdaBoost.M2 and the two built on it ----------------------------------------------------


@pytest.mark.parametrize(
    ("name", "binary"), [("AdaBoostM2", "AdaBoostC"), ("AdaCostM2", "AdaCost"), ("CSB2M2", "CSB2")]
)
def test_votes_with_two_classes_are_the_binary_ones(name, binary):
    """Rules that claim exactly one class: u = y h, and the margin H_1 - H_0 is F."""
    X, C, codes, rng = make_rows(n=40, k=2)
    y, c = np.where(codes == 1, 1, -1), C.max(axis=1)
    outputs = [np.where(rng.random(40) < 0.95, y, -y) for _ in range(6)]
    pairs = [pnorm.one_hot((h + 1) // 2, 2) for h in outputs]
    one = pnorm.run_votes(name, C, rounds=6, make_learner=pnorm.replay(pairs))
    other = votes.run(
        binary, X, y, c, rounds=6, make_learner=votes.replay(outputs), floor=pnorm.FLOOR
    )
    assert len(one.alphas) > 0
    assert one.stopped == other.stopped
    np.testing.assert_allclose(one.alphas, other.alphas, **CLOSE)
    np.testing.assert_allclose([H[:, 1] - H[:, 0] for H in one.H], other.F, **CLOSE)
    np.testing.assert_allclose([w.sum(axis=1) for w in one.weights], other.D, **CLOSE)


def test_equal_costs_make_csb2_m2_and_halve_the_margins_of_adacost():
    _, C, codes, rng = make_rows()
    C = (C > 0).astype(float) * 7.0
    rules = better_rules(rng, codes, 3, 5)
    traces = {
        name: pnorm.run_votes(name, C, rounds=5, make_learner=pnorm.replay(rules))
        for name in pnorm.VOTES
    }
    blind = pnorm.run_votes(
        "AdaBoostM2", C, rounds=5, make_learner=pnorm.replay(rules), init="uniform"
    )
    np.testing.assert_allclose(traces["AdaBoostM2"].H, blind.H, **CLOSE)
    np.testing.assert_allclose(traces["CSB2M2"].H, blind.H, **CLOSE)
    D = normalised(C)
    u = np.array([rules[0][i, codes[i]] - rules[0][i] for i in range(30)])
    r = (D * u / 2).sum()
    assert traces["AdaCostM2"].alphas[0] == pytest.approx(0.5 * math.log((1 + r) / (1 - r)))


@pytest.mark.parametrize("name", pnorm.VOTES)
@pytest.mark.parametrize("init", ["cost", "uniform"])
def test_votes_of_pairs_with_trees(name, init):
    X, C, codes, _ = make_rows(n=40)
    C[::4] = np.where(np.arange(3) == (codes[::4, None] + 1) % 3, 0.0, C[::4])  # some pairs free
    trace = pnorm.run_votes(name, C, X, rounds=4, make_learner=tree, init=init, codes=codes)
    assert len(trace.alphas) > 0
    np.testing.assert_allclose(pnorm.score(trace, X), trace.H[-1], **CLOSE)
    rows = np.arange(40)
    for t, weights in enumerate(trace.weights):
        assert weights.sum() == pytest.approx(1.0)
        D = 2 * weights
        D[rows, codes] = 0.0
        np.testing.assert_allclose(weights[rows, codes], D.sum(axis=1) / 2, **EXACT)
        np.testing.assert_array_equal(trace.labels[t], np.eye(3)[codes])
        if init == "cost":
            assert (D[C == 0] == 0).all()
        if name != "AdaCostM2" and t == 0:
            eps = (D * (1 - trace.h[t][rows, codes][:, None] + trace.h[t])).sum() / 2
            assert trace.alphas[t] == pytest.approx(0.5 * math.log((1 - eps) / eps))
            # The pseudo-error is the weighted error on the pairs.
            assert eps == pytest.approx(weights[trace.h[t] != trace.labels[t]].sum())


def test_m2_has_no_use_for_the_rule_of_the_round_before():
    """Where u is -1 or +1 everywhere, the update brings its sum D u to 0."""
    _, C, codes, rng = make_rows(n=20)
    right = rng.random(20) < 0.7
    rule = np.where(right[:, None], np.eye(3)[codes], 1 - np.eye(3)[codes])
    trace = pnorm.run_votes("AdaBoostM2", C, rounds=2, make_learner=pnorm.replay([rule, rule]))
    assert (trace.stopped, len(trace.alphas)) == ("useless", 1)


# --- Theorem 4.2 ----------------------------------------------------------------------------


@pytest.mark.parametrize("p", [2, 3, 4, 5, 2.5])
def test_theorem_42_holds_from_p_2_on(p):
    rng = np.random.default_rng(int(10 * p))
    for _ in range(6):
        n, k = rng.integers(2, 7), rng.integers(2, 5)
        C = rng.exponential(size=(n, k))
        C[np.arange(n), rng.integers(0, k, size=n)] = 0.0
        hypotheses = [rng.integers(0, k, size=n) for _ in range(rng.integers(2, 7))]
        rate = pnorm.theorem_42(C, hypotheses, p, rounds=20)
        assert rate.upper - rate.lower < 1e-6
        assert (rate.gaps <= rate.bounds).all()
        np.testing.assert_allclose(rate.bounds[0], 3 * pnorm.smoothness(C, p))


def test_theorem_42_converges():
    """The right rule is the even mixture of three, each wrong on a third of the rows."""
    C = 1.0 - np.eye(3)
    hypotheses = [np.array(h) for h in ([1, 1, 2], [0, 2, 2], [0, 1, 0])]
    rate = pnorm.theorem_42(C, hypotheses, 2, rounds=60)
    # H(y*) = 2/3 and 1/3 elsewhere on every row: L = 1/9.
    assert rate.lower == pytest.approx(1 / 9, abs=1e-7)
    assert rate.gaps[-1] < 1e-2 < rate.gaps[0]


def test_theorem_42_fails_below_p_2():
    """H^(p-1) is not Lipschitz at 0 for 1 < p < 2: the run cycles for ever.

    One row, C = 3 0 1, the rules "0" and "2", p = 1.1. At H = "2", w = 0^0.1 * 3 = 0 on class 0:
    "0" looks free. M = 3 * 1.1 * 0.1/2^0.9 = 0.177, alpha = 1.1/(2 M) = 3.1, clipped to 1. At
    H = "0", "2" looks free, alpha = 3.3/(2 M), clipped to 1. L is 1, 3, 1, 3, ...
    """
    rate = pnorm.theorem_42([[3.0, 0.0, 1.0]], [np.array([0]), np.array([2])], 1.1, rounds=12)
    np.testing.assert_allclose(rate.alphas, 1.0)
    np.testing.assert_allclose(rate.gaps + rate.lower, [1.0, 3.0] * 6)
    assert rate.upper - rate.lower < 1e-4
    assert rate.gaps[-1] > 10 * rate.bounds[-1]


def test_theorem_42_may_start_below_the_infimum():
    """H_0 = 1/k need not be a mixture of the rules; if it is better than all, nothing moves."""
    rate = pnorm.theorem_42([[0.0, 1.0, 1.0]], [np.array([1]), np.array([2])], 2, rounds=3)
    assert (rate.stopped, rate.alphas) == ("useless", [])
    np.testing.assert_allclose(rate.gaps, 2 / 9 - 1 / 2, atol=1e-7)
