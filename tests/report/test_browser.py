"""The page in a real browser: sliders against Python, styles, keyboard, print."""

from __future__ import annotations

import json

import numpy as np
import pytest

from costboost.metrics import total_cost
from costboost.report import report_data, write_report
from costboost.report.board import bin_rows, factors_of
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
        rounds={"held-out rows": np.linspace(9, 3, 30)},
        rivals={"coin": np.full((n, 2), 0.5)},
    )
    return write_report(case, tmp_path_factory.mktemp("report") / "full.html")


def move(browser, report, rng):
    """Put every control somewhere, as a hand would; return what Python makes of it."""
    moves, case = report.sliders, report.case
    places = rng.integers(len(moves.factors), size=len(moves.levers)).tolist()
    threshold = int(rng.integers(len(moves.thresholds))) if moves.thresholds else None
    use_threshold = threshold is not None and bool(rng.integers(2))
    capacity = int(rng.integers(len(moves.capacities)))
    use_capacity = bool(rng.integers(2))
    actions = [e for e in range(case.d) if e != case.nothing]
    limited = int(rng.choice(actions))
    set_ = [f"set('factor-{lever}', {place})" for lever, place in enumerate(places)]
    if threshold is not None:
        set_ += [
            f"set('threshold', {threshold})",
            f"check('use-threshold', {json.dumps(use_threshold)})",
        ]
    set_ += [
        f"set('limited', {limited}, 'change')",
        f"set('capacity', {capacity})",
        f"check('use-capacity', {json.dumps(use_capacity)})",
    ]
    browser.run(
        "{const set = (id, value, kind = 'input') => { const e = document.getElementById(id);"
        " e.value = value; e.dispatchEvent(new Event(kind, {bubbles: true})); };"
        "const check = (id, on) => { const e = document.getElementById(id);"
        " if (e.checked !== on) e.click(); };" + ";".join(set_) + "}"
    )
    # The page's own timer was set first, so its update comes first.
    browser.run("new Promise((done) => setTimeout(done, 20))")
    factors = factors_of(moves.levers, [moves.factors[place] for place in places], (case.k, case.d))
    return {
        "factors": factors,
        "threshold": moves.thresholds[threshold] if use_threshold else None,
        "capacity": moves.capacities[capacity] if use_capacity else None,
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


@pytest.mark.parametrize(
    "make",
    [
        lambda: two_classes(100_000, unit="€"),
        lambda: two_classes(3_000, per_row=False, weights=True),
        lambda: many_classes(1_000),
        lambda: many_classes(1_000, per_row=True),
        lambda: many_classes(1_000, k=3, d=5),
        prices_only,
    ],
    ids=[
        "most rows",
        "matrix and weights",
        "four classes",
        "four, rows",
        "five decisions",
        "prices",
    ],
)
def test_sliders_match_python_to_the_cent(browser, tmp_path, make):
    report = report_data(make())
    case = report.case
    browser.open(write_report(report, tmp_path / "report.html"))
    rng = np.random.default_rng(0)
    assert shown(browser)[0] == pytest.approx(report.board.operating_point().cost, abs=0.00501)
    for _ in range(20):
        position = move(browser, report, rng)
        point = report.board.operating_point(**position)
        cost, counts = shown(browser)
        assert cost == pytest.approx(point.cost, abs=0.00501)
        assert counts == pytest.approx(point.counts.tolist(), abs=0.051)
        codes = browser.run(
            "(() => { const b = costboost.board, s = costboost.state; return Array.from("
            "costboost.operatingPoint(b, costboost.factorsNow(), s.threshold, s.capacity,"
            " s.limited).decided); })()"
        )
        assert codes == point.decided.tolist()
        if case.k == case.d:  # and the metric of the library says the same
            classes = np.array(case.classes)
            prices = case.prices * position["factors"][case.codes]
            metric = total_cost(
                classes[case.codes],
                classes[point.decided],
                costs=prices,
                labels=classes,
                sample_weight=case.weights,
            )
            assert cost == pytest.approx(metric, abs=0.00501)


def test_binned_sliders_are_python_on_the_same_bins(browser, tmp_path, monkeypatch):
    monkeypatch.setattr("costboost.report.board.EXACT_ROWS", 1_000)
    report = report_data(two_classes(30_000))
    bins = bin_rows(report.case, report.board)
    browser.open(write_report(report, tmp_path / "report.html"))
    rng = np.random.default_rng(1)
    for _ in range(5):
        position = move(browser, report, rng)
        cost, _ = shown(browser)
        assert cost == pytest.approx(bins.operating_point(**position).cost, abs=0.02)
        exact = report.board.operating_point(**position).cost
        assert abs(cost - exact) <= 3 * report.sliders.packed.error["relative"] * exact + 0.01


def test_curve_over_thresholds_is_python(browser, tmp_path):
    report = report_data(two_classes(1_000))
    browser.open(write_report(report, tmp_path / "report.html"))
    position = move(browser, report, np.random.default_rng(2))
    curve = browser.run(
        "costboost.costByThreshold(costboost.board, costboost.factorsNow(),"
        " costboost.model.thresholds)"
    )
    expected = [
        report.board.operating_point(position["factors"], threshold=t).cost
        for t in report.sliders.thresholds
    ]
    assert curve == pytest.approx(expected, abs=1e-6)


def test_reset_brings_the_stated_costs_back(browser, full):
    browser.open(full)
    before = shown(browser)
    browser.run("document.getElementById('factor-0').value = 0")
    browser.run("document.getElementById('factor-0').dispatchEvent(new Event('input'))")
    browser.run("new Promise((done) => setTimeout(done, 50))")
    assert shown(browser) != before
    browser.run("document.getElementById('reset').click()")
    browser.run("new Promise((done) => setTimeout(done, 50))")
    assert shown(browser) == before
    assert browser.run("document.getElementById('live-change').textContent") == (
        "As at the stated costs."
    )


def test_keys_move_a_slider(browser, full):
    browser.open(full)
    browser.run("document.getElementById('factor-0').focus()")
    before = browser.run("document.getElementById('factor-0').value")
    browser.press("ArrowRight", 39)
    browser.run("new Promise((done) => setTimeout(done, 50))")
    assert int(browser.run("document.getElementById('factor-0').value")) == int(before) + 1
    assert "× 1.1" in browser.run("document.getElementById('factor-0-shown').textContent")
    spoken = browser.run("document.getElementById('factor-0').getAttribute('aria-valuetext')")
    assert spoken.startswith("1.1 times the stated cost")


def test_every_chart_is_drawn_without_complaint_or_network(browser, full):
    browser.messages.clear()
    browser.requests.clear()
    browser.open(full)
    drawn = browser.run(
        "[...document.querySelectorAll('.plot')].map((p) => [p.dataset.figure,"
        " p.querySelectorAll('.trace, .bars, .hm, .heatmaplayer image').length])"
    )
    assert len(drawn) > 10
    assert all(count > 0 for _, count in drawn), drawn
    assert not browser.messages
    assert {request.split(":")[0] for request in browser.requests} <= {"file", "blob", "data"}


def test_light_dark_and_toggle(browser, full):
    def ground():
        return browser.run("getComputedStyle(document.body).backgroundColor")

    browser.open(full)
    light = ground()
    browser.open(full, dark=True)
    dark = ground()
    assert light != dark
    browser.run("document.getElementById('theme').click()")
    assert ground() == light
    assert browser.run("document.getElementById('theme').getAttribute('aria-pressed')") == "false"


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_sticks_out(browser, full, width):
    browser.open(full, width=width)
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_charts_follow_the_window(browser, full):
    browser.open(full, width=1280)
    browser.resize(420)
    widest = "Math.max(...[...document.querySelectorAll('.plot svg')].map((s) => s.clientWidth))"
    browser.wait(f"{widest} <= 420")
    assert browser.run("document.documentElement.scrollWidth") <= 420


def test_table_of_mistakes_sorts(browser, full):
    browser.open(full)
    column = (
        "[...document.querySelectorAll('.tall tbody tr')]"
        ".map((r) => Number(r.cells[5].dataset.value))"
    )
    press = "document.querySelectorAll('.tall th button')[5].click()"
    browser.run(press)
    assert browser.run(column) == sorted(browser.run(column), reverse=True)
    browser.run(press)
    assert browser.run(column) == sorted(browser.run(column))
    state = browser.run("document.querySelectorAll('.tall thead th')[5].getAttribute('aria-sort')")
    assert state == "ascending"


def test_print_shows_charts_and_hides_controls(browser, full, tmp_path):
    browser.open(full, dark=True)
    browser.call("Emulation.setEmulatedMedia", media="print")
    assert browser.run("getComputedStyle(document.getElementById('controls')).display") == "none"
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    browser.call("Emulation.setEmulatedMedia", media="")
    browser.pdf(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").stat().st_size > 50_000
