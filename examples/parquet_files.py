"""Train and decide from Parquet files that need not fit into memory.

python examples/parquet_files.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from costboost import CostBoostClassifier
from costboost.costs import per_row
from costboost.datasets import make_fraud

COSTS = {"fn": "amount", "fp": 5}


def write(folder: Path, rows: int, files: int, seed: int) -> None:
    """Payments in several files, as a warehouse would export them."""
    data = make_fraud(rows, random_state=seed)
    table = pd.DataFrame(data.X, columns=data.feature_names)
    table = table.assign(id=np.arange(rows), fraud=data.y == 1)
    folder.mkdir()
    for i in range(files):
        table[i::files].to_parquet(folder / f"part-{i}.parquet")


def main() -> None:
    """Write files, train from them, decide others batch by batch."""
    with tempfile.TemporaryDirectory() as name:
        here = Path(name)
        write(here / "past", 20_000, files=4, seed=0)
        write(here / "new", 5_000, files=2, seed=1)
        features = list(make_fraud(10, random_state=0).feature_names)
        model = CostBoostClassifier(n_estimators=60, n_jobs=1, random_state=0)
        model.fit_parquet(f"{here}/past/*.parquet", target="fraud", costs=COSTS, features=features)
        print("expected savings:", model.estimated_savings_)
        decided = []
        for path in sorted((here / "new").glob("*.parquet")):
            for batch in pq.ParquetFile(path).iter_batches(1_000):
                rows = batch.to_pandas()
                labels = model.predict(rows[features], costs=per_row(fn=rows["amount"], fp=5))
                decided.append(rows[["id"]].assign(decision=labels))
        table = pd.concat(decided)
        print(f"{len(table):,} decisions, columns {list(table.columns)}")


if __name__ == "__main__":
    main()
