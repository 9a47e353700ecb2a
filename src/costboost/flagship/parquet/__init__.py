"""Training and deciding on Parquet files that are larger than memory.

- `files`: which files, which columns, and their rows in batches.
- `pricing`: costs by the names of columns.
- `rows`: batches as features, classes, weights and costs.
- `survey`: what must be known of all rows before training, and which are held out.
- `training`: boosters by XGBoost's external memory.
- `scoring`: decisions, batch by batch, into a file.
"""
