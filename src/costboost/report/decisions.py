"""How good are the decisions? Threshold, capacity and calibration."""

from __future__ import annotations

from typing import Any

import numpy as np

from costboost._typing import Floats
from costboost._words import count, money, number
from costboost.decisions import capacity_curve
from costboost.decisions.arrays import cheapest_other
from costboost.report import charts
from costboost.report.case import Case, ReportData, sums
from costboost.report.charts import Figure, Section

BINS = 10
# Largest number of points of a drawn curve.
POINTS = 300
Z = 1.959964


def decisions_section(report: ReportData) -> Section:
    """All curves about the decisions."""
    case = report.case
    limits = sorted(report.capacities, key=lambda found: -found["wanted"])[:2]
    charts = [
        _threshold_chart(case, report.thresholds),
        *(_capacity_chart(case, found) for found in limits if found["wanted"] > 0),
        _calibration_chart(report.calibration),
    ]
    return Section("decisions", "Decisions", "How good are the decisions?", charts)


def _risky(case: Case) -> str:
    return " or ".join(case.classes[j] for j in case.risky)


# -- threshold ----------------------------------------------------------------------------------


def thresholds(case: Case) -> dict[str, Any] | None:
    """Total cost if rows whose risk is at least a threshold are acted on; None without a risk."""
    if case.idle is None or not len(case.risky):
        return None
    # Rounded, so that the threshold that the page shows costs what it says.
    marks = np.unique([0.0, np.inf, *(float(f"{p:.4g}") for p in np.unique(case.risk))])
    order = np.argsort(case.risk, kind="stable")
    place = np.searchsorted(case.risk[order], marks)  # rows below each threshold
    act, _ = cheapest_other(case.expected(), case.idle)
    below, above = (np.append(0.0, case.spent(e)[order].cumsum()) for e in (case.idle, act))
    costs = below[place] + above[-1] - above[place]
    lowest = int(costs.argmin())
    return {
        "thresholds": marks,
        "costs": costs,
        "best": (float(marks[lowest]), float(costs[lowest])),
    }


def _threshold_chart(case: Case, curve: dict[str, Any] | None) -> Figure | None:
    if curve is None:
        return None
    # The last mark is infinite: never to act.
    marks, costs = (_thinned(curve[key][:-1]) for key in ("thresholds", "costs"))
    idle, risky = case.decisions[case.idle or 0], _risky(case)
    best, lowest = curve["best"]
    rule = f"a threshold of {number(best)}" if np.isfinite(best) else f"always {idle}"
    each = np.full(len(marks), case.spent(case.decided).sum())
    return Figure(
        "threshold",
        "Total cost by threshold",
        f"Decide otherwise than {idle} where the probability of {risky} is at least the threshold. "
        f"The dashed line is what the model's decisions cost. In hindsight, {rule} would have "
        f"been best for these rows ({money(lowest, case.unit)}); on new rows it need not be.",
        [
            charts.line("One threshold for all rows", marks, costs, "@accent"),
            charts.line("The model", marks, each, "@ink", "dash"),
        ],
        {
            # From 1 in 10,000 on: of rare classes the lower thresholds matter.
            "xaxis": charts.axis("Threshold", type="log", range=[-4, 0], dtick=1, tickformat="~g"),
            "yaxis": charts.axis("Total cost", case.unit),
        },
        wide=True,
    )


# -- capacity -----------------------------------------------------------------------------------


def capacities(case: Case) -> list[dict[str, Any]]:
    """Total cost if one decision can be taken on a limited number of rows, at the stated costs."""
    expected, found = case.expected(), []
    for code in (e for e in range(case.d) if e != case.idle):
        curve = capacity_curve(expected, code, prices=case.prices, sample_weight=case.weights)
        thinned = {name: _thinned(values) for name, values in curve.items()}
        found.append({"decision": code, **thinned, "wanted": float(curve["capacity"][-1])})
    return found


def _thinned(values: Floats) -> Floats:
    """At most `POINTS` of the values, from the first to the last."""
    last = len(values) - 1
    return values[np.linspace(0, last, min(last + 1, POINTS)).round().astype(np.intp)]


def _capacity_chart(case: Case, curve: dict[str, Any]) -> Figure:
    name, unit = case.decisions[curve["decision"]], case.unit
    x = curve["capacity"]
    return Figure(
        f"capacity-{curve['decision']}",
        f"If only a limited number of rows can get “{name}”",
        f"Above: total cost by how many rows may get “{name}”, the most profitable first. Below: "
        "what one more would save. Pay for more capacity while it costs less than that. Without "
        f"a limit {count(curve['wanted'])} rows get it.",
        [
            charts.line("Cost on these rows", x, curve["cost"], "@accent"),
            charts.line("Cost the model expected", x, curve["expected_cost"], "@grey", "dash"),
            charts.line("Price of one more", x, curve["price"], "@amber", yaxis="y2"),
        ],
        {
            "xaxis": charts.axis(f"Most rows that may get “{name}”", anchor="y2"),
            "yaxis": charts.axis("Total cost", unit, domain=[0.46, 1]),
            "yaxis2": charts.axis("One more saves", unit, domain=[0, 0.34]),
            "height": 460,
        },
    )


# -- calibration --------------------------------------------------------------------------------


def calibration(case: Case) -> dict[str, Any]:
    """Predicted and observed share of the classes that call for action, else of right guesses."""
    if len(case.risky):
        name, p, hit = _risky(case), case.risk, np.isin(case.codes, case.risky)
    else:
        likeliest = case.proba.argmax(axis=1)
        name, p, hit = "the most likely class", case.proba.max(axis=1), likeliest == case.codes
    w = case.weights
    edges = np.unique(np.quantile(p, np.linspace(0, 1, BINS + 1)[1:-1]))
    place = np.searchsorted(edges, p, side="right")
    rows, squares, mass, hits = (
        sums(place, values, len(edges) + 1) for values in (w, w**2, w * p, w * hit)
    )
    used = rows > 0
    observed = hits[used] / rows[used]
    low, high = wilson(observed, rows[used] ** 2 / squares[used])
    return {
        "name": name,
        "predicted": mass[used] / rows[used],
        "observed": observed,
        "low": low,
        "high": high,
        "rows": rows[used],
    }


def wilson(share: Floats, n: Floats) -> tuple[Floats, Floats]:
    """95 % interval of a share observed on n rows."""
    middle = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * np.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def _calibration_chart(found: dict[str, Any]) -> Figure:
    name, predicted, observed, low, high, rows = found.values()
    return Figure(
        "calibration",
        "Do the probabilities mean what they say?",
        f"The probability of {name}. Points on the dotted line: of rows given 30 %, 30 % "
        "turn out to be so. The bars are 95\u00a0% intervals; a point above the line was "
        "underestimated.",
        [
            charts.line("Perfect", [0, 1], [0, 1], "@grey", "dot"),
            charts.line(
                "The model",
                predicted,
                observed,
                "@accent",
                mode="lines+markers",
                error_y=charts.whiskers(observed, low, high),
            ),
        ],
        {
            "xaxis": charts.axis("Predicted probability", range=[-0.02, 1.02]),
            "yaxis": charts.axis("Observed share", range=[-0.02, 1.02]),
        },
        charts.table(
            "Predicted and observed frequency by bin",
            ("Predicted", charts.cells(predicted)),
            ("Observed", charts.cells(observed)),
            ("95\u00a0%, from", charts.cells(low)),
            ("to", charts.cells(high)),
            ("Rows", charts.cells(rows, count)),
        ),
    )
