"""The pages on the papers are what ``costboost reproduce --pages`` writes from the summaries."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from costboost_papers import pages, registry

DOCS = Path(__file__).resolve().parents[2] / "docs" / "papers"

NO_FIGURES = {"lozano2008", "bahnsen2015", "hoppner2022", "vanderschraelen2025"}


def test_pages_are_up_to_date(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "save_figure", lambda figure, path: None)
    shutil.copytree(DOCS / "summaries", tmp_path / "summaries")
    for page in pages.write_pages(tmp_path):
        assert (DOCS / page.name).read_text("utf-8") == page.read_text("utf-8"), (
            f"docs/papers/{page.name} is stale: run costboost reproduce --pages"
        )


def test_every_paper_has_a_page_and_no_page_is_left_over():
    assert {path.stem for path in DOCS.glob("*.md")} == {
        "README",
        *(paper.name for paper in registry.PAPERS),
    }


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\((?!https?://)([^)#]+)\)", page.read_text("utf-8"))
    assert targets or page.stem in NO_FIGURES
    for target in targets:
        assert (page.parent / target).exists(), target
