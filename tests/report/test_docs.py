"""The snippets of docs/report.md run, one after another."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("plotly")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "report.md"


def test_snippets_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.S | re.M)
    assert len(snippets) == 2
    names = {"__name__": "page"}
    for snippet in snippets:
        exec(compile(snippet, str(PAGE), "exec"), names)
    assert capsys.readouterr().out.split() == ["True"] * 3
    assert (tmp_path / "report.html").exists()
