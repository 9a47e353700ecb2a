"""A file says what is inside, without an engine and without believing what is broken."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import SGDClassifier

from cli.conftest import run
from costboost._utils import fingerprint
from costboost.files import FORMAT, inspect, save
from files.models import PRICES, fitted, make, rows
from files.mutations import forged


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.costboost"


def test_what_a_file_says(path):
    model, _ = fitted("lightgbm, categories")
    found = inspect(save(model, path))
    assert found["class"] == "CostBoostClassifier" and found["format"] == FORMAT
    assert found["classes"] == ["no", "yes"] and found["decisions"] == ["no", "yes"]
    names = ["amount", "größe 1", "country", "note", "id", "charge"]
    assert found["features"]["names"] == [row[0] for row in found["features"]["columns"]] == names
    kinds = ["number", "number", "category", "category", "category", "number"]
    assert [row[1] for row in found["features"]["columns"]] == kinds
    assert found["features"]["categories"]["country"] == ["at", "ch", "de", "fr"]
    assert found["estimates"]["estimated_cost_"] == model.estimated_cost_
    assert found["calibration"]["temperature"] == model.temperature_
    smooth = ("linear", "network")
    engines = [m.engine for m in model.heads_["probability"].models if m.engine not in smooth]
    assert [booster["engine"] for booster in found["boosters"]] == engines
    used = [m for m in model.members_ if m.weight > 0 and m.name not in smooth]
    assert len(engines) == 2 * len(used)  # two folds
    assert found["boosters"][0]["trees"] == model.boosters_[0].num_trees()
    assert found["parameters"]["n_estimators"] == 4
    four, _ = fitted("CostBoostClassifier, 4 classes")
    assert inspect(save(four, path))["cost_matrix"] == four.cost_matrix_.tolist()


def test_costs_in_words_and_types_to_trust(path):
    model, _ = fitted("lightgbm, columns for costs")
    found = inspect(save(model, path))
    assert found["costs"] == str(model.costs_)
    assert found["features"]["cost_columns"] == ["charge"]
    assert found["parameters"]["cost_matrix"] == PRICES
    model = make("MinCostClassifier", estimator=SGDClassifier(loss="log_loss", random_state=0))
    save(model.fit(*rows()), path)
    assert any("SGDClassifier" in name for name in inspect(path)["untrusted"])


def test_no_engine_is_loaded(path):
    """XGBoost is not even imported (LightGBM is, by the library itself)."""
    model, _ = fitted("xgboost, categories")
    save(model, path)
    code = (
        "import sys; from costboost.files import inspect; "
        f"assert inspect({str(path)!r})['boosters']; assert 'xgboost' not in sys.modules; "
        "assert 'skops' not in sys.modules and 'onnx' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_text_of_the_file_cannot_draw_and_long_lists_are_cut(path):
    """Neither markup nor control characters of labels reach the terminal."""
    X, codes = rows()
    labels = [("[red]a[/red]", "b\x1b[31m")[code] for code in codes]
    save(make("AdaC2Classifier").fit(X, labels), path)
    text = run("inspect", path).stdout
    assert "[red]a" in text and "\x1b" not in text
    long = b'{"class": "x", "names": [%s1], "in": %s1%s}'
    path.write_bytes(forged(long % (b"1, " * 50_000, b"[" * 500, b"]" * 500)))
    assert len(run("inspect", path).stdout) < 50_000


def test_date_and_rows_of_the_training(path):
    X, y = rows()
    model = make("AdaC2Classifier").fit(X, y)
    before = datetime.now(UTC)
    assert before - timedelta(minutes=1) < datetime.fromisoformat(model.trained_at_) <= before
    found = inspect(model.save(path))
    assert found["trained"] == model.trained_at_
    assert found["data"] == model.data_fingerprint_ == fingerprint(X, y)
    for name in ("CostBoostClassifier", "MinCostClassifier", "CSB2M2Classifier"):
        assert fitted(name)[0].data_fingerprint_ == fingerprint(X, y)


def test_fingerprints_tell_tables_apart():
    X, y = rows()
    changed, frame = X.copy(), pd.DataFrame(X, columns=list("abcd"))
    changed[100, 2] = np.nextafter(changed[100, 2], 1)
    tables = [X, changed, X[::-1], X.astype(np.float32), csr_array(X), frame]
    tables += [frame.rename(columns={"a": "e"}), frame.assign(a="x")]
    tables.append(pl.DataFrame(frame).with_columns(pl.lit("y").alias("a")))
    found = {*(fingerprint(table, y) for table in tables), fingerprint(X, 1 - y)}
    assert len(found) == len(tables) + 1
    assert fingerprint(np.asfortranarray(X), y) == fingerprint(X, y)
    assert fingerprint(pl.DataFrame(frame), y) == fingerprint(frame, y)
