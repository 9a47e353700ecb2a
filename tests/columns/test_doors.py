"""Drawn tables through every door: one set of decisions, bit for bit, or the same clear error.

A door takes a fitted classifier, raw rows (texts as a CSV file holds them, or typed values) and a
folder, and returns the decisions. Add a door to `DOORS`.
"""

from __future__ import annotations

import json
import re
import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lightgbm import LGBMClassifier
from starlette.testclient import TestClient
from typer.testing import CliRunner

import costboost
from costboost import (
    AdaC2Classifier,
    ColumnWarning,
    CostBoostClassifier,
    LpCSBClassifier,
    MinCostClassifier,
)
from costboost.cli import app
from costboost.serve import Settings, create_app

pytestmark = pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")
N = 400
DATES = ["%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%d.%m.%Y", "%Y/%m/%d %H:%M"]
PRICES = {"fn": "amount", "fp": 5, "positive": "bad"}
STATIC = {"fn": 3, "fp": 1, "positive": "bad"}
SMALL = {"n_estimators": 12, "n_jobs": 1, "random_state": 0}
MODELS = {
    "CostBoost": partial(CostBoostClassifier, PRICES, cv=2, learning_rate=0.3, **SMALL),
    "fast": partial(CostBoostClassifier, PRICES, effort="fast", **SMALL),
    "AdaC2": partial(AdaC2Classifier, STATIC, n_estimators=8),
    "LpCSB": partial(LpCSBClassifier, STATIC, n_estimators=5, random_state=0),
    "MinCost": partial(MinCostClassifier, cost_matrix=STATIC, n_jobs=1),
}


def drawn(seed):
    """Columns as texts (None: missing) and as typed values, and the labels."""
    rng = np.random.default_rng(seed)
    amount, size = rng.lognormal(3, 1, N).round(2) + 1, rng.integers(0, 50, N)
    country = rng.choice(["de", "fr", "it", "New Zealand"], N)
    flag = rng.random(N) < 0.4
    minutes = rng.integers(0, 900 * 24 * 60, N).astype("timedelta64[m]")
    when, form = pd.Series(np.datetime64("2023-01-01T00:00") + minutes), DATES[seed % len(DATES)]
    score = 1.5 * (country == "fr") + 0.04 * size + flag + 0.5 * (when.dt.hour > 12)
    y = np.where(score + rng.normal(0, 0.4, N) > 2, "bad", "good")
    gap, mark = rng.random(N) < 0.1, ["NA", "", "nan", "null"][seed % 4]
    texts = {
        "row_id": [f"r{i}" for i in range(N)],
        "customer_id": [str(1000 + i) for i in range(N)],
        "amount": [f"{a}" for a in amount],
        "size": [mark if g else f"{s:03d}" for g, s in zip(gap, size, strict=True)],
        "zip": [str(z) for z in rng.integers(10, 20, N)],
        "country": [None if g else f" {c} " for g, c in zip(gap, country, strict=True)],
        "flag": [["true", "True", "TRUE"][seed % 3] if f else "false" for f in flag],
        "when": when.dt.strftime(form).tolist(),
        "nothing": [None] * N,
        "always": ["kg"] * N,
    }
    typed = {
        **texts,
        "customer_id": np.arange(1000, 1000 + N),
        "amount": amount,
        "size": np.where(gap, np.nan, size),
        "zip": np.array(texts["zip"], dtype=int),
        "country": [None if g else c for g, c in zip(gap, country, strict=True)],
        "flag": flag,
        "when": pd.to_datetime(when.dt.strftime(form), format=form),
    }
    return pd.DataFrame(texts, dtype=object), pd.DataFrame(typed), pd.Series(y, name="truth")


def polars_of(frame):
    return pl.DataFrame({name: frame[name].tolist() for name in frame}, strict=False)


def saved(model, frame, folder):
    return costboost.load(model.save(folder / "m.costboost")).predict(frame)


def parquet(model, frame, folder):
    pq.write_table(pa.Table.from_pandas(frame), folder / "rows.parquet")
    batches = pq.ParquetFile(folder / "rows.parquet").iter_batches(70)
    return np.concatenate([model.predict(pa.Table.from_batches([part])) for part in batches])


def turned(frame):
    """The cells by name, with an unknown column and in another order."""
    frame = frame[frame.columns[::-1]].assign(new=range(len(frame))).astype(object)
    return frame.where(frame.notna(), None)


def records(model, frame, folder):
    return model.predict(model.columns_.read(turned(frame).to_dict("list"), "The records"))


def service(model, frame, folder):
    rows = json.loads(turned(frame).to_json(orient="records", date_format="iso"))
    client = TestClient(create_app(model, Settings()))
    answer = client.post("/decide", json={"records": rows})
    if answer.status_code != 200:
        detail = answer.json()["detail"]
        raise ValueError(detail if isinstance(detail, str) else detail[0]["msg"])
    return np.array([row["decision"] for row in answer.json()["rows"]])


def command(model, frame, folder):
    """A CSV file, with an unknown column and in another order, through `costboost predict`."""
    paths = [model.save(folder / "m.costboost"), folder / "rows.csv", folder / "out.csv"]
    frame[frame.columns[::-1]].assign(new=range(len(frame))).to_csv(paths[1], index=False)
    arguments = ["predict", *map(str, paths[:2]), "-o", str(paths[2]), "--force"]
    done = CliRunner().invoke(app, [*arguments, "--batch-rows", "70"])
    if done.exit_code:
        said = " ".join(done.stderr.split())
        # Rows of a file are counted as a spreadsheet does: the header is row 1.
        raise ValueError(re.sub(r"(?<=\(row )\d+", lambda found: str(int(found[0]) - 2), said))
    answer = pd.read_csv(paths[2], sep=None, engine="python", dtype=str)
    assert answer["new"].tolist() == [str(i) for i in range(len(frame))]
    return answer["decision"].to_numpy()


DOORS = {
    "command": command,
    "service": service,
    "with the target": lambda model, frame, folder: model.predict(frame.assign(truth="good")),
    "without what is left out": lambda model, frame, folder: model.predict(
        frame[[column.name for column in model.columns_.used]]
    ),
    **{
        name: lambda model, frame, folder, turned=turned: model.predict(turned(frame))
        for name, turned in {
            "nullable": pd.DataFrame.convert_dtypes,
            "Arrow types": partial(pd.DataFrame.convert_dtypes, dtype_backend="pyarrow"),
            "polars": polars_of,
            "arrow": pa.Table.from_pandas,
        }.items()
    },
    "records": records,
    "saved": saved,
    "parquet": parquet,
}


def fitted(name, frame, y):
    with pytest.warns(ColumnWarning, match=r"'row_id'.*'customer_id'"):
        return MODELS[name](columns={"zip": "category"}).fit(frame, y)


SEEDS = [(name, seed) for name in ("CostBoost", "fast", "AdaC2") for seed in range(5)]


@pytest.mark.parametrize(("name", "seed"), [*SEEDS, ("LpCSB", 0), ("MinCost", 1)])
def test_one_set_of_decisions(name, seed, tmp_path):
    texts, typed, y = drawn(seed)
    model, other = fitted(name, texts, y), fitted(name, typed, y)
    assert [c.is_used for c in model.columns_] == [c.is_used for c in other.columns_]
    assert model.columns_.inputs == other.columns_.inputs
    expected = model.predict(texts)
    assert len(set(expected.tolist())) == 2
    # What is left out has no importance, and need not be told apart.
    assert model.feature_importances_.shape == (10,) and model.feature_importances_[0] == 0.0
    assert model.feature_names_in_.tolist() == list(texts)
    np.testing.assert_array_equal(model.predict(texts.assign(row_id="x")), expected)
    for one, frame in ((model, texts), (model, typed), (other, texts), (other, typed)):
        for door, decide in DOORS.items():
            np.testing.assert_array_equal(decide(one, frame, tmp_path), expected, door)


@pytest.mark.parametrize("name", MODELS)
def test_new_categories_are_missing(name, tmp_path):
    texts, _, y = drawn(1)
    model = fitted(name, texts, y)
    gone, new = texts.assign(country=None), texts.assign(country="Atlantis")
    expected = model.predict(gone)
    for decide in DOORS.values():
        np.testing.assert_array_equal(decide(model, new, tmp_path), expected)
    cells = (["Atlantis", None, np.nan, pd.NA] * N)[:N]
    for mixed in (texts.assign(country=cells), model.columns_.read({**texts, "country": cells})):
        np.testing.assert_array_equal(model.predict(mixed), expected)


def test_the_same_error_at_every_door(tmp_path):
    texts, _, y = drawn(3)
    model = fitted("CostBoost", texts, y)
    for name, (row, value, words) in {
        "size": (7, "many", r"'size' must hold numbers.*'many' \(row 7"),
        "when": (9, "soon", r"'when' must hold dates like .*'soon' \(row 9"),
        "flag": (3, "maybe", r"'flag' must hold true or false.*'maybe' \(row 3"),
        "country": (0, None, "country.*(Is it|nearest names:) 'countries'"),
    }.items():
        bad = texts.copy()
        bad.loc[row, name] = value
        bad = bad if value else texts.rename(columns={"country": "countries"})
        for door, decide in DOORS.items():
            if value or door != "without what is left out":
                with pytest.raises(ValueError, match=f"(?s){words}"):
                    decide(model, bad, tmp_path)
    twice = pd.concat([texts, texts[["size"]]], axis=1)
    for ask, frame, words in (
        (lambda frame: MODELS["CostBoost"]().fit(frame, y), twice, "'size' appears 2 times"),
        (model.predict, twice, "'size' appears 2 times"),
        (model.predict, texts[list(texts)[::-1]], "same order"),
        (model.predict, texts.assign(unknown=1), "unseen at fit time"),
    ):
        with pytest.raises(ValueError, match=words):
            ask(frame)


def test_parquet_arrow_and_memory_learn_the_same(tmp_path):
    texts, typed, y = drawn(2)
    make = partial(MODELS["fast"], columns={"zip": "category"})
    for frame in (texts, typed):
        path, table = tmp_path / "all.parquet", pa.Table.from_pandas(frame)
        pq.write_table(pa.Table.from_pandas(frame.assign(truth=y)), path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole, arrow = make().fit(frame, y), make().fit(table, y)
            model, batches = (make().fit_parquet(path, "truth", batch_rows=n) for n in (None, 90))
        for one in (model, batches, arrow):
            assert list(one.columns_) == list(whole.columns_)
        np.testing.assert_array_equal(arrow.predict(frame), whole.predict(frame))
        np.testing.assert_array_equal(batches.predict(frame), model.predict(frame))
        np.testing.assert_array_equal(arrow.predict_cost(table), whole.predict_cost(frame))
        assert arrow.score(table, y) == whole.score(frame, y)


def test_missing_dates_and_cells_that_are_lists(recwarn):
    _, typed, y = drawn(1)
    model = fitted("AdaC2", typed, y)
    recwarn.clear()
    model.predict(typed.assign(when=typed["when"].where(np.arange(N) % 3 > 0)))
    assert not recwarn.list
    with pytest.raises(ValueError, match=r"'country' must hold texts or numbers.*lists \(row 0"):
        model.predict(typed.assign(country=[["de"]] * N))
    with pytest.warns(ColumnWarning, match=r"'amount' \(the target: it has the name of y\)"):
        AdaC2Classifier().fit(typed[["amount", "size"]], typed["amount"] > 20)
    asked = AdaC2Classifier(columns={"amount": "number"})
    assert asked.fit(typed[["amount", "size"]], typed["amount"] > 20).columns_["amount"].is_used


def test_what_the_user_says_and_what_is_wrong_with_it():
    days, y = [f"{d:02d}/{d:02d}/2025" for d in range(1, 13)] * 10, [0, 1] * 60
    frame = pd.DataFrame({"a": days, "b": [1, 2] * 60, "c": ["x"] * 120})
    with pytest.warns(ColumnWarning, match=r"day or month first\? Say columns=\{'a': '%d/%m/%Y'\}"):
        AdaC2Classifier().fit(frame, y)
    model = AdaC2Classifier(columns={"a": "%d/%m/%Y"}).fit(frame, y)
    assert model.columns_["a"].parts == ("month", "day", "weekday")
    for columns, words in {
        ("aa", "date"): "X has no column 'aa' .*'columns' parameter.* nearest names: 'a'",
        ("a", "dates"): "must say of 'a' one of",
        ("a", "number"): "says that 'a' is 'number', and it holds '01/01/2025'",
        ("c", "date"): "says that 'c' is 'date', and it holds 'x'",
    }.items():
        with pytest.raises(ValueError, match=words):
            AdaC2Classifier(columns=dict([columns])).fit(frame, y)
    with pytest.raises(ValueError, match="No column is left to learn from"):
        AdaC2Classifier().fit(frame[["c"]], y)


@pytest.mark.parametrize("name", MODELS)
def test_labels_and_rows_of_every_library(name):
    """Labels in any type, none missing; rows as lists; a dict is no table."""
    _, typed, truth = drawn(1)
    X, y = typed[["amount", "flag"]].astype(float), truth.to_numpy()

    def make():
        return MODELS[name]().set_params(cost_matrix=STATIC)

    model = make().fit(X, y)
    expected = model.predict(X).tolist()
    forms = [pd.Series(y, dtype=kind) for kind in ("string", "string[pyarrow]", "category")]
    for form in [*forms, pl.Series(y.tolist()), y.tolist()]:
        assert make().fit(X, form).predict(X).tolist() == expected
    forms = [pl.Series([None, *y[1:].tolist()])]
    for missing in (np.nan, None, pd.NA):
        labels = [*y[:3].tolist(), missing, *y[4:].tolist()]
        forms += [labels, np.array(labels, dtype=object)]
        forms += [pd.Series(labels, dtype=kind) for kind in (object, "string", "category")]
    for form in forms:
        with pytest.raises(ValueError, match=r"(?i)missing.*row (3|0)|y contains NaN"):
            make().fit(X, form)
    with pytest.warns(UserWarning, match="feature names"):
        assert model.predict(X.to_numpy().tolist()).tolist() == expected
    for form, what in (("list", "dict"), ("records", "a list of dicts")):
        words = rf"X of \w+Classifier must be .* got {what}\. Pass pandas\.DataFrame\(X\)\."
        for ask in (model.predict, lambda X: make().fit(X, y)):
            with pytest.raises(TypeError, match=words):
                ask(X.to_dict(form))
    # A categorical type is no id; a ColumnWarning would be an error here.
    ids = typed[["row_id", "amount"]].astype({"row_id": "category"})
    assert make().fit(ids, y).columns_["row_id"].is_used
    texts = typed[["country", "amount"]]
    words = r"must be a data frame, as in fit.*\['country', 'amount'\]"
    with pytest.raises(ValueError, match=words):
        make().fit(texts, y).predict(texts.to_numpy().tolist())


def test_min_cost_names_text_that_its_estimator_cannot_take():
    """The default estimator takes text; one of the user has the rows as they are."""
    _, typed, y = drawn(1)
    model = MinCostClassifier(LGBMClassifier(n_jobs=1, verbosity=-1), cost_matrix=STATIC)
    # Given text by polars, LightGBM ends the process.
    for backend in ("numpy_nullable", "pyarrow"):
        texts = typed[["country", "size"]].convert_dtypes(dtype_backend=backend)
        with pytest.raises(ValueError, match="bad pandas dtypes: country: "):
            model.fit(texts, y)
