"""Made data that several tests share."""

from __future__ import annotations

import numpy as np
import pandas as pd

from costboost.costs import per_row


def rows(k=2, n=300, seed=0):
    """Two or three classes that overlap, told by the first two of four features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    score = X[:, 0] + 0.5 * X[:, 1] + 0.7 * rng.normal(size=n)
    return X, np.digitize(score, [0.3] if k == 2 else [-0.5, 0.6])


def row_costs(n=300, seed=1):
    """A miss costs what its row says, an alarm 2."""
    return per_row(fn=np.random.default_rng(seed).uniform(1, 20, n), fp=2.0)


def blobs(n=90, seed=0):
    """Three classes, one of them rarer; two numbers and a category."""
    rng = np.random.default_rng(seed)
    y = np.repeat(["a", "b", "c"], [n // 2, n // 3, n - n // 2 - n // 3])
    centre = np.array([{"a": 0.0, "b": 2.0, "c": 4.0}[label] for label in y])
    X = pd.DataFrame({"u": centre + rng.normal(size=n), "v": rng.normal(size=n)})
    X["w"] = pd.Categorical(np.where(centre > 3, "high", "low"))
    return X, y


def rows_of_tasks(item, tasks, mode="quick"):
    """What an item measures on some of its tasks."""
    return pd.DataFrame(
        {**vars(task), "seed": task.seed, "metric": metric, "value": value}
        for task in tasks
        for metric, value in item.run(task, mode).items()
    )
