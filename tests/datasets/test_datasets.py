"""Makers are seeded and have the distribution they promise; loaders return what the files say."""

import gzip
import json
import os
import sys
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from costboost import datasets
from costboost.datasets import available, files, load, make_fraud

# --- makers ---------------------------------------------------------------------------------------


def test_fraud_is_seeded_rare_and_costs_follow_the_amount():
    data, again, other = (make_fraud(20_000, random_state=s, review_cost=7) for s in (1, 1, 2))
    np.testing.assert_array_equal(data.X, again.X)
    np.testing.assert_array_equal(data.y, again.y)
    assert not np.array_equal(data.X, other.X)
    assert data.X.shape == (20_000, len(data.feature_names)) and 0.03 < data.y.mean() < 0.05
    np.testing.assert_array_equal(data.X[:, data.feature_names.index("amount")], data.amount)
    np.testing.assert_array_equal(data.costs[:, 1, 0], data.amount)
    assert (data.costs[:, :, 1] == 7).all() and (data.costs[:, 0, 0] == 0).all()
    # some frauds are too small to be reviewed, and most are not
    assert 0.01 < (data.amount[data.y == 1] < 7).mean() < 0.4


@pytest.mark.parametrize(("C1", "C2"), [(1, 1), (20, 1), (2, 3)])
def test_bayes_rules_are_the_cheapest(C1, C2):
    def cost(decided, y):
        return float(C1 * (~decided & (y == 1)).sum() + C2 * (decided & (y < 0)).sum())

    X, y = datasets.make_gaussians_1d(100_000, random_state=0)
    best = datasets.bayes_threshold(C1, C2)
    assert 1 / (1 + np.exp(-2 * best)) * C1 == pytest.approx(1 / (1 + np.exp(2 * best)) * C2)
    costs = [cost(X[:, 0] >= best + by, y) for by in (0, -0.3, 0.3)]
    assert costs[0] < min(costs[1:])
    X, y = datasets.make_gaussians_2d(50_000, random_state=3)
    costs = [cost(datasets.bayes_decision(X, C1 * by, C2) > 0, y) for by in (1, 0.5, 2)]
    assert costs[0] < min(costs[1:])


def test_gaussians_2d_and_their_log_odds():
    classes = {1: ([-1, 1], [[5.2, 2], [2, 3.7]]), -1: ([1, -1], [[3.3, 1.5], [1.5, 4.6]])}
    X, y = datasets.make_gaussians_2d(50_000, random_state=0)
    densities = {}
    for label, (mean, covariance) in classes.items():
        np.testing.assert_allclose(X[y == label].mean(axis=0), mean, atol=0.05)
        np.testing.assert_allclose(np.cov(X[y == label].T), covariance, atol=0.1)
        d = X[:50] - mean
        distance = np.einsum("ni,ij,nj->n", d, np.linalg.inv(covariance), d)
        densities[label] = -0.5 * (np.log(np.linalg.det(covariance)) + distance)
    expected = densities[1] - densities[-1]
    np.testing.assert_allclose(datasets.log_odds(X[:50]), expected, rtol=1e-9)
    np.testing.assert_allclose(datasets.log_odds(X[:1]), expected[:1], rtol=1e-9)


# --- files ------------------------------------------------------------------------------------

TOY = """size,colour,aux_leak,cost_fp,cost_fn,cost_tp,cost_tn,split,target
1.5,red,9,1,10,0.5,0,train,bad
,NA,9,2,20,0.5,0,train,good
3,,9,3,30,0.5,0,test,bad
"""


@pytest.fixture
def toy(tmp_path):
    """Three rows whose positive class sorts first, with a missing number and a missing category."""
    about = {
        "what": "Toy", "note": "Small.", "licence": "none", "positive": "bad (rare, 2)",
        "has_costs": True, "split": {"train": 2, "test": 1},
        "numeric": ["size"], "categorical": ["colour"], "aux_columns": ["aux_leak"],
    }  # fmt: skip
    (tmp_path / "metadata.json").write_text(json.dumps({"toy": about, "absent": about}))
    with gzip.open(tmp_path / "toy.csv.gz", "wt") as file:
        file.write(TOY)
    return tmp_path


def test_load_toy(toy, monkeypatch):
    monkeypatch.setenv("COSTBOOST_DATA", str(toy))
    assert available() == available(toy) == ["toy"]
    data = load("toy")
    assert list(data.X.columns) == ["size", "colour"]
    np.testing.assert_array_equal(data.X["size"], [1.5, np.nan, 3])
    assert data.X["colour"].dtype == "category"
    assert data.X["colour"].tolist()[:2] == ["red", "NA"]
    assert data.X["colour"].isna().tolist() == [False, False, True]
    assert (data.classes.tolist(), data.positive) == (["bad", "good"], "bad")
    assert data.split is not None and data.split.tolist() == ["train", "train", "test"]
    assert (data.description, data.cost_matrix) == ("Toy. Small.", None)
    # rows = truth (bad, good), columns = decision (bad, good); bad is the positive class
    assert data.costs is not None
    np.testing.assert_array_equal(data.costs[1], [[0.5, 20], [2, 0]])
    with pytest.raises(ValueError, match=r"no set 'tyo'\. Use one of: toy"):
        load("tyo", toy)
    path = toy / "toy.csv.gz"
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(ValueError, match=r"toy.csv.gz is damaged: .* Copy it again\."):
        load("toy", toy)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "costboost\[data\]"'):
        load("toy", toy)
    monkeypatch.setenv("COSTBOOST_DATA", str(toy / "nowhere"))
    with pytest.raises(FileNotFoundError, match=r"COSTBOOST_DATA of .* has no metadata\.json"):
        available()


SOME = ["adult", "bankmarketing", "cleveland", "ecoli", "letter", "splice", "telco", "wdbc"]


@pytest.mark.parametrize("name", available() if os.environ.get("COSTBOOST_TRUST") else SOME)
def test_file_agrees_with_its_description(name, data_dir):
    about = json.loads((data_dir / "metadata.json").read_text())[name]
    data = load(name, data_dir)
    assert data.X.shape == (about["rows"], about["n_features"])
    assert sorted(data.X.select_dtypes("float64")) == sorted(about["numeric"])
    assert sorted(data.X.select_dtypes("category")) == sorted(about["categorical"])
    assert int(data.X.isna().to_numpy().sum()) == about["missing_cells"]
    assert Counter(map(str, data.y.tolist())) == about["class_counts"]
    assert data.classes.tolist() == sorted(set(data.y.tolist()))
    assert Counter([] if data.split is None else data.split.tolist()) == (about["split"] or {})
    assert (data.positive in data.classes.tolist()) == (len(data.classes) == 2)
    assert (data.costs is not None) == about["has_costs"]
    if data.costs is not None:
        assert data.costs.shape == (len(data.y), 2, 2) and np.isfinite(data.costs).all()


def test_kddcup_matrix(data_dir):
    data = load("kddcup99", data_dir)
    assert data.X.shape == (805_050, 41)
    assert data.cost_matrix is not None and (np.diag(data.cost_matrix) == 0).all()
    index = {label: i for i, label in enumerate(data.classes.tolist())}
    for truth, decision, cost in (("r2l", "normal", 4), ("normal", "dos", 2), ("dos", "probe", 1)):
        assert data.cost_matrix[index[truth], index[decision]] == cost


def test_openml_serves_machines_without_the_files(monkeypatch, tmp_path):
    def fetch_openml(*, data_id, as_frame, n_retries):
        if data_id != 37:
            raise OSError("no network")
        target = pd.Series(["tested_negative", "tested_positive"])
        return sklearn.utils.Bunch(data=pd.DataFrame({"a": [1.0, 2.0]}), target=target)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
    monkeypatch.delenv(files.ENVIRONMENT_VARIABLE, raising=False)
    monkeypatch.setattr(files, "__file__", str(tmp_path / "a" / "b" / "c" / "d" / "files.py"))
    monkeypatch.chdir(tmp_path)
    pima = load("pima")
    assert (pima.positive, pima.costs) == ("tested_positive", None)
    for name, said in {
        "adult": r"download from OpenML failed: no network.*data_dir",
        "bankmarketing": r"data_dir of .* environment variable COSTBOOST_DATA.*OpenML: adult",
    }.items():
        with pytest.raises(FileNotFoundError, match=said):
            load(name)
