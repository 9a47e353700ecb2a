"""A sample of `python -m trust.properties`: laws on all public classes, objectives, metrics."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import costboost
from costboost import metrics
from laws import LAWS
from trust import properties
from trust.subjects import EXCEPTIONS, classifiers, is_excepted, subjects

SUBJECTS = {subject.name: subject for subject in subjects()}


# Laws of a class with other options than its own; `python -m trust.properties` checks them all.
OF_OPTIONS = ("answers_soundly", "ignores_unit_of_costs")


@pytest.mark.parametrize("name", SUBJECTS)
def test_laws_hold(name: str) -> None:
    for law in SUBJECTS[name].laws:
        if "=" not in name or law in OF_OPTIONS:
            properties.sample(SUBJECTS[name], law)


def test_every_public_metric_is_a_subject() -> None:
    checked = {name.split(".")[1] for name in SUBJECTS if name.startswith("metrics.")}
    others = {"Verdict", "make_cost_scorer"}
    functions = set(metrics.__all__) - others
    assert checked == functions | {"cost_scorer"}


def test_every_public_classifier_is_a_subject() -> None:
    public = {name for name in costboost.__all__ if name.endswith("Classifier")}
    assert public == {name.split("(")[0] for name in classifiers()}


def test_exceptions_name_classes_and_laws_that_exist() -> None:
    for start, law in EXCEPTIONS:
        assert any(name.startswith(start) for name in classifiers()), start
        assert law in LAWS
    for law in ("answers_or_refuses", "answers_soundly", "repeats", "leaves_input_alone"):
        assert not any(is_excepted(name, law) for name in classifiers())


def test_importing_the_library_does_not_import_hypothesis() -> None:
    heavy = {"hypothesis", "numba", "xgboost"}
    code = f"import sys, costboost, costboost.gbm; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_stopped_run_goes_on(tmp_path, monkeypatch, capsys) -> None:
    folder = tmp_path / "trust"
    monkeypatch.setattr(properties, "FOLDER", folder)
    monkeypatch.setattr("trust.part.FOLDER", folder)
    monkeypatch.setattr(properties, "compare_processes", lambda seed: ([], 1))
    head = {"inputs": 8, "seed": 1, "only": "metrics.mean"}
    row = {"subject": "metrics.mean_cost", "law": "measures_or_refuses", "answered": 900}
    row |= {"refused": 90, "broken": "", "seconds": 1.0}
    folder.mkdir()
    lines = [json.dumps(head), json.dumps(row), '{"subject": "metrics.me']
    (folder / "properties.jsonl").write_text("\n".join(lines))
    assert properties.main(["8", "--seed", "1", "--only", "metrics.mean", "--jobs", "1"]) == 0
    result = json.loads((folder / "properties.json").read_text())
    assert result["counts"]["inputs"] == 990 + 3 * 2
    assert result["violations"] == []
    assert not (folder / "properties.jsonl").exists()
