"""H. Masnadi-Shirazi and N. Vasconcelos, "Cost-sensitive boosting" (2007): all but its faces.

The tables of the report survive as text without their numbers, so the printed figures here are the
ones that its sentences state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from costboost.experiments.item import Conclusion, Item, Verdict
from costboost.experiments.masnadi2007.figure2 import Figure2
from costboost.experiments.masnadi2007.figure3 import Figure3
from costboost.experiments.masnadi2007.methods import ALGORITHMS, EARLIER, NEW
from costboost.experiments.masnadi2007.uci import Table2, lower_medians

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ALGORITHMS", "EARLIER", "ITEMS", "NEW", "Figure2", "Figure3", "Table2", "overall"]

ITEMS: list[Item] = [Figure2(), Figure3(), Table2()]


def overall(summaries: Mapping[str, pd.DataFrame]) -> list[Conclusion]:
    """What the paper states about the new algorithms as a whole.

    Parameters
    ----------
    summaries : mapping of str to DataFrame
        Summaries by item name; without ``figure3`` and ``table2`` there is nothing to say.

    Returns
    -------
    list of Conclusion
        One, about zero crossings and median ε together, or none.
    """
    if not {"figure3", "table2"} <= set(summaries):
        return []
    parts = [
        *Figure3().conclusions(summaries["figure3"])[-1:],
        lower_medians(summaries["table2"], NEW[1:]),
    ]
    return [
        Conclusion(
            "CS-RealBoost and CS-LogitBoost reach the Bayes zero crossing where AdaC and CSB do "
            "not, and have the lower median ε on the ten sets.",
            _together([part.verdict for part in parts]),
            " ".join(part.evidence for part in parts),
            " ".join(part.why for part in parts),
        )
    ]


def _together(verdicts: list[Verdict]) -> Verdict:
    """All of them if they agree, else "holds in part"."""
    return verdicts[0] if len(set(verdicts)) == 1 else "holds in part"
