"""`check_cost_sensitive`: every public classifier passes, and planted bugs are found."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB

import costboost
from costboost import AdaC2Classifier, MinCostClassifier
from laws.cost_sensitive import check_cost_sensitive
from trust.subjects import is_excepted

CLASSIFIERS = [
    name
    for name in costboost.__all__
    if name.endswith("Classifier") and "cost_matrix" in getattr(costboost, name)().get_params()
]
# The laws that classes of the library may not obey, as laws of drawn cases.
DRAWN = {
    "unit": "ignores_unit_of_costs",
    "labels": "ignores_order_of_classes",
    "weights": "counts_weights_as_rows",
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_passes(name):
    estimator = getattr(costboost, name)()
    small = {"n_estimators": 3, "effort": "fast"}
    known = estimator.get_params()
    estimator.set_params(**{key: value for key, value in small.items() if key in known})
    skip = [law for law, drawn in DRAWN.items() if is_excepted(f"{name}()", drawn)]
    checked = check_cost_sensitive(estimator, skip=skip)
    assert len(checked) == 8 - len(skip)
    assert not hasattr(estimator, "classes_")


class Planted(AdaC2Classifier):
    def __init__(self, cost_matrix=None, n_estimators=3, random_state=None):
        super().__init__(
            cost_matrix, n_estimators=n_estimators, estimator="line", random_state=random_state
        )


class Unpriced(Planted):
    def fit(self, X, y, sample_weight=None, *, costs=None):
        super().fit(X, y, sample_weight, costs=costs)
        self.rare_ = np.asarray(self.cost_matrix_).max() > 20
        return self

    def predict(self, X, costs=None):
        return np.zeros(len(X), int) if self.rare_ else super().predict(X)


class Unweighted(Planted):
    def fit(self, X, y, sample_weight=None, *, costs=None):
        return super().fit(X, y, costs=costs)


class Sorted(Planted):
    def predict(self, X, costs=None):
        decided = super().predict(X)
        return decided if self.classes_[0] == 0 else np.where(decided == "b", "c", "b")


class Texts(Planted):
    def predict(self, X, costs=None):
        return super().predict(X).astype(str)


class Timid(Planted):
    def predict(self, X, costs=None):
        return 1 - super().predict(X)


class Lenient(Planted):
    def fit(self, X, y, sample_weight=None, *, costs=None):
        if isinstance(self.cost_matrix, str):
            self.cost_matrix = None
        return super().fit(X, y, sample_weight, costs=costs)


class Fragile(Planted):
    def fit(self, X, y, sample_weight=None, *, costs=None):
        if hasattr(self, "classes_"):
            del self.classes_
        return super().fit(X, y, sample_weight, costs=costs)


LAWS = check_cost_sensitive(Planted())
BUGS = {
    "unit": Unpriced,
    "weights": Unweighted,
    "labels": Sorted,
    "decisions": Texts,
    "costly": Timid,
    "errors": Lenient,
    "atomic": Fragile,
}


@pytest.mark.parametrize("law", BUGS)
def test_a_planted_bug_is_found(law):
    others = set(LAWS) - {law}
    assert check_cost_sensitive(Planted(), skip=others) == [law]
    with pytest.raises(AssertionError, match=f"{BUGS[law].__name__} breaks the law '{law}': "):
        check_cost_sensitive(BUGS[law](), skip=others)


def test_forms():
    class Transposed(MinCostClassifier):
        def fit(self, X, y, sample_weight=None, *, costs=None):
            if isinstance(self.cost_matrix, np.ndarray):
                self.cost_matrix = self.cost_matrix.T
            return super().fit(X, y, sample_weight, costs=costs)

    with pytest.raises(AssertionError, match=r"the law 'forms': .* a matrix and a mapping"):
        check_cost_sensitive(Transposed(GaussianNB()), skip=["weights"])


def test_what_cannot_be_checked():
    with pytest.raises(AssertionError, match="no parameter 'cost_matrix'"):
        check_cost_sensitive(LogisticRegression())
    with pytest.raises(AssertionError, match="no classifier"):
        check_cost_sensitive(LinearRegression())
    with pytest.raises(ValueError, match=r"'skip' parameter .* got \['weight'\]"):
        check_cost_sensitive(Planted(), skip=["weight"])
