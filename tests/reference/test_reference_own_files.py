"""References in files of their own: by hand, on the five rows of `votes.Worked`."""

from __future__ import annotations

import math

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from reference import PERFECT, joshi2001, normalised, own_files, share, so2021
from reference.votes import Worked


def stump():
    return DecisionTreeClassifier(max_depth=1, random_state=0)


def test_files_are_found_by_name():
    found = own_files()
    assert found["RareBoost"] is joshi2001
    assert found["SAMMEC2"] is so2021
    assert {module.FAMILY for module in found.values()} <= {"votes", "classes"}


def test_a_pair_votes_by_sign():
    np.testing.assert_array_equal(share((0.5, 2.0), [1, -1]), [2.0, -0.5])
    np.testing.assert_array_equal(share(3.0, [1, -1]), [3.0, -3.0])


def test_rareboost_agrees_with_the_hand():
    # D = c: A. It calls rows 2 to 5 positive, TP = 6, FP = 1; row 1 is called negative, rightly.
    # Row 1 all but vanishes; TP shrink by sqrt 6, FP grow by it: 0 2 6 2 2, and B comes: TN = 6,
    # FN = 2, its positives without a mistake.
    trace = joshi2001.run(Worked.X, Worked.y, Worked.c, rounds=2, make_learner=stump)
    np.testing.assert_array_equal(trace.h, [Worked.outputs["A"], Worked.outputs["B"]])
    expected = [(PERFECT, 0.5 * math.log(6)), (0.5 * math.log(3), PERFECT)]
    np.testing.assert_allclose(trace.alphas, expected, atol=1e-7)
    np.testing.assert_allclose(trace.D[0], normalised([1, 2, 1, 2, 2]), atol=1e-12)
    np.testing.assert_allclose(trace.D[1], normalised([0, 2, 6, 2, 2]), atol=1e-7)
    a, b = 0.5 * math.log(6), 0.5 * math.log(3)
    F = [-PERFECT - b, a - b, a - b, a + PERFECT, a + PERFECT]
    np.testing.assert_allclose(trace.F[-1], F, atol=1e-7)


def test_rareboost_ends_where_a_side_is_mostly_wrong():
    class Wrong:
        def fit(self, X, y, sample_weight):
            return self

        def predict(self, X):
            return np.array([1, 1, 1, -1, -1])  # TP = 2 of 4, TN = 0 of 4

    trace = joshi2001.run(Worked.X, Worked.y, Worked.c, rounds=2, make_learner=Wrong)
    assert trace.stopped == "useless"
    assert trace.alphas == []


def test_samme_c2_agrees_with_the_hand():
    # Equal weights: B, eps = 1/5, alpha = ln 4 (k = 2). Right rows shrink four times, and all by
    # their cost (1/2 or 1): 1 8 1 2 2. Then A, eps = 1/14.
    y = (Worked.y > 0).astype(int)
    trace = so2021.run(Worked.X, y, Worked.c, 2, rounds=2, make_learner=stump)
    np.testing.assert_allclose(trace.alphas, [math.log(4), math.log(13)], atol=1e-12)
    np.testing.assert_allclose(trace.D[1], normalised([1, 8, 1, 2, 2]), atol=1e-12)
    np.testing.assert_array_equal(trace.F[-1].argmax(axis=1), [0, 1, 1, 1, 1])


def test_chance_has_no_vote_among_three():
    X, y = np.zeros((6, 1)), np.array([0, 0, 1, 1, 2, 2])
    trace = so2021.run(X, y, np.ones(6), 3, rounds=2, make_learner=stump)
    assert trace.stopped == "useless"  # eps = 2/3: ln(1/2) + ln 2 = 0
