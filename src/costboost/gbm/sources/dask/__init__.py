"""Dask collections as a source of rows: XGBoost trained by the workers of a cluster.

- `partitions`: Dask collections as lists of partitions that belong together.
- `guard`: waiting for a cluster without hanging when a worker dies.
- `training`: what the workers do: read a partition, hand its columns to XGBoost, score it.
- `source`: the source of training rows.
"""
