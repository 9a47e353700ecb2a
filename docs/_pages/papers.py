"""Write docs/algorithms: a page per paper with its algorithms, drawn and judged.

    python docs/build.py papers           # pages and pictures
    python docs/build.py papers --keep

Text comes from the recipes and their docstrings, verdicts from docs/papers, pictures from the
library.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from results import DOCS, NOTE, table

import costboost

PAGES = DOCS / "algorithms"
VERDICTS = DOCS / "papers" / "README.md"
_CLAIM = re.compile(r"^\| \[(\w+)\]\(", flags=re.MULTILINE)
WORDS = {
    "holds": "hold",
    "holds in part": "hold in part",
    "does not hold": "do not hold",
    "cannot be told": "cannot be told",
}

# What the pictures of docs/_pages/pictures.py show.
AS_LOSS = (
    "**The loss** of a positive row (a miss costs 5) and of a negative one (a false alarm costs 1) "
    "by the margin *y F*. Right decisions are on the right, where the margin is positive."
)
AS_WEIGHT = (
    "**The weight** of a row, before it is normalised, by the margin *y F*. Right decisions are on "
    "the right, where the margin is positive. Solid lines: after one round. Dashed lines, where "
    "they differ: after three rounds that say the same and add up to the same margin."
)
AS_SHARE = (
    "**The loss** of a row by the share of *H* that its wrong class has, for a row whose error "
    "costs 5 and one whose error costs 1."
)
LOSS_CAPTIONS = {
    "freund1996": f"{AS_WEIGHT} Here the margin is that of a pair of a row and a wrong class. "
    "AdaBoost.M2 descends the exponential loss of its pairs. The other two descend no loss of the "
    "score alone.",
    "fan1999": f"{AS_WEIGHT} A costly row that is decided rightly keeps its weight: its line is "
    "flat on the right. With rounds that disagree, the weight depends on each of them, not on "
    "their sum: AdaCost descends no loss of the score alone.",
    "ting2000": f"{AS_WEIGHT} The weight jumps where the decision turns wrong, and the jump grows "
    "with every round: there is no loss of the score alone behind these updates.",
    "joshi2001": f"{AS_LOSS} It is the cost-weighted exponential loss. RareBoost descends it with "
    "a vote for each side of a rule.",
    "viola2002": f"{AS_WEIGHT} Here three rounds are all rounds. Every round moves the two lines "
    "apart by the same factor. In the end they are those of the cost-weighted exponential loss.",
    "zadrozny2003": f"{AS_SHARE} *H* is the average of the rules. It is a straight line: the "
    "average pays what its rules pay.",
    "abe2004": f"{AS_SHARE} *H* is the average of the rules. It is a straight line: the "
    "ensemble pays the expected cost of a rule drawn from it.",
    "masnadi2007": f"{AS_LOSS} The costs are inside the exponent: they set how steep the loss is, "
    "not how high.",
    "sun2007": f"{AS_WEIGHT} AdaC1 has one line for each kind of row: its weights are "
    "those of a loss, the cost-sensitive exponential. For AdaC2 and AdaC3 the cheap row falls "
    "behind in every round, whatever the margin: there is no loss of the score alone behind them.",
    "cai2008": "**The objective** of one row after one round by the margin *y F*, on a log scale, "
    "for three of the named objectives. A miss costs 5, a false alarm 1.",
    "lozano2008": f"{AS_SHARE} With *p* above 1 a small share of a costly class is nearly free, "
    "and a large one is charged in full.",
    "landesa2012": f"{AS_LOSS} The costs stand in front of the exponent: they set how high the "
    "loss is, not how steep.",
    "cao2013": f"{AS_LOSS} AsyBL grows like a straight line where AsyB grows exponentially, so "
    "outliers count less.",
    "beijbom2014": "**Three of the losses**, on two classes, by the lead of the right class: its "
    "score less that of the wrong one. MC ignores the costs. GEL multiplies by them. GLL takes "
    "the logarithm, so outliers count less.",
    "nikolaou2016": "**The loss** and the decision. AdaBoost's exponential loss ignores the costs: "
    "the two lines are one. The costs enter afterwards: of two decisions, the one with the lower "
    "expected cost is taken.",
    "so2021": f"{AS_WEIGHT} The cheap row falls behind in every round, whatever the votes: there "
    "is no loss of the score alone behind the update.",
}

# Where the classes leave the paper, and why. Details stand in the docstrings.
DIFFERENCES = {
    "freund1996": (
        "The paper has no costs. Here the initial weights of the pairs are proportional to them.",
        "AdaCost and CSB2 for several classes are not in this paper. They are built as Lozano and "
        "Abe (2008) describe them.",
    ),
    "fan1999": (
        "If all costs are equal, every vote would be negative. Then the limit of small costs is "
        "taken, which is a damped AdaBoost.",
        "A round with a negative vote ends the boosting, with a warning that names the cause.",
    ),
    "ting2000": (
        "Costs are divided by the smallest one, so the cheap class costs 1.",
        "A round with a negative vote ends the boosting.",
    ),
    "joshi2001": (
        "The paper is about rare classes and starts from equal weights. Here the initial weights "
        'are proportional to the costs; `init="uniform"` is the paper\'s choice.',
        "A side without mistakes, whose vote would be infinite, gets a large finite one.",
    ),
    "viola2002": (
        "Rows may have costs of their own; the factor of a round is then the *T*-th root of the "
        "row's cost.",
    ),
    "zadrozny2003": (
        "Every class is in every sample: if none of its rows was accepted, one is added. Many "
        "learners refuse a sample of one class.",
        "With more than two decisions, a row is accepted by the mean cost of its wrong ones.",
    ),
    "abe2004": (
        "The weak learner of GBSE is a tree for each class. A row that no class claims is shared "
        "equally.",
        "Each sample of DSE has as many pairs as there are rows.",
    ),
    "masnadi2007": (
        "The paper starts from equal class totals, which answers for equally frequent classes. "
        'Here all rows start equal, which answers for the real costs. `init="balanced"` is the '
        "paper's choice.",
        "CSLogitBoost clips its responses and halves a step that does not lower the training loss. "
        "`guarded=False` is the algorithm as printed.",
        "Rows may have costs of their own.",
    ),
    "sun2007": (
        "Costs are divided by the largest one, so all are between 0 and 1, as the paper asks.",
        "A round with a negative vote ends the boosting.",
    ),
    "cai2008": (
        "The paper prints *argmax* for the step (Eq. 12 and 19). It is *argmin*.",
        "For equal costs the AdaCost objective takes the limit of small costs.",
    ),
    "lozano2008": (
        "With *p* = 1 the weights never change, so each round draws a sample by cost. `resample` "
        "does so for any *p*.",
        "The step of Theorem 4.2 is used from *p* = 2 on. Below, its bound fails and the step is "
        "1/*t*.",
    ),
    "landesa2012": ("None that we know of. Rows may have costs of their own.",),
    "cao2013": (
        "The paper's γ⁻ and ε⁻ are misprinted (both say *y* = 1). The masses here are those of its "
        "derivation.",
        "AsyB counts the cost in the weights and once more in the vote, as printed.",
        "AsyBL clips its responses and halves a step that does not lower the training loss.",
    ),
    "beijbom2014": (
        "The paper's text swaps some equation numbers. The table of losses below is right.",
        "Rows may have costs of their own, and losses may be your own.",
    ),
    "nikolaou2016": (
        "The paper calibrates on one part of the rows. Here each fold of a cross-validation "
        "calibrates the score of the other folds, and the probabilities are averaged.",
    ),
    "so2021": (
        "The authors choose a cost for each class. Here a row costs the mean of its wrong "
        "decisions, divided by the largest such cost.",
    ),
}

# What our runs say of papers whose own experiments were not run again.
RIVALS = {
    "fan1999": "As a rival with trees of 8 leaves, AdaCost stopped after one round on pima and "
    "phoneme: with large cost ratios its first vote can end the training "
    "([Cao et al. 2013](../papers/cao2013.md)).",
    "ting2000": "As rivals with trees of 8 leaves, CSB1 and CSB2 decided for the costly class on "
    "more than half of the cheap rows on four of five data sets; with C4.5 they do so less often "
    "([Cao et al. 2013](../papers/cao2013.md)).",
    "sun2007": "As rivals with trees of 8 leaves, AdaC2 and AdaC3 decided for the costly class on "
    "nearly every row on four of five data sets, with C4.5 AdaC3 alone "
    "([Cao et al. 2013](../papers/cao2013.md)). In our own measurements AdaC2 saves nothing on "
    "average ([Which algorithm?](../choosing.md)).",
    "freund1996": "As rivals of Lp-CSB they ran on eight data sets "
    "([Lozano & Abe 2008](../papers/lozano2008.md)).",
    "landesa2012": "On the Gaussian study it reaches the Bayes boundary with the true cost, and "
    "nothing has to be searched ([Masnadi-Shirazi and Vasconcelos "
    "2007](../papers/masnadi2007.md)).",
    "viola2002": "As a rival it ran on ten data sets ([Masnadi-Shirazi and Vasconcelos "
    "2007](../papers/masnadi2007.md)).",
    "nikolaou2016": "Our measurements agree with the paper's answer "
    "([Which algorithm?](../choosing.md)).",
}

# Advice that stands above all else.
REMARKS = {
    "fan1999": "A historical algorithm: for comparisons, not for new work.",
    "ting2000": "Historical algorithms: for comparisons, not for new work. The cost enters in "
    "every round. With many rounds CSB1 and CSB2 tend to decide for the costly class on most rows.",
    "sun2007": "Historical algorithms: for comparisons, not for new work. AdaC2 and AdaC3 multiply "
    "by the cost in every round. They tend to decide for the costly class on nearly every row.",
    "nikolaou2016": "The paper asks whether cost-sensitive boosting algorithms are needed. Its "
    "answer is no: calibrate, then take the cheapest decision. `CostBoostClassifier` is built "
    "that way.",
    "cao2013": "Use AsyBL with a small `learning_rate` (0.1) if the costs of rows are known in "
    "training only. AsyB counts the costs a second time in its vote and may stop after a few "
    "rounds.",
    "beijbom2014": "Which losses are guess-averse and calibrated, with counterexamples: "
    "[Losses](../losses.md).",
    "landesa2012": "The simplest of all: AdaBoost started from weights proportional to the costs.",
}


def papers() -> dict[str, list[Any]]:
    """The algorithms by the module of their paper, in the order of years."""
    found: dict[str, list[Any]] = {}
    for name in costboost.algorithms.__all__:
        algorithm = getattr(costboost, name)
        found.setdefault(algorithm.__module__.rsplit(".", 1)[1], []).append(algorithm)
    for algorithms in found.values():
        algorithms.sort(key=lambda algorithm: inspect.getsourcelines(algorithm)[1])
    return dict(sorted(found.items(), key=lambda item: (item[0][-4:], item[0])))


def heading(paper: str) -> tuple[str, str]:
    """Title and citation, from the docstring of the module."""
    text = inspect.getdoc(import_module(f"costboost.algorithms.{paper}")) or ""
    title, _, citation = text.partition("\n\n")
    title = re.sub(r" \(paper \d\)|: the rivals of paper \d", "", title).rstrip(".")
    return title, " ".join(citation.split())


def verdicts(paper: str) -> Counter[str]:
    """How many of the paper's claims hold in our runs, hold in part, or do not hold."""
    rows = re.findall(
        rf"^\| \[{paper}\]\([^)]*\) \|.*?\| \*\*(.*?)\*\* \|",
        VERDICTS.read_text("utf-8"),
        re.MULTILINE,
    )
    return Counter(rows)


def page(paper: str, algorithms: list[Any]) -> str:
    """The page of a paper."""
    title, citation = heading(paper)
    lines = [
        NOTE,
        "",
        f"# {title}",
        "",
        citation,
        "",
    ]
    rows = []
    for algorithm in algorithms:
        card, name = algorithm._recipe, algorithm.__name__
        link = f"[`{name}`](#costboost.algorithms.{paper}.{name})"
        rows.append([link, card.idea, card.link, card.parent or "–"])
    lines += table(["class", "idea", "link to probabilities", "with equal costs it is"], rows)
    lines += [""]
    lines += [REMARKS[paper], ""] if paper in REMARKS else []
    lines += [*_judgement(paper), *_differences(paper), *_pictures(paper), "## Classes", ""]
    for algorithm in algorithms:
        lines += [
            f"::: costboost.algorithms.{paper}.{algorithm.__name__}",
            "    options:",
            "      members: false",
            "      show_root_full_path: false",
            "",
        ]
    return "\n".join(lines).rstrip() + "\n"


def _judgement(paper: str) -> list[str]:
    lines = ["## Our verdict", ""]
    counts = verdicts(paper)
    if counts:
        told = ", ".join(_counted(counts[verdict], verdict) for verdict in WORDS)
        lines += [
            f"We ran the paper's experiments again. Of its {sum(counts.values())} claims, {told}. "
            f"[Our figures beside the paper's](../papers/{paper}.md).",
        ]
    else:
        lines += ["We did not run this paper's own experiments."]
    lines += ["", RIVALS[paper]] if paper in RIVALS else []
    return [*lines, ""]


def _counted(number: int, verdict: str) -> str:
    """For instance "1 holds", "3 hold in part"."""
    return f"{number} {verdict if number == 1 else WORDS[verdict]}"


def _differences(paper: str) -> list[str]:
    return [
        "## What differs from the paper",
        "",
        *(f"- {difference}" for difference in DIFFERENCES[paper]),
        "",
    ]


def _pictures(paper: str) -> list[str]:
    return [
        "## Pictures",
        "",
        f"![Loss or weight by margin](../pictures/{paper}-loss.png)",
        "",
        LOSS_CAPTIONS[paper],
        "",
        f"![Decision boundaries on two Gaussians](../pictures/{paper}-boundary.png)",
        "",
        "**The boundary** on the Gaussians of Cao et al. (2013), 500 rows a class; a miss costs 5, "
        "a false alarm 1. The grey band is the best possible boundary. Fifty rounds, otherwise the "
        "defaults of each class; the logistic ones have the learning rate 0.1.",
        "",
    ]


def index() -> str:
    """The list of papers."""
    lines = [
        NOTE,
        "",
        "# Algorithms",
        "",
        "A page per paper: the idea, the equations, what differs from the paper, a picture of the "
        "decisions, and whether "
        "the paper's claims held when we ran them again. To decide which to use: [Which "
        "algorithm?](../choosing.md) Symbols: "
        "[Notation](../notation.md). The losses behind them: [Losses](../losses.md).",
        "",
    ]
    rows = []
    for paper, algorithms in papers().items():
        source = algorithms[0]._recipe.source
        names = ", ".join(f"`{algorithm.__name__}`" for algorithm in algorithms)
        links = ", ".join(dict.fromkeys(algorithm._recipe.link for algorithm in algorithms))
        rows.append([f"[{source}]({paper}.md)", names, links])
    lines += [
        *table(["paper", "classes", "link to probabilities"], rows),
        "",
        "Not from a paper of this list: [`CostBoostClassifier`](../classifier.md) and "
        "[`MinCostClassifier`, `TargetRateClassifier`](../api/wrappers.md).",
    ]
    return "\n".join(lines) + "\n"


def glance() -> str:
    """The reproduced papers in ten seconds: main claim and verdict."""
    lines = [
        NOTE,
        "",
        "# Papers reproduced, at a glance",
        "",
        "We ran tables and figures of six papers again; [what is whole, reduced, replaced or "
        "impossible](papers/README.md#all-items-of-the-papers). The table has the main claim of "
        "each, whether it held, and how many of its parts speak for it. *Cannot be told*: fewer "
        "than half of the parts speak for it or against it, mostly because the data lack the "
        "power.",
        "",
    ]
    rows = []
    text = VERDICTS.read_text("utf-8")
    for paper in dict.fromkeys(_CLAIM.findall(text)):
        row = rf"^\| \[{paper}\]\([^)]*\) \| .*? \| (.*?) \| \*\*(.*?)\*\* \| (.*?) \| .*\|$"
        claim, verdict, parts = next(
            found for found in re.findall(row, text, re.MULTILINE) if MAIN[paper] in found[0]
        )
        counts = verdicts(paper)
        told = ", ".join(_counted(counts[word], word) for word in WORDS if counts[word])
        source = NAMES.get(paper) or papers()[paper][0]._recipe.source
        rows.append([f"[{source}](papers/{paper}.md)", claim, f"**{verdict}**", parts, told])
    lines += [
        *table(["paper", "main claim", "here", "its parts", "of all claims"], rows),
        "",
        "All claims with all figures: [The papers' experiments, run again](papers/README.md). Each "
        "paper's page says what differs from the paper's protocol. `costboost-papers list` "
        "shows what can be run; `costboost-papers run PAPER ITEM` runs it.",
    ]
    return "\n".join(lines) + "\n"


# Words of the main claim of each paper.
MAIN = {
    "lozano2008": "Higher norms",
    "cai2008": "have close F",
    "masnadi2007": "smaller median loss",
    "beijbom2014": "perform significantly better",
    "cao2013": "lower cost than the other",
    "nikolaou2016": "outperform the other variants",
}
# Names of papers whose algorithms are not in the library, or are named by another paper.
NAMES = {
    "masnadi2007": "Masnadi-Shirazi & Vasconcelos 2007",
}


def pages() -> dict[Path, str]:
    """All pages, by path."""
    written = {
        PAGES / f"{paper}.md": page(paper, algorithms) for paper, algorithms in papers().items()
    }
    return written | {PAGES / "index.md": index(), DOCS / "reproduced.md": glance()}


def prepare(only: Sequence[str]) -> None:
    """Draw the pictures."""
    import matplotlib

    matplotlib.use("Agg")
    from pictures import draw

    for paper, algorithms in papers().items():
        draw(paper, algorithms)
