"""`CostBoostClassifier` on many machines: XGBoost on a Dask cluster.

The module needs Dask and XGBoost: ``pip install "costboost[dask]"``.
"""

from __future__ import annotations

from importlib.util import find_spec

for _name in ("dask", "distributed", "pandas", "xgboost"):
    if find_spec(_name) is None:
        raise ImportError(
            f'costboost.dask needs {_name}, which is not installed: pip install "costboost[dask]"'
        )

from costboost.dask.classifier import DaskCostBoostClassifier  # noqa: E402 - after the check
from costboost.gbm.sources.dask.guard import WorkerLostError  # noqa: E402 - after the check

__all__ = ["DaskCostBoostClassifier", "WorkerLostError"]
