"""Weak learners against exhaustive search, plain loops and scikit-learn."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from costboost.learners import (
    BUILT_IN,
    Aim,
    Histogram,
    Line,
    Perceptron,
    Rows,
    SklearnLearner,
    Stump,
    Tree,
    resolve,
)
from costboost.learners.base import ConstantRule, JointVotes, LeastSquares, LogRatio, Votes
from costboost.learners.steps import bin_edges
from reference import descent

CRITERIA = {
    "votes": Votes(),
    "least squares": LeastSquares(),
    "log ratio": LogRatio(3.0, 1.0, 1e-3),
    "joint votes": JointVotes(3.0, 1.0),
}
LEARNERS = {name: resolve(name, 5, "") for name in BUILT_IN} | {
    "regressor": SklearnLearner(DecisionTreeRegressor(max_depth=2)),
    "classifier": SklearnLearner(DecisionTreeClassifier(max_depth=2)),
}
PAIRS = [
    (learner, criterion)
    for learner, criterion in itertools.product(LEARNERS, CRITERIA)
    if not (learner == "perceptron" and criterion in ("least squares", "log ratio"))
    and not (learner == "classifier" and criterion == "least squares")
]


def bind(learner, X, categorical=(), n_threads=1):
    return learner.bind(Rows(X, np.ones(len(X)), list(categorical), n_threads, 0))


def make_aim(criterion, seed=0, n=80):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    targets = X[:, 0] - 0.5 * X[:, 2] + 0.8 * rng.normal(size=n)
    if not criterion.is_regression:
        targets = np.where(targets > 0, 1.0, -1.0)
    w = rng.uniform(0.2, 1.0, n)
    return X, Aim(targets, w / w.sum(), criterion), rng


def fitted_rule(bound, aim):
    """The rule in its finished form, and its training outputs."""
    rule, outputs = bound.fit(aim, 0)
    return bound.ensemble([rule], np.ones(1)).rules[0], outputs


# --- every learner --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("learner", "criterion"), PAIRS)
def test_training_outputs_are_the_rules_predictions(learner, criterion, dtype):
    X, aim, rng = make_aim(CRITERIA[criterion])
    X = X.astype(dtype)
    bound = bind(LEARNERS[learner], X)
    rules, outputs = [], []
    for seed in range(3):
        rule, out = bound.fit(aim._replace(weights=rng.dirichlet(np.ones(len(X)))), seed)
        rules.append(rule)
        outputs.append(out.copy())
    ensemble = bound.ensemble(rules, np.array([1.0, 0.5, 2.0]))
    for rule, out in zip(ensemble.rules, outputs, strict=True):
        np.testing.assert_allclose(rule.predict(X), out, rtol=1e-5, atol=1e-9)
    F = outputs[0] + 0.5 * outputs[1] + 2.0 * outputs[2]
    np.testing.assert_allclose(ensemble.decision_function(X), F, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(list(ensemble.staged(X))[-1], F, rtol=1e-5, atol=1e-9)
    if isinstance(CRITERIA[criterion], Votes):
        assert set(np.concatenate(outputs)) <= {-1.0, 1.0}


@pytest.mark.parametrize(("learner", "criterion"), PAIRS)
def test_constant_features_give_the_best_constant(learner, criterion):
    _, aim, _ = make_aim(CRITERIA[criterion])
    X = np.ones((len(aim.targets), 2))
    _, outputs = bind(LEARNERS[learner], X).fit(aim, 0)
    assert np.ptp(outputs) == 0
    if criterion == "least squares":
        assert outputs[0] == pytest.approx(aim.weights @ aim.targets / aim.weights.sum())
    elif criterion != "log ratio" and learner != "perceptron":
        factor = np.where(aim.targets > 0, 3.0, 1.0) if criterion == "joint votes" else 1.0
        assert outputs[0] == np.sign(np.sum(factor * aim.weights * aim.targets))


@pytest.mark.parametrize("learner", [name for name in BUILT_IN if BUILT_IN[name].accepts_missing])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_missing_values_are_a_value_of_their_own(learner, criterion):
    X, aim, rng = make_aim(CRITERIA[criterion])
    # A feature that is missing exactly where the target is positive says it all.
    told = np.where(aim.targets > 0, np.nan, rng.normal(size=len(X)))
    X[rng.random(X.shape) < 0.3] = np.nan
    for table in (X, np.column_stack([np.ones(len(X)), told])):
        rule, outputs = fitted_rule(bind(LEARNERS[learner], table), aim)
        np.testing.assert_allclose(rule.predict(table), outputs, rtol=1e-5, atol=1e-9)
        assert np.isfinite(outputs).all()
    if not aim.criterion.is_regression and learner != "stump":
        np.testing.assert_array_equal(np.sign(outputs), aim.targets)


# --- stump ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_voting_stump_is_the_best_of_all(seed):
    X, aim, _ = make_aim(Votes(), seed)
    _, outputs = bind(Stump(), X).fit(aim, 0)
    all_outputs = [stump.predict(X) for stump in descent.stumps(X)]
    errors = [np.sum(aim.weights[said != aim.targets]) for said in all_outputs]
    np.testing.assert_array_equal(outputs, all_outputs[int(np.argmin(errors))])


@pytest.mark.parametrize("learner", [Stump(), Histogram()], ids=str)
@pytest.mark.parametrize(
    "x", [[1.0, np.nextafter(1.0, 2.0)], [0.0, 1.0, np.nan, np.nan]], ids=["edge", "missing"]
)
def test_the_sides_of_an_edge(learner, x):
    """No number lies between the first two, so the edge is the smaller one; NaN is on the right."""
    x = np.array(x)[:, None]
    targets = np.where(np.arange(len(x)) == 0, -1.0, 1.0)
    rule, outputs = bind(learner, x).fit(Aim(targets, np.full(len(x), 0.25), Votes()), 0)
    np.testing.assert_array_equal(outputs, targets)
    np.testing.assert_array_equal(rule.predict(x), targets)


# --- histogram ------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", range(3))
def test_histograms_by_plain_loops(seed, criterion):
    _, aim, rng = make_aim(CRITERIA[criterion], seed)
    X = rng.integers(0, 4, size=(len(aim.targets), 3)).astype(float)
    rule, outputs = bind(Histogram(), X).fit(aim, 0)
    losses, values = np.zeros(3), np.zeros((3, len(X)))
    for j, v in itertools.product(range(3), range(4)):
        inside = X[:, j] == v
        w, t = aim.weights[inside], aim.targets[inside]
        P, N = sum(w[t > 0]), sum(w[t < 0])
        if "votes" in criterion:
            P *= 3.0 if criterion == "joint votes" else 1.0
            value, loss = np.sign(P - N), min(P, N)
        elif criterion == "log ratio":
            value = np.log((P + 1e-3) * 3.0 / (N + 1e-3)) / 4.0
            loss = P * np.exp(-3.0 * value) + N * np.exp(value)
        else:
            value = sum(w * t) / sum(w)
            loss = sum(w * (t - value) ** 2)
        values[j, inside], losses[j] = value, losses[j] + loss
    assert rule.feature == int(np.argmin(losses))
    np.testing.assert_allclose(outputs, values[rule.feature], rtol=1e-12)


def test_bins_hold_equal_shares_of_the_weight_or_a_value_each():
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=4000), rng.uniform(size=4000)
    edges = bin_edges(x, w, 10)
    assert len(edges) == 9
    shares = np.bincount(np.searchsorted(edges, x), w) / w.sum()
    np.testing.assert_allclose(shares, 0.1, atol=0.005)
    few = np.array([1.0, 2.0, 2.0, 5.0, np.nan])
    np.testing.assert_allclose(bin_edges(few, np.ones(5), 255), [1.5, 3.5])
    assert len(bin_edges(np.full(5, 3.0), np.ones(5), 255)) == 0


# --- line -----------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [0.0, 1e6])
@pytest.mark.parametrize("seed", range(3))
def test_line_is_weighted_least_squares(seed, shift):
    X, aim, _ = make_aim(LeastSquares(), seed)
    rule, outputs = bind(Line(), X + shift).fit(aim, 0)
    w, z = aim.weights, aim.targets
    fits = [np.polyval(np.polyfit(x, z, 1, w=np.sqrt(w)), x) for x in X.T]
    assert rule.feature == int(np.argmin([w @ (z - fit) ** 2 for fit in fits]))
    np.testing.assert_allclose(outputs, fits[rule.feature], rtol=1e-6, atol=1e-7)


# --- tree -----------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", [LeastSquares(), Votes()], ids=["means", "votes"])
@pytest.mark.parametrize("max_leaves", [2, 3, 8])
def test_leaves_hold_weighted_means_or_their_signs(max_leaves, criterion):
    X, aim, _ = make_aim(criterion)
    bound = bind(Tree(max_leaves=max_leaves), X)
    rule, outputs = bound.fit(aim, 0)
    leaf = bound.ensemble([rule], np.array([0.5])).trees.leaves(X).ravel()
    assert 2 <= len(np.unique(leaf)) <= max_leaves
    for k in np.unique(leaf):
        inside = leaf == k
        mean = np.average(aim.targets[inside], weights=aim.weights[inside])
        expected = np.sign(mean) if isinstance(criterion, Votes) else mean
        np.testing.assert_allclose(outputs[inside], expected, rtol=1e-5)


@pytest.mark.parametrize("learner", [Stump(), Tree(max_leaves=2)], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_a_tree_of_two_leaves_is_scikit_learns_stump(learner, seed):
    X, aim, rng = make_aim(LeastSquares(), seed)
    rule, outputs = fitted_rule(bind(learner, X), aim)
    stump = DecisionTreeRegressor(max_depth=1).fit(X, aim.targets, sample_weight=aim.weights)
    new = rng.normal(size=(200, 3))
    for found, rows in ((outputs, X), (rule.predict(new), new)):
        np.testing.assert_allclose(found, stump.predict(rows), rtol=1e-5)
    if isinstance(learner, Tree):
        X, aim, _ = make_aim(Votes(), seed)
        _, outputs = bind(learner, X).fit(aim, 0)
        gini = DecisionTreeClassifier(max_depth=1).fit(X, aim.targets, sample_weight=aim.weights)
        np.testing.assert_array_equal(outputs, gini.predict(X))


@pytest.mark.parametrize("seed", range(3))
def test_log_ratios_of_a_tree_by_plain_loops(seed):
    X, aim, _ = make_aim(CRITERIA["log ratio"], seed)
    bound = bind(Tree(max_leaves=5), X)
    rule, outputs = bound.fit(aim, 0)
    leaf = bound.ensemble([rule], np.ones(1)).trees.leaves(X).ravel()
    w, positive = aim.weights, aim.targets > 0
    is_pure = [all(positive[leaf == k]) - all(~positive[leaf == k]) for k in range(leaf.max() + 1)]
    assert any(is_pure)
    for k in np.unique(leaf):
        # Leaves of one mean, the pure ones of a class, are one cell.
        alike = [j for j in np.unique(leaf) if j == k or is_pure[j] == is_pure[k] != 0]
        inside = np.isin(leaf, alike)
        P, N = sum(w[inside & positive]), sum(w[inside & ~positive])
        G = np.log((P + 1e-3) * 3.0 / (N + 1e-3)) / 4.0
        np.testing.assert_allclose(outputs[leaf == k], G, rtol=1e-9)


def test_dropped_trees_leave_no_trace():
    X, aim, rng = make_aim(Votes())
    bound = bind(Tree(max_leaves=4), X)
    rules, outputs = [], []
    for _ in range(4):
        rule, out = bound.fit(aim._replace(weights=rng.dirichlet(np.ones(len(X)))), 0)
        rules.append(rule)
        outputs.append(out)
    kept = bound.ensemble([rules[0], ConstantRule(-1.0), rules[2]], np.array([1.0, 0.5, 3.0]))
    np.testing.assert_allclose(kept.decision_function(X), outputs[0] - 0.5 + 3.0 * outputs[2])
    np.testing.assert_allclose(list(kept.staged(X))[1], outputs[0] - 0.5)
    assert len(kept.trees.roots) == 2


def test_categories_are_split_as_sets():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 6, 300).astype(float)
    targets = np.where(np.isin(codes, [0, 2, 4]), 1.0, -1.0)
    aim = Aim(targets, np.full(300, 1 / 300), Votes())
    _, outputs = bind(Tree(max_leaves=2), codes[:, None], categorical=[0]).fit(aim, 0)
    np.testing.assert_array_equal(outputs, targets)


# --- perceptron, adapter, names -------------------------------------------------------------


def test_perceptron_separates_what_a_line_separates():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)) * np.array([1e3, 1e-3]) + np.array([5e3, 0.0])
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    side = standard[:, 0] + standard[:, 1]
    X, side = X[np.abs(side) > 0.5], side[np.abs(side) > 0.5]
    aim = Aim(np.sign(side), np.full(len(X), 1 / len(X)), Votes())
    rule, outputs = bind(Perceptron(epochs=20), X).fit(aim, 0)
    assert np.mean(outputs == aim.targets) > 0.97
    np.testing.assert_array_equal(rule.predict(X), outputs)
    X[3, 0] = 1e300  # its square is infinite
    assert np.isfinite(bind(Perceptron(), X).fit(aim, 0).rule.coef).all()


@pytest.mark.parametrize("criterion", ["least squares", "log ratio"])
def test_who_only_votes_says_so(criterion):
    X, aim, _ = make_aim(CRITERIA[criterion])
    with pytest.raises(ValueError, match="only votes"):
        bind(Perceptron(), X).fit(aim, 0)
    if aim.criterion.is_regression:
        with pytest.raises(ValueError, match="must be a regressor here"):
            bind(SklearnLearner(DecisionTreeClassifier()), X).fit(aim, 0)


def test_adapter_sets_the_seed_and_the_weights():
    X, aim, _ = make_aim(Votes())
    learner = DecisionTreeClassifier(max_depth=3, splitter="random")
    _, outputs = bind(SklearnLearner(learner), X).fit(aim, 5)
    direct = DecisionTreeClassifier(max_depth=3, splitter="random", random_state=5)
    direct.fit(X, aim.targets, sample_weight=aim.weights * len(X))
    np.testing.assert_array_equal(outputs, direct.predict(X))
    assert not hasattr(learner, "tree_")


def test_adapter_reads_real_values_off_probabilities():
    """The tree sees the cost-weighted rows: its odds have the costs inside."""
    X, aim, _ = make_aim(CRITERIA["log ratio"])
    _, outputs = bind(SklearnLearner(DecisionTreeClassifier(max_depth=2)), X).fit(aim, 0)
    weights = aim.weights * np.where(aim.targets > 0, 3.0, 1.0)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, aim.targets, weights)
    N, P = tree.predict_proba(X).T
    np.testing.assert_allclose(outputs, np.log((P + 1e-3) / (N + 1e-3)) / 4.0, rtol=1e-9)


def test_names():
    assert all(type(resolve(name, 8, "Owner")) is kind for name, kind in BUILT_IN.items())
    assert resolve("tree", 5, "Owner").max_leaves == 5
    for estimator in ("oak", 3, DecisionTreeClassifier):
        with pytest.raises(ValueError, match="estimator of Owner must be"):
            resolve(estimator, 8, "Owner")
