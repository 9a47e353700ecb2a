"""Write a classifier as an ONNX graph and decide by its probabilities, with the costs of each row.

python examples/onnx_model.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import onnxruntime

from costboost import CostBoostClassifier
from costboost.costs import per_row
from costboost.datasets import make_fraud


def main() -> None:
    data = make_fraud(2000, random_state=0)
    model = CostBoostClassifier({"fn": 100, "fp": 5}, n_estimators=50, random_state=0)
    model.fit(data.X, data.y)
    costs = np.asarray(per_row(fn=data.amount, fp=5))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fraud.onnx"
        model.to_onnx(path)
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        (proba,) = session.run(["probabilities"], {"features": data.X})
    expected_costs = np.einsum("nk,nkd->nd", proba, costs)
    decision = model.decisions_[expected_costs.argmin(axis=1)]
    print("same decisions:", bool((decision == model.predict(data.X, costs=costs)).all()))
    print("same probabilities:", bool(np.allclose(proba, model.predict_proba(data.X), rtol=1e-9)))


if __name__ == "__main__":
    main()
