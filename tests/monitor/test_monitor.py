"""Unchanged rows alarm at the stated rate; changes are found, each by the check made for it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import binom

from costboost import LpCSBClassifier
from costboost.metrics import total_cost
from costboost.monitor import Monitor, _mean, snapshot, snapshot_of
from data import row_costs, rows


def taken(
    rng, n, labels=True, *, shift=0.0, rate=0.0, amounts=1.0, sharper=1.0, italy=0.1, gaps=0.1
):
    """Rows of which the model knows the true probabilities, unless something has changed.

    `shift` moves a feature, `rate` makes frauds more frequent than the model thinks, `sharper`
    makes the truth more extreme, `amounts` makes payments larger.
    """
    columns = {
        "x": rng.normal(shift, 1, n),
        "amount": rng.lognormal(3, 0.7, n) * amounts,
        "country": rng.choice(["de", "fr", "it"], n, p=(0.7 - italy, 0.3, italy)),
        "few": rng.integers(0, 3, n),
        "gaps": np.where(rng.random(n) < gaps, np.nan, rng.normal(size=n)),
    }
    believed = expit(-2 + columns["x"])
    truth = (rng.random(n) < expit(-2 * sharper + sharper * columns["x"] + rate)).astype(int)
    matrix = np.zeros((n, 2, 3))
    matrix[:, 1, 0], matrix[:, :, 1], matrix[:, 0, 2] = columns["amount"], 2.0, 8.0
    p, actions = np.stack([1 - believed, believed], axis=1), ["accept", "review", "block"]
    return snapshot(pd.DataFrame(columns), p, matrix, truth if labels else None, decisions=actions)


@pytest.fixture(scope="module")
def monitor():
    return Monitor(taken(np.random.default_rng(0), 4000), false_alarm_rate=0.01)


@pytest.mark.parametrize("labels", [False, True])
def test_unchanged_rows_alarm_at_the_nominal_rate(labels):
    """Holm keeps any alarm at or below the rate; at 20 % it should not stay far below either."""
    rng, alarms = np.random.default_rng(1), 0
    for _ in range(80):
        monitor = Monitor(taken(rng, 600, labels), false_alarm_rate=0.2)
        alarms += bool(monitor.check(taken(rng, 400, labels)).alarms)
    assert binom.ppf(0.001, 80, 0.1) <= alarms <= binom.ppf(0.999, 80, 0.2)


CHANGES = {
    "x": {"shift": 0.3},
    "amount": {"amounts": 1.3},
    "country": {"italy": 0.2},
    "gaps": {"gaps": 0.4},
    "expected cost": {"amounts": 1.6},
    "decision rates": {"shift": 0.6},
    "calibration of 1": {"rate": 0.7},
    "confidence of 1": {"sharper": 2.0},
    "realised less expected cost": {"rate": 1.0},
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_injected_change_is_found(name, monitor):
    report = monitor.check(taken(np.random.default_rng(2), 3000, **CHANGES[name]))
    assert name in [check.name for check in report.alarms]
    assert name in str(report)
    shares = {"country": "it", "decision rates": "accept"}
    found = next(check for check in report.checks if check.name == name)
    assert found.what == (f"{name} (share of {shares[name]})" if name in shares else name)


def test_the_interval_holds_the_realised_cost():
    """It is for these very rows, over their unknown truth."""
    rng, inside = np.random.default_rng(5), 0
    monitor = Monitor(taken(rng, 500))
    for _ in range(100):
        report = monitor.check(taken(rng, 500), confidence=0.9)
        assert report.low < report.expected_cost < report.high
        inside += report.low <= report.realised_cost <= report.high
    assert 82 <= inside <= 97


def test_words_frame_and_json(monitor):
    new = taken(np.random.default_rng(6), 500)
    report = monitor.check(new)
    names = ["expected cost", "decision rates", "x", "amount", "country", "few", "gaps"]
    names += ["calibration of 1", "confidence of 1", "realised less expected cost"]
    assert report.to_frame()["name"].tolist() == names
    assert json.loads(json.dumps(report.to_dict()))["n"] == 500
    assert "no alarm in 10 checks" in str(report)
    gap, p = (new.truth == 1) - new.proba[:, 1], new.proba[:, 1]
    wanted = [gap.mean(), (gap * (p - 0.5)).mean(), (new.paid - new.expected).mean()]
    assert [check.new for check in report.checks[-3:]] == pytest.approx(wanted)
    bare = Monitor(taken(np.random.default_rng(7), 500, labels=False)).check(new)
    assert bare.to_frame()["name"].tolist() == names[:-3]  # nothing to compare labels with
    assert bare.realised_cost == pytest.approx(new.paid.mean())


def test_a_snapshot_has_the_decisions_of_the_model_and_no_dates():
    X, y = rows(n=200)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(when=pd.date_range("2026", periods=200))
    model = LpCSBClassifier({"fn": 5, "fp": 1}, n_estimators=5, random_state=0).fit(X, y)
    found = snapshot_of(model, X, y)
    assert found.decisions[found.codes].tolist() == model.predict(X).tolist()
    assert list(snapshot(frame, found.proba, 1 - np.eye(2)).features) == list("abcd")
    for costs in ({"cost_matrix": {"fn": 20, "fp": 1}}, {"costs": row_costs(200)}):
        told = snapshot_of(model, X, y, **costs)
        decided = told.decisions[told.codes]
        assert told.paid.sum() == pytest.approx(total_cost(y, decided, **costs))
        assert (decided != model.predict(X)).any()


def test_means_of_skewed_costs_against_permutations():
    """Where few rows cost much, Welch's test would raise five times too many false alarms."""
    rng = np.random.default_rng(0)
    old, new = rng.exponential(1.0, 60) ** 2, rng.exponential(1.5, 25) ** 2
    both = np.concatenate([old, new])
    drawn = np.array([rng.permutation(both)[:25].mean() for _ in range(20_000)])
    plain = 2 * min((drawn >= new.mean()).mean(), (drawn <= new.mean()).mean())
    assert _mean("", "", old, new).p_value == pytest.approx(plain, rel=0.1, abs=0.003)
    old, new = ((rng.random((1000, n)) < 0.03) * rng.lognormal(3, 0.7, n) for n in (2000, 300))
    false = sum(_mean("", "", *pair).p_value < 0.02 for pair in zip(old, new, strict=True))
    assert false <= binom.ppf(0.999, 1000, 0.02)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.ones((50, 3))}, "must have the features of the reference"),
        ({"classes": ["a", "b"]}, "must have the classes of the reference"),
        ({"decisions": ["a", "b"]}, "must have the decisions of the reference"),
        ({"truth": [1]}, "'truth' parameter of snapshot must have one element per row"),
        ({"truth": np.full(50, 7)}, "only the classes .*got .7"),
        ({"X": np.ones((49, 2))}, "must have one element per row"),
        ({"X": np.ones(50)}, "Expected 2D array"),
        ({"X": np.ones((1, 2)), "proba": np.ones((1, 2)) / 2}, "at least two rows"),
        ({"monitor": {"false_alarm_rate": 5}}, "'false_alarm_rate' parameter of Monitor"),
        ({"check": {"confidence": 95}}, r"'confidence' parameter of Monitor\.check"),
    ],
)
def test_other_rows_are_refused(change, message):
    of_monitor, of_check = (change.pop(key, {}) for key in ("monitor", "check"))
    given = {"X": np.ones((50, 2)), "proba": np.full((50, 2), 0.5), "matrix": 1 - np.eye(2)}
    with pytest.raises(ValueError, match=message):
        Monitor(snapshot(**given), **of_monitor).check(snapshot(**given | change), **of_check)
