"""The programs of papers/examples run."""

from __future__ import annotations

import runpy
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_intrusion_detection(tmp_path, monkeypatch, capsys, data_dir):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / "intrusion_detection.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    likeliest, cheapest = (float(line.split()[-3]) for line in lines[-2:])
    assert cheapest < likeliest
    assert (tmp_path / "intrusion_detection.png").is_file()
