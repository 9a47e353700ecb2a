"""Save a model as a file without code, and as an ONNX graph for other languages.

    python examples/save_and_export.py

Both files decide exactly as the model does. The graph takes the costs of each row as a second
input. Needs onnx and onnxruntime.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import onnxruntime

import costboost
from costboost import CostBoostClassifier
from costboost.costs import per_row
from costboost.datasets import make_fraud
from costboost.files import inspect


def main() -> None:
    """Train, write both files, compare their decisions with the model's."""
    data, new = make_fraud(3_000, random_state=0), make_fraud(2_000, random_state=1)
    costs_new = per_row(fn=new.amount, fp=5)
    model = CostBoostClassifier(n_estimators=80, ensemble=2, n_jobs=1, random_state=0)
    model.fit(data.X, data.y, costs=per_row(fn=data.amount, fp=5))
    decided = model.predict(new.X, costs=costs_new)
    with tempfile.TemporaryDirectory() as name:
        file, graph = Path(name) / "fraud.costboost", Path(name) / "fraud.onnx"
        model.save(file)
        about = inspect(file)
        print(f"{file.name}: {about['class']}, format {about['format']}")
        same = (costboost.load(file).predict(new.X, costs=costs_new) == decided).all()
        print("the file decides as the model does:", bool(same))

        model.to_onnx(graph, costs=True)
        session = onnxruntime.InferenceSession(graph)
        rows = {"features": new.X.astype(np.float64), "costs": np.asarray(costs_new)}
        (labels,) = session.run(["decision"], rows)
        print("the graph decides as the model does:", bool((labels == decided).all()))


if __name__ == "__main__":
    main()
