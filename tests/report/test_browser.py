"""The page in a real browser: sliders against Python, styles, keyboard, print."""

from __future__ import annotations

import json

import numpy as np
import pytest

from costboost.report import report_data, write_report
from costboost.report.what_if import FACTORS
from report.browser import CHROMIUM, Browser
from report.cases import many_classes, prices_only, two_classes

pytest.importorskip("plotly")
pytest.importorskip("websocket", reason="needs websocket-client to drive the browser")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
    pytest.mark.xdist_group("browser"),
]


@pytest.fixture(scope="module")
def browser():
    driven = Browser()
    yield driven
    driven.close()


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """A report with every part."""
    n = 2_000
    rng = np.random.default_rng(5)
    case = two_classes(
        n,
        unit="€",
        time=np.datetime64("2026-01-01") + (np.arange(n) // 50).astype("timedelta64[D]"),
        segments={"country": rng.choice(["DE", "FR"], n)},
        features={"age": rng.normal(40, 9, n), "kind": rng.choice(["a", "b"], n)},
        explain=rng.normal(size=(n, 2)),
        rivals={"coin": np.full((n, 2), 0.5)},
    )
    return write_report(case, tmp_path_factory.mktemp("report") / "full.html")


PAGE = """
const field = (id) => document.getElementById(id);
const set = (id, value, kind = 'input') => {
  field(id).value = value; field(id).dispatchEvent(new Event(kind, {bubbles: true})); };
const check = (id, on) => { if (field(id).checked !== on) field(id).click(); };
"""


def act(browser, code):
    """Do something on the page, and wait: its own timer was set first, so its update is done."""
    browser.run("{" + PAGE + code + "}")
    browser.run("new Promise((done) => setTimeout(done, 30))")


def move(browser, report, rng):
    """Put every control somewhere, as a hand would; return what Python makes of it."""
    moves, case = report.sliders, report.case
    places = rng.integers(len(FACTORS), size=len(report.case.levers)).tolist()
    capacity, use_capacity = int(rng.integers(len(moves["capacities"]))), bool(rng.integers(2))
    limited = int(rng.choice([e for e in range(case.d) if e != case.idle]))
    code = [f"set('factor-{lever}', {place})" for lever, place in enumerate(places)]
    code += [f"set('limited', {limited}, 'change')", f"set('capacity', {capacity})"]
    act(browser, ";".join([*code, f"check('use-capacity', {json.dumps(use_capacity)})"]))
    return {
        "values": [FACTORS[place] for place in places],
        "capacity": moves["capacities"][capacity] if use_capacity else None,
        "limited": limited if use_capacity else None,
    }


def amount(text):
    return float(text.replace("−", "-").replace("€", "").replace(",", ""))


def shown(browser):
    """Total cost and counts as the page shows them."""
    cost = browser.run("document.getElementById('live-cost').textContent")
    counts = browser.run(
        "[...document.querySelectorAll('#live-counts tbody tr')].map((r) => r.cells[1].textContent)"
    )
    return amount(cost), [amount(count) for count in counts]


SLIDERS = {
    "weights": lambda: two_classes(1_000, per_row=False, weights=True, unit="€"),
    "five decisions, rows": lambda: many_classes(1_000, k=3, d=5, per_row=True),
    "prices": prices_only,
}


@pytest.mark.slow
@pytest.mark.parametrize("make", SLIDERS.values(), ids=list(SLIDERS))
def test_sliders_match_python_to_the_cent(browser, tmp_path, make):
    report = report_data(make())
    browser.open(write_report(report, tmp_path / "report.html"))
    rng, case = np.random.default_rng(0), report.case
    assert shown(browser)[0] == pytest.approx(report.case.operating_point().cost, abs=0.00501)
    for _ in range(6):
        position = move(browser, report, rng)
        point = case.operating_point(**position)
        cost, counts = shown(browser)
        assert cost == pytest.approx(point.cost, abs=0.00501)
        assert counts == pytest.approx(point.counts.tolist(), abs=0.051)
        codes = browser.run(
            "(() => { const b = costboost.board, s = costboost.state; return Array.from("
            "costboost.operatingPoint(b, costboost.factorsNow(), s.capacity,"
            " s.limited).decided); })()"
        )
        assert codes == point.decided.tolist()


@pytest.fixture
def page(browser, full):
    """The full report at the stated costs, opened once."""
    if browser.run("location.href") != full.resolve().as_uri():
        browser.open(full)
    act(browser, "field('reset').click()")
    return browser


def test_keys_move_a_slider_and_reset_brings_the_stated_costs_back(page):
    before = shown(page), page.run("document.getElementById('factor-0').value")
    page.run("document.getElementById('factor-0').focus()")
    page.press("ArrowRight", 39)
    act(page, "")
    assert int(page.run("document.getElementById('factor-0').value")) == int(before[1]) + 1
    assert "× 1.1" in page.run("document.getElementById('factor-0-shown').textContent")
    spoken = page.run("document.getElementById('factor-0').getAttribute('aria-valuetext')")
    assert spoken.startswith("1.1 times the stated cost")
    act(page, "set('factor-0', 0)")
    assert shown(page) != before[0]
    act(page, "field('reset').click()")
    assert shown(page) == before[0]
    said = page.run("document.getElementById('live-change').textContent")
    assert said == "As at the stated costs."


def test_table_of_mistakes_sorts(page):
    column = (
        "[...document.querySelectorAll('.tall tbody tr')]"
        ".map((r) => Number(r.cells[5].dataset.value))"
    )
    for order in ("descending", "ascending"):
        page.run("document.querySelectorAll('.tall th button')[5].click()")
        assert page.run(column) == sorted(page.run(column), reverse=order == "descending")
        head = "document.querySelectorAll('.tall thead th')[5].getAttribute('aria-sort')"
        assert page.run(head) == order


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_sticks_out(page, width):
    """Charts follow the window."""
    page.resize(width)
    widest = "Math.max(...[...document.querySelectorAll('.plot svg')].map((s) => s.clientWidth))"
    page.wait(f"{widest} <= {width} && document.documentElement.scrollWidth <= {width}")


def test_charts_are_drawn_without_complaint_or_network_in_light_and_dark(browser, full):
    def ground():
        return browser.run("getComputedStyle(document.body).backgroundColor")

    browser.messages.clear()
    browser.requests.clear()
    browser.open(full)
    light = ground()
    drawn = browser.run(
        "[...document.querySelectorAll('.plot')].map((p) => [p.dataset.figure,"
        " p.querySelectorAll('.trace, .bars, .hm, .heatmaplayer image').length])"
    )
    assert len(drawn) >= 8
    assert all(count > 0 for _, count in drawn), drawn
    assert not browser.messages
    assert {request.split(":")[0] for request in browser.requests} <= {"file", "blob", "data"}
    browser.open(full, dark=True)
    assert ground() != light
    browser.run("document.getElementById('theme').click()")
    assert ground() == light
    assert browser.run("document.getElementById('theme').getAttribute('aria-pressed')") == "false"


def test_print_shows_charts_and_hides_controls(browser, full):
    browser.open(full, dark=True)
    browser.resize(688)  # A4 less its margins
    browser.call("Emulation.setEmulatedMedia", media="print")
    browser.run("new Promise((done) => setTimeout(done, 300))")
    bottom = browser.run("document.getElementById('headline').getBoundingClientRect().bottom")
    assert bottom < 1016  # the manager's page is one sheet
    assert browser.run("getComputedStyle(document.getElementById('controls')).display") == "none"
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    browser.call("Emulation.setEmulatedMedia", media="")
    assert len(browser.pdf()) > 50_000
