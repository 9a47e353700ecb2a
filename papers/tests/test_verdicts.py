"""Every verdict can go both ways: planted data turn it, and equal methods support nothing."""

from __future__ import annotations

import re
from itertools import product
from math import inf, nan
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from costboost_papers import cai2008, cao2013, coverage, nikolaou2016, registry
from costboost_papers import masnadi2007 as masnadi
from costboost_papers import masnadi2007_faces as faces
from costboost_papers.grading import Conclusion, Part, paired, rank_parts, t_half, wins
from costboost_papers.pages import summarise

ROWS = Path(__file__).parents[2] / "docs" / "papers" / "rows"
FIVE = ("lozano2008", "cai2008", "masnadi2007", "beijbom2014", "cao2013")

# --- the rule -----------------------------------------------------------------------------------

FOR, AGAINST = Part("a", 2.0, 1.0, 3.0), Part("b", -2.0, -3.0, -1.0)
UNTOLD = Part("c", 0.1, -1.0, 1.2, 0.0, 0.5)


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ([FOR, FOR], "holds"),
        ([FOR, AGAINST], "holds in part"),
        ([FOR, UNTOLD], "holds in part"),
        ([FOR, AGAINST, AGAINST], "does not hold"),
        ([AGAINST, UNTOLD], "does not hold"),
        ([FOR, *[UNTOLD] * 9], "cannot be told"),  # one of many is no support
        ([UNTOLD], "cannot be told"),
        ([], "cannot be told"),
    ],
)
def test_a_verdict_needs_half_of_the_parts(parts, verdict):
    found = Conclusion("It is so.", "the contrary", parts, test="A test")
    assert found.verdict == verdict
    assert Conclusion("x", "y", parts, missing=("a set",)).verdict == "cannot be told"
    if parts:
        assert f"{len(parts)}: " in found.evidence and found.test in found.evidence


def five(k):
    """A sign test: so in k of five sets."""
    return Part.share("x", [1] * k + [0] * (5 - k))


@pytest.mark.parametrize(
    ("part", "value", "outcome"),
    [
        (Part.gap("x", 0.0, 0.0), nan, "cannot be told"),  # decided alike everywhere
        (Part.gap("x", nan, nan), nan, "cannot be told"),
        (Part.gap("x", 0.01, 0.02), 0.01, "against"),  # too small to matter, and told
        (Part.gap("x", 0.1, 0.2), 0.1, "cannot be told"),
        (Part.below("x", 0.05, 0.01, limit=0.1), 0.05, "for"),  # the room that is left
        (Part.above("x", 0.05, 0.01, limit=0.1), -0.05, "against"),
        (Part.close("x", -0.5, 0.4, band=1.0), 0.5, "for"),
        (Part.close("x", -0.5, 0.6, band=1.0), 0.5, "cannot be told"),
        (Part.close("x", 2.0, 0.5, band=1.0), -1.0, "against"),
        # Five of five are needed, and four sets are too few for anything.
        *((five(k), k / 5, "against") for k in (0, 1)),
        *((five(k), k / 5, "cannot be told") for k in (2, 3, 4)),
        (five(5), 1.0, "for"),
        (Part.share("x", [1] * 4), 1.0, "cannot be told"),
        (Part.share("x", [1, 0.5, 0, 0]), 0.375, "cannot be told"),
        (five(5).turned(), 0.0, "against"),
        (five(0).turned(), 1.0, "for"),
        (Part.share("x", [1] * 3 + [0] * 7).turned(), 0.7, "for"),  # below three quarters
        (Part.share("x", []), nan, "cannot be told"),
    ],
)
def test_parts_by_hand(part, value, outcome):
    assert part.value == pytest.approx(value, nan_ok=True) and part.outcome == outcome


def test_wins_are_counted_over_the_sets_that_have_both():
    ours, theirs = (pd.Series(values, index=list("abc")) for values in ([1, 2, 3], [2, 2, nan]))
    assert wins(ours, theirs) == [1.0, 0.5]


def test_ranks_are_for_a_claim_beyond_the_critical_difference():
    table = pd.DataFrame([[1.0, 2.0, 3.0]] * 10, columns=list("abc"))
    first, second = rank_parts(table, [("a", "b"), ("a", "c")])
    assert (first.value, second.value) == (1.0, 2.0)
    assert first.outcome == "cannot be told" and second.outcome == "for"  # joined, and apart
    tied = rank_parts(table.assign(b=1.0, c=1.0), [("a", "b")])
    assert tied[0].outcome == "cannot be told"


def test_pairs_share_their_splits():
    rows = pd.DataFrame(
        {"dataset": "d", "setting": "", "metric": "cost", "algorithm": name, "split": i, "value": v}
        for name, values in (("a", (1.0, 2.0, 3.0)), ("b", (2.0, 4.0, 6.0)))
        for i, v in enumerate(values)
    )
    found = paired(rows, "cost", [("a", "b"), ("a", "nobody")], 0.5).set_index("statistic")
    assert found.loc["more than a", "value"] == 2.0
    assert found.loc["± a", "value"] == pytest.approx(2.92 * np.sqrt(1 / 3 + 0.5), abs=1e-3)
    assert t_half(1.0, 1) == inf


# --- planted data: in favour of the claims (side 0), and reversed (side 1) ------------------------


def of_method(metric, other, **values):
    """Values of one metric by the method's name; ``other`` is that of the rest."""
    return lambda task, side: {metric: values.get(task.algorithm, other)[side]}


def cao_table(task, side):
    name = task.algorithm
    costs = {"AsyB": 1, "AsyBL": 1.1, "AdaBoostC": 2, "AdaC1": 3, cao2013.SHRUNK: 1}
    falls = {name: (-0.5, 0.3) for name in cao2013.COLLAPSING}
    falls |= {"AsyB": (0.6, -0.2), "AsyBL": (0.5, -0.2)}
    fall, cost = falls.get(name, (0.2, -0.1))[side], costs.get(name, 5)
    rest = dict.fromkeys(("recall", "precision", "g-mean", "g-mean (paper)", "f", "auc"), 0.5)
    curves = {
        f"{part} cost@{r}": 100.0 * (1 - fall * (r == cao2013.ROUNDS))
        for part, r in product(("train", "test"), cao2013.CURVE)
    }
    found = {"cost": (cost, 10 - cost)[side], "specificity": (0.1, 0.9)[side], "rounds": 50}
    return found | rest | curves


def cai_table(task, side):
    if task.algorithm in cai2008.BLIND:
        return {"f": 45.0}
    f = 30.0 if side and task.algorithm == "Gradient" else 55.0
    return {f"f@{cost}": f for cost in cai2008.COSTS} | {"nested f": f}


def masnadi_figure3(task, side):
    printed = {
        "crossing, Ĉ1=4.7, 2 rounds": -1.4993,
        "crossing, Ĉ1=4.5, 4 rounds": -0.7352,
        "vote of rule 1": 0.9056,
        "vote of rule 2": 0.2404,
        "threshold of rule 1": 0.0152,
        "threshold of rule 2": -0.9186,
    }
    late = (0.5, 0.02)[(task.algorithm in masnadi.NEW) != side]
    found = {"crossing": (0.01, -0.8)[side], "late distance": late, "x@1": 0.0}
    return found | {name: value + side for name, value in printed.items()}


def masnadi_table2(task, side):
    base = (30.0, 10.0)[(task.algorithm in masnadi.NEW) != side]
    base -= task.algorithm == "CS-RealBoost"
    counts = {f"{kind}@{c}@{r}": base for kind, c, r in product(("fp", "fn"), (1, 5), (10, 50))}
    return counts | {f"ε@{f}": base * f for f in masnadi.FACTORS}


def masnadi_figure4(task, side):
    costs = {
        "CS-AdaBoost": (10, 100), "CSB0": (100, 60), "CSB1": (100, 60), "AdaBoost": (30, 60),
        "CSB2": (30, 60),
    }  # fmt: skip
    found = {}
    for r, f in product(faces.ROUNDS["full"], faces.FACTORS):
        for method, name in product(faces.METHODS, (faces.minimum, faces.halves)):
            found[f"{method}: {name(f, r)}"] = costs.get(method, (50, 20))[side]
        best = (400.0, 2.0)[(f < 50) != side]
        for C1 in faces.COSTS["full"]:
            found[f"CS-AdaBoost: {faces.trained(f, r, C1)}"] = 1.0 + abs(C1 - best)
    return found


def beijbom_risks(task, side):
    like = 1.8 if task.item == "taxonomy" else None
    risks = {
        "GLL": (1.0, 5), "SVM-CSMC": (1.0, 3), "SVM-OVA": (1.5, 4), "SVM-MC": (1.5, 4),
        "MCBoost": (1.9, 1), "GEL": (like or 1.9, 3),
    }  # fmt: skip
    found = {"risk": risks.get(task.algorithm, (4.0, 0.5))[side]}
    posterior = {"risk by posterior": (like or 1.85, 2.0)[side]}
    return found | (posterior if task.algorithm == "MCBoost" else {})


def beijbom_figure3(task, side):
    sign = (-1.0, 1.0)[task.algorithm.startswith("a") != side]
    return {"G": sign, "H": sign, "guesses preferred": 0.5 * side, "right points": 9.0}


def nikolaou_ranks(task, side):
    cost = 0.3
    if task.algorithm in nikolaou2016.SUPPORTED:
        reversed_ = 0.5 + 0.1 * nikolaou2016.SUPPORTED.index(task.algorithm)
        cost = 0.4 if task.setting == "plain" else (0.1, reversed_)[side]
    return {f"cost@{ratio:g}": cost for ratio in nikolaou2016.RATIOS}


NORMS = {f"p={p}{how}": (20 - p, 90 + p) for p in range(2, 6) for how in ("", " sampled")}
RIVALS = {"AdaBoost.M2": (25, 80), "AdaCost": (60, 60), "CSB2": (50, 50), "p=1": (30, 70)}
CAO_FIGURE = of_method("excess cost", (0.01, 0.5), **dict.fromkeys(cao2013.HEURISTIC, (0.5, 0.01)))
PLANTED = {
    **{f"cao2013 table{k}": cao_table for k in range(1, 6)},
    "cao2013 figure1": CAO_FIGURE,
    "cao2013 figure2": CAO_FIGURE,
    "cai2008 table3": cai_table,
    "lozano2008 table1": of_method("cost", (18, 92), constant=(500, 1), **NORMS, **RIVALS),
    "lozano2008 figure1": of_method("cost", (10, 20), **{"AdaBoost.M2": (20, 10)}),
    "masnadi2007 figure2": of_method("distance", (0.02, 0.6), **{masnadi.NEW[0]: (0.5, 0.3)}),
    "masnadi2007 figure3": masnadi_figure3,
    "masnadi2007 table2": masnadi_table2,
    "masnadi2007 figure4": masnadi_figure4,
    "beijbom2014 figure3": beijbom_figure3,
    "beijbom2014 table2": beijbom_risks,
    "beijbom2014 taxonomy": beijbom_risks,
    "nikolaou2016 ranks": nikolaou_ranks,
}
# Claims that methods are alike, or about one method alone.
ALIKE = re.compile(
    "close|on par|roughly the same|perform alike|never produce|not out-perform|far from"
)


def planted_rows(owner, values, shake):
    """Rows of the plan's first splits, their values shaken a little."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {**vars(task), "metric": metric, "value": value * (1 + shake * rng.normal())}
        for task in owner.tasks("full")
        if task.split < 6
        for metric, value in values(task).items()
    )


def conclusions(paper, values, drop=(), shake=1e-3):
    """All conclusions of a paper from planted rows, by item and claim."""
    rows, summaries, found = {}, {}, {}
    for item in paper.items():
        owner = registry.owner(item)
        if owner.name not in rows:
            plant = PLANTED[f"{paper.name} {owner.name}"]
            made = planted_rows(owner, lambda task, plant=plant: values(plant, task), shake)
            rows[owner.name] = made[~made["dataset"].isin(drop)]
        summaries[item.name] = summarise(item, rows[owner.name])
        for number, one in enumerate(item.conclusions(summaries[item.name])):
            found[item.name, number, one.claim] = one
    for number, one in enumerate(paper.overall(summaries)):
        found["all", number, one.claim] = one
    return found


@pytest.fixture(scope="module", params=registry.PAPERS, ids=lambda paper: paper.name)
def judged(request):
    """A paper and its conclusions on data in its favour, and reversed."""
    paper = request.param
    return paper, *(
        conclusions(paper, lambda plant, task, side=side: plant(task, side)) for side in (0, 1)
    )


def test_a_planted_reversal_turns_every_verdict(judged):
    _, good, bad = judged
    assert good.keys() == bad.keys() and good
    for key, one in good.items():
        assert one.verdict in ("holds", "holds in part"), key
        assert bad[key].verdict == "does not hold", key


def test_equal_methods_support_no_difference(judged):
    paper, *_ = judged
    found = conclusions(paper, lambda plant, task: dict.fromkeys(plant(task, 0), 1.0), shake=0.0)
    held = [key for key, one in found.items() if one.verdict.startswith("holds")]
    assert [key for key in held if not ALIKE.search(key[2]) and key[0] != "figure3"] == []


def test_every_claim_says_what_would_refute_it_and_is_quoted(judged):
    paper, good, _ = judged
    for one in good.values():
        assert one.refuted_by and one.test and not re.search(r"\bnan\b", one.evidence)
        assert one.limit or not one.own, one.claim
        if one.own and paper.name in FIVE:
            assert re.search(r"“.+” ?.*\((section|figure) \d", one.said), one.claim
    claims = [one.claim for one in good.values() if one.own]
    changes = [change.claim for change in coverage.CHANGES if change.paper == paper.name]
    assert claims and bool(changes) == (paper.name in FIVE)  # the others are younger than the rule
    assert all(any(words in claim for claim in claims) for words in changes)


DROPPED = {
    "cao2013": "pima", "lozano2008": "flare", "masnadi2007": "liver", "beijbom2014": "ecoli",
    "nikolaou2016": "pima.mat",
}  # fmt: skip


@pytest.mark.parametrize(("name", "drop"), DROPPED.items())
def test_no_verdict_over_sets_that_were_not_run(name, drop):
    paper = registry.paper(name)
    found = conclusions(paper, lambda plant, task: plant(task, 0), drop=(drop,))
    missing = [one for one in found.values() if one.missing]
    assert missing and all(one.verdict == "cannot be told" for one in missing)
    assert all(f"Not run: {drop}" in one.evidence for one in missing)


# --- the table of all items ---------------------------------------------------------------------


def test_the_table_of_items_is_that_of_reproduce():
    listed = {(row.paper, row.item) for row in coverage.ROWS}
    items = {(item.paper, item.name) for item in registry.items()}
    assert items <= listed
    for row in coverage.ROWS:
        assert row.status in ("whole", "reduced", "replaced", "impossible")
        assert row.why or row.status == "whole", row
        if (row.paper, row.item) not in items:
            assert (
                row.item.startswith(("tests/", "papers/tests/", "docs/"))
                or row.status == "impossible"
            ), row


# --- what to take from a paper --------------------------------------------------------------------


def means(item, metric):
    """Means over the splits of the kept rows: a column per method."""
    rows = pd.read_csv(ROWS / f"{item}.csv.gz", keep_default_na=False)
    rows = rows[rows["metric"].str.fullmatch(metric)].astype({"value": float})
    return rows.pivot_table("value", ["setting", "dataset"], "algorithm")


def test_what_to_take_from_a_paper_is_what_its_rows_say():
    said = {paper.name: paper.takeaway for paper in registry.PAPERS}

    costs = means("lozano2008-table1", "cost")
    better = (costs["p=2 sampled"] < costs["p=2"]).groupby("setting").sum()
    assert better.to_dict() == {"16 leaves": 7, "grown": 7, "C4.5": 7}
    assert (costs["p=2 sampled"] > costs["p=2"])[:, "anneal"].sum() == 2
    assert "seven of eight sets with both kinds of LightGBM trees (not on" in said["lozano2008"]
    c45, leaves = costs.loc["C4.5"], costs.loc["16 leaves"]
    assert c45["p=2 sampled"].count() == 7 and (c45["p=2"] > c45["CSB2"]).all()
    assert "all seven sets where" in said["lozano2008"] and "all eight" in said["lozano2008"]
    constant = leaves["constant"] < leaves.drop(columns="constant").min(axis=1)
    assert constant.sum() == 2 and "on two of the eight sets" in said["lozano2008"]

    ranks = pd.concat([means(f"cao2013-table{i}", "cost").rank(axis=1) for i in range(1, 6)])
    ranks = ranks.groupby("setting").mean()
    c45, leaves = ranks.loc["C1/C2=5, C4.5"], ranks.loc["C1/C2=5"]
    best = [f"{one['AsyBL (rate 0.1)']:.1f}" for one in (c45, leaves)]
    assert f"({' and '.join(best)} among {len(c45)} methods" in said["cao2013"]
    assert c45.idxmin() == leaves.idxmin() == "AsyBL (rate 0.1)"
    assert leaves.rank()["AdaBoostC"] == 2 and c45.rank()["AdaBoostC"] == 7

    costs = means("nikolaou2016-ranks", "cost@.*").groupby("setting").mean().round(3)
    calibrated, plain = costs.loc["calibrated"], costs.loc["plain"]
    assert calibrated[["AdaMEC", "CGAda", "AsymAda"]].tolist() == [0.079] * 3
    assert calibrated[["CSAda", "CSB2"]].tolist() == [0.082] * 2
    assert plain[["AdaMEC", "CGAda", "AsymAda"]].tolist() == [0.15, 0.084, 0.083]
