"""What Lozano and Abe conclude from Tables 1 and 2, checked on summaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from costboost_papers.grading import counted, graded, tiered
from costboost_papers.item import Conclusion, Verdict
from costboost_papers.layout import wide
from costboost_papers.lozano2008.methods import CONSTANT, NORMS, RIVALS, SAMPLED

if TYPE_CHECKING:
    import pandas as pd
else:
    from costboost_papers._lazy import pd

__all__ = ["beats_constant", "below", "keeps_falling", "overall"]

_WHY_NOT_ONE = (
    "Likely because p-norm weights are zero where H is zero, so rows that no rule claims drop out, "
    "while p = 1 averages samples; the sampled form does both."
)
_WHY_NOT_RIVALS = (
    "Likely because a tree per class lets the rivals boost properly, which the paper's learner on "
    "the expanded set may not have done: its AdaBoost, AdaCost and CSB2 cost hundreds of "
    "times what p = 1 does on some sets."
)


def overall(summaries: Mapping[str, pd.DataFrame]) -> list[Conclusion]:
    """Whether p ≥ 2 beats both p = 1 and AdaBoost.M2 on most sets, which needs both tables."""
    if not {"table1", "table2"} <= set(summaries):
        return []
    norms = wide(summaries["table2"], "cost")
    m2 = wide(summaries["table1"], "cost")["AdaBoost.M2"].reindex(norms.index)
    rivals = pd.concat([norms["p=1"], m2], axis=1).min(axis=1)
    printed: list[float] = []
    sampled: list[float] = []
    parts = []
    for forms, shares in ((NORMS[1:], printed), (SAMPLED, sampled)):
        for setting in norms.index.unique("setting"):
            here = norms.index.get_level_values("setting") == setting
            counts = []
            for name in forms:
                if name in norms.columns and norms.loc[here, name].notna().any():
                    below = norms.loc[here, name] < rivals[here]
                    shares.append(float(below.mean()))
                    counts.append(f"{name.removesuffix(' sampled')} {int(below.sum())}")
            if counts:
                label = "sampled" if forms is SAMPLED else "as printed"
                parts.append(f"{setting}, {label}: {', '.join(counts)} of {int(here.sum())}")
    verdict = _on_most(printed, sampled)
    return [
        Conclusion(
            "p ≥ 2 costs less than both p = 1 and AdaBoost.M2 on most of the 8 data sets.",
            verdict,
            f"Sets on which it is below both: {'; '.join(parts)}.",
            "" if verdict == "holds" else f"{_WHY_NOT_RIVALS} {_WHY_NOT_ONE}",
        )
    ]


def below(
    means: pd.DataFrame, summary: pd.DataFrame, mine: list[str], other: str, statement: str
) -> Conclusion:
    """On how many sets ``mine[0]`` (as printed) and ``mine[1]`` (sampled) are below ``other``."""
    # The verdict is on the printed form: it holds if most sets agree with every tree size, in part
    # if with one of them, or if only the sampled form has most sets.
    parts: list[str] = []
    printed: list[float] = []
    sampled: list[float] = []
    for setting, table in means.groupby("setting", sort=False):
        for name, shares in zip(mine, (printed, sampled), strict=True):
            if name not in table.columns or other not in table.columns:
                continue
            both = table[[name, other]].dropna()
            less = both[name] < both[other]
            if not len(both):
                continue
            shares.append(float(less.mean()))
            ratio = _middle_ratio(both[name], both[other])
            wins = _mean_wins(summary, name, other, str(setting))
            parts.append(
                f"{setting}, {name}: {int(less.sum())} of {len(both)} sets, median ratio of the "
                f"costs {ratio:.2f}{wins}"
            )
    verdict = _on_most(printed, sampled)
    reason = _WHY_NOT_ONE if other == "p=1" else _WHY_NOT_RIVALS
    why = "" if verdict == "holds" else reason
    return Conclusion(f"{statement} on most data sets.", verdict, "; ".join(parts) + ".", why)


def keeps_falling(means: pd.DataFrame) -> Conclusion:
    """Whether some p ≥ 3 is below p = 2 on most sets."""
    printed: list[float] = []
    parts = []
    for setting, table in means.groupby("setting", sort=False):
        for suffix in ("", " sampled"):
            names = [f"p={p}{suffix}" for p in (2, 3, 4, 5)]
            if not set(names) <= set(table.columns):
                continue
            less = table[names[1:]].min(axis=1) < table[names[0]]
            parts.append(f"{setting}{suffix.replace(' ', ', ')}: {int(less.sum())} of {len(less)}")
            if not suffix:
                printed.append(float(less.mean()))
    return Conclusion(
        "Cost goes on falling for larger p on many data sets.",
        graded(share > 0.5 for share in printed),
        f"Sets on which the best of p = 3, 4, 5 is below p = 2: {'; '.join(parts)}.",
        "The best of three norms against one is favoured by chance.",
    )


def _on_most(printed: list[float], sampled: list[float]) -> Verdict:
    """The verdict on the printed form; in part if only the sampled form has most sets."""
    most = [share > 0.5 for share in printed]
    return tiered(all(most), any(most) or any(share > 0.5 for share in sampled))


def _middle_ratio(mine: pd.Series[float], other: pd.Series[float]) -> float:
    return float((mine / other.where(other > 0)).median())


def _mean_wins(summary: pd.DataFrame, mine: str, other: str, setting: str) -> str:
    chosen = summary[
        (summary["statistic"] == f"wins over {other}")
        & (summary["algorithm"] == mine)
        & (summary["setting"] == setting)
    ]
    if not len(chosen):
        return ""
    share = float(np.average(chosen["value"], weights=chosen["n"]))
    return f", below on {share:.0%} of the splits"


def beats_constant(means: pd.DataFrame) -> list[Conclusion]:
    """Which methods beat one decision for all rows."""
    if CONSTANT not in means.columns:
        return []
    table = means[means[CONSTANT].notna()]
    beaten = {
        name: int((table[name] < table[CONSTANT]).sum())
        for name in ("p=1", "p=2", "p=2 sampled", *RIVALS)
        if name in table.columns
    }
    lost = table.index[~(table["p=2"] < table[CONSTANT])].get_level_values("dataset").tolist()
    figures = ", ".join(f"{name} {count}" for name, count in beaten.items())
    least = min(beaten.values())
    return [
        Conclusion(
            "The methods learn something on all sets: they cost less than one decision for all "
            "rows (not in the paper, which takes it for granted).",
            counted(least, len(table)),
            f"Sets out of {len(table)}: {figures}"
            + (f"; p=2 does not on {', '.join(lost)}." if lost else "."),
            "Under class-frequency costs deciding for the rarest class is nearly free whatever the "
            "truth: about 500 · (k − 1) · min P(i) on average.",
        )
    ]
