"""Loaders of the benchmark files return what the files say."""

import gzip
import json
import os
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from costboost_papers import datasets
from costboost_papers.datasets import available, load

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
    monkeypatch.delenv(datasets.ENVIRONMENT_VARIABLE, raising=False)
    monkeypatch.setattr(datasets, "__file__", str(tmp_path / "a" / "b" / "c" / "d" / "datasets.py"))
    monkeypatch.chdir(tmp_path)
    pima = load("pima")
    assert (pima.positive, pima.costs) == ("tested_positive", None)
    for name, said in {
        "adult": r"download from OpenML failed: no network.*data_dir",
        "bankmarketing": r"data_dir of .* environment variable COSTBOOST_DATA.*OpenML: adult",
    }.items():
        with pytest.raises(FileNotFoundError, match=said):
            load(name)
