"""Every verdict can go both ways: the contrary turns it, and equal methods support nothing."""

from __future__ import annotations

import re
from math import inf, nan
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from costboost_papers import coverage, registry
from costboost_papers.grading import Conclusion, Part, paired, rank_parts, t_half, wins
from costboost_papers.pages import read_summary

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
    found = Conclusion("It is so.", "the contrary", "A test", tuple(parts))
    assert found.verdict == verdict
    assert Conclusion("x", "y", "z", tuple(parts), missing=("a set",)).verdict == "cannot be told"
    if parts:
        assert f"{len(parts)}: " in found.evidence and found.test in found.evidence


@pytest.mark.parametrize(
    ("part", "outcome"),
    [
        (Part.gap("x", 0.0, 0.0), "cannot be told"),  # decided alike everywhere
        (Part.gap("x", nan, nan), "cannot be told"),
        (Part.gap("x", 0.01, 0.02), "against"),  # too small to matter, and told
        (Part.gap("x", 0.1, 0.2), "cannot be told"),
        (Part.below("x", 0.05, 0.01, limit=0.1), "for"),
        (Part.above("x", 0.05, 0.01, limit=0.1), "against"),
        (Part.close("x", -0.5, 0.4, band=1.0), "for"),
        (Part.close("x", -0.5, 0.6, band=1.0), "cannot be told"),
        (Part.close("x", 2.0, 0.5, band=1.0), "against"),
        # The sign test: five of five are needed, and four sets are too few for anything.
        *((Part.share("x", [1] * k + [0] * (5 - k)), "against") for k in (0, 1)),
        *((Part.share("x", [1] * k + [0] * (5 - k)), "cannot be told") for k in (2, 3, 4)),
        (Part.share("x", [1] * 5), "for"),
        (Part.share("x", [1] * 4), "cannot be told"),
        (Part.share("x", [1] * 5).turned(), "against"),
        (Part.share("x", [0] * 5).turned(), "for"),
        (Part.share("x", [1] * 3 + [0] * 7).turned(), "for"),  # below three quarters
        (Part.share("x", []), "cannot be told"),
    ],
)
def test_parts_by_hand(part, outcome):
    assert part.outcome == outcome


def test_effects_are_the_room_that_is_left():
    values = [
        Part.gap("x", 0.3, 0.1).value,
        Part.below("x", 0.05, 0.01, limit=0.1).value,
        Part.above("x", 0.05, 0.01, limit=0.1).value,
        Part.close("x", -0.5, 0.4, band=1.0).value,
        Part.share("x", [1, 0.5, 0, 0]).value,
    ]
    assert values == pytest.approx([0.3, 0.05, -0.05, 0.5, 0.375])


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


FIVE = ("lozano2008", "cai2008", "masnadi2007", "beijbom2014", "cao2013")

# --- the claims of the papers on the kept summaries --------------------------------------------

SUMMARIES = Path(__file__).parents[2] / "docs" / "papers" / "summaries"


def conclusions(paper, changed=lambda summary: summary):
    """All conclusions of a paper from its kept summaries."""
    kept = {item.name: changed(read_summary(SUMMARIES, item)) for item in paper.items()}
    found = [one for item in paper.items() for one in item.conclusions(kept[item.name])]
    return [*found, *paper.overall(kept)]


# Claims that methods are alike, or about one method alone.
ALIKE = re.compile(
    "close|on par|roughly the same|perform alike|never produce|not out-perform|far from|published"
    "|never converge|tend to|where f is larger|falls|prefers a guess|every right|Bayes boundary"
)
papers = pytest.mark.parametrize("paper", registry.PAPERS, ids=lambda paper: paper.name)


@papers
def test_equal_methods_support_no_difference(paper):
    """What is the same for all methods, without any spread, is no support."""

    def equal(summary):
        differs = summary["statistic"].str.contains(r"^more than|^±|^sd$|^se$")
        return summary.assign(value=np.where(differs, 0.0, 1.0))

    held = [one for one in conclusions(paper, equal) if one.verdict.startswith("holds")]
    assert [one.claim for one in held if not ALIKE.search(one.claim)] == []


@papers
def test_the_contrary_turns_every_claim_that_holds(paper):
    """All means and differences with the other sign: less is more."""

    def turned(summary):
        spread = summary["statistic"].str.contains(r"^±|^sd$|^se$")
        return summary.assign(value=np.where(spread, 1, -1) * summary["value"])

    both = zip(conclusions(paper), conclusions(paper, turned), strict=True)
    held = [a.claim for a, b in both if a.verdict.startswith("holds") and b.verdict == a.verdict]
    assert [claim for claim in held if not ALIKE.search(claim)] == []


@papers
def test_every_claim_says_what_would_refute_it_and_is_quoted(paper):
    found = conclusions(paper)
    for one in found:
        assert one.refuted_by and one.test and not re.search(r"\bnan\b", one.evidence)
        if one.own and paper.name in FIVE:
            assert re.search(r"“.+” ?.*\((section|figure) \d", one.said), one.claim
            assert one.limit, one.claim
    assert any(one.own for one in found)
    claims = [one.claim for one in found if one.own]
    changes = [change for change in coverage.CHANGES if change.paper == paper.name]
    assert all(any(change.claim in claim for claim in claims) for change in changes)


def test_the_rule_is_fair_to_the_numbers_that_the_papers_print():
    """What a paper prints speaks for its claims, or is too little to speak at all."""
    found = {
        (name, one.claim[:24]): one.verdict
        for name in FIVE
        for part in registry.paper(name).as_printed().values()
        for one in part
        if one.own
    }
    assert len(found) == 13
    assert "does not hold" not in found.values()
    assert sum(verdict.startswith("holds") for verdict in found.values()) == 12


@pytest.mark.parametrize(
    ("name", "drop"),
    [
        ("cao2013", "pima"),
        ("lozano2008", "flare"),
        ("masnadi2007", "liver"),
        ("beijbom2014", "ecoli"),
        ("nikolaou2016", "pima.mat"),
    ],
)
def test_no_verdict_over_sets_that_were_not_run(name, drop):
    paper = registry.paper(name)
    found = conclusions(paper, lambda summary: summary[summary["dataset"] != drop])
    missing = [one for one in found if one.missing]
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
            assert row.item.startswith(("tests/", "docs/")) or row.status == "impossible", row
