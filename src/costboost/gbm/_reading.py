"""What the engines hand over, checked: losses by name, scores, labels, weights, options."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Ints
from costboost.losses import (
    GEL,
    GLL,
    MC,
    AsymmetricLogistic,
    BinaryLoss,
    CostExponential,
    CostLogistic,
    Ls,
    Lt,
    MulticlassLoss,
    PNorm,
    WeightedExponential,
)

__all__ = ["API", "LOSSES", "Engine", "Loss"]

Engine: TypeAlias = Literal["lightgbm", "xgboost"]
API: TypeAlias = Literal["native", "sklearn"]
Loss: TypeAlias = BinaryLoss | MulticlassLoss

LOSSES: dict[str, Loss] = {
    "cost_exponential": CostExponential(),
    "weighted_exponential": WeightedExponential(),
    "cost_logistic": CostLogistic(),
    "asymmetric_logistic": AsymmetricLogistic(),
    "mc": MC(),
    "gel": GEL(),
    "gll": GLL(),
    "ls": Ls(),
    "lt": Lt(),
}
"""The losses by name."""


def named_loss(loss: object, owner: str) -> Loss:
    """The loss of that name, or the loss itself."""
    if isinstance(loss, PNorm):
        raise ValueError(
            f"The 'loss' parameter of {owner} must be a loss of scores, and {loss!r} is one of "
            "probabilities. Use LpCSBClassifier, or another loss."
        )
    if isinstance(loss, BinaryLoss | MulticlassLoss):
        return loss
    if not isinstance(loss, str) or loss not in LOSSES:
        raise ValueError(
            f"The 'loss' parameter of {owner} must be one of {list(LOSSES)}, a BinaryLoss or a "
            f"MulticlassLoss. Got {loss!r} instead."
        )
    return LOSSES[loss]


def chosen(table: dict[tuple[str, str], Any], engine: str, api: str, owner: str) -> Any:
    """The entry of a table of adapters; the engine must be installed."""
    for name, value, place in (("engine", engine, 0), ("api", api, 1)):
        options = sorted({key[place] for key in table})
        if value not in options:
            raise ValueError(
                f"The {name!r} parameter of {owner} must be one of {options}. Got {value!r} "
                "instead."
            )
    if find_spec(engine) is None:
        raise ImportError(
            f"{owner} with engine={engine!r} needs {engine}, which is not installed: "
            'pip install "costboost[gbm]"'
        )
    return table[engine, api]


def checked_scores(scores: ArrayLike, loss: Loss, owner: str) -> AnyArray:
    """Raw scores as the loss reads them: (n,) for a binary loss, (n, k) for a multi-class one."""
    F = np.asarray(scores)
    if isinstance(loss, BinaryLoss):
        if F.ndim == 2 and F.shape[1] == 1:
            F = F[:, 0]
        if F.ndim != 1:
            raise ValueError(
                f"{owner} with the binary loss {loss!r} needs one score per row, got scores of "
                f"shape {F.shape}. For more than two classes use a multi-class loss, such as "
                "'gll'."
            )
    elif F.ndim != 2 or F.shape[1] < 2:
        raise ValueError(
            f"{owner} with the multi-class loss {loss!r} needs a score per class, (n, k), got "
            f"scores of shape {F.shape}. Set num_class (for two classes and one score, use a "
            "binary loss, such as 'cost_logistic')."
        )
    return F


def checked_codes(labels: ArrayLike, k: int, n: int, owner: str) -> Ints:
    """Class codes 0..k-1 of n rows."""
    y = np.asarray(labels)
    if y.shape != (n,):
        raise ValueError(
            f"{owner} needs one label per row, shape ({n},), got shape {y.shape}. Give the data "
            "its label."
        )
    codes = y.astype(np.intp)
    if (codes != y).any() or codes.min(initial=0) < 0 or codes.max(initial=0) >= k:
        raise ValueError(
            f"{owner} needs class codes 0 to {k - 1} as labels, got values from {y.min():g} to "
            f"{y.max():g}. Encode them, for example by sklearn.preprocessing.LabelEncoder, and "
            "check num_class."
        )
    return codes


def checked_weights(weights: ArrayLike | None) -> AnyArray | None:
    """Weights of the rows; engines without any hand over None or an empty array."""
    if weights is None:
        return None
    w = np.asarray(weights)
    return w if w.size else None
