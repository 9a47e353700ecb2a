"""What Cao et al. (2013) state, judged on our figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from costboost_papers.cao2013.methods import COLLAPSING, HEURISTIC, NEW, SHRUNK
from costboost_papers.grading import counted, tiered
from costboost_papers.item import Conclusion

if TYPE_CHECKING:
    import pandas as pd
else:
    from costboost_papers._lazy import pd

__all__ = ["judge_boundaries", "judge_curves", "judge_overall", "judge_table"]

# Collapsed: nearly every costly row is caught, and at most half of the others are left alone.
RECALL, SPECIFICITY = 0.97, 0.5
# Near the Bayes decision: its cost exceeds that of the Bayes decision by at most this share.
NEAR = 0.10


def _means(summary: pd.DataFrame, setting: str, metric: str) -> pd.Series[float]:
    chosen = summary[
        (summary["setting"] == setting)
        & (summary["metric"] == metric)
        & (summary["statistic"] == "mean")
    ]
    return chosen.set_index("algorithm")["value"]


def _collapsed(summary: pd.DataFrame, setting: str) -> list[str]:
    recall, specificity = (
        _means(summary, setting, "recall"),
        _means(summary, setting, "specificity"),
    )
    return [
        name for name in COLLAPSING if recall[name] >= RECALL and specificity[name] <= SPECIFICITY
    ]


def judge_table(summary: pd.DataFrame, setting: str) -> list[Conclusion]:
    """One data set: who is cheaper, and who collapses."""
    cost, rounds = _means(summary, setting, "cost"), _means(summary, setting, "rounds")
    rival = str(cost[list(HEURISTIC)].idxmin())
    figures = f"AsyB {cost['AsyB']:.1f}, AsyBL {cost['AsyBL']:.1f}"
    below = sum(bool(cost[name] < cost[rival]) for name in NEW)
    plain = sum(bool(cost[name] < cost["AdaBoostC"]) for name in NEW)
    collapsed = _collapsed(summary, setting)
    recall, specificity = (
        _means(summary, setting, "recall"),
        _means(summary, setting, "specificity"),
    )
    return [
        Conclusion(
            "AsyB and AsyBL cost less than every heuristic method.",
            counted(below, 2),
            f"{figures}; the best heuristic is {rival} with {cost[rival]:.1f}.",
            f"AsyB stops after {rounds['AsyB']:.0f} rounds on average: its vote counts the costs a "
            "second time and soon is not positive."
            if rounds["AsyB"] < 45 and cost["AsyB"] >= cost[rival]
            else "",
        ),
        Conclusion(
            "AsyB and AsyBL cost less than AdaBoost started from the costs (AdaBoostC).",
            counted(plain, 2),
            f"{figures}; AdaBoostC {cost['AdaBoostC']:.1f}.",
        ),
        Conclusion(
            "AdaC2, AdaC3 and CSB0 to CSB2 decide for the costly class on nearly every row.",
            counted(len(collapsed), len(COLLAPSING)),
            "Recall / specificity: "
            + ", ".join(f"{name} {recall[name]:.2f}/{specificity[name]:.2f}" for name in COLLAPSING)
            + f"; collapsed (recall ≥ {RECALL}, specificity ≤ {SPECIFICITY}): "
            + (", ".join(collapsed) or "none")
            + ".",
        ),
    ]


def judge_overall(summaries: Sequence[pd.DataFrame], setting: str, large: str) -> list[Conclusion]:
    """All data sets that were run, in one setting, with a look at the one with large trees."""
    if not summaries:
        return []
    costs = _costs(summaries, setting)
    n = len(costs)
    beaten = {name: _cheaper(costs, name, HEURISTIC) for name in NEW}
    plain = {name: _cheaper(costs, name, ("AdaBoostC",)) for name in NEW}
    pairs = sum(
        bool(cost[name] < cost[rival])
        for cost in costs.values()
        for name in NEW
        for rival in HEURISTIC
    )
    collapsed = dict.fromkeys(COLLAPSING, 0)
    for summary in summaries:
        for name in _collapsed(summary, setting):
            collapsed[name] += 1
    strong = _cheaper(costs, "AdaC1", ("AdaC2", "AdaC3"))
    plain_wins = [s for s, cost in costs.items() if cost["AdaBoostC"] < cost[list(NEW)].min()]
    shrunk = _cheaper(costs, SHRUNK, (*HEURISTIC, "AdaBoostC"))
    larger = _costs(summaries, large)
    by_large = "; ".join(f"{m} {_on(_cheaper(larger, m, HEURISTIC), n)}" for m in (*NEW, SHRUNK))
    return [
        Conclusion(
            "AsyB and AsyBL have a lower cost than the heuristic methods on the five sets.",
            counted(sum(map(len, beaten.values())), 2 * n),
            f"Cheaper than all seven heuristics: AsyB {_on(beaten['AsyB'], n)}, AsyBL "
            f"{_on(beaten['AsyBL'], n)}; of the {2 * n * len(HEURISTIC)} single comparisons "
            f"{pairs} are won. Cheapest of the paper's twelve: {_winners(costs)}. "
            f"With trees of 32 leaves: {by_large}; cheapest {_winners(larger)}.",
            "In the paper AsyB is the cheapest on all five sets; its AsyBL costs more than "
            "AdaCost and AdaC1 on crx and than AdaC1 to AdaC3 and the CSB methods on pima. Full "
            f"Newton steps overfit: {SHRUNK} is cheaper than AdaBoostC and all heuristics "
            f"{_on(shrunk, n)}.",
        ),
        Conclusion(
            "AsyB and AsyBL cost less than AdaBoost started from the costs (AdaBoostC).",
            counted(sum(map(len, plain.values())), 2 * n),
            f"AsyB {_on(plain['AsyB'], n)}, AsyBL {_on(plain['AsyBL'], n)}; AdaBoostC is cheaper "
            f"than both {_on(plain_wins, n)}.",
        ),
        Conclusion(
            "AdaC2, AdaC3 and the CSB methods collapse to the costly class.",
            counted(sum(collapsed.values()), n * len(COLLAPSING)),
            f"Sets on which each does (recall ≥ {RECALL}, specificity ≤ {SPECIFICITY}): "
            + ", ".join(f"{name} {count} of {n}" for name, count in collapsed.items())
            + ".",
        ),
        Conclusion(
            "AdaC1 costs less than AdaC2 and AdaC3.",
            counted(len(strong), n),
            f"It does {_on(strong, n)}.",
        ),
    ]


Costs = Mapping[str, "pd.Series[float]"]  # data set -> cost by algorithm


def _costs(summaries: Sequence[pd.DataFrame], setting: str) -> Costs:
    return {str(s["dataset"].iloc[0]): _means(s, setting, "cost") for s in summaries}


def _cheaper(costs: Costs, name: str, rivals: Sequence[str]) -> list[str]:
    """The data sets on which one algorithm costs less than each of its rivals."""
    return [s for s, cost in costs.items() if cost[name] < cost[list(rivals)].min()]


def _winners(costs: Costs) -> str:
    return ", ".join(f"{cost.drop(SHRUNK).idxmin()} on {s}" for s, cost in costs.items())


def _on(sets: Sequence[str], n: int) -> str:
    return f"on {len(sets)} of {n} sets" + (f" ({', '.join(sets)})" if 0 < len(sets) < n else "")


def judge_curves(summary: pd.DataFrame, last: int) -> list[Conclusion]:
    """Cost by round: falling or rising."""
    values = summary.set_index(["algorithm", "metric"])["value"]

    def change(name: str) -> float:
        first, end = (float(values[name, f"test cost@{number}"]) for number in (1, last))
        return end / first - 1.0

    def listed(names: Sequence[str]) -> str:
        return ", ".join(f"{name} {change(name):+.0%}" for name in names)

    sound = ("AdaBoostC", "AdaC1", "AsyBoosting", "AsyLogitBoost")
    deepest = min((*NEW, *sound), key=change)
    return [
        Conclusion(
            "The cost of AsyB and AsyBL falls with the rounds.",
            counted(sum(change(name) < -0.02 for name in NEW), 2),  # by more than 2 %
            f"Test cost, round {last} against round 1: {listed(NEW)}.",
            "AsyB's vote counts the costs a second time and soon is not positive, which ends it."
            if abs(change("AsyB")) < 0.02
            else "",
        ),
        Conclusion(
            "That of AdaBoostC, AdaC1, AsyBoosting and AsyLogitBoost falls too, but less than "
            "AsyB's.",
            tiered(
                deepest == "AsyB" and all(change(name) < 0 for name in sound),
                any(change(name) < 0 for name in sound),
            ),
            f"{listed(sound)}; AsyB {change('AsyB'):+.0%}.",
        ),
        Conclusion(
            "That of AdaC2, AdaC3 and the CSB methods rises.",
            counted(sum(change(name) > 0 for name in COLLAPSING), len(COLLAPSING)),
            f"{listed(COLLAPSING)}.",
        ),
    ]


def judge_boundaries(
    name: str, summary: pd.DataFrame, entries: Sequence[tuple[str, str]]
) -> list[Conclusion]:
    """Near the Bayes decision or not, by the cost above it."""
    chosen = summary[(summary["metric"] == "excess cost") & (summary["statistic"] == "mean")]
    excess = chosen.set_index(["algorithm", "setting"])["value"].to_dict()
    by_name: dict[str, list[float]] = {}
    for algorithm, setting in entries:
        by_name.setdefault(algorithm, []).append(float(excess[algorithm, setting]))
    figures = "; ".join(
        f"{a} {', '.join(f'{value:.1%}' for value in values)}" for a, values in by_name.items()
    )
    evidence = f"Cost above Bayes: {figures} (near: at most {NEAR:.0%})."
    if name == "figure2":
        near = [value <= NEAR for a in NEW for value in by_name[a]]
        return [
            Conclusion(
                "AsyB and AsyBL come near the Bayes boundary for every cost factor (2, 5, 8, 10).",
                counted(sum(near), len(near)),
                evidence,
                "Full Newton steps on trees overfit 1400 overlapping points; a tenth of the step "
                "mends most of it."
                if max(by_name["AsyBL"]) > NEAR
                else "",
            )
        ]
    sound = ("AdaBoostC", "AsyBoosting")
    right = [(values[0] <= NEAR) == (a in sound) for a, values in by_name.items()]
    return [
        Conclusion(
            "AdaBoostC and AsyBoosting come near the Bayes boundary, the heuristic methods do not.",
            counted(sum(right), len(right)),
            evidence,
        )
    ]
