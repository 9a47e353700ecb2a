"""Rows where converters go wrong: on every split value and one step beside it, missing, odd."""

from __future__ import annotations

import numpy as np

from costboost.trees import CATEGORY, Trees

ODD_NUMBERS = [0.0, -0.0, np.nan, 1e-35, -1e-35, 5e-36, float(np.float32(1e-35)), 1e-300, 1e30]
ODD_NUMBERS += [np.nextafter(float(np.float32(1e-35)), 1), -1e30]
ODD_CATEGORIES = [-1.0, -0.5, 0.0, 0.5, 1.0, 1.999, 31.0, 32.0, 1000.0, np.nan, 16777216.0]


def tables(model):
    """All tables of trees inside a model."""
    found, waiting, seen = [], [model], set()
    while waiting:
        item = waiting.pop()
        if id(item) in seen or isinstance(item, (str, int, float, np.ndarray)):
            continue
        seen.add(id(item))
        if isinstance(item, Trees):
            found.append(item)
        elif isinstance(item, (list, tuple)):
            waiting.extend(item)
        elif isinstance(item, dict):
            waiting.extend(item.values())
        elif hasattr(item, "__dict__"):
            waiting.extend(vars(item).values())
    return found


def around(value):
    """A value, its neighbours in double and, where it is one, in single precision."""
    single = np.float32(value)
    found = [value, np.nextafter(value, np.inf), np.nextafter(value, -np.inf), float(single)]
    return found + [float(np.nextafter(single, np.float32(s))) for s in (np.inf, -np.inf)]


def edge_rows(model, X, limit=20_000):
    """Rows of X with a feature moved to every value that a split could tell apart."""
    rng = np.random.RandomState(0)
    values = {}
    for trees in tables(model):
        for feature, threshold, kind in zip(
            trees.feature.tolist(), trees.threshold.tolist(), trees.kind, strict=True
        ):
            known = values.setdefault(feature, set())
            if kind & CATEGORY:
                codes = X[:, feature]
                known.update([*ODD_CATEGORIES, *np.unique(codes[~np.isnan(codes)])])
            else:
                known.update([*around(threshold), *ODD_NUMBERS])
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
