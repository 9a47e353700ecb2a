"""The p-norm family and the algorithms it is compared to, pair by pair (paper 1).

``C`` (n, k) holds the cost of every decision on every row, reduced: at least one 0 per row. y* is
the first cheapest class of the row, unless ``codes`` says which (ties that keep a true label).

A pair (x_i, y) has the index ``i k + y``: all classes of row 0 first. Weak learners of pairs see
the features ``[X_i, one-hot(y)]``, a label in {0, 1} and weights that sum to 1; their outputs h
are in {0, 1}. ``sample_weight`` s turns every sum over rows into a weighted one, so that weight 2
is the same as the row twice.

p-norm: ``L(H) = sum_x sum_y H^p C``, ``w = H^(p-1) C``, ``H_0 = 1/k``,
``H <- (1 - alpha) H + alpha f``. Votes: ``H = sum alpha h``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize

from reference.votes import half_log_ratio

__all__ = [
    "FLOOR",
    "VOTES",
    "WORKED",
    "Fixed",
    "PairTrace",
    "Rate",
    "Worked",
    "adjusted_pairs",
    "average_cost_pairs",
    "bound_step",
    "cheapest",
    "costing_probabilities",
    "dse_probabilities",
    "expanded",
    "gbse_pairs",
    "infimum",
    "loss",
    "norm_weights",
    "one_hot",
    "relational_pairs",
    "replay",
    "replay_classes",
    "run_average_cost",
    "run_gbse",
    "run_lp_csb",
    "run_votes",
    "score",
    "smoothness",
    "stochastic",
    "theorem_42",
]

FLOOR = 1e-12  # a smaller step or vote is 0

VOTES = ("AdaBoostM2", "AdaCostM2", "CSB2M2")


@dataclass
class PairTrace:
    """What happened, one entry per round that was kept.

    ``weights``  what the rule was fitted to, summing to 1, (n, k)
    ``labels``   the labels of the pairs, (n, k); of a direct component learner, which has none, 0
    ``h``        the outputs of the rule, in {0, 1}, (n, k)
    ``f``        what entered H: h, or h made stochastic, (n, k)
    ``alphas``   the steps in [0, 1] (p-norm) or votes
    ``H``        the scores after the round, (n, k)
    ``losses``   sum_x sum_y s H^p C after the round (Lp-CSB only)
    ``rules``    the fitted rules
    ``convex``   whether H is a convex combination (p-norm, GBSE) or a sum of votes
    ``makes_stochastic``  whether f is h made stochastic
    ``stopped``  "rounds" (all were run), "useless" (a step or vote of 0 or below, its rule
                 dropped) or "perfect" (a rule without pseudo-error, kept as the last one; or no
                 weight left to fit another one to)
    """

    convex: bool
    makes_stochastic: bool = False
    weights: list[np.ndarray] = field(default_factory=list)
    labels: list[np.ndarray] = field(default_factory=list)
    h: list[np.ndarray] = field(default_factory=list)
    f: list[np.ndarray] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    H: list[np.ndarray] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    rules: list[Any] = field(default_factory=list)
    stopped: str = "rounds"

    def keep(self, weights, labels, h, f, alpha, H, rule):
        self.weights.append(np.array(weights, dtype=float))
        self.labels.append(np.array(labels, dtype=int))
        self.h.append(np.array(h, dtype=float))
        self.f.append(np.array(f, dtype=float))
        self.alphas.append(float(alpha))
        self.H.append(np.array(H, dtype=float))
        self.rules.append(rule)


# --- rows, pairs, rules ---------------------------------------------------------------------


def cheapest(C):
    """Return y* of every row: the first class of least cost."""
    codes = []
    for row in np.asarray(C, dtype=float):
        best = 0
        for y in range(len(row)):
            if row[y] < row[best]:
                best = y
        codes.append(best)
    return np.array(codes)


def prepared(C, codes, sample_weight):
    """Return C, y* and s as arrays, having checked that y* costs nothing."""
    C = np.asarray(C, dtype=float)
    codes = cheapest(C) if codes is None else np.asarray(codes)
    s = np.ones(len(C)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    for i in range(len(C)):
        if C[i].min() != 0 or C[i, codes[i]] != 0:
            raise ValueError(f"row {i} of C is not reduced: {C[i]}, cheapest class {codes[i]}")
    return C, codes, s


def one_hot(classes, k):
    """Return f(y|x) = [class of x is y], (n, k)."""
    f = np.zeros((len(classes), k))
    for i, y in enumerate(classes):
        f[i, y] = 1.0
    return f


def expanded(X, k):
    """Return the features of all pairs, (n k, d + k), all classes of row 0 first."""
    rows = []
    for x in np.asarray(X, dtype=float):
        for y in range(k):
            rows.append([*x, *(1.0 if y == other else 0.0 for other in range(k))])
    return np.array(rows)


def stochastic(h):
    """Return f(y|x) = h(x,y) / sum_y' h(x,y'), and 1/k where no class is claimed."""
    n, k = h.shape
    f = np.empty((n, k))
    for i in range(n):
        claimed = sum(h[i])
        for y in range(k):
            f[i, y] = h[i, y] / claimed if claimed > 0 else 1.0 / k
    return f


class Fixed:
    """A rule of pairs whose outputs on the training rows are given, (n, k)."""

    def __init__(self, h):
        self.h = np.asarray(h, dtype=float)

    def fit(self, pairs, labels, sample_weight=None):
        return self

    def predict(self, pairs):
        return self.h.ravel()


def replay(outputs):
    """Return a ``make_learner`` that hands out the given (n, k) outputs in turn.

    With it, and ``rounds=len(outputs)``, a run computes the weights and steps that the equations
    give to somebody else's rules, free of ties between equally good rules. X is not looked at.
    """
    turn = iter(outputs)
    return lambda: Fixed(next(turn))


def replay_classes(outputs):
    """Return a ``make_component`` that hands out the given (n,) classes in turn."""
    turn = iter(outputs)
    return lambda W: np.asarray(next(turn))


def fitted(make_learner, X, labels, weights):
    """Return (h, rule) of a fresh learner on the expanded set."""
    n, k = weights.shape
    pairs = expanded(np.zeros((n, 0)) if X is None else X, k)
    flat = [int(labels[i, y]) for i in range(n) for y in range(k)]
    w = [float(weights[i, y]) for i in range(n) for y in range(k)]
    rule = make_learner().fit(pairs, np.array(flat), sample_weight=np.array(w))
    return np.asarray(rule.predict(pairs), dtype=float).reshape(n, k), rule


# --- weights and labels of the pairs, not normalised ----------------------------------------


def norm_weights(H, C, p):
    """Eq. 5: w = H^(p-1) C."""
    n, k = C.shape
    return np.array([[H[i, y] ** (p - 1) * C[i, y] for y in range(k)] for i in range(n)])


def relational_pairs(w, codes):
    """Fig. 1 (b): w/2 and label 0 off y*; half the row's sum and label 1 on y*."""
    n, k = w.shape
    weights, labels = np.zeros((n, k)), np.zeros((n, k), dtype=int)
    for i in range(n):
        others = [y for y in range(k) if y != codes[i]]
        for y in others:
            weights[i, y] = w[i, y] / 2.0
        weights[i, codes[i]] = sum(w[i, y] for y in others) / 2.0
        labels[i, codes[i]] = 1
    return weights, labels


def adjusted_pairs(w, codes):
    """3.3.3: as Fig. 1 with w - (1/k) sum_{y'!=y*} w off y*; a negative weight flips its label."""
    n, k = w.shape
    adjusted = np.zeros((n, k))
    for i in range(n):
        others = [y for y in range(k) if y != codes[i]]
        for y in others:
            adjusted[i, y] = w[i, y] - sum(w[i, other] for other in others) / k
    weights, labels = relational_pairs(adjusted, codes)
    for i in range(n):
        for y in range(k):
            if weights[i, y] < 0:
                weights[i, y], labels[i, y] = -weights[i, y], 1 - labels[i, y]
    return weights, labels


def average_cost_pairs(C, codes=None):
    """Average Cost: C minus its row's sum over k, written out instead of p = 1 put in."""
    C, codes, _ = prepared(C, codes, None)
    n, k = C.shape
    weights, labels = np.zeros((n, k)), np.zeros((n, k), dtype=int)
    for i in range(n):
        average = sum(C[i]) / k
        for y in range(k):
            if y == codes[i]:
                weights[i, y], labels[i, y] = average / 2.0, 1
            else:
                weights[i, y] = abs(C[i, y] - average) / 2.0
                labels[i, y] = 1 if C[i, y] < average else 0
    return weights, labels


def gbse_pairs(H, C):
    """Abe et al. 2004: the cost of H on the row less that of y; label 1 where this is positive."""
    n, k = C.shape
    weights, labels = np.zeros((n, k)), np.zeros((n, k), dtype=int)
    for i in range(n):
        average = sum(H[i, y] * C[i, y] for y in range(k))
        for y in range(k):
            weights[i, y] = abs(average - C[i, y])
            labels[i, y] = 1 if average - C[i, y] > 0 else 0
    return weights, labels


def dse_probabilities(C, sample_weight=None):
    """Return how likely DSE draws each example (x, y): prop. to max_y' C - C[x,y], (n, k)."""
    C, _, s = prepared(C, None, sample_weight)
    n, k = C.shape
    weights = np.array([[s[i] * (max(C[i]) - C[i, y]) for y in range(k)] for i in range(n)])
    return weights / weights.sum()


def costing_probabilities(C, codes=None, sample_weight=None):
    """Return with what probability costing accepts each row: mean cost off y* over its maximum."""
    C, codes, s = prepared(C, codes, sample_weight)
    n, k = C.shape
    means = []
    for i in range(n):
        off = [C[i, y] for y in range(k) if y != codes[i]]
        means.append(s[i] * sum(off) / len(off))
    return np.array([mean / max(means) for mean in means])


# --- Lp-CSB, GBSE, Average Cost -------------------------------------------------------------


def loss(H, C, p, sample_weight=None):
    """Return sum_x sum_y s H^p C."""
    n, k = C.shape
    s = np.ones(n) if sample_weight is None else sample_weight
    return float(sum(s[i] * H[i, y] ** p * C[i, y] for i in range(n) for y in range(k)))


def smoothness(C, p):
    """M = max C p (p-1) 2^(p-2)."""
    return float(np.max(C)) * p * (p - 1) * 2.0 ** (p - 2)


def bound_step(H, f, C, p, sample_weight=None):
    """Eq. 10, clipped to [0, 1]; 0 when f is H."""
    n, k = C.shape
    s = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    descent, distance = 0.0, 0.0
    for i in range(n):
        for y in range(k):
            descent -= s[i] * p * H[i, y] ** (p - 1) * C[i, y] * (f[i, y] - H[i, y])
            distance += s[i] * (f[i, y] - H[i, y]) ** 2
    if distance == 0:
        return 0.0
    return min(1.0, max(0.0, descent / (smoothness(C[s > 0], p) * distance)))


def run_lp_csb(
    C,
    X=None,
    *,
    p,
    rounds,
    variant="relational",
    step="harmonic",
    make_learner=None,
    make_component=None,
    codes=None,
    sample_weight=None,
    floor=FLOOR,
):
    """Boost by Lp-CSB and return the `PairTrace`.

    ``variant``  "relational" (Fig. 1), "adjusted" (3.3.3) or "direct" (Fig. 2)
    ``step``     "harmonic" (1/t) or "bound" (Eq. 10; harmonic when p = 1, where M = 0)

    ``make_learner()`` gives a fresh classifier of pairs; ``direct`` needs ``make_component(W)``
    instead, which takes the (n, k) weights, summing to 1, and returns one class per row.
    """
    C, codes, s = prepared(C, codes, sample_weight)
    n, k = C.shape
    trace = PairTrace(convex=True, makes_stochastic=variant == "adjusted")
    H = np.full((n, k), 1.0 / k)
    for t in range(1, rounds + 1):
        w = s[:, None] * norm_weights(H, C, p)
        if variant == "relational":
            weights, labels = relational_pairs(w, codes)
        elif variant == "adjusted":
            weights, labels = adjusted_pairs(w, codes)
        elif variant == "direct":
            weights, labels = w, np.zeros((n, k), dtype=int)
        else:
            raise ValueError(f"unknown variant {variant!r}")
        if not weights.sum() > 0:
            trace.stopped = "perfect"
            break
        weights = weights / weights.sum()
        if variant == "direct":
            rule = None
            h = one_hot(make_component(weights.copy()), k)
        else:
            h, rule = fitted(make_learner, X, labels, weights)
        f = stochastic(h) if variant == "adjusted" else h
        if step == "bound" and p > 1:
            alpha = bound_step(H, f, C, p, s)
        elif step in ("harmonic", "bound"):
            alpha = 1.0 / t
        else:
            raise ValueError(f"unknown step {step!r}")
        if not alpha > floor:
            trace.stopped = "useless"
            break
        H = (1.0 - alpha) * H + alpha * f
        trace.keep(weights, labels, h, f, alpha, H, rule)
        trace.losses.append(loss(H, C, p, s))
    return trace


def run_gbse(C, X=None, *, rounds, make_learner, codes=None, sample_weight=None):
    """Boost by GBSE, with the harmonic step."""
    C, codes, s = prepared(C, codes, sample_weight)
    n, k = C.shape
    trace = PairTrace(convex=True, makes_stochastic=True)
    H = np.full((n, k), 1.0 / k)
    for t in range(1, rounds + 1):
        weights, labels = gbse_pairs(H, C)
        weights = s[:, None] * weights
        if not weights.sum() > 0:
            trace.stopped = "perfect"
            break
        weights = weights / weights.sum()
        h, rule = fitted(make_learner, X, labels, weights)
        f = stochastic(h)
        alpha = 1.0 / t
        H = (1.0 - alpha) * H + alpha * f
        trace.keep(weights, labels, h, f, alpha, H, rule)
    return trace


def run_average_cost(C, X=None, *, rounds, make_learner, codes=None, sample_weight=None):
    """Average as many rules, all fitted to `average_cost_pairs`."""
    C, codes, s = prepared(C, codes, sample_weight)
    n, k = C.shape
    trace = PairTrace(convex=True, makes_stochastic=True)
    weights, labels = average_cost_pairs(C, codes)
    weights = s[:, None] * weights
    weights = weights / weights.sum()
    total = np.zeros((n, k))
    for t in range(1, rounds + 1):
        h, rule = fitted(make_learner, X, labels, weights)
        total += stochastic(h)
        trace.keep(weights, labels, h, stochastic(h), 1.0 / t, total / t, rule)
    return trace


# --- AdaBoost.M2 and the two built on it ----------------------------------------------------


def scaled_costs(name, C, codes):
    """Return c of every pair, as the algorithm wants it."""
    positive = [
        C[i, y] for i in range(len(C)) for y in range(C.shape[1]) if y != codes[i] and C[i, y] > 0
    ]
    if name == "AdaCostM2":
        # Costs that tell no pair from another count as none.
        return np.zeros_like(C) if min(positive) == max(positive) else C / max(positive)
    if name == "CSB2M2":
        return C / min(positive)
    return np.ones_like(C)


def run_votes(
    name,
    C,
    X=None,
    *,
    rounds,
    make_learner,
    init="cost",
    codes=None,
    sample_weight=None,
    floor=FLOOR,
):
    """Boost by AdaBoostM2, AdaCostM2 or CSB2M2 and return the `PairTrace`.

    D lives on the pairs off y* and starts from C (``init="cost"``) or from 1 (``"uniform"``). The
    rule is fitted as Fig. 1 would with w = D, so that ``trace.weights`` are D/2 off y* and half
    the row's sum on it.
    """
    if name not in VOTES:
        raise ValueError(f"unknown algorithm {name!r}")
    C, codes, s = prepared(C, codes, sample_weight)
    n, k = C.shape
    off = [(i, y) for i in range(n) for y in range(k) if y != codes[i]]
    trace = PairTrace(convex=False)
    H, D = np.zeros((n, k)), np.zeros((n, k))
    for i, y in off:
        D[i, y] = s[i] * (C[i, y] if init == "cost" else 1.0)
    if not D.sum() > 0 or not C.max() > 0:
        trace.stopped = "perfect"
        return trace
    c = scaled_costs(name, C, codes)
    for _ in range(rounds):
        D = D / D.sum()
        weights, labels = relational_pairs(D, codes)
        h, rule = fitted(make_learner, X, labels, weights)
        u = {(i, y): h[i, codes[i]] - h[i, y] for i, y in off}
        if name == "AdaCostM2":
            m = {(i, y): 0.5 * (u[i, y] - c[i, y] * abs(u[i, y])) for i, y in off}
            plus = sum(D[pair] * (1.0 + m[pair]) for pair in off)  # 1 + r
            minus = sum(D[pair] * (1.0 - m[pair]) for pair in off)  # 1 - r
        else:
            plus = sum(D[pair] * (1.0 + u[pair]) / 2.0 for pair in off)  # 1 - eps
            minus = sum(D[pair] * (1.0 - u[pair]) / 2.0 for pair in off)  # eps
        alpha, perfect = half_log_ratio(plus, minus)
        if not alpha > floor:
            trace.stopped = "useless"
            break
        H = H + alpha * h
        trace.keep(weights, labels, h, h, alpha, H, rule)
        if perfect:
            trace.stopped = "perfect"
            break
        for pair in off:
            if name == "AdaCostM2":
                D[pair] *= math.exp(-alpha * m[pair])
            elif name == "CSB2M2":
                kappa = 1.0 + (c[pair] - 1.0) * (1.0 - u[pair]) / 2.0
                D[pair] *= kappa * math.exp(-alpha * u[pair])
            else:
                D[pair] *= math.exp(-alpha * u[pair])
    return trace


def score(trace, X):
    """Return the scores (m, k) of any rows by the rules of a trace (not of `direct`)."""
    k = trace.h[0].shape[1]
    pairs = expanded(X, k)
    H = np.full((len(X), k), 1.0 / k) if trace.convex else np.zeros((len(X), k))
    for alpha, rule in zip(trace.alphas, trace.rules, strict=True):
        h = np.asarray(rule.predict(pairs), dtype=float).reshape(len(X), k)
        f = stochastic(h) if trace.makes_stochastic else h
        H = (1.0 - alpha) * H + alpha * f if trace.convex else H + alpha * f
    return H


# --- Theorem 4.2 ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Rate:
    """How fast Lp-CSB-A with the exact learner and the step of Eq. 10 nears the infimum.

    ``gaps``    L(H_t) - inf L for t = 1, 2, ..., L being the average over rows
    ``bounds``  9 M / (t + 2)
    ``lower``   a certified lower bound of inf L, from which the gaps are taken
    ``upper``   the L of the best combination found: inf L lies between the two
    """

    gaps: np.ndarray
    bounds: np.ndarray
    alphas: list[float]
    lower: float
    upper: float
    stopped: str


def infimum(C, hypotheses, p):
    """Return (lower, upper) around the least average L over convex combinations.

    The upper is attained by scipy's solution. L is convex: it is nowhere below its tangent at that
    solution, whose least value over the combinations is at one of the hypotheses.
    """
    C = np.asarray(C, dtype=float)
    n, k = C.shape
    F = [one_hot(classes, k) for classes in hypotheses]

    def mixture(q):
        return sum(q[m] * F[m] for m in range(len(F)))

    def slopes(q):
        w = norm_weights(np.clip(mixture(q), 0.0, 1.0), C, p)
        return np.array([p * float((w * f).sum()) / n for f in F])

    solution = minimize(
        lambda q: loss(np.clip(mixture(q), 0.0, 1.0), C, p) / n,
        np.full(len(F), 1.0 / len(F)),
        jac=slopes,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * len(F),
        constraints=[{"type": "eq", "fun": lambda q: q.sum() - 1.0, "jac": np.ones_like}],
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    q = np.clip(solution.x, 0.0, 1.0)
    q = q / q.sum()
    upper, slope = loss(mixture(q), C, p) / n, slopes(q)
    return upper + min(0.0, float(slope.min() - slope @ q)), upper


def theorem_42(C, hypotheses, p, rounds):
    """Run Lp-CSB-A over a finite class of functional hypotheses, each an (n,) array of classes.

    The theorem speaks of averages: with sums over n rows its ||f - H||^2 <= 4 fails, and so does
    the bound. The steps are the same either way. A run that ends early stays where it is.
    """
    C = np.asarray(C, dtype=float)
    n, k = C.shape

    def exact(W):
        spent = [sum(W[i, f[i]] for i in range(n)) for f in hypotheses]
        return hypotheses[spent.index(min(spent))]

    trace = run_lp_csb(
        C, p=p, rounds=rounds, variant="direct", step="bound", make_component=exact, floor=0.0
    )
    losses = [L / n for L in trace.losses] or [loss(np.full((n, k), 1.0 / k), C, p) / n]
    losses += [losses[-1]] * (rounds - len(losses))
    lower, upper = infimum(C, hypotheses, p)
    bounds = np.array([9.0 * smoothness(C, p) / (t + 2) for t in range(1, rounds + 1)])
    gaps = np.array(losses) - lower
    return Rate(gaps, bounds, trace.alphas, lower, upper, trace.stopped)


# --- worked by hand -------------------------------------------------------------------------


@dataclass(frozen=True)
class Worked:
    """Two rounds on three rows, k = 3, p = 2, y* = 0, 1, 2, with given rules.

    C = 0 1 3 / 2 0 2 / 4 1 0, whose rows sum to 4, 4, 5. ``weights`` are those of each round up
    to normalisation.
    """

    h: tuple[Any, ...]
    weights: tuple[Any, ...]
    labels: tuple[Any, ...]
    alphas: tuple[float, ...]
    H: tuple[Any, ...]

    C = np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 2.0], [4.0, 1.0, 0.0]])


_right = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
_h1 = ((1, 1, 0), (0, 1, 1), (0, 0, 1))
_h2 = ((1, 0, 1), (0, 1, 0), (1, 0, 1))
# w = C/3; in sixths, C off y* and the row's sum on y*.
_first = ((4, 1, 3), (2, 4, 2), (4, 1, 5))

WORKED = {
    # alpha = 1, 1/2. H_1 = h_1, so that w = C where h_1 is 1: 1 at (0, 1) and 2 at (1, 2).
    # In halves, row 0: 1 on y* and 1 at (0, 1); row 1: 2 on y* and 2 at (1, 2); row 2: nothing.
    # H_2 = (h_1 + h_2)/2; L(H_2) = 1/4 (1 + 3) + 1/4 2 + 1/4 4 = 5/2.
    "relational-harmonic": Worked(
        (_h1, _h2),
        (_first, ((1, 1, 0), (0, 2, 2), (0, 0, 0))),
        (_right, _right),
        (1.0, 0.5),
        (_h1, ((1, 0.5, 0.5), (0, 1, 0.5), (0.5, 0, 1))),
    ),
    # M = 4 * 2 * 1 * 1 = 8.
    # Round 1: sum 2 H C (h - H) = 2/3 (sum C h - 13/3) = 2/3 (3 - 13/3) = -8/9; five ones and four
    # zeros make ||h - H||^2 = (5 * 4 + 4)/9 = 8/3; alpha = (8/9)/(64/3) = 1/24.
    # H_1 = 23/72 + 3/72 h_1: 26/72 or 23/72. w in 1/72: 0 26 69 / 46 0 52 / 92 23 0.
    # Round 2, the right rule: sum C H^2 in 1/72^2 is 676 + 3*529 + 2*529 + 2*676 + 4*529 + 529 =
    # 7318; ||h - H||^2 is 3 * 46^2 + 2 * 676 + 4 * 529 = 9816; alpha = 2 * 7318/(8 * 9816).
    "relational-bound": Worked(
        (_h1, _right),
        (_first, ((95, 26, 69), (46, 98, 52), (92, 23, 115))),
        (_right, _right),
        (1 / 24, 3659 / 19632),
        (
            ((26 / 72, 26 / 72, 23 / 72), (23 / 72, 26 / 72, 26 / 72), (23 / 72, 23 / 72, 26 / 72)),
            tuple(
                tuple(
                    ((19632 - 3659) * (26 if _h1[i][y] else 23) / 72 + 3659 * _right[i][y]) / 19632
                    for y in range(3)
                )
                for i in range(3)
            ),
        ),
    ),
    # w in thirds is C; less a third of its row's sum: . -1/3 5/3 / 2/3 . 2/3 / 7/3 -2/3 ., and on
    # y* the sum of these, 4/3, 4/3, 5/3. In thirds of that: 4 1 5 / 2 4 2 / 7 2 5.
    # h_1 claims two classes on rows 0 and 1: f = 1/2 1/2 0 / 0 1/2 1/2 / 0 0 1 = H_1.
    # w in halves: . 1 0 / 0 . 2 / 0 0 .; less a third of the sum: . 2/3 -1/3 / -2/3 . 4/3 / 0 0 .,
    # and on y* 1/3, 2/3, 0. In thirds: 1 2 1 / 2 2 4 / 0 0 0, labels of the negative ones flipped.
    # h_2 here claims nothing on row 2: f = 1/2 0 1/2 / 0 1 0 / 1/3 1/3 1/3.
    "adjusted-harmonic": Worked(
        (_h1, ((1, 0, 1), (0, 1, 0), (0, 0, 0))),
        (((4, 1, 5), (2, 4, 2), (7, 2, 5)), ((1, 2, 1), (2, 2, 4), (0, 0, 0))),
        (((1, 1, 0), (0, 1, 0), (0, 1, 1)), ((1, 0, 1), (1, 1, 0), (0, 0, 1))),
        (1.0, 0.5),
        (
            ((0.5, 0.5, 0), (0, 0.5, 0.5), (0, 0, 1)),
            ((0.5, 0.25, 0.25), (0, 0.75, 0.25), (1 / 6, 1 / 6, 4 / 6)),
        ),
    ),
    # H_0 costs 4/3, 4/3, 5/3 on the rows: the weights of the adjusted round 1. H_1, as there,
    # costs 1/2, 1, 0; less C: 1/2 -1/2 -5/2 / -1 1 -1 / -4 -1 0. In halves: 1 1 5 / 2 2 2 / 8 2 0.
    "gbse": Worked(
        (_h1, ((1, 0, 1), (0, 1, 0), (0, 0, 0))),
        (((4, 1, 5), (2, 4, 2), (7, 2, 5)), ((1, 1, 5), (2, 2, 2), (8, 2, 0))),
        (((1, 1, 0), (0, 1, 0), (0, 1, 1)), ((1, 0, 0), (0, 1, 0), (0, 0, 0))),
        (1.0, 0.5),
        (
            ((0.5, 0.5, 0), (0, 0.5, 0.5), (0, 0, 1)),
            ((0.5, 0.25, 0.25), (0, 0.75, 0.25), (1 / 6, 1 / 6, 4 / 6)),
        ),
    ),
}
