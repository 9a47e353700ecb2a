"""Papers' tables and figures, run again: ``costboost-papers``.

`costboost_papers.item` says what an experiment is, `costboost_papers.grading` how a claim is
judged. Each paper has a file: the algorithms, how much of the protocol is run, what the paper
states, checked on our figures (the verdicts), its tables and figures (the items). ``printed`` has
the papers' numbers. C4.5 trees, which some papers boost, are ``estimator="c45"`` of every algorithm
once this package is imported.
"""

from costboost.learners import register
from costboost_papers.c45 import C45, C45Classifier, JointC45

__all__ = ["C45", "C45Classifier", "JointC45"]

register("c45", C45)
