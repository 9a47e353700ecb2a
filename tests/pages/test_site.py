"""The site builds without a warning, needs no network, and its links lead somewhere."""

import html
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from costboost import CostBoostClassifier

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"\]\((?!https?://|mailto:|#)([^)#\s]+)")
# What a browser would fetch from elsewhere. Plain links to other sites are no harm.
FETCHED = re.compile(
    r"<(?:script|img|link|iframe)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//[^\"'> ]+"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs", reason="the site needs the dependency group docs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": paths}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.mark.slow
def test_every_page(site):
    """Nothing is fetched from elsewhere; equations are MathML, no reStructuredText is left over."""
    texts = {page.name: page.read_text("utf-8") for page in site.rglob("*.html")}
    assert len(texts) > 40
    for name, text in texts.items():
        found = FETCHED.findall(text)
        assert not [tag for tag in found if "rel=" not in tag or "stylesheet" in tag], name
        assert ".. math::" not in text and ":math:`" not in text, name
    page = texts["sun2007.html"]
    assert page.count("<math") >= 3
    assert page.count("costboost.boosting.BoostingClassifier") >= 3
    base = texts["boosting.html"]
    for inherited in ("cost_matrix", "n_estimators", "random_state"):
        assert f"<code>{inherited}</code>" in base, inherited


@pytest.mark.slow
def test_page_of_the_classifier(site):
    """What people look for first comes first; all is there; defaults are those of the code."""
    page = (site / "api" / "classifier.html").read_text("utf-8")
    listed = re.findall(r'id="costboost\.gbm\.classifier\.CostBoostClassifier\.(\w+)"', page)
    assert listed[:3] == ["fit", "predict", "decide"]
    public = {
        name
        for name in dir(CostBoostClassifier)
        if not name.startswith(("_", "get_", "set_")) and not name.endswith(("_", "_request"))
        if callable(getattr(CostBoostClassifier, name))
    }
    assert set(listed) == public
    told = page.partition("Parameters:")[2].partition("Attributes:")[0]
    for name, parameter in inspect.signature(CostBoostClassifier).parameters.items():
        item = told.partition(f"<b><code>{name}</code></b>")[2].partition("</li>")[0]
        shown = html.unescape(re.sub(r"<[^>]+>", "", item.partition("default:")[2]))
        assert shown.split()[0].replace('"', "'") == repr(parameter.default), name


def test_links_work_in_the_repository_too():
    documents = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
    for page in (*documents, *DOCS.rglob("*.md")):
        for target in LINK.findall(page.read_text("utf-8")):
            assert (page.parent / target).exists(), (page.name, target)
