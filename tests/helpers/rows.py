"""Raw rows of experiments, without the disk."""

from __future__ import annotations

import pandas as pd


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
