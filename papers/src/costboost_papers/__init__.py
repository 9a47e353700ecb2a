"""Papers' tables and figures, run again: ``costboost-papers``.

`costboost_papers.item` says what an experiment is, `costboost_papers.grading` how a claim is
judged. Each paper has a file: the algorithms, how much of the protocol is run, what the paper
states, checked on our figures (the verdicts), its tables and figures (the items). ``printed`` has
the papers' numbers.
"""
