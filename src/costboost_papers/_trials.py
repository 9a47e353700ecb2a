"""The trials of `costboost_papers.loss_properties`: losses in one form, and seeded random draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax

from costboost._typing import Floats, Ints
from costboost.losses.base import BinaryLoss, CostPair, Loss
from costboost.losses.multiclass import MulticlassLoss

__all__ = [
    "Reading",
    "class_probabilities",
    "cost_matrices",
    "deciding_scores",
    "read",
]

# --- losses as functions of truth, centred scores and cost matrix ---------------------------------


@dataclass(frozen=True)
class _Scores:
    """A multi-class loss of scores: truth z (n,), scores S (n, k), cost matrices C (n, k, k)."""

    loss: MulticlassLoss

    def value(self, z: Ints, S: Floats, C: Floats) -> Floats:
        return self.loss.value(z, S, C[np.arange(len(z)), z])

    def gradient(self, z: Ints, S: Floats, C: Floats) -> Floats:
        return self.loss.gradient(z, S, C[np.arange(len(z)), z])


@dataclass(frozen=True)
class _Simplex(_Scores):
    """A multi-class loss of class probabilities H = softmax(S)."""

    def value(self, z: Ints, S: Floats, C: Floats) -> Floats:
        return super().value(z, softmax(S, axis=1), C)

    def gradient(self, z: Ints, S: Floats, C: Floats) -> Floats:
        H = softmax(S, axis=1)
        G = super().gradient(z, H, C)
        return np.asarray(H * (G - np.einsum("nk,nk->n", G, H)[:, None]))


@dataclass(frozen=True)
class _Margin:
    """A binary loss of the margin F = S_1 − S_0."""

    loss: BinaryLoss

    def value(self, z: Ints, S: Floats, C: Floats) -> Floats:
        return self.loss.value(*self._binary(z, S, C))

    def gradient(self, z: Ints, S: Floats, C: Floats) -> Floats:
        slope = self.loss.gradient(*self._binary(z, S, C))
        return np.stack([-slope, slope], axis=1)

    def _binary(self, z: Ints, S: Floats, C: Floats) -> tuple[Floats, Floats, CostPair]:
        """The y, F and (C1, C2) that the loss knows."""
        return np.where(z == 1, 1.0, -1.0), S[:, 1] - S[:, 0], (C[:, 1, 0], C[:, 0, 1])


Reading: TypeAlias = _Scores | _Margin


def read(loss: Loss, n_classes: int | None, simplex: bool | None) -> tuple[Reading, int]:
    """The loss as a function of centred scores, and the number of classes."""
    if isinstance(loss, BinaryLoss):
        if n_classes not in (None, 2):
            raise ValueError(
                f"n_classes must be 2 for the binary loss {loss!r}; got {n_classes!r}. Leave it "
                "out, or give a multi-class loss."
            )
        return _Margin(loss), 2
    if not isinstance(loss, MulticlassLoss):
        raise ValueError(
            f"loss must be an instance of MulticlassLoss or BinaryLoss; got {loss!r}. Subclass "
            "MulticlassLoss: it needs a value only."
        )
    k = 3 if n_classes is None else n_classes
    if k < 2:
        raise ValueError(f"n_classes must be at least 2; got {k!r}. Leave it out for 3 classes.")
    if simplex is None:
        simplex = loss.on_simplex
    return (_Simplex if simplex else _Scores)(loss), k


# --- trials ---------------------------------------------------------------------------------------


def cost_matrices(costs: str | ArrayLike, n: int, k: int, rng: np.random.Generator) -> Floats:
    """Cost matrices, (n, k, k)."""
    # Unit costs, then (four in ten) whole numbers from 1 to 10, which make readable witnesses, then
    # (half) positive numbers over four decades with zeros among them.
    unit = 1.0 - np.eye(k)
    if isinstance(costs, str):
        if costs == "unit":
            return np.broadcast_to(unit, (n, k, k))
        if costs not in ("any", "symmetric"):
            raise ValueError(
                'costs must be "any", "symmetric", "unit", a cost matrix or a stack of them; got '
                f"{costs!r}."
            )
        C = np.concatenate(
            [
                np.ones((n // 10, k, k)),
                rng.integers(1, 11, size=(n // 2 - n // 10, k, k)).astype(np.float64),
                _wide(n - n // 2, k, rng),
            ]
        )
        if costs == "symmetric":
            upper = np.triu(C, 1)
            C = upper + upper.transpose(0, 2, 1)
        C *= unit
        # A truth for which every decision is free has no right decision.
        free = (C.sum(axis=2) == 0.0).any(axis=1)
        C[free] = unit
        return C
    given = np.atleast_3d(np.asarray(costs, dtype=np.float64).T).T
    if (
        given.shape[1:] != (k, k)
        or not np.isfinite(given).all()
        or (given != given * unit).any()
        or (given < 0).any()
        or (given.sum(axis=2) <= 0).any()
    ):
        raise ValueError(
            f"costs must be finite ({k}, {k}) matrices, truth x decision, with a zero diagonal, "
            f"nothing negative and something positive in every row; got {costs!r}. Subtract from "
            "each row its diagonal entry."
        )
    return np.resize(given, (n, k, k))


def _wide(n: int, k: int, rng: np.random.Generator) -> Floats:
    C = 10.0 ** rng.uniform(-2.0, 2.0, size=(n, k, k))
    C[rng.random((n, k, k)) < 0.15] = 0.0
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
                S = np.full(k, 0.0)
                S[0] = 1.0
                S[1 : 1 + runners] = 1.0 - gap
                rest = k - 1 - runners
                if rest:
                    S[1 + runners :] = -S.sum() / rest
                S = size * S
                yield np.round(S - S.mean(), 12)
