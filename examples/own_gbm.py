"""A cost matrix in your own LightGBM and XGBoost.

python examples/own_gbm.py
"""

from __future__ import annotations

import lightgbm
import xgboost

from costboost.costs import per_row
from costboost.datasets import make_fraud
from costboost.gbm import cost_metric, decide, objective
from costboost.metrics import savings_score, total_cost

LOSS = "asymmetric_logistic"


def main() -> None:
    """Train both with and without costs."""
    train, valid, test = (make_fraud(5_000, random_state=seed) for seed in range(3))
    train_costs, valid_costs, test_costs = (
        per_row(fn=data.amount, fp=5) for data in (train, valid, test)
    )
    common = {"learning_rate": 0.05, "num_leaves": 8, "verbosity": -1, "num_threads": 1}
    data = lightgbm.Dataset(train.X, train.y)
    blind = lightgbm.train({"objective": "binary", **common}, data, num_boost_round=100)
    decisions = {"LightGBM, log loss, 0.5": (blind.predict(test.X) > 0.5).astype(int)}

    data = lightgbm.Dataset(train.X, train.y)
    costly = lightgbm.train(
        {"objective": objective(LOSS, train_costs), "metric": "none", **common},
        data,
        num_boost_round=300,
        valid_sets=[lightgbm.Dataset(valid.X, valid.y, reference=data)],
        feval=cost_metric(LOSS, valid_costs, measure="savings"),
        callbacks=[lightgbm.early_stopping(50, verbose=False)],
    )
    decisions["LightGBM, costs in the objective"] = decide(costly.predict(test.X), LOSS)

    booster = xgboost.train(
        {
            "eta": 0.05,
            "max_depth": 3,
            "base_score": 0.0,
            "disable_default_eval_metric": 1,
            "nthread": 1,
        },
        xgboost.DMatrix(train.X, train.y),
        num_boost_round=300,
        obj=objective(LOSS, train_costs, engine="xgboost"),
        custom_metric=cost_metric(LOSS, valid_costs, engine="xgboost", measure="savings"),
        evals=[(xgboost.DMatrix(valid.X, valid.y), "valid")],
        early_stopping_rounds=50,
        verbose_eval=False,
    )
    scores = booster.predict(xgboost.DMatrix(test.X), output_margin=True)
    decisions["XGBoost, costs in the objective"] = decide(scores, LOSS)

    for name, decided in decisions.items():
        cost = total_cost(test.y, decided, costs=test_costs)
        saved = savings_score(test.y, decided, costs=test_costs)
        print(f"{name:<33} costs {cost:>7,.0f}, saves {saved:.0%}")


if __name__ == "__main__":
    main()
