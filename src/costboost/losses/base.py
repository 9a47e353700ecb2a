"""What every loss answers about itself, how a binary one reads costs, and the losses by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from costboost._numba import Compiled
from costboost._typing import AnyArray, Floats
from costboost.losses.kernels import MAX_EXPONENT

CostPair: TypeAlias = "tuple[ArrayLike, ArrayLike]"

# A class whose errors are free has log-cost -inf. In double precision, costs this far below the
# largest one are as good as free.
_SMALLEST_SHARE = 1e-15


def exp(exponent: Floats, largest: float = MAX_EXPONENT) -> Floats:
    """The exponential, kept finite: exponents above ``largest`` are replaced by it."""
    return np.exp(np.minimum(exponent, largest))


class Loss(ABC):
    """A loss of scores: its formula, and all that the rest of the library asks about it.

    A new loss subclasses `BinaryLoss` or `MulticlassLoss`, declares what differs from the defaults
    below, and is put into `costboost.losses.LOSSES` by the decorator `costboost.losses.register`.
    No other file needs to know it.

    Attributes
    ----------
    name : str
        Its name in `costboost.losses.LOSSES`.
    formula : str
        Its value in plain text, for tables.
    is_binary : bool
        Whether it is a loss of one score and two classes. If not, it takes a score per class.
    on_simplex : bool
        Whether it is a loss of class probabilities instead of scores.
    carries_costs : bool
        Whether costs are in the loss. Scores of such a loss decide by themselves; those of a
        cost-blind loss need the costs once more, to decide for the least expected cost.
    has_probabilities : bool
        Whether its scores have a link to class probabilities, whatever the costs.
    has_probabilities_at_unit_costs : bool
        The same where every mistake costs 1.
    bounds_curvature : bool
        Whether `hessian` is only an upper bound of the second derivatives, positive where these
        are not: the loss is not convex, and `costboost.MCBoostClassifier` does not take it.
    kernel : Compiled or None
        Its derivatives in one compiled pass over the rows (`costboost.losses.kernels`). Without
        one, `raw_derivatives` are used. Name and kernel are not inherited, because a subclass may
        differ from what the kernel computes.
    """

    name: ClassVar[str] = ""
    formula: ClassVar[str] = ""
    is_binary: ClassVar[bool]
    on_simplex: ClassVar[bool] = False
    carries_costs: ClassVar[bool] = True
    has_probabilities: ClassVar[bool] = False
    has_probabilities_at_unit_costs: ClassVar[bool] = False
    bounds_curvature: ClassVar[bool] = False
    kernel: ClassVar[Compiled | None] = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # Neither is inherited: a subclass is another loss, which the kernel may not compute.
        cls.name, cls.kernel = vars(cls).get("name", ""), vars(cls).get("kernel")

    @abstractmethod
    def value(self, y: Any, F: Any, C: Any) -> Floats:
        """The loss of each row."""

    @abstractmethod
    def gradient(self, y: Any, F: Any, C: Any) -> Floats:
        """Its derivatives with respect to the scores."""

    @abstractmethod
    def hessian(self, y: Any, F: Any, C: Any) -> Floats:
        """Its second derivatives with respect to each score."""

    def n_scores(self, n_decisions: int) -> int:
        """How many scores a row needs.

        Parameters
        ----------
        n_decisions : int
            Number of decisions: of classes, unless the costs say otherwise.
        """
        return 1 if self.is_binary else n_decisions

    def checked_scores(self, scores: ArrayLike, owner: str) -> AnyArray:
        """Raw scores in the shape that the loss reads.

        Parameters
        ----------
        scores : array
            Scores from outside.
        owner : str
            Function that error messages name.
        """
        F = np.asarray(scores)
        if self.is_binary and F.ndim == 2 and F.shape[1] == 1:
            F = F[:, 0]
        if F.ndim != (1 if self.is_binary else 2) or F.shape[1:] == (1,):
            needed = "one score per row" if self.is_binary else "a score per class, (n, k)"
            raise ValueError(
                f"{owner} with the loss {self!r} needs {needed}, got scores of shape {F.shape}. "
                "Set num_class, or use a loss for as many classes."
            )
        return F

    @abstractmethod
    def check_costs(self, matrix: Floats, owner: str) -> None:
        """Refuse costs under which the loss has nothing to learn.

        Parameters
        ----------
        matrix : array of shape (k, d) or (n, k, d)
            Costs, truth by decision: one matrix for all rows, or one for each.
        owner : str
            Class or function that error messages name.
        """

    @abstractmethod
    def class_probabilities(self, F: Floats, matrix: Floats | None = None) -> Floats:
        """The class probabilities for which the scores minimise the expected loss, (n, k).

        Parameters
        ----------
        F : array of shape (n,) or (n, k)
            Scores.
        matrix : array of shape (k, k), optional
            The costs of the training, truth by decision; None if every mistake cost 1.
        """

    def kernel_rows(self, y: Any, C: Any) -> tuple[AnyArray, ...]:
        """What the kernel needs to know of the rows, computed once for all rounds."""
        return y, C

    def centred(self, F: Any) -> Any:
        """Raw scores moved to where the formula is defined; by default they stay."""
        return F

    def raw_derivatives(self, y: Any, F: Any, C: Any) -> tuple[Floats, Floats]:
        """Gradient and diagonal Hessian with respect to raw scores, that is, through `centred`.

        This is what the kernel computes. A loss that centres its scores overrides it.
        """
        return self.gradient(y, F, C), self.hessian(y, F, C)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class BinaryLoss(Loss):
    """A loss of one score per row.

    Subclasses hold no state; every method is vectorised over rows. ``C`` is the pair ``(C1, C2)``
    of the costs of a miss and of a false alarm, each a number or an (n,) array.
    """

    is_binary = True
    has_probabilities = True
    has_probabilities_at_unit_costs = True

    @abstractmethod
    def probability(self, F: Floats, C: CostPair) -> Floats:
        """The P(+|x) for which ``F`` is the minimiser."""

    @abstractmethod
    def minimiser(self, p: Floats, C: CostPair) -> Floats:
        """The score that minimises the expected loss when P(+|x) = ``p``."""

    def check_costs(self, matrix: Floats, owner: str) -> None:
        """Refuse costs under which a miss or a false alarm costs nothing."""
        if not self.carries_costs:
            return
        miss = matrix[..., 1, 0] - matrix[..., 1, 1]
        alarm = matrix[..., 0, 1] - matrix[..., 0, 0]
        for error, cost, other in (("miss", miss, 0), ("false alarm", alarm, 1)):
            if not (cost > 0).any():
                raise ValueError(
                    f"The costs of {owner} must make both errors costlier than the right "
                    f"decisions, because the loss {self!r} depends on their ratio. A {error} costs "
                    f"{np.max(cost):g} beyond the right decision, so deciding for class {other} "
                    "is never a mistake. Check the matrix, or give that error a small cost."
                )

    def class_probabilities(self, F: Floats, matrix: Floats | None = None) -> Floats:
        """P(-|x) and P(+|x), (n, 2)."""
        pair: CostPair = (1.0, 1.0)
        if matrix is not None and self.carries_costs:
            self.check_costs(matrix, f"the link of {self!r}")
            pair = matrix[1, 0] - matrix[1, 1], matrix[0, 1] - matrix[0, 0]
        p = self.probability(F, pair)
        return np.stack([1.0 - p, p], axis=1)

    def kernel_rows(self, y: Floats, C: CostPair) -> tuple[AnyArray, ...]:
        """``y``, ``C1`` and ``C2`` of every row, each (n,)."""
        return y, *(np.full(y.shape, cost, dtype=np.float64) for cost in C)


# --- costs ----------------------------------------------------------------------------------------


def cost_pair(C: CostPair) -> tuple[Floats, Floats]:
    """Both error costs, positive so that their logarithms are finite."""
    C1, C2 = (np.asarray(cost, dtype=np.float64) for cost in C)
    floor = _SMALLEST_SHARE * max(float(np.max(C1)), float(np.max(C2)))
    return np.maximum(C1, floor), np.maximum(C2, floor)


# -- The losses by name --------------------------------------------------------------------------


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
    name = loss.name
    if not name:
        raise ValueError(
            f'register needs a loss with name = "..." in its class; {loss.__name__} has none.'
        )
    other = type(LOSSES[name]) if name in LOSSES else loss
    # The same class again is a cell of a notebook run twice.
    if (other.__module__, other.__qualname__) != (loss.__module__, loss.__qualname__):
        raise ValueError(
            f"The name {name!r} of {loss.__name__} is already that of {other.__name__}. Choose "
            "another name."
        )
    LOSSES[name] = loss()
    return loss


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
    kind = {None: "Loss", True: "BinaryLoss", False: "MulticlassLoss"}[binary]
    raise ValueError(
        f"The 'loss' parameter of {owner} must be one of {fitting}, or a {kind}. Got {loss!r} "
        "instead."
    )
