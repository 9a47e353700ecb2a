r"""Properties of a loss: guess-aversion, Fisher consistency, calibration.

Each property is a statement about all scores, class probabilities and cost matrices. The functions
here search for a counterexample in seeded random trials and return a `Verdict`. A counterexample
settles the question; its absence after many trials is only evidence.

Throughout, ``C[z, j]`` is the cost of deciding j when the truth is z: zero diagonal, nothing
negative, something positive in every row. Scores S are centred, :math:`\sum_j S_j = 0`; the
decision is argmax S; a *guess* is S = 0, where all classes tie. The *risk* of S under class
probabilities :math:`\eta` is :math:`\sum_z \eta_z L(C, z, S)`, and the Bayes decision is
:math:`\arg\min_j \sum_z \eta_z C_{zj}`.

guess-averse
    L(C, z, S) < L(C, z, 0) whenever S decides the truth z (Beijbom et al. 2014, Def. 3): a right
    decision always loses less than a guess.
calibrated
    For every :math:`\eta` and C, the infimum of the risk over the scores that do not take the Bayes
    decision is above the infimum over all scores: with enough data and rich enough rules,
    minimising the loss leads to the least cost. The definition uses infima, because the minimum
    may lie at infinity.
c-calibrated
    Every score that decides the truth loses less than every score that does not (Vernet et al.
    2011, as Beijbom et al. 2014 read it): it implies guess-aversion, not the other way round.
Fisher consistent
    Calibrated for unit costs only, where the Bayes decision is the most probable class. Calibrated
    losses are Fisher consistent; so may be a loss that ignores costs or uses them wrongly.

Three kinds of loss are read as functions of centred scores. A multi-class loss is one already. A
binary loss is the case k = 2 with margin F = S_1 − S_0 and costs C1 = C[1, 0], C2 = C[0, 1]. A loss
of class probabilities H (`PNorm`) is read through H = softmax(S), which has the same largest entry
and makes the guess the uniform distribution: the laws are then those of H inside the simplex.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import softmax

from costboost._typing import AnyArray, Bools, Floats, Ints
from costboost.losses import BinaryLoss, Loss, MulticlassLoss

__all__ = [
    "GammaPhi",
    "Verdict",
    "Witness",
    "is_c_calibrated",
    "is_calibrated",
    "is_fisher_consistent",
    "is_guess_averse",
]

# --- losses as functions of truth, centred scores and cost matrix ---------------------------------


class Reading:
    """Any loss as a function of truth z (n,), scores S (n, k) and cost matrices C (n, k, k)."""

    def __init__(self, loss: Any, n_classes: int | None) -> None:
        if not isinstance(loss, (BinaryLoss, MulticlassLoss)):
            raise ValueError(
                f"loss must be an instance of MulticlassLoss or BinaryLoss; got {loss!r}. Subclass "
                "MulticlassLoss: it needs a value only."
            )
        self.loss, self.binary = loss, isinstance(loss, BinaryLoss)
        self.k = n_classes or (2 if self.binary else 3)
        if self.k < 2 or (self.binary and self.k > 2):
            rule = f"2 for the binary loss {loss!r}" if self.binary else "at least 2"
            raise ValueError(f"n_classes must be {rule}; got {n_classes!r}. Leave it out.")

    def value(self, z: Ints, S: Floats, C: Floats) -> Floats:
        return np.asarray(self.loss.value(*self._own(z, S, C)))

    def gradient(self, z: Ints, S: Floats, C: Floats) -> Floats:
        y, F, costs = self._own(z, S, C)
        G = np.asarray(self.loss.gradient(y, F, costs))
        if self.binary:
            return np.stack([-G, G], axis=1)
        return F * (G - np.einsum("nk,nk->n", G, F)[:, None]) if self.loss.on_simplex else G

    def _own(self, z: Ints, S: Floats, C: Floats) -> tuple[AnyArray, Floats, Any]:
        """The arguments that the loss knows; a binary one has y, the margin and (C1, C2)."""
        if self.binary:
            return np.where(z == 1, 1.0, -1.0), S[:, 1] - S[:, 0], (C[:, 1, 0], C[:, 0, 1])
        return z, softmax(S, axis=1) if self.loss.on_simplex else S, C[np.arange(len(z)), z]


class GammaPhi(MulticlassLoss):
    r"""The family of Beijbom et al. (2014, Def. 4): γ(Σ_j C_zj φ(S_z − S_j)).

    Guess-averse if γ increases and φ(v) < φ(0) for every v > 0 (Lemma 1). GEL has γ(v) = v and
    φ(v) = exp(−v), GLL γ(v) = log(1 + v). Derivatives are differences: for study, not for fits.

    Parameters
    ----------
    gamma, phi : callable
        Functions of an array.
    """

    def __init__(self, gamma: Callable[[Floats], Floats], phi: Callable[[Floats], Floats]) -> None:
        self.gamma = gamma
        self.phi = phi

    def value(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """The loss of each row."""
        own = np.take_along_axis(F, y[:, None], axis=1)
        wrong = C * (np.arange(F.shape[1]) != y[:, None])
        return self.gamma((wrong * self.phi(own - F)).sum(axis=1))


# --- trials ---------------------------------------------------------------------------------------

Kind = Literal["any", "symmetric", "unit"]


def cost_matrices(costs: Kind, n: int, k: int, rng: np.random.Generator) -> Floats:
    """Cost matrices, (n, k, k)."""
    # Unit costs, then (four in ten) whole numbers from 1 to 10, which make readable witnesses, then
    # (half) positive numbers over four decades with zeros among them.
    unit = 1.0 - np.eye(k)
    if costs not in ("any", "symmetric", "unit"):
        raise ValueError(f'costs must be "any", "symmetric" or "unit"; got {costs!r}.')
    if costs == "unit":
        return np.broadcast_to(unit, (n, k, k))
    whole = rng.integers(1, 11, size=(n // 2 - n // 10, k, k)).astype(np.float64)
    decades = 10.0 ** rng.uniform(-2.0, 2.0, size=(n - n // 2, k, k))
    decades[rng.random(decades.shape) < 0.15] = 0.0
    C = np.concatenate([np.ones((n // 10, k, k)), whole, decades])
    if costs == "symmetric":
        upper = np.triu(C, 1)
        C = upper + upper.transpose(0, 2, 1)
    C *= unit
    # A truth for which every decision is free has no right decision.
    C[(C.sum(axis=2) == 0.0).any(axis=1)] = unit
    return C


def class_probabilities(n: int, k: int, rng: np.random.Generator) -> Floats:
    """Class probabilities (n, k): twentieths (for k > 10, finer), then any, none of them zero."""
    parts = max(20, 2 * k)
    whole = rng.dirichlet(np.ones(k), size=n)
    coarse = 1 + np.array([rng.multinomial(parts - k, row) for row in whole[: n // 2]], dtype=int)
    return np.concatenate([coarse.reshape(-1, k) / parts, 0.99 * whole[n // 2 :] + 0.01 / k])


def deciding_scores(n: int, k: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Truths (n,) and centred scores (n, k) that decide them: half designed, half random."""
    designed = list(_designs(k))
    patterns = np.array(designed)[np.arange(n // 2) // k % len(designed)]
    wild = rng.normal(size=(n - n // 2, k)) * 10.0 ** rng.uniform(-2.0, 1.0, size=(n - n // 2, 1))
    wild -= wild.mean(axis=1, keepdims=True)
    # The largest first, then turned to where the truth is.
    leader = wild.argmax(axis=1)
    rows = np.arange(len(wild))
    wild[rows, leader], wild[:, 0] = wild[:, 0].copy(), wild[rows, leader].copy()
    z = np.arange(n) % k
    S = np.concatenate([patterns, wild])
    return z, S[np.arange(n)[:, None], (np.arange(k) - z[:, None]) % k]


def _designs(k: int) -> Iterator[Floats]:
    """Centred scores led by class 0, runners-up at a small distance, the rest far below."""
    for size in (3.0, 1.0, 0.1, 10.0):
        for gap in (1.0 / 3.0, 0.03, 0.9):
            for runners in range(1, max(k - 1, 2)):
                S = np.zeros(k)
                S[0], S[1 : 1 + runners] = 1.0, 1.0 - gap
                S[1 + runners :] = -S.sum() / max(k - 1 - runners, 1)
                S = size * S
                yield np.round(S - S.mean(), 12)


# --- the properties ------------------------------------------------------------------------------

# Scores that are compared, and risks that are minimised, in search of a counterexample.
_TRIALS, _RISKS = 20_000, 500

# Two decisions whose expected costs differ by less than this share are a tie.
_NEAR_TIE = 0.05

# Scores further out than this are as good as infinite.
_RADIUS = 30.0


@dataclass(frozen=True, eq=False)
class Witness:
    """A case in which the loss prefers the wrong scores to the right ones."""

    probabilities: Floats
    costs: Floats
    right: Floats
    right_risk: float
    preferred: Floats
    preferred_risk: float

    @property
    def decision(self) -> int:
        """The Bayes decision."""
        return int(np.argmin(self.probabilities @ self.costs))

    def __str__(self) -> str:
        truth = (
            f"truth {int(self.probabilities.argmax())}"
            if self.probabilities.max() == 1.0
            else f"probabilities {_words(self.probabilities)}"
        )
        return (
            f"{truth}, costs {_words(self.costs)}: deciding {self.decision} with scores "
            f"{_words(self.right)} risks {self.right_risk:.4g}, but scores "
            f"{_words(self.preferred)} risk {self.preferred_risk:.4g}"
        )


@dataclass(frozen=True, eq=False)
class Verdict:
    """The outcome of a search for a counterexample; true where none was found."""

    witness: Witness | None
    tried: int

    @property
    def holds(self) -> bool:
        """Whether no counterexample was found."""
        return self.witness is None

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        if self.witness is None:
            return f"holds in {self.tried} trials"
        return f"fails in trial {self.tried}: {self.witness}"


def is_guess_averse(loss: Loss, n_classes: int | None = None, *, costs: Kind = "any") -> Verdict:
    """Whether right decisions always lose less than a guess."""
    # The first half of the trials uses scores where violations are likely: a few runners-up close
    # behind the truth and the others far below, such as [3, 2, −5]. The second half is random.
    reading, rng = Reading(loss, n_classes), np.random.default_rng(0)
    C = cost_matrices(costs, _TRIALS, reading.k, rng)
    z, S = deciding_scores(_TRIALS, reading.k, rng)
    return _always_less(reading, z, C, S, np.zeros_like(S))


def is_c_calibrated(loss: Loss) -> Verdict:
    """Whether every right decision loses less than every wrong one."""
    reading, rng = Reading(loss, None), np.random.default_rng(0)
    k = reading.k
    C = cost_matrices("any", _TRIALS, k, rng)
    z, S = deciding_scores(_TRIALS, k, rng)
    # A wrong decision beside each right one: scores of another trial, led by another class.
    other = rng.permutation(_TRIALS)
    shift = (1 + z - z[other]) % k
    wrong = S[other][np.arange(_TRIALS)[:, None], (np.arange(k) - shift[:, None]) % k]
    return _always_less(reading, z, C, S, wrong)


def _always_less(reading: Reading, z: Ints, C: Floats, right: Floats, other: Floats) -> Verdict:
    """Whether the right scores of every trial lose less than the others."""
    value, rival = reading.value(z, right, C), reading.value(z, other, C)
    broken = np.flatnonzero(~(value < rival))
    if broken.size == 0:
        return Verdict(None, len(z))
    i = int(broken[0])
    truth = np.eye(right.shape[1])[z[i]]
    witness = Witness(truth, C[i], right[i], float(value[i]), other[i], float(rival[i]))
    return Verdict(witness, i + 1)


def is_calibrated(loss: Loss, n_classes: int | None = None, *, costs: Kind = "any") -> Verdict:
    """Whether the minimiser of the risk takes the Bayes decision, whatever the costs."""
    # All risks are minimised together by a damped Newton method. Where the minimiser takes another
    # decision, or ties, the least risk of each decision is computed apart, and the trial is a
    # counterexample only if some other decision comes as low as the Bayes decision. This is exact
    # up to rounding for differentiable losses that are convex in their scores or probabilities.
    # Trials whose minimiser was not found do not count; a loss with kinks, such as a hinge, has too
    # many of them and is refused. Rounding its corners helps, but may change the verdict.
    reading, rng = Reading(loss, n_classes), np.random.default_rng(0)
    C = cost_matrices(costs, _RISKS, reading.k, rng)
    eta = class_probabilities(_RISKS, reading.k, rng)
    expected = np.einsum("nz,nzj->nj", eta, C)
    best, second = np.sort(expected, axis=1)[:, :2].T
    problem = _Problem(reading, eta, C).rows(second - best > _NEAR_TIE * second)
    S, found = problem.minimise()
    if found.sum() < 0.9 * found.size:
        raise ValueError(
            f"loss must have a derivative everywhere; the minimiser of {loss!r} was found in only "
            f"{found.sum()} of {found.size} trials. Round its corners, for example max(0, u) to "
            "h * log(1 + exp(u / h)), and take the verdict for that loss alone."
        )
    problem, S = problem.rows(found), S[found]
    for i in np.flatnonzero(_lead(S, problem.bayes) < 1e-4):
        witness = problem.rows(np.array([i])).counterexample(S[i])
        if witness is not None:
            return Verdict(witness, int(i) + 1)
    return Verdict(None, len(S))


def is_fisher_consistent(loss: Loss, n_classes: int | None = None) -> Verdict:
    """Whether, with unit costs, the minimiser of the risk decides the most probable class."""
    return is_calibrated(loss, n_classes, costs="unit")


# --- the least risk -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Problem:
    """Risks of n trials: probabilities eta (n, k), cost matrices C (n, k, k)."""

    reading: Reading
    eta: Floats
    C: Floats

    @property
    def bayes(self) -> Ints:
        """The decisions of least expected cost, (n,)."""
        expected = np.einsum("nz,nzj->nj", self.eta, self.C)
        return np.asarray(expected.argmin(axis=1), dtype=np.intp)

    def rows(self, chosen: Ints | Bools) -> _Problem:
        return _Problem(self.reading, self.eta[chosen], self.C[chosen])

    def _cases(self, S: Floats) -> tuple[Ints, Floats, Floats]:
        """Every trial once with each truth."""
        n, k = self.eta.shape
        return np.tile(np.arange(k), n), np.repeat(S, k, axis=0), np.repeat(self.C, k, axis=0)

    def risk(self, S: Floats) -> Floats:
        """Expected loss of the scores, (n,)."""
        L = self.reading.value(*self._cases(S)).reshape(self.eta.shape)
        return np.asarray(np.einsum("nz,nz->n", self.eta, L))

    def gradient(self, S: Floats) -> Floats:
        """Its derivatives by the scores, within sum 0, (n, k)."""
        n, k = self.eta.shape
        L = self.reading.gradient(*self._cases(S)).reshape(n, k, k)
        G = np.einsum("nz,nzj->nj", self.eta, L)
        return np.asarray(G - G.mean(axis=1, keepdims=True))

    def minimise(self, rounds: int = 60) -> tuple[Floats, Bools]:
        """Scores of least risk, (n, k), and whether the gradient vanishes there or at infinity."""
        # Newton's method in an orthonormal basis of the scores with sum 0; second derivatives are
        # differences of the gradient; negative curvature counts as positive, so that every step
        # descends.
        n, k = self.eta.shape
        S = np.zeros((n, k))
        scale = self.risk(S)
        basis = np.linalg.qr(np.column_stack([np.ones(k), np.eye(k)[:, 1:]]))[0][:, 1:]
        found = np.zeros(n, dtype=bool)
        open_ = np.arange(n)  # not yet at their minimum
        for _ in range(rounds):
            part = self.rows(open_)
            G = part.gradient(S[open_])
            done = np.abs(G).max(axis=1) <= 1e-7 * scale[open_]
            found[open_[done]] = True
            open_, G, part = open_[~done], G[~done], part.rows(~done)
            if open_.size == 0:
                break
            here = S[open_]
            step = part._newton_step(here, G, basis)
            S[open_] = part._walk(here, step, np.einsum("nk,nk->n", G, step))
        return S, found | (np.abs(S).max(axis=1) > 0.999 * _RADIUS)

    def _newton_step(self, S: Floats, G: Floats, basis: Floats, h: float = 1e-4) -> Floats:
        """Steps (n, k) of length at most 2."""
        curvature = np.stack(
            [(self.gradient(S + h * b) - self.gradient(S - h * b)) @ basis for b in basis.T], axis=1
        ) / (2.0 * h)
        curvature = 0.5 * (curvature + curvature.transpose(0, 2, 1))
        bends, axes = np.linalg.eigh(curvature)
        bends = np.abs(bends)
        bends = np.maximum(bends, 1e-12 + 1e-9 * bends.max(axis=1, keepdims=True))
        along = np.einsum("nij,ni->nj", axes, G @ basis) / bends
        step = -np.einsum("nij,nj->ni", axes, along) @ basis.T
        length = np.linalg.norm(step, axis=1, keepdims=True)
        return np.asarray(step * np.minimum(1.0, 2.0 / np.maximum(length, 1e-300)))

    def _walk(self, S: Floats, step: Floats, slope: Floats) -> Floats:
        """The scores after as much of each step as lowers the risk, inside the radius."""
        start = self.risk(S)
        share = np.ones(len(S))
        for _ in range(30):
            moved = S + share[:, None] * step
            high = ~(self.risk(moved) <= start + 1e-4 * share * slope)
            if not high.any():
                break
            share[high] *= 0.5
        else:
            share[high] = 0.0
        moved = S + share[:, None] * step
        size = np.abs(moved).max(axis=1, keepdims=True)
        return np.asarray(moved * np.minimum(1.0, _RADIUS / np.maximum(size, _RADIUS)))

    def counterexample(self, S: Floats) -> Witness | None:
        """The witness of a single trial, if another decision has as little risk as Bayes'."""
        decision = int(self.bayes[0])
        right, right_risk, certain = self._least(decision, S)
        if not certain:
            return None
        preferred, risk, _ = min(
            (self._least(other, S) for other in range(len(S)) if other != decision),
            key=lambda outcome: outcome[1],
        )
        if risk > right_risk + 1e-9 * float(self.risk(np.zeros((1, len(S))))[0]):
            return None
        return Witness(self.eta[0], self.C[0], right, right_risk, preferred, risk)

    def _least(self, decision: int, start: Floats) -> tuple[Floats, float, bool]:
        """The least risk of a single trial where ``decision`` has (or shares) the largest score."""
        # The scores, their risk, and whether the first-order conditions hold there.
        others = np.delete(np.arange(len(start)), decision)

        def scores(behind: Floats) -> Floats:
            S = np.zeros((1, len(start)))
            S[0, others] = -behind
            return np.asarray(S - S.mean())

        def objective(behind: Floats) -> tuple[float, Floats]:
            S = scores(behind)
            return float(self.risk(S)[0]), -self.gradient(S)[0, others]

        far = 2.0 * _RADIUS
        result = minimize(
            objective,
            np.maximum(start[decision] - start[others], 0.0),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, far)] * len(others),
            options={"ftol": 1e-15, "gtol": 1e-12, "maxiter": 500},
        )
        behind = np.asarray(result.x, dtype=np.float64)
        risk, slope = objective(behind)
        # How far one step down the slope would lead inside the bounds.
        rest = np.abs(np.clip(behind - slope, 0.0, far) - behind).max()
        return scores(behind)[0], risk, bool(rest <= 1e-5 * self.risk(np.zeros((1, len(start))))[0])


def _lead(S: Floats, decisions: Ints) -> Floats:
    """How far the score of each row's decision is ahead of the others, (n,)."""
    ahead = np.take_along_axis(S, decisions[:, None], axis=1) - S
    np.put_along_axis(ahead, decisions[:, None], np.inf, axis=1)
    return np.asarray(ahead.min(axis=1))


def _words(value: ArrayLike) -> str:
    """Numbers in brackets, four digits each."""
    array = np.asarray(value, dtype=np.float64)
    if array.ndim == 0:
        return f"{round(float(array), 12) + 0.0:.4g}"
    return "[" + ", ".join(_words(part) for part in array) + "]"
