"""The pages on the papers are what ``costboost reproduce --pages`` writes from the kept rows."""

from __future__ import annotations

import shutil
from pathlib import Path

from costboost_papers import pages, registry

DOCS = Path(__file__).resolve().parents[2] / "docs" / "papers"


def test_pages_are_up_to_date(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "save_figure", lambda figure, path: None)
    for folder in ("rows", "summaries"):
        shutil.copytree(DOCS / folder, tmp_path / folder)
    for page in pages.write_pages(tmp_path, tmp_path / "nothing new"):
        assert (DOCS / page.name).read_text("utf-8") == page.read_text("utf-8"), (
            f"docs/papers/{page.name} is stale: run costboost reproduce --pages"
        )
    for path in (tmp_path / "summaries").iterdir():
        assert path.read_text("utf-8") == (DOCS / "summaries" / path.name).read_text("utf-8")


def test_kept_rows_are_small():
    sizes = {path.name: path.stat().st_size for path in (DOCS / "rows").iterdir()}
    assert sizes and max(sizes.values()) < 800_000


def test_every_paper_has_a_page_and_no_page_is_left_over():
    assert {path.stem for path in DOCS.glob("*.md")} == {
        "README",
        *(paper.name for paper in registry.PAPERS),
    }
