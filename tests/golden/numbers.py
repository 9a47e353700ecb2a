"""The golden table: what every class decides on three small sets, and what that costs.

    PYTHONPATH=src:tests python -m golden.numbers

computes the numbers anew and writes them into ``tests/golden/numbers.json``. It refuses to write a
class whose numbers have changed unless the first section of CHANGELOG.md names it, under the
heading "Numbers changed" or in a line that begins with **Numbers**. The line "all classes" names
all of them.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import warnings
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine

from costboost.datasets import make_fraud
from costboost.metrics import total_cost
from files.models import ESTIMATORS, MULTICLASS, make

TABLE = Path(__file__).with_name("numbers.json")
CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"
PACKAGES = ("lightgbm", "numpy", "scikit-learn", "scipy", "xgboost")


def versions(*packages):
    """The versions of those packages that are installed."""
    found = {}
    for name in packages:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


@cache
def sets():
    """Name to (X, y, cost matrix); rows are shuffled by a seed."""
    cancer, wine, fraud = load_breast_cancer(), load_wine(), make_fraud(400, random_state=0)
    three = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [8.0, 2.0, 0.0]])
    two = np.array([[0.0, 1.0], [40.0, 0.0]])
    return {
        "cancer": (cancer.data, cancer.target, np.array([[0.0, 10.0], [1.0, 0.0]])),
        "wine": (wine.data, wine.target, three),
        "fraud": (fraud.X, fraud.y, two),
    }


def numbers(name, which):
    """Decisions and costs of one class on the held-out half of a set."""
    X, y, costs = sets()[which]
    if len(costs) > 2 and name not in MULTICLASS:
        y, costs = (y == 2).astype(int), np.array([[0.0, 1.0], [5.0, 0.0]])
    order = np.random.RandomState(0).permutation(len(y))
    train, test = order[::2], order[1::2]
    more = {"cost_matrix": costs}
    if name == "TargetRateClassifier":  # it chooses its own costs
        more = {"estimator": make("CSB2Classifier", n_estimators=5), "n_trials": 4, "cv": 3}
    model = make(name, n_estimators=10, **more)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[train], y[train])
        decisions = model.predict(X[test])
    labels, counts = np.unique(decisions, return_counts=True)
    row = {
        "decisions": hashlib.sha256(" ".join(map(str, decisions)).encode()).hexdigest()[:16],
        "counts": {str(label): int(n) for label, n in zip(labels, counts, strict=True)},
        "cost": total_cost(y[test], decisions, cost_matrix=costs),
    }
    if hasattr(model, "predict_proba"):
        proba = np.asarray(model.predict_proba(X[test]))
        row["probability"] = float(f"{np.square(proba).sum():.8g}")
    return row


def read():
    return json.loads(TABLE.read_text())


def same(old, new):
    """Whether two rows are the same: probabilities to rounding, all else exactly."""
    a, b = dict(old), dict(new)
    p, q = (row.pop("probability", np.nan) for row in (a, b))
    return a == b and bool(np.isclose(p, q, rtol=1e-6, atol=0, equal_nan=True))


def named(changelog):
    """Classes that the first section of a changelog says have other numbers."""
    sections = re.split(r"^## ", changelog, flags=re.MULTILINE)
    first = sections[1] if len(sections) > 1 else ""
    text = " ".join(
        part.partition("\n")[2]
        for part in re.split(r"^### ", first, flags=re.MULTILINE)[1:]
        if part.startswith("Numbers changed")
    )
    text += " ".join(re.findall(r"^- \*\*Numbers\*\*.*?(?=^[-#]|\Z)", first, re.DOTALL | re.M))
    if "all classes" in text:
        return set(ESTIMATORS)
    return {name for name in ESTIMATORS if re.search(rf"\b{name}\b", text)}


def changes(old, new):
    """Classes whose numbers differ, new classes left out."""
    return sorted(
        name
        for name in old.keys() & new.keys()
        if not all(same(old[name][which], new[name][which]) for which in old[name])
    )


def main():
    before = read()
    new = {name: {which: numbers(name, which) for which in sets()} for name in ESTIMATORS}
    changed = changes(before["numbers"], new)
    silent = sorted(set(changed) - named(CHANGELOG.read_text()))
    if silent:
        print(
            "Not written. These classes have other numbers, and the first section of CHANGELOG.md "
            f'does not name them under "### Numbers changed": {", ".join(silent)}'
        )
        sys.exit(1)
    TABLE.write_text(json.dumps({"versions": versions(*PACKAGES), "numbers": new}, indent=1) + "\n")
    print(f"{len(new)} classes, {len(changed)} changed: {', '.join(changed) or 'none'}")


if __name__ == "__main__":
    main()
