"""Classes in a hierarchy: when in doubt, name the genus.

python examples/hierarchical_classes.py
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from costboost import CostBoostClassifier
from costboost.costs import from_taxonomy
from costboost.metrics import mean_cost

TREE = {
    "oak": ["oak 1", "oak 2", "oak 3"],
    "elm": ["elm 1", "elm 2", "elm 3"],
    "ash": ["ash 1", "ash 2", "ash 3"],
}


def leaves(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Made-up measurements of leaves: genera lie far apart, species of a genus overlap."""
    species = [name for members in TREE.values() for name in members]
    places = np.random.default_rng(0)
    centres = np.repeat(places.normal(0, 3, (3, 5)), 3, axis=0) + places.normal(0, 0.8, (9, 5))
    rng = np.random.default_rng(seed)
    which = rng.integers(0, 9, n)
    return centres[which] + rng.normal(0, 1, (n, 5)), np.array(species)[which]


def prices() -> pd.DataFrame:
    """Nine species by twelve decisions: the species, and the three genera."""
    tree = from_taxonomy(TREE)
    table = pd.DataFrame(tree.matrix, index=tree.classes, columns=tree.classes)
    for genus, members in TREE.items():
        table[genus] = np.where(table.index.isin(members), 0.5, 4.0)
    return table


def main() -> None:
    """Decide by probability, and by cost with the genera as decisions."""
    X, y = leaves(2_000, seed=1)
    X_new, y_new = leaves(4_000, seed=2)
    costs = prices()
    model = CostBoostClassifier(
        costs, n_estimators=100, learning_rate=0.1, cv=2, n_jobs=1, random_state=0
    ).fit(X, y)
    probable = model.classes_[model.predict_proba(X_new).argmax(axis=1)]
    decided = model.predict(X_new)
    for name, labels in (("most probable species", probable), ("cheapest decision", decided)):
        paid = mean_cost(y_new, labels, cost_matrix=costs)
        genera = np.isin(labels, list(TREE)).mean()
        print(f"{name:<22} costs {paid:.3f} a leaf and names only the genus in {genera:.0%}")


if __name__ == "__main__":
    main()
