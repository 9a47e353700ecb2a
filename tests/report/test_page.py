"""The page without a browser: complete, self-contained, accessible, small."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from unittest.mock import Mock

import numpy as np
import pytest

from costboost._words import money, number, percent, span
from costboost.report import make_case, report_data, write_report
from costboost.report.page import render
from report.cases import CASES, two_classes

pytest.importorskip("plotly")


class Reader(HTMLParser):
    """Collects elements, and checks that they close in order."""

    VOID = frozenset({"meta", "input", "br", "link"})

    def __init__(self, page):
        super().__init__()
        self.elements, self._open = [], []
        self.feed(page)
        assert not self._open

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def all(self, *tags):
        return [attributes for tag, attributes in self.elements if tag in tags]


def embedded(page, name):
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.S)
    return json.loads(found.group(1))


RNG = np.random.default_rng(0)
P, Y, PARTS = RNG.dirichlet([1, 1], 30), RNG.integers(0, 2, 30), RNG.normal(size=(30, 4))
GAPS = np.where(RNG.uniform(size=30) < 0.5, np.nan, RNG.normal(size=30))
COLUMNS = {
    "gaps": GAPS,
    "none": np.full(30, np.nan),
    "far": np.where(GAPS > 0, np.inf, -np.inf),
    "mixed": np.array(["a", None, np.nan, 3.5, "b"] * 6, dtype=object),
}
ODD = {
    "two rows": {"y": [0, 1], "proba": [[0.9, 0.1], [0.2, 0.8]]},
    "one class in the rows": {"y": np.zeros(30), "classes": [0, 1]},
    "nothing costs anything": {"costs": np.zeros((2, 2))},
    "everything earns": {"costs": [[-3, -1], [-1, -4]]},
    "certain and right": {"proba": np.eye(2)[Y]},
    "one decision is always right": {"decisions": ["a", "b"], "costs": [[0, 5], [0, 7]]},
    "thirty classes": {"y": np.arange(60) % 30, "proba": RNG.dirichlet(np.ones(30), 60)},
    "columns with gaps": {"segments": COLUMNS, "features": COLUMNS, "explain": PARTS},
    "some weights are zero": {"sample_weight": np.arange(30) % 3},
    "booleans": {"y": Y == 1, "costs": [[0, 1], [9, 0]]},
}


@pytest.mark.parametrize("name", [*CASES, *ODD])
def test_page_is_well_formed_loads_nothing_and_names_everything(name):
    odd = {"y": Y, "proba": P, **ODD.get(name, {})}
    page = render(report_data(CASES[name]() if name in CASES else make_case(**odd)))
    reader = Reader(page)
    loading = reader.all("script", "img", "link", "iframe", "source")
    assert not any({"src", "href"} & set(a) for a in loading)
    own = page[: page.index('<script type="text/plain" id="plotly">')]
    assert not any(text in own for text in ("http://", "https://", "NaN"))
    ids = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    labelled = {attributes["for"] for attributes in reader.all("label")}
    assert all(a["id"] in labelled or a.get("aria-label") for a in reader.all("input", "select"))
    charts = [a for a in reader.all("div") if "data-figure" in a]
    assert {a["data-figure"] for a in charts} == set(embedded(page, "figures"))
    assert all(a["role"] == "img" and a["aria-label"] for a in charts)
    assert any(a.get("aria-live") == "polite" for a in reader.all("div"))
    assert {a["href"][1:] for a in reader.all("a")} <= set(ids)


def test_headline_is_on_the_page():
    time = np.datetime64("2026-03-01") + (np.arange(300) // 10).astype("timedelta64[D]")
    report = report_data(two_classes(unit="€", title="A <b>& co", time=time))
    page = render(report)
    saving = report.headline.rule("constant").saving
    yearly = money(saving.value * 365.25 / 30, "€", saving.high * 365.25 / 30)
    assert f"A year of cases like these: {yearly}" in page
    gain = 1000 * report.headline.verdict.gain
    assert ">The model pays</h2>" in page and "against the best constant decision" in page
    assert f'<p class="big">{money(gain, "€")}</p>' in page
    for rule in report.headline.rules:
        assert f">{money(rule.cost.value, '€', 1e3)}<" in page
    assert "<title>A &lt;b&gt;&amp; co</title>" in page


def test_labels_cannot_break_out_of_the_page():
    evil, n, rng = "</script><script>alert(1)</script>", 60, np.random.default_rng(0)
    column = {evil: rng.choice([evil, "b"], n)}
    more = {"settings": {evil: evil}, "title": evil, "unit": evil[:9], "segments": column}
    more |= {"features": column, "explain": rng.normal(size=(n, 1))}
    page = render(report_data(two_classes(n, rivals={evil: np.full((n, 2), 0.5)}, **more)))
    Reader(page)
    assert evil not in page


def test_a_file_appears_only_when_it_is_complete(tmp_path, monkeypatch):
    report, target = report_data(two_classes(50)), tmp_path / "report.html"
    with monkeypatch.context() as full, pytest.raises(OSError, match="full"):
        full.setattr("os.replace", Mock(side_effect=OSError("full")))
        write_report(report, target)
    assert not list(tmp_path.iterdir())
    assert write_report(report, str(target)) == target
    assert target.stat().st_size < 3_000_000


def test_numbers_have_one_form():
    amounts = (1234.5, "€"), (-12345.6, "€"), (39.99999999999999,), (0.0123, "€"), (-0.001, "", 50)
    shown = ["€1,234", "−€12,346", "40.00", "€0.012", "0.00", "CHF 7.00"]
    assert [money(*one) for one in (*amounts, (7, "CHF"))] == shown
    assert span(10, 110) == "10 to 110"  # both with decimals, or none
    assert [number(x) for x in (2001.0, 0.123456, np.nan)] == ["2001", "0.1235", "missing"]
    assert (percent(0.1234), percent(0.00012)) == ("12.3\u00a0%", "0.012\u00a0%")


@pytest.mark.parametrize(
    ("accuracy", "words"),
    [(0.9, "Deploy it"), (0.2, "Do not deploy it"), (0.54, "more cases with their outcome")],
)
def test_the_first_page_recommends(accuracy, words):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    decided = np.where(rng.uniform(size=400) < accuracy, y, 1 - y)
    page = render(report_data(make_case(y, np.full((400, 2), 0.5), decided=decided)))
    assert words in page[: page.index('id="comparison"')]


def test_long_labels_that_begin_alike_stay_apart():
    kinds = np.array(["a long name of a group, one", "a long name of a group, two"])
    case = two_classes(100, segments={"kind": kinds[np.arange(100) % 2]})
    chart = embedded(render(report_data(case)), "figures")["segment-0"]
    assert [trace["y"] for trace in chart["data"]] == [[0, 1], [0, 1]]
    assert sorted(chart["data"][0]["customdata"]) == kinds.tolist()
    assert len(chart["layout"]["yaxis"]["ticktext"]) == 2
