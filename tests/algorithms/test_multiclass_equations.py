"""Weights, steps, scores and decisions of the multi-class family equal the plain references."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import costboost
from costboost.algorithms.beijbom2014 import simplex_codewords
from costboost.algorithms.lozano2008 import VARIANTS
from costboost.boosting.multiclass import ClassVotes, CoordinateDescent, MulticlassProblem
from costboost.learners.adapter import ClassLearner
from costboost.learners.ensembles import Coordinates, Pairs
from costboost.losses import LOSSES
from reference import multiclass, normalised, own_files, pnorm
from reference.votes import Fixed

CLOSE = {"rtol": 1e-9, "atol": 1e-9}
ROUNDS = 6
CLASSES = (2, 3, 5)
NORMS = (1, 2, 2.5, 5)
STEPS = ("harmonic", "bound")
VOTES = {
    name: getattr(costboost, f"{name}Classifier") for name in ("AdaBoostM2", "AdaCostM2", "CSB2M2")
}

# Few rows and rounds: what is predicted does not matter here.
pytestmark = pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")


def rows(seed, k, n=60, noise=1.0, dearest=7.0):
    """Continuous features, costs and weights: no ties. The true class is not always the cheapest.

    Returns the rows, their true classes, the cost rows as given and as reduced, the cheapest
    classes and the sample weights.
    """
    rng = np.random.default_rng(int(100 * seed + k))
    codes = rng.permutation(np.arange(n) % k)
    X = rng.normal(scale=noise, size=(n, 3))
    X[:, 0] += codes
    X[:, 1] += codes % 2
    prices = rng.uniform(1.5, 6.0, size=(n, k))
    prices[np.arange(n), codes] = rng.uniform(0.0, 2.0, size=n)
    prices[::9, :][np.arange(len(codes[::9])), codes[::9]] = dearest
    C = prices - prices.min(axis=1, keepdims=True)
    z = prices.argmin(axis=1)
    assert (z != codes).any()
    return X, codes, prices, C, z, rng.uniform(0.5, 1.5, n)


def of_two(scores):
    """Scores as `decision_function` shows them."""
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


@pytest.fixture
def asked(monkeypatch):
    """What a learner was asked for, round by round, as (n, k) signed weights summing to 1."""
    seen = []

    def pairs(self, aim, seed, fit=Pairs.fit):
        seen.append((aim.targets * aim.weights).reshape(-1, len(self._learners)))
        return fit(self, aim, seed)

    def costs(self, aim, seed, fit=ClassLearner.fit):
        seen.append(normalised(aim.targets * aim.weights[:, None]))
        return fit(self, aim, seed)

    def steps(self, aim, seed, fit=Coordinates.fit):
        seen.append(aim.targets * aim.weights)
        return fit(self, aim, seed)

    monkeypatch.setattr(Pairs, "fit", pairs)
    monkeypatch.setattr(ClassLearner, "fit", costs)
    monkeypatch.setattr(Coordinates, "fit", steps)
    return seen


def relations(clf, X):
    """h(x, y) of the library's own rules."""
    h = [rule.predict(X) for rule in clf.estimators_]
    assert set(np.unique(h)) <= {0.0, 1.0}
    return h


class Depth2(ClassifierMixin, BaseEstimator):
    """A tree for which equal weights are equal bit by bit: ties are always broken in one way."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.tree_ = DecisionTreeClassifier(max_depth=2, random_state=0)
        self.tree_.fit(X, y, sample_weight=np.round(sample_weight, 9))
        return self

    def predict(self, X):
        return self.tree_.predict(X)


class ClassByClass:
    """A learner of the expanded set: one depth-2 tree per class, on the pairs of that class."""

    def fit(self, pairs, labels, sample_weight):
        self.trees = []
        for y in range(pairs.shape[1] - 3):
            mine = pairs[:, 3 + y] == 1.0
            w = sample_weight[mine]
            if not w.any():
                self.trees.append(None)
                continue
            tree = Depth2().fit(pairs[mine, :3], labels[mine], w * (len(w) / w.sum()))
            self.trees.append(tree)
        return self

    def predict(self, pairs):
        h = np.zeros(len(pairs))
        for y, tree in enumerate(self.trees):
            mine = pairs[:, 3 + y] == 1.0
            if tree is not None:
                h[mine] = tree.predict(pairs[mine, :3])
        return h


def assert_equal_runs(clf, trace, X, asked):
    """Steps, scores, decisions and what the learner was asked for, round by round."""
    assert clf.n_iter_ == len(trace.alphas) > 0
    np.testing.assert_allclose(clf.estimator_weights_, trace.alphas, **CLOSE)
    staged = zip(clf.staged_decision_function(X), clf.staged_predict(X), trace.H, strict=True)
    for F, decided, H in staged:
        np.testing.assert_allclose(F, of_two(H), **CLOSE)
        ranked = np.sort(H, axis=1)
        clear = ranked[:, -1] - ranked[:, -2] > 1e-9  # H of few rules has true ties
        np.testing.assert_array_equal(decided[clear], clf.classes_[H.argmax(axis=1)][clear])
    np.testing.assert_allclose(clf.decision_function(X), of_two(trace.H[-1]), **CLOSE)
    for given, weights, labels in zip(asked, trace.weights, trace.labels, strict=False):
        signed = weights * np.where(labels == 1, 1.0, -1.0) if labels.any() else weights
        np.testing.assert_allclose(given, signed, **CLOSE)


# --- Lp-CSB ---------------------------------------------------------------------------------


@pytest.mark.parametrize("k", CLASSES)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_p_norm(variant, p, step, k, asked):
    X, codes, prices, C, z, s = rows(p + 10, k, noise=0.3, dearest=2.5)
    tree = DecisionTreeRegressor(max_depth=2, random_state=0)

    def component(W):
        # W holds s w: the costs of a row are W / s.
        costs = W / s[:, None]
        return tree.fit(X, costs / costs.max(), sample_weight=s).predict(X).argmin(axis=1)

    is_direct = variant == "direct"
    options = {"p": p, "variant": variant, "step": step}
    learner = DecisionTreeRegressor(max_depth=2) if is_direct else Depth2()
    clf = costboost.LpCSBClassifier(
        resample=False, n_estimators=ROUNDS, estimator=learner, random_state=0, **options
    ).fit(X, codes, costs=prices, sample_weight=s)
    plain = {"make_component": component} if is_direct else {"make_learner": ClassByClass}
    trace = pnorm.run_lp_csb(C, X, rounds=ROUNDS, codes=z, sample_weight=s, **options, **plain)
    assert_equal_runs(clf, trace, X, asked)
    np.testing.assert_allclose(clf.train_loss_, np.array(trace.losses) / s.sum(), **CLOSE)
    if not is_direct:
        X_new = np.random.default_rng(0).normal(size=(40, 3)) + 1.0
        H = pnorm.score(trace, X_new)
        np.testing.assert_allclose(clf.decision_function(X_new), of_two(H), **CLOSE)


@pytest.mark.parametrize("p", [1, 1.5])
def test_without_a_bound_the_step_is_harmonic(p):
    X, codes, prices, *_ = rows(0, 3)
    clf = costboost.LpCSBClassifier(p=p, step="bound", n_estimators=4).fit(X, codes, costs=prices)
    np.testing.assert_allclose(clf.estimator_weights_, [1, 1 / 2, 1 / 3, 1 / 4], rtol=1e-12)


# --- GBSE, Average Cost ---------------------------------------------------------------------


@pytest.mark.parametrize("k", CLASSES)
@pytest.mark.parametrize("learner", ["tree", Depth2()], ids=str)
def test_gbse(k, learner, asked):
    X, codes, prices, C, z, s = rows(30, k)
    clf = costboost.GBSEClassifier(
        n_estimators=ROUNDS, estimator=learner, random_state=0, max_leaves=6
    )
    clf.fit(X, codes, costs=prices, sample_weight=s)
    make = pnorm.replay(relations(clf, X)) if learner == "tree" else ClassByClass
    trace = pnorm.run_gbse(C, X, rounds=ROUNDS, make_learner=make, codes=z, sample_weight=s)
    assert_equal_runs(clf, trace, X, asked)


class Recorder(np.random.RandomState):
    """Keeps the probabilities it was asked to draw by, and what it drew."""

    def __init__(self, seed):
        super().__init__(seed)
        self.probabilities, self.drawn = [], []

    def multinomial(self, n, pvals, size=None):
        self.probabilities.append(np.array(pvals))
        self.drawn.append(super().multinomial(n, pvals, size))
        return self.drawn[-1]

    def choice(self, a, size=None, replace=True, p=None):
        self.probabilities.append(np.array(p))
        return super().choice(a, size, replace, p)

    def uniform(self, low=0.0, high=1.0, size=None):
        self.drawn.append(super().uniform(low, high, size))
        return self.drawn[-1]


@pytest.mark.parametrize("k", CLASSES)
def test_average_cost(k, asked):
    X, codes, prices, C, z, s = rows(40, k)
    rng = Recorder(0)
    clf = costboost.AverageCostClassifier(n_estimators=ROUNDS, random_state=rng, max_leaves=6)
    clf.fit(X, codes, costs=prices, sample_weight=s)
    h = relations(clf, X)
    trace = pnorm.run_average_cost(
        C, rounds=ROUNDS, make_learner=pnorm.replay(h), codes=z, sample_weight=s
    )
    for drawn_by, counts, given, weights, labels in zip(
        rng.probabilities, rng.drawn, asked, trace.weights, trace.labels, strict=True
    ):
        np.testing.assert_allclose(drawn_by.reshape(-1, k), weights, **CLOSE)
        sampled = counts.reshape(-1, k) / counts.sum()
        np.testing.assert_allclose(given, sampled * np.where(labels == 1, 1.0, -1.0), **CLOSE)
    asked.clear()
    assert_equal_runs(clf, trace, X, asked)
    assert any((one != other).any() for one, other in pairwise(h))


@pytest.mark.parametrize("variant", ["relational", "adjusted"])
def test_p_1_draws_samples_of_the_pairs(variant):
    X, codes, prices, C, z, s = rows(41, 3)
    rng = Recorder(0)
    costboost.LpCSBClassifier(p=1, variant=variant, n_estimators=3, random_state=rng).fit(
        X, codes, costs=prices, sample_weight=s
    )
    pairs = pnorm.relational_pairs if variant == "relational" else pnorm.adjusted_pairs
    expected = normalised(pairs(s[:, None] * C, z)[0])
    assert len(rng.probabilities) == 3
    for drawn_by in rng.probabilities:
        np.testing.assert_allclose(drawn_by.reshape(-1, 3), expected, **CLOSE)


# --- DSE, Costing ---------------------------------------------------------------------------


class Told(DecisionTreeClassifier):
    """A weak learner that keeps the rows and classes of every fit."""

    fits: list[tuple[np.ndarray, np.ndarray]] = []  # noqa: RUF012 (of all copies)

    def fit(self, X, y, sample_weight=None):
        self.fits.append((np.array(X), np.array(y)))
        return super().fit(X, y, sample_weight)


def sample_of(name, seed, X, y, **given):
    """Rows and classes that the one weak rule of an average was trained on."""
    model = getattr(costboost, name)(n_estimators=1, estimator=Told(), random_state=seed)
    Told.fits.clear()
    model.fit(X, y, **given)
    ((told, classes),) = Told.fits
    order = np.argsort(X[:, 0])
    return order[np.searchsorted(X[order, 0], told[:, 0])], classes


def generator_of_the_sample(seed):
    """The generator that draws the first sample."""
    seeds = np.random.RandomState(seed).randint(np.iinfo(np.int32).max, size=1)
    return np.random.RandomState(seeds[0])


@pytest.mark.parametrize("k", CLASSES)
def test_dse_draws_by_what_a_class_saves_and_costing_by_the_mean_cost_of_an_error(k):
    X, codes, prices, C, z, s = rows(50, k)
    given = {"costs": prices, "sample_weight": s}
    drawn, classes = sample_of("DSEClassifier", 3, X, codes, **given)
    chance = pnorm.dse_probabilities(C, s)
    pairs = generator_of_the_sample(3).choice(chance.size, size=len(C), p=chance.ravel())
    np.testing.assert_array_equal([drawn, classes], np.divmod(pairs, k))
    X, codes, prices, C, z, s = rows(52, k, n=200)
    given = {"costs": prices, "sample_weight": s}
    accepted, classes = sample_of("CostingClassifier", 3, X, codes, **given)
    uniform = generator_of_the_sample(3).uniform(size=len(C))
    np.testing.assert_array_equal(
        accepted, np.flatnonzero(uniform < pnorm.costing_probabilities(C, z, s))
    )
    np.testing.assert_array_equal(classes, z[accepted])


def test_costing_takes_a_row_of_a_class_that_was_rejected():
    """Two rows of the cheap class have a chance of 1e-9; a row without a stake is never taken."""
    prices = np.array([[0, 1e9], [0, 1e9], [1, 0], [1, 0], [0, 0]])
    X, y = np.arange(5.0)[:, None], np.array([0, 0, 1, 1, 1])
    taken = set()
    for seed in range(20):
        accepted, classes = sample_of("CostingClassifier", seed, X, y, costs=prices)
        assert classes.tolist() == [0, 0, 1]
        taken.add(int(accepted[-1]))
    assert taken == {2, 3}


# --- AdaBoost.M2, AdaCost, CSB2 -------------------------------------------------------------


@pytest.mark.parametrize("k", CLASSES)
@pytest.mark.parametrize("init", ["cost", "uniform"])
@pytest.mark.parametrize("learner", ["tree", Depth2()], ids=str)
@pytest.mark.parametrize("name", VOTES)
def test_pair_votes(name, learner, init, k, asked):
    X, codes, prices, C, z, s = rows(60, k, noise=0.3, dearest=2.5)
    clf = VOTES[name](
        n_estimators=ROUNDS, estimator=learner, init=init, random_state=0, max_leaves=4
    ).fit(X, codes, costs=prices, sample_weight=s)
    h = relations(clf, X)
    make, rounds = (pnorm.replay(h), len(h)) if learner == "tree" else (ClassByClass, ROUNDS)
    plain = {"init": init, "codes": z, "sample_weight": s}
    trace = pnorm.run_votes(name, C, X, rounds=rounds, make_learner=make, **plain)
    assert_equal_runs(clf, trace, X, asked)


@pytest.mark.parametrize("name", VOTES)
@pytest.mark.parametrize("free", [False, True])
def test_pair_votes_with_one_price(name, free, asked):
    """Equal costs are no costs to AdaCost, whether or not some wrong decisions are free."""
    X, codes, _, _, _, s = rows(61, 3, noise=0.7)
    C = 1.0 - np.eye(3)[codes]
    if free:
        C[:10] = 0.0
        C[10:20, 2] = 0.0
    clf = VOTES[name](n_estimators=ROUNDS, estimator=Depth2())
    clf.set_params(random_state=0).fit(X, codes, costs=C, sample_weight=s)
    trace = pnorm.run_votes(
        name, C, X, rounds=ROUNDS, make_learner=ClassByClass, codes=codes, sample_weight=s
    )
    assert_equal_runs(clf, trace, X, asked)


@pytest.mark.parametrize("name", VOTES)
def test_a_rule_without_mistakes_is_the_last(name):
    X = np.repeat(np.arange(3.0), 4)[:, None]
    codes = X[:, 0].astype(int)
    C = np.random.default_rng(0).uniform(1, 2, size=(12, 3))
    C[np.arange(12), codes] = 0.0
    clf = VOTES[name](n_estimators=5).fit(X, codes, costs=C)
    trace = pnorm.run_votes(
        name, C, rounds=clf.n_iter_, make_learner=pnorm.replay(relations(clf, X)), codes=codes
    )
    np.testing.assert_allclose(clf.estimator_weights_, trace.alphas, **CLOSE)
    if name != "AdaCostM2":  # its r is below 1 for every rule
        assert trace.stopped == "perfect"
        assert clf.n_iter_ == 1


# --- MCBoost --------------------------------------------------------------------------------


def test_codewords():
    assert max(multiclass.codewords_error(simplex_codewords(k)) for k in (2, 3, 4, 7, 26)) < 1e-12
    np.testing.assert_allclose(simplex_codewords(2), [[-1], [1]], rtol=0, atol=1e-12)


@pytest.mark.parametrize("rate", [1.0, 0.3])
@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("loss", multiclass.LOSSES)
def test_mcboost(loss, k, rate, asked):
    X, codes, prices, C, z, s = rows(70, k, n=40, noise=1.5)
    rounds = 3
    clf = costboost.MCBoostClassifier(loss=loss, n_estimators=rounds, learning_rate=rate)
    clf.fit(X, codes, costs=prices, sample_weight=s)
    np.testing.assert_array_equal(clf.codewords_, simplex_codewords(k))
    plain = {"rounds": rounds, "codes": z, "words": clf.codewords_, "sample_weight": s}
    trace = multiclass.run_mcboost(C, X, loss=loss, learning_rate=rate, **plain)
    assert len(clf.estimators_) == len(trace.alphas) == rounds * (k - 1)
    np.testing.assert_allclose(clf.estimator_weights_, rate * np.array(trace.alphas), **CLOSE)
    for given, targets, weights in zip(asked, trace.targets, trace.weights, strict=True):
        np.testing.assert_allclose(given, targets * weights, **CLOSE)
    for rule, g in zip(clf.estimators_, trace.g, strict=True):
        np.testing.assert_allclose(rule.predict(X), g, **CLOSE)
    ends = slice(k - 2, None, k - 1)
    staged = zip(clf.staged_decision_function(X), clf.staged_predict(X), strict=True)
    for (F, decided), f, S in zip(staged, trace.f[ends], trace.S[ends], strict=True):
        np.testing.assert_allclose(F, of_two(S), **CLOSE)
        np.testing.assert_array_equal(decided, S.argmax(axis=1))
        np.testing.assert_allclose(0.5 * f @ clf.codewords_.T, S, **CLOSE)
    losses = np.array(trace.losses[ends]) / s.sum()
    np.testing.assert_allclose(clf.train_loss_, losses, rtol=1e-9)
    X_new = np.random.default_rng(1).normal(size=(30, 3))
    np.testing.assert_allclose(clf.decision_function(X_new), of_two(trace.score(X_new)), **CLOSE)


@pytest.mark.parametrize("k", [2, 4])
def test_posteriors_and_bayes(k):
    X, codes, _, _, _, s = rows(71, k)
    matrix = np.random.default_rng(k).uniform(1, 9, size=(k, k)) * (1 - np.eye(k))
    clf = costboost.MCBoostClassifier(matrix, loss="mc", decision="bayes", n_estimators=4)
    clf.fit(X, codes, sample_weight=s)
    plain = {"rounds": 4, "codes": codes, "words": clf.codewords_, "sample_weight": s}
    trace = multiclass.run_mcboost(matrix[codes], X, loss="mc", **plain)
    P = multiclass.posteriors(trace.S[-1])
    np.testing.assert_allclose(clf.predict_proba(X), P, **CLOSE)
    np.testing.assert_array_equal(clf.predict(X), multiclass.bayes(P, matrix))


def test_a_loss_that_is_not_convex_is_refused():
    X, codes, *_ = rows(72, 3)
    with pytest.raises(ValueError, match=r"'loss' .* must be convex.*ExpectedCost\(\) is not"):
        costboost.MCBoostClassifier(loss="expected_cost").fit(X, codes)


def test_two_classes_with_the_logistic_loss():
    """GLL is log(1 + c e^{-yF}): the score where the rows say nothing is ln(c- n- / c+ n+)."""
    X = np.repeat([[0.0], [1.0]], 6, axis=0)
    codes = np.array([0, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1])
    clf = costboost.MCBoostClassifier(loss="gll", estimator="tree", n_estimators=20).fit(X, codes)
    F = clf.decision_function(X)
    np.testing.assert_allclose(F[[0, 6]], [0.0, math.log(5.0)], atol=1e-6)
    np.testing.assert_allclose(clf.predict_proba(X)[[0, 6], 1], [1 / 2, 5 / 6], atol=1e-6)


# --- rules that name a class ----------------------------------------------------------------

CLASS_VOTES = {name: module for name, module in own_files().items() if module.FAMILY == "classes"}


def test_the_reference_knows_every_class_of_class_votes():
    found = {
        name.removesuffix("Classifier")
        for name in costboost.algorithms.__all__
        if getattr(getattr(costboost, name), "_scheme_type", None) is ClassVotes
    }
    assert found == set(CLASS_VOTES)


class Normalised(Depth2):
    """The same tree for weights on any scale."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, sample_weight=sample_weight / sample_weight.sum())


@pytest.mark.parametrize("init", [None, "cost", "uniform"])
@pytest.mark.parametrize("learner", ["tree", Normalised()], ids=str)
@pytest.mark.parametrize("k", CLASSES)
@pytest.mark.parametrize("name", CLASS_VOTES)
def test_class_votes(name, k, learner, init):
    X, codes, prices, C, z, s = rows(80, k)
    clf = getattr(costboost, f"{name}Classifier")(
        n_estimators=ROUNDS, estimator=learner, init=init, random_state=0, max_leaves=2 * k
    ).fit(X, codes, costs=prices, sample_weight=s)
    # The library's own rules for the reference; after the last one, one that is always wrong.
    turn = iter([*(rule.predict(X).argmax(axis=1) for rule in clf.estimators_), (z + 1) % k])

    def make():
        return Fixed(next(turn)) if learner == "tree" else Normalised()

    c = C.sum(axis=1) / (k - 1)
    plain = CLASS_VOTES[name]
    trace = plain.run(X, z, c, k, rounds=ROUNDS, make_learner=make, init=init, sample_weight=s)
    assert clf.n_iter_ == len(trace.alphas) > 1
    np.testing.assert_allclose(clf.estimator_weights_, trace.alphas, **CLOSE)
    for F, expected in zip(clf.staged_decision_function(X), trace.F, strict=True):
        np.testing.assert_allclose(F, of_two(expected), **CLOSE)
    if learner != "tree":
        X_new = np.random.default_rng(0).normal(size=(40, 3)) + 1.0
        expected = plain.score(trace, X_new, k)
        np.testing.assert_allclose(clf.decision_function(X_new), of_two(expected), **CLOSE)
        P = np.exp(expected) / np.exp(expected).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(clf.predict_proba(X_new), P, **CLOSE)


SAMME = [
    name
    for name in costboost.algorithms.__all__
    if getattr(costboost, name)._recipe.parent == "SAMME"
]


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("name", SAMME)
def test_unit_costs_give_samme(name, k):
    X, codes, _, _, _, s = rows(81, k, noise=1.5)
    options = {"estimator": DecisionTreeClassifier(max_depth=2), "n_estimators": 12}
    ours = getattr(costboost, name)(**options, random_state=0).fit(X, codes, sample_weight=s)
    theirs = AdaBoostClassifier(**options, random_state=0).fit(X, codes, sample_weight=s)
    assert ours.n_iter_ == len(theirs.estimators_) == 12
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_only_a_whole_round_without_descent_ends_mcboost():
    *_, C, z, weights = rows(1, 3)
    codewords = simplex_codewords(3)
    scheme = CoordinateDescent(
        LOSSES["gll"], MulticlassProblem(z, C, weights), codewords, learning_rate=1.0
    )
    for round_ in range(4):  # only the second coordinate has a rule that descends
        for coordinate, is_useful in enumerate((False, True)):
            aim = scheme.aim()
            assert aim is not None and aim.coordinate == coordinate, round_
            outputs = 0.1 * aim.targets * is_useful
            step = scheme.step(outputs)
            assert step.is_skipped != is_useful
            if is_useful:
                scheme.move(outputs, step.alpha)
    for _ in codewords.T:
        assert scheme.aim() is not None
        assert scheme.step(np.zeros(len(z))).is_skipped
    assert scheme.aim() is None
