"""Training time on a Dask cluster of two workers against one process with two threads.

2M rows x 20, 200 trees of 31 leaves, the probability head alone, no early stopping:
``python benchmarks/dask_speed.py``. Both start from arrays in memory: the cluster's are spread over
its workers before the clock starts, as data read by workers would be.
"""

from __future__ import annotations

from typing import Annotated

import dask.array as da
import numpy as np
import typer
from distributed import Client, LocalCluster, wait
from harness import Bench, made_rows, paired_seconds

from costboost import CostBoostClassifier
from costboost.dask import DaskCostBoostClassifier

SEED = 0
FEATURES = 20
LIMIT = 1.3
ARGUMENTS = {
    "max_leaves": 31,
    "early_stopping": False,
    "subsample": 1.0,
    "colsample": 1.0,
    "random_state": SEED,
}


def main(
    rows: Annotated[int, typer.Option(help="Rows.")] = 2_000_000,
    trees: Annotated[int, typer.Option(help="Trees.")] = 200,
    partitions: Annotated[int, typer.Option(help="Partitions of the rows.")] = 8,
    repeats: Annotated[int, typer.Option(help="Timed runs; the median counts.")] = 1,
) -> None:
    X, y = made_rows(rows, features=FEATURES)
    cost_matrix = {"fn": 5, "fp": 1}
    one = CostBoostClassifier(cost_matrix, effort="fast", n_jobs=2, n_estimators=trees, **ARGUMENTS)
    bench = Bench("costboost.dask: two workers with a thread each")
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            memory_limit="4GiB",
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):
        many = DaskCostBoostClassifier(cost_matrix, n_estimators=trees, client=client, **ARGUMENTS)
        spread = _spread(client, (X, y), -(-rows // partitions))
        ours, theirs = paired_seconds(lambda: many.fit(*spread), lambda: one.fit(X, y), repeats)
        agree = float((many.to_local().predict(X[:100_000]) == one.predict(X[:100_000])).mean())
    what = f"Dask, 2 workers x 1 thread, {rows} x {FEATURES}, {trees} trees"
    bench.add("4", what, ours, "one process, 2 threads", theirs, at_most=LIMIT)
    bench.console.print(f"{agree:.4f} of the decisions are the same")
    bench.finish("dask_speed", SEED)


def _spread(client: Client, arrays: tuple[np.ndarray, ...], size: int) -> list[da.Array]:
    """The rows on the workers, in turns."""
    workers = list(client.scheduler_info()["workers"])
    spread = []
    for array in arrays:
        starts = range(0, len(array), size)
        pieces = [
            client.scatter(array[s : s + size], workers=[workers[i % len(workers)]])
            for i, s in enumerate(starts)
        ]
        wait(pieces)
        spread.append(
            da.concatenate(
                [
                    da.from_delayed(piece, array[s : s + size].shape, array.dtype)
                    for s, piece in zip(starts, pieces, strict=True)
                ]
            )
        )
    return spread


if __name__ == "__main__":
    typer.run(main)
