"""From a file to decisions, the same ones as in Python."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import train_test_split

from cli.conftest import COSTS, SMALL, as_json, fails, payments, run, words
from costboost import AdaC2Classifier, CostBoostClassifier
from costboost.errors import ColumnWarning
from costboost.files import load
from costboost.metrics import total_cost

FORM = {"fn": "amount+15", "fp": 5, "positive": "yes"}


def fit(world, folder, *more, costs=COSTS):
    """What `fit` says as JSON; the model is ``m.costboost``."""
    return as_json("fit", world.train, *costs, *SMALL, "-o", folder / "m.costboost", *more)


def test_decisions_are_those_of_python(world, tmp_path):
    out = tmp_path / "out.parquet"
    run("predict", world.model, world.train, "-o", out, "--explain", 2)
    found, model = pd.read_parquet(out), load(world.model)
    X = pd.read_csv(world.train)  # the raw rows, the target and an id among them
    proba, costs = model.predict_proba(X), model.predict_cost(X)
    assert found["decision"].tolist() == model.predict(X).tolist()
    np.testing.assert_array_equal(found[["probability_no", "probability_yes"]], proba)
    np.testing.assert_array_equal(found[["expected_cost_no", "expected_cost_yes"]], costs)
    np.testing.assert_array_equal(found["saving"], costs.max(axis=1) - costs.min(axis=1))
    parts = model.explain(X).parts
    first = np.abs(parts).argmax(axis=1)
    for row in (0, 5, 100):
        assert found["reason_1"][row].startswith(f"{model.feature_names_in_[first[row]]} = ")
        assert found["reason_1"][row].endswith(f": {parts[row, first[row]]:+.2f}")


def test_the_model_is_the_one_that_python_fits(world):
    saved = load(world.model)
    X = pd.read_csv(world.train)
    y = X.pop("fraud")
    train, _ = train_test_split(np.arange(len(y)), test_size=0.2, random_state=0, stratify=y)
    train = np.sort(train)
    model = CostBoostClassifier(FORM, n_estimators=12, cv=2, n_jobs=1, random_state=0)
    with pytest.warns(ColumnWarning, match="payment_id"):
        model.fit(X.loc[train].reset_index(drop=True), y[train].reset_index(drop=True))
    assert str(model.columns_) == str(saved.columns_)
    np.testing.assert_array_equal(model.predict_proba(X), saved.predict_proba(X))


def test_batches_formats_and_streams_change_nothing(world, tmp_path):
    frame = pl.read_csv(world.train)
    frame.write_parquet(tmp_path / "rows.parquet")
    frame.write_ndjson(tmp_path / "rows.jsonl")
    more = ("--keep", "payment_id", "--explain", 2)
    expected = run("predict", world.model, world.train, *more).stdout
    assert run("predict", world.model, world.train, *more, "--batch-rows", 37).stdout == expected
    for file in ("rows.parquet", "rows.jsonl"):
        assert run("predict", world.model, tmp_path / file, *more).stdout == expected
    piped = run("predict", world.model, "-", *more, input=world.train.read_bytes())
    assert piped.stdout == expected


def test_limits_are_those_of_decide(world, tmp_path):
    out = tmp_path / "out.csv"
    limit = ("--capacity", "yes=2", "--per", "day", "--time-column", "when", "--batch-rows", 100)
    prices = as_json("predict", world.model, world.train, "-o", out, *limit)["prices"]
    found, model = pd.read_csv(out), load(world.model)
    day = pd.to_datetime(found["when"]).dt.strftime("%Y-%m-%d").to_numpy(str)
    limited = model.decide(pd.read_csv(world.train), capacity={"yes": 2}, per=day)
    assert found["decision"].tolist() == limited.labels.tolist()
    assert found.groupby(day)["decision"].apply(lambda one: (one == "yes").sum()).max() <= 2
    by_day = limited.limit_prices.items()
    assert prices == {str(k): {str(d): p for d, p in v.items()} for k, v in by_day}
    limit = ("--capacity", "yes=0.01", "--per", "country", "--force")
    run("predict", world.model, world.train, "-o", out, *limit)
    found = pd.read_csv(out).groupby("country", dropna=False)["decision"]
    sizes = found.agg(["size", lambda x: (x == "yes").sum()])
    assert (sizes.iloc[:, 1] <= 0.01 * sizes["size"]).all()


def test_what_comes_next_follows_from_the_verdict(world, tmp_path):
    rng, noise, out = np.random.default_rng(0), tmp_path / "noise.csv", tmp_path / "m.costboost"
    pl.DataFrame({"x": rng.normal(size=300), "y": rng.permutation([0, 1] * 150)}).write_csv(noise)
    costs = ("--target", "y", "--cost", "fn=1", "--cost", "fp=1")
    said = words(run("fit", noise, *costs, "--set", "effort=fast", "-o", out).stdout)
    assert "Cannot tell from" in said or "does not pay" in said
    assert "costboost compare" in said and "costboost predict" not in said
    half = ("--test-size", "0.5")
    said = words(run("fit", world.train, *COSTS, *SMALL, *half, "-o", out).stdout)
    assert "The model pays" in said and "costboost predict" in said


def test_held_out_costs_are_those_of_the_metrics(world, tmp_path):
    found = fit(world, tmp_path)["held_out"]
    held, model = pd.read_csv(world.held_out), load(world.model)
    assert found["rows"] == len(held) == 140
    X, y = held, held["fraud"].to_numpy(str)
    costs = {rule["key"]: rule["cost"]["value"] for rule in found["ways_to_decide"]}
    saved = {rule["key"]: rule["saving"]["value"] for rule in found["ways_to_decide"]}
    assert saved == pytest.approx({key: cost - costs["model"] for key, cost in costs.items()})

    def paid(decided):
        return total_cost(y, decided, cost_matrix=FORM, X=X, labels=["no", "yes"])

    assert costs["model"] == pytest.approx(paid(model.predict(X)))
    constants = [paid(np.full(len(y), label)) for label in ("no", "yes")]
    assert costs["constant"] == pytest.approx(min(constants))


def test_rows_that_are_held_out(world, tmp_path):
    """The latest ones, whole groups, or another file."""
    held, everything = tmp_path / "held.csv", pd.read_csv(world.train)
    command = ("fit", world.train, *COSTS, *SMALL, "-o", tmp_path / "m.costboost")
    split = (*command, "--time-column", "when", "--test-size")
    said = run(*split, "0.3", "--save-test", held).stdout
    late = pd.read_csv(held)["payment_id"].tolist()
    assert late == everything["payment_id"].tolist()[-210:]
    assert "with rows taken for independent" in said  # 15 days are too few
    assert "with days taken for independent" in run(*split, "0.5").stdout
    said = run(*command, "--group-column", "shop", "--save-test", held, "--force").stdout
    assert "with groups taken for independent" in said
    out = pd.read_csv(held)
    rest = everything[~everything["payment_id"].isin(out["payment_id"])]
    assert 0 < len(out) < len(everything) and not set(rest["shop"]) & set(out["shop"])
    assert not load(tmp_path / "m.costboost").columns_["shop"].is_used
    payments(100, 5).assign(more="x").to_csv(tmp_path / "other.csv", index=False)
    assert fit(world, tmp_path, "--test", tmp_path / "other.csv")["held_out"]["rows"] == 100


def test_more_decisions_than_classes(world, tmp_path):
    table, out = tmp_path / "costs.csv", tmp_path / "out.csv"
    table.write_text("truth;accept;review;block\nno;0;4;30\nyes;amount + 15;4;0\n")
    costs = ("--target", "fraud", "--cost-matrix", str(table))
    for name in ("accept", "block"):
        found = fit(world, tmp_path, "--nothing", name, costs=costs)["held_out"]
        assert found["ways_to_decide"][1]["name"] == f"Doing nothing (always {name})"
    run("predict", tmp_path / "m.costboost", world.train, "-o", out, "--capacity", "review=20")
    found = pd.read_csv(out)
    assert set(found["decision"]) <= {"accept", "review", "block"}
    assert (found["decision"] == "review").sum() <= 20
    assert "expected_cost_review" in found
    few = ("--algorithm", "GBSE", "--exclude", "country", "--set", "n_estimators=3")
    model = tmp_path / "plain.costboost"  # has no probabilities of the classes
    run("fit", world.train, *costs, *few, "-o", model)
    found = as_json("predict", model, world.train, "-o", out, "--force")["decisions"]
    assert {one["expected_cost"] for one in found.values()} == {None}
    said = fails("predict", model, world.train, "--explain", 1)
    assert "cannot be explained in money" in said
    other = tmp_path / "other.costboost"
    said = fails("fit", world.train, *costs, *SMALL, "--nothing", "wait", "-o", other, "-q")
    assert "'nothing' parameter" in said and "['accept', 'review', 'block']" in said
    assert not other.exists()


def test_excluded_columns_other_algorithms_weights_and_refit(world, tmp_path):
    model, out = tmp_path / "m.costboost", tmp_path / "out.csv"
    fit(world, tmp_path, "--exclude", "amount,amount_ratio")
    columns = load(model).columns_
    assert not (columns["amount"].is_used or columns["amount_ratio"].is_used)
    run("predict", model, world.train, "-o", out)
    found = pd.read_csv(out)
    np.testing.assert_allclose(
        found["expected_cost_no"], found["probability_yes"] * (found["amount"] + 15)
    )
    file, frame = tmp_path / "rows.csv", pd.read_csv(world.train).drop(columns=["country"])
    frame.assign(w=np.arange(700) % 3 + 1).to_csv(file, index=False)
    run("fit", file, "--target", "fraud", "--positive", "yes", "--cost", "fn=30", "--cost", "fp=5",
        "--algorithm", "adac2", "--set", "n_estimators=5", "--weight-column", "w", "--refit",
        "-o", model)  # fmt: skip
    X, y = frame.drop(columns="fraud"), frame["fraud"]
    plain = AdaC2Classifier({"fn": 30, "fp": 5, "positive": "yes"}, n_estimators=5, random_state=0)
    with pytest.warns(ColumnWarning):
        plain.fit(X, y, np.arange(700.0) % 3 + 1)
    assert load(model).decision_function(X).tolist() == plain.decision_function(X).tolist()


def test_the_notation_of_a_file_is_kept_with_the_model(tmp_path):
    frame = payments(400, 3)
    for name in frame.select_dtypes("float"):
        frame[name] = frame[name].round(2)
    german = frame.copy()
    for name in frame.select_dtypes("float"):
        texts = frame[name].map("{:_.2f}".format)
        german[name] = texts.str.replace(".", ",").str.replace("_", ".")
    frame.loc[::7, "account_age_days"] = None
    german.loc[::7, "account_age_days"] = "k.A."
    frame.to_csv(tmp_path / "plain.csv", index=False)
    german.to_csv(tmp_path / "german.csv", index=False, sep=";")
    said = fails("fit", tmp_path / "german.csv", *COSTS, *SMALL, "-o", tmp_path / "m.costboost")
    assert "--decimal ','" in said and "'amount'" in said
    options = ("--decimal", ",", "--thousands", ".", "--na", "k.A.", "--save-test")
    held_out = tmp_path / "held_out.csv"
    for name, more in {"plain": (), "german": (*options, held_out)}.items():
        paths = [tmp_path / f"{name}.{ending}" for ending in ("csv", "costboost", "out.csv")]
        run("fit", paths[0], *COSTS, *SMALL, *more, "-o", paths[1])
        run("predict", paths[1], paths[0], "-o", paths[2], "--batch-rows", 90)
    found = [
        pd.read_csv(tmp_path / f"{name}.out.csv", sep=None, engine="python", decimal=mark)
        for name, mark in (("plain", "."), ("german", ","))
    ]
    for column in ("decision", "probability_yes", "expected_cost_no"):
        assert found[0][column].tolist() == found[1][column].tolist()
    report = as_json("report", tmp_path / "german.costboost", held_out, "-o", tmp_path / "r.html")
    assert report["rows"] == 80
    model = load(tmp_path / "german.costboost")  # texts of other doors are read alike
    assert model.predict(german.drop(columns="fraud")).tolist() == found[1]["decision"].tolist()
