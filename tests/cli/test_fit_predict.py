"""From a file to decisions, the same ones as in Python."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import train_test_split

from cli.conftest import COSTS, SMALL, World, payments, run
from costboost import CostBoostClassifier
from costboost.cli import fit as fitting
from costboost.files import load

FEATURES = (
    *("amount", "amount_ratio", "hour", "account_age_days", "payments_today", "distance_km"),
    *("merchant_risk", "abroad", "country", "shop", "when_weekday", "when_hour"),
)


def python_features(path: Path) -> pd.DataFrame:
    """The features as a Python user would make them."""
    frame = pd.read_csv(path)
    when = pd.to_datetime(frame["when"])
    frame["when_weekday"] = when.dt.day_of_week + 1
    frame["when_hour"] = when.dt.hour
    return frame[list(FEATURES)]


def test_decisions_are_those_of_python(world: World, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    run("predict", world.model, world.train, "-o", out)
    found, model = pd.read_parquet(out), load(world.model)
    X = python_features(world.train)[list(model.feature_names_in_)]
    assert found["decision"].tolist() == model.predict(X).tolist()
    np.testing.assert_array_equal(
        found[["probability_no", "probability_yes"]], model.predict_proba(X)
    )
    np.testing.assert_array_equal(
        found[["expected_cost_no", "expected_cost_yes"]], model.predict_cost(X)
    )
    costs = np.sort(model.predict_cost(X), axis=1)
    np.testing.assert_array_equal(found["saving"], costs[:, 1] - costs[:, 0])


def test_the_model_is_the_one_that_python_fits(world: World) -> None:
    X, y = python_features(world.train), pd.read_csv(world.train)["fraud"].to_numpy(str)
    train, _ = train_test_split(np.arange(len(y)), test_size=0.2, random_state=0, stratify=y)
    train = np.sort(train)
    model = CostBoostClassifier(
        {"fn": "amount+15", "fp": 5, "positive": "yes"},
        n_estimators=12, ensemble=2, n_jobs=1, random_state=0,
    )  # fmt: skip
    names = load(world.model).feature_names_in_.tolist()
    model.fit(X.loc[train, names].reset_index(drop=True), y[train])
    np.testing.assert_array_equal(
        model.predict_proba(X[names]), load(world.model).predict_proba(X[names])
    )


def test_rows_keep_their_order_columns_and_text(world: World, tmp_path: Path) -> None:
    raw = world.train.read_text().splitlines()
    odd = tmp_path / "odd.csv"
    lines = [f"{raw[0]},note", *(f"{line},NA" for line in reversed(raw[1:]))]
    odd.write_text("\n".join(lines))
    run("predict", world.model, odd, "-o", tmp_path / "out.csv", "--batch-rows", 64)
    out = (tmp_path / "out.csv").read_text().splitlines()
    assert len(out) == len(lines)
    for line, decided in zip(lines, out, strict=True):
        assert decided.startswith(line + ",")


def test_batches_change_nothing(world: World, tmp_path: Path) -> None:
    for name, rows in (("one", 10_000), ("many", 37)):
        run("predict", world.model, world.train, "-o", tmp_path / f"{name}.csv",
            "--batch-rows", rows, "--explain", 2)  # fmt: skip
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "many.csv").read_bytes()


def test_formats_and_standard_streams_change_nothing(world: World, tmp_path: Path) -> None:
    frame = pl.read_csv(world.train)
    frame.write_parquet(tmp_path / "rows.parquet")
    frame.write_ndjson(tmp_path / "rows.jsonl")
    expected = run("predict", world.model, world.train, "--keep", "payment_id").stdout
    for file in ("rows.parquet", "rows.jsonl"):
        found = run("predict", world.model, tmp_path / file, "--keep", "payment_id").stdout
        assert found == expected
    piped = run("predict", world.model, "-", "--keep", "payment_id", input=world.train.read_bytes())
    assert piped.stdout == expected


def test_limits_are_those_of_decide(world: World, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    result = run(
        "predict", world.model, world.train, "-o", out, "--capacity", "yes=2", "--per", "day",
        "--time-column", "when", "--batch-rows", 100, "--json",
    )  # fmt: skip
    found, model = pd.read_csv(out), load(world.model)
    X = python_features(world.train)[list(model.feature_names_in_)]
    day = pd.to_datetime(found["when"]).dt.strftime("%Y-%m-%d").to_numpy(str)
    limited = model.decide(X, capacity={"yes": 2}, per=day)
    assert found["decision"].tolist() == limited.labels.tolist()
    assert found.groupby(day)["decision"].apply(lambda one: (one == "yes").sum()).max() <= 2
    prices = json.loads(result.stdout)["prices"]
    assert prices == {str(k): {str(d): p for d, p in v.items()} for k, v in limited.price.items()}


def test_shares_and_columns_as_groups(world: World, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    run("predict", world.model, world.train, "-o", out, "--capacity", "yes=0.01", "--per",
        "country")  # fmt: skip
    found = pd.read_csv(out)
    sizes = found.groupby("country", dropna=False)["decision"].agg(
        ["size", lambda x: (x == "yes").sum()]
    )
    assert (sizes.iloc[:, 1] <= 0.01 * sizes["size"]).all()


def test_reasons_are_the_largest_parts(world: World, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    run("predict", world.model, world.train, "-o", out, "--explain", 2)
    found, model = pd.read_csv(out), load(world.model)
    X = python_features(world.train)[list(model.feature_names_in_)]
    parts = model.explain(X).parts
    first = np.abs(parts).argmax(axis=1)
    names = list(model.feature_names_in_)
    for row in (0, 5, 100):
        assert found["reason_1"][row].startswith(f"{names[first[row]]} = ")
        assert found["reason_1"][row].endswith(f": {parts[row, first[row]]:+.2f}")


def test_what_fit_says(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = run("fit", world.train, *COSTS, *SMALL, "-o", tmp_path / "m.costboost").stdout
    assert max(map(len, text.splitlines())) <= 80
    words = " ".join(text.split())
    for said in (
        "700 rows (CSV, delimiter comma, UTF-8)",
        "an id: a different whole number",
        "constant: always CHF",
        "as weekday, hour",
        "3 values",
        "deciding 'yes' when the truth is 'no' costs 5",
        "(amount+15)",
        "Doing nothing (always no)",
        "Threshold 0.5",
        "the model saves",
        "costboost predict",
    ):
        assert said in words.replace("│ ", "")


def test_held_out_costs_are_those_of_the_metrics(world: World, tmp_path: Path) -> None:
    from costboost.metrics import total_cost

    result = run("fit", world.train, *COSTS, *SMALL, "-o", tmp_path / "m.costboost", "--json")
    found = json.loads(result.stdout)["held_out"]
    held = pd.read_csv(world.held_out)
    assert found["rows"] == len(held) == 140
    model = load(world.model)
    X = python_features(world.held_out)[list(model.feature_names_in_)]
    y = held["fraud"].to_numpy(str)
    form = {"fn": "amount+15", "fp": 5, "positive": "yes"}
    costs = {rule["key"]: rule["cost"]["value"] for rule in found["ways_to_decide"]}
    assert costs["model"] == pytest.approx(total_cost(y, model.predict(X), cost_matrix=form, X=X))
    nobody = np.full(len(y), "no")
    assert costs["nothing"] == pytest.approx(
        total_cost(y, nobody, cost_matrix=form, X=X, labels=["no", "yes"])
    )


def test_time_splits_hold_out_the_latest_rows(world: World, tmp_path: Path) -> None:
    held = tmp_path / "held.csv"
    fit = ("fit", world.train, *COSTS, *SMALL, "-o", tmp_path / "m.costboost")
    said = run(*fit, "--time-column", "when", "--save-test", held, "--test-size", "0.3").stdout
    everything, late = pd.read_csv(world.train), pd.read_csv(held)
    assert late["payment_id"].tolist() == everything["payment_id"].tolist()[-210:]
    assert "from resampled rows" in said  # 15 days are too few


def test_intervals_of_many_days_resample_days(world: World, tmp_path: Path) -> None:
    fit = ("fit", world.train, *COSTS, *SMALL, "-o", tmp_path / "m.costboost")
    said = run(*fit, "--time-column", "when", "--test-size", "0.5").stdout
    assert "from resampled days" in said


def test_groups_stay_together(world: World, tmp_path: Path) -> None:
    held = tmp_path / "held.csv"
    run("fit", world.train, *COSTS, *SMALL, "-o", tmp_path / "m.costboost",
        "--group-column", "shop", "--save-test", held)  # fmt: skip
    everything, out = pd.read_csv(world.train), pd.read_csv(held)
    rest = everything[~everything["payment_id"].isin(out["payment_id"])]
    assert 0 < len(out) < len(everything)
    assert not set(rest["shop"]) & set(out["shop"])
    assert "shop" not in load(tmp_path / "m.costboost").feature_names_in_


def test_another_file_measures(world: World, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    payments(100, 5).to_csv(other, index=False)
    result = run("fit", world.train, *COSTS, *SMALL, "-o", tmp_path / "m.costboost", "--test",
                 other, "--json")  # fmt: skip
    assert json.loads(result.stdout)["held_out"]["rows"] == 100


def test_more_decisions_than_classes(world: World, tmp_path: Path) -> None:
    (tmp_path / "costs.csv").write_text(
        "truth;accept;review;block\nno;0;4;30\nyes;amount + 15;4;0\n"
    )
    model, out = tmp_path / "m.costboost", tmp_path / "out.csv"
    run("fit", world.train, "--target", "fraud", "--cost-matrix", tmp_path / "costs.csv", *SMALL,
        "-o", model)  # fmt: skip
    run("predict", model, world.train, "-o", out, "--capacity", "review=20")
    found = pd.read_csv(out)
    assert set(found["decision"]) <= {"accept", "review", "block"}
    assert (found["decision"] == "review").sum() <= 20
    assert "expected_cost_review" in found


def test_what_doing_nothing_means(world: World, tmp_path: Path) -> None:
    costs = ["--cost", "no:accept=0", "--cost", "no:stop=5", "--cost", "yes:accept=60", "--cost",
             "yes:stop=0"]  # fmt: skip
    for name in ("accept", "stop"):
        found = run("fit", world.train, "--target", "fraud", *costs, *SMALL, "--nothing", name,
                    "-o", tmp_path / "m.costboost", "--json")  # fmt: skip
        first, *_ = json.loads(found.stdout)["held_out"]["ways_to_decide"]
        assert first["name"] == f"Doing nothing (always {name})"
    said = run("fit", world.train, "--target", "fraud", *costs, *SMALL, "--nothing", "wait", "-o",
               tmp_path / "other.costboost", "-q", code=2).stderr  # fmt: skip
    assert "--nothing must be a decision, accept, stop, got 'wait'" in said
    assert not (tmp_path / "other.costboost").exists()


def test_costs_of_an_excluded_column(world: World, tmp_path: Path) -> None:
    model, out = tmp_path / "m.costboost", tmp_path / "out.csv"
    run("fit", world.train, *COSTS, *SMALL, "-o", model, "--exclude", "amount,amount_ratio")
    assert not {"amount", "amount_ratio"} & set(load(model).feature_names_in_)
    run("predict", model, world.train, "-o", out)
    found = pd.read_csv(out)
    np.testing.assert_allclose(
        found["expected_cost_no"], found["probability_yes"] * (found["amount"] + 15)
    )


def test_another_algorithm_weights_and_refit(world: World, tmp_path: Path) -> None:
    frame = pd.read_csv(world.train).drop(columns=["country"])
    frame["w"] = np.arange(len(frame)) % 3 + 1
    file, model = tmp_path / "rows.csv", tmp_path / "m.costboost"
    frame.to_csv(file, index=False)
    run("fit", file, "--target", "fraud", "--positive", "yes", "--cost", "fn=30", "--cost", "fp=5",
        "--algorithm", "adac2", "--set", "n_estimators=5", "--weight-column", "w", "--refit",
        "-o", model)  # fmt: skip
    assert type(load(model)).__name__ == "AdaC2Classifier"
    run("predict", model, file, "-o", tmp_path / "out.csv")
    assert "w" not in load(model).feature_names_in_


def test_a_file_larger_than_memory(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("xgboost")
    monkeypatch.setattr(fitting, "free_memory", lambda: 1000.0)
    model, out = tmp_path / "m.costboost", tmp_path / "out.csv"
    result = run("fit", world.train, *COSTS, "--set", "n_estimators=10", "--set", "n_jobs=1",
                 "-o", model, "--json")  # fmt: skip
    found = json.loads(result.stdout)
    assert found["rows"] == 700
    assert 80 < found["held_out"]["rows"] < 210
    assert found["held_out"]["measured_rows"] == found["held_out"]["rows"]
    monkeypatch.setattr(fitting, "MOST_TEST_ROWS", 50)
    result = run("fit", world.train, *COSTS, "--set", "n_estimators=10", "--set", "n_jobs=1",
                 "-o", tmp_path / "few.costboost", "--json")  # fmt: skip
    few = json.loads(result.stdout)["held_out"]
    assert few["rows"] == found["held_out"]["rows"] and 25 <= few["measured_rows"] <= 50
    fitted = load(model)
    assert fitted.engine == "xgboost"
    run("predict", model, world.train, "-o", out)
    X = python_features(world.train)[list(fitted.feature_names_in_)]
    assert pd.read_csv(out)["decision"].tolist() == fitted.predict(X).tolist()


def test_large_files_are_noticed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from costboost.columns import open_source

    source = open_source(world.train)
    monkeypatch.setattr(fitting, "free_memory", lambda: 100.0 * source.size)
    assert not fitting.is_too_large(source)
    monkeypatch.setattr(fitting, "free_memory", lambda: 2.0 * source.size)
    assert fitting.is_too_large(source)
