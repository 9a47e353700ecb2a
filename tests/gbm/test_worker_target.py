"""Workers of a cluster that hold no rows."""

import numpy as np
import pytest

xgb = pytest.importorskip("xgboost")
pytest.importorskip("distributed")

from costboost.gbm.sources.dask import training  # noqa: E402
from costboost.gbm.sources.dask.training import WorkerTarget  # noqa: E402


class Scores:
    """As much of a target as an empty worker asks for."""

    is_log_loss = False

    def __init__(self, n_scores):
        self.n_scores = n_scores


@pytest.mark.parametrize("share", [1.0, 0.8])
@pytest.mark.parametrize("k, shape", [(1, (0,)), (2, (0, 2)), (5, (0, 5))])
def test_a_worker_without_rows_keeps_the_number_of_scores(monkeypatch, share, k, shape):
    # XGBoost compares the columns of the gradient with the classes of the model, and the scores
    # that it hands over have lost them: their shape is (0,).
    sent = []
    monkeypatch.setattr(training.collective, "allreduce", lambda own, op: sent.append(own) or own)
    data = xgb.DMatrix(np.empty((0, 3)), label=np.empty(0))
    for _ in range(2):
        g, h = WorkerTarget(Scores(k), share).derivatives(np.empty(0, dtype=np.float32), data)
        assert g.shape == h.shape == shape
    # Workers with rows send doubles; XGBoost adds up bytes as they come.
    assert all(own.dtype == np.float64 for own in sent) and len(sent) == (2 if share < 1 else 0)
