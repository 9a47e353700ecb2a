"""Search settings with Optuna, by cost.

Optuna proposes settings, and each is judged by its cost on validation rows. The best settings and
the defaults are then measured once on rows that the search has never seen. `costboost tune` does
the same from the command line.
"""

import optuna

from costboost import CostBoostClassifier
from costboost.datasets import make_fraud
from costboost.metrics import total_cost

PRICES = {"fn": 120, "fp": 5}
train, valid, test = (make_fraud(3000, random_state=seed) for seed in range(3))


def fitted(**settings):
    model = CostBoostClassifier(PRICES, ensemble=1, n_jobs=1, random_state=0, **settings)
    return model.fit(train.X, train.y)


def cost(model, rows):
    return total_cost(rows.y, model.predict(rows.X), cost_matrix=PRICES)


def objective(trial):
    settings = {
        "max_leaves": trial.suggest_int("max_leaves", 4, 31, log=True),
        "min_samples_leaf": trial.suggest_int("min_samples_leaf", 5, 60, log=True),
    }
    return cost(fitted(**settings, n_estimators=150), valid)


optuna.logging.set_verbosity(optuna.logging.WARNING)
study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
study.optimize(objective, n_trials=8)

print(f"best of {len(study.trials)} trials: {study.best_params}")
print(f"cost on the rows of the search: {study.best_value:,.0f}")
for name, settings in {"found": study.best_params, "default": {}}.items():
    paid = cost(fitted(**settings, n_estimators=150), test)
    print(f"cost on new rows, {name} settings: {paid:,.0f}")
