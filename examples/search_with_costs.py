"""A pipeline, a grid search, and costs that travel with the rows.

python examples/search_with_costs.py
"""

from __future__ import annotations

import sklearn
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline

from costboost import CostBoostClassifier
from costboost.costs import per_row
from costboost.datasets import make_fraud
from costboost.metrics import avoidable_cost_score

GRID = {
    "costboostclassifier__max_leaves": [4, 15],
    "costboostclassifier__learning_rate": [0.05, 0.2],
}


def main() -> None:
    """Search, then decide new rows by their own costs."""
    data, new = make_fraud(2_500, random_state=0), make_fraud(5_000, random_state=1)
    costs, costs_new = per_row(fn=data.amount, fp=5), per_row(fn=new.amount, fp=5)
    with sklearn.config_context(enable_metadata_routing=True):
        model = CostBoostClassifier(n_estimators=60, cv=2, n_jobs=1, random_state=0)
        model.set_fit_request(costs=True).set_score_request(costs=True)
        model.set_predict_request(costs=True)
        folds = StratifiedKFold(3, shuffle=True, random_state=0)
        search = GridSearchCV(make_pipeline(SimpleImputer(), model), GRID, cv=folds)
        search.fit(data.X, data.y, costs=costs)
        for settings, score in zip(
            search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
        ):
            told = {name.partition("__")[2]: value for name, value in settings.items()}
            print(f"score {score:.3f} with {told}")
        # GridSearchCV.predict passes no costs on; the best pipeline does.
        decided = search.best_estimator_.predict(new.X, costs=costs_new)
    print(f"on new rows: score {avoidable_cost_score(new.y, decided, costs=costs_new):.3f}")


if __name__ == "__main__":
    main()
