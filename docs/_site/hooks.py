"""What MkDocs does not do by itself: pages that live elsewhere in the repository, links to them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

import costboost

ROOT = Path(__file__).parents[2]

# Pages of the site that are kept elsewhere in the repository: where on the site, and where kept.
KEPT_ELSEWHERE = {
    "changelog.md": "CHANGELOG.md",
    "conduct.md": "CODE_OF_CONDUCT.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
    "benchmarks/README.md": "benchmarks/README.md",
    "benchmarks/held_out_cost.md": "benchmarks/results/held_out_cost.md",
    "benchmarks/classifier_choices.md": "benchmarks/results/classifier_choices.md",
    "benchmarks/held_out_cost-ranks.png": "benchmarks/results/held_out_cost-ranks.png",
    "benchmarks/held_out_cost-differences.png": "benchmarks/results/held_out_cost-differences.png",
}
_PLACES = {kept: place for place, kept in KEPT_ELSEWHERE.items()}
_LINK = re.compile(r"(\]\()(?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")


def on_config(config: Any) -> Any:
    """Say at the foot of every page which version it describes."""
    config.copyright = f"costboost {costboost.__version__}"
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are kept elsewhere."""
    for place, kept in KEPT_ELSEWHERE.items():
        if (ROOT / kept).exists():
            files.append(File.generated(config, place, abs_src_path=str(ROOT / kept)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links that work in the repository work on the site."""
    place = page.file.src_uri
    kept = KEPT_ELSEWHERE.get(place, f"docs/{place}")
    here = (ROOT / kept).parent
    depth = place.count("/")

    def moved(match: re.Match[str]) -> str:
        target = (here / match[2]).resolve()
        if not target.is_relative_to(ROOT):
            return match[0]
        name = target.relative_to(ROOT).as_posix()
        if name in _PLACES:
            found = _PLACES[name]
        elif name.startswith("docs/"):
            found = name.removeprefix("docs/")
        else:
            return match[0]
        return f"{match[1]}{'../' * depth}{found}{match[3] or ''})"

    return _LINK.sub(moved, markdown)
