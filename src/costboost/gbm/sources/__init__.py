"""Where training rows come from: a table in memory, Parquet files, a Dask cluster.

A source knows how to bring rows: the sums over them, the held-out ones, and a matrix for the
engine. What they are trained for, and what becomes of the boosters, is `costboost.gbm.train`.
"""
