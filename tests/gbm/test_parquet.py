"""Training and deciding on Parquet files: the same models as in memory, in bounded memory."""

from __future__ import annotations

import os
import tempfile
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from costboost import CostBoostClassifier
from costboost.costs import per_row

pytest.importorskip("pyarrow")
pytest.importorskip("xgboost", minversion="3.0")

from costboost.gbm.parquet import ParquetSource

N = 1500


def table(n=N, n_classes=2, seed=0):
    """Rounded numbers, so that batches and the whole table have the same quantiles."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(np.round(rng.standard_normal((n, 4)), 1), columns=list("abcd"))
    frame.loc[rng.random(n) < 0.1, "b"] = np.nan
    frame["city"] = rng.choice(["Paris", "Oslo", "Bern"], n)
    frame["count"] = rng.integers(0, 5, n)
    frame["amount"] = np.round(np.exp(rng.normal(2, 1, n)), 1)
    score = frame.a + (frame.city == "Oslo") + 0.5 * rng.standard_normal(n)
    frame["label"] = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    return frame


def written(folder, frame, n_files=3, row_group_size=130, **options):
    bounds = np.linspace(0, len(frame), n_files + 1).astype(int)
    for i in range(n_files):
        part = frame[bounds[i] : bounds[i + 1]]
        part.to_parquet(folder / f"{i}.parquet", row_group_size=row_group_size, **options)
    return f"{folder}/*.parquet"


def small(**arguments):
    given = {"n_estimators": 15, "learning_rate": 0.2, "early_stopping": False, "random_state": 0}
    given |= {"subsample": 1.0, "colsample": 1.0, "n_jobs": 1, "engine": "xgboost", "ensemble": 1}
    return CostBoostClassifier(**(given | arguments))


def matrices(frame, k=3):
    """Costs of single rows for k classes."""
    base = np.random.default_rng(5).uniform(1, 10, (k, k)) * (1 - np.eye(k))
    return base * frame["amount"].to_numpy()[:, None, None]


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """A folder of one's own for temporary files, empty when the test is over."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


# --- the same as in memory ------------------------------------------------------------------


@pytest.mark.parametrize("batch_rows", [None, 200])
def test_same_model_as_in_memory(tmp_path, scratch, batch_rows):
    frame = table()
    X = frame.drop(columns="label")
    ours = small().fit_parquet(written(tmp_path, frame), target="label", batch_rows=batch_rows)
    theirs = small().fit(X, frame["label"])
    assert list(ours.feature_names_in_) == list(X.columns)
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-3)
    assert not hasattr(ours, "estimated_savings_")


def test_same_decision_head_for_two_classes(tmp_path, scratch):
    frame = table().assign(weight=lambda f: np.where(f.index % 7 == 0, 0, 1 + f["count"]))
    X = frame.drop(columns=["label", "weight"])
    ours = small().fit_parquet(
        written(tmp_path, frame),
        target="label",
        costs={"fn": "amount", "fp": 5, "tp": 1},
        sample_weight="weight",
        batch_rows=200,
    )
    costs = per_row(fn=frame["amount"], fp=5, tp=1)
    theirs = small().fit(X, frame["label"], costs=costs, sample_weight=frame["weight"])
    assert set(ours.heads_) == {"probability", "decision"}
    np.testing.assert_allclose(ours.cost_matrix_, theirs.cost_matrix_)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    assert (ours.predict(X, costs=costs) == theirs.predict(X, costs=costs)).mean() > 0.999


@pytest.mark.parametrize("named", [False, True])
def test_same_heads_for_three_classes(tmp_path, scratch, named):
    frame = table(n_classes=3)
    frame["label"] = np.array(["high", "low", "mid"])[frame["label"]]
    costs = matrices
    if named:
        classes, base = ["high", "low", "mid"], matrices(frame)[0] / frame["amount"][0]
        pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
        for i, j in pairs:
            frame[f"cost{i}{j}"] = base[i, j] * frame["amount"]
        costs = {(classes[i], classes[j]): f"cost{i}{j}" for i, j in pairs}
    features = [*"abcd", "city"]
    ours = small().fit_parquet(
        written(tmp_path, frame), target="label", costs=costs, features=features, batch_rows=200
    )
    theirs = small().fit(frame[features], frame["label"], costs=matrices(frame))
    assert list(ours.classes_) == list(theirs.classes_)
    np.testing.assert_allclose(ours.cost_matrix_, theirs.cost_matrix_)
    X = frame[features]
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


def test_prices_of_errors_and_callable_matrix(tmp_path, scratch):
    frame = table()
    X = frame.drop(columns="label")
    paths = written(tmp_path, frame)
    ours = small(decision="learned").fit_parquet(paths, "label", costs="amount", batch_rows=300)
    theirs = small(decision="learned").fit(X, frame["label"], costs=frame["amount"])
    np.testing.assert_allclose(ours.cost_matrix_, theirs.cost_matrix_)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)

    def by_row(rows):
        return per_row(fn=rows["amount"], fp=5)

    ours = small(cost_matrix=by_row).fit_parquet(paths, "label", batch_rows=300)
    theirs = small(cost_matrix=by_row).fit(X, frame["label"])
    np.testing.assert_allclose(ours.cost_matrix_, theirs.cost_matrix_)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


# --- early stopping, calibration, estimates -------------------------------------------------


def test_early_stopping_calibrates_and_estimates(tmp_path, scratch):
    frame = table(4000)
    model = small(early_stopping=True, n_estimators=300, patience=5, subsample=0.8)
    paths = written(tmp_path, frame)
    model.fit_parquet(paths, "label", costs={"fn": "amount", "fp": 5}, batch_rows=700)
    assert model.n_iter_ < 300
    assert model.temperature_ != 1.0
    assert model.estimated_savings_.value > 0.5
    assert model.estimated_savings_without_costs_.value > 0.3
    fresh = table(4000, seed=1)
    found = model.score(
        fresh.drop(columns="label"), fresh["label"], costs=per_row(fresh["amount"], 5)
    )
    assert abs(found - model.estimated_savings_.value) < 0.1
    # The same rows in other batches and files: the same held-out rows, the same model.
    other = tmp_path / "other"
    other.mkdir()
    again = small(early_stopping=True, n_estimators=300, patience=5, subsample=0.8)
    again.fit_parquet(written(other, frame, 2, 999), "label", costs={"fn": "amount", "fp": 5})
    assert again.n_iter_ == pytest.approx(model.n_iter_, abs=5)
    assert again.estimated_savings_.value == pytest.approx(model.estimated_savings_.value, abs=0.05)


def test_held_out_rows_are_bounded(tmp_path, scratch, monkeypatch):
    monkeypatch.setattr("costboost.gbm.rows._HELD_OUT_ROWS", 100)
    model = small(early_stopping=True)
    source = ParquetSource(written(tmp_path, table()), "label", None, None, None, 200, None, model)
    assert len(source.held_out()) == pytest.approx(100, abs=2)
    assert source.totals.held_out_rows == len(source.held_out())
    assert source.totals.rows == N


@pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")
def test_nothing_at_stake_on_held_out_rows(tmp_path, scratch):
    """Then the decision is trained for all rounds, and the rows still calibrate and estimate."""
    frame = table(400).assign(price=0.0)
    frame.loc[frame.index[3], "price"] = 5.0  # the first row of its group is never held out
    model = small(early_stopping=True, n_estimators=8, patience=1)
    model.fit_parquet(written(tmp_path, frame), "label", costs="price", batch_rows=90)
    assert model.heads_["decision"].n_rounds == 8
    assert model.estimated_savings_.value == 0.0


# --- tables ---------------------------------------------------------------------------------


def test_categories_of_all_files_and_types_that_differ(tmp_path, scratch):
    frame = table()
    frame["flag"] = frame["a"] > 0
    frame["city"] = np.where(frame.index < 600, frame["city"], frame["city"] + " Nord")
    frame.loc[::50, "city"] = None
    first, second = frame[:700].copy(), frame[700:].copy()
    first["city"] = first["city"].astype("category")
    second["count"] = second["count"].astype("int32")
    second["d"] = second["d"].astype("float32")
    first.to_parquet(tmp_path / "1.parquet", index=False)
    frame[:0].to_parquet(tmp_path / "2.parquet", index=False)
    second[second.columns[::-1]].to_parquet(tmp_path / "3.parquet", index=False)
    ours = small().fit_parquet(tmp_path, "label", batch_rows=100)
    theirs = small().fit(frame.drop(columns="label"), frame["label"])
    X = frame.drop(columns="label")
    X.loc[::40, "city"] = "elsewhere"
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


def test_labels_of_text_and_booleans(tmp_path, scratch):
    frame = table()
    for name, labels in {
        "text": np.where(frame["label"], "yes", "no"),
        "bool": frame.label > 0,
    }.items():
        folder = tmp_path / name
        folder.mkdir()
        paths = written(folder, frame.assign(label=labels))
        prices = {"fn": 9, "fp": 1, "positive": sorted(set(labels))[-1]}
        model = small().fit_parquet(paths, "label", costs=prices, batch_rows=400)
        X = frame.drop(columns="label")
        theirs = small(cost_matrix=prices).fit(X, labels)
        assert model.classes_.tolist() == theirs.classes_.tolist()
        np.testing.assert_allclose(model.cost_matrix_, theirs.cost_matrix_)


def test_more_classes_than_twenty(tmp_path, scratch):
    frame = table(600).assign(label=np.arange(600) % 26)
    model = small(n_estimators=1).fit_parquet(written(tmp_path, frame), "label")
    assert model.classes_.tolist() == list(range(26))


def test_columns_beyond_plain_numbers(tmp_path, scratch):
    frame = table(600)
    frame["nanoseconds"] = 17 * 10**17 + 10**15 * frame["count"]
    frame["price"] = [Decimal(i % 40) / 4 for i in range(600)]
    frame["known"] = np.where(frame["b"].isna(), None, frame["a"] > 0)
    frame["empty"] = pd.Series([None] * 600, dtype="str")
    paths = written(tmp_path, frame)
    model = small().fit_parquet(paths, "label", batch_rows=200)
    X = pd.concat(pd.read_parquet(path) for path in sorted(tmp_path.glob("*.parquet")))
    proba = model.predict_proba(X.drop(columns="label"))
    output = model.predict_parquet(paths, tmp_path / "out", proba=True, batch_rows=200)
    np.testing.assert_allclose(pd.read_parquet(output)["probability_1"], proba[:, 1])
    assert model.feature_importances_[list(model.feature_names_in_).index("known")] > 0
    X["empty"] = "filled"
    np.testing.assert_allclose(model.predict_proba(X.drop(columns="label")), proba)


def test_the_only_row_of_a_class_is_trained_on(tmp_path, scratch):
    paths = written(tmp_path, table(2), 1)
    model = small(early_stopping=True, validation_fraction=0.99).fit_parquet(paths, "label")
    assert model.classes_.tolist() == [0, 1]
    assert not hasattr(model, "estimated_savings_")


@pytest.mark.parametrize("stop", [RuntimeError, KeyboardInterrupt])
def test_a_fit_that_fails_leaves_the_classifier_as_it_was(tmp_path, scratch, monkeypatch, stop):
    frame = table(400)
    paths = written(tmp_path, frame)
    costs = {"fn": "amount", "fp": 5}
    model = small(early_stopping=True).fit_parquet(paths, "label", costs=costs)
    unfitted = small(early_stopping=True)
    before, proba = dict(model.__dict__), model.predict_proba(frame.drop(columns="label"))
    fresh = dict(unfitted.__dict__)

    def fails(*_):
        raise stop("in the middle")

    # The second head: the first one is trained.
    monkeypatch.setattr("costboost.gbm.targets.DecisionTarget.on", fails)
    for estimator in (model, unfitted):
        with pytest.raises(stop):
            estimator.fit_parquet(paths, "label", costs=costs, features=["a", "amount"])
    assert model.__dict__ == before
    assert unfitted.__dict__ == fresh
    np.testing.assert_array_equal(model.predict_proba(frame.drop(columns="label")), proba)


def test_files_are_closed(tmp_path, scratch):
    paths = written(tmp_path, table(400))
    small(early_stopping=True, n_estimators=2).fit_parquet(paths, "label", batch_rows=100)
    open_files = {os.readlink(f"/proc/self/fd/{fd}") for fd in _descriptors()}
    assert not [name for name in open_files if str(tmp_path) in name]


def _descriptors():
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("needs /proc to list open files")
    return [fd for fd in os.listdir("/proc/self/fd") if os.path.islink(f"/proc/self/fd/{fd}")]


# --- errors ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"engine": "lightgbm"}, "engine='xgboost'"),
        ({"ensemble": 5}, "ensemble=1"),
        ({"loss": "cost_logistic"}, "loss='auto'"),
        ({"device": "cuda"}, "device='cpu'"),
        ({"patience": 0}, "patience"),
    ],
)
def test_refuses_what_cannot_be_trained_from_disk(tmp_path, arguments, says):
    with pytest.raises(ValueError, match=says):
        small().set_params(**arguments).fit_parquet(tmp_path, "label")


def changed(**columns):
    return lambda frame: frame.assign(**columns)


@pytest.mark.parametrize(
    ("change", "arguments", "says"),
    [
        (lambda f: f[:0], {}, "have no rows"),
        (lambda f: f, {"target": "fraud"}, "needs the column 'fraud'"),
        (lambda f: f, {"features": ["a", "zz"]}, "needs the column 'zz'"),
        (lambda f: f, {"features": ["a", "label"]}, r"with \['label'\] among them"),
        (lambda f: f, {"features": []}, "at least one"),
        (lambda f: f, {"batch_rows": 0}, "'batch_rows' parameter.*integer >= 1, got 0"),
        (lambda f: f, {"costs": {"fn": "amount"}}, "'costs' parameter.*must give both 'fn'"),
        (lambda f: f, {"costs": {"fn": "city", "fp": 1}}, "must hold numbers, got str"),
        (lambda f: f, {"costs": {"fn": "price", "fp": 1}}, "needs the column 'price'"),
        (lambda f: f, {"costs": {"fn": 0, "fp": 0}}, "nothing to learn"),
        (lambda f: f, {"costs": lambda rows: np.ones(3)}, "'costs' parameter"),
        (changed(label=1), {}, "only one class"),
        (changed(label=np.linspace(0, 1, N)), {}, "holds continuous numbers, such as"),
        (changed(label=pd.Timestamp("2024-01-01")), {}, "must name a column of classes"),
        (changed(when=pd.Timestamp("2024-01-01")), {}, "'when' holds timestamp"),
        (changed(amount=np.nan), {"costs": {"fn": "amount", "fp": 1}}, "got nan for .* on row 0"),
        (changed(a=np.inf), {}, "'a' is not in row 0"),
        (changed(w=-1), {"sample_weight": "w"}, "must not be negative"),
        (changed(w=0), {"sample_weight": "w"}, "is 0 in every row"),
    ],
)
def test_errors_of_tables(tmp_path, scratch, change, arguments, says):
    change(table()).to_parquet(tmp_path / "1.parquet")
    with pytest.raises(ValueError, match=says):
        small().fit_parquet(tmp_path, **({"target": "label"} | arguments))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda f: f.drop(columns="a"), r"\['a'\] are in only one of"),
        (changed(new=1), r"\['new'\] are in only one of"),
        (changed(a="text"), "must agree on what the column 'a' holds"),
        (changed(label="text"), "must agree on what the column 'label' holds"),
        (lambda f: f.assign(label=f["label"].where(f["label"] > 0)), r"missing in row 15\d\d"),
    ],
)
def test_errors_of_a_later_file(tmp_path, scratch, change, says):
    table().to_parquet(tmp_path / "1.parquet")
    change(table()).to_parquet(tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=says):
        small().fit_parquet(tmp_path, "label")


def test_a_class_of_a_later_file_counts(tmp_path, scratch):
    table().to_parquet(tmp_path / "1.parquet")
    table(n_classes=3).to_parquet(tmp_path / "2.parquet")
    assert small(n_estimators=2).fit_parquet(tmp_path, "label").classes_.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="two classes only, and there are 3"):
        small().fit_parquet(tmp_path, "label", costs={"fn": "amount", "fp": 1})


def test_errors_of_paths(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing matches .*\*\.parquet"):
        small().fit_parquet(f"{tmp_path}/*.parquet", "label")
    with pytest.raises(FileNotFoundError, match="nothing matches"):
        small().fit_parquet(tmp_path, "label")
    with pytest.raises(FileNotFoundError, match="there is no"):
        small().fit_parquet(tmp_path / "x.parquet", "label")
    with pytest.raises(ValueError, match="empty list"):
        small().fit_parquet([], "label")
    with pytest.raises(TypeError, match="a pattern, a folder"):
        small().fit_parquet(3, "label")
    (tmp_path / "x.parquet").write_bytes(b"")
    with pytest.raises(ValueError, match="no readable Parquet file"):
        small().fit_parquet([tmp_path / "x.parquet"], "label")


# --- predict_parquet ------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["xgboost", "lightgbm"])
def test_predict_parquet(tmp_path, engine):
    frame = table(900)
    frame["label"] = np.where(frame["label"], "yes", "no")
    X = frame.drop(columns="label")
    costs = per_row(fn=frame["amount"], fp=5, positive="yes")
    model = small(engine=engine).fit(X, frame["label"], costs=costs)
    paths = written(tmp_path, frame.assign(key=frame.index))
    output = tmp_path / "decisions.out"
    found = model.predict_parquet(
        paths,
        output,
        costs={"fn": "amount", "fp": 5, "positive": "yes"},
        proba=True,
        keep=["key"],
        batch_rows=250,
    )
    assert found == output
    result = pd.read_parquet(output)
    assert list(result.columns) == ["key", "decision", "probability_no", "probability_yes"]
    assert result["key"].tolist() == frame.index.tolist()
    assert result["decision"].tolist() == model.predict(X, costs=costs).tolist()
    np.testing.assert_allclose(
        result[["probability_no", "probability_yes"]], model.predict_proba(X), atol=1e-12
    )
    model.predict_parquet(paths, output)
    assert pd.read_parquet(output)["decision"].tolist() == model.predict(X).tolist()


def test_errors_of_predict_parquet(tmp_path):
    frame = table(300)
    paths = written(tmp_path, frame)
    output = tmp_path / "out"
    model = small(n_estimators=2).fit_parquet(paths, "label", features=["a", "amount"])
    with pytest.raises(ValueError, match="another file than those read"):
        model.predict_parquet(paths, tmp_path / "0.parquet")
    with pytest.raises(ValueError, match="needs the column 'nokey'"):
        model.predict_parquet(paths, output, keep=["nokey"])
    with pytest.raises(TypeError, match="a list of columns"):
        model.predict_parquet(paths, output, keep="key")
    with pytest.raises(ValueError, match=r"must not name \['decision'\]"):
        model.predict_parquet(paths, output, keep=["decision"])
    with pytest.raises(ValueError, match="integer >= 1, got -1"):
        model.predict_parquet(paths, output, batch_rows=-1)
    frame.drop(columns="a").to_parquet(tmp_path / "other")
    with pytest.raises(ValueError, match="needs the column 'a'"):
        model.predict_parquet(tmp_path / "other", output)
    with pytest.raises(ValueError, match="without names"):
        small(n_estimators=2).fit(frame[["a"]].to_numpy(), frame["label"]).predict_parquet(
            paths, output
        )
    learned = small(decision="learned", n_estimators=2).fit(frame[["a"]], frame["label"])
    with pytest.raises(ValueError, match="knows no probabilities"):
        learned.predict_parquet(paths, output, proba=True)
    # A failure in the middle leaves no file.
    with pytest.raises(RuntimeError, match="stop"):
        model.predict_parquet(paths, output, costs=_fails_on_the_second_batch(), batch_rows=100)
    assert not list(tmp_path.glob("out*"))


def _fails_on_the_second_batch():
    seen = []

    def costs(rows):
        seen.append(len(rows))
        if len(seen) > 1:
            raise RuntimeError("stop")
        return per_row(fn=rows["amount"], fp=1)

    return costs
