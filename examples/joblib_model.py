"""Cache a model with joblib for yourself, and share it as a model file.

python examples/joblib_model.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import joblib
from sklearn.datasets import load_breast_cancer

import costboost
from costboost import AdaC2Classifier


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = AdaC2Classifier({"fn": 1, "fp": 20}, n_estimators=30).fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        cache, handed_on = Path(folder) / "cache.joblib", Path(folder) / "cancer.costboost"
        joblib.dump(model, cache)
        own = joblib.load(cache)  # a pickle: only from a place that is yours
        safe = costboost.load(own.save(handed_on))
    print("joblib:", bool((own.predict_proba(X) == model.predict_proba(X)).all()))
    print("model file:", bool((safe.predict_proba(X) == model.predict_proba(X)).all()))


if __name__ == "__main__":
    main()
