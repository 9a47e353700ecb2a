"""Save a model that contains a scikit-learn estimator, and load it only if you trust its types.

python examples/skops_model.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import costboost
from costboost import MinCostClassifier, ModelFileError


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    costs = {"fn": 1, "fp": 20}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cancer.costboost"

        known = make_pipeline(StandardScaler(), LogisticRegression())
        model = MinCostClassifier(known, cost_matrix=costs).fit(X, y)
        same = costboost.load(model.save(path))
        print("known types:", bool((same.predict_proba(X) == model.predict_proba(X)).all()))

        other = make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss", random_state=0))
        model = MinCostClassifier(other, cost_matrix=costs).fit(X, y)
        model.save(path)
        try:
            costboost.load(path)
        except ModelFileError:
            from costboost.files import inspect

            types = inspect(path)["untrusted"]
            print("to trust:", ", ".join(types))
        same = costboost.load(path, trusted=types)
        print("trusted types:", bool((same.predict_proba(X) == model.predict_proba(X)).all()))


if __name__ == "__main__":
    main()
