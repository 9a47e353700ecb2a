"""Cao et al. 2013, “Fisher consistent cost sensitive boosting algorithm”.

Tables 1 to 5 have a data set each; figure 3 is drawn from the fits of table 3. Figures 1 and 2 show
decision boundaries on two Gaussians in the plane, where the best decision is known.
"""

from __future__ import annotations

from costboost_papers.cao2013.figures import FIGURE_1, FIGURE_2, CostByRound
from costboost_papers.cao2013.tables import TABLES, overall
from costboost_papers.item import Item

__all__ = ["ITEMS", "overall"]

ITEMS: list[Item] = [FIGURE_1, FIGURE_2, *TABLES, CostByRound()]
