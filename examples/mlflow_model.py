"""Put a classifier into MLflow without a pickle, with a signature and costs as a parameter.

    python examples/mlflow_model.py

Needs the extras ``data`` and ``mlflow``. The model file is the data of the MLflow model and
``costboost.files.mlflow_model`` its loader, so MLflow unpickles nothing.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import mlflow
import numpy as np
import pandas as pd

from costboost import CostBoostClassifier
from costboost.datasets import make_fraud
from costboost.files.mlflow_model import signature_of


def main() -> None:
    data = make_fraud(2000, random_state=0)
    X = pd.DataFrame(data.X).add_prefix("x")
    model = CostBoostClassifier({"fn": 100, "fp": 5}, n_estimators=50, random_state=0)
    model.fit(X, data.y)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        mlflow.pyfunc.save_model(
            folder / "fraud",
            loader_module="costboost.files.mlflow_model",
            data_path=model.save(folder / "fraud.costboost"),
            signature=signature_of(model),
            input_example=X[:3],
            pip_requirements=["costboost"],
        )
        pickles = [path.name for path in (folder / "fraud").rglob("*.pkl")]
        print("pickles in the MLflow model:", pickles)
        served = mlflow.pyfunc.load_model(str(folder / "fraud"))
        assert np.array_equal(served.predict(X), model.predict(X))
        careful = [0.0, 500.0, 100.0, 0.0]  # truth by decision: a false alarm costs 500
        decided = served.predict(X, params={"costs": careful})
        assert np.array_equal(decided, model.predict(X, costs=np.reshape(careful, (2, 2))))
        print("alarms with the costs of the fit:", int(served.predict(X).sum()))
        print("alarms if a false one costs 500: ", int(decided.sum()))


if __name__ == "__main__":
    main()
