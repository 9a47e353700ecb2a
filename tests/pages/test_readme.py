"""The README fits on a screen, commands exist, all are told to install it in one way."""

import re
import tomllib
from pathlib import Path

import costboost
from costboost.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[2]


def test_the_readme_fits_on_a_screen():
    """What, one picture, two commands, ten lines of Python, where to go."""
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 75
    assert text.count("![") == 1
    assert text.count("```console") == text.count("```python") == 1


def test_pip_is_told_everywhere_in_one_way():
    """All of it, in a copy of the repository; what a page needs is named by its extra."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.py")]
    for path in pages:
        text = path.read_text("utf-8")
        if path.parent.name != "papers" and path.name not in ("start.md", "changelog.md"):
            told = re.findall(r"pip\s+install\s+([^`\n]+)", text)
            # The papers are a project of their own, which needs the base alone.
            assert all(one.startswith(('".[all]"', ". ./papers")) for one in told), path.name
        named = re.findall(r"extras? `+([a-z]+)`+(?: and `+([a-z]+)`+)?", text)
        assert {one for pair in named for one in pair if one} <= set(
            extras["optional-dependencies"]
        ), path.name


def test_the_source_distribution_has_what_developers_need():
    built = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    named = {path.removeprefix("/") for path in built["targets"]["sdist"]["include"]}
    assert "*.md" in named
    for path in ROOT.iterdir():
        if path.suffix in (".md", ".html") or path.name.startswith("."):  # a page of make run
            continue
        if path.is_file() or path.name in ("docs", "src", "tests", "tools"):
            assert path.name in named | {"pyproject.toml"}, path.name


def test_commands_and_targets_that_pages_name_exist():
    def text(document):
        return (ROOT / document).read_text("utf-8")

    for document in ("docs/index.md", "docs/start.md", "docs/guide/saving.md"):
        called = set(re.findall(r"^\$ costboost ([a-z]+)", text(document), flags=re.M))
        assert called and called <= set(COMMANDS), document
    for document in ("README.md", "CONTRIBUTING.md", ".ci/run", ".pre-commit-config.yaml"):
        called = r"(?:^|`|: |\$ )make (?:-C \S+ )?([a-z-]+)"
        for target in re.findall(called, text(document), flags=re.M):
            assert re.search(rf"^{target}:", text("Makefile"), flags=re.M), (document, target)
    # After the page that the demo writes: three commands to try on a file of one's own.
    recipe = text("Makefile").partition("\nrun:")[2].partition("\n\n")[0]
    assert re.findall(r"/costboost ([a-z]+) ", recipe) == ["demo", "data", "fit", "report"]
    assert f"\nversion: {costboost.__version__}\n" in text("CITATION.cff")
    assert f"## [{costboost.__version__}]" in text("CHANGELOG.md")
