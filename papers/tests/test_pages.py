"""The pages of the papers are what their kept rows say."""

from __future__ import annotations

import shutil
from pathlib import Path

from costboost_papers import pages, registry

DOCS = Path(__file__).parents[2] / "docs" / "papers"


def test_pages_of_papers_follow_from_the_kept_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "save_figure", lambda figure, path: None)
    for folder in ("rows", "summaries"):
        shutil.copytree(DOCS / folder, tmp_path / folder)
    written = pages.write_pages(tmp_path, tmp_path / "nothing new")
    for path in (*written, *(tmp_path / "summaries").iterdir()):
        old = (DOCS / path.relative_to(tmp_path)).read_text("utf-8")
        assert old == path.read_text("utf-8"), f"{path.name}: run costboost-papers pages"
    names = {"README", *(paper.name for paper in registry.PAPERS)}
    assert {path.stem for path in DOCS.glob("*.md")} == names
    assert 0 < max(path.stat().st_size for path in (DOCS / "rows").iterdir()) < 800_000
