"""Train on a Dask cluster, serve without one.

python examples/dask_cluster.py
"""

from __future__ import annotations

import dask.array as da
from distributed import Client, LocalCluster

from costboost.costs import per_row
from costboost.dask import DaskCostBoostClassifier
from costboost.datasets import make_fraud


def main() -> None:
    """Start a cluster, train, fetch the model, decide."""
    data, new = make_fraud(8_000, random_state=0), make_fraud(4_000, random_state=1)
    # With few values in a column the fit repeats, however the rows are spread over workers.
    arrays = (data.X.round(1), data.y, per_row(fn=data.amount, fp=5))
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit="2GiB"
        ) as cluster,
        Client(cluster) as client,
    ):
        X, y, costs = (da.from_array(a, chunks=(2_000, *a.shape[1:])) for a in arrays)
        model = DaskCostBoostClassifier(n_estimators=60, random_state=0, client=client)
        model.fit(X, y, costs=costs)
        print("expected savings:", model.estimated_savings_)
        served = model.to_local()
    saved = served.score(new.X.round(1), new.y, costs=per_row(fn=new.amount, fp=5))
    print(f"{type(served).__name__} without a cluster saves {saved:.0%}")


if __name__ == "__main__":
    main()
