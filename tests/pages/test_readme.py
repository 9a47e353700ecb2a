"""The README fits on a screen, commands exist, links lead somewhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import costboost

ROOT = Path(__file__).resolve().parents[2]


def test_the_readme_fits_on_a_screen() -> None:
    """What, one picture, two commands, ten lines of Python, where to go."""
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 75
    assert text.count("![") == 1
    assert text.count("```console") == text.count("```python") == 1


def test_pip_is_told_everywhere_in_one_way() -> None:
    """All of it, in a copy of the repository; what a page needs is named by its extra."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.py")]
    for path in pages:
        text = path.read_text("utf-8")
        if path.parent.name != "papers" and path.name not in ("start.md", "changelog.md"):
            told = re.findall(r"pip\s+install\s+([^`\n]+)", text)
            assert all(one.startswith('".[all]"') for one in told), (path.name, told)
        named = re.findall(r"extras? `+([a-z]+)`+(?: and `+([a-z]+)`+)?", text)
        assert {one for pair in named for one in pair if one} <= set(
            extras["optional-dependencies"]
        ), path.name


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_relative_links(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    for target in re.findall(r"\]\((?!https?://)([^)#]+)\)", text):
        assert (ROOT / target).exists(), target


def test_the_map_covers_every_package() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    for package in (ROOT / "src" / "costboost").iterdir():
        if (package / "__init__.py").exists():
            assert f"`{package.name}/`" in text, package.name


def test_the_walks_name_what_is_there() -> None:
    """Files of the library, and functions or classes of the file that was named last."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    walks = text.partition("## Two walks")[2].partition("\n## ")[0]
    source, found = "", 0
    for word in re.findall(r"`([\w./]+)`", walks):
        if word.endswith(".py"):
            source = (ROOT / "src" / "costboost" / word).read_text("utf-8")
        else:
            known = re.search(rf"^\s*(?:def|class) {word}\b", source, flags=re.MULTILINE)
            found += known is not None
            assert known or word in ("CostBoostClassifier", "predict", "predict_cost", "score"), (
                word
            )
    assert found > 25


def test_commands_exist() -> None:
    """Commands that the README and the first page call are commands of the program."""
    from costboost.cli import COMMANDS

    for document in ("docs/index.md", "docs/start.md", "docs/guide/saving.md"):
        text = (ROOT / document).read_text("utf-8")
        called = set(re.findall(r"^\$ costboost ([a-z]+)", text, flags=re.MULTILINE))
        assert called and called <= set(COMMANDS), document


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for document in ("README.md", "CONTRIBUTING.md", ".ci/run", ".pre-commit-config.yaml"):
        text = (ROOT / document).read_text("utf-8")
        for target in re.findall(r"(?:^|`|: |\$ )make ([a-z-]+)", text, flags=re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), (document, target)


def test_make_run_says_what_to_try_next() -> None:
    """Three commands that exist, on a file of one's own, after the page that the demo writes."""
    from costboost.cli import COMMANDS

    recipe = (ROOT / "Makefile").read_text("utf-8").partition("\nrun:")[2].partition("\n\n")[0]
    told = re.findall(r"/costboost ([a-z]+) ", recipe)
    assert told == ["demo", "data", "fit", "report"] and set(told) <= set(COMMANDS)


def test_the_source_distribution_has_what_developers_need() -> None:
    built = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    named = {path.removeprefix("/") for path in built["targets"]["sdist"]["include"]}
    assert "*.md" in named
    for path in ROOT.iterdir():
        if path.suffix in (".md", ".html") or path.name.startswith("."):  # a page of make run
            continue
        if path.is_file() or path.name in ("docs", "paper", "src", "tests", "tools"):
            assert path.name in named | {"pyproject.toml"}, path.name


def test_versions_agree() -> None:
    version = costboost.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")
