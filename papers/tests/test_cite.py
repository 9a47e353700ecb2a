"""References of algorithms, as BibTeX."""

from __future__ import annotations

import inspect
import re

import pytest

from costboost import CostBoostClassifier
from costboost_papers.cite import bibtex
from helpers.algorithms import ALGORITHMS


@pytest.mark.parametrize("name", ALGORITHMS)
def test_references_as_bibtex(name):
    text = bibtex(ALGORITHMS[name])
    body = " ".join(inspect.getdoc(ALGORITHMS[name]).partition("References\n")[2].split())
    assert text.count("@") == body.partition(" Examples ")[0].count('", ')
    for doi in re.findall(r"doi:(\S+?)[.;]? ", body):
        assert f"doi = {{{doi}}}" in text
    year = re.search(r"\d{4}", ALGORITHMS[name]._recipe.source).group()
    assert re.search(r"@\w+{[a-z-]+\d{4},\n  author = {", text)
    assert f"year = {{{year}}}" in text or name == "AsymmetricAdaBoostClassifier"  # printed 2002


def test_what_cannot_be_cited_says_so():
    with pytest.raises(ValueError, match="CostBoostClassifier has no references to cite"):
        bibtex(CostBoostClassifier)
