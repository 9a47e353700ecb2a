"""What Beijbom et al. conclude about their losses, checked on summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from costboost_papers.beijbom2014.methods import (
    ALGORITHMS,
    AVERSE,
    EVERYTHING,
    LOSSES,
    OTHERS,
)
from costboost_papers.grading import graded, tiered
from costboost_papers.item import Conclusion
from costboost_papers.layout import wide

if TYPE_CHECKING:
    import pandas as pd
else:
    from costboost_papers._lazy import pd

__all__ = ["judge_losses"]


def judge_losses(summary: pd.DataFrame) -> list[Conclusion]:
    """Guess-averse losses against Ls and Lt, GLL against all, GEL against MCBoost."""
    risks = wide(summary, "risk")
    single, ranks = (_overall(summary, metric) for metric in ("rank", "rank of means"))
    below = risks[list(AVERSE)].max(axis=1) < risks[list(OTHERS)].min(axis=1)
    not_below = below.index[~below].get_level_values("dataset").tolist()
    apart = max(ranks[name] for name in AVERSE) < min(ranks[name] for name in OTHERS)
    figures = ", ".join(f"{name} {ranks[name]:.2f} ({single[name]:.2f})" for name in ALGORITHMS)
    rivals = {name: rank for name, rank in ranks.items() if name != "GLL"}
    rival = min(rivals, key=lambda name: rivals[name])
    lowest = int((risks["GLL"] == risks.min(axis=1)).sum())
    firsts = [values["GLL"] == min(values.values()) for values in (ranks, single)]
    return [
        Conclusion(
            "Guess-averse losses rank before Ls and Lt.",
            graded([apart, len(not_below) < len(risks) / 2]),
            f"Mean rank of the mean risks (in brackets: of every single repeat): {figures}. "
            "All four guess-averse methods are below both others "
            + (f"except on {', '.join(not_below)}." if not_below else "on every set."),
        ),
        Conclusion(
            "GLL ranks first.",
            graded([*firsts, ranks["GLL"] == min(ranks[name] for name in LOSSES)]),
            f"GLL {ranks['GLL']:.2f}, the best of the others {rival} {rivals[rival]:.2f}; GLL "
            f"has the lowest mean risk on {lowest} of {len(risks)} sets.",
            ""
            if all(firsts)
            else "P-MCBoost follows the same costs by the Bayes rule; likely GLL, which is not "
            "calibrated, gains on it only where its posteriors are poor.",
        ),
        Conclusion(
            "GEL, whose minimiser symmetric costs do not move, is on a par with MCBoost.",
            tiered(abs(ranks["GEL"] - ranks["MCBoost"]) <= 0.5, in_part=True),
            f"Ranks {ranks['GEL']:.2f} and {ranks['MCBoost']:.2f}; median ratio of their risks "
            f"{(risks['GEL'] / risks['MCBoost']).median():.2f}.",
        ),
    ]


def _overall(summary: pd.DataFrame, metric: str) -> dict[str, float]:
    """Mean ranks over all data sets, by algorithm."""
    chosen = summary[(summary["dataset"] == EVERYTHING) & (summary["metric"] == metric)]
    return dict(zip(chosen["algorithm"], chosen["value"].astype(float), strict=True))
