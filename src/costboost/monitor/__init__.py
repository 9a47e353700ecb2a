"""Monitor a classifier in use: what new rows will cost, and whether anything has changed.

Take a snapshot of rows the model has not trained on, and later one of new rows. Labels may come
later, or never:

>>> from sklearn.linear_model import LogisticRegression
>>> from costboost.datasets import make_gaussians_2d
>>> from costboost.monitor import Monitor, snapshot_of
>>> X, y = make_gaussians_2d(2000, random_state=0)
>>> model = LogisticRegression().fit(X[:1000], y[:1000])
>>> prices = {"fn": 5, "fp": 1, "positive": 1}
>>> reference = snapshot_of(model, X[1000:], y[1000:], cost_matrix=prices)
>>> monitor = Monitor(reference, false_alarm_rate=0.01)
>>> same, _ = make_gaussians_2d(500, random_state=1)
>>> monitor.check(snapshot_of(model, same, cost_matrix=prices)).alarms
[]
>>> shifted = snapshot_of(model, same + [0.0, 1.0], cost_matrix=prices)
>>> [check.name for check in monitor.check(shifted).alarms]
['decision rates', 'x1']
"""

from __future__ import annotations

from costboost.monitor.checks import Check
from costboost.monitor.monitor import Monitor, MonitorReport
from costboost.monitor.snapshot import Snapshot, snapshot, snapshot_of

__all__ = ["Check", "Monitor", "MonitorReport", "Snapshot", "snapshot", "snapshot_of"]
