"""The papers and their items, imported when asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import pandas as pd

from costboost_papers.grading import Conclusion
from costboost_papers.item import Item


class Paper(NamedTuple):
    """A paper; its module in this folder has its name."""

    # The module has ``ITEMS``, a list of items. It may have ``overall``, a function from the
    # summaries (item name -> summary, as far as they exist) to conclusions that need several items,
    # and ``as_printed``, which puts the rule to the numbers that the paper prints, by item.

    name: str
    citation: str
    takeaway: str = ""  # what a user of the library should take from the paper's experiments

    def items(self) -> list[Item]:
        """The paper's tables and figures, in its order."""
        return list(self._module().ITEMS)

    def overall(self, summaries: Mapping[str, pd.DataFrame]) -> list[Conclusion]:
        """What the paper states about several items together."""
        found: list[Conclusion] = getattr(self._module(), "overall", lambda _: [])(summaries)
        return found

    def as_printed(self) -> dict[str, list[Conclusion]]:
        """The rule put to the numbers that the paper prints, of tables that allow it."""
        found: dict[str, list[Conclusion]] = getattr(self._module(), "as_printed", dict)()
        return found

    def _module(self) -> Any:
        return import_module(f"costboost_papers.{self.name}")


PAPERS = (
    Paper(
        "lozano2008",
        "A. C. Lozano and N. Abe, “Cost-sensitive boosting with p-norm loss functions and its "
        "applications”; in full as “Multi-class cost-sensitive boosting with p-norm loss "
        "functions”, KDD 2008.",
        "Draw a sample in each round, `LpCSBClassifier(resample=True)`: it lowers the mean cost of "
        "p = 2 on seven of eight sets with both kinds of LightGBM trees (not on anneal), and on "
        "all seven sets where it was tried with C4.5 (table1). In the paper's form, without "
        "samples, p = 2 costs more here than CSB2 on all eight sets with C4.5. Compare with one "
        "decision for all rows first: on two of the eight sets it is cheaper than every method "
        "with LightGBM trees of 16 leaves.",
    ),
    Paper(
        "cai2008",
        "Q.-T. Cai, Y.-Q. Song and C.-S. Zhang, “Cost-sensitive boosting algorithms as gradient "
        "descent”, ICASSP 2008.",
        "With the best of nine costs the searched step is within 3.5 points of F of AdaCost's own "
        "rule; the splits are too few to say more. With C4.5 and trees of 8 leaves neither has a "
        "higher F than AdaBoost on pima. The searched step spares AdaCost's rule of thumb: "
        '`GradientCSBClassifier(objective="adacost")`. Choose the cost on training rows; the best '
        "of nine on the test rows flatters every method that has a choice.",
    ),
    Paper(
        "masnadi2007",
        "H. Masnadi-Shirazi and N. Vasconcelos, “Cost-sensitive boosting”, SVCL-TR 2007/06, "
        "University of California, San Diego, 2007.",
        "A loss whose minimiser is the Bayes rule needs no search for a training cost: "
        "`CSLogitBoostClassifier` is the steadiest of the three, `AdaBoostCClassifier` the "
        "simplest with that property. By the median over our ten small sets, tuned CSB2 and AdaC2 "
        "cost less than CS-AdaBoost and CS-RealBoost (50 rounds, and with an inner search; "
        "table2); of the new ones only CS-LogitBoost is below them. On small sets choose the "
        "rounds inside the training rows.",
    ),
    Paper(
        "beijbom2014",
        "O. Beijbom, M. Saberian, D. Kriegman and N. Vasconcelos, “Guess-averse loss functions "
        "for cost-sensitive multiclass boosting”, ICML 2014.",
        'Take `MCBoostClassifier(loss="gll")`, or the plain loss with the Bayes rule '
        '(`loss="mc", decision="bayes"`); leave Ls and Lt alone, although they are calibrated. A '
        "linear support vector machine is a fair rival of boosted lines.",
    ),
    Paper(
        "cao2013",
        "Y. Cao, Q.-G. Miao, J.-C. Liu and L. Gao, “Fisher consistent cost sensitive boosting "
        "algorithm”, Journal of Software 24(11), 2013, 2584–2596.",
        "`AsyBLClassifier` with `learning_rate=0.1`, which the paper does not have, has the best "
        "mean rank over the five sets with C4.5 and with LightGBM trees of 8 leaves (3.4 and 3.6 "
        "among 13 methods, tables 1 to 5). The order of the others depends on the trees more than "
        "on the method: AdaBoost started from the costs is second with LightGBM and seventh with "
        "C4.5. AsyB's vote counts the costs twice.",
    ),
    Paper(
        "nikolaou2016",
        "N. Nikolaou, N. Edakunni, M. Kull, P. Flach and G. Brown, “Cost-sensitive boosting "
        "algorithms: do we really need them?”, Machine Learning 104, 2016, 359–384.",
        "Calibrate AdaBoost and decide by the costs, `AdaMECClassifier`: with stumps on the "
        "authors' sets its mean cost is 0.079 of the highest possible, on a par with calibrated "
        "CGAda and AsymAda (0.079 both); without calibration it is 0.150. CGAda and AsymAda "
        "need it less (0.084 and 0.083 without). Calibrated CSAda and CSB2 are close (0.082).",
    ),
)


def paper(name: str) -> Paper:
    """The paper of that name."""
    known = {paper.name: paper for paper in PAPERS}
    if name not in known:
        raise ValueError(f"PAPER must be one of {', '.join(known)}; got {name!r}.")
    return known[name]


def items(name: str | None = None) -> list[Item]:
    """The items of a paper, or of all papers."""
    chosen = PAPERS if name is None else (paper(name),)
    return [item for candidate in chosen for item in candidate.items()]


def find(name: str, item: str) -> Item:
    """One item of a paper."""
    known = {found.name: found for found in items(name)}
    if item not in known:
        raise ValueError(f"ITEM of {name} must be one of {', '.join(known)}; got {item!r}.")
    return known[item]


def owner(item: Item) -> Item:
    """The item whose rows this one reads: itself, or the one it shares them with."""
    return item if item.shares_rows_with is None else find(item.paper, item.shares_rows_with)
