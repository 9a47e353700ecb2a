"""Tables as people have them: ids, dates, missing text, Arrow, polars; work, or a clear error."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import polars as pl
import pytest
from lightgbm import LGBMClassifier

from costboost import (
    AdaC2Classifier,
    ColumnWarning,
    CostBoostClassifier,
    LpCSBClassifier,
    MinCostClassifier,
)

pytestmark = pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")

N = 240
COSTS = {"fn": 3, "fp": 1, "positive": "bad"}
MODELS = {
    "CostBoost": lambda: CostBoostClassifier(
        COSTS, n_estimators=8, ensemble=2, n_jobs=1, random_state=0, learning_rate=0.3
    ),
    "AdaC2": lambda: AdaC2Classifier(COSTS, n_estimators=5),
    "LpCSB": lambda: LpCSBClassifier(COSTS, n_estimators=5, random_state=0),
    "MinCost": lambda: MinCostClassifier(cost_matrix=COSTS, n_jobs=1),
}
BACKENDS = ("numpy", "numpy_nullable", "pyarrow", "polars")


def scores(model, X):
    """The scores; of MinCost, which has none, the probabilities."""
    if isinstance(model, MinCostClassifier):
        return model.predict_proba(X)[:, 1]
    return model.decision_function(X)


def cells():
    """The columns as lists, None where a value is missing, and the labels."""
    rng = np.random.default_rng(0)
    amount, size = rng.lognormal(size=N).round(2), rng.integers(0, 9, N)
    country = rng.choice(["de", "fr", "it"], N)
    score = 2.0 * (country == "fr") + 0.3 * size + 0.5 * rng.normal(size=N)
    columns = {
        "id": [f"r{i:05d}" for i in range(N)],
        "day": [f"2024-01-{i % 28 + 1:02d}" for i in range(N)],
        "country": [None if i % 11 == 0 else one for i, one in enumerate(country.tolist())],
        "amount": [None if i % 13 == 0 else one for i, one in enumerate(amount.tolist())],
        "size": [None if i % 17 == 0 else one for i, one in enumerate(size.tolist())],
    }
    return columns, np.where(score > np.median(score), "bad", "good")


def read(columns, backend, names=None):
    """The columns through a CSV file, as that library reads it."""
    table = pd.DataFrame(columns)[list(columns) if names is None else names]
    text = table.to_csv(index=False)
    if backend == "polars":
        return pl.read_csv(io.BytesIO(text.encode()))
    extra = {} if backend == "numpy" else {"dtype_backend": backend}
    return pd.read_csv(io.StringIO(text), **extra)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", MODELS)
def test_ids_are_left_out_with_a_warning_and_dates_are_used(name, backend):
    columns, y = cells()
    model, frame = MODELS[name](), read(columns, backend)
    with pytest.warns(ColumnWarning, match=r"'id' \(an id: 240 different texts on 240 rows\)"):
        model.fit(frame, y)
    # Whatever stands there, the answer is the same; it may also be missing.
    expected = model.predict(frame)
    other = read({**columns, "id": ["x"] * N}, backend)
    np.testing.assert_array_equal(model.predict(other), expected)
    np.testing.assert_array_equal(model.predict(frame[list(columns)[1:]]), expected)
    assert model.columns_["day"].parts == ("weekday",)
    assert model.columns_.inputs == ["day_weekday", "country", "amount", "size"]
    assert model.feature_importances_.shape == (5,)
    assert model.feature_importances_[0] == 0.0
    assert model.feature_names_in_.tolist() == list(columns)
    silent = MODELS[name]().set_params(columns={"id": "ignore"}).fit(frame, y)
    np.testing.assert_array_equal(silent.predict(frame), expected)
    # Missing text and numbers are missing, however a library writes them; so is unseen text.
    usual = MODELS[name]().set_params(columns={"id": "ignore"}).fit(read(columns, "numpy"), y)
    np.testing.assert_array_equal(scores(silent, frame), scores(usual, read(columns, "numpy")))
    new = pd.DataFrame({**columns, "country": (["xx", None, np.nan, pd.NA] * N)[:N]})
    gone = scores(usual, new.assign(country=None))
    np.testing.assert_array_equal(scores(usual, new), gone)
    # A categorical type is no id; a ColumnWarning would be an error here.
    typed = pd.DataFrame(columns)[["id", "size"]].astype({"id": "category"})
    assert MODELS[name]().fit(typed, y).columns_["id"].is_used


@pytest.mark.parametrize("backend", BACKENDS[:3])  # given text by polars, it ends the process
def test_min_cost_names_text_that_its_estimator_cannot_take(backend):
    """The default estimator takes text; one of the user has the rows as they are."""
    columns, y = cells()
    model = MODELS["MinCost"]().set_params(estimator=LGBMClassifier(n_jobs=1, verbosity=-1))
    words = "(?s)bad pandas dtypes: country: "
    with pytest.raises(ValueError, match=words):
        model.fit(read(columns, backend, ["country", "size"]), y)


@pytest.mark.parametrize("name", MODELS)
def test_labels_of_every_library_and_missing_ones(name):
    columns, y = cells()
    X = pd.DataFrame(columns)[["amount", "size"]].astype(float)
    expected = MODELS[name]().fit(X, y).predict(X).tolist()
    forms = [pd.Series(y, dtype=kind) for kind in ("string", "string[pyarrow]", "category")]
    for form in [*forms, pl.Series(y.tolist()), y.tolist()]:
        assert MODELS[name]().fit(X, form).predict(X).tolist() == expected
    forms = [pl.Series([None, *y[1:].tolist()])]
    for missing in (np.nan, None, pd.NA):
        labels = [*y[:3].tolist(), missing, *y[4:].tolist()]
        forms += [labels, np.array(labels, dtype=object)]
        forms += [pd.Series(labels, dtype=kind) for kind in (object, "string", "category")]
    for form in forms:
        with pytest.raises(ValueError, match=r"(?i)missing.*row (3|0)|y contains NaN"):
            MODELS[name]().fit(X, form)


@pytest.mark.parametrize("name", MODELS)
def test_containers_after_a_frame(name):
    columns, y = cells()
    numbers = pd.DataFrame(columns)[["amount", "size"]].astype(float)
    model = MODELS[name]().fit(numbers, y)
    with pytest.warns(UserWarning, match="feature names"):
        listed = model.predict(numbers.to_numpy().tolist())
    np.testing.assert_array_equal(listed, model.predict(numbers))
    for form, what in (("list", "dict"), ("records", "a list of dicts")):
        words = rf"X of {name}Classifier must be .* got {what}\. Pass pandas\.DataFrame\(X\)\."
        for ask in (model.predict, lambda X: MODELS[name]().fit(X, y)):
            with pytest.raises(TypeError, match=words):
                ask(numbers.to_dict(form))
    texts = pd.DataFrame(columns)[["country", "size"]]
    with pytest.raises(ValueError, match=r"must be a data frame, as in fit.*\['country', 'size'\]"):
        MODELS[name]().fit(texts, y).predict(texts.to_numpy().tolist())
