"""A sample of each part of `make trust`, and its bookkeeping."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from trust import __main__ as trust
from trust import lower_bounds, part

# Models of small tables may collapse.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

ROOT = Path(__file__).parents[2]


def test_threads_and_forks():
    from trust.load import in_threads

    violations = []
    assert in_threads(("AdaC2Classifier", "CostBoostClassifier"), violations, times=1) == 48
    assert violations == []


@pytest.mark.trust
def test_growth_is_seen(monkeypatch):
    """The check can fail: a fit that keeps what it made."""
    from trust import load

    kept, fresh = [], load.fresh

    def leaks(*arguments):
        kept.append(bytearray(b"x") * 2**25)  # more than a process may have left over
        return fresh(*arguments)

    monkeypatch.setattr(load, "fresh", leaks)
    violations = []
    load.growth(12, 0, ("AdaC2Classifier",), violations)
    assert len(violations) == 1 and "12 fits grew" in violations[0]


def test_intervals_that_do_not_cover_are_violations():
    import pandas as pd

    from trust.verdicts import violations_of

    names = {"effort": "fast", "n_rows": 300, "table": "noise", "seed": 1, "low": 0.0, "high": 0.2}
    rows = pd.DataFrame([{**names, "truth": truth} for truth in [0.1] * 95 + [0.3] * 5])
    assert violations_of(rows) == []
    rows.loc[:15, "truth"] = 0.3
    assert violations_of(rows) == ["79 of 100 intervals cover; at least 84"]
    rows.loc[99, "high"] = 0.0
    assert len(violations_of(rows)) == 2


def test_expressions_run_no_code():
    from trust.security import expressions

    violations = []
    outcomes = expressions(300, 3, violations)
    assert violations == []
    assert outcomes["refused"] > 50 and outcomes["computed"] > 5


def test_an_expression_that_ran_code_would_be_seen(monkeypatch):
    from trust import security

    class Unsafe:
        def __init__(self, text):
            self.text = text

        def __call__(self, frame):
            return eval("1.0")

    monkeypatch.setattr(security, "Expression", Unsafe)
    violations = []
    security.expressions(3, 3, violations)
    assert len(violations) == 3 and "compile" in violations[0]


# -- bookkeeping -----------------------------------------------------------------------------------


def test_a_part_is_done_once_for_the_same_source_and_sizes(tmp_path, monkeypatch):
    monkeypatch.setattr(part, "FOLDER", tmp_path)
    monkeypatch.setattr(trust, "FOLDER", tmp_path)
    path = part.report("security", 17, {"expressions": 3}, [], 1.0, source="s", arguments=["3"])
    assert trust.is_done("security", ["3"], "s")
    assert not trust.is_done("security", ["4"], "s")
    assert not trust.is_done("security", ["3"], "t")
    report = json.loads(path.read_text())
    path.write_text(json.dumps({**report, "violations": ["one"]}))
    assert not trust.is_done("security", ["3"], "s")
    assert not trust.is_done("load", [], "s")


def test_counts_of_a_part_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(trust, "KEPT", tmp_path / "trust.json")
    trust.KEPT.write_text("{}")
    report = {"seed": 5, "counts": {"fits": 1000}, "violations": ["grew"]}
    trust.keep("load", {**report, "arguments": ["60"], "processor_seconds": 7, "source": "s"})
    kept = json.loads(trust.KEPT.read_text())["load"]
    assert kept["violations"] == 1 and kept["counts"] == {"fits": 1000}


def test_every_extra_of_users_has_tested_lower_bounds():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(lower_bounds.EXTRAS) == set(project["optional-dependencies"]) - {"all"}
    lines = lower_bounds.constraints()
    assert "numpy==2.0" in lines and len(lines) == len(
        lower_bounds.bounds() | lower_bounds.COMPANIONS
    )


def test_the_licence_of_every_dependency_is_listed():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    lines = sum((extras[name] for name in lower_bounds.EXTRAS), project["dependencies"])
    names = {re.match(r"[\w-]+", line)[0].lower() for line in lines} - {"costboost"}
    listed = (ROOT / "docs" / "licences.md").read_text("utf-8").lower().replace("_", "-")
    missing = [name for name in names if not re.search(rf"^\| {name} +\|", listed, re.M)]
    assert not missing, f"run make sbom: {missing}"


FORKED = """
import os, signal, sys, warnings
warnings.simplefilter("ignore")
from costboost import CostBoostClassifier
from costboost._threads import n_threads
from costboost.datasets import make_fraud
data = make_fraud(12_000, random_state=0)
model = CostBoostClassifier({"fn": 50, "fp": 1}, n_estimators=2, effort="fast", n_jobs=2,
                            random_state=0)
right = model.fit(data.X, data.y).predict_proba(data.X)
assert n_threads(4, 10**6) == 4
pid = os.fork()
if not pid:
    signal.alarm(240)  # a child that hangs ends
    same = (model.predict_proba(data.X) == right).all()
    again = (model.fit(data.X, data.y).predict_proba(data.X) == right).all()
    os._exit(0 if same and again and n_threads(4, 10**6) == 1 else 1)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="fork")
def test_a_forked_process_fits_and_predicts_by_one_thread():
    """In a process of its own, because the threads of this one are limited to one."""
    import os

    paths = {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", FORKED], env={**os.environ, **paths}, capture_output=True,
        text=True, timeout=300,
    )  # fmt: skip
    assert done.stdout.strip() == "0", done.stderr


def test_a_stopped_run_of_files_goes_on(tmp_path, monkeypatch):
    from trust import files_part

    monkeypatch.setattr(files_part, "FOLDER", tmp_path)
    monkeypatch.setattr(files_part, "STEP", 10)
    asked = []

    def mutate(n, start):
        asked.append((n, start))
        if len(asked) == 3:
            raise KeyboardInterrupt
        return {("cut", "refused"): n - 1, ("cut", "the"): 1}, []

    monkeypatch.setattr(files_part, "mutate", mutate)
    with pytest.raises(KeyboardInterrupt):
        files_part.run(2, n=25)
    counts, failures = files_part.run(2, n=25)
    assert asked == [(10, 2_000_000), (10, 2_000_010), (5, 2_000_020), (5, 2_000_020)]
    assert failures == [] and counts["damaged and hostile files"] == 25
    assert counts["files: refused"] == 22
    assert not (tmp_path / "files.jsonl").exists()
