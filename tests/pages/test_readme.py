"""The README's table names public classes, and the links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import costboost

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
CLASSES = re.findall(r"^\| `(\w+)` \|", README, flags=re.MULTILINE)


def test_there_is_something_to_test() -> None:
    assert CLASSES


@pytest.mark.parametrize("name", CLASSES)
def test_table_names_public_classes(name: str) -> None:
    assert name in costboost.__all__
    assert isinstance(getattr(costboost, name), type)


def test_table_is_complete() -> None:
    public = {name for name in costboost.__all__ if name.endswith("Classifier")}
    assert public == set(CLASSES)


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_relative_links(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    for target in re.findall(r"\]\((?!https?://)([^)#]+)\)", text):
        assert (ROOT / target).exists(), target


def test_the_map_covers_every_package() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    for package in (ROOT / "src" / "costboost").iterdir():
        if (package / "__init__.py").exists():
            assert f"`{package.name}/`" in text, package.name


def test_commands_exist() -> None:
    """Commands that the README and the first page call are commands of the program."""
    from costboost.cli import COMMANDS

    for document in ("README.md", "docs/start.md", "docs/guide/saving.md"):
        text = (ROOT / document).read_text("utf-8")
        called = set(re.findall(r"^\$ costboost ([a-z]+)", text, flags=re.MULTILINE))
        assert called and called <= set(COMMANDS), document


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for document in ("README.md", "CONTRIBUTING.md", ".ci/run", ".pre-commit-config.yaml"):
        text = (ROOT / document).read_text("utf-8")
        for target in re.findall(r"(?:^|`|: )make ([a-z-]+)", text, flags=re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), (document, target)


def test_versions_agree() -> None:
    version = costboost.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")
