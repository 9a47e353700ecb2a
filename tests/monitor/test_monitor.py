"""What new rows cost: expected, in an interval, and paid."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import expit

from costboost import LpCSBClassifier
from costboost.metrics import total_cost
from costboost.monitor import Monitor, snapshot, snapshot_of
from data import row_costs, rows


def taken(rng, n, labels=True):
    """Rows of which the model knows the true probabilities."""
    believed = expit(-2 + rng.normal(size=n))
    truth = (rng.random(n) < believed).astype(int)
    matrix = np.zeros((n, 2, 3))
    matrix[:, 1, 0], matrix[:, :, 1], matrix[:, 0, 2] = rng.lognormal(3, 0.7, n), 2.0, 8.0
    p, actions = np.stack([1 - believed, believed], axis=1), ["accept", "review", "block"]
    return snapshot(p, matrix, truth if labels else None, decisions=actions)


def test_the_interval_holds_the_realised_cost():
    """It is for these very rows, over their unknown truth."""
    rng, inside = np.random.default_rng(5), 0
    monitor = Monitor(taken(rng, 500))
    for _ in range(100):
        report = monitor.check(taken(rng, 500), confidence=0.9)
        assert report.low < report.expected_cost < report.high
        inside += report.low <= report.realised_cost <= report.high
    assert 82 <= inside <= 97


def test_words_and_json():
    rng = np.random.default_rng(6)
    reference, new = taken(rng, 4000), taken(rng, 500)
    report = Monitor(reference).check(new)
    assert json.loads(json.dumps(report.to_dict()))["n"] == 500
    assert report.expected_cost == pytest.approx(new.expected.mean())
    assert report.realised_cost == pytest.approx(new.paid.mean())
    assert report.realised_low < report.realised_cost < report.realised_high
    assert report.reference_cost == pytest.approx(reference.expected.mean())
    assert f"realised {report.realised_cost:.4g}" in str(report)
    bare = Monitor(reference).check(taken(rng, 500, labels=False))
    assert bare.realised_cost is None and "realised" not in str(bare)


def test_a_snapshot_has_the_decisions_of_the_model():
    X, y = rows(n=200)
    model = LpCSBClassifier({"fn": 5, "fp": 1}, n_estimators=5, random_state=0).fit(X, y)
    found = snapshot_of(model, X, y)
    assert found.decisions[found.codes].tolist() == model.predict(X).tolist()
    for costs in ({"cost_matrix": {"fn": 20, "fp": 1}}, {"costs": row_costs(200)}):
        told = snapshot_of(model, X, y, **costs)
        decided = told.decisions[told.codes]
        assert told.paid.sum() == pytest.approx(total_cost(y, decided, **costs))
        assert (decided != model.predict(X)).any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"classes": ["a", "b"]}, "must have the classes of the reference"),
        ({"decisions": ["a", "b"]}, "must have the decisions of the reference"),
        ({"truth": [1]}, "'truth' parameter of snapshot must have one element per row"),
        ({"truth": np.full(50, 7)}, "only the classes .*got .7"),
        ({"proba": np.ones((1, 2)) / 2}, "at least two rows"),
        ({"check": {"confidence": 95}}, r"'confidence' parameter of Monitor\.check"),
    ],
)
def test_other_rows_are_refused(change, message):
    of_check = change.pop("check", {})
    given = {"proba": np.full((50, 2), 0.5), "matrix": 1 - np.eye(2)}
    with pytest.raises(ValueError, match=message):
        Monitor(snapshot(**given)).check(snapshot(**given | change), **of_check)
