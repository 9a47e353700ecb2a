"""What Cai, Song and Zhang conclude from Table 3, checked on summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from costboost_papers.grading import graded
from costboost_papers.item import Conclusion
from costboost_papers.layout import plus_minus, wide

if TYPE_CHECKING:
    import pandas as pd
else:
    from costboost_papers._lazy import pd

__all__ = ["judge_table"]

CLOSE = 2.0  # points of F; the paper calls its methods close with a shortfall of 1.5


def judge_table(summary: pd.DataFrame) -> list[Conclusion]:
    """Whether Gradient keeps up with AdaCost, and both with methods that know no costs."""
    statement = (
        "Gradient descent on AdaCost's objective is about equal to AdaCost or better in F, "
        "the best of nine costs."
    )
    nested = "The same with the cost chosen on training rows (not in the paper)."
    return [
        _keeps_up(summary, "best f", statement),
        _keeps_up(summary, "nested f", nested),
        _gains(wide(summary, "best f"), wide(summary, "nested f")),
    ]


def _keeps_up(summary: pd.DataFrame, metric: str, statement: str) -> Conclusion:
    """Gradient against AdaCost: at most `CLOSE` points below counts as keeping up."""
    gaps, errors = (wide(summary, f"{metric} gap", kind)["Gradient"] for kind in ("mean", "se"))
    kept = gaps >= -CLOSE
    parts = [
        f"{name} ({tree}) {plus_minus(gap, error, 1, '+')}"
        for (name, tree), gap, error in zip(gaps.index, gaps, errors, strict=True)
    ]
    return Conclusion(
        statement,
        graded([bool(kept.all()), bool(kept.mean() > 0.5)]),
        f"F of Gradient less F of AdaCost in points: {', '.join(parts)}. At most {CLOSE:g} points "
        f"below in {int(kept.sum())} of {len(kept)} cases, above in {int((gaps > 0).sum())}.",
        "Both follow one objective; AdaCost's vote is a rule of thumb for the step that Gradient "
        "searches. With 8 leaves both end after a round or find no rule at all where the costs "
        "are nearly alike, because β = ½ − ½c then leaves right decisions almost no credit.",
    )


def _gains(best: pd.DataFrame, nested: pd.DataFrame) -> Conclusion:
    """What knowing costs earns over AdaBoost, by the best and by the nested choice."""
    shares = []
    parts = []
    for label, f in (("best cost", best), ("nested choice", nested)):
        if "Gradient" in f.columns:
            above = f["Gradient"] > best["AdaBoost"].reindex(f.index)
            shares.append(float(above.mean()))
            parts.append(f"{label}: Gradient above AdaBoost in {int(above.sum())} of {len(above)}")
    return Conclusion(
        "Cost-sensitive boosting has a higher F than AdaBoost on most data sets.",
        graded(share > 0.5 for share in shares),
        "; ".join(parts) + ".",
        "The best of nine costs, chosen on the test rows, favours the method with a choice.",
    )
