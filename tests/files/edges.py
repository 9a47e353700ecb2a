"""Rows where converters go wrong: on every split value and one step beside it, missing, odd."""

from __future__ import annotations

import numpy as np

from costboost.gbm.models import DesignModel
from costboost.trees import CATEGORY, from_lightgbm, from_xgboost


def splits(model):
    """The split values of a booster by feature, and the categories by feature."""
    is_lightgbm = type(model).__module__.startswith("lightgbm")
    trees = (from_lightgbm if is_lightgbm else from_xgboost)(model)
    is_category = (trees.kind & CATEGORY) > 0
    numbers = {}
    for feature, threshold in zip(trees.feature, trees.threshold, strict=True):
        numbers.setdefault(int(feature), set()).add(float(threshold))
    categories = set(trees.feature[is_category].tolist())
    return {j: found for j, found in numbers.items() if j not in categories}, categories


def around(value):
    """A value, its neighbours in double and, where it is one, in single precision."""
    double = float(value)
    found = [double, np.nextafter(double, np.inf), np.nextafter(double, -np.inf)]
    single = np.float32(value)
    found += [float(np.nextafter(single, np.float32(s))) for s in (np.inf, -np.inf)]
    return found


ODD_NUMBERS = [0.0, -0.0, np.nan, 1e-35, -1e-35, 5e-36, float(np.float32(1e-35)), 1e-300, 1e30]
ODD_NUMBERS += [np.nextafter(float(np.float32(1e-35)), 1), -1e30]
ODD_CATEGORIES = [-1.0, -0.5, 0.0, 0.5, 1.0, 1.999, 31.0, 32.0, 1000.0, np.nan, 16777216.0]


def edge_rows(models, X, limit=20_000):
    """Rows of X with a feature moved to every value that a split could tell apart."""
    rng = np.random.RandomState(0)
    values = {}
    for model in models:
        if isinstance(model, DesignModel):  # it splits nothing
            continue
        numbers, categories = splits(model)
        for feature, found in numbers.items():
            values.setdefault(feature, set()).update(v for t in found for v in around(t))
            values[feature].update(ODD_NUMBERS)
        for feature in categories:
            known = X[:, feature][~np.isnan(X[:, feature])]
            values.setdefault(feature, set()).update([*ODD_CATEGORIES, *np.unique(known)])
    pairs = [
        (feature, value)
        for feature, found in sorted(values.items())
        for value in found
        if not np.isinf(value)  # which classifiers refuse
    ]
    if len(pairs) > limit:
        pairs = [pairs[i] for i in rng.choice(len(pairs), limit, replace=False)]
    rows = X[rng.randint(len(X), size=len(pairs))].copy()
    for i, (feature, value) in enumerate(pairs):
        rows[i, feature] = value
    return rows
