"""`Decisions`: what was decided on some rows, and what that is expected to cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._utils import Framed, as_frame
from costboost.costs.costs import cheapest
from costboost.decisions.allocate import allocate
from costboost.decisions.arrays import cheapest_other
from costboost.decisions.limits import (
    CountLimit,
    FixedPrices,
    Limit,
    SumLimit,
    count_bounds,
    read_groups,
)

if TYPE_CHECKING:
    import pandas as pd

    from costboost.costs import Costs


@dataclass(frozen=True, eq=False, repr=False)
class Decisions(Framed):
    """Decisions on rows, and what they are expected to cost; made by ``decide`` of a classifier.

    Expected costs, and what follows from them, are there if the model has probabilities.

    Parameters
    ----------
    chosen : int array of shape (n,)
        The decision of each row, as an index into ``decisions``.
    decisions : array of shape (d,)
        Labels of the decisions.
    classes : array of shape (k,)
        Labels of the classes.
    proba : array of shape (n, k), optional
        Probability of each class.
    expected_cost : array of shape (n, d), optional
        Expected cost of each decision, without the prices of limits.
    costs : Costs, optional
        The costs of the rows that were decided by, the class unknown; `explain` needs them.
    basis : "expected cost" or "score"
        What decided: the least expected cost, or the score of an algorithm that has learned costs.
    limit_prices : dict, optional
        What one more unit of each limit saves, as `allocate` returns it; None without limits.
    limits : list of dict
        For each limit (and group): ``limit``, its ends ``at_least`` and ``at_most``, the ``value``
        met, and its ``price``.

    Examples
    --------
    >>> from costboost.costs import Costs
    >>> costs = Costs([[0, 4], [50, 4]], classes=["ok", "fraud"], decisions=["pay", "look"])
    >>> decided = Decisions.from_proba(np.array([[0.98, 0.02], [0.5, 0.5]]), costs)
    >>> decided
    Decisions(2 rows: pay 1, look 1; expected cost 5; by expected cost)
    >>> decided.labels, decided.saving
    (array(['pay', 'look'], dtype='<U4'), array([ 3., 21.]))
    """

    chosen: np.ndarray
    decisions: np.ndarray
    classes: np.ndarray
    proba: np.ndarray | None = None
    expected_cost: np.ndarray | None = None
    costs: Costs | None = None
    basis: str = "expected cost"
    limit_prices: dict[Any, Any] | None = None
    limits: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def from_proba(
        cls,
        proba: np.ndarray,
        costs: Costs,
        limits: Sequence[Limit] = (),
        *,
        groups: ArrayLike | None = None,
    ) -> Decisions:
        """Decide rows at the least expected cost, within limits if there are any.

        Parameters
        ----------
        proba : array of shape (n, k)
            Probability of each class.
        costs : Costs
            The costs of the rows.
        limits : list of Limit
            From `read_limits`.
        groups : array of shape (n,), optional
            Group of each row; limits hold in each.

        Returns
        -------
        Decisions
            The decisions.
        """
        return cls.from_expected_cost(
            costs.expected(proba),
            limits,
            groups=groups,
            decisions=costs.decisions,
            classes=costs.classes,
            proba=proba,
            costs=costs,
        )

    @classmethod
    def from_expected_cost(
        cls,
        expected_cost: np.ndarray,
        limits: Sequence[Limit] = (),
        *,
        decisions: np.ndarray,
        classes: np.ndarray,
        proba: np.ndarray | None = None,
        costs: Costs | None = None,
        groups: ArrayLike | None = None,
    ) -> Decisions:
        """Decide rows whose expected costs are computed.

        Parameters
        ----------
        expected_cost : array of shape (n, d)
            Expected cost of each decision.
        limits : list of Limit
            From `read_limits`.
        decisions, classes : arrays of shape (d,) and (k,)
            Their labels.
        proba : array of shape (n, k), optional
            Probability of each class.
        costs : Costs, optional
            The costs of the rows.
        groups : array of shape (n,), optional
            Group of each row; limits hold in each.

        Returns
        -------
        Decisions
            The decisions.
        """
        prices = None
        limits_met = []
        if limits:
            chosen, prices = allocate(expected_cost, limits, groups=groups)
            limits_met = _limits_met(limits, chosen, expected_cost, prices, groups=groups)
        else:
            chosen = cheapest(expected_cost)
        return cls(
            chosen,
            decisions=decisions,
            classes=classes,
            proba=proba,
            expected_cost=expected_cost,
            costs=costs,
            limit_prices=prices,
            limits=limits_met,
        )

    def take(self, rows: np.ndarray) -> Decisions:
        """Return the decisions on some rows; the limits stay those of all rows.

        Parameters
        ----------
        rows : int array
            Which rows.

        Returns
        -------
        Decisions
            Their decisions.
        """
        costs = self.costs
        if costs is not None and costs.matrix.ndim == 3:
            costs = costs.take(rows)
        return replace(
            self,
            chosen=self.chosen[rows],
            proba=None if self.proba is None else self.proba[rows],
            expected_cost=None if self.expected_cost is None else self.expected_cost[rows],
            costs=costs,
        )

    def __len__(self) -> int:
        return len(self.chosen)

    def __repr__(self) -> str:
        counts = ", ".join(f"{label} {count:,}" for label, count in self.counts.items())
        cost = ""
        if self.expected_cost is not None:
            cost = f"; expected cost {self.cost.sum():,.6g}"
        return f"Decisions({len(self):,} rows: {counts}{cost}; by {self.basis})"

    @property
    def labels(self) -> np.ndarray:
        """The label of each row's decision, (n,)."""
        return self.decisions[self.chosen]

    @property
    def counts(self) -> dict[Any, int]:
        """The number of rows of each decision."""
        counts = np.bincount(self.chosen, minlength=len(self.decisions))
        return dict(zip(self.decisions.tolist(), counts.tolist(), strict=True))

    @property
    def cost(self) -> np.ndarray:
        """The expected cost of each row's decision, (n,)."""
        return self._expected()[np.arange(len(self)), self.chosen]

    @property
    def runner_up(self) -> np.ndarray:
        """The cheapest other decision of each row, (n,)."""
        return self.decisions[self.runner_up_chosen]

    @property
    def runner_up_chosen(self) -> np.ndarray:
        """The runner-up of each row, as an index into ``decisions``."""
        return self._against_runner_up[0]

    @property
    def saving(self) -> np.ndarray:
        """What each decision is expected to save against the runner-up, (n,).

        It is negative where limits, or a score, chose a decision that is not the cheapest.
        """
        return self._against_runner_up[1]

    @cached_property
    def _against_runner_up(self) -> tuple[np.ndarray, np.ndarray]:
        return cheapest_other(self._expected(), self.chosen)

    def _expected(self) -> np.ndarray:
        if self.expected_cost is None:
            raise ValueError(
                "These decisions have no expected costs: the model has learned decisions and no "
                "probabilities. Use CostBoostClassifier(loss='auto') or MinCostClassifier."
            )
        return self.expected_cost

    def to_frame(self) -> pd.DataFrame:
        """Return the decisions as a frame, one row per row.

        Returns
        -------
        pandas.DataFrame
            ``decision`` and, if there are expected costs, ``runner_up``, ``saving``, a column
            ``probability_CLASS`` per class and ``expected_cost_DECISION`` per decision.
        """
        columns = {"decision": self.labels}
        if self.proba is not None and self.expected_cost is not None:
            columns["runner_up"] = self.runner_up
            columns["saving"] = self.saving
            for label, values in zip(self.classes.tolist(), self.proba.T, strict=True):
                columns[f"probability_{label}"] = values
            for label, values in zip(self.decisions.tolist(), self.expected_cost.T, strict=True):
                columns[f"expected_cost_{label}"] = values
        return as_frame(columns, "Decisions.to_frame")

    def _repr_html_(self) -> str | None:
        """Show how many rows get each decision, and what they are expected to cost."""
        table = {"decision": self.decisions.tolist(), "rows": list(self.counts.values())}
        if self.expected_cost is not None:
            cost = np.bincount(self.chosen, self.cost, minlength=len(self.decisions))
            table["expected_cost"] = cost.tolist()
        try:
            frames: list[Any] = [as_frame(table, "Decisions")]
            if self.limits:
                frames.append(as_frame(self.limits, "Decisions"))
        except ImportError:  # IPython would show a traceback
            return None
        return "".join(frame._repr_html_() for frame in frames)


def _limits_met(
    limits: Sequence[Limit],
    chosen: np.ndarray,
    expected_cost: np.ndarray,
    prices: dict[Any, Any],
    *,
    groups: ArrayLike | None,
) -> list[dict[str, Any]]:
    """Return for each limit and group its ends, the value met, and its price."""
    names, group = read_groups(groups, len(chosen))
    n_groups = 1 if names is None else len(names)
    sizes = np.bincount(group, minlength=n_groups)
    low, high = count_bounds(limits, expected_cost.shape[1], sizes, names)
    table = []
    for limit in limits:
        if isinstance(limit, FixedPrices):
            continue
        if isinstance(limit, CountLimit):
            values = np.bincount(group[chosen == limit.decision], minlength=n_groups)
            at_least = low[:, limit.decision].tolist()
            at_most = high[:, limit.decision].tolist()
        else:
            values = _sums_met(limit, chosen, expected_cost, group, n_groups=n_groups)
            at_least = [limit.at_least if np.isfinite(limit.at_least) else None] * n_groups
            at_most = [limit.at_most if np.isfinite(limit.at_most) else None] * n_groups
        for index, value in enumerate(values.tolist()):
            row: dict[str, Any] = {"limit": limit.name}
            price = prices
            if names is not None:
                row["group"] = names[index]
                price = prices[names[index]]
            row["at_least"] = at_least[index]
            row["at_most"] = at_most[index]
            row["value"] = value
            row["price"] = price[limit.name]
            table.append(row)
    return table


def _sums_met(
    limit: SumLimit,
    chosen: np.ndarray,
    expected_cost: np.ndarray,
    group: np.ndarray,
    *,
    n_groups: int,
) -> np.ndarray:
    """Return the limited sum, or rate, in each group."""
    added = limit.added(expected_cost)[np.arange(len(chosen)), chosen]
    sums = np.bincount(group, added, minlength=n_groups)
    if not limit.is_rate:
        return sums
    whole = np.bincount(group, limit.amount, minlength=n_groups)
    with np.errstate(invalid="ignore"):
        return sums / whole
