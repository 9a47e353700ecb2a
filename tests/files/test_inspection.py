"""A file says what is inside, without an engine and without believing what is broken."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest
from rich.console import Console
from sklearn.linear_model import SGDClassifier

from costboost.errors import ModelFileError
from costboost.files import FORMAT, inspect, save, show
from files.models import fitted, make, rows


def printed(path):
    text = io.StringIO()
    show(path, Console(file=text, width=120))
    return text.getvalue()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.costboost"


def test_what_a_file_says(path):
    model, _ = fitted("LightGBM, categories")
    found = inspect(save(model, path))
    assert found["class"] == "CostBoostClassifier" and found["format"] == FORMAT
    assert found["classes"] == ["no", "yes"] and found["decisions"] == ["no", "yes"]
    assert found["features"]["names"] == ["amount", "größe 1", "country", "note"]
    assert found["features"]["categories"]["2"] == ["at", "ch", "de", "fr"]
    assert found["estimates"]["estimated_cost_"] == model.estimated_cost_
    assert found["calibration"]["temperature"] == model.temperature_
    assert [booster["engine"] for booster in found["boosters"]] == ["lightgbm"] * 2
    assert found["boosters"][0]["trees"] == model.boosters_[0].num_trees()
    assert found["parameters"]["n_estimators"] == 4
    text = printed(path)
    assert "CostBoostClassifier" in text and "at, ch, de, fr" in text and "boosters/" in text


def test_types_to_trust_are_shown(path):
    model = make("MinCostClassifier", estimator=SGDClassifier(loss="log_loss", random_state=0))
    save(model.fit(*rows()), path)
    assert any("SGDClassifier" in name for name in inspect(path)["untrusted"])
    assert "must trust" in printed(path)


def test_no_engine_is_loaded(path):
    """XGBoost is not even imported (LightGBM is, by the library itself)."""
    model, _ = fitted("XGBoost, categories")
    save(model, path)
    code = (
        "import sys; from costboost.files import inspect; "
        f"assert inspect({str(path)!r})['boosters']; assert 'xgboost' not in sys.modules; "
        "assert 'skops' not in sys.modules and 'onnx' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_a_broken_file_is_not_described(path):
    model, _ = fitted("AdaC2Classifier")
    data = bytearray(save(model, path).read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(ModelFileError, match=r"model\.costboost"):
        inspect(path)


def test_text_of_the_file_cannot_draw(path):
    """Neither markup nor control characters of labels reach the terminal."""
    model = make("AdaC2Classifier")
    X, codes = rows()
    labels = [("[red]a[/red]", "b\x1b[31m")[code] for code in codes]
    save(model.fit(X, labels), path)
    text = printed(path)
    assert "[red]a" in text and "\x1b" not in text
