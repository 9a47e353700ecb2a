"""The papers and their items, imported when asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from costboost_papers.grading import Conclusion
from costboost_papers.item import Item

if TYPE_CHECKING:
    import pandas as pd


Overall = Callable[[Mapping[str, "pd.DataFrame"]], list[Conclusion]]


@dataclass(frozen=True)
class Paper:
    """A paper; its package in this folder has its name."""

    # The package has ``ITEMS``, a list of items. It may have ``overall``, a function from the
    # summaries (item name -> summary, as far as they exist) to conclusions that need several items.

    name: str
    citation: str

    def items(self) -> list[Item]:
        """The paper's tables and figures, in its order."""
        return list(self._package().ITEMS)

    def overall(self, summaries: Mapping[str, pd.DataFrame]) -> list[Conclusion]:
        """What the paper states about several items together."""
        function: Overall | None = getattr(self._package(), "overall", None)
        return [] if function is None else function(summaries)

    def _package(self) -> Any:
        try:
            return import_module(f"costboost_papers.{self.name}")
        except ImportError as error:
            if (error.name or "").startswith("costboost"):
                raise
            raise ImportError(
                f"costboost_papers needs {error.name}, which is not installed: "
                'pip install "costboost[experiments]".',
                name=error.name,
            ) from error


PAPERS = (
    Paper(
        "lozano2008",
        "A. C. Lozano and N. Abe, “Multi-class cost-sensitive boosting with p-norm loss "
        "functions”, KDD 2008.",
    ),
    Paper(
        "cai2008",
        "Q.-T. Cai, Y.-Q. Song and C.-S. Zhang, “Cost-sensitive boosting algorithms as gradient "
        "descent”, ICASSP 2008.",
    ),
    Paper(
        "masnadi2007",
        "H. Masnadi-Shirazi and N. Vasconcelos, “Cost-sensitive boosting”, SVCL-TR 2007/06, "
        "University of California, San Diego, 2007.",
    ),
    Paper(
        "beijbom2014",
        "O. Beijbom, M. Saberian, D. Kriegman and N. Vasconcelos, “Guess-averse loss functions "
        "for cost-sensitive multiclass boosting”, ICML 2014.",
    ),
    Paper(
        "cao2013",
        "Y. Cao, Q.-G. Miao, J.-C. Liu and L. Gao, “Fisher consistent cost sensitive boosting "
        "algorithm”, Journal of Software 24(11), 2013, 2584–2596.",
    ),
)
# Names that papers had in earlier versions.
ALIASES = {"cai": "cai2008"}


def paper(name: str) -> Paper:
    """The paper of that name, or of that earlier name."""
    wanted = ALIASES.get(name, name)
    for candidate in PAPERS:
        if candidate.name == wanted:
            return candidate
    raise ValueError(
        f"PAPER must be one of {', '.join(known.name for known in PAPERS)}; got {name!r}."
    )


def items(name: str | None = None) -> list[Item]:
    """The items of a paper, or of all papers."""
    chosen = PAPERS if name is None else (paper(name),)
    return [item for candidate in chosen for item in candidate.items()]


def find(name: str, item: str) -> Item:
    """One item of a paper."""
    known = items(name)
    for candidate in known:
        if candidate.name == item:
            return candidate
    raise ValueError(
        f"ITEM of {name} must be one of {', '.join(candidate.name for candidate in known)}; "
        f"got {item!r}."
    )


def owner(item: Item) -> Item:
    """The item whose rows this one reads: itself, or the one it shares them with."""
    return item if item.shares_rows_with is None else find(item.paper, item.shares_rows_with)
