"""Made data that several folders of tests share."""

from __future__ import annotations

import numpy as np
import pandas as pd


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


def rows_of_values(item, values):
    """Made-up rows from {(dataset, algorithm, setting, split, metric): value}."""
    names = ["dataset", "algorithm", "setting", "split", "metric"]
    rows = [{**dict(zip(names, key, strict=True)), "value": v} for key, v in values.items()]
    return pd.DataFrame(rows).assign(paper=item.paper, item=item.name, seed=0, seconds=0.0)
