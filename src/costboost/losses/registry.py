"""The losses by name."""

from __future__ import annotations

from typing import Any, Literal, TypeVar, overload

from costboost.losses.base import BinaryLoss, Loss
from costboost.losses.multiclass import MulticlassLoss

__all__ = ["LOSSES", "named_loss", "register"]

_Class = TypeVar("_Class", bound=type[Loss])

LOSSES: dict[str, Loss] = {}
"""The losses of scores by name; `register` adds one."""


def register(loss: _Class) -> _Class:
    """Put a loss into `LOSSES` under its ``name``: a class decorator.

    Parameters
    ----------
    loss : type
        A subclass of `BinaryLoss` or `MulticlassLoss` that can be made without arguments.

    Returns
    -------
    type
        The same class.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost.losses import MulticlassLoss
    >>> @register
    ... class Quadratic(MulticlassLoss):
    ...     name = "quadratic"
    ...     def value(self, y, F, C):
    ...         return 0.5 * ((F + C) ** 2).sum(axis=1)
    >>> LOSSES["quadratic"]
    Quadratic()
    >>> del LOSSES["quadratic"]
    """
    name = vars(loss).get("name", "")
    if not isinstance(name, str) or not name:
        raise ValueError(
            f"register needs a loss that declares its name, and {loss.__name__} has name={name!r}. "
            'Write name = "..." in the class.'
        )
    other = type(LOSSES[name]) if name in LOSSES else loss
    # The same class again is a cell of a notebook run twice.
    if (other.__module__, other.__qualname__) != (loss.__module__, loss.__qualname__):
        raise ValueError(
            f"The name of a loss must be unique, and {name!r}, the name of {loss.__name__}, is "
            f"already that of {other.__name__}. Choose another name."
        )
    LOSSES[name] = loss()
    return loss


@overload
def named_loss(loss: object, owner: str) -> Loss: ...


@overload
def named_loss(loss: object, owner: str, *, binary: Literal[True]) -> BinaryLoss: ...


@overload
def named_loss(loss: object, owner: str, *, binary: Literal[False]) -> MulticlassLoss: ...


def named_loss(loss: object, owner: str, *, binary: bool | None = None) -> Any:
    """The loss of that name, or the loss itself.

    Parameters
    ----------
    loss : str or Loss
        What a user passed.
    owner : str
        Class or function that error messages name.
    binary : bool, optional
        Only losses of one score (True) or only those of a score per class (False).

    Returns
    -------
    Loss
        A loss of scores.

    Examples
    --------
    >>> named_loss("gll", "MyClassifier")
    GLL()
    """
    fitting = [name for name, known in LOSSES.items() if binary in (None, known.is_binary)]
    found = LOSSES.get(loss) if isinstance(loss, str) else loss
    if isinstance(found, Loss) and found.on_simplex:
        raise ValueError(
            f"The 'loss' parameter of {owner} must be a loss of scores, and {loss!r} is one of "
            "probabilities. Use LpCSBClassifier, or another loss."
        )
    if isinstance(found, Loss) and binary in (None, found.is_binary):
        return found
    kinds = {None: "a BinaryLoss or a MulticlassLoss", True: "a BinaryLoss"}
    raise ValueError(
        f"The 'loss' parameter of {owner} must be one of {fitting}, or "
        f"{kinds.get(binary, 'a MulticlassLoss')}. Got {loss!r} instead."
    )
