"""MLflow, skops, joblib and SHAP: the examples run, and the answers are the classifier's."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

from costboost import CostBoostClassifier
from costboost.files.mlflow_model import _load_pyfunc, signature_of
from files.models import CHOICES, answers, fitted, make, rows, same


def needs(package):
    return pytest.mark.skipif(find_spec(package) is None, reason=f"needs {package}")


# -- MLflow ---------------------------------------------------------------------------------------


def test_the_loader_reads_a_model_file(tmp_path):
    model, X = fitted("lightgbm, decisions")
    served = _load_pyfunc(str(model.save(tmp_path / "m.costboost")))
    matrix = np.array([[0.0, 1.0, 2.0], [9.0, 3.0, 1.0]])
    costs = {"costs": matrix.ravel().tolist()}
    # Raw rows in any order, with columns that the model does not know.
    raw = X[X.columns[::-1]].assign(payment_id=range(len(X)))
    for given, params, right in (
        (X, None, model.predict(X)),
        (raw, {"costs": []}, model.predict(X)),
        (X, {"output": "probabilities"}, model.predict_proba(X)),
        (X, {"output": "expected_costs", **costs}, model.predict_cost(X, costs=matrix)),
        (X, {"output": "decision", **costs}, model.predict(X, costs=matrix)),
    ):
        assert np.array_equal(served.predict(given, params), right)
    with pytest.raises(ValueError, match="2 x 3 numbers"):
        served.predict(X, {"costs": [1.0, 2.0]})
    with pytest.raises(ValueError, match="must be one of"):
        served.predict(X, {"output": "odds"})


@needs("mlflow")
def test_the_signature():
    model, _ = fitted("xgboost, columns for costs")
    found = signature_of(model).to_dict()
    assert '"name": "charge"' in found["inputs"]  # named by the costs alone
    assert '"type": "string", "name": "country"' in found["inputs"]
    assert '"string"' in found["outputs"] and '"costs"' in found["params"]
    with pytest.raises(ValueError, match="Fit it on a frame"):
        signature_of(fitted("AdaC2Classifier")[0])


def served_by_mlflow(model, folder, X=None):
    import mlflow

    mlflow.pyfunc.save_model(
        folder / "model", loader_module="costboost.files.mlflow_model",
        data_path=model.save(folder / "m.costboost"), signature=signature_of(model, X),
        pip_requirements=["costboost"],
    )  # fmt: skip
    assert not list((folder / "model").rglob("*.pkl"))
    return mlflow.pyfunc.load_model(str(folder / "model"))


@needs("mlflow")
@pytest.mark.filterwarnings("ignore")  # MLflow's own
def test_mlflow_serves_what_the_model_says(tmp_path):
    model, X = fitted("lightgbm, decisions")
    assert set(model.decisions_) == {decision for _, decision in CHOICES}
    served = served_by_mlflow(model, tmp_path)
    known = X.astype({"country": object})[X["note"].notna()]  # it refuses missing text
    assert np.array_equal(served.predict(known), model.predict(known))
    with pytest.raises(Exception, match="missing"):
        served.predict(known.drop(columns="charge"))
    # Integers and booleans stay what they are: MLflow refuses to make doubles of them.
    values, y = rows()
    X = pd.DataFrame(values).add_prefix("x")
    X = X.assign(age=np.arange(len(y)) % 70, vip=np.arange(len(y)) % 2 == 0, country="de")
    model, folder = make("CostBoostClassifier").fit(X, y), tmp_path / "typed"
    folder.mkdir()
    assert np.array_equal(served_by_mlflow(model, folder, X).predict(X), model.predict(X))


# -- skops, as others call it ---------------------------------------------------------------------

OTHERS = [
    "lightgbm, expressions", "lightgbm, decisions", "AdaC2Classifier", "MinCostClassifier",
    "MinCostClassifier, decisions",
]  # fmt: skip


@needs("skops")
@pytest.mark.parametrize("case", OTHERS)
def test_skops_writes_and_reads_classifiers(case):
    import skops.io as skops

    model, X = fitted(case)
    data = skops.dumps(model)
    copy = skops.loads(data, trusted=skops.get_untrusted_types(data=data))
    assert same(answers(copy, X), answers(model, X))
    # Costs by pairs of labels, too, which are no keys of JSON; and they are those of the fit.
    assert copy.cost_matrix == model.cost_matrix and copy.cost_matrix is copy._fitted_costs


@needs("mlflow")
@needs("skops")
@pytest.mark.filterwarnings("ignore")  # MLflow's own
@pytest.mark.parametrize("case", OTHERS[:2])
def test_mlflow_saves_it_like_any_classifier_of_scikit_learn(case, tmp_path):
    import mlflow
    import skops.io as skops

    model, X = fitted(case)
    types = skops.get_untrusted_types(data=skops.dumps(model))
    mlflow.sklearn.save_model(
        model, tmp_path / "model", serialization_format="skops", skops_trusted_types=types,
        pip_requirements=["costboost"],
    )  # fmt: skip
    copy = mlflow.sklearn.load_model(str(tmp_path / "model"))
    assert np.array_equal(copy.predict(X), model.predict(X))


# -- SHAP -----------------------------------------------------------------------------------------


@needs("shap")
@pytest.mark.filterwarnings("ignore")  # SHAP's own
@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("ensemble", [1, 3])
def test_shap_values(engine, ensemble):
    """Those of one booster, and the documented mean of several."""
    import shap

    settings = {"engine": engine, "ensemble": ensemble, "effort": "fast", "random_state": 0}
    X, y = rows()
    model = CostBoostClassifier(n_estimators=10, **settings).fit(X, y)
    boosters = [model.booster_] if ensemble == 1 else model.boosters_
    values = [model.temperature_ * shap.TreeExplainer(one).shap_values(X) for one in boosters]
    values = [value[..., -1] if value.ndim == 3 else value for value in values]
    own = model.contributions(X)[:, :-1]
    np.testing.assert_allclose(np.mean(values, axis=0), own, rtol=1e-4, atol=1e-6)
