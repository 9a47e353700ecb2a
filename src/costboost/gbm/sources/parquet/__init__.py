"""Training and deciding on Parquet files that are larger than memory.

- `files`: which files, which columns, and their rows in batches.
- `pricing`: costs by the names of columns.
- `reading`: batches as blocks of features, classes, weights and costs.
- `source`: the source of training rows, by XGBoost's external memory.
- `scoring`: decisions, batch by batch, into a file.
"""
