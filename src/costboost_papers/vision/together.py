"""Several boosted detectors trained side by side: one pass over the features per round."""

from __future__ import annotations

from collections.abc import Sequence

from costboost.boosting.loop import History, Scheme, advance
from costboost_papers.vision.haar_stump import BoundHaarStump

__all__ = ["boost_together"]


def boost_together(
    schemes: Sequence[Scheme], learner: BoundHaarStump, n_rounds: int
) -> list[History]:
    """Run several algorithms on the same windows and labels."""
    # Each goes its own way, as it would alone; only the search over the features is shared.
    histories = [History() for _ in schemes]
    active = list(range(len(schemes)))
    for number in range(1, n_rounds + 1):
        aims = {}
        for k in active:
            aim = schemes[k].aim()
            if aim is None:
                histories[k].stop = "every row is fitted"
            else:
                aims[k] = aim
        if not aims:
            break
        fitted = learner.fit_many(list(aims.values()))
        active = [
            k
            for k, found in zip(aims, fitted, strict=True)
            if advance(schemes[k], found, histories[k], number)
        ]
    return histories
