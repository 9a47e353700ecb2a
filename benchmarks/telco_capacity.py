"""Whom to contact? The Telco table of Van der Schraelen et al. (2025), with learned expected costs.

    python benchmarks/telco_capacity.py

"Cost-sensitive learning under constrained resources": contacting a customer who would leave earns
the monthly charge less 5, contacting anybody else costs 5. The charges are no features. Mean over
four folds of the money found in the best 10 to 50 % of the test rows. Published figures stand
beside ours; the two regressions are the simple rivals. Writes results/telco_capacity.csv.
"""

from __future__ import annotations

import warnings

import numpy as np
from harness import write_rows
from lightgbm import LGBMClassifier, LGBMRegressor
from rich.console import Console
from rich.table import Table
from sklearn.model_selection import RepeatedStratifiedKFold

from costboost import CostBoostClassifier
from costboost.datasets import load

SEED = 2290
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5)
PUBLISHED = {
    "published: LightGBM by probability": (9_684, 16_250, 21_904, 24_586, 25_424),
    "published: best cost-sensitive ranker": (10_630, 17_938, 22_825, 25_922, 27_374),
}


def found(order: np.ndarray, value: np.ndarray) -> list[float]:
    """Money in the best shares of the rows."""
    total = np.cumsum(value[np.argsort(-order, kind="stable")])
    return [float(total[round(share * len(value)) - 1]) for share in SHARES]


def main() -> None:
    warnings.simplefilter("ignore")
    data = load("telco")
    X = data.X.drop(columns=["monthly_charges", "total_charges"])
    y = (np.asarray(data.y) == "Yes").astype(int)
    charge = data.X["monthly_charges"].to_numpy(dtype=float)
    value = np.where(y == 1, charge, 0.0) - 5.0
    # rows = truth, columns = leave alone, contact
    costs = np.zeros((len(y), 2, 2))
    costs[:, 0, 1], costs[:, 1, 1] = 5.0, 5.0 - charge
    lines: dict[str, list[list[float]]] = {}
    folds = RepeatedStratifiedKFold(n_splits=4, n_repeats=1, random_state=SEED)
    for train, test in folds.split(X, y):
        A, B, v = X.iloc[train], X.iloc[test], value[test]
        small = {"num_leaves": 8, "n_estimators": 150, "learning_rate": 0.05, "verbose": -1}
        p = LGBMClassifier(**small).fit(A, y[train]).predict_proba(B)[:, 1]
        worth = LGBMRegressor(**small).fit(A, value[train]).predict(B)
        price = LGBMRegressor(**small).fit(A, charge[train]).predict(B)
        ways = {"LightGBM by probability": p, "regression of the value": worth,
                "probability x regression of the charge": p * price}  # fmt: skip
        for effort in ("fast", "balanced"):
            model = CostBoostClassifier(effort=effort, random_state=0, n_jobs=1)
            model.fit(A, y[train], costs=costs[train])
            for name, told in (("not told", None), ("told", costs[test])):
                expected = model.predict_cost(B, costs=told)
                ways[f"costboost {effort}, charges {name}"] = expected[:, 0] - expected[:, 1]
        for name, order in ways.items():
            lines.setdefault(name, []).append(found(order, v))
    means = {name: np.mean(rows, axis=0) for name, rows in lines.items()}
    table = Table("way", *(f"{share:.0%}" for share in SHARES), title="money found, Telco")
    for name, values in {**PUBLISHED, **means}.items():
        table.add_row(name, *(f"{v:,.0f}" for v in values))
    Console(width=110).print(table)
    rows = [{"way": name, **{f"{share:.0%}": f"{v:.1f}" for share, v in
             zip(SHARES, values, strict=True)}} for name, values in means.items()]  # fmt: skip
    write_rows("telco_capacity", rows, SEED)


if __name__ == "__main__":
    main()
