"""Parameters under the names of other libraries: a hint, or the parameter that was meant."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from costboost import CostBoostClassifier, MinCostClassifier
from costboost.gbm.parameters import canonical
from data import rows

ROWS, LABELS = rows()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("num_leaves", "Here it is called 'max_leaves'."),
        ("early_stopping_rounds", "Here it is called 'n_iter_no_change'."),
        ("max_depth", "pass engine_params={'max_depth': ...}."),
        ("class_weight", "Say what errors cost: cost_matrix={'fn': ..., 'fp': ...}."),
        ("max_leafs", "Did you mean 'max_leaves'?"),
        ("zzz", "The parameters are ['c"),
    ],
)
def test_an_unknown_parameter_gets_a_hint(given, said):
    with pytest.raises(TypeError) as raised:
        CostBoostClassifier(**{given: 3})
    assert str(raised.value).startswith(f"CostBoostClassifier has no parameter {given!r}. ")
    assert said in str(raised.value)


def test_the_signature_stays():
    names = list(inspect.signature(CostBoostClassifier).parameters)
    assert names[0] == "cost_matrix"
    assert set(names) == set(CostBoostClassifier().get_params())
    kinds = {p.kind for p in inspect.signature(CostBoostClassifier.__init__).parameters.values()}
    assert not kinds & {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
    with pytest.raises(TypeError, match="positional"):
        CostBoostClassifier(None, "auto")
    assert clone(CostBoostClassifier({"fn": 1, "fp": 2}, max_leaves=3)).max_leaves == 3


@pytest.mark.parametrize(
    ("alias", "name", "value"),
    [
        ("max_leaves", "num_leaves", 2),
        ("min_child_samples", "min_data_in_leaf", 100),
    ],
)
def test_an_alias_wins_as_the_name_does(alias, name, value):
    def proba(parameters):
        options = {"n_estimators": 10, "effort": "fast", "early_stopping": False, "random_state": 0}
        model = CostBoostClassifier(n_jobs=1, engine_params=parameters, **options)
        return model.fit(ROWS, LABELS).predict_proba(ROWS)

    assert canonical({alias: value}, "lightgbm") == {name: value}
    np.testing.assert_array_equal(proba({alias: value}), proba({name: value}))
    assert np.abs(proba({alias: value}) - proba(None)).max() > 1e-3


def test_attributes_of_both():
    for model in (
        CostBoostClassifier(n_estimators=5, cv=2, random_state=0, n_jobs=1),
        MinCostClassifier(n_jobs=1),
        MinCostClassifier(calibration="sigmoid", cv=2),
    ):
        with pytest.raises(AttributeError):
            _ = model.n_classes_
        model.fit(ROWS, LABELS)
        assert model.n_classes_ == 2
        assert model.feature_importances_.shape == (4,)
        assert model.feature_importances_.argmax() == 0
        logs = np.log(model.predict_proba(ROWS))
        np.testing.assert_array_equal(model.predict_log_proba(ROWS), logs)
    linear = MinCostClassifier(LogisticRegression()).fit(ROWS, LABELS)
    with pytest.raises(AttributeError, match="LogisticRegression does not"):
        _ = linear.feature_importances_
