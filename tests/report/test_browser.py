"""The page in a real browser: sliders against Python, styles, widths, print."""

from __future__ import annotations

import json

import numpy as np
import pytest

from costboost.report import report_data, write_report
from costboost.report.what_if import FACTORS
from report.browser import CHROMIUM, asked
from report.cases import many_classes, prices_only, two_classes

pytest.importorskip("plotly")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
    pytest.mark.xdist_group("browser"),
]


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """A report with every part."""
    n, rng = 2_000, np.random.default_rng(5)
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


def amount(text):
    return float(text.replace("−", "-").replace("€", "").replace(",", ""))


SLIDERS = {
    "weights": lambda: two_classes(1_000, per_row=False, weights=True, unit="€"),
    "five decisions, rows": lambda: many_classes(1_000, k=3, d=5, per_row=True),
    "prices": prices_only,
}
MOVE = """
const found = [];
for (const move of %s) {
  await act(() => {
    move.places.forEach((place, lever) => set("factor-" + lever, place));
    set("limited", move.limited, "change");
    set("capacity", move.capacity);
    check("use-capacity", move.on);
  });
  const { board, state, factorsNow, operatingPoint } = costboost;
  found.push([
    text("live-cost"), all("#live-counts tbody tr").map((row) => row.cells[1].textContent),
    Array.from(operatingPoint(board, factorsNow(), state.capacity, state.limited).decided),
  ]);
}
return found;
"""


@pytest.mark.slow
@pytest.mark.parametrize("make", SLIDERS.values(), ids=list(SLIDERS))
def test_sliders_match_python_to_the_cent(tmp_path, make):
    report, rng = report_data(make()), np.random.default_rng(0)
    case, capacities = report.case, report.sliders["capacities"]
    moves = [
        {
            "places": rng.integers(len(FACTORS), size=len(case.levers)).tolist(),
            "limited": int(rng.choice([e for e in range(case.d) if e != case.idle])),
            "capacity": int(rng.integers(len(capacities))),
            "on": bool(rng.integers(2)),
        }
        for _ in range(6)
    ]
    stated = {"places": [FACTORS.index(1)] * len(case.levers), "on": False, "capacity": 0}
    moves.append({**moves[0], **stated})
    path = write_report(report, tmp_path / "report.html")
    for move, (cost, counts, decided) in zip(
        moves, asked(path, MOVE % json.dumps(moves)), strict=True
    ):
        at = (capacities[move["capacity"]], move["limited"]) if move["on"] else ()
        point = case.operating_point([FACTORS[place] for place in move["places"]], *at)
        assert amount(cost) == pytest.approx(point.cost, abs=0.00501)
        assert [amount(count) for count in counts] == pytest.approx(point.counts, abs=0.051)
        assert decided == point.decided.tolist()


def test_the_page_is_drawn_without_complaint_and_answers(full):
    found = asked(
        full,
        """
        const ground = () => getComputedStyle(document.body).backgroundColor;
        const traces = ".trace, .bars, .hm, .heatmaplayer image", seen = {};
        seen.drawn = all(".plot").map((plot) => plot.querySelectorAll(traces).length);
        seen.grounds = [ground()];
        for (const _ of [0, 1]) { field("theme").click(); seen.grounds.push(ground()); }
        const costs = [text("live-cost")];
        await act(() => set("factor-0", costboost.model.factors.indexOf(1) + 1));
        seen.words = [text("factor-0-shown"), field("factor-0").getAttribute("aria-valuetext")];
        for (const change of [() => set("factor-0", 0), () => field("reset").click()]) {
          await act(change);
          costs.push(text("live-cost"));
        }
        const head = () => all(".tall thead th")[5];
        const sorted = () => {
          head().firstElementChild.click();
          const cells = all(".tall tbody tr").map((row) => Number(row.cells[5].dataset.value));
          return [head().getAttribute("aria-sort"), cells];
        };
        const asked = performance.getEntriesByType("resource").map((one) => one.name);
        const tables = [sorted(), sorted()], change = text("live-change");
        return { ...seen, costs, said, asked, change, tables };
        """,
    )
    assert len(found["drawn"]) >= 8 and min(found["drawn"]) > 0
    assert found["said"] == found["asked"] == []  # nothing from the network
    light, dark, again = found["grounds"]
    assert light == again != dark
    shown, spoken = found["words"]
    assert "× 1.1" in shown and spoken.startswith("1.1 times the stated cost")
    stated, moved, back = found["costs"]
    assert stated == back != moved
    assert found["change"] == "As at the stated costs."
    for (order, cells), wanted in zip(found["tables"], ("descending", "ascending"), strict=True):
        assert order == wanted and cells == sorted(cells, reverse=wanted == "descending")


def test_nothing_sticks_out_on_a_phone(full):
    code = "return all('html, .plot svg').map((one) => Math.max(one.clientWidth, one.scrollWidth))"
    assert max(asked(full, code, 360)) <= 360


# A reader who prefers dark pages, as matchMedia tells it.
DARK = """const native = matchMedia.bind(window), dark = { matches: true, addEventListener() {} };
window.matchMedia = (query) => query.includes("dark") ? dark : native(query);"""


def test_a_dark_page_prints_light_on_one_sheet_for_the_manager(full):
    dark, paper, bottom, controls = asked(
        full,
        """
        const ground = () => getComputedStyle(document.body).backgroundColor, dark = ground();
        for (const rule of [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])) {
          if (rule.media && rule.media.mediaText === "print") rule.media.mediaText = "all";
        }
        await act(() => dispatchEvent(new Event("afterprint")));
        const place = field("headline").getBoundingClientRect();
        return [dark, ground(), place.bottom, getComputedStyle(field("controls")).display];
        """,
        688,  # A4 less its margins
        DARK,
    )
    assert (paper, controls) == ("rgb(255, 255, 255)", "none")
    assert sum(map(int, dark[4:-1].split(","))) < 150
    assert bottom < 1016
