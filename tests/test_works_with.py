"""The page "Works with" says what is found by running every tool."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

import costboost
from costboost import MinCostClassifier
from costboost.costs import per_row
from helpers.costs import costs_of_rows
from helpers.works_with import COLUMNS, TOOLS, cell

PAGE = Path(__file__).parents[1] / "docs" / "works_with.md"


@pytest.mark.parametrize("tool", TOOLS)
def test_every_cell_of_the_page_is_true(tool):
    pytest.importorskip("skops")
    pytest.importorskip("onnxruntime")
    cells = [cell(tool, column) for column in COLUMNS]
    line = f"| {tool} | {' | '.join(cells)} |"
    assert line in PAGE.read_text("utf-8").splitlines()


def test_the_page_names_every_tool():
    lines = PAGE.read_text("utf-8").splitlines()
    assert sum(line.startswith("| `") or line.startswith("| ONNX") for line in lines) == len(TOOLS)


def test_costs_by_label_mean_the_same_behind_an_encoder():
    """A vote of one decides as the classifier itself, whatever form names the labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.array(["b", "c", "a"])[np.digitize(X[:, 0] + 0.5 * rng.normal(size=300), [-0.5, 0.8])]
    pairs = {(t, d): 1.0 + 9 * (t == "c") + (d == "a") for t in "abc" for d in "abc" if t != d}
    rows = per_row({**pairs, ("c", "a"): rng.uniform(1, 30, 300)}, classes="abc")
    named = {**pairs, "classes": list("cab")}
    with sklearn.config_context(enable_metadata_routing=True):
        for costs, given in ((named, {}), (None, {"costs": rows})):
            model = MinCostClassifier(LogisticRegression(), costs).set_fit_request(costs=True)
            voting = VotingClassifier([("only", model)]).fit(X, y, **given)
            alone = clone(model).fit(X, y, **given)
            np.testing.assert_array_equal(voting.estimators_[0].cost_matrix_, alone.cost_matrix_)
            np.testing.assert_array_equal(voting.predict(X), alone.predict(X))
    for form in (pairs, {"fn": 5, "fp": 1, "positive": "a"}):
        with pytest.raises(ValueError, match=r"encoded the labels, add 'classes', all labels"):
            costs_of_rows(form, classes=[0, 1] if "fn" in form else [0, 1, 2])
    # One class against the rest has the codes 0 and 1, which are no labels of three.
    with pytest.raises(ValueError, match="add 'classes'"):
        OneVsRestClassifier(MinCostClassifier(LogisticRegression(), named)).fit(X, y)
    actions = {(t, d): 1.0 for t in "abc" for d in ("go", "stop")} | {"classes": list("abc")}
    found = costs_of_rows(actions, classes=[0, 1, 2])
    assert found.decisions.tolist() == ["go", "stop"] and found.classes.tolist() == [0, 1, 2]


def test_a_model_with_requests_is_saved_without_them(tmp_path):
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    with sklearn.config_context(enable_metadata_routing=True):
        model = MinCostClassifier(n_jobs=1).set_fit_request(costs=True).fit(X, y)
        loaded = costboost.load(model.save(tmp_path / "model.costboost"))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
