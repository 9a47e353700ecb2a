"""skops and SHAP: the answers are the classifier's."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from costboost import CostBoostClassifier
from files.models import answers, fitted, rows, same


def needs(package):
    return pytest.mark.skipif(find_spec(package) is None, reason=f"needs {package}")


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
    # Costs by pairs of labels, too, which are no keys of JSON.
    assert copy.cost_matrix == model.cost_matrix


# -- SHAP -----------------------------------------------------------------------------------------


@needs("shap")
@pytest.mark.filterwarnings("ignore")  # SHAP's own
@pytest.mark.parametrize("cv", ["auto", 3])
def test_shap_values(cv):
    """Those of one booster, and the documented mean of several."""
    import shap

    settings = {"cv": cv, "effort": "fast", "random_state": 0}
    X, y = rows()
    model = CostBoostClassifier(n_estimators=10, **settings).fit(X, y)
    boosters = [model.booster_] if cv == "auto" else model.boosters_
    values = [model.temperature_ * shap.TreeExplainer(one).shap_values(X) for one in boosters]
    values = [value[..., -1] if value.ndim == 3 else value for value in values]
    own = model.contributions(X)[:, :-1]
    np.testing.assert_allclose(np.mean(values, axis=0), own, rtol=1e-4, atol=1e-6)
