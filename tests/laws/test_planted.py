"""The laws can fail: each bug that is planted is found by its law, and only where it is planted."""

from __future__ import annotations

import contextlib
import math
from functools import partial

import numpy as np
import pytest

import costboost
from costboost.boosting import classifiers
from costboost.costs import RealizedCosts
from costboost.gbm import objective
from costboost.metrics import mean_cost
from laws import LAWS, LawBrokenError, cases, check_laws, metric_laws, plain_cases
from laws.checking import run_law
from laws.planted import BUGS, Sound
from trust.properties import sample
from trust.subjects import subjects

# A bug must be found within so many cases.
WITHIN = 40


@pytest.mark.parametrize("law", LAWS)
def test_a_sound_classifier_obeys(law: str) -> None:
    counts = check_laws(Sound(), [law], n_classes=2, max_examples=15)[law]
    assert counts["answered"] >= 5


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_a_planted_bug_is_found(bug: type) -> None:
    law = LAWS[BUGS[bug]]
    with pytest.raises(LawBrokenError) as found:
        run_law(law.check, bug(), law.cases(2), max_examples=WITHIN, seed=0, shrink=False)
    assert bug.__name__ in str(found.value)
    assert "positional argument" not in str(found.value)  # the bug, not a hook that has moved


def test_every_law_finds_a_bug() -> None:
    assert set(BUGS.values()) == set(LAWS)
    assert len(BUGS) >= 10


# -- bugs in the library itself ------------------------------------------------------------------


def broken(check, subject, strategy, n=150):
    with pytest.raises(LawBrokenError):
        run_law(check, subject, strategy, max_examples=n, seed=0, shrink=False)


def test_shares_that_do_not_sum_to_one_are_found(monkeypatch) -> None:
    monkeypatch.setattr("costboost.boosting.classifiers.shares", lambda scores: 0.3 + 0.0 * scores)
    law = LAWS["answers_soundly"]
    assert classifiers.shares  # the name that is replaced
    broken(law.check, costboost.AdaCostM2Classifier(n_estimators=2), law.cases(3))


# Tiny costs are brought to a common unit before anything is computed.
UNIT_LAWS = ("ignores_unit_of_costs", "ignores_unit_of_weights")


def without_unit_of_costs(monkeypatch) -> None:
    monkeypatch.setattr(RealizedCosts, "in_range", lambda self, used: self)


def test_costs_without_a_common_unit_are_found(monkeypatch) -> None:
    without_unit_of_costs(monkeypatch)
    law = LAWS["ignores_unit_of_costs"]
    broken(law.check, costboost.GradientCSBClassifier(n_estimators=2), law.cases(2), n=WITHIN)


def test_the_sample_of_the_test_suite_finds_a_missing_unit(monkeypatch) -> None:
    """By the very cases that `test_laws_hold` draws; a few of the classes are enough."""
    without_unit_of_costs(monkeypatch)
    found = set()
    for subject in subjects():
        if subject.name.startswith(("AdaC", "CSLogitBoost", "GradientCSB")):
            for law in set(UNIT_LAWS) & set(subject.laws):
                with contextlib.suppress(LawBrokenError):
                    sample(subject, law, shrink=False)
                    continue
                found.add((subject.name, law))
    assert found


# -- metrics and objectives ----------------------------------------------------------------------


def quiet(function):
    """A metric with the package of the real one, for its messages."""
    function.__module__ = "costboost.metrics"
    return function


@quiet
def nan_metric(y_true, y_pred, **options):
    return math.nan


@quiet
def raw_metric(y_true, y_pred, **options):
    return 1.0 / (len(set(np.asarray(y_true).tolist())) - 2)


@quiet
def leaky_metric(y_true, y_pred, **options):
    return mean_cost(y_true, y_pred, **options) + 1.0


@quiet
def ordered_metric(y_true, y_pred, **options):
    return mean_cost(y_true, y_pred, **options) + float(np.asarray(y_true)[0])


@quiet
def unweighted_metric(y_true, y_pred, **options):
    return mean_cost(y_true, y_pred, **options | {"sample_weight": None})


@quiet
def counting_metric(y_true, y_pred, **options):
    weight = options.get("sample_weight")
    return mean_cost(y_true, y_pred, **options) + (0.0 if weight is None else float(weight.sum()))


@pytest.mark.parametrize(
    ("law", "metric", "strategy"),
    [
        ("measures_or_refuses", nan_metric, cases()),
        ("measures_or_refuses", raw_metric, cases()),
        ("scales_with_costs", leaky_metric, plain_cases()),
        ("measures_rows_in_any_order", ordered_metric, plain_cases()),
        ("measures_weights_as_rows", unweighted_metric, plain_cases()),
        ("measures_ratios_of_weights", counting_metric, plain_cases()),
    ],
)
def test_a_planted_bug_in_a_metric_is_found(law, metric, strategy) -> None:
    broken(getattr(metric_laws, law), metric, strategy, n=WITHIN)


class FlatObjective:
    """Hessians of 0, or derivatives of the row before."""

    def __init__(self, bug, **costs):
        self.bug, self.inner = bug, objective("mc", **costs)

    def derivatives(self, labels, scores, weights):
        G, H = self.inner.derivatives(labels, scores, weights)
        if self.bug == "flat":
            H[:] = 0.0
        elif self.bug == "missing":
            G[-1] = np.nan
        else:
            G = np.cumsum(G, axis=0)
        return G, H


@pytest.mark.parametrize("bug", ["flat", "missing", "cumulated"])
def test_a_planted_bug_in_an_objective_is_found(bug) -> None:
    made = partial(FlatObjective, bug)
    made.__name__, made.__module__, made.is_binary = bug, "costboost.gbm", False
    broken(metric_laws.has_finite_derivatives, made, cases(3), n=WITHIN)
