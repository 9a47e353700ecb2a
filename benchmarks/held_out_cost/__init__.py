"""What classifiers pay on rows they have not seen: CostBoostClassifier against its rivals.

``python -m benchmarks.held_out_cost`` runs all problems and writes the report,
``python -m benchmarks.held_out_cost report`` writes the report anew from the rows of the last run.
"""

import os

# Before numpy and the boosters are imported: one thread per fit, one process per core.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
